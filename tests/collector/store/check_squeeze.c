/*
 * What makes room in the store: samples of whoever fills it and not everybody's, sums of nobody while
 * there are samples; ages that no wrong clock stops; and of each source a number of agents and ports.
 */
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILLED_MIB = 6, WAIT_MS = 240000, STEP_MS = 20, A_BATCH = 20000 };

/* Waits for what the store's thread does by itself. */
static bool
comes_true(const struct accounting_rig *f, const char *sql)
{
	for (int waited = 0; waited < WAIT_MS; waited += STEP_MS) {
		if (rig_query(f, sql) == 1)
			return true;
		usleep(STEP_MS * 1000);
	}
	return false;
}

static void
send_one(struct accounting_rig *f, uint8_t agent, uint32_t port, uint32_t i, uint64_t time_us,
    uint64_t received_us)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record r;

	rig_header(i, header);
	r = rig_sample(1, i, header);
	r.agent_id[0] = agent;
	r.received_us = received_us;
	r.sample.if_index = port;
	r.sample.time_us = time_us;
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

#define OCTETS_USED                                                                                \
	"(SELECT (page_count - freelist_count) * page_size FROM pragma_page_count,"                \
	" pragma_freelist_count, pragma_page_size)"

START_TEST(who_fills_the_store_makes_room)
{
	enum { HONEST = 20000 };
	const uint32_t flood = getenv("EASE_LONG") ? 400000 : 200000, most = flood / 25000 << 20;
	const struct store_retention keep = {.most_octets = most};
	struct accounting_rig f;
	char sql[256];

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= HONEST; i++)
		send_one(&f, 1, 1 + i % 4, (i + 3) / 4, NOON_US + i * STEP_US, NOON_US + i * STEP_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), HONEST);
	store_set_retention(f.store, &keep);
	for (uint32_t i = 1; i <= flood; i++) {
		uint64_t now_us = NOON_US + (HONEST + i / 100) * STEP_US;

		send_one(&f, 2, 1 + i % 8, UINT32_MAX - flood / 80 + (i + 7) / 8, now_us, now_us); /* they wrap */
		if (i % A_BATCH == 0)
			rig_flush(&f);
	}
	snprintf(sql, sizeof(sql), "SELECT " OCTETS_USED " <= %u", most);
	ck_assert(comes_true(&f, sql));
	rig_close(&f);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 1"), HONEST);
	ck_assert_double_lt(
	    rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 2"), flood);
	ck_assert_double_gt(rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 2"), 0);
	ck_assert_double_ge(rig_query(&f, "SELECT max(time_us) FROM sample WHERE agent = 2"),
	    NOON_US + (HONEST + flood / 100) * STEP_US); /* what is older makes room */
	/* every sum is there, and it is said since when all samples are */
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), HONEST + flood);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample_floor WHERE agent = 1"), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample_floor WHERE agent = 2"), 1);
	rig_remove(&f);
}
END_TEST

