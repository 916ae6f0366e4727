#include "collector/ship/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2 * UNITS_MAX };

static uint64_t
hash_of(uint64_t start_us, uint32_t shard)
{
	uint64_t h = (start_us / 60000000 * 0x9e3779b97f4a7c15u) ^ (shard * 0xbf58476d1ce4e5b9u);

	return h ^ h >> 31;
}

int
units_init(struct units *units)
{
	*units = (struct units){
	    .items = calloc(UNITS_MAX, sizeof(*units->items)),
	    .slots = calloc(SLOTS, sizeof(*units->slots)),
	    .remembered = calloc(UNITS_REMEMBERED, sizeof(*units->remembered)),
	};
	return units->items && units->slots && units->remembered ? 0 : -ENOMEM;
}

void
units_free(struct units *units)
{
	free(units->items);
	free(units->slots);
	free(units->remembered);
	*units = (struct units){0};
}

void
units_forget(struct units *units)
{
	units->n = 0;
	memset(units->slots, 0, SLOTS * sizeof(*units->slots));
	memset(units->remembered, 0, UNITS_REMEMBERED * sizeof(*units->remembered));
}

/* The slot of a unit, or the free one where it would be. */
static uint32_t *
units_slot_of(const struct units *units, uint64_t start_us, uint32_t shard)
{
	uint64_t at = hash_of(start_us, shard);

	for (;; at++) {
		uint32_t *slot = &units->slots[at % SLOTS];

		if (*slot == 0 || (units->items[*slot - 1].start_us == start_us &&
				      units->items[*slot - 1].shard == shard))
			return slot;
	}
}

static void
index_items(struct units *units)
{
	memset(units->slots, 0, SLOTS * sizeof(*units->slots));
	for (size_t i = 0; i < units->n; i++)
		*units_slot_of(units, units->items[i].start_us, units->items[i].shard) = (uint32_t)i + 1;
}

bool
units_see(struct units *units, uint64_t start_us, uint32_t shard, int64_t id, uint64_t now_us)
{
	uint32_t *slot = units_slot_of(units, start_us, shard);

	if (*slot == 0) {
		if (units->n == UNITS_MAX)
			return false;
		units->items[units->n++] = (struct unit){.start_us = start_us, .shard = shard,
		    .first_id = id};
		*slot = (uint32_t)units->n;
	}
	units->items[*slot - 1].seen_us = now_us;
	return true;
}

static int
compare_units(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	if (x->start_us != y->start_us)
		return x->start_us < y->start_us ? -1 : 1;
	return x->shard < y->shard ? -1 : x->shard > y->shard;
}

void
units_sort(struct units *units)
{
	qsort(units->items, units->n, sizeof(*units->items), compare_units);
	index_items(units);
}

static struct remembered *
memory_of(const struct units *units, uint64_t start_us, uint32_t shard)
{
	return &units->remembered[hash_of(start_us, shard) % UNITS_REMEMBERED];
}

uint64_t
units_fingerprint(const struct units *units, uint64_t start_us, uint32_t shard)
{
	const struct remembered *r = memory_of(units, start_us, shard);

	return r->start_us == start_us && r->shard == shard ? r->fingerprint : 0;
}

void
units_commit(struct units *units)
{
	size_t kept = 0;

	for (size_t i = 0; i < units->n; i++) {
		const struct unit *unit = &units->items[i];

		if (unit->sent)
			*memory_of(units, unit->start_us, unit->shard) =
			    (struct remembered){unit->start_us, unit->fingerprint, unit->shard};
		else
			units->items[kept++] = *unit;
	}
	units->n = kept;
	index_items(units);
}

void
units_roll_back(struct units *units)
{
	for (size_t i = 0; i < units->n; i++)
		units->items[i].sent = false;
}

int64_t
units_least_id(const struct units *units, int64_t none_id)
{
	int64_t least = none_id;

	for (size_t i = 0; i < units->n; i++)
		if (!units->items[i].sent && units->items[i].first_id < least)
			least = units->items[i].first_id;
	return least;
}
