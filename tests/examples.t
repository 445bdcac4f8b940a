#!/bin/sh
# The texts for users: every example is sound shell, and quotes of the manual pages are in pairs.
. "${0%/*}/lib.sh"

# The examples of a page: .Dl lines and literal displays of DESCRIPTION and EXAMPLES, one file each.
of_page() { # PAGE
	awk -v base="$T/ex" '
		/^\.Sh / { on = /DESCRIPTION|EXAMPLES/ && FILENAME ~ /claws\.[17]$/ || /EXAMPLES/ }
		function plain(s) {
			gsub(/\\\(dq/, "\"", s); gsub(/\\\(aq/, "\047", s); gsub(/\\&/, "", s); gsub(/\\-/, "-", s); gsub(/\\e/, "\\", s)
			return s
		}
		!on { next }
		/^\.Dl / { n++; print plain(substr($0, 5)) >(base n); close(base n) }
		/^\.Bd -literal/ { n++; inside = 1; next }
		/^\.Ed/ { inside = 0; close(base n) }
		inside { print plain($0) >(base n) }
		END { print n + 0 }' "$1"
}
# Those of the README: what is indented by four blanks.
of_readme() {
	awk -v base="$T/ex" '
		/^    / { if (!inside) n++; inside = 1; print substr($0, 5) >(base n); next }
		{ if (inside) close(base n); inside = 0 }
		END { print n + 0 }' "$1"
}
sound() { # NAME COUNT AT-LEAST
	ok "$1: has examples" test "$2" -ge "$3"
	bad=
	for f in "$T"/ex*; do
		# Of a dialogue only what is typed.
		if grep -q '^\$ ' "$f"; then sed -n 's/^\$ //p' "$f" >typed && mv typed "$f"; fi
		sh -n "$f" 2>syntax || bad="$bad
$(cat syntax "$f")"
	done
	is "$bad" '' "$1: each is sound shell"
	rm -f "$T"/ex*
}
sound README.md "$(of_readme "$top/README.md")" 8
for page in "$top"/man/*.[17]; do
	sound "${page##*/}" "$(of_page "$page")" 1
done

# A check that finds nothing must be able to find something.
printf '%s\n' '.Sh EXAMPLES' ".Dl claws 'yesterday's log'" >broken
is "$(of_page broken)" 1 'a broken example'
nok 'is found' sh -n "$T/ex1"

# shellcheck disable=SC1112 # these are what is looked for
unpaired() { # awk: in each line of a paragraph opened and closed in turn
	mandoc -Tutf8 "$1" | col -bx | awk '
		{ text = text " " $0 }
		/^$/ { check(); text = "" }
		END { check() }
		function check(    s, c, deep) {
			s = text
			gsub(/‘|“/, "\001", s); gsub(/’|”/, "\002", s); gsub(/[^\001\002]/, "", s); gsub(/\001\002/, "", s)
			if (s != "") print text
		}'
}
if command -v mandoc >/dev/null && command -v col >/dev/null; then
	for page in "$top"/man/*.[157]; do is "$(unpaired "$page")" '' "${page##*/}: quotes are in pairs"; done
	printf '.Dd November 30, 2026\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd x\n.Sh DESCRIPTION\nThis\n.Pq Ql 90 , Ql 1.5s\nis bad.\n' >bad.1
	like "$(unpaired bad.1)" '1.5s' 'those that are not are found'
else
	skip 1 'no mandoc'
fi
done_testing
