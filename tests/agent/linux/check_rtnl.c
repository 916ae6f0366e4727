/*
 * Messages of rtnetlink, built here attribute by attribute: what they say, and that
 * one cut short or with wrong lengths is refused or read as far as it is sound. And the tables made
 * of them: the numbers that links.h gives to names, the addresses of fdb.h.
 */
#include "agent/linux/fdb.h"
#include "agent/linux/links.h"
#include "tests/suite.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>

static uint8_t octets[4096] __attribute__((aligned(8)));
static const uint8_t mac[6] = {2, 0, 0x5e, 0x10, 0, 7};

static struct nlmsghdr *
begin(uint16_t type, const void *head, size_t head_octets)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(octets);

	message->nlmsg_type = type;
	memcpy(mnl_nlmsg_put_extra_header(message, head_octets), head, head_octets);
	return message;
}

static struct nlmsghdr *
bridge_message(void)
{
	struct ifinfomsg head = {.ifi_index = 9, .ifi_type = ARPHRD_ETHER, .ifi_flags = IFF_UP};
	struct rtnl_link_stats64 stats = {.rx_packets = 11, .tx_bytes = 1ull << 40};
	struct nlmsghdr *message = begin(RTM_NEWLINK, &head, sizeof(head));
	struct nlattr *info, *data;

	mnl_attr_put_strz(message, IFLA_IFNAME, "br0");
	mnl_attr_put_strz(message, IFLA_IFALIAS, "floor 2");
	mnl_attr_put(message, IFLA_ADDRESS, sizeof(mac), mac);
	mnl_attr_put_u32(message, IFLA_MTU, 1500);
	mnl_attr_put_u8(message, IFLA_OPERSTATE, IF_OPER_UP);
	mnl_attr_put_u32(message, IFLA_MASTER, 4);
	mnl_attr_put_u32(message, IFLA_PROMISCUITY, 1);
	mnl_attr_put(message, IFLA_STATS64, sizeof(stats), &stats);
	info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, "bridge");
	data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
	mnl_attr_put_u32(message, IFLA_BR_AGEING_TIME, 30000);
	mnl_attr_put_u8(message, IFLA_BR_VLAN_FILTERING, 1);
	mnl_attr_nest_end(message, data);
	mnl_attr_put_strz(message, IFLA_INFO_SLAVE_KIND, "bond");
	mnl_attr_nest_end(message, info);
	return message;
}

static struct nlmsghdr *
message_on(const char *kind, bool elsewhere)
{
	struct ifinfomsg head = {.ifi_index = 9, .ifi_type = ARPHRD_ETHER};
	struct nlmsghdr *message = begin(RTM_NEWLINK, &head, sizeof(head));
	struct nlattr *info;

	mnl_attr_put_strz(message, IFLA_IFNAME, "x");
	mnl_attr_put_u32(message, IFLA_LINK, 3);
	if (elsewhere)
		mnl_attr_put_u32(message, IFLA_LINK_NETNSID, 0);
	info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, kind);
	mnl_attr_nest_end(message, info);
	return message;
}

START_TEST(a_vlan_runs_on_a_link_of_this_namespace)
{
	struct rtnl_link link;

	ck_assert_int_eq(rtnl_parse_link(message_on("vlan", false), &link), 0);
	ck_assert_uint_eq(link.lower, 3);
	ck_assert_int_eq(rtnl_parse_link(message_on("vlan", true), &link), 0);
	ck_assert_uint_eq(link.lower, 0);
	ck_assert_int_eq(rtnl_parse_link(message_on("veth", false), &link), 0); /* its peer */
	ck_assert_uint_eq(link.lower, 0);
}
END_TEST

START_TEST(a_link_is_what_its_attributes_say)
{
	struct rtnl_link link;

	ck_assert_int_eq(rtnl_parse_link(bridge_message(), &link), 0);
	ck_assert(!link.gone);
	ck_assert_uint_eq(link.kernel_index, 9);
	ck_assert_str_eq(link.name, "br0");
	ck_assert_str_eq(link.alias, "floor 2");
	ck_assert_str_eq(link.kind, "bridge");
	ck_assert_str_eq(link.master_kind, "bond");
	ck_assert_mem_eq(link.mac, mac, 6);
	ck_assert_uint_eq(link.mtu_octets, 1500);
	ck_assert_uint_eq(link.master, 4);
	ck_assert(link.has_ageing && link.has_stats);
	ck_assert_uint_eq(link.ageing_cs, 30000);
	ck_assert(link.filters_vlans);
	ck_assert_uint_eq(link.stats.rx_packets, 11);
	ck_assert_uint_eq(link.stats.tx_bytes, 1ull << 40);
	ck_assert_uint_eq(links_oper_status(&link), EASE_IF_UP);
	ck_assert(link.promiscuous);
}
END_TEST

