#!/bin/sh
# claws-compact: any history becomes legal, whatever is legal keeps its bytes, what is too long gets shorter.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

U='{"role":"user","content":"q","id":"u1"}'
A='{"role":"assistant","content":"","tool_calls":[{"id":"A","name":"Read","input":{ "path":"f" }}],"id":"a1"}'
R='{"role":"tool","tool_call_id":"A","content":"r","id":"t1"}'
E='{"role":"assistant","content":"done","id":"a2"}'
mend() { printf '%s\n' "$@" >in; run claws-compact <in; claws-msg check <out >checked 2>&1 || fail "$1: the output is valid" "$(cat checked)"; }
messages() { grep '^{"role"' out; }

# --- what needs no change ---
odd='{"role":"assistant",  "content":"x\u00e9","n":12345678901234567890, "new":{"k":[1e2]}}'
mend '{"role":"system","content":"s"}' '{"type":"tools","tools":[]}' "$U" "$A" "$R" "$odd" '{"type":"later","x":1}' "$U"
is "$(grep -v later out)" "$(grep -v later in)" 'a legal history keeps its bytes'
ok 'a line of an unknown type passes' grep -qx '{"type":"later","x":1}' out
mend '{"type":"session","v":1,"id":"x","cwd":"/"}' '{"role":"system","content":"of an earlier run"}' "$U"
nok 'a system line within a log is not the prompt' grep -q earlier out
run claws-compact </dev/null
is "$status $(cat out)" '0 ' 'nothing in, nothing out'

# --- RQ01, CO03, SE14: open calls and orphans ---
mend "$U" "$A" "$U"
is "$(messages | sed -n 3p | jq -c '[.role,.tool_call_id,.content,.is_error]')" '["tool","A","interrupted: no result was recorded",true]' \
	'RQ01: an open call gets an error result before the next message'
is "$(jq -r 'select(.type=="notice").text' out)" 'conversation mended: 1 call without a result closed' 'and one notice says so'
mend "$U" "$A"
is "$(messages | jq -r .role | tr '\n' ' ')" 'user assistant tool ' 'RQ01: also at the end'
mend "$R" "$U" "$R" "$E"
is "$(messages)" "$U
$E" 'a result without a call is dropped'
mend "$U" "$A" "$U" "$R" "$E"
is "$(messages | jq -r .id | tr '\n' ' ')" 'u1 a1 t1 u1 a2 ' 'a result that came late stands after its call'
mend "$R" "$A" '{"type":"compact_request"}'
is "$status $(messages | jq -r .role | tr '\n' ' ')" '0 user assistant tool ' 'CO03: a damaged history is mended before it is made shorter'
mend "$U" "$A" "$R" "$E"; cp out once
cat once - <<END | claws-compact >twice
{"role":"user","content":"go on","id":"u2"}
END
is "$(head -n 4 twice)" "$(cat once)" 'SE14: continued, the conversation begins with the same bytes'
ok 'SE14: and again' sh -c 'claws-compact <twice | cmp - twice'

# --- RQ05: the end ---
mend "$U" '{"role":"assistant","content":"Hello \n"}'
is "$(messages | tail -n 1 | jq -c .content)" '"Hello"' 'RQ05: white space at the end of a last assistant message is cut'
mend "$U" '{"role":"assistant","content":"Hello \n"}' "$U"
is "$(messages | sed -n 2p | jq -c .content)" '"Hello \n"' 'and kept within the conversation'

# --- RQ14, RQ19, RQ20: calls and ids ---
mend "$U" '{"role":"assistant","content":"","tool_calls":[{"id":"A","name":"Read","input":"{\"path\": \"a"},{"id":"B","name":"Read","input":null}]}'
is "$(messages | sed -n 2p | jq -c '[.tool_calls[].input]')" '["{\"path\": \"a",{}]' 'RQ14: what could not be parsed stays as a string, nothing else does'
is "$(messages | jq -r 'select(.role=="tool").tool_call_id' | tr '\n' ' ')" 'A B ' 'RQ14: the pairing is kept'
mend "$U" "$A" "$R" '{"role":"tool","tool_call_id":"A","content":"again"}' "$E"
is "$(messages)" "$U
$A
$R
$E" 'RQ19: a second result is dropped'
mend "$U" '{"role":"assistant","content":"","tool_calls":[{"id":"c","name":"R","input":{}},{"id":"c","name":"R","input":{}}]}' \
	'{"role":"tool","tool_call_id":"c","content":"1"}' '{"role":"tool","tool_call_id":"c","content":"2"}' "$A" "$R" "$A" "$R"
is "$(messages | jq -r 'select(.role=="tool") | .tool_call_id + "=" + .content' | tr '\n' ' ')" 'c=1 c_2=2 A=r A_2=r ' \
	'RQ19: calls of one id are told apart, each with its own result'
mend "$U" '{"role":"assistant","content":"","tool_calls":[{"id":null,"name":"R","input":{}},{"id":"","name":"R","input":{}}]}' \
	'{"role":"tool","tool_call_id":"","content":"1"}' '{"role":"tool","tool_call_id":"","content":"2"}'
