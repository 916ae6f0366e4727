/*
 * The GalNet driver over the chips' model: skips, samples, restarts, messages, ageing, as the HAL
 * sees them.
 */
#include "agent/sim/chip/galnet.h"
#include "tests/agent/hal/fake_hal.h"
#include "tests/agent/sim/chip/galnet_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static struct galnet_rig rig;
static struct hal hal;
static struct galnet *chip;

/* A group-addressed source is never learned, so the table stays as it is. */
static struct galnet_route
send_one_way(unsigned port)
{
	return rig_send(&rig, port, MAC_C, BROADCAST);
}

static void
create_driver(const struct galnet_info *info)
{
	struct galnet_config config = {.info = info, .bus = &rig.cpu, .device = RIG_DEVICE};

	for (unsigned i = 0; i < info->n_ports; i++)
		config.if_index[i] = 101 + i;
	ck_assert_int_eq(galnet_create(&config, &chip), 0);
}

static void
set_up_driver(void)
{
	bool more;

	rig_create(&rig, GALNET_GT48001A);
	memset(&hal, 0, sizeof(hal));
	create_driver(&galnet_gt48001a);
	galnet_dispatch(chip, &hal, 0, 0, &more);
	memset(&hal, 0, sizeof(hal));
}

static void
set_up_driver_48002a(void)
{
	rig_create(&rig, GALNET_GT48002A);
	memset(&hal, 0, sizeof(hal));
	create_driver(&galnet_gt48002a);
}

static void
tear_down_driver(void)
{
	galnet_destroy(chip);
	rig_destroy(&rig);
}

static int
dispatch(unsigned budget)
{
	bool more;
	int handled = galnet_dispatch(chip, &hal, 777, budget, &more);

	ck_assert_int_ge(handled, 0);
	ck_assert_int_eq(bus_model_lines(rig.board), 0);
	return more ? -handled : handled;
}

START_TEST(driver_never_overwrites_a_skip)
{
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), -EBUSY);
	ck_assert_int_eq(galnet_load_skip(chip, 1, 0x100000), -EINVAL);
	ck_assert_int_eq(galnet_load_skip(chip, 8, 0), -EINVAL);
	send_one_way(0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), -EBUSY);
	ck_assert_int_eq(dispatch(0), 1);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
}
END_TEST

START_TEST(driver_reports_one_sample_a_port_named)
{
	struct galnet_frame f = rig_frame(&rig, BROADCAST, MAC_B);

	for (unsigned port = 0; port < 3; port++)
		galnet_load_skip(chip, port, 0);
	galnet_load_skip(chip, 2, 50);
	galnet_model_receive(rig.model, 1, &f);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct hal_sample_event *s = &hal.samples[i].event;

		ck_assert_uint_eq(s->if_index, 101 + i);
		ck_assert_uint_eq(s->direction, i == 1 ? EASE_IN : EASE_OUT);
		ck_assert_uint_eq(s->input_if, 102);
		ck_assert_uint_eq(s->output_if, i == 1 ? EASE_IF_MANY : 101 + i);
		ck_assert_uint_eq(s->time_us, 777);
		ck_assert_uint_eq(s->frame_octets, 100);
		ck_assert_uint_eq(s->kept_octets, 96);
		ck_assert_mem_eq(s->octets, rig.octets, FAKE_HAL_KEPT_OCTETS);
		ck_assert_int_eq(s->counter_empty, i != 2);
	}
}
END_TEST

START_TEST(driver_keeps_what_is_real_of_a_cut_frame)
{
	struct galnet_frame f = rig_frame(&rig, BROADCAST, MAC_B);

	f.captured_octets = f.data_octets = 40;
	f.wire_octets = 1400;
	galnet_load_skip(chip, 0, 0);
	galnet_model_receive(rig.model, 0, &f);
	dispatch(0);
	ck_assert_uint_eq(hal.samples[0].event.frame_octets, 1400);
	ck_assert_uint_eq(hal.samples[0].event.kept_octets, 40);
}
END_TEST

static int64_t
every_frame(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	(void)event;
	return 0;
}

