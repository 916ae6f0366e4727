#!/bin/bash
# Who may speak for an agent, with real senders: SNMPv2c and sFlow by their addresses, SNMPv3 by its engine
# ID. A stranger with the right community, or with good keys of his own, is refused in another's name,
# counted, logged and shown by easetop agents, also after a restart; a move is allowed by the option
# a row at SIGHUP, or by hand. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
for need in snmptrap sqlite3 jq; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
id=0102030405060708
here=127.0.0.2 stranger=127.0.0.66 moved=127.0.0.3

ask() { sqlite3 "$rig/ease.db" "$1" 2>/dev/null; }
counter() { ask "SELECT value FROM stat WHERE name = '$1'"; }
counter_is() { [ "$(counter "$1")" = "$2" ]; }
expect_counter() { # NAME COUNTER VALUE
	wait_for 5 counter_is "$2" "$3"
	expect "$1" "$(counter "$2")" "$3"
}
agent() { # FIELD: what easetop says of the agent
	"$build/collector/easetop" agents --last all --store "sqlite:$rig/ease.db" --format json |
	    jq -r ".rows[] | select(.id == \"${2:-$id}\") | .$1"
}
event() { # ADDRESS KIND [OPTION...]: a notification of EASE-SAMPLING-MIB in the agent's name
	local address=$1 kind=$2
	shift 2
	snmptrap -v 2c -c demo "--clientaddr=$address" "$@" "127.0.0.1:$trap_port" "$kind" "$ease.0.$kind" \
	    "$ease.1.1.1.0" x "$id" "$ease.1.1.2.0" u 4 "$ease.1.3.2.1.9.21" x 00
}
hup() {
	local lines
	lines=$(grep -c 'options changed' "$rig/collector.log")
	kill -HUP "$collector_pid"
	read_again() { [ "$(grep -c 'options changed' "$rig/collector.log")" -gt "$lines" ]; }
	wait_for 5 read_again
}
restart() {
	rig_end "$collector_pid"
	: >"$rig/collector.log"
	rig_collector || fail 'restart' 'no collector'
}

by_address() {
	rig_new
	: >"$rig/collector.log"
	rig_collector || { fail 'by address' 'no collector'; return; }
	event $here 71
	expect_counter 'v2c: the first is taken' slow_path.events 1
	event $stranger 72
	expect_counter 'v2c: a stranger is refused' accounting.foreign_source 1
	expect 'v2c: the agent stays where it is' "$(agent address)" $here
	expect 'v2c: easetop agents has the count' "$(agent refused)" 1
	expect 'v2c: easetop agents says who' "$(agent refused_source)" $stranger
	expect 'v2c: easetop agents says it in a line' "$("$build/collector/easetop" agents --last all \
	    --store "sqlite:$rig/ease.db" | grep -c "^Refused: 1 records of agent $id, .* from $stranger; the agent is known as $here\.")" 1
	expect 'v2c: the log says it' "$(grep -c "refused a record of agent $id from $stranger: the agent is known as $here" "$rig/collector.log")" 1
	restart
	event $stranger 73
	expect_counter 'after a restart: the stranger is refused' accounting.foreign_source 1
	event $here 74
	expect_counter 'after a restart: the agent is taken' slow_path.events 1
	wait_for 5 prints 2 agent refused
	expect 'after a restart: easetop agents goes on counting' "$(agent refused)" 2

	echo "source * $moved" >"$rig/devices"
	echo "device_names = \"$rig/devices\"" >>"$rig/collector.conf"
	hup
	event $moved 75
	expect_counter 'a row at SIGHUP: it may move there' slow_path.events 2
	event $stranger 76
	expect_counter 'a row at SIGHUP: and nowhere else' accounting.foreign_source 2
	wait_for 5 prints $moved agent source
	expect 'a row at SIGHUP: it is bound there' "$(agent source)" $moved
	sed -i '/^device_names/d' "$rig/collector.conf"
	expect '--agent-sources prints what another collector needs' \
	    "$("$build/collector/easecapd" -c "$rig/collector.conf" --agent-sources)" "source $id $moved"
	expect '--forget-source' "$("$build/collector/easecapd" -c "$rig/collector.conf" --forget-source $id)" \
	    'forgotten; a running collector must be sent SIGHUP'
	hup
	event $here 77
	expect_counter '--forget-source: the next one is bound' slow_path.events 3
	event $moved 78
	expect_counter '--forget-source: and the old one is not' accounting.foreign_source 3
	expect '--forget-source of nobody' "$("$build/collector/easecapd" -c "$rig/collector.conf" --forget-source ffffffffffffffff 2>&1 |
	    grep -c 'no agent of that id')" 1
	expect '--forget-source of no id' "$("$build/collector/easecapd" -c "$rig/collector.conf" --forget-source any 2>&1 |
	    grep -c 'expected an agent')" 1
	rig_end "$collector_pid"
	ask 'UPDATE agent SET last_received_us = (SELECT max(last_us) FROM agent_refused)'
	expect 'both send: one may be a copy of the other' "$("$build/collector/easetop" agents --last all --store "sqlite:$rig/ease.db" |
	    grep -c '^  Both send now. If these are two machines, one is a copy of the other: remove what is in its state_dir')" 1
}

