/*
 * One-minute windows of each port: sums over samples in total and by key (Ethernet pair, IP
 * pair, …), true totals, and numbers of samples expected and received. What a window holds is
 * what came since the last dump: a dump moves it into a batch, and the store adds it to what it
 * has. So an open minute, a late sample and a restart of the collector need nothing special, and
 * closing a window only frees its keys. Between two dumps samples are added up by flow
 * (flow_cache.h), and flows to the keys that they have when they leave.
 *
 * Memory is given at the start. A window beyond the limit is counted and refused; the caller may
 * drop the oldest ones. Keys beyond the
 * limits take the place of those that have least, and what had no place is folded: its samples
 * are in the window's total but in no key. How many were, and the most that any one key can lack
 * because of it, is dumped beside the keys; so n of a key in the store <= its samples <= n +
 * most_n. The kinds of keys are data: key_kinds.h.
 */
#ifndef EASE_COLLECTOR_WINDOW_WINDOW_H
#define EASE_COLLECTOR_WINDOW_WINDOW_H

#include "collector/store/batch.h"
#include "common/stat.h"

struct window_table;
struct window;

enum window_stat_id {
	WINDOW_STAT_OPENED,
	WINDOW_STAT_CLOSED,
	WINDOW_STAT_NO_WINDOW,
	WINDOW_STAT_DROPPED,
	WINDOW_STAT_DROPPED_SAMPLES,
	WINDOW_STAT_KEYS_WINDOW_FULL,
	WINDOW_STAT_KEYS_TABLE_FULL,
	WINDOW_N_STATS,
};

enum {
	/* Keys in the store of one kind, port and direction in one minute. A key has at least one
	 * sample, and a report ranks what has five and more, so beyond this a key is noise or an
	 * attack; at 100 octets a key it is 10 MB. */
	WINDOW_KEYS_PER_WINDOW = 100000,
	/* 100 switches of 48 ports with three minutes open each, and as much again. */
	WINDOW_DEFAULT_WINDOWS = 32768,
	/* A thousand busy ports with five hundred keys each. */
	WINDOW_DEFAULT_KEYS = 500000,
	WINDOW_MIN_WINDOWS = 1024,
	WINDOW_MIN_KEYS = 4096,
};

struct window_limits {
	uint32_t windows, keys, keys_per_window;
};

/* The rows that a dump of a table of these limits needs at most: sets .kept of what it fills. */
void window_room(const struct window_limits *limits, struct store_room room[STORE_N_TABLES]);

/* Octets that a table of these limits takes at most, its rows on their way to the store included;
 * and the inverse: the largest limits (no less than the smallest) that stay within octets. */
uint64_t window_memory(const struct window_limits *limits);
struct window_limits window_limits_for(uint64_t octets);

/* 0 or -ENOMEM. seed goes into the hash, so that nobody can choose addresses that collide. */
int window_table_new(struct window_table **out, const struct window_limits *limits, uint64_t seed);
void window_table_free(struct window_table *t);

/* The window of that port and time, made if need be; NULL at the limit. mono_us says when it was
 * last asked for. Valid until the next close. */
struct window *window_get(struct window_table *t, int64_t agent, uint32_t if_index,
    uint64_t time_us, uint64_t mono_us);

/* A sample of a notification, and where it goes. */
struct window_sample {
	struct window *window;
	const struct ease_sample *sample; /* borrowed */
	struct frame_keys keys;
};

/* Each adds to windows of this table. The samples are of one notification, n <= SAMPLE_PAIRS_MAX
 * (sample_pairs.h), their windows may differ. direction is enum ease_direction. */
void window_add_samples(struct window_table *t, const struct window_sample *samples, size_t n);
void window_add_pool(struct window_table *t, struct window *w, uint8_t direction, uint64_t pkts,
    uint64_t octets);
void window_add_numbers(struct window_table *t, struct window *w, int64_t expected,
    uint64_t received);

/* One sample's part of the sums. */
void window_sums_add(struct store_sums *sums, const struct ease_sample *s);

/* Moves everything new into the batch: all or nothing, but for folded samples beyond the batch's
 * rows for them, which are told by the next dump. 0, or -ENOSPC in a batch without window_room. */
int window_flush(struct window_table *t, struct store_batch *batch);

/* Closes each window that was dumped and for which the callback says so; last_mono_us: when it
 * was last asked for. */
typedef bool window_over(void *arg, int64_t agent, uint64_t start_us, uint64_t last_mono_us);
void window_close(struct window_table *t, window_over *over, void *arg);

/* While the store is away for long: drops all windows of the oldest minute, if that is older than
 * time_us, and tells what of each was not dumped. False if there was none. */
typedef void window_dropped(void *arg, int64_t agent, uint32_t if_index, uint64_t start_us,
    uint64_t samples, int64_t expected, int64_t received);
bool window_drop_oldest(struct window_table *t, uint64_t time_us, window_dropped *dropped,
    void *arg);

const struct stat_set *window_stats(const struct window_table *t);

#endif
