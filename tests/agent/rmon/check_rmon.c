/*
 * RMON against RFC 2819: contents and ends of buckets, the number of buckets granted, hysteresis and
 * the rules for the first reading, deltas over a counter's wrap, what is logged and what is sent, and
 * rows kept over a restart. Runs over the tests' fake device.
 */
#include "agent/rmon/rmon.h"
#include "agent/standard_monitor.h"
#include "common/log.h"
#include "mibs/mib_set.h"
#include "mibs/mibs.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/agent/state_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000ull

static struct fake_device fake;
static struct hal *hal;
static struct rmon *rmon;
static struct standard_monitor *monitor; /* of the one test in which it owns what RMON there is */
static struct hal_counters_ops counting;
static struct rmon_reading watched; /* what the only object holds */
static int watched_error;
static unsigned n_risings, n_fallings, n_rows_removed;
static struct rmon_crossing crossed; /* the latest */

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
read_watched(void *ctx, const struct mib_oid *name, bool fresh, struct rmon_reading *reading)
{
	(void)ctx;
	(void)name;
	(void)fresh;
	*reading = watched;
	return watched_error;
}

static void
count_trap(void *ctx, const struct rmon_crossing *crossing)
{
	(void)ctx;
	n_risings += crossing->rising;
	n_fallings += !crossing->rising;
	crossed = *crossing;
}

static void
count_removed(void *ctx)
{
	(void)ctx;
	n_rows_removed++;
}

