/*
 * The option uplinks: what a row may say, which ports it names, and that these are no edge ports in the store. And what of
 * a port's state the collector has asked for.
 */
#include "collector/window/uplinks.h"
#include "collector/polled.h"
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *row;
	bool good;
} rows[] = {
    {"192.0.2.1 49", true}, {"192.0.2.0/24 49-52", true}, {"2001:db8::/32 Ethernet49*", true}, {"any uplink to core", true},
    {"any\t7", true}, {"any 4294967295", true}, {"any 1-2-3", true}, /* a name */
    {"", false}, {"any", false}, {"any ", false}, {"sw1 49", false}, {"192.0.2.1/33 49", false}, {"any 0", false},
    {"any 52-49", false}, {"any 4294967296", false}, {"any 99999999999999999999", false},
    {"any 01234567890123456789012345678901234567890123456789012345678901234", false},
    {"any a1234567890123456789012345678901234567890123456789012345678901234", false},
};

START_TEST(rows_are_read_or_refused)
{
	const char *reason = uplink_check(rows[_i].row);

	ck_assert_msg((reason == NULL) == rows[_i].good, "%s: %s", rows[_i].row, reason ? reason : "good");
}
END_TEST

static const struct {
	const char *row, *address;
	struct ease_state state;
	bool named;
} cases[] = {
    {"192.0.2.1 49", "192.0.2.1", {.if_index = 49}, true},
    {"192.0.2.1 49", "192.0.2.2", {.if_index = 49}, false},
    {"192.0.2.1 49", "192.0.2.1", {.if_index = 50}, false},
    {"192.0.2.0/24 49-52", "192.0.2.200", {.if_index = 52}, true},
    {"192.0.2.0/24 49-52", "192.0.2.200", {.if_index = 53}, false},
    {"192.0.2.0/24 49-52", "198.51.100.1", {.if_index = 52}, false},
    {"2001:db8::/32 1", "2001:db8::7", {.if_index = 1}, true},
    {"2001:db8::/32 1", "192.0.2.1", {.if_index = 1}, false},
    {"any Ethernet49*", "192.0.2.1", {.if_index = 3, .name = "Ethernet49/1"}, true},
    {"any ethernet4?", "192.0.2.1", {.if_index = 3, .name = "Ethernet49"}, true},
    {"any Ethernet4?", "192.0.2.1", {.if_index = 3, .name = "Ethernet4"}, false},
    {"any *core*", "192.0.2.1", {.if_index = 3, .name = "e3", .alias = "to core 1"}, true},
    {"any *", "192.0.2.1", {.if_index = 3}, false}, /* it has no name */
    {"any 1000", "192.0.2.1", {.if_index = 3, .lag_parent = 1000}, true},
    {"any Po1", "192.0.2.1", {.if_index = 3, .lag_parent = 1001, .name = "e3"}, true},
    {"any Po2", "192.0.2.1", {.if_index = 3, .lag_parent = 1001, .name = "e3"}, false},
    {"any Po1", "192.0.2.1", {.if_index = 3, .name = "e3"}, false},
};

START_TEST(ports_are_named)
{
	const struct ease_state aggregate = {.if_index = 1001, .name = "Po1"};
	struct uplink_rule rule;
	const struct uplink_rules rules = {&rule, 1};
	const char *reason;

	ck_assert_int_eq(uplink_parse(cases[_i].row, &rule, &reason), 0);
	ck_assert_msg(uplinks_name(&rules, cases[_i].address, &cases[_i].state,
	    cases[_i].state.lag_parent == 1001 ? &aggregate : NULL) == cases[_i].named, "%s", cases[_i].row);
}
END_TEST

