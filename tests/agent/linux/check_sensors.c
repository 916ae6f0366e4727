/*
 * Memories of transceivers written here as SFF-8472, SFF-8636 and CMIS have them, and hardware monitors as files: what is
 * said, in which unit, what is not there, and what has a fault.
 */
#include "agent/linux/hwmon.h"
#include "agent/linux/module_eeprom.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- transceivers ---- */

static struct module_memory memory;
static struct hal_transceiver got;

static void
put16(uint8_t *at, int value)
{
	at[0] = (uint8_t)((unsigned)value >> 8);
	at[1] = (uint8_t)value;
}

static void
put_text(uint8_t *at, size_t n, const char *text)
{
	memset(at, ' ', n);
	memcpy(at, text, strlen(text));
}

static void
expect(size_t i, const char *name, int type, int scale, int precision, int value)
{
	const struct hal_reading *r = &got.readings[i];

	ck_assert_str_eq(r->name, name);
	ck_assert_int_eq(r->type, type);
	ck_assert_int_eq(r->scale, scale);
	ck_assert_int_eq(r->precision, precision);
	ck_assert_msg(r->value == value, "%s: %d, not %d", name, (int)r->value, value);
	ck_assert_int_eq(r->status, HAL_SENSOR_OK);
}

static void
make_sfp(uint8_t diagnostics)
{
	memset(&memory, 0, sizeof(memory));
	memory.n = 2;
	memory.octets[0][0] = 0x03;
	put_text(memory.octets[0] + 20, 16, "FINISAR CORP.");
	put_text(memory.octets[0] + 40, 16, "FTLX8571D3BCL");
	put_text(memory.octets[0] + 56, 4, "A");
	put_text(memory.octets[0] + 68, 16, "UP1234\x1b[31m");
	memory.octets[0][92] = diagnostics;
	put16(memory.octets[1] + 96, -(10 * 256 + 128)); /* -10.5 degrees */
	put16(memory.octets[1] + 98, 33012);		 /* 3.3012 V */
	put16(memory.octets[1] + 100, 3500);		 /* 7 mA */
	put16(memory.octets[1] + 102, 5623);		 /* 0.5623 mW, -2.5 dBm */
	put16(memory.octets[1] + 104, 1);
}

START_TEST(sfp_calibrated_by_itself)
{
	make_sfp(0x68);
	ck_assert(module_decode(&memory, &got));
	ck_assert_str_eq(got.type, "SFP");
	ck_assert_str_eq(got.maker, "FINISAR CORP.");
	ck_assert_str_eq(got.model, "FTLX8571D3BCL");
	ck_assert_str_eq(got.revision, "A");
	ck_assert_str_eq(got.serial, "UP1234?[31m");
	ck_assert_uint_eq(got.n_readings, 5);
	expect(0, "temperature", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, -10500);
	expect(1, "voltage", HAL_SENSOR_VOLTS, HAL_SCALE_MILLI, 1, 33012);
	expect(2, "power received", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 1);
	expect(3, "power sent", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 5623);
	expect(4, "bias", HAL_SENSOR_AMPERES, HAL_SCALE_MICRO, 0, 7000);
}
END_TEST

/* Slopes and offsets of SFF-8472, section 9.3: fixed point with 8 bits behind the point, and floating point. */
START_TEST(sfp_calibrated_by_the_host)
{
	static const uint8_t half[] = {0x3f, 0, 0, 0}, hundred[] = {0x42, 0xc8, 0, 0};

	make_sfp(0x58);
	memcpy(memory.octets[1] + 56 + 3 * 4, half, 4); /* of the first power: 0.5 */
	memcpy(memory.octets[1] + 56 + 4 * 4, hundred, 4); /* and 100 */
	put16(memory.octets[1] + 104, 1000);
	put16(memory.octets[1] + 76, 2 << 8); /* bias times 2 */
	put16(memory.octets[1] + 80, 1 << 8); /* power sent plus 7 */
	put16(memory.octets[1] + 82, 7);
	put16(memory.octets[1] + 84, 1 << 8); /* temperature plus 256/256 */
	put16(memory.octets[1] + 86, 256);
	put16(memory.octets[1] + 88, 1 << 8); /* voltage minus 12 */
	put16(memory.octets[1] + 90, -12);
	ck_assert(module_decode(&memory, &got));
	expect(0, "temperature", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, -9500);
	expect(1, "voltage", HAL_SENSOR_VOLTS, HAL_SCALE_MILLI, 1, 33000);
	expect(2, "power received", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 600);
	expect(3, "power sent", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 5630);
	expect(4, "bias", HAL_SENSOR_AMPERES, HAL_SCALE_MICRO, 0, 14000);
}
END_TEST

