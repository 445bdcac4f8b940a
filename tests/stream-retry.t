#!/bin/sh
# claws-stream: requests that are refused and mended once, waits, and the circuit breaker that all processes share.
. "${0%/*}/lib.sh"
printf '{"role":"user","content":"hello"}\n' >hello
serving=
serve() { # the answers, a line each
	[ -z "$serving" ] || kill "$serving"
	: >log
	printf '%s\n' "$@" >script
	fake_llm --script script --log log
	serving=$server
}
ask() { run claws-stream --no-time "$@" <hello; }
tries() { grep -c '"method":"POST"' log; }
bodies() { jq -c .body log | sort -u | wc -l; }
body() { sed -n "$1p" log | jq -c ".body|$2"; }
seen() { jq -r "select(.type==\"$1\")|$2" out | tr '\n' ' '; }
last() { tail -n 1 out | jq -r .stop_reason; }
bad() { printf '{"status":%s,"body":{"type":"error","error":%s}}' "$1" "$2"; } # STATUS ERROR
invalid() { bad 400 "{\"type\":\"invalid_request_error\",\"message\":\"$1\"}"; }

# ---- waits ----
export CLAWS_BREAKER=off
serve '{"status":429,"headers":{"retry-after":"0.05"},"message":"slow down"}' '{"text":"well"}'
ask
is "$status $(seen retry '"\(.wait_ms) \(.class)"')" "0 50 rate_limit " "the server's own delay"
is "$(jq -r '.headers["idempotency-key"]' log | sort -u | wc -l) $(bodies)" "1 1" "one key and one body for all attempts"
like "$(jq -r '.headers["idempotency-key"]' log | head -n 1)" '^claws-[0-9a-f]{32}$' "the key says nothing of the user"
serve '{"status":429,"headers":{"retry-after":"1","retry-after-ms":"20"},"message":"slow down"}' '{"text":"well"}'
ask --timeout 1s
is "$status $(tries)" "75 1" "of two delays the larger one; none is begun that --timeout cuts"
serve "$(bad 429 '{"type":"rate_limit_error","message":"x","details":[{"retryDelay":"0.03s"}]}')" '{"text":"well"}'
ask
is "$status $(seen retry .wait_ms)" "0 30 " "RetryInfo"
serve "$(bad 429 '{"type":"rate_limit_error","message":"Please try again in 40ms."}')" '{"text":"well"}'
ask
is "$status $(seen retry .wait_ms)" "0 40 " "a delay in words"
serve "$(bad 429 '{"type":"rate_limit_error","message":"limit","details":{"error_code":"enforced_spend_limit_reached"}}')"
ask
is "$status $(tries) $(seen error .class)" "77 1 billing " "a spend limit is not waited for"
serve "$(bad 429 '{"type":"insufficient_quota","message":"quota","code":"insufficient_quota"}')"
ask
is "$status $(tries) $(seen error '"\(.class) \(.code)"')" "77 1 billing insufficient_quota " "nor is a quota"

# ---- mended once ----
serve "$(invalid 'This model''s maximum context length is 8192 tokens and your prompt contains at least 4000 input tokens')" \
	'{"text":"well"}'
ask --max-tokens 8000
is "$status $(body 1 .max_tokens) $(body 2 .max_tokens)" "0 8000 1692" "overflow: room is made for the answer, once"
like "$(seen notice .text)" 'leaves room for 1692 tokens' "and said"
over=$(invalid 'prompt is too long: 3000 tokens > 8000 maximum')
serve "$over" "$over" "$over"
ask --max-tokens 6000
is "$status $(tries) $(last) $(grep -c compact_request out)" "4 2 context_exceeded 1" "a second time it is compacted, not tried again"
serve "$(invalid 'prompt is too long: 210000 tokens > 200000 maximum')"
ask
is "$status $(tries) $(seen compact_request .limit)" "4 1 200000 " "no room: compacted at once"
serve "$(invalid 'max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens for claude-x-4-5')" '{"text":"well"}'
ask --max-tokens 90000
is "$status $(body 2 .max_tokens)" "0 64000" "more tokens than the model has: its cap"
cap=$(invalid 'max_tokens: 90000 > 64000, which is the maximum')
serve "$cap" "$cap" "$cap"
ask --max-tokens 90000
is "$status $(tries) $(bodies)" "1 2 2" "once only, and the second request differs" # RQ13
for what in 'temperature 0.5' 'thinking 2000'; do
	refused=$(invalid "${what% *} is not supported by this model")
	serve "$refused" "$refused" "$refused"
	ask --"${what% *}" "${what#* }"
	is "$status $(tries) $(bodies)" "1 2 2" "${what% *} is refused for ever: one request without it"
