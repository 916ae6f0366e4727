#!/bin/bash
# mibs/EASE-SAMPLING-MIB.txt (and, by smilint alone, EASE-COLLECTOR-MIB.txt) against the program: every readable object of the text is served and
# the other way round, with the same number, type and access; every accessible-for-notify object is
# sent; the documented layouts have no gap and the length that the encoder writes. smilint finds
# nothing, where the modules that ours imports from can be had. PASS, FAIL, SKIP lines.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
text=$top/mibs/EASE-SAMPLING-MIB.txt
failed=0
pass() { echo "PASS mib text: $1"; }
fail() { echo "FAIL mib text: $1: $2"; failed=1; }
same() { # name, what is, what must be
	if [ "$2" = "$3" ]; then pass "$1"; else
		fail "$1" "$(diff <(echo "$2") <(echo "$3") | grep '^[<>]' | head -4 | tr '\n\t' '  ')"
	fi
}

if [ ! -x "$build/tests/agent/snmp/snmp_subagent" ]; then
	echo "SKIP mib text: make -C $build tests/agent/snmp/snmp_subagent: it is not there"
	exit 0
fi

# Name, numeric OID, type and access of every object in the text, by a reader of our own.
objects() {
	sed 's/--.*//' "$text" | awk '
	/OBJECT-TYPE|NOTIFICATION-TYPE|MODULE-IDENTITY/ && NF == 2 { name = $1; kind = $2; next }
	/OBJECT IDENTIFIER ::=/ { parent[$1] = $6; arc[$1] = $7; next }
	/^ +SYNTAX/ { syntax[name] = $2 " " ($2 == "OCTET" ? $3 : "") }
	/^ +MAX-ACCESS/ { access[name] = $2 }
	/^ +::= \{/ && name { parent[name] = $3; arc[name] = $4; order[++n] = name
		kinds[name] = kind; name = "" }
	function number(o) { return o == "enterprises" ? "1.3.6.1.4.1" : number(parent[o]) "." arc[o] }
	END { for (i = 1; i <= n; i++) { o = order[i]
		print o "\t" number(o) "\t" syntax[o] "\t" access[o] "\t" kinds[o] } }'
}
base_type() {
	sed -E 's/\t(DisplayString|DateAndTime|OCTET STRING) ?\t/\tOCTET STRING\t/; s/\t(INTEGER|TruthValue) ?\t/\tInteger32\t/
		s/\tUnsigned32 ?\t/\tGauge32\t/; s/ \t/\t/g'
}
listed=$("$build/tests/agent/snmp/snmp_subagent" --list)

same "what can be read is served, and nothing else" \
    "$(grep '^ease' <<<"$listed" | grep -v notify | sed 's/\.0\t/\t/' | cut -f1-4)" \
    "$(objects | grep 'read-' | grep OBJECT-TYPE | base_type | cut -f1-4)"
same "what is for notifications is sent, and nothing else" \
    "$(grep notify <<<"$listed" | cut -f1-3 | uniq)" \
    "$(objects | grep 'accessible-for-notify' | cut -f1,2,4)"
same "the numbers of the notifications" \
    "$(sed -n 's/.*EASE_NOTIFY_[A-Z_]* = \([0-9]*\),.*/\1/p' "$top/common/ease_oid.h")" \
    "$(objects | grep NOTIFICATION-TYPE | sed 's/.*\.0\.\([0-9]*\)\t.*/\1/')"

# The fixed part of each layout: offsets follow each other, lengths add up.
layouts() {
	awk '/ OBJECT-TYPE/ { name = $1 }
	match($0, /Layout [0-9]+/) { layout = name " " substr($0, RSTART + 7, RLENGTH - 7); at = 0 }
	/^ +[0-9]+(\+[nm])* +[0-9]+  / {
		if ($1 + 0 != at) print layout " has a gap at " $1
		at = $1 + $2; total[layout] += $2 }
	END { for (object in total) print object, total[object] }' "$text" | sort
}
same "the documented layouts are what is encoded" \
    "$(awk -F'\t' '$3 ~ /notify/ { print $1, $4, $5 }' <<<"$listed" | sort)" "$(layouts)"

# The modules ours imports from: EASE_MIB_MODULES (directories, colons between), or fetched once.
modules=${EASE_MIB_MODULES:-$build/mib-modules}
fetch_modules() {
	local dir
	mkdir -p "$modules" && dir=$(mktemp -d) || return
	(cd "$dir" && timeout 60 apt-get -q download erlang-snmp && dpkg-deb -x erlang-snmp_*.deb x &&
		cp x/usr/lib/erlang/lib/snmp-*/mibs/*.mib "$modules") >/dev/null 2>&1
	(cd "$dir" && timeout 60 npm pack net-snmp && tar -xzf net-snmp-*.tgz &&
		cp package/lib/mibs/*.mib "$modules") >/dev/null 2>&1
	rm -rf "$dir"
}
if ! command -v smilint >/dev/null; then
	echo "SKIP mib text: smilint: not installed"
else
	[ -n "${EASE_MIB_MODULES:-}" ] || [ -e "$modules/IF-MIB.mib" ] || fetch_modules
	if ls ${modules//:/ } 2>/dev/null | grep -q '^IF-MIB'; then
		same "smilint finds nothing" "$(SMIPATH=$modules smilint -s -l 6 -i namelength "$text" 2>&1)" ""
		same "nor in the collector's module" "$(SMIPATH=$modules smilint -s -l 6 -i namelength -p "$text" \
		    "$top/mibs/EASE-COLLECTOR-MIB.txt" 2>&1)" ""
	else
		echo "SKIP mib text: smilint: no package with IF-MIB can be had (Debian erlang-snmp, npm net-snmp)"
	fi
fi
exit $failed