START_TEST(a_message_cut_anywhere_is_read_or_refused)
{
	static uint8_t cut[sizeof(octets)] __attribute__((aligned(8)));
	struct nlmsghdr *whole = bridge_message(), *message = (struct nlmsghdr *)cut;
	struct rtnl_link link;

	for (uint32_t n = NLMSG_HDRLEN; n <= whole->nlmsg_len; n++) {
		int rc;

		memset(cut, 0xff, sizeof(cut));
		memcpy(cut, whole, n);
		message->nlmsg_len = n;
		rc = rtnl_parse_link(message, &link);
		ck_assert(rc == 0 || rc == -EPROTO);
		ck_assert(rc == -EPROTO || link.name[0] == 'b');
	}
}
END_TEST

START_TEST(a_bridge_numbers_its_ports)
{
	struct nlmsghdr *message = message_on("veth", false);
	struct nlattr *info = mnl_attr_nest_start(message, IFLA_LINKINFO), *data;
	struct rtnl_link link;

	mnl_attr_put_strz(message, IFLA_INFO_SLAVE_KIND, "bridge");
	data = mnl_attr_nest_start(message, IFLA_INFO_SLAVE_DATA);
	mnl_attr_put_u16(message, IFLA_BRPORT_NO, 7);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	ck_assert_int_eq(rtnl_parse_link(message, &link), 0);
	ck_assert_uint_eq(link.bridge_port, 7);
	ck_assert_str_eq(link.master_kind, "bridge");
}
END_TEST

START_TEST(what_is_no_link_is_left_alone)
{
	struct ifinfomsg port = {.ifi_family = AF_BRIDGE, .ifi_index = 3};
	struct ifinfomsg nobody = {.ifi_index = 0};
	struct ifinfomsg radio = {.ifi_index = 3, .ifi_type = ARPHRD_ETHER, .ifi_flags = IFF_UP};
	static const uint8_t scan[16] = {16, 0, 0x19, 0x8b}; /* SIOCGIWSCAN */
	struct rtnl_link link;
	struct nlmsghdr *message;

	ck_assert_int_eq(rtnl_parse_link(begin(RTM_DELLINK, &port, sizeof(port)), &link), -ENOMSG);
	ck_assert_int_eq(rtnl_parse_link(begin(RTM_NEWADDR, &port, sizeof(port)), &link), -ENOMSG);
	ck_assert_int_eq(rtnl_parse_link(begin(RTM_NEWLINK, &nobody, sizeof(nobody)), &link), -EPROTO);
	message = bridge_message();
	mnl_attr_put_u8(message, IFLA_MTU, 1); /* an MTU has four octets */
	ck_assert_int_eq(rtnl_parse_link(message, &link), -EPROTO);
	/* A scan of a radio: its name, and an event of struct iw_event that is none of a link's attributes. */
	message = begin(RTM_NEWLINK, &radio, sizeof(radio));
	mnl_attr_put_strz(message, IFLA_IFNAME, "wlan0");
	mnl_attr_put(message, IFLA_WIRELESS, sizeof(scan), scan);
	ck_assert_int_eq(rtnl_parse_link(message, &link), -ENOMSG);
}
END_TEST

START_TEST(texts_longer_than_their_room_are_cut)
{
	struct ifinfomsg head = {.ifi_index = 9, .ifi_type = ARPHRD_ETHER};
	struct nlmsghdr *message = begin(RTM_NEWLINK, &head, sizeof(head));
	char alias[256];
	struct rtnl_link link;

	memset(alias, 'a', sizeof(alias));
	mnl_attr_put_strz(message, IFLA_IFNAME, "eth0");
	mnl_attr_put(message, IFLA_IFALIAS, sizeof(alias), alias); /* without a NUL, too */
	ck_assert_int_eq(rtnl_parse_link(message, &link), 0);
	ck_assert_uint_eq(strlen(link.alias), EASE_NAME_MAX);
}
END_TEST

