/*
 * Do lists hold as they are printed? Rows chosen by rank and by samples, every key of JSON, rows together, others,
 * keys without a sample, ranks that are right together, and the bound for any source. Over made traffic and real
 * captures (model.h) and many seeds; low and high misses are judged apart (bars.h). With EASE_LONG 10,000 lists a case.
 */
#include "tests/collector/estimate/bars.h"
#include "tests/collector/estimate/model.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS = 10,
	FEW = 5,	  /* samples that a row of text needs */
	LISTS = 60, LONG_LISTS = 10000,
	JSON_EACH = 10,	  /* every key of each tenth list, when they are many */
	LONGEST = 1518,
};

struct list_case {
	const char *name;
	const char *capture; /* NULL: made by the shape */
	enum model_by by;
	struct model_shape shape; /* of a capture only n_ports */
	struct model_sampling sampling;
	double not_seen; /* bar of it, if not the usual one */
};

#define ZIPF(exponent) {.n_ports = 1, .n_keys = 1000, .zipf = exponent, .pkts = 300000}
#define CAPTURED(what, file, dimension, ports, ...) \
	{.name = what, .capture = file, .by = dimension, .shape = {.n_ports = ports}, .sampling = {{__VA_ARGS__}, 0, 0, 0}}

#define MIXED_CASE "Zipf 1, 8 ports, 1 in 10 and 5,000"
#define HEAVY_CASE "Zipf 1, skip 100 times in a tenth"

static const struct list_case cases[] = {
	{.name = "1,000 equal keys", .shape = ZIPF(0), .sampling = {{100}, 0, 0, 0}},
	{.name = "Zipf 0.5", .shape = ZIPF(0.5), .sampling = {{100}, 0, 0, 0}},
	{.name = "Zipf 1", .shape = ZIPF(1), .sampling = {{100}, 0, 0, 0}},
	{.name = "Zipf 1.5", .shape = ZIPF(1.5), .sampling = {{100}, 0, 0, 0}},
	{.name = "Zipf 1, 8 ports, 1 in 100 and 1,000",
	    .shape = {.n_ports = 8, .n_keys = 400, .zipf = 1, .pkts = 50000}, .sampling = {{100, 1000}, 0, 0, 0}},
	{.name = "Zipf 1, 48 ports, each key at one",
	    .shape = {.n_ports = 48, .n_keys = 500, .at_ports = 1, .zipf = 1, .pkts = 6000},
	    .sampling = {{100}, 0, 0, 0}},
	{.name = "Zipf 1, 300 samples", .shape = ZIPF(1), .sampling = {{1000}, 0, 0, 0}},
	{.name = "Zipf 1.1, 50,000 keys, 150 samples",
	    .shape = {.n_ports = 1, .n_keys = 50000, .zipf = 1.1, .pkts = 150000}, .sampling = {{1000}, 0, 0, 0}},
	{.name = MIXED_CASE,
	    .shape = {.n_ports = 8, .n_keys = 400, .zipf = 1, .pkts = 50000}, .sampling = {{10, 5000}, 0, 0, 0}},
	{.name = HEAVY_CASE, .shape = ZIPF(1), .sampling = {{20}, 100, 0.9, 0}, .not_seen = 0.83},
	{.name = "50 keys, skip 10 times in half",
	    .shape = {.n_ports = 1, .n_keys = 50, .zipf = 1, .pkts = 300000}, .sampling = {{100}, 10, 0.5, 0}},
	CAPTURED("composed-a, source, 1 in 20", "composed-a.pcap", MODEL_BY_MAC_SRC, 8, 20),
	CAPTURED("composed-a, IP pair, 1 in 20", "composed-a.pcap", MODEL_BY_IP_PAIR, 8, 20),
	CAPTURED("composed-a, IP source, 1 in 100", "composed-a.pcap", MODEL_BY_IP_SRC, 1, 100),
	CAPTURED("composed-a, pair, 1 in 100", "composed-a.pcap", MODEL_BY_MAC_PAIR, 8, 100),
	CAPTURED("composed-a, source, 1 in 400", "composed-a.pcap", MODEL_BY_MAC_SRC, 8, 400),
	CAPTURED("composed-a, IP pair, 1 in 400", "composed-a.pcap", MODEL_BY_IP_PAIR, 1, 400),
	CAPTURED("many-hosts-mapi, pair, 1 in 20", "many-hosts-mapi.pcap", MODEL_BY_MAC_PAIR, 8, 20),
	CAPTURED("many-hosts-mapi, source, 1 in 400", "many-hosts-mapi.pcap", MODEL_BY_MAC_SRC, 8, 400),
	CAPTURED("many-flows-teams, IP pair, 1 in 20", "many-flows-teams.pcap", MODEL_BY_IP_PAIR, 8, 20),
};

