/*
 * The collector's books: which agents and ports there are, which of their samples arrived, what
 * their counters counted. It takes records from the input, fills the rows of a batch with what is
 * written as it stands (samples, counters, states, events) and the windows with what is summed;
 * a cut then moves the sums and the changed accounts into the same batch, so that one transaction
 * holds both what was counted and the memory of having counted it.
 *
 * A sample that arrives twice is used once, also over a restart of the collector, because
 * accounting_loader() reads the books back. All times are the device's. One thread uses it.
 *
 * At its limits nothing is guessed: more agents or ports than the limits are refused and counted;
 * while the store is away and the batch is full, rows of samples are counted as lost to the store
 * and their sums still count; when windows are full as well, those of the oldest minute are
 * dropped, and their samples count as lost in the collector.
 */
#ifndef EASE_COLLECTOR_WINDOW_ACCOUNTING_H
#define EASE_COLLECTOR_WINDOW_ACCOUNTING_H

#include "collector/record.h"
#include "collector/store/store.h"
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
	ACCOUNTING_STAT_STATES,
	ACCOUNTING_STAT_STATES_OLD,
	ACCOUNTING_STAT_ROWS,
	ACCOUNTING_STAT_EVENTS,
	ACCOUNTING_STAT_BAD_TIME,
	ACCOUNTING_STAT_OLD_BOOT,
	ACCOUNTING_STAT_AGENTS_FULL,
	ACCOUNTING_STAT_PORTS_FULL,
	ACCOUNTING_STAT_LOST_STORE_QUEUE,
	ACCOUNTING_STAT_LOST_STORE_ROWS,
	ACCOUNTING_STAT_ROWS_THINNED,
	ACCOUNTING_STAT_FLUSHES_POSTPONED,
	ACCOUNTING_N_STATS,
};

enum {
	/* Beyond one machine a collector has others beside it (architecture, section 9). */
	ACCOUNTING_DEFAULT_AGENTS = 1024,
	/* 300 switches of 48 ports; a port takes 8 KiB with its rows on their way to the store. */
	ACCOUNTING_DEFAULT_PORTS = 16384,
};

struct accounting_limits {
	uint32_t agents, ports;
	uint32_t sample_rows; /* most rows of samples a second, 0 no limit: see sample_thinning.h */
	struct window_limits windows;
};

extern const struct accounting_limits accounting_default_limits;

/* The rows that a batch needs of what the accounting fills, windows included. */
void accounting_room(
    const struct accounting_limits *limits, struct store_room room[STORE_N_TABLES]);

/* Octets that a accounting takes at most without windows and keys, its rows on their way to the
 * store included. */
uint64_t accounting_memory(uint32_t agents, uint32_t ports);

/* clock is borrowed. seed: see window_table_new. 0 or -ENOMEM. */
int accounting_new(struct accounting **out, const struct accounting_limits *limits,
    const struct clock *clock, uint64_t seed);
void accounting_free(struct accounting *acc);

/* What store_load needs to read the books back. Before the first record. */
struct store_loader accounting_loader(struct accounting *acc);

/* Shares with whoever comes after what must not die with this process (crash_journal.h), and takes
 * into the books what the collector before this one had seen and not stored. Between store_load and
 * the first record. The outage, for a row of the first batch; false: there was none. */
bool accounting_recover(
    struct accounting *acc, const struct store_life *life, struct store_outage *outage);

/* The store has begun anew (store_renewals): the next cut says all that is known of agents and
 * ports. */
void accounting_rewrite_all(struct accounting *acc, int64_t store_id);

/* Everything is in the store: nothing is left to tell. */
void accounting_remove_journal(struct accounting *acc);

/* The newest boot heard of an agent, also before the collector's start; 0: never heard. */
uint32_t accounting_newest_boot(struct accounting *acc, const uint8_t *agent_id);

/* Takes the records of one notification; batch is the one being filled. */
void accounting_add_records(
    struct accounting *acc, struct store_batch *batch, const struct ease_record *records, size_t n);

/* Takes an event; see struct ease_event for whose it is. False if there was no room for its row or
 * its agent. */
bool accounting_add_event(
    struct accounting *acc, struct store_batch *batch, const struct ease_event *event);

/* Records and rows that were refused for want of room so far. */
uint64_t accounting_lost(const struct accounting *acc);

/* Moves sums and changed accounts into the batch, closes windows that are over. 0, or -ENOSPC in a
 * batch without accounting_room, and then everything stays for the next cut. */
int accounting_flush(struct accounting *acc, struct store_batch *batch);

const struct stat_set *accounting_stats(const struct accounting *acc);
const struct stat_set *accounting_window_stats(const struct accounting *acc);

#endif
