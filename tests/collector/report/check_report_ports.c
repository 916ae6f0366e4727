/*
 * The reports that show what ports counted (errors, energy, pause; load of aggregates and of devices
 * that count less), over stores filled by SQL, against figures worked out by hand, in every format.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/record.h"
#include "collector/store/store.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct report_store store;

static void
set_up(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, 120);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_port(&store, 1, 2, "ge-2", 1);
}

static void
tear_down(void)
{
	report_store_remove(&store);
}

/* Events and time asleep by direction; back pressure, drops and pauses follow from them. */
static void
resource(int if_index, int at_s, int boot, int known, int events, int asleep_ms)
{
	report_store_sql(&store,
	    "INSERT INTO resource VALUES(1, %d, %llu, %d, %d, %d, %d000, %d, %d000, 5, %d, %d000,"
	    " %d, %d, %d)", if_index, REPORT_STORE_T0 + (uint64_t)at_s * SECOND, boot, known,
	    events, asleep_ms, 2 * events, asleep_ms / 2, events / 10, asleep_ms / 4, events / 5,
	    3 * events, 4 * events);
}

static struct report_options
options_of(int from_s, int to_s)
{
	struct report_options options = report_store_options();

	options.all = false;
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0 + (uint64_t)from_s * SECOND;
	options.to_us = REPORT_STORE_T0 + (uint64_t)to_s * SECOND;
	return options;
}

static json_t *
run(const char *report, int from_s, int to_s)
{
	struct report_options options = options_of(from_s, to_s);

	return report_store_json(&store, report, &options);
}

enum { ALL = EASE_HAS_LOW_POWER | EASE_HAS_BUFFERS | EASE_HAS_PAUSE };

/* 60 to 120 s: covered from the row at 40 s on, of which 80 s the port slept 60 and 30. */
START_TEST(energy_is_the_share_of_the_time)
{
	json_t *j;

	resource(1, 20, 1, ALL, 50, 10000);
	resource(1, 40, 1, ALL, 100, 20000);
	resource(1, 80, 1, ALL, 200, 50000);
	resource(1, 120, 1, ALL, 500, 80000);
	resource(2, 120, 1, EASE_HAS_PAUSE, 500, 80000); /* has no EEE: no row */
	j = run("energy", 60, 120);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	ck_assert_double_eq(report_json_number(j, "rows.0.seconds"), 80);
	ck_assert_double_eq(report_json_number(j, "rows.0.asleep_rx"), 75);
	ck_assert_double_eq(report_json_number(j, "rows.0.asleep_tx"), 37.5);
	ck_assert_double_eq(report_json_number(j, "rows.0.events_rx"), 400);
	ck_assert_double_eq(report_json_number(j, "rows.0.events_tx"), 800);
	ck_assert_double_eq(report_json_number(j, "rows.0.events_per_s_rx"), 5);
	ck_assert_double_eq(report_json_number(j, "rows.0.asleep_s_rx"), 60);
	json_decref(j);
}
END_TEST

/* Totals begin anew with a boot: both stretches count, the time between them does not. */
START_TEST(energy_over_a_restart)
{
	json_t *j;

	resource(1, 0, 1, ALL, 1000, 500000);
	resource(1, 20, 1, ALL, 1100, 510000);
	resource(1, 60, 2, ALL, 0, 0);
	resource(1, 80, 2, ALL, 10, 20000);
	j = run("energy", 0, 120);
	ck_assert_double_eq(report_json_number(j, "rows.0.seconds"), 40);
	ck_assert_double_eq(report_json_number(j, "rows.0.asleep_rx"), 75);
	ck_assert_double_eq(report_json_number(j, "rows.0.events_rx"), 110);
	json_decref(j);
}
END_TEST

