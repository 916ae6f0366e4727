/*
 * RMON against RFC 2819: contents and ends of buckets, the number of buckets granted, hysteresis and
 * the rules for the first reading, deltas over a counter's wrap, what is logged and what is sent, and
 * rows kept over a restart. Runs over the tests' fake device.
 */
#include "agent/rmon/rmon.h"
#include "mibs/mibs.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/agent/state_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000ull

static struct fake_device fake;
static struct hal *hal;
static struct rmon *rmon;
static struct hal_counters_ops counting;
static int64_t watched; /* what the only object holds */
static int watched_error;
static unsigned n_risings, n_fallings;
static int32_t trapped;

/* The fake's totals as RMON's figures. */
static void
derive(const uint64_t *totals, struct hal_counters *c)
{
	c->value[HAL_RMON_OCTETS] = totals[FAKE_TOTAL];
	c->value[HAL_RMON_PKTS] = totals[FAKE_GOOD_IN];
	c->value[HAL_RMON_CRC_ALIGN] = totals[FAKE_CLEARS];
	for (int i = HAL_RMON_DROP_EVENTS; i <= HAL_RMON_1024_MAX; i++)
		c->known |= 1ull << i;
}

static int
read_watched(void *ctx, const struct mib_oid *name, bool fresh, int64_t *value)
{
	(void)ctx;
	(void)name;
	(void)fresh;
	*value = watched;
	return watched_error;
}

static void
count_trap(void *ctx, const struct rmon_alarm *alarm, bool rising)
{
	(void)ctx;
	n_risings += rising;
	n_fallings += !rising;
	trapped = alarm->value;
}

static void
create(void)
{
	struct rmon_options options = {
	    .hal = hal,
	    .clock = &clock_system,
	    .control_table = &rmon_mib_history_control_table,
	    .alarm_table = &rmon_mib_alarm_table,
	    .event_table = &rmon_mib_event_table,
	    .read = read_watched,
	    .trap = count_trap,
	};

	ck_assert_int_eq(rmon_create(&options, &rmon), 0);
}

static void
setup(void)
{
	fake_init(&fake, 2);
	counting = *fake.device.counters;
	counting.derive = derive;
	fake.device.counters = &counting;
	ck_assert_int_eq(hal_create(&fake.device, &clock_system, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
	watched = 0;
	watched_error = 0;
	n_risings = n_fallings = 0;
	create();
}

static void
teardown(void)
{
	rmon_destroy(rmon);
	hal_stop(hal);
	hal_destroy(hal);
}

static void
add_control(uint32_t index, uint32_t if_index, uint32_t buckets, uint32_t interval_s)
{
	struct rmon_control row = {.index = index, .buckets_requested = buckets,
	    .interval_s = interval_s, .status = ENTRY_VALID,
	    .source = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 1, if_index)};

	ck_assert_int_eq(managed_add(rmon_managed(rmon)[0], &row), 0);
}

/* The bucket of a control row and sample index as published. */
static const struct rmon_bucket *
bucket(const struct rmon_tables *tables, uint32_t control, uint32_t sample)
{
	for (size_t i = 0; i < tables->n_buckets; i++) {
		if (tables->buckets[i].control == control && tables->buckets[i].sample == sample)
			return &tables->buckets[i];
	}
	return NULL;
}

static void
count_frames(uint32_t port, uint64_t pkts, uint64_t octets)
{
	fake.ports[port].raw[FAKE_GOOD_IN] += pkts;
	fake.ports[port].raw[FAKE_TOTAL] += octets;
}

static uint32_t
if_index(size_t port)
{
	return hal_port_if_index(hal, port);
}

START_TEST(buckets_hold_what_their_interval_counted)
{
	const struct rmon_tables *tables;

	add_control(1, if_index(0), 3, 10);
	add_control(2, if_index(1), 3, 20);
	count_frames(0, 1000, 64000); /* before the start: nobody's */
	rmon_changed(rmon, 100 * SECOND);
	ck_assert_uint_eq(rmon_next_us(rmon), 110 * SECOND);
	for (uint64_t i = 1; i <= 5; i++) {
		count_frames(0, i, 100 * i);
		count_frames(1, 10, 1000);
		rmon_run(rmon, (100 + 10 * i) * SECOND);
	}
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_buckets, 3 + 2); /* five and two; three kept */
	ck_assert_ptr_null(bucket(tables, 1, 2));
	for (uint32_t i = 3; i <= 5; i++) {
		ck_assert_uint_eq(bucket(tables, 1, i)->counts[RMON_PKTS], i);
		ck_assert_uint_eq(bucket(tables, 1, i)->counts[RMON_OCTETS], 100 * i);
	}
	ck_assert_uint_eq(bucket(tables, 2, 1)->counts[RMON_PKTS], 20);
	ck_assert_uint_eq(bucket(tables, 2, 2)->counts[RMON_OCTETS], 2000);
	ck_assert_uint_eq(rmon_next_us(rmon), 160 * SECOND);
	rmon_tables_release(tables);
}
END_TEST

