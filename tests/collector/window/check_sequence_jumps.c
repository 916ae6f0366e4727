/*
 * Numbers that jump, without a store: what a tracker counts of them, after one mistake, a long gap,
 * a forged place that is left again, and a machine that counts anew.
 */
#include "collector/window/sequence_jumps.h"
#include "tests/suite.h"

#include <check.h>

enum { GAP = 100000, FIRST = 5000 };

struct rig {
	struct sequence_jumps jumps;
	struct sequence_tracker tracker;
	uint64_t mono_us, drops;
};

static enum sequence_jumps_verdict
give(struct rig *r, uint32_t number)
{
	enum sequence_jumps_verdict verdict =
	    sequence_jumps_sample(&r->jumps, &r->tracker, number, r->drops, r->mono_us += 1000);

	if (verdict != SEQUENCE_JUMPS_HOLD)
		sequence_tracker_sample(&r->tracker, number);
	return verdict;
}

static void
give_range(struct rig *r, uint32_t from, uint32_t to)
{
	for (uint32_t n = from; n != to + 1; n++)
		give(r, n);
}

static void
check_tracker(const struct rig *r, uint64_t expected, uint64_t received)
{
	ck_assert_uint_eq(sequence_tracker_expected(&r->tracker), expected);
	ck_assert_uint_eq(r->tracker.received, received);
}

START_TEST(one_number_is_a_mistake)
{
	struct rig r = {.mono_us = 1};

	give_range(&r, FIRST, FIRST + 99);
	ck_assert_int_eq(give(&r, FIRST + 99u + 0x7fffffff), SEQUENCE_JUMPS_HOLD);
	give_range(&r, FIRST + 100, FIRST + 199);
	ck_assert_int_eq(give(&r, FIRST + 199u + 0x80000000), SEQUENCE_JUMPS_TAKE); /* far behind */
	ck_assert_int_eq(give(&r, FIRST + 199u + 0x7fffffff), SEQUENCE_JUMPS_HOLD);
	give_range(&r, FIRST + 200, FIRST + 299);
	check_tracker(&r, 300, 300);
	ck_assert(!sequence_jumps_given_out(&r.jumps, &r.tracker, FIRST + 50000, r.drops));
	ck_assert(sequence_jumps_given_out(&r.jumps, &r.tracker, FIRST + 299, r.drops));
}
END_TEST

/* A long gap is lost, but for its first number beyond, which could have been a mistake. */
START_TEST(a_long_gap_is_lost)
{
	struct rig r = {.mono_us = 1};

	give_range(&r, FIRST, FIRST + 99);
	ck_assert_int_eq(give(&r, FIRST + GAP), SEQUENCE_JUMPS_HOLD);
	ck_assert_int_eq(give(&r, FIRST + GAP + 1), SEQUENCE_JUMPS_TAKE);
	give_range(&r, FIRST + GAP + 2, FIRST + GAP + 99);
	check_tracker(&r, GAP + 100, 199);
}
END_TEST

/* An agent whose queue was full says how many it dropped: the first number beyond is used, and what is missing
 * further is no longer told. A forged number of drops moves the sequence only until it goes on. */
START_TEST(a_gap_that_the_agent_tells_of_is_lost)
{
	struct rig r = {.mono_us = 1};

	give_range(&r, FIRST, FIRST + 99);
	r.drops = GAP - 100;
	ck_assert_int_eq(give(&r, FIRST + GAP), SEQUENCE_JUMPS_TAKE);
	give_range(&r, FIRST + GAP + 1, FIRST + GAP + 99);
	check_tracker(&r, GAP + 100, 200);
	ck_assert_int_eq(give(&r, FIRST + 2 * GAP), SEQUENCE_JUMPS_HOLD);
	r.drops = UINT32_MAX;
	ck_assert_int_eq(give(&r, FIRST + 3 * GAP), SEQUENCE_JUMPS_TAKE);
	ck_assert_int_eq(give(&r, FIRST + GAP + 100), SEQUENCE_JUMPS_TAKE);
	ck_assert_int_eq(give(&r, FIRST + GAP + 101), SEQUENCE_JUMPS_UNDONE);
	give_range(&r, FIRST + GAP + 102, FIRST + GAP + 150);
	ck_assert_uint_le(sequence_tracker_expected(&r.tracker), GAP + 152);
}
END_TEST

