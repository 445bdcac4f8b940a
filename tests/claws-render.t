#!/bin/sh
# claws-render: what reaches stdout, stderr, a terminal and a file.
. "${0%/*}/lib.sh"

run_start='{"type":"run_start","v":1,"run":"r1","session":"s1","cwd":"/w","model":"p/m","mode":"auto","limits":{}}'
cat >ring <<EOT
{"type":"tools","tools":[{"name":"Bash"},{"name":"Edit"}]}
$run_start
{"role":"user","content":"do it","origin":"user","id":"u1"}
{"type":"thinking_chunk","text":"hmm"}
{"type":"text_chunk","text":"Let me look."}
{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"c1","name":"Bash","input":{"command":"ls -l\nrm \u001b[2Jx"}},{"id":"c2","name":"Edit","input":{"file_path":"a.c"}},{"id":"c3","name":"Bash","input":{"command":"sudo x"}}],"stop_reason":"tool_use","usage":{"input":10,"output":5}}
{"type":"tool_start","id":"c1","name":"Bash","input":{"command":"ls -l\nrm \u001b[2Jx"}}
{"type":"tool_end","id":"c1","status":"error","ms":1234}
{"role":"tool","tool_call_id":"c1","name":"Bash","content":"no such file\nexit 1","is_error":true}
{"type":"tool_start","id":"c2","name":"Edit","input":{"file_path":"a.c"}}
{"type":"tool_end","id":"c2","status":"ok","ms":3}
{"role":"tool","tool_call_id":"c2","name":"Edit","content":"edited a.c\n--- a.c\n+++ a.c\n@@ -1 +1 @@\n-old\n+new\n \tindented"}
{"type":"permission","id":"c3","decision":"deny","by":"rule","rule":"Bash(sudo *)"}
{"type":"tool_end","id":"c3","status":"denied"}
{"role":"tool","tool_call_id":"c3","name":"Bash","content":"denied","is_error":true}
{"type":"turn_done","stop_reason":"tool_use","usage":{"input":10,"output":5,"cost_usd":0.5},"ms":100}
{"type":"notice","text":"a word\u001b[31m to you"}
{"type":"retry","attempt":1,"wait_ms":1500,"class":"overloaded","message":"busy"}
{"type":"text_chunk","text":"Do"}
{"type":"text_chunk","text":"ne"}
{"role":"assistant","content":"Done","stop_reason":"end_turn"}
{"type":"turn_done","stop_reason":"end_turn","usage":{"input":20,"output":5,"cost_usd":0.25},"ms":100}
{"type":"run_done","run":"r1","exit":0,"turns":2,"usage":{"input":30,"output":10,"cost_usd":0.75},"denied":[{"id":"c3","name":"Bash","rule":"Bash(sudo *)"}]}
EOT

# --- to a pipe
run claws-render <ring
is "$(cat out)" Done 'a ring: stdout holds the answer only'
is "$(wc -c <out)" 5 'one newline is added'
like "$(cat err)" '^claws: denied: Bash sudo x \(Bash\(sudo \*\)\)$' 'a denied call is named with its rule'
like "$(cat err)" '^claws: a word\\x1B\[31m to you$' 'a notice goes to stderr, controls visible'
like "$(cat err)" '^claws: attempt 1 failed \(overloaded: busy\), next in 1.5 s$' 'a retry is said'
status_is 0 'status 0'
run claws-render --quiet <ring
is "$(cat err)" 'claws: denied: Bash sudo x (Bash(sudo *))' '-q: no notices, but what was denied'
run claws-render --partial <ring
is "$(cat out)" "Let me look.
Done" '--partial: text of all messages'
printf '%s\n' '{"type":"text_chunk","text":"a\u001b[1m"}' '{"role":"assistant","content":"a\u001b[1m\n"}' >plain
run claws-render <plain
is "$(od -An -c out | tr -d ' ')" 'a033[1m\n' 'to a pipe the bytes are the model'\''s own; a newline is there'
printf '%s\n' '{"role":"assistant","content":"x\n\n"}' | claws-render >out
is "$(wc -c <out)" 3 'newlines of the answer stay'
printf '%s\n' '{"role":"user","content":"q"}' '{"role":"assistant","content":"one"}' '{"role":"tool","tool_call_id":"c","content":"t"}' \
	'{"role":"assistant","content":"two"}' | claws-render >out
