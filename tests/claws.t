#!/bin/sh
# claws: each option with what it does, standard input, quoting, files that nobody else can read. Faults HL01, HL03, HL05,
# HL08, SC08, SC09; BL11.
. "${0%/*}/lib.sh"
STATE=$T/.local/state/claws/sessions
mkdir w && cd w || exit 1
fake_llm --log "$T/reqs"
# The last request's body; ask ARG...: one run with no stdin
body() { tail -n 1 "$T/reqs" | jq -c .body; }
requests() { wc -l <"$T/reqs"; }
ask() { run claws -p "$@" </dev/null; }
sessions() { find "$STATE" -name '*.ndjson' 2>/dev/null | wc -l | tr -d ' '; }
users() { jq -r 'select(.role=="user")|.content' "${1-out}"; }

# --- the answer, and nothing else
ask hello
status_is 0 "an answer: status 0"
is "$(cat out)" "Hello! How can I help you today?" "the answer on stdout"
is "$(cat err)" "" "nothing on stderr"
run claws say hello please </dev/null
status_is 2 "a first word in lower case is a command"
run claws 'Say: hello' </dev/null
is "$status/$(cat out)" "0/This is the fake model speaking." "anything else is a prompt"
run claws -- hello </dev/null
is "$(cat out)" "Hello! How can I help you today?" "what follows -- is a prompt"
ask -- --help
is "$(body | jq -r '.messages[-1].content|if type=="array" then .[-1].text else . end')" "--help" "also if it looks like an option"
ask hello -q --json --no-time
like "$(head -n 1 out)" '^{"type":"run_start"' "options after the prompt"
ask
status_is 66 "no prompt: 66"
is "$(wc -l <err)" 1 "in one line"

# --- printing
same() { jq -c 'del(.request_id)' out >"$1"; }   # the server's own number aside
ask --json --no-time hello
same first
ok "--json: legal lines" claws-msg check out
is "$(tail -n 1 out | jq -r '.type,.exit' | tr '\n' ' ')" "run_done 0 " "ending in run_done with the status"
ask --json --no-time hello
same second
ok "--no-time: the same bytes twice" cmp first second
ask --output-format json hello
is "$(jq -r '[.type,.result,.exit,.is_error]|@csv' out)" '"result","Hello! How can I help you today?",0,false' "--output-format json"
ask --output-format stream-json hello
is "$(jq -r .type out | tr '\n' ' ')" "system assistant result " "--output-format stream-json"
ask --output-format xml hello
status_is 2 "an unknown format: 2"
ask -o answer hello
is "$(cat answer)" "$(cat out)" "-o: the answer in a file too"
ask -o answer --max-turns 1 'tools:3:x'
is "$status/$(cat answer)" "4/Hello! How can I help you today?" "-o: not if the run fails"
ask --json --partial 'think:deep'
like "$(cat out)" 'text_chunk' "--partial"
ask --partial 'tools:2:x'
status_is 0 "--partial with calls"
printf 'x\n' >notes
CLAWS_STAGE_COMPACT='claws-compact' ask hello
like "$(cat err)" 'replaced stages: compact' "a notice on stderr"
CLAWS_STAGE_COMPACT='claws-compact' ask -q hello
is "$status/$(cat err)" "0/" "-q: none"
ask -m anthropic/fake --thinking 1024 hello
is "$(body | jq -c '.thinking.budget_tokens')" 1024 "--thinking"
ask -m anthropic/fake --effort medium hello
is "$(body | jq -c '.thinking.budget_tokens')" 4096 "--effort"
CLAWS_EFFORT=high ask -m anthropic/fake hello
is "$(body | jq -c '.thinking.budget_tokens')" 16384 "CLAWS_EFFORT"
printf '%%PDF-1.4\n%%%%EOF\n' >a.pdf
ask -m anthropic/fake -f a.pdf sum up
is "$(body | jq -c '.messages[0].content|[.[0].type,.[0].title,.[0].source.media_type,.[1].text]')" \
	'["document","a.pdf","application/pdf","sum up"]' "-f PDF: a document"
