/*
 * Links between two switches over a store filled by SQL: three cables, one of them bad, and one end that states a wrong
 * rate: both are named, at the right end, and nothing else. Then what cannot be told.
 */
#include "collector/judge.h"
#include "collector/record.h"
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTES = 10, SECONDS = 60 * MINUTES, SKIP = 50, CABLES = 3, A = 1, B = 2 };

static struct report_store store;

/* Frames of a port, in each ten minutes: sent and received, and received with errors; samples stand for so many of 100. */
struct end {
	int sent, received, errors, sampled_percent;
};

static void
counters(int agent, int port, int at_s, const struct end *end)
{
	report_store_sql(&store, "INSERT INTO counter(agent, if_index, time_us, boot, received_us, in_octets, in_ucast, in_mcast,"
	    " in_bcast, in_discards, in_errors, out_octets, out_ucast, out_mcast, out_bcast, out_discards, out_errors,"
	    " discontinuity_us, samples, last_sequence, pool_in, pool_out, drops, stalls, stalled_pkts)"
	    " VALUES(%d, %d, %llu, 1, 0, %d, %d, 0, 0, 0, %d, %d, %d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)", agent, port,
	    REPORT_STORE_T0 + (unsigned)at_s * SECOND, 64 * end->received, end->received, end->errors, 64 * end->sent, end->sent);
}

static void
add_counted(int agent, int port, const struct end *end)
{
	const struct end none = {0};
	char name[16];

	snprintf(name, sizeof(name), "ge-%d", port);
	report_store_port(&store, agent, port, name, 0);
	counters(agent, port, 0, &none);
	counters(agent, port, SECONDS, end);
}

static void
add_end(int agent, int port, const struct end *end)
{
	char mac[40];

	add_counted(agent, port, end);
	snprintf(mac, sizeof(mac), "0200000000%d%d", agent, port);
	for (int minute = 0; minute < MINUTES; minute++) {
		int pkts = end->received / MINUTES;

		report_store_window(&store, minute, agent, port, pkts, 64 * pkts);
		if (end->sampled_percent > 0)
			report_store_samples(&store, minute, agent, port, pkts / SKIP * end->sampled_percent / 100, SKIP, 64, 1, mac,
			    "0200000000ff");
	}
}

static void
add_link(int agent, int port, int other, int other_port, int seen_s)
{
	report_store_sql(&store, "INSERT INTO link VALUES(%d, %d, %d, %d, %lld)", agent, port, other, other_port,
	    (long long)REPORT_STORE_T0 + seen_s * (long long)SECOND);
}

static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, A, SECONDS);
	report_store_agent(&store, B, SECONDS);
}

static void
teardown(void)
{
	report_store_remove(&store);
}

static json_t *
ask(void)
{
	struct report_options options = report_store_options();

	return report_store_json(&store, "links", &options);
}

/* The row of a way, from an agent and port. */
static const json_t *
way(const json_t *j, const char *agent, const char *port)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(j, "rows"), i, row)
		if (strcmp(report_json_text(row, "from_agent"), agent) == 0 && strcmp(report_json_text(row, "from_port"), port) == 0)
			return row;
	ck_abort_msg("no way from %s %s", agent, port);
}

static void
expect(const json_t *j, const char *agent, const char *port, const char *says)
{
	ck_assert_str_eq(report_json_text(way(j, agent, port), "says"), says);
}

#define OF_A "192.0.2.1"
#define OF_B "192.0.2.2"

/* A sound cable, a bad one, and one of whose ends states a wrong rate. */
static void
add_cables(void)
{
	static const struct end ends[CABLES][2] = {
	    {{100000, 200000, 0, 100}, {200000, 100000, 0, 100}},
	    {{100000, 200000, 0, 100}, {200000, 99500, 500, 100}}, /* 500 of 100,000 came broken */
	    {{100000, 200000, 0, 50}, {200000, 100000, 0, 100}}, /* of those, samples stand for half */
	};

	for (int cable = 0; cable < CABLES; cable++) {
		add_end(A, cable + 1, &ends[cable][0]);
		add_end(B, cable + 1, &ends[cable][1]);
		add_link(A, cable + 1, B, cable + 1, 10);
		add_link(B, cable + 1, A, cable + 1, 20); /* the other end says so, too */
	}
}

