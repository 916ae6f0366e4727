/*
 * Transceivers and what they measure, as STATE_DB has them (xcvrd writes TRANSCEIVER_INFO when a module is plugged in, and
 * TRANSCEIVER_DOM_SENSOR once a minute).
 */
#include "agent/sonic/sonic_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum info_field { INFO_TYPE, INFO_MAKER, INFO_MODEL, INFO_SERIAL, INFO_REVISION };

enum { LANES = 8, OF_LANE = 3, OF_MODULE = 2, N_MEASURED = OF_MODULE + OF_LANE * LANES, KEY_OCTETS = 64 };
_Static_assert((int)N_MEASURED <= (int)HAL_MAX_READINGS, "a module has room for all that SONiC measures of it");

enum unit { UNIT_CELSIUS, UNIT_VOLTS, UNIT_MILLIAMPERES, UNIT_DBM };
static const struct {
	const char *field, *name; /* the former for printf with the lane */
	uint8_t unit;		  /* enum unit: that of the text */
	uint8_t type, scale;
	int8_t precision;
} measured[OF_MODULE + OF_LANE] = {
    {"temperature", "temperature", UNIT_CELSIUS, HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3},
    {"voltage", "voltage", UNIT_VOLTS, HAL_SENSOR_VOLTS, HAL_SCALE_MILLI, 1},
    {"rx%upower", "power received", UNIT_DBM, HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1},
    {"tx%upower", "power sent", UNIT_DBM, HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1},
    {"tx%ubias", "bias", UNIT_MILLIAMPERES, HAL_SENSOR_AMPERES, HAL_SCALE_MICRO, 0},
};

/* The i-th field: which thing it is, and of which lane, from 1; 0: of the module. */
static unsigned
thing_of(unsigned i, unsigned *lane)
{
	*lane = i < OF_MODULE ? 0 : (i - OF_MODULE) / OF_LANE + 1;
	return i < OF_MODULE ? i : OF_MODULE + (i - OF_MODULE) % OF_LANE;
}

/* ---- the table ---- */

static size_t
transceiver_place(const struct sonic_device *d, uint32_t if_index)
{
	size_t i = 0;

	while (i < d->n_transceivers && d->transceivers[i].if_index < if_index)
		i++;
	return i;
}

static struct hal_transceiver *
find_transceiver(struct sonic_device *d, uint32_t if_index)
{
	size_t i = transceiver_place(d, if_index);

	return i < d->n_transceivers && d->transceivers[i].if_index == if_index ? &d->transceivers[i] : NULL;
}

static void
remove_transceiver(struct sonic_device *d, struct hal_transceiver *t)
{
	size_t after = d->n_transceivers - (size_t)(t - d->transceivers) - 1;

	memmove(t, t + 1, after * sizeof(*t));
	d->n_transceivers--;
	d->transceiver_changes++;
}

static struct hal_transceiver *
plug_transceiver(struct sonic_device *d, uint32_t if_index)
{
	size_t room = d->transceivers_room > 0 ? 2 * d->transceivers_room : 32, i = transceiver_place(d, if_index);

	if (d->n_transceivers == d->transceivers_room) {
		struct hal_transceiver *grown = realloc(d->transceivers, room * sizeof(*grown));

		if (!grown)
			return NULL;
		d->transceivers = grown;
		d->transceivers_room = room;
	}
	memmove(&d->transceivers[i + 1], &d->transceivers[i], (d->n_transceivers - i) * sizeof(*d->transceivers));
	d->transceivers[i] = (struct hal_transceiver){.if_index = if_index};
	d->n_transceivers++;
	d->transceiver_changes++;
	return &d->transceivers[i];
}

/* ---- what it is ---- */

static void
take_transceiver_info(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct hal_transceiver *t = find_transceiver(d, subject->if_index);

	if (reply->type != REDIS_REPLY_ARRAY) {
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
		return;
	}
	if (!answer_string(reply, INFO_TYPE)) {
		if (t)
			remove_transceiver(d, t);
		return;
	}
	if (!t && interfaces_find(&d->interfaces, subject->if_index))
		t = plug_transceiver(d, subject->if_index);
	if (!t)
		return;
	d->transceiver_changes += answer_known_text(answer_string(reply, INFO_TYPE), t->type, sizeof(t->type));
	d->transceiver_changes += answer_known_text(answer_string(reply, INFO_MAKER), t->maker, sizeof(t->maker));
	d->transceiver_changes += answer_known_text(answer_string(reply, INFO_MODEL), t->model, sizeof(t->model));
	d->transceiver_changes += answer_known_text(answer_string(reply, INFO_SERIAL), t->serial, sizeof(t->serial));
	d->transceiver_changes += answer_known_text(answer_string(reply, INFO_REVISION), t->revision, sizeof(t->revision));
}

