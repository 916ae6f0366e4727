/*
 * BRIDGE-MIB (RFC 4188) of a device with an address table: dot1dBase, dot1dTp, dot1dStaticTable; and
 * the 64-bit counters of P-BRIDGE-MIB (RFC 4363). Ports are those of all bridges of the device, by base_port, while
 * dot1dBase and dot1dTp speak of one bridge. dot1dTpFdbTable has the addresses that are valid in all VLANs.
 * Q-BRIDGE-MIB has those of single VLANs, because an address can appear in several. Not served are dot1dTpPortInDiscards, which no
 * supported device counts, and dot1dStp, because the agent does not know the spanning tree.
 */
#include "mibs/mib_rows.h"
#include "mibs/mib_set.h"
#include "mibs/mibs.h"
#include "mibs/modules.h"

#include <errno.h>
#include <string.h>

enum {
	TRANSPARENT_ONLY = 2, /* dot1dBaseType */
	MAC_OCTETS = 6,
	IF_TYPE_BRIDGE = 209, /* of IANAifType-MIB */
};

/* The bridge that dot1dBase and dot1dTp speak of: the one with the lowest ifIndex; NULL: the device is it. */
static const struct hal_port *
mib_first_bridge(const struct hal_snapshot *hal)
{
	for (size_t i = 0; i < hal->n_ports; i++)
		if (hal->ports[i].if_type == IF_TYPE_BRIDGE)
			return &hal->ports[i];
	return NULL;
}

/* The bridge's own; else the lowest of the ports' addresses, as the RFC recommends. */
static int
base_address(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_snapshot *hal = mib_snapshot_of(cell->context)->hal;
	const struct hal_port *bridge = mib_first_bridge(hal);
	const uint8_t *lowest = bridge ? bridge->mac : NULL;

	for (size_t i = 0; i < hal->n_bridge_ports && !bridge; i++) {
		const uint8_t *mac = hal->bridge_ports[i]->mac;

		if (!lowest || memcmp(mac, lowest, MAC_OCTETS) < 0)
			lowest = mac;
	}
	if (!lowest)
		return -ENOENT;
	mib_put_octets(value, lowest, MAC_OCTETS);
	return 0;
}

static int
base_num_ports(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_snapshot *hal = mib_snapshot_of(cell->context)->hal;
	const struct hal_port *bridge = mib_first_bridge(hal);

	value->integer = 0;
	for (size_t i = 0; i < hal->n_bridge_ports; i++)
		value->integer += !bridge || hal->bridge_ports[i]->bridge == bridge->if_index;
	return 0;
}

static const struct mib_column base_columns[] = {
	{1, "dot1dBaseBridgeAddress", MIB_STRING, MIB_FN(base_address)},
	{2, "dot1dBaseNumPorts", MIB_INTEGER, MIB_FN(base_num_ports)},
	{3, "dot1dBaseType", MIB_INTEGER, MIB_CONSTANT(TRANSPARENT_ONLY)},
};
const struct mib_table bridge_mib_base = {
	.name = "dot1dBase",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 1),
	.scalars = true,
	MIB_COLUMNS(base_columns),
	MIB_ROWS(struct mib_snapshot, mib_bridge_rows),
};

static const struct mib_column base_port_columns[] = {
	{1, "dot1dBasePort", MIB_INTEGER, MIB_AT(struct hal_port, base_port)},
	{2, "dot1dBasePortIfIndex", MIB_INTEGER, MIB_AT(struct hal_port, if_index)},
	{3, "dot1dBasePortCircuit", MIB_OBJECT_ID, MIB_FN(mib_null_oid)},
	/* Queues are limited by their length, not by the time that frames wait. */
	{4, "dot1dBasePortDelayExceededDiscards", MIB_COUNTER32, MIB_CONSTANT(0)},
	{5, "dot1dBasePortMtuExceededDiscards", MIB_COUNTER32,
	    MIB_PORT_FIGURE(HAL_FRAME_TOO_LONGS)},
};
const struct mib_table bridge_mib_base_port_table = {
	.name = "dot1dBasePortTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 1, 4, 1),
	MIB_COLUMNS(base_port_columns),
	MIB_BRIDGE_PORTS(mib_bridge_port_rows),
};

static int
tp_discards(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_snapshot *hal = mib_snapshot_of(cell->context)->hal;

	value->number = hal->address_discards;
	return hal->has_address_discards ? 0 : -ENOENT;
}

static int
tp_ageing(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = mib_snapshot_of(cell->context)->hal->ageing_s;
	return value->integer == 0 ? -ENOENT : 0;
}

static const struct mib_column tp_columns[] = {
	{1, "dot1dTpLearnedEntryDiscards", MIB_COUNTER32, MIB_FN(tp_discards)},
	{2, "dot1dTpAgingTime", MIB_INTEGER, MIB_FN(tp_ageing),
	    MIB_WRITE(MIB_SET_AGEING, HAL_AGEING_MIN_S, HAL_AGEING_MAX_S)},
};
const struct mib_table bridge_mib_tp = {
	.name = "dot1dTp",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 4),
	.scalars = true,
	MIB_COLUMNS(tp_columns),
	MIB_ROWS(struct mib_snapshot, mib_bridge_rows),
};

static size_t
bridge_mib_fdb_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal || hal->n_addresses == 0)
		return 0;
	*first = hal->addresses;
	return hal->n_common_addresses;
}

static int
fdb_address(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_address *address = cell->row;

	mib_put_octets(value, address->mac, sizeof(address->mac));
	return 0;
}

