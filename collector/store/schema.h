/*
 * The store's tables: one SQL text per version. open.c runs those that a store lacks, in order, and
 * keeps the number in PRAGMA user_version.
 *
 * Times are microseconds since 1970 by the device's clock, corrected where that is wrong (agent_clock), unless
 * the name says "received" (the collector's clock). Addresses are octets: MAC 6, IPv4 4, IPv6 16. A window is [start_us, start_us
 * + its level's span); the shortest is one minute.
 *
 * All sums are plain additions over samples with weight w (mean frames per sample) and length b
 * (octets of the frame), so sums of any ranges and keys can be added up before anything is
 * estimated from them. n counts samples, w2 is the sum of w squared, wb of w times b, and so on.
 * From version 9 on, sums are in packs (pack.h) at several levels (levels.h).
 *
 * Some tables have names of our own: `account` is the accounting of one boot of a port, `gone` the
 * samples that a crash of the collector lost, `gap` what was counted while no counters arrived, `life`
 * whether a collector uses the store or crashed in it, `outage` the times in which nothing was stored,
 * `part` packs of sums, `level` how far each level is, `flush` when parts were written.
 */
#ifndef EASE_COLLECTOR_STORE_SCHEMA_H
#define EASE_COLLECTOR_STORE_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

enum { STORE_VERSION = 24, STORE_WINDOW_US = 60000000 };

/* part.kind of keys. The comment says what the two halves of the key are. */
enum store_key_kind {
	STORE_KEY_ETH_PAIR = 1, /* source MAC, destination MAC */
	STORE_KEY_IP_PAIR = 2,	/* source IP, destination IP; samples without IP have no key */
	/* For the next four, key2 is empty and numbers are in network order: */
	STORE_KEY_VLAN = 3,	   /* outermost VLAN id, 2 octets; untagged frames have no key */
	STORE_KEY_ETHERTYPE = 4,   /* after all VLAN tags, 2 octets; 0: a length field */
	STORE_KEY_IP_PROTO = 5,	   /* 1 octet */
	STORE_KEY_SERVER_PORT = 6, /* IP protocol, the lower of the two ports: 1 + 2 octets; ICMP: type and code */
	/* Address, port (0: none) and IP protocol, of the source and of the destination. ICMP and ICMPv6: in place
	 * of the ports STORE_ICMP_MARK, and type and code; both 0 where these are not known. */
	STORE_KEY_CONVERSATION = 7,
	/* Of TCP SYNs without ACK alone: source IP; destination IP and port, 2 octets. The numbers between
	 * are of other parts (levels.h). */
	STORE_KEY_SYN = 12,
};

/* ICMP's type and code stand where other protocols have ports; in `sample` in dst_port, and src_port is NULL. */
enum { STORE_PROTO_ICMP = 1, STORE_PROTO_ICMP6 = 58, STORE_ICMP_MARK = 1 };
#define STORE_IS_ICMP "ip_proto IN (1, 58)"

static inline bool
store_is_icmp(uint8_t ip_proto)
{
	return ip_proto == STORE_PROTO_ICMP || ip_proto == STORE_PROTO_ICMP6;
}

/* place.layer: which address of a sample */
enum store_place_layer {
	STORE_PLACE_ETH = 1,   /* source MAC */
	STORE_PLACE_IP = 2,    /* source IP */
	STORE_PLACE_INNER = 3, /* source IP inside a tunnel, of the innermost header */
};

#define STORE_DISCARD_KEY "agent, start_us, if_index, kind, output_if, reason, detail, place, trap_group, src, dst"

/* discard.kind */
enum store_discard_kind {
	STORE_DISCARD_EVENT = 1,    /* packets that the device told of */
	STORE_DISCARD_COUNTED = 2,  /* the same beyond the rows that an agent has a minute: only port and number */
	STORE_DISCARD_NOT_SENT = 3, /* packets that it did not tell of; of a port that has numbers only: of any port */
	STORE_DISCARD_LOST = 4,	    /* events that were lost on the way, in the same way */
};

