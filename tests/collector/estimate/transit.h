/*
 * The path from a switch to the figures of a report, in one process and without sockets or a store:
 * samples are numbered, packed into notifications by the agent's packer, lost, duplicated and
 * reordered, unpacked and added to the collector's accounting, whose rows are added up as the store
 * and the reports do. So the effect of a disturbed network on estimates and accounts can be measured
 * over many runs.
 *
 * The traffic is paced evenly. The key of a frame travels as its source address, so that a window's
 * Ethernet pairs are the keys. The first and the last easeCounters arrive undisturbed, because they
 * bound the range whose truth is known.
 */
#ifndef EASE_TESTS_TRANSIT_H
#define EASE_TESTS_TRANSIT_H

#include "collector/estimate/estimate.h"
#include "collector/store/batch.h"

#include <stddef.h>
#include <stdint.h>

/* What happens to each notification, independently of the others. */
struct transit_impairment {
	double lose, duplicate, reorder; /* probabilities; a copy is lost on its own */
	uint32_t run;	 /* so many in a row are lost, one after the other without copies; 0: independently */
	double outage;	 /* this part of all, in one stretch, is lost besides */
	uint32_t order;	 /* seeds another order of the same losses and duplicates */
	uint32_t pps;	 /* frames a second; 0: all traffic in TRANSIT_MINUTES */
	uint32_t copies; /* of everything, as if fed by several ways; 0 means 1 */
	enum transit_copies {
		TRANSIT_INTERLEAVED, /* copies come in any order within TRANSIT_DISORDER */
		TRANSIT_IN_A_ROW,    /* first all of one, then all of the next */
	} copies_come;
};

enum {
	TRANSIT_MINUTES = 3,
	TRANSIT_DISORDER = 8, /* a reordered or doubled notification is this much later at most */
};

/* The part of all notifications that never arrives. */
static inline double
transit_loss(const struct transit_impairment *how)
{
	return how->lose * (1 - how->duplicate + how->duplicate * how->lose);
}

struct transit_sample {
	uint32_t frame; /* its index */
	uint32_t skip, mean_skip;
};

struct transit_traffic {
	size_t n_frames;
	const uint32_t *octets; /* by frame: on the wire */
	const uint64_t *octets_before; /* by frame, and one more: sum of the frames before it */
	const uint32_t *key;	/* by frame; any number */
	uint32_t n_keys;	/* keys below are told apart in the result */
};

/* What the collector has in its store afterwards, all minutes and by minute. */
struct transit_books {
	struct estimate_stratum minute[TRANSIT_MINUTES + 1]; /* sums and true totals */
	int64_t expected[TRANSIT_MINUTES + 1], received[TRANSIT_MINUTES + 1];
	struct estimate_stratum whole; /* without what was cut */
	double cut[ESTIMATE_N_UNITS];
	int64_t cut_numbers;
	struct estimate_sums *keys; /* n_keys, of all minutes; freed by transit_free */
	struct store_account account;
	uint64_t refused; /* windows and keys for which there was no room: must be 0 */
};

struct transit_result {
	struct transit_books books;
	double loss_reported; /* 1 - completeness, as reports give it */
	double loss_true;     /* samples in no notification that arrived */
	/* By frame: the part of it that figures are of. In a gap of k lost samples, more than came in one notification
	 * so far, it is 1 / (k + 1), else 1. Freed by transit_free. */
	float *covered;
};

/* 0, -ENOMEM, or -EBADMSG if something sent could not be read. */
int transit_run(const struct transit_traffic *traffic, const struct transit_sample *samples,
    size_t n_samples, const struct transit_impairment *impairment, uint64_t seed,
    struct transit_result *result);
void transit_free(struct transit_result *result);

#endif
