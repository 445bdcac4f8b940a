#!/bin/sh
# make try: the recorded model mends the demo project, with real tools behind the real gate.
. "${0%/*}/lib.sh"
for tool in make cc; do command -v $tool >/dev/null || skip_all "$tool is not installed"; done
try=$BUILD/share/claws/try
cp -R "$try/project" before
run make -s -C before test
status_is 2 'the project has a fault'
like "$(cat out)" 'FAIL a small refund' 'the fault is the one that the recording mends'

run env TMPDIR="$T" "$try/run"
status_is 0 'try ends well'
like "$(cat out)" 'the model is a recording' 'it says which model plays'
like "$(cat out)" '^\+.*strchr\(s, .-.\) \?' 'it shows what was changed'
like "$(cat out)" '^-> Bash .*make test' 'it shows what was called'
like "$(cat out)" "^[$] claws --session-id try -p .*mend it" 'with the command line that was run'
like "$(cat out)" "^[$] claws session show try [|] grep" 'and the one that shows it, session and all'
like "$(tail -n 4 out)" 'all passed' 'the test passes afterwards'
like "$(cat out)" 'The fault was in .src/money\.c' 'the answer is shown'
is "$(find . -maxdepth 1 -name 'claws-try.*')" '' 'nothing is left behind'
is "$(cd "$try/project" && find . -newer "$T/before/Makefile" -type f)" '' 'the project itself is untouched'

# The gate is real: without the permission the same recording is refused.
mkdir refused && cp -R "$try/project" refused/ledger && cd refused/ledger || exit 1
CLAWS_TRY_MODEL=$try/model
# shellcheck disable=SC2089,SC2016
CLAWS_STAGE_STREAM='claws-stream --replay "$CLAWS_TRY_MODEL" --match order'
# shellcheck disable=SC2090
export CLAWS_TRY_MODEL CLAWS_STAGE_STREAM
run env CLAWS_MODEL=anthropic/recorded claws -p --permission-mode accept-edits 'Mend it.' </dev/null
status_is 3 'without --allowed-tools the call of make is denied'
ok 'and was not run' test ! -e ledger
done_testing
