/*
 * What works on a store that is there, with each thing that it asks of the system failing once, and
 * from there on (faults.h), and with a disk that fails (faulty_vfs.h): roll-ups and retention, whose
 * sums must in the end be to the octet those without a fault, with the same counts.
 */
#include "collector/store/upkeep.h"
#include "common/log.h"
#include "tests/collector/accounting_rig.h"
#include "tests/faults/faults.h"
#include "tests/faults/faults_private.h"
#include "tests/collector/store/faulty_vfs.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR_US (60 * MINUTE_US)
#define DAY_US	(24 * HOUR_US)

enum {
	RUNS = 12,      /* faults of one kind in what takes long */
	DISK_RUNS = 16,
	BUDGET_US = 10000,
	STEPS_MOST = 5000, /* of upkeep: it ends */
	SPACING = 40, /* hours between two samples */
	N_SAMPLES = 6, /* ten days: each level has some windows, and the days some to give up */
	FIGURES = 512,
};

static struct accounting_rig books;
static char work_path[112];
static const char port_name[] = "g\xc3\xa9-3"; /* in UTF-8, as the metrics must say it */

/* ---- a store of ten days, of which nothing is rolled up ---- */

static void
take(struct ease_record r, uint64_t time_us)
{
	r.received_us = time_us;
	accounting_add_records(books.accounting, books.batch, &r, 1);
}

static void
send_traffic(void)
{
	struct ease_record state = rig_record(EASE_PART_STATE, 1);

	state.state = (struct ease_state){.if_index = 3, .time_us = NOON_US,
	    .speed_bps = 1000000000, .edge = true};
	strcpy(state.state.name, port_name);
	take(state, NOON_US);
	for (uint32_t i = 1; i <= N_SAMPLES; i++) {
		uint64_t time_us = NOON_US + i * SPACING * HOUR_US;
		struct ease_record address = rig_record(EASE_PART_ADDRESS, 1);
		struct ease_record snapshot = rig_snapshot(1, i), sample;
		uint8_t header[BOOKS_HEADER];

		rig_header(i, header);
		sample = rig_sample(1, i, header);
		sample.sample.time_us = time_us;
		take(sample, time_us);
		snapshot.snapshot.time_us = time_us + 1;
		take(snapshot, time_us);
		address.address = (struct ease_address){.time_us = time_us, .if_index = 3,
		    .mac = {2, 0, 0, 0, 0, (uint8_t)i}};
		take(address, time_us);
	}
}

/* The store's own thread may have begun to settle and to roll up: minutes become fresh again. */
static void
set_up(void)
{
	log_set_most(LOG_LEVEL_ERROR);
	faults_install();
	faulty_vfs_install();
	rig_make(&books);
	rig_open(&books);
	send_traffic();
	rig_flush(&books);
	rig_close(&books);
	rig_sql(&books, "DELETE FROM part WHERE level > 1; UPDATE part SET level = 0;"
			  " DELETE FROM level; INSERT INTO progress VALUES('roll-up', 1, 2, 3, 4);"
			  /* a row that upkeep comes across first, and passes over */
			  " UPDATE part SET body = x'ff' WHERE kind = 1 AND start_us ="
			  " (SELECT min(start_us) FROM part);"
			  " PRAGMA wal_checkpoint(TRUNCATE)");
	snprintf(work_path, sizeof(work_path), "%s/work.db", books.dir);
}

static void
tear_down(void)
{
	rig_remove(&books);
}

static void
copy_file(const char *from, const char *to)
{
	static char octets[1 << 20];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n;

	ck_assert(in >= 0 && out >= 0);
	while ((n = read(in, octets, sizeof(octets))) > 0)
		ck_assert_int_eq(write(out, octets, (size_t)n), n);
	ck_assert_int_eq(n, 0);
	close(in);
	close(out);
}

/* ---- upkeep ---- */

static const struct store_retention keeps[] = {
    {.samples_us = 2 * DAY_US, .level_us = {[LEVEL_1_MIN] = DAY_US, [LEVEL_5_MIN] = 2 * DAY_US,
	[LEVEL_1_H] = 3 * DAY_US, [LEVEL_1_D] = 5 * DAY_US}},
    {.most_octets = 1}, /* all goes that may */
};
enum { KEEPS = sizeof(keeps) / sizeof(keeps[0]) };

struct work {
	const struct store_retention *keep;
	bool on_disk; /* syncs, as on a real one */
	char right[FIGURES];
};

static uint64_t
hash(uint64_t so_far, const void *octets, int n)
{
	for (int i = 0; i < n; i++)
		so_far = (so_far ^ ((const uint8_t *)octets)[i]) * 1099511628211u; /* FNV-1a */
	return so_far;
}

/* Of all that a statement gives. */
static uint64_t
hash_rows(sqlite3 *db, const char *sql, unsigned *rows)
{
	uint64_t all = 14695981039346656037u;
	sqlite3_stmt *s = NULL;
	int code;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s",
	    sqlite3_errmsg(db));
	for (*rows = 0; (code = sqlite3_step(s)) == SQLITE_ROW; ++*rows)
		for (int i = 0; i < sqlite3_column_count(s); i++) {
			const void *octets = sqlite3_column_blob(s, i);

			all = hash(all, octets, sqlite3_column_bytes(s, i));
		}
	ck_assert_int_eq(code, SQLITE_DONE);
	sqlite3_finalize(s);
	return all;
}

