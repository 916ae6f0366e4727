/*
 * Sources of the formulas: Cochran, Sampling Techniques (1977), 6.3 and 6.10 (ratio estimators, separate and
 * combined by strata), 5A.1 (linearised variances); Särndal, Swensson and Wretman, Model Assisted Survey
 * Sampling (1992), 7.3 (calibrated weights) and 3.2 (independent selections of unequal probability); Fay and
 * Feuer (1997), Statistics in Medicine 16, and Tiwari, Clegg and Zou (2006), Statistical Methods in Medical
 * Research 15 (limits of a weighted sum of Poisson counts); Brown, Cai and DasGupta (2001) (limits of a
 * proportion); Zou and Donner (2008), Statistics in Medicine 27 (limits of a sum from those of its terms).
 *
 * A key's parts at all strata are one sum Y with one variance V. Limits are those of a binomial count x of nu
 * trials that has the same mean and variance: nu = R (1-R) T^2 / V with R = Y / T, x = R nu. So there is one
 * effective count however many strata there are; limits of parts are never added up, because those of small
 * counts are skewed and cut off, and their sum misses on one side.
 *
 * Lower limit: Clopper and Pearson's. Upper limit: a sample is added to Y and V that the key might have had and
 * did not, with the weight that a frame of the range has on the average (as a root of mean squares), because
 * the strata where frames are rarely sampled show too little of a key just when there is much of it.
 *
 * Where the key has more than half of a stratum it is the others that are rare: there the same is done for the
 * rest, and the key has what the rest has not.
 *
 * Strata with fewer than ESTIMATE_QUIET_SAMPLES samples are scaled to their counted frames and united, because a ratio
 * of octets over two samples is biased, and biases add up.
 *
 * A total of which a part was divided between the range and the time beside it, by samples (struct estimate_stratum's
 * divided), is itself an estimate T of a variance V_T. A key's Y = R T then has R^2 V_T more, of errors that are
 * independent of those of R.
 *
 * Loss takes whole notifications, each with probability q = 1 - r, and so samples in clusters
 * (Särndal 9.3, two-phase sampling: the variance is that of the first phase plus the mean of that
 * of the second; Cochran 9A, clusters taken whole). With residuals e = ((1 or 0) - R) y, and
 * E = sum of w e over the samples of a notification, the estimate of what arrived has the variance
 *     1/r sum w (w-1) e^2                      frames sampled, estimated from what arrived
 *   + q/r^2 sum E^2                            notifications lost
 *   = sum w'(w'-1) e^2 + q/r^2 (sum E^2 - sum w^2 e^2),  w' = w/r:
 * what independent losses of samples would give, and the sum over pairs of samples in one notification of
 * w e w' e'. By the definition of e the latter is S_key - 2 R S_any + R^2 S_all, where S are the three sums
 * of struct estimate_pairs. Without loss q = 0, and pairs do not matter. Pairs of different ports are
 * taken as if they had travelled alone.
 */
#include "collector/estimate/estimate.h"

#include "collector/estimate/quantiles.h"
#include "collector/estimate/range.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	FRAME_OCTETS_AT_LEAST = 64, /* of any frame on the wire (IEEE 802.3) */
	TELLING_KEYS = 10,	    /* keys with two samples that tell how lengths differ within keys */
	SEEN_STEPS = 8,		    /* until the limit of a count that is not 0 moves no more; 2 above 3 */
	SEEN_BELOW = 12,	    /* a count above it is not 0 anyway */
	TOTAL_DEVIATIONS = 4,	    /* of a total: as good as the most that it can be */
};
/* Trials for each of a count that no total limits. */
static const double UNLIMITED = 1e9;

const struct estimate_claim estimate_claim_95 = {0.025, 0.025, false};

/* Sums of one unit in a common form: y is 1 or the frame's octets. */
struct moments {
	double wy;   /* sum of w y */
	double wy2;  /* sum of w y^2 */
	double w2y2; /* sum of w^2 y^2 */
	double same, any; /* sums over pairs of w y w' y' */
};

void
estimate_add_sample(struct estimate_sums *sums, double weight, double frame_octets)
{
	sums->n++;
	sums->w += weight;
	sums->w2 += weight * weight;
	sums->wb += weight * frame_octets;
	sums->wb2 += weight * frame_octets * frame_octets;
	sums->w2b2 += weight * weight * frame_octets * frame_octets;
}

