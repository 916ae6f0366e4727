/*
 * Where addresses are, over stores filled by SQL: samples and new addresses
 * that switches report, in the order of time, give the place, the moves and the time since when.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "common/ease_oid.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MAC_A "0200000000aa"
#define MAC_B "0200000000bb"

static struct report_store store;

static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, 600);
	report_store_agent(&store, 2, 600);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_port(&store, 1, 2, "ge-2", 1);
	report_store_port(&store, 1, 3, "up", 0);
	report_store_port(&store, 2, 1, "ge-1", 1);
	for (int minute = 0; minute < 10; minute++)
		report_store_window(&store, minute, 1, 1, 1000, 64000);
}

static void
teardown(void)
{
	report_store_remove(&store);
}

static void
sample(int second, int agent, int if_index, const char *mac, const char *vlan, const char *ip)
{
	report_store_sql(&store, "INSERT INTO sample VALUES(%d, 1, %d, %d, %llu, 1, %d, 2, 99, 100, 0,"
	    " 64, x'%s', x'0200000000cc', %s, 2048, x'%s', x'0a000009', 6, 1, 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)", agent,
	    if_index, second, REPORT_STORE_T0 + (unsigned)second * SECOND, if_index, mac, vlan, ip);
}

static void
announce(int second, int agent, int if_index, const char *mac, int vlan)
{
	report_store_sql(&store, "INSERT INTO event VALUES(NULL, %llu, %d, 1, %d, %d, x'%s', %d, NULL, NULL)",
	    REPORT_STORE_T0 + (unsigned)second * SECOND, agent, EASE_NOTIFY_NEW_ADDRESS, if_index,
	    mac, vlan);
}

static json_t *
ask(const struct report_options *options)
{
	return report_store_json(&store, "addresses", options);
}

static size_t
n_rows(const json_t *j)
{
	return json_array_size(report_json_at(j, "rows"));
}

START_TEST(a_station_that_moves)
{
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	sample(10, 1, 1, MAC_A, "5", "0a000001");
	sample(20, 1, 2, MAC_B, "NULL", "0a000002");
	sample(30, 1, 1, MAC_A, "5", "0a000001");
	sample(40, 2, 1, MAC_A, "6", "0a000001");
	sample(50, 2, 1, MAC_A, "6", "0a000001");
	j = ask(&options);
	ck_assert_uint_eq(n_rows(j), 2);
	ck_assert_str_eq(report_json_text(j, "rows.0.address"), "02:00:00:00:00:aa");
	ck_assert_str_eq(report_json_text(j, "rows.0.agent"), "192.0.2.2");
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	ck_assert_double_eq(report_json_number(j, "rows.0.vlan"), 6);
	ck_assert_str_eq(report_json_text(j, "rows.0.since"), "2023-11-14T22:14:40Z");
	ck_assert_str_eq(report_json_text(j, "rows.0.last"), "2023-11-14T22:14:50Z");
	ck_assert_str_eq(report_json_text(j, "rows.0.moved_from_agent"), "192.0.2.1");
	ck_assert_str_eq(report_json_text(j, "rows.0.moved_from_port"), "ge-1");
	ck_assert_double_eq(report_json_number(j, "rows.0.moves"), 1);
	ck_assert_double_eq(report_json_number(j, "rows.0.seen"), 4);
	ck_assert(json_is_null(report_json_at(j, "rows.1.vlan")));
	ck_assert(json_is_null(report_json_at(j, "rows.1.moved_from_port")));
	json_decref(j);
	text = report_store_render(&store, "addresses", &options, render_text, 600);
	ck_assert_ptr_nonnull(strstr(text, "192.0.2.1 ge-1"));
	free(text);
}
END_TEST

START_TEST(an_announcement_is_a_sighting)
{
	struct report_options options = report_store_options();
	json_t *j;

	sample(10, 1, 1, MAC_A, "NULL", "0a000001");
	announce(15, 1, 2, MAC_A, 0);
	announce(12, 1, 2, MAC_B, 7);
	j = ask(&options);
	ck_assert_uint_eq(n_rows(j), 2);
	ck_assert_str_eq(report_json_text(j, "rows.0.address"), "02:00:00:00:00:aa");
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-2");
	ck_assert_str_eq(report_json_text(j, "rows.0.moved_from_port"), "ge-1");
	ck_assert_double_eq(report_json_number(j, "rows.1.vlan"), 7);
	json_decref(j);
	options.layer = REPORT_LAYER_IP; /* switches announce MAC addresses */
	j = ask(&options);
	ck_assert_uint_eq(n_rows(j), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.address"), "10.0.0.1");
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	json_decref(j);
}
END_TEST

