#include "collector/window/flow_cache.h"
#include "common/hash.h"
#include "collector/window/prefault.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Part of a flow's hash; 0: the entry is free. */
typedef uint16_t tag;

struct flow_cache {
	uint64_t seed;
	uint32_t n_sets;
	uint32_t random; /* chooses the flow that a full set evicts */
	tag (*tags)[FLOW_CACHE_WAYS];
	struct flow (*flows)[FLOW_CACHE_WAYS];
};

static uint32_t
sets_for(uint32_t n)
{
	return (n + FLOW_CACHE_WAYS - 1) / FLOW_CACHE_WAYS;
}

uint64_t
flow_cache_memory(uint32_t n)
{
	return prefault_octets(sets_for(n), FLOW_CACHE_WAYS * sizeof(tag)) +
	    prefault_octets(sets_for(n), FLOW_CACHE_WAYS * sizeof(struct flow));
}

int
flow_cache_new(struct flow_cache **out, uint32_t n, uint64_t seed)
{
	struct flow_cache *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	assert(n > 0);
	f->seed = seed;
	f->n_sets = sets_for(n);
	f->tags = prefault_alloc(f->n_sets, sizeof(*f->tags), 0);
	f->flows = prefault_alloc(f->n_sets, sizeof(*f->flows), 0);
	if (!f->tags || !f->flows) {
		flow_cache_free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void
flow_cache_free(struct flow_cache *f)
{
	if (!f)
		return;
	free(f->flows);
	free(f->tags);
	free(f);
}

uint64_t
flow_cache_hash(const struct flow_cache *f, const struct flow_key *key)
{
	return hash_octets(f->seed, key, sizeof(*key));
}

static uint32_t
set_of(const struct flow_cache *f, uint64_t hash)
{
	return (uint32_t)((hash >> 32) * f->n_sets >> 32);
}

static tag
flow_cache_tag_of(uint64_t hash)
{
	return (tag)(hash | 1);
}

/* Returns a bit for each way that has the tag. It has no branch, because a CPU could not predict
 * which way matches. */
static unsigned
ways_with(const tag tags[FLOW_CACHE_WAYS], tag wanted)
{
	unsigned ways = 0;

	for (unsigned way = 0; way < FLOW_CACHE_WAYS; way++)
		ways |= (unsigned)(tags[way] == wanted) << way;
	return ways;
}

static unsigned
flow_cache_first_of(unsigned ways)
{
	assert(ways != 0);
	return (unsigned)__builtin_ctz(ways);
}

static void
fetch_flow(const struct flow *flow)
{
	for (size_t line = 0; line < sizeof(*flow) / FLOW_CACHE_LINE; line++)
		__builtin_prefetch((const char *)flow + line * FLOW_CACHE_LINE, 1);
}

void
flow_cache_prefetch_set(const struct flow_cache *f, uint64_t hash)
{
	__builtin_prefetch(f->tags[set_of(f, hash)]);
}

void
flow_cache_prefetch(const struct flow_cache *f, uint64_t hash)
{
	uint32_t set = set_of(f, hash);
	unsigned ways = ways_with(f->tags[set], flow_cache_tag_of(hash));

	if (ways == 0)
		ways = ways_with(f->tags[set], 0);
	if (ways != 0)
		fetch_flow(&f->flows[set][flow_cache_first_of(ways)]);
}

/* Returns the way for a new flow in the set. A full set evicts a random flow: if it evicted the
 * oldest, flows that take turns would each find their own entry evicted. */
static unsigned
flow_cache_make_room(struct flow_cache *f, uint32_t set, flow_cache_evict_fn *evict, void *arg)
{
	unsigned ways = ways_with(f->tags[set], 0), way;

	if (ways != 0)
		return flow_cache_first_of(ways);
	f->random = f->random * 1664525 + 1013904223; /* Knuth's; its low bits are not random */
	way = (f->random >> 16) % FLOW_CACHE_WAYS;
	evict(arg, &(const struct flow *){&f->flows[set][way]}, 1);
	return way;
}

struct flow *
flow_cache_get(struct flow_cache *f, const struct flow_key *key, uint64_t hash, flow_cache_evict_fn *evict, void *arg)
{
	uint32_t set = set_of(f, hash);
	struct flow *flows = f->flows[set];
	tag *tags = f->tags[set];
	unsigned way;

	for (unsigned ways = ways_with(tags, flow_cache_tag_of(hash)); ways != 0; ways &= ways - 1)
		if (memcmp(&flows[flow_cache_first_of(ways)].key, key, sizeof(*key)) == 0)
			return &flows[flow_cache_first_of(ways)];
	way = flow_cache_make_room(f, set, evict, arg);
	tags[way] = flow_cache_tag_of(hash);
	flows[way] = (struct flow){.key = *key};
	return &flows[way];
}

void
flow_cache_evict_all(struct flow_cache *f, flow_cache_evict_fn *evict, void *arg)
{
	const struct flow *leaving[FLOW_CACHE_EVICTED_AT_ONCE];
	size_t n = 0;

	for (uint32_t set = 0; set < f->n_sets; set++)
		for (unsigned way = 0; way < FLOW_CACHE_WAYS; way++) {
			if (f->tags[set][way] == 0)
				continue;
			f->tags[set][way] = 0;
			fetch_flow(&f->flows[set][way]);
			leaving[n++] = &f->flows[set][way];
			if (n < FLOW_CACHE_EVICTED_AT_ONCE)
				continue;
			evict(arg, leaving, n);
			n = 0;
		}
	if (n > 0)
		evict(arg, leaving, n);
}
