/*
 * The rows of the file of device names (collector/filter/device_names.h) in the store: whoever reads the store then sees
 * the same names, and a cluster gets them from there. The writing thread replaces all of them in one transaction,
 * and only if they differ. They are the file's: retention and --forget leave them. Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_NAMING_H
#define EASE_COLLECTOR_STORE_NAMING_H

#include <sqlite3.h>

/* Puts these rows, each ended by a newline, in place of those of the table naming. Returns 0 or -EIO, and then
 * nothing has changed. */
int naming_write(sqlite3 *db, const char *rows);

#endif
