/*
 * HC-ALARM-MIB (RFC 3434): alarms whose values and thresholds have 64 bits, and a sign of their own.
 * Managers make the rows, and agent/rmon runs them.
 */
#include "agent/rmon/rmon.h"
#include "mibs/mib_rows.h"
#include "mibs/mib_set.h"
#include "mibs/mibs.h"
#include "mibs/modules.h"

#define SET_ROW(least, most) MIB_WRITE(MIB_SET_ROW, least, most)
#define AT(member)	     MIB_AT(struct rmon_hc_alarm, member)

static size_t
alarm_rows(const struct mib_context *context, const void **first)
{
	const struct rmon_tables *tables = mib_snapshot_of(context)->rmon;

	if (!tables)
		return 0;
	*first = tables->hc_alarms;
	return tables->n_hc_alarms;
}

static const struct mib_column alarm_columns[] = {
	{2, "hcAlarmInterval", MIB_INTEGER, AT(interval_s), SET_ROW(1, INT32_MAX)},
	{3, "hcAlarmVariable", MIB_OBJECT_ID, AT(variable), SET_ROW(0, 0)},
	{4, "hcAlarmSampleType", MIB_INTEGER, AT(sample_type), SET_ROW(RMON_ABSOLUTE, RMON_DELTA)},
	{5, "hcAlarmAbsValue", MIB_COUNTER64, AT(value)},
	{6, "hcAlarmValueStatus", MIB_INTEGER, AT(value_sign)},
	{7, "hcAlarmStartupAlarm", MIB_INTEGER, AT(startup),
	    SET_ROW(RMON_STARTUP_RISING, RMON_STARTUP_EITHER)},
	{8, "hcAlarmRisingThreshAbsValueLo", MIB_GAUGE32, AT(rising.low), SET_ROW(0, UINT32_MAX)},
	{9, "hcAlarmRisingThreshAbsValueHi", MIB_GAUGE32, AT(rising.high), SET_ROW(0, UINT32_MAX)},
	{10, "hcAlarmRisingThresholdValStatus", MIB_INTEGER, AT(rising.sign),
	    SET_ROW(RMON_POSITIVE, RMON_NEGATIVE)},
	{11, "hcAlarmFallingThreshAbsValueLo", MIB_GAUGE32, AT(falling.low), SET_ROW(0, UINT32_MAX)},
	{12, "hcAlarmFallingThreshAbsValueHi", MIB_GAUGE32, AT(falling.high),
	    SET_ROW(0, UINT32_MAX)},
	{13, "hcAlarmFallingThresholdValStatus", MIB_INTEGER, AT(falling.sign),
	    SET_ROW(RMON_POSITIVE, RMON_NEGATIVE)},
	{14, "hcAlarmRisingEventIndex", MIB_INTEGER, AT(rising_event), SET_ROW(0, RMON_INDEX_MAX)},
	{15, "hcAlarmFallingEventIndex", MIB_INTEGER, AT(falling_event), SET_ROW(0, RMON_INDEX_MAX)},
	{16, "hcAlarmValueFailedAttempts", MIB_COUNTER32, AT(failed_attempts)},
	{17, "hcAlarmOwner", MIB_STRING, AT(owner), SET_ROW(0, RMON_OWNER_MAX)},
	{18, "hcAlarmStorageType", MIB_INTEGER, AT(storage), SET_ROW(RMON_VOLATILE, RMON_NONVOLATILE)},
	{19, "hcAlarmStatus", MIB_INTEGER, AT(status), SET_ROW(ROW_ACTIVE, ROW_DESTROY)},
};
const struct mib_table hc_alarm_mib_table = {
	.name = "hcAlarmTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 29, 1, 1, 1, 1),
	.creates = true,
	.index = {MIB_INDEX_FROM(MIB_INDEX_U32, struct rmon_hc_alarm, index, 1, RMON_INDEX_MAX)},
	MIB_COLUMNS(alarm_columns),
	MIB_ROWS(struct rmon_hc_alarm, alarm_rows),
};

/* ---- scalars ---- */

static size_t
capability_rows(const struct mib_context *context, const void **first)
{
	return mib_snapshot_of(context)->rmon ? mib_system_rows(context, first) : 0;
}

/* hcAlarmCreation(0) and hcAlarmNvStorage(1). */
static int
capabilities_value(const struct mib_cell *cell, struct mib_value *value)
{
	static const uint8_t bits[] = {0xc0};

	(void)cell;
	mib_put_octets(value, bits, sizeof(bits));
	return 0;
}

static const struct mib_column capability_columns[] = {
	{1, "hcAlarmCapabilities", MIB_STRING, MIB_FN(capabilities_value)},
};
const struct mib_table hc_alarm_mib_capabilities = {
	.name = "hcAlarmCapabilitiesObjects",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 16, 29, 1, 2),
	.scalars = true,
	MIB_COLUMNS(capability_columns),
	MIB_ROWS(struct mib_snapshot, capability_rows),
};
