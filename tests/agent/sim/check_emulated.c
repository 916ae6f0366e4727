/*
 * The emulated switch through its device ops: the path of frames over one chip and several, lock
 * step, alarms and the end. Board files and feeds: check_board.c. Captures with a ground truth:
 * check_board_truth.c.
 */
#include "agent/sim/chip/galnet_regs.h"
#include "common/log.h"
#include "tests/agent/sim/emulated_rig.h"
#include "tests/suite.h"
#include "tests/support/make_capture.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAC_A	  0x020000000001ull
#define MAC_B	  0x020000000002ull
#define MAC_C	  0x020000000003ull
#define BROADCAST 0xffffffffffffull
#define START	  1700000000000000ull

static char capture[256]; /* of the made one; "" none */
static struct made_capture made;

static void
use_made(const char *board, enum emulated_pace pace)
{
	made_write(&made, capture, sizeof(capture));
	rig_open(board, capture, pace);
}

static void
tear_down(void)
{
	rig_close();
	if (capture[0])
		unlink(capture);
	capture[0] = '\0';
}

/* A and B send to each other, C sends once, with broadcasts between: enough for a switch to learn. */
static void
make_talk(unsigned rounds)
{
	made_begin(&made, false, false, 1);
	made_frame(&made, START, BROADCAST, MAC_A, 60);
	made_frame(&made, START + 10, MAC_A, MAC_B, 100);
	made_frame(&made, START + 20, MAC_A, MAC_C, 300);
	for (unsigned i = 0; i < rounds; i++) {
		made_frame(&made, START + 1000 * i + 100, MAC_B, MAC_A, 60);
		made_frame(&made, START + 1000 * i + 200, MAC_A, MAC_B, 1514);
		made_frame(&made, START + 1000 * i + 300, BROADCAST, MAC_C, 200);
	}
}

/* --- opening --- */

START_TEST(create_names_the_file_it_refuses)
{
	struct emulated_config config = {.board_file = "/nonexistent/board"};

	ck_assert_int_eq(
	    emulated_create(&config, &rig.device, rig.error, sizeof(rig.error)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(rig.error, "/nonexistent/board"));
	made_begin(&made, false, false, 113);
	made_write(&made, capture, sizeof(capture));
	config = (struct emulated_config){
	    .board_file = rig_board_file("gt48001a-8port"), .capture = capture};
	ck_assert_int_eq(
	    emulated_create(&config, &rig.device, rig.error, sizeof(rig.error)), -EPROTONOSUPPORT);
	ck_assert_ptr_nonnull(strstr(rig.error, capture));
	ck_assert_int_eq(emulated_check(&config, NULL, rig.error, sizeof(rig.error)), -EPROTONOSUPPORT);
	rig.device = NULL;
}
END_TEST

/* --- frames --- */

/* Ports of A, B, C are 1, 2, 3: in the order they first spoke. */
START_TEST(frames_are_counted_where_they_come_in_and_go_out)
{
	make_talk(10);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_run_to_end();
	ck_assert_uint_eq(rig_figure(1, HAL_RMON_PKTS), 11);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_BCAST_PKTS), 1);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_OCTETS), 11 * 64);
	ck_assert_uint_eq(rig_figure(1, HAL_OUT_UCAST_PKTS), 12);
	ck_assert_uint_eq(rig_figure(1, HAL_OUT_BCAST_PKTS), 10);
	ck_assert_uint_eq(rig_figure(1, HAL_OUT_OCTETS), 104 + 304 + 10 * 1518 + 10 * 204);
	ck_assert_uint_eq(rig_figure(1, HAL_POOL_OUT_PKTS), 22);
	ck_assert_uint_eq(rig_figure(2, HAL_IN_UCAST_PKTS), 11);
	ck_assert_uint_eq(rig_figure(2, HAL_RMON_1024_MAX), 10);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_UCAST_PKTS), 10);
	ck_assert_uint_eq(rig_figure(3, HAL_OUT_UCAST_PKTS), 0);
	ck_assert_uint_eq(rig_figure(3, HAL_OUT_BCAST_PKTS), 1);
	for (uint32_t quiet = 4; quiet <= 8; quiet++) {
		ck_assert_uint_eq(rig_figure(quiet, HAL_RMON_PKTS), 0);
		ck_assert_uint_eq(rig_figure(quiet, HAL_OUT_BCAST_PKTS), 11);
		ck_assert_uint_eq(rig_figure(quiet, HAL_OUT_UCAST_PKTS), 0);
	}
}
END_TEST

