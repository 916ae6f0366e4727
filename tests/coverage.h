/*
 * Do the intervals hold the truth? Draws skip counts with the agent's own generator over a capture
 * (or frames a test makes), lets the estimator work on what was sampled, and counts how often the
 * true figure lies within the limits. No sockets, no store. Used by build/tests/accuracy and by
 * tests/check_estimate.
 *
 * A trial is a key with at least 10 expected samples and at most half of the traffic, in one run.
 */
#ifndef EASE_TESTS_COVERAGE_H
#define EASE_TESTS_COVERAGE_H

#include "agent/sampling/sampling.h"
#include "collector/estimate/estimate.h"

#include <stddef.h>
#include <stdint.h>

enum { COVERAGE_N_UNITS = 2 }; /* enum estimate_unit */

/* A key's true figures, of frames that can be sampled. */
struct coverage_truth {
	uint64_t pkts, octets;
};

/* One classification of all frames that can be sampled, in their order. */
struct coverage_traffic {
	size_t n_frames;
	const uint32_t *octets; /* by frame: on the wire */
	const uint32_t *key;	/* by frame: index into truth, or COVERAGE_NO_KEY */
	size_t n_keys;
	const struct coverage_truth *truth;
};
#define COVERAGE_NO_KEY UINT32_MAX

struct coverage_options {
	enum sampling_draw draw;
	uint32_t mean_skip;
	uint32_t runs;
	uint64_t seed; /* run i uses seed + i */
	double loss;   /* probability that a sample is lost on its way */
};

struct coverage_result {
	uint64_t trials, covered;
	double rms_ratio; /* root mean square of error / theoretical standard deviation */
};

/* Runs all and fills results by unit. 0 or -ENOMEM. */
int coverage_measure(const struct coverage_traffic *traffic, const struct coverage_options *options,
    struct coverage_result results[COVERAGE_N_UNITS]);

#endif