# Two engines with good keys: each speaks for its own agent, and not for the other's.
by_engine() {
	local own=0x80001f8805$id other=0x80001f880401020304 v3
	rig_new
	cat >>"$rig/collector.conf" <<-END
		user "switch" {
			engine_ids = {"$own", "$other"}
			auth_protocol = SHA-256   auth_passphrase = "authentic words"
			priv_protocol = AES       priv_passphrase = "private words"
		}
	END
	: >"$rig/collector.log"
	rig_collector || { fail 'by engine' 'no collector'; return; }
	v3=(-v 3 -u switch -l authPriv -a SHA-256 -A 'authentic words' -x AES -X 'private words')
	event $here 81
	expect_counter 'v3: known by its address first' slow_path.events 1
	event $stranger 82 "${v3[@]}" -e $other -Z 5,100
	expect_counter 'v3: another engine is refused, however authentic' accounting.foreign_source 1
	event $moved 83 "${v3[@]}" -e $own -Z 5,100
	expect_counter 'v3: the engine that has its id in it is taken' slow_path.events 2
	event $here 84
	expect_counter 'v3: from then on its address alone does not do' accounting.foreign_source 2
	event $here 85 "${v3[@]}" -e $other -Z 5,101
	expect_counter 'v3: nor another engine at its address' accounting.foreign_source 3
	wait_for 5 prints $own agent source
	expect 'v3: it is bound to the engine' "$(agent source)" $own
}

# A switch whose agent address is its own; then a stranger states that address.
sflow() { # SENDER AGENT FIRST-SAMPLE
	perl -MSocket -e '
	    my ($port, $from, $agent, $n) = @ARGV;
	    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
	    bind($s, sockaddr_in(0, inet_aton($from))) or die;
	    my $header = pack("H*", "0200000000020200000000010800") . "\0" x 46;
	    for my $k ($n .. $n + 9) {
	        my $record = pack("NNNNNNa*", 1, 16 + length $header, 1, 500, 4, length $header, $header);
	        my $sample = pack("NNNNNNNN", $k, 3, 100, $k * 100, 0, 3, 4, 1) . $record;
	        my $d = pack("NNa4NNNN", 5, 1, inet_aton($agent), 0, $k, 60000 + 10 * $k, 1) .
	            pack("NN", 1, length $sample) . $sample;
	        send($s, $d, 0, sockaddr_in($port, INADDR_LOOPBACK)) or die;
	    }' "$sflow_port" "$1" "$2" "$3"
}
received() { ask "SELECT sum(received) || '/' || sum(expected) FROM account"; }
received_is() { [ "$(received)" = "$1" ]; }
by_sflow() {
	rig_new
	sflow_port=$(free_port)
	echo "sflow_listen = {\"127.0.0.1:$sflow_port\"}" >>"$rig/collector.conf"
	: >"$rig/collector.log"
	rig_collector || { fail 'sFlow' 'no collector'; return; }
	sflow $stranger $here 1000
	expect_counter 'sFlow: a stranger may come first' accounting.samples 10
	sflow $here $here 1
	expect_counter 'sFlow: the agent itself is taken all the same' accounting.samples 20
	sflow $stranger $here 5000
	expect_counter 'sFlow: then the stranger is refused' sflow.foreign_source 10
	expect_counter 'sFlow: and each of his samples counted' accounting.foreign_source 10
	sflow $here $here 11
	expect_counter 'sFlow: the agent goes on as if nothing had been' accounting.samples 30
	expect_counter 'sFlow: without a restart of its numbers' sflow.datagrams_missing 0
	wait_for 5 prints 1 ask 'SELECT count(*) FROM agent_refused'
	expect 'sFlow: easetop agents says who' "$(ask 'SELECT source, records FROM agent_refused')" "$stranger|10"
	sflow $stranger 192.0.2.7 1
	sflow $moved 192.0.2.7 1
	expect_counter 'sFlow: of an agent that is neither, the second sender is refused' sflow.foreign_source 20
	wait_for 5 prints 2 ask 'SELECT count(*) FROM agent_refused'
	expect 'sFlow: and what to add if it has both addresses is told' "$("$build/collector/easetop" agents --last all --store "sqlite:$rig/ease.db" |
	    grep -cE "add the row \"source [0-9a-f]{16} $moved\"|add \"source [0-9a-f]{16} $stranger\" as well")" 2
}

