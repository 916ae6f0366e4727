/*
 * What a manager who means no good asks for: names near and far from the cells of a switch, values
 * that fit their columns and that do not, SETs of any cells, of cells that can be set, and of whole
 * rows. Drawn from a seed, so the same each time.
 */
#ifndef EASE_TESTS_FATE_H
#define EASE_TESTS_FATE_H

#include "tests/collector/cells.h"

enum {
	FATE_PORTS = 3, /* what it takes for a port's ifIndex, mostly: 1 to this */
	FATE_VARBINDS_MAX = MIB_SETS_MAX + 4, /* of a SET: more than one may have */
};

struct fate {
	uint64_t seed;
	const struct cells *cells; /* the switch's, not none */
};

struct varbind {
	const struct mib_table *table; /* the one that holds the name, or any */
	size_t n;
	uint32_t oid[MIB_OID_MAX];
	struct mib_value value;
};

uint64_t fate_draw(struct fate *fate);
size_t fate_below(struct fate *fate, size_t n); /* 0 to n - 1 */

/* The number of arcs, at most MIB_OID_MAX. */
size_t fate_name(struct fate *fate, uint32_t *oid);
/* The number of varbinds, at most FATE_VARBINDS_MAX. */
size_t fate_set(struct fate *fate, struct varbind *varbinds);

/* The registration that Net-SNMP would hand this name to, and the column it names; NULL: none. */
const struct mib_table *fate_table_of(const uint32_t *oid, size_t n);
const struct mib_column *fate_column_of(const struct mib_table *table, const uint32_t *oid,
    size_t n);

#endif
