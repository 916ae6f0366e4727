#include "collector/store/unsettled.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* A row and its sort key, which mostly decides the order without reading the row itself. */
struct item {
	uint64_t where; /* kind, minute, agent */
	uint64_t place; /* ifIndex, direction, octets of both halves, first octet of the key */
	uint64_t key;	/* the next eight octets of the key */
	uint32_t row;
	uint8_t table; /* enum store_table */
};

_Static_assert(2 * sizeof(struct item) <= STORE_SORT_OCTETS, "qsort takes as much again");

struct unsettled {
	size_t room;
	struct item *items;
	const struct store_batch *batch; /* the one being written */
};

static const enum store_table tables[] = {
    STORE_WINDOWS, STORE_WINDOW_PORTS, STORE_KEYS, STORE_FOLDED};

enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

static size_t
rows_of(const struct store_room room[STORE_N_TABLES])
{
	size_t n = 1;

	for (int t = 0; t < N_TABLES; t++)
		n += room[tables[t]].free + room[tables[t]].kept;
	return n;
}

int
unsettled_new(struct unsettled **out, const struct store_room room[STORE_N_TABLES])
{
	struct unsettled *unsettled = calloc(1, sizeof(*unsettled));

	if (!unsettled)
		return -ENOMEM;
	unsettled->room = rows_of(room);
	unsettled->items = calloc(unsettled->room, sizeof(*unsettled->items));
	if (!unsettled->items) {
		free(unsettled);
		return -ENOMEM;
	}
	*out = unsettled;
	return 0;
}

void
unsettled_free(struct unsettled *unsettled)
{
	if (!unsettled)
		return;
	free(unsettled->items);
	free(unsettled);
}

/* Rows as entries of packs */

static const void *
unsettled_row_of(const struct unsettled *unsettled, const struct item *item)
{
	static const size_t octets[STORE_N_TABLES] = {
	    [STORE_WINDOWS] = sizeof(struct store_window),
	    [STORE_WINDOW_PORTS] = sizeof(struct store_window_port),
	    [STORE_KEYS] = sizeof(struct store_key),
	    [STORE_FOLDED] = sizeof(struct store_folded),
	};
	const char *items = unsettled->batch->rows[item->table].items;

	return items + item->row * octets[item->table];
}

static void
unsettled_put_common(double *values, const struct store_sums *s, const struct store_pairs *any)
{
	values[PACK_N] = (double)s->n;
	values[PACK_W] = s->w;
	values[PACK_W2] = s->w2;
	values[PACK_WB] = s->wb;
	values[PACK_WB2] = s->wb2;
	values[PACK_W2B2] = s->w2b2;
	values[PACK_ANY_PKTS] = any->pkts;
	values[PACK_ANY_OCTETS] = any->octets;
}

static struct pack_key
window_entry(const struct store_window *w, double *values)
{
	unsettled_put_common(values, &w->sums, &w->any);
	values[PACK_POOL_PKTS] = (double)w->pool_pkts;
	values[PACK_POOL_OCTETS] = (double)w->pool_octets;
	values[PACK_CUT_PKTS] = (double)w->cut_pkts;
	values[PACK_CUT_OCTETS] = (double)w->cut_octets;
	values[PACK_W_MAX] = w->w_max;
	return pack_key_of(w->agent, w->if_index, w->direction, NULL, 0, NULL, 0);
}

static struct pack_key
port_entry(const struct store_window_port *p, double *values)
{
	values[PACK_EXPECTED] = (double)p->expected;
	values[PACK_RECEIVED] = (double)p->received;
	values[PACK_CUT_NUMBERS] = (double)p->cut_numbers;
	return pack_key_of(p->agent, p->if_index, EASE_IN, NULL, 0, NULL, 0);
}

static struct pack_key
key_entry(const struct store_key *k, double *values)
{
	unsettled_put_common(values, &k->sums, &k->any);
	values[PACK_SAME_PKTS] = k->same.pkts;
	values[PACK_SAME_OCTETS] = k->same.octets;
	values[PACK_SAME1_PKTS] = k->same1.pkts;
	values[PACK_SAME1_OCTETS] = k->same1.octets;
	values[PACK_SAME2_PKTS] = k->same2.pkts;
	values[PACK_SAME2_OCTETS] = k->same2.octets;
	return pack_key_of(k->agent, k->if_index, k->direction, k->key1, k->key1_octets, k->key2, k->key2_octets);
}

static struct pack_key
folded_entry(const struct store_folded *f, double *values)
{
	values[PACK_N] = (double)f->n;
	values[PACK_MOST_N] = (double)f->most_n;
	return pack_key_of(f->agent, f->if_index, f->direction, NULL, 0, NULL, 0);
}

