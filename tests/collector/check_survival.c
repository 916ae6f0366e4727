/*
 * What the store survives: kill -9 at any time, a disk that is full or fails at any write, a file
 * that is locked for ten minutes, damaged, truncated or moved away, and clocks that are set. Each
 * time the file is intact, nothing counts twice, and what was sent equals what is stored plus what
 * is reported as lost.
 */
#include "collector/collector.h"
#include "tests/collector/accounting_rig.h"
#include "tests/collector/store/faulty_vfs.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	KILLS = 30,
	KILLS_LONG = 200,
	KILL_AT_MOST_US = 40000,
	MEMORY = 4000, /* the newest numbers, of which repetitions are certainly recognized */
};

static uint64_t
draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* Seeds differ from run to run and are printed; EASE_SEED repeats one. */
static uint64_t
new_seed(const char *what)
{
	const char *given = getenv("EASE_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);

	printf("%s: seed %llu\n", what, (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

static int
kills(void)
{
	return getenv("EASE_LONG") ? KILLS_LONG : suite_is_slow() ? KILLS / 8 : KILLS;
}

/* What integrity_check returns for a whole file is one row, "ok". */
static void
check_whole(const struct accounting_rig *f)
{
	ck_assert_double_eq(rig_query(f, "SELECT count(*) = 1 AND max(integrity_check) = 'ok'"
					 " FROM pragma_integrity_check"), 1);
}

/* Checks that accounts, sums and samples match each other. */
static void
check_consistent(const struct accounting_rig *f)
{
	double n = rig_query(f, "SELECT ifnull(sum(received), 0) FROM account");

	check_whole(f);
	ck_assert_double_eq(rig_query(f, "SELECT count(*) FROM sample"), n);
	ck_assert_double_eq(rig_query(f, "SELECT ifnull(sum(n), 0) FROM window"), n);
	ck_assert_double_eq(rig_query(f, "SELECT ifnull(sum(n), 0) FROM window_key WHERE kind = 1"),
	    n);
	ck_assert_double_eq(rig_query(f, "SELECT ifnull(sum(received), 0) FROM window_port"), n);
	ck_assert_double_eq(rig_query(f, "SELECT ifnull(sum(expected), 0) FROM window_port"),
	    rig_query(f, "SELECT ifnull(sum(expected), 0) FROM account"));
}

static double
crash_lost(const struct accounting_rig *f)
{
	return rig_query(f, "SELECT ifnull(sum(samples), 0) FROM gone");
}

/* Flushes, and waits while the store is not available for a moment. */
static void
flush_patiently(struct accounting_rig *f)
{
	struct store_batch *next;

	rig_notice_renewal(f);
	ck_assert_int_eq(accounting_flush(f->accounting, f->batch), 0);
	store_submit(f->store, f->batch);
	while (store_drain(f->store) < 0 || (next = store_take(f->store)) == NULL)
		usleep(1000);
	f->batch = next;
}

/* ---- kill -9 ---- */

/* What the agent has sent, in memory that survives the collector. */
struct agent_side {
	_Atomic uint32_t said; /* samples 1..said reached the collector */
	atomic_bool open;      /* it listens */
	uint64_t seed;
};

static void
collect_until_killed(struct accounting_rig *f, struct agent_side *agent)
{
	uint32_t said = atomic_load(&agent->said);
	uint32_t again = (uint32_t)(draw(&agent->seed) % 3 ? 0 : draw(&agent->seed) % 500);
	uint32_t from = again < said ? said - again + 1 : 1;

	rig_open(f);
	atomic_store(&agent->open, true);
	for (uint32_t i = from; i <= said; i++) /* a relay sends some samples again */
		rig_send_sample(f, 1, i);
	for (;;) {
		struct store_batch *next = store_take(f->store);

		for (int n = 0; n < 10; n++) {
			rig_send_sample(f, 1, ++said);
			atomic_store(&agent->said, said);
		}
		usleep(100);
		if (!next)
			continue;
		accounting_flush(f->accounting, f->batch);
		store_submit(f->store, f->batch);
		f->batch = next;
	}
}

static void
kill_at_random(struct accounting_rig *f, struct agent_side *agent)
{
	uint64_t moment_us = draw(&agent->seed) % KILL_AT_MOST_US;
	bool opening = draw(&agent->seed) % 4 == 0;
	pid_t child;

	atomic_store(&agent->open, false);
	child = fork();

	if (child == 0) {
		collect_until_killed(f, agent);
		_exit(0);
	}
	while (!opening && !atomic_load(&agent->open))
		usleep(100);
	usleep((useconds_t)moment_us);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/*
 * The next collector accounts for everything: the numbers given out are those received plus those
 * lost with the crash. If the collector was killed between two instructions of the accounting, one
 * sample each time may be neither; it then counts as lost in the network.
 */
static uint64_t
check_told(struct accounting_rig *f, const struct agent_side *agent, uint64_t torn_at_most)
{
	double expected, received, lost;
	uint32_t said = atomic_load(&agent->said);

	f->recalls = true;
	rig_open(f);
	rig_flush(f);
	rig_close(f);
	check_consistent(f);
	expected = rig_query(f, "SELECT ifnull(sum(expected), 0) FROM account");
	received = rig_query(f, "SELECT ifnull(sum(received), 0) FROM account");
	lost = crash_lost(f);
	ck_assert_double_ge(expected, said);
	ck_assert_double_le(expected, said + 1.0); /* one may have been received but not noted */
	ck_assert_double_le(received + lost, expected);
	ck_assert_double_ge(received + lost, expected - (double)torn_at_most);
	return (uint64_t)(expected - received - lost);
}

START_TEST(killed_at_any_moment_and_says_what_was_lost)
{
	struct agent_side *agent = mmap(NULL, sizeof(*agent), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct accounting_rig f;
	uint64_t torn = 0;
	uint32_t said, from;

	agent->seed = new_seed("kill");
	rig_make(&f);
	f.recalls = true;
	for (int i = 0; i < kills(); i++) {
		kill_at_random(&f, agent);
		torn = check_told(&f, agent, (uint64_t)i + 1);
	}
	said = atomic_load(&agent->said);
	printf("kill: %d times, %u samples sent = %.0f stored + %.0f lost in the collector + %llu "
	       "torn\n",
	    kills(), said, rig_query(&f, "SELECT received FROM account"), crash_lost(&f),
	    (unsigned long long)torn);
	ck_assert_double_gt(crash_lost(&f), 0); /* or the test kills too late */
	/* the relay sends again what can be recognized: it is no longer lost */
	from = said > MEMORY ? said - MEMORY + 1 : 1;
	rig_open(&f);
	for (uint32_t i = from; i <= said; i++)
		rig_send_sample(&f, 1, i);
	rig_flush(&f);
	rig_close(&f);
	check_consistent(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample WHERE sequence >= "
					  "(SELECT max(sequence) FROM sample) - 3999"),
	    said - from + 1);
	ck_assert_double_ge(rig_query(&f, "SELECT received FROM account") + crash_lost(&f),
	    (double)(said - torn));
	rig_remove(&f);
	munmap(agent, sizeof(*agent));
}
END_TEST

/* After a clean stop there is no outage; after a crash, an agent that was first heard since the
 * last flush is known. */
START_TEST(what_is_told_of_a_crash)
{
	struct accounting_rig f;

	rig_make(&f);
	f.recalls = true;
	rig_open(&f);
	ck_assert(!f.had_outage);
	rig_send_range(&f, 1, 1, 100);
	rig_flush(&f);
	ck_assert_int_eq(store_stop(f.store), 0);
	ck_assert_int_eq(store_end_life(f.store, f.clock.manual_wall_us), 0);
	accounting_remove_journal(f.accounting);
	rig_close(&f);

	rig_open(&f); /* after a clean stop */
	ck_assert(!f.had_outage);
	ck_assert_int_eq(store_stop(f.store), 0);
	ck_assert_int_eq(store_end_life(f.store, f.clock.manual_wall_us), 0);
	accounting_remove_journal(f.accounting);
	rig_close(&f);

	clock_step_us(&f.clock, 10 * MINUTE_US);
	rig_open(&f); /* long after it */
	ck_assert(f.had_outage && !f.outage.counted);
	ck_assert_int_eq(f.outage.kind, STORE_OUTAGE_STOPPED);
	ck_assert_uint_eq(f.outage.until_us - NOON_US, 10 * MINUTE_US);
	ck_assert_uint_eq(f.outage.since_us, NOON_US); /* whenever something was heard last */
	rig_send_range(&f, 1, 101, 150);
	rig_send_range(&f, 2, 1, 7); /* boot 2 is not stored at all */
	rig_close(&f);	       /* without a flush, as in a crash */

	rig_open(&f);
	ck_assert(f.had_outage);
	ck_assert_int_eq(f.outage.kind, STORE_OUTAGE_CRASH);
	ck_assert_uint_eq(f.outage.samples, 57);
	rig_flush(&f);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT samples FROM gone WHERE boot = 1"), 50);
	ck_assert_double_eq(rig_query(&f, "SELECT samples FROM gone WHERE boot = 2"), 7);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM account"), 157);
	check_consistent(&f);

	rig_open(&f); /* half of the seven arrive again */
	rig_send_sample(&f, 2, 2);
	rig_send_sample(&f, 2, 4);
	rig_send_sample(&f, 2, 6);
	rig_send_sample(&f, 2, 6);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT samples FROM gone WHERE boot = 2"), 4);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account WHERE boot = 2"), 3);
	accounting_remove_journal(f.accounting);
	rig_close(&f);

	/* the machine went down: nothing is left in its memory */
	rig_open(&f);
	ck_assert(f.had_outage);
	ck_assert_int_eq(f.outage.kind, STORE_OUTAGE_MACHINE);
	ck_assert(!f.outage.counted);
	accounting_remove_journal(f.accounting);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- disks ---- */

/* Every write and sync of a run fails once, in each way. */
START_TEST(a_disk_that_fails_once_costs_nothing)
{
	enum fault fault = (enum fault)_i;
	int stride = getenv("EASE_LONG") ? 1 : suite_is_slow() ? 60 : 31, calls = 0;
	uint64_t seed = new_seed("disk");

	faulty_vfs_install();
	for (int at = (int)(draw(&seed) % (unsigned)stride); at < calls || calls == 0;
	     at += stride) {
		struct accounting_rig f;

		rig_make(&f);
		faulty_vfs_fail(FAULT_NONE, 0, 0);
		rig_open(&f);
		rig_send_snapshot(&f, 1, 0);
		faulty_vfs_fail(fault, at, 1);
		for (uint32_t i = 1; i <= 300; i += 100) {
			rig_send_range(&f, 1, i, i + 99);
			flush_patiently(&f);
		}
		calls = faulty_vfs_calls();
		ck_assert_int_le(faulty_vfs_failed(), 1);
		check_whole(&f);
		rig_check_all(&f, 300);
		rig_close(&f);
		rig_check_all(&f, 300);
		rig_remove(&f);
	}
	printf("disk: %d writes and syncs\n", calls);
	ck_assert_int_gt(calls, 10);
}
END_TEST

/* Fills batches as long as there are any, then goes on with the last. */
static void
send_while_away(struct accounting_rig *f, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i += 100) {
		struct store_batch *next;

		rig_send_range(f, 1, i, i + 99);
		next = store_take(f->store);
		if (!next)
			continue;
		ck_assert_int_eq(accounting_flush(f->accounting, f->batch), 0);
		store_submit(f->store, f->batch);
		f->batch = next;
	}
}

static void
wait_until_back(struct accounting_rig *f)
{
	while (store_drain(f->store) < 0)
		usleep(1000);
	rig_flush(f);
}

START_TEST(a_disk_that_is_full_for_half_an_hour)
{
	struct accounting_rig f;

	faulty_vfs_install();
	rig_make(&f);
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, 100);
	rig_flush(&f);
	faulty_vfs_fail(FAULT_FULL, 0, -1);
	send_while_away(&f, 101, 18000);
	ck_assert_int_eq(store_drain(f.store), -EIO);
	ck_assert_int_gt(faulty_vfs_failed(), 0);
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	wait_until_back(&f);
	check_whole(&f);
	rig_check_all(&f, 18000);
	ck_assert_uint_eq(
	    stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_LOST_STORE_QUEUE), 0);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Errors that do not go away until the file is opened again. */
START_TEST(a_disk_that_was_gone_for_a_while)
{
	struct accounting_rig f;

	faulty_vfs_install();
	rig_make(&f);
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	faulty_vfs_fail(FAULT_ERROR, 0, -1);
	send_while_away(&f, 1, 1000);
	while (stat_get(store_stats(f.store), STORE_STAT_REOPENED) == 0)
		usleep(1000);
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	wait_until_back(&f);
	check_whole(&f);
	rig_check_all(&f, 1000);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_RENEWALS), 0);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- locked ---- */

static void
unlock_store(sqlite3 *other)
{
	sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(other);
}

START_TEST(locked_by_another_for_ten_minutes)
{
	struct accounting_rig f;
	sqlite3 *other;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_flush(&f);
	other = rig_run(&f, "BEGIN IMMEDIATE");
	send_while_away(&f, 1, 6000);
	while (stat_get(store_stats(f.store), STORE_STAT_RETRIES) == 0)
		usleep(1000);
	unlock_store(other);
	wait_until_back(&f);
	rig_check_all(&f, 6000);
	ck_assert_uint_eq(stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_NO_ROOM), 0);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* A log that a reader holds is told of while it is long. */
START_TEST(a_log_that_is_held)
{
	struct accounting_rig f;

	faulty_vfs_install();
	rig_make(&f);
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	rig_open(&f);
	rig_send_range(&f, 1, 1, 100);
	rig_flush(&f);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_LOG_HELD), 0);
	faulty_vfs_fail(FAULT_LONG_LOG, 0, -1);
	rig_send_range(&f, 1, 101, 100);
	rig_flush(&f);
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	ck_assert_uint_ge(stat_get(store_stats(f.store), STORE_STAT_LOG_HELD), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* When memory is full, samples of further minutes are lost and reported as lost in the collector.
 * What the port counted is not. */
START_TEST(away_for_longer_than_memory_lasts)
{
	struct accounting_limits limits = rig_limits;
	const uint32_t n = 120000; /* 200 minutes */
	double lost, first_lost, counted;
	struct accounting_rig f;
	sqlite3 *other;

	limits.windows.windows = 5;
	rig_make(&f);
	rig_open_with(&f, &limits);
	rig_send_snapshot(&f, 1, 0);
	rig_flush(&f);
	other = rig_run(&f, "BEGIN IMMEDIATE");
	send_while_away(&f, 1, n);
	lost = (double)stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_NO_ROOM);
	ck_assert_double_gt(lost, 0);
	unlock_store(other);
	wait_until_back(&f);
	rig_send_snapshot(&f, 1, n); /* brings what waited */
	rig_flush(&f);
	check_whole(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT expected FROM account"), n);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), n - lost);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), n - lost);
	ck_assert_double_eq(crash_lost(&f), lost);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM window_port"), n);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM window_port"), n - lost);
	ck_assert_double_eq(rig_query(&f, "SELECT max(expected) FROM window_port WHERE start_us ="
					  " (SELECT max(start_us) FROM window_port)") > 0, 1);
	/* the minutes before memory was full are whole */
	first_lost = rig_query(&f, "SELECT min(start_us) FROM window_port WHERE received <"
				   " expected");
	ck_assert_double_gt(first_lost, (double)(NOON_US + 3 * MINUTE_US));
	counted = rig_query(&f, "SELECT sum(pool_octets) FROM window WHERE direction = 1") +
	    rig_query(&f, "SELECT ifnull(sum(in_octets), 0) FROM gap");
	ck_assert_double_eq(counted, 5000. * n);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- senders that want too much ---- */

