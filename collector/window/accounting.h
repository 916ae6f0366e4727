/*
 * The collector's accounting: which agents and ports exist, which of their samples arrived, and
 * what their counters counted. It reads records from the input. Samples, counters, port states and
 * events become rows of a batch; whatever is summed goes into one-minute windows (window.h). Each
 * second a flush moves the sums and the changed accounts into the same batch. One transaction of
 * the store therefore holds both the counts and the sequence numbers that were counted, and a crash
 * can never leave one without the other.
 *
 * A sample that arrives twice is used once, even across a restart of the collector, because
 * accounting_loader() reads the accounts back from the store. All times are the device's own, or, if its
 * clock is wrong, moved to those of reception (device_clock.h). The accounting is used by one thread only.
 *
 * Only who may speak for an agent is believed (agent_identity.h). What is refused in an agent's name
 * is counted with the agent. While nothing else of the agent comes, refused samples count as
 * expected, because the agent may have moved; its completeness is then below 1.
 *
 * What happens at each limit:
 *   - Agents and ports that were silent for long leave the memory; then those of the sender that has
 *     most, see lru_table.h. What they had counted is in the store, from which they go on if they come
 *     back. Records for which there is no place are refused and counted.
 *   - While the store is not available and the batch is full, rows of single samples are lost and
 *     counted (accounting.lost_store_queue); the sums still include these samples.
 *   - When there is no memory for another window either, samples count as lost in the collector
 *     (accounting.no_room). What ports counted is never lost: the difference of counters waits for
 *     the next snapshot, and the numbers expected wait with the port.
 */
#ifndef EASE_COLLECTOR_WINDOW_ACCOUNTING_H
#define EASE_COLLECTOR_WINDOW_ACCOUNTING_H

#include "collector/polled.h"
#include "collector/record.h"
#include "collector/store/store.h"
#include "collector/window/agent_identity.h"
#include "collector/window/sample_watch.h"
#include "collector/window/uplinks.h"
#include "collector/window/window.h"
#include "common/clock.h"
#include "common/stat.h"

struct accounting;

enum accounting_stat_id {
	ACCOUNTING_STAT_SAMPLES,
	ACCOUNTING_STAT_DUPLICATES,
	ACCOUNTING_STAT_LATE,
	ACCOUNTING_STAT_SNAPSHOTS,
	ACCOUNTING_STAT_SNAPSHOTS_OLD,
	ACCOUNTING_STAT_COUNTERS_RESET,
	ACCOUNTING_STAT_COUNTERS_GAP,
	ACCOUNTING_STAT_COUNTERS_WAIT,
	ACCOUNTING_STAT_COUNTERS_HELD,
	ACCOUNTING_STAT_SNAPSHOTS_REPEATED,
	ACCOUNTING_STAT_STATES,
	ACCOUNTING_STAT_STATES_OLD,
	ACCOUNTING_STAT_ROWS,
	ACCOUNTING_STAT_DISCARDS,
	ACCOUNTING_STAT_DISCARDS_FOLDED,
	ACCOUNTING_STAT_EVENTS,
	ACCOUNTING_STAT_BAD_TIME,
	ACCOUNTING_STAT_CLOCK_CORRECTED,
	ACCOUNTING_STAT_OLD_BOOT,
	ACCOUNTING_STAT_BOOTS_FOLLOWED,
	ACCOUNTING_STAT_JUMPED,
	ACCOUNTING_STAT_FOREIGN_SOURCE,
	ACCOUNTING_STAT_AGENTS_FULL,
	ACCOUNTING_STAT_PORTS_FULL,
	ACCOUNTING_STAT_AGENTS_LEFT,
	ACCOUNTING_STAT_PORTS_LEFT,
	ACCOUNTING_STAT_RECALLED,
	ACCOUNTING_STAT_RECALL_FAILURES,
	ACCOUNTING_STAT_NO_ROOM,
	ACCOUNTING_STAT_LOST_STORE_QUEUE,
	ACCOUNTING_STAT_LOST_STORE_ROWS,
	ACCOUNTING_STAT_ROWS_THINNED,
	ACCOUNTING_STAT_FLUSHES_POSTPONED,
	ACCOUNTING_N_STATS,
};

enum {
	/* For more agents one runs several collectors side by side (conf/guide/scaling-out.md). */
	ACCOUNTING_DEFAULT_AGENTS = 1024,
	/* 300 switches of 48 ports. A port takes 10 KiB, including its rows in batches. */
	ACCOUNTING_DEFAULT_PORTS = 16384,
};

struct accounting_limits {
	uint32_t agents, ports;
	uint32_t sample_rows; /* rows of samples a second, 0: no limit; see sample_thinning.h */
	uint32_t header_octets; /* kept of a sample's header */
	uint16_t vxlan_port;	     /* where VXLAN is sent beside its own; 0: nowhere */
	uint64_t clock_tolerance_us; /* how wrong an agent's clock may be; 0: all are believed (device_clock.h) */
	struct window_limits windows;
};

extern const struct accounting_limits accounting_default_limits;

/* Sets the number of rows that a batch needs in each table that the accounting fills, including
 * the tables of windows. */
void accounting_room(const struct accounting_limits *limits, struct store_room room[STORE_N_TABLES]);

/* Returns the octets that the accounting takes at most, including its rows in batches, but without
 * windows and keys (see window_memory). */
uint64_t accounting_memory(const struct accounting_limits *limits);

/* Borrows the clock. For the seed see window_table_new. Returns 0 or -ENOMEM. */
int accounting_new(struct accounting **out, const struct accounting_limits *limits,
    const struct clock *clock, uint64_t seed);
