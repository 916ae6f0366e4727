/*
 * Precision on request without I/O: the language of goals; samples needed against the limits that lists print; sharing of
 * a budget; and simulated days of 48 ports (days.h) against the bars of the design. 50 seeds with tests/run --long.
 */
#include "tests/collector/precision/days.h"

#include "collector/estimate/estimate_list.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PERIODS_A_DAY = 288, PERIODS_SHORT = 96, SEEDS_LONG = 8 };

static unsigned
seeds(void)
{
	return getenv("EASE_LONG") && !suite_is_slow() ? SEEDS_LONG : 1;
}

static unsigned
periods(void)
{
	return suite_is_slow() ? 24 : getenv("EASE_LONG") ? PERIODS_A_DAY : PERIODS_SHORT;
}

/* ---- goals ---- */

START_TEST(goals_are_read)
{
	struct precision_goal g;
	const char *reason;

	ck_assert_int_eq(precision_goal_parse("top 10 of each port within 10% every 5m", &g, &reason), 0);
	ck_assert(g.keys == PRECISION_TALKERS && g.top == 10 && g.width == 0.1 && g.period_s == 300 && !g.of_all_ports);
	ck_assert_int_eq(precision_goal_parse(" services above 0.5% of port sw1:ge-0/0/1 within 20 % every 15 m", &g, &reason), 0);
	ck_assert(g.keys == PRECISION_SERVICES && g.top == 0 && fabs(g.share - 0.005) < 1e-12 && g.period_s == 900);
	ck_assert_str_eq(g.agent, "sw1");
	ck_assert_str_eq(g.port, "ge-0/0/1");
	ck_assert_int_eq(precision_goal_parse("top 20 pairs of all ports within 5% every 60m", &g, &reason), 0);
	ck_assert(g.of_all_ports && g.keys == PRECISION_PAIRS);
	ck_assert_int_eq(precision_goal_parse("top 3 destinations of agent sw2 within 5% every 1m", &g, &reason), 0);
	ck_assert_str_eq(g.agent, "sw2");
	ck_assert(!g.by_octets);
	ck_assert_int_eq(precision_goal_parse("top 3 pairs by octets of agent sw2 within 5% every 1m", &g, &reason), 0);
	ck_assert(g.by_octets && g.keys == PRECISION_PAIRS && g.top == 3);
	ck_assert_int_eq(precision_goal_parse("services by octets above 2% of each port within 5% every 1m", &g, &reason), 0);
	ck_assert(g.by_octets && g.keys == PRECISION_SERVICES);
	ck_assert_int_eq(precision_goal_parse("top 3 by packets of each port within 5% every 1m", &g, &reason), 0);
	ck_assert(!g.by_octets);
}
END_TEST

