#!/bin/sh
# A mock server that others wrote (npm: @copilotkit/aimock) over each wire it serves: texts, thoughts and calls, streamed and whole, a
# whole run with a tool, and its ways to misbehave. Its program `llmock` is looked for in PATH.
. "${0%/*}/lib.sh"
command -v llmock >/dev/null || skip_all 'needs llmock (npm install @copilotkit/aimock)'
cat >fixtures.json <<'J'
{"fixtures": [
 {"match": {"userMessage": "greet"}, "response": {"content": "Hello from elsewhere, ünïcödé 👋 and a \"quote\"."}},
 {"match": {"userMessage": "think"}, "response": {"content": "42", "reasoning": "six times seven"}},
 {"match": {"userMessage": "look", "hasToolResult": true}, "response": {"content": "it says one"}},
 {"match": {"userMessage": "look"}, "response": {"toolCalls": [{"name": "Read", "arguments": {"file_path": "a.txt"}},
  {"name": "Glob", "arguments": {"pattern": "*.txt"}}]}}]}
J
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
llmock -p "$port" -f fixtures.json --log-level warn >server.log 2>&1 &
servers="$servers $!"
alive() { curl -s -o /dev/null "http://127.0.0.1:$port/health"; }
if ! wait_for alive; then
	skip_all "llmock does not start: $(head -c 200 server.log)"
fi
export CLAWS_API_KEY=key-of-the-tests-1 AWS_BEARER_TOKEN_BEDROCK=key-of-the-tests-2
call() { # WIRE WORDS [OPTION...]: out
	_wire=$1 _words=$2 _base=http://127.0.0.1:$port
	shift 2
	case $_wire in openai-*) _base=$_base/v1 ;; esac
	printf '{"role":"user","content":"%s"}\n' "$_words" |
		claws-stream -m custom/m --wire "$_wire" --base-url "$_base" --no-time "$@" >out 2>err
	status=$?
}
said() { jq -c 'select(.role == "assistant") | [.content, .thinking, (.tool_calls // [] | map([.name, .input])), .stop_reason]' out; }
for wire in anthropic openai-chat openai-responses gemini ollama-chat cohere bedrock-converse bedrock-invoke; do
	for how in stream no-stream; do
		set --
		[ $how = stream ] || set -- --no-stream
		call $wire greet "$@"
		is "$status $(said)" '0 ["Hello from elsewhere, ünïcödé 👋 and a \"quote\".",null,[],"end_turn"]' "$wire, $how: a text"
		call $wire look "$@"
		is "$status $(said | jq -c '.[2:]')" '0 [[["Read",{"file_path":"a.txt"}],["Glob",{"pattern":"*.txt"}]],"tool_use"]' \
			"$wire, $how: two calls"
		# Its Cohere says the thought as a text, its Ollama by a name that Ollama does not know.
		case $wire in
		cohere|ollama-chat) ;;
		*) call $wire think "$@"
			is "$status $(said)" '0 ["42","six times seven",[],"end_turn"]' "$wire, $how: a thought" ;;
		esac
		call $wire 'nothing of the sort' --retries 0 "$@"
		is "$(jq -r 'select(.type == "error") | .status' out)" 404 "$wire, $how: what it does not know is an error"
		is "$(jq -r 'select(.type == "turn_done") | .stop_reason' out)" error "$wire, $how: and ends the turn"
		ok "$wire, $how: lines of claws-messages(5)" claws-msg check out
	done
	# A whole run: the calls are made, their results go back, in that wire's own form.
	echo one >a.txt
	base=http://127.0.0.1:$port
	case $wire in openai-*) base=$base/v1 ;; esac
	mkdir -p .config/claws
	printf '[{"name": "mock", "wire": "%s", "base_url": "%s", "key_env": ["CLAWS_API_KEY"], "auth": "bearer"}]\n' "$wire" "$base" \
		>.config/claws/providers.json
	run claws --no-session -m mock/m -p look
	is "$status $(cat out)" '0 it says one' "$wire: a run with two tools"
done

# Its chaos, by header, as a row of one's own can send it.
chaos() { # KIND [OPTION...]
	_kind=$1
	shift
	printf '[{"name": "mock", "wire": "anthropic", "base_url": "http://127.0.0.1:%s", "key": "optional", "headers": {"X-AIMock-Chaos-%s": "%s"}}]\n' \
		"$port" "$_kind" "${value:-1}" >.config/claws/providers.json
	echo '{"role":"user","content":"greet"}' | claws-stream -m mock/m --no-time --no-breaker "$@" >out 2>err
	status=$?
	class=$(jq -r 'select(.type == "error") | "\(.class) \(.status // "")"' out)
	retries=$(jq -r 'select(.type == "retry") | .attempt' out | wc -l)
}
chaos Drop --retries 0
is "$status $class" '69 overloaded 500' 'chaos: a dropped request'
chaos Malformed --retries 0
is "$status ${class%% *}" '76 protocol' 'chaos: no JSON'
chaos Disconnect --retries 1
is "$status ${class%% *} $retries" '69 connection 1' 'chaos: the connection is cut, once tried again'
chaos Ratelimit --retries 0
is "$status $class" '75 rate_limit 429' 'chaos: too many requests'
is "$(jq -r 'select(.type == "error") | .retry_after_ms' out)" 1000 'chaos: with the delay that it asks for'
value=300 chaos Latency --first-byte-timeout 100ms --retries 0
is "$status ${class%% *}" '69 timeout' 'chaos: too slow'
value=50 chaos Latency
is "$status $(jq -r 'select(.role == "assistant") | .stop_reason' out)" '0 end_turn' 'chaos: slow, but in time'
done_testing
