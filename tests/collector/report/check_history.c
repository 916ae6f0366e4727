/*
 * History and events. The figure of a key in a step of a history is compared with the list of talkers
 * over just that step, which other code makes; keys and others together with the counted total.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/record.h"
#include "collector/report/notes.h"
#include "collector/store/schema.h"
#include "common/ease_oid.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTES = 6, PKTS = 20000, OCTETS = 2000000, SKIP = 100 };

static const char *const sources[] = {"0a000001", "0a000002", "0a000003"};
static struct report_store store;

static void
add_source(int minute, int port, int source)
{
	int n = 40 + 30 * source + 5 * minute + port, octets = 100 + 50 * source;
	char mac[16];

	snprintf(mac, sizeof(mac), "0200%s", sources[source]);
	report_store_samples(&store, minute, 1, port, n, SKIP, octets, STORE_KEY_ETH_PAIR, mac,
	    "0200000000ff");
	report_store_samples(&store, minute, 1, port, n, SKIP, octets, STORE_KEY_IP_PAIR,
	    sources[source], "0a0000ff");
}

/* Minute 3 has no data, and the third source is in the last minute only. */
static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, MINUTES * 60);
	for (int port = 1; port <= 2; port++) {
		report_store_port(&store, 1, port, port == 1 ? "ge-1" : "ge-2", 1);
		for (int minute = 0; minute < MINUTES; minute++) {
			if (minute == 3)
				continue;
			report_store_window(&store, minute, 1, port, PKTS, OCTETS + 1000 * minute);
			for (int s = 0; s < (minute == MINUTES - 1 ? 3 : 2); s++)
				add_source(minute, port, s);
		}
	}
}

static void
teardown(void)
{
	report_store_remove(&store);
}

static struct report_options
by_source(void)
{
	struct report_options options = report_store_options();

	options.layer = REPORT_LAYER_IP;
	options.by = REPORT_BY_SRC;
	return options;
}

static const json_t *
find_source(const json_t *talkers, const char *src)
{
	const json_t *row;
	size_t i;

	json_array_foreach(report_json_at(talkers, "rows"), i, row)
		if (strcmp(report_json_text(row, "src"), src) == 0)
			return row;
	ck_abort_msg("%s is not there", src);
}

static void
check_step(const json_t *history, const json_t *step, uint64_t from_us, uint64_t to_us)
{
	/* Limits are at the level of the key's place in the whole range's list, not in that of the step. */
	static const char *const figures[] = {"packets.estimate", "octets.estimate", "samples"};
	struct report_options options = by_source();
	double octets = json_object_get(step, "others")
	    ? report_json_number(step, "others.octets.estimate") : 0;
	json_t *talkers;
	const json_t *key;
	size_t i;

	options.all = false;
	options.has_from = options.has_to = true;
	options.from_us = from_us;
	options.to_us = to_us;
	talkers = report_store_json(&store, "talkers", &options);
	json_array_foreach(report_json_at(step, "top"), i, key) {
		const json_t *of_range = json_array_get(report_json_at(history, "top"),
		    (size_t)report_json_number(key, "key"));
		const json_t *row = find_source(talkers, report_json_text(of_range, "src"));

		for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
			ck_assert_double_eq_tol(report_json_number(key, figures[f]),
			    report_json_number(row, figures[f]), 1e-6);
		octets += report_json_number(key, "octets.estimate");
	}
	ck_assert_double_eq_tol(octets, report_json_number(step, "octets"), 1);
	ck_assert_double_eq(report_json_number(talkers, "totals.octets"),
	    report_json_number(step, "octets"));
	json_decref(talkers);
}

