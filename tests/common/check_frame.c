/*
 * The parser of frames: hand-made frames of each kind cut off at every octet, and the ground truth
 * of real captures, which another parser counted.
 */
#include "common/frame.h"
#include "tests/support/captures.h"
#include "tests/suite.h"

#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#define MACS 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x00, 0xaa, 0xbb, 0xcc, 0xdd, 0xee
#define IPV4(fragment_hi, fragment_lo, proto)                                                      \
	0x45, 0, 0, 40, 0, 1, fragment_hi, fragment_lo, 64, proto, 0, 0, 10, 20, 1, 15, 10, 20, 4, 2
#define IPV6(next)                                                                                 \
	0x60, 0, 0, 0, 0, 64, next, 64, 0x20, 0x01, 0x0d, 0xb8, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0,   \
	    9, 0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
#define PORTS 0x13, 0x88, 0x01, 0xbb

static const uint8_t tcp4[] = {MACS, 8, 0, IPV4(0x40, 0, 6), PORTS};
static const uint8_t syn4[] = {MACS, 8, 0, IPV4(0x40, 0, 6), PORTS, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02};
static const uint8_t first_fragment[] = {MACS, 8, 0, IPV4(0x20, 0, 17), PORTS};
static const uint8_t later_fragment[] = {MACS, 8, 0, IPV4(0x20, 0xb9, 17), PORTS};
static const uint8_t qinq[] = {MACS, 0x88, 0xa8, 0x20, 0x2a, 0x81, 0, 0xe0, 0x10, 8, 0,
    IPV4(0, 0, 132), PORTS};
static const uint8_t five_tags[] = {MACS, 0x91, 0, 0, 1, 0x92, 0, 0, 2, 0x81, 0, 0, 3, 0x81, 0, 0,
    4, 0x81, 0, 0, 5, 8, 6};
static const uint8_t extensions6[] = {MACS, 0x86, 0xdd, IPV6(0), 60, 0, 1, 4, 0, 0, 0, 0, 51, 1, 1,
    2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, PORTS};
static const uint8_t later_fragment6[] = {MACS, 0x86, 0xdd, IPV6(44), 60, 0, 0, 0x8, 0, 0, 0, 7, 6,
    0, 0, 0, 0, 0, 0, 0, PORTS};
static const uint8_t length_field[] = {MACS, 0, 38, 0x42, 0x42, 3};

static struct frame_keys
keys_of(const uint8_t *octets, size_t len)
{
	struct frame_keys keys;
	uint8_t *exact = malloc(len ? len : 1); /* so that a sanitizer sees one octet too many */

	memcpy(exact, octets, len);
	frame_parse(exact, len, &keys);
	free(exact);
	return keys;
}

START_TEST(tcp_over_ipv4_cut_anywhere)
{
	for (size_t len = 0; len <= sizeof(tcp4); len++) {
		struct frame_keys k = keys_of(tcp4, len);

		ck_assert_int_eq(k.has_macs, len >= 12);
		ck_assert_int_eq(k.has_ethertype, len >= 14);
		ck_assert_int_eq(k.ip_version, len >= 34 ? 4 : 0);
		ck_assert_int_eq(k.has_ip_proto, len >= 34);
		ck_assert_int_eq(k.has_ports, len >= 38);
	}
	struct frame_keys k = keys_of(tcp4, sizeof(tcp4));
	char text[FRAME_IP_TEXT];

	frame_format_mac(k.src_mac, text);
	ck_assert_str_eq(text, "00:aa:bb:cc:dd:ee");
	frame_format_ip(4, k.dst_ip, text);
	ck_assert_str_eq(text, "10.20.4.2");
	ck_assert_uint_eq(k.ip_proto, 6);
	ck_assert_uint_eq(k.src_port, 5000);
	ck_assert_uint_eq(k.dst_port, 443);
}
END_TEST

/* A SYN that congestion control has marked is one (RFC 3168); with ACK it is an answer. */
START_TEST(a_syn_asks_for_a_connection)
{
	static const struct {
		uint8_t flags;
		bool is_syn;
	} flags[] = {{0x02, true}, {0xc2, true}, {0x12, false}, {0x10, false}, {0x00, false}, {0x01, false}, {0x04, false}};
	uint8_t frame[sizeof(syn4)];

	for (size_t len = 0; len <= sizeof(syn4); len++)
		ck_assert_int_eq(keys_of(syn4, len).is_syn, len == sizeof(syn4));
	memcpy(frame, syn4, sizeof(frame));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		frame[sizeof(frame) - 1] = flags[i].flags;
		ck_assert_int_eq(keys_of(frame, sizeof(frame)).is_syn, flags[i].is_syn);
	}
	memcpy(frame, syn4, sizeof(frame));
	frame[21] = 1; /* a later fragment */
	ck_assert(!keys_of(frame, sizeof(frame)).is_syn);
	frame[21] = 0;
	frame[23] = 17;
	ck_assert(!keys_of(frame, sizeof(frame)).is_syn);
}
END_TEST