ask --max-tokens 77 -m openai/other hello
is "$(body | jq -c '[.model,.max_tokens // .max_completion_tokens]')" '["other",77]' "-m, --max-tokens"

# --- the system prompt
ask -s 'You are a stone.' hello
is "$(body | jq -r '.system|if type=="array" then map(.text)|join("") else . end' | head -n 1)" "You are a stone." "-s: instead of the usual one"
printf 'You are a tree.\n' >sys
ask -s @sys hello
like "$(body)" 'You are a tree' "-s @FILE"
ask --append-system-prompt 'Say it in verse.' hello
like "$(body)" 'You are claws.*Say it in verse' "--append-system-prompt"
printf 'House rule: no tabs.\n' >AGENTS.md
ask hello
like "$(body)" 'no tabs' "AGENTS.md is read"
ask --no-project hello
unlike "$(body)" 'no tabs' "--no-project: it is not"

# --- tools and permission
ask --tools Read,Grep hello
is "$(body | jq -r '[.tools[].name]|join(" ")')" "Grep Read" "--tools"
ask --tools none hello
is "$(body | jq '.tools|length')" 0 "--tools none"
ask 'call:Bash:{"command":"touch x"}'
is "$status/$(test -e x; echo $?)" "3/1" "what is not known to be harmless is denied: 3"
like "$(cat err)" "Bash.*--allowed-tools 'Bash\(touch x\)'" "naming the tool and what would allow it"
ask --on-deny continue 'call:Bash:{"command":"touch x"}'
status_is 0 "--on-deny continue"
ask --allowed-tools 'Bash(touch x)' 'call:Bash:{"command":"touch x"}'
is "$status/$(ls x)" "0/x" "--allowed-tools"
ask --permission-mode accept-all --disallowed-tools 'Bash(touch y)' 'call:Bash:{"command":"touch y"}'
is "$status/$(test -e y; echo $?)" "3/1" "--disallowed-tools"
ask --permission-mode accept-all 'call:Bash:{"command":"touch y"}'
is "$status/$(ls y)" "0/y" "--permission-mode"
ask --permission-mode none hello
status_is 2 "an unknown mode: 2"
mkdir "$T/other" && echo secret >"$T/other/file"
ask "call:Read:{\"file_path\":\"$T/other/file\"}"
is "$status" 3 "a file elsewhere is not read"
ask --add-dir "$T/other" "call:Read:{\"file_path\":\"$T/other/file\"}"
is "$status" 0 "--add-dir: it is"
like "$(body)" 'secret' "and the model has it"
ask --max-turns 2 'tools:5:x'
status_is 4 "--max-turns: 4"
ask --max-turns two hello
status_is 2 "--max-turns: a number"
ask --max-time 0.3s 'slow:100:50'
status_is 4 "--max-time: 4"

# --- files
printf 'a file\n' >plain
printf 'tricky\n' >"a b'c\"\$(x)
d"
printf 'dash\n' >-f
ask --json -f plain -f "a b'c\"\$(x)
d" -f ./-f hello
is "$(users | tr '\n' ,)" "a file,,tricky,,dash,,hello," "-f, whatever the name"
is "$(jq -r 'select(.origin=="file")|.name' out | head -n 2 | tail -n 1)" "a b'c\"\$(x)" "and the name is told"
ask -f nothing hello
status_is 66 "-f: a missing file: 66"
ask -f . hello
status_is 65 "-f: a directory: 65"
base64 -d >good.png <<'EOF'
iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
EOF
head -c 40 good.png >cut.png
echo 'just text' >text.png
ask --json -i good.png hello
is "$(jq -r 'select(.images)|.images[0].media_type' out)" "image/png" "-i: an image"
like "$(body)" '"media_type":"image/png","data":"iVBORw0KGgo|"data":"iVBORw0KGgo' "the model gets it"
for f in cut text; do
	ask --json -i $f.png hello
	is "$status/$(jq -r 'select(.images)' out)" "0/" "-i: $f.png is left out"
	like "$(users)" "image $f.png could not be used" "and the model is told"
	like "$(cat err)" "$f.png" "and so are we"