/* It came back: since it was elsewhere last. Of the past it is not known how often it was seen. */
START_TEST(a_station_that_returns)
{
	struct report_options options = report_store_options();
	json_t *j;

	sample(10, 1, 1, MAC_A, "NULL", "0a000001");
	sample(20, 1, 2, MAC_A, "NULL", "0a000001");
	sample(30, 1, 1, MAC_A, "NULL", "0a000001");
	j = ask(&options);
	ck_assert_uint_eq(n_rows(j), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	ck_assert_str_eq(report_json_text(j, "rows.0.moved_from_port"), "ge-2");
	ck_assert_str_eq(report_json_text(j, "rows.0.since"), "2023-11-14T22:14:20Z");
	ck_assert_double_eq(report_json_number(j, "rows.0.moves"), 2);
	ck_assert_double_eq(report_json_number(j, "rows.0.seen"), 3);
	json_decref(j);
	sample(130, 2, 1, MAC_A, "NULL", "0a000001");
	sample(400, 2, 1, MAC_A, "NULL", "0a000001");
	options.all = false;
	options.has_to = options.has_from = true;
	options.from_us = REPORT_STORE_T0;
	options.to_us = REPORT_STORE_T0 + 2 * MINUTE;
	j = ask(&options); /* before it was at the other switch */
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	ck_assert_double_eq(report_json_number(j, "rows.0.seen"), 3);
	json_decref(j);
	options.to_us = REPORT_STORE_T0 + 4 * MINUTE;
	j = ask(&options);
	ck_assert_str_eq(report_json_text(j, "rows.0.agent"), "192.0.2.2");
	ck_assert(json_is_null(report_json_at(j, "rows.0.seen")));
	ck_assert(json_is_null(report_json_at(j, "rows.0.last"))); /* it was later */
	json_decref(j);
}
END_TEST

/* Few rows take little memory, and those left out are counted. */
START_TEST(the_newest_of_very_many)
{
	struct report_options options = report_store_options();
	char ip[9], mac[13];
	json_t *j;

	for (int i = 0; i < 3000; i++) {
		snprintf(ip, sizeof(ip), "0a00%04x", i);
		snprintf(mac, sizeof(mac), "02000000%04x", i);
		sample(1 + i * 7919 % 3000, 1, 1, mac, "NULL", ip);
	}
	options.top = 3;
	options.layer = REPORT_LAYER_IP;
	j = ask(&options); /* 599 in the ten minutes */
	ck_assert_uint_eq(n_rows(j), 3);
	ck_assert_double_eq(report_json_number(j, "left_out"), 596);
	for (size_t r = 1; r < 3; r++) {
		char path[2][16];

		snprintf(path[0], sizeof(path[0]), "rows.%zu.since", r - 1);
		snprintf(path[1], sizeof(path[1]), "rows.%zu.since", r);
		ck_assert_str_gt(report_json_text(j, path[0]), report_json_text(j, path[1]));
	}
	json_decref(j);
}
END_TEST

/* Behind an uplink is everybody: it is nobody's place, unless it is asked for. */
START_TEST(uplinks_are_no_place)
{
	struct report_options options = report_store_options();
	json_t *j;

	sample(10, 1, 1, MAC_A, "NULL", "0a000001");
	sample(20, 1, 3, MAC_A, "NULL", "0a000001");
	sample(30, 1, 3, MAC_B, "NULL", "0a000002");
	j = ask(&options);
	ck_assert_uint_eq(n_rows(j), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	json_decref(j);
	options.filter = report_store_filter("if up");
	j = ask(&options);
	ck_assert_uint_eq(n_rows(j), 2);
	json_decref(j);
}
END_TEST

START_TEST(filters_choose_addresses)
{
	struct report_options options = report_store_options();
	json_t *j;

	sample(10, 1, 1, MAC_A, "5", "0a000001");
	sample(100, 1, 2, MAC_B, "6", "0b000001");
	options.filter = report_store_filter("11.0.0.0/8");
	j = ask(&options); /* an IP prefix asks for IP addresses, whatever the layer */
	ck_assert_uint_eq(n_rows(j), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.address"), "11.0.0.1");
	json_decref(j);
	options = report_store_options();
	options.filter = report_store_filter("vlan 5");
	j = ask(&options);
	ck_assert_uint_eq(n_rows(j), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.address"), "02:00:00:00:00:aa");
	json_decref(j);
	options = report_store_options();
	options.all = false;
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0 + MINUTE;
	options.to_us = REPORT_STORE_T0 + 5 * MINUTE;
	j = ask(&options); /* A was not seen in the range */
	ck_assert_uint_eq(n_rows(j), 1);
	json_decref(j);
	options = report_store_options();
	options.top = 1;
	j = ask(&options);
	ck_assert_str_eq(report_json_text(j, "rows.0.address"), "02:00:00:00:00:bb");
	ck_assert_double_eq(report_json_number(j, "left_out"), 1);
	json_decref(j);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("addresses");
	TCase *tc = tcase_create("addresses");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_station_that_moves);
	tcase_add_test(tc, an_announcement_is_a_sighting);
	tcase_add_test(tc, a_station_that_returns);
	tcase_add_test(tc, the_newest_of_very_many);
	tcase_add_test(tc, uplinks_are_no_place);
	tcase_add_test(tc, filters_choose_addresses);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
