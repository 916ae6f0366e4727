#include "agent/linux/module_eeprom.h"

#include "common/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { I2C_MODULE = 0x50, I2C_DIAGNOSTICS = 0x51 };

/* SFF-8024, table 4-1 */
enum { ID_SFP = 0x03, ID_QSFP = 0x0c, ID_QSFP_PLUS = 0x0d, ID_QSFP28 = 0x11, ID_QSFP_DD = 0x18, ID_OSFP = 0x19,
	ID_SFP_DD = 0x1a, ID_QSFP_CMIS = 0x1e };

enum family { FAMILY_NONE, FAMILY_SFP, FAMILY_QSFP, FAMILY_CMIS };
static const struct {
	uint8_t id;
	uint8_t family; /* enum family */
	const char *type;
} kinds[] = {
    {ID_SFP, FAMILY_SFP, "SFP"},
    {ID_QSFP, FAMILY_QSFP, "QSFP"},
    {ID_QSFP_PLUS, FAMILY_QSFP, "QSFP+"},
    {ID_QSFP28, FAMILY_QSFP, "QSFP28"},
    {ID_QSFP_DD, FAMILY_CMIS, "QSFP-DD"},
    {ID_OSFP, FAMILY_CMIS, "OSFP"},
    {ID_SFP_DD, FAMILY_CMIS, "SFP-DD"},
    {ID_QSFP_CMIS, FAMILY_CMIS, "QSFP"},
};

static size_t
module_kind_of(const struct module_memory *m)
{
	size_t i = 0;

	while (i < sizeof(kinds) / sizeof(kinds[0]) && (m->n == 0 || kinds[i].id != m->octets[0][0]))
		i++;
	return i;
}

static enum family
family_of(const struct module_memory *m)
{
	size_t i = module_kind_of(m);

	return i < sizeof(kinds) / sizeof(kinds[0]) ? (enum family)kinds[i].family : FAMILY_NONE;
}

/* SFF-8472: octet 92 says that there are diagnostics, and by whom they are calibrated. */
enum { SFP_DIAGNOSTICS = 92, SFP_HAS_DIAGNOSTICS = 0x40, SFP_BY_MODULE = 0x20, SFP_BY_HOST = 0x10, SFP_ADDRESS_CHANGE = 0x04 };
/* CMIS and SFF-8636: octet 2 says that there is one page alone. */
enum { STATUS = 2, CMIS_FLAT = 0x80, QSFP_FLAT = 0x04, QSFP_NOT_READY = 0x01 };

static bool
sfp_has_diagnostics(const struct module_memory *m)
{
	uint8_t type = m->octets[0][SFP_DIAGNOSTICS];

	return type & SFP_HAS_DIAGNOSTICS && !(type & SFP_ADDRESS_CHANGE);
}

bool
module_next_page(const struct module_memory *m, struct module_page *page)
{
	enum family family = family_of(m);

	*page = (struct module_page){.i2c_address = I2C_MODULE};
	if (m->n == 0)
		return true;
	if (family == FAMILY_SFP) {
		page->i2c_address = I2C_DIAGNOSTICS;
		return m->n == 1 && sfp_has_diagnostics(m);
	}
	page->offset = MODULE_PAGE_OCTETS;
	if (m->n == 1)
		return family != FAMILY_NONE;
	page->page = m->n == 2 ? 0x01 : 0x11; /* what it can tell, what lanes tell */
	return family == FAMILY_CMIS && m->n < MODULE_MAX_PAGES && !(m->octets[0][STATUS] & CMIS_FLAT);
}

/* ---- values ---- */

