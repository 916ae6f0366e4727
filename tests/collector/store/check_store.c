/*
 * Accounting and store together: after restarts, repetitions, kill -9 and a file that cannot be
 * written, the file must contain the same as after one undisturbed run. Read back by plain SQL.
 */
#include "collector/source_port.h"
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(one_undisturbed_run)
{
	struct accounting_rig f;
	struct stat st;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, SAMPLES);
	rig_flush(&f);
	rig_check_all(&f, SAMPLES);
	rig_close(&f);
	ck_assert_int_eq(stat(f.path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
	rig_check_all(&f, SAMPLES);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT count(*) FROM counter"), SAMPLES / PER_SNAPSHOT + 1);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample WHERE src_ip = x'0a000001'"
				    " AND ip_proto = 6 AND hex(src_mac) = '00000000000' ||"
				    " (sequence % 5) AND vlan IS NULL"),
	    SAMPLES);
	rig_remove(&f);
}
END_TEST

START_TEST(a_restart_in_the_middle_changes_nothing)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, 1234);
	rig_flush(&f);
	rig_close(&f);
	for (uint32_t at = 1234; at < SAMPLES; at += 333) { /* each restart repeats the last 200 */
		uint32_t to = at + 333 > SAMPLES ? SAMPLES : at + 333;

		rig_open(&f);
		rig_send_range(&f, 1, at - 200, to);
		rig_flush(&f);
		rig_close(&f);
	}
	rig_check_all(&f, SAMPLES);
	ck_assert_double_gt(rig_query(&f, "SELECT duplicates FROM account"), 1000);
	rig_remove(&f);
}
END_TEST

START_TEST(disorder_and_repetition_change_nothing)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	/* blocks of ten in reverse order, every seventh number twice, flushes at odd times */
	for (uint32_t block = 0; block < SAMPLES / 10; block++) {
		for (uint32_t k = 10; k >= 1; k--) {
			rig_send_sample(&f, 1, block * 10 + k);
			if (k == 7)
				rig_send_sample(&f, 1, block * 10 + k);
			if ((block * 10 + k) % 137 == 0)
				rig_flush(&f);
		}
		rig_send_snapshot(&f, 1, block * 10 + 10);
	}
	rig_flush(&f);
	rig_check_all(&f, SAMPLES);
	ck_assert_double_eq(rig_query(&f, "SELECT duplicates FROM account"), SAMPLES / 10);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(loss_is_counted_where_it_was)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	for (uint32_t i = 1; i <= 590; i++)
		if (i % 5)
			rig_send_sample(&f, 1, i);
	rig_send_snapshot(&f, 1, 598); /* the tail was lost too */
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT expected - received FROM account"), 118 + 8);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT sum(expected - received) FROM window_port"), 118 + 8);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * 598);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* A sample of a bridge's port, with the bridge's numbers. */
static void
send_of_bridge(struct accounting_rig *f, uint32_t if_index, uint32_t number, uint64_t time_us, uint32_t dropped)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record r;

	rig_header(number, header);
	r = rig_sample(1, number, header);
	rig_by_sflow(&r);
	r.source_port = source_port_of_numbers(2, 1000);
	r.sample.if_index = if_index;
	r.sample.direction = EASE_IN;
	r.sample.time_us = time_us;
	r.sample.pool_pkts = EASE_COUNT_UNKNOWN;
	r.dropped = dropped;
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

/* Ports of a bridge with one sampler: what is missing of its numbers is missing at the port whose sample shows
 * it, until it comes. */
