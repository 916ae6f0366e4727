/*
 * What receivers of alarms are told: once raised and once over, in this order, whatever fails, comes back or is too much.
 * The receivers here take, refuse and hang as a seed says, and what they believe in the end is held against what is.
 */
#include "collector/alarm/alarm_outbox.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

#define S 1000000ull
enum { HOLD_S = 300, REPORTS = 0, ACTS = 1, N_RECEIVERS = 2 };

static struct {
	struct outbox *outbox;
	uint64_t mono_us;
} rig;

static void
setup(void)
{
	const bool acts[N_RECEIVERS] = {false, true};

	rig.mono_us = 1000 * S;
	ck_assert_int_eq(outbox_new(&rig.outbox, N_RECEIVERS, acts, HOLD_S * S), 0);
}

static void
teardown(void)
{
	outbox_free(rig.outbox);
}

static void
note(uint64_t id, int64_t agent, bool is_over)
{
	struct alarm_fact fact = {.id = id, .agent_number = agent, .is_over = is_over, .raised_us = 7, .over_us = is_over ? 9 : 0};

	outbox_note(rig.outbox, &fact, rig.mono_us);
}

static void
pass(uint64_t seconds)
{
	rig.mono_us += seconds * S;
	outbox_tick(rig.outbox, rig.mono_us);
}

/* What the receiver is told now, and takes: "+1" raised, "-1" over, "" nothing. */
static const char *
told(size_t receiver, bool takes)
{
	static char text[32];
	const struct alarm_fact *fact = outbox_next(rig.outbox, receiver, rig.mono_us);

	*text = '\0';
	if (!fact)
		return text;
	snprintf(text, sizeof(text), "%c%llu", fact->is_over ? '-' : '+', (unsigned long long)fact->id);
	ck_assert_ptr_null(outbox_next(rig.outbox, receiver, rig.mono_us)); /* it is at work */
	outbox_answered(rig.outbox, receiver, takes, rig.mono_us);
	return text;
}

static uint64_t
counted(enum outbox_stat_id which)
{
	return stat_get(outbox_stats(rig.outbox), which);
}

START_TEST(each_is_told_once_raised_and_once_over)
{
	note(1, 1, false);
	for (size_t i = 0; i < N_RECEIVERS; i++) {
		ck_assert_str_eq(told(i, true), "+1");
		ck_assert_str_eq(told(i, true), "");
	}
	pass(60);
	note(1, 1, true);
	note(1, 1, true); /* once more: nothing */
	for (size_t i = 0; i < N_RECEIVERS; i++) {
		ck_assert_str_eq(told(i, true), "");
		pass(HOLD_S - 1);
		ck_assert_str_eq(told(i, true), "");
		pass(1);
		ck_assert_str_eq(told(i, true), "-1");
		ck_assert_str_eq(told(i, true), "");
		rig.mono_us -= HOLD_S * S;
	}
	ck_assert_uint_eq(outbox_alarms(rig.outbox), 1); /* it is known for a while that it was there */
	pass(2 * HOLD_S);
	ck_assert_uint_eq(outbox_alarms(rig.outbox), 0);
	ck_assert_uint_eq(counted(OUTBOX_STAT_RAISED), 2);
	ck_assert_uint_eq(counted(OUTBOX_STAT_OVER), 2);
	ck_assert_uint_eq(counted(OUTBOX_STAT_NOT_TOLD), 0);
}
END_TEST

/* An alarm that comes and goes each two minutes for a day: the route is set once and taken away once. */
START_TEST(a_rule_that_flaps_flaps_no_route)
{
	unsigned raised = 0, over = 0;
	const char *text;

	for (int i = 0; i < 720; i++) {
		note(1, 1, i % 2 == 1);
		pass(120);
		text = told(ACTS, true);
		raised += *text == '+';
		over += *text == '-';
	}
	ck_assert_uint_eq(raised, 1);
	ck_assert_uint_eq(over, 0);
	for (int s = 0; s < OUTBOX_HOLD_MOST * HOLD_S + 10; s += 10) {
		pass(10);
		over += *told(ACTS, true) == '-';
	}
	ck_assert_uint_eq(over, 1);
	ck_assert_uint_gt(counted(OUTBOX_STAT_HELD), 300);
}
END_TEST