/* One row says that the device counts, and nothing of what. */
START_TEST(energy_not_known_yet)
{
	struct report_options options = options_of(60, 120);
	char *text;
	json_t *j;

	resource(1, 70, 1, ALL, 5, 6);
	j = run("energy", 60, 120);
	ck_assert_ptr_nonnull(json_object_get(j, "rows"));
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 1);
	ck_assert(json_is_null(report_json_at(j, "rows.0.asleep_rx")));
	json_decref(j);
	text = report_store_render(&store, "energy", &options, render_text, 130);
	ck_assert_ptr_nonnull(strstr(text, "ge-1"));
	ck_assert_ptr_null(strstr(text, "0.0"));
	free(text);
}
END_TEST

START_TEST(pause_and_back_pressure)
{
	struct report_options options = options_of(0, 120);
	json_t *j;
	char *text;

	resource(1, 0, 1, ALL, 0, 0);
	resource(1, 100, 1, ALL, 500, 40000);
	resource(2, 0, 1, EASE_HAS_PAUSE, 0, 0);
	resource(2, 100, 1, EASE_HAS_PAUSE, 50, 0);
	j = run("pause", 0, 120);
	ck_assert_double_eq(report_json_number(j, "rows.0.back_pressure"), 10);
	ck_assert_double_eq(report_json_number(j, "rows.0.back_pressure_s"), 10);
	ck_assert_double_eq(report_json_number(j, "rows.0.episodes"), 50);
	ck_assert_double_eq(report_json_number(j, "rows.0.ingress_drops"), 100);
	ck_assert_double_eq(report_json_number(j, "rows.0.pauses_rx"), 1500);
	ck_assert_double_eq(report_json_number(j, "rows.0.pauses_per_s_tx"), 20);
	ck_assert(json_is_null(report_json_at(j, "rows.1.back_pressure")));
	ck_assert_double_eq(report_json_number(j, "rows.1.pauses_rx"), 150);
	json_decref(j);
	text = report_store_render(&store, "pause", &options, render_text, 130);
	ck_assert_ptr_nonnull(strstr(text, "PRESSED%"));
	ck_assert_ptr_null(strstr(text, "AGENT")); /* one agent: its column says nothing */
	free(text);
}
END_TEST

static void
counters(int at_s, int frames, int rx_errors, int tx_errors, int rx_discards)
{
	report_store_sql(&store,
	    "INSERT INTO counter VALUES(1, 1, %llu, 1, 0, 0, %d, 0, 0, %d, %d, 0, 0, 0, 0, 0, %d,"
	    " 0, 0, 0, 0, 0, 0, 0, 0)", REPORT_STORE_T0 + (uint64_t)at_s * SECOND, frames,
	    rx_discards, rx_errors, tx_errors);
}

static void
source(int if_index, const char *mac, enum ease_error_kind kind, int frames, int first_s,
    int last_s)
{
	report_store_sql(&store, "INSERT INTO error_source VALUES(1, %d, x'%s', %d, 1, %d, %llu, %llu)",
	    if_index, mac, (int)kind, frames, REPORT_STORE_T0 + (uint64_t)first_s * SECOND,
	    REPORT_STORE_T0 + (uint64_t)last_s * SECOND);
}

/* What differs behind hundreds of octets is another row, and what no collector stores harms nobody. */
static void
precision_row(int if_index, int64_t decided_s, const char *goal, const char *figures)
{
	report_store_sql(&store, "INSERT INTO precision VALUES(1, %d, %lld, '%s', %s)", if_index,
	    (long long)(REPORT_STORE_T0 + (uint64_t)(decided_s * (int64_t)SECOND)), goal, figures);
}

