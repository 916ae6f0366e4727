/*
 * The layers inside frames: hand-made frames by the RFCs of each tunnel, cut off at every octet;
 * headers that are not what port or ethertype say; and, over random damage and the captures, that
 * cutting a frame never adds a field. check_headers.sh compares the values with tshark's.
 */
#include "common/frame.h"
#include "tests/support/captures.h"
#include "tests/common/frame_cut.h"
#include "tests/suite.h"

#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#define MACS 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x00, 0xaa, 0xbb, 0xcc, 0xdd, 0xee
#define IPV4(proto) 0x45, 0, 0, 40, 0, 1, 0, 0, 64, proto, 0, 0, 10, 20, 1, 15, 10, 20, 4, 2
#define IPV6(next)                                                                                 \
	0x60, 0, 0, 0, 0, 64, next, 64, 0x20, 0x01, 0x0d, 0xb8, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0,   \
	    9, 0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
#define PORTS 0x13, 0x88, 0x01, 0xbb
#define UDP(port_hi, port_lo) 0xc3, 0x50, port_hi, port_lo, 0, 0, 0, 0
#define TCP4 8, 0, IPV4(6), PORTS /* as an ethertype and what follows */

static const uint8_t vxlan[] = {MACS, 8, 0, IPV4(17), UDP(0x12, 0xb5), 8, 0, 0, 0, 0x01, 0x02, 0x03,
    0, MACS, 0x81, 0, 0, 42, TCP4};
static const uint8_t geneve[] = {MACS, 0x86, 0xdd, IPV6(17), UDP(0x17, 0xc1), 1, 0, 0x65, 0x58, 0,
    0, 77, 0, 1, 2, 3, 0, MACS, TCP4};
static const uint8_t gre_keyed[] = {MACS, 8, 0, IPV4(47), 0xb0, 0, 0x86, 0xdd, 0, 0, 0, 0, 0, 0, 0,
    7, 0, 0, 0, 1, IPV6(58), 135, 0};
static const uint8_t mpls[] = {MACS, 0x88, 0x47, 0, 0, 0x10, 64, 0, 0, 0x20, 64, 0, 0, 0x30, 64, 0,
    0, 0x40, 64, 0xff, 0xff, 0xf1, 64, IPV4(6), PORTS};
static const uint8_t pppoe[] = {MACS, 0x88, 0x64, 0x11, 0, 0x12, 0x34, 0, 42, 0, 0x57, IPV6(17),
    PORTS};
static const uint8_t pppoe_discovery[] = {MACS, 0x88, 0x63, 0x11, 9, 0, 0, 0, 4, 1, 1, 0, 0};
static const uint8_t snap[] = {MACS, 0, 52, 0xaa, 0xaa, 3, 0, 0, 0, TCP4};
static const uint8_t snap_cisco[] = {MACS, 0, 52, 0xaa, 0xaa, 3, 0, 0, 0x0c, TCP4};
static const uint8_t pptp_ack[] = {MACS, 8, 0, IPV4(47), 0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 1, 0,
    0, 0, 9, 0, 0x21, IPV4(6), PORTS};
static const uint8_t pptp[] = {MACS, 8, 0, IPV4(47), 0x30, 0x01, 0x88, 0x0b, 0, 0, 0, 1, 0, 0, 0,
    9, 0xff, 0x03, 0, 0x21, IPV4(6), PORTS};
static const uint8_t gre_ethernet[] = {MACS, 8, 0, IPV4(47), 0, 0, 0x65, 0x58, MACS, TCP4};
static const uint8_t ppp_mpls[] = {MACS, 0x88, 0x64, 0x11, 0, 0, 1, 0, 30, 0x02, 0x81, 0, 0, 0x71,
    64, IPV4(6), PORTS};
static const uint8_t nested[] = {MACS, 8, 0, IPV4(4), IPV4(41), IPV6(47), 0, 0, 0x88, 0x47, 0, 0,
    0x71, 64, IPV4(1), 3, 1};

static const uint8_t pbb[] = {MACS, 0x88, 0xa8, 0x0f, 0xa1, 0x88, 0xe7, 0, 0, 0x4e, 0x84, MACS, 0x81, 0, 0, 42, TCP4};