/* RFC 2863 wants a row of each interface, with the type that IANA has for it. */
START_TEST(links_of_all_kinds)
{
	static const struct {
		uint16_t hardware_type;
		const char *kind;
		uint8_t radio;
		uint32_t if_type;
		bool has_connector, is_sampled;
	} kinds[] = {
	    {ARPHRD_ETHER, "", LINKS_RADIO_NONE, 6, true, true}, {ARPHRD_ETHER, "", LINKS_RADIO_WLAN, 71, false, true},
	    {ARPHRD_ETHER, "", LINKS_RADIO_WWAN, 243, false, true}, {ARPHRD_ETHER, "tun", 0, 6, false, true},
	    {ARPHRD_NONE, "tun", 0, 131, false, false}, {ARPHRD_LOOPBACK, "", 0, 24, false, false},
	    {ARPHRD_NONE, "wireguard", 0, 131, false, false}, {ARPHRD_PPP, "ppp", 0, 23, false, false},
	    {ARPHRD_SIT, "sit", 0, 131, false, false}, {ARPHRD_IPGRE, "gre", 0, 131, false, false},
	    {ARPHRD_INFINIBAND, "ipoib", 0, 199, true, false}, {ARPHRD_CAN, "can", 0, 1, true, false},
	    {ARPHRD_CAN, "vcan", 0, 1, false, false}, {ARPHRD_RAWIP, "", 0, 243, false, false},
	    {ARPHRD_ETHER, "vxlan", 0, 53, false, false}, {ARPHRD_NETLINK, "nlmon", 0, 53, false, false},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct links_port port = {.radio = kinds[i].radio, .link.hardware_type = kinds[i].hardware_type};

		strcpy(port.link.kind, kinds[i].kind);
		ck_assert_uint_eq(links_if_type(&port), kinds[i].if_type);
		ck_assert_int_eq(links_has_connector(&port), kinds[i].has_connector);
		ck_assert_int_eq(links_is_sampled(&port), kinds[i].is_sampled);
	}
}
END_TEST

/* A link that has nothing below it in ifStackTable is not down because of that: a veth whose peer is down. */
START_TEST(only_what_runs_on_another_is_down_with_it)
{
	struct rtnl_link link = {.oper_state = IF_OPER_LOWERLAYERDOWN};

	ck_assert_uint_eq(links_oper_status(&link), EASE_IF_DOWN);
	link.lower = 3;
	ck_assert_uint_eq(links_oper_status(&link), EASE_IF_LOWER_LAYER_DOWN);
	link = (struct rtnl_link){.flags = IFF_UP | IFF_RUNNING, .oper_state = IF_OPER_UP};
	links_set_up(&link, false); /* by a SET, before the kernel's notice */
	ck_assert_uint_eq(links_oper_status(&link), EASE_IF_DOWN);
}
END_TEST

/* People give aliases, programs give names: what is no UTF-8, or obeyed by a terminal, does not get in. */
START_TEST(texts_are_utf8_and_can_be_shown)
{
	static const char *const texts[][2] = {
	    {"a\tb\x1b[2J", "a?b?[2J"},
	    {"\xfc" "ber \xe2\x82", "\xc3\xbc" "ber \xc3\xa2?"}, /* Latin 1 */
	    {"123456789012345678901234567890123456789012345678901234567890123\xc3\xbc and more",
		"123456789012345678901234567890123456789012345678901234567890123"},
	};
	struct ifinfomsg head = {.ifi_index = 9, .ifi_type = ARPHRD_ETHER};
	struct rtnl_link link;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct nlmsghdr *message = begin(RTM_NEWLINK, &head, sizeof(head));

		mnl_attr_put_strz(message, IFLA_IFNAME, "port\xc3\xa9\x7f");
		mnl_attr_put_strz(message, IFLA_IFALIAS, texts[i][0]);
		ck_assert_int_eq(rtnl_parse_link(message, &link), 0);
		ck_assert_str_eq(link.alias, texts[i][1]);
		ck_assert_str_eq(link.name, "port\xc3\xa9?");
	}
}
END_TEST