static void
on_port(void *ctx, const struct hal_port_event *event)
{
	(void)ctx;
	if (rmon)
		rmon_port(rmon, event);
	else
		standard_monitor_port(monitor, event);
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
	    .hc_alarm_table = &hc_alarm_mib_table,
	    .rows_removed = count_removed,
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
	hal_set_listener(hal, &(struct hal_listener){.port = on_port});
	ck_assert_int_eq(hal_start(hal), 0);
	watched = (struct rmon_reading){.syntax = MIB_INTEGER};
	watched_error = 0;
	n_risings = n_fallings = n_rows_removed = 0;
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

/* The newest tables. The caller releases them. */
static const struct rmon_tables *
published(void)
{
	rmon_publish(rmon);
	return rmon_tables_hold(rmon);
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
	tables = published();
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
	tables = published();
	expected = (20000 * 16.0 + 1280000 * 0.8) / (10 * 10000) * 100 * 10e6 /
	    (double)port.speed_bps;
	ck_assert_uint_eq(bucket(tables, 1, 1)->utilization, (uint32_t)(expected + 0.5));
	rmon_tables_release(tables);
}
END_TEST

/* A driver that counts packets, but no collisions. */
static uint64_t
knows_no_collisions(void *ctx, uint32_t index)
{
	(void)ctx;
	(void)index;
	return ~(1ull << HAL_RMON_COLLISIONS);
}

START_TEST(what_a_port_does_not_count_is_absent)
{
	const struct rmon_tables *tables;

	counting.known = knows_no_collisions;
	add_control(1, if_index(0), 3, 10);
	rmon_changed(rmon, 0);
	rmon_run(rmon, 10 * SECOND);
	tables = published();
	ck_assert_uint_eq(bucket(tables, 1, 1)->known,
	    ((1u << RMON_N_HISTORY_FIGURES) - 1) & ~(1u << RMON_COLLISIONS));
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
	tables = published();
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
	tables = published();
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
	tables = published();
	ck_assert_uint_eq(tables->n_controls, 1);
	ck_assert_uint_eq(tables->n_buckets, 1);
	ck_assert_uint_eq(tables->buckets[0].control, 2);
	ck_assert_uint_eq(rmon_next_us(rmon), 20 * SECOND); /* the other goes on as it was */
	rmon_tables_release(tables);
}
END_TEST

/* ---- the life of a port ---- */

/* The second port leaves or comes. Its hardware counts from 0 when it comes. */
static void
plug(bool in)
{
	fake.n_ports = in ? 2 : 1;
	fake.ports[1] = (struct fake_port){.oper_status = EASE_IF_UP};
	hal_report_port_changed(hal, if_index(0)); /* whichever it names */
}

/* Away in the middle of an interval, over an end, and back in the middle of another one. */
START_TEST(no_bucket_is_over_an_absence)
{
	static const struct {
		bool here;    /* in the second half of the interval */
		uint64_t pkts; /* in that half, if the port is here */
		bool whole;   /* the interval has a bucket */
	} intervals[] = {{true, 7, true}, {false, 0, false}, {false, 0, false}, {true, 5, false},
	    {true, 3, true}};
	enum { N = sizeof(intervals) / sizeof(intervals[0]) };
	const struct rmon_tables *tables;
	bool here = true;

	count_frames(1, 1000000, 64000000);
	add_control(1, if_index(1), 10, 10);
	rmon_changed(rmon, 0);
	for (uint32_t i = 0; i < N; i++) {
		if (intervals[i].here != here)
			plug(here = intervals[i].here);
		count_frames(1, intervals[i].pkts, 100 * intervals[i].pkts);
		rmon_run(rmon, (i + 1) * 10 * SECOND);
	}
	tables = published();
	for (uint32_t i = 0; i < N; i++) {
		const struct rmon_bucket *b = bucket(tables, 1, i + 1);

		ck_assert_msg((b != NULL) == intervals[i].whole, "interval %u", i);
		if (b)
			ck_assert_uint_eq(b->counts[RMON_PKTS], intervals[i].pkts);
	}
	ck_assert_uint_eq(tables->n_buckets, 2); /* that before the absence stays */
	ck_assert_uint_eq(stat_get(rmon_stats(rmon), RMON_STAT_READ_FAILED), 3);
	rmon_tables_release(tables);
}
END_TEST

/* It leaves and is back before its interval ends. */
START_TEST(no_bucket_is_over_a_short_absence)
{
	const struct rmon_tables *tables;

	add_control(1, if_index(1), 10, 10);
	rmon_changed(rmon, 0);
	count_frames(1, 8, 800);
	plug(false);
	plug(true);
	count_frames(1, 50, 5000); /* more than before: no reading looks as if the counter went back */
	rmon_run(rmon, 10 * SECOND);
	count_frames(1, 4, 400);
	rmon_run(rmon, 20 * SECOND);
	tables = published();
	ck_assert_uint_eq(tables->n_buckets, 1);
	ck_assert_uint_eq(bucket(tables, 1, 2)->counts[RMON_PKTS], 4);
	rmon_tables_release(tables);
}
END_TEST

/* A driver's reset: the total of 64 bits is less than before. */
START_TEST(no_bucket_is_over_a_counter_that_began_anew)
{
	const struct rmon_tables *tables;

	count_frames(0, 10, 1000);
	add_control(1, if_index(0), 10, 10);
	rmon_changed(rmon, 0);
	fake.ports[0].raw[FAKE_TOTAL] = 3;
	rmon_run(rmon, 10 * SECOND);
	count_frames(0, 2, 128);
	rmon_run(rmon, 20 * SECOND);
	tables = published();
	ck_assert_uint_eq(tables->n_buckets, 1);
	ck_assert_uint_eq(bucket(tables, 1, 2)->counts[RMON_OCTETS], 128);
	rmon_tables_release(tables);
}
END_TEST

START_TEST(a_forgotten_port_has_no_history)
{
	const struct rmon_tables *tables;
	uint32_t second = if_index(1);

	add_control(1, if_index(1), 10, 10);
	add_control(2, if_index(0), 10, 10);
	add_control(3, if_index(1), 10, 20);
	rmon_changed(rmon, 0);
	rmon_run(rmon, 10 * SECOND);
	rmon_run(rmon, 20 * SECOND);
	plug(false);
	ck_assert_uint_eq(n_rows_removed, 0); /* it may come back */
	hal_forget_port(hal, NULL, second);
	ck_assert_uint_eq(n_rows_removed, 2);
	rmon_ports_moved(rmon, 21 * SECOND);
	tables = published();
	ck_assert_uint_eq(tables->n_controls, 1);
	ck_assert_uint_eq(tables->controls[0].index, 2);
	ck_assert_uint_eq(tables->n_buckets, 2);
	rmon_tables_release(tables);
}
END_TEST

/* A control row that was kept for a port that is away waits for it, through the file and the monitor. */
START_TEST(a_kept_row_waits_for_its_port)
{
	struct state_rig rig;

	state_rig_open(&rig, rmon_managed(rmon), RMON_N_MANAGED);
	add_control(3, if_index(1), 9, 60);
	state_rig_stop(&rig);
	rmon_destroy(rmon);
	rmon = NULL;
	ck_assert_int_eq(standard_monitor_create(&(struct standard_monitor_options){.hal = hal,
	    .clock = &clock_system}, &monitor), 0);
	fake.n_ports = 1;
	hal_report_port_changed(hal, if_index(0)); /* whichever it names */
	state_rig_start(&rig, rmon_managed(standard_monitor_rmon(monitor)), 0);
	state_set_tables(rig.state, rmon_managed(standard_monitor_rmon(monitor)), RMON_N_MANAGED);
	standard_monitor_start(monitor, rig.state);
	ck_assert_uint_eq(standard_monitor_next_us(monitor), UINT64_MAX);
	ck_assert(standard_monitor_refreshed(monitor));
	ck_assert_uint_eq(standard_monitor_next_us(monitor), UINT64_MAX);
	ck_assert(!standard_monitor_refreshed(monitor));
	plug(true);
	ck_assert(standard_monitor_refreshed(monitor));
	ck_assert_uint_eq(standard_monitor_next_us(monitor), hal_steady_us(hal) + 60 * SECOND);
	standard_monitor_destroy(monitor);
	monitor = NULL;
	state_rig_close(&rig);
}
END_TEST

START_TEST(default_controls)
{
	const struct rmon_tables *tables;

	rmon_add_default_controls(rmon);
	rmon_changed(rmon, 0);
	ck_assert_uint_eq(rmon_next_us(rmon), 30 * SECOND);
	rmon_add_default_controls(rmon); /* they are there */
	tables = published();
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

/* The two that alarms generate: rising and falling. */
static void
add_events(void)
{
	add_event(1, RMON_EVENT_TRAP);
	add_event(2, RMON_EVENT_TRAP);
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

		watched.value = values[i];
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

	add_events();
	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_EITHER, 10, 3);
	run_through(values, 11, told);
	ck_assert_str_eq(told, ".+...-...+-");
}
END_TEST

/* What the log says when a manager wants this row of alarmTable to be valid. */
static void
expect_refused(const struct mib_oid *variable, int32_t rising, int error, const char *why)
{
	struct rmon_alarm row = {.index = 5, .interval_s = 1, .sample_type = RMON_ABSOLUTE, .rising = rising,
	    .startup = RMON_STARTUP_EITHER, .variable = *variable, .status = ENTRY_UNDER_CREATION};
	const struct mib_table *table = &rmon_mib_alarm_table;
	struct mib_set set = {.kind = MIB_SET_ROW, .if_index = 5, .number = ENTRY_VALID, .table = table,
	    .column = &table->columns[table->n_columns - 1], .n_index = 1, .index = {5}};
	struct managed_table *alarms = rmon_managed(rmon)[1];
	char text[512] = "";
	FILE *log = tmpfile();
	size_t failed;

	ck_assert_ptr_nonnull(log);
	watched_error = error;
	ck_assert_int_eq(managed_add(alarms, &row), 0);
	log_set_fd(fileno(log));
	ck_assert_int_eq(managed_apply(alarms, &set, 1, MIB_PHASE_TEST, &failed), -EBUSY);
	log_set_fd(-1);
	ck_assert_int_ge(pread(fileno(log), text, sizeof(text) - 1, 0), 0);
	ck_assert_msg(strstr(text, "alarmEntry 5 was refused") && strstr(text, why), "%s", text);
	fclose(log);
	rmon_destroy(rmon);
	create();
}

START_TEST(a_refusal_is_explained)
{
	static const struct mib_oid none = {0}, sys_up_time = MIB_OID(1, 3, 6, 1, 2, 1, 1, 3, 0);

	expect_refused(&sys_up_time, 1, -ENOENT, "does not serve 1.3.6.1.2.1.1.3.0 itself");
	expect_refused(&sys_up_time, 1, -EINVAL, "1.3.6.1.2.1.1.3.0 is a text");
	expect_refused(&sys_up_time, 1, -ENXIO, "there is no 1.3.6.1.2.1.1.3.0 now");
	expect_refused(&sys_up_time, -1, 0, "falling threshold is above");
	expect_refused(&none, 1, -ENOENT, "set its alarmVariable first");
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
		add_events();
		add_alarm(RMON_ABSOLUTE, cases[i].startup, 10, 3);
		run_through(cases[i].values, 4, told);
		ck_assert_msg(strcmp(told, cases[i].told) == 0, "case %zu: %s", i, told);
	}
}
END_TEST

