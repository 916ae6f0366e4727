/*
 * Steppable time and RFC 3339: the examples of its section 5.8, its limits, and texts that are no
 * time.
 */
#include "common/clock.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

static const struct {
	const char *text;
	uint64_t us;
} times[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"1985-04-12T23:20:50.52Z", 482196050520000},
    {"1996-12-19T16:39:57-08:00", 851042397000000},
    {"1990-12-31T23:59:60Z", 662688000000000},
    {"1990-12-31T15:59:60-08:00", 662688000000000},
    {"1937-01-01T12:00:27.87+00:20", UINT64_MAX}, /* before 1970: refused */
    {"2000-02-29", 951782400000000},
    {"2026-11-21 14:05:00z", 1795269900000000},
    {"2026-11-21T14:05:00.1234567Z", 1795269900123456},
    {"9999-12-31T23:59:59.999999Z", 253402300799999999},
};

START_TEST(reads_times)
{
	uint64_t us;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int err = clock_parse_rfc3339(times[i].text, &us);

		if (times[i].us == UINT64_MAX) {
			ck_assert_int_eq(err, -EINVAL);
			continue;
		}
		ck_assert_msg(err == 0, "%s", times[i].text);
		ck_assert_msg(us == times[i].us, "%s: %llu", times[i].text, (unsigned long long)us);
	}
}
END_TEST

START_TEST(refuses_what_is_no_time)
{
	static const char *const wrong[] = {"", "now", "2026", "2026-11", "2026-13-01",
	    "2026-02-29", "2100-02-29", "2026-11-31", "2026-11-21T", "2026-11-21T14:05:00",
	    "2026-11-21T24:00:00Z", "2026-11-21T14:60:00Z", "2026-11-21T14:05:61Z",
	    "2026-11-21T14:05:00.Z", "2026-11-21T14:05:00Z ", "2026-11-21T14:05:00+1:00",
	    "2026-11-21T14:05:00+24:00", "1970-01-01T00:00:00+01:00", "+026-11-21"};
	uint64_t us = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(clock_parse_rfc3339(wrong[i], &us) == -EINVAL, "%s", wrong[i]);
	ck_assert_uint_eq(us, 7);
}
END_TEST

START_TEST(writes_times)
{
	char text[CLOCK_RFC3339_MAX], small[5];

	clock_format_rfc3339(482196050520000, text, sizeof(text));
	ck_assert_str_eq(text, "1985-04-12T23:20:50.52Z");
	clock_format_rfc3339(1795269900000000, text, sizeof(text));
	ck_assert_str_eq(text, "2026-11-21T14:05:00Z");
	clock_format_rfc3339(1795269900000001, text, sizeof(text));
	ck_assert_str_eq(text, "2026-11-21T14:05:00.000001Z");
	clock_format_rfc3339_us(1795269900310000, text, sizeof(text));
	ck_assert_str_eq(text, "2026-11-21T14:05:00.310000Z");
	clock_format_rfc3339_us(1795269900000000, text, sizeof(text));
	ck_assert_str_eq(text, "2026-11-21T14:05:00.000000Z");
	clock_format_rfc3339(1795269900000001, small, sizeof(small));
	ck_assert_str_eq(small, "2026");
	/* No time of 64 bits overruns or stops it. */
	clock_format_rfc3339(UINT64_MAX, text, sizeof(text));
}
END_TEST

START_TEST(reads_what_it_writes)
{
	char text[CLOCK_RFC3339_MAX];
	uint64_t us = 1, back;

	for (int i = 0; i < 10000; i++) {
		us = (us * 6364136223846793005u + 1442695040888963407u);
		uint64_t in_range = us % 253402300800000000u;

		clock_format_rfc3339(in_range, text, sizeof(text));
		ck_assert_int_eq(clock_parse_rfc3339(text, &back), 0);
		ck_assert_uint_eq(back, in_range);
	}
}
END_TEST

START_TEST(a_manual_clock_stands_until_stepped)
{
	struct clock c = {.manual = true, .manual_wall_us = 100, .manual_mono_us = 5};

	ck_assert_uint_eq(clock_wall_us(&c), 100);
	clock_step_us(&c, 20);
	ck_assert_uint_eq(clock_wall_us(&c), 120);
	ck_assert_uint_eq(clock_mono_us(&c), 25);
	ck_assert_uint_gt(clock_wall_us(&clock_system), 1600000000000000u);
	ck_assert_uint_le(clock_mono_us(&clock_system), clock_mono_us(&clock_system));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("clock");
	TCase *tc = tcase_create("clock");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, reads_times);
	tcase_add_test(tc, refuses_what_is_no_time);
	tcase_add_test(tc, writes_times);
	tcase_add_test(tc, reads_what_it_writes);
	tcase_add_test(tc, a_manual_clock_stands_until_stepped);
	return suite_run(suite);
}
