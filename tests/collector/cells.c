#include "tests/collector/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell *
cells_add(struct cells *cells)
{
	if (cells->n == cells->room) {
		cells->room = cells->room ? cells->room * 2 : 1024;
		cells->at = reallocarray(cells->at, cells->room, sizeof(*cells->at));
		if (!cells->at)
			abort();
	}
	return &cells->at[cells->n++];
}

static void
walk_table(const struct mib_table *table, const struct mib_context *context, struct cells *cells)
{
	uint32_t oid[MIB_OID_MAX], next[MIB_OID_MAX];
	struct mib_value value;
	size_t n = table->entry.n, n_next;

	memset(&value, 0, sizeof(value));
	memcpy(oid, table->entry.arcs, n * sizeof(*oid));
	while (mib_get_next(table, context, oid, n, next, &n_next, &value) == MIB_FOUND) {
		if (mib_oid_compare(next, n_next, oid, n) <= 0 || n_next > CELL_ARCS)
			abort();
		memcpy(oid, next, n_next * sizeof(*oid));
		n = n_next;
		*cells_add(cells) = (struct cell){.table = table, .n = n, .value = value};
		memcpy(cells->at[cells->n - 1].oid, next, n * sizeof(*next));
	}
}

void
cells_walk(const struct mib_table *const *tables, size_t n_tables,
    const struct mib_context *context, struct cells *cells)
{
	cells->n = 0;
	for (size_t i = 0; i < n_tables; i++)
		walk_table(tables[i], context, cells);
}

void
cells_free(struct cells *cells)
{
	free(cells->at);
	*cells = (struct cells){0};
}

static bool
stays_after_undo(const struct cell *cell)
{
	static const char *const tables[] = {"ifTableLastChange", "etherHistoryTable",
	    "etherHistoryHighCapacityTable", "logTable"};
	static const uint32_t if_last_change[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 9};
	enum { N = sizeof(if_last_change) / sizeof(if_last_change[0]) };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(cell->table->name, tables[i]) == 0)
			return true;
	}
	return mib_oid_compare(cell->oid, N, if_last_change, N) == 0;
}

void
cells_leave_out_undone(struct cells *cells)
{
	size_t n = 0;

	for (size_t i = 0; i < cells->n; i++) {
		if (!stays_after_undo(&cells->at[i]))
			cells->at[n++] = cells->at[i];
	}
	cells->n = n;
}

bool
cells_same_value(const struct mib_value *a, const struct mib_value *b)
{
	if (a->syntax != b->syntax)
		return false;
	switch (a->syntax) {
	case MIB_INTEGER:
		return a->integer == b->integer;
	case MIB_STRING:
		return a->len == b->len && memcmp(a->octets, b->octets, a->len) == 0;
	case MIB_OBJECT_ID:
		return mib_oid_compare(a->arcs, a->len, b->arcs, b->len) == 0;
	default:
		return a->number == b->number;
	}
}

const struct cell *
cells_difference(const struct cells *a, const struct cells *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		const struct cell *in_a = &a->at[i], *in_b = &b->at[i];
		int order = mib_oid_compare(in_a->oid, in_a->n, in_b->oid, in_b->n);

		if (order != 0)
			return a->n > b->n ? in_a : in_b;
		if (!cells_same_value(&in_a->value, &in_b->value))
			return in_b;
	}
	return a->n > b->n ? &a->at[b->n] : a->n < b->n ? &b->at[a->n] : NULL;
}

const struct cell *
cells_find(const struct cells *cells, const struct mib_table *table, const uint32_t *oid, size_t n)
{
	for (const struct cell *c = cells->at; c < cells->at + cells->n; c++) {
		if (c->table == table && mib_oid_compare(c->oid, c->n, oid, n) == 0)
			return c;
	}
	return NULL;
}

const struct cell *
cells_after(const struct cells *cells, const struct mib_table *table, const uint32_t *oid, size_t n)
{
	for (const struct cell *c = cells->at; c < cells->at + cells->n; c++) {
		if (c->table == table && mib_oid_compare(c->oid, c->n, oid, n) > 0)
			return c;
	}
	return NULL;
}

const char *
cells_text(const uint32_t *oid, size_t n, const struct mib_value *value)
{
	static char text[2048];
	char *end = text + sizeof(text), *at = text;

	for (size_t i = 0; i < n; i++)
		at += snprintf(at, (size_t)(end - at), ".%" PRIu32, oid[i]);
	at += snprintf(at, (size_t)(end - at), " = %s: ", mib_syntax_name(value->syntax));
	if (value->syntax == MIB_STRING)
		snprintf(at, (size_t)(end - at), "'%.*s'", (int)value->len, value->octets);
	else if (value->syntax == MIB_OBJECT_ID)
		for (size_t i = 0; i < value->len; i++)
			at += snprintf(at, (size_t)(end - at), ".%" PRIu32, value->arcs[i]);
	else
		snprintf(at, (size_t)(end - at), "%" PRId64,
		    value->syntax == MIB_INTEGER ? value->integer : (int64_t)value->number);
	return text;
}
