#include "collector/window/sample_gaps.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The largest values that an entry has bits for. A gap of more numbers or a longer one is cut all the
 * same, but only so much of it can be given back. */
enum { GAP_CUT_MAX = (1 << 26) - 1 };
/* Until what counters named is lost; a notification waits a second at most for more samples. *assumed* */
enum { NAMED_WAIT_US = 5000000, SILENT_LEAST_US = 10000000 /* shorter ones lie where they were counted anyway */ };
#define GAP_SPAN_MAX_US ((UINT64_C(1) << 38) - 1)

void
sample_gaps_begin(struct sample_gaps *g, uint32_t boot, uint64_t newest)
{
	g->boot = boot;
	g->newest = newest;
	memset(g->open, 0, sizeof(g->open));
	g->named.number = 0;
	for (int d = 0; d < SAMPLE_GAPS_N_SIDES; d++)
		g->sides[d].missing = 0;
}

static void
set_point(struct sample_gaps_side *side, uint32_t boot, uint64_t number, uint64_t pool_pkts, uint64_t time_us)
{
	side->known = true;
	side->boot = boot;
	side->missing = 0;
	side->number = side->next_number = number;
	side->pool_pkts = pool_pkts;
	side->time_us = side->next_time_us = time_us;
	side->cut_share = 0;
}

void
sample_gaps_resume(
    struct sample_gaps *g, uint32_t boot, uint64_t newest, const struct ease_snapshot *counters)
{
	sample_gaps_begin(g, boot, newest);
	set_point(&g->sides[EASE_IN - 1], boot, newest, counters->pool_in_pkts, counters->time_us);
	set_point(&g->sides[EASE_OUT - 1], boot, newest, counters->pool_out_pkts, counters->time_us);
}

/* Returns how many of so many missing numbers in a row are cut: all, or none if they are bridged. */
static uint32_t
cut_of(const struct sample_gaps *g, uint64_t missing)
{
	if (missing <= g->together)
		return 0;
	return missing < UINT32_MAX ? (uint32_t)missing : UINT32_MAX;
}

uint64_t
sample_gaps_newest_us(const struct sample_gaps *g)
{
	uint64_t newest_us = 0;

	for (int d = 0; d < SAMPLE_GAPS_N_SIDES; d++) {
		const struct sample_gaps_side *side = &g->sides[d];
		uint64_t time_us = side->next_number > side->number ? side->next_time_us : side->time_us;

		if (side->sampled && time_us > newest_us)
			newest_us = time_us;
	}
	return newest_us;
}

static void
set_times(struct sample_gap *gap, uint64_t from_us, uint64_t to_us)
{
	assert(to_us >= from_us);
	gap->to_us = to_us;
	gap->span_us = to_us - from_us < GAP_SPAN_MAX_US ? to_us - from_us : GAP_SPAN_MAX_US;
}

static uint64_t
from_us_of(const struct sample_gap *gap)
{
	return gap->to_us - gap->span_us;
}

static void
keep_gap(struct sample_gaps *g, const struct sample_gap *gap)
{
	assert(gap->cut > 0 && g->next_open < SAMPLE_GAPS_OPEN);
	g->open[g->next_open] = *gap;
	g->next_open = (g->next_open + 1) % SAMPLE_GAPS_OPEN;
}

static void
remember_gap(struct sample_gaps *g, uint64_t from, uint32_t cut, uint64_t from_us, uint64_t to_us)
{
	struct sample_gap gap = {.from = from, .cut = cut < GAP_CUT_MAX ? cut : GAP_CUT_MAX};

	set_times(&gap, from_us, to_us);
	keep_gap(g, &gap);
}

static struct sample_gap *
newest_gap(struct sample_gaps *g)
{
	return &g->open[(g->next_open + SAMPLE_GAPS_OPEN - 1) % SAMPLE_GAPS_OPEN];
}

/* What is missing right before this sample, of both directions. goes_on: of a gap that is cut. */
static void
cut_numbers(struct sample_gaps *g, uint64_t number, uint64_t time_us, bool goes_on, sample_gaps_sink *sink, void *arg)
{
	uint64_t missing = number - g->newest - 1;
	uint32_t cut = goes_on && missing < UINT32_MAX ? (uint32_t)missing : cut_of(g, missing);
	uint64_t from_us = time_us;

	assert(number > g->newest);
	if (cut == 0)
		return;
	for (int d = 0; d < SAMPLE_GAPS_N_SIDES; d++) {
		struct sample_gaps_side *side = &g->sides[d];

		side->missing = cut < UINT32_MAX - side->missing ? side->missing + cut : UINT32_MAX;
		if (side->known && side->time_us < from_us)
			from_us = side->time_us;
	}
	remember_gap(g, g->newest, cut, from_us, time_us);
	sink(arg, &(struct sample_gaps_cut){.from_us = time_us, .to_us = time_us, .numbers = cut});
}

