#!/bin/sh
# claws-stream: models that are called where the first cannot be had.
. "${0%/*}/lib.sh"
printf '{"role":"user","content":"hello"}\n' >hello
export CLAWS_BREAKER=off
pair() { # FIRST SECOND: scripts of two servers; anthropic is the first, openai the second
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "${servers_up-}" ] || kill $servers_up
	: >log1 && : >log2
	printf '%s\n' "$2" >script2
	fake_llm --script script2 --log log2
	second=$server second_url="http://127.0.0.1:$port/v1"
	printf '%s\n' "$1" >script1
	fake_llm --script script1 --log log1
	servers_up="$second $server"
	export OPENAI_BASE_URL="$second_url"
	unset CLAWS_BASE_URL
}
fall() { run claws-stream --no-time --retries 0 --fallback-model openai:fake "$@" <hello; }
tries() { grep -c '"method":"POST"' "$1"; }
seen() { jq -r "select(.type==\"$1\")|$2" out | tr '\n' ' '; }
model() { jq -r 'select(.role=="assistant").model' out; }

for how in '401 {"status":401,"message":"no","keep":true}' '402 {"status":402,"message":"pay","keep":true}' \
	'404 {"status":404,"message":"no such","keep":true}' '429 {"status":429,"message":"slow","keep":true}' \
	'503 {"status":503,"message":"down","keep":true}' '529 {"status":529,"message":"busy","keep":true}' \
	'close {"fault":"close","keep":true}'; do
	pair "${how#* }" '{"text":"second","keep":true}'
	fall
	is "$status $(model) $(tries log1) $(tries log2)" "0 openai/fake 1 1" "${how%% *}: the fallback answers"
	like "$(seen notice .text)" 'anthropic/fake failed \(.*\): openai/fake is called instead' "${how%% *}: and that is said"
done
is "$(grep -c turn_done out)" 1 "exactly one turn_done"
claws-msg check <out >/dev/null
is $? 0 "every line obeys claws-messages(5)"
for how in '400 {"status":400,"message":"bad","keep":true}' \
	'long {"status":400,"message":"prompt is too long: 9 tokens > 8 maximum","keep":true}' \
	'filter {"status":400,"body":{"error":{"type":"x","code":"content_filter","message":"no"}},"keep":true}'; do
	pair "${how#* }" '{"text":"second","keep":true}'
	fall
	is "$(tries log2)" 0 "${how%% *}: no fallback"
done
pair '{"text":"a text that is shown","fault":"error"}' '{"text":"second","keep":true}'
fall
is "$status $(tries log2) $(jq -r 'select(.role=="assistant").stop_reason' out)" "75 0 error" "not once something was shown"

# each has its own retries; the list goes on; what cannot be called is passed over
pair '{"status":429,"headers":{"retry-after":"0.02"},"message":"slow","keep":true}' \
	'{"status":429,"headers":{"retry-after":"0.02"},"message":"slow"}
{"text":"second"}'
run claws-stream --no-time --retries 1 --fallback-model 'nosuch/x,openai:fake' <hello
is "$status $(model) $(tries log1) $(tries log2) $(seen retry .attempt)" "0 openai/fake 2 2 1 1 " "each has retries of its own"
like "$(seen notice .text)" 'fallback nosuch/x cannot be called' "one that is not known is passed over"
pair '{"text":"first","keep":true}' '{"text":"second","keep":true}'
run env -u ANTHROPIC_API_KEY claws-stream --no-time --fallback-model openai:fake <hello
is "$status $(seen error .class) $(tries log1) $(tries log2)" "78 config  0 0" "a first model without a key is an error of configuration"
run claws-stream --no-time -m nosuch/x --fallback-model openai:fake <hello
is "$status $(tries log1) $(tries log2)" "78 0 0" "and so is one of a provider that is not known"
pair '{"status":503,"message":"down","keep":true}' '{"text":"second","keep":true}'
run env -u OPENAI_API_KEY claws-stream --no-time --retries 0 --fallback-model openai:fake <hello
is "$status $(seen error .class) $(tries log2)" "69 overloaded  0" "a fallback without a key is passed over"
like "$(seen notice .text)" 'fallback openai:fake cannot be called: .*key' "and that is said"
pair '{"status":503,"message":"down","keep":true}' '{"status":503,"message":"down too","keep":true}'
fall
is "$status $(seen error .class) $(grep -c turn_done out)" "69 overloaded  1" "all fail: the status is the last one's"
pair '{"status":503,"message":"down","keep":true}' '{"text":"second","keep":true}'
CLAWS_FALLBACK_MODELS=openai:fake run claws-stream --no-time --retries 0 <hello
is "$status $(model)" "0 openai/fake" "CLAWS_FALLBACK_MODELS"

