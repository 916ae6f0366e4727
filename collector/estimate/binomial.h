/*
 * 95 % limits of a binomial proportion: Wilson's, which need no special function and whose mean
 * coverage is nominal, and the exact ones of Clopper and Pearson, which never cover less than
 * 95 %. Counts are real numbers, because effective counts of weighted samples are.
 */
#ifndef EASE_COLLECTOR_BINOMIAL_H
#define EASE_COLLECTOR_BINOMIAL_H

#define BINOMIAL_Z95 1.959963984540054 /* 97.5 % point of the normal distribution */

struct binomial_limits {
	double low, high; /* 0 <= low <= high <= 1 */
};

/* successes of trials, 0 <= successes <= trials, trials > 0. Centre and half width as in Brown,
 * Cai and DasGupta 2001, equation (4). */
struct binomial_limits binomial_wilson(double successes, double trials);

/* The same arguments; Clopper and Pearson 1934: 2.5 % point of Beta(c, n-c+1) and 97.5 % point of
 * Beta(c+1, n-c). */
struct binomial_limits binomial_exact(double successes, double trials);

/* The regularised incomplete beta function I_x(a, b) for a, b > 0 and 0 <= x <= 1. */
double binomial_beta_cdf(double x, double a, double b);

/* The x with I_x(a, b) = p. */
double binomial_beta_quantile(double p, double a, double b);

#endif
