#!/bin/sh
turns=${CLAWS_TURNS:-300}
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# A run of CLAWS_TURNS (300) turns in one ring, a message the size of a book, and a conversation at the inbox.
echo hello >README.md
awk -v n="$turns" 'BEGIN {
	for (k = 1; k < n; k++) printf "{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"echo %d >>lines\"}}]}\n", k
	print "{\"text\":\"all done\"}"
}' >script
fake_llm --script script --log log
start claws --json --permission-mode accept-all --max-turns 0 -p 'count'
if ended 120000; then pass "$turns turns end"; else fail "$turns turns end" "after $took ms"; fi
status_is 0 'and well'
echo "# $turns turns in $took ms"
is "$(tail -n 1 out | jq -c '[.exit, .turns]')" "[0,$turns]" 'run_done counts them'
is "$(wc -l <lines)" "$((turns - 1))" 'each call ran'
is "$(sort -n lines | uniq -d)" '' 'once'
ok 'the log is sound' sound
tail -n 3 log >last
ok 'the last requests hold the whole conversation, legally' legal last
is "$(tail -n 1 log | jq -c '.body.messages | length')" "$((2 * turns - 1))" 'every message of it'
is "$(tail -n 1 log | jq -c .conn)" "$(head -n 1 log | jq -c .conn)" 'over one connection'
# What was said is said again in the same bytes, or a cache would miss.
tail -n 2 log | head -n 1 | jq -c '.body.messages | map(.content |= if type == "array" then map(del(.cache_control)) else . end)' >one
tail -n 1 log | jq -c '.body.messages | map(.content |= if type == "array" then map(del(.cache_control)) else . end)' >two
ok 'a request begins as the one before' sh -c 'n=$(($(wc -c <one) - 2)); cmp -n $n one two'

kill "$server"; wait "$server" 2>/dev/null; servers=
fake_llm --log log
head -c 3000000 /dev/zero | tr '\0' b >book
: >log
run claws --json --session-id book -f book -p hello </dev/null
status_is 0 'a file of 3 MB in the prompt'
run claws --json --session-id book -p hello </dev/null
status_is 0 'and gone on with'
ok 'legally' legal

# A ring that stays: each message to the inbox starts a run of its own.
s=$HOME/.local/state/claws/sessions/stay.ndjson
mkdir -p "${s%/*}"
export CLAWS_SESSION="$s"
start claws-ring --interactive claws-context ';' claws-tool --list ';' claws-session cat "$s" '|' claws-compact '|' claws-stream '|' claws-tool '|' \
	claws-session append --interactive "$s" '|' claws-render --json
runs() { [ "$(grep -c run_done out)" -eq "$1" ]; }
wait_for test -e "$s.d/inbox.open"
for k in 1 2 3; do
	claws-session inbox "$s" "say:answer $k" >/dev/null
	ok "message $k starts a run" wait_for runs "$k"
done
is "$(jq -r 'select(.type == "run_start" or .type == "run_done") | .type' out | tr '\n' ' ')" \
	'run_start run_done run_start run_done run_start run_done ' 'each with its start and its end'
is "$(jq -r 'select(.role == "assistant") | .content' out | tr '\n' ,)" 'answer 1,answer 2,answer 3,' 'and its answer'
claws-session inbox "$s" 'slow:100:300' >/dev/null
running() { [ "$(grep -c run_start out)" -eq 4 ] && [ "$(jq -s 'map(.type) | rindex("text_chunk") > rindex("run_start")' out)" = true ]; }
wait_for running
kill -INT "$ring"
ok 'SIGINT ends the run' wait_for runs 4
is "$(tail -n 1 out | jq -c .exit)" 130 'with 130'
claws-session inbox "$s" 'say:still here' >/dev/null
ok 'not the ring' wait_for runs 5
is "$(jq -r 'select(.role == "assistant") | .content' out | tail -n 1)" 'still here' 'which answers'
# Between the runs the interrupt is the line editor's, however often it comes.
for k in 1 2 3; do kill -INT "$ring"; sleep 0.15; done
claws-session inbox "$s" 'say:and still' >/dev/null
ok 'three interrupts at the prompt end nothing' wait_for runs 6
# But two for one run are meant: here the stage does not answer.
kill -STOP "$(pgrep -P "$ring" -x claws-stream)"
claws-session inbox "$s" 'say:stuck' >/dev/null
wait_for sh -c '[ "$(grep -c run_start out)" -eq 7 ]'
kill -INT "$ring"; sleep 0.15; kill -INT "$ring"
if ended; then pass 'two interrupts of one run end a ring whose stage is stuck'
else fail 'two interrupts of one run end a ring whose stage is stuck' "after $took ms"; fi
start claws-ring claws-context ';' claws-tool --list ';' claws-session cat "$s" '|' claws-compact '|' claws-stream '|' claws-tool '|' \
	claws-session append --interactive "$s" '|' claws-render --json
wait_for test -e "$s.d/inbox.open"
claws-session inbox "$s" 'say:again' >/dev/null
ok 'the session goes on in a new ring' wait_for runs 1
kill -HUP "$ring"
if ended; then pass 'SIGHUP ends the ring'; else fail 'SIGHUP ends the ring' "after $took ms"; fi
quiet 'nothing runs on'
ok 'its log is sound' sound "$s"
ok 'all requests were legal' legal
done_testing
