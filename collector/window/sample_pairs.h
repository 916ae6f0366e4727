/*
 * Pairs of samples that arrived in one notification. When a notification is lost, all of its
 * samples are lost together. Traffic that has many samples in few notifications therefore varies
 * more than its number of samples says (the design effect of cluster sampling). How much more
 * follows from sums over pairs of samples that have a feature in common, such as the same key or
 * the same address; these sums are computed here. collector/estimate/estimate.c uses them. No
 * state.
 */
#ifndef EASE_COLLECTOR_WINDOW_SAMPLE_PAIRS_H
#define EASE_COLLECTOR_WINDOW_SAMPLE_PAIRS_H

#include "collector/window/key_kinds.h"

enum {
	/* A notification of 1,400 octets holds five samples, an sFlow datagram of 9,000 octets with
	 * 128-octet headers 45. A longer one is treated as several. */
	SAMPLE_PAIRS_MAX = 64,
	PAIR_FEATURE_ANY = KINDS_PAIRED + 2 * KINDS_OF_PAIRS, /* all samples of a stratum share it */
	PAIR_N_FEATURES,
};

/* The feature "same source address" (key1) of a kind of address pairs; the next feature is "same
 * destination address" (key2). */
#define PAIR_FEATURE_ADDRESS(kind) (KINDS_PAIRED + 2 * (kind))

struct paired_sample {
	uint32_t stratum; /* port, minute and direction: only samples of one stratum form pairs */
	float pkts, octets; /* w and w b: the sample's weight, and weight times length */
	/* By index into key_kinds, up to KINDS_PAIRED, the key or its hash, then hashes of key1 and key2 of the kinds
	 * that are pairs of addresses. A sample without the key has a number that no other sample
	 * has. Two 32-bit hashes that are equal by chance change a variance a little, but no
	 * estimate. */
	uint32_t feature[PAIR_N_FEATURES];
};

/* For each feature: the sum over the other samples of the stratum that share it, times the sample's
 * own value. */
struct sample_pair_sums {
	float pkts[PAIR_N_FEATURES], octets[PAIR_N_FEATURES];
};

/* Fills the sample at that place in its notification, of that flow. The seed goes into the hashes.
 */
void sample_pairs_fill(struct paired_sample *sample, uint64_t seed, const struct flow_key *k,
    uint32_t place, const struct ease_sample *s);

/* Fills pairs[i] for samples[i], n <= SAMPLE_PAIRS_MAX. */
void sample_pairs_sum(
    const struct paired_sample *samples, size_t n, struct sample_pair_sums *pairs);

#endif