done
ask -i nothing.png hello
status_is 66 "-i: a missing file: 66"
ask -C "$T/other" 'call:Read:{"file_path":"file"}'
like "$(body)" 'secret' "-C: works there"
ask -C nowhere hello
status_is 66 "-C: no such directory: 66"
ask -C "$T" -f w/plain hello
status_is 0 "-C: file names are relative to it"

# --- words as they are
for p in "it's" '$HOME `id` $(id)' 'back\slash \n' '*' '  two  blanks ' "quote'd \"twice\"" 'ümläut €' "two
lines"; do
	ask --json --no-session -- "$p"
	is "$(users)" "$p" "the prompt arrives as it is: $(printf %s "$p" | tr '\n' ' ')"
	ask --no-session -s "$p" hello
	is "$(body | jq -r '.system|if type=="array" then map(.text)|join("") else . end' | head -n 2)" "$p" "so does the value of an option"
done

# --- sessions
rm -rf "$STATE"
ask --session-id mine 'say:one'
ok "--session-id: begins one" test -f "$STATE/mine.ndjson"
ask --session-id mine 'say:two'
is "$(jq -r 'select(.role=="user")|.content' "$STATE/mine.ndjson" | tr '\n' ,)" "say:one,say:two," "and goes on with it"
ask -c 'say:three'
is "$(body | jq '.messages|length')" 5 "-c: the newest one"
for starter in cron:x channel:y agent:z; do CLAWS_STARTER=$starter claws -p --session-id "other-${starter%:*}" hello </dev/null >/dev/null; done
ask -c 'say:four'
like "$(body)" 'say:three' "-c: what cron, a channel or an agent began does not count"
(mkdir deeper && cd deeper && run claws -p -c hello </dev/null; echo "$status" >"$T/st")
is "$(cat "$T/st")" 66 "-c: another directory has none: 66"
for name in mine mi "$STATE/mine.ndjson" 'say:one'; do
	ask -r "$name" 'say:again'
	is "$status/$(body | jq -r '.messages[0].content|if type=="array" then .[0].text else . end')" "0/say:one" "-r $name"
done
ask -r nothing hello
status_is 66 "-r: unknown: 66"
ask -r other hello
is "$status" 66 "-r: several fit: 66"
like "$(cat err)" 'other-cron.*|other-agent' "and they are named"
ask -r mine -c hello
status_is 2 "-r and -c exclude each other"
n_before=$(($(requests) + 1))
asked() { [ "$(requests)" -ge "$n_before" ]; }
claws -p -r mine 'slow:50:100' </dev/null >/dev/null 2>&1 &
pid=$!
wait_for test -e "$STATE/mine.ndjson.d/inbox.open"
wait_for asked
ask -r mine hello
is "$status/$(requests)" "75/$n_before" "in use: 75, nothing is asked"
like "$(cat err)" 'in use|[0-9]{2,}' "the process is named"
ask --output-format json -r mine hello
is "$status/$(jq -s 'length' out)/$(jq .exit out)" "75/1/75" "with --output-format json one object"
is "$(claws session inbox mine 'leave it')" joined "a message joins the run"
kill -INT $pid
wait $pid
is $? 130 "SIGINT: 130"
for args in '-r nothing hello' '' '-f nothing hello' '-C nowhere hello' '--max-turns x hello' '-r other hello'; do
	# shellcheck disable=SC2086 # several words
	ask --output-format json $args
	is "$(jq -s 'length' out)/$(jq .exit out)/$(jq .is_error out)" "1/$status/true" "json: one object, its exit is the status $status: '$args'"
	# shellcheck disable=SC2086
	ask --json $args
	is "$(jq -s 'length' out)/$(jq -r .type,.exit out | tr '\n' ' ')" "1/run_done $status " "--json: run_done"
