/*
 * What ports counted, and whether their samples agree: figures worked out by hand from counter snapshots.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>

#define assert_near(x, y, tolerance) ck_assert_double_eq_tol(x, y, tolerance)

#define MAC_A "0200000000aa"
#define MAC_B "0200000000bb"

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

static void
snapshot(int if_index, int at_s, double in_octets, double in_ucast, double out_octets,
    double stalled, int discontinuity)
{
	report_store_sql(&store,
	    "INSERT INTO counter VALUES(1, %d, %llu, 1, 0, %.0f, %.0f, 0, 0, 0, 0,"
	    " %.0f, 0, 0, 0, 0, 0, %d, 0, 0, 0, 0, 0, 0, %.0f)", if_index,
	    REPORT_STORE_T0 + (uint64_t)at_s * SECOND, in_octets, in_ucast, out_octets,
	    discontinuity,
	    stalled);
}

static json_t *
load_json(int from_s, int to_s)
{
	struct report_options options = report_store_options();

	options.all = false;
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0 + (uint64_t)from_s * SECOND;
	options.to_us = REPORT_STORE_T0 + (uint64_t)to_s * SECOND;
	return report_store_json(&store, "load", &options);
}

/* Snapshots at 50, 70, 110, 130 s; the range is the second minute, 60 to 120 s. */
START_TEST(load_is_interpolated_at_the_ends)
{
	json_t *j;

	snapshot(1, 50, 1000, 10, 0, 0, 0);
	snapshot(1, 70, 3000, 30, 500, 0, 0);
	snapshot(1, 110, 103000, 130, 500, 0, 0);
	snapshot(1, 130, 105000, 150, 500, 0, 0);
	j = load_json(60, 120);
	assert_near(report_json_number(j, "rows.0.seconds"), 60, 1e-6);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_octets"), 104000 - 2000);
	ck_assert_double_eq(report_json_number(j, "rows.0.tx_octets"), 250);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_packets"), 140 - 20);
	assert_near(report_json_number(j, "rows.0.rx_bps"), 8 * 102000 / 60.0, 1e-6);
	assert_near(report_json_number(j, "rows.0.utilization_rx"),
	    100 * 8 * (102000 + 20 * 120) / 60.0 / 1e9, 1e-9);
	json_decref(j);
}
END_TEST

START_TEST(load_leaves_out_a_discontinuity)
{
	json_t *j;

	snapshot(1, 0, 1000, 10, 0, 0, 0);
	snapshot(1, 20, 2000, 20, 0, 0, 0);
	snapshot(1, 40, 50, 1, 0, 0, 35); /* counters began anew at 35 s */
	snapshot(1, 60, 550, 6, 0, 0, 35);
	j = load_json(0, 60);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_octets"), 1000 + 500);
	assert_near(report_json_number(j, "rows.0.seconds"), 40, 1e-6);
	json_decref(j);
}
END_TEST

/* What passed while the skip counter was empty is counted from 0 with each boot, all else goes on. */
START_TEST(load_goes_on_over_a_start_of_the_agent)
{
	json_t *j;

	snapshot(1, 0, 1000, 10, 0, 700, 0);
	snapshot(1, 60, 9000, 90, 0, 20, 0);
	j = load_json(0, 60);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_octets"), 8000);
	json_decref(j);
}
END_TEST

