/*
 * easetop audit over stores filled by SQL: samplers that were drawn here, so that what each does is known. What is
 * statistics is in tests/collector/estimate/check_audit.c; here stands how a port's samples, counters and accounts
 * come from the store, what a row says, where lists say that loss follows load, and which ports look like uplinks.
 */
#include "collector/judge.h"
#include "collector/record.h"
#include "collector/report/verdicts.h"
#include "collector/source_port.h"
#include "collector/window/sequence_tracker.h"
#include "collector/store/tables.h"
#include "collector/store/upkeep.h"
#include "tests/collector/report/report_store.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include "agent/sampling/skip.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MINUTES = 10, FRAMES_S = 1000, MEAN = 50, SFLOW_BOOT = 1700000000, UNKNOWN_POOL = -1 };

static struct report_store store;
static struct skip_stream stream;

/* What a port's sampler does. */
struct port {
	int agent, if_index;
	long boot;
	double passes; /* part of the counted frames that reach the sampler */
	bool every_nth, no_pool;
	const char *mac;
	unsigned before; /* the number before its first sample */
};

static void
setup(void)
{
	report_store_make(&store);
	skip_stream_seed(&stream, 7);
	report_store_agent(&store, 1, MINUTES * 60);
	report_store_agent(&store, 2, MINUTES * 60);
	report_store_sql(&store, "UPDATE agent SET boot = %d WHERE id = 2", SFLOW_BOOT);
}

static void
teardown(void)
{
	report_store_remove(&store);
}

static void
count(const struct port *p, int second, double frames, unsigned sequence)
{
	unsigned long long at_us = REPORT_STORE_T0 + (unsigned long long)second * SECOND;
	double pool = p->boot < SFLOW_BOOT ? frames * p->passes : frames;

	report_store_sql(&store, "INSERT INTO counter VALUES(%d, %d, %llu, %ld, %llu, %.0f, %.0f, 0, 0, 0, 0,"
	    " 0, 0, 0, 0, 0, 0, 0, 0, %u, %.0f, 0, 0, 0, 0)", p->agent, p->if_index, at_us, p->boot, at_us + 1000,
	    700 * frames, frames, sequence, pool);
}

static void
sample(const struct port *p, unsigned sequence, double second, double pool, unsigned period)
{
	bool is_sflow = p->boot >= SFLOW_BOOT;

	report_store_sql(&store, "INSERT INTO sample VALUES(%d, %ld, %d, %u, %.0f, 1, %d, 0, %u, %d, %lld, 700, x'%s',"
	    " x'0200000000ff', NULL, 2048, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)", p->agent, p->boot,
	    p->if_index, sequence, (double)REPORT_STORE_T0 + 1e6 * second, p->if_index, is_sflow ? MEAN - 1 : period - 1,
	    MEAN, p->no_pool ? INT64_MAX : (long long)pool, p->mac ? p->mac : "0200000000ee");
}

static unsigned
next_period(const struct port *p)
{
	bool partial;

	return p->every_nth ? MEAN : 1 + skip_draw(&stream, SAMPLING_GEOMETRIC, MEAN, 1 << 20, &partial);
}

static void
add_account(const struct port *p, int samples, unsigned minutes)
{
	report_store_sql(&store, "INSERT INTO account VALUES(%d, %ld, %d, %d, %d, 0, 0, 0, 0, 0, 0, %llu, %llu, NULL,"
	    " NULL, 0)", p->agent, p->boot, p->if_index, samples, samples, REPORT_STORE_T0,
	    REPORT_STORE_T0 + minutes * MINUTE);
}

/* Ten minutes of 1,000 frames a second, counted each 20 s. */
static void
add(const struct port *p)
{
	double frames = MINUTES * 60.0 * FRAMES_S, reached = 0;
	unsigned period = next_period(p);
	int sequence = 0, counted = 0;
	char name[16];

	snprintf(name, sizeof(name), "e-%d", p->if_index);
	report_store_port(&store, p->agent, p->if_index, name, 1);
	report_store_sql_text(&store, "BEGIN");
	for (reached = period; reached < frames * p->passes; period = next_period(p), reached += period) {
		for (; counted * FRAMES_S * p->passes < reached; counted += 20)
			count(p, counted, (double)counted * FRAMES_S, p->before + (unsigned)sequence);
		sample(p, p->before + (unsigned)++sequence, reached / p->passes / FRAMES_S, reached, period);
	}
	for (int minute = 0; minute < MINUTES; minute++) {
		report_store_window(&store, minute, p->agent, p->if_index, 60 * FRAMES_S, 60 * FRAMES_S * 700);
		report_store_samples(&store, minute, p->agent, p->if_index, sequence / MINUTES, MEAN, 700, 1,
		    p->mac ? p->mac : "0200000000ee", "0200000000ff");
	}
	add_account(p, sequence, MINUTES);
	report_store_sql_text(&store, "COMMIT");
}

static json_t *
ask(void)
{
	struct report_options options = report_store_options();

	return report_store_json(&store, "audit", &options);
}

static const char *
text_of(const json_t *j, int row, const char *field)
{
	char path[64];

	snprintf(path, sizeof(path), "rows.%d.%s", row, field);
	return report_json_text(j, path);
}

static double
number_of(const json_t *j, int row, const char *field)
{
	char path[64];

	snprintf(path, sizeof(path), "rows.%d.%s", row, field);
	return report_json_number(j, path);
}

