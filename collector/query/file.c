/*
 * A collector's file as a store of reports: SQLite is asked itself, in one read transaction. Part of query.h.
 */
#include "collector/query/query_private.h"
#include "collector/store/schema.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_WAIT_MS = 2000 }; /* a writer's checkpoint may hold the file for a moment */

/* Says why a file cannot be read, and to a user without the right, which group has it. */
static int
check_readable(struct query *query)
{
	const struct group *group;
	struct stat st;
	int err;

	if (access(query->path, R_OK) == 0)
		return 0;
	err = errno;
	if (err != EACCES || stat(query->path, &st) != 0)
		return query_fail(query, -err, "%s: %s", query->path, strerror(err));
	group = getgrgid(st.st_gid);
	return query_fail(query, -EACCES, "%s: %s: only group %s may read it", query->path,
	    strerror(EACCES), group ? group->gr_name : "(unknown)");
}

static int
file_check_version(struct query *query)
{
	sqlite3_stmt *stmt = query_prepare(query, "PRAGMA user_version");
	int more = stmt ? query_step(query, stmt) : -EIO, version = 0;

	if (more == 1)
		version = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	if (more < 0)
		return more;
	if (version > STORE_VERSION)
		return query_fail(query, -EPROTO, "%s: store version %d is newer than this easetop,"
		    " which reads up to %d", query->path, version, STORE_VERSION);
	if (version < 1)
		return query_fail(query, -EPROTO, "%s: not a store of easecapd", query->path);
	if (version < STORE_FIRST_VERSION)
		return query_fail(query, -EPROTO, "%s: store version %d is from before the first release; this"
		    " easetop reads versions from %d on: let easecapd begin a new store", query->path, version,
		    STORE_FIRST_VERSION);
	if (version < STORE_VERSION)
		return query_fail(query, -EPROTO, "%s: store version %d is older than this easetop;"
		    " the next start of easecapd brings it to %d", query->path, version,
		    STORE_VERSION);
	return 0;
}

/* A view in the place of a table might never end. */
static int
check_tables(struct query *query)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT 1 FROM sqlite_schema WHERE type = 'view'"
	    " OR sql LIKE 'CREATE VIRTUAL%'");
	int more = stmt ? query_step(query, stmt) : -EIO;

	if (more == 1)
		more = query_fail(query, -EPROTO, "%s: not a store of easecapd: it has views", query->path);
	sqlite3_finalize(stmt);
	return more;
}

/* All that is read afterwards is of one state of the store. */
static int
open_file(struct query *query)
{
	int err = check_readable(query);
	struct stat st;

	if (err)
		return err;
	query->inode = stat(query->path, &st) == 0 ? st.st_ino : 0;
	if (sqlite3_open_v2(query->path, &query->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return query_fail(query, -EIO, "%s: %s", query->path,
		    query->db ? sqlite3_errmsg(query->db) : "no memory");
	sqlite3_busy_timeout(query->db, BUSY_WAIT_MS);
	if (sqlite3_exec(query->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return query_fail_sql(query);
	err = file_check_version(query);
	return err ? err : check_tables(query);
}

/* ---- sums ---- */

/* The shards that hold the parts of the agents asked for. */
static void
find_shards(const struct query *query, int64_t *first, int64_t *last)
{
	*first = INT64_MAX;
	*last = -1;
	for (size_t i = 0; i < query->n_agents; i++) {
		int64_t shard = store_shard(query->agents[i].id);

		if (!query->agents[i].chosen)
			continue;
		*first = shard < *first ? shard : *first;
		*last = shard > *last ? shard : *last;
	}
}

static int
take_body(struct query *query, sqlite3_stmt *stmt, const struct query_body *body, query_body_fn *take, void *arg)
{
	struct pack_reader reader;
	int octets = sqlite3_column_bytes(stmt, 0);
	const void *pack = sqlite3_column_blob(stmt, 0);
	int err = pack ? pack_open(&reader, pack, (size_t)octets) : -EBADMSG;

	if (err == 0)
		err = take(query, &reader, body, arg);
	if (err == -EBADMSG)
		return query_fail(query, -EIO, "%s: sums in it are damaged (table part)", query->path);
	return err;
}

/* Whether this unsettled part has what came after the edge, in the window that the edge cuts: of that
 * only totals count, because counters that come later speak of the time before, too. */
static bool
is_after_edge(const struct query *query, const struct query_run *run, sqlite3_stmt *stmt)
{
	uint64_t edge_us = query->edge_us;

	return run->level == LEVEL_UNSETTLED && query->range.to_us == edge_us &&
	    sqlite3_column_int64(stmt, 1) > query->edge_part &&
	    query_u64(stmt, 2) == store_window_start(edge_us, STORE_WINDOW_US);
}

static int
read_run(struct query *query, sqlite3_stmt *stmt, const struct query_run *run, unsigned kind,
    query_body_fn *take, void *arg)
{
	struct query_body body;
	int64_t first, last;
	int err;

	find_shards(query, &first, &last);
	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, store_levels[run->level].minutes);
	sqlite3_bind_int64(stmt, 2, kind);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)run->from_us);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)run->to_us);
	sqlite3_bind_int64(stmt, 5, first);
	sqlite3_bind_int64(stmt, 6, last);
	while ((err = query_step(query, stmt)) == 1) {
		if (query_is_over_limit(query))
			return query_fail(query, -ETIMEDOUT,
			    "the question takes too long: ask for a shorter range or for one"
			    " switch");
		body = (struct query_body){kind, query_u64(stmt, 2), is_after_edge(query, run, stmt)};
		err = body.after_edge && kind != STORE_PART_TOTALS ? 0 : take_body(query, stmt, &body, take, arg);
		if (err)
			break;
	}
	return err;
}

