#!/bin/bash
# The collector's HTTP server: what /api/v1/ says is what easetop says, what /metrics says is what
# snmpwalk says and promtool finds right, alerts and dashboard name only what there is; what is refused
# and how; and strangers: long and broken requests, names with markup, a thousand slow clients, readers
# who do not read. Meanwhile others are served and no sample is lost. Prints PASS, FAIL or SKIP lines;
# exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"

for need in curl sqlite3; do
	command -v $need >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
if ! grep -q 'page at' "$build/collector/easecapd"; then
	skip 'all' 'easecapd was built without the page'
	exit 0
fi
capture=$rig.pcap
"$top/conf/make-capture" "$capture" 4 || exit 1
attack_pid=''
trap 'rig_end "$attack_pid"; rig_stop; rm -rf "$rig" "$capture"' EXIT

rig_http=127.0.0.1:0
url='' port=''
collector() { # starts it, and learns where its page is
	: >"$rig/collector.log"
	rig_collector
	url=$(sed -n 's!^page at \(http://.*\)/$!\1!p' "$rig/collector.log")
	port=${url##*:}
}
get() { curl -s --max-time 20 "$@"; }
status() { get -o "$rig/body" -w '%{http_code}' "$@"; }
counter() { get "$url/api/v1/status" | jq ".counters[\"$1\"]"; }
has_header() { # URL NAME VALUE-PATTERN [CURL-OPTION...]
	local at=$1 name=$2 value=$3
	shift 3
	get -o /dev/null -D - "$@" "$at" | tr -d '\r' | grep -qi "^$name: $value"
}
check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then pass "$name"; else fail "$name" "not so: $*"; fi
}
quietly() { "$@" >/dev/null; }
samples_stored() { sqlite3 "$rig/ease.db" 'SELECT sum(received) FROM account'; }
all_stored() { [ "$(samples_stored)" = "$(column_sum $ease.1.2.1.6)" ]; }

# ---- a run of a few seconds in real time: the agent stays, nothing more comes ----

rig_new
cat >"$rig/names" <<'END'
10.20.1.1	<b>backup</b>&"one"
END
printf 'names = "%s"\n' "$rig/names" >>"$rig/collector.conf"
collector
check 'it says where the page is' test -n "$port"
rig_snmpd && rig_agent "$capture" recorded 'mean_skip = 20' 'counters_interval_s = 1' || { fail start 'a daemon did not come up'; exit 1; }
markup='<script>alert(1)</script>"&\'
client snmpset "127.0.0.1:$agent_port" $if_x.18.1 s "$markup" >/dev/null
wait_for 30 replay_ended
wait_for 30 all_stored || { fail 'start' 'what was sampled is not stored'; exit 1; }

# ---- metrics ----

port_metric() { # NAME IF-INDEX
	awk -v name="easeswitch_$1{" -v index_is="if_index=\"$2\"" \
	    'index($1, name) == 1 && index($0, index_is) { sum += $NF } END { printf "%.0f\n", sum }' "$rig/metrics"
}
octets_metric() { echo "$(port_metric port_receive_bytes_total $1) $(port_metric port_transmit_bytes_total $1)"; }
octets_snmp() { snmp_get $if_x.6.$1 $if_x.10.$1 | paste -sd' '; }
counters_came() { # the last ones come within a second
	get "$url/metrics" >"$rig/metrics"
	for if_index in 1 2 3; do [ "$(octets_metric $if_index)" = "$(octets_snmp $if_index)" ] || return 1; done
}
names_in() { grep -oh 'easeswitch_[a-z0-9_]*' "$@" | sort -u; }
wait_for 10 counters_came
if command -v promtool >/dev/null; then
	expect 'promtool check metrics' "$(promtool check metrics <"$rig/metrics" 2>&1)" ''
	for what in 'check rules:easeswitch.rules.yml' 'test rules:easeswitch.rules-test.yml' \
	    'check config:prometheus.yml'; do
		# shellcheck disable=SC2086 — two words
		check "promtool ${what%:*}" quietly promtool ${what%:*} "$top/conf/prometheus/${what#*:}"
	done
else
	skip 'promtool' 'prometheus is not there'
fi
sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' "$rig/metrics" | sort -u >"$rig/exported"
# The lag is of collectors that ship: check_cluster_top.sh looks for it.
expect 'alerts name only what there is' \
    "$(names_in "$top/conf/prometheus/easeswitch.rules.yml" | grep -v ship_lag_seconds | comm -23 - "$rig/exported")" ''
