/*
 * Compares what gaps cut with a sampler whose every frame is known: a number owns the frames from the
 * sample before it to its own, and what is lost is what the missing numbers own.
 */
#include "collector/window/sample_gaps.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	N = 200000, /* numbers of a run */
	MEAN_SKIP = 100,
	FRAME_US = 10,
	SEEDS = 5,
};

static uint64_t random_state;

static double
uniform(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

/* A port's samples, and which of them arrive. */
struct run {
	struct ease_sample samples[N + 1]; /* [number] */
	uint64_t frames[N + 1];		   /* frames that this number owns, of its direction */
	bool lost[N + 1];
	double cut_frames[3], cut_octets, cut_numbers;
	double shares_us[3];
	uint64_t latest_us;
};
static struct run run;

static void
take_cut(void *arg, const struct sample_gaps_cut *cut)
{
	(void)arg;
	ck_assert_uint_le(cut->from_us, cut->to_us);
	ck_assert_uint_le(cut->to_us, run.latest_us);
	run.cut_numbers += (double)cut->numbers;
	if (cut->is_share)
		run.shares_us[cut->direction] += cut->share * (double)(cut->to_us - cut->from_us);
	else
		run.cut_frames[cut->direction] += (double)cut->pkts;
}

/* out: of so many samples one is of a sent frame. */
static void
draw(uint64_t seed, double out)
{
	uint64_t pool[3] = {0, 5000, 90000}, time_us = 1000000, since[3] = {0};

	memset(&run, 0, sizeof(run));
	random_state = seed;
	for (uint32_t number = 1; number <= N; number++) {
		uint32_t skip = 1 + (uint32_t)(uniform() * (2 * MEAN_SKIP - 1));
		uint8_t direction = EASE_IN;

		for (uint32_t frame = 0; frame < skip; frame++) {
			direction = uniform() < out ? EASE_OUT : EASE_IN;
			pool[direction]++;
			since[direction]++;
		}
		time_us += skip * FRAME_US;
		run.samples[number] = (struct ease_sample){.time_us = time_us, .sequence = number,
		    .direction = direction, .mean_skip = MEAN_SKIP, .pool_pkts = pool[direction]};
		run.frames[number] = skip;
	}
	run.latest_us = time_us;
}

static void
add(struct sample_gaps *g, uint32_t number, uint64_t notification)
{
	sample_gaps_add_sample(
	    g, 1, number, 1, false, notification, &run.samples[number], take_cut, NULL);
}

/* Gives all samples that arrive, each notification with `together` of them. Returns the frames that
 * belong to missing numbers in gaps longer than that, and how many these numbers are. */
static double
give_all(struct sample_gaps *g, unsigned together, double *numbers)
{
	double owned = 0;
	uint32_t missing = 0;

	*numbers = 0;
	for (uint32_t number = 1; number <= N; number++) {
		if (run.lost[number]) {
			missing++;
			continue;
		}
		add(g, number, 1 + (number - 1) / together);
		if (missing > g->together) {
			*numbers += missing;
			for (uint32_t m = number - missing; m < number; m++)
				owned += (double)run.frames[m];
		}
		missing = 0;
	}
	return owned;
}

static const struct loss {
	double rate;	 /* of notifications that begin a run of lost ones */
	unsigned length; /* of the run, in notifications */
	unsigned together;
} losses[] = {
	{0.05, 1, 1}, {0.3, 1, 1}, {0.002, 5, 1}, {0.001, 20, 1}, {0.0002, 100, 1},
	{0.05, 1, 4}, {0.3, 1, 7}, {0.01, 5, 7}, {0.00005, 20000, 1},
};

START_TEST(cuts_what_the_missing_numbers_own)
{
	const struct loss *loss = &losses[_i];
	double owned = 0, cut = 0, n, n_all = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sample_gaps g = {0};

		draw(seed, 0);
		for (uint32_t number = 1; number <= N; number += loss->together)
			if (number > 1 && uniform() < loss->rate)
				for (uint32_t i = 0; i < loss->length * loss->together && number + i <= N; i++)
					run.lost[number + i] = true;
		owned += give_all(&g, loss->together, &n);
		n_all += n;
		ck_assert_double_eq(run.cut_numbers, n);
		cut += run.cut_frames[EASE_IN];
		ck_assert_double_eq(run.cut_frames[EASE_OUT], 0);
	}
	if (n_all == 0) {
		ck_assert_double_eq(cut, 0);
		return;
	}
	/* skips are uniform: standard deviation of a skip .58 of the mean, of k of k + 1 of them less */
	ck_assert_msg(fabs(cut - owned) < 4 * 0.6 * MEAN_SKIP * sqrt(n_all),
	    "%g frames cut, the missing numbers have %g", cut, owned);
}
END_TEST

