/*
 * What happens by itself, in the same form as an attack: outages of minutes, nights and a week, clocks that are
 * set, a clock battery that is empty, agents that start anew, cables that garble, containers that come and go. The
 * whole fleet goes through it or lives beside it, on a stepped clock; afterwards the store has what it sent and
 * counted, to the last octet, and says what was sampled and never came.
 */
#include "tests/attacks/attack_rig.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	STORE_MIB = 64,
	STORE_SLACK_MIB = 8,
	STORE_WEEK_MIB = 512,
	VICTIM = 50,
	VICTIM_SFLOW = 12,
	EVENT_RATE = 10,    /* the agent's option event_rate, by default */
	STEPS_AN_HOUR = 12, /* in the week */
};

#define MINUTE_US (60 * (int64_t)SECOND_US)

static struct attack_rig rig;
static unsigned store_mib; /* the limit of the store that is open */

static void
steps(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		attack_rig_step(&rig, 1);
}

static void
open_rig_of(unsigned most_mib, const char *further)
{
	char lines[128];

	store_mib = most_mib;
	/* Of 200 samples a second a fifth have a row: what is looked at are the sums of all, and the times of rows. */
	snprintf(lines, sizeof(lines), "store_size = %u\nmemory = 256\nsample_rows = %d\n%s", store_mib,
	    getenv("EASE_LONG") ? 20000 : 40, further);
	attack_rig_open(&rig, 1, lines);
	rig.rests = getenv("EASE_LONG") != NULL;
	steps(45);
}

static void
open_rig(const char *further)
{
	open_rig_of(getenv("EASE_LONG") ? STORE_WEEK_MIB : STORE_MIB, further); /* which holds what an hour fills */
}

/* Whatever clocks showed: all that is stored is of the times of the run, and no agent has a minute more or less
 * than others. */
static void
expect_times(const char *name)
{
	char sql[640];

	snprintf(sql, sizeof(sql), "WITH t AS (SELECT start_us AS us FROM window UNION ALL SELECT time_us FROM"
	    " sample UNION ALL SELECT time_us FROM counter UNION ALL SELECT until_us FROM gap UNION ALL SELECT"
	    " last_us FROM agent) SELECT count(*) FROM t WHERE us NOT BETWEEN %" PRIu64 " AND %" PRIu64,
	    (uint64_t)NOON_US - (uint64_t)MINUTE_US, (uint64_t)(rig.clock.manual_wall_us + 4 * SECOND_US));
	ck_assert_msg(sql_number(rig.db, sql) == 0, "%s: rows of other times", name);
	ck_assert_msg(sql_number(rig.db, "SELECT max(n) - min(n) FROM (SELECT count(DISTINCT start_us) AS n"
					 " FROM window GROUP BY agent)") == 0,
	    "%s: an agent has more or fewer minutes than others", name);
}

/* The same of a clock that was wrong and then right: it is told once of each. */
static void
expect_told(const char *name)
{
	expect_times(name);
	ck_assert_double_eq(sql_number(rig.db, "SELECT count(*) FROM event WHERE kind = 4002"), 1);
	ck_assert_double_eq(sql_number(rig.db, "SELECT count(*) FROM event WHERE kind = 4003"), 1);
	ck_assert_double_eq(sql_number(rig.db, "SELECT sum(offset_us != 0) FROM agent_clock"), 0);
}

/* sql, unless it is NULL, gives at least that much. */
static void
end_expecting(const char *name, const char *sql, double least, void (*expect)(const char *name))
{
	static const char *const losses[] = {"accounting.lost_store_rows", "accounting.no_room",
	    "store.lost_rows", "store.lost_batches"};

	steps(90);
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		ck_assert_msg(attack_stat(&rig, losses[i]) == 0, "%s: %s", name, losses[i]);
	attack_rig_close(&rig);
	printf("%-52s away for at most %" PRIu64 " us, %" PRIu64 " us busy, store %" PRIu64 " KiB\n", name,
	    rig.longest_us, rig.longest_busy_us, attack_store_octets(&rig) / 1024);
	fflush(stdout);
	attack_expect_fleet(&rig, name);
	if (sql)
		ck_assert_double_ge(sql_number(rig.db, sql), least);
	ck_assert_msg(attack_store_octets(&rig) <= (uint64_t)(store_mib + STORE_SLACK_MIB) << 20,
	    "%s: the store has %" PRIu64 " octets", name, attack_store_octets(&rig));
	if (expect)
		expect(name);
	attack_rig_remove(&rig);
}

static void
end(const char *name)
{
	end_expecting(name, NULL, 0, NULL);
}

/* ---- outages ---- */