START_TEST(each_port_has_its_verdict)
{
	const struct port ports[] = {
	    {1, 1, 1, 1, false, false, NULL, 0},
	    {1, 2, 1, 0.6, false, false, NULL, 0},
	    {1, 3, 1, 1, true, false, NULL, 0},
	    {2, 1, SFLOW_BOOT, 1, false, false, NULL, 0},
	    {2, 2, SFLOW_BOOT, 0.6, false, false, NULL, 0},
	    {2, 3, SFLOW_BOOT, 1, false, true, NULL, 0},
	};
	json_t *j;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		add(&ports[i]);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "verdict"), "sound");
	ck_assert_str_eq(text_of(j, 0, "faults"), "");
	ck_assert_str_eq(text_of(j, 0, "spacing"), "geometric");
	ck_assert_str_eq(text_of(j, 0, "trust_for"), "shares, limits, samples x rate, losses, times");
	ck_assert_double_eq_tol(number_of(j, 0, "of_counted.estimate"), 1, 0.05);
	ck_assert_double_eq_tol(number_of(j, 0, "effective.estimate"), MEAN, 2);
	ck_assert_double_eq_tol(number_of(j, 0, "clock_ahead_s"), -0.001, 1e-6);

	ck_assert_str_eq(text_of(j, 1, "faults"), "filtered rate");
	ck_assert_str_eq(text_of(j, 1, "verdict"), "its pool has 60% of the frames that the port counted");
	ck_assert_str_eq(text_of(j, 1, "not_for"), "shares, limits, samples x rate");
	ck_assert_double_eq_tol(number_of(j, 1, "of_counted.estimate"), 0.6, 0.03);

	ck_assert_str_eq(text_of(j, 2, "verdict"), "takes every Nth frame, N = 50");
	ck_assert_str_eq(text_of(j, 2, "not_for"), "limits");

	ck_assert_str_eq(text_of(j, 3, "verdict"), "sound");
	ck_assert_str_eq(text_of(j, 4, "faults"), "filtered rate");
	ck_assert_str_eq(text_of(j, 5, "faults"), "pool-not-counted");
	ck_assert_str_eq(text_of(j, 5, "not_for"), "losses");

	ck_assert_str_eq(text_of(j, 6, "port"), "all ports");
	ck_assert_double_eq_tol(number_of(j, 6, "of_counted.estimate"), 5.2 / 6, 0.02);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "rows")), 7);
	json_decref(j);
}
END_TEST

/* As the kernel's sampling, which tells no skips: the MIB wants the mean then. */
START_TEST(a_mean_is_no_skip)
{
	const struct port ports[] = {{1, 1, 1, 1, false, false, NULL, 0}, {1, 2, 1, 1, true, false, NULL, 0}};
	json_t *j;

	add(&ports[0]);
	add(&ports[1]);
	report_store_sql_text(&store, "UPDATE sample SET skip = mean_skip - 1");
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "verdict"), "sound");
	ck_assert_str_eq(text_of(j, 0, "spacing"), "geometric");
	ck_assert_str_eq(text_of(j, 1, "verdict"), "takes every Nth frame, N = 50");
	json_decref(j);
}
END_TEST

/* The port of a made-up pool has no counters: whether its samples x rate are right cannot be known. */
START_TEST(what_was_not_compared_is_not_trusted)
{
	const struct port p = {2, 3, SFLOW_BOOT, 1, false, true, NULL, 0};
	json_t *j;

	add(&p);
	report_store_sql_text(&store, "DELETE FROM counter");
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "verdict"), "no counters to compare with");
	ck_assert_str_eq(text_of(j, 0, "faults"), "pool-not-counted");
	ck_assert(json_is_null(report_json_at(j, "rows.0.trust_for")));
	json_decref(j);
}
END_TEST

/* A tenth of what passed found the skip counter empty: no fault of the rate, and told. */
START_TEST(stalls_are_not_the_rate)
{
	const struct port p = {1, 1, 1, 1, false, false, NULL, 0};
	json_t *j;

	add(&p);
	report_store_sql_text(&store, "UPDATE counter SET stalled_pkts = in_ucast / 9, in_ucast = in_ucast * 10 / 9,"
	    " in_octets = in_octets * 10 / 9, pool_in = pool_in * 10 / 9");
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "faults"), "");
	ck_assert_str_eq(text_of(j, 0, "verdict"),
	    "sound; its skip counter stood empty for 10% of the frames: a larger skip samples them, too");
	ck_assert_double_eq_tol(number_of(j, 0, "of_counted.estimate"), 1, 0.05);
	ck_assert_str_eq(text_of(j, 0, "not_for"), "shares"); /* whose the rest was nobody knows */
	json_decref(j);
}
END_TEST

/* A tenth of the samples got no number, because the switch dropped it, and says so: no fault of the rate, and told. */
START_TEST(dropped_samples_are_not_the_rate)
{
	const struct port p = {2, 1, SFLOW_BOOT, 0.9, false, true, NULL, 0};
	json_t *j;

	add(&p);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "faults"), "rate pool-not-counted");
	json_decref(j);
	report_store_sql_text(&store, "UPDATE account SET dropped_apart = received / 9");
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "faults"), "pool-not-counted");
	ck_assert_ptr_nonnull(strstr(text_of(j, 0, "verdict"), "its pool is no count of its frames; it dropped 10% of its samples, by its word"));
	ck_assert_str_eq(text_of(j, 0, "not_for"), "samples x rate, losses");
	json_decref(j);
}
END_TEST

