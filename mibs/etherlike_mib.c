/*
 * EtherLike-MIB (RFC 3635): dot3StatsTable. A port has a row if its device counts FCS errors.
 */
#include "mibs/mib_rows.h"
#include "mibs/modules.h"

enum { RATE_CONTROL_OFF = 1, TRUTH_FALSE = 2 };

static int
dot3_index(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->if_index;
	return mib_port_has_figure(cell);
}

static int
dot3_duplex(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->duplex;
	return mib_port_has_figure(cell);
}

/* Only the WAN side of 10 Gb/s Ethernet stretches its gaps; no device served here does. */
static int
dot3_rate_control_ability(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = TRUTH_FALSE;
	return mib_port_has_figure(cell);
}

static int
dot3_rate_control_status(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = RATE_CONTROL_OFF;
	return mib_port_has_figure(cell);
}

static const struct mib_column stats_columns[] = {
	{1, "dot3StatsIndex", MIB_INTEGER, MIB_FIGURE(dot3_index, HAL_FCS_ERRORS)},
	{2, "dot3StatsAlignmentErrors", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_ALIGNMENT_ERRORS)},
	{3, "dot3StatsFCSErrors", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_FCS_ERRORS)},
	{4, "dot3StatsSingleCollisionFrames", MIB_COUNTER32,
	    MIB_PORT_FIGURE(HAL_SINGLE_COLLISIONS)},
	{5, "dot3StatsMultipleCollisionFrames", MIB_COUNTER32,
	    MIB_PORT_FIGURE(HAL_MULTIPLE_COLLISIONS)},
	{6, "dot3StatsSQETestErrors", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_SQE_TEST_ERRORS)},
	{7, "dot3StatsDeferredTransmissions", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_DEFERRED)},
	{8, "dot3StatsLateCollisions", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_LATE_COLLISIONS)},
	{9, "dot3StatsExcessiveCollisions", MIB_COUNTER32,
	    MIB_PORT_FIGURE(HAL_EXCESSIVE_COLLISIONS)},
	{10, "dot3StatsInternalMacTransmitErrors", MIB_COUNTER32,
	    MIB_PORT_FIGURE(HAL_MAC_TX_ERRORS)},
	{11, "dot3StatsCarrierSenseErrors", MIB_COUNTER32,
	    MIB_PORT_FIGURE(HAL_CARRIER_SENSE_ERRORS)},
	{13, "dot3StatsFrameTooLongs", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_FRAME_TOO_LONGS)},
	{16, "dot3StatsInternalMacReceiveErrors", MIB_COUNTER32,
	    MIB_PORT_FIGURE(HAL_MAC_RX_ERRORS)},
	{18, "dot3StatsSymbolErrors", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_SYMBOL_ERRORS)},
	{19, "dot3StatsDuplexStatus", MIB_INTEGER, MIB_FIGURE(dot3_duplex, HAL_FCS_ERRORS)},
	{20, "dot3StatsRateControlAbility", MIB_INTEGER,
	    MIB_FIGURE(dot3_rate_control_ability, HAL_FCS_ERRORS)},
	{21, "dot3StatsRateControlStatus", MIB_INTEGER,
	    MIB_FIGURE(dot3_rate_control_status, HAL_FCS_ERRORS)},
};
const struct mib_table etherlike_mib_stats_table = {
	.name = "dot3StatsTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 10, 7, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	.columns = stats_columns,
	.n_columns = sizeof(stats_columns) / sizeof(stats_columns[0]),
	.row_size = sizeof(struct hal_port),
	.rows = mib_port_rows,
};
