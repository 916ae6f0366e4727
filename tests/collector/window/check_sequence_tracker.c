/*
 * Compares the sequence tracker with a naive set of all numbers ever seen: random loss, reordering,
 * repetition, long gaps, a wrap of the 32 bits, snapshots in between, and saving and loading at any
 * time.
 */
#include "collector/window/sequence_tracker.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEEDS = 300,
	STEPS = 4000,
	SPAN = 1 << 16, /* numbers a run may use */
};

/* What a tracker should report, computed in the simplest way. Numbers are offsets from base. */
struct model {
	uint64_t base; /* the real number, in 64 bits, of offset 0 */
	bool seen[SPAN];
	uint64_t first, contact, highest, received, duplicates, reordered, late;
};

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static enum sequence_tracker_verdict
model_sample(struct model *m, uint64_t offset)
{
	if (offset > m->highest) {
		m->highest = offset;
	} else if (m->highest - offset >= SEQUENCE_TRACKER_NUMBERS) {
		m->late++;
		return SEQUENCE_TRACKER_LATE;
	} else if (m->seen[offset]) {
		m->duplicates++;
		return SEQUENCE_TRACKER_DUPLICATE;
	} else {
		m->reordered++;
	}
	m->seen[offset] = true;
	m->received++;
	if (offset < m->first)
		m->first = offset;
	return SEQUENCE_TRACKER_USE;
}

static void
compare(const struct sequence_tracker *t, const struct model *m)
{
	const uint64_t is[] = {sequence_tracker_expected(t),
	    sequence_tracker_expected_since_contact(t), t->received, t->duplicates, t->reordered,
	    t->late};
	const uint64_t should_be[] = {
	    m->highest - m->first + 1, m->highest - m->contact + 1, m->received, m->duplicates,
	    m->reordered, m->late};

	/* One assertion for all values: check logs each one, and this is called a million times. */
	if (memcmp(is, should_be, sizeof(is)) != 0)
		ck_assert_mem_eq(is, should_be, sizeof(is));
}

/* Draws a number, mostly near the highest one, sometimes far behind or far ahead of it. */
static uint64_t
choose_offset(const struct model *m, uint64_t *random)
{
	uint64_t kind = next_random(random) % 100, offset = m->highest;

	if (kind < 60)
		offset += 1;
	else if (kind < 75)
		offset += 1 + next_random(random) % 20;
	else if (kind < 97)
		offset -= next_random(random) % 60;
	else if (kind < 99)
		offset -= next_random(random) % (2 * SEQUENCE_TRACKER_NUMBERS);
	else
		offset += next_random(random) % (SEQUENCE_TRACKER_NUMBERS + 100);
	return offset > m->highest && offset >= SPAN ? m->highest : offset % SPAN;
}

static void
save_and_load(struct sequence_tracker *t)
{
	uint8_t octets[SEQUENCE_TRACKER_SAVED_OCTETS];
	struct sequence_tracker copy = *t;

	sequence_tracker_save(t, octets);
	memset(copy.bits, 0xa5, sizeof(copy.bits));
	copy.first = copy.contact = copy.highest = 0;
	copy.started = false;
	ck_assert_int_eq(sequence_tracker_load(&copy, octets, sizeof(octets)), 0);
	*t = copy;
	memset(copy.bits, 0xa5, sizeof(copy.bits));
	ck_assert_int_eq(sequence_tracker_load_trimmed(&copy, octets, sequence_tracker_trimmed(octets)), 0);
	ck_assert_mem_eq(copy.bits, t->bits, sizeof(copy.bits));
}