START_TEST(one_lost_notification_is_bridged_whatever_its_samples)
{
	struct sample_gaps g = {0};
	double n;

	draw(1, 0);
	for (uint32_t number = 1 + 7 * 100; number <= N; number += 7 * 3)
		memset(&run.lost[number], true, number + 7 <= N + 1 ? 7 : N + 1 - number);
	give_all(&g, 7, &n);
	ck_assert_double_eq(run.cut_numbers, 0);
	ck_assert_double_eq(run.cut_frames[EASE_IN], 0);
}
END_TEST

/* One skip counter for both directions: each direction's cut is what the lost numbers have of it. */
START_TEST(directions_share_the_numbers)
{
	struct sample_gaps g = {0};
	double owned, n, cut;

	draw(3, 0.3);
	for (uint32_t number = 100; number + 50 <= N; number += 200)
		memset(&run.lost[number], true, 50);
	owned = give_all(&g, 1, &n);
	cut = run.cut_frames[EASE_IN] + run.cut_frames[EASE_OUT];
	ck_assert_double_eq(run.cut_numbers, n);
	ck_assert_msg(fabs(cut - owned) < 0.02 * owned, "%g frames cut of %g", cut, owned);
	ck_assert_msg(fabs(run.cut_frames[EASE_OUT] - 0.3 * cut) < 0.01 * cut, "%g of %g are sent",
	    run.cut_frames[EASE_OUT], cut);
}
END_TEST

/* What arrives late is given back: in the end as if all had come in order. */
START_TEST(late_samples_are_given_back)
{
	struct sample_gaps g = {0}, in_order = {0};
	double numbers, frames;

	draw(4, 0);
	for (uint32_t number = 1; number <= 100; number++)
		if (number < 20 || number > 60 || number == 30)
			add(&in_order, number, number);
	numbers = run.cut_numbers;
	frames = run.cut_frames[EASE_IN];
	ck_assert_double_eq(numbers, 40);
	run.cut_numbers = run.cut_frames[EASE_IN] = 0;
	for (uint32_t number = 1; number <= 100; number++)
		if (number < 20 || number > 60)
			add(&g, number, number);
	ck_assert_double_eq(run.cut_numbers, 41);
	add(&g, 30, 200);
	ck_assert_double_eq(run.cut_numbers, numbers);
	ck_assert_msg(fabs(run.cut_frames[EASE_IN] - frames) < 3 * MEAN_SKIP, "%g frames, not %g",
	    run.cut_frames[EASE_IN], frames);
	for (uint32_t number = 60; number >= 20; number--)
		if (number != 30)
			add(&g, number, 200 + number);
	ck_assert_double_eq(run.cut_numbers, 0);
	ck_assert_double_eq(run.cut_frames[EASE_IN], 0);
}
END_TEST

static struct ease_snapshot
snapshot(uint64_t time_us, uint64_t pool_in_pkts, uint64_t pool_out_pkts)
{
	return (struct ease_snapshot){.time_us = time_us, .pool_in_pkts = pool_in_pkts,
	    .pool_out_pkts = pool_out_pkts};
}

