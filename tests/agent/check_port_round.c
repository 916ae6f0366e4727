/*
 * What is sent of each port once in an interval (agent/port_round.h), over the dummy device with many ports
 * and a clock that the test moves: each port has its turn in each interval, few are sent at once, and a
 * clock on the wall that is set changes nothing.
 */
#include "agent/hal/hal.h"
#include "agent/port_round.h"
#include "agent/sim/dummy.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

enum { PORTS_MAX = 4096 };
#define SECOND_US 1000000ull
#define INTERVAL_US (20 * SECOND_US)

static struct clock test_clock;
static struct hal *hal;
static struct port_round ports_round;
static unsigned n_sent[PORTS_MAX + 1];
static uint64_t sent_us[PORTS_MAX + 1];
static unsigned n_rounds, at_once, most_at_once;

static void
send_port(void *ctx, uint32_t if_index)
{
	(void)ctx;
	n_sent[if_index]++;
	sent_us[if_index] = clock_mono_us(&test_clock);
	at_once++;
}

/* As the agent does it: works on what is due, and asks to be called again. */
static void
on_alarm(void *ctx, uint64_t steady_us)
{
	(void)ctx;
	at_once = 0;
	n_rounds += port_round_run(&ports_round, hal, steady_us, INTERVAL_US, send_port, NULL);
	if (at_once > most_at_once)
		most_at_once = at_once;
	ck_assert_int_eq(hal_alarm(hal, ports_round.next_us), 0);
}

static void
start(uint32_t n_ports)
{
	const struct dummy_config config = {.n_ports = n_ports, .speed_bps = 1000000000,
	    .clock = &test_clock};
	const struct hal_listener listener = {.alarm = on_alarm};
	struct hal_device *device;

	test_clock = (struct clock){.manual = true, .manual_wall_us = 1795269600000000,
	    .manual_mono_us = 777};
	memset(n_sent, 0, sizeof(n_sent));
	n_rounds = most_at_once = 0;
	ck_assert_int_eq(dummy_create(&config, &device), 0);
	ck_assert_int_eq(hal_create(device, &test_clock, &hal), 0);
	hal_set_listener(hal, &listener);
	ck_assert_int_eq(hal_start(hal), 0);
	port_round_begin(&ports_round, hal_steady_us(hal) + INTERVAL_US);
	ck_assert_int_eq(hal_alarm(hal, ports_round.next_us), 0);
}

/* Lets time pass in steps of 10 ms, as a main loop's timer would. */
static void
pass(uint64_t us)
{
	for (uint64_t end_us = test_clock.manual_mono_us + us; test_clock.manual_mono_us < end_us;) {
		clock_step_us(&test_clock, 10000);
		ck_assert_int_eq(hal_dispatch(hal, 0), 0);
	}
}

static void
expect_sent(uint32_t n_ports, unsigned times)
{
	for (uint32_t i = 1; i <= n_ports; i++)
		ck_assert_msg(n_sent[i] == times, "port %u was sent %u times, not %u", i, n_sent[i], times);
}

START_TEST(many_ports_are_spread_over_the_interval)
{
	static uint64_t before_us[PORTS_MAX + 1];

	start(PORTS_MAX);
	pass(INTERVAL_US - 10000);
	expect_sent(PORTS_MAX, 0);
	pass(INTERVAL_US);
	expect_sent(PORTS_MAX, 1);
	ck_assert_uint_eq(most_at_once, PORT_ROUND_SLICE_PORTS);
	memcpy(before_us, sent_us, sizeof(before_us));
	pass(INTERVAL_US);
	expect_sent(PORTS_MAX, 2);
	ck_assert_uint_eq(n_rounds, 2);
	for (uint32_t i = 1; i <= PORTS_MAX; i++)
		ck_assert_uint_eq(sent_us[i] - before_us[i], INTERVAL_US);
	hal_destroy(hal);
}
END_TEST

START_TEST(few_ports_are_sent_together)
{
	start(PORT_ROUND_SLICE_PORTS);
	pass(INTERVAL_US + 10000);
	expect_sent(PORT_ROUND_SLICE_PORTS, 1);
	ck_assert_uint_eq(most_at_once, PORT_ROUND_SLICE_PORTS);
	ck_assert_uint_eq(n_rounds, 1);
	hal_destroy(hal);
}
END_TEST

/* The clock on the wall goes back an hour, then forward a day, in the middle of a round. */
START_TEST(a_clock_that_is_set_stops_nothing)
{
	static const int64_t set_us[] = {-3600000000, 86400000000, -86400000000};

	start(1000);
	pass(INTERVAL_US * 3 / 2); /* half of the ports have been sent */
	for (size_t i = 0; i < sizeof(set_us) / sizeof(set_us[0]); i++) {
		unsigned before[1001];

		memcpy(before, n_sent, sizeof(before));
		test_clock.manual_wall_us += (uint64_t)set_us[i];
		pass(INTERVAL_US);
		for (uint32_t port = 1; port <= 1000; port++)
			ck_assert_uint_eq(n_sent[port], before[port] + 1);
	}
	hal_destroy(hal);
}
END_TEST

/* After a time in which nothing ran, each port is sent once, not once for each interval that was missed. */
START_TEST(what_was_missed_is_not_made_up_for)
{
	start(1000);
	pass(INTERVAL_US * 2 - 10000);
	expect_sent(1000, 1);
	clock_step_us(&test_clock, 100 * INTERVAL_US);
	pass(INTERVAL_US);
	for (uint32_t i = 1; i <= 1000; i++)
		ck_assert_uint_le(n_sent[i], 3);
	hal_destroy(hal);
}
END_TEST

/* After a reload the next round does not wait for the end of the old interval. */
START_TEST(a_shorter_interval_begins_at_once)
{
	start(10);
	pass(INTERVAL_US + SECOND_US);
	expect_sent(10, 1);
	port_round_by(&ports_round, hal_steady_us(hal) + 30 * SECOND_US); /* it is sooner already */
	ck_assert_uint_le(ports_round.next_us, hal_steady_us(hal) + INTERVAL_US);
	port_round_by(&ports_round, hal_steady_us(hal) + 2 * SECOND_US);
	ck_assert_int_eq(hal_alarm(hal, ports_round.next_us), 0);
	pass(3 * SECOND_US);
	expect_sent(10, 2);
	hal_destroy(hal);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("port_round");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 60);
	tcase_add_test(all, many_ports_are_spread_over_the_interval);
	tcase_add_test(all, few_ports_are_sent_together);
	tcase_add_test(all, a_clock_that_is_set_stops_nothing);
	tcase_add_test(all, what_was_missed_is_not_made_up_for);
	tcase_add_test(all, a_shorter_interval_begins_at_once);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
