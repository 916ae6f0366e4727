/*
 * Board files: what is refused and why, and what ports are told there: captures of their own, links
 * that change, errors of the line, network interfaces.
 */
#include "agent/sim/board_draw.h"
#include "common/log.h"
#include "tests/agent/sim/emulated_rig.h"
#include "tests/support/make_capture.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAC_A	  0x020000000001ull
#define MAC_B	  0x020000000002ull
#define BROADCAST 0xffffffffffffull
#define START	  1700000000000000ull

static struct made_capture made;
static char capture[256], board[256]; /* files; "" none */

static void
write_board(const char *text)
{
	int fd;

	snprintf(board, sizeof(board), "/tmp/ease-board-XXXXXX");
	fd = mkstemp(board);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void
open_board(const char *text, const char *dealt, enum emulated_pace pace)
{
	struct emulated_config config = {
	    .capture = dealt, .pace = pace, .zero = EMULATED_ZERO_CAPTURE};

	write_board(text);
	config.board_file = board;
	rig_open_config(&config);
}

static void
tear_down(void)
{
	rig_close();
	if (capture[0])
		unlink(capture);
	if (board[0])
		unlink(board);
	capture[0] = board[0] = '\0';
}

/* --- what a file says --- */

START_TEST(boards_of_the_project_load)
{
	static const struct {
		const char *name;
		size_t ports;
	} boards[] = {{"gt48002a-2port", 2}, {"gt48001a-8port", 8}, {"eee-8port", 8},
	    {"gigabit-9port", 9}, {"stack-26port", 26}, {"full-26port", 26}, {"stack-64port", 64}};
	struct emulated_config config = {.board_file = rig_board_file(boards[_i].name)};
	struct board_plan plan;

	ck_assert_int_eq(emulated_check(&config, NULL, rig.error, sizeof(rig.error)), 0);
	ck_assert_int_eq(board_load(config.board_file, &plan, rig.error, sizeof(rig.error)), 0);
	ck_assert_uint_eq(plan.ports.n, boards[_i].ports);
	board_free(&plan);
}
END_TEST
enum { BOARDS = 7 };

#define CHIPS_OF_2 "chip \"s\" { type = gt48002a }\nchip \"m\" { type = c84302 }\n"
#define PORT_B(options) CHIPS_OF_2 "port \"a\" {}\nport \"b\" { " options " }\n"

static const struct {
	const char *text, *error;
} wrong_boards[] = {
    {"", "b: it has no port"},
    {CHIPS_OF_2 "chip \"t\" { type = gt48002a }\nport \"a\" {}\nport \"b\" {}\n",
	"b:3: chip \"t\": all 2 ports of the board are wired to chips before it"},
    {PORT_B("speed = 100 duplex = half eee = on"),
	"b:4: port \"b\": EEE needs 100 Mb/s or more and duplex = full"},
    {PORT_B("speed = 100 eee = on"), "b:4: port \"b\": EEE needs a chip of type eee"},
    {"buffer_octets = 48\n", "b:1: buffer_octets: \"48\": it is not a power of two"},
    {"buffers = 48\nchip \"p\" { type = tnetx4090 }\n" PORT_B(""), "b: buffers: 48 is too few "
	"for a flow_threshold of 48 (the default, with which every port can finish a frame)"},
    {"flow_threshold = 1200\nchip \"p\" { type = tnetx4090 }\n" PORT_B(""),
	"b: buffers: 1200 is too few for a flow_threshold of 1200"},
    {"chip \"e\" { type = eee }\nchip \"f\" { type = eee }\n" PORT_B(""),
	"b:2: chip \"f\": a board has at most 1 eee chips"},
    {"chip \"s\" { type = gt48001a }\nchip \"m\" { type = c84302 }\nport \"a\" {}\n"
     "port \"b\" {}\nport \"c\" {}\nport \"d\" {}\nport \"e\" {}\n",
	"b:7: port \"e\": the MAC chips of the board have only 4 ports"},
    {CHIPS_OF_2 "port \"a\" {}\nport \"b\" {}\nport \"c\" {\n}\n",
	"b:6: port \"c\": the switch chips of the board have only 2 ports"},
    {"chip \"s\" { type = gt48002a }\nport \"a\" {}\nport \"b\" {}\n",
	"b:2: port \"a\": the MAC chips of the board have only 0 ports"},
    {PORT_B("speed = 5"), "b:4: speed: must be a whole number from 10 to 1000 Mb/s, not \"5\""},
    {PORT_B("speed = 50"), "b:4: speed: \"50\": it must be 10, 100 or 1000 Mb/s"},
    {PORT_B("sped = 5"), "b:4: sped: unknown option"},
    {"max_frame = 9000\n", "b:1: "},
    {PORT_B("capture = \"\""), "b:4: capture: \"\": it must be deal, none, a file or live:INTERFACE"},
    {PORT_B("capture = \"live:\""), "b:4: capture: "},
    {CHIPS_OF_2 "port \"\" {}\nport \"b\" {}\n",
	"b:3: a port's name is empty or longer than 64 octets"},
    {PORT_B("speed = 1000 duplex = half"), "b:4: port \"b\": 1000 Mb/s needs duplex = full"},
    {PORT_B("interface = eth0"), "b:4: port \"b\": interface and start are allowed only if capture is a file"},
    {PORT_B("start = soon"), "b:4: start: \"soon\": it must be recorded or a number of seconds, as in 2.5"},
    {PORT_B("link_changes = {\"1 up\", \"2 sideways\"}"),
	"b:4: link_changes: \"2 sideways\": it must end with up or down"},
    {PORT_B("link_changes = {\"1.1234567 up\"}"), "b:4: link_changes: "},
    {PORT_B("link_changes = {\"1. up\"}"), "b:4: link_changes: "},
    {PORT_B("link_changes = {\"99999999 up\"}"), "b:4: link_changes: "},
    {PORT_B("errors = {\"crc\"}"), "b:4: errors: "},
    {PORT_B("errors = {\"crc 0\"}"), "b:4: errors: \"crc 0\": an error must come once in 1 to 4294967295 frames"},
    {PORT_B("errors = {\"crc 10 20\"}"), "b:4: errors: "},
    {PORT_B("errors = {\"cr 10\"}"), "b:4: errors: "},
};
enum { WRONG_BOARDS = sizeof(wrong_boards) / sizeof(wrong_boards[0]) };

START_TEST(wrong_boards_are_refused_with_line_and_reason)
{
	const char *expected = wrong_boards[_i].error;
	struct board_plan plan;

	ck_assert_int_lt(
	    board_parse("b", wrong_boards[_i].text, &plan, rig.error, sizeof(rig.error)), 0);
	ck_assert_msg(strncmp(rig.error, expected, strlen(expected)) == 0, "%s", rig.error);
}
END_TEST

START_TEST(times_and_rates_are_read_exactly)
{
	struct feed_link_change change;
	struct feed_error error;

	ck_assert_ptr_null(board_link_change("0.000001 up", &change));
	ck_assert_uint_eq(change.at_us, 1);
	ck_assert(change.up);
	ck_assert_ptr_null(board_link_change("12.5 down", &change));
	ck_assert_uint_eq(change.at_us, 12500000);
	ck_assert(!change.up);
	ck_assert_ptr_null(board_error("jabber 4294967295", &error));
	ck_assert_int_eq(error.kind, FEED_ERROR_JABBER);
	ck_assert_uint_eq(error.one_in, UINT32_MAX);
}
END_TEST

/* What --check shows: everything the file says is in it. */
START_TEST(a_board_is_drawn)
{
	static const char text[] =
	    "errors = {\"crc 9\"}\n" CHIPS_OF_2 "chip \"t\" { type = gt48001a }\n"
	    "port \"up\" { speed = 100 link_changes = {\"5 down\", \"7.5 up\"} }\n"
	    "port \"b\" { duplex = half capture = x.pcapng interface = eth1 start = 2.5 }\n"
	    "port \"c\" { pause = off link = down errors = {\"runt 7\"} }\n";
	static const char expected[] =
	    "b: 3 ports, frames up to 1518 octets\n"
	    "\n"
	    "PCI          PORT  SPEED  DUPLEX  LINK  MAC  PAUSE  INPUT\n"
	    " |\n"
	    " +-- s  GT-48002A, device 0\n"
	    " |    |-- 0  up     100M  full    up    m.0  on     deal; link at 5 down, 7.5 up; "
	    "errors, one in: crc 9\n"
	    " |    `-- 1  b       10M  half    up    m.1  -      x.pcapng (eth1) from 2.5 s; "
	    "errors, one in: crc 9\n"
	    " |\n"
	    " +-- t  GT-48001A, device 1\n"
	    "      |-- 0  c       10M  full    down  m.2  off    none (link is down); "
	    "errors, one in: runt 7\n"
	    "      |-- 1  (unconnected)\n"
	    "      |-- 2  (unconnected)\n"
	    "      |-- 3  (unconnected)\n"
	    "      |-- 4  (unconnected)\n"
	    "      |-- 5  (unconnected)\n"
	    "      |-- 6  (unconnected)\n"
	    "      `-- 7  (unconnected)\n"
	    "\n"
	    "MAC      84302: m (3 of 4 ports in use)\n"
	    "deal     y.pcap, to 1 ports by interface\n";
	struct board_feed_config feed_config = {.capture = "y.pcap", .deal = FEED_DEAL_INTERFACE};
	struct board_plan plan;
	char *drawn = NULL;
	size_t size;
	FILE *out = open_memstream(&drawn, &size);

	ck_assert_msg(board_parse("b", text, &plan, rig.error, sizeof(rig.error)) == 0, "%s",
	    rig.error);
	board_draw(out, "b", &plan, &feed_config);
	fclose(out);
	ck_assert_str_eq(drawn, expected);
	free(drawn);
	board_free(&plan);
}
END_TEST

/* --- what it does --- */

static void
make_broadcasts(unsigned n, uint64_t step_us)
{
	made_begin(&made, false, false, 1);
	for (unsigned i = 0; i < n; i++)
		made_frame(&made, START + i * step_us, BROADCAST, MAC_A, 60 + i % 100);
	made_write(&made, capture, sizeof(capture));
}

START_TEST(channels_that_are_left_over_stay_unconnected)
{
	make_broadcasts(10, 1000);
	open_board("chip \"s\" { type = gt48001a }\nchip \"m\" { type = c84302 }\n"
		   "port \"a\" {}\nport \"b\" {}\nport \"c\" {}\n",
	    capture, EMULATED_PACE_LOCK_STEP);
	ck_assert_uint_eq(rig_n_ports(), 3);
	rig_sample_all(0);
	rig_run_to_end();
	ck_assert_uint_eq(rig_figure(3, HAL_OUT_BCAST_PKTS), 10);
	ck_assert_uint_eq(rig.hal.n_samples, 10 + 2 * 10); /* received, and sent by both others */
}
END_TEST

/* A sends ten frames a second; the link of the other port is down from 2.05 to 5.05 s, that of A's
 * own from 7.05 s on. */
START_TEST(links_change_at_their_times)
{
	struct hal_port port;

	make_broadcasts(100, 100000);
	open_board(CHIPS_OF_2 "port \"a\" { link_changes = {\"7.05 down\"} }\n"
			      "port \"b\" { capture = none "
			      "link_changes = {\"5.05 up\", \"2.05 down\"} }",
	    capture, EMULATED_PACE_LOCK_STEP);
	rig_run_to_end();
	ck_assert_uint_eq(rig_stat("feed.link_changes"), 3);
	ck_assert_uint_eq(rig_figure(1, HAL_RMON_PKTS), 71);
	ck_assert_uint_eq(rig_stat("board.port_down"), 29);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_BCAST_PKTS), 71 - 30);
	ck_assert_uint_ge(rig.hal.n_port_changes, 3);
	ck_assert_int_eq(rig.device->ports->get(rig.device->ports_ctx, 1, &port), 0);
	ck_assert_uint_eq(port.oper_status, EASE_IF_DOWN);
	ck_assert_int_eq(rig.device->ports->get(rig.device->ports_ctx, 2, &port), 0);
	ck_assert_uint_eq(port.oper_status, EASE_IF_UP);
}
END_TEST

