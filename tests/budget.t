#!/bin/sh
# Budgets of whole runs, the spend that is shown, and budgets that always hold.
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
fake_llm --log log
echo hello >README.md
run claws --no-time --json --budget 12k -p tools:20
status_is 4 'a run of many calls stops within its budget'
is "$(jq -r 'select(.type == "error") | "\(.class) \(.code)"' out)" 'budget session_tokens' 'the error says which'
is "$(jq -c 'select(.type == "run_done") | .exit' out)" 4 'and so does run_done'
ok 'some calls were made' test "$(jq -c 'select(.type == "turn_done") | .usage.input // empty' out | wc -l)" -ge 2
ok 'the log is sound' sound
is "$(jq -s '[.[] | select(.role == "assistant") | .usage | .input + .output + .cache_read + .cache_write] | add < 12000' out)" true 'no more than the budget was spent'
ok 'a warning came' grep -q '"notice".*of the session.s budget are used' out
run claws -q -p hello
status_is 0 'without a budget it goes on'
run claws quota
like "$(cat out)" '^anthropic/fake  *[0-9]' 'claws quota: by model'
run claws quota --json
is "$(tail -n 1 out | jq -r .calls)" "$(cat .local/state/claws/quota/2*.ndjson | wc -l)" 'all calls of the day'
run claws-quota list --json
is "$(jq -r '.day' out)" "$(date -u +%F)" 'claws quota list'
run claws quota show x
status_is 2 'no operand'
run claws quota frob
status_is 2 'no such verb'

# Standing budgets.
run claws quota set day 1m '$5'
status_is 0 'a standing budget'
is "$(tail -n 1 .config/claws/quota)" 'day 1000000 $5.00' 'is a line of text'
is "$(stat -c %a .config/claws/quota)" 600 'that is private'
run claws -p hello
status_is 78 'money, and no price'
like "$(cat err)" 'price of anthropic/fake is not known' 'is said'
claws quota set day 100
run claws quota check
is "$status $(cat out | grep -c reached)" '4 1' 'claws quota check'
run claws -p hello
status_is 4 'a day that is over its budget'
echo 'week 5' >.config/claws/quota
run claws -p hello
status_is 78 'a line that is none'
like "$(cat err)" "quota:1: 'week' is neither" 'is named with its place'
rm .config/claws/quota
run claws quota set day none
run claws quota set week '$5'
status_is 2 'no such scope'
run claws quota set day 0
status_is 2 'nothing is no budget'

# Prices of one's own: to the cent.
mkdir -p .config/claws
echo '{"fake": {"price": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}}' >.config/claws/models.json
echo '{"text":"hi","usage":{"input_tokens":3,"output_tokens":1,"cache_creation_input_tokens":10000,"cache_read_input_tokens":50000}}' >script
kill "$server"
echo '{"text":"hi","usage":{"input":3,"output":1,"cache_write":10000,"cache_read":50000}}' >script
fake_llm --script script --log log
rm -rf .local
run claws --json --budget '$1' -p hello
status_is 0 'a budget in money, with a price'
cost=$(jq -r 'select(.type == "turn_done") | .usage.cost_usd' out)
is "$(jq -n "$cost * 1000000 | round")" "$(jq -n '3 * 3 + 15 + 50000 * 0.3 + 10000 * 3.75 | round')" 'CS01: cache reads and writes are in the cost'
is "$(jq -s '.[0].nanousd / 1000 | round' .local/state/claws/quota/2*.ndjson)" 52524 'and in the account'

# What a tool starts spends from the same account: a claws of a provider that needs no key.
kill "$server"
fake_llm --log log
printf '[{"name":"near","wire":"anthropic","base_url":"%s","key":"optional"}]\n' "$ANTHROPIC_BASE_URL" >.config/claws/providers.json
rm -rf .local
run claws --no-time --json --permission-mode accept-all --budget 8k -p 'call:Bash:{"command":"claws -q -m near/fake -p tools:20; echo inner $?"}'
like "$(jq -r 'select(.role == "tool") | .content' out)" 'inner 4' 'a claws in a tool stays in the budget of its parent'
status_is 4 'which is used up then'
total=$(cat .local/state/claws/quota/session-*.ndjson | jq -s 'map(.tokens) | add')
ok "both are in one account ($total)" test "$total" -le 8000
run claws --no-time --json --permission-mode accept-all --budget 20k -p 'call:Bash:{"command":"claws -q -m near/fake --budget 900k -p tools:20; echo inner $?"}'
like "$(jq -r 'select(.role == "tool") | .content' out)" 'inner 4' 'a larger one of its own does not raise it'
done_testing