is "$(cat out)" "one
two" 'a stored conversation: texts without chunks are shown'
run claws-render </dev/null
is "$(cat out err)" '' 'nothing in, nothing out'

# --- first line before the end (UI10)
mkfifo in
claws-render <in >early 2>&1 &
pid=$!
exec 4>in
printf '%s\n' '{"type":"text_chunk","text":"first line\n"}' >&4
ok 'the first line is shown before the end' wait_for grep -q 'first line' early
printf '%s\n' '{"type":"text_chunk","text":"second"}' >&4
ok 'so is a part of a line' wait_for grep -q 'second$' early
exec 4>&-
wait "$pid"
printf '%s\n' "$run_start" '{"role":"assistant","content":"not yet","stop_reason":"end_turn"}' >held
{ cat held; printf '%s\n' '{"type":"turn_done","stop_reason":"end_turn"}' '{"type":"run_done","run":"r1","exit":0}'; } | claws-render --json >raw
is "$(wc -l <raw | tr -d ' ')" 4 '--json hands on all lines'
claws-render --json <ring | cmp -s - ring
is $? 0 '--json: byte for byte'
printf '{"type":"x"}\r\nnot json\n{"type":"x","n":1e400}' >odd
claws-render --json <odd 2>err | cmp -s - odd
is $? 0 '--json: also CR, bad lines and a cut end'

# --- failures: stderr, not the answer (HL05, HL07)
cat >failed <<EOT
$run_start
{"type":"error","class":"auth","message":"key rejected:\nbad key","status":401}
{"type":"turn_done","stop_reason":"error"}
{"type":"run_done","run":"r1","exit":77,"error":"key rejected:\nbad key"}
EOT
run claws-render -o saved <failed
is "$(cat out)" '' 'an error is no answer'
is "$(cat err)" 'claws: auth: key rejected:\nbad key' 'it is one line on stderr, once'
ok 'no -o file after a failure' test ! -e saved
cat >late <<EOT
$run_start
{"role":"assistant","content":"I look","tool_calls":[{"id":"c","name":"A","input":{}}],"stop_reason":"tool_use"}
{"role":"tool","tool_call_id":"c","content":"x"}
{"type":"turn_done","stop_reason":"tool_use"}
{"type":"error","class":"rate_limit","message":"slow down","retry_after_ms":90000}
{"type":"turn_done","stop_reason":"error"}
{"type":"run_done","run":"r1","exit":75}
EOT
run claws-render <late
is "$(cat out)" '' 'text of an earlier turn is not the answer of one that failed'
is "$(cat err)" 'claws: rate_limit: slow down (try again in 1 min 30 s)' 'the wait is named'
printf '%s\n' "$run_start" '{"role":"assistant","content":"part","stop_reason":"max_tokens"}' \
	'{"type":"turn_done","stop_reason":"max_tokens"}' '{"type":"run_done","run":"r1","exit":4,"stop_reason":"max_tokens"}' >cut
run claws-render -o saved <cut
is "$(cat out)" part 'a cut answer is shown'
like "$(cat err)" '^claws: limit: ' 'and said to be cut'
ok 'but not saved' test ! -e saved
run claws-render <held
is "$(cat out)" 'not yet' 'a run without end: a finished answer is shown'
like "$(cat err)" 'stream ended before the run did' 'a dead stage is named'
printf '%s\n' "$run_start" '{"type":"run_done","run":"r1","exit":3,"denied":[{"id":"z","name":"Bash","rule":"mode plan"}]}' | claws-render -q 2>err
is "$(cat err)" 'claws: denied: Bash (mode plan)' 'a denial that ended the run is said even with -q'
printf 'garbage\n{"role":"assistant","content":"still"}\n' >bad
printf '%s\n' "$run_start" '{"type":"permission","id":"z","decision":"deny","by":"mode","rule":"plan"}' | claws-render 2>err
like "$(cat err)" '^claws: denied: z \(mode plan\)$' 'a mode is named as one'
run claws-render <bad
is "$(cat out)" still 'a bad line does not hide the rest'
like "$(cat err)" '^claws: input: line 1: ' 'it is named'
run claws-render <ring >/dev/full
claws-render <ring >/dev/full 2>err
is $? 74 'output that cannot be written: 74'
{ yes '{"type":"text_chunk","text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"}' | claws-render 2>err; echo $? >st; } | head -n 1 >/dev/null
is "$(cat err)" '' 'a reader that goes away: no word'

