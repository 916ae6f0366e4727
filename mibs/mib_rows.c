#include "mibs/mib_rows.h"

#include <errno.h>

size_t
mib_port_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal)
		return 0;
	*first = hal->ports;
	return hal->n_ports;
}

size_t
mib_system_rows(const struct mib_context *context, const void **first)
{
	*first = context->snapshot;
	return 1;
}

size_t
mib_device_rows(const struct mib_context *context, const void **first)
{
	*first = context->snapshot;
	return mib_snapshot_of(context)->hal != NULL;
}

static bool
is_bridge(const struct mib_context *context)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	return hal && hal->has_addresses;
}

size_t
mib_bridge_rows(const struct mib_context *context, const void **first)
{
	return is_bridge(context) ? mib_device_rows(context, first) : 0;
}

size_t
mib_bridge_port_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!is_bridge(context))
		return 0;
	*first = hal->bridge_ports;
	return hal->n_bridge_ports;
}

int
mib_constant(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = cell->column->arg;
	value->number = cell->column->arg;
	return 0;
}

int
mib_null_oid(const struct mib_cell *cell, struct mib_value *value)
{
	(void)cell;
	value->arcs[0] = 0;
	value->arcs[1] = 0;
	value->len = 2;
	return 0;
}

int
mib_port_has_any(const struct mib_cell *cell, uint64_t figures)
{
	const struct hal_port *port = cell->row;

	return port->counters.known & figures ? 0 : -ENOENT;
}

int
mib_port_figure(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->number = port->counters.value[cell->column->arg];
	return mib_port_has_any(cell, 1ull << cell->column->arg);
}

int
mib_mtu(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = (int32_t)port->mtu_octets;
	return port->mtu_octets != 0 ? 0 : -ENOENT;
}