/* Each time a little longer than the hold: the holds grow, so that a day of it sets a handful of routes. */
START_TEST(holds_grow)
{
	unsigned changes = 0;

	for (int s = 0; s < 86400; s += 10) {
		if (s % (HOLD_S + 60) == 0)
			note(1, 1, false);
		if (s % (HOLD_S + 60) == 10)
			note(1, 1, true);
		pass(10);
		changes += *told(ACTS, true) != '\0';
	}
	ck_assert_uint_ge(changes, 3);
	ck_assert_uint_le(changes, 6);
}
END_TEST

START_TEST(what_is_not_taken_is_told_again_later)
{
	static const struct {
		int after_s;
		const char *told;
	} looks[] = {{0, "+1"}, {9, ""}, {1, "+1"}, {59, ""}, {1, "+1"}, {299, ""}, {1, "+1"}, {299, ""}, {1, "+1"}};

	note(1, 1, false);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		pass((uint64_t)looks[i].after_s);
		ck_assert_str_eq(told(REPORTS, i + 1 == sizeof(looks) / sizeof(looks[0])), looks[i].told);
	}
	ck_assert_uint_eq(counted(OUTBOX_STAT_FAILED), 4);
	pass(3600);
	ck_assert_str_eq(told(REPORTS, true), "");
}
END_TEST

/* It was away while the alarm came and went: what reports tells it, what acts does not. */
START_TEST(nobody_acts_on_what_is_over)
{
	note(1, 1, false);
	ck_assert_str_eq(told(REPORTS, false), "+1");
	ck_assert_str_eq(told(ACTS, false), "+1");
	note(1, 1, true);
	pass(HOLD_S);
	ck_assert_str_eq(told(ACTS, true), "");
	ck_assert_str_eq(told(REPORTS, true), "+1");
	ck_assert_str_eq(told(REPORTS, true), "-1");
	pass(HOLD_S);
	ck_assert_uint_eq(outbox_alarms(rig.outbox), 0);
	ck_assert_uint_eq(counted(OUTBOX_STAT_NOT_TOLD), 1);
}
END_TEST

/* It goes while the receiver is at work on it. */
START_TEST(what_changes_meanwhile_is_told_too)
{
	note(1, 1, false);
	ck_assert_ptr_nonnull(outbox_next(rig.outbox, ACTS, rig.mono_us));
	note(1, 1, true);
	pass(3 * HOLD_S); /* a receiver never takes so long; nothing is forgotten even so */
	outbox_answered(rig.outbox, ACTS, true, rig.mono_us);
	ck_assert_str_eq(told(ACTS, true), "-1");
	note(1, 1, false);
	ck_assert_str_eq(told(ACTS, true), "+1");
}
END_TEST

/* One agent's alarms are many: it pays itself, the other's is told. */
START_TEST(who_raises_too_many_pays)
{
	for (uint64_t id = 1; id <= 2 * OUTBOX_OF_AGENT; id++)
		note(id, 1, false);
	ck_assert_uint_eq(outbox_alarms(rig.outbox), OUTBOX_OF_AGENT);
	ck_assert_uint_eq(counted(OUTBOX_STAT_NO_ROOM), OUTBOX_OF_AGENT);
	note(1000000, 2, false);
	ck_assert_uint_eq(outbox_alarms(rig.outbox), OUTBOX_OF_AGENT + 1);
	/* those that were told nowhere make room for its next; those that somebody believes never do */
	ck_assert_str_eq(told(ACTS, true), "+1");
	note(1, 1, true);
	note(2, 1, true);
	note(9999, 1, false);
	ck_assert_uint_eq(counted(OUTBOX_STAT_NO_ROOM), OUTBOX_OF_AGENT);
	note(10000, 1, false);
	ck_assert_uint_eq(counted(OUTBOX_STAT_NO_ROOM), OUTBOX_OF_AGENT + 1);
	pass(HOLD_S);
	for (const char *text = "+"; *text; text = told(ACTS, true))
		ck_assert_str_ne(text, "-2");
}
END_TEST