#define RARE_HEAVY "of 15 samples of 1 in 2,000 the first key, with 13 % of all frames, may have none"
#define MIXED_LENGTHS "what a heavy sample brought into the list is known in the unit of its order only"
static const struct bars_exception exceptions[] = {
	{HEAVY_CASE ": rank 1", ESTIMATE_PKTS, {.least = 0.90, .low = 0.025}, RARE_HEAVY},
	{MIXED_CASE ": others, in the other unit", ESTIMATE_PKTS, {.least = 0.89}, MIXED_LENGTHS},
	{MIXED_CASE ": others, in the other unit", ESTIMATE_OCTETS, {.least = 0.91}, MIXED_LENGTHS},
	{MIXED_CASE ": rows together, in the other unit", ESTIMATE_PKTS, {.least = 0.91}, MIXED_LENGTHS},
	{MIXED_CASE ": rows together, in the other unit", ESTIMATE_OCTETS, {.least = 0.91}, MIXED_LENGTHS},
	{NULL, 0, {0, 0, 0, 0}, NULL},
};

/* Classes of samples: of the rows of a text list, and of all keys. */
enum { N_CLASSES = 5 };
static const struct {
	const char *name;
	uint64_t most;
} classes[N_CLASSES] = {{"n 1", 1}, {"n 2-4", 4}, {"n 5-9", 9}, {"n 10-19", 19}, {"n 20+", UINT64_MAX}};

static size_t
class_of(uint64_t samples)
{
	size_t c = 0;

	while (samples > classes[c].most)
		c++;
	return c;
}

struct list_tally {
	struct bars_tally rows, rank[ROWS], rows_of[N_CLASSES], all, all_of[N_CLASSES];
	struct bars_tally together, others, not_seen, ranks, surely, any, sure;
	struct bars_tally together_other, others_other; /* in the unit that the list is not sorted by */
	struct bars_tally together_json, others_json;	/* where a row needs one sample */
	struct bars_tally at_once; /* --sure list: all limits of the rows */
};

/* One list in one unit, and what it is of. */
struct printed {
	const struct model *model;
	const struct model_run *run;
	enum estimate_unit unit;
	struct model_list list;
	struct estimate_order order;
	size_t rows[ROWS], n_rows; /* of the list */
	struct estimate_rank *ranks; /* of the rows */
	double *truth;		   /* by the model's keys: at ports that have a sample */
	struct list_tally *tally;
};

static struct estimate_figure
figure_of(const struct printed *p, size_t i, const struct estimate_claim *claim)
{
	return estimate_key_figure(p->run->range, &p->run->keys[p->list.key[i]], p->unit, claim);
}

/* Ranks of these rows; to be freed. */
static struct estimate_rank *
ranks_of(const struct printed *p, const size_t *rows, size_t n_rows)
{
	const struct estimate_claim claim = {0.01 / (double)p->list.n, 0.025, true};
	const struct estimate_unseen_bounds bounds = {
		estimate_any_unseen_pkts(p->run->range, 0.01) * (p->unit == ESTIMATE_PKTS ? 1 : LONGEST),
		estimate_not_seen_figure(p->run->range, &p->run->told.not_seen, p->unit, 0.005).high,
	};
	struct estimate_rank *ranks = calloc(n_rows + 1, sizeof(*ranks));
	double *lows = calloc(n_rows + 1, sizeof(*lows));

	ck_assert(ranks && lows);
	for (size_t i = 0; i < n_rows; i++)
		lows[i] = figure_of(p, rows[i], &claim).low;
	ck_assert_int_eq(estimate_ranks(&p->order, rows, n_rows, lows, &bounds, ranks), 0);
	free(lows);
	return ranks;
}

/* Of one row of the list, at this place among the rows shown. */
static struct estimate_claim
claim_of(const struct printed *p, size_t place, size_t row)
{
	size_t n_rivals;

	ck_assert_int_eq(estimate_rivals(&p->order, &row, 1, p->list.n, &n_rivals), 0);
	return estimate_claim_of_row(place, n_rivals);
}