/* Ports 1 to 4 have 1, 3, 2 and no Mb/s; the speed of port 3 makes it the busiest. */
START_TEST(load_has_the_largest_ports_first)
{
	static const struct {
		enum report_port_sort sort;
		int ports[4];
	} orders[] = {{REPORT_PORTS_IN_ORDER, {1, 2, 3, 4}}, {REPORT_PORTS_BY_OCTETS, {2, 3, 1, 4}},
	    {REPORT_PORTS_BY_PACKETS, {2, 3, 1, 4}}, {REPORT_PORTS_BY_UTILIZATION, {3, 2, 1, 4}},
	    {REPORT_PORTS_BY_ERRORS, {1, 2, 3, 4}}};
	struct report_options options = report_store_options();
	static const int mbits[] = {1, 3, 2};
	json_t *j;

	for (int port = 2; port <= 4; port++)
		report_store_port(&store, 1, port, "ge-x", 1);
	for (int port = 1; port <= 3; port++) {
		snapshot(port, 0, 0, 0, 0, 0, 0);
		snapshot(port, 60, mbits[port - 1] * 7.5e6, 1000 * mbits[port - 1], 0, 0, 0);
	}
	report_store_sql(&store, "UPDATE port SET speed_bps = 10000000 WHERE if_index = %d", 3);
	report_store_window(&store, 0, 1, 2, 3000, 22500000);
	report_store_samples(&store, 0, 1, 2, 4, 50, 64, 1, MAC_A, MAC_B);
	options.has_from = options.has_to = true;
	options.from_us = REPORT_STORE_T0;
	options.to_us = REPORT_STORE_T0 + MINUTE;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		options.port_sort = orders[i].sort;
		j = report_store_json(&store, "load", &options);
		for (int r = 0; r < 4; r++)
			ck_assert_double_eq(json_number_value(json_object_get(json_array_get(
			    report_json_at(j, "rows"), (size_t)r), "if_index")), orders[i].ports[r]);
		json_decref(j);
	}
	options.port_sort = REPORT_PORTS_BY_OCTETS;
	options.has_top = true;
	options.top = 1;
	j = report_store_json(&store, "load", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 1);
	ck_assert_double_eq(report_json_number(j, "left_out"), 3);
	ck_assert_double_eq(report_json_number(j, "rows.0.mean_skip"), 50);
	ck_assert_double_eq(report_json_number(j, "rows.0.skip_in_force"), 50);
	ck_assert(json_is_null(report_json_at(j, "rows.0.skips")));
	json_decref(j);
}
END_TEST

/* 4 samples at 1 in 50 and 4 at 1 in 200: a mean of 125, and what the newest was taken at is in force. */
START_TEST(load_says_where_skips_are_mixed)
{
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	report_store_port(&store, 1, 2, "ge-x", 1);
	for (int port = 1; port <= 2; port++) {
		snapshot(port, 0, 0, 0, 0, 0, 0);
		snapshot(port, 60, 7.5e6, 1000, 0, 0, 0);
		report_store_window(&store, 0, 1, port, 3000, 22500000);
		report_store_samples(&store, 0, 1, port, 4, 50, 64, 1, MAC_A, MAC_B);
	}
	text = report_store_render(&store, "load", &options, render_text, 60);
	ck_assert_ptr_null(strstr(text, "RATES"));
	free(text);
	report_store_samples(&store, 0, 1, 2, 4, 200, 64, 1, MAC_B, MAC_A);
	report_store_sql(&store, "INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction,"
	    " input_if, output_if, skip, mean_skip, pool_pkts, frame_octets) VALUES"
	    " (1, 1, 2, 7, %llu, 0, 2, 0, 49, 50, 1, 64), (1, 1, 2, 8, %llu, 0, 2, 0, 199, 200, 1, 64)",
	    (unsigned long long)REPORT_STORE_T0 + 1, (unsigned long long)REPORT_STORE_T0 + 2);
	j = load_json(0, 60);
	ck_assert_double_eq(report_json_number(j, "rows.0.skip_in_force"), 50);
	ck_assert(json_is_null(report_json_at(j, "rows.0.skips")));
	ck_assert_double_eq(report_json_number(j, "rows.1.skip_in_force"), 200);
	ck_assert_double_eq(report_json_number(j, "rows.1.mean_skip"), 125);
	ck_assert_str_eq(report_json_text(j, "rows.1.skips"), "mixed, mean 125");
	json_decref(j);
	text = report_store_render(&store, "load", &options, render_text, 60);
	ck_assert_ptr_nonnull(strstr(text, "  RATE      RATES            CHECK"));
	ck_assert_ptr_nonnull(strstr(text, "  1 in 200  mixed, mean 125  "));
	free(text);
}
END_TEST

/* The rate changed just after the numbers wrapped. */
START_TEST(skip_in_force_is_of_the_newest_number)
{
	json_t *j;

	snapshot(1, 0, 0, 0, 0, 0, 0);
	snapshot(1, 60, 7.5e6, 1000, 0, 0, 0);
	report_store_window(&store, 0, 1, 1, 3000, 22500000);
	report_store_samples(&store, 0, 1, 1, 2, 50, 64, 1, MAC_A, MAC_B);
	report_store_samples(&store, 0, 1, 1, 1, 200, 64, 1, MAC_B, MAC_A);
	report_store_sql(&store, "INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction,"
	    " input_if, output_if, skip, mean_skip, pool_pkts, frame_octets) VALUES"
	    " (1, 1, 1, 4294967294, %llu, 0, 2, 0, 49, 50, 1, 64), (1, 1, 1, 4294967295, %llu, 0, 2, 0, 49, 50, 1, 64),"
	    " (1, 1, 1, 0, %llu, 0, 2, 0, 199, 200, 1, 64)", REPORT_STORE_T0 + 1, REPORT_STORE_T0 + 2, REPORT_STORE_T0 + 3);
	j = load_json(0, 60);
	ck_assert_double_eq(report_json_number(j, "rows.0.skip_in_force"), 200);
	json_decref(j);
}
END_TEST