START_TEST(counters_of_older_and_newer_kernels)
{
	struct if_stats_msg head = {.ifindex = 5};
	struct rtnl_link_stats64 known = {.rx_packets = 7, .multicast = 3, .rx_nohandler = 1};
	struct rtnl_stats stats;
	uint32_t kernel_index = 0;
	uint8_t longer[sizeof(known) + 16] = {0};
	struct nlmsghdr *message = begin(RTM_NEWSTATS, &head, sizeof(head));

	mnl_attr_put(message, IFLA_STATS_LINK_64, 10 * 8, &known); /* ends behind collisions */
	ck_assert_int_eq(rtnl_parse_stats(message, &stats, &kernel_index), 0);
	ck_assert_uint_eq(kernel_index, 5);
	ck_assert_uint_eq(stats.link.rx_packets, 7);
	ck_assert_uint_eq(stats.link.multicast, 3);
	ck_assert_uint_eq(stats.link.rx_nohandler, 0);
	memcpy(longer, &known, sizeof(known));
	message = begin(RTM_NEWSTATS, &head, sizeof(head));
	mnl_attr_put(message, IFLA_STATS_LINK_64, sizeof(longer), longer);
	ck_assert_int_eq(rtnl_parse_stats(message, &stats, &kernel_index), 0);
	ck_assert_uint_eq(stats.link.rx_nohandler, 1);
	message = begin(RTM_NEWSTATS, &head, sizeof(head));
	ck_assert_int_eq(rtnl_parse_stats(message, &stats, &kernel_index), -EPROTO);
}
END_TEST

static struct nlmsghdr *
queue_message(uint32_t parent, uint32_t drops, size_t size)
{
	struct tcmsg head = {.tcm_ifindex = 5, .tcm_handle = 0x80010000, .tcm_parent = parent};
	struct gnet_stats_queue stats = {.qlen = 3, .drops = drops};
	struct nlmsghdr *message = begin(RTM_NEWQDISC, &head, sizeof(head));
	struct nlattr *nest = mnl_attr_nest_start(message, TCA_STATS2);

	if (size > 0)
		mnl_attr_put(message, TCA_STATS_QUEUE, size, &stats);
	mnl_attr_nest_end(message, nest);
	return message;
}

START_TEST(what_a_links_queue_dropped)
{
	struct tcmsg head = {.tcm_parent = TC_H_ROOT};
	struct rtnl_queue queue;

	ck_assert_int_eq(rtnl_parse_queue(queue_message(TC_H_ROOT, UINT32_MAX, sizeof(struct gnet_stats_queue)), &queue), 0);
	ck_assert_uint_eq(queue.kernel_index, 5);
	ck_assert_uint_eq(queue.handle, 0x80010000);
	ck_assert_uint_eq(queue.dropped_pkts, UINT32_MAX);
	ck_assert_int_eq(rtnl_parse_queue(queue_message(0x80010001, 7, sizeof(struct gnet_stats_queue)), &queue), -ENOMSG);
	ck_assert_int_eq(rtnl_parse_queue(queue_message(TC_H_INGRESS, 7, sizeof(struct gnet_stats_queue)), &queue), -ENOMSG);
	ck_assert_int_eq(rtnl_parse_queue(queue_message(TC_H_ROOT, 7, 0), &queue), -ENOMSG);
	ck_assert_int_eq(rtnl_parse_queue(queue_message(TC_H_ROOT, 7, 8), &queue), -EPROTO);
	ck_assert_int_eq(rtnl_parse_queue(begin(RTM_NEWQDISC, &head, sizeof(head)), &queue), -ENOMSG);
	ck_assert_int_eq(rtnl_parse_queue(begin(RTM_NEWQDISC, &head, sizeof(head) - 4), &queue), -EPROTO);
	ck_assert_int_eq(rtnl_parse_queue(begin(RTM_DELQDISC, &head, sizeof(head)), &queue), -ENOMSG);
}
END_TEST

