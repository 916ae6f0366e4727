/*
 * RowBinary, ClickHouse's simplest format (docs: interfaces/formats, RowBinary): the values of a row
 * follow each other without names; numbers are little-endian, a String is a LEB128 length and
 * octets, a FixedString is its octets, a Nullable is one octet (1: NULL, and nothing follows) and the
 * value.
 *
 * The writer's buffer grows up to a limit; after a failure it stays failed. The reader takes chunks
 * as the network delivers them and returns whole rows; it validates all input.
 */
#ifndef EASE_COLLECTOR_CLUSTER_ROWBINARY_H
#define EASE_COLLECTOR_CLUSTER_ROWBINARY_H

#include "collector/cluster/schema.h"

/* Writing */

struct row_buffer {
	uint8_t *data; /* owned */
	size_t len, room, most;
	bool failed; /* no memory, or more than most octets */
};

/* An empty buffer for `most` octets at most; freed by row_buffer_free. */
struct row_buffer row_buffer_of(size_t most);
void row_buffer_clear(struct row_buffer *b);
void row_buffer_free(struct row_buffer *b);

/* A number of 1 to 8 octets. */
void row_put_int(struct row_buffer *b, uint64_t value, size_t octets);
void row_put_f64(struct row_buffer *b, double value);
void row_put_text(struct row_buffer *b, const void *octets, size_t n);
/* n octets as they are: FixedString. */
void row_put_fixed(struct row_buffer *b, const void *octets, size_t n);

/* Before the value of a Nullable column; after a null no value follows. */
void row_put_null(struct row_buffer *b, bool null);

/* Reading */

enum {
	ROW_CELLS_MAX = 64,	      /* columns of a row */
	ROW_TEXT_MAX = 1 << 20,	      /* octets of a String: far more than any column needs */
};

/* A value; integers of all types are in i (UInt64 as its two's complement). */
struct row_cell {
	bool null;
	int64_t i;
	double f;
	const uint8_t *text; /* borrowed for the call */
	size_t octets;
};

/* Receives a row. 0 to continue, else the result of row_stream_take. */
typedef int row_fn(void *arg, const struct row_cell *cells);

struct row_stream {
	const enum cluster_type *types; /* borrowed */
	size_t n_types;			/* up to ROW_CELLS_MAX */
	row_fn *row;
	void *arg;
	uint8_t *rest; /* owned: the incomplete row */
	size_t n_rest, room;
};

void row_stream_init(struct row_stream *s, const enum cluster_type *types, size_t n_types, row_fn *row, void *arg);
void row_stream_free(struct row_stream *s);

/* Takes the next octets, cut anywhere. 0, -EBADMSG: not RowBinary of these types, -ENOMEM, or the
 * result of a row's function. */
int row_stream_take(struct row_stream *s, const void *octets, size_t n);

/* True if no row is incomplete, as at the end of an answer. */
static inline bool
row_stream_is_done(const struct row_stream *s)
{
	return s->n_rest == 0;
}

#endif