static int
set_static(uint64_t mac, uint32_t if_index)
{
	uint8_t octets[6];

	for (unsigned i = 0; i < 6; i++)
		octets[i] = (uint8_t)(mac >> (40 - 8 * i));
	return rig.device->addresses->set_static(rig.device->addresses_ctx, octets, if_index);
}

static int
count_management(void *arg, const struct hal_address *address)
{
	*(unsigned *)arg += address->status == HAL_ADDRESS_MGMT;
	return 0;
}

/* B is tied to a port of another chip: what is for it goes there alone, wherever B is heard, and it is
 * there when all that was learned has aged out. */
START_TEST(static_addresses_stay_where_they_are)
{
	unsigned n = 0;

	make_talk(10);
	use_made("stack-26port", EMULATED_PACE_LOCK_STEP);
	ck_assert_int_eq(set_static(MAC_B, 99), -ENODEV);
	ck_assert_int_eq(set_static(MAC_B, 9), 0);
	ck_assert_int_eq(set_static(MAC_B, 20), 0);
	rig_run_to_end();
	ck_assert_uint_eq(rig_figure(20, HAL_OUT_UCAST_PKTS), 10);
	ck_assert_uint_eq(rig_figure(9, HAL_OUT_UCAST_PKTS), 0);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_UCAST_PKTS), 0);
	ck_assert_int_eq(
	    rig.device->addresses->dump(rig.device->addresses_ctx, count_management, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(set_static(MAC_B, 0), 0);
	ck_assert_int_eq(set_static(MAC_B, 0), 0);
	ck_assert_int_eq(
	    rig.device->addresses->dump(rig.device->addresses_ctx, count_management, &n), 0);
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* Nine addresses of one bucket of eight: the last is static nowhere, and one that goes makes room. */
START_TEST(static_addresses_have_a_limit)
{
	uint64_t macs[GALNET_BUCKET_ENTRIES + 1];
	unsigned n = 0, listed = 0;

	for (uint64_t mac = MAC_A; n <= GALNET_BUCKET_ENTRIES; mac++) {
		if (galnet_bucket(mac) == galnet_bucket(MAC_A))
			macs[n++] = mac;
	}
	rig_open("stack-26port", NULL, EMULATED_PACE_LOCK_STEP);
	for (unsigned i = 0; i < GALNET_BUCKET_ENTRIES; i++)
		ck_assert_int_eq(set_static(macs[i], 1 + i), 0);
	ck_assert_int_eq(set_static(macs[GALNET_BUCKET_ENTRIES], 26), -ENOSPC);
	ck_assert_int_eq(set_static(macs[3], 26), 0); /* moving takes no room */
	ck_assert_int_eq(
	    rig.device->addresses->dump(rig.device->addresses_ctx, count_management, &listed), 0);
	ck_assert_uint_eq(listed, GALNET_BUCKET_ENTRIES);
	ck_assert_int_eq(set_static(macs[3], 0), 0);
	ck_assert_int_eq(set_static(macs[GALNET_BUCKET_ENTRIES], 26), 0);
}
END_TEST

/* One station a port: each is flooded once, then sends to the one nine ports on. */
static void
make_ring(uint64_t n)
{
	made_begin(&made, false, false, 1);
	for (uint64_t i = 0; i < n; i++)
		made_frame(&made, START + i, BROADCAST, MAC_A + i, 60);
	for (uint64_t i = 0; i < n; i++)
		made_frame(&made, START + 1000 + i, MAC_A + (i + 9) % n, MAC_A + i, 200);
}

static void
expect_ring(uint32_t n)
{
	rig_sample_all(0);
	rig_run_to_end();
	for (uint32_t port = 1; port <= n; port++) {
		ck_assert_uint_eq(rig_figure(port, HAL_IN_BCAST_PKTS), 1);
		ck_assert_uint_eq(rig_figure(port, HAL_OUT_BCAST_PKTS), n - 1);
		ck_assert_uint_eq(rig_figure(port, HAL_OUT_UCAST_PKTS), 1);
		ck_assert_uint_eq(rig_figure(port, HAL_OUT_OCTETS), (n - 1) * 64 + 204);
	}
	ck_assert_uint_eq(rig.hal.n_samples, n * n + n * 2);
	ck_assert_uint_eq(rig.hal.n_new_addresses, n);
}

START_TEST(chips_on_one_bus_switch_as_one)
{
	make_ring(26);
	use_made("stack-26port", EMULATED_PACE_LOCK_STEP);
	expect_ring(26);
}
END_TEST

/* 31 switch chips and the CPU are the 32 devices that a GalNet bus can have. */
START_TEST(as_many_chips_as_a_bus_can_have)
{
	enum { CHIPS = 31, PORTS = 2 * CHIPS, MACS = (PORTS + 3) / 4 };
	char path[] = "/tmp/board.XXXXXX";
	struct emulated_config config = {.board_file = path, .capture = capture,
	    .pace = EMULATED_PACE_LOCK_STEP, .zero = EMULATED_ZERO_CAPTURE};
	FILE *board = fdopen(mkstemp(path), "w");

	for (int i = 0; i < CHIPS; i++)
		fprintf(board, "chip \"s%d\" { type = gt48002a }\n", i);
	for (int i = 0; i < MACS; i++)
		fprintf(board, "chip \"m%d\" { type = c84302 }\n", i);
	for (int i = 0; i < PORTS; i++)
		fprintf(board, "port \"fe-%d\" { speed = 100 }\n", i + 1);
	fclose(board);
	make_ring(PORTS);
	made_write(&made, capture, sizeof(capture));
	rig_open_config(&config);
	unlink(path);
	expect_ring(PORTS);
}
END_TEST

START_TEST(oversize_frames_and_runts_stop_at_the_mac)
{
	uint8_t runt[13] = {2, 0, 0, 0, 0, 9};

	made_begin(&made, false, false, 1);
	made_frame(&made, START, BROADCAST, MAC_A, 1515);
	made_frame(&made, START, BROADCAST, MAC_A, 1514);
	made_record(&made, START, 13, 13, runt);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_sample_all(0);
	rig_run_to_end();
	ck_assert_uint_eq(rig_sum(HAL_RMON_PKTS), 3);
	ck_assert_uint_eq(rig_sum(HAL_RMON_OVERSIZE), 1);
	ck_assert_uint_eq(rig_sum(HAL_RMON_UNDERSIZE), 1);
	ck_assert_uint_eq(rig_sum(HAL_FRAME_TOO_LONGS), 1);
	ck_assert_uint_eq(rig_sum(HAL_IN_BCAST_PKTS), 1);
	ck_assert_uint_eq(rig_sum(HAL_OUT_BCAST_PKTS), 7);
	ck_assert_uint_eq(rig.hal.n_samples, 8);
	ck_assert_uint_eq(rig_stat("galnet.error_source_too_long"), 1);
}
END_TEST

static void
make_pause(void)
{
	uint8_t pause[60] = {1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x88, 0x08, 0, 1};
	uint8_t other[60];

	memcpy(other, pause, sizeof(other));
	other[15] = 0x55;
	made_begin(&made, false, false, 1);
	made_record(&made, START, 60, 60, pause);
	made_record(&made, START, 60, 60, other);
}

START_TEST(mac_control_frames_are_counted_sampled_and_not_forwarded)
{
	make_pause();
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_sample_all(0);
	rig_run_to_end();
	ck_assert_uint_eq(rig_figure(1, HAL_IN_PAUSE_PKTS), 1);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_UNKNOWN_OPCODES), 1);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_MCAST_PKTS), 0);
	ck_assert_uint_eq(rig_figure(1, HAL_RMON_MCAST_PKTS), 2);
	ck_assert_uint_eq(rig_figure(1, HAL_POOL_IN_PKTS), 2);
	ck_assert_uint_eq(rig_sum(HAL_POOL_OUT_PKTS), 0);
	ck_assert_uint_eq(rig.hal.n_samples, 2);
}
END_TEST

