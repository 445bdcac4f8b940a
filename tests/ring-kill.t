#!/bin/sh
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# Each stage killed at each point: the ring ends at once and names it, nothing stays behind, the conversation goes on.
fake_llm --log log

name_of() { case $1 in append) echo claws-session ;; context) echo 'claws-(context|session)' ;; *) echo "claws-$1" ;; esac; }

# reach POINT: starts a run and waits until it is there.
reach() {
	: >log
	rm -f go
	case $1 in
	before) # the context stage is held: nothing has come to the model yet
		start CLAWS_STAGE_CONTEXT='sleep 97 #' claws --json -p hello
		for stage_name in compact stream tool append render; do wait_for stage $stage_name; done ;;
	call)
		start claws --json -p slow:30000:3
		wait_for test -s log ;;
	text)
		start claws --json -p slow:100:300
		wait_for grep -q text_chunk out ;;
	tool)
		start claws --json --permission-mode accept-all -p "call:Bash:{\"command\":\"echo ran >>ran; $(hold true)\"}"
		wait_for test -s ran ;;
	esac
}
for point in before call text tool; do
	stages='context compact stream tool append render'
	[ "$point" != before ] || stages='context tool append' # two seconds each, as the first stage hears no end of file
	for stage in $stages; do
		rm -rf .local ran
		reach "$point"
		if ! stage "$stage"; then fail "$stage, $point: is there"; kill "$ring"; ended; continue; fi
		kill -9 "$pid"
		if ended; then pass "$stage killed, $point: the ring ends"; else fail "$stage killed, $point: the ring ends" "after $took ms"; fi
		case $stage in
		append) want='137' ;;
		render) want='137|141' ;;
		*) want='1|137' ;;
		esac
		like "$status" "^($want)\$" "$stage killed, $point: an honest status"
		case $stage in
		append) ;;
		*) like "$(cat err)" "stage '$(name_of "$stage")' failed: signal 9" "$stage killed, $point: it is named" ;;
		esac
		quiet "$stage killed, $point: nothing runs on"
		touch go
		: >log
		run claws -c --json -p 'say:on we go'
		is "$status $(jq -r 'select(.role == "assistant") | .content' out)" '0 on we go' "$stage killed, $point: claws -c goes on"
		ok "$stage killed, $point: the next request is legal" legal
		ok "$stage killed, $point: the log is sound" sound
		[ "$point" != tool ] || is "$(wc -l <ran)" 1 "$stage killed, $point: what ran once does not run again"
	done
done
done_testing
