#include "tests/collector/estimate/coverage.h"

#include "agent/sampling/skip.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SKIP = (1 << 20) - 1 }; /* the chip's 20-bit register */

static const double expected_samples_min = 10, traffic_share_max = 0.5;

struct trial_key {
	uint32_t key; /* in the traffic */
	bool counts[COVERAGE_N_UNITS];
	double truth[COVERAGE_N_UNITS];
	double covered[COVERAGE_N_UNITS]; /* of it, in this run */
	double variance[COVERAGE_N_UNITS]; /* of the estimate, by theory from the population */
	struct estimate_sums sums;
};

/* What theory needs of a set of frames, of which each is taken with its own probability 1/m. */
struct population {
	double expected_samples;
	double noise[COVERAGE_N_UNITS]; /* sum of (m-1) y^2; y is 1 or the frame's octets */
};

struct coverage_run {
	const struct coverage_traffic *traffic;
	const struct coverage_options *options;
	double loss; /* part of all samples that does not arrive */
	double total[COVERAGE_N_UNITS];
	struct population all;
	struct trial_key *keys;		  /* those that are in any trial */
	size_t n_keys;
	uint32_t *trial_of_key; /* by key: index into keys, or COVERAGE_NO_KEY */
	struct estimate_stratum stratum;
	double error2_sum[COVERAGE_N_UNITS];

	/* through tests/collector/estimate/transit.h */
	uint64_t *octets_before;
	struct transit_sample *samples;
	size_t n_samples, samples_room;
	struct coverage_accounts accounts; /* loss_reported, loss_true: sums while running */
};

static uint32_t
mean_skip_at(const struct coverage_run *run, size_t frame)
{
	const struct coverage_options *o = run->options;
	uint64_t step = (uint64_t)frame * COVERAGE_RATE_STEPS / run->traffic->n_frames;

	return o->rate_change && step % 2 ? COVERAGE_RATE_FACTOR * o->mean_skip : o->mean_skip;
}

static void
add_frame(struct population *p, double m, double octets)
{
	p->expected_samples += 1 / m;
	p->noise[ESTIMATE_PKTS] += m - 1;
	p->noise[ESTIMATE_OCTETS] += (m - 1) * octets * octets;
}

static void
count_totals(struct coverage_run *run, struct population *by_key)
{
	const struct coverage_traffic *traffic = run->traffic;

	for (size_t i = 0; i < traffic->n_frames; i++) {
		double m = mean_skip_at(run, i) / (1 - run->loss);

		run->total[ESTIMATE_PKTS] += 1;
		run->total[ESTIMATE_OCTETS] += traffic->octets[i];
		run->octets_before[i + 1] = run->octets_before[i] + traffic->octets[i];
		add_frame(&run->all, m, traffic->octets[i]);
		if (traffic->key[i] != COVERAGE_NO_KEY)
			add_frame(&by_key[traffic->key[i]], m, traffic->octets[i]);
	}
}

/* Linearised variance of T R_hat when each frame is taken with its own probability 1/m:
 * sum of (m-1) ((1 or 0) - R)^2 y^2 over the population. */
static void
set_truth(const struct coverage_run *run, struct trial_key *key, int unit, double truth,
    const struct population *of_key)
{
	double share = truth / run->total[unit];

	key->truth[unit] = truth;
	key->counts[unit] = share <= traffic_share_max;
	key->variance[unit] = (1 - 2 * share) * of_key->noise[unit] +
	    share * share * run->all.noise[unit];
}

static bool
is_wanted(const struct coverage_options *o, double expected)
{
	double least = o->expected_least > 0 ? o->expected_least : expected_samples_min;

	return expected >= least && (o->expected_most <= 0 || expected < o->expected_most);
}