START_TEST(wrong_goals_are_refused)
{
	static const char *const wrong[] = {"", "top", "top 0 of each port within 10% every 5m",
	    "top 101 of each port within 10% every 5m", "top ten of each port within 10% every 5m",
	    "talkers of each port within 10% every 5m", "talkers above 0% of each port within 10% every 5m",
	    "top 10 of every port within 10% every 5m", "top 10 of each port within 10 every 5m",
	    "top 10 of each port within 0.5% every 5m", "top 10 of each port within 60% every 5m",
	    "top 10 of each port within 10% every 7m", "top 10 of each port within 10% every 5m please",
	    "top 10 of port ge-1 within 10% every 5m", "top 10 of port :x within 10% every 5m",
	    "top 10 by frames of each port within 10% every 5m", "talkers above 1% by octets of each port within 10% every 5m",
	    "top nan of each port within 10% every 5m", "top 10 of each port within nan% every 5m",
	    "talkers above inf% of each port within 10% every 5m",
	    "top 10 of agent aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa within 10% every 5m"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(precision_goal_check(wrong[i]) != NULL, "%s", wrong[i]);
}
END_TEST

/* ---- samples needed ---- */

/* Sums of samples, of which the part `large` is of 1,500 octets and the rest of 64. */
static struct estimate_sums
sums_of(double samples, double skip, double large)
{
	struct estimate_sums sums = {.n = (uint64_t)samples, .w = skip * samples, .w2 = skip * skip * samples,
	    .wb = skip * samples * (large * 1500 + (1 - large) * 64), .wb2 = skip * samples * (large * 1500 * 1500 + (1 - large) * 64 * 64)};
	
	sums.w2b2 = skip * sums.wb2;
	return sums;
}

/* The width that a list prints for a key with so many samples, at rank i of n_keys that could all be there by chance. */
static double
printed_width_of(double samples, size_t i, size_t n_keys, enum estimate_unit unit, double large)
{
	const double skip = 1000, others = 400 * samples;
	struct estimate_stratum stratum = {.pool_pkts = skip * (samples + others), .w_max = skip};
	struct estimate_sums sums = sums_of(samples, skip, large), rest = sums_of(others, skip, large);
	struct estimate_claim claim = estimate_claim_of_row(i, n_keys);
	struct estimate_range *range;
	struct estimate_figure f;
	struct estimate_key key;

	stratum.all = sums;
	estimate_add_sums(&stratum.all, &rest);
	stratum.pool_octets = stratum.all.wb;
	ck_assert_int_eq(estimate_range_create(&stratum, 1, &range), 0);
	estimate_key_begin(&key);
	estimate_key_add(range, &key, 0, &sums);
	estimate_key_end(range, &key);
	f = estimate_key_figure(range, &key, unit, &claim);
	estimate_range_destroy(range);
	return fmax(f.high / f.estimate - 1, 1 - f.low / f.estimate);
}

static double
printed_width(double samples, size_t i, size_t n_keys)
{
	return printed_width_of(samples, i, n_keys, ESTIMATE_PKTS, 1);
}

START_TEST(samples_needed_are_those_of_printed_limits)
{
	static const double widths[] = {0.02, 0.05, 0.1, 0.2, 0.3};
	static const size_t keys[] = {1, 10, 100, 1000, 10000, 100000}, ranks[] = {1, 3, 10, 30, 100};
	double least = 9, most = 0;

	for (size_t w = 0; w < 5; w++)
		for (size_t m = 0; m < 6; m++)
			for (size_t r = 0; r < 5 && ranks[r] <= keys[m]; r++) {
				double n = precision_samples_of_key(widths[w], precision_low_z(ranks[r], keys[m]));
				double ratio = printed_width(round(n), ranks[r], keys[m]) / widths[w];

				least = fmin(least, ratio);
				most = fmax(most, ratio);
			}
	printf("printed width by that asked for: %.3f to %.3f\n", least, most);
	ck_assert_double_le(most, 1.03);
	ck_assert_double_ge(least, 0.9);
}
END_TEST

/* What is asked for in octets is met by the samples that the widths of both units in a list before told. */
START_TEST(samples_needed_for_octets)
{
	static const double widths[] = {0.05, 0.1, 0.2}, larges[] = {0, 0.05, 0.3, 0.9};
	double least = 9, most = 0;

	for (size_t w = 0; w < 3; w++)
		for (size_t l = 0; l < 4; l++) {
			const double share = 1 / 401.0, before = 200;
			struct precision_row row = {.share = share, .samples = 1e9, .low = 1, .high = 1, .pkts_share = share};
			const struct precision_list list = {.rows = &row, .n_rows = 1, .n_keys = 1};
			struct precision_goal goal = {.top = 1, .width = widths[w], .by_octets = true, .period_s = 300};
			double needed, ratio;

			row.widths = printed_width_of(before, 1, 1, ESTIMATE_OCTETS, larges[l]) /
			    printed_width_of(before, 1, 1, ESTIMATE_PKTS, larges[l]);
			needed = precision_demand(&goal, &list, 1e-9); /* half of the way from what was before: here nothing */
			needed *= 2;
			ratio = printed_width_of(round(needed * share), 1, 1, ESTIMATE_OCTETS, larges[l]) / widths[w];
			printf("octets, %.2f of frames large, within %.2f: %.0f samples, width %.3f of that\n", larges[l], widths[w],
			    needed * share, ratio);
			least = fmin(least, ratio);
			most = fmax(most, ratio);
		}
	ck_assert_double_le(most, 1.1);
	ck_assert_double_ge(least, 0.8);
}
END_TEST

/* The design's figures: 422 samples for 10 % of a named key, 1,150 at z = 3.5. */
START_TEST(demand_of_lists)
{
	struct precision_row rows[3] = {{.share = 0.5, .samples = 5000, .low = 1, .high = 1},
	    {.share = 0.1, .samples = 1000, .low = 1, .high = 1}, {.share = 0.02, .samples = 200, .low = 1, .high = 1}};
	const struct precision_list list = {.rows = rows, .n_rows = 3, .n_keys = 3, .pkts = 1e7}, nothing = {.rows = rows};
	struct precision_goal goal;
	const char *reason;
	double v;

	ck_assert_double_eq_tol(precision_samples_of_key(0.1, 1.96), 422, 2);
	ck_assert_double_eq_tol(precision_samples_of_key(0.1, 3.5), 1150, 5);
	ck_assert_double_eq_tol(precision_samples_of_key(0.2, 3.5), 267, 2);
	ck_assert_int_eq(precision_goal_parse("top 3 of each port within 10% every 5m", &goal, &reason), 0);
	ck_assert_double_eq(precision_demand(&goal, &list, 0), PRECISION_FIRST_DEMAND);
	v = precision_demand(&goal, &list, 20000);
	ck_assert(v > 20000 && v < 422 / 0.018); /* its smallest row's, and a part of what was before */
	ck_assert_double_eq(precision_demand(&goal, &nothing, 20000), 40000); /* nothing is known: more */
	rows[2].samples = 5;
	ck_assert_double_ge(precision_demand(&goal, &list, 20000), 40000);
	ck_assert_double_eq(precision_demand(&goal, &nothing, 3e6), PRECISION_MOST_DEMAND);
	ck_assert_int_eq(precision_goal_parse("talkers above 30% of each port within 10% every 5m", &goal, &reason), 0);
	rows[2].samples = 200;
	ck_assert_double_le(precision_demand(&goal, &list, 1000), 600 * 0.7 / 0.3 * 1.3);
	ck_assert(precision_is_asked(&goal, &list, 0) && !precision_is_asked(&goal, &list, 1));
	/* A list over all ports: of a row that has half of 10^7 frames. */
	ck_assert_double_eq_tol(precision_pooled_skip(&goal, &list),
	    1 + 1e7 / (precision_samples_of_key(0.1, precision_low_z(1, 3)) * PRECISION_MARGIN), 1);
}
END_TEST

/* ---- sharing ---- */

static double
share_out(enum precision_share share, double part, double *met)
{
	struct precision_port ports[DAYS_PORTS] = {{0}};
	struct precision_budget budget = {.share = share};
	double wanted = 0, planned = 0;

	for (int i = 0; i < DAYS_PORTS; i++) {
		ports[i] = (struct precision_port){.agent = (uint32_t)(i % DAYS_AGENTS), .may_move = true, .skip = 64,
		    .listed_pkts_s = 20000 * (i + 1), .sampled_pkts_s = 20000 * (i + 1), .sent_pkts_s = 20000 * (i + 1), .needed_per_s = 20 * pow(1.1, i),
		    .most_skip = INFINITY, .had_per_s = 1e6};
		wanted += ports[i].sampled_pkts_s / (1 + ports[i].listed_pkts_s / ports[i].needed_per_s);
	}
	budget.all_per_s = part * wanted / 0.8;
	ck_assert_int_ge(precision_decide(ports, DAYS_PORTS, &budget, 1), 0);
	*met = 0;
	for (int i = 0; i < DAYS_PORTS; i++) {
		planned += ports[i].planned_per_s;
		*met += ports[i].is_cut ? 0 : 1.0 / DAYS_PORTS;
	}
	return planned / (part * wanted);
}

START_TEST(a_budget_is_shared)
{
	static const double parts[] = {0.8, 0.5, 0.2};

	for (size_t i = 0; i < 3; i++) {
		double even, most;

		ck_assert_double_eq_tol(share_out(PRECISION_EVEN, parts[i], &even), 1, 0.01);
		ck_assert_double_le(share_out(PRECISION_MOST, parts[i], &most), 1.1);
		printf("budget %.1f of what is wanted: even meets %.2f of the ports, most %.2f\n", parts[i], even, most);
		ck_assert_double_gt(most, even);
	}
}
END_TEST

/* A port of its own: skips are powers of two, finer at once, coarser after three periods, and no more than six SETs. */
START_TEST(moves_are_few)
{
	struct precision_budget budget = {0};
	struct precision_port port = {.may_move = true, .listed_pkts_s = 1e5, .sampled_pkts_s = 1e5, .sent_pkts_s = 1e5, .needed_per_s = 100,
	    .most_skip = INFINITY, .skip = 4096, .had_per_s = 1000};

	ck_assert_int_eq(precision_decide(&port, 1, &budget, 1), 1);
	ck_assert_int_eq(port.move, PRECISION_WANTED);
	ck_assert_uint_eq(port.to_skip, 1024); /* 1,001: nearly a doubling above 512 */
	port.skip = port.to_skip;
	ck_assert_int_eq(precision_decide(&port, 1, &budget, 2), 0);
	port.listed_pkts_s = port.sampled_pkts_s = port.sent_pkts_s = 1e7;
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(precision_decide(&port, 1, &budget, 3), 0);
	ck_assert_int_eq(precision_decide(&port, 1, &budget, 3), 1);
	ck_assert_int_eq(port.move, PRECISION_SURPLUS);
	budget.all_per_s = 1000; /* 10,000 samples/s now */
	ck_assert_int_eq(precision_relieve(&port, 1, &budget, 4), 1);
	ck_assert_int_eq(port.move, PRECISION_BURST);
	ck_assert_uint_eq(port.to_skip, 16384);
	for (int i = 0; i < PRECISION_SETS_AN_HOUR; i++)
		precision_count_set(&port, 5);
	ck_assert_int_eq(precision_relieve(&port, 1, &budget, 6), 0);
	ck_assert_int_eq(precision_relieve(&port, 1, &budget, 6 + UINT64_C(3600000000)), 1);
	port.may_move = false;
	ck_assert_int_eq(precision_relieve(&port, 1, &budget, 6 + UINT64_C(3600000000)), 0);
}
END_TEST

/* The samples a second that honest ports have after some periods beside another one, and the skip of the coarsest. */
static double
beside(const struct precision_port *other, uint32_t *coarsest)
{
	const struct precision_budget budget = {.all_per_s = 20000};
	struct precision_port ports[DAYS_PORTS];
	double sum = 0;

	for (int i = 0; i < DAYS_PORTS; i++)
		ports[i] = (struct precision_port){.agent = (uint32_t)(1 + i % DAYS_AGENTS), .may_move = true, .skip = 512,
		    .listed_pkts_s = 1e5, .sampled_pkts_s = 1e5, .sent_pkts_s = 1e5, .needed_per_s = 150, .most_skip = INFINITY};
	if (other)
		ports[0] = *other;
	for (uint64_t period = 0; period < 4; period++) {
		ck_assert_int_ge(precision_decide(ports, DAYS_PORTS, &budget, period * UINT64_C(300000000)), 0);
		for (int again = 0; again < 2; again++) {
			for (int i = 0; i < DAYS_PORTS; i++)
				if (ports[i].move) {
					ports[i].skip = ports[i].to_skip;
					ports[i].cap_per_s = ports[i].to_cap;
				}
			precision_relieve(ports, DAYS_PORTS, &budget, period * UINT64_C(300000000) + 30000000);
		}
	}
	*coarsest = 0;
	for (int i = 1; i < DAYS_PORTS; i++) {
		sum += ports[i].sent_pkts_s / ports[i].skip;
		*coarsest = ports[i].skip > *coarsest ? ports[i].skip : *coarsest;
	}
	return sum;
}

/* Counters of 10^15 frames a second without samples for it; the same where no skip can be set; a flood of samples from a
 * port that was set by hand, or that no goal asks for. */
START_TEST(nobody_takes_the_budget_of_others)
{
	const struct precision_port liars[] = {
	    {.agent = 9, .may_move = true, .skip = 400, .listed_pkts_s = 1e15, .sampled_pkts_s = 1e15, .sent_pkts_s = 9e4,
		.needed_per_s = 150, .most_skip = INFINITY},
	    {.agent = 9, .may_move = false, .skip = 400, .listed_pkts_s = 1e15, .sampled_pkts_s = 1e15, .sent_pkts_s = 9e4,
		.needed_per_s = 150, .most_skip = INFINITY},
	    {.agent = 9, .may_move = true, .skip = 1, .listed_pkts_s = 1e15, .sampled_pkts_s = 1e15, .sent_pkts_s = 9e6,
		.most_skip = INFINITY},
	    {.agent = 9, .may_move = true, .skip = 400, .listed_pkts_s = 1, .sampled_pkts_s = 1e15, .sent_pkts_s = 9e4,
		.needed_per_s = 150, .most_skip = INFINITY},
	    {.agent = 9, .may_move = false, .skip = 1, .listed_pkts_s = 9e6, .sampled_pkts_s = 9e6, .sent_pkts_s = 9e6,
		.needed_per_s = 150, .most_skip = INFINITY},
	};
	uint32_t coarsest, coarsest_then;
	double had = beside(NULL, &coarsest);

	for (size_t i = 0; i < sizeof(liars) / sizeof(liars[0]); i++) {
		double had_then = beside(&liars[i], &coarsest_then);

		printf("beside liar %zu: %.0f of %.0f samples/s, coarsest skip %u of %u\n", i, had_then, had, coarsest_then, coarsest);
		ck_assert_double_ge(had_then, i < 2 ? 0.99 * had : fmin(0.99 * had, 0.4 * 20000));
		ck_assert_uint_le(coarsest_then, i < 2 ? coarsest : 2 * coarsest);
	}
}
END_TEST

/* ---- days ---- */

static struct days_options
day_of(unsigned seed, double budget)
{
	struct days_options o = {.seed = seed, .periods = periods(), .steps_an_hour = 1, .noise = 0.23,
	    .budget = {.all_per_s = budget}};
	const char *reason;

	ck_assert_int_eq(precision_goal_parse("top 10 of each port within 10% every 5m", &o.goal, &reason), 0);
	return o;
}

static void
show(const char *what, const struct days_result *r)
{
	printf("%s: met %.4f of %lu rows (ports %.3f), said met and true %.4f, used %.0f/s, over %u longest %u, period %.2f slot %.2f "
	       "of the budget, SETs %.2f an hour and port, most %u, back %lu of %lu, missed low %.4f high %.4f, moved %.4f %.4f, cut x%.3f of %lu\n",
	    what, (double)r->met / (double)r->asked, (unsigned long)r->asked, (double)r->ports_met / (double)r->ports_asked,
	    (double)r->within / (double)r->said_met, r->used_per_s, r->over, r->longest_over, r->worst_period, r->worst_slot,
	    (double)r->sets / r->hours / DAYS_PORTS, r->most_sets, (unsigned long)r->back, (unsigned long)r->sets,
	    (double)r->all.low_missed / (double)r->all.n, (double)r->all.high_missed / (double)r->all.n,
	    (double)r->moved.low_missed / (double)r->moved.n, (double)r->moved.high_missed / (double)r->moved.n, r->cut_ratio,
	    (unsigned long)r->n_cut);
}

/* Each side by itself, as the two errors cancel in their sum. */
static void
expect_covered(const struct days_rows *rows)
{
	double low = (double)rows->low_missed / (double)rows->n, high = (double)rows->high_missed / (double)rows->n;

	ck_assert_double_le(low, 0.028);
	ck_assert_double_le(high, 0.035);
	ck_assert_double_ge(1 - low - high, 0.94);
}

static void
add_rows(struct days_rows *to, const struct days_rows *from)
{
	to->n += from->n;
	to->low_missed += from->low_missed;
	to->high_missed += from->high_missed;
}

START_TEST(a_day_with_room)
{
	struct days_rows all = {0}, moved = {0};

	for (unsigned seed = 1; seed <= seeds(); seed++) {
		struct days_options o = day_of(seed, 60000);
		struct days_result r;

		days_run(&o, &r);
		show("room", &r);
		ck_assert_uint_le(r.most_sets, PRECISION_SETS_AN_HOUR);
		if (suite_is_slow())
			continue;
		ck_assert_double_ge((double)r.met / (double)r.asked, 0.95);
		ck_assert_double_ge((double)r.within / (double)r.said_met, 0.99);
		ck_assert_uint_eq(r.over, 0);
		add_rows(&all, &r.all);
		add_rows(&moved, &r.moved);
	}
	if (suite_is_slow())
		return;
	expect_covered(&all);
	expect_covered(&moved);
}
END_TEST

/* A quarter of what is wanted. */
START_TEST(a_day_of_want)
{
	struct days_rows all = {0}, moved = {0};

	for (unsigned seed = 1; seed <= seeds(); seed++) {
		struct days_options o = day_of(seed, 12000);
		struct days_result r;

		days_run(&o, &r);
		show("want", &r);
		ck_assert_uint_le(r.most_sets, PRECISION_SETS_AN_HOUR);
		ck_assert_uint_le(r.longest_over, 1);
		if (suite_is_slow())
			continue;
		ck_assert_double_ge((double)r.met / (double)r.asked, 0.95);
		ck_assert_double_le(r.cut_ratio, 1.15);
		add_rows(&all, &r.all);
		add_rows(&moved, &r.moved);
	}
	if (suite_is_slow())
		return;
	expect_covered(&all);
	expect_covered(&moved);
}
END_TEST

START_TEST(all_ports_at_once)
{
	for (unsigned seed = 1; seed <= (seeds() + 9) / 10; seed++) {
		struct days_options o = day_of(seed, 20000);
		struct days_result r;

		o.steps_an_hour = 0;
		o.all_step_at_once = true;
		o.periods = 48;
		days_run(&o, &r);
		show("all at once", &r);
		ck_assert_uint_le(r.slots_over, 4); /* 40 s */
		ck_assert_double_le(r.worst_period, 1.5);
		ck_assert_uint_le(r.longest_over, 1);
		ck_assert_uint_le(r.most_sets, PRECISION_SETS_AN_HOUR);
	}
}
END_TEST

START_TEST(a_steady_load_is_left_alone)
{
	for (unsigned seed = 1; seed <= (seeds() + 9) / 10; seed++) {
		struct days_options o = day_of(seed, 0);
		struct days_result r;

		o.steps_an_hour = 0;
		o.noise = 0.25;
		o.periods = 72; /* of the first hours each port is set some twice */
		days_run(&o, &r);
		show("steady", &r);
		ck_assert_double_le((double)r.sets / r.hours / DAYS_PORTS, 0.5);
		ck_assert_double_le((double)r.back / (double)r.sets, 0.05);
	}
}
END_TEST

/* ---- bias ---- */

enum { BIAS_PERIODS = 40000 };

/* How many standard errors the mean error of a key's frames is away from 0, over many periods whose skips follow what
 * the periods before showed. peeks: the skip is chosen between two by the same period's samples. */
static double
bias_of(bool peeks)
{
	struct precision_goal goal;
	struct precision_port port = {.may_move = true, .most_skip = INFINITY, .skip = 512, .had_per_s = 1000};
	const struct precision_budget budget = {.all_per_s = 200};
	const unsigned n = suite_is_slow() ? BIAS_PERIODS / 10 : BIAS_PERIODS;
	const char *reason;
	uint64_t rng = 7;
	double sum = 0, demand = 0;

	ck_assert_int_eq(precision_goal_parse("top 2 of each port within 20% every 5m", &goal, &reason), 0);
	for (unsigned period = 0; period < n; period++) {
		uint64_t frames = (uint64_t)(1e6 * exp(days_normal(&rng))), key = frames / 20;
		double skip = port.skip, sampled = (double)days_sampled(&rng, key, skip);
		double rest = (double)days_sampled(&rng, frames - key, skip);
		struct precision_row rows[2];

		if (peeks && sampled * skip < (double)key * 0.95) { /* looks poor: the finer skip's samples in place of these */
			skip = fmax(1, skip / 2);
			sampled = (double)days_sampled(&rng, key, skip);
		}
		if (skip > 1)
			sum += (sampled * skip - (double)key) / sqrt((double)key * (skip - 1));
		rows[0] = (struct precision_row){.share = rest / fmax(1, rest + sampled), .samples = rest, .low = 1, .high = 1};
		rows[1] = (struct precision_row){.share = sampled / fmax(1, rest + sampled), .samples = sampled, .low = 1, .high = 1};
		demand = precision_demand(&goal, &(struct precision_list){.rows = rows, .n_rows = sampled > 0 ? 2 : rest > 0, .n_keys = 2}, demand);
		port.needed_per_s = PRECISION_MARGIN * demand / goal.period_s;
		port.listed_pkts_s = port.sampled_pkts_s = port.sent_pkts_s = (double)frames / goal.period_s;
		precision_decide(&port, 1, &budget, period * 300000000ull);
		if (port.move && port.to_skip != port.skip) {
			precision_count_set(&port, period * 300000000ull);
			port.skip = port.to_skip;
		}
	}
	return sum / sqrt(n);
}

START_TEST(skips_that_follow_the_past_bias_nothing)
{
	double honest = bias_of(false), peeking = bias_of(true);

	printf("bias: %.2f standard errors; choosing by the same samples: %.1f\n", honest, peeking);
	ck_assert_double_le(fabs(honest), 3);
	ck_assert_double_ge(fabs(peeking), 10);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {goals_are_read, wrong_goals_are_refused, samples_needed_are_those_of_printed_limits, samples_needed_for_octets,
	    demand_of_lists, a_budget_is_shared, moves_are_few, nobody_takes_the_budget_of_others, a_day_with_room, a_day_of_want, all_ports_at_once,
	    a_steady_load_is_left_alone, skips_that_follow_the_past_bias_nothing};
	Suite *suite = suite_create("precision");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 3600 : 120);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
