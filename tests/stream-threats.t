#!/bin/sh
# claws-stream against a hostile provider, a hostile recording, a hostile environment and a clumsy owner: keys stay where they
# belong, memory and time are bounded, nothing foreign reaches the terminal or another file.
# shellcheck disable=SC2317
. "${0%/*}/lib.sh"
command -v python3 >/dev/null || skip_all "no python3 for a hostile server"
export CLAWS_BREAKER=off
config=$HOME/.config/claws
mkdir -p "$config"
mkfifo fifo
python3 "$top/tests/servers/hostile.py" >fifo &
servers=$!
read -r port <fifo
url=http://127.0.0.1:$port
key=sk-test-SECRET-0123456789/abc+def
echo '{"role":"user","content":"hello"}' >in
# ask MODE OPTION...: one call of openai-chat with the key; $status, out, err, $class
ask() {
	_mode=$1; shift
	run timeout 60 claws-stream -m openai/x --wire openai-chat --base-url "$url/$_mode" --no-time --retries 0 "$@" <in
	class=$(jq -r 'select(.type == "error") | .class' out)
}
# peak MIB COMMAND...: does it stay below?
cat >peak.py <<'E'
import resource, subprocess, sys
p = subprocess.run(sys.argv[2:], stdin=open("in"), stdout=open("out", "w"), stderr=open("err", "w"))
sys.exit(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10 > int(sys.argv[1]))
E
peak() { python3 peak.py "$@"; }
sanitized() { nm -D "$BUILD/bin/claws-stream" 2>/dev/null | grep -q __asan_init; }
last() { tail -n 1 hostile.log | jq -r "$1 // empty"; }

# The key, said back by the server in every place, on every wire, however it was sent.
for m in anthropic openai gemini cohere ollama bedrock azure_openai openrouter; do
	CLAWS_API_KEY=$key run claws-stream -m $m/x --base-url "$url/refusal" --no-time --retries 0 --record rec-$m <in
	is "$(grep -rc SECRET out err rec-$m | grep -vc ':0$') $(jq -r 'select(.type=="error") | .class' out)" "0 auth" "$m: the key that is quoted is not seen"
	like "$(cat rec-$m/*-response)" '\*\*\*' "$m: nor kept"
done
AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnSECRETnFEMIbPxRfi AWS_SESSION_TOKEN=FwoGSECRET/TOKEN+0123== \
	run claws-stream -m bedrock/x --base-url "$url/refusal" --no-time --retries 0 --record rec-sigv4 <in
is "$(grep -rc SECRET out err rec-sigv4 | grep -vc ':0$')" 0 "sigv4: neither the token nor the secret"
unlike "$(last '.["x-amz-security-token"], .authorization')" wJalr "the secret is not sent"
export OPENAI_API_KEY=$key
ask midway
is "$class $(grep -c SECRET out)" "unknown 0" "an error in the middle of a stream"
ask named
is "$status $(grep -c SECRET out)" "0 0" "as the name of the model and of the answer"

# Keys that are not the key: of an address, a row's query, its headers, its extra members.
cat >"$config/providers.json" <<E
[{"name":"query","wire":"openai-chat","base_url":"$url/refusal","query":"key=\${MY_KEY}","key":"optional"},
 {"name":"head","wire":"openai-chat","base_url":"$url/refusal","headers":{"x-extra":"\${MY_TOKEN}"},"key":"optional"},
 {"name":"fixed","wire":"openai-chat","base_url":"$url/refusal","headers":{"x-api-key":"fixed-SECRET-header"},"key":"optional"},
 {"name":"extra","wire":"openai-chat","base_url":"$url/refusal","extra":{"api_key":"extra-SECRET-member"},"key":"optional"},
 {"name":"file","wire":"openai-chat","base_url":"$url/refusal","key_file":"~/keyfile"},
 {"name":"prog","wire":"openai-chat","base_url":"$url/refusal","key_command":["$T/prog"]},
 {"name":"hang","wire":"openai-chat","base_url":"$url/refusal","key_command":["$T/hang"]}]