/* The MAC counts exactly what was injected, by kind; only good frames go on. */
START_TEST(errors_are_counted_as_they_were_injected)
{
	static const struct {
		const char *stat;
		enum hal_figure figure;
	} kinds[] = {{"feed.injected_alignment", HAL_ALIGNMENT_ERRORS},
	    {"feed.injected_symbol", HAL_SYMBOL_ERRORS}, {"feed.injected_giant", HAL_RMON_OVERSIZE},
	    {"feed.injected_jabber", HAL_RMON_JABBERS}, {"feed.injected_runt", HAL_RMON_UNDERSIZE},
	    {"feed.injected_fragment", HAL_RMON_FRAGMENTS}, {"feed.injected_crc", HAL_FCS_ERRORS}};
	uint64_t injected = 0;

	make_broadcasts(20000, 100);
	open_board("error_seed = 7\n"
		   "errors = {\"crc 50\", \"alignment 60\", \"symbol 70\", \"giant 80\", "
		   "\"jabber 90\", \"runt 100\", \"fragment 110\"}\n" CHIPS_OF_2
		   "port \"a\" {}\nport \"b\" {}\n",
	    capture, EMULATED_PACE_LOCK_STEP);
	rig_run_to_end();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t n = rig_stat(kinds[i].stat);

		ck_assert_uint_gt(n, 100);
		injected += n;
		if (kinds[i].figure != HAL_FCS_ERRORS)
			ck_assert_msg(rig_figure(1, kinds[i].figure) == n, "%s: %llu, not %llu",
			    kinds[i].stat, (unsigned long long)rig_figure(1, kinds[i].figure),
			    (unsigned long long)n);
	}
	ck_assert_uint_eq(rig_figure(1, HAL_RMON_CRC_ALIGN),
	    rig_stat("feed.injected_crc") + rig_stat("feed.injected_alignment"));
	ck_assert_uint_eq(rig_figure(1, HAL_RMON_PKTS), 20000);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_BCAST_PKTS), 20000 - injected);
}
END_TEST

