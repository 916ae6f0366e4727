/*
 * The table engine and the tables of mibs/ without SNMP: GET of every cell, the whole GETNEXT
 * chain against one computed in another way, partial and oversized names, column declarations that
 * must be refused, SET in its phases with every refusal, and the numeric names against an oracle
 * (ruby-snmp's lists of ~270 modules) where that is installed.
 */
#include "mibs/mib_set.h"
#include "mibs/mibs.h"
#include "mibs/modules.h"
#include "tests/mib_fixture.h"
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
	context = (struct mib_context){.view = &fixture.view, .mono_us = 100 * 1000000ull,
	    .uptime_start_us = 40 * 1000000ll};
	fixture.snapshot.mono_us = context.mono_us - 250000;
}

static void
teardown(void)
{
	fixture_destroy(&fixture);
}

struct name {
	size_t n;
	uint32_t arcs[MIB_OID_MAX];
};

static struct name
name_of(const struct mib_table *table, uint32_t column, size_t n_index, const uint32_t *index)
{
	struct name name = {.n = table->entry.n};

	memcpy(name.arcs, table->entry.arcs, name.n * sizeof(uint32_t));
	name.arcs[name.n++] = column;
	for (size_t i = 0; i < n_index; i++)
		name.arcs[name.n++] = index[i];
	return name;
}

static struct name
port_name(const struct mib_table *table, uint32_t column, uint32_t if_index)
{
	return name_of(table, column, 1, &if_index);
}

static struct name
error_name(uint32_t column, uint32_t if_index, uint32_t kind)
{
	const uint8_t *m = fixture_error_mac;

	return name_of(&ease_mib_error_source_table, column, 8,
	    (uint32_t[]){if_index, m[0], m[1], m[2], m[3], m[4], m[5], kind});
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

START_TEST(every_figure_can_be_read)
{
	static const struct {
		const struct mib_table *table;
		uint32_t column;
		enum hal_figure figure;
		bool wide, facet;
	} cells[] = {
		{&if_mib_table, 10, HAL_IN_OCTETS, false, false},
		{&if_mib_table, 11, HAL_IN_UCAST_PKTS, false, false},
		{&if_mib_table, 13, HAL_IN_DISCARDS, false, false},
		{&if_mib_table, 14, HAL_IN_ERRORS, false, false},
		{&if_mib_table, 16, HAL_OUT_OCTETS, false, false},
		{&if_mib_table, 19, HAL_OUT_DISCARDS, false, false},
		{&if_mib_x_table, 2, HAL_IN_MCAST_PKTS, false, false},
		{&if_mib_x_table, 5, HAL_OUT_BCAST_PKTS, false, false},
		{&if_mib_x_table, 6, HAL_IN_OCTETS, true, false},
		{&if_mib_x_table, 13, HAL_OUT_BCAST_PKTS, true, false},
		{&etherlike_mib_stats_table, 2, HAL_ALIGNMENT_ERRORS, false, true},
		{&etherlike_mib_stats_table, 16, HAL_MAC_RX_ERRORS, false, true},
		{&etherlike_mib_hc_stats_table, 4, HAL_FRAME_TOO_LONGS, true, true},
		{&etherlike_mib_control_table, 2, HAL_IN_UNKNOWN_OPCODES, false, true},
		{&etherlike_mib_pause_table, 4, HAL_OUT_PAUSE_PKTS, false, true},
		{&etherlike_mib_pause_table, 5, HAL_IN_PAUSE_PKTS, true, true},
		{&rmon_mib_stats_table, 3, HAL_RMON_DROP_EVENTS, false, true},
		{&rmon_mib_stats_table, 4, HAL_RMON_OCTETS, false, true},
		{&rmon_mib_stats_table, 19, HAL_RMON_1024_MAX, false, true},
	};
	struct mib_value value;

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		for (size_t p = 0; p < PORTS; p++) {
			uint32_t if_index = fixture_if_index(p);
			uint64_t figure = fixture_figure(if_index, cells[i].figure);
			enum mib_answer answer = get(cells[i].table,
			    port_name(cells[i].table, cells[i].column, if_index), &value);

			if (cells[i].facet && fixture_lacks_facets(if_index)) {
				ck_assert_int_eq(answer, MIB_NO_INSTANCE);
				continue;
			}
			ck_assert_int_eq(answer, MIB_FOUND);
			ck_assert_uint_eq(value.number,
			    cells[i].wide ? figure : figure & 0xffffffff);
		}
	}
}
END_TEST