START_TEST(a_port_that_is_shut_drops_its_frames)
{
	struct hal_port port;

	make_talk(10);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	ck_assert_int_eq(
	    rig.device->ports->set_admin_status(rig.device->ports_ctx, 2, EASE_IF_DOWN), 0);
	rig_run_to_end();
	ck_assert_int_eq(rig.device->ports->get(rig.device->ports_ctx, 2, &port), 0);
	ck_assert_uint_eq(port.oper_status, EASE_IF_DOWN);
	ck_assert_uint_eq(rig_figure(2, HAL_RMON_PKTS), 0);
	ck_assert_uint_eq(rig_figure(2, HAL_POOL_OUT_PKTS), 0);
	ck_assert_uint_eq(rig_figure(3, HAL_OUT_UCAST_PKTS), 10);
	ck_assert_uint_eq(rig_stat("board.port_down"), 11);
}
END_TEST

START_TEST(ports_tell_what_they_are)
{
	struct hal_port port;

	rig_open("stack-26port", NULL, EMULATED_PACE_LOCK_STEP);
	ck_assert_int_eq(rig.device->ports->get(rig.device->ports_ctx, 25, &port), 0);
	ck_assert_str_eq(port.name, "ge-1");
	ck_assert_str_eq(port.descr, "easeswitch GT-48002A port 25");
	ck_assert_uint_eq(port.speed_bps, 100000000);
	ck_assert_uint_eq(port.oper_status, EASE_IF_UP);
	ck_assert_uint_eq(port.mac[0] & 3, 2);
	ck_assert_uint_eq(port.mac[5], 25);
	ck_assert_int_eq(rig.device->ports->get(rig.device->ports_ctx, 27, &port), -ENODEV);
	ck_assert_int_eq(rig.device->ports->get(rig.device->ports_ctx, 0, &port), -ENODEV);
	ck_assert_int_eq(rig.device->sampling->load_skip(rig.device->sampling_ctx, 27, 0), -ENODEV);
}
END_TEST

