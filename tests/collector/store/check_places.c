/*
 * Places of addresses: what is kept as samples come must be what a statement over all samples gives, in
 * whatever order they come; made-up sources take the room of their own port only; and a transaction that is
 * rolled back and comes again counts once.
 */
#include "collector/store/places.h"
#include "collector/store/schema.h"
#include "collector/store/store.h"
#include "common/trap_wire.h"
#include "tests/suite.h"

#include <check.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define T0 1700000000000000ull

enum { ROOM = 40000 };

static sqlite3 *db;
static struct places *places;
static struct store_batch batch;
static sqlite3_stmt *insert;
static uint32_t n_samples;

static void
run(const char *sql)
{
	char *error = NULL;

	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", sql, error);
}

static sqlite3_int64
number(const char *sql)
{
	sqlite3_stmt *s = NULL;
	sqlite3_int64 value;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
	value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return value;
}

/* A database with the store's tables; `seen_one` has each sighting as a row of its own. */
static void
setup(void)
{
	struct store_room room[STORE_N_TABLES] = {0};

	room[STORE_SAMPLES].free = room[STORE_EVENTS].free = ROOM;
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	ck_assert_int_eq(store_make_tables(db), 0);
	run("CREATE TABLE seen_one(layer INTEGER, address BLOB, agent INTEGER, if_index INTEGER, vlan INTEGER,"
	    " time_us INTEGER)"); /* typed like place's columns, or no index would find its rows */
	ck_assert_int_eq(sqlite3_prepare_v2(db, "INSERT INTO seen_one VALUES(?,?,?,?,?,?)", -1, &insert, NULL),
	    SQLITE_OK);
	ck_assert_int_eq(places_open(&places, db), 0);
	n_samples = 0;
}

static void
teardown(void)
{
	places_close(places);
	sqlite3_finalize(insert);
	sqlite3_close(db);
	store_batch_free(&batch);
}

static void
note(enum store_place_layer layer, const void *octets, int n, int64_t agent, uint32_t port, int vlan,
    uint64_t time_us)
{
	sqlite3_bind_int(insert, 1, layer);
	sqlite3_bind_blob(insert, 2, octets, n, SQLITE_STATIC);
	sqlite3_bind_int64(insert, 3, agent);
	sqlite3_bind_int64(insert, 4, port);
	if (vlan > 0)
		sqlite3_bind_int(insert, 5, vlan);
	else
		sqlite3_bind_null(insert, 5);
	sqlite3_bind_int64(insert, 6, (sqlite3_int64)time_us);
	ck_assert_int_eq(sqlite3_step(insert), SQLITE_DONE);
	sqlite3_reset(insert);
}

/* A sample from the station of that number: IPv4, every fifth IPv6, every seventh with another inside. */
static void
sample(int64_t agent, uint32_t port, uint32_t station, int vlan, uint64_t time_us, uint8_t direction)
{
	struct store_sample *s = store_batch_add(&batch, STORE_SAMPLES);
	bool v6 = station % 5 == 0, inner = station % 7 == 0;

	ck_assert_ptr_nonnull(s);
	*s = (struct store_sample){.agent = agent, .boot = 1, .stands_for = 1,
	    .sample = {.if_index = port, .sequence = ++n_samples, .time_us = time_us, .direction = direction},
	    .keys = {.has_macs = true, .n_vlans = vlan > 0, .vlan = {(uint16_t)vlan}, .ip_version = v6 ? 6 : 4}};
	memcpy(s->keys.src_mac, &station, 4);
	memcpy(s->keys.src_ip, &station, 4);
	if (inner) {
		s->inner.ip_version = 4;
		memcpy(s->inner.src_ip, &station, 4);
	}
	if (direction != EASE_IN)
		return;
	note(STORE_PLACE_ETH, s->keys.src_mac, 6, agent, port, vlan, time_us);
	note(STORE_PLACE_IP, s->keys.src_ip, v6 ? 16 : 4, agent, port, vlan, time_us);
	if (inner)
		note(STORE_PLACE_INNER, s->inner.src_ip, 4, agent, port, vlan, time_us);
}

static void
announcement(int64_t agent, uint32_t port, uint32_t station, int vlan, uint64_t time_us)
{
	struct store_event *e = store_batch_add(&batch, STORE_EVENTS);

	ck_assert_ptr_nonnull(e);
	*e = (struct store_event){.time_us = time_us, .agent = agent, .boot = 1, .kind = EASE_NOTIFY_NEW_ADDRESS,
	    .if_index = port, .has_mac = true, .vlan = (uint16_t)vlan};
	memcpy(e->mac, &station, 4);
	note(STORE_PLACE_ETH, e->mac, 6, agent, port, vlan, time_us);
}

static void
flush(void)
{
	run("BEGIN");
	ck_assert_int_eq(places_write(places, &batch), 0);
	run("COMMIT");
	store_batch_clear(&batch);
}

/* The definition, over all sightings. */
#define DEFINITION "SELECT layer, address, agent, if_index, min(time_us), max(time_us), count(*) FROM seen_one" \
		   " GROUP BY 1, 2, 3, 4"
#define KEPT	   "SELECT layer, address, agent, if_index, first_us, last_us, seen FROM place"