/* One agent was heard in 2096, by a capture with a wrong clock. */
START_TEST(no_clock_stops_deletion_by_age)
{
	enum { MINUTES = 200 };
	const struct store_retention keep = {.samples_us = 60 * MINUTE_US};
	struct accounting_rig f;
	char sql[256];

	rig_make(&f);
	rig_open(&f);
	rig_sql(&f, "INSERT INTO agent(id, agent_id, boot, address, first_us, last_us, last_received_us) VALUES(77, x'0102030405060777', 1, '192.0.2.77',"
		    " 1600000000000000, 1600000000000000, 4000000000000000)");
	store_set_retention(f.store, &keep);
	for (uint32_t i = 1; i <= MINUTES; i++) {
		uint64_t now_us = NOON_US + i * MINUTE_US;

		send_one(&f, 1, 1, i, now_us, now_us);
		rig_flush(&f);
	}
	snprintf(sql, sizeof(sql), "SELECT min(time_us) >= %llu FROM sample WHERE agent = 1",
	    (unsigned long long)(NOON_US + (MINUTES - 70) * MINUTE_US));
	ck_assert(comes_true(&f, sql));
	ck_assert_double_ge(rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 1"), 60);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* The machine of a collector began with a clock that is years ahead: until it is set, as it will be within minutes, nothing is
 * old by it, and no window over. */
START_TEST(a_clock_that_leapt_ages_nothing)
{
	enum { MINUTES = 10 };
	const struct store_retention keep = {.samples_us = 60 * MINUTE_US, .level_us = {[LEVEL_1_MIN] = 60 * MINUTE_US}};
	uint64_t leapt_us = clock_wall_us(&clock_system) - MINUTES * MINUTE_US;
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	store_set_retention(f.store, &keep);
	for (uint32_t i = 1; i <= 2 * MINUTES; i++) {
		uint64_t now_us = i <= MINUTES ? NOON_US + i * MINUTE_US : leapt_us + (i - MINUTES) * MINUTE_US;

		send_one(&f, 1, 1, i, now_us, now_us);
		rig_flush(&f);
		ck_assert_int_eq(store_rest(f.store), 0);
	}
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 2 * MINUTES);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), 2 * MINUTES);
	ck_assert_double_le(rig_query(&f, "SELECT max(done_us) FROM level"), NOON_US + MINUTES * MINUTE_US);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Headers leave when they are old, and their samples stay. */
START_TEST(headers_leave_before_their_samples)
{
	enum { MINUTES = 90 };
	const struct store_retention keep = {.samples_us = 3600 * MINUTE_US, .headers_us = 30 * MINUTE_US};
	struct accounting_limits limits = rig_limits;
	struct accounting_rig f;
	char sql[256];

	limits.header_octets = 24;
	rig_make(&f);
	rig_open_with(&f, &limits);
	store_set_retention(f.store, &keep);
	for (uint32_t i = 1; i <= MINUTES; i++) {
		uint64_t now_us = NOON_US + i * MINUTE_US;

		send_one(&f, 1, 1, i, now_us, now_us);
		rig_flush(&f);
	}
	snprintf(sql, sizeof(sql), "SELECT min(time_us) >= %llu FROM sample WHERE header IS NOT NULL",
	    (unsigned long long)(NOON_US + (MINUTES - 35) * MINUTE_US));
	ck_assert(comes_true(&f, sql));
	ck_assert_double_ge(rig_query(&f, "SELECT count(header) FROM sample"), 30);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), MINUTES);
	ck_assert_double_eq(rig_query(&f, "SELECT max(length(header)) FROM sample"), 24);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- places of addresses ---- */

/* At two ports, one seen each second up to that time. */
#define MANY_PLACES                                                                                          \
	"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000) INSERT INTO place"   \
	" SELECT 2, CAST(printf('%%04d', i) AS BLOB), 7, i %% 2, NULL, 1, %llu - i * 1000000, 1 FROM c"

START_TEST(places_leave_when_they_are_old)
{
	enum { MINUTES = 200, KEPT = 60 };
	const struct store_retention keep = {.level_us = {[LEVEL_5_MIN] = KEPT * MINUTE_US}};
	struct accounting_rig f;
	char sql[512];

	rig_make(&f);
	rig_open(&f);
	snprintf(sql, sizeof(sql), MANY_PLACES, (unsigned long long)NOON_US);
	rig_sql(&f, sql);
	store_set_retention(f.store, &keep);
	for (uint32_t i = 1; i <= MINUTES; i++) {
		send_one(&f, 1, 1, i, NOON_US + i * MINUTE_US, NOON_US + i * MINUTE_US);
		rig_flush(&f);
	}
	ck_assert(comes_true(&f, "SELECT count(*) = 0 FROM place WHERE agent = 7"));
	ck_assert_double_gt(rig_query(&f, "SELECT count(*) FROM place WHERE agent = 1"), 0);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_DELETED + RETENTION_DEVICE_ROWS), 3000);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- small tables have parts of their own, and who fills one pays ---- */

