/*
 * A cluster as a store of reports: rows of small tables come by way of a mirror, sums are added up by the servers. Part
 * of query.h.
 */
#include "collector/query/cluster.h"
#include "collector/query/mirror.h"

#include <errno.h>
#include <stdlib.h>

/* ---- steps of a history: the sums of some of them are fetched at once, and each takes its own ---- */

enum {
	ANSWERS_MAX = 4,     /* of a step: totals, samples without a key, keys */
	ENTRIES_MAX = 1000000, /* some 180 MB, or limits.keys; of a kind that has more each step asks for its own */
};

struct answer {
	struct query *query;
	unsigned kind, single;
	struct cluster_entry *entries; /* in the order of steps */
	size_t n, room;
	bool is_fetched; /* of these steps */
	bool has_many;	 /* they did not fit */
};

struct query_steps {
	struct query *query;
	struct query_range range, all; /* range: of the steps that are fetched at once */
	uint64_t step_us, span_us;     /* span: so long are these together, at most */
	size_t most;		       /* entries of an answer */
	struct answer answers[ANSWERS_MAX];
	size_t n;
};

static void
end_steps(struct query *query)
{
	struct query_steps *steps = query->steps;

	for (size_t i = 0; steps && i < steps->n; i++)
		free(steps->answers[i].entries);
	free(steps);
	query->steps = NULL;
}

static void
begin_steps(struct query *query, uint64_t step_us)
{
	size_t keys = query->limits.keys, most = keys > 0 && keys < ENTRIES_MAX ? keys : ENTRIES_MAX;

	query->steps = calloc(1, sizeof(*query->steps));
	if (query->steps)
		*query->steps = (struct query_steps){.query = query, .all = query->range, .step_us = step_us,
		    .span_us = (most / (4 * query->n_ports + 1) + 1) * step_us, .most = most}; /* totals fill half */
}

/* The next steps, from the present one on. */
static void
begin_span(struct query_steps *steps)
{
	uint64_t from_us = steps->query->range.from_us;

	steps->range = (struct query_range){from_us, store_window_start(from_us, steps->step_us) + steps->span_us};
	if (steps->range.to_us > steps->all.to_us)
		steps->range.to_us = steps->all.to_us;
	for (size_t i = 0; i < steps->n; i++) {
		steps->answers[i].is_fetched = false;
		steps->answers[i].n = 0;
	}
}

/* ---- fetching ---- */