/* One notification with 41 snapshots of a port, each a day after the other, and ten notifications with
 * one each: of the first one snapshot is used, all are stamped by reception, and nothing is lost of another
 * agent. */
START_TEST(snapshots_of_other_days)
{
	enum { SNAPSHOTS = 41 };
	struct accounting_limits limits = rig_limits;
	struct ease_record r[SNAPSHOTS];
	const struct stat_set *stats;
	struct accounting_rig f;
	uint64_t corrected;

	limits.clock_tolerance_us = 2000000;
	rig_make(&f);
	rig_open_with(&f, &limits);
	stats = accounting_stats(f.accounting);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, 1000);
	for (uint32_t i = 0; i < SNAPSHOTS; i++) {
		r[i] = rig_snapshot(1, i);
		r[i].agent_id[0] = 99;
		r[i].snapshot.time_us = NOON_US + i * 1440 * MINUTE_US;
	}
	corrected = stat_get(stats, ACCOUNTING_STAT_CLOCK_CORRECTED);
	accounting_add_records(f.accounting, f.batch, r, SNAPSHOTS);
	ck_assert_uint_eq(stat_get(stats, ACCOUNTING_STAT_SNAPSHOTS_REPEATED), SNAPSHOTS - 1);
	for (uint32_t i = 3; i < 13; i++)
		accounting_add_records(f.accounting, f.batch, &r[i], 1);
	ck_assert_uint_eq(
	    stat_get(stats, ACCOUNTING_STAT_CLOCK_CORRECTED) - corrected, SNAPSHOTS + 10);
	rig_send_range(&f, 1, 1001, 2000);
	rig_flush(&f);
	ck_assert_uint_le(
	    stat_get(accounting_window_stats(f.accounting), WINDOW_STAT_OPENED), 10);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window WHERE agent = 1"), 2000);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account WHERE agent = 1"), 2000);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_octets) FROM window WHERE agent = 1 AND"
					  " direction = 1"), 5000. * 2000);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- damaged, cut, moved ---- */

