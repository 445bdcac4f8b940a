#!/bin/sh
# The conversation at a terminal, typed by tmux: one ring from prompt to prompt, interrupts, commands, permission.
. "${0%/*}/lib.sh"
command -v tmux >/dev/null || skip_all 'no tmux'
fake_llm --log "$T/reqs"
mkdir w && cd w || exit 1
sock=$T/tmux.sock
tm() { tmux -S "$sock" -f /dev/null "$@"; }
cleanup() { tm kill-server 2>/dev/null; }
screen() { tm capture-pane -p -J -S - -t t | sed 's/ *$//'; }
seen() { screen | grep -Eq -e "$1"; }
type_() { tm send-keys -t t -l -- "$1" && tm send-keys -t t Enter; }
prompt_back() { [ "$(screen | sed 's/ *$//; /^$/d' | tail -n 1)" = '>' ]; }
shows() { if wait_for seen "$1"; then pass "$2"; else fail "$2" "$(screen)"; fi; }
at_prompt() { if wait_for prompt_back; then pass "$1"; else fail "$1" "$(screen)"; fi; }
ring() { pgrep -x -t "$tty" claws-ring; }
start() { # ARG...
	rm -f "$T/st"
	tm new-session -d -s t -x 100 -y 50 "claws $*; echo \$? >$T/st"
	tty=$(tm display-message -p -t t '#{pane_tty}')
	tty=${tty#/dev/}
	wait_for prompt_back
}
ended() { wait_for test -s "$T/st"; cat "$T/st"; }

start
at_prompt 'a prompt'
type_ 'say:answer-one'
shows '^answer-one$' 'an answer'
at_prompt 'and the prompt again'
one=$(ring)
type_ 'say:answer-two'
shows '^answer-two$' 'a second answer'
at_prompt 'and the prompt again'
is "$(ring)" "$one" 'the same ring'
ok 'there was one' test -n "$one"
is "$(ps -o pgid= -t "$tty" | sort -u | wc -l | tr -d ' ')" 1 'one process group at the terminal'
is "$(tail -n 1 "$T/reqs" | jq '.body.messages|length')" 3 'the conversation goes on'
type_ 'say:grüße-€'
shows '^grüße-€$' 'more than ASCII'
at_prompt 'and back'

# --- interrupts
type_ 'slow:100:200'
shows '^the quick' 'an answer is under way'
tm send-keys -t t C-c
at_prompt 'Ctrl-C ends it'
is "$(ring)" "$one" 'not the ring'
type_ 'say:after-the-interrupt'
shows '^after-the-interrupt$' 'and the next prompt works'
at_prompt 'back'
tm send-keys -t t -l 'half a li'
tm send-keys -t t C-c
at_prompt 'Ctrl-C at the prompt: a new one'
is "$(ring)" "$one" 'nothing ends'

# --- commands
type_ '/session'
shows 'sessions/.*ndjson$' '/session'
at_prompt 'back'
type_ '/help'
shows '^/quit, /exit, Ctrl-D' '/help: a table'
shows '^Ctrl-C ' 'with the keys'
at_prompt 'back'
type_ '!echo from-"the"-shell'
shows '^from-the-shell$' '!command'
at_prompt 'back'
type_ '/nonsense x'
shows "no command '/nonsense'; to send the line, put a blank before it" '/nonsense is named'
at_prompt 'back'
type_ '/tmp/x is what?'
shows "no command '/tmp/x'; to send the line, put a blank before it" 'so is a path'
at_prompt 'back'
type_ ' /tmp is what?'
at_prompt 'with a blank before it'
is "$(tail -n 1 "$T/reqs" | jq -r '.body.messages[-1].content|if type=="array" then .[-1].text else . end')" '/tmp is what?' 'it is a prompt'
type_ '/session list'
shows "say:answer-one" '/session list is claws session list'
at_prompt 'back'
type_ '/model a b'
shows '/model takes one value' '/model a b is refused'
at_prompt 'back'
type_ '/permission-mode yolo'
shows "/permission-mode: 'yolo' is none of" '/permission-mode yolo is refused'
at_prompt 'back'
type_ '/permission-mode accept-all'
shows '^permission mode: accept-all$' '/permission-mode'
at_prompt 'back'
type_ 'call:Bash:{"command":"touch by-mode"}'
ok 'goes on with it' wait_for test -e by-mode
at_prompt 'back'
type_ '/permission-mode auto'
shows '^permission mode: auto$' 'and back'
at_prompt 'back'
type_ '/model anthropic/other'
shows '^model: anthropic/other$' '/model'
at_prompt 'back'
type_ 'say:by-the-other'
shows '^by-the-other$' 'goes on'
is "$(tail -n 1 "$T/reqs" | jq -r '.body.model')" other 'with the other model'
ok 'and the same conversation' test "$(tail -n 1 "$T/reqs" | jq '.body.messages|length')" -ge 5
at_prompt 'back'
type_ '/new'
wait_for prompt_back
type_ 'say:all-new'
shows '^all-new$' '/new'
is "$(tail -n 1 "$T/reqs" | jq '.body.messages|length')" 1 'begins a new conversation'
at_prompt 'back'

# --- permission
type_ 'call:Bash:{"command":"touch yes-file"}'
shows '^y yes, n no' 'a question'
sleep 0.7   # what is typed as the question appears is no answer to it
tm send-keys -t t -l y
if wait_for test -e yes-file; then pass 'y: it runs'; else fail 'y: it runs' "$(screen)"; fi
at_prompt 'back'
n_before=$(wc -l <"$T/reqs")
type_ 'call:Bash:{"command":"touch no-file"}'
wait_for seen '[|] touch no-file$'
sleep 0.7
tm send-keys -t t -l n
at_prompt 'n: back'
ok 'the model was told' test "$(wc -l <"$T/reqs")" -ge $((n_before + 2))
nok 'it did not run' test -e no-file

# --- the end
tm send-keys -t t C-d
is "$(ended)" 0 'Ctrl-D: status 0'
ok 'no ring stays' wait_for sh -c "! pgrep -x -t $tty claws-ring"
start "2>$T/said"
type_ 'say:before'
at_prompt 'again'
kill "$(ring)"
ok 'the ring ends' wait_for sh -c "! ps -o stat=,comm= -t $tty | grep -q '^[^Z].* claws-ring'"
type_ 'say:after'
is "$(ended)" 143 'without its ring the conversation ends'
like "$(cat "$T/said")" "claws: the conversation's pipeline has ended with status 143; claws -c goes on with it" 'and says so'
start --no-session
type_ '/quit'
is "$(ended)" 0 '/quit: status 0'
is "$(find "$T"/claws-* -name 'run.*' 2>/dev/null)" '' '--no-session leaves nothing'
done_testing