static const struct {
	const char *name;
	uint64_t seconds;
	bool collectors; /* the collector was stopped, not the network */
} outages[] = {
    {"ten minutes without network", 600, false},
    {"ten hours without network", 36000, false},
    {"ten hours without collector", 36000, true},
    {"a week without network", 7 * 86400, false},
    {"a week without collector", 7 * 86400, true},
};

enum { N_OUTAGES = sizeof(outages) / sizeof(outages[0]) };

START_TEST(outages_lose_nothing_counted)
{
	open_rig("keep_1min = 0"); /* the minutes before a week are looked at, too */
	if (outages[_i].collectors)
		attack_rig_stop(&rig);
	attack_rig_night(&rig, outages[_i].seconds);
	if (outages[_i].collectors)
		attack_rig_start(&rig);
	end(outages[_i].name);
}
END_TEST

/* ---- clocks ---- */

static const struct {
	const char *name;
	int64_t first_us, then_us; /* a switch's clock, less the right time, after 45 s and after 90 s */
	bool ours; /* the collector's clock goes there too, and the switches' stay */
} clocks[] = {
    {"a switch's clock goes 23.5 hours forward", (int64_t)(23.5 * 60) * MINUTE_US, (int64_t)(23.5 * 60) * MINUTE_US, false},
    {"a switch's clock goes a second back", -(int64_t)SECOND_US, -(int64_t)SECOND_US, false},
    {"a switch's clock goes an hour back", -60 * MINUTE_US, -60 * MINUTE_US, false},
    {"a switch's clock goes to 1970 and back", -(int64_t)NOON_US + MINUTE_US, 0, false},
    {"a switch's clock goes to 2255 and back", (int64_t)(8900000000ull * SECOND_US - NOON_US), 0, false},
    {"a switch's clock goes an hour forward and back", 60 * MINUTE_US, 0, false},
    {"the collector's clock goes an hour back", -60 * MINUTE_US, -60 * MINUTE_US, true},
    {"the collector's clock goes a day forward and back", 1440 * MINUTE_US, 0, true},
};

static void
set_clock(int64_t off_us, int64_t before_us, bool ours)
{
	if (ours)
		rig.clock.manual_wall_us += (uint64_t)(off_us - before_us);
	for (int i = 0; i < FLEET_SWITCHES; i++)
		if (ours)
			rig.fleet[i].clock_off_us = -off_us;
		else if (i == VICTIM || i == VICTIM_SFLOW || i == 3)
			rig.fleet[i].clock_off_us = off_us;
}

enum { N_CLOCKS = sizeof(clocks) / sizeof(clocks[0]) };

START_TEST(clocks_that_are_set)
{
	open_rig("");
	set_clock(clocks[_i].first_us, 0, clocks[_i].ours);
	steps(45);
	set_clock(clocks[_i].then_us, clocks[_i].first_us, clocks[_i].ours);
	end_expecting(clocks[_i].name, NULL, 0, clocks[_i].ours ? NULL : expect_times);
}
END_TEST

/* A switch that starts without a battery is in 1970 until NTP sets it, which costs nobody, itself included. */
/* The collector's clock is a day ahead while switches that speak sFlow restart, and right again when they do so once
 * more: an interval between two restarts is no matter of the wall clock. */
START_TEST(restarts_while_the_clock_is_wrong)
{
	struct fleet_switch *s = &rig.fleet[FLEET_V3];
	uint64_t sent = 0;

	open_rig("");
	set_clock(1440 * MINUTE_US, 0, true);
	collector_turn(rig.collector);
	for (int i = 0; i < FLEET_SFLOW; i++)
		fleet_restart(&rig, s + i, 0);
	steps(90);
	set_clock(0, 1440 * MINUTE_US, true);
	collector_turn(rig.collector);
	for (int i = 0; i < FLEET_SFLOW; i++)
		fleet_restart(&rig, s + i, 0);
	steps(90);
	attack_rig_close(&rig);
	for (int i = 0; i < FLEET_SWITCHES; i++)
		for (int p = 0; p < FLEET_PORTS; p++)
			sent += rig.fleet[i].ports[p].sent_samples;
	ck_assert_double_eq(sql_number(rig.db, "SELECT sum(received) FROM account"), (double)sent);
	ck_assert_double_eq(sql_number(rig.db, "SELECT sum(duplicates) FROM account"), 0);
	/* each restart is a boot, also the second */
	ck_assert_double_eq(sql_number(rig.db, "SELECT count(*) FROM account"),
	    FLEET_PORTS * (FLEET_SWITCHES + 2 * FLEET_SFLOW));
	attack_rig_remove(&rig);
}
END_TEST

