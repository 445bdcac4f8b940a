#!/bin/sh
# claws-stream --record and --replay: what is kept, what is answered, what a miss says.
. "${0%/*}/lib.sh"
lines() { [ "$(grep -c "$1" out)" -eq "$2" ]; } # WORD NUMBER: so many lines of out have the word
fake_llm --log log
mkdir work && cd work || exit 1
printf '{"role":"system","content":"You are in %s on %s."}\n' "$PWD" "$(date +%F)" >c1
echo '{"role":"user","content":"tools:1:/x"}' >>c1
cp c1 c2
cat >>c2 <<'END'
{"role":"assistant","content":"","tool_calls":[{"id":"toolu_fake_1_1","name":"Read","input":{"file_path":"/x"}}]}
{"role":"tool","tool_call_id":"toolu_fake_1_1","content":"file"}
END
for m in anthropic/fake openai/fake; do
	rm -rf ../rec
	claws-stream -m $m --no-time --record ../rec <c1 >live1
	claws-stream -m $m --no-time --record ../rec <c2 >live2
	is "$(cd ../rec && echo *)" "0001-conversation.ndjson 0001-request.json 0001-response 0002-conversation.ndjson 0002-request.json 0002-response" "$m: two files a call, and the conversation"
	is "$(stat -c %a ../rec ../rec/* | sort -u | tr '\n' ' ')" "600 700 " "they are private"
	before=$(wc -l <../log)
	for k in 1 2; do
		env -u ANTHROPIC_API_KEY -u OPENAI_API_KEY claws-stream -m $m --no-time --replay ../rec <c$k >again
		ok "$m: call $k is answered byte for byte, without a key" cmp again live$k
		claws-stream -m $m --no-time --replay ../rec --match order <c$k >again
		ok "$m: and by its place" cmp again live$k
	done
	is "$(wc -l <../log)" "$before" "$m: and nothing is sent"
done
like "$(head -n 1 ../rec/0001-response)" '^HTTP 200$' "the answer's head"
unlike "$(cat ../rec/*)" 'test-key|authorization' "no key and no header"
like "$(cat ../rec/0001-request.json)" '"You are in \{cwd\} on \{date\}\."' "places and dates are placeholders"
is "$(jq -cS . ../rec/0001-request.json)" "$(cat ../rec/0001-request.json)" "the request is canonical JSON"

# another place, another day
mkdir ../elsewhere && cd ../elsewhere || exit 1
printf '{"role":"system","content":"You are in %s on 2031-01-02."}\n{"role":"user","content":"tools:1:/x"}\n' "$PWD" >c1
claws-stream -m openai/fake --no-time --replay ../rec <c1 | tail -n +2 >again
tail -n +2 ../work/live1 >want
ok "the same call elsewhere, another day" cmp again want
cd ../work || exit 1

# a request written by hand: any order, any white space
jq -c . ../rec/0001-request.json | jq '{wire,path,body:(.body|to_entries|reverse|from_entries)}' >../rec/new &&
	mv ../rec/new ../rec/0001-request.json
claws-stream -m openai/fake --no-time --replay ../rec <c1 >again
ok "a request file in another order is the same request" cmp again live1

# a miss
sed 's/Be brief/x/; s,tools:1:/x,tools:1:/y,' c1 >c3
run claws-stream -m openai/fake --replay ../rec <c3
status_is 65 "a miss"
like "$(cat err)" 'nearest is 0001, first difference at /body/messages/1/content: recorded "tools:1:/x", asked "tools:1:/y"' \
	"names the first difference against the nearest recording"
