#include "collector/estimate/audit.h"
#include "collector/estimate/quantiles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counters that a sender reports are so old at most, each by another time: hardware is read every few seconds.
 * *assumed* A comparison of samples with counters is to hold for all of these ages, or nothing is said. */
static const double ages_s[] = {0, -1, 0.5, 1, 2, 3, 5};
enum { AGES = sizeof(ages_s) / sizeof(ages_s[0]) };

/* The longest frame that a mean length allows for. *assumed* */
#define LONGEST_OCTETS 9216.0
/* Lengths that count the FCS, a VLAN tag, or neither differ by so much: that is a convention, no bias. */
#define CONVENTION_OCTETS 8.0
/* A sampler may depend on load so little before it is called so: counters that are some seconds old, each by
 * another time, look like that. *assumed* */
#define LOAD_MARGIN 0.1
/* A direction with less than this part of the samples that it should have is taken for one that is not sampled:
 * a few samples lie there because a frame's input was not stated. *assumed* */
#define SAMPLED_PART 0.1
/* A pool may differ from counters by this part: pause and control frames are in one of them only. *assumed* */
#define POOL_PART 0.005
#define POOL_PERIODS 15 /* and by what passed after the last sample; a longer skip comes once in exp(15) */
/* Clocks: so far off is wrong (seconds), and so much faster or slower than ours. NTP holds 0.1 s and 500 ppm
 * (RFC 5905). */
#define CLOCK_OFF_S   2.0
#define CLOCK_DRIFT   0.001
#define CLOCK_DRIFT_S 0.25
enum { LAGS_MAX = 256, REPEAT_SAMPLES = 8192, SPACINGS_MIN = 32 };
#define NEARLY_CONSTANT 0.3 /* deviation over mean: uniform has 0.58, geometric 1 */

struct span {
	const struct audit_input *in;
	const struct audit_sample *numbered; /* of one boot and rate, by number */
	const struct audit_sample *samples;  /* the same by time */
	size_t n;
	const struct audit_counters *counters; /* of one stretch, within these samples */
	size_t n_counters;
	double *taken;	/* [i]: samples that were taken before sample i, by their numbers */
	double *octets; /* [i]: sum of lengths before sample i; one more than samples */
	double *lengths2; /* of their squares */
};

/* ---- what is judged ---- */

static bool
same_run(const struct audit_sample *a, const struct audit_sample *b)
{
	return a->boot == b->boot && a->mean == b->mean;
}

/* The longest run of samples of one boot and one stated rate. */
static void
find_run(const struct audit_input *in, size_t *from, size_t *n)
{
	*from = *n = 0;
	for (size_t i = 0, k; i < in->n_samples; i = k) {
		for (k = i + 1; k < in->n_samples && same_run(&in->samples[i], &in->samples[k]); k++)
			;
		if (k - i >= *n) {
			*from = i;
			*n = k - i;
		}
	}
}

/* The longest stretch of counters without a discontinuity and within the run. */
static void
find_counters(const struct audit_input *in, struct span *span)
{
	const struct audit_counters *c = in->counters;
	uint64_t from_us = span->samples[0].time_us, to_us = span->samples[span->n - 1].time_us, longest = 0;

	for (size_t i = 0, k; i < in->n_counters; i = k) {
		for (k = i + 1; k < in->n_counters && c[k].discontinuity_us == c[i].discontinuity_us &&
		    c[i].time_us >= from_us && c[k].time_us <= to_us; k++)
			;
		if (c[i].time_us >= from_us && k - i >= 2 && c[k - 1].time_us - c[i].time_us > longest) {
			longest = c[k - 1].time_us - c[i].time_us;
			span->counters = &c[i];
			span->n_counters = k - i;
		}
	}
}

/* How far a number lies behind another, of the same count: both are 32 bits of it, which wrap. */
static int32_t
ahead_of(uint32_t number, uint32_t before)
{
	return (int32_t)(number - before);
}

