/*
 * The quantiles of the beta and the gamma distribution held against another implementation of its tails, the GNU Scientific
 * Library's: with x the quantile, the tails at x (1 - 1e-6) and x (1 + 1e-6) must have p between them
 * (gamma: 1e-8). Over random
 * arguments: 20,000, a million with EASE_LONG.
 */
#include "collector/estimate/quantiles.h"
#include "tests/suite.h"

#include "agent/sampling/skip.h"

#include <check.h>
#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>

enum { TRIALS = 20000, LONG_TRIALS = 1000000 };
static const double RELATIVE = 1e-6, GAMMA_RELATIVE = 1e-8;

static double
uniform(struct skip_stream *stream, double from, double to)
{
	return from + (to - from) * (double)(skip_stream_next(stream) >> 11) * 0x1p-53;
}

/* What must be small: the quantile itself, or what it leaves to 1, whichever is less. */
static double
moved(double x, double by)
{
	return x <= 0.5 ? x * (1 + by) : 1 - (1 - x) * (1 - by);
}

/* The tail from the end that p is counted from. GSL takes an upper one as 1 - P, which leaves no digits of a small one:
 * so it is asked for the lower one of 1 - X, or where 1 - x has no digits for that of the gamma distribution
 * (Abramowitz and Stegun 26.5.17, to (a / b)^2). */
static double
tail(bool upper, double x, double a, double b)
{
	if (!upper)
		return gsl_cdf_beta_P(x, a, b);
	if (x > 1e-7)
		return gsl_cdf_beta_P(1 - x, b, a);
	if (b < 1e6) /* then so small a quantile leaves no small tail */
		return gsl_cdf_beta_Q(x, a, b);
	return gsl_cdf_gamma_Q(-(b + (a - 1) / 2) * log1p(-x), a, 1);
}

START_TEST(beta_quantiles_are_those_of_gsl)
{
	struct skip_stream stream;
	int n = suite_effort_at_most(getenv("EASE_LONG") ? LONG_TRIALS : TRIALS), beyond_double = 0, unknown = 0;

	gsl_set_error_handler_off();
	skip_stream_seed(&stream, 17);
	for (int i = 0; i < n; i++) {
		bool upper = i % 2;
		double p = exp(uniform(&stream, log(1e-12), log(0.5)));
		double a = exp(uniform(&stream, log(0.01), log(1e5))), b = exp(uniform(&stream, log(0.5), log(1e9)));
		double x = upper ? beta_upper_quantile(p, a, b) : beta_lower_quantile(p, a, b);
		double before = tail(upper, moved(x, -RELATIVE), a, b), after = tail(upper, moved(x, RELATIVE), a, b);

		ck_assert_msg(x >= 0 && x <= 1, "%s quantile of %g, Beta(%g, %g) is %g", upper ? "upper" : "lower", p, a,
		    b, x);
		if (x < DBL_MIN || 1 - x < 1e-9) { /* no digits are left that could be compared */
			beyond_double++;
			continue;
		}
		if (!isfinite(before) || !isfinite(after)) {
			unknown++;
			continue;
		}
		ck_assert_msg(upper ? before >= p && after <= p : before <= p && after >= p,
		    "%s quantile of %.17g, Beta(%.17g, %.17g) is %.17g: tails around it are %.17g and %.17g",
		    upper ? "upper" : "lower", p, a, b, x, before, after);
	}
	printf("%d quantiles: %d too near 0 or 1 to compare, %d that GSL does not know, the others to 1e-6\n", n,
	    beyond_double, unknown);
	ck_assert_int_lt(unknown, n / 20);
}
END_TEST

START_TEST(gamma_quantiles_are_those_of_gsl)
{
	struct skip_stream stream;
	int n = suite_effort_at_most(getenv("EASE_LONG") ? LONG_TRIALS : TRIALS);

	gsl_set_error_handler_off();
	skip_stream_seed(&stream, 18);
	for (int i = 0; i < n; i++) {
		double p = exp(uniform(&stream, log(1e-12), log(0.5)));
		double shape = exp(uniform(&stream, log(0.01), log(1e6)));
		double x = gamma_upper_quantile(p, shape), before, after;

		if (x < 1e-100)
			continue; /* GSL has no digits left */
		before = gsl_cdf_gamma_Q(x * (1 - GAMMA_RELATIVE), shape, 1);
		after = gsl_cdf_gamma_Q(x * (1 + GAMMA_RELATIVE), shape, 1);
		ck_assert_msg(before >= p && after <= p,
		    "upper quantile of %.17g, Gamma(%.17g) is %.17g: tails around it are %.17g and %.17g", p, shape,
		    x, before, after);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("quantiles");
	TCase *tc = tcase_create("quantiles");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, beta_quantiles_are_those_of_gsl);
	tcase_add_test(tc, gamma_quantiles_are_those_of_gsl);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
