/*
 * Totals of ranges and steps whose ends lie between two counters of a port: how much of what these counted belongs
 * to the range its samples told when it was divided among windows (window/port_totals.h), so it is known no better
 * than by them. Part of query.h.
 *
 * Of a part p of what was counted between two counters, n samples of it tell n p on the average, with the variance
 * n p (1 - p): a fourth of n at the most. So each end leaves as much uncertain as if a fourth of what was counted
 * across it were estimated from samples alone; where it was divided by time, all of it. Where nothing came in between, as
 * the collector or the network was away, or no sample in all of the range, half of it may have passed at one moment, as in a
 * gap (gaps.c).
 */
#include "collector/query/query_private.h"
#include "collector/store/schema.h"
#include "collector/window/port_totals.h"

#include <math.h>

/* What is counted across the ends of longer ranges, of steps too, is less than any limit shows, and as little matter
 * ports that have less than this part of all. *assumed* */
#define LONGEST_US (6 * 3600 * UINT64_C(1000000))
enum { SMALLEST_PART = 1000 };
/* Of a cluster counters of all ports are fetched at once: so many rows of a port at most around the ends of a range, and
 * so many of a question, or half of its limit, if that is less. *assumed* */
enum { ROWS_AT_ENDS = 8, FETCHED_MAX = 50000 };
/* An agent of EASE sends counters with its samples: between such that are further apart no sample came. One of sFlow sends
 * both apart, and was silent if samples are missing. */
#define SILENT_US 30000000u

/* Frames that passed between two counters are counted by the samples of EASE, too: octets alone depend on whose they
 * are, as far as frames differ in length. */
static void
take_counted_frames(const struct estimate_stratum *side, double divided[ESTIMATE_N_UNITS])
{
	double square = side->all.w * side->all.wb2;

	divided[ESTIMATE_PKTS] = 0;
	if (square > 0)
		divided[ESTIMATE_OCTETS] *= fmax(0, 1 - side->all.wb * side->all.wb / square);
}

/* is_start: of the range. Of what was cut, only the total is uncertain. */
static void
add_end(struct query_port *port, bool is_start)
{
	const struct query_end *end = &port->end;
	bool is_sflow = port->agent->boot >= QUERY_SFLOW_BOOTS;

	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		double divided[ESTIMATE_N_UNITS] = {end->divided[d][ESTIMATE_PKTS], end->divided[d][ESTIMATE_OCTETS]};

		if (!is_sflow && !end->by_time)
			take_counted_frames(&port->side[d], divided);
		for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
			double before = end->across[d][u].before, after = end->across[d][u].after;
			double inside = is_start ? after : before, cut = u == ESTIMATE_PKTS ? port->cut[d].pkts : port->cut[d].octets;
			double left = inside > cut ? 1 - cut / inside : 0;
			bool by_samples = is_sflow ? port->side[d].all.n > 0 : !end->is_silent;
			bool is_told = by_samples && (!end->is_silent || left > 0.9);
			double untold = is_told ? 0 : 0.25 * before * after;
			port->side[d].divided[u] += divided[u];
			port->side[d].untold[u] += untold * left * left;
			port->cut[d].untold[u] += untold * (1 - left * left);
		}
	}
}

/* The end of a step is the beginning of the next one. */
static int
read_end(struct query *query, struct query_port *port, uint64_t at_us)
{
	bool by_time = at_us == query->edge_us && at_us % STORE_WINDOW_US != 0; /* else windows end there */
	struct query_reading at = {0};
	int err;

	if (port->end.at_us == at_us)
		return 0;
	err = query_reading_at(query, port, at_us, &at);
	port->end = (struct query_end){.at_us = at_us, .by_time = by_time || at.is_gap, .is_silent = at.apart_us > SILENT_US};
	for (int i = 0; err == 0 && i < QUERY_COUNTED_STALLED_PKTS; i++) {
		int d = EASE_IN + i / ESTIMATE_N_UNITS, u = i % ESTIMATE_N_UNITS;
		double within = at.value[i] - port->around.before.value[i];

		if (isnan(at.across[i]))
			continue;
		port->end.divided[d][u] = at.across[i] * (port->end.by_time ? 1 : 0.25);
		if (!at.is_gap)
			port->end.across[d][u].before = within, port->end.across[d][u].after = at.across[i] - within;
	}
	return err;
}