/* What was measured in place of a rate that cannot be is nothing that the switch says. */
START_TEST(rates_that_cannot_be_are_not_stated)
{
	const struct port p = {1, 1, 1, 1, false, false, NULL, 0};
	json_t *j;

	add(&p);
	report_store_sql(&store, "INSERT INTO oddity SELECT agent, if_index, %d, 1000000, min(time_us), max(time_us) FROM sample"
	    " GROUP BY agent, if_index", EASE_ODD_RATE);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "not_for"), "samples x rate");
	ck_assert(json_is_null(json_object_get(json_array_get(json_object_get(j, "rows"), 0), "stated")));
	json_decref(j);
}
END_TEST

/* One of several sub-agents that sample a port has a part of its frames; and numbers that leap tell nothing of losses. */
START_TEST(who_has_a_part_or_numbers_that_leap_is_not_accused)
{
	const struct port ports[] = {{2, 1, SFLOW_BOOT, 0.25, false, false, NULL, 0}, {2, 2, SFLOW_BOOT, 1, false, false, NULL, 0},
	    {2, 3, SFLOW_BOOT, 1, false, false, NULL, 0}, {2, 4, SFLOW_BOOT, 1, false, false, NULL, 0}};
	json_t *j;

	for (int i = 0; i < 4; i++)
		add(&ports[i]);
	report_store_sql(&store, "INSERT INTO account SELECT agent, boot, %llu, expected, received, 0, 0, 0, 0, 0, 0, first_us, last_us,"
	    " NULL, NULL, 0 FROM account WHERE if_index = 1", (unsigned long long)source_port_of_further(3, 1, 1));
	report_store_sql(&store, "INSERT INTO oddity VALUES(2, 2, %d, 900, %llu, %llu)", EASE_ODD_NUMBERS, REPORT_STORE_T0, REPORT_STORE_T0);
	report_store_sql(&store, "INSERT INTO oddity VALUES(2, 3, %d, 9, %llu, %llu)", EASE_ODD_NUMBERS, REPORT_STORE_T0, REPORT_STORE_T0);
	report_store_sql(&store, "INSERT INTO oddity VALUES(2, 4, %d, 900, %llu, %llu)", EASE_ODD_NUMBERS,
	    REPORT_STORE_T0 - 8640000 * SECOND, REPORT_STORE_T0);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "faults"), "");
	ck_assert_str_eq(text_of(j, 0, "verdict"), "several sub-agents sample it, each a part: not judged");
	ck_assert(json_is_null(report_json_at(j, "rows.0.trust_for")));
	ck_assert_str_eq(text_of(j, 1, "verdict"), "sound; its sample numbers or pool go back or leap, so they tell no losses");
	ck_assert(json_is_null(report_json_at(j, "rows.1.lost_percent")));
	ck_assert_str_eq(text_of(j, 1, "not_for"), "losses");
	ck_assert_str_eq(text_of(j, 2, "verdict"), "sound"); /* a few came twice, */
	ck_assert_str_eq(text_of(j, 3, "verdict"), "sound"); /* and as few within the hour, of all in a hundred days */
	json_decref(j);
}
END_TEST

START_TEST(numbers_may_wrap)
{
	const struct port ports[] = {{1, 1, 1, 1, false, false, NULL, UINT32_MAX - 5000},
	    {2, 1, SFLOW_BOOT, 1, false, false, NULL, UINT32_MAX - 7000}};
	json_t *j;

	for (int i = 0; i < 2; i++)
		add(&ports[i]);
	j = ask();
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(text_of(j, i, "verdict"), "sound");
		ck_assert_str_eq(text_of(j, i, "spacing"), "geometric");
		ck_assert_double_eq(number_of(j, i, "lost_percent"), 0);
		ck_assert_double_eq_tol(number_of(j, i, "of_counted.estimate"), 1, 0.05);
	}
	json_decref(j);
}
END_TEST

START_TEST(a_port_without_samples_is_named)
{
	const struct port sampled = {1, 1, 1, 1, false, false, NULL, 0}, other = {1, 2, 1, 1, false, false, NULL, 0};
	json_t *j;

	add(&sampled);
	report_store_port(&store, 1, 2, "e-2", 1);
	for (int minute = 0; minute < MINUTES; minute++)
		report_store_window(&store, minute, 1, 2, 60 * FRAMES_S, 60 * FRAMES_S * 700);
	count(&other, 0, 0, 0);
	j = ask();
	ck_assert_str_eq(text_of(j, 1, "verdict"), "not sampled");
	ck_assert_str_eq(text_of(j, 2, "port"), "all ports");
	ck_assert_double_eq_tol(number_of(j, 2, "of_counted.estimate"), 0.5, 0.02);
	json_decref(j);
}
END_TEST

/* The account says that so many numbers were given out before the collector first heard of the boot. */
static void
expect_before_contact(unsigned numbers)
{
	uint8_t octets[SEQUENCE_TRACKER_SAVED_OCTETS];
	char text[2 * sizeof(octets) + 1];
	struct sequence_tracker t = {0};

	sequence_tracker_sample(&t, numbers + 1);
	sequence_tracker_save(&t, octets);
	for (size_t i = 0; i < sizeof(octets); i++)
		snprintf(text + 2 * i, 3, "%02x", octets[i]);
	report_store_sql(&store, "UPDATE account SET expected = received + %u, tracker = x'%s'", numbers, text);
}

