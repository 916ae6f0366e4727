/*
 * Sums of a store as plain tables, for what tests ask by SQL: each minute's, from its parts. The
 * columns are those that versions up to 7 of the store had.
 */
#ifndef EASE_TESTS_UNPACKED_H
#define EASE_TESTS_UNPACKED_H

#include <sqlite3.h>

/* Makes temporary tables window, window_key, window_port and window_folded out of the parts that
 * are fresh or of a minute. 0, or -1: the database has the reason. */
int unpacked_fill(sqlite3 *db);

/* Opens a store read-only and fills them. NULL after saying why. */
sqlite3 *unpacked_open(const char *path);

#endif
