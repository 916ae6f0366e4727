/*
 * Small questions of the shipper to the cluster: a statement, and its rows or one number.
 */
#ifndef EASE_COLLECTOR_SHIP_STATEMENT_H
#define EASE_COLLECTOR_SHIP_STATEMENT_H

#include "collector/cluster/http.h"
#include "collector/cluster/rowbinary.h"

enum {
	/* ClickHouse's ErrorCodes: what a server says that lacks our tables */
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

/* The same, with FORMAT RowBinary behind it; all columns are UInt64 or Int64. */
int statement_rows(struct statement *st, struct cluster_http *http, int server,
    size_t n_columns, row_fn *row, void *arg);

/* The columns of the one row; those of no row are 0. */
int statement_numbers(struct statement *st, struct cluster_http *http, int server,
    int64_t *numbers, size_t n);

/* True if the last answer said that our tables are not there. */
bool statement_has_no_tables(const struct cluster_http *http);

#endif
