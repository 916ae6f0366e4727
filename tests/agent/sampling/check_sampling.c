/*
 * Sampling over a fake device: the distribution of skips against its exact moments, the identity
 * pool = sum(K + 1) + stalled frames, numbering, settings, the rate cap, and packing within a limit.
 */
#include "agent/sampling/packer.h"
#include "agent/sampling/sampling.h"
#include "agent/sampling/skip.h"
#include "agent/sampling/skip_counter.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TAKEN = 60000 };

static struct fake_device fake;
static struct clock test_clock;
static struct hal *hal;
static struct sampling *sampling;
static struct ease_sample taken[MAX_TAKEN];
static struct ease_snapshot last_snapshot;
static size_t n_taken;
static int sink_result;

static int
take(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	ck_assert_uint_lt(n_taken, MAX_TAKEN);
	taken[n_taken++] = *sample;
	last_snapshot = *snapshot;
	return sink_result;
}

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	return sampling_on_sample(sampling, event);
}

static void
on_skips_lost(void *ctx, uint32_t if_index)
{
	(void)ctx;
	sampling_on_skips_lost(sampling, if_index);
}

static void
on_port(void *ctx, const struct hal_port_event *event)
{
	(void)ctx;
	sampling_on_port(sampling, event);
}

static void
start(enum sampling_draw draw, uint32_t mean, uint32_t cap)
{
	struct sampling_options options = {.draw = draw, .has_seed = true, .seed = 42,
	    .defaults = {.enabled = true, .mean_skip = mean, .header_octets = 20,
		.max_samples_per_s = cap, .edge = true}};
	struct sampling_sink sink = {NULL, take};
	struct hal_listener listener = {
	    .sample = on_sample, .skips_lost = on_skips_lost, .port = on_port};

	test_clock = (struct clock){.manual = true};
	fake_init(&fake, FAKE_PORTS);
	fake.can_restart = true;
	n_taken = 0;
	sink_result = 0;
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	hal_set_listener(hal, &listener);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(sampling_create(hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
}

/* Frames of the first port, so many microseconds apart. */
static void
pass_frames(unsigned n, uint64_t apart_us)
{
	for (unsigned i = 0; i < n; i++) {
		fake.now_us += apart_us;
		fake_frame(&fake, 10, EASE_IN);
	}
}

static void
finish(void)
{
	sampling_destroy(sampling);
	hal_destroy(hal);
}

/* ---- skip counts ---- */

/* Mean within 5 standard errors of m - 1, for both draws and for m over five decades. */
START_TEST(draws_are_unbiased)
{
	static const uint32_t means[] = {1, 2, 10, 400, 20000, 131072, 524288};
	enum { DRAWS = 400000 };

	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
		for (int draw = SAMPLING_GEOMETRIC; draw <= SAMPLING_UNIFORM; draw++) {
			double m = means[i], sum = 0, sd;
			struct skip_stream stream;

			skip_stream_seed(&stream, 7 + i);
			for (int j = 0; j < DRAWS; j++) {
				bool partial;

				do /* a period is every part of it, discarded captures included */
					sum += skip_draw(&stream, draw, means[i], FAKE_MAX_SKIP, &partial) + 1.0;
				while (partial);
			}
			sd = draw == SAMPLING_UNIFORM ? sqrt((m * m - m) / 3) : sqrt(m * (m - 1));
			ck_assert_double_le(fabs(sum / DRAWS - m), 5 * sd / sqrt(DRAWS) + 1e-9);
		}
	}
}
END_TEST

/* Chi-square of 20 equal cells of the uniform draw, and of geometric cells of equal probability. */
START_TEST(draws_have_their_shape)
{
	enum { CELLS = 20, DRAWS = 200000 };
	const uint32_t m = 1001;

	for (int draw = SAMPLING_GEOMETRIC; draw <= SAMPLING_UNIFORM; draw++) {
		uint32_t count[CELLS] = {0};
		double chi2 = 0;
		struct skip_stream stream;
		double width = (2.0 * m - 1) / CELLS; /* 2001 values */
		double expected[CELLS];

		skip_stream_seed(&stream, 99);
		for (int c = 0; c < CELLS; c++) {
			double lo = ceil(c * width), hi = ceil((c + 1) * width);

			expected[c] = draw == SAMPLING_UNIFORM
			    ? DRAWS * (hi - lo) / (2.0 * m - 1)
			    : DRAWS * (pow(1 - 1.0 / m, lo) - (c == CELLS - 1 ? 0 : pow(1 - 1.0 / m, hi)));
		}
		for (int j = 0; j < DRAWS; j++) {
			bool partial;
			double k = skip_draw(&stream, draw, m, FAKE_MAX_SKIP, &partial);
			int c = (int)(k / width);

			count[c < CELLS ? c : CELLS - 1]++;
		}
		for (int c = 0; c < CELLS; c++)
			chi2 += (count[c] - expected[c]) * (count[c] - expected[c]) / expected[c];
		ck_assert_double_lt(chi2, 43.8); /* 19 degrees of freedom, p = 0.001 */
	}
}
END_TEST

START_TEST(long_geometric_draws_continue)
{
	struct skip_stream stream;
	int n_partial = 0;
	bool partial;

	skip_stream_seed(&stream, 3);
	for (int i = 0; i < 100000; i++) {
		uint32_t k = skip_draw(&stream, SAMPLING_GEOMETRIC, 524288, FAKE_MAX_SKIP, &partial);

		ck_assert_uint_le(k, FAKE_MAX_SKIP);
		if (partial)
			ck_assert_uint_eq(k, FAKE_MAX_SKIP);
		n_partial += partial;
	}
	/* P(K > 2^20 - 1) = (1 - 1/m)^2^20 = 13.53 %, five standard errors */
	ck_assert_int_le(abs(n_partial - 13534), 541);
}
END_TEST

/* ---- numbering and accounts ---- */

START_TEST(every_frame_is_explained)
{
	uint64_t periods = 0;

	start(SAMPLING_GEOMETRIC, 10, 0);
	for (int i = 0; i < 50000; i++)
		fake_frame(&fake, 20, i % 3 ? EASE_IN : EASE_OUT);
	for (size_t i = 0; i < n_taken; i++) {
		ck_assert_uint_eq(taken[i].sequence, i + 1);
		ck_assert_uint_eq(taken[i].if_index, 20);
		ck_assert_uint_eq(taken[i].mean_skip, 10);
		periods += taken[i].skip + 1;
	}
	/* the running period is not over */
	ck_assert_uint_le(periods, 50000);
	ck_assert_uint_eq(fake.ports[1].stood_still_pkts, 0);
	ck_assert_uint_eq(last_snapshot.stalls, 0);
	ck_assert_uint_eq(last_snapshot.pool_in_pkts + last_snapshot.pool_out_pkts, periods);
	ck_assert_uint_eq(last_snapshot.samples, n_taken);
	ck_assert_uint_eq(last_snapshot.last_sequence, n_taken);
	ck_assert_int_le(abs((int)n_taken - 5000), 5 * 68); /* binomial, 5 sd */
	finish();
}
END_TEST

/* If the CPU refills late, the frames that passed during the stall are counted exactly. */
START_TEST(stalls_are_counted_exactly)
{
	struct ease_snapshot snapshot;

	start(SAMPLING_GEOMETRIC, 10, 0);
	fake.late_cpu = true;
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 100; i++)
			fake_frame(&fake, 10, EASE_IN);
		fake_report(&fake, 10);
	}
	ck_assert_int_eq(sampling_snapshot(sampling, 10, &snapshot), 0);
	ck_assert_uint_gt(fake.ports[0].stood_still_pkts, 0);
	ck_assert_uint_eq(snapshot.stalled_pkts, fake.ports[0].stood_still_pkts);
	ck_assert_uint_gt(snapshot.stalls, 150);
	ck_assert_uint_eq(snapshot.in.bcast_pkts, EASE_COUNT_UNKNOWN); /* the device has none */
	ck_assert_uint_eq(snapshot.in.errors, 0);
	finish();
}
END_TEST

