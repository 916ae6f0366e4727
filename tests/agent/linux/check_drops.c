/*
 * Dropped packets: messages of the kernel's drop monitor made by hand as linux/net_dropmon.h describes them, of
 * packets that the kernel dropped and of those that a switch chip gave to the CPU (mlxsw's and netdevsim's traps); the
 * numbers of reasons; and what the device makes of them, with the kernel's monitor played: whatever is dropped is told
 * of, beyond the limit, lost or of nobody, once.
 */
#include "agent/linux/devlink.h"
#include "agent/linux/drop_monitor.h"
#include "agent/linux/drop_reason.h"
#include "common/clock.h"
#include "tests/agent/linux/linux_rig.h"
#include "tests/suite.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/net_dropmon.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TYPE = 31, OCTETS_MAX = 2048, FCS = 4 };

static uint8_t octets[OCTETS_MAX] __attribute__((aligned(8)));
static const uint8_t frame[64] = {0x02, 0x99, 0, 0, 0, 1, 0x02, 0x10, 0, 0, 0, 2, 8, 0, 0x45};
static const uint64_t packet_ns = 1700000000123456789ull;

static struct nlmsghdr *
begin(uint16_t type, uint8_t command)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(octets);
	struct genlmsghdr *head;

	message->nlmsg_type = type;
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->cmd = command;
	return message;
}

static void
put_common(struct nlmsghdr *m, uint32_t kernel_index, const char *name)
{
	struct nlattr *nest = mnl_attr_nest_start(m, NET_DM_ATTR_IN_PORT);

	if (kernel_index)
		mnl_attr_put_u32(m, NET_DM_ATTR_PORT_NETDEV_IFINDEX, kernel_index);
	if (name)
		mnl_attr_put_strz(m, NET_DM_ATTR_PORT_NETDEV_NAME, name);
	mnl_attr_nest_end(m, nest);
	mnl_attr_put_u64(m, NET_DM_ATTR_TIMESTAMP, packet_ns);
	mnl_attr_put_u32(m, NET_DM_ATTR_ORIG_LEN, 1514);
	mnl_attr_put_u16(m, NET_DM_ATTR_PROTO, 0x0800);
	mnl_attr_put(m, NET_DM_ATTR_PAYLOAD, sizeof(frame), frame);
}

/* In the order of net/core/drop_monitor.c. */
static struct nlmsghdr *
by_kernel(uint32_t kernel_index, const char *reason, const char *symbol)
{
	struct nlmsghdr *m = begin(TYPE, NET_DM_CMD_PACKET_ALERT);

	mnl_attr_put_u16(m, NET_DM_ATTR_ORIGIN, NET_DM_ORIGIN_SW);
	mnl_attr_put_u64(m, NET_DM_ATTR_PC, 0xffffffff81234567ull);
	if (reason)
		mnl_attr_put_strz(m, NET_DM_ATTR_REASON, reason);
	mnl_attr_put_strz(m, NET_DM_ATTR_SYMBOL, symbol);
	put_common(m, kernel_index, NULL);
	return m;
}

static struct nlmsghdr *
by_chip(uint32_t kernel_index, const char *trap, const char *group)
{
	struct nlmsghdr *m = begin(TYPE, NET_DM_CMD_PACKET_ALERT);

	mnl_attr_put_u16(m, NET_DM_ATTR_ORIGIN, NET_DM_ORIGIN_HW);
	if (group)
		mnl_attr_put_strz(m, NET_DM_ATTR_HW_TRAP_GROUP_NAME, group);
	if (trap)
		mnl_attr_put_strz(m, NET_DM_ATTR_HW_TRAP_NAME, trap);
	put_common(m, kernel_index, "swp1");
	mnl_attr_put(m, NET_DM_ATTR_FLOW_ACTION_COOKIE, 3, "abc");
	return m;
}

/* ---- messages ---- */

