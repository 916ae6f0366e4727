/*
 * Shipping to a cluster, and reports from one, with each thing that they ask of the system failing
 * once, and from there on (faults.h): our memory, SQLite's and libcurl's, threads, and reading the
 * store. The cluster is the model's (cluster_model.h). In the end it has every row that the store
 * has, each as it would be without a fault; no window is said to be rolled up, and no partition
 * dropped, too early; a report is whole or an error with a reason.
 */
#include "collector/query/query.h"
#include "collector/render/render.h"
#include "collector/report/question.h"
#include "collector/ship/ship.h"
#include "common/log.h"
#include "tests/collector/accounting_rig.h"
#include "tests/collector/ship/cluster_answers.h"
#include "tests/collector/ship/cluster_model.h"
#include "tests/collector/store/faulty_vfs.h"
#include "tests/faults/faults.h"
#include "tests/faults/faults_private.h"
#include "tests/suite.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	RUNS = 12,	/* faults of one kind */
	SENT = 700,	/* samples: two minutes */
	TIMEOUT_MS = 30000, /* of a busy machine: nothing here is late */
	READ_RUNS = 12,
	OWN_RUNS = 30, /* of some 7,000 */
	OWN_RUNS_LONG = 100,
};

static struct accounting_rig books;
static struct cluster_model *model;

static void
spare_thread(void)
{
	faults_spare(true);
}

/* ---- libcurl's memory ---- */

static void *
curl_malloc(size_t n)
{
	return faults_hit(FAULT_MEMORY, "libcurl's malloc") ? NULL : malloc(n);
}

static void *
curl_realloc(void *p, size_t n)
{
	return faults_hit(FAULT_MEMORY, "libcurl's realloc") ? NULL : realloc(p, n);
}

static void *
curl_calloc(size_t n, size_t size)
{
	return faults_hit(FAULT_MEMORY, "libcurl's calloc") ? NULL : calloc(n, size);
}

static char *
curl_strdup(const char *text)
{
	return faults_hit(FAULT_MEMORY, "libcurl's strdup") ? NULL : strdup(text);
}

/* Of what libraries ask for, libcurl's. */
static void
install_few(void)
{
	log_set_most(LOG_LEVEL_ERROR);
	ck_assert_int_eq(curl_global_init_mem(CURL_GLOBAL_DEFAULT, curl_malloc, free,
	    curl_realloc, curl_strdup, curl_calloc), CURLE_OK);
}

static void
install(void)
{
	faults_install();
	faulty_vfs_install();
	install_few();
}

static void
set_up(void)
{
	install();
	rig_make(&books);
	rig_open(&books);
	rig_send_range(&books, 1, 1, SENT);
	rig_flush(&books);
	rig_close(&books); /* nobody else works on it */
}

static void
tear_down(void)
{
	rig_remove(&books);
}

/* ---- rolling up ---- */

/* What the model is told of roll-ups: one window of 5 minutes is due, one partition is old. */
static struct {
	unsigned made; /* statements for the window */
	bool is_kept;
	unsigned finished, dropped, too_early;
} rolled;

enum { STATEMENTS = 11 }; /* ports, samples without a key, 7 kinds of keys, counters, resources */

#define WINDOW_US (5 * MINUTE_US)
#define DAY_US	  (1440 * MINUTE_US)
#define ROLLED_US (NOON_US / WINDOW_US * WINDOW_US)

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void
note_roll_up(const char *sql)
{
	const char *values = strstr(sql, ") VALUES (");
	unsigned long long done_us, kept_us;
	unsigned level;

	if (begins(sql, "ALTER TABLE ") && strstr(sql, " DROP PARTITION ")) {
		rolled.dropped++;
		rolled.too_early += !rolled.is_kept;
	} else if (begins(sql, "INSERT INTO ease.rolled ") && values &&
	    sscanf(values, ") VALUES (%u, 0, 0, %llu, %llu", &level, &done_us, &kept_us) == 3) {
		rolled.is_kept |= kept_us > 0;
		if (level != 5 || done_us < ROLLED_US + WINDOW_US)
			return;
		rolled.too_early += rolled.made < STATEMENTS;
		rolled.finished++;
	} else if (strstr(sql, ") SELECT 5, ")) {
		rolled.made++;
	}
}

static void
put_numbers(struct row_buffer *out, const uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row_put_int(out, numbers[i], 8);
}

