/*
 * The plausibility of what an sFlow agent states, by itself: sound agents are believed and never accused, whatever the
 * seed; each lie is refuted by what stands against it. Random skips are drawn here, apart from the agent's code.
 */
#include "collector/input/sflow_plausible.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { SEEDS = 2000, SAMPLES = 3000, RATE = 100 };

static uint64_t state;

static double
uniform(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

/* Frames up to the next sample of an agent that draws geometric skips. */
static uint32_t
skip(double rate)
{
	return 1 + (uint32_t)(log(uniform()) / log1p(-1 / rate));
}

struct told {
	uint32_t odd;
	uint32_t not_stated; /* samples whose weight is not the stated rate */
};

/* A source that states a rate and takes another one; lie may change its sample. */
static struct told
tell(double stated, double taken, void (*lie)(struct sflow_flow *f, uint32_t i))
{
	struct rate_check c = {.n_samples = 0};
	struct sflow_flow f = {.sequence = 500, .pool_pkts = 50000};
	struct told told = {0, 0};
	uint32_t rise, pool = f.pool_pkts, number = f.sequence;

	for (uint32_t i = 0; i < SAMPLES; i++) {
		bool differs;

		f.rate = (uint32_t)stated;
		f.sequence = ++number;
		f.pool_pkts = pool += skip(taken);
		if (lie)
			lie(&f, i);
		told.odd |= rate_check_sample(&c, &f, 1, &rise);
		told.not_stated += rate_check_weight(&c, &differs) != (uint32_t)stated;
	}
	return told;
}

/* 2,000 agents that are sound, each with 3,000 samples: none is accused, and none loses its stated rate by chance more
 * often than once in a million looks. */
START_TEST(test_sound_rates)
{
	unsigned odd = 0, other = 0;

	state = 1;
	for (int seed = 0; seed < SEEDS; seed++) {
		struct told told = tell(RATE, RATE, NULL);

		odd += told.odd != 0;
		other += told.not_stated > 0;
	}
	ck_assert_uint_eq(odd, 0);
	ck_assert_msg(other <= SEEDS / 500, "%u of %d", other, SEEDS);
}
END_TEST

static void
pool_lies(struct sflow_flow *f, uint32_t i)
{
	if (i == 1000)
		f->pool_pkts = (uint32_t)(uniform() * 4294967296.0);
}

static void
rate_lies(struct sflow_flow *f, uint32_t i)
{
	if (i == 1000)
		f->rate = (uint32_t)(uniform() * 4294967296.0);
}

static void
number_lies(struct sflow_flow *f, uint32_t i)
{
	if (i == 1000)
		f->sequence = (uint32_t)(uniform() * 4294967296.0);
}

static void
pool_goes_back_at_times(struct sflow_flow *f, uint32_t i)
{
	if (i >= 2500)
		f->pool_pkts -= 200000;
	else if (i >= 1000)
		f->pool_pkts -= 100000;
}

/* One lie among 3,000 samples changes what no sample but at most that one stands for. */
START_TEST(test_single_lies)
{
	static void (*const lies[])(struct sflow_flow *, uint32_t) = {
	    pool_lies, rate_lies, number_lies, pool_goes_back_at_times};
	unsigned other = 0;

	state = 2;
	for (int seed = 0; seed < SEEDS; seed++)
		other += tell(RATE, RATE, lies[_i]).not_stated > 1;
	ck_assert_msg(other <= SEEDS / 500, "%u of %d", other, SEEDS);
}
END_TEST

/* A rate that is stated wrong is found by the pool: soon if it is grossly wrong, by 2 % at least if at all. */
START_TEST(test_wrong_rates)
{
	static const struct {
		double taken;
		uint32_t from, to; /* samples that have the stated weight */
	} rates[] = {{10, 0, 64}, {1000, 0, 64}, {50, 255, 400}, {200, 255, 400}, {80, 255, 2000}, {99, 2900, SAMPLES}};

	state = 3;
	for (int seed = 0; seed < 100; seed++) {
		uint32_t stated = SAMPLES - tell(RATE, rates[_i].taken, NULL).not_stated;

		ck_assert_msg(stated >= rates[_i].from && stated <= rates[_i].to, "1 in %.0f: %u samples", rates[_i].taken,
		    stated);
	}
}
END_TEST

/* A rate that changes is believed within some samples by the pool, and from the second on without one. */
START_TEST(test_rates_that_change)
{
	struct rate_check c = {.n_samples = 0};
	uint32_t number = 0, pool = 0, rise, odd = 0;
	bool differs;

	state = 4;
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t rate = i / 400 % 2 ? 5000 : 100;
		struct sflow_flow f = {.sequence = ++number, .rate = rate, .pool_pkts = pool += _i ? 0 : skip(rate)};

		odd |= rate_check_sample(&c, &f, 1, &rise);
		if (i % 400 > (_i ? 0 : 8))
			ck_assert_uint_eq(rate_check_weight(&c, &differs), rate);
	}
	ck_assert_uint_eq(odd & ~(1u << EASE_ODD_RATE), 0);
}
END_TEST