/* outage.kind */
enum store_outage_kind {
	STORE_OUTAGE_CRASH = 1,	  /* the collector crashed; the crash journal has what was lost */
	STORE_OUTAGE_MACHINE = 2, /* the machine stopped; it is not known what was lost */
	STORE_OUTAGE_DAMAGED = 3, /* the file was damaged: earlier data is in PATH.damaged-TIME */
	STORE_OUTAGE_MOVED = 4,	  /* the file was moved or removed: a new store was started */
};

#define STORE_SUMS "n INTEGER NOT NULL, w REAL NOT NULL, w2 REAL NOT NULL, wb REAL NOT NULL, " \
		   "wb2 REAL NOT NULL, w2b2 REAL NOT NULL"

/* Of the last hour, by place; of other columns than an only min() or max() SQLite gives those of its row. */
#define STORE_SIGHTINGS \
	" FROM (SELECT 1 AS layer, src_mac AS address, agent, if_index, vlan, time_us FROM sample WHERE direction = 1" \
	" UNION ALL SELECT 2, src_ip, agent, if_index, vlan, time_us FROM sample WHERE direction = 1" \
	" UNION ALL SELECT 3, inner_src_ip, agent, if_index, vlan, time_us FROM sample WHERE direction = 1" \
	" UNION ALL SELECT 1, mac, agent, if_index, nullif(vlan, 0), time_us FROM event WHERE kind = 4)" \
	" WHERE address IS NOT NULL AND time_us > (SELECT max(last_us) FROM agent) - 3600000000 GROUP BY 1, 2, 3, 4"

