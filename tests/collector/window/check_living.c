/*
 * Agents and ports that leave the memory and come back: on a stepped clock, beside others that take their
 * places. Samples and counters are those of accounting_rig.h, and rig_check_all compares the store with them:
 * nothing counts twice, nothing is lost. The others send states only, which are in none of these tables.
 */
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND_US 1000000ull
#define SILENT_US (901 * SECOND_US)

enum { FIRST = 1500, AGAIN = 11, OTHERS = 60 };

static struct accounting_rig f;

static void
setup(void)
{
	rig_make(&f);
	f.recalls = true;
	rig_open(&f);
}

static void
teardown(void)
{
	rig_close(&f);
	rig_remove(&f);
}

static uint64_t
stat_of(enum accounting_stat_id which)
{
	return stat_get(accounting_stats(f.accounting), which);
}

static void
step(uint64_t us)
{
	f.clock.manual_mono_us += us;
}

static void
send_state(const uint8_t *id, const char *sender, uint32_t if_index)
{
	struct ease_record r = rig_record(EASE_PART_STATE, 1);

	if (id)
		memcpy(r.agent_id, id, sizeof(r.agent_id));
	r.sender = sender;
	r.state = (struct ease_state){.if_index = if_index, .time_us = NOON_US + 1, .name = "other"};
	r.received_us = NOON_US + ++f.clock.manual_wall_us; /* another notification */
	accounting_add_records(f.accounting, f.batch, &r, 1);
}

static void
send_others(uint32_t from, uint32_t n, const char *sender)
{
	for (uint32_t i = from; i < from + n; i++) {
		uint8_t id[8] = {9, 9, 9, 9, 0, 0, (uint8_t)(i >> 8), (uint8_t)i};

		send_state(id, sender, 1);
	}
}

/* Sends the second half, with some of the first again. */
static void
come_back(void)
{
	uint64_t duplicates = stat_of(ACCOUNTING_STAT_DUPLICATES);

	for (uint32_t i = FIRST - AGAIN + 1; i <= FIRST; i++)
		rig_send_sample(&f, 1, i);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_DUPLICATES), duplicates + AGAIN);
	rig_send_range(&f, 1, FIRST + 1, SAMPLES);
	rig_flush(&f);
	rig_check_all(&f, SAMPLES);
	ck_assert_double_eq(rig_query(&f, "SELECT duplicates FROM account"), AGAIN);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent WHERE hex(agent_id) = '0102030405060708'"),
	    1);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_RECALL_FAILURES), 0);
}

static void
leave(void)
{
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, FIRST);
	rig_flush(&f);
	step(SILENT_US);
	send_others(0, OTHERS, "192.0.2.99");
	rig_flush(&f);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_AGENTS_LEFT), 0);
	rig_flush(&f);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_AGENTS_LEFT), 1);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_PORTS_LEFT), 1);
}

START_TEST(an_agent_leaves_and_comes_back)
{
	leave();
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_RECALLED), 0);
	come_back();
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_RECALLED), 2);
}
END_TEST

/* The others took its place, and its slots of the crash journal. */
START_TEST(the_collector_crashes_when_an_agent_has_left)
{
	leave();
	send_others(OTHERS, 1, "192.0.2.98");
	rig_flush(&f);
	rig_close(&f); /* without store_end_life */
	rig_open(&f);
	ck_assert(f.had_outage);
	ck_assert_uint_eq(f.outage.samples, 0);
	come_back();
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM gone"), 0);
}
END_TEST

/* It is back, and the crash comes before its new samples are stored: these count as lost with the crash. */
START_TEST(the_collector_crashes_when_an_agent_is_back)
{
	leave();
	rig_send_range(&f, 1, FIRST + 1, FIRST + 100);
	rig_close(&f);
	rig_open(&f);
	ck_assert(f.had_outage);
	ck_assert_uint_eq(f.outage.samples, 100);
	rig_send_range(&f, 1, FIRST + 1, SAMPLES); /* as informs do that nobody answered */
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), SAMPLES);
	ck_assert_double_eq(rig_query(&f, "SELECT expected FROM account"), SAMPLES);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(samples) FROM gone"), 0);
}
END_TEST

/* The store has more than there is room for: who was heard last is read at the start, the others when they
 * come. */
START_TEST(a_start_with_less_room)
{
	struct accounting_limits limits = rig_limits;

	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, FIRST);
	send_others(0, 40, "192.0.2.99");
	rig_flush(&f);
	rig_close(&f);
	limits.agents = 32;
	limits.ports = 512;
	rig_open_with(&f, &limits);
	come_back();
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_RECALLED), 2);
}
END_TEST

START_TEST(a_port_leaves_and_comes_back)
{
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, FIRST);
	rig_flush(&f);
	step(SILENT_US);
	for (uint32_t i = 0; i < 950; i++)
		send_state(NULL, "192.0.2.1", 1000 + i);
	rig_flush(&f);
	rig_flush(&f);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_AGENTS_LEFT), 0);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_PORTS_LEFT), 1);
	come_back();
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_RECALLED), 1);
}
END_TEST

/* Whoever is gone is still known by its source. */
START_TEST(nobody_takes_its_name)
{
	static const uint8_t id[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	leave();
	send_state(id, "192.0.2.66", 1);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_FOREIGN_SOURCE), 1);
	come_back();
}
END_TEST

