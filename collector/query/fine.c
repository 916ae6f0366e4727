/*
 * Steps shorter than a window: tens of seconds of a minute. Part of query.h.
 *
 * A step's samples are the kept ones of its time. What its ports counted is the window's total, divided among the
 * window's steps as the counters say that are in the store; so steps add up to their window, and figures are
 * calibrated as those of windows are. Where a port's counters are too far apart to tell (coarse), its total is divided
 * among the steps by its samples. Such a total is as uncertain as these, so it counts as not known, and limits are
 * those of weights alone, which were scaled such that they add up to the window's.
 */
#include "collector/query/dimension.h"
#include "collector/query/query_private.h"
#include "collector/store/schema.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counters that are further apart than this do not tell what passed in a step of ten seconds. *assumed* */
#define FINE_APART_US 5000000u

/* Between steps of a window, of which none is shorter than ten seconds, and its own. */
enum { FINE_ENDS = 7 };

/* What makes the weights of a coarse port's samples add up to its window's totals, by estimate_unit; 0: there are
 * none, or no total. */
struct scale {
	double by[ESTIMATE_N_UNITS];
};

struct fine_port {
	/* Of the window. */
	struct estimate_stratum side[EASE_OUT + 1];
	struct query_cut cut[EASE_OUT + 1];
	struct estimate_sums step[EASE_OUT + 1]; /* of the present step's samples */
	/* Of the samples that are kept of it: their weights, and these times lengths. */
	double kept_w[EASE_OUT + 1], kept_wb[EASE_OUT + 1];
	uint64_t expected, received, cut_numbers;
	struct query_reading ends[FINE_ENDS]; /* what the port had counted at each */
	bool is_apart;	/* in the present step: its counters do not tell, */
	bool has_gap;	/* samples are missing around it, */
	bool is_coarse; /* it is divided by samples, */
	struct scale scale[EASE_OUT + 1]; /* as its samples have it */
};

/* A kept sample. */
struct fine_sample {
	uint32_t port; /* in the query's */
	uint32_t octets;
	double weight;
	uint8_t direction, step; /* which of the window, */
	uint8_t window;		 /* which of those that were read at once */
	int16_t key;		 /* which of those followed it has, where lists count it; -1: none */
};

/* Of a minute, some 50 MB; if there are more, the question is refused. Each port is looked up once for all windows that are
 * read at once: so many that they have no more samples than FINE_AT_ONCE, but one at least. */
enum { FINE_SAMPLES_MAX = 2000000, FINE_AT_ONCE = 250000, FINE_WINDOWS = 60 };

struct query_fine {
	uint64_t from_us, to_us; /* of the window that was read; 0, 0: none */
	uint64_t step_us, ends_us[FINE_ENDS];
	size_t n_ends;
	bool has_samples; /* of the window: */
	const struct fine_sample *samples;
	size_t n_samples;
	/* Of the windows that were read at once, in their order, and where those of each begin. */
	struct fine_sample *read;
	size_t n_read, room, starts[FINE_WINDOWS + 1];
	uint64_t read_from_us;
	unsigned n_windows; /* 0: none was read */
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

/* In the order of time, in which counters are read. */
static int
read_ends(struct query *query, struct query_port *port, struct fine_port *kept)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < query->fine->n_ends; i++)
		err = query_reading_at(query, port, query->fine->ends_us[i], &kept->ends[i]);
	return err;
}

static int
read_window(struct query *query, uint64_t from_us, uint64_t to_us)
{
	struct query_fine *fine = query->fine;
	int err;

	query_narrow(query, from_us, to_us);
	/* The ends of the steps in this window. */
	fine->n_ends = 0;
	for (uint64_t at_us = from_us; at_us < to_us && fine->n_ends < FINE_ENDS - 1;
	     at_us = store_window_start(at_us, fine->step_us) + fine->step_us)
		fine->ends_us[fine->n_ends++] = at_us;
	fine->ends_us[fine->n_ends++] = to_us;
	err = query_sum_windows(query);
	fine->has_samples = false;
	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		struct fine_port *kept = &fine->ports[i];

		if (query_is_over_limit(query))
			return query_fail(query, -ETIMEDOUT, "the question takes too long: ask for longer steps");
		memcpy(kept->side, query->ports[i].side, sizeof(kept->side));
		memcpy(kept->cut, query->ports[i].cut, sizeof(kept->cut));
		kept->expected = query->ports[i].expected;
		kept->received = query->ports[i].received;
		kept->cut_numbers = query->ports[i].cut_numbers;
		if (!has_total(kept))
			continue;
		err = read_ends(query, &query->ports[i], kept);
	}
	fine->from_us = from_us;
	fine->to_us = to_us;
	return err;
}