START_TEST(speeds_and_truths_fit_their_types)
{
	struct mib_value value;

	fixture.ports[0].speed_bps = 10000000000;
	fixture.ports[1].speed_bps = 1000000000;
	fixture.ports[1].has_connector = false;
	get(&if_mib_table, port_name(&if_mib_table, 5, 1), &value);
	ck_assert_uint_eq(value.number, 4294967295);
	get(&if_mib_table, port_name(&if_mib_table, 5, 4), &value);
	ck_assert_uint_eq(value.number, 1000000000);
	get(&if_mib_x_table, port_name(&if_mib_x_table, 15, 1), &value);
	ck_assert_uint_eq(value.number, 10000);
	get(&if_mib_x_table, port_name(&if_mib_x_table, 17, 1), &value);
	ck_assert_int_eq(value.integer, 1);
	get(&if_mib_x_table, port_name(&if_mib_x_table, 17, 4), &value);
	ck_assert_int_eq(value.integer, 2);
}
END_TEST

/* RFC 3635: one direction alone is for more than 100 Mb/s. */
START_TEST(pause_modes)
{
	const struct mib_table *pause = &etherlike_mib_pause_table;
	struct mib_value value;

	fixture.ports[1].speed_bps = 100000000;
	get(pause, port_name(pause, 2, 1), &value);
	ck_assert_int_eq(value.integer, HAL_PAUSE_RCV);
	get(pause, port_name(pause, 2, 4), &value);
	ck_assert_int_eq(value.integer, HAL_PAUSE_DISABLED);
	get(pause, port_name(pause, 1, 4), &value);
	ck_assert_int_eq(value.integer, HAL_PAUSE_BOTH);
	ck_assert_int_eq(get(pause, port_name(pause, 1, 7), &value), MIB_NO_INSTANCE);
	get(&etherlike_mib_control_table, port_name(&etherlike_mib_control_table, 1, 1), &value);
	ck_assert_uint_eq(value.len, 1);
	ck_assert_uint_eq(value.octets[0], 0x80); /* BITS { pause(0) } */
}
END_TEST

