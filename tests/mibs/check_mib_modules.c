/*
 * The contents of the tables of mibs/: figures in both widths, truth values, speeds, pause modes,
 * VLANs, parts, energy, buffers and error sources of an invented switch. Compares the OIDs with
 * another source (ruby-snmp's lists of about 270 modules) if it is installed.
 */
#include "mibs/mibs.h"
#include "mibs/modules.h"
#include "tests/mibs/mib_fixture.h"
#include "tests/mibs/mib_names.h"
#include "tests/suite.h"

#include <check.h>
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

/* Two ports are members of the last one: those that are neither have no row. */
START_TEST(aggregates_and_members)
{
	struct name walked = name_of(&lag_mib_member_table, 13, 0, NULL);
	struct mib_value value;

	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(next(&lag_mib_member_table, &walked, &value), MIB_FOUND);
		ck_assert_uint_eq(walked.arcs[walked.n - 1], fixture_if_index(2 * i));
		ck_assert_int_eq(value.integer, fixture_if_index(PORTS - 1));
	}
	ck_assert_int_eq(next(&lag_mib_member_table, &walked, &value), MIB_FOUND);
	ck_assert_uint_eq(walked.arcs[walked.n - 2], 24);
	ck_assert_int_eq(get(&lag_mib_ports_table, port_name(&lag_mib_ports_table, 1, fixture_if_index(PORTS - 1)), &value),
	    MIB_FOUND);
	for (size_t i = 0; i < PORTS; i++) {
		uint32_t bit = fixture_if_index(i) - 1;
		struct mib_value of_port;

		ck_assert_int_eq(bit / 8 < value.len && (value.octets[bit / 8] << bit % 8 & 0x80) != 0, i == 0 || i == 2);
		ck_assert_int_eq(get(&lag_mib_aggregate_table, port_name(&lag_mib_aggregate_table, 5, fixture_if_index(i)), &of_port) ==
		    MIB_FOUND, i == PORTS - 1);
	}
}
END_TEST

/* dot1dTp counts all good frames but MAC control's; 32 bits, what went over them, and 64 bits. */
START_TEST(bridge_ports_count_frames)
{
	uint64_t in = fixture_figure(4, HAL_IN_UCAST_PKTS) + fixture_figure(4, HAL_IN_MCAST_PKTS) +
	    fixture_figure(4, HAL_IN_BCAST_PKTS);
	struct mib_value low, high, whole;

	get(&bridge_mib_tp_port_table, port_name(&bridge_mib_tp_port_table, 3, 4), &low);
	get(&bridge_mib_tp_overflow_table, port_name(&bridge_mib_tp_overflow_table, 1, 4), &high);
	get(&bridge_mib_tp_hc_port_table, port_name(&bridge_mib_tp_hc_port_table, 1, 4), &whole);
	ck_assert_uint_eq(whole.number, in);
	ck_assert_uint_eq(high.number << 32 | low.number, in);
	get(&bridge_mib_base_port_table, port_name(&bridge_mib_base_port_table, 5, 4), &low);
	ck_assert_uint_eq(low.number, (uint32_t)fixture_figure(4, HAL_FRAME_TOO_LONGS));
	/* Groups that are not told apart are among the unicast. */
	fixture.ports[1].counters.known &= ~(1ull << HAL_IN_MCAST_PKTS);
	get(&bridge_mib_tp_hc_port_table, port_name(&bridge_mib_tp_hc_port_table, 1, 4), &whole);
	ck_assert_uint_eq(whole.number, in - fixture_figure(4, HAL_IN_MCAST_PKTS));
	fixture.ports[1].counters.known &= ~(1ull << HAL_IN_UCAST_PKTS);
	ck_assert_int_eq(get(&bridge_mib_tp_hc_port_table,
	    port_name(&bridge_mib_tp_hc_port_table, 1, 4), &whole), MIB_NO_INSTANCE);
}
END_TEST

