/*
 * Do figures hold as they are printed? Sums over many ports with equal and mixed skips, keys that have most of a
 * port, rows of lists by rank, what no row shows. Over made traffic (model.h) and many seeds; low and high misses
 * are judged apart. Ten times as many seeds with EASE_LONG. What is measured is printed.
 */
#include "tests/collector/estimate/model.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_name[] = {"packets", "octets"};

/* At least `held`, at most `low` and `high` missed on each side; three standard deviations of what few trials
 * leave open. */
struct bar {
	double held, low, high;
};

static double
slack(double p, const struct model_tally *t)
{
	return 3 * sqrt(fmax(p, 0.005) * (1 - p) / (double)t->trials);
}

static void
judge_bar(const char *name, enum estimate_unit unit, const struct model_tally *t, const struct bar *bar)
{
	double low = (double)t->low / (double)t->trials, high = (double)t->high / (double)t->trials;

	printf("%-46s %-7s %8lu trials, held %.4f, low %.4f, high %.4f\n", name, unit_name[unit], t->trials,
	    model_held(t), low, high);
	ck_assert_msg(t->trials >= 100, "%s: %lu trials tell nothing", name, t->trials);
	ck_assert_msg(model_held(t) >= bar->held - slack(1 - bar->held, t), "%s, %s: only %.4f hold", name,
	    unit_name[unit], model_held(t));
	ck_assert_msg(low <= bar->low + slack(bar->low, t), "%s, %s: %.4f below the lower limit", name,
	    unit_name[unit], low);
	ck_assert_msg(high <= bar->high + slack(bar->high, t), "%s, %s: %.4f above the upper limit", name,
	    unit_name[unit], high);
}

static double
truth_of(const struct model *m, size_t key, enum estimate_unit unit)
{
	return unit == ESTIMATE_PKTS ? m->keys[key].pkts : m->keys[key].octets_sum;
}

/* ---- one key that is named beforehand ---- */

static const struct named_case {
	const char *name;
	struct model_shape shape;
	int seeds;
	struct bar bar;
} named_cases[] = {
	{"1 port, 1 in 100", {.n_ports = 1, .n_keys = 30, .zipf = 0.7, .pkts = 60000, .skips = {100}}, 200,
	    {0.94, 0.028, 0.04}},
	{"8 ports, 1 in 100, 1 expected at each",
	    {.n_ports = 8, .n_keys = 30, .pkts = 3000, .skips = {100}}, 150, {0.93, 0.035, 0.06}},
	{"48 ports, 1 in 100, 1 expected at each",
	    {.n_ports = 48, .n_keys = 30, .pkts = 3000, .skips = {100}}, 60, {0.93, 0.035, 0.06}},
	{"200 ports, 1 in 100, 0.3 expected at each",
	    {.n_ports = 200, .n_keys = 30, .pkts = 900, .skips = {100}}, 40, {0.93, 0.035, 0.06}},
	{"48 ports, 1 in 100, quiet: 3 samples at each",
	    {.n_ports = 48, .n_keys = 20, .zipf = 0.5, .pkts = 300, .skips = {100}}, 150, {0.94, 0.035, 0.06}},
	{"8 ports, 1 in 10 and 100", {.n_ports = 8, .n_keys = 30, .pkts = 12000, .skips = {10, 100}}, 100,
	    {0.92, 0.032, 0.07}},
	{"8 ports, 1 in 100 and 10,000", {.n_ports = 8, .n_keys = 20, .pkts = 80000, .skips = {100, 10000}}, 150,
	    {0.92, 0.032, 0.07}},
	{"48 ports, 1 in 10, 100 and 1,000",
	    {.n_ports = 48, .n_keys = 20, .pkts = 8000, .skips = {10, 100, 1000}}, 40, {0.92, 0.032, 0.07}},
	{"each key at 2 of 48 ports, 1 in 20 and 2,000",
	    {.n_ports = 48, .n_keys = 48, .at_ports = 2, .pkts = 30000, .skips = {20, 2000}}, 60,
	    {0.92, 0.032, 0.07}},
	{"2 keys at a port, skip 20, then 200",
	    {.n_ports = 1, .n_keys = 2, .zipf = 4, .pkts = 40000, .skips = {20}, .skip_factor = 10}, 2000,
	    {0.94, 0.045, 0.06}},
	{"2 keys at a port, skip 20, then 2,000",
	    {.n_ports = 1, .n_keys = 2, .zipf = 4, .pkts = 40000, .skips = {20}, .skip_factor = 100}, 2000,
	    {0.92, 0.05, 0.08}},
};

