#!/bin/bash
# bench.sh [NAME...]: what `make bench` runs, or these of it: every figure of the project with a named, packaged peer on
# the same input in the same run, as JSON objects, one a line, medians of several runs; they stay in bench.json of the
# build. Goes on after a failure. At the end a table, ours divided by the peer's; then what was left out and why, and
# what failed: then exit 1. The capture is EASE_CAPTURES/composed-a.pcap if that folder is there, else the demo's own.
# Loopback only; takes half an hour on two cores.
#   BENCH_RUNS=5  BENCH_DISK_HOURS=25  BENCH_LOSSLESS_RUNS=2 are the defaults
#   BENCH_DAYS=30  BENCH_FLEETS="100 300 1000"  BENCH_FULL_STORE="168 1440" are the whole sizes: hours
#   BENCH_SMALL=1  each as small as it still does all of its steps: seconds, for tests; figures mean nothing then
set -u
export LC_ALL=C MIBS=
. "$(dirname "$0")/bench_tools.sh"
export EASE_BUILD=$build
here=$top/tests/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
small=${BENCH_SMALL:-} lines=$build/bench.json limit_s=900
[ -z "${BENCH_RUNS:-}${BENCH_DAYS:-}${BENCH_DISK_HOURS:-}${BENCH_FULL_STORE:-}${BENCH_FLEETS:-}${EASE_LONG:-}" ] || limit_s=14400
[ -z "$small" ] || lines=$dir/bench.json limit_s=300
size() { if [ -n "$small" ]; then echo "$1"; else echo "$2"; fi; } # SMALL WHOLE
runs=$(size 1 "${BENCH_RUNS:-5}") days=$(size 1 "${BENCH_DAYS:-10}")

# Peers cannot have a large socket buffer unless everybody may: for this run everybody may.
limit=/proc/sys/net/core/rmem_max
before=$(<$limit)
if [ -z "$small" ] && [ "$before" -lt 33554432 ]; then
	trap 'echo "$before" 2>/dev/null >$limit; rm -rf "$dir"' EXIT
	echo 33554432 2>/dev/null >$limit || echo "bench: net.core.rmem_max stays $before: sfacctd and sfcapd have smaller buffers" >&2
fi
capture=${EASE_CAPTURES:-$top/../shared/captures}/composed-a.pcap
if [ -n "$small" ] || [ ! -r "$capture" ]; then
	capture=$dir/demo.pcap
	"$top/conf/make-capture" "$capture" "$(size 1 60)" >/dev/null || die 'no capture can be made'
fi

# ---- what there is ----

benches() {
	bench frame tests/bench/bench_frame "$capture" "$(size 1 31)"
	bench switch env ROUNDS="$runs" "$here/bench_switch.sh" "$capture" "$(size 40000 4000000)" "$(size 0.1 2)"
	bench curves tests/bench/bench_switch curves "$capture" "$(size 0.1 1)"
	bench snmp env ROUNDS="$runs" BURST="$(size 2000 50000)" "$here/bench_snmp.sh"
	bench sample env ROUNDS="$runs" FRAMES="$(size 20000 100000)" "$here/bench_sample.sh"
	bench walk env ROUNDS="$(size 1 3)" SIZES="$(size '8:64 16:128' '48:32768 512:65536 1024:65536')" WAITS_S="$(size 0.3 4)" "$here/bench_walk.sh"
	bench linux tests/bench/bench_linux "$(size 3200 32000)" 1000 "$(size 3 51)"
	bench cost "$here/bench_cost.sh" "$(size 320 32000)" "$(size 3 21)" "$(size 1 3)"
	without SONIC sonic libhiredis || bench sonic tests/bench/bench_sonic "$(size 32 512)" "$(size 2 60)" "$(size 64 32768)"
	bench ports "$here/bench_ports.sh" "$(size 40 4000)" "$(size 1 10)"
	bench psample "$here/bench_psample.sh" "$(size 320 32000)" "$(size 100 1000)" "$(size 1 5)"
	bench drops "$here/bench_drops.sh" "$(size 500 20000)"
	bench collector tests/bench/bench_collector "$(size 0.2 2)"
	bench storm tests/bench/bench_storm "$(size 0.3 5)"
	bench store tests/bench/bench_store $(size '3 500 1' '')
	bench disk tests/bench/bench_disk "$(size 0.1 "${BENCH_DISK_HOURS:-25}")"
	bench full_store tests/bench/bench_full_store $(size "1 0 1" "${BENCH_FULL_STORE:-1 4 2}")
	bench agents tests/bench/bench_agents $(size '12000 1' '')
	bench estimate tests/bench/bench_estimate "$(size 1 31)"
	bench report env ROUNDS="$runs" DAYS="$days" AGENTS="$(size 2 100)" "$here/bench_report.sh"
	bench cluster env ROUNDS="$(size 1 "$runs")" DAYS="$days" SHIP_DAYS="$(size 1 2)" FLEETS="$(size 10 "${BENCH_FLEETS:-100 300${EASE_LONG:+ 1000}}")" "$here/bench_cluster.sh"
	bench live "$here/bench_live.sh" "$(size 2 60)"
	bench sflow tests/bench/bench_sflow "$(size 0.2 4)" 100000 "$(size 1 "${BENCH_LOSSLESS_RUNS:-2}")"
}

