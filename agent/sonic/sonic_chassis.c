/*
 * Fans, power supplies and temperatures, as thermalctld and psud write them to STATE_DB: FAN_INFO, PSU_INFO and
 * TEMPERATURE_INFO, all keys once in ten seconds. The first two are parts with sensors of their own, a temperature is a
 * sensor of the chassis. One that is not present is no part; what is not known (N/A) is unavailable. A fan's speed is percent
 * of its full one, as SONiC has it.
 */
#include "agent/sonic/sonic_private.h"

#include "common/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_OCTETS = 96, N_SLOTS = HAL_MAX_UNITS + HAL_MAX_SENSORS };
enum part_field { PART_PRESENCE, PART_MODEL, PART_SERIAL, PART_REPLACEABLE, PART_MEASURED };

/* A key of STATE_DB, and its number: those of units come first. */
struct slot {
	char key[KEY_OCTETS]; /* "": it is free */
	uint32_t pass;	      /* the last that named it */
	bool is_there;
};

struct sonic_chassis {
	struct slot slots[N_SLOTS];
	struct hal_unit units[HAL_MAX_UNITS];
	struct hal_sensor sensors[HAL_MAX_SENSORS];
	uint16_t listed[N_SLOTS]; /* the slots of those that are served, in their order */
	size_t n_units, n_listed;
	uint32_t pass;
	char fresh[N_SLOTS][KEY_OCTETS]; /* keys that the pass has found, and that have no slot */
	size_t n_fresh;
};

struct measure {
	const char *field, *name;
	uint8_t type, scale;
	int8_t precision;
};

static const struct measure temperature = {"temperature", "temperature", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3};
static const struct kind {
	const char *prefix;
	uint8_t part_class;
	struct measure measures[HAL_UNIT_READINGS];
} kinds[] = {
    {"FAN_INFO|", HAL_PART_FAN, {{"speed", "speed", HAL_SENSOR_OTHER, HAL_SCALE_UNITS, 0}}},
    {"PSU_INFO|", HAL_PART_POWER_SUPPLY,
	{{"temp", "temperature", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3}, {"voltage", "voltage", HAL_SENSOR_VOLTS, HAL_SCALE_MILLI, 0},
	    {"current", "current", HAL_SENSOR_AMPERES, HAL_SCALE_MILLI, 0}, {"power", "power", HAL_SENSOR_WATTS, HAL_SCALE_MILLI, 0}}},
};
#define TEMPERATURE_PREFIX "TEMPERATURE_INFO|"

static const struct kind *
sonic_kind_of(const char *key)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(key, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return &kinds[i];
	return NULL;
}

/* ---- slots ---- */

/* The slot with that key, "" for a free one, of those that keys of a kind may have. NULL: there is none. */
static struct slot *
find_slot(struct sonic_chassis *c, const char *key, const struct kind *kind)
{
	for (size_t i = kind ? 0 : HAL_MAX_UNITS; i < (kind ? HAL_MAX_UNITS : N_SLOTS); i++)
		if (strcmp(c->slots[i].key, key) == 0)
			return &c->slots[i];
	return NULL;
}

static void
begin_slot(struct sonic_chassis *c, struct slot *slot, const char *key, const struct kind *kind)
{
	size_t at = (size_t)(slot - c->slots);
	const char *name = strchr(key, '|') + 1;

	*slot = (struct slot){.pass = c->pass};
	strcpy(slot->key, key);
	if (kind) {
		c->units[at] = (struct hal_unit){.number = (uint32_t)at, .part_class = kind->part_class};
		utf8_printable(name, c->units[at].name, sizeof(c->units[at].name));
	} else {
		struct hal_sensor *sensor = &c->sensors[at - HAL_MAX_UNITS];

		*sensor = (struct hal_sensor){.number = (uint32_t)at - HAL_MAX_UNITS};
		utf8_printable(name, sensor->reading.name, sizeof(sensor->reading.name));
	}
}

