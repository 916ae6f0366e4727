#!/bin/bash
# easetop refuses what a report does not use or does not understand, and says why. Needs no store.
# Prints PASS or FAIL lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
trap 'rm -rf "$rig"' EXIT

refused() { # MESSAGE WORD...
	local message=$1 said status
	shift
	said=$("$build/collector/easetop" "$@" --store sqlite:/nowhere 2>&1 >/dev/null)
	status=$?
	expect "refused: $*" "$status $(head -n 1 <<<"$said")" "2 easetop: $message"
}

refused 'which report?'
refused 'unexpected 10.20.1.1; --addr filters by address' talkers 10.20.1.1
refused 'unexpected load: one report at a time' talkers load
refused 'unexpected src; each option begins with --' talkers src
refused '--by is for talkers, matrix, protocols, connections, history, billing, drops, delay, not for load' load --by dst
refused '--step is for history, not for talkers' talkers --step 1m
refused '--sort is for talkers, matrix, protocols, conversations, history, load, not for pause' pause --sort octets
refused '--proto is for talkers, matrix, protocols, conversations, history, delay, not for addresses' addresses --proto tcp
refused '--vlan is for talkers, matrix, protocols, conversations, history, delay, addresses, not for load' load --vlan 5
refused '--vlan is not for connections: their sums are stored by port, not by VLAN, and a stored sample does not say'\
' whether it began a connection; conversations --vlan has the traffic' connections --vlan 5
refused '--proto is not for connections: all of them are of TCP' connections --by src --proto tcp
refused 'filter: column 1: connections has sums of new connections: it filters by site, agent, if, IP addresses and dst port, not by src mac' \
    connections --addr 00:11:22
refused '--filter tcp and: column 8: expected a term (host, net, mac, port, proto, vlan, octets, network, as, country, agent, if, site) or an address, not the end' talkers --filter 'tcp and'
refused 'filter: column 1: load is of whole ports: it filters by site, agent and if, not by proto' load --filter 'udp'
refused '--versus is for talkers, matrix, protocols, conversations, connections, not for load' load --versus 1d
refused '--by x: must be src, dst, pair, subnet, network, as, country, vlan, vni, service, proto, ethertype, server, port, lag, site, reason, place, group, queue or port-pair; dst-network, network-pair and so on' talkers --by x
refused '--sort bytes: must be octets or packets (or frames, the same); of load also util or errors' talkers --sort bytes
refused '--top 0: must be 1 to 1000000' talkers --top 0
refused '--store b: may be given once (several collectors are asked together in a cluster)' talkers --store a --store b
refused '--vlan 5000: must be a VLAN, 0 to 4095' talkers --vlan 5000
refused '--last 5: must be a time span: 90s, 5m, 1h, 30d or 2w, or all' talkers --last 5
refused '--from noon: must be a time with its zone, 2026-11-21T14:00:00+01:00, or a date' talkers --from noon
refused '--watch 0: must be 1 to 86400' talkers --watch 0
refused '--format xml: must be text, json, csv, or for samples pcapng' talkers --format xml
refused '--last and --from exclude each other: use --from and --to' talkers --last 1h --from 2026-01-01
refused '--mask is for --by subnet' talkers --mask 16
refused '--layer is for --by src, dst and pair' talkers --by vlan --layer eth
refused "matrix as text is a grid of the largest pairs' addresses; talkers --by pair has --top and --versus" matrix --top 3

# The refusal of --proto names what is taken, and each of these is.
names=$("$build/collector/easetop" talkers --proto banana 2>&1 | sed -n 's/.*must be \(.*\), an IP protocol from.*/\1/p')
wrong=
for name in ${names//,/}; do
	"$build/collector/easetop" talkers --proto "$name" --store sqlite:/nowhere 2>&1 | grep -q 'must be' && wrong="$wrong $name"
done
expect 'refused: --proto banana: what it names is taken' "${names%%,*}$wrong" icmp

# Both names of what is counted, and the old name of services.
for words in 'talkers --sort frames' 'protocols --by port' 'protocols --by service' 'load --sort util --top 3' \
    'matrix --top 3 --format json'; do
	# shellcheck disable=SC2086
	expect "taken: $words" "$("$build/collector/easetop" $words --store sqlite:/nowhere 2>&1)" \
	    'easetop: /nowhere: No such file or directory'
done
exit $failed