/* Interfaces outside the bridge, as on a router with a bridge, are not ports of the bridge. */
START_TEST(ports_beside_the_bridge_are_not_its_ports)
{
	const struct mib_table *const tables[] = {&bridge_mib_base_port_table,
	    &bridge_mib_tp_port_table, &bridge_mib_tp_hc_port_table, &q_bridge_mib_port_table};
	uint32_t columns[] = {1, 1, 1, 1}, next[MIB_OID_MAX];
	struct mib_value value;
	size_t n;

	fixture.ports[1].off_bridge = true;
	fixture.ports[1].base_port = 0;
	fixture.snapshot.n_bridge_ports--;
	memmove(&fixture.bridge_ports[1], &fixture.bridge_ports[2], (PORTS - 2) * sizeof(fixture.bridge_ports[0]));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct name beside = port_name(tables[i], columns[i], fixture_if_index(1));
		struct name after = port_name(tables[i], columns[i], fixture_if_index(2));
		struct name before = port_name(tables[i], columns[i], fixture_if_index(0));

		ck_assert_int_eq(get(tables[i], beside, &value), MIB_NO_INSTANCE);
		ck_assert_int_eq(get(tables[i], after, &value), MIB_FOUND);
		ck_assert_int_eq(mib_get_next(tables[i], &context, before.arcs, before.n, next, &n,
		    &value), MIB_FOUND);
		ck_assert_uint_eq(n, after.n);
		ck_assert_mem_eq(next, after.arcs, n * sizeof(*next));
	}
	get(&bridge_mib_base, port_name(&bridge_mib_base, 2, 0), &value);
	ck_assert_int_eq(value.integer, PORTS - 1);
	get(&if_mib_x_table, port_name(&if_mib_x_table, 16, fixture_if_index(1)), &value);
	ck_assert_int_eq(value.integer, 2); /* it takes only what is for it */
}
END_TEST

/* A driver may have any of a table's figures. One is enough for a row; the others are absent. */
START_TEST(a_row_has_the_figures_of_the_driver)
{
	static const struct {
		const struct mib_table *table;
		enum hal_figure figure; /* that is known, alone */
		uint32_t column, other, index; /* its column, one that is absent, one that all rows have */
	} rows[] = {
	    {&etherlike_mib_stats_table, HAL_SYMBOL_ERRORS, 18, 3, 1},
	    {&etherlike_mib_control_table, HAL_IN_UNKNOWN_OPCODES, 2, 0, 1},
	    {&rmon_mib_stats_table, HAL_RMON_JABBERS, 12, 5, 1},
	};
	struct hal_port *port = &fixture.ports[1];
	struct mib_value value;

	port->duplex = EASE_DUPLEX_UNKNOWN;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct mib_table *table = rows[i].table;

		port->counters.known = 1ull << rows[i].figure;
		ck_assert_int_eq(get(table, port_name(table, rows[i].column, 4), &value), MIB_FOUND);
		ck_assert_int_eq(get(table, port_name(table, rows[i].index, 4), &value), MIB_FOUND);
		if (rows[i].other)
			ck_assert_int_eq(get(table, port_name(table, rows[i].other, 4), &value),
			    MIB_NO_INSTANCE);
		port->counters.known = 1ull << HAL_IN_OCTETS;
		ck_assert_int_eq(
		    get(table, port_name(table, rows[i].index, 4), &value), MIB_NO_INSTANCE);
	}
	port->duplex = EASE_DUPLEX_FULL; /* which stands nowhere else */
	ck_assert_int_eq(get(&etherlike_mib_stats_table,
	    port_name(&etherlike_mib_stats_table, 19, 4), &value), MIB_FOUND);
	fixture.snapshot.has_address_discards = false;
	ck_assert_int_eq(
	    get(&bridge_mib_tp, port_name(&bridge_mib_tp, 1, 0), &value), MIB_NO_INSTANCE);
}
END_TEST

START_TEST(addresses_of_vlans_stay_out_of_the_common_table)
{
	struct mib_value value;
	struct name name = {.n = 2, .arcs = {1, 3}};
	size_t n = 0;

	fixture.snapshot.n_common_addresses = 20;
	while (next(&bridge_mib_fdb_table, &name, &value) == MIB_FOUND)
		n++;
	ck_assert_uint_eq(n, 3 * 20);
}
END_TEST

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
	/* A port came 1.01 s after the master's start: the row is there for every mark up to it, and once in a walk. */
	fixture.vlans[0].changed_mono_us = 41010000;
	name.arcs[name.n - 2] = 101;
	ck_assert_int_eq(get(current, name, &value), MIB_FOUND);
	ck_assert_int_eq(next(current, &name, &value), MIB_FOUND);
	ck_assert_uint_eq(name.arcs[current->entry.n], 5); /* the next column */
	name = name_of(current, 4, 2, (uint32_t[]){102, 1});
	ck_assert_int_eq(get(current, name, &value), MIB_NO_INSTANCE);
}
END_TEST

