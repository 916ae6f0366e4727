#!/bin/bash
# SNMPv3, informs and events at the collector, sent by Net-SNMP's own snmptrap, snmpinform and snmpd:
# the right user is accepted, and each of wrong key, unknown user, unknown engine, wrong time,
# replayed octets and too little security is refused and counted by its kind; informs are answered
# after the commit, and again when repeated, whenever the collector is killed; and nothing that was
# taken before a restart is taken after it. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
for need in snmptrap snmpinform sqlite3; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done

engine=0x80001f880401020304
link_down=1.3.6.1.6.3.1.1.5.3
link_up=1.3.6.1.6.3.1.1.5.4

collector() { # [LINE...]: a collector with one user
	rig_new
	{
		cat <<-END
			user "switch" {
				engine_ids = {"$engine"}
				auth_protocol = SHA-256
				auth_passphrase = "authentic words"
				priv_protocol = AES
				priv_passphrase = "private words"
			}
		END
		printf '%s\n' "$@"
	} >>"$rig/collector.conf"
	: >"$rig/collector.log"
	rig_collector || { fail 'start' 'no collector'; return 1; }
}
ask() { sqlite3 "$rig/ease.db" "$1" 2>/dev/null; }
counter() { ask "SELECT value FROM stat WHERE name = '$1'"; }
counter_is() { [ "$(counter "$1")" = "$2" ]; }
expect_counter() { # NAME COUNTER VALUE
	wait_for 5 counter_is "$2" "$3"
	expect "$1" "$(counter "$2")" "$3"
}
expect_logged() { # NAME TEXT
	if grep -qF "refused: $2" "$rig/collector.log"; then pass "$1: the log says who"; else fail "$1: the log says who" "$2"; fi
}
events() { ask 'SELECT count(*) FROM event'; }

v3() { # OPTION...: the right user, unless an option says otherwise
	snmptrap -v 3 -u switch -l authPriv -a SHA-256 -A 'authentic words' -x AES -X 'private words' \
	    -e "$engine" "$@"
}
link() { # UPTIME IFINDEX: the end of a command line for linkDown
	echo "$1 $link_down 1.3.6.1.2.1.2.2.1.1.$2 i $2 1.3.6.1.2.1.2.2.1.7.$2 i 1 1.3.6.1.2.1.2.2.1.8.$2 i 2"
}
to() { echo "127.0.0.1:$trap_port"; }

# ---- who may send ----

users() {
	collector || return
	v3 -Z 5,10000 "$(to)" $(link 100 7)
	expect_counter 'right user: accepted' v3.accepted 1
	expect 'right user: the event has its ifIndex and its kind' "$(ask 'SELECT kind, if_index FROM event')" '1003|7'
	expect 'right user: an identity made of the engine ID' "$(ask "SELECT count(*) FROM agent WHERE substr(hex(agent_id), 1, 4) = '0003'")" 1
	v3 -A 'other words here' -Z 5,10001 "$(to)" $(link 101 7)
	expect_counter 'wrong authentication key' v3.wrong_digest 1
	v3 -X 'other words here' -Z 5,10001 "$(to)" $(link 102 7)
	expect_counter 'wrong privacy key' v3.decryption 1
	v3 -u stranger -Z 5,10001 "$(to)" $(link 103 7)
	expect_counter 'unknown user' v3.unknown_user 1
	v3 -e 0x80001f880405060708 -Z 5,10001 "$(to)" $(link 104 7)
	expect_counter 'unknown engine' v3.unknown_engine 1
	v3 -l authNoPriv -Z 5,10001 "$(to)" $(link 105 7)
	expect_counter 'without privacy' v3.security_level 1
	v3 -Z 5,9000 "$(to)" $(link 106 7)
	expect_counter 'older than 150 s' v3.not_in_time_window 1
	v3 -Z 4,20000 "$(to)" $(link 107 7)
	expect_counter 'lower boots' v3.not_in_time_window 2
	v3 -Z 2147483647,1 "$(to)" $(link 108 7)
	expect_counter 'boots at their end' v3.not_in_time_window 3
	expect 'none of these is in the store' "$(events)" 1
	expect_logged 'wrong digest' "wrong digest: user \"switch\" of engine $engine,"
	expect_logged 'unknown user' "unknown user: user \"stranger\" of engine $engine,"
	expect_logged 'unknown engine' 'unknown engine: user "switch" of engine 0x80001f880405060708,'
	v3 -Z 5,9900 "$(to)" $(link 109 7)
	expect_counter '100 s older: within the window' v3.accepted 2
	v3 -Z 6,3 "$(to)" $(link 110 8)
	expect_counter 'higher boots' v3.accepted 3
	snmptrap -v 1 -c demo "$(to)" 1.3.6.1.4.1.8072.3.2.10 127.0.0.1 2 0 1
	expect_counter 'SNMPv1' input.refused_version 1
	expect 'accepted ones are in the store' "$(events)" 3
}

