#!/bin/sh
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# Ends of file, stages that end early, big results, slow and absent readers.
fake_llm --log log
echo hello >README.md
end_checks() { # NAME STATUS-ERE
	if [ "$took" -lt 3000 ]; then pass "$1: ends at once"; else fail "$1: ends at once" "after $took ms"; fi
	like "$status" "^($2)\$" "$1: its status"
	quiet "$1: nothing runs on"
	if [ -n "$(session)" ]; then ok "$1: the log is sound" sound; fi
}

# A stage that ends early, with 0 or 1, before its input, after the first line, at the assistant message.
for at in start line message; do
	for s in 0 1; do
		case $at in
		start) cmd="exit $s #" ;;
		line) cmd="head -n 1 | grep . ; exit $s #" ;;
		message) cmd="sed /assistant/q; exit $s #" ;;
		esac
		for stage in COMPACT STREAM TOOL RENDER; do
			case $at$stage in messageCOMPACT|messageSTREAM) continue ;; esac
			name="$stage exits $s at $at"
			rm -rf .local
			: >log
			start "CLAWS_STAGE_$stage=$cmd" claws --json -p tools:1
			ended
			case $stage in
			RENDER) end_checks "$name" '0|1|141' ;;
			*) end_checks "$name" 1 ;;
			esac
			case $stage$s in
			RENDER*|*0) ;;
			*) like "$(cat err)" "stage '.*' failed: status 1" "$name: it is named" ;;
			esac
			: >log
			run claws -c -p 'say:on we go'
			is "$status $(cat out)" '0 on we go' "$name: claws -c goes on"
			ok "$name: the next request is legal" legal
		done
	done
done

# The first stage's input ends: a stage that closes it while a model call, or a tool, is under way.
for stage in CONTEXT COMPACT; do
	rm -rf .local
	start "CLAWS_STAGE_$stage=$([ $stage = CONTEXT ] && echo 'exit 78 #' || echo 'sed "/\"type\":\"turn\"/q" #')" \
		claws --json -p 'slow:100:300'
	ended
	end_checks "end of file after $stage" '1|78'
done

# Big results.
cat >big.sh <<'S'
head -c 10000000 /dev/zero | tr '\0' x
S
: >log
rm -rf .local
start claws --json --permission-mode accept-all -p 'call:Bash:{"command":"sh big.sh"}'
if ended 10000; then pass '10 MB of output of a command'; else fail '10 MB of output of a command' "after $took ms"; fi
status_is 0 'goes well'
ok 'and a legal request' legal
ok 'it is kept out of the conversation' test "$(tail -n 1 log | wc -c)" -lt 200000
sed -i '1i#!/bin/sh' big.sh
chmod +x big.sh
claws tool add big 'writes much' -- ./big.sh >/dev/null
: >log
start claws --json --permission-mode accept-all -p 'call:big:{}'
if ended 10000; then pass '10 MB of output of a tool of the user'; else fail '10 MB of output of a tool of the user' "after $took ms"; fi
status_is 0 'goes well too'
is "$(jq -c 'select(.role == "tool") | .is_error' out)" false 'and is its result'
ok 'with a legal request too' legal

# A tool stage of one's own with a result of 10 MB, one line.
cat >tool.py <<'S'
import json, sys
calls = []
for line in iter(sys.stdin.buffer.readline, b""):
    m = json.loads(line)
    if m.get("role") == "assistant": calls = m.get("tool_calls", [])
    if m.get("type") == "turn_done" and m["stop_reason"] == "tool_use":
        for c in calls:
            print(json.dumps({"role": "tool", "tool_call_id": c["id"], "name": c["name"], "content": "x" * 10000000, "is_error": False}))
    sys.stdout.write(line.decode())
    sys.stdout.flush()
S
: >log
rm -rf .local
start CLAWS_STAGE_TOOL='/usr/bin/python3 tool.py' claws --json -p tools:1
if ended 15000; then pass 'a message of 10 MB goes round'; else fail 'a message of 10 MB goes round' "after $took ms"; fi
status_is 0 'and the run ends well'
is "$(jq -r 'select(.role == "tool") | .content | length' out)" 10000000 'it arrives whole'
ok 'in the log too' test "$(wc -c <"$(session)")" -gt 10000000
ok 'and legally at the model' legal