expect 'the dashboard names only what there is' \
    "$(names_in "$top/conf/grafana-dashboard.json" | comm -23 - "$rig/exported")" ''
check 'the dashboard is JSON' quietly jq -e .panels "$top/conf/grafana-dashboard.json"
for if_index in 1 2 3; do
	expect "metrics: octets of port $if_index are those that SNMP counts" "$(octets_metric $if_index)" "$(octets_snmp $if_index)"
	expect "metrics: frames of port $if_index" "$(port_metric port_receive_packets_total $if_index)" \
	    "$(snmp_get $if_x.7.$if_index $if_x.8.$if_index $if_x.9.$if_index | awk '{ n += $1 } END { printf "%.0f\n", n }')"
done
value_of() { awk -v name="easeswitch_$1" 'index($1, name) == 1 && $1 !~ /"rest/ { sum += $NF } END { printf "%.0f\n", sum }' "$rig/metrics"; }
expect 'metrics: samples' "$(value_of 'samples_received_total{')" "$(column_sum $ease.1.2.1.6)"
estimates_in_limits() {
	awk '/^easeswitch_source_bytes_per_second/ { split($1, part, "{"); v[part[1] "{" part[2]] = $NF; source[part[2]] }
	    END { for (s in source) { n++; e = "easeswitch_source_bytes_per_second"
	        if (v[e "_low{" s] > v[e "{" s] || v[e "{" s] > v[e "_high{" s]) exit 1 } exit n != 10 }' "$rig/metrics"
}
check 'metrics: ten sources, each within its limits' estimates_in_limits

# ---- the same as easetop ----

rig_agent_stop # nothing comes any more, so that both are asked of the same store
all_written() { [ "$(counter input.datagrams)" = "$(sqlite3 "$rig/ease.db" "SELECT value FROM stat WHERE name = 'input.datagrams'")" ]; }
wait_for 10 all_written
from=$(easetop agents --last all --format json | jq -r .from)
to=$(easetop agents --last all --format json | jq -r .to)
same() { # REPORT NAME=VALUE...
	local report=$1 query="from=$from&to=$to" options=(--from "$from" --to "$to") pair
	shift
	for pair; do
		query="$query&$pair"
		options+=("--${pair%%=*}" "${pair#*=}")
	done
	easetop "$report" "${options[@]}" --names "$rig/names" --format json >"$rig/of_easetop"
	get "$url/api/v1/$report?$query" >"$rig/of_api"
	if [ -s "$rig/of_api" ] && cmp -s "$rig/of_easetop" "$rig/of_api"; then pass "as easetop: $report $*"; else
		fail "as easetop: $report $*" "$(diff "$rig/of_easetop" "$rig/of_api" | cut -c1-300)"; fi
}
for report in $("$build/collector/easetop" --help | awk '/^Options/ { exit } /^  / { print $1 }'); do
	same "$report"
done
same talkers by=pair layer=eth top=3 sort=packets
same talkers by=subnet mask=16
same talkers addr=10.20.1.0/28 by=dst
same talkers port=e-1 proto=tcp
same talkers versus=1h warn=1k
same protocols by=ethertype
same history step=1m by=port top=5
same load port=e-1
same addresses layer=eth top=2
expect 'as easetop: there are rows' "$(get "$url/api/v1/talkers?last=all" | jq '.rows | length')" 10

# ---- Grafana's panels of the API: each question is answered, with rows, and these have each field that the panel names ----

while IFS=$'\t' read -r title question fields; do
	for part in '{collector}'"=$url" '{filter:percentencode}=any' '{__from:date:iso}='"${from%Z}.000Z" '{__to:date:iso}='"${to%Z}.000Z"; do
		question=${question//"\$${part%%=*}"/${part#*=}}
	done
	get "$question" >"$rig/panel"
	expect "panel $title: its fields are there" "$(jq -c --arg fields "$fields" \
	    '[.rows[0] | paths] as $there | [$fields | split(" ")[] | split(".") | select(. as $field | $there | index([$field]) == null)]' \
	    "$rig/panel" 2>&1)" '[]'
done < <(jq -r '.panels[] | [.title, .targets[0].url, (.targets[0].columns | map(.selector) | join(" "))] | @tsv' \
    "$top/conf/grafana-api-dashboard.json")
expect 'panels: some' "$(jq '.panels | length' "$top/conf/grafana-api-dashboard.json")" 6

# ---- what there is ----

expect 'the index has each report' "$(get "$url/api/v1/" | jq -r '.reports[].report' | tr '\n' ' ')" \
    "$(easetop --help | awk '/^Options/ { exit } /^  / { printf "%s ", $1 }')"
expect 'with and without a slash' "$(get "$url/api/v1" | jq -c .)" "$(get "$url/api/v1/" | jq -c .)"
expect 'and a report the options that easetop says' \
    "$(get "$url/api/v1/" | jq -r '.reports[] | select(.report == "history") | .options[]' | grep -v moment | sort | tr '\n' ' ')" \
    "$(easetop history --help | awk '/^  --/ { sub("--", "", $1); print $1 }' |
	grep -vxE 'names|mmdb|resolve|vendors|all|watch|store|utc|version|help' | sort | tr '\n' ' ')"