static int
add_ends(struct query *query, struct query_port *port)
{
	int err = read_end(query, port, query->range.from_us);

	if (err)
		return err;
	add_end(port, true);
	err = read_end(query, port, query->range.to_us);
	if (err == 0)
		add_end(port, false);
	return err;
}

/* Whether limits of its total show. */
static bool
is_about(const struct estimate_stratum *side, const struct query_cut *cut)
{
	bool is = false;

	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		double variance = estimate_total_variance((enum estimate_unit)u, side) + cut->untold[u];
		double total = variance > 0 ? estimate_total((enum estimate_unit)u, side) +
			(u == ESTIMATE_PKTS ? cut->pkts : cut->octets) : 0;

		/* limits are further away than a deviation is */
		is |= variance > 0 && 4 * variance > REPORT_ABOUT_PART * REPORT_ABOUT_PART * total * total &&
		    estimate_deviation(total, variance) > REPORT_ABOUT_PART;
	}
	return is;
}

/* Of sFlow the samples themselves say how much passed while they came, and how much while they were lost, where counters
 * counted both: both are known no better than by samples, their sum is. Of two parts a and b of n samples n a tells a with
 * the variance n a b, as if a b were estimated by samples alone. */
static void
add_parted_by_samples(struct query_port *port)
{
	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		struct estimate_stratum *side = &port->side[d];

		for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
			double came = u == ESTIMATE_PKTS ? side->pool_pkts : side->pool_octets;
			double cut = u == ESTIMATE_PKTS ? port->cut[d].pkts : port->cut[d].octets;
			double variance = estimate_total_variance((enum estimate_unit)u, side);

			if (!(came > 0) || !(cut > 0))
				continue;
			side->divided[u] += came * cut / (came + cut);
			port->cut[d].untold[u] -= estimate_total_variance((enum estimate_unit)u, side) - variance;
		}
	}
}

static double
ends_octets_of(const struct query_port *port)
{
	const struct estimate_stratum *side = query_listed(port);

	return side->all.n > 0 || port->agent->boot >= QUERY_SFLOW_BOOTS ? side->pool_octets : 0;
}

/* Then a cluster's totals are said as they are, rather than that the question is refused. */
static bool
is_too_much(const struct query *query)
{
	uint64_t asked_us = query->asked.to_us - query->asked.from_us, range_us = query->range.to_us - query->range.from_us;
	uint64_t minutes = asked_us / STORE_WINDOW_US + 2 * PORT_TOTALS_MINUTES, most = query->limits.keys / 2;
	uint64_t rows = query->steps ? 2 * minutes : ROWS_AT_ENDS * (1 + asked_us / (range_us + 1));

	return query->store->is_remote && query->n_ports * rows > (most > 0 && most < FETCHED_MAX ? most : FETCHED_MAX);
}

int
query_add_divided(struct query *query)
{
	bool has_ends = query->asked.to_us - query->asked.from_us <= LONGEST_US && !is_too_much(query);
	double all = 0;
	int err = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		all += query->ports[i].chosen ? ends_octets_of(&query->ports[i]) : 0;
	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];

		if (has_ends && port->chosen && ends_octets_of(port) * SMALLEST_PART > all)
			err = add_ends(query, port);
		if (port->chosen && port->agent->boot >= QUERY_SFLOW_BOOTS)
			add_parted_by_samples(port);
		port->is_divided |= port->chosen && is_about(query_listed(port), query_listed_cut(port));
	}
	return err;
}
