#!/bin/sh
# claws-ask at a terminal that script(1) makes: keys, what is shown, what was typed ahead. Threats 10, 11.
. "${0%/*}/lib.sh"
command -v script >/dev/null || skip_all "no script(1)"
mkfifo keys
hash() { printf '%s' "$1" | sha256sum | cut -d' ' -f1; }
# question INPUT [KEYS]: a request for Bash with this input
question() {
	set -- "$(printf '%s' "$1" | jq -cS .)" "${2-}"
	printf '{"type":"permission_request","id":"c1","name":"Bash","input":%s,"hash":"%s","reason":"why not","cwd":"/w"%s}\n' "$1" "$(hash "$1")" "${2-}" >req
}
# at CMD: runs it at a terminal of its own; keys go to descriptor 9; the screen is the file scr
at() {
	rm -f scr st ans
	printf '%s\necho $? >st.new; mv st.new st\n' "$1" >cmd.sh
	script -qfec "sh cmd.sh" scr <keys >/dev/null 2>&1 &
	term=$!
	exec 9>keys
}
asked() { wait_for grep -q '\[no\] $' scr; }
# press KEYS: again and again, since keys right after the question do not count
press() { _k=0; until [ -e st ] || [ $_k -gt 200 ]; do printf "$1" >&9; sleep 0.05; _k=$((_k + 1)); done; }
over() {
	wait_for sh -c "! kill -0 $term" 2>/dev/null || kill -9 "$term"
	exec 9>&-
	wait "$term" 2>/dev/null
}
cleanup() { [ -z "${term-}" ] || kill -9 "$term" 2>/dev/null; }
ask() { at 'claws-ask <req >ans'; asked && press "$1"; wait_for test -e st; over; }

question '{"command":"make test"}' ',"rule":"Bash(make test)"'
ask y
is "$(cat st) $(jq -c . ans)" "0 {\"type\":\"permission\",\"id\":\"c1\",\"decision\":\"allow\",\"by\":\"user\",\"hash\":\"$(hash '{"command":"make test"}')\"}" "y: allowed, with id and hash"
like "$(cat scr)" 'run Bash\?' "the tool is shown"
like "$(cat scr)" '^  in: /w' "and the place"
like "$(cat scr)" '^  \| make test' "the command is shown"
like "$(cat scr)" 'because: why not' "the reason is shown"
like "$(cat scr)" 'a allows from now on, in this session: Bash\(make test\)' "the rule of always is shown"
ok "a legal line" claws-msg check ans
ask a
is "$(jq -r '.decision+" "+.rule' ans)" "allow Bash(make test)" "a: with the rule"
for k in n N q '\r' '\003' '\004' '\033'; do
	ask "$k"
	is "$(cat st) $(jq -r .decision ans)" "0 deny" "key $k: no"
done
at 'claws-ask <req >ans'
asked
press2() { sleep 0.3; printf "$1" >&9; }
press2 x; press2 '\033[A'; press2 yy; press2 '?'
ok "? helps" wait_for grep -q 'this once' scr
nok "other keys, arrow keys and pastes are no answer" test -e st
press y
over
is "$(jq -r .decision ans)" allow "and then y is one"

at 'stty -a >before; claws-ask <req >ans; stty -a >after'
asked
press y
over
ok "the terminal is left as it was" cmp before after

# Typed ahead: before the question, and before anybody could have read it.
at 'until [ -e go ]; do sleep 0.01; done; claws-ask <req >ans'
printf 'y' >&9
sleep 0.1
: >go
asked
printf 'y' >&9
sleep 0.4
nok "keys typed ahead do not answer" test -e st
press n
over
is "$(jq -r .decision ans)" deny "the key that was typed after the question does"
rm -f go

# The terminal goes, and the end of who asked.
at 'echo $$ >pid; exec claws-ask <req >ans'
asked
kill -9 "$term"
ok "the terminal goes: the question goes too" wait_for sh -c '! kill -0 "$(cat pid)"'
is "$(cat ans)" "" "without an answer"
over
mkfifo pipe
at 'stty -a >before; claws-ask <req >pipe; echo $? >code; stty -a >after'
exec 8<pipe
asked
exec 8<&-
ok "who asked is gone: the question goes too" wait_for test -e st
over
is "$(cat code)" 1 "with status 1"
ok "and the terminal is as it was" cmp before after
at 'set -m; claws-ask <req >ans & wait $!; echo $? >code'
ok "in the background it does not ask" wait_for test -e st
over
is "$(cat code)" 1 "but says no"
like "$(cat scr)" 'in the background' "and why"

