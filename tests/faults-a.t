#!/bin/sh
# Faults that people met in programs of this kind, end to end: streams, requests, sessions, input that is not what it should
# be, and places that are odd.
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
fake_llm --log log
hello='{"role":"user","content":"hello"}'
log=$(claws-session open)

# ---- closed standard descriptors: nothing that is opened later takes their place ----
for cmd in claws-stream claws-compact claws-tool "claws-session append $log" claws-render 'claws-each-turn cat'; do
	# shellcheck disable=SC2086 # a command line
	timeout 10 $cmd <&- >out 2>err
	is "$? $(grep -c 'read standard input: Bad file descriptor' err)" '74 1' "$cmd: a closed stdin cannot be read"
	# shellcheck disable=SC2086
	timeout 10 $cmd <. >out 2>err
	is "$? $(grep -c 'Is a directory' err)" '74 1' "$cmd: nor a directory"
done
for cmd in claws-stream claws-compact claws-tool "claws-session append $log" 'claws-render --json'; do
	# shellcheck disable=SC2086
	echo "$hello" | timeout 10 $cmd >&- 2>err
	is $? 74 "$cmd: a closed stdout cannot be written"
	# shellcheck disable=SC2086
	echo "$hello" | timeout 10 $cmd 2>&- >out
	is $? 0 "$cmd: does without stderr"
done

# ---- RQ19: ids that differ stay different when they are made legal for another provider ----
cat >ids.ndjson <<'END'
{"role":"user","content":"hi"}
{"role":"assistant","content":"","tool_calls":[{"id":"a.b","name":"Read","input":{}},{"id":"a b","name":"Read","input":{}},{"id":"a_b","name":"Read","input":{}}],"stop_reason":"tool_use"}
{"role":"tool","tool_call_id":"a.b","content":"1"}
{"role":"tool","tool_call_id":"a b","content":"2"}
{"role":"tool","tool_call_id":"a_b","content":"3"}
END
run claws-stream -m anthropic/fake --dry-run <ids.ndjson
is "$(jq -c '[.body.messages[]|.content[]?|.id//empty]|length==3 and (unique|length)==3 and (.[2]=="a_b") and all(test("^[A-Za-z0-9_-]{1,64}$"))' out)" \
	true "ids of another maker"
is "$(jq -c '[.body.messages[1].content[].id]==[.body.messages[2].content[].tool_use_id]' out)" true "pairs stay pairs"
long=$(printf '%03000d' 7)
sed "s/a b/${long}1/; s/a\.b/${long}2/" ids.ndjson >long.ndjson
run claws-stream -m anthropic/fake --dry-run <long.ndjson
is "$(jq -c '[.body.messages[1].content[].id]|length==3 and (unique|length)==3 and all(length<=64)' out)" true "long ids"

# ---- a session from elsewhere: CRLF, no last line end, lines too long to be read ----
said() { tail -n 1 log | jq -c '[.body.messages[].content|if type=="array" then .[].text else . end]'; }
printf '%s\r\n' '{"role":"user","content":"one"}' '{"role":"assistant","content":"two"}' '{"role":"user","content":"3"}' \
	'{"role":"assistant","content":"4"}' >crlf.ndjson
run claws -n -r ./crlf.ndjson -p say:five
is "$status $(said)" '0 ["one","two","3","4","say:five"]' "a log with CRLF goes on, and the prompt is said once"
for role in user assistant; do
	printf '{"role":"user","content":"one"}\n{"role":"%s","content":"two"}' $role >last.ndjson
	is "$(claws-session cat ./last.ndjson | jq -r .content | tail -n 1)" two "$role: cat knows a last line without line end"
	run claws -n -r ./last.ndjson -p say:five
	is "$status $(said)" '0 ["one","two","say:five"]' "$role: and so does the run that goes on"
	ok "$role: the log is whole" claws-msg check <last.ndjson
done
printf '{"role":"user","content":"one"}\n{"role":"assistant","content":"tw' >torn.ndjson
run claws -n -r ./torn.ndjson -p say:five
is "$status $(said)" '0 ["one","say:five"]' "a torn line is cut off"
like "$(cat err)" 'torn last line' "and named"
python3 -c 'print("{\"role\":\"user\",\"content\":\"" + "a" * ((64 << 20) - 29) + "\"}")' >long
log=$(claws-session open)
run claws-session append "$log" <long
is "$status $(jq -r .class out)" "65 input" "a line that is too long once it has an id is not logged"
{ echo "$hello"; sed 's/a"}$/aaa"}/' long; echo "$hello"; } >long.ndjson
run claws-session cat ./long.ndjson
is "$(jq -r 'if .role then .role else "\(.class) \(.line)" end' out | tr '\n' ' ')" "user input 2 user " \
	"a line of a log that nobody can read is named"
rm -f long long.ndjson

# ---- usage that is too large ----
cat >script <<'END'
{"text":"a","calls":[{"name":"Read","input":{"file_path":"/dev/null"}}],"usage":{"input":9223372036854775807,"output":9223372036854775807}}
{"text":"b","usage":{"input":9223372036854775807,"output":9223372036854775807}}
END
fake_llm --script script
run claws -n --json -p x
is "$(tail -n 1 out | grep -o '"input":[0-9]*,')" '"input":9223372036854775807,' "sums stay at the largest number"

