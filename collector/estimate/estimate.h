/*
 * What the samples say about the traffic, with limits: pure functions, no I/O, no time.
 *
 * The true totals of a stratum (one agent, port and direction over the whole range of a report)
 * come from the port's counters; samples only say how a total divides among keys. So a figure is
 * the total times the key's share of the stratum's samples (a ratio estimator, its bias taken out), and figures
 * add up to the counted totals exactly. A figure is of all strata of a report that had a sample, also of those
 * where the key has none: its upper limit has what these may hide.
 *
 * Use: estimate_range_create() over the strata; for each key estimate_key_begin(), estimate_key_add() for
 * each stratum that saw it, estimate_key_end(); then estimate_key_figure(). What lists need beside
 * (ranks, others, what was not seen) stands in estimate_list.h. Derivations and their sources stand
 * beside the functions in estimate.c.
 */
#ifndef EASE_COLLECTOR_ESTIMATE_H
#define EASE_COLLECTOR_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum estimate_unit { ESTIMATE_PKTS, ESTIMATE_OCTETS, ESTIMATE_N_UNITS };

/* Sums over ordered pairs of different samples that came in one notification. */
struct estimate_pairs {
	double pkts, octets; /* of w w', of w b w' b' */
};

/* Plain sums over samples of weight w (mean frames per sample, >= 1) and frame length b (octets on
 * the wire, padding and FCS in). Sums of any sets of samples of one stratum may be added up; if
 * they are of different keys, estimate_unite comes next. */
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
	double w_max;	    /* the largest weight of a sample; 0: not known, then the mean is taken */
	/* Of the sums of w and w b in all, what is of samples that were taken before or after the totals were counted:
	 * what these stand for is estimated beside them. */
	double beside[ESTIMATE_N_UNITS];
	/* Of the totals, what is known no better than samples would tell it, because they say how much of what was
	 * counted across an end of the range belongs to it. */
	double divided[ESTIMATE_N_UNITS];
	double untold[ESTIMATE_N_UNITS]; /* variance of what was divided so that no sample tells it */
};

/* A stratum with fewer samples is quiet: united with others of its kind. */
enum { ESTIMATE_QUIET_SAMPLES = 20 };

struct estimate_figure {
	double estimate;
	double low, high; /* 0 <= low <= estimate <= high */
};

/* How often a limit may be wrong, on its side. */
struct estimate_claim {
	double low_error, high_error;
	/* The key was found by its samples, not named beforehand: the lower limit is that of a count that is
	 * known not to be 0. */
	bool of_a_list;
};
/* Both limits of one key that was named beforehand hold in 95 of 100 cases. */
extern const struct estimate_claim estimate_claim_95;

/* The strata of a report, and what follows from all of them together. */
struct estimate_range;

/* Strata are borrowed, those without samples and totals count for nothing. 0 or -ENOMEM. */
int estimate_range_create(const struct estimate_stratum *strata, size_t n, struct estimate_range **range);
void estimate_range_destroy(struct estimate_range *range);

/* Counted frames or octets of all strata; of those where they are not known what estimate_total says. */
double estimate_range_total(const struct estimate_range *range, enum estimate_unit unit);
/* Those of them at strata that have samples: what figures are made of. */
double estimate_range_covered(const struct estimate_range *range, enum estimate_unit unit);

/* Sum of parts of one key in one unit: its estimate, variance, and the totals of their strata. Where the key has
 * more than half of a stratum, `rest` has what the others have there. */
struct estimate_piece {
	double y, variance, total;
};
struct estimate_key_unit {
	double estimate;
	double own_variance; /* sum of w'(w'-1) y^2 over the key's samples: of differences between keys */
	double of_totals;    /* variance that comes from the totals of its strata */
	struct estimate_piece key, rest;
};

/* A key over all strata that saw it. */
struct estimate_key {
	struct estimate_sums sums;  /* of all its samples; those in quiet strata are scaled to counted frames */
	struct estimate_sums quiet; /* of those in quiet strata alone */
	struct estimate_key_unit unit[ESTIMATE_N_UNITS];
	/* Sums of calibrated weights w' = g w: of w', w'^2, w' b, w'^2 b^2. */
	double cal_w, cal_w2, cal_wb, cal_w2b2;
	double b; /* length of its frame, if it has one sample */
	/* Over the strata that saw it: frames, and frames times the mean square of a sample's weight. */
	double own_pkts, own_pkts_m2, own_total[ESTIMATE_N_UNITS];
	/* Of the others' samples where the key has more than half of the octets. */
	double rest_wb, rest_wb2;
};

void estimate_key_begin(struct estimate_key *key);
void estimate_key_add(const struct estimate_range *range, struct estimate_key *key, size_t stratum,
    const struct estimate_sums *sums);
void estimate_key_end(const struct estimate_range *range, struct estimate_key *key);

/* How lengths of frames differ within keys and between them, of keys with two samples and more: the variance within,
 * and their sums. Begin with zeros, and add each key. */
struct estimate_lengths {
	uint64_t keys;
	double within, w, wb, wb2;
};
void estimate_lengths_add(struct estimate_lengths *lengths, const struct estimate_key *key);

/* Before the first figure. Without it half of the variance is taken to be within keys. */
void estimate_range_set_lengths(struct estimate_range *range, const struct estimate_lengths *lengths);

/* Frames or octets of a key. */
struct estimate_figure estimate_key_figure(const struct estimate_range *range,
    const struct estimate_key *key, enum estimate_unit unit, const struct estimate_claim *claim);

/* The upper limit if the key had traffic only at the strata that saw it. */
double estimate_key_own_high(const struct estimate_range *range, const struct estimate_key *key,
    enum estimate_unit unit, const struct estimate_claim *claim);

/* How far the limits of this key's variance are from a simple count's: the sum of variances of both pieces. */
double estimate_key_variance(const struct estimate_key *key, enum estimate_unit unit);

/* Whether its total is known. */
bool estimate_is_counted(enum estimate_unit unit, const struct estimate_stratum *stratum);

/* Counted frames or octets of a stratum; where they are not known the sum of its weights, raised by what was lost.
 * The second is the part of it that nothing counted. */
double estimate_total(enum estimate_unit unit, const struct estimate_stratum *stratum);
double estimate_not_counted(enum estimate_unit unit, const struct estimate_stratum *stratum);
/* How uncertain the total is by what was divided; 0: it was counted as it is. */
double estimate_total_variance(enum estimate_unit unit, const struct estimate_stratum *stratum);
/* The same by what nothing counted. */
double estimate_not_counted_variance(enum estimate_unit unit, const struct estimate_stratum *stratum);
/* How far 95 % limits of such a total are from it, as a part of it. */
double estimate_deviation(double total, double variance);

void estimate_add_sample(struct estimate_sums *sums, double weight, double frame_octets);
void estimate_add_sums(struct estimate_sums *to, const struct estimate_sums *from);

/* Takes sums of a part of them away; what is left is of several keys. */
void estimate_subtract_sums(struct estimate_sums *from, const struct estimate_sums *sums);

/* For sums of several keys: which pairs are of two of them is not known, so `same` is set to the
 * most that it can be, and intervals under loss to the widest. */
void estimate_unite(struct estimate_sums *sums);

/* A figure as a fraction (0..1) of a total; zero if the total is. */
struct estimate_figure estimate_share(struct estimate_figure figure, double total);

#endif