/* (9.6 + 6.4) us a packet and 0.8 us an octet at 10 Mb/s, in hundredths of a percent. */
START_TEST(utilization_is_the_rfcs)
{
	struct hal_port port;
	const struct rmon_tables *tables;
	double expected;

	ck_assert_int_eq(hal_port_info(hal, if_index(0), &port), 0);
	add_control(1, if_index(0), 3, 10);
	rmon_changed(rmon, 0);
	count_frames(0, 20000, 1280000);
	rmon_run(rmon, 10 * SECOND);
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	expected = (20000 * 16.0 + 1280000 * 0.8) / (10 * 10000) * 100 * 10e6 /
	    (double)port.speed_bps;
	ck_assert_uint_eq(bucket(tables, 1, 1)->utilization, (uint32_t)(expected + 0.5));
	rmon_tables_release(tables);
}
END_TEST

START_TEST(a_step_of_the_clock_leaves_a_gap)
{
	const struct rmon_tables *tables;

	add_control(1, if_index(0), 10, 10);
	rmon_changed(rmon, 0);
	count_frames(0, 1, 64);
	rmon_run(rmon, 10 * SECOND);
	count_frames(0, 2, 128);
	rmon_run(rmon, 57 * SECOND); /* intervals 3, 4 and 5 never came to their end */
	count_frames(0, 4, 256);
	rmon_run(rmon, 60 * SECOND);
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_buckets, 3);
	ck_assert_uint_eq(bucket(tables, 1, 1)->counts[RMON_PKTS], 1);
	ck_assert_uint_eq(bucket(tables, 1, 2)->counts[RMON_PKTS], 2);
	ck_assert_uint_eq(bucket(tables, 1, 6)->counts[RMON_PKTS], 4);
	ck_assert_uint_eq(stat_get(rmon_stats(rmon), RMON_STAT_BUCKETS_MISSED), 3);
	rmon_tables_release(tables);
}
END_TEST

START_TEST(no_more_is_granted_than_there_is)
{
	const struct rmon_tables *tables;
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= 70; i++)
		add_control(i, if_index(0), i == 1 ? 5 : 65535, 10);
	rmon_changed(rmon, 0);
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->controls[0].buckets_granted, 5);
	ck_assert_uint_eq(tables->controls[1].buckets_granted, RMON_BUCKETS_MAX);
	for (size_t i = 0; i < tables->n_controls; i++)
		sum += tables->controls[i].buckets_granted;
	ck_assert_uint_eq(sum, RMON_BUCKETS_TOTAL);
	rmon_tables_release(tables);
}
END_TEST

START_TEST(a_deleted_row_has_no_buckets)
{
	const struct rmon_tables *tables;
	struct managed_table *controls = rmon_managed(rmon)[0];
	uint32_t one = 1;

	add_control(1, if_index(0), 3, 10);
	add_control(2, if_index(0), 3, 10);
	rmon_changed(rmon, 0);
	rmon_run(rmon, 10 * SECOND);
	managed_remove(controls, managed_find(controls, &one, 1));
	rmon_changed(rmon, 11 * SECOND);
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_controls, 1);
	ck_assert_uint_eq(tables->n_buckets, 1);
	ck_assert_uint_eq(tables->buckets[0].control, 2);
	ck_assert_uint_eq(rmon_next_us(rmon), 20 * SECOND); /* the other goes on as it was */
	rmon_tables_release(tables);
}
END_TEST

START_TEST(default_controls)
{
	const struct rmon_tables *tables;

	rmon_add_default_controls(rmon);
	rmon_changed(rmon, 0);
	ck_assert_uint_eq(rmon_next_us(rmon), 30 * SECOND);
	rmon_add_default_controls(rmon); /* they are there */
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_controls, 4);
	rmon_tables_release(tables);
}
END_TEST

/* ---- alarms ---- */

static void
add_event(uint32_t index, enum rmon_event_type type)
{
	struct rmon_event row = {.index = index, .type = (uint8_t)type, .status = ENTRY_VALID};

	ck_assert_int_eq(managed_add(rmon_managed(rmon)[2], &row), 0);
}

