/*
 * Made traffic over many ports, sampled by chance with the skip of each port, for tests of figures as they are
 * printed: rows chosen by rank, sums over ports, what no row shows. Nothing here is shared with the estimator but
 * the sums that it is given. Deterministic for a seed.
 */
#ifndef EASE_TESTS_ESTIMATE_MODEL_H
#define EASE_TESTS_ESTIMATE_MODEL_H

#include "collector/estimate/estimate.h"
#include "collector/estimate/estimate_list.h"

struct model_key {
	uint32_t octets[2]; /* lengths of its frames */
	double long_part;   /* of the second length */
	double pkts, octets_sum; /* sent at all ports: the truth */
};

struct model_port {
	double skip;
	double pkts, octets;
	double skip_factor; /* of the second half of the range: the skip changes there */
};

struct model {
	size_t n_ports, n_keys;
	struct model_port *ports;
	struct model_key *keys;
	double *pkts; /* by key, then port, then half: whole numbers */
};

/* Keys' sizes fall as rank^-zipf (0: all equal), to `pkts` frames at each port in all; each key is at `at_ports`
 * ports, or at all (0). Skips in turn from `skips`, ended by 0. */
struct model_shape {
	size_t n_ports, n_keys, at_ports;
	double zipf, pkts, skip_factor;
	double skips[4];
	uint64_t seed;
};
void model_make(struct model *model, const struct model_shape *shape);
void model_free(struct model *model);

/* One sampling of it: a range over the ports' strata, and keys in the model's order. */
struct model_run {
	struct estimate_stratum *strata;
	struct estimate_range *range;
	struct estimate_key *keys;
};
void model_sample(const struct model *model, uint64_t seed, struct model_run *run);
void model_run_free(struct model_run *run);

/* Keys with a sample, in the order of a list; indexes into the model's keys. */
struct model_list {
	size_t n;
	size_t *key;
	double *estimate, *own_variance;
	uint64_t *samples;
};
void model_list_make(const struct model *model, const struct model_run *run, enum estimate_unit unit,
    struct model_list *list);
void model_list_free(struct model_list *list);

/* In how many trials limits were wrong, on each side. */
struct model_tally {
	unsigned long trials, low, high;
};
void model_judge(struct model_tally *tally, const struct estimate_figure *figure, double truth);
double model_held(const struct model_tally *tally);

#endif
