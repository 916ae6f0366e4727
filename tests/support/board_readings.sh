# shellcheck shell=bash
# tests/support/board_readings.sh: twice a second what the board has counted in all, and when it had said so: tells how
# much of its capture it had played (tests/e2e/live_sflow.py). To be sourced behind rig.sh, once the agent runs.
received=() # ifHCInUcastPkts of each port
for port in 1 2 3 4 5 6 7 8; do received+=("$if_x.7.$port"); done
read_board() {
	local pkts
	while kill -0 "$agent_pid" 2>/dev/null; do
		pkts=$(snmp_get "${received[@]}" | awk '{ sum += $1 } END { printf "%.0f\n", sum }')
		echo "${EPOCHREALTIME/[.,]/} $pkts" >>"$rig/readings"
		sleep 0.5
	done
}
read_board &
disown $!
