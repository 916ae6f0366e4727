#include "collector/estimate/quantiles.h"

#include <math.h>
#include <stdbool.h>

enum {
	FRACTION_TERMS = 20000, /* the fraction needs sqrt(max(a, b)) terms, the series some eight times as many */
	QUANTILE_STEPS = 100,  /* three or four usually; halving needs 60 */
};
static const double SMALLEST_LOG = -745; /* of a double */
static const double LARGEST_LOG = 709;

/* lgamma() has a global, which other threads write, too. */
static double
log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* ln Gamma(x) without (x - 1/2) ln x - x + ln(2 pi) / 2: Stirling's series, to 1e-13 from x = 10 on
 * (DLMF 5.11.1). */
static double
stirling_remainder(double x)
{
	double y = 1 / (x * x);

	return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
}

/* ln B(a, b). With L the larger of both, ln Gamma(L) and ln Gamma(a + b) are large and nearly equal, so their
 * difference is taken in closed form (DiDonato and Morris 1992, ACM TOMS 18, algdiv). */
static double
log_beta(double a, double b)
{
	double small = fmin(a, b), large = fmax(a, b), sum = a + b;

	if (large < 10)
		return log_gamma(a) + log_gamma(b) - log_gamma(sum);
	return log_gamma(small) - (large - 0.5) * log1p(small / large) - small * log(sum) + small +
	    stirling_remainder(large) - stirling_remainder(sum);
}