# --- -o and --done-fd
run claws-render -o saved <ring
is "$(cat saved)" Done '-o: the answer, when the run ended well'
is "$(cat out)" Done 'and on stdout'
rm -f saved; run claws-render -o saved <plain
ok '-o without a ring: not without an end of turn' test ! -e saved
{ cat plain; echo '{"type":"turn_done","stop_reason":"end_turn"}'; } | claws-render -o saved >/dev/null
ok '-o without a ring: with one' test -s saved
run claws-render -o no/such/dir/x <ring
status_is 74 '-o: what cannot be written is 74'
{ cat ring; cat failed; } | claws-render --done-fd 5 5>done >/dev/null 2>&1
is "$(cat done)" "0
77" '--done-fd: the status of each run'
run claws-render --done-fd 9 <ring
status_is 2 '--done-fd must be open'
run claws-render --json --output-format json <ring
status_is 2 'two formats exclude each other'

# --- json shapes (HL08)
run claws-render --output-format json <ring
is "$(wc -l <out | tr -d ' ')" 1 'json: one object'
is "$(jq -r '[.type,.subtype,.is_error,.num_turns,.result,.session_id,.total_cost_usd,.usage.input_tokens,.permission_denials[0].tool_input.command,.exit]|map(tostring)|join(" ")' out)" \
	'result success false 2 Done s1 0.75 30 sudo x 0' 'json: the result'
for f in failed late held bad; do
	claws-render --output-format json <$f >out 2>err
	is "$(jq -s 'length' out)" 1 "json: one object after $f"
done
claws-render --output-format json <failed >out 2>err
is "$(jq -r '[.subtype,.is_error,.exit,.error.class,.error.status,.result]|map(tostring)|join(" ")' out)" \
	'error_during_execution true 77 auth 401 ' 'json: a failure'
claws-render --output-format json </dev/null >out 2>err
is "$(jq -r '[.is_error,.exit]|map(tostring)|join(" ")' out)" 'true 1' 'json: nothing in is a failure'
claws-render --output-format json <held >out 2>err
is "$(jq -r .is_error out)" true 'json: a dead stage is a failure'
printf '%s\n' "$run_start" '{"type":"run_done","run":"r1","exit":4,"limit":"turns"}' | claws-render --output-format json >out 2>err
is "$(jq -r .subtype out)" error_max_turns 'json: the limit of turns'
printf '%s\n' '{"type":"error","class":"overloaded","message":"busy"}' '{"type":"turn_done","stop_reason":"error"}' | claws-render --output-format json >out 2>err
is "$(jq -r .exit out)" 75 'json, without a ring: the status is that of the error'
run claws-render --output-format stream-json <ring
is "$(jq -r '.type+(if .subtype then "/"+.subtype else "" end)' out | tr '\n' ' ')" \
	'system/init assistant user user user system/api_retry assistant result/success ' 'stream-json: the order'
is "$(head -n 1 out | jq -c '[.tools,.cwd,.model,.session_id]')" '[["Bash","Edit"],"/w","p/m","s1"]' 'stream-json: init'
is "$(sed -n 2p out | jq -r '.message.content|map(.type)|join(" ")')" 'text tool_use tool_use tool_use' 'stream-json: content blocks'
is "$(sed -n 3p out | jq -r '.message.content[0]|[.type,.tool_use_id,.is_error]|map(tostring)|join(" ")')" 'tool_result c1 true' 'stream-json: tool result'
is "$(jq -r .uuid out | sort -u | wc -l | tr -d ' ')" "$(wc -l <out | tr -d ' ')" 'stream-json: each line has its uuid'
claws-render --output-format stream-json --partial <ring 2>err >out
is "$(jq -r 'select(.type=="stream_event").event.type' out | uniq | tr '\n' ' ')" \
	'message_start content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop message_start content_block_start content_block_delta content_block_stop message_delta message_stop ' \
	'stream-json --partial: events in order'

