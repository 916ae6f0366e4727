/*
 * The guide's example of a new device, over a register model: what its chapter says of it holds.
 */
#include "agent/sim/bus/regmodel.h"
#include "conf/guide/example_device.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>

enum { ROW_COUNTERS, ROW_LINK };

static const struct regmodel_row rows[] = {
    [ROW_COUNTERS] = {.name = "counters", .offset = EXAMPLE_RX_PKTS, .count = 4 * EXAMPLE_PORTS,
	.stride = 4},
    [ROW_LINK] = {.name = "link", .offset = EXAMPLE_LINK},
};

static struct regmodel chip;
static struct clock test_clock;
static struct hal *hal;
static bool broken; /* the bus answers nothing */

static int
read_chip(void *ctx, uint32_t address, uint32_t *value)
{
	return broken ? -EIO : regmodel_read(ctx, address, value);
}

static int
write_chip(void *ctx, uint32_t address, uint32_t value)
{
	return regmodel_write(ctx, address, value);
}

static const struct bus_ops bus_ops = {.name = "example", .read = read_chip, .write = write_chip};
static const struct bus bus = {.ops = &bus_ops, .ctx = &chip};

static void
set_counter(unsigned port, uint32_t offset, uint32_t value)
{
	*regmodel_value(&chip, ROW_COUNTERS, (port - 1) * EXAMPLE_PORT_STRIDE / 4 + offset / 4) = value;
}

static void
set_up(void)
{
	struct hal_device *device;

	broken = false;
	test_clock = (struct clock){.manual = true, .manual_mono_us = 1000000, .manual_wall_us = 1000000};
	ck_assert_int_eq(regmodel_init(&chip, rows, sizeof(rows) / sizeof(rows[0]), NULL), 0);
	ck_assert_int_eq(example_device_create(&bus, &test_clock, &device), 0);
	ck_assert_int_eq(hal_create(device, &test_clock, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
}

static void
tear_down(void)
{
	hal_stop(hal);
	hal_destroy(hal);
	regmodel_free(&chip);
}

static struct hal_counters
counters_of(uint32_t if_index)
{
	struct hal_counters counters;

	ck_assert_int_eq(hal_read_counters(hal, if_index, &counters), 0);
	return counters;
}

START_TEST(ports_and_link)
{
	struct hal_port port;

	*regmodel_value(&chip, ROW_LINK, 0) = 1u << 1;
	ck_assert_uint_eq(hal_n_ports(hal), EXAMPLE_PORTS);
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	ck_assert_int_eq(hal_port_info(hal, 1, &port), 0);
	ck_assert_uint_eq(port.oper_status, EASE_IF_DOWN);
	ck_assert_int_eq(hal_port_info(hal, 2, &port), 0);
	ck_assert_str_eq(port.name, "x-2");
	ck_assert_uint_eq(port.oper_status, EASE_IF_UP);
	ck_assert_int_eq(hal_port_info(hal, 3, &port), -ENODEV);
}
END_TEST

/* 32-bit counters become 64-bit totals without a line in the driver. */
START_TEST(counters_widen)
{
	struct hal_counters c;

	set_counter(2, EXAMPLE_RX_OCTETS, 0xffffff00);
	set_counter(2, EXAMPLE_TX_PKTS, 7);
	ck_assert_uint_eq(counters_of(2).value[HAL_IN_OCTETS], 0xffffff00);
	set_counter(2, EXAMPLE_RX_OCTETS, 0x100);
	c = counters_of(2);
	ck_assert_uint_eq(c.value[HAL_IN_OCTETS], 0x100000100);
	ck_assert_uint_eq(c.value[HAL_OUT_UCAST_PKTS], 7);
	ck_assert_uint_eq(c.value[HAL_POOL_OUT_PKTS], 7);
	ck_assert_uint_eq(counters_of(1).value[HAL_IN_OCTETS], 0);
}
END_TEST

START_TEST(what_it_lacks_is_absent)
{
	ck_assert_uint_eq(counters_of(1).known >> HAL_IN_BCAST_PKTS & 1, 0);
	ck_assert(!hal_has_sampling(hal));
	ck_assert_int_eq(hal_load_skip(hal, 1, 5), -EOPNOTSUPP);
}
END_TEST

/* Reads that fail keep the old total and are counted; they are not repeated at once. */
START_TEST(failed_reads_are_counted)
{
	struct hal_counters c;

	set_counter(1, EXAMPLE_RX_PKTS, 5);
	ck_assert_uint_eq(counters_of(1).value[HAL_IN_UCAST_PKTS], 5);
	broken = true;
	(void)hal_read_counters(hal, 1, &c);
	broken = false;
	ck_assert_uint_eq(counters_of(1).value[HAL_IN_UCAST_PKTS], 5);
	ck_assert_uint_gt(stat_get(hal_stats(hal), 0), 0); /* hal.counter_read_errors */
	ck_assert_str_eq(hal_stats(hal)->names[0].name, "hal.counter_read_errors");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("example device");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, ports_and_link);
	tcase_add_test(tests, counters_widen);
	tcase_add_test(tests, what_it_lacks_is_absent);
	tcase_add_test(tests, failed_reads_are_counted);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
