/*
 * Events that managers are notified of at once, over a fake device: back pressure, stalled sampling
 * and error sources, each up to its limit; and the resources in easeCounters that a device counts.
 */
#include "agent/event_monitor.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <string.h>

enum { RATE = 2, STALL_PERCENT = 1, KINDS = EASE_NOTIFY_SAMPLING_CHANGED + 1 };

static struct fake_device fake;
static struct clock test_clock;
static struct hal *hal;
static struct sampling *sampling;
static struct packer *packer;
static struct event_monitor *monitor;
static unsigned n_parts[KINDS]; /* by kind of notification */
static unsigned n_notifications[KINDS];
static struct ease_resources told;

static int
push(void *ctx, const struct ease_notification *n)
{
	struct trap_part part;
	size_t pos = 0;

	(void)ctx;
	n_parts[n->kind] += n->n_parts;
	n_notifications[n->kind]++;
	while (trap_wire_next(n, &pos, &part))
		if (part.part == EASE_PART_RESOURCES) {
			told.if_index = part.if_index;
			ck_assert_int_eq(trap_wire_get_resources(part.octets, part.len, &told), 0);
		}
	return 0;
}

static void
lost(void *ctx, uint32_t if_index, unsigned n_samples)
{
	(void)ctx;
	(void)if_index;
	(void)n_samples;
}

static int
take(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)sample;
	(void)snapshot;
	return 0;
}

static void
set_up(void)
{
	const struct sampling_options options = {.has_seed = true, .seed = 1,
	    .defaults = {.enabled = true, .mean_skip = 1, .header_octets = 20, .edge = true}};
	const struct sampling_sink sink = {NULL, take};
	const struct packer_sink out = {NULL, push, lost};
	struct event_monitor_config config = {.rate_per_s = RATE, .stall_percent = STALL_PERCENT};

	test_clock = (struct clock){.manual = true};
	fake_init(&fake, FAKE_PORTS);
	fake_add_facets(&fake);
	fake.now_us = 1000000000;
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(sampling_create(hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(packer_create(TRAP_WIRE_MESSAGE_DEFAULT, &out, &packer), 0);
	config.hal = hal;
	config.sampling = sampling;
	config.packer = packer;
	ck_assert_int_eq(event_monitor_create(&config, &monitor), 0);
	memset(n_parts, 0, sizeof(n_parts));
	memset(n_notifications, 0, sizeof(n_notifications));
}

static void
tear_down(void)
{
	event_monitor_destroy(monitor);
	packer_destroy(packer);
	sampling_destroy(sampling);
	hal_destroy(hal);
}

static void
look(void)
{
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	ck_assert_int_eq(sampling_publish(sampling), 0);
	event_monitor_poll(monitor);
	packer_flush(packer);
}

START_TEST(back_pressure_is_reported_once_in_a_while)
{
	const unsigned *parts = &n_parts[EASE_NOTIFY_BACK_PRESSURE];

	fake.ports[0].buffers.pressed_episodes = 7; /* before anybody looked */
	look();
	look();
	ck_assert_uint_eq(*parts, 0);
	fake.ports[0].buffers.pressed_episodes = 8;
	fake.ports[0].buffers.pressed_us = 55;
	look();
	ck_assert_uint_eq(*parts, 1);
	ck_assert_uint_eq(told.if_index, 10);
	ck_assert_uint_eq(told.pressed_us, 55);
	fake.now_us += EVENT_MONITOR_QUIET_US - 1;
	fake.ports[0].buffers.pressed_episodes = 9;
	look();
	ck_assert_uint_eq(*parts, 1);
	ck_assert_uint_eq(stat_get(event_monitor_stats(monitor), 0), 1);
	fake.now_us += 1;
	look();
	ck_assert_uint_eq(*parts, 1); /* nothing new since */
	fake.ports[0].buffers.pressed_episodes = 10;
	look();
	ck_assert_uint_eq(*parts, 2);
}
END_TEST

START_TEST(rate_holds_for_all_together)
{
	look();
	for (unsigned i = 0; i < FAKE_PORTS; i++)
		fake.ports[i].buffers.pressed_episodes++;
	look();
	ck_assert_uint_eq(n_parts[EASE_NOTIFY_BACK_PRESSURE], RATE);
	ck_assert_uint_eq(n_notifications[EASE_NOTIFY_BACK_PRESSURE], RATE);
	ck_assert_uint_eq(stat_get(event_monitor_stats(monitor), 0), FAKE_PORTS - RATE);
}
END_TEST

/* ---- stalls of sampling ---- */

static int64_t
take_sample(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	return sampling_on_sample(sampling, event);
}

static void
take_loss(void *ctx, uint32_t if_index)
{
	(void)ctx;
	sampling_on_skips_lost(sampling, if_index);
}

static void
start_sampling(void)
{
	static const struct hal_listener listener = {.sample = take_sample, .skips_lost = take_loss};

	hal_set_listener(hal, &listener);
	ck_assert_int_eq(sampling_start(sampling), 0);
	look();
}

static void
frames(uint32_t if_index, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fake_frame(&fake, if_index, EASE_IN);
}

/* n frames pass unsampled: the CPU is late once both counts loaded have run out, which takes
 * hal_skip_depth() frames at a mean skip of 1. */
static void
stall(uint32_t if_index, unsigned n)
{
	fake.late_cpu = true;
	frames(if_index, hal_skip_depth(hal) + n);
	fake.late_cpu = false;
	fake_report(&fake, if_index);
}

static unsigned
stalls_told_after(uint64_t us)
{
	unsigned before = n_parts[EASE_NOTIFY_SAMPLING_STALLED];

	fake.now_us += us;
	look();
	return n_parts[EASE_NOTIFY_SAMPLING_STALLED] - before;
}

static uint64_t
stalled_pkts(uint32_t if_index)
{
	const struct sampling_table *table = sampling_table_hold(sampling);
	uint64_t n = sampling_table_port(table, if_index)->stalled_pkts;

	sampling_table_release(table);
	return n;
}

/* A minute with 1,000 frames, `stalled` of them unsampled. */
static unsigned
told_of_a_minute(unsigned stalled)
{
	frames(20, 1000 - stalled - hal_skip_depth(hal));
	stall(20, stalled);
	return stalls_told_after(EVENT_MONITOR_MINUTE_US);
}

START_TEST(stalls_are_reported_above_the_limit)
{
	start_sampling();
	ck_assert_uint_eq(told_of_a_minute(9), 0);
	ck_assert_uint_eq(told_of_a_minute(10), 0);
	ck_assert_uint_eq(told_of_a_minute(11), 1);
	ck_assert_uint_eq(told_of_a_minute(9), 0);
	ck_assert_uint_eq(told_of_a_minute(900), 1);
	ck_assert_uint_eq(stalled_pkts(20), 9 + 10 + 11 + 9 + 900); /* all are counted */
}
END_TEST

START_TEST(stalls_of_a_minute_add_up)
{
	start_sampling();
	for (int i = 0; i < 6; i++) {
		frames(20, 94);
		stall(20, 2); /* 12 of 588 frames */
		ck_assert_uint_eq(stalls_told_after(9999999), 0);
	}
	ck_assert_uint_eq(stalls_told_after(6), 1);
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), 0);
	/* The same over two minutes are two times 1 % or less. */
	frames(20, 600);
	stall(20, 6);
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), 0);
	frames(20, 600);
	stall(20, 6);
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), 0);
}
END_TEST