# --- a terminal
if command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1; then
	tty() { script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
	export TERM=xterm
	tty 'claws-render <ring' >out
	esc=$(printf '\033')
	like "$(cat out)" "^${esc}\[1mBash${esc}\[0m ls -l\\\\nrm \\\\x1B\[2Jx  ${esc}\[31merror${esc}\[0m 1.2 s" 'terminal: a call on one line, with its outcome'
	like "$(cat out)" '^  no such file$' 'terminal: the first line of a failure'
	like "$(cat out)" "^  ${esc}\[32m\+new" 'terminal: a coloured diff'
	like "$(cat out)" "$(printf '^   ?\tindented')" 'terminal: the tabs of a diff are tabs'
	unlike "$(cat out)" 'hmm' 'terminal: no thinking'
	for text in 'one' 'one\ntwo\n' 'one\ntwo\nthree' 'one\n2\n\nfour\nfive\n\n' ''; do
		printf '{"role":"tool","tool_call_id":"c","name":"Bash","content":"%s","is_error":true}\n' "$(printf %s "$text")" >fail
		tty 'claws-render --color never <fail' | sed 1d | tr '\n' '|'
		echo
	done >out
	is "$(cat out)" '  one|
  one|  two|
  one|  two|  three|
  one|  ...|  four|  five|' 'terminal: the first line of a failure and its last two'
	tty 'claws-render --thinking <ring' >out
	like "$(cat out)" "${esc}\[2mhmm" 'terminal: --thinking shows it dim'
	NO_COLOR=1 tty 'claws-render <ring' >out
	unlike "$(cat out)" "$esc" 'NO_COLOR: no escapes'
	like "$(cat out)" '^Edit a.c  ok$' 'and the same text'
	TERM=dumb tty 'claws-render <ring' >out2
	is "$(cat out2)" "$(cat out)" 'TERM=dumb: the same (HL03)'
	env -u TERM script -qec 'unset TERM; claws-render <ring' /dev/null </dev/null | tr -d '\r' >out2
	is "$(cat out2)" "$(cat out)" 'no TERM: the same'
	tty 'claws-render --color never <ring' >out
	unlike "$(cat out)" "$esc" '--color never'
	tty 'claws-render -q <ring' >out
	unlike "$(cat out)" '^Bash' '-q: no tool lines'
	printf '%s\n' '{"type":"text_chunk","text":"a\u001b]0;evil\u0007b\u202ec\u0085d"}' '{"role":"assistant","content":"x"}' >evil
	tty 'claws-render <evil' >out
	is "$(cat out)" 'a\x1B]0;evil\x07b<U+202E>c<U+0085>d' 'terminal: control characters are shown'
	printf '%s\n' '{"type":"text_chunk","text":"one\r"}' '{"type":"text_chunk","text":"\ntwo \ud83d\udc69"}' \
		'{"type":"text_chunk","text":"\u200d\ud83d\udcbb"}' '{"role":"assistant","content":"x"}' >pieces
	tty 'claws-render <pieces' >out
	is "$(cat out)" "$(printf 'one\ntwo \360\237\221\251\342\200\215\360\237\222\273')" 'terminal: what is cut between two pieces is shown as one'
	tty 'claws-render <ring 2>err >out3' >/dev/null
	is "$(cat out3)" Done 'stdout a file, terminal elsewhere: the answer only'
	script -qec 'claws-render <ring >out4' /dev/null </dev/null | tr -d '\r' >shown
	like "$(cat shown)" 'Edit.* a.c' 'stdout a file, stderr a terminal: tool lines there'
	is "$(cat out4)" Done 'and the answer in the file'
else
	skip 18 'no script(1)'
fi
done_testing