START_TEST(idle_down_and_silent_ports_are_told_apart)
{
	json_t *j;

	for (int port = 2; port <= 4; port++)
		report_store_port(&store, 1, port, "ge-x", 1);
	for (int s = 0; s <= 120; s += 20) {
		snapshot(1, s, 0, 0, 0, 0, 0);
		snapshot(2, s, 0, 0, 0, 0, 0);
	}
	snapshot(3, 0, 0, 0, 0, 0, 0);
	snapshot(3, 20, 100, 1, 0, 0, 0); /* then nothing */
	report_store_sql(&store, "UPDATE port SET oper_status = 2 WHERE if_index = 2");
	j = load_json(0, 120);
	ck_assert_double_eq(report_json_number(j, "rows.0.rx_bps"), 0);
	ck_assert(json_is_null(report_json_at(j, "rows.0.check"))); /* nothing to check */
	ck_assert(json_is_null(report_json_at(j, "rows.1.rx_bps")));
	ck_assert_str_eq(report_json_text(j, "rows.1.check"), "down");
	ck_assert_str_eq(report_json_text(j, "rows.1.status"), "down");
	ck_assert(json_is_null(report_json_at(j, "rows.2.rx_bps")));
	ck_assert_str_eq(report_json_text(j, "rows.2.check"), "silent 100s");
	ck_assert(json_is_null(report_json_at(j, "rows.3.rx_bps"))); /* no snapshot ever */
	ck_assert(json_is_null(report_json_at(j, "rows.3.check")));
	json_decref(j);
}
END_TEST

/* 100 samples of weight 100 have a standard deviation of 995 frames. */
static const struct {
	int pool, samples, expected, stalled;
	const char *check;
} checks[] = {
	{10000, 100, 100, 0, "ok"},	  {13900, 100, 100, 0, "ok"},
	{20000, 100, 100, 0, "mismatch -50%"}, {5000, 100, 100, 0, "mismatch +100%"},
	{20000, 100, 200, 0, "ok"}, /* half was lost in the network */
	{20000, 100, 100, 10000, "ok"}, /* half passed while the skip counter was empty */
	{10000, 100, 100, 500, "ok"},
	{300, 3, 3, 0, "few"},		  {0, 0, 0, 0, NULL}, /* nothing to check */
};

START_TEST(check_compares_samples_with_the_pool)
{
	json_t *j;

	report_store_window(&store, 0, 1, 1, checks[_i].pool, 64 * checks[_i].pool);
	if (checks[_i].samples > 0)
		report_store_samples(&store, 0, 1, 1, checks[_i].samples, 100, 64, 1, MAC_A, MAC_B);
	report_store_sql(&store, "UPDATE window_port SET expected = %d", checks[_i].expected);
	snapshot(1, 0, 0, 0, 0, 0, 0);
	snapshot(1, 60, 64.0 * checks[_i].pool, checks[_i].pool, 0, checks[_i].stalled, 0);
	j = load_json(0, 60);
	if (checks[_i].check)
		ck_assert_str_eq(report_json_text(j, "rows.0.check"), checks[_i].check);
	else
		ck_assert(json_is_null(report_json_at(j, "rows.0.check")));
	ck_assert_uint_eq(json_array_size(json_object_get(j, "unsampled")), checks[_i].stalled > checks[_i].pool / 20);
	if (checks[_i].stalled > checks[_i].pool / 20)
		ck_assert_double_eq(report_json_number(j, "unsampled.0.percent"), round(100.0 * checks[_i].stalled / checks[_i].pool));
	json_decref(j);
}
END_TEST

/* Frames of 64 octets in the first minute; of those that the port sends n are samples, one in skip. */
static void
send_and_receive(int sent, int n, int skip, int received)
{
	report_store_window(&store, 0, 1, 1, sent, 64 * sent);
	report_store_samples(&store, 0, 1, 1, n, skip, 64, 1, MAC_A, MAC_B);
	report_store_sql_text(&store, "UPDATE window SET direction = 2");
	report_store_sql_text(&store, "UPDATE window_key SET direction = 2");
	report_store_sql(&store, "INSERT INTO window VALUES(%llu, 1, 1, 1, %d, %d, 0, 0, 0, 0, 0, 0, 0, 0)",
	    (unsigned long long)REPORT_STORE_T0, received, 64 * received);
}