START_TEST(stalls_are_reported_by_port)
{
	start_sampling();
	frames(10, 100000); /* does not hide what port 20 lacks */
	frames(20, 100);
	stall(20, 10);
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), 1);
	stall(10, 50);
	stall(20, 50);
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), 2);
	for (unsigned i = 0; i < FAKE_PORTS; i++)
		stall(10 * (i + 1), 50);
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), RATE);
	ck_assert_uint_eq(n_notifications[EASE_NOTIFY_SAMPLING_STALLED], 1 + 2 + RATE);
}
END_TEST

/* At a quiet port a few frames are more than 1 %. They matter only if they cost a sample. */
START_TEST(stalls_shorter_than_a_sample_are_not_reported)
{
	struct sampling_port_config config;

	start_sampling();
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), 0); /* no frame at all */
	ck_assert_int_eq(sampling_get_port(sampling, 20, &config), 0);
	config.mean_skip = 50;
	ck_assert_int_eq(sampling_set_port(sampling, 20, &config), 0);
	for (unsigned n = 49; n <= 50; n++) {
		fake.late_cpu = true;
		while (fake.ports[1].n_skips > 0)
			frames(20, 1);
		frames(20, n);
		fake.late_cpu = false;
		fake_report(&fake, 20);
		ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US), n == 50);
	}
	ck_assert_uint_eq(stalled_pkts(20), 49 + 50);
}
END_TEST

/* A step of the clock must neither cause an event nor suppress one. */
START_TEST(stalls_are_reported_whatever_the_clock_does)
{
	start_sampling();
	frames(20, 500);
	stall(20, 20);
	ck_assert_uint_eq(stalls_told_after(30000000), 0);
	fake.set_us = -500000000;
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US / 2 - 1), 0);
	ck_assert_uint_eq(stalls_told_after(1), 1);
	frames(20, 500);
	stall(20, 20);
	fake.set_us = 86400000000;
	ck_assert_uint_eq(stalls_told_after(EVENT_MONITOR_MINUTE_US - 1), 0);
	ck_assert_uint_eq(stalls_told_after(1), 1);
}
END_TEST

START_TEST(error_sources_are_reported_as_they_double)
{
	struct ease_error_source source = {
	    .if_index = 10, .mac = {2}, .kind = EASE_ERROR_FCS, .time_us = 5000000};

	for (source.count = 1; source.count <= 100; source.count++) {
		source.time_us += 1000000;
		fake.now_us += 1000000;
		event_monitor_error_source(monitor, &source);
	}
	packer_flush(packer);
	ck_assert_uint_eq(n_parts[EASE_NOTIFY_ERROR_SOURCE], 7); /* 1, 2, 4, … 64 */
}
END_TEST