/* A row as it was written; an old one, and one of a goal that is gone, are not shown; what is not known is not 0. */
START_TEST(precision_as_it_was_written)
{
	json_t *j;

	report_store_port(&store, 1, 3, "ge-3", 1);
	report_store_port(&store, 1, 4, "ge-4", 1);
	precision_row(1, 100, "top 10 of each port within 10% every 5m", "569, 120, 1000, 1743, 10, 400, 128, 256, 'budget'");
	precision_row(2, 100, "top 10 of each port within 10% every 5m", "134, 0, 1000, 0, 0, 0, 0, 0, 'not read yet'");
	precision_row(3, 100, "", "1, 1, 1, 1, 1, 1, 1, 1, ''");
	precision_row(4, -3 * 3600, "top 10 of each port within 10% every 5m", "1, 1, 1, 1, 1, 1, 1, 1, ''");
	j = run("precision", 0, 120);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 2);
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "ge-1");
	ck_assert_str_eq(report_json_text(j, "rows.0.goal"), "top 10 of each port within 10% every 5m");
	ck_assert_double_eq(report_json_number(j, "rows.0.samples_wanted_per_s"), 569);
	ck_assert_double_eq(report_json_number(j, "rows.0.samples_had_per_s"), 120);
	ck_assert_double_eq(report_json_number(j, "rows.0.width_wanted"), 10);
	ck_assert_double_eq_tol(report_json_number(j, "rows.0.width_reached"), 17.43, 1e-9);
	ck_assert_double_eq(report_json_number(j, "rows.0.skip_configured"), 400);
	ck_assert_double_eq(report_json_number(j, "rows.0.skip_requested"), 128);
	ck_assert_double_eq(report_json_number(j, "rows.0.skip_in_force"), 256);
	ck_assert_str_eq(report_json_text(j, "rows.0.reason"), "budget");
	ck_assert(json_is_null(report_json_at(j, "rows.1.width_reached")));
	ck_assert(json_is_null(report_json_at(j, "rows.1.skip_requested")));
	json_decref(j);
}
END_TEST

START_TEST(drops_of_columns_of_any_length)
{
	struct report_options options = options_of(0, 120);
	json_t *j;

	for (int i = 0; i < 4; i++)
		report_store_sql(&store, "INSERT INTO discard VALUES(1, %llu, 1, 1, %d, 257, '', '', '', CAST(printf('%%0300d', 7)"
		    " AS BLOB), CAST(printf('%%0300d', %d) AS BLOB), 10, 1)", REPORT_STORE_T0, i, i / 2);
	options.by = REPORT_BY_PAIR;
	j = report_store_json(&store, "drops", &options);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 2);
	ck_assert_double_eq(report_json_number(j, "rows.0.packets"), 20);
	ck_assert_double_eq(report_json_number(j, "rows.1.packets"), 20);
	json_decref(j);
}
END_TEST

/* More keys than are held at a time hide none, and are counted. */
START_TEST(drops_of_too_many_keys)
{
	struct report_options options = options_of(0, 120);
	json_t *j;

	report_store_sql(&store, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 250000)"
	    " INSERT INTO discard SELECT 1, %llu, 1, 1, 0, 257, '', '', '', CAST(printf('%%08d', i) AS BLOB), x'0a000002', 1, 1 FROM c",
	    REPORT_STORE_T0);
	report_store_sql(&store, "INSERT INTO discard VALUES(1, %llu, 2, 1, 0, 257, '', '', '', x'0a000001', x'0a000002', 10, 1)",
	    REPORT_STORE_T0);
	options.by = REPORT_BY_SRC;
	options.top = 3;
	j = report_store_json(&store, "drops", &options);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 3);
	ck_assert_double_eq(report_json_number(j, "rows.0.packets"), 10);
	ck_assert_double_eq(report_json_number(j, "left_out"), 249998);
	json_decref(j);
}
END_TEST

static void
some_errors(void)
{
	counters(0, 1000, 10, 0, 1);
	counters(100, 1000 + 99900, 10 + 80, 20, 5);
	source(1, "020000000001", EASE_ERROR_FCS, 70, 5, 50);
	source(2, "020000000002", EASE_ERROR_TOO_LONG, 3, 60, 90);
	source(2, "020000000003", EASE_ERROR_FCS, 1, -500, -400); /* before the range */
}

