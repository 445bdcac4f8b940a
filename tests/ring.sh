# tests/ring.sh - what the ring-*.t files share; sourced after lib.sh.
#
#   start [ENV=V...] claws ARG...   in the background, SIGINT heard; stdout to the file out, stderr to err; $ring is the
#                                   pid of claws-ring
#   ended [MS]          waits for it: $status, and $took in ms since the call; killed after 20 s. True if within MS (3000)
#   stage NAME          $pid of a stage: context compact stream tool append render (context is the first one, also as cat)
#   quiet               nothing that was started here still runs, but the servers
#   legal [FILE]        every request to the model server is legal: calls and results paired, no id twice; fails without one
#   sound [LOG]         the session's log holds JSON lines alone, every call has one result, every id is there once
#   session             the newest log
#   hold CMD            a command line for Bash which waits until the file `go` is there (or 100 s)
# shellcheck shell=sh disable=SC2034,SC2154

now_ms() { echo $(($(date +%s%N) / 1000000)); }

start() {
	rm -f out err
	: >out
	env --default-signal=INT "$@" >out 2>err </dev/null &
	ring=$!
}
ended() {
	_t0=$(now_ms)
	(
		_k=0
		while [ "$_k" -lt 400 ] && kill -0 "$ring" 2>/dev/null; do sleep 0.05; _k=$((_k + 1)); done
		kill -9 "$ring" 2>/dev/null
	) &
	_watch=$!
	wait "$ring" 2>/dev/null
	status=$?
	took=$(($(now_ms) - _t0))
	kill "$_watch" 2>/dev/null
	wait "$_watch" 2>/dev/null
	[ "$took" -lt "${1:-3000}" ]
}

# A stage is named by its command line; the forks of claws-tool have a parent that is not the ring.
stage() {
	case $1 in
	context) _want='claws-ring*|claws-context*|claws-tool?--list*|claws-session?cat*' ;;
	append) _want='claws-session?append*' ;;
	*) _want="claws-$1*" ;;
	esac
	for pid in $(cat "/proc/$ring/task/$ring/children" 2>/dev/null); do
		_line=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)
		_line=${_line##*/bin/}
		eval "case \$_line in $_want) return 0 ;; esac"
	done
	pid=
	return 1
}

# Programs started after lib.sh has set HOME have it in their environment, also when all their parents are gone.
_running() {
	for _p in $(grep -lz "^HOME=$T\$" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		case " $servers " in *" $_p "*) continue ;; esac
		kill -0 "$_p" 2>/dev/null || continue
		printf '%s: %s\n' "$_p" "$(tr '\0' ' ' 2>/dev/null <"/proc/$_p/cmdline")"
	done
}
_none_runs() { [ -z "$(_running)" ]; }
quiet() { # NAME
	if wait_for _none_runs; then pass "$1"; else fail "$1" "$(_running)"; fi
}

_legal='
def ids($type; $key): [.content | if type == "array" then .[] else empty end | select(.type == $type) | .[$key]];
map(.body.messages | select(.)) |
length > 0 and all(. as $m |
	($m[0].role == "user") and
	([$m[] | ids("tool_use"; "id")[]] | length == (unique | length)) and
	([$m[] | ids("tool_result"; "tool_use_id")[]] | length == (unique | length)) and
	all(range(0; $m | length) as $k | [$m[$k], (if $k > 0 then $m[$k - 1] else {} end), $m[$k + 1]];
		(.[0] | ids("tool_result"; "tool_use_id") | sort) == (.[1] | ids("tool_use"; "id") | sort) and
		((.[0] | ids("tool_use"; "id") | length) == 0 or .[2].role == "user")))'
legal() { jq -es "$_legal" "${1:-log}" >/dev/null; }

session() { ls -t "$HOME"/.local/state/claws/sessions/*.ndjson 2>/dev/null | head -n 1; }
_sound='
map(fromjson) as $l |
($l[0].type == "session") and
([$l[] | select(.role) | .id] | all(type == "string") and length == (unique | length)) and
([$l[] | .tool_calls[]?.id] | sort) as $calls |
([$l[] | select(.role == "tool") | .tool_call_id] | sort) as $results |
($calls == ($calls | unique)) and $calls == $results'
sound() { jq -eRs 'split("\n") | .[-1] == "" and (.[:-1] | '"$_sound)" "${1:-$(session)}" >/dev/null; }

hold() { printf 'k=0; until [ -e go ] || [ $k -gt 1000 ]; do sleep 0.1; k=$((k+1)); done; %s' "$1"; }
# call NAME JSON [JSON-KEYS]: one line of a script for fake-llm
call() { printf '{"calls":[{"name":"%s","input":%s}]%s}\n' "$1" "$2" "${3-}"; }