static void
error_source(void *ctx, const struct ease_error_source *source)
{
	(void)ctx;
	event_monitor_error_source(monitor, source);
}

/* A source whose count has grown is reported with the next counters, whatever became of the clock. */
START_TEST(error_sources_are_reported_whatever_the_clock_does)
{
	static const int64_t set_us[] = {0, -3600000000, 86400000000, 0};
	const struct hal_listener listener = {.error_source = error_source};
	struct hal_error_event event = {.if_index = 10, .mac = {2}, .kind = EASE_ERROR_FCS};
	unsigned n_told = 0;

	fake.now_us = 100000000000;
	hal_set_listener(hal, &listener);
	for (int i = 1; i <= 12; i++) {
		fake.now_us += 20000000;
		fake.set_us = set_us[i / 3 % 4];
		event.time_us = fake.now_us + (uint64_t)fake.set_us;
		hal_report_error_source(hal, &event);
		fake.now_us += 1000;
		event_monitor_notify_sources(monitor);
		packer_flush(packer);
		ck_assert_uint_eq(n_parts[EASE_NOTIFY_ERROR_SOURCE], ++n_told);
	}
}
END_TEST

/* Counts 1, 2 and 4 are reported as they are reached, and the final 7 once. */
START_TEST(error_sources_are_reported_with_the_counters)
{
	const struct hal_listener listener = {.error_source = error_source};
	struct hal_error_event event = {.if_index = 10, .mac = {2}, .kind = EASE_ERROR_FCS};

	hal_set_listener(hal, &listener);
	for (int i = 1; i <= 7; i++) {
		event.time_us = fake.now_us += 1000000;
		hal_report_error_source(hal, &event);
		if (i == 2)
			event_monitor_notify_sources(monitor); /* these have been told */
	}
	packer_flush(packer);
	ck_assert_uint_eq(n_parts[EASE_NOTIFY_ERROR_SOURCE], 3);
	for (int i = 0; i < 2; i++) {
		fake.now_us += 1000000;
		event_monitor_notify_sources(monitor);
		packer_flush(packer);
		ck_assert_uint_eq(n_parts[EASE_NOTIFY_ERROR_SOURCE], 4);
	}
	for (uint8_t i = 0; i < 3 * (RATE + 3); i++) {
		event.mac[5] = i / 3;
		hal_report_error_source(hal, &event);
	}
	event_monitor_notify_sources(monitor);
	ck_assert_uint_gt(stat_get(event_monitor_stats(monitor), 0), 0); /* at the limited rate */
	packer_flush(packer);
	ck_assert_uint_le(n_parts[EASE_NOTIFY_ERROR_SOURCE], 4 + 2 * RATE);
}
END_TEST

START_TEST(resources_are_what_the_device_counts)
{
	struct ease_resources r;

	fake.ports[0].energy.in = (struct ease_low_power){1, 2};
	fake.ports[0].energy.out = (struct ease_low_power){3, 4};
	fake.ports[0].buffers = (struct hal_buffers){.charged = 5, .pressed_episodes = 6,
	    .pressed_us = 7, .ingress_drops = 8};
	ck_assert_int_eq(sampling_resources(sampling, 10, &r), 0);
	ck_assert_uint_eq(r.known, EASE_HAS_LOW_POWER | EASE_HAS_BUFFERS);
	ck_assert_uint_eq(r.time_us, fake.now_us);
	ck_assert_uint_eq(r.in.events + r.in.asleep_us + r.out.events + r.out.asleep_us, 10);
	ck_assert_uint_eq(r.charged_buffers, 5);
	ck_assert_uint_eq(r.pressed_episodes, 6);
	ck_assert_uint_eq(r.pressed_us, 7);
	ck_assert_uint_eq(r.ingress_drops, 8);
	fake.ports[0].lacks_facets = true;
	ck_assert_int_eq(sampling_resources(sampling, 10, &r), -ENODATA);
	ck_assert_int_eq(sampling_resources(sampling, 99, &r), -ENODEV);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("event_monitor");
	TCase *t = tcase_create("event_monitor");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, back_pressure_is_reported_once_in_a_while);
	tcase_add_test(t, rate_holds_for_all_together);
	tcase_add_test(t, stalls_are_reported_above_the_limit);
	tcase_add_test(t, stalls_of_a_minute_add_up);
	tcase_add_test(t, stalls_are_reported_by_port);
	tcase_add_test(t, stalls_shorter_than_a_sample_are_not_reported);
	tcase_add_test(t, stalls_are_reported_whatever_the_clock_does);
	tcase_add_test(t, error_sources_are_reported_whatever_the_clock_does);
	tcase_add_test(t, error_sources_are_reported_as_they_double);
	tcase_add_test(t, error_sources_are_reported_with_the_counters);
	tcase_add_test(t, resources_are_what_the_device_counts);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
