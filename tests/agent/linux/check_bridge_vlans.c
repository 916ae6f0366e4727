/*
 * The answers of a kernel to a dump of its bridges' VLANs (RTM_GETLINK of AF_BRIDGE), made here of the structs
 * that linux/if_bridge.h declares: what they say, what of them is refused, and where the list ends.
 */
#include "agent/linux/rtnl.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_arp.h>
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <string.h>

enum { BRIDGE = 5, PORT = 7 };
enum { BEGIN = BRIDGE_VLAN_INFO_RANGE_BEGIN, END = BRIDGE_VLAN_INFO_RANGE_END,
    PVID = BRIDGE_VLAN_INFO_PVID, UNTAGGED = BRIDGE_VLAN_INFO_UNTAGGED };

static uint8_t octets[4096] __attribute__((aligned(8)));
static struct bridge_vlans vlans;

static void
teardown(void)
{
	bridge_vlans_free(&vlans);
}

/* As br_fill_ifinfo of the kernel fills it, in its order. */
static struct nlmsghdr *
answer(int kernel_index, uint32_t bridge, const struct bridge_vlan_info *infos, size_t n)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(octets);
	struct ifinfomsg *head;
	struct nlattr *spec;

	message->nlmsg_type = RTM_NEWLINK;
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->ifi_family = AF_BRIDGE;
	head->ifi_type = ARPHRD_ETHER;
	head->ifi_index = kernel_index;
	mnl_attr_put_strz(message, IFLA_IFNAME, "p1");
	mnl_attr_put_u32(message, IFLA_MASTER, bridge);
	mnl_attr_put_u32(message, IFLA_MTU, 1500);
	mnl_attr_put_u8(message, IFLA_OPERSTATE, IF_OPER_UP);
	spec = mnl_attr_nest_start(message, IFLA_AF_SPEC);
	for (size_t i = 0; i < n; i++)
		mnl_attr_put(message, IFLA_BRIDGE_VLAN_INFO, sizeof(infos[i]), &infos[i]);
	mnl_attr_nest_end(message, spec);
	return message;
}

/* bridge vlan add dev p1 vid 10-20; vid 30 untagged; vid 4094; and the default PVID 1. */
static const struct bridge_vlan_info usual[] = {{.flags = PVID | UNTAGGED, .vid = 1},
    {.flags = BEGIN, .vid = 10}, {.flags = END, .vid = 20}, {.flags = UNTAGGED, .vid = 30}, {.vid = 4094}};
enum { N_USUAL = sizeof(usual) / sizeof(usual[0]) };

START_TEST(a_port_is_in_the_vlans_of_its_answer)
{
	static const struct bridge_vlan_range expected[] = {
	    {PORT, BRIDGE, 1, 1, PVID | UNTAGGED}, {PORT, BRIDGE, 10, 20, 0},
	    {PORT, BRIDGE, 30, 30, UNTAGGED}, {PORT, BRIDGE, 4094, 4094, 0}};

	ck_assert_int_eq(bridge_vlans_take(&vlans, answer(PORT, BRIDGE, usual, N_USUAL)), 0);
	ck_assert_uint_eq(vlans.n, 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(vlans.ranges[i].kernel_index, expected[i].kernel_index);
		ck_assert_uint_eq(vlans.ranges[i].bridge, expected[i].bridge);
		ck_assert_uint_eq(vlans.ranges[i].first, expected[i].first);
		ck_assert_uint_eq(vlans.ranges[i].last, expected[i].last);
		ck_assert_uint_eq(vlans.ranges[i].flags, expected[i].flags);
	}
	ck_assert_int_eq(bridge_vlans_take(&vlans, answer(PORT + 1, BRIDGE, usual, 1)), 0);
	ck_assert_uint_eq(vlans.n, 5);
	ck_assert_uint_eq(vlans.ranges[4].kernel_index, PORT + 1);
}
END_TEST