START_TEST(a_packet_of_the_kernel_says_all_of_it)
{
	struct drop_record record;

	ck_assert_int_eq(drop_message_parse(by_kernel(7, "QDISC_DROP", "__dev_queue_xmit+0x5/0x9"), TYPE, &record), 0);
	ck_assert(!record.hardware);
	ck_assert_uint_eq(record.kernel_index, 7);
	ck_assert_uint_eq(record.time_ns, packet_ns);
	ck_assert_uint_eq(record.packet_octets, 1514);
	ck_assert_str_eq(record.reason, "QDISC_DROP");
	ck_assert_str_eq(record.symbol, "__dev_queue_xmit+0x5/0x9");
	ck_assert_str_eq(record.trap, "");
	ck_assert_uint_eq(record.kept_octets, sizeof(frame));
	ck_assert_mem_eq(record.octets, frame, sizeof(frame));
	ck_assert_int_eq(drop_message_parse(by_kernel(0, NULL, "f"), TYPE, &record), 0); /* Linux 5.x; made here */
	ck_assert_uint_eq(record.kernel_index, 0);
	ck_assert_str_eq(record.reason, "");
}
END_TEST

START_TEST(a_packet_of_a_chip_says_all_of_it)
{
	struct drop_record record;

	ck_assert_int_eq(drop_message_parse(by_chip(9, "ingress_vlan_filter", "l2_drops"), TYPE, &record), 0);
	ck_assert(record.hardware);
	ck_assert_uint_eq(record.kernel_index, 9);
	ck_assert_str_eq(record.trap, "ingress_vlan_filter");
	ck_assert_str_eq(record.group, "l2_drops");
	ck_assert_str_eq(record.symbol, "");
	ck_assert_int_eq(drop_message_parse(by_chip(9, NULL, "l2_drops"), TYPE, &record), -EPROTO);
}
END_TEST

START_TEST(other_and_damaged_messages_are_told_apart)
{
	struct drop_record record;
	struct nlmsghdr *m = by_kernel(7, "XDP", "f");

	ck_assert_int_eq(drop_message_parse(m, TYPE + 1, &record), -ENOMSG);
	ck_assert_int_eq(drop_message_parse(begin(TYPE, NET_DM_CMD_ALERT), TYPE, &record), -ENOMSG); /* a summary */
	ck_assert_int_eq(drop_message_parse(begin(TYPE, NET_DM_CMD_PACKET_ALERT), TYPE, &record), -EPROTO);
	mnl_attr_put(m = by_kernel(7, "XDP", "f"), NET_DM_ATTR_SYMBOL, 3, "abc"); /* no NUL */
	ck_assert_int_eq(drop_message_parse(m, TYPE, &record), -EPROTO);
	mnl_attr_put_u16(m = by_kernel(7, "XDP", "f"), NET_DM_ATTR_ORIG_LEN, 1);
	ck_assert_int_eq(drop_message_parse(m, TYPE, &record), -EPROTO);
	mnl_attr_put_u32(m = by_kernel(7, "XDP", "f"), NET_DM_ATTR_ORIG_LEN, sizeof(frame) - 1); /* less than is kept */
	ck_assert_int_eq(drop_message_parse(m, TYPE, &record), -EPROTO);
	m = begin(TYPE, NET_DM_CMD_PACKET_ALERT);
	m->nlmsg_len = MNL_NLMSG_HDRLEN + 1;
	ck_assert_int_eq(drop_message_parse(m, TYPE, &record), -EPROTO);
}
END_TEST

/* Whatever octet is another one: nothing outside of the message is read (the sanitizer sees to it). */
START_TEST(no_octet_leads_out_of_the_message)
{
	struct nlmsghdr *whole = by_chip(9, "ttl_value_is_too_small", "l3_exceptions");
	size_t n = whole->nlmsg_len;

	for (size_t at = sizeof(*whole); at < n; at++) {
		for (int value = 0; value < 256; value += 5) {
			uint8_t *copy = malloc(n);
			struct drop_record record;

			memcpy(copy, octets, n);
			copy[at] ^= (uint8_t)value;
			if (drop_message_parse((void *)copy, TYPE, &record) == 0 && record.kept_octets > 0)
				ck_assert(record.octets >= copy && record.octets + record.kept_octets <= copy + n);
			free(copy);
		}
	}
}
END_TEST