START_TEST(limits_of_a_named_key_hold)
{
	const struct named_case *c = &named_cases[_i];
	struct model_tally tally[ESTIMATE_N_UNITS] = {{0, 0, 0}};
	struct model model;

	model_make(&model, &c->shape);
	for (int seed = 1; seed <= suite_effort_at_most(suite_effort(c->seeds)); seed++) {
		struct model_run run;

		model_sample(&model, (uint64_t)seed, &run);
		for (size_t k = 0; k < model.n_keys; k++)
			for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
				struct estimate_figure f = estimate_key_figure(run.range, &run.keys[k],
				    (enum estimate_unit)u, &estimate_claim_95);

				model_judge(&tally[u], &f, truth_of(&model, k, (enum estimate_unit)u));
			}
		model_run_free(&run);
	}
	for (int u = 0; u < ESTIMATE_N_UNITS && !suite_is_slow(); u++)
		judge_bar(c->name, (enum estimate_unit)u, &tally[u], &c->bar);
	model_free(&model);
}
END_TEST

/* ---- lists ---- */

enum { ROWS = 10, FEW = 5 };

static const struct list_case {
	const char *name;
	struct model_shape shape;
	int seeds;
	bool flat; /* exactly equal keys: what rows have together is not promised */
} list_cases[] = {
	{"1,000 equal keys", {.n_ports = 1, .n_keys = 1000, .pkts = 300000, .skips = {100}}, 120, true},
	{"Zipf 0.5", {.n_ports = 1, .n_keys = 1000, .zipf = 0.5, .pkts = 300000, .skips = {100}}, 120, false},
	{"Zipf 1", {.n_ports = 1, .n_keys = 1000, .zipf = 1, .pkts = 300000, .skips = {100}}, 120, false},
	{"Zipf 1.5", {.n_ports = 1, .n_keys = 1000, .zipf = 1.5, .pkts = 300000, .skips = {100}}, 120, false},
	{"Zipf 1, 8 ports, 1 in 100 and 1,000",
	    {.n_ports = 8, .n_keys = 400, .zipf = 1, .pkts = 50000, .skips = {100, 1000}}, 120, false},
	{"Zipf 1, 48 ports, each key at one",
	    {.n_ports = 48, .n_keys = 500, .at_ports = 1, .zipf = 1, .pkts = 6000, .skips = {100}}, 120, false},
};

/* What lists are held to (estimates as they are printed, over all seeds of a case). */
struct list_tally {
	struct model_tally rows, first, fifth, tenth, seen, together, others, not_seen;
	unsigned long lists, wrong_ranks, wrong_sure, unseen_above;
};

static double
rank_of(const struct model *m, size_t key, enum estimate_unit unit)
{
	double larger = 0;

	for (size_t k = 0; k < m->n_keys; k++)
		larger += truth_of(m, k, unit) > truth_of(m, key, unit);
	return 1 + larger;
}

/* A rank range is wrong if the key cannot stand in it, however keys of the same size are ordered. */
static bool
is_wrong_rank(const struct model *m, size_t key, enum estimate_unit unit, const struct estimate_rank *rank)
{
	double best = rank_of(m, key, unit), equal = 0;

	for (size_t k = 0; k < m->n_keys; k++)
		equal += truth_of(m, k, unit) == truth_of(m, key, unit);
	return best > rank->high || best + equal - 1 < rank->low;
}