/* Every frame sampled on every port, over many times the buffers: none is lost or late. */
START_TEST(driver_keeps_up_when_every_frame_is_a_sample)
{
	hal.on_sample = every_frame;
	for (unsigned port = 0; port < 8; port++)
		for (int i = 0; i < 2; i++)
			galnet_load_skip(chip, port, 0);
	for (int i = 0; i < 200; i++) {
		send_one_way(3);
		if (i % 2 == 1)
			dispatch(0);
	}
	ck_assert_uint_eq(hal.n_samples, 1600);
	ck_assert_uint_eq(galnet_model_packets_lost(rig.model), 0);
}
END_TEST

/* The most that can be on its way without a refill fits the buffers from any starting block. */
START_TEST(driver_can_be_late_by_all_its_skips)
{
	hal.on_sample = every_frame;
	for (unsigned port = 0; port < 8; port++)
		for (int i = 0; i < 2; i++)
			galnet_load_skip(chip, port, 0);
	for (int round = 0; round < 50; round++) {
		for (unsigned port = 0; port < 8; port++)
			for (int i = 0; i < 4; i++)
				rig_send(&rig, port, RESERVED_GROUP, BROADCAST);
		dispatch(0);
		ck_assert_uint_eq(hal.n_samples, 16 * (round + 1));
	}
	ck_assert_uint_eq(galnet_model_packets_lost(rig.model), 0);
}
END_TEST

/* Both samples lie in memory, with others between them: the port stood still, which the first one tells. With
 * the answer to it the port counts again. */
START_TEST(driver_shows_that_a_port_stood_still)
{
	hal.on_sample = every_frame;
	for (unsigned port = 2; port < 4; port++)
		for (int i = 0; i < 2; i++)
			galnet_load_skip(chip, port, (uint32_t)i);
	for (int i = 0; i < 5; i++)
		for (unsigned port = 2; port < 4; port++)
			rig_send(&rig, port, RESERVED_GROUP, BROADCAST);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, 4);
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_eq(hal.samples[i].event.if_index, 103 + i % 2);
		ck_assert_int_eq(hal.samples[i].event.counter_empty, i < 2);
	}
}
END_TEST

/* One skip was left when the sample was reported. */
START_TEST(driver_shows_that_a_port_counts_on)
{
	hal.on_sample = every_frame;
	galnet_load_skip(chip, 2, 0);
	galnet_load_skip(chip, 2, 9);
	for (int i = 0; i < 10; i++)
		rig_send(&rig, 2, RESERVED_GROUP, BROADCAST);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, 1);
	ck_assert(!hal.samples[0].event.counter_empty);
}
END_TEST

START_TEST(driver_honours_its_budget)
{
	galnet_load_skip(chip, 0, 0);
	galnet_load_skip(chip, 1, 0);
	send_one_way(0);
	rig_send(&rig, 0, RESERVED_GROUP, BROADCAST);
	galnet_restart(chip, 2);
	galnet_restart(chip, 3);
	ck_assert_int_eq(dispatch(1), -1);
	ck_assert_uint_eq(hal.n_samples, 2); /* of one frame */
	for (int i = 0; i < 3; i++) /* off, on, and the first port that lost its skips */
		ck_assert_int_eq(dispatch(1), -1);
	ck_assert_uint_eq(hal.n_skips_lost, 1);
	ck_assert_int_eq(dispatch(1), 1);
	ck_assert_uint_eq(hal.n_skips_lost, 2);
	ck_assert_int_eq(dispatch(1), 0);
}
END_TEST