/* The part of the numbers between two points that is missing. */
static double
missing_share(const struct sample_gaps_side *from, uint64_t number)
{
	double share = (double)from->missing / (double)(number - from->number);

	assert(number > from->number);
	return share < 1 ? share : 1;
}

/* The frames of a direction that passed while `share` of its numbers were missing. */
static void
cut_frames(struct sample_gaps *g, uint8_t direction, double share, const struct sample_gaps_side *to,
    sample_gaps_sink *sink, void *arg)
{
	const struct sample_gaps_side *from = &g->sides[direction - 1];
	struct sample_gaps_cut cut = {.direction = direction, .from_us = from->time_us, .to_us = to->time_us};

	if (!from->known || to->time_us < from->time_us || to->pool_pkts == EASE_COUNT_UNKNOWN)
		return;
	if (to->pool_pkts < from->pool_pkts) { /* it may have begun anew with the agent, while the totals go on */
		cut.is_share = true;
		cut.share = share;
		if (from->boot != to->boot)
			sink(arg, &cut);
		return;
	}
	cut.pkts = (int64_t)((double)(to->pool_pkts - from->pool_pkts) * share + 0.5);
	newest_gap(g)->pkts[direction - 1] += (float)cut.pkts;
	sink(arg, &cut);
}

/* A direction's next point: cuts what is missing since its last one. */
static void
move_point(struct sample_gaps *g, uint8_t direction, const struct sample_gaps_side *to, sample_gaps_sink *sink, void *arg)
{
	struct sample_gaps_side *from = &g->sides[direction - 1];

	if (from->known && from->boot != to->boot)
		cut_frames(g, direction, 1, to, sink, arg);
	else if (from->missing > 0 && to->number > from->number)
		cut_frames(g, direction, missing_share(from, to->number), to, sink, arg);
	set_point(from, to->boot, to->number, to->pool_pkts, to->time_us);
}

/* What is missing from the point of loose samples to the newest of them, which may be the number before `until`. */
static void
cut_share(struct sample_gaps *g, uint8_t direction, uint64_t until, sample_gaps_sink *sink, void *arg)
{
	struct sample_gaps_side *side = &g->sides[direction - 1];
	double more = side->missing > 0 ? missing_share(side, until - 1) - side->cut_share : 0;

	if (fabs(more) < 1e-9)
		return;
	side->cut_share += more;
	sink(arg, &(struct sample_gaps_cut){.direction = direction, .from_us = side->time_us, .to_us = side->next_time_us,
	    .share = more, .is_share = true});
}

/* Samples of one notification have one time: the point stays before all of them. With the first it is taken that as many
 * come as in the one before. */
static void
move_loosely(struct sample_gaps *g, uint8_t direction, const struct sample_gaps_side *to, unsigned expected,
    sample_gaps_sink *sink, void *arg)
{
	struct sample_gaps_side *from = &g->sides[direction - 1];
	bool is_first = from->next_number == from->number;

	if (!from->known || from->boot != to->boot || to->number <= from->number || to->time_us < from->time_us) {
		set_point(from, to->boot, to->number, to->pool_pkts, to->time_us);
		return;
	}
	from->next_number = to->number;
	from->next_time_us = to->time_us;
	if (is_first)
		cut_share(g, direction, to->number + expected, sink, arg);
}

/* A notification is over: its last samples are the points from then on. */
static void
end_notification(struct sample_gaps *g, sample_gaps_sink *sink, void *arg)
{
	for (uint8_t direction = EASE_IN; direction <= EASE_OUT; direction++) {
		struct sample_gaps_side *side = &g->sides[direction - 1];

		if (side->next_number <= side->number)
			continue;
		cut_share(g, direction, side->next_number + 1, sink, arg);
		set_point(side, side->boot, side->next_number, side->pool_pkts, side->next_time_us);
	}
}

/* In whole frames, up to 2^24; of more it is as exact as a float. */
static float
part_of_gap(const struct sample_gap *gap, int side, uint32_t numbers)
{
	return (float)floor((double)gap->pkts[side] * numbers / gap->cut);
}

/* Gives the frames and numbers of a gap back, less what is still cut of it. */
static void
gaps_give_back(const struct sample_gap *gap, uint32_t still, sample_gaps_sink *sink, void *arg)
{
	assert(still < gap->cut);
	for (int d = 0; d < SAMPLE_GAPS_N_SIDES; d++) {
		struct sample_gaps_cut back = {.direction = (uint8_t)(d + 1),
		    .from_us = from_us_of(gap), .to_us = gap->to_us};

		back.pkts = (int64_t)(part_of_gap(gap, d, still) - gap->pkts[d]);
		if (back.pkts != 0)
			sink(arg, &back);
	}
	sink(arg, &(struct sample_gaps_cut){.from_us = gap->to_us, .to_us = gap->to_us,
		      .numbers = (int64_t)still - gap->cut});
}