/* All that upkeep makes and deletes, and what it says that it did. */
static void
describe(const struct upkeep *u, char figures[FIGURES])
{
	static const char *const tables[] = {
	    "SELECT level, kind, start_us, shard, n, body FROM part ORDER BY 1, 2, 3, 4, 5, 6",
	    "SELECT * FROM level ORDER BY 1", "SELECT * FROM sample ORDER BY sequence",
	    "SELECT * FROM counter ORDER BY time_us", "SELECT * FROM event ORDER BY id",
	    "SELECT * FROM progress",
	};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		unsigned rows;
		uint64_t all = hash_rows(u->db, tables[i], &rows);

		at += (size_t)snprintf(figures + at, FIGURES - at, "%u rows %016" PRIx64 ", ", rows,
		    all);
	}
	at += (size_t)snprintf(figures + at, FIGURES - at, "%" PRIu64 " settled, %" PRIu64
	    " rolled, %" PRIu64 " too old, %" PRIu64 " damaged, deleted", u->rollup->settled,
	    u->rollup->rolled, u->rollup->too_old, u->parts->damaged);
	for (int i = 0; i < RETENTION_N_COUNTS; i++)
		at += (size_t)snprintf(figures + at, FIGURES - at, " %" PRIu64,
		    u->retention.deleted[i]);
	ck_assert_uint_lt(at, FIGURES);
}

/* What did: without a plan of faults it is the disk's. */
static const char *
failed(void)
{
	return faults_planned() ? faults_last() : "the disk";
}

/* Until all is done, or to the first error. A fault of memory or disk is no damage. */
static int
work_on(struct upkeep *u)
{
	int did = 1;

	for (int i = 0; did == 1; i++) {
		did = upkeep_step(u, BUDGET_US);
		faults_assert(did != -EBADMSG, "%s failed, and the store is said to be damaged",
		    failed());
		faults_assert(i < STEPS_MOST, "%s failed, and there is always more to do",
		    failed());
	}
	return did;
}

static int
do_upkeep(struct work *work, sqlite3 *db)
{
	struct upkeep u = {.db = NULL};
	char figures[FIGURES];
	int rc = upkeep_open(&u, db);

	u.retention.keep = *work->keep;
	if (rc == 0)
		rc = work_on(&u);
	/* The fault is over: the same upkeep goes on, as the store's thread does. */
	faults_spare(true);
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	if (!u.rollup) {
		upkeep_close(&u);
		ck_assert_int_eq(upkeep_open(&u, db), 0);
	}
	/* It may first have to roll back, if not even that could be done. */
	ck_assert(work_on(&u) == 0 || work_on(&u) == 0);
	describe(&u, figures);
	if (!*work->right)
		strcpy(work->right, figures);
	ck_assert_msg(strcmp(figures, work->right) == 0, "%s failed, and it is\n%s, not\n%s",
	    failed(), figures, work->right);
	upkeep_close(&u);
	return rc;
}

static sqlite3 *
open_copy(const struct work *work)
{
	sqlite3 *db = NULL;

	copy_file(books.path, work_path);
	ck_assert_int_eq(sqlite3_open(work_path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, work->on_disk ? "PRAGMA synchronous = FULL"
	    : "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static int
keep_up_a_copy(void *arg)
{
	sqlite3 *db;
	int rc;

	faults_spare(true);
	db = open_copy(arg);
	faults_spare(false);
	rc = do_upkeep(arg, db);
	faults_spare(true);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK); /* no statement is left */
	faults_spare(false);
	return rc;
}

START_TEST(upkeep_goes_on_without_memory)
{
	struct work work = {.keep = &keeps[_i]};

	faults_exhaust(_i ? "upkeep by size, memory" : "upkeep by age, memory",
	    FAULT_BIT(FAULT_MEMORY), RUNS, keep_up_a_copy, &work);
}
END_TEST

/* One call of a kind fails, and in every other run all after it. */
static int
fail_disk(struct work *work, enum fault fault, int after, int times)
{
	sqlite3 *db = open_copy(work);
	int rc;

	faulty_vfs_fail(fault, after, times);
	rc = do_upkeep(work, db);
	sqlite3_close(db);
	return rc;
}

START_TEST(upkeep_goes_on_when_the_disk_does)
{
	static const enum fault faults[] = {FAULT_FULL, FAULT_ERROR, FAULT_SHORT, FAULT_SYNC};
	enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };
	struct work work = {.keep = &keeps[_i], .on_disk = true};
	int calls, refused = 0, runs = suite_is_slow() ? FAULTS : DISK_RUNS;

	/* Nothing fails: a kind that none of the calls is of, and so they are counted. */
	sqlite3 *db = open_copy(&work);
	struct upkeep u = {.db = NULL};

	ck_assert_int_eq(upkeep_open(&u, db), 0);
	u.retention.keep = *work.keep;
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	ck_assert_int_eq(work_on(&u), 0);
	calls = faulty_vfs_calls();
	describe(&u, work.right);
	upkeep_close(&u);
	sqlite3_close(db);
	for (int i = 0; i < runs; i++) {
		enum fault fault = faults[i % FAULTS];
		int of = fault == FAULT_SYNC ? calls / 10 : calls;

		refused += fail_disk(&work, fault, i * of / runs, i / FAULTS % 2 ? -1 : 1) < 0;
	}
	/* How many calls are one that may fail depends on how often work paused: on the machine. */
	ck_assert_int_gt(refused, 0);
	printf("upkeep, disk: %d writes and syncs, %d of %d faults were refused\n", calls, refused,
	    runs);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults_upkeep");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, upkeep_goes_on_without_memory, 0, KEEPS);
	tcase_add_loop_test(all, upkeep_goes_on_when_the_disk_does, 0, KEEPS);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
