/*
 * Mates: the samples that came in one notification. When a notification is lost all of its samples
 * are, so what has many samples in few notifications varies more than its number of samples says.
 * How much more follows from sums over pairs of mates that have something in common (a cluster
 * sample's variance, see collector/estimate/estimate.c); they are found here. Pure.
 */
#ifndef EASE_COLLECTOR_WINDOW_SAMPLE_PAIRS_H
#define EASE_COLLECTOR_WINDOW_SAMPLE_PAIRS_H

#include "collector/window/key_kinds.h"

enum {
	/* A notification of 1,400 octets holds five samples, an sFlow datagram of 9,000 octets of
	 * 128-octet headers 45: a longer one counts as several. */
	SAMPLE_PAIRS_MAX = 64,
	PAIR_FEATURE_ANY =
	    N_KINDS + 2 * KINDS_OF_PAIRS, /* what all mates of a side have in common */
	PAIR_N_FEATURES,
};

/* The feature that is key1 of a kind of pairs; key2 is the next one. */
#define PAIR_FEATURE_ADDRESS(kind) (N_KINDS + 2 * (kind))

struct paired_sample {
	uint32_t stratum;	/* port, minute and direction: only mates of one side are paired */
	float pkts, octets; /* w and w b */
	/* By index into key_kinds a number for the key or its hash, then hashes of key1 and key2
	 * of the kinds that are pairs. What is absent has a number that no mate has. Two hashes of
	 * 32 bits that are equal by chance change a variance a little, no estimate. */
	uint32_t feature[PAIR_N_FEATURES];
};

/* Sums over the other mates of its side that have a feature in common, times the mate's own. */
struct sample_pair_sums {
	float pkts[PAIR_N_FEATURES], octets[PAIR_N_FEATURES];
};

/* The place-th mate of a notification, of that flow. seed goes into the hashes. */
void sample_pairs_fill(struct paired_sample *sample, uint64_t seed, const struct flow_key *k,
    uint32_t place, const struct ease_sample *s);

/* Fills pairs[i] for samples[i], n <= SAMPLE_PAIRS_MAX. */
void sample_pairs_sum(
    const struct paired_sample *samples, size_t n, struct sample_pair_sums *pairs);

#endif