/* ---- a step ---- */

/* Part of what was counted between two readings that lies between two others; NAN: not known. */
static double
fine_part_of(const struct query_reading *first, const struct query_reading *last, const struct query_reading *from,
    const struct query_reading *to, int value)
{
	double all = last->value[value] - first->value[value], part = to->value[value] - from->value[value];

	if (!from->known || !to->known || from->discontinuity_us != to->discontinuity_us ||
	    first->discontinuity_us != last->discontinuity_us || !(all > 0) || !(part >= 0))
		return NAN;
	return fmin(1, part / all);
}

/* Whether samples are missing for a part of the window, so that its steps differ by that. Frames that stood still are no
 * such: steps share them. */
static bool
has_gap(const struct fine_port *kept)
{
	const double little = 0.03;
	bool is_cut = false;

	for (int d = EASE_IN; d <= EASE_OUT; d++)
		is_cut |= kept->cut[d].pkts > little * (kept->side[d].pool_pkts + kept->cut[d].pkts);
	return is_cut && (kept->is_apart || kept->cut_numbers > 0 || kept->expected > kept->received);
}

/* Of both directions, by estimate_unit; false: counters do not tell. */
static bool
find_parts(const struct query_fine *fine, const struct fine_port *kept, const struct query_reading *from,
    const struct query_reading *to, double parts[EASE_OUT + 1][ESTIMATE_N_UNITS])
{
	for (int i = 0; i < QUERY_COUNTED_STALLED_PKTS; i++) {
		int d = i < QUERY_COUNTED_OUT_PKTS ? EASE_IN : EASE_OUT, u = i % QUERY_COUNTED_OUT_PKTS;
		double pool = u == ESTIMATE_PKTS ? kept->side[d].pool_pkts + kept->cut[d].pkts
						 : kept->side[d].pool_octets + kept->cut[d].octets;

		parts[d][u] = pool > 0 ? fine_part_of(kept->ends, &kept->ends[fine->n_ends - 1], from, to, i) : 0;
		if (isnan(parts[d][u]))
			return false;
	}
	return true;
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

static const struct query_reading *
end_at(const struct query_fine *fine, const struct fine_port *kept, uint64_t at_us)
{
	size_t i = 0;

	while (i < fine->n_ends - 1 && fine->ends_us[i] < at_us)
		i++;
	return &kept->ends[i];
}

static void
fine_set_step(const struct query *query, struct query_port *port, struct fine_port *kept)
{
	const struct query_fine *fine = query->fine;
	const struct query_reading *from = end_at(fine, kept, query->range.from_us), *to = end_at(fine, kept, query->range.to_us);
	double parts[EASE_OUT + 1][ESTIMATE_N_UNITS] = {{0}};
	bool is_told = find_parts(fine, kept, from, to, parts);

	kept->is_apart = !is_told || from->apart_us > FINE_APART_US || to->apart_us > FINE_APART_US;
	kept->has_gap = has_gap(kept);
	kept->is_coarse = kept->is_apart || kept->has_gap;
	if (!is_told || (kept->is_apart && !kept->has_gap))
		divide_by_time(query, parts);
	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		port->side[d] = kept->side[d]; /* with the window's samples: query_fine_keys divides them */
		port->side[d].pool_pkts *= parts[d][ESTIMATE_PKTS];
		port->side[d].pool_octets *= parts[d][ESTIMATE_OCTETS];
		port->cut[d].pkts = kept->cut[d].pkts * parts[d][ESTIMATE_PKTS];
		port->cut[d].octets = kept->cut[d].octets * parts[d][ESTIMATE_OCTETS];
	}
}

/* The window's samples alone, and how they were lost: query_fine_keys divides them. */
static void
set_samples(struct query_port *port, struct fine_port *kept)
{
	memcpy(port->side, kept->side, sizeof(port->side));
	kept->is_coarse = kept->is_apart = kept->has_gap = false;
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
			fine_set_step(query, &query->ports[i], &fine->ports[i]);
		else
			set_samples(&query->ports[i], &fine->ports[i]);
	return err;
}

