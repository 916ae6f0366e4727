/*
 * ENTITY-SENSOR-MIB (RFC 3433): what sensors of the chassis and of transceivers say. Each is a part of the class sensor in
 * entPhysicalTable. A sensor that is there and says nothing now has its row, with the status unavailable and the value 0.
 */
#include "mibs/mib_rows.h"
#include "mibs/modules.h"

#define READING(member) MIB_AT(struct hal_sensor_row, reading.member)

static size_t
sensor_rows(const struct mib_context *context, const void **first)
{
	const struct hal_snapshot *hal = mib_snapshot_of(context)->hal;

	if (!hal)
		return 0;
	*first = hal->sensors;
	return hal->n_sensors;
}

static int
units_display(const struct mib_cell *cell, struct mib_value *value)
{
	static const char *const units[] = {[HAL_SENSOR_OTHER] = "percent", [HAL_SENSOR_VOLTS] = "volts", [HAL_SENSOR_AMPERES] = "amperes",
	    [HAL_SENSOR_WATTS] = "watts", [HAL_SENSOR_CELSIUS] = "degrees Celsius",
	    [HAL_SENSOR_PERCENT_RH] = "percent relative humidity", [HAL_SENSOR_RPM] = "revolutions per minute"};

	mib_put_text(value, units[((const struct hal_sensor_row *)cell->row)->reading.type]);
	return 0;
}

static int
value_time(const struct mib_cell *cell, struct mib_value *value)
{
	value->number = mib_time_stamp(cell->context, ((const struct hal_sensor_row *)cell->row)->read_mono_us);
	return 0;
}

/* Both may be below 0, which no member that the engine reads by itself is. */
static int
sensor_value(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = ((const struct hal_sensor_row *)cell->row)->reading.value;
	return 0;
}

static int
sensor_precision(const struct mib_cell *cell, struct mib_value *value)
{
	value->integer = ((const struct hal_sensor_row *)cell->row)->reading.precision;
	return 0;
}

/* entPhySensorValueUpdateRate 0: it is not known, as sensors are read in turn. */
static const struct mib_column sensor_columns[] = {
	{1, "entPhySensorType", MIB_INTEGER, READING(type)},
	{2, "entPhySensorScale", MIB_INTEGER, READING(scale)},
	{3, "entPhySensorPrecision", MIB_INTEGER, MIB_FN(sensor_precision)},
	{4, "entPhySensorValue", MIB_INTEGER, MIB_FN(sensor_value)},
	{5, "entPhySensorOperStatus", MIB_INTEGER, READING(status)},
	{6, "entPhySensorUnitsDisplay", MIB_STRING, MIB_FN(units_display)},
	{7, "entPhySensorValueTimeStamp", MIB_TIMETICKS, MIB_FN(value_time)},
	{8, "entPhySensorValueUpdateRate", MIB_GAUGE32, MIB_CONSTANT(0)},
};
const struct mib_table entity_sensor_mib_table = {
	.name = "entPhySensorTable",
	.entry = MIB_OID(1, 3, 6, 1, 2, 1, 99, 1, 1, 1),
	.index = {MIB_INDEX(MIB_INDEX_U32, struct hal_sensor_row, index)},
	MIB_COLUMNS(sensor_columns),
	MIB_ROWS(struct hal_sensor_row, sensor_rows),
};
