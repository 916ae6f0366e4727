/*
 * Chooses the windows of a range: the coarsest that lie within it and finer ones towards its ends,
 * so that their sums are exactly those of the range. Where the finest windows are no longer kept,
 * the ends of the range move outwards to the ends of windows that are.
 */
#include "collector/query/query_private.h"

#include <errno.h>
#include <stdlib.h>

static int
set_level(struct query *query, sqlite3_stmt *stmt)
{
	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++)
		if (sqlite3_column_int64(stmt, 0) == store_levels[l].minutes)
			query->levels[l] = (struct query_level){query_u64(stmt, 1), query_u64(stmt, 2)};
	return 0;
}

int
query_load_levels(struct query *query)
{
	for (int l = 0; l < STORE_N_LEVELS; l++)
		query->levels[l] = (struct query_level){0, 0};
	return query_rows(query, "SELECT minutes, kept_us, done_us FROM level", set_level);
}

/* ---- how far back ---- */

const char *const report_reach_names[REPORT_N_REACH] = {
    [LEVEL_UNSETTLED] = "samples", [LEVEL_1_MIN] = "1min", [LEVEL_5_MIN] = "5min", [LEVEL_1_H] = "1h",
    [LEVEL_1_D] = "1d",
};
_Static_assert(REPORT_N_REACH == LEVEL_1_D + 1, "one for each level but the last, which is kept as long as the days");

int
query_read_reach(struct query *query, struct report_reach *reach)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT MIN(time_us) FROM sample");
	int more = stmt ? query_step(query, stmt) : -EIO;
	uint64_t first_us = UINT64_MAX;

	*reach = (struct report_reach){0};
	if (more == 1)
		reach->since_us[LEVEL_UNSETTLED] = query_u64(stmt, 0);
	sqlite3_finalize(stmt);
	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].first_us < first_us)
			first_us = query->agents[i].first_us;
	for (int l = LEVEL_1_MIN; l < REPORT_N_REACH; l++) {
		const struct query_level *level = &query->levels[l];
		uint64_t since_us = level->kept_us > first_us ? level->kept_us : first_us;

		/* of unsettled minutes, too, there are sums */
		if (since_us < level->done_us || (l == LEVEL_1_MIN && query->n_agents > 0))
			reach->since_us[l] = since_us;
	}
	return more < 0 ? more : 0;
}

/* ---- windows of a range ---- */

/* The finest level kept at that time; LEVEL_UNSETTLED: none. */
static enum store_level_index
finest_at(const struct query *query, uint64_t time_us)
{
	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++)
		if (query->levels[l].kept_us <= time_us)
			return (enum store_level_index)l;
	return LEVEL_UNSETTLED;
}

uint64_t
query_finest_us(const struct query *query, uint64_t from_us)
{
	enum store_level_index level = finest_at(query, from_us);

	return store_levels[level == LEVEL_UNSETTLED ? LEVEL_8_D : level].span_us;
}

/* The start of the windows nearest before that time. */
static uint64_t
begin_at(const struct query *query, uint64_t from_us)
{
	enum store_level_index level = finest_at(query, from_us);

	if (level == LEVEL_UNSETTLED)
		return query->levels[LEVEL_8_D].kept_us;
	return store_window_start(from_us, store_levels[level].span_us);
}

void
query_fit_range(struct query *query)
{
	struct query_range *range = &query->range;
	enum store_level_index level;
	uint64_t from_us = begin_at(query, range->from_us), span_us;

	query->older_us = from_us > range->from_us ? range->from_us : 0;
	range->from_us = from_us;
	if (range->to_us <= range->from_us)
		return;
	level = finest_at(query, range->to_us - 1);
	if (level == LEVEL_1_MIN || level == LEVEL_UNSETTLED)
		return;
	span_us = store_levels[level].span_us;
	range->to_us = store_window_start(range->to_us + span_us - 1, span_us);
}

unsigned
query_kind_at(const struct query_want *wanted, enum store_level_index level)
{
	return wanted->single > 0 && store_levels[level].has_singles ? wanted->single
								     : wanted->kind;
}

/* The coarsest level with a window that begins there and ends within the range. */
static enum store_level_index
level_at(const struct query *query, const struct query_want *wanted, uint64_t start_us)
{
	for (int l = STORE_N_LEVELS - 1; l > LEVEL_1_MIN; l--) {
		const struct query_level *level = &query->levels[l];
		unsigned kind = query_kind_at(wanted, (enum store_level_index)l);
		uint64_t end_us = start_us + store_levels[l].span_us;

		if (wanted->longest_us > 0 && store_levels[l].span_us > wanted->longest_us)
			continue;
		if (start_us % store_levels[l].span_us == 0 && start_us >= level->kept_us &&
		    end_us <= level->done_us && end_us <= query->range.to_us &&
		    store_level_has((enum store_level_index)l, kind))
			return (enum store_level_index)l;
	}
	return LEVEL_1_MIN;
}

/* After the end of the roll-up there are only minutes. */
static uint64_t
end_of_run(const struct query *query, const struct query_want *wanted, const struct query_run *run)
{
	uint64_t at_us = run->from_us;

	if (run->level == LEVEL_1_MIN && at_us >= query->levels[LEVEL_5_MIN].done_us)
		return query->range.to_us;
	do
		at_us += store_levels[run->level].span_us;
	while (at_us < query->range.to_us && at_us < query->levels[LEVEL_5_MIN].done_us &&
	    level_at(query, wanted, at_us) == run->level);
	return at_us;
}

int
query_find_runs(struct query *query, const struct query_want *want, struct query_run **runs, size_t *n)
{
	uint64_t at_us = query->range.from_us;

	*runs = NULL;
	for (*n = 0; at_us < query->range.to_us; ++*n) {
		struct query_run *more = realloc(*runs, (*n + 1) * sizeof(*more));

		if (!more)
			return query_fail(query, -ENOMEM, "no memory");
		*runs = more;
		more[*n] = (struct query_run){level_at(query, want, at_us), at_us, at_us};
		at_us = more[*n].to_us = end_of_run(query, want, &more[*n]);
	}
	return 0;
}