/* Cells that a walk of all tables gives. */
static size_t
cells(void)
{
	struct mib_value value;
	size_t n = 0;

	for (size_t i = 0; i < mibs_n_tables; i++)
		for (struct name name = {.n = 2, .arcs = {1, 3}}; next(mibs_tables[i], &name, &value) == MIB_FOUND;)
			n++;
	return n;
}

START_TEST(a_walk_is_as_long_after_a_month)
{
	const size_t n = cells();

	context.mono_us += 30 * 86400000000ull;
	fixture.snapshot.mono_us = context.mono_us;
	fixture.vlans[0].changed_mono_us = fixture.snapshot.ports_changed_mono_us = context.mono_us - 1000000;
	ck_assert_uint_eq(cells(), n);
}
END_TEST

/* Two bridges without VLANs: the first is the one that dot1dBase speaks of, and the other has a filtering database that is
 * no VLAN's. Port lists have ports of both, with numbers that are no ifIndexes. */
START_TEST(a_second_bridge_has_a_database_of_its_own)
{
	static const uint8_t bridge[6] = {2, 9, 9, 9, 9, 9};
	struct hal_port *first = &fixture.ports[0], *last = &fixture.ports[PORTS - 1];
	uint8_t members[129] = {0};
	struct mib_value value;
	struct name name = {.n = 2, .arcs = {1, 3}};
	size_t n = 0;

	first->if_type = 209; /* bridge */
	memcpy(first->mac, bridge, sizeof(bridge));
	fixture.snapshot.bridge_ports++;
	fixture.snapshot.n_bridge_ports--;
	for (size_t i = 1; i < PORTS; i++)
		fixture.ports[i].bridge = i < 3 ? first->if_index : 999;
	last->base_port = 1025;
	for (size_t i = 1; i < PORTS; i++) {
		fixture.ranges[i].base_port = fixture.ports[i].base_port;
		members[(fixture.ports[i].base_port - 1) / 8] |= 0x80 >> (fixture.ports[i].base_port - 1) % 8;
	}
	fixture.ranges[0].base_port = 0;
	for (size_t i = 2 * ADDRESSES - 20; i < 2 * ADDRESSES; i++)
		fixture.addresses[i].fdb = HAL_LOCAL_FDB + 999;
	fixture.vlans[1] = (struct hal_vlan){.vlan = HAL_LOCAL_FDB + 999, .n_learned = 20};
	fixture.snapshot.n_fdbs = 2;
	get(&bridge_mib_base, port_name(&bridge_mib_base, 2, 0), &value);
	ck_assert_int_eq(value.integer, 2);
	ck_assert_int_eq(get_octets(&bridge_mib_base, port_name(&bridge_mib_base, 1, 0), bridge, 6), MIB_FOUND);
	get(&bridge_mib_base_port_table, port_name(&bridge_mib_base_port_table, 2, 1025), &value);
	ck_assert_int_eq(value.integer, (int)last->if_index);
	ck_assert_int_eq(get_octets(&q_bridge_mib_static_table, port_name(&q_bridge_mib_static_table, 2, 1), members,
	    sizeof(members)), MIB_FOUND);
	get(&q_bridge_mib_fdb_table, port_name(&q_bridge_mib_fdb_table, 2, HAL_LOCAL_FDB + 999), &value);
	ck_assert_uint_eq(value.number, 20);
	while (next(&q_bridge_mib_tp_fdb_table, &name, &value) == MIB_FOUND)
		n += name.arcs[q_bridge_mib_tp_fdb_table.entry.n + 1] == HAL_LOCAL_FDB + 999;
	ck_assert_uint_eq(n, 2 * 20);
	name = (struct name){.n = 2, .arcs = {1, 3}};
	for (n = 0; next(&q_bridge_mib_static_table, &name, &value) == MIB_FOUND; n++)
		;
	ck_assert_uint_eq(n, 5); /* VLAN 1 alone */
}
END_TEST