E
echo "$key" >keyfile
printf '#!/bin/sh\necho %s\n' "$key" >prog
printf '#!/bin/sh\necho %s\nexec >&- 2>&-\nexec sleep 60\n' "$key" >hang
chmod +x prog hang
export MY_KEY=row-SECRET-in-query MY_TOKEN=row-SECRET-in-header
for m in query head fixed extra file prog; do
	run claws-stream -m $m/x --no-time --retries 0 --record rec-$m <in
	is "$(grep -rc SECRET out err rec-$m | grep -vc ':0$')" 0 "row $m: neither in the output nor in the recording"
	is "$(claws-stream -m $m/x --dry-run <in | grep -c SECRET) $(claws-stream -m $m/x --explain <in | grep -c SECRET)" "0 0" "row $m: --dry-run and --explain"
done
for m in query head fixed extra; do
	run claws-stream -m $m/x --base-url http://192.0.2.1 --timeout 5 --retries 0 <in
	is "$status $(grep -c 'plain http' err)" "78 1" "row $m: not over plain http to another machine"
done
run claws-stream -m ollama/x --base-url "$url/refusal?key=url-SECRET-0000" --no-time --retries 0 --record rec-url <in
is "$(grep -rc SECRET out err rec-url | grep -vc ':0$') $(last .path | grep -c SECRET)" "0 1" "in an address: sent, not shown"
is "$(claws-stream -m ollama/x --base-url "$url/ok?key=url-SECRET-0000" --dry-run <in | grep -c SECRET)" 0 "nor by --dry-run"
run env CUSTOM_BASE_URL="$url/models?key=url-SECRET-0000" claws-models --window custom/x
is "$(cat out) $(grep -rc SECRET "$HOME/.cache" | grep -vc ':0$')" "4096 0" "nor in the cache of windows"
is "$(CUSTOM_BASE_URL="$url/models?key=url-SECRET-0000" claws-models --providers custom | grep -c SECRET)" 0 "nor by claws-models"
run claws-stream -m ollama/x --base-url "https://user:url-SECRET-0000@h.test/" <in
is "$status $(grep -c SECRET err)" "2 0" "a password in an address is refused, and not repeated"
timeout 30 claws-stream -m hang/x <in >hang.out 2>&1 &
hang=$!

# A key goes to its own provider.
ask "redirect/?to=$port"
is "$status $class $(last .path | grep -c '^/redirect')" "78 config 1" "a redirect is not followed"
unlike "$(cat out err)" SECRET "and what it quotes is masked"
ask redirect --base-url http://192.0.2.1/
is "$status" 78 "plain http to another machine"
unset OPENAI_API_KEY
general=sk-ant-SECRET-general-key
CLAWS_API_KEY=$general ANTHROPIC_BASE_URL=$url/refusal OPENAI_BASE_URL=$url/ok \
	run claws-stream -m anthropic/x --fallback-model openai/gpt-4.1 --no-time --retries 0 <in
like "$(cat out)" 'fallback openai/gpt-4.1 cannot be called: no key for openai: set OPENAI_API_KEY' "CLAWS_API_KEY is not the fallback's"
is "$(last .path)" /refusal/v1/messages "which is not called"
CLAWS_API_KEY=$general ANTHROPIC_BASE_URL=$url/refusal OPENAI_BASE_URL=$url/ok OPENAI_API_KEY=$key \
	run claws-stream -m anthropic/x --fallback-model openai/gpt-4.1 --wire openai-chat --no-time --retries 0 <in