/* A recount of what the triggers count. */
static void
expect_held_is_exact(const struct accounting_rig *f)
{
	static const char *const tables[] = {"discard", "discard_hour", "event", "place", "error_source", "oddity"};
	char sql[256];

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM (SELECT agent, count(*) FROM %s GROUP BY 1 EXCEPT SELECT"
		    " agent, n FROM held WHERE tab = %zu)", tables[i], i);
		ck_assert_msg(rig_query(f, sql) == 0, "%s", sql);
		snprintf(sql, sizeof(sql), "SELECT (SELECT count(*) FROM %s) = (SELECT ifnull(sum(n), 0) FROM held WHERE"
		    " tab = %zu)", tables[i], i);
		ck_assert_msg(rig_query(f, sql) == 1, "%s", sql);
	}
}

/* N rows of agents FIRST, FIRST + 1, … as if they had been written by the store; i counts them, a is the agent. */
#define ROWS(n, first, agents) \
	"WITH RECURSIVE c(i, a) AS (SELECT 0, " first " UNION ALL SELECT i + 1, " first " + (i + 1) %% " agents \
	" FROM c WHERE i < " n " - 1) "
static const char fillers[] =
    "BEGIN;" ROWS("%1$d", "%2$d", "%3$d")
    "INSERT INTO discard SELECT a, %4$llu + i / 1000 * 60000000, 1, 1, 2, i %% 5, 'detail', '', '', x'00', CAST(i AS BLOB),"
    " 1, 1 FROM c;" ROWS("%1$d", "%2$d", "%3$d")
    "INSERT INTO event(time_us, agent, boot, kind, if_index, text) SELECT %4$llu, a, 1, 2, i, 'text' FROM c;"
    ROWS("%1$d", "%2$d", "%3$d")
    "INSERT INTO place SELECT 2, CAST(printf('%2$d %%06d', i) AS BLOB), a, i %% 64, NULL, 1, %4$llu + i, 1 FROM c;"
    ROWS("%1$d", "%2$d", "%3$d")
    "INSERT INTO error_source SELECT a, i %% 64, CAST(printf('%%06d', i) AS BLOB), 1, 1, 1, 1, %4$llu + i FROM c;"
    ROWS("%1$d", "%2$d", "%3$d") "INSERT INTO oddity SELECT a, i, 1, 1, 1, %4$llu + i FROM c; COMMIT";

static void
insert_rows(const struct accounting_rig *f, int n, int first, int agents)
{
	char *sql = malloc(8192);

	ck_assert_ptr_nonnull(sql);
	for (int i = 0; i < agents; i++) {
		snprintf(sql, 8192, "INSERT INTO agent(id, agent_id, boot, address, first_us, last_us, last_received_us)"
		    " VALUES(%1$d, x'66%1$014d', 1, '192.0.2.%2$d', 1, 1, %3$llu); INSERT INTO agent_source VALUES(%1$d,"
		    " '10.66.0.%4$d', 1)", first + i, i, (unsigned long long)NOON_US, first / 1000);
		rig_sql(f, sql);
	}
	ck_assert_int_lt(snprintf(sql, 8192, fillers, n, first, agents, (unsigned long long)NOON_US), 8192);
	rig_sql(f, sql);
	free(sql);
}

/* Each with another share of MOST, as the guide has them. */
static const struct {
	const char *name;
	int part;
} parts[] = {{"discard", 4}, {"discard_hour", 2}, {"event", 4}, {"place", 4}, {"error_source", 1}, {"oddity", 1}};

