#include "collector/window/port_pools.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* More samples than this are missing by chance in one of 160 intervals. *assumed* */
#define CHANCE_DEVIATIONS 2.5

void
port_pools_begin_anew(struct port_pools *p, uint64_t time_us, uint64_t pool)
{
	*p = (struct port_pools){
	    .is_counter = p->is_counter,
	    .is_counted = pool != EASE_COUNT_UNKNOWN,
	    .base_us = time_us,
	    .base_pool = pool,
	};
}

static void
drop_first(struct port_pools *p, unsigned n)
{
	assert(n <= p->n);
	memmove(p->at, p->at + n, (p->n - n) * sizeof(*p->at));
	p->n = (uint8_t)(p->n - n);
	p->n_fixed = (uint8_t)(p->n_fixed - (p->n_fixed < n ? p->n_fixed : n));
}

static double
value_between(double part, double a, double b)
{
	return a + (b - a) * part;
}

static struct port_pools_point
point_between(const struct port_pools_point *a, const struct port_pools_point *b, uint32_t us)
{
	double part = b->us > a->us ? ((double)us - a->us) / ((double)b->us - a->us) : 1;

	return (struct port_pools_point){us, (float)value_between(part, a->pool, b->pool),
	    (float)value_between(part, a->pkts, b->pkts), (float)value_between(part, a->octets, b->octets),
	    (float)value_between(part, a->lost_pkts, b->lost_pkts)};
}

static void
push_point(struct port_pools *p, struct port_pools_point point)
{
	if (p->n == PORT_POOLS_POINTS)
		drop_first(p, 1);
	assert(p->n < PORT_POOLS_POINTS);
	p->at[p->n++] = point;
}

/* The end of a point's minute, since the base. */
static uint32_t
minute_end(const struct port_pools *p, uint32_t us)
{
	return us + (uint32_t)(STORE_WINDOW_US - (p->base_us + us) % STORE_WINDOW_US);
}

/* In place of the last point before a snapshot or the end of a minute come the sums there and, where there were minutes
 * without a sample, those at the beginning of this one. */
static void
settle_points(struct port_pools *p)
{
	struct port_pools_point last, next;
	uint32_t start_us;

	if (!p->is_cut)
		return;
	assert(p->n >= 2);
	last = p->at[p->n - 2];
	next = p->at[p->n - 1];
	start_us = minute_end(p, next.us) - (uint32_t)STORE_WINDOW_US;
	p->at[p->n - 2] = point_between(&last, &next, p->end_us);
	if (minute_end(p, next.us) >= STORE_WINDOW_US && start_us > p->end_us) {
		p->at[p->n - 1] = point_between(&last, &next, start_us);
		push_point(p, next);
	}
	p->n_fixed = (uint8_t)(p->n - 1);
	p->is_cut = false;
}

void
port_pools_append(struct port_pools *p, const struct port_pools_point *point)
{
	settle_points(p);
	if (p->n == 0)
		p->n_fixed = 1;
	else
		p->is_broken |= point->us - p->at[p->n - 1].us > PORT_POOLS_BREAK_US;
	if (!p->is_begun && p->n > p->n_fixed)
		p->end_us = minute_end(p, p->at[p->n - 1].us);
	p->is_cut = p->is_begun || (p->n > p->n_fixed && point->us >= p->end_us);
	p->is_begun = false;
	if (p->n > p->n_fixed && !p->is_cut)
		p->at[p->n - 1] = *point;
	else
		push_point(p, *point);
	if (!p->is_cut)
		p->end_us = minute_end(p, point->us);
	else if (p->end_us > point->us)
		p->end_us = point->us;
	assert(p->n_fixed <= p->n);
}

/* From the first point on, so that sums stay small: they are told in 24 bits. */
static void
port_pools_set_base(struct port_pools *p)
{
	struct port_pools_point base = p->at[0];

	assert(p->n > 0);
	for (unsigned i = 0; i < p->n; i++) {
		p->at[i].us -= base.us;
		p->at[i].pool -= base.pool;
		p->at[i].pkts -= base.pkts;
		p->at[i].octets -= base.octets;
		p->at[i].lost_pkts -= base.lost_pkts;
	}
	p->base_us += base.us;
	p->base_pool += p->is_counted ? (uint64_t)base.pool : 0;
}

void
port_pools_begin_at(struct port_pools *p, uint64_t time_us)
{
	unsigned before = 0;

	settle_points(p);
	while (before < p->n && p->base_us + p->at[before].us <= time_us)
		before++;
	if (before > 1)
		drop_first(p, before - 1);
	if (before == 0 || p->n > 1)
		return;
	port_pools_set_base(p);
	p->n_fixed = p->n;
	p->is_begun = true;
	p->is_broken = false;
	p->end_us = time_us - p->base_us < UINT32_MAX ? (uint32_t)(time_us - p->base_us) : UINT32_MAX;
}

/* Points in a row from one snapshot to the other: packets and octets since the first, and which of them passed while
 * samples came. */
struct line {
	unsigned n;
	struct line_point {
		double us, pkts, octets, came_pkts, came_octets;
	} at[PORT_POOLS_POINTS + 2];
	double mean; /* octets of a packet, over all of it */
};

/* What passed since the point before: as the samples of that stretch, those before them that were lost, and their octets
 * say. The lost ones' frames were as long as all. */
