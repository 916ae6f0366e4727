/*
 * The HAL over a fake device: 64-bit totals by the rules of each counter's row, figures that never
 * decrease, sorted snapshots that are built in slices, and missing facets.
 */
#include "agent/hal/abilities.h"
#include "agent/hal/hal_private.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

static struct fake_device fake;
static struct clock test_clock;
static struct hal *hal;

static void
set_up(void)
{
	test_clock = (struct clock){.manual = true, .manual_mono_us = 5000000};
	fake_init(&fake, FAKE_PORTS);
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
}

static void
tear_down(void)
{
	hal_destroy(hal);
}

static uint64_t
figure(uint32_t if_index, enum hal_figure which)
{
	struct hal_counters c;

	ck_assert_int_eq(hal_read_counters(hal, if_index, &c), 0);
	return c.value[which];
}

static const struct hal_snapshot *
fresh_snapshot(void)
{
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	return hal_snapshot_hold(hal);
}

START_TEST(wrap_goes_on)
{
	uint64_t *raw = &fake.ports[0].raw[FAKE_WRAPS];

	*raw = 0xfffffff0;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), 0xfffffff0);
	*raw = 0x10;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), 0x100000010);
}
END_TEST

/* counters-84302.md 2.1 item 1: read at the maximum, one event, read: 1 more, not 2. */
START_TEST(maximum_was_zeroed_by_its_read)
{
	uint64_t *raw = &fake.ports[0].raw[FAKE_WRAPS];

	*raw = UINT32_MAX;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), UINT32_MAX);
	*raw += 1;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), (uint64_t)UINT32_MAX + 1);
}
END_TEST

START_TEST(clear_on_read_adds_up)
{
	fake.ports[1].raw[FAKE_CLEARS] = 7;
	ck_assert_uint_eq(figure(20, HAL_IN_ERRORS), 7);
	ck_assert_uint_eq(figure(20, HAL_IN_ERRORS), 7);
	fake.ports[1].raw[FAKE_CLEARS] = 3;
	ck_assert_uint_eq(figure(20, HAL_IN_ERRORS), 10);
}
END_TEST

START_TEST(figures_never_decrease)
{
	fake.ports[0].raw[FAKE_TOTAL] = 50;
	ck_assert_uint_eq(figure(10, HAL_IN_MCAST_PKTS), 50);
	fake.ports[0].raw[FAKE_WRAPS] = 20;
	ck_assert_uint_eq(figure(10, HAL_IN_MCAST_PKTS), 50);
	fake.ports[0].raw[FAKE_TOTAL] = 90;
	ck_assert_uint_eq(figure(10, HAL_IN_MCAST_PKTS), 70);
}
END_TEST

START_TEST(failed_read_keeps_total_and_counts)
{
	fake.ports[0].raw[FAKE_TOTAL] = 50;
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), 50);
	fake.ports[0].raw[FAKE_TOTAL] = 80;
	fake.read_error = -EIO;
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), 50);
	ck_assert_uint_eq(stat_get(hal_stats(hal), HAL_STAT_COUNTER_READ_ERRORS), FAKE_N_ROWS);
	fake.read_error = 0;
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), 80);
}
END_TEST

START_TEST(rows_that_have_not_changed_are_not_read)
{
	fake.says_same = true;
	fake.ports[0].raw[FAKE_TOTAL] = 50; /* never read before: it is now, whatever the device says */
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), 50);
	fake.ports[0].raw[FAKE_TOTAL] = 60;
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), 50);
	fake.says_same = false;
	fake.read_error = -EIO;
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), 50);
	fake.says_same = true;
	fake.read_error = 0; /* what could not be read is still to be read */
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), 60);
	hal_report_counters_reset(hal, 10);
	fake.ports[0].raw[FAKE_WRAPS] = 5;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), 5);
}
END_TEST

static void
at(uint64_t mono_us)
{
	test_clock.manual_mono_us = mono_us;
	test_clock.manual_wall_us = 1000000000000000 + mono_us;
}

/* The run that stops at 50 s saves, and one that begins at 60 s with these changes restores. */
static const struct hal_snapshot *
restart(void (*change)(void))
{
	uint64_t ports[FAKE_PORTS][HAL_MAX_CHANGES], lists[HAL_MAX_CHANGES];
	size_t n_ports = hal_n_ports(hal), n = 0, n_lists;

	at(50000000);
	for (size_t i = 0; i < n_ports; i++)
		n = hal_save_changes(hal, hal_port_if_index(hal, i), ports[i]);
	n_lists = hal_save_changes(hal, 0, lists);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_gt(n_lists, n);
	hal_destroy(hal);
	at(60000000);
	change();
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
	for (size_t i = 0; i < n_ports; i++)
		hal_restore_changes(hal, (uint32_t)(10 * (i + 1)), ports[i], n);
	hal_restore_changes(hal, 0, lists, n_lists);
	return fresh_snapshot();
}

