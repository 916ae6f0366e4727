/*
 * Lists by every dimension: the same frames as windows have them (keys by collector/window/key_kinds.h)
 * and as kept samples must give the same rows, and the rows must describe the frames.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/filter/address_names.h"
#include "collector/filter/protocol_names.h"
#include "collector/store/schema.h"
#include "collector/window/key_kinds.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PKTS = 20000, SKIP = 100, OCTETS = 100 };

static struct report_store store;

static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, 120);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_window(&store, 0, 1, 1, PKTS, PKTS * OCTETS);
}

static void
teardown(void)
{
	report_store_remove(&store);
}

static const struct frame {
	int n; /* samples */
	const char *src_ip, *dst_ip; /* hex; "" no IP */
	int vlan, ethertype, proto, src_port, dst_port; /* -1: the frame has none; ICMP has its type and code in dst_port */
} frames[] = {
	{50, "0a010101", "0a020202", 10, 0x0800, 6, 40000, 443},
	{40, "0a010102", "0a020202", 10, 0x0800, 6, 443, 40001},
	{30, "0a010201", "0a020203", -1, 0x0800, 17, 53, 53},
	{20, "20010db8000000000000000000000001", "20010db8000100000000000000000002", 20, 0x86dd, 58,
	 -1, 0x8000},
	{15, "20010db8000000010000000000000001", "20010db8000100000000000000000002", 20, 0x86dd, 6,
	 50000, 22},
	{10, "", "", -1, 0x0806, -1, -1, -1},
	{8, "", "", -1, 60, -1, -1, -1}, /* a length */
	{7, "", "", -1, 38, -1, -1, -1},
};
enum { N_FRAMES = sizeof(frames) / sizeof(frames[0]) };