static struct pack_key
entry_of(const struct unsettled *unsettled, const struct item *item, double *values)
{
	const void *row = unsettled_row_of(unsettled, item);

	memset(values, 0, PACK_COLUMNS * sizeof(*values));
	switch ((enum store_table)item->table) {
	case STORE_WINDOWS:
		return window_entry(row, values);
	case STORE_WINDOW_PORTS:
		return port_entry(row, values);
	case STORE_KEYS:
		return key_entry(row, values);
	default:
		return folded_entry(row, values);
	}
}

/* Returns the place of a row, from the columns that all four tables have. */
static struct place
unsettled_place_of(const struct unsettled *unsettled, const struct item *item, int64_t *agent)
{
	const void *row = unsettled_row_of(unsettled, item);
	const struct store_window *w = row;
	const struct store_window_port *p = row;
	const struct store_key *k = row;
	const struct store_folded *f = row;

	switch ((enum store_table)item->table) {
	case STORE_WINDOWS:
		*agent = w->agent;
		return (struct place){LEVEL_UNSETTLED, STORE_PART_TOTALS, w->start_us, store_shard(w->agent)};
	case STORE_WINDOW_PORTS:
		*agent = p->agent;
		return (struct place){LEVEL_UNSETTLED, STORE_PART_TOTALS, p->start_us, store_shard(p->agent)};
	case STORE_KEYS:
		*agent = k->agent;
		return (struct place){LEVEL_UNSETTLED, k->kind, k->start_us, store_shard(k->agent)};
	default:
		*agent = f->agent;
		return (struct place){LEVEL_UNSETTLED, STORE_PART_FOLDED + f->kind, f->start_us,
		    store_shard(f->agent)};
	}
}

/* Order */

static uint64_t
be64_at(const uint8_t *octets)
{
	uint64_t v;

	memcpy(&v, octets, sizeof(v));
	return be64toh(v);
}

static void
fill_item(const struct unsettled *unsettled, struct item *item)
{
	double values[PACK_COLUMNS];
	struct pack_key key = entry_of(unsettled, item, values);
	int64_t agent;
	struct place place = unsettled_place_of(unsettled, item, &agent);

	item->where = (uint64_t)place.kind << 56 |
	    (place.start_us / STORE_WINDOW_US & UINT32_MAX) << 24 |
	    ((uint64_t)agent & 0xffffff);
	item->place = be64_at(key.octets + 4); /* after the agent */
	item->key = be64_at(key.octets + 12);
}

static int
compare_items(const void *a, const void *b, void *arg)
{
	const struct item *x = a, *y = b;
	const struct unsettled *unsettled = arg;
	double values[PACK_COLUMNS];
	struct pack_key key_x, key_y;

	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	key_x = entry_of(unsettled, x, values);
	key_y = entry_of(unsettled, y, values);
	return pack_compare(&key_x, &key_y);
}

static bool
is_same_place(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && a->start_us == b->start_us && a->shard == b->shard;
}

static size_t
gather_items(struct unsettled *unsettled)
{
	size_t n = 0;

	for (int t = 0; t < N_TABLES; t++) {
		size_t rows = unsettled->batch->rows[tables[t]].n;

		for (size_t i = 0; i < rows && n < unsettled->room; i++, n++) {
			unsettled->items[n] = (struct item){.row = (uint32_t)i, .table = (uint8_t)tables[t]};
			fill_item(unsettled, &unsettled->items[n]);
		}
	}
	assert(n < unsettled->room); /* all rows of a batch have one */
	return n;
}

/* Returns when the newest record of a batch came, by the collector's clock. */
static uint64_t
received_until(const struct store_batch *batch)
{
	const struct store_agent *agents = batch->rows[STORE_AGENTS].items;
	uint64_t until_us = 0;

	for (size_t i = 0; i < batch->rows[STORE_AGENTS].n; i++)
		if (agents[i].last_received_us > until_us)
			until_us = agents[i].last_received_us;
	return until_us;
}

int
unsettled_write(struct unsettled *unsettled, struct parts *parts, const struct store_batch *batch)
{
	struct place place = {0}, next;
	size_t n;
	int r = 0;

	unsettled->batch = batch;
	n = gather_items(unsettled);
	qsort_r(unsettled->items, n, sizeof(*unsettled->items), compare_items, unsettled);
	for (size_t i = 0; r == 0 && i < n; i++) {
		double values[PACK_COLUMNS];
		struct pack_key key = entry_of(unsettled, &unsettled->items[i], values);
		int64_t agent;

		next = unsettled_place_of(unsettled, &unsettled->items[i], &agent);
		if (i == 0 || !is_same_place(&place, &next)) {
			if (i > 0)
				r = parts_end(parts);
			place = next;
			parts_begin(parts, &place);
		}
		if (r == 0)
			r = parts_add(parts, &key, values);
	}
	if (r == 0 && n > 0)
		r = parts_end(parts);
	if (r == 0 && n > 0)
		r = parts_note_flush(parts, received_until(batch));
	return r;
}