is "$(messages | jq -c 'select(.role=="assistant").tool_calls[].id, select(.role=="tool").tool_call_id' | tr '\n' ' ')" \
	'"call_1" "call_2" "call_1" "call_2" ' 'RQ20: missing ids are given to both sides'

# --- empty and headless ---
mend '{"role":"assistant","content":"hi"}' '{"role":"user","content":" \n"}' '{"role":"assistant","content":""}' "$U"
is "$(messages | jq -r '.role + (.origin // "")' | tr '\n' ' ')" 'userclaws assistant user ' 'empty messages go, the first is a user message'
mend "$U" '{"role":"assistant","content":null,"tool_calls":null}' '{"role":"user","content":"","images":[{"media_type":"image/png","blob":"sha256:'"$(printf %064d 0)"'"}]}'
is "$(messages | jq -c '.images|length' | tr '\n' ' ')" '0 1 ' 'an image alone is a message'

# --- bad input ---
printf '%s\n{"role":\n%s\n' "$U" "$E" >in; run claws-compact <in
is "$status $(jq -r 'select(.type=="error").line' out)" '65 2' 'a bad line is named, the rest goes on'
is "$(messages)" "$U
$E" 'and left out'

# --- CO09: the window ---
printf '%s\n' "$U" >in
run claws-compact --count <in
is "$(jq -c '[.messages,.window,.window_from,.compact_at]' out)" '[1,128000,"default",102400]' 'CO09: the window, where it is from, and the threshold are shown'
run env CLAWS_WINDOW=200000 claws-compact --count <in
is "$(jq -c '[.window,.window_from]' out)" '[200000,"CLAWS_WINDOW"]' 'CO09: from the environment'
run env CLAWS_WINDOW=200000 claws-compact --count --window 1000000 <in
is "$(jq -c '[.window,.window_from]' out)" '[1000000,"option"]' 'CO09: the option wins'
run env CLAWS_WINDOW=128k claws-compact <in
status_is 78 'CO09: what is no number is an error'
like "$(cat err)" 'CLAWS_WINDOW' 'that names the variable'
{ printf '{"role":"user","content":"%09000d"}\n' 1; printf '{"role":"assistant","content":"x","usage":{"input":6000,"output":1}}\n'; } >in
run claws-compact --count <in
like "$(jq .tokens out)" '^60[0-9][0-9]$' 'CO09: what the provider counted corrects the estimate'

# --- too long ---
turns() { # FROM TO SIZE
	awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { f = sprintf("%0" n "d", 7); for (i = a; i <= b; i++) printf \
		"{\"role\":\"user\",\"content\":\"prompt %d\",\"id\":\"u%d\"}\n" \
		"{\"role\":\"assistant\",\"content\":\"\",\"id\":\"a%d\",\"tool_calls\":[{\"id\":\"c%d\",\"name\":\"Read\",\"input\":{}}]}\n" \
		"{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"%s\",\"id\":\"t%d\"}\n" \
		"{\"role\":\"assistant\",\"content\":\"answer %d\",\"id\":\"b%d\"}\n", i, i, i, i, i, f, i, i, i }'
}
turns 1 10 4000 >log
run claws-compact -w 15000 <log
is "$(jq -c 'select(.type=="compaction") | .snipped' out)" '["t1","t2","t3","t4","t5","t6","t7","t8"]' 'old results are snipped first'
is "$(jq -r 'select(.id=="t1").content' out | sed 's/0000*7*//' | tr '\n' '|')" '|[... 2500 characters snipped ...]||' 'the middle goes, with a word'
is "$(jq -r 'select(.id=="t10").content|length' out)" 4000 'recent ones stay whole'
like "$(jq -r 'select(.type=="notice").text' out)" 'about 1[0-9]{4} tokens, now about [0-9]{4}; the window has 15000 \(option\)' 'the notice has the figures'
run claws-compact -w 4000 <log; cp out short
is "$(jq -r 'select(.role=="user").content' out | head -n 3 | tr '\n' '|')" \
	'prompt 1|[35 earlier messages were left out here to save room.]|prompt 10|' 'then the oldest turns go; first and last prompt stay'
{ cat log; grep '"compaction"' short; } >log2
run claws-compact -w 4000 <log2
is "$(messages)" "$(jq -c 'select(.role)' short)" 'a session taken up again is as short as it ended'
nok 'and nothing is made shorter anew' grep -q '"compaction"' out
turns 11 11 10 >>log2
run claws-compact -w 4000 <log2
is "$(head -n 3 out)" "$(messages | head -n 3)" 'it goes on from there'
like "$(messages | tail -n 1)" 'answer 11' 'with what is new'
printf '{"role":"user","content":"%0100000d"}\n' 1 >in
run claws-compact -w 4000 <in
ok 'even a single giant prompt is made to fit' test "$(wc -c <out)" -lt 12000
printf '{"role":"system","content":"%0100000d"}\n%s\n' 1 "$U" >in
run claws-compact -w 4000 <in
like "$status $(jq -r 'select(.type=="notice").text' out)" '^0 conversation too long: about 33.*nothing can be made shorter' 'what cannot be shortened passes, with a word'
is "$(messages | tail -n 1)" "$U" 'unchanged'
run claws-compact -w 0 <log
ok 'no window, no limit' cmp -s out log