/* The port forgets its skips; the others neither lose a skip nor begin one again. */
START_TEST(driver_restarts_one_port)
{
	for (unsigned port = 0; port < 2; port++)
		for (int i = 0; i < 2; i++)
			galnet_load_skip(chip, port, 20 + (uint32_t)i);
	for (int i = 0; i < 15; i++)
		rig_send(&rig, 1, RESERVED_GROUP, BROADCAST);
	ck_assert_int_eq(galnet_restart(chip, 0), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 5), -EBUSY);
	ck_assert_int_gt(dispatch(0), 0);
	ck_assert_uint_eq(hal.n_skips_lost, 1);
	ck_assert_uint_eq(hal.skips_lost[0], 101);
	ck_assert_int_eq(galnet_load_skip(chip, 0, 0), 0);
	rig_send(&rig, 0, RESERVED_GROUP, BROADCAST);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, 1);
	ck_assert(hal.samples[0].event.counter_empty);
	for (unsigned n = 16; n <= 21 + 22; n++) {
		rig_send(&rig, 1, RESERVED_GROUP, BROADCAST);
		dispatch(0);
		ck_assert_uint_eq(hal.n_samples, 1 + (n >= 21) + (n >= 21 + 22));
	}
	ck_assert_int_eq(galnet_restart(chip, 8), -EINVAL);
}
END_TEST

static struct {
	unsigned n, n_lost; /* skips loaded; times that they were lost */
} fifo;

static void
refill_fifo(void *ctx, uint32_t if_index)
{
	(void)ctx;
	ck_assert_uint_eq(if_index, 101);
	fifo.n_lost++;
	for (fifo.n = 0; fifo.n < 2; fifo.n++)
		ck_assert_int_eq(galnet_load_skip(chip, 0, 50), 0);
}

static int64_t
sample_fifo(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	ck_assert_uint_eq(event->if_index, 101);
	ck_assert_uint_eq(fifo.n, 2);
	return 50;
}

/* Who keeps a list of the skips loaded stays in step with the chip, also when samples are on
 * their way at the restart: they come first, and their answers are lost with the others. */
START_TEST(driver_restarts_with_samples_on_their_way)
{
	fifo.n = fifo.n_lost = 0;
	hal.on_skips_lost = refill_fifo;
	hal.on_sample = sample_fifo;
	for (; fifo.n < 2; fifo.n++)
		galnet_load_skip(chip, 0, 0);
	for (int i = 0; i <= _i; i++)
		rig_send(&rig, 0, RESERVED_GROUP, BROADCAST);
	ck_assert_int_eq(galnet_restart(chip, 0), 0);
	while (dispatch(1) < 0)
		;
	ck_assert_uint_eq(hal.n_samples, _i + 1);
	ck_assert_uint_eq(fifo.n_lost, 1);
	ck_assert_uint_eq(fifo.n, 2);
	for (int i = 0; i < 51; i++)
		rig_send(&rig, 0, RESERVED_GROUP, BROADCAST);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, _i + 2);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST), 0);
}
END_TEST

/* A sample without a buffer is told as lost, and its port gets the next skip. */
START_TEST(driver_notices_a_lost_sample)
{
	galnet_load_skip(chip, 0, 0);
	galnet_load_skip(chip, 0, 1000);
	for (int i = 0; i < 2; i++)
		rig_put(&rig, GALNET_BUFFER_BASE, 0);
	for (int i = 0; i < 16; i++) {
		galnet_load_skip(chip, 1, 0);
		rig_send(&rig, 1, RESERVED_GROUP, BROADCAST);
		dispatch(0);
	}
	memset(&hal, 0, sizeof(hal));
	rig_send(&rig, 0, RESERVED_GROUP, BROADCAST);
	ck_assert_uint_eq(galnet_model_packets_lost(rig.model), 1);
	dispatch(0);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST), 1);
	ck_assert_uint_eq(hal.n_samples, 1);
	ck_assert(hal.samples[0].event.lost);
	ck_assert(!hal.samples[0].event.counter_empty);
	ck_assert_uint_eq(hal.samples[0].event.if_index, 101);
}
END_TEST

START_TEST(driver_reports_new_addresses)
{
	rig_send(&rig, 2, BROADCAST, MAC_A);
	rig_send(&rig, 3, BROADCAST, MAC_A);
	ck_assert_int_eq(dispatch(0), 2);
	ck_assert_uint_eq(hal.n_new_addresses, 2);
	ck_assert_uint_eq(hal.new_addresses[0].if_index, 103);
	ck_assert_uint_eq(hal.new_addresses[1].if_index, 104);
	ck_assert_mem_eq(hal.new_addresses[0].mac, "\x02\0\0\0\0\x01", 6);
}
END_TEST