START_TEST(who_fills_small_tables_pays_and_no_sample_does)
{
	enum { HONEST = 20000, THEIRS = 300, FILL = 60000, SUB_AGENTS = 150, MOST = 8 << 20 };
	const struct store_retention keep = {.most_octets = MOST};
	struct accounting_rig f;
	char sql[256];

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= HONEST; i++)
		send_one(&f, 1, 1 + i % 4, (i + 3) / 4, NOON_US + i * STEP_US, NOON_US + i * STEP_US);
	rig_flush(&f);
	insert_rows(&f, THEIRS, 1000, 1);
	insert_rows(&f, FILL, 2000, SUB_AGENTS);
	if (_i == 1) { /* nobody paid before a restart, and no batch comes after it */
		rig_close(&f);
		rig_open(&f);
	}
	store_set_retention(f.store, &keep);
	if (_i == 0) {
		rig_send_sample(&f, 1, 1);
		rig_flush(&f);
	} else {
		store_set_naming(f.store, strdup("agent * site s")); /* as at each start of a collector: the store wakes */
	}
	ck_assert(comes_true(&f, "SELECT sum(octets) <= 8388608 / 128 FROM held WHERE tab = 5"));
	ck_assert_int_eq(store_rest(f.store), 0);
	for (int i = 0; i < STORE_N_HELD; i++)
		ck_assert(i == STORE_HELD_DISCARD_HOUR || stat_get(store_stats(f.store), STORE_STAT_SHARES + i) > 0);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 1"), HONEST);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample_floor"), 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT sum(octets) FROM held WHERE tab = %zu", i);
		ck_assert_msg(rig_query(&f, sql) <= MOST / 128.0 * parts[i].part, "%s: %.0f", parts[i].name,
		    rig_query(&f, sql));
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE agent = 1000", parts[i].name);
		ck_assert_msg(rig_query(&f, sql) == (i == STORE_HELD_DISCARD_HOUR ? 0 : THEIRS), "%s: %.0f", parts[i].name,
		    rig_query(&f, sql));
		/* and of the source that pays the newest stay */
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE agent > 1000", parts[i].name);
		ck_assert_msg(rig_query(&f, sql) >= (i == STORE_HELD_DISCARD_HOUR ? 2 * SUB_AGENTS : THEIRS), "%s: %.0f",
		    parts[i].name, rig_query(&f, sql));
	}
	/* as measured by the file itself, with all indexes */
	snprintf(sql, sizeof(sql), "SELECT sum(pgsize) <= %d FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema"
	    " WHERE tbl_name IN ('discard', 'discard_hour', 'event', 'place', 'error_source', 'oddity'))", MOST / 8);
	ck_assert_double_eq(rig_query(&f, sql), 1);
	snprintf(sql, sizeof(sql), "SELECT " OCTETS_USED " <= %d", MOST);
	ck_assert_double_eq(rig_query(&f, sql), 1);
	/* no packet is lost */
	ck_assert_double_eq(rig_query(&f, "SELECT (SELECT sum(n) FROM discard) + (SELECT sum(n) FROM discard_hour)"),
	    THEIRS + FILL);
	expect_held_is_exact(&f);
	rig_remove(&f);
}
END_TEST

/* Minutes of discarded packets become hours when minutes of sums are deleted; figures by port, kind and reason stay. */
START_TEST(discards_are_rolled_up)
{
	enum { MINUTES = 300, KEPT = 60, ROWS_ = 100000 };
	const struct store_retention keep = {.level_us = {[LEVEL_1_MIN] = KEPT * MINUTE_US}};
	const uint64_t hour_us = 60 * MINUTE_US, end_us = NOON_US + (MINUTES - KEPT - 70) * MINUTE_US;
	struct accounting_rig f;
	struct stat wal;
	char sql[512];

	rig_make(&f);
	rig_open(&f);
	insert_rows(&f, ROWS_, 2000, 3); /* of a hundred minutes */
	rig_sql(&f, "CREATE TABLE before AS SELECT agent, start_us / 3600000000 * 3600000000, if_index, kind, reason, sum(n)"
		    " FROM discard GROUP BY 1, 2, 3, 4, 5");
	store_set_retention(f.store, &keep);
	for (uint32_t i = 1; i <= MINUTES; i++) {
		send_one(&f, 1, 1, i, NOON_US + i * MINUTE_US, NOON_US + i * MINUTE_US);
		rig_flush(&f);
	}
	snprintf(sql, sizeof(sql), "SELECT count(*) = 0 FROM discard WHERE start_us < %llu",
	    (unsigned long long)(end_us - end_us % hour_us));
	ck_assert(comes_true(&f, sql));
	ck_assert_double_gt(rig_query(&f, "SELECT count(*) FROM discard_hour"), 0);
	snprintf(sql, sizeof(sql), "%s-wal", f.path);
	ck_assert_int_eq(stat(sql, &wal), 0);
	ck_assert_int_le(wal.st_size, 32 << 20);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM (SELECT * FROM before EXCEPT SELECT agent, start_us,"
	    " if_index, kind, reason, sum(n) FROM (SELECT * FROM discard_hour UNION ALL SELECT agent, start_us / 3600000000"
	    " * 3600000000, if_index, kind, reason, n FROM discard) GROUP BY 1, 2, 3, 4, 5)"), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT (SELECT ifnull(sum(n), 0) FROM discard) + (SELECT sum(n) FROM"
	    " discard_hour)"), ROWS_);
	expect_held_is_exact(&f);
	rig_remove(&f);
}
END_TEST