static void
draw_to(struct line *line, double us, double pool, struct port_pools_point stretch)
{
	struct line_point to = {0};
	double rise, came;

	assert(line->n < sizeof(line->at) / sizeof(line->at[0]));
	if (line->n > 0)
		to = line->at[line->n - 1];
	rise = pool - to.pkts;
	came = stretch.lost_pkts > 0 ? rise * stretch.pkts / (stretch.pkts + stretch.lost_pkts) : rise;
	to.us = us;
	to.pkts = pool;
	to.came_pkts += came;
	to.came_octets += came * (stretch.pkts > 0 ? stretch.octets / stretch.pkts : line->mean);
	to.octets = to.came_octets + (to.pkts - to.came_pkts) * line->mean;
	line->at[line->n++] = to;
}

/* The packets that passed in this time at that rate, and that no sample shows: of one sample at the most. */
static double
unseen_pkts(const struct port_pools *p, double rate, double us)
{
	return fmin(rate * fmax(0, us), p->weight);
}

/* The rise of the pool at the first snapshot, whose time is from_us after the base. Where the pool is not that of the
 * snapshots, it is taken from the samples around, or else from the mean rate. */
static double
rise_at(const struct port_pools *p, struct port_pools_end from, double from_us, unsigned first, unsigned end)
{
	const struct port_pools_point *at = p->at;

	if (p->is_counter && p->is_counted)
		return (double)(int64_t)(from.pool - p->base_pool);
	if (first > 0)
		return point_between(&at[first - 1], &at[first], (uint32_t)from_us).pool;
	return at[0].pool -
	    unseen_pkts(p, (at[end - 1].pool - at[0].pool) / ((double)at[end - 1].us - at[0].us), at[0].us - from_us);
}

static void
draw_line(const struct port_pools *p, struct port_pools_end from, struct port_pools_end to, struct line *line)
{
	const double from_us = (double)(int64_t)(from.time_us - p->base_us);
	const double to_us = (double)(int64_t)(to.time_us - p->base_us);
	bool is_same = p->is_counter && p->is_counted;
	double begin, rise, least = is_same ? (double)(int64_t)(from.pool - p->base_pool) : 0;
	double most = is_same ? (double)(int64_t)(to.pool - p->base_pool) : 0;
	unsigned first = 0, end = 0, base;

	for (; end < p->n && p->at[end].us <= to_us && (!is_same || p->at[end].pool <= most); end++)
		first += p->at[end].us <= from_us || (is_same && p->at[end].pool < least);
	if (first == end || (!is_same && end < 2))
		return;
	base = first > 0 ? first - 1 : 0;
	if (p->at[end - 1].pkts > p->at[base].pkts)
		line->mean = (p->at[end - 1].octets - p->at[base].octets) / (p->at[end - 1].pkts - p->at[base].pkts);
	begin = rise_at(p, from, from_us, first, end);
	draw_to(line, 0, 0, (struct port_pools_point){0});
	for (unsigned i = first; i < end; i++) {
		const struct port_pools_point *a = &p->at[i > 0 ? i - 1 : 0], *b = &p->at[i];

		draw_to(line, b->us - from_us, b->pool - begin, (struct port_pools_point){.pkts = b->pkts - a->pkts,
		    .octets = b->octets - a->octets, .lost_pkts = b->lost_pkts - a->lost_pkts});
	}
	rise = line->at[line->n - 1].pkts;
	if (is_same)
		rise = most - begin;
	else if (end < p->n)
		rise = point_between(&p->at[end - 1], &p->at[end], (uint32_t)to_us).pool - begin;
	else
		rise += unseen_pkts(p, rise / line->at[line->n - 1].us, to_us - from_us - line->at[line->n - 1].us);
	draw_to(line, to_us - from_us, rise, (struct port_pools_point){0});
}

static double
port_pools_part_of(double part, double all)
{
	return all > 0 ? fmin(1, fmax(0, part / all)) : -1;
}

struct port_pools_part
port_pools_part(const struct port_pools *p, struct port_pools_end from, struct port_pools_end to, uint64_t at_us)
{
	double us = (double)(at_us - from.time_us), part;
	struct line_point a, b, all;
	struct line line = {.n = 0};
	unsigned i = 1;

	draw_line(p, from, to, &line);
	if (line.n < 3 || !(line.at[line.n - 1].pkts > 0))
		return (struct port_pools_part){-1, -1, 0, 0};
	while (i + 1 < line.n && line.at[i].us < us)
		i++;
	a = line.at[i - 1];
	b = line.at[i];
	all = line.at[line.n - 1];
	part = us >= b.us ? 1 : (us - a.us) / (b.us - a.us);
	return (struct port_pools_part){port_pools_part_of(value_between(part, a.pkts, b.pkts), all.pkts),
	    port_pools_part_of(value_between(part, a.octets, b.octets), all.octets),
	    value_between(part, a.came_pkts, b.came_pkts) / all.pkts, value_between(part, a.came_octets, b.came_octets) / all.pkts};
}

double
port_pools_due(const struct port_pools *p, uint64_t before_pkts, uint64_t pkts)
{
	double came, due;

	if (p->n == 0 || !(p->weight > 0) || pkts == EASE_COUNT_UNKNOWN || before_pkts == EASE_COUNT_UNKNOWN)
		return 0;
	if (p->is_counter && p->is_counted)
		return ((double)(int64_t)(pkts - p->base_pool) - p->at[p->n - 1].pool) / p->weight;
	came = (p->at[p->n - 1].pkts - p->at[0].pkts) / p->weight;
	due = (double)(int64_t)(pkts - before_pkts) / p->weight - came;
	return due > CHANCE_DEVIATIONS * sqrt(came) ? due : 0;
}
