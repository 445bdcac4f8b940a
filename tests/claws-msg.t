#!/bin/sh
# claws-msg: prompts, checks, comparison, schema, and the probes for filters.
. "${0%/*}/lib.sh"

# --- prompt: order, origin, names
printf 'file text\n' >f.txt
echo 'from stdin' | claws-msg prompt --no-time -f f.txt explain it >out
is "$(jq -rc '[.origin,.name,.content,.id]|map(tostring)|join("|")' out)" 'file|f.txt|file text
|u1
stdin|null|from stdin
|u2
user|null|explain it|u3' 'prompt: files, stdin, words, in this order'
ok 'what prompt makes passes check' claws-msg check out
run claws-msg prompt -n hello -x world </dev/null
is "$(jq -r .content out)" 'hello -x world' 'options end at the first word'
like "$(jq -rc '[.id,.ts]|map(tostring)|join(" ")' out)" '^u[0-9a-z]{16} [0-9]{13}$' 'ids are random, times milliseconds'
echo 'only this' | claws-msg prompt >out
is "$(jq -rc '[.origin,.content]|join("|")' out)" 'user|only this' 'stdin without words is the prompt'
echo 'a dash' | claws-msg prompt - >out
is "$(jq -rc '[.origin,.content]|join("|")' out)" 'user|a dash' '- is stdin as the prompt'
printf 'x' | claws-msg prompt -f - go >out
is "$(jq -rc '[.origin,.content]|join("|")' out)" 'stdin|x
user|go' '-f - is stdin as data'
run claws-msg prompt -f f.txt </dev/null
is "$(jq -r .origin out)" file 'a file alone will do'
for in in '/dev/null' '&-'; do
	eval "claws-msg prompt hi <$in" >out 2>err
	is "$?$(jq -r .content out)$(cat err)" 0hi "stdin $in: not read, no word"
	eval "claws-msg prompt <$in" >out 2>err
	is "$?" 66 "stdin $in without words: 66"
	eval "claws-msg prompt - <$in" >out 2>err
	is "$?" 66 "stdin $in as the prompt: 66"
done
like "$(cat err)" '^claws-msg: ' 'with a hint'
run claws-msg prompt '  ' </dev/null
status_is 66 'blank words are no prompt'
: | claws-msg prompt 'hi' >out
is "$(wc -l <out | tr -d ' ')" 1 'an empty stdin makes no message'
run claws-msg prompt -f nofile hi </dev/null
status_is 66 'a missing file: 66'
mkfifo pipe
run claws-msg prompt -f pipe hi </dev/null
is "$((status == 66 || status == 65))" 1 'a FIFO as a file does not block'
printf 'a\0b\377c\355\240\200' >bin
run claws-msg prompt -n -f bin 'x"y'
is "$(head -n 1 out | jq -r .content | od -An -tx1 | tr -d ' \n')" 61efbfbd62efbfbd63efbfbdefbfbdefbfbd0a 'what is not UTF-8 is replaced'
like "$(cat err)" 'bin: not UTF-8' 'and that is said'
ok 'the lines are good' claws-msg check out

# --- prompt: waiting (HL01)
mkfifo slow
sleep 60 >slow & sleeper=$!
run timeout 10 claws-msg prompt -n hi <slow
is "$status$(cat err)" 0 '-n does not read a pipe that stays open'
run timeout 10 claws-msg prompt --stdin-wait 50ms hi <slow
status_is 0 '--stdin-wait bounds the first byte'
is "$(jq -r .content out)" hi 'and the prompt goes on without'
kill "$sleeper" 2>/dev/null; wait "$sleeper" 2>/dev/null
{ echo one; sleep 0.3; echo two; } | claws-msg prompt --stdin-wait 100ms hi >out
is "$(head -n 1 out | jq -r .content)" 'one
two' 'once there is a byte all is read'
{ sleep 3.3; echo late; } | claws-msg prompt hi >out 2>err
is "$(grep -c -e -n err)$(wc -l <err | tr -d ' ')" 11 '3 s of silence: one notice that names -n'
is "$(head -n 1 out | jq -r .content)" late 'and nothing is lost'
if command -v python3 >/dev/null 2>&1; then
	python3 - >out 2>err <<'EOT'
import socket, subprocess
a, b = socket.socketpair()
p = subprocess.Popen(["claws-msg", "prompt", "hi"], stdin=b)
p.wait(timeout=5)
a.send(b"spoken"); a.shutdown(socket.SHUT_WR)
subprocess.run(["claws-msg", "prompt", "hi"], stdin=b, timeout=5)
EOT
	is "$(jq -r .content out | tr '\n' ' ')$(cat err)" 'hi spoken hi ' 'a socket is read if it speaks within a second'
