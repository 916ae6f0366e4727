/*
 * Every remark that a report can make, in the order in which text has them, above the rows and below: the one place of
 * its sentence, for text, JSON and the page. A new remark is a row here, and a note_of() in the report that makes it.
 *
 *   S(id, name in JSON, severity, shape, key, items, sentence)
 *
 * shape and key say where a result's JSON has the values beside its notes: nowhere (APART), as members of the result,
 * as the object `key`, inside it by the note's name, or as an array of the items. items: what the things of a list
 * are called there.
 *
 * In a sentence stand
 *   {name}          the value, as its type is written; {name:form} in a form of notes.c:say_number
 *   {n?one:many}    one of two words, by a number
 *   {a|b}           a where the reader has the options of a command, else b
 *   <name|words>    words, if there is such a value and it is no nought
 *   [, words]       words for each of the things, with what comes between them; without a thing nothing is said
 * A value whose name begins with # is for the sentence alone.
 */
#ifndef EASE_COLLECTOR_REPORT_SENTENCES_H
#define EASE_COLLECTOR_REPORT_SENTENCES_H

#define SENTENCES_ABOVE(S) \
	S(LOST_BY_LOAD, "lost_by_load", WARNING, LIST, "lost_by_load", "places", \
	    "More is lost when more passes: [, {agent}<port| {port}> ({lost_quiet_percent:whole}% at quiet times," \
	    " {lost_busy_percent:whole}% at busy ones)]; figures of busy times are too low there.") \
	S(DISAGREEMENT, "disagreement", WARNING, OBJECT, "disagreement", NULL, \
	    "Samples stand for {octets_by_samples:bits} where {octets_counted:bits} were counted, which is no chance:" \
	    " easetop audit looks for the cause.") \
	S(SILENT, "silent", WARNING, LIST, "silent", "ports", \
	    "Silent<#late| or late>: [, {agent} {port} ({counted_to:age})]: no counters came since, so less was" \
	    " counted there.") \
	S(AWAY, "away", WARNING, LIST, "away", "times", \
	    "easecapd was away [, {from..to}]: what passed meanwhile is counted, and in no row; samples of that time are" \
	    " missed when it is back.") \
	S(PARTLY, "partly", CAUTION, INNER, "uncounted", "ports", \
	    "Counted in a part of the range: [, {agent} {port} ({from..to})]; what passed there before and after is" \
	    " estimated from samples alone.") \
	S(FEW_SAMPLES, "few_samples", CAUTION, APART, NULL, NULL, \
	    "FEW SAMPLES: try {--last 1h|a longer range}, or a smaller skip (now {mean_skip:round})")

