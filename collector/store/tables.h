/*
 * How each row of a batch is written: one SQL statement and one bind function a table, as data.
 * Inside the store room only; batch.h says what the rows mean, schema.h where they go.
 */
#ifndef EASE_COLLECTOR_STORE_TABLES_H
#define EASE_COLLECTOR_STORE_TABLES_H

#include "collector/store/batch.h"

#include <sqlite3.h>

/* Binds values one after another; the statement's step reports what a bind could not do. */
struct binder {
	sqlite3_stmt *statement;
	int next; /* parameter, 1, 2, … */
};

struct store_statement {
	const char *sql; /* NULL: sums, which unsettled.h writes */
	size_t row_octets;
	void (*bind)(struct binder *b, const void *row);
};

/* In the order of enum store_table, which is also the order they are written in. */
extern const struct store_statement store_statements[STORE_N_TABLES];

#endif
