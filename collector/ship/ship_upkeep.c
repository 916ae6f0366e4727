#include "collector/ship/ship_upkeep.h"
#include "collector/cluster/migration.h"
#include "collector/ship/ship_rollup.h"
#include "collector/ship/ship_sql.h"
#include "collector/ship/statement.h"
#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "ship"
#define MINUTE_US ((uint64_t)STORE_WINDOW_US)
/* A collector that wrote no batch for this long is not waited for, and others do its upkeep. */
#define SILENT_US (15 * MINUTE_US)
/* A collector whose newest minutes are this far behind those of others is not waited for either. */
#define BEHIND_US (60 * MINUTE_US)
/* Rows of cover are needed for roll-ups for a while after their minutes are dropped. */
#define COVER_LONGER_US (2 * STORE_DAY_US)
#define KEEP_CURSORS_US (7 * STORE_DAY_US)

int
ship_upkeep_init(struct ship_upkeep *k, struct cluster_http *http, const struct cluster_place *place)
{
	k->http = http;
	k->place = *place;
	k->servers = calloc(cluster_http_n_servers(http), sizeof(*k->servers));
	return k->servers ? 0 : -ENOMEM;
}

void
ship_upkeep_free(struct ship_upkeep *k)
{
	free(k->servers);
	k->servers = NULL;
}

void
ship_upkeep_forget(struct ship_upkeep *k)
{
	for (size_t i = 0; i < cluster_http_n_servers(k->http); i++)
		k->servers[i].is_ready = false;
}

/* Tables */

int
ship_upkeep_version(struct ship_upkeep *k, int server, int64_t *version)
{
	int r = statement_numbers(k->http, server, SQL(&k->place, NULL, cluster_sql[CLUSTER_SQL_VERSION].text), version, 1);

	if (r == -EREMOTEIO && statement_has_no_tables(k->http))
		return 0;
	return r;
}

static int
raise_server(struct ship_upkeep *k, int server)
{
	struct sql_value values[SQL_VALUES_MAX];
	struct sql sql;
	int64_t version;
	int r = ship_upkeep_version(k, server, &version);

	if (r == 0 && version > CLUSTER_VERSION) {
		log_warn_limited(ROOM, "%s has tables of version %" PRId64 "; this program knows "
				       "versions up to %d",
		    cluster_http_server(k->http, (size_t)server), version,
		    CLUSTER_VERSION);
		return 0; /* columns are only added */
	}
	if (r == 0 && version > 0 && version < CLUSTER_FIRST_VERSION) {
		log_warn_limited(ROOM, "%s has tables of version %" PRId64 ", from before the first release; this program "
				       "supports versions from %d on: drop the database, or choose another one",
		    cluster_http_server(k->http, (size_t)server), version, CLUSTER_FIRST_VERSION);
		return -EPROTO;
	}
	if (r == 0 && version == CLUSTER_VERSION)
		return 0;
	for (size_t i = 0; r == 0 && cluster_migration(&sql, values, &k->place, version, i); i++) {
		r = statement_run(k->http, server, &sql);
		if (r == -EREMOTEIO && cluster_http_code(k->http) == CLUSTER_ERROR_COLUMN)
			r = 0; /* an interrupted migration has added it */
	}
	if (r == 0)
		log_info(ROOM, "%s: tables migrated from version %" PRId64 " to %d",
		    cluster_http_server(k->http, (size_t)server), version, CLUSTER_VERSION);
	return r;
}

static int
prepare_server(struct ship_upkeep *k, int server, bool *restarted)
{
	struct ship_upkeep_server *s = &k->servers[server];
	int64_t uptime_s;
	int r = statement_numbers(k->http, server, SQL(&k->place, NULL, ship_sql[SHIP_SQL_UPTIME].text), &uptime_s, 1);

	if (r < 0)
		return r;
	if (uptime_s < s->uptime_s)
		*restarted = true;
	s->uptime_s = uptime_s;
	if (!s->is_ready)
		r = raise_server(k, server);
	s->is_ready = r == 0;
	return r;
}

int
ship_upkeep_prepare(struct ship_upkeep *k, bool *restarted)
{
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < cluster_http_n_servers(k->http); i++) {
		int err = prepare_server(k, (int)i, restarted);

		any |= err == 0;
		r = err < 0 ? err : r;
		if (err == -ECANCELED)
			return err;
	}
	return any ? 0 : r;
}

/* Which collectors there are */

struct collectors {
	struct ship_rollup_collector *items;
	size_t n, room;
	uint64_t now_us; /* by the cluster's clock */
};