START_TEST(ports_of_a_bridge_share_its_numbers)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= 600; i++)
		if (i % 10 != 4 && i != 301) /* 4, 14, … are lost, at port 6; 301 is late */
			send_of_bridge(&f, 5 + i % 2 + (i % 10 == 5), i, NOON_US + i * STEP_US, i % 10 == 5);
	send_of_bridge(&f, 5, 301, NOON_US + 301 * STEP_US, 0); /* it was missed at another port, in another minute */
	send_of_bridge(&f, 5, 301, NOON_US + 301 * STEP_US, 0);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM account WHERE expected > 0"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT if_index FROM account WHERE expected > 0"), source_port_of_numbers(2, 1000));
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM account"), 600);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM account"), 540);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(duplicates) FROM account"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(agent_drops) FROM account"), 60);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM window_port"), 600);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM window_port"), 540);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected - received) FROM window_port WHERE if_index = 7"), 60);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM window_port WHERE if_index > 7"), 0);
	rig_close(&f);
	rig_open(&f); /* and a collector that starts anew knows what came */
	send_of_bridge(&f, 6, 599, NOON_US + 601 * STEP_US, 0);
	for (uint32_t i = 601; i <= 700; i++)
		send_of_bridge(&f, 5 + i % 3, i, NOON_US + i * STEP_US, 60);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM account"), 700);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM account"), 640);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(duplicates) FROM account"), 2);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM window_port"), 700);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(a_boot_of_the_agent_goes_on)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, 100);
	rig_flush(&f);
	/* boot 2: numbers begin again (the first 4 are lost), counters go on */
	for (uint32_t i = 5; i <= 50; i++) {
		uint8_t header[BOOKS_HEADER];
		struct ease_record r;

		rig_header(i, header);
		r = rig_sample(2, i, header);
		r.sample.time_us = NOON_US + (100 + i) * STEP_US;
		accounting_add_records(f.accounting, f.batch, &r, 1);
	}
	rig_send_snapshot(&f, 2, 150); /* last_sequence 150: hundred more were lost */
	rig_send_sample(&f, 1, 101);   /* one of boot 1 was still on its way */
	rig_send_sample(&f, 1, 100);   /* and this one came already */
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account WHERE boot = 1"), 101);
	ck_assert_double_eq(rig_query(&f, "SELECT duplicates FROM account WHERE boot = 1"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account WHERE boot = 2"), 46);
	ck_assert_double_eq(rig_query(&f, "SELECT expected FROM account WHERE boot = 2"), 150);
	ck_assert_double_eq(rig_query(&f, "SELECT boot FROM agent"), 2);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * 150);
	rig_send_sample(&f, 4, 1);
	rig_send_sample(&f, 5, 1);
	rig_send_sample(&f, 2, 60); /* by now too old a boot */
	ck_assert_uint_eq(stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_OLD_BOOT), 1);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM account"), 4);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

static struct ease_record
state_record(uint32_t boot, uint64_t time_us, uint8_t oper_status)
{
	struct ease_record r = rig_record(EASE_PART_STATE, boot);

	r.state = (struct ease_state){
	    .if_index = 3,
	    .time_us = time_us,
	    .name = "ge-3",
	    .oper_status = oper_status,
	    .edge = true,
	};
	return r;
}

START_TEST(states_on_change_and_events_once)
{
	struct accounting_rig f;
	struct ease_record address = rig_record(EASE_PART_ADDRESS, 1);
	struct ease_record r;

	rig_make(&f);
	for (int life = 0; life < 2; life++) { /* the second life repeats all of the first */
		rig_open(&f);
		r = state_record(1, NOON_US, EASE_IF_UP);
		accounting_add_records(f.accounting, f.batch, &r, 1);
		r = state_record(1, NOON_US + 600 * 1000000ull, EASE_IF_UP);
		accounting_add_records(f.accounting, f.batch, &r, 1);
		r = state_record(1, NOON_US + 700 * 1000000ull, EASE_IF_DOWN);
		accounting_add_records(f.accounting, f.batch, &r, 1);
		r = state_record(1, NOON_US + 650 * 1000000ull, EASE_IF_UP); /* late */
		accounting_add_records(f.accounting, f.batch, &r, 1);
		address.address = (struct ease_address){
		    .if_index = 3, .time_us = NOON_US + 5, .mac = {1, 2, 3, 4, 5, 6}};
		accounting_add_records(f.accounting, f.batch, &address, 1);
		accounting_add_records(f.accounting, f.batch, &address, 1);
		rig_flush(&f);
		rig_close(&f);
		ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM port"), 2);
		ck_assert_double_eq(
		    rig_query(&f, "SELECT oper_status FROM port ORDER BY since_us DESC"),
		    EASE_IF_DOWN);
		ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM event WHERE kind = 4"), 1);
	}
	rig_remove(&f);
}
END_TEST