static size_t
from_hex(const char *hex, uint8_t *octets)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++)
		octets[i] = (uint8_t)strtoul((const char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
	return n;
}

static void
to_hex(const uint8_t *octets, size_t n, char *hex)
{
	*hex = '\0';
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", octets[i]);
}

static struct frame_keys
keys_of(const struct frame *f)
{
	struct frame_keys k = {.has_macs = true, .src_mac = {2, 0, 0, 0, 0, 1},
		.dst_mac = {2, 0, 0, 0, 0, 2}, .has_ethertype = true,
		.ethertype = (uint16_t)f->ethertype};

	if (f->vlan >= 0) {
		k.n_vlans = 1;
		k.vlan[0] = (uint16_t)f->vlan;
	}
	k.ip_version = from_hex(f->src_ip, k.src_ip) == 4 ? 4 : *f->src_ip ? 6 : 0;
	from_hex(f->dst_ip, k.dst_ip);
	k.has_ip_proto = f->proto >= 0;
	k.ip_proto = (uint8_t)f->proto;
	k.has_ports = f->src_port >= 0;
	k.has_icmp = f->src_port < 0 && f->dst_port >= 0;
	k.icmp_type = (uint8_t)(f->dst_port >> 8);
	if (k.has_ports) {
		k.src_port = (uint16_t)f->src_port;
		k.dst_port = (uint16_t)f->dst_port;
	}
	return k;
}

/* Rows of equal keys are added up as the collector does. */
static void
add_window_keys(const struct frame *f)
{
	struct frame_keys keys = keys_of(f);
	struct flow_key k;

	flow_key_of(&keys, 0, 1, 1, &k);
	for (int i = 0; i < N_KINDS; i++) {
		struct halves h = {0};
		char half1[64], half2[64];

		if (!flow_key_fill(&k, (unsigned)i, &h))
			continue;
		to_hex(h.half1, h.octets1, half1);
		to_hex(h.half2, h.octets2, half2);
		report_store_sql(&store, "INSERT INTO window_key VALUES(%d, %llu, 1, 1, 1, x'%s', x'%s',"
		    " %d, %d, %d, %d, %lld, %lld, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO UPDATE SET"
		    " n = n + excluded.n, w = w + excluded.w, w2 = w2 + excluded.w2,"
		    " wb = wb + excluded.wb, wb2 = wb2 + excluded.wb2, w2b2 = w2b2 + excluded.w2b2",
		    key_layouts[i].kind, REPORT_STORE_T0, half1, half2, f->n, f->n * SKIP,
		    f->n * SKIP * SKIP, f->n * SKIP * OCTETS, (long long)f->n * SKIP * OCTETS * OCTETS,
		    (long long)f->n * SKIP * SKIP * OCTETS * OCTETS);
	}
}

static const char *
or_null(int number, char *text)
{
	sprintf(text, "%d", number);
	return number < 0 ? "NULL" : text;
}

static void
add_samples(const struct frame *f, int *sequence)
{
	char vlan[16], proto[16], src_port[16], dst_port[16], src[64] = "NULL", dst[64] = "NULL";

	if (*f->src_ip) {
		sprintf(src, "x'%s'", f->src_ip);
		sprintf(dst, "x'%s'", f->dst_ip);
	}
	for (int i = 0; i < f->n; i++, ++*sequence)
		report_store_sql(&store, "INSERT INTO sample VALUES(1, 1, 1, %d, %llu, 1, 1, 2, 99, %d, 0,"
		    " %d, x'020000000001', x'020000000002', %s, %d, %s, %s, %s, %s, %s, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
		    *sequence, REPORT_STORE_T0 + (unsigned)*sequence, SKIP, OCTETS,
		    or_null(f->vlan, vlan), f->ethertype, src, dst, or_null(f->proto, proto),
		    or_null(f->src_port, src_port), or_null(f->dst_port, dst_port));
}

static void
all_traffic(void)
{
	int sequence = 0;

	report_store_sql(&store, "BEGIN");
	for (const struct frame *f = frames; f < frames + N_FRAMES; f++) {
		add_window_keys(f);
		add_samples(f, &sequence);
	}
	report_store_sql(&store, "UPDATE window SET n = %d, w = %d, w2 = %d, wb = %d, wb2 = %lld,"
	    " w2b2 = %lld", sequence, sequence * SKIP, sequence * SKIP * SKIP,
	    sequence * SKIP * OCTETS, (long long)sequence * SKIP * OCTETS * OCTETS,
	    (long long)sequence * SKIP * SKIP * OCTETS * OCTETS);
	report_store_sql(&store, "UPDATE window_port SET expected = %d, received = %d", sequence,
	    sequence);
	report_store_sql(&store, "COMMIT");
}

static json_t *
ask(const char *report, enum report_by by)
{
	struct report_options options = report_store_options();

	options.by = by;
	options.layer = REPORT_LAYER_IP;
	options.sort = ESTIMATE_PKTS;
	return report_store_json(&store, report, &options);
}

static size_t
n_rows(const json_t *j)
{
	return json_array_size(report_json_at(j, "rows"));
}

START_TEST(services_are_protocol_and_lower_port)
{
	json_t *j;

	all_traffic();
	j = ask("protocols", REPORT_BY_DEFAULT);
	ck_assert_uint_eq(n_rows(j), 4);
	ck_assert_double_eq(report_json_number(j, "rows.0.protocol"), 6);
	ck_assert_double_eq(report_json_number(j, "rows.0.server_port"), 443); /* both ways */
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 90);
	ck_assert_double_eq(report_json_number(j, "rows.0.packets.estimate"), PKTS * 90 / 180.0);
	ck_assert_double_eq(report_json_number(j, "rows.1.protocol"), 17);
	ck_assert_double_eq(report_json_number(j, "rows.1.server_port"), 53);
	ck_assert_double_eq(report_json_number(j, "rows.2.protocol"), 58);
	ck_assert_double_eq(report_json_number(j, "rows.2.icmp_type"), 128);
	ck_assert_str_eq(report_json_text(j, "rows.2.name"), "echo request");
	ck_assert(json_is_null(report_json_at(j, "rows.2.server_port")));
	ck_assert_double_eq(report_json_number(j, "rest.samples"), 10 + 8 + 7);
	json_decref(j);
}
END_TEST

