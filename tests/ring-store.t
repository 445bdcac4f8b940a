#!/bin/sh
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# The store under a ring: a full disk, torn and damaged logs, two runs on one session, an inbox that tells the truth, no flock.
echo hello >README.md
fake_llm --log log

# ---- torn, damaged, odd (what the log looked like is in each name)
say_on() { # NAME [ARG...]
	_name=$1
	shift
	: >log
	run claws "$@" -p 'say:on we go'
	is "$status $(cat out)" '0 on we go' "$_name: goes on"
	ok "$_name: the request is legal" legal
}
claws -p tools:1 >/dev/null
s=$(session)
size=$(wc -c <"$s")
head -c $((size - 100)) "$s" >cut; cat cut >"$s"
say_on 'a log torn in its last line' -c
like "$(cat err)" 'torn last line' 'it is said'
ok 'what was cut off is kept' test -s "$s.d/torn"
ok 'the new lines are whole' sound
is "$(jq -c '.body.messages | length' log)" 5 'and all that was whole is said again'

printf '{"type":"session","v":1,"id":"x","cw' >x.ndjson
say_on 'a log that is one torn line' -r ./x.ndjson
ok 'the torn line is kept' grep -q '"cw' x.ndjson.d/torn
ok 'and the log begins anew' sound x.ndjson

claws --session-id mid -p tools:1 >/dev/null
s=$HOME/.local/state/claws/sessions/mid.ndjson
awk 'NR == 3 { print substr($0, 1, 40); next } { print }' "$s" >damaged; cat damaged >"$s"
say_on 'a log with a damaged line in its middle' -r mid
like "$(cat err)" 'cannot be read' 'it is said'

for time in 1 2; do
	: >log
	[ $time -eq 2 ] || claws --session-id twice -p tools:2 >/dev/null
	say_on "a conversation with calls, continued, time $time" -r twice
	is "$(jq -c '.body.messages[0].content | if type == "string" then . else .[0].text end' log)" '"tools:2"' \
		"time $time: from its beginning"
	is "$(jq -c '.body.messages | length' log)" "$((5 + time * 2))" "time $time: in full"
done

mkdir gone
(cd gone && claws --session-id gone -p hello >/dev/null)
rmdir gone
say_on 'a session whose directory is gone' -r gone

kill "$server"; wait "$server" 2>/dev/null; servers=
cat >script <<'S'
{"thinking":"only that","signature":"c2ln","stop":"max_tokens"}
{"text":"","stop":"end_turn"}
{"text":"on we go"}
S
fake_llm --script script --log log
run claws --session-id think -p a
status_is 4 'an answer that is reasoning alone, cut by the limit'
is "$(jq -r 'select(.role == "assistant") | .stop_reason' "$HOME/.local/state/claws/sessions/think.ndjson")" max_tokens 'is kept with its reason'
run claws -r think -p b
status_is 0 'an answer without anything'
say_on 'a conversation with such answers' -r think
kill "$server"; wait "$server" 2>/dev/null; servers=
fake_llm --log log

# ---- a full disk
if [ "$(id -u)" -eq 0 ] && mkdir disk && mount -t tmpfs -o size=256k,mode=700 none disk 2>/dev/null; then
	cleanup() { umount -l "$T/disk" 2>/dev/null; }
	export CLAWS_HOME="$T/disk/home"
	claws --session-id full -p 'say:first' >/dev/null
	s=$(find disk -name full.ndjson)
	cp "$s" before
	# Room for less than the answer, which is 40 kB.
	dd if=/dev/zero of=disk/fill bs=1k count=10000 2>/dev/null
	truncate -s -16k disk/fill
	start claws --json -r full -p long:100:400
	ended
	status_is 74 'a disk that fills up while the answer is logged: status 74'
	like "$(cat err)" 'No space left' 'the cause is named'
	is "$(jq -c 'select(.type == "run_done") | .exit' out)" 74 'in run_done too'
	ok 'and the log is intact' sound "$s"
	ok 'with all that was there' cmp -n "$(wc -c <before)" before "$s"
	quiet 'a full disk: nothing runs on'
	# In the middle of a tool call.
	start claws --json -r full --permission-mode accept-all -p 'call:Bash:{"command":"echo ran >>ran; cat /dev/zero | head -c 30000 | tr \"\\\\0\" y"}'
	ended
	status_is 74 'a disk that fills up with a result: status 74'
	ok 'the log is intact' jq -e . "$s"
	quiet 'a full disk, tool: nothing runs on'
	rm disk/fill
	: >log
	run claws -r full -p 'say:on we go'
	is "$status $(cat out)" '0 on we go' 'with room again it goes on'
	ok 'the log is sound' sound "$s"
	ok 'the request is legal' legal
	is "$(wc -l <ran)" 1 'what ran did not run again'
	dd if=/dev/zero of=disk/fill bs=1k count=10000 2>/dev/null
	run claws --json -r full -p hello </dev/null
	like "$status" '^7[45]$' 'a disk that is full from the start'
	is "$(jq -c 'select(.type == "run_done") | .exit' out)" "$status" 'is told as JSON where JSON is read'
	rm disk/fill
	ok 'and the log is intact' sound "$s"
	umount disk
	unset CLAWS_HOME
