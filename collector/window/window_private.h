/*
 * What window.c, window_keys.c and window_flush.c share: the tables of windows and of keys.
 *
 * A sample is added to its window's totals and, some samples later, to its flow (flow_cache.h):
 * memory that it needs is on its way meanwhile. A flow that leaves is added to its key of each
 * kind. Keys are found by a hash table with chains; when there are no more free ones, one that has
 * few samples goes.
 */
#ifndef EASE_COLLECTOR_WINDOW_PRIVATE_H
#define EASE_COLLECTOR_WINDOW_PRIVATE_H

#include "collector/window/flow_cache.h"
#include "collector/window/window.h"

#define NONE UINT32_MAX

enum { N_DIRECTIONS = 2, CACHE_LINE = 64 };

/* What became of keys that had no room, of one kind. */
struct folded {
	uint32_t rows;	 /* keys in the store since the window opened */
	uint32_t n;	 /* samples without a key since the last dump */
	uint32_t most_n; /* since the window opened: most samples that any one key can lack */
	uint32_t flushed_most_n;
};

struct direction_sums {
	int64_t pool_pkts, pool_octets;
	struct store_sums sums; /* since the last dump */
	double any_pkts, any_octets; /* sums over pairs, see sample_pairs.h */
	struct folded folded[N_KINDS];
};

struct window {
	uint64_t start_us;
	int64_t agent;
	uint32_t if_index;
	uint32_t next; /* in its bucket, or in the free list */
	bool open, dirty, closing;
	uint64_t last_mono_us;
	int64_t expected, received;
	struct direction_sums directions[N_DIRECTIONS];
};

/* Sums since the last dump, in one cache line. What only variances are made of has seven digits. n
 * is the key's `fresh`. */
struct key_sums {
	double w, wb;
	float w2, wb2, w2b2;
	float not_used;
	struct store_pairs any, same, same1, same2;
};
_Static_assert(sizeof(struct key_sums) == CACHE_LINE, "a key's sums have grown");

/*
 * One cache line finds a key, the next one sums. most_lost: the most samples that the store can
 * lack of this key, because they came before it had a place here or were folded since.
 */
struct key {
	_Alignas(CACHE_LINE) uint32_t window;
	uint32_t next; /* in its bucket, or in the free list */
	uint32_t hash;
	uint32_t most_lost;
	uint32_t unflushed; /* samples in sums */
	uint8_t kind, direction; /* kind: index into key_kinds */
	bool used : 1;
	bool listed : 1; /* in dirty_keys */
	bool stored : 1; /* counted in folded.rows */
	struct halves halves;
	_Alignas(CACHE_LINE) struct key_sums sums;
};
_Static_assert(sizeof(struct key) == 2 * CACHE_LINE, "a key has grown");

struct index_list {
	uint32_t *items;
	uint32_t n;
};

enum {
	/* Samples on their way to their flows: each flow's set is being fetched for half of the
	 * way, and the flow for the other half. A power of two. */
	PENDING_SAMPLES = 16,
	FETCH_AFTER = PENDING_SAMPLES / 2,
};

/* A sample that is in its window's totals and not yet in its flow. */
struct pending_sample {
	struct flow_key key;
	uint64_t hash;
	struct store_sums sums;
	bool has_pairs;
	struct sample_pair_sums pairs; /* with mates only */
};

struct window_table {
	struct window_limits limits;
	uint64_t seed;
	struct flow_cache *flows;
	struct pending_sample pending[PENDING_SAMPLES]; /* by their numbers */
	uint64_t pending_begin, pending_end; /* numbers: those between are on their way */
	struct window *windows;
	struct key *keys;
	uint32_t *window_buckets, *key_buckets;
	uint64_t window_mask, key_mask;
	uint32_t free_window, free_key;
	uint32_t keys_used; /* keys beyond this index were never used */
	uint32_t hand;	    /* first candidate of the next eviction */
	struct window *last; /* samples come in runs */
	struct index_list dirty_windows, dirty_keys;
	struct stat_set stats;
	_Atomic uint64_t values[WINDOW_N_STATS];
};

/* window.c */

void window_mark_dirty(struct window_table *t, struct window *w);

/* Every sample is in its keys, and no flow has any. */
void window_empty_flow_cache(struct window_table *t);

/* window_keys.c */

/* Adds flows to their keys; a flow_cache_evict_fn whose argument is the table. */
void window_keys_add_flows(void *table, const struct flow *const *flows, size_t n);

struct folded *window_folded_of(const struct window_table *t, const struct key *k);

/* The samples that the key has and the store has not go into the others of its window. */
void window_key_fold(const struct window_table *t, struct key *k, enum window_stat_id why);

/* Frees the keys of windows that are closing. */
void window_keys_close(struct window_table *t);

#endif