/* The board of a file that was edited: "a" was taken out, "x" put before "b", "d" behind. */
START_TEST(numbers_stay_with_names)
{
	static const struct kept_if_index kept[] = {{"a", 1}, {"b", 2}, {"c", 3}};
	static const char text[] = "chip \"s\" { type = gt48001a }\nchip \"m\" { type = c84302 }\n"
				   "port \"x\" { }\nport \"b\" { }\nport \"c\" { }\nport \"d\" { }\n";
	static const uint32_t wanted[] = {4, 2, 3, 5}; /* 1 is a's, should it come back */
	struct board_plan plan;
	char error[256];

	ck_assert_msg(board_parse("b", text, &plan, error, sizeof(error)) == 0, "%s", error);
	board_number_ports(&plan, kept, 3);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(board_port(&plan, i)->if_index, wanted[i]);
		ck_assert_int_eq(board_port_position(&plan, wanted[i]), i);
	}
	ck_assert_int_eq(board_port_position(&plan, 1), -1);
	ck_assert_int_eq(board_port_position(&plan, 0), -1);
	board_number_ports(&plan, kept, 1); /* none of its ports: another switch */
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(board_port(&plan, i)->if_index, i + 1);
	board_free(&plan);
}
END_TEST

/* All parts of a board call a port by its number. */
START_TEST(ports_with_numbers_of_their_own)
{
	static const struct kept_if_index kept[] = {{"e-1", 70}, {"e-3", 1}};
	struct emulated_config config = {.board_file = rig_board_file("gt48001a-8port"),
	    .capture = capture, .pace = EMULATED_PACE_LOCK_STEP, .zero = EMULATED_ZERO_CAPTURE,
	    .kept = kept, .n_kept = 2};
	const struct hal_ports_ops *ports;
	struct hal_port port;

	make_talk(10); /* A, B, C are at e-1, e-2, e-3 */
	made_write(&made, capture, sizeof(capture));
	rig_open_config(&config);
	ports = rig.device->ports;
	ck_assert_uint_eq(ports->if_index(rig.device->ports_ctx, 0), 1);
	ck_assert_uint_eq(ports->if_index(rig.device->ports_ctx, 7), 70);
	ck_assert_int_eq(ports->get(rig.device->ports_ctx, 70, &port), 0);
	ck_assert_str_eq(port.name, "e-1");
	ck_assert_int_eq(ports->get(rig.device->ports_ctx, 9, &port), -ENODEV);
	rig_sample_all(0);
	rig_run_to_end();
	ck_assert_uint_eq(rig_figure(70, HAL_IN_UCAST_PKTS), 10);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_BCAST_PKTS), 10);
	ck_assert_uint_eq(rig.hal.samples[0].event.if_index, 70);
	ck_assert_uint_eq(rig.hal.new_addresses[0].if_index, 70);
	ck_assert_uint_eq(rig.device->modules->of_port(rig.device->modules_ctx, 70), 0);
}
END_TEST