else
	skip 16 'mounting a small file system takes root'
fi

# ---- two at once
twice_at_once() { # NAME
	: >log
	rm -f go ran
	start claws --json --session-id one --permission-mode accept-all -p "call:Bash:{\"command\":\"echo ran >>ran; $(hold true)\"}"
	first=$ring
	wait_for test -s ran
	stage append
	holder=$pid
	cp out out1
	run claws --json --session-id one -p 'second' </dev/null
	status_is 75 "$1: the second run on a session gets 75"
	like "$(cat err)" "process $holder" "$1: and who holds it"
	is "$(jq -c 'select(.type == "run_done") | .exit' out)" 75 "$1: as JSON too"
	run sh -c 'echo "{\"role\":\"user\",\"content\":\"second\"}" >prompt; CLAWS_PROMPT=$PWD/prompt CLAWS_RING=1 claws-session append "$(find "$HOME" -name one.ndjson)" </dev/null 3>/dev/null'
	status_is 75 "$1: append itself refuses"
	ok "$1: the prompt is untouched" grep -q second prompt
	touch go
	ring=$first
	ended
	rm -f go
	[ "$status" -eq 0 ] || _diag "$(cat err)"
	status_is 0 "$1: the first run ends well"
}
twice_at_once flock
s=$(find "$HOME" -name one.ndjson)
ok 'its log is sound' sound "$s"

# ---- the inbox
: >log
rm -f ran go
start claws --json --session-id one --permission-mode accept-all -p "call:Bash:{\"command\":\"echo ran >>ran; $(hold true)\"}"
wait_for test -s ran
is "$(claws-session inbox "$s" 'say:joined it')" joined 'a message to a run that goes on has joined it'
touch go
ended
is "$(jq -r 'select(.role == "user") | .content' out | tail -n 1)" 'say:joined it' 'and is part of that run'
is "$(jq -r 'select(.role == "assistant") | .content' out | tail -n 1)" 'joined it' 'which answers it'
is "$(jq -c 'select(.type == "run_done") | .exit' out)" 0 'once'
is "$(claws-session inbox "$s" 'say:queued it')" queued 'a message when no run is on is queued'
run claws --json --session-id one -p 'say:prompt'
is "$(jq -r 'select(.role == "user") | .content' out | tr '\n' ,)" 'say:queued it,say:prompt,' 'and comes before the next prompt'
ok 'the request is legal' legal

# What is said to have joined is answered in that run, also in its last moments.
lost=0 joined=0 k=0
while [ $k -lt 12 ]; do
	k=$((k + 1))
	start claws --json --session-id race -p 'say:short' # ends within some 30 ms
	r=$HOME/.local/state/claws/sessions/race.ndjson
	sleep "0.0$((k % 6 + 1))"
	answer=$(claws-session inbox "$r" "say:late $k")
	ended
	case $answer in
	joined) joined=$((joined + 1)); grep -q "late $k" out || lost=$((lost + 1)) ;;
	# queued: for the next run that opens the inbox, which may be this one where it has only begun
	queued) ;;
	esac
done
claws --json --session-id race -p 'say:end' >/dev/null
is "$lost" 0 "what has joined ($joined of 12) is answered in that run"
is "$(jq -r 'select(.role == "user") | .content' "$r" | grep -c '^say:late')" 12 'and what was queued is not lost, nor taken twice'
is "$(jq -r 'select(.role == "user") | .content | select(startswith("say:late"))' "$r" | sort -u | wc -l)" 12 'no message is lost'
is "$(jq -r 'select(.role == "user") | .content | select(startswith("say:late"))' "$r" | sort | uniq -d)" '' 'or there twice'

# ---- without flock
cat >noflock.c <<'C'
#include <errno.h>
int flock(int fd, int how) { (void)fd; (void)how; errno = ENOLCK; return -1; }
C
if ${CC:-cc} -shared -fPIC -o noflock.so noflock.c 2>/dev/null && ! ldd "$BUILD/bin/claws-session" | grep -q asan; then
	rm -rf .local
	export LD_PRELOAD="$T/noflock.so"
	twice_at_once 'without flock'
	s=$(find "$HOME" -name one.ndjson)
	for who in a b; do
		claws --json --session-id "at-once-$who" -p tools:5 >"out.$who" 2>&1 &
		eval "pid_$who=\$!"
	done
	wait "$pid_a"; a=$?
	wait "$pid_b"; b=$?
	unset LD_PRELOAD
	is "$a $b" '0 0' 'without flock: two runs in one directory at once'
	for who in a b; do ok "without flock: the log of $who is sound" sound "$HOME/.local/state/claws/sessions/at-once-$who.ndjson"; done
	ok 'without flock: so is the first one' sound "$s"
	is "$(find "$HOME/.local" -name '*.held')" '' 'without flock: no lock is left behind'
else
	skip 11 'needs a compiler (and no ASan)'
fi
done_testing
