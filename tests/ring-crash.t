#!/bin/sh
kills=${CLAWS_KILLS:-20} seed=${CLAWS_SEED:-1}
. "${0%/*}/lib.sh"
. "$top/tests/ring.sh"
# CLAWS_KILLS (20) times kill -9 of a whole ring at a random moment of a run that writes: the log opens, has all that was
# passed on, knows every call that ran and runs none again, and the conversation goes on. CLAWS_SEED (1) for other moments.
bash() { printf '{"name":"Bash","input":{"command":"echo %s >>lines; sleep 0.02"}}' "$1"; }
write() { printf '{"name":"Write","input":{"file_path":"w.%s","content":"%s"}}' "$1" "$1"; }
k=0
while [ $k -lt "$kills" ]; do
	k=$((k + 1))
	cat <<-S
	{"match":"run-$k-","text":"two at once","calls":[$(bash "$k.1"),$(write "$k.2")],"chunk_delay_ms":2}
	{"match":"run-$k-","calls":[$(bash "$k.3"),$(bash "$k.4"),$(write "$k.5")]}
	{"match":"run-$k-","thinking":"hm","signature":"c2ln","text":"one more","calls":[$(bash "$k.6")]}
	{"match":"run-$k-","text":"that is all","keep":true}
	S
done >script
fake_llm --log log --script script
: >lines

passed_on_is_logged() { # what came out of append's end of the ring, whole lines of it
	[ "$(tail -c 1 killed | od -An -c | tr -d ' ')" = '\n' ] || sed -i '$d' killed
	jq -c 'select(.role)' killed >passed
	[ ! -s passed ] || ! grep -Fxvq -f "$1" passed
}
# Of each call of this run: what its result says against what it did.
truthful() { # LOG
	jq -r 'select(.tool_calls) | .tool_calls[] | [.id, (.input.command // .input.file_path)] | @tsv' "$1" >calls
	while read -r _n; do # everything that ran is known
		grep -q "echo $_n >>" calls || { echo "$_n ran and is in no message"; return 1; }
	done <<-L
	$(grep "^$k\\." lines)
	L
	jq -r 'select(.role == "tool" and (.content | contains("not run"))) | .tool_call_id' "$1" >unrun
	while read -r _id; do
		_what=$(grep "^$_id	" calls | sed -n 's/.*echo \([0-9.]*\) >>.*/\1/p')
		[ -n "$_what" ] || continue
		! grep -qx "$_what" lines || { echo "$_what is said not to have run, but did"; return 1; }
	done <unrun
}
awk -v seed="$seed" -v n="$kills" 'BEGIN { srand(seed); for (k = 0; k < n; k++) printf "%.3f\n", rand() * 0.22 }' >moments
bad=0 k=0 unfinished=0 mended=0
while read -r moment; do
	k=$((k + 1))
	what=
	: >log
	env setsid claws --json --session-id "k$k" --permission-mode accept-all -p "run-$k-" >killed 2>err </dev/null &
	ring=$!
	sleep "$moment"
	if [ $((k % 5)) -eq 0 ]; then kill -9 "$ring" 2>/dev/null; else kill -9 "-$ring" 2>/dev/null; fi
	wait "$ring" 2>/dev/null || unfinished=$((unfinished + 1))
	wait_for _none_runs || what="$what; something runs on: $(_running)"
	s=$HOME/.local/state/claws/sessions/k$k.ndjson
	if [ -e "$s" ]; then
		passed_on_is_logged "$s" || what="$what; a line that was passed on is not in the log"
	elif grep -q '"role"' killed; then
		what="$what; there is no log"
	fi
	ran=$(grep -c "^$k\\." lines)
	: >log
	run claws --json --session-id "k$k" --permission-mode accept-all -p "again: run-$k-" </dev/null
	[ "$status" -eq 0 ] || what="$what; going on: status $status: $(cat err)"
	grep -q 'may have run' "$s" && mended=$((mended + 1))
	legal || what="$what; a request was not legal"
	sound "$s" || what="$what; the log is not sound"
	why=$(truthful "$s") || what="$what; $why"
	[ -z "$(sort lines | uniq -d)" ] || what="$what; ran twice: $(sort lines | uniq -d | tr '\n' ' ')"
	if [ -n "$what" ]; then
		bad=$((bad + 1))
		_diag "kill $k after $moment s, $ran lines before:$what"
	fi
done <moments
is "$bad" 0 "$kills kills leave a sound session that goes on"
ok "most of them were in the middle ($unfinished of $kills, $mended with a call that may have run)" \
	test "$unfinished" -gt $((kills / 3))
is "$(sort lines | uniq -d)" '' 'no call ran twice'
done_testing
