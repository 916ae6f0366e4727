/*
 * What is cut of a port's totals, against sums done by hand: beside counters, before them, while the skip
 * counter stands empty, and never more than was counted.
 */
#include "collector/window/cut_totals.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTE_US = 60000000 };
#define START_US (1000ull * MINUTE_US)

static struct ease_snapshot
counters(uint64_t time_us, uint64_t stalled_pkts)
{
	return (struct ease_snapshot){.time_us = time_us, .stalled_pkts = stalled_pkts};
}

static struct cut_totals
begun(void)
{
	struct cut_totals c;
	struct ease_snapshot s = counters(START_US, 0);

	cut_totals_begin(&c, 1, &s);
	return c;
}

/* So many frames of 100 octets received, and twice as many of 50 sent, in each of n minutes. */
static void
count(struct cut_totals *c, uint64_t from_us, size_t n, uint64_t pkts, struct cut_part *cuts)
{
	struct port_totals_part parts[PORT_TOTALS_MINUTES] = {0};

	for (size_t i = 0; i < n; i++) {
		parts[i].from_us = from_us + i * MINUTE_US;
		parts[i].until_us = parts[i].from_us + MINUTE_US;
		parts[i].values[PORT_TOTALS_IN_PKTS] = pkts;
		parts[i].values[PORT_TOTALS_IN_OCTETS] = 100 * pkts;
		parts[i].values[PORT_TOTALS_OUT_PKTS] = 2 * pkts;
		parts[i].values[PORT_TOTALS_OUT_OCTETS] = 100 * pkts;
	}
	cut_totals_count(c, from_us, from_us + n * MINUTE_US, from_us + 1, parts, n, cuts);
}

/* Counters went on while samples were lost, at a busy time first: the share is of all that they counted. */
START_TEST(a_gap_over_several_counters)
{
	static const uint64_t pkts[] = {9000, 2000, 1000};
	const struct sample_gaps_cut gap = {.direction = EASE_IN, .from_us = START_US + MINUTE_US + 1,
	    .to_us = START_US + 4 * MINUTE_US, .share = 0.5, .is_share = true};
	struct cut_totals c = begun();
	struct cut_part before, cuts[1];

	count(&c, START_US, 1, 500, cuts);
	for (size_t i = 0; i < 3; i++) {
		struct port_totals_part part = {START_US + (i + 1) * MINUTE_US, START_US + (i + 2) * MINUTE_US,
		    {pkts[i], 100 * pkts[i], 0, 0}, {0}};

		cut_totals_count(&c, part.from_us, part.until_us, gap.from_us, &part, 1, cuts);
	}
	ck_assert(cut_totals_add(&c, &gap, &before));
	ck_assert_int_eq(before.pkts[0], 6000);
	ck_assert_int_eq(before.pkts[1], 0);
}
END_TEST

START_TEST(what_follows_the_counters_waits_for_the_next)
{
	struct cut_totals c = begun();
	struct cut_part before, cuts[3];
	const struct sample_gaps_cut gap = {.direction = EASE_IN, .from_us = START_US + 1,
	    .to_us = START_US + 2 * MINUTE_US, .pkts = 301};

	ck_assert(!cut_totals_add(&c, &gap, &before));
	count(&c, START_US, 3, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0] + cuts[1].pkts[0] + cuts[2].pkts[0], 301);
	ck_assert_int_eq(cuts[0].octets[0], 100 * cuts[0].pkts[0]);
	ck_assert_int_eq(cuts[0].pkts[0], 100);
	ck_assert_int_eq(cuts[0].pkts[1], 0);
	/* and only once */
	count(&c, START_US + 3 * MINUTE_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0], 0);
}
END_TEST

/* A third of the gap lies before the newest counters: it is added at the length of frames counted last. */
START_TEST(what_lies_before_the_counters_comes_at_once)
{
	struct cut_totals c = begun();
	struct cut_part before, cuts[1];
	struct sample_gaps_cut gap = {.direction = EASE_OUT, .from_us = START_US + MINUTE_US / 2,
	    .to_us = START_US + 2 * MINUTE_US, .pkts = 600};

	count(&c, START_US, 1, 1000, cuts);
	ck_assert(cut_totals_add(&c, &gap, &before));
	ck_assert_int_eq(before.pkts[1], 200);
	ck_assert_int_eq(before.octets[1], 200 * 50);
	ck_assert_int_eq(before.pkts[0], 0);
	ck_assert_uint_eq(before.from_us, gap.from_us);
	ck_assert_uint_eq(before.until_us, START_US + MINUTE_US);
	count(&c, START_US + MINUTE_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[1], 400);
	/* one of the samples arrives after all: a third is given back */
	gap.pkts = -200;
	ck_assert(cut_totals_add(&c, &gap, &before));
	ck_assert_int_eq(before.pkts[1], -200);
	ck_assert_int_eq(before.octets[1], -200 * 50);
	ck_assert_uint_eq(before.until_us, gap.to_us);
}
END_TEST

START_TEST(a_share_is_of_what_is_counted)
{
	struct cut_totals c = begun();
	struct cut_part before, cuts[2];
	const struct sample_gaps_cut gap = {.direction = EASE_IN, .from_us = START_US,
	    .to_us = START_US + MINUTE_US, .share = 0.8, .is_share = true};

	ck_assert(!cut_totals_add(&c, &gap, &before));
	count(&c, START_US, 2, 1000, cuts); /* twice as long */
	ck_assert_int_eq(cuts[0].pkts[0] + cuts[1].pkts[0], 800);
}
END_TEST