# Each path of the document answers, each value of an enum is taken, each parameter is an option, each reference has an end.
get "$url/api/v1/openapi.json" >"$rig/openapi.json"
cat >"$rig/openapi.py" <<'END'
import json, sys, urllib.error, urllib.request
url, path = sys.argv[1:]
doc, mistakes, asked = json.load(open(path)), [], 0
def find(ref):
    at = doc
    for part in ref.removeprefix('#/').split('/'):
        at = at[part]
    return at
def refs(at):
    if isinstance(at, dict):
        if '$ref' in at:
            find(at['$ref'])
        for value in at.values():
            refs(value)
    elif isinstance(at, list):
        for value in at:
            refs(value)
def ask(path):
    global asked
    asked += 1
    try:
        with urllib.request.urlopen(url + path, timeout=60) as answer:
            return answer.status, answer.headers['Content-Type'], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, '', error.read()
refs(doc)
assert doc['openapi'] == '3.0.3' and doc['info']['version'] and doc['info']['title']
names = set()
for path, item in doc['paths'].items():
    get = item['get']
    assert get['operationId'] not in names
    names.add(get['operationId'])
    kinds = get['responses']['200']['content']
    status, kind, body = ask(path)
    if status != 200 or kind not in kinds:
        mistakes.append((path, status, kind))
    for parameter in get['parameters']:
        assert parameter['in'] == 'query' and parameter['schema']['type'] and len(parameter['description']) > 5, parameter
        for value in parameter['schema'].get('enum', []):
            status, kind, body = ask('%s?%s=%s' % (path, parameter['name'], value))
            needs_names = status == 400 and b'needs' in body and value.split('-')[-1 if value.startswith('dst') else 0] in ('network', 'as', 'country')
            if status != 200 and not needs_names:
                mistakes.append((path, parameter['name'], value, status, body))
print(len(doc['paths']), asked > 60, mistakes)
END
expect 'OpenAPI: what it has is so' "$(python3 "$rig/openapi.py" "$url" "$rig/openapi.json" 2>&1 | tail -1)" \
    "$(($(get "$url/api/v1/" | jq '.reports + .more | length'))) True []"
for report in talkers load; do
	easetop $report --from "$from" --to "$to" --names "$rig/names" --format csv --utc >"$rig/of_easetop"
	get "$url/api/v1/$report?from=$from&to=$to&format=csv" >"$rig/of_api"
	check "CSV of $report is easetop's" cmp -s "$rig/of_easetop" "$rig/of_api"
done
check 'and says that it is' has_header "$url/api/v1/load?format=csv" content-type 'text/csv$'

# ---- markup stays text ----

expect 'an alias with markup is in JSON as it is' \
    "$(get "$url/api/v1/load?last=all&port=1" | jq -r '.rows[0].alias')" "$markup"
check 'and in metrics' grep -qF 'alias="<script>alert(1)</script>\"&\\"' "$rig/metrics"
expect 'a name with markup is in JSON as it is' \
    "$(get "$url/api/v1/talkers?last=all&addr=10.20.1.1" | jq -r '.rows[] | select(.src == "10.20.1.1").src_name')" \
    '<b>backup</b>&"one"'
check 'JSON is no page' has_header "$url/api/v1/load" content-type 'application/json$'
check 'and is not guessed to be one' has_header "$url/api/v1/load" x-content-type-options 'nosniff$'

# ---- the page's files ----

check 'the page is HTML' has_header "$url/" content-type 'text/html; charset=utf-8$'
check 'the page loads scripts of its own only' has_header "$url/" content-security-policy ".*default-src 'none'; script-src 'self';"
expect 'the page asks nobody else' "$(get "$url/" | grep -oE '(src|href)="(https?:)?//[^"]*"')" ''
missing=''
for file in $(get "$url/" | grep -oE '(src|href)="[^"#]*"' | cut -d'"' -f2) $(cd "$top/collector/web/page" && ls -- *.*); do
	[ "$file" = ./ ] || [ "$(status "$url/$file")" = 200 ] || missing="$missing $file"