START_TEST(what_the_cpu_saw_is_told_apart)
{
	struct if_stats_msg head = {.ifindex = 5};
	struct rtnl_link_stats64 all = {.rx_packets = 700}, cpu = {.rx_packets = 7};
	struct nlmsghdr *message = begin(RTM_NEWSTATS, &head, sizeof(head));
	struct nlattr *nest;
	struct rtnl_stats stats;
	uint32_t kernel_index;

	mnl_attr_put(message, IFLA_STATS_LINK_64, sizeof(all), &all);
	ck_assert_int_eq(rtnl_parse_stats(message, &stats, &kernel_index), 0);
	ck_assert(!stats.has_cpu);
	nest = mnl_attr_nest_start(message, IFLA_STATS_LINK_OFFLOAD_XSTATS);
	mnl_attr_put(message, IFLA_OFFLOAD_XSTATS_CPU_HIT, sizeof(cpu), &cpu);
	mnl_attr_nest_end(message, nest);
	ck_assert_int_eq(rtnl_parse_stats(message, &stats, &kernel_index), 0);
	ck_assert(stats.has_cpu);
	ck_assert_uint_eq(stats.link.rx_packets, 700);
	ck_assert_uint_eq(stats.cpu.rx_packets, 7);
}
END_TEST

START_TEST(a_port_of_a_switch_chip)
{
	static const uint8_t id[33] = {0, 0x15, 0x4d, 1};
	struct nlmsghdr *message = message_on("dsa", false);
	struct rtnl_link link, other;

	mnl_attr_put(message, IFLA_PHYS_SWITCH_ID, 4, id);
	ck_assert_int_eq(rtnl_parse_link(message, &link), 0);
	ck_assert_uint_eq(link.conduit, 3);
	ck_assert_uint_eq(link.lower, 0);
	ck_assert_uint_eq(link.switch_id.n_octets, 4);
	ck_assert_mem_eq(link.switch_id.octets, id, 4);
	message = message_on("", false); /* the kind that kernels before 6.1 tell */
	mnl_attr_put(message, IFLA_PHYS_SWITCH_ID, 4, id);
	ck_assert_int_eq(rtnl_parse_link(message, &other), 0);
	ck_assert_uint_eq(other.conduit, 3);
	ck_assert(links_same_switch(&link, &other) && links_is_of_chip(&link) && links_differ(&link, &other));
	ck_assert_int_eq(rtnl_parse_link(message_on("", false), &other), 0);
	ck_assert_uint_eq(other.conduit, 0);
	ck_assert(!links_same_switch(&link, &other) && !links_is_of_chip(&other) && !links_same_switch(&other, &other));
	message = message_on("dsa", true);
	mnl_attr_put(message, IFLA_PHYS_SWITCH_ID, 33, id);
	ck_assert_int_eq(rtnl_parse_link(message, &other), -EPROTO);
}
END_TEST

START_TEST(a_bridges_address)
{
	struct ndmsg head = {.ndm_family = AF_BRIDGE, .ndm_ifindex = 12, .ndm_state = NUD_REACHABLE,
	    .ndm_flags = NTF_MASTER};
	struct nlmsghdr *message = begin(RTM_DELNEIGH, &head, sizeof(head));
	struct rtnl_neighbour n;

	ck_assert_int_eq(rtnl_parse_neighbour(message, &n), -ENOMSG); /* without an address */
	mnl_attr_put(message, NDA_LLADDR, sizeof(mac), mac);
	mnl_attr_put_u16(message, NDA_VLAN, 30);
	mnl_attr_put_u32(message, NDA_MASTER, 2);
	ck_assert_int_eq(rtnl_parse_neighbour(message, &n), 0);
	ck_assert(n.gone);
	ck_assert_uint_eq(n.kernel_index, 12);
	ck_assert_uint_eq(n.vlan, 30);
	ck_assert_uint_eq(n.master, 2);
	ck_assert_mem_eq(n.mac, mac, 6);
	head.ndm_family = AF_INET; /* ARP's are not a bridge's */
	ck_assert_int_eq(rtnl_parse_neighbour(begin(RTM_NEWNEIGH, &head, sizeof(head)), &n), -ENOMSG);
}
END_TEST

/* ---- numbers ---- */

static uint32_t
add(struct links *links, const char *name, uint32_t kernel_index)
{
	struct rtnl_link link = {.kernel_index = kernel_index, .hardware_type = ARPHRD_ETHER};
	struct links_port *port;

	strcpy(link.name, name);
	ck_assert_int_eq(links_add(links, &link, &port), 0);
	return port->if_index;
}

