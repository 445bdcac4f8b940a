#!/bin/sh
# claws-keeper: connections of one run for the next; and that nobody notices when it fails.
# shellcheck disable=SC2317
. "${0%/*}/lib.sh"
export XDG_RUNTIME_DIR="$T"
cleanup() { claws-keeper --stop >/dev/null 2>&1; }
ask() { # PROMPT OPTION...
	_prompt=$1; shift
	printf '{"role":"user","content":"%s"}\n' "$_prompt" | claws-stream --no-time --retries 0 "$@" >out 2>err
	status=$?
	answer=$(jq -r 'select(.role) | .content' out)
}
keeper() { claws-keeper --status 2>/dev/null | sed -n 's/^process \([0-9]*\):.*/\1/p'; }
served() { claws-keeper --status | sed 's/.*: \([0-9]* requests.*under way\).*/\1/'; }
ended() { case $(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null) in ''|Z) ;; *) false ;; esac; }
conns() { jq -r 'select(.conn) | .conn' log | sort -u | tr '\n' ' '; }
hello='Hello! How can I help you today?'
fake_llm --log log

run claws-keeper --status
is "$status $(cat err)" "1 claws-keeper: none is running" "--status: none"
run claws-keeper --stop
is "$status" 1 "--stop: none"
ask hello
is "$status $answer $(keeper)" "0 $hello " "without CLAWS_CONTROL_PERSIST there is none"
CLAWS_CONTROL_PERSIST=soon ask hello
is "$status" 78 "a time that is none"
like "$(cat err)" CLAWS_CONTROL_PERSIST "is named"
CLAWS_CONTROL_PERSIST=no ask hello
is "$status $(keeper)" "0 " "no: none"

# Started on demand, shared.
export CLAWS_CONTROL_PERSIST=30
: >log
ask hello
is "$status $answer" "0 $hello" "a run starts it"
pid=$(keeper)
ask hello
ask hello
is "$status $answer $(keeper)" "0 $hello $pid" "others use it"
is "$(conns | wc -w)" 1 "over one connection"
is "$(served)" "3 requests served, 0 under way" "--status counts them"
run claws-keeper
is "$status $(keeper)" "0 $pid" "by hand there is no second one"
is "$(stat -c %a "$T/claws" "$T"/claws/keeper-* | tr '\n' ' ')" "700 600 600 " "modes"
unlike "$(tr '\0' ' ' <"/proc/$pid/cmdline"; tr '\0' ' ' <"/proc/$pid/environ" 2>/dev/null)" 'test-key|CLAWS_MODEL' "no key in its arguments or environment"
is "$(readlink /proc/"$pid"/cwd /proc/"$pid"/fd/0 /proc/"$pid"/fd/1 /proc/"$pid"/fd/2 | tr '\n' ' ')" "/ /dev/null /dev/null /dev/null " \
	"nothing of its starter's directory and descriptors"
is "$(awk '{ print ($6 == $1) }' "/proc/$pid/stat") $(awk '/Max core/ { print $5 }' "/proc/$pid/limits")" "1 0" "a session of its own, no core file"
[ "$(id -u)" = 0 ] || nok "nobody of the same user reads its environment" cat "/proc/$pid/environ"

# Another environment of proxies, another keeper.
http_proxy=http://127.0.0.1:1 ask hello
is "$status $(keeper | wc -l)" "0 2" "another proxy, another keeper"
run claws-keeper --stop
is "$status" 0 "--stop"
ok "ends them" wait_for ended "$pid"

# By hand, with a key in the environment, and a pipe that must not be kept open.
keep=$(ANTHROPIC_API_KEY=test-key claws-keeper --persist 20 3>&1 && echo started)
is "$keep" started "its output is closed: who waits for it goes on"
pid=$(keeper)
unlike "$(tr '\0' ' ' <"/proc/$pid/environ" 2>/dev/null)" test-key "no key by hand either"

# Two at once, and one that goes away.
: >log
printf '{"role":"user","content":"slow:20:40"}\n' | claws-stream --no-time >slow.1 & a=$!
printf '{"role":"user","content":"slow:20:40"}\n' | claws-stream --no-time >slow.2 & b=$!
wait_for sh -c 'claws-keeper --status | grep -q "2 under way"'
like "$(served)" ' 2 under way' "two at once"
wait $a; wait $b
is "$(jq -r 'select(.role) | .content | length' slow.1) $(grep -c turn_done slow.2)" "$(jq -r 'select(.role) | .content | length' slow.2) 1" "both whole"
printf '{"role":"user","content":"slow:50:500"}\n' | claws-stream --no-time >gone & a=$!
ok "an answer begins" wait_for grep -q text_chunk gone
kill $a
ok "the client goes: the server sees it" wait_for grep -q closed log
like "$(served)" ' 0 under way' "and nothing is under way"
wait $a

