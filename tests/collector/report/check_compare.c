/*
 * Results compared with a rate and with the past: a row is up, down or above only if its limits are.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/report/compare.h"
#include "collector/report/notes.h"
#include "collector/store/schema.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MAC_A "0200000000aa"
#define MAC_B "0200000000bb"
#define MAC_C "0200000000cc"
#define MAC_D "0200000000dd"

static struct report_store store;
static struct query *query;
static char error[QUERY_ERROR_TEXT];

static void
samples(int minute, int n, const char *src)
{
	report_store_samples(&store, minute, 1, 1, n, 100, 1000, STORE_KEY_ETH_PAIR, src, MAC_D);
}

/* Minute 1 beside minute 0: A grew, B shrank, C may have done either. */
static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, 120);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_window(&store, 0, 1, 1, 60000, 60000000);
	report_store_window(&store, 1, 1, 1, 60000, 60000000);
	samples(0, 100, MAC_A);
	samples(0, 400, MAC_B);
	samples(0, 100, MAC_C);
	samples(1, 400, MAC_A);
	samples(1, 90, MAC_B);
	samples(1, 110, MAC_C);
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
}

static void
teardown(void)
{
	query_close(query);
	report_store_remove(&store);
}

static struct report_options
second_minute(void)
{
	struct report_options options = report_store_options();

	options.by = REPORT_BY_SRC;
	options.all = false;
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0 + MINUTE;
	options.to_us = REPORT_STORE_T0 + 2 * MINUTE;
	options.wants_change = options.wants_alarm = true; /* as question.c sets them */
	return options;
}

static struct report_result
run(const char *report, const struct report_options *options)
{
	struct report_result result = {0};

	ck_assert_int_eq(report_find(report)->run(query, options, options->to_us, &result), 0);
	return result;
}

/* The change of the row whose address ends so; rows have the rank, then the source. */
static const struct report_change *
change_of(const struct report_result *result, const char *end)
{
	for (size_t r = 0; r < result->n_rows; r++)
		if (strstr(report_cell(result, r, 1)->text, end))
			return &result->list->changes[r];
	ck_abort_msg("no row %s", end);
	return NULL;
}

START_TEST(up_down_and_not_settled)
{
	struct report_options options = second_minute();
	struct report_result result = run("talkers", &options);

	ck_assert_int_eq(compare_with_past(report_find("talkers"), query, &options, options.to_us,
	    MINUTE, &result), 0);
	ck_assert_int_eq(change_of(&result, ":aa")->direction, REPORT_UP);
	ck_assert_double_eq_tol(change_of(&result, ":aa")->before.estimate, 10000000, 1e-3);
	ck_assert_int_eq(change_of(&result, ":bb")->direction, REPORT_DOWN);
	ck_assert_int_eq(change_of(&result, ":cc")->direction, REPORT_NOT_SETTLED);
	report_result_free(&result);
}
END_TEST

/* Not seen is not zero: it had fewer frames than the limit for keys not seen. */
START_TEST(what_was_not_seen_before)
{
	struct report_options options = second_minute();
	struct report_result result;

	query_close(query); /* it reads */
	report_store_sql(&store, "DELETE FROM window_key WHERE start_us = %llu AND key1 IN"
	    " (x'" MAC_A "', x'" MAC_C "')", REPORT_STORE_T0);
	report_store_sql(&store, "UPDATE window_key SET n = 3, w = 300 WHERE start_us = %llu AND"
	    " key1 = x'" MAC_C "'", REPORT_STORE_T0 + MINUTE);
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	result = run("talkers", &options);
	ck_assert_int_eq(compare_with_past(report_find("talkers"), query, &options, options.to_us,
	    MINUTE, &result), 0);
	ck_assert(!change_of(&result, ":aa")->known);
	ck_assert_int_eq(change_of(&result, ":aa")->direction, REPORT_UP);
	ck_assert(!change_of(&result, ":cc")->known);
	ck_assert_int_eq(change_of(&result, ":cc")->direction, REPORT_NOT_SETTLED);
	report_result_free(&result);
}
END_TEST

