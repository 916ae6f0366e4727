/*
 * Reports over stores filled by SQL, against figures worked out by hand.
 */
#include "collector/record.h"
#include "collector/window/sequence_tracker.h"
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/store/schema.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define assert_near(x, y, tolerance) ck_assert_double_eq_tol(x, y, tolerance)

#define MAC_A "0200000000aa"
#define MAC_B "0200000000bb"
#define MAC_C "0200000000cc"

static struct report_store store;

static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, 120);
	report_store_port(&store, 1, 1, "ge-1", 1);
}

static void
teardown(void)
{
	report_store_remove(&store);
}

/* 10,000 frames of 64 octets, 100 samples: 30 A to B, 70 A to C; as many again were lost. */
static void
simple_traffic(void)
{
	report_store_window(&store, 0, 1, 1, 10000, 640000);
	report_store_samples(&store, 0, 1, 1, 30, 100, 64, STORE_KEY_ETH_PAIR, MAC_A, MAC_B);
	report_store_samples(&store, 0, 1, 1, 70, 100, 64, STORE_KEY_ETH_PAIR, MAC_A, MAC_C);
	report_store_sql(&store, "UPDATE window_port SET expected = 200");
}

START_TEST(pairs_have_limits_shares_and_ranks)
{
	struct report_options options = report_store_options();
	json_t *j;

	simple_traffic();
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "report"), "talkers");
	ck_assert_str_eq(report_json_text(j, "from"), "2023-11-14T22:14:00Z");
	ck_assert_str_eq(report_json_text(j, "to"), "2023-11-14T22:16:00Z");
	assert_near(report_json_number(j, "completeness"), 0.5, 1e-9);
	ck_assert_double_eq(report_json_number(j, "samples"), 100);
	ck_assert_double_eq(report_json_number(j, "totals.packets"), 10000);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 2);
	ck_assert_str_eq(report_json_text(j, "rows.0.src"), "02:00:00:00:00:aa");
	ck_assert_str_eq(report_json_text(j, "rows.0.dst"), "02:00:00:00:00:cc");
	ck_assert_str_eq(report_json_text(j, "rows.0.agent"), "192.0.2.1");
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	ck_assert_double_eq(report_json_number(j, "rows.1.samples"), 30);
	assert_near(report_json_number(j, "rows.1.packets.estimate"), 3000, 1e-6);
	/* 30 of 100 (99 / (1 - 100/10,000)): Clopper and Pearson's lower limit, Jeffreys' upper one, the former at
	 * 1.5 %, as of each row that is surely above all behind it. */
	assert_near(report_json_number(j, "rows.1.packets.low"), 2042.634, 0.1);
	assert_near(report_json_number(j, "rows.1.packets.high"), 3945.465, 1);
	assert_near(report_json_number(j, "rows.1.octets.estimate"), 192000, 1e-6);
	assert_near(report_json_number(j, "rows.1.share.estimate"), 0.3, 1e-9);
	ck_assert_double_eq(report_json_number(j, "rows.0.rank.0"), 1);
	ck_assert_double_eq(report_json_number(j, "rows.0.rank.1"), 1);
	ck_assert_double_eq(report_json_number(j, "rows.1.rank.0"), 2);
	/* Half of the samples are lost: the x with 10,000 / x times (1 - 1/200)^x = 5 %. */
	assert_near(report_json_number(j, "unseen_packets_high"), 1047.713, 0.01);
	ck_assert_str_eq(report_json_text(j, "unseen"), "pair without a sample carried");
	ck_assert_double_eq(report_json_number(j, "mean_skip"), 100);
	ck_assert_double_eq(report_json_number(j, "seconds"), 120);
	ck_assert(json_is_false(report_json_at(j, "empty")));
	json_decref(j);
}
END_TEST

START_TEST(by_src_and_by_dst_add_up_pairs)
{
	struct report_options options = report_store_options();
	json_t *j;

	simple_traffic();
	options.by = REPORT_BY_SRC;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 1);
	assert_near(report_json_number(j, "rows.0.packets.estimate"), 10000, 1e-6);
	ck_assert(json_is_null(report_json_at(j, "rows.0.dst")));
	json_decref(j);
	options.by = REPORT_BY_DST;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 2);
	assert_near(report_json_number(j, "rows.0.packets.estimate"), 7000, 1e-6);
	json_decref(j);
}
END_TEST

static double
width_of_first(const struct report_options *options)
{
	json_t *j = report_store_json(&store, "talkers", options);
	double width = report_json_number(j, "rows.0.packets.high") -
	    report_json_number(j, "rows.0.packets.low");

	json_decref(j);
	return width;
}

/* All samples came in twos of one destination, so two were lost at a time: under loss limits by
 * destination are wider by the square root of 1 + the loss. */
START_TEST(mates_widen_limits_under_loss_only)
{
	struct report_options options = report_store_options();
	double alone, lossless;

	simple_traffic();
	options.by = REPORT_BY_DST;
	report_store_sql(&store, "UPDATE window_port SET expected = 200, received = 100");
	alone = width_of_first(&options);
	report_store_sql(&store, "UPDATE window SET any_pkts = n * 10000");
	report_store_sql(&store, "UPDATE window_key SET any_pkts = n * 10000,"
	    " same_pkts = n * 10000, same1_pkts = n * 10000, same2_pkts = n * 10000");
	assert_near(width_of_first(&options) / alone, sqrt(1.5), 0.03);
	report_store_sql(&store, "UPDATE window_key SET same_pkts = 0, same1_pkts = 0");
	assert_near(width_of_first(&options) / alone, sqrt(1.5), 0.03);
	report_store_sql(&store, "UPDATE window_port SET expected = 100");
	lossless = width_of_first(&options);
	report_store_sql(&store, "UPDATE window SET any_pkts = 0");
	report_store_sql(&store, "UPDATE window_key SET any_pkts = 0, same2_pkts = 0");
	assert_near(width_of_first(&options), lossless, 1e-9);
}
END_TEST

