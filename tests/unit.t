#!/bin/sh
# The unit tests of tests/unit/*.c: one program each, its results as they are, numbered through.
. "${0%/*}/lib.sh"
for source in "$top"/tests/unit/*.c; do
	unit=${source##*/} unit=${unit%.c}
	run "$BUILD/tests/$unit"
	if [ "$status" -eq 0 ] && grep -q '^1\.\.0 # SKIP' out; then
		skip 1 "$unit: $(sed -n 's/^1\.\.0 # SKIP *//p' out)"
		continue
	fi
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' out)
	got=0
	while IFS= read -r line; do
		case $line in
		'ok '*|'not ok '*)
			name=${line#*ok } name=${name#* } name=${name#- }
			got=$((got + 1))
			case $line in ok*) pass "$unit: $name" ;; *) fail "$unit: $name" ;; esac ;;
		'#'*) printf '%s\n' "$line" ;;
		esac
	done <out
	# A program that crashed, or stopped before its plan, has not passed.
	case $status in
	0|1) is "$got" "${planned:-no plan}" "$unit: ran to its end" ;;
	*) fail "$unit: ran to its end" "status $status
$(tail -n 20 err)" ;;
	esac
done
done_testing
