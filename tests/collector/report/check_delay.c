/*
 * Delays and depths of queues, over a store filled by SQL: rows by port, queue, pair of ports and address; quantiles and
 * limits of samples of one skip and of several; what few samples do not tell; what a lying switch does to the rows of
 * others.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "common/sample.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct report_store store;
static int next_sequence;

static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, 600);
	report_store_agent(&store, 2, 600);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_port(&store, 1, 2, "ge-2", 1);
	report_store_port(&store, 1, 3, "ge-3", 1);
	report_store_port(&store, 2, 1, "ge-1", 1);
	report_store_port(&store, 2, 2, "ge-2", 1);
	for (int minute = 0; minute < 10; minute++)
		for (int agent = 1; agent <= 2; agent++)
			report_store_window(&store, minute, agent, 1, 1000, 64000);
	next_sequence = 0;
}

static void
teardown(void)
{
	report_store_remove(&store);
}

/* A sample that came in at port 1; delay, depth and queue as SQL. */
static void
add_sample(int agent, uint64_t output_if, int mean_skip, int src, const char *queue, const char *depth, const char *delay)
{
	int n = ++next_sequence;

	report_store_sql(&store, "INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction, input_if, output_if,"
	    " skip, mean_skip, pool_pkts, frame_octets, src_ip, dst_ip, queue, depth_octets, delay_ns)"
	    " VALUES(%d, 1, 1, %d, %llu, 1, 1, %llu, 99, %d, 0, 64, x'0a0000%02x', x'0a0000ff', %s, %s, %s)", agent, n,
	    REPORT_STORE_T0 + (unsigned)n * (SECOND / 100), (unsigned long long)output_if, mean_skip, src, queue, depth, delay);
}

/* 1000, 2000, … n thousand nanoseconds, in disorder. */
static void
add_ladder(int agent, uint64_t output_if, int n)
{
	char delay[24], depth[24];

	for (int i = 0; i < n; i++) {
		snprintf(delay, sizeof(delay), "%d", 1000 * ((i * 7919) % n + 1));
		snprintf(depth, sizeof(depth), "%d", 64 * ((i * 7919) % n + 1));
		add_sample(agent, output_if, 100, 1, "3", depth, delay);
	}
}

static json_t *
ask(enum report_by by)
{
	struct report_options options = report_store_options();

	options.layer = REPORT_LAYER_IP;
	options.by = by;
	return report_store_json(&store, "delay", &options);
}

START_TEST(quantiles_are_order_statistics)
{
	json_t *j;

	add_ladder(1, 2, 1000);
	add_sample(1, 2, 100, 1, "3", "NULL", "NULL"); /* tells nothing of them */
	j = ask(REPORT_BY_PORT);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.out"), "ge-2");
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 1000);
	ck_assert_double_eq(report_json_number(j, "rows.0.without"), 1);
	ck_assert_double_eq(report_json_number(j, "rows.0.median_ns.estimate"), 500000);
	/* of 1,000 trials at 1/2: P(X <= 468) = 0.0231 and P(X <= 469) = 0.0268; the same from above */
	ck_assert_double_eq(report_json_number(j, "rows.0.median_ns.low"), 469000);
	ck_assert_double_eq(report_json_number(j, "rows.0.median_ns.high"), 532000);
	/* at 0.95: P(X <= 935) = 0.0216, P(X <= 936) = 0.0293; P(X >= 964) = 0.0214, P(X >= 963) = 0.0314 */
	ck_assert_double_eq(report_json_number(j, "rows.0.p95_ns.low"), 936000);
	ck_assert_double_eq(report_json_number(j, "rows.0.p95_ns.high"), 964000);
	ck_assert_double_eq(report_json_number(j, "rows.0.highest_ns"), 1000000);
	ck_assert_double_eq(report_json_number(j, "depth.0.median_octets.low"), 469 * 64);
	ck_assert_double_eq(report_json_number(j, "depth.0.highest_octets"), 64000);
	ck_assert_double_eq(report_json_number(j, "told.samples"), 1001);
	ck_assert_double_eq(report_json_number(j, "told.delays"), 1000);
	ck_assert_double_eq(report_json_number(j, "told.most"), 0);
	json_decref(j);
}
END_TEST

