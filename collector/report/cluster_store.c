/*
 * A cluster as a store of reports: rows of small tables come by way of a mirror, sums are added up by the servers. Part
 * of query.h.
 */
#include "collector/report/mirror.h"
#include "collector/report/query_cluster.h"

#include <errno.h>
#include <stdlib.h>

static int
read_runs(struct query *query, const struct query_want *want, uint64_t step_us, cluster_entry_fn *take, void *arg)
{
	struct query_run *runs;
	size_t n;
	int err = query_find_runs(query, want, &runs, &n);

	if (err == 0 && n > 0)
		err = cluster_ask_sums(query, want, runs, n, step_us, take, arg);
	free(runs);
	return err;
}

static int
read_sums(struct query *query, const struct query_want *want, query_body_fn *take, void *arg)
{
	struct cluster_packer *packer;
	int err;

	if (query->steps)
		return cluster_sums_of_step(query, want, take, arg);
	err = cluster_packer_open(&packer, query, want, take, arg);
	if (err == 0)
		err = read_runs(query, want, 0, cluster_packer_add, packer);
	return cluster_packer_close(packer, err);
}

struct by_step {
	uint64_t step_us;
	query_totals_fn *take;
	void *arg;
};

static int
take_totals(void *arg, const struct cluster_entry *entry)
{
	const struct by_step *by = arg;

	by->take(by->arg, &(struct query_totals){entry->step * by->step_us, &entry->key, entry->values[PACK_EXPECTED],
	    entry->values[PACK_RECEIVED], entry->values[PACK_POOL_PKTS]});
	return 0;
}

static int
totals_by_step(struct query *query, uint64_t step_us, query_totals_fn *take, void *arg)
{
	return read_runs(query, &(struct query_want){.kind = STORE_PART_TOTALS, .longest_us = step_us}, step_us,
	    take_totals, &(struct by_step){step_us, take, arg});
}

static void
close_cluster(struct query *query)
{
	cluster_end_steps(query);
	mirror_close(query->mirror);
}

static const struct query_store cluster_store = {
	.is_remote = true, .by_minute = true, .is_shared = true,
	.agent_columns = "lacks_minute, collector", .gap_collector = "collector",
	.close = close_cluster, .forget = mirror_forget,
	.prepare = mirror_prepare, .prepared = mirror_prepared, .step = mirror_step,
	.sums = read_sums, .totals_by_step = totals_by_step,
	.begin_steps = cluster_begin_steps, .end_steps = cluster_end_steps,
	.top_keys = cluster_top_keys, .stated = cluster_stated,
};

int
query_open_cluster(const struct query_cluster *where, const struct query_limits *limits,
    struct query **query, char *error, size_t error_size)
{
	struct query *q = calloc(1, sizeof(*q));

	if (q)
		q->store = &cluster_store;
	if (q && limits)
		q->limits = *limits;
	return query_finish_open(q, q ? mirror_open(q, where) : -ENOMEM, query, error, error_size);
}
