/*
 * The estimator against tables and formulas of others: exact limits (Garwood, Clopper and
 * Pearson), exact coverage sums, textbook variances (Cochran), and the truth of generated traffic
 * over many seeds.
 */
#include "collector/estimate/binomial.h"
#include "collector/estimate/estimate.h"
#include "tests/collector/estimate/coverage.h"
#include "tests/suite.h"

#include "agent/sampling/skip.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define assert_near(x, y, tolerance) ck_assert_double_eq_tol(x, y, tolerance)

/* A count of a rare class: trials enough to be Poisson. */
static const double rare = 1e8;

/* Garwood 1936, as printed in many tables: count, 95 % limits of its mean. */
static const struct {
	double count, low, high, half_digit;
} garwood[] = {
	{1, 0.025, 5.57, 0.005},  {2, 0.242, 7.22, 0.006}, {3, 0.619, 8.77, 0.005},
	{5, 1.62, 11.67, 0.005},  {10, 4.80, 18.39, 0.006}, {20, 12.2, 30.9, 0.05},
	{50, 37.1, 65.9, 0.05},	  {100, 81.4, 121.6, 0.05}, {400, 361.8, 441.2, 0.05},
	{1000, 939, 1064, 0.5},
};

START_TEST(exact_limits_are_garwoods)
{
	struct binomial_limits limits = binomial_exact(garwood[_i].count, rare);

	assert_near(limits.low * rare, garwood[_i].low, garwood[_i].half_digit);
	assert_near(limits.high * rare, garwood[_i].high, garwood[_i].half_digit);
}
END_TEST

/* P(X >= k) of a binomial by adding its terms, which the beta function must equal. */
static double
binomial_tail(int k, int n, double p)
{
	double sum = 0;

	for (int i = k; i <= n; i++)
		sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) +
		    (n - i) * log1p(-p));
	return sum;
}

START_TEST(beta_function_adds_binomial_terms)
{
	static const double p[] = {0.001, 0.03, 0.25, 0.5, 0.75, 0.999};

	for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
		for (int n = 1; n <= 200; n += 33)
			for (int k = 1; k <= n; k += 7)
				assert_near(binomial_beta_cdf(p[i], k, n - k + 1),
				    binomial_tail(k, n, p[i]), 1e-11);
	assert_near(binomial_beta_quantile(0.975, 1, 10), 0.30849710781876, 1e-12);
	assert_near(binomial_beta_cdf(binomial_beta_quantile(0.3, 2.5, 7), 2.5, 7), 0.3, 1e-12);
}
END_TEST

/* Exact coverage: Poisson probabilities of the counts whose limits hold the mean. */
static double
coverage_at(struct binomial_limits (*limits)(double, double), double mean)
{
	double sum = 0;

	for (int c = 0; c < 200; c++) {
		struct binomial_limits l = limits(c, rare);

		if (l.low * rare <= mean && mean <= l.high * rare)
			sum += exp(c * log(mean) - mean - lgamma(c + 1));
	}
	return sum;
}

START_TEST(coverage_is_that_of_the_table)
{
	static const double mean[] = {1, 3, 10, 30};
	static const double wilson[] = {0.92, 0.97, 0.96, 0.95}, exact[] = {0.98, 0.99, 0.98, 0.96};

	for (int i = 0; i < 4; i++) {
		assert_near(coverage_at(binomial_wilson, mean[i]), wilson[i], 0.0051);
		assert_near(coverage_at(binomial_exact, mean[i]), exact[i], 0.0055);
		ck_assert_double_ge(coverage_at(binomial_exact, mean[i]), 0.95);
	}
}
END_TEST

static struct estimate_sums
samples_of(int n, double weight, double octets)
{
	struct estimate_sums sums = {0};

	for (int i = 0; i < n; i++)
		estimate_add_sample(&sums, weight, octets);
	return sums;
}