static inline void
add_sums(struct estimate_sums *restrict to, const struct estimate_sums *restrict from)
{
	to->n += from->n;
	to->w += from->w;
	to->w2 += from->w2;
	to->wb += from->wb;
	to->wb2 += from->wb2;
	to->w2b2 += from->w2b2;
	to->same.pkts += from->same.pkts;
	to->same.octets += from->same.octets;
	to->any.pkts += from->any.pkts;
	to->any.octets += from->any.octets;
}

void
estimate_add_sums(struct estimate_sums *to, const struct estimate_sums *from)
{
	add_sums(to, from);
}

void
estimate_unite(struct estimate_sums *sums)
{
	sums->same = sums->any;
}

void
estimate_subtract_sums(struct estimate_sums *from, const struct estimate_sums *sums)
{
	from->n -= sums->n < from->n ? sums->n : from->n;
	from->w -= sums->w;
	from->w2 -= sums->w2;
	from->wb -= sums->wb;
	from->wb2 -= sums->wb2;
	from->w2b2 -= sums->w2b2;
	from->any.pkts -= sums->any.pkts;
	from->any.octets -= sums->any.octets;
	estimate_unite(from);
}

/* fmax and fmin of a number and x, without a call: a pass over all keys needs them several times for each. */
static inline double
at_least(double number, double x)
{
	return x > number ? x : number;
}

static inline double
estimate_at_most(double number, double x)
{
	return x < number ? x : number;
}

static inline struct moments
moments_of(enum estimate_unit unit, const struct estimate_sums *s)
{
	if (unit == ESTIMATE_PKTS)
		return (struct moments){s->w, s->w, s->w2, s->same.pkts, s->any.pkts};
	return (struct moments){s->wb, s->wb2, s->w2b2, s->same.octets, s->any.octets};
}

/* Of a part of the samples, if they are like the others. */
static inline struct moments
estimate_part_of(const struct moments *m, double part)
{
	return (struct moments){part * m->wy, part * m->wy2, part * m->w2y2, part * m->same, part * m->any};
}

bool
estimate_is_counted(enum estimate_unit unit, const struct estimate_stratum *stratum)
{
	return (unit == ESTIMATE_PKTS ? stratum->pool_pkts : stratum->pool_octets) > 0;
}

/* What makes the weights of samples that arrived stand for those that were lost, too. */
static double
raised_by_loss(double lost)
{
	return 1 / (1 - fmin(lost, 0.999));
}

double
estimate_total(enum estimate_unit unit, const struct estimate_stratum *stratum)
{
	if (!estimate_is_counted(unit, stratum))
		return raised_by_loss(stratum->lost) * moments_of(unit, &stratum->all).wy;
	return (unit == ESTIMATE_PKTS ? stratum->pool_pkts : stratum->pool_octets) +
	    estimate_not_counted(unit, stratum);
}

double
estimate_not_counted(enum estimate_unit unit, const struct estimate_stratum *stratum)
{
	return estimate_is_counted(unit, stratum) ? raised_by_loss(stratum->lost) * stratum->beside[unit]
						  : estimate_total(unit, stratum);
}

/*
 * A = sum of w'(w'-1) y^2 over samples, with weights calibrated to the counted total, w' = g w.
 * It estimates the variance of the sum of w' y when frames are taken independently with 1/w'
 * (Särndal 3.2); a sample that stands for itself alone (w' = 1) adds nothing, which is the finite
 * population correction. Lost samples raise g, and with it A: less was taken.
 */
static double
selection_variance(const struct moments *m, double g)
{
	return fmax(0, g * g * m->w2y2 - g * m->wy2);
}

double
estimate_total_variance(enum estimate_unit unit, const struct estimate_stratum *s)
{
	struct moments all;
	double total;

	if (!(s->divided[unit] > 0))
		return s->untold[unit];
	all = moments_of(unit, &s->all);
	total = estimate_total(unit, s);
	if (!(all.wy > 0) || !(total > 0))
		return s->untold[unit];
	return s->untold[unit] + selection_variance(&all, total / all.wy) * fmin(1, s->divided[unit] / total);
}

