/*
 * The test behind alarms against what it claims: frames are sampled by the agent's own generator, and over many
 * histories the part that raises an alarm falls as exp(-h) although the key sends all that its bucket allows,
 * evenly, in bursts, with skips that move, with samples lost, and as real captures came; a flood is told after the
 * time that is promised; and a key that is above half of its rate is hardly ever called over.
 */
#include "agent/sampling/skip.h"
#include "collector/alarm/sequential.h"
#include "tests/support/captures.h"
#include "tests/suite.h"

#include <math.h>
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- traffic ---- */

enum { FRAMES = 20000 };

struct traffic {
	size_t n;
	double at_s[FRAMES]; /* of the key's frames, in order */
	double rate, burst;  /* the least bucket that they conform to, of this rate */
};

static struct traffic traffic;

/* The burst that a bucket of that rate needs. */
static void
fit_bucket(struct traffic *t, double rate)
{
	double level = 0, before = t->n > 0 ? t->at_s[0] : 0;

	t->rate = rate;
	t->burst = 0;
	for (size_t i = 0; i < t->n; i++) {
		level = fmax(0, level - rate * (t->at_s[i] - before)) + 1;
		before = t->at_s[i];
		t->burst = fmax(t->burst, level);
	}
}

/* All that a bucket of 1,000 frames a second allows: evenly, or in trains of so many frames at once. */
static void
make_trains(struct traffic *t, size_t train)
{
	t->n = FRAMES;
	for (size_t i = 0; i < FRAMES; i++)
		t->at_s[i] = (double)(i - i % train) / 1000;
	fit_bucket(t, 1000);
}

/* ---- sampling ---- */

struct sampling_of {
	const char *name;
	double skip;
	bool moves;   /* the skip in force goes from a tenth to ten times, by what was sampled before */
	double loss;  /* of samples */
};

static double
uniform(struct skip_stream *stream)
{
	return ((double)(skip_stream_next(stream) >> 11) + 0.5) * 0x1p-53;
}

/* One history: true where an alarm was raised. *tested: adds the samples. */
static bool
run_history(const struct traffic *t, const struct sampling_of *how, double h, struct skip_stream *stream,
    unsigned long *tested)
{
	struct alarm_bucket bucket = {t->rate, t->burst, h};
	double largest = how->moves ? how->skip * 10 : how->skip, skip = how->skip, last_s = 0;
	float statistic[ALARM_TILTS] = {0};
	struct alarm_steps steps;
	size_t n_samples = 0;
	bool partial;

	for (size_t i = 0; i < t->n; i++) {
		i += skip_draw(stream, SAMPLING_GEOMETRIC, (uint32_t)skip, UINT32_MAX, &partial);
		if (i >= t->n)
			return false;
		if (uniform(stream) >= how->loss) {
			++*tested;
			alarm_steps_at(&bucket, how->skip, (uint32_t)skip, largest, &steps);
			if (alarm_step(statistic, &steps, t->at_s[i] - last_s, 1))
				return true;
			last_s = t->at_s[i];
		}
		if (how->moves && ++n_samples % 7 == 0)
			skip = skip > how->skip * 5 ? how->skip / 10 : fmin(skip * 2, how->skip * 10);
	}
	return false;
}

enum { HEIGHTS = 3 };
static const double heights[HEIGHTS] = {3, 5, 7};

/* Of many histories, at each height: how many raised an alarm, and the samples that were tested. */
struct outcome {
	unsigned long histories, raised[HEIGHTS], tested[HEIGHTS];
};

static struct outcome
run_histories(const char *name, const struct traffic *t, const struct sampling_of *how, int histories,
    struct skip_stream *stream)
{
	struct outcome o = {.histories = (unsigned long)suite_effort(histories)};

	for (int i = 0; i < HEIGHTS; i++)
		for (unsigned long j = 0; j < o.histories; j++)
			o.raised[i] += run_history(t, how, heights[i], stream, &o.tested[i]);
	printf("%-32.32s %-22s of %lu histories at h = 3, 5, 7: %lu, %lu, %lu\n", name, how->name, o.histories, o.raised[0],
	    o.raised[1], o.raised[2]);
	return o;
}

/* No more than `allowed`, which many histories cannot pass by chance. */
static void
expect_at_most(const char *what, unsigned long raised, double allowed)
{
	ck_assert_msg((double)raised <= allowed + 4 * sqrt(allowed) + 1, "%s: %lu alarms, %.1f allowed", what, raised,
	    allowed);
}

/* What is stated: of n samples, by each tilt, n exp(-h). */
static void
expect_stated(const char *name, const struct outcome *o)
{
	for (int i = 0; i < HEIGHTS; i++)
		expect_at_most(name, o->raised[i], (double)o->tested[i] * alarm_risk(heights[i]));
}