START_TEST(protocols_ethertypes_and_vlans)
{
	json_t *j;

	all_traffic();
	j = ask("protocols", REPORT_BY_PROTO);
	ck_assert_uint_eq(n_rows(j), 3);
	ck_assert_str_eq(report_json_text(j, "rows.0.name"), "tcp");
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 105);
	ck_assert_str_eq(report_json_text(j, "rows.2.name"), "icmp6");
	json_decref(j);
	j = ask("protocols", REPORT_BY_ETHERTYPE);
	ck_assert_uint_eq(n_rows(j), 4);
	ck_assert_str_eq(report_json_text(j, "rows.0.ethertype"), "0x0800");
	ck_assert_str_eq(report_json_text(j, "rows.1.name"), "ipv6");
	ck_assert(json_is_null(report_json_at(j, "rows.2.ethertype"))); /* lengths are one row */
	ck_assert_double_eq(report_json_number(j, "rows.2.samples"), 15);
	ck_assert_str_eq(report_json_text(j, "rows.3.name"), "arp");
	json_decref(j);
	j = ask("talkers", REPORT_BY_VLAN);
	ck_assert_uint_eq(n_rows(j), 2);
	ck_assert_double_eq(report_json_number(j, "rows.0.vlan"), 10);
	ck_assert_double_eq(report_json_number(j, "rows.1.samples"), 35);
	ck_assert_double_eq(report_json_number(j, "rest.samples"), 55);
	json_decref(j);
}
END_TEST

START_TEST(conversations_have_both_ends)
{
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	all_traffic();
	j = ask("conversations", REPORT_BY_DEFAULT);
	ck_assert_uint_eq(n_rows(j), 5);
	ck_assert_str_eq(report_json_text(j, "rows.0.src"), "10.1.1.1");
	ck_assert_double_eq(report_json_number(j, "rows.0.src_port"), 40000);
	ck_assert_str_eq(report_json_text(j, "rows.0.dst"), "10.2.2.2");
	ck_assert_double_eq(report_json_number(j, "rows.0.dst_port"), 443);
	ck_assert_str_eq(report_json_text(j, "rows.3.src"), "2001:db8::1");
	ck_assert_str_eq(report_json_text(j, "rows.3.name"), "icmp6 echo request");
	ck_assert_double_eq(report_json_number(j, "rows.3.dst_port"), 0);
	ck_assert_double_eq(report_json_number(j, "rows.3.icmp_type"), 128);
	ck_assert_double_eq(report_json_number(j, "rows.3.icmp_code"), 0);
	ck_assert(json_is_null(report_json_at(j, "rows.0.icmp_type")));
	json_decref(j);
	options.by = REPORT_BY_DEFAULT;
	text = report_store_render(&store, "conversations", &options, render_text, 120);
	ck_assert_ptr_nonnull(strstr(text, " 10.1.1.1:40000 "));
	ck_assert_ptr_nonnull(strstr(text, " [2001:db8:0:1::1]:50000 "));
	ck_assert_ptr_nonnull(strstr(text, " 2001:db8::1 ")); /* ICMPv6 has no ports */
	free(text);
}
END_TEST

