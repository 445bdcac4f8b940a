# tests/lib.sh - what every .t file starts with: . "${0%/*}/lib.sh"
#
# It makes a directory of its own (removed at the end), goes there, and sets HOME to it; the programs under test are
# first on PATH; nothing of the caller's settings, keys or terminal is left. TAP goes to stdout.
#
#   run CMD ARG...      runs it; $status, and the files out and err hold what came of it (stdin is the caller's)
#   is GOT WANT NAME    equal strings        like GOT ERE NAME   unlike GOT ERE NAME
#   ok NAME CMD ARG...  the command succeeds  nok NAME CMD ARG...
#   status_is N NAME    of the last run      pass NAME  fail NAME [WHY]
#   skip N WHY          N tests are not run   skip_all WHY
#   wait_for CMD ARG... polls until it succeeds, at most 10 s
#   done_testing        last line
#   fake_llm ARG...     a model server (tests/servers/fake-llm/fake.h says what it can): sets $port and $server (its pid); base
#                       addresses, dummy keys and CLAWS_MODEL=anthropic/fake are in the environment. It ends with the test
# shellcheck shell=sh disable=SC2034
set -u
top=$(cd "${0%/*}/.." && pwd)
case ${BUILD:=build} in /*) ;; *) BUILD=$top/$BUILD ;; esac
cases=${CLAWS_CASES-}
T=$(mktemp -d "${TMPDIR:-/tmp}/claws-test.XXXXXX") || exit 1
chmod 711 "$T"   # tests that give up root still reach what is in there
trap 'status=$?; trap - EXIT; cd /; cleanup; _stop_servers; rm -rf "$T"; exit $status' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
cleanup() { :; }
servers=
# shellcheck disable=SC2086 # a list of numbers
_stop_servers() {
	[ -n "$servers" ] || return 0
	kill $servers 2>/dev/null
	wait $servers 2>/dev/null
}
for v in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
	case $v in
	PATH|TERM|LANG|ASAN_OPTIONS|UBSAN_OPTIONS|LSAN_OPTIONS|VALGRIND*) ;;
	PWD|OLDPWD|_|top|BUILD|cases|servers|T|IFS|OPTIND|PS[0-9]|PPID|SHLVL) ;;
	*) unset "$v" 2>/dev/null ;;
	esac
done
export HOME="$T" TMPDIR="$T" LC_ALL=C.UTF-8 TZ=UTC PATH="$BUILD/bin:$PATH" BUILD
[ -z "$cases" ] || export CLAWS_CASES="$cases"
# In a sanitizer build a leak is an error, but for what a program holds until its end on purpose.
export LSAN_OPTIONS="${LSAN_OPTIONS:-suppressions=$top/tests/dev/leaks:print_suppressions=0}"
umask 022
cd "$T" || exit 1
n=0 failed=0 status=0
_result() { # ok|"not ok" NAME
	n=$((n + 1))
	printf '%s %d - %s\n' "$1" "$n" "$2"
	[ "$1" = ok ] || failed=$((failed + 1))
}
_diag() { printf '%s\n' "$*" | sed 's/^/# /' | cut -c1-600 | head -n 40; }
pass() { _result ok "$1"; }
fail() { _result "not ok" "$1"; [ $# -lt 2 ] || _diag "$2"; return 1; }
is() { if [ "$1" = "$2" ]; then pass "$3"; else fail "$3" "got:  $1
want: $2"; fi; }
like() { if printf '%s\n' "$1" | grep -Eq -e "$2"; then pass "$3"; else fail "$3" "got:  $1
want: /$2/"; fi; }
unlike() { if printf '%s\n' "$1" | grep -Eq -e "$2"; then fail "$3" "got: $1
must not match: /$2/"; else pass "$3"; fi; }
ok() { _name=$1; shift; if "$@" >"$T/.ok" 2>&1; then pass "$_name"; else fail "$_name" "status $? of: $*
$(cat "$T/.ok")"; fi; }
nok() { _name=$1; shift; if "$@" >"$T/.ok" 2>&1; then fail "$_name" "succeeded: $*"; else pass "$_name"; fi; }
run() { "$@" >out 2>err; status=$?; return 0; }
status_is() { if [ "$status" = "$1" ]; then pass "$2"; else fail "$2" "status $status, want $1
stderr: $(head -c 400 err 2>/dev/null)"; fi; }
skip() { _k=$1; while [ "$_k" -gt 0 ]; do n=$((n + 1)); printf 'ok %d # SKIP %s\n' "$n" "$2"; _k=$((_k - 1)); done; }
skip_all() { printf '1..0 # SKIP %s\n' "$1"; exit 0; }
wait_for() { _i=0; until "$@" >/dev/null 2>&1; do _i=$((_i + 1)); [ "$_i" -lt 500 ] || return 1; sleep 0.02; done; }
fake_llm() {
	rm -f "$T/.port"
	mkfifo "$T/.port" || return 1
	"$BUILD/tests/servers/fake-llm" "$@" >"$T/.port" &
	server=$! servers="$servers $!" port=
	read -r port <"$T/.port"
	[ -n "$port" ] || { fail "fake-llm starts"; exit 1; }
	export ANTHROPIC_API_KEY=test-key OPENAI_API_KEY=test-key CLAWS_MODEL=anthropic/fake
	export CLAWS_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_BASE_URL="http://127.0.0.1:$port"
	export OPENAI_BASE_URL="http://127.0.0.1:$port/v1"
}
done_testing() { printf '1..%d\n' "$n"; [ "$failed" -eq 0 ]; exit; }
