#include "collector/query/mirror.h"

#include "collector/cluster/migration.h"
#include "collector/query/mirror_tables.h"
#include "collector/store/schema.h"
#include "collector/window/port_totals.h"
#include "common/text.h"
#include "common/trap_wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SQL_MAX = 2048, MINUTE_US = STORE_WINDOW_US };

#define DAY_US UINT64_C(86400000000)

/* ---- filling a table ---- */

struct filling {
	struct query *query;
	const struct mirror_table *table;
	char columns[MIRROR_COLUMNS_TEXT];
	enum cluster_type types[MIRROR_COLUMNS_MAX];
	const struct stored_column *stored[MIRROR_COLUMNS_MAX]; /* NULL: the store has no such column */
	size_t n_types, n_rows;
	sqlite3_stmt *insert;
};

static const struct stored_column *
find_stored(const struct stored_table *table, const char *name, size_t len)
{
	for (size_t i = 0; table && i < table->n_columns; i++)
		if (strlen(table->columns[i].name) == len && strncmp(name, table->columns[i].name, len) == 0)
			return &table->columns[i];
	return NULL;
}

static void
find_types(struct filling *f)
{
	const char *name = f->columns;

	mirror_columns(f->table, f->columns);
	f->n_types = 0;
	while (*name && f->n_types < MIRROR_COLUMNS_MAX) {
		size_t len = strcspn(name, ",");

		f->stored[f->n_types] = find_stored(cluster_tables[f->table->from].stored, name, len);
		f->types[f->n_types++] = cluster_type_of(&cluster_tables[f->table->from], name, len);
		name += len;
		name += strspn(name, ", ");
	}
}

static void
bind_octets(sqlite3_stmt *stmt, int at, const struct row_cell *cell, bool text)
{
	if (text)
		sqlite3_bind_text(stmt, at, (const char *)cell->text, (int)cell->octets, SQLITE_STATIC);
	else
		sqlite3_bind_blob(stmt, at, cell->octets > 0 ? (const void *)cell->text : "",
		    (int)cell->octets, SQLITE_STATIC);
}

/* Whether the store has a column as text. */
static bool
is_text(const struct filling *f, size_t i)
{
	return f->stored[i] ? f->stored[i]->form != STORED_OCTETS : f->types[i] == CLUSTER_TEXT;
}

/* A collector writes no text that is longer than its column, and octets are addresses; who may write a server's tables
 * may write anything. */
static bool
is_too_long(const struct stored_column *column, const struct row_cell *cell)
{
	if (!column || cell->null || !cell->text)
		return false;
	if (column->form == STORED_OCTETS)
		return cell->octets != 0 && cell->octets != 4 && cell->octets != FRAME_MAC_LEN && cell->octets != FRAME_IP_LEN;
	return column->form == STORED_TEXT && column->room > 0 && cell->octets >= column->room;
}

/* False: the agent came after the list of agents was read. */
static bool
bind_row(struct filling *f, const struct row_cell *cells)
{
	for (size_t i = 0; i < f->n_types; i++) {
		int at = (int)i + 1;
		int64_t agent;

		if (cells[i].null)
			sqlite3_bind_null(f->insert, at);
		else if (f->types[i] == CLUSTER_AGENT_ID && f->table->from != CLUSTER_AGENTS) {
			agent = mirror_agent(f->query->mirror, cells[i].text);
			if (agent == 0)
				return false;
			sqlite3_bind_int64(f->insert, at, agent);
		} else if (cells[i].text)
			bind_octets(f->insert, at, &cells[i], is_text(f, i));
		else
			sqlite3_bind_int64(f->insert, at, cells[i].i);
	}
	return true;
}

/* A row takes about as much memory as a key. */
static size_t
most_rows(const struct query *query)
{
	size_t keys = query->limits.keys;

	return keys > 0 && keys < MIRROR_ROWS_MAX ? keys : MIRROR_ROWS_MAX;
}

static int
mirror_take_row(void *arg, const struct row_cell *cells)
{
	struct filling *f = arg;
	int err = 0;

	if (++f->n_rows > most_rows(f->query))
		return query_fail(f->query, -E2BIG, "more than %zu rows of table %s: ask for a"
		    " shorter range or one switch", most_rows(f->query), f->table->name);
	for (size_t i = 0; i < f->n_types; i++)
		if (is_too_long(f->stored[i], &cells[i]))
			return query_fail(f->query, -EBADMSG, "clickhouse: %zu octets in column %s of a row of table %s, which no"
			    " collector writes", cells[i].octets, f->stored[i]->name, f->table->name);
	if (f->table->from == CLUSTER_AGENTS)
		err = mirror_add_agent(f->query, &cells[0]);
	if (err || !bind_row(f, cells))
		return err;
	if (sqlite3_step(f->insert) != SQLITE_DONE)
		err = query_fail_sql(f->query);
	sqlite3_reset(f->insert);
	return err;
}