done

# --- --no-session
rm -rf "$STATE"
RUNTIME=$T/claws-$(id -u)
leftovers() { find "$RUNTIME" "$STATE" -mindepth 1 2>/dev/null; }
ask --no-session hello
is "$status/$(leftovers)" "0/" "--no-session leaves nothing"
for sig in TERM INT HUP; do
	case $sig in TERM) want=143 ;; INT) want=130 ;; *) want=129 ;; esac
	# In the background of a shell SIGINT is ignored, and no shell can undo that.
	env --default-signal=INT claws -p --no-session 'slow:50:100' </dev/null >out 2>&1 &
	pid=$!
	wait_for sh -c "find $RUNTIME -name inbox.open | grep ."
	kill -$sig $pid
	wait $pid
	is "$?/$(leftovers)" "$want/" "--no-session: SIG$sig leaves nothing"
	mkfifo quiet
	exec 7<>quiet
	env --default-signal=INT claws -p --no-session hello <quiet >out 2>&1 7<&- &
	pid=$!
	wait_for sh -c "find $RUNTIME -name 'prompt.*' | grep ."
	kill -$sig $pid
	wait $pid
	is "$?/$(leftovers)" "$want/" "while stdin is read too"
	claws -p hello <quiet >out 2>&1 7<&- &
	pid=$!
	wait_for sh -c "find $STATE -name 'prompt.*' | grep ."
	kill -TERM $pid
	wait $pid
	is "$?/$(find "$STATE" -name 'prompt.*')" "143/" "with a session no prompt stays"
	exec 7<&-
	rm quiet
done

# --- standard input
run claws -p hello <&-
is "$status/$(cat err)" "0/" "closed"
run claws -p --json hello </dev/zero
is "$status/$(users)" "0/hello" "a device is not read"
echo data >datafile
run claws -p --json hello <datafile
is "$(users | tr '\n' ,)" "data,,hello," "a file"
is "$(echo data | claws -p --json hello | jq -r 'select(.role=="user")|.origin' | tr '\n' ,)" "stdin,user," "a pipe; it says so"
is "$(echo say:piped | claws)" piped "a pipe without a prompt is the prompt"
is "$(echo say:piped | claws -)" piped "so is the prompt -"
is "$(echo data | claws -p -n --json hello | jq -r 'select(.role=="user")|.content')" hello "-n: not read"
is "$(printf data | claws -p --json -f - hello | jq -r 'select(.role=="user")|.content' | tr '\n' ,)" "data,hello," "-f -"
run claws -p - </dev/null
status_is 66 "-: nothing there: 66"
mkfifo quiet
exec 7<>quiet
ask -n hello
run claws -p -n hello <quiet 7<&-
is "$status/$(cat err)" "0/" "a silent pipe and -n"
run claws -p --stdin-wait 50ms hello <quiet 7<&-
is "$status/$(grep -c 'going on without it' err)" "0/1" "--stdin-wait"
run claws -p --stdin-wait 50ms - <quiet 7<&-
status_is 66 "--stdin-wait and -: 66"
claws -p --json hello <quiet >out 2>err 7<&- &
pid=$!
wait_for grep -q -e -n err
ok "a silent pipe: after three seconds stderr names -n" grep -q 'still waiting for stdin.*-n' err
ok "and it still waits" kill -0 $pid
echo late >&7
exec 7<&-
wait $pid
is "$?/$(users | tr '\n' ,)" "0/late,,hello," "until the end, and nothing is lost"
rm quiet
(for i in 1 2 3 4 5; do echo "line $i"; sleep 0.1; done) | claws -p --json hello >out 2>err
is "$(users | grep -c line)/$(cat err)" "5/" "a slow producer: all of it"
cat >sock.py <<'EOF'
import socket, subprocess, sys, time
a, b = socket.socketpair()
if sys.argv[1] == "speak": a.sendall(b"from a socket\n"); a.shutdown(socket.SHUT_WR)
t = time.time()
p = subprocess.run(["claws", "-p", "--json", "hello"], stdin=b)
print(p.returncode, time.time() - t < 2.5, file=sys.stderr)
EOF
if command -v python3 >/dev/null; then
	run python3 sock.py speak
	is "$(users | tr '\n' ,)/$(cat err)" "from a socket,,hello,/0 True" "a socket that speaks"
	run python3 sock.py silent
	is "$(users | tr '\n' ,)/$(cat err)" "hello,/0 True" "a silent socket does not hold it"