static int
order_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* SCAN may name a key twice. Returns how many got a slot. */
static size_t
begin_fresh(struct sonic_device *d, struct sonic_chassis *c)
{
	size_t begun = 0;

	qsort(c->fresh, c->n_fresh, sizeof(c->fresh[0]), order_keys);
	for (size_t i = 0; i < c->n_fresh; i++) {
		const struct kind *kind = sonic_kind_of(c->fresh[i]);
		struct slot *slot = find_slot(c, "", kind);

		if (i > 0 && strcmp(c->fresh[i - 1], c->fresh[i]) == 0)
			continue;
		if (slot) {
			begin_slot(c, slot, c->fresh[i], kind);
			begun++;
		} else {
			stat_add(&d->stats, SONIC_STAT_PARTS_LEFT_OUT, 1);
		}
	}
	return begun;
}

/* ---- what they say ---- */

static void
sonic_set_reading(struct hal_reading *reading, const struct measure *measure, const redisReply *reply)
{
	reading->type = measure->type;
	reading->scale = measure->scale;
	reading->precision = measure->precision;
	hal_reading_set(reading, answer_measured(reply));
}

static bool
is_true(const redisReply *reply)
{
	return reply && reply->len == strlen("true") && strncasecmp(reply->str, "true", reply->len) == 0;
}

static void
sonic_take_unit(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct slot *slot = &d->chassis->slots[subject->other];
	struct hal_unit *unit = &d->chassis->units[subject->other];
	const struct kind *kind = sonic_kind_of(slot->key);
	size_t n = 0;

	if (reply->type != REDIS_REPLY_ARRAY || !kind) {
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
		return;
	}
	slot->is_there = is_true(answer_string(reply, PART_PRESENCE));
	d->transceiver_changes += answer_known_text(answer_string(reply, PART_MODEL), unit->model, sizeof(unit->model));
	d->transceiver_changes += answer_known_text(answer_string(reply, PART_SERIAL), unit->serial, sizeof(unit->serial));
	unit->is_replaceable = is_true(answer_string(reply, PART_REPLACEABLE));
	for (size_t i = 0; i < HAL_UNIT_READINGS && kind->measures[i].field; i++) {
		const redisReply *value = answer_string(reply, PART_MEASURED + i);

		if (!value)
			continue;
		strcpy(unit->readings[n].name, kind->measures[i].name);
		sonic_set_reading(&unit->readings[n++], &kind->measures[i], value);
	}
	d->transceiver_changes += n != unit->n_readings;
	unit->n_readings = n;
	unit->read_mono_us = clock_mono_us(d->clock);
}

static void
take_temperature(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct hal_sensor *sensor = &d->chassis->sensors[subject->other - HAL_MAX_UNITS];

	d->chassis->slots[subject->other].is_there = reply->type == REDIS_REPLY_STRING;
	sonic_set_reading(&sensor->reading, &temperature, reply);
	sensor->read_mono_us = clock_mono_us(d->clock);
}

/* ---- the job ---- */

static void
take_part_key(struct sonic_device *d, const char *key, size_t octets, enum sonic_job job)
{
	const struct kind *kind = sonic_kind_of(key);
	struct sonic_chassis *c = d->chassis;
	struct slot *slot;

	(void)job;
	if (strlen(key) != octets || (!kind && strncmp(key, TEMPERATURE_PREFIX, strlen(TEMPERATURE_PREFIX)) != 0))
		return;
	slot = find_slot(c, key, kind);
	if (slot)
		slot->pass = c->pass;
	else if (octets < KEY_OCTETS && c->n_fresh < N_SLOTS)
		strcpy(c->fresh[c->n_fresh++], key);
	else
		stat_add(&d->stats, SONIC_STAT_PARTS_LEFT_OUT, 1);
}