/* Each port one interface of the same pcapng, the second moved to one second behind the start. */
START_TEST(ports_have_captures_of_their_own)
{
	char text[1024];
	uint8_t octets[60];

	memset(octets, 0xff, 6);
	memset(octets + 6, 2, 54);
	made_begin_ng(&made, false);
	made_interface(&made, 1, 0, 6, "eth0");
	made_interface(&made, 1, 0, 6, "eth1");
	for (unsigned i = 0; i < 30; i++)
		made_packet(&made, i % 3 == 0, START + i, 60, 60, octets);
	made_write(&made, capture, sizeof(capture));
	snprintf(text, sizeof(text), CHIPS_OF_2 "port \"a\" { capture = \"%s\" interface = eth0 }\n"
	    "port \"b\" { capture = \"%s\" interface = 1 start = 1 }\n", capture, capture);
	open_board(text, NULL, EMULATED_PACE_LOCK_STEP);
	rig_run_to_end();
	ck_assert_uint_eq(rig_figure(1, HAL_IN_BCAST_PKTS), 20);
	ck_assert_uint_eq(rig_figure(2, HAL_IN_BCAST_PKTS), 10);
	ck_assert_uint_eq(rig.device->ops->now_us(rig.device->ctx), START + 1 + 1000000 + 27);
}
END_TEST