START_TEST(errors_above_and_sources_below)
{
	json_t *j;

	some_errors();
	j = run("errors", 0, 120);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_errors"), 80);
	ck_assert_double_eq(report_json_number(j, "rows.0.tx_errors"), 20);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_discards"), 4);
	ck_assert_double_eq(report_json_number(j, "rows.0.errors_per_s"), 1);
	ck_assert_double_eq(report_json_number(j, "rows.0.errors_per_million"), 1000);
	ck_assert(json_is_null(report_json_at(j, "rows.1.rx_errors"))); /* ge-2 told nothing */
	ck_assert_uint_eq(json_array_size(json_object_get(j, "sources")), 2);
	ck_assert_str_eq(report_json_text(j, "sources.0.source"), "02:00:00:00:00:02");
	ck_assert_str_eq(report_json_text(j, "sources.0.kind"), "too long");
	ck_assert_str_eq(report_json_text(j, "sources.0.port"), "ge-2");
	ck_assert_str_eq(report_json_text(j, "sources.0.last"), "2023-11-14T22:15:30Z");
	ck_assert_double_eq(report_json_number(j, "sources.1.frames"), 70);
	json_decref(j);
}
END_TEST

START_TEST(errors_of_one_port)
{
	struct report_options options = options_of(0, 120);
	json_t *j;

	some_errors();
	options.filter = report_store_filter("if ge-1");
	j = report_store_json(&store, "errors", &options);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "sources")), 1);
	json_decref(j);
	options.filter = NULL;
	options.top = 1;
	j = report_store_json(&store, "errors", &options);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "sources")), 1);
	json_decref(j);
}
END_TEST

START_TEST(errors_as_text_and_csv)
{
	struct report_options options = options_of(0, 120);
	char *text, *below;

	some_errors();
	text = report_store_render(&store, "errors", &options, render_text, 130);
	below = strstr(text, "\n\nPORT  SOURCE");
	ck_assert_msg(below != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(below, "02:00:00:00:00:02  too long"));
	free(text);
	text = report_store_render(&store, "errors", &options, render_csv, 130);
	below = strstr(text, "\n\nsite,agent,port,if_index,source,kind,frames,first,last\n");
	ck_assert_msg(below != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(below, "192.0.2.1,ge-1,1,02:00:00:00:00:01,FCS,70,"));
	free(text);
}
END_TEST

/* ---- load: what is not counted, and what is counted by members ---- */

/* Received in the minute from T0: octets, unicast, multicast, broadcast (as SQL). */
static void
counted(int if_index, int octets, int ucast, int mcast, const char *bcast)
{
	const int kinds[2][3] = {{1000, 10, 1}, {1000 + octets, 10 + ucast, 1 + mcast}};

	for (int i = 0; i < 2; i++)
		report_store_sql(&store,
		    "INSERT INTO counter VALUES(1, %d, %llu, 1, 0, %d, %d, %d, %s, 0, 0,"
		    " 0, 0, 0, %s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)", if_index,
		    REPORT_STORE_T0 + (uint64_t)i * MINUTE, kinds[i][0], kinds[i][1], kinds[i][2],
		    i == 0 && *bcast != '9' ? "0" : bcast, bcast);
}
#define UNKNOWN "9223372036854775807" /* as a store keeps 2^64 - 1 */

START_TEST(what_is_not_counted_is_not_zero)
{
	struct report_options options = options_of(0, 60);
	char *text;
	json_t *j;

	counted(1, 60000, 500, 40, UNKNOWN);
	counted(2, 60000, 500, 40, "60");
	j = run("load", 0, 60);
	ck_assert(json_is_null(report_json_at(j, "rows.0.broadcasts_per_s")));
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_packets"), 540);
	ck_assert_double_eq_tol(report_json_number(j, "rows.0.multicasts_per_s"), 40 / 60.0, 1e-9);
	ck_assert_double_eq_tol(report_json_number(j, "rows.1.broadcasts_per_s"), 1 + 0, 1e-9);
	ck_assert_double_eq(report_json_number(j, "rows.1.rx_packets"), 600);
	json_decref(j);
	text = report_store_render(&store, "load", &options, render_text, 70);
	ck_assert_msg(strstr(text, "ge-1") != NULL, "%s", text);
	free(text);
}
END_TEST

