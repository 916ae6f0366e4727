/*
 * A batch of rows for the cluster. Each table has a buffer of rows; a full buffer is sent at once,
 * the others when the batch is committed. `cover` is sent after them, because roll-ups depend on it,
 * and then the row of `cursor`, which says that the batch is complete. A batch that failed is sent
 * again with a higher revision, which replaces the rows that had arrived.
 */
#ifndef EASE_COLLECTOR_SHIP_SHIP_BATCH_H
#define EASE_COLLECTOR_SHIP_SHIP_BATCH_H

#include "collector/cluster/http.h"
#include "collector/cluster/rowbinary.h"
#include "collector/cluster/schema.h"

/* The row of `cursor` for a batch, see cursor_columns in collector/cluster/schema.c. */
struct ship_cursor {
	int64_t part_id, event_id, outage_id, received_us;
	uint64_t from_us, to_us, closed_us, newest_us, missed_minutes;
};

struct ship_batch {
	struct cluster_http *http;  /* borrowed */
	struct cluster_place place; /* borrowed texts */
	int64_t collector;
	uint64_t revision; /* of the present batch, or the last one */
	size_t rows;	   /* of the batch */
	uint64_t rows_sent; /* of all */
	struct row_buffer buffers[CLUSTER_N_TABLES];
	size_t sizes[CLUSTER_N_TABLES]; /* rows in each */
};

enum {
	/* Octets of a table's rows that are sent together: large compared with the overhead of an
	 * INSERT, and small compared with the memory budget. */
	SHIP_BATCH_BUFFER = 2 << 20,
	SHIP_BATCH_ROW_MAX = 64 << 10, /* the last row may exceed it by this much */
};

void ship_batch_init(struct ship_batch *s, struct cluster_http *http, const struct cluster_place *place);
void ship_batch_free(struct ship_batch *s);

/* Drops unsent rows; the following rows have the next revision. */
void ship_batch_begin(struct ship_batch *s);

/* The buffer for a row's cells, in the order of the table's columns; ship_batch_end_row follows. */
struct row_buffer *ship_batch_row(struct ship_batch *s, enum cluster_table_id table);

/* 0, or an error of cluster_http_ask(): the batch has failed. */
int ship_batch_end_row(struct ship_batch *s, enum cluster_table_id table);

/* Sends the remaining rows, and the cursor. 0, or an error as above. */
int ship_batch_commit(struct ship_batch *s, const struct ship_cursor *cursor);

#endif