static void
nothing(void)
{
}

static void
a_port_comes_up(void)
{
	fake.ports[0].oper_status = EASE_IF_UP;
}

static void
one_runs_on_another(void)
{
	fake.ports[0].lower = 20;
}

static void
a_port_is_unplugged(void)
{
	fake.n_ports--;
}

static void
the_machine_boots(void)
{
	test_clock.manual_mono_us = 3000000;
	fake.ports[0].oper_status = EASE_IF_DOWN;
}

START_TEST(times_of_changes_go_on_over_a_restart)
{
	const struct hal_snapshot *s = fresh_snapshot();

	hal_snapshot_release(s);
	fake.ports[0].oper_status = EASE_IF_DOWN;
	at(7000000);
	hal_report_port_changed(hal, 10);
	fake.n_ports--;
	at(8000000);
	hal_report_port_changed(hal, 30);
	s = fresh_snapshot();
	ck_assert_uint_eq(s->ports_changed_mono_us, 8000000);
	ck_assert_uint_eq(s->structure->parts_changed_mono_us, 8000000);
	hal_snapshot_release(s);

	s = restart(nothing);
	ck_assert_uint_eq(s->ports[0].last_change_mono_us, 7000000);
	ck_assert_uint_eq(s->ports_changed_mono_us, 8000000);
	ck_assert_uint_eq(s->structure->parts_changed_mono_us, 8000000);
	ck_assert_uint_eq(s->structure->layers_changed_mono_us, 8000000);
	hal_snapshot_release(s);
	s = restart(a_port_comes_up);
	ck_assert_uint_eq(s->ports[0].last_change_mono_us, 60000000);
	ck_assert_uint_eq(s->ports_changed_mono_us, 8000000);
	hal_snapshot_release(s);
	s = restart(one_runs_on_another);
	ck_assert_uint_eq(s->structure->layers_changed_mono_us, 60000000);
	ck_assert_uint_eq(s->structure->parts_changed_mono_us, 8000000);
	hal_snapshot_release(s);
	s = restart(a_port_is_unplugged);
	ck_assert_uint_eq(s->ports_changed_mono_us, 60000000);
	ck_assert_uint_eq(s->structure->parts_changed_mono_us, 60000000);
	hal_snapshot_release(s);
	s = restart(the_machine_boots);
	ck_assert_uint_eq(s->ports_changed_mono_us, 0);
	ck_assert_uint_eq(s->structure->parts_changed_mono_us, 0);
	ck_assert_uint_eq(s->ports[0].last_change_mono_us, 0);
	hal_snapshot_release(s);
}
END_TEST

START_TEST(device_reset_keeps_totals_and_says_so)
{
	struct hal_port info;

	fake.ports[0].raw[FAKE_WRAPS] = 1000;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), 1000);
	fake.ports[0].raw[FAKE_WRAPS] = 0;
	hal_report_counters_reset(hal, 10);
	fake.ports[0].raw[FAKE_WRAPS] = 5;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), 1005);
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 5000000);
	ck_assert_uint_eq(info.discontinuity_us, fake.now_us);
}
END_TEST

/* RFC 2863 section 3.1.5: of 64 bits, a value less than before is no wrap. */
START_TEST(a_total_that_goes_back_is_a_discontinuity)
{
	uint64_t octets, *raw = &fake.ports[0].raw[FAKE_TOTAL];
	struct hal_port info;

	*raw = 1ull << 40;
	octets = figure(10, HAL_OUT_OCTETS);
	test_clock.manual_mono_us = 7000000;
	*raw += 500;
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), octets + 500);
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 0);
	*raw = 40; /* the driver was reset */
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), octets + 500);
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 7000000);
	test_clock.manual_mono_us = 8000000;
	*raw = 140;
	ck_assert_uint_eq(figure(10, HAL_OUT_OCTETS), octets + 600);
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 7000000);
	ck_assert_uint_eq(stat_get(hal_stats(hal), HAL_STAT_COUNTERS_RESTARTED), 1);
}
END_TEST

START_TEST(totals_survive_a_restart)
{
	uint64_t totals[HAL_MAX_COUNTER_ROWS];
	size_t n;

	fake.ports[0].raw[FAKE_WRAPS] = 1000;
	figure(10, HAL_IN_OCTETS);
	ck_assert_int_eq(hal_save_totals(hal, 10, totals, HAL_MAX_COUNTER_ROWS, &n), 0);
	ck_assert_int_eq(hal_save_totals(hal, 10, totals, 1, &n), -E2BIG);
	tear_down();
	set_up();
	ck_assert_int_eq(hal_restore_totals(hal, 10, totals, FAKE_N_ROWS), 0);
	ck_assert_int_eq(hal_restore_totals(hal, 10, totals, 1), -EINVAL);
	fake.ports[0].raw[FAKE_WRAPS] = 1;
	ck_assert_uint_eq(figure(10, HAL_IN_OCTETS), 1001);
}
END_TEST