/* Upper limit of the second row for --warn and /metrics, at one in a million. */
static double
alarm_high(const struct report_options *options)
{
	struct report_options with_alarm = *options;
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT];
	struct query *query;
	double high;

	with_alarm.wants_alarm = true;
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	ck_assert_int_eq(report_find("talkers")->run(query, &with_alarm, REPORT_STORE_T0, &result), 0);
	high = result.list->extremes[1].alarm[ESTIMATE_PKTS].high;
	report_result_free(&result);
	query_close(query);
	return high;
}

/* What had no room may be of any key: 7 samples of 100 frames more at most, of an address all 20. */
START_TEST(what_was_folded_widens_upper_limits)
{
	struct report_options options = report_store_options();
	double low, high, not_seen, rest, alarm;
	json_t *j;

	simple_traffic();
	options.by = REPORT_BY_PAIR;
	j = report_store_json(&store, "talkers", &options);
	low = report_json_number(j, "rows.1.packets.low");
	high = report_json_number(j, "rows.1.packets.high");
	not_seen = report_json_number(j, "account.not_seen.packets.high");
	rest = report_json_number(j, "account.rest.packets.low");
	ck_assert_double_eq(report_json_number(j, "folded_samples"), 0);
	json_decref(j);
	alarm = alarm_high(&options);
	ck_assert_double_gt(alarm, high + 500);
	report_store_sql(&store, "INSERT INTO window_folded VALUES(%d, %llu, 1, 1, 1, 20, 7)",
	    STORE_KEY_ETH_PAIR, REPORT_STORE_T0);
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(j, "rows.1.packets.low"), low);
	assert_near(report_json_number(j, "rows.1.packets.high"), high + 700, 1e-6);
	assert_near(alarm_high(&options), alarm + 700, 1e-6);
	ck_assert_double_eq(report_json_number(j, "folded_samples"), 20);
	ck_assert_double_eq(report_json_number(j, "folded_samples_one_key_high"), 7);
	assert_near(report_json_number(j, "account.not_seen.packets.high"), not_seen + 2000, 1e-6);
	assert_near(report_json_number(j, "account.rest.packets.low"), fmax(0, rest - 2000), 1e-6);
	json_decref(j);
	options.by = REPORT_BY_DST;
	j = report_store_json(&store, "talkers", &options);
	assert_near(report_json_number(j, "rows.1.packets.high"), high + 2000, 1e-6);
	json_decref(j);
}
END_TEST

/* Windows of one port are one stratum; ports are two, and their figures add up. */
START_TEST(windows_and_ports_add_up)
{
	struct report_options options = report_store_options();
	json_t *j;

	report_store_port(&store, 1, 2, "ge-2", 1);
	for (int minute = 0; minute < 2; minute++) {
		report_store_window(&store, minute, 1, 1, 1000, 64000);
		report_store_samples(&store, minute, 1, 1, 10, 50, 64, 1, MAC_A, MAC_B);
		report_store_samples(&store, minute, 1, 1, 10, 50, 64, 1, MAC_B, MAC_A);
	}
	report_store_window(&store, 0, 1, 2, 8000, 512000);
	report_store_samples(&store, 0, 1, 2, 20, 100, 64, 1, MAC_A, MAC_B);
	report_store_samples(&store, 0, 1, 2, 60, 100, 64, 1, MAC_C, MAC_B);
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(j, "totals.packets"), 10000);
	assert_near(report_json_number(j, "rows.0.packets.estimate"), 6000, 1e-6);
	assert_near(report_json_number(j, "rows.1.packets.estimate"), 1000 + 2000, 1e-6);
	ck_assert(json_is_null(report_json_at(j, "rows.1.port")));
	ck_assert_double_eq(report_json_number(j, "rows.1.ports"), 2);
	assert_near(report_json_number(j, "rows.2.packets.estimate"), 1000, 1e-6);
	json_decref(j);
	options.filter = report_store_filter("if ge-2");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(j, "totals.packets"), 8000);
	assert_near(report_json_number(j, "rows.1.packets.estimate"), 2000, 1e-6);
	json_decref(j);
}
END_TEST