static int
set_aside_files(const struct accounting_rig *f, char path[512])
{
	DIR *dir = opendir(f->dir);
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(dir)) != NULL)
		if (strstr(entry->d_name, ".damaged-") && !strstr(entry->d_name, "-wal") &&
		    !strstr(entry->d_name, "-shm")) {
			snprintf(path, 512, "%s/%s", f->dir, entry->d_name);
			n++;
		}
	closedir(dir);
	return n;
}

static void
overwrite(const char *path, off_t at, size_t n)
{
	int fd = open(path, O_WRONLY);
	char junk[4096];

	memset(junk, 0xa5, sizeof(junk));
	ck_assert_int_ge(fd, 0);
	for (; n > 0; n -= n < sizeof(junk) ? n : sizeof(junk), at += (off_t)sizeof(junk))
		ck_assert_int_gt(pwrite(fd, junk, n < sizeof(junk) ? n : sizeof(junk), at), 0);
	close(fd);
}

/* A store with everything in it, closed. */
static void
make_store(struct accounting_rig *f, uint32_t n)
{
	struct ease_record state = rig_record(EASE_PART_STATE, 1);

	rig_make(f);
	f->recalls = true;
	rig_open(f);
	state.state = (struct ease_state){.if_index = 3, .time_us = NOON_US, .name = "ge-3"};
	accounting_add_records(f->accounting, f->batch, &state, 1);
	rig_send_snapshot(f, 1, 0);
	rig_send_range(f, 1, 1, n);
	rig_flush(f);
	accounting_remove_journal(f->accounting);
	rig_close(f);
}

