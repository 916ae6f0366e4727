/*
 * Shipping against a server that fails in every way: whatever request fails however, what is in the
 * cluster in the end is what the store has, once. Requests, answers and rows are the model's
 * (cluster_model.h); a real server is tests/collector/cluster/check_cluster.sh's.
 */
#include "collector/cluster/http.h"
#include "collector/ship/ship.h"
#include "tests/collector/accounting_rig.h"
#include "tests/collector/ship/cluster_model.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SENT = 900, /* samples: a minute and a half */
	TIMEOUT_MS = 3000, /* of a busy machine, too */
	LATE_MS = 3300,
};

static struct accounting_rig books;
static struct cluster_model *model;

static void
setup(void)
{
	rig_make(&books);
	rig_open(&books);
	rig_send_range(&books, 1, 1, SENT);
	rig_flush(&books);
	model = cluster_model_start(LATE_MS, NULL);
}

static void
teardown(void)
{
	cluster_model_stop(model);
	if (books.store)
		rig_close(&books);
	rig_remove(&books);
}

static struct cluster_url
url_of(uint16_t port)
{
	return (struct cluster_url){.host = "127.0.0.1", .port = port};
}

static void
take_damage(void *arg, uint64_t inode)
{
	*(uint64_t *)arg = inode;
}

/* damaged: the inode of a store that could not be read. */
static struct ship *
begin_life(uint32_t interval_s, uint64_t *damaged)
{
	const struct cluster_url url = url_of(cluster_model_port(model));
	const struct ship_config config = {.store = books.path, .servers = &url, .n_servers = 1,
	    .place = {"ease", NULL}, .password = "hush", .version = "1", .samples = true,
	    .interval_s = interval_s, .timeout_ms = TIMEOUT_MS, .damaged = take_damage, .damaged_arg = damaged};
	char error[ERROR_TEXT];
	struct ship *ship;

	ck_assert_msg(ship_open(&ship, &config, error, sizeof(error)) == 0, "%s", error);
	return ship;
}

/* A collector's life with nothing but a stop in it: all that there is goes. With interval 0 it
 * goes at once, and what failed again at the stop, in the same life. */
static uint64_t
live(uint32_t interval_s)
{
	uint64_t damaged = 0;

	ship_close(begin_life(interval_s, &damaged));
	return damaged;
}

static void
ship_once(void)
{
	live(1);
}

static size_t
rows_of(enum cluster_table_id table)
{
	uint64_t n;
	size_t rows;

	cluster_model_count(model, table, &rows, &n);
	return rows;
}

static uint64_t
sum_of(enum cluster_table_id table)
{
	uint64_t n;
	size_t rows;

	cluster_model_count(model, table, &rows, &n);
	return n;
}

/* What there is, counted from the store. */
static void
check_all(const char *when)
{
	static const struct {
		enum cluster_table_id table;
		const char *sum, *rows;
	} must[] = {
	    {CLUSTER_PORTS, "SELECT sum(n) FROM window", NULL},
	    {CLUSTER_KEYS, "SELECT sum(n) FROM window_key",
		"SELECT count(*) FROM (SELECT DISTINCT kind, start_us, direction, key1, key2 FROM"
		" window_key)"},
	    {CLUSTER_SAMPLES, NULL, "SELECT count(*) FROM sample"},
	    {CLUSTER_COUNTERS, NULL, "SELECT count(*) FROM counter"},
	    {CLUSTER_ACCOUNTS, NULL, "SELECT count(*) FROM account"},
	    {CLUSTER_AGENTS, NULL, "SELECT count(*) FROM agent"},
	    {CLUSTER_EVENTS, NULL, "SELECT count(*) FROM event"},
	    {CLUSTER_COVER, NULL, "SELECT count(DISTINCT start_us) FROM window"},
	};

	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++) {
		const char *name = cluster_tables[must[i].table].name;

		if (must[i].rows)
			ck_assert_msg(rows_of(must[i].table) == rig_query(&books, must[i].rows),
			    "%s: %zu rows of %s", when, rows_of(must[i].table), name);
		if (must[i].sum)
			ck_assert_msg(sum_of(must[i].table) == rig_query(&books, must[i].sum),
			    "%s: %llu in %s", when,
			    (unsigned long long)sum_of(must[i].table), name);
	}
}

