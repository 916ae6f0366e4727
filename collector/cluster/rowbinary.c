#include "collector/cluster/rowbinary.h"
#include "common/buf.h"

#include <errno.h>
#include <stdlib.h>

/* Writing */

enum { FIRST_ROOM = 4096 };

struct row_buffer
row_buffer_of(size_t most)
{
	return (struct row_buffer){.most = most};
}

void
row_buffer_clear(struct row_buffer *b)
{
	b->len = 0;
	b->failed = false;
}

void
row_buffer_free(struct row_buffer *b)
{
	free(b->data);
	*b = (struct row_buffer){0};
}

static bool
rowbinary_make_room(struct row_buffer *b, size_t n)
{
	size_t room = b->room ? b->room : FIRST_ROOM;
	uint8_t *data;

	if (b->failed || n > b->most - b->len)
		return false;
	if (n <= b->room - b->len)
		return true;
	while (room < b->len + n)
		room *= 2;
	data = realloc(b->data, room);
	if (!data)
		return false;
	b->data = data;
	b->room = room;
	return true;
}

void
row_put_fixed(struct row_buffer *b, const void *octets, size_t n)
{
	if (!rowbinary_make_room(b, n)) {
		b->failed = true;
		return;
	}
	if (n > 0)
		memcpy(b->data + b->len, octets, n);
	b->len += n;
}

void
row_put_int(struct row_buffer *b, uint64_t value, size_t octets)
{
	uint64_t le = htole64(value);

	row_put_fixed(b, &le, octets);
}

void
row_put_f64(struct row_buffer *b, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	row_put_int(b, bits, 8);
}

void
row_put_text(struct row_buffer *b, const void *octets, size_t n)
{
	uint8_t length[10];
	size_t used = 0, left = n;

	do {
		length[used++] = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
		left >>= 7;
	} while (left > 0);
	row_put_fixed(b, length, used);
	row_put_fixed(b, octets, n);
}

void
row_put_null(struct row_buffer *b, bool null)
{
	row_put_int(b, null, 1);
}

/* Reading */

static uint64_t
read_int(struct rbuf *r, size_t octets)
{
	const uint8_t *p = rbuf_take(r, octets);
	uint64_t v = 0;

	for (size_t i = 0; p && i < octets; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* *bad: these octets cannot begin a row. */
static void
rowbinary_read_text(struct rbuf *r, struct row_cell *cell, bool *bad)
{
	uint64_t n = 0;
	uint8_t octet = 0x80;

	for (unsigned shift = 0; octet & 0x80 && !r->failed; shift += 7) {
		octet = rbuf_u8(r);
		n |= (uint64_t)(octet & 0x7f) << shift;
		if (n > ROW_TEXT_MAX || shift > 21) {
			*bad = true;
			return;
		}
	}
	cell->octets = n;
	cell->text = rbuf_take(r, n);
}

static void
read_double(struct rbuf *r, struct row_cell *cell)
{
	uint64_t bits = read_int(r, 8);

	memcpy(&cell->f, &bits, sizeof(bits));
}

static void
read_null(struct rbuf *r, struct row_cell *cell, bool *bad)
{
	uint8_t null = rbuf_u8(r);

	cell->null = null == 1;
	*bad |= null > 1;
}

static void
rowbinary_read_cell(struct rbuf *r, enum cluster_type type, struct row_cell *cell, bool *bad)
{
	static const uint8_t int_octets[CLUSTER_N_TYPES] = {[CLUSTER_U8] = 1, [CLUSTER_U16] = 2,
	    [CLUSTER_U32] = 4, [CLUSTER_U64] = 8, [CLUSTER_I64] = 8, [CLUSTER_I64_OR_NULL] = 8};

	*cell = (struct row_cell){0};
	if (type == CLUSTER_I64_OR_NULL || type == CLUSTER_TEXT_OR_NULL)
		read_null(r, cell, bad);
	if (cell->null || *bad)
		return;
	if (int_octets[type] > 0) {
		cell->i = (int64_t)read_int(r, int_octets[type]);
	} else if (type == CLUSTER_F64) {
		read_double(r, cell);
	} else if (type == CLUSTER_AGENT_ID) {
		cell->octets = 8;
		cell->text = rbuf_take(r, 8);
	} else {
		rowbinary_read_text(r, cell, bad);
	}
}

/* 1: a row was read; 0: there is no complete row; or an error. */
static int
rowbinary_take_row(struct row_stream *s, struct rbuf *r)
{
	struct row_cell cells[ROW_CELLS_MAX];
	size_t start = r->pos;
	bool bad = false;
	int err;

	for (size_t i = 0; i < s->n_types && !bad && !r->failed; i++)
		rowbinary_read_cell(r, s->types[i], &cells[i], &bad);
	if (bad)
		return -EBADMSG;
	if (r->failed || r->pos == start) {
		r->pos = start;
		return 0;
	}
	err = s->row(s->arg, cells);
	return err == 0 ? 1 : err;
}

static int
keep_rest(struct row_stream *s, const void *octets, size_t n)
{
	if (n > s->room) {
		size_t room = s->room ? s->room : FIRST_ROOM;
		uint8_t *rest;

		while (room < n)
			room *= 2;
		rest = realloc(s->rest, room);
		if (!rest)
			return -ENOMEM;
		s->rest = rest;
		s->room = room;
	}
	if (n > 0)
		memmove(s->rest, octets, n);
	s->n_rest = n;
	return 0;
}

static int
rowbinary_take_rows(struct row_stream *s, struct rbuf *r)
{
	int took;

	do
		took = rowbinary_take_row(s, r);
	while (took == 1);
	return took;
}

void
row_stream_init(struct row_stream *s, const enum cluster_type *types, size_t n_types, row_fn *row, void *arg)
{
	*s = (struct row_stream){.types = types, .n_types = n_types, .row = row, .arg = arg};
}

void
row_stream_free(struct row_stream *s)
{
	free(s->rest);
	s->rest = NULL;
	s->n_rest = s->room = 0;
}

/* Completes the row that began in the chunk before. Only such rows, at the ends of chunks, are
 * copied. */
int
row_stream_take(struct row_stream *s, const void *octets, size_t n)
{
	struct rbuf r = rbuf_of(octets, n);
	size_t begun = s->n_rest;
	int err = 0;

	if (s->n_types == 0 || s->n_types > ROW_CELLS_MAX)
		return -EBADMSG;
	if (begun > 0) {
		uint8_t *joined = malloc(begun + n);

		if (!joined)
			return -ENOMEM;
		memcpy(joined, s->rest, begun);
		memcpy(joined + begun, octets, n);
		r = rbuf_of(joined, begun + n);
		err = rowbinary_take_rows(s, &r);
		if (err == 0)
			err = keep_rest(s, joined + r.pos, begun + n - r.pos);
		free(joined);
		return err;
	}
	err = rowbinary_take_rows(s, &r);
	return err == 0 ? keep_rest(s, (const uint8_t *)octets + r.pos, n - r.pos) : err;
}