/* A record that arrives again gives one row; the row of an error source is as it was last reported.
 */
START_TEST(resources_and_error_sources_have_rows)
{
	struct accounting_rig f;
	struct ease_record resources = rig_record(EASE_PART_RESOURCES, 1);
	struct ease_record source = rig_record(EASE_PART_ERROR_SOURCE, 1);

	rig_make(&f);
	rig_open(&f);
	resources.resources = (struct ease_resources){.if_index = 3, .time_us = NOON_US,
	    .known = EASE_HAS_BUFFERS, .pressed_us = 1234, .pauses_out = 5};
	accounting_add_records(f.accounting, f.batch, &resources, 1);
	accounting_add_records(f.accounting, f.batch, &resources, 1);
	source.error_source = (struct ease_error_source){.if_index = 3, .time_us = NOON_US + 5,
	    .first_us = NOON_US, .mac = {1, 2, 3, 4, 5, 6}, .kind = EASE_ERROR_FCS, .count = 1};
	accounting_add_records(f.accounting, f.batch, &source, 1);
	source.error_source.count = 2;
	source.error_source.time_us += 10;
	accounting_add_records(f.accounting, f.batch, &source, 1);
	ck_assert_uint_eq(stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_ROWS), 4);
	rig_flush(&f);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM resource"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT pressed_us FROM resource WHERE known = 2"), 1234);
	ck_assert_double_eq(rig_query(&f, "SELECT pauses_out FROM resource"), 5);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM error_source"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT frames FROM error_source WHERE kind = 1"), 2);
	ck_assert_double_eq(rig_query(&f, "SELECT last_us - first_us FROM error_source"), 15);
	rig_remove(&f);
}
END_TEST

/* Kill */

static void
collect_until_killed(struct accounting_rig *f)
{
	rig_open(f);
	for (uint32_t i = 1; i <= SAMPLES; i += 10) {
		rig_send_range(f, 1, i, i + 9);
		accounting_flush(f->accounting, f->batch);
		store_submit(f->store, f->batch);
		while (!(f->batch = store_take(f->store)))
			usleep(100);
	}
	pause();
}

/* Whenever the collector was killed: accounts, sums, samples and totals match each other. */
static void
check_consistent(const struct accounting_rig *f)
{
	double n = rig_query(f, "SELECT count(*) FROM sample");

	ck_assert_double_eq(rig_query(f, "SELECT ifnull(sum(received), 0) FROM account"), n);
	ck_assert_double_eq(rig_query(f, "SELECT ifnull(sum(n), 0) FROM window"), n);
	ck_assert_double_eq(
	    rig_query(f, "SELECT ifnull(sum(n), 0) FROM window_key WHERE kind = 1"), n);
	ck_assert_double_eq(rig_query(f, "SELECT ifnull(sum(received), 0) FROM window_port"), n);
	ck_assert_double_eq(
	    rig_query(f, "SELECT ifnull(sum(pool_pkts), 0) FROM window WHERE direction = 1"),
	    rig_query(f, "SELECT ifnull(max(pool_in) - min(pool_in), 0) FROM counter"));
}

START_TEST(killed_at_any_moment)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_flush(&f);
	rig_close(&f);
	for (int kill_after_us = 1000; kill_after_us < 60000; kill_after_us += 3000) {
		pid_t child = fork();

		if (child == 0) {
			collect_until_killed(&f);
			_exit(0);
		}
		usleep((useconds_t)kill_after_us);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		check_consistent(&f);
	}
	rig_open(&f); /* the agent sends everything again: it counts once */
	rig_send_range(&f, 1, 1, SAMPLES);
	rig_flush(&f);
	rig_close(&f);
	check_consistent(&f);
	rig_check_all(&f, SAMPLES);
	rig_remove(&f);
}
END_TEST

/* Refusals, and a store that is not available */