START_TEST(what_the_monitor_lost_and_how_it_is_set)
{
	struct nlmsghdr *m = begin(TYPE, NET_DM_CMD_STATS_NEW);
	struct drop_message_config config;
	struct drop_message_lost lost;
	struct nlattr *nest = mnl_attr_nest_start(m, NET_DM_ATTR_STATS);

	mnl_attr_put_u64(m, NET_DM_ATTR_STATS_DROPPED, 1ull << 33);
	mnl_attr_nest_end(m, nest);
	nest = mnl_attr_nest_start(m, NET_DM_ATTR_HW_STATS);
	mnl_attr_put_u64(m, NET_DM_ATTR_STATS_DROPPED, 41);
	mnl_attr_nest_end(m, nest);
	ck_assert_int_eq(drop_message_parse_lost(m, TYPE, &lost), 0);
	ck_assert_uint_eq(lost.software, 1ull << 33);
	ck_assert_uint_eq(lost.hardware, 41);
	ck_assert_int_eq(drop_message_parse_config(m, TYPE, &config), -ENOMSG);
	m = begin(TYPE, NET_DM_CMD_CONFIG_NEW);
	mnl_attr_put_u8(m, NET_DM_ATTR_ALERT_MODE, NET_DM_ALERT_MODE_PACKET);
	mnl_attr_put_u32(m, NET_DM_ATTR_TRUNC_LEN, 128);
	ck_assert_int_eq(drop_message_parse_config(m, TYPE, &config), -EPROTO);
	mnl_attr_put_u32(m, NET_DM_ATTR_QUEUE_LEN, 1000);
	ck_assert_int_eq(drop_message_parse_config(m, TYPE, &config), 0);
	ck_assert(config.by_packet);
	ck_assert_uint_eq(config.kept_octets, 128);
	ck_assert_uint_eq(config.queue_pkts, 1000);
}
END_TEST

/* ---- reasons: the numbers are those of sFlow's text, read again by hand ---- */

START_TEST(reasons_of_the_kernel_have_sflows_numbers)
{
	static const struct {
		const char *reason, *function;
		uint32_t number;
	} known[] = {
	    {"NO_SOCKET", "__udp4_lib_rcv", 3}, {"NETFILTER_DROP", "nf_hook_slow", 258},
	    {"QDISC_DROP", "__dev_queue_xmit", 261}, {"SOCKET_RCVBUFF", "f", 259}, {"BPF_CGROUP_EGRESS", "f", 369},
	    {"XFRM_POLICY", "f", 370}, {"IP_INHDR", "ip_rcv_core", 313}, {"IP_INHDR", "ip_forward", 257},
	    {"IP_INHDR", "ip6_forward", 257}, {"NOT_SPECIFIED", "br_allowed_ingress", 265}, {"", "br_flood", 267},
	    {"NOT_SPECIFIED", "br_handle_frame", 284}, {"NOT_SPECIFIED", "ip_rcv_finish", 285}, {"", "", 256},
	    {"NOT_SPECIFIED", "tcp_v4_rcv", 289}, {"A_REASON_OF_LATER", "f", 256},
	    {"BRIDGE_INGRESS_STP_STATE", "f", 266}, {"TC_EGRESS", "f", 366}, {"DEV_HDR", "f", 332},
	};
	char function[16];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_uint_eq(drop_reason_of_kernel(known[i].reason, known[i].function), known[i].number);
	drop_reason_function("ip_forward+0x2d6/0x4a0", function, sizeof(function));
	ck_assert_str_eq(function, "ip_forward");
	drop_reason_function("br_flood.isra.0+0x2/0x4 [bridge]", function, sizeof(function));
	ck_assert_str_eq(function, "br_flood");
	drop_reason_function("0xffffffffc0123456", function, sizeof(function));
	ck_assert_str_eq(function, "0xffffffffc0123");
}
END_TEST