/* One in 50 of what it receives, and one in 400 of what it sends, in one line of numbers that began before. */
START_TEST(each_direction_has_its_rate)
{
	const struct port p = {2, 5, SFLOW_BOOT, 1, false, true, NULL, 0};
	json_t *j;

	add(&p);
	report_store_sql_text(&store, "UPDATE sample SET sequence = 1000000 + 2 * sequence");
	report_store_sql_text(&store, "CREATE TEMP TABLE sent AS SELECT * FROM sample WHERE sequence % 16 = 0");
	report_store_sql_text(&store, "UPDATE sent SET sequence = sequence + 1, direction = 2, skip = 399, mean_skip = 400");
	report_store_sql_text(&store, "INSERT INTO sample SELECT * FROM sent");
	expect_before_contact(1500);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "verdict"), "sound");
	ck_assert_double_eq_tol(number_of(j, 0, "of_counted.estimate"), 1, 0.05);
	json_decref(j);
}
END_TEST

/* As Open vSwitch: the numbers are of a source of class 2, of which a tenth was lost, and there is no pool. */
START_TEST(numbers_of_a_source)
{
	const struct port p = {2, 5, SFLOW_BOOT, 1, false, true, NULL, 0};
	json_t *j;

	add(&p);
	report_store_sql(&store, "UPDATE account SET if_index = %" PRIu64 ", expected = expected / 0.9",
	    source_port_of_numbers(2, 1000));
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "port"), "e-5");
	ck_assert_double_eq_tol(number_of(j, 0, "lost_percent"), 10, 0.1);
	/* all samples are there, but a tenth is said to be missing */
	ck_assert_double_eq_tol(number_of(j, 0, "of_counted.estimate"), 1 / 0.9, 0.05);
	ck_assert_str_eq(text_of(j, 0, "faults"), "rate");
	json_decref(j);
	report_store_sql_text(&store, "UPDATE account SET expected = received");
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "verdict"), "sound");
	json_decref(j);
	expect_before_contact(1500);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "verdict"), "sound");
	ck_assert_double_eq(number_of(j, 0, "lost_percent"), 0);
	json_decref(j);
	report_store_sql_text(&store, "DELETE FROM sample");
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "verdict"), "its samples are not kept any more");
	json_decref(j);
}
END_TEST

START_TEST(text_is_for_one_screen)
{
	const struct port ports[] = {{1, 1, 1, 1, false, false, NULL, 0}, {1, 2, 1, 1, true, false, NULL, 0}};
	struct report_options options = report_store_options();
	char *text;

	add(&ports[0]);
	add(&ports[1]);
	text = report_store_render(&store, "audit", &options, render_text, 600);
	ck_assert_msg(strstr(text, "  sound ") && strstr(text, "  all\n"), "%s", text);
	ck_assert_msg(strstr(text, "  takes every Nth frame, N = 50  all but limits\n") != NULL, "%s", text);
	ck_assert_msg(strcspn(strchr(text, '\n') + 1, "\n") < 150, "%s", text);
	free(text);
}
END_TEST

/* ---- standing verdicts ---- */

/* As the collector does, at the end of the ten minutes. */
static void
store_verdict(void *arg, int64_t agent, uint64_t if_index, unsigned faults)
{
	int *n_judged = arg;

	(*n_judged)++;
	for (int bit = 0; faults >> bit != 0; bit++)
		if (faults >> bit & 1)
			report_store_sql(&store, "INSERT INTO oddity VALUES(%d, %d, %d, 1, %llu, %llu)", (int)agent,
			    (int)if_index, EASE_ODD_VERDICTS + bit, REPORT_STORE_T0 + MINUTES * MINUTE,
			    REPORT_STORE_T0 + MINUTES * MINUTE);
}

static void
judge(struct verdict_turn *turn)
{
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	report_store_renew(&store);
	ck_assert_msg(query_open(store.newest, &query, error, sizeof(error)) == 0, "%s", error);
	ck_assert_msg(verdicts_judge(query, REPORT_STORE_T0 + MINUTES * MINUTE, turn) == 0, "%s", query->error);
	query_close(query);
}

static json_t *
list_audit(const char *report)
{
	struct report_options options = report_store_options();

	return report_store_json(&store, report, &options);
}

