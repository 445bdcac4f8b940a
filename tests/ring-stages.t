#!/bin/sh
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# Each stage replaced, in each of the ways the documentation names.
fake_llm --log log
echo hello >README.md
replaced() { jq -c 'select(.type == "run_start") | .replaced' "${1:-out}"; }
good() { # NAME STAGE ANSWER
	status_is 0 "$1: goes well"
	is "$(jq -r 'select(.role == "assistant") | .content' out | tail -n 1)" "$3" "$1: the answer"
	is "$(replaced)" "[\"$2\"]" "$1: run_start names it"
	is "$(jq -s '(map(select(.type == "turn_done")) | length) == (map(select(.role == "assistant")) | length)' out)" true "$1: one turn_done a turn"
	ok "$1: the lines are right" claws-msg check --strict <out
	ok "$1: the log is sound" sound
	quiet "$1: nothing runs on"
}

# ---- the model call: ten lines of sh, of Python; a filter that knows only end of file
cat >stream.sh <<'S'
n=0
while IFS= read -r line; do
	case $line in
	*'"type":"turn"'*)
		n=$((n + 1))
		echo "{\"role\":\"assistant\",\"id\":\"mine$$-$n\",\"content\":\"sh says $n\",\"stop_reason\":\"end_turn\"}"
		echo '{"type":"turn_done","stop_reason":"end_turn"}' ;;
	*'"role":"system"'*|*'"type":"ring"'*|*'"type":"tools"'*) printf '%s\n' "$line" ;;
	esac
done
S
run env CLAWS_STAGE_STREAM='sh stream.sh' claws --json -p hello
good 'ten lines of sh' stream 'sh says 1'
run env CLAWS_STAGE_STREAM='sh stream.sh' claws -c --json -p hello
good 'ten lines of sh, gone on with' stream 'sh says 1'

cat >stream.py <<'S'
import json, sys
seen = []
for line in iter(sys.stdin.readline, ""):
    m = json.loads(line)
    if m.get("role") in ("user", "tool"): seen.append(m)
    elif m.get("type") == "turn":
        calls = [] if seen[-1]["role"] == "tool" else [{"id": "py%d" % len(seen), "name": "Read", "input": {"file_path": "README.md"}}]
        print(json.dumps({"role": "assistant", "content": "" if calls else "read " + seen[-1]["content"].split()[-1], "tool_calls": calls,
                          "stop_reason": "tool_use" if calls else "end_turn"}))
        print(json.dumps({"type": "turn_done", "stop_reason": "tool_use" if calls else "end_turn"}), flush=True)
S
rm -rf .local
run env CLAWS_STAGE_STREAM='/usr/bin/python3 stream.py' claws --json -p hello
good 'ten lines of Python, with a call' stream 'read hello'

cat >answer.sh <<'S'
n=$(grep -c '"role":"user"')
echo "{\"role\":\"assistant\",\"content\":\"$n users\",\"stop_reason\":\"end_turn\"}"
S
rm -rf .local
run env CLAWS_STAGE_STREAM='claws-each-turn sh answer.sh' claws --json -p hello
good 'claws-each-turn and two lines of sh' stream '1 users'

# ---- over ssh
sshd=$(command -v sshd || PATH=/usr/sbin:/usr/local/sbin command -v sshd)
if [ -n "$sshd" ] && command -v ssh-keygen >/dev/null && [ "$(id -u)" -eq 0 ]; then
	mkdir -p /run/sshd
	mkdir -m 700 keys
	ssh-keygen -q -t ed25519 -N '' -f keys/host && ssh-keygen -q -t ed25519 -N '' -f keys/user
	cp keys/user.pub keys/authorized
	cat >keys/sshd_config <<-S
	HostKey $T/keys/host
	AuthorizedKeysFile $T/keys/authorized
	PidFile none
	StrictModes no
	PasswordAuthentication no
	KbdInteractiveAuthentication no
	PermitRootLogin prohibit-password
	UsePAM no
	S
	start_sshd() {
		_tries=0
		while [ $_tries -lt 20 ]; do
			_tries=$((_tries + 1))
			sshport=$((20000 + ($$ * 7 + _tries * 101) % 40000))
			"$sshd" -D -e -f keys/sshd_config -o "ListenAddress=127.0.0.1:$sshport" 2>sshd.log &
			sshd_pid=$!
			_k=0
			until grep -q 'Server listening' sshd.log; do
				kill -0 "$sshd_pid" 2>/dev/null || break
				_k=$((_k + 1)); [ $_k -lt 200 ] || return 1
				sleep 0.02
			done
			if kill -0 "$sshd_pid" 2>/dev/null && grep -q 'Server listening' sshd.log; then servers="$servers $sshd_pid"; return 0; fi
		done
		return 1
	}
	if start_sshd; then
		cat >ssh_config <<-S
		Host there
			HostName 127.0.0.1
			Port $sshport
			User root
			IdentityFile $T/keys/user
			IdentitiesOnly yes
			BatchMode yes
			StrictHostKeyChecking no
			UserKnownHostsFile $T/keys/known
			LogLevel ERROR
		S
		cat >remote.sh <<-S
		#!/bin/sh
		export ANTHROPIC_API_KEY=test-key ANTHROPIC_BASE_URL=$ANTHROPIC_BASE_URL CLAWS_MODEL=anthropic/fake HOME=$T
		exec $BUILD/bin/claws-stream "\$@"
		S
		chmod +x remote.sh
		: >log
		rm -rf .local
		# No key here: the model is called from over there.
		run env -u ANTHROPIC_API_KEY CLAWS_STAGE_STREAM="ssh -F $T/ssh_config -T there $T/remote.sh" claws --json -p tools:2
		good 'ssh -T host claws-stream' stream 'Read it 2 times.'
		ok 'ssh: the requests are legal' legal
		start "CLAWS_STAGE_STREAM=ssh -F $T/ssh_config -T there $T/remote.sh" claws --json -p slow:100:300
		wait_for grep -q text_chunk out
		kill -INT "$ring"
		if ended; then pass 'ssh: SIGINT ends it'; else fail 'ssh: SIGINT ends it' "after $took ms"; fi
		status_is 130 'ssh: with 130'
		is "$(jq -r 'select(.role == "assistant") | .stop_reason' out)" interrupted 'ssh: and the part is kept'
		quiet 'ssh: nothing runs on'
	else
		skip 12 "sshd does not start: $(tail -n 1 sshd.log)"
	fi
