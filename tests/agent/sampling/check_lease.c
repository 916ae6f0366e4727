/*
 * Requests of a station over a fake device, with a stepped clock: whose the lease is and for how long, which skip is in
 * force of configured, requested and capped, and the limit of all ports together.
 */
#include "agent/sampling/sampling.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>

enum { PORT = 10, OTHER_PORT = 20, LEAST_SKIP = 16, MOST_PER_S = 1000 };

static struct fake_device fake;
static struct clock test_clock;
static struct hal *hal;
static struct sampling *sampling;
static uint32_t newest_mean;

static int
take(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)snapshot;
	newest_mean = sample->mean_skip;
	return 0;
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
start(uint32_t least_skip)
{
	struct sampling_options options = {.has_seed = true, .seed = 42, .least_requested_skip = least_skip,
	    .most_samples_per_s = MOST_PER_S,
	    .defaults = {.enabled = true, .mean_skip = 400, .header_octets = 20, .edge = true}};
	struct hal_listener listener = {.sample = on_sample, .skips_lost = on_skips_lost};

	test_clock = (struct clock){.manual = true, .manual_mono_us = 1000000};
	fake_init(&fake, FAKE_PORTS);
	fake.can_restart = true;
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	hal_set_listener(hal, &listener);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(sampling_create(hal, &options, &(struct sampling_sink){NULL, take}, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
}

static void
finish(void)
{
	sampling_destroy(sampling);
	hal_destroy(hal);
}

static void
pass_seconds(unsigned s)
{
	for (unsigned i = 0; i < s; i++) {
		test_clock.manual_mono_us += 1000000;
		fake.now_us += 1000000;
		sampling_tick(sampling);
	}
}

/* As a PDU with both objects of the lease, and a request of the port if skip is not 0. */
static int
ask(const char *owner, uint32_t ttl_s, uint32_t if_index, uint32_t skip, uint32_t most)
{
	const struct lease_claim claim = {.owner = owner, .has_ttl = true, .ttl_s = ttl_s, .asks = skip > 0};
	struct sampling_port_config config;
	size_t at;
	int rc = sampling_check_claim(sampling, &claim, &if_index, skip > 0, &at);

	if (rc < 0)
		return rc;
	sampling_take_claim(sampling, &claim);
	if (skip == 0)
		return 0;
	ck_assert_int_eq(sampling_get_port(sampling, if_index, &config), 0);
	config.request.mean_skip = skip;
	config.request.max_samples_per_s = most;
	rc = sampling_set_port(sampling, if_index, &config);
	hal_dispatch(hal, 0); /* the device discards the skips that it has */
	return rc;
}

static struct sampling_port_row
row_of(uint32_t if_index)
{
	const struct sampling_table *table;
	struct sampling_port_row row;

	ck_assert_int_eq(sampling_publish(sampling), 0);
	table = sampling_table_hold(sampling);
	row = *sampling_table_port(table, if_index);
	sampling_table_release(table);
	return row;
}

static void
expect_in_force(uint32_t if_index, uint32_t mean, enum sampling_reason reason)
{
	struct sampling_port_row row = row_of(if_index);

	ck_assert_uint_eq(row.mean_skip_in_force, mean);
	ck_assert_int_eq(row.reason, reason);
	ck_assert_uint_eq(row.config.mean_skip, 400); /* a request never touches it */
}

START_TEST(one_owner_at_a_time)
{
	struct lease lease = {0};
	struct lease_claim claim = {.owner = "a"};

	ck_assert_int_eq(lease_check(&lease, &claim, 5), -EBUSY); /* a name alone claims nothing */
	claim.has_ttl = true;
	claim.ttl_s = 300;
	ck_assert_int_eq(lease_check(&lease, &claim, 5), 0);
	ck_assert(!lease_take(&lease, &claim, 5));
	ck_assert_uint_eq(lease_ttl_s(&lease, 5), 300);
	ck_assert_uint_eq(lease_ttl_s(&lease, 6), 300);
	ck_assert_uint_eq(lease_ttl_s(&lease, 1000006), 299);
	claim.owner = "b";
	ck_assert_int_eq(lease_check(&lease, &claim, 299999999), -EBUSY);
	claim.ttl_s = 0;
	ck_assert_int_eq(lease_check(&lease, &claim, 5), -EBUSY);
	claim.owner = NULL;
	ck_assert_int_eq(lease_check(&lease, &claim, 5), -EBUSY);
	claim.owner = "";
	ck_assert_int_eq(lease_check(&lease, &claim, 5), -EBUSY);
	ck_assert(!lease_expire(&lease, 300000004));
	ck_assert(lease_expire(&lease, 300000005));
	ck_assert(!lease_expire(&lease, 300000005));
	claim = (struct lease_claim){.owner = "b", .has_ttl = true, .ttl_s = 10};
	ck_assert_int_eq(lease_check(&lease, &claim, 300000005), 0);
	lease_take(&lease, &claim, 300000005);
	claim.has_ttl = false;
	claim.asks = true;
	ck_assert_int_eq(lease_check(&lease, &claim, 300000006), 0);
	claim.has_ttl = true;
	claim.ttl_s = 0;
	ck_assert_int_eq(lease_check(&lease, &claim, 300000006), -EBUSY); /* leaves and asks at once */
	claim.asks = false;
	ck_assert(lease_take(&lease, &claim, 300000006));
	ck_assert_str_eq(lease.owner, "");
}
END_TEST

START_TEST(off_by_default)
{
	start(0);
	ck_assert_int_eq(ask("station", 300, PORT, 64, 0), -EOPNOTSUPP);
	ck_assert(!sampling_tick(sampling));
	expect_in_force(PORT, 400, SAMPLING_CONFIGURED);
	finish();
}
END_TEST

START_TEST(requests_end_with_the_lease)
{
	start(LEAST_SKIP);
	ck_assert_int_eq(ask("station", 300, PORT, 64, 0), 0);
	expect_in_force(PORT, 64, SAMPLING_REQUESTED);
	expect_in_force(OTHER_PORT, 400, SAMPLING_CONFIGURED);
	pass_seconds(200);
	ck_assert_int_eq(ask("station", 300, PORT, 0, 0), 0); /* renewed */
	ck_assert_int_eq(ask("other", 300, OTHER_PORT, 64, 0), -EBUSY);
	pass_seconds(299);
	expect_in_force(PORT, 64, SAMPLING_REQUESTED);
	pass_seconds(1);
	expect_in_force(PORT, 400, SAMPLING_CONFIGURED);
	ck_assert_uint_eq(row_of(PORT).config.request.mean_skip, 0);
	ck_assert_int_eq(ask("other", 300, PORT, 8192, 0), 0); /* free again; a larger skip is one, too */
	expect_in_force(PORT, 8192, SAMPLING_REQUESTED);
	ck_assert_int_eq(ask("other", 0, PORT, 0, 0), 0); /* leaves */
	expect_in_force(PORT, 400, SAMPLING_CONFIGURED);
	finish();
}
END_TEST

START_TEST(samples_carry_the_requested_skip)
{
	start(LEAST_SKIP);
	ck_assert_int_eq(ask("station", 300, PORT, 20, 0), 0);
	for (int i = 0; i < 1000; i++)
		fake_frame(&fake, PORT, EASE_IN);
	ck_assert_uint_eq(newest_mean, 20);
	pass_seconds(300);
	hal_dispatch(hal, 0);
	for (int i = 0; i < 10000; i++)
		fake_frame(&fake, PORT, EASE_IN);
	ck_assert_uint_eq(newest_mean, 400);
	finish();
}
END_TEST

START_TEST(the_agent_has_the_last_word)
{
	struct sampling_port_config config;

	start(LEAST_SKIP);
	ck_assert_int_eq(ask("station", 300, PORT, 2, 0), 0);
	expect_in_force(PORT, LEAST_SKIP, SAMPLING_CAPPED);
	/* By hand: the request of this port is void, and there are no further ones until it is told otherwise. */
	ck_assert_int_eq(sampling_get_port(sampling, PORT, &config), 0);
	config.request.is_held = true;
	ck_assert_int_eq(sampling_set_port(sampling, PORT, &config), 0);
	expect_in_force(PORT, 400, SAMPLING_CONFIGURED);
	ck_assert_int_eq(ask("station", 300, PORT, 64, 0), -EBUSY);
	expect_in_force(PORT, 400, SAMPLING_CONFIGURED);
	ck_assert_int_eq(ask("station", 300, OTHER_PORT, 64, 0), 0);
	config.request.is_held = false;
	ck_assert_int_eq(sampling_set_port(sampling, PORT, &config), 0);
	ck_assert_int_eq(ask("station", 300, PORT, 64, 0), 0);
	expect_in_force(PORT, 64, SAMPLING_REQUESTED);
	finish();
}
END_TEST

/* 20,000 frames/s at a skip of 20 would be 1,000 samples/s: the smaller of both caps raises the skip. */
START_TEST(the_smaller_cap_holds)
{
	struct sampling_port_config config;

	for (int configured = 0; configured < 2; configured++) {
		start(LEAST_SKIP);
		ck_assert_int_eq(sampling_get_port(sampling, PORT, &config), 0);
		config.max_samples_per_s = configured ? 50 : 5000;
		ck_assert_int_eq(sampling_set_port(sampling, PORT, &config), 0);
		ck_assert_int_eq(ask("station", 300, PORT, 20, configured ? 5000 : 50), 0);
		for (int i = 0; i < 60000; i++) {
			fake.now_us += 50;
			fake_frame(&fake, PORT, EASE_IN);
		}
		ck_assert_uint_ge(newest_mean, 200);
		ck_assert_int_eq(row_of(PORT).reason, SAMPLING_CAPPED);
		finish();
	}
}
END_TEST

/* Both ports ask for more than all may take together: the one furthest above its requested cap pays, and gets its
 * request back when there is room. */
START_TEST(all_ports_together_keep_to_the_limit)
{
	struct sampling_port_row row;

	start(LEAST_SKIP);
	ck_assert_int_eq(ask("station", 300, PORT, 20, 4000), 0);
	ck_assert_int_eq(ask("station", 300, OTHER_PORT, 20, 100), 0);
	for (int second = 0; second < 5; second++) {
		for (int i = 0; i < 16000; i++) {
			fake.now_us += 60;
			fake_frame(&fake, i % 2 ? PORT : OTHER_PORT, EASE_IN);
		}
		test_clock.manual_mono_us += 1000000;
		sampling_tick(sampling);
		hal_dispatch(hal, 0);
	}
	ck_assert_uint_eq(row_of(PORT).mean_skip_in_force, 20); /* 400 samples/s, below its cap */
	for (int i = 0; i < 60000; i++)
		fake_frame(&fake, PORT, EASE_IN); /* 3,000 samples in a second */
	pass_seconds(1);
	row = row_of(PORT);
	ck_assert_int_eq(row.reason, SAMPLING_CAPPED);
	ck_assert_uint_ge(row.mean_skip_in_force, 80);
	pass_seconds(60);
	expect_in_force(PORT, 20, SAMPLING_REQUESTED);
	finish();
}
END_TEST

START_TEST(an_undone_request_leaves_no_trace)
{
	start(LEAST_SKIP);
	ck_assert_int_eq(ask("station", 300, PORT, 64, 0), 0);
	sampling_mark_requests(sampling);
	ck_assert_int_eq(ask("station", 0, PORT, 0, 0), 0);
	expect_in_force(PORT, 400, SAMPLING_CONFIGURED);
	sampling_undo_requests(sampling);
	expect_in_force(PORT, 64, SAMPLING_REQUESTED);
	ck_assert_int_eq(ask("other", 300, PORT, 0, 0), -EBUSY);
	finish();
}
END_TEST

/* A chip or kernel that samples by itself gets the requested rate, and the configured one back; one whose rate another
 * program keeps takes no requests. */
START_TEST(ports_that_sample_by_themselves)
{
	start(LEAST_SKIP);
	sampling_destroy(sampling);
	fake.ports[0].draws_itself = true;
	for (size_t i = 0; i < FAKE_PORTS; i++)
		fake.ports[i].n_skips = 0;
	ck_assert_int_eq(sampling_create(hal, &(struct sampling_options){.has_seed = true, .least_requested_skip = LEAST_SKIP,
	    .defaults = {.enabled = true, .mean_skip = 400, .header_octets = 20}}, &(struct sampling_sink){NULL, take},
	    &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	ck_assert_int_eq(ask("station", 10, PORT, 64, 0), 0);
	ck_assert_uint_eq(fake.ports[0].rate, 64);
	pass_seconds(10);
	ck_assert_uint_eq(fake.ports[0].rate, 400);
	finish();
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {one_owner_at_a_time, off_by_default, requests_end_with_the_lease,
	    samples_carry_the_requested_skip, the_agent_has_the_last_word, the_smaller_cap_holds,
	    all_ports_together_keep_to_the_limit, an_undone_request_leaves_no_trace, ports_that_sample_by_themselves};
	Suite *suite = suite_create("lease");
	TCase *all = tcase_create("all");

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