static void
judge_ranks(const struct model *m, const struct model_run *run, const struct model_list *list, const size_t *rows,
    size_t n_rows, enum estimate_unit unit, struct list_tally *tally, const struct estimate_not_seen *not_seen)
{
	struct estimate_order order = {list->n, list->estimate, list->own_variance, list->samples};
	struct estimate_rank ranks[ROWS];
	double lows[ROWS];
	struct estimate_claim claim = {0.01 / (double)list->n, 0.025, true};
	struct estimate_unseen_bounds bounds = {
		estimate_any_unseen_pkts(run->range, 0.01) * (unit == ESTIMATE_PKTS ? 1 : 1518),
		estimate_not_seen_figure(run->range, not_seen, unit, 0.005).high,
	};
	bool wrong = false, wrong_sure = false;

	for (size_t i = 0; i < n_rows; i++)
		lows[i] = estimate_key_figure(run->range, &run->keys[list->key[rows[i]]], unit, &claim).low;
	ck_assert_int_eq(estimate_ranks(&order, rows, n_rows, lows, &bounds, ranks), 0);
	for (size_t i = 0; i < n_rows; i++) {
		size_t key = list->key[rows[i]];

		ck_assert_uint_le(ranks[i].low, rows[i] + 1);
		ck_assert_uint_ge(ranks[i].high, rows[i] + 1);
		wrong |= is_wrong_rank(m, key, unit, &ranks[i]);
		wrong_sure |= ranks[i].high <= ROWS && rank_of(m, key, unit) > ROWS;
	}
	tally->wrong_ranks += wrong;
	tally->wrong_sure += wrong_sure;
}

/* Rows together, others with a sample, keys without one: values and truths. */
static void
judge_account(const struct model *m, const struct model_run *run, const struct model_list *list,
    const size_t *rows, size_t n_rows, enum estimate_unit unit, struct list_tally *tally,
    const struct estimate_not_seen *not_seen)
{
	struct estimate_order order = {list->n, list->estimate, list->own_variance, list->samples};
	struct estimate_sum choosing = estimate_choosing(&order, n_rows, FEW);
	double shown = 0, all = 0, truth_rows = 0, truth_seen = 0, truth_all = 0;
	double variance = choosing.variance, value, se;
	struct estimate_figure f;

	for (size_t i = 0; i < list->n; i++)
		all += list->estimate[i];
	for (size_t i = 0; i < n_rows; i++) {
		shown += list->estimate[rows[i]];
		truth_rows += truth_of(m, list->key[rows[i]], unit);
		variance += estimate_key_variance(&run->keys[list->key[rows[i]]], unit);
	}
	for (size_t i = 0; i < list->n; i++)
		truth_seen += truth_of(m, list->key[i], unit);
	for (size_t k = 0; k < m->n_keys; k++)
		truth_all += truth_of(m, k, unit);
	value = shown - choosing.value;
	f = (struct estimate_figure){value, value - 1.96 * sqrt(variance), value + 1.96 * sqrt(variance)};
	model_judge(&tally->together, &f, truth_rows);
	value = fmax(0, all - shown + choosing.value - not_seen->sum[unit].value);
	se = sqrt(variance + not_seen->sum[unit].variance);
	f = (struct estimate_figure){value, value - 1.96 * se, value + 1.96 * se};
	model_judge(&tally->others, &f, truth_seen - truth_rows);
	f = estimate_not_seen_figure(run->range, not_seen, unit, 0.025);
	model_judge(&tally->not_seen, &f, truth_all - truth_seen);
}

static void
judge_list(const struct model *m, const struct model_run *run, enum estimate_unit unit, struct list_tally *tally)
{
	struct model_list list;
	struct estimate_not_seen not_seen = {{{0, 0}, {0, 0}}};
	size_t rows[ROWS], n_rows = 0;
	double any = estimate_any_unseen_pkts(run->range, 0.05);
	bool above = false;

	model_list_make(m, run, unit, &list);
	for (size_t i = 0; i < list.n; i++)
		estimate_not_seen_add(&not_seen, &run->keys[list.key[i]]);
	for (size_t i = 0; i < list.n; i++) {
		struct estimate_claim claim = estimate_claim_of_row(i + 1, list.n);
		struct estimate_figure f = estimate_key_figure(run->range, &run->keys[list.key[i]], unit, &claim);
		double truth = truth_of(m, list.key[i], unit);

		model_judge(&tally->seen, &f, truth);
		if (n_rows == ROWS || list.samples[i] < FEW)
			continue;
		/* A row's place is that among the rows, which is that among keys unless small ones are left out. */
		claim = estimate_claim_of_row(n_rows + 1, list.n);
		f = estimate_key_figure(run->range, &run->keys[list.key[i]], unit, &claim);
		model_judge(&tally->rows, &f, truth);
		if (n_rows == 0)
			model_judge(&tally->first, &f, truth);
		if (n_rows == 4)
			model_judge(&tally->fifth, &f, truth);
		if (n_rows == 9)
			model_judge(&tally->tenth, &f, truth);
		rows[n_rows++] = i;
	}
	judge_ranks(m, run, &list, rows, n_rows, unit, tally, &not_seen);
	judge_account(m, run, &list, rows, n_rows, unit, tally, &not_seen);
	for (size_t k = 0; k < m->n_keys; k++)
		above |= run->keys[k].sums.n == 0 && m->keys[k].pkts > any;
	tally->unseen_above += above;
	tally->lists++;
	model_list_free(&list);
}