static void
choose_keys(struct coverage_run *run, const struct population *by_key)
{
	for (size_t k = 0; k < run->traffic->n_keys; k++) {
		const struct coverage_truth *truth = &run->traffic->truth[k];
		struct trial_key *key = &run->keys[run->n_keys];

		run->trial_of_key[k] = COVERAGE_NO_KEY;
		if (!is_wanted(run->options, by_key[k].expected_samples))
			continue;
		key->key = (uint32_t)k;
		set_truth(run, key, ESTIMATE_PKTS, (double)truth->pkts, &by_key[k]);
		set_truth(run, key, ESTIMATE_OCTETS, (double)truth->octets, &by_key[k]);
		if (key->counts[ESTIMATE_PKTS] || key->counts[ESTIMATE_OCTETS])
			run->trial_of_key[k] = (uint32_t)run->n_keys++;
	}
}

/* Straight to the estimator. */
static void
take_sample(struct coverage_run *run, const struct transit_sample *sample)
{
	double w = sample->mean_skip, b = run->traffic->octets[sample->frame];
	uint32_t key = run->traffic->key[sample->frame];

	estimate_add_sample(&run->stratum.all, w, b);
	run->stratum.w_max = fmax(run->stratum.w_max, w);
	if (key != COVERAGE_NO_KEY && run->trial_of_key[key] != COVERAGE_NO_KEY)
		estimate_add_sample(&run->keys[run->trial_of_key[key]].sums, w, b);
}

static int
keep_sample(struct coverage_run *run, const struct transit_sample *sample)
{
	if (run->n_samples == run->samples_room) {
		size_t room = run->samples_room ? 2 * run->samples_room : 1024;
		struct transit_sample *samples = realloc(run->samples, room * sizeof(*samples));

		if (!samples)
			return -ENOMEM;
		run->samples = samples;
		run->samples_room = room;
	}
	run->samples[run->n_samples++] = *sample;
	return 0;
}

static bool
is_lost(struct skip_stream *stream, double loss)
{
	return loss > 0 && (double)(skip_stream_next(stream) >> 11) * 0x1p-53 < loss;
}

static int
sample_all(struct coverage_run *run, uint64_t seed)
{
	const struct coverage_options *o = run->options;
	struct skip_stream stream, fate;
	size_t next = 0; /* frame that the running skip count ends at */
	int err = 0;

	skip_stream_seed(&stream, seed);
	skip_stream_seed(&fate, ~seed);
	for (; err == 0 && next < run->traffic->n_frames; next++) {
		struct transit_sample sample = {.mean_skip = mean_skip_at(run, next)};
		bool partial;

		sample.skip = skip_draw(&stream, o->draw, sample.mean_skip, MAX_SKIP, &partial);
		next += sample.skip;
		sample.frame = (uint32_t)next;
		if (next >= run->traffic->n_frames || partial)
			continue;
		if (o->impairment)
			err = keep_sample(run, &sample);
		else if (!is_lost(&fate, o->loss))
			take_sample(run, &sample);
	}
	return err;
}

static void
raise_to(double *value, double least)
{
	if (least > *value)
		*value = least;
}

static void
add_accounts(struct coverage_run *run, const struct transit_result *result)
{
	struct coverage_accounts *a = &run->accounts;
	const struct estimate_stratum *whole = &result->books.whole;

	a->loss_reported += result->loss_reported;
	a->loss_true += result->loss_true;
	raise_to(&a->loss_error, fabs(result->loss_reported - result->loss_true));
	raise_to(&a->total_error[ESTIMATE_PKTS],
	    fabs(whole->pool_pkts + result->books.cut[ESTIMATE_PKTS] - run->total[ESTIMATE_PKTS]));
	raise_to(&a->total_error[ESTIMATE_OCTETS],
	    fabs(whole->pool_octets + result->books.cut[ESTIMATE_OCTETS] - run->total[ESTIMATE_OCTETS]));
	a->cut += result->books.cut[ESTIMATE_PKTS] / run->total[ESTIMATE_PKTS];
}

