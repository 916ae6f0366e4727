/*
 * Stores of every older version, filled with the same rows, must give the same reports after they
 * were brought up to date: in one go, stopped at every place where that may be stopped, and killed
 * at random moments. A version that is added joins by itself: what a store of it holds is what the
 * newest version filled here becomes when it is raised that far.
 */
#include "collector/report/reports.h"
#include "collector/store/store.h"
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LEFT_FOR_OTHERS = 5,
	FILLED_UP_TO = 8, /* versions whose tables take the rows below */
	MINUTES = 130,	  /* more than two hours */
	KEYS = 12,
	STOPS = 60,
	KILLS = 12,
	ERROR_TEXT = 256,
};

/* Rows of version 1. The window of minute m, port p, direction d has KEYS keys; the k-th has
 * k + m % 7 + 1 samples of weight 10 and length 100 + 50 k. */
static const char *const rows =
    "WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 2)"
    " INSERT INTO agent(id, agent_id, boot, address, first_us, last_us, last_received_us)"
    " SELECT i, x'0102030405060700' || char(i), 1, '192.0.2.' || i, :t0, :t1, :t1 FROM i;"
    "INSERT INTO port(agent, if_index, since_us, boot, name, alias, speed_bps, duplex, admin_status,"
    " oper_status, lag_parent, edge) SELECT id, 1, :t0, 1, 'ge-1', 'up', 1000000000, 3, 1, 1, 0, 1"
    " FROM agent UNION ALL SELECT id, 2, :t0, 1, 'ge-2', '', 100000000, 3, 1, 1, 0, 0 FROM agent;"
    "CREATE TEMP TABLE m AS WITH RECURSIVE m(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM m"
    " WHERE m + 1 < :minutes) SELECT m FROM m;"
    "CREATE TEMP TABLE k AS WITH RECURSIVE k(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k"
    " WHERE k + 1 < :keys) SELECT k FROM k;"
    "CREATE TEMP TABLE d AS SELECT 1 AS d UNION SELECT 2;"
    "CREATE TEMP TABLE key AS SELECT :t0 + m * 60000000 AS start_us, agent, if_index, d,"
    " k, k + m % 7 + 1 AS n, 100 + 50 * k AS b FROM m, k, d, port;"
    "INSERT INTO window_key(kind, start_us, agent, if_index, direction, key1, key2, n, w, w2, wb,"
    " wb2, w2b2) SELECT 1, start_us, agent, if_index, d, x'0200000000' || char(65 + k),"
    " x'0200000001' || char(65 + k % 3), n, 10*n, 100*n, 10*n*b, 10*n*b*b, 100*n*b*b FROM key"
    " UNION ALL SELECT 2, start_us, agent, if_index, d, x'0a0000' || char(65 + k),"
    " x'0a0001' || char(65 + k % 3), n, 10*n, 100*n, 10*n*b, 10*n*b*b, 100*n*b*b FROM key;"
    "INSERT INTO window(start_us, agent, if_index, direction, pool_pkts, pool_octets, n, w, w2, wb,"
    " wb2, w2b2) SELECT start_us, agent, if_index, d, 11 * sum(n), 11 * sum(n * b), sum(n),"
    " 10 * sum(n), 100 * sum(n), 10 * sum(n*b), 10 * sum(n*b*b), 100 * sum(n*b*b) FROM key"
    " GROUP BY 1, 2, 3, 4;"
    "INSERT INTO window_port(start_us, agent, if_index, expected, received) SELECT start_us, agent,"
    " if_index, sum(n) + 2, sum(n) FROM window GROUP BY 1, 2, 3;"
    "INSERT INTO counter SELECT agent, if_index, :t0 + m * 60000000, 1, :t0, 1000*m, 9*m, m, m/2, 0,"
    " m/3, 500*m, 5*m, m, m/2, 0, 0, 5, 10*m, 10*m, 10*m, 6*m, 0, 0, 0 FROM m, port;"
    "INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction, input_if, output_if,"
    " skip, mean_skip, pool_pkts, frame_octets, src_mac, dst_mac, vlan, ethertype, src_ip, dst_ip,"
    " ip_proto, src_port, dst_port) SELECT agent, 1, if_index, 1 + m * 10 + k, :t0 + m * 60000000 +"
    " k, 1, 1, 2, 9, 10, 1, 100, x'020000000041', x'020000000141', 7, 2048, x'0a000041',"
    " x'0a000141', 6, 40000, 443 FROM m, k, port WHERE k < 10;"
    "INSERT INTO account(agent, boot, if_index, expected, received, duplicates, reordered, late,"
    " agent_drops, stalls, stalled_pkts, first_us, last_us, tracker) SELECT agent, 1, if_index,"
    " sum(expected), sum(received), 1, 2, 3, 4, 5, 6, :t0, :t1, NULL FROM window_port"
    " GROUP BY agent, if_index;"
    "INSERT INTO event(time_us, agent, boot, kind, if_index, mac, vlan) SELECT :t0 + m, 1, 1, 4, 1,"
    " x'0200000000' || char(m), 1 FROM m;"
    "INSERT INTO stat VALUES('input.refused_sender', 3)";

