/*
 * A batch: all rows that one transaction of the store writes, as plain structs by table. The
 * window room fills it on the receiving side, the store's thread writes it and hands it back
 * empty. Sums (windows, keys, window ports) are what came since the last batch and are added to
 * what the store has; everything else is written as it stands.
 *
 * A batch's rows are allocated once, at the start; what does not fit is refused to the caller, who
 * counts it or waits with it. Used by one side at a time, so nothing here locks.
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
	STORE_CRASH_LOST,
	STORE_OUTAGES,
	STORE_STATS,
	STORE_N_TABLES,
};

enum {
	STORE_SENDER_TEXT = 64,	 /* IPv6 with scope */
	STORE_ENGINE_ID_MAX = 32, /* octets, RFC 3411 section 5 */
	STORE_TRACKER_MAX = 640, /* octets of a tracker, see collector/window/sequence_tracker.h */
	STORE_KEY_HALF = FRAME_IP_LEN + 3, /* of a conversation: address, port, protocol */
	/* One being filled, one being written. While the writer is behind, what comes is added up
	 * in the windows, so that each sum is written once and not once a cut. */
	STORE_BATCHES = 2,
	STORE_SORT_OCTETS = 64, /* for each row that is a sum, see unsettled.c */
};

struct store_agent {
	int64_t id; /* the store's number for it, 1, 2, 3, … */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	char address[STORE_SENDER_TEXT];
	uint64_t first_us, last_us; /* device's clock */
	uint64_t last_received_us;
};

struct store_port {
	int64_t agent;
	uint32_t boot;
	struct ease_state state;
};

struct store_sample {
	int64_t agent;
	uint32_t boot;
	struct ease_sample sample; /* header is not used */
	struct frame_keys keys;
	struct {
		uint8_t ip_version; /* 0: none */
		uint8_t src_ip[FRAME_IP_LEN], dst_ip[FRAME_IP_LEN];
	} inner; /* of the innermost IP header in what the frame carries */
	uint32_t stands_for; /* samples, this one included */
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

/* Sums over pairs of samples that came in one notification, see version 6 in schema.h: variances
 * are made of them, so seven digits do. */
struct store_pairs {
	float pkts, octets;
};

struct store_window {
	uint64_t start_us;
	int64_t agent;
	uint32_t if_index;
	uint8_t direction;
	int64_t pool_pkts, pool_octets;
	struct store_sums sums;
	struct store_pairs any;
};

struct store_key {
	uint64_t start_us;
	int64_t agent;
	uint32_t if_index;
	uint8_t direction;
	uint8_t kind; /* enum store_key_kind */
	uint8_t key1_octets, key2_octets;
	uint8_t key1[STORE_KEY_HALF], key2[STORE_KEY_HALF];
	struct store_sums sums;
	struct store_pairs any, same, same1, same2;
};

/* Samples of a window that are in no key of a kind: see window_folded in schema.h. */
struct store_folded {
	uint64_t start_us;
	int64_t agent;
	uint32_t if_index;
	uint8_t direction;
	uint8_t kind; /* enum store_key_kind */
	uint64_t n, most_n;
};

struct store_window_port {
	uint64_t start_us;
	int64_t agent;
	uint32_t if_index;
	int64_t expected, received;
};

struct store_account {
	int64_t agent;
	uint32_t boot;
	uint32_t if_index;
	uint64_t expected, received, duplicates, reordered, late;
	uint64_t agent_drops, stalls, stalled_pkts;
	uint64_t first_us, last_us;
	uint64_t base_us; /* of the counters that totals go on from; 0: another boot's, or none */
	uint16_t tracker_octets;
	uint8_t tracker[STORE_TRACKER_MAX];
};

struct store_event {
	uint64_t time_us;
	int64_t agent;
	uint32_t boot;
	uint32_t kind; /* enum ease_notification_kind, enum ease_event_kind (record.h) */
	uint32_t if_index;
	bool has_mac;
	uint8_t mac[FRAME_MAC_LEN];
	uint16_t vlan;
	uint64_t identity; /* of what is sent again if it is not answered; 0: none */
};

/* Newest SNMPv3 trap taken from an engine. */
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

/* See version 8 in schema.h. */
struct store_crash_lost {
	int64_t agent;
	uint32_t boot;
	uint32_t if_index;
	uint64_t samples;
};

struct store_outage {
	uint64_t since_us, until_us; /* by the collector's clock */
	uint8_t kind;		     /* enum store_outage_kind */
	bool counted;		     /* samples is known */
	uint64_t samples;
};

struct store_stat {
	const char *name; /* of static storage */
	uint64_t value;
};

/* Rows of a table: those that come as they like, and those kept for what a cut reserves, so that a
 * batch that is full can still be closed. */
struct store_room {
	uint32_t free, kept;
};

struct store_rows {
	void *items; /* n structs of the table's row type */
	size_t n, room;
	size_t free;	 /* up to here rows may be added as they come */
	size_t reserved; /* up to here rows may be added in any case */
};

struct store_batch {
	struct store_rows rows[STORE_N_TABLES];
	bool durable; /* written through to the disk: somebody is told that it is safe */
};

/* Octets that batches of this room take, and the store to sort their rows. */
uint64_t store_memory(const struct store_room room[STORE_N_TABLES]);

/* Allocates all rows. 0 or -ENOMEM; store_batch_free is for the caller. */
int store_batch_init(struct store_batch *batch, const struct store_room room[STORE_N_TABLES]);

/* Makes sure of n more rows of a table. 0, or -ENOSPC: more than there is room for. */
int store_batch_reserve(struct store_batch *batch, enum store_table table, size_t n);

/* A new zeroed row at the end of a table, to be filled at once; NULL if the table's free rows are
 * taken. Rows made sure of by a reserve are never NULL. */
void *store_batch_add(struct store_batch *batch, enum store_table table);

/* True if store_batch_add would give one. */
bool store_batch_has_room(const struct store_batch *batch, enum store_table table);

/* True if half of some table's free rows are taken: time to hand the batch over, so that the store
 * works while the next one fills. */
bool store_batch_is_filling(const struct store_batch *batch);

/* Forgets the rows, keeps their memory. */
void store_batch_clear(struct store_batch *batch);

/* Frees the rows. */
void store_batch_free(struct store_batch *batch);

#endif