/* Keeps a denominator of the continued fraction away from zero. */
static double
not_zero(double value)
{
	return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of DLMF 8.17.22, 1 / (1 + d_1 / (1 + d_2 / ...)), by its convergents' recurrence
 * (DLMF 3.10.6), which needs one division for two terms; converges quickly for x < (a + 1) / (a + b + 2). */
static double
continued_fraction(double x, double a, double b)
{
	double below_before = 1, below = 1 - (a + b) * x / (a + 1), above_before = 1, above = 1;

	for (int m = 1; m <= FRACTION_TERMS; m++) {
		double at = a + 2 * m, scale = x / ((at - 1) * at * (at + 1));
		double even = m * (b - m) * (at + 1) * scale, odd = -(a + m) * (a + b + m) * (at - 1) * scale;

		below_before = below + even * below_before;
		above_before = above + even * above_before;
		below = below_before + odd * below;
		above = above_before + odd * above;
		if (fabs(above * below_before - above_before * below) < 1e-12 * fabs(above_before * below))
			break;
		scale = fabs(below);
		if (scale < 1e-100 || scale > 1e100) {
			scale = 1 / not_zero(below);
			below *= scale;
			below_before *= scale;
			above *= scale;
			above_before *= scale;
		}
	}
	return above / not_zero(below);
}

/* A tail of Beta(a, b) at x = e^t: the logarithm of its probability, and the derivative of that by t.
 * Tails are nearly straight lines in these coordinates, from the smallest to the largest p. */
struct tail {
	double log_p, slope;
};

struct beta {
	double a, b, log_beta;
};

typedef struct tail tail_function(const struct beta *d, bool upper, double t);

static struct tail
tail_at(const struct beta *d, bool upper, double t)
{
	double x = exp(t), rest = -expm1(t);
	double log_rest = x < 0.5 ? log1p(-x) : log(rest); /* b may be 1e9: no digit of x may be lost */
	double log_front = d->a * t + d->b * log_rest - d->log_beta;
	bool from_below = x < (d->a + 1) / (d->a + d->b + 2);
	double part = from_below ? continued_fraction(x, d->a, d->b) / d->a
				 : continued_fraction(rest, d->b, d->a) / d->b;
	double sign = upper ? -1 : 1, other;

	if (from_below != upper)
		return (struct tail){log_front + log(part), sign / (rest * part)};
	other = exp(log_front) * part;
	return (struct tail){log1p(-other), sign * exp(log_front) / rest / (1 - other)};
}

/* Abramowitz and Stegun 26.2.23, p <= 0.5: to 5e-4, for a first guess. */
static double
guess_normal_quantile(double p)
{
	double s = sqrt(-2 * log(p));

	return s - (2.515517 + s * (0.802853 + s * 0.010328)) /
	    (1 + s * (1.432788 + s * (0.189269 + s * 0.001308)));
}

double
normal_upper_quantile(double p)
{
	double z = guess_normal_quantile(p);

	for (int i = 0; i < 3; i++) /* Newton's steps: to 1e-14 */
		z += (erfc(z / sqrt(2)) / 2 - p) / (exp(-z * z / 2) / sqrt(2 * M_PI));
	return z;
}

/* The gamma distribution's quantile by Wilson and Hilferty (1931), which a beta distribution with a small
 * mean comes close to; below it, where P(X <= x) is about x^a / (a B(a, b)), that. */
static double
guess_log_quantile(const struct beta *d, bool upper, double p)
{
	double z = guess_normal_quantile(p) * (upper ? 1 : -1);
	double root = 1 - 1 / (9 * d->a) + z / (3 * sqrt(d->a));
	double gamma = d->a * root * root * root, t;

	if (root > 0.15)
		t = log(gamma / (d->b + (d->a + gamma - 1) / 2 + gamma));
	else if (upper)
		t = log(d->a / (d->a + d->b));
	else
		t = (log(p) + log(d->a) + d->log_beta) / d->a;
	return t < 0 ? t : log(d->a / (d->a + d->b));
}

/* Newton's steps from t in the tail's coordinates, kept below e^high and within the bracket that the steps so far
 * have proven. They converge as squares do: what follows a step that is small, in x and in the probability, is exact. */
static double
quantile_from(double t, tail_function *tail_of, const struct beta *d, bool upper, double p, double high)
{
	double log_p = log(p), low = SMALLEST_LOG, highest = high;

	if (t <= SMALLEST_LOG)
		return 0;
	for (int i = 0; i < QUANTILE_STEPS; i++) {
		struct tail tail = tail_of(d, upper, t);
		double excess = tail.log_p - log_p, next = t - excess / tail.slope;

		if ((excess < 0) != upper)
			low = t;
		else
			high = t;
		if (fabs(next - t) <= 1e-5 && fabs(excess) <= 1e-3 && next < highest)
			return exp(next);
		t = next > low && next < high ? next : (low + high) / 2;
	}
	return exp(t);
}

static double
beta_quantile(const struct beta *d, bool upper, double p)
{
	return quantile_from(guess_log_quantile(d, upper, p), tail_at, d, upper, p, 0);
}

/* Is the quantile above 1/2? Then 1 - X is looked for, because near 1 a double has no digits left. */
static bool
is_in_upper_half(const struct beta *d, bool upper, double p)
{
	if ((d->a <= d->b) != upper)
		return upper;
	if (d->b > 10 * d->a && guess_log_quantile(d, upper, p) < log(0.2))
		return false;
	return (tail_at(d, upper, log(0.5)).log_p > log(p)) == upper;
}

static double
quantile_of(bool upper, double p, double a, double b)
{
	struct beta d = {a, b, log_beta(a, b)};

	if (!is_in_upper_half(&d, upper, p))
		return beta_quantile(&d, upper, p);
	return 1 - beta_quantile(&(struct beta){b, a, d.log_beta}, !upper, p);
}

double
beta_lower_quantile(double p, double a, double b)
{
	return quantile_of(false, p, a, b);
}

double
beta_upper_quantile(double p, double a, double b)
{
	return quantile_of(true, p, a, b);
}

double
beta_lower_tail(double x, double a, double b)
{
	struct beta d = {a, b, log_beta(a, b)};

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	return exp(tail_at(&d, false, log(x)).log_p);
}

/* The upper tail of the gamma distribution at x = e^t: from x = a + 1 on by a continued fraction (DLMF 8.9.2, the
 * modified method of Lentz), below it as the rest of the lower tail's series (DLMF 8.7.1). */
static struct tail
gamma_upper_tail_at(const struct beta *d, bool upper, double t)
{
	double x = exp(t), log_front = d->a * t - x - log_gamma(d->a), term = 1 / d->a, sum = term;
	double b = x + 1 - d->a, c = 1e300, f = 1 / b, value = f;

	(void)upper;
	if (x < d->a + 1) {
		for (int i = 1; i <= FRACTION_TERMS && term > sum * 1e-16; i++)
			sum += term *= x / (d->a + i);
		sum = 1 - exp(log_front) * sum;
		return (struct tail){log(sum), -exp(log_front) / sum};
	}
	for (int i = 1; i <= FRACTION_TERMS; i++) {
		double over = -i * (i - d->a), step;

		b += 2;
		f = 1 / not_zero(over * f + b);
		c = not_zero(b + over / c);
		step = f * c;
		value *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return (struct tail){log_front + log(value), -1 / value};
}

double
gamma_upper_quantile(double p, double shape)
{
	const struct beta d = {.a = shape};
	double root = 1 - 1 / (9 * shape) + guess_normal_quantile(p) / (3 * sqrt(shape));
	double t = root > 0.15 ? log(shape * root * root * root) : log(shape);

	return quantile_from(t, gamma_upper_tail_at, &d, true, p, LARGEST_LOG);
}
