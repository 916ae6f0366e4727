/*
 * Each attack of attacks.h beside an honest fleet of a hundred switches, of which seven (one by SNMPv3, one by
 * sFlow) come when it is under way; the collector is restarted in its midst. Afterwards the store has what the fleet
 * sent, to the last sample and octet, under its names and at its sites, and the same alarms at the same time; nothing was
 * lost for want of room; the attacker is counted, and named in the log and by `agents`; and the file is within its size.
 *
 * What only fills is tried by the hour, too: the store has a number for each source. At last all of them are mixed, with
 * EASE_LONG for an hour; and a live report ends a minute ago at most, whoever sends meanwhile.
 *
 * EASE_ATTACK=NAME tries one. With EASE_LONG each sends 1,000 datagrams a second for a minute, or EASE_RATE; EASE_STORE
 * is store_size.
 */
#include "tests/attacks/attacks.h"
#include "tests/collector/answers.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SECONDS = 20,
	SECONDS_SLOW = 8,
	SECONDS_LONG = 60,
	ALARMS = 348, /* of the fleet alone in SECONDS, */
	ALARM_SECONDS = 7236, /* and when, from the start, added up */
	RATE = 30, /* datagrams a second */
	RATE_LONG = 1000,
	LATE_SWITCHES = 5,
	STORE_MIB = 64,
	STORE_SLACK_MIB = 8, /* what comes between two looks at the size, and the write-ahead log */
};

static struct attack_rig rig;

/* What must stay 0, whoever sends: it would be somebody else's. */
static const char *const losses[] = {"accounting.lost_store_rows", "accounting.no_room", "store.lost_rows",
    "store.lost_batches"};

/* Of "a|b|c". */
static uint64_t
sum_of(const char *names)
{
	uint64_t sum = 0;

	for (const char *at = names; *at; at += strcspn(at, "|"), at += *at == '|') {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "|"), at);
		sum += attack_stat(&rig, name);
	}
	return sum;
}

static void
expect_no_losses(const char *when)
{
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		ck_assert_msg(attack_stat(&rig, losses[i]) == 0, "%s: %s is %" PRIu64, when, losses[i],
		    attack_stat(&rig, losses[i]));
}

static void
silence_late_ones(bool silent)
{
	for (int i = FLEET_SWITCHES - LATE_SWITCHES; i < FLEET_SWITCHES; i++)
		rig.fleet[i].silent = silent;
	rig.fleet[FLEET_V3 - 1].silent = rig.fleet[FLEET_V3 + FLEET_SFLOW - 1].silent = silent;
}

static uint32_t
datagrams_a_second(void)
{
	const char *given = getenv("EASE_RATE");

	return given ? (uint32_t)strtoul(given, NULL, 10) : getenv("EASE_LONG") ? RATE_LONG : RATE;
}

static void
run(const struct attack *attack)
{
	int seconds = suite_is_slow() ? SECONDS_SLOW : getenv("EASE_LONG") ? SECONDS_LONG : SECONDS;
	uint32_t rate = datagrams_a_second(), sent = 0;
	uint64_t counted = 0;

	silence_late_ones(true);
	attack_rig_step(&rig, 1); /* who is heard first is known by where it was heard */
	for (int second = 0; second < seconds; second++) {
		for (uint32_t k = 0; attack && k < rate; k++)
			attack->send(&rig, sent++);
		attack_rig_step(&rig, 1);
		if (second == seconds / 2)
			silence_late_ones(false);
		if (second != seconds * 3 / 4)
			continue;
		expect_no_losses(attack ? attack->name : "alone");
		counted = attack ? sum_of(attack->counters) : 0;
		attack_rig_stop(&rig);
		attack_rig_start(&rig);
	}
	expect_no_losses(attack ? attack->name : "alone");
	if (attack && *attack->counters && !suite_is_slow()) /* then so few are sent that no limit is reached */
		ck_assert_msg(counted + sum_of(attack->counters) > 0, "%s: %s is 0", attack->name,
		    attack->counters);
}

