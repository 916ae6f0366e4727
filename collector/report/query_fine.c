/*
 * Steps shorter than a window: tens of seconds of a minute. Part of query.h.
 *
 * A step's samples are the kept ones of its time. What its ports counted is the window's total, divided among the
 * window's steps as the counters say that are in the store; so steps add up to their window, and figures are
 * calibrated as those of windows are. Where a port's counters are too far apart to tell (coarse), its total is divided
 * among the steps by its samples. Such a total is as uncertain as these, so it counts as not known, and limits are
 * those of weights alone, which were scaled such that they add up to the window's.
 */
#include "collector/report/query_private.h"
#include "collector/store/schema.h"

#include <math.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Counters that are further apart than this do not tell what passed in a step of ten seconds. *assumed* */
#define FINE_APART_US 5000000u

struct fine_port {
	/* Of the window. */
	struct estimate_stratum side[EASE_OUT + 1];
	struct query_cut cut[EASE_OUT + 1];
	/* Of the samples that are kept of it: their weights, and these times lengths. */
	double kept_w[EASE_OUT + 1], kept_wb[EASE_OUT + 1];
	uint64_t expected, received, cut_numbers;
	struct query_reading first, last;
	struct query_reading step_end; /* of the step before */
	bool is_coarse; /* in the present step */
};

struct query_fine {
	uint64_t from_us, to_us; /* of the window that was read; 0, 0: none */
	bool is_reading;	 /* the window */
	struct fine_port *ports; /* in the order of the query's */
};

/* ---- the window ---- */

/* Ports of which nothing was counted have nothing to divide. */
static bool
has_total(const struct fine_port *kept)
{
	for (int d = EASE_IN; d <= EASE_OUT; d++)
		if (kept->side[d].pool_pkts > 0 || kept->side[d].pool_octets > 0 || kept->cut[d].pkts > 0 ||
		    kept->cut[d].octets > 0)
			return true;
	return false;
}

static void
keep_window(struct fine_port *kept, const struct query_port *port)
{
	memcpy(kept->side, port->side, sizeof(kept->side));
	memcpy(kept->cut, port->cut, sizeof(kept->cut));
	kept->expected = port->expected;
	kept->received = port->received;
	kept->cut_numbers = port->cut_numbers;
}

static int
add_kept(struct query *query, sqlite3_stmt *stmt)
{
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));
	int direction = sqlite3_column_int(stmt, 2);

	if (!port || (direction != EASE_IN && direction != EASE_OUT))
		return 0;
	query->fine->ports[port - query->ports].kept_w[direction] = sqlite3_column_double(stmt, 3);
	query->fine->ports[port - query->ports].kept_wb[direction] = sqlite3_column_double(stmt, 4);
	return 0;
}

static int
read_window(struct query *query, uint64_t from_us, uint64_t to_us)
{
	struct query_fine *fine = query->fine;
	int err;

	query_narrow(query, from_us, to_us);
	fine->is_reading = true;
	err = query_windows(query);
	fine->is_reading = false;
	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			fine->ports[i].kept_w[d] = fine->ports[i].kept_wb[d] = 0;
	if (err == 0)
		err = query_rows(query, "SELECT agent, if_index, direction, TOTAL(1.0 * mean_skip * stands_for),"
		    " TOTAL(1.0 * mean_skip * stands_for * frame_octets) FROM sample WHERE time_us >= :from AND"
		    " time_us < :to GROUP BY agent, if_index, direction", add_kept);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		struct fine_port *kept = &fine->ports[i];

		if (query_is_over_limit(query))
			return query_fail(query, -ETIMEDOUT, "the question takes too long: ask for longer steps");
		keep_window(kept, &query->ports[i]);
		if (!has_total(kept))
			continue;
		err = query_reading_at(query, &query->ports[i], from_us, &kept->first);
		if (err == 0)
			err = query_reading_at(query, &query->ports[i], to_us, &kept->last);
		kept->step_end = kept->first;
	}
	fine->from_us = from_us;
	fine->to_us = to_us;
	return err;
}

/* ---- a step ---- */

