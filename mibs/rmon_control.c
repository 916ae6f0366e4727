/*
 * The tables of agent/rmon: RMON-MIB's groups history, alarm and event (RFC 2819), and HC-RMON-MIB's
 * history (RFC 3273). Managers make the control rows. The RFC gives the figures of buckets the type
 * Counter32, although they are deltas.
 */
#include "agent/rmon/rmon.h"
#include "mibs/mib_rows.h"
#include "mibs/mib_set.h"
#include "mibs/mibs.h"
#include "mibs/modules.h"

#include <errno.h>

#define SET_ROW(least, most) MIB_WRITE(MIB_SET_ROW, least, most)

/* Defines a function that returns the rows of one published table. */
#define ROWS_OF(function, member, count)                                                           \
	static size_t function(const struct mib_context *context, const void **first)              \
	{                                                                                          \
		const struct rmon_tables *tables = mib_snapshot_of(context)->rmon;                 \
                                                                                                   \
		if (!tables)                                                                       \
			return 0;                                                                  \
		*first = tables->member;                                                           \
		return tables->count;                                                              \
	}
ROWS_OF(control_rows, controls, n_controls)
ROWS_OF(bucket_rows, buckets, n_buckets)
ROWS_OF(alarm_rows, alarms, n_alarms)
ROWS_OF(event_rows, events, n_events)
ROWS_OF(log_rows, logs, n_logs)

/* ---- history ---- */

static const struct mib_column control_columns[] = {
	{1, "historyControlIndex", MIB_INTEGER, MIB_AT(struct rmon_control, index)},
	{2, "historyControlDataSource", MIB_OBJECT_ID, MIB_AT(struct rmon_control, source),
	    SET_ROW(0, 0)},
	{3, "historyControlBucketsRequested", MIB_INTEGER,
	    MIB_AT(struct rmon_control, buckets_requested), SET_ROW(1, RMON_INDEX_MAX)},
	{4, "historyControlBucketsGranted", MIB_INTEGER,
	    MIB_AT(struct rmon_control, buckets_granted)},
	{5, "historyControlInterval", MIB_INTEGER, MIB_AT(struct rmon_control, interval_s),
	    SET_ROW(1, RMON_INTERVAL_MAX_S)},
	{6, "historyControlOwner", MIB_STRING, MIB_AT(struct rmon_control, owner),
	    SET_ROW(0, RMON_OWNER_MAX)},
	{7, "historyControlStatus", MIB_INTEGER, MIB_AT(struct rmon_control, status),
	    SET_ROW(ENTRY_VALID, ENTRY_INVALID)},
};
const struct mib_table rmon_mib_history_control_table = {
	.name = "historyControlTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 2, 1, 1),
	.creates = true,
	.index = {MIB_INDEX_FROM(MIB_INDEX_U32, struct rmon_control, index, 1, RMON_INDEX_MAX)},
	MIB_COLUMNS(control_columns),
	MIB_ROWS(struct rmon_control, control_rows),
};

/* Absent if the port does not count it. */
static int
bucket_count(const struct mib_cell *cell, struct mib_value *value)
{
	const struct rmon_bucket *bucket = cell->row;

	value->number = bucket->counts[cell->column->arg];
	return bucket->known >> cell->column->arg & 1 ? 0 : -ENOENT;
}
#define COUNT(which) MIB_FIGURE(bucket_count, which)

/* Utilization is calculated of octets and packets. */
static int
bucket_utilization(const struct mib_cell *cell, struct mib_value *value)
{
	const struct rmon_bucket *bucket = cell->row;

	value->integer = bucket->utilization;
	return bucket->known >> RMON_OCTETS & 1 ? 0 : -ENOENT;
}