/* Of kept samples, since windows have no such keys: two pairs of 40,000 and 443 in tunnels. */
START_TEST(inside_tunnels_is_a_layer_of_its_own)
{
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	all_traffic();
	report_store_sql(&store, "UPDATE sample SET inner_src_ip = x'c0a80001', inner_dst_ip ="
	    " x'c0a80002' WHERE src_port = 40000");
	report_store_sql(&store, "UPDATE sample SET inner_src_ip = x'c0a80001', inner_dst_ip ="
	    " x'20010db8000000000000000000000009' WHERE src_port = 443");
	report_store_sql(&store, "UPDATE sample SET vni = 70000 WHERE src_port = 40000");
	options.by = REPORT_BY_VNI;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(n_rows(j), 1);
	ck_assert_double_eq(report_json_number(j, "rows.0.vni"), 70000);
	ck_assert_double_eq_tol(report_json_number(j, "rows.0.packets.estimate"), PKTS * 50 / 180.0, 1e-6);
	ck_assert_double_eq(report_json_number(j, "rest.samples"), 130);
	json_decref(j);
	options.filter = report_store_filter("not vni and port 443");
	options.by = REPORT_BY_SRC;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 40);
	json_decref(j);
	options.filter = report_store_filter("vni 70000-80000");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 50);
	json_decref(j);
	options.filter = NULL;
	options.layer = REPORT_LAYER_INNER;
	options.by = REPORT_BY_PAIR;
	options.sort = ESTIMATE_PKTS;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(n_rows(j), 2);
	ck_assert_str_eq(report_json_text(j, "rows.0.src"), "192.168.0.1");
	ck_assert_str_eq(report_json_text(j, "rows.0.dst"), "192.168.0.2");
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 50);
	ck_assert_double_eq_tol(report_json_number(j, "rows.0.packets.estimate"),
	    PKTS * 50 / 180.0, 1e-6);
	ck_assert_str_eq(report_json_text(j, "rows.1.dst"), "2001:db8::9");
	ck_assert_double_eq(report_json_number(j, "rest.samples"), 90);
	json_decref(j);
	options.by = REPORT_BY_SRC;
	text = report_store_render(&store, "talkers", &options, render_text, 120);
	ck_assert_ptr_nonnull(strstr(text, "not in a tunnel"));
	free(text);
	options.filter = report_store_filter("inner net 2001:db8::/32");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(n_rows(j), 1);
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 40);
	json_decref(j);
	options.filter = report_store_filter("inner net 10.0.0.0/8"); /* these are outside */
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(n_rows(j), 0);
	json_decref(j);
}
END_TEST

START_TEST(subnets_add_up_sources)
{
	struct report_options options = report_store_options();
	json_t *j;

	all_traffic();
	j = ask("talkers", REPORT_BY_SUBNET);
	ck_assert_uint_eq(n_rows(j), 4);
	ck_assert_str_eq(report_json_text(j, "rows.0.subnet"), "10.1.1.0/24");
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 90);
	ck_assert_str_eq(report_json_text(j, "rows.2.subnet"), "2001:db8::/64");
	json_decref(j);
	options.by = REPORT_BY_SUBNET;
	ck_assert_int_eq(report_parse_mask("22,47", &options), 0);
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(n_rows(j), 2);
	ck_assert_str_eq(report_json_text(j, "rows.0.subnet"), "10.1.0.0/22");
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 120);
	ck_assert_str_eq(report_json_text(j, "rows.1.subnet"), "2001:db8::/47");
	json_decref(j);
}
END_TEST

/* A pair of networks is of any number of pairs of addresses: all that had no room may be of one. */
START_TEST(groups_allow_for_all_that_was_folded)
{
	static const enum report_by groups[] = {REPORT_BY_NETWORK, REPORT_BY_DST_NETWORK, REPORT_BY_NETWORK_PAIR};
	enum { FOLDED = 20, OF_ONE_KEY = 7, SAMPLES = 180 };
	struct report_options options = report_store_options();
	char error[256];
	double high[3];
	json_t *j;

	all_traffic();
	ck_assert_int_eq(address_names_parse("names", "10.0.0.0/8 ten\n2001:db8::/32 eight\n", &options.names, error,
	    sizeof(error)), 0);
	for (int folded = 0; folded < 2; folded++) {
		for (size_t i = 0; i < 3; i++) {
			options.by = groups[i];
			j = report_store_json(&store, "talkers", &options);
			ck_assert_uint_eq(n_rows(j), 2);
			ck_assert_str_eq(report_json_text(j, groups[i] == REPORT_BY_DST_NETWORK ? "rows.0.dst" : "rows.0.src"), "ten");
			ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 120);
			if (folded == 0)
				high[i] = report_json_number(j, "rows.0.packets.high");
			else
				ck_assert_double_eq_tol(report_json_number(j, "rows.0.packets.high") - high[i],
				    (double)FOLDED * PKTS / SAMPLES, 1e-6);
			ck_assert_double_eq(report_json_number(j, "folded_samples_one_key_high"), folded ? FOLDED : 0);
			json_decref(j);
		}
		if (folded == 0)
			report_store_sql(&store, "INSERT INTO window_folded VALUES(%d, %llu, 1, 1, 1, %d, %d)", STORE_KEY_IP_PAIR,
			    REPORT_STORE_T0, FOLDED, OF_ONE_KEY);
	}
	address_names_close(options.names);
}
END_TEST