/* Part of what was counted between two readings that lies between two others; NAN: not known. */
static double
part_of(const struct fine_port *kept, const struct query_reading *from, const struct query_reading *to, int value)
{
	double all = kept->last.value[value] - kept->first.value[value], part = to->value[value] - from->value[value];

	if (!from->known || !to->known || from->discontinuity_us != to->discontinuity_us ||
	    kept->first.discontinuity_us != kept->last.discontinuity_us || !(all > 0) || !(part >= 0))
		return NAN;
	return fmin(1, part / all);
}

/* Of both directions, by estimate_unit; false: counters do not tell. */
static bool
find_parts(const struct fine_port *kept, const struct query_reading *from, const struct query_reading *to,
    double parts[EASE_OUT + 1][ESTIMATE_N_UNITS])
{
	for (int i = 0; i < QUERY_COUNTED_STALLED_PKTS; i++) {
		int d = i < QUERY_COUNTED_OUT_PKTS ? EASE_IN : EASE_OUT, u = i % QUERY_COUNTED_OUT_PKTS;
		double pool = u == ESTIMATE_PKTS ? kept->side[d].pool_pkts + kept->cut[d].pkts
						 : kept->side[d].pool_octets + kept->cut[d].octets;

		parts[d][u] = pool > 0 ? part_of(kept, from, to, i) : 0;
		if (isnan(parts[d][u]))
			return false;
	}
	return from->apart_us <= FINE_APART_US && to->apart_us <= FINE_APART_US;
}

/* What is left where neither counters nor samples tell. */
static void
divide_by_time(const struct query *query, double parts[EASE_OUT + 1][ESTIMATE_N_UNITS])
{
	double part = (double)(query->range.to_us - query->range.from_us) /
	    (double)(query->fine->to_us - query->fine->from_us);

	for (int d = EASE_IN; d <= EASE_OUT; d++)
		parts[d][ESTIMATE_PKTS] = parts[d][ESTIMATE_OCTETS] = part;
}

static int
set_step(struct query *query, struct query_port *port, struct fine_port *kept)
{
	const struct query_range *range = &query->range;
	const struct query_fine *fine = query->fine;
	double parts[EASE_OUT + 1][ESTIMATE_N_UNITS] = {{0}};
	struct query_reading from = range->from_us == fine->from_us ? kept->first : kept->step_end, to = kept->last;
	int err = range->to_us == fine->to_us ? 0 : query_reading_at(query, port, range->to_us, &to);

	if (err)
		return err;
	kept->step_end = to;
	kept->is_coarse = !find_parts(kept, &from, &to, parts);
	if (kept->is_coarse)
		divide_by_time(query, parts);
	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		port->side[d] = kept->side[d]; /* with the window's samples: query_fine_samples divides them */
		port->side[d].pool_pkts *= parts[d][ESTIMATE_PKTS];
		port->side[d].pool_octets *= parts[d][ESTIMATE_OCTETS];
		port->cut[d].pkts = kept->cut[d].pkts * parts[d][ESTIMATE_PKTS];
		port->cut[d].octets = kept->cut[d].octets * parts[d][ESTIMATE_OCTETS];
	}
	return 0;
}

/* The window's samples alone, and how they were lost: query_fine_samples divides them. */
static void
set_samples(struct query_port *port, struct fine_port *kept)
{
	memcpy(port->side, kept->side, sizeof(port->side));
	kept->is_coarse = false;
}

bool
query_is_fine(const struct query *query)
{
	return query->fine && !query->fine->is_reading;
}

int
query_fine_windows(struct query *query)
{
	const struct query_range step = query->range;
	struct query_fine *fine = query->fine;
	uint64_t from_us = store_window_start(step.from_us, STORE_WINDOW_US), to_us = from_us + STORE_WINDOW_US;
	int err = 0;

	if (to_us > query->asked.to_us)
		to_us = query->asked.to_us;
	if (fine->from_us != from_us || fine->to_us != to_us)
		err = read_window(query, from_us, to_us);
	query_narrow(query, step.from_us, step.to_us);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen && has_total(&fine->ports[i]))
			err = set_step(query, &query->ports[i], &fine->ports[i]);
		else
			set_samples(&query->ports[i], &fine->ports[i]);
	return err;
}

