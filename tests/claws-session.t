#!/bin/sh
# claws-session: finding, listing, showing, and what others put in. What append does in a ring is in the ring's tests.
# Faults SE10, SE12, SE13, HL07.
. "${0%/*}/lib.sh"
STATE=$T/.local/state/claws/sessions
mkdir w && cd w || exit 1
fake_llm
say() { _id=$1; shift; claws -p --session-id "$_id" -- "$*" </dev/null >/dev/null 2>&1; }
ids() { claws session list "$@" | cut -d' ' -f1 | tr '\n' ' '; }

# --- list
run claws session list
is "$status/$(cat out)" "0/" "no sessions: an empty list"
say one say:first
say two say:second
is "$(ids)" "two one " "the last changed first"
say one say:again
is "$(ids)" "one two " "also when an older one goes on"
like "$(claws session list | head -n 1)" '^one  [0-9-]+ [0-9:]+  say:first$' "id, time, title"
CLAWS_STARTER=cron:x claws -p --session-id timer hello </dev/null >/dev/null
is "$(ids)" "one two " "what a timer began is not among them"
is "$(ids --all)" "timer one two " "but with --all"
is "$(claws session list --all --json | jq -r '.id+" "+.starter' | tr '\n' ,)" "timer cron:x,one user,two user," "--json"
is "$(claws session list --json | jq -r '.cwd' | sort -u)" "$PWD" "with the directory"
mkdir sub
is "$(cd sub && ids)" "" "another directory has none of them"
like "$(cd sub && claws session list --all)" "$PWD  say:first" "--all names their directory"
fake_llm --fault status:403
claws -p --session-id bad hello </dev/null >/dev/null 2>&1
like "$(claws session list | head -n 1)" '^bad .*error 77: ' "how a run failed"
is "$(claws session list --json | head -n 1 | jq -c '[.exit,(.error|length>0)]')" '[77,true]' "with the provider's words"
fake_llm
rm -r "$STATE"/bad.ndjson*

# --- the directory moves, or goes
mv "$T/w" "$T/v" && cd "$T/v" || exit 1
is "$(ids)" "one two " "a renamed directory has its sessions"
is "$(claws -c -p say:moved </dev/null)" moved "-c goes on there"
cd / || exit 1
is "$(claws -r two -p say:root </dev/null)" root "by id from anywhere"
rm -r "$T/v" && mkdir "$T/u" && cd "$T/u" || exit 1
is "$(claws -r two -p say:gone </dev/null)" gone "also when its directory is gone"
is "$(ids)" "" "a new directory with, perhaps, the old number has none"
is "$(XDG_STATE_HOME=$T/s claws -p --session-id other say:x </dev/null; XDG_STATE_HOME=$T/s claws -p -r other say:y </dev/null)" "x
y" "another place: written and found by the same rule"
nok "and only there" claws session show other

# --- names
for name in one on say:first "$STATE/one.ndjson"; do
	is "$(claws session cat "$name" | head -n 1 | jq -r .content)" say:first "cat $name"
done
say onf x
run claws session cat on
is "$status/$(grep -c 'one.*onf\|onf.*one' err)" "66/1" "a prefix of two: 66, both are named"
is "$(claws session cat one | head -n 1 | jq -r .content)" say:first "an exact id is no prefix"
for name in nothing "$STATE/nothing.ndjson" ../one '' . '*'; do
	run claws session cat "$name"
	like "$status" '^(66|2)$' "cat '$name': there is none"
	is "$(cat out)" "" "and nothing is printed"
done
is "$(CLAWS_SESSION=one claws session cat | head -n 1 | jq -r .content)" say:first "CLAWS_SESSION names it too"
run claws session cat
status_is 2 "no session named: 2"
for a in '' nothing 'list x' '--nothing' 'list --sync=sometimes' 'open x' 'open --last --ephemeral'; do
	# shellcheck disable=SC2086
	run claws session $a
	is "$status/$(wc -l <err | tr -d ' ')" "2/2" "wrong usage: '$a'"
done

# --- cat, show
claws session cat one >out
ok "cat: legal lines" claws-msg check out
is "$(jq -r .role out | sort | uniq -c | tr -s ' \n' ' ')" " 3 assistant 3 user " "no system prompts"
claws session cat one | cmp -s - out && pass "the same each time" || fail "the same each time"
printf '{"type":"session","version":1,"id":"odd","cwd":"/"}\n{"role":"user","content":"a\\u001b[31mred"}\nnot json\n{"role":"assistant","content":"ok","tool_calls":[{"id":"c","name":"Read","input":{"a":1}}],"x":1}\n{"role":"tool","tool_call_id":"c","content":"%s"}\n{"role":"us' \
	"$(head -c 5000 /dev/zero | tr '\0' y)" >odd.ndjson
