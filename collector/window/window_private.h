/*
 * Shared by window.c, window_keys.c and window_flush.c: the tables of windows and of keys.
 *
 * A sample is added to its window's totals at once and to its flow (flow_cache.h) some samples
 * later, while the memory that this needs is being prefetched; in between it is pending. An evicted
 * flow is added to its key of each kind. Keys are found by a hash table with chains. When no key is
 * free, one that has few samples is evicted.
 */
#ifndef EASE_COLLECTOR_WINDOW_PRIVATE_H
#define EASE_COLLECTOR_WINDOW_PRIVATE_H

#include "collector/window/flow_cache.h"
#include "collector/window/window.h"

#define NONE UINT32_MAX

enum {
	N_DIRECTIONS = 2,
	CACHE_LINE = 64,
	KEY_WEIGHT_BITS = 55,
	WINDOW_AGENTS = 4096, /* agents whose numbers differ by a multiple of it share a part */
};

/* Folded samples of one kind: their keys had no room. */
struct folded {
	uint32_t rows;	 /* keys written to the store since the window opened */
	uint32_t n;	 /* samples folded since the last flush */
	uint32_t most_n; /* the most samples that any one key can lack since the window opened */
	uint32_t flushed_most_n;
};

struct direction_sums {
	int64_t pool_pkts, pool_octets, cut_pkts, cut_octets;
	uint32_t w_max;
	struct store_sums sums; /* since the last flush */
	struct store_pairs any; /* see sample_pairs.h */
	struct folded folded[N_KINDS];
};

struct window {
	uint64_t start_us;
	int64_t agent;
	uint64_t if_index;
	uint32_t next; /* in its bucket, or in the free list */
	bool open, dirty, closing;
	uint64_t last_mono_us;
	int64_t expected, received, cut_numbers;
	struct direction_sums directions[N_DIRECTIONS];
};

/* Sums since the last flush, in one cache line. The number of samples is the key's `unflushed`, and the sum of
 * their weights stands there, too. Whole numbers, below 2^53 exact. */
struct key_sums {
	double w2, wb, wb2, w2b2;
	struct store_pairs any, same;
};

/* More sums of a key that is a pair of addresses, beside it: others do without. */
struct address_pairs {
	struct store_pairs same1, same2;
};
_Static_assert(sizeof(struct key_sums) == CACHE_LINE, "a key's sums have grown");

/*
 * A key: one cache line to find it, the next one with its sums. most_lost is the most samples that
 * the store can lack of this key, because they came while it was not in this table, or were folded.
 */
struct key {
	_Alignas(CACHE_LINE) uint32_t window;
	uint32_t next; /* in its bucket, or in the free list */
	uint32_t most_lost;
	uint32_t unflushed; /* samples in sums, since the last flush */
	uint64_t w : KEY_WEIGHT_BITS; /* sum of their weights */
	uint64_t kind : 4, direction : 2; /* kind: index into key_layouts */
	bool used : 1;
	bool listed : 1; /* in dirty_keys */
	bool stored : 1; /* counted in folded.rows */
	struct halves halves;
	_Alignas(CACHE_LINE) struct key_sums sums;
};
_Static_assert(sizeof(struct key) == 2 * CACHE_LINE, "a key has grown");
_Static_assert(N_KINDS <= 1 << 4, "a kind has no room in a key");

struct index_list {
	uint32_t *items;
	uint32_t n;
};

enum {
	/* Samples that are pending. During the first half of the wait the tags of the flow's set
	 * are prefetched, during the second half the flow. A power of two. */
	PENDING_SAMPLES = 16,
	FETCH_AFTER = PENDING_SAMPLES / 2,
};

/* A sample that is in its window's totals but not in its flow yet. */
struct pending_sample {
	struct flow_key key;
	uint64_t hash;
	double octets; /* of its frame */
	bool has_pairs;
	struct sample_pair_sums pairs; /* if has_pairs: other samples came in its notification */
};

struct window_table {
	struct window_limits limits;
	uint64_t seed;
	struct flow_cache *flows;
	struct pending_sample pending[PENDING_SAMPLES]; /* a ring */
	uint64_t pending_begin, pending_end; /* counts of samples: those between are pending */
	struct window *windows;
	struct key *keys;
	struct address_pairs *address_pairs; /* by index into keys */
	uint32_t *window_buckets, *key_buckets;
	uint64_t window_mask, key_mask;
	uint32_t free_window, free_key;
	uint32_t n_free; /* windows that are not open */
	uint32_t held[WINDOW_AGENTS]; /* open windows by agent */
	uint32_t keys_used; /* keys beyond this index were never used */
	uint32_t hand;	     /* first candidate of the next eviction */
	struct window *last; /* used last: samples of one port often follow each other */
	struct index_list dirty_windows, dirty_keys;
	struct stat_set stats;
	_Atomic uint64_t values[WINDOW_N_STATS];
};

/* window.c */

void window_mark_dirty(struct window_table *t, struct window *w);

/* Adds all pending samples and flows to their keys, so that the flow cache is empty. */
void window_empty_flow_cache(struct window_table *t);

/* window_keys.c */

/* Adds evicted flows to their keys: a flow_cache_evict_fn whose argument is the table. */
void window_keys_add_flows(void *table, const struct flow *const *flows, size_t n);

struct folded *window_folded_of(const struct window_table *t, const struct key *k);

/* Folds the key's unflushed samples: they stay in the window's total without their key. */
void window_key_fold(const struct window_table *t, struct key *k, enum window_stat_id why);

/* Forgets the samples since the last flush. */
void window_key_clear(const struct window_table *t, struct key *k);

/* Frees the keys of windows that are closing. */
void window_keys_close(struct window_table *t);

#endif
