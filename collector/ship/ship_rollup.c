#include "collector/ship/ship_rollup.h"
#include "collector/cluster/sums_sql.h"
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

static void
write_name(const struct ship_rollup *r, FILE *out, enum cluster_table_id table, bool local)
{
	cluster_write_name(out, &r->place, &cluster_tables[table], local);
}

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
		r->levels[l] = (struct ship_rollup_level){(uint64_t)cells[3].i,
		    (uint64_t)cells[4].i};
	else if (c)
		c->rolled[l] = (uint64_t)cells[2].i;
	if ((uint64_t)cells[5].i > r->changed_us)
		r->changed_us = (uint64_t)cells[5].i;
	return 0;
}

int
ship_rollup_load(struct ship_rollup *r)
{
	struct statement st;

	for (size_t i = 0; i < r->n_collectors; i++)
		for (int l = LEVEL_1_MIN; l < CLUSTER_LEVELS_END; l++)
			r->collectors[i].rolled[l] = 0;
	statement_begin(&st);
	if (st.out) {
		fputs("SELECT toUInt64(level), collector, rolled_revision, done_us, kept_us,"
		      " revision FROM ", st.out);
		write_name(r, st.out, CLUSTER_ROLLED, true);
		fputs(" FINAL", st.out);
	}
	return statement_rows(&st, r->http, r->server, 6, take_rolled, r);
}

void
ship_rollup_free(struct ship_rollup *r)
{
	free(r->list);
	r->list = NULL;
	r->n_list = r->room = 0;
}

/* All rows of a level are inserted in one block, so that no reader sees a part of them. */
static int
save(struct ship_rollup *r, int level)
{
	struct statement st;

	statement_begin(&st);
	if (!st.out)
		return -ENOMEM;
	fputs("INSERT INTO ", st.out);
	write_name(r, st.out, CLUSTER_ROLLED, true);
	fputs(" (", st.out);
	cluster_write_columns(st.out, &cluster_tables[CLUSTER_ROLLED]);
	fprintf(st.out, ") VALUES (%u, 0, 0, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ")",
	    store_levels[level].minutes, r->levels[level].done_us, r->levels[level].kept_us,
	    r->now_us);
	for (size_t i = 0; i < r->n_collectors; i++)
		fprintf(st.out, ", (%u, %" PRId64 ", %" PRIu64 ", 0, 0, %" PRIu64 ")",
		    store_levels[level].minutes, r->collectors[i].collector,
		    r->collectors[i].revision, r->now_us);
	return statement_run(&st, r->http, r->server);
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
is_dirty(const struct ship_rollup_collector *c, int level)
{
	return c->revision > c->rolled[level];
}

static bool
has_dirty(const struct ship_rollup *r, int level)
{
	for (size_t i = 0; i < r->n_collectors; i++)
		if (is_dirty(&r->collectors[i], level))
			return true;
	return false;
}

/* The condition for batches, or minutes, that are not in the level yet. */
static void
write_dirty(const struct ship_rollup *r, FILE *out, int level)
{
	const char *separator = "(";

	for (size_t i = 0; i < r->n_collectors; i++) {
		const struct ship_rollup_collector *c = &r->collectors[i];

		if (!is_dirty(c, level))
			continue;
		fprintf(out, "%s(collector = %" PRId64 " AND revision > %" PRIu64
			     " AND revision <= %" PRIu64 ")", separator, c->collector,
		    c->rolled[level], c->revision);
		separator = " OR ";
	}
	fputs(")", out);
}

/* The range of those batches' minutes. */
static int
ask_dirty_range(struct ship_rollup *r, int level, int64_t range[2])
{
	struct statement st;

	statement_begin(&st);
	if (st.out) {
		fputs("SELECT min(from_us), max(to_us) FROM ", st.out);
		write_name(r, st.out, CLUSTER_CURSORS, false);
		fputs(" WHERE from_us > 0 AND ", st.out);
		write_dirty(r, st.out, level);
	}
	return statement_numbers(&st, r->http, r->server, range, 2);
}