/* --- network interfaces --- */

#define LIVE_BOARD                                                                                 \
	CHIPS_OF_2 "port \"a\" { capture = \"live:ease-a\" }\nport \"b\" { capture = none }\n"

/* A pair of interfaces in a network of the test's own. False: not permitted. */
static bool
make_wire(void)
{
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return false;
	/* Or the kernel sends frames of its own. */
	fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY);
	if (fd >= 0) {
		ck_assert_int_eq(write(fd, "1", 1), 1);
		close(fd);
	}
	return system("ip link add ease-a type veth peer name ease-b >/dev/null 2>&1 &&"
		      " ip link set ease-a up && ip link set ease-b up") == 0;
}

static void
send_frames(unsigned n)
{
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	struct sockaddr_ll to = {
	    .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("ease-b")};
	uint8_t octets[100] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};

	ck_assert_int_ge(fd, 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(sendto(fd, octets, sizeof(octets), 0, (struct sockaddr *)&to,
				     sizeof(to)), sizeof(octets));
	close(fd);
}

/* Until the port has counted that many frames, or for so many silences of 10 ms. */
static void
wait_for_frames(uint64_t n, unsigned silences)
{
	struct pollfd fd = {.fd = rig.device->ops->fd(rig.device->ctx), .events = POLLIN};

	while (rig_figure(1, HAL_RMON_PKTS) < n && silences > 0)
		if (poll(&fd, 1, 10) <= 0)
			silences--;
		else
			ck_assert_int_ge(rig.device->ops->dispatch(rig.device->ctx, 0), 0);
}