/* The same frames seen again by the uplink of a second switch, and sent out of a port. */
START_TEST(only_received_frames_of_edge_ports_count)
{
	struct report_options options = report_store_options();
	json_t *j;

	simple_traffic();
	report_store_agent(&store, 2, 120);
	report_store_port(&store, 2, 9, "up-9", 0);
	report_store_window(&store, 0, 2, 9, 10000, 640000);
	report_store_samples(&store, 0, 2, 9, 50, 200, 64, 1, MAC_A, MAC_C);
	report_store_sql(&store, "INSERT INTO window VALUES(%llu, 1, 1, 2, 9999, 640000, 99, 9900,"
	    " 990000, 633600, 40550400, 4055040000, 0, 0)", REPORT_STORE_T0);
	report_store_sql(&store, "INSERT INTO window_key VALUES(1, %llu, 1, 1, 2, x'%s', x'%s', 99,"
	    " 9900, 990000, 633600, 40550400, 4055040000, 0, 0, 0, 0, 0, 0, 0, 0)",
	    REPORT_STORE_T0, MAC_B, MAC_A);
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(j, "totals.packets"), 10000);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 2);
	assert_near(report_json_number(j, "rows.0.packets.estimate"), 7000, 1e-6);
	json_decref(j);
	options.filter = report_store_filter("agent 192.0.2.2");
	j = report_store_json(&store, "talkers", &options);
	assert_near(report_json_number(j, "rows.0.packets.estimate"), 10000, 1e-6);
	json_decref(j);
	options.filter = report_store_filter("agent 0202");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "up-9");
	json_decref(j);
}
END_TEST

/* A port of 1 in 10,000 may hide more of a source than one of 1 in 100 shows: its upper limit says so, and the
 * report names the port. */
START_TEST(a_port_that_samples_rarely_may_hide_a_source)
{
	struct report_options options = report_store_options();
	json_t *j;

	simple_traffic();
	report_store_port(&store, 1, 2, "ge-9", 1);
	report_store_window(&store, 0, 1, 2, 1000000, 64000000);
	report_store_samples(&store, 0, 1, 2, 100, 10000, 64, STORE_KEY_ETH_PAIR, MAC_B, MAC_C);
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_gt(report_json_number(j, "rows.1.packets.high"), 20000);
	ck_assert_double_eq(report_json_number(j, "wide_rows"), 2);
	ck_assert_str_eq(report_json_text(j, "hiding_port"), "ge-9");
	assert_near(report_json_number(j, "hiding_skip"), 10000, 1e-6);
	json_decref(j);
	options.filter = report_store_filter("if ge-1");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_lt(report_json_number(j, "rows.1.packets.high"), 4000);
	ck_assert_ptr_null(json_object_get(j, "wide_rows"));
	json_decref(j);
}
END_TEST

/* All lines of a list's account, in whole frames or octets. */
static double
account_sum(const json_t *j, const char *unit)
{
	static const char *const lines[] = {"rows", "others", "not_seen", "rest"};
	char path[64];
	double sum = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(path, sizeof(path), "account.%s.%s.estimate", lines[i], unit);
		sum += report_json_number(j, path);
	}
	snprintf(path, sizeof(path), "account.no_sample.%s", unit);
	return sum + report_json_number(j, path);
}

/* Rows, others and frames without IP are the counted total. */
START_TEST(ip_rows_others_and_rest_are_the_total)
{
	struct report_options options = report_store_options();
	json_t *j;

	simple_traffic();
	report_store_samples(&store, 0, 1, 1, 24, 100, 64, STORE_KEY_IP_PAIR, "0a000001",
	    "0a000002");
	report_store_samples(&store, 0, 1, 1, 25, 100, 64, STORE_KEY_IP_PAIR,
	    "20010db8000000000000000000000001", "20010db8000000000000000000000002");
	report_store_samples(&store, 0, 1, 1, 11, 100, 64, STORE_KEY_IP_PAIR, "0a000001",
	    "0b000002");
	options.layer = REPORT_LAYER_IP;
	options.top = 1;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "rows.0.dst"), "2001:db8::2");
	assert_near(report_json_number(j, "rows.0.octets.estimate"), 160000, 1e-6);
	ck_assert_double_eq(report_json_number(j, "others.keys"), 2);
	ck_assert_double_eq(report_json_number(j, "others.samples"), 35);
	ck_assert_double_eq(report_json_number(j, "rest.samples"), 40);
	assert_near(report_json_number(j, "rest.octets.estimate"), 256000, 1e-6);
	/* The row was chosen for its size: with one sample less, and each is of 99 frames more, it would have been as
	 * likely another. */
	assert_near(report_json_number(j, "account.rows.octets.estimate"), 160000 - 0.99 * 160000 / 2, 1);
	assert_near(report_json_number(j, "account.rows.octets.estimate") +
	    report_json_number(j, "account.others.octets.estimate"), 160000 + 224000, 1);
	ck_assert_double_eq(account_sum(j, "octets"), report_json_number(j, "totals.octets"));
	ck_assert_double_eq(account_sum(j, "packets"), report_json_number(j, "totals.packets"));
	json_decref(j);
	options.top = 10;
	options.filter = report_store_filter("10.0.0.0/9");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 2);
	json_decref(j);
	options.filter = report_store_filter("11.0.0.0/8");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.dst"), "11.0.0.2");
	json_decref(j);
}
END_TEST

static void
keep_sample(int sequence, const char *src, int vlan, int proto, const char *src_ip)
{
	report_store_sql(&store,
	    "INSERT INTO sample VALUES(1, 1, 1, %d, %llu, 1, 1, 2, 99, 100, 0, 64,"
	    " x'%s', x'%s', %d, 2048, x'%s', x'0a000002', %d, 1, 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)", sequence,
	    REPORT_STORE_T0 + (unsigned)sequence * SECOND, src, MAC_C, vlan, src_ip, proto);
}