static void
judge_lists(const struct list_case *c, enum estimate_unit unit, const struct list_tally *t)
{
	static const struct bar row = {0.95, 0.025, 0.05}, seen = {0.955, 0.025, 0.045};
	static const struct bar packets = {0.93, 0.07, 0.07}, octets = {0.92, 0.08, 0.08}, anything = {0, 1, 1};
	const struct bar *sum = c->flat ? &anything : unit == ESTIMATE_PKTS ? &packets : &octets;
	static const struct bar not_seen = {0.91, 0.09, 0.09};
	char name[128];

	snprintf(name, sizeof(name), "%s: rows", c->name);
	judge_bar(name, unit, &t->rows, &row);
	snprintf(name, sizeof(name), "%s: every seen key", c->name);
	judge_bar(name, unit, &t->seen, &seen);
	if (t->first.trials >= 100) {
		snprintf(name, sizeof(name), "%s: rank 1", c->name);
		judge_bar(name, unit, &t->first, &row);
		snprintf(name, sizeof(name), "%s: rank 5", c->name);
		judge_bar(name, unit, &t->fifth, &row);
		snprintf(name, sizeof(name), "%s: rank 10", c->name);
		judge_bar(name, unit, &t->tenth, &row);
		snprintf(name, sizeof(name), "%s: rows together", c->name);
		judge_bar(name, unit, &t->together, sum);
		snprintf(name, sizeof(name), "%s: others seen", c->name);
		judge_bar(name, unit, &t->others, sum);
		snprintf(name, sizeof(name), "%s: not seen", c->name);
		judge_bar(name, unit, &t->not_seen, &not_seen);
	}
	printf("%-46s %-7s %8lu lists: wrong ranks %lu, wrong \"surely\" %lu, unseen above %lu\n", c->name,
	    unit_name[unit], t->lists, t->wrong_ranks, t->wrong_sure, t->unseen_above);
	ck_assert_uint_le(t->wrong_ranks, 2 + t->lists / 20);
	ck_assert_uint_le(t->wrong_sure, 2 + t->lists / 20);
	ck_assert_uint_le(t->unseen_above, 2 + t->lists / 20);
}

START_TEST(lists_hold_as_lists)
{
	const struct list_case *c = &list_cases[_i];
	struct list_tally tally[ESTIMATE_N_UNITS];
	struct model model;

	memset(tally, 0, sizeof(tally));

	model_make(&model, &c->shape);
	for (int seed = 1; seed <= suite_effort_at_most(suite_effort(c->seeds)); seed++) {
		struct model_run run;

		model_sample(&model, (uint64_t)seed, &run);
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			judge_list(&model, &run, (enum estimate_unit)u, &tally[u]);
		model_run_free(&run);
	}
	for (int u = 0; u < ESTIMATE_N_UNITS && !suite_is_slow(); u++)
		judge_lists(c, (enum estimate_unit)u, &tally[u]);
	model_free(&model);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("printed");
	TCase *tc = tcase_create("named keys");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, limits_of_a_named_key_hold, 0, (int)(sizeof(named_cases) / sizeof(*named_cases)));
	suite_add_tcase(suite, tc);
	tc = tcase_create("lists");
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, lists_hold_as_lists, 0, (int)(sizeof(list_cases) / sizeof(*list_cases)));
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