static int
list_windows(struct ship_rollup *r, int level, uint64_t from_us, uint64_t to_us, bool dirty)
{
	struct statement st;

	r->n_list = 0;
	if (from_us >= to_us)
		return 0;
	statement_begin(&st);
	if (st.out) {
		fprintf(st.out, "SELECT DISTINCT intDiv(start_us, %" PRIu64 ") * %" PRIu64
				" AS w FROM ", store_levels[level].span_us,
		    store_levels[level].span_us);
		write_name(r, st.out, CLUSTER_COVER, true);
		fprintf(st.out, " WHERE start_us >= %" PRIu64 " AND start_us < %" PRIu64, from_us,
		    to_us);
		if (dirty) {
			fputs(" AND ", st.out);
			write_dirty(r, st.out, level);
		}
		fputs(" ORDER BY w", st.out);
		if (!dirty)
			fprintf(st.out, " LIMIT %d", WINDOWS_AT_ONCE);
	}
	return statement_rows(&st, r->http, r->server, 1, add_window, r);
}

/* Making windows */

/* A run of windows that one set of statements makes. */
struct windows {
	int level;
	uint64_t from_us, to_us;
	bool again; /* only for agents with new data */
};

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

static void
write_range(FILE *out, const char *column, const struct windows *w)
{
	fprintf(out, "%s >= %" PRIu64 " AND %s < %" PRIu64, column, w->from_us, column, w->to_us);
}

/* The start of the window that contains a time. */
static void
write_window(FILE *out, const char *column, const struct windows *w)
{
	fprintf(out, "intDiv(%s, %" PRIu64 ") * %" PRIu64, column,
	    store_levels[w->level].span_us, store_levels[w->level].span_us);
}

/* " AND agent IN (…)": agents with minutes that are not in the level yet. */
static void
write_agents(const struct ship_rollup *r, FILE *out, const struct windows *w)
{
	if (!w->again)
		return;
	fputs(" AND agent IN (SELECT agent FROM ", out);
	write_name(r, out, CLUSTER_COVER, true);
	fputs(" WHERE ", out);
	write_range(out, "start_us", w);
	fputs(" AND ", out);
	write_dirty(r, out, w->level);
	fputs(")", out);
}

enum summands {
	NAMES,
	ZEROS, /* of their types */
	VALUES,
};

/* The columns that are summed, from n on. */
static void
write_summands(FILE *out, const struct sums_rows *rows, enum summands what)
{
	const struct cluster_table *table = &cluster_tables[rows->table];
	bool is_behind_key = false;

	for (size_t i = 0; i + 1 < cluster_n_columns(table); i++) { /* the last one is revision */
		const struct cluster_column column = cluster_column(table, i), *c = &column;

		is_behind_key |= strcmp(c->name, "n") == 0;
		if (!is_behind_key)
			continue;
		fputs(", ", out);
		if (what == ZEROS)
			fprintf(out, "to%s(0) AS ", cluster_type_names[c->type]);
		else if (what == VALUES) {
			sums_sql_value(out, rows, c->name);
			fputs(" AS ", out);
		}
		fputs(c->name, out);
	}
}

/* The counting rows of the level below. */
static void
write_source(const struct ship_rollup *r, FILE *out, const struct windows *w, const struct summed *of,
    const char *where)
{
	const struct sums_run run = {store_levels[w->level - 1].minutes, w->from_us, w->to_us};
	const struct sums_rows rows = {.place = &r->place, .table = of->table, .local = true,
	    .runs = &run, .n_runs = 1, .where = where};

	fputs("SELECT ", out);
	write_window(out, "start_us", w);
	fprintf(out, " AS window_us, agent, %s", of->key);
	write_summands(out, &rows, VALUES);
	sums_sql_rows(out, &rows);
	write_agents(r, out, w);
}

/* Zeros for keys that the window already has: a collector of theirs may no longer count. */
static void
write_former(const struct ship_rollup *r, FILE *out, const struct windows *w, const struct summed *of,
    const char *where)
{
	fputs(" UNION ALL SELECT ", out);
	write_window(out, "start_us", w);
	fprintf(out, " AS window_us, agent, %s", of->key);
	write_summands(out, &(struct sums_rows){.table = of->table}, ZEROS);
	fputs(" FROM ", out);
	write_name(r, out, of->table, true);
	fprintf(out, " WHERE level = %u%s AND ", store_levels[w->level].minutes, where);
	write_range(out, "start_us", w);
	write_agents(r, out, w);
}