/* Counters confirm a number that is held, and each other. */
START_TEST(counters_confirm)
{
	struct rig r = {.mono_us = 1};

	give_range(&r, FIRST, FIRST + 99);
	ck_assert_int_eq(give(&r, FIRST + GAP), SEQUENCE_JUMPS_HOLD);
	ck_assert(sequence_jumps_given_out(&r.jumps, &r.tracker, FIRST + GAP, r.drops));
	sequence_tracker_given_out(&r.tracker, FIRST + GAP);
	check_tracker(&r, GAP + 1, 100);
	ck_assert(!sequence_jumps_given_out(&r.jumps, &r.tracker, FIRST + 2 * GAP, r.drops));
	ck_assert(sequence_jumps_given_out(&r.jumps, &r.tracker, FIRST + 3 * GAP, r.drops));
}
END_TEST

/* Two forged numbers are believed; when the sequence goes on before them, they are undone, and what
 * is between was never lost. Also where numbers wrap. */
START_TEST(a_false_place_is_left)
{
	const uint32_t first = _i == 0 ? FIRST : 0xffffff80, jump = _i == 0 ? GAP : 0x70000000;
	struct rig r = {.mono_us = 1};

	give_range(&r, first, first + 99);
	give_range(&r, first + jump, first + jump + 1);
	check_tracker(&r, (uint64_t)jump + 2, 101);
	ck_assert_int_eq(give(&r, first + 100), SEQUENCE_JUMPS_TAKE); /* late */
	ck_assert_int_eq(give(&r, first + 101), SEQUENCE_JUMPS_UNDONE);
	give_range(&r, first + 102, first + 199);
	/* expected: to 199, and the forged one that was used; lost: the one that was late */
	check_tracker(&r, 200 + 1, 199 + 1);
}
END_TEST

/* Numbers that were there for long are no false place, and old ones that come late are late. */
START_TEST(a_true_place_stays)
{
	struct rig r = {.mono_us = 1};

	give_range(&r, FIRST, FIRST + 99);
	give_range(&r, FIRST + GAP, FIRST + GAP + 99);
	for (uint32_t i = 0; i < 200; i++) { /* a second path, an hour behind, beside the first */
		ck_assert_int_eq(give(&r, FIRST + 100 + i), SEQUENCE_JUMPS_TAKE);
		ck_assert_int_eq(give(&r, FIRST + 101 + i), SEQUENCE_JUMPS_TAKE);
		ck_assert_int_eq(give(&r, FIRST + GAP + 100 + i), SEQUENCE_JUMPS_TAKE);
		r.mono_us += 1000000;
	}
	check_tracker(&r, GAP + 300, 399);
}
END_TEST

START_TEST(numbers_that_go_on_far_behind_begin_again)
{
	struct rig r = {.mono_us = 1};
	uint32_t i = 0;

	give_range(&r, FIRST + GAP, FIRST + GAP + 99);
	while (give(&r, FIRST + i) == SEQUENCE_JUMPS_TAKE) {
		ck_assert_uint_le(++i, 31);
		r.mono_us += 1000000;
	}
	ck_assert_uint_ge(i, 29);
	ck_assert_int_eq(give(&r, FIRST + i + 1), SEQUENCE_JUMPS_AGAIN);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sequence_jumps");
	TCase *tc = tcase_create("sequence_jumps");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, one_number_is_a_mistake);
	tcase_add_test(tc, a_long_gap_is_lost);
	tcase_add_test(tc, a_gap_that_the_agent_tells_of_is_lost);
	tcase_add_test(tc, counters_confirm);
	tcase_add_loop_test(tc, a_false_place_is_left, 0, 2);
	tcase_add_test(tc, a_true_place_stays);
	tcase_add_test(tc, numbers_that_go_on_far_behind_begin_again);
	return suite_run(suite);
}
