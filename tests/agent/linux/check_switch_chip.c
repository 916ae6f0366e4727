/*
 * Ports of switch chips that forward by themselves: who is judged to forward, from where the totals come, who
 * samples. No test machine has such a chip, so its drivers are played: veth interfaces in a namespace get the
 * attributes, counters and texts that the kernel gives for ports of mlxsw, prestera, mv88e6xxx and a plain network
 * card (drivers/net, net/core/rtnetlink.c, net/devlink), in the messages of the kernel itself.
 */
#include "agent/linux/devlink.h"
#include "agent/linux/driver_info.h"
#include "agent/linux/forwarding.h"
#include "agent/linux/module_eeprom.h"
#include "agent/linux/netlink.h"
#include "common/clock.h"
#include "tests/agent/linux/linux_rig.h"
#include "tests/suite.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PORTS = 3, FCS = 4, HEADER = 18, DEVLINK_TYPE = 0x7d, MESSAGE_MAX = 16384 };
#define BIT(figure) (1ull << (figure))

/* ---- the judgement itself ---- */

static uint8_t
judged(bool of_chip, bool own, bool other, bool offloaded, uint8_t counts)
{
	return forwarding_judge(&(struct forwarding_evidence){of_chip, own, other, offloaded},
	    &(struct forwarding_comparison){.counts = counts});
}

START_TEST(a_chip_forwards_if_anything_shows_it)
{
	ck_assert_uint_eq(judged(false, false, false, true, FORWARDING_HARDWARE_AHEAD), EASE_FORWARDING_SOFTWARE);
	ck_assert_uint_eq(judged(true, false, true, false, FORWARDING_NOT_COUNTED), EASE_FORWARDING_SOFTWARE);
	ck_assert_uint_eq(judged(true, true, false, false, FORWARDING_NOT_COUNTED), EASE_FORWARDING_HARDWARE);
	ck_assert_uint_eq(judged(true, true, true, false, FORWARDING_NOT_COUNTED), EASE_FORWARDING_MIXED);
	ck_assert_uint_eq(judged(true, false, false, true, FORWARDING_NOT_COUNTED), EASE_FORWARDING_SOFTWARE);
	ck_assert_uint_eq(judged(true, false, false, false, FORWARDING_HARDWARE_AHEAD), EASE_FORWARDING_HARDWARE);
	ck_assert_uint_eq(judged(true, true, false, false, FORWARDING_CPU_KEEPS_UP), EASE_FORWARDING_SOFTWARE);
	ck_assert_uint_eq(judged(true, true, false, true, FORWARDING_CPU_KEEPS_UP), EASE_FORWARDING_HARDWARE);
}
END_TEST

START_TEST(one_window_shows_hardware_ahead_and_many_that_it_is_not)
{
	struct forwarding_comparison c = {0};
	uint64_t now_us = 5000000, hardware = 1 << 20, cpu = 0;
	int windows = 0;

	ck_assert(!forwarding_compare(&c, now_us, hardware, cpu, true)); /* what was before does not count */
	ck_assert(!forwarding_compare(&c, now_us + 1000000, hardware + 5000, cpu, true)); /* too early */
	ck_assert(!forwarding_compare(&c, now_us + 2000000, hardware + 99, cpu, true)); /* too few */
	ck_assert(forwarding_compare(&c, now_us += 2000000, hardware += 1000, cpu += 800, true));
	ck_assert_uint_eq(c.counts, FORWARDING_HARDWARE_AHEAD);
	do
		windows++;
	while (!forwarding_compare(&c, now_us += 2000000, hardware += 1000, cpu += 990, true));
	ck_assert_uint_eq(c.counts, FORWARDING_CPU_KEEPS_UP);
	ck_assert_int_ge(windows, 10);
	ck_assert(!forwarding_compare(&c, now_us += 2000000, 3, 0, true)); /* the driver was reset */
	ck_assert(forwarding_compare(&c, now_us += 2000000, 1003, 0, true));
	for (int i = 0; i < 100; i++) { /* two views of the same count prove nothing */
		hardware += 1000;
		forwarding_compare(&c, now_us += 2000000, hardware, hardware, false);
	}
	ck_assert_uint_ne(c.counts, FORWARDING_CPU_KEEPS_UP);
}
END_TEST

/* ---- a driver's texts ---- */

static struct driver_strings
texts(const char *const *names, size_t n)
{
	struct driver_strings strings = {.n = n};

	for (size_t i = 0; i < n; i++) {
		memcpy(strings.names[i], names[i], strlen(names[i]));
		strings.values[i] = 1000 + i;
	}
	return strings;
}

static const char *const marvell_names[] = {"tx_packets", "tx_bytes", "rx_packets", "rx_bytes", "in_good_octets",
    "in_bad_octets", "in_unicast", "in_broadcasts", "in_multicasts", "in_pause", "in_fcs_error", "out_octets",
    "out_unicast", "out_broadcasts", "out_multicasts", "out_pause", "late", "sw_in_discards", "hist_64bytes"};
enum { N_MARVELL = sizeof(marvell_names) / sizeof(marvell_names[0]) };