is "$status $(last .authorization)" "0 Bearer $key" "with a key of its own it is"
CLAWS_API_KEY=$general run claws-stream -m openai/gpt-4.1 <in
is "$status" 78 "a key that says whose it is goes to nobody else"
like "$(cat err)" 'the one in CLAWS_API_KEY is of anthropic' "and why"
CLAWS_API_KEY=$general run claws-stream -m openai/x --wire openai-chat --base-url "$url/ok" --no-time <in
is "$status $(last .authorization)" "0 Bearer $general" "unless the user says where"
CLAWS_API_KEY=sk-0123456789 OPENAI_BASE_URL=$url/ok run claws-stream -m openai/x --wire openai-chat --no-time <in
is "$status" 0 "one that says nothing goes where it is told"
for v in evil.test/ 'evil.test?' evil.test:1 'user@evil.test' 'a b' "$(printf 'a\tb')"; do
	is "$(AWS_REGION=$v AWS_ACCESS_KEY_ID=A AWS_SECRET_ACCESS_KEY=ssssssss claws-stream -m bedrock/x --dry-run <in 2>/dev/null; echo $?)" 78 \
		"a region that would be another host: $v"
	is "$(SNOWFLAKE_ACCOUNT=$v SNOWFLAKE_PAT=kkkkkkkk claws-stream -m snowflake/x --dry-run <in 2>/dev/null; echo $?)" 78 "an account: $v"
done
like "$(SNOWFLAKE_ACCOUNT=org-acc.eu-west-1 claws-stream -m snowflake/x --dry-run <in)" '"url":"https://org-acc.eu-west-1.snowflakecomputing.com/' "one that is fine"
AWS_REGION="$(printf 'us-east-1\r\nEvil: 1')" AWS_ACCESS_KEY_ID=A AWS_SECRET_ACCESS_KEY=ssssssss run claws-stream -m bedrock/x --base-url "$url/ok" <in
is "$status" 78 "no header comes out of a region"
for v in "$(printf 'k\r\nEvil: 1')" "$(printf 'k\033[31m')"; do
	OPENAI_API_KEY=$v run claws-stream -m openai/x --base-url "$url/ok" <in
	is "$status" 78 "nor out of a key"
done
unlike "$(cat hostile.log)" '"evil"' "none did"
mkdir -p project/.claws project/.config/claws
echo '[{"name":"openai","base_url":"'"$url"'/ok"}]' | tee project/.claws/providers.json project/providers.json >project/.config/claws/providers.json
echo "OPENAI_BASE_URL=$url/ok" | tee project/.env >project/.envrc
like "$(cd project && OPENAI_API_KEY=$key claws-stream -m openai/x --dry-run <../in)" '"url":"https://api.openai.com/' "a project says nothing of addresses"

wait $hang
is "$? $(grep -c 'did not end within' hang.out)" "78 2" "a key_command that says the key and does not end: not for ever"

# In sight of others: arguments, environment, memory, core files.
export OPENAI_API_KEY=$key
XDG_RUNTIME_DIR=$T CLAWS_CONTROL_PERSIST=20 claws-stream -m openai/x --wire openai-chat --base-url "$url/slow" --no-time <in >slow.out 2>&1 &
pid=$!
wait_for grep -q '"path": "/slow' hostile.log
keeper=$(XDG_RUNTIME_DIR=$T claws-keeper --status | sed -n 's/^process \([0-9]*\):.*/\1/p')
unlike "$(tr '\0' ' ' <"/proc/$pid/cmdline"; tr '\0' ' ' <"/proc/$keeper/cmdline"; tr '\0' ' ' <"/proc/$keeper/environ" 2>/dev/null)" SECRET "not in arguments, nor in the keeper's environment"
is "$(awk '/Max core/ { print $5 }' "/proc/$pid/limits" "/proc/$keeper/limits" | tr '\n' ' ')" "0 0 " "no core files"
if [ "$(id -u)" = 0 ]; then
	setpriv --reuid 65534 --clear-groups env HOME=/nonexistent claws-stream -m openai/x --wire openai-chat --base-url "$url/slow" --no-time <in >/dev/null 2>&1 &
	other=$!
	wait_for sh -c '[ "$(grep -c "\"path\": \"/slow" hostile.log)" -ge 2 ]'
	nok "its own user does not read its environment" setpriv --reuid 65534 --clear-groups head -c 1 "/proc/$other/environ"
	nok "nor its memory" setpriv --reuid 65534 --clear-groups head -c 1 "/proc/$other/mem"
	kill $other
else
	nok "its own user does not read its environment" head -c 1 "/proc/$pid/environ"
	nok "nor its memory" head -c 1 "/proc/$pid/mem"