START_TEST(pool_and_direction_travel)
{
	start(SAMPLING_UNIFORM, 1, 0);
	fake_frame(&fake, 10, EASE_IN);
	fake_frame(&fake, 10, EASE_OUT);
	fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_eq(n_taken, 3);
	ck_assert_uint_eq(taken[1].direction, EASE_OUT);
	ck_assert_uint_eq(taken[1].pool_pkts, 1);
	ck_assert_uint_eq(taken[2].pool_pkts, 2);
	ck_assert_uint_eq(taken[2].kept_octets, 20);
	finish();
}
END_TEST

START_TEST(refused_samples_are_drops_with_a_number)
{
	start(SAMPLING_UNIFORM, 1, 0);
	sink_result = -ENOBUFS;
	fake_frame(&fake, 10, EASE_IN);
	sink_result = 0;
	fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_eq(taken[1].sequence, 2);
	ck_assert_uint_eq(taken[1].drops, 1);
	sampling_count_drops(sampling, 10, 5);
	fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_eq(taken[2].drops, 6);
	finish();
}
END_TEST

/* ---- settings ---- */

START_TEST(new_mean_takes_effect_at_once)
{
	struct sampling_port_config config;

	start(SAMPLING_GEOMETRIC, 500000, 0);
	ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
	config.mean_skip = 2;
	config.header_octets = 14;
	ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
	hal_dispatch(hal, 0);
	for (int i = 0; i < 100; i++)
		fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_gt(n_taken, 20);
	ck_assert_uint_eq(taken[0].mean_skip, 2);
	ck_assert_uint_eq(taken[0].kept_octets, 14);
	ck_assert_uint_eq(last_snapshot.stalls, 0);
	finish();
}
END_TEST

