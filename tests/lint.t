#!/bin/sh
# The house rules that can be checked without compiling anew: each check of `tests/dev/lint -q` is one result.
. "${0%/*}/lib.sh"
git -C "$top" rev-parse --git-dir >/dev/null 2>&1 || skip_all 'not a git work tree'
for check in $("$top/tests/dev/lint" -l); do
	case $check in
	gcc|clang|completions) continue ;;   # make lint; completions.t
	mandoc|shell)
		tool=$check
		[ "$tool" != shell ] || tool=shellcheck
		command -v "$tool" >/dev/null || { skip 1 "$tool is not installed"; continue; } ;;
	links|state)
		if grep -q fsanitize "$BUILD/flags"; then skip 1 "$check: a sanitizer build"; continue; fi ;;
	esac
	run "$top/tests/dev/lint" "$check"
	if [ "$status" -eq 0 ]; then pass "lint: $check"; else fail "lint: $check" "$(cat out err)"; fi
done
# The checks themselves see what they are for.
mkdir -p tree/tests/dev tree/lib/base tree/lib/llm && cp "$top/tests/dev/lint" tree/tests/dev/ && cd tree && git init -q . || exit 1
printf '#include "llm/b.h"\nint f(void);\nint f(void)\n{\n%s\treturn 0;\n}\n' "$(yes '	;' | head -n 90)" >lib/base/a.c
printf '#include <curl/curl.h>\n/* TODO */\nvoid g(char *s);\nvoid g(char *s)\n{\n\tsprintf(s, "");\n\tsystem(s);  \n}\n' >lib/llm/b.c
touch stray
for case in 'layers lib/base/a.c:1: base is below llm' 'layers lib/llm/b.c:1:#include <curl' 'lengths lib/base/a.c:4: f: 9[0-9] lines' \
	'banned lib/llm/b.c:6:.*sprintf' 'banned lib/llm/b.c:7:.*system' 'banned lib/llm/b.c:2:.*TODO' 'texts lib/llm/b.c:7: blanks' \
	'top ^  stray$'; do
	run tests/dev/lint "${case%% *}"
	like "$status $(cat out)" "${case#* }" "lint sees: $case"
done
done_testing