START_TEST(deltas_over_a_wrap)
{
	static const int64_t values[] = {4294967290ll, 4, 5, 105};
	char told[8];

	add_events();
	add_alarm(RMON_DELTA, RMON_STARTUP_EITHER, 10, 1);
	watched = (struct rmon_reading){.syntax = MIB_COUNTER32, .value = 4294967280ll}; /* at the start */
	run_through(values, 4, told);
	ck_assert_str_eq(told, "+.-+"); /* 10, 10, 1, 100 */
	ck_assert(crossed.value == 100);
}
END_TEST

START_TEST(deltas_of_a_gauge_have_a_sign)
{
	static const int64_t values[] = {110, 105, 101, 101};
	char told[8];

	add_event(2, RMON_EVENT_TRAP);
	add_alarm(RMON_DELTA, RMON_STARTUP_EITHER, 10, -4);
	watched = (struct rmon_reading){.syntax = MIB_GAUGE32, .value = 100};
	run_through(values, 4, told);
	ck_assert_str_eq(told, ".-.."); /* 10, -5, -4, 0 */
	ck_assert(crossed.value == -5);
}
END_TEST

/* RFC 2819, alarmRisingThreshold: after a first value that alarmStartupAlarm let pass without an event,
 * the next crossing generates one, for none was generated before. */