START_TEST(a_clock_battery_that_is_empty)
{
	struct fleet_switch *s = &rig.fleet[VICTIM];

	open_rig("");
	fleet_restart(&rig, s, s->boot + 1);
	s->clock_off_us = -(int64_t)rig.clock.manual_wall_us;
	steps(60);
	attack_rig_stop(&rig);
	attack_rig_start(&rig);
	steps(60);
	s->clock_off_us = 0;
	steps(30);
	end_expecting("a clock battery that is empty", NULL, 0, expect_told);
}
END_TEST

/* ---- agents ---- */

START_TEST(agents_that_start_anew)
{
	open_rig("");
	for (int round = 0; round < 3; round++) {
		for (int i = round; i < FLEET_SWITCHES; i += 7)
			if (rig.fleet[i].way != FLEET_BY_SFLOW)
				fleet_restart(&rig, &rig.fleet[i], rig.fleet[i].boot + 1);
		steps(30);
	}
	end("agents that start anew");
}
END_TEST

/* A machine that is restored from a snapshot has an earlier boot than the collector knows, and the numbers and
 * counters of that time. It is followed within a minute, as its next boot. */
START_TEST(a_restored_machine)
{
	struct fleet_switch *s = &rig.fleet[VICTIM];
	uint64_t of_this_boot;
	char sql[256];

	open_rig("");
	s->exempt = true;
	s->boot += 10;
	for (int i = 0; i < 3; i++) {
		fleet_restart(&rig, s, s->boot + 1);
		steps(10);
	}
	of_this_boot = s->ports[0].sent_samples;
	fleet_restart(&rig, s, s->boot - 8);
	for (int p = 0; p < FLEET_PORTS; p++)
		s->ports[p].sequence = 1000;
	steps(120);
	of_this_boot = s->ports[0].sent_samples - of_this_boot;
	snprintf(sql, sizeof(sql), "SELECT sum(received) FROM account JOIN agent ON agent.id = account.agent"
	    " WHERE account.if_index = 1 AND account.boot = agent.boot AND address = '10.0.%d.1'", VICTIM);
	end_expecting("a restored machine", sql, (double)of_this_boot - 60, NULL);
}
END_TEST

/* ---- what fills ---- */

static void
send_trap(struct fleet_switch *s, struct trap_message *m)
{
	attack_send_trap(&rig, s->address, m);
}

/* Frames with a bad FCS have a source of any address: as many a second as event_rate allows. */
static void
garble(struct fleet_switch *s)
{
	static struct trap_message m;

	trap_start(&m, FLEET_COMMUNITY, EASE_NOTIFY_ERROR_SOURCE, s->id, s->boot);
	for (int k = 0; k < EVENT_RATE; k++) {
		struct ease_error_source e = {.if_index = 1, .kind = EASE_ERROR_FCS, .count = 1,
		    .first_us = rig.clock.manual_wall_us, .time_us = rig.clock.manual_wall_us};

		for (int o = 0; o < 6; o++)
			e.mac[o] = (uint8_t)attack_draw(&rig, 256);
		trap_add_error_source(&m, &e);
	}
	send_trap(s, &m);
}

/* A host with containers: another interface comes, and soon goes. */
static void
plug_container(struct fleet_switch *s, uint32_t i)
{
	static struct trap_message m;
	struct ease_state state = {.if_index = 1000 + i, .time_us = rig.clock.manual_wall_us,
	    .speed_bps = 10000000000, .duplex = EASE_DUPLEX_FULL, .admin_status = EASE_IF_UP,
	    .oper_status = EASE_IF_UP, .edge = true};

	snprintf(state.name, sizeof(state.name), "veth%08x", i * 2654435761u);
	trap_start(&m, FLEET_COMMUNITY, EASE_NOTIFY_PORT_STATE, s->id, s->boot);
	trap_add_state(&m, &state);
	send_trap(s, &m);
}

START_TEST(a_bad_cable)
{
	unsigned seconds = getenv("EASE_LONG") ? 3600 : 60;

	open_rig("");
	for (unsigned i = 0; i < seconds; i++) {
		garble(&rig.fleet[VICTIM]);
		attack_rig_step(&rig, 1);
	}
	end("a bad cable");
}
END_TEST

START_TEST(containers_that_come_and_go)
{
	unsigned seconds = getenv("EASE_LONG") ? 3600 : 60;

	open_rig("");
	for (unsigned i = 0; i < seconds; i++) {
		plug_container(&rig.fleet[VICTIM], i);
		attack_rig_step(&rig, 1);
	}
	end("containers that come and go");
}
END_TEST

static int
refuse_to_open(const struct collector_config *config, char *error, size_t size)
{
	(void)config;
	snprintf(error, size, "no");
	return -EADDRNOTAVAIL;
}

