#!/bin/sh
# The house itself: the model server that other tests lean on, the counting of `make check`, installation, packages.
. "${0%/*}/lib.sh"

ask() { # PATH BODY [CURL OPTION...]: the answer in out; $status is curl's
	_path=$1 _body=$2; shift 2
	run curl -sSN -m 5 "$@" "http://127.0.0.1:$port$_path" -d "$_body"
}
hello='{"stream":true,"messages":[{"role":"user","content":"hello"}]}'

if command -v curl >/dev/null; then
	# --- the model server: words in the prompt ---
	fake_llm --log log
	ask /v1/messages "$hello"
	is "$(sed -n 's/^event: //p' out | uniq | tr '\n' ' ')" \
		'message_start content_block_start content_block_delta content_block_stop message_delta message_stop ' \
		'fake-llm: the events of an Anthropic stream, in order'
	ask /v1/messages '{"messages":[{"role":"user","content":"call:Read:{\"file_path\":\"x\"}"}]}'
	like "$(cat out)" '"name":"Read","input":\{"file_path":"x"\}.*"stop_reason":"tool_use"' 'fake-llm: one call, whole'
	ask /v1/chat/completions '{"messages":[{"role":"user","content":"tools:2:f"},{"role":"tool"},{"role":"tool"}]}'
	like "$(cat out)" '"content":"Read it 2 times\."' 'fake-llm: a series of calls ends'
	ask /v1/chat/completions "$hello"
	like "$(tail -n 2 out)" '^data: \[DONE\]$' 'fake-llm: the end of an OpenAI stream'
	is "$(jq -r '"\(.n) \(.body.messages[0].role)"' log | tr '\n' ,)" '1 user,2 user,3 user,4 user,' \
		'fake-llm: the log has every request'
	ask /v1/messages '{"stream":true,"messages":[{"role":"user","content":"slow:50:1000"}]}' -m 0.3
	is "$status" 28 'fake-llm: a slow answer is slow'
	ok 'fake-llm: the log tells that the client hung up' wait_for grep -q '"closed":5' log
	run curl -sS -m 5 -o one -o two -w '%{num_connects}' "http://127.0.0.1:$port/v1/models" "http://127.0.0.1:$port/v1/models"
	is "$(cat out)" 10 'fake-llm: the connection is kept'

	# --- scripts and faults ---
	cat >script <<'END'
{"text":"first","usage":{"input":7,"output":3,"cache_read":2}}
{"match":"needle","text":"found"}
{"status":429,"headers":{"retry-after":"1"},"message":"slow down"}
{"thinking":"hm","text":"so","calls":[{"name":"Bash","input":{"command":"ls"}},{"id":"c2","name":"Glob","input":"{broken"}]}
{"raw":"data: as it is\n\n"}
{"text":"cut off","fault":"cut:100"}
END
	fake_llm --script script
	ask /v1/messages "$hello"
	like "$(cat out)" '"text":"first"' 'fake-llm: a script, its first answer'
	like "$(cat out)" '"input_tokens":7,.*"cache_read_input_tokens":2,"output_tokens":3' 'fake-llm: a script, its usage'
	ask /v1/messages "$hello" -i
	like "$(cat out)" '^HTTP/1\.1 429' 'fake-llm: a script, status (the answer before waits for its match)'
	like "$(cat out)" '^retry-after: 1' 'fake-llm: a script, header'
	like "$(cat out)" '"type":"rate_limit_error","message":"slow down"' 'fake-llm: a script, message'
	ask /v1/messages '{"x":"needle"}'
	like "$(cat out)" '"text":"found"' 'fake-llm: a script, match'
	ask /v1/messages "$hello"
	like "$(cat out)" '"id":"c2","name":"Glob"' 'fake-llm: a script, calls'
	is "$(sed -n 's/^data: //p' out | jq -r 'select(.index==3).delta.partial_json // empty' | tr -d '\n')" '{broken' \
		'fake-llm: a script, broken arguments go out as they are'
	ask /v1/messages "$hello"
	is "$(cat out)" "data: as it is" 'fake-llm: a script, raw bytes'
	ask /v1/messages "$hello"
	is "$status $(wc -c <out)" '18 100' 'fake-llm: a script, an answer cut off'
	ask /v1/messages "$hello" -w '%{http_code}'
	like "$(cat out)" 'no answer.*400$' 'fake-llm: after the last answer'

	fake_llm --fault status:529@1 --fault rst:50@1 --fault stall:50@1 --fault error@1 --fault noend@1 --fault close@1 --key secret
	ask /v1/messages "$hello" -w '%{http_code}'
	like "$(cat out)" '401$' 'fake-llm: a wrong key'
	ask /v1/messages "$hello" -H 'x-api-key: secret' -w '%{http_code}'
	like "$(cat out)" 'overloaded_error.*529$' 'fake-llm: fault status'
	ask /v1/messages "$hello" -H 'x-api-key: secret'
	is "$status $(wc -c <out)" '56 50' 'fake-llm: fault reset'
	ask /v1/messages "$hello" -H 'authorization: Bearer secret' -m 0.3
	is "$status $(wc -c <out)" '28 50' 'fake-llm: fault stall'
	ask /v1/messages "$hello" -H 'x-api-key: secret'
	like "$(tail -n 2 out)" '"type":"error","error":\{"type":"overloaded_error"' 'fake-llm: fault error, in mid-stream'
	ask /v1/messages "$hello" -H 'x-api-key: secret'
	is "$status $(grep -c message_stop out)" '0 0' 'fake-llm: fault noend'
	ask /v1/messages "$hello" -H 'x-api-key: secret'
	is "$status $(wc -c <out)" '52 0' 'fake-llm: fault close'
	ask /v1/messages "$hello" -H 'x-api-key: secret'
	like "$(cat out)" 'message_stop' 'fake-llm: faults run out'

	fake_llm --write 7
	ask /v1/messages "$hello"
	is "$status $(grep -c '"message_stop"' out)" '0 1' 'fake-llm: an answer in small writes'
