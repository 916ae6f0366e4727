/*
 * Drops the smallest keys of a range that has more than fit into memory. Part of query.h. What a key loses is
 * bounded as in the collector's windows: it may have been dropped each time, with at most the samples of the
 * largest key that was dropped then at its port.
 */
#include "collector/report/query_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int
compare_traffic(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
traffic_of(const struct query_key *key, enum estimate_unit unit)
{
	return unit == ESTIMATE_PKTS ? key->sums.w : key->sums.wb;
}

void
query_begin_drop(struct query *query)
{
	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].dropped = query->ports[i].dropped_most = 0;
}

/* most: of each port, the samples of its largest dropped key. */
static void
count_dropped(struct query *query, const struct query_key *key, uint64_t *most)
{
	size_t at = (size_t)(key->port - query->ports);

	query->ports[at].dropped += key->sums.n;
	if (key->sums.n > most[at])
		most[at] = key->sums.n;
}

int
query_drop_keys(struct query *query, const struct report_options *options, struct query_key *keys, size_t *n)
{
	double *sorted = malloc((*n + 1) * sizeof(*sorted)), median;
	uint64_t *most = calloc(query->n_ports + 1, sizeof(*most));
	size_t left = 0, to_drop = *n > 1 ? *n / 2 : *n, ties = 0;

	if (!sorted || !most) {
		free(sorted);
		free(most);
		return query_fail(query, -ENOMEM, "no memory");
	}
	for (size_t i = 0; i < *n; i++)
		sorted[i] = traffic_of(&keys[i], options->sort);
	sorted[*n] = INFINITY;
	qsort(sorted, *n, sizeof(*sorted), compare_traffic);
	median = sorted[to_drop];
	while (ties < to_drop && sorted[to_drop - 1 - ties] == median)
		ties++;
	for (size_t i = 0; i < *n; i++) {
		double traffic = traffic_of(&keys[i], options->sort);
		bool tie = traffic == median && ties > 0;

		ties -= tie;
		if (tie || traffic < median)
			count_dropped(query, &keys[i], most);
		else
			keys[left++] = keys[i];
	}
	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].dropped_most += most[i];
	*n = left;
	free(sorted);
	free(most);
	return 0;
}
