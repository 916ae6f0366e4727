/*
 * Statements of a query, their errors and limits. Part of query.h.
 */
#include "collector/query/query_private.h"
#include "common/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Of SQLite's virtual machine between checks of the limits: some hundred microseconds. */
enum { LIMIT_LOOK_STEPS = 10000 };

int
query_fail(struct query *query, int err, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(query->error, sizeof(query->error), format, args);
	va_end(args);
	if (n >= (int)sizeof(query->error))
		query->error[utf8_cut(query->error, sizeof(query->error))] = '\0';
	return err;
}

int
query_fail_sql(struct query *query)
{
	if (sqlite3_errcode(query->db) == SQLITE_INTERRUPT)
		return query_fail(query, -ETIMEDOUT, "the question takes too long: ask for a"
		    " shorter range or for one switch");
	query->is_damaged |= sqlite3_errcode(query->db) == SQLITE_CORRUPT || sqlite3_errcode(query->db) == SQLITE_NOTADB;
	return query_fail(query, -EIO, "%s: %s", query->path, sqlite3_errmsg(query->db));
}

static int
is_over_limit(void *arg)
{
	const struct query_limits *limits = arg;

	if (limits->cancel && *limits->cancel)
		return 1;
	return limits->deadline_us && clock_mono_us(limits->clock) > limits->deadline_us;
}

bool
query_is_over_limit(const struct query *query)
{
	return is_over_limit((void *)(uintptr_t)&query->limits) != 0;
}

void
query_limit(struct query *query, const struct query_limits *limits)
{
	query->limits = *limits;
	sqlite3_progress_handler(query->db, LIMIT_LOOK_STEPS, is_over_limit, &query->limits);
}

static void
bind_if_there(sqlite3_stmt *stmt, const char *name, uint64_t value)
{
	int index = sqlite3_bind_parameter_index(stmt, name);

	if (index > 0)
		sqlite3_bind_int64(stmt, index, (sqlite3_int64)value);
}

void
query_set_fetch_range(struct query *query, enum query_rows rows, uint64_t from_us, uint64_t to_us)
{
	query->fetch_range = (struct query_fetch_range){true, rows, from_us, to_us};
}

sqlite3_stmt *
query_prepare(struct query *query, const char *sql)
{
	const struct query_store *store = query->store;
	sqlite3_stmt *stmt;

	if (store->prepare)
		store->prepare(query);
	if (sqlite3_prepare_v2(query->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
		query_fail_sql(query);
		return NULL;
	}
	if (store->prepared && store->prepared(query, stmt) != 0) {
		sqlite3_finalize(stmt);
		return NULL;
	}
	bind_if_there(stmt, ":from", query->range.from_us);
	bind_if_there(stmt, ":to", query->range.to_us);
	return stmt;
}

/* What servers send for a statement is of the range that it was prepared for. */
sqlite3_stmt *
query_prepare_kept(struct query *query, const char *sql)
{
	struct query_kept *kept = query->kept, *end = kept + QUERY_KEPT;

	while (kept < end && kept->sql && kept->sql != sql)
		kept++;
	if (query->store->is_remote || kept == end)
		return query_prepare(query, sql);
	if (!kept->sql) {
		kept->stmt = query_prepare(query, sql);
		kept->sql = kept->stmt ? sql : NULL;
		return kept->stmt;
	}
	bind_if_there(kept->stmt, ":from", query->range.from_us);
	bind_if_there(kept->stmt, ":to", query->range.to_us);
	return kept->stmt;
}

void
query_give_back(struct query *query, sqlite3_stmt *stmt)
{
	for (int i = 0; i < QUERY_KEPT; i++)
		if (stmt && query->kept[i].stmt == stmt) {
			sqlite3_reset(stmt);
			return;
		}
	sqlite3_finalize(stmt);
}

int
query_step(struct query *query, sqlite3_stmt *stmt)
{
	int err = query->store->step ? query->store->step(query, stmt) : 0;

	if (err)
		return err;
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return query_fail_sql(query);
	}
}

int
query_rows(struct query *query, const char *sql, int (*row)(struct query *, sqlite3_stmt *))
{
	sqlite3_stmt *stmt = query_prepare(query, sql);
	int err = 0;

	if (!stmt)
		return -EIO;
	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = row(query, stmt);
	sqlite3_finalize(stmt);
	return err;
}