static const struct sampling_of hows[] = {
    {"one in 10", 10, false, 0},
    {"one in 100", 100, false, 0},
    {"one in 100, moved", 100, true, 0},
    {"one in 100, 30 % lost", 100, false, 0.3},
};
enum { HOWS = sizeof(hows) / sizeof(hows[0]) };

/* At the boundary of the bucket, where a false alarm is likeliest; there it falls as exp(-h). */
START_TEST(what_conforms_raises_as_seldom_as_stated)
{
	static const size_t trains[] = {1, 50, 1000, 5000};
	unsigned long raised[HEIGHTS] = {0};
	struct skip_stream stream;

	skip_stream_seed(&stream, 20261123);
	for (size_t i = 0; i < sizeof(trains) / sizeof(trains[0]); i++) {
		char name[32];

		make_trains(&traffic, trains[i]);
		snprintf(name, sizeof(name), "trains of %zu", trains[i]);
		for (size_t j = 0; j < HOWS; j++) {
			struct outcome o = run_histories(name, &traffic, &hows[j], 1000, &stream);

			expect_stated(name, &o);
			for (int h = 0; h < HEIGHTS; h++)
				raised[h] += o.raised[h];
		}
	}
	ck_assert_uint_gt(raised[0], 100); /* else it could not fail */
	for (int h = 1; h < HEIGHTS; h++)
		expect_at_most("two more of height", raised[h], 1.5 * exp(-2) * (double)raised[h - 1]);
}
END_TEST

/* A test that cannot tell would be of no use: twice the rate is told always. */
START_TEST(what_does_not_conform_is_told)
{
	struct skip_stream stream;
	unsigned long tested = 0;

	skip_stream_seed(&stream, 7);
	make_trains(&traffic, 1);
	traffic.rate /= 2;
	for (int i = 0; i < 200; i++)
		ck_assert(run_history(&traffic, &hows[0], 20, &stream, &tested));
}
END_TEST

/* ---- captures ---- */

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All frames of the file as one key, as they came. False: too few. */
static bool
load_capture(struct traffic *t, const char *file)
{
	char path[1024], error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const u_char *octets;
	pcap_t *pcap;
	double first_s = -1;

	snprintf(path, sizeof(path), "%s/%s", captures_dir(), file);
	pcap = pcap_open_offline(path, error);
	ck_assert_msg(pcap != NULL, "%s: %s", path, error);
	for (t->n = 0; t->n < FRAMES && pcap_next_ex(pcap, &header, &octets) == 1; t->n++) {
		double at_s = (double)header->ts.tv_sec + (double)header->ts.tv_usec / 1e6;

		if (first_s < 0)
			first_s = at_s;
		t->at_s[t->n] = at_s - first_s;
	}
	pcap_close(pcap);
	qsort(t->at_s, t->n, sizeof(t->at_s[0]), compare_doubles);
	if (t->n < 800 || t->at_s[t->n - 1] <= 0)
		return false;
	fit_bucket(t, (double)t->n / t->at_s[t->n - 1]); /* the worst that a rule can be for this traffic */
	return true;
}

/* Less than exp(-h) a history and tilt, whatever number of samples. */
START_TEST(captures_as_they_came_raise_no_more)
{
	static const char *const files[] = {"composed-a.pcap", "bulk-transfer-206_example_c.pcap",
	    "flood-ipv6-denial6-5.pcap", "made-mac-flood.pcap", "industrial-EIP-ControlProtocolChangeAttempt.pcap",
	    "jumbo-weibo.pcap", "interactive-django-cloud.pcapng", "fragments-afs.pcap"};
	struct skip_stream stream;
	size_t n = 0;

	if (!captures_dir()) {
		captures_skip("alarms over captures");
		return;
	}
	skip_stream_seed(&stream, 99);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!load_capture(&traffic, files[i]))
			continue;
		n++;
		for (size_t j = 0; j < HOWS; j++) {
			struct outcome o = run_histories(files[i], &traffic, &hows[j], 1000, &stream);

			expect_stated(files[i], &o);
			for (int h = 0; h < HEIGHTS; h++)
				expect_at_most(files[i], o.raised[h], (double)o.histories * alarm_risk(heights[h]));
		}
	}
	ck_assert_uint_ge(n, 2);
}
END_TEST

/* ---- delay ---- */

/* Seconds from the begin of a flood to its alarm. */
static double
flood(const struct alarm_bucket *bucket, double skip, double factor, struct skip_stream *stream)
{
	float statistic[ALARM_TILTS] = {0};
	struct alarm_steps steps;
	double at_s = 0;
	bool partial;

	alarm_steps_at(bucket, skip, skip, skip, &steps);
	for (;;) {
		double gap = skip < 2 ? 1 : 1.0 + skip_draw(stream, SAMPLING_GEOMETRIC, (uint32_t)skip, UINT32_MAX, &partial);
		double elapsed_s = gap / (bucket->rate * factor);

		at_s += elapsed_s;
		if (alarm_step(statistic, &steps, elapsed_s, 1))
			return at_s;
	}
}