START_TEST(snapshot_is_sorted_sliced_and_immutable)
{
	const struct hal_snapshot *first, *second;

	fake.addresses[0] = (struct hal_address){.mac = {9}, .if_index = 10};
	fake.addresses[1] = (struct hal_address){.mac = {1}, .if_index = 20};
	fake.addresses[2] = (struct hal_address){.vlan = 5, .mac = {0}, .if_index = 20};
	fake.n_addresses = 3;
	ck_assert_ptr_null(hal_snapshot_hold(hal));
	ck_assert_int_eq(hal_refresh(hal, 2), 1);
	ck_assert_ptr_null(hal_snapshot_hold(hal));
	ck_assert_int_eq(hal_refresh(hal, 2), 0);
	first = hal_snapshot_hold(hal);
	ck_assert_uint_eq(first->n_ports, 3);
	ck_assert_uint_eq(first->mono_us, 5000000);
	ck_assert_str_eq(hal_snapshot_port(first, 20)->name, "fake-20");
	ck_assert_ptr_null(hal_snapshot_port(first, 15));
	ck_assert_uint_eq(first->addresses[0].fdb, 5); /* by MAC, whatever VLAN each is of */
	ck_assert_uint_eq(first->addresses[1].mac[0], 1);
	ck_assert_uint_eq(first->addresses[2].mac[0], 9);
	ck_assert_uint_eq(first->n_common_addresses, 3);
	ck_assert_uint_eq(first->addresses[first->fdb_addresses].fdb, 5);
	ck_assert_uint_eq(first->address_discards, 7);
	fake.n_addresses = 0;
	clock_step_us(&test_clock, 1000000);
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	second = hal_snapshot_hold(hal);
	ck_assert_uint_eq(second->n_addresses, 0);
	ck_assert_uint_eq(second->mono_us, 6000000);
	ck_assert_uint_eq(first->n_addresses, 4);
	hal_snapshot_release(first);
	hal_snapshot_release(second);
}
END_TEST

START_TEST(addresses_are_counted_by_vlan)
{
	static const uint16_t vlans[] = {7, 3, 7, 7};
	const struct hal_snapshot *snapshot = fresh_snapshot();

	ck_assert_uint_eq(snapshot->n_vlans, 1); /* of a bridge that has heard nobody */
	ck_assert_uint_eq(snapshot->vlans[0].vlan, 1);
	hal_snapshot_release(snapshot);
	for (uint8_t i = 0; i < 4; i++)
		fake.addresses[i] = (struct hal_address){.vlan = vlans[i], .mac = {i},
		    .status = i < 3 ? HAL_ADDRESS_LEARNED : HAL_ADDRESS_SELF};
	fake.n_addresses = 4;
	snapshot = fresh_snapshot();
	ck_assert_uint_eq(snapshot->n_vlans, 2);
	ck_assert_uint_eq(snapshot->vlans[0].vlan, 3);
	ck_assert_uint_eq(snapshot->vlans[0].n_learned, 1);
	ck_assert_uint_eq(snapshot->vlans[1].n_learned, 2);
	hal_snapshot_release(snapshot);
}
END_TEST

/* Two bridges know an address: that of the one with the lower ifIndex is shown, in each order. */
START_TEST(addresses_of_several_bridges)
{
	static const struct hal_address addresses[] = {
	    {.bridge = 9, .fdb = 4105, .mac = {1}, .if_index = 20}, {.bridge = 5, .fdb = 1, .mac = {1}, .if_index = 10},
	    {.bridge = 9, .fdb = 4105, .mac = {2}, .if_index = 20}, {.bridge = 5, .fdb = 1, .mac = {0}, .if_index = 5},
	    {.bridge = 7, .vlan = 1, .mac = {1}, .if_index = 30}, {.bridge = 7, .vlan = 3, .mac = {1}, .if_index = 30},
	    {.bridge = 7, .mac = {3}, .if_index = 30},
	};
	static const struct { uint32_t fdb; uint8_t mac; uint16_t base_port; } expected[] = {
	    {1, 0, 0}, {1, 1, 900}, {4105, 2, 3}, {0, 3, 30}, {1, 0, 0}, {1, 1, 900}, {3, 1, 30}, {4105, 1, 3}, {4105, 2, 3}};
	const struct hal_snapshot *s;

	memcpy(fake.addresses, addresses, sizeof(addresses));
	fake.n_addresses = sizeof(addresses) / sizeof(addresses[0]);
	fake.ports[0].base_port = 900;
	fake.ports[1].base_port = 3;
	s = fresh_snapshot();
	ck_assert_uint_eq(s->n_bridge_ports, 3);
	ck_assert_uint_eq(s->bridge_ports[0]->if_index, 20);
	ck_assert_uint_eq(s->bridge_ports[2]->if_index, 10);
	ck_assert_uint_eq(s->n_common_addresses, 4);
	ck_assert_uint_eq(s->n_addresses, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < s->n_addresses; i++) {
		ck_assert_uint_eq(s->addresses[i].fdb, expected[i].fdb);
		ck_assert_uint_eq(s->addresses[i].mac[0], expected[i].mac);
		ck_assert_uint_eq(s->addresses[i].base_port, expected[i].base_port);
	}
	ck_assert_uint_eq(s->n_vlans, 2); /* 1 and 3 */
	ck_assert_uint_eq(s->n_fdbs, 3);
	ck_assert_uint_eq(s->vlans[2].vlan, 4105);
	ck_assert_uint_eq(hal_port_of_base(hal, 900), 10);
	ck_assert_uint_eq(hal_port_of_base(hal, 10), 0);
	hal_snapshot_release(s);
}
END_TEST