/* 40 samples, 10 of them with an address: most others have one behind labels, or they have none at all. */
START_TEST(addresses_inside_are_hinted_at)
{
	struct report_options options = report_store_options();
	char *text;

	options.layer = REPORT_LAYER_IP;
	report_store_window(&store, 0, 1, 1, 4000, 256000);
	report_store_samples(&store, 0, 1, 1, 40, 100, 64, 1, MAC_A, MAC_C);
	report_store_samples(&store, 0, 1, 1, 10, 100, 64, STORE_KEY_IP_PAIR, "0a000001", "0a000002");
	for (int i = 0; i < 40; i++)
		keep_sample(i + 1, MAC_A, 5, 17, "0a000001");
	report_store_sql_text(&store, "UPDATE sample SET src_ip = NULL WHERE sequence > 10");
	text = report_store_render(&store, "talkers", &options, render_text, 60);
	ck_assert_ptr_null(strstr(text, "--layer inner"));
	free(text);
	report_store_sql_text(&store, "UPDATE sample SET inner_src_ip = x'0a000009' WHERE sequence > 20");
	text = report_store_render(&store, "talkers", &options, render_text, 60);
	ck_assert_ptr_nonnull(strstr(text, "\nMost frames without IP have it inside, behind MPLS or in a tunnel: --layer inner"));
	free(text);
}
END_TEST

/* VLAN and protocol stand in no key of a window: the kept samples answer. */
START_TEST(filters_that_cross_keys_use_kept_samples)
{
	struct report_options options = report_store_options();
	json_t *j;

	report_store_window(&store, 0, 1, 1, 10000, 640000);
	for (int i = 0; i < 40; i++)
		keep_sample(i + 1, i % 4 ? MAC_A : MAC_B, i % 2 ? 5 : 6, i < 10 ? 17 : 6,
		    i < 8 ? "0a000001" : "0b000001");
	options.filter = report_store_filter("vlan 5"); /* 20 of 40, none of them from B */
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 1);
	assert_near(report_json_number(j, "rows.0.packets.estimate"), 5000, 1e-6);
	assert_near(report_json_number(j, "rest.packets.estimate"), 5000, 1e-6);
	ck_assert_ptr_null(json_object_get(j, "samples_kept_since"));
	json_decref(j);
	options.filter = report_store_filter("vlan 5 and udp");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 5);
	json_decref(j);
	options.filter = report_store_filter("10.0.0.1");
	j = report_store_json(&store, "talkers", &options); /* MAC pairs of an IP address */
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 6);
	ck_assert_double_eq(report_json_number(j, "rows.1.samples"), 2);
	json_decref(j);
	report_store_sql(&store, "UPDATE sample SET time_us = time_us + %llu", MINUTE);
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "samples_kept_since"), "2023-11-14T22:15:01Z");
	json_decref(j);
}
END_TEST

/* Samples of the second minute are kept: what they say is of that minute, and no word of the first. */
START_TEST(a_filter_answers_for_the_time_of_kept_samples)
{
	struct report_options options = report_store_options();
	json_t *j;

	report_store_window(&store, 0, 1, 1, 30000, 1920000);
	report_store_window(&store, 1, 1, 1, 10000, 640000);
	for (int i = 0; i < 40; i++)
		keep_sample(i + 1, MAC_A, i % 4 ? 6 : 5, 6, "0a000001");
	report_store_sql(&store, "UPDATE sample SET time_us = time_us + %llu", MINUTE - SECOND);
	options.filter = report_store_filter("vlan 5"); /* 10 of 40 */
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "from"), "2023-11-14T22:15:00Z");
	ck_assert_double_eq(report_json_number(j, "totals.packets"), 10000);
	assert_near(report_json_number(j, "rows.0.packets.estimate"), 2500, 1e-6);
	json_decref(j);
}
END_TEST

START_TEST(an_empty_range_says_when_the_newest_data_is)
{
	struct report_options options = report_store_options();
	json_t *j;
	char *text;

	simple_traffic();
	options.all = false;
	options.has_to = true;
	options.to_us = REPORT_STORE_T0 + 7200 * SECOND;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 0);
	ck_assert_str_eq(report_json_text(j, "newest"), "2023-11-14T22:16:00Z");
	ck_assert(json_is_null(report_json_at(j, "completeness")));
	json_decref(j);
	text = report_store_render(&store, "talkers", &options, render_text, 7200);
	ck_assert_ptr_nonnull(strstr(text, "newest is of 2023-11-14 22:16 +0000, 118 min ago"));
	free(text);
}
END_TEST

/* The window that is still filling belongs to the last five minutes. */
START_TEST(the_open_minute_counts)
{
	struct report_options options = report_store_options();
	char *text;

	options.all = false;
	report_store_window(&store, 1, 1, 1, 10000, 640000);
	report_store_samples(&store, 1, 1, 1, 30, 100, 64, 1, MAC_A, MAC_B);
	text = report_store_render(&store, "talkers", &options, render_json, 90);
	ck_assert_ptr_nonnull(strstr(text, "\"samples\":30"));
	free(text);
}
END_TEST

/* ---- agents, loss ---- */

