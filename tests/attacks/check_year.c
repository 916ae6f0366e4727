/*
 * A year of a network of two hundred switches in steps of hours: beside the honest fleet another
 * hundred of which some are replaced each month, whose clocks are wrong by up to fifty years back
 * and two hundred forward, whose ports flap, and one of which has a cable that makes up MAC
 * addresses. The store stays within its size, no table grows once ages have been reached, memory
 * neither, and reports about honest switches say what these counted.
 *
 * A month, with ages as much shorter; with EASE_LONG the year.
 */
#include "tests/attacks/attack_rig.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <inttypes.h>
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	OTHERS = 100,
	OTHER_PORTS = 4,
	REPLACED = 5, /* of them, at a time */
	WRONG_CLOCKS = 40,
	FLAPPING = 10,
	FLAPS = 10,      /* of each, a step */
	BAD_FRAMES = 50, /* of the cable, a step */
	STORE_MIB = 256,
	STORE_SLACK_MIB = 8,
	GROWTH_MAX = 8 << 20, /* octets, of what malloc keeps */
	TABLES_MAX = 48,
};

#define YEAR_US (31556952 * (int64_t)SECOND_US)

/* How long it takes; replacements come, and ages end, well within it. Days are deleted eight at a
 * time, so a third of it is a multiple of that. */
static const struct span {
	int days, day_steps, replaced_days, keep_days;
} slow_month = {24, 1, 2, 6}, month = {24, 2, 2, 6}, year = {360, 2, 30, 100};
static const struct span *span;

static struct attack_rig rig;

static struct other {
	uint32_t address, boot, sequence;
	uint8_t id[8];
	uint64_t pkts, since_us;
	int64_t clock_off_us;
} others[OTHERS];

/* ---- the other hundred ---- */

/* Another switch comes in the place of one, at its address. */
static void
replace(int i)
{
	struct other *o = &others[i];

	*o = (struct other){.address = 0x0a4d0001 + (uint32_t)i * 256,
	    .boot = 1 + (uint32_t)attack_draw(&rig, 50),
	    .since_us = rig.clock.manual_wall_us};
	for (int k = 0; k < 8; k++)
		o->id[k] = (uint8_t)attack_draw(&rig, 256);
	if (i < WRONG_CLOCKS)
		o->clock_off_us =
		    (int64_t)attack_draw(&rig, 250 * 1000) * (YEAR_US / 1000) - 50 * YEAR_US;
}

static uint64_t
time_of(const struct other *o)
{
	return rig.clock.manual_wall_us + (uint64_t)o->clock_off_us;
}

static void
flap(struct trap_message *m, const struct other *o)
{
	for (int k = 0; k < FLAPS; k++) {
		struct ease_state state = {.if_index = 1 + (uint32_t)attack_draw(&rig, OTHER_PORTS),
		    .name = "port",
		    .time_us = time_of(o) - (uint64_t)(FLAPS - k) * SECOND_US,
		    .speed_bps = 1000000000,
		    .duplex = EASE_DUPLEX_FULL,
		    .admin_status = EASE_IF_UP,
		    .oper_status = k % 2 ? EASE_IF_UP : EASE_IF_DOWN,
		    .edge = true};

		trap_start(m, FLEET_COMMUNITY, EASE_NOTIFY_PORT_STATE, o->id, o->boot);
		trap_add_state(m, &state);
		attack_send_trap(&rig, o->address, m);
	}
}

static void
garble(struct trap_message *m, const struct other *o)
{
	trap_start(m, FLEET_COMMUNITY, EASE_NOTIFY_ERROR_SOURCE, o->id, o->boot);
	for (int k = 0; k < BAD_FRAMES; k++) {
		struct ease_error_source e = {.if_index = 1,
		    .kind = EASE_ERROR_FCS,
		    .count = 1,
		    .first_us = time_of(o),
		    .time_us = time_of(o)};

		for (int octet = 0; octet < 6; octet++)
			e.mac[octet] = (uint8_t)attack_draw(&rig, 256);
		trap_add_error_source(m, &e);
	}
	attack_send_trap(&rig, o->address, m);
}