/* All pages but the first are rubbish. */
START_TEST(a_damaged_store_is_told)
{
	static const char rubbish[4096] = "no page of a database";
	struct stat st;
	int fd;

	ck_assert_uint_eq(live(1), 0);
	rig_sql(&books, "PRAGMA wal_checkpoint(TRUNCATE)");
	fd = open(books.path, O_WRONLY);
	ck_assert_int_eq(fstat(fd, &st), 0);
	for (off_t at = sizeof(rubbish); at < st.st_size; at += (off_t)sizeof(rubbish))
		ck_assert_int_eq(pwrite(fd, rubbish, sizeof(rubbish), at), (ssize_t)sizeof(rubbish));
	close(fd);
	ck_assert_uint_eq(live(1), st.st_ino);
}
END_TEST

START_TEST(all_of_a_store_arrives)
{
	ship_once();
	ck_assert_uint_eq(sum_of(CLUSTER_PORTS), SENT);
	ck_assert(cluster_model_saw_key(model));
	check_all("at once");
}
END_TEST

START_TEST(any_request_may_fail_in_any_way)
{
	enum fate fate = (enum fate)_i;
	unsigned n, requests, step;
	char when[64];

	cluster_model_fail(model, UINT32_MAX, FATE_NONE);
	ship_once();
	requests = cluster_model_requests(model);
	ck_assert_uint_gt(requests, 10);
	/* each request has some fate, by --long each of them */
	step = fate == FATE_LATE ? 9 : getenv("EASE_LONG") ? 1 : 4;
	for (n = fate % step; n < requests; n += step) {
		cluster_model_wipe(model);
		cluster_model_fail(model, n, fate);
		live(n % 2);
		ship_once();
		snprintf(when, sizeof(when), "fate %d at request %u", fate, n);
		check_all(when);
	}
}
END_TEST

START_TEST(what_arrived_is_not_sent_again)
{
	size_t taken;

	ship_once();
	taken = cluster_model_taken(model);
	ship_once();
	/* states, and the minutes of its own last look */
	ck_assert_uint_lt(cluster_model_taken(model) - taken, taken / 4);
	check_all("after a restart");
}
END_TEST

START_TEST(late_samples_replace_their_minute)
{
	ship_once();
	rig_send_range(&books, 1, SENT + 1, SENT + 200);
	rig_flush(&books);
	ship_once();
	ck_assert_uint_eq(sum_of(CLUSTER_PORTS), SENT + 200);
	check_all("after late samples");
}
END_TEST

START_TEST(a_cluster_that_was_wiped_is_filled_again)
{
	ship_once();
	cluster_model_wipe(model);
	ship_once();
	check_all("after the loss");
}
END_TEST

START_TEST(what_was_deleted_before_it_was_sent_is_counted)
{
	ship_once();
	rig_sql(&books, "INSERT OR REPLACE INTO level SELECT 1, max(start_us) + 600000000,"
	    " max(start_us) + 600000000, 0, 0, 0 FROM part");
	ship_once();
	ck_assert_int_gt(cluster_model_missed(model), 9);
	ck_assert_int_le(cluster_model_missed(model), 12);
}
END_TEST

START_TEST(ids_of_parts_are_not_given_twice)
{
	double newest = rig_query(&books, "SELECT max(id) FROM part");

	ship_once();
	rig_sql(&books, "DELETE FROM part WHERE id > (SELECT min(id) FROM part)");
	rig_close(&books);
	rig_open(&books);
	rig_send_range(&books, 1, SENT + 1, SENT + 50);
	rig_flush(&books);
	ck_assert_double_gt(rig_query(&books, "SELECT min(id) FROM part WHERE n > 0 AND id >"
	    " (SELECT min(id) FROM part)"), newest);
}
END_TEST

/* The collector was started again since the copy was made, or not: the copy gives ids that the cluster has, and says of the
 * time between that all is missing, while the cluster has it. */
START_TEST(a_copy_that_is_put_back_is_shipped_from_there_on)
{
	const uint32_t copied = 1199, lost = 1799, now = 2399; /* each is the last of a minute */
	const char *event = "INSERT INTO event SELECT NULL, max(time_us) + 1, 1, 1, 1, 1, NULL, NULL, NULL, NULL FROM sample";
	uint64_t damaged;
	struct ship *ship;
	size_t taken;
	char sql[160];

	rig_send_range(&books, 1, SENT + 1, copied);
	rig_flush(&books);
	snprintf(sql, sizeof(sql), "VACUUM INTO '%s/copy'", books.dir);
	rig_sql(&books, sql);
	for (int i = 0; i < 3 * _i; i++) {
		rig_close(&books);
		rig_open(&books);
		rig_sql(&books, event);
	}
	clock_step_us(&books.clock, 60 * MINUTE_US);
	rig_send_range(&books, 1, copied + 1, lost);
	rig_flush(&books);
	ship_once();
	rig_close(&books);
	snprintf(sql, sizeof(sql), "cd %s && rm ease.db-wal ease.db-shm && mv copy ease.db", books.dir);
	ck_assert_int_eq(system(sql), 0);
	rig_open(&books);
	taken = cluster_model_taken(model);
	ship = begin_life(1, &damaged);
	while (cluster_model_taken(model) == taken)
		usleep(1000);
	rig_send_range(&books, 1, lost + 1, now);
	rig_flush(&books);
	rig_sql(&books, event);
	ship_close(ship);
	ck_assert_uint_eq(sum_of(CLUSTER_PORTS), now);
	ck_assert_uint_eq(rows_of(CLUSTER_EVENTS), 3 * (size_t)_i + 1);
}
END_TEST

