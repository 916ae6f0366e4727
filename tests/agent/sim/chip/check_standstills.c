/*
 * Standstills of known length on a GalNet chip, from its registers through driver and HAL to what sampling
 * counts: while the CPU is late, so many frames pass; what a port sampled and what stood still add up to its
 * frames exactly. And a sample that the chip lost has a number, and is a drop.
 */
#include "tests/agent/sim/chip/standstill_switch.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

enum { PORTS = STANDSTILL_PORTS };

static struct standstill_switch *sw;
static struct clock test_clock;
static uint64_t periods[PORTS]; /* frames that the samples stand for */

static int
take(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)snapshot;
	periods[sample->if_index - STANDSTILL_FIRST_IF] += sample->skip + 1;
	return 0;
}

static void
set_up(uint32_t mean)
{
	static const struct sampling_sink sink = {NULL, take};

	test_clock = (struct clock){.manual = true, .manual_wall_us = 1000000};
	memset(periods, 0, sizeof(periods));
	sw = standstill_switch_create(mean, &sink, &test_clock);
}

/* Every frame is a sample, two are loaded: of each burst the others pass. All ports at once, so that samples
 * of others lie between the two of a port. */
START_TEST(known_standstills_are_counted_exactly)
{
	enum { STANDSTILLS = 10, BURST = 1000 };

	set_up(1);
	for (unsigned i = 1; i <= STANDSTILLS; i++) {
		for (unsigned n = 0; n < BURST; n++)
			for (unsigned port = 0; port < PORTS; port++)
				standstill_switch_pass(port, 1);
		standstill_switch_cpu_works();
		for (unsigned port = 0; port < PORTS; port++) {
			struct ease_snapshot s = standstill_switch_snapshot(port);

			ck_assert_uint_eq(s.samples, 2 * i);
			ck_assert_uint_eq(s.stalls, i);
			ck_assert_uint_eq(s.stalled_pkts, i * (BURST - 2));
		}
	}
	standstill_switch_destroy();
}
END_TEST

/* With skips at random, at times in time and at times late: periods and standstills make up the pool. */
START_TEST(periods_and_standstills_make_up_the_pool)
{
	struct ease_snapshot s;

	set_up(20);
	for (unsigned round = 0; round < 3000; round++) {
		standstill_switch_pass(3, round % 7 == 0 ? 100 : 3);
		standstill_switch_cpu_works();
	}
	standstill_switch_pass(3, 1000); /* the last standstill: no frame comes behind it */
	standstill_switch_cpu_works();
	s = standstill_switch_snapshot(3);
	ck_assert_uint_gt(s.stalls, 100);
	ck_assert_uint_gt(s.samples, 500);
	ck_assert_uint_eq(periods[3] + s.stalled_pkts, sw->frames[3]);
	ck_assert_uint_eq(s.pool_in_pkts, sw->frames[3]);
	standstill_switch_destroy();
}
END_TEST

/* The chip finds no buffer for one sample: the next one shows by its number that it was there. */
START_TEST(a_lost_sample_has_a_number)
{
	struct ease_snapshot s;

	set_up(1);
	for (int i = 0; i < 2; i++)
		rig_put(&sw->rig, GALNET_BUFFER_BASE, 0);
	for (unsigned i = 0; i < 17; i++) {
		standstill_switch_pass(1, 1);
		standstill_switch_cpu_works();
	}
	standstill_switch_pass(1, 1);
	standstill_switch_cpu_works();
	s = standstill_switch_snapshot(1);
	ck_assert_uint_gt(stat_get(galnet_stats(sw->chip), GALNET_STAT_SAMPLES_LOST), 0);
	ck_assert_uint_eq(s.samples, sw->frames[1]);
	ck_assert_uint_eq(s.drops, stat_get(galnet_stats(sw->chip), GALNET_STAT_SAMPLES_LOST));
	ck_assert_uint_eq(s.last_sequence, s.samples);
	ck_assert_uint_eq(s.stalls, 0);
	standstill_switch_destroy();
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {known_standstills_are_counted_exactly,
	    periods_and_standstills_make_up_the_pool, a_lost_sample_has_a_number};
	Suite *suite = suite_create("standstills");
	TCase *all = tcase_create("all");

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
