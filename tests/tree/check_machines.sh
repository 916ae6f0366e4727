#!/bin/bash
# The same on other processors, a big-endian one (s390x) and arm64: all of it is compiled for each against Debian's
# libraries of that machine (kept in build-MACHINE/sysroot) and run by qemu-user. Unit tests of the rooms whose octets
# leave a machine: SNMP, sFlow, netlink, captures, registers, the store. Then agent and collector of either
# kind with each other, over this machine's snmpd: the same samples, and stores that both read alike. At
# last check_e2e.sh with both daemons of that kind. Takes minutes and the network: only with EASE_LONG.
# EASE_MACHINES names fewer. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_LONG:-}" ] || { echo "SKIP machines: minutes of emulation: tests/run --long"; exit 0; }
if [ -z "${EASE_MACHINE:-}" ]; then
	failed=0
	for machine in ${EASE_MACHINES:-s390x aarch64}; do
		EASE_MACHINE=$machine "$0" | sed -u "s/^\([A-Z]*\) machines /\1 machines $machine: /"
		[ "${PIPESTATUS[0]}" = 0 ] || failed=1
	done
	exit $failed
fi
machine=$EASE_MACHINE
case $machine in
s390x) debian=s390x loader=ld64.so.1 ;;
aarch64) debian=arm64 loader=ld-linux-aarch64.so.1 ;;
esac
for need in "$machine-linux-gnu-gcc" "qemu-$machine-static" apt-get dpkg-deb; do
	command -v "$need" >/dev/null || { echo "SKIP machines all: $need is not there"; exit 0; }
done
. "$(dirname "$0")/../support/rig.sh"

native=$build
foreign=$top/build-$machine
sysroot=$foreign/sysroot
mkdir -p "$foreign/tests"

# ---- libraries of that machine ----