static int
audit_by_time(const void *a, const void *b)
{
	const struct audit_sample *x = a, *y = b;

	if (x->time_us != y->time_us)
		return x->time_us < y->time_us ? -1 : 1;
	return ahead_of(x->sequence, y->sequence) < 0 ? -1 : x->sequence != y->sequence;
}

static void
sum_up(struct span *span)
{
	uint32_t first = span->numbered[0].sequence, newest = first;

	for (size_t i = 0; i < span->n; i++) {
		const struct audit_sample *s = &span->samples[i];

		span->taken[i] = span->in->shared_numbers ? (double)i : (double)(newest - first) + (i > 0);
		newest = ahead_of(s->sequence, newest) > 0 ? s->sequence : newest;
		span->octets[i + 1] = span->octets[i] + s->octets;
		span->lengths2[i + 1] = span->lengths2[i] + (double)s->octets * s->octets;
	}
	span->taken[span->n] = span->in->shared_numbers ? (double)span->n : (double)(newest - first) + 1;
}

/* Number of samples up to a time. */
static size_t
samples_until(const struct span *span, double time_us)
{
	size_t low = 0, high = span->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if ((double)span->samples[middle].time_us <= time_us)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Numbers given out between two counters that tell them; NAN: they do not. */
static double
told_between(const struct span *span, size_t first, size_t last)
{
	double from = span->counters[first].numbers, to = span->counters[last].numbers;

	return isnan(from) || isnan(to) ? NAN : ahead_of((uint32_t)to, (uint32_t)from);
}

/* The samples between two counters that are age_s old. */
struct between {
	size_t from, to;
	double taken;
};

static struct between
between_counters(const struct span *span, size_t first, size_t last, double age_s)
{
	struct between b = {
	    .from = samples_until(span, (double)span->counters[first].time_us - 1e6 * age_s),
	    .to = samples_until(span, (double)span->counters[last].time_us - 1e6 * age_s),
	};

	b.taken = told_between(span, first, last);
	if (isnan(b.taken))
		b.taken = span->taken[b.to] - span->taken[b.from];
	return b;
}

/* By how much a number rose from the first counters to the last ones: as if both were new, and at least and at most,
 * each of them being of some age of its own; within: it rose between two samples, too. */
struct rise {
	double least, now, most;
};

static struct rise
rise_over_all(const struct span *span, double (*until)(const struct span *span, size_t n), bool within)
{
	const struct audit_counters *ends[] = {&span->counters[0], &span->counters[span->n_counters - 1]};
	struct rise at[2];

	for (size_t a = 0; a < AGES; a++)
		for (int end = 0; end < 2; end++) {
			size_t n = samples_until(span, (double)ends[end]->time_us - 1e6 * ages_s[a]);
			double value = until(span, n), next = within && n < span->n ? until(span, n + 1) : value;

			if (a == 0)
				at[end] = (struct rise){value, value, value};
			at[end].least = fmin(at[end].least, value);
			at[end].most = fmax(at[end].most, next);
		}
	return (struct rise){at[1].least - at[0].most, at[1].now - at[0].now, at[1].most - at[0].least};
}

static double
taken_until(const struct span *span, size_t n)
{
	return span->taken[n];
}

static double
sum_directions(const struct audit_result *r, const double a[static AUDIT_DIRECTIONS],
    const double b[static AUDIT_DIRECTIONS])
{
	double sum = 0;

	for (int d = 0; d < AUDIT_DIRECTIONS; d++)
		if (r->directions[d])
			sum += b[d] - a[d];
	return sum;
}

static double
frames_between(const struct span *span, const struct audit_result *r, size_t first, size_t last)
{
	return sum_directions(r, span->counters[first].pkts, span->counters[last].pkts);
}

static void
find_directions(const struct span *span, struct audit_result *r)
{
	double n[AUDIT_DIRECTIONS] = {0};

	for (size_t i = 0; i < span->n; i++)
		n[span->samples[i].direction]++;
	for (int d = 0; d < AUDIT_DIRECTIONS; d++) {
		double counted = span->n_counters
		    ? span->counters[span->n_counters - 1].pkts[d] - span->counters[0].pkts[d] : 0;

		r->directions[d] = n[d] > 0 && (n[d] >= n[!d] || n[d] * r->mean >= SAMPLED_PART * counted);
	}
}

/* ---- the rate: of T frames each was taken with probability 1/m ---- */

/* Limits of a proportion: Clopper and Pearson, Biometrika 26 (1934) 404. They are exact for choices that are
 * independent (geometric skips), and too wide for spacing that is more even (uniform, every Nth). */
static double
lowest_proportion(double n, double of, double error)
{
	return n <= 0 ? 0 : beta_lower_quantile(error, n, of - n + 1);
}

static double
highest_proportion(double n, double of, double error)
{
	return n >= of ? 1 : beta_upper_quantile(error, n + 1, of - n);
}

static void
set_figures(struct audit_result *r, double least, double n, double most, double frames, double arrived)
{
	double low = lowest_proportion(least, frames, 0.025) / arrived;
	double high = highest_proportion(most, frames, 0.025) / arrived;
	double p = n / frames / arrived;

	r->effective = (struct estimate_figure){1 / p, 1 / high, low > 0 ? 1 / low : INFINITY};
	r->of_counted = (struct estimate_figure){p * r->mean, low * r->mean, high * r->mean};
}

static void
judge_proportion(const struct span *span, struct audit_result *r, double least, double n, double most, double frames)
{
	const struct audit_input *in = span->in;
	double arrived = in->shared_numbers ? in->arrived : 1, stated = arrived / r->mean;

	r->counted = frames;
	if (n < 1 || most > frames || arrived <= 0)
		return;
	set_figures(r, least, n, most, frames, arrived);
	r->finds = (normal_upper_quantile(in->error / 2) + 1.645) / sqrt(n);
	if (n >= AUDIT_ENOUGH_SAMPLES && (lowest_proportion(least, frames, in->error / 2) > stated ||
	    highest_proportion(most, frames, in->error / 2) < stated / (1 + in->dropped)))
		r->faults |= AUDIT_RATE_OFF;
}

static bool
is_thinned(const struct span *span)
{
	for (size_t i = 0; i < span->n; i++)
		if (span->samples[i].stands_for != 1)
			return true;
	return false;
}

static void
judge_rate(const struct span *span, struct audit_result *r)
{
	double frames = round(frames_between(span, r, 0, span->n_counters - 1));
	struct rise taken = rise_over_all(span, taken_until, false);
	double told = told_between(span, 0, span->n_counters - 1);

	if (!isnan(told)) /* read together with the counters */
		taken = (struct rise){told, told, told};
	r->counted = frames;
	if (frames > 0 && !(span->in->shared_numbers && is_thinned(span)))
		judge_proportion(span, r, taken.least, taken.now, taken.most, frames);
}

/* ---- the rate under load ---- */

struct interval {
	double rate, frames; /* frames a second, frames */
	size_t from, to;     /* counters */
};

/* More numbers missing around counters than a message takes: which of them were given out before is not known. */
enum { MISSING_ACROSS = 10 };

static int
by_rate(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->rate < y->rate ? -1 : x->rate > y->rate;
}

static bool
is_within_loss(const struct span *span, size_t counters)
{
	size_t n = samples_until(span, (double)span->counters[counters].time_us);

	return isnan(span->counters[counters].numbers) && n > 0 && n < span->n &&
	    span->taken[n + 1] - span->taken[n] > 1 + MISSING_ACROSS;
}

/* The intervals between counters, the quiet ones first; *n_quiet of them have half of the frames. NULL: no memory. */
static struct interval *
sort_intervals(const struct span *span, const struct audit_result *r, size_t *n_all, size_t *n_quiet)
{
	size_t last = span->n_counters - 1, n = 0;
	struct interval *all = calloc(last + 1, sizeof(*all));
	double half = frames_between(span, r, 0, last) / 2, sum = 0;

	for (size_t from = 0, to = 1; all && to <= last; to++) {
		double us = (double)(span->counters[to].time_us - span->counters[from].time_us);

		if (to < last && is_within_loss(span, to))
			continue;
		all[n] = (struct interval){.frames = frames_between(span, r, from, to), .from = from, .to = to};
		all[n].rate = us > 0 ? all[n].frames / us : 0;
		n++;
		from = to;
	}
	*n_all = n;
	if (all)
		qsort(all, n, sizeof(*all), by_rate);
	for (*n_quiet = 0; all && *n_quiet < n && sum + all[*n_quiet].frames / 2 < half; ++*n_quiet)
		sum += all[*n_quiet].frames;
	return all;
}

/* P(X <= x) of a binomial distribution (DLMF 8.17.5). */
static double
binomial_lower_tail(double x, double n, double p)
{
	return x >= n ? 1 : beta_lower_tail(1 - p, n - x, x + 1);
}

static double
binomial_upper_tail(double x, double n, double p)
{
	return x <= 0 ? 1 : beta_lower_tail(p, x, n - x + 1);
}

/* Given how many samples there are in all, those of the busy half are binomial with the busy half's part of the
 * frames: the exact conditional test of two rates (Przyborowski and Wilenski, Biometrika 31 (1940) 313). */
static int
judge_load(const struct span *span, struct audit_result *r)
{
	size_t n_quiet, n;
	struct interval *all = sort_intervals(span, r, &n, &n_quiet);
	double busy = 0, quiet = 0, less = 0, more = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		*(i < n_quiet ? &quiet : &busy) += all[i].frames;
	for (size_t a = 0; busy > 0 && quiet > 0 && a < AGES; a++) {
		double taken = 0, of_busy = 0, fewer = (1 - LOAD_MARGIN) * busy, larger = busy / (1 - LOAD_MARGIN);

		for (size_t i = 0; i < n; i++) {
			double k = between_counters(span, all[i].from, all[i].to, ages_s[a]).taken;

			taken += k;
			of_busy += i < n_quiet ? 0 : k;
		}
		less = fmax(less, binomial_lower_tail(of_busy, taken, fewer / (fewer + quiet)));
		more = fmax(more, binomial_upper_tail(of_busy, taken, larger / (larger + quiet)));
	}
	free(all);
	if (busy > 0 && quiet > 0 && n_quiet > 0 && r->taken >= AUDIT_ENOUGH_SAMPLES)
		r->faults |= (less < span->in->error / 2 ? AUDIT_LESS_UNDER_LOAD : 0) |
		    (more < span->in->error / 2 ? AUDIT_MORE_UNDER_LOAD : 0);
	return 0;
}

/* ---- bias by size ---- */

/* How far a mean of n lengths may be from the true one: the empirical Bernstein bound (Maurer and Pontil, COLT 2009,
 * theorem 4), which holds for any distribution within the range and any n. */
static double
bernstein_bound(double n, double variance, double error)
{
	double l = log(2 / error);

	return sqrt(2 * variance * l / n) + 7 * LONGEST_OCTETS * l / (3 * (n - 1));
}

static void
judge_size(const struct span *span, struct audit_result *r)
{
	size_t last = span->n_counters - 1;
	double octets = sum_directions(r, span->counters[0].octets, span->counters[last].octets);
	bool larger = true, smaller = true;

	if (!(r->counted > 0) || octets <= 0)
		return;
	r->counted_octets = octets / r->counted;
	for (size_t a = 0; a < AGES; a++) {
		struct between b = between_counters(span, 0, last, ages_s[a]);
		double n = (double)(b.to - b.from), mean, variance, slack;

		if (n < AUDIT_ENOUGH_SAMPLES)
			return;
		mean = (span->octets[b.to] - span->octets[b.from]) / n;
		variance = fmax(0, (span->lengths2[b.to] - span->lengths2[b.from] - n * mean * mean) / (n - 1));
		slack = bernstein_bound(n, variance, span->in->error / 2) + CONVENTION_OCTETS;
		larger = larger && mean > r->counted_octets + slack;
		smaller = smaller && mean < r->counted_octets - slack;
		if (a == 0)
			r->octets = mean;
	}
	r->faults |= (larger ? AUDIT_SMALL_LEFT_OUT : 0) | (smaller ? AUDIT_LARGE_LEFT_OUT : 0);
}

/* ---- spacing ---- */

struct spacings {
	uint32_t *items;
	size_t n;
	double mean, deviation;
	uint32_t first[REPEAT_SAMPLES]; /* of the first numbers; 0: not known */
};

/* Frames from the sample before to this one: as drawn, else of pools where no number is missing between; 0: not
 * known. */
static uint32_t
spacing_of(const struct span *span, size_t i)
{
	const struct audit_sample *s = &span->numbered[i], *before = i > 0 ? s - 1 : NULL;
	uint64_t step = s->period;

	if (step == 0 && before && before->pool != AUDIT_UNKNOWN && s->pool != AUDIT_UNKNOWN &&
	    ahead_of(s->sequence, before->sequence) == 1 && s->pool > before->pool)
		step = s->pool - before->pool;
	return step < UINT32_MAX ? (uint32_t)step : 0;
}

/* Returns false if too few are known. */
static bool
find_spacings(const struct span *span, struct spacings *d)
{
	double sum = 0, sum2 = 0;

	for (size_t i = 0; i < span->n; i++) {
		uint32_t step = spacing_of(span, i), at = span->numbered[i].sequence - span->numbered[0].sequence;

		if (step > 0)
			d->items[d->n++] = step;
		if (at < REPEAT_SAMPLES)
			d->first[at] = step;
	}
	for (size_t i = 0; i < d->n; i++) {
		sum += d->items[i];
		sum2 += (double)d->items[i] * d->items[i];
	}
	if (d->n < SPACINGS_MIN || 2 * d->n < span->n / 4)
		return false;
	d->mean = sum / (double)d->n;
	d->deviation = sqrt(fmax(0, sum2 / (double)d->n - d->mean * d->mean));
	return true;
}

/* Whether spacings repeat after a fixed number of samples. Pairs that share no spacing match independently, each
 * with the probability that two random ones do; this is estimated, which can only raise it. Bonferroni over lags.
 * Returns the lag, 0: none. */
static size_t
find_repetition(const struct spacings *d, const uint32_t *sorted, double error)
{
	double match = 0;

	for (size_t i = 0, k; i < d->n; i = k) {
		for (k = i + 1; k < d->n && sorted[k] == sorted[i]; k++)
			;
		match += (double)(k - i) / (double)d->n * ((double)(k - i) / (double)d->n);
	}
	for (size_t lag = 1; lag <= LAGS_MAX; lag++) {
		double pairs = 0, same = 0;

		for (size_t at = 0; at + 2 * lag <= REPEAT_SAMPLES; at += 2 * lag)
			for (size_t i = at; i < at + lag; i++)
				if (d->first[i] > 0 && d->first[i + lag] > 0) {
					pairs++;
					same += d->first[i] == d->first[i + lag];
				}
		if (pairs >= SPACINGS_MIN && same > pairs / 2 && match < 0.5 && binomial_upper_tail(same, pairs, match) < error / LAGS_MAX)
			return lag;
	}
	return 0;
}

static double
geometric_up_to(double x, double mean)
{
	return x < 1 ? 0 : mean <= 1 ? 1 : -expm1(floor(x) * log1p(-1 / mean));
}

static double
uniform_up_to(double x, double mean)
{
	return x < 1 ? 0 : fmin(1, floor(x) / fmax(1, 2 * mean - 1));
}

/* Whether spacings can be of a distribution: the bound of Dvoretzky, Kiefer and Wolfowitz with the constant of
 * Massart (Annals of Probability 18 (1990) 1269) holds for any distribution and any n; that the mean is estimated
 * only makes both more alike. */
static bool
can_be(const uint32_t *sorted, size_t n, double mean, double (*up_to)(double, double), double error)
{
	double most = 0;

	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && sorted[k] == sorted[i]; k++)
			;
		most = fmax(most, fabs((double)k / (double)n - up_to(sorted[i], mean)));
		most = fmax(most, fabs((double)i / (double)n - up_to(sorted[i] - 1.0, mean)));
	}
	return most <= sqrt(log(2 / error) / (2 * (double)n));
}

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void
classify_spacings(const struct spacings *d, const uint32_t *sorted, double error, struct audit_result *r)
{
	size_t lag;

	if (d->mean < 1.5) {
		r->spacing = AUDIT_GEOMETRIC; /* nearly each frame: there is nothing to be in step with */
	} else if (sorted[0] == sorted[d->n - 1]) {
		r->spacing = AUDIT_EVERY_NTH;
		r->spacing_of = d->mean;
	} else if ((lag = find_repetition(d, sorted, error)) > 0) {
		r->spacing = AUDIT_REPEATING;
		r->spacing_of = (double)lag;
	} else if (can_be(sorted, d->n, d->mean, geometric_up_to, error)) {
		r->spacing = AUDIT_GEOMETRIC;
	} else if (can_be(sorted, d->n, d->mean, uniform_up_to, error)) {
		r->spacing = AUDIT_UNIFORM;
	} else if (d->deviation < NEARLY_CONSTANT * d->mean) {
		r->spacing = AUDIT_EVERY_NTH;
		r->spacing_of = d->mean;
	} else {
		r->spacing = AUDIT_IRREGULAR;
	}
	if (r->spacing == AUDIT_EVERY_NTH || r->spacing == AUDIT_REPEATING)
		r->faults |= AUDIT_IN_STEP;
}