/* A command is begun once a second: nobody's alarm waits for all those of two others. */
START_TEST(agents_have_turns)
{
	for (uint64_t id = 1; id <= 200; id++)
		note(id, 1 + id % 2, false);
	pass(1);
	note(1000, 3, false);
	for (int i = 0; i < 2; i++)
		ck_assert_str_ne(told(ACTS, true), "");
	ck_assert_str_eq(told(ACTS, true), "+1000");
	ck_assert_str_eq(told(ACTS, true), "+4"); /* of each the oldest: 1 and 2 were told before */
	ck_assert_str_eq(told(ACTS, true), "+3");
}
END_TEST

/* Many agents, each with as many as it may, leave room for another one. */
START_TEST(many_that_raise_too_many_pay)
{
	for (uint64_t id = 1; id <= 2 * OUTBOX_ALARMS; id++)
		note(id, 1 + (int64_t)(id / OUTBOX_OF_AGENT), false);
	for (uint64_t id = 1; id <= OUTBOX_FEW; id++)
		note(1000000 + id, 1000, false);
	ck_assert_uint_le(outbox_alarms(rig.outbox), OUTBOX_ALARMS * 3 / 4);
	note(1000001, 1000, true);
	note(1000001, 1000, false);
	ck_assert_uint_eq(counted(OUTBOX_STAT_HELD), 1); /* it has it */
}
END_TEST

START_TEST(what_nobody_takes_is_forgotten_after_a_day)
{
	note(1, 1, false);
	note(1, 1, true);
	pass(86400);
	ck_assert_uint_eq(outbox_alarms(rig.outbox), 1);
	pass(1);
	ck_assert_uint_eq(outbox_alarms(rig.outbox), 0);
	ck_assert_uint_eq(counted(OUTBOX_STAT_NOT_TOLD), 2);
}
END_TEST

static uint32_t
draw(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)*state * n >> 32);
}

/* Alarms and failures by chance: a receiver never hears the same twice running, and in the end believes what is. */
START_TEST(in_the_end_all_know_what_is)
{
	enum { ALARMS = 40 };
	uint32_t state = (uint32_t)_i + 1;
	bool stands[ALARMS] = {false}, believed[N_RECEIVERS][ALARMS] = {{false}};
	const struct alarm_fact *at_work[N_RECEIVERS] = {NULL};
	uint64_t id[N_RECEIVERS];
	bool is_over[N_RECEIVERS];

	for (int s = 0; s < 40000; s += 5) {
		uint32_t which = draw(&state, ALARMS);

		if (s < 30000 && draw(&state, 4) == 0) {
			stands[which] = !stands[which];
			note(which + 1, which % 3, !stands[which]);
		}
		for (size_t r = 0; r < N_RECEIVERS; r++) {
			bool takes = s > 30000 || draw(&state, 3) > 0;

			if (at_work[r] && draw(&state, 2) == 0) {
				ck_assert(!takes || believed[r][id[r] - 1] == is_over[r]);
				if (takes)
					believed[r][id[r] - 1] = !is_over[r];
				outbox_answered(rig.outbox, r, takes, rig.mono_us);
				at_work[r] = NULL;
			}
			if (!at_work[r] && (at_work[r] = outbox_next(rig.outbox, r, rig.mono_us)) != NULL) {
				id[r] = at_work[r]->id;
				is_over[r] = at_work[r]->is_over;
			}
		}
		pass(5);
	}
	for (size_t r = 0; r < N_RECEIVERS; r++)
		for (size_t i = 0; i < ALARMS; i++)
			ck_assert_msg(believed[r][i] == stands[i], "receiver %zu, alarm %zu", r, i);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("outbox");
	TCase *tests = tcase_create("outbox");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, each_is_told_once_raised_and_once_over);
	tcase_add_test(tests, a_rule_that_flaps_flaps_no_route);
	tcase_add_test(tests, holds_grow);
	tcase_add_test(tests, what_is_not_taken_is_told_again_later);
	tcase_add_test(tests, nobody_acts_on_what_is_over);
	tcase_add_test(tests, what_changes_meanwhile_is_told_too);
	tcase_add_test(tests, who_raises_too_many_pays);
	tcase_add_test(tests, agents_have_turns);
	tcase_add_test(tests, many_that_raise_too_many_pay);
	tcase_add_test(tests, what_nobody_takes_is_forgotten_after_a_day);
	tcase_add_loop_test(tests, in_the_end_all_know_what_is, 0, 10);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