/* ---- a window's samples, which are read once for all of its steps ---- */

static int
grow_samples(struct query *query)
{
	struct query_fine *fine = query->fine;
	size_t room = fine->room ? 2 * fine->room : 4096;
	struct fine_sample *samples;

	if (fine->n_read < fine->room)
		return 0;
	if (fine->n_read >= FINE_SAMPLES_MAX)
		return query_fail(query, -E2BIG, "a minute has more than %d samples: ask for longer steps or one switch",
		    FINE_SAMPLES_MAX);
	samples = realloc(fine->read, room * sizeof(*samples));
	if (!samples)
		return query_fail(query, -ENOMEM, "no memory");
	fine->read = samples;
	fine->room = room;
	return 0;
}

/* Which of those asked for it is; -1: none. */
static int16_t
find_asked(const struct report_options *options, const struct query_sample *sample)
{
	for (size_t i = 0; sample->has_key && i < options->n_only; i++)
		if (options->only[i].n_octets == sample->key.n_octets &&
		    memcmp(options->only[i].key1, sample->key.key1, 2 * QUERY_KEY_OCTETS) == 0)
			return (int16_t)i;
	return -1;
}

static int
fine_add_sample(struct query *query, const struct query_sample *sample, void *arg)
{
	struct query_fine *fine = query->fine;
	uint64_t into_us = sample->time_us - fine->read_from_us;
	int err = grow_samples(query);

	if (err)
		return err;
	fine->read[fine->n_read++] = (struct fine_sample){.port = (uint32_t)(sample->port - query->ports),
	    .direction = sample->direction, .window = (uint8_t)(into_us / STORE_WINDOW_US),
	    .step = (uint8_t)(into_us % STORE_WINDOW_US / fine->step_us), .key = find_asked(arg, sample),
	    .weight = sample->weight, .octets = sample->octets};
	return 0;
}

/* By their windows, otherwise in the order in which they came. */
static int
sort_samples(struct query *query)
{
	struct query_fine *fine = query->fine;
	struct fine_sample *sorted;
	size_t next[FINE_WINDOWS + 1] = {0};

	fine->starts[0] = 0;
	fine->starts[1] = fine->n_read;
	if (fine->n_windows == 1)
		return 0;
	sorted = calloc(fine->room + 1, sizeof(*sorted));
	if (!sorted)
		return query_fail(query, -ENOMEM, "no memory");
	for (size_t i = 0; i < fine->n_read; i++)
		next[fine->read[i].window + 1]++;
	for (unsigned w = 1; w <= fine->n_windows; w++)
		next[w] += next[w - 1];
	memcpy(fine->starts, next, sizeof(fine->starts));
	for (size_t i = 0; i < fine->n_read; i++)
		sorted[next[fine->read[i].window]++] = fine->read[i];
	free(fine->read);
	fine->read = sorted;
	return 0;
}

/* How many windows are read at once: an index of times tells it without reading samples. */
static int
find_windows(struct query *query)
{
	struct query_fine *fine = query->fine;
	sqlite3_stmt *stmt = query_prepare(query, "SELECT time_us FROM sample WHERE time_us >= ?1 ORDER BY time_us LIMIT 1 OFFSET ?2");
	uint64_t n = FINE_WINDOWS;
	int more;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)fine->from_us);
	sqlite3_bind_int64(stmt, 2, FINE_AT_ONCE);
	more = query_step(query, stmt);
	if (more == 1)
		n = (query_u64(stmt, 0) - fine->from_us) / STORE_WINDOW_US;
	sqlite3_finalize(stmt);
	fine->n_windows = (unsigned)(n < 1 ? 1 : n > FINE_WINDOWS ? FINE_WINDOWS : n);
	return more < 0 ? more : 0;
}

