#!/bin/sh
# claws-stream: both wires, the ring, options, keys, exit statuses.
. "${0%/*}/lib.sh"
lines() { [ "$(grep -c "$1" out)" -eq "$2" ]; } # WORD NUMBER: so many lines of out have the word
more() { [ "$(grep -c "$1" out)" -gt "$2" ]; }
fake_llm --log log
oai="$CLAWS_BASE_URL/v1"

user() { printf '{"role":"user","content":"%s"}\n' "$1"; }
valid() { ok "$1: every line obeys claws-messages(5)" claws-msg check out; }
requests() { grep -c '"method":"POST"' log; }

# ---- one call, by hand ----
user hello >c.hello
run claws-stream --no-time <c.hello
status_is 0 "anthropic: hello"
is "$(jq -r 'select(.type=="text_chunk").text' out | tr -d '\n')" "$(jq -r 'select(.role).content' out)" \
	"the pieces are the content"
is "$(jq -c 'select(.role)|[.content,.stop_reason,.model,.id,.ts]' out)" \
	'["Hello! How can I help you today?","end_turn","anthropic/fake","a1",null]' "one assistant message"
is "$(tail -n 1 out | jq -c '[.type,.stop_reason,.request_id,.usage.cost_usd,.ms]')" \
	'["turn_done","end_turn","req_fake_1",null,null]' "turn_done is last"
is "$(grep -c '"turn_done"' out) $(grep -c '"role"' out)" "1 1" "exactly one of each; the conversation is consumed"
valid hello

run claws-stream -m openai:fake <c.hello
status_is 0 "openai-chat: hello, PROVIDER:MODEL"
is "$(jq -c 'select(.role)|[.content,.stop_reason,.model,(.id|length),(.ts>1600000000000)]' out)" \
	'["Hello! How can I help you today?","end_turn","openai/fake",17,true]' "the same message"
is "$(tail -n 1 out | jq '.ms >= 0')" true "turn_done says how long it took"
valid "openai-chat"

cat >c.tool <<'END'
{"role":"system","content":"Be brief.","id":"s1"}
{"type":"tools","tools":[{"name":"Read","description":"reads","input_schema":{"type":"object"}}]}
{"type":"future_thing","x":[1,2.50]}
{"role":"user","content":"tools:1:/etc/hosts"}
END
for wire in anthropic openai; do
	run claws-stream -m $wire/fake --no-time <c.tool
	status_is 0 "$wire: a tool call"
	is "$(head -n 3 out)" "$(head -n 3 c.tool)" "$wire: what is not consumed is passed on byte for byte"
	is "$(jq -c 'select(.role=="assistant")|[.tool_calls[0].name,.tool_calls[0].input,.stop_reason]' out)" \
		'["Read",{"file_path":"/etc/hosts"},"tool_use"]' "$wire: the call"
	is "$(jq -rj 'select(.type=="tool_call_chunk").args//""' out)" '{"file_path":"/etc/hosts"}' "$wire: its pieces"
	valid "$wire tool call"
	run claws-stream -m $wire/fake --no-time --no-stream <c.tool
	is "$status $(jq -c 'select(.role=="assistant")|.tool_calls[0].input' out)" '0 {"file_path":"/etc/hosts"}' \
		"$wire: --no-stream"
done
is "$(grep -c '"stream":true' log)" 4 "and asks for no stream then"

# ids: empty and repeated ones get one of their own
cat >script <<'END'
{"calls":[{"id":"dup","name":"Read","input":{"n":1}},{"id":"dup","name":"Read","input":{"n":2}}]}
END
save=$server
fake_llm --script script
{
	user x
	echo '{"role":"assistant","content":"","tool_calls":[{"id":"dup","name":"Read","input":{}}]}'
	echo '{"role":"tool","tool_call_id":"dup","content":"1"}'
} | claws-stream --no-time >out
is "$(jq -r 'select(.role).tool_calls|map(.id)|(length,(unique|length),index("dup"))' out | tr '\n' ' ')" '2 2 null ' \
	"an id used before in the conversation is not used again"
is "$(jq -r 'select(.type=="tool_call_chunk" and .id).id' out)" "$(jq -r 'select(.role).tool_calls[].id' out)" \
	"the pieces have the same ids"