START_TEST(texts_of_a_known_family_are_figures)
{
	struct driver_strings strings = texts(marvell_names, N_MARVELL);
	struct hal_counters figures = {0};

	ck_assert_int_eq(driver_strings_parse(&strings, &figures), 0);
	ck_assert_uint_eq(figures.value[HAL_IN_OCTETS], 1004);
	ck_assert_uint_eq(figures.value[HAL_IN_UCAST_PKTS], 1006);
	ck_assert_uint_eq(figures.value[HAL_OUT_MCAST_PKTS], 1014);
	ck_assert_uint_eq(figures.value[HAL_POOL_IN_PKTS], 1006 + 1007 + 1008);
	ck_assert_uint_eq(figures.value[HAL_POOL_OUT_PKTS], 1012 + 1013 + 1014);
	ck_assert_uint_eq(figures.value[HAL_LATE_COLLISIONS], 1016);
	ck_assert(!(figures.known & (HAL_RMON_FIGURES | BIT(HAL_ALIGNMENT_ERRORS))));
}
END_TEST

START_TEST(texts_of_which_one_is_missing_are_nothing)
{
	for (size_t missing = 4; missing < 15; missing++) {
		struct driver_strings strings = texts(marvell_names, N_MARVELL);
		struct hal_counters figures = {0};
		bool needed = missing != 5 && missing != 9 && missing != 10;

		strings.names[missing][0] = '?';
		ck_assert_int_eq(driver_strings_parse(&strings, &figures), needed ? -ENOENT : 0);
		ck_assert(!needed || figures.known == 0);
	}
}
END_TEST

/* ---- the played drivers ---- */

static struct linux_rig rig;
static struct clock stepped = {.manual = true};

struct played_port {
	uint32_t kernel_index;
	const char *driver; /* NULL: not played */
	uint8_t switch_id;  /* 0: none */
	const char *kind;
	const char *conduit; /* DSA */
	bool plays_stats;
	struct rtnl_link_stats64 link, cpu;
	bool has_cpu;
	bool has_mac; /* clause 30 */
	uint64_t mac_rx, mac_tx, mac_rx_octets, mac_tx_octets;
	struct driver_strings strings;
	int flavour; /* of devlink; -1: it does not know the port */
	const struct module_memory *module; /* of an SFP; NULL: none is plugged in */
	int module_error;
};
static struct played_port ports[N_PORTS];
static struct netlink *generic;
static uint8_t octets[MESSAGE_MAX] __attribute__((aligned(8)));

static struct played_port *
played(uint32_t kernel_index)
{
	for (size_t i = 0; i < N_PORTS; i++)
		if (ports[i].kernel_index == kernel_index && ports[i].driver)
			return &ports[i];
	return NULL;
}

static struct played_port *
played_name(const char *name)
{
	return played(if_nametoindex(name));
}

/* Adds to the kernel's message what its link would have besides. Attributes that come twice count as they come
 * last. */
static const struct nlmsghdr *
dressed(const struct nlmsghdr *message)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
	const struct played_port *port;
	struct nlmsghdr *copy = (struct nlmsghdr *)octets;
	struct nlattr *info;

	if (message->nlmsg_type != RTM_NEWLINK || head->ifi_family != AF_UNSPEC)
		return message;
	port = played((uint32_t)head->ifi_index);
	if (!port)
		return message;
	memcpy(copy, message, message->nlmsg_len);
	if (port->switch_id)
		mnl_attr_put(copy, IFLA_PHYS_SWITCH_ID, 1, &port->switch_id);
	info = mnl_attr_nest_start(copy, IFLA_LINKINFO);
	mnl_attr_put_strz(copy, IFLA_INFO_KIND, port->kind);
	mnl_attr_nest_end(copy, info);
	mnl_attr_put_u32(copy, IFLA_LINK, port->conduit ? if_nametoindex(port->conduit) : 0); /* not veth's peer */
	return copy;
}

struct dressing {
	netlink_handler take;
	void *ctx;
};

static int
take_dressed(void *ctx, const struct nlmsghdr *message)
{
	const struct dressing *dressing = ctx;

	return dressing->take(dressing->ctx, dressed(message));
}

static struct nlmsghdr *
begin(uint16_t type, const void *head, size_t head_octets)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(octets);

	message->nlmsg_type = type;
	memcpy(mnl_nlmsg_put_extra_header(message, head_octets), head, head_octets);
	return message;
}

static int
answer_stats(const struct played_port *port, const struct if_stats_msg *asked, netlink_handler take, void *ctx)
{
	struct nlmsghdr *message = begin(RTM_NEWSTATS, asked, sizeof(*asked));
	struct nlattr *nest;

	mnl_attr_put(message, IFLA_STATS_LINK_64, sizeof(port->link), &port->link);
	if (port->has_cpu && asked->filter_mask & IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_OFFLOAD_XSTATS)) {
		nest = mnl_attr_nest_start(message, IFLA_STATS_LINK_OFFLOAD_XSTATS);
		mnl_attr_put(message, IFLA_OFFLOAD_XSTATS_CPU_HIT, sizeof(port->cpu), &port->cpu);
		mnl_attr_nest_end(message, nest);
	}
	return take(ctx, message);
}