static void
expect_outages(double n)
{
	const struct collector_arguments arguments = {.no_sockets = true, .opened = refuse_to_open};
	struct collector *none;
	char error[256];

	for (int tries = 0; tries < 3; tries++)
		ck_assert_int_eq(collector_open(&none, &rig.config, &arguments, &rig.clock, error, sizeof(error)),
		    -EADDRNOTAVAIL);
	attack_rig_start(&rig);
	attack_rig_step(&rig, 2);
	ck_assert_double_eq(sql_number(rig.db, "SELECT count(*) FROM outage"), n);
}

/* Its address is not there yet, or somebody has its tap: that is no crash. And a crash before it is not forgotten. */
START_TEST(starts_that_fail)
{
	open_rig("");
	attack_rig_step(&rig, 30);
	attack_rig_stop(&rig);
	expect_outages(0);
	attack_rig_step(&rig, 30);
	collector_close(rig.collector); /* as if killed */
	expect_outages(1);
	attack_rig_step(&rig, 30);
	attack_rig_close(&rig);
	attack_rig_remove(&rig);
}
END_TEST

/* The machine comes up again in 2106, or in 1970, and NTP sets its clock after a minute: it was down for two minutes. */
START_TEST(an_outage_that_a_wrong_clock_ends)
{
	const uint64_t wrong_us = _i ? 4290000000ull * SECOND_US : 60 * SECOND_US;
	uint64_t was_us, off_us;
	sqlite3 *db;

	open_rig("");
	attack_rig_stop(&rig);
	ck_assert_int_eq(sqlite3_open(rig.db, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "UPDATE life SET running = 1", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	attack_rig_night(&rig, 120);
	was_us = rig.clock.manual_wall_us;
	off_us = wrong_us - was_us;
	rig.clock.manual_wall_us += off_us;
	attack_rig_start(&rig);
	attack_rig_night(&rig, 60);
	rig.clock.manual_wall_us -= off_us;
	attack_rig_step(&rig, 20);
	attack_rig_step(&rig, 20);
	ck_assert_double_eq_tol(sql_number(rig.db, "SELECT until_us FROM outage ORDER BY id DESC LIMIT 1") / 1e6, (double)was_us / 1e6, 2);
	attack_rig_close(&rig);
	attack_rig_remove(&rig);
}
END_TEST

/* A week, or two hours, of all of it: a bad cable, a host whose containers come and go, an agent that starts
 * anew each hour, a collector that is stopped each night. The others' history is whole, and the store within its
 * size. */
START_TEST(a_week_of_it)
{
	unsigned steps_a_week = getenv("EASE_LONG") ? 7 * 24 * STEPS_AN_HOUR : 2 * STEPS_AN_HOUR;
	struct fleet_switch *anew = &rig.fleet[VICTIM + 2];

	/* Each minute of a week of the honest ones takes more than the store of the others. */
	open_rig_of(getenv("EASE_LONG") ? STORE_WEEK_MIB : STORE_MIB, "keep_1min = 0\n");
	for (unsigned i = 0; i < steps_a_week; i++) {
		for (unsigned k = 0; k < 3600 / STEPS_AN_HOUR; k++)
			garble(&rig.fleet[VICTIM]);
		plug_container(&rig.fleet[VICTIM + 1], i);
		attack_rig_step(&rig, 3600 / STEPS_AN_HOUR);
		if (i % STEPS_AN_HOUR == 0)
			fleet_restart(&rig, anew, anew->boot + 1);
		if (i % (24 * STEPS_AN_HOUR) != STEPS_AN_HOUR)
			continue;
		attack_rig_stop(&rig);
		attack_rig_night(&rig, 3600);
		attack_rig_start(&rig);
	}
	end("a week of it");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("nature");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 3600 : 900);
	/* A sanitizer looks at the first of each kind, because all take minutes with it. */
	tcase_add_loop_test(all, outages_lose_nothing_counted, 0, SUITE_SANITIZES ? 1 : N_OUTAGES);
	tcase_add_loop_test(all, clocks_that_are_set, 0, SUITE_SANITIZES ? 1 : N_CLOCKS);
	tcase_add_test(all, restarts_while_the_clock_is_wrong);
	tcase_add_test(all, a_clock_battery_that_is_empty);
	tcase_add_test(all, agents_that_start_anew);
	tcase_add_test(all, a_restored_machine);
	tcase_add_test(all, a_bad_cable);
	tcase_add_test(all, containers_that_come_and_go);
	tcase_add_test(all, starts_that_fail);
	tcase_add_loop_test(all, an_outage_that_a_wrong_clock_ends, 0, 2);
	tcase_add_test(all, a_week_of_it);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
