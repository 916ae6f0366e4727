/*
 * A collector that begins to hear of an agent in the middle of its boot, because it took over from
 * another or was started late. What was given out before its first word is of no minute, so ranges are
 * complete; the account says that it did not come here; and what is lost from then on shows in both.
 */
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>

enum { MET = 2000, LAST = 2600 }; /* ten a second: a minute has 600 */

static void
check_numbers(const struct books *f, double minutes_expected, double account_expected,
    double received)
{
	ck_assert_double_eq(books_ask(f, "SELECT sum(expected) FROM window_port"),
	    minutes_expected);
	ck_assert_double_eq(books_ask(f, "SELECT sum(received) FROM window_port"), received);
	ck_assert_double_eq(books_ask(f, "SELECT expected FROM account"), account_expected);
	ck_assert_double_eq(books_ask(f, "SELECT received FROM account"), received);
}

/* Whether a sample or the counters are its first word. */
START_TEST(its_minutes_are_complete)
{
	struct books f;

	books_make(&f);
	books_open(&f);
	if (_i == 1)
		books_send_snapshot(&f, 1, MET - 1);
	books_send_range(&f, 1, MET, LAST);
	books_cut(&f);
	check_numbers(&f, LAST - MET + 1, LAST, LAST - MET + 1);
	ck_assert_double_eq(books_ask(&f, "SELECT count(*) FROM window_port"
					  " WHERE expected <> received"), 0);
	books_close(&f);
	books_remove(&f);
}
END_TEST

START_TEST(what_is_lost_from_then_on_shows)
{
	struct books f;

	books_make(&f);
	books_open(&f);
	books_send_range(&f, 1, MET, MET + 9);
	books_send_range(&f, 1, MET + 20, LAST); /* ten are lost */
	books_send_snapshot(&f, 1, LAST + 5);	 /* and five at the end */
	books_cut(&f);
	check_numbers(&f, LAST + 5 - MET + 1, LAST + 5, LAST - MET + 1 - 10);
	books_close(&f);
	books_remove(&f);
}
END_TEST

/* Some were overtaken on their way by the first word; one comes after a restart. */
START_TEST(what_comes_from_before_is_one_more)
{
	struct books f;

	books_make(&f);
	books_open(&f);
	books_send_snapshot(&f, 1, MET);
	for (uint32_t i = MET - 3; i <= MET; i++)
		books_send_sample(&f, 1, i);
	books_send_sample(&f, 1, MET); /* twice counts once */
	books_cut(&f);
	check_numbers(&f, 4, MET, 4);
	books_close(&f);
	books_open(&f);
	books_send_sample(&f, 1, MET - 10);
	books_send_sample(&f, 1, MET - 900); /* of a minute before */
	books_send_range(&f, 1, MET + 1, LAST);
	books_cut(&f);
	check_numbers(&f, LAST - MET + 6, LAST, LAST - MET + 6);
	ck_assert_double_eq(books_ask(&f, "SELECT count(*) FROM window_port"
					  " WHERE expected <> received"), 0);
	books_close(&f);
	books_remove(&f);
}
END_TEST

/* Whoever knew the agent before may miss what it gives out from its next start on. */
START_TEST(a_boot_that_was_witnessed_is_expected_whole)
{
	struct books f;

	books_make(&f);
	books_open(&f);
	books_send_range(&f, 1, 1, 10);
	books_send_range(&f, 2, 101, 200);
	books_cut(&f);
	ck_assert_double_eq(books_ask(&f, "SELECT sum(expected) FROM window_port"), 210);
	ck_assert_double_eq(books_ask(&f, "SELECT sum(expected) FROM account"), 210);
	ck_assert_double_eq(books_ask(&f, "SELECT sum(received) FROM window_port"), 110);
	books_close(&f);

	books_remove(&f);
	books_make(&f);
	books_open(&f); /* so is one whose first word was that nothing was given out yet */
	books_send_snapshot(&f, 1, 0);
	books_send_range(&f, 1, 101, 200);
	books_cut(&f);
	check_numbers(&f, 200, 200, 100);
	books_close(&f);
	books_remove(&f);
}
END_TEST

/* Died before anything was stored: recalled as it was heard. */
START_TEST(a_crash_does_not_make_it_expected)
{
	struct books f;

	books_make(&f);
	f.recalls = true;
	books_open(&f);
	books_send_range(&f, 1, MET, MET + 99);
	books_close(&f); /* without a cut */
	books_open(&f);
	ck_assert_uint_eq(f.outage.samples, 100);
	books_send_range(&f, 1, MET + 100, LAST);
	books_cut(&f);
	check_numbers(&f, LAST - MET + 1, LAST, LAST - MET + 1 - 100);
	ledger_forget(f.ledger);
	books_close(&f);
	books_remove(&f);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("take over");
	TCase *tc = tcase_create("take over");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, its_minutes_are_complete, 0, 2);
	tcase_add_test(tc, what_is_lost_from_then_on_shows);
	tcase_add_test(tc, what_comes_from_before_is_one_more);
	tcase_add_test(tc, a_boot_that_was_witnessed_is_expected_whole);
	tcase_add_test(tc, a_crash_does_not_make_it_expected);
	return suite_run(suite);
}
