/*
 * The estimator against tables and formulas of others: exact limits (Garwood, Clopper and
 * Pearson), exact coverage sums, textbook variances (Cochran), and the truth of generated traffic
 * over many seeds.
 */
#include "collector/estimate/estimate.h"
#include "collector/estimate/estimate_list.h"
#include "collector/estimate/quantiles.h"
#include "tests/collector/estimate/coverage.h"
#include "tests/suite.h"

#include "agent/sampling/skip.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define assert_near(x, y, tolerance) ck_assert_double_eq_tol(x, y, tolerance)

/* A count of a rare class: trials enough to be Poisson. */
static const double rare = 1e9;

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
	double count = garwood[_i].count;

	assert_near(rare * beta_lower_quantile(0.025, count, rare), garwood[_i].low, garwood[_i].half_digit);
	assert_near(gamma_upper_quantile(0.025, count + 1), garwood[_i].high, garwood[_i].half_digit);
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
				assert_near(beta_lower_tail(p[i], k, n - k + 1),
				    binomial_tail(k, n, p[i]), 1e-11);
	assert_near(beta_upper_quantile(0.025, 1, 10), 0.30849710781876, 1e-9);
	assert_near(beta_lower_tail(beta_lower_quantile(0.3, 2.5, 7), 2.5, 7), 0.3, 1e-9);
}
END_TEST

/* The normal quantile from printed tables. */
START_TEST(normal_quantiles_are_the_tables)
{
	assert_near(normal_upper_quantile(0.025), 1.959963984540054, 1e-12);
	assert_near(normal_upper_quantile(0.5), 0, 1e-12);
	assert_near(normal_upper_quantile(1e-9), 5.997807015007687, 1e-9);
}
END_TEST

/* A key of one report over strata of its own. */
static struct estimate_figure
figure_of_parts(enum estimate_unit unit, const struct estimate_stratum *strata, size_t n,
    const struct estimate_sums *parts)
{
	struct estimate_range *range;
	struct estimate_key key;
	struct estimate_figure figure;

	ck_assert_int_eq(estimate_range_create(strata, n, &range), 0);
	estimate_key_begin(&key);
	for (size_t i = 0; i < n; i++)
		estimate_key_add(range, &key, i, &parts[i]);
	estimate_key_end(range, &key);
	figure = estimate_key_figure(range, &key, unit, &estimate_claim_95);
	estimate_range_destroy(range);
	return figure;
}

static struct estimate_figure
figure_of(enum estimate_unit unit, const struct estimate_stratum *stratum, const struct estimate_sums *key)
{
	return figure_of_parts(unit, stratum, 1, key);
}

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

/* Equal weights: the textbook's simple random sample with finite population correction (Cochran 3.2), and on its
 * effective count Clopper and Pearson's lower and Jeffreys' upper limit. */