START_TEST(both_faults_are_named_and_no_other)
{
	/* as conf/guide/sflow-switches.md shows them */
	static const char *const lines[] = {
	    "192.0.2.1  ge-2  192.0.2.2  ge-2       167       166     166    159 ..  173      500          0        0  ok  "
	    "           bad cable: 500 bad frames at ge-2\n",
	    "192.0.2.2  ge-3  192.0.2.1  ge-3       333       333     167    159 ..  174        0          0        0  mismatch"
	    " -50%  wrong rate at ge-3: mismatch -50%\n"};
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	add_cables();
	text = report_store_render(&store, "links", &options, render_text, SECONDS);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(text, lines[i]) != NULL, "no %s in %s", lines[i], text);
	free(text);
	j = ask();
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 2 * CABLES);
	expect(j, OF_A, "ge-1", "ok");
	expect(j, OF_B, "ge-1", "ok");
	expect(j, OF_A, "ge-2", "bad cable: 500 bad frames at ge-2");
	expect(j, OF_B, "ge-2", "ok");
	expect(j, OF_A, "ge-3", "ok");
	expect(j, OF_B, "ge-3", "wrong rate at ge-3: mismatch -50%");
	for (size_t i = 0; i < 2 * CABLES; i++) { /* links that disagree come first, with both their ways */
		const json_t *row = json_array_get(json_object_get(j, "rows"), i);

		ck_assert_int_eq(strcmp(report_json_text(row, "from_port"), "ge-1") == 0, i >= 4);
		ck_assert_double_eq(report_json_number(row, "disagrees"), strcmp(report_json_text(row, "says"), "ok") != 0);
	}
	ck_assert_double_eq(report_json_number(way(j, OF_A, "ge-2"), "sent_packets"), 100000);
	ck_assert_double_eq(report_json_number(way(j, OF_A, "ge-2"), "received_packets"), 99500);
	ck_assert_double_eq(report_json_number(way(j, OF_A, "ge-2"), "missing"), 0); /* all of them are explained */
	ck_assert_double_eq(report_json_number(way(j, OF_B, "ge-1"), "sampled_packets.estimate"), 200000);
	ck_assert_double_eq(report_json_number(way(j, OF_B, "ge-3"), "sampled_packets.estimate"), 100000);
	json_decref(j);
}
END_TEST

