/*
 * What lists of keys say beside the limits of their rows: which ranks are settled, how much too large rows are for
 * having been chosen for their size, and what keys may have that no sample showed. Pure functions over what
 * estimate.h gives for each key.
 */
#ifndef EASE_COLLECTOR_ESTIMATE_LIST_H
#define EASE_COLLECTOR_ESTIMATE_LIST_H

#include "collector/estimate/estimate.h"

/* Both ends inclusive, from 1. high: ESTIMATE_RANK_OPEN if keys without a sample may stand before it in any number. */
#define ESTIMATE_RANK_OPEN UINT32_MAX
struct estimate_rank {
	uint32_t low, high;
};

/* All keys of a list, the largest estimate first, by the unit that it is sorted by. */
struct estimate_order {
	size_t n;
	const double *estimate;
	const double *own_variance; /* as of struct estimate_key_unit */
	const uint64_t *samples;
	double hidden; /* that any one key may have beyond its samples: it was in none for want of memory */
};

/* The claim of the row at `place` (from 1) that was chosen from n_rivals keys: at least 95 of 100 limits that are printed
 * in lists hold, in each beginning of a list as well (Benjamini and Yekutieli 2005, false coverage rate). Rivals
 * (estimate_rivals) are those that could have stood there by chance; at most, all keys of the list. */
struct estimate_claim estimate_claim_of_row(size_t place, size_t n_rivals);
/* All limits of a list of n_keys at once hold in 95 of 100 lists. */
struct estimate_claim estimate_claim_of_all(size_t n_keys);

/* Keys without a sample: each of them has at most `largest`, all of them together at most `together`. */
struct estimate_unseen_bounds {
	double largest, together;
};

/* ranks[i] of the keys at rows[i] of the order, such that in 95 of 100 lists all of them hold, keys without a
 * sample included. row_low: lower limits of the rows at an error of 0.01 / n. bounds: at errors of 0.01 and 0.005. 0
 * or -ENOMEM. */
int estimate_ranks(const struct estimate_order *order, const size_t *rows, size_t n_rows, const double *row_low,
    const struct estimate_unseen_bounds *bounds, struct estimate_rank *ranks);

/* rivals[i] of the keys at rows[i] of the order: keys, itself among them, that are not surely below it. n_keys: of the
 * list, also those that are not in the order because they are surely below all rows. 0 or -ENOMEM. */
int estimate_rivals(const struct estimate_order *order, const size_t *rows, size_t n_rows, size_t n_keys,
    size_t *rivals);

/* How many standard deviations of its difference any pair of a row and a key is settled by at most. */
double estimate_pair_distance(size_t n_rows, size_t n_keys);

/* A sum that estimates something, and its variance. */
struct estimate_sum {
	double value, variance;
};

/* How much the first n_rows have together beyond what they sent, because those that sampling made too large are
 * more likely to be among them. A row needs `few` samples to be shown. */
struct estimate_sum estimate_choosing(const struct estimate_order *order, size_t n_rows, uint64_t few);

/* The same in the unit that the list is not sorted by, which the keys of its rows take along: all their samples as
 * those of one key. */
struct estimate_sum estimate_choosing_in(const struct estimate_sum *choosing, enum estimate_unit sort,
    const struct estimate_key *rows, enum estimate_unit unit);

/* Keys that no sample showed, from those that one or two samples showed (Good 1953, Turing). Begin with zeros,
 * and add each key. */
struct estimate_not_seen {
	struct estimate_sum sum[ESTIMATE_N_UNITS];
};
/* What a list learns from all of its keys. */
struct estimate_told {
	struct estimate_not_seen not_seen;
	struct estimate_lengths lengths;
};
void estimate_told_add(struct estimate_told *told, const struct estimate_key *key);

void estimate_not_seen_add(struct estimate_not_seen *not_seen, const struct estimate_key *key);
struct estimate_figure estimate_not_seen_figure(const struct estimate_range *range,
    const struct estimate_not_seen *not_seen, enum estimate_unit unit, double error);

/* What a list says below its rows, in one unit: the rows together, other keys with a sample, keys without one. */
struct estimate_account {
	struct estimate_figure rows, others, not_seen; /* the estimates add up to those of rows and others */
};
/* rows, others: all their samples as those of one key each (estimate_unite). choosing: in this unit. */
void estimate_account(const struct estimate_range *range, enum estimate_unit unit, const struct estimate_key *rows,
    const struct estimate_key *others, const struct estimate_sum *choosing,
    const struct estimate_not_seen *not_seen, struct estimate_account *account);

/* Frames that no key without a sample has more of, but for `error`: a claim about all of them at once. */
double estimate_any_unseen_pkts(const struct estimate_range *range, double error);

/* Frames that one key, named beforehand, can have without a sample, but for `error`. 0 or -ENOMEM. */
int estimate_given_unseen_pkts(const struct estimate_range *range, double error, double *pkts);

#endif
