#!/bin/bash
# Manual pages and easetop's completion against the programs themselves: each report, option and object
# is there, and nothing that is not. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
trap 'rm -rf "$rig"' EXIT

program=$build/collector/easetop
page=$top/collector/easetop.1
reports=$("$program" --help | awk '/^Options/ { exit } /^  / { print $1 }' | sort)
options=$("$program" --help | awk '$1 ~ /^--/ { print substr($1, 3) }' | sort)

# What one of both has alone.
expect 'man: reports' "$(sed -n '/^.Ss Reports/,/^.Ss Options/s/^.It Cm //p' "$page" | sort | comm -3 - <(echo "$reports"))" ''
expect 'man: options' "$(sed -n 's/^.It //p' "$page" | grep -o 'Fl Fl [a-z]*' | cut -d' ' -f3 | sort | comm -3 - <(echo "$options"))" ''
if command -v mandoc >/dev/null; then
	expect 'man: mandoc has nothing to say' "$(mandoc -T lint -W warning "$page" 2>&1)" ''
else
	skip 'man: mandoc has nothing to say' 'no mandoc'
fi

# The daemons: options of the command line, and every option of the configuration.
if [ -r "$build/conf/easecapd.conf.5" ]; then
	expect 'easecapd(8): options' "$(sed -n 's/^.It Fl Fl \([a-z-]*\).*/\1/p; s/^.It Fl \([a-z]\)\>.*/\1/p' "$top/collector/easecapd.8" | sort)" \
	    "$({ "$build/collector/easecapd" --help | sed -n 's/^  --\([a-z-]*\).*/\1/p; s/^  -\([a-z]\) .*/\1/p'; echo help; } | sort)"
	expect 'easeagentd(8): options' "$(grep -o '^.It.*Fl Fl [a-z-]*' "$top/agent/easeagentd.8" | sed 's/.*Fl Fl //' | sort)" \
	    "$("$build/agent/easeagentd" --help | grep -o -- '--[a-z-]*' | sed 's/^--//' | grep -v '^help$\|^usage$' | sort)"
	for daemon in agent/easeagentd collector/easecapd; do
		page=$build/conf/${daemon#*/}.conf.5
		expect "$(basename "$page"): options" "$(sed -n 's/^.It Ic \([a-z_0-9]*\).*/\1/p' "$page" | sort -u)" \
		    "$(sed -n '/option_row [a-z]*_options\[\]/,/^};/p; /^#define [A-Z_]*_ROWS/,/^$/p' "$top/${daemon%/*}/config.c" |
			grep -v '\.group = ' | grep -oE '^    \{(\.name = )?"[a-z_0-9]+"' | grep -o '"[a-z_0-9]*"' | tr -d '"' | sort -u)"
		# The defaults: a file with as little as the program takes, which for easeagentd is nothing.
		printf 'communities = {SECRET}\n' >"$rig/least.conf"
		[ "$daemon" = collector/easecapd ] || : >"$rig/least.conf"
		"$build/$daemon" -c "$rig/least.conf" --print-config | sed -n 's/^\([a-z_0-9]*\) = /\1 /p' |
		    grep -v hidden | sort >"$rig/defaults"
		expect "$(basename "$page"): defaults are the program's" \
		    "$(sed -n 's/^.It Ic \([a-z_0-9]*\) No = /\1 /p' "$page" | sed 's/\\(dq/"/g' | sort | comm -13 - "$rig/defaults")" ''
		! command -v mandoc >/dev/null ||
		    expect "$(basename "$page"): mandoc has nothing to say" "$(mandoc -T lint -W warning "$page" "$top/$daemon.8" 2>&1)" ''
	done
	expect 'easeagentd --print-config needs no file' "$("$build/agent/easeagentd" --print-config)" \
	    "$("$build/agent/easeagentd" -c /dev/null --print-config)"
	grep -q 'no emulated switch' "$build/conf/easeagentd.conf.5" ||
	    expect 'easeagentd.conf(5): the default device' "$(sed -n 's/^.It Ic device No = //p' "$build/conf/easeagentd.conf.5")" '\(dqemulated\(dq'
fi

# What is served and sent, as the agent and the module's text have it, with a meaning for each of ours.
page=$build/conf/easeswitch-mib.7
if [ -r "$page" ]; then
	text=$top/mibs/EASE-SAMPLING-MIB.txt
	expect 'easeswitch-mib(7): every object, with name and OID' \
	    "$(sed -n 's/^\.It Ic \([A-Za-z0-9]*\) No \(1\.[0-9.]*\), .*/\1 \2/p' "$page" | sort)" \
	    "$("$build/agent/easeagentd" --list-objects | awk '{ print $1, $2 }' | sort)"
	expect 'easeswitch-mib(7): every notification' "$(sed -n 's/^\.It Ic \([A-Za-z]*\) No with .*/\1/p' "$page" | sort)" \
	    "$(sed -n 's/^\([a-z][A-Za-z]*\) NOTIFICATION-TYPE$/\1/p' "$text" | sort)"
	expect 'easeswitch-mib(7): every value of notifications' "$(sed -n '/^.Ss Values/,/^.Ss Not/s/^\.It Ic //p' "$page" | sort)" \
	    "$(awk '/OBJECT-TYPE$/ { name = $1 } /accessible-for-notify/ { print name }' "$text" | sort)"
	expect 'easeswitch-mib(7): each of ours is explained' \
	    "$(awk '/^\.It Ic ease/ { name = $3; getline; if ($0 ~ /^\.(It|El|Ss)/ || NF < 3) print name }' "$page")" ''
	! command -v mandoc >/dev/null ||
	    expect 'easeswitch-mib(7): mandoc has nothing to say' "$(mandoc -T lint -W warning "$page" 2>&1)" ''
fi

complete_line() { # WORD...: what is offered for the last one
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _easetop; printf "%s\n" "${COMPREPLY[@]}"' \
	    - "$top/conf/completion/easetop" "$program" "$@" | sort
}
expect 'completion: reports' "$(complete_line '')" "$reports"
expect 'completion: options' "$(complete_line talkers -- | sed 's/^--//')" "$options"
expect 'completion: the beginning of one' "$(complete_line conv)" conversations
expect 'completion: values' "$(complete_line talkers --format c)" csv
wrong=''
for by in $(complete_line talkers --by ''); do
	"$program" talkers --by "$by" --store sqlite:/nowhere 2>&1 | grep -q 'must be' && wrong="$wrong $by"
done
expect 'completion: what --by offers is known' "$wrong" ''
exit $failed
