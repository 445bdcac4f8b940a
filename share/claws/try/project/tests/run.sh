#!/bin/sh
# Runs ledger on small files and compares what it prints.
failed=0
try() { # NAME WANT INPUT [PREFIX]
	got=$(printf '%b' "$3" | ./ledger ${4:+"$4"} 2>&1)
	if [ "$got" = "$2" ]; then
		echo "ok   $1"
	else
		echo "FAIL $1: got '$got', want '$2'"
		failed=$((failed + 1))
	fi
}
try 'one entry'          '1 entries, 12.50'  '2026-03-01,bread,12.50\n'
try 'whole numbers'      '2 entries, 7.00'   '2026-03-01,tea,4\n2026-03-02,milk,3\n'
try 'a refund'           '2 entries, 6.25'   '2026-03-01,lamp,9.75\n2026-03-05,lamp (part),-3.50\n'
try 'a small refund'     '2 entries, 9.25'   '2026-03-01,lamp,9.75\n2026-03-05,deposit,-0.50\n'
try 'commas in the text' '1 entries, 2.00'   '2026-03-01,"pears, apples",2.00\n'
try 'one month'          '1 entries, 5.00'   '2026-03-01,a,5.00\n2026-04-01,b,6.00\n' 2026-03
try 'a bad line'         "$(printf 'ledger: line 1: no amount\n0 entries, 0.00')" '2026-03-01,a,much\n'
[ "$failed" -eq 0 ] || { echo "$failed failed"; exit 1; }
echo 'all passed'