void accounting_free(struct accounting *acc);

/* Returns the callbacks by which store_load reads the accounts back, before the first record. */
struct store_loader accounting_loader(struct accounting *acc);

/* Sets the store that has agents and ports that left the memory, borrowed. Without it, each that comes is
 * taken for a new one. */
void accounting_set_store(struct accounting *acc, struct store *store);

/* Sets after which time of silence agents and ports leave the memory in any case; 0: never. */
void accounting_set_forget(struct accounting *acc, uint64_t forget_us);

/* Puts this process's crash journal into shared memory (crash_journal.h) and applies the journal of
 * a collector that crashed: what it had received but not stored. Called between store_load and the
 * first record. *had_outage: the collector before this one did not stop cleanly, or long ago; then the outage is filled, which
 * belongs into the first batch. 0, or -ENOMEM, -EMFILE or -ENFILE if what it left cannot be read now: then nothing of it
 * is lost, and a later start may read it. */
int accounting_recover(
    struct accounting *acc, const struct store_life *life, struct store_outage *outage, bool *had_outage);

/* To be called when the store was replaced by a new, empty one (store_renewals): the next flush
 * writes everything that is known of agents and ports. */
void accounting_rewrite_all(struct accounting *acc, int64_t store_id);

/* Removes the crash journal at a clean stop, when everything is in the store. */
void accounting_remove_journal(struct accounting *acc);

/* Sets who may speak for which agent, beside the sources that agents are bound to; the rules are
 * borrowed until the next call. */
void accounting_set_sources(struct accounting *acc, const struct agent_source_rules *rules);

/* Sets which ports are no edge ports whatever their states say, from their next states on; borrowed until the
 * next call. */
void accounting_set_uplinks(struct accounting *acc, const struct uplink_rules *rules);

/* Sets who is told of each sample that counts, and of counters. */
void accounting_set_watch(struct accounting *acc, const struct sample_watch *watch);

/* Adds an event of the collector's own about an agent; text is cut to EASE_EVENT_TEXT - 1 octets. Without room it is
 * counted (accounting.lost_store_rows). */
struct accounting_event {
	enum ease_event_kind kind;
	int64_t agent;	   /* its number in the store; one that is not in memory has no boot */
	uint64_t if_index; /* 0: none */
	uint64_t time_us;
};
void accounting_add_own_event(struct accounting *acc, struct store_batch *batch, const struct accounting_event *event,
    const char *text);

/* Who an agent and a port of it are, as far as they are in memory; else "" and 0. */
struct accounting_names {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	const char *address, *port; /* of the agent; of the port as it was sent. Valid until the next call of any function */
};
struct accounting_names accounting_names_of(struct accounting *acc, int64_t agent, uint64_t if_index);

/* Of what the collector asks switches itself (collector/polled.h): tells of the port at a place, from 0 up to the limit of
 * ports; number is its agent's in the store. False: none is there, its agent is silent, or another one speaks at
 * its address: as one of sFlow the input tells of it. */
bool accounting_place(const struct accounting *acc, uint32_t place, struct polled_place *to);
/* Takes whether such a port leads to another switch. */
void accounting_take_uplink(
    struct accounting *acc, int64_t agent, uint32_t if_index, bool is_uplink, struct store_batch *batch);

/* Judges records of that agent from that source; one that is claimed is displaced. who needs agent_id, sender, source and loose_numbers. */
enum agent_identity_verdict accounting_judge(struct accounting *acc, const struct ease_record *who);

/* Binds agents to these sources only, as the store has them; n is their number. An agent without
 * one is bound to the next source that is heard for it. */
void accounting_bind_sources(struct accounting *acc, const struct store_agent_source *sources, size_t n);

/* Returns the store's number of an agent that is in memory; 0: it is not. */
int64_t accounting_agent_number(const struct accounting *acc, const uint8_t *agent_id);

/* Returns the newest boot number heard from an agent, also by earlier collectors of this store;
 * 0 if the agent is not known. */
uint32_t accounting_newest_boot(struct accounting *acc, const uint8_t *agent_id);

/* Returns the highest sample number of a port in that boot, also by earlier collectors of this store; 0 if none is
 * known. */
uint32_t accounting_newest_number(struct accounting *acc, const uint8_t *agent_id, uint32_t boot, uint64_t if_index);

/* Adds the records of one notification. batch is the one being filled. */
void accounting_add_records(
    struct accounting *acc, struct store_batch *batch, const struct ease_record *records, size_t n);

/* Adds an event; struct ease_event says to which agent it belongs. Returns false if there was no
 * room for its row or its agent. */
bool accounting_add_event(struct accounting *acc, struct store_batch *batch, const struct ease_event *event);

/* Returns how many records and rows were refused so far because there was no room. */
uint64_t accounting_lost(const struct accounting *acc);

/* Before a flush: counts the counters that have waited a minute for samples; all: before the last one, those that wait. */
void accounting_count_held(struct accounting *acc, struct store_batch *batch, bool all);

/* Moves the sums and the changed accounts into the batch and closes windows that are over. The
 * batches of earlier flushes must be written by then. Returns 0, or -ENOSPC if the batch has no room for all of it; then nothing is moved, and the next flush
 * tries again. */
int accounting_flush(struct accounting *acc, struct store_batch *batch);

const struct stat_set *accounting_stats(const struct accounting *acc);
const struct stat_set *accounting_window_stats(const struct accounting *acc);

#endif