done
expect 'what the page names is there, and every file of it' "$missing" ''
library=$(sed -n "s/^CHART_JS = //p" "$build/Makefile")
get "$url/chart.js" >"$rig/chart.js"
check "the chart library is the package's" cmp -s "$rig/chart.js" "$library"
get --compressed "$url/chart.js" >"$rig/chart.js"
check 'and compressed the same' cmp -s "$rig/chart.js" "$library"
check 'it is kept for a while' has_header "$url/chart.js" cache-control max-age
etag=$(get -o /dev/null -D - "$url/" | tr -d '\r' | sed -n 's/^ETag: //Ip')
expect 'what is known is not sent again' "$(status -H "If-None-Match: $etag" "$url/")" 304
expect 'what has changed is' "$(status -H 'If-None-Match: "other"' "$url/")" 200

get "$url/api/v1/history?from=$from&to=$to&step=1m" >"$rig/plain"
get --compressed "$url/api/v1/history?from=$from&to=$to&step=1m" | cmp -s - "$rig/plain" &&
    [ "$(wc -c <"$rig/plain")" -gt 4096 ]
expect 'an answer that is long is the same compressed' $? 0
check 'and says that it is' has_header "$url/api/v1/history?from=$from&to=$to&step=1m" content-encoding gzip \
    -H 'Accept-Encoding: gzip'
for no in 'gzip;q=0' 'gzip ; q=0.0, identity'; do
	get -H "Accept-Encoding: $no" "$url/api/v1/history?from=$from&to=$to&step=1m" | cmp -s - "$rig/plain" &&
	    get -H "Accept-Encoding: $no" "$url/" | grep -q '<html'
	expect "not for who wants none ($no)" $? 0
done

# ---- what is refused ----

refused() { # STATUS WORD-OF-THE-REASON CURL-ARGUMENT...
	local must=$1 word=$2 is
	shift 2
	is=$(status "$@")
	if [ "$is" = "$must" ] && jq -r .error "$rig/body" | grep -q "$word"; then pass "refused: $must $word"; else
		fail "refused: $must $word" "$is $(head -c 200 "$rig/body")"; fi
}
refused 404 'no report nothing; there are talkers matrix ' "$url/api/v1/nothing"
refused 400 '^format: must be json or csv' "$url/api/v1/talkers?format=xml"
refused 404 'not found' "$url/../../etc/passwd" --path-as-is
refused 404 'not found' "$url/nothing.html"
refused 400 '^colour:' "$url/api/v1/talkers?colour=red"
refused 400 '^top: at most' "$url/api/v1/talkers?top=1000000"
refused 400 '^vlan:' "$url/api/v1/talkers?vlan=9999"
refused 400 'no agent' "$url/api/v1/talkers?agent=192.0.2.99"
# Cut where a character ends, and shown as what may be shown: else no answer could be made of it.
refused 400 'no agent' "$url/api/v1/talkers?agent=x$(printf '%%C3%%A9%.0s' {1..300})"
refused 400 'no agent' "$url/api/v1/talkers?agent=%C2%9B2J"
refused 400 'no such option' "$url/api/v1/talkers?"$'\xff'
refused 400 'protocols has no --by src; it is for talkers, connections, history, delay, drops' "$url/api/v1/protocols?by=src"
refused 400 '^step:' "$url/api/v1/history?last=30d&step=1m"
refused 405 GET -X POST -d x=y "$url/api/v1/talkers"
refused 405 GET -X DELETE "$url/"
refused 414 'longer than' "$url/api/v1/talkers?agent=$(printf 'a%.0s' {1..5000})"
refused 421 http_hosts -H 'Host: stranger.example' "$url/api/v1/talkers"
for site in cross-site same-site; do
	refused 403 'another site' -H "Sec-Fetch-Site: $site" "$url/api/v1/talkers"
done
for site in same-origin none; do
	expect "asked by its own page ($site)" "$(status -H "Sec-Fetch-Site: $site" "$url/api/v1/talkers?last=all")" 200
done
expect 'a link that somebody follows to an answer' "$(status -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: navigate' \
    -H 'Sec-Fetch-Dest: document' -H 'Sec-Fetch-User: ?1' "$url/api/v1/talkers?last=all")" 200