START_TEST(chips_are_modules)
{
	const struct hal_modules_ops *ops;
	struct hal_part part = {0};
	void *ctx;

	rig_open("stack-26port", NULL, EMULATED_PACE_LOCK_STEP);
	ops = rig.device->modules;
	ctx = rig.device->modules_ctx;
	ck_assert_uint_eq(ops->count(ctx), 4 + 7); /* 3 x 8 + 2 ports, four a MAC chip */
	ck_assert_uint_eq(ops->of_port(ctx, 8), 0);
	ck_assert_uint_eq(ops->of_port(ctx, 9), 1);
	ck_assert_uint_eq(ops->of_port(ctx, 26), 3);
	ops->get(ctx, 3, &part);
	ck_assert_str_eq(part.model, "GT-48002A");
	ops->get(ctx, 4, &part);
	ck_assert_str_eq(part.model, "84302");
}
END_TEST

/* --- sampling in lock step --- */

/* With K loaded without a gap, frame K + 1, 2(K + 1), … of a port's pool is the sample. */
START_TEST(a_port_s_samples_are_its_pool_by_its_period)
{
	static const uint32_t skips[] = {0, 1, 6, 40};

	make_talk(100);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_sample_all(skips[_i]);
	rig_run_to_end();
	for (uint32_t port = 1; port <= 8; port++) {
		struct hal_counters c = rig_counters(port);
		uint64_t pool = c.value[HAL_POOL_IN_PKTS] + c.value[HAL_POOL_OUT_PKTS];
		uint64_t samples = 0;

		for (size_t i = 0; i < rig.hal.n_samples; i++)
			samples += rig.hal.samples[i].event.if_index == port;
		ck_assert_uint_eq(samples, pool / (skips[_i] + 1));
	}
}
END_TEST
enum { SKIPS = 4 };

/* In lock step the CPU sees the counters as they were right behind the sampled frame, and board
 * time stands at it. */
static int64_t
check_pool(void *ctx, const struct hal_sample_event *event)
{
	uint64_t *seen = ctx;
	struct hal_counters c = rig_counters(event->if_index);

	++*seen;
	ck_assert_uint_eq(c.value[HAL_POOL_IN_PKTS] + c.value[HAL_POOL_OUT_PKTS],
	    rig.hal.n_samples ? (*seen) * 3 : 0);
	ck_assert_uint_eq(rig.device->ops->now_us(rig.device->ctx), event->time_us);
	return rig.skip;
}

START_TEST(lock_step_shows_the_pool_at_the_sample)
{
	uint64_t seen = 0;

	make_talk(50);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig.hal.on_sample = check_pool;
	rig.hal.ctx = &seen;
	rig.skip = 2;
	rig_load(1);
	rig_run_to_end();
	ck_assert_uint_eq(seen, (51 + 52 + 50) / 3);
}
END_TEST

static void
run_recorded(struct fake_sample *samples, size_t *n)
{
	rig_open("gt48001a-8port", capture, EMULATED_PACE_LOCK_STEP);
	rig_sample_all(4);
	rig_run_to_end();
	*n = rig.hal.n_samples;
	memcpy(samples, rig.hal.samples, sizeof(rig.hal.samples));
	rig_close();
}

START_TEST(runs_repeat_exactly)
{
	static struct fake_sample first[FAKE_HAL_MAX], second[FAKE_HAL_MAX];
	size_t n, again;

	make_talk(500);
	made_write(&made, capture, sizeof(capture));
	run_recorded(first, &n);
	run_recorded(second, &again);
	ck_assert_uint_eq(n, again);
	ck_assert_uint_gt(n, 500);
	for (size_t i = 0; i < n; i++) {
		struct hal_sample_event *a = &first[i].event, *b = &second[i].event;

		ck_assert_uint_eq(a->if_index, b->if_index);
		ck_assert_uint_eq(a->direction, b->direction);
		ck_assert_uint_eq(a->time_us, b->time_us);
		ck_assert_uint_eq(a->frame_octets, b->frame_octets);
		ck_assert_mem_eq(first[i].kept, second[i].kept, FAKE_HAL_KEPT_OCTETS);
	}
}
END_TEST

