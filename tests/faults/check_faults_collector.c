/*
 * The collector with each thing that it asks of the system failing once, and from there on: memory
 * (SQLite's, too), descriptors, disk, sockets, threads (faults.h). It must refuse cleanly or go on;
 * what it says is stored must be; nothing is left behind, and all is well when the fault is over.
 */
#include "collector/collector.h"
#include "collector/collector_private.h"
#include "collector/query/query.h"
#include "collector/render/render.h"
#include "collector/report/question.h"
#include "common/log.h"
#include "tests/collector/port_life.h"
#include "tests/faults/faults.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	RUNS = 30, /* faults of one kind in what takes long */
	ERROR_TEXT = 512,
	MESSAGES = 12,
};

static char dir[64], conf[96], db[96];
static struct clock noon = {.manual = true, .manual_wall_us = PORT_LIFE_US, .manual_mono_us = 1000000};

static void
set_up(void)
{
	log_set_most(LOG_LEVEL_ERROR);
	strcpy(dir, "/tmp/ease-faults-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(conf, sizeof(conf), "%s/conf", dir);
	snprintf(db, sizeof(db), "%s/state/ease.db", dir);
}

static void
empty(const char *path)
{
	DIR *state = opendir(path);
	struct dirent *entry;

	while (state && (entry = readdir(state)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(state), entry->d_name, 0);
	if (state)
		closedir(state);
}

static void
tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void
write_config(unsigned threads)
{
	char command[128];
	FILE *file = fopen(conf, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "listen = {\"127.0.0.1:0\"}\nsflow_listen = {\"127.0.0.1:0\"}\n"
		      "communities = {\"public\"}\nsenders = {\"127.0.0.1\"}\nhttp_listen = \"\"\n"
		      "receive_buffer = 100000\nmemory = 136\nstore = \"%s\"\nthreads = %u\n"
		      "user \"me\" { auth_passphrase = \"12345678\" priv_passphrase = \"12345678\" }\n",
	    db, threads);
	ck_assert_int_eq(fclose(file), 0);
	snprintf(command, sizeof(command), "mkdir -p %s/state", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- what comes ---- */

static void
send_all(const struct receiver *to)
{
	uint8_t octets[PORT_LIFE_OCTETS];
	struct sockaddr_storage at;
	socklen_t size = sizeof(at);
	int fd = receiver_fd(to, 0);

	faults_spare(true);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	for (unsigned i = 0; i < MESSAGES; i++) {
		size_t n = port_life_message(i, octets);

		ck_assert_int_eq(sendto(fd, octets, n, 0, (struct sockaddr *)&at, size), n);
	}
	faults_spare(false);
}

/* ---- from the socket into the store ---- */

static void
expect_all_stored(void)
{
	double stored = sql_number(db, "SELECT ifnull(sum(received), 0) FROM account");

	ck_assert_msg(stored == (MESSAGES - 2) * PORT_LIFE_SAMPLES, "%s failed: %g of %d samples are stored",
	    faults_last(), stored, (MESSAGES - 2) * PORT_LIFE_SAMPLES);
}

static int
collect(void *arg)
{
	const struct collector_arguments options = {0};
	struct collector_config config = {0};
	char error[ERROR_TEXT] = "", path[96];
	struct collector *c = NULL;
	uint64_t read_errors;
	int rc;

	(void)arg;
	snprintf(path, sizeof(path), "%s/state", dir);
	empty(path);
	rc = collector_config_load(conf, &config, error, sizeof(error));
	if (rc == 0)
		rc = collector_open(&c, &config, &options, &noon, error, sizeof(error));
	faults_assert((rc < 0) == (error[0] != '\0'), "%d after %s failed: %s", rc, faults_last(),
	    error);
	if (rc == 0) {
		send_all(input_receiver(c->input));
		kill(getpid(), SIGTERM);
		rc = collector_run(c);
	}
	read_errors = rc == 0 ? collector_stat(c, "input.read_errors") : 0;
	collector_close(c);
	collector_config_free(&config);
	faults_spare(true);
	/* What cannot be read for good is not there; but it is said. */
	if (rc == 0 && read_errors < 2)
		expect_all_stored();
	return rc;
}

static const struct {
	const char *name;
	unsigned classes, most;
} kinds[] = {
    {"collector, memory", FAULT_BIT(FAULT_MEMORY), RUNS},
    {"collector, descriptors and threads", FAULT_BIT(FAULT_OPENING) | FAULT_BIT(FAULT_THREAD), RUNS},
    {"collector, disk", FAULT_BIT(FAULT_DISK), RUNS},
    {"collector, sockets", FAULT_BIT(FAULT_SOCKET), RUNS},
    {"collector, reading", FAULT_BIT(FAULT_READING) | FAULTS_ONCE, RUNS},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

START_TEST(a_collector_collects_or_not)
{
	faults_install();
	write_config(1 + (unsigned)_i % 2);
	faults_exhaust(kinds[_i].name, kinds[_i].classes, kinds[_i].most, collect, NULL);
}
END_TEST

/* ---- and out again ---- */

static int
ask(const char *report, render_fn *render, const struct report_options *options, FILE *out)
{
	const struct render_options how = {.utc = true, .now_us = PORT_LIFE_US + 60000000};
	struct question question = {.report = report_find(report), .options = *options};
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT] = "";
	struct query *query = NULL;
	int rc = query_open(db, &query, error, sizeof(error));

	faults_assert((rc < 0) == (error[0] != '\0'), "%d after %s failed: %s", rc, faults_last(),
	    error);
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

static int
ask_all(FILE *out)
{
	static render_fn *const renders[] = {render_text, render_json, render_csv};
	struct report_options options = report_default_options();
	int rc = 0;

	options.all = true;
	for (const struct report *report = reports; rc == 0 && report->name; report++)
		for (size_t i = 0; rc == 0 && i < sizeof(renders) / sizeof(renders[0]); i++)
			rc = ask(report->name, renders[i], &options, out);
	return rc;
}

/* An answer is whole, or there is none. */
static int
ask_and_compare(void *right)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int rc;

	faults_spare(true);
	out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(out);
	faults_spare(false);
	rc = ask_all(out);
	faults_spare(true);
	fclose(out);
	if (rc == 0 && *(char **)right)
		faults_expect_same(text, *(char **)right);
	if (*(char **)right)
		free(text);
	else
		*(char **)right = text;
	return rc;
}

START_TEST(reports_are_answered_or_not)
{
	char *right = NULL;

	faults_install();
	write_config(1);
	ck_assert_int_eq(collect(NULL), 0);
	faults_spare(false);
	ck_assert_int_eq(ask_and_compare(&right), 0);
	faults_exhaust("reports", FAULT_BIT(FAULT_MEMORY) | FAULT_BIT(FAULT_OPENING),
	    (getenv("EASE_LONG") ? 2 : 1) * RUNS, ask_and_compare, &right);
	free(right);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults_collector");
	TCase *all = tcase_create("all");

	suite_keep_memory();
	tcase_set_timeout(all, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, a_collector_collects_or_not, 0, KINDS);
	tcase_add_test(all, reports_are_answered_or_not);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