START_TEST(overrun_new_addresses_are_counted)
{
	uint64_t discards;

	for (unsigned i = 0; i < GALNET_RING_ENTRIES + 5; i++)
		rig_send(&rig, 0, BROADCAST, MAC_A + i);
	dispatch(0);
	ck_assert_uint_eq(hal.n_new_addresses, GALNET_RING_ENTRIES);
	ck_assert_int_eq(galnet_address_discards(chip, &discards), 0);
	ck_assert_uint_eq(discards, 0);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_NEW_ADDRESS_LOST), 5);
	rig_send(&rig, 0, BROADCAST, MAC_A + 1000);
	ck_assert_int_eq(dispatch(0), 1);
}
END_TEST

START_TEST(driver_reports_error_sources)
{
	galnet_model_error_source(rig.model, 1, MAC_A, true);
	galnet_model_error_source(rig.model, 2, MAC_B, false);
	galnet_model_error_source(rig.model, 1, MAC_A, true);
	ck_assert_uint_eq(bus_model_lines(rig.board), 1u << RIG_LINE);
	ck_assert_int_eq(dispatch(2), -2);
	ck_assert_int_eq(dispatch(0), 1);
	ck_assert_uint_eq(hal.n_errors, 3);
	ck_assert_uint_eq(hal.errors[0].if_index, 102);
	ck_assert_uint_eq(hal.errors[0].kind, EASE_ERROR_TOO_LONG);
	ck_assert_mem_eq(hal.errors[0].mac, "\x02\0\0\0\0\x01", 6);
	ck_assert_uint_eq(hal.errors[0].time_us, 777);
	ck_assert_uint_eq(hal.errors[1].if_index, 103);
	ck_assert_uint_eq(hal.errors[1].kind, EASE_ERROR_FCS);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_ERRORS_TOO_LONG), 2);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_ERRORS_FCS), 1);
}
END_TEST

START_TEST(overrun_error_sources_are_counted)
{
	uint64_t lost;

	for (unsigned i = 0; i < GALNET_RING_ENTRIES + 7; i++)
		galnet_model_error_source(rig.model, 1, MAC_A + i, false);
	dispatch(0);
	ck_assert_uint_eq(hal.n_errors, GALNET_RING_ENTRIES);
	for (int twice = 0; twice < 2; twice++) {
		ck_assert_int_eq(galnet_errors_lost(chip, &lost), 0);
		ck_assert_uint_eq(lost, 7);
	}
}
END_TEST

/* What is in the receive buffers for another reason is handed back, and counted. */
START_TEST(driver_passes_over_packets_that_are_not_samples)
{
	uint32_t control = rig_get(&rig, GALNET_GLOBAL_CONTROL);

	rig_put(&rig, GALNET_GLOBAL_CONTROL, control | GALNET_CONTROL_MULTICAST_TO_CPU);
	for (int i = 0; i < 100; i++) {
		rig_send(&rig, 0, BROADCAST, BROADCAST);
		if (i % 20 == 19)
			dispatch(0);
	}
	galnet_load_skip(chip, 1, 0);
	rig_send(&rig, 0, BROADCAST, BROADCAST);
	dispatch(0);
	ck_assert_uint_eq(hal.n_samples, 1);
	ck_assert_uint_eq(hal.samples[0].event.if_index, 102);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_OTHER_PACKETS), 100);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_BAD_BLOCKS), 0);
}
END_TEST

static int
count_address(void *arg, const struct hal_address *address)
{
	unsigned *n = arg;

	ck_assert_int_eq(address->status, HAL_ADDRESS_LEARNED);
	ck_assert_uint_eq(address->if_index, 103);
	++*n;
	return 0;
}

static unsigned
n_addresses(void)
{
	unsigned n = 0;

	ck_assert_int_eq(galnet_dump_addresses(chip, count_address, &n), 0);
	return n;
}

static void
remove_aged(void *arg, uint64_t mac)
{
	(void)arg;
	ck_assert_int_eq(galnet_remove_address(chip, mac), 0);
}