else
	skip 2 "no python3"
fi
head -c 1000000 /dev/zero | tr '\0' x >big
CLAWS_WINDOW=0 run claws -p --no-session hello <big
status_is 0 "1 MB on stdin"
is "$(body | jq '[.messages[].content|if type=="array" then .[].text else . end|length]|max>=1000000')" true "reaches the model whole"
head -c 1000000 /dev/urandom | base64 -w 100 >lines
ask --json "call:Read:{\"file_path\":\"lines\"}"
is "$status/$(claws-msg check out 2>&1)" "0/" "a tool whose result is 1 MB"

# --- the terminal, and its absence
printf '{"text":"plain"}\n' >script
for env in TERM=dumb TERM= NO_COLOR=1 TERM=xterm-256color; do
	run env "$env" claws -p 'tools:1:plain' </dev/null
	is "$status/$(cat out err | grep -c "$(printf '\033')")" "0/0" "$env: no escape sequence"
done
run env -u TERM claws -p hello </dev/null
is "$(cat out err)" "Hello! How can I help you today?" "without TERM"

# --- what would be started, as text that runs when it is pasted
rm -rf "$STATE"
unset CLAWS_SESSION
claws --print-pipeline -p >pipeline
like "$(cat pipeline)" "claws-ring .* claws-render$" "--print-pipeline"
like "$(cat pipeline)" "^# .*claws-session inbox" "without a prompt a comment says how to put one in"
is "$(find "$STATE" 2>/dev/null)" "" "nothing is made"
sed "s/^#.*/claws-session inbox \"\$S\" say:put-in >put/" pipeline >filled
run sh filled </dev/null
is "$status/$(cat out)/$(cat put)" "0/put-in/queued" "and so it is put in"
ask --print-pipeline 'say:pasted it'"'"'s'
cp out pipeline
run sh pipeline </dev/null
is "$status/$(cat out)/$(cat err)" "0/pasted it's/" "with a prompt: pasted, it answers"
run sh <pipeline
is "$status/$(cat out)" "0/pasted it's" "also where the text is standard input"
is "$(sessions)" 3 "each time in a session of its own"
ask --print-pipeline -c 'say:again'
cp out pipeline
run sh pipeline </dev/null
is "$status/$(sessions)/$(body | jq '.messages|length')" "0/3/3" "-c: goes on with the newest one"
ask --print-pipeline --no-session -m openai/other -C "$T/w" -f plain 'say:gone'
cp out pipeline
(cd / && sh "$T/w/pipeline" </dev/null >"$T/w/out" 2>&1)
is "$(cat out)/$(sessions)/$(find "$T/claws-$(id -u)" -name 'run.*')" "gone/3/" "--no-session, -C, -f: the same"
is "$(body | jq -r .model)" other "-m: too"
claws --print-pipeline --json --no-time --allowed-tools "Bash(echo 'a b' c)" -s "it's \$HOME" -p 'call:Bash:{"command":"echo '"'a b'"' c"}' >pipeline
run sh pipeline </dev/null
is "$status/$(tail -n 1 out | jq -r .type,.exit | tr '\n' ' ')" "0/run_done 0 " "options"
like "$(body)" "it's .HOME" "with their quoting"
like "$(cat out)" 'a b c' "and rules"
nok "--no-time: no times" grep -q '"ts"' out