# By an apt that has lists and a state of its own: this machine's are left alone.
packages=$(awk '$1 == "build" && $2 ~ /-dev$/ || $2 == "check" { print $2 }' "$top/conf/packages" | paste -sd' ')
fetch_libraries() {
	local apt=$foreign/apt mine deb link
	rm -rf "$apt" "$sysroot"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$sysroot"/usr/{bin,sbin,lib}
	: >"$apt/status"
	mine=(-q -y -o "APT::Architecture=$debian" -o "APT::Architectures::=$debian" -o Acquire::Languages=none
	    -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o "Dir::State=$apt"
	    -o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache")
	apt-get "${mine[@]}" update || return 1
	# shellcheck disable=SC2086 # names without spaces
	apt-get "${mine[@]}" install --download-only --no-install-recommends $packages || return 1
	for link in bin sbin lib; do ln -s "usr/$link" "$sysroot/$link"; done
	for deb in "$apt"/cache/archives/*.deb; do # of which most have only some of these
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$sysroot" --keep-directory-symlink \
		    ./lib ./usr/lib ./usr/include ./usr/bin/net-snmp-config 2>/dev/null
	done
	find "$sysroot" -type l -lname '/*' | while read -r link; do
		ln -sfr "$sysroot$(readlink "$link")" "$link"
	done
	rm -rf "$apt"
	[ -e "$sysroot/lib/$loader" ] && echo "$packages" >"$sysroot/packages"
}
if [ "$(cat "$sysroot/packages" 2>/dev/null)" != "$packages" ] && ! fetch_libraries >"$foreign/apt.log" 2>&1; then
	skip 'all' "Debian's libraries for $machine cannot be had: $(grep '^E:' "$foreign/apt.log" | head -n 1)"
	exit 0
fi

# ---- the build ----

. "$top/tests/support/units.sh"

programs='agent/easeagentd collector/easecapd collector/easetop tests/truth tests/collector/store/store_sql'
units='frame tunnels trap_wire sflow_wire options galnet galnet_model c84302 c84302_model tnetx4090
    feed emulated board_resources reference rtnl psample sampling sflow_export agent static_addresses rmon requests
    mib mib_modules managed_table notify trap_sinks master master_link v2c decode slow_path v3 sflow_input
    sflow_boots sflow_counters easecapd sequence_tracker flow_cache window pack crash_journal store transit report report_ports render lists history addresses address_names web cluster
    query_cluster'
compile() {
	cat >"$foreign/net-snmp-config" <<-END_OF_SCRIPT # which names the directories of a machine that runs it
		#!/bin/sh
		sh "$sysroot/usr/bin/net-snmp-config" "\$@" | sed 's,-I/usr/,-I$sysroot/usr/,g'
	END_OF_SCRIPT
	chmod +x "$foreign/net-snmp-config"
	export PKG_CONFIG_SYSROOT_DIR=$sysroot
	export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$machine-linux-gnu/pkgconfig:$sysroot/usr/lib/pkgconfig
	cd "$foreign" || return 1
	"$top/configure" -q --host=$machine-linux-gnu CC="${EASE_CCACHE:-} $machine-linux-gnu-gcc --sysroot=$sysroot" \
	    NET_SNMP_CONFIG="$foreign/net-snmp-config" --without-ebpf || return 1
	# shellcheck disable=SC2086
	make -j"$(nproc)" $programs $(unit_paths $units) || return 1
	cd "$top" || return 1
}
if (compile) >"$foreign/tests-build.log" 2>&1; then pass 'compiles'; else
	fail 'compiles' "$(grep -m 3 -E 'error|\*\*\*|No rule' "$foreign/tests-build.log")"
	exit 1
fi
for program in $programs; do # by which scripts and tests start them
	mkdir -p "$foreign/run/$(dirname "$program")"
	printf '#!/bin/sh\nexec qemu-%s-static -L "%s" -0 "$0" "%s" "$@"\n' "$machine" "$sysroot" "$foreign/$program" \
	    >"$foreign/run/$program"
	chmod +x "$foreign/run/$program"
done

# ---- unit tests ----

unit() { # NAME
	local program out
	program=$(unit_paths "$1")
	out=$foreign/$program.out
	if (cd "$foreign/run" && EASE_QUICK=1 EASE_CAPTURES= CK_TIMEOUT_MULTIPLIER=30 srcdir=$top timeout 600 \
	    "qemu-$machine-static" -L "$sysroot" "$foreign/$program" >"$out" 2>&1); then
		pass "check_$1: $(sed -n 's/^100%: Checks: \([0-9]*\).*/\1/p' "$out" | paste -sd+) checks"
	else
		fail "check_$1" "$(grep -E ':[FE]:' "$out" | head -n 3)"
	fi
}
for name in $units; do unit "$name"; done

# ---- agent and collector of either kind ----

capture=$rig.pcap keep=$rig-keep
trap 'rig_stop; rm -rf "$rig" "$capture" "$keep"' EXIT
"$top/conf/make-capture" "$capture" 4 || exit 1
mkdir "$keep"
all_came() {
	local taken
	taken=$(column_sum $ease.1.2.1.6)
	[ "${taken:-0}" -gt 0 ] && [ "$(easetop loss --last all --format json |
	    jq -r '[.rows[]] | "\(map(.expected) | add) \(map(.received) | add)"')" = "$taken $taken" ]
}
replay() { # NAME AGENT-BUILD COLLECTOR-BUILD: the store is left as $keep/NAME.db
	rig_new
	if ! { build=$3 rig_collector && rig_snmpd && build=$2 rig_agent "$capture" lock_step 'mean_skip = 40'; }; then
		fail "$1" 'a daemon did not come up'
		return
	fi
	wait_for 120 replay_ended
	if wait_for 20 all_came; then pass "$1: every sample came"; else
		fail "$1: every sample came" "$(easetop loss --last all | tail -n 2)"
	fi
	rig_stop
	sqlite3 "$rig/ease.db" "VACUUM INTO '$keep/$1.db'"
}
report() { # BUILD STORE REPORT
	local top=(--top 1000)
	[ "$3" != loss ] || top=()
	"$1/collector/easetop" "$3" --store "sqlite:$keep/$2.db" --last all "${top[@]}" --utc --format json
}
kinds='talkers matrix protocols conversations connections load errors loss'
# When snapshots came decides the last digits of estimates and of limits, and so of ranks: limits and ranks are left
# out, estimates are alike to 1e-7.
figures() { jq -cS '.rows | map(del(.rank)) | walk(if type == "object" and has("estimate") then .estimate else . end)'; }
alike() {
	jq -en --argjson one "$1" --argjson other "$2" 'def alike($a; $b):
	    if ($a | type) != ($b | type) then false
	    elif ($a | type) == "number" then ($a - $b | fabs) <= 1e-7 * ([$a, $b] | map(fabs) | max)
	    elif ($a | type) == "object" then ($a | keys) == ($b | keys) and all($a | keys[]; alike($a[.]; $b[.]))
	    elif ($a | type) == "array" then ($a | length) == ($b | length) and all(range($a | length); alike($a[.]; $b[.]))
	    else $a == $b end; alike($one; $other)' >/dev/null
}
same_figures() { # NAME STORE STORE
	local kind one other
	for kind in $kinds; do
		one=$(report "$native" "$2" "$kind" | figures) other=$(report "$native" "$3" "$kind" | figures)
		if [ -n "$one" ] && alike "$one" "$other"; then pass "$1: $kind"; else
			fail "$1: $kind" "$(diff <(jq . <<<"$one") <(jq . <<<"$other") | head -n 10)"
		fi
	done
}
read_alike() { # NAME STORE
	local kind
	for kind in $kinds; do # all of it but the time, which is the one of asking
		expect "$1: $kind" "$(report "$foreign/run" "$2" "$kind" | jq -cS 'del(.to)')" \
		    "$(report "$native" "$2" "$kind" | jq -cS 'del(.to)')"
	done
}
replay native-to-native "$native" "$native"
replay foreign-to-native "$foreign/run" "$native"
replay native-to-foreign "$native" "$foreign/run"
same_figures 'samples of an agent there' native-to-native foreign-to-native
same_figures 'samples in a collector there' native-to-native native-to-foreign
read_alike 'its store, read there' native-to-foreign
read_alike 'a store from elsewhere, read there' native-to-native

EASE_BUILD=$foreign/run EASE_CAPTURES= "$top/tests/e2e/check_e2e.sh" | sed 's/^\([A-Z]*\) e2e /\1 machines e2e: /'
[ "${PIPESTATUS[0]}" = 0 ] || failed=1
exit $failed
