/*
 * Energy and buffers of whole emulated boards: what the HAL says of a capture's traffic, against
 * figures worked out by hand from the times and lengths of its frames.
 */
#include "tests/agent/sim/emulated_rig.h"
#include "tests/support/make_capture.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define T0_US 1700000000000000ull
#define STATION(n) (0x020000000000ull + (n))

enum {
	IDLE_US = 100, WAKE_US = 30, /* before a direction sleeps, and to wake up at 100 Mbit/s */
	FCS_OCTETS = 4,
	OVERHEAD_OCTETS = 20, /* preamble and gap */
};

static char board_path[64], capture_path[64];
static char partner_path[64]; /* what port 2 receives; "": nothing */
static struct made_capture capture;

static void
tear_down(void)
{
	rig_close();
	unlink(board_path);
	unlink(capture_path);
	if (partner_path[0])
		unlink(partner_path);
	partner_path[0] = '\0';
}

static FILE *
new_board(void)
{
	FILE *file;

	strcpy(board_path, "/tmp/board.XXXXXX");
	file = fdopen(mkstemp(board_path), "w");
	ck_assert_ptr_nonnull(file);
	return file;
}

/* A board of two ports: what is said of the board, its further chip, and each port. Port 1 plays
 * the capture, port 2 receives what its partner sends; runs to the end. */
static void
run_board(const char *board, const char *chip, const char *port_1, const char *port_2)
{
	struct emulated_config config = {.board_file = board_path,
	    .pace = EMULATED_PACE_LOCK_STEP, .zero = EMULATED_ZERO_CAPTURE};
	FILE *file;

	made_write(&capture, capture_path, sizeof(capture_path));
	file = new_board();
	fprintf(file, "%s\nchip \"s\" { type = gt48002a }\nchip \"m\" { type = c84302 }\n", board);
	fprintf(file, "chip \"x\" { type = %s }\n", chip);
	fprintf(file, "port \"ge-1\" { %s\ncapture = \"%s\" }\n", port_1, capture_path);
	fprintf(file, "port \"ge-2\" { %s\ncapture = \"%s\" }\n", port_2,
	    partner_path[0] ? partner_path : "none");
	fclose(file);
	rig_open_config(&config);
	rig_sample_all(0);
	rig_run_to_end();
}

static struct hal_energy
energy(uint32_t if_index)
{
	struct hal_energy e;

	ck_assert_ptr_nonnull(rig.device->energy);
	ck_assert_int_eq(rig.device->energy->read(rig.device->energy_ctx, if_index, &e), 0);
	return e;
}

static struct hal_buffers
buffers(uint32_t if_index)
{
	struct hal_buffers b;

	ck_assert_ptr_nonnull(rig.device->buffers);
	ck_assert_int_eq(rig.device->buffers->read(rig.device->buffers_ctx, if_index, &b), 0);
	return b;
}

/* Time on the wire at 100 Mbit/s. */
static double
wire_us(uint32_t octets)
{
	return (octets + FCS_OCTETS + OVERHEAD_OCTETS) * 0.08;
}

/* A frame of 1,000 octets every 10 ms, to a station nobody has heard of: port 2 sends each. Both
 * sleep between two frames, but for the frame's own time, the idle time and waking up. */
START_TEST(sleep_is_the_idle_time)
{
	enum { FRAMES = 2000, EVERY_US = 10000, LENGTH = 1000 };
	const double slept_us =
	    (FRAMES - 1) * (EVERY_US - wire_us(LENGTH) - IDLE_US - WAKE_US);
	struct hal_energy in, out;

	made_begin(&capture, false, false, 1);
	for (int i = 0; i < FRAMES; i++)
		made_frame(&capture, T0_US + (uint64_t)i * EVERY_US, STATION(2), STATION(1), LENGTH);
	run_board("", "eee", "speed = 100\neee = on", "speed = 100\neee = on");
	in = energy(1);
	out = energy(2);
	/* The link's first second may be without sleep, or not. */
	ck_assert_uint_le(in.in.events, FRAMES);
	ck_assert_uint_ge(in.in.events, FRAMES - 102);
	ck_assert_double_eq_tol((double)in.in.asleep_us / (double)in.in.events,
	    slept_us / (FRAMES - 1), 1);
	ck_assert_uint_le(out.out.events, FRAMES);
	ck_assert_uint_ge(out.out.events, FRAMES - 102);
	ck_assert_double_eq_tol((double)out.out.asleep_us / (double)out.out.events,
	    slept_us / (FRAMES - 1), 1);
	/* Directions that nothing passes sleep on: at most one event, nearly all of the 20 s. */
	ck_assert_uint_eq(in.out.events, 1);
	ck_assert_uint_ge(in.out.asleep_us, (FRAMES - 1) * EVERY_US - 1001000);
	ck_assert_uint_le(in.out.asleep_us, (FRAMES - 1) * EVERY_US);
	ck_assert_uint_eq(out.in.events, 1);
}
END_TEST