static void
run_one(struct model *m, uint64_t seed, uint64_t base)
{
	struct sequence_tracker t = {0};
	uint64_t random = seed;
	uint64_t start = 2 * SEQUENCE_TRACKER_NUMBERS;

	memset(m, 0, sizeof(*m));
	m->base = base;
	m->first = m->contact = start;
	m->highest = start - 1;
	sequence_tracker_start(&t, false, (uint32_t)(base + start));
	for (int i = 0; i < STEPS; i++) {
		uint64_t offset = choose_offset(m, &random);
		uint32_t number = (uint32_t)(base + offset);

		if (next_random(&random) % 50 == 0) {
			sequence_tracker_given_out(&t, number);
			if (offset > m->highest)
				m->highest = offset;
		} else {
			enum sequence_tracker_verdict verdict = sequence_tracker_sample(&t, number);

			if (verdict != model_sample(m, offset))
				ck_abort_msg("seed %llu, step %d: verdict %d",
				    (unsigned long long)seed, i, (int)verdict);
		}
		if (next_random(&random) % 200 == 0)
			save_and_load(&t);
		compare(&t, m);
	}
}

START_TEST(equals_a_naive_set)
{
	struct model *m = malloc(sizeof(*m));

	for (uint64_t seed = 1, n = (uint64_t)suite_effort(SEEDS); seed <= n; seed++)
		run_one(m, seed, seed % 3 ? 1000000 * seed : UINT32_MAX - 9000 - seed * 10);
	free(m);
}
END_TEST

START_TEST(every_order_of_five_with_one_repeated)
{
	/* 5 numbers in every order, each of the five repeated at the end: all used once */
	for (int code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
		struct sequence_tracker t = {0};
		unsigned seen = 0;

		for (int i = 0, rest = code; i < 5; i++, rest /= 5) {
			uint32_t number = 1 + (uint32_t)(rest % 5);
			bool again = seen >> number & 1;

			ck_assert_int_eq(sequence_tracker_sample(&t, number),
			    again ? SEQUENCE_TRACKER_DUPLICATE : SEQUENCE_TRACKER_USE);
			seen |= 1u << number;
		}
		ck_assert_uint_eq(t.received, (unsigned)__builtin_popcount(seen));
		ck_assert_uint_eq(t.received + t.duplicates, 5);
		ck_assert_uint_eq(
		    sequence_tracker_expected(&t), 31u - (unsigned)__builtin_clz(seen));
	}
}
END_TEST

START_TEST(first_contact)
{
	struct sequence_tracker missed = {0}, late = {0}, witnessed = {0}, quiet = {0},
				snapshot = {0};

	sequence_tracker_sample(
	    &missed, SEQUENCE_TRACKER_NUMBERS); /* the start was just missed: numbers before this
						   one are lost */
	ck_assert_uint_eq(sequence_tracker_expected(&missed), SEQUENCE_TRACKER_NUMBERS);
	ck_assert_uint_eq(sequence_tracker_expected_since_contact(&missed),
	    1); /* the others belong to no minute */
	sequence_tracker_sample(
	    &late, SEQUENCE_TRACKER_NUMBERS + 1); /* heard late: nothing is lost */
	ck_assert_uint_eq(sequence_tracker_expected(&late), 1);
	sequence_tracker_sample(&late,
	    SEQUENCE_TRACKER_NUMBERS - 1); /* one that was in transit counts as expected, too */
	ck_assert_uint_eq(sequence_tracker_expected(&late), 3);
	ck_assert_uint_eq(sequence_tracker_expected_since_contact(&late), 1);
	ck_assert(sequence_tracker_is_before_contact(&late, SEQUENCE_TRACKER_NUMBERS - 1));
	ck_assert(!sequence_tracker_is_before_contact(&late, SEQUENCE_TRACKER_NUMBERS + 1));
	sequence_tracker_start(&witnessed, true, 100000);
	sequence_tracker_sample(&witnessed, 100000);
	ck_assert_uint_eq(sequence_tracker_expected(&witnessed), 100000);
	ck_assert_uint_eq(sequence_tracker_expected_since_contact(&witnessed), 100000);
	sequence_tracker_given_out(&quiet, 0);
	ck_assert_uint_eq(sequence_tracker_expected(&quiet), 0);
	sequence_tracker_given_out(&quiet, 7);
	ck_assert_uint_eq(sequence_tracker_expected(&quiet), 7);
	ck_assert_uint_eq(sequence_tracker_expected_since_contact(&quiet), 7);
	sequence_tracker_given_out(&snapshot, 100000);
	ck_assert_uint_eq(sequence_tracker_expected(&snapshot), 0);
	ck_assert_int_eq(sequence_tracker_sample(&snapshot, 100001), SEQUENCE_TRACKER_USE);
	ck_assert_uint_eq(sequence_tracker_expected(&snapshot), 1);
	ck_assert_uint_eq(sequence_tracker_expected_since_contact(&snapshot), 1);
}
END_TEST