run claws session show ./odd.ndjson
status_is 0 "show: a damaged log"
is "$(grep -c "$(printf '\033')" out)" 0 "no escape sequence"
like "$(cat out)" '^-> Read ' "calls"
like "$(cat out)" 'more bytes|bytes more' "a long result is cut, and it says so"
like "$(cat err)" 'line 3' "what cannot be read is named"
claws session cat ./odd.ndjson 2>/dev/null | grep -q '"x":1' && pass "cat keeps unknown keys" || fail "cat keeps unknown keys"
printf '\0\377\n[]\n{}\n"x"\n' >odd2.ndjson
run claws session show ./odd2.ndjson
status_is 0 "show: no log at all"
run claws session cat .
like "$status" '^(66|74|2)$' "a directory is none"
run timeout 5 claws session cat ./missing/x.ndjson
status_is 66 "a path in a directory that is not there: 66"
nok "which is not made" test -e missing

# --- inbox
is "$(claws session inbox one a text)" queued "a text: queued"
is "$(echo from stdin | claws session inbox one)" queued "from stdin"
is "$(CLAWS_SESSION=one claws session inbox 'only text')" queued "CLAWS_SESSION, and one argument"
echo data >data
is "$(claws-msg prompt -n -f data -- words | claws session inbox --json one)" queued "--json: lines of claws-msg prompt"
is "$(claws session inbox --origin channel:mail one mail)" queued "--origin"
is "$(CLAWS_PARENT_MODE=auto claws session inbox --origin channel:mail one tool)" queued "from inside a tool"
is "$(jq -r .origin "$STATE/one.ndjson.d/inbox" | tr '\n' ' ')" "user user user file user channel:mail agent:tool " "who speaks is not the sender's to say"
claws -p --session-id one --json say:now </dev/null >out
is "$(jq -r 'select(.role=="user")|.content' out | tr '\n' ,)" "a text,from stdin,,only text,data,,words,mail,tool,say:now," "the next run takes all, in order"
is "$(wc -c <"$STATE/one.ndjson.d/inbox" 2>/dev/null || echo 0)" 0 "and the inbox is empty"
run claws session inbox one </dev/null
status_is 66 "no message: 66"
for line in '{"role":"system","content":"x"}' '{"role":"assistant","content":"x"}' '{"type":"turn"}' 'nonsense'; do
	printf '%s\n' "$line" >in
	run claws session inbox --json one <in
	nok "--json: only user messages: $line" test "$status" -eq 0
done
run claws session inbox --origin user:root one x
status_is 2 "--origin: agent or channel"
claws -p --session-id live --partial 'slow:30:100' </dev/null >slow 2>&1 &
pid=$!
wait_for test -s slow
is "$(claws session inbox live say:joined)" joined "a run that goes on: joined"
run claws session open --name live
is "$status/$(grep -c '[0-9]' err)" "75/1" "open: in use: 75"
printf '{"role":"user","content":"x"}\n' >in
run claws session append live <in
status_is 75 "append: 75"
wait $pid
is "$(tail -n 1 slow)" joined "and the run answered it"

# --- open, append by hand
S=$(claws session open)
nok "open: nothing is written" test -e "$S"
like "$S" "^$STATE/[0-9]{8}-[0-9]{6}-[a-z0-9]{6}\.ndjson$" "a new one"
is "$(claws session open --id fixed)" "$STATE/fixed.ndjson" "--id"
run claws session open --id ../up
status_is 2 "--id: no path"
run claws session open --name nothing
status_is 66 "--name: must be there"
E=$(claws session open --ephemeral)
like "$E" "^$T/claws-[0-9]+/run\.[A-Za-z0-9]{6}/session\.ndjson$" "--ephemeral: under the runtime directory"
is "$(stat -c %a "${E%/*}")" 700 "which is private"
printf '{"role":"user","content":"hi","id":"u1","later":[1, 2]}\n{"type":"text_chunk","text":"x"}\n{"role":"user","content":"hi","id":"u1","later":[1, 2]}\n' >in
run claws session append "$S" <in
is "$status/$(cat out)" "0/$(head -n 2 in)" "append: passes on, a held id once"
is "$(sed 1d "$S")" "$(head -n 1 in)" "and logs the message, byte for byte"
is "$(stat -c %a "$S" "$S.d" | tr '\n' ' ')" "600 700 " "in private files"
done_testing
