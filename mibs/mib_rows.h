/*
 * Helpers that several MIB modules use: functions that return the rows of a struct mib_snapshot, and
 * functions that return the value of a cell. For the files of mibs/ only.
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

/* mib_table.rows: the ports of the HAL's snapshot, struct hal_port. */
size_t mib_port_rows(const struct mib_context *context, const void **first);

/* mib_table.rows of scalars: the struct mib_snapshot itself as the only row. */
size_t mib_system_rows(const struct mib_context *context, const void **first);
/* The same, but no row before the HAL has published a snapshot. */
size_t mib_device_rows(const struct mib_context *context, const void **first);

/* As mib_device_rows, but no rows if the device has no address table; pointers to its bridge ports, by base_port. */
size_t mib_bridge_rows(const struct mib_context *context, const void **first);
size_t mib_bridge_port_rows(const struct mib_context *context, const void **first);
#define MIB_BRIDGE_PORTS(function) \
	.index = {MIB_INDEX(MIB_INDEX_U16, struct hal_port, base_port)}, MIB_ROWS_BY_POINTER(function)

/* mib_column.get: figure `arg` (enum hal_figure) of a struct hal_port; absent if it is unknown. */
int mib_port_figure(const struct mib_cell *cell, struct mib_value *value);
#define MIB_PORT_FIGURE(which) MIB_FIGURE(mib_port_figure, which)

/* mib_column.get: the number `arg`, or an empty string. */
int mib_constant(const struct mib_cell *cell, struct mib_value *value);
#define MIB_CONSTANT(number) MIB_FIGURE(mib_constant, number)
/* mib_column.get: the OID 0.0 (zeroDotZero). */
int mib_null_oid(const struct mib_cell *cell, struct mib_value *value);
enum { MIB_TRUE = 1, MIB_FALSE = 2 }; /* TruthValue */

/* For columns that every row of a facet has. Returns 0 if the port has one of the figures (bits of
 * hal_counters.known), else -ENOENT: the port lacks the facet. */
int mib_port_has_any(const struct mib_cell *cell, uint64_t figures);

/* The value of a column: the largest MAC client data of the row's struct hal_port. -ENOENT: the device does not know. */
int mib_mtu(const struct mib_cell *cell, struct mib_value *value);

#endif