/* Idle time and wake-up time are a port's own. */
START_TEST(timers_are_the_port_s)
{
	enum { FRAMES = 500, EVERY_US = 10000, LENGTH = 1000 };
	struct hal_energy in, out;

	made_begin(&capture, false, false, 1);
	for (int i = 0; i < FRAMES; i++)
		made_frame(&capture, T0_US + (uint64_t)i * EVERY_US, STATION(2), STATION(1), LENGTH);
	run_board("", "eee", "speed = 100\neee = on\neee_idle = 2000\neee_wake = 500",
	    "speed = 100\neee = on\neee_idle = 5000");
	in = energy(1);
	out = energy(2);
	ck_assert_double_eq_tol((double)in.in.asleep_us / (double)in.in.events,
	    EVERY_US - wire_us(LENGTH) - 2000 - 500, 20);
	ck_assert_double_eq_tol((double)out.out.asleep_us / (double)out.out.events,
	    EVERY_US - wire_us(LENGTH) - 5000 - WAKE_US, 20);
}
END_TEST

/* Down from 5 s to 7 s: that is a wake-up, and low-power idle must not be asked for in a link's first
 * second. */
START_TEST(a_link_that_is_down_does_not_sleep)
{
	const double up_us = 20000000 - 2000000 - 1000000;
	struct hal_energy e;

	made_begin(&capture, false, false, 1);
	for (uint64_t i = 0; i <= 20; i++)
		made_frame(&capture, T0_US + i * 1000000, STATION(2), STATION(1), 60);
	run_board("", "eee", "speed = 100\neee = on",
	    "speed = 100\neee = on\nlink_changes = {\"5 down\", \"7 up\"}");
	e = energy(2);
	ck_assert_uint_eq(e.in.events, 2);
	ck_assert_double_eq_tol((double)e.in.asleep_us, up_us, 2000);
	ck_assert_uint_ge(e.out.events, 16);
	ck_assert_uint_le(e.out.events, 19);
	ck_assert_double_eq_tol((double)e.out.asleep_us, up_us, 20000);
}
END_TEST

/* Half an hour without a frame: the unit's narrow counts are emptied many times, all at once. */
START_TEST(long_sleep_is_counted_whole)
{
	const uint64_t silence_us = 1800000000;
	struct hal_energy e;

	made_begin(&capture, false, false, 1);
	made_frame(&capture, T0_US, STATION(2), STATION(1), 100);
	made_frame(&capture, T0_US + silence_us, STATION(2), STATION(1), 100);
	run_board("", "eee", "speed = 100\neee = on", "speed = 100\neee = on");
	for (uint32_t port = 1; port <= 2; port++) {
		e = energy(port);
		ck_assert_uint_ge(e.in.asleep_us, silence_us - 1001000);
		ck_assert_uint_le(e.in.asleep_us, silence_us);
		ck_assert_uint_ge(e.out.asleep_us, silence_us - 1001000);
		ck_assert_uint_le(e.out.asleep_us, silence_us);
	}
	ck_assert_uint_eq(rig_stat("eee.wrapped"), 0);
	ck_assert_uint_gt(rig_stat("eee.drained"), 0);
}
END_TEST

/* Gaps shorter than the idle time are no sleep at all. */
START_TEST(a_busy_line_stays_awake)
{
	enum { FRAMES = 20000, EVERY_US = 90, LENGTH = 100 };
	struct hal_energy e;

	made_begin(&capture, false, false, 1);
	for (int i = 0; i < FRAMES; i++)
		made_frame(&capture, T0_US + (uint64_t)i * EVERY_US, STATION(2), STATION(1), LENGTH);
	run_board("", "eee", "speed = 100\neee = on", "speed = 100\neee = on");
	e = energy(1);
	ck_assert_uint_le(e.in.events, 1); /* before the first */
	e = energy(2);
	ck_assert_uint_le(e.out.events, 1);
}
END_TEST

enum { BURST = 2000, BURST_LENGTH = 1500, BURST_BUFFERS = 24 };