START_TEST(a_first_value_that_generates_nothing_silences_nothing)
{
	static const int64_t high[] = {20, 5, 20, 5}, low[] = {0, 5, 0, 5};
	char told[8];

	add_events();
	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_FALLING, 10, 3);
	run_through(high, 4, told);
	ck_assert_str_eq(told, "..+.");
	rmon_destroy(rmon);
	create();
	add_events();
	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_RISING, 10, 3);
	run_through(low, 4, told);
	ck_assert_str_eq(told, "..-.");
}
END_TEST

/* ---- loads of fast ports ---- */

static struct rmon_threshold
threshold(int64_t value)
{
	uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);

	return (struct rmon_threshold){(uint32_t)magnitude, (uint32_t)(magnitude >> 32),
	    value < 0 ? RMON_NEGATIVE : RMON_POSITIVE};
}

static void
add_hc_alarm(enum rmon_sample_type type, uint32_t interval_s, int64_t rising, int64_t falling)
{
	struct rmon_hc_alarm row = {.index = 1, .interval_s = interval_s, .sample_type = (uint8_t)type,
	    .startup = RMON_STARTUP_EITHER, .rising = threshold(rising),
	    .falling = threshold(falling), .rising_event = 1, .falling_event = 2,
	    .variable = MIB_OID(1, 3, 6), .storage = RMON_NONVOLATILE, .status = ROW_ACTIVE};

	ck_assert_int_eq(managed_add(rmon_managed(rmon)[3], &row), 0);
}

static const struct rmon_hc_alarm *
hc_row(void)
{
	return managed_find(rmon_managed(rmon)[3], (uint32_t[]){1}, 1);
}

/* Twenty intervals of 30 s, the load in turn 95 %, 95 %, 20 %, 20 % of the rate. The thresholds are 80 %
 * and 30 % of it: of a 32-bit row, cut at what an Integer32 can say. */