static void
send_other(int i)
{
	static struct trap_message m;
	struct other *o = &others[i];

	o->sequence++;
	o->pkts += (uint64_t)FLEET_SKIP * (86400u / (unsigned)span->day_steps);
	trap_start(&m, FLEET_COMMUNITY, EASE_NOTIFY_SAMPLES, o->id, o->boot);
	for (uint32_t p = 1; p <= OTHER_PORTS; p++) {
		struct ease_sample sample = fleet_sample(&rig, &rig.fleet[0], 0, o->sequence);
		struct ease_snapshot snapshot = {.if_index = p,
		    .time_us = time_of(o),
		    .samples = o->sequence,
		    .in = {.octets = o->pkts * FLEET_FRAME_OCTETS, .ucast_pkts = o->pkts},
		    .last_sequence = o->sequence,
		    .pool_in_pkts = o->pkts};

		sample.if_index = p;
		sample.time_us = time_of(o);
		sample.pool_pkts = o->pkts;
		trap_add_sample(&m, &sample);
		trap_add_snapshot(&m, &snapshot);
	}
	attack_send_trap(&rig, o->address, &m);
	if (i % (OTHERS / FLAPPING) == 0)
		flap(&m, o);
	if (i == OTHERS - 1)
		garble(&m, o);
}

/* ---- what must not grow ---- */

struct sizes {
	size_t n;
	char name[TABLES_MAX][32];
	double rows[TABLES_MAX];
};

/* Rows of each table as it stands in the file, packs unopened. */
static void
measure(struct sizes *sizes)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *tables = NULL, *count = NULL;
	char sql[128];

	sizes->n = 0;
	ck_assert_int_eq(sqlite3_open_v2(rig.db, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db,
			     "SELECT name FROM sqlite_schema WHERE type = 'table'"
			     " AND name NOT LIKE 'sqlite_%' ORDER BY name",
			     -1, &tables, NULL),
	    SQLITE_OK);
	while (sqlite3_step(tables) == SQLITE_ROW) {
		ck_assert_uint_lt(sizes->n, TABLES_MAX);
		snprintf(sizes->name[sizes->n], sizeof(sizes->name[0]), "%s",
		    sqlite3_column_text(tables, 0));
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", sizes->name[sizes->n]);
		if (strcmp(sizes->name[sizes->n], "error_source") == 0) /* of a port: the one that garbles may be replaced twice */
			snprintf(sql, sizeof(sql), "SELECT max(n) FROM (SELECT count(*) AS n FROM error_source GROUP BY agent, if_index)");
		ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &count, NULL), SQLITE_OK);
		ck_assert_int_eq(sqlite3_step(count), SQLITE_ROW);
		sizes->rows[sizes->n++] = sqlite3_column_double(count, 0);
		sqlite3_finalize(count);
	}
	sqlite3_finalize(tables);
	sqlite3_close(db);
}

/* Packs end when they are full, and a port keeps 256 to 512 sources of bad frames, so a table may be somewhat larger at
 * another time. */
static void
expect_flat(const struct sizes *then, const struct sizes *now)
{
	ck_assert_uint_eq(then->n, now->n);
	for (size_t i = 0; i < now->n; i++) {
		printf("    %-16s %8.0f rows, then %8.0f\n", now->name[i], then->rows[i],
		    now->rows[i]);
		ck_assert_msg(now->rows[i] <= 1.1 * then->rows[i] + 300,
		    "%s grew from %.0f to %.0f rows", now->name[i], then->rows[i], now->rows[i]);
	}
}

/* With a collector that has just begun, as at the first look. */
static size_t
octets_held(void)
{
	struct mallinfo2 held;

	attack_rig_stop(&rig);
	attack_rig_start(&rig);
	held = mallinfo2();
	return held.uordblks + held.hblkhd; /* a large block is of the one or of the other, as malloc has learnt */
}

/* ---- reports ---- */

