/*
 * The effect of a disturbed network on figures and accounts, on the whole path from the sampler through
 * notifications and the collector's accounting to the estimator: intervals still hold the truth of
 * generated traffic, the reported loss is what was dropped, and what arrives twice counts once.
 */
#include "tests/collector/estimate/bars.h"
#include "tests/collector/estimate/coverage.h"
#include "tests/suite.h"

#include "agent/sampling/skip.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 20000, KEYS = 40, RUNS = 200, RUNS_WHEN_SLOW = 50, MEAN_SKIP = 20, LOSS_RUNS = 50, LONG_LOSS_RUNS = 1000 };

/* Of octets, above upper limits: 0.025, and three standard deviations of 6,000 trials. */
#define HIGH_MISSES 0.031

struct made {
	uint32_t octets[FRAMES], key[FRAMES];
	uint64_t octets_before[FRAMES + 1];
	struct coverage_truth truth[KEYS];
};

/* Keys of very different shares, lengths that differ by key, in no order; or odd keys only while
 * the skip is raised, as when it is they that raise it, and even ones only while it is not. A key
 * sends that many frames in a row. */
static struct made *
make_traffic(bool tied_to_rate, int in_a_row)
{
	static const uint32_t lengths[] = {64, 128, 590, 1518};
	struct made *m = calloc(1, sizeof(*m));
	struct skip_stream stream;

	ck_assert_ptr_nonnull(m);
	skip_stream_seed(&stream, 11);
	for (int i = 0; i < FRAMES; i++) {
		double u = (double)(skip_stream_next(&stream) >> 11) * 0x1p-53;

		m->key[i] = i % in_a_row ? m->key[i - 1] : (uint32_t)(KEYS * u * sqrt(u));
		if (tied_to_rate)
			m->key[i] = (m->key[i] & ~1u) | (i * COVERAGE_RATE_STEPS / FRAMES) % 2;
		m->octets[i] = lengths[skip_stream_next(&stream) % (m->key[i] % 4 + 1)];
		m->octets_before[i + 1] = m->octets_before[i] + m->octets[i];
		m->truth[m->key[i]].pkts++;
		m->truth[m->key[i]].octets += m->octets[i];
	}
	return m;
}

/* ---- intervals and reported loss ---- */

static const struct {
	struct transit_impairment how;
	enum sampling_draw draw;
	bool rate_change, periodic, tied_to_rate, bursts;
} cases[] = {
	{.how = {.lose = 0.05, .duplicate = 0.1, .reorder = 0.3}},
	{.how = {.lose = 0.3, .duplicate = 0.1, .reorder = 0.3}},
	{.how = {.lose = 0.05, .duplicate = 0.1, .reorder = 0.3}, .rate_change = true},
	{.how = {.lose = 0.3, .duplicate = 0.1, .reorder = 0.3}, .rate_change = true},
	{.how = {.lose = 0.3, .duplicate = 0.1, .reorder = 0.3}, .rate_change = true,
	    .draw = SAMPLING_UNIFORM},
	/* full notifications: samples are lost several together */
	{.how = {.lose = 0.3, .duplicate = 0.1, .reorder = 0.3, .pps = 100000},
	    .rate_change = true},
	/* and these are of one key */
	{.how = {.lose = 0.3, .duplicate = 0.1, .reorder = 0.3, .pps = 100000}, .bursts = true},
	{.how = {.lose = 0.05, .pps = 100000}, .bursts = true},
	{.how = {.lose = 0.05, .duplicate = 0.1, .reorder = 0.3}, .periodic = true},
	{.how = {.lose = 0.3, .duplicate = 0.1, .reorder = 0.3}, .rate_change = true,
	    .periodic = true},
	{.how = {.lose = 0.05, .duplicate = 0.1, .reorder = 0.3}, .rate_change = true,
	    .tied_to_rate = true},
	{.how = {.lose = 0.3, .duplicate = 0.1, .reorder = 0.3}, .rate_change = true,
	    .tied_to_rate = true},
};