# ---- SE03: what lies among the sessions and is none ----
fake_llm --log log2
sessions=$(dirname "$(session)")
printf '{"session_id":"a","status":"runni' >"$sessions/20261130-000000-aaaaaa.ndjson"
: >"$sessions/20261130-000000-aaaaab.ndjson"
mkdir "$sessions/20261130-000000-aaaaac.ndjson"
ln -s /nonexistent "$sessions/20261130-000000-aaaaad.ndjson"
mkfifo "$sessions/20261130-000000-aaaaae.ndjson"
for cmd in 'claws-session list' 'claws-session list --all' 'claws -n -c -p hello'; do
	# shellcheck disable=SC2086 # a command line
	run timeout 10 $cmd
	status_is 0 "$cmd: neither torn files nor FIFOs stop it"
done
rm -rf "$sessions"/20261130-000000-*

# ---- -o: what is no file is written to, never replaced ----
mkfifo fifo
cat fifo >got &
run claws -n -o fifo -p say:well
wait $!
is "$status $(cat got)" '0 well' "-o to a FIFO"
ok "and it still is one" test -p fifo
if mknod null c 1 3 2>/dev/null; then
	run claws -n -o null -p say:well
	is "$status $(cat out)" '0 well' "-o to a device"
	ok "and it still is one" test -c null
else
	skip 2 "no devices can be made here"
fi
echo old >real; ln -s real link
run claws -n -o link -p say:well
is "$status $(cat real) $(readlink link)" '0 well real' "-o to a link writes the file it names"
mkdir place
run claws -n -o place -p say:well
is "$status $(ls -A place)" '74 ' "-o to a directory"
like "$(cat err)" place "and is named"

# ---- output that cannot be written ----
if [ -c /dev/full ]; then
	for form in --json '--output-format stream-json' '--output-format json' --partial; do
		# shellcheck disable=SC2086 # words
		claws -n $form -p tools:2 >/dev/full 2>err
		is $? 74 "$form: a full disk is an I/O error"
	done
else
	skip 4 "no /dev/full"
fi
claws -n --json -p hello >&- 2>err
is $? 74 "and so is a closed stdout"
{ claws -n --json -p slow:20:50; echo $? >st; } 2>err | head -n 1 >out
is "$(cat st) $(cat err)" '141 ' "a reader that has gone is none, and nobody speaks of it"

# ---- a ring without a feed ----
log=$(claws-session open)
run env CLAWS_RING=1 claws-session append "$log" 3>&-
is "$status $(grep -rc ring "$log".d 2>/dev/null | grep -vc ':0$')" '2 0' "append in a ring needs its feed"

# ---- a dry run sends nothing, whatever lines come ----
for before in '{"type":"ring","run":"r","size":0}' '{"type":"interrupt"}' '{"type":"reset"}'; do
	printf '%s\n' "$before" "$hello" '{"type":"turn"}' '{"type":"turn"}' | timeout 10 claws-stream --dry-run >out 2>err
	is "$? $(jq -c '.body.messages|length' out)" '0 1' "$before: a dry run stays dry"
done

# ---- odd places ----
rm -f log
fake_llm --log log
odd="$T/a b'c\"d
\\ \$x*"
mkdir "$odd" gone
for var in HOME XDG_STATE_HOME CLAWS_HOME XDG_RUNTIME_DIR; do
	run env "$var=$odd" claws -n -p hello
	is "$status $(cat out)" '0 Hello! How can I help you today?' "$var with blanks, quotes and a newline"
done
run env HOME="$odd" claws -n -c -p hello
is "$status $(tail -n 1 log | jq '.body.messages|length')" '0 3' "and the session there is found again"
run env HOME="$odd" TMPDIR="$odd" claws -n --no-session -p tools:1
is "$status $(cat out)" '0 Read it 1 times.' "and TMPDIR"
rm -f log
(cd gone && rmdir ../gone && exec claws -n -p hello) >out 2>err
is "$? $(grep -c 'the working directory is gone' err) $(find . -name log)" "66 1 " "a working directory that is gone, before anything is asked"
(mkdir gone && cd gone && rmdir ../gone && exec claws -n -C "$T" -p hello) >out 2>err
is $? 0 "but for -C"
run sh -c 'ulimit -n 20; exec claws -n -p tools:3'
is "$status $(cat out)" '0 Read it 3 times.' "twenty descriptors are enough"

# ---- SE07, SE08: a log that cannot grow ----
rm -rf .local
run sh -c 'ulimit -f 2; exec claws -n --json -p tools:3'
is "$status $(tail -n 1 out | jq -c '[.type,.exit]')" '74 ["run_done",74]' "ulimit -f: an I/O error, not a death"
like "$(cat err)" 'File too large' "and named"
ok "the log has whole records alone" claws-msg check <"$(session)"
run claws -n -c -p say:on
is "$status $(cat out)" '0 on' "with room again the session goes on"
done_testing