static void
load_a_port(uint64_t bits_per_s, enum mib_syntax syntax, bool high_capacity, char *told)
{
	static const unsigned percent[] = {95, 95, 20, 20};
	uint64_t octets = 30 * bits_per_s / 8, total = UINT32_MAX - 1000;
	int64_t rising = (int64_t)(octets * 80 / 100), falling = (int64_t)(octets * 30 / 100);

	rmon_destroy(rmon);
	create();
	add_events();
	watched = (struct rmon_reading){.syntax = syntax, .value = total};
	if (high_capacity) {
		add_hc_alarm(RMON_DELTA, 30, rising, falling);
	} else {
		struct rmon_alarm row = {.index = 1, .interval_s = 30, .sample_type = RMON_DELTA,
		    .startup = RMON_STARTUP_EITHER, .rising_event = 1, .falling_event = 2,
		    .rising = rising < INT32_MAX ? (int32_t)rising : INT32_MAX,
		    .falling = falling < INT32_MAX ? (int32_t)falling : INT32_MAX - 1,
		    .variable = MIB_OID(1, 3, 6), .status = ENTRY_VALID};

		ck_assert_int_eq(managed_add(rmon_managed(rmon)[1], &row), 0);
	}
	rmon_changed(rmon, 0);
	for (unsigned i = 0; i < 20; i++) {
		unsigned risings = n_risings, fallings = n_fallings;

		total += octets * percent[i % 4] / 100;
		watched.value = total;
		rmon_run(rmon, (i + 1) * 30 * SECOND);
		told[i] = n_risings > risings ? '+' : n_fallings > fallings ? '-' : '.';
		if (high_capacity) {
			ck_assert_uint_eq(hc_row()->value, octets * percent[i % 4] / 100);
			ck_assert_uint_eq(hc_row()->value_sign, RMON_POSITIVE);
		}
	}
	told[20] = '\0';
}

/* Beyond 2^31 octets in an interval, alarmValue stays at its maximum, and a threshold cannot be higher:
 * at 10 Gb/s and more, 20 % of the load is as much as 95 % for a 32-bit row. It still rises once and
 * never falls, and does not swing with what is left of a wrap. */
START_TEST(a_full_link_rises_at_every_rate)
{
	static const struct {
		uint64_t bits_per_s;
		const char *of_32_bits;
	} cases[] = {
	    {100000000, "+.-.+.-.+.-.+.-.+.-."},
	    {1000000000, "+.-.+.-.+.-.+.-.+.-."},
	    {10000000000, "+..................."},
	    {100000000000, "+..................."},
	};
	char told[24];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		load_a_port(cases[i].bits_per_s, MIB_COUNTER32, false, told);
		ck_assert_msg(strcmp(told, cases[i].of_32_bits) == 0, "case %zu: %s", i, told);
		load_a_port(cases[i].bits_per_s, MIB_COUNTER64, false, told);
		ck_assert_msg(strcmp(told, cases[i].of_32_bits) == 0, "64 in 32, %zu: %s", i, told);
		load_a_port(cases[i].bits_per_s, MIB_COUNTER64, true, told);
		ck_assert_msg(strcmp(told, "+.-.+.-.+.-.+.-.+.-.") == 0, "64, %zu: %s", i, told);
		load_a_port(cases[i].bits_per_s, MIB_COUNTER32, true, told);
		ck_assert_msg(strcmp(told, "+.-.+.-.+.-.+.-.+.-.") == 0, "32 in 64, %zu: %s", i, told);
	}
}
END_TEST

/* An absolute Counter32 is what a GET shows of it. */
START_TEST(an_absolute_counter_is_what_a_get_shows)
{
	static const int64_t values[] = {(7ll << 32) + 5, (8ll << 32) + 12};
	char told[8];

	add_event(1, RMON_EVENT_TRAP);
	add_alarm(RMON_ABSOLUTE, RMON_STARTUP_EITHER, 10, 3);
	watched.syntax = MIB_COUNTER32;
	run_through(values, 2, told);
	ck_assert_str_eq(told, ".+");
	ck_assert(crossed.value == 12);
}
END_TEST

