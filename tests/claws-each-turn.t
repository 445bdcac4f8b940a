#!/bin/sh
# claws-each-turn: programs that know only end of file in the place of a stage.
. "${0%/*}/lib.sh"
export CLAWS_NO_TIME=1

# A ring by hand: `ask` writes to the stage, `until_seen` waits for what it says.
open_ring() { # ARG...
	rm -f in; mkfifo in
	CLAWS_RING=1 claws-each-turn "$@" <in >out 2>err &
	pid=$!
	exec 4>in
}
ask() { printf '%s\n' "$@" >&4; }
until_seen() { wait_for sh -c '[ "$(grep -c -e "$1" out)" -ge "$2" ]' sh "$1" "${2-1}" || echo "never saw $1: $(cat out err)" >&2; }
close_ring() { exec 4>&-; wait "$pid"; status=$?; }

cat >count.sh <<'EOT'
#!/bin/sh
[ -z "${CLAWS_RING+x}" ] || echo '{"type":"notice","text":"CLAWS_RING is set"}'
n=$(tee given | grep -c '"role":"user"')
printf '{"type":"text_chunk","text":"n=%s"}\n{"role":"assistant","content":"n=%s"}\n' "$n" "$n"
EOT
chmod +x count.sh

# --- the place of claws-stream
open_ring ./count.sh
ask '{"type":"ring","run":"r","size":0}' '{"role":"system","content":"S"}' '{"type":"tools","tools":[]}' '{"role":"user","content":"1"}' '{"type":"turn","turn":1}'
until_seen '"turn_done"'
cp out first
ask '{"role":"assistant","content":"n=1","id":"a1"}' '{"role":"user","content":"2"}' '{ "type":"x-foreign" }' '{"type":"turn","turn":2}'
until_seen '"turn_done"' 2
cp given second
ask '{"type":"reset"}' '{"role":"user","content":"3"}' '{"type":"turn","turn":3}'
until_seen '"turn_done"' 3
close_ring
is "$(cat first)" '{"type":"ring","run":"r","size":0}
{"role":"system","content":"S"}
{"type":"tools","tools":[]}
{"type":"turn","turn":1}
{"type":"text_chunk","text":"n=1"}
{"id":"a1","role":"assistant","content":"n=1"}
{"type":"turn_done","stop_reason":"end_turn"}' 'stream: a turn, with id and turn_done made up'
is "$(cat second)" '{"role":"system","content":"S"}
{"type":"tools","tools":[]}
{"role":"user","content":"1"}
{"role":"assistant","content":"n=1","id":"a1"}
{"role":"user","content":"2"}' 'the program gets the conversation, system and tools first'
like "$(cat out)" '^\{ "type":"x-foreign" \}$' 'foreign lines pass byte for byte'
is "$(jq -r 'select(.role=="assistant").content' out | tr '\n' ' ')" 'n=1 n=2 n=1 ' 'reset clears the conversation'
unlike "$(cat out)" 'CLAWS_RING' 'the program is not told of the ring'
status_is 0 'end of file ends it'
ok 'its output is good' claws-msg check --strict out

one_turn() { # ARG...: a ring with one turn
	open_ring "$@"
	ask '{"role":"user","content":"1","id":"u1"}' '{"type":"turn"}'
	until_seen '"turn_done"'
	close_ring
}
one_turn sh -c 'exit 3'
is "$(sed 1d out)" '{"type":"error","class":"unknown","stage":"claws-each-turn","message":"sh: ended with status 3"}
{"type":"turn_done","stop_reason":"error"}' 'a program that fails'
one_turn sh -c 'kill -9 $$'
like "$(cat out)" 'ended by signal 9' 'a program that is killed'
one_turn ./no-such-program
like "$(cat out)" '"class":"config".*no-such-program' 'a program that is not there'
is "$(grep -c turn_done out)" 1 'one turn_done all the same'
one_turn true
like "$(cat out)" 'gave no assistant message' 'a program that says nothing'
one_turn echo '{"type":"text_chunk","text":"only chunks"}'
is "$(jq -rc 'select(.role)|[.content,.stop_reason]|join("|")' out)" 'only chunks|end_turn' 'a message is made of chunks'
one_turn echo '{"role":"assistant","content":"","tool_calls":[{"id":"c","name":"A","input":{}}]}'
like "$(tail -n 1 out)" '"tool_use"' 'calls make it tool_use'
one_turn printf '%s\n' '{"role":"assistant","content":"a","stop_reason":"end_turn"}' '{"role":"assistant","content":"b"}' \
	'{"type":"turn_done","stop_reason":"max_tokens","ms":7}' '{"type":"turn_done","stop_reason":"max_tokens","ms":8}' '{"type":"run_done","run":"x","exit":0}' 'junk'
is "$(grep -c '"role":"assistant"' out) $(grep turn_done out)" '1 {"type":"turn_done","stop_reason":"max_tokens","ms":8}' 'one message, its own turn_done'
unlike "$(cat out)" 'run_done' 'it cannot end the run'
like "$(cat out)" 'left out: not JSON' 'junk is named'
one_turn sh -c 'cat; echo "{\"role\":\"assistant\",\"content\":\"x\"}"'
is "$(grep -c '"u1"' out)" 0 'what it repeats of its input is dropped'
one_turn sh -c 'exec 0<&-; echo "{\"role\":\"assistant\",\"content\":\"x\"}"'
like "$(cat out)" '"end_turn"' 'it need not read its input'
one_turn sh -c 'sleep 100 & echo $! >bg; echo "{\"role\":\"assistant\",\"content\":\"x\"}"'
like "$(cat out)" '"end_turn"' 'a child that keeps the pipe open does not hold the turn'
nok 'and is killed' sh -c 'kill -0 "$(cat bg)" && ! grep -q "State:.Z" "/proc/$(cat bg)/status"'

