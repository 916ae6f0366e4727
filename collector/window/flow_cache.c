#include "collector/window/flow_cache.h"
#include "common/hash.h"
#include "collector/window/prefault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Part of a hash; 0: the place is free. */
typedef uint16_t tag;

struct flows {
	uint64_t seed;
	uint32_t n_sets;
	uint32_t random; /* whose place the next newcomer to a full set takes */
	tag (*tags)[FLOWS_WAYS];
	struct flow (*flows)[FLOWS_WAYS];
};

static uint32_t
sets_for(uint32_t n)
{
	return (n + FLOWS_WAYS - 1) / FLOWS_WAYS;
}

uint64_t
flows_memory(uint32_t n)
{
	return touched_memory(sets_for(n), FLOWS_WAYS * sizeof(tag)) +
	    touched_memory(sets_for(n), FLOWS_WAYS * sizeof(struct flow));
}

int
flows_new(struct flows **out, uint32_t n, uint64_t seed)
{
	struct flows *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->seed = seed;
	f->n_sets = sets_for(n);
	f->tags = touched_new(f->n_sets, sizeof(*f->tags), 0);
	f->flows = touched_new(f->n_sets, sizeof(*f->flows), 0);
	if (!f->tags || !f->flows) {
		flows_free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void
flows_free(struct flows *f)
{
	if (!f)
		return;
	free(f->flows);
	free(f->tags);
	free(f);
}

uint64_t
flows_hash(const struct flows *f, const struct flow_key *key)
{
	return hash_octets(f->seed, key, sizeof(*key));
}

static uint32_t
set_of(const struct flows *f, uint64_t hash)
{
	return (uint32_t)((hash >> 32) * f->n_sets >> 32);
}

static tag
tag_of(uint64_t hash)
{
	return (tag)(hash | 1);
}

/* The ways with that tag, bit by bit: without a branch, since where it is cannot be foreseen. */
static unsigned
ways_with(const tag tags[FLOWS_WAYS], tag wanted)
{
	unsigned ways = 0;

	for (unsigned way = 0; way < FLOWS_WAYS; way++)
		ways |= (unsigned)(tags[way] == wanted) << way;
	return ways;
}

static unsigned
first_of(unsigned ways)
{
	return (unsigned)__builtin_ctz(ways);
}

static void
fetch(const struct flow *flow)
{
	for (size_t line = 0; line < sizeof(*flow) / FLOWS_CACHE_LINE; line++)
		__builtin_prefetch((const char *)flow + line * FLOWS_CACHE_LINE, 1);
}

void
flows_fetch_set(const struct flows *f, uint64_t hash)
{
	__builtin_prefetch(f->tags[set_of(f, hash)]);
}

void
flows_fetch(const struct flows *f, uint64_t hash)
{
	uint32_t set = set_of(f, hash);
	unsigned ways = ways_with(f->tags[set], tag_of(hash));

	if (ways == 0)
		ways = ways_with(f->tags[set], 0);
	if (ways != 0)
		fetch(&f->flows[set][first_of(ways)]);
}

/* A place in the set for a new flow: of a full set a random one, because flows that come in turn
 * would always find the oldest one gone. */
static unsigned
make_room(struct flows *f, uint32_t set, flows_leave_fn *leave, void *arg)
{
	unsigned ways = ways_with(f->tags[set], 0), way;

	if (ways != 0)
		return first_of(ways);
	f->random = f->random * 1664525 + 1013904223; /* Knuth's; its low bits are not random */
	way = (f->random >> 16) % FLOWS_WAYS;
	leave(arg, &(const struct flow *){&f->flows[set][way]}, 1);
	return way;
}

struct flow *
flows_get(struct flows *f, const struct flow_key *key, uint64_t hash, flows_leave_fn *leave,
    void *arg)
{
	uint32_t set = set_of(f, hash);
	struct flow *flows = f->flows[set];
	tag *tags = f->tags[set];
	unsigned way;

	for (unsigned ways = ways_with(tags, tag_of(hash)); ways != 0; ways &= ways - 1)
		if (memcmp(&flows[first_of(ways)].key, key, sizeof(*key)) == 0)
			return &flows[first_of(ways)];
	way = make_room(f, set, leave, arg);
	tags[way] = tag_of(hash);
	flows[way] = (struct flow){.key = *key};
	return &flows[way];
}

void
flows_leave_all(struct flows *f, flows_leave_fn *leave, void *arg)
{
	const struct flow *leaving[FLOWS_AT_ONCE];
	size_t n = 0;

	for (uint32_t set = 0; set < f->n_sets; set++)
		for (unsigned way = 0; way < FLOWS_WAYS; way++) {
			if (f->tags[set][way] == 0)
				continue;
			f->tags[set][way] = 0;
			fetch(&f->flows[set][way]);
			leaving[n++] = &f->flows[set][way];
			if (n < FLOWS_AT_ONCE)
				continue;
			leave(arg, leaving, n);
			n = 0;
		}
	if (n > 0)
		leave(arg, leaving, n);
}
