/*
 * From version 8 to 9: rows of window, window_key, window_port and window_folded become fresh
 * parts, a minute and kind at a time, oldest first; then the four tables go. Each step is one
 * transaction, so it may be killed at any instant and goes on at the next start.
 */
#ifndef EASE_COLLECTOR_STORE_CONVERT_H
#define EASE_COLLECTOR_STORE_CONVERT_H

#include "collector/progress.h"

#include <sqlite3.h>

/* Does it all if there is something to do. 0, -EIO with the database's reason, -ENOMEM, or
 * -ECANCELED if progress, which may be NULL, said no. */
int convert_run(sqlite3 *db, const struct progress *progress);

#endif
