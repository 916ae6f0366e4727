#!/bin/bash
# SET over a real snmpd, for every object of --list-objects by what it declares there: a writable
# one takes a good value and gives it back, refuses one of the wrong type, length or range and a row
# that is not there, alone and beside good ones, by the error of RFC 3416 and of the right varbind,
# and nothing changes; every other object is notWritable. What was set is there after a restart.
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

rig_new
rig_own_view
rig_snmpd && rig_agent '' recorded || { fail 'start' 'a daemon did not come up'; exit 1; }
"$build/agent/easeagentd" --list-objects >"$rig/objects"

# ---- what is asked ----

walk() { ours snmpbulkwalk "127.0.0.1:$agent_port" .1 >"$1"; }
# The objects that managers set: of these, what is the same until somebody sets it.
settings() { client snmpget -Oqn "127.0.0.1:$agent_port" "${lasting[@]}" 2>/dev/null; }

# set VARBIND...: ok, or the reason and the varbind that is to blame (0 if the answer names none)
set_objects() {
	local answer
	if answer=$(client snmpset -On "127.0.0.1:$agent_port" "$@" 2>&1); then echo ok; return; fi
	sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p; s/^Failed object: \.\(.*\)/\1/p' <<<"$answer" | paste -sd' '
}
wrong=0 asked=0
must() { # WHAT IS MUST-BE: counted, and told only when it is not so
	asked=$((asked + 1))
	[ "$2" = "$3" ] && return
	wrong=$((wrong + 1))
	[ $wrong -gt 5 ] || wrongs+="$1: '$2' instead of '$3'; "
}
told() { # NAME: PASS or FAIL of all since the last one
	if [ $wrong = 0 ] && [ $asked -gt 0 ]; then pass "$1 ($asked requests)"; else fail "$1" "$wrong of $asked: ${wrongs:-}"; fi
	wrong=0 asked=0 wrongs=
}

# ---- values, from syntax and range ----

repeat() { printf '%*s' "$2" '' | tr ' ' "$1"; }
good_value() { # SYNTAX LEAST MOST WHICH: type and value for snmpset; WHICH 1 or 2, never the same
	case $1 in
	Integer32) echo "i $(($4 == 1 ? $3 : $2))" ;;
	Gauge32) echo "u $(($4 == 1 ? $3 : $2))" ;;
	'OCTET STRING') echo "s $(repeat "$4" "$(($3 < 20 ? $3 : 20))")" ;;
	'OBJECT IDENTIFIER') echo "o 1.3.6.1.2.1.2.2.1.1.$4" ;;
	esac
}
wrong_values() { # SYNTAX LEAST MOST: type, value and error, one a line
	case $1 in
	Integer32)
		[ "$3" = 2147483647 ] || echo "i $(($3 + 1)) wrongValue"
		[ "$2" = -2147483648 ] || echo "i $(($2 - 1)) wrongValue"
		echo 's text wrongType' ;;
	Gauge32)
		[ "$3" = 4294967295 ] || echo "u $(($3 + 1)) wrongValue"
		[ "$2" = 0 ] || echo "u $(($2 - 1)) wrongValue"
		echo 'i 1 wrongType' ;;
	'OCTET STRING')
		[ "$3" -ge 255 ] || echo "s $(repeat x $(($3 + 1))) wrongLength"
		echo 'i 1 wrongType' ;;
	'OBJECT IDENTIFIER') echo 's text wrongType' ;;
	esac
}

# ---- every writable object: its varbind in a row that lasts, or in one made for the test ----

# Rows that managers make have a status of the kinds of RFC 2819 or RFC 2579.
status_of() { # ENTRY: the status column's OID, and the values that make and delete a row
	awk -F'\t' -v entry="$1." '$4 == "read-write" && index($2, entry) == 1 &&
	    $1 ~ /^(historyControl|alarm|event)Status$/ { print $2, 2, 4 }
	    $4 == "read-write" && index($2, entry) == 1 && $1 ~ /(RowStatus|^hcAlarmStatus)$/ { print $2, 5, 6 }' "$rig/objects"
}
row=900 # of the rows made here
# What the emulated board lets nobody set, whatever the value, and what needs a configuration (check_lease.sh).
fixed='dot3PauseAdminMode easeRequestOwner easeRequestTtl easePortRequestedSkip easePortRequestedMaxSamples'
names=() oids=() syntaxes=() least=() most=() made=() lasting=()
while IFS=$'\t' read -r name oid syntax _ range; do
	[[ " $fixed " != *" $name "* && $name != dot1dStatic* ]] || continue # check_bridge.sh has those
	status=$(status_of "${oid%.*}")
	if [ -n "$status" ]; then
		[ "${status%% *}" != "$oid" ] || continue
		instance=.$row made+=(yes)
	elif [[ $oid == *.0 ]]; then
		instance='' made+=('')
	else
		instance=.1 made+=('')
	fi
	# A port that takes skips; the range has that of ports that sample by themselves.
	[ "$name" != easePortMeanSkip ] || range=${range%..*}..524288
	names+=("$name") oids+=("$oid$instance") syntaxes+=("$syntax")
	least+=("${range%..*}") most+=("${range#*..}")
	[ -n "$status" ] || lasting+=("$oid$instance")