/* ---- samples ---- */

static double
ratio(double of, double to)
{
	return to > 0 ? of / to : 0;
}

/* What makes the weights of a coarse port's samples add up to its window's totals, by estimate_unit; 0: there are
 * none, or no total. */
struct scale {
	double by[ESTIMATE_N_UNITS];
};

static struct scale
scale_of(const struct query *query, const struct fine_port *kept, int direction)
{
	const struct estimate_stratum *side = &kept->side[direction];
	double arrived = 1 - side->lost;

	if (!kept->is_coarse || !(side->pool_pkts > 0) || !(side->pool_octets > 0) ||
	    query->samples_since_us >= query->range.to_us)
		return (struct scale){{0, 0}};
	return (struct scale){{ratio(side->pool_pkts, kept->kept_w[direction] - side->beside[ESTIMATE_PKTS]) * arrived,
	    ratio(side->pool_octets, kept->kept_wb[direction] - side->beside[ESTIMATE_OCTETS]) * arrived}};
}

static void
scale_sums(struct estimate_sums *sums, const struct scale *scale)
{
	double pkts = scale->by[ESTIMATE_PKTS], octets = scale->by[ESTIMATE_OCTETS];

	sums->w *= pkts;
	sums->w2 *= pkts * pkts;
	sums->wb *= octets;
	sums->wb2 *= octets;
	sums->w2b2 *= octets * octets;
	sums->same.pkts *= pkts * pkts;
	sums->any.pkts *= pkts * pkts;
	sums->same.octets *= octets * octets;
	sums->any.octets *= octets * octets;
}

static void
divide_by_samples(const struct query *query, struct query_port *port, const struct fine_port *kept)
{
	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		struct scale scale = scale_of(query, kept, d);

		if (scale.by[ESTIMATE_PKTS] == 0)
			continue;
		port->is_coarse = true;
		scale_sums(&port->side[d].all, &scale);
		port->side[d].w_max *= scale.by[ESTIMATE_PKTS];
		port->side[d].pool_pkts = port->side[d].pool_octets = 0; /* not known */
	}
}

/* Numbers of a window count for its steps in proportion to the samples that these have. */
static void
divide_numbers(struct query_port *port, const struct fine_port *kept)
{
	double part = ratio(port->side[EASE_IN].all.w + port->side[EASE_OUT].all.w,
	    kept->kept_w[EASE_IN] + kept->kept_w[EASE_OUT]);

	port->received = (uint64_t)llround((double)kept->received * part);
	port->expected = (uint64_t)llround((double)kept->expected * part);
	port->cut_numbers = (uint64_t)llround((double)kept->cut_numbers * part);
}

void
query_fine_samples(struct query *query, struct query_key *keys, size_t n)
{
	struct query_fine *fine = query->fine;

	for (size_t i = 0; i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];
		const struct fine_port *kept = &fine->ports[i];

		divide_numbers(port, kept);
		divide_by_samples(query, port, kept);
	}
	for (size_t k = 0; k < n; k++) {
		struct scale scale = scale_of(query, &fine->ports[keys[k].port - query->ports],
		    keys[k].port->agent->listed);

		if (scale.by[ESTIMATE_PKTS] > 0)
			scale_sums(&keys[k].sums, &scale);
	}
}

/* ---- begin and end ---- */

int
query_begin_fine(struct query *query)
{
	query_end_fine(query);
	query->fine = calloc(1, sizeof(*query->fine));
	if (query->fine)
		query->fine->ports = calloc(query->n_ports + 1, sizeof(*query->fine->ports));
	if (query->fine && query->fine->ports)
		return 0;
	query_end_fine(query);
	return query_fail(query, -ENOMEM, "no memory");
}

void
query_end_fine(struct query *query)
{
	if (query->fine)
		free(query->fine->ports);
	free(query->fine);
	query->fine = NULL;
}