static int
add_collector(void *arg, const struct row_cell *cells)
{
	struct collectors *all = arg;

	if (all->n == all->room) {
		size_t room = all->room ? 2 * all->room : 16;
		struct ship_rollup_collector *items = realloc(all->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		all->items = items;
		all->room = room;
	}
	all->items[all->n++] = (struct ship_rollup_collector){
	    .collector = cells[0].i,
	    .revision = (uint64_t)cells[1].i,
	    .closed_us = (uint64_t)cells[2].i,
	    .newest_us = (uint64_t)cells[3].i,
	    .heard_us = (uint64_t)cells[4].i,
	};
	all->now_us = (uint64_t)cells[5].i;
	return 0;
}

/* The time up to which all collectors that are waited for have sent their minutes. */
static uint64_t
closed_by_all(const struct collectors *all)
{
	uint64_t latest_us = 0, closed_us = UINT64_MAX;

	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].closed_us > latest_us)
			latest_us = all->items[i].closed_us;
	for (size_t i = 0; i < all->n; i++) {
		const struct ship_rollup_collector *c = &all->items[i];

		if (c->heard_us + SILENT_US >= all->now_us &&
		    c->closed_us + BEHIND_US >= latest_us && c->closed_us < closed_us)
			closed_us = c->closed_us;
	}
	return closed_us == UINT64_MAX ? latest_us : closed_us;
}

/* The first active collector does the upkeep; they are sorted by number. */
static bool
is_first(const struct collectors *all, int64_t collector)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].heard_us + SILENT_US >= all->now_us)
			return all->items[i].collector == collector;
	return true;
}

/* Retention */

static const enum cluster_table_id aging[] = {CLUSTER_KEYS, CLUSTER_PORTS, CLUSTER_FOLDED,
    CLUSTER_COUNTERS, CLUSTER_RESOURCES, CLUSTER_COVER, CLUSTER_SAMPLES, CLUSTER_EVENTS,
    CLUSTER_GAPS, CLUSTER_DISCARDS, CLUSTER_CURSORS};

enum { N_AGING = sizeof(aging) / sizeof(aging[0]) };

struct limits {
	uint64_t before_us[CLUSTER_LEVELS_END]; /* windows before this are dropped; or 0 */
	uint64_t cover_us, samples_us, cursors_us;
};

struct dropping {
	struct ship_upkeep *k;
	const struct limits *limits;
	struct old {
		enum cluster_table_id table;
		unsigned level;
		uint64_t bucket;
	} *items;
	size_t n;
};

enum { DROPPED_AT_ONCE = 64 };

static uint64_t
partition_end(const struct cluster_table *table, enum store_level_index level, uint64_t bucket)
{
	uint64_t span_us = table->partition == CLUSTER_BY_LEVEL
	    ? store_levels[level].partition_us
	    : table->partition == CLUSTER_BY_DAY ? STORE_DAY_US : 30 * STORE_DAY_US;

	return (bucket + 1) * span_us;
}

static uint64_t
upkeep_limit_of(const struct limits *limits, enum cluster_table_id table, enum store_level_index level)
{
	switch (table) {
	case CLUSTER_COVER:
		return limits->cover_us;
	case CLUSTER_SAMPLES:
		return limits->samples_us;
	case CLUSTER_CURSORS:
		return limits->cursors_us;
	case CLUSTER_EVENTS: /* as long as sums of days */
	case CLUSTER_GAPS:
	case CLUSTER_DISCARDS:
		return limits->before_us[LEVEL_1_D];
	default:
		return limits->before_us[level];
	}
}

static int
look_at_partition(void *arg, const struct row_cell *cells)
{
	struct dropping *d = arg;
	enum cluster_table_id table = aging[(cells[0].i - 1) % N_AGING];
	enum store_level_index level = LEVEL_1_MIN;

	while (level < LEVEL_1_D && store_levels[level].minutes != (unsigned)cells[1].i)
		level++;
	if (d->n < DROPPED_AT_ONCE && partition_end(&cluster_tables[table], level,
		(uint64_t)cells[2].i) <= upkeep_limit_of(d->limits, table, level))
		d->items[d->n++] = (struct old){table, (unsigned)cells[1].i,
		    (uint64_t)cells[2].i};
	return 0;
}

/* The names of local tables, as texts. */
static void
write_aging(FILE *out, const void *place)
{
	const struct cluster_place *p = place;

	for (int i = 0; i < N_AGING; i++)
		fprintf(out, "%s'%s%s'", i > 0 ? ", " : "", cluster_tables[aging[i]].name,
		    cluster_is_sharded(p) ? "_local" : "");
}

/* Rows (table's place in aging, level, number). */
static int
ask_partitions(struct ship_upkeep *k, int server, struct dropping *d)
{
	return statement_rows(k->http, server, SQL(&k->place, NULL, ship_sql[SHIP_SQL_PARTITIONS].text,
	    SQL_WRITE("tables", write_aging, &k->place)), 3, look_at_partition, d);
}

static int
drop_partition(struct ship_upkeep *k, int server, const struct old *old)
{
	const struct cluster_table *table = &cluster_tables[old->table];

	return statement_run(k->http, server, SQL(&k->place, table, ship_sql[SHIP_SQL_DROP].text,
	    SQL_TEXT("partition", table->partition == CLUSTER_BY_LEVEL ? "({level},{bucket})" : "{bucket}"),
	    SQL_U64("level", old->level), SQL_U64("bucket", old->bucket)));
}