START_TEST(packets_are_cochrans)
{
	struct estimate_sums key = samples_of(30, 100, 64);
	struct estimate_stratum s = {together(key, samples_of(70, 100, 1518)), 12000, 13e6, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	struct estimate_figure f = figure_of(ESTIMATE_PKTS, &s, &key);
	double n_eff = 99 / (1 - 100.0 / 12000);
	double x = 0.3 * n_eff;

	assert_near(f.estimate, 3600, 1e-9);
	assert_near(f.low, 12000 * beta_lower_quantile(0.025, x, n_eff - x + 1), 1e-4);
	assert_near(f.high, 12000 * beta_upper_quantile(0.025, x + 0.5, n_eff - x + 0.5), 0.5);
}
END_TEST

/* Half of the samples were taken while 5,000 frames were counted, the others before or after: figures add up to both, and
 * are surer than with nothing counted, less sure than with all counted. All samples beside: 5,000 are left to one. */
START_TEST(what_was_counted_in_part)
{
	struct estimate_sums key = samples_of(40, 100, 64), rest = samples_of(60, 100, 64);
	struct estimate_stratum all = {together(key, rest), 10000, 640000, 0, 0, {0, 0}, {0, 0}, {0, 0}}, half = all, none = all;
	struct estimate_figure f, counted, uncounted;

	half.pool_pkts = 5000;
	half.beside[ESTIMATE_PKTS] = 5000;
	none.pool_pkts = 0;
	f = figure_of(ESTIMATE_PKTS, &half, &key);
	counted = figure_of(ESTIMATE_PKTS, &all, &key);
	uncounted = figure_of(ESTIMATE_PKTS, &none, &key);
	assert_near(estimate_total(ESTIMATE_PKTS, &half), 10000, 1e-9);
	assert_near(estimate_not_counted(ESTIMATE_PKTS, &half), 5000, 1e-9);
	assert_near(f.estimate, 4000, 1e-6);
	assert_near(f.estimate + figure_of(ESTIMATE_PKTS, &half, &rest).estimate, 10000, 1e-6);
	ck_assert(f.low < counted.low && uncounted.low < f.low);
	ck_assert(f.high > counted.high && uncounted.high > f.high);
	ck_assert_double_gt(figure_of(ESTIMATE_PKTS, &half, &half.all).high, 10000); /* one key has all of it */
	half.beside[ESTIMATE_PKTS] = 10000;
	assert_near(figure_of(ESTIMATE_PKTS, &half, &key).estimate, 6000, 1e-6);
}
END_TEST

/* Variance of the ratio estimator to the octet counter by its residuals (Cochran 6.3), for a key
 * small enough that the odds are the share. */
START_TEST(octets_are_cochrans)
{
	struct estimate_sums key = samples_of(2000, 1000, 64);
	struct estimate_sums rest = together(samples_of(50000, 1000, 64),
	    samples_of(50000, 1000, 1518));
	struct estimate_stratum s = {together(key, rest), 1.02e8, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	struct estimate_figure f;
	double r, residuals, se;

	s.pool_octets = s.all.wb;
	r = key.wb / s.all.wb;
	residuals = 2000 * pow(64 * (1 - r), 2) + 50000 * pow(64 * r, 2) + 50000 * pow(1518 * r, 2);
	se = sqrt(1000 * 999 * residuals) / key.wb;
	f = figure_of(ESTIMATE_OCTETS, &s, &key);
	assert_near(f.estimate / key.wb, 1, 1e-4);
	assert_near(f.high / f.estimate, 1 + 1.96 * se, 0.003);
	assert_near(f.low / f.estimate, 1 - 1.96 * se, 0.003);
}
END_TEST

START_TEST(loss_moves_nothing_and_widens)
{
	struct estimate_sums key = samples_of(40, 100, 200), half = samples_of(20, 100, 200);
	struct estimate_stratum all = {together(key, samples_of(160, 100, 900)), 20000, 15.2e6, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	struct estimate_stratum lossy = {together(half, samples_of(80, 100, 900)), 20000, 15.2e6, 0, 0, {0, 0}, {0, 0}, {0, 0}};

	for (int unit = ESTIMATE_PKTS; unit <= ESTIMATE_OCTETS; unit++) {
		struct estimate_figure a = figure_of(unit, &all, &key), b = figure_of(unit, &lossy, &half);

		assert_near(a.estimate / b.estimate, 1, unit == ESTIMATE_PKTS ? 1e-9 : 0.005);
		ck_assert_double_gt((b.high - b.low) / (a.high - a.low), 1.3);
		ck_assert_double_lt((b.high - b.low) / (a.high - a.low), 1.6);
	}
}
END_TEST

/* Half of the samples of a port without counters were lost: keys still add up to what is said of the port. */
START_TEST(without_counters_keys_and_total_are_raised_alike)
{
	struct estimate_sums key = samples_of(40, 100, 200), rest = samples_of(160, 100, 900);
	struct estimate_stratum s = {together(key, rest), 0, 0, 0.5, 0, {0, 0}, {0, 0}, {0, 0}};

	assert_near(figure_of(ESTIMATE_PKTS, &s, &key).estimate, 8000, 1e-6);
	assert_near(figure_of(ESTIMATE_PKTS, &s, &rest).estimate, 32000, 1e-6);
	assert_near(estimate_total(ESTIMATE_PKTS, &s), 40000, 1e-6);
	assert_near(estimate_total(ESTIMATE_OCTETS, &s), 8000 * 200 + 32000 * 900, 1e-3);
	ck_assert(!estimate_is_counted(ESTIMATE_PKTS, &s) && !estimate_is_counted(ESTIMATE_OCTETS, &s));
}
END_TEST

START_TEST(every_frame_sampled_is_counted)
{
	struct estimate_sums key = samples_of(3, 1, 100);
	struct estimate_stratum s = {together(key, samples_of(5, 1, 1518)), 8, 7890, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	struct estimate_figure pkts = figure_of(ESTIMATE_PKTS, &s, &key);
	struct estimate_figure octets = figure_of(ESTIMATE_OCTETS, &s, &key);

	ck_assert(pkts.low == 3 && pkts.estimate == 3 && pkts.high == 3);
	assert_near(octets.low, 300, 1e-9);
	assert_near(octets.high, 300, 1e-9);
}
END_TEST

/* One key alone: the total is its own, but a key not sampled may hide in it. */
START_TEST(the_only_key_has_a_width)
{
	struct estimate_sums key = samples_of(20, 100, 100);
	struct estimate_stratum s = {key, 2000, 2e5, 0, 0, {0, 0}, {0, 0}, {0, 0}};

	for (int unit = ESTIMATE_PKTS; unit <= ESTIMATE_OCTETS; unit++) {
		struct estimate_figure f = figure_of(unit, &s, &key);

		assert_near(f.high, f.estimate, 1e-9);
		ck_assert_double_lt(f.low, 0.9 * f.estimate);
		ck_assert_double_gt(f.low, 0.8 * f.estimate);
	}
}
END_TEST

/* Whatever rounding does with weights and totals: of others nothing is left, on any machine. */
START_TEST(a_key_with_all_samples_leaves_nothing)
{
	for (int n = 1; n <= 200; n++) {
		struct estimate_sums key = together(samples_of(n, 7 + 0.1 * n, 64 + n), samples_of(n / 3, 400, 1518));
		struct estimate_stratum s = {key, 0.7931 * key.w, 1.0177 * key.wb, 0, 400, {0, 0}, {0, 0}, {0, 0}};
		struct estimate_range *range;
		struct estimate_key all;

		ck_assert_int_eq(estimate_range_create(&s, 1, &range), 0);
		estimate_key_begin(&all);
		estimate_key_add(range, &all, 0, &key);
		estimate_key_end(range, &all);
		for (int unit = 0; unit < ESTIMATE_N_UNITS; unit++) {
			ck_assert_double_eq(all.unit[unit].rest.y, 0);
			ck_assert_double_eq(all.unit[unit].rest.variance, 0);
		}
		estimate_range_destroy(range);
	}
}
END_TEST

/* All samples of a port are of one key. Named beforehand, its lower limit p is Clopper and Pearson's: p^n = a. In a
 * list any key that was seen stands there, so that one sample says nothing but that there was one, and of two
 * p^2 = a (1 - (1 - p)^2), p = 2 a / (1 + a). Frames are 64 octets, but the port counted 400 a frame. */
START_TEST(a_list_allows_for_the_key_having_been_seen)
{
	const struct estimate_claim row = {0.025, 0.025, true};

	for (int n = 1; n <= 2; n++) {
		struct estimate_sums sums = samples_of(n, 100, 64);
		struct estimate_stratum s = {sums, 100 * n, 40000 * n, 0, 0, {0, 0}, {0, 0}, {0, 0}};
		struct estimate_figure named, listed, octets;
		struct estimate_range *range;
		struct estimate_key key;

		ck_assert_int_eq(estimate_range_create(&s, 1, &range), 0);
		estimate_key_begin(&key);
		estimate_key_add(range, &key, 0, &sums);
		estimate_key_end(range, &key);
		named = estimate_key_figure(range, &key, ESTIMATE_PKTS, &estimate_claim_95);
		listed = estimate_key_figure(range, &key, ESTIMATE_PKTS, &row);
		octets = estimate_key_figure(range, &key, ESTIMATE_OCTETS, &row);
		estimate_range_destroy(range);
		assert_near(named.low, s.pool_pkts * pow(0.025, 1.0 / n), 1e-6);
		assert_near(listed.low, n == 1 ? 1 : s.pool_pkts * 2 * 0.025 / 1.025, 0.05);
		assert_near(octets.low, n == 1 ? 64 : s.pool_octets * 2 * 0.025 / 1.025, 20);
		ck_assert(named.high == s.pool_pkts && listed.high == s.pool_pkts);
	}
}
END_TEST

START_TEST(limits_stay_within_what_is_certain)
{
	struct estimate_sums key = samples_of(9, 3, 64), one = samples_of(1, 3, 1518);
	struct estimate_stratum s = {together(key, one), 30, 9 * 192 + 3 * 1518, 0, 0, {0, 0}, {0, 0}, {0, 0}};

	ck_assert_double_ge(figure_of(ESTIMATE_PKTS, &s, &one).low, 1);
	ck_assert_double_le(figure_of(ESTIMATE_PKTS, &s, &key).high, 29);
	ck_assert_double_ge(figure_of(ESTIMATE_OCTETS, &s, &key).low, 9 * 64);
	ck_assert_double_le(figure_of(ESTIMATE_OCTETS, &s, &key).high, s.pool_octets - 64);
}
END_TEST

/* ---- what holds for any sums ---- */

static double
between(struct skip_stream *stream, double from, double to)
{
	return from + (to - from) * (double)(skip_stream_next(stream) >> 11) * 0x1p-53;
}

/* Mostly few samples, of up to three weights and lengths; all of them in notifications of `together`. */
static struct estimate_sums
any_samples(struct skip_stream *stream, double most, double together)
{
	struct estimate_sums sums = {0};

	for (int i = 0; i < 3; i++) {
		double n = floor(pow(most, between(stream, -0.5, 1))), w = floor(pow(10, between(stream, 0, 4)));
		double b = floor(between(stream, 64, 1519));

		sums.n += (uint64_t)n;
		sums.w += n * w;
		sums.w2 += n * w * w;
		sums.wb += n * w * b;
		sums.wb2 += n * w * b * b;
		sums.w2b2 += n * w * w * b * b;
	}
	sums.same = sums.any = (struct estimate_pairs){(together - 1) * sums.w2, (together - 1) * sums.w2b2};
	return sums;
}

enum { MOST_STRATA = 4 };

struct any_case {
	struct estimate_stratum strata[MOST_STRATA];
	struct estimate_sums parts[MOST_STRATA];
	size_t n;
	bool counted;
	struct estimate_claim claim;
};

static void
make_any(struct skip_stream *stream, struct any_case *c)
{
	*c = (struct any_case){.n = 1 + skip_stream_next(stream) % MOST_STRATA, .counted = true};
	for (size_t i = 0; i < c->n; i++) {
		struct estimate_stratum *s = &c->strata[i];
		double calibration = exp(between(stream, -0.5, 0.5)), together_n = floor(between(stream, 1, 20));

		if (skip_stream_next(stream) % 4 > 0)
			c->parts[i] = any_samples(stream, 100, together_n);
		s->all = together(c->parts[i], any_samples(stream, 3000, together_n));
		s->w_max = skip_stream_next(stream) % 2 ? 0 : 1e4;
		s->lost = skip_stream_next(stream) % 2 ? 0 : between(stream, 0, 0.6);
		c->counted &= skip_stream_next(stream) % 16 > 0;
		if (!c->counted)
			continue;
		s->pool_pkts = fmax((double)s->all.n, s->all.w * calibration);
		s->pool_octets = fmax(64 * (double)s->all.n, s->all.wb * calibration * exp(between(stream, -0.2, 0.2)));
	}
	c->claim = (struct estimate_claim){exp(between(stream, log(1e-9), log(0.4))),
	    exp(between(stream, log(1e-9), log(0.4))), skip_stream_next(stream) % 2};
}

static void
check_any(const struct any_case *c, int which)
{
	struct estimate_range *range;
	struct estimate_key key;

	ck_assert_int_eq(estimate_range_create(c->strata, c->n, &range), 0);
	estimate_key_begin(&key);
	for (size_t i = 0; i < c->n; i++)
		estimate_key_add(range, &key, i, &c->parts[i]);
	estimate_key_end(range, &key);
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++) {
		enum estimate_unit unit = (enum estimate_unit)u;
		struct estimate_figure f = estimate_key_figure(range, &key, unit, &c->claim);
		double total = estimate_range_total(range, unit), own = estimate_key_own_high(range, &key, unit, &c->claim);

		ck_assert_msg(f.low >= 0 && f.low <= f.estimate && f.estimate <= f.high && isfinite(f.high) &&
		    own >= 0 && isfinite(own), "case %d unit %d: %g <= %g <= %g, own %g", which, u, f.low,
		    f.estimate, f.high, own);
		ck_assert_msg(!c->counted || f.high <= total * (1 + 1e-12), "case %d unit %d: %g of %g", which, u, f.high,
		    total);
	}
	estimate_range_destroy(range);
}

/* The bug of an earlier version: 3 samples of 10,136 had a lower limit below 0. */
START_TEST(limits_are_in_order_for_any_sums)
{
	struct skip_stream stream;
	const int n = suite_effort_at_most(getenv("EASE_LONG") ? 500000 : 20000);
	struct any_case c;

	skip_stream_seed(&stream, 11);
	for (int i = 0; i < n; i++) {
		make_any(&stream, &c);
		check_any(&c, i);
	}
}
END_TEST

/* Two alike strata are one of twice the size: one effective count, and not limits added up. */
START_TEST(strata_are_one_count)
{
	struct estimate_sums key = samples_of(30, 100, 64), two_keys = samples_of(60, 100, 64);
	struct estimate_stratum s = {together(key, samples_of(70, 100, 64)), 10000, 640000, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	struct estimate_stratum alike[] = {s, s};
	struct estimate_sums parts[] = {key, key}, one_part[] = {key, {0}};
	struct estimate_stratum twice = {together(two_keys, samples_of(140, 100, 64)), 20000, 1280000, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	struct estimate_figure both = figure_of_parts(ESTIMATE_PKTS, alike, 2, parts);
	struct estimate_figure united = figure_of(ESTIMATE_PKTS, &twice, &two_keys);
	struct estimate_figure alone = figure_of(ESTIMATE_PKTS, &s, &key);
	struct estimate_figure at_one = figure_of_parts(ESTIMATE_PKTS, alike, 2, one_part);

	assert_near(both.estimate, united.estimate, 1e-9);
	assert_near(both.low, united.low, 0.005 * united.low); /* n / (n - 1) is of each stratum */
	assert_near(both.high, united.high, 0.005 * united.high);
	/* The port where the key has no sample may hide some of it. */
	assert_near(at_one.estimate, alone.estimate, 1e-9);
	ck_assert_double_gt(at_one.high, alone.high);
}
END_TEST

/* A port of 1 in 10,000 hides more than all that one of 1 in 100 shows. */
START_TEST(ports_that_sample_rarely_may_hide_a_key)
{
	struct estimate_sums parts[] = {samples_of(20, 100, 64), {0}};
	struct estimate_stratum strata[] = {
		{together(parts[0], samples_of(80, 100, 64)), 10000, 640000, 0, 0, {0, 0}, {0, 0}, {0, 0}},
		{samples_of(100, 10000, 64), 1e6, 6.4e7, 0, 0, {0, 0}, {0, 0}, {0, 0}},
	};
	struct estimate_range *range;
	struct estimate_key key;

	ck_assert_int_eq(estimate_range_create(strata, 2, &range), 0);
	estimate_key_begin(&key);
	estimate_key_add(range, &key, 0, &parts[0]);
	estimate_key_end(range, &key);
	ck_assert_double_gt(estimate_key_figure(range, &key, ESTIMATE_PKTS, &estimate_claim_95).high, 20000);
	assert_near(estimate_key_own_high(range, &key, ESTIMATE_PKTS, &estimate_claim_95),
	    figure_of(ESTIMATE_PKTS, &strata[0], &parts[0]).high, 1);
	estimate_range_destroy(range);
}
END_TEST

/* The skip changed in mid range: weights carry it, the total stays the counted one. */
START_TEST(weights_carry_a_rate_change)
{
	struct estimate_sums key = together(samples_of(1000, 10, 64), samples_of(10, 100, 64));
	struct estimate_sums rest = together(samples_of(1000, 10, 64), samples_of(190, 100, 64));
	struct estimate_stratum s = {together(key, rest), 40000, 2560000, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	double of_key = figure_of(ESTIMATE_PKTS, &s, &key).estimate;

	assert_near(of_key / 11000, 1, 0.001); /* but for the bias of a ratio */
	assert_near(of_key + figure_of(ESTIMATE_PKTS, &s, &rest).estimate, 40000, 1e-9);
}
END_TEST

static double
binomial(int k, int n, double p)
{
	return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
}

/* 40 frames of 1,518 octets beside 160 of 64, of which each is sampled with 1 in 10: the mean over all that can
 * happen. A plain ratio is 4 % too small; over many ports that would be more than chance. */
START_TEST(estimates_are_right_on_the_average)
{
	const double truth = 40 * 1518.0, total = truth + 160 * 64.0;
	double plain = 0, estimated = 0, all = 0;

	for (int i = 0; i <= 40; i++)
		for (int j = i == 0; j <= 160; j++) {
			struct estimate_sums key = samples_of(i, 10, 1518);
			struct estimate_stratum s = {together(key, samples_of(j, 10, 64)), 200, total, 0, 0, {0, 0}, {0, 0}, {0, 0}};
			double p = binomial(i, 40, 0.1) * binomial(j, 160, 0.1);

			if (p < 1e-9)
				continue;
			all += p;
			plain += p * total * key.wb / s.all.wb;
			estimated += p * figure_of(ESTIMATE_OCTETS, &s, &key).estimate;
		}
	ck_assert_double_lt(plain / all, 0.97 * truth);
	assert_near(estimated / all / truth, 1, 0.012);
}
END_TEST

/* Poisson's limits: Garwood's lower one of 10, and with half a sample more (Jeffreys) the upper one. */
START_TEST(unknown_totals_are_scaled_by_weights)
{
	struct estimate_sums key = samples_of(10, 1e6, 64);
	struct estimate_stratum s = {together(key, samples_of(10, 1e6, 64)), 0, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}};
	struct estimate_figure f = figure_of(ESTIMATE_PKTS, &s, &key);

	assert_near(f.estimate, 1e7, 1e-3);
	assert_near(f.low / 1e6, 4.795, 0.001);
	assert_near(f.high / 1e6, gamma_upper_quantile(0.025, 10.5), 0.001);
	assert_near(estimate_total(ESTIMATE_PKTS, &s), 2e7, 1e-3);
	s.lost = 0.5; /* half of the samples: twice the frames */
	assert_near(figure_of(ESTIMATE_PKTS, &s, &key).estimate, 2e7, 1e-3);
}
END_TEST

/* Frames of two lengths, of which each is sampled with 1 in 50; five samples come in a notification, of which each is
 * lost with 3 in 10. Totals that nothing counted are within their limits in 95 of 100 runs. */
START_TEST(unknown_totals_have_limits)
{
	enum { FRAMES = 40000, RUNS = 4000, TOGETHER = 5 };
	const double truth[ESTIMATE_N_UNITS] = {FRAMES, FRAMES * (64 + 1518) / 2.0}, w = 50;
	struct skip_stream random;
	int low[ESTIMATE_N_UNITS] = {0}, high[ESTIMATE_N_UNITS] = {0};

	skip_stream_seed(&random, 11);
	for (int run = 0; run < RUNS; run++) {
		double given = 0, received = 0, length[TOGETHER], sum;
		struct estimate_stratum s = {0};

		for (int i = 0, n = 0; i < FRAMES; i++) {
			if (skip_stream_next(&random) % 50 != 0)
				continue;
			length[n++] = i % 2 ? 1518 : 64;
			if (n < TOGETHER)
				continue;
			n = 0;
			given += TOGETHER;
			if (skip_stream_next(&random) % 10 < 3)
				continue;
			received += TOGETHER;
			sum = 0;
			for (int k = 0; k < TOGETHER; k++) {
				struct estimate_sums one = samples_of(1, w, length[k]);

				sum += w * length[k];
				estimate_add_sums(&s.all, &one);
				s.all.any.octets -= w * w * length[k] * length[k];
			}
			s.all.any.octets += sum * sum;
			s.all.any.pkts += w * w * TOGETHER * (TOGETHER - 1);
		}
		s.all.same = s.all.any;
		s.lost = 1 - received / given;
		for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
			double total = estimate_total((enum estimate_unit)u, &s);
			double part = estimate_deviation(total, estimate_not_counted_variance((enum estimate_unit)u, &s));

			low[u] += total * (1 - part) > truth[u];
			high[u] += total * (1 + part) < truth[u];
		}
	}
	for (int u = 0; u < ESTIMATE_N_UNITS; u++) { /* .025 each, five deviations */
		ck_assert_int_lt(low[u], 150);
		ck_assert_int_lt(high[u], 150);
		ck_assert_int_gt(low[u] + high[u], 131);
	}
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
given_unseen_pkts(const struct estimate_stratum *strata, size_t n_strata)
{
	struct estimate_range *range;
	double pkts = -1;

	ck_assert_int_eq(estimate_range_create(strata, n_strata, &range), 0);
	ck_assert_int_eq(estimate_given_unseen_pkts(range, 0.05, &pkts), 0);
	estimate_range_destroy(range);
	return pkts;
}

START_TEST(keys_not_seen_are_bounded)
{
	struct estimate_stratum strata[] = {
		{samples_of(1000, 100, 64), 1e5, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}},
		{samples_of(1000, 400, 64), 4e5, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}},
		{samples_of(50, 1, 64), 50, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}},
		{{0}, 700, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}}, /* traffic, but no sample: counted, and not estimated */
	};
	struct estimate_range *range;
	double any;

	/* the rule of three, 3.0 T / n, a little less because no frame is sampled twice */
	assert_near(given_unseen_pkts(&strata[1], 1), 3.0 * 400, 5);
	/* hiding on the port with the larger skip is best; ports do not add */
	assert_near(given_unseen_pkts(strata, 2), 3.0 * 400, 5);
	assert_near(given_unseen_pkts(strata + 2, 1), 0, 1e-9);
	assert_near(given_unseen_pkts(strata, 4), 3.0 * 400, 5);
	/* Any key at all: T / x keys of x frames are hidden with 5 % in all. */
	ck_assert_int_eq(estimate_range_create(strata, 1, &range), 0);
	any = estimate_any_unseen_pkts(range, 0.05);
	assert_near(1e5 / any * pow(1 - 1 / 100.0, any), 0.05, 1e-4);
	estimate_range_destroy(range);
}
END_TEST

START_TEST(ranks_tell_what_is_settled)
{
	static const double estimate[] = {190, 70.1, 70, 69, 5}, variance[] = {6.5, 2.6, 2.6, 11, 4};
	static const uint64_t samples[] = {50, 20, 20, 20, 5};
	static const size_t all_rows[] = {0, 1, 2, 3, 4};
	static const double low[] = {180, 64, 64, 58, 2};
	static const struct estimate_rank expected[] = {{1, 1}, {2, 4}, {2, 4}, {2, 4}, {5, 5}};
	static const struct estimate_rank crowded[] = {{1, 1}, {2, 5}, {2, 5}, {2, 5}, {2, 5}};
	const struct estimate_order order = {5, estimate, variance, samples, 0};
	const struct estimate_unseen_bounds nothing = {0, 0}, some = {3, 13};
	struct estimate_rank ranks[5];

	for (size_t n_rows = 0; n_rows <= 5; n_rows++) {
		ck_assert_int_eq(estimate_ranks(&order, all_rows, n_rows, low, &nothing, ranks), 0);
		for (size_t i = 0; i < n_rows; i++) {
			ck_assert_uint_eq(ranks[i].low, expected[i].low);
			ck_assert_uint_eq(ranks[i].high, expected[i].high);
		}
	}
	/* Six keys of 2 that no sample showed may be above the last one, none above the others. */
	ck_assert_int_eq(estimate_ranks(&order, all_rows, 5, low, &some, ranks), 0);
	ck_assert_uint_eq(ranks[3].high, 4);
	ck_assert_uint_eq(ranks[4].high, 5 + 6);
	/* Any of them may have 100 more, which memory had no room for: the first is larger all the same. */
	ck_assert_int_eq(estimate_ranks(&(struct estimate_order){5, estimate, variance, samples, 100}, all_rows, 5, low,
	    &nothing, ranks), 0);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(ranks[i].low, crowded[i].low);
		ck_assert_uint_eq(ranks[i].high, crowded[i].high);
	}
}
END_TEST