static int
prepare_insert(struct filling *f)
{
	const struct mirror_table *t = f->table;
	char sql[SQL_MAX];

	snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO %s(%s) VALUES(?", t->name, f->columns);
	for (size_t i = 1; i < f->n_types; i++)
		text_add(sql, sizeof(sql), ",?");
	text_add(sql, sizeof(sql), ")");
	if (sqlite3_prepare_v2(f->query->db, t->insert ? t->insert : sql, -1, &f->insert, NULL) !=
	    SQLITE_OK)
		return query_fail_sql(f->query);
	return 0;
}

static uint64_t
at_most_int64(uint64_t time_us)
{
	return time_us < INT64_MAX ? time_us : INT64_MAX;
}

/* 1: done; 0: there is no such statement. */
static int
ask_rows(struct filling *f, unsigned i)
{
	const struct mirror_table *t = f->table;
	const struct query_fetch_range *range = &f->query->fetch_range;
	const uint64_t around_us = PORT_TOTALS_MINUTES * (uint64_t)MINUTE_US, minute_us = store_window_start(range->from_us,
	    MINUTE_US);
	char *rest = NULL;
	size_t size;
	FILE *sql = t->write_rest ? open_memstream(&rest, &size) : NULL;
	bool more = sql ? t->write_rest(sql, f->query, i) : i < MIRROR_STATEMENTS && t->rest[i];
	int err = !t->write_rest || (sql && fclose(sql) == 0) ? 0 : query_fail(f->query, -ENOMEM, "no memory");

	if (err == 0 && more)
		err = mirror_ask(f->query, SQL(mirror_place(f->query->mirror), &cluster_tables[t->from], "{select}{rest}",
		    SQL_TEXT("select", !t->select ? "SELECT {fetched}" : *t->select ? "SELECT {expressions}" : ""),
		    SQL_TEXT("fetched", f->columns), SQL_TEXT("expressions", t->select),
		    SQL_TEXT("rest", rest ? rest : t->rest[i]), SQL_WRITE("agents", mirror_write_agents, f->query),
		    SQL_U64("from_us", at_most_int64(range->from_us)), SQL_U64("to_us", at_most_int64(range->to_us)),
		    SQL_U64("around_from_us", at_most_int64(range->from_us - around_us)),
		    SQL_U64("around_to_us", at_most_int64(range->to_us + around_us)),
		    SQL_U64("minute_us", minute_us), SQL_U64("before_us", minute_us > MINUTE_US ? minute_us - MINUTE_US : 0),
		    SQL_TEXT("minutes", "(start_us >= {before_us} AND start_us < {to_us})"), SQL_TEXT("and_more", ""),
		    SQL_U64("new_address", EASE_NOTIFY_NEW_ADDRESS)), f->types, f->n_types, mirror_take_row, f);
	free(rest);
	return err ? err : more;
}

static int
run_on_mirror(struct query *query, const char *sql)
{
	return sqlite3_exec(query->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
									    : query_fail_sql(query);
}

static int
empty_table(struct query *query, const struct mirror_table *table)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "DELETE FROM %s", table->name);
	if (table->from == CLUSTER_AGENTS)
		query->mirror->n_agents = 0;
	return run_on_mirror(query, sql);
}

/* ---- what is complete ---- */

static int
take_complete(void *arg, const struct row_cell *cells)
{
	struct filling *f = arg;
	uint64_t end_us = (uint64_t)cells[1].i + MINUTE_US;
	int err = 0;

	sqlite3_bind_blob(f->insert, 1, cells[0].text, EASE_AGENT_ID_LEN, SQLITE_STATIC);
	sqlite3_bind_int64(f->insert, 2, (sqlite3_int64)end_us);
	if (sqlite3_step(f->insert) != SQLITE_DONE)
		err = query_fail_sql(f->query);
	sqlite3_reset(f->insert);
	return err;
}

static int
find_newest(struct query *query, uint64_t *newest_us)
{
	sqlite3_stmt *stmt = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(query->db, "SELECT max(last_us) FROM agent", -1, &stmt, NULL) !=
	    SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
		err = query_fail_sql(query);
	else
		*newest_us = query_u64(stmt, 0);
	sqlite3_finalize(stmt);
	return err;
}

/* An agent's row is newer than its last minute that was closed and shipped, so data ends with that
 * minute. An agent without any minute for a day has none open. */