/* 100 Mbit/s into 10 Mbit/s: ten times what can leave. */
static void
run_overload(const char *board, const char *port_1)
{
	made_begin(&capture, false, false, 1);
	for (int i = 0; i < BURST; i++)
		made_frame(&capture, T0_US + (uint64_t)i * 125, STATION(2), STATION(1), BURST_LENGTH);
	run_board(board, "tnetx4090", port_1, "speed = 10");
}

/* Without flow control what finds no buffer is lost, to the frame: received, and either sent, still
 * under way, or dropped. */
START_TEST(without_flow_control_frames_are_lost)
{
	struct hal_buffers b;
	uint64_t received, sent;

	run_overload("flow = off", "speed = 100");
	b = buffers(1);
	received = rig_figure(1, HAL_IN_UCAST_PKTS);
	sent = rig_figure(2, HAL_OUT_UCAST_PKTS);
	ck_assert_uint_eq(received, BURST);
	ck_assert_uint_eq(b.pressed_episodes, 0);
	ck_assert_uint_gt(b.ingress_drops, BURST * 7 / 10);
	ck_assert_int_eq(b.flow_control, HAL_FLOW_DROP);
	ck_assert_uint_le(b.most_charged, b.pool_buffers);
	ck_assert_uint_ge(b.most_charged, b.pool_buffers - BURST_BUFFERS);
	ck_assert_uint_eq(b.charged % BURST_BUFFERS, 0);
	ck_assert_uint_eq(b.pool_free, b.pool_buffers - b.charged);
	/* Queued frames are counted as sent when they are queued. */
	ck_assert_uint_eq(sent + b.ingress_drops, received);
	/* To a manager they are discards, and to the sampler they never were. */
	ck_assert_uint_eq(rig_figure(1, HAL_IN_DISCARDS), b.ingress_drops);
	ck_assert_uint_eq(rig_figure(1, HAL_POOL_IN_PKTS), sent);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_ERRORS), 0);
}
END_TEST

/* With PAUSE agreed nothing is lost: the sender waits, also beyond the end of the capture. */
START_TEST(with_pause_nothing_is_lost)
{
	struct hal_buffers b;

	run_overload("flow = on", "speed = 100");
	b = buffers(1);
	ck_assert_int_eq(b.flow_control, HAL_FLOW_PAUSE);
	ck_assert_uint_eq(b.ingress_drops, 0);
	ck_assert_uint_gt(b.pressed_episodes, 0);
	ck_assert_uint_gt(b.pressed_us, 100000); /* of 250 ms */
	ck_assert_uint_gt(rig_figure(1, HAL_OUT_PAUSE_PKTS), 0);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_UCAST_PKTS), BURST);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_DISCARDS), 0);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_UCAST_PKTS), BURST);
}
END_TEST

/* Each frame is a sample where it comes in and where it leaves. In lock step the hardware waits for
 * the CPU, also with frames that waited for buffers while nothing else came but the EEE unit's
 * time. */
START_TEST(frames_that_waited_meet_a_cpu_in_time)
{
	made_begin(&capture, false, false, 1);
	for (int i = 0; i < BURST; i++)
		made_frame(&capture, T0_US + (uint64_t)i * 125, STATION(2), STATION(1), BURST_LENGTH);
	made_frame(&capture, T0_US + 10000000, STATION(2), STATION(1), BURST_LENGTH);
	run_board("flow = on\nchip \"e\" { type = eee }", "tnetx4090", "speed = 100\neee = on",
	    "speed = 10");
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_UCAST_PKTS), BURST + 1);
	ck_assert_uint_eq(rig.hal.n_samples, 2 * (BURST + 1));
}
END_TEST

/* In half duplex collisions are forced until there is room: nothing is lost, and no PAUSE sent. */
START_TEST(with_forced_collisions_nothing_is_lost)
{
	struct hal_buffers b;

	run_overload("flow = on", "speed = 100\nduplex = half");
	b = buffers(1);
	ck_assert_int_eq(b.flow_control, HAL_FLOW_COLLIDE);
	ck_assert_uint_eq(b.ingress_drops, 0);
	ck_assert_uint_gt(b.pressed_episodes, 0);
	ck_assert_uint_gt(rig_figure(1, HAL_RMON_COLLISIONS), 0);
	ck_assert_uint_eq(rig_figure(1, HAL_OUT_PAUSE_PKTS), 0);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_UCAST_PKTS), BURST);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_UCAST_PKTS), BURST);
}
END_TEST