START_TEST(qsfp_has_four_lanes)
{
	memset(&memory, 0, sizeof(memory));
	memory.n = 2;
	memory.octets[0][0] = 0x11;
	put16(memory.octets[0] + 22, 35 * 256);
	put16(memory.octets[0] + 26, 32500);
	for (int lane = 0; lane < 4; lane++) {
		put16(memory.octets[0] + 34 + 2 * lane, 1000 + lane);
		put16(memory.octets[0] + 42 + 2 * lane, 2000 + lane);
		put16(memory.octets[0] + 50 + 2 * lane, 3000 + lane);
	}
	put_text(memory.octets[1] + (148 - 128), 16, "Mellanox");
	put_text(memory.octets[1] + (168 - 128), 16, "MMA1B00-C100D");
	put_text(memory.octets[1] + (196 - 128), 16, "MT1");
	memory.octets[1][220 - 128] = 0x04;
	ck_assert(module_decode(&memory, &got));
	ck_assert_str_eq(got.type, "QSFP28");
	ck_assert_str_eq(got.maker, "Mellanox");
	ck_assert_uint_eq(got.n_readings, 2 + 3 * 4);
	expect(0, "temperature", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, 35000);
	expect(2, "lane 1 power received", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 1000);
	expect(12, "lane 4 power sent", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 3003);
	expect(13, "lane 4 bias", HAL_SENSOR_AMPERES, HAL_SCALE_MICRO, 0, 4006);
	memory.octets[1][220 - 128] = 0; /* it does not tell what it sends */
	ck_assert(module_decode(&memory, &got));
	ck_assert_uint_eq(got.n_readings, 2 + 2 * 4);
	memory.octets[0][2] = 0x01; /* its values are not ready */
	ck_assert(module_decode(&memory, &got));
	ck_assert_int_eq(got.readings[0].status, HAL_SENSOR_UNAVAILABLE);
	ck_assert_int_eq(got.readings[0].value, 0);
	memory.octets[1][147 - 128] = 0xa0; /* a copper cable */
	ck_assert(module_decode(&memory, &got));
	ck_assert_uint_eq(got.n_readings, 0);
}
END_TEST

START_TEST(cmis_tells_what_it_can)
{
	memset(&memory, 0, sizeof(memory));
	memory.n = 4;
	memory.octets[0][0] = 0x18;
	put16(memory.octets[0] + 14, 50 * 256);
	put16(memory.octets[0] + 16, 33000);
	memory.octets[0][86] = 0x11; /* an application of four lanes, one of eight, and no more */
	memory.octets[0][86 + 2] = 0x44;
	memory.octets[0][90] = 0x12;
	memory.octets[0][90 + 2] = 0x88;
	memory.octets[0][94] = 0xff;
	put_text(memory.octets[1] + (129 - 128), 16, "Vendor");
	memory.octets[2][159 - 128] = 0x03;
	memory.octets[2][160 - 128] = 0x07 | 1 << 3; /* bias times two */
	for (int lane = 0; lane < 8; lane++) {
		put16(memory.octets[3] + (154 - 128) + 2 * lane, 100 + lane);
		put16(memory.octets[3] + (170 - 128) + 2 * lane, 200 + lane);
		put16(memory.octets[3] + (186 - 128) + 2 * lane, 300 + lane);
	}
	ck_assert(module_decode(&memory, &got));
	ck_assert_str_eq(got.type, "QSFP-DD");
	ck_assert_uint_eq(got.n_readings, HAL_MAX_READINGS);
	expect(2, "lane 1 power received", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 300);
	expect(24, "lane 8 power sent", HAL_SENSOR_WATTS, HAL_SCALE_MICRO, 1, 107);
	expect(25, "lane 8 bias", HAL_SENSOR_AMPERES, HAL_SCALE_MICRO, 0, 828);
	memory.octets[2][160 - 128] = 0x04; /* it tells what it receives alone */
	ck_assert(module_decode(&memory, &got));
	ck_assert_uint_eq(got.n_readings, 2 + 8);
}
END_TEST

