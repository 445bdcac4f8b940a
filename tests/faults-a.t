#!/bin/sh
# Faults that people met in programs of this kind, end to end: streams, requests, sessions, input that is not what it should
# be, and places that are odd.
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
fake_llm --log log
hello='{"role":"user","content":"hello"}'
log=$(claws-session open)

# ---- closed standard descriptors: nothing that is opened later takes their place ----
for cmd in claws-stream claws-compact claws-tool "claws-session append $log" claws-render 'claws-each-turn cat'; do
	# shellcheck disable=SC2086 # a command line
	timeout 10 $cmd <&- >out 2>err
	is "$? $(grep -c 'read standard input: Bad file descriptor' err)" '74 1' "$cmd: a closed stdin cannot be read"
	# shellcheck disable=SC2086
	timeout 10 $cmd <. >out 2>err
	is "$? $(grep -c 'Is a directory' err)" '74 1' "$cmd: nor a directory"
done
for cmd in claws-stream claws-compact claws-tool "claws-session append $log" 'claws-render --json'; do
	# shellcheck disable=SC2086
	echo "$hello" | timeout 10 $cmd >&- 2>err
	is $? 74 "$cmd: a closed stdout cannot be written"
	# shellcheck disable=SC2086
	echo "$hello" | timeout 10 $cmd 2>&- >out
	is $? 0 "$cmd: does without stderr"
done
done_testing