# Threat 10: what is shown.
question '{"command":"echo \u001b[2Ja\rb\u202ec\nclaws asks: run Read in /w?\ny yes, n no\n"}'
ask n
S=$(cat scr)
nok "no escape sequence reaches the terminal" grep -q "$(printf '\033\[2J')" scr
like "$S" '\\x1B\[2Ja\\x0Db<U\+202E>c' "they are shown as what they are"
is "$(grep -c '^claws asks' scr)" 1 "a line of the command cannot look like the question"
like "$S" '^  \| claws asks: run Read' "it has its mark"
question "{\"command\":\"$(head -c 500 /dev/zero | tr '\0' ' ')y yes, n no\"}"
ask n
like "$(tr -d '\r' <scr)" '^  \|  *y yes' "nor can one that is broken by the width"
question '{"command":"x"}' ",\"rule\":\"Bash(x $(printf %500s 'y yes, n no'))\""
sed -i "s#\"why not\"#\"$(printf %400s 'claws asks: run ls? [no] ')\"#; s#\"/w\"#\"/w$(printf %300s 'y yes, n no [no] ')\"#" req
ask n
is "$(tr -d '\r' <scr | grep -Ec '^(claws asks| *y yes, n no)')" 2 "nor can a directory, a reason or a rule as long as a row"
question "{\"command\":\"x\"}"
ask n
unlike "$(cat scr)" 'a always' "without a rule there is no always"
at 'claws-ask <req >ans'
asked
press2 a
sleep 0.2
nok "and a is no answer" test -e st
press n
over
L=$(jq -cn '[range(100)|"line \(.)"]|join("\n")')
question "{\"command\":$L}"
ask n
is "$(grep -c '^  | line' scr)" 100 "a command is shown whole"
like "$(cat scr)" 'has 10. rows: scroll up' "and that its beginning is out of sight"
question "{\"content\":$L,\"file_path\":\"/x\"}"
sed -i 's/"Bash"/"Write"/' req
at 'claws-ask <req >ans'
asked
is "$(grep -c '^  | line' scr)" 24 "of other long arguments the beginning"
sleep 0.3
printf v >&9
ok "v shows all" wait_for sh -c 'test "$(grep -c "^  | line" scr)" = 124'
press n
over

# Without a question, without a terminal.
question '{"command":"x"}'
sed 's/"x"/"y"/' req >req2
setsid -w claws-ask <req2 >out 2>err
is "$? $(wc -c <out)" "65 0" "a hash that is not the input's"
setsid -w claws-ask <req >out 2>err
is "$? $(wc -c <out)" "1 0" "no terminal: status 1, no answer"
like "$(cat err)" 'no terminal to ask at' "and a word"
for l in '' x '{"type":"permission"}'; do
	printf '%s\n' "$l" | setsid -w claws-ask >out 2>err
	is "$? $(wc -c <out)" "65 0" "no question: '$l'"
done
run claws-ask x
status_is 2 "an operand"

# All together.
printf '%s\n' '{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"Bash","input":{"command":"touch ran"}}]}' \
	'{"type":"turn_done","stop_reason":"tool_use"}' >in
at 'claws-tool --no-time <in >out 2>err'
asked
press y
over
is "$(cat st)$(test -e ran && echo ' ran')" "0 ran" "claws-tool asks with claws-ask, and runs the call"
rm -f ran
at 'claws-tool --no-time <in >out 2>err'
asked
press n
over
is "$(cat st)$(test -e ran && echo ' ran')" "3" "or not"
printf '%s' '{"command":"printf \"\\\\033[2Jx\""}' >in
at 'claws-tool --call Bash --permission-mode accept-all <in'
ok "claws-tool --call at a terminal" wait_for test -e st
over
ok "shows control characters, never sends them" sh -c 'grep -qF "\\x1B[2Jx" scr && ! grep -q "$(printf "\\033\\[2J")" scr'
done_testing