static void
check_all(void)
{
	run("CREATE INDEX seen_at ON seen_one(address, agent, if_index, time_us)");
	ck_assert_int_eq(number("SELECT count(*) FROM place"), number("SELECT count(*) FROM (" DEFINITION ")"));
	ck_assert_int_eq(number("SELECT count(*) FROM (" KEPT " EXCEPT " DEFINITION ")"), 0);
	ck_assert_int_eq(number("SELECT count(*) FROM place p WHERE vlan IS NOT (SELECT vlan FROM seen_one s WHERE"
	    " s.layer = p.layer AND s.address = p.address AND s.agent = p.agent AND s.if_index = p.if_index"
	    " AND s.time_us = p.last_us)"), 0);
}

START_TEST(any_order_gives_what_all_samples_give)
{
	srand(7);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t station = (uint32_t)rand() % 200, port = 1 + (uint32_t)rand() % 3;
		uint64_t time_us = T0 + (uint64_t)(i * 7919 % 20000) * 1000; /* once each, in disorder */

		if (i % 50 == 0)
			announcement(1 + i % 2, port, station, rand() % 2 * 9, time_us);
		else
			sample(1 + i % 2, port, station, rand() % 3, time_us, i % 11 ? EASE_IN : EASE_OUT);
		if (rand() % 300 == 0)
			flush();
	}
	flush();
	check_all();
	ck_assert_uint_eq(places_counts(places).crowded_out, 0);
}
END_TEST

/* More than a batch may write: the rest comes with the next ones, or at the end. */
START_TEST(what_waits_is_written_later)
{
	for (uint32_t i = 0; i < 3 * PLACES_A_BATCH / 2; i++)
		sample(1, 1 + i % 4, 1000 + i, 0, T0 + i, EASE_IN);
	flush();
	ck_assert_int_eq(number("SELECT count(*) FROM place"), PLACES_A_BATCH);
	flush();
	ck_assert_int_eq(number("SELECT count(*) FROM place"), 2 * PLACES_A_BATCH);
	ck_assert_int_eq(places_end(places), 0);
	check_all();
}
END_TEST

START_TEST(a_flood_takes_the_room_of_its_own_port)
{
	uint32_t source = 1000000;

	for (uint32_t i = 0; i < 100; i++)
		sample(1, 2, 1 + i, 0, T0 + i, EASE_IN);
	flush();
	for (int second = 1; second <= 40; second++) {
		for (uint32_t i = 0; i < 3000; i++)
			sample(1, 1, source++, 0, T0 + (uint64_t)second * 1000000 + i, EASE_IN);
		flush();
	}
	ck_assert_int_eq(places_end(places), 0);
	ck_assert_int_eq(number("SELECT count(DISTINCT address) FROM place WHERE if_index = 2 AND layer = 1"), 100);
	ck_assert_int_ge(number("SELECT count(*) FROM place WHERE if_index = 1"), PLACES_A_PORT);
	ck_assert_int_le(number("SELECT count(*) FROM place WHERE if_index = 1"), PLACES_A_PORT + 1024);
	ck_assert_uint_gt(places_counts(places).beyond_limit, 0);
	/* who was there before is still seen */
	sample(1, 2, 1, 0, T0 + 60000000, EASE_IN);
	flush();
	ck_assert_int_eq(number("SELECT last_us FROM place WHERE if_index = 2 AND address = x'010000000000'"),
	    (sqlite3_int64)T0 + 60000000);
}
END_TEST

/* A port keeps its number, though all are seen at one moment. */
START_TEST(places_of_one_moment_do_not_go_together)
{
	for (uint32_t source = 0; source < 30000; source++) {
		sample(1, 1, 11 + 70 * source, 0, T0, EASE_IN);
		if (source % 3000 == 2999)
			flush();
	}
	ck_assert_int_eq(places_end(places), 0);
	ck_assert_uint_gt(places_counts(places).beyond_limit, 0);
	ck_assert_int_ge(number("SELECT count(*) FROM place"), PLACES_A_PORT);
	ck_assert_int_le(number("SELECT count(*) FROM place"), PLACES_A_PORT + 1024);
}
END_TEST

/* Everything is noted or counted. */
START_TEST(what_finds_no_room_is_counted)
{
	uint32_t source = 0;

	for (int second = 0; second < 10; second++) {
		for (uint32_t i = 0; i < 30000; i++, source++)
			sample(1, 1 + source % 1000, 11 + 70 * source, 0, T0 + source, EASE_IN);
		flush();
	}
	ck_assert_int_eq(places_end(places), 0);
	ck_assert_uint_gt(places_counts(places).crowded_out, 0);
	ck_assert_uint_eq(places_counts(places).beyond_limit, 0);
	ck_assert_int_eq(number("SELECT sum(seen) FROM place") + (sqlite3_int64)places_counts(places).crowded_out,
	    number("SELECT count(*) FROM seen_one"));
}
END_TEST

START_TEST(a_batch_that_comes_again_counts_once)
{
	sample(1, 1, 1, 5, T0, EASE_IN);
	flush();
	sample(1, 2, 1, 5, T0 + 1, EASE_IN);
	sample(1, 1, 3, 0, T0 + 2, EASE_IN);
	run("BEGIN");
	ck_assert_int_eq(places_write(places, &batch), 0);
	run("ROLLBACK");
	places_rolled_back(places);
	flush(); /* the same batch */
	check_all();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("places");
	TCase *tc = tcase_create("places");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, any_order_gives_what_all_samples_give);
	tcase_add_test(tc, what_waits_is_written_later);
	tcase_add_test(tc, a_flood_takes_the_room_of_its_own_port);
	tcase_add_test(tc, places_of_one_moment_do_not_go_together);
	tcase_add_test(tc, what_finds_no_room_is_counted);
	tcase_add_test(tc, a_batch_that_comes_again_counts_once);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