/* Two samplers of one source, each with its own numbers and pool, each with half of the frames: the pools say what
 * their samples stand for, within chance. */
START_TEST(test_two_samplers)
{
	state = 5;
	for (int seed = 0; seed < 200; seed++) {
		struct rate_check c = {.n_samples = 0};
		uint32_t pools[2] = {1000, 1000 + (uint32_t)(uniform() * 3e9)}, numbers[2] = {0, (uint32_t)(uniform() * 200)};
		double sum = 0, next[2] = {0, 0};
		uint32_t rise;
		bool differs;

		for (int i = 0; i < 2 * SAMPLES; i++) {
			int who = next[1] < next[0];
			uint32_t frames = skip(RATE);
			struct sflow_flow f = {.sequence = ++numbers[who], .rate = RATE, .pool_pkts = pools[who] += frames};

			next[who] += frames;
			rate_check_sample(&c, &f, 1, &rise);
			sum += rate_check_weight(&c, &differs);
		}
		ck_assert_double_eq_tol(sum / (2 * SAMPLES * RATE), 1, 0.1);
	}
}
END_TEST

/* One rate for what is received, another for what is sent, with one pool and one line of numbers (_i) or two: soon each
 * sample has its own, and nothing is odd of that. */
START_TEST(each_direction_may_have_its_rate)
{
	enum { PORT = 7, LEARNED = 200 };
	static const uint32_t rates[2] = {100, 1000};
	struct rate_check c = {.n_samples = 0};
	uint32_t pools[2] = {0}, numbers[2] = {0}, odd = 0, rise;
	double next[2] = {skip(rates[0]), skip(rates[1])}, before = 0;
	bool differs;

	for (int i = 0; i < SAMPLES; i++) {
		int way = next[1] < next[0], of = _i ? 0 : way;
		struct sflow_flow f = {.sequence = ++numbers[of], .rate = rates[way], .source = {SFLOW_SOURCE_IF, PORT},
		    .input = {SFLOW_IF_INDEX, way ? 9 : PORT}, .output = {SFLOW_IF_INDEX, way ? PORT : 9}};

		pools[of] += (uint32_t)((_i ? 2 : 1) * (next[way] - before));
		f.pool_pkts = pools[of];
		before = _i ? next[way] : before;
		next[way] += skip(rates[way]);
		odd = (i == LEARNED ? 0 : odd) | rate_check_sample(&c, &f, 1, &rise);
		if (i > LEARNED)
			ck_assert_uint_eq(rate_check_weight(&c, &differs), rates[way]);
	}
	ck_assert_uint_eq(odd, 0);
	ck_assert(!rate_check_pool_is_real(&c));
}
END_TEST

/* What the port counted decides between a rate and a pool that disagree; within chance nothing is decided. */
START_TEST(test_counted)
{
	static const struct {
		double taken, pool, counted;
		uint32_t weight;
		bool is_denied;
	} cases[] = {{100, 300, 100, 100, true}, {100, 30, 100, 100, true}, {300, 300, 300, 300, false},
	    {100, 100, 100, 100, false}, {100, 100, 500, 100, false}};
	struct rate_check c = {.n_samples = 0};
	uint32_t number = 0, pool = 0, rise, odd = 0;
	bool differs;

	for (uint32_t i = 1; i <= 1200; i++) {
		struct sflow_flow f = {.sequence = ++number, .rate = 100, .pool_pkts = pool += (uint32_t)cases[_i].pool + i % 3};

		odd |= rate_check_sample(&c, &f, 1, &rise);
		if (i % 100 == 0)
			odd |= rate_check_counted(&c, (uint64_t)(100 * cases[_i].counted));
	}
	ck_assert_uint_le(abs((int)rate_check_weight(&c, &differs) - (int)cases[_i].weight), 1);
	ck_assert_int_eq((odd & 1u << EASE_ODD_POOL_DENIED) != 0, cases[_i].is_denied);
	ck_assert_int_eq(rate_check_pool_is_real(&c), !cases[_i].is_denied);
}
END_TEST

