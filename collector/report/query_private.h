/*
 * What the files of a query share: query.c opens the store and finds agents, ports and the range;
 * query_keys.c reads sums; query_functions.c is SQL of our own.
 */
#ifndef EASE_COLLECTOR_QUERY_PRIVATE_H
#define EASE_COLLECTOR_QUERY_PRIVATE_H

#include "collector/report/query.h"

/* Set the error; return err, and -EIO. */
int query_fail(struct query *query, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int query_fail_sql(struct query *query);

/* Calls row for each row of a statement, until one fails. */
int query_rows(struct query *query, const char *sql, int (*row)(struct query *, sqlite3_stmt *));

/* Makes the functions that the statements of keys use; the options are borrowed as long as they
 * run. False: SQLite has the error. */
bool query_add_functions(struct query *query, const struct report_options *options);

static inline uint64_t
query_u64(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

#endif