else
	skip 1 'no python3 for a socket'
fi

# --- images (RQ10)
png='\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001\010\0\0\0\0\072\176\233\125\0\0\0\012IDATx\234c`\0\0\0\002\0\001\110\257\244\161\0\0\0\0IEND\256B`\202'
printf "$png" >ok.txt
printf "$png" | head -c 50 >cut.png
echo 'just text' >text.png
printf '\377\330\377\340\0\020JFIF\0aaaa\377\331' >j; printf '\377\330\377\340\0\020JFIF\0aaaa' >jcut
printf 'GIF89a\001\0\001\0\0\0\0,\0\0\0\0\001\0\001\0\0\002\001\0\0;' >g
printf 'RIFF\014\0\0\0WEBPVP8 \0\0\0\0' >w; printf 'RIFF\377\0\0\0WEBPVP8 \0\0\0\0' >wcut
run claws-msg prompt -n --session log -i ok.txt -i j -i g -i w look
is "$(jq -rc '.images|map(.media_type)|join(" ")' out)" 'image/png image/jpeg image/gif image/webp' 'the first bytes tell what an image is'
for b in $(jq -r '.images[].blob' out); do
	is "$(sha256sum <"log.d/blobs/sha256-${b#sha256:}" | cut -d ' ' -f 1)" "${b#sha256:}" "$b lies beside the log"
done
run claws-msg prompt -n --session log -i cut.png -i text.png -i jcut -i wcut look
is "$(jq -c .images out)" null 'images that are none are not sent'
is "$(jq -r .content out | grep -c 'could not be used')" 4 'the message says so'
is "$(wc -l <err | tr -d ' ')" 4 'stderr too'
{ cat g; head -c 6000000 /dev/zero; printf ';'; } >huge; run claws-msg prompt -n --session log -i huge look
like "$(jq -r .content out)" 'larger than 5 MB' 'a huge one neither'
printf 'GIF89a\101\037\002\0\0\0\0,\0;' >wide; run claws-msg prompt -n --session log -i wide look
like "$(jq -r .content out)" 'image wide could not be used: more than 8000 pixels' 'nor one of 8001 pixels'
run claws-msg prompt -n -i ok.txt look
status_is 2 'an image needs --session'
printf '%%PDF-1.4\n<</Type/Page>>\n%%%%EOF\n' >a.pdf; head -c 20 a.pdf >cut.pdf
run claws-msg prompt -n --session log -f a.pdf -i ok.txt sum up
is "$(jq -c '[.content,.images[].media_type,.images[].name]' out)" '["sum up","application/pdf","image/png","a.pdf","ok.txt"]' '-f PDF: a document of the message, with its name'
is "$(cat "log.d/blobs/sha256-$(jq -r '.images[0].blob' out | cut -d : -f 2)")" "$(cat a.pdf)" 'it lies beside the log'
run claws-msg prompt -n --session log -f cut.pdf look
is "$(jq -c '[.images,.content]' out)" '[null,"look\n\n[document cut.pdf could not be used: the document is cut off]"]' 'one that is cut off is not sent'
run claws-msg prompt -n -f a.pdf look
status_is 2 'a document needs --session too'
head -c 17000000 /dev/zero | tr '\0' a >long; run claws-msg prompt -n -f long look
status_is 65 'a text of 17 MB is refused'
run claws-msg prompt -n -f ok.txt look
status_is 65 'an image is no text file'
like "$(cat err)" 'with -i' 'with a hint'
printf '%s\n' '{"role":"user","content":"x","id":"u7"}' '{"role":"assistant","content":"x","id":"a9"}' >log
run claws-msg prompt -n --no-time --session log x
is "$(jq -r .id out)" u8 '--no-time: ids go on where the log stands'

# --- check
cat >good <<'EOT'
{"type":"run_start","v":1,"run":"r","session":"s"}
{"role":"user","content":"q","x":1}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"A","input":{}}],"stop_reason":"tool_use"}
{"role":"tool","tool_call_id":"c1","content":"ok"}
{"type":"turn_done","stop_reason":"tool_use"}
{"type":"anything","y":[]}
{"role":"assistant","content":"a","stop_reason":"end_turn"}
{"type":"turn_done","stop_reason":"end_turn"}
{"type":"run_done","run":"r","exit":0}
EOT
run claws-msg check --strict good
is "$status$(cat out err)" 0 'check: a good run'
while IFS='|' read -r line want; do
	printf '{"type":"x"}\n%s\n' "$line" >one
	run claws-msg check one
	like "$status $(cat err)" "^65 claws-msg: line 2: .*$want" "check: $want"