static void
put_stat(struct nlmsghdr *message, uint16_t number, uint64_t value)
{
	struct nlattr *nest = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP_STAT);

	mnl_attr_put_u64(message, number, value);
	mnl_attr_nest_end(message, nest);
}

static int
answer_mac(const struct played_port *port, netlink_handler take, void *ctx)
{
	struct genlmsghdr head = {.cmd = ETHTOOL_MSG_STATS_GET_REPLY, .version = 1};
	struct nlmsghdr *message = begin(0x20, &head, sizeof(head));
	struct nlattr *group = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP);

	mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_MAC);
	if (port->has_mac) {
		put_stat(message, ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT, port->mac_rx);
		put_stat(message, ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT, port->mac_tx);
		put_stat(message, ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES, port->mac_rx_octets);
		put_stat(message, ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES, port->mac_tx_octets);
		put_stat(message, ETHTOOL_A_STATS_ETH_MAC_22_RX_BCAST, 7);
		put_stat(message, ETHTOOL_A_STATS_ETH_MAC_21_RX_MCAST, 5);
	}
	mnl_attr_nest_end(message, group);
	return take(ctx, message);
}

static int
answer_devlink(netlink_handler take, void *ctx)
{
	for (uint32_t i = 0; i < N_PORTS; i++) {
		struct genlmsghdr head = {.cmd = DEVLINK_CMD_PORT_NEW, .version = 1};
		struct nlmsghdr *message = begin(DEVLINK_TYPE, &head, sizeof(head));

		if (!ports[i].driver || ports[i].flavour < 0)
			continue;
		mnl_attr_put_strz(message, DEVLINK_ATTR_BUS_NAME, "pci");
		mnl_attr_put_strz(message, DEVLINK_ATTR_DEV_NAME, "0000:03:00.0");
		mnl_attr_put_u32(message, DEVLINK_ATTR_PORT_INDEX, i + 1);
		mnl_attr_put_u32(message, DEVLINK_ATTR_PORT_NETDEV_IFINDEX, ports[i].kernel_index);
		mnl_attr_put_u16(message, DEVLINK_ATTR_PORT_FLAVOUR, (uint16_t)ports[i].flavour);
		if (take(ctx, message) < 0)
			return -EIO;
	}
	return 0;
}

int __real_netlink_open(int protocol, struct netlink **netlink);
int __wrap_netlink_open(int protocol, struct netlink **netlink);
int __real_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take, void *ctx);
int __wrap_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take, void *ctx);
int __real_netlink_family(struct netlink *netlink, const char *name, uint16_t *type);
int __wrap_netlink_family(struct netlink *netlink, const char *name, uint16_t *type);
int __real_netlink_receive(int fd, netlink_handler take, void *ctx);
int __wrap_netlink_receive(int fd, netlink_handler take, void *ctx);
int __wrap_driver_strings_read(const char *interface, struct driver_strings *strings);
void __wrap_driver_name(const char *interface, char name[DRIVER_NAME_MAX + 1]);

int
__wrap_netlink_open(int protocol, struct netlink **netlink)
{
	int rc = __real_netlink_open(protocol, netlink);

	if (rc == 0 && protocol == NETLINK_GENERIC)
		generic = *netlink;
	return rc;
}

int
__wrap_netlink_family(struct netlink *netlink, const char *name, uint16_t *type)
{
	*type = DEVLINK_TYPE;
	return strcmp(name, DEVLINK_GENL_NAME) == 0 ? 0 : __real_netlink_family(netlink, name, type);
}

static uint32_t
asked_index(const struct nlmsghdr *question)
{
	const struct nlattr *header = mnl_nlmsg_get_payload_offset(question, sizeof(struct genlmsghdr)), *attr;

	mnl_attr_for_each_nested(attr, header)
		if (mnl_attr_get_type(attr) == ETHTOOL_A_HEADER_DEV_INDEX)
			return mnl_attr_get_u32(attr);
	return 0;
}

/* The page that was asked for: the first by the module's own address, the second by that of its diagnostics. */
static int
answer_module(const struct played_port *port, const struct nlmsghdr *question, netlink_handler take, void *ctx)
{
	const struct genlmsghdr head = {.cmd = ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, .version = ETHTOOL_GENL_VERSION};
	const struct nlattr *attr;
	struct nlmsghdr *message;
	size_t page = 0;

	if (port->module_error || !port->module)
		return port->module_error ? port->module_error : -ENODEV;
	mnl_attr_for_each(attr, question, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS)
			page = mnl_attr_get_u8(attr) == 0x51;
		if (mnl_attr_get_type(attr) == ETHTOOL_A_MODULE_EEPROM_LENGTH)
			ck_assert_uint_eq(mnl_attr_get_u32(attr), MODULE_PAGE_OCTETS);
	}
	message = begin(question->nlmsg_type, &head, sizeof(head));
	mnl_attr_put(message, ETHTOOL_A_MODULE_EEPROM_DATA, MODULE_PAGE_OCTETS, port->module->octets[page]);
	return take(ctx, message);
}