/* If the hardware cannot discard skips, their samples carry the mean with which they were drawn. */
START_TEST(old_mean_travels_with_old_skips)
{
	struct sampling_port_config config;

	start(SAMPLING_UNIFORM, 3, 0);
	fake.can_restart = false;
	ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
	config.mean_skip = 7;
	ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
	for (int i = 0; i < 100; i++)
		fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_eq(taken[0].mean_skip, 3);
	ck_assert_uint_eq(taken[1].mean_skip, 3);
	ck_assert_uint_eq(taken[2].mean_skip, 7);
	finish();
}
END_TEST

START_TEST(wrong_settings_change_nothing)
{
	static const struct sampling_port_config wrong[] = {
	    {.mean_skip = 0, .header_octets = 64},
	    {.mean_skip = EASE_MEAN_SKIP_MAX + 1, .header_octets = 64},
	    {.mean_skip = 1, .header_octets = EASE_HEADER_MIN_OCTETS - 1},
	    {.mean_skip = 1, .header_octets = EASE_HEADER_MAX_OCTETS + 1},
	    {.mean_skip = 1, .header_octets = 64, .max_samples_per_s = SAMPLING_MAX_PER_SECOND + 1},
	};
	struct sampling_port_config config;

	start(SAMPLING_UNIFORM, 3, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_int_eq(sampling_set_port(sampling, 10, &wrong[i]), -EINVAL);
	ck_assert_int_eq(sampling_set_port(sampling, 11, &wrong[0]), -ENODEV);
	ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
	ck_assert_uint_eq(config.mean_skip, 3);
	finish();
}
END_TEST

START_TEST(switching_off_and_on)
{
	struct sampling_port_config config;
	size_t before;

	start(SAMPLING_UNIFORM, 2, 0);
	ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
	config.enabled = false;
	ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
	for (int i = 0; i < 100; i++)
		fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_eq(n_taken, 0);
	config.enabled = true;
	ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
	before = n_taken;
	for (int i = 0; i < 100; i++)
		fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_gt(n_taken, before);
	ck_assert_uint_eq(taken[0].sequence, 1);
	finish();
}
END_TEST

/* 10,000 frames/s at a mean of 10 would be 1,000 samples/s; a cap of 100 must bring it there within
 * seconds, say so in each sample, and end when the traffic decreases. */
START_TEST(rate_cap_raises_the_skip)
{
	struct ease_snapshot snapshot;
	size_t at_4s = 0;

	start(SAMPLING_GEOMETRIC, 10, 100);
	for (int i = 0; i < 80000; i++) {
		fake.now_us += 100;
		fake_frame(&fake, 10, EASE_IN);
		if (i == 40000)
			at_4s = n_taken;
	}
	ck_assert_uint_lt(n_taken - at_4s, 4 * 130);
	ck_assert_uint_ge(taken[n_taken - 1].mean_skip, 80);
	pass_frames(20000, 10000); /* 100 frames/s */
	ck_assert_uint_eq(taken[n_taken - 1].mean_skip, 10);
	ck_assert_int_eq(sampling_snapshot(sampling, 10, &snapshot), 0);
	finish();
}
END_TEST

/* A cap that is taken away, or raised, holds no longer: the skip falls at once. */
START_TEST(a_removed_cap_lets_the_skip_fall)
{
	struct sampling_port_config config;
	size_t before;

	start(SAMPLING_GEOMETRIC, 10, 10);
	pass_frames(100000, 10);
	ck_assert_uint_ge(taken[n_taken - 1].mean_skip, 10000);
	ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
	config.max_samples_per_s = 0;
	ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
	hal_dispatch(hal, 0);
	before = n_taken;
	for (int i = 0; i < 1000; i++)
		fake_frame(&fake, 10, EASE_IN);
	ck_assert_uint_ge(n_taken - before, 50);
	ck_assert_uint_eq(taken[n_taken - 1].mean_skip, 10);
	finish();
}
END_TEST

/* The skips of a storm would keep the next sample away for half an hour. The counters show that it is over. */
START_TEST(the_skip_falls_when_the_rate_has_fallen)
{
	struct ease_snapshot snapshot;
	size_t before;

	start(SAMPLING_GEOMETRIC, 10, 10);
	pass_frames(200000, 1);
	ck_assert_uint_ge(taken[n_taken - 1].mean_skip, 10000);
	for (int round = 0; round < 2; round++) {
		fake.now_us += 2000000;
		fake_frame(&fake, 10, EASE_IN);
		ck_assert_int_eq(sampling_snapshot(sampling, 10, &snapshot), 0);
		hal_dispatch(hal, 0);
	}
	before = n_taken;
	pass_frames(100, 100000);
	ck_assert_uint_gt(n_taken, before);
	ck_assert_uint_eq(taken[n_taken - 1].mean_skip, 10);
	finish();
}
END_TEST

/* Rounds of counters, two seconds apart, before each of which the device's ports are read as for a snapshot. */
static int
next_round(unsigned most_rounds, struct ease_snapshot snapshots[2])
{
	fake.now_us += 2000000;
	ck_assert_int_eq(hal_refresh_all(hal), 0);
	return sampling_due_snapshots(sampling, 10, most_rounds, snapshots);
}

/* An idle port is told twice, and again when most_rounds have passed. Then and at the next frame nobody is left to
 * guess when that came: until the round before nothing had passed. */
START_TEST(idle_ports_rest)
{
	struct ease_snapshot snapshots[2], end;
	uint64_t rested_us;

	start(SAMPLING_GEOMETRIC, 400, 0);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(next_round(0, snapshots), 1);
	pass_frames(3, 1);
	for (int round = 0; round < 20; round++)
		ck_assert_int_eq(next_round(5, snapshots), round % 7 < 2);
	ck_assert_uint_eq(snapshots[0].pool_in_pkts, 3);
	rested_us = fake.now_us;
	pass_frames(5, 1000);
	ck_assert_int_eq(next_round(5, snapshots), 2);
	ck_assert_uint_eq(snapshots[0].pool_in_pkts, 3);
	ck_assert_uint_eq(snapshots[0].time_us, rested_us);
	ck_assert_uint_eq(snapshots[1].pool_in_pkts, 8);
	ck_assert_uint_eq(snapshots[1].time_us, fake.now_us);
	ck_assert(!sampling_end_rest(sampling, 10, &end));
	for (int round = 0; round < 2; round++)
		ck_assert_int_eq(next_round(5, snapshots), round == 0);
	rested_us = fake.now_us;
	pass_frames(1, 1000); /* a sample of this frame goes out with counters of its own */
	ck_assert(sampling_end_rest(sampling, 10, &end));
	ck_assert_uint_eq(end.pool_in_pkts, 8);
	ck_assert_uint_eq(end.time_us, rested_us);
	ck_assert_int_eq(next_round(5, snapshots), 1);
	ck_assert_uint_eq(snapshots[0].pool_in_pkts, 9);
	finish();
}
END_TEST

/* Rounds of counters may be faster than the ports are read; a port that never counted is told of like any other. */
START_TEST(no_time_is_told_twice)
{
	struct ease_snapshot snapshots[2], told = {0};
	int n_told = 0;

	start(SAMPLING_GEOMETRIC, 400, 0);
	for (int round = 0; round < 14; round++) {
		fake.now_us += 1000000;
		if (round % 2 == 0)
			ck_assert_int_eq(hal_refresh_all(hal), 0);
		if (sampling_due_snapshots(sampling, 10, 5, snapshots) == 0)
			continue;
		ck_assert_uint_eq(snapshots[0].if_index, 10);
		ck_assert_uint_gt(snapshots[0].time_us, told.time_us);
		told = snapshots[0];
		n_told++;
	}
	ck_assert_int_eq(n_told, 4);
	finish();
}
END_TEST

/* Both samples wait when the first is reported; the frames behind them are known from then on. */
START_TEST(late_samples_tell_one_standstill)
{
	struct ease_snapshot snapshot;

	start(SAMPLING_UNIFORM, 1, 0);
	fake.late_cpu = true;
	for (int round = 1; round <= 10; round++) {
		for (int i = 0; i < 1000; i++)
			fake_frame(&fake, 10, EASE_OUT);
		fake_report(&fake, 10);
		ck_assert_uint_eq(n_taken, 2 * (size_t)round);
		ck_assert_int_eq(sampling_snapshot(sampling, 10, &snapshot), 0);
		ck_assert_uint_eq(snapshot.stalls, round);
		ck_assert_uint_eq(snapshot.stalled_pkts, 998 * (uint64_t)round);
	}
	finish();
}
END_TEST

/* What passes while sampling is off is no standstill. */
START_TEST(switched_off_it_does_not_stand_still)
{
	struct sampling_port_config config;
	struct ease_snapshot snapshot;

	start(SAMPLING_UNIFORM, 1, 0);
	ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
	for (int round = 0; round < 3; round++) {
		config.enabled = false;
		ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
		for (int i = 0; i < 1000; i++)
			fake_frame(&fake, 10, EASE_IN);
		config.enabled = true;
		ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
		for (int i = 0; i < 10; i++)
			fake_frame(&fake, 10, EASE_IN);
	}
	ck_assert_int_eq(sampling_snapshot(sampling, 10, &snapshot), 0);
	ck_assert_uint_eq(snapshot.samples, 30);
	ck_assert_uint_eq(snapshot.stalls, 0);
	ck_assert_uint_eq(snapshot.stalled_pkts, 0);
	finish();
}
END_TEST

/* Every state with every event. */
START_TEST(a_skip_counter_has_one_transition_function)
{
	static const enum skip_counter_state next[3][4] = {
	    [SKIP_COUNTER_IDLE] = {SKIP_COUNTER_COUNTING, SKIP_COUNTER_IDLE, SKIP_COUNTER_IDLE,
		SKIP_COUNTER_IDLE},
	    [SKIP_COUNTER_COUNTING] = {SKIP_COUNTER_COUNTING, SKIP_COUNTER_STALLED,
		SKIP_COUNTER_IDLE, SKIP_COUNTER_COUNTING},
	    [SKIP_COUNTER_STALLED] = {SKIP_COUNTER_COUNTING, SKIP_COUNTER_STALLED,
		SKIP_COUNTER_IDLE, SKIP_COUNTER_IDLE},
	};
	static const enum skip_counter_event events[4] = {
	    SKIP_COUNTER_LOAD, SKIP_COUNTER_RAN_OUT, SKIP_COUNTER_LOST, SKIP_COUNTER_OFF};

	for (unsigned from = 0; from < 3; from++) {
		for (unsigned e = 0; e < 4; e++) {
			struct skip_counter c = {.state = (enum skip_counter_state)from,
			    .end_pkts = 100, .n_loaded = 1};
			bool stalled = from == SKIP_COUNTER_STALLED && e == 0;

			skip_counter_step(&c, events[e], 130);
			ck_assert_int_eq(c.state, next[from][e]);
			ck_assert_uint_eq(c.stalls, stalled);
			ck_assert_uint_eq(c.stalled_pkts, stalled ? 30 : 0);
			ck_assert_uint_eq(c.n_loaded, events[e] != SKIP_COUNTER_LOST);
			ck_assert_uint_eq(c.end_pkts,
			    e == 0 && from != SKIP_COUNTER_COUNTING ? 130 : 100);
		}
	}
}
END_TEST

/* Frames that a skip counter has counted and the pool has not yet are not counted as stalled later. */
START_TEST(a_pool_that_lags_counts_no_frame_twice)
{
	struct skip_counter c = {0};

	skip_counter_step(&c, SKIP_COUNTER_LOAD, 1000);
	skip_counter_add(&c, &(struct drawn_skip){.skip = 9});
	skip_counter_step(&c, SKIP_COUNTER_RAN_OUT, 0);
	skip_counter_step(&c, SKIP_COUNTER_LOAD, 1003); /* 7 of the 10 wait to be sent */
	skip_counter_add(&c, &(struct drawn_skip){.skip = 0});
	skip_counter_step(&c, SKIP_COUNTER_RAN_OUT, 0);
	skip_counter_step(&c, SKIP_COUNTER_LOAD, 1020);
	ck_assert_uint_eq(c.stalls, 2);
	ck_assert_uint_eq(c.stalled_pkts, 20 - 10 - 1);
}
END_TEST

/* The weights carried keep the estimate unbiased through the cap's changes. */
START_TEST(weights_add_up_through_the_cap)
{
	double weight = 0;

	start(SAMPLING_GEOMETRIC, 4, 50);
	for (int i = 0; i < 200000; i++) {
		fake.now_us += i % 20000 < 10000 ? 50 : 20000;
		fake_frame(&fake, 10, EASE_IN);
	}
	for (size_t i = 0; i < n_taken; i++)
		weight += taken[i].mean_skip;
	ck_assert_double_le(fabs(weight / 200000 - 1), 0.1);
	finish();
}
END_TEST

START_TEST(same_seed_same_samples)
{
	static struct ease_sample first[MAX_TAKEN];
	size_t n_first;

	start(SAMPLING_GEOMETRIC, 5, 0);
	for (int i = 0; i < 10000; i++)
		fake_frame(&fake, 10 + 10 * (i % 3), EASE_IN);
	memcpy(first, taken, sizeof(first));
	n_first = n_taken;
	finish();
	start(SAMPLING_GEOMETRIC, 5, 0);
	for (int i = 0; i < 10000; i++)
		fake_frame(&fake, 10 + 10 * (i % 3), EASE_IN);
	ck_assert_uint_eq(n_taken, n_first);
	for (size_t i = 0; i < n_taken; i++)
		ck_assert_uint_eq(taken[i].skip, first[i].skip);
	finish();
}
END_TEST

/* The hardware's skips are discarded, but the sequence continues, so that every sample has its own
 * identity. */
START_TEST(a_port_that_comes_back_goes_on_numbering)
{
	struct sampling_port_config config;

	start(SAMPLING_UNIFORM, 1, 0);
	fake_frame(&fake, 30, EASE_IN);
	fake_frame(&fake, 30, EASE_IN);
	ck_assert_uint_eq(n_taken, 2);
	fake.n_ports = 2;
	for (int twice = 0; twice < 2; twice++)
		hal_report_port_changed(hal, 30);
	ck_assert_int_eq(sampling_get_port(sampling, 30, &config), -ENODEV);
	fake.ports[2] = (struct fake_port){.oper_status = EASE_IF_UP};
	fake.n_ports = 3;
	for (int twice = 0; twice < 2; twice++)
		hal_report_port_changed(hal, 30);
	ck_assert_uint_eq(fake.ports[2].loads, FAKE_DEPTH);
	fake_frame(&fake, 30, EASE_IN);
	ck_assert_uint_eq(n_taken, 3);
	ck_assert_uint_eq(taken[2].sequence, 3);
	ck_assert_uint_eq(taken[2].pool_pkts, 1);
	ck_assert_uint_ne(last_snapshot.discontinuity_us, 0);
	/* Forgotten, it comes as one that never was; but no two samples have the same number. */
	fake.n_ports = 2;
	hal_report_port_changed(hal, 30);
	ck_assert_uint_eq(sampling_last_sequence(sampling, 30), 3);
	hal_forget_port(hal, "fake-30", 30);
	ck_assert_uint_eq(sampling_last_sequence(sampling, 30), 0);
	fake.ports[2] = (struct fake_port){.oper_status = EASE_IF_UP};
	fake.n_ports = 3;
	hal_report_port_changed(hal, 30);
	fake_frame(&fake, 30, EASE_IN);
	ck_assert_uint_eq(taken[3].sequence, 4);
	ck_assert_uint_eq(last_snapshot.samples, 4);
	finish();
}
END_TEST

/* The skip goes with the speed until a manager sets one; a speed that is not known now changes nothing. */
START_TEST(the_skip_follows_the_speed)
{
	static const struct {
		uint64_t speed_bps;
		uint32_t mean_skip;
	} steps[] = {{0, 400}, {10000000000, 10000}, {0, 10000}, {1000000000, 1000}, {10000000, 100}};
	struct sampling_port_config config;

	start(SAMPLING_GEOMETRIC, 400, 0);
	sampling_destroy(sampling);
	fake.ports[0].n_skips = 0;
	fake.ports[0].speed_bps = 0;
	ck_assert_int_eq(sampling_create(hal, &(struct sampling_options){.has_seed = true,
	    .skip_by_speed = true, .defaults = {.enabled = true, .mean_skip = 400,
		.header_octets = 20}}, &(struct sampling_sink){NULL, take}, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		fake.ports[0].speed_bps = steps[i].speed_bps;
		hal_report_port_changed(hal, 10);
		ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
		ck_assert_uint_eq(config.mean_skip, steps[i].mean_skip);
	}
	config.mean_skip = 33;
	config.mean_is_set = true;
	ck_assert_int_eq(sampling_set_port(sampling, 10, &config), 0);
	fake.ports[0].speed_bps = 1000000000;
	hal_report_port_changed(hal, 10);
	ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
	ck_assert_uint_eq(config.mean_skip, 33);
	finish();
}
END_TEST

START_TEST(table_has_each_port)
{
	const struct sampling_table *table;

	start(SAMPLING_UNIFORM, 1, 0);
	fake_frame(&fake, 20, EASE_IN);
	ck_assert_int_eq(sampling_publish(sampling), 0);
	table = sampling_table_hold(sampling);
	ck_assert_uint_eq(table->n_ports, 3);
	ck_assert_uint_eq(sampling_table_port(table, 20)->samples, 1);
	ck_assert_uint_eq(sampling_table_port(table, 20)->pool_in_pkts, 1);
	ck_assert_ptr_null(sampling_table_port(table, 21));
	fake_frame(&fake, 20, EASE_IN);
	sampling_publish(sampling);
	ck_assert_uint_eq(sampling_table_port(table, 20)->samples, 1);
	sampling_table_release(table);
	finish();
}
END_TEST

/* A setting is in the newest table at once; who holds a table keeps it as it was. */
START_TEST(a_setting_is_published_by_itself)
{
	const struct sampling_table *table, *next;
	struct sampling_port_config config;

	start(SAMPLING_UNIFORM, 1, 0);
	ck_assert_int_eq(sampling_publish(sampling), 0);
	sampling_get_port(sampling, 20, &config);
	config.mean_skip = 77;
	ck_assert_int_eq(sampling_set_port(sampling, 20, &config), 0);
	ck_assert_int_eq(sampling_publish_port(sampling, 20), 0);
	table = sampling_table_hold(sampling);
	ck_assert_uint_eq(sampling_table_port(table, 20)->config.mean_skip, 77);
	ck_assert_uint_eq(sampling_table_port(table, 20)->mean_skip_in_force, 77);
	config.mean_skip = 78;
	ck_assert_int_eq(sampling_set_port(sampling, 20, &config), 0);
	ck_assert_int_eq(sampling_publish_port(sampling, 20), 0);
	ck_assert_int_eq(sampling_publish_port(sampling, 21), 0); /* no such port */
	next = sampling_table_hold(sampling);
	ck_assert_uint_eq(sampling_table_port(table, 20)->config.mean_skip, 77);
	ck_assert_uint_eq(sampling_table_port(next, 20)->config.mean_skip, 78);
	sampling_table_release(table);
	sampling_table_release(next);
	finish();
}
END_TEST

/* ---- packing ---- */

struct packed {
	size_t n;
	size_t n_samples, n_snapshots, n_states;
	uint32_t last_snapshot_if;
	unsigned lost;
	int result;
	size_t limit;
};

static int
push(void *ctx, const struct ease_notification *n)
{
	struct packed *p = ctx;
	struct trap_part part;
	size_t pos = 0;
	bool snapshots_began = false;

	ck_assert_uint_le(n->message_octets, p->limit);
	if (p->result < 0)
		return p->result;
	p->n++;
	while (trap_wire_next(n, &pos, &part)) {
		p->n_samples += part.part == EASE_PART_SAMPLE;
		p->n_snapshots += part.part == EASE_PART_SNAPSHOT;
		p->n_states += part.part == EASE_PART_STATE;
		if (part.part == EASE_PART_SNAPSHOT)
			snapshots_began = true;
		else
			ck_assert(!snapshots_began);
	}
	return 0;
}

static void
lost(void *ctx, uint32_t if_index, unsigned n_samples)
{
	ck_assert_uint_eq(if_index, 3);
	((struct packed *)ctx)->lost += n_samples;
}

START_TEST(packs_to_the_limit)
{
	static const uint8_t header[EASE_HEADER_MAX_OCTETS];
	static const size_t limits[] = {TRAP_WIRE_MESSAGE_MIN, 1400, TRAP_WIRE_MESSAGE_MAX};

	for (size_t l = 0; l < 3; l++) {
		struct packed packed = {.limit = limits[l]};
		struct packer_sink sink = {&packed, push, lost};
		struct packer *packer;

		ck_assert_int_eq(packer_create(limits[l], &sink, &packer), 0);
		for (uint32_t i = 0; i < 1000; i++) {
			struct ease_sample sample = {.if_index = i % 7 + 1, .sequence = i / 7 + 1,
			    .direction = EASE_IN, .header = header,
			    .kept_octets = (uint16_t)(14 + i % 243), .frame_octets = 1518};
			struct ease_snapshot snapshot = {.if_index = i % 7 + 1};

			packer_sample(packer, &sample, &snapshot);
		}
		ck_assert(packer_waits(packer));
		packer_flush(packer);
		ck_assert(!packer_waits(packer));
		ck_assert_uint_eq(packed.n_samples, 1000);
		ck_assert_uint_le(packed.n_snapshots, packed.n * 7);
		ck_assert_uint_ge(packed.n_snapshots, packed.n);
		packer_destroy(packer);
	}
}
END_TEST

START_TEST(full_queue_reports_each_sample)
{
	static const uint8_t header[64];
	struct packed packed = {.limit = 1400, .result = -ENOBUFS};
	struct packer_sink sink = {&packed, push, lost};
	struct packer *packer;

	ck_assert_int_eq(packer_create(10, &sink, &packer), -EINVAL);
	ck_assert_int_eq(packer_create(1400, &sink, &packer), 0);
	for (uint32_t i = 1; i <= 20; i++) {
		struct ease_sample sample = {.if_index = 3, .sequence = i, .direction = EASE_IN,
		    .header = header, .kept_octets = 64, .frame_octets = 68};
		struct ease_snapshot snapshot = {.if_index = 3};

		packer_sample(packer, &sample, &snapshot);
	}
	packer_flush(packer);
	ck_assert_uint_eq(packed.lost, 20);
	packer_destroy(packer);
}
END_TEST

START_TEST(states_and_counters_fill_notifications)
{
	struct packed packed = {.limit = 1400};
	struct packer_sink sink = {&packed, push, lost};
	struct packer *packer;

	ck_assert_int_eq(packer_create(1400, &sink, &packer), 0);
	for (uint32_t i = 1; i <= 50; i++) {
		struct ease_state state = {.if_index = i, .name = "e", .duplex = EASE_DUPLEX_FULL};
		struct ease_snapshot snapshot = {.if_index = i};

		packer_state(packer, &state);
		packer_counters(packer, &snapshot);
	}
	packer_flush(packer);
	ck_assert_uint_eq(packed.n_states, 50);
	ck_assert_uint_eq(packed.n_snapshots, 50);
	packer_destroy(packer);
}
END_TEST

/* ---- ports that sample by themselves ---- */

/* The first port samples by itself; the others have skip counters. */
static void
start_drawing(uint32_t mean, uint32_t cap)
{
	start(SAMPLING_GEOMETRIC, mean, cap);
	sampling_destroy(sampling);
	fake.ports[0].draws_itself = true;
	for (size_t i = 0; i < FAKE_PORTS; i++)
		fake.ports[i].n_skips = 0;
	fake.ports[0].loads = 0;
	ck_assert_int_eq(sampling_create(hal, &(struct sampling_options){.has_seed = true,
	    .defaults = {.enabled = true, .mean_skip = mean, .header_octets = 20,
		.max_samples_per_s = cap}}, &(struct sampling_sink){NULL, take}, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
}

static void
draw_one(uint32_t rate, bool own)
{
	static const uint8_t octets[64];
	struct hal_sample_event event = {.if_index = hal_port_if_index(hal, 0),
	    .direction = EASE_IN, .time_us = fake.now_us, .frame_octets = 68, .octets = octets,
	    .kept_octets = sizeof(octets), .rate = rate, .own = own, .pool_pkts = HAL_POOL_UNKNOWN};

	ck_assert_int_eq(hal_report_sample(hal, &event), HAL_NO_SKIP);
}

START_TEST(a_port_that_samples_by_itself_gets_the_mean)
{
	struct sampling_port_config config;
	uint32_t if_index;

	start_drawing(100, 0);
	if_index = hal_port_if_index(hal, 0);
	ck_assert_uint_eq(fake.ports[0].rate, 100);
	ck_assert_uint_eq(fake.ports[0].loads, 0);
	ck_assert_uint_eq(fake.ports[1].n_skips, 2);
	draw_one(100, false);
	ck_assert_uint_eq(n_taken, 1);
	ck_assert_uint_eq(taken[0].mean_skip, 100);
	ck_assert_uint_eq(taken[0].skip, 99); /* not told */
	ck_assert_int_eq(sampling_get_port(sampling, if_index, &config), 0);
	config.mean_skip = 7;
	ck_assert_int_eq(sampling_set_port(sampling, if_index, &config), 0);
	ck_assert_uint_eq(fake.ports[0].rate, 7);
	draw_one(100, false); /* on its way since before */
	ck_assert_uint_eq(taken[1].mean_skip, 100);
	config.enabled = false;
	ck_assert_int_eq(sampling_set_port(sampling, if_index, &config), 0);
	ck_assert_uint_eq(fake.ports[0].rate, 0);
	draw_one(7, false);
	ck_assert_uint_eq(n_taken, 2);
	config.enabled = true;
	ck_assert_int_eq(sampling_set_port(sampling, if_index, &config), 0);
	ck_assert_uint_eq(fake.ports[0].rate, 7);
	for (uint32_t rate = 7; rate <= 15; rate += 8)
		draw_one(rate, true);
	ck_assert_uint_eq(n_taken, 2);
	draw_one(16, true); /* or a port that has little else would be taken for one that is not sampled */
	ck_assert_uint_eq(n_taken, 3);
	ck_assert_uint_eq(taken[2].mean_skip, 16);
	finish();
}
END_TEST

START_TEST(a_rate_that_is_refused_changes_nothing)
{
	struct sampling_port_config config;
	uint32_t if_index;

	start_drawing(100, 0);
	if_index = hal_port_if_index(hal, 0);
	ck_assert_int_eq(sampling_get_port(sampling, if_index, &config), 0);
	config.mean_skip = 7;
	fake.ports[0].rate_error = -EPERM;
	ck_assert_int_eq(sampling_set_port(sampling, if_index, &config), -EPERM);
	ck_assert_int_eq(sampling_get_port(sampling, if_index, &config), 0);
	ck_assert_uint_eq(config.mean_skip, 100);
	finish();
}
END_TEST

START_TEST(lost_samples_are_numbered_drops)
{
	start_drawing(100, 0);
	draw_one(100, false);
	sampling_on_samples_lost(sampling, hal_port_if_index(hal, 0), 5);
	draw_one(100, false);
	ck_assert_uint_eq(taken[0].sequence, 1);
	ck_assert_uint_eq(taken[1].sequence, 7);
	ck_assert_uint_eq(taken[1].drops, 5);
	ck_assert_uint_eq(last_snapshot.samples, 7);
	ck_assert_uint_eq(last_snapshot.drops, 5);
	ck_assert_uint_eq(last_snapshot.stalls, 0);
	finish();
}
END_TEST

/* Twenty samples in a moment, with a limit of ten per second: eleven of them, of 100 frames each, count for an
 * eighth of a second, and the rate follows at once when it is quiet. */
START_TEST(the_cap_changes_the_rate_of_a_port_that_samples_by_itself)
{
	start_drawing(100, 10);
	fake.now_us = 5000000;
	for (int i = 0; i < 20; i++)
		draw_one(100, false); /* all drawn before the change */
	ck_assert_uint_eq(fake.ports[0].rate, 11 * 100 * 8 * 5 / 4 / 10);
	ck_assert_uint_eq(n_taken, 20);
	for (int second = 6; second < 9; second++) { /* quiet again */
		fake.now_us = second * 1000000ull;
		draw_one(fake.ports[0].rate, false);
	}
	ck_assert_uint_eq(fake.ports[0].rate, 100);
	finish();
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {draws_are_unbiased, draws_have_their_shape,
	    long_geometric_draws_continue, every_frame_is_explained, stalls_are_counted_exactly,
	    pool_and_direction_travel, refused_samples_are_drops_with_a_number,
	    new_mean_takes_effect_at_once, old_mean_travels_with_old_skips,
	    wrong_settings_change_nothing, switching_off_and_on, rate_cap_raises_the_skip,
	    a_removed_cap_lets_the_skip_fall, the_skip_falls_when_the_rate_has_fallen,
	    idle_ports_rest, no_time_is_told_twice, late_samples_tell_one_standstill, switched_off_it_does_not_stand_still,
	    a_skip_counter_has_one_transition_function, a_pool_that_lags_counts_no_frame_twice, weights_add_up_through_the_cap, same_seed_same_samples,
	    a_port_that_comes_back_goes_on_numbering, the_skip_follows_the_speed, table_has_each_port,
	    a_setting_is_published_by_itself,
	    packs_to_the_limit, full_queue_reports_each_sample,
	    states_and_counters_fill_notifications, a_port_that_samples_by_itself_gets_the_mean,
	    a_rate_that_is_refused_changes_nothing, lost_samples_are_numbered_drops,
	    the_cap_changes_the_rate_of_a_port_that_samples_by_itself};
	Suite *suite = suite_create("sampling");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 60);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