START_TEST(test_uptimes)
{
	static const struct {
		uint32_t before_ms, now_ms;
		uint64_t elapsed_us;
		enum uptime_verdict verdict;
		bool goes_on, begins;
	} uptimes[] = {
	    {100000, 101000, 1000000, UPTIME_GOES_ON, false, false},
	    {100000, 99000, 0, UPTIME_GOES_ON, false, false}, /* overtaken */
	    {0xfffffff0, 100, 1000000, UPTIME_GOES_ON, false, false}, /* wraps */
	    {100000, 1000, 30000000, UPTIME_RESTARTED, false, false},
	    {100000, 1000, 30000000, UPTIME_REFUTED, true, false}, /* its datagrams' numbers go on */
	    {100000, 50000, 1000000, UPTIME_REFUTED, false, false}, /* it would have begun before it was heard last */
	    {100000, 90000000, 1000000, UPTIME_REFUTED, false, false}, /* a day in a second */
	    {100000, 86500000, 86400000000, UPTIME_GOES_ON, false, false},
	    {1000000000, 5, 1000000000000, UPTIME_RESTARTED, false, false},
	    {2000, 0, 900000, UPTIME_GOES_ON, false, false},
	    {2000, 0, 900000, UPTIME_RESTARTED, false, true}, /* set up twice: it had run for two seconds */
	    {2000, 2100, 100000, UPTIME_GOES_ON, false, true}, /* its numbers begin, and it does not */
	};

	ck_assert_int_eq(uptime_judge(uptimes[_i].before_ms, uptimes[_i].now_ms, uptimes[_i].elapsed_us, uptimes[_i].goes_on,
	    uptimes[_i].begins), uptimes[_i].verdict);
}
END_TEST

START_TEST(test_speeds)
{
	static const struct {
		uint64_t stated, used;
		bool odd;
	} speeds[] = {
	    {10000000000, 10000000000, false}, {1544000, 1544000, false}, {64000, 64000, false}, {0, 0, false},
	    {UINT64_MAX, 0, false}, {UINT32_MAX, 0, true}, {1410065408, 10000000000, true}, {1215752192, 100000000000, true},
	    {1345294336, 40000000000, true}, {2820130816, 20000000000, true}, {8594000000000, 0, true},
	    {800000000000, 800000000000, false}, {9728000, 9728000, false},
	};
	bool odd;

	ck_assert_uint_eq(speed_judge(speeds[_i].stated, &odd), speeds[_i].used);
	ck_assert_int_eq(odd, speeds[_i].odd);
}
END_TEST

START_TEST(test_octets)
{
	static const struct {
		uint64_t before, now, pkts, expected;
		bool is_32;
		enum octets_verdict verdict;
		uint64_t rise;
	} octets[] = {
	    {1000, 51000, 100, 0, false, OCTETS_GO_ON, 50000},
	    {1000, 1000, 0, 0, false, OCTETS_GO_ON, 0},
	    {4294967000, 704, 10, 0, false, OCTETS_WRAPPED, 1000},
	    {3000000000, 1000, 4000000000, 0, false, OCTETS_BEGIN_ANEW, 0}, /* frames went back, too */
	    {4294967000, 704, UINT64_MAX, 0, false, OCTETS_BEGIN_ANEW, 0}, /* no frames are counted */
	    {1ull << 40, 5, 100, 0, false, OCTETS_BEGIN_ANEW, 0},
	    {1000, 1ull << 50, 100, 0, false, OCTETS_REFUTED, 0},
	    {1000, 1000000000, 100, 0, false, OCTETS_REFUTED, 0}, /* 10 MB a frame */
	    {1000, 2000, 17179870, 17000000000, true, OCTETS_WRAPPED, 4 * 4294967296 + 1000},
	    {1000, 2000, 10, 1100, true, OCTETS_WRAPPED, 1000},
	};
	uint64_t rise;

	ck_assert_int_eq(octets_judge(octets[_i].before, octets[_i].now, octets[_i].pkts, octets[_i].expected,
		octets[_i].is_32, 30000000, &rise), octets[_i].verdict);
	if (octets[_i].verdict == OCTETS_GO_ON || octets[_i].verdict == OCTETS_WRAPPED)
		ck_assert_uint_eq(rise, octets[_i].rise);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sflow_plausible");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_sound_rates);
	tcase_add_loop_test(tc, test_single_lies, 0, 4);
	tcase_add_loop_test(tc, test_wrong_rates, 0, 6);
	tcase_add_loop_test(tc, test_rates_that_change, 0, 2);
	tcase_add_test(tc, test_two_samplers);
	tcase_add_loop_test(tc, each_direction_may_have_its_rate, 0, 2);
	tcase_add_loop_test(tc, test_counted, 0, 5);
	tcase_add_loop_test(tc, test_uptimes, 0, 12);
	tcase_add_loop_test(tc, test_speeds, 0, 13);
	tcase_add_loop_test(tc, test_octets, 0, 10);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