static const struct {
	const char *report;
	enum report_by by;
} lists[] = {
	{"talkers", REPORT_BY_SRC}, {"talkers", REPORT_BY_DST}, {"talkers", REPORT_BY_PAIR},
	{"talkers", REPORT_BY_SUBNET}, {"talkers", REPORT_BY_VLAN}, {"protocols", REPORT_BY_SERVICE},
	{"protocols", REPORT_BY_PROTO}, {"protocols", REPORT_BY_ETHERTYPE},
	{"protocols", REPORT_BY_VLAN}, {"conversations", REPORT_BY_CONVERSATION},
};

/* All frames are between the same two stations, so the filter leaves none out. */
START_TEST(kept_samples_give_the_rows_of_windows)
{
	struct report_options options = report_store_options();
	json_t *windows, *samples;

	all_traffic();
	options.layer = REPORT_LAYER_IP;
	options.by = lists[_i].by;
	windows = report_store_json(&store, lists[_i].report, &options);
	options.filter = report_store_filter("02:00:00:00:00:01");
	samples = report_store_json(&store, lists[_i].report, &options);
	ck_assert_uint_gt(n_rows(windows), 1);
	ck_assert_msg(json_equal(report_json_at(windows, "rows"), report_json_at(samples, "rows")),
	    "%s by %d: %s, kept samples say %s", lists[_i].report, lists[_i].by,
	    json_dumps(report_json_at(windows, "rows"), 0),
	    json_dumps(report_json_at(samples, "rows"), 0));
	json_decref(windows);
	json_decref(samples);
}
END_TEST

START_TEST(each_list_has_its_own_keys)
{
	struct report_options options = report_store_options();
	struct report_result result = {0};
	struct query *query;
	char error[QUERY_ERROR_TEXT];

	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	options.by = REPORT_BY_SERVICE;
	ck_assert_int_lt(report_find("talkers")->run(query, &options, REPORT_STORE_T0, &result), 0);
	ck_assert_str_eq(query->error, "talkers has no --by service; it is for protocols, history");
	options.by = REPORT_BY_SERVER;
	ck_assert_int_lt(report_find("talkers")->run(query, &options, REPORT_STORE_T0, &result), 0);
	ck_assert_str_eq(query->error, "talkers has no --by server; it is for connections");
	report_result_free(&result);
	query_close(query);
}
END_TEST

START_TEST(masks_and_names_are_read_strictly)
{
	static const char *const bad[] = {"", "33", "24,129", "24,", "24 ", "-1", "24,64,1"};
	struct report_options options = report_default_options();
	int32_t ip_proto, ethertype;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_lt(report_parse_mask(bad[i], &options), 0);
	ck_assert_uint_eq(report_mask_bits(&options, 4), 24);
	ck_assert_int_eq(report_parse_mask("0,128", &options), 0);
	ck_assert_uint_eq(report_mask_bits(&options, 16), 128);
	for (int i = 0; i < 256; i++)
		if (*protocol_names_ip_proto((uint8_t)i)) {
			ck_assert_int_eq(protocol_names_find_proto(protocol_names_ip_proto((uint8_t)i), &ip_proto,
			    &ethertype), 0);
			ck_assert_int_eq(ip_proto, i);
		}
	ck_assert_int_lt(protocol_names_find_proto("802.3", &ip_proto, &ethertype), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("lists");
	TCase *tc = tcase_create("lists");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, services_are_protocol_and_lower_port);
	tcase_add_test(tc, protocols_ethertypes_and_vlans);
	tcase_add_test(tc, conversations_have_both_ends);
	tcase_add_test(tc, inside_tunnels_is_a_layer_of_its_own);
	tcase_add_test(tc, subnets_add_up_sources);
	tcase_add_test(tc, groups_allow_for_all_that_was_folded);
	tcase_add_loop_test(tc, kept_samples_give_the_rows_of_windows, 0,
	    sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(tc, each_list_has_its_own_keys);
	tcase_add_test(tc, masks_and_names_are_read_strictly);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