/* The sum of its minutes' revisions. It grows whenever a minute is sent again, and is the same
 * whichever collector computes it. */
static void
write_revisions(const struct ship_rollup *r, FILE *out, const struct windows *w)
{
	fputs("SELECT ", out);
	write_window(out, "start_us", w);
	fputs(" AS window_us, agent, sum(revision) AS revision FROM ", out);
	write_name(r, out, CLUSTER_COVER, true);
	fputs(" FINAL WHERE ", out);
	write_range(out, "start_us", w);
	fputs(" GROUP BY window_us, agent", out);
}

static int
make_sums(struct ship_rollup *r, const struct windows *w, const struct summed *of, unsigned kind)
{
	const struct sums_rows rows = {.table = of->table};
	struct statement st;
	char where[32] = "";

	if (of->by_kind)
		snprintf(where, sizeof(where), " AND kind = %u", kind);
	statement_begin(&st);
	if (!st.out)
		return -ENOMEM;
	fputs("INSERT INTO ", st.out);
	write_name(r, st.out, of->table, true);
	fprintf(st.out, " (level, start_us, collector, agent, %s", of->key);
	write_summands(st.out, &rows, NAMES);
	fprintf(st.out, ", revision) SELECT %u, window_us, 0, agent, %s, ",
	    store_levels[w->level].minutes, of->key);
	sums_sql_columns(st.out, &rows);
	fputs(", revision FROM (", st.out);
	write_source(r, st.out, w, of, where);
	if (w->again)
		write_former(r, st.out, w, of, where);
	fputs(") AS s ALL INNER JOIN (", st.out);
	write_revisions(r, st.out, w);
	fprintf(st.out, ") AS r USING (window_us, agent) GROUP BY window_us, agent, %s, revision",
	    of->key);
	return statement_run(&st, r->http, r->server);
}

/* Counters: the first and the last ones of each window, port and boot. */
static int
copy_ends(struct ship_rollup *r, const struct windows *w, enum cluster_table_id id,
    const char *stretch)
{
	const struct cluster_table *table = &cluster_tables[id];
	struct statement st;

	statement_begin(&st);
	if (!st.out)
		return -ENOMEM;
	fputs("INSERT INTO ", st.out);
	write_name(r, st.out, id, true);
	fprintf(st.out, " (");
	cluster_write_columns(st.out, table);
	fprintf(st.out, ") SELECT %u", store_levels[w->level].minutes);
	for (size_t i = 1; i < cluster_n_columns(table); i++) /* the first is level */
		fprintf(st.out, ", %s", cluster_column(table, i).name);
	fputs(" FROM ", st.out);
	write_name(r, st.out, id, true);
	fprintf(st.out, " FINAL WHERE level = %u AND ", store_levels[w->level - 1].minutes);
	write_range(st.out, "time_us", w);
	fputs(" AND (agent, if_index, time_us) IN (SELECT agent, if_index, arrayJoin([min(time_us),"
	      " max(time_us)]) FROM ", st.out);
	write_name(r, st.out, id, true);
	fprintf(st.out, " WHERE level = %u AND ", store_levels[w->level - 1].minutes);
	write_range(st.out, "time_us", w);
	fprintf(st.out, " GROUP BY agent, if_index, %s, ", stretch);
	write_window(st.out, "time_us", w);
	fputs(")", st.out);
	return statement_run(&st, r->http, r->server);
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
	struct windows w = {.level = level, .from_us = r->list[*i], .again = again};
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
		err = save(r, level);
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
		err = save(r, l);
	}
	return err;
}

int
ship_rollup_run(struct ship_rollup *r)
{
	int err = 0;

	if (r->closed_us > r->levels[LEVEL_1_MIN].done_us) {
		r->levels[LEVEL_1_MIN].done_us = r->closed_us;
		err = save(r, LEVEL_1_MIN);
	}
	for (int l = LEVEL_5_MIN; err == 0 && l < CLUSTER_LEVELS_END; l++)
		err = roll_level(r, l);
	return err == 0 ? save_kept(r) : err;
}