static struct estimate_sums
together(struct estimate_sums a, struct estimate_sums b)
{
	estimate_add_sums(&a, &b);
	return a;
}

START_TEST(sums_are_exact)
{
	struct estimate_sums sums = together(samples_of(2, 10, 100), samples_of(1, 20, 64));

	ck_assert_uint_eq(sums.n, 3);
	ck_assert_double_eq(sums.w, 40);
	ck_assert_double_eq(sums.w2, 600);
	ck_assert_double_eq(sums.wb, 2 * 10 * 100 + 20 * 64);
	ck_assert_double_eq(sums.wb2, 2 * 10 * 1e4 + 20 * 4096);
	ck_assert_double_eq(sums.w2b2, 2 * 100 * 1e4 + 400 * 4096);
}
END_TEST

/* Equal weights: the textbook's simple random sample with finite population correction. */
START_TEST(packets_are_cochrans)
{
	struct estimate_sums key = samples_of(30, 100, 64);
	struct estimate_stratum s = {together(key, samples_of(70, 100, 1518)), 12000, 13e6, 0};
	struct estimate_part part = {&s, key};
	struct estimate_figure f = estimate_key(ESTIMATE_PKTS, &part, 1);
	double n_eff = 100 / (1 - 100.0 / 12000);
	struct binomial_limits l = binomial_wilson(0.3 * n_eff, n_eff);

	assert_near(f.estimate, 3600, 1e-9);
	assert_near(f.low, 12000 * l.low, 1e-6);
	assert_near(f.high, 12000 * l.high, 1e-6);
}
END_TEST

/* Variance of the ratio estimator to the octet counter by its residuals (Cochran 6.3), for a key
 * small enough that the odds are the share. */
START_TEST(octets_are_cochrans)
{
	struct estimate_sums key = samples_of(200, 1000, 64);
	struct estimate_sums rest = together(samples_of(50000, 1000, 64),
	    samples_of(50000, 1000, 1518));
	struct estimate_stratum s = {together(key, rest), 1.002e8, 0, 0};
	struct estimate_part part = {&s, key};
	struct estimate_figure f;
	double r, residuals, se;

	s.pool_octets = s.all.wb;
	r = key.wb / s.all.wb;
	residuals = 200 * pow(64 * (1 - r), 2) + 50000 * pow(64 * r, 2) + 50000 * pow(1518 * r, 2);
	se = sqrt(1000 * 999 * residuals) / key.wb;
	f = estimate_key(ESTIMATE_OCTETS, &part, 1);
	assert_near(f.estimate, key.wb, 1e-3);
	assert_near(f.high / f.estimate, exp(1.96 * se), 0.002);
	assert_near(f.low / f.estimate, exp(-1.96 * se), 0.002);
}
END_TEST

START_TEST(loss_moves_nothing_and_widens)
{
	struct estimate_sums key = samples_of(40, 100, 200), half = samples_of(20, 100, 200);
	struct estimate_stratum all = {together(key, samples_of(160, 100, 900)), 20000, 15.2e6, 0};
	struct estimate_stratum lossy = {together(half, samples_of(80, 100, 900)), 20000, 15.2e6, 0};
	struct estimate_part whole_part = {&all, key}, lossy_part = {&lossy, half};

	for (int unit = ESTIMATE_PKTS; unit <= ESTIMATE_OCTETS; unit++) {
		struct estimate_figure a = estimate_key(unit, &whole_part, 1);
		struct estimate_figure b = estimate_key(unit, &lossy_part, 1);

		assert_near(a.estimate, b.estimate, 1e-6);
		ck_assert_double_gt((b.high - b.low) / (a.high - a.low), 1.3);
		ck_assert_double_lt((b.high - b.low) / (a.high - a.low), 1.6);
	}
}
END_TEST