static void
check_intervals(const struct coverage_traffic *traffic, int which)
{
	const int runs = suite_is_slow() ? RUNS_WHEN_SLOW : RUNS;
	struct coverage_options options = {
		.draw = cases[which].draw, .mean_skip = MEAN_SKIP, .runs = runs, .seed = 1,
		.impairment = &cases[which].how, .rate_change = cases[which].rate_change,
	};
	struct coverage_result results[COVERAGE_N_UNITS];
	struct coverage_accounts accounts;
	/* Upper limits allow for rare heavy samples, and for long frames in them, which here no key has: they are wide. */
	double wide = cases[which].rate_change ? 0.98 : 0.97;
	const double most[COVERAGE_N_UNITS] = {cases[which].tied_to_rate ? 0.99 : 0.97,
	    cases[which].tied_to_rate ? 0.99 : wide};

	ck_assert_int_eq(coverage_measure(traffic, &options, results, &accounts), 0);
	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++) {
		double covered = coverage_held(&results[unit]);

		ck_assert_uint_gt(results[unit].trials, 10 * runs);
		ck_assert_msg(covered >= 0.93 && covered <= most[unit], "case %d unit %d: %.4f", which,
		    unit, covered);
		ck_assert_msg(unit == 0 || suite_is_slow() || (double)results[unit].above <= HIGH_MISSES * (double)results[unit].trials,
		    "case %d: %llu octets above upper limits", which, (unsigned long long)results[unit].above);
		/* theory is that of samples lost one by one */
		ck_assert_msg(cases[which].bursts || fabs(results[unit].rms_ratio - 1) < 0.1,
		    "case %d unit %d: rms %.3f", which, unit, results[unit].rms_ratio);
		ck_assert_double_eq(accounts.total_error[unit], 0);
		/* a lower limit is one of all traffic, too */
		ck_assert_msg(results[unit].whole_below <= 0.025 * (double)results[unit].trials,
		    "case %d unit %d: %llu above all traffic", which, unit,
		    (unsigned long long)results[unit].whole_below);
		/* octets of a gap are those of the frames around it */
		ck_assert_double_le(accounts.cut_error[unit], 0.02);
	}
	ck_assert_double_le(accounts.loss_error, 0.01);
	ck_assert_double_eq_tol(accounts.loss_true, transit_loss(&cases[which].how), 0.01);
}

START_TEST(intervals_hold_and_loss_is_known)
{
	struct made *m = make_traffic(cases[_i].tied_to_rate, cases[_i].bursts ? 100 : 1);
	struct made *periodic = calloc(1, sizeof(*periodic));
	struct coverage_traffic traffic = {FRAMES, m->octets, m->key, KEYS, m->truth};

	if (cases[_i].periodic) {
		ck_assert_int_eq(coverage_make_periodic(&traffic, MEAN_SKIP, periodic->octets,
		    periodic->key), 0);
		traffic.octets = periodic->octets;
		traffic.key = periodic->key;
	}
	check_intervals(&traffic, _i);
	free(periodic);
	free(m);
}
END_TEST

/* The same frames, and each key at the same phase of the period. */
START_TEST(periodic_traffic_is_periodic)
{
	struct made *m = make_traffic(false, 1), *periodic = calloc(1, sizeof(*periodic));
	struct coverage_traffic traffic = {FRAMES, m->octets, m->key, KEYS, m->truth};
	int same = 0;

	ck_assert_int_eq(coverage_make_periodic(&traffic, MEAN_SKIP, periodic->octets,
	    periodic->key), 0);
	for (int i = 0; i < FRAMES; i++) {
		m->truth[periodic->key[i]].pkts--;
		m->truth[periodic->key[i]].octets -= periodic->octets[i];
		if (i < FRAMES / 4 - MEAN_SKIP)
			same += periodic->key[i] == periodic->key[i + MEAN_SKIP];
	}
	for (int k = 0; k < KEYS; k++) {
		ck_assert_uint_eq(m->truth[k].pkts, 0);
		ck_assert_uint_eq(m->truth[k].octets, 0);
	}
	ck_assert_int_gt(same, FRAMES / 4 * 99 / 100 - MEAN_SKIP);
	free(periodic);
	free(m);
}
END_TEST

/* ---- loss in runs ---- */

/* Keys send in bursts, and most of the time of a run or an outage nothing is known: what passed then is cut, and
 * limits are of the rest. */
static const struct loss_case {
	const char *name;
	struct transit_impairment how;
} loss_cases[] = {
	{"no loss", {.lose = 0}},
	{"5 % lost, one by one", {.lose = 0.05}},
	{"30 % lost, one by one", {.lose = 0.3}},
	{"5 % lost, 5 in a row", {.lose = 0.05, .run = 5}},
	{"5 % lost, 20 in a row", {.lose = 0.05, .run = 20}},
	{"30 % lost, 5 in a row", {.lose = 0.3, .run = 5}},
	{"30 % lost, 20 in a row", {.lose = 0.3, .run = 20}},
	{"30 % lost, 100 in a row", {.lose = 0.3, .run = 100}},
	{"an outage of 10 %", {.outage = 0.1}},
	{"an outage of 30 %", {.outage = 0.3}},
	{"30 % lost, 20 in a row, some 5 together", {.lose = 0.3, .run = 20, .pps = 2000}},
};