/* Ages count from the newest minute, but from the present where a device's clock is ahead. */
static void
set_limits(const struct ship_upkeep *k, const struct collectors *all,
    const struct ship_rollup_level *levels, struct limits *limits)
{
	uint64_t newest_us = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].newest_us > newest_us)
			newest_us = all->items[i].newest_us;
	if (newest_us > all->now_us)
		newest_us = all->now_us;
	*limits = (struct limits){.cursors_us = all->now_us - KEEP_CURSORS_US};
	for (int l = LEVEL_1_MIN; l < CLUSTER_LEVELS_END; l++) {
		uint64_t before_us = k->keep_us[l] > 0 && newest_us > k->keep_us[l]
		    ? newest_us - k->keep_us[l] : 0;

		if (l < LEVEL_1_D && before_us > levels[l + 1].done_us)
			before_us = levels[l + 1].done_us;
		limits->before_us[l] = before_us / store_levels[l].partition_us *
		    store_levels[l].partition_us;
	}
	if (limits->before_us[LEVEL_1_MIN] > COVER_LONGER_US)
		limits->cover_us = limits->before_us[LEVEL_1_MIN] - COVER_LONGER_US;
	if (k->keep_samples_us > 0 && newest_us > k->keep_samples_us)
		limits->samples_us = newest_us - k->keep_samples_us;
}

static int
upkeep_drop_old(struct ship_upkeep *k, int server, const struct limits *limits)
{
	struct old items[DROPPED_AT_ONCE];
	struct dropping d = {k, limits, items, 0};
	int r = ask_partitions(k, server, &d);

	for (size_t i = 0; r == 0 && i < d.n; i++) {
		r = drop_partition(k, server, &items[i]);
		k->dropped += r == 0;
	}
	return r;
}

/* Tables without partitions: rows that are older than the sums of days leave one by one. */
static int
upkeep_delete_old_rows(struct ship_upkeep *k, int server, uint64_t before_us)
{
	int r = 0;

	for (size_t i = 0; r == 0 && before_us > 0 && i < SHIP_N_OLD_ROWS; i++) {
		const struct sql_value values[SQL_VALUES_MAX] = {SQL_TEXT("old", ship_old_rows[i].old),
		    SQL_U64("before_us", before_us)};
		struct sql sql = {&k->place, &cluster_tables[ship_old_rows[i].table], ship_sql[SHIP_SQL_COUNT_OLD].text,
		    values};
		int64_t n = 0;

		r = statement_numbers(k->http, server, &sql, &n, 1);
		if (r < 0 || n == 0)
			continue;
		sql.text = ship_sql[SHIP_SQL_DELETE_OLD].text;
		r = statement_run(k->http, server, &sql);
		k->deleted += r == 0 ? (uint64_t)n : 0;
	}
	return r;
}

/* Work */

static int
upkeep_work_on(struct ship_upkeep *k, int server, const struct collectors *all, uint64_t until_us)
{
	struct ship_rollup rollup = {.http = k->http, .place = k->place, .server = server,
	    .collectors = all->items, .n_collectors = all->n, .now_us = all->now_us,
	    .closed_us = closed_by_all(all), .until_us = until_us};
	struct limits limits;
	int r = ship_rollup_load(&rollup);

	if (r == 0 && (is_first(all, k->collector) ||
			  rollup.changed_us + SILENT_US < all->now_us)) {
		set_limits(k, all, rollup.levels, &limits);
		memcpy(rollup.before_us, limits.before_us, sizeof(limits.before_us));
		r = ship_rollup_run(&rollup);
		k->rolled += rollup.windows;
		if (r == 0)
			r = upkeep_drop_old(k, server, &limits);
		if (r == 0)
			r = upkeep_delete_old_rows(k, server, limits.before_us[LEVEL_1_D]);
	}
	ship_rollup_free(&rollup);
	return r;
}

int
ship_upkeep_work(struct ship_upkeep *k, uint64_t budget_us)
{
	uint64_t until_us = clock_mono_us(&clock_system) + budget_us;
	struct collectors all = {0};
	int r = 0;

	for (size_t i = 0; i < cluster_http_n_servers(k->http); i++) {
		int err = 0;

		if (!k->servers[i].is_ready)
			continue;
		all.n = 0;
		err = statement_rows(k->http, (int)i, SQL(&k->place, NULL, ship_sql[SHIP_SQL_COLLECTORS].text), 6, add_collector,
		    &all);
		if (err == 0 && all.n > 0)
			err = upkeep_work_on(k, (int)i, &all, until_us);
		r = err < 0 ? err : r;
		if (err == -ECANCELED)
			break;
	}
	free(all.items);
	return r;
}