/* 1 in 1,000 at one port, 1 in 10 at the other: the median of all frames is that of the first. */
START_TEST(samples_stand_for_their_skip)
{
	char delay[24];
	json_t *j;

	for (int i = 1; i <= 100; i++) {
		snprintf(delay, sizeof(delay), "%d", 5000 + i);
		add_sample(1, 2, 1000, 1, "NULL", "NULL", delay);
		for (int k = 0; k < 5; k++) {
			snprintf(delay, sizeof(delay), "%d", 100 + i);
			add_sample(1, 3, 10, 1, "NULL", "NULL", delay);
		}
	}
	j = ask(REPORT_BY_SRC);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 1);
	ck_assert_str_eq(report_json_text(j, "rows.0.src"), "10.0.0.1");
	ck_assert_double_eq(report_json_number(j, "rows.0.median_ns.estimate"), 5048); /* 5,000 of 105,000 lie below all */
	ck_assert_uint_eq(json_array_size(json_object_get(j, "depth")), 0);
	json_decref(j);
}
END_TEST

START_TEST(few_samples_tell_little)
{
	struct report_options options = report_store_options();
	char *text;
	json_t *j;

	for (int i = 1; i <= 5; i++)
		add_sample(1, 2, 100, 1, "NULL", "NULL", "7000");
	j = ask(REPORT_BY_PORT);
	ck_assert(json_is_null(report_json_at(j, "rows.0.median_ns"))); /* of five both ends may be on one side once in 16 */
	ck_assert(json_is_null(report_json_at(j, "rows.0.p95_ns.estimate")));
	ck_assert_double_eq(report_json_number(j, "rows.0.p95_ns.low"), 7000);
	ck_assert(json_is_null(report_json_at(j, "rows.0.p95_ns.high")));
	ck_assert_double_eq(report_json_number(j, "rows.0.highest_ns"), 7000);
	json_decref(j);
	options.by = REPORT_BY_PORT;
	text = report_store_render(&store, "delay", &options, render_text, 610);
	ck_assert_msg(strstr(text, "7.00us .. ?") != NULL, "%s", text);
	free(text);
	text = report_store_render(&store, "delay", &options, render_csv, 610);
	ck_assert_msg(strstr(text, ",5,,,,,7000,,,7000,,7000,0\n") != NULL, "%s", text);
	free(text);
}
END_TEST

/* Lines that conf/guide/reading-a-report.md shows. */
START_TEST(lines_of_the_guide)
{
	struct report_options options = report_store_options();
	char *text;

	add_ladder(1, 2, 1000);
	add_sample(1, 2, 100, 1, "3", "NULL", "NULL");
	add_ladder(1, 3, 12);
	options.by = REPORT_BY_PORT;
	text = report_store_render(&store, "delay", &options, render_text, 610);
	ck_assert_msg(strstr(text, "ge-2    1,000         500us    469us .. 532us  950us  936us .. 964us  990us  983us .. 997us"
	    "   1.00ms        1\n") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "ge-3       12        6.00us  3.00us .. 10.0us      -     10.0us .. ?      -     11.0us .. ?"
	    "   12.0us        0\n") != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "Of 1013 samples 1012 tell a delay and 1012 a queue's depth;"));
	free(text);
}
END_TEST

START_TEST(rows_by_queue_and_pair_of_ports)
{
	json_t *j;

	for (int i = 0; i < 40; i++) {
		add_sample(1, 2, 100, 1, "0", "10", "1000");
		add_sample(1, 2, 100, 1, "7", "90", "9000");
		add_sample(1, EASE_IF_LOCAL, 100, 1, "NULL", "NULL", "50");
		add_sample(1, EASE_IF_MANY + 3, 100, 1, "NULL", "NULL", "40");
		add_sample(1, 0, 100, 1, "NULL", "NULL", "30");
		add_sample(1, 77, 100, 1, "NULL", "NULL", "NULL"); /* no row */
	}
	j = ask(REPORT_BY_QUEUE);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 5);
	ck_assert_double_eq(report_json_number(j, "rows.0.queue"), 7);
	ck_assert_double_eq(report_json_number(j, "rows.0.median_ns.estimate"), 9000);
	ck_assert_double_eq(report_json_number(j, "rows.1.queue"), 0);
	ck_assert_str_eq(report_json_text(j, "rows.2.out"), "itself");
	ck_assert_str_eq(report_json_text(j, "rows.3.out"), "several");
	ck_assert(json_is_null(report_json_at(j, "rows.4.out")));
	json_decref(j);
	j = ask(REPORT_BY_PORT_PAIR);
	ck_assert_str_eq(report_json_text(j, "rows.0.in"), "ge-1");
	ck_assert_str_eq(report_json_text(j, "rows.0.out"), "ge-2");
	ck_assert_double_eq(report_json_number(j, "rows.0.samples"), 80);
	json_decref(j);
}
END_TEST