/* ---- rows, and every key of JSON ---- */

static void
judge_rows(struct printed *p)
{
	const struct estimate_claim all = estimate_claim_of_all(p->list.n);
	bool wrong = false;

	for (size_t i = 0; i < p->list.n && p->n_rows < ROWS; i++)
		if (p->list.samples[i] >= FEW)
			p->rows[p->n_rows++] = i;
	p->ranks = ranks_of(p, p->rows, p->n_rows);
	for (size_t r = 0; r < p->n_rows; r++) {
		struct estimate_claim claim = claim_of(p, r + 1, p->rows[r]);
		size_t i = p->rows[r];
		double truth = p->truth[p->list.key[i]];
		struct estimate_figure f = figure_of(p, i, &claim);

		bars_judge(&p->tally->rows, &f, truth);
		bars_judge(&p->tally->rank[r], &f, truth);
		bars_judge(&p->tally->rows_of[class_of(p->list.samples[i])], &f, truth);
		f = figure_of(p, i, &all);
		wrong |= truth < f.low || truth > f.high;
	}
	bars_count(&p->tally->at_once, wrong);
}

/* --sure list: the limits of all rows at once. */
static void
judge_sure(struct printed *p)
{
	struct estimate_claim claim = estimate_claim_of_all(p->list.n);
	struct bars_tally rows = {0, 0, 0};

	for (size_t i = 0; i < p->n_rows; i++) {
		struct estimate_figure f = figure_of(p, p->rows[i], &claim);

		bars_judge(&rows, &f, p->truth[p->list.key[p->rows[i]]]);
	}
	bars_count(&p->tally->sure, rows.low + rows.high > 0);
}

static void
judge_all(struct printed *p)
{
	size_t *rows = calloc(2 * p->list.n + 1, sizeof(*rows)), *rivals = rows + p->list.n;

	ck_assert_ptr_nonnull(rows);
	for (size_t i = 0; i < p->list.n; i++)
		rows[i] = i;
	ck_assert_int_eq(estimate_rivals(&p->order, rows, p->list.n, p->list.n, rivals), 0);
	for (size_t i = 0; i < p->list.n; i++) {
		struct estimate_claim claim = estimate_claim_of_row(i + 1, rivals[i]);
		struct estimate_figure f = figure_of(p, i, &claim);

		bars_judge(&p->tally->all, &f, p->truth[p->list.key[i]]);
		bars_judge(&p->tally->all_of[class_of(p->list.samples[i])], &f, p->truth[p->list.key[i]]);
	}
	free(rows);
}

/* ---- ranks ---- */

static double
larger_than(const struct printed *p, double truth, bool or_equal)
{
	double n = 0;

	for (size_t k = 0; k < p->model->n_keys; k++)
		n += p->truth[k] > truth || (or_equal && p->truth[k] == truth);
	return n;
}

/* A range is wrong if the key cannot stand in it, however keys of the same size are ordered. */
static void
judge_ranks(struct printed *p)
{
	const struct estimate_rank *ranks = p->ranks;
	bool wrong = false, wrong_surely = false;

	for (size_t i = 0; i < p->n_rows; i++) {
		double truth = p->truth[p->list.key[p->rows[i]]], larger = larger_than(p, truth, false);

		ck_assert_uint_le(ranks[i].low, p->rows[i] + 1);
		ck_assert_uint_ge(ranks[i].high, p->rows[i] + 1);
		wrong |= larger + 1 > ranks[i].high || larger_than(p, truth, true) < ranks[i].low;
		wrong_surely |= ranks[i].high <= ROWS && larger >= ROWS;
	}
	bars_count(&p->tally->ranks, wrong);
	bars_count(&p->tally->surely, wrong_surely);
}

/* ---- the account ---- */

/* All samples of keys that are rows, or of the others, as those of one key. */
static struct estimate_key
united(const struct printed *p, const bool *is_row, bool rows)
{
	struct estimate_sums *sums = calloc(p->model->n_ports, sizeof(*sums));
	struct estimate_key key;

	ck_assert_ptr_nonnull(sums);
	for (size_t i = 0; i < p->run->n_parts; i++)
		if (is_row[p->run->parts[i].key] == rows)
			estimate_add_sums(&sums[p->run->parts[i].port], &p->run->parts[i].sums);
	estimate_key_begin(&key);
	for (size_t i = 0; i < p->model->n_ports; i++) {
		estimate_unite(&sums[i]);
		estimate_key_add(p->run->range, &key, i, &sums[i]);
	}
	estimate_key_end(p->run->range, &key);
	free(sums);
	return key;
}