/* Octets of an older store, which has no tracker.contact: eight octets less. */
START_TEST(octets_of_the_first_layout_are_read)
{
	enum { MET_AT = 17, OLD_OCTETS = SEQUENCE_TRACKER_SAVED_OCTETS - 8 };
	uint8_t octets[SEQUENCE_TRACKER_SAVED_OCTETS];
	struct sequence_tracker t = {0}, old = {0};

	sequence_tracker_sample(&t, 5);
	sequence_tracker_save(&t, octets);
	octets[0] = 1;
	memmove(octets + MET_AT, octets + MET_AT + 8, OLD_OCTETS - MET_AT);
	ck_assert_int_eq(sequence_tracker_load(&old, octets, OLD_OCTETS), 0);
	ck_assert_uint_eq(sequence_tracker_expected(&old), 5);
	ck_assert_uint_eq(
	    sequence_tracker_expected_since_contact(&old), 5); /* as it was counted then */
	ck_assert_int_eq(sequence_tracker_sample(&old, 5), SEQUENCE_TRACKER_DUPLICATE);
	ck_assert_int_lt(sequence_tracker_load(&old, octets, sizeof(octets)), 0);
}
END_TEST

START_TEST(tail_loss_shows)
{
	struct sequence_tracker t = {0};

	for (uint32_t n = 1; n <= 10; n++)
		sequence_tracker_sample(&t, n);
	sequence_tracker_given_out(&t, 15);
	ck_assert_uint_eq(sequence_tracker_expected(&t) - t.received, 5);
	ck_assert_int_eq(sequence_tracker_sample(&t, 15), SEQUENCE_TRACKER_USE);
	ck_assert_uint_eq(sequence_tracker_expected(&t) - t.received, 4);
	sequence_tracker_given_out(&t, 12); /* an older snapshot changes nothing */
	ck_assert_uint_eq(sequence_tracker_expected(&t), 15);
}
END_TEST

START_TEST(damaged_octets_are_refused)
{
	uint8_t octets[SEQUENCE_TRACKER_SAVED_OCTETS];
	struct sequence_tracker t = {0};

	sequence_tracker_sample(&t, 5);
	sequence_tracker_save(&t, octets);
	for (size_t n = 0; n < sizeof(octets); n++)
		ck_assert_int_lt(sequence_tracker_load(&t, octets, n), 0);
	octets[0] = 9;
	ck_assert_int_lt(sequence_tracker_load(&t, octets, sizeof(octets)), 0);
	ck_assert_uint_eq(sequence_tracker_expected(&t), 5);
}
END_TEST

/* A collector crashes twice at random times, and the agent sends some samples again. At any time
 * the numbers received, lost with a crash and never arrived add up to all that were given out. */
START_TEST(what_a_crash_takes_is_known_by_number)
{
	uint64_t random = (uint64_t)_i + 1;

	for (int run = 0; run < 50; run++) {
		struct sequence_tracker live = {0}, stored;
		struct crash_lost gone = {0};
		bool taken[3001] = {false}, known[3001] = {false}, safe[3001] = {false};

		sequence_tracker_start(&live, true, 1);
		stored = live;
		for (int life = 0; life < 3; life++) {
			uint32_t from = life ? 1 + (uint32_t)(next_random(&random) % 900) : 1;
			uint32_t to = (uint32_t)(life + 1) * 1000;
			uint32_t cut = from + (uint32_t)(next_random(&random) % (to - from));
			uint64_t n_gone = 0, highest = 0;

			for (uint32_t i = from; i <= to; i++) {
				if (next_random(&random) % 4 &&
				    sequence_tracker_sample(&live, i) == SEQUENCE_TRACKER_USE) {
					sequence_tracker_came_again(&live, &gone, i);
					taken[i] = known[i] = true;
				}
				if (i == cut) {
					stored = live;
					memcpy(safe, known, sizeof(safe));
				}
			}
			ck_assert(sequence_tracker_catch_up(&stored, &live, &gone));
			live = stored;
			memcpy(known, safe, sizeof(known));
			for (uint32_t i = 1; i <= 3000; i++) {
				n_gone += taken[i] && !safe[i];
				highest = taken[i] ? i : highest;
			}
			ck_assert_uint_eq(gone.n, n_gone);
			ck_assert_uint_eq(sequence_tracker_expected(&live), highest);
		}
		for (uint32_t i = 1; i <= 3000; i++) /* the agent sends all of them again */
			if (sequence_tracker_sample(&live, i) == SEQUENCE_TRACKER_USE)
				sequence_tracker_came_again(&live, &gone, i);
		ck_assert_uint_eq(gone.n, 0);
		ck_assert_uint_eq(live.received, 3000);
	}
}
END_TEST