START_TEST(no_delta_over_a_discontinuity)
{
	void *rows;

	add_events();
	watched = (struct rmon_reading){.syntax = MIB_COUNTER64, .value = 1000};
	add_alarm(RMON_DELTA, RMON_STARTUP_EITHER, 10, 3);
	add_hc_alarm(RMON_DELTA, 1, 10, 3);
	rmon_changed(rmon, 0);
	watched.value = 5; /* went back, and its port says so */
	watched.discontinuity_us = 77;
	rmon_run(rmon, 1 * SECOND);
	ck_assert_uint_eq(n_risings + n_fallings, 0);
	ck_assert_uint_eq(hc_row()->value_sign, RMON_NOT_AVAILABLE);
	ck_assert_uint_eq(hc_row()->failed_attempts, 0); /* it was there */
	watched.value = 25;
	rmon_run(rmon, 2 * SECOND);
	ck_assert_uint_eq(n_risings, 2);
	ck_assert_uint_eq(hc_row()->value, 20);
	watched.value = 3; /* went back, and nothing says so: no counter of 64 bits wraps */
	rmon_run(rmon, 3 * SECOND);
	ck_assert_uint_eq(n_risings + n_fallings, 2);
	watched.value = 4;
	rmon_run(rmon, 4 * SECOND);
	ck_assert_uint_eq(n_fallings, 2);
	ck_assert_uint_eq(managed_rows(rmon_managed(rmon)[1], &rows), 1);
}
END_TEST

/* RFC 3434, hcAlarmValueFailedAttempts, hcAlarmSampleType: the row outlives its variable, and a delta
 * needs two readings in a row. */
START_TEST(a_value_that_is_away_is_counted_and_awaited)
{
	static const int64_t falling = -7;

	add_events();
	watched = (struct rmon_reading){.syntax = MIB_INTEGER, .value = 100};
	add_hc_alarm(RMON_DELTA, 1, 10, falling);
	rmon_changed(rmon, 0);
	watched_error = -ENXIO;
	rmon_run(rmon, 1 * SECOND);
	rmon_run(rmon, 2 * SECOND);
	ck_assert_uint_eq(hc_row()->failed_attempts, 2);
	ck_assert_uint_eq(hc_row()->value_sign, RMON_NOT_AVAILABLE);
	watched_error = 0;
	watched.value = 200;
	rmon_run(rmon, 3 * SECOND);
	ck_assert_uint_eq(hc_row()->value_sign, RMON_NOT_AVAILABLE);
	ck_assert_uint_eq(n_risings, 0);
	watched.value = 192;
	rmon_run(rmon, 4 * SECOND);
	ck_assert_uint_eq(hc_row()->value_sign, RMON_NEGATIVE);
	ck_assert_uint_eq(hc_row()->value, 8);
	ck_assert_uint_eq(n_fallings, 1);
	ck_assert(crossed.high_capacity && crossed.value == -8 && crossed.threshold == falling);
	ck_assert_uint_eq(stat_get(rmon_stats(rmon), RMON_STAT_READINGS_FAILED), 2);
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
	tables = published();
	ck_assert_uint_eq(tables->n_logs, 3);
	ck_assert_uint_eq(tables->logs[2].index, 3);
	ck_assert_str_eq(tables->logs[0].description, "alarm 1 rises: 1.3.6 = 20, >= 10");
	ck_assert_uint_gt(tables->events[0].sent_mono_us, 0);
	ck_assert_uint_gt(tables->events[1].sent_mono_us, 0);
	ck_assert_int_eq(tables->alarms[0].value, 20);
	rmon_tables_release(tables);
	managed_remove(events, managed_find(events, &one, 1));
	rmon_changed(rmon, 6 * SECOND);
	tables = published();
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
		watched.value = i % 2 ? 20 : 0;
		rmon_run(rmon, i * SECOND);
	}
	tables = published();
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

