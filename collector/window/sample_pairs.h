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
	float pkts, octets; /* its weight w, in weights of the notification's first sample; and that times its length b */
	double unit;	    /* w times the weight of the first */
	uint32_t length;    /* b */
	/* By index into key_layouts, up to KINDS_PAIRED, the key or its hash, then hashes of key1 and key2 of the kinds
	 * that are pairs of addresses. A sample without the key has a number that no other sample
	 * has. Two 32-bit hashes that are equal by chance change a variance a little, but no
	 * estimate. */
	uint32_t feature[PAIR_N_FEATURES];
};

/* For each feature: the sums of pkts and octets over the other samples of the stratum that share it. Times the unit
 * they are sums of w w' and w b w' b'. As long as the weights are the same, all are whole numbers, and exact. */
struct sample_pair_sums {
	float pkts[PAIR_N_FEATURES], octets[PAIR_N_FEATURES];
	double unit_pkts, unit_octets; /* of the sample itself: w and w b, times the weight of the first */
};

/* What these come to for a flow. Sums of doubles: the same in whatever order they are added, to fifteen digits. */
struct flow_pairs {
	double pkts[PAIR_N_FEATURES], octets[PAIR_N_FEATURES];
};

static inline void
flow_pairs_add(struct flow_pairs *restrict to, const struct sample_pair_sums *restrict more)
{
	for (size_t f = 0; f < PAIR_N_FEATURES; f++) {
		to->pkts[f] += more->unit_pkts * (double)more->pkts[f];
		to->octets[f] += more->unit_octets * (double)more->octets[f];
	}
}

/* Fills the sample at that place in its notification, of that flow. The seed goes into the hashes; first is the
 * mean skip of the notification's first sample. */
void sample_pairs_fill(struct paired_sample *sample, uint64_t seed, const struct flow_key *k,
    uint32_t place, uint32_t first, const struct ease_sample *s);

/* Fills pairs[i] for samples[i], n <= SAMPLE_PAIRS_MAX. */
void sample_pairs_sum(const struct paired_sample *samples, size_t n, struct sample_pair_sums *pairs);

#endif