/* The CPU holds the board back by leaving events: nothing moves, nothing is lost. */
START_TEST(events_left_pending_hold_the_board)
{
	struct pollfd fd;
	uint64_t pkts;

	make_talk(50);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_sample_all(0);
	rig.hal.on_skips_lost = rig_refill_both;
	fd = (struct pollfd){.fd = rig.device->ops->fd(rig.device->ctx), .events = POLLIN};
	ck_assert_int_eq(rig.device->ops->start(rig.device->ctx, &rig.hal), 0);
	while (rig.hal.n_samples == 0) {
		ck_assert_int_eq(poll(&fd, 1, 10000), 1);
		rig.device->ops->dispatch(rig.device->ctx, 1);
	}
	/* A restart takes several events. */
	ck_assert_int_eq(rig.device->sampling->restart(rig.device->sampling_ctx, 1), 0);
	ck_assert_int_eq(rig.device->ops->dispatch(rig.device->ctx, 1), 1);
	pkts = rig_sum(HAL_RMON_PKTS);
	ck_assert_int_eq(poll(&fd, 1, 0), 1);
	ck_assert_int_eq(poll(NULL, 0, 20), 0);
	ck_assert_uint_eq(rig_sum(HAL_RMON_PKTS), pkts);
	while (rig.hal.n_ended == 0) {
		ck_assert_int_eq(poll(&fd, 1, 10000), 1);
		rig.device->ops->dispatch(rig.device->ctx, 1);
	}
	rig.device->ops->stop(rig.device->ctx);
	ck_assert_uint_eq(rig_sum(HAL_RMON_PKTS), 153);
	ck_assert_uint_eq(
	    rig.hal.n_samples, rig_sum(HAL_POOL_IN_PKTS) + rig_sum(HAL_POOL_OUT_PKTS));
	ck_assert_uint_eq(rig.hal.n_ended, 1);
}
END_TEST

START_TEST(restarting_takes_effect_at_once)
{
	make_talk(50);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_sample_all(0xfffff);
	rig.skip = 0;
	rig.hal.on_skips_lost = rig_refill_both;
	ck_assert_int_eq(rig.device->sampling->restart(rig.device->sampling_ctx, 1), 0);
	rig_run_to_end();
	ck_assert_uint_eq(
	    rig.hal.n_samples, rig_figure(1, HAL_POOL_IN_PKTS) + rig_figure(1, HAL_POOL_OUT_PKTS));
}
END_TEST

/* --- time --- */

struct alarms {
	uint64_t period_us, expected_us;
	unsigned n;
};

static void
on_alarm(void *ctx, uint64_t device_us)
{
	struct alarms *a = ctx;
	uint64_t pkts = rig_sum(HAL_RMON_PKTS);

	ck_assert_uint_eq(device_us, a->expected_us);
	ck_assert_uint_eq(rig.device->ops->now_us(rig.device->ctx), a->expected_us);
	/* one frame every 1,000 us from START on, the last not later than the alarm */
	ck_assert_uint_eq(pkts, (device_us - START) / 1000 + 1);
	a->n++;
	a->expected_us += a->period_us;
	rig.device->ops->alarm(rig.device->ctx, a->expected_us);
}

/* Alarms come between frames, at their time exactly: also on a frame's own microsecond. */
START_TEST(alarms_stop_the_board_at_their_time)
{
	struct alarms alarms = {.period_us = _i ? 2000 : 1700};

	made_begin(&made, false, false, 1);
	for (uint64_t i = 0; i < 100; i++)
		made_frame(&made, START + 1000 * i, MAC_B, MAC_A, 60);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	alarms.expected_us = START + alarms.period_us;
	rig.hal.on_alarm = on_alarm;
	rig.hal.ctx = &alarms;
	rig.device->ops->alarm(rig.device->ctx, alarms.expected_us);
	rig_run_to_end();
	ck_assert_uint_eq(alarms.n, (99000 - 1) / alarms.period_us);
	ck_assert_uint_eq(rig.device->ops->now_us(rig.device->ctx), START + 99000);
}
END_TEST

static void
keep_ringing(void *ctx, uint64_t device_us)
{
	(void)ctx;
	rig.device->ops->alarm(rig.device->ctx, device_us + 20000000);
}

