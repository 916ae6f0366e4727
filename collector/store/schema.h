/*
 * The store's tables, and their version, which is in PRAGMA user_version. Tables of rows are described in
 * stored_tables.h, all others in schema.c.
 *
 * Versions before STORE_FIRST_VERSION were never released, and are refused. A store of a later one is brought up to
 * date step by step (open.c).
 *
 * Times are microseconds since 1970 by the device's clock, corrected where that is wrong (agent_clock), unless
 * the name says "received" (the collector's clock). Addresses are octets: MAC 6, IPv4 4, IPv6 16. A window is [start_us, start_us
 * + its level's span); the shortest is one minute.
 *
 * All sums are plain additions over samples with weight w (mean frames per sample) and length b
 * (octets of the frame), so sums of any ranges and keys can be added up before anything is
 * estimated from them. n counts samples, w2 is the sum of w squared, wb of w times b, and so on.
 * any_ are sums of w w' and of w b w' b' over ordered pairs of different samples of a window that
 * arrived in one notification; same_ over pairs with the same key, same1_ with the same key1, same2_
 * with the same key2 (the last two for pairs of addresses only). Folded samples are those of a window
 * that are in no key of a kind, because memory for keys was full or the limit of keys was reached;
 * any one key lacks at most most_n of them. Sums are in packs (pack.h) at several levels (levels.h).
 *
 * Some tables have names of our own: `account` is the accounting of one boot of a port, `gone` the
 * samples that a crash of the collector lost, `gap` what was counted while no counters arrived, `life`
 * whether a collector uses the store or crashed in it, `outage` the times in which nothing was stored,
 * `discard_hour` what `discard` had of longer ago, by hour, `held` what each agent's rows take, `paid` up to when it has
 * paid for them (charge.h),
 * `part` packs of sums, `level` how far each level is, `flush` when parts were written.
 */
#ifndef EASE_COLLECTOR_STORE_SCHEMA_H
#define EASE_COLLECTOR_STORE_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;

enum { STORE_VERSION = 31, STORE_FIRST_VERSION = 24, STORE_WINDOW_US = 60000000 };

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

/* Of a sample whose switch told of its way through it */
#define STORE_TELLS_WAY "(delay_ns IS NOT NULL OR depth_octets IS NOT NULL)"

#define STORE_DISCARD_KEY "agent, start_us, if_index, kind, output_if, reason, detail, place, trap_group, src, dst"

#define STORE_DISCARD_HOUR_KEY "agent, start_us, if_index, kind, reason"

/* discard.kind */
enum store_discard_kind {
	STORE_DISCARD_EVENT = 1,    /* packets that the device told of */
	STORE_DISCARD_COUNTED = 2,  /* the same beyond the rows that an agent has a minute: only port and number */
	STORE_DISCARD_NOT_SENT = 3, /* packets that it did not tell of; of a port that has numbers only: of any port */
	STORE_DISCARD_LOST = 4,	    /* events that were lost on the way, in the same way */
};

/* held.tab: tables that whoever may send can fill with rows of no limited number (shares.h); and what has no part of its
 * own, sums and counters (charge.h) */
enum store_held {
	STORE_HELD_DISCARD,
	STORE_HELD_DISCARD_HOUR,
	STORE_HELD_EVENT,
	STORE_HELD_PLACE,
	STORE_HELD_ERROR_SOURCE,
	STORE_HELD_ODDITY,
	STORE_N_HELD,
	STORE_HELD_SUMS = STORE_N_HELD,
	STORE_HELD_COUNTERS,
};

/* outage.kind */
enum store_outage_kind {
	STORE_OUTAGE_CRASH = 1,	  /* the collector crashed; the crash journal has what was lost */
	STORE_OUTAGE_MACHINE = 2, /* the machine stopped; it is not known what was lost */
	STORE_OUTAGE_DAMAGED = 3, /* the file was damaged: earlier data is in PATH.damaged-TIME */
	STORE_OUTAGE_MOVED = 4,	  /* the file was moved or removed: a new store was started */
	STORE_OUTAGE_STOPPED = 5, /* the collector was stopped, for longer than a start anew takes */
};

/* Makes all tables and indexes in an empty database, as a store of STORE_VERSION has them. Returns 0 or -EIO (the
 * database has the reason). */
int store_make_tables(struct sqlite3 *db);

/* The SQL that brings a store of a version, from STORE_FIRST_VERSION on, to the next one. */
const char *store_schema_step(int64_t version);

#endif
