/*
 * Measures how often the intervals hold the truth. Draws skip counts with the agent's own generator over a capture
 * (or frames a test makes), lets the estimator work on what was sampled, and counts how often the
 * true figure lies within the limits. Samples reach the estimator directly, or through the
 * disturbed network of tests/collector/estimate/transit.h. No sockets, no store. Used by build/tests/accuracy and by
 * tests/collector/estimate/check_estimate and tests/collector/estimate/check_transit.
 *
 * A trial is a key with at least 10 expected samples (or as the options say) and at most half of the traffic, in one
 * run. Where samples were lost in gaps the truth is that of the traffic that samples cover.
 */
#ifndef EASE_TESTS_COVERAGE_H
#define EASE_TESTS_COVERAGE_H

#include "agent/sampling/sampling.h"
#include "collector/estimate/estimate.h"
#include "tests/collector/estimate/transit.h"

#include <stdbool.h>
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
	double loss;   /* probability that a sample is lost on its way; not with an impairment */
	const struct transit_impairment *impairment; /* of the whole way; NULL: straight */
	double expected_least, expected_most; /* samples of a key; 0: 10 and more */
	bool rate_change; /* the mean skip is multiplied by COVERAGE_RATE_FACTOR and back, often */
};
enum {
	COVERAGE_RATE_FACTOR = 4,
	COVERAGE_RATE_STEPS = 4 * TRANSIT_MINUTES, /* in the whole traffic: some in each minute */
};

/* What the collector's accounts said in all runs through tests/collector/estimate/transit.h. */
struct coverage_accounts {
	double loss_reported, loss_true;	/* means: 1 - completeness, and what was dropped */
	double loss_error;			/* largest difference of both in one run */
	double cut;				/* mean part of all frames that passed while samples were lost */
	double cut_error[COVERAGE_N_UNITS];	/* of that, as a part of the total, largest in one run */
	double total_error[COVERAGE_N_UNITS];	/* of the counted totals, largest in one run */
};

struct coverage_result {
	uint64_t trials;
	uint64_t below, above; /* the truth is below the lower limit, above the upper one */
	uint64_t whole_below;  /* and that of all traffic, also of what passed while samples were lost */
	double rms_ratio; /* root mean square of error / theoretical standard deviation */
};

/* The part of trials in which the limits hold the truth. */
double coverage_held(const struct coverage_result *result);

/* Runs all and fills results by unit, and accounts if there is an impairment. 0, -ENOMEM, or
 * -EBADMSG if the collector could not read or keep what arrived. */
int coverage_measure(const struct coverage_traffic *traffic, const struct coverage_options *options,
    struct coverage_result results[COVERAGE_N_UNITS], struct coverage_accounts *accounts);

/* Writes the same frames into octets and key in an order in which keys are periodic: a quarter
 * each in m, m/2, m/3 and 25 m packets, which skips of constant length could not bear. 0 or
 * -ENOMEM. */
int coverage_make_periodic(const struct coverage_traffic *traffic, uint32_t mean_skip,
    uint32_t *octets, uint32_t *key);

#endif
