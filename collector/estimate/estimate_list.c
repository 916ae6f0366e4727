#include "collector/estimate/estimate_list.h"

#include "collector/estimate/quantiles.h"
#include "collector/estimate/range.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXACT_ROWS = 1000,  /* of a list: rows behind these may be settled against a few keys less than they could be */
	DOUBLE_FRACTION_BITS = 52,
	ALIKE_BITS = 3,
	ALIKES_MAX = 1 << (11 + ALIKE_BITS), /* with the exponent's bits */
	HOLM_STEPS = 20,    /* until no pair more is settled; three usually */
	NEWTON_STEPS = 100, /* four usually */
};
static const double RANKS_ERROR = 0.04; /* of the pairs; the rest of 5 % is for keys without a sample */
/* Less than 0.025, as some rivals are surely below by chance alone, and totals at the live edge are divided by time. */
static const double ROW_LOW_ERROR = 0.015;
static const double BRIDGED_LOSS = 0.001; /* below it loss does not matter to what was not seen */

struct estimate_claim
estimate_claim_of_row(size_t place, size_t n_rivals)
{
	return (struct estimate_claim){ROW_LOW_ERROR * fmin(1, (double)place / (double)n_rivals), 0.025, true};
}

struct estimate_claim
estimate_claim_of_all(size_t n_keys)
{
	return (struct estimate_claim){0.025 / (double)n_keys, 0.025 / (double)n_keys, true};
}

/* ---- ranks ---- */

/* Of one row: keys that are surely above and below it. */
struct settled {
	size_t above, below;
};

/* Keys of nearly one variance, the largest estimate first. */
struct alike {
	double least, most; /* of the variances */
	const double *estimate, *variance;
	size_t n;
};
struct alikes {
	size_t n;
	struct alike *items;
	double *room;
};

/* The exponent of a double >= 0 and so many bits of its fraction: variances alike differ by an eighth at most. */
static size_t
alike_of(double variance)
{
	uint64_t bits;

	if (!(variance > 0))
		variance = 0; /* not the negative one */
	memcpy(&bits, &variance, sizeof(bits));
	return (size_t)(bits >> (DOUBLE_FRACTION_BITS - ALIKE_BITS));
}

static void
free_alikes(struct alikes *a)
{
	free(a->items);
	free(a->room);
}

static int
make_alikes(const struct estimate_order *order, struct alikes *a)
{
	size_t *ends = calloc(ALIKES_MAX + 1, sizeof(*ends)), at = 0;

	*a = (struct alikes){.items = calloc(ALIKES_MAX, sizeof(*a->items)), .room = calloc(2 * order->n + 1, sizeof(double))};
	if (!ends || !a->items || !a->room) {
		free(ends);
		return -ENOMEM;
	}
	for (size_t i = 0; i < order->n; i++)
		ends[alike_of(order->own_variance[i]) + 1]++;
	for (size_t k = 0; k < ALIKES_MAX; k++) {
		if (ends[k + 1] > 0)
			a->items[a->n++] = (struct alike){INFINITY, 0, a->room + at, a->room + order->n + at, ends[k + 1]};
		ends[k + 1] = at += ends[k + 1];
	}
	for (size_t i = 0; i < order->n; i++) {
		size_t place = ends[alike_of(order->own_variance[i])]++;

		assert(place < order->n);
		a->room[place] = order->estimate[i];
		a->room[order->n + place] = order->own_variance[i];
	}
	free(ends);
	assert(at == order->n);
	for (size_t k = 0; k < a->n; k++)
		for (size_t i = 0; i < a->items[k].n; i++) {
			a->items[k].least = fmin(a->items[k].least, a->items[k].variance[i]);
			a->items[k].most = fmax(a->items[k].most, a->items[k].variance[i]);
		}
	return 0;
}