START_TEST(a_number_is_a_names_and_nobody_elses)
{
	static const struct links_name kept[] = {{"b", 1}, {"c", 1}, {"d", 9}, {"z", 0}};
	struct links links;

	ck_assert_int_eq(links_init(&links, LINKS_STABLE_NUMBERS, kept, 4), 0);
	ck_assert_uint_eq(add(&links, "a", 1), 2); /* the kernel's number is b's, 2 is free */
	ck_assert_uint_eq(add(&links, "b", 2), 1);
	ck_assert_uint_eq(add(&links, "c", 9), 3); /* its kept one was doubtful */
	ck_assert_uint_eq(add(&links, "d", 10), 9);
	ck_assert_uint_eq(add(&links, "e", 11), 11);
	links_remove(&links, links_find(&links, 1));
	ck_assert_ptr_null(links_find(&links, 1));
	ck_assert_uint_eq(add(&links, "f", 1), 4); /* b may come again */
	ck_assert_uint_eq(add(&links, "b", 40), 1);
	for (size_t i = 1; i < links.n; i++)
		ck_assert_uint_lt(links.ports[i - 1].if_index, links.ports[i].if_index);
	links_remove(&links, links_find(&links, 9));
	links_forget(&links, "d");
	links_forget(&links, "b"); /* it is there, and keeps it */
	links_forget(&links, "nobody");
	ck_assert_uint_eq(add(&links, "g", 9), 9);
	ck_assert_uint_eq(add(&links, "d", 1), 5);
	links_free(&links);
}
END_TEST

START_TEST(the_kernels_numbers_are_taken_as_they_are)
{
	struct links links;

	ck_assert_int_eq(links_init(&links, LINKS_KERNEL_NUMBERS, NULL, 0), 0);
	ck_assert_uint_eq(add(&links, "a", 70000), 70000);
	ck_assert_uint_eq(add(&links, "b", 2), 2);
	links_remove(&links, links_find(&links, 2));
	ck_assert_uint_eq(add(&links, "c", 2), 2);
	ck_assert_uint_eq(add(&links, "b", 3), 3);
	ck_assert_uint_eq(links.n_names, 0);
	links_free(&links);
}
END_TEST

/* Indexes of a host that has made millions of links come to the numbers of its CPU shares. */
START_TEST(no_number_is_given_twice)
{
	struct rtnl_link link = {.kernel_index = 5 + LINKS_SHARE, .hardware_type = ARPHRD_ETHER, .name = "b"};
	struct links_port *port;
	struct links links;

	ck_assert_int_eq(links_init(&links, LINKS_KERNEL_NUMBERS, NULL, 0), 0);
	ck_assert_uint_eq(add(&links, "a", 5), 5);
	ck_assert_int_eq(links_add_share(&links, 5, &port), 0);
	ck_assert_uint_eq(port->if_index, 5 + LINKS_SHARE);
	ck_assert_int_eq(links_add(&links, &link, &port), -EEXIST);
	ck_assert_uint_eq(links.n, 2);
	links_free(&links);
}
END_TEST

START_TEST(names_and_links_have_a_limit)
{
	struct rtnl_link link = {.kernel_index = 1};
	struct links_port *port;
	struct links links;

	ck_assert_int_eq(links_init(&links, LINKS_STABLE_NUMBERS, NULL, 0), 0);
	for (uint32_t i = 0; i < LINKS_NAMES_MAX + 10; i++) {
		snprintf(link.name, sizeof(link.name), "t%u", i);
		link.kernel_index = i + 1;
		ck_assert_int_eq(links_add(&links, &link, &port), 0);
		links_remove(&links, port);
	}
	ck_assert_uint_eq(links.n_names, LINKS_NAMES_MAX);
	for (uint32_t i = 0; i < LINKS_MAX; i++) {
		snprintf(link.name, sizeof(link.name), "u%u", i);
		link.kernel_index = 100000 + i;
		ck_assert_int_eq(links_add(&links, &link, &port), 0);
	}
	ck_assert_int_eq(links_add(&links, &link, &port), -ENOSPC);
	links_free(&links);
}
END_TEST

/* ---- base ports ---- */

/* A bridge (number 0) or a port. */
static struct links_port *
add_bridged(struct links *links, uint32_t kernel_index, uint32_t bridge, uint16_t number)
{
	struct rtnl_link link = {.kernel_index = kernel_index, .master = bridge, .bridge_port = number};
	struct links_port *port;

	snprintf(link.name, sizeof(link.name), "x%u", kernel_index);
	strcpy(number ? link.master_kind : link.kind, "bridge");
	ck_assert_int_eq(links_add(links, &link, &port), 0);
	return port;
}