START_TEST(a_damaged_head_is_set_aside)
{
	char aside[512];
	struct accounting_rig f;

	make_store(&f, 100);
	rig_sql(&f, "PRAGMA wal_checkpoint(TRUNCATE)");
	overwrite(f.path, 0, 100);
	rig_open(&f);
	ck_assert_int_eq(set_aside_files(&f, aside), 1);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_RENEWALS), 1);
	rig_send_snapshot(&f, 1, 0); /* nothing was readable, so everything is new */
	rig_send_range(&f, 1, 1, 200);
	rig_flush(&f);
	rig_check_all(&f, 200);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Upkeep may never read the page that is damaged; whoever reads it tells. What is said of another file, as of one that
 * was set aside before, is nothing. */
START_TEST(a_reader_tells_of_damage)
{
	char aside[512];
	struct accounting_rig f;
	struct stat st;

	make_store(&f, 100);
	rig_open(&f);
	ck_assert_int_eq(stat(f.path, &st), 0);
	store_note_damage(f.store, st.st_ino + 1);
	rig_send_range(&f, 1, 101, 110);
	rig_flush(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_RENEWALS), 0);
	store_note_damage(f.store, st.st_ino);
	flush_patiently(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_RENEWALS), 1);
	ck_assert_int_eq(set_aside_files(&f, aside), 1);
	store_note_damage(f.store, st.st_ino);
	flush_patiently(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_RENEWALS), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Overwrites the root page of a table and leaves the rest of the file unchanged. */