static int
judge_spacing(const struct span *span, struct audit_result *r)
{
	struct spacings *d = calloc(1, sizeof(*d));
	uint32_t *items = calloc(2 * span->n + 1, sizeof(*items)), *sorted;
	int err = d && items ? 0 : -ENOMEM;

	if (err == 0) {
		d->items = items;
		sorted = items + span->n;
		if (find_spacings(span, d)) {
			memcpy(sorted, items, d->n * sizeof(*sorted));
			qsort(sorted, d->n, sizeof(*sorted), by_number);
			classify_spacings(d, sorted, span->in->error, r);
		}
	}
	free(items);
	free(d);
	return err;
}

/* P(X <= x) of chi-square with k degrees of freedom is that of a gamma distribution; bounded from above by Chernoff:
 * (z e^(1 - z))^(k/2) with z = x/k (Dasgupta and Gupta, Random Structures & Algorithms 22 (2003) 60). */
static double
chi_square_lower_bound(double x, double k)
{
	double z = x / k;

	return z >= 1 ? 1 : exp(k / 2 * (log(z > 0 ? z : 1e-300) + 1 - z));
}

/* Where nothing tells single spacings: numbers of samples between counters scatter as a random choice does, a third of
 * that where skips are drawn evenly from 1 to twice the mean (a renewal process: variance over the mean's square; Cox,
 * Renewal Theory, 1962), or not at all, as every Nth frame does. Only less than that third is too regular. Fisher's index of dispersion (Statistical Methods for Research Workers, 1925). */
