#include "collector/ship/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An error in the middle of an answer then gives an error status too. */
#define SETTINGS "wait_end_of_query=1&insert_distributed_sync=1"

int
statement_ask(struct cluster_http *http, const struct sql *sql, struct cluster_question *q)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r = -ENOMEM;

	if (!out)
		return -ENOMEM;
	sql_write(out, sql);
	if (q->take)
		fputs(" FORMAT RowBinary", out);
	if (fclose(out) == 0) {
		q->sql = text;
		r = cluster_http_ask(http, q);
	}
	free(text);
	return r;
}

int
statement_run(struct cluster_http *http, int server, const struct sql *sql)
{
	return statement_ask(http, sql, &(struct cluster_question){.server = server, .settings = SETTINGS});
}

static int
statement_take_rows(void *stream, const void *octets, size_t n)
{
	return row_stream_take(stream, octets, n);
}

int
statement_rows(struct cluster_http *http, int server, const struct sql *sql, size_t n_columns, row_fn *row, void *arg)
{
	enum cluster_type types[STATEMENT_COLUMNS_MAX];
	struct row_stream stream;
	struct cluster_question q = {.server = server, .settings = SETTINGS, .take = statement_take_rows,
	    .arg = &stream};
	int r;

	for (size_t i = 0; i < STATEMENT_COLUMNS_MAX; i++)
		types[i] = CLUSTER_U64;
	row_stream_init(&stream, types, n_columns, row, arg);
	r = statement_ask(http, sql, &q);
	if (r == 0 && !row_stream_is_done(&stream))
		r = -EBADMSG;
	row_stream_free(&stream);
	return r;
}

struct numbers {
	int64_t *values;
	size_t n;
};

static int
statement_take_numbers(void *arg, const struct row_cell *cells)
{
	struct numbers *numbers = arg;

	for (size_t i = 0; i < numbers->n; i++)
		numbers->values[i] = cells[i].i;
	return 0;
}

int
statement_numbers(struct cluster_http *http, int server, const struct sql *sql, int64_t *numbers, size_t n)
{
	struct numbers to = {numbers, n};

	memset(numbers, 0, n * sizeof(*numbers));
	return statement_rows(http, server, sql, n, statement_take_numbers, &to);
}

bool
statement_has_no_tables(const struct cluster_http *http)
{
	int code = cluster_http_code(http);

	return code == CLUSTER_ERROR_NO_TABLE || code == CLUSTER_ERROR_NO_DATABASE;
}