# Of which bench, what, unit, ours, the peer, its own: of the bench's lines by jq; no peer: no ratio. All are above 0, but
# for units in % (0) and "more" (any). Separated by ';'.
figures() {
	cat <<-'END'
		frame;keys of a header;ns;b("frame").outer_ns_per_frame;;
		switch;frames through the emulated switch;/s;s("savefile").frames_per_s;libpcap, bare loop;b("libpcap").frames_per_s
		switch;frames through the emulated switch;/s;s("savefile").frames_per_s;softflowd;b("softflowd").frames_per_s
		switch;frames through the emulated switch;/s;s("savefile").frames_per_s;nfpcapd;b("nfpcapd").frames_per_s
		switch;the same from memory;/s;s("memory").frames_per_s;;
		curves;a frame, 8,000 stations;ns;last(.[] | select(.curve | startswith("stations"))).ns_per_frame;10 stations;first(.[]).ns_per_frame
		curves;a frame, 64 ports;ns;last(.[]).ns_per_frame;2 ports;first(.[] | select(.curve | startswith("ports"))).ns_per_frame
		snmp;notifications through snmpd;/s;b("notifications of one sample through snmpd").value;Net-SNMP, bare subagent;b("notifications of one sample through snmpd").peer_value
		snmp;notifications past the master, v2c;/s;b("notifications of one sample past the master, SNMPv2").value;through snmpd;b("notifications of one sample past the master, SNMPv2").peer_value
		snmp;notifications past the master, v3;/s;b("notifications of one sample past the master, SNMPv3").value;through snmpd;b("notifications of one sample past the master, SNMPv3").peer_value
		snmp;samples, 4 each, through snmpd;/s;b("samples, four in a notification, through snmpd").value;;
		sample;a sample to its datagram, v2c;us more;b("a sample by a notification of its own, SNMPv2").value;;
		sample;a sample to its datagram, v3;us more;b("a sample by a notification of its own, SNMPv3").value;;
		walk;varbinds of ifXTable, most ports;/s;l("bulkwalk of ifXTable").value;table_container;l("bulkwalk of ifXTable").peer_value
		walk;varbinds of dot1dTpFdbTable;/s;l("bulkwalk of dot1dTpFdbTable").value;table_container;l("bulkwalk of dot1dTpFdbTable").peer_value
		walk;varbinds of ifXTable, most ports;/s;l("bulkwalk of ifXTable").value;snmpd's own;l("bulkwalk of snmpd's own").value
		walk;a GET while tables are refreshed;ms;l("GET while").median_ms;snmpd's sysUpTime;l("GET of sysUpTime").median_ms
		walk;GETNEXT in the table engine;ns;l("GETNEXT").value;;
		linux;a frame between interfaces, sampled;ns;b("linux_sampling").tap_ns;libpcap;b("linux_sampling").libpcap_ns
		linux;what sampling adds to it;ns more;b("linux_sampling").tap_adds_ns;libpcap;b("linux_sampling").libpcap_adds_ns
		cost;a frame, our program at clsact;ns;n("at clsact").program_ns;an empty program;n("at clsact").hook_ns
		cost;a frame, our program at tcx;ns;b("sampling_ns").program_ns;at clsact;n("at clsact").program_ns
		cost;a sample, and waking who reads it;ns more;b("sampling_ns").sample_ns;;
		sonic;a switch, keyspace events;% core;l("sonic, .* events on").core_percent;libhiredis, counters alone;l("libhiredis").core_percent
		sonic;first reading;ms;l("sonic, first reading").ms;;
		ports;links that come and go;% core;p("easeagentd").churn_percent;snmpd alone;p("snmpd alone").churn_percent
		ports;the oldest counter meanwhile;s;p("easeagentd").oldest_counter_s;snmpd alone;p("snmpd alone").oldest_counter_s
		psample;a frame, sampled, kernel 6.1;ns;b("linux_sampling").tap_ns;tc action sample;b("linux_sampling").tc_sample_ns
		drops;a dropped packet, 100/s reported;ns;b("drops").limited_ns;drop monitor off;b("drops").off_ns
		collector;samples, none lost;/s;last(.[]).lossless_per_s;snmptrapd logs;last(.[]).snmptrapd_per_s
		collector;samples packed, none lost;/s;last(.[]).packed_lossless_per_s;;
		collector;a sample, port below an alarm's rate;us;b("alarms, gated").cpu_us;no alarms;b("alarms, gated").without_us
		collector;a sample of 100,000 keys, all tested;us;b("alarms, tested").cpu_us;no alarms;b("alarms, tested").without_us
		storm;quiet senders' samples that came;% of all;b("storm") | (.quiet_sent - .quiet_lost) / .quiet_sent * 100;no storm;b("no storm") | (.quiet_sent - .quiet_lost) / .quiet_sent * 100
		store;a flush beside readers;ms;last(.[]).median_ms;no readers;.[-2].median_ms
		disk;a sample's octets, office;octets;first(.[] | select(.network == "office")).octets_a_sample;;
		disk;the file, office;of plan;first(.[] | select(.network == "office")).file_of_plan;;
		full_store;the slowest answer's median;s;[.[] | select(.bench == "full_store_answer").median_s] | max;;
		full_store;samples received beside readers;/s;r("all").sent_per_s;no readers;r("none").sent_per_s
		agents;a notification, 1,000 agents;ns;first(.[] | select(.agents == 1000)).ns_a_notification;10 agents;first(.[] | select(.agents == 10)).ns_a_notification
		agents;refusal of a new agent;ns;b("accounting refuses a new agent").ns;;
		estimate;a list of 100 of 100,000 keys;ms;b("estimate").all_ms;;
		report;top 100 of all days, processor;ms;b("top_100").ms;nfdump;b("top_100").nfdump_ms
		report;a sample in the store;octets;b("store_size").octets_a_sample;nfdump;b("store_size").nfdump_octets_a_sample
		cluster;top 100 of all days, ClickHouse;ms;first(.[] | select(.question == "talkers, top 100 of all days" and .bench == "cluster_question")).ms;SQLite;b("sqlite_question").ms
		cluster;samples shipped;/s;b("shipping").samples_per_s;;
		live;the picture behind the clock;s;b("live").behind_clock_s_median;;
		sflow;samples, none lost;/s;last(.[]).lossless_per_s;sfacctd;last(.[]).sfacctd_per_s
		sflow;samples sent on, too, none lost;/s;last(.[]).forward_per_s;not sent on;last(.[]).lossless_per_s
		sflow;samples, none lost;/s;last(.[]).lossless_per_s;sfcapd;last(.[]).sfcapd_per_s
	END
}
definitions='
    def b($name): first(.[] | select(.bench == $name));
    def n($name): first(.[] | select(.name == $name));
    def l($words): last(.[] | select(.bench | test("^" + $words)));
    def s($from): first(.[] | select(.bench == "switch" and .from == $from));
    def p($program): first(.[] | select(.program == $program));
    def r($readers): first(.[] | select(.readers == $readers));
    def fit($unit): if type == "number" and (. > 0 or . == 0 and ($unit | startswith("%")) or ($unit | endswith("more")))
	then . else error("no figure") end;'