static void
add_alarm(enum rmon_sample_type type, enum rmon_startup startup, int32_t rising, int32_t falling)
{
	struct rmon_alarm row = {.index = 1, .interval_s = 1, .sample_type = (uint8_t)type,
	    .startup = (uint8_t)startup, .rising = rising, .falling = falling, .rising_event = 1,
	    .falling_event = 2, .variable = MIB_OID(1, 3, 6), .status = ENTRY_VALID};

	ck_assert_int_eq(managed_add(rmon_managed(rmon)[1], &row), 0);
}

/* Runs the object through values, one a period, and writes down when a trap was sent: + or -. */
static void
run_through(const int64_t *values, size_t n, char *told)
{
	rmon_changed(rmon, 0);
	for (size_t i = 0; i < n; i++) {
		unsigned risings = n_risings, fallings = n_fallings;

		watched = values[i];
		rmon_run(rmon, (i + 1) * SECOND);
		told[i] = n_risings > risings ? '+' : n_fallings > fallings ? '-' : '.';
	}
	told[n] = '\0';
}

START_TEST(hysteresis)
{
	/* over, still over, between, over again: once; under, between, under: once; over */
	static const int64_t values[] = {5, 10, 12, 7, 11, 3, 2, 7, 3, 10, 3};
	char told[16];

	add_event(1, RMON_EVENT_TRAP);
	add_event(2, RMON_EVENT_TRAP);
	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_EITHER, 10, 3);
	run_through(values, 11, told);
	ck_assert_str_eq(told, ".+...-...+-");
}
END_TEST

/* alarmStartupAlarm decides about the first value only. */
START_TEST(startup)
{
	static const struct {
		enum rmon_startup startup;
		int64_t values[4];
		const char *told;
	} cases[] = {
	    {RMON_STARTUP_RISING, {20, 0, 20, 0}, "+-+-"},
	    {RMON_STARTUP_RISING, {0, 20, 0, 20}, ".+-+"},
	    {RMON_STARTUP_FALLING, {20, 0, 20, 0}, ".-+-"},
	    {RMON_STARTUP_FALLING, {0, 20, 0, 20}, "-+-+"},
	    {RMON_STARTUP_EITHER, {0, 0, 20, 20}, "-.+."},
	    {RMON_STARTUP_RISING, {5, 0, 0, 20}, ".-.+"},
	};
	char told[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rmon_destroy(rmon);
		create();
		add_event(1, RMON_EVENT_TRAP);
		add_event(2, RMON_EVENT_TRAP);
		add_alarm(RMON_ABSOLUTE, cases[i].startup, 10, 3);
		run_through(cases[i].values, 4, told);
		ck_assert_msg(strcmp(told, cases[i].told) == 0, "case %zu: %s", i, told);
	}
}
END_TEST

START_TEST(deltas_over_a_wrap)
{
	static const int64_t values[] = {4294967290ll, 4, 5, 105, 100};
	char told[8];

	add_event(1, RMON_EVENT_TRAP);
	add_event(2, RMON_EVENT_TRAP);
	add_alarm(RMON_DELTA, RMON_STARTUP_EITHER, 10, -4);
	watched = 4294967280ll; /* the reading at the start */
	run_through(values, 5, told);
	ck_assert_str_eq(told, "+...-"); /* 10, 10, 1, 100, -5: not again before -4 */
	ck_assert_int_eq(trapped, -5);
}
END_TEST

START_TEST(log_and_trap_as_the_event_says)
{
	static const int64_t values[] = {20, 0, 20, 0, 20};
	const struct rmon_tables *tables;
	struct managed_table *events = rmon_managed(rmon)[2];
	uint32_t one = 1;
	char told[8];

	add_event(1, RMON_EVENT_LOG);
	add_event(2, RMON_EVENT_NONE);
	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_EITHER, 10, 3);
	run_through(values, 5, told);
	ck_assert_str_eq(told, ".....");
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_logs, 3);
	ck_assert_uint_eq(tables->logs[2].index, 3);
	ck_assert_str_eq(tables->logs[0].description, "alarm 1 rises: 1.3.6 = 20, >= 10");
	ck_assert_uint_gt(tables->events[0].sent_mono_us, 0);
	ck_assert_uint_gt(tables->events[1].sent_mono_us, 0);
	ck_assert_int_eq(tables->alarms[0].value, 20);
	rmon_tables_release(tables);
	managed_remove(events, managed_find(events, &one, 1));
	rmon_changed(rmon, 6 * SECOND);
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_logs, 0); /* they go with their event */
	rmon_tables_release(tables);
}
END_TEST

