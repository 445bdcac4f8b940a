#!/bin/sh
# Whole runs that are recorded, and run again: without network, key, files or provider, and nothing is executed.
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
fake_llm --log log
echo one >a.txt
record() { # DIR CLAWS-ARG...
	_dir=$1
	shift
	run claws --no-time --json --record "$_dir" --permission-mode accept-all "$@"
}
# A place where nothing is the same: other home, other directory, no key, no server, no file.
elsewhere() { # CLAWS-ARG...
	rm -rf "$T/far"
	mkdir -p "$T/far/home" "$T/far/work"
	(
		unset ANTHROPIC_API_KEY ANTHROPIC_BASE_URL OPENAI_API_KEY OPENAI_BASE_URL CLAWS_MODEL
		cd "$T/far/work" || exit
		HOME=$T/far/home exec claws "$@"
	) >out 2>err
	status=$?
}
# What a run says of its own place is another one's.
placeless() { jq -c 'if .type == "run_start" then del(.cwd, .session, .run, .limits) else . end' "$1"; }

record rec -p 'call:Bash:{"command":"echo ran >>ran; cat a.txt; echo bad >&2; exit 3"}'
status_is 0 'a run is recorded'
cp out first
is "$(cd rec && echo *)" '0001-conversation.ndjson 0001-request.json 0001-response 0001-tool.json 0002-request.json 0002-response' 'in files that say what they are'
is "$(stat -c %a rec rec/* | sort -u | tr '\n' ' ')" '600 700 ' 'and are private'
is "$(grep -rl test-key rec)" '' 'there is no key in them'
is "$(wc -l <ran)" 1 'the command ran'

before=$(wc -l <log)
kill "$server"
tar cf rec.tar rec
mkdir -p moved
tar xf rec.tar -C moved
run claws --no-time --json --permission-mode accept-all --replay rec
status_is 0 'it runs again where it was, without its server'
placeless first >want
placeless out >got
ok 'with the same bytes' cmp got want
is "$(wc -l <ran) $(wc -l <log)" "1 $before" 'nothing was executed, nobody was called'
rm -f a.txt
elsewhere --no-time --json --permission-mode accept-all --replay "$T/moved/rec"
status_is 0 'and in another place, from a copy, without key or file'
placeless out >got
ok 'with the same bytes, too' cmp got want
ok 'nothing is executed' test ! -e far/work/ran
cp out once
elsewhere --no-time --json --permission-mode accept-all --replay "$T/moved/rec"
ok 'twice in one place: equal to the byte' cmp out once
elsewhere --no-session -q --replay "$T/moved/rec"
is "$status $(cat out)" "0 $(jq -r 'select(.role == "assistant") | .content' first | tail -n 1)" 'as text, with --no-session'

# The tools run for real, the model does not.
mkdir -p far/work
echo one >far/work/a.txt
(cd far/work && HOME=$T/far/home exec claws --no-time --json --permission-mode accept-all --replay "$T/rec" --live-tools) >out 2>err
status=$?
is "$status $(wc -l <far/work/ran)" '0 1' '--live-tools: the command ran, the model was the recorded one'
echo two >far/work/a.txt
(cd far/work && HOME=$T/far/home exec claws --no-time --json --permission-mode accept-all --replay "$T/rec" --live-tools) >out 2>err
status=$?
status_is 65 '--live-tools: where a result is another one, the next request is not recorded'
like "$(jq -r 'select(.type == "error") | .message' out)" 'messages/2/content/0/content' 'and the first difference is named'
elsewhere --no-time --json --replay "$T/rec" --live-tools
is "$(jq -r 'select(.type == "tool_end") | .status' out)" denied '--live-tools goes through the gate'

# A replay asks for something that is not there.
cp -r rec less
rm less/0001-tool.json
elsewhere --no-time --json --permission-mode accept-all --replay "$T/less"
status_is 65 'a result that is missing'
like "$(jq -r 'select(.type == "error") | .message' out | head -n 1)" 'no result of this call is recorded in .*less; none is of Bash' 'is named'
sed -i 's/a[.]txt/b.txt/' rec/0001-tool.json
elsewhere --no-time --json --replay "$T/rec"
like "$(jq -r 'select(.type == "error") | .message' out | head -n 1)" '0001-tool.json differs at /command' 'with the nearest one'
sed -i 's/b[.]txt/a.txt/' rec/0001-tool.json
elsewhere --no-time --json --replay "$T/rec" 'another prompt'
status_is 65 'another prompt is no recorded request'
like "$(jq -r 'select(.type == "error") | .message' out)" 'content' 'and the difference is named'

