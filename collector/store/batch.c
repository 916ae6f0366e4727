#include "collector/store/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct row_kind {
	size_t octets;
	size_t max;
};

/* Half of each may come from the network between two cuts, the other half is for the cut itself.
 * Samples: a fifth of a second of the rate the collector is built for (400,000 a second); while
 * the store is away what is beyond is counted as lost. The others are bounded by what the window
 * room keeps (16,384 ports, 32,768 windows, 8 million keys by the configuration's bound). */
static const struct row_kind row_kinds[STORE_N_TABLES] = {
    [STORE_AGENTS] = {sizeof(struct store_agent), 1 << 16},
    [STORE_PORTS] = {sizeof(struct store_port), 1 << 16},
    [STORE_SAMPLES] = {sizeof(struct store_sample), 160000},
    [STORE_COUNTERS] = {sizeof(struct store_counter), 1 << 17},
    [STORE_WINDOWS] = {sizeof(struct store_window), 1 << 20},
    [STORE_KEYS] = {sizeof(struct store_key), 1 << 24},
    [STORE_FOLDED] = {sizeof(struct store_folded), 1 << 20},
    [STORE_WINDOW_PORTS] = {sizeof(struct store_window_port), 1 << 20},
    [STORE_ACCOUNTS] = {sizeof(struct store_account), 1 << 17},
    [STORE_EVENTS] = {sizeof(struct store_event), 1 << 16},
    [STORE_STATS] = {sizeof(struct store_stat), 1024},
};

static int
grow(struct store_rows *rows, const struct row_kind *kind, size_t least)
{
	size_t room = rows->room ? rows->room : 64;
	void *items;

	while (room < least)
		room *= 2;
	if (room > kind->max)
		room = kind->max;
	items = realloc(rows->items, room * kind->octets);
	if (!items)
		return -ENOMEM;
	rows->items = items;
	rows->room = room;
	return 0;
}

int
store_batch_reserve(struct store_batch *batch, enum store_table table, size_t n)
{
	struct store_rows *rows = &batch->rows[table];
	const struct row_kind *kind = &row_kinds[table];

	int r = 0;

	if (n > kind->max - rows->n)
		return -ENOSPC;
	if (rows->n + n > rows->room)
		r = grow(rows, kind, rows->n + n);
	if (r == 0)
		rows->reserved = rows->n + n;
	return r;
}

void *
store_batch_add(struct store_batch *batch, enum store_table table)
{
	struct store_rows *rows = &batch->rows[table];
	const struct row_kind *kind = &row_kinds[table];
	char *row;

	if (rows->n >= rows->reserved && rows->n >= kind->max / 2)
		return NULL;
	if (rows->n == rows->room && grow(rows, kind, rows->n + 1) < 0)
		return NULL;
	row = (char *)rows->items + rows->n++ * kind->octets;
	return memset(row, 0, kind->octets);
}

void
store_batch_clear(struct store_batch *batch)
{
	for (int t = 0; t < STORE_N_TABLES; t++)
		batch->rows[t].n = batch->rows[t].reserved = 0;
}

void
store_batch_free(struct store_batch *batch)
{
	for (int t = 0; t < STORE_N_TABLES; t++)
		free(batch->rows[t].items);
	memset(batch, 0, sizeof(*batch));
}