/* A port that samples what it sends, and receives more than that. */
START_TEST(check_leaves_out_the_direction_that_is_not_sampled)
{
	json_t *j;

	send_and_receive(10000, 100, 100, 15000);
	report_store_sql(&store, "UPDATE window_port SET expected = %d", 100);
	snapshot(1, 0, 0, 0, 0, 0, 0);
	snapshot(1, 60, 1, 1, 0, 0, 0);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.0.check"), "ok");
	json_decref(j);
}
END_TEST

START_TEST(check_sees_sampling_switched_off)
{
	json_t *j;

	report_store_port(&store, 1, 2, "ge-2", 1);
	report_store_window(&store, 0, 1, 1, 10000, 640000);
	report_store_samples(&store, 0, 1, 1, 100, 100, 64, 1, MAC_A, MAC_B);
	report_store_window(&store, 0, 1, 2, 5000, 320000); /* 50 samples would be there */
	for (int port = 1; port <= 2; port++) {
		snapshot(port, 0, 0, 0, 0, 0, 0);
		snapshot(port, 60, 1, 1, 0, 0, 0);
	}
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.1.check"), "not sampling");
	report_store_sql(&store, "UPDATE window SET pool_pkts = 50 WHERE if_index = 2");
	json_decref(j);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.1.check"), "few");
	json_decref(j);
}
END_TEST

/* ---- sFlow, whose samples have what they state beside their weights ---- */

enum { SFLOW_BOOT = 1700000000 };

/* Counters at a time, and the newest sample before them. */
static void
sflow_counters(int if_index, int at_s, double pkts, int number, int stated, int weight)
{
	unsigned long long at_us = REPORT_STORE_T0 + (uint64_t)at_s * SECOND;

	report_store_sql(&store, "INSERT INTO counter VALUES(1, %d, %llu, %d, 0, %.0f, %.0f, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
	    " 0, 0, 0, %d, 0, 0, 0, 0, 0)", if_index, at_us, SFLOW_BOOT, 64 * pkts, pkts, number);
	if (number > 0)
		report_store_sql(&store, "INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction, input_if,"
		    " output_if, skip, mean_skip, pool_pkts, frame_octets) VALUES (1, %d, %d, %d, %llu, 1, %d, 0, %d, %d, 1,"
		    " 64)", SFLOW_BOOT, if_index, number, at_us - 1, if_index, stated - 1, weight);
}

/* A minute in three parts of 20 seconds: frames that passed, samples taken of them, the rate stated for these, and their
 * weight. */
struct part {
	int pkts, samples, stated, weight;
};

static void
sflow_minute(int if_index, const struct part parts[static 3])
{
	int pkts = parts[0].pkts + parts[1].pkts + parts[2].pkts, passed = 0, number = 0;
	char mac[16];

	report_store_window(&store, 0, 1, if_index, pkts, 64 * pkts);
	sflow_counters(if_index, 0, 0, 0, 0, 0);
	for (int i = 0; i < 3; i++) {
		snprintf(mac, sizeof(mac), "02000000000%d", i);
		report_store_samples(&store, 0, 1, if_index, parts[i].samples, parts[i].weight, 64, 1, mac, MAC_B);
		sflow_counters(if_index, 20 * (i + 1), passed += parts[i].pkts, number += parts[i].samples, parts[i].stated,
		    parts[i].weight);
	}
}

static const struct {
	const char *what, *check;
	struct part parts[3];
} samplers[] = {
	{"keeps to its rate", "ok", {{40000, 100, 400, 400}, {40000, 100, 400, 400}, {40000, 100, 400, 400}}},
	{"takes 1 in 667, says 1 in 400", "mismatch -40%",
	    {{66700, 100, 400, 667}, {66700, 100, 400, 667}, {66700, 100, 400, 667}}},
	{"the same, before it is found", "mismatch -40%",
	    {{66700, 100, 400, 400}, {66700, 100, 400, 660}, {66700, 100, 400, 667}}},
	{"takes 5 samples a second at most", "mismatch -75%",
	    {{40000, 100, 400, 400}, {400000, 100, 400, 4000}, {40000, 100, 400, 400}}},
	{"states another rate in between", "ok", {{40000, 100, 400, 400}, {40000, 400, 100, 100}, {40000, 100, 400, 400}}},
};

