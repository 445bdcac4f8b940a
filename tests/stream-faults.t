#!/bin/sh
# claws-stream against servers that fail: retries, timeouts, connections that break. faults.md has the cases' names.
. "${0%/*}/lib.sh"
printf '{"role":"user","content":"hello"}\n' >c.hello
printf '{"role":"user","content":"long:50:20"}\n' >c.long
lines() { [ "$(grep -c "$1" out)" -eq "$2" ]; } # WORD NUMBER: so many lines of out have the word
export CLAWS_BREAKER=off # these are cases of one failure each
quick=
serve() { # fake-llm options
	[ -z "$quick" ] || kill "$quick"
	: >log
	fake_llm --log log "$@"
	quick=$server
}
tries() { grep -c '"method":"POST"' log; }
last() { tail -n 1 out | jq -r .stop_reason; }
errors() { jq -r 'select(.type=="error")|"\(.class) \(.status) \(.code)"' out; }
now() { date +%s%3N; }
timed() { t0=$(now); run "$@"; took=$(($(now) - t0)); }
quicker() { if [ "$took" -lt "$1" ]; then pass "$2"; else fail "$2" "took $took ms"; fi; }
one() { is "$(grep -c turn_done out)" 1 "$1: exactly one turn_done"; }
post() { printf '%s\n' "$@" >script; serve --script script; }

# ---- retries ----
serve --fault 'status:503@2'
timed claws-stream --no-time <c.hello
is "$status $(tries) $(last)" "0 3 end_turn" "503 twice, then well"
is "$(jq -c 'select(.type=="retry")|[.attempt,.wait_ms,.class]' out | tr '\n' ' ')" \
	'[1,500,"overloaded"] [2,1000,"overloaded"] ' "each wait is announced, and doubles"
quicker 4000 "and is what was announced"
one "retried"
is "$(jq -c .body log | sort -u | wc -l)" 1 "the same bytes are sent again"

serve --fault 'status:500'
timed claws-stream --retries 2 <c.hello
is "$status $(tries) $(last) $(errors)" "69 3 error overloaded 500 api_error" "500 for ever: 69, bounded"
one "500 for ever"
is "$(grep -c '"role"' out)" 0 "no assistant message"
serve --fault 'status:429:retry-after=1@1'
timed claws-stream --no-time <c.hello
is "$status $(jq -c 'select(.type=="retry")|[.wait_ms,.class]' out)" '0 [1000,"rate_limit"]' "retry-after is waited for"
serve --fault 'status:429:retry-after=3600'
timed claws-stream <c.hello
is "$status $(tries) $(jq -r 'select(.type=="error")|"\(.class) \(.retry_after_ms)"' out)" "75 1 rate_limit 3600000" \
	"429 with an hour to wait: 75 with the delay"
quicker 2000 "at once"
serve --fault 'status:429:retry-after=5'
timed claws-stream --timeout 3 <c.hello
is "$status $(tries)" "75 1" "a wait longer than what is left of --timeout is not begun"
quicker 2000 "at once, too"
serve --key good
timed claws-stream <c.hello
is "$status $(tries) $(errors)" "77 1 auth 401 authentication_error" "401: 77, not tried again"
quicker 2000 "at once, again"
serve --fault 'status:529' # RT06
run claws-stream --retries 0 <c.hello
is "$status $(errors)" "75 overloaded 529 overloaded_error" "529 keeps status and type, and is temporary"
serve --fault 'status:400'
run claws-stream <c.hello
is "$status $(tries)" "1 1" "400 is not tried again"
serve --fault 'status:408@1'
run claws-stream <c.hello
is "$status $(tries)" "0 2" "408 is"
serve --fault 'status:409@1'
run claws-stream <c.hello
is "$status $(tries)" "0 2" "409 is"
serve --fault 'status:503:x-should-retry=false'
run claws-stream <c.hello
is "$status $(tries)" "69 1" "x-should-retry: false decides"
serve --fault 'close@1'
run claws-stream <c.hello
is "$status $(tries)" "0 2" "a connection closed without an answer is tried again"