static void
damage_table(const struct accounting_rig *f, const char *table)
{
	char sql[128];
	double page, size;

	rig_sql(f, "PRAGMA wal_checkpoint(TRUNCATE)");
	snprintf(sql, sizeof(sql), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
	page = rig_query(f, sql);
	size = rig_query(f, "PRAGMA page_size");
	overwrite(f->path, (off_t)((page - 1) * size), (size_t)size);
}

/* An agent that is heard again is looked for in the file. */
START_TEST(recalling_tells_of_damage)
{
	static const uint8_t agent_id[EASE_AGENT_ID_LEN] = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct store_loader loader = {0};
	struct accounting_rig f;

	make_store(&f, 100);
	rig_open(&f);
	damage_table(&f, "agent");
	ck_assert_int_lt(store_recall_agent(f.store, agent_id, &loader), 0);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_DAMAGE_MET), 1);
	flush_patiently(&f);
	ck_assert_int_eq(store_rest(f.store), 0);
	ck_assert_uint_eq(stat_get(store_stats(f.store), STORE_STAT_RENEWALS), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(a_damaged_page_costs_history_but_no_state)
{
	char aside[512];
	struct accounting_rig f;

	make_store(&f, 1000);
	damage_table(&f, "event"); /* read at the start, after accounts and counters */
	rig_open(&f);
	ck_assert_int_eq(set_aside_files(&f, aside), 1);
	rig_send_range(&f, 1, 901, 1100); /* a hundred of them had arrived before */
	flush_patiently(&f);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 100);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), 1100);
	ck_assert_double_eq(rig_query(&f, "SELECT duplicates FROM account"), 100);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent WHERE id = 1"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM port WHERE name = 'ge-3'"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * 100);
	check_whole(&f);
	/* the file that was set aside can be read except for the page */
	ck_assert_double_eq(sql_number(aside, "SELECT count(*) FROM sample"), 1000);
	rig_remove(&f);
}
END_TEST