#define UNIFORM_PART 3

static bool
is_too_regular(const struct span *span, const struct audit_result *r)
{
	size_t n = span->n_counters - 1, used = 0;
	double least = INFINITY;

	for (size_t a = 0; a < AGES; a++) {
		double per_frame = between_counters(span, 0, n, ages_s[a]).taken / r->counted, sum = 0;

		used = 0;
		for (size_t i = 0; i < n && per_frame > 0; i++) {
			double expected = per_frame * frames_between(span, r, i, i + 1);
			double off = between_counters(span, i, i + 1, ages_s[a]).taken - expected;

			if (expected < 5)
				continue;
			sum += off * off / expected;
			used++;
		}
		if (per_frame > 0)
			least = fmin(least, sum);
	}
	return used >= 3 && chi_square_lower_bound(UNIFORM_PART * least, (double)used - 1) < span->in->error / AGES;
}

/* ---- the pool ---- */

/* The pool of the last sample of so many; NAN where there is none. */
static double
pool_until(const struct span *span, size_t n)
{
	return n > 0 && span->samples[n - 1].pool != AUDIT_UNKNOWN ? (double)span->samples[n - 1].pool : NAN;
}

static void
compare_pool(const struct span *span, struct audit_result *r)
{
	double own = sum_directions(r, span->counters[0].pool, span->counters[span->n_counters - 1].pool);
	double tolerance = POOL_PART * r->counted;
	struct rise pool = {own, own, own};

	if (isnan(own)) {
		pool = rise_over_all(span, pool_until, true);
		tolerance += POOL_PERIODS * fmax(r->mean, r->effective.estimate);
	}
	if (isnan(pool.now) || !(r->counted > 0))
		return;
	r->pool_of_counted = pool.now / r->counted;
	r->pool = AUDIT_POOL_COUNTED;
	if (r->counted < pool.least - tolerance || r->counted > pool.most + tolerance) {
		r->pool = AUDIT_POOL_DIFFERS;
		r->faults |= AUDIT_FILTERED;
	}
}

