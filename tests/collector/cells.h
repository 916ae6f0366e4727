/*
 * All cells of MIB tables at one moment: what a walk with GETNEXT gives, kept in order, so that any
 * other request can be held against it, and two moments against each other.
 */
#ifndef EASE_TESTS_CELLS_H
#define EASE_TESTS_CELLS_H

#include "agent/snmp/mib_table.h"

enum { CELL_ARCS = MIB_OID_ARCS + MIB_INDEX_ARCS };

struct cell {
	const struct mib_table *table;
	size_t n;
	uint32_t oid[CELL_ARCS];
	struct mib_value value;
};

struct cells {
	struct cell *at; /* by table in the order given, by name within each */
	size_t n, room;
};

/* Walks the tables; what was in cells is replaced. Ends the program if a name does not grow. */
void cells_walk(const struct mib_table *const *tables, size_t n_tables,
    const struct mib_context *context, struct cells *cells);
/* One more, for a walk of another kind. */
struct cell *cells_add(struct cells *cells);
void cells_free(struct cells *cells);

/* Leaves out what a SET that was carried out and taken back leaves: a link that went down and up
 * again has changed, and buckets and log entries that went with a row do not come back with it. */
void cells_leave_out_undone(struct cells *cells);

bool cells_same_value(const struct mib_value *a, const struct mib_value *b);
/* The first cell that is not the same in both, of either; NULL: there is none. */
const struct cell *cells_difference(const struct cells *a, const struct cells *b);
/* The cell of exactly this name, and the first one of a table behind it; NULL: there is none. */
const struct cell *cells_find(const struct cells *cells, const struct mib_table *table,
    const uint32_t *oid, size_t n);
const struct cell *cells_after(const struct cells *cells, const struct mib_table *table,
    const uint32_t *oid, size_t n);

/* Name and value as one line of text, for messages; static storage. */
const char *cells_text(const uint32_t *oid, size_t n, const struct mib_value *value);

#endif
