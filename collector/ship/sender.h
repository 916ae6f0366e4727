/*
 * Batches of rows on their way to the cluster. Rows go into a buffer a table; a buffer that is full
 * is sent at once, the others when the batch is committed, `cover` last of them, because roll-ups
 * go by it, and then the row of `cursor` that says that all of it has arrived. A batch that fails
 * is begun again with a higher revision: what arrived of it is replaced.
 */
#ifndef EASE_COLLECTOR_SHIP_SENDER_H
#define EASE_COLLECTOR_SHIP_SENDER_H

#include "collector/cluster/http.h"
#include "collector/cluster/rowbinary.h"
#include "collector/cluster/schema.h"

/* What a batch's row of `cursor` says, see cursor_columns in collector/cluster/schema.c. */
struct ship_cursor {
	int64_t part_id, event_id, outage_id, received_us;
	uint64_t from_us, to_us, closed_us, newest_us, missed_minutes;
};

struct sender {
	struct cluster_http *http;  /* borrowed */
	struct cluster_place place; /* borrowed texts */
	int64_t collector;
	uint64_t revision; /* of the batch under way, or the last one */
	size_t rows;	   /* of the batch */
	uint64_t rows_sent; /* of all */
	struct row_buffer buffers[CLUSTER_N_TABLES];
	size_t sizes[CLUSTER_N_TABLES]; /* rows in each */
};

enum {
	/* Octets of a table's rows that are sent together: far over what an INSERT costs beside
	 * its rows, and small beside the memory budget. */
	SENDER_BUFFER = 2 << 20,
	SENDER_ROW_MAX = 64 << 10, /* a row may go over it by so much */
};

void sender_init(struct sender *s, struct cluster_http *http, const struct cluster_place *place);
void sender_free(struct sender *s);

/* Forgets what was not sent; rows that follow have the next revision. */
void sender_begin(struct sender *s);

/* A row's cells are put into this buffer, in the order of the table's columns, then it is ended. */
struct row_buffer *sender_row(struct sender *s, enum cluster_table_id table);

/* 0, or an error of cluster_http_ask(): the batch has failed. */
int sender_end_row(struct sender *s, enum cluster_table_id table);

/* Sends what is left, and the cursor. 0, or an error as above. */
int sender_commit(struct sender *s, const struct ship_cursor *cursor);

#endif
