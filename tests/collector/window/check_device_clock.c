/*
 * Clocks of agents: what their records are stamped with, on a stepped clock. A device has the true time plus an
 * error of its own, its records take a while, and the truth is what it should have said.
 */
#include "collector/window/device_clock.h"
#include "tests/suite.h"

#include <stdlib.h>

#define S	 1000000ull
#define MINUTE	 (60 * S)
#define HOUR	 (60 * MINUTE)
#define DAY	 (24 * HOUR)
#define YEAR	 (365 * DAY)
#define NOON	 1700000000000000ull
#define T	 (2 * S)
#define USUAL_US 20000 /* from device to collector */

struct world {
	struct device_clock clock;
	struct device_clock_arrival at;
	uint64_t true_us;
	int64_t error_us; /* the device's clock less the true one */
	int64_t ours_us;  /* our clock less the true one, and what it would be had it not been set */
	int64_t before_us;
};

static struct world
world_of(int64_t error_us)
{
	return (struct world){.true_us = NOON, .error_us = error_us, .at.tolerance_us = T};
}

/* A notification of that device time comes, after so long. Returns its stamp less the true time of sending. */
static int64_t
send_time(struct world *w, uint64_t device_us, uint64_t takes_us)
{
	uint64_t arrives_us = w->true_us + takes_us;

	w->at.received_us = arrives_us + (uint64_t)w->ours_us;
	w->at.mono_us = arrives_us - NOON + HOUR;
	w->at.as_before_us = w->ours_us != w->before_us ? arrives_us + (uint64_t)w->before_us : 0;
	return (int64_t)(device_us + (uint64_t)device_clock_judge(&w->clock, &w->at, device_us) - w->true_us);
}

static int64_t
step(struct world *w, uint64_t step_us)
{
	w->true_us += step_us;
	return send_time(w, w->true_us + (uint64_t)w->error_us, USUAL_US);
}

START_TEST(a_clock_within_the_tolerance_is_believed)
{
	static const int64_t errors_us[] = {0, 5000, -5000, 1900000, -1900000};

	for (size_t e = 0; e < sizeof(errors_us) / sizeof(errors_us[0]); e++) {
		struct world w = world_of(errors_us[e]);

		for (int i = 0; i < 1000; i++)
			ck_assert_int_eq(step(&w, S / 3), errors_us[e]);
	}
}
END_TEST

/* Of any year: stamped by reception, and what lies between records is what the device says. */
START_TEST(a_clock_that_was_always_wrong)
{
	static const int64_t errors_us[] = {-53 * (int64_t)YEAR, 200 * (int64_t)YEAR, -3 * (int64_t)S,
	    3 * (int64_t)S, 90 * (int64_t)S, -(int64_t)DAY, (int64_t)HOUR};

	for (size_t e = 0; e < sizeof(errors_us) / sizeof(errors_us[0]); e++) {
		struct world w = world_of(errors_us[e]);

		for (int i = 0; i < 1000; i++)
			ck_assert_int_eq(step(&w, S / 3), USUAL_US);
		ck_assert_int_eq(w.clock.offset_us, USUAL_US - errors_us[e]);
	}
}
END_TEST

/* To and fro by any step: no record is ever far from its place, and soon none is off. */
START_TEST(a_clock_that_is_set)
{
	static const int64_t steps_us[] = {-5 * (int64_t)S, 5 * (int64_t)S, -30 * (int64_t)S, -(int64_t)HOUR,
	    23 * (int64_t)HOUR, 200 * (int64_t)YEAR, -200 * (int64_t)YEAR, 3 * (int64_t)S};
	struct world w = world_of(0);

	for (size_t s = 0; s < sizeof(steps_us) / sizeof(steps_us[0]); s++) {
		for (int i = 0; i < 60; i++)
			step(&w, S / 2);
		w.error_us += steps_us[s];
		for (int i = 0; i < 400; i++) {
			int64_t off_us = step(&w, S / 2);

			ck_assert_int_le(llabs(off_us), (int64_t)(2 * T + S));
			if (i > 120)
				ck_assert_int_le(llabs(off_us), (int64_t)(T + USUAL_US));
		}
	}
	/* and right again: nothing is added */
	w.error_us = 0;
	for (int i = 0; i < 200; i++)
		step(&w, S);
	ck_assert_int_eq(step(&w, S), 0);
	ck_assert_int_eq(w.clock.offset_us, 0);
}
END_TEST

START_TEST(a_forged_time_changes_no_other)
{
	static const int64_t errors_us[] = {0, -53 * (int64_t)YEAR};

	for (size_t e = 0; e < 2; e++) {
		struct world w = world_of(errors_us[e]);
		int64_t usual_us = e == 0 ? 0 : USUAL_US;

		for (uint64_t i = 0; i < 5000; i++) {
			ck_assert_int_eq(step(&w, S / 10), usual_us);
			if (i % 3 == 0) /* of any time from 1970 to 2255 */
				ck_assert_int_eq(send_time(&w, 1 + i * 1800000000000, USUAL_US), USUAL_US);
		}
	}
}
END_TEST

