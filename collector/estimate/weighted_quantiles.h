/*
 * Quantiles of a measured value, such as a frame's delay, from samples that each stand for so many frames: of all frames,
 * the value that a part q of them does not exceed. Limits are distribution-free: they rest on how many samples lie on
 * either side, whatever the values are (order statistics). Where weights differ, samples count as so many of one weight
 * as have the same variance on the side in question (Woodruff 1952, Korn and Graubard 1998). Pure functions.
 */
#ifndef EASE_COLLECTOR_WEIGHTED_QUANTILES_H
#define EASE_COLLECTOR_WEIGHTED_QUANTILES_H

#include "collector/estimate/estimate.h"

#include <stddef.h>

struct weighted_value {
	double value;
	double weight;	/* frames that it stands for, above 0 */
	double squares; /* set by weighted_values_sort */
};

struct weighted_values {
	struct weighted_value *items; /* the caller's; sorted by value, their weights and squares are running sums */
	size_t n;
	double heaviest; /* weight */
};

/* Sorts n values of the caller, which are then no longer what they were. */
struct weighted_values weighted_values_sort(struct weighted_value *items, size_t n);

/* The quantile of part q, 0 < q < 1, and its limits, each wrong at most once in 1 / error. What the samples are too few to
 * tell is NAN: a limit, and the estimate unless both are known. */
struct estimate_figure weighted_values_quantile(const struct weighted_values *values, double q, double error);

#endif