static void
run_rows(sqlite3 *db)
{
	const char *sql = rows;

	while (*sql) {
		sqlite3_stmt *s;
		int code = sqlite3_prepare_v2(db, sql, -1, &s, &sql);

		ck_assert_msg(code == SQLITE_OK, "%s", sqlite3_errmsg(db));
		sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, ":t0"), REPORT_STORE_T0);
		sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, ":t1"),
		    (sqlite3_int64)(REPORT_STORE_T0 + MINUTES * MINUTE));
		sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, ":minutes"), MINUTES);
		sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, ":keys"), KEYS);
		ck_assert_msg(sqlite3_step(s) == SQLITE_DONE, "%s", sqlite3_errmsg(db));
		sqlite3_finalize(s);
	}
}

static void
raise_to(struct report_store *store, int from, int to)
{
	for (int v = from; v < to; v++)
		report_store_sql_text(store, store_schema[v]);
	report_store_sql(store, "PRAGMA user_version = %d", to);
}

/* A store as that version left it. */
static void
make_version(struct report_store *store, int version)
{
	int filled = version < FILLED_UP_TO ? version : FILLED_UP_TO;

	report_store_open_empty(store);
	raise_to(store, 0, filled);
	report_store_sql(store, "BEGIN");
	run_rows(store->db);
	report_store_sql(store, "COMMIT");
	raise_to(store, filled, version);
	sqlite3_close(store->db);
	store->db = NULL;
}

static void
remove_store(struct report_store *store)
{
	static const char *const suffixes[] = {"-wal", "-shm", ".lock"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char path[96];

		snprintf(path, sizeof(path), "%s%s", store->path, suffixes[i]);
		unlink(path);
	}
	report_store_remove(store);
}

static int
bring_up_to_date(const struct report_store *store, const struct progress *progress)
{
	char error[ERROR_TEXT] = "";
	struct store *s = NULL;
	int r = store_open(&s, store->path, progress, error, sizeof(error));

	if (r < 0 && r != -ECANCELED)
		ck_abort_msg("%s", error);
	if (r == 0)
		ck_assert_int_eq(store_close(s), 0);
	return r;
}

/* All reports as one text. */
static char *
all_reports(struct report_store *store)
{
	static const struct {
		const char *name;
		enum report_layer layer;
	} runs[] = {{"talkers", REPORT_LAYER_ETH}, {"talkers", REPORT_LAYER_IP},
	    {"matrix", REPORT_LAYER_ETH}, {"load", REPORT_LAYER_ETH}, {"errors", REPORT_LAYER_ETH},
	    {"agents", REPORT_LAYER_ETH}, {"loss", REPORT_LAYER_ETH},
	    {"addresses", REPORT_LAYER_ETH}};
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct report_options options = report_store_options();
		char *text;

		options.layer = runs[i].layer;
		options.top = 2 * KEYS;
		text = report_store_render(store, runs[i].name, &options, render_json,
		    MINUTES * 60);
		fprintf(out, "%s\n", text);
		free(text);
	}
	fclose(out);
	return all;
}

/* The rows say what the reports must: plain sums of what run_rows wrote. */
static void
check_sums(struct report_store *store)
{
	struct report_options options = report_store_options();
	double samples = 0, received = 0;
	json_t *talkers;

	for (int m = 0; m < MINUTES; m++)
		for (int k = 0; k < KEYS; k++)
			samples += k + m % 7 + 1;
	options.top = 2 * KEYS;
	talkers = report_store_json(store, "talkers", &options);
	/* of two agents' two ports one each is an edge, and what is received counts */
	for (size_t i = 0; i < json_array_size(report_json_at(talkers, "rows")); i++)
		received += report_json_number(
		    json_array_get(report_json_at(talkers, "rows"), i), "samples");
	ck_assert_double_eq(received, 2 * samples);
	ck_assert_double_eq(report_json_number(talkers, "expected") -
		report_json_number(talkers, "samples"), 2. * MINUTES * 2);
	json_decref(talkers);
}

static char *expected; /* of a store of version 1 */