/* Nothing is rounded, cut or added between the rows of two switches. */
START_TEST(a_liar_spoils_no_row_of_another)
{
	json_t *before, *j, *honest;

	add_ladder(1, 2, 400);
	before = ask(REPORT_BY_SRC);
	for (int i = 0; i < 300; i++)
		add_sample(2, 2, 1 << 23, 1, "65535", "4294967295", i % 2 ? "4294967295" : "9223372036854775807");
	add_sample(2, 2, 1, 1, "-1", "-5", "-9223372036854775807");
	j = ask(REPORT_BY_SRC);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "rows")), 2);
	ck_assert_str_eq(report_json_text(j, "rows.0.agent"), "192.0.2.2"); /* surely as long as can be said */
	ck_assert(json_is_null(report_json_at(j, "rows.0.median_ns.high")));
	ck_assert(json_is_null(report_json_at(j, "rows.0.median_ns.estimate")));
	honest = json_array_get(json_object_get(j, "rows"), 1);
	ck_assert(json_equal(honest, json_array_get(json_object_get(before, "rows"), 0)));
	ck_assert(json_equal(json_array_get(json_object_get(j, "depth"), 1), json_array_get(json_object_get(before, "depth"), 0)));
	ck_assert_double_eq(report_json_number(j, "told.most"), 600);
	json_decref(before);
	json_decref(j);
}
END_TEST

/* n samples of the second switch, each from another address if so, of 1, 2, … 1000 ns again and again. */
static void
add_flood(int n, bool of_many)
{
	report_store_sql(&store, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
	    " INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction, input_if, output_if,"
	    " skip, mean_skip, pool_pkts, frame_octets, src_ip, dst_ip, queue, depth_octets, delay_ns)"
	    " SELECT 2, 1, 1, i, %llu + i, 1, 1, 2, 99, 100, 0, 64, %s, x'0a0000ff', NULL, NULL, i %% 1000 + 1 FROM c", n,
	    REPORT_STORE_T0, of_many ? "CAST(char(64 + i / 1000) || substr(printf('%%08d', i), -3) AS BLOB)" : "x'0a000009'");
}

/* Neither its keys nor its samples keep others from being told of. */
START_TEST(a_flood_of_keys_or_samples_hides_nobody)
{
	json_t *before, *j;

	add_ladder(1, 2, 400);
	before = ask(REPORT_BY_SRC);
	add_flood(_i == 0 ? 60000 : 150000, _i == 0);
	j = ask(REPORT_BY_SRC);
	ck_assert_str_eq(report_json_text(j, "rows.0.agent"), "192.0.2.1");
	ck_assert(json_equal(json_array_get(json_object_get(j, "rows"), 0), json_array_get(json_object_get(before, "rows"), 0)));
	if (_i == 1) { /* half of them were taken */
		ck_assert_double_eq(report_json_number(j, "rows.1.samples"), 150000);
		ck_assert_double_eq(report_json_number(j, "rows.1.highest_ns"), 1000);
		ck_assert_double_eq_tol(report_json_number(j, "rows.1.p95_ns.estimate"), 950, 5);
		ck_assert_double_le(report_json_number(j, "rows.1.p95_ns.low"), 950);
		ck_assert_double_ge(report_json_number(j, "rows.1.p95_ns.high"), 950);
	}
	json_decref(before);
	json_decref(j);
}
END_TEST

START_TEST(a_filter_and_top)
{
	struct report_options options = report_store_options();
	json_t *j;

	for (int i = 0; i < 40; i++)
		for (int src = 1; src <= 4; src++)
			add_sample(1, 2, 100, src, "NULL", "NULL", src == 3 ? "9000" : "1000");
	options.by = REPORT_BY_SRC;
	options.top = 1;
	j = report_store_json(&store, "delay", &options);
	ck_assert_str_eq(report_json_text(j, "rows.0.src"), "10.0.0.3");
	ck_assert_double_eq(report_json_number(j, "left_out"), 3);
	json_decref(j);
	options.filter = report_store_filter("src 10.0.0.2");
	j = report_store_json(&store, "delay", &options);
	ck_assert_str_eq(report_json_text(j, "rows.0.src"), "10.0.0.2");
	ck_assert_double_eq(report_json_number(j, "told.samples"), 40);
	json_decref(j);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("delay");
	TCase *tc = tcase_create("delay");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, quantiles_are_order_statistics);
	tcase_add_test(tc, samples_stand_for_their_skip);
	tcase_add_test(tc, few_samples_tell_little);
	tcase_add_test(tc, lines_of_the_guide);
	tcase_add_test(tc, rows_by_queue_and_pair_of_ports);
	tcase_add_test(tc, a_liar_spoils_no_row_of_another);
	tcase_add_loop_test(tc, a_flood_of_keys_or_samples_hides_nobody, 0, 2);
	tcase_add_test(tc, a_filter_and_top);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