cat >slow.sh <<'EOT'
#!/bin/sh
echo $$ >slow.pid
echo '{"type":"text_chunk","text":"part"}'
sleep 100
EOT
chmod +x slow.sh
gone() { ! kill -0 "$(cat slow.pid)" 2>/dev/null; }
open_ring ./slow.sh
ask '{"type":"turn"}'; until_seen part
ask '{"type":"interrupt"}'; until_seen turn_done
is "$(sed 1,2d out)" '{"type":"interrupt"}
{"role":"assistant","content":"part","stop_reason":"interrupted","id":"a1"}
{"type":"turn_done","stop_reason":"interrupted"}' 'interrupt: the part is kept'
ok 'interrupt: the program is gone' wait_for gone
ask '{"type":"turn"}'; until_seen part 3
close_ring
ok 'end of file in the middle of a turn ends the program' wait_for gone
open_ring ./slow.sh
ask '{"type":"turn"}'; until_seen part
kill -TERM "$pid"
close_ring
is "$status" 143 'SIGTERM ends it'
ok 'and the program' wait_for gone

# --- the place of claws-tool
cat >tool.sh <<'EOT'
#!/bin/sh
cat >given
printf '%s\n' '{"type":"tool_start","id":"c1","name":"A"}' '{"role":"tool","tool_call_id":"c1","content":"ok"}' '{"role":"tool","tool_call_id":"c9","content":"no"}'
EOT
chmod +x tool.sh
asst='{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"A","input":{}},{"id":"c2","name":"A","input":{}}],"stop_reason":"tool_use"}'
tdone='{"type":"turn_done","stop_reason":"tool_use"}'
open_ring --tool ./tool.sh
ask '{"type":"turn"}' "$asst" "$tdone"
until_seen turn_done
close_ring
is "$(cat given)" "$asst
$tdone" 'tool: the program gets the message and turn_done'
is "$(grep '"ok"' out)" '{"id":"t1","role":"tool","tool_call_id":"c1","content":"ok"}' 'tool: its result goes on'
is "$(jq -rc 'select(.role=="tool")|[.tool_call_id,.is_error]|map(tostring)|join(" ")' out | tr '\n' ';')" 'c1 null;c2 true;' 'tool: each call has one result, none other'
is "$(tail -n 1 out)" "$tdone" 'tool: then turn_done'
ok 'tool: the output is good' claws-msg check --strict out
open_ring --tool ./slow.sh
ask "$asst" "$tdone"; until_seen part
ask '{"type":"x-foreign"}'; until_seen x-foreign
ask '{"type":"interrupt"}'; until_seen turn_done
close_ring
is "$(jq -r 'select(.role=="tool").content' out | sort -u)" 'interrupted by the user' 'tool: interrupt answers every call'
open_ring --tool ./tool.sh
rm -f given
ask "$asst" '{"type":"turn_done","stop_reason":"truncated"}'; until_seen turn_done
close_ring
ok 'tool: nothing of a cut message is run' test ! -e given

# --- the place of claws-compact
open_ring --compact tail -n 1
ask '{"role":"user","content":"1","id":"u1"}' '{"role":"user","content":"2","id":"u2"}' '{"type":"turn"}'
until_seen '"turn"'
ask '{"role":"user","content":"3","id":"u3"}' '{"type":"compact_request"}' '{"type":"turn"}'
until_seen '"turn"' 2
close_ring
is "$(sed 5d out | head -n 4 | jq -rc '.id // .type' | tr '\n' ' ')" 'u1 u2 reset u2 ' 'compact: a reset and the shorter conversation'
unlike "$(cat out)" 'compact_request' 'compact: the request is consumed'
like "$(cat out)" 'gave no conversation' 'compact: tail -n 1 of a request is no conversation, and that is said'
is "$(tail -n 1 out)" '{"type":"turn"}' 'compact: the turn goes on all the same'
open_ring --compact cat
ask '{"role":"user","content":"1","id":"u1"}' '{"type":"turn"}'; until_seen '"turn"'
close_ring
unlike "$(cat out)" 'reset' 'compact: nothing changed, no reset'

# --- outside a ring
echo '{"role":"user","content":"1"}' | claws-each-turn ./count.sh >out
is "$?$(tail -n 1 out)" '0{"type":"turn_done","stop_reason":"end_turn"}' 'outside: end of file is the turn'
echo '{"role":"user","content":"1"}' | claws-each-turn sh -c 'exit 7' >out
is "$?" 7 'outside: the program'\''s status'
printf '%s\n' "$asst" "$tdone" | claws-each-turn --tool ./tool.sh >out
is "$(tail -n 1 out)" "$tdone" 'outside: tool'
printf '%s\n' '{"role":"user","content":"1"}' '{"role":"user","content":"2"}' | claws-each-turn --compact tail -n 1 >out
is "$(cat out)" '{"role":"user","content":"2"}' 'outside: compact'
run claws-each-turn --tool --compact cat
status_is 2 'two places: 2'
run claws-each-turn
status_is 2 'no program: 2'
done_testing
