/*
 * EtherLike-MIB (RFC 3635): dot3StatsTable, dot3ControlTable, dot3PauseTable, dot3HCStatsTable. A
 * port has a row in the tables of statistics if the device counts any of them or knows the port's
 * duplex mode, and in the tables of MAC control if the device counts control frames. Not served are
 * dot3CollTable, whose counters no supported chip has, and deprecated objects.
 */
#include "mibs/mib_rows.h"
#include "mibs/mib_set.h"
#include "mibs/modules.h"

#include <errno.h>

enum { RATE_CONTROL_OFF = 1, ASYMMETRIC_ABOVE_BPS = 100000000 };

static int
has_stats_row(const struct mib_cell *cell)
{
	const struct hal_port *port = cell->row;

	return port->duplex != EASE_DUPLEX_UNKNOWN ? 0 : mib_port_has_any(cell, HAL_DOT3_FIGURES);
}

static int
dot3_index(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->if_index;
	return has_stats_row(cell);
}

static int
dot3_duplex(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->duplex;
	return has_stats_row(cell);
}

/* Only the WAN side of 10 Gb/s Ethernet stretches the gaps between frames; no supported device
 * does. */
static int
dot3_rate_control_ability(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = MIB_FALSE;
	return has_stats_row(cell);
}

static int
dot3_rate_control_status(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = RATE_CONTROL_OFF;
	return has_stats_row(cell);
}

static const struct mib_column stats_columns[] = {
	{1, "dot3StatsIndex", MIB_INTEGER, MIB_FN(dot3_index)},
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
	{19, "dot3StatsDuplexStatus", MIB_INTEGER, MIB_FN(dot3_duplex)},
	{20, "dot3StatsRateControlAbility", MIB_INTEGER, MIB_FN(dot3_rate_control_ability)},
	{21, "dot3StatsRateControlStatus", MIB_INTEGER, MIB_FN(dot3_rate_control_status)},
};
const struct mib_table etherlike_mib_stats_table = {
	.name = "dot3StatsTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 10, 7, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(stats_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

static const struct mib_column hc_stats_columns[] = {
	{1, "dot3HCStatsAlignmentErrors", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_ALIGNMENT_ERRORS)},
	{2, "dot3HCStatsFCSErrors", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_FCS_ERRORS)},
	{3, "dot3HCStatsInternalMacTransmitErrors", MIB_COUNTER64,
	    MIB_PORT_FIGURE(HAL_MAC_TX_ERRORS)},
	{4, "dot3HCStatsFrameTooLongs", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_FRAME_TOO_LONGS)},
	{5, "dot3HCStatsInternalMacReceiveErrors", MIB_COUNTER64,
	    MIB_PORT_FIGURE(HAL_MAC_RX_ERRORS)},
	{6, "dot3HCStatsSymbolErrors", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_SYMBOL_ERRORS)},
};
const struct mib_table etherlike_mib_hc_stats_table = {
	.name = "dot3HCStatsTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 10, 7, 11, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(hc_stats_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

/* ---- MAC control ---- */

/* BITS: pause(0) is the only function that exists. */
static int
control_functions(const struct mib_cell *cell, struct mib_value *value)
{
	mib_put_octets(value, (const uint8_t[]){0x80}, 1);
	return mib_port_has_any(cell, HAL_CONTROL_FIGURES);
}

static const struct mib_column control_columns[] = {
	{1, "dot3ControlFunctionsSupported", MIB_STRING, MIB_FN(control_functions)},
	{2, "dot3ControlInUnknownOpcodes", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_UNKNOWN_OPCODES)},
	{3, "dot3HCControlInUnknownOpcodes", MIB_COUNTER64,
	    MIB_PORT_FIGURE(HAL_IN_UNKNOWN_OPCODES)},
};
const struct mib_table etherlike_mib_control_table = {
	.name = "dot3ControlTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 10, 7, 9, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(control_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

/* At 100 Mb/s and less, link partners cannot agree on PAUSE in one direction alone, so it is
 * shown as disabled. */
static int
put_pause(const struct hal_port *port, uint8_t mode, struct mib_value *value)
{
	bool one_way = mode == HAL_PAUSE_XMIT || mode == HAL_PAUSE_RCV;

	value->integer =
	    one_way && port->speed_bps <= ASYMMETRIC_ABOVE_BPS ? HAL_PAUSE_DISABLED : mode;
	return mode == HAL_PAUSE_NOT_KNOWN ? -ENOENT : 0;
}

static int
pause_admin(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	return put_pause(port, port->pause_admin, value);
}

static int
pause_oper(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	return put_pause(port, port->pause_oper, value);
}

static const struct mib_column pause_columns[] = {
	{1, "dot3PauseAdminMode", MIB_INTEGER, MIB_FN(pause_admin),
	    MIB_WRITE(MIB_SET_PAUSE, HAL_PAUSE_DISABLED, HAL_PAUSE_BOTH)},
	{2, "dot3PauseOperMode", MIB_INTEGER, MIB_FN(pause_oper)},
	{3, "dot3InPauseFrames", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_IN_PAUSE_PKTS)},
	{4, "dot3OutPauseFrames", MIB_COUNTER32, MIB_PORT_FIGURE(HAL_OUT_PAUSE_PKTS)},
	{5, "dot3HCInPauseFrames", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_IN_PAUSE_PKTS)},
	{6, "dot3HCOutPauseFrames", MIB_COUNTER64, MIB_PORT_FIGURE(HAL_OUT_PAUSE_PKTS)},
};
const struct mib_table etherlike_mib_pause_table = {
	.name = "dot3PauseTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 10, 7, 10, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(pause_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};