START_TEST(lists_name_ports_that_an_audit_accused)
{
	const struct port ports[] = {{1, 1, 1, 1, false, false, NULL, 0}, {1, 2, 1, 0.6, false, false, NULL, 0},
	    {1, 3, 1, 1, true, false, NULL, 0}, {2, 3, SFLOW_BOOT, 1, false, true, NULL, 0}};
	int n_judged = 0;
	struct verdict_turn turn = {.until_us = UINT64_MAX, .judged = store_verdict, .arg = &n_judged};
	struct report_options options = report_store_options();
	json_t *j;
	char *text;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		add(&ports[i]);
	j = list_audit("talkers");
	ck_assert_ptr_null(json_object_get(j, "audit"));
	json_decref(j);
	judge(&turn);
	ck_assert_int_eq(n_judged, 4);
	for (int i = 0; i < 2; i++) {
		j = list_audit(i == 0 ? "talkers" : "history");
		ck_assert_double_eq(report_json_number(j, "audit.n_ports"), 2); /* neither a sound one nor a made-up pool */
		ck_assert_str_eq(report_json_text(j, "audit.ports.0.port"), "e-2");
		ck_assert_str_eq(report_json_text(j, "audit.ports.0.says"), "samples only a part of its frames");
		ck_assert_str_eq(report_json_text(j, "audit.ports.1.port"), "e-3");
		json_decref(j);
	}
	text = report_store_render(&store, "talkers", &options, render_text, 600);
	ck_assert_msg(strstr(text, "\naudit: 192.0.2.1 e-2 samples only a part of its frames; 192.0.2.1 e-3 takes every Nth"
	    " frame, or repeats its skips: easetop audit\n") != NULL, "%s", text);
	free(text);
	options.filter = report_store_filter("if e-1");
	text = report_store_render(&store, "talkers", &options, render_text, 600);
	ck_assert_msg(strstr(text, "audit:") == NULL, "%s", text);
	free(text);
	report_store_sql_text(&store, "UPDATE oddity SET last_us = last_us - 4500000000"); /* it was sound since */
	j = list_audit("talkers");
	ck_assert_ptr_null(json_object_get(j, "audit"));
	json_decref(j);
}
END_TEST

static void
note_port(void *arg, int64_t agent, uint64_t if_index, unsigned faults)
{
	char *order = arg;

	(void)faults;
	snprintf(order + strlen(order), 16, "%d.%d ", (int)agent, (int)if_index);
}

/* A turn goes on where the one before ended; one that has no time judges nobody. */
START_TEST(ports_are_judged_in_turn)
{
	const struct port ports[] = {{1, 1, 1, 1, false, false, NULL, 0}, {1, 2, 1, 1, false, false, NULL, 0},
	    {2, 1, SFLOW_BOOT, 1, false, false, NULL, 0}};
	char order[64] = "";
	struct verdict_turn turn = {.agent = 1, .if_index = 1, .judged = note_port, .arg = order};

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		add(&ports[i]);
	judge(&turn);
	ck_assert_str_eq(order, "");
	turn.until_us = UINT64_MAX;
	judge(&turn);
	ck_assert_str_eq(order, "1.2 2.1 1.1 ");
	turn.agent = 2;
	judge(&turn);
	ck_assert_str_eq(order, "1.2 2.1 1.1 1.1 1.2 2.1 ");
}
END_TEST

/* A verdict of some turns in a row is one spell; after an hour without it another one begins, and a range between the two
 * is not told of. */
START_TEST(a_verdict_that_went_may_come_back)
{
	const struct port p = {1, 1, 1, 1, false, false, NULL, 0};
	const int found_s[] = {-4 * 3600, -4 * 3600 + 600, -4 * 3600 + 1200, 3 * 3600};
	json_t *j;

	add(&p);
	for (int i = 0; i < 4; i++) {
		unsigned long long at_us = REPORT_STORE_T0 + (uint64_t)(int64_t)found_s[i] * SECOND;

		if (i == 3) {
			j = list_audit("talkers");
			ck_assert_ptr_null(json_object_get(j, "audit"));
			json_decref(j);
		}
		report_store_sql(&store, "INSERT INTO oddity VALUES(1, 1, %d, 1, %llu, %llu)%s", EASE_ODD_VERDICTS, at_us, at_us,
		    store_statements[STORE_ODDITIES].further);
	}
	j = list_audit("talkers");
	ck_assert_ptr_null(json_object_get(j, "audit"));
	json_decref(j);
	report_store_sql(&store, "UPDATE oddity SET first_us = first_us - 2 * %llu", 3600 * SECOND);
	j = list_audit("talkers");
	ck_assert_double_eq(report_json_number(j, "audit.n_ports"), 1);
	json_decref(j);
}
END_TEST

/* Turns follow each other; each that the collector's thread sees gives it the same two ports, as rows when there is
 * room. An hour later they are accused no more. */
START_TEST(the_judge_hands_over_what_it_finds)
{
	const struct port ports[] = {{1, 1, 1, 1, false, false, NULL, 0}, {1, 2, 1, 0.6, false, false, NULL, 0},
	    {1, 3, 1, 1, true, false, NULL, 0}};
	struct clock clock = {.manual = true, .manual_wall_us = REPORT_STORE_T0 + MINUTES * MINUTE};
	const struct judge_config config = {.store = store.newest, .clock = &clock, .every_ms = 1, .lasts_ms = 10000};
	struct store_room room[STORE_N_TABLES] = {[STORE_ODDITIES] = {.free = 2}};
	const struct store_oddity *rows;
	struct store_batch batch;
	struct judge *judge;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		add(&ports[i]);
	report_store_renew(&store);
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	ck_assert_int_eq(judge_open(&judge, &config), 0);
	ck_assert(!judge_accuses(judge, 1, 2));
	for (int i = 0; i < 3000 && batch.rows[STORE_ODDITIES].n == 0; i++, usleep(10000))
		judge_flush(judge, &batch);
	rows = batch.rows[STORE_ODDITIES].items;
	ck_assert_uint_eq(batch.rows[STORE_ODDITIES].n, 2); /* filtered, and its rate; the third row has no room yet */
	for (int i = 0; i < 2; i++)
		ck_assert(rows[i].agent == 1 && rows[i].if_index == 2 && rows[i].last_us == clock.manual_wall_us);
	store_batch_clear(&batch);
	for (int i = 0; i < 3000 && batch.rows[STORE_ODDITIES].n == 0; i++, usleep(10000))
		judge_flush(judge, &batch);
	ck_assert_uint_gt(batch.rows[STORE_ODDITIES].n, 0);
	ck_assert(!judge_accuses(judge, 1, 1));
	ck_assert(judge_accuses(judge, 1, 2) && judge_accuses(judge, 1, 3) && judge_accuses(judge, 1, 0));
	ck_assert(!judge_accuses(judge, 2, 0));
	judge_close(judge);
	store_batch_free(&batch);
}
END_TEST