START_TEST(check_is_of_what_sflow_states)
{
	json_t *j;

	report_store_sql(&store, "UPDATE agent SET boot = %d", SFLOW_BOOT);
	sflow_minute(1, samplers[_i].parts);
	j = load_json(0, 60);
	ck_assert_msg(strcmp(report_json_text(j, "rows.0.check"), samplers[_i].check) == 0, "%s: %s", samplers[_i].what,
	    report_json_text(j, "rows.0.check"));
	json_decref(j);
	report_store_sql(&store, "DELETE FROM sample WHERE %d", 1); /* older than keep_samples */
	j = load_json(0, 60);
	ck_assert_str_ne(report_json_text(j, "rows.0.check"), "ok");
	json_decref(j);
}
END_TEST

/* A manager sets another rate between two counters: samples before it were taken at the old one. */
START_TEST(check_knows_a_rate_that_changes_between_counters)
{
	static const struct part parts[3] = {{40000, 800, 50, 50}, {40000, 425, 800, 94}, {40000, 50, 800, 800}};
	json_t *j;

	report_store_sql(&store, "UPDATE agent SET boot = %d", SFLOW_BOOT);
	sflow_minute(1, parts);
	report_store_sql(&store, "WITH n(i) AS (SELECT 801 UNION ALL SELECT i + 1 FROM n WHERE i < 1224) INSERT INTO sample(agent, boot,"
	    " if_index, sequence, time_us, direction, input_if, output_if, skip, mean_skip, pool_pkts, frame_octets) SELECT 1, %d, 1, i,"
	    " %llu, 1, 1, 0, iif(i <= 1200, 49, 799), 94, 1, 64 FROM n", SFLOW_BOOT, REPORT_STORE_T0 + 30 * SECOND);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.0.check"), "ok");
	json_decref(j);
}
END_TEST

/* Rates that one sample of each direction states: which of them stands before counters is chance. */
START_TEST(check_knows_a_rate_of_each_direction)
{
	json_t *j;

	report_store_sql(&store, "UPDATE agent SET boot = %d", SFLOW_BOOT);
	send_and_receive(40000, 40, 1000, 40000);
	report_store_samples(&store, 0, 1, 1, 400, 100, 64, 1, MAC_B, MAC_A);
	sflow_counters(1, 0, 0, 0, 0, 0);
	sflow_counters(1, 20, 13000, 150, 1000, 1000);
	sflow_counters(1, 40, 26000, 300, 100, 100);
	sflow_counters(1, 60, 40000, 440, 1000, 1000);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.0.check"), "ok");
	json_decref(j);
}
END_TEST

/* Half of what it takes it drops, and says so, whether its samples have the weight that was measured or the stated rate. */
START_TEST(check_knows_what_the_agent_says_it_dropped)
{
	const struct part part = {40000, 50, 400, _i == 0 ? 800 : 400}, parts[3] = {part, part, part};
	json_t *j;

	report_store_sql(&store, "UPDATE agent SET boot = %d", SFLOW_BOOT);
	sflow_minute(1, parts);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.0.check"), "mismatch -50%");
	json_decref(j);
	report_store_sql(&store, "INSERT INTO account VALUES(1, %d, 1, 150, 150, 0, 0, 0, 0, 0, 0, %llu, %llu, NULL, NULL,"
	    " 150)", SFLOW_BOOT, REPORT_STORE_T0, REPORT_STORE_T0 + MINUTE);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.0.check"), "ok");
	json_decref(j);
}
END_TEST

enum skips { GEOMETRIC, UNIFORM, EVERY_NTH, N_SKIPS };

static int
draw(enum skips skips, int mean)
{
	switch (skips) {
	case GEOMETRIC:
		return 1 + (int)(log(1 - drand48()) / log(1 - 1.0 / mean));
	case UNIFORM:
		return 1 + (int)(drand48() * (2 * mean - 1));
	default:
		return mean;
	}
}