static bool
answer_keeper(void *arg, const char *sql, struct row_buffer *out)
{
	const uint64_t now_us = NOON_US + DAY_US;
	const uint64_t collector[] = {1, 5, NOON_US + 2 * WINDOW_US, NOON_US + 2 * WINDOW_US, now_us,
	    now_us}, level[] = {5, 0, 0, ROLLED_US, 0, 1}, old[] = {1, 1, 0};

	(void)arg;
	note_roll_up(sql);
	if (begins(sql, "SELECT collector, max(revision), max(closed_us)")) {
		put_numbers(out, collector, sizeof(collector) / sizeof(collector[0]));
	} else if (begins(sql, "SELECT toUInt64(level), collector, rolled_revision")) {
		put_numbers(out, level, sizeof(level) / sizeof(level[0]));
	} else if (begins(sql, "SELECT DISTINCT intDiv(start_us, 300000000)")) {
		rolled.made = 0;
		row_put_int(out, ROLLED_US, 8);
	} else if (begins(sql, "SELECT DISTINCT toUInt64(indexOf(")) {
		put_numbers(out, old, sizeof(old) / sizeof(old[0]));
	} else {
		return false;
	}
	return true;
}

/* ---- shipping ---- */

/* A round has two batches at most, so the third one is behind the first roll-up. */
static void
wait_for_rounds(const struct ship *ship)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	const struct stat_set *stats = ship_stats(ship);

	while (stat_get(stats, SHIP_STAT_BATCHES) < 3 && stat_get(stats, SHIP_STAT_RETRIES) == 0)
		nanosleep(&ms, NULL);
}

/* A collector's life: it ships at once, and at its end. */
static int
live(void)
{
	const struct cluster_url url = {.host = "127.0.0.1", .port = cluster_model_port(model)};
	const struct ship_config config = {.store = books.path, .servers = &url, .n_servers = 1,
	    .place = {"ease", NULL}, .user = "u", .password = "hush", .version = "1",
	    .samples = true, .timeout_ms = TIMEOUT_MS, .keep = {.level_us = {[LEVEL_1_MIN] = 1}}};
	char error[ERROR_TEXT] = "";
	struct ship *ship;
	int rc = ship_open(&ship, &config, error, sizeof(error));

	faults_assert(rc == 0 || error[0] != '\0', "%d after %s failed, and no reason", rc,
	    faults_last());
	if (rc == 0) {
		wait_for_rounds(ship);
		ship_close(ship);
	}
	return rc;
}

struct figures {
	bool known;
	size_t rows[CLUSTER_N_TABLES];
	uint64_t digests[CLUSTER_N_TABLES];
};

/* The row of this collector has the time of now. */
static void
expect_all(struct figures *right)
{
	for (int t = 0; t < CLUSTER_N_TABLES; t++) {
		uint64_t n, digest = cluster_model_digest(model, (enum cluster_table_id)t);
		size_t rows;

		cluster_model_count(model, (enum cluster_table_id)t, &rows, &n);
		if (!right->known) {
			right->rows[t] = rows;
			right->digests[t] = digest;
			ck_assert(t != CLUSTER_PORTS || n == SENT);
		}
		ck_assert_msg(rows == right->rows[t] &&
		    (t == CLUSTER_COLLECTORS || digest == right->digests[t]),
		    "%s failed: %zu rows of %s instead of %zu, or others", faults_last(), rows,
		    cluster_tables[t].name, right->rows[t]);
	}
	right->known = true;
}

/* What the life under faults said that arrived, the next one does not send again. */
static int
ship_twice(void *right)
{
	int rc;

	faults_spare(true);
	model = cluster_model_start(0, spare_thread);
	cluster_model_answer(model, answer_keeper, NULL);
	memset(&rolled, 0, sizeof(rolled));
	faults_spare(false);
	rc = live();
	faults_stop();
	faulty_vfs_fail(FAULT_NONE, 0, 0);
	ck_assert_int_eq(live(), 0);
	expect_all(right);
	cluster_model_stop(model);
	ck_assert_msg(rolled.finished > 0 && rolled.dropped > 0 && rolled.too_early == 0,
	    "%s failed: the window was finished %u times, partitions dropped %u times, %u of these "
	    "too early", faults_last(), rolled.finished, rolled.dropped, rolled.too_early);
	return rc;
}