static int
try_open(struct accounting_rig *f)
{
	struct store *store = NULL;
	int r = store_open(&store, f->path, NULL, f->error, sizeof(f->error));

	store_close(store);
	if (r < 0)
		ck_assert_msg(strstr(f->error, f->path) != NULL, "message names no file: %s",
		    f->error);
	return r;
}

START_TEST(what_is_no_store_of_ours_is_refused)
{
	struct accounting_rig f;
	FILE *file;

	rig_make(&f);
	rig_open(&f);
	ck_assert_int_eq(try_open(&f), -EBUSY);
	rig_close(&f);
	rig_sql(&f, "PRAGMA user_version=99");
	ck_assert_int_eq(try_open(&f), -EPROTONOSUPPORT);
	rig_set_version(&f, STORE_FIRST_VERSION - 1);
	ck_assert_int_eq(try_open(&f), -EPROTONOSUPPORT);
	ck_assert_ptr_nonnull(strstr(f.error, "before the first release"));
	rig_set_version(&f, STORE_VERSION);
	rig_sql(&f, "DROP TABLE account");
	ck_assert_int_eq(try_open(&f), -EBADMSG);
	rig_remove(&f);

	rig_make(&f);
	rig_sql(&f, "CREATE TABLE mine(a)");
	ck_assert_int_eq(try_open(&f), -EBADMSG);
	rig_remove(&f);

	rig_make(&f);
	file = fopen(f.path, "w");
	for (int i = 0; i < 5000; i++)
		fputs("this is no database ", file);
	fclose(file);
	ck_assert_int_eq(try_open(&f), -EBADMSG);
	rig_remove(&f);

	rig_make(&f);
	snprintf(f.path, sizeof(f.path), "%s/no/such", f.dir);
	ck_assert_int_eq(try_open(&f), -ENOENT);
	rmdir(f.dir);
}
END_TEST

/* Version 25 made ids of sFlow in the octets of its machine, which the second one of these has the other way round. */
#define OF_MACHINE(little, big) (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (little) : (big))

/* Ids as version 25 made them and as they are made now, both computed by a script from the octets that the agents state:
 * FNV-1a, and SHA-256 of Python's hashlib. An EASE agent at such an address keeps its own. */
