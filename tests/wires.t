#!/bin/sh
# Recorded answers of many providers through the wires, each fed whole, byte by byte, in random pieces, with CRLF and with CR.
# CLAWS_CASES is a directory PROVIDER/CASE/{meta.json,response.body,expected.json}.
. "${0%/*}/lib.sh"

own=$top/tests/data/wire
for list in own "${CLAWS_CASES:+cases}"; do
	case $list in
	own) dir=$own; names=$(cd "$dir" && ls -d -- */*) ;;
	cases)
		dir=$CLAWS_CASES
		names=$(cd "$dir" && ls -d -- */*/meta.json | sed 's,/meta.json$,,') ;;
	*) skip 1 "CLAWS_CASES is not set: recorded answers are not compared"; continue ;;
	esac
	# shellcheck disable=SC2086
	run "$BUILD/tests/wire_cases" "$dir" $names
	_bad=$(grep -A2 '^not ok' out)
	is "$_bad" "" "$(grep -c '^ok' out) cases of $list"
	status_is 0 "none of $list is wrong"
	[ "$list" = cases ] || is "$(grep 'left out' out)" "" "every case of ours is of a wire that is known"
	like "$(tail -n 1 out)" '^1\.\.[1-9]' "some of $list were compared"
done
done_testing
