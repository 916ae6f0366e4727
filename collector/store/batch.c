#include "collector/store/batch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tables that busy traffic fills are pre-faulted at the start, because page faults in the first
 * busy minute would lose datagrams. The others grow slowly, with the number of ports. */
static const struct {
	size_t octets;
	bool prefault;
} row_kinds[STORE_N_TABLES] = {
    [STORE_AGENTS] = {sizeof(struct store_agent), false},
    [STORE_AGENT_SOURCES] = {sizeof(struct store_agent_source), false},
    [STORE_AGENT_REFUSALS] = {sizeof(struct store_agent_refusal), false},
    [STORE_ODDITIES] = {sizeof(struct store_oddity), false},
    [STORE_AGENT_CLOCKS] = {sizeof(struct store_agent_clock), false},
    [STORE_POLLED] = {sizeof(struct store_polled), false},
    [STORE_PRECISION] = {sizeof(struct store_precision), false},
    [STORE_LINKS] = {sizeof(struct store_link), false},
    [STORE_REFUSED_SENDERS] = {sizeof(struct store_refused_sender), false},
    [STORE_PORTS] = {sizeof(struct store_port), false},
    [STORE_SAMPLES] = {sizeof(struct store_sample), true},
    [STORE_COUNTERS] = {sizeof(struct store_counter), false},
    [STORE_WINDOWS] = {sizeof(struct store_window), false},
    [STORE_KEYS] = {sizeof(struct store_key), true},
    [STORE_FOLDED] = {sizeof(struct store_folded), false},
    [STORE_WINDOW_PORTS] = {sizeof(struct store_window_port), false},
    [STORE_ACCOUNTS] = {sizeof(struct store_account), false},
    [STORE_EVENTS] = {sizeof(struct store_event), false},
    [STORE_ENGINES] = {sizeof(struct store_engine), false},
    [STORE_RESOURCES] = {sizeof(struct store_resource), false},
    [STORE_ERROR_SOURCES] = {sizeof(struct store_error_source), false},
    [STORE_DISCARDS] = {sizeof(struct store_discard), false},
    [STORE_CRASH_LOST] = {sizeof(struct store_crash_lost), false},
    [STORE_OUTAGES] = {sizeof(struct store_outage), false},
    [STORE_GAPS] = {sizeof(struct store_gap), false},
    [STORE_STATS] = {sizeof(struct store_stat), false},
};

uint64_t
store_memory(const struct store_room room[STORE_N_TABLES])
{
	uint64_t octets = 0;

	for (int t = 0; t < STORE_N_TABLES; t++) {
		bool sum = t == STORE_WINDOWS || t == STORE_KEYS || t == STORE_FOLDED ||
		    t == STORE_WINDOW_PORTS;

		octets += ((uint64_t)room[t].free + room[t].kept) *
		    (STORE_BATCHES * (row_kinds[t].octets + room[t].more_octets) + (sum ? STORE_SORT_OCTETS : 0));
	}
	return octets;
}

int
store_batch_init(struct store_batch *batch, const struct store_room room[STORE_N_TABLES])
{
	memset(batch, 0, sizeof(*batch));
	for (int t = 0; t < STORE_N_TABLES; t++) {
		struct store_rows *rows = &batch->rows[t];

		rows->free = room[t].free;
		rows->room = rows->free + room[t].kept;
		rows->items = malloc(rows->room * row_kinds[t].octets + 1);
		rows->more_octets = room[t].more_octets;
		rows->more = rows->more_octets > 0 ? malloc(rows->room * rows->more_octets) : NULL;
		if (!rows->items || (rows->more_octets > 0 && !rows->more)) {
			store_batch_free(batch);
			return -ENOMEM;
		}
		if (row_kinds[t].prefault) /* not with zeros, or the compiler would use calloc */
			memset(rows->items, 0xff, rows->room * row_kinds[t].octets);
		if (row_kinds[t].prefault && rows->more)
			memset(rows->more, 0xff, rows->room * rows->more_octets);
	}
	return 0;
}

int
store_batch_reserve(struct store_batch *batch, enum store_table table, size_t n)
{
	struct store_rows *rows = &batch->rows[table];

	assert(rows->n <= rows->room && rows->free <= rows->room);
	if (n > rows->room - rows->n)
		return -ENOSPC;
	rows->reserved = rows->n + n;
	return 0;
}

bool
store_batch_has_room(const struct store_batch *batch, enum store_table table, size_t n)
{
	const struct store_rows *rows = &batch->rows[table];

	return rows->n + n <= rows->reserved || rows->n + n <= rows->free;
}

void *
store_batch_add(struct store_batch *batch, enum store_table table)
{
	struct store_rows *rows = &batch->rows[table];
	size_t octets = row_kinds[table].octets;

	if (!store_batch_has_room(batch, table, 1))
		return NULL;
	assert(rows->n < rows->room);
	return memset((char *)rows->items + rows->n++ * octets, 0, octets);
}

const uint8_t *
store_batch_add_more(struct store_batch *batch, enum store_table table, const void *octets, size_t *n)
{
	struct store_rows *rows = &batch->rows[table];

	assert(rows->n > 0); /* the row is there */
	*n = *n < rows->more_octets ? *n : rows->more_octets;
	return *n > 0 ? memcpy(rows->more + (rows->n - 1) * rows->more_octets, octets, *n) : NULL;
}

bool
store_batch_is_filling(const struct store_batch *batch)
{
	for (int t = 0; t < STORE_N_TABLES; t++)
		if (batch->rows[t].n > batch->rows[t].free / 2)
			return true;
	return false;
}

void
store_batch_clear(struct store_batch *batch)
{
	for (int t = 0; t < STORE_N_TABLES; t++)
		batch->rows[t].n = batch->rows[t].reserved = 0;
	batch->durable = false;
}

void
store_batch_free(struct store_batch *batch)
{
	for (int t = 0; t < STORE_N_TABLES; t++) {
		free(batch->rows[t].items);
		free(batch->rows[t].more);
	}
	memset(batch, 0, sizeof(*batch));
}