static bool
open_first(const uint8_t *octets, size_t len, struct frame_inner *inner)
{
	struct frame_keys outer;

	frame_parse(octets, len, &outer);
	return frame_open(octets, len, &outer, inner);
}

/* To UDP port 8472 it is VXLAN for who asks for that, and the others stay what they are. */
START_TEST(vxlan_to_another_port)
{
	uint8_t frame[sizeof(vxlan)];
	struct frame_keys keys, inner;

	memcpy(frame, vxlan, sizeof(frame));
	frame[36] = 8472 >> 8;
	frame[37] = 8472 & 0xff;
	frame_parse(frame, sizeof(frame), &keys);
	ck_assert(!frame_open_innermost_ip(frame, sizeof(frame), &keys, &inner));
	frame_carry_vxlan(&keys, 4790);
	ck_assert_uint_eq(keys.carries, FRAME_NO_TUNNEL);
	frame_carry_vxlan(&keys, 8472);
	ck_assert(frame_open_innermost_ip(frame, sizeof(frame), &keys, &inner));
	ck_assert_uint_eq(inner.dst_port, 443);
	frame_parse(geneve, sizeof(geneve), &keys);
	frame_carry_vxlan(&keys, keys.dst_port);
	ck_assert_uint_eq(keys.carries, FRAME_GENEVE);
}
END_TEST

START_TEST(vxlan_cut_anywhere)
{
	struct frame_inner i;

	for (size_t len = 0; len <= sizeof(vxlan); len++) {
		ck_assert_int_eq(open_first(vxlan, len, &i), len >= 50);
		ck_assert_int_eq(i.has_vni, len >= 50);
		ck_assert_int_eq(i.keys.has_macs, len >= 62);
		ck_assert_int_eq(i.keys.n_vlans, len >= 66 ? 1 : 0);
		ck_assert_int_eq(i.keys.ip_version, len >= 88 ? 4 : 0);
		ck_assert_int_eq(i.keys.has_ports, len >= 92);
	}
	ck_assert_uint_eq(i.tunnel, FRAME_VXLAN);
	ck_assert_uint_eq(i.vni, 0x010203);
	ck_assert_uint_eq(i.keys.vlan[0], 42);
	ck_assert_uint_eq(i.keys.dst_port, 443);
	ck_assert_uint_eq(i.keys.carries, FRAME_NO_TUNNEL);
}
END_TEST

START_TEST(geneve_with_options)
{
	struct frame_inner i;

	for (size_t len = 0; len <= sizeof(geneve); len++) {
		ck_assert_int_eq(open_first(geneve, len, &i), len >= 70);
		ck_assert_int_eq(i.keys.has_macs, len >= 86);
	}
	ck_assert_uint_eq(i.tunnel, FRAME_GENEVE);
	ck_assert_uint_eq(i.vni, 77);
	ck_assert_uint_eq(i.protocol, 0x6558);
	ck_assert(i.keys.has_ports && i.keys.ip_version == 4);
}
END_TEST

START_TEST(gre_with_all_fields)
{
	struct frame_inner i;

	for (size_t len = 0; len <= sizeof(gre_keyed); len++) {
		ck_assert_int_eq(open_first(gre_keyed, len, &i), len >= 38);
		ck_assert_int_eq(i.keys.ip_version, len >= 90 ? 6 : 0);
		ck_assert_int_eq(i.keys.has_icmp, len >= 92);
	}
	ck_assert_uint_eq(i.tunnel, FRAME_GRE);
	ck_assert_uint_eq(i.protocol, 0x86dd);
	ck_assert_uint_eq(i.keys.icmp_type, 135);
	ck_assert(!i.keys.has_macs && !i.keys.has_ethertype);
}
END_TEST

START_TEST(gre_of_ethernet_and_of_ppp)
{
	struct frame_inner i;

	ck_assert(open_first(gre_ethernet, sizeof(gre_ethernet), &i));
	ck_assert(i.keys.has_macs && i.keys.has_ethertype && i.keys.has_ports);
	for (size_t len = 0; len <= sizeof(pptp); len++) {
		ck_assert_int_eq(open_first(pptp, len, &i), len >= 38);
		ck_assert_int_eq(i.has_ppp, len >= 50);
		ck_assert_int_eq(i.keys.ip_version, len >= 70 ? 4 : 0);
	}
	ck_assert_uint_eq(i.protocol, 0x880b);
	ck_assert_uint_eq(i.ppp_protocol, 0x0021);
}
END_TEST