START_TEST(traps_have_sflows_numbers)
{
	ck_assert_uint_eq(drop_reason_of_trap("ingress_vlan_filter", "l2_drops"), 265);
	ck_assert_uint_eq(drop_reason_of_trap("arp_parsing", "parser_error_drops"), 312); /* the first */
	ck_assert_uint_eq(drop_reason_of_trap("vxlan_parsing", "parser_error_drops"), 307); /* the last */
	ck_assert_uint_eq(drop_reason_of_trap("ttl_value_is_too_small", "l3_exceptions"), 257);
	ck_assert_uint_eq(drop_reason_of_trap("early_drop", "buffer_drops"), 260);
	ck_assert_uint_eq(drop_reason_of_trap("irif_disabled", "l3_drops"), 285); /* mlxsw's own */
	ck_assert_uint_eq(drop_reason_of_trap("fid_miss_own", "of_no_group"), 256);
}
END_TEST

/* ---- devlink's traps ---- */

static struct nlmsghdr *
trap_message(uint8_t type, uint64_t pkts, int64_t dropped)
{
	struct nlmsghdr *m = begin(TYPE, DEVLINK_CMD_TRAP_NEW);
	struct nlattr *nest;

	mnl_attr_put_strz(m, DEVLINK_ATTR_BUS_NAME, "netdevsim");
	mnl_attr_put_strz(m, DEVLINK_ATTR_DEV_NAME, "netdevsim10");
	mnl_attr_put_strz(m, DEVLINK_ATTR_TRAP_GROUP_NAME, "l3_drops");
	mnl_attr_put_strz(m, DEVLINK_ATTR_TRAP_NAME, "blackhole_route");
	mnl_attr_put_u8(m, DEVLINK_ATTR_TRAP_TYPE, type);
	mnl_attr_put_u8(m, DEVLINK_ATTR_TRAP_ACTION, DEVLINK_TRAP_ACTION_TRAP);
	nest = mnl_attr_nest_start(m, DEVLINK_ATTR_STATS);
	if (dropped >= 0)
		mnl_attr_put_u64(m, DEVLINK_ATTR_STATS_RX_DROPPED, (uint64_t)dropped);
	mnl_attr_put_u64(m, DEVLINK_ATTR_STATS_RX_PACKETS, pkts);
	mnl_attr_put_u64(m, DEVLINK_ATTR_STATS_RX_BYTES, pkts * 100);
	mnl_attr_nest_end(m, nest);
	return m;
}

START_TEST(a_trap_and_its_counters)
{
	struct devlink_trap trap;
	struct nlmsghdr *m;

	ck_assert_int_eq(devlink_parse_trap(trap_message(DEVLINK_TRAP_TYPE_DROP, 41, 7), &trap), 0);
	ck_assert_str_eq(trap.device, "netdevsim/netdevsim10");
	ck_assert_str_eq(trap.name, "blackhole_route");
	ck_assert_str_eq(trap.group, "l3_drops");
	ck_assert_uint_eq(trap.action, DEVLINK_TRAP_ACTION_TRAP);
	ck_assert(trap.is_of_drops && trap.has_dropped);
	ck_assert_uint_eq(trap.pkts, 41);
	ck_assert_uint_eq(trap.dropped_pkts, 7);
	ck_assert_int_eq(devlink_parse_trap(trap_message(DEVLINK_TRAP_TYPE_CONTROL, 41, -1), &trap), 0);
	ck_assert(!trap.is_of_drops && !trap.has_dropped);
	mnl_attr_put_u32(m = trap_message(DEVLINK_TRAP_TYPE_DROP, 1, 1), DEVLINK_ATTR_TRAP_ACTION, 1);
	ck_assert_int_eq(devlink_parse_trap(m, &trap), -EPROTO);
	ck_assert_int_eq(devlink_parse_trap(begin(TYPE, DEVLINK_CMD_PORT_NEW), &trap), -ENOMSG);
}
END_TEST

/* ---- the device, with the monitor played ---- */

int __wrap_drop_monitor_open(struct netlink *generic, struct drop_monitor *monitor);
int __wrap_drop_monitor_start(struct drop_monitor *monitor, uint32_t kept_octets);
int __wrap_drop_monitor_probe(struct drop_monitor *monitor);
int __wrap_drop_monitor_lost(struct drop_monitor *monitor, uint64_t *pkts);
void __wrap_drop_monitor_close(struct drop_monitor *monitor);
int __real_netlink_receive_all(
    int fd, netlink_handler take, void *ctx, unsigned budget, struct netlink_faults *faults);