/* It is deleted when its port leaves, not at its next reading; one of 64 bits outlives its variable. */
START_TEST(an_alarm_leaves_with_its_port)
{
	void *rows;

	add_alarm(RMON_DELTA, RMON_STARTUP_EITHER, 10, 3);
	add_hc_alarm(RMON_DELTA, 30, 10, 3);
	rmon_changed(rmon, 0);
	rmon_ports_moved(rmon, SECOND / 2); /* of another port */
	ck_assert_uint_eq(managed_rows(rmon_managed(rmon)[1], &rows), 1);
	watched_error = -ENXIO;
	rmon_ports_moved(rmon, SECOND / 2);
	ck_assert_uint_eq(managed_rows(rmon_managed(rmon)[1], &rows), 0);
	ck_assert_uint_eq(n_rows_removed, 1);
	ck_assert_uint_eq(managed_rows(rmon_managed(rmon)[3], &rows), 1);
	ck_assert_uint_eq(hc_row()->failed_attempts, 0); /* no interval has ended */
	ck_assert_uint_eq(rmon_next_us(rmon), 30 * SECOND);
}
END_TEST

/* ---- over a restart ---- */

START_TEST(rows_are_kept)
{
	struct managed_table *const *managed = rmon_managed(rmon);
	struct rmon_event event = {.index = 7, .type = RMON_EVENT_BOTH, .description = "a \"b\"",
	    .status = ENTRY_UNDER_CREATION};
	struct rmon_hc_alarm volatile_row = {.interval_s = 1, .sample_type = RMON_ABSOLUTE,
	    .startup = RMON_STARTUP_EITHER, .rising = threshold(0), .falling = threshold(0),
	    .variable = MIB_OID(1, 3, 6), .storage = RMON_VOLATILE, .status = ROW_ACTIVE};
	const struct rmon_alarm *alarm;
	struct state_rig rig;
	uint32_t one = 1, seven = 7;

	state_rig_open(&rig, managed, RMON_N_MANAGED);
	add_control(3, if_index(1), 9, 60);
	add_alarm(RMON_DELTA, RMON_STARTUP_FALLING, 10, -3);
	add_hc_alarm(RMON_DELTA, 30, 375000000000, -5000000000);
	volatile_row.index = 2;
	ck_assert_int_eq(managed_add(managed[3], &volatile_row), 0);
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
	ck_assert_uint_eq(hc_row()->rising.high, 375000000000 >> 32);
	ck_assert_uint_eq(hc_row()->falling.sign, RMON_NEGATIVE);
	ck_assert(managed_is_active(managed[3], hc_row()));
	ck_assert_ptr_null(managed_find(managed[3], (uint32_t[]){2}, 1)); /* it was volatile */
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
	tcase_add_test(history, what_a_port_does_not_count_is_absent);
	tcase_add_test(history, a_step_of_the_clock_leaves_a_gap);
	tcase_add_test(history, no_more_is_granted_than_there_is);
	tcase_add_test(history, a_deleted_row_has_no_buckets);
	tcase_add_test(history, no_bucket_is_over_an_absence);
	tcase_add_test(history, no_bucket_is_over_a_short_absence);
	tcase_add_test(history, no_bucket_is_over_a_counter_that_began_anew);
	tcase_add_test(history, a_forgotten_port_has_no_history);
	tcase_add_test(history, a_kept_row_waits_for_its_port);
	tcase_add_test(history, default_controls);
	suite_add_tcase(suite, history);
	tcase_add_checked_fixture(alarm, setup, teardown);
	tcase_add_test(alarm, hysteresis);
	tcase_add_test(alarm, a_refusal_is_explained);
	tcase_add_test(alarm, startup);
	tcase_add_test(alarm, deltas_over_a_wrap);
	tcase_add_test(alarm, deltas_of_a_gauge_have_a_sign);
	tcase_add_test(alarm, a_first_value_that_generates_nothing_silences_nothing);
	tcase_add_test(alarm, a_full_link_rises_at_every_rate);
	tcase_add_test(alarm, an_absolute_counter_is_what_a_get_shows);
	tcase_add_test(alarm, no_delta_over_a_discontinuity);
	tcase_add_test(alarm, a_value_that_is_away_is_counted_and_awaited);
	tcase_add_test(alarm, log_and_trap_as_the_event_says);
	tcase_add_test(alarm, the_log_has_an_end);
	tcase_add_test(alarm, an_alarm_whose_variable_vanishes_is_deleted);
	tcase_add_test(alarm, an_alarm_leaves_with_its_port);
	tcase_add_test(alarm, rows_are_kept);
	suite_add_tcase(suite, alarm);
	return suite_run(suite);
}