int
__wrap_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take, void *ctx)
{
	struct dressing dressing = {take, ctx};
	const struct played_port *port;

	if (netlink == generic && question->nlmsg_type == DEVLINK_TYPE)
		return answer_devlink(take, ctx);
	if (netlink == generic && question->nlmsg_type >= NLMSG_MIN_TYPE && question->nlmsg_type != GENL_ID_CTRL) {
		const struct genlmsghdr *head = mnl_nlmsg_get_payload(question);

		port = played(asked_index(question));
		if (port && head->cmd == ETHTOOL_MSG_STATS_GET)
			return answer_mac(port, take, ctx);
		if (port && head->cmd == ETHTOOL_MSG_MODULE_EEPROM_GET)
			return answer_module(port, question, take, ctx);
	}
	if (netlink != generic && question->nlmsg_type == RTM_GETSTATS) {
		const struct if_stats_msg *head = mnl_nlmsg_get_payload(question);

		port = played(head->ifindex);
		if (port && port->plays_stats)
			return answer_stats(port, head, take, ctx);
	}
	if (netlink != generic && question->nlmsg_type == RTM_GETLINK)
		return __real_netlink_request(netlink, question, take_dressed, &dressing);
	return __real_netlink_request(netlink, question, take, ctx);
}

int
__wrap_netlink_receive(int fd, netlink_handler take, void *ctx)
{
	return __real_netlink_receive(fd, take_dressed, &(struct dressing){take, ctx});
}

int
__wrap_driver_strings_read(const char *interface, struct driver_strings *strings)
{
	const struct played_port *port = played_name(interface);

	if (!port || port->strings.n == 0)
		return -EOPNOTSUPP;
	*strings = port->strings;
	return 0;
}

void
__wrap_driver_name(const char *interface, char name[DRIVER_NAME_MAX + 1])
{
	const struct played_port *port = played_name(interface);

	strcpy(name, port ? port->driver : "");
}

/* ---- the device with these ---- */

/* br0 with p0, p1 and p2, whose hosts are h0 to h2; eth0 is no port of it. */
static bool
set_up(const char *test, const char *driver, uint8_t switch_id, const char *kind, int sampling)
{
	if (!linux_rig_enter(test))
		return false;
	linux_rig_sh("ip link add br0 type bridge mcast_snooping 0; ip link set br0 up; ip link add eth0 type veth peer "
		     "name far0; ip link set eth0 up");
	for (int i = 0; i < N_PORTS; i++) {
		linux_rig_sh("ip link add p%d type veth peer name h%d; ip link set p%d master br0 up; ip link set h%d up", i,
		    i, i, i);
		if (i < 2)
			ports[i] = (struct played_port){.driver = driver, .switch_id = switch_id, .kind = kind, .flavour = -1,
			    .conduit = strcmp(kind, "dsa") == 0 ? "eth0" : NULL};
		ports[i].kernel_index = if_nametoindex(i == 0 ? "p0" : i == 1 ? "p1" : "p2");
	}
	linux_rig_sh("ip link set p2 nomaster");
	stepped.manual_mono_us = stepped.manual_wall_us = 1000000;
	rig.config.clock = &stepped;
	rig.config.sampling = sampling;
	return true;
}

static void
forget(void)
{
	rig = (struct linux_rig){0};
	memset(ports, 0, sizeof(ports));
}

static bool
takes_skips(const char *name)
{
	return hal_load_skip(rig.hal, linux_rig_port(&rig, name)->if_index, 1000) == 0;
}

static uint64_t
value(const char *name, enum hal_figure figure)
{
	const struct hal_port *port = linux_rig_port(&rig, name);

	ck_assert(port->counters.known & BIT(figure));
	return port->counters.value[figure];
}

static const struct rtnl_link_stats64 by_chip = {.rx_packets = 5000, .tx_packets = 4000, .rx_bytes = 5000 * 600,
    .tx_bytes = 4000 * 100, .multicast = 12, .rx_dropped = 3};
static const struct rtnl_link_stats64 by_cpu = {.rx_packets = 6, .tx_packets = 3, .rx_bytes = 6 * 60, .tx_bytes = 3 * 60};

/* Its driver's counters of a link are the chip's; beside them it tells what the CPU saw. */
START_TEST(mlxsw)
{
	if (!set_up(__func__, "mlxsw_spectrum2", 9, "", LINUX_SAMPLING_AUTO))
		return;
	for (int i = 0; i < 2; i++) {
		ports[i].plays_stats = ports[i].has_cpu = ports[i].has_mac = true;
		ports[i].link = by_chip;
		ports[i].cpu = by_cpu;
		ports[i].mac_rx = 5001; /* read a moment later */
		ports[i].mac_tx = 4001;
		ports[i].flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL;
	}
	ports[1].flavour = DEVLINK_PORT_FLAVOUR_PCI_VF;
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->forwarding, EASE_FORWARDING_HARDWARE);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->sampled_by, EASE_SAMPLED_BY_NOBODY);
	ck_assert(linux_rig_port(&rig, "p0")->has_connector && !linux_rig_port(&rig, "p1")->has_connector);
	ck_assert_str_eq(linux_rig_port(&rig, "p0")->descr, "Linux switch port p0, devlink pci/0000:03:00.0/1");
	ck_assert(!takes_skips("p0"));
	ck_assert_uint_eq(value("p0", HAL_IN_OCTETS), 5000 * 604);
	ck_assert_uint_eq(value("p0", HAL_OUT_OCTETS), 4000 * 104);
	ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS) + value("p0", HAL_IN_MCAST_PKTS) + value("p0", HAL_IN_BCAST_PKTS),
	    5000);
	ck_assert_uint_eq(value("p0", HAL_IN_DISCARDS), 3);
	linux_rig_stop(&rig);
}
END_TEST

