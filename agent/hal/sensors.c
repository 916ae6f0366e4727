/*
 * Sensors of the chassis, and transceivers, fans and power supplies with theirs, as parts of the switch (ENTITY-MIB) and as rows of
 * entPhySensorTable. A transceiver is in its port, and is left out as long as that is no part.
 */
#include "agent/hal/hal_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)HAL_MAX_READINGS < (int)HAL_TRANSCEIVER_INDEXES, "each sensor of a transceiver has its index");
_Static_assert((int)HAL_UNIT_READINGS < (int)HAL_UNIT_INDEXES, "each sensor of a unit has its index");
_Static_assert(HAL_PART_INDEX_UNIT + (int64_t)HAL_MAX_UNITS * HAL_UNIT_INDEXES <= INT32_MAX, "each unit has its index");
_Static_assert(HAL_PART_INDEX_SENSOR + HAL_MAX_SENSORS <= HAL_PART_INDEX_PORT, "no sensor has the index of a port");

void
hal_reading_set(struct hal_reading *reading, double units)
{
	static const double parts[] = {[HAL_SCALE_MICRO] = 1e6, [HAL_SCALE_MILLI] = 1e3, [HAL_SCALE_UNITS] = 1};
	double value = round(units * parts[reading->scale] * pow(10, reading->precision));

	reading->status = isnan(units) ? HAL_SENSOR_UNAVAILABLE : HAL_SENSOR_OK;
	reading->value = isnan(units) ? 0 : (int32_t)fmax(-HAL_SENSOR_MOST, fmin(value, HAL_SENSOR_MOST));
}

static const struct hal_sensors_ops *
ops_of(const struct hal *hal)
{
	return hal->device->sensors;
}

void
hal_sensors_read(const struct hal *hal)
{
	if (ops_of(hal) && ops_of(hal)->read_next)
		ops_of(hal)->read_next(hal->device->sensors_ctx);
}

uint64_t
hal_sensors_changes(const struct hal *hal)
{
	return ops_of(hal) ? ops_of(hal)->changes(hal->device->sensors_ctx) : 0;
}

static size_t
n_sensors(const struct hal *hal)
{
	return ops_of(hal) ? ops_of(hal)->n_sensors(hal->device->sensors_ctx) : 0;
}

static size_t
sensors_n_transceivers(const struct hal *hal)
{
	return ops_of(hal) ? ops_of(hal)->n_transceivers(hal->device->sensors_ctx) : 0;
}

static const struct hal_transceiver *
sensors_transceiver_at(const struct hal *hal, size_t i)
{
	return ops_of(hal)->transceiver(hal->device->sensors_ctx, i);
}

static size_t
sensors_n_units(const struct hal *hal)
{
	return ops_of(hal) && ops_of(hal)->n_units ? ops_of(hal)->n_units(hal->device->sensors_ctx) : 0;
}

static const struct hal_unit *
sensors_unit_at(const struct hal *hal, size_t i)
{
	return ops_of(hal)->unit(hal->device->sensors_ctx, i);
}

size_t
hal_sensors_room(const struct hal *hal)
{
	size_t n = n_sensors(hal);

	for (size_t i = 0; i < sensors_n_transceivers(hal); i++)
		n += 1 + sensors_transceiver_at(hal, i)->n_readings;
	for (size_t i = 0; i < sensors_n_units(hal); i++)
		n += 1 + sensors_unit_at(hal, i)->n_readings;
	return n;
}

/* ---- parts ---- */

static void
fill_sensor(struct hal_part *part, uint32_t index, uint32_t parent, int32_t position, const char *name)
{
	*part = (struct hal_part){.index = index, .contained_in = parent, .class = HAL_PART_SENSOR, .position = position};
	snprintf(part->name, sizeof(part->name), "%.*s", (int)sizeof(part->name) - 1, name); /* cut */
}

size_t
hal_sensors_parts(const struct hal *hal, struct hal_part *parts)
{
	size_t n = n_sensors(hal);

	for (size_t i = 0; i < n; i++) {
		const struct hal_sensor *sensor = ops_of(hal)->sensor(hal->device->sensors_ctx, i);

		assert(sensor->number < HAL_MAX_SENSORS);
		fill_sensor(&parts[i], HAL_PART_INDEX_SENSOR + sensor->number, HAL_PART_INDEX_CHASSIS,
		    (int32_t)sensor->number + 1, sensor->reading.name);
		snprintf(parts[i].descr, sizeof(parts[i].descr), "sensor %s", sensor->reading.name);
	}
	return n;
}

/* The port that it is in, if that is a part of the switch. */
static const struct hal_port *
plugged_port(const struct hal_snapshot *s, const struct hal_transceiver *transceiver)
{
	const struct hal_port *port = hal_snapshot_port(s, transceiver->if_index);

	return port && port->has_connector && port->if_index <= HAL_TRANSCEIVER_IF_MAX ? port : NULL;
}

static uint32_t
sensors_index_of(const struct hal_transceiver *transceiver)
{
	return HAL_PART_INDEX_TRANSCEIVER + HAL_TRANSCEIVER_INDEXES * transceiver->if_index;
}