enum { MANY_KEYS = 1000, MANY_ROWS = 20 };

/* Classes of variance are a short cut: the answer is that of all pairs. */
START_TEST(ranks_are_those_of_all_pairs)
{
	static double estimate[MANY_KEYS], variance[MANY_KEYS], low[MANY_ROWS];
	static uint64_t samples[MANY_KEYS];
	const struct estimate_order order = {MANY_KEYS, estimate, variance, samples, 0};
	const struct estimate_unseen_bounds nothing = {0, 0};
	struct estimate_rank ranks[MANY_ROWS];
	double open = MANY_ROWS * (MANY_KEYS - 1.0), before = 0;
	size_t rows[MANY_ROWS], above[MANY_ROWS], below[MANY_ROWS];

	for (size_t i = 0; i < MANY_ROWS; i++)
		rows[i] = i;
	for (size_t i = 0; i < MANY_KEYS; i++) {
		estimate[i] = 1e6 / (double)(i + 10);
		variance[i] = estimate[i] * (double)(50 + 37 * i % 101);
	}
	ck_assert_int_eq(estimate_ranks(&order, rows, MANY_ROWS, low, &nothing, ranks), 0);
	while (open != before) {
		double z = normal_upper_quantile(0.04 / open), left = 0;

		for (size_t i = 0; i < MANY_ROWS; i++) {
			above[i] = below[i] = 0;
			for (size_t j = 0; j < MANY_KEYS; j++) {
				double needed = z * sqrt(variance[i] + variance[j]);

				above[i] += j != i && estimate[j] - estimate[i] > needed;
				below[i] += j != i && estimate[i] - estimate[j] > needed;
			}
			left += (double)(MANY_KEYS - 1 - above[i] - below[i]);
		}
		before = open;
		open = left;
	}
	for (size_t i = 0; i < MANY_ROWS; i++) {
		ck_assert_uint_eq(ranks[i].low, 1 + above[i]);
		ck_assert_uint_eq(ranks[i].high, MANY_KEYS - below[i]);
	}
}
END_TEST