START_TEST(damage_found_while_it_runs)
{
	char aside[512];
	struct accounting_rig f;

	faulty_vfs_install();
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	make_store(&f, 1000);
	rig_open(&f);
	rig_send_range(&f, 1, 1001, 1100);
	rig_flush(&f);
	rig_sql(&f, "PRAGMA wal_checkpoint(TRUNCATE);"
		      "INSERT INTO stat VALUES('another process writes', 1)");
	faulty_vfs_fail(FAULT_DAMAGED, 0, 1);
	rig_send_range(&f, 1, 1101, 1200);
	flush_patiently(&f); /* the batch goes into the new store */
	ck_assert_int_eq(faulty_vfs_failed(), 1);
	ck_assert_int_eq(set_aside_files(&f, aside), 1);
	rig_send_range(&f, 1, 1201, 1300);
	flush_patiently(&f); /* and with it everything that is known */
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 200);
	ck_assert_double_eq(sql_number(aside, "SELECT count(*) FROM sample"), 1100);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), 1300);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM port WHERE name = 'ge-3'"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1") +
		sql_number(aside, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * 1300);
	check_whole(&f);
	rig_open(&f); /* and goes on from there */
	rig_send_range(&f, 1, 1001, 1400);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 300);
	accounting_remove_journal(f.accounting);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(moved_away_while_it_runs)
{
	char moved[160], wal[2][176];
	struct accounting_rig f;

	make_store(&f, 1000);
	rig_open(&f);
	snprintf(moved, sizeof(moved), "%s/kept.db", f.dir);
	snprintf(wal[0], sizeof(wal[0]), "%s-wal", f.path);
	snprintf(wal[1], sizeof(wal[1]), "%s-wal", moved);
	ck_assert_int_eq(rename(wal[0], wal[1]), 0);
	ck_assert_int_eq(rename(f.path, moved), 0);
	rig_send_range(&f, 1, 1001, 1100);
	flush_patiently(&f);
	rig_send_range(&f, 1, 1101, 1200);
	flush_patiently(&f);
	ck_assert_double_eq(sql_number(moved, "SELECT count(*) FROM sample"), 1000);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 200);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), 1200);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent"), 1);
	check_whole(&f);
	accounting_remove_journal(f.accounting);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* The write-ahead log is truncated anywhere: whole transactions are missing, and the next collector
 * reports which samples, because the crash journal has them. */