/* Servers */

static struct cluster_http *
open_http(const struct cluster_url *urls, size_t n, uint32_t timeout_ms)
{
	const struct cluster_http_config config = {.servers = urls, .n_servers = n,
	    .user = "u", .password = "hush", .timeout_ms = timeout_ms};
	struct cluster_http *http;
	char error[ERROR_TEXT];

	ck_assert_int_eq(cluster_http_open(&http, &config, error, sizeof(error)), 0);
	return http;
}

static const struct cluster_question any = {.sql = "SELECT toUInt64(uptime())",
    .server = CLUSTER_ANY_SERVER};

START_TEST(the_next_server_is_asked_where_one_is_away)
{
	const struct cluster_url urls[] = {url_of(1), url_of(cluster_model_port(model))};
	struct cluster_question first = any;
	struct cluster_http *http = open_http(urls, 2, TIMEOUT_MS);

	ck_assert_int_eq(cluster_http_ask(http, &any), 0);
	first.server = 0;
	ck_assert_int_eq(cluster_http_ask(http, &first), -EHOSTUNREACH);
	ck_assert_ptr_nonnull(strstr(cluster_http_error(http), "127.0.0.1:1"));
	ck_assert_ptr_null(strstr(cluster_http_error(http), "hush"));
	cluster_http_close(http);
}
END_TEST

START_TEST(what_a_server_says_is_told)
{
	static const struct {
		enum fate fate;
		int err, code;
	} fates[] = {{FATE_ERROR, -EREMOTEIO, 241}, {FATE_NO_TABLE, -EREMOTEIO, 60},
	    {FATE_OVERLOADED, -EHOSTUNREACH, 0}, {FATE_LOSE, -EHOSTUNREACH, 0},
	    {FATE_HALF, -EHOSTUNREACH, 0}, {FATE_LATE, -ETIMEDOUT, 0}};
	const struct cluster_url url = url_of(cluster_model_port(model));

	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		struct cluster_http *http = open_http(&url, 1, TIMEOUT_MS);

		cluster_model_fail(model, 0, fates[i].fate);
		ck_assert_int_eq(cluster_http_ask(http, &any), fates[i].err);
		ck_assert_int_eq(cluster_http_code(http), fates[i].code);
		ck_assert_uint_gt(strlen(cluster_http_error(http)), 0);
		cluster_http_close(http);
	}
}
END_TEST

static int
refuse(void *arg, const void *octets, size_t n)
{
	(void)arg;
	(void)octets;
	(void)n;
	return -ENOSPC;
}

START_TEST(an_answer_may_be_refused)
{
	const struct cluster_url url = url_of(cluster_model_port(model));
	struct cluster_http *http = open_http(&url, 1, TIMEOUT_MS);
	struct cluster_question q = any;

	q.take = refuse;
	ck_assert_int_eq(cluster_http_ask(http, &q), -ENOSPC);
	cluster_http_close(http);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ship");
	TCase *tc = tcase_create("ship");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_damaged_store_is_told);
	tcase_add_test(tc, all_of_a_store_arrives);
	tcase_add_loop_test(tc, any_request_may_fail_in_any_way, FATE_CLOSE, N_FATES);
	tcase_add_test(tc, what_arrived_is_not_sent_again);
	tcase_add_test(tc, late_samples_replace_their_minute);
	tcase_add_test(tc, a_cluster_that_was_wiped_is_filled_again);
	tcase_add_test(tc, what_was_deleted_before_it_was_sent_is_counted);
	tcase_add_test(tc, ids_of_parts_are_not_given_twice);
	tcase_add_loop_test(tc, a_copy_that_is_put_back_is_shipped_from_there_on, 0, 2);
	tcase_add_test(tc, the_next_server_is_asked_where_one_is_away);
	tcase_add_test(tc, what_a_server_says_is_told);
	tcase_add_test(tc, an_answer_may_be_refused);
	return suite_run(suite);
}
