#include "collector/ship/ship_rollup.h"
#include "collector/cluster/sums_sql.h"
#include "collector/ship/ship_sql.h"
#include "collector/ship/statement.h"
#include "collector/store/levels.h"
#include "common/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_US ((uint64_t)STORE_WINDOW_US)

enum {
	WINDOWS_AT_ONCE = 4096, /* new ones; the rest in the next run */
};

/* The state of the server */

static struct ship_rollup_collector *
find_collector(struct ship_rollup *r, int64_t collector)
{
	for (size_t i = 0; i < r->n_collectors; i++)
		if (r->collectors[i].collector == collector)
			return &r->collectors[i];
	return NULL;
}

static int
take_rolled(void *arg, const struct row_cell *cells)
{
	struct ship_rollup *r = arg;
	struct ship_rollup_collector *c = find_collector(r, cells[1].i);
	int l = LEVEL_1_MIN;

	while (l < LEVEL_1_D && store_levels[l].minutes != (unsigned)cells[0].i)
		l++;
	if (cells[1].i == 0)
		r->levels[l] = (struct ship_rollup_level){(uint64_t)cells[3].i, (uint64_t)cells[4].i};
	else if (c)
		c->rolled[l] = (uint64_t)cells[2].i;
	if ((uint64_t)cells[5].i > r->changed_us)
		r->changed_us = (uint64_t)cells[5].i;
	return 0;
}

int
ship_rollup_load(struct ship_rollup *r)
{
	for (size_t i = 0; i < r->n_collectors; i++)
		for (int l = LEVEL_1_MIN; l < CLUSTER_LEVELS_END; l++)
			r->collectors[i].rolled[l] = 0;
	return statement_rows(r->http, r->server, SQL(&r->place, NULL, ship_sql[SHIP_SQL_ROLLED].text), 6, take_rolled, r);
}

void
ship_rollup_free(struct ship_rollup *r)
{
	free(r->list);
	r->list = NULL;
	r->n_list = r->room = 0;
}

/* What is asked of a level: of windows from from_us to to_us. */
struct windows {
	const struct ship_rollup *rollup;
	int level;
	uint64_t from_us, to_us;
	bool again; /* only for agents with new data */
};

static void
write_collectors(FILE *out, const void *arg)
{
	const struct windows *w = arg;
	const struct ship_rollup *r = w->rollup;

	for (size_t i = 0; i < r->n_collectors; i++)
		fprintf(out, ", (%u, %" PRId64 ", %" PRIu64 ", 0, 0, %" PRIu64 ")", store_levels[w->level].minutes,
		    r->collectors[i].collector, r->collectors[i].revision, r->now_us);
}

static int
save_rolled(struct ship_rollup *r, int level)
{
	const struct windows w = {.rollup = r, .level = level};

	return statement_run(r->http, r->server, SQL(&r->place, &cluster_tables[CLUSTER_ROLLED],
	    ship_sql[SHIP_SQL_SAVE].text, SQL_U64("level", store_levels[level].minutes),
	    SQL_U64("done_us", r->levels[level].done_us), SQL_U64("kept_us", r->levels[level].kept_us),
	    SQL_U64("now_us", r->now_us), SQL_WRITE("rolled_collectors", write_collectors, &w)));
}

/* Which windows */

