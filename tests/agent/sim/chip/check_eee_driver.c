/*
 * The EEE unit's driver over the model, and the planner of calendars against section 6 of the notes
 * on the unit.
 */
#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/eee_calendar.h"
#include "agent/sim/chip/eee_calendar_model.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <string.h>

enum { BASE = 0x200000, LINE = 3 };

/* --- planning --- */

static uint16_t calendar[EEE_MAX_SLOTS];
static unsigned length;

/* n entries, the first of the weights given and the rest 1. */
static int
plan(unsigned n, const uint8_t *weights, unsigned n_weights, const struct eee_plan *times)
{
	struct eee_plan_entry entries[200];
	struct eee_plan p = *times;

	for (unsigned i = 0; i < n; i++)
		entries[i] = (struct eee_plan_entry){
		    .entry = (uint16_t)i, .weight = i < n_weights ? weights[i] : 1};
	p.entries = entries;
	p.n_entries = n;
	return eee_plan(&p, calendar, EEE_MAX_SLOTS, &length);
}

/* All distances between the entry's slots are this. */
static void
assert_spread(unsigned entry, unsigned distance)
{
	unsigned places = 0;

	for (unsigned slot = 0; slot < length; slot++) {
		if (calendar[slot] != entry)
			continue;
		places++;
		ck_assert_uint_eq(calendar[(slot + distance) % length], entry);
	}
	ck_assert_uint_eq(places * distance, length);
}

START_TEST(nine_ports_of_the_notes)
{
	const struct eee_plan times = {.slot_ns = 10, .unit_ns = 10000, .max_period_ns = 1000,
	    .latency_slots = 1};

	ck_assert_int_eq(plan(18, NULL, 0, &times), 0);
	ck_assert_uint_eq(length, 20); /* 18 entries and 2 idle: P = 0.2 us, 50 visits in 10 us */
	for (unsigned i = 0; i < 18; i++)
		assert_spread(i, 20);
}
END_TEST

START_TEST(fifty_two_wide_entries_of_the_notes)
{
	const struct eee_plan times = {.slot_ns = 10, .unit_ns = 10000, .max_period_ns = 1000,
	    .latency_slots = 1};

	ck_assert_int_eq(plan(52, NULL, 0, &times), 0);
	ck_assert_uint_eq(length, 100); /* 52 entries and 48 idle: P = 1 us */
	ck_assert_int_eq(plan(101, NULL, 0, &times), -ERANGE);
}
END_TEST

START_TEST(weights_of_the_notes)
{
	static const uint8_t weights[] = {4, 2};
	struct eee_plan times = {.slot_ns = 1, .unit_ns = 80, .max_period_ns = 8,
	    .latency_slots = 1};
	static const uint16_t expected[] = {0, 1, 0, 2, 0, 1, 0, 3};

	ck_assert_int_eq(plan(4, weights, 2, &times), 0);
	ck_assert_uint_eq(length, 8);
	ck_assert_mem_eq(calendar, expected, sizeof(expected));
	times.latency_slots = 2;
	ck_assert_int_eq(plan(4, weights, 2, &times), -ERANGE); /* needs m <= 1 */
	times.max_period_ns = 12;
	ck_assert_int_eq(plan(8, weights, 2, &times), 0);
	ck_assert_uint_eq(length, 12);
	assert_spread(0, 3);
	assert_spread(1, 6);
	for (unsigned i = 2; i < 8; i++)
		assert_spread(i, 12);
}
END_TEST

START_TEST(unit_that_nothing_divides)
{
	const struct eee_plan times = {.slot_ns = 7, .unit_ns = 10000, .max_period_ns = 1000,
	    .latency_slots = 3};

	ck_assert_int_eq(plan(10, NULL, 0, &times), 0);
	ck_assert_uint_eq(length, 10);
	ck_assert_int_eq(plan(0, NULL, 0, &times), -EINVAL);
}
END_TEST

/* --- the driver --- */

static struct bus_model *bus;
static struct bus cpu;
static struct eee_calendar_model *chip;
static struct eee_calendar *driver;

static void
set_up(void)
{
	ck_assert_int_eq(bus_model_create(&bus), 0);
	cpu = bus_model_cpu(bus);
	chip = NULL;
	driver = NULL;
}

static void
tear_down(void)
{
	eee_calendar_destroy(driver);
	eee_calendar_model_destroy(chip);
	bus_model_destroy(bus);
}

/* A unit of n ports of which the even ones have EEE. */
static int
start(unsigned n_ports, unsigned bits)
{
	struct eee_calendar_model_config model = {.bus = bus, .base = BASE, .line = LINE,
	    .n_ports = n_ports, .event_bits = bits, .duration_bits = bits};
	struct eee_calendar_config config = {.bus = &cpu, .base = BASE};

	for (unsigned i = 0; i < n_ports; i += 2)
		config.has_eee[i] = true;
	ck_assert_int_eq(eee_calendar_model_create(&model, &chip), 0);
	return eee_calendar_create(&config, &driver);
}