START_TEST(ids_made_by_an_earlier_version_are_replaced)
{
	static const struct {
		const char *old, *now, *address, *source;
	} agents[] = {
	    {OF_MACHINE("2794851B5AB96F1D", "6D4570A4953029ED"), "00052F47DD4ABA9C", "10.0.0.7", "10.0.0.7"},
	    {OF_MACHINE("442251235C975C7C", "2AEB7C37A1ED4B3C"), "0005493C8AF0596D", "2001:db8::7", "192.0.2.1"},
	    {OF_MACHINE("F77FC68308887E67", "5F119226AD769101"), "0005EDEB10DE37E1", "192.0.2.9", "192.0.2.9"}, /* 127.0.0.1 */
	    {OF_MACHINE("81E92D90D08350EE", "14FC627AE3D16A93"), "0005489EE8505127", "192.0.2.10", "192.0.2.10"}, /* 128.0.0.16 */
	    {OF_MACHINE("AC9DCF37FD9F7F9C", "9C7F9FFD37CF9DAC"), "0005D4298579D178", "2001:db8::8", "2001:db8::8"}, /* none */
	    {"00038E3D2BF8FA45", "00033CAA571C4B12", "10.0.0.8", "0x80001f8804aabbccdd"},
	    {"00067C0EBEA3B759", "0006E893AFC8C72F", "2001:db8::9", "2001:db8::9"},
	    {"000400000A000009", "000400000A000009", "10.0.0.9", "10.0.0.9"},
	    {"2794851B5AB96F1E", "2794851B5AB96F1E", "10.0.0.7", "10.0.0.7"},
	    {"0102030405060708", "0102030405060708", "10.0.0.7", "0x80001f88050102030405060708"},
	};
	struct accounting_rig f;
	char sql[512];

	rig_make(&f);
	rig_open(&f);
	rig_close(&f);
	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
		snprintf(sql, sizeof(sql), "INSERT INTO agent VALUES(%1$zu, x'%2$s', 1, '%3$s', 1, 2, 3, 0);"
		    "INSERT INTO agent_source VALUES(%1$zu, '%4$s', 1)", i + 1, agents[i].old, agents[i].address,
		    agents[i].source);
		rig_sql(&f, sql);
	}
	rig_sql(&f, "DROP TABLE discard_hour; DROP TABLE held; DROP TRIGGER held_forgotten;"
		    " DROP TRIGGER discard_held; DROP TRIGGER discard_freed; DROP TRIGGER event_held; DROP TRIGGER event_freed;"
		    " DROP TRIGGER place_held; DROP TRIGGER place_freed; DROP TRIGGER error_source_held;"
		    " DROP TRIGGER error_source_freed; DROP TRIGGER oddity_held; DROP TRIGGER oddity_freed;" /* of version 27 */
		    " DROP TABLE paid; DROP INDEX gone_port; DROP TRIGGER paid_forgotten; DROP TRIGGER counter_held; DROP TRIGGER counter_freed;"
		    " ALTER TABLE life DROP COLUMN first_charged; ALTER TABLE sample DROP COLUMN vni; DROP INDEX sample_header;"
		    " ALTER TABLE sample DROP COLUMN header; ALTER TABLE sample DROP COLUMN src_as; ALTER TABLE sample DROP COLUMN dst_as;"
		    " DROP INDEX sample_way; ALTER TABLE sample DROP COLUMN queue; ALTER TABLE sample DROP COLUMN depth_octets;"
		    " ALTER TABLE sample DROP COLUMN delay_ns;" /* of versions 28 to 31 */
		    " INSERT INTO part VALUES(7, 1, 0, 0, 0, 7, 1, x'00')");
	rig_set_version(&f, 25);
	rig_open(&f);
	rig_close(&f);
	rig_sql(&f, "DELETE FROM part");
	ck_assert_double_eq(rig_query(&f, "SELECT first_charged FROM life"), 8); /* parts of before are not counted */
	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM agent WHERE id = %zu AND hex(agent_id) = '%s'", i + 1,
		    agents[i].now);
		ck_assert_msg(rig_query(&f, sql) == 1, "%s", agents[i].old);
	}
	rig_remove(&f);
}
END_TEST

/* Each collector's counters are its own: one that it does not have is not shown beside them. */
START_TEST(counters_of_an_earlier_collector_are_gone)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_close(&f);
	rig_sql(&f, "INSERT INTO stat VALUES('ledger.late', 5)");
	rig_open(&f);
	rig_close(&f);
	ck_assert_int_eq(rig_query(&f, "SELECT count(*) FROM stat WHERE name = 'ledger.late'"), 0);
	rig_remove(&f);
}
END_TEST

START_TEST(while_the_store_is_away_nothing_waits_or_is_lost)
{
	struct accounting_rig f;
	sqlite3 *other;
	uint32_t i = 1;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_flush(&f);
	other = rig_run(&f, "BEGIN IMMEDIATE");
	for (;; i += 100) { /* until all batches wait */
		struct store_batch *next = store_take(f.store);

		rig_send_range(&f, 1, i, i + 99);
		if (!next)
			break;
		ck_assert_int_eq(accounting_flush(f.accounting, f.batch), 0);
		store_submit(f.store, f.batch);
		f.batch = next;
	}
	ck_assert_uint_lt(i, SAMPLES - 100);
	ck_assert_int_eq(store_drain(f.store), -EIO); /* says so, does not hang */
	ck_assert_uint_gt(stat_get(store_stats(f.store), STORE_STAT_RETRIES), 0);
	rig_send_range(&f, 1, i + 100, SAMPLES);
	sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(other);
	while (stat_get(store_stats(f.store), STORE_STAT_BATCHES) < STORE_BATCHES)
		usleep(1000);
	rig_flush(&f);
	rig_check_all(&f, SAMPLES);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(a_full_batch_loses_rows_by_name_and_no_sums)
{
	struct accounting_rig f;
	const uint32_t n = 100000;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, n);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample") +
		(double)stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_LOST_STORE_QUEUE),
	    n);
	ck_assert_uint_gt(
	    stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_LOST_STORE_QUEUE), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), n);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), n);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Whatever an agent sends, of each kind a port or agent has a number of rows in the store, the newest
 * ones; what is beyond is counted. All at one time, as from a device without a clock. */