pair '{"status":401,"message":"no","keep":true}' '{"text":"second","keep":true}'
run claws -p --no-session --fallback-model openai:fake hello
is "$status $(cat out)" "0 second" "claws --fallback-model"

# the conversation is told to the other model in its own format, without the first one's thoughts
cat >talk.in <<'END'
{"role":"system","content":"be brief"}
{"role":"user","content":"look"}
{"role":"assistant","content":"yes","thinking":"SECRET-THOUGHT","blocks":{"maker":"anthropic/fake","list":[{"type":"thinking","thinking":"SECRET-THOUGHT","signature":"c2ln"},{"type":"tool_use","id":"c1","name":"Read","input":{}}]},"tool_calls":[{"id":"c1","name":"Read","input":{}}],"model":"anthropic/fake"}
{"role":"tool","tool_call_id":"c1","name":"Read","content":"result"}
END
pair '{"status":503,"message":"down","keep":true}' '{"text":"second","keep":true}'
run claws-stream --no-time --retries 0 --fallback-model openai:fake <talk.in
is "$status $(jq -c '[.body.messages[].role]' log2)" '0 ["system","user","assistant","tool"]' "another wire"
is "$(grep -c SECRET log1) $(grep -c SECRET log2)" "1 0" "thoughts stay with who had them"

# in a ring the next turn begins with the first model again
pair '{"status":503,"message":"down"}
{"text":"first"}
{"status":503,"message":"down"}' '{"text":"second","keep":true}'
mkfifo in
claws-stream --no-time --retries 0 --fallback-model openai:fake <in >out 2>err &
pid=$!
exec 4>in
done_is() { [ "$(grep -c turn_done out)" -ge "$1" ]; }
printf '{"type":"ring"}\n{"role":"user","content":"one"}\n{"type":"turn"}\n' >&4
wait_for done_is 1
jq -c 'select(.role=="assistant")' out >&4
printf '{"role":"user","content":"two"}\n{"type":"turn"}\n' >&4
wait_for done_is 2
printf '{"type":"reset"}\n{"role":"user","content":"three"}\n{"type":"turn"}\n' >&4
wait_for done_is 3
exec 4>&-
wait "$pid"
is "$(jq -r 'select(.role=="assistant").model' out | tr '\n' ' ')" "openai/fake anthropic/fake openai/fake " \
	"the next turn tries the first again"
is "$(tail -n 1 log2 | jq -c '[.body.messages[].content]')" '["three"]' "a reset holds for the fallback too"

# an open breaker: the fallback at once
unset CLAWS_BREAKER
pair '{"status":503,"message":"down","keep":true}' '{"text":"second","keep":true}'
i=0
while [ $((i += 1)) -le 6 ]; do fall; done
is "$status $(model) $(tries log1) $(tries log2)" "0 openai/fake 5 6" "an open breaker: the fallback is called at once"
export CLAWS_BREAKER=off

# a cascade: the next model of the provider, without a wait, three times at most
mkdir -p .config/claws
cat >.config/claws/providers.json <<'END'
[{"name":"nim","cascade":["m1","m2"]}]
END
pair '{"status":429,"message":"slow"}
{"text":"well"}' '{"text":"second","keep":true}'
export NIM_BASE_URL="${ANTHROPIC_BASE_URL}/v1" NVIDIA_API_KEY=k NIM_API_KEY=k
run claws-stream --no-time -m nim/m1 <hello
is "$status $(model) $(seen retry .attempt)" "0 nim/m2 " "a cascade: the next model at once"
pair '{"status":429,"message":"slow","keep":true}' '{"text":"second","keep":true}'
NIM_BASE_URL="${ANTHROPIC_BASE_URL}/v1" run claws-stream --no-time --retries 0 -m nim/m1 <hello
is "$status $(jq -r .body.model log1 | tr '\n' ' ')" "75 m1 m2 m1 m2 " "three swaps at most, and round"

# a recording of what a fallback answered is replayed
pair '{"status":503,"message":"down","keep":true}' '{"text":"second","keep":true}'
fall --record rec
before=$(jq -c 'select(.role)' out)
# shellcheck disable=SC2086
kill $servers_up
servers_up=
run claws-stream --no-time --fallback-model openai:fake --replay rec <hello
is "$status $(jq -c 'select(.role)' out)" "0 $before" "a replay finds the fallback's answer"
done_testing