START_TEST(unused_addresses_age_out_at_the_second_step)
{
	rig_send(&rig, 2, BROADCAST, MAC_A);
	rig_send(&rig, 2, BROADCAST, MAC_B);
	galnet_model_learn_remote(rig.model, RIG_OTHER_DEVICE, MAC_C, 2);
	ck_assert_uint_eq(n_addresses(), 2);
	ck_assert_int_eq(galnet_age(chip, remove_aged, NULL), 0);
	ck_assert_uint_eq(n_addresses(), 2);
	rig_send(&rig, 2, BROADCAST, MAC_A);
	ck_assert_int_eq(galnet_age(chip, remove_aged, NULL), 0);
	ck_assert_uint_eq(n_addresses(), 1);
	ck_assert_int_eq(rig_send(&rig, 0, MAC_B, MAC_A).verdict, GALNET_FLOOD);
}
END_TEST

START_TEST(driver_switches_ports_and_sees_links)
{
	bool up;

	ck_assert_int_eq(galnet_enable_port(chip, 3, false), 0);
	ck_assert_uint_eq(galnet_model_ports_up(rig.model), 0xf7);
	ck_assert_int_eq(galnet_enable_port(chip, 3, true), 0);
	galnet_model_set_link(rig.model, 6, false);
	ck_assert_int_eq(galnet_link(chip, 6, &up), 0);
	ck_assert(!up);
	dispatch(0);
	ck_assert_uint_eq(hal.n_port_changes, 8);
}
END_TEST

START_TEST(driver_of_the_gt48002a_samples)
{
	bool more;

	galnet_load_skip(chip, 0, 0);
	galnet_load_skip(chip, 1, 0);
	galnet_load_skip(chip, 1, 0);
	rig_send(&rig, 1, BROADCAST, BROADCAST);
	ck_assert_int_eq(galnet_dispatch(chip, &hal, 1, 0, &more), 1); /* a block */
	ck_assert_uint_eq(bus_model_lines(rig.board), 0);
	ck_assert_uint_eq(hal.samples[0].event.direction, EASE_OUT);
	ck_assert_uint_eq(hal.samples[1].event.direction, EASE_IN);
	ck_assert_uint_eq(stat_get(galnet_stats(chip), GALNET_STAT_SAMPLES_LOST), 0);
	ck_assert_int_eq(galnet_load_skip(chip, 2, 0), -EINVAL);
}
END_TEST

static void
add_driver_tests(TCase *c)
{
	tcase_add_test(c, driver_never_overwrites_a_skip);
	tcase_add_test(c, driver_reports_one_sample_a_port_named);
	tcase_add_test(c, driver_keeps_what_is_real_of_a_cut_frame);
	tcase_add_test(c, driver_keeps_up_when_every_frame_is_a_sample);
	tcase_add_test(c, driver_can_be_late_by_all_its_skips);
	tcase_add_test(c, driver_shows_that_a_port_stood_still);
	tcase_add_test(c, driver_shows_that_a_port_counts_on);
	tcase_add_test(c, driver_honours_its_budget);
	tcase_add_test(c, driver_restarts_one_port);
	tcase_add_loop_test(c, driver_restarts_with_samples_on_their_way, 0, 2);
	tcase_add_test(c, driver_notices_a_lost_sample);
	tcase_add_test(c, driver_reports_new_addresses);
	tcase_add_test(c, overrun_new_addresses_are_counted);
	tcase_add_test(c, driver_reports_error_sources);
	tcase_add_test(c, overrun_error_sources_are_counted);
	tcase_add_test(c, driver_passes_over_packets_that_are_not_samples);
	tcase_add_test(c, unused_addresses_age_out_at_the_second_step);
	tcase_add_test(c, driver_switches_ports_and_sees_links);
}

int
main(void)
{
	Suite *suite = suite_create("galnet");
	TCase *driver = tcase_create("GT-48001A"), *two = tcase_create("GT-48002A");

	tcase_add_checked_fixture(driver, set_up_driver, tear_down_driver);
	add_driver_tests(driver);
	tcase_add_checked_fixture(two, set_up_driver_48002a, tear_down_driver);
	tcase_add_test(two, driver_of_the_gt48002a_samples);
	suite_add_tcase(suite, driver);
	suite_add_tcase(suite, two);
	return suite_run(suite);
}
