/*
 * Q-BRIDGE-MIB (RFC 4363): the address table by VLAN, and the VLANs, all read-only. A bridge that is not
 * VLAN-aware appears to have VLAN 1 alone: it is the PVID of every port, untagged on every port, and permanent.
 * Of a VLAN-aware bridge whose device does not tell the ports of VLANs only the addresses are served. The FDB
 * identifier is the VLAN's number; of several bridges that are not VLAN-aware, all but the first have a filtering
 * database of their own, which is no VLAN's. GVRP is not supported.
 */
#include "agent/hal/hal.h"
#include "mibs/mib_rows.h"
#include "mibs/modules.h"

#include <errno.h>
#include <string.h>

enum {
	VERSION_1 = 1,
	GVRP_DISABLED = 2,
	VLAN_PERMANENT = 2,
	ADMIT_ALL = 1,
	ADMIT_ONLY_TAGGED = 2,
};

/* dot1qFdbTable has the rows that follow, too. */
static size_t
vlan_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal || !hal->has_addresses)
		return 0;
	*first = hal->vlans;
	return hal->n_vlans;
}

static size_t
q_bridge_fdb_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;
	size_t n_vlans = vlan_rows(context, first);

	return hal ? n_vlans + hal->n_fdbs - hal->n_vlans : 0;
}

/* ---- dot1qBase ---- */

static int
max_vlans(const struct mib_cell *cell, struct mib_value *value)
{
	bool aware = mib_snapshot_of(cell->context)->hal->vlan_aware;

	value->integer = aware ? HAL_VLAN_MAX : HAL_DEFAULT_VLAN;
	value->number = (uint64_t)value->integer;
	return 0;
}

static int
num_vlans(const struct mib_cell *cell, struct mib_value *value)
{
	const void *first;

	value->number = vlan_rows(cell->context, &first);
	return 0;
}

static const struct mib_column base_columns[] = {
	{1, "dot1qVlanVersionNumber", MIB_INTEGER, MIB_CONSTANT(VERSION_1)},
	{2, "dot1qMaxVlanId", MIB_INTEGER, MIB_FN(max_vlans)},
	{3, "dot1qMaxSupportedVlans", MIB_GAUGE32, MIB_FN(max_vlans)},
	{4, "dot1qNumVlans", MIB_GAUGE32, MIB_FN(num_vlans)},
	{5, "dot1qGvrpStatus", MIB_INTEGER, MIB_CONSTANT(GVRP_DISABLED)},
};
const struct mib_table q_bridge_mib_base = {
	.name = "dot1qBase",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 7, 1, 1),
	.scalars = true,
	MIB_COLUMNS(base_columns),
	MIB_ROWS(struct mib_snapshot, mib_bridge_rows),
};

/* ---- addresses ---- */

static const struct mib_column fdb_columns[] = {
	{2, "dot1qFdbDynamicCount", MIB_COUNTER32, MIB_AT(struct hal_vlan, n_learned)},
};
const struct mib_table q_bridge_mib_fdb_table = {
	.name = "dot1qFdbTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 1, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_vlan, vlan)},
	MIB_COLUMNS(fdb_columns),
	MIB_ROWS(struct hal_vlan, q_bridge_fdb_rows),
};

static size_t
address_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal || hal->n_addresses == 0)
		return 0;
	*first = hal->addresses + hal->fdb_addresses;
	return hal->n_addresses - hal->fdb_addresses;
}

static const struct mib_column tp_fdb_columns[] = {
	{2, "dot1qTpFdbPort", MIB_INTEGER, MIB_AT(struct hal_address, base_port)},
	{3, "dot1qTpFdbStatus", MIB_INTEGER, MIB_AT(struct hal_address, status)},
};
const struct mib_table q_bridge_mib_tp_fdb_table = {
	.name = "dot1qTpFdbTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_address, fdb),
	    MIB_INDEX(MIB_INDEX_MAC, struct hal_address, mac)},
	MIB_COLUMNS(tp_fdb_columns),
	MIB_ROWS(struct hal_address, address_rows),
};

/* ---- VLANs ---- */

static const struct mib_column vlan_columns[] = {
	{1, "dot1qVlanNumDeletes", MIB_COUNTER32, MIB_CONSTANT(0)},
	{4, "dot1qNextFreeLocalVlanIndex", MIB_INTEGER, MIB_CONSTANT(0)}, /* 0: none */
};
const struct mib_table q_bridge_mib_vlan = {
	.name = "dot1qVlan",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 7, 1, 4),
	.scalars = true,
	MIB_COLUMNS(vlan_columns),
	MIB_ROWS(struct mib_snapshot, mib_bridge_rows),
};

/* The VLANs whose ports are known: of a bridge that is not VLAN-aware, the one. */
static size_t
known_vlan_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	return hal && hal->knows_members ? vlan_rows(context, first) : 0;
}

/* Begins a PortList long enough for all ports. Ports beyond the longest possible string are left out. */
static void
begin_ports(const struct hal_snapshot *hal, struct mib_value *value)
{
	uint32_t last = hal->n_bridge_ports > 0 ? hal->bridge_ports[hal->n_bridge_ports - 1]->base_port : 0;

	value->len = last < MIB_OCTETS_MAX * 8 ? (last + 7) / 8 : MIB_OCTETS_MAX;
	memset(value->octets, 0, value->len);
}

