#include "collector/estimate/binomial.h"

#include <math.h>

enum {
	BETA_MAX_TERMS = 400, /* far above the sqrt(max(a, b)) terms that the fraction needs */
	QUANTILE_STEPS = 200, /* halving alone would need 60 and what the smallest x takes */
};

struct binomial_limits
binomial_wilson(double successes, double trials)
{
	double z2 = BINOMIAL_Z95 * BINOMIAL_Z95, p = successes / trials;
	double centre = (p + z2 / (2 * trials)) / (1 + z2 / trials);
	double half = BINOMIAL_Z95 / (1 + z2 / trials) *
	    sqrt(p * (1 - p) / trials + z2 / (4 * trials * trials));

	return (struct binomial_limits){fmax(0, centre - half), fmin(1, centre + half)};
}

/* Keeps a denominator of the continued fraction away from zero. */
static double
not_zero(double value)
{
	return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of DLMF 8.17.22 by the modified method of Lentz; converges quickly for
 * x < (a + 1) / (a + b + 2). */
static double
beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m <= BETA_MAX_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		value *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = c * d;
		value *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return value;
}

double
binomial_beta_cdf(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* Near the limit of 95 %: a gamma distribution's by Wilson and Hilferty (1931), which a beta
 * distribution of few successes comes close to. */
static double
guess_quantile(double p, double a, double b)
{
	double z = p < 0.5 ? -BINOMIAL_Z95 : BINOMIAL_Z95;
	double gamma = a * pow(fmax(0.05, 1 - 1 / (9 * a) + z / (3 * sqrt(a))), 3);

	return gamma / (b + (a + gamma - 1) / 2 + gamma);
}

/* Halley's steps, kept within the bracket that the steps so far have proven. They converge as
 * cubes do, so what follows a small step is exact. */
double
binomial_beta_quantile(double p, double a, double b)
{
	double log_scale = lgamma(a + b) - lgamma(a) - lgamma(b);
	double low = 0, high = 1, x = guess_quantile(p, a, b);

	for (int i = 0; i < QUANTILE_STEPS; i++) {
		double excess = binomial_beta_cdf(x, a, b) - p;
		double density = exp(log_scale + (a - 1) * log(x) + (b - 1) * log1p(-x));
		double newton = excess / density, bend = (a - 1) / x - (b - 1) / (1 - x);
		double next = x - newton / (1 - 0.5 * fmin(1, newton * bend));

		if (excess < 0)
			low = x;
		else
			high = x;
		if (!(next > low && next < high))
			next = (low + high) / 2;
		if (fabs(next - x) <= 1e-6 * x)
			return next;
		x = next;
	}
	return x;
}

struct binomial_limits
binomial_exact(double successes, double trials)
{
	struct binomial_limits limits = {0, 1};

	if (successes > 0)
		limits.low = binomial_beta_quantile(0.025, successes, trials - successes + 1);
	if (successes < trials)
		limits.high = binomial_beta_quantile(0.975, successes + 1, trials - successes);
	return limits;
}