START_TEST(agents_have_names_and_completeness)
{
	struct report_options options = report_store_options();
	json_t *j;

	simple_traffic();
	report_store_agent(&store, 2, 60);
	report_store_sql(&store, "UPDATE agent SET address = '192.0.2.7'"); /* behind one address */
	j = report_store_json(&store, "agents", &options);
	ck_assert_str_eq(report_json_text(j, "rows.0.agent"), "192.0.2.7#0102");
	ck_assert_str_eq(report_json_text(j, "rows.1.agent"), "192.0.2.7"); /* the one heard first later */
	ck_assert_str_eq(report_json_text(j, "rows.0.id"), "0102030405060708");
	ck_assert_str_eq(report_json_text(j, "rows.0.address"), "192.0.2.7");
	assert_near(report_json_number(j, "rows.0.completeness"), 0.5, 1e-9);
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 100);
	ck_assert_double_eq(report_json_number(j, "rows.0.ports"), 1);
	ck_assert_str_eq(report_json_text(j, "rows.1.last_seen"), "2023-11-14T22:15:00Z");
	ck_assert(json_is_null(report_json_at(j, "rows.1.completeness")));
	json_decref(j);
}
END_TEST

/* Half an hour of snapshots that take 2 to 6 ms; the device's clock is 3 s behind at its end, and
 * loses 100 us a second. */
START_TEST(agents_show_their_clocks_and_events)
{
	struct report_options options = report_store_options();
	json_t *j;

	options.has_to = true;
	options.to_us = REPORT_STORE_T0 + 30 * MINUTE;
	for (unsigned i = 0; i < 90; i++) {
		unsigned long long at = REPORT_STORE_T0 + i * 20000000ull;

		report_store_sql(&store, "INSERT INTO counter VALUES(1, 1, %llu, 1, %llu, 0, 0, 0,"
		    " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)", at,
		    at + 3000000 - (89 - i) * 2000 + 2000 + i * 7 % 5 * 1000);
	}
	report_store_sql(&store, "INSERT INTO event(time_us, agent, boot, kind, if_index, mac)"
	    " VALUES(%llu, 1, 1, 4, 1, x'020000000001'), (%llu, 1, 1, 4, 1, x'020000000002'),"
	    " (%llu, 1, 1, 1003, 1, NULL)", REPORT_STORE_T0, REPORT_STORE_T0 + MINUTE,
	    REPORT_STORE_T0 + 2);
	j = report_store_json(&store, "agents", &options);
	assert_near(report_json_number(j, "rows.0.clock_behind_s"), 2.95, 0.06);
	assert_near(report_json_number(j, "rows.0.clock_drift_ppm"), -100, 5);
	ck_assert_str_eq(report_json_text(j, "events.0.event"), "new address");
	ck_assert_double_eq(report_json_number(j, "events.0.count"), 2);
	ck_assert_str_eq(report_json_text(j, "events.0.newest_address"), "02:00:00:00:00:02");
	ck_assert_str_eq(report_json_text(j, "events.1.event"), "link down");
	ck_assert_str_eq(report_json_text(j, "events.1.newest_port"), "ge-1");
	ck_assert_uint_eq(json_array_size(report_json_at(j, "events")), 2);
	json_decref(j);
	report_store_sql(&store, "INSERT INTO event(time_us, agent, boot, kind, if_index)"
	    " VALUES(%llu, 1, 1, 1004, 1)", REPORT_STORE_T0 + 600 * MINUTE);
	options.has_to = false; /* all that is stored, after the newest sample too */
	j = report_store_json(&store, "agents", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "events")), 3);
	ck_assert_str_eq(report_json_text(j, "events.0.event"), "link up");
	json_decref(j);
}
END_TEST

START_TEST(agents_show_what_the_store_is_at)
{
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	simple_traffic();
	j = report_store_json(&store, "agents", &options);
	ck_assert_ptr_null(json_object_get(j, "store_work"));
	json_decref(j);
	report_store_sql(&store, "INSERT INTO progress VALUES('roll-up', 12, 40, %llu, %llu)",
	    REPORT_STORE_T0, REPORT_STORE_T0 + MINUTE);
	j = report_store_json(&store, "agents", &options);
	ck_assert_str_eq(report_json_text(j, "store_work.work"), "roll-up");
	ck_assert_double_eq(report_json_number(j, "store_work.done"), 12);
	ck_assert_double_eq(report_json_number(j, "store_work.total"), 40);
	ck_assert_ptr_null(json_object_get(j, "cluster_lag_s"));
	json_decref(j);
	report_store_sql(&store, "INSERT INTO stat VALUES('ship.lag_s', 75)");
	report_store_sql(&store, "INSERT INTO agent_clock VALUES(1, -7200000000, %llu)", REPORT_STORE_T0);
	j = report_store_json(&store, "agents", &options);
	ck_assert_double_eq(report_json_number(j, "cluster_lag_s"), 75);
	ck_assert_double_eq(report_json_number(j, "rows.0.clock_corrected_s"), -7200);
	ck_assert_double_eq(report_json_number(j, "rows.0.clock_behind_s"), -7200);
	json_decref(j);
	text = report_store_render(&store, "agents", &options, render_text, 120);
	ck_assert_ptr_nonnull(strstr(text,
	    "The store is at work (roll-up): 12 of 40 windows done.\n"));
	ck_assert_ptr_nonnull(strstr(text, "2 h ahead, corrected"));
	free(text);
}
END_TEST