double
estimate_not_counted_variance(enum estimate_unit unit, const struct estimate_stratum *s)
{
	struct moments all = moments_of(unit, &s->all);
	double raise = raised_by_loss(s->lost), open = estimate_not_counted(unit, s), together, apart;

	if (!(open > 0) || !(all.wy > 0))
		return 0;
	/* How many were lost is known, not what they were: a lost notification is one of those that came. */
	together = 1 + s->all.any.pkts / s->all.w2;
	apart = fmax(0, all.w2y2 + all.any - together * all.wy * all.wy / (double)s->all.n);
	return fmin(1, open / (raise * all.wy)) *
	    raise * (selection_variance(&all, 1) + fmin(s->lost, 0.999) * raise * apart);
}

double
estimate_deviation(double total, double variance)
{
	return total > 0 ? normal_upper_quantile(0.025) * sqrt(variance) / total : 0;
}

static bool
is_quiet(const struct estimate_stratum *stratum)
{
	return stratum->all.n > 0 && stratum->all.n < ESTIMATE_QUIET_SAMPLES &&
	    estimate_is_counted(ESTIMATE_PKTS, stratum) && stratum->beside[ESTIMATE_PKTS] <= 0;
}

/* Sums as they would be had each sample's weight been f times as large. */
static struct estimate_sums
scaled_sums(const struct estimate_sums *s, double f)
{
	return (struct estimate_sums){s->n, f * s->w, f * f * s->w2, f * s->wb, f * s->wb2, f * f * s->w2b2,
	    {f * f * s->same.pkts, f * f * s->same.octets}, {f * f * s->any.pkts, f * f * s->any.octets}};
}

/* What makes the weights of a stratum add up to its frames. */
static double
calibration_of(const struct estimate_stratum *stratum)
{
	return estimate_total(ESTIMATE_PKTS, stratum) / stratum->all.w;
}

static void
unite_quiet(struct estimate_range *r)
{
	double lost = 0;

	for (size_t i = 0; i < r->n; i++)
		r->n_quiet += is_quiet(&r->strata[i]);
	if (r->n_quiet < 2)
		r->n_quiet = 0;
	for (size_t i = 0; r->n_quiet > 0 && i < r->n; i++) {
		const struct estimate_stratum *s = &r->strata[i];
		struct estimate_sums all;

		if (!is_quiet(s))
			continue;
		all = scaled_sums(&s->all, calibration_of(s));
		estimate_add_sums(&r->united.all, &all);
		r->united.pool_pkts += estimate_total(ESTIMATE_PKTS, s);
		r->united.pool_octets += estimate_total(ESTIMATE_OCTETS, s);
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			r->united.divided[u] += s->divided[u], r->united.untold[u] += s->untold[u];
		lost += s->lost * (double)s->all.n;
	}
	if (r->n_quiet > 0)
		r->united.lost = lost / (double)r->united.all.n;
	assert(r->n_quiet != 1);
}

/* The mean weight of a sample of a stratum, each of its frames counting once: w'^2 / w'. */
static double
mean_weight(const struct estimate_stratum *s)
{
	return fmax(1, calibration_of(s) * s->all.w2 / s->all.w);
}

/* The mean square of it, w'^3 / w'. Of n samples with these sums, none above w_max, it is at most that of two
 * weights, w_max and a lower one (Chebyshev's and Markov's inequality for moments), which is how a skip that was
 * changed once is. */
static double
mean_square_weight(const struct estimate_stratum *s)
{
	double n = (double)s->all.n, mean = s->all.w / n, most = s->w_max, least, part, g = calibration_of(s);

	if (!(most > mean * (1 + 1e-9)))
		return mean_weight(s) * mean_weight(s);
	least = fmax(0, (mean * most - s->all.w2 / n) / (most - mean));
	part = (mean - least) / (most - least); /* of the samples are of the largest weight */
	return fmax(mean_weight(s) * mean_weight(s),
	    g * g * (part * most * most * most + (1 - part) * least * least * least) / mean);
}

struct weighing {
	double pkts, pkts_m2, w, wb, wb2, cal_w, cal_w2;
};