kill "$server"; server=$save
export CLAWS_BASE_URL="${oai%/v1}" ANTHROPIC_BASE_URL="${oai%/v1}" OPENAI_BASE_URL="$oai"

# ---- in a ring ----
mkfifo in
CLAWS_RING=1 claws-stream --no-time <in >out 2>err &
pid=$!
exec 7>in
before=$(requests)
user hello >&7
echo '{"role":"assistant","content":"old"}' >&7
echo '{"type":"reset"}' >&7
wait_for grep -q '"reset"' out
is "$(requests)" "$before" "ring: nothing but turn starts a call"
user hello >&7
echo '{"type":"turn","turn":1}' >&7
ok "ring: a turn" wait_for grep -q turn_done out
is "$(tail -n 1 log | jq -c '[.body.messages[].role]')" '["user"]' "reset has cleared the conversation"
is "$(grep -n '"turn"' out | cut -d: -f1)" 2 "turn is passed on before the answer"
echo '{"role":"assistant","content":"Hello!"}' >&7
user 'slow:50:200' >&7
echo '{"type":"turn","turn":2}' >&7
ok "pieces leave while the call runs" wait_for more text_chunk 4
echo '{"type":"interrupt","reason":"user"}' >&7
ok "ring: interrupt ends the call" wait_for lines turn_done 2
is "$(tail -n 1 out | jq -r .stop_reason) $(tail -n 2 out | head -n 1 | jq -r .stop_reason)" "interrupted interrupted" \
	"the part is kept, both say interrupted"
is "$(tail -n 3 out | head -n 1)" '{"type":"interrupt","reason":"user"}' "interrupt is passed on, before them"
ok "the server sees the connection close" wait_for grep -q '"closed":' log
user 'tools:1' >&7
echo '{"type":"turn"}' >&7
wait_for lines turn_done 3
is "$(tail -n 2 log | grep '"body"' | jq -c '.body.messages|map(.role)')" '["user","assistant","user"]' \
	"the conversation goes on with what was fed"
printf '%s\n' '{"type":"turn"}' '{"type":"interrupt"}' >&7
wait_for lines turn_done 4
is "$(tail -n 1 out | jq -r .stop_reason)" interrupted "an interrupt right behind its turn"
user 'slow:50:200' >&7
echo '{"type":"turn"}' >&7
wait_for more text_chunk 20
exec 7>&-
wait "$pid"; status=$?
status_is 0 "ring: end of file in the middle of a call stops it, status 0"
is "$(grep -c turn_done out) $(tail -n 1 out | jq -r .stop_reason)" "5 interrupted" "and the part is not lost"
is "$(jq -r 'select(.conn and .n and .method=="POST")|.conn' log | tail -n 4 | uniq | wc -l)" 2 \
	"one connection serves until a call is cut"
valid ring

# what is wrong with the settings is told at each turn: the ring goes on
printf '%s\n' '{"type":"ring","run":"r1","size":0}' '{"role":"system","content":"s"}' "$(user hello)" '{"type":"turn"}' '{"type":"turn"}' |
	env -u ANTHROPIC_API_KEY claws-stream >out 2>err
status=$?
status_is 0 "ring: without a key"
is "$(jq -r 'select(.type=="error").class' out | tr '\n' ' ')$(grep -c turn_done out) $(cat err)" "config config 2 " \
	"each turn has its error and its turn_done"