/* Its counters are the chip's, and nothing tells what the CPU saw. Its texts are of no known family. */
START_TEST(prestera)
{
	static const char *const names[] = {"good_octets_received", "broadcast_frames_received", "good_octets_sent"};

	if (!set_up(__func__, "prestera", 9, "", LINUX_SAMPLING_AUTO))
		return;
	for (int i = 0; i < 2; i++) {
		ports[i].plays_stats = true;
		ports[i].link = by_chip;
		ports[i].strings = texts(names, 3);
	}
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p1")->forwarding, EASE_FORWARDING_HARDWARE);
	ck_assert(!takes_skips("p1"));
	ck_assert_uint_eq(value("p1", HAL_IN_OCTETS), 5000 * 604);
	ck_assert_uint_eq(value("p1", HAL_IN_UCAST_PKTS), 5000 - 12);
	ck_assert_uint_eq(value("p1", HAL_OUT_UCAST_PKTS), 4000);
	linux_rig_stop(&rig);
}
END_TEST

static void
play_marvell(struct played_port *port)
{
	static const uint64_t values[N_MARVELL] = {3, 180, 6, 360, 2467851696, 0, 1600000, 20, 10, 0, 2, 1000000, 9000, 1, 2,
	    0, 1, 5, 77};

	port->plays_stats = true;
	port->link = by_cpu;
	port->strings = texts(marvell_names, N_MARVELL);
	memcpy(port->strings.values, values, sizeof(values));
}

/* The kernel's counters are the CPU's; up to Linux 6.7 the chip's are texts. */
START_TEST(mv88e6xxx_by_texts)
{
	if (!set_up(__func__, "mv88e6085", 3, "dsa", LINUX_SAMPLING_AUTO))
		return;
	play_marvell(&ports[0]);
	play_marvell(&ports[1]);
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->forwarding, EASE_FORWARDING_HARDWARE);
	ck_assert(linux_rig_port(&rig, "p0")->has_connector);
	ck_assert_uint_eq(value("p0", HAL_IN_OCTETS), 2467851696);
	ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS), 1600000);
	ck_assert_uint_eq(value("p0", HAL_IN_BCAST_PKTS), 20);
	ck_assert_uint_eq(value("p0", HAL_IN_MCAST_PKTS), 10);
	ck_assert_uint_eq(value("p0", HAL_OUT_OCTETS), 1000000);
	ck_assert_uint_eq(value("p0", HAL_OUT_UCAST_PKTS), 9000);
	ck_assert_uint_eq(value("p0", HAL_IN_DISCARDS), 5);
	ck_assert_uint_eq(value("p0", HAL_IN_ERRORS), 2);
	ck_assert_uint_eq(value("p0", HAL_OUT_ERRORS), 1);
	ck_assert(!(linux_rig_port(&rig, "p0")->counters.known & BIT(HAL_OUT_DISCARDS)));
	linux_rig_stop(&rig);
}
END_TEST

/* Registers of 32 bits that go round, and a chip that was reset. */
START_TEST(registers_of_a_chip_go_round)
{
	uint64_t *unicast;

	if (!set_up(__func__, "mv88e6085", 3, "dsa", LINUX_SAMPLING_AUTO))
		return;
	play_marvell(&ports[0]);
	unicast = &ports[0].strings.values[6];
	*unicast = UINT32_MAX - 99;
	linux_rig_start(&rig);
	ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS), UINT32_MAX - 99);
	clock_step_us(&stepped, 1000000);
	*unicast = 900;
	ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS), UINT32_MAX - 99 + 1000ull);
	clock_step_us(&stepped, 1000000);
	*unicast = 950;
	ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS), UINT32_MAX - 99 + 1050ull);
	ck_assert_uint_eq(hal_discontinuity_us(rig.hal, linux_rig_port(&rig, "p0")->if_index), 0);
	clock_step_us(&stepped, 1000000);
	*unicast = 10; /* so many cannot have come in a second */
	value("p0", HAL_IN_UCAST_PKTS);
	ck_assert_uint_ne(hal_discontinuity_us(rig.hal, linux_rig_port(&rig, "p0")->if_index), 0);
	linux_rig_stop(&rig);
}
END_TEST

