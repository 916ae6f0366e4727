/*
 * A batch: the rows that one transaction of the store writes, as plain structs by table. The window
 * room fills it on the receiving thread; the store's thread writes it and returns it empty. Sums
 * (windows, keys, window ports, folded samples) hold what was added since the last batch, and the
 * store adds them to what it has. Rows of all other tables are written as they are.
 *
 * A batch's rows are allocated once, at the start. A row that does not fit is refused to the
 * caller, who counts it or waits with it. A batch is used by one thread at a time, so nothing here
 * locks.
 */
#ifndef EASE_COLLECTOR_STORE_BATCH_H
#define EASE_COLLECTOR_STORE_BATCH_H

#include "collector/store/schema.h"
#include "common/ease_oid.h"
#include "common/frame.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_table {
	STORE_AGENTS,
	STORE_AGENT_SOURCES,
	STORE_AGENT_REFUSALS,
	STORE_AGENT_CLOCKS,
	STORE_POLLED,
	STORE_PRECISION,
	STORE_LINKS,
	STORE_REFUSED_SENDERS,
	STORE_ODDITIES,
	STORE_PORTS,
	STORE_SAMPLES,
	STORE_COUNTERS,
	STORE_WINDOWS,
	STORE_KEYS,
	STORE_FOLDED,
	STORE_WINDOW_PORTS,
	STORE_ACCOUNTS,
	STORE_EVENTS,
	STORE_ENGINES,
	STORE_RESOURCES,
	STORE_ERROR_SOURCES,
	STORE_DISCARDS,
	STORE_CRASH_LOST,
	STORE_OUTAGES,
	STORE_GAPS,
	STORE_STATS,
	STORE_N_TABLES,
};

enum {
	STORE_SENDER_TEXT = 64,            /* IPv6 with scope */
	STORE_SOURCE_TEXT = 104,           /* an SNMPv3 user, @ and an address; an engine ID is shorter */
	STORE_REASON_TEXT = 192,
	STORE_SYSTEM_NAME = 65,
	STORE_DISCARD_TEXT = 48,
	STORE_ENGINE_ID_MAX = 32,          /* octets, RFC 3411 section 5 */
	STORE_TRACKER_MAX = 640,           /* octets of a sequence tracker (collector/window) */
	STORE_KEY_HALF = FRAME_IP_LEN + 3, /* of a conversation: address, port, protocol */
	/* One is filled while the other is written. While the writer is behind, samples are added
	 * up in the windows, so each sum is written once and not once a second. */
	STORE_BATCHES = 2,
	STORE_SORT_OCTETS = 64, /* for each row that is a sum, see unsettled.c */
};

struct store_agent {
	int64_t id; /* the store's number for it, 1, 2, 3, … */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	uint32_t boot_shift; /* boot less the number that the agent itself tells, modulo 2^32 */
	char address[STORE_SENDER_TEXT];
	uint64_t first_us, last_us; /* device's clock */
	uint64_t last_received_us;
};

/* The source that an agent is bound to. */
struct store_agent_source {
	int64_t agent;
	char source[STORE_SOURCE_TEXT];
	uint64_t since_us; /* by the collector's clock */
};

/* What a switch was asked for (collector/poll), and how it went. */
struct store_polled {
	int64_t agent;
	char name[STORE_SYSTEM_NAME]; /* sysName, cleaned; "": none, or never read */
	/* By the collector's clock, 0: never. When names and counters of ports were read last, and since when it has not
	 * answered; then the reason (enum poll_verdict). */
	uint64_t names_us, counters_us, silent_us;
	uint8_t reason;
};

/* What precision on request (collector/precision_service.h) found of a port at the end of the latest period, and did. */
enum { STORE_GOAL_TEXT = 112, STORE_PRECISION_REASON = 64 };
struct store_precision {
	int64_t agent;
	uint64_t if_index;
	uint64_t decided_us; /* by the collector's clock */
	char goal[STORE_GOAL_TEXT]; /* the one that wants most */
	uint64_t wanted_per_s, had_per_s; /* samples of the list */
	uint64_t width_wanted, width_reached; /* of limits, in parts of 10,000; reached: of the widest row */
	uint64_t n_rows; /* of the list */
	uint64_t configured_skip, requested_skip, skip_in_force; /* 0: not known, or none */
	char reason[STORE_PRECISION_REASON]; /* why it is not as wanted; "" */
};

/* A port of a switch that is asked leads to one of another, as both say of each other by LLDP. */
struct store_link {
	int64_t agent, other_agent;
	uint64_t if_index, other_if_index;
	uint64_t seen_us; /* by the collector's clock: when they said so last */
};