done
serve "$(invalid 'temperature is not supported')" '{"text":"never"}'
ask --temperature 0.5 --thinking 2000
is "$status $(tries)" "1 1" "what was not sent is not left out: the same request is not sent again"
serve "$(invalid 'Invalid value: the author said rate limit exceeded, unauthorized')"
ask
is "$status $(tries) $(seen error .class)" "1 1 invalid_request " "words in a message are not a class"
printf '{"type":"tools","tools":[{"name":"Read","description":"d","input_schema":{"type":"object"}}]}\n' | cat - hello >with-tools
serve "$(invalid 'registry/model does not support tools')" '{"text":"well"}'
run claws-stream --no-time <with-tools
is "$status $(body 1 '.tools|length') $(body 2 '.tools|length')" "0 1 0" "no tools: once without"
like "$(seen notice .text)" 'tools are not known' "and said"
serve "$(bad 400 '{"type":"invalid_request_error","code":"tool_use_failed","message":"Failed to call a function."}')" '{"text":"well"}'
ask
is "$status $(tries)" "0 2" "a bad call of Groq: once more"
fail=$(bad 400 '{"type":"invalid_request_error","code":"tool_use_failed","message":"Failed to call a function."}')
serve "$fail" "$fail" "$fail"
ask
is "$status $(tries)" "1 2" "and no more"

# a role and images that the model does not have
mkdir -p .config/claws s.log.d/blobs
printf '[{"name":"nim","quirks":["developer"]}]\n' >.config/claws/providers.json
printf 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' | base64 -d >png
sum=$(sha256sum png | cut -d ' ' -f 1)
cp png "s.log.d/blobs/sha256-$sum"
printf '{"role":"system","content":"be brief"}\n{"role":"user","content":"see","images":[{"media_type":"image/png","blob":"sha256:%s"}]}\n' \
	"$sum" >picture
serve "$(bad 400 '{"message":"Unsupported value: \u0027messages[0].role\u0027 does not support \u0027developer\u0027 with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}')" \
	"$(bad 400 '{"message":"This model does not support image input.","type":"invalid_request_error"}')" '{"text":"well"}'
NIM_BASE_URL="$OPENAI_BASE_URL" CLAWS_API_KEY=k NVIDIA_API_KEY=k CLAWS_SESSION=$PWD/s.log run claws-stream --no-time -m nim/x <picture
is "$status $(body 1 '.messages[0].role') $(body 2 '.messages[0].role')" '0 "developer" "system"' "a role that is not known"
is "$(sed -n 2p log | grep -c base64) $(sed -n 3p log | grep -c base64) $(tries)" "1 0 3" "images: once without"
like "$(body 3 .messages[1].content)" 'image' "with a note in their place"

# what is learned stays, the room for one answer does not
printf '{"type":"ring"}\n{"role":"user","content":"hello"}\n{"type":"turn"}\n{"type":"turn"}\n' >two
serve "$(invalid 'temperature is not supported')" '{"text":"a"}' '{"text":"b"}'
# the second turn is given when the first is done
mkfifo in
claws-stream --no-time --temperature 0.5 <in >out 2>err &
pid=$!
exec 4>in
head -n 3 two >&4
done_is() { [ "$(grep -c turn_done out)" -ge "$1" ]; }
wait_for done_is 1
tail -n 1 two >&4
wait_for done_is 2
exec 4>&-
wait "$pid"
is "$(tries) $(body 3 .temperature)" "3 null" "what a model refuses is remembered for the process"