static void
fill_transceiver(const struct hal_transceiver *t, const struct hal_port *port, struct hal_part *part)
{
	*part = (struct hal_part){.index = sensors_index_of(t), .contained_in = HAL_PART_INDEX_PORT + t->if_index,
	    .class = HAL_PART_MODULE, .position = 1, .is_replaceable = true};
	snprintf(part->name, sizeof(part->name), "%.48s transceiver", port->name);
	snprintf(part->descr, sizeof(part->descr), "%.48s transceiver in %.48s", t->type[0] ? t->type : "unknown", port->name);
	snprintf(part->maker, sizeof(part->maker), "%s", t->maker);
	snprintf(part->model, sizeof(part->model), "%s", t->model);
	snprintf(part->serial, sizeof(part->serial), "%s", t->serial);
	snprintf(part->revision, sizeof(part->revision), "%s", t->revision);
}

static size_t
fill_transceiver_parts(const struct hal_transceiver *t, const struct hal_port *port, struct hal_part *parts)
{
	char name[2 * EASE_NAME_MAX + 2];

	fill_transceiver(t, port, &parts[0]);
	for (size_t i = 1; i <= t->n_readings; i++) {
		snprintf(name, sizeof(name), "%s %s", port->name, t->readings[i - 1].name);
		fill_sensor(&parts[i], sensors_index_of(t) + (uint32_t)i, sensors_index_of(t), (int32_t)i, name);
		snprintf(parts[i].descr, sizeof(parts[i].descr), "%.48s of the transceiver in %.48s", t->readings[i - 1].name, port->name);
	}
	return 1 + t->n_readings;
}

size_t
hal_transceivers_parts(const struct hal *hal, const struct hal_snapshot *s, struct hal_part *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < sensors_n_transceivers(hal); i++) {
		const struct hal_transceiver *t = sensors_transceiver_at(hal, i);
		const struct hal_port *port = plugged_port(s, t);

		if (port)
			n += fill_transceiver_parts(t, port, parts + n);
	}
	return n;
}

static uint32_t
unit_index(const struct hal_unit *unit)
{
	assert(unit->number < HAL_MAX_UNITS);
	return HAL_PART_INDEX_UNIT + HAL_UNIT_INDEXES * unit->number;
}

static size_t
fill_unit_parts(const struct hal_unit *u, struct hal_part *parts)
{
	char name[2 * EASE_NAME_MAX + 2];

	parts[0] = (struct hal_part){.index = unit_index(u), .contained_in = HAL_PART_INDEX_CHASSIS, .class = u->part_class,
	    .position = (int32_t)u->number + 1, .is_replaceable = u->is_replaceable};
	snprintf(parts[0].name, sizeof(parts[0].name), "%s", u->name);
	snprintf(parts[0].descr, sizeof(parts[0].descr), "%s %s", u->part_class == HAL_PART_FAN ? "fan" : "power supply", u->name);
	snprintf(parts[0].model, sizeof(parts[0].model), "%s", u->model);
	snprintf(parts[0].serial, sizeof(parts[0].serial), "%s", u->serial);
	for (size_t i = 1; i <= u->n_readings; i++) {
		snprintf(name, sizeof(name), "%s %s", u->name, u->readings[i - 1].name);
		fill_sensor(&parts[i], unit_index(u) + (uint32_t)i, unit_index(u), (int32_t)i, name);
		snprintf(parts[i].descr, sizeof(parts[i].descr), "%.48s of %.48s", u->readings[i - 1].name, u->name);
	}
	return 1 + u->n_readings;
}

size_t
hal_units_parts(const struct hal *hal, struct hal_part *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < sensors_n_units(hal); i++)
		n += fill_unit_parts(sensors_unit_at(hal, i), parts + n);
	return n;
}

/* ---- rows ---- */

/* index: of the part that has the sensors. */
static size_t
add_readings(uint32_t index, uint64_t read_mono_us, const struct hal_reading *readings, size_t n, struct hal_sensor_row *rows)
{
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct hal_sensor_row){index + (uint32_t)i + 1, read_mono_us, readings[i]};
	return n;
}

int
hal_sensors_list(const struct hal *hal, struct hal_snapshot *s)
{
	size_t n = 0, room = hal_sensors_room(hal);
	struct hal_sensor_row *rows;

	if (room == 0)
		return 0;
	rows = calloc(room, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n_sensors(hal); i++) {
		const struct hal_sensor *sensor = ops_of(hal)->sensor(hal->device->sensors_ctx, i);

		rows[n++] = (struct hal_sensor_row){HAL_PART_INDEX_SENSOR + sensor->number, sensor->read_mono_us, sensor->reading};
	}
	for (size_t i = 0; i < sensors_n_transceivers(hal); i++) {
		const struct hal_transceiver *t = sensors_transceiver_at(hal, i);

		if (plugged_port(s, t))
			n += add_readings(sensors_index_of(t), t->read_mono_us, t->readings, t->n_readings, rows + n);
	}
	for (size_t i = 0; i < sensors_n_units(hal); i++) {
		const struct hal_unit *u = sensors_unit_at(hal, i);

		n += add_readings(unit_index(u), u->read_mono_us, u->readings, u->n_readings, rows + n);
	}
	assert(n <= room);
	s->sensors = rows;
	s->n_sensors = n;
	return 0;
}
