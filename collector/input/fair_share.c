#include "collector/input/fair_share.h"
#include "common/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHORTEST_US = 500, /* a rate is not computed over less */
	USUAL_PARTS = 16, /* windows in the moving mean, which is kept in sixteenths */
	FILL_STEPS = 16, /* of the search for the limit; each raises it over another sender */
	/* The next capacity, in eighths of what was admitted or of the last capacity: half while a
	 * buffer fills, since dropping takes time, too; a little more while it is almost empty. */
	LESS_OF_8 = 4,
	MORE_OF_8 = 9,
	CAPACITY_MIN = 64, /* datagrams in a window: one read */
	NO_SLOT = FAIR_SHARE_SLOTS,
};

struct fair_share {
	uint64_t seed;
	uint64_t window_start_us;
	uint64_t limit;	   /* datagrams of a sender in a window; UINT64_MAX: no limit */
	uint64_t capacity; /* datagrams of all senders in a window, while there is a limit */
	uint64_t taken;	   /* datagrams admitted in this window */
	unsigned calm;	   /* calm windows in a row */
	unsigned fill, last_fill; /* highest fill in this window and in the one before */
	unsigned end_fill; /* fill at the end of the last window */
	uint32_t last_slot; /* of the last sender, or NO_SLOT */
	uint64_t company_until_us; /* until then there is more than one sender */
	uint32_t offered[FAIR_SHARE_SLOTS]; /* datagrams in this window, with those dropped */
	uint32_t usual[FAIR_SHARE_SLOTS]; /* their moving mean, in sixteenths */
};

int
fair_share_new(struct fair_share **out, uint64_t seed)
{
	struct fair_share *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->seed = seed;
	s->limit = UINT64_MAX;
	s->last_slot = NO_SLOT;
	*out = s;
	return 0;
}

void
fair_share_free(struct fair_share *s)
{
	free(s);
}

uint64_t
fair_share_limit(const struct fair_share *s)
{
	return s->limit;
}

/* ---- the limit ---- */

/* The datagrams of all senders that offer no more than limit, and the number of those that offer
 * more. */
static uint64_t
sum_below(const struct fair_share *s, uint64_t limit, size_t *n_above)
{
	uint64_t sum = 0;

	*n_above = 0;
	for (size_t i = 0; i < FAIR_SHARE_SLOTS; i++) {
		if (s->usual[i] > limit)
			++*n_above;
		else
			sum += s->usual[i];
	}
	return sum;
}

/* Water-filling: the largest limit with which all senders together have no more than capacity. What
 * the senders below it leave of the capacity is divided equally between those above it. Each step
 * raises the limit towards its value. */
static uint64_t
fair_limit(const struct fair_share *s, uint64_t capacity)
{
	uint64_t limit = 0;

	for (unsigned step = 0; step < FILL_STEPS; step++) {
		size_t n_above;
		uint64_t below = sum_below(s, limit, &n_above), next;

		if (n_above == 0)
			return UINT64_MAX; /* nobody needs to be cut */
		next = below < capacity ? (capacity - below) / n_above : 0;
		if (next <= limit)
			break;
		limit = next;
	}
	return limit > 0 ? limit : 1;
}

static void
limit_by(struct fair_share *s, uint64_t capacity)
{
	uint64_t limit;

	s->capacity = capacity > CAPACITY_MIN ? capacity : CAPACITY_MIN;
	limit = fair_limit(s, s->capacity * USUAL_PARTS);
	/* If nobody offers more, a sender that begins to must still not take everything. */
	s->limit = limit == UINT64_MAX ? s->capacity : (limit + USUAL_PARTS - 1) / USUAL_PARTS;
}

/* ---- windows ---- */

/* What would have been admitted in a whole window at the same rate. */
static uint64_t
taken_in_window(const struct fair_share *s, uint64_t lasted_us)
{
	if (lasted_us < SHORTEST_US)
		lasted_us = SHORTEST_US;
	return s->taken * FAIR_SHARE_WINDOW_US / lasted_us;
}

static uint64_t
all_offered(const struct fair_share *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < FAIR_SHARE_SLOTS; i++)
		sum += s->usual[i];
	return sum;
}