/* Of a VLAN-aware bridge: addresses by VLAN, those of none left out, and no VLAN 1 made up. */
START_TEST(a_bridge_with_vlans_shows_addresses_by_vlan)
{
	const struct mib_table *fdb = &q_bridge_mib_tp_fdb_table;
	struct name name = {.n = 2, .arcs = {1, 3}};
	struct mib_value value;
	size_t n = 0;

	for (size_t i = ADDRESSES; i < 2 * ADDRESSES; i++)
		fixture.addresses[i].fdb = fixture.addresses[i].vlan = 5;
	fixture.snapshot.n_common_addresses = fixture.snapshot.fdb_addresses = ADDRESSES + 20;
	fixture.vlans[0] = (struct hal_vlan){.vlan = 5, .n_learned = ADDRESSES - 20};
	fixture.snapshot.vlan_aware = true;
	fixture.snapshot.knows_members = false;
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

/* Below 0, unavailable, and when they were read. */
START_TEST(sensors_say_values_and_status)
{
	const struct mib_table *sensors = &entity_sensor_mib_table;
	struct mib_value value;

	get(sensors, port_name(sensors, 4, 500), &value);
	ck_assert_int_eq(value.integer, -5500);
	get(sensors, port_name(sensors, 3, 500), &value);
	ck_assert_int_eq(value.integer, 3);
	get(sensors, port_name(sensors, 5, 501), &value);
	ck_assert_int_eq(value.integer, 2);
	ck_assert_int_eq(get_octets(sensors, port_name(sensors, 6, 500), "degrees Celsius", 15), MIB_FOUND);
	get(sensors, port_name(sensors, 7, 500), &value);
	ck_assert_uint_eq(value.number, 3000); /* 30 s ago */
}
END_TEST

/* Identities are octets of their kind, whatever they are; a row is there at each mark up to when it changed. */
START_TEST(lldp_names_both_ends)
{
	static const uint8_t own[] = {2, 0, 0, 0, 0, 1}, address[] = {1, 192, 0, 2, 1}, odd[] = {0, 0xff, '\n'};
	const struct mib_table *remote = &lldp_mib_remote_table;
	struct name second = name_of(remote, 5, 3, (uint32_t[]){0, 1, 3}), first = name_of(remote, 9, 3, (uint32_t[]){3000, 1, 2});
	struct mib_value value;

	ck_assert_int_eq(get_octets(&lldp_mib_local, port_name(&lldp_mib_local, 2, 0), own, sizeof(own)), MIB_FOUND);
	get(&lldp_mib_local, port_name(&lldp_mib_local, 1, 0), &value);
	ck_assert_int_eq(value.integer, 4);
	ck_assert_int_eq(get_octets(&lldp_mib_local_port_table, port_name(&lldp_mib_local_port_table, 3, 1), "etp1", 4), MIB_FOUND);
	ck_assert_int_eq(get_octets(remote, second, address, sizeof(address)), MIB_FOUND);
	second.arcs[remote->entry.n] = 7;
	ck_assert_int_eq(get_octets(remote, second, odd, sizeof(odd)), MIB_FOUND);
	ck_assert_int_eq(get_octets(remote, first, "core", 4), MIB_FOUND); /* it changed 30 s after the start */
	first.arcs[remote->entry.n + 1] = 3001;
	ck_assert_int_eq(get(remote, first, &value), MIB_NO_INSTANCE);
	fixture.snapshot.has_lldp = false;
	fixture.snapshot.lldp.n_ports = fixture.snapshot.lldp.n_neighbours = 0;
	ck_assert_int_eq(get(&lldp_mib_local, port_name(&lldp_mib_local, 2, 0), &value), MIB_NO_INSTANCE);
}
END_TEST

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
	fixture.ports[0].energy.counts = false; /* as on Linux: a state alone */
	ck_assert_int_eq(get(&ease_mib_energy_table, port_name(&ease_mib_energy_table, 6, i),
	    &value), MIB_NO_INSTANCE);
	get(&ease_mib_energy_table, port_name(&ease_mib_energy_table, 7, i), &value);
	ck_assert_int_eq(value.integer, HAL_EEE_ENABLED);
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

/* ---- names against another list ---- */

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
	    "HC-RMON-MIB", "HC-ALARM-MIB", "BRIDGE-MIB",
	    "P-BRIDGE-MIB", "Q-BRIDGE-MIB", "ENTITY-MIB", "ENTITY-SENSOR-MIB"};
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
		printf("left out: the package ruby-snmp is not there, no oracle in " ORACLE "\n");
	for (char *line = strtok_r(listing, "\n", &save); line && oracle;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[64], oid[128], *scalar;

		ck_assert_int_eq(sscanf(line, "%63s %127s", name, oid), 2);
		/* It has no IEEE8023-LAG-MIB and no LLDP-MIB. */
		if (strncmp(name, "ease", 4) == 0 || strncmp(name, "dot3ad", 6) == 0 || strncmp(name, "lldp", 4) == 0)
			continue;
		scalar = strlen(oid) > 2 ? oid + strlen(oid) - 2 : oid;
		if (strcmp(scalar, ".0") == 0)
			*scalar = '\0';
		ck_assert_msg(is_known_name(name, oid), "%s is not %s", name, oid);
		n++;
	}
	ck_assert(!oracle || n == 1 + 18 + 19 + 1 + 2 + 17 + 3 + 6 + 6 + 21 + 16 + 7 + 15 + 4 +
	    12 + 7 + 4 + 18 + 1 + 3 + 3 + 2 + 3 + 2 + 4 + 2 + 2 + 4 + 5 + 1 + 2 + 2 + 5 + 5 + 6 + 17 + 1 + 1 + 1 + 8);
	if (oracle)
		fclose(oracle);
	free(listing);
}
END_TEST

