/*
 * The flow cache: samples since the last flush, added up by flow. A flow has every field that any
 * kind of key is made of, so a sample of a busy flow costs one look-up instead of one per kind of
 * key. A flow is evicted when another needs its entry, and at each flush; its sums then go to its
 * keys (window_keys.c).
 *
 * It is a set-associative cache, as in CPUs: a flow's hash selects a set of FLOW_CACHE_WAYS entries
 * and a tag by which most flows of a set differ. All tags are in one array that fits into the CPU's
 * own cache, so reading them is cheap, and the flow itself is prefetched while other samples are
 * processed.
 */
#ifndef EASE_COLLECTOR_WINDOW_FLOW_CACHE_H
#define EASE_COLLECTOR_WINDOW_FLOW_CACHE_H

#include "collector/window/sample_pairs.h"

enum {
	FLOW_CACHE_WAYS = 8,
	FLOW_CACHE_EVICTED_AT_ONCE = 16, /* flows evicted by one call */
	FLOW_CACHE_LINE = 64,
};

/* All samples have the weight in the flow's key, so that these are enough for every sum of
 * struct store_sums. They are whole numbers, and below 2^53 exact: they are the same whenever the flow is evicted. */
struct flow_sums {
	double octets, octets2; /* sums of frames' lengths and of their squares */
	uint32_t n;		/* samples */
	struct flow_pairs pairs; /* of its samples; each pair counts for both of them */
};

/* One cache line with the key, four with the sums. */
struct flow {
	_Alignas(FLOW_CACHE_LINE) struct flow_key key;
	struct flow_sums sums;
};
_Static_assert(sizeof(struct flow) == 5 * FLOW_CACHE_LINE, "a flow has grown");

struct flow_cache;

/* Returns the octets that a cache for at least n flows takes. */
uint64_t flow_cache_memory(uint32_t n);

/* Returns 0 or -ENOMEM. */
int flow_cache_new(struct flow_cache **out, uint32_t n, uint64_t seed);
void flow_cache_free(struct flow_cache *f);

uint64_t flow_cache_hash(const struct flow_cache *f, const struct flow_key *key);

/* Start to load into the CPU's cache what flow_cache_get will read: the tags of the set, and later
 * the flow. */
void flow_cache_prefetch_set(const struct flow_cache *f, uint64_t hash);
void flow_cache_prefetch(const struct flow_cache *f, uint64_t hash);

/* Receives evicted flows, at most FLOW_CACHE_EVICTED_AT_ONCE in a call. */
typedef void flow_cache_evict_fn(void *arg, const struct flow *const *flows, size_t n);

/* Returns the flow of that key and its hash, valid until the next call. If it was not cached, it is
 * new and has no samples, and another flow may have been evicted. */
struct flow *flow_cache_get(struct flow_cache *f, const struct flow_key *key, uint64_t hash,
    flow_cache_evict_fn *evict, void *arg);

/* Evicts all flows. */
void flow_cache_evict_all(struct flow_cache *f, flow_cache_evict_fn *evict, void *arg);

#endif
