/*
 * Limits at the levels that repeated looks need (--warn, alerts), and how much a source named beforehand can have sent
 * without a sample, also where notifications were lost and bridged: each is wrong no more often than it says. But upper
 * limits by octets of few samples at such levels: these samples need not show the lengths that a key's other frames
 * have. A million limits with EASE_LONG.
 */
#include "tests/collector/estimate/bars.h"
#include "tests/collector/estimate/model.h"
#include "tests/suite.h"

#include "agent/sampling/skip.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */

enum { LEVELS = 3, LIMITS = 8000, LONG_LIMITS = 1000000 };
static const double levels[LEVELS] = {1e-2, 1e-3, 1e-4};

static const struct level_case {
	const char *name;
	struct model_shape shape;
	struct model_sampling sampling;
	bool few; /* samples, of mixed lengths */
} level_cases[] = {
	{"1 port, 5 to 100 samples", {.n_ports = 1, .n_keys = 40, .zipf = 0.7, .pkts = 80000, .seed = 5}, {{100}, 0, 0, 0},
	    true},
	{"1 port, 200 to 3,000 samples", {.n_ports = 1, .n_keys = 10, .zipf = 1, .pkts = 100000, .seed = 6},
	    {{10}, 0, 0, 0}, false},
	{"48 ports, 1 in 100, 1 expected at each", {.n_ports = 48, .n_keys = 30, .pkts = 3000}, {{100}, 0, 0, 0},
	    false},
};

static const struct bars_exception exceptions[] = {
	{"48 ports, 1 in 100, 1 expected at each, level 0.0001", ESTIMATE_OCTETS, {.low = 1e-4, .high = 2e-4},
	    "48 samples of mixed lengths have a longer tail than a count"},
	{"48 ports, 1 in 100, 1 expected at each, level 0.001", ESTIMATE_OCTETS, {.low = 1e-3, .high = 1.3e-3},
	    "48 samples of mixed lengths have a longer tail than a count"},
	{"1 port, 200 to 3,000 samples, level 0.0001", ESTIMATE_OCTETS, {.low = 1e-4, .high = 1.6e-4},
	    "lengths of a known mean have a longer tail than a count"},
	{"1 port, 200 to 3,000 samples, level 0.001", ESTIMATE_OCTETS, {.low = 1e-3, .high = 1.3e-3},
	    "lengths of a known mean have a longer tail than a count"},
	{"1 port, 200 to 3,000 samples, level 0.01", ESTIMATE_OCTETS, {.low = 1e-2, .high = 1.1e-2},
	    "lengths of a known mean have a longer tail than a count"},
	{NULL, 0, {0, 0, 0, 0}, NULL},
};

static void
judge_levels(const struct model *model, uint64_t seed, struct bars_tally tally[ESTIMATE_N_UNITS][LEVELS])
{
	struct model_run run;

	model_sample(model, seed, &run);
	for (size_t k = 0; k < model->n_keys; k++)
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			for (int l = 0; l < LEVELS; l++) {
				const struct estimate_claim claim = {levels[l], levels[l], false};
				struct estimate_figure f = estimate_key_figure(run.range, &run.keys[k],
				    (enum estimate_unit)u, &claim);

				bars_judge(&tally[u][l], &f, model_truth(model, &run, k, (enum estimate_unit)u));
			}
	model_run_free(&run);
}

START_TEST(limits_are_wrong_as_seldom_as_they_say)
{
	const struct level_case *c = &level_cases[_i];
	struct bars_tally tally[ESTIMATE_N_UNITS][LEVELS] = {{{0, 0, 0}}};
	unsigned long enough = getenv("EASE_LONG") ? LONG_LIMITS : LIMITS;
	struct model model;
	bool good = true;
	char name[128];

	model_make(&model, &c->shape, &c->sampling);
	for (uint64_t seed = 1; tally[0][0].trials < enough && (!suite_is_slow() || seed < 3); seed++)
		judge_levels(&model, seed, tally);
	for (int u = 0; u < ESTIMATE_N_UNITS && !suite_is_slow(); u++)
		for (int l = 0; l < LEVELS; l++) {
			const struct bar bar = {.low = levels[l],
			    .high = c->few && u == ESTIMATE_OCTETS ? 0 : levels[l]};

			snprintf(name, sizeof(name), "%s, level %g", c->name, levels[l]);
			good &= bars_check(name, (enum estimate_unit)u, &tally[u][l], &bar, exceptions);
		}
	ck_assert_msg(good, "%s: beyond what must hold", c->name);
	model_free(&model);
}
END_TEST

/* ---- a source without a sample ---- */

enum { FRAMES = 60000, SKIP = 20, RUNS = 60, LONG_RUNS = 4000, TRIES = 20 };

