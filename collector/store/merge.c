#include "collector/store/merge.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Where the merge stands in a chain. */
struct cursor {
	const struct part_row *next, *end; /* rows not read yet */
	uint8_t *body;
	size_t room;
	struct pack_reader reader;
};

/* A heap: the cursor with the smallest key first. */
struct merge {
	struct parts *parts;
	size_t n; /* cursors in the heap */
	struct cursor **heap;
	struct cursor *cursors;
	size_t n_cursors;
};

/* Copies the body, because the statement must not stay open while rows are written. */
static int
read_body(struct merge *m, struct cursor *c, int64_t id)
{
	sqlite3_stmt *s = m->parts->statements[PARTS_BODY];
	size_t octets;
	int r = -EIO;

	sqlite3_bind_int64(s, 1, id);
	if (sqlite3_step(s) == SQLITE_ROW) {
		const void *blob = sqlite3_column_blob(s, 0);

		octets = (size_t)sqlite3_column_bytes(s, 0);
		if (octets > c->room) {
			free(c->body);
			c->body = malloc(octets);
			c->room = c->body ? octets : 0;
		}
		if (c->room < octets) {
			r = -ENOMEM;
		} else if (octets > 0) {
			memcpy(c->body, blob, octets);
			r = pack_open(&c->reader, c->body, octets);
		} else {
			r = -EBADMSG;
		}
	}
	sqlite3_reset(s);
	return r;
}

static void
report_damaged(struct merge *m, struct cursor *c)
{
	m->parts->damaged++;
	c->reader.n = c->reader.i = 0;
	c->reader.failed = false;
	log_error("store", "row %lld of the table part is damaged: its sums are lost", (long long)c->next[-1].id);
}

/* Moves the cursor to its next entry. Returns 1, 0 at the end of the chain, or an error. */
static int
advance_cursor(struct merge *m, struct cursor *c)
{
	for (;;) {
		int r;

		if (pack_next(&c->reader))
			return 1;
		if (c->reader.failed)
			report_damaged(m, c);
		if (c->next == c->end)
			return 0;
		r = read_body(m, c, c->next++->id);
		if (r == -EBADMSG)
			report_damaged(m, c);
		else if (r < 0)
			return r;
	}
}

static bool
merge_is_before(const struct cursor *a, const struct cursor *b)
{
	return pack_compare(&a->reader.key, &b->reader.key) < 0;
}

static void
merge_sift_down(struct merge *m, size_t i)
{
	struct cursor *c = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= m->n)
			break;
		if (child + 1 < m->n && merge_is_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!merge_is_before(m->heap[child], c))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = c;
}

static int
start_merge(struct merge *m)
{
	for (size_t i = 0; i < m->n_cursors; i++) {
		int r = advance_cursor(m, &m->cursors[i]);

		if (r < 0)
			return r;
		if (r == 1)
			m->heap[m->n++] = &m->cursors[i];
	}
	for (size_t i = m->n / 2; i-- > 0;)
		merge_sift_down(m, i);
	return 0;
}

int
merge_open(struct merge **out, struct parts *parts, const struct part_list *list)
{
	struct merge *m = calloc(1, sizeof(*m));
	int r = -ENOMEM;

	*out = m;
	if (!m)
		return -ENOMEM;
	m->parts = parts;
	m->cursors = calloc(list->n_chains + 1, sizeof(*m->cursors));
	m->heap = calloc(list->n_chains + 1, sizeof(struct cursor *));
	if (m->cursors && m->heap) {
		for (size_t i = 0; i < list->n; i++) {
			if (i == 0 || list->rows[i].chain != list->rows[i - 1].chain)
				m->cursors[m->n_cursors++].next = &list->rows[i];
			assert(m->n_cursors <= list->n_chains);
			m->cursors[m->n_cursors - 1].end = &list->rows[i + 1];
		}
		r = start_merge(m);
	}
	if (r < 0) {
		merge_close(m);
		*out = NULL;
	}
	return r;
}

void
merge_close(struct merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_cursors; i++)
		free(m->cursors[i].body);
	free(m->cursors);
	free(m->heap);
	free(m);
}

int
merge_next(struct merge *m, struct pack_key *key, double *values)
{
	if (m->n == 0)
		return 0;
	assert(m->n < 2 || !merge_is_before(m->heap[1], m->heap[0]));
	assert(m->n < 3 || !merge_is_before(m->heap[2], m->heap[0]));
	*key = m->heap[0]->reader.key;
	memset(values, 0, PACK_COLUMNS * sizeof(*values));
	while (m->n > 0 && pack_compare(&m->heap[0]->reader.key, key) == 0) {
		struct cursor *c = m->heap[0];
		int r;

		for (unsigned i = 0; i < c->reader.n_columns; i++)
			values[i] = pack_merged(i, values[i], pack_value(&c->reader, i));
		r = advance_cursor(m, c);
		if (r < 0)
			return r;
		if (r == 0)
			m->heap[0] = m->heap[--m->n];
		if (m->n > 0)
			merge_sift_down(m, 0);
	}
	return 1;
}
