/*
 * The table engine over the tables of mibs/, without SNMP: GET of every cell, the whole GETNEXT
 * chain against one computed in another way, partial and oversized names, column declarations that
 * must be refused, SET in its phases with every refusal. What the tables hold: check_mib_modules.c.
 */
#include "mibs/mib_set.h"
#include "mibs/mibs.h"
#include "mibs/modules.h"
#include "tests/mibs/mib_fixture.h"
#include "tests/mibs/mib_names.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 7, ADDRESSES = 50 };

static struct mib_fixture fixture;
static struct mib_context context;

static void
setup(void)
{
	ck_assert_int_eq(fixture_create(PORTS, ADDRESSES, &fixture), 0);
	context = (struct mib_context){.snapshot = &fixture.mib_snapshot,
	    .mono_us = 100 * 1000000ull,
	    .uptime_start_us = 40 * 1000000ll};
	fixture.snapshot.mono_us = context.mono_us - 250000;
}

static void
teardown(void)
{
	fixture_destroy(&fixture);
}

static enum mib_answer
get(const struct mib_table *table, struct name name, struct mib_value *value)
{
	return mib_get(table, &context, name.arcs, name.n, value);
}

static enum mib_answer
next(const struct mib_table *table, struct name *name, struct mib_value *value)
{
	return mib_get_next(table, &context, name->arcs, name->n, name->arcs, &name->n, value);
}

START_TEST(declarations_are_in_order)
{
	const char *why;

	for (size_t i = 0; i < mibs_n_tables; i++)
		ck_assert_msg(mib_table_check(mibs_tables[i], &why) == 0, "%s: %s",
		    mibs_tables[i]->name, why);
	for (size_t i = 1; i < mibs_n_tables; i++)
		ck_assert_ptr_ne(mibs_tables[i], mibs_tables[i - 1]);
}
END_TEST

/* Every way to spoil a good declaration must be seen. */
START_TEST(wrong_declarations_are_refused)
{
	struct mib_column columns[] = {
		{1, "a", MIB_INTEGER, MIB_AT(struct hal_port, if_index)},
		{2, "b", MIB_COUNTER64, MIB_AT(struct hal_port, speed_bps)},
	};
	const struct mib_table good = {.name = "t", .entry = MIB_OID(1, 3, 6),
	    .index = {MIB_INDEX(MIB_INDEX_U32, struct hal_port, if_index)}, .columns = columns,
	    .n_columns = 2, .row_size = sizeof(struct hal_port), .rows = if_mib_table.rows};
	struct mib_table bad;
	const char *why;

	ck_assert_int_eq(mib_table_check(&good, &why), 0);
	columns[1].subid = 1;
	ck_assert_int_eq(mib_table_check(&good, &why), -EINVAL);
	columns[1].subid = 0;
	ck_assert_int_eq(mib_table_check(&good, &why), -EINVAL);
	columns[1].subid = 2;
	columns[1].size = 0;
	ck_assert_int_eq(mib_table_check(&good, &why), -EINVAL);
	columns[1].size = 3;
	ck_assert_int_eq(mib_table_check(&good, &why), -EINVAL);
	columns[1].size = 8;
	columns[1].set_kind = MIB_SET_EDGE;
	ck_assert_int_eq(mib_table_check(&good, &why), -EINVAL); /* a Counter64 */
	columns[1].syntax = MIB_GAUGE32;
	columns[1].min = 1;
	ck_assert_int_eq(mib_table_check(&good, &why), -EINVAL); /* 1..0 */
	columns[1].max = 1;
	ck_assert_int_eq(mib_table_check(&good, &why), 0);
	bad = good;
	bad.scalars = true;
	ck_assert_int_eq(mib_table_check(&bad, &why), -EINVAL);
	bad = good;
	bad.rows = NULL;
	ck_assert_int_eq(mib_table_check(&bad, &why), -EINVAL);
	bad = good;
	bad.row_size = 0;
	ck_assert_int_eq(mib_table_check(&bad, &why), -EINVAL);
	bad = good;
	bad.index[0].kind = MIB_INDEX_NONE;
	ck_assert_int_eq(mib_table_check(&bad, &why), -EINVAL);
}
END_TEST

