/*
 * Radix sort by heads gives the order of qsort by whole items, also where heads are equal; and numbers
 * as heads, the largest first.
 */
#include "collector/report/sort.h"
#include "tests/suite.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>

enum { ITEMS = 5000 };

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's */
	return *state ^ *state >> 29;
}

/* What stands behind the head: numbers, no two alike. */
static int
compare_what(const void *a, const void *b)
{
	const uint32_t *x = ((const struct sort_item *)a)->what;
	const uint32_t *y = ((const struct sort_item *)b)->what;

	return (*x > *y) - (*x < *y);
}

static int
compare_all(const void *a, const void *b)
{
	const struct sort_item *x = a, *y = b;

	return x->head != y->head ? (x->head > y->head) - (x->head < y->head) : compare_what(a, b);
}

static void
expect_order_of_qsort(size_t n, uint64_t mask)
{
	static struct sort_item items[2 * ITEMS], expected[ITEMS];
	static uint32_t numbers[ITEMS];
	uint64_t state = n;

	for (size_t i = 0; i < n; i++) {
		numbers[i] = (uint32_t)(i * 2654435761u);
		items[i] = expected[i] =
		    (struct sort_item){next_random(&state) & mask, &numbers[i]};
	}
	sort_items(items, n, compare_what, items + ITEMS);
	qsort(expected, n, sizeof(*expected), compare_all);
	for (size_t i = 0; i < n; i++)
		ck_assert_ptr_eq(items[i].what, expected[i].what);
}

START_TEST(order_is_that_of_qsort)
{
	static const size_t n[] = {0, 1, 2, 3, 255, ITEMS};
	static const uint64_t masks[] = {UINT64_MAX, 0xff, 7, 0, 0xff00ff00ull << 32, 1ull << 63 | 3};

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
			expect_order_of_qsort(n[i], masks[m]);
}
END_TEST

START_TEST(larger_numbers_have_smaller_heads)
{
	static const double falling[] = {DBL_MAX, 1e300, 4294967296, 2, 1.0000001, 1, 0.1, DBL_MIN,
	    5e-324, 0};

	for (size_t i = 1; i < sizeof(falling) / sizeof(falling[0]); i++)
		ck_assert_uint_lt(sort_largest_first(falling[i - 1]), sort_largest_first(falling[i]));
	ck_assert_uint_eq(sort_largest_first(-0.0), sort_largest_first(0));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sort");
	TCase *tcase = tcase_create("sort");

	tcase_add_test(tcase, order_is_that_of_qsort);
	tcase_add_test(tcase, larger_numbers_have_smaller_heads);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
