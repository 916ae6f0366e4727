#include "collector/input/fair_share.h"
#include "common/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHORTEST_US = 500, /* a window that pressure ends; a rate of less says little */
	USUAL_PARTS = 16, /* windows in the mean; what is usual is kept in these parts */
	FILL_STEPS = 16, /* of the search for the limit: each at least one sender more is below it */
	/* Of what was taken, in eighths: half while a buffer fills, since what is dropped costs time, too;
	 * a little more while it is as good as empty. */
	LESS_OF_8 = 4,
	MORE_OF_8 = 9,
	CAPACITY_MIN = 64, /* datagrams a window: one read */
	NO_SLOT = FAIR_SHARE_SLOTS,
};

struct fair_share {
	uint64_t seed;
	uint64_t window_start_us;
	uint64_t limit;	   /* datagrams a sender and window; UINT64_MAX: none */
	uint64_t capacity; /* of all senders in a window, while there is a limit */
	uint64_t taken;	   /* in this window */
	unsigned calm;	   /* windows one after the other */
	unsigned fill, last_fill; /* the highest percentage of this window, and of the one before */
	unsigned end_fill; /* the percentage when the last window ended */
	uint32_t last_slot; /* of the last sender, or NO_SLOT */
	uint64_t company_until_us; /* while there are others than that one */
	uint32_t asked[FAIR_SHARE_SLOTS]; /* datagrams of this window, those dropped included */
	uint32_t usual[FAIR_SHARE_SLOTS]; /* the same of a window in the mean of the last ones */
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

/* What all senders asked for, each no more than limit, and how many asked for more. */
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

/* The largest limit with which all together have no more than capacity: what those below it leave
 * is for those above it, in equal parts. Rises to its value from below. */
static uint64_t
fair_limit(const struct fair_share *s, uint64_t capacity)
{
	uint64_t limit = 0;

	for (unsigned step = 0; step < FILL_STEPS; step++) {
		size_t n_above;
		uint64_t below = sum_below(s, limit, &n_above), next;

		if (n_above == 0)
			return UINT64_MAX; /* all have what they ask for */
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
	/* Nobody asked for more: who begins to must not have everything. */
	s->limit = limit == UINT64_MAX ? s->capacity : (limit + USUAL_PARTS - 1) / USUAL_PARTS;
}

/* ---- windows ---- */

/* What would have been taken in a whole window. */
static uint64_t
taken_in_window(const struct fair_share *s, uint64_t lasted_us)
{
	return s->taken * FAIR_SHARE_WINDOW_US / (lasted_us > SHORTEST_US ? lasted_us : SHORTEST_US);
}

static uint64_t
all_asked(const struct fair_share *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < FAIR_SHARE_SLOTS; i++)
		sum += s->usual[i];
	return sum;
}

/* Half of what was taken; but where a few ask for more than all the others together, it is they who
 * pay: the others keep what they ask for, and half as much, since what waited comes faster then. */
static uint64_t
less(const struct fair_share *s, uint64_t taken)
{
	size_t n_above;
	uint64_t modest = sum_below(s, fair_limit(s, taken * USUAL_PARTS), &n_above);
	uint64_t half = taken * LESS_OF_8 / 8, enough = (modest + modest / 2) / USUAL_PARTS;

	return all_asked(s) > 2 * modest && enough > half ? enough : half;
}

/* A buffer that gets emptier, if slowly, needs no harder limit. */
static uint64_t
next_capacity(const struct fair_share *s, uint64_t taken)
{
	if (s->fill >= FAIR_SHARE_PRESSED_PERCENT && (s->fill >= s->last_fill || s->limit == UINT64_MAX))
		return less(s, taken);
	return s->fill < FAIR_SHARE_CALM_PERCENT ? s->capacity * MORE_OF_8 / 8 : s->capacity;
}

/* How much of a sender's comes within one window depends on how fast the reader is just then. */
static void
note_usual(struct fair_share *s)
{
	for (size_t i = 0; i < FAIR_SHARE_SLOTS; i++) {
		uint32_t asked = s->asked[i] * USUAL_PARTS;

		s->usual[i] = s->limit == UINT64_MAX
		    ? asked
		    : s->usual[i] - s->usual[i] / USUAL_PARTS + s->asked[i];
	}
}

/* A sender alone takes nothing from others, and of its own the kernel drops no more than we would. */
static bool
has_company(const struct fair_share *s, uint64_t now_us)
{
	return now_us < s->company_until_us;
}

/* True if more comes than can be taken. A buffer that was filled while the reader was away gets
 * emptier as soon as he is back: nobody need be limited for that. */
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
	memset(s->asked, 0, sizeof(s->asked));
	s->window_start_us = now_us;
	s->taken = 0;
	s->last_fill = s->fill;
	s->end_fill = fill_percent;
	s->fill = 0;
}

/* A buffer that is as good as full ends its window at once. */
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
	bool admitted = s->asked[slot] < s->limit;

	if (slot != s->last_slot && s->last_slot != NO_SLOT)
		s->company_until_us = s->window_start_us + FAIR_SHARE_COMPANY_US;
	s->last_slot = slot;
	s->asked[slot] += (uint32_t)n;
	if (admitted)
		s->taken += n;
	return admitted;
}
