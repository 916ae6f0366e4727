/*
 * SQL statements of the shipper: writing one, running it, and reading its rows or one row of numbers.
 */
#ifndef EASE_COLLECTOR_SHIP_STATEMENT_H
#define EASE_COLLECTOR_SHIP_STATEMENT_H

#include "collector/cluster/http.h"
#include "collector/cluster/rowbinary.h"

enum {
	/* ClickHouse's ErrorCodes of a server without our tables */
	CLUSTER_ERROR_NO_TABLE = 60,
	CLUSTER_ERROR_NO_DATABASE = 81,
	STATEMENT_COLUMNS_MAX = 16,
};

/* A statement being written: fputs and cluster_write_… to .out. */
struct statement {
	FILE *out; /* NULL: no memory */
	char *sql;
	size_t size;
};

void statement_begin(struct statement *st);

/* Ends and frees it. server: index or CLUSTER_ANY_SERVER. Errors of cluster_http_ask(). */
int statement_run(struct statement *st, struct cluster_http *http, int server);

/* The same, with FORMAT RowBinary after the statement; all columns are UInt64 or Int64. */
int statement_rows(struct statement *st, struct cluster_http *http, int server,
    size_t n_columns, row_fn *row, void *arg);

/* The columns of the single row; zeros if there is no row. */
int statement_numbers(struct statement *st, struct cluster_http *http, int server,
    int64_t *numbers, size_t n);

/* True if the last answer was that our tables do not exist. */
bool statement_has_no_tables(const struct cluster_http *http);

#endif
