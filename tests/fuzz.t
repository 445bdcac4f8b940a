#!/bin/sh
# Each fuzz target on its seeds, and on what once broke it.
. "${0%/*}/lib.sh"
for source in "$top"/tests/fuzz/*.c; do
	target=${source##*/} target=${target%.c}
	[ "$target" != replay ] || continue
	files=$(find "$top/tests/fuzz/corpus/$target" -type f 2>/dev/null)
	[ -n "$files" ] || { fail "$target has seeds in tests/fuzz/corpus/$target"; continue; }
	# shellcheck disable=SC2086
	run "$BUILD/tests/fuzz/$target" $files
	if [ "$status" -eq 0 ]; then
		pass "$target: $(wc -l <out) inputs"
	else
		fail "$target: $(wc -l <out) inputs" "status $status at $(tail -n 1 out)
$(head -n 20 err)"
	fi
done
done_testing