START_TEST(every_frame_sampled_is_counted)
{
	struct estimate_sums key = samples_of(3, 1, 100);
	struct estimate_stratum s = {together(key, samples_of(5, 1, 1518)), 8, 7890, 0};
	struct estimate_part part = {&s, key};
	struct estimate_figure pkts = estimate_key(ESTIMATE_PKTS, &part, 1);
	struct estimate_figure octets = estimate_key(ESTIMATE_OCTETS, &part, 1);

	ck_assert(pkts.low == 3 && pkts.estimate == 3 && pkts.high == 3);
	assert_near(octets.low, 300, 1e-9);
	assert_near(octets.high, 300, 1e-9);
}
END_TEST

/* One key alone: the total is its own, but a key not sampled may hide in it. */
START_TEST(the_only_key_has_a_width)
{
	struct estimate_sums key = samples_of(20, 100, 100);
	struct estimate_stratum s = {key, 2000, 2e5, 0};
	struct estimate_part part = {&s, key};

	for (int unit = ESTIMATE_PKTS; unit <= ESTIMATE_OCTETS; unit++) {
		struct estimate_figure f = estimate_key(unit, &part, 1);

		assert_near(f.high, f.estimate, 1e-9);
		ck_assert_double_lt(f.low, 0.9 * f.estimate);
		ck_assert_double_gt(f.low, 0.8 * f.estimate);
	}
}
END_TEST

START_TEST(limits_stay_within_what_is_certain)
{
	struct estimate_sums key = samples_of(9, 3, 64), one = samples_of(1, 3, 1518);
	struct estimate_stratum s = {together(key, one), 30, 9 * 192 + 3 * 1518, 0};
	struct estimate_part many = {&s, key}, single = {&s, one};

	ck_assert_double_ge(estimate_key(ESTIMATE_PKTS, &single, 1).low, 1);
	ck_assert_double_le(estimate_key(ESTIMATE_PKTS, &many, 1).high, 29);
	ck_assert_double_ge(estimate_key(ESTIMATE_OCTETS, &many, 1).low, 9 * 64);
	ck_assert_double_le(estimate_key(ESTIMATE_OCTETS, &many, 1).high, s.pool_octets - 64);
}
END_TEST

/* Two alike strata: the estimates add up, the limits' distances as squares; never one pool. */
START_TEST(strata_add_up)
{
	struct estimate_sums key = samples_of(30, 100, 64), busy = samples_of(10, 1000, 64);
	struct estimate_stratum s = {together(key, samples_of(70, 100, 64)), 10000, 640000, 0};
	struct estimate_stratum fast = {together(busy, samples_of(90, 1000, 64)), 1e5, 6.4e6, 0};
	struct estimate_part parts[] = {{&s, key}, {&s, key}, {&fast, busy}, {&fast, {0}}};
	struct estimate_figure one = estimate_key(ESTIMATE_PKTS, parts, 1);
	struct estimate_figure two = estimate_key(ESTIMATE_PKTS, parts, 2);

	assert_near(two.estimate, 2 * one.estimate, 1e-9);
	assert_near(two.high - two.estimate, sqrt(2) * (one.high - one.estimate), 1e-6);
	assert_near(two.estimate - two.low, sqrt(2) * (one.estimate - one.low), 1e-6);
	assert_near(estimate_key(ESTIMATE_PKTS, parts, 4).estimate, 3000 + 3000 + 10000, 1e-6);
	ck_assert_double_eq(estimate_key(ESTIMATE_PKTS, parts + 3, 1).high, 0);
}
END_TEST

/* The skip changed in mid range: weights carry it, the total stays the counted one. */
START_TEST(weights_carry_a_rate_change)
{
	struct estimate_sums key = together(samples_of(100, 10, 64), samples_of(1, 100, 64));
	struct estimate_sums rest = together(samples_of(100, 10, 64), samples_of(19, 100, 64));
	struct estimate_stratum s = {together(key, rest), 4000, 256000, 0};
	struct estimate_part parts[] = {{&s, key}, {&s, rest}};

	assert_near(estimate_key(ESTIMATE_PKTS, &parts[0], 1).estimate, 1100, 1e-9);
	assert_near(estimate_key(ESTIMATE_PKTS, &parts[1], 1).estimate, 2900, 1e-9);
}
END_TEST