/* Octets of clause 30: with header and FCS as most drivers have them, and without as the standard says. */
START_TEST(octets_of_clause_30)
{
	static const struct {
		const char *driver;
		uint64_t octets, counted;
	} rows[] = {{"mv88e6085", 1000 * 300, 1000 * 300}, {"mv88e6085", 1000 * 46, 1000 * (46 + HEADER)},
	    {"some_switch", 1000 * 300, 1000 * 300}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		forget();
		if (!set_up(__func__, rows[i].driver, 3, "dsa", LINUX_SAMPLING_NONE))
			return;
		ports[0].plays_stats = ports[0].has_mac = true;
		ports[0].link = by_cpu;
		ports[0].mac_rx = ports[0].mac_tx = 1000;
		ports[0].mac_rx_octets = ports[0].mac_tx_octets = rows[i].octets;
		linux_rig_start(&rig);
		ck_assert_uint_eq(value("p0", HAL_IN_OCTETS), rows[i].counted);
		ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS), 1000 - 7 - 5);
		linux_rig_stop(&rig);
	}
}
END_TEST

/* A figure that nobody has is absent; while the kernel forwards, it has them. */
START_TEST(what_nobody_counts_is_absent)
{
	if (!set_up(__func__, "rocker", 9, "", LINUX_SAMPLING_AUTO))
		return;
	linux_rig_start(&rig);
	ck_assert(!(linux_rig_port(&rig, "p0")->counters.known & (BIT(HAL_IN_OCTETS) | BIT(HAL_IN_UCAST_PKTS) |
	    BIT(HAL_OUT_OCTETS) | BIT(HAL_IN_DISCARDS))));
	linux_rig_sh("ip link set p0 nomaster");
	linux_rig_settle(&rig);
	ck_assert(linux_rig_port(&rig, "p0")->counters.known & BIT(HAL_IN_OCTETS));
	linux_rig_stop(&rig);
}
END_TEST

/* A network card has clause 30's counters and no switch ID: all is as without these. */
START_TEST(a_plain_network_card)
{
	if (!set_up(__func__, "igb", 0, "", LINUX_SAMPLING_EBPF))
		return;
	ports[0].has_mac = ports[0].plays_stats = true;
	ports[0].link = by_chip;
	ports[0].mac_rx = 9000; /* also what it drops and its functions get */
	ports[0].mac_tx = 9000;
	ports[0].mac_rx_octets = ports[0].mac_tx_octets = 9000 * 100;
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->forwarding, EASE_FORWARDING_SOFTWARE);
	ck_assert(linux_rig_port(&rig, "p0")->has_connector);
	ck_assert_uint_eq(value("p0", HAL_IN_OCTETS), 5000 * 604);
	ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS) + 12, 5000);
	if (linux_rig_port(&rig, "p0")->sampled_by == EASE_SAMPLED_BY_KERNEL)
		ck_assert(takes_skips("p0"));
	linux_rig_stop(&rig);
}
END_TEST

/* Snapshots until each port and the monitors had their turn. */
static const struct hal_snapshot *
look_at_sensors(void)
{
	const struct hal_snapshot *snapshot;

	for (int i = 0; i < 2 * N_PORTS + 4; i++) {
		clock_step_us(&stepped, 6000000);
		ck_assert_int_eq(hal_refresh_all(rig.hal), 0);
	}
	snapshot = hal_snapshot_hold(rig.hal);
	hal_snapshot_release(snapshot); /* the HAL holds it until the next one */
	return snapshot;
}

/* What is plugged in becomes a part in its port, with sensors in it; what does not answer for once stays, unavailable; what
 * is pulled out is gone, and the time of the last change says so. */
START_TEST(a_transceiver_comes_and_goes)
{
	static struct module_memory sfp = {.n = 2};
	const struct hal_snapshot *s;
	const struct hal_part *part;
	uint64_t changed_us;
	uint32_t p0;

	if (!set_up(__func__, "igb", 0, "", LINUX_SAMPLING_NONE))
		return;
	sfp.octets[0][0] = 0x03;
	memcpy(sfp.octets[0] + 40, "FTLX8571D3BCL", 13);
	sfp.octets[0][92] = 0x68;
	sfp.octets[1][96] = 41;
	rig.config.sys_root = "/nowhere";
	linux_rig_start(&rig);
	p0 = linux_rig_port(&rig, "p0")->if_index;
	s = look_at_sensors();
	ck_assert_uint_eq(s->n_sensors, 0);
	ck_assert_uint_eq(s->structure->n_parts, s->structure->first_port_part + s->structure->n_port_parts);
	changed_us = s->structure->parts_changed_mono_us;
	ports[0].module = &sfp;
	s = look_at_sensors();
	ck_assert_uint_eq(s->n_sensors, 5);
	ck_assert_uint_gt(s->structure->parts_changed_mono_us, changed_us);
	part = &s->structure->parts[s->structure->first_port_part + s->structure->n_port_parts];
	ck_assert_uint_eq(part->contained_in, HAL_PART_INDEX_PORT + p0);
	ck_assert_str_eq(part->model, "FTLX8571D3BCL");
	ck_assert(part->is_replaceable);
	ck_assert_uint_eq(part[1].contained_in, part->index);
	ck_assert_str_eq(part[1].name, "p0 temperature");
	ck_assert_uint_eq(s->sensors[0].index, part[1].index);
	ck_assert_int_eq(s->sensors[0].reading.value, 41000);
	ports[0].module_error = -EIO;
	for (int i = 0; i < N_PORTS; i++) { /* one turn */
		clock_step_us(&stepped, 1000000);
		ck_assert_int_eq(hal_refresh_all(rig.hal), 0);
	}
	s = hal_snapshot_hold(rig.hal);
	ck_assert_uint_eq(s->n_sensors, 5);
	hal_snapshot_release(s);
	ports[0].module_error = 0;
	s = look_at_sensors();
	ck_assert_int_eq(s->sensors[0].reading.status, HAL_SENSOR_OK);
	ports[0].module = NULL;
	s = look_at_sensors();
	ck_assert_uint_eq(s->n_sensors, 0);
	linux_rig_stop(&rig);
}
END_TEST