refused 403 'another site' -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: navigate' -H 'Sec-Fetch-Dest: iframe' \
    -H 'Sec-Fetch-User: ?1' "$url/api/v1/talkers"
expect 'a link of another site to the page' "$(status -H 'Sec-Fetch-Site: cross-site' "$url/")" 200
filters=$(printf 'filter=vlan+%d&' {1..200} | sed 's/&$//')
expect 'two hundred parameters are answered' "$(status "$url/api/v1/talkers?$filters" | grep -c '^[24]')" 1
head -c 1000000 /dev/zero | tr '\0' a >"$rig/megabyte"
expect 'a query of a megabyte is refused' "$(status -G --data-urlencode "agent@$rig/megabyte" "$url/api/v1/talkers")" 414
expect 'a header of a hundred kilobytes is refused' "$(printf 'url = "%s/"\nheader = "X: %s"\n' "$url" \
    "$(head -c 100000 /dev/zero | tr '\0' a)" | curl -s --max-time 20 -o /dev/null -w '%{http_code}' -K -)" 431
check 'refusals are counted' test "$(counter web.refused_request)" -ge 12
expect 'no memory was short' "$(counter web.no_memory)" 0
expect 'it is well' "$(get "$url/healthz")" ok
expect 'HEAD has no body' "$(get -I "$url/metrics" | head -n 1 | tr -d '\r')" 'HTTP/1.1 200 OK'

# ---- soon ----

fastest=$(for _ in {1..10}; do get -o /dev/null -w '%{time_total}\n' "$url/api/v1/load?last=all&top=$_"; done |
    awk 'NR == 1 || $1 < least { least = $1 } END { printf "%d\n", 1000 * least }')
check "a question is answered at once: the fastest of ten in $fastest ms" test "$fastest" -lt 150

# ---- many ----

before=$(counter web.questions)
for _ in {1..100}; do get "$url/api/v1/talkers?last=all&top=77" >"$rig/one.$_" & done
wait
expect 'a hundred viewers: all are answered' "$(cat "$rig"/one.* | jq -c '.rows | length' | sort | uniq -c | awk '{ print $1 }')" 100
asked=$(($(counter web.questions) - before))
check "a hundred viewers: the store is asked $asked times with those for this count" test $asked -le 20
perl "$top/tests/collector/web/web_attack.pl" "$port" burst 250 >"$rig/burst"
expect '250 different questions at once: each is answered or told to come again' \
    "$(awk '/^status (200|503 retry): / { n += $NF } END { print n }' "$rig/burst")" 250
grep status "$rig/burst" | sed 's/^/    /'

# ---- slow ones; meanwhile samples come as fast as they can ----

attack() { # KIND N
	perl "$top/tests/collector/web/web_attack.pl" "$port" "$1" "$2" >"$rig/attack" &
	attack_pid=$!
	disown "$attack_pid"
	wait_for 10 grep -q ready "$rig/attack"
}
attack_ends() {
	rig_end "$attack_pid"
	attack_pid=''
}
slowest_ms() { # of ten requests; or how one was refused
	for _ in {1..10}; do
		get -o "$rig/body" -w '%{time_total} %{http_code}\n' "$url/api/v1/load?last=all&top=$_" >"$rig/time"
		grep -q ' 200$' "$rig/time" || { echo "refused: $(cat "$rig/time" "$rig/body" | tr "\n" " ")"; return; }
		cat "$rig/time"
	done | awk '/refused/ { bad = bad $0 } $1 > most { most = $1 } END { print bad ? bad : int(1000 * most) }'
}
under_attack() { # KIND N
	local ms taken
	attack "$1" "$2"
	rm -rf "$rig/agent" # a new boot of a new agent, in lock step
	rig_agent "$capture" lock_step 'mean_skip = 5' || fail "$1" 'the agent did not come up'
	ms=$(slowest_ms)
	wait_for 60 replay_ended
	taken=$(column_sum $ease.1.2.1.6)
	rig_agent_stop
	attack_ends
	case $ms in
	*[!0-9]*) fail "$2 clients that $1: others are served" "$ms" ;;
	*) check "$2 clients that $1: others are served, the slowest within $ms ms" test "$ms" -lt 3000 ;;
	esac
	sample_of_agent="SELECT sum(received) FROM account WHERE agent = (SELECT max(id) FROM agent)"
	wait_for 10 eval '[ "$(sqlite3 "$rig/ease.db" "$sample_of_agent")" = "$taken" ]'
	expect "$2 clients that $1: every sample of $taken is stored" "$(sqlite3 "$rig/ease.db" "$sample_of_agent")" "$taken"
	expect "$2 clients that $1: no datagram was dropped" "$(counter input.kernel_drops)" 0
}
under_attack drip 1000
closed() { echo $(($(counter web.evicted) + $(counter web.slow))); }
wait_for 10 eval '[ "$(closed)" -ge 700 ]' # counters are written with the next flush
check "slow clients are closed: $(counter web.evicted) in favour of others, $(counter web.slow) at their deadline" \
    test "$(closed)" -ge 700