static const struct mib_column fdb_columns[] = {
	{1, "dot1dTpFdbAddress", MIB_STRING, MIB_FN(fdb_address)},
	{2, "dot1dTpFdbPort", MIB_INTEGER, MIB_AT(struct hal_address, base_port)},
	{3, "dot1dTpFdbStatus", MIB_INTEGER, MIB_AT(struct hal_address, status)},
};
const struct mib_table bridge_mib_fdb_table = {
	.name = "dot1dTpFdbTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 4, 3, 1),
	.index = {MIB_INDEX(MIB_INDEX_MAC, struct hal_address, mac)},
	MIB_COLUMNS(fdb_columns),
	MIB_ROWS(struct hal_address, bridge_mib_fdb_rows),
};

/* ---- static addresses ---- */

static size_t
static_rows(const struct mib_context *context, const void **first)
{
	const struct mib_static_address_table *static_addresses =
	    mib_snapshot_of(context)->static_addresses;

	if (!static_addresses || static_addresses->n == 0)
		return 0;
	*first = static_addresses->rows;
	return static_addresses->n;
}

static int
static_address(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_static_address *row = cell->row;

	mib_put_octets(value, row->mac, sizeof(row->mac));
	return 0;
}

/* A manager makes a row by setting dot1dStaticStatus, and deletes it by invalid(2).
 * deleteOnTimeout(5) is not supported, because static entries do not age. */
static const struct mib_column static_columns[] = {
	{1, "dot1dStaticAddress", MIB_STRING, MIB_FN(static_address)},
	{2, "dot1dStaticReceivePort", MIB_INTEGER, MIB_AT(struct mib_static_address, receive_port)},
	{3, "dot1dStaticAllowedToGoTo", MIB_STRING, MIB_AT(struct mib_static_address, allowed),
	    MIB_WRITE(MIB_SET_ROW, 1, MIB_BINARY_MAX), .binary = true},
	{4, "dot1dStaticStatus", MIB_INTEGER, MIB_AT(struct mib_static_address, status),
	    MIB_WRITE(MIB_SET_ROW, STATIC_INVALID, STATIC_DELETE_ON_RESET)},
};
const struct mib_table bridge_mib_static_table = {
	.name = "dot1dStaticTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 5, 1, 1),
	.creates = true,
	.index = {MIB_INDEX(MIB_INDEX_MAC, struct mib_static_address, mac),
	    MIB_INDEX_FROM(MIB_INDEX_U32, struct mib_static_address, receive_port, 0, 0)},
	MIB_COLUMNS(static_columns),
	MIB_ROWS(struct mib_static_address, static_rows),
};

/* ---- frames relayed ---- */

/* Returns the frames of a direction, without MAC control frames: the sum of the unicast, multicast
 * and broadcast figures, of which `arg` is the first. */
static int
relayed_frames(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_counters *counters = &((const struct hal_port *)cell->row)->counters;
	unsigned ucast = cell->column->arg;

	value->number = 0;
	for (unsigned i = ucast; i < ucast + 3; i++)
		value->number += counters->known >> i & 1 ? counters->value[i] : 0;
	return counters->known >> ucast & 1 ? 0 : -ENOENT;
}
_Static_assert(HAL_IN_BCAST_PKTS == HAL_IN_UCAST_PKTS + 2 && HAL_OUT_BCAST_PKTS ==
    HAL_OUT_UCAST_PKTS + 2, "casts follow one another");

/* How often the 32-bit counter has wrapped. */
static int
relayed_overflow(const struct mib_cell *cell, struct mib_value *value)
{
	int rc = relayed_frames(cell, value);

	value->number >>= 32;
	return rc;
}

#define RELAYED_IN  MIB_FIGURE(relayed_frames, HAL_IN_UCAST_PKTS)
#define RELAYED_OUT MIB_FIGURE(relayed_frames, HAL_OUT_UCAST_PKTS)

static const struct mib_column tp_port_columns[] = {
	{1, "dot1dTpPort", MIB_INTEGER, MIB_AT(struct hal_port, base_port)},
	{2, "dot1dTpPortMaxInfo", MIB_INTEGER, MIB_FN(mib_mtu)},
	{3, "dot1dTpPortInFrames", MIB_COUNTER32, RELAYED_IN},
	{4, "dot1dTpPortOutFrames", MIB_COUNTER32, RELAYED_OUT},
};
const struct mib_table bridge_mib_tp_port_table = {
	.name = "dot1dTpPortTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 4, 4, 1),
	MIB_COLUMNS(tp_port_columns),
	MIB_BRIDGE_PORTS(mib_bridge_port_rows),
};

static const struct mib_column tp_hc_port_columns[] = {
	{1, "dot1dTpHCPortInFrames", MIB_COUNTER64, RELAYED_IN},
	{2, "dot1dTpHCPortOutFrames", MIB_COUNTER64, RELAYED_OUT},
};
const struct mib_table bridge_mib_tp_hc_port_table = {
	.name = "dot1dTpHCPortTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 4, 5, 1),
	MIB_COLUMNS(tp_hc_port_columns),
	MIB_BRIDGE_PORTS(mib_bridge_port_rows),
};

static const struct mib_column tp_overflow_columns[] = {
	{1, "dot1dTpPortInOverflowFrames", MIB_COUNTER32,
	    MIB_FIGURE(relayed_overflow, HAL_IN_UCAST_PKTS)},
	{2, "dot1dTpPortOutOverflowFrames", MIB_COUNTER32,
	    MIB_FIGURE(relayed_overflow, HAL_OUT_UCAST_PKTS)},
};
const struct mib_table bridge_mib_tp_overflow_table = {
	.name = "dot1dTpPortOverflowTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 17, 4, 6, 1),
	MIB_COLUMNS(tp_overflow_columns),
	MIB_BRIDGE_PORTS(mib_bridge_port_rows),
};
