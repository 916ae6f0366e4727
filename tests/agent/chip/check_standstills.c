/*
 * Standstills of known length on a GalNet chip, from its registers through driver and HAL to what sampling
 * counts: while the CPU is late, so many frames pass; what a port sampled and what stood still add up to its
 * frames exactly. And a sample that the chip lost has a number, and is a drop.
 */
#include "agent/chip/galnet.h"
#include "agent/hal/hal_provider.h"
#include "agent/sampling/sampling.h"
#include "tests/agent/chip/galnet_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>

enum { PORTS = 8, FIRST_IF = 101 };

static struct galnet_rig rig;
static struct galnet *chip;
static struct hal_device device;
static struct hal *hal;
static struct sampling *sampling;
static struct clock test_clock;
static uint64_t frames[PORTS];  /* what the test sent: the port's counter */
static uint64_t periods[PORTS]; /* frames that the samples stand for */
static uint32_t newest[PORTS];  /* the number of the newest sample */

/* ---- a device of one chip, whose frames the test counts ---- */

static size_t
count(void *ctx)
{
	(void)ctx;
	return PORTS;
}

static uint32_t
if_index_of(void *ctx, size_t i)
{
	(void)ctx;
	return FIRST_IF + (uint32_t)i;
}

static int
get_port(void *ctx, uint32_t if_index, struct hal_port *port)
{
	(void)ctx;
	port->if_index = if_index;
	return 0;
}

static int
read_counter(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	(void)ctx;
	(void)row;
	*raw = frames[if_index - FIRST_IF];
	return 0;
}

static void
derive(const uint64_t *totals, struct hal_counters *counters)
{
	counters->value[HAL_POOL_IN_PKTS] = totals[0];
	counters->known = 1ull << HAL_POOL_IN_PKTS | 1ull << HAL_POOL_OUT_PKTS;
}

static int
load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	(void)ctx;
	return galnet_load_skip(chip, if_index - FIRST_IF, skip);
}

static uint64_t
now_us(void *ctx)
{
	(void)ctx;
	return 1000000;
}

static int
start(void *ctx, struct hal *with)
{
	(void)ctx;
	(void)with;
	return 0;
}

static const struct hal_counter_row rows[] = {{.name = "frames", .width_bits = 64}};
static const struct hal_device_ops device_ops = {.kind = "test", .now_us = now_us, .start = start};
static const struct hal_ports_ops ports_ops = {
    .name = "test", .count = count, .if_index = if_index_of, .get = get_port};
static const struct hal_counters_ops counters_ops = {
    .name = "test", .rows = rows, .n_rows = 1, .read = read_counter, .derive = derive};
static const struct hal_sampling_ops sampling_ops = {.name = "galnet",
    .max_skip = GALNET_EASE_COUNT_MASK, .skip_depth = GALNET_SKIP_DEPTH, .load_skip = load_skip};

/* ---- the CPU ---- */

static int
take(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)snapshot;
	periods[sample->if_index - FIRST_IF] += sample->skip + 1;
	newest[sample->if_index - FIRST_IF] = sample->sequence;
	return 0;
}

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	return sampling_on_sample(sampling, event);
}

static void
cpu_works(void)
{
	bool more;

	ck_assert_int_ge(galnet_dispatch(chip, hal, 1000000, 0, &more), 0);
	ck_assert(!more);
}

static void
pass(unsigned port, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		frames[port]++;
		rig_send(&rig, port, RESERVED_GROUP, BROADCAST);
	}
}

static struct ease_snapshot
snapshot_of(unsigned port)
{
	struct ease_snapshot snapshot;

	ck_assert_int_eq(sampling_snapshot(sampling, FIRST_IF + port, &snapshot), 0);
	return snapshot;
}