/* The master has run for 60 s, the agent's clock shows 100 s. */
START_TEST(time_stamps_follow_the_masters_uptime)
{
	ck_assert_uint_eq(mib_time_stamp(&context, 0), 0);
	ck_assert_uint_eq(mib_time_stamp(&context, 90 * 1000000ull), 5000);
	ck_assert_uint_eq(mib_time_stamp(&context, 41 * 1000000ull), 100);
	ck_assert_uint_eq(mib_time_stamp(&context, 39 * 1000000ull), 0); /* before its start */
	ck_assert_uint_eq(mib_time_stamp(&context, 101 * 1000000ull), 6000); /* just published */
}
END_TEST

static int
order(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return mib_oid_compare(x->arcs, x->n, y->arcs, y->n);
}

/* What an arc of an index may be: ports, sensors, parts, and what is none of these. */
enum { N_NEAR = 3 * PORTS + 3, N_ARCS = 3 * N_NEAR };
static uint32_t
likely_arc(uint32_t i)
{
	static const uint32_t bases[] = {0, HAL_PART_INDEX_SENSOR, HAL_PART_INDEX_PORT};

	return bases[i / N_NEAR] + i % N_NEAR;
}

static size_t
index_arcs(const struct mib_table *table)
{
	size_t n = table->scalars || table->time_filter;

	for (size_t i = 0; i < MIB_INDEX_PARTS; i++) {
		if (table->index[i].kind != MIB_INDEX_NONE)
			n += table->index[i].kind == MIB_INDEX_MAC ? 6 : 1;
	}
	return n;
}

static size_t
try_name(const struct mib_table *table, struct name *names, size_t n, uint32_t column,
    size_t n_index, const uint32_t *index)
{
	struct mib_value value;

	if (n_index != index_arcs(table))
		return n;
	names[n] = name_of(table, column, n_index, index);
	return n + (get(table, names[n], &value) == MIB_FOUND);
}
#define TRY(...)                                                                                   \
	try_name(table, names, n, column, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),    \
	    (uint32_t[]){__VA_ARGS__})

/* Each name that GET finds, by trying columns and indexes, sorted: what GETNEXT must give. */
static size_t
all_names(const struct mib_table *table, struct name *names)
{
	const uint8_t *m = fixture_error_mac;
	size_t n = 0;

	for (uint32_t column = 0; column < 30; column++) {
		for (uint32_t i = 0; i < N_ARCS; i++)
			n = TRY(likely_arc(i));
		for (uint32_t i = 0; i < N_ARCS * N_ARCS; i++)
			n = TRY(likely_arc(i / N_ARCS), likely_arc(i % N_ARCS));
		for (uint32_t i = 0; i < ADDRESSES + 2; i++) {
			n = TRY(0, 0x11, 0, 0, 0, i);
			n = TRY(1, 0, 0x11, 0, 0, 0, i); /* a VLAN's */
			n = TRY(0, 0x11, 0, 0, 0, i, 0); /* static, from any port */
		}
		for (uint32_t i = 0; i < 4 * PORTS; i++)
			n = TRY(0, fixture_if_index(i / 4), i % 4); /* a neighbour */
		for (uint32_t i = 0; i < 3 * PORTS; i++)
			n = TRY(fixture_if_index(i / 3), m[0], m[1], m[2], m[3], m[4], m[5], i % 3);
	}
	qsort(names, n, sizeof(*names), order);
	return n;
}