static void
expect_same_reports(struct report_store *store)
{
	char *is = all_reports(store);
	size_t same = 0;

	while (is[same] && is[same] == expected[same])
		same++;
	ck_assert_msg(strcmp(is, expected) == 0, "differs at %zu: \"%.60s\" instead of \"%.60s\"",
	    same, is + same, expected + same);
	free(is);
}

static void
make_expected(void)
{
	struct report_store store;

	make_version(&store, 1);
	ck_assert_int_eq(bring_up_to_date(&store, NULL), 0);
	check_sums(&store);
	expected = all_reports(&store);
	remove_store(&store);
}

START_TEST(every_version_gives_the_same_reports)
{
	struct report_store store;

	make_expected();
	make_version(&store, _i);
	ck_assert_int_eq(bring_up_to_date(&store, NULL), 0);
	expect_same_reports(&store);
	ck_assert_int_eq(bring_up_to_date(&store, NULL), 0); /* once is enough */
	expect_same_reports(&store);
	remove_store(&store);
	free(expected);
}
END_TEST

/* Says no at the call when left is 0. */
static bool
stop_later(void *arg, const char *what, double done)
{
	int *left = arg;

	ck_assert_ptr_nonnull(what);
	ck_assert_double_ge(done, 0);
	ck_assert_double_le(done, 1);
	return (*left)-- > 0;
}

START_TEST(stopped_anywhere_it_goes_on)
{
	struct report_store store;
	int stops = 0, calls = 0, r;

	make_expected();
	make_version(&store, 1);
	do { /* each start comes a little further than the one before, or ends */
		int left = calls++ % 5 + 1;
		struct progress progress = {stop_later, &left};

		r = bring_up_to_date(&store, &progress);
		stops += r < 0;
	} while (r < 0 && calls < STOPS);
	if (r < 0)
		ck_assert_int_eq(bring_up_to_date(&store, NULL), 0);
	ck_assert_int_gt(stops, 0);
	expect_same_reports(&store);
	remove_store(&store);
	free(expected);
}
END_TEST

START_TEST(killed_anywhere_it_goes_on)
{
	unsigned seed = (unsigned)time(NULL);
	struct report_store store;

	printf("versions: seed %u\n", seed);
	fflush(stdout);
	srand(seed);
	make_expected();
	for (int version = 1; version < STORE_VERSION; version += 3) {
		make_version(&store, version);
		for (int i = 0; i < (suite_is_slow() ? 2 : KILLS); i++) {
			pid_t child = fork();

			if (child == 0) {
				bring_up_to_date(&store, NULL);
				_exit(0);
			}
			usleep((useconds_t)(rand() % 30000));
			kill(child, SIGKILL);
			waitpid(child, NULL, 0);
		}
		ck_assert_int_eq(bring_up_to_date(&store, NULL), 0);
		expect_same_reports(&store);
		remove_store(&store);
	}
	free(expected);
}
END_TEST

/* And the file stays as it is. */
START_TEST(a_newer_version_is_refused)
{
	char error[ERROR_TEXT] = "", number[16];
	struct report_store store;
	struct store *s = NULL;

	make_version(&store, STORE_VERSION);
	ck_assert_int_eq(sqlite3_open(store.path, &store.db), SQLITE_OK);
	report_store_sql(&store, "PRAGMA user_version = %d", STORE_VERSION + 1);
	ck_assert_int_eq(store_open(&s, store.path, NULL, error, sizeof(error)), -EPROTONOSUPPORT);
	snprintf(number, sizeof(number), "%d", STORE_VERSION + 1);
	ck_assert_msg(strstr(error, store.path) && strstr(error, number), "%s", error);
	remove_store(&store);
}
END_TEST

/* For check_package.sh, which brings it up to date by an upgrade. */
START_TEST(one_is_left_for_others)
{
	const char *to = getenv("EASE_OLD_STORE");
	struct report_store store;
	char command[2 * ERROR_TEXT];

	if (!to)
		return;
	make_version(&store, LEFT_FOR_OTHERS);
	snprintf(command, sizeof(command), "cp '%s' '%s'", store.path, to);
	ck_assert_int_eq(system(command), 0);
	remove_store(&store);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("versions");
	TCase *tc = tcase_create("versions"), *others = tcase_create("others");

	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, others);
	tcase_add_test(others, one_is_left_for_others);
	tcase_set_timeout(tc, 280);
	tcase_add_loop_test(tc, every_version_gives_the_same_reports, 1, STORE_VERSION + 1);
	tcase_add_test(tc, stopped_anywhere_it_goes_on);
	tcase_add_test(tc, killed_anywhere_it_goes_on);
	tcase_add_test(tc, a_newer_version_is_refused);
	return suite_run(suite);
}