/* Notifications of so many samples each are lost with this probability, never two in a row: those are bridged. */
static const struct hidden_case {
	const char *name;
	int together;
	double lost;
	bool burst; /* the source's frames come in a row; else anywhere */
} hidden_cases[] = {
	{"a source, no loss", 5, 0, true},
	{"a source's burst, 0.4 % lost, 5 together", 5, 0.004, true},
	{"a source's burst, 2 % lost, 5 together", 5, 0.02, true},
	{"a source's burst, 10 % lost, 5 together", 5, 0.1, true},
	{"a source's burst, 30 % lost, 5 together", 5, 0.3, true},
	{"a source's burst, 45 % lost, 5 together", 5, 0.45, true},
	{"a source's burst, 2 % lost, 45 together", 45, 0.02, true},
	{"a source's burst, 10 % lost, 45 together", 45, 0.1, true},
	{"a source's burst, 30 % lost, 45 together", 45, 0.3, true},
	{"a source anywhere, 30 % lost, 5 together", 5, 0.3, false},
	{"a source anywhere, 30 % lost, 45 together", 45, 0.3, false},
};

struct hidden_run {
	struct skip_stream stream;
	bool seen[FRAMES]; /* its sample arrived */
	struct estimate_stratum stratum;
};

static double
uniform(struct skip_stream *stream)
{
	return (double)(skip_stream_next(stream) >> 11) * 0x1p-53;
}

static void
add_notification(struct hidden_run *run, const uint32_t *frames, int n)
{
	struct estimate_sums *all = &run->stratum.all;

	for (int i = 0; i < n; i++) {
		run->seen[frames[i]] = true;
		estimate_add_sample(all, SKIP, 64);
	}
	all->any.pkts += (double)SKIP * SKIP * n * (n - 1);
	all->any.octets += (double)SKIP * SKIP * 64 * 64 * n * (n - 1);
}

/* Losing with q / (1 - q) after one that arrived makes q of all. */
static void
sample_hidden(const struct hidden_case *c, struct hidden_run *run)
{
	uint32_t frames[64];
	int n = 0, given_out = 0;
	bool lost = false;

	memset(run->seen, 0, sizeof(run->seen));
	run->stratum = (struct estimate_stratum){.pool_pkts = FRAMES, .pool_octets = 64.0 * FRAMES, .w_max = SKIP};
	for (uint32_t f = 0; f < FRAMES; f++) {
		if (uniform(&run->stream) * SKIP >= 1)
			continue;
		frames[n++] = f;
		given_out++;
		if (n < c->together)
			continue;
		lost = !lost && uniform(&run->stream) < c->lost / (1 - c->lost);
		if (!lost)
			add_notification(run, frames, n);
		n = 0;
	}
	add_notification(run, frames, n);
	run->stratum.lost = 1 - (double)run->stratum.all.n / given_out;
}

static bool
is_missed(const struct hidden_case *c, struct hidden_run *run, double pkts)
{
	uint32_t n = (uint32_t)pkts + 1, first = (uint32_t)(uniform(&run->stream) * (FRAMES - n));

	for (uint32_t i = 0; i < n; i++)
		if (run->seen[c->burst ? first + i : (uint32_t)(uniform(&run->stream) * FRAMES)])
			return false;
	return true;
}

START_TEST(a_source_without_a_sample_sent_no_more)
{
	static const struct bar bar = {.least = 0.95};
	const struct hidden_case *c = &hidden_cases[_i];
	int runs = suite_effort_at_most(getenv("EASE_LONG") ? LONG_RUNS : RUNS);
	struct bars_tally tally = {0, 0, 0};
	static struct hidden_run run;

	skip_stream_seed(&run.stream, 3);
	for (int r = 0; r < runs; r++) {
		struct estimate_range *range;
		double pkts;

		sample_hidden(c, &run);
		ck_assert_int_eq(estimate_range_create(&run.stratum, 1, &range), 0);
		ck_assert_int_eq(estimate_given_unseen_pkts(range, 0.05, &pkts), 0);
		estimate_range_destroy(range);
		for (int i = 0; i < TRIES; i++)
			bars_count(&tally, is_missed(c, &run, pkts));
	}
	if (!suite_is_slow())
		ck_assert(bars_check(c->name, ESTIMATE_PKTS, &tally, &bar, NULL));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("levels");
	TCase *tc = tcase_create("levels");

	tcase_set_timeout(tc, 900);
	tcase_add_loop_test(tc, limits_are_wrong_as_seldom_as_they_say, 0,
	    (int)(sizeof(level_cases) / sizeof(*level_cases)));
	tcase_add_loop_test(tc, a_source_without_a_sample_sent_no_more, 0,
	    (int)(sizeof(hidden_cases) / sizeof(*hidden_cases)));
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