START_TEST(time_never_goes_back_and_long_silences_are_steps)
{
	uint64_t year = 365ull * 86400 * 1000000;

	made_begin(&made, false, false, 1);
	made_frame(&made, START, MAC_B, MAC_A, 60);
	made_frame(&made, START - 5000000, MAC_B, MAC_A, 60);
	made_frame(&made, START + 60000000, MAC_B, MAC_A, 60);
	made_frame(&made, START + year, MAC_B, MAC_A, 60);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig.hal.on_alarm = keep_ringing;
	rig.device->ops->alarm(rig.device->ctx, START + 20000000);
	rig_run_to_end();
	ck_assert_uint_eq(rig.device->ops->now_us(rig.device->ctx), START + year);
	ck_assert_uint_eq(rig_stat("board.times_back"), 1);
	ck_assert_uint_eq(rig_stat("board.time_steps"), 1);
	ck_assert_uint_eq(rig.hal.n_alarms, 3);
}
END_TEST

START_TEST(paced_runs_reach_the_same_counters)
{
	make_talk(200);
	use_made("gt48001a-8port", EMULATED_PACE_RECORDED);
	ck_assert(!rig.device->ops->waits_for_cpu);
	rig_sample_all(10);
	rig_run_to_end();
	ck_assert_uint_eq(rig_sum(HAL_RMON_PKTS), 603);
	ck_assert_uint_eq(rig_figure(1, HAL_OUT_UCAST_PKTS), 202);
	ck_assert_uint_eq(rig_stat("galnet.samples_lost"), 0);
}
END_TEST

/* Recorded time holds: ten frames 2 ms apart take 18 ms at least. */
START_TEST(recorded_time_is_kept)
{
	struct emulated_config config = {
	    .board_file = rig_board_file("gt48001a-8port"), .capture = capture};
	uint64_t before, after;

	made_begin(&made, false, false, 1);
	for (uint64_t i = 0; i < 10; i++)
		made_frame(&made, START + 2000 * i, MAC_B, MAC_A, 60);
	made_write(&made, capture, sizeof(capture));
	memset(&rig.hal, 0, sizeof(rig.hal));
	before = clock_wall_us(&clock_system);
	ck_assert_int_eq(emulated_create(&config, &rig.device, rig.error, sizeof(rig.error)), 0);
	ck_assert_uint_ge(rig.device->ops->now_us(rig.device->ctx), before);
	before = clock_mono_us(&clock_system);
	rig_run_to_end();
	after = clock_mono_us(&clock_system);
	ck_assert_uint_ge(after - before, 18000);
}
END_TEST

/* Waiting for the second frame, which is 50 minutes away; for the CPU, which has a sample to take;
 * for the first dispatch. */
START_TEST(it_stops_at_once_whatever_it_waits_for)
{
	struct emulated_config config = {
	    .board_file = rig_board_file("gt48001a-8port"), .capture = capture, .times = 1};
	struct pollfd fd = {.events = POLLIN};

	made_begin(&made, false, false, 1);
	made_frame(&made, START, MAC_B, MAC_A, 60);
	made_frame(&made, START + 3000000000ull, MAC_B, MAC_A, 60);
	made_write(&made, capture, sizeof(capture));
	config.pace = _i == 0 ? EMULATED_PACE_RECORDED : EMULATED_PACE_LOCK_STEP;
	memset(&rig.hal, 0, sizeof(rig.hal));
	ck_assert_int_eq(emulated_create(&config, &rig.device, rig.error, sizeof(rig.error)), 0);
	rig_sample_all(0);
	ck_assert_int_eq(rig.device->ops->start(rig.device->ctx, &rig.hal), 0);
	fd.fd = rig.device->ops->fd(rig.device->ctx);
	while (_i == 0 && rig.hal.n_samples == 0) {
		ck_assert_int_eq(poll(&fd, 1, 10000), 1);
		rig.device->ops->dispatch(rig.device->ctx, 0);
	}
	if (_i == 1) {
		rig.device->ops->dispatch(rig.device->ctx, 1);
		ck_assert_int_eq(poll(&fd, 1, 10000), 1);
	}
	rig.device->ops->stop(rig.device->ctx);
	ck_assert_uint_eq(rig.hal.n_ended, 0);
	ck_assert_int_eq(rig.device->ops->start(rig.device->ctx, &rig.hal), 0);
	rig.device->ops->stop(rig.device->ctx);
}
END_TEST