START_TEST(getnext_visits_what_get_finds)
{
	static struct name names[4096];
	size_t total = 0;

	for (size_t i = 0; i < mibs_n_tables; i++) {
		const struct mib_table *table = mibs_tables[i];
		size_t n = all_names(table, names);
		struct name name = {.n = table->entry.n};
		struct mib_value by_next, by_get;

		ck_assert_uint_gt(n, 0);
		memcpy(name.arcs, table->entry.arcs, name.n * sizeof(uint32_t));
		for (size_t j = 0; j < n; j++) {
			ck_assert_int_eq(next(table, &name, &by_next), MIB_FOUND);
			ck_assert_int_eq(order(&name, &names[j]), 0);
			ck_assert_int_eq(get(table, name, &by_get), MIB_FOUND);
			ck_assert_uint_eq(by_get.number, by_next.number);
			ck_assert_int_eq(by_get.integer, by_next.integer);
			ck_assert_uint_eq(by_get.len, by_next.len);
			if (by_get.syntax == MIB_STRING)
				ck_assert_mem_eq(by_get.octets, by_next.octets, by_get.len);
		}
		ck_assert_int_eq(next(table, &name, &by_next), MIB_END);
		total += n;
	}
	/* 7 ports: if 18 + x 19 columns, stack 2, bridge 4 + 4 + 2 + 2, ease 17, forwarding 2, two error sources
	 * of 3; 5 with facets: dot1dBasePort 1, dot3 17, 3, 6 and 6, rmon 21 and 16, energy 6,
	 * buffers 11. RMON's own: 2 controls, 5 buckets, an alarm, 2 alarms of 64 bits and what they
	 * can do, an event, 2 logs. VLAN 1: base 5, FDB 1, an address 2, scalars 2, current 5, static 5, a port 6. Two static addresses. Parts:
	 * 9 of 17, 8 inside others, 7 ports, a scalar. Two sensors of 8. LLDP: 3 scalars, 2 ports of 3, 3 neighbours
	 * of 6. */
	ck_assert_uint_eq(total,
	    7 * (18 + 19 + 2 + 12 + 17 + 2 * 3 + 2) + 5 * (1 + 17 + 3 + 6 + 6 + 21 + 16 + 7 + 11) +
		3 * ADDRESSES + 1 + 2 + 3 + 2 + 13 + 2 * 7 + 5 * (15 + 4) + 12 + 2 * 18 + 1 + 7 +
		2 * 4 + 5 + 1 + 2 * ADDRESSES + 2 + 5 + 5 + 7 * 6 + 9 * 17 + 8 + 7 + 1 +
		2 * 4 + 2 + 1 + 2 * 3 + 2 * 8 + 3 + 2 * 3 + 3 * 6);
}
END_TEST

/* From any starting point the answer is the first of the sorted names behind it. */
START_TEST(getnext_takes_any_name)
{
	static struct name names[4096];
	size_t n = all_names(&rmon_mib_stats_table, names);
	struct name start;
	struct mib_value value;

	for (uint32_t column = 0; column < 24; column++) {
		for (uint32_t if_index = 0; if_index < 3 * PORTS + 3; if_index++) {
			for (size_t extra = 0; extra < 4; extra++) {
				uint32_t index[4] = {if_index, 0, 4294967295u, 7};
				size_t j = 0;

				start = name_of(&rmon_mib_stats_table, column, extra, index);
				while (j < n && order(&names[j], &start) <= 0)
					j++;
				if (j == n) {
					ck_assert_int_eq(next(&rmon_mib_stats_table, &start, &value),
					    MIB_END);
					continue;
				}
				ck_assert_int_eq(next(&rmon_mib_stats_table, &start, &value),
				    MIB_FOUND);
				ck_assert_int_eq(order(&start, &names[j]), 0);
			}
		}
	}
}
END_TEST

START_TEST(getnext_from_outside)
{
	struct name before = {.n = 3, .arcs = {1, 3, 6}}, behind = {.n = 3, .arcs = {1, 3, 7}};
	struct name none = {.n = 0}, inside = {.n = 9, .arcs = {1, 3, 6, 1, 2, 1, 2, 2, 2}};
	struct mib_value value;

	ck_assert_int_eq(next(&if_mib_table, &before, &value), MIB_FOUND);
	ck_assert_uint_eq(before.arcs[9], 1);
	ck_assert_uint_eq(before.arcs[10], 1);
	ck_assert_int_eq(next(&if_mib_table, &none, &value), MIB_FOUND);
	ck_assert_int_eq(next(&if_mib_table, &behind, &value), MIB_END);
	ck_assert_int_eq(next(&if_mib_table, &inside, &value), MIB_END);
}
END_TEST

START_TEST(get_wants_the_exact_name)
{
	struct name name = port_name(&if_mib_table, 10, 1);
	struct mib_value value;

	ck_assert_int_eq(get(&if_mib_table, name, &value), MIB_FOUND);
	name.n++; /* .0 behind the index */
	name.arcs[name.n - 1] = 0;
	ck_assert_int_eq(get(&if_mib_table, name, &value), MIB_NO_INSTANCE);
	name.n -= 2; /* no index */
	ck_assert_int_ne(get(&if_mib_table, name, &value), MIB_FOUND);
	ck_assert_int_eq(get(&if_mib_table, port_name(&if_mib_table, 12, 1), &value),
	    MIB_NO_OBJECT);
	ck_assert_int_eq(get(&if_mib_table, port_name(&if_mib_table, 10, 2), &value),
	    MIB_NO_INSTANCE);
}
END_TEST