START_TEST(layers_and_their_change)
{
	struct name top = name_of(&if_mib_stack_table, 3, 2, (uint32_t[]){0, 4});
	struct name bottom = name_of(&if_mib_stack_table, 3, 2, (uint32_t[]){4, 0});
	struct mib_value value;

	ck_assert_int_eq(get(&if_mib_stack_table, top, &value), MIB_FOUND);
	ck_assert_int_eq(value.integer, 1); /* active */
	ck_assert_int_eq(get(&if_mib_stack_table, bottom, &value), MIB_FOUND);
	get(&if_mib_last_change, port_name(&if_mib_last_change, 6, 0), &value);
	ck_assert_uint_eq(value.number, 4000); /* 20 s ago */
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

/* What an arc of an index may be: ports, parts, and what is neither. */
enum { N_ARCS = 2 * (3 * PORTS + 3) };
static uint32_t
likely_arc(uint32_t i)
{
	return i < N_ARCS / 2 ? i : HAL_PART_INDEX_PORT + i - N_ARCS / 2;
}

/* Each name that GET finds, by trying columns and indexes, sorted: what GETNEXT must give. */
static size_t
all_names(const struct mib_table *table, struct name *names)
{
	struct mib_value value;
	size_t n = 0;

	for (uint32_t column = 0; column < 30; column++) {
		for (uint32_t i = 0; i < N_ARCS; i++) {
			names[n] = port_name(table, column, likely_arc(i));
			n += get(table, names[n], &value) == MIB_FOUND;
		}
		for (uint32_t i = 0; i < N_ARCS * N_ARCS; i++) {
			names[n] = name_of(table, column, 2,
			    (uint32_t[]){likely_arc(i / N_ARCS), likely_arc(i % N_ARCS)});
			n += get(table, names[n], &value) == MIB_FOUND;
		}
		for (uint32_t i = 0; i < ADDRESSES + 2; i++) {
			names[n] = name_of(table, column, 6, (uint32_t[]){0, 0x11, 0, 0, 0, i});
			n += get(table, names[n], &value) == MIB_FOUND;
		}
		for (uint32_t i = 0; i < ADDRESSES + 2; i++) {
			names[n] = name_of(table, column, 7, (uint32_t[]){1, 0, 0x11, 0, 0, 0, i});
			n += get(table, names[n], &value) == MIB_FOUND;
		}
		for (uint32_t i = 0; i < 3 * PORTS; i++) {
			names[n] = error_name(column, fixture_if_index(i / 3), i % 3);
			n += get(table, names[n], &value) == MIB_FOUND;
		}
	}
	qsort(names, n, sizeof(*names), order);
	return n;
}

START_TEST(energy_buffers_and_error_sources)
{
	static const uint8_t last[] = {0x07, 0xea, 11, 21, 14, 0, 0, 9, '+', 0, 0};
	uint32_t i = fixture_if_index(0), without = fixture_if_index(2);
	struct mib_value value;

	ck_assert_int_eq(get(&ease_mib_energy_table, port_name(&ease_mib_energy_table, 4, i),
	    &value), MIB_FOUND);
	ck_assert_uint_eq(value.number, fixture_figure(i, 4));
	ck_assert_int_eq(get(&ease_mib_energy_table, port_name(&ease_mib_energy_table, 6, i),
	    &value), MIB_FOUND);
	ck_assert_uint_eq(value.number, 1000);
	ck_assert_int_eq(get(&ease_mib_energy_table, port_name(&ease_mib_energy_table, 1, without),
	    &value), MIB_NO_INSTANCE);
	ck_assert_int_eq(get(&ease_mib_buffer_table, port_name(&ease_mib_buffer_table, 7, i),
	    &value), MIB_FOUND);
	ck_assert_int_eq(value.integer, 3);
	ck_assert_int_eq(get(&ease_mib_buffer_table, port_name(&ease_mib_buffer_table, 10, i),
	    &value), MIB_FOUND);
	ck_assert_uint_eq(value.number, fixture_figure(i, 7));
	ck_assert_int_eq(get(&ease_mib_error_source_table, error_name(3, i, EASE_ERROR_TOO_LONG),
	    &value), MIB_FOUND);
	ck_assert_uint_eq(value.number, fixture_figure(i, 2));
	ck_assert_int_eq(get(&ease_mib_error_source_table, error_name(5, i, EASE_ERROR_FCS),
	    &value), MIB_FOUND);
	ck_assert_uint_eq(value.len, sizeof(last)); /* 2026-11-21 14:00:00.9 UTC */
	ck_assert_mem_eq(value.octets, last, sizeof(last));
}
END_TEST

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
	/* 7 ports: if 18 + x 19 columns, stack 2, bridge 3, ease 13, two error sources of 3; 5 with facets:
	 * dot3 17, 3, 6 and 6, rmon 21 and 16, energy 6, buffers 11. RMON's own: 2 controls, 5 buckets, an alarm,
	 * an event, 2 logs. VLAN 1: base 5, FDB 1, an address 2, scalars 2, current 5, static 5, a port 6.
	 * Parts: 9 of 17, 8 inside others, 7 ports, a scalar. */
	ck_assert_uint_eq(total,
	    7 * (18 + 19 + 2 + 3 + 13 + 2 * 3) + 5 * (17 + 3 + 6 + 6 + 21 + 16 + 6 + 11) + 3 * ADDRESSES + 1 + 2 +
		3 + 2 + 11 + 2 * 7 + 5 * (15 + 4) + 12 + 7 + 2 * 4 +
		5 + 1 + 2 * ADDRESSES + 2 + 5 + 5 + 7 * 6 + 9 * 17 + 8 + 7 + 1);
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

	fixture.view.hal = NULL;
	fixture.view.sampling = NULL;
	fixture.view.rmon = NULL;
	for (size_t i = 0; i < mibs_n_tables; i++) {
		struct name name = {.n = 2, .arcs = {1, 3}};
		enum mib_answer answer = next(mibs_tables[i], &name, &value);

		ck_assert_int_eq(answer, mibs_tables[i] == &ease_mib_system ? MIB_FOUND : MIB_END);
	}
}
END_TEST

START_TEST(addresses_of_vlans_stay_out_of_the_common_table)
{
	struct mib_value value;
	struct name name = {.n = 2, .arcs = {1, 3}};
	size_t n = 0;

	for (size_t i = 20; i < ADDRESSES; i++)
		fixture.addresses[i].vlan = 5;
	while (next(&bridge_mib_fdb_table, &name, &value) == MIB_FOUND)
		n++;
	ck_assert_uint_eq(n, 3 * 20);
}
END_TEST