static uint16_t
be16_of(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* ASCII, filled up with blanks. */
static void
module_copy_text(const uint8_t *from, size_t n, char *to, size_t size)
{
	while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\0'))
		n--;
	utf8_printable_octets(from, n, to, size);
}

struct quantity {
	uint8_t type, scale;
	int8_t precision;
};
static const struct quantity temperature = {HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3};
static const struct quantity voltage = {HAL_SENSOR_VOLTS, HAL_SCALE_MILLI, 1};
static const struct quantity bias = {HAL_SENSOR_AMPERES, HAL_SCALE_MICRO, 0};
static const struct quantity power = {HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1};

/* lane: from 1; 0: of the module as a whole. */
static void
add_reading(struct hal_transceiver *t, const struct quantity *quantity, double units, const char *what, unsigned lane)
{
	struct hal_reading *r = &t->readings[t->n_readings];

	if (t->n_readings == HAL_MAX_READINGS)
		return;
	*r = (struct hal_reading){.type = quantity->type, .scale = quantity->scale, .precision = quantity->precision};
	if (lane > 0)
		snprintf(r->name, sizeof(r->name), "lane %u %s", lane, what);
	else
		snprintf(r->name, sizeof(r->name), "%s", what);
	hal_reading_set(r, units);
	t->n_readings++;
}

static double
celsius_of(const uint8_t *at)
{
	return (int16_t)be16_of(at) / 256.0;
}

static double
volts_of(const uint8_t *at)
{
	return be16_of(at) * 1e-4;
}

/* ---- SFF-8472 ---- */

/* A slope or offset that whoever made the module measured. */
static double
slope_of(const uint8_t *at)
{
	return be16_of(at) / 256.0;
}

static double
offset_of(const uint8_t *at)
{
	return (int16_t)be16_of(at);
}

/* A single of IEEE 754, most significant octet first. */
static double
single_of(const uint8_t *at)
{
	uint32_t bits = (uint32_t)be16_of(at) << 16 | be16_of(at + 2);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return isfinite(value) ? (double)value : NAN;
}

/* Raw values as the module would have calibrated them itself: section 9.3. */
static double
calibrate_raw(const uint8_t *a2, bool by_host, int slope_at, double raw)
{
	return by_host ? slope_of(a2 + slope_at) * raw + offset_of(a2 + slope_at + 2) : raw;
}

static double
received_raw(const uint8_t *a2, bool by_host)
{
	enum { RX_POWER = 104, COEFFICIENTS = 56, N_COEFFICIENTS = 5 };
	double raw = be16_of(a2 + RX_POWER), sum = 0;

	for (int i = 0; by_host && i < N_COEFFICIENTS; i++) /* the highest power first */
		sum = sum * raw + single_of(a2 + COEFFICIENTS + 4 * i);
	return by_host ? fmax(sum, 0) + (isnan(sum) ? NAN : 0) : raw;
}

static void
decode_sfp(const struct module_memory *m, struct hal_transceiver *t)
{
	const uint8_t *a0 = m->octets[0], *a2 = m->octets[1];
	bool by_host = a0[SFP_DIAGNOSTICS] & SFP_BY_HOST;

	module_copy_text(a0 + 20, 16, t->maker, sizeof(t->maker));
	module_copy_text(a0 + 40, 16, t->model, sizeof(t->model));
	module_copy_text(a0 + 56, 4, t->revision, sizeof(t->revision));
	module_copy_text(a0 + 68, 16, t->serial, sizeof(t->serial));
	if (m->n < 2)
		return;
	add_reading(t, &temperature, calibrate_raw(a2, by_host, 84, offset_of(a2 + 96)) / 256, "temperature", 0);
	add_reading(t, &voltage, calibrate_raw(a2, by_host, 88, be16_of(a2 + 98)) * 1e-4, "voltage", 0);
	add_reading(t, &power, received_raw(a2, by_host) * 1e-7, "power received", 0);
	add_reading(t, &power, calibrate_raw(a2, by_host, 80, be16_of(a2 + 102)) * 1e-7, "power sent", 0);
	add_reading(t, &bias, calibrate_raw(a2, by_host, 76, be16_of(a2 + 100)) * 2e-6, "bias", 0);
}

/* ---- SFF-8636 and CMIS ---- */

/* Where lanes have their values, two octets each: received power, sent power and bias; NULL: the module does not tell. */
struct lanes {
	unsigned n;
	const uint8_t *received, *sent, *bias;
	double bias_unit;
};

static void
add_lanes(struct hal_transceiver *t, const struct lanes *lanes)
{
	for (unsigned i = 0; i < lanes->n; i++) {
		if (lanes->received)
			add_reading(t, &power, be16_of(lanes->received + 2 * i) * 1e-7, "power received", i + 1);
		if (lanes->sent)
			add_reading(t, &power, be16_of(lanes->sent + 2 * i) * 1e-7, "power sent", i + 1);
		if (lanes->bias)
			add_reading(t, &bias, be16_of(lanes->bias + 2 * i) * lanes->bias_unit, "bias", i + 1);
	}
}

/* Passive copper (SFF-8636, octet 147) has nothing to measure. Its octet 220 says what else a module tells, in revisions
 * that have it; temperature and voltage are always there. */
static void
decode_qsfp(const struct module_memory *m, struct hal_transceiver *t)
{
	enum { TECHNOLOGY = 147 - 128, COPPER = 0xa0, MONITORS = 220 - 128, TELLS_SENT = 0x04 };
	const uint8_t *lower = m->octets[0], *upper = m->octets[1];
	struct lanes lanes = {4, lower + 34, upper[MONITORS] & TELLS_SENT ? lower + 50 : NULL, lower + 42, 2e-6};
	bool is_ready = !(lower[STATUS] & QSFP_NOT_READY);

	if (m->n < 2)
		return;
	module_copy_text(upper + 148 - 128, 16, t->maker, sizeof(t->maker));
	module_copy_text(upper + 168 - 128, 16, t->model, sizeof(t->model));
	module_copy_text(upper + 184 - 128, 2, t->revision, sizeof(t->revision));
	module_copy_text(upper + 196 - 128, 16, t->serial, sizeof(t->serial));
	if ((upper[TECHNOLOGY] & 0xf0) >= COPPER)
		return;
	add_reading(t, &temperature, is_ready ? celsius_of(lower + 22) : NAN, "temperature", 0);
	add_reading(t, &voltage, is_ready ? volts_of(lower + 26) : NAN, "voltage", 0);
	add_lanes(t, &lanes);
}

/* The most lanes of any application that the module advertises: four octets each, the third has the lanes of its media. */
static unsigned
cmis_lanes(const uint8_t *lower)
{
	enum { APPLICATIONS = 86, N_APPLICATIONS = 8, MOST = 8, NO_APPLICATION = 0xff };
	unsigned most = 0;

	for (int i = 0; i < N_APPLICATIONS && lower[APPLICATIONS + 4 * i] != NO_APPLICATION; i++) {
		unsigned n = lower[APPLICATIONS + 4 * i + 2] & 0x0f;

		most = n > most ? n : most;
	}
	return most < MOST ? most : MOST;
}

static void
decode_cmis(const struct module_memory *m, struct hal_transceiver *t)
{
	enum { MODULE_MONITORS = 159 - 128, LANE_MONITORS = 160 - 128, TELLS_CELSIUS = 1, TELLS_VOLTS = 2, TELLS_BIAS = 1,
		TELLS_SENT = 2, TELLS_RECEIVED = 4 };
	const uint8_t *lower = m->octets[0], *upper = m->octets[1], *can = m->octets[2], *told = m->octets[3];
	uint8_t of_lanes = m->n > 2 ? can[LANE_MONITORS] : 0;
	struct lanes lanes = {cmis_lanes(lower), of_lanes & TELLS_RECEIVED ? told + 186 - 128 : NULL,
	    of_lanes & TELLS_SENT ? told + 154 - 128 : NULL, of_lanes & TELLS_BIAS ? told + 170 - 128 : NULL,
	    2e-6 * (1 << (of_lanes >> 3 & 3))};

	if (m->n < 2)
		return;
	module_copy_text(upper + 129 - 128, 16, t->maker, sizeof(t->maker));
	module_copy_text(upper + 148 - 128, 16, t->model, sizeof(t->model));
	module_copy_text(upper + 164 - 128, 2, t->revision, sizeof(t->revision));
	module_copy_text(upper + 166 - 128, 16, t->serial, sizeof(t->serial));
	if (m->n < MODULE_MAX_PAGES)
		return;
	if (can[MODULE_MONITORS] & TELLS_CELSIUS)
		add_reading(t, &temperature, celsius_of(lower + 14), "temperature", 0);
	if (can[MODULE_MONITORS] & TELLS_VOLTS)
		add_reading(t, &voltage, volts_of(lower + 16), "voltage", 0);
	add_lanes(t, &lanes);
}

bool
module_decode(const struct module_memory *m, struct hal_transceiver *t)
{
	enum family family = family_of(m);

	*t = (struct hal_transceiver){.if_index = t->if_index, .read_mono_us = t->read_mono_us};
	if (family == FAMILY_NONE) {
		if (m->n > 0)
			snprintf(t->type, sizeof(t->type), "kind 0x%02x", m->octets[0][0]);
		return false;
	}
	snprintf(t->type, sizeof(t->type), "%s", kinds[module_kind_of(m)].type);
	if (family == FAMILY_SFP)
		decode_sfp(m, t);
	else if (family == FAMILY_QSFP)
		decode_qsfp(m, t);
	else
		decode_cmis(m, t);
	return true;
}
