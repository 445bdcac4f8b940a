#!/bin/sh
# budgets of claws-stream: before each call, over processes, and what is written down.
# shellcheck disable=SC1091,SC2016,SC2154 # set in lib.sh
. "${0%/*}/lib.sh"
day() { cat "$HOME"/.local/state/claws/quota/2*.ndjson; }
echo '{"type":"message","role":"user","content":"hello"}' >hello
i=0
while [ $i -lt 90 ]; do
	echo '{"text":"hi","usage":{"input":600,"output":400,"cache_read":0,"cache_write":0}}'
	i=$((i + 1))
done >script
fake_llm --script script --log log
calls() { grep -c '"method":"POST"' log; }
call() { run claws-stream --no-time --max-tokens 400 "$@" <hello; }

call
status_is 0 "a call without a budget"
is "$(day | jq -c '[.tokens,.model]')" '[1000,"anthropic/fake"]' "is written down for the day"
call --budget-day 1000
status_is 4 "a budget of the day that another process has used: 4"
is "$(calls)" 1 "and no call is made"
is "$(jq -r 'select(.type=="error")|.class+" "+.code' out)" "budget day_tokens" "the error says which"
is "$(jq -r 'select(.type=="turn_done").stop_reason' out)" error "the turn ends"
CLAWS_BUDGET_DAY=1k call
status_is 4 "CLAWS_BUDGET_DAY"
CLAWS_BUDGET_DAY=1k call --budget-day 90k
status_is 4 "an option does not raise it"
call --budget 0
status_is 2 "a budget of nothing is wrong usage"
call --budget '$5'
status_is 78 "dollars, and a price that nobody knows"
like "$(cat err)" 'token' "says what to do"
call --budget-day 2600
status_is 0 "another call"
is "$(jq -r 'select(.type=="notice").text // empty' out)" "" "no warning at 77 %"
call --budget-day 3600
is "$(jq -c 'select(.type=="notice")' out | grep -c '80 %')" 1 "a warning at 83 %"

# a session's account, over processes
export CLAWS_SESSION="$T/s.ndjson"
call --budget 2500
status_is 0 "the session's first call"
call --budget 2500
status_is 0 "the second"
call --budget 2001
status_is 4 "a third would go over it"
like "$(cat err)" 'session.s budget' "and is told whose budget it is"
unset CLAWS_SESSION

# ten of thirty at once: 810 tokens each, and the last has room for its answer only when nobody else holds any
jq -c '.usage.input=10|.usage.output=800' script >script2
kill "$server"
fake_llm --script script2 --log log
before=$(calls) pids=
export CLAWS_QUOTA="$T/parent.ndjson"
i=0
while [ $i -lt 30 ]; do
	claws-stream --no-time --retries 0 --max-tokens 800 --budget 8101 <hello >"many.$i" 2>&1 & pids="$pids $!"
	i=$((i + 1))
done
# shellcheck disable=SC2086 # a list
for p in $pids; do wait "$p"; done
is $(($(calls) - before)) 10 "a budget for ten calls lets ten of thirty pass"
is "$(jq -s 'map(.tokens)|add' "$CLAWS_QUOTA")" 8100 "which is what is spent"

mkdir ro; chmod 500 ro
if [ "$(id -u)" = 0 ]; then
	export CLAWS_QUOTA=/proc/none/x.ndjson
else
	export CLAWS_QUOTA="$T/ro/x.ndjson"
fi
call --budget 5000
status_is 74 "a budget whose account cannot be written: no call"
done_testing
