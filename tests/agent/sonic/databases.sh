# shellcheck shell=bash
# tests/agent/sonic/databases.sh: SONiC's databases in a Redis server of a test's own, to be sourced behind rig.sh. Leaves the
# test where that is not to be had.
[ -x "$build/tests/agent/sonic/sonic_server" ] || { skip 'all' 'this build has no libhiredis'; exit 0; }
for need in redis-server redis-cli; do
	command -v $need >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
server_pid=''
trap 'rig_stop; rig_end "$server_pid"; rm -rf "$rig"' EXIT
# Behind rig_new: what was filled in stands in $rig/generator; sets $config, which sonic_database_config wants.
sonic_databases() { # PORTS LAGS VLANS ADDRESSES SEED
	"$build/tests/agent/sonic/sonic_server" "$@" >"$rig/generator" &
	server_pid=$!
	disown "$server_pid"
	wait_for 10 grep -qx end "$rig/generator" || { fail 'start' 'redis-server was not filled'; exit 1; }
	config=$(head -n 1 "$rig/generator")
	socket=$(jq -r .INSTANCES.redis.unix_socket_path "$config")
}
db() { redis-cli -s "$socket" -n "$@"; } # NUMBER COMMAND...