static void
check_history_steps(int step_minutes)
{
	struct report_options options = by_source();
	json_t *history;
	const json_t *step;
	size_t i, n_known = 0;

	options.step_us = (uint64_t)step_minutes * MINUTE;
	options.top = 2;
	history = report_store_json(&store, "history", &options);
	ck_assert_double_eq(report_json_number(history, "step"), 60.0 * step_minutes);
	json_array_foreach(report_json_at(history, "rows"), i, step) {
		/* the first minute is not a multiple of several */
		uint64_t first_us = REPORT_STORE_T0 - REPORT_STORE_T0 % options.step_us;
		uint64_t from_us = first_us + i * options.step_us;
		uint64_t to_us = from_us + options.step_us;
		uint64_t end_us = REPORT_STORE_T0 + MINUTES * MINUTE;

		if (json_is_null(report_json_at(step, "octets")))
			continue;
		n_known++;
		check_step(history, step, from_us < REPORT_STORE_T0 ? REPORT_STORE_T0 : from_us,
		    to_us > end_us ? end_us : to_us);
	}
	ck_assert_uint_eq(n_known, step_minutes == 1 ? MINUTES - 1 : i);
	json_decref(history);
}

START_TEST(test_steps_are_lists_of_their_time)
{
	check_history_steps(1);
	check_history_steps(2);
	check_history_steps(7);
}
END_TEST

/* Then samples alone tell what passed: a step is known no better than a list of its time. */
START_TEST(test_steps_without_counters_have_limits)
{
	struct report_options options = by_source();
	json_t *history, *talkers;

	report_store_sql(&store, "UPDATE window SET pool_pkts = %d, pool_octets = 0", 0);
	options.step_us = MINUTE;
	history = report_store_json(&store, "history", &options);
	options.all = false;
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0;
	options.to_us = options.from_us + MINUTE;
	talkers = report_store_json(&store, "talkers", &options);
	ck_assert_double_eq(report_json_number(history, "rows.0.octets_limits.low"),
	    report_json_number(talkers, "totals.octets_limits.low"));
	ck_assert_double_gt(report_json_number(history, "rows.0.octets_limits.high"), report_json_number(history, "rows.0.octets"));
	json_decref(history);
	json_decref(talkers);
}
END_TEST

START_TEST(test_step_without_data_is_unknown)
{
	struct report_options options = by_source();
	json_t *history;

	report_store_sql(&store, "INSERT INTO outage VALUES(1, %llu, %llu, %d, NULL)", REPORT_STORE_T0 + MINUTE / 2,
	    REPORT_STORE_T0 + MINUTE, STORE_OUTAGE_STOPPED);
	/* until 2106: by a clock that was set since */
	report_store_sql(&store, "INSERT INTO outage VALUES(2, %llu, 4290000000000000, %d, NULL)", REPORT_STORE_T0, STORE_OUTAGE_STOPPED);
	history = report_store_json(&store, "history", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(history, "away")), 1); /* though the last step has none */
	ck_assert_uint_eq(json_array_size(report_json_at(history, "rows")), MINUTES);
	ck_assert(json_is_null(report_json_at(history, "rows.3.octets")));
	ck_assert(json_is_null(report_json_at(history, "rows.3.completeness")));
	ck_assert_uint_eq(json_array_size(report_json_at(history, "rows.3.top")), 0);
	json_decref(history);
}
END_TEST

/* A filter that crosses keys: of a step without kept samples only the counted total is known. */
START_TEST(test_steps_of_kept_samples)
{
	struct report_options options = by_source();
	json_t *history;

	for (int i = 0; i < 9; i++)
		report_store_sql(&store, "INSERT INTO sample(agent, boot, if_index, sequence, time_us,"
		    " direction, input_if, output_if, skip, mean_skip, pool_pkts, frame_octets,"
		    " src_ip, dst_ip, vlan) VALUES(1, 1, 1, %d, %llu, 1, 1, 2, 99, 100, 0, 100,"
		    " x'0a000001', x'0a0000ff', %d)", i, REPORT_STORE_T0 + 2 * MINUTE + i, i % 3);
	options.filter = report_store_filter("vlan 1");
	history = report_store_json(&store, "history", &options);
	ck_assert_str_eq(report_json_text(history, "samples_kept_since"), "2023-11-14T22:16:00Z");
	ck_assert_double_eq(report_json_number(history, "rows.1.packets"), 2 * PKTS);
	ck_assert_uint_eq(json_array_size(report_json_at(history, "rows.1.top")), 0);
	ck_assert_ptr_null(json_object_get(report_json_at(history, "rows.1"), "others"));
	ck_assert_double_eq(report_json_number(history, "rows.2.top.0.samples"), 3);
	ck_assert_double_eq(report_json_number(history, "rows.2.others.samples"), 6);
	json_decref(history);
}
END_TEST