/* Broadcasts beyond the limit are left out at the slow port, and hold no buffers there. */
START_TEST(waiting_multicasts_have_a_limit)
{
	struct hal_buffers b;

	made_begin(&capture, false, false, 1);
	for (int i = 0; i < BURST; i++)
		made_frame(&capture, T0_US + (uint64_t)i * 125, 0xffffffffffff, STATION(1),
		    BURST_LENGTH);
	run_board("mcast_limit = 4", "tnetx4090", "speed = 100", "speed = 10");
	b = buffers(2);
	ck_assert_uint_gt(b.mcast_left_out, BURST * 8 / 10);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_BCAST_PKTS) + b.mcast_left_out, BURST);
	ck_assert_uint_eq(buffers(1).pressed_episodes, 0);
	ck_assert_uint_le(buffers(1).most_charged, 5 * BURST_BUFFERS);
}
END_TEST

/* Stations 1 to 4 are at ports 1 to 4. 1 sends ten times what port 3 can send to 3, and 2 a little to
 * 4, which has nothing to do with it. */
static void
run_two_pairs(const char *flow)
{
	struct emulated_config config = {.board_file = board_path, .capture = capture_path,
	    .pace = EMULATED_PACE_LOCK_STEP, .zero = EMULATED_ZERO_CAPTURE};
	FILE *file;

	made_begin(&capture, false, false, 1);
	for (uint64_t i = 1; i <= 4; i++)
		made_frame(&capture, T0_US + i, 0xffffffffffff, STATION(i), 60);
	for (uint64_t i = 0; i < BURST; i++) {
		made_frame(&capture, T0_US + 1000 + i * 125, STATION(3), STATION(1), BURST_LENGTH);
		if (i % 10 == 0)
			made_frame(&capture, T0_US + 1060 + i * 125, STATION(4), STATION(2), 500);
	}
	made_write(&capture, capture_path, sizeof(capture_path));
	file = new_board();
	fprintf(file, "%s\nchip \"s\" { type = gt48001a }\nchip \"m\" { type = c84302 }\n"
	    "chip \"p\" { type = tnetx4090 }\nport \"1\" { speed = 100 }\n"
	    "port \"2\" { speed = 100 }\nport \"3\" { speed = 10 }\nport \"4\" { speed = 100 }\n",
	    flow);
	fclose(file);
	rig_open_config(&config);
	rig_run_to_end();
	ck_assert_uint_eq(rig_figure(3, HAL_OUT_UCAST_PKTS), BURST);
	ck_assert_uint_eq(rig_figure(4, HAL_OUT_UCAST_PKTS), BURST / 10);
}

/* Page 56: by the global threshold all ports are pressed; by the fair share only who has more. */
START_TEST(global_threshold_presses_all)
{
	run_two_pairs("flow = on\nholb = off");
	ck_assert_uint_gt(buffers(1).pressed_us, 100000);
	ck_assert_uint_gt(buffers(2).pressed_us, 100000);
}
END_TEST

START_TEST(fair_share_presses_who_has_more)
{
	struct hal_buffers b;

	run_two_pairs("flow = on\nholb = on");
	b = buffers(1);
	ck_assert_uint_gt(b.pressed_us, 100000);
	ck_assert_uint_ge(b.most_charged, b.pool_buffers / 2); /* about half, and one frame more */
	ck_assert_uint_le(b.most_charged, b.pool_buffers / 2 + BURST_BUFFERS);
	ck_assert_uint_eq(buffers(2).pressed_episodes, 0);
}
END_TEST

/* Without a pool it is the egress queue that overflows: discards, which are no errors, and the
 * sampler does not count them. */
START_TEST(a_full_queue_discards)
{
	uint64_t sent;

	made_begin(&capture, false, false, 1);
	for (int i = 0; i < BURST; i++)
		made_frame(&capture, T0_US + (uint64_t)i * 125, STATION(2), STATION(1), BURST_LENGTH);
	run_board("", "eee", "speed = 100\neee = on", "speed = 10");
	sent = rig_figure(2, HAL_OUT_UCAST_PKTS);
	/* In 250 ms 205 frames leave, and 1 MiB holds 688. */
	ck_assert_uint_ge(sent, 205 + 688 - 2);
	ck_assert_uint_le(sent, 205 + 688 + 2);
	ck_assert_uint_eq(sent + rig_figure(2, HAL_OUT_DISCARDS), BURST);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_ERRORS), 0);
	ck_assert_uint_eq(rig_figure(2, HAL_POOL_OUT_PKTS), sent);
	/* The last may be of a frame that was discarded then: it stands for the next one. */
	ck_assert_uint_ge(rig.hal.n_samples, BURST + sent);
	ck_assert_uint_le(rig.hal.n_samples, BURST + sent + 1);
}
END_TEST