# calls of an interrupted answer are not kept
mkfifo in2
cat >script2 <<'END'
{"text":"so","calls":[{"id":"c1","name":"Read","input":{"file_path":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}],"fault":"stall:900"}
END
fake_llm --script script2
CLAWS_RING=1 claws-stream <in2 >out &
pid=$!
exec 7>in2
user x >&7; echo '{"type":"turn"}' >&7
wait_for grep -q tool_call_chunk out
echo '{"type":"interrupt"}' >&7
wait_for grep -q turn_done out
is "$(jq -c 'select(.role=="assistant")|[.content,.tool_calls,.blocks,.stop_reason]' out)" \
	'["so",null,null,"interrupted"]' "no call of an interrupted answer is kept"
exec 7>&-; wait "$pid"
kill "$server"; server=$save
export CLAWS_BASE_URL="${oai%/v1}" ANTHROPIC_BASE_URL="${oai%/v1}" OPENAI_BASE_URL="$oai"

# a reader that is slow does not keep claws-stream from hearing an interrupt
printf '{"role":"user","content":"long:20000:2000"}\n' >c.long
: >log
mkfifo in3 out3
CLAWS_RING=1 claws-stream <in3 >out3 &
pid=$!
exec 7>in3 8<out3
cat c.long >&7; echo '{"type":"turn"}' >&7
wait_for grep -q '"method":"POST"' log
echo '{"type":"interrupt"}' >&7
ok "an interrupt is heard while nobody reads the output" wait_for grep -q '"closed":' log
exec 7>&-
cat <&8 >out
wait "$pid"; status=$?
status_is 0 "and all of it can be read later"
is "$(grep -c turn_done out) $(tail -n 1 out | jq -r .stop_reason)" "1 interrupted" "to its turn_done"
is "$(jq -rj 'select(.type=="text_chunk").text' out | cksum)" "$(jq -rj 'select(.role=="assistant").content' out | cksum)" \
	"what was kept is what was shown"
exec 8<&-

# nobody reads any more
: >log
user 'slow:50:200' | claws-stream 2>err | head -n 1 >out
ok "stdout closed: the request is stopped" wait_for grep -q '"closed":' log
is "$(cat err)" "" "without a word"

# ---- --dry-run ----
before=$(requests)
run env -u ANTHROPIC_API_KEY claws-stream --dry-run --max-tokens 77 --temperature 0.5 <c.tool
status_is 0 "--dry-run needs no key"
is "$(requests)" "$before" "and sends nothing"
is "$(jq -c '[.method,.url,.headers["anthropic-version"],.body.max_tokens,.body.temperature,.body.model,.body.messages[0].role]' out)" \
	"[\"POST\",\"${oai%/v1}/v1/messages\",\"2023-06-01\",77,0.5,\"fake\",\"user\"]" "it is the request"
is "$(wc -l <out | tr -d ' ')" 1 "one line, nothing passed on"
run claws-stream --dry-run <c.tool
jq -c .body out >want
claws-stream <c.tool >/dev/null
tail -n 1 log | jq -c .body >got
ok "exactly the body that is sent" cmp got want
like "$(jq -r '.headers["x-api-key"]' out)" '^\*\*\*$' "the key is not shown"
run claws-stream -m openai/fake --dry-run --max-tokens 9 <c.hello
is "$(jq -c '[.url,.body.max_completion_tokens,.body.max_tokens,.headers.authorization]' out)" \
	"[\"$oai/chat/completions\",9,null,\"***\"]" "openai-chat: its path, its name of the limit"
run claws-stream --dry-run --thinking 2000 <c.hello
is "$(jq -c .body.thinking out)" '{"type":"enabled","budget_tokens":2000}' "--thinking"
run claws-stream --dry-run --effort low <c.hello
is "$(jq -c .body.thinking out)" '{"type":"enabled","budget_tokens":1024}' "--effort"
run claws-stream --dry-run --effort max <c.hello
is "$(jq -c '.body|[.max_tokens,.thinking.budget_tokens]' out)" '[40960,32768]' "--effort max: the provider's own limit makes room"
run claws-stream --dry-run --effort max --max-tokens 5000 <c.hello
is "$(jq -c '.body|[.max_tokens,.thinking.budget_tokens]' out)" '[5000,2500]' "the user's does not"
run env CLAWS_EFFORT=medium claws-stream --dry-run <c.hello
is "$(jq -c .body.thinking.budget_tokens out)" 4096 "CLAWS_EFFORT"
run env CLAWS_EFFORT=medium claws-stream --dry-run --thinking 2000 <c.hello
is "$(jq -c .body.thinking.budget_tokens out)" 2000 "--thinking goes before it"
run env CLAWS_EFFORT=lots claws-stream --dry-run <c.hello
status_is 78 "CLAWS_EFFORT: a word that is none"
run claws-stream --dry-run --effort lots <c.hello
status_is 2 "--effort: a word that is none"
run claws-stream --dry-run <c.hello
is "$(jq -c .body.thinking out)" null "nothing said, nothing sent"

# images are blobs of the session's own directory
mkdir -p s.ndjson.d/blobs
printf 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==' |
	base64 -d >p.png
sum=$(sha256sum <p.png | cut -d' ' -f1)
cp p.png "s.ndjson.d/blobs/sha256-$sum"
image() { printf '{"role":"user","content":"see","images":[{"media_type":"image/png","blob":"%s"}]}\n' "$1"; }
is "$(image "sha256:$sum" | CLAWS_SESSION=$T/s.ndjson claws-stream --dry-run | jq -r '.body.messages[0].content[].source.data//empty')" \
	"$(base64 -w0 p.png)" "an image is read from the session's blobs"
mkdir s.ndjson.d/x && cp p.png "s.ndjson.d/x/sha256-$sum"
for b in "../x/sha256-$sum" "$T/p.png" "sha256:../x/sha256-$sum"; do
	is "$(image "$b" | CLAWS_SESSION=$T/s.ndjson claws-stream --dry-run | jq -r '.body.messages[0].content|map(.type)|unique[]')" \
		text "nothing else is: $b"
done
is "$(image "sha256:$sum" | claws-stream --dry-run | jq -r '.body.messages[0].content|map(.type)|unique[]')" text \
	"without a session there is none"

# ---- models ----
url() { claws-stream --dry-run -m "$1" <c.hello | jq -r '.url+" "+.body.model'; }
unset CLAWS_BASE_URL ANTHROPIC_BASE_URL OPENAI_BASE_URL
is "$(url claude-sonnet-4-5-20250929)" "https://api.anthropic.com/v1/messages claude-sonnet-4-5-20250929" "a bare model, dated"
is "$(url gpt-4.1)" "https://api.openai.com/v1/chat/completions gpt-4.1" "a bare model of another provider"
is "$(url openrouter/anthropic/claude-sonnet-4.5)" \
	"https://openrouter.ai/api/v1/chat/completions anthropic/claude-sonnet-4.5" "a model with slashes"
is "$(url ollama:llama3:8b)" "http://127.0.0.1:11434/api/chat llama3:8b" "a model with colons"
is "$(url kimi/kimi-k2)" "https://api.moonshot.ai/v1/chat/completions kimi-k2" "an alias"
is "$(OLLAMA_BASE_URL=http://127.0.0.1:9/v1/ url ollama/x)" "http://127.0.0.1:9/api/chat x" "NAME_BASE_URL"
is "$(CLAWS_BASE_URL=http://127.0.0.1:9 url some/thing)" "http://127.0.0.1:9/chat/completions some/thing" \
	"an address without a known provider is custom"
run claws-stream -m nobody/x <c.hello
status_is 78 "an unknown provider"
like "$(cat err)" 'anthropic, openai' "is told which are known"
is "$(jq -r 'select(.type=="error").class' out) $(tail -n 1 out | jq -r .stop_reason)" "config error" \
	"error event, then turn_done"
nokeys() { env -u CLAWS_MODEL -u ANTHROPIC_API_KEY -u OPENAI_API_KEY "$@"; }
run nokeys claws-stream <c.hello
status_is 78 "no model and no key"
like "$(cat err)" CLAWS_MODEL "names the variable"
is "$(nokeys OPENAI_API_KEY=k claws-stream --dry-run <c.hello | jq -r .url)" https://api.openai.com/v1/responses \
	"no model: that of the key which is set"
is "$(nokeys OPENAI_API_KEY=k ANTHROPIC_API_KEY=k claws-stream --dry-run <c.hello | jq -r .body.model)" \
	"$(jq -r '.[0].default_model' "$BUILD/share/claws/providers.json")" "two keys: the first row's"
is "$(claws-stream --dry-run -m claude-3-haiku-20240307 <c.hello | jq .body.max_tokens)" 4096 "a model's own limit"

# ---- keys ----
export CLAWS_BASE_URL="${oai%/v1}"
: >log
printf '%s\n' "$(user hello)" | ANTHROPIC_API_KEY='
	sk-Very-Secret-1
' claws-stream >out 2>err
is "$(jq -r '.headers["x-api-key"]' log)" sk-Very-Secret-1 "white space around a key is dropped"
run env -u ANTHROPIC_API_KEY CLAWS_API_KEY=other claws-stream <c.hello
is "$(tail -n 1 log | jq -r '.headers["x-api-key"]')" other "CLAWS_API_KEY"
run env -u ANTHROPIC_API_KEY claws-stream <c.hello
status_is 78 "no key"
like "$(cat err)" 'ANTHROPIC_API_KEY or CLAWS_API_KEY' "names the variables"
run claws-stream --base-url http://example.com/ <c.hello
status_is 78 "a key does not go over plain http to another host"
like "$(cat err)" 'example.com.*https' "and is told so"
for u in http://localhost.example.com http://127.0.0.1.example.com http://0x7f.1 http://127.0.0.1@example.com \
	'http://example.com#@127.0.0.1' 'http://example.com\@127.0.0.1' http://2130706433 http://0.0.0.0 'http://[::ffff:1.2.3.4]'; do
	run claws-stream --base-url "$u" <c.hello
	like "$status" '^(2|78)$' "nor to $u"
done
fake_llm --key good --log log3
run env ANTHROPIC_API_KEY=sk-Very-Secret-2 claws-stream --record rec <c.hello
status_is 77 "a wrong key"
is "$(jq -r 'select(.type=="error")|"\(.class) \(.status)"' out)" "auth 401" "error of class auth"
is "$(grep -rl 'Very-Secret' out err rec 2>/dev/null)" "" "the key is in no output and no recording"
if [ "$(id -u)" -ne 0 ]; then
	user slow:100:50 | ANTHROPIC_API_KEY=good claws-stream >out &
	wait_for grep -q text_chunk out
	nok "another process cannot read its environment" cat "/proc/$!/environ"
	kill $!
else
	skip 1 "root reads everything"
fi

# ---- statuses and shapes of answers ----
answers() { # SCRIPT-LINE: one call of the script's answer
	printf '%s\n' "$1" >script
	[ -z "${quick-}" ] || kill "$quick"
	fake_llm --script script
	quick=$server
	run claws-stream --no-time --retries 0 <c.hello
}
answers '{"text":"half","stop":"max_tokens"}'
is "$status $(tail -n 1 out | jq -r .stop_reason)" "4 max_tokens" "max_tokens without calls"
answers '{"text":"half","calls":[{"id":"c","name":"Read","input":{"a":1}}],"stop":"max_tokens"}'
is "$status $(tail -n 1 out | jq -r .stop_reason)" "0 max_tokens" "max_tokens with calls"
answers '{"text":"no","stop":"refusal"}'
is "$status $(tail -n 1 out | jq -r .stop_reason)" "5 refusal" "refusal"
answers '{"text":"all","calls":[{"id":"c","name":"Read","input":"{\"path\": \"a"}]}'
is "$status $(jq -c 'select(.role).tool_calls[0].input' out)" '0 "{\"path\": \"a"' "arguments that do not parse stay a string"
answers '{"status":400,"message":"prompt is too long: 250000 tokens > 200000 maximum"}'
is "$status $(jq -c 'select(.type=="compact_request").limit' out) $(tail -n 1 out | jq -r .stop_reason)" \
	"4 200000 context_exceeded" "an overflow asks for compaction"
answers '{"status":404,"message":"model: fake"}'
is "$status $(jq -r 'select(.type=="error").class' out)" "66 model_not_found" "no such model"
answers '{"status":400,"message":"messages: wrong"}'
is "$status $(jq -r 'select(.type=="error").class' out)" "1 invalid_request" "a bad request is not tried again"
answers '{"thinking":"hm","signature":"c2ln","text":"so"}'
is "$(jq -c 'select(.role)|[.thinking,.content]' out) $(jq -rj 'select(.type=="thinking_chunk").text' out)" \
	'["hm","so"] hm' "thinking"
run claws-stream -m custom/fake --base-url "$OPENAI_BASE_URL" --effort high <c.hello
is "$(jq -r 'select(.type=="notice").text' out)" "how hard custom/fake thinks cannot be chosen: --effort is left out" \
	"--effort where the model's row says nothing of it"
answers '{"text":"","stop":"end_turn"}'
is "$status $(grep -c '"role"' out) $(grep -c turn_done out)" "0 0 1" "nothing said: no assistant message, one turn_done"

run claws-stream </dev/null
status_is 66 "an empty conversation"
is "$(tail -n 1 out | jq -r .stop_reason)" error "has its turn_done"
printf 'not json\n%s\n{"role":"user","content":"cut' "$(user hello)" >c.bad
answers '{"text":"hi","keep":true,"match":"hello"}'
run claws-stream <c.bad
status_is 65 "bad lines are left out, and remembered"
is "$(jq -r 'select(.type=="error").line' out | tr '\n' ' ')" "1 3 " "each is named"
like "$(cat out)" '"content":"hi"' "the rest is answered"

# ---- values that an option cannot have: usage, also without a key or a model ----
wrong() { # OPTION VALUE...
	_opt=$1
	shift
	for v; do
		run env -u ANTHROPIC_API_KEY -u CLAWS_MODEL claws-stream "$_opt=$v" <c.hello
		is "$status $(wc -c <out | tr -d ' ') $(head -n 1 err | grep -c "^claws-stream: $_opt")" "2 0 1" "$_opt '$v' is wrong usage"
	done
}
wrong --thinking lots -1 1.5 +5 ' 5' 1e3 '' 99999999999999999999 100000001 Off
wrong --wire '' foo Anthropic openai
wrong --match '' foo Request
wrong --base-url '' x ftp://x.example http:// 'https://u:p@x.example' https://x.example:0
wrong --temperature '' x 1x -1 nan inf 1e999
wrong --max-tokens '' 0 -1 1.5 x
wrong --retries '' -1 1.5 101
for o in timeout connect-timeout first-byte-timeout idle-timeout; do
	wrong "--$o" '' x -1 5y
done
wrong --record ''
wrong --replay ''
run claws-stream --record r1 --replay r2 <c.hello
status_is 2 "--record with --replay"
run claws-stream --thinking -1 <c.hello
status_is 2 "a value that looks like an option"
for v in 0 off; do
	is "$(claws-stream --dry-run --thinking $v <c.hello | jq -c .body.thinking)" null "--thinking $v: none"
done
run claws-stream --replay "$T/not/there" <c.hello
status_is 66 "--replay of a directory that is not there"
like "$(cat err)" 'not/there' "names it"
run claws-stream --replay "$T/c.hello" <c.hello
status_is 74 "--replay of a file"
run claws-stream --record "$T/c.hello" <c.hello
status_is 74 "--record into a file"
run env -u ANTHROPIC_BASE_URL CLAWS_BASE_URL=ftp://x claws-stream <c.hello
status_is 78 "a wrong address in the environment is configuration"
run env -u CLAWS_BASE_URL claws-stream -m nosuch/model <c.hello
status_is 78 "an unknown provider, no address"
is "$(env CLAWS_BASE_URL=http://127.0.0.1:9/v1 claws-stream --dry-run -m nosuch/model <c.hello | jq -r '.url+" "+.body.model')" \
	"http://127.0.0.1:9/v1/chat/completions nosuch/model" "with one it is a model of custom, by its whole name"
is "$(env -u ANTHROPIC_BASE_URL CLAWS_BASE_URL=http://127.0.0.1:9 claws-stream --dry-run -m anthropic/x <c.hello | jq -r '.url+" "+.body.model')" \
	"http://127.0.0.1:9/v1/messages x" "a known provider keeps its wire there"
is "$(env CLAWS_BASE_URL=http://127.0.0.1:8 ANTHROPIC_BASE_URL=http://127.0.0.1:9 claws-stream --dry-run -m anthropic/x <c.hello |
	jq -r .url)" "http://127.0.0.1:9/v1/messages" "NAME_BASE_URL comes before CLAWS_BASE_URL"

# every status that is seen here or in stream-*.t is in the page
statuses=$(sed -n 's/^[[:blank:]]*status_is \([0-9]*\) .*/\1/p' "$top"/tests/claws-stream.t "$top"/tests/stream-*.t | sort -un)
page=$(sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/s/^\.It //p' "$top/man/claws-stream.1")
# shellcheck disable=SC2086
for v in $statuses 69 75 76; do
	ok "claws-stream(1) lists status $v" test -n "$(printf '%s\n' "$page" | grep -x "$v")"
done
run claws-stream conversation
status_is 2 "no operands"
done_testing
