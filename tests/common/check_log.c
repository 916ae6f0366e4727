/*
 * Log lines and named counters as a user sees them on standard error: form, level, the limit of
 * repeated messages; a stranger's control characters are replaced, and errno is kept.
 */
#include "common/log.h"
#include "common/stat.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Standard error since capture_begin. */
static char seen[65536];
static int saved_stderr, capture_fd;

static void
capture_begin(void)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	capture_fd = fileno(file);
	saved_stderr = dup(STDERR_FILENO);
	dup2(capture_fd, STDERR_FILENO);
}

static void
capture_end(void)
{
	ssize_t n;

	dup2(saved_stderr, STDERR_FILENO);
	n = pread(capture_fd, seen, sizeof(seen) - 1, 0);
	ck_assert_int_ge(n, 0);
	seen[n] = '\0';
}

static unsigned
lines_seen(void)
{
	unsigned n = 0;

	for (const char *p = seen; *p; p++)
		n += *p == '\n';
	return n;
}

START_TEST(a_line_has_time_level_and_room)
{
	capture_begin();
	log_open("easetest", false, LOG_LEVEL_INFO);
	errno = ENOENT;
	log_warn("feed", "%s: link type %d", "x.pcap", 113);
	ck_assert_int_eq(errno, ENOENT);
	log_debug("feed", "not wanted");
	capture_end();
	ck_assert_ptr_nonnull(strstr(seen, "Z easetest warn feed: x.pcap: link type 113\n"));
	ck_assert_uint_eq(lines_seen(), 1);
}
END_TEST

/* As systemd says where standard error goes: the journal takes <4> off and has the line's priority. */
START_TEST(the_journal_has_priorities)
{
	char stream[64];
	struct stat st;

	capture_begin();
	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open("easetest", false, LOG_LEVEL_INFO);
	log_warn("feed", "to the journal");
	log_error("feed", "to the journal");
	setenv("JOURNAL_STREAM", "1:1", 1); /* inherited; standard error goes elsewhere */
	log_open("easetest", false, LOG_LEVEL_INFO);
	log_warn("feed", "elsewhere");
	capture_end();
	unsetenv("JOURNAL_STREAM");
	ck_assert_int_eq(strncmp(seen, "<4>2", 4), 0);
	ck_assert_ptr_nonnull(strstr(seen, "\n<3>2"));
	ck_assert_ptr_nonnull(strstr(seen, "\n2"));
	ck_assert_ptr_nonnull(strstr(seen, "Z easetest warn feed: elsewhere\n"));
}
END_TEST

START_TEST(a_stranger_writes_no_line_of_his_own)
{
	char big[4000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	capture_begin();
	log_info("input", "from %s", "a\nerror input: forged\033[2J");
	log_info("input", "%s", big);
	log_info("input", "%s", "\xc2\x9b" "2J\xe2\x80\xae");
	capture_end();
	ck_assert_uint_eq(lines_seen(), 3);
	ck_assert_ptr_nonnull(strstr(seen, "input: ?2J?\n"));
	ck_assert_ptr_nonnull(strstr(seen, "a?error input: forged?[2J"));
	ck_assert_ptr_nonnull(strstr(seen, "xx...\n"));
}
END_TEST

START_TEST(repeats_are_limited_and_counted)
{
	struct log_limit limit = {0};
	uint32_t suppressed = 99;
	uint64_t start = 3 * LOG_LIMIT_PERIOD_US;

	for (int i = 0; i < LOG_LIMIT_BURST; i++) {
		ck_assert(log_limit_pass(&limit, start + (uint64_t)i, &suppressed));
		ck_assert_uint_eq(suppressed, 0);
	}
	for (int i = 0; i < 120; i++)
		ck_assert(!log_limit_pass(&limit, start + LOG_LIMIT_PERIOD_US - 1, &suppressed));
	ck_assert(log_limit_pass(&limit, start + LOG_LIMIT_PERIOD_US, &suppressed));
	ck_assert_uint_eq(suppressed, 120);
	ck_assert(log_limit_pass(&limit, start + LOG_LIMIT_PERIOD_US, &suppressed));
	ck_assert_uint_eq(suppressed, 0);
}
END_TEST

START_TEST(a_flood_leaves_few_lines)
{
	capture_begin();
	for (int i = 0; i < 1000; i++)
		log_warn_limited("input", "wrong community from %d", i);
	capture_end();
	ck_assert_uint_eq(lines_seen(), LOG_LIMIT_BURST);
}
END_TEST

static struct log_limit shared;
static _Atomic uint32_t passed;

static void *
hammer(void *unused)
{
	uint32_t suppressed;

	(void)unused;
	for (int i = 0; i < 20000; i++)
		passed += log_limit_pass(&shared, LOG_LIMIT_PERIOD_US, &suppressed);
	return NULL;
}

START_TEST(threads_share_one_limit)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(passed, LOG_LIMIT_BURST);
	ck_assert_uint_eq(shared.suppressed, 80000 - LOG_LIMIT_BURST);
}
END_TEST

START_TEST(counters_that_are_not_zero_are_logged)
{
	static const struct stat_name names[] = {
	    {"input.bad_ber", "messages that were no SNMP"},
	    {"input.wrong_community", "messages with another community"},
	};
	_Atomic uint64_t values[2] = {0};
	struct stat_set set = {names, 2, values};

	stat_add(&set, 1, 40);
	stat_add(&set, 1, 2);
	ck_assert_uint_eq(stat_get(&set, 1), 42);
	capture_begin();
	stat_log(&set);
	capture_end();
	ck_assert_ptr_nonnull(strstr(seen, "input.wrong_community 42 (messages with another"));
	ck_assert_ptr_null(strstr(seen, "bad_ber"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("log");
	TCase *tc = tcase_create("log");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, a_line_has_time_level_and_room);
	tcase_add_test(tc, the_journal_has_priorities);
	tcase_add_test(tc, a_stranger_writes_no_line_of_his_own);
	tcase_add_test(tc, repeats_are_limited_and_counted);
	tcase_add_test(tc, a_flood_leaves_few_lines);
	tcase_add_test(tc, threads_share_one_limit);
	tcase_add_test(tc, counters_that_are_not_zero_are_logged);
	return suite_run(suite);
}