START_TEST(test_steps_are_bounded)
{
	struct report_options options = by_source();
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT];
	struct query *query;
	json_t *history;

	report_store_window(&store, 301, 1, 1, PKTS, OCTETS);
	report_store_sql(&store, "UPDATE agent SET last_us = last_us + %llu", 302 * MINUTE);
	history = report_store_json(&store, "history", &options);
	ck_assert_uint_le(json_array_size(report_json_at(history, "rows")), 120);
	json_decref(history);
	options.step_us = SECOND; /* ten then */
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	ck_assert_int_eq(report_find("history")->run(query, &options, REPORT_STORE_T0, &result),
	    -EINVAL);
	ck_assert_str_eq(query->error, "step: the range has more than 367 steps; make them longer");
	report_result_free(&result);
	query_close(query);
}
END_TEST

START_TEST(test_empty_store_has_no_steps)
{
	struct report_options options = by_source();
	json_t *history;

	report_store_sql(&store, "DELETE FROM agent; DELETE FROM window; DELETE FROM account");
	history = report_store_json(&store, "history", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(history, "rows")), 0);
	json_decref(history);
}
END_TEST

START_TEST(test_question_is_cut_short)
{
	const struct query_limits few = {.keys = 1};
	struct report_options options = by_source();
	_Atomic bool cancel = true;
	const struct query_limits at_once = {.clock = &clock_system, .cancel = &cancel};
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	/* the time is looked at every some thousand steps of SQLite: give it that much to do */
	report_store_sql(&store, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c"
	    " WHERE i < 20000) INSERT INTO window_port SELECT %llu, 1, i + 9, 1, 1 FROM c",
	    REPORT_STORE_T0);
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	query_limit(query, &few);
	ck_assert_int_eq(report_find("talkers")->run(query, &options, REPORT_STORE_T0, &result), 0);
	ck_assert_double_gt(note_number_of(&result, NOTE_ID_FOLDED, "folded_samples"), 0);
	report_result_free(&result);
	query_close(query);
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, error, sizeof(error)), 0);
	query_limit(query, &at_once);
	ck_assert_int_eq(report_find("talkers")->run(query, &options, REPORT_STORE_T0, &result),
	    -ETIMEDOUT);
	report_result_free(&result);
	query_close(query);
}
END_TEST

static void
add_address(int at_s, int if_index)
{
	report_store_sql(&store, "INSERT INTO event(time_us, agent, boot, kind, if_index, mac, vlan)"
	    " VALUES(%llu, 1, 1, %d, %d, x'021122334455', 7)", REPORT_STORE_T0 + at_s * SECOND,
	    EASE_NOTIFY_NEW_ADDRESS, if_index);
}

