# tests/support/clickhouse.sh: ClickHouse servers of the Debian package as shards of one cluster on free ports
# of loopback, to be sourced by bash behind rig.sh. Everything of server I is below $clickhouse/I; each
# is ended by its process id. Servers start with little memory and with no file of the package's
# own configuration.
#   clickhouse_start N [PASSWORD]   N servers, cluster "ease"; a user "ease" with that password
#   clickhouse_end                  ends all of them and removes what they stored
#   clickhouse_kill I               like a power cut of the process: kill -9
#   clickhouse_server I             starts server I again on what it had
#   ch I SQL [OPTION...]            asks server I by HTTP; further options are curl's
#   clickhouse_url I [DATABASE]     what easecapd and easetop take: clickhouse:http://…
#   clickhouse_unlisted CONDITION   the words of statements sent, and the settings, that the table of
#                                   conf/guide/scaling-out.md does not have; of rows of system.query_log
# Users: "default" and "ease"; "reader" may read alone.
# To have them elsewhere (another network namespace) set clickhouse_host, an address that both sides
# reach, and the array clickhouse_run, a command prefix, before the start.
clickhouse=$rig-clickhouse
# Parts are many small files, which cost a disk's file system as much as what stands in them; a bench may need gigabytes.
if [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] && [ -z "${clickhouse_on_disk:-}" ]; then
	clickhouse=/dev/shm/${rig##*/}-clickhouse
fi
clickhouse_host=127.0.0.1
clickhouse_run=()
clickhouse_memory=${clickhouse_memory:-2000000000} # octets a query may take
clickhouse_pids=() clickhouse_http=() clickhouse_tcp=() clickhouse_between=()

clickhouse_missing() { # says what is missing, if something is
	local need
	for need in clickhouse-server curl perl; do
		command -v "$need" >/dev/null || { echo "$need is not there"; return 0; }
	done
	printf '%s\n' 'communities = {"any"}' "store = \"$rig/none.db\"" 'clickhouse = {"http://127.0.0.1"}' \
	    >"$rig/missing.conf"
	chmod 600 "$rig/missing.conf"
	"$build/collector/easecapd" -c "$rig/missing.conf" --check 2>&1 | grep -q 'without libcurl' || return 1
	echo 'easecapd was built without libcurl'
}
clickhouse_shards() { # what every server knows of the cluster
	local i
	for i in "${!clickhouse_tcp[@]}"; do
		echo "<shard><internal_replication>true</internal_replication><replica>
		    <host>$clickhouse_host</host><port>${clickhouse_tcp[$i]}</port></replica></shard>"
	done
}
clickhouse_configure() { # I
	local dir=$clickhouse/$1
	mkdir -p "$dir"/{data,tmp,format,user_files}
	cat >"$dir/config.xml" <<-END
		<yandex>
		<logger><level>warning</level><log>$dir/server.log</log><errorlog>$dir/error.log</errorlog></logger>
		<http_port>${clickhouse_http[$1]}</http_port>
		<tcp_port>${clickhouse_tcp[$1]}</tcp_port>
		<interserver_http_port>${clickhouse_between[$1]}</interserver_http_port>
		<listen_host>$clickhouse_host</listen_host>
		<path>$dir/data/</path>
		<tmp_path>$dir/tmp/</tmp_path>
		<format_schema_path>$dir/format/</format_schema_path>
		<user_files_path>$dir/user_files/</user_files_path>
		<users_config>users.xml</users_config>
		<default_profile>default</default_profile>
		<default_database>default</default_database>
		<mark_cache_size>67108864</mark_cache_size>
		<uncompressed_cache_size>0</uncompressed_cache_size>
		<timezone>UTC</timezone>
		<query_log><database>system</database><table>query_log</table>
		    <flush_interval_milliseconds>3600000</flush_interval_milliseconds></query_log>
		<remote_servers><ease>$(clickhouse_shards)</ease></remote_servers>
		</yandex>
	END
	cat >"$dir/users.xml" <<-END
		<yandex>
		<profiles><default><max_memory_usage>$clickhouse_memory</max_memory_usage><log_queries>1</log_queries>
		    <max_threads>2</max_threads><background_pool_size>2</background_pool_size>
		    <background_schedule_pool_size>2</background_schedule_pool_size></default>
		    <reader><readonly>2</readonly></reader></profiles>
		<users>
		<default><password></password><networks><ip>::/0</ip></networks>
		    <profile>default</profile><quota>default</quota></default>
		<ease><password>$2</password><networks><ip>::/0</ip></networks>
		    <profile>default</profile><quota>default</quota></ease>
		<reader><password>$2</password><networks><ip>::/0</ip></networks>
		    <profile>reader</profile><quota>default</quota></reader>
		</users>
		<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors>
		    <result_rows>0</result_rows><read_rows>0</read_rows><execution_time>0</execution_time>
		</interval></default></quotas>
		</yandex>
	END
}
ch() { # I SQL [OPTION OF CURL...]
	local i=$1 sql=$2
	shift 2
	curl -sS --noproxy '*' --max-time 120 "$@" --data-binary "$sql" \
	    "http://$clickhouse_host:${clickhouse_http[$i]}/"
}
clickhouse_answers() { # I
	curl -fs --noproxy '*' --max-time 1 "http://$clickhouse_host:${clickhouse_http[$1]}/ping"
}
clickhouse_server() { # I
	"${clickhouse_run[@]}" clickhouse-server --config-file="$clickhouse/$1/config.xml" \
	    >>"$clickhouse/$1/out" 2>&1 &
	clickhouse_pids[$1]=$!
	disown $!
	wait_for 20 clickhouse_answers "$1"
}
clickhouse_kill() { # I [SIGNAL]
	rig_end "${clickhouse_pids[$1]:-}" "${2:-KILL}"
	clickhouse_pids[$1]=''
}
clickhouse_start() { # N [PASSWORD]
	local i
	clickhouse_end
	for ((i = 0; i < $1; i++)); do
		clickhouse_http[i]=$(free_port) clickhouse_tcp[i]=$(free_port) clickhouse_between[i]=$(free_port)
	done
	for ((i = 0; i < $1; i++)); do
		clickhouse_configure "$i" "${2:-}"
		clickhouse_server "$i" || return 1
	done
}
clickhouse_end() {
	local i
	for i in "${!clickhouse_pids[@]}"; do clickhouse_kill "$i" TERM; done
	clickhouse_pids=() clickhouse_http=() clickhouse_tcp=() clickhouse_between=()
	rm -rf "${clickhouse:?}"
}
# Keywords, functions, types, engines and formats are known by their looks; texts and what the project named are not.
clickhouse_unlisted() { # CONDITION
	local i logged='SELECT 1 AS last' # with the settings of the profile alone
	for i in "${!clickhouse_http[@]}"; do
		ch "$i" "$logged" >/dev/null
		ch "$i" 'SYSTEM FLUSH LOGS'
		wait_for 10 clickhouse_logged "$i" || echo "no log of server $i"
		ch "$i" "SELECT query FROM system.query_log WHERE $1 UNION ALL SELECT concat(name, '(') FROM
		    (SELECT DISTINCT arrayJoin(Settings.Names) AS name FROM system.query_log WHERE $1)
		    WHERE name NOT IN (SELECT arrayJoin(Settings.Names) FROM system.query_log WHERE query = '$logged')"
	done | perl -ne 'BEGIN { open my $guide, "<", shift @ARGV or die; $_ = join "", <$guide>; s/.*?\n\| sent \|//s; s/\n\n.*//s;
	        $listed{$_} = 1 for map { /\w+/g } map { (split /\|/)[1] // "" } split /\n/; }
	    s/\\n/ /g; s/\\\x27/\x27/g; s/\x27[^\x27]*\x27//g;
	    while (/([A-Za-z_]\w*)(\(?)/g) { $sent{$1}++ if $2 || $1 =~ /^[A-Z]/ }
	    END { print join(" ", sort grep { !$listed{$_} } keys %sent), "\n" }' "$top/conf/guide/scaling-out.md"
}
clickhouse_logged() { # I
	[ "$(ch "$1" "SELECT count() > 0 FROM system.query_log WHERE query = '$logged'")" = 1 ]
}
clickhouse_url() { # I [DATABASE]
	echo "clickhouse:http://$clickhouse_host:${clickhouse_http[$1]}/${2:-ease}?cluster=ease"
}
trap 'rig_stop; clickhouse_end; rm -rf "$rig"' EXIT