# Of whom nothing is read: by a wrong community, and no SNMP at all. `agents` says whose that was, and why.
refused_unread() {
	local told
	rig_new
	rig_collector || { fail 'refused unread' 'no collector'; return; }
	for _ in 1 2 3; do event $stranger 95 -v 2c -c wrong; done
	perl -MSocket -e 'my ($port, $from) = @ARGV; socket(my $s, AF_INET, SOCK_DGRAM, 0); bind($s, sockaddr_in(0, inet_aton($from)));
	    send($s, "\x30\x03no\e[2J", 0, sockaddr_in($port, INADDR_LOOPBACK))' "$trap_port" $moved
	wait_for 5 prints 2 ask 'SELECT count(*) FROM refused_sender'
	told=$("$build/collector/easetop" agents --last 5m --store "sqlite:$rig/ease.db" --format json |
	    jq -c '[.refused_senders[] | [.address, .datagrams, .reason]]')
	expect 'refused unread: agents says whose, how many and why' "$told" "[[\"$stranger\",3,\"its community is not in the option communities; add it to accept it\"],[\"$moved\",1,\"not an SNMP notification\"]]"
}

# A stranger is heard before the switch itself. Its refusal says what to add, which is added as it stands.
heard_first() {
	local told row
	rig_new
	: >"$rig/collector.log"
	rig_collector || { fail 'heard first' 'no collector'; return; }
	event $stranger 91
	expect_counter 'heard first: the stranger is bound' slow_path.events 1
	event $here 92
	expect_counter 'heard first: the switch is refused' accounting.foreign_source 1
	wait_for 5 prints 1 agent refused
	told=$("$build/collector/easetop" agents --last all --store "sqlite:$rig/ease.db" | grep -A1 '^Refused:')
	expect 'heard first: both are told' "$(grep -c "from $here; the agent is known as $stranger\." <<<"$told")" 1
	row=$(sed -n 's/.* add the row "\([^"]*\)" to the file .*/\1/p' <<<"$told")
	expect 'heard first: the log says the same' "$(grep -c "add the row \"$row\" to the file device_names and send SIGHUP" "$rig/collector.log")" 1
	echo "$row" >"$rig/devices"
	echo "device_names = \"$rig/devices\"" >>"$rig/collector.conf"
	hup
	event $here 93
	expect_counter 'heard first: with what was told to add the switch is taken' slow_path.events 2
	event $stranger 94
	expect_counter 'heard first: and the stranger refused' accounting.foreign_source 2
	rig_end "$collector_pid"
	expect '--forget says what stays' "$("$build/collector/easecapd" -c "$rig/collector.conf" --forget $id |
	    grep -c 'Sums that it is part of stay in the file until their time is over, and reports leave them out')" 1
	expect '--forget: the switch is gone' "$(ask 'SELECT count(*) FROM agent')" 0
}

by_address
heard_first
refused_unread
by_engine
by_sflow
exit $failed
