#!/bin/sh
# claws session diff: where two runs part.
. "${0%/*}/lib.sh"
line() { printf '%s\n' "$1"; }
{
	line '{"type":"session","v":1,"id":"a"}'
	line '{"role":"user","content":"hello","id":"u1","ts":1}'
	line '{"type":"text_chunk","text":"x"}'
	line '{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"Read","input":{"file_path":"a","limit":1}}],"usage":{"input":1},"id":"a1"}'
	line '{"role":"tool","tool_call_id":"c1","name":"Read","content":"one","is_error":false,"id":"t1"}'
	line '{"role":"assistant","content":"done","id":"a2"}'
} >a.ndjson
sed 's/"id":"[uat][0-9]"/"id":"other"/; s/"c1"/"call_9"/; s/"ts":1/"ts":2/; s/"input":1}/"input":99}/; /text_chunk/d' a.ndjson >b.ndjson
run claws session diff ./a.ndjson ./b.ndjson
is "$status $(cat out)" '0 ' 'ids, times, usage and events do not count'
sed 's/"limit":1/"limit":2/; s/"one"/"two"/' b.ndjson >c.ndjson
run claws session diff ./a.ndjson ./c.ndjson
is "$status $(cat out)" '1 message 2 (assistant): /tool_calls/0/input/limit
< 1
> 2' 'the first difference'
run claws session diff --every ./a.ndjson ./c.ndjson
is "$(grep -c '^message' out)" 2 '--every shows both'
run claws session diff --every --json ./a.ndjson ./c.ndjson
is "$status $(cat out)" '1 {"message":2,"pointer":"/tool_calls/0/input/limit","a":1,"b":2}
{"message":3,"pointer":"/content","a":"one","b":"two"}' '--json'
run claws session diff -q ./a.ndjson ./c.ndjson
is "$status $(cat out)" '1 ' '-q'
head -n 5 a.ndjson >d.ndjson
run claws session diff ./a.ndjson ./d.ndjson
like "$status $(cat out)" '^1 message 4 \(assistant\)' 'one that ends earlier'
like "$(tail -n 1 out)" '^> nothing$' 'has nothing there'
run claws session diff ./a.ndjson - <b.ndjson
is "$status" 0 'standard input'
run claws session diff - - </dev/null
status_is 2 'but not twice'
run claws session diff ./a.ndjson
status_is 2 'one is too few'
run claws session diff ./a.ndjson ./none.ndjson
status_is 66 'one that is not there'
printf '{"role":"user","content":"\\u001b]0;owned\\u0007"}\n' >e.ndjson
run claws session diff ./a.ndjson ./e.ndjson
unlike "$(cat out)" "$(printf '[\033\007]')" 'no control character reaches the terminal'
# By id, of real runs.
fake_llm
claws --session-id one -q -p tools:1 >/dev/null
claws --session-id two -q -p tools:1 >/dev/null
run claws session diff one two
status_is 0 'two equal runs'
claws --session-id three -q -p tools:2 >/dev/null
run claws session diff one three
status_is 1 'two others'
done_testing