START_TEST(an_empty_view_serves_nothing)
{
	struct mib_value value;

	fixture.mib_snapshot.hal = NULL;
	fixture.mib_snapshot.sampling = NULL;
	fixture.mib_snapshot.rmon = NULL;
	fixture.mib_snapshot.static_addresses = NULL;
	for (size_t i = 0; i < mibs_n_tables; i++) {
		struct name name = {.n = 2, .arcs = {1, 3}};
		enum mib_answer answer = next(mibs_tables[i], &name, &value);

		ck_assert_int_eq(answer, mibs_tables[i] == &ease_mib_system ? MIB_FOUND : MIB_END);
	}
}
END_TEST

/* ---- SET ---- */

static struct mib_value
integer(enum mib_syntax syntax, int64_t number)
{
	return (struct mib_value){.syntax = syntax, .integer = number, .number = (uint64_t)number};
}

static struct mib_value
text(const char *octets, size_t len)
{
	struct mib_value value = {.syntax = MIB_STRING};

	mib_put_octets(&value, octets, len);
	return value;
}

static enum mib_error
add(struct mib_transaction *t, const struct mib_table *table, struct name name,
    struct mib_value value)
{
	return mib_transaction_add(t, table, &context, name.arcs, name.n, &value);
}

START_TEST(every_refusal_before_anything_changes)
{
	const struct mib_table *port = &ease_mib_port_table, *x = &if_mib_x_table;
	static struct mib_transaction t;
	static const char long_text[65] = "0123456789012345678901234567890123456789"
					  "0123456789012345678901234";

	mib_transaction_begin(&t);
	ck_assert_int_eq(add(&t, port, port_name(port, 6, 1), integer(MIB_COUNTER64, 1)),
	    MIB_NOT_WRITABLE);
	ck_assert_int_eq(add(&t, port, port_name(port, 99, 1), integer(MIB_GAUGE32, 1)),
	    MIB_NOT_WRITABLE);
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 1), integer(MIB_INTEGER, 5)),
	    MIB_WRONG_TYPE);
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 1), text("5", 1)), MIB_WRONG_TYPE);
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 1), integer(MIB_GAUGE32, 0)),
	    MIB_WRONG_VALUE);
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 1), integer(MIB_GAUGE32, 8388609)),
	    MIB_WRONG_VALUE);
	ck_assert_int_eq(add(&t, port, port_name(port, 5, 1), integer(MIB_INTEGER, 0)),
	    MIB_WRONG_VALUE);
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 2), integer(MIB_GAUGE32, 5)),
	    MIB_NO_CREATION);
	ck_assert_int_eq(add(&t, x, port_name(x, 18, 1), text(long_text, 65)), MIB_WRONG_LENGTH);
	ck_assert_int_eq(add(&t, x, port_name(x, 18, 1), text("a\0b", 3)), MIB_WRONG_VALUE);
	ck_assert_int_eq(add(&t, x, port_name(x, 18, 1), text("\xc3\xa4", 2)), MIB_WRONG_VALUE);
	ck_assert_uint_eq(t.n, 0);
	ck_assert_int_eq(add(&t, x, port_name(x, 18, 1), text(long_text, 64)), MIB_NO_ERROR);
	ck_assert_int_eq(add(&t, x, port_name(x, 18, 1), text("", 0)), MIB_NO_ERROR);
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 1), integer(MIB_GAUGE32, 8388608)),
	    MIB_NO_ERROR);
	ck_assert_uint_eq(fixture.n_tests + fixture.n_commits, 0);
	ck_assert_str_eq(fixture.ports[0].alias, "to desk 1");
}
END_TEST

static const struct mib_setter setter = {&fixture, fixture_apply};

/* Three settings over three tables, one PDU. */
static void
collect(struct mib_transaction *t)
{
	mib_transaction_begin(t);
	ck_assert_int_eq(add(t, &if_mib_x_table, port_name(&if_mib_x_table, 18, 4), text("new", 3)), 0);
	ck_assert_int_eq(add(t, &ease_mib_port_table, port_name(&ease_mib_port_table, 5, 7),
	    integer(MIB_INTEGER, 2)), 0);
	ck_assert_int_eq(add(t, &bridge_mib_tp, port_name(&bridge_mib_tp, 2, 0),
	    integer(MIB_INTEGER, 600)), 0);
}

static void
assert_old(void)
{
	ck_assert_str_eq(fixture.ports[1].alias, "to desk 4");
	ck_assert(fixture.rows[2].config.edge);
	ck_assert_uint_eq(fixture.snapshot.ageing_s, 300);
}