else
	skip 12 'there is no sshd (openssh-server), or no root to run it'
fi

# ---- the others
rm -rf .local
run env CLAWS_STAGE_COMPACT='while IFS= read -r line; do printf "%s\n" "$line"; done #' claws --json -p tools:2
good 'compact by sh' compact 'Read it 2 times.'
rm -rf .local
run env CLAWS_STAGE_COMPACT="claws-each-turn --compact sed 's/hello/say:sed was here/'" claws --json -p hello
good 'compact by claws-each-turn sed' compact 'sed was here'

cat >tool.sh <<'S'
while IFS= read -r line; do
	case $line in
	*'"role":"assistant"'*) last=$line ;;
	*'"type":"turn_done"'*)
		id=$(printf '%s\n' "$last" | sed -n 's/.*"tool_calls":\[{"id":"\([^"]*\)".*/\1/p')
		[ -z "$id" ] || echo "{\"role\":\"tool\",\"tool_call_id\":\"$id\",\"name\":\"Read\",\"content\":\"by sh\",\"is_error\":false}"
		last= ;;
	esac
	printf '%s\n' "$line"
done
S
rm -rf .local
run env CLAWS_STAGE_TOOL='sh tool.sh' claws --json -p tools:2
good 'tool by sh' tool 'Read it 2 times.'
is "$(jq -r 'select(.role == "tool") | .content' out | sort -u)" 'by sh' 'its results are used'
like "$(cat err)" 'CLAWS_STAGE_TOOL' 'and stderr says that the gate is replaced'
for format in text json stream-json; do
	run env CLAWS_STAGE_TOOL='sh tool.sh' claws --output-format $format -p tools:1
	like "$(cat err)" 'CLAWS_STAGE_TOOL' "--output-format $format: too"
done

rm -rf .local
run env CLAWS_STAGE_CONTEXT='echo "{\"role\":\"system\",\"id\":\"sys1\",\"content\":\"You are a teapot.\"}" #' claws --json -p hello
good 'context by sh' context 'Hello! How can I help you today?'
is "$(tail -n 1 log | jq -r '.body.system | if type == "string" then . else map(.text) | join("") end')" 'You are a teapot.' \
	'its prompt is sent'

rm -rf .local
run env CLAWS_STAGE_RENDER='sed -u "s/^/line /" #' claws -p hello
status_is 0 'render by sh: goes well'
is "$(grep -vc '^line {' out)" 0 'it gets every line'
sed 's/^line //' out >lines
is "$(replaced lines)" '["render"]' 'render by sh: run_start names it'

rm -rf .local
run env CLAWS_STAGE_SESSION='claws-session append' claws --json -p tools:1
good 'session by a command of its own' session 'Read it 1 times.'

# ---- two at once
rm -rf .local
run env CLAWS_STAGE_COMPACT='cat #' CLAWS_STAGE_RENDER='cat #' claws -p hello
is "$(replaced)" '["compact","render"]' 'several are all named'
run claws --json -p hello
is "$(replaced)" null 'and none where none is'

# ---- what stages may know
env CLAWS_STAGE_COMPACT='sh -c "env >compact.env; exec cat" #' claws -p hello >/dev/null
nok 'a replaced stage sees no key' grep -q API_KEY compact.env
env CLAWS_STAGE_STREAM='sh -c "env >stream.env; exec sh stream.sh" #' claws -p hello >/dev/null
ok 'in the place of claws-stream it does' grep -q ANTHROPIC_API_KEY=test-key stream.env
claws --permission-mode accept-all -p 'call:Bash:{"command":"env >tool.env; ls /proc/self/fd >tool.fds"}' >/dev/null
is "$(grep -E '^(CLAWS_RING|CLAWS_PROMPT|CLAWS_SESSION|CLAWS_STAGE_|.*API_KEY)' tool.env)" '' 'a tool sees nothing of the ring'
is "$(grep -c . tool.fds)" 4 'and has none of its descriptors'

# ---- a tool of three lines
cat >count.sh <<'S'
#!/bin/sh
wc -l <"$CLAWS_ARG_file"
S
chmod +x count.sh
printf '1\n2\n3\n' >three
ok 'claws tool add' claws tool add count 'Counts the lines of a file' 'file:string' -- ./count.sh
run claws --json --allowed-tools count -p 'call:count:{"file":"three"}'
status_is 0 'a tool of three lines of sh is run'
is "$(jq -r 'select(.role == "tool") | .content' out)" 3 'and answers'
CLAWS_STAGE_STREM=x run claws -p -n hello
status_is 78 'a slip in the name of a stage'
like "$(cat err)" 'CLAWS_STAGE_STREM names no stage' 'is named'
done_testing