/* A number that was missing arrived: the gap becomes two, which may be short enough to be bridged. */
static void
split_gap(struct sample_gaps *g, uint64_t number, uint64_t time_us, sample_gaps_sink *sink, void *arg)
{
	for (int i = 0; i < SAMPLE_GAPS_OPEN; i++) {
		const struct sample_gap whole = g->open[i];
		struct sample_gap before = whole, after = whole;

		if (number <= whole.from || number > whole.from + whole.cut)
			continue;
		if (time_us < from_us_of(&whole) || time_us > whole.to_us)
			time_us = whole.to_us;
		before.cut = cut_of(g, number - whole.from - 1);
		after.cut = cut_of(g, whole.from + whole.cut - number);
		after.from = number;
		set_times(&before, from_us_of(&whole), time_us);
		set_times(&after, time_us, whole.to_us);
		for (int d = 0; d < SAMPLE_GAPS_N_SIDES; d++) {
			before.pkts[d] = part_of_gap(&whole, d, before.cut);
			after.pkts[d] = part_of_gap(&whole, d, after.cut);
		}
		gaps_give_back(&whole, before.cut + after.cut, sink, arg);
		g->open[i] = before.cut > 0 ? before : after;
		if (before.cut > 0 && after.cut > 0)
			keep_gap(g, &after);
		return;
	}
}

/* What counters named and did not come is lost. Returns false if it is bridged. */
static bool
cut_named(struct sample_gaps *g, sample_gaps_sink *sink, void *arg)
{
	const struct sample_gaps_named named = g->named;

	g->named.number = 0;
	if (named.number <= g->newest || cut_of(g, named.number - g->newest) == 0 ||
	    named.time_us < sample_gaps_newest_us(g) + SILENT_LEAST_US)
		return false;
	cut_numbers(g, named.number + 1, named.time_us, false, sink, arg);
	for (uint8_t direction = EASE_IN; direction <= EASE_OUT; direction++) {
		struct sample_gaps_side point;

		/* Frames behind the last of them are the next sample's, which is not missing. */
		set_point(&point, g->boot, named.number + 1, named.pool_pkts[direction - 1], named.time_us);
		move_point(g, direction, &point, sink, arg);
		g->sides[direction - 1].number = g->sides[direction - 1].next_number = named.number;
	}
	g->newest = named.number;
	return true;
}

static void
begin_boot(struct sample_gaps *g, uint32_t boot, uint64_t first)
{
	if (boot != g->boot)
		sample_gaps_begin(g, boot, first - 1);
}

void
sample_gaps_add_sample(struct sample_gaps *g, uint32_t boot, uint64_t number, uint64_t first,
    bool loose, uint64_t notification, const struct ease_sample *s, sample_gaps_sink *sink,
    void *arg)
{
	struct sample_gaps_side point;
	unsigned before = g->in_notification > 0 ? g->in_notification : 1;
	bool goes_on = false;

	assert(s->direction == EASE_IN || s->direction == EASE_OUT);
	if (boot < g->boot)
		return; /* what is missing of an older boot is cut already */
	begin_boot(g, boot, first);
	if (loose && notification != g->notification)
		end_notification(g, sink, arg);
	/* Notes how many samples of the port come together. */
	if (notification != g->notification)
		g->in_notification = 0;
	g->notification = notification;
	if (g->in_notification < SAMPLE_GAPS_BRIDGED_MAX)
		g->in_notification++;
	if (g->in_notification > g->together)
		g->together = g->in_notification;
	if (number <= g->newest) {
		split_gap(g, number, s->time_us, sink, arg);
		return;
	}
	if (number > g->named.number && s->time_us >= g->named.time_us)
		goes_on = cut_named(g, sink, arg);
	cut_numbers(g, number, s->time_us, goes_on, sink, arg);
	set_point(&point, boot, number, s->pool_pkts, s->time_us);
	if (loose)
		move_loosely(g, s->direction, &point, before, sink, arg);
	else
		move_point(g, s->direction, &point, sink, arg);
	g->sides[s->direction - 1].sampled = true;
	g->newest = number;
}

void
sample_gaps_add_snapshot(struct sample_gaps *g, uint32_t boot, uint64_t first, uint64_t named,
    const struct ease_snapshot *s, sample_gaps_sink *sink, void *arg)
{
	if (boot < g->boot)
		return;
	begin_boot(g, boot, first);
	for (uint8_t direction = EASE_IN; direction <= EASE_OUT; direction++) {
		struct sample_gaps_side *side = &g->sides[direction - 1], point;

		if (side->known && side->boot == boot)
			continue; /* its samples tell more */
		set_point(&point, boot, g->newest,
		    direction == EASE_IN ? s->pool_in_pkts : s->pool_out_pkts, s->time_us);
		if (side->sampled)
			move_point(g, direction, &point, sink, arg);
		else
			set_point(side, boot, point.number, point.pool_pkts, point.time_us);
	}
	if (g->named.number > g->newest && s->time_us >= g->named.time_us + NAMED_WAIT_US)
		cut_named(g, sink, arg);
	if (g->named.number <= g->newest && named > g->newest)
		g->named = (struct sample_gaps_named){named, s->time_us, {s->pool_in_pkts, s->pool_out_pkts}};
}