START_TEST(a_wire_s_frames_come_in_by_their_port)
{
	if (!make_wire()) {
		printf("SKIP live interfaces: no network namespace (not permitted, or no ip)\n");
		fflush(stdout);
		return;
	}
	open_board(LIVE_BOARD, NULL, EMULATED_PACE_RECORDED);
	ck_assert_int_eq(rig.device->ops->start(rig.device->ctx, &rig.hal), 0);
	ck_assert_int_ge(rig.device->ops->dispatch(rig.device->ctx, 0), 0);
	send_frames(500);
	wait_for_frames(500, 1000);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_BCAST_PKTS), 500);
	ck_assert_uint_eq(rig_figure(1, HAL_IN_OCTETS), 500 * 104);
	ck_assert_uint_eq(rig_figure(2, HAL_OUT_BCAST_PKTS), 500);
	ck_assert_uint_eq(rig_stat("feed.live_lost"), 0);
	ck_assert_uint_eq(rig_stat("board.times_back"), 0);
	/*
	 * The wire is cut: said, counted, survived. The kernel hands the other end its queue back
	 * up to a second later, and drops unsaid what is sent before: so send until a frame comes.
	 */
	ck_assert_int_eq(system("ip link set ease-a down; ip link set ease-a up"), 0);
	for (unsigned i = 0; i < 100 && rig_figure(1, HAL_RMON_PKTS) == 500; i++) {
		send_frames(1);
		wait_for_frames(501, 10);
	}
	ck_assert_uint_gt(rig_figure(1, HAL_IN_BCAST_PKTS), 500);
	ck_assert_uint_eq(rig.hal.n_ended, 0);
	rig.device->ops->stop(rig.device->ctx);
}
END_TEST

static void
expect_refusal(const struct emulated_config *config, int rc, const char *reason)
{
	ck_assert_int_eq(
	    emulated_create(config, &rig.device, rig.error, sizeof(rig.error)), rc);
	ck_assert_msg(strstr(rig.error, reason) != NULL, "%s", rig.error);
	rig.device = NULL;
}

START_TEST(interfaces_that_do_not_serve_are_refused)
{
	struct emulated_config config = {.board_file = board, .pace = EMULATED_PACE_LOCK_STEP};

	write_board(LIVE_BOARD);
	if (!make_wire()) {
		rig.error[0] = '\0';
		ck_assert_int_lt(
		    emulated_create(&config, &rig.device, rig.error, sizeof(rig.error)), 0);
		ck_assert_ptr_nonnull(strstr(rig.error, "live:ease-a: "));
		rig.device = NULL;
		return;
	}
	expect_refusal(&config, -EINVAL, "live interfaces need pace = recorded");
	config.pace = EMULATED_PACE_RECORDED;
	ck_assert_int_eq(system("ip link del ease-a"), 0);
	expect_refusal(&config, -ENODEV, "live:ease-a: there is no such interface");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("board");
	TCase *all = tcase_create("board");

	log_open("check_board", false, LOG_LEVEL_ERROR);
	tcase_add_checked_fixture(all, NULL, tear_down);
	tcase_set_timeout(all, 60);
	tcase_add_loop_test(all, boards_of_the_project_load, 0, BOARDS);
	tcase_add_loop_test(all, wrong_boards_are_refused_with_line_and_reason, 0, WRONG_BOARDS);
	tcase_add_test(all, times_and_rates_are_read_exactly);
	tcase_add_test(all, a_board_is_drawn);
	tcase_add_test(all, channels_that_are_left_over_stay_unconnected);
	tcase_add_test(all, links_change_at_their_times);
	tcase_add_test(all, errors_are_counted_as_they_were_injected);
	tcase_add_test(all, ports_have_captures_of_their_own);
	tcase_add_test(all, a_wire_s_frames_come_in_by_their_port);
	tcase_add_test(all, interfaces_that_do_not_serve_are_refused);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