static void
set_up(uint32_t mean)
{
	const struct sampling_options options = {.draw = SAMPLING_UNIFORM, .has_seed = true, .seed = 7,
	    .defaults = {.enabled = true, .mean_skip = mean, .header_octets = 64, .edge = true}};
	const struct sampling_sink sink = {NULL, take};
	const struct hal_listener listener = {.sample = on_sample};
	struct galnet_config config = {.info = &galnet_gt48001a, .bus = &rig.cpu, .device = RIG_DEVICE};

	test_clock = (struct clock){.manual = true};
	memset(frames, 0, sizeof(frames));
	memset(periods, 0, sizeof(periods));
	rig_create(&rig, GALNET_GT48001A);
	for (unsigned i = 0; i < PORTS; i++)
		config.if_index[i] = FIRST_IF + i;
	ck_assert_int_eq(galnet_create(&config, &chip), 0);
	device = (struct hal_device){.ops = &device_ops, .ports = &ports_ops,
	    .counters = &counters_ops, .sampling = &sampling_ops};
	ck_assert_int_eq(hal_create(&device, &test_clock, &hal), 0);
	hal_set_listener(hal, &listener);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(sampling_create(hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	cpu_works();
}

static void
tear_down(void)
{
	sampling_destroy(sampling);
	hal_destroy(hal);
	galnet_destroy(chip);
	rig_destroy(&rig);
}

/* Every frame is a sample, two are loaded: of each burst the others pass. All ports at once, so that samples
 * of others lie between the two of a port. */
START_TEST(known_standstills_are_counted_exactly)
{
	enum { STANDSTILLS = 10, BURST = 1000 };

	set_up(1);
	for (unsigned i = 1; i <= STANDSTILLS; i++) {
		for (unsigned n = 0; n < BURST; n++)
			for (unsigned port = 0; port < PORTS; port++)
				pass(port, 1);
		cpu_works();
		for (unsigned port = 0; port < PORTS; port++) {
			struct ease_snapshot s = snapshot_of(port);

			ck_assert_uint_eq(s.samples, 2 * i);
			ck_assert_uint_eq(s.stalls, i);
			ck_assert_uint_eq(s.stalled_pkts, i * (BURST - 2));
		}
	}
	tear_down();
}
END_TEST

/* With skips at random, at times in time and at times late: periods and standstills make up the pool. */
START_TEST(periods_and_standstills_make_up_the_pool)
{
	struct ease_snapshot s;

	set_up(20);
	for (unsigned round = 0; round < 3000; round++) {
		pass(3, round % 7 == 0 ? 100 : 3);
		cpu_works();
	}
	pass(3, 1000); /* the last standstill: no frame comes behind it */
	cpu_works();
	s = snapshot_of(3);
	ck_assert_uint_gt(s.stalls, 100);
	ck_assert_uint_gt(s.samples, 500);
	ck_assert_uint_eq(periods[3] + s.stalled_pkts, frames[3]);
	ck_assert_uint_eq(s.pool_in_pkts, frames[3]);
	tear_down();
}
END_TEST

/* The chip finds no buffer for one sample: the next one shows by its number that it was there. */
START_TEST(a_lost_sample_has_a_number)
{
	struct ease_snapshot s;

	set_up(1);
	for (int i = 0; i < 2; i++)
		rig_put(&rig, GALNET_BUFFER_BASE, 0);
	for (unsigned i = 0; i < 17; i++) {
		pass(1, 1);
		cpu_works();
	}
	pass(1, 1);
	cpu_works();
	s = snapshot_of(1);
	ck_assert_uint_gt(stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST), 0);
	ck_assert_uint_eq(s.samples, frames[1]);
	ck_assert_uint_eq(s.drops, stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST));
	ck_assert_uint_eq(s.last_sequence, s.samples);
	ck_assert_uint_eq(s.stalls, 0);
	tear_down();
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {known_standstills_are_counted_exactly,
	    periods_and_standstills_make_up_the_pool, a_lost_sample_has_a_number};
	Suite *suite = suite_create("standstills");
	TCase *all = tcase_create("all");

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