START_TEST(no_more_is_cut_than_counted)
{
	struct cut_totals c = begun();
	struct cut_part before, cuts[1];
	const struct sample_gaps_cut gap = {.direction = EASE_IN, .from_us = START_US + 1,
	    .to_us = START_US + 2, .pkts = 1500};

	cut_totals_add(&c, &gap, &before);
	count(&c, START_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0], 1000);
	ck_assert_int_eq(cuts[0].octets[0], 100000);
	count(&c, START_US + MINUTE_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0], 500);
}
END_TEST

/* One skip counter for both directions: what passed while it was empty is divided as the frames are. */
START_TEST(frames_of_an_empty_skip_counter_are_cut)
{
	struct cut_totals c = begun();
	struct cut_part cuts[1];
	struct ease_snapshot s = counters(START_US + MINUTE_US, 0);

	cut_totals_add_stalled(&c, 1, &s);
	count(&c, START_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0], 0);
	s.stalled_pkts = 300;
	cut_totals_add_stalled(&c, 1, &s);
	count(&c, START_US + MINUTE_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0], 100);
	ck_assert_int_eq(cuts[0].pkts[1], 200);
	/* a new boot counts them anew */
	s.stalled_pkts = 310;
	cut_totals_add_stalled(&c, 2, &s);
	count(&c, START_US + 2 * MINUTE_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0], 0);
}
END_TEST

/* What no interval's counters say of directions waits for one that does: a port that hardly receives loses little. */
START_TEST(stalls_are_of_the_direction_that_passed_them)
{
	struct cut_totals c = begun();
	struct cut_part cuts[1];
	int64_t cut[2] = {0};
	struct ease_snapshot s;

	for (uint64_t i = 1; i <= 200; i++) {
		struct port_totals_part part = {START_US + (i - 1) * 1000, START_US + i * 1000, {0}, {0}};

		if (i % 2 == 0) {
			part.values[PORT_TOTALS_IN_PKTS] = 2, part.values[PORT_TOTALS_IN_OCTETS] = 200;
			part.values[PORT_TOTALS_OUT_PKTS] = 98, part.values[PORT_TOTALS_OUT_OCTETS] = 98000;
		}
		s = counters(START_US + i * 1000, 25 * i);
		cut_totals_add_stalled(&c, 1, &s);
		cut_totals_count(&c, part.from_us, part.until_us, part.from_us + 1, &part, 1, cuts);
		for (int d = 0; d < 2; d++)
			cut[d] += cuts[0].pkts[d];
	}
	ck_assert_int_le(llabs(cut[0] - 100), 1);
	ck_assert_int_le(llabs(cut[1] - 4900), 1);
}
END_TEST

/* A third of the frames passed while the skip counter was empty, and half of the time is a gap: two thirds are cut. */
START_TEST(what_stalled_in_a_gap_is_cut_once)
{
	const struct sample_gaps_cut gap = {.direction = EASE_OUT, .from_us = START_US + 1,
	    .to_us = START_US + MINUTE_US, .pkts = 1500};
	struct ease_snapshot s = counters(START_US + MINUTE_US, 1000);
	struct cut_totals c = begun();
	struct cut_part before, cuts[1];
	struct port_totals_part part = {START_US, START_US + MINUTE_US, {0, 0, 3000, 300000}, {0}};

	if (_i == 0) /* the gap is known when its counters come */
		ck_assert(!cut_totals_add(&c, &gap, &before));
	cut_totals_add_stalled(&c, 1, &s);
	cut_totals_count(&c, START_US, START_US + MINUTE_US, START_US + 1, &part, 1, cuts);
	if (_i == 1) /* or only afterwards */
		ck_assert(cut_totals_add(&c, &gap, &before));
	ck_assert_int_eq(cuts[0].pkts[1] + (_i == 1 ? before.pkts[1] : 0), 2000);
}
END_TEST

START_TEST(counters_that_begin_anew_forget_what_waits)
{
	struct cut_totals c = begun();
	struct cut_part before, cuts[1];
	struct ease_snapshot s = counters(START_US + MINUTE_US, 0);
	const struct sample_gaps_cut gap = {.direction = EASE_IN, .from_us = START_US + 1,
	    .to_us = START_US + 2, .pkts = 500};

	cut_totals_add(&c, &gap, &before);
	cut_totals_begin(&c, 1, &s);
	count(&c, START_US + MINUTE_US, 1, 1000, cuts);
	ck_assert_int_eq(cuts[0].pkts[0], 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("cut_totals");
	TCase *c = tcase_create("cuts");

	suite_add_tcase(suite, c);
	tcase_add_test(c, a_gap_over_several_counters);
	tcase_add_test(c, what_follows_the_counters_waits_for_the_next);
	tcase_add_test(c, what_lies_before_the_counters_comes_at_once);
	tcase_add_test(c, a_share_is_of_what_is_counted);
	tcase_add_test(c, no_more_is_cut_than_counted);
	tcase_add_test(c, frames_of_an_empty_skip_counter_are_cut);
	tcase_add_test(c, counters_that_begin_anew_forget_what_waits);
	tcase_add_test(c, stalls_are_of_the_direction_that_passed_them);
	tcase_add_loop_test(c, what_stalled_in_a_gap_is_cut_once, 0, 2);
	return suite_run(suite);
}