/* Sound samplers of three kinds: at most one port of 1,000 of each is accused. */
START_TEST(sound_samplers_are_not_accused)
{
	enum { PORTS = 1000, MEAN = 100, PKTS = 10000 };
	int accused = 0;
	json_t *j;

	srand48(20);
	report_store_sql(&store, "UPDATE agent SET boot = %d", SFLOW_BOOT);
	report_store_sql_text(&store, "DELETE FROM port; BEGIN");
	for (int port = 1; port <= PORTS; port++) {
		struct part parts[3] = {{PKTS, 0, MEAN, MEAN}, {PKTS, 0, MEAN, MEAN}, {PKTS, 0, MEAN, MEAN}};
		int at = draw((enum skips)_i, MEAN);

		for (; at <= 3 * PKTS; at += draw((enum skips)_i, MEAN))
			parts[(at - 1) / PKTS].samples++;
		report_store_port(&store, 1, port, "e", 1);
		sflow_minute(port, parts);
	}
	report_store_sql_text(&store, "COMMIT");
	j = load_json(0, 60);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), PORTS);
	for (size_t i = 0; i < PORTS; i++)
		accused += strcmp(report_json_text(json_array_get(report_json_at(j, "rows"), i), "check"), "ok") != 0;
	printf("sound samplers, skips of kind %d: %d of %d ports accused\n", _i, accused, PORTS);
	ck_assert_int_le(accused, 1);
	json_decref(j);
}
END_TEST

/* ---- counters that cannot judge ---- */

/* Counters come every `apart` seconds, one of them `off` seconds after the range of a minute began; nothing is known of
 * when frames passed between. */
static const struct {
	int apart_s, off_s;
	const char *check;
} intervals[] = {{20, 10, "ok"}, {30, 15, "ok"}, {60, 0, "ok"}, {60, 10, "ok"}, {60, 30, "few counters"},
    {300, 30, "few counters"}, {300, 180, "silent 3m"}};

START_TEST(counters_far_from_the_ends_do_not_judge)
{
	json_t *j;

	report_store_window(&store, 0, 1, 1, 10000, 640000);
	report_store_samples(&store, 0, 1, 1, 100, 100, 64, 1, MAC_A, MAC_B);
	for (int s = intervals[_i].off_s - 2 * intervals[_i].apart_s; s <= 60 + 2 * intervals[_i].apart_s;
	     s += intervals[_i].apart_s)
		snapshot(1, s, 64.0 * (s + 700) * 166, (s + 700) * 166, 0, 0, 0);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.0.check"), intervals[_i].check);
	json_decref(j);
}
END_TEST

/* What passed is known all the same if nothing was counted between those around an end. */
START_TEST(counters_that_stand_still_judge)
{
	json_t *j;

	report_store_window(&store, 0, 1, 1, 10000, 640000);
	report_store_samples(&store, 0, 1, 1, 100, 100, 64, 1, MAC_A, MAC_B);
	snapshot(1, -300, 0, 0, 0, 0, 0);
	snapshot(1, 25, 0, 0, 0, 0, 0);
	snapshot(1, 35, 640000, 10000, 0, 0, 0);
	snapshot(1, 300, 640000, 10000, 0, 0, 0);
	j = load_json(0, 60);
	ck_assert_str_eq(report_json_text(j, "rows.0.check"), "ok");
	json_decref(j);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("load");
	TCase *tc = tcase_create("load");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, load_is_interpolated_at_the_ends);
	tcase_add_test(tc, load_leaves_out_a_discontinuity);
	tcase_add_test(tc, load_goes_on_over_a_start_of_the_agent);
	tcase_add_test(tc, load_has_the_largest_ports_first);
	tcase_add_test(tc, load_says_where_skips_are_mixed);
	tcase_add_test(tc, skip_in_force_is_of_the_newest_number);
	tcase_add_test(tc, idle_down_and_silent_ports_are_told_apart);
	tcase_add_loop_test(tc, check_compares_samples_with_the_pool, 0,
	    (int)(sizeof(checks) / sizeof(*checks)));
	tcase_add_test(tc, check_leaves_out_the_direction_that_is_not_sampled);
	tcase_add_test(tc, check_sees_sampling_switched_off);
	tcase_add_loop_test(tc, check_is_of_what_sflow_states, 0, (int)(sizeof(samplers) / sizeof(*samplers)));
	tcase_add_test(tc, check_knows_a_rate_that_changes_between_counters);
	tcase_add_test(tc, check_knows_a_rate_of_each_direction);
	tcase_add_loop_test(tc, check_knows_what_the_agent_says_it_dropped, 0, 2);
	tcase_add_loop_test(tc, sound_samplers_are_not_accused, 0, N_SKIPS);
	tcase_add_loop_test(tc, counters_far_from_the_ends_do_not_judge, 0,
	    (int)(sizeof(intervals) / sizeof(*intervals)));
	tcase_add_test(tc, counters_that_stand_still_judge);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