START_TEST(limits_hold_of_what_was_covered)
{
	static const struct bar bars[] = {{.least = 0.93, .most = 0.97, .low = 0.03},
	    {.least = 0.92, .most = 0.97, .low = 0.03}}, whole = {.low = 0.025};
	const struct loss_case *c = &loss_cases[_i];
	struct coverage_options options = {.draw = SAMPLING_GEOMETRIC, .mean_skip = MEAN_SKIP, .seed = 1,
	    .runs = suite_is_slow() ? 3 : getenv("EASE_LONG") ? LONG_LOSS_RUNS : LOSS_RUNS, .impairment = &c->how};
	struct made *m = make_traffic(false, 50);
	struct coverage_traffic traffic = {FRAMES, m->octets, m->key, KEYS, m->truth};
	struct coverage_result results[COVERAGE_N_UNITS];
	struct coverage_accounts accounts;
	bool good = true;
	char name[128];

	ck_assert_int_eq(coverage_measure(&traffic, &options, results, &accounts), 0);
	for (int unit = 0; unit < COVERAGE_N_UNITS && !suite_is_slow(); unit++) {
		const struct coverage_result *r = &results[unit];
		const struct bars_tally covered = {r->trials, r->below, r->above}, all = {r->trials, r->whole_below, 0};

		good &= bars_check(c->name, (enum estimate_unit)unit, &covered, &bars[unit], NULL);
		snprintf(name, sizeof(name), "%s, beside all traffic", c->name);
		good &= bars_check(name, (enum estimate_unit)unit, &all, &whole, NULL);
		ck_assert_double_eq(accounts.total_error[unit], 0);
	}
	printf("%s: %.1f %% of all frames are cut, in frames to %.1e, in octets to %.1e\n", c->name, 100 * accounts.cut,
	    accounts.cut_error[ESTIMATE_PKTS], accounts.cut_error[ESTIMATE_OCTETS]);
	/* the counted row; of octets as far as frames of a gap are as long as those around it */
	ck_assert_double_le(accounts.cut_error[ESTIMATE_PKTS], 0.001);
	ck_assert_double_le(accounts.cut_error[ESTIMATE_OCTETS], 0.03);
	ck_assert_double_le(accounts.loss_error, 0.01);
	ck_assert_msg(good, "%s: beyond what must hold", c->name);
	free(m);
}
END_TEST

/* ---- what arrives twice ---- */

static size_t
draw_samples(struct transit_sample *samples)
{
	struct skip_stream stream;
	size_t n = 0;
	bool partial;

	skip_stream_seed(&stream, 3);
	for (uint32_t next = 0; next < FRAMES; next++) {
		uint32_t mean = next / 1000 % 2 ? 40 : 10;
		uint32_t skip = skip_draw(&stream, SAMPLING_GEOMETRIC, mean, FRAMES, &partial);

		next += skip;
		if (next < FRAMES)
			samples[n++] = (struct transit_sample){next, skip, mean};
	}
	return n;
}

static struct transit_result
travel(const struct made *m, const struct transit_impairment *how, uint64_t seed, size_t *n)
{
	static struct transit_sample samples[FRAMES];
	struct transit_traffic traffic = {FRAMES, m->octets, m->octets_before, m->key, KEYS};
	struct transit_result result;

	*n = draw_samples(samples);
	ck_assert_int_eq(transit_run(&traffic, samples, *n, how, seed, &result), 0);
	ck_assert_uint_eq(result.books.refused, 0);
	return result;
}

/* What estimates are made of is the same to the last bit, what variances are made of as far as
 * seven digits go. */
static void
check_same_sums(const struct estimate_sums *a, const struct estimate_sums *b)
{
	const double variances[][2] = {{a->w2, b->w2}, {a->wb2, b->wb2}, {a->w2b2, b->w2b2},
	    {a->same.pkts, b->same.pkts}, {a->same.octets, b->same.octets},
	    {a->any.pkts, b->any.pkts}, {a->any.octets, b->any.octets}};

	ck_assert(a->n == b->n && a->w == b->w && a->wb == b->wb);
	for (size_t i = 0; i < sizeof(variances) / sizeof(variances[0]); i++)
		ck_assert_double_le(fabs(variances[i][0] - variances[i][1]),
		    1e-5 * variances[i][0]);
}