/* The first word of the boot was number 101: 100 went before; of the 40 since, 10 were lost. */
START_TEST(loss_knows_what_was_before_the_collector)
{
	struct report_options options = report_store_options();
	uint8_t octets[SEQUENCE_TRACKER_SAVED_OCTETS];
	char hex[2 * SEQUENCE_TRACKER_SAVED_OCTETS + 1];
	struct sequence_tracker t = {0};
	json_t *j;

	sequence_tracker_start(&t, false, 101);
	for (uint32_t number = 101; number <= 140; number++)
		if (number % 4)
			sequence_tracker_sample(&t, number);
	sequence_tracker_given_out(&t, 140);
	sequence_tracker_save(&t, octets);
	for (size_t i = 0; i < sizeof(octets); i++)
		snprintf(hex + 2 * i, 3, "%02x", octets[i]);
	report_store_sql(&store, "INSERT INTO account VALUES(1, 1, 1, 140, 30, 0, 0, 0, 0, 0, 0,"
	    " %llu, %llu, x'%s', NULL, 0)", REPORT_STORE_T0, REPORT_STORE_T0 + MINUTE, hex);
	j = report_store_json(&store, "loss", &options);
	ck_assert_double_eq(report_json_number(j, "samples"), 30);
	ck_assert_double_eq(report_json_number(j, "expected"), 40); /* as the minutes have it */
	ck_assert_double_eq(report_json_number(j, "rows.0.expected"), 140);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost"), 110);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost_elsewhere"), 110);
	ck_assert_double_eq(report_json_number(j, "rows.0.before_collector"), 100);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost_network"), 10);
	ck_assert_str_eq(report_json_text(j, "places.3.place"), "before the collector");
	ck_assert_double_eq(report_json_number(j, "places.3.count"), 100);
	json_decref(j);
}
END_TEST

START_TEST(loss_says_where)
{
	static const struct {
		const char *place;
		double count;
	} places[] = {{"agent", 60}, {"collector", 15}, {"network", 25},
	    {"before the collector", 0}, {"agent, by its word", 9}, {"samples refused: rate 0", 3}, {"receive buffer", 5}, {"fair share", 8},
	    {"refused", 4}, {"slow queue", 0}, {"accounting", 0}, {"store", 11},
	    {"collector crash", 1}};
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	report_store_sql(&store,
	    "INSERT INTO account VALUES(1, 1, 1, 1000, 900, 7, 3, 2, 60, 4, 55,"
	    " %llu, %llu, NULL, NULL, 0)", REPORT_STORE_T0, REPORT_STORE_T0 + MINUTE);
	report_store_sql(&store, "INSERT INTO account VALUES(1, 2, 1, 50, 50, 0, 0, 0, 0, 0, 0,"
	    " %llu, %llu, NULL, NULL, 9)", REPORT_STORE_T0 + MINUTE, REPORT_STORE_T0 + 2 * MINUTE);
	report_store_sql(&store, "INSERT INTO oddity VALUES(1, 1, %d, 3, 1, %llu), (1, 1, %d, 5, 1, %llu), (1, 1, %d, 8, 1, 2)",
	    EASE_ODD_NO_RATE, REPORT_STORE_T0 + MINUTE, EASE_ODD_POOL, REPORT_STORE_T0 + MINUTE, EASE_ODD_NO_HEADER);
	report_store_sql(&store, "INSERT INTO stat VALUES('input.refused', 12),"
	    " ('input.kernel_drops', 5), ('input.over_share', 7), ('slow_path.over_share', 1),"
	    " ('input.refused_sender', 3), ('sflow.refused_datagram', 1),"
	    " ('accounting.lost_store_rows', 2), ('store.lost_rows', 9)");
	/* of the second boot, all that was gone has come again since */
	report_store_sql(&store, "INSERT INTO gone VALUES(1, 1, 1, 15), (1, 2, 1, 4)");
	report_store_sql(&store, "INSERT INTO outage VALUES(1, %llu, %llu, 1, 15),"
	    " (2, 1, 2, 1, 99)", REPORT_STORE_T0 + 90 * SECOND, REPORT_STORE_T0 + 91 * SECOND);
	j = report_store_json(&store, "loss", &options);
	ck_assert_double_eq(report_json_number(j, "samples"), 950);
	ck_assert_double_eq(report_json_number(j, "expected"), 1050);
	ck_assert_double_eq(report_json_number(j, "rows.0.boot"), 1);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost"), 100);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost_in_agent"), 60);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost_in_collector"), 15);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost_elsewhere"), 25);
	ck_assert_double_eq(report_json_number(j, "rows.1.lost_in_collector"), 0);
	ck_assert_double_eq(report_json_number(j, "rows.0.lost_network"), 25);
	ck_assert(json_is_null(report_json_at(j, "rows.0.before_collector"))); /* not kept */
	ck_assert_uint_eq(json_array_size(report_json_at(j, "places")), 13); /* no older outage */
	ck_assert_double_eq(report_json_number(j, "rows.0.duplicates"), 7);
	ck_assert_double_eq(report_json_number(j, "rows.0.reordered"), 3);
	ck_assert_double_eq(report_json_number(j, "rows.0.late"), 2);
	ck_assert_double_eq(report_json_number(j, "rows.0.stalls"), 4);
	ck_assert_double_eq(report_json_number(j, "rows.0.stalled_frames"), 55);
	ck_assert_double_eq(report_json_number(j, "rows.1.boot"), 2);
	ck_assert_double_eq(report_json_number(j, "rows.1.lost"), 0);
	ck_assert_double_eq(report_json_number(j, "rows.1.dropped_apart"), 9);
	ck_assert_double_eq(json_integer_value(json_object_get(report_json_at(j, "collector"),
	    "input.refused")), 12);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		json_t *place = json_array_get(report_json_at(j, "places"), i);

		ck_assert_str_eq(report_json_text(place, "place"), places[i].place);
		ck_assert_double_eq(report_json_number(place, "count"), places[i].count);
	}
	json_decref(j);
	j = report_store_json(&store, "events", &options);
	ck_assert_str_eq(report_json_text(j, "rows.0.event"), "collector crash");
	ck_assert_double_eq(report_json_number(j, "rows.0.count"), 15);
	ck_assert_str_eq(report_json_text(j, "rows.0.time"), "2023-11-14T22:15:31Z");
	ck_assert_ptr_null(json_object_get(j, "left_out"));
	json_decref(j);
	for (int n = 10; n < 15; n++)
		report_store_sql(&store, "INSERT INTO outage VALUES(%d, %llu, %llu, 1, 1)", n, REPORT_STORE_T0 + (60 + n) * SECOND,
		    REPORT_STORE_T0 + (60 + n) * SECOND);
	options.top = 2;
	j = report_store_json(&store, "events", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 2);
	ck_assert_double_eq(report_json_number(j, "left_out"), 4 + 2); /* and two boots */
	json_decref(j);
	text = report_store_render(&store, "loss", &options, render_text, 120);
	ck_assert_ptr_null(strstr(text, "AGENT")); /* of one agent, as in other reports */
	free(text);
}
END_TEST