static void
weigh_stratum(struct weighing *sum, const struct estimate_stratum *s)
{
	double pkts = estimate_total(ESTIMATE_PKTS, s);

	sum->pkts += pkts;
	sum->pkts_m2 += pkts * mean_square_weight(s);
	sum->w += s->all.w;
	sum->wb += s->all.wb;
	sum->wb2 += s->all.wb2;
	sum->cal_w += calibration_of(s) * s->all.w;
	sum->cal_w2 += calibration_of(s) * calibration_of(s) * s->all.w2;
}

/* The most that a key can have of a stratum. */
static double
bound_of(enum estimate_unit unit, const struct estimate_stratum *s)
{
	double total = estimate_total(unit, s);

	if (estimate_not_counted(unit, s) > 0)
		return UNLIMITED * total;
	return total + TOTAL_DEVIATIONS * sqrt(estimate_total_variance(unit, s));
}

static bool
is_united(const struct estimate_range *r, const struct estimate_stratum *s)
{
	return r->n_quiet > 0 && is_quiet(s);
}

static void
describe_strata(struct estimate_range *r)
{
	struct weighing sum = {0};

	if (r->n_quiet > 0)
		weigh_stratum(&sum, &r->united);
	for (size_t i = 0; i < r->n; i++) {
		const struct estimate_stratum *s = &r->strata[i];

		r->samples += s->all.n;
		for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
			double total = estimate_total((enum estimate_unit)u, s);

			r->total[u] += total;
			if (s->all.n == 0)
				continue;
			r->covered[u] += total;
			r->bound[u] += bound_of((enum estimate_unit)u, s);
		}
		if (s->all.n > 0 && !is_united(r, s))
			weigh_stratum(&sum, s);
	}
	if (!(sum.pkts > 0))
		return;
	r->weight = sqrt(sum.pkts_m2 / sum.pkts);
	r->calibrated_weight = sum.cal_w2 / sum.cal_w;
	r->mean_octets = sum.wb / sum.w;
	r->octets_variance = fmax(0, sum.wb2 / sum.w - r->mean_octets * r->mean_octets);
	/* No less than was counted: a few samples may all be of short frames. */
	r->rest_octets = fmax(sum.wb2 / sum.wb, r->covered[ESTIMATE_OCTETS] / r->covered[ESTIMATE_PKTS]);
}

static struct stratum_facts
facts_of(const struct estimate_range *r, const struct estimate_stratum *s)
{
	struct stratum_facts f = {.united = s != &r->united && is_united(r, s)};

	assert(s->all.n > 0);
	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		struct moments all = moments_of((enum estimate_unit)u, &s->all);

		f.counted[u] = estimate_is_counted((enum estimate_unit)u, s);
		f.total[u] = estimate_total((enum estimate_unit)u, s);
		f.bound[u] = bound_of((enum estimate_unit)u, s);
		f.of_total[u] = estimate_total_variance((enum estimate_unit)u, s);
		if (f.counted[u] && s->beside[u] > 0) {
			/* of what was counted tells one sample at least */
			f.beside[u] = fmin(s->beside[u] / all.wy, 1 - 1 / (double)s->all.n);
			f.total[u] -= raised_by_loss(s->lost) * f.beside[u] * all.wy;
			all = estimate_part_of(&all, 1 - f.beside[u]);
		}
		f.g[u] = f.total[u] / all.wy;
		f.variance[u] = selection_variance(&all, f.g[u]);
		f.per_y[u] = 1 / (f.total[u] + f.variance[u] / f.total[u]);
		f.per_variance[u] = f.variance[u] > 0 ? f.per_y[u] / f.total[u] : 0;
	}
	f.residual = s->all.n > 1 ? (double)s->all.n / ((double)s->all.n - 1) : 0;
	f.pkts_m2 = f.total[ESTIMATE_PKTS] * mean_square_weight(s);
	return f;
}

int
estimate_range_create(const struct estimate_stratum *strata, size_t n, struct estimate_range **range)
{
	struct estimate_range *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->strata = strata;
	r->n = n;
	r->facts = calloc(n + 1, sizeof(*r->facts));
	if (!r->facts) {
		free(r);
		return -ENOMEM;
	}
	unite_quiet(r);
	for (size_t i = 0; i < n; i++)
		if (strata[i].all.n > 0)
			r->facts[i] = facts_of(r, &strata[i]);
	if (r->n_quiet > 0)
		r->facts[n] = facts_of(r, &r->united);
	describe_strata(r);
	*range = r;
	return 0;
}