/* Which pages are fetched, of each kind; and no octets make it read beyond them. */
START_TEST(pages_that_are_needed)
{
	static const struct {
		uint8_t id, at, value;
		size_t n;
		uint8_t last_page, last_address;
	} rows[] = {{0x03, 92, 0x68, 2, 0, 0x51}, {0x03, 92, 0, 1, 0, 0x50}, {0x03, 92, 0x6c, 1, 0, 0x50}, {0x0d, 0, 0x0d, 2, 0, 0x50},
	    {0x18, 2, 0, 4, 0x11, 0x50}, {0x19, 2, 0x80, 2, 0, 0x50}, {0x77, 0, 0x77, 1, 0, 0x50}};
	struct module_page page = {0}, next;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&memory, 0, sizeof(memory));
		while (module_next_page(&memory, &next)) {
			ck_assert_uint_lt(memory.n, MODULE_MAX_PAGES);
			page = next;
			memory.octets[memory.n][0] = rows[i].id;
			memory.octets[memory.n++][rows[i].at] = rows[i].value;
		}
		ck_assert_uint_eq(memory.n, rows[i].n);
		ck_assert_uint_eq(page.page, rows[i].last_page);
		ck_assert_uint_eq(page.i2c_address, rows[i].last_address);
		ck_assert_int_eq(module_decode(&memory, &got), rows[i].id != 0x77);
	}
	ck_assert_str_eq(got.type, "kind 0x77");
	for (unsigned octet = 0; octet < 256; octet++) {
		memset(&memory, (int)octet, sizeof(memory));
		memory.n = octet % (MODULE_MAX_PAGES + 1);
		module_decode(&memory, &got);
		ck_assert_uint_le(got.n_readings, HAL_MAX_READINGS);
	}
}
END_TEST

/* ---- hardware monitors ---- */

static char root[] = "/tmp/hwmon.XXXXXX";
static struct hwmon *hwmon;

