/*
 * The sequence tracker against a naive set of all numbers ever seen: random loss, disorder,
 * repetition, long gaps, wrap of the 32 bits, snapshots in between, and saving and loading at any
 * moment.
 */
#include "collector/window/tracker.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEEDS = 300,
	STEPS = 4000,
	SPAN = 1 << 16, /* numbers a run may use */
};

/* What a tracker should say, in the plainest way. Numbers are offsets from base. */
struct model {
	uint64_t base; /* the real number, in 64 bits, of offset 0 */
	bool seen[SPAN];
	uint64_t first, highest, received, duplicates, reordered, late;
};

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static enum tracker_verdict
model_sample(struct model *m, uint64_t offset)
{
	if (offset > m->highest) {
		m->highest = offset;
	} else if (m->highest - offset >= TRACKER_NUMBERS) {
		m->late++;
		return TRACKER_LATE;
	} else if (m->seen[offset]) {
		m->duplicates++;
		return TRACKER_DUPLICATE;
	} else {
		m->reordered++;
	}
	m->seen[offset] = true;
	m->received++;
	if (offset < m->first)
		m->first = offset;
	return TRACKER_USE;
}

static void
compare(const struct tracker *t, const struct model *m)
{
	const uint64_t is[] = {
	    tracker_expected(t), t->received, t->duplicates, t->reordered, t->late};
	const uint64_t should_be[] = {
	    m->highest - m->first + 1, m->received, m->duplicates, m->reordered, m->late};

	/* At once: check writes a note for each assertion, and this is called a million times. */
	if (memcmp(is, should_be, sizeof(is)) != 0)
		ck_assert_mem_eq(is, should_be, sizeof(is));
}

/* Near the highest number mostly, sometimes far back, sometimes far ahead. */
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
		offset -= next_random(random) % (2 * TRACKER_NUMBERS);
	else
		offset += next_random(random) % (TRACKER_NUMBERS + 100);
	return offset > m->highest && offset >= SPAN ? m->highest : offset % SPAN;
}

static void
save_and_load(struct tracker *t)
{
	uint8_t octets[TRACKER_SAVED_OCTETS];
	struct tracker copy = *t;

	tracker_save(t, octets);
	memset(copy.bits, 0xa5, sizeof(copy.bits));
	copy.first = copy.highest = 0;
	copy.started = false;
	ck_assert_int_eq(tracker_load(&copy, octets, sizeof(octets)), 0);
	*t = copy;
}

static void
run_one(struct model *m, uint64_t seed, uint64_t base)
{
	struct tracker t = {0};
	uint64_t random = seed;
	uint64_t start = 2 * TRACKER_NUMBERS;

	memset(m, 0, sizeof(*m));
	m->base = base;
	m->first = start;
	m->highest = start - 1;
	tracker_start(&t, false, (uint32_t)(base + start));
	for (int i = 0; i < STEPS; i++) {
		uint64_t offset = choose_offset(m, &random);
		uint32_t number = (uint32_t)(base + offset);

		if (next_random(&random) % 50 == 0) {
			tracker_given_out(&t, number);
			if (offset > m->highest)
				m->highest = offset;
		} else {
			enum tracker_verdict verdict = tracker_sample(&t, number);

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
		struct tracker t = {0};
		unsigned seen = 0;

		for (int i = 0, rest = code; i < 5; i++, rest /= 5) {
			uint32_t number = 1 + (uint32_t)(rest % 5);
			bool again = seen >> number & 1;

			ck_assert_int_eq(tracker_sample(&t, number),
			    again ? TRACKER_DUPLICATE : TRACKER_USE);
			seen |= 1u << number;
		}
		ck_assert_uint_eq(t.received, (unsigned)__builtin_popcount(seen));
		ck_assert_uint_eq(t.received + t.duplicates, 5);
		ck_assert_uint_eq(tracker_expected(&t), 31u - (unsigned)__builtin_clz(seen));
	}
}
END_TEST

START_TEST(first_contact)
{
	struct tracker missed = {0}, late = {0}, witnessed = {0}, quiet = {0}, snapshot = {0};

	tracker_sample(&missed, TRACKER_NUMBERS); /* just missed the start: the rest is lost */
	ck_assert_uint_eq(tracker_expected(&missed), TRACKER_NUMBERS);
	tracker_sample(&late, TRACKER_NUMBERS + 1); /* met late: nothing is lost */
	ck_assert_uint_eq(tracker_expected(&late), 1);
	tracker_sample(&late, TRACKER_NUMBERS - 1); /* one on its way before is not unexpected */
	ck_assert_uint_eq(tracker_expected(&late), 3);
	tracker_start(&witnessed, true, 100000);
	tracker_sample(&witnessed, 100000);
	ck_assert_uint_eq(tracker_expected(&witnessed), 100000);
	tracker_given_out(&quiet, 0);
	ck_assert_uint_eq(tracker_expected(&quiet), 0);
	tracker_given_out(&quiet, 7);
	ck_assert_uint_eq(tracker_expected(&quiet), 7);
	tracker_given_out(&snapshot, 100000);
	ck_assert_uint_eq(tracker_expected(&snapshot), 0);
	ck_assert_int_eq(tracker_sample(&snapshot, 100001), TRACKER_USE);
	ck_assert_uint_eq(tracker_expected(&snapshot), 1);
}
END_TEST

START_TEST(tail_loss_shows)
{
	struct tracker t = {0};

	for (uint32_t n = 1; n <= 10; n++)
		tracker_sample(&t, n);
	tracker_given_out(&t, 15);
	ck_assert_uint_eq(tracker_expected(&t) - t.received, 5);
	ck_assert_int_eq(tracker_sample(&t, 15), TRACKER_USE);
	ck_assert_uint_eq(tracker_expected(&t) - t.received, 4);
	tracker_given_out(&t, 12); /* an older snapshot takes nothing back */
	ck_assert_uint_eq(tracker_expected(&t), 15);
}
END_TEST

START_TEST(damaged_octets_are_refused)
{
	uint8_t octets[TRACKER_SAVED_OCTETS];
	struct tracker t = {0};

	tracker_sample(&t, 5);
	tracker_save(&t, octets);
	for (size_t n = 0; n < sizeof(octets); n++)
		ck_assert_int_lt(tracker_load(&t, octets, n), 0);
	octets[0] = 9;
	ck_assert_int_lt(tracker_load(&t, octets, sizeof(octets)), 0);
	ck_assert_uint_eq(tracker_expected(&t), 5);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("tracker");
	TCase *tc = tcase_create("tracker");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 280);
	tcase_add_test(tc, equals_a_naive_set);
	tcase_add_test(tc, every_order_of_five_with_one_repeated);
	tcase_add_test(tc, first_contact);
	tcase_add_test(tc, tail_loss_shows);
	tcase_add_test(tc, damaged_octets_are_refused);
	return suite_run(suite);
}
