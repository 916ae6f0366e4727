/*
 * How often limits hold, and the bars that they must reach: low and high misses apart, in packets and octets. Each
 * figure is printed beside its bar, so that the output of a test is the table of what is claimed.
 */
#ifndef EASE_TESTS_ESTIMATE_BARS_H
#define EASE_TESTS_ESTIMATE_BARS_H

#include "collector/estimate/estimate.h"

#include <stdbool.h>

/* In how many trials limits were wrong, on each side. */
struct bars_tally {
	unsigned long trials, low, high; /* the truth is below the lower limit, above the upper one */
};
void bars_judge(struct bars_tally *tally, const struct estimate_figure *figure, double truth);
/* Of what is right or wrong as a whole. */
void bars_count(struct bars_tally *tally, bool wrong);

/* Parts of all trials. What is 0 but `least` is not judged. */
struct bar {
	double least, most; /* of limits that hold */
	double low, high;   /* at most wrong on this side */
};

/* A bar that is not reached: what holds instead, and why. */
struct bars_exception {
	const char *name; /* of a row of the table */
	enum estimate_unit unit;
	struct bar holds;
	const char *why;
};

/* Prints a row. False if it is beyond its bar, or beyond what the exception says, by more than three standard
 * deviations of what that many trials leave open. exceptions end with a name of NULL, or are NULL. */
bool bars_check(const char *name, enum estimate_unit unit, const struct bars_tally *tally, const struct bar *bar,
    const struct bars_exception *exceptions);

#endif