START_TEST(driver_says_how_finely_it_counts)
{
	struct hal_energy energy;

	ck_assert_int_eq(start(52, 16), 0);
	ck_assert_int_eq(eee_calendar_read(driver, 1, &energy), -ENODEV);
	ck_assert_int_eq(eee_calendar_read(driver, 52, &energy), -ENODEV);
	ck_assert_int_eq(eee_calendar_read(driver, 0, &energy), 0);
	ck_assert_uint_eq(energy.unit_ns, 10000);
	ck_assert_uint_eq(energy.period_ns, 1000); /* 52 entries in a round of 100 slots of 10 ns */
}
END_TEST

START_TEST(driver_needs_a_port)
{
	struct eee_calendar_config config = {.bus = &cpu, .base = BASE};
	struct eee_calendar_model_config model = {
	    .bus = bus, .base = BASE, .line = LINE, .n_ports = 4};

	ck_assert_int_eq(eee_calendar_model_create(&model, &chip), 0);
	ck_assert_int_eq(eee_calendar_create(&config, &driver), -EINVAL);
}
END_TEST

/* Ten minutes (two seconds) of a port that sleeps 19 of 20 ms when received and always when sent,
 * with the CPU at every interrupt: nothing of it is lost in counts of 16 (8) bits, which wrap after
 * 655 ms (2.5 ms). */
START_TEST(driver_keeps_what_narrow_counts_hold)
{
	const uint64_t end = (_i == 0 ? 600ull : 2ull) * 1000000000;
	uint64_t now = 0, due;
	struct hal_energy energy;

	ck_assert_int_eq(start(1, _i == 0 ? 16 : 8), 0);
	due = eee_calendar_model_settle(chip, 0);
	for (uint64_t round = 0; now < end; round++) {
		uint64_t wakes = round * 20000000, next = wakes + 20000000;

		while (now < next) {
			uint64_t to = due < next ? due : next, asleep = wakes + 1000000;

			eee_calendar_model_sleep(chip, EEE_ENTRY(0, EEE_TX), now, to);
			if (to > asleep)
				eee_calendar_model_sleep(chip, EEE_ENTRY(0, EEE_RX),
				    now > asleep ? now : asleep, to);
			now = to;
			due = eee_calendar_model_settle(chip, now);
			if (bus_model_lines(bus))
				ck_assert_int_gt(eee_calendar_dispatch(driver), 0);
		}
	}
	ck_assert_int_eq(eee_calendar_read(driver, 0, &energy), 0);
	ck_assert_uint_eq(energy.out.events, 1);
	ck_assert_uint_eq(energy.out.asleep_us, now / 1000);
	ck_assert_uint_eq(energy.in.events, now / 20000000);
	ck_assert_uint_eq(energy.in.asleep_us, now / 1000 / 20 * 19);
	ck_assert_uint_eq(stat_get(eee_calendar_stats(driver), EEE_CALENDAR_STAT_WRAPPED), 0);
}
END_TEST

/* A CPU that comes too late loses what wrapped: totals stand still rather than step back. */
START_TEST(late_cpu_is_seen)
{
	struct hal_energy energy;

	ck_assert_int_eq(start(1, 8), 0);
	eee_calendar_model_sleep(chip, 0, 0, 2500000);
	eee_calendar_model_settle(chip, 2500000);
	ck_assert_int_eq(eee_calendar_read(driver, 0, &energy), 0);
	ck_assert_uint_eq(energy.out.asleep_us, 2500);
	eee_calendar_model_sleep(chip, 0, 2500000, 2700000);
	eee_calendar_model_settle(chip, 2700000);
	ck_assert_int_eq(eee_calendar_read(driver, 0, &energy), 0);
	ck_assert_uint_eq(energy.out.asleep_us, 2500);
	ck_assert_uint_eq(stat_get(eee_calendar_stats(driver), EEE_CALENDAR_STAT_WRAPPED), 1);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("eee_driver");
	TCase *planning = tcase_create("planning"), *t = tcase_create("driver");

	tcase_add_test(planning, nine_ports_of_the_notes);
	tcase_add_test(planning, fifty_two_wide_entries_of_the_notes);
	tcase_add_test(planning, weights_of_the_notes);
	tcase_add_test(planning, unit_that_nothing_divides);
	suite_add_tcase(s, planning);
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, driver_says_how_finely_it_counts);
	tcase_add_test(t, driver_needs_a_port);
	tcase_add_loop_test(t, driver_keeps_what_narrow_counts_hold, 0, 2);
	tcase_add_test(t, late_cpu_is_seen);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
