/*
 * IF-MIB (RFC 2863), with the meanings of RFC 3635 for Ethernet: ifNumber, ifTable, ifXTable,
 * ifStackTable, ifTableLastChange, ifStackLastChange. Not served are deprecated objects and
 * ifRcvAddressTable, because a switch port receives every frame and passes none to a host.
 */
#include "common/sample.h"
#include "mibs/mib_rows.h"
#include "mibs/mib_set.h"
#include "mibs/modules.h"

#include <errno.h>

static int
if_number(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;

	value->integer = (int64_t)snapshot->hal->n_ports;
	return 0;
}

static const struct mib_column number_columns[] = {
	{1, "ifNumber", MIB_INTEGER, MIB_FN(if_number)},
};
const struct mib_table if_mib_number = {
	.name = "ifNumber",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 2),
	.scalars = true,
	MIB_COLUMNS(number_columns),
	MIB_ROWS(struct mib_snapshot, mib_device_rows),
};

static int
if_table_last_change(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;

	value->number = mib_time_stamp(cell->context, snapshot->hal->ports_changed_mono_us);
	return 0;
}

static int
if_stack_last_change(const struct mib_cell *cell, struct mib_value *value)
{
	const struct mib_snapshot *snapshot = cell->row;

	value->number =
	    mib_time_stamp(cell->context, snapshot->hal->structure->layers_changed_mono_us);
	return 0;
}

static const struct mib_column last_change_columns[] = {
	{5, "ifTableLastChange", MIB_TIMETICKS, MIB_FN(if_table_last_change)},
	{6, "ifStackLastChange", MIB_TIMETICKS, MIB_FN(if_stack_last_change)},
};
const struct mib_table if_mib_last_change = {
	.name = "ifMIBObjects",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 31, 1),
	.scalars = true,
	MIB_COLUMNS(last_change_columns),
	MIB_ROWS(struct mib_snapshot, mib_device_rows),
};

static int
if_phys_address(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	mib_put_octets(value, port->mac, port->not_ethernet ? 0 : sizeof(port->mac));
	return 0;
}

static int
if_admin_status(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->admin_status;
	return port->admin_status == EASE_IF_STATUS_NOT_KNOWN ? -ENOENT : 0;
}

static int
if_oper_status(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->oper_status == EASE_IF_STATUS_NOT_KNOWN ? EASE_IF_STATUS_UNKNOWN
									: port->oper_status;
	return 0;
}

static const struct mib_column if_columns[] = {
	{1, "ifIndex", MIB_INTEGER, MIB_AT(struct hal_port, if_index)},
	{2, "ifDescr", MIB_STRING, MIB_AT(struct hal_port, descr)},
	{3, "ifType", MIB_INTEGER, MIB_AT(struct hal_port, if_type)},
	{4, "ifMtu", MIB_INTEGER, MIB_FN(mib_mtu)},
	{5, "ifSpeed", MIB_GAUGE32, MIB_AT(struct hal_port, speed_bps)},
	{6, "ifPhysAddress", MIB_STRING, MIB_FN(if_phys_address)},
	{7, "ifAdminStatus", MIB_INTEGER, MIB_FN(if_admin_status),
	    MIB_WRITE(MIB_SET_ADMIN_STATUS, EASE_IF_UP, EASE_IF_DOWN)},
	{8, "ifOperStatus", MIB_INTEGER, MIB_FN(if_oper_status)},
	{9, "ifLastChange", MIB_TIMETICKS, MIB_STAMP(struct hal_port, last_change_mono_us)},
	{10, "ifInOctets", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_OCTETS)},
	{11, "ifInUcastPkts", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_UCAST_PKTS)},
	{13, "ifInDiscards", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_DISCARDS)},
	{14, "ifInErrors", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_ERRORS)},
	{15, "ifInUnknownProtos", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_UNKNOWN_PROTOS)},
	{16, "ifOutOctets", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_OUT_OCTETS)},
	{17, "ifOutUcastPkts", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_OUT_UCAST_PKTS)},
	{19, "ifOutDiscards", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_OUT_DISCARDS)},
	{20, "ifOutErrors", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_OUT_ERRORS)},
};
const struct mib_table if_mib_table = {
	.name = "ifTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(if_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

static int
if_high_speed_mbps(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->number = (port->speed_bps + 500000) / 1000000;
	return 0;
}

/* A port of a bridge receives every frame; others may be told to. */
static int
if_promiscuous(const struct mib_cell *cell, struct mib_value *value)
{
	bool forwards = mib_snapshot_of(cell->context)->hal->has_addresses;
	bool is_promiscuous = ((const struct hal_port *)cell->row)->promiscuous;

	value->integer = is_promiscuous || (forwards && ((const struct hal_port *)cell->row)->base_port != 0) ? MIB_TRUE : MIB_FALSE;
	return 0;
}

static const struct mib_column ifx_columns[] = {
	{1, "ifName", MIB_STRING, MIB_AT(struct hal_port, name)},
	{2, "ifInMulticastPkts", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_MCAST_PKTS)},
	{3, "ifInBroadcastPkts", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_BCAST_PKTS)},
	{4, "ifOutMulticastPkts", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_OUT_MCAST_PKTS)},
	{5, "ifOutBroadcastPkts", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_OUT_BCAST_PKTS)},
	{6, "ifHCInOctets", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_IN_OCTETS)},
	{7, "ifHCInUcastPkts", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_IN_UCAST_PKTS)},
	{8, "ifHCInMulticastPkts", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_IN_MCAST_PKTS)},
	{9, "ifHCInBroadcastPkts", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_IN_BCAST_PKTS)},
	{10, "ifHCOutOctets", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_OUT_OCTETS)},
	{11, "ifHCOutUcastPkts", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_OUT_UCAST_PKTS)},
	{12, "ifHCOutMulticastPkts", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_OUT_MCAST_PKTS)},
	{13, "ifHCOutBroadcastPkts", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_OUT_BCAST_PKTS)},
	{14, "ifLinkUpDownTrapEnable", MIB_INTEGER, MIB_AT(struct hal_port, link_traps),
	    MIB_WRITE(MIB_SET_LINK_TRAPS, 1, 2), .truth = true},
	{15, "ifHighSpeed", MIB_GAUGE32, MIB_FN(if_high_speed_mbps)},
	{16, "ifPromiscuousMode", MIB_INTEGER, MIB_FN(if_promiscuous)},
	{17, "ifConnectorPresent", MIB_INTEGER, MIB_AT(struct hal_port, has_connector),
	    .truth = true},
	{18, "ifAlias", MIB_STRING, MIB_AT(struct hal_port, alias),
	    MIB_WRITE(MIB_SET_ALIAS, 0, EASE_NAME_MAX)},
	{19, "ifCounterDiscontinuityTime", MIB_TIMETICKS,
	    MIB_STAMP(struct hal_port, discontinuity_mono_us)},
};
const struct mib_table if_mib_x_table = {
	.name = "ifXTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 31, 1, 1, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(ifx_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

static size_t
stack_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal)
		return 0;
	*first = hal->structure->layers;
	return hal->structure->n_layers;
}

static const struct mib_column stack_columns[] = {
	{3, "ifStackStatus", MIB_INTEGER, MIB_CONSTANT(ROW_ACTIVE)},
};
const struct mib_table if_mib_stack_table = {
	.name = "ifStackTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 31, 1, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_layer, higher),
	    MIB_INDEX(MIB_INDEX_U32, struct hal_layer, lower)},
	MIB_COLUMNS(stack_columns),
	MIB_ROWS(struct hal_layer, stack_rows),
};