START_TEST(set_goes_through_its_phases)
{
	static struct mib_transaction t;

	collect(&t);
	for (int i = 0; i < 3; i++) /* once for each registration */
		ck_assert_int_eq(mib_transaction_test(&t, &setter), MIB_NO_ERROR);
	assert_old();
	ck_assert_uint_eq(fixture.n_tests, 1);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(mib_transaction_commit(&t, &setter), MIB_NO_ERROR);
	ck_assert_uint_eq(fixture.n_commits, 1);
	ck_assert_str_eq(fixture.ports[1].alias, "new");
	ck_assert(!fixture.rows[2].config.edge);
	ck_assert_uint_eq(fixture.snapshot.ageing_s, 600);
}
END_TEST

START_TEST(undo_brings_back_what_was)
{
	static struct mib_transaction t;

	collect(&t);
	/* The same object twice: undo must end with the oldest value. */
	ck_assert_int_eq(add(&t, &if_mib_x_table, port_name(&if_mib_x_table, 18, 4), text("b", 1)), 0);
	ck_assert_int_eq(mib_transaction_undo(&t, &setter), MIB_NO_ERROR); /* nothing to undo */
	ck_assert_uint_eq(fixture.n_commits, 0);
	ck_assert_int_eq(mib_transaction_commit(&t, &setter), MIB_NO_ERROR);
	ck_assert_str_eq(fixture.ports[1].alias, "b");
	ck_assert_int_eq(mib_transaction_undo(&t, &setter), MIB_NO_ERROR);
	assert_old();
	ck_assert_int_eq(mib_transaction_undo(&t, &setter), MIB_NO_ERROR);
	ck_assert_uint_eq(fixture.n_commits, 2);
}
END_TEST

START_TEST(what_the_owner_refuses_changes_nothing)
{
	static const struct {
		int error;
		enum mib_error status;
	} cases[] = {
		{-EINVAL, MIB_WRONG_VALUE},
		{-EOPNOTSUPP, MIB_NOT_WRITABLE},
		{-ENODEV, MIB_NO_CREATION},
		{-ETIMEDOUT, MIB_RESOURCE_UNAVAILABLE},
		{-ENOMEM, MIB_RESOURCE_UNAVAILABLE},
	};
	static struct mib_transaction t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		collect(&t);
		fixture.test_error = cases[i].error;
		ck_assert_int_eq(mib_transaction_test(&t, &setter), cases[i].status);
		assert_old();
	}
	fixture.test_error = 0;
	fixture.commit_error = -ETIMEDOUT;
	collect(&t);
	ck_assert_int_eq(mib_transaction_test(&t, &setter), MIB_NO_ERROR);
	ck_assert_int_eq(mib_transaction_commit(&t, &setter), MIB_COMMIT_FAILED);
	ck_assert_int_eq(mib_transaction_undo(&t, &setter), MIB_NO_ERROR);
	assert_old();
}
END_TEST

START_TEST(too_many_settings_are_refused)
{
	static struct mib_transaction t;
	const struct mib_table *x = &if_mib_x_table;

	mib_transaction_begin(&t);
	for (int i = 0; i < MIB_SETS_MAX; i++)
		ck_assert_int_eq(add(&t, x, port_name(x, 18, 1), text("a", 1)), MIB_NO_ERROR);
	ck_assert_int_eq(add(&t, x, port_name(x, 18, 1), text("a", 1)), MIB_RESOURCE_UNAVAILABLE);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("mib");
	TCase *tables = tcase_create("tables"), *sets = tcase_create("sets");

	tcase_add_checked_fixture(tables, setup, teardown);
	tcase_add_test(tables, declarations_are_in_order);
	tcase_add_test(tables, wrong_declarations_are_refused);
	tcase_add_test(tables, time_stamps_follow_the_masters_uptime);
	tcase_add_test(tables, getnext_visits_what_get_finds);
	tcase_add_test(tables, getnext_takes_any_name);
	tcase_add_test(tables, getnext_from_outside);
	tcase_add_test(tables, get_wants_the_exact_name);
	tcase_add_test(tables, an_empty_view_serves_nothing);
	tcase_add_checked_fixture(sets, setup, teardown);
	tcase_add_test(sets, every_refusal_before_anything_changes);
	tcase_add_test(sets, set_goes_through_its_phases);
	tcase_add_test(sets, undo_brings_back_what_was);
	tcase_add_test(sets, what_the_owner_refuses_changes_nothing);
	tcase_add_test(sets, too_many_settings_are_refused);
	suite_add_tcase(suite, tables);
	suite_add_tcase(suite, sets);
	return suite_run(suite);
}
