/*
 * What the samples say about the traffic, with 95 % limits: pure functions, no I/O, no time.
 *
 * The true totals of a stratum (one agent, port and direction over the whole range of a report)
 * come from the port's counters; samples only say how a total divides among keys. So a figure is
 * the total times the key's share of the stratum's samples (a ratio estimator), figures add up to
 * the counted totals exactly, and lost samples widen intervals but do not shift figures. Figures of
 * several strata are added; samples of several strata never are. estimate.c has the derivations and
 * their sources beside the functions.
 */
#ifndef EASE_COLLECTOR_ESTIMATE_H
#define EASE_COLLECTOR_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

/* Sums over ordered pairs of different samples that came in one notification. */
struct estimate_pairs {
	double pkts, octets; /* of w w', of w b w' b' */
};

/* Plain sums over samples of weight w (mean frames per sample, >= 1) and frame length b (octets on
 * the wire, padding and FCS in). Sums of any sets of samples of one stratum may be added up; if
 * they are of different keys, call estimate_unite next. */
struct estimate_sums {
	uint64_t n;
	double w, w2;	 /* sum of w, of w^2 */
	double wb, wb2;	 /* sum of w b, of w b^2 */
	double w2b2;	 /* sum of w^2 b^2 */
	struct estimate_pairs same; /* pairs with both in this set of samples */
	struct estimate_pairs any;  /* one in this set, the other any of the stratum */
};

/* One agent, port and direction: all its samples, and its true totals from counters. A total <= 0
 * with samples there is "not known": then the weights alone scale the samples up. */
struct estimate_stratum {
	struct estimate_sums all;
	double pool_pkts;   /* frames that could have been sampled */
	double pool_octets; /* octets of these frames */
	double lost;	    /* part of its samples that never arrived, 0 .. 1 */
};

/* The samples of one key in one stratum. */
struct estimate_part {
	const struct estimate_stratum *stratum; /* borrowed */
	struct estimate_sums key;
};

struct estimate_figure {
	double estimate;
	double low, high; /* 95 % limits; low <= estimate <= high */
};

/* Both ends inclusive, from 1. */
struct estimate_rank {
	uint32_t low, high;
};

enum estimate_unit { ESTIMATE_PKTS, ESTIMATE_OCTETS };

void estimate_add_sample(struct estimate_sums *sums, double weight, double frame_octets);
void estimate_add_sums(struct estimate_sums *to, const struct estimate_sums *from);

/* Subtracts the sums of some of the samples; the rest counts as of several keys. */
void estimate_subtract_sums(struct estimate_sums *from, const struct estimate_sums *sums);

/* For sums of several keys: which pairs are of two different keys is not known, so `same` is set to
 * the most that it can be, and intervals under loss become the widest. */
void estimate_unite(struct estimate_sums *sums);

/* Frames or octets of a key that was seen in n_parts strata, no stratum twice. Limits are never
 * below the frames that were sampled nor above what the strata can hold. No samples: all zero. */
struct estimate_figure estimate_key(enum estimate_unit unit, const struct estimate_part *parts,
    size_t n_parts);

/* Counted frames or octets of a stratum; the sum of its weights where they are not known. */
double estimate_total(enum estimate_unit unit, const struct estimate_stratum *stratum);

/* A figure as a fraction (0..1) of a total; zero if the total is. */
struct estimate_figure estimate_share(struct estimate_figure figure, double total);

/* The most frames that a key can have sent (95 %) without being in any sample of these strata. 0 or
 * -ENOMEM. */
int estimate_unseen_pkts(const struct estimate_stratum *strata, size_t n_strata, double *pkts);

/* ranks[i] of figures[i] among all n, the largest having rank 1, for the first n_wanted: where two
 * intervals overlap, the order of their keys is open. 0 or -ENOMEM. */
int estimate_ranks(const struct estimate_figure *figures, size_t n, size_t n_wanted,
    struct estimate_rank *ranks);

#endif
