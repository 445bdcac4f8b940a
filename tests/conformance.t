#!/bin/sh
# What every program does, whatever else it does: help, version, misuse, manual, and as a filter the rules of the pipeline.
. "${0%/*}/lib.sh"
export CLAWS_HOME="$T/claws"

# --- every program
for path in "$BUILD"/bin/claws*; do
	p=${path##*/}
	for o in -h --help; do
		"$p" $o >"$p.help" 2>err </dev/null
		is "$?$(cat err)" 0 "$p $o: status 0, nothing on stderr"
	done
	like "$(head -n 1 "$p.help")" "^usage: $p" "$p --help begins with the usage"
	is "$("$p" --version 2>&1 </dev/null)" "$p $(claws-msg --version | cut -d ' ' -f 2)" "$p --version"
	run "$p" --no-such-option </dev/null
	is "$status $(wc -l <err | tr -d ' ') $(wc -c <out | tr -d ' ')" '2 2 0' "$p: a wrong option: 2, two lines on stderr, none on stdout"
	like "$(cat err)" "^$p: .*no-such-option" "$p: the option is named"
	"$p" --help >/dev/full 2>/dev/null </dev/null
	is $? 74 "$p: output that cannot be written: 74"

	# The options of the table are those of the page.
	page=$top/man/$p.1
	if [ ! -f "$page" ]; then fail "$p has a page"; continue; fi
	"$p" --dump-options >"$p.dump" </dev/null
	tab=$(printf '\t')
	grep '^option' "$p.dump" | while IFS="$tab" read -r _ _ letter long _; do
		[ "$letter" = - ] || printf -- '-%s\n' "$letter"
		[ "$long" = - ] || printf -- '--%s\n' "$long"
	done | sort -u >"$p.table"
	# mdoc(7): what follows Fl is a flag, also behind a comma, up to the next macro.
	grep '^\.It Fl ' "$page" | tr ' ' '\n' | awk '
		/^\.?[A-Z][a-z]$/ { flag = ($0 == "Fl"); next }
		flag && /^-?[A-Za-z0-9]/ { print "-" $0 }' | sort -u >"$p.page"
	is "$(diff "$p.table" "$p.page" | grep '^[<>]')" '' "$p: the options of its table (<) are those of its page (>)"
	for v in $(sed -n 's/^verb'"$tab"'\([^'"$tab"']*\).*/\1/p' "$p.dump"); do
		like "$(grep '^\.' "$page")" " ($v)( |\$)" "$p: the verb $v is in its page"
	done
	if command -v mandoc >/dev/null 2>&1; then
		is "$(mandoc -Tlint -Wwarning "$page" 2>&1 | head -n 5)" '' "$p: its page is clean"
		for s in NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
			grep -qx "\.Sh $s" "$page" || fail "$p: its page has the section $s"
		done
	fi
done

# --- every filter keeps the rules
mkdir -p "$T/s"
filter() { # NAME CMD ARG...
	name=$1; shift
	claws-msg check-stage --timeout 5s "$@" >report 2>err </dev/null
	if [ $? = 0 ]; then pass "$name passes on what is not its own, at once and byte for byte"
	else fail "$name passes on what is not its own" "$(grep -v '^ok' report; cat err)"; fi
}
filter claws-stream claws-stream --base-url http://127.0.0.1:9/v1 -m custom/x --retries 0
filter claws-tool claws-tool
filter claws-compact claws-compact
filter 'claws-session append' claws-session append "$T/s/log.ndjson"
filter 'claws-render --json' claws-render --json
for place in stream tool compact; do
	filter "claws-each-turn --$place" claws-each-turn --$place true
done

# --- what they write is what claws-messages(5) says
checked() { # NAME: the file out
	claws-msg check out >report 2>&1
	is "$?$(head -n 3 report)" 0 "$1: its lines are good"
}
claws-context >out 2>err; checked claws-context
claws-tool --list >out 2>err; checked 'claws-tool --list'
echo x | claws-msg prompt -f "$top/tests/lib.sh" y >out; checked 'claws-msg prompt'
echo '{"role":"user","content":"x"}' | claws-stream --base-url http://127.0.0.1:9/v1 -m custom/x --retries 0 >out 2>err
checked 'claws-stream without a server'
is "$(grep -c '"turn_done"' out)" 1 'claws-stream: one turn_done'
printf '%s\n' '{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"Glob","input":{"pattern":"*"}},{"id":"c2","name":"Nope","input":{}}],"stop_reason":"tool_use"}' \
	'{"type":"turn_done","stop_reason":"tool_use"}' | claws-tool >out 2>err
checked claws-tool
is "$(jq -r 'select(.role=="tool").tool_call_id' out | sort | tr '\n' ' ')" 'c1 c2 ' 'claws-tool: a result for each call'
printf '%s\n' '{"role":"user","content":"x"}' '{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"A","input":{}}]}' '{"role":"user","content":"y"}' |
	claws-compact >out 2>err
checked claws-compact

# --- a whole run, with a model of three lines
cat >model.sh <<'EOT'
#!/bin/sh
if grep -q '"role":"tool"'; then echo '{"role":"assistant","content":"seen"}'
else echo '{"role":"assistant","content":"I look","tool_calls":[{"id":"c1","name":"Glob","input":{"pattern":"*"}}]}'; fi
EOT
chmod +x model.sh
export CLAWS_STAGE_STREAM='claws-each-turn ./model.sh'
timeout 20 claws -n --json --no-session 'look here' >out 2>err </dev/null
is "$?" 0 'a run with a replaced model ends well'
checked 'a whole run'
claws-msg check --strict out >report 2>&1
is "$?$(head -n 3 report)" 0 'in good order'
is "$(jq -rc 'select(.role and .role != "system")|.role' out | tr '\n' ' ')" 'user assistant tool assistant ' 'its messages are the transcript'
like "$(tail -n 1 out)" '"type":"run_done".*"exit":0' 'run_done is last'
is "$(timeout 20 claws -n --no-session 'look here' 2>err </dev/null)" seen 'to a pipe: the answer only'
timeout 20 claws -n --no-session --output-format json 'look here' >out 2>err </dev/null
is "$(jq -rs '[length,.[0].result,.[0].num_turns]|map(tostring)|join(" ")' out)" '1 seen 2' 'as one JSON object'
done_testing
