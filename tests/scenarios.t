#!/bin/sh
# What a user of pipelines, make, cron and scripts relies on, end to end. The slow and the silent neighbours of standard
# input are in claws.t.
. "${0%/*}/lib.sh"
mkdir w && cd w || exit 1
fake_llm --log "$T/reqs"
body() { tail -n 1 "$T/reqs" | jq -c .body; }
gone() { ! kill -0 "$1" 2>/dev/null; }
none_of() { ! pgrep -f "$1"; }   # no process has these words
quiet_ok() { # NAME: the last run ended well and without a word
	is "$status/$(cat out)/$(cat err)" "0/Hello! How can I help you today?/" "$1"
}

# --- 1: nobody at the other end
run claws -p hello </dev/null
quiet_ok '</dev/null'
run claws -p hello <&-
quiet_ok '<&-'
run setsid -w claws -p hello </dev/null
quiet_ok 'without a terminal'
run env -i HOME="$HOME" PATH="$BUILD/bin:/usr/bin:/bin" CLAWS_MODEL="$CLAWS_MODEL" ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL="$ANTHROPIC_BASE_URL" \
	/bin/sh -c 'claws -p hello' </dev/null
quiet_ok "cron's environment"
mkfifo silent
exec 7<>silent
run claws -n -p hello <silent 7<&-
quiet_ok 'an open, silent pipe, and -n'
exec 7<&-
run claws -p hello </dev/null 3</dev/null 4</dev/null 9>/dev/null
quiet_ok 'inherited descriptors'

# --- 2: a slow producer. That the warning at three seconds changes nothing is in claws.t
(echo 'cc -c a.c'; sleep 1; echo 'a.c:1: error: first'; sleep 1; echo 'a.c:9: error: last') | claws -p 'explain the first error' >out 2>err
is "$?/$(body | grep -o 'cc -c a.c.*error: first.*error: last' | wc -l | tr -d ' ')" "0/1" 'make | claws: all of the output reaches the model'

# --- 3: claws --json | head -1
marker=claws-test-$$
(claws --json -p --permission-mode accept-all "call:Bash:{\"command\":\"sh -c 'sleep 97' $marker\"}" </dev/null 2>err; echo $? >st) | {
	head -n 1 >first
	date +%s%N >closed
}
wait_for test -s st
ms=$((($(date +%s%N) - $(cat closed)) / 1000000))
is "$(jq -r .type first)/$(cat err)" "run_start/" '| head -1: the first line, no message'
# A tool gets a second, and what does not answer two more: bounded, whatever else runs here.
if [ "$ms" -lt 2000 ]; then pass "gone soon"; else fail 'gone soon' "$ms ms"; fi
ok 'no child of the tool stays' wait_for none_of "$marker"

# --- 4: the policy denies what was needed
run claws --json -p --disallowed-tools 'Bash(make install)' --permission-mode accept-all 'call:Bash:{"command":"make install"}' </dev/null
status_is 3 'denied: 3'
is "$(jq -c 'select(.type=="run_done")|[.exit,.denied[].name,.denied[].rule]' out)" '[3,"Bash","Bash(make install)"]' 'run_done names tool and rule'
like "$(cat err; cat out)" 'Bash\(make install\)' 'so is a person told'
run claws -p --disallowed-tools 'Bash(make install)' --permission-mode accept-all 'call:Bash:{"command":"make install"}' </dev/null
like "$(cat err)" 'denied.*Bash.*Bash\(make install\)' 'on standard error'

# --- 6: JSON whatever happens
one_object() { # NAME STATUS
	is "$(jq -s length out 2>/dev/null)/$(jq -r .type out 2>/dev/null)/$(jq -r .exit out 2>/dev/null)/$status" "1/result/$2/$2" "json: $1: one object, exit $2"
}
j() { run claws --output-format json "$@" </dev/null; }
j -p hello; one_object 'an answer' 0
j -p; one_object 'no prompt' 66
j -r nothing -p hello; one_object 'an unknown session' 66
j --max-turns 1 -p tools:3:x; one_object 'a limit' 4
j -p 'call:Bash:{"command":"touch x"}'; one_object 'denied' 3
run env -u CLAWS_BASE_URL claws --output-format json -m nonsense/model -p hello </dev/null; one_object 'an unknown model' "$status"
nok 'and that is no success' test "$status" -eq 0
j --permission-mode read-only --allowed-tools '((' -p hello; one_object 'a wrong rule' "$status"
nok 'nor is that' test "$status" -eq 0
# A stage that dies without a word: append ends the run as failed, claws-ring knows the stage's own status.
for stage in 'exit 9;' 'no-such-program' 'kill -9 $$;'; do
	CLAWS_STAGE_STREAM=$stage j -p hello
	is "$(jq -s length out)/$(jq -c '[.is_error,.exit]' out)" '1/[true,1]' "json: a stage that is '$stage': one object"
	nok 'and no success' test "$status" -eq 0
done
ANTHROPIC_BASE_URL=http://127.0.0.1:1 j -p hello; one_object 'connection refused' "$status"
good=$ANTHROPIC_BASE_URL
keep_server=$port
fake_llm --fault status:401; j -p hello; one_object '401' 77
fake_llm --fault status:403; j -p hello; one_object '403' 77
fake_llm --fault cut:200@9; j -p hello; one_object 'a cut answer' "$status"
nok 'which is no success' test "$status" -eq 0
export ANTHROPIC_BASE_URL="$good" CLAWS_BASE_URL="$good" port="$keep_server"
env --default-signal=INT claws --output-format json -p slow:50:100 </dev/null >out 2>err &
pid=$!
wait_for sh -c "find $T/.local/state/claws -name inbox.open | grep ."
sleep 0.2
kill -INT $pid
wait $pid
status=$?
one_object 'an interrupt' 130

