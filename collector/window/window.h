/*
 * One-minute windows of each port: sums over samples, in total and by key (Ethernet pair, IP pair,
 * …), true totals from counters, and numbers of samples expected and received.
 *
 * A window holds only what was added since the last flush. A flush moves the sums into a batch, and
 * the store adds them to what it has. So an open minute, a late sample and a restart of the
 * collector need no special case, and closing a window only frees its keys. Between two flushes
 * samples are added up by flow (flow_cache.h); an evicted flow is added to its keys.
 *
 * All memory is allocated at the start. A window beyond the limit is refused and counted, and so is
 * one of an agent that has WINDOW_SHARE times as many as are left: so an agent that opens windows
 * without end always leaves some to the others, and many agents get equal parts ("dynamic
 * thresholds", Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). When there is no memory for another key, the key with the fewest
 * samples is evicted, and its samples are folded: they stay in the window's total but are in no
 * key. Beside the keys a flush writes how many samples were folded, and most_n, the most that any
 * one key can lack because of it. For each key: n in the store <= its samples <= n + most_n. The
 * kinds of keys are data (collector/store/key_layout.h).
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
	WINDOW_STAT_OVER_SHARE,
	WINDOW_STAT_KEYS_WINDOW_FULL,
	WINDOW_STAT_KEYS_TABLE_FULL,
	WINDOW_N_STATS,
};

enum {
	/* Keys in the store of one kind, port and direction in one minute: at 100 octets a key 10
	 * MB. A key has at least one sample, and reports rank those with five and more, so keys
	 * beyond this limit are noise or an attack. */
	WINDOW_KEYS_PER_WINDOW = 100000,
	/* 100 switches of 48 ports with three open minutes each, twice over. */
	WINDOW_DEFAULT_WINDOWS = 32768,
	/* 1,000 busy ports with 500 keys each. */
	WINDOW_DEFAULT_KEYS = 500000,
	WINDOWS_A_PORT = 3, /* the present minute, the one before, and one that is over or begins */
	WINDOW_SHARE = 4, /* alone an agent gets four windows of five */
	WINDOW_MIN_WINDOWS = 1024,
	WINDOW_MIN_KEYS = 4096,
};

struct window_limits {
	uint32_t windows, keys, keys_per_window;
};

/* Sets .kept of each table that a flush fills to the rows that it needs at most. */
void window_room(const struct window_limits *limits, struct store_room room[STORE_N_TABLES]);

/* Returns the octets that a table of these limits takes at most, including its rows in batches; and
 * the inverse: the largest limits that stay within octets, but at least the minimum; if they can be, windows are enough
 * for so many ports. */
uint64_t window_memory(const struct window_limits *limits);
struct window_limits window_limits_for(uint64_t octets, uint32_t ports);

/* Returns 0 or -ENOMEM. The seed goes into the hashes, so that nobody can choose addresses whose
 * hashes collide. */
int window_table_new(struct window_table **out, const struct window_limits *limits, uint64_t seed);
void window_table_free(struct window_table *t);

/* Returns the window of that port and time, valid until the next close. Opens it if it is not open;
 * returns NULL at a limit. mono_us is the present time, kept as the window's last use. */
struct window *window_get(struct window_table *t, int64_t agent, uint64_t if_index,
    uint64_t time_us, uint64_t mono_us);

/* A sample of a notification, and its window. */
struct window_sample {
	struct window *window;
	const struct ease_sample *sample; /* borrowed */
	struct frame_keys keys;
};

/* Each of these adds to windows of this table. The samples are of one notification,
 * n <= SAMPLE_PAIRS_MAX (sample_pairs.h); their windows may differ. direction is enum
 * ease_direction. */
void window_add_samples(struct window_table *t, const struct window_sample *samples, size_t n);
void window_add_pool(struct window_table *t, struct window *w, uint8_t direction, uint64_t pkts, uint64_t octets);
void window_add_numbers(struct window_table *t, struct window *w, int64_t expected, uint64_t received);
/* What passed while samples were lost, and the numbers of these (sample_gaps.h); negative values take
 * back. */
void window_add_cut(struct window_table *t, struct window *w, uint8_t direction, int64_t pkts, int64_t octets);
void window_add_cut_numbers(struct window_table *t, struct window *w, int64_t numbers);

/* Adds one sample to the sums. */
void window_sums_add(struct store_sums *sums, const struct ease_sample *s);

/* Moves everything new into the batch, all or nothing. Only rows of folded samples for which the
 * batch has no room are left for the next flush. Returns 0, or -ENOSPC without room in the batch.
 */
int window_flush(struct window_table *t, struct store_batch *batch);

/* Closes each flushed window for which the callback returns true; last_mono_us is its last use. */
typedef bool window_is_over_fn(void *arg, int64_t agent, uint64_t start_us, uint64_t last_mono_us);
void window_close(struct window_table *t, window_is_over_fn *over, void *arg);

const struct stat_set *window_stats(const struct window_table *t);

#endif
