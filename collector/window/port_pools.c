#include "collector/window/port_pools.h"

#include <math.h>
#include <string.h>

static void
drop_first(struct port_pools *p, uint32_t n)
{
	memmove(p->at, p->at + n, (p->n - n) * sizeof(*p->at));
	p->n -= n;
	p->n_fixed -= p->n_fixed < n ? p->n_fixed : n;
}

/* The first point of a minute stays, the next one is replaced until the minute ends. */
void
port_pools_append(struct port_pools *p, uint64_t time_us, uint64_t pool)
{
	if (p->n > 0 && time_us <= p->at[p->n - 1].time_us)
		return;
	if (p->n > 0 && pool < p->at[p->n - 1].pool) /* the pool began anew */
		p->n = p->n_fixed = 0;
	if (p->n == PORT_POOLS_POINTS)
		drop_first(p, 2);
	p->at[p->n++] = (struct port_pools_point){time_us, pool};
	if (time_us >= p->minute_end_us || p->n == 1) {
		p->n_fixed = p->n;
		p->minute_end_us = time_us - time_us % STORE_WINDOW_US + STORE_WINDOW_US;
	}
}

void
port_pools_begin_at(struct port_pools *p, uint64_t time_us)
{
	uint32_t before = 0;

	while (before < p->n && p->at[before].time_us <= time_us)
		before++;
	if (before > 1)
		drop_first(p, before - 1);
	if (before == 0 || p->n > 1)
		return;
	p->n_fixed = p->n;
	p->minute_end_us = 0; /* the next one stays, too */
}

/* Points in a row from one snapshot to the other, in packets since the first. */
struct line {
	unsigned n;
	struct {
		double us, pkts;
	} at[PORT_POOLS_POINTS + 2];
};

static void
draw_to(struct line *line, double us, double pkts)
{
	line->at[line->n].us = us;
	line->at[line->n++].pkts = pkts;
}

static double
between(double us, double us0, double pkts0, double us1, double pkts1)
{
	return us1 > us0 ? pkts0 + (pkts1 - pkts0) * (us - us0) / (us1 - us0) : pkts0;
}

/* The pool is that of the snapshots, so all are points of one count. */
static void
draw_counter(const struct port_pools *p, const struct port_pools_point *from,
    const struct port_pools_point *to, struct line *line)
{
	draw_to(line, 0, 0);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->at[i].time_us > from->time_us && p->at[i].time_us < to->time_us &&
		    p->at[i].pool >= from->pool && p->at[i].pool <= to->pool)
			draw_to(line, (double)(p->at[i].time_us - from->time_us),
			    (double)(p->at[i].pool - from->pool));
	draw_to(line, (double)(to->time_us - from->time_us), (double)(to->pool - from->pool));
}

/* The pool began elsewhere than the counters, so only its rise tells. At the first snapshot it is
 * taken from the samples around it, or else, as at the second one, from the mean rate. */
static void
draw_pool(const struct port_pools *p, const struct port_pools_point *from,
    const struct port_pools_point *to, struct line *line)
{
	const double end_us = (double)(to->time_us - from->time_us);
	double at_us[PORT_POOLS_POINTS], pkts[PORT_POOLS_POINTS], begin, rate;
	uint32_t first = 0, n = 0;

	for (uint32_t i = 0; i < p->n && p->at[i].time_us < to->time_us; i++, n++) {
		at_us[i] = (double)(int64_t)(p->at[i].time_us - from->time_us);
		pkts[i] = (double)(p->at[i].pool - p->at[0].pool);
		first += at_us[i] <= 0;
	}
	if (n < 2 || first == n)
		return;
	rate = (pkts[n - 1] - pkts[0]) / (at_us[n - 1] - at_us[0]);
	begin = first > 0 ? between(0, at_us[first - 1], pkts[first - 1], at_us[first], pkts[first])
			  : pkts[0] - rate * at_us[0];
	draw_to(line, 0, 0);
	for (uint32_t i = first; i < n; i++)
		draw_to(line, at_us[i], pkts[i] - begin);
	rate = (pkts[n - 1] - begin) / at_us[n - 1];
	draw_to(line, end_us, pkts[n - 1] - begin + rate * (end_us - at_us[n - 1]));
}

double
port_pools_part(const struct port_pools *p, const struct port_pools_point *from,
    const struct port_pools_point *to, uint64_t at_us)
{
	double us = (double)(at_us - from->time_us);
	struct line line = {.n = 0};
	double pkts = 0, all;
	unsigned i = 1;

	(p->is_counter ? draw_counter : draw_pool)(p, from, to, &line);
	all = line.n > 0 ? line.at[line.n - 1].pkts : 0;
	if (!(all > 0) || line.n < 3)
		return -1;
	while (i + 1 < line.n && line.at[i].us < us)
		i++;
	pkts = between(us, line.at[i - 1].us, line.at[i - 1].pkts, line.at[i].us, line.at[i].pkts);
	return fmin(1, fmax(0, pkts / all));
}