static bool
has_taps(const char *test)
{
	if (linux_rig_port(&rig, "p2")->sampled_by == EASE_SAMPLED_BY_KERNEL)
		return true;
	printf("SKIP %s: no eBPF here\n", test);
	linux_rig_stop(&rig);
	return false;
}

/* What --check prints. */
START_TEST(a_check_tells_of_chips)
{
	char *text = NULL, error[128] = "";
	unsigned n_lines = 0;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!set_up(__func__, "mv88e6085", 3, "dsa", LINUX_SAMPLING_AUTO))
		return;
	play_marvell(&ports[0]);
	rig.config.sys_root = "/nowhere";
	ck_assert_msg(linux_check(&rig.config, out, error, sizeof(error)) == 0, "%s", error);
	fclose(out);
	ck_assert_msg(strstr(text, "device = linux, 10 ports\n"
	    "COUNTS  octets and packets        9 of 10     the kernel sees only a part\n"), "%s", text);
	ck_assert_msg(strstr(text, "        nowhere                   2 of 10     the driver takes no filters\n"), "%s", text);
	ck_assert_msg(strstr(text, "        dropped packets          no           drops is not set\n"
	    "        delays and queues        no           only chips that sample tell them\n"), "%s", text);
	ck_assert_msg(strstr(text, "CHIP    its ports                 2 of 10\n"
	    "        counted by its driver     1 of 2\n"
	    "        counted by nobody         1 of 2\n"
	    "        p1\n"), "%s", text);
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, n_lines++)
		ck_assert_msg(end - line <= 80, "%.*s", (int)(end - line), line);
	ck_assert_uint_le(n_lines, 24);
	free(text);
}
END_TEST

/* Both ways, as soon as the kernel tells: by the bridge, and by an address that the chip takes over. */
START_TEST(a_port_is_judged_anew)
{
	if (!set_up(__func__, "prestera", 9, "", LINUX_SAMPLING_EBPF))
		return;
	linux_rig_start(&rig);
	if (!has_taps(__func__))
		return;
	ck_assert(!takes_skips("p0"));
	linux_rig_sh("ip link set p1 nomaster");
	linux_rig_settle(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->forwarding, EASE_FORWARDING_SOFTWARE);
	ck_assert(takes_skips("p0") && takes_skips("p1"));
	linux_rig_sh("bridge fdb add 02:00:00:00:00:77 dev p0 master extern_learn"); /* and no port to forward to */
	linux_rig_sh("ip link set p2 master br0");
	linux_rig_settle(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->forwarding, EASE_FORWARDING_SOFTWARE);
	linux_rig_sh("ip link set p1 master br0");
	linux_rig_settle(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->forwarding, EASE_FORWARDING_MIXED);
	ck_assert_uint_eq(linux_rig_port(&rig, "p1")->forwarding, EASE_FORWARDING_MIXED);
	ck_assert_uint_eq(linux_rig_port(&rig, "p2")->forwarding, EASE_FORWARDING_SOFTWARE);
	ck_assert(!takes_skips("p0") && takes_skips("p2"));
	linux_rig_sh("ip link set p0 nomaster");
	linux_rig_settle(&rig);
	ck_assert(takes_skips("p0"));
	ck_assert_uint_ge(linux_rig_stat(&rig, "linux.judged_anew"), 4);
	linux_rig_stop(&rig);
}
END_TEST

/* No bridge: a chip that routes. What it counts runs ahead of what the CPU sees. */
START_TEST(hardware_that_runs_ahead_is_found_out)
{
	if (!set_up(__func__, "mlxsw_spectrum", 9, "", LINUX_SAMPLING_EBPF))
		return;
	linux_rig_sh("ip link set p0 nomaster; ip link set p1 nomaster");
	ports[0].plays_stats = ports[0].has_cpu = true;
	linux_rig_start(&rig);
	if (!has_taps(__func__))
		return;
	ck_assert(takes_skips("p0"));
	for (int i = 0; i < 5 && linux_rig_port(&rig, "p0")->forwarding == EASE_FORWARDING_SOFTWARE; i++) {
		clock_step_us(&stepped, 1000000);
		ports[0].link.rx_packets += 10000;
		ports[0].cpu.rx_packets += 3;
		linux_rig_port(&rig, "p0");
		linux_rig_settle(&rig);
	}
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->forwarding, EASE_FORWARDING_HARDWARE);
	ck_assert(!takes_skips("p0"));
	linux_rig_stop(&rig);
}
END_TEST