/* The account in one unit of a list that is sorted by its own. */
static void
judge_lines(struct printed *p, const bool *is_row, struct estimate_sum choosing, enum estimate_unit unit,
    struct bars_tally *together, struct bars_tally *other, struct bars_tally *unseen)
{
	double rows = 0, others = 0, not_seen = 0, lines;
	struct estimate_key of_rows = united(p, is_row, true), of_others = united(p, is_row, false);
	struct estimate_account account;

	for (size_t k = 0; k < p->model->n_keys; k++) {
		double truth = unit == p->unit ? p->truth[k] : model_truth(p->model, p->run, k, unit);
		bool seen = p->run->keys[k].sums.n > 0;

		rows += is_row[k] ? truth : 0;
		others += seen && !is_row[k] ? truth : 0;
		not_seen += seen ? 0 : truth;
	}
	choosing = estimate_choosing_in(&choosing, p->unit, &of_rows, unit);
	estimate_account(p->run->range, unit, &of_rows, &of_others, &choosing, &p->run->told.not_seen, &account);
	lines = account.rows.estimate + account.others.estimate + account.not_seen.estimate;
	ck_assert_double_eq_tol(lines / estimate_range_covered(p->run->range, unit), 1, 1e-9);
	bars_judge(together, &account.rows, rows);
	bars_judge(other, &account.others, others);
	if (unseen)
		bars_judge(unseen, &account.not_seen, not_seen);
}

static void
judge_account(struct printed *p)
{
	enum estimate_unit other = p->unit == ESTIMATE_PKTS ? ESTIMATE_OCTETS : ESTIMATE_PKTS;
	struct estimate_sum choosing = estimate_choosing(&p->order, p->n_rows, FEW);
	bool *is_row = calloc(p->model->n_keys, sizeof(*is_row));

	ck_assert_ptr_nonnull(is_row);
	for (size_t i = 0; i < p->n_rows; i++)
		is_row[p->list.key[p->rows[i]]] = true;
	judge_lines(p, is_row, choosing, p->unit, &p->tally->together, &p->tally->others, &p->tally->not_seen);
	judge_lines(p, is_row, choosing, other, &p->tally->together_other, &p->tally->others_other, NULL);
	free(is_row);
}

/* In every format but text. */
static void
judge_account_of_json(struct printed *p)
{
	size_t n_rows = p->list.n < ROWS ? p->list.n : ROWS;
	bool *is_row = calloc(p->model->n_keys, sizeof(*is_row));

	ck_assert_ptr_nonnull(is_row);
	for (size_t i = 0; i < n_rows; i++)
		is_row[p->list.key[i]] = true;
	judge_lines(p, is_row, estimate_choosing(&p->order, n_rows, 1), p->unit, &p->tally->together_json,
	    &p->tally->others_json, NULL);
	free(is_row);
}

static void
judge_any(struct printed *p)
{
	double any = estimate_any_unseen_pkts(p->run->range, 0.05);
	bool above = false;

	for (size_t k = 0; k < p->model->n_keys; k++)
		above |= p->run->keys[k].sums.n == 0 && p->truth[k] > any;
	bars_count(&p->tally->any, above);
}

static void
judge_list(const struct model *model, const struct model_run *run, enum estimate_unit unit, bool all,
    struct list_tally *tally)
{
	struct printed p = {.model = model, .run = run, .unit = unit, .tally = tally};

	p.truth = calloc(model->n_keys, sizeof(*p.truth));
	ck_assert_ptr_nonnull(p.truth);
	for (size_t k = 0; k < model->n_keys; k++)
		p.truth[k] = model_truth(model, run, k, unit);
	model_list_make(model, run, unit, &p.list);
	p.order = (struct estimate_order){p.list.n, p.list.estimate, p.list.own_variance, p.list.samples, 0};
	judge_rows(&p);
	if (all)
		judge_all(&p);
	if (p.n_rows > 0) {
		judge_sure(&p);
		judge_ranks(&p);
		judge_account(&p);
	}
	if (p.list.n > 0)
		judge_account_of_json(&p);
	if (unit == ESTIMATE_PKTS)
		judge_any(&p);
	model_list_free(&p.list);
	free(p.ranks);
	free(p.truth);
}