static void
take_damage(void *arg, uint64_t inode)
{
	atomic_store((_Atomic uint64_t *)arg, inode);
}

/* Between two turns all pages but the first become rubbish. */
START_TEST(the_judge_tells_of_damage)
{
	static const char rubbish[4096] = "no page of a database";
	struct clock clock = {.manual = true, .manual_wall_us = REPORT_STORE_T0 + MINUTES * MINUTE};
	_Atomic uint64_t damaged = 0;
	const struct judge_config config = {.store = store.newest, .clock = &clock, .every_ms = 1, .lasts_ms = 10000,
	    .damaged = take_damage, .damaged_arg = &damaged};
	struct judge *judge;
	struct stat st;
	int fd;

	add(&(struct port){1, 1, 1, 1, false, false, NULL, 0});
	report_store_renew(&store);
	ck_assert_int_eq(judge_open(&judge, &config), 0);
	usleep(50000);
	ck_assert_uint_eq(atomic_load(&damaged), 0);
	fd = open(store.newest, O_WRONLY);
	ck_assert_int_eq(fstat(fd, &st), 0);
	for (off_t at = sizeof(rubbish); at < st.st_size; at += (off_t)sizeof(rubbish))
		ck_assert_int_eq(pwrite(fd, rubbish, sizeof(rubbish), at), (ssize_t)sizeof(rubbish));
	close(fd);
	for (int i = 0; i < 3000 && atomic_load(&damaged) == 0; i++)
		usleep(10000);
	judge_close(judge);
	ck_assert_uint_eq(atomic_load(&damaged), st.st_ino);
}
END_TEST

/* Two switches: hosts aa, bb and cc at the first, dd and ee at the second; each sees those of the other at port 9. */
START_TEST(uplinks_are_found)
{
	static const struct {
		int agent, if_index, n;
		const char *mac;
	} seen[] = {
	    {1, 1, 40, "0200000000aa"}, {1, 2, 40, "0200000000bb"}, {1, 3, 40, "0200000000cc"},
	    {1, 9, 10, "0200000000dd"}, {1, 9, 10, "0200000000ee"},
	    {2, 1, 30, "0200000000dd"}, {2, 2, 30, "0200000000ee"},
	    {2, 9, 20, "0200000000aa"}, {2, 9, 20, "0200000000bb"},
	};
	int n_judged = 0;
	struct verdict_turn turn = {.until_us = UINT64_MAX, .judged = store_verdict, .arg = &n_judged};
	unsigned sequence = 0;
	struct report_options options = report_store_options();
	json_t *j;
	char *text;

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		const struct port p = {seen[i].agent, seen[i].if_index, seen[i].agent == 1 ? 1 : SFLOW_BOOT, 1, false,
		    false, seen[i].mac, 0};
		char name[16];

		snprintf(name, sizeof(name), "e-%d", p.if_index);
		report_store_sql(&store, "INSERT OR IGNORE INTO port VALUES(%d, %d, %llu, 1, '%s', '', 0, 3, 1, 1, 0, 1)",
		    p.agent, p.if_index, REPORT_STORE_T0, name);
		report_store_sql(&store, "INSERT OR IGNORE INTO window VALUES(%llu, %d, %d, 1, 1000, 100000, 0, 0, 0, 0,"
		    " 0, 0, 0, 0)", REPORT_STORE_T0, p.agent, p.if_index);
		for (int k = 0; k < seen[i].n; k++, sequence++)
			sample(&p, sequence, 10 + 0.01 * k, 0, MEAN);
	}
	j = ask();
	ck_assert_uint_eq(json_array_size(report_json_at(j, "uplinks")), 3);
	ck_assert_str_eq(report_json_text(j, "uplinks.0.port"), "e-9");
	ck_assert_str_eq(report_json_text(j, "uplinks.0.option"), "uplink 192.0.2.1 9");
	ck_assert_double_eq(report_json_number(j, "uplinks.0.stations"), 2);
	ck_assert_double_eq(report_json_number(j, "uplinks.0.elsewhere"), 2);
	ck_assert_str_eq(report_json_text(j, "uplinks.1.option"), "uplink 192.0.2.2 9");
	ck_assert_str_eq(report_json_text(j, "uplinks.2.agent"), "all");
	/* 2 of 7 ports of 100,000 octets each */
	ck_assert_double_eq_tol(report_json_number(j, "uplinks.2.counted_twice_percent"), 200.0 / 7, 0.1);
	json_decref(j);
	text = report_store_render(&store, "audit", &options, render_text, 60);
	ck_assert_ptr_nonnull(strstr(text, "uplink 192.0.2.2 9"));
	free(text);
	/* lists say it, once the judge has looked */
	judge(&turn);
	ck_assert_int_eq(n_judged, 2);
	j = list_audit("talkers");
	ck_assert_double_eq(report_json_number(j, "counted_twice.ports"), 2);
	ck_assert_ptr_null(json_object_get(j, "audit"));
	json_decref(j);
	text = report_store_render(&store, "talkers", &options, render_text, 600);
	ck_assert_msg(strstr(text, "\n2 ports look like an uplink: what passed there was counted at other switches, too. easetop audit names"
	    " them; a row \"uplink\" of the file device_names leaves them out.\n") != NULL, "%s", text);
	free(text);
	/* a link aggregate: each of its members sees one station, both together see two */
	report_store_sql_text(&store, "INSERT INTO port SELECT agent, 10, since_us, boot, 'e-10', alias, speed_bps, duplex,"
	    " admin_status, oper_status, 100, edge FROM port WHERE agent = 1 AND if_index = 9");
	report_store_sql_text(&store, "UPDATE port SET lag_parent = 100 WHERE agent = 1 AND if_index = 9");
	report_store_sql_text(&store, "UPDATE sample SET if_index = 10 WHERE agent = 1 AND if_index = 9"
	    " AND src_mac = x'0200000000ee'");
	j = ask();
	ck_assert_uint_eq(json_array_size(report_json_at(j, "uplinks")), 4);
	ck_assert_str_eq(report_json_text(j, "uplinks.0.port"), "e-9");
	ck_assert_str_eq(report_json_text(j, "uplinks.1.port"), "e-10");
	ck_assert_double_eq(report_json_number(j, "uplinks.1.stations"), 2);
	ck_assert_double_eq(report_json_number(j, "uplinks.1.elsewhere"), 2);
	json_decref(j);
	/* once they are told nothing is counted twice */
	report_store_sql_text(&store, "UPDATE port SET edge = 0 WHERE if_index IN (9, 10)");
	j = ask();
	ck_assert_uint_eq(json_array_size(report_json_at(j, "uplinks")), 0);
	json_decref(j);
	j = list_audit("talkers");
	ck_assert_ptr_null(json_object_get(j, "counted_twice"));
	json_decref(j);
}
END_TEST