/* ---- a number of agents and ports for each source ---- */

enum { A_SOURCE = 60, SOURCES = 5 };

/* Agents of one source, with a port each, heard a minute apart. */
static void
send_agents(struct accounting_rig *f, uint8_t source, uint32_t from, uint32_t n, uint32_t first_minute)
{
	char sender[16];

	snprintf(sender, sizeof(sender), "192.0.2.%u", source);
	for (uint32_t i = from; i < from + n; i++) {
		uint64_t now_us = NOON_US + (uint64_t)(first_minute + i) * MINUTE_US;
		struct ease_record r = rig_snapshot(1, 0);
		const uint8_t id[] = {source, 0, 0, 0, 0, 0, 0, (uint8_t)i};

		memcpy(r.agent_id, id, sizeof(id));
		r.sender = sender;
		r.received_us = r.snapshot.time_us = now_us;
		accounting_add_records(f->accounting, f->batch, &r, 1);
	}
}

static double
agents_of(const struct accounting_rig *f, unsigned source, unsigned first)
{
	char sql[192];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM agent a JOIN agent_source s ON s.agent = a.id WHERE"
	    " a.address = '192.0.2.%u' AND hex(a.agent_id) >= '%02X000000000000%02X'", source, source, first);
	return rig_query(f, sql);
}

static uint64_t
forgotten(const struct accounting_rig *f)
{
	return stat_get(store_stats(f->store), STORE_STAT_DELETED + RETENTION_OF_SOURCES);
}

static void
open_for_sources(struct accounting_rig *f, uint32_t first_minute, uint32_t n)
{
	struct accounting_limits limits = rig_limits;

	limits.agents = 512;
	rig_make(f);
	rig_open_with(f, &limits);
	for (uint8_t source = 1; source <= SOURCES; source++)
		send_agents(f, source, 0, n, source == 2 ? 0 : first_minute);
	rig_flush(f);
}

/* Source 2 was silent for longest, and has its number; source 1 comes with more. */
START_TEST(a_source_that_has_more_than_its_number_forgets_its_own)
{
	const struct store_retention keep = {.most_agents = A_SOURCE, .most_ports = 1024};
	struct accounting_rig f;

	open_for_sources(&f, 100, 20);
	send_agents(&f, 1, 20, 80, 100);
	rig_flush(&f);
	store_set_retention(f.store, &keep);
	rig_flush(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	ck_assert_double_eq(agents_of(&f, 1, 0), A_SOURCE);
	ck_assert_double_eq(agents_of(&f, 1, 100 - A_SOURCE), A_SOURCE); /* those that were heard last */
	for (unsigned source = 2; source <= SOURCES; source++)
		ck_assert_double_eq(agents_of(&f, source, 0), 20);
	ck_assert_uint_eq(forgotten(&f), 100 - A_SOURCE);
	/* with all that hangs on them */
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM account"), A_SOURCE + 4 * 20);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent_source"), A_SOURCE + 4 * 20);
	ck_assert_double_eq(rig_query(&f, "SELECT count(DISTINCT agent) FROM counter"), A_SOURCE + 4 * 20);
	/* one that was forgotten and is still in memory is written again, with its source */
	clock_step_us(&f.clock, 1000 * 1000000ull);
	send_agents(&f, 1, 0, 1, 300);
	rig_flush(&f);
	ck_assert_double_eq(agents_of(&f, 1, 0), A_SOURCE + 1);
	ck_assert_double_eq(agents_of(&f, 1, 1), A_SOURCE);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* No source has more than its number, but all together have more than four times that: whoever has most pays. */
