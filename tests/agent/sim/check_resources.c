/*
 * Energy and buffers of a board as the HAL reads them: two TNETX4090s and an EEE unit over one bus,
 * told by hand what a board's fabric would tell them.
 */
#include "agent/sim/board_regs.h"
#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/eee_calendar_model.h"
#include "agent/sim/chip/tnetx4090_model.h"
#include "agent/sim/resources.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>

enum { PORTS = 12, POOLS = 2 };

static struct bus_model *bus;
static struct bus cpu;
static struct eee_calendar_model *eee;
static struct tnetx4090_model *pools[POOLS];
static struct resources *resources;
static struct hal_device device;
static struct resources_port ports[PORTS];

static void
add_models(void)
{
	struct eee_calendar_model_config unit = {
	    .bus = bus, .base = BOARD_EEE_BASE, .line = BOARD_LINE_EEE, .n_ports = PORTS};

	ck_assert_int_eq(eee_calendar_model_create(&unit, &eee), 0);
	for (unsigned i = 0; i < POOLS; i++) {
		struct tnetx4090_model_config pool = {
		    .bus = bus, .base = BOARD_POOL_BASE + i * TNETX4090_WINDOW};

		for (unsigned p = 0; p < TNETX4090_PORTS; p++)
			pool.partners[p] = (struct tnetx4090_partner){100, true, true};
		ck_assert_int_eq(tnetx4090_model_create(&pool, &pools[i]), 0);
	}
}

static void
set_up(void)
{
	ck_assert_int_eq(bus_model_create(&bus), 0);
	cpu = bus_model_cpu(bus);
	add_models();
	for (unsigned i = 0; i < PORTS; i++)
		ports[i] = (struct resources_port){.if_index = (uint32_t)i + 1, .eee = i != 3,
		    .pause = true, .full_duplex = true};
	device = (struct hal_device){0};
	resources = NULL;
}

static void
tear_down(void)
{
	resources_destroy(resources);
	eee_calendar_model_destroy(eee);
	for (unsigned i = 0; i < POOLS; i++)
		tnetx4090_model_destroy(pools[i]);
	bus_model_destroy(bus);
}

static void
start(bool has_eee_unit, bool has_pools)
{
	struct resources_config config = {.bus = &cpu, .n_ports = PORTS, .ports = ports,
	    .has_eee_unit = has_eee_unit, .has_pools = has_pools, .flow = true,
	    .max_octets = 1518};

	ck_assert_int_eq(resources_create(&config, &resources), 0);
	resources_compose(resources, &device);
}

START_TEST(facets_are_what_the_board_has)
{
	start(false, false);
	ck_assert_ptr_null(device.energy);
	ck_assert_ptr_null(device.buffers);
	resources_destroy(resources);
	start(true, false);
	ck_assert_ptr_nonnull(device.energy);
	ck_assert_ptr_null(device.buffers);
	for (unsigned i = 0; i < PORTS; i++)
		ports[i].eee = false;
	resources_destroy(resources);
	device = (struct hal_device){0};
	start(true, true);
	ck_assert_ptr_null(device.energy);
	ck_assert_ptr_nonnull(device.buffers);
}
END_TEST

START_TEST(energy_of_a_port)
{
	struct hal_energy energy;
	unsigned handled = 0;

	start(true, true);
	ck_assert_int_eq(device.energy->read(device.energy_ctx, 0, &energy), -ENODEV);
	ck_assert_int_eq(device.energy->read(device.energy_ctx, 4, &energy), -ENODEV);
	ck_assert_int_eq(device.energy->read(device.energy_ctx, PORTS + 1, &energy), -ENODEV);
	eee_calendar_model_sleep(eee, EEE_ENTRY(1, EEE_RX), 0, 400000000);
	eee_calendar_model_settle(eee, 400000000); /* 400 ms: beyond the threshold of 327.68 */
	ck_assert(bus_model_lines(bus) >> BOARD_LINE_EEE & 1);
	ck_assert_int_eq(resources_dispatch(resources, bus_model_lines(bus), &handled), 0);
	ck_assert_uint_eq(handled, 1);
	ck_assert(!(bus_model_lines(bus) >> BOARD_LINE_EEE & 1));
	ck_assert_int_eq(device.energy->read(device.energy_ctx, 2, &energy), 0);
	ck_assert_uint_eq(energy.in.events, 1);
	ck_assert_uint_eq(energy.in.asleep_us, 400000);
	ck_assert_uint_eq(energy.out.events, 0);
}
END_TEST

/* Ports 1 to 9 wait in the first chip, the rest in the second. */
START_TEST(buffers_of_a_port)
{
	struct hal_buffers buffers;

	ports[10].pause = false;
	start(true, true);
	ck_assert_int_eq(tnetx4090_model_admit(pools[1], 1, 5, 0), TNETX4090_ACCEPT);
	ck_assert_int_eq(device.buffers->read(device.buffers_ctx, 11, &buffers), 0);
	ck_assert_uint_eq(buffers.charged, 5);
	ck_assert_uint_eq(buffers.pool_free, buffers.pool_buffers - 5);
	ck_assert_int_eq(buffers.flow_control, HAL_FLOW_DROP);
	ck_assert_int_eq(device.buffers->read(device.buffers_ctx, 9, &buffers), 0);
	ck_assert_uint_eq(buffers.charged, 0);
	ck_assert_uint_eq(buffers.pool_free, buffers.pool_buffers);
	ck_assert_int_eq(buffers.flow_control, HAL_FLOW_PAUSE);
	ck_assert_uint_eq(pools[0]->ports[0].threshold, 9 * 24);
	ck_assert_uint_eq(pools[1]->ports[0].threshold, 3 * 24);
	ck_assert_int_eq(device.buffers->read(device.buffers_ctx, PORTS + 1, &buffers), -ENODEV);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("resources");
	TCase *t = tcase_create("resources");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, facets_are_what_the_board_has);
	tcase_add_test(t, energy_of_a_port);
	tcase_add_test(t, buffers_of_a_port);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