START_TEST(test_events)
{
	struct report_options options = by_source();
	json_t *events;

	add_address(10, 1);
	add_address(20, 1);
	add_address(70, 2);
	report_store_sql(&store, "INSERT INTO error_source VALUES(1, 2, x'02aabbccddee', 1, 1, 17,"
	    " %llu, %llu)", REPORT_STORE_T0, REPORT_STORE_T0 + 65 * SECOND);
	report_store_sql(&store, "UPDATE window_port SET expected = expected + 9 WHERE if_index = 1"
	    " AND start_us = %llu", REPORT_STORE_T0 + 2 * MINUTE);
	options.top = 3;
	events = report_store_json(&store, "events", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(events, "rows")), 3);
	ck_assert_str_eq(report_json_text(events, "rows.0.event"), "address moved");
	ck_assert_str_eq(report_json_text(events, "rows.0.address"), "02:11:22:33:44:55");
	ck_assert_str_eq(report_json_text(events, "rows.0.port"), "ge-2");
	ck_assert_str_eq(report_json_text(events, "rows.0.from_port"), "ge-1");
	ck_assert_str_eq(report_json_text(events, "rows.1.event"), "error source");
	ck_assert_double_eq(report_json_number(events, "rows.1.count"), 17);
	ck_assert_str_eq(report_json_text(events, "rows.2.event"), "new address");
	ck_assert(json_is_null(report_json_at(events, "rows.2.from_port")));
	/* lost samples have no time of their own, so they are a sum and no row */
	ck_assert_double_eq(
	    report_json_number(events, "expected") - report_json_number(events, "samples"), 9);
	json_decref(events);
	options.filter = report_store_filter("if ge-2");
	events = report_store_json(&store, "events", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(events, "rows")), 2);
	json_decref(events);
}
END_TEST

/* Of which agent, port and text, when and what. */
static void
add_alarm_event(int at_s, int kind, int if_index, const char *text)
{
	report_store_sql(&store, "INSERT INTO event(time_us, agent, boot, kind, if_index, text) VALUES(%lld, 1, 1, %d, %d, '%s')",
	    (long long)REPORT_STORE_T0 + at_s * (long long)SECOND, kind, if_index, text);
}

START_TEST(test_alarms)
{
	enum { DAY_S = 86400 };
	static const char *const rows[][5] = {/* state, key, rule, port, and whether its begin is known */
	    {"stands", "fe80::", "talker above 9 pps of each port", "ge-2", "since"},
	    {"stands", "10.0.0.1", "talker above 5 pps of each port", "ge-1", "since"},
	    {"stands", "10.0.0.7", "pair of old above 5 pps of each port", "ge-1", ""},
	    {"over", "10.0.0.1", "talker above 5 pps of each port", "ge-1", "since"},
	    {"over", "", "port above 5% of each port", "ge-2", "since"}};
	struct report_options options = by_source();
	char path[32];
	json_t *alarms;

	add_alarm_event(10, EASE_EVENT_ALARM, 1, "10.0.0.1: talker above 5 pps of each port");
	add_alarm_event(20, EASE_EVENT_ALARM, 2, "fe80::: talker above 9 pps of each port");
	add_alarm_event(-30, EASE_EVENT_ALARM, 2, "port above 5% of each port");
	add_alarm_event(5, EASE_EVENT_ALARM_OVER, 2, "port above 5% of each port");
	/* the audit begins to accuse the port meanwhile */
	add_alarm_event(15, EASE_EVENT_ALARM_OVER, 1, "10.0.0.1: talker above 5 pps of each port" EASE_ALARM_ACCUSED);
	add_alarm_event(17, EASE_EVENT_ALARM, 1, "10.0.0.1: talker above 5 pps of each port" EASE_ALARM_ACCUSED);
	/* before the range: over, forgotten, and told each day that it stands */
	add_alarm_event(-60, EASE_EVENT_ALARM, 1, "10.0.0.3: talker above 5 pps of each port");
	add_alarm_event(-50, EASE_EVENT_ALARM_OVER, 1, "10.0.0.3: talker above 5 pps of each port");
	add_alarm_event(-2 * DAY_S, EASE_EVENT_ALARM, 1, "10.0.0.4: talker above 5 pps of each port");
	add_alarm_event(-3 * DAY_S, EASE_EVENT_ALARM, 1, "10.0.0.7: pair of old above 5 pps of each port");
	add_alarm_event(-DAY_S / 2, EASE_EVENT_ALARM_STANDS, 1, "10.0.0.7: pair of old above 5 pps of each port");
	alarms = report_store_json(&store, "alarms", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(alarms, "rows")), sizeof(rows) / sizeof(rows[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const char *const fields[] = {"state", "key", "rule", "port"};

		for (size_t f = 0; f < 4; f++) {
			snprintf(path, sizeof(path), "rows.%zu.%s", i, fields[f]);
			if (*rows[i][f])
				ck_assert_str_eq(report_json_text(alarms, path), rows[i][f]);
			else
				ck_assert(json_is_null(report_json_at(alarms, path)));
		}
		snprintf(path, sizeof(path), "rows.%zu.since", i);
		ck_assert(json_is_null(report_json_at(alarms, path)) == !*rows[i][4]);
	}
	json_decref(alarms);
	options.filter = report_store_filter("if ge-2");
	alarms = report_store_json(&store, "alarms", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(alarms, "rows")), 2);
	json_decref(alarms);
}
END_TEST