static void
check_same_books(const struct transit_books *a, const struct transit_books *b)
{
	int64_t expected[2] = {0, 0}, received[2] = {0, 0};

	for (int i = 0; i <= TRANSIT_MINUTES; i++) {
		check_same_sums(&a->minute[i].all, &b->minute[i].all);
		expected[0] += a->expected[i];
		expected[1] += b->expected[i];
		received[0] += a->received[i];
		received[1] += b->received[i];
		ck_assert_int_eq(a->received[i], b->received[i]);
	}
	ck_assert_int_eq(expected[0], expected[1]);
	ck_assert_int_eq(received[0], received[1]);
	for (int k = 0; k < KEYS; k++)
		check_same_sums(&a->keys[k], &b->keys[k]);
	check_same_sums(&a->whole.all, &b->whole.all);
	ck_assert(a->whole.pool_pkts + a->cut[0] == b->whole.pool_pkts + b->cut[0]);
	ck_assert(a->whole.pool_octets + a->cut[1] == b->whole.pool_octets + b->cut[1]);
	/* what is given back of a gap has the mean length of other frames */
	ck_assert_double_le(fabs(a->cut[0] - b->cut[0]), 0.03 * a->cut[0] + 2);
	ck_assert_double_le(fabs(a->cut[1] - b->cut[1]), 0.01 * a->whole.pool_octets);
	ck_assert(a->whole.lost == b->whole.lost);
	ck_assert_uint_eq(a->account.expected, b->account.expected);
	ck_assert_uint_eq(a->account.received, b->account.received);
	ck_assert_mem_eq(a->account.tracker, b->account.tracker, sizeof(a->account.tracker));
}

/* True totals and expectations by minute too: a second feeding changes nothing at all. */
START_TEST(fed_twice_in_a_row)
{
	const struct transit_impairment once = {.pps = 0};
	const struct transit_impairment twice = {.copies = 2, .copies_come = TRANSIT_IN_A_ROW};
	struct made *m = make_traffic(false, 1);
	size_t n;
	struct transit_result a = travel(m, &once, 1, &n), b = travel(m, &twice, 2, &n);

	check_same_books(&a.books, &b.books);
	ck_assert_mem_eq(a.books.minute, b.books.minute, sizeof(a.books.minute));
	ck_assert_mem_eq(a.books.expected, b.books.expected, sizeof(a.books.expected));
	ck_assert_uint_eq(a.books.account.received, n);
	ck_assert_uint_eq(a.books.account.duplicates, 0);
	ck_assert_uint_eq(b.books.account.duplicates, n);
	transit_free(&a);
	transit_free(&b);
	free(m);
}
END_TEST

START_TEST(two_copies_in_any_order)
{
	const struct transit_impairment once = {.pps = _i % 2 ? 2000 : 0};
	const struct transit_impairment mixed = {.copies = 2, .reorder = 0.5, .pps = once.pps};
	struct made *m = make_traffic(false, 1);
	size_t n;
	struct transit_result a = travel(m, &once, 1, &n);
	struct transit_result b = travel(m, &mixed, 1 + (uint64_t)_i, &n);

	check_same_books(&a.books, &b.books);
	ck_assert_uint_eq(b.books.account.duplicates, n);
	ck_assert_uint_gt(b.books.account.reordered, n / 10);
	ck_assert_double_eq(b.loss_reported, 0);
	transit_free(&a);
	transit_free(&b);
	free(m);
}
END_TEST

/* Two collectors that get the same notifications, each in an order of its own, with losses. */
START_TEST(two_collectors_agree)
{
	const struct transit_impairment one = {.lose = 0.3, .duplicate = 0.2, .reorder = 0.3};
	struct transit_impairment other = one;
	struct made *m = make_traffic(false, 1);
	struct transit_result a, b;
	size_t n;

	other.order = 77;
	a = travel(m, &one, 9, &n);
	b = travel(m, &other, 9, &n);
	ck_assert_uint_ne(a.books.account.reordered, b.books.account.reordered);
	check_same_books(&a.books, &b.books);
	ck_assert_double_gt(a.loss_true, 0.25);
	ck_assert_double_eq_tol(a.loss_reported, a.loss_true, 1e-9);
	transit_free(&a);
	transit_free(&b);
	free(m);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("transit");
	TCase *tcase = tcase_create("transit");

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, intervals_hold_and_loss_is_known, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_loop_test(tcase, limits_hold_of_what_was_covered, 0, (int)(sizeof(loss_cases) / sizeof(*loss_cases)));
	tcase_add_test(tcase, periodic_traffic_is_periodic);
	tcase_add_test(tcase, fed_twice_in_a_row);
	tcase_add_loop_test(tcase, two_copies_in_any_order, 0, 8);
	tcase_add_test(tcase, two_collectors_agree);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