/* Port 1 is the highest bit of the first octet. */
static void
q_bridge_add_port(uint32_t base_port, struct mib_value *value)
{
	uint32_t bit = base_port - 1;

	if (base_port > 0 && bit / 8 < value->len)
		value->octets[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

enum { EGRESS, UNTAGGED };

/* The ports of a VLAN; the column's argument says which of them. */
static int
q_bridge_ports_of(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_snapshot *hal = mib_snapshot_of(cell->context)->hal;
	uint32_t vlan = ((const struct hal_vlan *)cell->row)->vlan;

	begin_ports(hal, value);
	for (size_t i = 0; i < hal->n_vlan_ranges; i++) {
		const struct hal_vlan_range *range = &hal->vlan_ranges[i];

		if (range->first <= vlan && vlan <= range->last && (cell->column->arg == EGRESS || range->untagged))
			q_bridge_add_port(range->base_port, value);
	}
	return 0;
}

static int
no_ports(const struct mib_cell *cell, struct mib_value *value)
{
	begin_ports(mib_snapshot_of(cell->context)->hal, value);
	return 0;
}

/* Nobody tells when a VLAN of a VLAN-aware bridge was made. The other's was there before the start: 0. */
static int
creation_time(const struct mib_cell *cell, struct mib_value *value)
{
	value->number = 0;
	return mib_snapshot_of(cell->context)->hal->vlan_aware ? -ENOENT : 0;
}

static const struct mib_column current_columns[] = {
	{3, "dot1qVlanFdbId", MIB_GAUGE32, MIB_AT(struct hal_vlan, vlan)},
	{4, "dot1qVlanCurrentEgressPorts", MIB_STRING, MIB_FIGURE(q_bridge_ports_of, EGRESS)},
	{5, "dot1qVlanCurrentUntaggedPorts", MIB_STRING, MIB_FIGURE(q_bridge_ports_of, UNTAGGED)},
	{6, "dot1qVlanStatus", MIB_INTEGER, MIB_CONSTANT(VLAN_PERMANENT)},
	{7, "dot1qVlanCreationTime", MIB_TIMETICKS, MIB_FN(creation_time)},
};
const struct mib_table q_bridge_mib_current_table = {
	.name = "dot1qVlanCurrentTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1),
	.time_filter = true,
	.change_offset = offsetof(struct hal_vlan, changed_mono_us),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_vlan, vlan)},
	MIB_COLUMNS(current_columns),
	MIB_ROWS(struct hal_vlan, known_vlan_rows),
};

/* A VLAN-aware bridge has numbers and no names. */
static int
vlan_name(const struct mib_cell *cell, struct mib_value *value)
{
	mib_put_text(value, mib_snapshot_of(cell->context)->hal->vlan_aware ? "" : "default");
	return 0;
}

static const struct mib_column static_columns[] = {
	{1, "dot1qVlanStaticName", MIB_STRING, MIB_FN(vlan_name)},
	{2, "dot1qVlanStaticEgressPorts", MIB_STRING, MIB_FIGURE(q_bridge_ports_of, EGRESS)},
	{3, "dot1qVlanForbiddenEgressPorts", MIB_STRING, MIB_FN(no_ports)},
	{4, "dot1qVlanStaticUntaggedPorts", MIB_STRING, MIB_FIGURE(q_bridge_ports_of, UNTAGGED)},
	{5, "dot1qVlanStaticRowStatus", MIB_INTEGER, MIB_CONSTANT(ROW_ACTIVE)},
};
const struct mib_table q_bridge_mib_static_table = {
	.name = "dot1qVlanStaticTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_vlan, vlan)},
	MIB_COLUMNS(static_columns),
	MIB_ROWS(struct hal_vlan, known_vlan_rows),
};

static size_t
q_bridge_port_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	return hal && hal->knows_members ? mib_bridge_port_rows(context, first) : 0;
}

/* Absent where frames without a tag are dropped. */
static int
port_pvid(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_snapshot *hal = mib_snapshot_of(cell->context)->hal;
	uint32_t if_index = ((const struct hal_port *)cell->row)->if_index;

	value->number = hal_snapshot_pvid(hal, if_index);
	return value->number > 0 ? 0 : -ENOENT;
}

static int
accepted_frames(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = port_pvid(cell, value) == 0 ? ADMIT_ALL : ADMIT_ONLY_TAGGED;
	return 0;
}

/* A VLAN-aware bridge drops frames of VLANs that the port is not in. */
static int
ingress_filtering(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = mib_snapshot_of(cell->context)->hal->vlan_aware && !port->vlan_unaware ? MIB_TRUE : MIB_FALSE;
	return 0;
}

static const struct mib_column port_columns[] = {
	{1, "dot1qPvid", MIB_GAUGE32, MIB_FN(port_pvid)},
	{2, "dot1qPortAcceptableFrameTypes", MIB_INTEGER, MIB_FN(accepted_frames)},
	{3, "dot1qPortIngressFiltering", MIB_INTEGER, MIB_FN(ingress_filtering)},
	{4, "dot1qPortGvrpStatus", MIB_INTEGER, MIB_CONSTANT(GVRP_DISABLED)},
	{5, "dot1qPortGvrpFailedRegistrations", MIB_COUNTER32, MIB_CONSTANT(0)},
	{7, "dot1qPortRestrictedVlanRegistration", MIB_INTEGER, MIB_CONSTANT(MIB_FALSE)},
};
/* AUGMENTS dot1dBasePortEntry, so it has the same ports. */
const struct mib_table q_bridge_mib_port_table = {
	.name = "dot1qPortVlanTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 5, 1),
	MIB_COLUMNS(port_columns),
	MIB_BRIDGE_PORTS(q_bridge_port_rows),
};