/* What keys sent while samples arrived. In disorder it is nearly that: a gap is judged by what came before. */
static void
set_covered(struct coverage_run *run, const struct transit_result *result)
{
	const struct transit_impairment *how = run->options->impairment;
	bool is_exact = how->reorder <= 0 && how->duplicate <= 0 && how->copies <= 1;
	double covered[COVERAGE_N_UNITS] = {0, 0};

	if (result->books.cut_numbers == 0)
		return;
	for (size_t k = 0; k < run->n_keys; k++)
		memset(run->keys[k].covered, 0, sizeof(run->keys[k].covered));
	for (size_t i = 0; i < run->traffic->n_frames; i++) {
		const double y[COVERAGE_N_UNITS] = {result->covered[i], result->covered[i] * run->traffic->octets[i]};
		uint32_t key = run->traffic->key[i];
		uint32_t trial = key == COVERAGE_NO_KEY ? COVERAGE_NO_KEY : run->trial_of_key[key];

		for (int unit = 0; unit < COVERAGE_N_UNITS; unit++) {
			covered[unit] += y[unit];
			if (trial != COVERAGE_NO_KEY)
				run->keys[trial].covered[unit] += y[unit];
		}
	}
	for (int unit = 0; is_exact && unit < COVERAGE_N_UNITS; unit++)
		raise_to(&run->accounts.cut_error[unit],
		    fabs(run->total[unit] - covered[unit] - result->books.cut[unit]) / run->total[unit]);
}

/* All kept samples through notifications and the collector's books to the sums. */
static int
travel(struct coverage_run *run, uint64_t seed)
{
	const struct coverage_traffic *traffic = run->traffic;
	struct transit_traffic t = {traffic->n_frames, traffic->octets, run->octets_before,
	    traffic->key, (uint32_t)traffic->n_keys};
	struct transit_result result;
	int err = transit_run(&t, run->samples, run->n_samples, run->options->impairment, ~seed,
	    &result);

	if (err)
		return err;
	run->stratum = result.books.whole;
	for (size_t k = 0; k < run->n_keys; k++)
		run->keys[k].sums = result.books.keys[run->keys[k].key];
	add_accounts(run, &result);
	set_covered(run, &result);
	if (result.books.refused > 0)
		err = -EBADMSG;
	transit_free(&result);
	return err;
}

/* By how much less an estimate of covered traffic varies than theory says of all traffic: there are less frames,
 * and of these a larger part arrived. */
static double
covered_variance(const struct coverage_run *run, int unit)
{
	double pool = unit == ESTIMATE_PKTS ? run->stratum.pool_pkts : run->stratum.pool_octets;
	double part = pool / run->total[unit];

	if (!run->options->impairment || run->stratum.all.n == 0)
		return 1;
	return part * part * run->all.expected_samples / (double)run->stratum.all.n;
}

static void
judge(struct coverage_run *run, const struct estimate_range *range, struct trial_key *key,
    struct coverage_result *results)
{
	struct estimate_key of_range;

	estimate_key_begin(&of_range);
	estimate_key_add(range, &of_range, 0, &key->sums);
	estimate_key_end(range, &of_range);
	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++) {
		struct estimate_figure f;
		double error;

		if (!key->counts[unit])
			continue;
		f = estimate_key_figure(range, &of_range, (enum estimate_unit)unit, &estimate_claim_95);
		error = f.estimate - key->covered[unit];
		results[unit].trials++;
		results[unit].below += key->covered[unit] < f.low;
		results[unit].above += key->covered[unit] > f.high;
		results[unit].whole_below += key->truth[unit] < f.low;
		run->error2_sum[unit] += key->variance[unit] > 0
		    ? error * error / (key->variance[unit] * covered_variance(run, unit)) : 1;
	}
}

static int
run_once(struct coverage_run *run, uint64_t seed, struct coverage_result *results)
{
	struct estimate_range *range = NULL;
	int err;

	run->stratum = (struct estimate_stratum){
		.pool_pkts = run->total[ESTIMATE_PKTS],
		.pool_octets = run->total[ESTIMATE_OCTETS],
	};
	run->n_samples = 0;
	for (size_t k = 0; k < run->n_keys; k++) {
		run->keys[k].sums = (struct estimate_sums){0};
		memcpy(run->keys[k].covered, run->keys[k].truth, sizeof(run->keys[k].covered));
	}
	err = sample_all(run, seed);
	if (err == 0 && run->options->impairment)
		err = travel(run, seed);
	if (err == 0)
		err = estimate_range_create(&run->stratum, 1, &range);
	for (size_t k = 0; err == 0 && k < run->n_keys; k++)
		judge(run, range, &run->keys[k], results);
	estimate_range_destroy(range);
	return err;
}

