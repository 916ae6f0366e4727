/*
 * The option uplinks: what a row may say, which ports it names, and that these are no edge ports in the store.
 */
#include "collector/window/uplinks.h"
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

int
main(void)
{
	Suite *suite = suite_create("uplinks");
	TCase *tc = tcase_create("uplinks");

	tcase_add_loop_test(tc, rows_are_read_or_refused, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_loop_test(tc, ports_are_named, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, uplinks_are_no_edge_ports);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