/* ---- the store itself ---- */

static void
assert_refused(const char *url, const char *reason)
{
	char error[QUERY_ERROR_TEXT] = "";
	struct query *query;

	ck_assert_int_ne(query_open(url, &query, error, sizeof(error)), 0);
	ck_assert_ptr_null(query);
	ck_assert_msg(strstr(error, reason) != NULL, "\"%s\" does not say \"%s\"", error, reason);
	ck_assert_msg(strstr(error, strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url) != NULL,
	    "\"%s\" does not name %s", error, url);
}

START_TEST(refusals_name_file_and_reason)
{
	char empty[] = "/tmp/report.XXXXXX";
	int fd = mkstemp(empty);

	close(fd);
	assert_refused("sqlite:/nowhere/ease.db", "No such file");
	assert_refused(empty, "not a store");
	unlink(empty);
	assert_refused("/dev/null", "not a store");
	report_store_sql(&store, "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
	    " SELECT i FROM n");
	assert_refused(store.path, "it has views");
	report_store_sql(&store, "DROP VIEW endless");
	report_store_sql(&store, "PRAGMA user_version = %d", STORE_VERSION + 1);
	assert_refused(store.path, "newer");
	report_store_sql(&store, "PRAGMA user_version = %d", STORE_FIRST_VERSION - 1);
	assert_refused(store.path, "before the first release");
}
END_TEST

START_TEST(a_file_without_rights_names_its_group)
{
	if (geteuid() != 0) {
		ck_assert_int_eq(chmod(store.path, 0), 0);
		assert_refused(store.path, "only group");
		return;
	}
	ck_assert_int_eq(chown(store.path, 0, 0), 0);
	ck_assert_int_eq(chmod(store.path, 0640), 0);
	ck_assert_int_eq(setgid(65534), 0);
	ck_assert_int_eq(setuid(65534), 0); /* this test runs in a process of its own */
	assert_refused(store.path, "only group root");
}
END_TEST

START_TEST(reading_writes_nothing)
{
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	ck_assert_int_ne(sqlite3_exec(query->db, "DELETE FROM agent", NULL, NULL, NULL), SQLITE_OK);
	query_close(query);
}
END_TEST

START_TEST(unknown_agents_and_ports_are_refused)
{
	struct report_options options = report_store_options();
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	options.filter = report_store_filter("agent 198.51.100.1");
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	ck_assert_int_ne(report_find("load")->run(query, &options, 0, &result), 0);
	ck_assert_ptr_nonnull(strstr(query->error,
	    ": no agent with the name, address or id 198.51.100.1; easetop agents lists them"));
	query_close(query);
	report_result_free(&result);
	options.filter = report_store_filter("if ge-77");
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	ck_assert_int_ne(report_find("load")->run(query, &options, 0, &result), 0);
	ck_assert_ptr_nonnull(strstr(query->error,
	    ": no port with the name or ifIndex ge-77; there is ge-1; easetop load lists all"));
	query_close(query);
}
END_TEST

/* Those with a similar name, without what a terminal would obey. */
START_TEST(near_ports_are_named)
{
	struct report_options options = report_store_options();
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	report_store_port(&store, 1, 12, "xe-\0331", 1);
	report_store_port(&store, 1, 13, "xe-12", 1);
	options.filter = report_store_filter("if XE1");
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	ck_assert_int_ne(report_find("load")->run(query, &options, 0, &result), 0);
	ck_assert_ptr_nonnull(strstr(query->error,
	    ": no port with the name or ifIndex XE1; there is xe-?1, xe-12; easetop load lists all"));
	query_close(query);
}
END_TEST

START_TEST(empty_ranges_are_refused_with_both_ends)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	options.has_from = true;
	options.from_us = REPORT_STORE_T0 + 60 * MINUTE;
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	ck_assert_int_ne(report_find("load")->run(query, &options, REPORT_STORE_T0, &result), 0);
	ck_assert_str_eq(query->error, "the range is empty: it begins at 2023-11-14 23:14 +0000 and"
	    " ends now, at 2023-11-14 22:14 +0000");
	options.has_to = true;
	options.to_us = options.from_us - MINUTE;
	ck_assert_int_ne(report_find("load")->run(query, &options, REPORT_STORE_T0, &result), 0);
	ck_assert_str_eq(query->error, "the range is empty: it begins at 2023-11-14 23:14 +0000 and"
	    " ends at 2023-11-14 23:13 +0000");
	query_close(query);
}
END_TEST

