#include "common/lru_table.h"
#include "common/hash.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
	RESERVE_PART = 16,
	SPARE = 2, /* times the reserve: who is silent leaves so early that nobody is refused for it */
};

uint64_t
lru_table_memory(uint32_t max)
{
	return max * sizeof(struct lru_owner) + hash_lists(max) * sizeof(uint32_t);
}

int
lru_table_init(struct lru_table *t, uint32_t max, struct lru_link *first_link, size_t stride)
{
	*t = (struct lru_table){.links = (char *)first_link, .stride = stride, .max = max,
	    .reserve = max / RESERVE_PART, .n_free = max, .mask = hash_lists(max) - 1,
	    .free = LRU_NONE, .newest = LRU_NONE, .oldest = LRU_NONE, .free_owner = LRU_NONE,
	    .most = LRU_NONE};
	t->owners = calloc(max, sizeof(*t->owners));
	t->buckets = malloc((t->mask + 1ul) * sizeof(*t->buckets));
	if (!t->owners || !t->buckets) {
		lru_table_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i <= t->mask; i++)
		t->buckets[i] = LRU_NONE;
	return 0;
}

void
lru_table_free(struct lru_table *t)
{
	free(t->buckets);
	free(t->owners);
	*t = (struct lru_table){.max = 0};
}

/* ---- owners ---- */

static uint32_t
find_owner(const struct lru_table *t, uint64_t key)
{
	uint32_t o = t->buckets[key & t->mask];

	while (o != LRU_NONE && t->owners[o].key != key)
		o = t->owners[o].next;
	return o;
}

/* There is one for each place. */
static uint32_t
owner_of(struct lru_table *t, uint64_t key)
{
	uint32_t o = find_owner(t, key), *bucket = &t->buckets[key & t->mask];

	if (o != LRU_NONE)
		return o;
	assert(t->free_owner != LRU_NONE || t->owners_end < t->max);
	o = t->free_owner;
	if (o == LRU_NONE)
		o = t->owners_end++;
	else
		t->free_owner = t->owners[o].next;
	t->owners[o] = (struct lru_owner){
	    .key = key, .newest = LRU_NONE, .oldest = LRU_NONE, .next = *bucket};
	*bucket = o;
	t->n_owners++;
	return o;
}

static void
find_most(struct lru_table *t)
{
	uint32_t held = 0;

	t->most = LRU_NONE;
	for (uint32_t o = 0; o < t->owners_end; o++)
		if (t->owners[o].held > held) {
			t->most = o;
			held = t->owners[o].held;
		}
}

static void
drop_owner(struct lru_table *t, uint32_t o)
{
	uint32_t *at = &t->buckets[t->owners[o].key & t->mask];

	assert(t->n_owners > 0 && t->owners[o].held == 0 && t->most != o);
	while (*at != o)
		at = &t->owners[*at].next;
	*at = t->owners[o].next;
	t->owners[o] = (struct lru_owner){.next = t->free_owner};
	t->free_owner = o;
	t->n_owners--;
}

static uint32_t
most_held(const struct lru_table *t)
{
	return t->most == LRU_NONE ? 0 : t->owners[t->most].held;
}

uint32_t
lru_table_held(const struct lru_table *t, uint64_t owner)
{
	uint32_t o = find_owner(t, owner);

	return o == LRU_NONE ? 0 : t->owners[o].held;
}

/* ---- order ---- */

static void
link_own(struct lru_table *t, uint32_t place, uint32_t o)
{
	struct lru_link *link = lru_table_link(t, place);
	struct lru_owner *owner = &t->owners[o];

	link->owner = o;
	link->own_newer = LRU_NONE;
	link->own_older = owner->newest;
	*(owner->newest == LRU_NONE ? &owner->oldest
				    : &lru_table_link(t, owner->newest)->own_newer) = place;
	owner->newest = place;
	owner->held++;
	if (owner->held > most_held(t))
		t->most = o;
}

static void
unlink_own(struct lru_table *t, uint32_t place)
{
	const struct lru_link *link = lru_table_link(t, place);
	struct lru_owner *owner = &t->owners[link->owner];

	assert(owner->held > 0);
	*(link->own_newer == LRU_NONE ? &owner->newest
				      : &lru_table_link(t, link->own_newer)->own_older) = link->own_older;
	*(link->own_older == LRU_NONE ? &owner->oldest
				      : &lru_table_link(t, link->own_older)->own_newer) = link->own_newer;
	owner->held--;
}

static void
link_place(struct lru_table *t, uint32_t place, uint32_t o)
{
	struct lru_link *link = lru_table_link(t, place);

	link->state = LRU_HELD;
	link->newer = LRU_NONE;
	link->older = t->newest;
	*(t->newest == LRU_NONE ? &t->oldest : &lru_table_link(t, t->newest)->newer) = place;
	t->newest = place;
	link_own(t, place, o);
}

