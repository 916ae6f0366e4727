#!/bin/bash
# Private words stay out of what people read: texts that a user meets, comments, the guide, README, manual pages
# and the MIB, each listed by tests/tree/strings.py or read as it stands. A row is a pattern and the field's
# word for it; conf/guide/inside.md has the glossary. Prints PASS or FAIL lines; exit 1 if one failed.
set -u
export LC_ALL=C.UTF-8
top=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
git -C "$top" rev-parse 2>/dev/null || { echo 'SKIP words: it reads what git tracks, and this is no clone'; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 "$top/tests/tree/strings.py" "$top" >"$dir/strings" || exit 1
python3 "$top/tests/tree/strings.py" --comments "$top" >"$dir/comments" || exit 1
for file in "$top"/README "$top"/conf/guide/*.md "$top"/agent/*.8 "$top"/collector/*.[18] "$top"/mibs/*.txt; do
	sed "s,^,${file#"$top"/}: ," "$file"
done | grep -v '^conf/guide/inside.md: ' >"$dir/prose" # whose glossary names the old words

# Nothing is listed: nothing would be found.
for list in strings comments prose; do
	n=$(wc -l <"$dir/$list")
	if [ "$n" -gt 1000 ]; then echo "PASS words: $n lines of $list"; else
		echo "FAIL words: only $n lines of $list"
		failed=1
	fi
done

look() { # LIST PATTERN BETTER
	local found
	found=$(grep -niE "$2" "$dir/$1" | head -n 3 | cut -c1-160 | tr '\n' ';')
	if [ -z "$found" ]; then echo "PASS words: $1 without /$2/"; else
		echo "FAIL words: $1: \"$3\" instead of /$2/: $found"
		failed=1
	fi
}
while IFS='|' read -r pattern better; do
	for list in strings comments prose; do look $list "$(tr ';' '|' <<<"$pattern")" "$better"; done
done <<'END'
\bcrew\b|receiver threads
\b(the books;bookkeeping;ledger)\b|accounting
\b(roster)\b|inventory
\bwitness(es)?\b|crash journal
\bmates\b|samples of one notification
\b(slow;fast) way\b|slow path, fast path
\bthe way in\b|input
\b(goes without saying;in good hands;an answer too)\b|what happens, and why it is right
\b(this name is not mine;root it stays;not asked for by)\b|the field's words
\b(makes;means) no good\b|hostile
\bstands still\b|stalls
END
while IFS='|' read -r pattern better; do
	look strings "$(tr ';' '|' <<<"$pattern")" "$better"
done <<'END'
\b(tells of;told of;hears of;is heard;was heard)\b|says, reports, receives
\bon the way\b|in the network
\bnot asked for\b|outside the filter
\bis none of\b|must be one of
\bgive up\b.*\bgave up\b|stopped
END
exit $failed