START_TEST(a_log_cut_anywhere)
{
	uint64_t seed = new_seed("cut");

	for (int i = 0; i < (suite_is_slow() ? 2 : 12); i++) {
		struct accounting_rig f;
		char wal[112];
		struct stat st;
		pid_t child;

		rig_make(&f);
		f.recalls = true;
		snprintf(wal, sizeof(wal), "%s-wal", f.path);
		child = fork();
		if (child == 0) {
			rig_open(&f);
			for (uint32_t n = 1; n <= 500; n += 50) {
				rig_send_range(&f, 1, n, n + 49);
				rig_flush(&f);
			}
			_exit(0); /* without closing */
		}
		waitpid(child, NULL, 0);
		ck_assert_int_eq(stat(wal, &st), 0);
		ck_assert_int_eq(truncate(wal, (off_t)(draw(&seed) % (uint64_t)st.st_size)), 0);
		rig_open(&f);
		rig_flush(&f);
		check_consistent(&f);
		/* 0 if not even the tables are left */
		if (rig_query(&f, "SELECT count(*) FROM account") > 0)
			ck_assert_double_eq(crash_lost(&f) +
				rig_query(&f, "SELECT received FROM account"), 500);
		rig_send_snapshot(&f, 1, 0);
		rig_send_range(&f, 1, 1, 500);
		rig_flush(&f);
		ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 500);
		ck_assert_double_eq(crash_lost(&f), 0);
		accounting_remove_journal(f.accounting);
		rig_close(&f);
		rig_remove(&f);
	}
}
END_TEST

/* ---- clocks ---- */

static void
send_at(struct accounting_rig *f, uint32_t i, int64_t off_us)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record r[2];

	rig_header(i, header);
	r[0] = rig_sample(1, i, header);
	r[1] = rig_snapshot(1, i);
	r[0].sample.time_us += (uint64_t)off_us;
	r[1].snapshot.time_us += (uint64_t)off_us;
	r[0].received_us = r[1].received_us = NOON_US + i * STEP_US;
	accounting_add_records(f->accounting, f->batch, r, 2);
}

/* The device's clock is set back an hour and forward a day, and the collector's with it or not;
 * each part is sent twice, with a restart in between. */
START_TEST(clocks_that_are_set)
{
	static const int64_t offsets_us[] = {0, -3600000000, 82700000000, 0, -86000000000};
	struct accounting_rig f;
	uint32_t i = 0;

	rig_make(&f);
	f.recalls = true;
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	for (size_t part = 0; part < sizeof(offsets_us) / sizeof(offsets_us[0]); part++) {
		if (part % 2)
			f.clock.manual_wall_us = NOON_US + (uint64_t)offsets_us[part];
		for (int round = 0; round < 2; round++) {
			for (uint32_t n = 1; n <= 1000; n++)
				send_at(&f, i + n, offsets_us[part]);
			rig_flush(&f);
			rig_close(&f);
			rig_open(&f);
		}
		i += 1000;
	}
	rig_flush(&f);
	accounting_remove_journal(f.accounting);
	rig_close(&f);
	check_consistent(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), i);
	ck_assert_double_eq(rig_query(&f, "SELECT expected FROM account"), i);
	ck_assert_double_eq(rig_query(&f, "SELECT duplicates FROM account"), i);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * i);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT sum(pool_octets) FROM window WHERE direction = 2"), 3001. * i);
	rig_remove(&f);
}
END_TEST

/* Of a device whose clock is years behind all comes again after a restart, later by so much: nothing is counted twice, although
 * it may be stamped by its reception. */
START_TEST(what_comes_again_late_counts_once)
{
	static const uint64_t late_us[] = {1000000, 3000000, 10000000, 100000000};
	struct accounting_limits limits = rig_limits;
	struct accounting_rig f;

	limits.clock_tolerance_us = 2000000;
	rig_make(&f);
	for (int life = 0; life < 2; life++) {
		rig_open_with(&f, &limits);
		for (uint32_t i = 1; i <= 40; i++) {
			uint8_t header[BOOKS_HEADER];
			struct ease_record r[2];

			rig_header(i, header);
			r[0] = rig_sample(1, i, header);
			r[1] = rig_snapshot(1, i);
			r[0].sample.time_us -= 86400 * 1000 * STEP_US;
			r[1].snapshot.time_us -= 86400 * 1000 * STEP_US;
			f.clock.manual_wall_us = f.clock.manual_mono_us = NOON_US + i * STEP_US + (life > 0 ? late_us[_i] : 0);
			r[0].received_us = r[1].received_us = f.clock.manual_wall_us;
			accounting_add_records(f.accounting, f.batch, r, 2);
		}
		rig_flush(&f);
		rig_close(&f);
		ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"), 14. * 39);
		ck_assert_double_eq(rig_query(&f, "SELECT duplicates FROM account"), 40 * life);
	}
	rig_remove(&f);
}
END_TEST