static int
run_all(struct coverage_run *run, struct coverage_result results[COVERAGE_N_UNITS])
{
	uint32_t runs = run->n_keys > 0 ? run->options->runs : 0;
	int err = 0;

	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++)
		results[unit] = (struct coverage_result){0};
	for (uint32_t i = 0; err == 0 && i < runs; i++)
		err = run_once(run, run->options->seed + i, results);
	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++)
		if (results[unit].trials > 0)
			results[unit].rms_ratio =
			    sqrt(run->error2_sum[unit] / (double)results[unit].trials);
	if (runs > 0) {
		run->accounts.loss_reported /= runs;
		run->accounts.loss_true /= runs;
		run->accounts.cut /= runs;
	}
	return err;
}

int
coverage_measure(const struct coverage_traffic *traffic, const struct coverage_options *options,
    struct coverage_result results[COVERAGE_N_UNITS], struct coverage_accounts *accounts)
{
	struct coverage_run run = {.traffic = traffic, .options = options,
	    .loss = options->impairment ? transit_loss(options->impairment) : options->loss};
	struct population *by_key = calloc(traffic->n_keys + 1, sizeof(*by_key));
	int err = -ENOMEM;

	run.keys = calloc(traffic->n_keys + 1, sizeof(*run.keys));
	run.trial_of_key = calloc(traffic->n_keys + 1, sizeof(*run.trial_of_key));
	run.octets_before = calloc(traffic->n_frames + 1, sizeof(*run.octets_before));
	if (by_key && run.keys && run.trial_of_key && run.octets_before) {
		count_totals(&run, by_key);
		choose_keys(&run, by_key);
		err = run_all(&run, results);
	}
	if (accounts)
		*accounts = run.accounts;
	free(by_key);
	free(run.keys);
	free(run.trial_of_key);
	free(run.octets_before);
	free(run.samples);
	return err;
}

/* ---- periodic traffic ---- */

/* Indexes of the frames by rising key, those without one last. */
static uint32_t *
sort_by_key(const struct coverage_traffic *traffic)
{
	uint32_t *sorted = calloc(traffic->n_frames + 1, sizeof(*sorted));
	uint32_t *next = calloc(traffic->n_keys + 2, sizeof(*next)); /* place, by key + 1 */

	for (size_t i = 0; sorted && next && i < traffic->n_frames; i++)
		if (traffic->key[i] != COVERAGE_NO_KEY)
			next[traffic->key[i] + 1]++;
	for (size_t k = 1; next && k <= traffic->n_keys; k++)
		next[k] += next[k - 1];
	for (size_t i = 0; sorted && next && i < traffic->n_frames; i++) {
		bool has_key = traffic->key[i] != COVERAGE_NO_KEY;

		sorted[next[has_key ? traffic->key[i] : traffic->n_keys]++] = (uint32_t)i;
	}
	free(next);
	return sorted;
}

int
coverage_make_periodic(const struct coverage_traffic *traffic, uint32_t mean_skip,
    uint32_t *octets, uint32_t *key)
{
	enum { PERIODS = 4 };
	const double periods[PERIODS] = {1, 1 / 2.0, 1 / 3.0, 25};
	uint32_t *sorted = sort_by_key(traffic);
	size_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t quarter = 0; quarter < PERIODS; quarter++) {
		size_t frames = (traffic->n_frames + PERIODS - 1 - quarter) / PERIODS;
		size_t period = (size_t)fmax(1, round(periods[quarter] * mean_skip));
		size_t turns = (frames + period - 1) / period;

		/* place p of each turn takes from its own stretch of the sorted frames */
		for (size_t i = 0; i < turns * period; i++) {
			size_t from = i % period * turns + i / period;

			if (from >= frames)
				continue;
			octets[n] = traffic->octets[sorted[PERIODS * from + quarter]];
			key[n++] = traffic->key[sorted[PERIODS * from + quarter]];
		}
	}
	free(sorted);
	return 0;
}

double
coverage_held(const struct coverage_result *result)
{
	return 1 - (double)(result->below + result->above) / (double)result->trials;
}