START_TEST(all_sources_together_have_a_number)
{
	const struct store_retention keep = {.most_agents = A_SOURCE, .most_ports = 1024};
	struct accounting_rig f;

	open_for_sources(&f, 100, 50);
	send_agents(&f, 3, 50, 5, 100);
	rig_flush(&f);
	store_set_retention(f.store, &keep);
	rig_flush(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent"), 4 * A_SOURCE);
	ck_assert_double_eq(agents_of(&f, 3, 0), 55 - 5 * 50 - 5 + 4 * A_SOURCE);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* One agent with ports that come and go; the other source's are older, and stay. */
START_TEST(ports_have_a_number_too)
{
	const struct store_retention keep = {.most_agents = 1024, .most_ports = 100};
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 0; i < 90; i++)
		send_one(&f, 1, 1 + i, 1, NOON_US + i, NOON_US + i);
	send_agents(&f, 2, 0, 1, 0);
	for (uint32_t i = 0; i < 300; i++) {
		struct ease_record r = rig_record(i % 2 ? EASE_PART_STATE : EASE_PART_SNAPSHOT, 1);
		uint64_t now_us = NOON_US + i * MINUTE_US;

		r.agent_id[0] = 2;
		memset(r.agent_id + 1, 0, 7);
		r.sender = "192.0.2.2";
		r.received_us = now_us;
		if (i % 2)
			r.state = (struct ease_state){.if_index = 1000 + i, .time_us = now_us, .name = "veth"};
		else
			r.snapshot = (struct ease_snapshot){.if_index = 1000 + i, .time_us = now_us};
		accounting_add_records(f.accounting, f.batch, &r, 1);
	}
	rig_flush(&f);
	store_set_retention(f.store, &keep);
	rig_flush(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	ck_assert_uint_eq(forgotten(&f), 201);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM account a JOIN agent g ON g.id = a.agent WHERE"
					  " g.address = '192.0.2.1'"), 90);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM (SELECT agent, if_index FROM account UNION SELECT"
					  " agent, if_index FROM port) JOIN agent g ON g.id = agent WHERE"
					  " g.address = '192.0.2.2' AND if_index >= 1200"), 100);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- sums and counters ---- */