static const struct sonic_scan chassis_scan = {
    .job = JOB_CHASSIS, .pattern = "[FPT][AES][NUM]*_INFO|*", .take = take_part_key,
};

static void
ask_slot(struct sonic_device *d, uint32_t at)
{
	const struct sonic_subject subject = {.other = at};
	const char *key = d->chassis->slots[at].key;
	const struct kind *kind = sonic_kind_of(key);
	const struct measure *m = kind ? kind->measures : NULL;

	if (kind)
		sonic_ask(d, JOB_CHASSIS, sonic_take_unit, &subject, "HMGET", key, "presence", "model", "serial", "is_replaceable",
		    m[0].field, m[1].field, m[2].field, m[3].field, NULL);
	else
		sonic_ask(d, JOB_CHASSIS, take_temperature, &subject, "HGET", key, "temperature", NULL);
}

void
sonic_begin_chassis(struct sonic_device *d)
{
	if (!d->chassis)
		d->chassis = calloc(1, sizeof(*d->chassis));
	if (!d->chassis)
		return;
	d->chassis->pass++;
	d->chassis->n_fresh = 0;
	for (uint32_t i = 0; i < N_SLOTS; i++)
		if (d->chassis->slots[i].key[0])
			ask_slot(d, i);
	sonic_scan(d, &chassis_scan);
}

/* A key that no pass names any more is forgotten. Until a pass is whole, those before it stay. */
void
sonic_end_chassis(struct sonic_device *d, bool whole)
{
	struct sonic_chassis *c = d->chassis;
	size_t n = 0;

	if (!whole || !c)
		return;
	for (size_t i = 0; i < N_SLOTS; i++) {
		if (c->slots[i].pass != c->pass)
			c->slots[i] = (struct slot){.pass = 0};
		if (i == HAL_MAX_UNITS)
			c->n_units = n;
		if (!c->slots[i].is_there)
			continue;
		d->transceiver_changes += n >= c->n_listed || c->listed[n] != i;
		c->listed[n++] = (uint16_t)i;
	}
	d->transceiver_changes += n != c->n_listed;
	c->n_listed = n;
	assert(c->n_units <= n);
	if (begin_fresh(d, c) > 0)
		sonic_job_due(d, JOB_CHASSIS);
}

/* ---- the facet ---- */

static uint64_t
sensor_changes(void *ctx)
{
	return ((struct sonic_device *)ctx)->transceiver_changes;
}

static size_t
n_units(void *ctx)
{
	const struct sonic_device *d = ctx;

	return d->chassis ? d->chassis->n_units : 0;
}

static const struct hal_unit *
sonic_unit_at(void *ctx, size_t i)
{
	const struct sonic_chassis *c = ((const struct sonic_device *)ctx)->chassis;

	return &c->units[c->listed[i]];
}

static size_t
n_temperatures(void *ctx)
{
	const struct sonic_device *d = ctx;

	return d->chassis ? d->chassis->n_listed - d->chassis->n_units : 0;
}

static const struct hal_sensor *
temperature_at(void *ctx, size_t i)
{
	const struct sonic_chassis *c = ((const struct sonic_device *)ctx)->chassis;

	return &c->sensors[c->listed[c->n_units + i] - HAL_MAX_UNITS];
}

static size_t
sonic_n_transceivers(void *ctx)
{
	return ((struct sonic_device *)ctx)->n_transceivers;
}

static const struct hal_transceiver *
sonic_transceiver_at(void *ctx, size_t i)
{
	return &((struct sonic_device *)ctx)->transceivers[i];
}

const struct hal_sensors_ops sonic_sensors_ops = {
    .name = "sonic",
    .changes = sensor_changes,
    .n_sensors = n_temperatures,
    .sensor = temperature_at,
    .n_transceivers = sonic_n_transceivers,
    .transceiver = sonic_transceiver_at,
    .n_units = n_units,
    .unit = sonic_unit_at,
};