/* All frames from the last sample of a boot to the first counters of the next one. */
START_TEST(a_new_boot_cuts_all_between)
{
	struct sample_gaps g = {0};
	struct ease_snapshot s;

	draw(5, 0);
	for (uint32_t number = 1; number <= 10; number++)
		add(&g, number, number);
	s = snapshot(run.latest_us, run.samples[10].pool_pkts + 777, 90000);
	sample_gaps_add_snapshot(&g, 2, 1, 0, &s, take_cut, NULL);
	ck_assert_double_eq(run.cut_frames[EASE_IN], 777);
	ck_assert_double_eq(run.cut_frames[EASE_OUT], 0);
	ck_assert_double_eq(run.cut_numbers, 0);
	/* its first sample is number 1: nothing is missing */
	run.samples[11].pool_pkts = s.pool_in_pkts + 100;
	run.samples[11].time_us = run.latest_us;
	sample_gaps_add_sample(&g, 2, 1, 1, false, 11, &run.samples[11], take_cut, NULL);
	ck_assert_double_eq(run.cut_frames[EASE_IN], 777);
	/* what comes late of the old boot changes nothing */
	add(&g, 12, 12);
	ck_assert_double_eq(run.cut_frames[EASE_IN], 777);
	ck_assert_double_eq(run.cut_numbers, 0);
}
END_TEST

START_TEST(counters_that_began_anew_cut_nothing)
{
	struct sample_gaps g = {0};
	struct ease_snapshot s = snapshot(0, 3, 4);

	draw(5, 0);
	s.time_us = run.latest_us;
	for (uint32_t number = 1; number <= 10; number++)
		add(&g, number, number);
	sample_gaps_add_snapshot(&g, 2, 1, 0, &s, take_cut, NULL);
	ck_assert_double_eq(run.cut_frames[EASE_IN], 0);
}
END_TEST

/* The collector was away: the stored counters and the newest number are the point before. */
START_TEST(goes_on_after_a_restart)
{
	struct sample_gaps g = {0};
	struct ease_snapshot s;
	double owned = 0;

	draw(6, 0);
	s = snapshot(run.samples[500].time_us, run.samples[500].pool_pkts, 0);
	sample_gaps_resume(&g, 1, 500, &s);
	add(&g, 501, 1);
	ck_assert_double_eq(run.cut_numbers, 0);
	sample_gaps_resume(&g, 1, 500, &s);
	add(&g, 1000, 1);
	ck_assert_double_eq(run.cut_numbers, 499);
	for (uint32_t number = 501; number < 1000; number++)
		owned += (double)run.frames[number];
	ck_assert_msg(fabs(run.cut_frames[EASE_IN] - owned) < 2 * MEAN_SKIP, "%g frames, not %g",
	    run.cut_frames[EASE_IN], owned);
}
END_TEST

/* A second of traffic in a minute of silence, none of it heard: _i 0: counters tell it, 1: a sample does, 2: it comes late. */
START_TEST(what_counters_name_is_cut_where_they_counted_it)
{
	enum { LAST = 500, NAMED = 1000, SILENT_US = 60000000 };
	struct sample_gaps g = {0};
	double owned = 0;
	uint64_t pools[3] = {0};

	draw(9, 0.3);
	run.latest_us += 2 * SILENT_US;
	for (uint32_t number = 1; number <= NAMED; number++) {
		if (number <= LAST)
			add(&g, number, number);
		else
			owned += (double)run.frames[number];
		if (number > LAST) /* a quarter of a minute */
			run.samples[number].time_us += (number - LAST) * (SILENT_US / 4 / (NAMED - LAST));
		pools[run.samples[number].direction] = run.samples[number].pool_pkts;
	}
	for (unsigned later_us = 0; later_us <= (_i == 0 ? 5000000 : 4000000); later_us += 1000000) {
		const struct ease_snapshot s = snapshot(run.samples[NAMED].time_us + later_us, pools[EASE_IN], pools[EASE_OUT]);

		ck_assert_double_eq(run.cut_numbers, 0); /* it may be on its way */
		sample_gaps_add_snapshot(&g, 1, 1, NAMED, &s, take_cut, NULL);
	}
	if (_i == 2)
		for (uint32_t number = LAST + 1; number <= NAMED; number++)
			add(&g, number, number);
	run.latest_us = run.samples[NAMED].time_us; /* take_cut holds all of it to that */
	if (_i == 1) {
		run.samples[NAMED + 1].time_us += 2 * SILENT_US;
		add(&g, NAMED + 1, NAMED + 1);
	}
	ck_assert_double_eq(run.cut_numbers, _i == 2 ? 0 : NAMED - LAST);
	ck_assert_double_eq_tol(run.cut_frames[EASE_IN] + run.cut_frames[EASE_OUT], _i == 2 ? 0 : owned, 4 * MEAN_SKIP);
}
END_TEST

