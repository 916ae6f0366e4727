/*
 * LLDP-MIB (IEEE 802.1AB): this switch, its ports, and its neighbours. Who hears LLDP may serve all of it by itself (lldpd,
 * SONiC's subagent); then these tables stand behind. What is here is what names ends of links; capabilities, management
 * addresses and statistics are not.
 */
#include "mibs/mib_rows.h"
#include "mibs/modules.h"

#include <errno.h>

#define LLDP_ROOT 1, 0, 8802, 1, 1, 2

static const struct mib_region lldp_region = {.name = "LLDP-MIB", .root = MIB_OID(LLDP_ROOT)};

/* ---- this switch ---- */

static size_t
lldp_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal || !hal->has_lldp)
		return 0;
	*first = &hal->lldp;
	return 1;
}

static int
put_id(const struct lldp_id *id, bool octets, struct mib_value *value)
{
	value->integer = id->kind;
	if (octets)
		mib_put_octets(value, id->octets, id->n_octets);
	return id->kind == 0 ? -ENOENT : 0;
}

/* The columns' arg: whether the octets are asked for, or what kind they are of. */
enum { ID_KIND, ID_OCTETS };

static int
own_chassis(const struct mib_cell *cell, struct mib_value *value)
{
	return put_id(&((const struct hal_lldp *)cell->row)->chassis, cell->column->arg == ID_OCTETS, value);
}

static const struct mib_column local_columns[] = {
	{1, "lldpLocChassisIdSubtype", MIB_INTEGER, MIB_FIGURE(own_chassis, ID_KIND)},
	{2, "lldpLocChassisId", MIB_STRING, MIB_FIGURE(own_chassis, ID_OCTETS)},
	{3, "lldpLocSysName", MIB_STRING, MIB_AT(struct hal_lldp, system_name)},
};
const struct mib_table lldp_mib_local = {
	.name = "lldpLocalSystemData",
	.entry = MIB_OID(LLDP_ROOT, 1, 3),
	.region = &lldp_region,
	.scalars = true,
	MIB_COLUMNS(local_columns),
	MIB_ROWS(struct hal_lldp, lldp_rows),
};

/* ---- its ports ---- */

static size_t
local_port_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal)
		return 0;
	*first = hal->lldp.ports;
	return hal->lldp.n_ports;
}

static int
local_port(const struct mib_cell *cell, struct mib_value *value)
{
	return put_id(&((const struct hal_lldp_port *)cell->row)->id, cell->column->arg == ID_OCTETS, value);
}

static const struct mib_column local_port_columns[] = {
	{2, "lldpLocPortIdSubtype", MIB_INTEGER, MIB_FIGURE(local_port, ID_KIND)},
	{3, "lldpLocPortId", MIB_STRING, MIB_FIGURE(local_port, ID_OCTETS)},
	{4, "lldpLocPortDesc", MIB_STRING, MIB_AT(struct hal_lldp_port, descr)},
};
const struct mib_table lldp_mib_local_port_table = {
	.name = "lldpLocPortTable",
	.entry = MIB_OID(LLDP_ROOT, 1, 3, 7, 1),
	.region = &lldp_region,
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_lldp_port, if_index)},
	MIB_COLUMNS(local_port_columns),
	MIB_ROWS(struct hal_lldp_port, local_port_rows),
};

/* ---- its neighbours ---- */

static size_t
remote_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal)
		return 0;
	*first = hal->lldp.neighbours;
	return hal->lldp.n_neighbours;
}

static int
remote_chassis(const struct mib_cell *cell, struct mib_value *value)
{
	return put_id(&((const struct hal_neighbour *)cell->row)->chassis, cell->column->arg == ID_OCTETS, value);
}

static int
remote_port(const struct mib_cell *cell, struct mib_value *value)
{
	return put_id(&((const struct hal_neighbour *)cell->row)->port, cell->column->arg == ID_OCTETS, value);
}

static const struct mib_column remote_columns[] = {
	{4, "lldpRemChassisIdSubtype", MIB_INTEGER, MIB_FIGURE(remote_chassis, ID_KIND)},
	{5, "lldpRemChassisId", MIB_STRING, MIB_FIGURE(remote_chassis, ID_OCTETS)},
	{6, "lldpRemPortIdSubtype", MIB_INTEGER, MIB_FIGURE(remote_port, ID_KIND)},
	{7, "lldpRemPortId", MIB_STRING, MIB_FIGURE(remote_port, ID_OCTETS)},
	{8, "lldpRemPortDesc", MIB_STRING, MIB_AT(struct hal_neighbour, port_descr)},
	{9, "lldpRemSysName", MIB_STRING, MIB_AT(struct hal_neighbour, system_name)},
};
/* The index begins with lldpRemTimeMark, a TimeFilter. */
const struct mib_table lldp_mib_remote_table = {
	.name = "lldpRemTable",
	.entry = MIB_OID(LLDP_ROOT, 1, 4, 1, 1),
	.region = &lldp_region,
	.time_filter = true,
	.change_offset = offsetof(struct hal_neighbour, changed_mono_us),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_neighbour, if_index), MIB_INDEX(MIB_INDEX_U32, struct hal_neighbour, number)},
	MIB_COLUMNS(remote_columns),
	MIB_ROWS(struct hal_neighbour, remote_rows),
};
