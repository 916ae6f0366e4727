/*
 * SQL statements of the shipper: running one, and reading its rows or one row of numbers.
 */
#ifndef EASE_COLLECTOR_SHIP_STATEMENT_H
#define EASE_COLLECTOR_SHIP_STATEMENT_H

#include "collector/cluster/http.h"
#include "collector/cluster/rowbinary.h"
#include "collector/cluster/sql.h"

enum {
	/* ClickHouse's ErrorCodes of a column that is there already, and of a server without our tables */
	CLUSTER_ERROR_COLUMN = 44,
	CLUSTER_ERROR_NO_TABLE = 60,
	CLUSTER_ERROR_NO_DATABASE = 81,
	STATEMENT_COLUMNS_MAX = 16,
};

/* Runs a statement. server: index or CLUSTER_ANY_SERVER. Errors of cluster_http_ask(). */
int statement_run(struct cluster_http *http, int server, const struct sql *sql);

/* The same, with FORMAT RowBinary after the statement; all columns are UInt64 or Int64. */
int statement_rows(struct cluster_http *http, int server, const struct sql *sql, size_t n_columns,
    row_fn *row, void *arg);

/* The columns of the single row; zeros if there is no row. */
int statement_numbers(struct cluster_http *http, int server, const struct sql *sql, int64_t *numbers, size_t n);

/* The same with another question, for rows that are its body. */
int statement_ask(struct cluster_http *http, const struct sql *sql, struct cluster_question *q);

/* True if the last answer was that our tables do not exist. */
bool statement_has_no_tables(const struct cluster_http *http);

#endif