START_TEST(a_flood_is_told_after_the_time_that_is_promised)
{
	static const double samples_s[] = {1000, 100, 10, 1, 0.1}, factors[] = {1.5, 3, 10, 100};
	enum { FLOODS = 300, FACTORS = sizeof(factors) / sizeof(factors[0]) };
	static double delays[FLOODS];
	struct skip_stream stream;

	skip_stream_seed(&stream, 5);
	for (int i = 0; i < 5 * FACTORS; i++) {
		double skip = 1000, factor = factors[i % FACTORS], rate = samples_s[i / FACTORS] * skip;
		struct alarm_bucket bucket = {rate, rate, 27.7};
		struct alarm_delay promised = alarm_delay_of(&bucket, skip, factor);

		for (int j = 0; j < FLOODS; j++)
			delays[j] = flood(&bucket, skip, factor, &stream);
		qsort(delays, FLOODS, sizeof(delays[0]), compare_doubles);
		printf("%6.1f samples/s at the rate, flood of %5.1f x: median %9.3f s (promised %9.3f), p95 %9.3f (%9.3f)\n",
		    samples_s[i / FACTORS], factor, delays[FLOODS / 2], promised.median_s, delays[FLOODS * 95 / 100],
		    promised.p95_s);
		ck_assert_double_ge(delays[FLOODS / 2], promised.median_s * 0.85);
		ck_assert_double_le(delays[FLOODS / 2], promised.median_s * 1.15);
		ck_assert_double_le(delays[FLOODS * 95 / 100], promised.p95_s * 1.2);
	}
}
END_TEST

START_TEST(a_flood_of_ten_times_the_rate_is_told_within_a_second)
{
	const struct alarm_bucket bucket = {6000, 6000, 27.7};

	ck_assert_double_le(alarm_delay_of(&bucket, 1000, 10).p95_s, 1.0);
	ck_assert(isinf(alarm_delay_of(&bucket, 1000, 1).median_s));
}
END_TEST

/* ---- over ---- */

/* Whether a key at that part of its rate is called over within so many samples. */
static bool
goes_below(double part, double skip, int n_samples, struct skip_stream *stream)
{
	const double rate = 1000;
	double statistic = 0;

	for (int i = 0; i < n_samples; i++) {
		bool partial;
		double gap = 1.0 + skip_draw(stream, SAMPLING_GEOMETRIC, (uint32_t)skip, UINT32_MAX, &partial);

		statistic = alarm_clear_step(statistic, rate, skip, gap / (rate * part));
		if (statistic >= ALARM_CLEAR_LIMIT)
			return true;
		statistic = alarm_clear_sample(statistic, skip, skip, 1);
	}
	return false;
}

START_TEST(what_is_over_is_below_half_of_the_rate)
{
	unsigned long runs = (unsigned long)suite_effort(2000), above = 0, below = 0;
	struct skip_stream stream;

	skip_stream_seed(&stream, 11);
	for (unsigned long i = 0; i < runs; i++) {
		above += goes_below(1, 100, 200, &stream);
		below += goes_below(0.1, 100, 100, &stream);
	}
	printf("called over at the rate itself: %lu of %lu; at a tenth of it: %lu\n", above, runs, below);
	ck_assert_uint_le(above, 5 + runs / 1000);
	ck_assert_uint_eq(below, runs);
}
END_TEST

START_TEST(a_stated_rate_gives_the_threshold)
{
	/* of the specification: 20,000 samples a second, a month, one false alarm, five rules */
	ck_assert_double_eq_tol(alarm_threshold(20000.0 * 86400 * 30, 5, 1), 27.7, 0.05);
	ck_assert_double_eq_tol(1e9 * 3 * alarm_risk(alarm_threshold(1e9, 3, 0.5)), 0.5, 1e-9);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sequential");
	TCase *tests = tcase_create("alarms");

	tcase_set_timeout(tests, 300);
	tcase_add_test(tests, what_conforms_raises_as_seldom_as_stated);
	tcase_add_test(tests, what_does_not_conform_is_told);
	tcase_add_test(tests, captures_as_they_came_raise_no_more);
	tcase_add_test(tests, a_flood_is_told_after_the_time_that_is_promised);
	tcase_add_test(tests, a_flood_of_ten_times_the_rate_is_told_within_a_second);
	tcase_add_test(tests, what_is_over_is_below_half_of_the_rate);
	tcase_add_test(tests, a_stated_rate_gives_the_threshold);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