# Readers.
: >log
rm -rf .local
claws --json -p long:3000:500 2>err | (sleep 3; cat) >out
is "$(tail -n 1 out | jq -c .exit)" 0 'a slow reader gets everything'
is "$(jq -j 'select(.type == "text_chunk") | .text' out | wc -c)" 1500000 'to the last byte'
is "$(cat err)" '' 'without a word'

mkfifo fifo
sh -c 'exec 3<fifo; until [ -e go ]; do sleep 0.02; done; cat <&3 >late' &
reader=$!
: >log
claws --json -p tools:40 >fifo 2>err &
writer=$!
run_ended() { grep -q run_done "$(session)"; }
ok 'a run goes to its end though nobody reads' wait_for run_ended
touch go
wait "$writer"; status=$?
wait "$reader"
status_is 0 'and well'
is "$(tail -n 1 late | jq -c .exit)" 0 'the reader gets all when it comes'
is "$(jq -s 'map(select(.role == "tool")) | length' late)" 40 'in full'

# Nobody reads any more. The best of three: other tests run beside this one.
leave() { # PROMPT: $took is the time between the reader's end and the ring's
	rm -rf ran .local
	(claws --json --permission-mode accept-all -p "$1" 2>err; echo $? >code; now_ms >gone) | {
		while read -r line; do
			case $line in *text_chunk*|*tool_start*) break ;; esac
		done
		[ "${1#call}" = "$1" ] || wait_for test -s ran
		now_ms >left
	}
	took=$(($(cat gone) - $(cat left)))
}
for prompt in slow:100:300 'call:Bash:{"command":"echo ran >>ran; sleep 97"}'; do
	limit=${CLAWS_GONE_MS:-1000} # alone on a machine: CLAWS_GONE_MS=100
	[ "${prompt#call}" = "$prompt" ] || limit=1500 # the tool gets a second to end by itself
	for try in 1 2 3; do
		leave "$prompt"
		[ "$took" -ge "$limit" ] || break
	done
	if [ "$took" -lt "$limit" ]; then pass "${prompt%%:*}: the ring is gone $limit ms after its reader"
	else fail "${prompt%%:*}: the ring is gone $limit ms after its reader" "after $took ms, try $try"; fi
	is "$(cat code)" 141 'with the status of SIGPIPE'
	is "$(cat err)" '' 'without a word'
	quiet 'nothing runs on'
	ok 'the log is sound' sound
done
# An interrupt that comes while the process of a tool has only just begun: a shim keeps it from going on for a while.
cat >late.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int prctl(int what, ...)
{
	int (*real)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
	va_list ap;
	va_start(ap, what);
	unsigned long a = va_arg(ap, unsigned long), b = va_arg(ap, unsigned long), c = va_arg(ap, unsigned long), d = va_arg(ap, unsigned long);
	va_end(ap);
	if (what == PR_SET_PDEATHSIG) {
		rename("begin", "begun");
		usleep(300000);
	}
	return real(what, a, b, c, d);
}
C
if ${CC:-cc} -shared -fPIC -o late.so late.c 2>/dev/null && ! ldd "$BUILD/bin/claws-tool" | grep -q asan; then
	: >begin
	call='{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"Bash","input":{"command":"sleep 97"}}],"stop_reason":"tool_use"}'
	{
		printf '%s\n' '{"type":"turn"}' "$call" '{"type":"turn_done","stop_reason":"tool_use"}'
		wait_for test -e begun
		now_ms >told
		echo '{"type":"interrupt"}'
		wait_for grep -q turn_done out
		now_ms >ended
	} | (trap "" HUP INT QUIT TERM # as in a ring
		LD_PRELOAD="$T/late.so" CLAWS_RING=1 CLAWS_PERMISSION_MODE=accept-all exec claws-tool >out 2>err)
	is "$(jq -r 'select(.role == "tool") | .is_error, .content' out)" 'true
interrupted by user' 'an interrupt at the very start of a tool is not lost'
	# what does not hear it is killed after 2.5 s
	took=$(($(cat ended) - $(cat told)))
	if [ "$took" -lt 2000 ]; then pass 'it is heard at once'; else fail 'it is heard at once' "after $took ms"; fi
	quiet 'the tool does not run on'
else
	skip 3 'needs a compiler (and no ASan)'
fi
done_testing
