#!/bin/bash
# bench_live.sh [SECONDS]: from packet to picture. The emulated switch plays made traffic in real time through snmpd,
# and a look each second asks what the page asks first, a moment and the sources (tests/bench/bench_live.py). One JSON
# object: how far the picture's end was behind what counters had reached by then, when it was drawn and just before
# the next one; and behind the clock. SECONDS: 60.
# The rig is that of tests; nothing is judged.
seconds=${1:-60}
. "$(dirname "$0")/../support/rig.sh"
. "$(dirname "$0")/bench_tools.sh"

rig_http=127.0.0.1:$(free_port)
rig_new
sed -i /flush_interval/d "$rig/collector.conf" # that of a collector, not of a test
# One that outlasts any start takes seconds to make; where the bench is small a short one is played again and again.
"$top/conf/make-capture" "$rig/live.pcap" "$([ -n "${BENCH_SMALL:-}" ] && echo 8 || echo $((seconds + 60)))" >/dev/null || exit 1
rig_start "$rig/live.pcap" recorded 'mean_skip = 20' 'loop = true' >/dev/null || die 'a daemon did not come up'
has_edge() { # each port's counters came
	[ "$(sqlite3 "$rig/ease.db" "SELECT count(*) > 0 AND min(newest) FROM (SELECT EXISTS (SELECT 1 FROM counter
	    WHERE counter.agent = port.agent AND counter.if_index = port.if_index) AS newest
	    FROM port WHERE oper_status = 1 AND edge)")" = 1 ]
}
wait_for 15 has_edge || die 'not all ports send counters'
python3 "$top/tests/bench/bench_live.py" "http://$rig_http/" "$rig/ease.db" "$seconds"
