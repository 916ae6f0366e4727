/*
 * A collector hears of an agent for the first time in the middle of the agent's boot, because it
 * took over from another collector or was started late. Numbers given out before this first contact
 * belong to no minute, so reports of a range are complete; the account shows that they did not
 * arrive here. Samples lost from then on show in both.
 */
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>

enum { CONTACT = 2000, LAST = 2600 }; /* ten a second: a minute has 600 */

static void
check_numbers(const struct accounting_rig *f, double minutes_expected, double account_expected,
    double received)
{
	ck_assert_double_eq(rig_query(f, "SELECT sum(expected) FROM window_port"),
	    minutes_expected);
	ck_assert_double_eq(rig_query(f, "SELECT sum(received) FROM window_port"), received);
	ck_assert_double_eq(rig_query(f, "SELECT expected FROM account"), account_expected);
	ck_assert_double_eq(rig_query(f, "SELECT received FROM account"), received);
}

/* Whether the first contact is a sample or counters. */
START_TEST(its_minutes_are_complete)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	if (_i == 1)
		rig_send_snapshot(&f, 1, CONTACT - 1);
	rig_send_range(&f, 1, CONTACT, LAST);
	rig_flush(&f);
	check_numbers(&f, LAST - CONTACT + 1, LAST, LAST - CONTACT + 1);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM window_port"
					  " WHERE expected <> received"), 0);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(what_is_lost_from_then_on_shows)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_range(&f, 1, CONTACT, CONTACT + 9);
	rig_send_range(&f, 1, CONTACT + 20, LAST); /* ten are lost */
	rig_send_snapshot(&f, 1, LAST + 5);	 /* and five at the end */
	rig_flush(&f);
	check_numbers(&f, LAST + 5 - CONTACT + 1, LAST + 5, LAST - CONTACT + 1 - 10);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Some samples were in transit at the first contact; one arrives after a restart. */
START_TEST(what_comes_from_before_is_one_more)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, CONTACT);
	for (uint32_t i = CONTACT - 3; i <= CONTACT; i++)
		rig_send_sample(&f, 1, i);
	rig_send_sample(&f, 1, CONTACT); /* twice counts once */
	rig_flush(&f);
	check_numbers(&f, 4, CONTACT, 4);
	rig_close(&f);
	rig_open(&f);
	rig_send_sample(&f, 1, CONTACT - 10);
	rig_send_sample(&f, 1, CONTACT - 900); /* of a minute before */
	rig_send_range(&f, 1, CONTACT + 1, LAST);
	rig_flush(&f);
	check_numbers(&f, LAST - CONTACT + 6, LAST, LAST - CONTACT + 6);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM window_port"
					  " WHERE expected <> received"), 0);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* If the agent was known before its boot, all samples of that boot are expected. */
START_TEST(a_boot_that_was_witnessed_is_expected_whole)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_range(&f, 1, 1, 10);
	rig_send_range(&f, 2, 101, 200);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM window_port"), 210);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM account"), 210);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM window_port"), 110);
	rig_close(&f);

	rig_remove(&f);
	rig_make(&f);
	rig_open(&f); /* so is a boot whose first contact says that nothing was given out yet */
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 101, 200);
	rig_flush(&f);
	check_numbers(&f, 200, 200, 100);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* The collector crashed before anything was stored: the crash journal has the first contact. */
START_TEST(a_crash_does_not_make_it_expected)
{
	struct accounting_rig f;

	rig_make(&f);
	f.recalls = true;
	rig_open(&f);
	rig_send_range(&f, 1, CONTACT, CONTACT + 99);
	rig_close(&f); /* without a flush */
	rig_open(&f);
	ck_assert_uint_eq(f.outage.samples, 100);
	rig_send_range(&f, 1, CONTACT + 100, LAST);
	rig_flush(&f);
	check_numbers(&f, LAST - CONTACT + 1, LAST, LAST - CONTACT + 1 - 100);
	accounting_remove_journal(f.accounting);
	rig_close(&f);
	rig_remove(&f);
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