void
estimate_range_destroy(struct estimate_range *range)
{
	if (range)
		free(range->facts);
	free(range);
}

double
estimate_range_total(const struct estimate_range *range, enum estimate_unit unit)
{
	return range->total[unit];
}

double
estimate_range_covered(const struct estimate_range *range, enum estimate_unit unit)
{
	return range->covered[unit];
}

/* ---- a key's sum over strata ---- */

/* Part by part: compilers clear all of it by one instruction (rep stos), for which each key would wait longer than
 * for its sums. */
void
estimate_key_begin(struct estimate_key *key)
{
	key->sums = (struct estimate_sums){0};
	key->quiet = (struct estimate_sums){0};
	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		key->unit[u] = (struct estimate_key_unit){0};
		key->own_total[u] = 0;
	}
	key->cal_w = key->cal_w2 = key->cal_wb = key->cal_w2b2 = key->b = 0;
	key->own_pkts = key->own_pkts_m2 = key->rest_wb = key->rest_wb2 = 0;
}

/* Without a counted total the figure is the sum of weights, raised by what was lost, of whose variance A is
 * all: no share of a total, and nothing that limits it. */
static void
estimate_add_uncounted(struct estimate_key_unit *sum, const struct moments *key, double lost)
{
	double g = raised_by_loss(lost), variance = fmax(0, g * g * key->w2y2 - g * key->wy2);

	sum->estimate += g * key->wy;
	sum->own_variance += variance;
	sum->key.y += g * key->wy;
	sum->key.variance += variance + lost * g * g * key->same;
	sum->key.total += UNLIMITED * g * key->wy;
}

/*
 * A ratio is biased: a heavy sample of a key raises the total of all samples, too, so that the shares of keys with
 * heavy samples are too small, by about a sample's part; over many strata such errors add up. To the first order
 * R is too small by Cov / (T Y) - Var / T^2 of itself (Cochran 6.8; Beale 1962; Tin 1965), where Cov, of the key's sum
 * and that of all, is A_key, and Var A_all. Keys still add up to the total, and equal weights move no packets.
 *
 * With R the key's share of the stratum, V = sum of w'(w'-1) ((1 or 0) - R)^2 y^2
 * = (1 - 2R) A_key + R^2 A_all (Cochran 6.3: the variance of a ratio by its residuals; n/(n-1), because R is
 * of the same samples), and what pairs add, which is no less than -q times that: sum E^2 >= 0.
 */
static inline double
share_variance(const struct estimate_stratum *s, enum estimate_unit unit, const struct moments *key, double own,
    double share, const struct stratum_facts *facts)
{
	double g = facts->g[unit], pairs;
	/* One sample: R = 1, and the others have none. */
	double alone = at_least(0, ((1 - 2 * share) * own + share * share * facts->variance[unit]) * facts->residual);

	if (s->lost <= 0)
		return alone;
	pairs = key->same - 2 * share * key->any + (1 - facts->beside[unit]) *
	    share * share * (unit == ESTIMATE_PKTS ? s->all.any.pkts : s->all.any.octets);
	return alone + s->lost * at_least(-alone, g * g * pairs);
}