START_TEST(label_stacks)
{
	struct frame_inner i;

	for (size_t len = 0; len <= sizeof(mpls); len++) {
		ck_assert_int_eq(open_first(mpls, len, &i), len >= 18);
		ck_assert_uint_eq(i.n_labels, len < 14 ? 0 : len < 34 ? (len - 14) / 4 : 5);
		ck_assert_int_eq(i.keys.has_ports, len >= 58);
	}
	ck_assert_uint_eq(i.label[0], 1);
	ck_assert_uint_eq(i.label[FRAME_LABEL_MAX - 1], 4);
}
END_TEST

/* Frames behind labels, whose first octets may look like a packet's or a control word, and packets that may look like
 * such a frame: _i is an octet that the first address begins with. */
START_TEST(pseudowires)
{
	static const uint8_t firsts[] = {0x00, 0x45, 0x4c, 0x60, 0x6c, 0xfe};
	uint8_t plain[] = {MACS, 0x88, 0x47, 0, 0, 0x11, 64, firsts[_i], 0, 0, 0, 0x60, 0x53, 2, 2, 2, 2, 2, 3, TCP4};
	uint8_t control[] = {MACS, 0x88, 0x47, 0, 0, 0x11, 64, 0, 0, 0, 9, firsts[_i], 0, 0, 0, 0x60, 0x53, 2, 2, 2, 2, 2, 3, TCP4};
	uint8_t packet[] = {MACS, 0x88, 0x47, 0, 0, 0x11, 64, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0x23, 0xbf, 8, 0, 0x45, 0x11,
	    10, 0, 0, 1, PORTS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct frame_inner i;

	ck_assert(open_first(plain, sizeof(plain), &i));
	ck_assert(i.keys.has_macs && i.keys.has_ports && i.keys.dst_mac[4] == 0x60);
	ck_assert_uint_eq(i.keys.ip_version, 4);
	ck_assert(open_first(control, sizeof(control), &i));
	ck_assert(i.keys.has_macs && i.keys.has_ports && i.keys.dst_mac[4] == 0x60);
	ck_assert(open_first(packet, sizeof(packet), &i));
	ck_assert(!i.keys.has_macs && i.keys.has_ports);
	ck_assert_uint_eq(i.keys.src_ip[2], 0x45); /* what 0x0800 would be behind, in a frame */
}
END_TEST

/* A backbone's tag, a service's, and the customer's frame with its own. */
START_TEST(mac_in_mac)
{
	struct frame_inner i;

	for (size_t len = 0; len <= sizeof(pbb); len++) {
		ck_assert_int_eq(open_first(pbb, len, &i), len >= 22);
		ck_assert_int_eq(i.keys.has_macs, len >= 34);
		ck_assert_int_eq(i.keys.has_ports, len >= sizeof(pbb));
	}
	ck_assert_uint_eq(i.keys.vlan[0], 42);
}
END_TEST

START_TEST(sessions_and_discovery)
{
	struct frame_inner i;

	for (size_t len = 0; len <= sizeof(pppoe); len++) {
		ck_assert_int_eq(open_first(pppoe, len, &i), len >= 18);
		ck_assert_int_eq(i.has_ppp, len >= 22);
		ck_assert_int_eq(i.keys.has_ports, len >= 66);
	}
	ck_assert_uint_eq(i.session, 0x1234);
	ck_assert_uint_eq(i.ppp_protocol, 0x57);
	ck_assert_uint_eq(i.keys.ip_version, 6);
	ck_assert(open_first(pppoe_discovery, sizeof(pppoe_discovery), &i));
	ck_assert(i.has_session && !i.has_ppp && i.keys.ip_version == 0);
	ck_assert(open_first(ppp_mpls, sizeof(ppp_mpls), &i));
	ck_assert(frame_open(ppp_mpls, sizeof(ppp_mpls), &i.keys, &i));
	ck_assert(i.n_labels == 1 && i.keys.has_ports);
}
END_TEST

START_TEST(snap_types)
{
	struct frame_inner i;

	ck_assert(open_first(snap, sizeof(snap), &i));
	ck_assert_uint_eq(i.tunnel, FRAME_SNAP);
	ck_assert_uint_eq(i.keys.ethertype, 0x0800);
	ck_assert(i.keys.has_ports && !i.keys.has_macs);
	ck_assert(!open_first(snap, 21, &i));
	frame_parse(snap, sizeof(snap), &i.keys);
	ck_assert(!frame_open(snap, 21, &i.keys, &i));
	ck_assert(open_first(snap_cisco, sizeof(snap_cisco), &i)); /* its type is no ethertype */
	ck_assert(i.has_protocol && !i.keys.has_ethertype && i.keys.ip_version == 0);
}
END_TEST

START_TEST(tunnels_in_tunnels)
{
	static const uint8_t tunnels[] = {FRAME_IP_IP, FRAME_IP_IP, FRAME_GRE, FRAME_MPLS};
	struct frame_inner i;

	frame_parse(nested, sizeof(nested), &i.keys);
	for (size_t k = 0; k < sizeof(tunnels); k++) {
		ck_assert(frame_open(nested, sizeof(nested), &i.keys, &i));
		ck_assert_uint_eq(i.tunnel, tunnels[k]);
	}
	ck_assert(i.n_labels == 1 && i.label[0] == 7);
	ck_assert(i.keys.has_icmp && i.keys.icmp_type == 3 && i.keys.icmp_code == 1);
	ck_assert(!frame_open(nested, sizeof(nested), &i.keys, &i));
	ck_assert(i.tunnel == FRAME_NO_TUNNEL && !i.keys.has_icmp);
}
END_TEST

START_TEST(the_innermost_addresses)
{
	struct frame_keys outer, k;

	frame_parse(nested, sizeof(nested), &outer);
	ck_assert(frame_open_innermost_ip(nested, sizeof(nested), &outer, &k));
	ck_assert(k.has_icmp && k.icmp_type == 3); /* the fourth layer */
	for (size_t len = sizeof(nested); len-- > 0;) { /* cut off: a layer before it, or none */
		frame_parse(nested, len, &outer);
		if (!frame_open_innermost_ip(nested, len, &outer, &k))
			ck_assert_uint_eq(k.ip_version, 0);
	}
	frame_parse(nested, 14, &outer);
	ck_assert(!frame_open_innermost_ip(nested, 14, &outer, &k));
}
END_TEST

/* The octet at `at` made `wrong`: does it still open, and is there an IP header inside? */
static void
check_wrong(const uint8_t *octets, size_t len, size_t at, uint8_t wrong, bool opens)
{
	uint8_t frame[256];
	struct frame_inner i;

	memcpy(frame, octets, len);
	frame[at] = wrong;
	ck_assert_msg(open_first(frame, len, &i) == opens, "octet %zu made %02x", at, wrong);
	ck_assert_uint_eq(i.keys.ip_version, 0);
	ck_assert(!i.keys.has_macs);
	ck_assert_int_eq(i.has_vni || i.has_session || i.has_protocol || i.n_labels > 0, opens);
}

START_TEST(headers_that_break_their_promise)
{
	check_wrong(vxlan, sizeof(vxlan), 42, 0, false);	   /* no valid VNI */
	check_wrong(geneve, sizeof(geneve), 62, 0x41, false);	   /* version 1 */
	check_wrong(geneve, sizeof(geneve), 62, 0x3f, true);	   /* options beyond the end */
	check_wrong(geneve, sizeof(geneve), 64, 0, true);	   /* protocol below ethertypes */
	check_wrong(gre_keyed, sizeof(gre_keyed), 35, 2, false);   /* version 2 */
	check_wrong(gre_keyed, sizeof(gre_keyed), 34, 0xf0, true); /* with routing */
	check_wrong(gre_keyed, sizeof(gre_keyed), 36, 0, true);	   /* protocol below ethertypes */
	check_wrong(pppoe, sizeof(pppoe), 14, 0x21, false);	   /* version 2 */
	check_wrong(pppoe, sizeof(pppoe), 21, 0x59, true);	   /* a protocol not known here */
	check_wrong(mpls, sizeof(mpls), 34, 0, true);		   /* a control word: pseudo-wire */
	check_wrong(pptp_ack, sizeof(pptp_ack), 35, 0x81, true);   /* carries nothing */
	check_wrong(snap, sizeof(snap), 14, 0x42, false);	   /* another LLC */
}
END_TEST

/* Fills the frame with one IP header behind the other, each carrying the next. */
START_TEST(deep_nesting_ends)
{
	static const uint8_t ip[] = {IPV4(4)};
	static uint8_t frame[9000] = {MACS, 8, 0};
	struct frame_inner i;
	size_t layers = 0;

	for (size_t at = 14; at + sizeof(ip) <= sizeof(frame); at += sizeof(ip))
		memcpy(frame + at, ip, sizeof(ip));
	frame_parse(frame, sizeof(frame), &i.keys);
	while (frame_open(frame, sizeof(frame), &i.keys, &i))
		layers++;
	ck_assert_uint_eq(layers, (sizeof(frame) - 14) / sizeof(ip) - 1);
}
END_TEST

static void
check_cut(const uint8_t *octets, size_t cut, size_t len, const char *of)
{
	const char *invented = frame_cut_invents(octets, cut, len);

	ck_assert_msg(!invented, "%s: %zu of %zu octets give %s", of, cut, len, invented);
}

/* Every frame above with up to three octets damaged, cut everywhere. */
START_TEST(cuts_of_damaged_frames_invent_nothing)
{
#define FRAME(f) {f, sizeof(f)}
	static const struct {
		const uint8_t *octets;
		size_t len;
	} frames[] = {FRAME(vxlan), FRAME(geneve), FRAME(gre_keyed), FRAME(mpls), FRAME(pppoe),
	    FRAME(pppoe_discovery), FRAME(snap), FRAME(pptp_ack), FRAME(pptp),
	    FRAME(gre_ethernet), FRAME(ppp_mpls), FRAME(nested), FRAME(pbb)};
#undef FRAME
	uint8_t damaged[256];

	srandom(4711);
	for (unsigned n = 0; n < 2000; n++) {
		size_t k = n % (sizeof(frames) / sizeof(frames[0])), len = frames[k].len;

		memcpy(damaged, frames[k].octets, len);
		for (unsigned hits = n % 4; hits > 0; hits--)
			damaged[(size_t)random() % len] = (uint8_t)random();
		for (size_t cut = 0; cut <= len; cut++)
			check_cut(damaged, cut, len, "damaged frame");
	}
}
END_TEST

static void
check_capture(const char *dir, const char *name)
{
	char path[PATH_MAX], error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	pcap_t *pcap;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	pcap = pcap_open_offline(path, error);
	ck_assert_msg(pcap != NULL, "%s", error);
	while (pcap_next_ex(pcap, &header, &octets) == 1) {
		size_t len = header->caplen, most = len < 128 ? len : 128;

		check_cut(octets, (size_t)random() % (most + 1), len, name);
	}
	pcap_close(pcap);
}

START_TEST(cuts_of_captured_frames_invent_nothing)
{
	const char *dir = captures_dir();
	DIR *files = dir ? opendir(dir) : NULL;

	if (!files) {
		captures_skip("cuts of captured frames");
		return;
	}
	srandom(4711);
	for (struct dirent *file; (file = readdir(files));)
		if (strstr(file->d_name, ".pcap"))
			check_capture(dir, file->d_name);
	closedir(files);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("tunnels");
	TCase *tc = tcase_create("tunnels");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, vxlan_to_another_port);
	tcase_add_test(tc, vxlan_cut_anywhere);
	tcase_add_test(tc, geneve_with_options);
	tcase_add_test(tc, gre_with_all_fields);
	tcase_add_test(tc, gre_of_ethernet_and_of_ppp);
	tcase_add_test(tc, label_stacks);
	tcase_add_loop_test(tc, pseudowires, 0, 6);
	tcase_add_test(tc, mac_in_mac);
	tcase_add_test(tc, sessions_and_discovery);
	tcase_add_test(tc, snap_types);
	tcase_add_test(tc, tunnels_in_tunnels);
	tcase_add_test(tc, the_innermost_addresses);
	tcase_add_test(tc, headers_that_break_their_promise);
	tcase_add_test(tc, deep_nesting_ends);
	tcase_add_test(tc, cuts_of_damaged_frames_invent_nothing);
	tcase_add_test(tc, cuts_of_captured_frames_invent_nothing);
	return suite_run(suite);
}
