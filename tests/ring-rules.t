#!/bin/sh
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# What a run says, from its start to its end, and that it can be gone on with.
fake_llm --log log
echo hello >README.md

for prompt in hello tools:1 tools:3; do
	run claws --json -p "$prompt"
	status_is 0 "$prompt: goes well"
	is "$(head -n 1 out | jq -r .type)" run_start "$prompt: run_start comes first"
	is "$(tail -n 1 out | jq -r .type)" run_done "$prompt: run_done comes last"
	is "$(jq -r 'select(.type == "run_start" or .type == "run_done") | .type' out | tr '\n' ' ')" 'run_start run_done ' \
		"$prompt: each of them once"
	is "$(tail -n 1 out | jq .exit)" 0 "$prompt: run_done has the exit status"
	is "$(jq -s '(map(select(.type == "turn_done")) | length) == (map(select(.role == "assistant")) | length)' out)" true \
		"$prompt: one turn_done a turn"
	is "$(jq -s '.[-1].turns == (map(select(.type == "turn_done")) | length)' out)" true "$prompt: run_done counts the turns"
	ok "$prompt: what is printed are messages" claws-msg check --strict <out
	ok "$prompt: the log is sound" sound
	is "$(jq -c 'select(.role) | .id' out)" "$(jq -c 'select(.role) | .id' "$(session)")" "$prompt: printed is what is logged"
done
ok 'all requests are legal' legal

# The messages of any run are a transcript that resumes.
jq -c 'select(.role)' out >transcript.ndjson
before=$(jq -s 'map(select(.role != "system")) | length' transcript.ndjson)
: >log
run claws --json -r ./transcript.ndjson -p 'say:again'
status_is 0 'the messages of a run are a session'
is "$(jq -r 'select(.role == "assistant") | .content' out)" again 'which goes on'
is "$(jq -c '.body.messages | length' log)" "$((before + 1))" \
	'with all that was said'
ok 'and its request is legal' legal

# Statuses are what run_done says.
status_case() { # WANT NAME ARG...
	_want=$1 _name=$2
	shift 2
	run "$@"
	status_is "$_want" "$_name: status $_want"
	is "$(jq -c 'select(.type == "run_done") | .exit' out)" "$_want" "$_name: run_done says so, once"
	is "$(jq -c 'select(.type == "run_start") | .type' out)" '"run_start"' "$_name: after one run_start"
	ok "$_name: what is printed are messages" claws-msg check --strict <out
	ok "$_name: the log is sound" sound
}
status_case 3 'a denied call' claws --json -p 'call:Bash:{"command":"rm -rf x; y"}'
is "$(jq -r 'select(.type == "run_done") | .denied[].name' out)" Bash 'a denied call is listed'
status_case 0 'a denied call with --on-deny continue' claws --json --on-deny continue -p 'call:Bash:{"command":"rm -rf x; y"}'
status_case 4 '--max-turns' claws --json --max-turns 1 -p tools:3
is "$(jq -r 'select(.type == "run_done") | .limit' out)" turns '--max-turns is named as the limit'
is "$(jq -r 'select(.role == "tool") | .is_error' out)" false 'the call of the last turn still has its result'
run env CLAWS_PROMPT=/nonexistent CLAWS_SESSION="$(session)" sh -c 'claws-ring claws-session cat "$CLAWS_SESSION" "|" cat "|" claws-session append "$CLAWS_SESSION" "|" cat' </dev/null
status_is 66 'a ring without a prompt ends with 66'
is "$(tail -n 1 out | jq -r .exit)" 66 'and says so'

cat >script <<'S'
{"text":"cut","stop":"max_tokens"}
{"text":"no","stop":"refusal"}
{"status":401,"message":"who are you"}
{"status":400,"message":"bad"}
{"raw":"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"par\"}}\n\n"}
S
kill "$server"; wait "$server" 2>/dev/null; servers=
fake_llm --script script --log log2
status_case 4 'max_tokens' claws --json -p a
status_case 5 'refusal' claws --json -p a
status_case 77 'a rejected key' claws --json -p a
is "$(jq -s 'map(select(.type == "turn_done")) | length' out)" 1 'a rejected key: one turn_done'
is "$(jq -c 'select(.role == "assistant")' out)" '' 'and no assistant message'
status_case 1 'a bad request' claws --json -p a
status_case 76 'an answer without its end' claws --json -p a
is "$(jq -r 'select(.role == "assistant") | .stop_reason + " " + .content' out)" 'truncated par' 'keeps the part'
done_testing