START_TEST(rows_of_a_port_are_limited)
{
	struct ease_record source = rig_record(EASE_PART_ERROR_SOURCE, 1);
	struct ease_record address = rig_record(EASE_PART_ADDRESS, 1);
	struct ease_record state = state_record(1, NOON_US, EASE_IF_UP);
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	rig_send_snapshot(&f, 1, 0);
	for (uint32_t i = 0; i < 120000; i++) {
		uint8_t mac[] = {2, 0, 0, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};

		address.address = (struct ease_address){.if_index = 3, .time_us = NOON_US};
		memcpy(address.address.mac, mac, sizeof(mac));
		accounting_add_records(f.accounting, f.batch, &address, 1);
		if (i % 10 == 0) {
			source.error_source =
			    (struct ease_error_source){.if_index = 3, .time_us = NOON_US + i};
			memcpy(source.error_source.mac, mac, sizeof(mac));
			accounting_add_records(f.accounting, f.batch, &source, 1);
			state.state.time_us = NOON_US + i;
			state.state.oper_status = i % 20 ? EASE_IF_UP : EASE_IF_DOWN;
			accounting_add_records(f.accounting, f.batch, &state, 1);
		}
		if (i % 5000 == 0)
			rig_flush(&f);
	}
	for (uint32_t boot = 2; boot <= 40; boot++) {
		rig_send_snapshot(&f, boot, 100 + boot);
		rig_flush(&f);
	}
	rig_flush(&f);
	ck_assert_uint_eq(
	    stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_LOST_STORE_ROWS), 0);
	ck_assert_double_le(rig_query(&f, "SELECT count(*) FROM event"), 100000 + 256);
	ck_assert_double_ge(rig_query(&f, "SELECT count(*) FROM event"), 100000);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM error_source"), 256);
	ck_assert_double_ge(rig_query(&f, "SELECT min(last_us) FROM error_source"),
	    (double)(NOON_US + 120000 - 256 * 10));
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM port"), 256);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM account"), 8);
	ck_assert_double_eq(rig_query(&f, "SELECT min(boot) FROM account"), 33);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM event") +
		rig_query(&f, "SELECT count(*) FROM error_source") +
		rig_query(&f, "SELECT count(*) FROM port") +
		rig_query(&f, "SELECT count(*) FROM account") +
		(double)stat_get(store_stats(f.store), STORE_STAT_BEYOND_LIMIT),
	    120000 + 2 * 12000 + 40);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* As many rows as a batch holds are kept and the others are counted; a port state that had no room
 * is stored when it is reported again. */