static void
judge_pool(const struct span *span, struct audit_result *r)
{
	size_t unknown = 0;

	for (size_t i = 0; i < span->n; i++)
		unknown += span->samples[i].pool == AUDIT_UNKNOWN;
	if (2 * unknown <= span->n) {
		r->pool = AUDIT_POOL_COUNTED;
		if (span->n_counters > 0)
			compare_pool(span, r);
	} else if (span->in->has_pool && span->n >= AUDIT_ENOUGH_SAMPLES) {
		r->pool = AUDIT_POOL_COMPUTED;
		r->faults |= AUDIT_POOL_NOT_COUNTED;
	}
}

/* A pool that rises by the rate may be a count of every Nth frame. */
static void
judge_regularity(const struct span *span, struct audit_result *r)
{
	if (r->spacing != AUDIT_SPACING_UNKNOWN || !(r->counted > 0) || r->against_pool ||
	    r->taken < AUDIT_ENOUGH_SAMPLES || !is_too_regular(span, r))
		return;
	r->spacing = AUDIT_EVERY_NTH;
	r->spacing_of = r->effective.estimate;
	r->faults |= AUDIT_IN_STEP;
	if (r->pool == AUDIT_POOL_COMPUTED) { /* then samples times the rate are a count */
		r->pool = AUDIT_POOL_COUNTED;
		r->faults &= ~(unsigned)AUDIT_POOL_NOT_COUNTED;
	}
}