# --- what is wrong is said once, by its name
once() { # STATUS ERE ARG...: one line of claws, and a second of usage
	want=$1 ere=$2
	shift 2
	run "$@" </dev/null
	is "$status/$(grep -cv "^claws: try 'claws --help'" err)" "$want/1" "$want, said once: $*"
	like "$(cat err)" "^claws: $ere" "as what was typed"
}
n_before=$(requests)
for args in '-c -r x' '-c --no-session' '--session-id x -c' '-r x --no-session'; do
	# shellcheck disable=SC2086
	once 2 '-c, -r, --session-id and --no-session exclude' claws -p $args hello
done
once 2 "--max-time: '5x' is not a duration such as 90, 1.5s, 30m or 2h" claws -p --max-time 5x hello
once 2 "--stdin-wait: '' is not a duration" claws -p --stdin-wait= hello
once 2 "--max-tokens: '0' is not" claws -p --max-tokens 0 hello
once 2 "--thinking: 'much' is neither" claws -p --thinking much hello
once 78 "CLAWS_PERMISSION_MODE: 'yolo' is none of read-only," env CLAWS_PERMISSION_MODE=yolo claws -p hello
once 78 "CLAWS_MAX_TURNS: 'x' is not" env CLAWS_MAX_TURNS=x claws -p hello
once 78 "CLAWS_MAX_TIME: 'x' is not" env CLAWS_MAX_TIME=x claws -p hello
once 66 "--system: cannot read file 'nofile'" claws -p -s @nofile hello
once 66 "--append-system-prompt: cannot read file '/'" claws -p --append-system-prompt @/ hello
once 66 "--add-dir: 'plain' is no directory" claws -p --add-dir plain hello
once 74 "--output: there is no directory 'no/where'" claws -p -o no/where/x hello
for args in '--tools Foo' '--allowed-tools Bash(' '--disallowed-tools Bash('; do
	# shellcheck disable=SC2086
	run claws -p $args hello </dev/null
	is "$status/$(grep -cv "^claws[a-z-]*: try 'claws" err)" "2/1" "2, said once: $args"
done
run env CLAWS_TOOLS=Foo claws -p --output-format json hello </dev/null
is "$status/$(wc -l <err | tr -d ' ')/$(jq .exit out)" "78/1/78" "CLAWS_TOOLS=Foo: 78, said once"
is "$(requests)" "$n_before" "and the model is not asked"
for t in 0.5s 500ms 1m 1h 2d 90; do
	run claws -p --max-time $t --thinking off hello </dev/null
	status_is 0 "--max-time $t"
done

# --- commands
mkdir bin
printf '#!/bin/sh\necho "foo: $*"\n' >bin/claws-foo
chmod +x bin/claws-foo
is "$(PATH=$PATH:$PWD/bin claws foo -p --x 'a b')" "foo: -p --x a b" "claws foo runs claws-foo, its options are its own"
run env PATH="$PATH:bin:" claws foo
status_is 2 "from absolute entries of PATH only"
run env PATH="$PATH:$PWD/bin" claws fo
is "$status/$(wc -l <err | tr -d ' ')" "2/2" "claws fo: 2, two lines"
like "$(cat err)" 'near it: claws foo' "with a hint"
printf '#!/bin/sh\necho "man: $*"\n' >bin/man
chmod +x bin/man
is "$(PATH=$PWD/bin:$PATH claws help foo)" "man: claws-foo" "claws help foo opens its page"
is "$(PATH=$PWD/bin:$PATH claws help claws)" "man: claws" "claws help claws"
is "$(PATH=$PWD/bin:$PATH claws help messages)" "man: claws-messages" "claws help messages"
like "$(claws help help)" '^usage: claws' "claws help help"
run claws help nosuch
is "$status/$(wc -l <err | tr -d ' ')" "2/1" "claws help nosuch: 2, one line"
like "$(cat err)" 'messages agent .*session' "that names what there is"
printf '#!/bin/sh\necho nothing >&2; exit 16\n' >bin/man
run env PATH="$PWD/bin:$PATH" claws help foo
is "$status/$(cat err)" "66/claws: man finds no page claws-foo; 'claws foo --help' may say more" "no page: 66, one line"
run claws what "isn't" this -n
like "$(cat err)" "claws -p what 'isn'.''t' this -n\$" "a prompt without -p: the hint has all of it"
like "$(claws help)" '^usage: claws' "claws help"
like "$(claws --version)" '^claws [0-9]' "--version"
for o in --help --version --dump-options '--print-pipeline -p'; do
	# shellcheck disable=SC2086
	claws $o >/dev/full 2>err
	is "$?/$(wc -l <err | tr -d ' ')" "74/1" "$o to a full disk: 74, one line"
