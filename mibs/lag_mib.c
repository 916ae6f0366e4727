/*
 * IEEE8023-LAG-MIB (IEEE Std 802.1AX-2008, clause 6): the aggregates and their members, for stations that do not read
 * ifStackTable. All read-only. What LACP says of system, key and state is not known here and absent, and so are
 * members beyond the 2,040th ifIndex in the list of an aggregate's ports; each member's own row has its aggregate.
 */
#include "agent/hal/hal.h"
#include "mibs/mib_rows.h"
#include "mibs/modules.h"

#include <errno.h>
#include <string.h>

enum { IF_TYPE_LAG = 161 }; /* ieee8023adLag of IANAifType-MIB */

static int
of_aggregate(const struct mib_cell *cell)
{
	return ((const struct hal_port *)cell->row)->if_type == IF_TYPE_LAG ? 0 : -ENOENT;
}

static int
of_member(const struct mib_cell *cell)
{
	return ((const struct hal_port *)cell->row)->lag_parent != 0 ? 0 : -ENOENT;
}

static int
aggregate_mac(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	mib_put_octets(value, port->mac, sizeof(port->mac));
	return of_aggregate(cell);
}

static int
lag_mib_is_aggregate(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = MIB_TRUE;
	return of_aggregate(cell);
}

/* Port 1 is the highest bit of the first octet. */
static int
lag_mib_ports_of(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_snapshot *hal = mib_snapshot_of(cell->context)->hal;
	uint32_t lag = ((const struct hal_port *)cell->row)->if_index;

	value->len = 0;
	memset(value->octets, 0, sizeof(value->octets));
	for (size_t i = 0; i < hal->n_ports; i++) {
		uint32_t bit = hal->ports[i].if_index - 1;

		if (hal->ports[i].lag_parent != lag || bit / 8 >= MIB_OCTETS_MAX)
			continue;
		value->octets[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
		value->len = bit / 8 + 1; /* ports are sorted */
	}
	return of_aggregate(cell);
}

static int
lag_mib_aggregate_of(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = ((const struct hal_port *)cell->row)->lag_parent;
	return of_member(cell);
}

static int
is_aggregated(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = MIB_TRUE;
	return of_member(cell);
}

#define LAG_ROWS(rest)                                                                                                 \
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)}, MIB_COLUMNS(rest), MIB_ROWS(struct hal_port, mib_port_rows)

static const struct mib_column aggregate_columns[] = {
	{2, "dot3adAggMACAddress", MIB_STRING, MIB_FN(aggregate_mac)},
	{5, "dot3adAggAggregateOrIndividual", MIB_INTEGER, MIB_FN(lag_mib_is_aggregate)},
};
const struct mib_table lag_mib_aggregate_table = {
	.name = "dot3adAggTable", .entry = MIB_OID(1, 2, 840, 10006, 300, 43, 1, 1, 1, 1), LAG_ROWS(aggregate_columns)};

static const struct mib_column ports_columns[] = {
	{1, "dot3adAggPortListPorts", MIB_STRING, MIB_FN(lag_mib_ports_of)},
};
const struct mib_table lag_mib_ports_table = {
	.name = "dot3adAggPortListTable", .entry = MIB_OID(1, 2, 840, 10006, 300, 43, 1, 1, 2, 1), LAG_ROWS(ports_columns)};

static const struct mib_column member_columns[] = {
	{12, "dot3adAggPortSelectedAggID", MIB_INTEGER, MIB_FN(lag_mib_aggregate_of)},
	{13, "dot3adAggPortAttachedAggID", MIB_INTEGER, MIB_FN(lag_mib_aggregate_of)},
	{24, "dot3adAggPortAggregateOrIndividual", MIB_INTEGER, MIB_FN(is_aggregated)},
};
const struct mib_table lag_mib_member_table = {
	.name = "dot3adAggPortTable", .entry = MIB_OID(1, 2, 840, 10006, 300, 43, 1, 2, 1, 1), LAG_ROWS(member_columns)};