/* What people see: each switch under its name and at its site, nobody else there, and no name twice. */
static void
expect_names(const char *when)
{
	struct report_options options = report_default_options();
	json_t *answer, *seen = json_object(), *row;
	size_t i, n_named = 0;

	options.all = true;
	answer = answer_json(rig.db, "agents", &options, rig.clock.manual_wall_us);
	json_array_foreach(json_object_get(answer, "rows"), i, row) {
		const char *name = json_string_value(json_object_get(row, "agent"));
		const char *site = json_string_value(json_object_get(row, "site"));
		const char *address = json_string_value(json_object_get(row, "address"));
		unsigned at = 0, third = 0;
		bool is_named = sscanf(name, "sw-%u", &at) == 1 && sscanf(address, "10.0.%u.1", &third) == 1 && at == third;

		n_named += is_named;
		ck_assert_msg(is_named == (strcmp(site, "fleet") == 0) && is_named == (strncmp(name, "sw-", 3) == 0) &&
		    (!is_named || !strchr(name, '#')), "%s: %s of %s is at %s", when, name, address, site);
		ck_assert_msg(!json_object_get(seen, name), "%s: several are called %s", when, name);
		json_object_set(seen, name, row);
		if (is_named)
			for (int k = 0; k < 8 && rig.fleet[at].way != FLEET_BY_SFLOW; k++) {
				unsigned octet = 0;

				sscanf(json_string_value(json_object_get(row, "id")) + 2 * k, "%2x", &octet);
				ck_assert_msg(octet == rig.fleet[at].id[k], "%s: %s is another agent", when, name);
			}
	}
	ck_assert_msg(n_named == FLEET_SWITCHES, "%s: %zu switches have their names", when, n_named);
	json_decref(seen);
	json_decref(answer);
}

static void
print_figures(const char *name)
{
	printf("%-52s %" PRIu64 " datagrams, away for at most %" PRIu64 " us, %" PRIu64 " us busy, store %" PRIu64
	       " KiB, upkeep for at most %.0f us\n", name, rig.sent, rig.longest_us, rig.longest_busy_us,
	    attack_store_octets(&rig) / 1024, sql_number(rig.db, "SELECT value FROM stat WHERE name = 'store.longest_upkeep_us'"));
	fflush(stdout);
}

/* Who fills other tables deletes no sample. */
static void
expect_sample_rows(const char *name)
{
	uint64_t sent = 0;

	for (int i = 0; i < FLEET_SWITCHES; i++)
		for (int p = 0; p < FLEET_PORTS; p++)
			sent += rig.fleet[i].ports[p].sent_samples;
	ck_assert_msg(sql_number(rig.db, "SELECT count(*) FROM sample s JOIN agent a ON a.id = s.agent WHERE a.address NOT"
	    " LIKE '10.66.%'") == (double)sent, "%s: not all of %" PRIu64 " honest samples are there", name, sent);
}

/* Each port of the fleet has a hundred times the rate of its rule; it is told to the second as if there were no attacker, and again
 * after the restart. */
static void
expect_alarms(const char *name)
{
	static const char sql[] = "SELECT %s FROM event e JOIN agent a ON a.id = e.agent WHERE kind = %d AND a.address LIKE '10.0.%%'";
	char number[256], seconds[256];

	snprintf(number, sizeof(number), sql, "count(*)", EASE_EVENT_ALARM);
	snprintf(seconds, sizeof(seconds), sql, "sum(time_us / 1000000 - 1700000040)", EASE_EVENT_ALARM);
	ck_assert_msg(sql_number(rig.db, number) == ALARMS && sql_number(rig.db, seconds) == ALARM_SECONDS,
	    "%s: %.0f alarms of the fleet, after %.0f s altogether", name, sql_number(rig.db, number), sql_number(rig.db, seconds));
}

