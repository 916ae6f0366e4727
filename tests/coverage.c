#include "tests/coverage.h"

#include "agent/sampling/skip.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_SKIP = (1 << 20) - 1 }; /* the chip's 20-bit register */

static const double expected_samples_min = 10, traffic_share_max = 0.5;

struct trial_key {
	bool counts[COVERAGE_N_UNITS];
	double truth[COVERAGE_N_UNITS];
	double variance[COVERAGE_N_UNITS]; /* of the estimate, by theory from the population */
	struct estimate_sums sums;
};

struct coverage_run {
	const struct coverage_traffic *traffic;
	const struct coverage_options *options;
	double total[COVERAGE_N_UNITS];
	double squares[COVERAGE_N_UNITS]; /* sum of y^2 over all frames */
	struct trial_key *keys;		  /* those that are in any trial */
	size_t n_keys;
	uint32_t *trial_of_key; /* by key: index into keys, or COVERAGE_NO_KEY */
	struct estimate_stratum stratum;
	double error2_sum[COVERAGE_N_UNITS];
};

static void
count_totals(struct coverage_run *run, double *key_squares)
{
	const struct coverage_traffic *traffic = run->traffic;

	for (size_t i = 0; i < traffic->n_frames; i++) {
		double b = traffic->octets[i];

		run->total[ESTIMATE_PKTS] += 1;
		run->total[ESTIMATE_OCTETS] += b;
		run->squares[ESTIMATE_PKTS] += 1;
		run->squares[ESTIMATE_OCTETS] += b * b;
		if (traffic->key[i] != COVERAGE_NO_KEY)
			key_squares[traffic->key[i]] += b * b;
	}
}

/* Linearised variance of T R_hat when each frame is taken with probability 1/m:
 * (m-1) sum of ((1 or 0) - R)^2 y^2 over the population. */
static void
set_truth(const struct coverage_run *run, struct trial_key *key, int unit, double truth,
    double key_squares)
{
	double m = run->options->mean_skip / (1 - run->options->loss);
	double share = truth / run->total[unit];

	key->truth[unit] = truth;
	key->counts[unit] = share <= traffic_share_max;
	key->variance[unit] = (m - 1) *
	    ((1 - 2 * share) * key_squares + share * share * run->squares[unit]);
}

static void
choose_keys(struct coverage_run *run, const double *key_squares)
{
	double m = run->options->mean_skip / (1 - run->options->loss);

	for (size_t k = 0; k < run->traffic->n_keys; k++) {
		const struct coverage_truth *truth = &run->traffic->truth[k];
		struct trial_key *key = &run->keys[run->n_keys];

		run->trial_of_key[k] = COVERAGE_NO_KEY;
		if ((double)truth->pkts / m < expected_samples_min)
			continue;
		set_truth(run, key, ESTIMATE_PKTS, (double)truth->pkts, (double)truth->pkts);
		set_truth(run, key, ESTIMATE_OCTETS, (double)truth->octets, key_squares[k]);
		if (key->counts[ESTIMATE_PKTS] || key->counts[ESTIMATE_OCTETS])
			run->trial_of_key[k] = (uint32_t)run->n_keys++;
	}
}

static void
take_sample(struct coverage_run *run, size_t frame)
{
	double w = run->options->mean_skip, b = run->traffic->octets[frame];
	uint32_t key = run->traffic->key[frame];

	estimate_add_sample(&run->stratum.all, w, b);
	if (key != COVERAGE_NO_KEY && run->trial_of_key[key] != COVERAGE_NO_KEY)
		estimate_add_sample(&run->keys[run->trial_of_key[key]].sums, w, b);
}

static bool
is_lost(struct skip_stream *stream, double loss)
{
	return loss > 0 && (double)(skip_stream_next(stream) >> 11) * 0x1p-53 < loss;
}

static void
sample_all(struct coverage_run *run, uint64_t seed)
{
	const struct coverage_options *o = run->options;
	struct skip_stream stream, fate;
	size_t next = 0; /* frame that the running skip count ends at */

	skip_stream_seed(&stream, seed);
	skip_stream_seed(&fate, ~seed);
	for (;; next++) {
		bool partial = false;

		next += skip_draw(&stream, o->draw, o->mean_skip, MAX_SKIP, &partial);
		if (next >= run->traffic->n_frames)
			break;
		if (!partial && !is_lost(&fate, o->loss))
			take_sample(run, next);
	}
}

static void
judge(struct coverage_run *run, struct trial_key *key, struct coverage_result *results)
{
	struct estimate_part part = {&run->stratum, key->sums};

	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++) {
		struct estimate_figure f;
		double error;

		if (!key->counts[unit])
			continue;
		f = estimate_key((enum estimate_unit)unit, &part, 1);
		error = f.estimate - key->truth[unit];
		results[unit].trials++;
		results[unit].covered += f.low <= key->truth[unit] && key->truth[unit] <= f.high;
		run->error2_sum[unit] += key->variance[unit] > 0
		    ? error * error / key->variance[unit] : 1;
	}
}

static void
run_once(struct coverage_run *run, uint64_t seed, struct coverage_result *results)
{
	run->stratum = (struct estimate_stratum){
		.pool_pkts = run->total[ESTIMATE_PKTS],
		.pool_octets = run->total[ESTIMATE_OCTETS],
	};
	for (size_t k = 0; k < run->n_keys; k++)
		run->keys[k].sums = (struct estimate_sums){0};
	sample_all(run, seed);
	for (size_t k = 0; k < run->n_keys; k++)
		judge(run, &run->keys[k], results);
}

int
coverage_measure(const struct coverage_traffic *traffic, const struct coverage_options *options,
    struct coverage_result results[COVERAGE_N_UNITS])
{
	struct coverage_run run = {.traffic = traffic, .options = options};
	double *key_squares = calloc(traffic->n_keys + 1, sizeof(*key_squares));
	int err = 0;

	run.keys = calloc(traffic->n_keys + 1, sizeof(*run.keys));
	run.trial_of_key = calloc(traffic->n_keys + 1, sizeof(*run.trial_of_key));
	if (!key_squares || !run.keys || !run.trial_of_key) {
		err = -ENOMEM;
		goto out;
	}
	count_totals(&run, key_squares);
	choose_keys(&run, key_squares);
	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++)
		results[unit] = (struct coverage_result){0};
	for (uint32_t i = 0; i < options->runs && run.n_keys > 0; i++)
		run_once(&run, options->seed + i, results);
	for (int unit = 0; unit < COVERAGE_N_UNITS; unit++)
		if (results[unit].trials > 0)
			results[unit].rms_ratio =
			    sqrt(run.error2_sum[unit] / (double)results[unit].trials);
out:
	free(key_squares);
	free(run.keys);
	free(run.trial_of_key);
	return err;
}