START_TEST(a_memory_of_something_else_changes_nothing)
{
	struct sequence_tracker stored = {0}, seen = {0}, before;
	struct crash_lost gone = {0};

	ck_assert(!sequence_tracker_catch_up(&stored, &seen, &gone)); /* nothing was seen */
	for (uint32_t i = 1; i <= 10; i++)
		sequence_tracker_sample(&stored, i);
	for (uint32_t i = 1; i <= 9; i++)
		sequence_tracker_sample(&seen, i);
	before = stored;
	ck_assert(!sequence_tracker_catch_up(&stored, &seen, &gone)); /* the store knows more */
	sequence_tracker_sample(&seen, 11);
	seen.highest = UINT64_MAX; /* impossible; once the tracker counted up to it */
	ck_assert(!sequence_tracker_catch_up(&stored, &seen, &gone));
	seen.highest = seen.first - 2;
	ck_assert(!sequence_tracker_catch_up(&stored, &seen, &gone));
	ck_assert_int_eq(memcmp(&before, &stored, sizeof(before)), 0);
	ck_assert_uint_eq(gone.n, 0);
}
END_TEST

/* More numbers are lost than the bitmap holds: their count is right, and those in the bitmap are
 * recognized when they arrive again. */
START_TEST(a_crash_that_takes_more_than_the_memory_of_numbers)
{
	struct sequence_tracker stored = {0}, seen;
	struct crash_lost gone = {0};

	sequence_tracker_sample(&stored, 1);
	seen = stored;
	for (uint32_t i = 2; i <= 3 * SEQUENCE_TRACKER_NUMBERS; i++)
		sequence_tracker_sample(&seen, i);
	ck_assert(sequence_tracker_catch_up(&stored, &seen, &gone));
	ck_assert_uint_eq(gone.n, 3 * SEQUENCE_TRACKER_NUMBERS - 1);
	for (uint32_t i = 1; i <= 3 * SEQUENCE_TRACKER_NUMBERS; i++)
		if (sequence_tracker_sample(&stored, i) == SEQUENCE_TRACKER_USE)
			sequence_tracker_came_again(&stored, &gone, i);
	ck_assert_uint_eq(gone.n, 2 * SEQUENCE_TRACKER_NUMBERS - 1);
	ck_assert_uint_eq(sequence_tracker_expected(&stored) - stored.received, gone.n);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sequence tracker");
	TCase *tc = tcase_create("tracker");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 280);
	tcase_add_test(tc, equals_a_naive_set);
	tcase_add_test(tc, every_order_of_five_with_one_repeated);
	tcase_add_test(tc, first_contact);
	tcase_add_test(tc, octets_of_the_first_layout_are_read);
	tcase_add_test(tc, tail_loss_shows);
	tcase_add_test(tc, damaged_octets_are_refused);
	tcase_add_loop_test(tc, what_a_crash_takes_is_known_by_number, 0, 20);
	tcase_add_test(tc, a_memory_of_something_else_changes_nothing);
	tcase_add_test(tc, a_crash_that_takes_more_than_the_memory_of_numbers);
	return suite_run(suite);
}