static void
tell(struct accounting_rig *f, uint32_t if_index, const char *name, uint32_t lag_parent, uint64_t time_us)
{
	struct ease_record r = rig_record(EASE_PART_STATE, 1);

	r.state = (struct ease_state){.if_index = if_index, .time_us = time_us, .lag_parent = lag_parent, .edge = true};
	snprintf(r.state.name, sizeof(r.state.name), "%s", name);
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

START_TEST(uplinks_are_no_edge_ports)
{
	struct uplink_rule rules[2];
	const struct uplink_rules all = {rules, 2}, none = {rules, 0};
	struct accounting_rig f;
	const char *reason;

	ck_assert_int_eq(uplink_parse("any 49", &rules[0], &reason), 0);
	ck_assert_int_eq(uplink_parse("any Po*", &rules[1], &reason), 0);
	rig_make(&f);
	rig_open(&f);
	accounting_set_uplinks(f.accounting, &all);
	tell(&f, 3, "e3", 0, NOON_US);
	tell(&f, 49, "e49", 0, NOON_US);
	tell(&f, 1001, "Po1", 0, NOON_US);
	tell(&f, 50, "e50", 1001, NOON_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT edge FROM port WHERE if_index = 3"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM port WHERE edge = 0"), 3);
	accounting_set_uplinks(f.accounting, &none);
	tell(&f, 49, "e49", 0, NOON_US + MINUTE_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT edge FROM port WHERE if_index = 49 ORDER BY since_us DESC LIMIT 1"), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* A state of port 7 of an sFlow agent, asked for (enum polled_parts) or sent (0). */
static void
say(struct accounting_rig *f, uint8_t polled, const struct ease_state *state, uint64_t time_us)
{
	struct ease_record r = rig_record(EASE_PART_STATE, 1);

	rig_by_sflow(&r);
	r.polled = polled;
	r.state = *state;
	r.state.if_index = 7;
	r.state.time_us = time_us;
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

#define NEWEST(what) "SELECT " what " FROM port WHERE if_index = 7 ORDER BY since_us DESC LIMIT 1"

/* What was asked for stands before what is sent, in whichever order both come. */
START_TEST(asked_before_sent)
{
	const struct ease_state sent = {.name = "port7", .speed_bps = 1000, .oper_status = EASE_IF_UP, .edge = true};
	const struct ease_state names = {.name = "Ethernet7", .alias = "roof", .lag_parent = 1001, .edge = true};
	const struct ease_state counted = {.speed_bps = 2000, .oper_status = EASE_IF_DOWN, .edge = true};
	const struct ease_state no_alias = {.name = "Ethernet7", .edge = true};
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	say(&f, 0, &sent, NOON_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'port7' AND speed_bps = 1000")), 1);
	say(&f, POLLED_NAMES, &names, NOON_US - 100); /* it was read a little earlier than that came */
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'Ethernet7' AND alias = 'roof' AND lag_parent = 1001 AND"
	    " speed_bps = 1000 AND oper_status = 1 AND edge")), 1);
	say(&f, 0, &sent, NOON_US + MINUTE_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'Ethernet7' AND alias = 'roof' AND lag_parent = 1001")), 1);
	say(&f, POLLED_COUNTERS, &counted, NOON_US + 2 * MINUTE_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'Ethernet7' AND lag_parent = 1001 AND speed_bps = 2000 AND"
	    " oper_status = 2")), 1);
	say(&f, POLLED_NAMES, &no_alias, NOON_US + 3 * MINUTE_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'Ethernet7' AND alias = '' AND ifnull(lag_parent, 0) = 0")), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Names that are asked for say nothing of whether lists count an aggregate at its members. */
START_TEST(asked_of_an_aggregate)
{
	const struct ease_state sent = {.name = "po1", .edge = false}, counts = {.name = "po1", .edge = true};
	const struct ease_state names = {.name = "Port-Channel1", .edge = true};
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	say(&f, 0, &sent, NOON_US);
	say(&f, POLLED_NAMES, &names, NOON_US + 1);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'Port-Channel1' AND NOT edge")), 1);
	say(&f, 0, &counts, NOON_US + MINUTE_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'Port-Channel1' AND edge")), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* A port that leads to another switch is no edge port, until that is no longer so. */
START_TEST(asked_for_uplinks)
{
	const struct ease_state sent = {.name = "port7", .edge = true}, link = {.edge = false}, no_link = {.edge = true};
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	say(&f, 0, &sent, NOON_US);
	say(&f, POLLED_UPLINK, &link, NOON_US + 1);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'port7' AND NOT edge")), 1);
	say(&f, 0, &sent, NOON_US + MINUTE_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("edge")), 0);
	say(&f, POLLED_UPLINK, &no_link, NOON_US + 2 * MINUTE_US);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, NEWEST("name = 'port7' AND edge")), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Who sends sFlow, too, is asked as that; who states the address of a switch in its own sFlow does not take its place. */
START_TEST(who_is_asked_as_an_agent_of_ease)
{
	static const char *const sources[] = {"192.0.2.66", "192.0.2.1"}; /* the address is .1 */

	for (int is_own = 0; is_own < 2; is_own++) {
		struct ease_record r = rig_record(EASE_PART_STATE, 1);
		struct polled_place place;
		struct accounting_rig f;

		rig_make(&f);
		rig_open(&f);
		tell(&f, 7, "e7", 0, NOON_US);
		ck_assert(accounting_place(f.accounting, 0, &place));
		ck_assert_uint_eq(place.if_index, 7);
		rig_by_sflow(&r);
		r.source = sources[is_own];
		r.state = (struct ease_state){.if_index = 8, .time_us = NOON_US, .edge = true};
		accounting_add_records(f.accounting, f.batch, &r, 1);
		ck_assert(accounting_place(f.accounting, 0, &place) == !is_own);
		rig_close(&f);
		rig_remove(&f);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("uplinks");
	TCase *tc = tcase_create("uplinks");

	tcase_add_loop_test(tc, rows_are_read_or_refused, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_loop_test(tc, ports_are_named, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, uplinks_are_no_edge_ports);
	tcase_add_test(tc, asked_before_sent);
	tcase_add_test(tc, asked_of_an_aggregate);
	tcase_add_test(tc, asked_for_uplinks);
	tcase_add_test(tc, who_is_asked_as_an_agent_of_ease);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