# What is no recording.
mkdir empty
elsewhere --replay "$T/empty"
status_is 66 'an empty directory'
elsewhere --replay "$T/nowhere"
status_is 66 'no directory'
for bad in link fifo cut text; do
	rm -rf odd
	cp -r rec odd
	case $bad in
	link) ln -sf /etc/passwd odd/0001-tool.json ;;
	fifo) rm odd/0001-tool.json; mkfifo odd/0001-tool.json ;;
	cut) head -c 100 rec/0001-tool.json >odd/0001-tool.json ;;
	text) echo hello >odd/0001-conversation.ndjson ;;
	esac
	elsewhere --json --replay "$T/odd"
	like "$status" '^(65|66|74)$' "a recording with a $bad file is refused"
	unlike "$(cat out err)" 'root:' 'and shows nothing of others'
done
run claws --record r2 --replay rec hi
status_is 2 'both at once'
run claws --live-tools hi
status_is 2 '--live-tools alone'
run claws --replay rec -c
status_is 2 'not with -c'

# Denied, interrupted and timed-out calls come back as they were; so does a conversation that went before.
fake_llm --log log
echo one >a.txt
run claws --no-time --json --record den -p 'call:Bash:{"command":"touch x"}'
cp out first
is "$status $(jq -r 'select(.type == "tool_end") | .status' out)" '3 denied' 'a call that is denied'
kill "$server"
elsewhere --no-time --json --replay "$T/den"
placeless first >want
placeless out >got
is "$status" 3 'is denied again, with the status of that'
ok 'and the same bytes' cmp got want
fake_llm --log log
run claws --no-time -q --session-id before -p 'say:first'
run claws --no-time --json -r before --record more -p 'tools:3'
status_is 0 'a run that goes on with a session'
cp out first
kill "$server"
elsewhere --no-time --json --replay "$T/more"
status_is 0 'runs again without that session'
is "$(jq -c 'select(.role == "assistant") | .content' out)" "$(jq -c 'select(.role == "assistant") | .content' first)" 'and says the same'
is "$(jq -r 'select(.role == "user") | .content' far/home/.local/state/claws/sessions/*.ndjson | head -n 1)" 'say:first' 'with what was said before'

# No secret is kept, not even what a tool reads.
fake_llm --log log
printf 'KEY=test-key-long-enough\n' >.env.sample
ANTHROPIC_API_KEY=test-key-long-enough OTHER_API_KEY=other-secret-42 \
	run claws --no-time --json --record sec --permission-mode accept-all -p 'call:Bash:{"command":"cat .env.sample; echo other-secret-42"}'
status_is 0 'a tool reads a key'
is "$(grep -rlE 'test-key-long|other-secret-42' sec)" '' 'that is in no file of the recording'
like "$(cat sec/0001-tool.json)" 'KEY=[*]{3}' 'but stars'

# A provider of one's own, whose row is not there any more.
mkdir -p .config/claws
printf '[{"name":"mine","wire":"anthropic","base_url":"%s","key_env":["ANTHROPIC_API_KEY"],"default_max_tokens":777}]\n' "$ANTHROPIC_BASE_URL" >.config/claws/providers.json
run claws --no-time --json --record own -m mine/m -p tools:2
cp out first
status_is 0 'a provider of a row of mine'
elsewhere --no-time --json --replay "$T/own"
status_is 0 'runs again without the row'
placeless first >want
placeless out >got
ok 'with the same bytes' cmp got want

# An image of the prompt.
/usr/bin/python3 - >p.png <<'PY'
import struct, sys, zlib
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
sys.stdout.buffer.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
                        chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))
PY
run claws --no-time --json --record img -i p.png -p hello
status_is 0 'a run with an image'
ok 'the image is kept' test -n "$(ls img/blobs)"
elsewhere --no-time --json --replay "$T/img"
status_is 0 'runs again without it'

# A disk that is full, a directory that cannot be written.
if [ "$(id -u)" -ne 0 ]; then
	mkdir -m 500 ro
	run claws --record ro/x -p hello
	status_is 74 'a directory that cannot be written'
else
	skip 1 'root writes everywhere'
fi
done_testing