# --- 7: no escapes
run env NO_COLOR=1 claws -p 'tools:3:reqs' </dev/null
is "$(grep -c "$(printf '\033')" out)/$(grep -c "$(printf '\033')" err)" 0/0 'NO_COLOR: no escape sequence'
printf 'red \033[31m text \007\n' >colours
run claws -p 'call:Read:{"file_path":"colours"}' </dev/null
is "$(grep -c "$(printf '\033')" out)/$(grep -c "$(printf '\033')" err)" 0/0 'nor out of a tool'

# --- 9: the pipeline by hand gives the same messages as claws
cp "$top/README.md" README.md
turns() { # by hand, as long as the last message asks for tools
	while
		{ claws-context; claws-tool --list; claws-session cat "$S"; } | claws-compact | claws-stream | claws-tool |
			claws-session append "$S" >lines 2>err
		[ "$(jq -r 'select(.type=="turn_done")|.stop_reason' lines | tail -n 1)" = tool_use ]
	do :; done
}
transcript() { claws-session cat "$1" | claws-msg norm; }
for prompt in hello 'tools:3:README.md' 'think:because' 'call:Read:{"file_path":"nothing"}' 'call:NoTool:{"a":1}' 'call:Bash:{"command":"touch no"}'; do
	S=$(claws-session open)
	claws-msg prompt --session "$S" -n -- "$prompt" | claws-session append "$S" >/dev/null
	turns
	transcript "$S" >by-hand
	claws -p --session-id ring -- "$prompt" </dev/null >out 2>err
	transcript ring >by-ring
	if cmp -s by-hand by-ring; then pass "by hand as in the ring: $prompt"; else fail "by hand as in the ring: $prompt" "$(diff by-hand by-ring | cut -c1-300)"; fi
	rm -rf "$T/.local/state/claws/sessions/ring.ndjson"*
done
ok 'and there was something to compare' test "$(wc -l <by-ring)" -ge 4

# --- 10: kill -9 in the middle of a tool call, then -c
setsid claws -p --permission-mode accept-all 'call:Bash:{"command":"echo began >>began; sleep 60; echo ended >>began"}' </dev/null >/dev/null 2>&1 &
pid=$!
wait_for test -s began
kill -9 "-$pid"
wait $pid 2>/dev/null
run claws -c -p 'say:going on' </dev/null
is "$status/$(cat out)" "0/going on" 'after kill -9: claws -c goes on'
S=$(claws-session open --last)
claws-session cat "$S" >log
ok 'the transcript is valid' claws-msg check log
is "$(jq -r .role log | tr '\n' ' ')" "user assistant tool user assistant " 'no message is lost'
is "$(jq -c 'select(.role=="tool")|.is_error' log)" true 'the call is closed as failed'
like "$(jq -r 'select(.role=="tool")|.content' log)" 'interrupted.*may have run' 'and said to have run, perhaps'
is "$(wc -l <began | tr -d ' ')" 1 'it did not run again'
is "$(body | jq '[.messages[].content|arrays|.[]|select(.type=="tool_use" or .type=="tool_result")|.type]|join(" ")')" '"tool_use tool_result"' 'the request is legal'

# --- 16: commands
mkdir bin
printf '#!/bin/sh\necho "foo $*"\n' >bin/claws-foo
printf '#!/bin/sh\necho "man $*"\n' >bin/man
chmod +x bin/*
is "$(PATH=$PATH:$PWD/bin claws foo 'a b' -h)" 'foo a b -h' 'claws foo runs claws-foo'
for path in bin . '' ; do
	run env PATH="$PATH:$path" claws foo
	status_is 2 "not from PATH entry '$path'"
done
is "$(PATH=$PWD/bin:$PATH claws help foo)" 'man claws-foo' 'claws help foo opens claws-foo(1)'
run env PATH="$PATH:$PWD/bin" claws fo
is "$status/$(cat out)/$(wc -l <err | tr -d ' ')" 2//2 'claws fo: 2, two lines'
like "$(cat err)" 'claws foo' 'with a hint'
for page in claws claws-session claws-agent; do ok "$page(1) is there" test -f "$top/man/$page.1"; done

# --- recipes of claws(7)
git init -q . && echo 'int main(void){}' >a.c && cp a.c b.c && git add a.c
is "$(git diff --cached | claws -pq 'write a commit message for this diff')" 'This is the fake model speaking.' 'a commit message'
# shellcheck disable=SC2011,SC2012 # as in the page
ls ./*.c | xargs -P2 -I{} claws -pqn --no-session -f {} -o {}.md 'review this' >/dev/null
is "$(cat a.c.md b.c.md)" "This is the fake model speaking.
This is the fake model speaking." 'a review of each file'
printf '#!/bin/sh\necho '\''{"role":"assistant","content":"No.","stop_reason":"end_turn"}'\''\n' >no.sh
chmod +x no.sh
is "$(CLAWS_STAGE_STREAM='claws-each-turn ./no.sh' claws -pq hello </dev/null)" No. 'a stage of your own'
CLAWS_STAGE_COMPACT='tee seen.ndjson | claws-compact' claws -pq hello >/dev/null </dev/null
like "$(cat seen.ndjson)" '"content":"hello"' 'what the model is told'
echo '{"role":"user","content":"hello"}' >conversation
claws-stream --record calls <conversation >one
run env ANTHROPIC_BASE_URL=http://127.0.0.1:1 claws-stream --replay calls <conversation
is "$status/$(jq -c 'select(.role)|.content' out)" "0/$(jq -c 'select(.role)|.content' one)" 'a recorded call without network'
done_testing
