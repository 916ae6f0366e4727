/*
 * Quantiles that limits are made of: of the beta distribution (limits of proportions, Clopper and Pearson
 * 1934), of the gamma distribution (limits of Poisson counts, Garwood 1936) and of the normal one. Pure
 * functions; counts may be fractions, because effective counts of weighted samples are.
 */
#ifndef EASE_COLLECTOR_QUANTILES_H
#define EASE_COLLECTOR_QUANTILES_H

/* P(X <= x) for X of Beta(a, b): the regularised incomplete beta function (DLMF 8.17). a, b > 0,
 * 0 <= x <= 1. */
double beta_lower_tail(double x, double a, double b);

/* The x with P(X <= x) = p, and the x with P(X > x) = p, of Beta(a, b): 1e-15 <= p <= 0.5, a from 0.01,
 * b from 0.5 (they may be exchanged), to 1e-8 of x or of 1 - x, whichever is less. A quantile below the smallest
 * double is 0. Some 2 us. */
double beta_lower_quantile(double p, double a, double b);
double beta_upper_quantile(double p, double a, double b);

/* The x with P(X > x) = p of Gamma(shape, 1): 1e-15 <= p <= 0.5, shape from 0.01 to 1e6, to
 * 1e-8 of x. */
double gamma_upper_quantile(double p, double shape);

/* The z with P(Z > z) = p of the standard normal distribution, 1e-300 <= p <= 0.5. */
double normal_upper_quantile(double p);

#endif