# nobody listens
port=$(python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
timed claws-stream --retries 1 --base-url "http://127.0.0.1:$port" <c.hello
is "$status $(last) $(jq -r 'select(.type=="error").class' out) $(grep -c '"retry"' out)" "69 error connection 1" \
	"connection refused: 69 after the retries"
like "$(cat out)" '127\.0\.0\.1: connection failed' "and names the host"
# what fails before there is a connection: each attempt is like the first, and so is each turn of a ring
classes() { jq -r 'select(.type=="retry" or .type=="error").class' out | uniq -c | tr -s ' \n' ' '; }
turns() { cat c.hello; printf '%s\n' '{"type":"turn"}' '{"type":"turn"}'; }
for host in https://nosuch.invalid http://nosuch.invalid; do
	key=ANTHROPIC_API_KEY=test-key model=anthropic/fake
	case $host in http:*) key=X=1 model=ollama/fake ;; esac # no key goes over plain http
	timed env "$key" claws-stream -m "$model" --no-time --retries 2 --base-url "$host" <c.hello
	is "$status $(last) $(classes)" "69 error  3 connection " "$host: 69 after the retries, as connection"
	quicker 4000 "$host: in time"
	is "$(jq -c 'select(.type=="retry").wait_ms' out | tr '\n' ' ')" "500 1000 " "$host: with the waits announced"
	like "$(tail -n 2 out)" 'nosuch\.invalid: connection failed.*resolve' "$host: and says what failed"
done
both() { # WANT NAME ARG...: two turns of a ring, without retries
	_want=$1 _what=$2
	shift 2
	mkfifo ring
	CLAWS_RING=1 claws-stream --retries 0 "$@" <ring >out 2>err &
	exec 6>ring
	turns >&6
	wait_for lines turn_done 2
	exec 6>&-
	wait $!
	rm ring
	is "$(classes)" "$_want" "ring, two turns: $_what"
}
both " 2 connection " "no such host" --base-url https://nosuch.invalid
both " 2 connection " "refused" --base-url "http://127.0.0.1:$port"
python3 - >plain <<'END' &
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(5)
print(s.getsockname()[1], flush=True)
while True:
    c = s.accept()[0]; c.sendall(b"this is no TLS\r\n"); c.close()
END
servers="$servers $!"
wait_for test -s plain
both " 2 connection " "no TLS" --base-url "https://127.0.0.1:$(cat plain)"
https_proxy=http://nosuch.invalid:1 both " 2 config " "no such proxy" --base-url https://nosuch.invalid

# ---- errors in mid-stream ----
serve --fault error # RT03
run claws-stream <c.long
is "$status $(tries) $(last) $(errors)" "75 1 error overloaded null overloaded_error" \
	"overloaded after visible output: not tried again, the turn failed"
is "$(jq -r 'select(.role)|.stop_reason' out)" error "the part is kept, marked"
one "overloaded in mid-stream"
over='event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n'
start='event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1}}}\n\n'
post "{\"raw\":\"$start$over\"}" '{"text":"well"}'
run claws-stream --no-time <c.hello
is "$status $(tries) $(jq -r 'select(.role).content' out)" "0 2 well" "overloaded before visible output: tried again"
post "{\"raw\":\"$start$(printf '%s' "$over" | sed s/overloaded_error/invalid_request_error/)\",\"keep\":true}"
run claws-stream <c.hello # RT05
is "$status $(tries) $(jq -r 'select(.type=="error").class' out)" "1 1 invalid_request" \
	"a certain error in the stream is not tried again"
post '{"raw":"data: {\"choices\":[],\"error\":{\"code\":502,\"message\":\"capacity\"}}\n\ndata: [DONE]\n\n"}' '{"text":"well"}'
run claws-stream -m openai/fake --no-time <c.hello # RT04
is "$status $(tries)" "0 2" "an error beside empty choices is one"
like "$(grep retry out)" capacity "with its words"

# ---- broken connections ----
for wire in anthropic openai; do
	serve --fault rst:900 # ST16
	run claws-stream -m $wire/fake <c.long
	is "$status $(tries) $(last) $(jq -r 'select(.type=="error").class' out)" "76 1 truncated truncated" "$wire: reset in mid-stream"
	is "$(jq -r 'select(.role).content' out)" "$(jq -r 'select(.type=="text_chunk").text' out | tr -d '\n')" \
		"$wire: what was shown is what is kept"
	one "$wire: reset"
	serve --fault cut:905
	run claws-stream -m $wire/fake <c.long
	is "$status $(last)" "76 truncated" "$wire: cut in the middle of a line"
	serve --fault noend
	run claws-stream -m $wire/fake <c.long
	is "$status $(last) $(grep -c '"class":"truncated"' out)" "76 truncated 1" "$wire: no terminal event"