# Many, before the server has said how it speaks: none waits for another's answer.
claws-keeper --stop; wait_for ended "$pid"
: >log
for i in 1 2 3 4 5 6 7 8; do printf '{"role":"user","content":"slow:100:30"}\n' | claws-stream --no-time >many.$i & done
ok "eight first requests at once" wait_for sh -c '[ "$(grep -c \"n\": log)" -eq 8 ]'
is "$(cat many.* | grep -c turn_done)" 0 "none waits for another's end"
wait_for sh -c '[ "$(cat many.* | grep -c turn_done)" -eq 8 ]'
pid=$(keeper)

# A reader that is slow: the whole answer comes, and the keeper holds little of it.
printf '{"role":"user","content":"long:40000:500"}\n' | claws-stream --no-time --no-stream | { sleep 1; wc -c; } >size
ok "a long answer to a slow reader is whole" test "$(cat size)" -gt 20000000
is "$(awk '/VmHWM/ { print ($2 < 100000) }' "/proc/$pid/status")" 1 "the keeper did not hold all of it"

# Its death.
printf '{"role":"user","content":"slow:40:300"}\n' | claws-stream --no-time --retries 0 >dead 2>err & a=$!
ok "an answer begins" wait_for grep -q text_chunk dead
kill -9 "$pid"
wait $a
is "$? $(jq -r 'select(.type == "error") | .class' dead)" "76 truncated" "killed in mid-answer: the part is kept, the loss is told"
ask hello
is "$status $answer $(cat err)" "0 $hello " "the next run starts another one"
pid=$(keeper)
claws-keeper --stop; wait_for ended "$pid"
printf '{"text":"late","delay_ms":700,"keep":true,"match":"hello"}\n' >script
fake_llm --log log3 --script script
claws-keeper; pid=$(keeper)
printf '{"role":"user","content":"hello"}\n' | claws-stream --no-time --retries 0 >late 2>late.err & a=$!
ok "again" wait_for grep -q '"n":1' log3
kill -9 "$pid"
wait $a
is "$? $(jq -r 'select(.role) | .content' late) $(cat late.err)" "0 late " "killed before a byte had come: asked for directly, without a word"

# A keeper that hangs does not hold anybody.
fake_llm --log log4
claws-keeper; pid=$(keeper)
kill -STOP "$pid"
ask hello
is "$status $answer" "0 $hello" "a keeper that is stopped: directly"
kill -CONT "$pid"

# It ends: after a while, and with its socket.
claws-keeper --stop; wait_for ended "$pid"
CLAWS_CONTROL_PERSIST=200ms ask hello
ok "it ends when it is idle" wait_for sh -c '! claws-keeper --status'
is "$(find "$T/claws" -type s | wc -l)" 0 "and takes its socket away"
ask hello
pid=$(keeper)
rm -f "$T"/claws/keeper-*
ok "it ends when its socket is removed" wait_for ended "$pid"
ask hello
pid=$(keeper)
rm -rf "$T/claws"
ok "and when the directory is" wait_for ended "$pid"

# The first ones of several that start at once agree on one.
for i in 1 2 3 4 5 6 7 8; do printf '{"role":"user","content":"hello"}\n' | claws-stream --no-time >at.$i 2>&1 & done
while [ "$(grep -l turn_done at.? | wc -l)" -lt 8 ]; do sleep 0.02; done
is "$(grep -l "$hello" at.? | wc -l) $(keeper | wc -l)" "8 1" "eight first runs, one keeper"
claws-keeper --stop

# A directory that is not ours; none; a socket that is no keeper's; no program.
mkdir real && ln -s "$T/real" "$T/link" && mkdir "$T/bad" && ln -s "$T/real" "$T/bad/claws"
XDG_RUNTIME_DIR=$T/bad ask hello
is "$status $answer $(ls -A real)" "0 $hello " "a directory that is a symlink: directly, and nothing goes there"
XDG_RUNTIME_DIR=$T/bad run claws-keeper
is "$status" 78 "by hand it is an error"
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$T/foreign/claws" && chown 12345 "$T/foreign/claws"
	XDG_RUNTIME_DIR=$T/foreign ask hello
	is "$status $answer $(ls -A foreign/claws)" "0 $hello " "another user's directory: directly, and nothing goes there"
	XDG_RUNTIME_DIR=$T/foreign run claws-keeper
	like "$status $(cat err)" '78 .*belongs to user 12345' "by hand it is an error"
else
	skip 2 "only root can give directories away"
fi
XDG_RUNTIME_DIR=/nonexistent/x ask hello
is "$status $answer" "0 $hello" "no runtime directory: directly"
long=$T/$(printf '%0100d' 0)
mkdir "$long"
XDG_RUNTIME_DIR=$long ask hello
is "$status $answer" "0 $hello" "a path too long for a socket: directly"

# In a ring: it ends although the keeper lives on.
rm -rf "$T/claws"
claws -p hello >ring.out 2>ring.err
is "$? $(cat ring.out)" "0 $hello" "a ring ends by itself"
like "$(claws-keeper --status)" 'process' "and the keeper lives on"
done_testing
