#!/bin/bash
# What is printed and what it claims: the guide has the sentences of `easetop claims`, word for word, and each names
# a test that is there. Prints PASS or FAIL lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"

trap 'rm -rf "$rig"' EXIT
guide=$top/conf/guide/reading-a-report.md
"$build/collector/easetop" claims >"$rig/claims"
expect 'claims: its exit status' $? 0
awk 'NR % 3 == 1 { printed = $0 } NR % 3 == 2 { claim = substr($0, 3) }
	NR % 3 == 0 { sub(/^  Measured by /, ""); print "| " printed " | " claim " | " $0 " |" }' "$rig/claims" >"$rig/said"
sed -n '/^| printed | claim | measured by |$/,/^$/p' "$guide" | grep '^| [^p-]\|^| p[^r]' >"$rig/shown"
if [ -s "$rig/said" ] && diff "$rig/said" "$rig/shown" >"$rig/differ"; then
	pass "claims: the guide has all $(wc -l <"$rig/said")"
else
	fail 'claims: the guide has them' "$(head -n 5 "$rig/differ")"
fi
for path in $(sed -n 's/^  Measured by //p' "$rig/claims" | sort -u); do
	if [ -e "$top/$path" ]; then pass "claims: $path measures"; else fail "claims: $path measures" 'it is not there'; fi
done
expect 'claims: --help tells of them' "$("$build/collector/easetop" --help | grep -c 'easetop claims')" 2
exit $failed