int __wrap_netlink_receive_all(
    int fd, netlink_handler take, void *ctx, unsigned budget, struct netlink_faults *faults);

static struct {
	int fd, start, probe;
	unsigned n_starts, n_closes;
	uint64_t lost;
	struct nlmsghdr *(*next)(unsigned i); /* the messages that wait; NULL at the end */
	unsigned at;
} played;

int
__wrap_drop_monitor_open(struct netlink *generic, struct drop_monitor *monitor)
{
	*monitor = (struct drop_monitor){.generic = generic, .type = TYPE, .fd = eventfd(1, EFD_NONBLOCK)};
	played.fd = monitor->fd;
	return 0;
}

int
__wrap_drop_monitor_start(struct drop_monitor *monitor, uint32_t kept_octets)
{
	ck_assert_uint_eq(kept_octets, sizeof(frame));
	played.n_starts++;
	monitor->software = played.start == 0;
	return played.start;
}

int
__wrap_drop_monitor_probe(struct drop_monitor *monitor)
{
	(void)monitor;
	return played.probe;
}

int
__wrap_drop_monitor_lost(struct drop_monitor *monitor, uint64_t *pkts)
{
	(void)monitor;
	*pkts = played.lost;
	played.lost = 0;
	return 0;
}

void
__wrap_drop_monitor_close(struct drop_monitor *monitor)
{
	played.n_closes++;
	close(monitor->fd);
}

int
__wrap_netlink_receive_all(
    int fd, netlink_handler take, void *ctx, unsigned budget, struct netlink_faults *faults)
{
	struct nlmsghdr *message;
	eventfd_t all;

	if (played.fd == 0 || fd != played.fd)
		return __real_netlink_receive_all(fd, take, ctx, budget, faults);
	for (unsigned n = 0; budget == 0 || n < budget; n++) {
		message = played.next ? played.next(played.at) : NULL;
		if (!message) {
			(void)eventfd_read(fd, &all);
			return 0;
		}
		played.at++;
		take(ctx, message);
	}
	return 1;
}

static struct clock manual = {.manual = true, .manual_wall_us = 1700000000000000ull, .manual_mono_us = 5000000};
static struct linux_rig rig;
static uint32_t p0_index;
static unsigned n_told;
static uint64_t untold_port, untold_placeless;
static struct ease_drop last;
static char last_detail[64], last_place[64], last_group[64];

static void
on_drop(void *ctx, const struct ease_drop *drop)
{
	(void)ctx;
	n_told++;
	last = *drop;
	snprintf(last_detail, sizeof(last_detail), "%s", drop->detail);
	snprintf(last_place, sizeof(last_place), "%s", drop->place);
	snprintf(last_group, sizeof(last_group), "%s", drop->group);
	ck_assert_uint_eq(drop->kept_octets, sizeof(frame));
	ck_assert_mem_eq(drop->header, frame, sizeof(frame));
}

static void
on_untold(void *ctx, uint32_t if_index, uint64_t n)
{
	(void)ctx;
	*(if_index ? &untold_port : &untold_placeless) += n;
}

/* The monitor is started by a timer, at once. */
static void
start_device(void)
{
	struct pollfd fd = {.events = POLLIN};

	linux_rig_start(&rig);
	fd.fd = hal_fd(rig.hal);
	while (played.n_starts == 0 && poll(&fd, 1, 10000) > 0)
		ck_assert_int_ge(hal_dispatch(rig.hal, 64), 0);
	ck_assert_uint_eq(played.n_starts, 1);
}

static void
stop_device(void)
{
	hal_stop(rig.hal);
	linux_rig_stop(&rig);
}

static void
play(struct nlmsghdr *(*next)(unsigned i), unsigned at)
{
	played.next = next;
	played.at = at;
	ck_assert_int_eq(eventfd_write(played.fd, 1), 0);
	linux_rig_settle(&rig);
}