static inline void
add_part_in(enum estimate_unit unit, struct estimate_key *key, const struct estimate_stratum *s,
    const struct stratum_facts *facts, const struct estimate_sums *sums)
{
	struct moments k = moments_of(unit, sums);
	struct estimate_key_unit *to = &key->unit[unit];
	double g = facts->g[unit], y, total = facts->total[unit], share, own;
	bool is_all = sums->n == s->all.n; /* rounding must leave nothing of others: limits look whether there is */
	struct estimate_piece *piece;

	if (!facts->counted[unit]) {
		estimate_add_uncounted(to, &k, s->lost);
		return;
	}
	if (facts->beside[unit] > 0) { /* as if they were of a stratum of their own */
		struct moments beside = estimate_part_of(&k, facts->beside[unit]);

		estimate_add_uncounted(to, &beside, s->lost);
		k = estimate_part_of(&k, 1 - facts->beside[unit]);
	}
	own = g * g * k.w2y2 - g * k.wy2;
	share = is_all ? 1 : estimate_at_most(1, facts->per_y[unit] * g * k.wy + facts->per_variance[unit] * own);
	own = at_least(0, own);
	y = share * total;
	piece = share <= 0.5 ? &to->key : &to->rest;
	to->estimate += y;
	to->own_variance += own;
	to->of_totals += share * share * facts->of_total[unit];
	piece->y += share <= 0.5 ? y : total - y;
	piece->variance += is_all ? 0 : share_variance(s, unit, &k, own, share, facts);
	piece->total += total;
	if (unit == ESTIMATE_OCTETS && share > 0.5) {
		key->rest_wb += s->all.wb - sums->wb;
		key->rest_wb2 += s->all.wb2 - sums->wb2;
	}
}

static void
estimate_add_part(struct estimate_key *key, const struct estimate_stratum *s, const struct stratum_facts *facts,
    const struct estimate_sums *sums)
{
	add_part_in(ESTIMATE_PKTS, key, s, facts, sums);
	add_part_in(ESTIMATE_OCTETS, key, s, facts, sums);
}

void
estimate_key_add(const struct estimate_range *range, struct estimate_key *key, size_t stratum,
    const struct estimate_sums *sums)
{
	const struct estimate_stratum *s = &range->strata[stratum];
	const struct stratum_facts *facts = &range->facts[stratum];
	double g = facts->g[ESTIMATE_PKTS];

	assert(stratum < range->n);
	if (sums->n == 0)
		return;
	key->cal_w += g * sums->w;
	key->cal_w2 += g * g * sums->w2;
	key->cal_wb += g * sums->wb;
	key->cal_w2b2 += g * g * sums->w2b2;
	if (sums->n == 1)
		key->b = sums->wb / sums->w;
	key->own_pkts += facts->total[ESTIMATE_PKTS];
	key->own_pkts_m2 += facts->pkts_m2;
	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		key->own_total[u] += facts->bound[u];
	if (facts->united) {
		struct estimate_sums quiet = scaled_sums(sums, g);

		add_sums(&key->quiet, &quiet);
		add_sums(&key->sums, &quiet);
	} else {
		add_sums(&key->sums, sums);
		estimate_add_part(key, s, facts, sums);
	}
}

void
estimate_key_end(const struct estimate_range *range, struct estimate_key *key)
{
	assert(key->quiet.n == 0 || range->n_quiet > 0);
	if (key->quiet.n > 0)
		estimate_add_part(key, &range->united, &range->facts[range->n], &key->quiet);
}

void
estimate_lengths_add(struct estimate_lengths *lengths, const struct estimate_key *key)
{
	const struct estimate_sums *s = &key->sums;
	double n = (double)s->n;

	if (s->n < 2)
		return;
	lengths->within += (s->wb2 * s->w - s->wb * s->wb) * n / (s->w * (n - 1));
	lengths->w += s->w;
	lengths->wb += s->wb;
	lengths->wb2 += s->wb2;
	lengths->keys++;
}

void
estimate_range_set_lengths(struct estimate_range *range, const struct estimate_lengths *lengths)
{
	range->lengths = *lengths;
}

double
estimate_key_variance(const struct estimate_key *key, enum estimate_unit unit)
{
	return key->unit[unit].key.variance + key->unit[unit].rest.variance;
}

/* ---- limits ---- */

/* theta: the part of the variance of frames' lengths that is within keys. */
static double
part_within(const struct estimate_range *r)
{
	const struct estimate_lengths *l = &r->lengths;
	double all = l->w > 0 ? l->wb2 - l->wb * l->wb / l->w : 0;

	if (l->keys < TELLING_KEYS || !(all > 0))
		return 0.5;
	return fmin(0.98, fmax(0.02, l->within / all));
}

/* A sample that the key might have had: its value w' y and the square of it. */
struct pseudo_sample {
	double value, square;
};

/* Frames of the key are as long as its samples and, the more the fewer these are, as all frames (the best linear
 * prediction). What is missed is missed in octets, and each octet counts once: so such a frame is as long as those are
 * in which an octet of the key is, by the mean of the squares through the mean. */