static const struct mib_column bucket_columns[] = {
	{1, "etherHistoryIndex", MIB_INTEGER, MIB_AT(struct rmon_bucket, control)},
	{2, "etherHistorySampleIndex", MIB_INTEGER, MIB_AT(struct rmon_bucket, sample)},
	{3, "etherHistoryIntervalStart", MIB_TIMETICKS,
	    MIB_STAMP(struct rmon_bucket, start_mono_us)},
	{4, "etherHistoryDropEvents", MIB_COUNTER32, COUNT(RMON_DROP_EVENTS)},
	{5, "etherHistoryOctets", MIB_COUNTER32, COUNT(RMON_OCTETS)},
	{6, "etherHistoryPkts", MIB_COUNTER32, COUNT(RMON_PKTS)},
	{7, "etherHistoryBroadcastPkts", MIB_COUNTER32, COUNT(RMON_BCAST_PKTS)},
	{8, "etherHistoryMulticastPkts", MIB_COUNTER32, COUNT(RMON_MCAST_PKTS)},
	{9, "etherHistoryCRCAlignErrors", MIB_COUNTER32, COUNT(RMON_CRC_ALIGN)},
	{10, "etherHistoryUndersizePkts", MIB_COUNTER32, COUNT(RMON_UNDERSIZE)},
	{11, "etherHistoryOversizePkts", MIB_COUNTER32, COUNT(RMON_OVERSIZE)},
	{12, "etherHistoryFragments", MIB_COUNTER32, COUNT(RMON_FRAGMENTS)},
	{13, "etherHistoryJabbers", MIB_COUNTER32, COUNT(RMON_JABBERS)},
	{14, "etherHistoryCollisions", MIB_COUNTER32, COUNT(RMON_COLLISIONS)},
	{15, "etherHistoryUtilization", MIB_INTEGER, MIB_FN(bucket_utilization)},
};
const struct mib_table rmon_mib_history_table = {
	.name = "etherHistoryTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 2, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct rmon_bucket, control),
	    MIB_INDEX(MIB_INDEX_U32, struct rmon_bucket, sample)},
	MIB_COLUMNS(bucket_columns),
	MIB_ROWS(struct rmon_bucket, bucket_rows),
};

/* How often the 32-bit counter wrapped in the interval. */
static int
bucket_overflow(const struct mib_cell *cell, struct mib_value *value)
{
	int error = bucket_count(cell, value);

	value->number >>= 32;
	return error;
}

/* CounterBasedGauge64 (RFC 2856) is a Counter64 on the wire. */
static const struct mib_column hc_bucket_columns[] = {
	{1, "etherHistoryHighCapacityOverflowPkts", MIB_GAUGE32,
	    MIB_FIGURE(bucket_overflow, RMON_PKTS)},
	{2, "etherHistoryHighCapacityPkts", MIB_COUNTER64, COUNT(RMON_PKTS)},
	{3, "etherHistoryHighCapacityOverflowOctets", MIB_GAUGE32,
	    MIB_FIGURE(bucket_overflow, RMON_OCTETS)},
	{4, "etherHistoryHighCapacityOctets", MIB_COUNTER64, COUNT(RMON_OCTETS)},
};
const struct mib_table rmon_mib_hc_history_table = {
	.name = "etherHistoryHighCapacityTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 2, 6, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct rmon_bucket, control),
	    MIB_INDEX(MIB_INDEX_U32, struct rmon_bucket, sample)},
	MIB_COLUMNS(hc_bucket_columns),
	MIB_ROWS(struct rmon_bucket, bucket_rows),
};

/* ---- alarm ---- */