is "$(jq -r 'select(.type=="error").class' out) $(tail -n 1 out | jq -r .stop_reason)" "input error" "and is an error event"
like "$(jq -r 'select(.type=="error").message' out)" '/body/messages/1/content' "with the same words"
run claws-stream -m openai/fake --max-tokens 5 --replay ../rec <c1
like "$(cat err)" 'at /body/max_completion_tokens: recorded nothing, asked 5' "a member too many"
{ cat c2; echo '{"role":"user","content":"more"}'; } >c4
run claws-stream -m openai/fake --replay ../rec <c4
like "$(cat err)" 'nearest is 0002, first difference at /body/messages/4: recorded nothing' "a message too many"
run claws-stream -m openai/fake --replay ../rec --match order <c4
is "$status" 0 "--match order does not look at requests"
rm ../rec/0002-*
run claws-stream -m openai/fake --replay ../rec --match order <c2
status_is 65 "no recording at that place"
run claws-stream -m openai/fake --replay ../nowhere <c1
status_is 66 "no such directory"
mkdir ../empty
run claws-stream -m openai/fake --replay ../empty <c1
status_is 66 "an empty one"

# in a ring: repeats are counted, places count up
mkdir ../hand
for k in 1 2 3; do
	printf 'HTTP 200\r\nContent-Type: text/event-stream\r\n\r\ndata: {"choices":[{"index":0,"delta":{"content":"answer %s"}}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' $k >../hand/000$k-response
done
ring() { # claws-stream options; three turns of the same conversation
	rm -f in && mkfifo in
	CLAWS_RING=1 claws-stream -m custom/m --base-url http://127.0.0.1:1 --no-time "$@" <in >out 2>err &
	pid=$!
	exec 7>in
	echo '{"role":"user","content":"hello"}' >&7
	for k in 1 2 3; do
		echo '{"type":"turn"}' >&7
		wait_for lines turn_done "$k"
	done
	exec 7>&-
	wait "$pid"; status=$?
}
ring --replay ../hand --match order
is "$(jq -r 'select(.role).content' out | tr '\n' ' ')" "answer 1 answer 2 answer 3 " "recordings by hand, by place, in a ring"
run claws-stream -m custom/m --replay ../hand <c1
status_is 65 "by request they cannot be found"
like "$(cat err)" '--match order' "and it says how they can"
claws-stream -m custom/m --base-url http://127.0.0.1:1 --replay ../hand --match order --no-time \
	<<'END' | jq -r 'select(.role).content' >out
{"role":"user","content":"a"}
{"role":"assistant","content":"b"}
{"role":"user","content":"c"}
END
is "$(cat out)" "answer 2" "the place is the number of assistant messages, and one"
for k in 1 2; do echo '{"path":"/chat/completions","wire":"openai-chat","body":
 {"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}}' >../hand/000$k-request.json; done
ring --replay ../hand
is "$(jq -r 'select(.role).content' out | tr '\n' ' ')" "answer 1 answer 2 answer 2 " "repeats are counted; the last one stays"
is "$status" 0 "a ring ends with 0"

# failures are kept as they are
cd .. || exit 1
echo '{"role":"user","content":"hello"}' >c
fake_llm --fault status:503
run claws-stream --no-time --retries 1 --record bad <c
tail -n 2 out >want
run claws-stream --no-time --replay bad <c
is "$status" 69 "an error is replayed"
ok "with the same words, and without waiting" cmp out want
is "$(cd bad && echo *)" "0001-conversation.ndjson 0001-request.json 0001-response" "retries are not kept"
fake_llm --fault rst:900
echo '{"role":"user","content":"long:50:20"}' >c
run claws-stream --no-time --record cut <c
cp out want
run claws-stream --no-time --replay cut <c
is "$status $(cmp out want)" "76 " "a lost connection, too"
run claws-stream --record cut --replay cut <c
status_is 2 "not both at once"
mkdir rof
printf 'HTML 200\n\nx' >rof/0001-response
run claws-stream --replay rof --match order <c
status_is 65 "a recording that is none"
printf 'HTTP 200\nx: y\n' >rof/0001-response
run claws-stream --replay rof --match order <c
like "$(cat err)" 'rof/0001-response.*empty line' "names the file and what is wrong"
done_testing