/* The first bridge as the kernel has it, three more from the kernel's numbers, others by what is free; valid with any
 * ifIndex, and the same as long as the port is in its bridge. */
START_TEST(bridge_ports_have_numbers_of_their_own)
{
	static const struct { uint32_t kernel_index, bridge; uint16_t number, base_port; } ports[] = {
	    {70000, 2, 1, 1}, {16777000, 2, 1023, 1023}, {5, 3, 1, 1025}, {4, 10, 9, 2057}, {7, 11, 1, 3073},
	    {6, 12, 1, 4096}, {8, 13, 1, 4095}, {9, 99, 5, 4094}};
	enum { N = sizeof(ports) / sizeof(ports[0]) };
	struct links links;

	ck_assert_int_eq(links_init(&links, LINKS_KERNEL_NUMBERS, NULL, 0), 0);
	for (int i = N - 1; i >= 0; i--)
		add_bridged(&links, ports[i].kernel_index, ports[i].bridge, ports[i].number);
	for (uint32_t bridge = 13; bridge >= 2; bridge -= bridge == 10 ? 7 : 1)
		add_bridged(&links, bridge, 0, 0);
	for (int round = 0; round < 2; round++) {
		links_number_ports(&links);
		for (int i = 0; i < N; i++)
			ck_assert_uint_eq(links_find_kernel(&links, ports[i].kernel_index)->base_port, ports[i].base_port);
		add_bridged(&links, round + 90000, 0, 0); /* another bridge changes nothing, nor does the first's end */
		links_remove(&links, links_find_kernel(&links, round ? 90000 : 2));
	}
	ck_assert_uint_eq(links_find_kernel(&links, 90001)->base_port, 0);
	links_free(&links);
}
END_TEST

/* There is a number for each port that there can be, in one bridge of the kernel's numbers or in thousands. */
START_TEST(there_are_enough_base_ports)
{
	bool taken[LINKS_BASE_PORTS + 1] = {true};
	struct links links;

	ck_assert_int_eq(links_init(&links, LINKS_KERNEL_NUMBERS, NULL, 0), 0);
	for (uint32_t i = 1; i < LINKS_MAX; i++)
		add_bridged(&links, 100000 + i, i % 2 ? 1 : 200000 + i, (uint16_t)(i % 1023 + 1));
	add_bridged(&links, 1, 0, 0);
	links_number_ports(&links);
	for (size_t i = 1; i < links.n; i++) {
		uint16_t number = links.ports[i].base_port;

		ck_assert(links.ports[i].link.master == 0 || !taken[number]);
		taken[number] = true;
	}
	links_free(&links);
}
END_TEST

/* ---- addresses ---- */

static struct rtnl_neighbour
neighbour(uint32_t number, uint16_t vlan, uint32_t port)
{
	struct rtnl_neighbour n = {.kernel_index = port, .vlan = vlan, .state = NUD_REACHABLE};

	memcpy(n.mac + 2, &number, sizeof(number));
	return n;
}

START_TEST(an_address_is_where_it_was_last_seen)
{
	struct rtnl_neighbour here = neighbour(1, 0, 5), there = neighbour(1, 0, 6);
	struct rtnl_neighbour other_vlan = neighbour(1, 30, 7), own = neighbour(2, 0, 5);
	struct fdb fdb = {0};

	ck_assert_int_eq(fdb_update(&fdb, &here), 1);
	ck_assert_int_eq(fdb_update(&fdb, &here), 0);
	ck_assert_int_eq(fdb_update(&fdb, &other_vlan), 1);
	ck_assert_int_eq(fdb_update(&fdb, &there), 1); /* moved */
	here.gone = true; /* it has left the old port, late */
	ck_assert_int_eq(fdb_update(&fdb, &here), 0);
	ck_assert_uint_eq(fdb_find(&fdb, 0, 0, there.mac)->kernel_index, 6);
	ck_assert_uint_eq(fdb_find(&fdb, 0, 30, there.mac)->kernel_index, 7);
	there.gone = true;
	ck_assert_int_eq(fdb_update(&fdb, &there), 0);
	ck_assert_ptr_null(fdb_find(&fdb, 0, 0, there.mac));
	ck_assert_uint_eq(fdb.n, 1);
	there = here = neighbour(1, 0, 5);
	there.master = 90;
	here.master = 80;
	ck_assert_int_eq(fdb_update(&fdb, &here) + fdb_update(&fdb, &there), 2); /* heard on two bridges */
	there.gone = true;
	ck_assert_int_eq(fdb_update(&fdb, &there), 0);
	ck_assert_ptr_nonnull(fdb_find(&fdb, 80, 0, here.mac));
	ck_assert_ptr_null(fdb_find(&fdb, 90, 0, here.mac));
	here.gone = true;
	ck_assert_int_eq(fdb_update(&fdb, &here), 0);
	own.state = NUD_PERMANENT;
	ck_assert_int_eq(fdb_update(&fdb, &own), 0); /* the bridge's own address is no new station */
	ck_assert_uint_eq(fdb_find(&fdb, 0, 0, own.mac)->status, HAL_ADDRESS_SELF);
	own.flags = NTF_SELF;
	ck_assert(!fdb_concerns(&own));
	fdb_free(&fdb);
}
END_TEST