/* Why records in an agent's name are refused: agent_refused.reason. */
enum store_refusal {
	STORE_REFUSED_SOURCE = 1, /* their source may not speak for the agent */
	STORE_REFUSED_BOOT = 2,	  /* their boot is too old, or out of order */
};

struct store_agent_refusal {
	int64_t agent;
	uint64_t records;
	char source[STORE_SOURCE_TEXT]; /* of the newest */
	uint8_t reason;			/* of the newest, enum store_refusal */
	uint64_t first_us, last_us;	/* by the collector's clock */
};

/* Whose datagrams were refused unread. */
struct store_refused_sender {
	char address[STORE_SENDER_TEXT];
	char reason[STORE_REASON_TEXT]; /* of the newest */
	uint64_t datagrams;		/* since the row before */
	uint64_t first_us, last_us;	/* of these, by the collector's clock */
};

/* What an sFlow agent stated that cannot be. */
struct store_oddity {
	int64_t agent;
	uint64_t if_index; /* 0: none */
	uint8_t kind;	   /* enum ease_oddity (collector/record.h) */
	uint64_t n;	   /* since the row before */
	uint64_t first_us, last_us; /* of these, by the collector's clock */
};

/* What is added to an agent's times, because its clock is wrong. */
struct store_agent_clock {
	int64_t agent, offset_us;
	uint64_t since_us; /* by the collector's clock */
};

struct store_port {
	int64_t agent;
	uint32_t boot;
	struct ease_state state;
};

struct store_sample {
	uint32_t agent; /* there are many of these rows: no octet between its members */
	uint32_t boot;
	struct ease_sample sample; /* header: what is kept of it, kept_octets, in the batch (store_batch_add_more) */
	/* What it carries is opened already: carries says whether it has a VNI, of the outermost VXLAN or GENEVE, and
	 * carries_at which. */
	struct frame_keys keys;
	struct {
		uint8_t ip_version; /* 0: none */
		uint8_t src_ip[FRAME_IP_LEN], dst_ip[FRAME_IP_LEN];
	} inner; /* of the innermost IP header in what the frame carries */
	bool has_dst_port;
	uint16_t dst_port; /* of ICMP frame_icmp_message */
	uint32_t stands_for; /* samples, including this one; see window/sample_thinning.h */
};

struct store_counter {
	int64_t agent;
	uint32_t boot;
	uint64_t received_us;
	struct ease_snapshot snapshot;
};

/* Sums over samples of weight w and length b, see schema.h. */
struct store_sums {
	uint64_t n;
	double w, w2, wb, wb2, w2b2;
};

/* Sums over pairs of samples that arrived in one notification, see schema.h. */
struct store_pairs {
	double pkts, octets;
};

struct store_window {
	uint64_t start_us;
	int64_t agent;
	uint64_t if_index;
	uint8_t direction;
	int64_t pool_pkts, pool_octets;
	int64_t cut_pkts, cut_octets;
	double w_max; /* the largest weight of a sample; 0: it has none */
	struct store_sums sums;
	struct store_pairs any;
};

struct store_key {
	uint64_t start_us;
	int64_t agent;
	uint64_t if_index;
	uint8_t direction;
	uint8_t kind; /* enum store_key_kind */
	uint8_t key1_octets, key2_octets;
	uint8_t key1[STORE_KEY_HALF], key2[STORE_KEY_HALF];
	struct store_sums sums;
	struct store_pairs any, same, same1, same2;
};

/* Samples of a window that are in no key of a kind: see schema.h. */
struct store_folded {
	uint64_t start_us;
	int64_t agent;
	uint64_t if_index;
	uint8_t direction;
	uint8_t kind; /* enum store_key_kind */
	uint64_t n, most_n;
};

struct store_window_port {
	uint64_t start_us;
	int64_t agent;
	uint64_t if_index;
	int64_t expected, received, cut_numbers;
};

struct store_account {
	int64_t agent;
	uint32_t boot;
	uint64_t if_index;
	uint64_t expected, received, duplicates, reordered, late;
	uint64_t agent_drops, stalls, stalled_pkts;
	uint64_t dropped_apart; /* by the agent's word, beside numbers that are missing */
	uint64_t first_us, last_us;
	bool is_new; /* the store has no row of this boot yet */
	uint64_t base_us; /* time of the counters from which totals go on; 0: none of this boot */
	uint16_t tracker_octets;
	uint8_t tracker[STORE_TRACKER_MAX];
};