/* ---- bars ---- */

/* What is judged of one case in one unit. */
struct verdict {
	const struct list_case *list;
	enum estimate_unit unit;
	unsigned long enough; /* trials */
	bool bad;
};

static void
check_row(struct verdict *v, const char *what, const struct bars_tally *tally, const struct bar *bar)
{
	char name[128];

	snprintf(name, sizeof(name), "%s: %s", v->list->name, what);
	/* What few lists have, or few of many keys, is there for having been overestimated. */
	if (tally->trials >= v->enough)
		v->bad |= !bars_check(name, v->unit, tally, bar, exceptions);
}

static bool
list_is_good(const struct list_case *c, enum estimate_unit unit, const struct list_tally *t, unsigned long lists)
{
	static const struct bar row = {.least = 0.95, .low = 0.025}, all = {.least = 0.955, .low = 0.025};
	static const struct bar sum = {.least = 0.94}, other_unit = {.least = 0.92}, always = {.least = 0.95};
	const struct bar not_seen = {.least = c->not_seen > 0 ? c->not_seen : 0.91};
	struct verdict v = {c, unit, lists / 4 > 30 ? lists / 4 : 30, false};
	char name[64];

	check_row(&v, "rows", &t->rows, &row);
	check_row(&v, "rank 1", &t->rank[0], &row);
	check_row(&v, "rank 5", &t->rank[4], &row);
	check_row(&v, "rank 10", &t->rank[9], &row);
	for (size_t i = class_of(FEW); i < N_CLASSES; i++) {
		snprintf(name, sizeof(name), "rows, %s", classes[i].name);
		check_row(&v, name, &t->rows_of[i], &row);
	}
	check_row(&v, "every key", &t->all, &all);
	for (size_t i = 0; i < N_CLASSES; i++) {
		snprintf(name, sizeof(name), "every key, %s", classes[i].name);
		if (t->all_of[i].trials > t->all.trials / 100)
			check_row(&v, name, &t->all_of[i], &all);
	}
	check_row(&v, "rows together", &t->together, &sum);
	check_row(&v, "others", &t->others, &sum);
	check_row(&v, "rows together, in the other unit", &t->together_other, &other_unit);
	check_row(&v, "others, in the other unit", &t->others_other, &other_unit);
	check_row(&v, "rows together, JSON", &t->together_json, &sum);
	check_row(&v, "others, JSON", &t->others_json, &sum);
	check_row(&v, "not seen", &t->not_seen, &not_seen);
	check_row(&v, "ranks", &t->ranks, &always);
	check_row(&v, "surely in the top 10", &t->surely, &always);
	check_row(&v, "any source", &t->any, &always);
	check_row(&v, "all rows with --sure list", &t->sure, &always);
	check_row(&v, "all limits at once", &t->at_once, &always);
	return !v.bad;
}

START_TEST(lists_hold_as_lists)
{
	const struct list_case *c = &cases[_i];
	int lists = getenv("EASE_LONG") ? LONG_LISTS : LISTS;
	struct list_tally tally[ESTIMATE_N_UNITS];
	struct model model;
	bool good = true;

	memset(tally, 0, sizeof(tally));
	if (!model_of(&model, c->name, c->capture, c->by, &c->shape, &c->sampling))
		return;
	for (int seed = 1; seed <= suite_effort_at_most(lists); seed++) {
		struct model_run run;

		model_sample(&model, (uint64_t)seed, &run);
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			judge_list(&model, &run, (enum estimate_unit)u, lists <= LISTS || seed % JSON_EACH == 0,
			    &tally[u]);
		model_run_free(&run);
	}
	for (int u = 0; u < ESTIMATE_N_UNITS && !suite_is_slow(); u++)
		good &= list_is_good(c, (enum estimate_unit)u, &tally[u], (unsigned long)lists);
	ck_assert_msg(good, "%s: beyond what must hold", c->name);
	model_free(&model);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("printed");
	TCase *tc = tcase_create("lists");

	tcase_set_timeout(tc, 900);
	tcase_add_loop_test(tc, lists_hold_as_lists, 0, (int)(sizeof(cases) / sizeof(*cases)));
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