fi
kill $pid
XDG_RUNTIME_DIR=$T claws-keeper --stop >/dev/null 2>&1

# Answers without end, and those that grow when they are opened.
limit=260
sanitized && limit=3000
for m in one_line page bomb bomb_twice text arguments calls heads one_head hundreds tokens; do
	ok "$m: memory is bounded" peak $limit timeout 60 claws-stream -m openai/x --wire openai-chat --base-url "$url/$m" --no-time --retries 0
	is "$(jq -r 'select(.type == "error") | .class' out) $(tail -n 1 out | jq -r .stop_reason)" "protocol error" "$m: and the error is said"
done
for m in event_tokens bomb_blank; do
	ok "$m: memory is bounded" peak $limit timeout 60 claws-stream -m openai/x --wire openai-chat --base-url "$url/$m" --no-time --retries 0
	is "$(jq -r 'select(.type == "text_chunk") | .text' out)" hi "$m: what follows is heard"
done
for m in comments blanks slow; do
	ok "$m: memory is bounded" peak $limit claws-stream -m openai/x --wire openai-chat --base-url "$url/$m" --no-time --retries 0 --timeout 1
	is "$(jq -r 'select(.type == "error") | .class' out)" timeout "$m: --timeout ends what keeps being alive"
done
for w in anthropic openai-responses gemini ollama-chat cohere bedrock-converse bedrock-invoke; do
	ok "$w: memory is bounded" peak $limit claws-stream -m openai/x --wire $w --base-url "$url/page" --no-time --retries 0
	is "$(jq -r 'select(.type == "error") | .class' out)" protocol "$w: and the error is said"
done
for how in long short heads crc; do
	ok "AWS, $how: memory is bounded" peak $limit claws-stream -m openai/x --wire bedrock-converse --base-url "$url/frames/$how" --no-time --retries 0
	is "$(jq -r 'select(.type == "error") | .class' out)" protocol "AWS, $how: lengths that lie"
done
ask deep
is "$(jq -r 'select(.role) | .tool_calls[0].input | type' out)" string "arguments nested too deep stay a text, and are no call to be run"
ask names
is "$status $(wc -c <out | awk '{ print ($1 < 4096) }')" "0 1" "names of a megabyte are none"
{ cat in; grep '"role"' out; echo '{"role":"tool","tool_call_id":"'"$(jq -r 'select(.role) | .tool_calls[0].id' out)"'","content":"no such tool"}'; } >conversation
for w in openai-chat openai-responses anthropic gemini cohere ollama-chat bedrock-converse; do
	unlike "$(claws-stream -m openai/x --wire $w --dry-run <conversation)" '"name":""' "$w: and do not make the conversation one that is refused for ever"
done

# What reaches a terminal.
esc=$(printf '\033')
ask escapes
claws-render <out >shown 2>&1
is "$(grep -c "$esc" err shown | tr '\n' ' ')" "err:0 shown:0 " "escape sequences in errors, names and codes"
is "$(grep -c '^fake' err shown | tr '\n' ' ')" "err:0 shown:0 " "and lines that are none of ours"
ask bytes_of_no_text
claws-render <out >shown 2>&1
is "$status $class $(grep -c "$esc" err shown | tr '\n' ' ')" "1 invalid_request err:0 shown:0 " "all bytes there are"
ok "valid UTF-8 all the same" iconv -f UTF-8 -t UTF-8 out
OPENAI_BASE_URL=$url/models run claws-models --live openai
is "$status $(cat out err | grep -c "$esc")" "0 0" "and in a list of models"
ok "a list without end: memory is bounded" peak $limit env OPENAI_BASE_URL="$url/page" claws-models --live openai --timeout 10