static int
end_with_minutes(struct query *query)
{
	static const enum cluster_type types[] = {CLUSTER_AGENT_ID, CLUSTER_U64};
	struct filling f = {.query = query};
	uint64_t newest_us = 0;
	int err = find_newest(query, &newest_us);

	if (err == 0 && sqlite3_prepare_v2(query->db, "UPDATE agent SET last_us = ?2,"
	    " lacks_minute = 1 WHERE agent_id = ?1 AND last_us > ?2", -1, &f.insert, NULL) != SQLITE_OK)
		err = query_fail_sql(query);
	if (err == 0) /* of each agent, of the last day */
		err = mirror_ask(query, SQL(mirror_place(query->mirror), NULL, "SELECT agent, max(start_us) FROM {cover}"
		    " WHERE start_us >= {from_us} GROUP BY agent", SQL_U64("from_us", newest_us > DAY_US ? newest_us - DAY_US : 0)),
		    types, 2, take_complete, &f);
	sqlite3_finalize(f.insert);
	return err;
}

static int
fill_table(struct query *query, const struct mirror_table *table)
{
	struct filling f = {.query = query, .table = table};
	int err = empty_table(query, table), more = 1;

	find_types(&f);
	if (err == 0)
		err = prepare_insert(&f);
	for (unsigned i = 0; err == 0 && more; i++) {
		more = ask_rows(&f, i);
		if (more < 0)
			err = more;
	}
	sqlite3_finalize(f.insert);
	if (err == 0 && table->from == CLUSTER_AGENTS)
		err = end_with_minutes(query);
	return err;
}

/* ---- what a statement reads ---- */

static int
note_read(void *arg, int action, const char *table, const char *column, const char *database, const char *trigger)
{
	struct mirror *m = arg;

	(void)column;
	(void)database;
	(void)trigger;
	for (size_t i = 0; action == SQLITE_READ && i < MIRROR_N_TABLES; i++)
		if (strcmp(mirror_tables[i].name, table) == 0)
			m->noted |= 1u << i;
	return SQLITE_OK;
}

static bool
mirror_is_there(const struct query *query, size_t i)
{
	const struct query_fetch_range *has = &query->mirror->loaded[i].fetch_range;
	const struct query_fetch_range *want = &query->fetch_range;

	if (!query->mirror->loaded[i].is)
		return false;
	if (!mirror_tables[i].by_fetch_range)
		return true;
	if (has->rows != want->rows)
		return false;
	if (has->rows == QUERY_ROWS_AT_ENDS)
		return has->from_us == want->from_us && has->to_us == want->to_us;
	return has->from_us <= want->from_us && has->to_us >= want->to_us;
}

static bool
is_for(const struct mirror_table *table, const struct query_fetch_range *fetch_range)
{
	return table->for_rows == 0 || (table->for_rows >> fetch_range->rows & 1) != 0;
}

static int
fill_noted(struct query *query, uint32_t noted)
{
	struct mirror *m = query->mirror;
	int err = 0;

	for (size_t i = 0; err == 0 && i < MIRROR_N_TABLES; i++) {
		if (!(noted >> i & 1) || !is_for(&mirror_tables[i], &query->fetch_range) ||
		    mirror_is_there(query, i))
			continue;
		for (size_t k = 0; k < MIRROR_N_TABLES; k++)
			if (strcmp(mirror_tables[k].name, mirror_tables[i].name) == 0)
				m->loaded[k].is = false;
		err = fill_table(query, &mirror_tables[i]);
		m->loaded[i].is = err == 0;
		m->loaded[i].fetch_range = query->fetch_range;
	}
	return err;
}

void
mirror_prepare(struct query *query)
{
	query->mirror->noted = 0;
}

/* The one of that statement; NULL: there is none. */
static struct mirror_unread *
find_unread(struct mirror *m, const sqlite3_stmt *stmt)
{
	for (size_t i = 0; i < MIRROR_UNREAD; i++)
		if (m->unread[i].stmt == stmt)
			return &m->unread[i];
	return NULL;
}

/* One that was closed before it ran has left its address to another. */
int
mirror_prepared(struct query *query, sqlite3_stmt *stmt)
{
	struct mirror *m = query->mirror;
	struct mirror_unread *unread = find_unread(m, stmt);

	if (!query->fetch_range.given)
		query_set_fetch_range(query, QUERY_ALL_ROWS, query->range.from_us, query->range.to_us);
	query->fetch_range.given = false;
	if (!unread)
		unread = find_unread(m, NULL);
	if (!unread)
		return query_fail(query, -ENOBUFS, "more than %d statements wait for rows", MIRROR_UNREAD);
	*unread = (struct mirror_unread){stmt, m->noted, query->fetch_range};
	return 0;
}