START_TEST(other_rows_that_find_no_room_are_counted)
{
	struct ease_record address = rig_record(EASE_PART_ADDRESS, 1);
	struct ease_record source = rig_record(EASE_PART_ERROR_SOURCE, 1);
	struct ease_record resources = rig_record(EASE_PART_RESOURCES, 1);
	struct ease_record state = state_record(1, NOON_US, EASE_IF_UP);
	struct accounting_rig f;
	double kept, lost;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 0; i < 40000; i++) {
		address.address = (struct ease_address){.if_index = 3, .time_us = NOON_US + i,
		    .mac = {2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i}};
		accounting_add_records(f.accounting, f.batch, &address, 1);
		source.error_source = (struct ease_error_source){.if_index = 1 + i / 128,
		    .time_us = NOON_US + i, .mac = {2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i}};
		accounting_add_records(f.accounting, f.batch, &source, 1);
		resources.resources =
		    (struct ease_resources){.if_index = 3, .time_us = NOON_US + i};
		accounting_add_records(f.accounting, f.batch, &resources, 1);
	}
	lost = (double)stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_LOST_STORE_ROWS);
	for (uint32_t i = 0; i < 40000; i++) {
		state.state.time_us = NOON_US + i;
		state.state.oper_status = i % 2 ? EASE_IF_UP : EASE_IF_DOWN;
		accounting_add_records(f.accounting, f.batch, &state, 1);
	}
	ck_assert_double_gt(
	    (double)stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_LOST_STORE_ROWS),
	    lost);
	rig_flush(&f);
	kept =
	    rig_query(&f, "SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM resource) +"
			  " (SELECT count(*) FROM error_source)");
	ck_assert_double_gt(kept, 3);
	ck_assert_double_eq(kept + lost, 3. * 40000);
	accounting_add_records(f.accounting, f.batch, &state, 1); /* the last one, again */
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT oper_status FROM port ORDER BY since_us DESC"),
	    state.state.oper_status);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(a_batch_full_of_counters_can_still_be_cut)
{
	struct accounting_rig f;
	const uint32_t n = 3000; /* more than a batch's counters */

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 0; i <= n; i++)
		rig_send_snapshot(&f, 1, i * PER_SNAPSHOT);
	rig_flush(&f);
	ck_assert_double_lt(rig_query(&f, "SELECT count(*) FROM counter"), n);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT max(pool_in) FROM counter"), 14. * n * PER_SNAPSHOT);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * n * PER_SNAPSHOT);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(counters_are_thinned_but_never_behind_the_totals)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 0; i <= 100; i++) /* ten a second */
		rig_send_snapshot(&f, 1, i);
	rig_flush(&f);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM counter"), 11);
	rig_open(&f);
	for (uint32_t i = 90; i <= 105; i++)
		rig_send_snapshot(&f, 1, i);
	rig_flush(&f);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT max(pool_in) FROM counter"), 14 * 105);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14 * 105);
	rig_remove(&f);
}
END_TEST

START_TEST(what_a_device_does_not_count_is_unknown_after_a_restart_too)
{
	struct accounting_rig f;

	rig_make(&f);
	for (uint32_t i = 0; i < 4; i++) {
		struct ease_record r = rig_snapshot(1, i);

		rig_open(&f);
		if (i != 2) /* once it is told, and then no more */
			r.snapshot.out.octets = EASE_COUNT_UNKNOWN;
		accounting_add_records(f.accounting, f.batch, &r, 1);
		rig_flush(&f);
		rig_close(&f);
	}
	ck_assert_double_eq(
	    rig_query(&f, "SELECT sum(pool_octets) FROM window WHERE direction = 1"), 5000. * 3);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 2"),
	    7. * 3);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT sum(pool_octets) FROM window WHERE direction = 2"), 0);
	rig_remove(&f);
}
END_TEST

START_TEST(without_room_for_windows_the_totals_still_add_up)
{
	struct accounting_limits limits = rig_limits;
	struct accounting_rig f;
	double in_keys;

	rig_make(&f);
	rig_open(&f);
	accounting_free(f.accounting);
	limits.windows.windows = 1; /* of the six minutes of this traffic */
	ck_assert_int_eq(accounting_new(&f.accounting, &limits, &f.clock, 1), 0);
	rig_send_snapshot(&f, 1, 0);
	rig_send_range(&f, 1, 1, SAMPLES);
	rig_flush(&f);
	ck_assert_uint_gt(
	    stat_get(accounting_window_stats(f.accounting), WINDOW_STAT_NO_WINDOW), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), SAMPLES);
	for (int kind = STORE_KEY_ETH_PAIR; kind <= STORE_KEY_IP_PAIR; kind++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT sum(n) FROM window_key WHERE kind = %d", kind);
		in_keys = rig_query(&f, sql);
		ck_assert_double_lt(in_keys, SAMPLES);
		/* what is in no key is told, so that upper limits allow for it */
		snprintf(sql, sizeof(sql), "SELECT sum(n) FROM window_folded WHERE kind = %d AND n = most_n", kind);
		ck_assert_double_eq(in_keys + rig_query(&f, sql), SAMPLES);
	}
	ck_assert_double_eq(rig_query(&f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * SAMPLES);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM window_port"), SAMPLES);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM window_port"), SAMPLES);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Two sub-agents that sample a port number their samples each from 1 on. */