/* How many of them are larger; with or_equal, or as large. */
static size_t
n_larger(const struct alike *alike, double than, bool or_equal)
{
	size_t from = 0, to = alike->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (or_equal ? alike->estimate[middle] >= than : alike->estimate[middle] > than)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* A key's variance is taken to be the largest of those alike; if exactly, its own where that decides. */
static void
compare_with_alike(const struct alike *alike, double y, double variance, double hidden, double z, bool exactly,
    struct settled *settled)
{
	double most = hidden + z * sqrt(variance + alike->most), least = hidden + z * sqrt(variance + alike->least);
	size_t above = n_larger(alike, y + most, false), below = n_larger(alike, y - most, true);

	assert(alike->n > 0);
	settled->above += above;
	settled->below += alike->n - below;
	for (size_t i = above; exactly && i < alike->n && alike->estimate[i] - y > least; i++)
		settled->above += alike->estimate[i] - y > hidden + z * sqrt(variance + alike->variance[i]);
	for (size_t i = below; exactly && i > 0 && y - alike->estimate[i - 1] > least; i--)
		settled->below += y - alike->estimate[i - 1] > hidden + z * sqrt(variance + alike->variance[i - 1]);
}

static struct settled
compare_with_all(const struct estimate_order *order, const struct alikes *alikes, size_t row, bool exactly, double z)
{
	struct settled settled = {0, 0};

	assert(row < order->n);
	for (size_t k = 0; k < alikes->n; k++)
		compare_with_alike(&alikes->items[k], order->estimate[row], order->own_variance[row], order->hidden, z, exactly,
		    &settled);
	return settled;
}

double
estimate_pair_distance(size_t n_rows, size_t n_keys)
{
	double pairs = (double)n_rows * ((double)n_keys - 1);

	return normal_upper_quantile(pairs > 0 ? fmin(0.5, RANKS_ERROR / pairs) : 0.5);
}

/* Keys without a sample that may be above a row with this lower limit. */
static double
unseen_above(double low, const struct estimate_unseen_bounds *bounds)
{
	return low > bounds->largest || !(low > 0) ? 0 : floor(bounds->together / low);
}

/* Holm's procedure over all pairs of a row and a key: what is settled at a level makes the level of what is not. Rows
 * beyond EXACT_ROWS are compared at the first level, so that a long list costs no more than its rows. */
int
estimate_ranks(const struct estimate_order *order, const size_t *rows, size_t n_rows, const double *row_low,
    const struct estimate_unseen_bounds *bounds, struct estimate_rank *ranks)
{
	struct alikes alikes;
	struct settled *settled = calloc(n_rows + 1, sizeof(*settled));
	double open = (double)n_rows * ((double)order->n - 1), before = -1;
	int err = make_alikes(order, &alikes);

	if (err == 0 && !settled)
		err = -ENOMEM;
	for (int i = 0; err == 0 && i < HOLM_STEPS && open > 0 && open != before; i++) {
		double z = normal_upper_quantile(fmin(0.5, RANKS_ERROR / open)), left = 0;

		for (size_t row = 0; row < n_rows; row++) {
			if (i == 0 || row < EXACT_ROWS)
				settled[row] = compare_with_all(order, &alikes, rows[row], row < EXACT_ROWS, z);
			left += (double)(order->n - 1 - settled[row].above - settled[row].below);
		}
		before = open;
		open = left;
	}
	for (size_t row = 0; err == 0 && row < n_rows; row++) {
		double high = (double)(order->n - settled[row].below) + unseen_above(row_low[row], bounds);

		ranks[row].low = 1 + (uint32_t)settled[row].above;
		ranks[row].high = high < ESTIMATE_RANK_OPEN ? (uint32_t)high : ESTIMATE_RANK_OPEN;
	}
	free_alikes(&alikes);
	free(settled);
	return err;
}

/* As many pairs as the row has are compared, whatever other rows a list shows. */
int
estimate_rivals(const struct estimate_order *order, const size_t *rows, size_t n_rows, size_t n_keys, size_t *rivals)
{
	double z = estimate_pair_distance(1, n_keys);
	struct alikes alikes;
	int err = make_alikes(order, &alikes);

	for (size_t row = 0; err == 0 && row < n_rows; row++)
		rivals[row] = order->n - compare_with_all(order, &alikes, rows[row], row < EXACT_ROWS, z).below;
	free_alikes(&alikes);
	return err;
}

/* ---- what choosing the largest costs ---- */

/* A row, and the largest key that could have been one in its stead. */
struct chosen {
	double estimate, sampled; /* sampled: the part of its samples' values that stands for frames no sample showed */
	double sample;		  /* the value of one of its samples, the larger the likelier */
	double margin;
	uint64_t samples;
	bool has_rival;
};

static struct chosen
chosen_at(const struct estimate_order *order, size_t i, double rival)
{
	double estimate = order->estimate[i], variance = order->own_variance[i];
	struct chosen row = {.estimate = estimate, .samples = order->samples[i], .margin = estimate - rival,
	    .has_rival = rival >= 0};

	/* The sum of w^2 y^2 over that of w y, from the sum of w (w - 1) y^2; exact where all samples are alike. */
	row.sample = fmax(variance / estimate, estimate / (double)row.samples);
	row.sampled = variance / (estimate * row.sample);
	return row;
}

/* Whether it would still be a row without so many of its samples; half where it would be as large as its rival. */
static double
is_row_without(const struct chosen *row, unsigned samples, uint64_t few)
{
	static const double SAME = 1e-9; /* but for rounding */
	double left = row->margin - samples * row->sample;

	if (row->samples < few + samples)
		return 0;
	if (!row->has_rival || left > SAME * row->estimate)
		return 1;
	return left < -SAME * row->estimate ? 0 : 0.5;
}

/*
 * Frames i are sampled with the probability 1 / w, and f tells whether its key is a row. Over the samples, the sum of
 * y f + (w - 1) y f(without i) is on the average that of y f over all frames of the keys (Mecke's formula), so what rows
 * have too much is the sum of (w - 1) y over those samples without which their key would be no row: whatever the keys,
 * lengths and skips. Samples of one row are taken to be alike: where as many rows have one margin as another, that is
 * right on the average, too. The error goes by pairs of samples of which one alone makes their key a row, and as much
 * again by those of the rival that has its place else: a key with such a pair is as often just without its last sample as
 * just with it, so that all pairs of keys within two samples of the rival say as much, and more steadily. Single samples
 * have no pairs; theirs is taken for as much as a count's.
 */
struct estimate_sum
estimate_choosing(const struct estimate_order *order, size_t n_rows, uint64_t few)
{
	struct estimate_sum choosing = {0, 0};
	size_t eligible = 0, i;
	double rival = -1;

	for (i = 0; i < order->n && eligible <= n_rows; i++)
		if (order->samples[i] >= few && ++eligible > n_rows)
			rival = order->estimate[i];
	eligible = 0;
	for (i = 0; i < order->n && eligible < n_rows; i++) {
		struct chosen row;
		double without_one, part;

		if (order->samples[i] < few)
			continue;
		eligible++;
		if (!(order->own_variance[i] > 0 && order->estimate[i] > 0)) /* all of its frames were sampled */
			continue;
		row = chosen_at(order, i, rival);
		without_one = is_row_without(&row, 1, few);
		part = row.sampled * row.estimate;
		choosing.value += part * (1 - without_one);
		choosing.variance += part * row.sampled * ((row.estimate - row.sample) * (1 - is_row_without(&row, 2, few)) +
		    row.sample * (1 - without_one));
	}
	return choosing;
}

/* What is too large in one unit is so in the other as the two vary together: by the covariance of a key's sums over the
 * variance of the one that is sorted by, sum of w^2 b over sum of w^2 b^2, or over sum of w^2. */
struct estimate_sum
estimate_choosing_in(const struct estimate_sum *choosing, enum estimate_unit sort, const struct estimate_key *rows,
    enum estimate_unit unit)
{
	const struct estimate_sums *s = &rows->sums;
	double of_rows = rows->unit[unit].estimate, ratio = 1;

	if (unit != sort && s->n > 0)
		ratio = s->wb * s->w2 / s->w / (sort == ESTIMATE_OCTETS ? s->w2b2 : s->w2);
	return (struct estimate_sum){fmin(of_rows, choosing->value * ratio), choosing->variance * ratio * ratio};
}

/* ---- keys without a sample ---- */

/* A key of one sample of weight w' stands for w' - 1 frames of its like that no sample showed: unbiased for any
 * weights, because a frame is the only sample of its key as often as it would be missed. */
void
estimate_not_seen_add(struct estimate_not_seen *not_seen, const struct estimate_key *key)
{
	struct estimate_sum *pkts = &not_seen->sum[ESTIMATE_PKTS], *octets = &not_seen->sum[ESTIMATE_OCTETS];

	if (key->sums.n == 1) {
		pkts->value += key->cal_w - 1;
		pkts->variance += key->cal_w2 - key->cal_w;
		octets->value += key->cal_wb - key->b;
		octets->variance += key->cal_w2b2 - key->cal_wb * key->b;
	} else if (key->sums.n == 2) {
		pkts->variance += fmax(0, key->cal_w * key->cal_w - key->cal_w2 - 2 * key->cal_w + 2);
		octets->variance += fmax(0, key->cal_wb * key->cal_wb - key->cal_w2b2);
	}
}

void
estimate_told_add(struct estimate_told *told, const struct estimate_key *key)
{
	estimate_not_seen_add(&told->not_seen, key);
	estimate_lengths_add(&told->lengths, key);
}

struct estimate_figure
estimate_not_seen_figure(const struct estimate_range *range, const struct estimate_not_seen *not_seen,
    enum estimate_unit unit, double error)
{
	const struct estimate_sum *sum = &not_seen->sum[unit];
	double z = normal_upper_quantile(error), value = fmax(0, sum->value), variance = fmax(0, sum->variance);
	double added = range->calibrated_weight * (unit == ESTIMATE_PKTS ? 1 : range->rest_octets);
	double high_value = value + added, high_variance = variance + added * added;
	struct estimate_figure f = {value, fmax(0, value - z * sqrt(variance)), value};

	if (range->weight <= 1) /* every frame is sampled */
		return (struct estimate_figure){0, 0, 0};
	if (high_variance > 0)
		f.high = fmax(value, high_variance / high_value *
		    gamma_upper_quantile(error, high_value * high_value / high_variance));
	f.high = fmin(f.high, fmax(value, range->bound[unit]));
	return f;
}

/* A figure less or more something else of its own variance (limits of a difference, Zou and Donner 2008). */
static struct estimate_figure
moved_figure(const struct estimate_figure *f, double by, double variance)
{
	double z = 1.959963984540054; /* 95 % of a normal distribution */
	double down = f->estimate - f->low, up = f->high - f->estimate, value = f->estimate + by;

	variance = z * z * fmax(0, variance);
	return (struct estimate_figure){value, fmax(0, value - sqrt(down * down + variance)),
	    value + sqrt(up * up + variance)};
}

/* Rows are together too large by what choosing the largest costs, and others are too small by it; what keys without a
 * sample have was given to those with one. */
void
estimate_account(const struct estimate_range *range, enum estimate_unit unit, const struct estimate_key *rows,
    const struct estimate_key *others, const struct estimate_sum *choosing,
    const struct estimate_not_seen *not_seen, struct estimate_account *account)
{
	bool all_sampled = range->weight <= 1; /* then nothing was chosen by chance, nor is anything unseen */
	const struct estimate_sum nothing = {0, 0}, *chosen = all_sampled ? &nothing : choosing;
	struct estimate_figure of_rows = estimate_key_figure(range, rows, unit, &estimate_claim_95);
	struct estimate_figure of_others = estimate_key_figure(range, others, unit, &estimate_claim_95);
	struct estimate_figure *f = &account->not_seen;

	account->rows = moved_figure(&of_rows, -chosen->value, chosen->variance);
	*f = estimate_not_seen_figure(range, not_seen, unit, 0.025);
	f->estimate = fmin(f->estimate, of_others.estimate + chosen->value);
	f->low = fmin(f->low, f->estimate);
	account->others = moved_figure(&of_others, chosen->value - f->estimate,
	    chosen->variance + (all_sampled ? 0 : not_seen->sum[unit].variance));
}

/* A stratum as it hides a key: one frame is in no sample with the probability 1 - 1 / weight, where weight is that
 * of the times of the largest skip; that is true of this part of its frames at most. */
struct hiding {
	double pkts, weight, part;
};

/* How many samples of a port come in one notification, from the sums over pairs. */
static double
samples_together(const struct estimate_stratum *s)
{
	return 1 + (s->all.w2 > 0 ? s->all.any.pkts / s->all.w2 : 0);
}

static struct hiding
hiding_of(const struct estimate_stratum *s, double lost_weight)
{
	double total = estimate_total(ESTIMATE_PKTS, s), g = total / s->all.w;
	double mean = fmax(1, g * s->all.w2 / s->all.w), most = fmax(mean, g * s->w_max);

	return (struct hiding){total, most * lost_weight, most > 1 ? (mean - 1) / (most - 1) : 1};
}

/* A burst may ride in few notifications, and go with them. */
static double
weight_by_loss(const struct estimate_stratum *s, bool given, double error)
{
	double q = fmin(s->lost, 0.999), burst;

	if (q <= BRIDGED_LOSS)
		return 1;
	burst = samples_together(s) / log(1 / q);
	if (given)
		burst = q > error / 2 ? burst * log(2 / error) / log(1 / error) : 0;
	return fmax(1 / (1 - q), burst);
}

/* The number of keys with x frames each that could be hidden, were all of the traffic such keys; and by which part
 * of itself it falls with each frame more. */
struct hidden {
	double keys, falls;
};

static struct hidden
hidden_keys(const struct estimate_range *range, double error, double x)
{
	struct hidden hidden = {0, 0};

	for (size_t i = 0; i < range->n; i++) {
		const struct estimate_stratum *s = &range->strata[i];
		double each, keys;
		struct hiding h;

		if (s->all.n == 0)
			continue;
		h = hiding_of(s, weight_by_loss(s, false, error));
		if (!(h.weight > 1))
			continue;
		each = log1p(-1 / h.weight);
		keys = h.pkts / x * h.part * exp(x * each);
		hidden.keys += keys;
		hidden.falls -= keys * each;
	}
	if (hidden.keys > 0)
		hidden.falls = hidden.falls / hidden.keys + 1 / x;
	return hidden;
}

/* The logarithm of their number falls and is convex, so that Newton's steps from below come to the root from below. */
double
estimate_any_unseen_pkts(const struct estimate_range *range, double error)
{
	double most = estimate_range_covered(range, ESTIMATE_PKTS), x = 1;
	struct hidden hidden = hidden_keys(range, error, x), further;

	while (x < most && (further = hidden_keys(range, error, 2 * x)).keys > error) {
		hidden = further;
		x *= 2;
	}
	for (int i = 0; i < NEWTON_STEPS && x < most && hidden.keys > error * (1 + 1e-6); i++) {
		x += log(hidden.keys / error) / hidden.falls;
		hidden = hidden_keys(range, error, x);
	}
	return fmin(x, most);
}

static int
compare_weights(const void *a, const void *b)
{
	const struct hiding *x = a, *y = b;

	return (x->weight < y->weight) - (x->weight > y->weight);
}

/*
 * The rule of three for several strata. Of x_h frames in stratum h none is sampled with probability product of
 * (1 - 1/W_h)^x_h; the largest sum of x_h for which that is still `error` takes from the stratum with the
 * largest weight first, as far as it reaches. So bounds of strata are not added: a key hidden in one has used
 * up its luck. One large stratum: 3.0 T / n at 5 %.
 */
int
estimate_given_unseen_pkts(const struct estimate_range *range, double error, double *pkts)
{
	struct hiding *hiding = calloc(range->n + 1, sizeof(*hiding));
	double luck = -log(error);
	size_t n = 0;

	if (!hiding)
		return -ENOMEM;
	*pkts = 0;
	for (size_t i = 0; i < range->n; i++) {
		const struct estimate_stratum *s = &range->strata[i];

		if (s->all.n > 0)
			hiding[n++] = hiding_of(s, weight_by_loss(s, true, error));
	}
	qsort(hiding, n, sizeof(*hiding), compare_weights);
	for (size_t i = 0; i < n && luck > 0 && hiding[i].weight > 1; i++) {
		double each = -log1p(-1 / hiding[i].weight), take = fmin(hiding[i].pkts, luck / each);

		luck -= take * each;
		*pkts += take;
	}
	free(hiding);
	return 0;
}