static bool
begin_device(const char *test, uint32_t per_s)
{
	memset(&played, 0, sizeof(played));
	n_told = 0;
	untold_port = untold_placeless = 0;
	if (!linux_rig_enter(test))
		return false;
	linux_rig_sh("ip link add p0 type veth peer name h0; ip link set p0 up; ip link set h0 up");
	p0_index = if_nametoindex("p0");
	rig = (struct linux_rig){
	    .config = {.clock = &manual, .drops_per_s = per_s, .drops_kept_octets = sizeof(frame)},
	    .listener = {.drop = on_drop, .drops_untold = on_untold},
	};
	start_device();
	return true;
}

static struct nlmsghdr *
of_port(unsigned i)
{
	return i < 25 ? by_kernel(p0_index, "NO_SOCKET", "__udp4_lib_rcv+0x9/0x10") : NULL;
}

START_TEST(beyond_the_limit_packets_are_counted_by_port)
{
	if (!begin_device("drops beyond the limit", 10))
		return;
	play(of_port, 0);
	ck_assert_uint_eq(n_told, 10);
	ck_assert_uint_eq(untold_port, 15);
	ck_assert_uint_eq(last.if_index, linux_rig_port(&rig, "p0")->if_index);
	ck_assert_uint_eq(last.reason, 3);
	ck_assert_uint_eq(last.time_us, packet_ns / 1000);
	ck_assert_uint_eq(last.frame_octets, 1514 + FCS);
	ck_assert_str_eq(last_detail, "NO_SOCKET");
	ck_assert_str_eq(last_place, "__udp4_lib_rcv");
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.drops"), 10);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.drops_limited"), 15);
	clock_step_us(&manual, 1000000);
	play(of_port, 20);
	ck_assert_uint_eq(n_told, 15);
	stop_device();
	ck_assert_uint_eq(played.n_closes, 1);
}
END_TEST

static struct nlmsghdr *
of_all_sorts(unsigned i)
{
	switch (i) {
	case 0:
		return by_kernel(0, "NEIGH_FAILED", "neigh_invalidate+0x1/0x2"); /* made here */
	case 1:
		return by_kernel(99999, "OTHERHOST", "ip_rcv_core+0x1/0x2"); /* no interface of ours */
	case 2:
		return by_chip(p0_index, "ingress_vlan_filter", "l2_drops");
	case 3:
		return begin(TYPE, NET_DM_CMD_PACKET_ALERT); /* damaged */
	}
	return NULL;
}

START_TEST(what_has_no_port_or_is_lost_counts_as_well)
{
	if (!begin_device("drops without a port", 100))
		return;
	play(of_all_sorts, 0);
	ck_assert_uint_eq(n_told, 3);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.drops_no_port"), 2);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.drops_by_chip"), 1);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.damaged"), 1);
	ck_assert_uint_eq(last.reason, 265);
	ck_assert_str_eq(last_detail, "ingress_vlan_filter");
	ck_assert_str_eq(last_group, "l2_drops");
	ck_assert_str_eq(last_place, "");
	played.lost = 4711;
	stop_device(); /* asks once more */
	ck_assert_uint_eq(untold_placeless, 4711);
}
END_TEST

START_TEST(a_monitor_that_another_has_is_not_stopped)
{
	if (!begin_device("drops of a busy monitor", 100))
		return;
	stop_device();
	memset(&played, 0, sizeof(played));
	played.start = -EBUSY;
	start_device();
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.drop_monitor_busy"), 1);
	stop_device();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("drops");
	TCase *tc = tcase_create("drops");

	tcase_add_test(tc, a_packet_of_the_kernel_says_all_of_it);
	tcase_add_test(tc, a_packet_of_a_chip_says_all_of_it);
	tcase_add_test(tc, other_and_damaged_messages_are_told_apart);
	tcase_add_test(tc, no_octet_leads_out_of_the_message);
	tcase_add_test(tc, what_the_monitor_lost_and_how_it_is_set);
	tcase_add_test(tc, reasons_of_the_kernel_have_sflows_numbers);
	tcase_add_test(tc, traps_have_sflows_numbers);
	tcase_add_test(tc, a_trap_and_its_counters);
	tcase_add_test(tc, beyond_the_limit_packets_are_counted_by_port);
	tcase_add_test(tc, what_has_no_port_or_is_lost_counts_as_well);
	tcase_add_test(tc, a_monitor_that_another_has_is_not_stopped);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
