/*
 * A range with more keys than a question may hold, as a flood of made-up sources makes it: the largest are
 * listed, what was dropped is counted, limits allow for it, and a list with few keys is exact.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/query/query.h"
#include "collector/report/notes.h"
#include "collector/store/schema.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MINUTES = 5,
	HEAVY = 8,
	FLOOD = 1000,  /* sources a minute, one sample each */
	SKIP = 100,
	OCTETS = 100,
	LIMIT = 300,
	HEAVY_SAMPLES = 240, /* a minute, of the heaviest; the next has a half of it, then a third, … */
	ALL_PORTS = 2,
};
#define VICTIM "020000000099"

static struct report_store store;

static int
heavy_samples(int h)
{
	return HEAVY_SAMPLES / (h + 1);
}

/* The flood comes to port 1; heavy sources talk at both, in each minute. */
static void
setup(void)
{
	char source[24];

	report_store_make(&store);
	report_store_agent(&store, 1, MINUTES * 60);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_port(&store, 1, 2, "ge-2", 1);
	report_store_sql(&store, "BEGIN");
	for (int minute = 0; minute < MINUTES; minute++) {
		int n = FLOOD;

		for (int h = 0; h < HEAVY; h++)
			n += heavy_samples(h);
		for (int port = 1; port <= ALL_PORTS; port++, n -= FLOOD)
			report_store_window(&store, minute, 1, port, n * SKIP, n * SKIP * OCTETS);
		for (int port = 1; port <= ALL_PORTS; port++)
			for (int h = 0; h < HEAVY; h++) {
				snprintf(source, sizeof(source), "0200000000%02x", h);
				report_store_samples(&store, minute, 1, port, heavy_samples(h), SKIP, OCTETS,
				    STORE_KEY_ETH_PAIR, source, "020000000088");
			}
		for (int i = 0; i < FLOOD; i++) {
			snprintf(source, sizeof(source), "06%010x", minute * FLOOD + i);
			report_store_samples(&store, minute, 1, 1, 1, SKIP, OCTETS, STORE_KEY_ETH_PAIR, source, VICTIM);
		}
	}
	report_store_sql(&store, "COMMIT");
	report_store_renew(&store);
}

static void
teardown(void)
{
	report_store_remove(&store);
}

static void
ask(enum report_by by, enum estimate_unit sort, size_t keys, struct report_result *result)
{
	const struct query_limits limits = {.keys = keys};
	struct report_options options = report_store_options();
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	options.by = by;
	options.layer = REPORT_LAYER_ETH;
	options.sort = sort;
	options.top = HEAVY;
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	query_limit(query, &limits);
	memset(result, 0, sizeof(*result));
	ck_assert_int_eq(report_run(report_find("talkers"), query, &options,
	    REPORT_STORE_T0 + MINUTES * MINUTE, result), 0);
	query_close(query);
}

static size_t
column(const struct report_result *result, const char *field)
{
	for (size_t c = 0; c < result->n_columns; c++)
		if (result->columns[c].field && strcmp(result->columns[c].field, field) == 0)
			return c;
	ck_abort_msg("no column %s", field);
}

static double
samples_of(const struct report_result *result, const struct report_value *row)
{
	return row ? row[column(result, "samples")].number : 0;
}

static double
folded(const struct report_result *result)
{
	return note_number_of(result, NOTE_ID_FOLDED, "folded_samples");
}

START_TEST(the_largest_stay_and_the_rest_is_counted)
{
	enum estimate_unit sort = _i ? ESTIMATE_OCTETS : ESTIMATE_PKTS;
	struct report_result crowded;
	double listed = 0, all = 0, folded_most;

	ask(REPORT_BY_SRC, sort, LIMIT, &crowded);
	ck_assert_uint_eq(crowded.n_rows, HEAVY);
	ck_assert_double_gt(folded(&crowded), MINUTES * FLOOD - LIMIT);
	ck_assert_double_le(folded(&crowded), MINUTES * FLOOD);
	folded_most = note_number_of(&crowded, NOTE_ID_FOLDED, "folded_samples_one_key_high");
	ck_assert_double_gt(folded_most, 0);
	for (int h = 0; h < HEAVY; h++) {
		const struct report_value *src = report_cell(&crowded, (size_t)h, column(&crowded, "src"));
		const struct estimate_figure *pkts =
		    &report_cell(&crowded, (size_t)h, column(&crowded, "packets"))->figure;
		double seen = report_cell(&crowded, (size_t)h, column(&crowded, "samples"))->number;
		double sent = ALL_PORTS * MINUTES * heavy_samples(h);
		char expected[24];

		snprintf(expected, sizeof(expected), "02:00:00:00:00:%02x", h);
		ck_assert_str_eq(src->text, expected);
		ck_assert_double_le(seen, sent);
		ck_assert_double_le(sent, seen + folded_most);
		ck_assert_double_le(pkts->low, sent * SKIP);
		ck_assert_double_ge(pkts->high, sent * SKIP);
		listed += seen;
		all += sent;
	}
	ck_assert_double_eq(listed + samples_of(&crowded, crowded.sums[REPORT_SUM_OTHERS].row) +
	    samples_of(&crowded, crowded.sums[REPORT_SUM_REST].row),
	    all + MINUTES * FLOOD);
	report_result_free(&crowded);
}
END_TEST

START_TEST(the_victim_is_named_exactly)
{
	struct report_result result;

	ask(REPORT_BY_DST, ESTIMATE_PKTS, LIMIT, &result);
	ck_assert_double_eq(folded(&result), 0);
	ck_assert_uint_eq(result.n_rows, 2);
	ck_assert_str_eq(report_cell(&result, 1, column(&result, "dst"))->text, "02:00:00:00:00:99");
	ck_assert_double_eq(report_cell(&result, 1, column(&result, "samples"))->number, MINUTES * FLOOD);
	report_result_free(&result);
}
END_TEST

START_TEST(with_room_nothing_is_dropped)
{
	struct report_result result;

	ask(REPORT_BY_SRC, ESTIMATE_PKTS, 0, &result);
	ck_assert_double_eq(folded(&result), 0);
	ck_assert_uint_eq(result.n_rows + result.sums[REPORT_SUM_OTHERS].n, HEAVY + MINUTES * FLOOD);
	report_result_free(&result);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("crowded");
	TCase *tc = tcase_create("crowded");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, the_largest_stay_and_the_rest_is_counted, 0, 2);
	tcase_add_test(tc, the_victim_is_named_exactly);
	tcase_add_test(tc, with_room_nothing_is_dropped);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