static struct clock stepped_clock;
static struct collector *stepped_collector;

/* The system's clock is set back an hour, forward a day when that was noticed, and slewed a little;
 * then the collector is stopped. */
static void
step_clock(int signal)
{
	static const int64_t steps_us[] = {-3600000000, 86400000000, 400000};
	static size_t next;

	(void)signal;
	clock_step_us(&stepped_clock, 100000);
	if (collector_stat(stepped_collector, "easecapd.clock_steps") < (next < 2 ? next : 2))
		return;
	if (next == sizeof(steps_us) / sizeof(steps_us[0]))
		kill(getpid(), SIGTERM);
	else
		stepped_clock.manual_wall_us += (uint64_t)steps_us[next++];
}

START_TEST(the_collectors_clock_is_set)
{
	const struct itimerval every = {{0, 50000}, {0, 50000}};
	const struct collector_arguments options = {.no_sockets = true};
	struct sigaction action = {.sa_handler = step_clock};
	struct collector_config config = {0};
	char conf[128];
	struct collector *collector;
	struct accounting_rig f;
	FILE *file;

	rig_make(&f);
	snprintf(conf, sizeof(conf), "%s/conf", f.dir);
	file = fopen(conf, "w");
	fprintf(file, "listen={\"127.0.0.1:1\"}\ncommunities={\"public\"}\nhttp_listen=\"\"\n"
		      "store=\"%s\"\nflush_interval=50\n", f.path);
	fclose(file);
	ck_assert_msg(collector_config_load(conf, &config, f.error, sizeof(f.error)) == 0, "%s",
	    f.error);
	stepped_clock = f.clock;
	ck_assert_msg(collector_open(&collector, &config, &options, &stepped_clock, f.error,
			  sizeof(f.error)) == 0, "%s", f.error);
	stepped_collector = collector;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	ck_assert_int_eq(collector_run(collector), 0);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	ck_assert_uint_eq(collector_stat(collector, "easecapd.clock_steps"), 2);
	collector_close(collector);
	collector_config_free(&config);
	ck_assert_double_eq(rig_query(&f, "SELECT running FROM life"), 0);
	rig_remove(&f);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("survival");
	TCase *tc = tcase_create("survival");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, getenv("EASE_LONG") ? 840 : 280); /* 200 kills, on a busy machine */
	tcase_add_test(tc, killed_at_any_moment_and_says_what_was_lost);
	tcase_add_test(tc, what_is_told_of_a_crash);
	tcase_add_loop_test(tc, a_disk_that_fails_once_costs_nothing, FAULT_FULL, FAULT_DAMAGED);
	tcase_add_test(tc, a_disk_that_is_full_for_half_an_hour);
	tcase_add_test(tc, a_disk_that_was_gone_for_a_while);
	tcase_add_test(tc, locked_by_another_for_ten_minutes);
	tcase_add_test(tc, a_log_that_is_held);
	tcase_add_test(tc, away_for_longer_than_memory_lasts);
	tcase_add_test(tc, snapshots_of_other_days);
	tcase_add_test(tc, a_damaged_head_is_set_aside);
	tcase_add_test(tc, a_reader_tells_of_damage);
	tcase_add_test(tc, recalling_tells_of_damage);
	tcase_add_test(tc, a_damaged_page_costs_history_but_no_state);
	tcase_add_test(tc, damage_found_while_it_runs);
	tcase_add_test(tc, moved_away_while_it_runs);
	tcase_add_test(tc, a_log_cut_anywhere);
	tcase_add_test(tc, clocks_that_are_set);
	tcase_add_loop_test(tc, what_comes_again_late_counts_once, 0, 4);
	tcase_add_test(tc, the_collectors_clock_is_set);
	return suite_run(suite);
}