static int
add_window(void *arg, const struct row_cell *cells)
{
	struct ship_rollup *r = arg;

	if (r->n_list == r->room) {
		size_t room = r->room ? 2 * r->room : 64;
		uint64_t *list = realloc(r->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		r->list = list;
		r->room = room;
	}
	r->list[r->n_list++] = (uint64_t)cells[0].i;
	return 0;
}

static bool
rollup_is_dirty(const struct ship_rollup_collector *c, int level)
{
	return c->revision > c->rolled[level];
}

static bool
has_dirty(const struct ship_rollup *r, int level)
{
	for (size_t i = 0; i < r->n_collectors; i++)
		if (rollup_is_dirty(&r->collectors[i], level))
			return true;
	return false;
}

/* The condition for batches, or minutes, that are not in the level yet. */
static void
write_dirty(FILE *out, const void *arg)
{
	const struct windows *w = arg;
	const char *or = "";

	for (size_t i = 0; i < w->rollup->n_collectors; i++) {
		const struct ship_rollup_collector *c = &w->rollup->collectors[i];

		if (!rollup_is_dirty(c, w->level))
			continue;
		fprintf(out, "%s(collector = %" PRId64 " AND revision > %" PRIu64 " AND revision <= %" PRIu64 ")", or,
		    c->collector, c->rolled[w->level], c->revision);
		or = " OR ";
	}
}

/* Values that most statements of windows have. */
#define VALUES_OF(w)                                                                                           \
	SQL_U64("level", store_levels[(w)->level].minutes), SQL_U64("below", store_levels[(w)->level - 1].minutes), \
	    SQL_U64("span_us", store_levels[(w)->level].span_us), SQL_U64("from_us", (w)->from_us),             \
	    SQL_U64("to_us", (w)->to_us), SQL_WRITE("dirty", write_dirty, (w))

/* The range of those batches' minutes. */
static int
ask_dirty_range(struct ship_rollup *r, int level, int64_t range[2])
{
	const struct windows w = {.rollup = r, .level = level};

	return statement_numbers(r->http, r->server, SQL(&r->place, NULL, ship_sql[SHIP_SQL_DIRTY_RANGE].text,
	    VALUES_OF(&w)), range, 2);
}

static int
list_windows(struct ship_rollup *r, int level, uint64_t from_us, uint64_t to_us, bool dirty)
{
	const struct windows w = {.rollup = r, .level = level, .from_us = from_us, .to_us = to_us};

	r->n_list = 0;
	return from_us >= to_us ? 0 : statement_rows(r->http, r->server, SQL(&r->place, NULL,
	    ship_sql[dirty ? SHIP_SQL_DIRTY_WINDOWS : SHIP_SQL_NEW_WINDOWS].text, VALUES_OF(&w),
	    SQL_U64("most", WINDOWS_AT_ONCE)), 1, add_window, r);
}

/* Making windows */

/* Windows that a server groups at a time: an hour of 5 minutes, a quarter of a day, a day. */
static const uint64_t run_us[CLUSTER_LEVELS_END] = {
    [LEVEL_5_MIN] = 60 * MINUTE_US,
    [LEVEL_1_H] = 360 * MINUTE_US,
    [LEVEL_1_D] = 1440 * MINUTE_US,
};

/* The key of a table's rows in one window, beside the agent. */
static const struct summed {
	enum cluster_table_id table;
	const char *key;
	bool by_kind; /* one statement for each kind, so that a window's keys fit into the server's memory */
} summed[] = {
    {CLUSTER_PORTS, "if_index, direction", false},
    {CLUSTER_FOLDED, "kind, if_index, direction", false},
    {CLUSTER_KEYS, "kind, if_index, direction, key1, key2", true},
};

enum { N_SUMMED = sizeof(summed) / sizeof(summed[0]) };

static int
make_sums(struct ship_rollup *r, const struct windows *w, const struct summed *of, unsigned kind)
{
	const struct sums_run run = {store_levels[w->level - 1].minutes, w->from_us, w->to_us};
	struct sums_rows rows = {.place = &r->place, .table = of->table, .local = true, .runs = &run, .n_runs = 1};
	const struct sums_rows whole = {.table = of->table};
	const struct sums_list names = {&whole, SUMS_NAMES}, zeros = {&whole, SUMS_ZEROS}, values = {&rows, SUMS_VALUES},
			       sums = {&whole, SUMS_TOTALS};
	char where[32] = "";

	if (of->by_kind)
		snprintf(where, sizeof(where), " AND kind = %u", kind);
	rows.where = where;
	return statement_run(r->http, r->server, SQL(&r->place, &cluster_tables[of->table], ship_sql[SHIP_SQL_SUMS].text,
	    VALUES_OF(w), SQL_TEXT("key", of->key), SQL_TEXT("and_kind", where),
	    SQL_WRITE("names", sums_sql_list, &names), SQL_WRITE("sums", sums_sql_list, &sums),
	    SQL_WRITE("zeros", sums_sql_list, &zeros), SQL_WRITE("values", sums_sql_list, &values),
	    SQL_WRITE("counting_rows", sums_sql_rows, &rows),
	    SQL_TEXT("and_dirty_agents", w->again ? ship_sql[SHIP_SQL_DIRTY_AGENTS].text : ""),
	    SQL_TEXT("or_former", w->again ? ship_sql[SHIP_SQL_FORMER].text : "")));
}

static int
copy_ends(struct ship_rollup *r, const struct windows *w, enum cluster_table_id id, const char *stretch)
{
	return statement_run(r->http, r->server, SQL(&r->place, &cluster_tables[id], ship_sql[SHIP_SQL_ENDS].text,
	    VALUES_OF(w), SQL_TEXT("stretch", stretch)));
}

static int
make_windows(struct ship_rollup *r, const struct windows *w)
{
	int err = 0;

	for (int t = 0; err == 0 && t < N_SUMMED; t++)
		for (unsigned k = 0; err == 0 && k < (summed[t].by_kind ? KEY_N_KINDS : 1); k++)
			err = make_sums(r, w, &summed[t], key_layouts[k].kind);
	if (err == 0)
		err = copy_ends(r, w, CLUSTER_COUNTERS, "boot, discontinuity_us");
	if (err == 0)
		err = copy_ends(r, w, CLUSTER_RESOURCES, "boot");
	return err;
}

/* Makes the next run of listed windows, from *i on. */
static int
make_run(struct ship_rollup *r, int level, bool again, size_t *i)
{
	struct windows w = {.rollup = r, .level = level, .from_us = r->list[*i], .again = again};
	uint64_t end_us = w.from_us / run_us[level] * run_us[level] + run_us[level];
	size_t first = *i;
	int err;

	while (*i < r->n_list && r->list[*i] < end_us)
		w.to_us = r->list[(*i)++] + store_levels[level].span_us;
	err = make_windows(r, &w);
	if (err == 0)
		r->windows += *i - first;
	return err;
}

/* Levels */

/* Makes windows again that have new data, except those whose minutes are dropped. */
static int
make_again(struct ship_rollup *r, int level)
{
	const struct ship_rollup_level *from = &r->levels[level - 1];
	uint64_t span_us = store_levels[level].span_us, from_us;
	int64_t range[2];
	int err;

	if (!has_dirty(r, level) || r->levels[level].done_us == 0)
		return 0;
	err = ask_dirty_range(r, level, range);
	if (err < 0 || range[1] == 0)
		return err;
	from_us = (uint64_t)range[0] > from->kept_us ? (uint64_t)range[0]
	    : (from->kept_us + span_us - 1) / span_us * span_us;
	err = list_windows(r, level, from_us / span_us * span_us,
	    (uint64_t)range[1] < r->levels[level].done_us ? (uint64_t)range[1]
							  : r->levels[level].done_us, true);
	for (size_t i = 0; err == 0 && i < r->n_list;)
		err = make_run(r, level, true, &i);
	return err;
}

/* Makes the windows that have ended since. *all: none is left for the next run. */
static int
make_new(struct ship_rollup *r, int level, uint64_t end_us, bool *all)
{
	struct ship_rollup_level *to = &r->levels[level];
	int err = list_windows(r, level, to->done_us, end_us, false);

	*all = false;
	for (size_t i = 0; err == 0 && i < r->n_list;) {
		if (clock_mono_us(&clock_system) > r->until_us)
			return 0;
		err = make_run(r, level, false, &i);
		if (err == 0)
			to->done_us = r->list[i - 1] + store_levels[level].span_us;
	}
	*all = err == 0 && r->n_list < WINDOWS_AT_ONCE;
	if (*all && end_us > to->done_us)
		to->done_us = end_us;
	return err;
}

static int
roll_level(struct ship_rollup *r, int level)
{
	uint64_t span_us = store_levels[level].span_us;
	uint64_t before_us = level == LEVEL_5_MIN ? r->closed_us : r->levels[level - 1].done_us;
	uint64_t done_us = r->levels[level].done_us;
	bool dirty = has_dirty(r, level), all;
	int err = make_again(r, level);

	if (err == 0)
		err = make_new(r, level, before_us / span_us * span_us, &all);
	if (err == 0 && (dirty || r->levels[level].done_us != done_us))
		err = save_rolled(r, level);
	return err;
}

/* To be called before anything is dropped, so that no reader looks for it. */
static int
save_kept(struct ship_rollup *r)
{
	int err = 0;

	for (int l = LEVEL_1_MIN; err == 0 && l < CLUSTER_LEVELS_END; l++) {
		if (r->before_us[l] <= r->levels[l].kept_us)
			continue;
		r->levels[l].kept_us = r->before_us[l];
		err = save_rolled(r, l);
	}
	return err;
}

int
ship_rollup_run(struct ship_rollup *r)
{
	int err = 0;

	if (r->closed_us > r->levels[LEVEL_1_MIN].done_us) {
		r->levels[LEVEL_1_MIN].done_us = r->closed_us;
		err = save_rolled(r, LEVEL_1_MIN);
	}
	for (int l = LEVEL_5_MIN; err == 0 && l < CLUSTER_LEVELS_END; l++)
		err = roll_level(r, l);
	return err == 0 ? save_kept(r) : err;
}