/* Behind the first thousand rows a rank allows for a few keys more than it must, and never for fewer: at most a
 * twentieth more than all pairs at the first level settle. */
START_TEST(ranks_of_long_lists_are_little_wider)
{
	enum { KEYS = 5000, FIRST = 1000 };
	static double estimate[KEYS], variance[KEYS], low[KEYS];
	static uint64_t samples[KEYS];
	static size_t rows[KEYS];
	static struct estimate_rank ranks[KEYS];
	const struct estimate_order order = {KEYS, estimate, variance, samples, 0};
	const struct estimate_unseen_bounds nothing = {0, 0};
	double z = normal_upper_quantile(0.04 / (KEYS * (KEYS - 1.0))), told = 0, exact = 0;

	for (size_t i = 0; i < KEYS; i++) {
		rows[i] = i;
		estimate[i] = 1e9 / (double)(i + 10);
		variance[i] = estimate[i] * (double)(500 + 37 * i % 1010);
	}
	variance[KEYS - 1] = -0.0; /* all of its frames were sampled */
	ck_assert_int_eq(estimate_ranks(&order, rows, KEYS, low, &nothing, ranks), 0);
	for (size_t i = FIRST; i < KEYS; i++) {
		size_t above = 0, below = 0;

		for (size_t j = 0; j < KEYS; j++) {
			double needed = z * sqrt(variance[i] + variance[j]);

			above += estimate[j] - estimate[i] > needed;
			below += estimate[i] - estimate[j] > needed;
		}
		ck_assert_uint_le(ranks[i].low, 1 + above);
		ck_assert_uint_ge(ranks[i].high, KEYS - below);
		told += ranks[i].high - ranks[i].low;
		exact += (double)(KEYS - below - 1 - above);
	}
	ck_assert_double_gt(exact, 100.0 * (KEYS - FIRST));
	ck_assert_double_lt(told, 1.05 * exact);
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
		double covered = coverage_held(&results[unit]);

		ck_assert_uint_gt(results[unit].trials, 20 * MADE_RUNS);
		ck_assert_double_gt(covered, unit == ESTIMATE_PKTS ? 0.94 : 0.93);
		ck_assert_double_lt(covered, 0.97);
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
	tcase_add_test(tc, normal_quantiles_are_the_tables);
	suite_add_tcase(suite, tc);

	tc = tcase_create("figures");
	tcase_add_test(tc, sums_are_exact);
	tcase_add_test(tc, what_was_counted_in_part);
	tcase_add_test(tc, packets_are_cochrans);
	tcase_add_test(tc, octets_are_cochrans);
	tcase_add_test(tc, loss_moves_nothing_and_widens);
	tcase_add_test(tc, without_counters_keys_and_total_are_raised_alike);
	tcase_add_test(tc, every_frame_sampled_is_counted);
	tcase_add_test(tc, the_only_key_has_a_width);
	tcase_add_test(tc, a_key_with_all_samples_leaves_nothing);
	tcase_add_test(tc, a_list_allows_for_the_key_having_been_seen);
	tcase_add_test(tc, limits_stay_within_what_is_certain);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, limits_are_in_order_for_any_sums);
	tcase_add_test(tc, strata_are_one_count);
	tcase_add_test(tc, ports_that_sample_rarely_may_hide_a_key);
	tcase_add_test(tc, weights_carry_a_rate_change);
	tcase_add_test(tc, estimates_are_right_on_the_average);
	tcase_add_test(tc, unknown_totals_are_scaled_by_weights);
	tcase_add_test(tc, unknown_totals_have_limits);
	tcase_add_test(tc, shares_are_of_the_total);
	tcase_add_test(tc, keys_not_seen_are_bounded);
	tcase_add_test(tc, ranks_tell_what_is_settled);
	tcase_add_test(tc, ranks_are_those_of_all_pairs);
	tcase_add_test(tc, ranks_of_long_lists_are_little_wider);
	suite_add_tcase(suite, tc);

	tc = tcase_create("coverage");
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, intervals_hold_the_truth, 0,
	    (int)(sizeof(coverage_cases) / sizeof(*coverage_cases)));
	suite_add_tcase(suite, tc);

	return suite_run(suite);
}
