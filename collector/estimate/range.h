/*
 * The body of struct estimate_range, for the files of collector/estimate alone.
 */
#ifndef EASE_COLLECTOR_ESTIMATE_RANGE_H
#define EASE_COLLECTOR_ESTIMATE_RANGE_H

#include "collector/estimate/estimate.h"

/* What each key of a stratum needs of it, worked out once. */
struct stratum_facts {
	double total[ESTIMATE_N_UNITS];	   /* counted, or the sum of weights */
	double beside[ESTIMATE_N_UNITS];   /* part of the samples that is not of the counted total, 0 .. 1 */
	double bound[ESTIMATE_N_UNITS];	   /* the most a key can have there */
	double g[ESTIMATE_N_UNITS];	   /* what makes weights add up to the total */
	double variance[ESTIMATE_N_UNITS]; /* sum of w'(w'-1) y^2 over all samples */
	double of_total[ESTIMATE_N_UNITS]; /* variance of the total */
	double per_y[ESTIMATE_N_UNITS];	   /* share of a key: this times its sum of w' y, */
	double per_variance[ESTIMATE_N_UNITS]; /* and this times its sum of w'(w'-1) y^2 */
	double residual;		   /* n / (n-1) of its samples; 0 of one */
	double pkts_m2;			   /* frames times the mean square of a sample's weight */
	bool counted[ESTIMATE_N_UNITS], united;
};

/* The strata as they are used: those with few samples are one, in united. */
struct estimate_range {
	const struct estimate_stratum *strata;
	size_t n;
	size_t n_quiet; /* 0 or 2 and more: they are in united */
	struct estimate_stratum united;
	struct stratum_facts *facts; /* of the n strata, and behind them of united */
	uint64_t samples;
	double total[ESTIMATE_N_UNITS];	  /* of all strata */
	double covered[ESTIMATE_N_UNITS]; /* of those with samples */
	double bound[ESTIMATE_N_UNITS];	  /* the most a key can have; huge where a total is not known */
	double weight;			  /* root of the mean square of a sample's weight, by frames */
	double calibrated_weight;	  /* sum of w'^2 / sum of w' over all samples */
	double mean_octets, octets_variance; /* of a frame */
	double rest_octets;		  /* mean length of a frame, each octet counting once; at least as counted */
	struct estimate_lengths lengths;
};

#endif
