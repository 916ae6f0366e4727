#include "collector/ship/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An error in the middle of an answer then gives an error status too. */
#define SETTINGS "wait_end_of_query=1&insert_distributed_sync=1"

void
statement_begin(struct statement *st)
{
	*st = (struct statement){0};
	st->out = open_memstream(&st->sql, &st->size);
}

static int
ask(struct statement *st, struct cluster_http *http, struct cluster_question *q)
{
	int r = -ENOMEM;

	if (st->out && fclose(st->out) == 0) {
		q->sql = st->sql;
		q->settings = SETTINGS;
		r = cluster_http_ask(http, q);
	}
	free(st->sql);
	*st = (struct statement){0};
	return r;
}

int
statement_run(struct statement *st, struct cluster_http *http, int server)
{
	struct cluster_question q = {.server = server};

	return ask(st, http, &q);
}

static int
take_rows(void *stream, const void *octets, size_t n)
{
	return row_stream_take(stream, octets, n);
}

int
statement_rows(struct statement *st, struct cluster_http *http, int server, size_t n_columns,
    row_fn *row, void *arg)
{
	enum cluster_type types[STATEMENT_COLUMNS_MAX];
	struct row_stream stream;
	struct cluster_question q = {.server = server, .take = take_rows, .arg = &stream};
	int r;

	for (size_t i = 0; i < STATEMENT_COLUMNS_MAX; i++)
		types[i] = CLUSTER_U64;
	row_stream_init(&stream, types, n_columns, row, arg);
	if (st->out)
		fputs(" FORMAT RowBinary", st->out);
	r = ask(st, http, &q);
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
take_numbers(void *arg, const struct row_cell *cells)
{
	struct numbers *numbers = arg;

	for (size_t i = 0; i < numbers->n; i++)
		numbers->values[i] = cells[i].i;
	return 0;
}

int
statement_numbers(struct statement *st, struct cluster_http *http, int server, int64_t *numbers,
    size_t n)
{
	struct numbers to = {numbers, n};

	memset(numbers, 0, n * sizeof(*numbers));
	return statement_rows(st, http, server, n, take_numbers, &to);
}

bool
statement_has_no_tables(const struct cluster_http *http)
{
	int code = cluster_http_code(http);

	return code == CLUSTER_ERROR_NO_TABLE || code == CLUSTER_ERROR_NO_DATABASE;
}