static void
put_file(const char *monitor, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/class/hwmon/%s", root, monitor);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/class/hwmon/%s/%s", root, monitor, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void
remove_file(const char *monitor, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/class/hwmon/%s/%s", root, monitor, name);
	ck_assert_int_eq(unlink(path), 0);
}

static const struct hal_sensor *
sensor_named(const char *name)
{
	for (size_t i = 0; i < hwmon_n_sensors(hwmon); i++)
		if (strcmp(hwmon_sensor(hwmon, i)->reading.name, name) == 0)
			return hwmon_sensor(hwmon, i);
	ck_abort_msg("no sensor %s", name);
}

static void
begin_monitors(void)
{
	char path[256];

	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(path, sizeof(path), "mkdir -p %s/class/hwmon", root);
	ck_assert_int_eq(system(path), 0);
	ck_assert_int_eq(hwmon_create(root, &hwmon), 0);
}

static void
end_monitors(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
	hwmon_destroy(hwmon);
}

static void
expect_sensor(const char *name, int type, int scale, int precision, int value, int status)
{
	const struct hal_reading *r = &sensor_named(name)->reading;

	ck_assert_msg(r->type == type && r->scale == scale && r->precision == precision && r->value == value && r->status == status,
	    "%s: type %d, scale %d, precision %d, value %d, status %d", name, r->type, r->scale, r->precision, (int)r->value,
	    r->status);
}

START_TEST(each_kind_has_its_unit)
{
	put_file("hwmon0", "name", "coretemp\n");
	put_file("hwmon0", "temp1_input", "-40500\n");
	put_file("hwmon0", "temp1_label", "Package id 0\n");
	put_file("hwmon0", "temp1_max", "100000\n");
	put_file("hwmon1", "name", "psu\n");
	put_file("hwmon1", "in0_input", "11984\n");
	put_file("hwmon1", "curr1_input", "2500\n");
	put_file("hwmon1", "power1_average", "29960000\n");
	put_file("hwmon1", "fan1_input", "4800\n");
	put_file("hwmon1", "humidity1_input", "45250\n");
	ck_assert(hwmon_read(hwmon, 5));
	ck_assert_uint_eq(hwmon_n_sensors(hwmon), 6);
	expect_sensor("coretemp Package id 0", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, -40500, HAL_SENSOR_OK);
	expect_sensor("psu in0", HAL_SENSOR_VOLTS, HAL_SCALE_MILLI, 0, 11984, HAL_SENSOR_OK);
	expect_sensor("psu curr1", HAL_SENSOR_AMPERES, HAL_SCALE_MILLI, 0, 2500, HAL_SENSOR_OK);
	expect_sensor("psu power1", HAL_SENSOR_WATTS, HAL_SCALE_MILLI, 0, 29960, HAL_SENSOR_OK);
	expect_sensor("psu fan1", HAL_SENSOR_RPM, HAL_SCALE_UNITS, 0, 4800, HAL_SENSOR_OK);
	expect_sensor("psu humidity1", HAL_SENSOR_PERCENT_RH, HAL_SCALE_UNITS, 3, 45250, HAL_SENSOR_OK);
	ck_assert_uint_eq(sensor_named("psu fan1")->read_mono_us, 5);
	ck_assert(!hwmon_read(hwmon, 6)); /* nothing came or went */
}
END_TEST

START_TEST(what_is_missing_has_a_status)
{
	put_file("hwmon0", "name", "odd\n");
	put_file("hwmon0", "temp1_input", "71000\n");
	put_file("hwmon0", "temp1_fault", "1\n");
	put_file("hwmon0", "temp2_input", "71000\n");
	put_file("hwmon0", "temp2_enable", "0\n");
	put_file("hwmon0", "temp3_input", "no number\n");
	put_file("hwmon0", "temp4_input", "99999999999999\n");
	put_file("hwmon0", "temp100_input", "1\n"); /* there is no such number */
	put_file("hwmon0", "temperature_input", "1\n");
	ck_assert(hwmon_read(hwmon, 5));
	ck_assert_uint_eq(hwmon_n_sensors(hwmon), 4);
	expect_sensor("odd temp1", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, 0, HAL_SENSOR_NONOPERATIONAL);
	expect_sensor("odd temp2", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, 0, HAL_SENSOR_UNAVAILABLE);
	expect_sensor("odd temp3", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, 0, HAL_SENSOR_UNAVAILABLE);
	expect_sensor("odd temp4", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, HAL_SENSOR_MOST, HAL_SENSOR_OK);
}
END_TEST

START_TEST(numbers_stay_while_others_come_and_go)
{
	uint32_t second;

	put_file("hwmon0", "temp1_input", "1000\n");
	put_file("hwmon0", "temp2_input", "2000\n");
	ck_assert(hwmon_read(hwmon, 1));
	second = sensor_named("hwmon0 temp2")->number;
	remove_file("hwmon0", "temp1_input");
	put_file("hwmon0", "temp3_input", "3000\n");
	ck_assert(hwmon_read(hwmon, 2));
	ck_assert_uint_eq(hwmon_n_sensors(hwmon), 2);
	ck_assert_uint_eq(sensor_named("hwmon0 temp2")->number, second);
	remove_file("hwmon0", "temp2_input");
	remove_file("hwmon0", "temp3_input");
	ck_assert(hwmon_read(hwmon, 3));
	ck_assert_uint_eq(hwmon_n_sensors(hwmon), 0);
	for (int i = 0; i < HAL_MAX_SENSORS + 5; i++) {
		char monitor[32];

		snprintf(monitor, sizeof(monitor), "hwmon%d", i + 1);
		put_file(monitor, "temp1_input", "1\n");
	}
	ck_assert(hwmon_read(hwmon, 4));
	ck_assert_uint_eq(hwmon_n_sensors(hwmon), HAL_MAX_SENSORS);
	ck_assert_uint_eq(hwmon_left_out(hwmon), 5);
}
END_TEST

/* The monitor is of that device, whose directory is made, too. */
static void
link_device(const char *monitor, const char *device, const char *runtime_status)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p %s/devices/%s/power && echo %s >%s/devices/%s/power/runtime_status && "
	    "ln -sfn ../../../devices/%s %s/class/hwmon/%s/device", root, device, runtime_status, root, device, device, root, monitor);
	ck_assert_int_eq(system(command), 0);
}