START_TEST(the_log_has_an_end)
{
	const struct rmon_tables *tables;

	add_event(1, RMON_EVENT_LOG);
	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_EITHER, 10, 3);
	rmon_changed(rmon, 0);
	for (uint64_t i = 1; i <= 2 * (RMON_LOGS_MAX + 10); i++) {
		watched = i % 2 ? 20 : 0;
		rmon_run(rmon, i * SECOND);
	}
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_logs, RMON_LOGS_MAX);
	ck_assert_uint_eq(tables->logs[0].index, 11);
	ck_assert_uint_eq(stat_get(rmon_stats(rmon), RMON_STAT_LOGS_DROPPED), 10);
	rmon_tables_release(tables);
}
END_TEST

START_TEST(an_alarm_whose_variable_vanishes_is_deleted)
{
	void *rows;

	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_EITHER, 10, 3);
	rmon_changed(rmon, 0);
	rmon_run(rmon, 1 * SECOND);
	ck_assert_uint_eq(managed_rows(rmon_managed(rmon)[1], &rows), 1);
	watched_error = -ENOENT;
	rmon_run(rmon, 2 * SECOND);
	ck_assert_uint_eq(managed_rows(rmon_managed(rmon)[1], &rows), 0);
	ck_assert_uint_eq(rmon_next_us(rmon), UINT64_MAX);
	ck_assert_uint_eq(stat_get(rmon_stats(rmon), RMON_STAT_ALARMS_GONE), 1);
}
END_TEST

/* ---- over a restart ---- */

START_TEST(rows_are_kept)
{
	struct managed_table *const *managed = rmon_managed(rmon);
	struct rmon_event event = {.index = 7, .type = RMON_EVENT_BOTH, .description = "a \"b\"",
	    .status = ENTRY_UNDER_CREATION};
	const struct rmon_alarm *alarm;
	struct state_rig rig;
	uint32_t one = 1, seven = 7;

	state_rig_open(&rig, managed, RMON_N_MANAGED);
	add_control(3, if_index(1), 9, 60);
	add_alarm(RMON_DELTA, RMON_STARTUP_FALLING, 10, -3);
	ck_assert_int_eq(managed_add(managed[2], &event), 0);
	state_rig_stop(&rig);
	rmon_destroy(rmon);
	create();
	managed = rmon_managed(rmon);
	state_rig_start(&rig, managed, RMON_N_MANAGED);
	rmon_changed(rmon, 0);
	ck_assert_uint_eq(rmon_next_us(rmon), 1 * SECOND);
	alarm = managed_find(managed[1], &one, 1);
	ck_assert_int_eq(alarm->falling, -3);
	ck_assert_uint_eq(alarm->startup, RMON_STARTUP_FALLING);
	ck_assert_uint_eq(alarm->variable.n, 3);
	ck_assert_str_eq(((struct rmon_event *)managed_find(managed[2], &seven, 1))->description,
	    "a \"b\"");
	ck_assert(!managed_is_active(managed[2], managed_find(managed[2], &seven, 1)));
	ck_assert_ptr_nonnull(managed_find(managed[0], (uint32_t[]){3}, 1));
	state_rig_stop(&rig);
	/* No OID: refused, not believed. */
	state_rig_sql(&rig, "UPDATE cell SET value = 'seven' WHERE tab = 'historyControlTable' AND subid = 2");
	rmon_destroy(rmon);
	create();
	state_rig_start(&rig, rmon_managed(rmon), RMON_N_MANAGED);
	ck_assert_ptr_null(managed_find(rmon_managed(rmon)[0], (uint32_t[]){3}, 1));
	state_rig_close(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rmon");
	TCase *history = tcase_create("history"), *alarm = tcase_create("alarm");

	tcase_add_checked_fixture(history, setup, teardown);
	tcase_add_test(history, buckets_hold_what_their_interval_counted);
	tcase_add_test(history, utilization_is_the_rfcs);
	tcase_add_test(history, a_step_of_the_clock_leaves_a_gap);
	tcase_add_test(history, no_more_is_granted_than_there_is);
	tcase_add_test(history, a_deleted_row_has_no_buckets);
	tcase_add_test(history, default_controls);
	suite_add_tcase(suite, history);
	tcase_add_checked_fixture(alarm, setup, teardown);
	tcase_add_test(alarm, hysteresis);
	tcase_add_test(alarm, startup);
	tcase_add_test(alarm, deltas_over_a_wrap);
	tcase_add_test(alarm, log_and_trap_as_the_event_says);
	tcase_add_test(alarm, the_log_has_an_end);
	tcase_add_test(alarm, an_alarm_whose_variable_vanishes_is_deleted);
	tcase_add_test(alarm, rows_are_kept);
	suite_add_tcase(suite, alarm);
	return suite_run(suite);
}
