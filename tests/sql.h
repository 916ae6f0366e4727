/*
 * What a test asks of a store that somebody else wrote: one number by one statement, read-only.
 */
#ifndef EASE_TESTS_SQL_H
#define EASE_TESTS_SQL_H

#include "tests/collector/unpacked.h"

#include <check.h>

/* First column of the first row; the test fails if there is none. Closes db. */
static inline double
sql_number_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	double value;

	ck_assert_ptr_nonnull(db);
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s: %s", sql,
	    sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
	value = sqlite3_column_double(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return value;
}

/* The same of a file, whose packed sums are there as tables, too. */
static inline double
sql_number(const char *path, const char *sql)
{
	return sql_number_of(unpacked_open(path, sql), sql);
}

#endif