static const char *const store_schema[STORE_VERSION] = {
    /* 1: agents, what they reported, and the sums of it */
    "CREATE TABLE agent(id INTEGER PRIMARY KEY, agent_id BLOB NOT NULL UNIQUE,"
    " boot INTEGER NOT NULL, address TEXT NOT NULL, first_us INTEGER NOT NULL,"
    " last_us INTEGER NOT NULL, last_received_us INTEGER NOT NULL);"
    /* one row per change; the row with the newest since_us <= t is the state at time t */
    "CREATE TABLE port(agent INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " since_us INTEGER NOT NULL, boot INTEGER NOT NULL, name TEXT NOT NULL,"
    " alias TEXT NOT NULL, speed_bps INTEGER NOT NULL,"
    " duplex INTEGER NOT NULL, admin_status INTEGER NOT NULL, oper_status INTEGER NOT NULL,"
    " lag_parent INTEGER NOT NULL, edge INTEGER NOT NULL,"
    " PRIMARY KEY(agent, if_index, since_us)) WITHOUT ROWID;"
    "CREATE TABLE sample(agent INTEGER NOT NULL, boot INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " sequence INTEGER NOT NULL, time_us INTEGER NOT NULL, direction INTEGER NOT NULL,"
    " input_if INTEGER NOT NULL, output_if INTEGER NOT NULL, skip INTEGER NOT NULL,"
    " mean_skip INTEGER NOT NULL, pool_pkts INTEGER NOT NULL, frame_octets INTEGER NOT NULL,"
    " src_mac BLOB, dst_mac BLOB, vlan INTEGER, ethertype INTEGER, src_ip BLOB, dst_ip BLOB,"
    " ip_proto INTEGER, src_port INTEGER, dst_port INTEGER,"
    " PRIMARY KEY(agent, boot, if_index, sequence)) WITHOUT ROWID;"
    "CREATE INDEX sample_time ON sample(time_us);"
    /* counter snapshots: at most one per port and second of the device's time, and the newest at
     * each transaction; values are totals since the agent began to count */
    "CREATE TABLE counter(agent INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " time_us INTEGER NOT NULL, boot INTEGER NOT NULL, received_us INTEGER NOT NULL,"
    " in_octets INTEGER NOT NULL, in_ucast INTEGER NOT NULL, in_mcast INTEGER NOT NULL,"
    " in_bcast INTEGER NOT NULL, in_discards INTEGER NOT NULL, in_errors INTEGER NOT NULL,"
    " out_octets INTEGER NOT NULL, out_ucast INTEGER NOT NULL, out_mcast INTEGER NOT NULL,"
    " out_bcast INTEGER NOT NULL, out_discards INTEGER NOT NULL, out_errors INTEGER NOT NULL,"
    " discontinuity_us INTEGER NOT NULL, samples INTEGER NOT NULL, last_sequence INTEGER NOT NULL,"
    " pool_in INTEGER NOT NULL, pool_out INTEGER NOT NULL, drops INTEGER NOT NULL,"
    " stalls INTEGER NOT NULL, stalled_pkts INTEGER NOT NULL,"
    " PRIMARY KEY(agent, if_index, time_us)) WITHOUT ROWID;"
    /* one port and direction of one minute: pool_pkts and pool_octets are the true totals T and B
     * of the minute (counters interpolated at its ends; the newest minute up to the last counters)
     */
    "CREATE TABLE window(start_us INTEGER NOT NULL, agent INTEGER NOT NULL,"
    " if_index INTEGER NOT NULL, direction INTEGER NOT NULL, pool_pkts REAL NOT NULL,"
    " pool_octets REAL NOT NULL, " STORE_SUMS ","
    " PRIMARY KEY(start_us, agent, if_index, direction)) WITHOUT ROWID;"
    "CREATE TABLE window_key(kind INTEGER NOT NULL, start_us INTEGER NOT NULL,"
    " agent INTEGER NOT NULL, if_index INTEGER NOT NULL, direction INTEGER NOT NULL,"
    " key1 BLOB NOT NULL, key2 BLOB NOT NULL, " STORE_SUMS ","
    " PRIMARY KEY(kind, start_us, agent, if_index, direction, key1, key2)) WITHOUT ROWID;"
    /* a port and minute, both directions: how many sample numbers were given out and arrived */
    "CREATE TABLE window_port(start_us INTEGER NOT NULL, agent INTEGER NOT NULL,"
    " if_index INTEGER NOT NULL, expected INTEGER NOT NULL, received INTEGER NOT NULL,"
    " PRIMARY KEY(start_us, agent, if_index)) WITHOUT ROWID;"
    /* the accounting of one boot of a port; tracker is the state of window/sequence_tracker.h */
    "CREATE TABLE account(agent INTEGER NOT NULL, boot INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " expected INTEGER NOT NULL, received INTEGER NOT NULL, duplicates INTEGER NOT NULL,"
    " reordered INTEGER NOT NULL, late INTEGER NOT NULL, agent_drops INTEGER NOT NULL,"
    " stalls INTEGER NOT NULL, stalled_pkts INTEGER NOT NULL, first_us INTEGER NOT NULL,"
    " last_us INTEGER NOT NULL, tracker BLOB, PRIMARY KEY(agent, boot, if_index)) WITHOUT ROWID;"
    "CREATE TABLE event(id INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, agent INTEGER NOT NULL,"
    " boot INTEGER NOT NULL, kind INTEGER NOT NULL, if_index INTEGER NOT NULL, mac BLOB,"
    " vlan INTEGER);"
    "CREATE INDEX event_time ON event(time_us);"
    /* the collector's own counters since its start */
    "CREATE TABLE stat(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;",
    /* 2: at high rates only a random one of stands_for samples has a row
     * (window/sample_thinning.h); its weight is mean_skip * stands_for */
    "ALTER TABLE sample ADD COLUMN stands_for INTEGER NOT NULL DEFAULT 1;",
    /* 3: folded samples: those of a window that are in no key of a kind, because memory for keys
     * was full or the limit of keys was reached; any one key lacks at most most_n of them */
    "CREATE TABLE window_folded(kind INTEGER NOT NULL, start_us INTEGER NOT NULL,"
    " agent INTEGER NOT NULL, if_index INTEGER NOT NULL, direction INTEGER NOT NULL,"
    " n INTEGER NOT NULL, most_n INTEGER NOT NULL,"
    " PRIMARY KEY(kind, start_us, agent, if_index, direction)) WITHOUT ROWID;",
    /* 4: engines that sent SNMPv3 traps: boots and time of the newest accepted one, written
     * together with its data; and the identity by which a repeated event is recognized (NULL: by
     * its other columns) */
    "CREATE TABLE engine(engine_id BLOB PRIMARY KEY, boots INTEGER NOT NULL,"
    " time_s INTEGER NOT NULL) WITHOUT ROWID;"
    "ALTER TABLE event ADD COLUMN identity INTEGER;",
    /* 5: resources that only some devices count, beside each counter row (known: enum
     * ease_resource); and sources of bad frames, each as it was last reported */
    "CREATE TABLE resource(agent INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " time_us INTEGER NOT NULL, boot INTEGER NOT NULL, known INTEGER NOT NULL,"
    " in_events INTEGER NOT NULL, in_asleep_us INTEGER NOT NULL, out_events INTEGER NOT NULL,"
    " out_asleep_us INTEGER NOT NULL, charged INTEGER NOT NULL, pressed_episodes INTEGER NOT NULL,"
    " pressed_us INTEGER NOT NULL, ingress_drops INTEGER NOT NULL, pauses_in INTEGER NOT NULL,"
    " pauses_out INTEGER NOT NULL, PRIMARY KEY(agent, if_index, time_us)) WITHOUT ROWID;"
    "CREATE TABLE error_source(agent INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " mac BLOB NOT NULL, kind INTEGER NOT NULL, boot INTEGER NOT NULL, frames INTEGER NOT NULL,"
    " first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,"
    " PRIMARY KEY(agent, if_index, mac, kind)) WITHOUT ROWID;",
    /* 6: sums of w w' and of w b w' b' over ordered pairs of different samples of this window that
     * arrived in one notification: any_ over all pairs (window, window_key), same_ over pairs with
     * the same key, same1_ with the same key1, same2_ with the same key2 (window_key; the last two
     * for pairs of addresses only). Rows from before count as if each sample had come alone. */
    "ALTER TABLE window ADD COLUMN any_pkts REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window ADD COLUMN any_octets REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN any_pkts REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN any_octets REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN same_pkts REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN same_octets REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN same1_pkts REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN same1_octets REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN same2_pkts REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE window_key ADD COLUMN same2_octets REAL NOT NULL DEFAULT 0;",
    /* 7: addresses of the innermost IP header in a tunnel (common/frame.h, enum frame_tunnel);
     * NULL: there is none in the sampled octets */
    "ALTER TABLE sample ADD COLUMN inner_src_ip BLOB;"
    "ALTER TABLE sample ADD COLUMN"
    " inner_dst_ip BLOB;",
    /* 8: life: the store's id, and running = 1 while a collector uses the store, or after it
     * crashed. gone: samples that arrived, were lost with a crash before they were stored, and have
     * not arrived again (included in account.expected, not in account.received). outage: times, by
     * the collector's clock, in which nothing was stored (kind: enum store_outage_kind; samples
     * NULL: not known). account.base_us: time_us of the counter row from which totals go on; it is
     * not the newest one after a device's clock was set back. */
    "CREATE TABLE life(store_id INTEGER NOT NULL, running INTEGER NOT NULL);"
    "INSERT INTO life VALUES(random(), 0);"
    "CREATE TABLE gone(agent INTEGER NOT NULL, boot INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " samples INTEGER NOT NULL, PRIMARY KEY(agent, boot, if_index)) WITHOUT ROWID;"
    "CREATE TABLE outage(id INTEGER PRIMARY KEY, since_us INTEGER NOT NULL,"
    " until_us INTEGER NOT NULL, kind INTEGER NOT NULL, samples INTEGER);"
    "ALTER TABLE account ADD COLUMN base_us INTEGER;",
    /* 9: sums move from one row per key (window, window_key, window_port, window_folded, which
     * convert.c empties) to packs of many keys. part.level is the minutes of the level's windows,
     * 0: unsettled; part.kind is enum store_part_kind (levels.h). The rows of a chain are sorted by
     * id and by key. A level has the windows from kept_us to done_us (rollup.h); of the counters
     * before thinned_us, those at the ends of its windows are left (retention.h). */
    "CREATE TABLE part(id INTEGER PRIMARY KEY, level INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " start_us INTEGER NOT NULL, shard INTEGER NOT NULL, chain INTEGER NOT NULL,"
    " n INTEGER NOT NULL, body BLOB NOT NULL);"
    "CREATE INDEX part_place ON part(level, kind, start_us, shard);"
    "CREATE TABLE level(minutes INTEGER PRIMARY KEY, kept_us INTEGER NOT NULL,"
    " done_us INTEGER NOT NULL, kind INTEGER NOT NULL, shard INTEGER NOT NULL,"
    " thinned_us INTEGER NOT NULL);"
    /* long work that is running; `easetop agents` shows the newest row */
    "CREATE TABLE progress(work TEXT PRIMARY KEY, done INTEGER NOT NULL, total INTEGER NOT NULL,"
    " since_us INTEGER NOT NULL, at_us INTEGER NOT NULL) WITHOUT ROWID;",
    /* 10: how often the store was opened for writing; ids of parts start at a higher range each
     * time (parts.h) */
    "ALTER TABLE life ADD COLUMN part_epoch INTEGER NOT NULL DEFAULT 0;",
    /* 11: gap: what a port counted between two snapshots that are more than a few minutes apart
     * (window/port_totals.h), in frames of the pool and octets of both directions, and how much of it
     * passed while samples were lost (window/cut_totals.h). It is in no part: whoever adds up a range
     * adds its share, evenly by time (port_totals_share). */
    "CREATE TABLE gap(id INTEGER PRIMARY KEY, agent INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " from_us INTEGER NOT NULL, until_us INTEGER NOT NULL, received_us INTEGER NOT NULL,"
    " in_pkts INTEGER NOT NULL, in_octets INTEGER NOT NULL, out_pkts INTEGER NOT NULL,"
    " out_octets INTEGER NOT NULL, in_cut_pkts INTEGER NOT NULL, in_cut_octets INTEGER NOT NULL,"
    " out_cut_pkts INTEGER NOT NULL, out_cut_octets INTEGER NOT NULL);"
    "CREATE INDEX gap_time ON gap(until_us);"
    "CREATE INDEX gap_port ON gap(agent, if_index, until_us);",
    /* 12: agent_source: the source that an agent is bound to (window/agent_identity.h).
     * agent_refused: how many records in the agent's name were refused, with source and reason
     * (enum store_refusal) of the newest; times by the collector's clock. */
    "CREATE TABLE agent_source(agent INTEGER PRIMARY KEY, source TEXT NOT NULL,"
    " since_us INTEGER NOT NULL);"
    "CREATE TABLE agent_refused(agent INTEGER PRIMARY KEY, records INTEGER NOT NULL,"
    " source TEXT NOT NULL, reason INTEGER NOT NULL, first_us INTEGER NOT NULL,"
    " last_us INTEGER NOT NULL);",
    /* 13: a repeated event is found by all of its columns, because many may have one time; and what
     * the limits of rows by agent and port (tables.c) look for. sample_floor: of an agent whose
     * samples were deleted to make room, the time since which all of them are kept. */
    "DROP INDEX event_time;"
    "CREATE INDEX event_columns ON event(time_us, agent, kind, if_index, mac, vlan, boot);"
    "CREATE INDEX event_agent ON event(agent, id);"
    "CREATE INDEX account_port ON account(agent, if_index, boot);"
    "CREATE TABLE sample_floor(agent INTEGER PRIMARY KEY, since_us INTEGER NOT NULL);",
    /* 14: windows that start before sums_us are of an earlier version, which summed no new connections
     * (STORE_KEY_SYN); a device's clock may have been ahead */
    "ALTER TABLE life ADD COLUMN sums_us INTEGER NOT NULL DEFAULT 0;"
    "UPDATE life SET sums_us = min(1000000 * CAST(strftime('%s', 'now') AS INTEGER),"
    " ifnull((SELECT 60000000 + max(start_us) FROM (SELECT max(start_us) AS start_us FROM part UNION ALL"
    " SELECT max(start_us) FROM window)), 0));",
    /* 15: what an event says beyond its columns: "easePortMeanSkip from 400 to 100" */
    "ALTER TABLE event ADD COLUMN text TEXT;",
    /* 16: of the batches of the last ten minutes, by the collector's clock: the id of the last part
     * that one wrote, and until when it had received. So a report can tell unsettled sums of samples
     * that came after a moment within a minute from those that came before. */
    "CREATE TABLE flush(id INTEGER PRIMARY KEY, until_us INTEGER NOT NULL);",
    /* 17: agent.boot less the easeBoot that the agent itself tells; not 0 once its boots went back
     * or jumped, as those of a restored machine do */
    "ALTER TABLE agent ADD COLUMN boot_shift INTEGER NOT NULL DEFAULT 0;",
    /* 18: the highest number of an agent that was forgotten: no other agent gets it, because sums of it
     * may be left */
    "ALTER TABLE life ADD COLUMN last_agent INTEGER NOT NULL DEFAULT 0;"
    "CREATE TRIGGER agent_forgotten AFTER DELETE ON agent BEGIN"
    " UPDATE life SET last_agent = max(last_agent, old.id); END;",
    /* 19: agent_clock: what is added to the times of an agent, because its clock is wrong
     * (window/device_clock.h), since when by the collector's clock. Its own time is that much less. */
    "CREATE TABLE agent_clock(agent INTEGER PRIMARY KEY, offset_us INTEGER NOT NULL, since_us INTEGER NOT NULL);",
    /* 20: place: an address as a source at a port (places.h): when it was seen first and last, its outermost
     * VLAN then (NULL: untagged), and how often: in samples that have rows, and in events. It begins with the
     * last hour, so that an update takes no longer than some seconds. */
    "CREATE TABLE place(layer INTEGER NOT NULL, address BLOB NOT NULL, agent INTEGER NOT NULL,"
    " if_index INTEGER NOT NULL, vlan INTEGER, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,"
    " seen INTEGER NOT NULL, PRIMARY KEY(layer, address, agent, if_index)) WITHOUT ROWID;"
    "CREATE INDEX place_port ON place(agent, if_index, last_us);"
    "INSERT INTO place SELECT layer, address, agent, if_index, vlan, 0, max(time_us), count(*)" STORE_SIGHTINGS ";"
    "INSERT INTO place SELECT layer, address, agent, if_index, NULL, min(time_us), 0, 0" STORE_SIGHTINGS
    " ON CONFLICT DO UPDATE SET first_us = excluded.first_us;",
    /* 21: refused_sender: whose datagrams were refused unread, how many, and why the newest was
     * (input/refused_senders.h); times by the collector's clock */
    ("CREATE TABLE refused_sender(address TEXT PRIMARY KEY, reason TEXT NOT NULL, datagrams INTEGER NOT NULL,"
     " first_us INTEGER NOT NULL, last_us INTEGER NOT NULL) WITHOUT ROWID;"), /* clang asks for the parentheses */
    /* 22: naming: the rows of the file of device names (naming.h), from line 1 on; line 0 is there once any were
     * written. version: of all of them together. collector: 0; a mirror of a cluster has rows of several. */
    ("CREATE TABLE naming(collector INTEGER NOT NULL DEFAULT 0, line INTEGER NOT NULL, version INTEGER NOT NULL,"
     " text TEXT NOT NULL, PRIMARY KEY(collector, line)) WITHOUT ROWID;"),
    /* 23: discard: packets that devices discarded and told of, summed by minute and everything that reports
     * ask; received_us: when one was added last, by the collector's clock. */
    "CREATE TABLE discard(agent INTEGER NOT NULL, start_us INTEGER NOT NULL, if_index INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, output_if INTEGER NOT NULL, reason INTEGER NOT NULL, detail TEXT NOT NULL,"
    " place TEXT NOT NULL, trap_group TEXT NOT NULL, src BLOB NOT NULL, dst BLOB NOT NULL, n INTEGER NOT NULL,"
    " received_us INTEGER NOT NULL, PRIMARY KEY(agent, start_us, if_index, kind, output_if, reason, detail, place,"
    " trap_group, src, dst)) WITHOUT ROWID;",
    /* 24: columns of packs may be multiples of a number (pack.c), which earlier programs cannot read; sums over
     * pairs have all their digits, where those from before have seven */
    "",
};

#endif