START_TEST(only_first_fragments_have_ports)
{
	struct frame_keys first = keys_of(first_fragment, sizeof(first_fragment));
	struct frame_keys later = keys_of(later_fragment, sizeof(later_fragment));
	struct frame_keys later6 = keys_of(later_fragment6, sizeof(later_fragment6));

	ck_assert(!first.is_fragment && first.has_ports);
	ck_assert(later.is_fragment && !later.has_ports && later.has_ip_proto);
	ck_assert_uint_eq(later.ip_proto, 17);
	ck_assert(later6.is_fragment && !later6.has_ports);
	ck_assert_uint_eq(later6.ip_proto, 60);
}
END_TEST

START_TEST(vlan_stacks)
{
	struct frame_keys k = keys_of(qinq, sizeof(qinq));

	ck_assert_uint_eq(k.n_vlans, 2);
	ck_assert_uint_eq(k.vlan[0], 42);
	ck_assert_uint_eq(k.vlan[1], 16);
	ck_assert_uint_eq(k.ethertype, 0x0800);
	ck_assert(k.has_ports && k.ip_proto == 132);
	ck_assert(!keys_of(qinq, 18).has_ethertype);

	k = keys_of(five_tags, sizeof(five_tags));
	ck_assert_uint_eq(k.n_vlans, 5);
	ck_assert_uint_eq(k.vlan[FRAME_VLAN_MAX - 1], 4);
	ck_assert_uint_eq(k.ethertype, 0x0806);
}
END_TEST

START_TEST(ipv6_extension_headers)
{
	struct frame_keys k = keys_of(extensions6, sizeof(extensions6));
	char text[FRAME_IP_TEXT];

	ck_assert_uint_eq(k.ip_version, 6);
	ck_assert_uint_eq(k.ip_proto, 17);
	ck_assert(k.has_ports && k.dst_port == 443);
	frame_format_ip(6, k.src_ip, text);
	ck_assert_str_eq(text, "2001:db8:4::9");
	frame_format_ip(6, k.dst_ip, text);
	ck_assert_str_eq(text, "ff02::1");
	for (size_t len = 54; len < sizeof(extensions6); len++) {
		k = keys_of(extensions6, len);
		ck_assert_uint_eq(k.ip_version, 6);
		ck_assert_int_eq(k.has_ip_proto, len >= sizeof(extensions6) - 4);
		ck_assert(!k.has_ports);
	}
}
END_TEST

START_TEST(a_length_is_no_ethertype_of_ip)
{
	struct frame_keys k = keys_of(length_field, sizeof(length_field));

	ck_assert(k.has_ethertype);
	ck_assert_uint_eq(k.ethertype, 38);
	ck_assert_uint_eq(k.ip_version, 0);
}
END_TEST

START_TEST(wrong_ip_headers_are_absent)
{
	uint8_t frame[sizeof(tcp4)];

	memcpy(frame, tcp4, sizeof(frame));
	frame[14] = 0x44; /* shorter than an IPv4 header is */
	ck_assert_uint_eq(keys_of(frame, sizeof(frame)).ip_version, 0);
	frame[14] = 0x65; /* version 6 behind the ethertype of IPv4 */
	ck_assert_uint_eq(keys_of(frame, sizeof(frame)).ip_version, 0);
	frame[14] = 0x4f; /* options beyond the end */
	ck_assert_uint_eq(keys_of(frame, sizeof(frame)).ip_version, 0);
}
END_TEST

START_TEST(wire_octets_and_groups)
{
	static const uint8_t broadcast[6] = {255, 255, 255, 255, 255, 255};
	static const uint8_t stp[6] = {1, 0x80, 0xc2};

	ck_assert_uint_eq(frame_wire_octets(42), 64);
	ck_assert_uint_eq(frame_wire_octets(60), 64);
	ck_assert_uint_eq(frame_wire_octets(1514), 1518);
	ck_assert(frame_mac_is_broadcast(broadcast) && frame_mac_is_group(broadcast));
	ck_assert(!frame_mac_is_broadcast(stp) && frame_mac_is_group(stp));
}
END_TEST

/* What a truth file counts, counted by frame_parse. */
struct count {
	uint64_t packets, ipv4, ipv6, bad_ipv4, bad_ipv6, with_ports;
	uint64_t by_depth[16], by_proto[256], by_ethertype[65536], length_field;
	uint8_t (*pairs)[12];
	size_t n_pairs, room;
};

static void
count_frame(struct count *c, const uint8_t *octets, size_t len)
{
	struct frame_keys k;

	frame_parse(octets, len, &k);
	c->packets++;
	c->by_depth[k.n_vlans < 16 ? k.n_vlans : 15]++;
	if (k.has_ethertype && k.ethertype <= 1500)
		c->length_field++;
	else if (k.has_ethertype)
		c->by_ethertype[k.ethertype]++;
	c->ipv4 += k.ip_version == 4;
	c->ipv6 += k.ip_version == 6;
	c->bad_ipv4 += k.has_ethertype && k.ethertype == 0x0800 && k.ip_version == 0;
	c->bad_ipv6 += k.has_ethertype && k.ethertype == 0x86dd && k.ip_version == 0;
	if (k.has_ip_proto)
		c->by_proto[k.ip_proto]++;
	c->with_ports += k.has_ports;
	if (!k.has_macs)
		return;
	if (c->n_pairs == c->room) {
		c->room = c->room ? 2 * c->room : 4096;
		c->pairs = realloc(c->pairs, c->room * sizeof(*c->pairs));
	}
	memcpy(c->pairs[c->n_pairs], k.src_mac, 6);
	memcpy(c->pairs[c->n_pairs++] + 6, k.dst_mac, 6);
}

