/* Who is refused is told by address, and who sends under many addresses crowds out itself alone. */
#include "collector/input/refused_senders.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define SECOND_US 1000000ull
#define NOON_US	  (1700000000ull * SECOND_US)

static struct refused_senders *refused;

static void
begin(void)
{
	ck_assert_int_eq(refused_senders_new(&refused, 7), 0);
}

static void
end(void)
{
	refused_senders_free(refused);
}

START_TEST(each_is_told_once_with_its_newest_reason)
{
	struct refused_sender told;

	refused_senders_note(refused, "10.0.0.1", "no community", NOON_US);
	refused_senders_note(refused, "10.0.0.1", "not SNMP", NOON_US + 5);
	ck_assert(refused_senders_take(refused, &told));
	ck_assert_str_eq(told.address, "10.0.0.1");
	ck_assert_str_eq(told.reason, "not SNMP");
	ck_assert_uint_eq(told.datagrams, 2);
	ck_assert_uint_eq(told.first_us, NOON_US);
	ck_assert_uint_eq(told.last_us, NOON_US + 5);
	ck_assert(!refused_senders_take(refused, &told));
	refused_senders_note(refused, "10.0.0.1", "not SNMP", NOON_US + 9);
	ck_assert(refused_senders_take(refused, &told));
	ck_assert_uint_eq(told.datagrams, 1);
	ck_assert_uint_eq(told.first_us, NOON_US + 9);
}
END_TEST

START_TEST(a_reason_adds_no_line_and_fits)
{
	struct refused_sender told;
	char reason[512];

	memset(reason, 'x', sizeof(reason));
	reason[3] = '\n';
	reason[sizeof(reason) - 1] = '\0';
	refused_senders_note(refused, "10.0.0.1", reason, NOON_US);
	ck_assert(refused_senders_take(refused, &told));
	ck_assert_int_eq(strncmp(told.reason, "xxx?xx", 6), 0);
	ck_assert_uint_lt(strlen(told.reason), REFUSED_REASON_TEXT);
}
END_TEST

/* A switch with a wrong passphrase, once a second, beside 100,000 forged addresses a second: it keeps its place, each
 * datagram is told or counted as untold. */
START_TEST(who_sends_under_many_addresses_crowds_out_itself)
{
	struct refused_sender told;
	uint64_t ours = 0, others = 0;
	uint32_t n = 0;

	for (int second = 0; second < 10; second++) {
		refused_senders_note(refused, "10.0.0.1", "wrong digest", NOON_US + (uint64_t)second * SECOND_US);
		for (int i = 0; i < 100000; i++) {
			char address[32];

			snprintf(address, sizeof(address), "10.%u.%u.%u", 66 + (n >> 16), n >> 8 & 255, n & 255);
			refused_senders_note(refused, address, "no community", NOON_US + (uint64_t)second * SECOND_US);
			n++;
			if (i == 10)
				refused_senders_note(refused, "10.0.0.1", "wrong digest", NOON_US);
		}
		while (refused_senders_take(refused, &told))
			*(strcmp(told.address, "10.0.0.1") == 0 ? &ours : &others) += told.datagrams;
	}
	ck_assert_uint_ge(ours, 18); /* at the start it is as new as the others */
	ck_assert_uint_eq(ours + others + refused_senders_crowded_out(refused), 20 + n);
}
END_TEST

START_TEST(who_was_refused_long_ago_makes_room)
{
	struct refused_sender told;
	uint64_t later_us = NOON_US + 2 * REFUSED_SENDERS_AGE_US;
	unsigned found = 0;

	for (int i = 0; i < 100000; i++) {
		char address[32];

		snprintf(address, sizeof(address), "10.66.%d.%d", i % 4096 / 256, i % 256);
		refused_senders_note(refused, address, "no community", NOON_US);
	}
	while (refused_senders_take(refused, &told))
		;
	for (int i = 0; i < 100; i++) {
		char address[32];

		snprintf(address, sizeof(address), "10.0.0.%d", i);
		refused_senders_note(refused, address, "not SNMP", later_us);
	}
	while (refused_senders_take(refused, &told))
		found++;
	ck_assert_uint_ge(found, 90); /* of 100 in 64 sets of 4 places a few collide */
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("refused_senders");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, begin, end);
	tcase_add_test(all, each_is_told_once_with_its_newest_reason);
	tcase_add_test(all, a_reason_adds_no_line_and_fits);
	tcase_add_test(all, who_sends_under_many_addresses_crowds_out_itself);
	tcase_add_test(all, who_was_refused_long_ago_makes_room);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