static struct pseudo_sample
pseudo_sample(const struct estimate_range *r, const struct estimate_key *key, enum estimate_unit unit, double weight)
{
	double theta = part_within(r), n = (double)key->sums.n, of_all = theta / (1 - theta);
	double of_each = n > 0 ? n / key->sums.w : 0, value = weight;

	if (unit == ESTIMATE_OCTETS)
		value *= (of_each * key->sums.wb2 + of_all * (r->octets_variance + r->mean_octets * r->mean_octets)) /
		    fmax(1, of_each * key->sums.wb + of_all * r->mean_octets);
	return (struct pseudo_sample){value, value * value};
}

/* As long as the frames of the others, or of all, where each octet counts once. */
static struct pseudo_sample
pseudo_sample_of_rest(const struct estimate_range *r, const struct estimate_key *key, enum estimate_unit unit)
{
	double octets = key->rest_wb > 0 ? fmax(r->rest_octets, key->rest_wb2 / key->rest_wb) : r->rest_octets;
	double value = r->weight * (unit == ESTIMATE_PKTS ? 1 : octets);

	return (struct pseudo_sample){value, value * value};
}

/*
 * Clopper and Pearson's lower limit of a share. of_a_list: given that the count is not 0, which is how it came
 * into the list, P(X >= x) = a P(X >= 1): a count of 1 then says nothing but that there was one.
 */
static double
lower_share(double error, double x, double trials, bool of_a_list)
{
	double limited = fmin(UNLIMITED * fmax(1, x), trials), beta = fmax(limited - x + 1, 1e-3);
	double low;

	x = fmax(x, 1e-2);
	if (of_a_list && x <= 1.0000001)
		return 0;
	low = beta_lower_quantile(error, x, beta);
	for (int i = 0; of_a_list && x < SEEN_BELOW && i < SEEN_STEPS; i++) {
		double next = beta_lower_quantile(fmax(1e-15, error * -expm1(-low * limited)), x, beta);
		bool stands = fabs(next - low) <= 1e-9 * low;

		low = next;
		if (stands)
			break;
	}
	return low * limited / trials;
}

static double
lower_limit(const struct estimate_piece *piece, double error, bool of_a_list)
{
	double share, trials;

	if (!(piece->y > 0) || !(piece->variance > 0) || !(piece->total > 0))
		return piece->y;
	share = fmin(piece->y / piece->total, 1 - 1e-12);
	trials = share * (1 - share) * piece->total * piece->total / piece->variance;
	return piece->total * lower_share(error, share * trials, trials, of_a_list);
}

/* A half of the pseudo-sample is added where the key's samples are like it, as Jeffreys' limits do, and all of it where
 * it is much heavier or longer. total: of all strata where the key may have had frames. */
static double
upper_limit(const struct estimate_piece *piece, double total, double error, struct pseudo_sample added)
{
	double share = total > 0 ? fmin(piece->y / total, 1) : 1;
	double variance = piece->variance / fmax(1 - share, 1e-9), part = 1, y, x, each, trials, limited;

	if (!(total > 0))
		return piece->y;
	if (piece->y > 0)
		part = 1 - 0.5 * fmin(1, variance / piece->y / fmax(added.value, 1e-9));
	y = piece->y + part * added.value;
	variance += part * added.square;
	if (!(variance > 0))
		return piece->y;
	x = y * y / variance;
	each = variance / y;
	trials = fmax(total / each, x);
	limited = fmin(UNLIMITED * fmax(1, x), trials);
	return fmin(total, total * limited / trials *
	    beta_upper_quantile(error, fmax(x, 1e-2), limited - x + 1));
}

/*
 * The most that all others may have where the key has more than half. of_a_list: some key is always seen, and stands
 * in the list however small it is. So, as in lower_share, the limit is that of a count that is not 0:
 * P(X >= x) = a P(X >= 1), with P(X >= 1) = 1 - (1 - p)^trials for a key with the part p.
 */