/* sysORID of each module is its MODULE-IDENTITY. */
START_TEST(modules_are_named_by_their_identities)
{
	static const char *const identities[][2] = {{"IF-MIB", "ifMIB"}, {"EtherLike-MIB", "etherMIB"},
	    {"RMON-MIB", "rmonMibModule"}, {"HC-RMON-MIB", "hcRMON"}, {"HC-ALARM-MIB", "hcAlarmMIB"},
	    {"BRIDGE-MIB", "dot1dBridge"}, {"P-BRIDGE-MIB", "pBridgeMIB"},
	    {"Q-BRIDGE-MIB", "qBridgeMIB"}, {"ENTITY-MIB", "entityMIB"}, {"ENTITY-SENSOR-MIB", "entitySensorMIB"}};
	enum { N_IDENTITIES = sizeof(identities) / sizeof(identities[0]) };
	FILE *oracle = fopen(ORACLE "IF-MIB.yaml", "r");

	if (!oracle) {
		printf("left out: the package ruby-snmp is not there, no oracle in " ORACLE "\n");
		return;
	}
	fclose(oracle);
	ck_assert_uint_eq(mibs_n_modules, N_IDENTITIES + 3); /* IEEE's two, which it has not, and our own */
	for (size_t i = 0; i < N_IDENTITIES; i++) {
		const struct mib_module *module = &mibs_modules[i];
		char expected[256], numeric[256] = "";
		size_t used = 0;

		oracle_lookup(identities[i][0], identities[i][1], expected, sizeof(expected));
		for (size_t k = 0; k < module->identity.n; k++)
			used += (size_t)snprintf(numeric + used, sizeof(numeric) - used, "%s%u",
			    k ? "." : "", (unsigned)module->identity.arcs[k]);
		ck_assert_str_eq(numeric, expected);
		ck_assert_int_eq(strncmp(module->descr, identities[i][0], strlen(identities[i][0])), 0);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("mib_modules");
	TCase *tables = tcase_create("tables");

	tcase_add_checked_fixture(tables, setup, teardown);
	tcase_add_test(tables, every_figure_can_be_read);
	tcase_add_test(tables, speeds_and_truths_fit_their_types);
	tcase_add_test(tables, pause_modes);
	tcase_add_test(tables, layers_and_their_change);
	tcase_add_test(tables, aggregates_and_members);
	tcase_add_test(tables, bridge_ports_count_frames);
	tcase_add_test(tables, a_row_has_the_figures_of_the_driver);
	tcase_add_test(tables, ports_beside_the_bridge_are_not_its_ports);
	tcase_add_test(tables, addresses_of_vlans_stay_out_of_the_common_table);
	tcase_add_test(tables, a_bridge_without_vlans_shows_vlan_1);
	tcase_add_test(tables, a_bridge_with_vlans_shows_addresses_by_vlan);
	tcase_add_test(tables, a_walk_is_as_long_after_a_month);
	tcase_add_test(tables, a_second_bridge_has_a_database_of_its_own);
	tcase_add_test(tables, parts_of_the_switch);
	tcase_add_test(tables, sensors_say_values_and_status);
	tcase_add_test(tables, lldp_names_both_ends);
	tcase_add_test(tables, energy_buffers_and_error_sources);
	tcase_add_test(tables, numeric_names_are_the_rfcs);
	tcase_add_test(tables, modules_are_named_by_their_identities);
	suite_add_tcase(suite, tables);
	return suite_run(suite);
}
