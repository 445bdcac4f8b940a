#!/bin/sh
# claws-agent run: an agent as a process of its own: answer, status, record, signals, no terminal, depth.
. "${0%/*}/lib.sh"
AGENTS=$T/.local/state/claws/agents
fake_llm --log "$T/reqs"
record() { jq -r "[.state,.exit]|@csv" "$AGENTS/$1.json"; }

run claws agent run --name first 'say:an answer'
is "$status/$(cat out)/$(cat err)" "0/an answer/" "the answer"
is "$(record first)" '"done",0' "its record"
is "$(jq -r '.id,.session' "$AGENTS/first.json" | tr '\n' ' ')" "first first " "with its session"
is "$(stat -c %a "$AGENTS" "$AGENTS/first.json" | tr '\n' ' ')" "700 600 " "private"
is "$(claws session list --all --json | jq -r .starter)" "agent:first" "the session says who began it"
run claws agent run --name first 'say:more'
is "$(tail -n 1 reqs | jq '.body.messages|length')" 3 "the same name: its conversation goes on"
run claws agent run hello
is "$(find "$AGENTS" -name 'agent-*.json' | wc -l | tr -d ' ')" 1 "a name is made up"
run claws agent run - <<'X'
say:piped
X
is "$(cat out)" piped "the prompt - is standard input"
run sh -c 'echo data | claws agent run --json hello'
is "$(jq -r 'select(.role=="user")|.content' out)" hello "otherwise that is not read"
run claws agent run --max-turns 1 tools:3:x
is "$status/$(jq -r .exit "$AGENTS"/*.json | grep -c '^4$')" "4/1" "--max-turns, and the status is recorded"
mkdir d && echo inside >d/file
run claws agent run -C d --json 'call:Read:{"file_path":"file"}'
like "$(cat out)" inside "-C"
run claws agent run -o answer -q --tools none -s 'You are a stone.' 'say:to a file'
is "$(cat answer)/$(tail -n 1 reqs | jq -c '[(.body.tools|length),(.body.system|tostring|test("You are a stone"))]')" "to a file/[0,true]" "-o, --tools, -s"

# --- nobody to ask
run timeout 20 claws agent run 'call:Bash:{"command":"touch x"}'
is "$status/$(test -e x; echo $?)" "3/1" "what would be asked is denied, and nothing hangs"
run claws agent run --allowed-tools 'Bash(touch x)' 'call:Bash:{"command":"touch x"}'
is "$status/$(ls x)" "0/x" "--allowed-tools"
run claws agent run --permission-mode accept-all --disallowed-tools Bash 'call:Bash:{"command":"touch y"}'
is "$status/$(test -e y; echo $?)" "3/1" "--disallowed-tools"

# --- processes
env --default-signal=INT claws agent run --name slow 'slow:60:100' >out 2>err </dev/null &
pid=$!
wait_for test -e "$T/.local/state/claws/sessions/slow.ndjson.d/inbox.open"
child=$(jq .pid "$AGENTS/slow.json")
is "$(record slow)" '"running",' "while it runs the record says so"
is "$(ps -o pgid=,sid=,tty= -p "$child" | tr -s ' ' | sed 's/^ //')" "$child $child ?" "a group and a session of its own, no terminal"
kill -INT $pid
wait $pid
is "$?/$(record slow)" '130/"failed",130' "SIGINT is passed on: 130, and recorded"
claws agent run --name term 'slow:60:100' >out 2>err </dev/null &
pid=$!
wait_for test -e "$T/.local/state/claws/sessions/term.ndjson.d/inbox.open"
kill -TERM $pid
wait $pid
is $? 143 "SIGTERM: 143"
claws agent run --name dead 'slow:60:100' >out 2>err </dev/null &
pid=$!
wait_for test -e "$T/.local/state/claws/sessions/dead.ndjson.d/inbox.open"
kill -9 "$(jq .pid "$AGENTS/dead.json")"
wait $pid
is "$?/$(record dead)" '137/"failed",137' "a child that is killed: 137"
claws agent run --name orphan 'slow:60:100' >out 2>err </dev/null &
pid=$!
wait_for test -e "$T/.local/state/claws/sessions/orphan.ndjson.d/inbox.open"
child=$(jq .pid "$AGENTS/orphan.json")
kill -9 $pid
wait $pid 2>/dev/null
gone() { ! kill -0 "$child" 2>/dev/null; }
ok "claws-agent itself is killed: the agent ends" wait_for gone

# --- depth, and wrong use
run env CLAWS_AGENT_DEPTH=2 claws agent run hello
status_is 0 "two agents around it"
before=$(wc -l <reqs)
run env CLAWS_AGENT_DEPTH=3 claws agent run hello
is "$status/$(wc -l <reqs)" "4/$before" "three: 4, nothing is asked"
like "$(cat err)" '3 deep' "and why"
for a in '' run 'run --name ../x hello' 'run --permission-mode none hello' 'run --max-turns 0 hello' 'walk hello'; do
	# shellcheck disable=SC2086
	run claws agent $a
	is "$status/$(wc -l <err | tr -d ' ')" "2/2" "wrong usage: '$a'"
done
run env -u HOME claws agent run hello
status_is 78 "no place for the record: 78"
done_testing