static const struct mib_column alarm_columns[] = {
	{1, "alarmIndex", MIB_INTEGER, MIB_AT(struct rmon_alarm, index)},
	{2, "alarmInterval", MIB_INTEGER, MIB_AT(struct rmon_alarm, interval_s),
	    SET_ROW(1, INT32_MAX)},
	{3, "alarmVariable", MIB_OBJECT_ID, MIB_AT(struct rmon_alarm, variable), SET_ROW(0, 0)},
	{4, "alarmSampleType", MIB_INTEGER, MIB_AT(struct rmon_alarm, sample_type),
	    SET_ROW(RMON_ABSOLUTE, RMON_DELTA)},
	{5, "alarmValue", MIB_INTEGER, MIB_AT(struct rmon_alarm, value)},
	{6, "alarmStartupAlarm", MIB_INTEGER, MIB_AT(struct rmon_alarm, startup),
	    SET_ROW(RMON_STARTUP_RISING, RMON_STARTUP_EITHER)},
	{7, "alarmRisingThreshold", MIB_INTEGER, MIB_AT(struct rmon_alarm, rising),
	    SET_ROW(INT32_MIN, INT32_MAX)},
	{8, "alarmFallingThreshold", MIB_INTEGER, MIB_AT(struct rmon_alarm, falling),
	    SET_ROW(INT32_MIN, INT32_MAX)},
	{9, "alarmRisingEventIndex", MIB_INTEGER, MIB_AT(struct rmon_alarm, rising_event),
	    SET_ROW(0, RMON_INDEX_MAX)},
	{10, "alarmFallingEventIndex", MIB_INTEGER, MIB_AT(struct rmon_alarm, falling_event),
	    SET_ROW(0, RMON_INDEX_MAX)},
	{11, "alarmOwner", MIB_STRING, MIB_AT(struct rmon_alarm, owner), SET_ROW(0, RMON_OWNER_MAX)},
	{12, "alarmStatus", MIB_INTEGER, MIB_AT(struct rmon_alarm, status),
	    SET_ROW(ENTRY_VALID, ENTRY_INVALID)},
};
const struct mib_table rmon_mib_alarm_table = {
	.name = "alarmTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 3, 1, 1),
	.creates = true,
	.index = {MIB_INDEX_FROM(MIB_INDEX_U32, struct rmon_alarm, index, 1, RMON_INDEX_MAX)},
	MIB_COLUMNS(alarm_columns),
	MIB_ROWS(struct rmon_alarm, alarm_rows),
};

/* ---- event ---- */

static const struct mib_column event_columns[] = {
	{1, "eventIndex", MIB_INTEGER, MIB_AT(struct rmon_event, index)},
	{2, "eventDescription", MIB_STRING, MIB_AT(struct rmon_event, description),
	    SET_ROW(0, RMON_OWNER_MAX)},
	{3, "eventType", MIB_INTEGER, MIB_AT(struct rmon_event, type),
	    SET_ROW(RMON_EVENT_NONE, RMON_EVENT_BOTH)},
	{4, "eventCommunity", MIB_STRING, MIB_AT(struct rmon_event, community),
	    SET_ROW(0, RMON_OWNER_MAX)},
	{5, "eventLastTimeSent", MIB_TIMETICKS,
	    MIB_STAMP(struct rmon_event, sent_mono_us)},
	{6, "eventOwner", MIB_STRING, MIB_AT(struct rmon_event, owner), SET_ROW(0, RMON_OWNER_MAX)},
	{7, "eventStatus", MIB_INTEGER, MIB_AT(struct rmon_event, status),
	    SET_ROW(ENTRY_VALID, ENTRY_INVALID)},
};
const struct mib_table rmon_mib_event_table = {
	.name = "eventTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 9, 1, 1),
	.creates = true,
	.index = {MIB_INDEX_FROM(MIB_INDEX_U32, struct rmon_event, index, 1, RMON_INDEX_MAX)},
	MIB_COLUMNS(event_columns),
	MIB_ROWS(struct rmon_event, event_rows),
};

static const struct mib_column log_columns[] = {
	{1, "logEventIndex", MIB_INTEGER, MIB_AT(struct rmon_log, event)},
	{2, "logIndex", MIB_INTEGER, MIB_AT(struct rmon_log, index)},
	{3, "logTime", MIB_TIMETICKS, MIB_STAMP(struct rmon_log, mono_us)},
	{4, "logDescription", MIB_STRING, MIB_AT(struct rmon_log, description)},
};
const struct mib_table rmon_mib_log_table = {
	.name = "logTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 9, 2, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct rmon_log, event),
	    MIB_INDEX(MIB_INDEX_U32, struct rmon_log, index)},
	MIB_COLUMNS(log_columns),
	MIB_ROWS(struct rmon_log, log_rows),
};
