/*
 * Flows: samples since the last dump, added up by all that keys of any kind are made of, so that a
 * sample of a busy flow is one look-up and not one for each kind of key. When a flow leaves, its
 * sums go to its keys: when another needs its place, and at each dump.
 *
 * A set-associative cache, as CPUs have them: a flow's hash names a set of FLOW_CACHE_WAYS places,
 * and a tag that tells most flows of a set apart. The tags are kept together: all of them fit a
 * CPU's own cache, so looking there costs nothing, and the flow itself is fetched while others are
 * at work.
 */
#ifndef EASE_COLLECTOR_WINDOW_FLOW_CACHE_H
#define EASE_COLLECTOR_WINDOW_FLOW_CACHE_H

#include "collector/window/sample_pairs.h"

enum {
	FLOW_CACHE_WAYS = 8,
	FLOW_CACHE_EVICTED_AT_ONCE = 16, /* leave together */
	FLOW_CACHE_CACHE_LINE = 64,
};

/* Two cache lines. What only variances are made of has seven digits. */
struct flow_sums {
	double w, wb;
	float w2, wb2, w2b2;
	uint32_t n; /* samples */
	struct sample_pair_sums pairs; /* of its samples: each once for each of the two */
};

/* One cache line finds a flow, two have its sums. */
struct flow {
	_Alignas(FLOW_CACHE_CACHE_LINE) struct flow_key key;
	struct flow_sums sums;
};
_Static_assert(sizeof(struct flow) == 3 * FLOW_CACHE_CACHE_LINE, "a flow has grown");

struct flow_cache;

/* Octets of room for at least n flows. */
uint64_t flow_cache_memory(uint32_t n);

/* 0 or -ENOMEM. */
int flow_cache_new(struct flow_cache **out, uint32_t n, uint64_t seed);
void flow_cache_free(struct flow_cache *f);

uint64_t flow_cache_hash(const struct flow_cache *f, const struct flow_key *key);

/* What flow_cache_get will look at is on its way when these return: first the tags of the set, then
 * the flow. */
void flow_cache_prefetch_set(const struct flow_cache *f, uint64_t hash);
void flow_cache_prefetch(const struct flow_cache *f, uint64_t hash);

/* Takes what leaves, at most FLOW_CACHE_EVICTED_AT_ONCE flows. */
typedef void flow_cache_evict_fn(void *arg, const struct flow *const *flows, size_t n);

/* The flow of that key and its hash, with no samples if it is new; then another may have left.
 * Valid until the next call. */
struct flow *flow_cache_get(struct flow_cache *f, const struct flow_key *key, uint64_t hash,
    flow_cache_evict_fn *evict, void *arg);

/* All flows leave. */
void flow_cache_evict_all(struct flow_cache *f, flow_cache_evict_fn *evict, void *arg);

#endif