/* A smaller capacity: half of what was admitted. But if a few senders offer more than all others
 * together, only they are cut: the others keep what they offer and half as much again, since their
 * datagrams that waited now come faster. */
static uint64_t
smaller_capacity(const struct fair_share *s, uint64_t taken)
{
	size_t n_above;
	uint64_t modest = sum_below(s, fair_limit(s, taken * USUAL_PARTS), &n_above);
	uint64_t half = taken * LESS_OF_8 / 8, enough = (modest + modest / 2) / USUAL_PARTS;

	return all_offered(s) > 2 * modest && enough > half ? enough : half;
}

/* A buffer that gets emptier, even slowly, needs no stricter limit. */
static uint64_t
next_capacity(const struct fair_share *s, uint64_t taken)
{
	if (s->fill >= FAIR_SHARE_PRESSED_PERCENT && (s->fill >= s->last_fill || s->limit == UINT64_MAX))
		return smaller_capacity(s, taken);
	return s->fill < FAIR_SHARE_CALM_PERCENT ? s->capacity * MORE_OF_8 / 8 : s->capacity;
}

/* A mean over windows is needed, because what a window holds depends on the reader's speed in
 * it. */
static void
note_usual(struct fair_share *s)
{
	for (size_t i = 0; i < FAIR_SHARE_SLOTS; i++) {
		uint32_t offered = s->offered[i] * USUAL_PARTS;

		s->usual[i] = s->limit == UINT64_MAX
		    ? offered
		    : s->usual[i] - s->usual[i] / USUAL_PARTS + s->offered[i];
	}
}

/* A lone sender takes nothing from others, and the kernel drops no more of its datagrams than we
 * would. */
static bool
has_company(const struct fair_share *s, uint64_t now_us)
{
	return now_us < s->company_until_us;
}

/* True in an overload. A buffer that filled while the reader was busy elsewhere gets emptier as
 * soon as it is read again, so that is none. */
static bool
is_overrun(const struct fair_share *s, unsigned fill_percent)
{
	return fill_percent >= FAIR_SHARE_FULL_PERCENT ||
	    (s->end_fill >= FAIR_SHARE_PRESSED_PERCENT && fill_percent > s->end_fill);
}

static void
set_limit(struct fair_share *s, uint64_t now_us, unsigned fill_percent)
{
	if (s->limit == UINT64_MAX && !is_overrun(s, fill_percent))
		return;
	note_usual(s);
	s->calm = s->fill < FAIR_SHARE_CALM_PERCENT ? s->calm + 1 : 0;
	if (s->calm >= FAIR_SHARE_CALM_WINDOWS || !has_company(s, now_us))
		s->limit = UINT64_MAX;
	else
		limit_by(s, next_capacity(s, taken_in_window(s, now_us - s->window_start_us)));
}

static void
end_window(struct fair_share *s, uint64_t now_us, unsigned fill_percent)
{
	set_limit(s, now_us, fill_percent);
	memset(s->offered, 0, sizeof(s->offered));
	s->window_start_us = now_us;
	s->taken = 0;
	s->last_fill = s->fill;
	s->end_fill = fill_percent;
	s->fill = 0;
}

/* A buffer that is almost full ends the first window at once. */
void
fair_share_turn(struct fair_share *s, uint64_t now_us, unsigned fill_percent)
{
	bool first = s->limit == UINT64_MAX && fill_percent >= FAIR_SHARE_FULL_PERCENT;

	if (fill_percent > s->fill)
		s->fill = fill_percent;
	if (first || now_us - s->window_start_us >= FAIR_SHARE_WINDOW_US)
		end_window(s, now_us, fill_percent);
}

/* ---- senders ---- */

bool
fair_share_admit(struct fair_share *s, const struct sockaddr *from, size_t n)
{
	uint32_t slot = (uint32_t)(endpoint_hash(s->seed, from) % FAIR_SHARE_SLOTS);
	bool admitted = s->offered[slot] < s->limit;

	if (slot != s->last_slot && s->last_slot != NO_SLOT)
		s->company_until_us = s->window_start_us + FAIR_SHARE_COMPANY_US;
	s->last_slot = slot;
	s->offered[slot] += (uint32_t)n;
	if (admitted)
		s->taken += n;
	return admitted;
}