static int
count_address(void *arg, const struct hal_address *address)
{
	(void)address;
	++*(unsigned *)arg;
	return 0;
}

/* More stations than the table holds: each is in it or counted as discarded; all that is sent is
 * switched, known or not. */
START_TEST(an_overfull_table_loses_only_addresses)
{
	enum { STATIONS = 20000, CAPACITY = 8192 };
	unsigned learned = 0;
	uint64_t discards;

	made_begin(&made, false, false, 1);
	for (uint64_t i = 0; i < STATIONS; i++)
		made_frame(&made, START + 100 * i, MAC_B, MAC_C + i, 60);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_run_to_end();
	rig.device->addresses->dump(rig.device->addresses_ctx, count_address, &learned);
	discards = rig.device->addresses->discards(rig.device->addresses_ctx);
	ck_assert_uint_gt(learned, CAPACITY * 9 / 10);
	ck_assert_uint_le(learned, CAPACITY);
	ck_assert_uint_eq(learned + discards, STATIONS);
	ck_assert_uint_eq(rig.hal.n_new_addresses, learned);
	ck_assert_uint_eq(rig_sum(HAL_IN_UCAST_PKTS), STATIONS);
	ck_assert_uint_eq(rig_sum(HAL_OUT_UCAST_PKTS), STATIONS * 7);
}
END_TEST

START_TEST(addresses_age_out)
{
	unsigned kept = 0;

	made_begin(&made, false, false, 1);
	made_frame(&made, START, BROADCAST, MAC_A, 60);
	for (uint64_t i = 1; i < 80; i++)
		made_frame(&made, START + i * 10000000, BROADCAST, MAC_B, 60);
	made_frame(&made, START + 800000000, MAC_A, MAC_C, 60);
	use_made("gt48001a-8port", EMULATED_PACE_LOCK_STEP);
	rig_run_to_end();
	for (uint32_t port = 4; port <= 8; port++)
		kept += rig_figure(port, HAL_OUT_UCAST_PKTS) == 0;
	ck_assert_uint_eq(kept, 0);
	ck_assert_uint_eq(rig.hal.n_new_addresses, 3);
}
END_TEST

static TCase *
make_cases(void)
{
	TCase *c = tcase_create("emulated");

	tcase_add_checked_fixture(c, NULL, tear_down);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, create_names_the_file_it_refuses);
	tcase_add_test(c, frames_are_counted_where_they_come_in_and_go_out);
	tcase_add_test(c, static_addresses_stay_where_they_are);
	tcase_add_test(c, static_addresses_have_a_limit);
	tcase_add_test(c, chips_on_one_bus_switch_as_one);
	tcase_add_test(c, as_many_chips_as_a_bus_can_have);
	tcase_add_test(c, oversize_frames_and_runts_stop_at_the_mac);
	tcase_add_test(c, mac_control_frames_are_counted_sampled_and_not_forwarded);
	tcase_add_test(c, a_port_that_is_shut_drops_its_frames);
	tcase_add_test(c, ports_tell_what_they_are);
	tcase_add_test(c, numbers_stay_with_names);
	tcase_add_test(c, ports_with_numbers_of_their_own);
	tcase_add_test(c, chips_are_modules);
	tcase_add_loop_test(c, a_port_s_samples_are_its_pool_by_its_period, 0, SKIPS);
	tcase_add_test(c, lock_step_shows_the_pool_at_the_sample);
	tcase_add_test(c, runs_repeat_exactly);
	tcase_add_test(c, events_left_pending_hold_the_board);
	tcase_add_test(c, restarting_takes_effect_at_once);
	tcase_add_loop_test(c, alarms_stop_the_board_at_their_time, 0, 2);
	tcase_add_test(c, time_never_goes_back_and_long_silences_are_steps);
	tcase_add_test(c, paced_runs_reach_the_same_counters);
	tcase_add_test(c, recorded_time_is_kept);
	tcase_add_loop_test(c, it_stops_at_once_whatever_it_waits_for, 0, 3);
	tcase_add_test(c, an_overfull_table_loses_only_addresses);
	tcase_add_test(c, addresses_age_out);
	return c;
}

int
main(void)
{
	Suite *suite = suite_create("emulated");

	log_open("check_emulated", false, LOG_LEVEL_ERROR);
	suite_add_tcase(suite, make_cases());
	return suite_run(suite);
}
