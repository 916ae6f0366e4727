/*
 * The questions that reports ask, and who answers each: windows or parts of them, sums or kept samples, this query or
 * its store. Part of query.h.
 */
#include "collector/query/dimension.h"
#include "collector/query/query_private.h"

int
query_windows(struct query *query)
{
	int err;

	if (!query->fine)
		return query_sum_windows(query);
	err = query_fine_windows(query);
	return err ? err : query_add_beside(query);
}

int
query_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n, uint64_t *kept_since_us)
{
	int err;

	*kept_since_us = 0;
	query->from_samples = query_needs_samples(dimension);
	if (!query->from_samples) {
		err = query_sum_folded(query, dimension->kind);
		return err == 0 ? query_sum_keys(query, options, dimension, keys, n) : err;
	}
	if (!query->fine)
		return query_keys_of_samples(query, options, dimension, keys, n, kept_since_us);
	err = query_find_kept_since(query, kept_since_us);
	return err ? err : query_fine_keys(query, options, dimension, keys, n);
}

int
query_top_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n,
    struct query_left *left, uint64_t *kept_since_us)
{
	int done;

	*left = (struct query_left){0};
	*keys = NULL;
	*n = 0;
	*kept_since_us = 0;
	done = query->store->top_keys ? query->store->top_keys(query, options, dimension, keys, n, left) : 0;
	if (done == 0)
		return query_keys(query, options, dimension, keys, n, kept_since_us);
	return done < 0 ? done : 0;
}

void
query_begin_steps(struct query *query, uint64_t step_us)
{
	if (query->store->begin_steps)
		query->store->begin_steps(query, step_us);
}

void
query_end_steps(struct query *query)
{
	if (query->store->end_steps)
		query->store->end_steps(query);
}

int
query_totals_by_step(struct query *query, uint64_t step_us, query_totals_fn *take, void *arg)
{
	return query->store->totals_by_step(query, step_us, take, arg);
}

int
query_read_stated(struct query *query)
{
	return query->store->stated ? query->store->stated(query) : 0;
}