# Azure: 429 for a prompt that is longer than the window, and no delay; no wait helps there
near() { # the model whose window is 2000 tokens
	mkdir -p .config/claws
	printf '[{"name":"near","wire":"openai-chat","base_url":"%s","key":"optional","context":2000}]\n' "$OPENAI_BASE_URL" >.config/claws/providers.json
	run claws-stream --no-time --max-tokens 100 --retries 1 --timeout 5 -m near/x
}
slow='{"status":429,"body":{"error":{"code":"RateLimitReached","message":"Your requests have exceeded token rate limit"}},"keep":true}'
{ printf '{"role":"user","content":"'; head -c 9000 /dev/zero | tr '\0' x; printf '"}\n'; } >large
serve "$slow"
near <large
is "$status $(tries) $(last) $(grep -c compact_request out)" "4 1 context_exceeded 1" "429 for an oversize prompt is an overflow"
near <hello
is "$status $(tries) $(seen error '"\(.class) \(.status)"')" "75 3 rate_limit 429 " "for a small one it is a rate limit"
serve '{"status":429,"headers":{"retry-after":"0.02"},"message":"slow down"}' '{"text":"well"}'
near <large
is "$status $(tries)" "0 2" "and so it is where a delay is named"

# ---- the breaker ----
unset CLAWS_BREAKER
serve '{"status":503,"message":"down","keep":true}'
i=0
while [ $((i += 1)) -le 5 ]; do ask --retries 0; done
like "$(seen notice .text)" 'failed 5 times within a minute' "the fifth failure opens it, and says so"
is "$(find .local/state/claws/breaker -type f -perm 600 | wc -l)" 1 "a private file"
ask
is "$status $(tries) $(seen error '"\(.class) \(.code)"')" "75 5 overloaded circuit_open " "open: no call, 75"
like "$(seen error .message)" 'anthropic at 127\.0\.0\.1 .* for 1[12][0-9] s more; --no-breaker .*--reset-breaker' \
	"who, how long, and what to do"
ask --no-breaker --retries 0
is "$status $(tries)" "69 6" "--no-breaker calls"
CLAWS_BREAKER=off ask --retries 0
is "$status $(tries)" "69 7" "so does CLAWS_BREAKER=off"
ask --reset-breaker --retries 0
is "$status $(tries)" "69 8" "--reset-breaker forgets"
ask --retries 0
is "$status $(tries)" "69 9" "for all that come after it"
serve '{"text":"well","keep":true}'
ask
is "$status" 0 "another address is another breaker"
rm -rf .local/state/claws/breaker
serve '{"status":401,"message":"no","keep":true}'
i=0
while [ $((i += 1)) -le 6 ]; do ask; done
is "$status $(tries) $(find .local -path '*breaker/*' | wc -l)" "77 6 0" "a wrong key opens nothing"
serve '{"status":503,"message":"down","keep":true}'
mkdir -p .local/state/claws
rm -rf .local/state/claws/breaker
: >.local/state/claws/breaker
i=0
while [ $((i += 1)) -le 6 ]; do ask --retries 0; done
is "$status $(tries)" "69 6" "no place for its file: calls go on"
rm .local/state/claws/breaker
# fifty processes at once, one of them after the other five failures
i=0
while [ $((i += 1)) -le 50 ]; do
	claws-stream --no-time --retries 0 <hello >"many.$i" 2>/dev/null &
	pids="${pids-} $!"
done
# shellcheck disable=SC2086
wait $pids
is "$(cat many.* | grep -c turn_done)" 50 "fifty at once: each ends its turn"
is "$(cat many.* | grep -c 'not called for two minutes')" 1 "one of them opens it"
ask
is "$status $(seen error .code)" "75 circuit_open " "and then it is open"
done_testing