static enum mib_answer
get_octets(const struct mib_table *table, struct name name, const void *octets, size_t len)
{
	struct mib_value value;
	enum mib_answer answer = get(table, name, &value);

	if (answer == MIB_FOUND) {
		ck_assert_uint_eq(value.len, len);
		ck_assert_mem_eq(value.octets, octets, len);
	}
	return answer;
}

/* Ports 1, 4, 7, 10, 13, 16, 19 (RFC 4363: bit 1 of an octet is its highest). */
START_TEST(a_bridge_without_vlans_shows_vlan_1)
{
	static const uint8_t all[] = {0x92, 0x49, 0x20}, none[] = {0, 0, 0};
	const struct mib_table *current = &q_bridge_mib_current_table;
	struct mib_value value;
	struct name name = name_of(current, 4, 2, (uint32_t[]){0, 1});

	ck_assert_int_eq(get_octets(current, name, all, 3), MIB_FOUND);
	ck_assert_int_eq(get_octets(&q_bridge_mib_static_table,
	    port_name(&q_bridge_mib_static_table, 3, 1), none, 3), MIB_FOUND);
	ck_assert_int_eq(get_octets(&q_bridge_mib_static_table,
	    port_name(&q_bridge_mib_static_table, 4, 1), all, 3), MIB_FOUND);
	get(&q_bridge_mib_fdb_table, port_name(&q_bridge_mib_fdb_table, 2, 1), &value);
	ck_assert_uint_eq(value.number, ADDRESSES);
	get(&q_bridge_mib_base, port_name(&q_bridge_mib_base, 4, 0), &value);
	ck_assert_uint_eq(value.number, 1);
	/* A port came 1.01 s after the master's start: the row is there for every mark up to it. */
	fixture.vlans[0].changed_mono_us = 41010000;
	name.arcs[name.n - 2] = 101;
	ck_assert_int_eq(get(current, name, &value), MIB_FOUND);
	ck_assert_int_eq(next(current, &name, &value), MIB_FOUND);
	ck_assert_uint_eq(name.arcs[current->entry.n], 5); /* the next column */
	name = name_of(current, 4, 2, (uint32_t[]){102, 1});
	ck_assert_int_eq(get(current, name, &value), MIB_NO_INSTANCE);
}
END_TEST

/* Of a VLAN-aware bridge: addresses by VLAN, those of none left out, and no VLAN 1 made up. */
START_TEST(a_bridge_with_vlans_shows_addresses_by_vlan)
{
	const struct mib_table *fdb = &q_bridge_mib_tp_fdb_table;
	struct name name = {.n = 2, .arcs = {1, 3}};
	struct mib_value value;
	size_t n = 0;

	for (size_t i = 20; i < ADDRESSES; i++)
		fixture.addresses[i].vlan = 5;
	fixture.vlans[0].n_learned = 20;
	fixture.vlans[1] = (struct hal_vlan){.vlan = 5, .n_learned = ADDRESSES - 20};
	fixture.snapshot.n_vlans = 2;
	while (next(fdb, &name, &value) == MIB_FOUND) {
		ck_assert_uint_eq(name.arcs[fdb->entry.n + 1], 5);
		n++;
	}
	ck_assert_uint_eq(n, 2 * (ADDRESSES - 20));
	name = (struct name){.n = 2, .arcs = {1, 3}};
	ck_assert_int_eq(next(&q_bridge_mib_fdb_table, &name, &value), MIB_FOUND);
	ck_assert_uint_eq(value.number, ADDRESSES - 20);
	ck_assert_int_eq(next(&q_bridge_mib_fdb_table, &name, &value), MIB_END);
	name = (struct name){.n = 2, .arcs = {1, 3}};
	ck_assert_int_eq(next(&q_bridge_mib_current_table, &name, &value), MIB_END);
	ck_assert_int_eq(next(&q_bridge_mib_port_table, &name, &value), MIB_END);
}
END_TEST