static void
try(const struct attack *attack)
{
	const char *name = attack ? attack->name : "nobody", *given = getenv("EASE_STORE");
	unsigned store_mib = given ? (unsigned)strtoul(given, NULL, 10)
	    : attack && attack->store_mib > 0 && !getenv("EASE_LONG") ? attack->store_mib : STORE_MIB;
	char size[64], first_elsewhere[128];

	/* Memory is taken when the collector starts, twice in each run. */
	snprintf(size, sizeof(size), "store_size = %u\nmemory = %d", store_mib, getenv("EASE_LONG") ? 256 : 128);
	attack_rig_open(&rig, 1, size);
	run(attack);
	attack_rig_close(&rig);
	print_figures(name);
	attack_expect_fleet(&rig, name);
	if (attack && attack->store_mib > 0)
		expect_sample_rows(name);
	expect_names(name);
	if (!suite_is_slow() && !getenv("EASE_LONG"))
		expect_alarms(name);
	if (attack && !suite_is_slow())
		attack_expect_named(&rig, attack->named ? attack->named : "10.66.0.1", name);
	ck_assert_msg(attack_store_octets(&rig) <= (uint64_t)(store_mib + STORE_SLACK_MIB) << 20,
	    "%s: the store has %" PRIu64 " octets", name, attack_store_octets(&rig));
	/* Upkeep begins where the first of them does: whatever year an agent says, it walks a day at most. */
	snprintf(first_elsewhere, sizeof(first_elsewhere),
	    "SELECT count(*) FROM agent WHERE first_us NOT BETWEEN %" PRIu64 " AND %" PRIu64,
	    (uint64_t)(NOON_US - DAY_US), (uint64_t)(rig.clock.manual_wall_us + 5 * SECOND_US));
	ck_assert_msg(sql_number(rig.db, first_elsewhere) == 0, "%s: agents first heard at other times", name);
	attack_rig_remove(&rig);
}

START_TEST(the_fleet_alone)
{
	if (!getenv("EASE_ATTACK"))
		try(NULL);
}
END_TEST

START_TEST(the_fleet_beside)
{
	const char *only = getenv("EASE_ATTACK");

	if (!only || strcmp(only, attacks[_i].name) == 0)
		try(&attacks[_i]);
}
END_TEST

/* ---- what fills the store by the hour ---- */

/* What is silent for a quarter of an hour leaves the memory and makes room for the next ones: so a sender fills the
 * store with as many each time, unless the store has a number for each source. What was heard in the last quarter
 * stays, which is as many as the memory has places for. */
static const struct {
	const char *attack;
	uint32_t datagrams; /* before each flush, for some flushes: more than the memory takes */
	bool scattered;	    /* each from another address */
	int rounds;	    /* enough to pass most without a number */
	const char *stored; /* of the attacker */
	unsigned most;
} fillers[] = {
    {"agents without end", 20, false, 3, "SELECT count(*) FROM agent WHERE address LIKE '10.66.%'", 1024},
    {"agents without end", 20, true, 5, "SELECT count(*) FROM agent WHERE address LIKE '10.66.%'", 4 * 1024},
    {"ports without end", 10, false, 3, "SELECT count(DISTINCT a.if_index) FROM account a JOIN agent g ON g.id ="
				     " a.agent WHERE g.address = '10.66.0.1'", 256 * 21},
};
enum { N_FILLERS = sizeof(fillers) / sizeof(fillers[0]), FLUSHES_A_ROUND = 20, FLUSH_S = 10, SILENT_STEPS = 3, SILENT_STEP_S = 310 };

static const struct attack *
attack_named(const char *name)
{
	size_t i = 0;

	while (strcmp(attacks[i].name, name) != 0)
		i++;
	return &attacks[i];
}

static void
fill(size_t which, double *most)
{
	static uint32_t sent;
	double stored;

	for (int flush = 0; flush < FLUSHES_A_ROUND; flush++) {
		for (uint32_t k = 0; k < fillers[which].datagrams; k++)
			attack_named(fillers[which].attack)->send(&rig, sent++);
		attack_rig_step(&rig, FLUSH_S);
	}
	for (int step = 0; step < SILENT_STEPS; step++)
		attack_rig_step(&rig, SILENT_STEP_S);
	stored = sql_number(rig.db, fillers[which].stored);
	if (stored > *most)
		*most = stored;
}