/* A sample of another pair of addresses each time, from a sender of the agent's own. */
static void
send_pair(struct accounting_rig *f, uint8_t agent, uint32_t number, uint32_t pair, uint64_t now_us)
{
	char sender[16];
	uint8_t header[BOOKS_HEADER];
	struct ease_record r;

	snprintf(sender, sizeof(sender), "192.0.2.%u", agent);
	rig_header(0, header);
	memcpy(header + 2, &pair, sizeof(pair));
	memcpy(header + 26, &pair, sizeof(pair));
	r = rig_sample(1, number, header);
	r.agent_id[0] = agent;
	r.sender = sender;
	r.received_us = r.sample.time_us = now_us;
	accounting_add_records(f->accounting, f->batch, &r, 1);
	if (pair % 16 > 0)
		return;
	r = rig_snapshot(1, number);
	r.agent_id[0] = agent;
	r.sender = sender;
	r.received_us = r.snapshot.time_us = now_us;
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

/* Four sources have as much as the store has room for, one has three times as much as they together. */
START_TEST(who_fills_sums_pays_and_nobody_else_does)
{
	enum { MINUTES = 90, FLOOD = 9, PAIRS = 240, FLOOD_PAIRS = 960, KINDS = 3 };
	const struct store_retention keep = {.most_octets = (uint64_t)FILLED_MIB << 20};
	struct accounting_rig f;
	char sql[512];

	rig_make(&f);
	rig_open(&f);
	store_set_retention(f.store, &keep);
	for (uint32_t i = 0; i < MINUTES * FLOOD_PAIRS; i++) {
		uint64_t now_us = NOON_US + i / FLOOD_PAIRS * MINUTE_US + i % FLOOD_PAIRS * (MINUTE_US / FLOOD_PAIRS);

		send_pair(&f, FLOOD, i + 1, i, now_us);
		if (i % FLOOD_PAIRS < PAIRS)
			send_pair(&f, (uint8_t)(1 + i % 4), i / FLOOD_PAIRS * (PAIRS / 4) + i % FLOOD_PAIRS / 4 + 1, i % 64, now_us);
		if (i % (FLOOD_PAIRS / 2) > 0)
			continue;
		rig_flush(&f);
		ck_assert_int_eq(store_rest(f.store), 0);
	}
	rig_flush(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	snprintf(sql, sizeof(sql), "SELECT " OCTETS_USED " <= %d", FILLED_MIB << 20);
	ck_assert_double_eq(rig_query(&f, sql), 1);
	ck_assert_uint_gt(stat_get(store_stats(f.store), STORE_STAT_DELETED + RETENTION_PAID), 0);
	rig_close(&f);
	/* all minutes, of all; and what a source has less of has all of its keys */
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), MINUTES * (PAIRS + FLOOD_PAIRS));
#define OF(is) " JOIN agent a ON a.id = agent WHERE a.address " is " '192.0.2.9'"
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window_key" OF("<>") " AND kind IN (1, 2, 7)"), KINDS * MINUTES * PAIRS);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM window_folded" OF("<>")), 0);
	/* what was folded of the other one is told, and of new minutes nothing was */
	ck_assert_double_eq(rig_query(&f, "SELECT (SELECT sum(n) FROM window_key" OF("=") " AND kind IN (1, 2, 7)) +"
	    " (SELECT sum(n) FROM window_folded" OF("=") " AND kind IN (1, 2, 7))"), KINDS * MINUTES * FLOOD_PAIRS);
	ck_assert_double_eq(rig_query(&f, "SELECT max(most_n) FROM window_folded" OF("=") " AND kind = 2"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM window_key" OF("=") " AND kind = 2 AND start_us ="
	    " (SELECT max(start_us) FROM window)"), FLOOD_PAIRS);
	/* what is held is what is there */
	ck_assert_double_eq(rig_query(&f, "SELECT (SELECT sum(n) FROM held WHERE tab = 6) - (SELECT sum(n) FROM part WHERE level > 0)"), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT (SELECT sum(n) FROM held WHERE tab = 7) - (SELECT count(*) FROM counter)"), 0);
	rig_remove(&f);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("squeeze");
	TCase *tc = tcase_create("squeeze");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 280);
	tcase_add_test(tc, who_fills_the_store_makes_room);
	tcase_add_test(tc, who_fills_sums_pays_and_nobody_else_does);
	tcase_add_test(tc, places_leave_when_they_are_old);
	tcase_add_loop_test(tc, who_fills_small_tables_pays_and_no_sample_does, 0, 2);
	tcase_add_test(tc, discards_are_rolled_up);
	tcase_add_test(tc, no_clock_stops_deletion_by_age);
	tcase_add_test(tc, a_clock_that_leapt_ages_nothing);
	tcase_add_test(tc, headers_leave_before_their_samples);
	tcase_add_test(tc, a_source_that_has_more_than_its_number_forgets_its_own);
	tcase_add_test(tc, all_sources_together_have_a_number);
	tcase_add_test(tc, ports_have_a_number_too);
	return suite_run(suite);
}