#define SENTENCES_BELOW(S) \
	S(LEFT_OUT, "left_out", HINT, MEMBERS, NULL, NULL, "{left_out:whole} more: --top {#top:whole} shows them.") \
	S(NO_PAST, "no_past", CAUTION, APART, NULL, NULL, \
	    "The store has no data from {versus_s:age} earlier to compare with.") \
	S(WARNED, "warned", WARNING, MEMBERS, NULL, NULL, \
	    "<warned|WARNING: {warned:whole} row{warned? is:s are} surely above {#warn}.>") \
	S(FEW_ROWS, "few_rows", HINT, APART, NULL, NULL, \
	    "{keys} {noun}{keys?:s} of fewer than {samples:whole} samples {keys?has:have} no row here; --format csv" \
	    " lists {keys?it:them}.") \
	S(FOLDED, "memory_full", WARNING, MEMBERS, NULL, NULL, \
	    "<folded_samples|MEMORY FULL: {folded_samples} samples are in no row of their own, because the" \
	    " collector's memory for keys was full; upper limits allow for up to {folded_samples_one_key_high} of" \
	    " them.>") \
	S(INNER, "has_inner", HINT, APART, NULL, NULL, \
	    "Most frames without IP have it inside, behind MPLS or in a tunnel: --layer inner lists these addresses.") \
	S(WIDE, "wide_rows", HINT, MEMBERS, NULL, NULL, \
	    "{hiding_port}, 1 in {hiding_skip:round}, may hide as much as the upper limits of {wide_rows:whole}" \
	    " row{wide_rows?:s} say; --if narrows it.") \
	S(UNSEEN, "unseen", CAUTION, MEMBERS, NULL, NULL, \
	    "<unseen_packets_high|No {unseen} more than {unseen_packets_high:ceil} frames (95%).>") \
	S(ROWS_OF_PART, "rows_of_part", CAUTION, APART, NULL, NULL, \
	    "Rows and their limits are of the {part:percent} that passed while samples were taken: whose the rest was nobody" \
	    " knows.") \
	S(FILTER, "filter", HINT, MEMBERS, NULL, NULL, \
	    "<answered_from|Filter: {filter}; answered from {answered_from}.>") \
	S(WHOLE_MINUTES, "whole_minutes", HINT, APART, NULL, NULL, \
	    "The range ends with the last minute that the cluster has of every agent heard now: a minute comes" \
	    " there\nsome time after it ended. The collector's own store knows the rest.") \
	S(NAMELESS, "nameless", CAUTION, OBJECT, "nameless", NULL, \
	    "No name is known of {ports:whole} port{ports?:s}: agents of EASE send names each state_interval_s;" \
	    " let other switches send them, or ask them (poll in easecapd.conf).") \
	S(UNSAMPLED, "unsampled", CAUTION, LIST, "unsampled", "ports", \
	    "While the skip counter stood empty, frames passed unsampled at [, {agent} {port} ({percent:whole}% of" \
	    " them)]: they are counted, and in no list; a larger skip samples them as well.") \
	S(WHOLE_BOOTS, "whole_boots", CAUTION, MEMBERS, NULL, NULL, \
	    "Samples are counted over whole runs of the agents, the oldest since {counted_since}: other reports have the" \
	    " completeness of the range.") \
	S(UNCOUNTED_LOST, "uncounted_lost", WARNING, OBJECT, "uncounted", NULL, \
	    "<lost_samples|Where no counters came {lost_samples} samples were lost for longer than a message takes:" \
	    " what passed meanwhile is in no figure.>") \
	S(UNCOUNTED, "uncounted", CAUTION, OBJECT, "uncounted", "ports", \
	    "About: fewer than two counters came from [, {agent} {port}], so their traffic is estimated from samples" \
	    " alone; let the agent send counters, or ask it for them (poll in easecapd.conf).") \
	S(UNCOUNTED_ROWS, "uncounted_rows", CAUTION, OBJECT, "uncounted", NULL, \
	    "<#ports|Rows that rest on such ports, wholly or partly: {rows:whole} of {#of:whole}.>") \
	S(COARSE, "coarse", CAUTION, OBJECT, "coarse", "ports", \
	    "Counters are further apart than steps at [, {agent} {port}]: what was counted there in a minute is" \
	    " divided among its steps by samples.") \
	S(DIVIDED, "divided", CAUTION, OBJECT, "divided", "ports", \
	    "Counters are far apart at [, {agent} {port}]: samples, or time where none came, tell how much of what" \
	    " was counted across an end of the range belongs to it.") \
	S(DIVIDED_STEPS, "divided_steps", CAUTION, OBJECT, "divided", "ports", \
	    "Counters are far apart at [, {agent} {port}]: samples divided among steps what was counted there, so" \
	    " steps are known to {part:percent} or better.") \
	S(EGRESS, "sampled_on_egress", CAUTION, OBJECT, "sampled_on_egress", "agents", \
	    "Sampled on egress: [, {}]. Lists have there what ports sent; a frame that leaves by several ports counts" \
	    " at each.") \
	S(UPLINKS, "uplinks", CAUTION, OBJECT, "counted_twice", NULL, \
	    "{ports:whole} port{ports? looks:s look} like an uplink: what passed there was counted at other switches, too." \
	    " easetop audit names {ports?it:them}; a row \"uplink\" of the file device_names leaves {ports?it:them} out.") \
	S(AUDITED, "audit", WARNING, OBJECT, "audit", "ports", "audit: [; {agent} {port} {says}]: easetop audit") \
	S(OLDER, "older", CAUTION, MEMBERS, NULL, NULL, "The store keeps NOTHING from before {sums_kept_since}.") \
	S(KEPT_SAMPLES, "kept_samples", CAUTION, MEMBERS, NULL, NULL, \
	    "This filter needs single samples, which the store keeps from {samples_kept_since} on; the list is of the" \
	    " time since.") \
	S(NO_LINKS, "no_links", HINT, APART, NULL, NULL, \
	    "No link between two switches is known: both must be asked (poll in easecapd.conf) and have LLDP-MIB.") \
	S(NO_GOALS, "no_goals", HINT, APART, NULL, NULL, \
	    "No goal was judged in the last two hours: say how exact lists shall be (precision in easecapd.conf).") \
	S(WAY_TOLD, "way_told", HINT, OBJECT, "told", NULL, \
	    "Of {samples:whole} samples {delays:whole} tell a delay and {depths:whole} a queue's depth; of other frames" \
	    " nothing is known here.<most| {most:whole} say as much as sFlow can, 4.29 s or 4.29 GB, or more.>") \
	S(WAYS_KEPT, "ways_kept", CAUTION, MEMBERS, NULL, NULL, \
	    "Delays are in single samples, which the store keeps from {samples_kept_since} on.") \
	S(DROPPED_ELSEWHERE, "dropped_elsewhere", CAUTION, OBJECT, "elsewhere", NULL, \
	    "Of the unexplained up to {packets:whole} may be among the not counted, at another port or without one: a switch" \
	    " tells where a packet came in, and may count it where it was to leave.") \
	S(REFUSED, "refused", WARNING, APART, NULL, NULL, \
	    "Refused: {records:whole} records of agent {agent}, the newest at {newest} from {from}; the agent is" \
	    " known as {source}.<#both|\n  Both send now. If these are two switches, give each an agent address of" \
	    " its own, or name the one they state in sflow_shared_agents.><#copied|\n  Both send now. If these are two" \
	    " machines, one is a copy of the other: remove what is in its state_dir, and it draws another id.>" \
	    "<#moved|\n  If {from} is the switch itself, add the row \"source {agent} {from}\" to the file device_names and send" \
	    " SIGHUP.><#two|\n  If it has both addresses, add \"source {agent} {source}\" as well: only the addresses of such" \
	    " rows may speak for it.>") \
	S(STORE_WORK, "store_work", HINT, OBJECT, "store_work", NULL, \
	    "The store is at work ({work}): {done:whole} of {total:whole} windows done.") \
	S(CLUSTER_LAG, "cluster_lag", CAUTION, MEMBERS, NULL, NULL, \
	    "The ClickHouse cluster is {cluster_lag_s:age} behind.") \
	S(HOLES, "holes", WARNING, LIST, "holes", "places", \
	    "Holes: [, {place}<port| {port}> ({missing:whole} interval{missing?:s} without counters, the longest hole" \
	    " {longest_hole_s:age})]; they are in no percentile.") \
	S(BILLING_KEPT, "five_minutes_since", CAUTION, MEMBERS, NULL, NULL, \
	    "Counters of each five minutes are kept since {five_minutes_since} (5min in keep); before that there are holes.") \
	S(KEPT_SINCE, "kept_since", HINT, OBJECT, "kept_since", NULL, \
	    "The store has [, <sums|sums of >{level} since {since}].")

#endif
