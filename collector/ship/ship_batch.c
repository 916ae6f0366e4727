#include "collector/ship/ship_batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* The shard has stored the rows before the server answers. */
#define SETTINGS "insert_distributed_sync=1"

void
ship_batch_init(struct ship_batch *s, struct cluster_http *http, const struct cluster_place *place)
{
	*s = (struct ship_batch){.http = http, .place = *place};
	for (int t = 0; t < CLUSTER_N_TABLES; t++)
		s->buffers[t] = row_buffer_of(SHIP_BATCH_BUFFER + SHIP_BATCH_ROW_MAX);
}

void
ship_batch_free(struct ship_batch *s)
{
	for (int t = 0; t < CLUSTER_N_TABLES; t++)
		row_buffer_free(&s->buffers[t]);
}

void
ship_batch_begin(struct ship_batch *s)
{
	s->revision++;
	s->rows = 0;
	for (int t = 0; t < CLUSTER_N_TABLES; t++) {
		row_buffer_clear(&s->buffers[t]);
		s->sizes[t] = 0;
	}
}

struct row_buffer *
ship_batch_row(struct ship_batch *s, enum cluster_table_id table)
{
	return &s->buffers[table];
}

static int
post(struct ship_batch *s, enum cluster_table_id table)
{
	struct cluster_question q = {.settings = SETTINGS, .server = CLUSTER_ANY_SERVER};
	char *sql = NULL;
	size_t size;
	FILE *out;
	int r = -ENOMEM;

	if (s->sizes[table] == 0)
		return 0;
	if (s->buffers[table].failed)
		return -ENOMEM;
	out = open_memstream(&sql, &size);
	if (!out)
		return -ENOMEM;
	cluster_write_insert(out, &s->place, &cluster_tables[table]);
	if (fclose(out) == 0) {
		q.sql = sql;
		q.body = s->buffers[table].data;
		q.body_octets = s->buffers[table].len;
		r = cluster_http_ask(s->http, &q);
	}
	free(sql);
	if (r == 0) {
		s->rows_sent += s->sizes[table];
		s->sizes[table] = 0;
		row_buffer_clear(&s->buffers[table]);
	}
	return r;
}

int
ship_batch_end_row(struct ship_batch *s, enum cluster_table_id table)
{
	s->sizes[table]++;
	s->rows++;
	return s->buffers[table].len >= SHIP_BATCH_BUFFER ? post(s, table) : 0;
}

/* In SQL instead of RowBinary, which has no now() for the cluster's clock. */
static int
post_cursor(struct ship_batch *s, const struct ship_cursor *c)
{
	struct cluster_question q = {.settings = SETTINGS, .server = CLUSTER_ANY_SERVER};
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);
	int r = -ENOMEM;

	if (!out)
		return -ENOMEM;
	fputs("INSERT INTO ", out);
	cluster_write_name(out, &s->place, &cluster_tables[CLUSTER_CURSORS], false);
	fputs(" (", out);
	cluster_write_columns(out, &cluster_tables[CLUSTER_CURSORS]);
	fprintf(out, ") VALUES (%" PRId64 ", toUInt64(now()) * 1000000, %" PRId64 ", %" PRId64
		     ", %" PRId64 ", %" PRId64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
		     ", %" PRIu64 ", %" PRIu64 ")",
	    s->collector, c->part_id, c->event_id, c->outage_id, c->received_us, c->from_us,
	    c->to_us, c->closed_us, c->newest_us, c->missed_minutes, s->revision);
	if (fclose(out) == 0) {
		q.sql = sql;
		r = cluster_http_ask(s->http, &q);
	}
	free(sql);
	return r;
}

int
ship_batch_commit(struct ship_batch *s, const struct ship_cursor *cursor)
{
	int r = 0;

	for (int t = 0; r == 0 && t < CLUSTER_N_TABLES; t++)
		if (t != CLUSTER_COVER)
			r = post(s, (enum cluster_table_id)t);
	if (r == 0)
		r = post(s, CLUSTER_COVER);
	return r == 0 ? post_cursor(s, cursor) : r;
}
