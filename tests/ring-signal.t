#!/bin/sh
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# SIGINT, SIGTERM, --max-time and timeout(1) at each point: a legal end with its status, and nothing that runs on.
fake_llm --log log

at() { # POINT [ARG...]: starts a run and waits until it is there
	: >log
	rm -f go ran
	_point=$1
	shift
	case $_point in
	first)
		start "$@" -p slow:30000:3
		wait_for test -s log ;;
	text)
		start "$@" -p slow:100:300
		wait_for grep -q text_chunk out ;;
	tool)
		start "$@" --permission-mode accept-all -p "call:Bash:{\"command\":\"echo ran >>ran; sleep 97; echo not\"}"
		wait_for test -s ran ;;
	esac
}
checks() { # NAME STATUS
	if ended; then pass "$1: ends at once"; else fail "$1: ends at once" "after $took ms"; fi
	status_is "$2" "$1: status $2"
	is "$(jq -c 'select(.type == "run_done") | .exit' out)" "$2" "$1: run_done says so, once, last"
	is "$(tail -n 1 out | jq -r .type)" run_done "$1: and it is the last line"
	quiet "$1: nothing runs on"
	ok "$1: the log is sound" sound
	ok "$1: messages are legal" claws-msg check --strict <out
}
for signal in INT:130 TERM:143 HUP:129; do
	number=${signal#*:} signal=${signal%:*}
	for point in first text tool; do
		name="SIG$signal, $point"
		rm -rf .local
		at "$point" claws --json
		kill "-$signal" "$ring"
		checks "$name" "$number"
		unlike "$(cat err)" 'stage|failed|error' "$name: no stage failed"
		case $point in
		first) is "$(jq -c 'select(.role == "assistant")' out)" '' "$name: no assistant message without content" ;;
		text)
			is "$(jq -r 'select(.role == "assistant") | .stop_reason' out)" interrupted "$name: the part is kept as interrupted"
			is "$(jq -j 'select(.role == "assistant") | .content' out)" "$(jq -j 'select(.type == "text_chunk") | .text' out)" \
				"$name: all that was shown of it" ;;
		tool) is "$(jq -c 'select(.role == "tool") | .is_error' out)" true "$name: the call has a result" ;;
		esac
		is "$(jq -r 'select(.type == "turn_done") | .stop_reason' out | wc -l)" 1 "$name: one turn_done"
		[ "$signal" = INT ] || continue
		: >log
		run claws -c -p 'say:on we go'
		is "$status $(cat out)" '0 on we go' "$name: claws -c goes on"
		ok "$name: the next request is legal" legal
	done
done

# As at a terminal: the whole foreground group hears it.
at tool setsid claws --json
kill -INT "-$ring"
checks 'SIGINT to the group, tool' 130

# A tool that does not hear SIGTERM.
: >log
rm -f ran
start claws --json --permission-mode accept-all -p "call:Bash:{\"command\":\"trap '' TERM; echo ran >>ran; while :; do sleep 1; done\"}"
wait_for test -s ran
kill -TERM "$ring"
checks 'SIGTERM, a deaf tool' 143

# A second signal within two seconds.
rm -f ran
start claws --json --permission-mode accept-all -p "call:Bash:{\"command\":\"trap '' TERM; echo ran >>ran; while :; do sleep 1; done\"}"
wait_for test -s ran
kill -INT "$ring"
sleep 0.1 # two signals of one kind that come at once are one
kill -INT "$ring"
if ended 1000; then pass 'a second SIGINT ends all at once'; else fail 'a second SIGINT ends all at once' "after $took ms"; fi
like "$status" '^(130|137|143)$' 'with the status of a signal'
quiet 'a second SIGINT: nothing runs on'
: >log
run claws -c -p 'say:on we go'
is "$status $(cat out)" '0 on we go' 'a second SIGINT: claws -c goes on'
ok 'a second SIGINT: the next request is legal' legal
ok 'a second SIGINT: the log is sound' sound

# Time.
for point in first text tool; do
	at "$point" claws --json --max-time 500ms
	checks "--max-time, $point" 4
	is "$(jq -r 'select(.type == "run_done") | .limit' out)" time "--max-time, $point: the limit is named"
done
for point in first tool; do
	at "$point" timeout 1 claws --json
	if ended 4000; then pass "timeout(1), $point: ends"; else fail "timeout(1), $point: ends" "after $took ms"; fi
	status_is 124 "timeout(1), $point: its status"
	is "$(tail -n 1 out | jq -c .exit)" 143 "timeout(1), $point: run_done"
	quiet "timeout(1), $point: nothing runs on"
	ok "timeout(1), $point: the log is sound" sound
done

# While nobody reads: append waits for its output.
mkfifo fifo
: >log
sh -c 'exec 3<fifo; touch open; until [ -e go ]; do sleep 0.05; done' &
reader=$!
env --default-signal=INT claws --json --partial -p long:3000:500 >fifo 2>err </dev/null &
ring=$!
wait_for test -e open
wait_for test -s log
blocked() { stage render && grep -q pipe_w "/proc/$pid/wchan"; }
if wait_for stage render && [ -r "/proc/$pid/wchan" ]; then wait_for blocked; fi
kill -TERM "$ring"
log_has_end() { grep -q run_done "$(session)"; }
ok 'SIGTERM while nobody reads: the run ends in the log' wait_for log_has_end
if ended; then pass 'and all end without the reader'; else fail 'and all end without the reader' "after $took ms"; fi
status_is 143 'with the status of the signal'
touch go
wait "$reader"
quiet 'SIGTERM while nobody reads: nothing runs on'
ok 'SIGTERM while nobody reads: the log is sound' sound
done_testing
