/*
 * The program that counts the truth: frames made by hand with known answers, and, if the shared captures
 * are there, their ground truth, which another parser counted.
 */
#include "tests/support/captures.h"
#include "tests/suite.h"
#include "tests/collector/estimate/truth.h"

#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

static const uint8_t tagged_ipv4[] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x00,
	0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
};
static const uint8_t ipv6_hop_by_hop[] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 0, 64,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	58, 0, 0, 0, 0, 0, 0, 0,
};

static void
dump(pcap_dumper_t *dumper, const void *frame, uint32_t kept, uint32_t octets)
{
	struct pcap_pkthdr header = {.caplen = kept, .len = octets};

	pcap_dump((u_char *)dumper, &header, frame);
}

static void
made_capture(char *path, int link_type)
{
	int fd = mkstemp(path);
	pcap_t *pcap = pcap_open_dead(link_type, 65535);
	pcap_dumper_t *dumper = pcap_dump_open(pcap, path);

	ck_assert_ptr_nonnull(dumper);
	dump(dumper, tagged_ipv4, sizeof(tagged_ipv4), sizeof(tagged_ipv4)); /* padded: 64 */
	dump(dumper, tagged_ipv4, sizeof(tagged_ipv4), 1514); /* 1,518: not over */
	dump(dumper, tagged_ipv4, sizeof(tagged_ipv4), 1515); /* 1,519: over */
	dump(dumper, ipv6_hop_by_hop, sizeof(ipv6_hop_by_hop), sizeof(ipv6_hop_by_hop));
	dump(dumper, tagged_ipv4, 8, 60); /* cut within the addresses */
	pcap_dump_close(dumper);
	pcap_close(pcap);
	close(fd);
}

START_TEST(made_frames_are_counted)
{
	static const uint8_t pair[TRUTH_KEY_MAX] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
	static const uint8_t icmp6[TRUTH_KEY_MAX] = {4, 58}, udp[TRUTH_KEY_MAX] = {4, 17};
	char path[] = "/tmp/truth.XXXXXX", error[512], src[46], dst[46];
	const struct truth_count *count;
	struct truth truth;

	made_capture(path, DLT_EN10MB);
	ck_assert_int_eq(truth_load(path, &truth, error, sizeof(error)), 0);
	ck_assert_uint_eq(truth.total.packets, 5);
	ck_assert_uint_eq(truth.total.octets, 64 + 1518 + 1519 + 66 + 64);
	ck_assert_uint_eq(truth.total.over_packets, 1);
	count = truth_find(&truth, TRUTH_MAC_PAIR, pair);
	ck_assert_ptr_nonnull(count);
	ck_assert_uint_eq(count->packets, 4);
	ck_assert_uint_eq(count->over_octets, 1519);
	ck_assert_uint_eq(truth_find(&truth, TRUTH_PROTOCOL, udp)->packets, 3);
	ck_assert_uint_eq(truth_find(&truth, TRUTH_PROTOCOL, icmp6)->packets, 1);
	truth_sort(&truth);
	truth_key_text(TRUTH_IP_PAIR, truth.classes[TRUTH_IP_PAIR].rows[0].key, src, dst);
	ck_assert_str_eq(src, "10.0.0.1");
	ck_assert_str_eq(dst, "10.0.0.2");
	truth_key_text(TRUTH_IP_PAIR, truth.classes[TRUTH_IP_PAIR].rows[1].key, src, dst);
	ck_assert_str_eq(dst, "2001:db8::2");
	truth_free(&truth);
	unlink(path);
}
END_TEST

START_TEST(other_link_types_are_refused)
{
	char path[] = "/tmp/truth.XXXXXX", error[512];
	struct truth truth;

	made_capture(path, DLT_LINUX_SLL);
	ck_assert_int_ne(truth_load(path, &truth, error, sizeof(error)), 0);
	ck_assert_ptr_nonnull(strstr(error, path));
	ck_assert_ptr_nonnull(strstr(error, "LINUX_SLL"));
	unlink(path);
}
END_TEST

static uint64_t
number(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static const struct truth_row *
find_text(const struct truth *truth, enum truth_class class, const char *src, const char *dst)
{
	const struct truth_table *table = &truth->classes[class];

	for (size_t i = 0; i < table->n; i++) {
		char src_text[46], dst_text[46];

		truth_key_text(class, table->rows[i].key, src_text, dst_text);
		if (strcmp(src, src_text) == 0 && strcmp(dst, dst_text) == 0)
			return &table->rows[i];
	}
	return NULL;
}

static void
compare_class(const struct truth *truth, enum truth_class class, const json_t *shared)
{
	const json_t *row, *top = json_object_get(shared, "top_by_octets");
	size_t i;

	ck_assert_uint_eq(truth->classes[class].n, number(shared, "distinct"));
	json_array_foreach(top, i, row) {
		const json_t *dst = json_object_get(row, "dst");
		const struct truth_row *mine = find_text(truth, class,
		    json_string_value(json_object_get(row, "src")),
		    dst ? json_string_value(dst) : "");

		ck_assert_ptr_nonnull(mine);
		ck_assert_uint_eq(mine->count.packets, number(row, "packets"));
		ck_assert_uint_eq(mine->count.captured_octets, number(row, "octets"));
	}
}

/* base.truth.json beside base.pcap or base.pcapng. */
static void
compare_capture(const char *truth_path)
{
	int base = (int)(strlen(truth_path) - strlen(".truth.json"));
	char path[PATH_ROOM], error[512];
	json_t *shared = json_load_file(truth_path, 0, NULL), *totals;
	struct truth truth;

	ck_assert_ptr_nonnull(shared);
	snprintf(path, sizeof(path), "%.*s.pcap", base, truth_path);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "%.*s.pcapng", base, truth_path);
	ck_assert_msg(truth_load(path, &truth, error, sizeof(error)) == 0, "%s", error);
	totals = json_object_get(shared, "totals");
	ck_assert_uint_eq(truth.total.packets, number(totals, "packets"));
	ck_assert_uint_eq(truth.total.captured_octets, number(totals, "octets"));
	ck_assert_uint_eq(truth.total.octets, number(totals, "octets_padded_to_60_plus_fcs"));
	ck_assert_uint_eq(truth.total.over_packets,
	    number(json_object_get(shared, "size_buckets"), "over_1518"));
	compare_class(&truth, TRUTH_MAC_PAIR, json_object_get(shared, "mac_pairs"));
	compare_class(&truth, TRUTH_IP_PAIR, json_object_get(shared, "ip_pairs"));
	compare_class(&truth, TRUTH_SOURCE_MAC, json_object_get(shared, "source_macs"));
	truth_free(&truth);
	json_decref(shared);
}

START_TEST(shared_captures_agree)
{
	const char *dir = captures_dir();
	char pattern[PATH_ROOM];
	glob_t found;

	if (!dir) {
		captures_skip("shared_captures_agree");
		return;
	}
	snprintf(pattern, sizeof(pattern), "%s/*.truth.json", dir);
	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		compare_capture(found.gl_pathv[i]);
	printf("check_truth: compared %zu shared captures\n", found.gl_pathc);
	globfree(&found);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("truth");
	TCase *tc = tcase_create("truth");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, made_frames_are_counted);
	tcase_add_test(tc, other_link_types_are_refused);
	tcase_add_test(tc, shared_captures_agree);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