static int
append_runs(struct query_run **runs, size_t *n, const struct query_run *more, size_t n_more)
{
	struct query_run *all = realloc(*runs, (*n + n_more + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	*runs = all;
	for (size_t i = 0; i < n_more; i++) {
		struct query_run *last = *n > 0 ? &all[*n - 1] : NULL;

		if (last && last->level == more[i].level && last->to_us == more[i].from_us)
			last->to_us = more[i].to_us;
		else
			all[(*n)++] = more[i];
	}
	return 0;
}

/* Windows that lie within one step each. */
static int
runs_of_all_steps(struct query_steps *steps, const struct query_want *want, struct query_run **runs, size_t *n)
{
	struct query *query = steps->query;
	const struct query_range now = query->range;
	uint64_t at_us = steps->range.from_us, next_us;
	int err = 0;

	for (*n = 0; err == 0 && at_us < steps->range.to_us; at_us = next_us) {
		struct query_run *more;
		size_t n_more;

		next_us = store_window_start(at_us, steps->step_us) + steps->step_us;
		if (next_us > steps->range.to_us)
			next_us = steps->range.to_us;
		query->range = (struct query_range){at_us, next_us};
		err = query_find_runs(query, want, &more, &n_more);
		if (err == 0 && append_runs(runs, n, more, n_more) != 0)
			err = query_fail(query, -ENOMEM, "no memory");
		free(more);
	}
	query->range = now;
	return err;
}

static int
keep_entry(void *arg, const struct cluster_entry *entry)
{
	struct answer *answer = arg;

	answer->has_many |= answer->n == answer->query->steps->most;
	if (answer->has_many)
		return -E2BIG;
	if (answer->n == answer->room) {
		size_t room = answer->room ? 2 * answer->room : 1024;
		struct cluster_entry *entries = realloc(answer->entries, room * sizeof(*entries));

		if (!entries)
			return query_fail(answer->query, -ENOMEM, "no memory");
		answer->entries = entries;
		answer->room = room;
	}
	answer->entries[answer->n++] = *entry;
	return 0;
}

static int
fetch_answer(struct query_steps *steps, const struct query_want *want, struct answer *answer)
{
	struct query_run *runs = NULL;
	size_t n_runs = 0;
	int err = runs_of_all_steps(steps, want, &runs, &n_runs);

	if (err == 0 && n_runs > 0)
		err = cluster_ask_sums(steps->query, want, runs, n_runs, steps->step_us, keep_entry, answer);
	answer->is_fetched = true;
	free(runs);
	if (!answer->has_many)
		return err;
	free(answer->entries);
	answer->entries = NULL;
	answer->n = answer->room = 0;
	*steps->query->error = '\0';
	return 0;
}

/* ---- taking ---- */

static size_t
first_of_step(const struct answer *answer, uint64_t step)
{
	size_t low = 0, high = answer->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (answer->entries[middle].step < step)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

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

/* Of the present step alone. */
static int
sums_of_range(struct query *query, const struct query_want *want, query_body_fn *take, void *arg)
{
	struct cluster_packer *packer;
	int err = cluster_packer_open(&packer, query, want, take, arg);

	if (err == 0)
		err = read_runs(query, want, 0, cluster_packer_add, packer);
	return cluster_packer_close(packer, err);
}

static int
cluster_read_sums(struct query *query, const struct query_want *want, query_body_fn *take, void *arg)
{
	struct query_steps *steps = query->steps;
	struct answer *answer = NULL;
	struct cluster_packer *packer;
	uint64_t step;
	int err = 0;

	if (!steps)
		return sums_of_range(query, want, take, arg);
	if (query->range.from_us < steps->range.from_us || query->range.from_us >= steps->range.to_us)
		begin_span(steps);
	for (size_t i = 0; i < steps->n; i++)
		if (steps->answers[i].kind == want->kind && steps->answers[i].single == want->single)
			answer = &steps->answers[i];
	if (!answer && steps->n == ANSWERS_MAX)
		return query_fail(query, -EINVAL, "too many kinds of sums in a step");
	if (!answer) {
		answer = &steps->answers[steps->n++];
		*answer = (struct answer){.query = query, .kind = want->kind, .single = want->single};
	}
	if (!answer->is_fetched && !answer->has_many)
		err = fetch_answer(steps, want, answer);
	if (err || answer->has_many)
		return err ? err : sums_of_range(query, want, take, arg);
	step = query->range.from_us / steps->step_us;
	err = cluster_packer_open(&packer, query, want, take, arg);
	for (size_t i = first_of_step(answer, step);
	     err == 0 && i < answer->n && answer->entries[i].step == step; i++)
		err = cluster_packer_add(packer, &answer->entries[i]);
	return cluster_packer_close(packer, err);
}

/* ---- all of it ---- */

struct by_step {
	uint64_t step_us;
	query_totals_fn *take;
	void *arg;
};

static int
cluster_take_totals(void *arg, const struct cluster_entry *entry)
{
	const struct by_step *by = arg;

	by->take(by->arg, &(struct query_totals){entry->step * by->step_us, &entry->key, entry->values[PACK_EXPECTED],
	    entry->values[PACK_RECEIVED], entry->values[PACK_POOL_PKTS]});
	return 0;
}

static int
cluster_totals_by_step(struct query *query, uint64_t step_us, query_totals_fn *take, void *arg)
{
	return read_runs(query, &(struct query_want){.kind = STORE_PART_TOTALS, .longest_us = step_us}, step_us,
	    cluster_take_totals, &(struct by_step){step_us, take, arg});
}

static void
close_cluster(struct query *query)
{
	end_steps(query);
	mirror_close(query->mirror);
}

static const struct query_store cluster_store = {
	.is_remote = true, .by_minute = true, .is_shared = true,
	.agent_columns = "lacks_minute, collector, NULL", .gap_collector = "collector",
	.close = close_cluster, .forget = mirror_forget,
	.prepare = mirror_prepare, .prepared = mirror_prepared, .step = mirror_step,
	.sums = cluster_read_sums, .totals_by_step = cluster_totals_by_step,
	.begin_steps = begin_steps, .end_steps = end_steps,
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