/* 40 % of the frames do not reach the sampler of the second port. */
START_TEST(lists_say_that_samples_and_counters_differ)
{
	const struct port sound = {.agent = 1, .if_index = 1, .boot = 1, .passes = 1};
	const struct port filtered = {.agent = 1, .if_index = 2, .boot = 1, .passes = 0.6};
	struct report_options options = report_store_options();
	json_t *j;
	char *text;

	add(&sound);
	j = report_store_json(&store, "talkers", &options);
	ck_assert_ptr_null(json_object_get(j, "disagreement"));
	json_decref(j);
	add(&filtered);
	j = report_store_json(&store, "history", &options);
	ck_assert_double_eq(report_json_number(j, "disagreement.octets_counted"), 2 * MINUTES * 60.0 * FRAMES_S * 700);
	ck_assert_double_eq_tol(report_json_number(j, "disagreement.octets_by_samples") /
	    (MINUTES * 60.0 * FRAMES_S * 700), 1.6, 0.03);
	json_decref(j);
	text = report_store_render(&store, "talkers", &options, render_text, 600);
	ck_assert_msg(strstr(text, "\nSamples stand for ") && strstr(text,
	    " Mb/s where 11.2 Mb/s were counted, which is no chance: easetop audit looks for the cause.\n"), "%s", text);
	free(text);
}
END_TEST

enum { LOSSY_MINUTES = 240 };

/* Numbers of a minute, and how many of them are lost: each third minute is busy. */
struct minutes {
	int quiet, busy, lost_quiet, lost_busy;
};
static const struct minutes by_load = {100, 200, 2, 36}, evenly = {100, 200, 7, 14};

static void
lose(int agent, int if_index, const struct minutes *of)
{
	const struct port p = {.agent = agent, .if_index = if_index, .boot = agent == 1 ? 1 : SFLOW_BOOT, .passes = 1};
	char name[16];

	snprintf(name, sizeof(name), "e-%d", if_index);
	report_store_port(&store, agent, if_index, name, 1);
	report_store_sql_text(&store, "BEGIN");
	for (int minute = 0; minute < LOSSY_MINUTES; minute++) {
		bool busy = minute % 3 == 0;
		int expected = busy ? of->busy : of->quiet, lost = busy ? of->lost_busy : of->lost_quiet;

		report_store_window(&store, minute, agent, if_index, expected * MEAN, expected * MEAN * 700);
		report_store_samples(&store, minute, agent, if_index, expected - lost, MEAN, 700, 1, "0200000000ee",
		    "0200000000ff");
		report_store_sql(&store, "UPDATE window_port SET expected = %d WHERE start_us = %llu AND agent = %d AND"
		    " if_index = %d", expected, REPORT_STORE_T0 + (unsigned long long)minute * MINUTE, agent, if_index);
		sample(&p, (unsigned)(100 * minute), 60 * minute + 1, MEAN * 100.0 * minute, MEAN);
	}
	add_account(&p, LOSSY_MINUTES, LOSSY_MINUTES);
	report_store_sql(&store, "UPDATE agent SET last_us = %llu", REPORT_STORE_T0 + LOSSY_MINUTES * MINUTE);
	report_store_sql_text(&store, "COMMIT");
}