done < <(grep read-write "$rig/objects")
each=$(seq 0 $((${#names[@]} - 1)))
good() { good_value "${syntaxes[$1]}" "${least[$1]}" "${most[$1]}" "$2"; }

make_rows() { # 1: make them, 2: delete them
	local table status
	for table in $(grep read-write "$rig/objects" | grep -v dot1dStatic | cut -f2 | sed 's/\.[0-9]*$//' | sort -u); do
		read -r -a status < <(status_of "$table") || continue
		must "row $1 of $table" "$(set_objects "${status[0]}.$row" i "${status[$1]}")" ok
	done
}

make_rows 1
told 'rows are made'
for i in $each; do
	read -r type value < <(good "$i" 1)
	must "${names[i]}" "$(set_objects "${oids[i]}" "$type" "$value")" ok
	must "${names[i]}" "$(snmp_get -On "${oids[i]}" | tr -d '"' | sed 's/^\.1/1/')" "$value"
done
told "each of ${#names[@]} writable objects takes a value and gives it back"

walk "$rig/before"
for i in $each; do
	while read -r type value error; do
		must "${names[i]} $value" "$(set_objects "${oids[i]}" "$type" "$value")" "$error ${oids[i]}"
	done < <(wrong_values "${syntaxes[i]}" "${least[i]}" "${most[i]}")
	read -r type value < <(good "$i" 2)
	if [ -n "${made[i]}" ]; then
		must "${names[i]} in no row" "$(set_objects "${oids[i]%.*}.901" "$type" "$value")" \
		    "inconsistentName ${oids[i]%.*}.901"
	elif [[ ${oids[i]} != *.0 ]]; then
		must "${names[i]} in no row" "$(set_objects "${oids[i]%.*}.901" "$type" "$value")" \
		    "noCreation ${oids[i]%.*}.901"
	fi
done
told 'each refuses wrong types, lengths, values and rows'

for i in $each; do # beside the next one's wrong value, before it and behind it
	j=$(((i + 1) % ${#names[@]}))
	read -r type value < <(good "$i" 2)
	read -r wrong_type wrong_value error < <(wrong_values "${syntaxes[j]}" "${least[j]}" "${most[j]}")
	must "${names[i]} and then ${names[j]}" "$(set_objects "${oids[i]}" "$type" "$value" \
	    "${oids[j]}" "$wrong_type" "$wrong_value")" "$error ${oids[j]}"
	must "${names[j]} and then ${names[i]}" "$(set_objects "${oids[j]}" "$wrong_type" "$wrong_value" \
	    "${oids[i]}" "$type" "$value")" "$error ${oids[j]}"
done
told 'a wrong one takes the good ones beside it with it'

varbind_to_try() { # SYNTAX: type and value that fit
	case $1 in
	'OCTET STRING') echo 's x' ;;
	'OBJECT IDENTIFIER') echo 'o 1.3.6.1' ;;
	Gauge32 | Counter32) echo 'u 1' ;;
	TimeTicks) echo 't 1' ;;
	*) echo 'i 1' ;;
	esac
}
while IFS=$'\t' read -r name oid syntax _; do
	instance=$(grep -om1 "^\.$oid[0-9.]*" "$rig/before")
	instance=${instance#.}
	read -r type value < <(varbind_to_try "$syntax")
	must "$name" "$(set_objects "${instance:-$oid.1}" "$type" "$value")" "notWritable ${instance:-$oid.1}"
done < <(grep "read-only\|^\(${fixed// /\\|}\)	" "$rig/objects")
told 'every other object is notWritable'

walk "$rig/after"
# All but the buckets of histories, which time fills.
settled() { steady "$1" | grep -v '^.1.3.6.1.2.1.16.2.[26].'; }
changes() { diff <(settled "$1") <(settled "$2") | head -n 4; }
expect 'none of it changed anything' "$(changes "$rig/before" "$rig/after")" ''

read -r type value < <(good 0 2)
must 'blame across tables' "$(set_objects "${oids[0]}" "$type" "$value" 1.3.6.1.2.1.10.7.10.1.1.1 i 4)" \
    'notWritable 1.3.6.1.2.1.10.7.10.1.1.1'
told 'what a device refuses is blamed though it is of another table'

all=()
for i in $each; do all+=("${oids[i]}" $(good "$i" 2)); done
must 'all' "$(set_objects "${all[@]}")" ok
for i in $each; do
	read -r _ value < <(good "$i" 2)
	must "${names[i]}" "$(snmp_get -On "${oids[i]}" | tr -d '"' | sed 's/^\.1/1/')" "$value"
done
told "all ${#names[@]} in one request"
for column in AdminStatus MeanSkip HeaderOctets MaxSamples Edge; do
	grep -q "info agent: port [a-z0-9-]*: easePort$column set from [a-z0-9]* to [a-z0-9]* by a manager$" "$rig/agent.log"
	must "easePort$column" $? 0
done
told 'a changed sampling setting is in the log with port, old and new value'
make_rows 2
told 'rows are deleted'

# ---- the next life ----

settings >"$rig/before"
rig_agent_stop
rig_agent '' recorded || { fail 'restart' 'the agent did not come up'; exit 1; }
settings >"$rig/after"
expect "a clean stop keeps all ${#lasting[@]} settings" "$(changes "$rig/before" "$rig/after")" ''
read -r type value < <(good 0 1)
set_objects "${oids[0]}" "$type" "$value" >/dev/null
settings >"$rig/before"
rig_end "$agent_pid" KILL
rig_agent '' recorded || { fail 'restart' 'the agent did not come up'; exit 1; }
settings >"$rig/after"
expect 'so does a kill right after a SET' "$(changes "$rig/before" "$rig/after")" ''
exit $failed