# Recordings from elsewhere.
ask ok --record good
mkdir keep && echo '{"body":"SECRET of another file"}' >keep/file
bad() { # NAME FILE COMMAND...: a copy of the recording whose FILE is made by COMMAND FILE
	rm -rf bad; cp -r good bad; rm -f "bad/$2"
	_name=$1 _file=bad/$2; shift 2
	"$@" "$_file"
	run timeout 20 claws-stream --replay bad --no-time <in
	is "$status $(cat out err | grep -c SECRET) $(tail -n 1 out | jq -r .stop_reason)" "65 0 error" "$_name"
}
for f in 0001-request.json 0001-response 0001-conversation.ndjson; do
	bad "$f: a link to another file" $f ln -s ../keep/file
	bad "$f: a link to a device" $f ln -s /dev/zero
	bad "$f: a FIFO" $f mkfifo
	bad "$f: a directory" $f mkdir
	bad "$f: 10 GB" $f truncate -s 10G
done
rm -rf bad; cp -r good bad
printf 'HTTP 200\nx-request-id: a\033]0;x\007\nx-claws-cut: \033[2J\n\ndata: x\n' >bad/0001-response
run claws-stream --replay bad <in
is "$(cat out err | grep -c "$esc")" 0 "control characters in its head"
rm -rf bad; cp -r good bad
(cd bad && seq -f '%06.0f-response' 2 60000 | xargs touch)
run timeout 10 claws-stream --replay bad --no-time <in
is "$status" 0 "60000 files are looked through in good time"

# Stores: what lies in the place of a file, and no place at all.
unset CLAWS_BREAKER
state=$HOME/.local/state/claws
breaker=$state/breaker/openai@127.0.0.1_$port quota=$state/quota/$(date -u +%F).ndjson
mkdir -p "$state/breaker"
link() { ln -s "$T/target" "$1"; }
garbage() { head -c 300000 /dev/urandom >"$1"; }
for how in mkfifo mkdir link garbage; do
	for f in "$breaker" "$quota" "$quota.sum"; do
		rm -rf "$f"
		$how "$f"
		ask ok
		is "$status $(jq -r 'select(.role) | .content' out)" "0 hi" "$how as ${f##*/}: the call is made all the same"
		rm -rf "$f"
	done
done
nok "a link was not followed" test -e target
for text in 'o -9223372036854775808 0 0 0 0 0 0' 'c 0 0 -9223372036854775808 -1 -1 -1 -1' 'p 9223372036854775807 -1 1 1 1 1 1'; do
	echo "claws-breaker 1 $text ." >"$breaker"
	ask ok
	is "$status" 0 "a breaker of absurd times: $text"
done
rm -f "$breaker" "$quota"
ln -s /dev/zero "$quota"
run timeout 10 claws-quota
is "$status" 74 "claws-quota does not read a device"
rm -f "$quota"
mkdir taken
XDG_RUNTIME_DIR='' TMPDIR=$T/taken
export XDG_RUNTIME_DIR TMPDIR
ln -s "$T" "taken/claws-$(id -u)"
CLAWS_CONTROL_PERSIST=20 ask ok
is "$status $(find "$T" -maxdepth 1 -name 'keeper-*' | wc -l)" "0 0" "a link in the place of the keeper's directory: directly"
export TMPDIR="$T"; unset XDG_RUNTIME_DIR
claws-stream -m openai/x --wire openai-chat --base-url "$url/ok" --no-time <in >out 2>&-
is "$? $(tail -n 1 out | jq -r .stop_reason)" "0 end_turn" "stderr is closed"
claws-stream -m openai/x --wire openai-chat --base-url "$url/ok" <&- >out 2>err
is "$?" 74 "stdin is closed"
nok "no output" sh -c "claws-stream -m openai/x --wire openai-chat --base-url $url/ok <in >&- 2>/dev/null"
HOME='' run claws-stream -m openai/x --wire openai-chat --base-url "$url/ok" --no-time <in
is "$(tail -n 1 out | jq -r .type)" turn_done "no HOME: an answer or an error"
mkdir full
sh -c 'ulimit -f 0; exec "$@"' sh claws-stream -m openai/x --wire openai-chat --base-url "$url/ok" --no-time --record full <in 2>/dev/null | cat >out
is "$(jq -r 'select(.type == "error") | .class' out) $(tail -n 1 out | jq -r .stop_reason)" "io end_turn" "no room for a recording: said, and the answer stands"
done_testing