/* A port that is in no bridge is no change of a VLAN, whenever it comes; a member is. */
START_TEST(members_change_a_vlan)
{
	static const struct { bool off_bridge; size_t n_ports; bool changes; } steps[] = {
	    {true, 2, false}, {true, 3, false}, {false, 3, true}, {false, 3, false}, {true, 3, true}};
	const struct hal_snapshot *s;
	uint64_t changed_us = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		clock_step_us(&test_clock, 86400000000ull);
		fake.n_ports = steps[i].n_ports;
		fake.ports[2].off_bridge = steps[i].off_bridge;
		hal_report_port_changed(hal, 30);
		s = fresh_snapshot();
		changed_us = steps[i].changes ? clock_mono_us(&test_clock) : changed_us;
		ck_assert_uint_eq(s->n_vlans, 1);
		ck_assert_uint_eq(s->vlans[0].changed_mono_us, changed_us);
		ck_assert_uint_eq(s->n_vlan_ranges, 2 + !steps[i].off_bridge);
		ck_assert_uint_eq(hal_snapshot_pvid(s, 10), 1);
		hal_snapshot_release(s);
	}
}
END_TEST

/* Ports that come and go faster than a snapshot is built do not keep it from being built: it has the ports that
 * there are at its end, with one reading of each. */
START_TEST(ports_change_between_slices)
{
	const struct hal_snapshot *snapshot;

	for (int slice = 0; slice < 2; slice++) { /* 10 and 20 */
		ck_assert_int_eq(hal_refresh(hal, 1), 1);
		fake.n_ports = slice ? 2 : 3;
		fake.ports[0].raw[FAKE_WRAPS] = 500; /* read in the first slice, and not again */
		clock_step_us(&test_clock, 1);
		fake.n_ports--;
		hal_report_port_changed(hal, 30);
		fake.n_ports++;
		hal_report_port_changed(hal, 30);
	}
	fake.n_ports = 2;
	hal_report_port_changed(hal, 30);
	ck_assert_int_eq(hal_refresh(hal, 1), 0);
	ck_assert_uint_eq(stat_get(hal_stats(hal), HAL_STAT_ROUNDS_MERGED), 2);
	snapshot = hal_snapshot_hold(hal);
	ck_assert_uint_eq(snapshot->ports[0].counters.value[HAL_IN_OCTETS], 0);
	ck_assert_uint_eq(snapshot->n_ports, 2);
	ck_assert_uint_eq(snapshot->ports_changed_mono_us, 5000002);
	hal_snapshot_release(snapshot);
}
END_TEST

static struct hal_port_event events[16];
static size_t n_events;

static void
on_port(void *ctx, const struct hal_port_event *event)
{
	(void)ctx;
	if (n_events < 16)
		events[n_events] = *event;
	n_events++;
}

/* Every happening is told once, by the lists' difference and not by the port that was named, and numbered. */
START_TEST(a_port_s_life_is_told)
{
	static const struct {
		size_t n_ports;	/* there are so many now */
		uint32_t reported;
		size_t n;
		struct hal_port_event events[2];
	} steps[] = {
	    {3, 10, 1, {{HAL_PORT_CHANGED, 10, 1}}},
	    {1, 20, 2, {{HAL_PORT_LEFT, 20, 2}, {HAL_PORT_LEFT, 30, 3}}},
	    {1, 30, 0, {{0}}}, /* told already */
	    {3, 30, 2, {{HAL_PORT_CAME, 20, 4}, {HAL_PORT_CAME, 30, 5}}},
	    {3, 20, 1, {{HAL_PORT_CHANGED, 20, 6}}},
	    {2, 10, 2, {{HAL_PORT_LEFT, 30, 7}, {HAL_PORT_CHANGED, 10, 8}}},
	};
	const struct hal_listener listener = {.port = on_port};

	hal_set_listener(hal, &listener);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		n_events = 0;
		fake.n_ports = steps[i].n_ports;
		hal_report_port_changed(hal, steps[i].reported);
		ck_assert_uint_eq(n_events, steps[i].n);
		for (size_t k = 0; k < n_events; k++) {
			ck_assert_int_eq(events[k].happening, steps[i].events[k].happening);
			ck_assert_uint_eq(events[k].if_index, steps[i].events[k].if_index);
			ck_assert_uint_eq(events[k].number, steps[i].events[k].number);
		}
	}
	n_events = 0;
	hal_forget_port(hal, "fake-20", 20); /* it is there: a mistake, or another's number */
	ck_assert_uint_eq(n_events, 0);
	hal_forget_port(hal, "fake-30", 30);
	ck_assert_uint_eq(n_events, 1);
	ck_assert_int_eq(events[0].happening, HAL_PORT_FORGOTTEN);
	ck_assert_uint_eq(events[0].if_index, 30);
}
END_TEST