/* Unsettled parts are in no level yet, so they are always read in addition. */
static int
file_read_sums(struct query *query, const struct query_want *want, query_body_fn *take, void *arg)
{
	const struct query_run unsettled = {LEVEL_UNSETTLED, query->range.from_us, query->range.to_us};
	struct query_run *runs;
	size_t n_runs;
	sqlite3_stmt *stmt;
	int err = query_find_runs(query, want, &runs, &n_runs);

	if (err)
		return err;
	stmt = query_prepare_kept(query, "SELECT body, id, start_us FROM part WHERE level = ?1 AND"
	    " kind = ?2 AND start_us >= ?3 AND start_us < ?4 AND shard BETWEEN ?5 AND ?6");
	err = stmt ? read_run(query, stmt, &unsettled, want->kind, take, arg) : -EIO;
	for (size_t i = 0; err == 0 && i < n_runs; i++)
		err = read_run(query, stmt, &runs[i], query_kind_at(want, runs[i].level), take, arg);
	query_give_back(query, stmt);
	free(runs);
	return err;
}

/* ---- totals by step ---- */

struct by_step {
	query_totals_fn *take;
	void *arg;
};

static int
file_take_totals(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
{
	const struct by_step *by = arg;

	(void)query;
	while (pack_next(reader))
		by->take(by->arg, &(struct query_totals){body->start_us, &reader->key, pack_value(reader, PACK_EXPECTED),
		    pack_value(reader, PACK_RECEIVED), pack_value(reader, PACK_POOL_PKTS)});
	return reader->failed ? -EBADMSG : 0;
}

static int
file_totals_by_step(struct query *query, uint64_t step_us, query_totals_fn *take, void *arg)
{
	return file_read_sums(query, &(struct query_want){.kind = STORE_PART_TOTALS, .longest_us = step_us}, file_take_totals,
	    &(struct by_step){take, arg});
}

/* ---- opening ---- */

static const struct query_store file_store = {
	.agent_columns = "0, 0, (SELECT name FROM polled WHERE polled.agent = id)", .gap_collector = "0", .sums = file_read_sums, .totals_by_step = file_totals_by_step,
};

int
query_open(const char *url, struct query **query, char *error, size_t error_size)
{
	struct query *q = calloc(1, sizeof(*q));
	int err = q ? 0 : -ENOMEM;

	if (q)
		q->store = &file_store;
	if (q && !(q->path = strdup(strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url)))
		err = query_fail(q, -ENOMEM, "no memory");
	if (err == 0)
		err = open_file(q);
	return query_finish_open(q, err, query, error, error_size);
}