/* 100 millionths, for a week, through the tolerance and on. */
START_TEST(a_clock_that_drifts)
{
	struct world w = world_of(0);
	int64_t before_us = 0, offset_us = 0;
	unsigned sets = 0;

	for (uint64_t i = 0; i < 7 * DAY / (20 * S); i++) {
		int64_t off_us;

		w.error_us = -(int64_t)(i * 20 * S / 10000);
		off_us = step(&w, 20 * S);
		ck_assert_int_le(llabs(off_us), (int64_t)T + 50000);
		if (w.clock.offset_us == offset_us) {
			ck_assert_int_le(llabs(off_us - before_us), 2000); /* the device's own spacing */
		} else {
			sets++;
			ck_assert(offset_us == 0 || llabs(w.clock.offset_us - offset_us) < (int64_t)S);
		}
		offset_us = w.clock.offset_us;
		before_us = off_us;
	}
	/* 60 s in steps of half a second */
	ck_assert_uint_ge(sets, 100);
	ck_assert_uint_le(sets, 130);
}
END_TEST

/* snmpd was away, and the agent kept all that it had to say: each record keeps its place. */
START_TEST(late_records_keep_their_place)
{
	static const uint64_t away_us[] = {5 * S, 4 * MINUTE, 20 * HOUR};

	for (size_t a = 0; a < sizeof(away_us) / sizeof(away_us[0]); a++) {
		struct world w = world_of(0);
		uint64_t every_us = away_us[a] / 1000, back_us;

		for (int i = 0; i < 100; i++)
			step(&w, S);
		back_us = w.true_us + away_us[a];
		for (int i = 0; i < 1000; i++) {
			w.true_us += every_us;
			ck_assert_int_eq(send_time(&w, w.true_us, back_us - w.true_us + (uint64_t)i * 100), 0);
		}
		for (int i = 0; i < 100; i++)
			ck_assert_int_eq(step(&w, S), 0);
		/* one that is not in order is stamped by reception */
		ck_assert_int_eq(send_time(&w, w.true_us - HOUR, 0), 0);
	}
}
END_TEST

/* Away for an hour, its clock is set back by ten minutes: that looks late for a minute, and no longer. */
START_TEST(a_clock_that_is_set_back_in_silence)
{
	struct world w = world_of(0);

	step(&w, S);
	w.true_us += HOUR;
	w.error_us = -10 * (int64_t)MINUTE;
	for (int i = 0; i < 59; i++)
		ck_assert_int_eq(step(&w, S), w.error_us);
	for (int i = 0; i < 3; i++)
		step(&w, S);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(step(&w, S), USUAL_US);
}
END_TEST

/* Our own clock is set, rightly or not: who goes on as before is believed, and who agrees with it, too. */
START_TEST(our_own_clock_is_set)
{
	struct world right = world_of(0), wrong = world_of(-(int64_t)HOUR);

	for (int i = 0; i < 100; i++) {
		step(&right, S);
		step(&wrong, S);
	}
	right.ours_us = (int64_t)DAY;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(step(&right, S), 0);
	right.ours_us = 0;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(step(&right, S), 0);
	/* ours was an hour ahead until NTP set it */
	wrong = world_of(0);
	wrong.ours_us = wrong.before_us = (int64_t)HOUR;
	for (int i = 0; i < 100; i++)
		step(&wrong, S);
	ck_assert_int_eq(wrong.clock.offset_us, (int64_t)HOUR + USUAL_US);
	wrong.ours_us = 0;
	for (int i = 0; i < 100; i++)
		ck_assert_int_le(llabs(step(&wrong, S)), USUAL_US);
	ck_assert_int_eq(wrong.clock.offset_us, 0);
}
END_TEST

/* Whatever comes, in any order: nothing is stamped far from its reception, while the agent is heard. */
START_TEST(nothing_is_stamped_far_from_its_reception)
{
	struct world w = world_of(0);
	uint64_t newest_us;

	srand(16);
	for (int i = 0; i < 100000; i++) {
		uint64_t scale = 1ull << (rand() % 53), stamp_us;
		uint64_t device_us = rand() % 2 ? w.true_us + (uint64_t)rand() % scale
					       : w.true_us - (uint64_t)rand() % (scale < w.true_us ? scale : 1);

		w.true_us += (uint64_t)rand() % (2 * S);
		newest_us = w.clock.newest_us;
		stamp_us = w.true_us + (uint64_t)send_time(&w, device_us, 0);
		ck_assert_uint_le(stamp_us, w.true_us + 2 * T);
		ck_assert_uint_ge(stamp_us + 2 * T, newest_us < w.true_us ? newest_us : w.true_us);
	}
}
END_TEST

START_TEST(every_clock_is_believed_without_tolerance)
{
	struct world w = world_of(-20 * (int64_t)YEAR);

	w.at.tolerance_us = 0;
	ck_assert_int_eq(step(&w, S), w.error_us);
	w.error_us = (int64_t)DAY;
	ck_assert_int_eq(step(&w, S), w.error_us);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("device_clock");
	TCase *tc = tcase_create("device_clock");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_clock_within_the_tolerance_is_believed);
	tcase_add_test(tc, a_clock_that_was_always_wrong);
	tcase_add_test(tc, a_clock_that_is_set);
	tcase_add_test(tc, a_forged_time_changes_no_other);
	tcase_add_test(tc, a_clock_that_drifts);
	tcase_add_test(tc, late_records_keep_their_place);
	tcase_add_test(tc, a_clock_that_is_set_back_in_silence);
	tcase_add_test(tc, our_own_clock_is_set);
	tcase_add_test(tc, nothing_is_stamped_far_from_its_reception);
	tcase_add_test(tc, every_clock_is_believed_without_tolerance);
	return suite_run(suite);
}