/* The CPU reaches the ports by the conduit, whose frames would be sampled twice. */
START_TEST(a_conduit_is_not_sampled)
{
	if (!set_up(__func__, "mv88e6085", 3, "dsa", LINUX_SAMPLING_EBPF))
		return;
	linux_rig_start(&rig);
	if (!has_taps(__func__))
		return;
	ck_assert(!takes_skips("eth0"));
	ck_assert(linux_rig_port(&rig, "eth0")->over_others && !linux_rig_port(&rig, "eth0")->has_connector);
	ck_assert(takes_skips("far0"));
	linux_rig_stop(&rig);
}
END_TEST

/* ---- the CPU's share ---- */

static struct {
	unsigned n;
	uint32_t if_index;
	uint64_t pool;
} samples;

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	samples.n++;
	samples.if_index = event->if_index;
	samples.pool = event->pool_pkts;
	return 9;
}

START_TEST(what_reaches_the_cpu_is_a_port_of_its_own)
{
	static const uint8_t to[6] = {0x02, 0x99, 0, 0, 0, 1};
	const struct hal_port *share;
	uint32_t p0, index;

	if (!set_up(__func__, "mv88e6085", 3, "dsa", LINUX_SAMPLING_CPU))
		return;
	play_marvell(&ports[0]);
	rig.listener.sample = on_sample;
	linux_rig_start(&rig);
	if (!has_taps(__func__))
		return;
	p0 = linux_rig_port(&rig, "p0")->if_index;
	ck_assert(!takes_skips("p0"));
	share = linux_rig_port(&rig, "p0 CPU share");
	ck_assert_ptr_nonnull(share);
	index = share->if_index;
	ck_assert(share->is_share && !share->has_connector && share->off_bridge);
	ck_assert_uint_eq(share->duplex, EASE_DUPLEX_UNKNOWN);
	ck_assert_uint_eq(share->lower, p0);
	ck_assert_int_eq(hal_load_skip(rig.hal, index, 9), 0);
	ck_assert_int_eq(hal_load_skip(rig.hal, index, 9), 0);
	linux_rig_send("h0", to, 100, 1000, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_ge(samples.n, 2);
	ck_assert_uint_eq(samples.if_index, index);
	/* Its totals are what it saw, and the port's are those of the chip: neither is in the other. */
	ck_assert_uint_eq(value("p0 CPU share", HAL_IN_UCAST_PKTS), 1000);
	ck_assert_uint_eq(value("p0 CPU share", HAL_POOL_IN_PKTS), 1000);
	ck_assert(!(linux_rig_port(&rig, "p0 CPU share")->counters.known & BIT(HAL_IN_OCTETS)));
	ck_assert_uint_eq(value("p0", HAL_IN_UCAST_PKTS), 1600000);
	ck_assert_int_lt(hal_set_admin_status(rig.hal, index, EASE_IF_DOWN), 0);

	linux_rig_sh("ip link set p1 nomaster"); /* now the kernel forwards: the share goes */
	linux_rig_settle(&rig);
	ck_assert_ptr_null(linux_rig_port(&rig, "p0 CPU share"));
	ck_assert(takes_skips("p0"));
	linux_rig_sh("ip link set p1 master br0");
	linux_rig_settle(&rig);
	ck_assert_ptr_nonnull(linux_rig_port(&rig, "p0 CPU share"));
	linux_rig_sh("ip link delete p0");
	linux_rig_settle(&rig);
	ck_assert_ptr_null(linux_rig_port(&rig, "p0 CPU share"));
	ck_assert_int_eq(hal_refresh_all(rig.hal), 0);
	linux_rig_stop(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("switch chip");
	TCase *judgement = tcase_create("judgement"), *device = tcase_create("drivers");

	tcase_add_test(judgement, a_chip_forwards_if_anything_shows_it);
	tcase_add_test(judgement, one_window_shows_hardware_ahead_and_many_that_it_is_not);
	tcase_add_test(judgement, texts_of_a_known_family_are_figures);
	tcase_add_test(judgement, texts_of_which_one_is_missing_are_nothing);
	suite_add_tcase(suite, judgement);
	tcase_set_timeout(device, 60);
	tcase_add_checked_fixture(device, forget, NULL);
	tcase_add_test(device, mlxsw);
	tcase_add_test(device, prestera);
	tcase_add_test(device, mv88e6xxx_by_texts);
	tcase_add_test(device, registers_of_a_chip_go_round);
	tcase_add_test(device, octets_of_clause_30);
	tcase_add_test(device, what_nobody_counts_is_absent);
	tcase_add_test(device, a_plain_network_card);
	tcase_add_test(device, a_transceiver_comes_and_goes);
	tcase_add_test(device, a_check_tells_of_chips);
	tcase_add_test(device, a_port_is_judged_anew);
	tcase_add_test(device, hardware_that_runs_ahead_is_found_out);
	tcase_add_test(device, a_conduit_is_not_sampled);
	tcase_add_test(device, what_reaches_the_cpu_is_a_port_of_its_own);
	suite_add_tcase(suite, device);
	return suite_run(suite);
}