/* The partner of port 2 sends PAUSE frames after some ms, each for so many units of 512 bit times. */
static void
make_partner(const unsigned pauses[][2], unsigned n)
{
	uint8_t pause[60] = {1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x08, 0, 1};

	made_begin(&capture, false, false, 1);
	for (unsigned i = 0; i < n; i++) {
		pause[16] = (uint8_t)(pauses[i][1] >> 8);
		pause[17] = (uint8_t)pauses[i][1];
		made_record(&capture, T0_US + pauses[i][0] * 1000, 60, 60, pause);
	}
	made_write(&capture, partner_path, sizeof(partner_path));
}

/* 3 MB at the pace of the port: its queue is empty, or does not drain. */
static uint64_t
discards_when_paused(const unsigned pauses[][2], unsigned n, const char *port_2)
{
	make_partner(pauses, n);
	made_begin(&capture, false, false, 1);
	for (int i = 0; i < BURST; i++)
		made_frame(&capture, T0_US + (uint64_t)i * 125, STATION(2), STATION(1), BURST_LENGTH);
	run_board("", "eee", "speed = 100\neee = on", port_2);
	ck_assert_uint_eq(rig_figure(2, HAL_IN_PAUSE_PKTS), n);
	ck_assert_uint_eq(
	    rig_figure(2, HAL_OUT_UCAST_PKTS) + rig_figure(2, HAL_OUT_DISCARDS), BURST);
	return rig_figure(2, HAL_OUT_DISCARDS);
}

/* From 10 ms to the end at 250 ms 1,920 frames come, of which 1 MiB holds 688. */
START_TEST(a_paused_port_keeps_what_it_has)
{
	static const unsigned long_pause[][2] = {{10, 0xffff}};
	uint64_t discards = discards_when_paused(long_pause, 1, "speed = 100");

	ck_assert_uint_ge(discards, 1920 - 688 - 2);
	ck_assert_uint_le(discards, 1920 - 688 + 2);
}
END_TEST

START_TEST(a_pause_of_no_time_ends_a_pause)
{
	static const unsigned ended[][2] = {{10, 0xffff}, {50, 0}};

	ck_assert_uint_eq(discards_when_paused(ended, 2, "speed = 100"), 0);
}
END_TEST

START_TEST(a_port_without_agreement_is_not_paused)
{
	static const unsigned long_pause[][2] = {{10, 0xffff}};

	ck_assert_uint_eq(discards_when_paused(long_pause, 1, "speed = 100\npause = off"), 0);
}
END_TEST

/* Full duplex without agreement has no protection (page 56). */
START_TEST(without_agreement_frames_are_lost)
{
	struct hal_buffers b;

	run_overload("flow = on", "speed = 100\npause = off");
	b = buffers(1);
	ck_assert_int_eq(b.flow_control, HAL_FLOW_DROP);
	ck_assert_uint_gt(b.ingress_drops, BURST * 7 / 10);
	ck_assert_uint_gt(b.pressed_episodes, 0);
	ck_assert_uint_eq(rig_figure(1, HAL_OUT_PAUSE_PKTS), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("board_resources");
	TCase *t = tcase_create("board_resources");

	tcase_add_checked_fixture(t, NULL, tear_down);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, sleep_is_the_idle_time);
	tcase_add_test(t, timers_are_the_port_s);
	tcase_add_test(t, a_link_that_is_down_does_not_sleep);
	tcase_add_test(t, long_sleep_is_counted_whole);
	tcase_add_test(t, a_busy_line_stays_awake);
	tcase_add_test(t, without_flow_control_frames_are_lost);
	tcase_add_test(t, with_pause_nothing_is_lost);
	tcase_add_test(t, frames_that_waited_meet_a_cpu_in_time);
	tcase_add_test(t, with_forced_collisions_nothing_is_lost);
	tcase_add_test(t, waiting_multicasts_have_a_limit);
	tcase_add_test(t, global_threshold_presses_all);
	tcase_add_test(t, fair_share_presses_who_has_more);
	tcase_add_test(t, a_full_queue_discards);
	tcase_add_test(t, a_paused_port_keeps_what_it_has);
	tcase_add_test(t, a_pause_of_no_time_ends_a_pause);
	tcase_add_test(t, a_port_without_agreement_is_not_paused);
	tcase_add_test(t, without_agreement_frames_are_lost);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