START_TEST(equal_numbers_of_two_sources_are_two_rows)
{
	struct accounting_rig f;
	uint8_t header[BOOKS_HEADER];

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= 100; i++)
		for (uint32_t sub = 0; sub < 3; sub++) {
			struct ease_record r;

			rig_header(i, header);
			r = rig_sample(1, i, header);
			rig_by_sflow(&r);
			r.source_port = sub ? source_port_of_further(sub + 1, sub, r.sample.if_index) : 0;
			accounting_add_records(f.accounting, f.batch, &r, 1);
		}
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM sample"), 300);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(n) FROM window"), 300);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(strangers_beyond_the_limits_are_counted)
{
	struct accounting_rig f;
	struct accounting_limits limits = rig_limits;
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_batch batch;
	struct ease_record r;

	rig_make(&f);
	limits.agents = 3;
	limits.ports = 5;
	accounting_room(&limits, room);
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	ck_assert_int_eq(accounting_new(&f.accounting, &limits, &f.clock, 1), 0);
	for (uint8_t agent = 0; agent < 10; agent++) {
		r = rig_snapshot(1, 1);
		r.agent_id[0] = agent;
		accounting_add_records(f.accounting, &batch, &r, 1);
	}
	ck_assert_uint_eq(stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_AGENTS_FULL), 7);
	for (uint32_t port = 100; port < 110; port++) {
		r = rig_snapshot(1, 1);
		r.agent_id[0] = 0;
		r.snapshot.if_index = port;
		accounting_add_records(f.accounting, &batch, &r, 1);
	}
	ck_assert_uint_eq(stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_PORTS_FULL), 8);
	r = rig_snapshot(1, 1);
	r.agent_id[0] = 0;
	r.snapshot.time_us = UINT64_MAX;
	accounting_add_records(f.accounting, &batch, &r, 1);
	ck_assert_uint_eq(stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_BAD_TIME), 1);
	ck_assert_uint_eq(batch.rows[STORE_COUNTERS].n, 5);
	store_batch_free(&batch);
	accounting_free(f.accounting);
	rmdir(f.dir);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, one_undisturbed_run);
	tcase_add_test(tc, a_restart_in_the_middle_changes_nothing);
	tcase_add_test(tc, disorder_and_repetition_change_nothing);
	tcase_add_test(tc, loss_is_counted_where_it_was);
	tcase_add_test(tc, ports_of_a_bridge_share_its_numbers);
	tcase_add_test(tc, a_boot_of_the_agent_goes_on);
	tcase_add_test(tc, states_on_change_and_events_once);
	tcase_add_test(tc, resources_and_error_sources_have_rows);
	tcase_add_test(tc, killed_at_any_moment);
	tcase_add_test(tc, what_is_no_store_of_ours_is_refused);
	tcase_add_test(tc, ids_made_by_an_earlier_version_are_replaced);
	tcase_add_test(tc, counters_of_an_earlier_collector_are_gone);
	tcase_add_test(tc, while_the_store_is_away_nothing_waits_or_is_lost);
	tcase_add_test(tc, a_full_batch_loses_rows_by_name_and_no_sums);
	tcase_add_test(tc, rows_of_a_port_are_limited);
	tcase_add_test(tc, other_rows_that_find_no_room_are_counted);
	tcase_add_test(tc, a_batch_full_of_counters_can_still_be_cut);
	tcase_add_test(tc, counters_are_thinned_but_never_behind_the_totals);
	tcase_add_test(tc, what_a_device_does_not_count_is_unknown_after_a_restart_too);
	tcase_add_test(tc, without_room_for_windows_the_totals_still_add_up);
	tcase_add_test(tc, equal_numbers_of_two_sources_are_two_rows);
	tcase_add_test(tc, strangers_beyond_the_limits_are_counted);
	return suite_run(suite);
}