static void
unlink_place(struct lru_table *t, uint32_t place)
{
	const struct lru_link *link = lru_table_link(t, place);

	*(link->newer == LRU_NONE ? &t->newest : &lru_table_link(t, link->newer)->older) = link->older;
	*(link->older == LRU_NONE ? &t->oldest : &lru_table_link(t, link->older)->newer) = link->newer;
	unlink_own(t, place);
}

/* The same, where it is not linked again at once. */
static void
lru_table_take_out(struct lru_table *t, uint32_t place)
{
	uint32_t owner = lru_table_link(t, place)->owner;

	unlink_place(t, place);
	if (owner == t->most)
		find_most(t);
}

/* ---- places ---- */

/* True if the owner may have one of the reserve. */
static bool
holds_less(const struct lru_table *t, uint32_t held)
{
	return held < most_held(t);
}

bool
lru_table_admits(struct lru_table *t, uint64_t owner)
{
	if (t->n_free > t->reserve)
		return true;
	t->wanted = t->wanted || t->n_free == 0;
	return t->n_free > 0 && holds_less(t, lru_table_held(t, owner));
}

uint32_t
lru_table_take(struct lru_table *t, uint64_t owner, int64_t now_us)
{
	uint32_t place = t->free, o;
	struct lru_link *link;

	if (t->n_free == 0)
		return LRU_NONE;
	if (place == LRU_NONE)
		place = t->end++;
	else
		t->free = lru_table_link(t, place)->older;
	assert(place < t->end && t->end <= t->max);
	t->n_free--;
	o = owner_of(t, owner);
	link = lru_table_link(t, place);
	link->heard_us = now_us;
	link_place(t, place, o);
	t->owners[o].places++;
	return place;
}

static void
leave_owner(struct lru_table *t, uint32_t o)
{
	assert(t->owners[o].places > t->owners[o].held);
	if (--t->owners[o].places == 0)
		drop_owner(t, o);
}

void
lru_table_give(struct lru_table *t, uint32_t place)
{
	struct lru_link *link = lru_table_link(t, place);

	assert(link->state != LRU_FREE && t->n_free < t->max);
	if (link->state == LRU_LEAVING)
		t->n_leaving--;
	else
		lru_table_take_out(t, place);
	leave_owner(t, link->owner);
	*link = (struct lru_link){.older = t->free, .state = LRU_FREE};
	t->free = place;
	t->n_free++;
}

bool
lru_table_note_heard(struct lru_table *t, uint32_t place, int64_t now_us)
{
	struct lru_link *link = lru_table_link(t, place);

	assert(link->state != LRU_FREE);
	if (link->state == LRU_LEAVING) {
		if (!holds_less(t, t->owners[link->owner].held) && t->n_free + t->n_leaving <= t->reserve)
			return false;
		t->n_leaving--;
	} else {
		unlink_place(t, place);
	}
	link->heard_us = now_us;
	link_place(t, place, link->owner);
	return true;
}

void
lru_table_leave(struct lru_table *t, uint32_t place)
{
	assert(lru_table_link(t, place)->state == LRU_HELD);
	lru_table_take_out(t, place);
	lru_table_link(t, place)->state = LRU_LEAVING;
	t->n_leaving++;
}

uint32_t
lru_table_next_victim(
    struct lru_table *t, int64_t now_us, int64_t least_silent_us, int64_t forget_us)
{
	uint32_t coming = t->n_free + t->n_leaving;
	bool wanted = t->wanted && coming == 0;
	int64_t silent_us;

	assert(coming <= t->max);
	if (coming > 0)
		t->wanted = false;
	if (t->oldest == LRU_NONE)
		return LRU_NONE;
	silent_us = now_us - lru_table_link(t, t->oldest)->heard_us;
	if (forget_us > 0 && silent_us >= forget_us)
		return t->oldest;
	if (silent_us >= least_silent_us && (wanted || coming < SPARE * t->reserve))
		return t->oldest;
	if (!wanted && coming >= t->reserve)
		return LRU_NONE;
	return most_held(t) > 1 && (uint64_t)most_held(t) * t->n_owners > t->max
	    ? t->owners[t->most].oldest
	    : LRU_NONE;
}

uint64_t
lru_table_owner(const struct lru_table *t, uint32_t place)
{
	return t->owners[lru_table_link(t, place)->owner].key;
}

void
lru_table_set_owner(struct lru_table *t, uint32_t place, uint64_t owner)
{
	struct lru_link *link = lru_table_link(t, place);
	uint32_t before = link->owner, o;

	if (t->owners[before].key == owner || link->state != LRU_HELD)
		return;
	unlink_own(t, place);
	if (before == t->most)
		find_most(t);
	leave_owner(t, before); /* first: there may be no more owners than places */
	o = owner_of(t, owner);
	link_own(t, place, o);
	t->owners[o].places++;
}

uint32_t
lru_table_first_of(const struct lru_table *t, uint64_t owner)
{
	uint32_t o = find_owner(t, owner);

	return o == LRU_NONE ? LRU_NONE : t->owners[o].newest;
}

uint32_t
lru_table_next_of(const struct lru_table *t, uint32_t place)
{
	return lru_table_link(t, place)->own_older;
}