/* ---- what it measures ---- */

/* No light at all is minus infinity dBm. */
static double
units_of(const redisReply *reply, uint8_t unit)
{
	double value = answer_measured(reply);

	if (unit == UNIT_DBM)
		return value > 100 ? NAN : pow(10, value / 10) * 1e-3;
	if (isinf(value))
		return NAN;
	return unit == UNIT_MILLIAMPERES ? value * 1e-3 : value;
}

static void
transceivers_set_reading(struct sonic_device *d, struct hal_transceiver *t, size_t n, unsigned i, const redisReply *reply)
{
	struct hal_reading *r = &t->readings[n], fresh = {.name = ""};
	unsigned lane, thing = thing_of(i, &lane);

	if (lane > 0)
		snprintf(fresh.name, sizeof(fresh.name), "lane %u %s", lane, measured[thing].name);
	else
		snprintf(fresh.name, sizeof(fresh.name), "%s", measured[thing].name);
	fresh.type = measured[thing].type;
	fresh.scale = measured[thing].scale;
	fresh.precision = measured[thing].precision;
	hal_reading_set(&fresh, units_of(reply, measured[thing].unit));
	d->transceiver_changes += n >= t->n_readings || strcmp(r->name, fresh.name) != 0;
	*r = fresh;
}

/* A field that is not there is no sensor. */
static void
take_measured(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct hal_transceiver *t = find_transceiver(d, subject->if_index);
	size_t n = 0;

	if (reply->type != REDIS_REPLY_ARRAY) {
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
		return;
	}
	if (!t)
		return;
	for (unsigned i = 0; i < N_MEASURED; i++)
		if (answer_string(reply, i))
			transceivers_set_reading(d, t, n++, i, answer_string(reply, i));
	d->transceiver_changes += n != t->n_readings;
	t->n_readings = n;
	t->read_mono_us = clock_mono_us(d->clock);
}

/* ---- the job ---- */

static void
ask_measured(struct sonic_device *d, const struct sonic_interface *interface, const struct sonic_subject *subject)
{
	char key[KEY_OCTETS], fields[N_MEASURED][16];
	const char *words[2 + N_MEASURED] = {"HMGET", key};
	size_t octets[2 + N_MEASURED];

	snprintf(key, sizeof(key), "TRANSCEIVER_DOM_SENSOR|%s", interface->name);
	for (unsigned i = 0; i < N_MEASURED; i++) {
		unsigned lane, thing = thing_of(i, &lane);
		const char *form = measured[thing].field, *mark = strchr(form, '%');

		if (mark) /* "rx%upower" of lane 1 is rx1power */
			snprintf(fields[i], sizeof(fields[i]), "%.*s%u%s", (int)(mark - form), form, lane, mark + 2);
		else
			snprintf(fields[i], sizeof(fields[i]), "%s", form);
		words[2 + i] = fields[i];
	}
	for (unsigned i = 0; i < 2 + N_MEASURED; i++)
		octets[i] = strlen(words[i]);
	sonic_ask_words(d, JOB_TRANSCEIVERS, take_measured, subject, 2 + N_MEASURED, words, octets);
}

void
sonic_begin_transceivers(struct sonic_device *d)
{
	char key[KEY_OCTETS];

	for (size_t i = d->n_transceivers; i > 0; i--)
		if (!interfaces_find(&d->interfaces, d->transceivers[i - 1].if_index))
			remove_transceiver(d, &d->transceivers[i - 1]);
	for (size_t i = 0; i < d->interfaces.n; i++) {
		const struct sonic_interface *interface = d->interfaces.all[i];
		const struct sonic_subject subject = {.if_index = interface->if_index};

		if (interface->kind != SONIC_PORT)
			continue;
		snprintf(key, sizeof(key), "TRANSCEIVER_INFO|%s", interface->name);
		sonic_ask(d, JOB_TRANSCEIVERS, take_transceiver_info, &subject, "HMGET", key, "type", "manufacturer", "model", "serial",
		    "vendor_rev", NULL);
		ask_measured(d, interface, &subject);
	}
}