START_TEST(a_time_without_data_settles_nothing)
{
	struct report_options options = second_minute();
	struct report_result result = run("talkers", &options);

	ck_assert_int_eq(compare_with_past(report_find("talkers"), query, &options, options.to_us,
	    60 * MINUTE, &result), 0);
	ck_assert_ptr_null(result.list->changes);
	ck_assert_double_eq(note_number_of(&result, NOTE_ID_NO_PAST, "versus_s"), 60 * MINUTE / 1e6);
	report_result_free(&result);
	result = run("load", &options);
	ck_assert_int_lt(compare_with_past(report_find("load"), query, &options, options.to_us,
	    MINUTE, &result), 0);
	ck_assert_str_eq(query->error, "--versus is for lists");
	report_result_free(&result);
}
END_TEST

/* A: 400 of 600 samples of 60,000 frames in 60 s, so about 667 a second, of 1,000 octets each. At one in a
 * million it is above 572 (by SciPy: Jeffreys' upper limit of the other 200), B and C are above 80 and 100. */
START_TEST(warnings_are_of_lower_limits)
{
	static const struct {
		enum estimate_unit unit;
		double rate;
		size_t rows;
	} cases[] = {
		{ESTIMATE_PKTS, 570, 1}, {ESTIMATE_PKTS, 575, 0}, {ESTIMATE_PKTS, 75, 3},
		{ESTIMATE_OCTETS, 560e3 * 8, 1}, {ESTIMATE_OCTETS, 600e3 * 8, 0},
	};
	struct report_options options = second_minute();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct report_result result = run("talkers", &options);

		ck_assert_int_eq(compare_with_rate(&result, cases[i].unit, cases[i].rate), 0);
		ck_assert_double_eq(note_number_of(&result, NOTE_ID_WARNED, "warned"), (double)cases[i].rows);
		report_result_free(&result);
	}
}
END_TEST

START_TEST(counted_rates_and_reports_without_any)
{
	struct report_options options = second_minute();
	struct report_result result = run("load", &options);

	ck_assert_int_eq(compare_with_rate(&result, ESTIMATE_OCTETS, 1), 0);
	ck_assert_int_lt(compare_with_rate(&result, ESTIMATE_PKTS, 1), 0);
	report_result_free(&result);
	result = run("agents", &options);
	ck_assert_int_lt(compare_with_rate(&result, ESTIMATE_OCTETS, 1), 0);
	report_result_free(&result);
}
END_TEST

/* Windows count whole: half of the second minute is asked for, all of it answers, and says so. */
START_TEST(a_range_ends_with_its_last_window)
{
	struct report_options options = second_minute();
	struct report_result result;

	options.to_us -= MINUTE / 2;
	result = run("talkers", &options);
	ck_assert_uint_eq(result.to_us, REPORT_STORE_T0 + 2 * MINUTE);
	ck_assert_double_eq(result.seconds, 60);
	report_result_free(&result);
}
END_TEST

START_TEST(spans_and_rates_are_read_strictly)
{
	static const char *const bad_spans[] = {"", "5", "0m", "5y", "5mm", "-5m", "all"};
	static const char *const bad_rates[] = {"", "0", "-1", "k", "1K", "1kk", "nan", "inf", "1 k"};
	uint64_t span_us;
	double rate;

	for (size_t i = 0; i < sizeof(bad_spans) / sizeof(bad_spans[0]); i++)
		ck_assert_int_lt(report_parse_span(bad_spans[i], &span_us), 0);
	for (size_t i = 0; i < sizeof(bad_rates) / sizeof(bad_rates[0]); i++)
		ck_assert_int_lt(report_parse_rate(bad_rates[i], &rate), 0);
	ck_assert_int_eq(report_parse_span("2h", &span_us), 0);
	ck_assert_uint_eq(span_us, 120 * MINUTE);
	ck_assert_int_eq(report_parse_rate("1.5G", &rate), 0);
	ck_assert_double_eq(rate, 1.5e9);
	ck_assert_int_eq(report_parse_rate("500", &rate), 0);
	ck_assert_double_eq(rate, 500);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("compare");
	TCase *tc = tcase_create("compare");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, up_down_and_not_settled);
	tcase_add_test(tc, what_was_not_seen_before);
	tcase_add_test(tc, a_time_without_data_settles_nothing);
	tcase_add_test(tc, warnings_are_of_lower_limits);
	tcase_add_test(tc, counted_rates_and_reports_without_any);
	tcase_add_test(tc, a_range_ends_with_its_last_window);
	tcase_add_test(tc, spans_and_rates_are_read_strictly);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