/* A setting is seen in the newest snapshot at once, without a reading of the others; who holds a snapshot
 * keeps it as it was. A snapshot that is half read has it as well. */
START_TEST(a_setting_is_published_by_itself)
{
	const struct hal_snapshot *held, *next;
	uint64_t mono_us;

	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	ck_assert_int_eq(hal_refresh(hal, 2), 1);
	clock_step_us(&test_clock, 1000);
	ck_assert_int_eq(hal_set_alias(hal, 10, "uplink"), 0);
	hal_publish_port(hal, 10);
	held = hal_snapshot_hold(hal);
	mono_us = held->mono_us;
	ck_assert_str_eq(hal_snapshot_port(held, 10)->alias, "uplink");
	ck_assert_str_eq(hal_snapshot_port(held, 20)->alias, "");
	ck_assert_int_eq(hal_set_alias(hal, 20, "held"), 0);
	hal_publish_port(hal, 20);
	ck_assert_str_eq(hal_snapshot_port(held, 20)->alias, "");
	next = hal_snapshot_hold(hal);
	ck_assert_str_eq(hal_snapshot_port(next, 20)->alias, "held");
	ck_assert_uint_eq(next->mono_us, mono_us + 1000);
	hal_snapshot_release(held);
	hal_snapshot_release(next);
	ck_assert_int_eq(hal_refresh(hal, 2), 1);
	ck_assert_int_eq(hal_set_alias(hal, 10, "later"), 0);
	hal_publish_port(hal, 10);
	hal_publish_port(hal, 15); /* no such port */
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	next = hal_snapshot_hold(hal);
	ck_assert_str_eq(hal_snapshot_port(next, 10)->alias, "later");
	hal_snapshot_release(next);
}
END_TEST

START_TEST(link_change_is_stamped)
{
	struct hal_port info;

	fake.ports[0].oper_status = EASE_IF_DOWN;
	clock_step_us(&test_clock, 250);
	hal_report_port_changed(hal, 10);
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.last_change_mono_us, 5000250);
}
END_TEST

/* RFC 3635: one direction alone needs more than 100 Mb/s. */
START_TEST(pause_is_checked_then_set)
{
	fake.ports[1].speed_bps = 1000000000;
	ck_assert_int_eq(hal_set_pause(hal, 10, HAL_PAUSE_BOTH), 0);
	ck_assert_uint_eq(fake.ports[0].pause, HAL_PAUSE_BOTH);
	ck_assert_int_eq(hal_set_pause(hal, 10, HAL_PAUSE_XMIT), -EBUSY);
	ck_assert_int_eq(hal_check_pause(hal, 20, HAL_PAUSE_XMIT), 0);
	ck_assert_uint_eq(fake.ports[1].pause, 0);
	ck_assert_int_eq(hal_set_pause(hal, 20, HAL_PAUSE_XMIT), 0);
	ck_assert_int_eq(hal_set_pause(hal, 20, 5), -EINVAL);
	ck_assert_int_eq(hal_set_pause(hal, 99, HAL_PAUSE_BOTH), -ENODEV);
}
END_TEST

START_TEST(missing_facets_answer_not_supported)
{
	struct hal_counters c;

	fake.device.sampling = NULL;
	fake.device.counters = NULL;
	ck_assert(!hal_has_sampling(hal));
	ck_assert_int_eq(hal_load_skip(hal, 10, 1), -EOPNOTSUPP);
	ck_assert_int_eq(hal_restart_sampling(hal, 10), -EOPNOTSUPP);
	ck_assert_int_eq(hal_read_counters(hal, 10, &c), -EOPNOTSUPP);
	ck_assert_int_eq(hal_set_admin_status(hal, 10, EASE_IF_DOWN), -EOPNOTSUPP);
	ck_assert_int_eq(hal_set_ageing_s(hal, 100), -EOPNOTSUPP);
	ck_assert_int_eq(hal_alarm(hal, 1), -EOPNOTSUPP);
	ck_assert_int_eq(hal_fd(hal), -1);
	ck_assert_int_eq(hal_read_counters(hal, 99, &c), -ENODEV);
}
END_TEST