static const struct {
	const char *name;
	unsigned classes;
} kinds[] = {
    {"shipping, memory", FAULT_BIT(FAULT_MEMORY)},
    {"shipping, all but memory", FAULT_ALL & ~FAULT_BIT(FAULT_MEMORY)},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

START_TEST(all_is_shipped_in_the_end)
{
	struct figures right = {0};

	faults_exhaust(kinds[_i].name, kinds[_i].classes, RUNS, ship_twice, &right);
}
END_TEST

START_TEST(a_store_that_cannot_be_read_is_shipped_later)
{
	struct figures right = {0};

	ck_assert_int_eq(ship_twice(&right), 0);
	for (int i = 0; i < READ_RUNS; i++) {
		faulty_vfs_fail(FAULT_READ, i * i / 2, i % 2 ? -1 : 1);
		ck_assert_int_eq(ship_twice(&right), 0);
	}
}
END_TEST

/* ---- reports ---- */

static int
ask(const char *report, const struct report_options *options, render_fn *render, FILE *out)
{
	const struct cluster_url url = {.host = "127.0.0.1", .port = cluster_model_port(model)};
	const struct query_cluster where = {.servers = &url, .n_servers = 1, .user = "ease",
	    .password = "hush"};
	const struct render_options how = {.utc = true, .now_us = ANSWERS_NOON_US + 5 * MINUTE_US};
	struct question question = {.report = report_find(report), .options = *options};
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT] = "";
	struct query *query = NULL;
	int rc = query_open_cluster(&where, NULL, &query, error, sizeof(error));

	faults_assert((rc < 0) == (error[0] != '\0'), "%s: %d after %s failed: %s", report, rc,
	    faults_last(), error);
	if (rc == 0) {
		rc = question_answer(&question, query, how.now_us, &result);
		faults_assert((rc < 0) == (query->error[0] != '\0'), "%s: %d after %s failed: %s",
		    report, rc, faults_last(), query->error);
	}
	if (rc == 0)
		rc = render(out, &result, &how);
	report_result_free(&result);
	query_close(query);
	return rc;
}

/* Which read all the tables there are; with --long all reports. */
static const char *const first_reports[] = {"talkers", "history", "load", "events", "loss"};
enum { FIRST_REPORTS = sizeof(first_reports) / sizeof(first_reports[0]) };

static int
ask_all(FILE *out)
{
	static render_fn *const renders[] = {render_text, render_json, render_csv};
	struct report_options options = report_default_options();
	size_t n = FIRST_REPORTS;
	int rc = 0;

	options.all = true;
	if (getenv("EASE_LONG"))
		for (n = 0; reports[n].name;)
			n++;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = ask(n > FIRST_REPORTS ? reports[i].name : first_reports[i], &options,
		    renders[i % 3], out);
	return rc;
}

struct asking {
	struct cluster_answers answers;
	char *right;
};

/* An answer is whole, or there is none. */
static int
ask_and_compare(void *arg)
{
	struct asking *asking = arg;
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int rc;

	faults_spare(true);
	model = cluster_model_start(0, spare_thread);
	cluster_model_answer(model, cluster_answers_give, &asking->answers);
	out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(out);
	faults_spare(false);
	rc = ask_all(out);
	faults_stop();
	fclose(out);
	cluster_model_stop(model);
	if (rc == 0 && asking->right)
		faults_expect_same(text, asking->right);
	if (asking->right)
		free(text);
	else
		asking->right = text;
	return rc;
}

static void
exhaust_reports(const char *name, bool many, unsigned most)
{
	struct asking asking = {.answers = {.many = many}};

	ck_assert_int_eq(ask_and_compare(&asking), 0);
	faults_exhaust(name, FAULT_ALL, most, ask_and_compare, &asking);
	free(asking.right);
}

START_TEST(reports_of_a_cluster_are_answered_or_not)
{
	exhaust_reports(_i ? "reports of a cluster that ranks" : "reports of a cluster", _i, RUNS);
}
END_TEST

/* SQLite's and Jansson's calls are so many that those of our own would hardly ever be drawn. */
START_TEST(and_so_where_our_own_calls_fail)
{
	exhaust_reports(_i ? "own calls, ranked" : "own calls", _i,
	    getenv("EASE_LONG") ? OWN_RUNS_LONG : OWN_RUNS);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults_ship");
	TCase *ship = tcase_create("ship"), *report = tcase_create("report"),
	      *own = tcase_create("own calls");

	tcase_set_timeout(ship, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(ship, set_up, tear_down);
	tcase_add_loop_test(ship, all_is_shipped_in_the_end, 0, KINDS);
	tcase_add_test(ship, a_store_that_cannot_be_read_is_shipped_later);
	suite_add_tcase(suite, ship);
	tcase_set_timeout(report, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(report, install, NULL);
	tcase_add_loop_test(report, reports_of_a_cluster_are_answered_or_not, 0, 2);
	suite_add_tcase(suite, report);
	tcase_set_timeout(own, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(own, install_few, NULL);
	tcase_add_loop_test(own, and_so_where_our_own_calls_fail, 0, 2);
	suite_add_tcase(suite, own);
	return suite_run(suite);
}
