/*
 * Traffic that stays as it is, minute after minute, and reports that compare each minute with the one before: 95 of
 * 100 of them must have no mark, with equal skips and where the skip of every other minute is ten times as large.
 * The samples are drawn by chance from exact traffic; 60 minutes, 1,000 with EASE_LONG.
 */
#include "tests/collector/estimate/bars.h"
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "agent/sampling/skip.h"
#include "collector/report/compare.h"
#include "collector/store/schema.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 200, MINUTES = 60, LONG_MINUTES = 1000, FRAMES = 60000, TOP = 10 };

struct sums {
	double n, w, w2, wb, wb2, w2b2;
};

/* Of each key the same frames each minute, of a short and of a long kind. */
struct traffic {
	struct {
		int frames[2], octets[2];
	} keys[KEYS];
	int pkts, octets;
};

static double
uniform(struct skip_stream *stream)
{
	return ((double)(skip_stream_next(stream) >> 11) + 0.5) * 0x1p-53;
}

static void
make_traffic(struct traffic *t, struct skip_stream *stream)
{
	static const int lengths[] = {64, 90, 128, 594, 1518};
	double all = 0;

	*t = (struct traffic){.pkts = 0};
	for (int k = 0; k < KEYS; k++)
		all += 1.0 / (k + 1);
	for (int k = 0; k < KEYS; k++) {
		int n = (int)(FRAMES / all / (k + 1)), of_second = (int)(n * uniform(stream));

		for (int i = 0; i < 2; i++) {
			t->keys[k].frames[i] = i ? of_second : n - of_second;
			t->keys[k].octets[i] = lengths[(size_t)(5 * uniform(stream))];
			t->pkts += t->keys[k].frames[i];
			t->octets += t->keys[k].frames[i] * t->keys[k].octets[i];
		}
	}
}

/* So many of n frames are sampled when each is with 1 in skip. */
static int
draw(struct skip_stream *stream, int n, double skip)
{
	double at = 0;
	int sampled = -1;

	for (; at <= n; sampled++)
		at += 1 + floor(log(uniform(stream)) / log1p(-1 / skip));
	return sampled;
}

static void
add(struct sums *sums, double n, double w, double b)
{
	sums->n += n;
	sums->w += n * w;
	sums->w2 += n * w * w;
	sums->wb += n * w * b;
	sums->wb2 += n * w * b * b;
	sums->w2b2 += n * w * w * b * b;
}

static void
store_minute(struct report_store *store, const struct traffic *t, struct skip_stream *stream, int minute, int skip)
{
	unsigned long long start_us = REPORT_STORE_T0 + (unsigned long long)minute * MINUTE;
	struct sums all = {0, 0, 0, 0, 0, 0};

	for (int k = 0; k < KEYS; k++) {
		struct sums key = {0, 0, 0, 0, 0, 0};

		for (int i = 0; i < 2; i++) {
			int n = draw(stream, t->keys[k].frames[i], skip);

			add(&key, n, skip, t->keys[k].octets[i]);
			add(&all, n, skip, t->keys[k].octets[i]);
		}
		if (key.n > 0)
			report_store_sql(store, "INSERT INTO window_key VALUES(%d, %llu, 1, 1, 1, x'0200000000%02x',"
			    " x'0200000001ff', %.0f, %.0f, %.0f, %.0f, %.0f, %.0f, 0, 0, 0, 0, 0, 0, 0, 0)",
			    STORE_KEY_ETH_PAIR, start_us, (unsigned)k, key.n, key.w, key.w2, key.wb, key.wb2, key.w2b2);
	}
	report_store_sql(store, "INSERT INTO window VALUES(%llu, 1, 1, 1, %d, %d, %.0f, %.0f, %.0f, %.0f, %.0f, %.0f, 0, 0)",
	    start_us, t->pkts, t->octets, all.n, all.w, all.w2, all.wb, all.wb2, all.w2b2);
	report_store_sql(store, "INSERT INTO window_port VALUES(%llu, 1, 1, %.0f, %.0f)", start_us, all.n, all.n);
}

/* The report of one minute as text has it, compared with the minute before. */
static bool
has_mark(struct query *query, int minute, enum estimate_unit sort)
{
	struct report_options options = report_store_options();
	struct report_result result = {0};
	bool marked = false;

	options.by = REPORT_BY_SRC;
	options.sort = sort;
	options.top = TOP;
	options.fold_few = true;
	options.all = false;
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0 + (uint64_t)minute * MINUTE;
	options.to_us = options.from_us + MINUTE;
	options.wants_change = true;
	ck_assert_int_eq(report_find("talkers")->run(query, &options, options.to_us, &result), 0);
	ck_assert_int_eq(compare_with_past(report_find("talkers"), query, &options, options.to_us, MINUTE, &result), 0);
	for (size_t r = 0; r < result.n_rows; r++)
		marked |= result.list->changes[r].direction != REPORT_NOT_SETTLED;
	report_result_free(&result);
	return marked;
}

static const struct {
	const char *name;
	int skips[2]; /* of even minutes, of odd ones */
} cases[] = {
	{"--versus of unchanged traffic, 1 in 100", {100, 100}},
	{"--versus of unchanged traffic, 1 in 20 beside 200", {20, 200}},
	{"--versus of unchanged traffic, 1 in 100 beside 1,000", {100, 1000}},
};

START_TEST(what_did_not_change_has_no_mark)
{
	static const struct bar bar = {.least = 0.95};
	int minutes = suite_effort_at_most(getenv("EASE_LONG") ? LONG_MINUTES : MINUTES);
	struct bars_tally tally[ESTIMATE_N_UNITS] = {{0, 0, 0}};
	char error[QUERY_ERROR_TEXT];
	struct report_store store;
	struct skip_stream stream;
	struct traffic traffic;
	struct query *query;
	bool good = true;

	minutes = minutes > 2 ? minutes : 2;
	skip_stream_seed(&stream, 7);
	make_traffic(&traffic, &stream);
	report_store_make(&store);
	report_store_agent(&store, 1, minutes * 60);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_sql_text(&store, "BEGIN");
	for (int minute = 0; minute < minutes; minute++)
		store_minute(&store, &traffic, &stream, minute, cases[_i].skips[minute % 2]);
	report_store_sql_text(&store, "COMMIT");
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	for (int minute = 1; minute < minutes; minute++)
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			bars_count(&tally[u], has_mark(query, minute, (enum estimate_unit)u));
	query_close(query);
	report_store_remove(&store);
	for (int u = 0; u < ESTIMATE_N_UNITS && !suite_is_slow(); u++)
		good &= bars_check(cases[_i].name, (enum estimate_unit)u, &tally[u], &bar, NULL);
	ck_assert_msg(good, "%s: beyond what must hold", cases[_i].name);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("versus");
	TCase *tc = tcase_create("versus");

	tcase_set_timeout(tc, 900);
	tcase_add_loop_test(tc, what_did_not_change_has_no_mark, 0, (int)(sizeof(cases) / sizeof(*cases)));
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