START_TEST(an_aggregate_is_its_members)
{
	struct report_options options = options_of(0, 60);
	json_t *j;

	report_store_sql(&store, "UPDATE port SET lag_parent = 9 WHERE if_index < 3");
	report_store_port(&store, 1, 9, "bond0", 1);
	report_store_port(&store, 1, 4, "ge-4", 1);
	counted(1, 60000, 500, 40, UNKNOWN);
	counted(2, 30000, 100, 0, UNKNOWN);
	counted(4, 1000, 10, 0, UNKNOWN);
	j = run("load", 0, 60);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 4);
	ck_assert_str_eq(report_json_text(j, "rows.3.port"), "bond0");
	ck_assert_str_eq(report_json_text(j, "rows.3.check"), "sum of 2");
	ck_assert_double_eq(report_json_number(j, "rows.3.rx_octets"), 90000);
	ck_assert_double_eq(report_json_number(j, "rows.3.rx_packets"), 640);
	ck_assert_double_eq_tol(report_json_number(j, "rows.3.rx_bps"), 8 * 90000 / 60.0, 1e-6);
	json_decref(j);
	options.filter = report_store_filter("if bond0"); /* asked for, it brings its members */
	j = report_store_json(&store, "load", &options);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 3);
	json_decref(j);
}
END_TEST

START_TEST(an_empty_store_is_not_an_error)
{
	struct report_options options = report_store_options();

	for (const char *const *name = (const char *const[]){"errors", "energy", "pause", NULL};
	     *name; name++) {
		json_t *j = report_store_json(&store, *name, &options);

		ck_assert_str_eq(report_json_text(j, "report"), *name);
		json_decref(j);
	}
}
END_TEST

/* ---- a switch that is replaced, and forgotten ---- */

/* Another switch at the address of the first, with ports of the same numbers; each counts 1,000 octets a minute. */
static void
replace_the_switch(void)
{
	report_store_agent(&store, 2, 240);
	report_store_sql(&store, "UPDATE agent SET address = '192.0.2.1', first_us = first_us + 120000000 WHERE id = 2");
	report_store_port(&store, 2, 1, "ge-1", 1);
	report_store_port(&store, 2, 2, "uplink", 1);
	for (int minute = 0; minute < 4; minute++)
		for (int port = 1; port <= 2; port++)
			report_store_window(&store, minute, minute < 2 ? 1 : 2, port, 10, 1000);
	for (int agent = 1; agent <= 2; agent++)
		for (int row = 0; row < 4; row++)
			report_store_sql(&store, "INSERT INTO counter VALUES(%d, %d, %llu, 1, 0, %d, %d, 0, 0, 0, 0, 0, 0, 0,"
			    " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)", agent, 1 + row / 2,
			    REPORT_STORE_T0 + (uint64_t)(2 * agent - 2 + 2 * (row % 2)) * MINUTE, row % 2 * 2000,
			    row % 2 * 20);
}

/* Each row as "agent port octets", in the report's order; "-" of a time in which a switch was not there. */
static void
expect_load(int from_s, int to_s, const char *const *must, size_t n)
{
	json_t *j = run("load", from_s, to_s);
	char row[128], octets[32];

	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), n);
	for (size_t i = 0; i < n; i++) {
		json_t *object = json_array_get(json_object_get(j, "rows"), i);

		snprintf(octets, sizeof(octets), "%.0f", json_number_value(json_object_get(object, "rx_octets")));
		snprintf(row, sizeof(row), "%s %s %s", json_string_value(json_object_get(object, "agent")),
		    json_string_value(json_object_get(object, "port")),
		    json_is_null(json_object_get(object, "rx_octets")) ? "-" : octets);
		ck_assert_str_eq(row, must[i]);
	}
	json_decref(j);
}