START_TEST(the_table_has_a_limit_and_forgets_in_any_order)
{
	struct fdb fdb = {0};
	struct rtnl_neighbour n;

	for (uint32_t i = 0; i < HAL_MAX_ADDRESSES; i++) {
		n = neighbour(i, i % 3, 1 + i % 7);
		ck_assert_int_eq(fdb_update(&fdb, &n), 1);
	}
	n = neighbour(HAL_MAX_ADDRESSES, 0, 1);
	ck_assert_int_eq(fdb_update(&fdb, &n), -ENOSPC);
	n = neighbour(4, 1, 9); /* one that is known may still move */
	ck_assert_int_eq(fdb_update(&fdb, &n), 1);
	for (uint32_t i = 0; i < HAL_MAX_ADDRESSES; i++) {
		uint32_t number = i * 48271u % HAL_MAX_ADDRESSES; /* odd: every one, once */

		n = neighbour(number, number % 3, number == 4 ? 9 : 1 + number % 7);
		ck_assert_ptr_nonnull(fdb_find(&fdb, 0, n.vlan, n.mac));
		n.gone = true;
		fdb_update(&fdb, &n);
		ck_assert_ptr_null(fdb_find(&fdb, 0, n.vlan, n.mac));
		ck_assert_uint_eq(fdb.n, HAL_MAX_ADDRESSES - 1 - i);
	}
	fdb_free(&fdb);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rtnl");
	TCase *messages = tcase_create("messages"), *numbers = tcase_create("numbers");
	TCase *addresses = tcase_create("addresses");

	tcase_add_test(messages, a_link_is_what_its_attributes_say);
	tcase_add_test(messages, a_vlan_runs_on_a_link_of_this_namespace);
	tcase_add_test(messages, a_message_cut_anywhere_is_read_or_refused);
	tcase_add_test(messages, what_is_no_link_is_left_alone);
	tcase_add_test(messages, texts_longer_than_their_room_are_cut);
	tcase_add_test(messages, texts_are_utf8_and_can_be_shown);
	tcase_add_test(messages, links_of_all_kinds);
	tcase_add_test(messages, only_what_runs_on_another_is_down_with_it);
	tcase_add_test(messages, counters_of_older_and_newer_kernels);
	tcase_add_test(messages, what_a_links_queue_dropped);
	tcase_add_test(messages, what_the_cpu_saw_is_told_apart);
	tcase_add_test(messages, a_port_of_a_switch_chip);
	tcase_add_test(messages, a_bridges_address);
	tcase_add_test(messages, a_bridge_numbers_its_ports);
	suite_add_tcase(suite, messages);
	tcase_set_timeout(numbers, 60);
	tcase_add_test(numbers, a_number_is_a_names_and_nobody_elses);
	tcase_add_test(numbers, names_and_links_have_a_limit);
	tcase_add_test(numbers, the_kernels_numbers_are_taken_as_they_are);
	tcase_add_test(numbers, no_number_is_given_twice);
	tcase_add_test(numbers, bridge_ports_have_numbers_of_their_own);
	tcase_add_test(numbers, there_are_enough_base_ports);
	suite_add_tcase(suite, numbers);
	tcase_set_timeout(addresses, 60);
	tcase_add_test(addresses, an_address_is_where_it_was_last_seen);
	tcase_add_test(addresses, the_table_has_a_limit_and_forgets_in_any_order);
	suite_add_tcase(suite, addresses);
	return suite_run(suite);
}