/* One sender's agents without end: who comes late has a place, and who is there keeps it. */
START_TEST(a_flood_of_agents)
{
	uint32_t next = 0;

	rig_send_snapshot(&f, 1, 0);
	for (uint32_t i = 1; i <= SAMPLES; i += 100) {
		send_others(next, 100, "192.0.2.66");
		next += 100;
		rig_send_range(&f, 1, i, i + 99);
		step(SECOND_US);
		rig_flush(&f);
	}
	rig_check_all(&f, SAMPLES);
	ck_assert_uint_gt(stat_of(ACCOUNTING_STAT_AGENTS_FULL), 2000);
	for (int i = 0; i < 30; i++) { /* each at another address */
		char sender[16];
		uint8_t id[8] = {7, 7, 7, 7, 7, 7, 7, (uint8_t)i};

		snprintf(sender, sizeof(sender), "198.51.100.%d", i);
		send_state(id, sender, 1);
		step(SECOND_US);
		rig_flush(&f);
	}
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent WHERE hex(agent_id) LIKE '07070707%'"), 30);
}
END_TEST

START_TEST(who_is_silent_for_an_age_leaves)
{
	accounting_set_forget(f.accounting, 3600 * SECOND_US);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, FIRST);
	rig_flush(&f);
	step(3599 * SECOND_US);
	rig_flush(&f);
	rig_flush(&f);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_AGENTS_LEFT), 0);
	step(SECOND_US);
	rig_flush(&f);
	rig_flush(&f);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_AGENTS_LEFT), 1);
	come_back();
}
END_TEST

/* ---- forgetting ---- */

#define DAY_US (86400 * SECOND_US)
#define OF_IT  "agent = 1"

static const char *const tables[] = {"account", "gone", "port", "counter", "resource", "error_source", "discard",
    "agent_source", "agent_refused"};

static void
expect_forgotten(void)
{
	char sql[96];

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE " OF_IT, tables[i]);
		ck_assert_msg(rig_query(&f, sql) == 0, "%s", sql);
	}
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent WHERE id = 1"), 0);
}

/* It comes back as a new one, with a number that nobody had. */
static void
expect_a_new_one(uint32_t number)
{
	rig_send_snapshot(&f, 1, FIRST);
	rig_send_range(&f, 1, FIRST + 1, SAMPLES);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT id FROM agent WHERE hex(agent_id) = '0102030405060708'"), number);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), SAMPLES - FIRST);
}

/* Its figures are of days that are deleted, and it was silent for longer than the others' newest record by
 * more than the option says. */
START_TEST(who_left_is_forgotten_with_its_figures)
{
	const struct store_retention keep = {.forget_us = 7 * DAY_US};

	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, FIRST);
	send_others(0, 1, "192.0.2.98");
	rig_flush(&f);
	rig_close(&f);
	rig_sql(&f, "UPDATE agent SET last_us = last_us + 864000000000, last_received_us ="
		    " last_received_us + 864000000000 WHERE id = 2;"
		    "UPDATE port SET since_us = since_us + 864000000000 WHERE agent = 2");
	rig_open(&f);
	accounting_set_forget(f.accounting, keep.forget_us);
	store_set_retention(f.store, &keep);
	for (int i = 0; i < 3; i++)
		rig_flush(&f);
	ck_assert_uint_eq(stat_of(ACCOUNTING_STAT_AGENTS_LEFT), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent"), 2); /* its figures are there */
	rig_close(&f);
	rig_sql(&f, "INSERT OR REPLACE INTO level SELECT 1440, 1700432040000000, 1700432040000000, 0, 0, 0");
	rig_open(&f);
	accounting_set_forget(f.accounting, keep.forget_us);
	store_set_retention(f.store, &keep);
	while (rig_query(&f, "SELECT count(*) FROM agent") > 1) /* or the test's time is over */
		rig_flush(&f);
	for (int i = 0; i < 3; i++) /* it leaves the memory, too */
		rig_flush(&f);
	expect_forgotten();
	expect_a_new_one(3);
}
END_TEST

START_TEST(one_is_forgotten_by_hand)
{
	char error[256] = "";
	struct store *second;

	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, FIRST);
	rig_flush(&f);
	ck_assert_int_eq(store_open(&second, f.path, NULL, error, sizeof(error)), -EBUSY);
	rig_close(&f);
	ck_assert_int_eq(store_open(&f.store, f.path, NULL, error, sizeof(error)), 0);
	ck_assert_int_eq(store_forget_agent(f.store, "192.0.2.9", error, sizeof(error)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error, "no agent has the id or address \"192.0.2.9\""));
	ck_assert_int_eq(store_forget_agent(f.store, "192.0.2.1", error, sizeof(error)), 0);
	ck_assert_int_eq(store_forget_agent(f.store, "0102030405060708", error, sizeof(error)), -ENOENT);
	ck_assert_int_eq(store_close(f.store), 0);
	expect_forgotten();
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 0);
	f.recalls = false; /* the crash journal is of the collector before */
	rig_open(&f);
	expect_a_new_one(2);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("living");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 120);
	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, an_agent_leaves_and_comes_back);
	tcase_add_test(all, the_collector_crashes_when_an_agent_has_left);
	tcase_add_test(all, the_collector_crashes_when_an_agent_is_back);
	tcase_add_test(all, a_start_with_less_room);
	tcase_add_test(all, a_port_leaves_and_comes_back);
	tcase_add_test(all, nobody_takes_its_name);
	tcase_add_test(all, a_flood_of_agents);
	tcase_add_test(all, who_is_silent_for_an_age_leaves);
	tcase_add_test(all, who_left_is_forgotten_with_its_figures);
	tcase_add_test(all, one_is_forgotten_by_hand);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
