/* Moves what was added since the last flush into a batch. */
#include "collector/window/window_private.h"

#include <assert.h>
#include <string.h>

enum {
	/* How fast the bar for another row rises beyond the limit of keys in the store: at twice
	 * the limit a key needs nine times the mean of that many keys. */
	HARDER = 8,
};

/* Writes how many samples were folded, and by how much the most that one key can lack has risen.
 * Returns false if the batch had no room for a row; the next flush then writes it. */
static bool
flush_folded(struct window *w, uint8_t direction, struct store_batch *batch)
{
	for (unsigned kind = 0; kind < N_KINDS; kind++) {
		struct folded *f = &w->directions[direction - 1].folded[kind];
		struct store_folded *row;

		if (f->n == 0)
			continue;
		row = store_batch_add(batch, STORE_FOLDED);
		if (!row)
			return false;
		row->start_us = w->start_us;
		row->agent = w->agent;
		row->if_index = w->if_index;
		row->direction = direction;
		row->kind = (uint8_t)key_layouts[kind].kind;
		row->n = f->n;
		row->most_n = f->most_n - f->flushed_most_n;
		f->n = 0;
		f->flushed_most_n = f->most_n;
	}
	return true;
}

static void
flush_direction(struct window *w, uint8_t direction, struct store_batch *batch)
{
	struct direction_sums *sums = &w->directions[direction - 1];
	struct store_window *row;

	if (sums->sums.n == 0 && sums->pool_pkts == 0 && sums->pool_octets == 0 &&
	    sums->cut_pkts == 0 && sums->cut_octets == 0)
		return;
	row = store_batch_add(batch, STORE_WINDOWS);
	assert(row); /* reserved */
	row->start_us = w->start_us;
	row->agent = w->agent;
	row->if_index = w->if_index;
	row->direction = direction;
	row->pool_pkts = sums->pool_pkts;
	row->pool_octets = sums->pool_octets;
	row->cut_pkts = sums->cut_pkts;
	row->cut_octets = sums->cut_octets;
	row->w_max = sums->w_max;
	row->sums = sums->sums;
	row->any = sums->any;
	sums->pool_pkts = sums->pool_octets = sums->cut_pkts = sums->cut_octets = 0;
	sums->w_max = 0;
	sums->sums = (struct store_sums){0};
	sums->any = (struct store_pairs){0};
}

static void
flush_window(struct window_table *t, struct window *w, struct store_batch *batch)
{
	struct store_window_port *row;

	assert(w->open && w->dirty);
	flush_direction(w, EASE_IN, batch);
	flush_direction(w, EASE_OUT, batch);
	w->dirty = false;
	if (!flush_folded(w, EASE_IN, batch) || !flush_folded(w, EASE_OUT, batch))
		window_mark_dirty(t, w);
	if (w->expected == 0 && w->received == 0 && w->cut_numbers == 0)
		return;
	row = store_batch_add(batch, STORE_WINDOW_PORTS);
	assert(row);
	row->start_us = w->start_us;
	row->agent = w->agent;
	row->if_index = w->if_index;
	row->expected = w->expected;
	row->received = w->received;
	row->cut_numbers = w->cut_numbers;
	w->expected = w->received = w->cut_numbers = 0;
}

/* Returns whether the key gets a row. A window's rows of a kind in the store are limited. Beyond
 * the limit, a key gets a row only if it has more of the samples since the last flush than a mean
 * key does, so that a talker that begins late is still listed. The bar rises with each row, so that
 * the limit keeps its meaning. */
static bool
flush_has_row(const struct window_table *t, const struct key *k)
{
	const struct direction_sums *sums = &t->windows[k->window].directions[k->direction - 1];
	uint64_t limit = t->limits.keys_per_window, rows = sums->folded[k->kind].rows;

	if (k->stored || rows < limit)
		return true;
	return k->unflushed * limit * limit >= sums->sums.n * (limit + HARDER * (rows - limit));
}

static void
fill_sums(struct store_key *row, const struct window_table *t, const struct key *k)
{
	const struct address_pairs *pairs = &t->address_pairs[k - t->keys];
	const struct key_sums *s = &k->sums;

	row->sums = (struct store_sums){k->unflushed, (double)k->w, s->w2, s->wb, s->wb2, s->w2b2};
	row->any = s->any;
	row->same = s->same;
	row->same1 = pairs->same1;
	row->same2 = pairs->same2;
}

static void
flush_key(const struct window_table *t, struct key *k, struct store_batch *batch)
{
	const struct window *w = &t->windows[k->window];
	struct store_key *row;

	assert(k->listed);
	k->listed = false;
	if (!k->used || k->unflushed == 0)
		return;
	if (!flush_has_row(t, k)) {
		window_key_fold(t, k, WINDOW_STAT_KEYS_WINDOW_FULL);
		return;
	}
	window_folded_of(t, k)->rows += !k->stored;
	k->stored = true;
	row = store_batch_add(batch, STORE_KEYS);
	assert(row);
	row->start_us = w->start_us;
	row->agent = w->agent;
	row->if_index = w->if_index;
	row->direction = k->direction;
	row->kind = (uint8_t)key_layouts[k->kind].kind;
	row->key1_octets = k->halves.octets1;
	row->key2_octets = k->halves.octets2;
	memcpy(row->key1, k->halves.half1, STORE_KEY_HALF);
	memcpy(row->key2, k->halves.half2, STORE_KEY_HALF);
	fill_sums(row, t, k);
	window_key_clear(t, k);
}

int
window_flush(struct window_table *t, struct store_batch *batch)
{
	const struct store_rows *folded = &batch->rows[STORE_FOLDED];
	uint32_t n_windows = t->dirty_windows.n;
	int r;

	window_empty_flow_cache(t);
	r = store_batch_reserve(batch, STORE_WINDOWS, (size_t)N_DIRECTIONS * n_windows);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_WINDOW_PORTS, n_windows);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_FOLDED, folded->room - folded->n);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_KEYS, t->dirty_keys.n);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < t->dirty_keys.n; i++)
		flush_key(t, &t->keys[t->dirty_keys.items[i]], batch);
	t->dirty_keys.n = t->dirty_windows.n = 0;
	/* a window that stays dirty is listed again, at an index that is already done */
	for (uint32_t i = 0; i < n_windows; i++)
		flush_window(t, &t->windows[t->dirty_windows.items[i]], batch);
	return 0;
}
