/*
 * Are frames sampled by independent draws of one in so many? Then the distances between samples are
 * distributed geometrically, which a chi-square test over classes that such draws fill evenly shows.
 */
#ifndef EASE_TESTS_DISTANCES_H
#define EASE_TESTS_DISTANCES_H

#include <stddef.h>
#include <stdint.h>

/* Of n samples by the positions of their frames, in order; the number of classes is in *classes. */
double distances_chi_square(const uint64_t *positions, size_t n, unsigned mean, unsigned *classes);
/* What 0.1 % of all runs exceed (Wilson and Hilferty). */
double distances_limit(unsigned classes);

#endif