/* sFlow: pools cannot be compared, so a share of the time is cut. */
START_TEST(a_loose_pool_cuts_a_share)
{
	struct sample_gaps g = {0};
	double time_us;

	draw(7, 0);
	for (uint32_t number = 1; _i && number <= 100; number++)
		run.samples[number].pool_pkts = EASE_COUNT_UNKNOWN; /* the agent made its pools up */
	for (uint32_t number = 1; number <= 100; number++)
		if (number <= 40 || number > 50)
			sample_gaps_add_sample(&g, 1, number, 1, true, number, &run.samples[number],
			    take_cut, NULL);
	time_us = (double)(run.samples[51].time_us - run.samples[40].time_us);
	ck_assert_double_eq(run.cut_numbers, 10);
	ck_assert_double_eq(run.cut_frames[EASE_IN], 0);
	ck_assert_double_eq_tol(run.shares_us[EASE_IN], time_us * 10 / 11, 1e-6 * time_us);
}
END_TEST

/* Samples have their datagram's time: of it as much is cut as numbers are missing, however many came with the next. */
START_TEST(a_datagram_cuts_what_its_numbers_say)
{
	static const struct { double lost; uint32_t in_a_row, samples; } ways[] = {
	    {0.3, 1, 7}, {0.05, 5, 7}, {0.1, 50, 3}, {0.6, 1, 1}};
	struct sample_gaps g = {0};
	double wanted_us;

	draw(7, 0);
	for (uint32_t first = 1, left = 0; first + ways[_i].samples <= N; first += ways[_i].samples) {
		uint32_t end = first + ways[_i].samples;

		if (left > 0 || uniform() < ways[_i].lost) {
			left = left > 0 ? left - 1 : ways[_i].in_a_row - 1;
			continue;
		}
		for (uint32_t number = first; number < end; number++) {
			run.samples[number].time_us = run.samples[end - 1].time_us;
			sample_gaps_add_sample(&g, 1, number, 1, true, first, &run.samples[number], take_cut, NULL);
		}
	}
	wanted_us = run.cut_numbers * MEAN_SKIP * FRAME_US;
	ck_assert_double_gt(wanted_us, 0);
	ck_assert_msg(fabs(run.shares_us[EASE_IN] / wanted_us - 1) < 0.01, "%g us for %g", run.shares_us[EASE_IN], wanted_us);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sample_gaps");
	TCase *c = tcase_create("gaps");

	suite_add_tcase(suite, c);
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, cuts_what_the_missing_numbers_own, 0, sizeof(losses) / sizeof(losses[0]));
	tcase_add_test(c, one_lost_notification_is_bridged_whatever_its_samples);
	tcase_add_test(c, directions_share_the_numbers);
	tcase_add_test(c, late_samples_are_given_back);
	tcase_add_test(c, a_new_boot_cuts_all_between);
	tcase_add_test(c, counters_that_began_anew_cut_nothing);
	tcase_add_test(c, goes_on_after_a_restart);
	tcase_add_loop_test(c, what_counters_name_is_cut_where_they_counted_it, 0, 3);
	tcase_add_loop_test(c, a_loose_pool_cuts_a_share, 0, 2);
	tcase_add_loop_test(c, a_datagram_cuts_what_its_numbers_say, 0, 4);
	return suite_run(suite);
}