# --- in a ring ---
mkfifo feed; : >got
claws-compact -w 4000 <feed >>got 2>err & pid=$!
exec 7>feed
# shellcheck disable=SC2317
cleanup() { exec 7>&-; kill "$pid" 2>/dev/null; }
say() { printf '%s\n' "$@" >&7; }
has() { wait_for grep -q "$1" got; }
say '{"role":"system","content":"s"}' '{"type":"ring","run":"r1","size":0}' "$U" "$A" '{"type":"seen","n":1}'
ok 'ring: lines that are not held pass at once' has '"seen"'
is "$(cut -c1-15 got | tr '\n' ' ')" '{"role":"system {"type":"ring", {"type":"seen", ' 'ring: the conversation waits for the turn'
say '{"type":"turn","turn":1}'
ok 'ring: the turn' has '"turn":1'
is "$(tail -n 4 got | jq -r '.role // .type' | tr '\n' ' ')" 'user assistant tool turn ' 'ring: comes after the mended conversation'
: >got
say "$E" '{"role":"user","content":"next","id":"u2"}' '{"type":"turn","turn":2}'
ok 'ring: the next turn' has '"turn":2'
is "$(jq -r '.id // .type' got | tr '\n' ' ')" 'a2 u2 turn ' 'ring: only what is new goes out'
: >got
turns 3 12 4000 >&7; say '{"type":"turn","turn":3}'
ok 'ring: a turn too long' has '"turn":3'
is "$(jq -r '.type // empty' got | uniq | tr '\n' ' ')" 'notice reset compaction turn ' 'ring: is answered by reset, the shorter conversation, the turn'
is "$(jq -r '.content // .type' got | sed -n 2,4p | tr '\n' '|')" 'reset|q|[40 earlier messages were left out here to save room.]|' 'ring: from its first prompt on'
: >got
say '{"type":"compact_request","limit":2000}' '{"type":"turn","turn":4}'
ok 'ring: upon a request' has '"turn":4'
is "$(jq -r '.type // empty' got | tr '\n' ' ')" 'notice reset compaction turn ' 'ring: it is made shorter'
: >got
say '{"type":"compact_request"}' '{"type":"turn","turn":5}' '{"type":"compact_request"}' '{"type":"turn","turn":6}' \
	'{"type":"compact_request"}' '{"type":"turn","turn":7}' '{"type":"compact_request"}' '{"type":"turn","turn":8}'
ok 'CO06: requests that lead nowhere' has '"turn":8'
is "$(jq -r '.type // empty' got | tail -n 1)$(sed '1,/"turn":7/d' got | grep -c role)" 'turn0' 'CO06: end with the turn passed on, and the conversation kept'
: >got
say "$U" '{"type":"seen","n":2}'; has '"n":2'
exec 7>&-
wait "$pid"; status=$?
is "$status $(grep -c role got)" '0 0' 'ring: end of file is no turn'
cleanup() { :; }
run env CLAWS_RING=1 claws-compact <log
is "$status $(wc -c <out)" '0 0' 'ring: nor is it when only the environment tells of the ring'

# --- in the agent: a provider finds it too long ---
if [ -x "$BUILD/tests/servers/fake-llm" ] && [ -x "$BUILD/bin/claws" ]; then
	cat >script <<'END'
{"calls":[{"id":"c1","name":"Read","input":{"file_path":"big.txt"}}]}
{"status":400,"message":"prompt is too long: 210000 tokens > 5000 maximum"}
{"text":"answered"}
{"text":"and again"}
END
	fake_llm --script script --log log.llm
	seq 1 9000 >big.txt
	run claws -p 'read big.txt'
	is "$status $(cat out)" '0 answered' 'an overflow is answered by a shorter conversation and one more turn'
	size() { jq -r "select(.n == $1) | .body.messages[2].content | tostring | length" log.llm; }
	ok 'the result of the tool was cut' test "$(size 3)" -lt "$(($(size 2) / 2))"
	run claws -p -c 'go on'
	is "$status $(cat out)" '0 and again' 'the session goes on'
	is "$(size 4)" "$(size 3)" 'from the shorter conversation'
	ok 'while its log keeps all of it' sh -c 'grep "^{.role.:.tool." "$HOME"/.local/state/claws/sessions/*.ndjson | grep -q t1000'
else
	skip 5 'the agent is not built'
fi

# --- 20,000 messages ---
turns 1 5000 300 >log
begun=$(date +%s%N)
run claws-compact -w 0 <log
took=$((($(date +%s%N) - begun) / 1000000))
ok '20,000 messages pass unchanged' cmp -s out log
if grep -q fsanitize "$BUILD/flags" 2>/dev/null; then skip 1 'a sanitizer build'
else ok "in no time ($took ms)" test "$took" -lt 2000; fi

# --- usage ---
run claws-compact x
status_is 2 'an operand is wrong usage'
run claws-compact --window=-1
status_is 2 'so is a negative window'
done_testing