done
for o in --nothing -y --model --quiet=1 -m --json-schema; do
	run claws $o
	is "$status/$(wc -l <err | tr -d ' ')" "2/2" "$o: 2, two lines"
done
ln -s "$BUILD/bin/claws" link
is "$(./link -p --no-session hello </dev/null)" "Hello! How can I help you today?" "through a link"

# --- private files, and the key
key=sk-ant-very-secret-0123456789
mkdir "$T/home2"
(
	umask 022
	HOME=$T/home2 ANTHROPIC_API_KEY="$key
" claws -p --json 'tools:2:plain' </dev/null >out 2>err
	HOME=$T/home2 ANTHROPIC_API_KEY=$key claws -p -i good.png --json 'slow:30:60' </dev/null >>out 2>>err &
	wait_for sh -c "find $T/home2 -name inbox.open | grep ."
	ps -eo args >args
	for p in $(ps -eo pid,args | awk '/^ *[0-9]+ claws-(tool|session|render|compact)/{print $1}'); do tr '\0' '\n' <"/proc/$p/environ"; done >environs 2>/dev/null
	wait $!
)
is "$(find "$T/home2" ! -type l -perm /077 ! -path "$T/home2")" "" "umask 022: nobody else can read what is kept"
like "$(find "$T/home2" -type f)" 'ndjson' "something is kept"
like "$(tail -n 1 "$T/reqs" | jq -r '.headers["x-api-key"]')" "^$key$" "the key went to the server, trimmed"
ok "the ring was seen" grep -q 'claws-session append' args
nok "the key is in no file" grep -rqF "$key" "$T/home2" out err
nok "nor in an argument list" grep -qF "$key" args
nok "nor in the environment of another stage" grep -qF "$key" environs

# --- homes that are none
run env -u HOME claws -p hello </dev/null
status_is 78 "no HOME: 78"
like "$(cat err)" 'HOME is not set.*CLAWS_HOME' "and what to set"
run env -u HOME CLAWS_HOME="$T/own" claws -p hello </dev/null
is "$status/$(find "$T/own/state/sessions" -name "*.ndjson" | wc -l | tr -d " ")" "0/1" "CLAWS_HOME is enough"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir "$T/ro" && chmod 555 "$T/ro"
	run setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$T/ro" TMPDIR=/tmp claws -C / -p hello </dev/null
	is "$status/$(grep -c "$T/ro" err)" "74/1" "a read-only HOME: 74, the place is named"
else
	skip 1 "not root"
fi

# --- failures are no answers
fake_llm --fault status:401
ask hello
is "$status/$(cat out)" "77/" "401: 77, no answer"
is "$(wc -l <err | tr -d ' ')" 1 "one line on stderr"
ask --output-format json hello
is "$(jq -c '[.is_error,.exit,.result]' out)" '[true,77,""]' "as JSON an error"
fake_llm --fault status:404
ask hello
status_is 66 "no such model: 66"
fake_llm --fault status:429:retry-after=3600
ask hello
status_is 75 "429 with a long delay: 75"
like "$(cat err)" '3600|1h|60 ?m' "the delay is named"
like "$(claws session list | head -n 1)" 'error 75' "the list says how it ended"
done_testing