START_TEST(no_source_fills_the_store)
{
	const char *name = fillers[_i].attack, *only = getenv("EASE_ATTACK");
	double most = 0;
	char size[64];

	if (only && strcmp(only, name) != 0)
		return;
	snprintf(size, sizeof(size), "store_size = %d\nmemory = 256\nkeep_1min = 0", STORE_MIB);
	attack_rig_open(&rig, 1, size);
	rig.rests = true;
	rig.scatters = fillers[_i].scattered;
	attack_rig_step(&rig, 1);
	for (int round = 0; round < fillers[_i].rounds; round++)
		fill((size_t)_i, &most);
	expect_no_losses(name);
	ck_assert_msg(attack_stat(&rig, "store.deleted_of_sources") > 0, "%s: at most %.0f rows, and none deleted", name,
	    most);
	attack_rig_close(&rig);
	print_figures(name);
	printf("    for hours: at most %.0f rows\n", most);
	fflush(stdout);
	attack_expect_fleet(&rig, name);
	ck_assert_double_le(most, fillers[_i].most + fillers[_i].most / 16);
	ck_assert_uint_le(attack_store_octets(&rig), (uint64_t)(STORE_MIB + STORE_SLACK_MIB) << 20);
	attack_rig_remove(&rig);
}
END_TEST

/* ---- all at once ---- */

/* The fleet alone fills that store in an hour, but for the room that a few switches take. */
enum { MIXED_STORE_MIB = 64, MIXED_S = 150, MIXED_LONG_S = 3600, A_LOOK_S = 30, EDGE_MOST_S = 62 };

static void
expect_live_edge(void)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT] = "";
	uint64_t now_us = rig.clock.manual_wall_us;
	struct query *query;

	options.last_us = 60 * SECOND_US;
	ck_assert_msg(query_open(rig.db, &query, error, sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(report_run(report_find("talkers"), query, &options, now_us, &result), 0);
	ck_assert_msg(result.to_us + EDGE_MOST_S * SECOND_US >= now_us, "counted to %.0f s ago",
	    (double)(now_us - result.to_us) / 1e6);
	report_result_free(&result);
	query_close(query);
}

START_TEST(all_of_them_at_once)
{
	uint32_t seconds = getenv("EASE_LONG") ? MIXED_LONG_S : suite_is_slow() ? SECONDS_SLOW : MIXED_S, sent[64] = {0};
	char size[64];

	if (getenv("EASE_ATTACK"))
		return;
	ck_assert_uint_le(n_attacks, 64);
	snprintf(size, sizeof(size), "store_size = %u\nmemory = 256", MIXED_STORE_MIB);
	attack_rig_open(&rig, 7, size);
	rig.rests = true;
	silence_late_ones(true);
	attack_rig_step(&rig, 1);
	for (uint32_t second = 0; second < seconds; second++) {
		for (int k = 0; k < RATE; k++) {
			uint64_t which = attack_draw(&rig, n_attacks);

			attacks[which].send(&rig, sent[which]++);
		}
		attack_rig_step(&rig, 1);
		if (second == seconds / 2)
			silence_late_ones(false);
		if (second > 0 && second % A_LOOK_S == 0)
			expect_live_edge();
	}
	expect_no_losses("all at once");
	attack_rig_close(&rig);
	print_figures("all at once");
	attack_expect_fleet(&rig, "all at once");
	expect_names("all at once");
	ck_assert_uint_le(attack_store_octets(&rig), (uint64_t)(MIXED_STORE_MIB + STORE_SLACK_MIB) << 20);
	attack_rig_remove(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("attacks");
	TCase *all = tcase_create("all"), *mixed = tcase_create("mixed");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 3600 : 900);
	tcase_add_test(all, the_fleet_alone);
	tcase_add_loop_test(all, the_fleet_beside, 0, (int)n_attacks);
	tcase_add_loop_test(all, no_source_fills_the_store, 0, SUITE_SANITIZES ? 1 : N_FILLERS);
	tcase_set_timeout(mixed, getenv("EASE_LONG") ? 3600 : 900);
	tcase_add_test(mixed, all_of_them_at_once);
	suite_add_tcase(suite, all);
	suite_add_tcase(suite, mixed);
	return suite_run(suite);
}
