#!/bin/sh
. "${0%/*}/lib.sh"
# The ring itself, with stages of sh: pipes, statuses, signals, deaths, secrets.

run claws-ring cat '|' sh -c 'echo hi >&3; read -r l; echo "got $l"' '|' cat
is "$(cat out)" 'got hi' 'what the stage before the last feeds comes to the first and round'
status_is 0 'and its status is the result'

run claws-ring cat '|' sh -c 'exit 7' '|' cat
status_is 7 'the status of the stage before the last'

run claws-ring echo one ';' echo two ';' cat '|' sh -c 'exec 3>&-; cat' '|' cat
is "$(cat out)" 'one
two' "commands of one stage joined by ';' run one after the other"
status_is 0 'and end well'

run claws-ring sh -c 'cat; echo x' ';' cat '|' sh -c 'echo fed >&3; exec 3>&-; cat' '|' cat
is "$(cat out)" 'x
fed' 'only the last of them reads the pipe'

run claws-ring echo a ';' sh -c 'exit 78' ';' cat '|' sh -c 'cat >/dev/null; exit 1' '|' cat
status_is 78 'a first command that fails decides a status that says no more than failed'
like "$(cat err)" "'sh' failed with status 78" 'and is named'

run claws-ring cat '|' /nonexistent/prog '|' sh -c 'cat; exit 1' '|' cat
status_is 127 'a stage that cannot be run'
like "$(cat err)" "cannot run '/nonexistent/prog'" 'is named'

run claws-ring
status_is 2 'no commands: usage'
run claws-ring cat
status_is 2 'one stage is no ring'
run claws-ring cat '|' '|' cat
status_is 2 'an empty command'

# Secrets.
X_API_KEY=s3cret; export X_API_KEY
run claws-ring --secret '*_API_KEY' sh -c 'echo first $X_API_KEY; cat' '|' \
	sh -c 'sh -c "cat; echo other \$X_API_KEY"' other other '|' \
	sh -c 'exec 3>&-; cat; echo tool $X_API_KEY' '|' sh -c 'cat; echo last $X_API_KEY'
is "$(sed 's/ *$//' out)" 'first
other
tool
last' 'no stage of another name gets a secret'
cat >claws-stream <<'X'
#!/bin/sh
cat; echo stream $X_API_KEY
X
chmod +x claws-stream
run claws-ring --secret '*_API_KEY' cat '|' ./claws-stream '|' sh -c 'exec 3>&-; cat' '|' cat
is "$(cat out)" 'stream s3cret' 'the stage claws-stream does'
run claws-ring --secret '*_API_KEY' --secret-stage 2 cat '|' sh -c 'cat; echo two $X_API_KEY' '|' \
	sh -c 'exec 3>&-; cat; echo three $X_API_KEY' '|' cat
is "$(sed 's/ *$//' out)" 'two s3cret
three' 'or the stage that is named by its number'
run claws-ring --secret-stage 9 cat '|' cat
status_is 2 'a stage that is not there'
unset X_API_KEY

# Every stage knows that it is in a ring, none of them sees stray descriptors.
run claws-ring sh -c 'echo ${CLAWS_RING:+ring}; cat' '|' sh -c 'exec 3>&-; cat' '|' cat
is "$(cat out)" ring 'CLAWS_RING is set'
run claws-ring sh -c 'ls /proc/self/fd | wc -l; cat' '|' sh -c 'exec 3>&-; cat' '|' cat
is "$(cat out)" "$(sh -c 'ls /proc/self/fd | wc -l')" 'no descriptor of the ring leaks into a stage'

# Signals: a feeder that records what it is told. Stages ignore the terminal's signals.
cat >feeder.py <<'X'
import signal, os, sys, time
names = {signal.SIGUSR1: "int", signal.SIGUSR2: "time", signal.SIGTERM: "term", signal.SIGHUP: "hup", signal.SIGPIPE: "pipe"}
os.write(1, b"ready\n")
info = signal.sigwaitinfo(names)
open("told", "a").write(names[info.si_signo] + "\n")
sys.exit(9)
X
for s in INT:int TERM:term HUP:hup; do
	rm -f told
	env --default-signal=INT,HUP,TERM claws-ring cat '|' /usr/bin/python3 feeder.py '|' cat >out 2>err &
	pid=$!
	wait_for grep -q ready out
	kill "-${s%:*}" "$pid"
	wait "$pid"; status=$?
	is "$(cat told)" "${s#*:}" "SIG${s%:*} is told to the feeder as ${s#*:}"
	status_is 9 'whose status stays the result'
done
rm -f told
run claws-ring --max-time 100ms cat '|' /usr/bin/python3 feeder.py '|' cat
is "$(cat told)" time '--max-time is told to the feeder'
rm -f told
claws-ring cat '|' /usr/bin/python3 feeder.py '|' cat 2>err | head -n 1 >out
wait_for test -s told
is "$(cat told)" pipe 'when nobody reads any more the feeder is told so, before anything is written'
is "$(cat err)" '' 'without a word'

# A second signal within two seconds ends everything.
cat >deaf.sh <<'X'
echo ready
sleep 100 &
wait
X
env --default-signal=INT,HUP,TERM claws-ring cat '|' sh deaf.sh '|' cat >out 2>err &
pid=$!
wait_for grep -q ready out
kill -INT "$pid"; sleep 0.5; kill -INT "$pid" # not so soon that it counts as an echo of the first
t0=$(date +%s)
wait "$pid"; status=$?
[ $(($(date +%s) - t0)) -lt 3 ]
is $? 0 'a second signal ends a ring that does not answer'
like "$status" '^1(37|43)$' 'with the status of the signal that ended the feeder'

# Deaths: the first stage that fails is named, the others end.
cat >mid.sh <<'X'
kill -9 $$
X
run claws-ring cat '|' sh mid.sh '|' sh -c 'cat; exit 1' '|' cat
status_is 137 'a killed stage'
like "$(cat err)" "stage 'sh' failed: signal 9" 'is named'
t0=$(date +%s)
run claws-ring sleep 50 '|' sh mid.sh '|' sh -c 'cat; exit 1' '|' cat
[ $(($(date +%s) - t0)) -lt 5 ]
is $? 0 'what still runs two seconds after a death is ended'

# The ring killed: its feeder hears SIGTERM.
rm -f told
claws-ring cat '|' /usr/bin/python3 feeder.py '|' cat >out 2>err &
pid=$!
wait_for grep -q ready out
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait_for test -s told
is "$(cat told)" term 'a killed claws-ring takes its feeder down in order'

# The last stage may show what is left after the run for as long as somebody reads.
run claws-ring cat '|' sh -c 'echo answer; exit 0' '|' sh -c 'sleep 2.5; cat'
is "$(cat out)" answer 'a slow last stage is waited for'
done_testing