START_TEST(parts_of_the_switch)
{
	const struct mib_table *physical = &entity_mib_physical_table;
	static const uint32_t if_index_4[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 1, 4};
	struct mib_value value;

	get(physical, port_name(physical, 4, 1004), &value);
	ck_assert_int_eq(value.integer, 2);
	get(physical, port_name(physical, 6, 1), &value);
	ck_assert_int_eq(value.integer, -1);
	ck_assert_int_eq(get_octets(physical, port_name(physical, 13, 2), "X1", 2), MIB_FOUND);
	ck_assert_int_eq(get_octets(physical, port_name(physical, 11, 2), "", 0), MIB_FOUND);
	get(&entity_mib_alias_table, name_of(&entity_mib_alias_table, 2, 2, (uint32_t[]){1004, 0}),
	    &value);
	ck_assert_uint_eq(value.len, 11);
	ck_assert_mem_eq(value.arcs, if_index_4, sizeof(if_index_4));
	get(&entity_mib_general, port_name(&entity_mib_general, 1, 0), &value);
	ck_assert_uint_eq(value.number, 5000); /* 10 s ago */
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
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 1), integer(MIB_GAUGE32, 524289)),
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
	ck_assert_int_eq(add(&t, port, port_name(port, 2, 1), integer(MIB_GAUGE32, 524288)),
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

/* ---- names against somebody else's list ---- */

#define ORACLE "/usr/share/doc/ruby-snmp/yaml/"

/* The OID that a module's list gives a name; "" if it does not know it. */
static void
oracle_lookup(const char *module, const char *name, char *numeric, size_t size)
{
	char line[512], path[256];
	FILE *file;

	numeric[0] = '\0';
	snprintf(path, sizeof(path), ORACLE "%s.yaml", module);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':'), *value;

		if (!colon || strncmp(line, name, (size_t)(colon - line)) != 0 ||
		    strlen(name) != (size_t)(colon - line))
			continue;
		value = colon + 1 + strspn(colon + 1, " \"'");
		value[strcspn(value, "\"' \n")] = '\0';
		snprintf(numeric, size, "%s", value);
	}
	if (file)
		fclose(file);
}

static bool
is_known_name(const char *name, const char *oid)
{
	static const char *const modules[] = {"IF-MIB", "EtherLike-MIB", "RMON-MIB",
	    "HC-RMON-MIB", "BRIDGE-MIB", "Q-BRIDGE-MIB", "ENTITY-MIB"};
	char numeric[256];

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		oracle_lookup(modules[i], name, numeric, sizeof(numeric));
		if (strcmp(numeric, oid) == 0)
			return true;
	}
	return false;
}

START_TEST(numeric_names_are_the_rfcs)
{
	char *listing = NULL, *save = NULL;
	size_t size = 0, n = 0;
	FILE *out = open_memstream(&listing, &size);
	FILE *oracle = fopen(ORACLE "IF-MIB.yaml", "r");

	mib_list_objects(out);
	fclose(out);
	if (!oracle)
		printf("left out: no oracle in " ORACLE "\n");
	for (char *line = strtok_r(listing, "\n", &save); line && oracle;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[64], oid[128], *scalar;

		ck_assert_int_eq(sscanf(line, "%63s %127s", name, oid), 2);
		if (strncmp(name, "ease", 4) == 0)
			continue;
		scalar = strlen(oid) > 2 ? oid + strlen(oid) - 2 : oid;
		if (strcmp(scalar, ".0") == 0)
			*scalar = '\0';
		ck_assert_msg(is_known_name(name, oid), "%s is not %s", name, oid);
		n++;
	}
	ck_assert(!oracle || n == 1 + 18 + 19 + 1 + 2 + 17 + 3 + 6 + 6 + 21 + 16 + 7 + 15 + 4 + 12 + 7 + 4 + 3 + 3 +
	    2 + 3 + 5 + 1 + 2 + 2 + 5 + 5 + 6 + 17 + 1 + 1 + 1);
	if (oracle)
		fclose(oracle);
	free(listing);
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
	tcase_add_test(tables, every_figure_can_be_read);
	tcase_add_test(tables, speeds_and_truths_fit_their_types);
	tcase_add_test(tables, layers_and_their_change);
	tcase_add_test(tables, pause_modes);
	tcase_add_test(tables, time_stamps_follow_the_masters_uptime);
	tcase_add_test(tables, getnext_visits_what_get_finds);
	tcase_add_test(tables, energy_buffers_and_error_sources);
	tcase_add_test(tables, getnext_takes_any_name);
	tcase_add_test(tables, getnext_from_outside);
	tcase_add_test(tables, get_wants_the_exact_name);
	tcase_add_test(tables, an_empty_view_serves_nothing);
	tcase_add_test(tables, addresses_of_vlans_stay_out_of_the_common_table);
	tcase_add_test(tables, a_bridge_without_vlans_shows_vlan_1);
	tcase_add_test(tables, a_bridge_with_vlans_shows_addresses_by_vlan);
	tcase_add_test(tables, parts_of_the_switch);
	tcase_add_test(tables, numeric_names_are_the_rfcs);
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