struct store_event {
	uint64_t time_us;
	int64_t agent;
	uint32_t boot;
	uint32_t kind; /* enum ease_notification_kind, enum ease_event_kind (record.h) */
	uint64_t if_index;
	bool has_mac;
	uint8_t mac[FRAME_MAC_LEN];
	uint16_t vlan;
	uint64_t identity; /* by which a repeated inform is recognized; 0: none */
	char text[EASE_EVENT_TEXT]; /* "": none */
};

/* The boots and time of the newest SNMPv3 trap accepted from an engine. */
struct store_engine {
	uint8_t engine_id[STORE_ENGINE_ID_MAX];
	uint8_t octets;
	uint32_t boots, time_s;
};

struct store_resource {
	int64_t agent;
	uint32_t boot;
	struct ease_resources resources;
};

struct store_error_source {
	int64_t agent;
	uint32_t boot;
	struct ease_error_source source;
};

/* One in the table `discard`, to be added to what it has of the same columns. */
struct store_discard {
	uint64_t start_us; /* of the minute */
	int64_t agent;
	uint64_t if_index, output_if;
	uint8_t kind; /* enum store_discard_kind */
	uint32_t reason;
	char detail[STORE_DISCARD_TEXT], place[STORE_DISCARD_TEXT], group[STORE_DISCARD_TEXT];
	uint8_t src_octets, dst_octets; /* 0: not known */
	uint8_t src[FRAME_IP_LEN], dst[FRAME_IP_LEN];
	int64_t n;
	uint64_t received_us;
};

/* Samples that arrived and were lost with a crash of the collector: the table `gone`. */
struct store_crash_lost {
	int64_t agent;
	uint32_t boot;
	uint64_t if_index;
	uint64_t samples;
};

struct store_outage {
	uint64_t since_us, until_us; /* by the collector's clock */
	uint8_t kind;		     /* enum store_outage_kind */
	bool counted;		     /* samples is known */
	uint64_t samples;
};

/* What a port counted in a time in which its counters did not arrive: the table `gap`. */
struct store_gap {
	int64_t agent;
	uint64_t if_index;
	uint64_t from_us, until_us; /* device's clock */
	uint64_t received_us;
	uint64_t in_pkts, in_octets, out_pkts, out_octets;
	uint64_t in_cut_pkts, in_cut_octets, out_cut_pkts, out_cut_octets;
};

struct store_stat {
	const char *name; /* of static storage */
	uint64_t value;
};

/* The number of rows of a table: free ones for rows that are added at any time, and kept ones that
 * only a flush may reserve, so that a full batch can still be completed. */
struct store_room {
	uint32_t free, kept;
	uint32_t more_octets; /* of each row beside its struct */
};

struct store_rows {
	void *items; /* n structs of the table's row type */
	uint8_t *more; /* more_octets of each; NULL: there are none */
	size_t n, room, more_octets;
	size_t free;	 /* rows may be added at any time up to this number */
	size_t reserved; /* or up to this number, which a flush has reserved */
};

struct store_batch {
	struct store_rows rows[STORE_N_TABLES];
	bool durable; /* the commit is synced to the disk, because it answers an inform */
};

/* Returns the octets that all batches of this room take, and sorting their rows in the store. */
uint64_t store_memory(const struct store_room room[STORE_N_TABLES]);

/* Allocates all rows. Returns 0, or -ENOMEM with nothing allocated. */
int store_batch_init(struct store_batch *batch, const struct store_room room[STORE_N_TABLES]);

/* Reserves n more rows of a table. Returns 0, or -ENOSPC if there is no room for them. */
int store_batch_reserve(struct store_batch *batch, enum store_table table, size_t n);

/* Returns a new zeroed row at the end of a table, to be filled at once; NULL if all free rows are
 * used. Never returns NULL for reserved rows. */
void *store_batch_add(struct store_batch *batch, enum store_table table);

/* Puts octets beside the row that was added last, as many as its table has room for, and returns where they are; *n: how
 * many. NULL, and 0, if it has none. */
const uint8_t *store_batch_add_more(struct store_batch *batch, enum store_table table, const void *octets, size_t *n);

/* Returns true if store_batch_add would return n rows, one after another. */
bool store_batch_has_room(const struct store_batch *batch, enum store_table table, size_t n);

/* Returns true if half of the free rows of any table are used. Then it is time to hand the batch
 * over, so that the store writes it while the next one is filled. */
bool store_batch_is_filling(const struct store_batch *batch);

/* Removes all rows and keeps their memory. */
void store_batch_clear(struct store_batch *batch);

/* Frees the rows. */
void store_batch_free(struct store_batch *batch);

#endif
