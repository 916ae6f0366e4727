/*
 * How each table's rows of a batch are written: one SQL statement and one function that binds its
 * parameters, as data. Inside the store room only. batch.h explains the rows, schema.h the tables.
 */
#ifndef EASE_COLLECTOR_STORE_TABLES_H
#define EASE_COLLECTOR_STORE_TABLES_H

#include "collector/store/batch.h"

#include <sqlite3.h>

/* Binds values one after another. If a bind fails, the statement's step reports it. */
struct binder {
	sqlite3_stmt *statement;
	int next; /* parameter, 1, 2, … */
};

struct store_place {
	int64_t agent;
	uint32_t if_index;
};

struct store_statement {
	const char *sql; /* NULL: sums, which unsettled.h writes */
	size_t row_octets;
	void (*bind)(struct binder *b, const void *row);
	/* Deletes the oldest rows beyond the table's number for an agent, or for a port of it; NULL: there is
	 * no such limit. A row for which is_due, unless it is NULL, returns false cannot have gone beyond it.
	 * A limit of a port is held once for each port of a batch, when all rows of the batch are written;
	 * another one after each row. Beyond it by a few rows for a while does no harm. */
	const char *limit_sql;
	bool (*is_due)(const void *row, sqlite3_int64 id);
	struct store_place (*port_of)(const void *row); /* NULL: not a limit of a port */
	void (*bind_limit)(struct binder *b, const void *row);
};

/* In the order of enum store_table, in which they are written. */
extern const struct store_statement store_statements[STORE_N_TABLES];

#endif