int
mirror_step(struct query *query, sqlite3_stmt *stmt)
{
	struct mirror_unread *unread = find_unread(query->mirror, stmt);

	if (query->failed || !unread)
		return query->failed;
	query->fetch_range = unread->fetch_range;
	query->failed = fill_noted(query, unread->noted);
	unread->stmt = NULL;
	return query->failed;
}

void
mirror_forget(struct query *query)
{
	memset(query->mirror->loaded, 0, sizeof(query->mirror->loaded));
	memset(query->mirror->unread, 0, sizeof(query->mirror->unread));
}

/* ---- opening ---- */

static bool
is_enough(void *arg)
{
	return query_is_over_limit(arg);
}

static int
take_version(void *arg, const struct row_cell *cells)
{
	*(int64_t *)arg = cells[0].i;
	return 0;
}

static int
mirror_check_version(struct query *query)
{
	static const enum cluster_type type = CLUSTER_U64;
	int64_t version = 0;
	int err = mirror_ask(query, SQL(&query->mirror->place, NULL, cluster_sql[CLUSTER_SQL_VERSION].text), &type, 1,
	    take_version, &version);

	if (err)
		return err;
	if (version > CLUSTER_VERSION)
		return query_fail(query, -EPROTO, "%s: version %d of the tables is newer than this"
		    " easetop, which reads up to %d", query->path, (int)version, CLUSTER_VERSION);
	if (version > 0 && version < CLUSTER_FIRST_VERSION)
		return query_fail(query, -EPROTO, "%s: version %d of the tables is from before the first release;"
		    " this easetop reads versions from %d on: ship to another database", query->path, (int)version,
		    CLUSTER_FIRST_VERSION);
	if (version < CLUSTER_VERSION)
		return query_fail(query, -EPROTO, "%s: version %d of the tables is older than this"
		    " easetop; the next easecapd that ships brings it to %d", query->path,
		    (int)version, CLUSTER_VERSION);
	return 0;
}

/* The store's tables, empty, which agents have data newer than their minutes, and which collector has which minutes (gaps.c). */
static int
make_tables(struct query *query)
{
	int err;

	if (sqlite3_open_v2(":memory:", &query->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return query_fail(query, -ENOMEM, "no memory");
	err = store_make_tables(query->db) == 0 ? 0 : query_fail_sql(query);
	if (err == 0)
		err = run_on_mirror(query, "ALTER TABLE agent ADD COLUMN lacks_minute INTEGER;"
		    " ALTER TABLE agent ADD COLUMN collector INTEGER;"
		    " ALTER TABLE gap ADD COLUMN collector INTEGER;"
		    " CREATE TABLE cover(agent INTEGER, collector INTEGER, hour_us INTEGER,"
		    " minutes INTEGER);"
		    " PRAGMA journal_mode = OFF");
	sqlite3_set_authorizer(query->db, note_read, query->mirror);
	return err;
}

static void
mirror_set_place(struct mirror *m, const struct query_cluster *where)
{
	const struct cluster_url *first = &where->servers[0];
	const char *database = where->database && *where->database ? where->database
								   : first->database;
	const char *cluster = where->cluster && *where->cluster ? where->cluster : first->cluster;

	snprintf(m->database, sizeof(m->database), "%s", *database ? database : "ease");
	snprintf(m->cluster, sizeof(m->cluster), "%s", cluster);
	m->place = (struct cluster_place){m->database, m->cluster};
}

int
mirror_open(struct query *query, const struct query_cluster *where)
{
	const struct cluster_http_config config = {.servers = where->servers,
	    .n_servers = where->n_servers, .user = where->user, .password = where->password,
	    .timeout_ms = MIRROR_ASK_MS, .stop = is_enough, .stop_arg = query};
	struct mirror *m = calloc(1, sizeof(*m));
	int err;

	query->mirror = m;
	if (!m || asprintf(&query->path, "clickhouse:%s:%u", where->servers[0].host, where->servers[0].port) < 0)
		return query_fail(query, -ENOMEM, "no memory");
	mirror_set_place(m, where);
	err = cluster_http_open(&m->http, &config, query->error, sizeof(query->error));
	if (err == 0)
		err = mirror_check_version(query);
	return err == 0 ? make_tables(query) : err;
}

void
mirror_close(struct mirror *mirror)
{
	if (!mirror)
		return;
	cluster_http_close(mirror->http);
	free(mirror->agents);
	free(mirror);
}
