/*
 * Short calls of SQLite for statements that run once. Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_SQL_H
#define EASE_COLLECTOR_STORE_SQL_H

#include <sqlite3.h>
#include <stdint.h>

/* Runs statements without parameters or results. Returns 0 or -EIO; sqlite3_errmsg has the reason. */
int store_sql_run(sqlite3 *db, const char *sql);

/* Reads the first column of a statement's first row. Returns 0, or -EIO, also if there is no row. */
int store_sql_number(sqlite3 *db, const char *sql, int64_t *value);

#endif