START_TEST(unknown_totals_are_scaled_by_weights)
{
	struct estimate_sums key = samples_of(10, 1e6, 64);
	struct estimate_stratum s = {together(key, samples_of(10, 1e6, 64)), 0, 0, 0};
	struct estimate_part part = {&s, key};
	struct estimate_figure f = estimate_key(ESTIMATE_PKTS, &part, 1);

	assert_near(f.estimate, 1e7, 1e-3);
	assert_near(f.low / 1e6, 10 + 1.9207 - 1.96 * sqrt(10.9604), 0.001);
	assert_near(f.high / 1e6, 10 + 1.9207 + 1.96 * sqrt(10.9604), 0.001);
	assert_near(estimate_total(ESTIMATE_PKTS, &s), 2e7, 1e-3);
}
END_TEST

START_TEST(shares_are_of_the_total)
{
	struct estimate_figure f = {50, 40, 120}, share = estimate_share(f, 100);

	assert_near(share.estimate, 0.5, 1e-12);
	assert_near(share.low, 0.4, 1e-12);
	assert_near(share.high, 1, 1e-12);
	ck_assert_double_eq(estimate_share(f, 0).high, 0);
}
END_TEST

static double
unseen_pkts(const struct estimate_stratum *strata, size_t n_strata)
{
	double pkts = -1;

	ck_assert_int_eq(estimate_unseen_pkts(strata, n_strata, &pkts), 0);
	return pkts;
}

START_TEST(keys_not_seen_are_bounded)
{
	struct estimate_stratum large = {samples_of(1000, 400, 64), 4e5, 0, 0};
	struct estimate_stratum strata[] = {
		{samples_of(1000, 100, 64), 1e5, 0, 0},
		{samples_of(1000, 400, 64), 4e5, 0, 0},
		{samples_of(50, 1, 64), 50, 0, 0},
		{{0}, 700, 0, 0}, /* traffic, but no sample */
	};

	/* the rule of three, 3.0 T / n, a little less because no frame is sampled twice */
	assert_near(unseen_pkts(&large, 1), 3.0 * 400, 5);
	/* hiding on the port with the larger skip is best; ports do not add */
	assert_near(unseen_pkts(strata, 2), 3.0 * 400, 5);
	assert_near(unseen_pkts(strata + 2, 1), 0, 1e-9);
	assert_near(unseen_pkts(strata, 4), 700 + 3.0 * 400, 5);
}
END_TEST

START_TEST(ranks_tell_what_is_settled)
{
	static const struct estimate_figure figures[] = {
		{70.0, 66.9, 73.1}, {190, 185, 195}, {70.1, 67.0, 73.3}, {69, 60, 73}, {5, 1, 9},
	};
	static const struct estimate_rank expected[] = {{2, 4}, {1, 1}, {2, 4}, {2, 4}, {5, 5}};
	struct estimate_rank ranks[5];

	for (size_t n_wanted = 0; n_wanted <= 5; n_wanted++) {
		ck_assert_int_eq(estimate_ranks(figures, 5, n_wanted, ranks), 0);
		for (size_t i = 0; i < n_wanted; i++) {
			ck_assert_uint_eq(ranks[i].low, expected[i].low);
			ck_assert_uint_eq(ranks[i].high, expected[i].high);
		}
	}
}
END_TEST

enum { MADE_FRAMES = 100000, MADE_KEYS = 40, MADE_RUNS = 200 };