START_TEST(loss_by_load_is_a_fault)
{
	json_t *j;

	lose(1, 1, &by_load);
	lose(2, 1, &evenly);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "faults"), "lost-by-load");
	ck_assert_ptr_nonnull(strstr(text_of(j, 0, "verdict"),
	    "more is lost when more passes: 2% at quiet times, 18% at busy ones"));
	ck_assert_str_eq(text_of(j, 0, "not_for"), "shares, limits, samples x rate");
	ck_assert_double_eq_tol(number_of(j, 0, "lost_quiet_percent"), 2, 1e-6);
	ck_assert_double_eq_tol(number_of(j, 0, "lost_busy_percent"), 18, 1e-6);
	ck_assert_str_eq(text_of(j, 1, "faults"), "");
	ck_assert(json_is_null(report_json_at(j, "rows.1.lost_busy_percent")));
	json_decref(j);
}
END_TEST

/* A port that loses evenly beside one that loses nothing: when the first is busy more passes and more is lost at both. */
START_TEST(ports_may_lose_differently)
{
	static const struct minutes much = {100, 300, 20, 60}, nothing = {100, 100, 0, 0};
	json_t *j;

	lose(1, 1, &much);
	lose(1, 2, &nothing);
	j = ask();
	ck_assert_str_eq(text_of(j, 0, "faults"), "");
	ck_assert_str_eq(text_of(j, 1, "faults"), "");
	json_decref(j);
}
END_TEST

/* Adds up longer windows, as the store's thread does. */
static void
settle(void)
{
	struct upkeep upkeep = {.db = NULL};
	sqlite3 *db;
	int more;

	report_store_renew(&store);
	ck_assert_int_eq(sqlite3_open(store.newest, &db), SQLITE_OK);
	ck_assert_int_eq(upkeep_open(&upkeep, db), 0);
	while ((more = upkeep_step(&upkeep, 1000000)) == 1)
		;
	ck_assert_int_eq(more, 0);
	upkeep_close(&upkeep);
	ck_assert_double_gt(sql_number_of(db, "SELECT count(*) FROM part WHERE level > 1"), 0);
	sqlite3_close(db);
}

/* Minutes are looked at where longer windows have been added up, too. */
START_TEST(loss_by_load_is_told_of_settled_windows)
{
	struct report_options options = report_store_options();
	sqlite3 *db;
	json_t *j;

	lose(1, 1, &by_load);
	settle();
	db = store.db;
	ck_assert_int_eq(rename(store.newest, store.path), 0);
	store.db = NULL;
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "lost_by_load.0.port"), "e-1");
	json_decref(j);
	store.db = db;
}
END_TEST

/* A list and a history, at one port and then at its agent as a whole. */
START_TEST(lists_say_where_loss_follows_load)
{
	struct report_options options = report_store_options();
	json_t *j;
	char *text;

	lose(1, 1, &by_load);
	lose(2, 1, &evenly);
	text = report_store_render(&store, "matrix", &options, render_text, 60 * LOSSY_MINUTES);
	ck_assert_msg(strstr(text, "\nMore is lost when more passes: 192.0.2.1 e-1 (2% at quiet times, 18% at busy ones);"
	    " figures of busy times are too low there.\n") != NULL, "%s", text);
	free(text);
	lose(1, 2, &by_load);
	options.step_us = 60 * MINUTE;
	options.by = REPORT_BY_DEFAULT;
	j = report_store_json(&store, "history", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(j, "lost_by_load")), 1);
	ck_assert_str_eq(report_json_text(j, "lost_by_load.0.agent"), "192.0.2.1");
	ck_assert(json_is_null(report_json_at(j, "lost_by_load.0.port")));
	ck_assert_double_eq_tol(report_json_number(j, "lost_by_load.0.lost_busy_percent"), 18, 1e-6);
	json_decref(j);
	/* what is not listed is not looked at, and a list without loss says nothing */
	options.filter = report_store_filter("agent 192.0.2.2");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_ptr_null(json_object_get(j, "lost_by_load"));
	json_decref(j);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("report audit");
	TCase *tc = tcase_create("audit");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_port_has_its_verdict);
	tcase_add_test(tc, a_mean_is_no_skip);
	tcase_add_test(tc, what_was_not_compared_is_not_trusted);
	tcase_add_test(tc, numbers_may_wrap);
	tcase_add_test(tc, stalls_are_not_the_rate);
	tcase_add_test(tc, dropped_samples_are_not_the_rate);
	tcase_add_test(tc, rates_that_cannot_be_are_not_stated);
	tcase_add_test(tc, who_has_a_part_or_numbers_that_leap_is_not_accused);
	tcase_add_test(tc, a_port_without_samples_is_named);
	tcase_add_test(tc, each_direction_has_its_rate);
	tcase_add_test(tc, numbers_of_a_source);
	tcase_add_test(tc, text_is_for_one_screen);
	tcase_add_test(tc, lists_name_ports_that_an_audit_accused);
	tcase_add_test(tc, ports_are_judged_in_turn);
	tcase_add_test(tc, a_verdict_that_went_may_come_back);
	tcase_add_test(tc, the_judge_hands_over_what_it_finds);
	tcase_add_test(tc, the_judge_tells_of_damage);
	tcase_add_test(tc, lists_say_that_samples_and_counters_differ);
	tcase_add_test(tc, loss_by_load_is_a_fault);
	tcase_add_test(tc, ports_may_lose_differently);
	tcase_add_test(tc, lists_say_where_loss_follows_load);
	tcase_add_test(tc, loss_by_load_is_told_of_settled_windows);
	tcase_add_test(tc, uplinks_are_found);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