START_TEST(what_is_of_no_port_is_left_alone)
{
	struct nlmsghdr *message;

	/* The bridge's own VLANs: it says that it is its own master. */
	ck_assert_int_eq(bridge_vlans_take(&vlans, answer(BRIDGE, BRIDGE, usual, N_USUAL)), -ENOMSG);
	ck_assert_int_eq(bridge_vlans_take(&vlans, answer(PORT, 0, usual, N_USUAL)), -ENOMSG);
	message = answer(PORT, BRIDGE, usual, N_USUAL);
	message->nlmsg_type = RTM_DELLINK;
	ck_assert_int_eq(bridge_vlans_take(&vlans, message), -ENOMSG);
	message = answer(PORT, BRIDGE, usual, N_USUAL);
	((struct ifinfomsg *)mnl_nlmsg_get_payload(message))->ifi_family = AF_UNSPEC;
	ck_assert_int_eq(bridge_vlans_take(&vlans, message), -ENOMSG);
	/* A kernel without VLAN filtering sends no VLANs. */
	ck_assert_int_eq(bridge_vlans_take(&vlans, answer(PORT, BRIDGE, usual, 0)), 0);
	ck_assert_uint_eq(vlans.n, 0);
}
END_TEST

static const struct {
	struct bridge_vlan_info infos[3];
	size_t n;
} damaged[] = {
    {{{.vid = 0}}, 1},
    {{{.vid = 4095}}, 1},
    {{{.vid = 2}, {.flags = END, .vid = 20}}, 2},				/* an end alone */
    {{{.vid = 2}, {.flags = BEGIN, .vid = 10}}, 2},				/* a beginning alone */
    {{{.flags = BEGIN, .vid = 10}, {.flags = BEGIN, .vid = 12}, {.flags = END, .vid = 20}}, 3},
    {{{.flags = BEGIN, .vid = 10}, {.vid = 12}, {.flags = END, .vid = 20}}, 3}, /* another within */
    {{{.vid = 2}, {.flags = BEGIN, .vid = 20}, {.flags = END, .vid = 10}}, 3},	/* backward */
    {{{.flags = BEGIN | END, .vid = 10}}, 1},
};

START_TEST(a_damaged_answer_adds_nothing)
{
	ck_assert_int_eq(bridge_vlans_take(&vlans, answer(PORT, BRIDGE, usual, N_USUAL)), 0);
	ck_assert_int_eq(bridge_vlans_take(&vlans, answer(PORT, BRIDGE, damaged[_i].infos, damaged[_i].n)),
	    -EPROTO);
	ck_assert_uint_eq(vlans.n, 4);
}
END_TEST

START_TEST(an_answer_cut_anywhere_is_read_or_refused)
{
	static uint8_t cut[sizeof(octets)] __attribute__((aligned(8)));
	struct nlmsghdr *whole = answer(PORT, BRIDGE, usual, N_USUAL), *message = (struct nlmsghdr *)cut;

	for (uint32_t n = NLMSG_HDRLEN; n < whole->nlmsg_len; n++) {
		int rc;

		memset(cut, 0xff, sizeof(cut));
		memcpy(cut, whole, n);
		message->nlmsg_len = n;
		rc = bridge_vlans_take(&vlans, message);
		ck_assert(rc == 0 || rc == -EPROTO || rc == -ENOMSG);
		ck_assert_uint_eq(vlans.n, 0); /* its VLANs are its last attribute */
	}
}
END_TEST

START_TEST(the_list_has_an_end)
{
	static const struct bridge_vlan_info info = {.flags = UNTAGGED, .vid = 9};

	for (int i = 1; i <= BRIDGE_VLANS_MAX + 3; i++)
		ck_assert_int_eq(bridge_vlans_take(&vlans, answer(BRIDGE + i, BRIDGE, &info, 1)), 0);
	ck_assert_uint_eq(vlans.n, BRIDGE_VLANS_MAX);
	ck_assert_uint_eq(vlans.n_left_out, 3);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("bridge_vlans");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, NULL, teardown);
	tcase_add_test(all, a_port_is_in_the_vlans_of_its_answer);
	tcase_add_test(all, what_is_of_no_port_is_left_alone);
	tcase_add_loop_test(all, a_damaged_answer_adds_nothing, 0, sizeof(damaged) / sizeof(damaged[0]));
	tcase_add_test(all, an_answer_cut_anywhere_is_read_or_refused);
	tcase_add_test(all, the_list_has_an_end);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
