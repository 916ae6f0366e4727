/*
 * Traffic over many ports, frame by frame, sampled by chance with the skip of each port, for tests of figures as
 * they are printed: rows chosen by rank, sums over ports, what no row shows. It is made, or read from a capture and
 * dealt to ports. Nothing here is shared with the estimator but the sums that it is given. Deterministic for a seed.
 */
#ifndef EASE_TESTS_ESTIMATE_MODEL_H
#define EASE_TESTS_ESTIMATE_MODEL_H

#include "collector/estimate/estimate.h"
#include "collector/estimate/estimate_list.h"

#include <stdbool.h>

struct model_frame {
	uint32_t key, octets;
};

/* What a key sent at one port. */
struct model_cell {
	uint32_t port;
	double truth[ESTIMATE_N_UNITS];
};

struct model_key {
	double truth[ESTIMATE_N_UNITS]; /* sent at all ports */
	double expected;		/* samples */
	size_t first_cell, n_cells;	/* by port */
};

struct model_port {
	double skip, skip_after; /* the second from frame `change` on */
	bool counted;
	size_t first, n, change; /* of the model's frames */
	double total[ESTIMATE_N_UNITS];
};

struct model {
	size_t n_ports, n_keys, n_frames;
	struct model_port *ports;
	struct model_key *keys;
	struct model_frame *frames; /* by port, and there in the order of time */
	struct model_cell *cells;   /* by key */
	double total[ESTIMATE_N_UNITS];
};

enum { MODEL_SKIPS = 4 };

/* How ports sample: skips in turn, ended by 0; behind `until` (a part of each port's frames; 0: never) they are
 * multiplied by the factor. Every uncounted-th port has no counters (1: none has them; 0: all have). */
struct model_sampling {
	double skips[MODEL_SKIPS];
	double factor, until;
	size_t uncounted;
};

/* Keys' sizes fall as rank^-zipf (0: all equal), to `pkts` frames at each port in all; each key is at `at_ports`
 * ports, or at all (0). The first key has the share `first` of all frames, if that is not 0. Each key has frames of
 * two lengths, in proportions of its own, in no order. */
struct model_shape {
	size_t n_ports, n_keys, at_ports;
	double zipf, pkts, first;
	uint64_t seed;
};
void model_make(struct model *model, const struct model_shape *shape, const struct model_sampling *sampling);

/* What makes a key of a captured frame. */
enum model_by {
	MODEL_BY_MAC_SRC,
	MODEL_BY_MAC_PAIR,
	MODEL_BY_IP_SRC,
	MODEL_BY_IP_PAIR,
	MODEL_BY_PROTOCOL, /* of IP; else the ethertype */
};
/* Made by the shape if capture is NULL; else all frames that a switch may sample of this file of the shared captures
 * that have such a key, dealt to the shape's ports so that the frames between two stations are all at one. False if
 * the captures are not at hand: a line says that `what` is left out. */
bool model_of(struct model *model, const char *what, const char *capture, enum model_by by,
    const struct model_shape *shape, const struct model_sampling *sampling);
void model_free(struct model *model);

/* A key's samples at one port. */
struct model_part {
	uint32_t key, port;
	struct estimate_sums sums;
};

/* One sampling of it: a range over the ports' strata, and keys in the model's order. */
struct model_run {
	struct estimate_stratum *strata;
	struct model_part *parts; /* by port */
	size_t n_parts;
	struct estimate_range *range;
	struct estimate_key *keys;
	struct estimate_told told;
	bool all_ports; /* every port with frames has a sample */
};
void model_sample(const struct model *model, uint64_t seed, struct model_run *run);
void model_run_free(struct model_run *run);

/* What a figure is of: what the key sent at ports that have a sample in this run. */
double model_truth(const struct model *model, const struct model_run *run, size_t key, enum estimate_unit unit);

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

#endif