static int
compare_pairs(const void *a, const void *b)
{
	return memcmp(a, b, 12);
}

static uint64_t
distinct_pairs(struct count *c)
{
	uint64_t n = c->n_pairs > 0;

	qsort(c->pairs, c->n_pairs, sizeof(*c->pairs), compare_pairs);
	for (size_t i = 1; i < c->n_pairs; i++)
		n += memcmp(c->pairs[i], c->pairs[i - 1], 12) != 0;
	return n;
}

static uint64_t
truth_number(const json_t *truth, const char *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(json_object_get(truth, object), key));
}

/* "key": {"packets": n}, 0 when absent. */
static uint64_t
truth_packets(const json_t *truth, const char *object, const char *key)
{
	return truth_number(json_object_get(truth, object), key, "packets");
}

static void
compare(const char *name, const json_t *truth, struct count *c)
{
	json_t *depths = json_object_get(json_object_get(truth, "vlan"), "frames_by_tag_depth");
	char key[16];

#define SAME(ours, theirs)                                                                         \
	ck_assert_msg((ours) == (theirs), "%s: %s: %llu, truth %llu", name, #ours,                 \
	    (unsigned long long)(ours), (unsigned long long)(theirs))
	SAME(c->packets, truth_number(truth, "totals", "packets"));
	SAME(distinct_pairs(c), truth_number(truth, "mac_pairs", "distinct"));
	SAME(c->ipv4, truth_number(truth, "ip", "ipv4_packets"));
	SAME(c->ipv6, truth_number(truth, "ip", "ipv6_packets"));
	SAME(c->bad_ipv4, truth_number(truth, "ip", "ipv4_header_bad_or_cut"));
	SAME(c->bad_ipv6, truth_number(truth, "ip", "ipv6_header_bad_or_cut"));
	SAME(c->with_ports, truth_number(truth, "dst_port", "packets"));
	SAME(c->length_field, truth_packets(truth, "ethertype", "802.3"));
	for (unsigned i = 1; i < 16; i++) {
		snprintf(key, sizeof(key), "%u", i);
		SAME(c->by_depth[i],
		    (uint64_t)json_integer_value(json_object_get(depths, key)));
	}
	for (unsigned i = 0; i < 256; i++) {
		snprintf(key, sizeof(key), "%u", i);
		SAME(c->by_proto[i], truth_packets(truth, "ip_proto", key));
	}
	for (unsigned i = 1501; i < 65536; i++) {
		snprintf(key, sizeof(key), "0x%04x", i);
		SAME(c->by_ethertype[i], truth_packets(truth, "ethertype", key));
	}
#undef SAME
}

static void
check_capture(const char *dir, const char *truth_name)
{
	char path[PATH_MAX], error[PCAP_ERRBUF_SIZE];
	struct count *c = calloc(1, sizeof(*c));
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	json_t *truth;
	pcap_t *pcap;

	snprintf(path, sizeof(path), "%s/%s", dir, truth_name);
	truth = json_load_file(path, 0, NULL);
	ck_assert_ptr_nonnull(truth);
	snprintf(path, sizeof(path), "%s/%s", dir,
	    json_string_value(json_object_get(truth, "file")));
	pcap = pcap_open_offline(path, error);
	ck_assert_msg(pcap != NULL, "%s", error);
	while (pcap_next_ex(pcap, &header, &octets) == 1)
		count_frame(c, octets, header->caplen);
	compare(truth_name, truth, c);
	pcap_close(pcap);
	json_decref(truth);
	free(c->pairs);
	free(c);
}

START_TEST(captures_give_their_truth)
{
	const char *dir = captures_dir();
	DIR *files = dir ? opendir(dir) : NULL;
	unsigned n = 0;

	if (!files) {
		captures_skip("frame keys against the captures' truth");
		return;
	}
	for (struct dirent *file; (file = readdir(files));) {
		if (!strstr(file->d_name, ".truth.json"))
			continue;
		check_capture(dir, file->d_name);
		n++;
	}
	closedir(files);
	ck_assert_uint_gt(n, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tc = tcase_create("frame");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, tcp_over_ipv4_cut_anywhere);
	tcase_add_test(tc, a_syn_asks_for_a_connection);
	tcase_add_test(tc, only_first_fragments_have_ports);
	tcase_add_test(tc, vlan_stacks);
	tcase_add_test(tc, ipv6_extension_headers);
	tcase_add_test(tc, a_length_is_no_ethertype_of_ip);
	tcase_add_test(tc, wrong_ip_headers_are_absent);
	tcase_add_test(tc, wire_octets_and_groups);
	tcase_add_test(tc, captures_give_their_truth);
	return suite_run(suite);
}