START_TEST(energy_and_buffers_are_in_the_snapshot)
{
	const struct hal_snapshot *snapshot;
	struct hal_energy energy;
	struct hal_buffers buffers;

	ck_assert_int_eq(hal_read_energy(hal, 10, &energy), -EOPNOTSUPP);
	ck_assert_int_eq(hal_read_buffers(hal, 10, &buffers), -EOPNOTSUPP);
	fake_add_facets(&fake);
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	ck_assert_uint_eq(hal_device_drops(hal), 3);
	fake.ports[0].energy.in.asleep_us = 77;
	fake.ports[0].buffers.ingress_drops = 5;
	fake.ports[1].lacks_facets = true;
	ck_assert_int_eq(hal_read_energy(hal, 99, &energy), -ENODEV);
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	snapshot = hal_snapshot_hold(hal);
	ck_assert(snapshot->ports[0].has_energy && snapshot->ports[0].has_buffers);
	ck_assert_uint_eq(snapshot->ports[0].energy.in.asleep_us, 77);
	ck_assert_uint_eq(snapshot->ports[0].buffers.ingress_drops, 5);
	ck_assert(!snapshot->ports[1].has_energy && !snapshot->ports[1].has_buffers);
	hal_snapshot_release(snapshot);
	fake.read_error = -EIO;
	ck_assert_int_eq(hal_read_buffers(hal, 10, &buffers), -EIO);
}
END_TEST

/* RFC 2863, ifLinkUpDownTrapEnable: by default enabled for what runs on top of nothing. */
/* ---- one screen ---- */

static size_t
many_count(void *ctx)
{
	(void)ctx;
	return 4096;
}

static uint32_t
many_if_index(void *ctx, size_t i)
{
	(void)ctx;
	return (uint32_t)i + 1;
}

static int
many_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	(void)ctx;
	port->has_connector = true;
	port->over_others = if_index % 5 == 0;
	port->sampled_by = if_index % 4;
	return 0;
}

static void
expect_a_screen(const char *text)
{
	unsigned n_lines = 0;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1, n_lines++)
		ck_assert_msg(end - text <= ABILITIES_COLUMNS, "%.*s", (int)(end - text), text);
	ck_assert_uint_le(n_lines, 24);
}

START_TEST(abilities_are_one_screen)
{
	static const struct hal_ports_ops many = {.count = many_count, .if_index = many_if_index, .get = many_get};
	const char *const long_why = "0123456789012345678901234567890123456789";
	struct abilities_told told = {.not_counted = long_why, .not_sampled = long_why, .about_drops = long_why,
	    .no_transceivers = long_why};
	struct fake_device box;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fake_init(&box, 3);
	fake_add_facets(&box);
	box.ports[1].lacks_facets = true;
	abilities_print(&box.device, &told, out);
	box.device.ports = &many;
	box.device.counters = NULL;
	box.device.energy = NULL;
	box.device.buffers = NULL;
	fflush(out);
	ck_assert_ptr_nonnull(strstr(text, "COUNTS  octets and packets        3 of 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "        buffers                   2 of 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "SAMPLES in the device             3 of 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "        senders of bad frames   yes\n"));
	ck_assert_ptr_null(strstr(text, "nowhere"));
	expect_a_screen(text);
	rewind(out);
	abilities_print(&box.device, &told, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "COUNTS  octets and packets        0 of 4096   0123456789012345678901234567890123\n"));
	ck_assert_ptr_nonnull(strstr(text, "SAMPLES in a switch chip        819 of 4096\n"));
	ck_assert_ptr_nonnull(strstr(text, "        at other ports          819 of 4096   bridges, LAGs, VLANs, lo, tunnels\n"));
	expect_a_screen(text);
	free(text);
}
END_TEST

START_TEST(links_of_what_runs_on_others_are_told_by_those)
{
	static const uint32_t types[] = {6, 161, 135};
	struct hal_port info;

	tear_down();
	test_clock = (struct clock){.manual = true, .manual_mono_us = 5000000};
	fake_init(&fake, FAKE_PORTS);
	for (size_t i = 0; i < 3; i++)
		fake.ports[i].if_type = types[i];
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(hal_port_info(hal, 10 * (i + 1), &info), 0);
		ck_assert_int_eq(info.link_traps, types[i] == 6);
	}
	ck_assert_int_eq(hal_set_link_traps(hal, 20, true), 0);
	ck_assert_int_eq(hal_port_info(hal, 20, &info), 0);
	ck_assert(info.link_traps);
}
END_TEST

