#!/bin/bash
# Who may include whom: architecture as data. Reads every `#include` of the tree and holds it
# against the rules below; then plants a violation of each kind in a copy to see that it is found. The same for
# circles of files (tests/tree/circles.py).
# Prints PASS name or FAIL name: reason; exit 1 if one failed.
#   check_includes.sh [TREE]   with a TREE, only prints its violations
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)

# FILES may include WHAT: patterns, where * also matches a slash. The first line that matches a
# file is its rule. Where a file may name system headers of Net-SNMP, WHAT says so.
mapfile -t rules <<'END'
common/*                 common/*
agent/hal/*              agent/hal/* common/*
agent/sim/bus/*          agent/sim/bus/* common/*
agent/sim/chip/*_regs.h  agent/sim/chip/*_regs.h agent/sim/bus/bus.h
agent/sim/chip/*_model.[ch] agent/sim/chip/*_model.h agent/sim/chip/*_regs.h agent/sim/bus/* common/*
agent/sim/chip/*         !agent/sim/chip/*_model* agent/sim/chip/* agent/sim/bus/* agent/hal/hal_provider.h common/*
agent/sim/*              agent/sim/* agent/hal/hal_provider.h agent/hal/hal.h common/*
agent/linux/*            agent/linux/* agent/hal/abilities.h agent/hal/hal_provider.h agent/hal/hal.h common/*
agent/sonic/*            agent/sonic/* agent/linux/netlink.h agent/linux/psample.h agent/linux/own_frames.h agent/hal/hal_provider.h agent/hal/hal.h common/*
agent/sampling/*         agent/sampling/* agent/hal/hal.h common/*
agent/snmp/*             agent/snmp/* common/* net-snmp/*
agent/rmon/*             agent/rmon/* agent/hal/hal.h agent/snmp/mib_table.h agent/snmp/managed_table.h common/*
mibs/*                   mibs/* agent/hal/hal.h agent/sampling/*.h agent/rmon/rmon.h agent/snmp/mib_table.h common/*
agent/*                  agent/sim/dummy.h agent/sim/emulated.h !agent/sim/* !collector/* agent/* mibs/* common/*
collector/input/*        collector/input/* collector/record.h collector/source_port.h collector/polled.h common/* net-snmp/*
collector/act/*          collector/act/* collector/alarm/*.h collector/poll/poll_job.h collector/poll/snmp_user.h common/* net-snmp/*
collector/poll/*         collector/poll/* collector/polled.h common/* net-snmp/*
collector/filter/*       collector/filter/* common/*
collector/query/*        collector/query/* collector/filter/* collector/estimate/* collector/window/* collector/store/* collector/cluster/* collector/source_port.h common/*
collector/report/*       collector/report/* collector/query/* collector/filter/* collector/estimate/* collector/window/* collector/store/* collector/record.h collector/source_port.h common/*
collector/render/*       collector/render/* collector/report/* common/*
collector/*              collector/* common/*
conf/guide/*             conf/guide/* agent/sim/bus/* agent/hal/hal_provider.h common/*
tests/*                  * net-snmp/*
END

# FILE INCLUDED for every include by our name, and for every one of Net-SNMP's headers.
includes() {
	cd "$1" || return
	find . -type d \( -name .git -o -exec test -e '{}/config.status' \; \) -prune -o \
	    -name '*.[ch]' -print0 |
	    xargs -0 grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("[^"]+"|<net-snmp/[^>]+>)' |
	    sed -E 's!^\./!!; s!:[^"<]*["<]! !; s![">]$!!'
}

allowed() { # FILE INCLUDED
	local what="$2" rule files pattern
	set -f
	for rule in "${rules[@]}"; do
		files=${rule%% *}
		# shellcheck disable=SC2053 # patterns on purpose
		[[ $1 == $files ]] || continue
		for pattern in ${rule#* }; do
			case $pattern in
			!*) [[ $what != ${pattern#!} ]] || return 1 ;;
			*) [[ $what == $pattern ]] && [[ $what != net-snmp/* || $pattern == net-snmp/* ]] && return ;;
			esac
		done
		return 1
	done
	return 1
}

violations() {
	includes "$1" | sort -u | while read -r file included; do
		allowed "$file" "$included" || echo "$file includes $included"
	done
}

if [ $# -gt 0 ]; then
	violations "$1"
	exit
fi

failed=0
found=$(violations "$top")
if [ -z "$found" ]; then
	echo "PASS includes point one way"
else
	echo "FAIL includes point one way: $(echo "$found" | tr '\n' ';')"
	failed=1
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
while read -r file included; do
	mkdir -p "$dir/$(dirname "$file")"
	case $included in
	net-snmp/*) echo "#include <$included>" ;;
	*) echo "#include \"$included\"" ;;
	esac >"$dir/$file"
	found=$(violations "$dir")
	rm "$dir/$file"
	if [ "$found" = "$file includes $included" ]; then
		echo "PASS includes: $file with $included is found"
	else
		echo "FAIL includes: $file with $included is found: '$found'"
		failed=1
	fi
done <<'END'
common/log.c agent/hal/hal.h
agent/hal/hal.c agent/sim/chip/galnet.h
agent/sim/chip/galnet.c agent/sim/chip/galnet_model.h
agent/sim/chip/galnet_model.c agent/sim/chip/galnet.h
agent/sim/chip/galnet_model.c agent/hal/hal_provider.h
agent/sampling/sampling.c agent/hal/hal_provider.h
mibs/if_mib.c agent/sim/dummy.h
agent/rmon/alarm.c agent/hal/hal_provider.h
mibs/if_mib.c net-snmp/net-snmp-config.h
agent/agent.c net-snmp/agent/net-snmp-agent-includes.h
agent/agent.c collector/record.h
agent/agent.c agent/sim/fabric.h
agent/hal/hal.c agent/sim/emulated.h
agent/snmp/snmp_agent.c agent/sim/emulated.h
agent/sampling/sampling.c agent/sim/emulated.h
agent/linux/linux_device.c agent/sim/emulated.h
agent/sonic/sonic_device.c agent/sim/emulated.h
collector/window/accounting.c agent/hal/hal.h
collector/store/store.c net-snmp/net-snmp-config.h
collector/filter/filter.c collector/query/query.h
collector/query/query.c collector/report/report.h
collector/report/lists.c collector/render/render.h
collector/render/render_text.c collector/store/schema.h
END

command -v python3 >/dev/null || { echo 'SKIP includes: circles of files: python3 is not there'; exit $failed; }
# Files, too: none needs another that needs it. Two are planted: headers, and objects, that make a circle.
build=${EASE_BUILD:-$top/build}
found=$(python3 "$top/tests/tree/circles.py" "$build")
if [ -z "$found" ]; then
	echo 'PASS includes: no circle of files'
else
	echo "FAIL includes: no circle of files: $(echo "$found" | tr '\n' ';')"
	failed=1
fi
rm -rf "${dir:?}"/*
mkdir -p "$dir/common" "$dir/build/common"
echo '#include "common/b.h"' >"$dir/common/a.h"
echo '#include "common/a.h"' >"$dir/common/b.h"
echo 'int c(void); int d(void); int c(void) { return d(); }' >"$dir/common/c.c"
echo 'int c(void); int d(void); int d(void) { return c(); }' >"$dir/common/d.c"
for file in c d; do ${CC:-cc} -c "$dir/common/$file.c" -o "$dir/build/common/libcommon_a-$file.o"; done
found=$(EASE_TOP=$dir python3 "$top/tests/tree/circles.py" "$dir/build" | tr '\n' ';')
if [ "$found" = 'a circle: common/a.h common/b.h;a circle: common/c common/d;' ]; then
	echo 'PASS includes: circles that are planted are found'
else
	echo "FAIL includes: circles that are planted are found: '$found'"
	failed=1
fi
exit $failed