/* ---- the clock ---- */

/* Least of the times that counters took from the sender's clock to ours: delays only add, so it is the offset of both
 * clocks and the shortest way (the clock filter of RFC 5905, section 10). */
static double
least_delay_s(const struct audit_counters *c, size_t n)
{
	double least = INFINITY;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, ((double)c[i].received_us - (double)c[i].time_us) / 1e6);
	return least;
}

static void
judge_clock(const struct audit_input *in, struct audit_result *r)
{
	const struct audit_counters *c = in->counters;
	size_t n = in->n_counters, third = n / 3;
	double seconds, change;

	if (!in->has_clock || n < 3)
		return;
	r->clock_s = -in->clock_off_s - least_delay_s(c, n);
	if (fabs(r->clock_s) > CLOCK_OFF_S)
		r->faults |= AUDIT_CLOCK_OFF;
	if (third < 2 || in->clock_off_s != 0)
		return;
	seconds = ((double)c[n - third].time_us - (double)c[0].time_us) / 1e6;
	change = least_delay_s(c, third) - least_delay_s(c + n - third, third);
	r->drift = seconds > 0 ? change / seconds : 0;
	if (fabs(change) > CLOCK_DRIFT_S && fabs(r->drift) > CLOCK_DRIFT)
		r->faults |= AUDIT_CLOCK_DRIFTS;
}

