/*
 * RMON-MIB's etherStatsTable (RFC 2819), and its 64-bit counterpart in HC-RMON-MIB (RFC 3273). The
 * agent makes one row for each port that has RMON counters; the index is the port's ifIndex.
 */
#include "mibs/mib_rows.h"
#include "mibs/modules.h"

#include <errno.h>
#include <string.h>

enum {
	STATUS_VALID = 1, /* EntryStatus */
	INDEX_MAX = 65535, /* etherStatsIndex */
};

static int
rmon_mib_has_row(const struct mib_cell *cell)
{
	const struct hal_port *port = cell->row;

	return port->if_index <= INDEX_MAX ? mib_port_has_any(cell, HAL_RMON_FIGURES) : -ENOENT;
}

static int
stats_index(const struct mib_cell *cell, struct mib_value *value)
{
	const struct hal_port *port = cell->row;

	value->integer = port->if_index;
	return rmon_mib_has_row(cell);
}

static int
stats_figure(const struct mib_cell *cell, struct mib_value *value)
{
	int error = rmon_mib_has_row(cell);

	return error ? error : mib_port_figure(cell, value);
}

static int
stats_data_source(const struct mib_cell *cell, struct mib_value *value)
{
	static const uint32_t if_index_name[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 1};
	const struct hal_port *port = cell->row;

	memcpy(value->arcs, if_index_name, sizeof(if_index_name));
	value->len = sizeof(if_index_name) / sizeof(if_index_name[0]);
	value->arcs[value->len++] = port->if_index;
	return rmon_mib_has_row(cell);
}

/* Rows that the agent makes are owned by "monitor" (RFC 2819 section 3). */
static int
stats_owner(const struct mib_cell *cell, struct mib_value *value)
{
	mib_put_text(value, "monitor");
	return rmon_mib_has_row(cell);
}

static int
stats_status(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = STATUS_VALID;
	return rmon_mib_has_row(cell);
}

#define FIGURE(which) MIB_FIGURE(stats_figure, which)