/* A clock years ahead or behind stretches the range of nobody but its own agent. */
START_TEST(a_wrong_clock_stretches_no_other_range)
{
	struct report_options options = report_store_options();
	json_t *j;

	simple_traffic();
	report_store_agent(&store, 2, 120);
	report_store_sql(&store, "UPDATE agent SET last_us = 4000000000000000 WHERE id = 2");
	report_store_agent(&store, 3, 120);
	report_store_sql(&store, "UPDATE agent SET first_us = 0, last_us = 1000000 WHERE id = 3");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "from"), "2023-11-14T22:14:00Z");
	ck_assert_str_eq(report_json_text(j, "to"), "2023-11-14T22:16:00Z");
	json_decref(j);
	options.filter = report_store_filter("agent 192.0.2.2");
	j = report_store_json(&store, "load", &options);
	ck_assert_str_eq(report_json_text(j, "to"), "2096-10-02T07:06:40Z");
	json_decref(j);
}
END_TEST

START_TEST(reports_of_an_empty_store_are_empty)
{
	struct report_options options = report_store_options();

	report_store_sql(&store, "DELETE FROM agent");
	report_store_sql(&store, "DELETE FROM port");
	options.by = REPORT_BY_DEFAULT;
	for (const struct report *report = reports; report->name; report++) {
		json_t *j = report_store_json(&store, report->name, &options);
		char *text = report_store_render(&store, report->name, &options, render_text, 0);

		ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 0);
		ck_assert(json_is_null(report_json_at(j, "newest")));
		free(text);
		json_decref(j);
	}
}
END_TEST

START_TEST(filters_are_parsed_strictly)
{
	struct report_options o = report_default_options();
	struct filter_prefix p;

	ck_assert_int_eq(filter_parse_prefix("2001:db8::/33", &p), 0);
	ck_assert(p.n_octets == 16 && p.bits == 33 && p.octets[0] == 0x20);
	ck_assert_int_eq(filter_parse_prefix("00:1b:21", &p), 0);
	ck_assert(p.n_octets == 6 && p.bits == 24 && p.octets[1] == 0x1b);
	ck_assert_int_eq(filter_parse_prefix("00:1B:21:00:00:01", &p), 0);
	ck_assert_int_eq(p.bits, 48);
	for (const char *const *bad = (const char *const[]){"", "10", "10.0.0.0/33", "10.0.0.0/",
	    "2001::/129", "00:1g", "00:11:", "1:2:3", "00:11:22:33:44:55:66", "00:11/8",
	    NULL}; *bad;
	    bad++)
		ck_assert_msg(filter_parse_prefix(*bad, &p) != 0, "%s passed", *bad);
	ck_assert_int_eq(report_parse_last("90s", &o), 0);
	ck_assert_uint_eq(o.last_us, 90 * SECOND);
	ck_assert_int_eq(report_parse_last("2w", &o), 0);
	ck_assert_int_eq(report_parse_last("all", &o), 0);
	ck_assert(o.all);
	for (const char *const *bad = (const char *const[]){"", "5", "m", "0m", "-5m", "5mm", "5y",
	    NULL}; *bad; bad++)
		ck_assert_msg(report_parse_last(*bad, &o) != 0, "%s passed", *bad);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("report");
	TCase *tc = tcase_create("reports");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, pairs_have_limits_shares_and_ranks);
	tcase_add_test(tc, a_port_that_samples_rarely_may_hide_a_source);
	tcase_add_test(tc, by_src_and_by_dst_add_up_pairs);
	tcase_add_test(tc, mates_widen_limits_under_loss_only);
	tcase_add_test(tc, what_was_folded_widens_upper_limits);
	tcase_add_test(tc, windows_and_ports_add_up);
	tcase_add_test(tc, only_received_frames_of_edge_ports_count);
	tcase_add_test(tc, ip_rows_others_and_rest_are_the_total);
	tcase_add_test(tc, addresses_inside_are_hinted_at);
	tcase_add_test(tc, filters_that_cross_keys_use_kept_samples);
	tcase_add_test(tc, a_filter_answers_for_the_time_of_kept_samples);
	tcase_add_test(tc, an_empty_range_says_when_the_newest_data_is);
	tcase_add_test(tc, the_open_minute_counts);
	tcase_add_test(tc, agents_have_names_and_completeness);
	tcase_add_test(tc, agents_show_their_clocks_and_events);
	tcase_add_test(tc, agents_show_what_the_store_is_at);
	tcase_add_test(tc, loss_knows_what_was_before_the_collector);
	tcase_add_test(tc, loss_says_where);
	tcase_add_test(tc, refusals_name_file_and_reason);
	tcase_add_test(tc, a_file_without_rights_names_its_group);
	tcase_add_test(tc, reading_writes_nothing);
	tcase_add_test(tc, unknown_agents_and_ports_are_refused);
	tcase_add_test(tc, near_ports_are_named);
	tcase_add_test(tc, empty_ranges_are_refused_with_both_ends);
	tcase_add_test(tc, a_wrong_clock_stretches_no_other_range);
	tcase_add_test(tc, reports_of_an_empty_store_are_empty);
	tcase_add_test(tc, filters_are_parsed_strictly);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