under_attack unread 200
check 'the collector goes on' kill -0 "$collector_pid"

# ---- with a token ----

rig_end "$collector_pid"
check 'it ends well' grep -q 'web.requests' "$rig/collector.log"
expect 'and nothing is wrong in its log' "$(grep -E 'ERROR|runtime error|Sanitizer' "$rig/collector.log")" ''
printf 'http_token = "a-secret-of-ours"\n' >>"$rig/collector.conf"
collector
refused 401 token "$url/api/v1/talkers"
refused 401 token -H 'Authorization: Bearer a-secret-of-our' "$url/metrics"
expect 'with the token' "$(status -H 'Authorization: Bearer a-secret-of-ours' "$url/api/v1/talkers?last=all")" 200
expect 'a token lets any name in' \
    "$(status -H 'Host: sw.example' -H 'Authorization: Bearer a-secret-of-ours' "$url/api/v1/talkers?last=all")" 200
expect 'the page itself is no secret' "$(status "$url/")" 200
read_again() { # LINE: SIGHUP with this line in the token's place
	local lines
	lines=$(grep -c 'options changed' "$rig/collector.log")
	sed -i "s/^http_token.*/$1/" "$rig/collector.conf"
	kill -HUP "$collector_pid"
	has_read() { [ "$(grep -c 'options changed' "$rig/collector.log")" -gt "$lines" ]; }
	wait_for 5 has_read
}
read_again 'http_token = "another-of-ours"'
refused 401 token -H 'Authorization: Bearer a-secret-of-ours' "$url/api/v1/loss?last=1h"
expect 'a new token after SIGHUP' "$(status -H 'Authorization: Bearer another-of-ours' "$url/api/v1/talkers?last=all")" 200
expect 'no token in the log' "$(grep -c 'of-ours' "$rig/collector.log")" 0
read_again 'http_token = ""\nhttp_hosts = {"sw.example"}'
expect 'no token after SIGHUP, and a name of ours' "$(status -H 'Host: sw.example' "$url/api/v1/talkers?last=all")" 200
refused 421 'host name not allowed' -H 'Host: evil.example' "$url/api/v1/talkers?last=all"
read_again 'http_token = "a-secret-of-ours"'
expect 'the token is not printed' \
    "$("$build/collector/easecapd" -c "$rig/collector.conf" --print-config | grep -c 'a-secret')" 0

# ---- a question that takes too long ----

rig_end "$collector_pid"
sqlite3 "$rig/ease.db" "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 400000)
    INSERT INTO event(time_us, agent, boot, kind, if_index, mac) SELECT last_us - i, id, boot, 4, 1, randomblob(6) FROM agent, c"
sed -i '/^http_token/d' "$rig/collector.conf"
printf 'http_question = 100\n' >>"$rig/collector.conf"
collector
get "$url/api/v1/events?last=all" >"$rig/long" &
long=$!
expect 'while one takes long, another is answered' "$(status "$url/api/v1/load?last=all")" 200
wait $long
refused 503 'takes too long' "$url/api/v1/events?last=all&top=11"
check 'it is told when to come again' has_header "$url/api/v1/events?last=all&top=12" retry-after 1
check 'and counted' test "$(counter web.too_long)" -ge 3

# ---- an address that is taken ----

other_port=$(free_port)
sed -e "s/^http_listen.*/http_listen = \"127.0.0.1:$port\"/" -e "s#^store.*#store = \"$rig/other.db\"#" \
    -e "s/^listen.*/listen = {\"127.0.0.1:$other_port\"}/" "$rig/collector.conf" >"$rig/other.conf"
timeout 2 "$build/collector/easecapd" -c "$rig/other.conf" -f >"$rig/other.log" 2>&1
check 'without a page it collects all the same' grep -q 'listening on' "$rig/other.log"
check 'and says why' grep -q 'the page is not served: http_listen: .*in use' "$rig/other.log"
exit $failed