static const char *const early[] = {"192.0.2.1#0102 ge-1 2000", "192.0.2.1#0102 ge-2 2000", "192.0.2.1 ge-1 -",
    "192.0.2.1 uplink -"};
static const char *const late[] = {"192.0.2.1#0102 ge-1 -", "192.0.2.1#0102 ge-2 -", "192.0.2.1 ge-1 2000",
    "192.0.2.1 uplink 2000"};

START_TEST(ports_keep_their_names_when_a_switch_is_replaced)
{
	replace_the_switch();
	expect_load(0, 120, early, 4);
	expect_load(120, 240, late, 4);
}
END_TEST

/* By hand, as easecapd --forget does: what the manual page says stays is there, and no report has it. */
START_TEST(sums_of_a_forgotten_switch_stay_and_are_in_no_report)
{
	char error[256] = "";
	struct store *newest;
	sqlite3_stmt *stmt;
	int minutes;

	replace_the_switch();
	report_store_renew(&store);
	sqlite3_close(store.db);
	ck_assert_int_eq(rename(store.newest, store.path), 0);
	ck_assert_int_eq(store_open(&newest, store.path, NULL, error, sizeof(error)), 0);
	ck_assert_int_eq(store_forget_agent(newest, "0102030405060708", error, sizeof(error)), 0);
	ck_assert_int_eq(store_close(newest), 0);
	ck_assert_int_eq(sqlite3_open(store.path, &store.db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(store.db, "SELECT count(DISTINCT start_us) FROM part", -1, &stmt, NULL),
	    SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	minutes = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(store.db);
	store.db = NULL; /* reports read the file itself */
	ck_assert_int_ge(minutes, 4); /* also of the minutes that only the forgotten one has */
	expect_load(0, 120, early + 2, 2);
	expect_load(120, 240, late + 2, 2);
}
END_TEST

/* ---- billing ---- */

enum { BILLED_DAYS = 31, BILLED = BILLED_DAYS * 288, INTERVAL_S = 300 };
/* T0 is 22:14: the first whole five minutes begin a minute later. */
enum { BILLED_FROM_S = 60 };

static uint64_t billed_seed;

static uint64_t
billed_random(uint64_t n)
{
	billed_seed = billed_seed * 6364136223846793005ull + 1442695040888963407ull;
	return (billed_seed >> 33) % n;
}

static void
counter(int if_index, uint64_t at_s, uint64_t discontinuity, double rx, double tx)
{
	uint64_t at_us = REPORT_STORE_T0 + at_s * SECOND;

	report_store_sql(&store, "INSERT INTO counter VALUES(1, %d, %llu, 1, %llu, %.0f, 0, 0, 0, 0, 0, %.0f, 0, 0, 0, 0, 0, %llu,"
	    " 0, 0, 0, 0, 0, 0, 0)", if_index, (unsigned long long)at_us, (unsigned long long)at_us, rx, tx,
	    (unsigned long long)discontinuity);
}

/* What a port counted each five minutes, from its own counters and no others: NAN a hole. */
static double billed[3][2][BILLED];

/* A month of a port, counters each 100 to 220 s at odd moments, so that linear interpolation is what anybody would do
 * with them: octets of an interval are drawn, and pass evenly in it. Of port 2 counters stay away for 25 minutes, twice,
 * and begin anew once; it has come on the second day. */
static void
make_month(int if_index)
{
	double rx = 1e15, tx = 5e14; /* far beyond what 32 bits hold */
	uint64_t discontinuity = 7;

	report_store_sql_text(&store, "BEGIN");
	for (int i = 0; i < BILLED; i++) {
		uint64_t from_s = BILLED_FROM_S + (uint64_t)i * INTERVAL_S;
		double octets[2] = {(double)billed_random(1000000000), (double)billed_random(400000000)};
		bool is_away = if_index == 2 && ((i >= 1000 && i < 1005) || (i >= 5000 && i < 5005));
		bool is_before = if_index == 2 && i < 288;

		if (i == (if_index == 2 ? 288 : 0))
			counter(if_index, from_s, discontinuity, rx, tx);
		billed[if_index][0][i] = is_away || is_before ? NAN : octets[0];
		billed[if_index][1][i] = is_away || is_before ? NAN : octets[1];
		for (uint64_t at_s = 1 + billed_random(30); at_s < INTERVAL_S && !is_before; at_s += 100 + billed_random(120)) {
			if (is_away)
				continue;
			if (if_index == 2 && i == 3000 && at_s > 60 && discontinuity == 7) {
				rx = -octets[0]; /* the switch began anew */
				tx = -octets[1];
				discontinuity = 8;
				billed[if_index][0][i] = billed[if_index][1][i] = NAN;
			}
			counter(if_index, from_s + at_s, discontinuity, rx + octets[0] * (double)at_s / INTERVAL_S,
			    tx + octets[1] * (double)at_s / INTERVAL_S);
		}
		rx += octets[0];
		tx += octets[1];
		/* and where the interval ends, so that what passes evenly is known exactly */
		if (!is_before && !(is_away && i != 1004 && i != 5004))
			counter(if_index, from_s + INTERVAL_S, discontinuity, rx, tx);
	}
	report_store_sql_text(&store, "COMMIT");
}

static int
compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* By its definition: how many intervals have more. */
static double
percentile_95(const double *octets, size_t *n)
{
	static double known[BILLED];

	*n = 0;
	for (int i = 0; i < BILLED; i++)
		if (!isnan(octets[i]))
			known[(*n)++] = octets[i];
	qsort(known, *n, sizeof(*known), compare_numbers);
	for (size_t i = 0; i < *n; i++)
		if (20 * (*n - 1 - i) <= *n)
			return known[i] * 8 / INTERVAL_S;
	return NAN;
}

static void
expect_billed(const json_t *row, const double *rx, const double *tx, size_t missing)
{
	size_t n;
	double must = percentile_95(rx, &n), must_tx = percentile_95(tx, &n);

	ck_assert_double_eq_tol(json_number_value(json_object_get(row, "rx_bps_95")) / must, 1, 1e-9);
	ck_assert_double_eq_tol(json_number_value(json_object_get(row, "tx_bps_95")) / must_tx, 1, 1e-9);
	ck_assert_double_eq_tol(json_number_value(json_object_get(row, "larger_bps_95")) / fmax(must, must_tx), 1, 1e-9);
	ck_assert_uint_eq((size_t)json_integer_value(json_object_get(row, "intervals")), n);
	ck_assert_uint_eq((size_t)json_integer_value(json_object_get(row, "missing")), missing);
}

START_TEST(billing_is_arithmetic_on_the_counters)
{
	static double sum[2][BILLED];
	struct report_options options = options_of(BILLED_FROM_S, BILLED_FROM_S + BILLED * INTERVAL_S);
	const json_t *rows;
	json_t *j;

	options.by = REPORT_BY_DEFAULT;
	billed_seed = 42;
	report_store_sql(&store, "UPDATE agent SET last_us = %llu", REPORT_STORE_T0 + 32ull * 86400 * SECOND);
	make_month(1);
	make_month(2);
	j = report_store_json(&store, "billing", &options);
	rows = json_object_get(j, "rows");
	ck_assert_uint_eq(json_array_size(rows), 2);
	expect_billed(json_array_get(rows, 0), billed[1][0], billed[1][1], 0);
	expect_billed(json_array_get(rows, 1), billed[2][0], billed[2][1], 11);
	ck_assert_str_eq(report_json_text(j, "holes.0.port"), "ge-2");
	ck_assert_double_eq(report_json_number(j, "holes.0.missing"), 11);
	ck_assert_double_eq(report_json_number(j, "holes.0.longest_hole_s"), 1500);
	json_decref(j);

	/* the site: both together; before port 2 came it is port 1 alone */
	for (int way = 0; way < 2; way++)
		for (int i = 0; i < BILLED; i++)
			sum[way][i] = billed[1][way][i] + (i < 288 ? 0 : billed[2][way][i]);
	options.by = REPORT_BY_SITE;
	j = report_store_json(&store, "billing", &options);
	rows = json_object_get(j, "rows");
	ck_assert_uint_eq(json_array_size(rows), 1);
	expect_billed(json_array_get(rows, 0), sum[0], sum[1], 11);
	ck_assert_double_eq(report_json_number(j, "rows.0.ports"), 2);
	json_decref(j);

	/* an aggregate is its members, and what it counts itself counts not again */
	report_store_port(&store, 1, 9, "lag-9", 1);
	counter(9, 60, 1, 0, 0);
	counter(9, 3600, 1, 1e12, 1e12);
	report_store_sql_text(&store, "UPDATE port SET lag_parent = 9 WHERE if_index IN (1, 2)");
	options.by = REPORT_BY_LAG;
	j = report_store_json(&store, "billing", &options);
	rows = json_object_get(j, "rows");
	ck_assert_uint_eq(json_array_size(rows), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.port"), "lag-9");
	expect_billed(json_array_get(rows, 0), sum[0], sum[1], 11);
	json_decref(j);
}
END_TEST

/* What is not known is not filled in: counters an hour apart tell of no five minutes, but where nothing passed. */
START_TEST(billing_fills_in_nothing)
{
	struct report_options options = options_of(BILLED_FROM_S, BILLED_FROM_S + 6 * 3600);
	char *text;
	json_t *j;

	options.by = REPORT_BY_DEFAULT;
	report_store_sql(&store, "UPDATE agent SET last_us = %llu", REPORT_STORE_T0 + 86400ull * SECOND);
	counter(1, BILLED_FROM_S, 1, 1000, 500);
	counter(1, BILLED_FROM_S + 3600, 1, 1000, 500); /* an hour in which nothing passed: known */
	counter(1, BILLED_FROM_S + 7200, 1, 9000, 4500);
	counter(1, BILLED_FROM_S + 7500, 1, 12000, 4500);
	j = report_store_json(&store, "billing", &options);
	ck_assert_double_eq(report_json_number(j, "rows.0.intervals"), 13);
	ck_assert_double_eq(report_json_number(j, "rows.0.missing"), 12);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_octets"), 3000);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_bps_95"), 80); /* 13 * 0.95 = 12.35: none is left out */
	ck_assert_double_eq(report_json_number(j, "rows.0.tx_bps_95"), 0);
	json_decref(j);
	text = report_store_render(&store, "billing", &options, render_text, 90000);
	ck_assert_msg(strstr(text, "Holes: 192.0.2.1 ge-1 (12 intervals without counters, the longest hole 60 min);"
	    " they are in no percentile."), "%s", text);
	free(text);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("report_ports");
	TCase *tc = tcase_create("reports");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, drops_of_columns_of_any_length);
	tcase_add_test(tc, drops_of_too_many_keys);
	tcase_add_test(tc, energy_is_the_share_of_the_time);
	tcase_add_test(tc, energy_over_a_restart);
	tcase_add_test(tc, energy_not_known_yet);
	tcase_add_test(tc, pause_and_back_pressure);
	tcase_add_test(tc, precision_as_it_was_written);
	tcase_add_test(tc, errors_above_and_sources_below);
	tcase_add_test(tc, errors_of_one_port);
	tcase_add_test(tc, errors_as_text_and_csv);
	tcase_add_test(tc, what_is_not_counted_is_not_zero);
	tcase_add_test(tc, an_aggregate_is_its_members);
	tcase_add_test(tc, billing_is_arithmetic_on_the_counters);
	tcase_add_test(tc, billing_fills_in_nothing);
	tcase_add_test(tc, an_empty_store_is_not_an_error);
	tcase_add_test(tc, ports_keep_their_names_when_a_switch_is_replaced);
	tcase_add_test(tc, sums_of_a_forgotten_switch_stay_and_are_in_no_report);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