done
serve --fault cut:10@1
run claws-stream <c.hello
is "$status $(tries)" "0 2" "cut before anything was shown: tried again"
# ST18: a call cut in the middle is never given out
cat >script <<'END'
{"text":"so","calls":[{"id":"c1","name":"Read","input":{"file_path":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}],"fault":"cut:1150"}
END
serve --script script
run claws-stream <c.hello
is "$status $(jq -c 'select(.role)|[.content,.tool_calls,.stop_reason]' out)" '76 ["so",null,"truncated"]' "half a call is dropped"

# ---- silence: ST14 ----
serve --fault stall:900
timed claws-stream --idle-timeout 300ms <c.long
is "$status $(last)" "76 truncated" "a stall after visible output"
quicker 3000 "ends at --idle-timeout"
like "$(cat out)" 'stalled' "and says so"
serve --fault stall:10@1
run claws-stream --idle-timeout 300ms <c.hello
is "$status $(tries)" "0 2" "a stall before it: tried again"
serve --delay 5000
timed claws-stream --first-byte-timeout 300ms --retries 0 <c.hello
is "$status $(jq -r 'select(.type=="error").class' out)" "69 timeout" "silence before the head"
quicker 3000 "ends at --first-byte-timeout"
timed claws-stream --timeout 300ms <c.hello
is "$status $(jq -r 'select(.type=="error").class' out)" "69 timeout" "--timeout bounds all of it"
quicker 3000 "in time"
printf '{"role":"user","content":"slow:80:12"}\n' >c.slow
serve
run claws-stream --idle-timeout 500ms --first-byte-timeout 500ms <c.slow
is "$status" 0 "a slow answer is not a silent one"
# a port where connections hang: the listen queue is full
python3 - >hang <<'END' &
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
held = []
for i in range(3):
    c = socket.socket(); c.setblocking(False)
    try: c.connect(s.getsockname())
    except BlockingIOError: pass
    held.append(c)
print(s.getsockname()[1], flush=True)
time.sleep(60)
END
servers="$servers $!"
wait_for test -s hang
timed claws-stream --retries 0 --connect-timeout 400ms --base-url "http://127.0.0.1:$(cat hang)" <c.hello
is "$status $(jq -r 'select(.type=="error").class' out)" "69 timeout" "no connection"
quicker 3000 "ends at --connect-timeout"
both " 2 timeout " "no connection" --connect-timeout 300ms --base-url "http://127.0.0.1:$(cat hang)"
mkfifo ring
CLAWS_RING=1 claws-stream --retries 1 --connect-timeout 5 --base-url "http://127.0.0.1:$(cat hang)" <ring >out 2>err &
exec 6>ring
for turn in 1 2; do
	turns | head -n 2 >&6
	wait_for lines '"turn"' "$turn"
	echo '{"type":"interrupt"}' >&6
	wait_for lines turn_done "$turn"
done
exec 6>&-
wait $!; status=$?
is "$status $(grep -c '"stop_reason":"interrupted"' out) $(classes)" "0 2 " "interrupted while connecting, twice"
rm ring

# ---- waits can be interrupted ----
serve --fault 'status:503:retry-after=50'
mkfifo in
CLAWS_RING=1 claws-stream <in >out &
pid=$!
exec 7>in
cat c.hello >&7; echo '{"type":"turn"}' >&7
wait_for grep -q '"retry"' out
t0=$(now)
echo '{"type":"interrupt"}' >&7
ok "an interrupt ends a wait" wait_for grep -q turn_done out
is "$(last)" interrupted "as interrupted"
echo '{"type":"turn"}' >&7
wait_for lines retry 2
exec 7>&-
wait "$pid"; status=$? took=$(($(now) - t0))
is "$status $(grep -c turn_done out)" "0 2" "end of file ends a wait"
quicker 4000 "at once"
claws-stream <c.hello 2>err | grep -q . && pass "a wait with nobody reading ..."
ok "... does not hold the pipeline" test "$(($(now) - t0))" -lt 8000

# ---- a parameter the model does not have: RQ13 ----
post '{"match":"\"temperature\"","status":400,"message":"Unsupported parameter: temperature is not supported with this model","keep":true}' \
	'{"text":"well","keep":true}'
run claws-stream -m openai/fake --temperature 0.5 <c.hello
is "$status $(tries) $(jq -c '.body.temperature' log | tr '\n' ' ')" "0 2 0.5 null " "is left out the second time"
post '{"match":"\"thinking\"","status":400,"message":"thinking is not supported by this model","keep":true}' '{"text":"well","keep":true}'
run claws-stream --thinking 2000 <c.hello
is "$status $(tries) $(jq -c .body log | sort -u | wc -l)" "0 2 2" "thinking: the second body differs"
post '{"status":400,"message":"thinking is not supported by this model","keep":true}'
run claws-stream --thinking 2000 <c.hello
is "$status $(tries)" "1 2" "and it is sent once more only"
post '{"match":"\"max_completion_tokens\"","status":400,"message":"Unrecognized request argument: max_completion_tokens","keep":true}' \
	'{"text":"well","keep":true}'
run claws-stream -m openai/fake --max-tokens 50 <c.hello
is "$status $(tries) $(tail -n 1 log | jq .body.max_tokens)" "0 2 50" "the limit's other name"

# ---- redirects ----
post '{"status":307,"headers":{"location":"https://example.com/v1/messages"},"body":{}}'
run claws-stream <c.hello
is "$status $(tries) $(jq -r 'select(.type=="error").class' out) $(last)" "78 1 config error" "a redirect is not followed"
like "$(cat err)" 'https://example.com/v1/messages.*--base-url' "and named"

# ---- a server that says the key aloud ----
post '{"status":401,"body":{"error":{"message":"Incorrect API key provided: test-key.","type":"invalid_request_error","code":"invalid_api_key"}}}'
run claws-stream -m openai/fake <c.hello
is "$status $(grep -c 'test-key' out err)" "77 out:0
err:0" "the key is masked in a provider's words"

# a key that is a word, or a part of one
says='invalid x-api-key; check the API key, none is known'
post "{\"status\":401,\"body\":{\"error\":{\"message\":\"$says\",\"type\":\"authentication_error\"}},\"keep\":true}"
while read -r key want; do
	run env ANTHROPIC_API_KEY="$key" claws-stream <c.hello
	is "$status $(jq -r 'select(.type=="error").message' out | sed 's/ (HTTP 401.*//')" "77 $want" "the key '$key' does not spoil the words"
done <<END
k $says
x $says
in $says
api $says
key invalid x-api-key; check the API ***, none is known
none invalid x-api-key; check the API key, *** is known
END
# a real one is nowhere, however the server spells it
key='sk-ant-api03-Qz/7+fR_k-0123456789abcdefABCDEF'
leaks() { grep -rlE 'api03-Qz|Qz(%2[Ff]|\\+/)7' out err rec 2>/dev/null; }
for said in "$key" 'sk-ant-api03-Qz\\/7\\u002bfR_k-0123456789abcdefABCDEF' \
	'https://api.example.com/v1?key=sk-ant-api03-Qz%2F7%2bfR_k-0123456789abcdefABCDEF&x=1' '{\"key\":\"sk-ant-api03-Qz\\/7+fR_k-0123456789abcdefABCDEF\"}'; do
	post "{\"status\":401,\"body\":{\"error\":{\"message\":\"bad: $said.\",\"type\":\"authentication_error\"}}}"
	run env ANTHROPIC_API_KEY="$key" claws-stream --record rec <c.hello
	is "$status $(leaks)" "77 " "not shown, not recorded: $said"
	like "$(jq -r 'select(.type=="error").message' out)" '^bad: .*\*\*\*' "but the words around it: $said"
	rm -rf rec
done
post "{\"status\":302,\"headers\":{\"location\":\"https://example.com/?k=$key\",\"request-id\":\"$key\"},\"body\":{}}"
run env ANTHROPIC_API_KEY="$key" claws-stream --record rec <c.hello
is "$status $(leaks)" "78 " "nor in a redirect"
like "$(cat err)" 'https://example.com/\?k=\*\*\*' "on stderr neither"
post "{\"text\":\"hi\",\"headers\":{\"request-id\":\"$key\"}}"
run env ANTHROPIC_API_KEY="$key" claws-stream --record rec <c.hello
is "$status $(leaks)" "0 " "nor in a request id"
run env ANTHROPIC_API_KEY="$key" claws-stream --dry-run --base-url "https://example.com/v1?key=$key" <c.hello
is "$status $(leaks)" "0 " "nor in a base URL that --dry-run shows"
run env ANTHROPIC_API_KEY="$key" claws-stream --retries 0 --base-url "https://nosuch.invalid/$key" <c.hello
is "$status $(leaks)" "69 " "nor in one that cannot be reached"
done_testing