/* 20 is a bridge whose port is 10, and 30 a VLAN interface on 10: 10 has two above. */
START_TEST(layers_show_bridges_and_vlans)
{
	static const struct hal_layer wanted[] = {{0, 20}, {0, 30}, {10, 0}, {20, 10}, {30, 10}};
	static const struct hal_layer on_bridge[] = {{0, 30}, {10, 0}, {20, 10}, {30, 20}};
	const struct hal_snapshot *snapshot;

	fake.ports[0].bridge = 20;
	fake.ports[2].lower = 10;
	snapshot = fresh_snapshot();
	ck_assert_uint_eq(snapshot->structure->n_layers, 5);
	ck_assert_mem_eq(snapshot->structure->layers, wanted, sizeof(wanted));
	hal_snapshot_release(snapshot);
	fake.ports[2].lower = 20;
	hal_report_port_changed(hal, 30);
	snapshot = fresh_snapshot();
	ck_assert_uint_eq(snapshot->structure->n_layers, 4);
	ck_assert_mem_eq(snapshot->structure->layers, on_bridge, sizeof(on_bridge));
	hal_snapshot_release(snapshot);
}
END_TEST

/* RFC 2863: 10 and 20 are members of 30; there is nothing above 30, and nothing below 10 and 20. */
START_TEST(layers_show_aggregates)
{
	static const struct hal_layer wanted[] = {{0, 30}, {10, 0}, {20, 0}, {30, 10}, {30, 20}};
	const struct hal_snapshot *snapshot;

	fake.ports[0].lag_parent = fake.ports[1].lag_parent = 30;
	snapshot = fresh_snapshot();
	ck_assert_uint_eq(snapshot->structure->n_layers, 5);
	ck_assert_mem_eq(snapshot->structure->layers, wanted, sizeof(wanted));
	ck_assert_uint_eq(snapshot->structure->layers_changed_mono_us, 0);
	hal_snapshot_release(snapshot);
	fake.ports[0].lag_parent = 99; /* not served */
	clock_step_us(&test_clock, 1);
	hal_report_port_changed(hal, 10);
	snapshot = fresh_snapshot();
	ck_assert_uint_eq(snapshot->structure->layers[0].lower, 10);
	ck_assert_uint_eq(snapshot->structure->layers_changed_mono_us, 5000001);
	ck_assert_uint_eq(snapshot->structure->parts_changed_mono_us, 0);
	hal_snapshot_release(snapshot);
}
END_TEST

/* ENTITY-MIB: two modules, the first port on the second one. */
START_TEST(parts_are_in_one_another)
{
	static const struct hal_contained wanted[] = {
	    {1, 2}, {1, 3}, {2, 1020}, {2, 1030}, {3, 1010}};
	const struct hal_snapshot *snapshot;
	const struct hal_structure *structure;

	fake_add_facets(&fake);
	snapshot = fresh_snapshot();
	structure = snapshot->structure;
	ck_assert_uint_eq(structure->n_parts, 6);
	ck_assert_uint_eq(structure->first_port_part, 3);
	ck_assert_mem_eq(structure->contents, wanted, sizeof(wanted));
	ck_assert_str_eq(structure->parts[2].name, "module-1");
	ck_assert_str_eq(structure->parts[5].name, "fake-30");
	ck_assert_int_eq(structure->parts[5].class, HAL_PART_PORT);
	ck_assert_uint_eq(structure->parts[5].contained_in, 2);
	hal_snapshot_release(snapshot);
}
END_TEST

/* Snapshots share the structure. It changes when a port disappears, but not when a link changes. */
START_TEST(structure_is_made_when_ports_change)
{
	const struct hal_snapshot *first = fresh_snapshot(), *second = fresh_snapshot();

	ck_assert_ptr_eq(first->structure, second->structure);
	hal_snapshot_release(second);
	clock_step_us(&test_clock, 1);
	fake.ports[0].oper_status = EASE_IF_DOWN;
	hal_report_port_changed(hal, 10);
	second = fresh_snapshot();
	ck_assert_uint_eq(second->structure->parts_changed_mono_us, 0);
	hal_snapshot_release(second);
	fake.n_ports = 2;
	hal_report_port_changed(hal, 30);
	second = fresh_snapshot();
	ck_assert_uint_eq(second->structure->n_parts, 3);
	ck_assert_uint_eq(second->structure->parts_changed_mono_us, 5000001);
	ck_assert_uint_eq(second->structure->layers_changed_mono_us, 5000001);
	ck_assert_uint_eq(first->structure->n_parts, 4); /* held */
	hal_snapshot_release(first);
	hal_snapshot_release(second);
}
END_TEST

static unsigned n_errors;
static struct ease_error_source last_error;

static void
on_error_source(void *ctx, const struct ease_error_source *source)
{
	(void)ctx;
	n_errors++;
	last_error = *source;
}

static void
bad_frame(uint32_t if_index, uint8_t station, enum ease_error_kind kind, uint64_t time_us)
{
	const struct hal_error_event event = {
	    .if_index = if_index, .mac = {2, station}, .kind = kind, .time_us = time_us};

	hal_report_error_source(hal, &event);
}