# Adds the bench's figures to the table; prints the first that is not there.
table_of() { # NAME
	local name figure unit ours peer its values
	while IFS=';' read -r name figure unit ours peer its; do
		[ "$name" = "$1" ] || continue
		values=$(jq -rs --arg unit "$unit" "$definitions [($ours | fit(\$unit)), (${its:-1} | fit(\$unit))] |
		    if length == 2 then @tsv else error(\"no figure\") end" "$dir/$1.json" 2>/dev/null) ||
		    { echo "no figure '$figure' (${peer:-ours})"; return; }
		printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$figure" "$unit" "$peer" "$values" >>"$dir/table"
	done < <(figures)
}

# ---- running them ----

asked=("$@") left_out=() failed=() ran=0
is_asked() { [ ${#asked[@]} = 0 ] || [[ " ${asked[*]} " == *" $1 "* ]]; } # NAME
without() { # CONDITION NAME LIBRARY: the build has not that, and the bench is left out
	grep -qs "^HAVE_$1_TRUE='#'" "$build/config.log" || return
	! is_asked "$2" || left_out+=("$2: built without $3")
}
bench() { # NAME COMMAND...
	local name=$1 began=$SECONDS status why=''
	shift
	is_asked "$name" || return
	ran=$((ran + 1))
	(cd "$build" && exec timeout -k 10 $limit_s "$@") >"$dir/$name.json" 2>"$dir/$name.err" </dev/null
	status=$?
	why=$(sed -n 's/.*left out: //p; s/^SKIP .*: //p' "$dir/$name.err" "$dir/$name.json" | head -n 1)
	if [ -n "$why" ]; then
		left_out+=("$name: $why")
		return
	fi
	tee -a "$lines" <"$dir/$name.json"
	if [ $status = 124 ]; then why="it took more than $limit_s s"
	elif [ $status != 0 ]; then why="it ended with status $status"
	elif ! jq -es 'length > 0 and all(has("bench"))' "$dir/$name.json" >/dev/null 2>&1; then why='it says no JSON'
	else why=$(table_of "$name"); fi
	if [ -z "$why" ]; then
		echo "ok     $name ($((SECONDS - began)) s)" >&2
	else
		failed+=("$name: $why: $(tail -n 2 "$dir/$name.err" | paste -sd' ')")
		echo "FAILED ${failed[-1]}" >&2
	fi
}
: >"$lines"
: >"$dir/table"
benches
[ $ran -gt 0 ] || die "there is no bench ${asked[*]}"
echo
awk -F'\t' 'function short(v) { return v >= 1000 ? sprintf("%.0f", v) : sprintf("%.3g", v) }
    BEGIN { OFS = FS; print "BENCH", "FIGURE", "UNIT", "OURS", "PEER", "ITS", "OURS/ITS" }
    $4 == "" { print $1, $2, $3, short($5), "-", "-", "-"; next }
    { print $1, $2, $3, short($5), $4, short($6), $6 ? sprintf("%.2f", $5 / $6) : "-" }' "$dir/table" | column -t -s "$(printf '\t')"
[ ${#left_out[@]} = 0 ] || printf 'LEFT OUT %s\n' "${left_out[@]}"
[ ${#failed[@]} = 0 ] || printf 'FAILED %s\n' "${failed[@]}"
[ ${#failed[@]} = 0 ]