/* What stands in the row of this event, or NULL. */
static json_t *
row_of(json_t *events, const char *event)
{
	const json_t *rows = report_json_at(events, "rows");
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (strcmp(report_json_text(row, "event"), event) == 0)
			return row;
	return NULL;
}

/* Of what goes on beyond the range, the report has what happened in it. */
START_TEST(events_have_their_own_time)
{
	struct report_options options = by_source();
	json_t *events, *row;

	report_store_sql(&store, "DELETE FROM account");
	report_store_sql(&store, "UPDATE agent SET first_us = %llu WHERE id = 1", REPORT_STORE_T0);
	report_store_sql(&store, "INSERT INTO account(agent, boot, if_index, expected, received, duplicates,"
	    " reordered, late, agent_drops, stalls, stalled_pkts, first_us, last_us) VALUES"
	    " (1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, %llu, %llu), (1, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, %llu, %llu)",
	    REPORT_STORE_T0, REPORT_STORE_T0 + 20 * SECOND, REPORT_STORE_T0 + 30 * SECOND,
	    REPORT_STORE_T0 + 90 * SECOND);
	/* the first was seen again after the range, the second began before it and ended after it */
	report_store_sql(&store, "INSERT INTO error_source VALUES(1, 2, x'02aabbccddee', 1, 1, 17,"
	    " %llu, %llu), (1, 2, x'02aabbccddef', 1, 1, 18, %llu, %llu)",
	    REPORT_STORE_T0 + 10 * SECOND, REPORT_STORE_T0 + 300 * SECOND,
	    REPORT_STORE_T0 - 10 * SECOND, REPORT_STORE_T0 + 300 * SECOND);
	report_store_sql(&store, "INSERT INTO event(time_us, agent, boot, kind, if_index)"
	    " VALUES(%llu, 1, 1, %d, 4711)", REPORT_STORE_T0 + 40 * SECOND, EASE_EVENT_LINK_DOWN);
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0;
	options.to_us = REPORT_STORE_T0 + 120 * SECOND;
	options.top = 100;
	events = report_store_json(&store, "events", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(events, "rows")), 4);
	row = row_of(events, "error source");
	ck_assert_str_eq(report_json_text(row, "time"), "2023-11-14T22:14:10Z");
	ck_assert(json_is_null(report_json_at(row, "count")));
	row = row_of(events, "link down"); /* nothing else is known of the port */
	ck_assert_str_eq(report_json_text(row, "port"), "if4711");
	/* nobody knows when it started before it was first heard */
	ck_assert_str_eq(report_json_text(row_of(events, "agent first heard"), "text"), "boot 1");
	ck_assert_str_eq(report_json_text(row_of(events, "agent started"), "text"), "boot 2");
	json_decref(events);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("history");
	TCase *tc = tcase_create("history");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_steps_are_lists_of_their_time);
	tcase_add_test(tc, test_steps_without_counters_have_limits);
	tcase_add_test(tc, test_step_without_data_is_unknown);
	tcase_add_test(tc, test_steps_of_kept_samples);
	tcase_add_test(tc, test_steps_are_bounded);
	tcase_add_test(tc, test_empty_store_has_no_steps);
	tcase_add_test(tc, test_question_is_cut_short);
	tcase_add_test(tc, test_events);
	tcase_add_test(tc, test_alarms);
	tcase_add_test(tc, events_have_their_own_time);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