static int
read_at_once(struct query *query, const struct report_options *options, const struct dimension *dimension)
{
	const struct query_range step = query->range;
	struct query_fine *fine = query->fine;
	int err = find_windows(query);
	uint64_t to_us = fine->from_us + fine->n_windows * STORE_WINDOW_US;

	fine->read_from_us = fine->from_us;
	fine->n_read = 0;
	query->range = (struct query_range){fine->from_us, to_us < query->asked.to_us ? to_us : query->asked.to_us};
	if (err == 0)
		err = query_each_sample(query, dimension, fine_add_sample, (void *)(uintptr_t)options);
	query->range = step;
	if (err == 0)
		err = sort_samples(query);
	if (err)
		fine->n_windows = 0;
	return err;
}

static int
read_samples(struct query *query, const struct report_options *options, const struct dimension *dimension)
{
	struct query_fine *fine = query->fine;
	uint64_t window = (fine->from_us - fine->read_from_us) / STORE_WINDOW_US;
	int err = 0;

	if (fine->from_us < fine->read_from_us || window >= fine->n_windows) {
		err = read_at_once(query, options, dimension);
		window = 0;
	}
	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			fine->ports[i].kept_w[d] = fine->ports[i].kept_wb[d] = 0;
	fine->samples = err == 0 ? fine->read + fine->starts[window] : NULL;
	fine->n_samples = err == 0 ? fine->starts[window + 1] - fine->starts[window] : 0;
	for (size_t i = 0; i < fine->n_samples; i++) {
		const struct fine_sample *s = &fine->samples[i];

		fine->ports[s->port].kept_w[s->direction] += s->weight;
		fine->ports[s->port].kept_wb[s->direction] += s->weight * s->octets;
	}
	fine->has_samples = err == 0;
	return err;
}

static int
fine_compare_keys(const void *a, const void *b)
{
	const struct query_key *one = a, *other = b;

	return one->port != other->port ? (one->port > other->port) - (one->port < other->port)
					: memcmp(one->key1, other->key1, 2 * QUERY_KEY_OCTETS);
}

/* Adds up those of the same key and port. */
static size_t
unite_keys(struct query_key *keys, size_t n)
{
	size_t kept = 0;

	qsort(keys, n, sizeof(*keys), fine_compare_keys);
	for (size_t i = 0; i < n; i++)
		if (kept > 0 && fine_compare_keys(&keys[kept - 1], &keys[i]) == 0)
			estimate_add_sums(&keys[kept - 1].sums, &keys[i].sums);
		else
			keys[kept++] = keys[i];
	return kept;
}

/* Sets the sides' sums, and the keys, a row for each sample. */
static int
fine_add_step(struct query *query, const struct query_key *only, struct query_key **keys, size_t *n)
{
	struct query_fine *fine = query->fine;
	size_t step = 0;

	while (step + 2 < fine->n_ends && fine->ends_us[step + 1] <= query->range.from_us)
		step++;
	for (size_t i = 0; i < fine->n_samples; i++)
		*n += fine->samples[i].step == step && fine->samples[i].key >= 0;
	*keys = calloc(*n + 1, sizeof(**keys));
	for (size_t i = 0; i < query->n_ports; i++)
		memset(fine->ports[i].step, 0, sizeof(fine->ports[i].step));
	*n = 0;
	for (size_t i = 0; *keys && i < fine->n_samples; i++) {
		const struct fine_sample *s = &fine->samples[i];
		struct query_key *key;

		if (s->step != step)
			continue;
		query_add_sample(&fine->ports[s->port].step[s->direction], s->weight, s->octets);
		if (s->key < 0)
			continue;
		key = &(*keys)[(*n)++];
		*key = only[s->key];
		key->port = &query->ports[s->port];
		key->sums = (struct estimate_sums){0};
		query_add_sample(&key->sums, s->weight, s->octets);
	}
	return *keys ? 0 : query_fail(query, -ENOMEM, "no memory");
}

/* ---- a step's samples ---- */