/* At another start the kernel may find the devices in another order, and one more. */
START_TEST(numbers_are_those_of_the_device)
{
	uint32_t cpu, psu;

	put_file("hwmon0", "name", "coretemp");
	put_file("hwmon0", "temp1_input", "1000\n");
	link_device("hwmon0", "coretemp.0", "unsupported");
	put_file("hwmon1", "name", "psu");
	put_file("hwmon1", "in0_input", "2000\n");
	link_device("hwmon1", "1-0058", "active");
	ck_assert(hwmon_read(hwmon, 1));
	cpu = sensor_named("coretemp temp1")->number;
	psu = sensor_named("psu in0")->number;
	hwmon_destroy(hwmon);
	ck_assert_int_eq(hwmon_create(root, &hwmon), 0);
	remove_file("hwmon0", "temp1_input");
	remove_file("hwmon1", "in0_input");
	put_file("hwmon0", "name", "nvme");
	put_file("hwmon0", "temp1_input", "3000\n");
	link_device("hwmon0", "nvme0", "unsupported");
	put_file("hwmon1", "name", "coretemp");
	put_file("hwmon1", "temp1_input", "1000\n");
	link_device("hwmon1", "coretemp.0", "unsupported");
	put_file("hwmon2", "name", "psu");
	put_file("hwmon2", "in0_input", "2000\n");
	link_device("hwmon2", "1-0058", "active");
	ck_assert(hwmon_read(hwmon, 2));
	ck_assert_uint_eq(hwmon_n_sensors(hwmon), 3);
	ck_assert_uint_eq(sensor_named("coretemp temp1")->number, cpu);
	ck_assert_uint_eq(sensor_named("psu in0")->number, psu);
	/* A second monitor of the same name at the same device does not take the first one's place. */
	put_file("hwmon3", "name", "psu");
	put_file("hwmon3", "in0_input", "5000\n");
	link_device("hwmon3", "1-0058", "active");
	ck_assert(hwmon_read(hwmon, 3));
	ck_assert_uint_eq(hwmon_n_sensors(hwmon), 4);
	ck_assert(!hwmon_read(hwmon, 4));
}
END_TEST

/* Who opens a pipe waits until somebody writes into it. */
START_TEST(a_device_that_sleeps_is_not_woken)
{
	char command[256];

	put_file("hwmon0", "name", "amdgpu");
	snprintf(command, sizeof(command), "mkfifo %s/class/hwmon/hwmon0/temp1_input", root);
	ck_assert_int_eq(system(command), 0);
	link_device("hwmon0", "0000:03:00.0", "suspended");
	ck_assert(hwmon_read(hwmon, 1));
	expect_sensor("amdgpu temp1", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, 0, HAL_SENSOR_UNAVAILABLE);
	remove_file("hwmon0", "temp1_input");
	put_file("hwmon0", "temp1_input", "41000\n");
	link_device("hwmon0", "0000:03:00.0", "active");
	ck_assert(!hwmon_read(hwmon, 2));
	expect_sensor("amdgpu temp1", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, 3, 41000, HAL_SENSOR_OK);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sensors");
	TCase *modules = tcase_create("transceivers"), *monitors = tcase_create("monitors");

	tcase_add_test(modules, sfp_calibrated_by_itself);
	tcase_add_test(modules, sfp_calibrated_by_the_host);
	tcase_add_test(modules, qsfp_has_four_lanes);
	tcase_add_test(modules, cmis_tells_what_it_can);
	tcase_add_test(modules, pages_that_are_needed);
	suite_add_tcase(suite, modules);
	tcase_add_checked_fixture(monitors, begin_monitors, end_monitors);
	tcase_add_test(monitors, each_kind_has_its_unit);
	tcase_add_test(monitors, what_is_missing_has_a_status);
	tcase_add_test(monitors, numbers_stay_while_others_come_and_go);
	tcase_add_test(monitors, numbers_are_those_of_the_device);
	tcase_add_test(monitors, a_device_that_sleeps_is_not_woken);
	suite_add_tcase(suite, monitors);
	return suite_run(suite);
}
