#!/bin/bash
# conf/guide/inside.md and the how-to pages against the sources: every `file.c:function`, every `function()`,
# every constant, counter and file that they name is there. Then a page with one wrong name of each kind, to
# see that it is found. Prints PASS name or FAIL name: reason; exit 1 if one failed.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$top" || exit 1

find agent collector common mibs conf tests -name '*.[ch]' ! -path '*/corpus/*' >"$dir/sources"
find . \( -path ./.git -o -path './build*' \) -prune -o -type f -print | sed 's,^\./,,' >"$dir/files"

counters() { # that the programs know
	grep -hoE '\{ *"[a-z0-9_]+\.[a-z0-9_]+"' $(grep -E '^(agent|collector)/.*\.c$' "$dir/sources") |
	    tr -d '{" '
}
counters | sort -u >"$dir/counters"

defines() { # FUNCTION FILE...: true if one of them defines it
	local name=$1
	shift
	grep -qE "^([a-z].*[ *])?$name\(" "$@"
}

# What of PAGE is not so, one a line.
wrong() {
	local page=$1 file name found
	while IFS=: read -r file name; do
		found=$(grep -E "(^|/)${file//./\\.}$" "$dir/sources")
		if [ -z "$found" ]; then
			echo "$file is no file"
		elif ! defines "$name" $found; then
			echo "$file has no $name"
		fi
	done < <(grep -oE '`[A-Za-z0-9_./]+\.[ch]:[a-z_0-9]+`' "$page" | tr -d '`' | sort -u)
	while read -r name; do
		defines "$name" $(cat "$dir/sources") || grep -qwE "render_fn .*$name.*" $(cat "$dir/sources") ||
		    echo "there is no $name()"
	done < <(grep -oE '\b[a-z_0-9]+\(\)' "$page" | tr -d '()' | sort -u)
	while read -r name; do
		grep -qwF "$name" $(cat "$dir/sources") || echo "there is no $name"
	done < <(grep -oE '\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b' "$page" | grep -v '^NAME\|_NEW\|NEW_\|^EXTRA_DIST$\|^CK_' | sort -u)
	while read -r name; do
		grep -qxF "$name" "$dir/counters" || echo "$name is no counter"
	done < <(grep -oE '`[a-z0-9_]+\.[a-z0-9_]+`' "$page" | tr -d '`' | grep -vE '\.([chm]|js|sh|md|am|ac|py|css|html|txt|conf|tsv|db|log|pcap)$' | sort -u)
	while read -r name; do
		grep -qE "(^|/)${name//./\\.}$" "$dir/files" || echo "$name is no file"
	done < <(sed 's/`[^`]*:[a-z_0-9]*`//g; s/NAME[A-Za-z_.]*//g; s,[a-z/]*/NEW[A-Za-z_.]*,,g' "$page" |
	    grep -oE '\b(agent|collector|common|mibs|conf|tests)/[A-Za-z0-9_./-]+\.[a-z]+\b|\b[a-z_0-9]+\.(h|am)\b|\bcheck_[a-z_0-9]+\.(sh|c)\b' | sort -u)
}

for page in inside new-mib-table new-report new-device; do
	found=$(wrong "conf/guide/$page.md")
	if [ -z "$found" ]; then
		echo "PASS guide's names: $page.md"
	else
		echo "FAIL guide's names: $page.md: $(tr '\n' ';' <<<"$found")"
		failed=1
	fi
done

while IFS='|' read -r text what; do
	echo "$text" >"$dir/page.md"
	found=$(wrong "$dir/page.md")
	if [ "$found" = "$what" ]; then
		echo "PASS guide's names: $what"
	else
		echo "FAIL guide's names: '$what' is found: '$found'"
		failed=1
	fi
done <<'END'
As `agent.c:on_dinner` says.|agent.c has no on_dinner
As `dinner.c:cook` says.|dinner.c is no file
It calls `cook_dinner()`.|there is no cook_dinner()
It calls cook_supper() then.|there is no cook_supper()
Up to DINNER_MOST guests.|there is no DINNER_MOST
Counted as `dinner.burnt`.|dinner.burnt is no counter
See agent/dinner.h for it.|agent/dinner.h is no file
END
exit $failed