static struct scale
scale_of(const struct query *query, const struct fine_port *kept, int direction)
{
	const struct estimate_stratum *side = &kept->side[direction];
	double arrived = 1 - side->lost;

	if (!kept->is_coarse || !(side->pool_pkts > 0) || !(side->pool_octets > 0) ||
	    query->samples_since_us >= query->range.to_us)
		return (struct scale){{0, 0}};
	return (struct scale){{query_ratio(side->pool_pkts, kept->kept_w[direction] - side->beside[ESTIMATE_PKTS]) * arrived,
	    query_ratio(side->pool_octets, kept->kept_wb[direction] - side->beside[ESTIMATE_OCTETS]) * arrived}};
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

/* Of a window with gaps a step's total is what counters say: what its samples do not stand for was not sampled. */
static void
divide_by_samples(const struct query *query, struct query_port *port, struct fine_port *kept)
{
	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		struct estimate_stratum *side = &port->side[d];
		double pkts = side->pool_pkts + port->cut[d].pkts, octets = side->pool_octets + port->cut[d].octets;

		kept->scale[d] = scale_of(query, kept, d);
		if (kept->scale[d].by[ESTIMATE_PKTS] == 0)
			continue;
		if (kept->has_gap && side->all.n > 0) {
			kept->scale[d].by[ESTIMATE_PKTS] = fmin(kept->scale[d].by[ESTIMATE_PKTS], pkts / side->all.w);
			kept->scale[d].by[ESTIMATE_OCTETS] = fmin(kept->scale[d].by[ESTIMATE_OCTETS], octets / side->all.wb);
		}
		port->is_coarse = kept->is_apart;
		scale_sums(&side->all, &kept->scale[d]);
		if (kept->has_gap)
			port->cut[d] = (struct query_cut){fmax(0, pkts - side->all.w), fmax(0, octets - side->all.wb), {0, 0}};
		side->w_max *= kept->scale[d].by[ESTIMATE_PKTS];
		side->pool_pkts = side->pool_octets = 0; /* not known */
	}
}

/* Numbers of a window count for its steps in proportion to the samples that these have; those that are missing, where the
 * window has gaps, in proportion to these. part: of the window's samples. */
static void
divide_numbers(struct query_port *port, const struct fine_port *kept, double part)
{
	double lost = (double)kept->expected - (double)kept->received, cut = kept->cut[EASE_IN].pkts + kept->cut[EASE_OUT].pkts;
	double part_lost = kept->has_gap ? fmin(1, query_ratio(port->cut[EASE_IN].pkts + port->cut[EASE_OUT].pkts, cut)) : part;

	port->received = (uint64_t)llround((double)kept->received * part);
	port->expected = port->received + (uint64_t)llround(fmax(0, lost) * part_lost);
	port->cut_numbers = (uint64_t)llround((double)kept->cut_numbers * part_lost);
}

int
query_fine_keys(struct query *query, const struct report_options *options, const struct dimension *dimension,
    struct query_key **keys, size_t *n)
{
	struct query_fine *fine = query->fine;
	int err = fine->has_samples ? 0 : read_samples(query, options, dimension);

	*n = 0;
	if (err == 0)
		err = fine_add_step(query, options->only, keys, n);
	if (err)
		return err;
	*n = unite_keys(*keys, *n);
	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			query_use_kept(&query->ports[i].side[d], &fine->ports[i].step[d]);
	for (size_t k = 0; k < *n; k++)
		query_suppose_mates(&(*keys)[k].sums, &query_listed((*keys)[k].port)->all);
	for (size_t i = 0; i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];
		struct fine_port *kept = &fine->ports[i];
		double part = query_ratio(port->side[EASE_IN].all.w + port->side[EASE_OUT].all.w, kept->kept_w[EASE_IN] + kept->kept_w[EASE_OUT]);

		divide_by_samples(query, port, kept);
		divide_numbers(port, kept, part);
	}
	for (size_t k = 0; k < *n; k++) {
		const struct scale *scale = &fine->ports[(*keys)[k].port - query->ports].scale[(*keys)[k].port->agent->listed];

		if (scale->by[ESTIMATE_PKTS] > 0)
			scale_sums(&(*keys)[k].sums, scale);
	}
	return 0;
}

/* ---- begin and end ---- */

int
query_begin_fine(struct query *query, uint64_t step_us)
{
	query_end_fine(query);
	query->fine = calloc(1, sizeof(*query->fine));
	if (query->fine)
		query->fine->ports = calloc(query->n_ports + 1, sizeof(*query->fine->ports));
	if (query->fine && query->fine->ports) {
		query->fine->step_us = step_us;
		return 0;
	}
	query_end_fine(query);
	return query_fail(query, -ENOMEM, "no memory");
}

void
query_end_fine(struct query *query)
{
	if (query->fine) {
		free(query->fine->ports);
		free(query->fine->read);
	}
	free(query->fine);
	query->fine = NULL;
}