else
	skip 28 'curl is not installed'
fi

# --- how results are counted ---
cp -r "$top/tests/dev" dev
mkdir -p tree/tests && mv dev tree/tests/dev
printf 'echo "ok 1 - a"; echo "not ok 2 - b"; echo "# why it failed"; echo "ok 3 # SKIP none"; echo 1..3' >tree/tests/mixed.t
printf 'echo "1..0 # SKIP not here"' >tree/tests/none.t
printf 'echo "ok 1 - c"; echo 1..1; exit 3' >tree/tests/dies.t
run tree/tests/dev/check
is "$status $(tail -n 1 out)" '1 2 passed, 2 failed, 2 skipped' 'check: counts results, skips and a bad end'
like "$(cat out)" 'not ok 2 - b' 'check: names what failed'
like "$(cat out)" '# why it failed' 'check: shows what it said'
rm tree/tests/mixed.t tree/tests/dies.t
printf 'echo "ok 1 - c"; echo 1..1' >tree/tests/fine.t
run tree/tests/dev/check
is "$status $(tail -n 1 out)" '0 1 passed, 0 failed, 1 skipped' 'check: status 0 when all is well'
rm tree/tests/*.t
run tree/tests/dev/check
status_is 1 'check: no tests at all is a failure'

# --- installation: what was built, without building anew ---
if command -v make >/dev/null; then
	into() { make -s -C "$top" -o all BUILD="$BUILD" DESTDIR="$T/root" PREFIX=/usr "$@"; }
	run into install
	status_is 0 'install: ends well'
	ok 'install: programs' test -x root/usr/bin/claws-stream -a -x root/usr/bin/claws-ring
	ok 'install: the driver, a script' test -x root/usr/bin/claws
	ok 'install: data' test -f root/usr/share/claws/providers.json -a -d root/usr/share/claws/prompts
	ok 'install: man pages' test -f root/usr/share/man/man1/claws-stream.1
	ok 'install: completions' test -f root/usr/share/zsh/site-functions/_claws
	is "$(find root ! -type l -perm /022)" '' 'install: nothing that others may write'
	run into uninstall
	is "$status $(find root -mindepth 1)" '0 ' 'uninstall: leaves nothing, no empty directory'
else
	skip 8 'make is not installed'
fi

# --- packages ---
mkdir bin
for tool in sh id printf read; do p=$(command -v "$tool") && [ -x "$p" ] && ln -s "$p" bin/; done
printf '#!/bin/sh\nexit 1\n' >bin/apt-get; chmod +x bin/apt-get
printf '#!/bin/sh\necho 1000\n' >bin/id.user; chmod +x bin/id.user; rm -f bin/id; mv bin/id.user bin/id
run env PATH="$T/bin" "$top/tests/dev/deps" try </dev/null
status_is 1 'deps: without a compiler try cannot be'
like "$(cat err)" 'sudo apt-get install .*gcc .*libcurl4-openssl-dev' 'deps: the apt line is named'
run env PATH="$T/bin" DEPS=no "$top/tests/dev/deps" check </dev/null
is "$status$(cat out err)" 0 'deps: DEPS=no looks for nothing'
run "$top/tests/dev/deps" nonsense
status_is 2 'deps: an unknown set is misuse'

# --- the man page's table of quirks is the program's ---
sed -n 's/^QUIRK([A-Z0-9_]*, "\([a-z0-9_]*\)".*/\1/p' "$top/lib/llm/quirk.def" | sort >quirks.def
sed -n '/^Quirks:/,/^\.El/s/^\.It Cm //p' "$top/man/claws-stream.1" | sort >quirks.man
like "$(wc -l <quirks.def)" '^ *[1-9][0-9]' 'quirks: the list is found'
is "$(cat quirks.man)" "$(cat quirks.def)" 'quirks: each is in claws-stream(1)'
done_testing
