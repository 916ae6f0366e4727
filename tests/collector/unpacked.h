/*
 * The sums of a store as plain tables, for tests that read them by SQL: those of each minute, from
 * its parts. The columns are those that stores up to version 7 had.
 */
#ifndef EASE_TESTS_UNPACKED_H
#define EASE_TESTS_UNPACKED_H

#include <sqlite3.h>

/* Opens a store read-only and makes the temporary tables window, window_key, window_port and window_folded from
 * the parts that are unsettled or of a minute. Unpacking takes its time: those that sql does not name may stay empty,
 * unless it is NULL. Returns NULL after printing why. */
sqlite3 *unpacked_open(const char *path, const char *sql);

#endif