static double
upper_limit_of_rest(const struct estimate_range *r, const struct estimate_key *key, enum estimate_unit unit,
    const struct estimate_claim *claim)
{
	const struct estimate_piece *rest = &key->unit[unit].rest;
	struct pseudo_sample added = pseudo_sample_of_rest(r, key, unit);
	double high = upper_limit(rest, rest->total, claim->low_error, added);
	double trials = fmax(1, rest->total * (rest->y + added.value) / (rest->variance + added.square));

	for (int i = 0; claim->of_a_list && key->sums.n < SEEN_BELOW && i < SEEN_STEPS; i++) {
		double seen = -expm1(trials * log1p(-fmin(1 - 1e-12, 1 - high / rest->total)));

		high = upper_limit(rest, rest->total, fmax(1e-15, claim->low_error * seen), added);
	}
	return high;
}

/* Limits of a product, of a share and of totals. */
static struct estimate_figure
widened_by_totals(struct estimate_figure f, double of_totals, const struct estimate_claim *claim)
{
	double down = f.estimate - f.low, up = f.high - f.estimate;
	double z_low, z_high;

	if (!(of_totals > 0))
		return f;
	z_low = normal_upper_quantile(claim->low_error);
	z_high = normal_upper_quantile(claim->high_error);
	f.low = f.estimate - sqrt(down * down + z_low * z_low * of_totals);
	f.high = f.estimate + sqrt(up * up + z_high * z_high * of_totals);
	return f;
}

/* Limits are moved inwards to what is certain: the key's own samples exist, and so do the others'. */
static struct estimate_figure
within_certain(const struct estimate_range *r, const struct estimate_key *key, enum estimate_unit unit,
    struct estimate_figure f)
{
	double each = unit == ESTIMATE_PKTS ? 1 : FRAME_OCTETS_AT_LEAST;
	double others = (double)(r->samples - key->sums.n) * each;

	f.low = fmin(fmax(f.low, (double)key->sums.n * each), f.estimate);
	f.high = fmax(fmin(f.high, r->bound[unit] - others), f.estimate);
	return f;
}

/* bound: of all strata that may have had frames of the key. */
static struct estimate_figure
figure_of(const struct estimate_range *r, const struct estimate_key *key, enum estimate_unit unit,
    const struct estimate_claim *claim, double bound, double weight)
{
	const struct estimate_key_unit *sum = &key->unit[unit];
	const struct estimate_piece *piece = &sum->key, *rest = &sum->rest;
	double elsewhere = fmax(bound - rest->total, piece->total);
	struct estimate_figure f = {sum->estimate, lower_limit(piece, claim->low_error, claim->of_a_list), 0};

	if (weight <= 1) /* every frame is sampled */
		return (struct estimate_figure){sum->estimate, sum->estimate, sum->estimate};
	if (piece->y > 0 || rest->total < bound * (1 - 1e-12))
		f.high = upper_limit(piece, elsewhere, claim->high_error, pseudo_sample(r, key, unit, weight));
	if (rest->total > 0) { /* limits of a difference (Zou and Donner 2008) */
		double below = lower_limit(rest, claim->high_error, false) - rest->y;
		double above = upper_limit_of_rest(r, key, unit, claim) - rest->y;
		double down = piece->y - f.low, up = f.high - piece->y;

		f.low = f.estimate - sqrt(down * down + above * above);
		f.high = f.estimate + sqrt(up * up + below * below);
	}
	return within_certain(r, key, unit, widened_by_totals(f, sum->of_totals, claim));
}

struct estimate_figure
estimate_key_figure(const struct estimate_range *range, const struct estimate_key *key,
    enum estimate_unit unit, const struct estimate_claim *claim)
{
	return figure_of(range, key, unit, claim, range->bound[unit], range->weight);
}

double
estimate_key_own_high(const struct estimate_range *range, const struct estimate_key *key,
    enum estimate_unit unit, const struct estimate_claim *claim)
{
	if (!(key->own_pkts > 0))
		return 0;
	return figure_of(range, key, unit, claim, key->own_total[unit], sqrt(key->own_pkts_m2 / key->own_pkts)).high;
}

struct estimate_figure
estimate_share(struct estimate_figure figure, double total)
{
	if (total <= 0)
		return (struct estimate_figure){0, 0, 0};
	return (struct estimate_figure){figure.estimate / total, fmax(0, figure.low / total),
	    fmin(1, figure.high / total)};
}
