#include "collector/ship/ship_batch.h"
#include "collector/ship/ship_sql.h"
#include "collector/ship/statement.h"

#include <errno.h>

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
post_table(struct ship_batch *s, enum cluster_table_id table)
{
	struct cluster_question q = {.settings = SETTINGS, .server = CLUSTER_ANY_SERVER,
	    .body = s->buffers[table].data, .body_octets = s->buffers[table].len};
	int r;

	if (s->sizes[table] == 0)
		return 0;
	if (s->buffers[table].failed)
		return -ENOMEM;
	r = statement_ask(s->http, SQL(&s->place, &cluster_tables[table], ship_sql[SHIP_SQL_ROWS].text), &q);
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
	return s->buffers[table].len >= SHIP_BATCH_BUFFER ? post_table(s, table) : 0;
}

static int
post_cursor(struct ship_batch *s, const struct ship_cursor *c)
{
	return statement_ask(s->http, SQL(&s->place, &cluster_tables[CLUSTER_CURSORS], ship_sql[SHIP_SQL_BATCH].text,
	    SQL_I64("me", s->collector), SQL_I64("part_id", c->part_id), SQL_I64("event_id", c->event_id),
	    SQL_I64("outage_id", c->outage_id), SQL_I64("received_us", c->received_us), SQL_U64("from_us", c->from_us),
	    SQL_U64("to_us", c->to_us), SQL_U64("closed_us", c->closed_us), SQL_U64("newest_us", c->newest_us),
	    SQL_U64("missed_minutes", c->missed_minutes), SQL_U64("revision", s->revision)),
	    &(struct cluster_question){.settings = SETTINGS, .server = CLUSTER_ANY_SERVER});
}

int
ship_batch_commit(struct ship_batch *s, const struct ship_cursor *cursor)
{
	int r = 0;

	for (int t = 0; r == 0 && t < CLUSTER_N_TABLES; t++)
		if (t != CLUSTER_COVER)
			r = post_table(s, (enum cluster_table_id)t);
	if (r == 0)
		r = post_table(s, CLUSTER_COVER);
	return r == 0 ? post_cursor(s, cursor) : r;
}