START_TEST(error_sources_add_up)
{
	const struct hal_listener listener = {.error_source = on_error_source};
	const struct hal_snapshot *snapshot;

	fake_add_facets(&fake);
	hal_set_listener(hal, &listener);
	n_errors = 0;
	bad_frame(20, 7, EASE_ERROR_FCS, 100);
	bad_frame(10, 9, EASE_ERROR_TOO_LONG, 200);
	bad_frame(10, 9, EASE_ERROR_FCS, 300);
	bad_frame(20, 7, EASE_ERROR_FCS, 400);
	ck_assert_uint_eq(n_errors, 4);
	ck_assert_uint_eq(last_error.count, 2);
	ck_assert_uint_eq(last_error.first_us, 100);
	ck_assert_uint_eq(last_error.time_us, 400);
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	snapshot = hal_snapshot_hold(hal);
	ck_assert(snapshot->has_error_sources);
	ck_assert_uint_eq(snapshot->n_error_sources, 3);
	ck_assert_uint_eq(snapshot->error_sources[0].if_index, 10);
	ck_assert_uint_eq(snapshot->error_sources[0].kind, EASE_ERROR_FCS);
	ck_assert_uint_eq(snapshot->error_sources[1].kind, EASE_ERROR_TOO_LONG);
	ck_assert_uint_eq(snapshot->error_sources[2].if_index, 20);
	hal_snapshot_release(snapshot);
}
END_TEST

/* Each forged source replaces the quietest one, and this is counted. */
START_TEST(error_sources_have_a_limit)
{
	const struct hal_snapshot *snapshot;
	bool quietest = false, busy = false;

	for (unsigned i = 0; i < HAL_MAX_ERROR_SOURCES; i++)
		bad_frame(10, (uint8_t)i, EASE_ERROR_FCS, 1000 + (i ^ 0x55));
	bad_frame(10, 0x55, EASE_ERROR_FCS, 5000); /* the oldest is heard again */
	bad_frame(30, 1, EASE_ERROR_FCS, 6000);
	ck_assert_int_eq(hal_refresh(hal, 0), 0);
	snapshot = hal_snapshot_hold(hal);
	ck_assert_uint_eq(snapshot->n_error_sources, HAL_MAX_ERROR_SOURCES);
	for (size_t i = 0; i < snapshot->n_error_sources; i++) {
		quietest |= snapshot->error_sources[i].mac[1] == 0x54;
		busy |= snapshot->error_sources[i].mac[1] == 0x55;
	}
	ck_assert(busy && !quietest);
	ck_assert_uint_eq(snapshot->error_sources[HAL_MAX_ERROR_SOURCES - 1].if_index, 30);
	hal_snapshot_release(snapshot);
}
END_TEST

START_TEST(skip_beyond_the_register_is_refused)
{
	ck_assert_int_eq(hal_load_skip(hal, 10, FAKE_MAX_SKIP + 1), -EINVAL);
	ck_assert_uint_eq(fake.ports[0].loads, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("hal");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, wrap_goes_on);
	tcase_add_test(all, maximum_was_zeroed_by_its_read);
	tcase_add_test(all, clear_on_read_adds_up);
	tcase_add_test(all, figures_never_decrease);
	tcase_add_test(all, failed_read_keeps_total_and_counts);
	tcase_add_test(all, times_of_changes_go_on_over_a_restart);
	tcase_add_test(all, rows_that_have_not_changed_are_not_read);
	tcase_add_test(all, device_reset_keeps_totals_and_says_so);
	tcase_add_test(all, a_total_that_goes_back_is_a_discontinuity);
	tcase_add_test(all, totals_survive_a_restart);
	tcase_add_test(all, snapshot_is_sorted_sliced_and_immutable);
	tcase_add_test(all, addresses_are_counted_by_vlan);
	tcase_add_test(all, ports_change_between_slices);
	tcase_add_test(all, a_port_s_life_is_told);
	tcase_add_test(all, a_setting_is_published_by_itself);
	tcase_add_test(all, link_change_is_stamped);
	tcase_add_test(all, pause_is_checked_then_set);
	tcase_add_test(all, missing_facets_answer_not_supported);
	tcase_add_test(all, skip_beyond_the_register_is_refused);
	tcase_add_test(all, energy_and_buffers_are_in_the_snapshot);
	tcase_add_test(all, abilities_are_one_screen);
	tcase_add_test(all, error_sources_add_up);
	tcase_add_test(all, error_sources_have_a_limit);
	tcase_add_test(all, layers_show_aggregates);
	tcase_add_test(all, links_of_what_runs_on_others_are_told_by_those);
	tcase_add_test(all, layers_show_bridges_and_vlans);
	tcase_add_test(all, addresses_of_several_bridges);
	tcase_add_test(all, members_change_a_vlan);
	tcase_add_test(all, parts_are_in_one_another);
	tcase_add_test(all, structure_is_made_when_ports_change);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