/* The collector tells of both by itself, once each: a turn later they are no news, nor when that one cannot judge. */
START_TEST(faults_are_events)
{
	static const char *const before[] = {"", "ALTER TABLE oddity RENAME TO no_more", "ALTER TABLE no_more RENAME TO oddity", ""};
	struct clock clock = {.manual = true, .manual_wall_us = REPORT_STORE_T0 + SECONDS * SECOND, .manual_mono_us = SECOND};
	const struct judge_config config = {.store = store.newest, .clock = &clock, .lasts_ms = 10000};
	struct store_room room[STORE_N_TABLES] = {[STORE_EVENTS] = {.free = 16}, [STORE_ODDITIES] = {.free = 16}};
	const struct store_event *events;
	struct store_batch batch = {.durable = false};
	struct judge *judge;
	sqlite3 *db;

	add_cables();
	report_store_renew(&store);
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	ck_assert_int_eq(judge_open(&judge, &config), 0);
	ck_assert_int_eq(sqlite3_open(store.newest, &db), SQLITE_OK);
	for (size_t turn = 0; turn < sizeof(before) / sizeof(before[0]); turn++) {
		ck_assert_msg(sqlite3_exec(db, before[turn], NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
		judge_turn(judge);
		judge_flush(judge, &batch);
		ck_assert_uint_eq(batch.rows[STORE_EVENTS].n, 2);
	}
	events = batch.rows[STORE_EVENTS].items;
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(events[i].kind, EASE_EVENT_LINK_DISAGREES);
	ck_assert_int_eq(events[0].agent, B);
	ck_assert_uint_eq(events[0].if_index, 2);
	ck_assert_str_eq(events[0].text, "bad cable: 500 bad frames at ge-2");
	ck_assert_int_eq(events[1].agent, A);
	ck_assert_uint_eq(events[1].if_index, 3);
	ck_assert_str_eq(events[1].text, "wrong rate at ge-3: mismatch -50%");
	sqlite3_close(db);
	judge_close(judge);
	store_batch_free(&batch);
}
END_TEST

/* Two switches name each other at 300 ports each, and count what they like; a bad cable of others is told all the same. */
START_TEST(links_that_are_made_up_hide_no_other)
{
	enum { MADE_UP = 300 };
	static const struct end sender = {100000, 0, 0, 0}, receiver = {0, 50000, 0, 0}, bad = {0, 99500, 500, 0};
	struct clock clock = {.manual = true, .manual_wall_us = REPORT_STORE_T0 + SECONDS * SECOND, .manual_mono_us = SECOND};
	const struct judge_config config = {.store = store.newest, .clock = &clock, .lasts_ms = 10000};
	struct store_room room[STORE_N_TABLES] = {[STORE_EVENTS] = {.free = MADE_UP}, [STORE_ODDITIES] = {.free = 16}};
	const struct store_event *events;
	struct store_batch batch = {.durable = false};
	struct judge *judge;
	bool is_told = false;

	report_store_agent(&store, B + 1, SECONDS);
	report_store_agent(&store, B + 2, SECONDS);
	for (int port = 1; port <= MADE_UP; port++) {
		add_counted(A, port, &sender);
		add_counted(B, port, &receiver);
		add_link(A, port, B, port, 10);
	}
	add_counted(B + 1, 1, &sender);
	add_counted(B + 2, 1, &bad);
	add_link(B + 1, 1, B + 2, 1, 10);
	report_store_renew(&store);
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	ck_assert_int_eq(judge_open(&judge, &config), 0);
	judge_turn(judge);
	judge_flush(judge, &batch);
	events = batch.rows[STORE_EVENTS].items;
	ck_assert_uint_gt(batch.rows[STORE_EVENTS].n, 1);
	for (size_t i = 0; i < batch.rows[STORE_EVENTS].n; i++)
		is_told |= events[i].agent == B + 2;
	ck_assert(is_told);
	judge_close(judge);
	store_batch_free(&batch);
}
END_TEST

START_TEST(frames_that_nobody_explains)
{
	static const struct end ends[2][2] = {
	    {{100000, 0, 0, 0}, {0, 90000, 0, 100}}, /* lost without a bad frame: something is between them */
	    {{100000, 0, 0, 0}, {0, 120000, 0, 100}}, /* more than was sent */
	};
	json_t *j;

	for (int cable = 0; cable < 2; cable++) {
		add_end(A, cable + 1, &ends[cable][0]);
		add_end(B, cable + 1, &ends[cable][1]);
		add_link(A, cable + 1, B, cable + 1, 10);
	}
	j = ask();
	expect(j, OF_A, "ge-1", "10000 frames were lost in between");
	expect(j, OF_A, "ge-2", "20000 frames more were received than sent");
	expect(j, OF_B, "ge-1", "few frames");
	ck_assert(json_is_null(report_json_at(way(j, OF_B, "ge-1"), "sampled_packets")));
	json_decref(j);
}
END_TEST

/* One that was not confirmed for hours, one whose other end is not known, and none at all. */
START_TEST(links_that_are_none)
{
	static const struct end end = {100000, 100000, 0, 100};
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	add_end(A, 1, &end);
	add_end(B, 1, &end);
	add_link(A, 1, B, 1, -3 * 3600);
	add_link(B, 1, 77, 1, 10);
	j = ask();
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 0);
	json_decref(j);
	text = report_store_render(&store, "links", &options, render_text, SECONDS);
	ck_assert_msg(strstr(text, "No link between two switches is known: both must be asked") != NULL, "%s", text);
	free(text);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("links");
	TCase *tc = tcase_create("links");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, both_faults_are_named_and_no_other);
	tcase_add_test(tc, faults_are_events);
	tcase_add_test(tc, links_that_are_made_up_hide_no_other);
	tcase_add_test(tc, frames_that_nobody_explains);
	tcase_add_test(tc, links_that_are_none);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
