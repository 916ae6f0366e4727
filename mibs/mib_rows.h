/*
 * What several modules share: the rows of a struct mib_snapshot, and a port's figures as cells.
 * For the files of mibs/ only.
 */
#ifndef EASE_MIBS_MIB_ROWS_H
#define EASE_MIBS_MIB_ROWS_H

#include "agent/snmp/mib_table.h"
#include "mibs/mib_snapshot.h"

#include <stddef.h>

static inline const struct mib_snapshot *
mib_snapshot_of(const struct mib_context *context)
{
	return context->snapshot;
}

/* mib_table.rows: the ports of the HAL's snapshot; struct hal_port. */
size_t mib_port_rows(const struct mib_context *context, const void **first);

/* mib_table.rows of scalars: the snapshot itself; struct mib_snapshot. */
size_t mib_system_rows(const struct mib_context *context, const void **first);
/* The same once the HAL has published a snapshot. */
size_t mib_device_rows(const struct mib_context *context, const void **first);

/* The same two of a device that forwards by addresses. */
size_t mib_bridge_rows(const struct mib_context *context, const void **first);
size_t mib_bridge_port_rows(const struct mib_context *context, const void **first);
bool mib_is_bridge_port(const void *row); /* mib_table.has_row of the latter */

/* The addresses that all VLANs share: so many, in front, as they are sorted by VLAN. */
size_t mib_common_addresses(const struct hal_snapshot *hal);

/* mib_column.get: figure `arg` (enum hal_figure) of a struct hal_port; absent if not known. */
int mib_port_figure(const struct mib_cell *cell, struct mib_value *value);
#define MIB_PORT_FIGURE(which) MIB_FIGURE(mib_port_figure, which)

/* mib_column.get: `arg` itself, a number, or an empty string. */
int mib_constant(const struct mib_cell *cell, struct mib_value *value);
#define MIB_CONSTANT(number) MIB_FIGURE(mib_constant, number)
/* mib_column.get: 0.0, which names nothing. */
int mib_null_oid(const struct mib_cell *cell, struct mib_value *value);
enum { MIB_TRUE = 1, MIB_FALSE = 2 }; /* TruthValue */

/* The columns that every row of a facet has: absent if the port has none of these figures (bits of
 * hal_counters.known), for then it lacks the facet. */
int mib_port_has_any(const struct mib_cell *cell, uint64_t figures);

#endif
