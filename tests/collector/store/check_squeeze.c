/*
 * What makes room in the store: samples of whoever fills it and not everybody's, sums of nobody while
 * there are samples; and ages that no wrong clock stops.
 */
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MS = 60000, STEP_MS = 20, A_BATCH = 20000 };

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
	enum { HONEST = 20000, FLOOD = 400000, MOST = 16 << 20 };
	const struct store_retention keep = {.most_octets = MOST};
	struct accounting_rig f;
	char sql[256];

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= HONEST; i++)
		send_one(&f, 1, 1 + i % 4, (i + 3) / 4, NOON_US + i * STEP_US, NOON_US + i * STEP_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), HONEST);
	store_set_retention(f.store, &keep);
	for (uint32_t i = 1; i <= FLOOD; i++) {
		uint64_t now_us = NOON_US + (HONEST + i / 100) * STEP_US;

		send_one(&f, 2, 1 + i % 8, (i + 7) / 8, now_us, now_us);
		if (i % A_BATCH == 0)
			rig_flush(&f);
	}
	snprintf(sql, sizeof(sql), "SELECT " OCTETS_USED " <= %d", MOST);
	ck_assert(comes_true(&f, sql));
	rig_close(&f);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 1"), HONEST);
	ck_assert_double_lt(
	    rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 2"), FLOOD);
	ck_assert_double_gt(rig_query(&f, "SELECT count(*) FROM sample WHERE agent = 2"), 0);
	/* every sum is there, and it is said since when all samples are */
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), HONEST + FLOOD);
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

int
main(void)
{
	Suite *suite = suite_create("squeeze");
	TCase *tc = tcase_create("squeeze");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 280);
	tcase_add_test(tc, who_fills_the_store_makes_room);
	tcase_add_test(tc, no_clock_stops_deletion_by_age);
	return suite_run(suite);
}