# A trap's octets, as they come to a socket of our own, into a file; and from files to the collector.
catch() { # FILE COMMAND...: the command gets the socket's address as its last argument
	local file=$1 port
	shift
	port=$(free_port)
	rm -f "$rig/ready"
	perl -MSocket -e '
	    socket(my $in, AF_INET, SOCK_DGRAM, 0) or die;
	    bind($in, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die;
	    open(my $ready, ">", $ARGV[2]); close($ready);
	    $SIG{ALRM} = sub { exit 1 }; alarm 10;
	    recv($in, my $octets, 65535, 0);
	    open(my $out, ">", $ARGV[1]); print $out $octets' "$port" "$file" "$rig/ready" &
	local catcher=$!
	wait_for 5 test -e "$rig/ready"
	"$@" "127.0.0.1:$port"
	wait $catcher
}
throw() { # FILE...
	perl -MSocket -e '
	    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
	    my $to = sockaddr_in(shift, INADDR_LOOPBACK);
	    for (@ARGV) { local $/; open(my $f, "<", $_) or die; send($s, <$f>, 0, $to) }' "$trap_port" "$@"
}
link_to() { # UPTIME ENGINE-TIME ADDRESS
	v3 -Z "$2" "$3" $(link "$1" 7)
}

replayed() {
	collector || return
	catch "$rig/trap" link_to 100 5,10000
	perl -pe 'BEGIN { $/ = undef } substr($_, -1) ^= "\1"' "$rig/trap" >"$rig/changed"
	head -c -9 "$rig/trap" >"$rig/cut"
	throw "$rig/trap" "$rig/trap" "$rig/trap" "$rig/changed" "$rig/cut"
	expect_counter 'replayed twice: the first is accepted' v3.accepted 1
	expect_counter 'replayed twice: both are refused' v3.replayed 2
	expect_counter 'one octet changed' v3.wrong_digest 1
	expect_counter 'cut short' v3.refused_parse 0
	expect_counter 'cut short: no SNMP message at all' input.refused_parse 1
	expect 'replayed: one event' "$(events)" 1
}

# The memory of digests is gone after a restart, what was newest is in the store: nothing recorded
# before is taken again, and what the sender goes on to send is taken at once.
replayed_over_a_restart() {
	collector || return
	catch "$rig/first" link_to 100 5,10000
	catch "$rig/second" link_to 101 5,10010
	catch "$rig/never_came" link_to 102 5,10005
	throw "$rig/second" "$rig/first"
	expect_counter 'before a kill: two are accepted' v3.accepted 2
	expect 'before a kill: boots and time of the engine are in the store' \
	    "$(ask 'SELECT lower(hex(engine_id)), boots, time_s FROM engine')" "${engine#0x}|5|10010"
	rig_end "$collector_pid" KILL
	: >"$rig/collector.log"
	rig_collector || { fail 'replay over a restart' 'no collector'; return; }
	throw "$rig/first" "$rig/second" "$rig/never_came"
	expect_counter 'after a kill: what was recorded before is refused' v3.not_in_time_window 3
	link_to 103 5,10011 "$(to)"
	expect_counter 'after a kill: what is newer is accepted' v3.accepted 1
	link_to 104 6,1 "$(to)"
	expect_counter 'after a kill: higher boots' v3.accepted 2
	expect 'after a kill: each once' "$(events)" 4
}

without_users() {
	rig_new
	: >"$rig/collector.log"
	rig_collector || { fail 'without users' 'no collector'; return; }
	v3 -Z 5,10000 "$(to)" $(link 100 7)
	expect_counter 'SNMPv3 without users' input.refused_version 1
}

# ---- informs ----

informs() {
	collector || return
	local v2c=(-v 2c -c demo -t 2 -r 3)
	local v3_inform=(-v 3 -u switch -l authPriv -a SHA-256 -A 'authentic words' -x AES -X 'private words' -t 2 -r 3)
	if snmpinform "${v2c[@]}" "$(to)" $(link 200 3); then pass 'inform, v2c: answered'; else fail 'inform, v2c' 'no answer'; fi
	expect 'inform, v2c: in the store when the answer came' "$(events)" 1
	if snmpinform "${v2c[@]}" "$(to)" $(link 200 3); then pass 'inform, v2c: answered again'; else fail 'inform, v2c, again' 'no answer'; fi
	expect 'inform, v2c: once in the store' "$(events)" 1
	expect_counter 'inform, v2c: known as a duplicate' slow_path.events_duplicate 1
	if snmpinform "${v3_inform[@]}" "$(to)" $(link 300 4); then pass 'inform, v3: answered after discovery'; else fail 'inform, v3' 'no answer'; fi
	expect 'inform, v3: in the store when the answer came' "$(events)" 2
	if snmpinform "${v3_inform[@]}" "$(to)" $(link 300 4); then pass 'inform, v3: answered again'; else fail 'inform, v3, again' 'no answer'; fi
	expect 'inform, v3: once in the store' "$(events)" 2
	if snmpinform "${v3_inform[@]}" -A 'other words here' -t 1 -r 0 "$(to)" $(link 301 4) 2>/dev/null; then
		fail 'inform, v3, wrong key' 'answered'; else pass 'inform, v3, wrong key: no answer'; fi
	expect_counter 'inform, v3, wrong key: counted' v3.wrong_digest 1
	if snmpinform -v 2c -c wrong -t 0.3 -r 0 "$(to)" $(link 302 4) 2>/dev/null; then
		fail 'inform of a wrong community' 'answered'; else pass 'inform of a wrong community: no answer'; fi
	if snmpinform -v 2c -c demo -t 0.3 -r 0 "$(to)" 5 1.3.6.1.6.3.1.1.5.1 2>/dev/null; then
		fail 'inform of another MIB' 'answered'; else pass 'inform of another MIB: no answer'; fi
	expect_counter 'informs: four answered' inform.answered 4
	same_octets
}
# What comes back has the request-id and bindings that were sent, twice for two; and while the store
# is away nothing comes.
same_octets() {
	local out
	out=$(perl -MSocket -e '
	    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
	    my $to = sockaddr_in($ARGV[0], INADDR_LOOPBACK);
	    sub tlv { my ($t, $v) = @_; return pack("CC", $t, length $v) . $v }
	    my $binds = tlv(0x30, tlv(6, "\x2b\x06\x01\x02\x01\x01\x03\0") . tlv(0x43, "\x42")) .
	        tlv(0x30, tlv(6, "\x2b\x06\x01\x06\x03\x01\x01\x04\x01\0") . tlv(6, "\x2b\x06\x01\x06\x03\x01\x01\x05\x04"));
	    my $id = tlv(2, "\x12\x34\x56\x78");
	    my $m = tlv(0x30, tlv(2, "\1") . tlv(4, "demo") . tlv(0xa6, $id . tlv(2, "\0") . tlv(2, "\0") . tlv(0x30, $binds)));
	    $SIG{ALRM} = sub { print "silent"; exit }; alarm 5;
	    for (1 .. 2) {
	        send($s, $m, 0, $to); recv($s, my $r, 9999, 0);
	        my $at = index($r, $id);
	        print $at > 0 && index($r, "\xa2") > 0 && substr($r, $at + length $id, 6) eq "\2\1\0\2\1\0" &&
	            substr($r, -length $binds) eq $binds ? "same " : "other ";
	    }' "$trap_port")
	expect 'inform: request-id and bindings come back, twice' "$out" 'same same '
	expect 'inform without ifIndex: 0' "$(ask 'SELECT if_index FROM event WHERE kind = 1004')" 0
}

lock_store() { # until unlock_store nobody else can write
	mkfifo "$rig/lock"
	perl -e '$| = 1; open(my $db, "|-", "sqlite3", $ARGV[0]) or die; $db->autoflush(1);
	    print $db ".timeout 60000\nBEGIN IMMEDIATE;\nSELECT 1;\n"; open(my $f, "<", $ARGV[1]); <$f>; print $db "COMMIT;\n"' \
	    -MIO::Handle "$rig/ease.db" "$rig/lock" >"$rig/locked" &
	lock_holder=$!
	exec 7>"$rig/lock"
	wait_for 5 test -s "$rig/locked" # it says so itself: for moments the collector locks it, too
}
unlock_store() {
	echo >&7
	exec 7>&-
	wait $lock_holder
	rm "$rig/lock"
}

store_away() {
	collector || return
	lock_store
	snmpinform -v 2c -c demo -t 20 -r 0 "$(to)" $(link 400 5) &
	local inform=$!
	sleep 1
	if kill -0 $inform 2>/dev/null; then pass 'inform while the store is locked: no answer yet'; else
		fail 'inform while the store is locked' 'answered'; fi
	unlock_store
	if wait $inform; then pass 'inform while the store is locked: answered when it is written'; else
		fail 'inform while the store is locked' 'never answered'; fi
	expect 'inform while the store is locked: in the store' "$(events)" 1
}

# While the store is away one switch sends 1,100 informs, each of which waits for its reply: traps of
# another come as ever, and so does one more inform of somebody else.
informs_and_traps() {
	collector || return
	lock_store
	perl -MSocket -e '
	    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
	    bind($s, sockaddr_in(0, inet_aton("127.0.0.66"))) or die;
	    my $to = sockaddr_in($ARGV[0], INADDR_LOOPBACK);
	    sub tlv { my ($t, $v) = @_; return pack("CC", $t, length $v) . $v }
	    my $binds = tlv(0x30, tlv(6, "\x2b\x06\x01\x02\x01\x01\x03\0") . tlv(0x43, "\x42")) .
	        tlv(0x30, tlv(6, "\x2b\x06\x01\x06\x03\x01\x01\x04\x01\0") . tlv(6, "\x2b\x06\x01\x06\x03\x01\x01\x05\x04"));
	    for my $id (1 .. 1100) {
	        my $pdu = tlv(2, pack("N", $id)) . tlv(2, "\0") . tlv(2, "\0") . tlv(0x30, $binds);
	        send($s, tlv(0x30, tlv(2, "\1") . tlv(4, "demo") . tlv(0xa6, $pdu)), 0, $to);
	        select(undef, undef, undef, 0.01) if $id % 100 == 0;
	    }' "$trap_port"
	for n in $(seq 10); do v3 -Z 5,$((10000 + n)) "$(to)" $(link $((450 + n)) 7); done
	snmpinform -v 2c -c demo -t 20 -r 0 "$(to)" $(link 460 5) &
	local inform=$!
	sleep 1
	unlock_store
	expect_counter '1,100 informs that wait: each trap of another is taken' v3.accepted 10
	if wait $inform; then pass '1,100 informs that wait: another inform is answered'; else
		fail '1,100 informs that wait' 'no answer to another inform'; fi
	expect_counter '1,100 informs that wait: beyond their share' inform.over_share 588
}

# Killed before the commit there is neither answer nor event, and the sender's next try brings both;
# killed after it, whose answer was lost asks again, and the event stays one.
informs_and_kill() {
	collector || return
	local v3_inform=(-v 3 -u switch -l authPriv -a SHA-256 -A 'authentic words' -x AES -X 'private words')
	lock_store
	snmpinform -v 2c -c demo -t 1 -r 20 "$(to)" $(link 410 5) &
	local inform=$!
	sleep 1
	rig_end "$collector_pid" KILL
	unlock_store
	expect 'inform, killed before the commit: not in the store' "$(events)" 0
	: >"$rig/collector.log"
	rig_collector || { fail 'informs and kill' 'no collector'; return; }
	if wait $inform; then pass 'inform, killed before the commit: the next try is answered'; else
		fail 'inform, killed before the commit' 'never answered'; fi
	snmpinform "${v3_inform[@]}" -t 2 -r 3 "$(to)" $(link 411 5)
	expect 'inform, killed before the commit: in the store' "$(events)" 2
	rig_end "$collector_pid" KILL
	: >"$rig/collector.log"
	rig_collector || { fail 'informs and kill' 'no collector'; return; }
	if snmpinform -v 2c -c demo -t 2 -r 3 "$(to)" $(link 410 5); then
		pass 'inform, v2c, killed after the commit: answered again'; else
		fail 'inform, v2c, killed after the commit' 'no answer'; fi
	if snmpinform "${v3_inform[@]}" -t 2 -r 3 "$(to)" $(link 411 5); then
		pass 'inform, v3, killed after the commit: answered again'; else
		fail 'inform, v3, killed after the commit' 'no answer'; fi
	expect_counter 'inform, killed after the commit: known as duplicates' slow_path.events_duplicate 2
	expect 'inform, killed after the commit: once in the store' "$(events)" 2
}

# ---- whose events ----

identities() {
	collector || return
	snmptrap -v 2c -c demo "$(to)" $(link 500 6)
	expect_counter 'v2c: an event' slow_path.events 1
	expect 'v2c: an identity made of the address' "$(ask 'SELECT hex(agent_id) FROM agent')" 000400007F000001
	snmptrap -v 2c -c demo "$(to)" 501 1.3.6.1.2.1.16.0.1 1.3.6.1.2.1.16.3.1.1.1.9 i 9 \
	    1.3.6.1.2.1.16.3.1.1.3.9 o 1.3.6.1.2.1.31.1.1.1.6.12 1.3.6.1.2.1.16.3.1.1.4.9 i 2 \
	    1.3.6.1.2.1.16.3.1.1.5.9 i 100 1.3.6.1.2.1.16.3.1.1.7.9 i 90
	snmptrap -v 2c -c demo "$(to)" 502 1.3.6.1.2.1.16.0.2 1.3.6.1.2.1.16.3.1.1.1.9 i 9 \
	    1.3.6.1.2.1.16.3.1.1.3.9 o 1.3.6.1.2.1.31.1.1.1.6.13
	snmptrap -v 2c -c demo "$(to)" 503 $ease.0.77 $ease.1.1.1.0 x 0102030405060708 $ease.1.1.2.0 u 4 $ease.1.3.2.1.9.21 x 00
	snmptrap -v 2c -c demo "$(to)" 504 1.3.6.1.6.3.1.1.5.1
	expect_counter 'another MIB' input.ignored_notifications 1
	expect 'another MIB: no warning, and its name' "$(grep -c ' info input: notification 1.3.6.1.6.3.1.1.5.1 (coldStart) from' "$rig/collector.log")" 1
	snmptrap -v 2c -c demo "$(to)" 506 1.3.6.1.2.1.16.29.2.0.1 1.3.6.1.2.1.16.29.1.1.1.1.3.9 o 1.3.6.1.2.1.31.1.1.1.6.14 \
	    1.3.6.1.2.1.16.29.1.1.1.1.5.9 C 375000000000
	snmptrap -v 2c -c demo "$(to)" 507 1.3.6.1.2.1.16.29.2.0.2 1.3.6.1.2.1.16.29.1.1.1.1.3.9 o 1.3.6.1.2.1.31.1.1.1.6.15
	expect_counter 'alarms and a later notification of our MIB' slow_path.events 6
	expect 'alarms: the ifIndex of what they watch' "$(ask 'SELECT group_concat(kind || "/" || if_index, " ") FROM event WHERE kind > 2000 ORDER BY id')" '2001/12 2002/13 2001/14 2002/15'
	expect 'our MIB: agent, boot and port as told' \
	    "$(ask "SELECT event.boot, if_index FROM event JOIN agent ON agent.id = agent WHERE kind = 77 AND hex(agent_id) = '0102030405060708'")" '4|21'
	snmptrap -v 2c -c demo "$(to)" $(link 505 6)
	expect_counter 'v2c: one more' slow_path.events 7
	expect 'v2c: taken for the EASE agent of that address' \
	    "$(ask "SELECT hex(agent_id) FROM event JOIN agent ON agent.id = agent WHERE kind = 1003 ORDER BY event.id DESC LIMIT 1")" 0102030405060708
	expect 'easetop agents lists the events' \
	    "$(easetop agents --last 5m --format json | jq -c '.events | group_by(.event) | map([.[0].event, (map(.count) | add)])')" \
	    '[["falling alarm",2],["link down",2],["other",1],["rising alarm",2]]'
}

# ---- a real snmpd ----

snmpd_sends() {
	collector || return
	cat >>"$rig/snmpd.conf" <<-END
		exactEngineID $engine
		createUser switch SHA-256 "authentic words" AES "private words"
		trapsess -v 3 -u switch -l authPriv -a SHA-256 -A "authentic words" -x AES -X "private words" 127.0.0.1:$trap_port
	END
	sed -i '/^trap2sink/d' "$rig/snmpd.conf"
	rig_snmpd || { fail 'snmpd' 'did not start'; return; }
	"$top/conf/make-capture" "$rig/capture" 2
	rig_agent "$rig/capture" lock_step 'mean_skip = 50' || { fail 'snmpd: agent' 'did not start'; return; }
	wait_for 60 replay_ended
	wait_for 20 has_samples
	wait_for 10 all_arrived
	expect 'snmpd over v3: every sample arrived' "$(ask 'SELECT sum(received) FROM account')" "$(column_sum $ease.1.2.1.6)"
	if [ "$(counter v3.accepted)" -gt 10 ]; then pass "snmpd over v3: $(counter v3.accepted) notifications"; else
		fail 'snmpd over v3' "$(counter v3.accepted) notifications"
	fi
	expect 'snmpd over v3: nothing refused' "$(ask "SELECT total(value) FROM stat WHERE name IN ('v3.wrong_digest', 'v3.replayed', 'v3.not_in_time_window', 'v3.decryption', 'slow_path.refused')")" 0.0
}
has_samples() { [ "$(ask 'SELECT sum(received) FROM account')" -gt 0 ]; }
all_arrived() { [ "$(ask 'SELECT sum(received) FROM account')" = "$(column_sum $ease.1.2.1.6)" ]; }

# ---- configuration ----

configuration() {
	local out passphrase engines
	collector || return
	out=$("$build/collector/easecapd" -c "$rig/collector.conf" --print-config)
	expect '--print-config hides passphrases' "$(grep -c 'words' <<<"$out")" 0
	expect '--print-config shows the user' "$(grep -c '^user "switch"' <<<"$out")" 1
	passphrase=$(grep -n -m 1 'authentic words' "$rig/collector.conf" | cut -d: -f1)
	engines=$(grep -n -m 1 "$engine" "$rig/collector.conf" | cut -d: -f1)
	sed -i 's/"authentic words"/"short"/' "$rig/collector.conf"
	out=$("$build/collector/easecapd" -c "$rig/collector.conf" --check 2>&1)
	expect 'a short passphrase is named' "$(grep -c ":$passphrase: auth_passphrase: .*a passphrase has" <<<"$out")" 1
	sed -i -e 's/"short"/"authentic words"/' -e "s/$engine/0x12/" "$rig/collector.conf"
	out=$("$build/collector/easecapd" -c "$rig/collector.conf" --check 2>&1)
	expect 'a wrong engine ID is named' "$(grep -c ":$engines: engine_ids: .*an engine ID must be" <<<"$out")" 1
}
restarted() { # the engine keeps its ID and counts its boots
	collector || return
	local before after
	read -r before boots <"$rig/ease.db.engine"
	rig_end "$collector_pid"
	: >"$rig/collector.log"
	rig_collector
	read -r after boots <"$rig/ease.db.engine"
	expect 'restart: same engine ID' "$after" "$before"
	expect 'restart: boots are counted' "$boots" 2
	if snmpinform -v 3 -u switch -l authPriv -a SHA-256 -A 'authentic words' -x AES -X 'private words' \
	    -t 2 -r 3 "$(to)" $(link 600 4); then pass 'restart: informs go on'; else fail 'restart' 'no answer'; fi
}

# ---- strangers, and a configuration that is read again ----

# Probes that ask who we are, as short as they can be: octets that come back, and how many Reports.
probe() { # TIMES
	perl -MSocket -e '
	    sub tlv { my ($t, $v) = @_; return pack("CC", $t, length $v) . $v }
	    my $usm = tlv(4, tlv(0x30, tlv(4, "") . tlv(2, "\0") . tlv(2, "\0") . tlv(4, "") x 3));
	    my $head = tlv(0x30, tlv(2, "\1") . tlv(2, "\2\0") . tlv(4, "\4") . tlv(2, "\3"));
	    my $pdu = tlv(0x30, tlv(4, "") . tlv(4, "") . tlv(0xa0, tlv(2, "\1") . tlv(2, "\0") x 2 . tlv(0x30, "")));
	    my $m = tlv(0x30, tlv(2, "\3") . $head . $usm . $pdu);
	    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
	    my $to = sockaddr_in($ARGV[0], INADDR_LOOPBACK);
	    send($s, $m, 0, $to) for 1 .. $ARGV[1];
	    my ($n, $octets, $r) = (0, 0, "");
	    while (1) {
	        my $in = ""; vec($in, fileno($s), 1) = 1;
	        last unless select($in, undef, undef, $n ? 0.5 : 5);
	        recv($s, $r, 9999, 0); $n++; $octets += length $r;
	    }
	    print length($m) * $ARGV[1], " $octets $n"' "$trap_port" "$1"
}
strangers() {
	collector || return
	read -r in out n <<<"$(probe 1)"
	expect 'a stranger learns who we are' "$n" 1
	if [ "$out" -gt "$in" ]; then pass "one Report is longer than what asks for it ($out octets for $in)"; else
		fail 'one Report' "$out octets for $in"; fi
	read -r in out n <<<"$(probe 200)"
	if [ "$n" -gt 0 ] && [ "$n" -le 20 ] && [ "$out" -le "$in" ]; then
		pass "200 probes at once: $n answers, $out octets for $in"; else
		fail '200 probes at once' "$n answers, $out octets for $in"; fi
	expect_counter 'each is counted' v3.probes 201
	expect_counter 'and what was held back' v3.reports_held $((200 - n))
}

# Under SIGHUP users come, change and go; who stays keeps what is known of his engine.
inform_as() { # NAME WORDS
	snmpinform -v 3 -u "$1" -l authPriv -a SHA-256 -A "$2 words" -x AES -X 'private words' -t 1 -r 1 \
	    "$(to)" $(link $((uptime += 1)) 4) 2>/dev/null
}
expect_inform() { # TEXT NAME WORDS
	if inform_as "$2" "$3"; then pass "$1"; else fail "$1" 'no answer'; fi
}
expect_silence() {
	if inform_as "$2" "$3"; then fail "$1" 'answered'; else pass "$1"; fi
}
reread() { # what the log says of user
	local lines
	lines=$(grep -c 'options changed' "$rig/collector.log")
	kill -HUP "$collector_pid"
	read_again() { [ "$(grep -c 'options changed' "$rig/collector.log")" -gt "$lines" ]; }
	wait_for 5 read_again
}
user() { # NAME WORDS
	printf 'user "%s" { auth_passphrase = "%s words" priv_passphrase = "private words" }\n' "$1" "$2"
}
reread_users() {
	local uptime=700 plain
	rig_new
	plain=$(cat "$rig/collector.conf")
	: >"$rig/collector.log"
	rig_collector || { fail 'read again' 'no collector'; return; }
	expect_silence 'read again: before there is a user' first authentic
	{ echo "$plain"; user first authentic; } >"$rig/collector.conf"
	reread
	expect_inform 'read again: the first user may send at once' first authentic
	{ echo "$plain"; user first authentic; user second other; } >"$rig/collector.conf"
	reread
	expect_inform 'read again: a second one' second other
	expect_inform 'read again: the first one as before' first authentic
	{ echo "$plain"; user first changed; user second other; } >"$rig/collector.conf"
	reread
	expect_silence 'read again: a passphrase that was changed' first authentic
	expect_inform 'read again: the new one' first changed
	{ echo "$plain"; user second other; } >"$rig/collector.conf"
	reread
	expect_silence 'read again: a user that went' first changed
	expect_inform 'read again: who stayed' second other
	echo "$plain" >"$rig/collector.conf"
	reread
	expect_silence 'read again: no user is left' second other
	expect 'read again: no secret in the log' "$(grep -c 'words' "$rig/collector.log")" 0

	collector || return
	link_to 100 5,10000 "$(to)"
	expect_counter 'read again: an engine that is known' v3.accepted 1
	user second other >>"$rig/collector.conf"
	reread
	link_to 101 5,9000 "$(to)"
	expect_counter 'read again: what is known of it stays known' v3.not_in_time_window 1
	sed -i "s/engine_ids.*/engine_ids = {\"$engine\", \"0x80001f880405060708\"}/" "$rig/collector.conf"
	reread
	v3 -e 0x80001f880405060708 -Z 5,1 "$(to)" $(link 102 7)
	expect_counter 'read again: a switch is added' v3.accepted 2
}

configuration
users
strangers
reread_users
replayed
replayed_over_a_restart
without_users
informs
store_away
informs_and_traps
informs_and_kill
identities
restarted
snmpd_sends
exit $failed
