/*
 * How each table's rows of a batch are written, as data: what of its SQL statement does not follow from the table's
 * columns (stored_tables.h), and how many rows an agent or a port may have. Inside the store room only.
 */
#ifndef EASE_COLLECTOR_STORE_TABLES_H
#define EASE_COLLECTOR_STORE_TABLES_H

#include "collector/store/stored_tables.h"

#include <sqlite3.h>

struct store_place {
	int64_t agent;
	uint64_t if_index;
};

struct store_statement {
	const char *how;    /* "OR REPLACE", …; NULL: a plain INSERT */
	const char *unless; /* a row for which this holds is not inserted; ?1 is its first value */
	const char *further; /* what stands behind the values */
	bool updates; /* a row with the same key gets all columns; unlike OR REPLACE, which fires no trigger of its deletion */
	/* Deletes the oldest rows beyond the table's number for an agent, or for a port of it; NULL: there is
	 * no such limit. A row for which is_due, unless it is NULL, returns false cannot have gone beyond it.
	 * A limit of a port is held once for each port of a batch, when all rows of the batch are written;
	 * another one after each row. Beyond it by a few rows for a while does no harm. */
	const char *limit_sql;
	bool (*is_due)(const void *row, sqlite3_int64 id);
	struct store_place (*port_of)(const void *row); /* NULL: not a limit of a port */
	sqlite3_int64 (*limit_of)(const void *row); /* what ?1 is, if not a limit of a port; NULL: nothing */
};

/* In the order of enum store_table, in which they are written. */
extern const struct store_statement store_statements[STORE_N_TABLES];

/* Prepares the statement that writes a table's rows, and the one of its limit; NULL where there is none: sums are
 * written by unsettled.h. Returns SQLite's code. */
int store_prepare_rows(sqlite3 *db, enum store_table table, sqlite3_stmt **statement, sqlite3_stmt **limit);

#endif