/* ---- all of it ---- */

/* Without counters the pool stands for them, between the first and the last sample that have one. */
static void
judge_by_pool(const struct span *span, struct audit_result *r)
{
	const struct audit_sample *first = span->samples, *last = span->samples + span->n - 1;

	if (first->pool == AUDIT_UNKNOWN || last->pool == AUDIT_UNKNOWN || last->pool <= first->pool ||
	    (r->directions[AUDIT_IN] && r->directions[AUDIT_OUT] && first->period > 0))
		return; /* there is none, or EASE has one for each direction */
	r->against_pool = true;
	judge_proportion(span, r, r->taken - 1, r->taken - 1, r->taken - 1, (double)(last->pool - first->pool));
}

static int
judge_by_counters(const struct span *span, struct audit_result *r)
{
	int err;

	r->from_us = span->counters[0].time_us;
	r->to_us = span->counters[span->n_counters - 1].time_us;
	judge_rate(span, r);
	judge_size(span, r);
	err = judge_load(span, r);
	return err;
}

/* Where an interface takes packets of several frames (GSO, TSO, GRO), its driver or kernel counts them, and the pool has
 * the frames: more of them, of as many octets, which a few samples do not tell. */
static void
judge_aggregates(struct audit_result *r)
{
	const double more = 1.05, alike = 0.1;
	double octets = r->pool_of_counted * r->octets / r->counted_octets;

	if (!(r->pool_of_counted > more) || (r->taken >= AUDIT_ENOUGH_SAMPLES && !(fabs(octets - 1) < alike)))
		return;
	r->faults &= ~(unsigned)(AUDIT_FILTERED | AUDIT_LARGE_LEFT_OUT | AUDIT_RATE_OFF | AUDIT_LESS_UNDER_LOAD |
	    AUDIT_MORE_UNDER_LOAD);
	r->faults |= AUDIT_AGGREGATED;
}