/* Keys of falling size; each mixes short and long frames in a proportion of its own. */
static struct coverage_traffic
made_traffic(uint32_t *octets, uint32_t *key, struct coverage_truth *truth)
{
	static const uint32_t lengths[] = {64, 64, 128, 590, 1518};
	struct skip_stream stream;

	skip_stream_seed(&stream, 7);
	for (int i = 0; i < MADE_FRAMES; i++) {
		double u = (double)(skip_stream_next(&stream) >> 11) * 0x1p-53;
		uint64_t r = skip_stream_next(&stream);

		key[i] = (uint32_t)(MADE_KEYS * u * u);
		octets[i] = lengths[key[i] % 3 == 0 ? 0 : (r >> 20) % (key[i] % 4 + 2)];
		truth[key[i]].pkts++;
		truth[key[i]].octets += octets[i];
	}
	return (struct coverage_traffic){MADE_FRAMES, octets, key, MADE_KEYS, truth};
}

static const struct coverage_options coverage_cases[] = {
	{.draw = SAMPLING_GEOMETRIC, .mean_skip = 20, .runs = MADE_RUNS, .seed = 1},
	{.draw = SAMPLING_GEOMETRIC, .mean_skip = 100, .runs = MADE_RUNS, .seed = 1},
	{.draw = SAMPLING_UNIFORM, .mean_skip = 50, .runs = MADE_RUNS, .seed = 1},
	{.draw = SAMPLING_GEOMETRIC, .mean_skip = 50, .runs = MADE_RUNS, .seed = 1, .loss = 0.05},
	{.draw = SAMPLING_GEOMETRIC, .mean_skip = 20, .runs = MADE_RUNS, .seed = 1, .loss = 0.3},
};

START_TEST(intervals_hold_the_truth)
{
	uint32_t *octets = calloc(MADE_FRAMES, sizeof(*octets));
	uint32_t *key = calloc(MADE_FRAMES, sizeof(*key));
	struct coverage_truth truth[MADE_KEYS] = {{0}};
	struct coverage_traffic traffic = made_traffic(octets, key, truth);
	struct coverage_result results[COVERAGE_N_UNITS];

	ck_assert_int_eq(coverage_measure(&traffic, &coverage_cases[_i], results, NULL), 0);
	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++) {
		double covered = (double)results[unit].covered / (double)results[unit].trials;

		ck_assert_uint_gt(results[unit].trials, 20 * MADE_RUNS);
		ck_assert_double_gt(covered, unit == ESTIMATE_PKTS ? 0.94 : 0.93);
		ck_assert_double_lt(covered, 0.96);
		assert_near(results[unit].rms_ratio, 1, 0.05);
	}
	free(octets);
	free(key);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("estimate");
	TCase *tc = tcase_create("limits");

	tcase_add_loop_test(tc, exact_limits_are_garwoods, 0,
	    (int)(sizeof(garwood) / sizeof(*garwood)));
	tcase_add_test(tc, beta_function_adds_binomial_terms);
	tcase_add_test(tc, coverage_is_that_of_the_table);
	suite_add_tcase(suite, tc);

	tc = tcase_create("figures");
	tcase_add_test(tc, sums_are_exact);
	tcase_add_test(tc, packets_are_cochrans);
	tcase_add_test(tc, octets_are_cochrans);
	tcase_add_test(tc, loss_moves_nothing_and_widens);
	tcase_add_test(tc, every_frame_sampled_is_counted);
	tcase_add_test(tc, the_only_key_has_a_width);
	tcase_add_test(tc, limits_stay_within_what_is_certain);
	tcase_add_test(tc, strata_add_up);
	tcase_add_test(tc, weights_carry_a_rate_change);
	tcase_add_test(tc, unknown_totals_are_scaled_by_weights);
	tcase_add_test(tc, shares_are_of_the_total);
	tcase_add_test(tc, keys_not_seen_are_bounded);
	tcase_add_test(tc, ranks_tell_what_is_settled);
	suite_add_tcase(suite, tc);

	tc = tcase_create("coverage");
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, intervals_hold_the_truth, 0,
	    (int)(sizeof(coverage_cases) / sizeof(*coverage_cases)));
	suite_add_tcase(suite, tc);

	return suite_run(suite);
}
