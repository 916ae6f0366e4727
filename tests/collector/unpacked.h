/*
 * The sums of a store as plain tables, for tests that read them by SQL: those of each minute, from
 * its parts. The columns are those that stores up to version 7 had.
 */
#ifndef EASE_TESTS_UNPACKED_H
#define EASE_TESTS_UNPACKED_H

#include <sqlite3.h>

/* Makes the temporary tables window, window_key, window_port and window_folded from the parts that
 * are unsettled or of a minute. Returns 0, or -1 (the database has the reason). */
int unpacked_fill(sqlite3 *db);

/* Opens a store read-only and makes these tables. Returns NULL after printing why. */
sqlite3 *unpacked_open(const char *path);

#endif