done <<'EOT'
{"role":"user"}|content: missing
{"role":"user","content":1}|content: expected string
{"role":"nobody","content":""}|role
{"a":1}|neither role nor type
[1]|not an object
{"type":"x"|ends
{"type":"x","type":"y"}|twice
{"role":"assistant","content":"","tool_calls":[{"name":"x"}]}|id
{"type":"turn_done","stop_reason":"why"}|stop_reason
{"type":"x","s":"\ud800"}|surrogate
EOT
printf '{"type":"x"}' >one; run claws-msg check one
status_is 65 'check: no line end'
run claws-msg check good nofile
status_is 66 'check: a missing file'
strict() { # NAME SED-SCRIPT WANT
	sed "$2" good >one
	run claws-msg check --strict one
	like "$status $(cat err)" "^65 .*$3" "check --strict: $1"
	ok "check alone: $1 is fine" claws-msg check one
}
strict 'two turn_done' '5{p;}' 'turn_done: a second one'
strict 'lines after run_done' '$a{"type":"notice","text":"x"}' 'after run_done'
strict 'a tool message for nobody' '4s/c1/c2/' 'answers no open call'
strict 'a result twice' '4{p;}' 'answers no open call'
strict 'a call without result' '4d' 'no tool message'
strict 'no run_done' '$d' 'no run_done'

# --- norm
sed 's/"c1"/"toolu_91"/; s/"run":"r"/"run":"other"/; s/"x":1/"x":1,"id":"u77","ts":5/' good >other
claws-msg norm good >n1; claws-msg norm other >n2
ok 'norm: two runs that differ in ids only are equal' cmp n1 n2
is "$(grep -c call-1 n1)" 2 'norm: calls keep their relation'
is "$(sed -n 2p n1)" '{"role":"user","content":"q","x":1}' 'norm: the rest stays'
echo '{"z":1,"type":"x","n":12345678901234567890}' | claws-msg norm >out
is "$(cat out)" '{"z":1,"type":"x","n":12345678901234567890}' 'norm: order and numbers stay'

# --- check-stage
run claws-msg check-stage cat
is "$status$(grep -c '^not ok' out)" 00 'check-stage: cat keeps the rules'
run claws-msg check-stage --timeout 200ms sh -c 'd=$(cat); printf "%s\n" "$d"'
is "$status" 1 'check-stage: what reads to the end first'
like "$(cat out)" '^not ok: .*holds it back' 'is told to hold lines back'
run claws-msg check-stage --timeout 200ms jq --unbuffered -c .
like "$(cat out)" '^not ok: .*long numbers.*changes it' 'check-stage: jq changes numbers'
run claws-msg check-stage --timeout 200ms sed -u '/"notice"/d'
like "$(cat out)" '^not ok: passes on unknown keys of a known event: drops it' 'check-stage: a line that is dropped'
run claws-msg check-stage --timeout 200ms sh -c 'cat; kill -9 $$'
like "$(cat out)" '^not ok: ends at end of file: ended by SIGKILL' 'check-stage: a filter that dies'
run claws-msg check-stage --timeout 200ms sh -c 'head -n 1; exit 0'
is "$status" 1 'check-stage: a filter that ends early'
run claws-msg check-stage ./no-such-filter
status_is 66 'check-stage: no such filter'

# --- schema and table
ok 'schema is JSON' sh -c 'claws-msg schema | jq -e ".oneOf|length > 20"'
claws-msg table >table
sed -n '/^\.Ss Messages$/,/^\.Sh FILES$/p' "$top/man/claws-messages.5" | sed '$d' >page
ok 'claws-messages(5) has the tables of msg.def' cmp table page
if command -v python3 >/dev/null 2>&1 && python3 -c 'import jsonschema' 2>/dev/null; then
	claws-msg schema >schema
	ok 'the schema accepts a good run' python3 -c 'import json,jsonschema
s=json.load(open("schema"))
for l in open("good"): jsonschema.validate(json.loads(l), s)'
	nok 'and refuses a bad line' python3 -c 'import json,jsonschema
jsonschema.validate({"role":"user"}, json.load(open("schema")))'
else
	skip 2 'no python3 with jsonschema'
fi
run claws-msg
status_is 2 'no verb: 2'
run claws-msg bogus
status_is 2 'unknown verb: 2'
run claws-msg schema x
status_is 2 'too many operands: 2'
done_testing
