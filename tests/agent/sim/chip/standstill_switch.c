#include "tests/agent/sim/chip/standstill_switch.h"

#include "agent/hal/hal_provider.h"

#include <check.h>
#include <string.h>

static struct standstill_switch sw;

/* ---- a device of one chip, whose frames the test counts ---- */

static size_t
count(void *ctx)
{
	(void)ctx;
	return STANDSTILL_PORTS;
}

static uint32_t
if_index_of(void *ctx, size_t i)
{
	(void)ctx;
	return STANDSTILL_FIRST_IF + (uint32_t)i;
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
	*raw = sw.frames[if_index - STANDSTILL_FIRST_IF];
	return 0;
}

static void
derive(const uint64_t *totals, struct hal_counters *counters)
{
	counters->value[HAL_POOL_IN_PKTS] = counters->value[HAL_IN_MCAST_PKTS] = totals[0];
	counters->value[HAL_IN_OCTETS] = totals[0] * RIG_FRAME_OCTETS;
	counters->known = (1ull << HAL_POOL_IN_PKTS) | (1ull << HAL_POOL_OUT_PKTS) |
	    (1ull << HAL_IN_OCTETS) | (1ull << HAL_IN_MCAST_PKTS) | (1ull << HAL_OUT_OCTETS);
}

static int
load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	(void)ctx;
	return galnet_load_skip(sw.chip, if_index - STANDSTILL_FIRST_IF, skip);
}

static uint64_t
now_us(void *ctx)
{
	(void)ctx;
	return clock_wall_us(sw.clock);
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

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	return sampling_on_sample(sw.sampling, event);
}

/* ---- the test's side ---- */

void
standstill_switch_cpu_works(void)
{
	bool more;

	ck_assert_int_ge(galnet_dispatch(sw.chip, sw.hal, clock_wall_us(sw.clock), 0, &more), 0);
	ck_assert(!more);
}

void
standstill_switch_pass(unsigned port, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		sw.frames[port]++;
		rig_send(&sw.rig, port, RESERVED_GROUP, BROADCAST);
	}
}

struct ease_snapshot
standstill_switch_snapshot(unsigned port)
{
	struct ease_snapshot snapshot;

	ck_assert_int_eq(sampling_snapshot(sw.sampling, STANDSTILL_FIRST_IF + port, &snapshot), 0);
	return snapshot;
}

struct standstill_switch *
standstill_switch_create(uint32_t mean, const struct sampling_sink *sink, const struct clock *clock)
{
	const struct sampling_options options = {.draw = SAMPLING_UNIFORM, .has_seed = true, .seed = 7,
	    .defaults = {.enabled = true, .mean_skip = mean, .header_octets = 64, .edge = true}};
	const struct hal_listener listener = {.sample = on_sample};
	struct galnet_config config = {.info = &galnet_gt48001a, .bus = &sw.rig.cpu, .device = RIG_DEVICE};

	memset(&sw, 0, sizeof(sw));
	sw.clock = clock;
	rig_create(&sw.rig, GALNET_GT48001A);
	for (unsigned i = 0; i < STANDSTILL_PORTS; i++)
		config.if_index[i] = STANDSTILL_FIRST_IF + i;
	ck_assert_int_eq(galnet_create(&config, &sw.chip), 0);
	sw.device = (struct hal_device){.ops = &device_ops, .ports = &ports_ops,
	    .counters = &counters_ops, .sampling = &sampling_ops};
	ck_assert_int_eq(hal_create(&sw.device, clock, &sw.hal), 0);
	hal_set_listener(sw.hal, &listener);
	ck_assert_int_eq(hal_start(sw.hal), 0);
	ck_assert_int_eq(sampling_create(sw.hal, &options, sink, &sw.sampling), 0);
	ck_assert_int_eq(sampling_start(sw.sampling), 0);
	standstill_switch_cpu_works();
	return &sw;
}

void
standstill_switch_destroy(void)
{
	sampling_destroy(sw.sampling);
	hal_destroy(sw.hal);
	galnet_destroy(sw.chip);
	rig_destroy(&sw.rig);
}
