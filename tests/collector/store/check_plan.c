/*
 * The plan of a network against a store that such a network has really filled: of the accounting, the writer and the
 * upkeep, on a stepped clock.
 */
#include "collector/store/plan_store.h"
#include "tests/bench/disk_network.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR_US 3600000000ull
#define FACTOR 1.5 /* between the plan and the file */

static struct plan_question
question_of(double samples_a_port, double hours)
{
	return (struct plan_question){.ports = DISK_PORTS, .samples_per_s = DISK_PORTS * samples_a_port, .hours = hours,
	    .keep = {.samples_us = HOUR_US, .level_us = {[LEVEL_1_MIN] = 48 * HOUR_US,
		[LEVEL_5_MIN] = 14 * 24 * HOUR_US, [LEVEL_1_H] = 92 * 24 * HOUR_US, [LEVEL_1_D] = 800 * 24 * HOUR_US},
		.most_octets = 16ull << 30}, .sample_rows = 20000};
}

static void
check_near(const char *what, double plan, double real)
{
	ck_assert_msg(plan < real * FACTOR && plan > real / FACTOR, "%s: %.0f planned, %.0f in the file", what, plan,
	    real);
}

/* Between the kinds that were measured. */
START_TEST(a_filled_store_is_as_planned)
{
	struct plan_question question = question_of(0.05, 1.5);
	char dir[] = "/tmp/check-plan.XXXXXX", path[64], command[64];
	struct plan_question asked = {0}, none = {0};
	struct disk_measured m;
	struct plan plan;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	disk_fill(dir, question.samples_per_s, question.hours, &question.keep, &m);
	snprintf(path, sizeof(path), "%s/disk.db", dir);
	ck_assert_int_eq(plan_read_store(path, &asked), 0);
	ck_assert_double_eq(asked.ports, DISK_PORTS);
	ck_assert_double_eq_tol(asked.samples_per_s, (double)m.samples / (question.hours * 3600), question.samples_per_s / 10);
	ck_assert_int_eq(plan_read_store(dir, &none), -EIO);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(plan_read_store(path, &none), -ENOENT);
	plan_reckon(&question, &plan);
	check_near("all", plan.all, m.file);
	check_near("samples", plan.samples, m.octets_samples);
	check_near("counters", plan.counters, m.octets_counters);
	check_near("sums of minutes", plan.sums[LEVEL_1_MIN], m.octets_sums[LEVEL_1_MIN]);
	check_near("sums of 5 minutes", plan.sums[LEVEL_5_MIN], m.octets_sums[LEVEL_5_MIN]);
}
END_TEST

/* What is too much goes in the order in which the store deletes it. */
START_TEST(what_does_not_fit_is_kept_shorter)
{
	struct plan_question question = question_of(0.1, INFINITY);
	struct plan all, less;

	plan_reckon(&question, &all);
	ck_assert(all.fits && all.samples_h == 1 && all.sums_h[LEVEL_1_MIN] == 48);
	question.keep.most_octets = (uint64_t)((all.all - all.samples / 2) * 8 / 7); /* an eighth is for other tables */
	plan_reckon(&question, &less);
	ck_assert(!less.fits);
	ck_assert_double_eq_tol(less.samples_h, 0.5, 1e-3);
	ck_assert_double_eq_tol(less.sums_h[LEVEL_1_MIN], 48, 1e-9);
	question.keep.most_octets = (uint64_t)((all.all - all.samples - all.sums[LEVEL_1_MIN] / 4) * 8 / 7);
	plan_reckon(&question, &less);
	ck_assert_double_eq_tol(less.samples_h, 0, 1e-9);
	ck_assert_double_eq_tol(less.sums_h[LEVEL_1_MIN], 36, 1e-3);
	ck_assert_double_eq_tol(less.sums_h[LEVEL_1_D], all.sums_h[LEVEL_1_D], 1e-9);
}
END_TEST

/* The options that the plan advises are those with which all fits, and hardly anything more would. */
START_TEST(what_is_advised_fits)
{
	struct plan_question question = question_of(0.1, INFINITY);
	char *text, *line;
	unsigned days, days_h, full;
	struct plan plan;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	question.ports = 480;
	question.samples_per_s = 100;
	plan_print(out, &question);
	fclose(out);
	line = strstr(text, "it is full after ");
	ck_assert_msg(line && sscanf(line, "it is full after %u days", &full) == 1, "%s", text);
	for (unsigned more = 0; more <= 2; more += 2) { /* whole days */
		question.hours = (full - 1 + more) * 24.0;
		plan_reckon(&question, &plan);
		ck_assert_msg(plan.fits == (more == 0), "after %u days: %.0f", full - 1 + more, plan.all);
	}
	question.hours = INFINITY;
	line = strstr(text, "All fits with");
	ck_assert_msg(line && sscanf(line, "All fits with keep = {\"1h %ud\", \"1d %ud\"}\n", &days_h, &days) == 2, "%s", text);
	ck_assert_uint_eq(days_h, days);
	for (unsigned more = 0; more <= 2; more += 2) {
		question.keep.level_us[LEVEL_1_H] = question.keep.level_us[LEVEL_1_D] = (days + more) * 24 * HOUR_US;
		plan_reckon(&question, &plan);
		ck_assert_msg(plan.fits == (more == 0), "%u days: %.0f", days + more, plan.all);
	}
	free(text);
}
END_TEST

START_TEST(more_takes_more)
{
	struct plan_question question = question_of(0.3, INFINITY);
	struct plan plan, more;

	plan_reckon(&question, &plan);
	question.samples_per_s *= 2;
	plan_reckon(&question, &more);
	ck_assert_double_gt(more.samples, plan.samples);
	ck_assert_double_gt(more.all, plan.all);
	question.ports *= 2; /* as busy as before */
	plan_reckon(&question, &more);
	ck_assert_double_eq_tol(more.all, 2 * plan.all, plan.all * 1e-9);
	question.sample_rows = 10;
	plan_reckon(&question, &more);
	ck_assert_double_eq_tol(more.samples, 10 * 3600 * plan.kind.sample_octets, 1);
}
END_TEST

START_TEST(a_network_is_told_by_its_numbers)
{
	static const char *const wrong[] = {"", "ports=1", "samples=1", "ports=1,samples=0", "ports=1,samples=-1",
	    "ports=x,samples=1", "ports=1,samples=1,hosts=3", "ports=1 samples=1", "ports=1,samples=nan", "ports,samples=1"};
	struct plan_question question = question_of(1, 1);
	char error[256];

	ck_assert_int_eq(plan_parse("ports=480,samples=12.5,days=3", &question, error, sizeof(error)), 0);
	ck_assert_double_eq(question.ports, 480);
	ck_assert_double_eq(question.samples_per_s, 12.5);
	ck_assert_uint_eq(question.keep.samples_us, 72 * HOUR_US);
	ck_assert_uint_eq(question.keep.level_us[LEVEL_1_MIN], 48 * HOUR_US);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		question = (struct plan_question){0};
		ck_assert_msg(plan_parse(wrong[i], &question, error, sizeof(error)) < 0, "%s", wrong[i]);
		ck_assert(strstr(error, "--plan"));
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tc = tcase_create("plan");

	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, a_filled_store_is_as_planned);
	tcase_add_test(tc, what_does_not_fit_is_kept_shorter);
	tcase_add_test(tc, what_is_advised_fits);
	tcase_add_test(tc, more_takes_more);
	tcase_add_test(tc, a_network_is_told_by_its_numbers);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