/* Of a switch whose ports had FLEET_SKIP frames a second each, all the time. */
static void
expect_counted(const char *address, int ports, int days)
{
	uint64_t to_s = rig.clock.manual_wall_us / SECOND_US / 86400 * 86400,
		 from_s = to_s - (uint64_t)days * 86400;
	double pkts = (double)ports * FLEET_SKIP * days * 86400;
	char command[320], from[32], to[32];
	json_t *answer, *totals;
	json_error_t error;
	FILE *out;

	strftime(from, sizeof(from), "%FT%TZ", gmtime(&(time_t){(time_t)from_s}));
	strftime(to, sizeof(to), "%FT%TZ", gmtime(&(time_t){(time_t)to_s}));
	snprintf(command, sizeof(command),
	    "collector/easetop talkers --store sqlite:%s --agent %s --from %s"
	    " --to %s --format json",
	    rig.db, address, from, to);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	answer = json_loadf(out, 0, &error);
	ck_assert_msg(pclose(out) == 0 && answer, "%s: %s", command, error.text);
	totals = json_object_get(answer, "totals");
	ck_assert_msg(totals != NULL, "%s: no totals", command);
	ck_assert_double_eq_tol(json_number_value(json_object_get(totals, "packets")), pkts, 1);
	ck_assert_double_eq_tol(json_number_value(json_object_get(totals, "octets")),
	    pkts * FLEET_FRAME_OCTETS, FLEET_FRAME_OCTETS);
	ck_assert_double_eq_tol(
	    json_number_value(json_object_get(answer, "completeness")), 1, 1e-9);
	json_decref(answer);
}

static void
expect_reports(int days)
{
	uint64_t from_us = rig.clock.manual_wall_us - (uint64_t)(days + 1) * DAY_US;
	char address[16];
	int n_wrong = 0;

	for (int i = 0; i < FLEET_SWITCHES; i += 9) {
		snprintf(address, sizeof(address), "10.0.%d.1", i);
		expect_counted(address, FLEET_PORTS, days);
	}
	for (int i = 0; i < WRONG_CLOCKS && n_wrong < 10; i++) {
		if (others[i].since_us > from_us)
			continue;
		n_wrong++;
		snprintf(address, sizeof(address), "10.77.%d.1", i);
		expect_counted(address, OTHER_PORTS, days);
	}
	ck_assert_int_eq(n_wrong, 10);
}

START_TEST(nothing_grows)
{
	static const char *const losses[] = {"accounting.lost_store_rows", "accounting.no_room",
	    "store.lost_rows", "store.lost_batches"};
	static struct sizes then, now;
	size_t held_then = 0, held_now;
	uint64_t largest = 0;
	char lines[256];

	span = suite_is_slow() || SUITE_SANITIZES ? &slow_month : getenv("EASE_LONG") ? &year : &month;
	snprintf(lines, sizeof(lines),
	    "store_size = %d\nmemory = 256\nkeep_5min = %d\nkeep_1h = %d\nkeep_1d = %d\n"
	    "forget_after = %d",
	    STORE_MIB, (span->keep_days + 7) / 8, span->keep_days / 2, span->keep_days,
	    span->keep_days / 2);
	attack_rig_open(&rig, 1, lines);
	rig.rests = true;
	for (int i = 0; i < OTHERS; i++)
		replace(i);
	for (int step = 0; step < span->days * span->day_steps; step++) {
		attack_rig_step(&rig, 86400u / (unsigned)span->day_steps);
		for (int i = 0; i < OTHERS; i++)
			send_other(i);
		if (step % (span->replaced_days * span->day_steps) == 0)
			for (int k = 0; k < REPLACED; k++)
				replace((int)attack_draw(&rig, OTHERS));
		if (attack_store_octets(&rig) > largest)
			largest = attack_store_octets(&rig);
		if (step + 1 != span->days * span->day_steps * 2 / 3)
			continue;
		held_then = octets_held();
		measure(&then);
	}
	held_now = octets_held();
	measure(&now);
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		ck_assert_msg(attack_stat(&rig, losses[i]) == 0, "%s", losses[i]);
	printf("%d days: store %" PRIu64 " KiB at most, memory %zu then %zu KiB\n", span->days,
	    largest / 1024, held_then / 1024, held_now / 1024);
	expect_flat(&then, &now);
	fflush(stdout);
	expect_reports(span->keep_days - 2);
	ck_assert_uint_le(held_now, held_then + GROWTH_MAX);
	ck_assert_uint_le(largest, (uint64_t)(STORE_MIB + STORE_SLACK_MIB) << 20);
	attack_rig_close(&rig);
	attack_rig_remove(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("year");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 3600 : 900);
	tcase_add_test(all, nothing_grows);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
