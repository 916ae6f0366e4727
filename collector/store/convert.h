/*
 * Converts a store from version 8 to 9: rows of the tables window, window_key, window_port and
 * window_folded become unsettled parts, one minute and kind at a time, the oldest first; then the
 * four tables are dropped. Each step is one transaction, so the conversion may be killed at any
 * time and goes on at the next start.
 */
#ifndef EASE_COLLECTOR_STORE_CONVERT_H
#define EASE_COLLECTOR_STORE_CONVERT_H

#include "collector/progress.h"

#include <sqlite3.h>

/* Converts everything that is left to convert. Returns 0, -EIO (the database has the reason),
 * -ENOMEM, or -ECANCELED if progress, which may be NULL, stopped it. */
int convert_run(sqlite3 *db, const struct progress *progress);

#endif