static const struct mib_column stats_columns[] = {
	{1, "etherStatsIndex", MIB_INTEGER, MIB_FN(stats_index)},
	{2, "etherStatsDataSource", MIB_OBJECT_ID, MIB_FN(stats_data_source)},
	{3, "etherStatsDropEvents", MIB_COUNTER32, FIGURE(HAL_RMON_DROP_EVENTS)},
	{4, "etherStatsOctets", MIB_COUNTER32, FIGURE(HAL_RMON_OCTETS)},
	{5, "etherStatsPkts", MIB_COUNTER32, FIGURE(HAL_RMON_PKTS)},
	{6, "etherStatsBroadcastPkts", MIB_COUNTER32, FIGURE(HAL_RMON_BCAST_PKTS)},
	{7, "etherStatsMulticastPkts", MIB_COUNTER32, FIGURE(HAL_RMON_MCAST_PKTS)},
	{8, "etherStatsCRCAlignErrors", MIB_COUNTER32, FIGURE(HAL_RMON_CRC_ALIGN)},
	{9, "etherStatsUndersizePkts", MIB_COUNTER32, FIGURE(HAL_RMON_UNDERSIZE)},
	{10, "etherStatsOversizePkts", MIB_COUNTER32, FIGURE(HAL_RMON_OVERSIZE)},
	{11, "etherStatsFragments", MIB_COUNTER32, FIGURE(HAL_RMON_FRAGMENTS)},
	{12, "etherStatsJabbers", MIB_COUNTER32, FIGURE(HAL_RMON_JABBERS)},
	{13, "etherStatsCollisions", MIB_COUNTER32, FIGURE(HAL_RMON_COLLISIONS)},
	{14, "etherStatsPkts64Octets", MIB_COUNTER32, FIGURE(HAL_RMON_64)},
	{15, "etherStatsPkts65to127Octets", MIB_COUNTER32, FIGURE(HAL_RMON_65_127)},
	{16, "etherStatsPkts128to255Octets", MIB_COUNTER32, FIGURE(HAL_RMON_128_255)},
	{17, "etherStatsPkts256to511Octets", MIB_COUNTER32, FIGURE(HAL_RMON_256_511)},
	{18, "etherStatsPkts512to1023Octets", MIB_COUNTER32, FIGURE(HAL_RMON_512_1023)},
	{19, "etherStatsPkts1024to1518Octets", MIB_COUNTER32, FIGURE(HAL_RMON_1024_MAX)},
	{20, "etherStatsOwner", MIB_STRING, MIB_FN(stats_owner)},
	{21, "etherStatsStatus", MIB_INTEGER, MIB_FN(stats_status)},
};
const struct mib_table rmon_mib_stats_table = {
	.name = "etherStatsTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 1, 1, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(stats_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};

/* How often the 32-bit counter has wrapped. */
static int
stats_overflow(const struct mib_cell *cell, struct mib_value *value)
{
	int error = stats_figure(cell, value);

	value->number >>= 32;
	return error;
}

#define OVERFLOW(which) MIB_FIGURE(stats_overflow, which)

static const struct mib_column hc_columns[] = {
	{1, "etherStatsHighCapacityOverflowPkts", MIB_COUNTER32, OVERFLOW(HAL_RMON_PKTS)},
	{2, "etherStatsHighCapacityPkts", MIB_COUNTER64, FIGURE(HAL_RMON_PKTS)},
	{3, "etherStatsHighCapacityOverflowOctets", MIB_COUNTER32, OVERFLOW(HAL_RMON_OCTETS)},
	{4, "etherStatsHighCapacityOctets", MIB_COUNTER64, FIGURE(HAL_RMON_OCTETS)},
	{5, "etherStatsHighCapacityOverflowPkts64Octets", MIB_COUNTER32, OVERFLOW(HAL_RMON_64)},
	{6, "etherStatsHighCapacityPkts64Octets", MIB_COUNTER64, FIGURE(HAL_RMON_64)},
	{7, "etherStatsHighCapacityOverflowPkts65to127Octets", MIB_COUNTER32,
	    OVERFLOW(HAL_RMON_65_127)},
	{8, "etherStatsHighCapacityPkts65to127Octets", MIB_COUNTER64, FIGURE(HAL_RMON_65_127)},
	{9, "etherStatsHighCapacityOverflowPkts128to255Octets", MIB_COUNTER32,
	    OVERFLOW(HAL_RMON_128_255)},
	{10, "etherStatsHighCapacityPkts128to255Octets", MIB_COUNTER64, FIGURE(HAL_RMON_128_255)},
	{11, "etherStatsHighCapacityOverflowPkts256to511Octets", MIB_COUNTER32,
	    OVERFLOW(HAL_RMON_256_511)},
	{12, "etherStatsHighCapacityPkts256to511Octets", MIB_COUNTER64, FIGURE(HAL_RMON_256_511)},
	{13, "etherStatsHighCapacityOverflowPkts512to1023Octets", MIB_COUNTER32,
	    OVERFLOW(HAL_RMON_512_1023)},
	{14, "etherStatsHighCapacityPkts512to1023Octets", MIB_COUNTER64, FIGURE(HAL_RMON_512_1023)},
	{15, "etherStatsHighCapacityOverflowPkts1024to1518Octets", MIB_COUNTER32,
	    OVERFLOW(HAL_RMON_1024_MAX)},
	{16, "etherStatsHighCapacityPkts1024to1518Octets", MIB_COUNTER64,
	    FIGURE(HAL_RMON_1024_MAX)},
};
const struct mib_table rmon_mib_hc_stats_table = {
	.name = "etherStatsHighCapacityTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 1, 7, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)},
	MIB_COLUMNS(hc_columns),
	MIB_ROWS(struct hal_port, mib_port_rows),
};