static int
judge_span(struct span *span, struct audit_result *r)
{
	const struct audit_sample *samples = span->samples;
	int err;

	sum_up(span);
	r->mean = samples[0].mean;
	r->from_us = samples[0].time_us;
	r->to_us = samples[span->n - 1].time_us;
	r->taken = span->taken[span->n];
	r->received = (double)span->n;
	if (span->in->shared_numbers)
		r->lost = 1 - span->in->arrived;
	else if (!is_thinned(span))
		r->lost = r->taken > 0 ? 1 - r->received / r->taken : 0;
	find_counters(span->in, span);
	find_directions(span, r);
	err = judge_spacing(span, r);
	if (err == 0 && span->n_counters > 0)
		err = judge_by_counters(span, r);
	else if (err == 0)
		judge_by_pool(span, r);
	if (err)
		return err;
	judge_pool(span, r);
	judge_regularity(span, r);
	judge_aggregates(r);
	return 0;
}

int
audit_judge(const struct audit_input *in, struct audit_result *r)
{
	struct span span = {.in = in};
	struct audit_sample *samples = NULL;
	size_t from;
	int err = 0;

	*r = (struct audit_result){.counted = NAN, .pool_of_counted = NAN, .octets = NAN, .stalled = in->stalled,
	    .dropped = in->dropped, .counted_octets = NAN, .clock_s = NAN, .drift = NAN};
	judge_clock(in, r);
	if (in->several && in->n_samples > 0) {
		r->several = true;
		r->mean = in->samples[0].mean;
		r->taken = r->received = (double)in->n_samples;
		return 0;
	}
	find_run(in, &from, &span.n);
	if (span.n == 0)
		return 0;
	samples = malloc(span.n * sizeof(*samples));
	span.taken = calloc(3 * (span.n + 1), sizeof(*span.taken));
	if (samples && span.taken) {
		memcpy(samples, in->samples + from, span.n * sizeof(*samples));
		qsort(samples, span.n, sizeof(*samples), audit_by_time);
		span.numbered = in->samples + from;
		span.samples = samples;
		span.octets = span.taken + span.n + 1;
		span.lengths2 = span.octets + span.n + 1;
		err = judge_span(&span, r);
	} else {
		err = -ENOMEM;
	}
	free(samples);
	free(span.taken);
	return err;
}
