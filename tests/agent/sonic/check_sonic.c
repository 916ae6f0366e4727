/*
 * The SONiC device against a Redis server that a generator has filled (sonic_rig.h): rows as the generator's truth has
 * them, and what becomes of them when the server or a part of its tables goes away and comes again. The clock is the
 * test's own; nothing waits but for the server's answers.
 */
#include "agent/hal/hal.h"
#include "agent/rmon/rmon.h"
#include "agent/sampling/sampling.h"
#include "agent/sonic/sonic_device.h"
#include "mibs/mibs.h"
#include "tests/agent/sonic/sonic_rig.h"
#include "tests/suite.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APPL, ASIC, COUNTERS, CONFIG = 4, STATE = 6, CAME_MAX = 8192 };
#define SECOND_US 1000000ull

static struct sonic_server server;
static struct clock now;
static struct hal *hal;
static struct hal_device *device;
static struct sampling *sampling;
static unsigned came, left, changed, new_addresses, alarms;

static const struct sonic_plan small = {
    .n_ports = 24, .n_lags = 2, .n_vlans = 3, .n_addresses = 50, .without_counters = 7,
};
static const struct sonic_plan large = {
    .n_ports = 512, .n_lags = 8, .n_vlans = 20, .n_addresses = 2000, .without_counters = 300,
};

/* ---- the device ---- */

static void
on_port(void *ctx, const struct hal_port_event *event)
{
	(void)ctx;
	came += event->happening == HAL_PORT_CAME;
	left += event->happening == HAL_PORT_LEFT;
	changed += event->happening == HAL_PORT_CHANGED;
	if (sampling)
		sampling_on_port(sampling, event);
}

static void
on_new_address(void *ctx, const struct ease_address *address)
{
	(void)ctx;
	(void)address;
	new_addresses++;
}

static void
on_alarm(void *ctx, uint64_t steady_us)
{
	(void)ctx;
	ck_assert_uint_eq(steady_us, hal_steady_us(hal));
	alarms++;
}

static int
no_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)sample;
	(void)snapshot;
	return 0;
}

/* Handles what comes until every answer is there. Where a connection has to be made again that takes time by the
 * device's clock, too. */
static void
settle(void)
{
	struct pollfd ready = {.fd = hal_fd(hal), .events = POLLIN};

	for (int i = 1; i < 2000; i++) {
		ck_assert_int_ge(hal_dispatch(hal, 0), 0);
		if (sonic_is_settled(device))
			return;
		(void)poll(&ready, 1, 20);
		if (i % 20 == 0)
			clock_step_us(&now, SECOND_US);
	}
	ck_abort_msg("the device has not come to rest");
}

static void
step_s(unsigned seconds)
{
	clock_step_us(&now, seconds * SECOND_US);
	settle();
}

/* Lets time pass while the server is away or does not answer. */
static void
suffer_s(unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		clock_step_us(&now, SECOND_US);
		ck_assert_int_ge(hal_dispatch(hal, 0), 0);
	}
}

static void
open_device(void)
{
	static const struct hal_listener listener = {
	    .port = on_port, .new_address = on_new_address, .alarm = on_alarm};
	static const struct sampling_sink sink = {.sample = no_sample};
	struct sampling_options options = {
	    .has_seed = true,
	    .least_requested_skip = 16,
	    .defaults = {.enabled = true, .mean_skip = 400, .header_octets = 128, .edge = true},
	};
	struct sonic_config config = {.database_config = server.config, .by_tcp = server.port != 0,
	    .sampling = true, .load_wait_ms = 20000, .clock = &now};
	char error[256];

	now = (struct clock){.manual = true, .manual_wall_us = 1700000000 * SECOND_US,
	    .manual_mono_us = 1000 * SECOND_US};
	came = left = changed = new_addresses = alarms = 0;
	ck_assert_msg(sonic_create(&config, &device, error, sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(hal_create(device, &now, &hal), 0);
	hal_set_listener(hal, &listener);
	ck_assert_int_eq(sampling_create(hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	step_s(1); /* names were asked for before the ports were known */
	step_s(5);
}

static void
close_device(void)
{
	sampling_destroy(sampling);
	sampling = NULL;
	hal_destroy(hal);
	hal = NULL;
}

static uint64_t
stat(const char *name)
{
	const struct stat_set *stats = sonic_stats(device);

	for (size_t i = 0; i < stats->n; i++)
		if (strcmp(stats->names[i].name, name) == 0)
			return stat_get(stats, (unsigned)i);
	ck_abort_msg("no counter %s", name);
}

/* ---- the truth, in the HAL's terms ---- */

static const struct {
	const char *field;
	enum hal_figure figure;
} figures[] = {
    {"IF_IN_OCTETS", HAL_IN_OCTETS}, {"IF_IN_UCAST_PKTS", HAL_IN_UCAST_PKTS},
    {"IF_IN_MULTICAST_PKTS", HAL_IN_MCAST_PKTS}, {"IF_IN_BROADCAST_PKTS", HAL_IN_BCAST_PKTS},
    {"IF_IN_DISCARDS", HAL_IN_DISCARDS}, {"IF_IN_ERRORS", HAL_IN_ERRORS},
    {"IF_IN_UNKNOWN_PROTOS", HAL_IN_UNKNOWN_PROTOS}, {"IF_OUT_OCTETS", HAL_OUT_OCTETS},
    {"IF_OUT_UCAST_PKTS", HAL_OUT_UCAST_PKTS}, {"IF_OUT_MULTICAST_PKTS", HAL_OUT_MCAST_PKTS},
    {"IF_OUT_BROADCAST_PKTS", HAL_OUT_BCAST_PKTS}, {"IF_OUT_DISCARDS", HAL_OUT_DISCARDS},
    {"IF_OUT_ERRORS", HAL_OUT_ERRORS}, {"PAUSE_RX_PKTS", HAL_IN_PAUSE_PKTS},
    {"PAUSE_TX_PKTS", HAL_OUT_PAUSE_PKTS}, {"ETHER_STATS_DROP_EVENTS", HAL_RMON_DROP_EVENTS},
    {"ETHER_STATS_OCTETS", HAL_RMON_OCTETS}, {"ETHER_STATS_PKTS", HAL_RMON_PKTS},
    {"ETHER_STATS_BROADCAST_PKTS", HAL_RMON_BCAST_PKTS}, {"ETHER_STATS_MULTICAST_PKTS", HAL_RMON_MCAST_PKTS},
    {"ETHER_STATS_CRC_ALIGN_ERRORS", HAL_RMON_CRC_ALIGN}, {"ETHER_STATS_CRC_ALIGN_ERRORS", HAL_FCS_ERRORS},
    {"ETHER_STATS_UNDERSIZE_PKTS", HAL_RMON_UNDERSIZE}, {"ETHER_STATS_OVERSIZE_PKTS", HAL_RMON_OVERSIZE},
    {"ETHER_STATS_FRAGMENTS", HAL_RMON_FRAGMENTS}, {"ETHER_STATS_JABBERS", HAL_RMON_JABBERS},
    {"ETHER_STATS_COLLISIONS", HAL_RMON_COLLISIONS}, {"ETHER_IN_PKTS_64_OCTETS", HAL_RMON_64},
    {"ETHER_IN_PKTS_65_TO_127_OCTETS", HAL_RMON_65_127}, {"ETHER_IN_PKTS_128_TO_255_OCTETS", HAL_RMON_128_255},
    {"ETHER_IN_PKTS_256_TO_511_OCTETS", HAL_RMON_256_511},
    {"ETHER_IN_PKTS_512_TO_1023_OCTETS", HAL_RMON_512_1023},
    {"ETHER_IN_PKTS_1024_TO_1518_OCTETS", HAL_RMON_1024_MAX},
};
enum { N_FIGURES = sizeof(figures) / sizeof(figures[0]) };

static const struct hal_snapshot *
look(void)
{
	ck_assert_int_eq(hal_refresh_all(hal), 0);
	return hal_snapshot_hold(hal);
}

static void
same_counters(const struct hal_counters *c, uint32_t port, uint64_t t_s)
{
	for (size_t i = 0; i < N_FIGURES; i++) {
		uint64_t truth = sonic_counter(port, sonic_counter_field(figures[i].field), t_s);

		ck_assert_msg(c->known >> figures[i].figure & 1, "Ethernet%u has no %s", port, figures[i].field);
		ck_assert_msg(c->value[figures[i].figure] == truth, "Ethernet%u %s: %ju, truth %ju", port,
		    figures[i].field, (uintmax_t)c->value[figures[i].figure], (uintmax_t)truth);
	}
}

static void
same_ports(const struct sonic_plan *plan, const struct hal_snapshot *s, uint64_t t_s)
{
	ck_assert_uint_eq(s->n_ports, plan->n_ports + plan->n_lags + plan->n_vlans + 1);
	for (uint32_t port = 0; port < plan->n_ports; port++) {
		const struct hal_port *row = hal_snapshot_port(s, port + 1);
		int64_t lag = sonic_lag_of(plan, port);
		char text[64];

		ck_assert_ptr_nonnull(row);
		snprintf(text, sizeof(text), "Ethernet%u", port);
		ck_assert_str_eq(row->name, text);
		snprintf(text, sizeof(text), "etp%u", port + 1);
		ck_assert_str_eq(row->descr, text);
		sonic_description(port, text, sizeof(text));
		ck_assert_str_eq(row->alias, text);
		ck_assert_uint_eq(row->speed_bps, sonic_speed_mbps(port) * 1000000ull);
		ck_assert_uint_eq(row->mtu_octets, 9100);
		ck_assert_uint_eq(row->if_type, 6);
		ck_assert_uint_eq(row->admin_status, sonic_admin_up(port) ? EASE_IF_UP : EASE_IF_DOWN);
		ck_assert_uint_eq(row->oper_status, sonic_oper_up(port) ? EASE_IF_UP : EASE_IF_DOWN);
		ck_assert_uint_eq(row->lag_parent, lag < 0 ? 0 : 1000 + (uint32_t)lag);
		ck_assert_uint_eq(row->forwarding, EASE_FORWARDING_HARDWARE);
		ck_assert_uint_eq(row->sampled_by, EASE_SAMPLED_BY_NOBODY);
		ck_assert_mem_eq(row->mac, ((uint8_t[]){0x52, 0x54, 0x00, 0x12, 0x34, 0x56}), 6);
		ck_assert(row->off_bridge == (sonic_pvid(plan, port) == 0));
		ck_assert_uint_eq(hal_snapshot_pvid(s, port + 1), sonic_pvid(plan, port));
		if (port == plan->without_counters)
			ck_assert_uint_eq(row->counters.known, 0);
		else
			same_counters(&row->counters, port, t_s);
	}
}

static void
same_groups(const struct sonic_plan *plan, const struct hal_snapshot *s)
{
	for (uint32_t i = 1; i <= plan->n_lags; i++) {
		const struct hal_port *row = hal_snapshot_port(s, 1000 + i);
		uint64_t speed = 0;

		ck_assert_ptr_nonnull(row);
		for (uint32_t port = 0; port < plan->n_ports; port++)
			if (sonic_lag_of(plan, port) == i && sonic_oper_up(port))
				speed += sonic_speed_mbps(port) * 1000000ull;
		ck_assert_uint_eq(row->speed_bps, speed);
		ck_assert_uint_eq(row->if_type, 161);
		ck_assert(row->over_others);
	}
	for (uint32_t i = 0; i < plan->n_vlans; i++)
		ck_assert_ptr_nonnull(hal_snapshot_port(s, 2000 + sonic_vlan(plan, i)));
	ck_assert_str_eq(hal_snapshot_port(s, 10000)->name, "eth0");
	ck_assert_uint_eq(hal_snapshot_port(s, 10000)->oper_status, EASE_IF_UP);
}

/* Every membership is that of the plan, and there are no others. */
static void
same_vlans(const struct sonic_plan *plan, const struct hal_snapshot *s)
{
	size_t n = 0, truth = 0;

	ck_assert(s->vlan_aware);
	for (uint32_t port = 0; port < plan->n_ports; port++)
		truth += (sonic_pvid(plan, port) != 0) + (sonic_tagged(plan, port) != 0);
	for (size_t i = 0; i < s->n_vlan_ranges; i++) {
		const struct hal_vlan_range *range = &s->vlan_ranges[i];

		for (uint32_t vlan = range->first; vlan <= range->last; vlan++, n++)
			ck_assert_uint_eq(vlan, range->untagged ? sonic_pvid(plan, range->if_index - 1)
								: sonic_tagged(plan, range->if_index - 1));
		ck_assert(range->untagged == range->is_pvid);
	}
	ck_assert_uint_eq(n, truth);
}

static void
same_addresses(const struct sonic_plan *plan, const struct hal_snapshot *s)
{
	ck_assert_uint_eq(s->n_addresses - s->fdb_addresses, plan->n_addresses);
	for (uint32_t i = 0; i < plan->n_addresses; i++) {
		size_t low = s->fdb_addresses, high = s->n_addresses;
		uint32_t vlan, port;
		uint8_t mac[6];

		sonic_address(plan, i, mac, &vlan, &port);
		while (low < high) {
			size_t at = (low + high) / 2;
			const struct hal_address *a = &s->addresses[at];

			if (a->vlan < vlan || (a->vlan == vlan && memcmp(a->mac, mac, 6) < 0))
				low = at + 1;
			else
				high = at;
		}
		ck_assert(low < s->n_addresses && memcmp(s->addresses[low].mac, mac, 6) == 0);
		ck_assert_uint_eq(s->addresses[low].vlan, vlan);
		if (port == plan->without_counters)
			ck_assert_uint_eq(s->addresses[low].if_index, 0);
		else
			ck_assert_uint_eq(s->addresses[low].if_index, port + 1);
		ck_assert_uint_eq(s->addresses[low].status, HAL_ADDRESS_LEARNED);
	}
}

static void
same_all(const struct sonic_plan *plan, uint64_t t_s)
{
	const struct hal_snapshot *s = look();

	same_ports(plan, s, t_s);
	same_groups(plan, s);
	same_vlans(plan, s);
	same_addresses(plan, s);
	hal_snapshot_release(s);
}

static void
begin(const struct sonic_plan *plan, bool events)
{
	sonic_server_start(&server, events);
	if (plan)
		sonic_fill(&server, plan, 0);
	open_device();
}

static void
end(void)
{
	close_device();
	sonic_server_end(&server);
}

/* ---- rows ---- */

START_TEST(rows_are_the_generators)
{
	begin(_i == 0 ? &small : &large, _i == 0);
	ck_assert_uint_eq(came, 0); /* what was there has not come */
	same_all(_i == 0 ? &small : &large, 0);
	ck_assert_uint_eq(stat("sonic.damaged"), 0);
	ck_assert_uint_eq(stat("sonic.refused"), 0);
	end();
}
END_TEST

static const struct hal_sensor_row *
sensor_named(const struct hal_snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->structure->n_parts; i++)
		for (size_t k = 0; k < s->n_sensors && strcmp(s->structure->parts[i].name, name) == 0; k++)
			if (s->sensors[k].index == s->structure->parts[i].index)
				return &s->sensors[k];
	ck_abort_msg("no sensor %s", name);
}

static void
expect_sensor(const struct hal_snapshot *s, const char *name, int value, int status)
{
	const struct hal_sensor_row *row = sensor_named(s, name);

	ck_assert_msg(row->reading.value == value && row->reading.status == status, "%s: %d, status %d", name,
	    (int)row->reading.value, row->reading.status);
}

/* As xcvrd writes them: of 2023 and of before, when values had units; a module without light, one that is pulled out. */
START_TEST(transceivers_are_parts_of_their_ports)
{
	const struct hal_snapshot *s;

	begin(&small, true);
	sonic_command(&server, 6, "HSET TRANSCEIVER_INFO|Ethernet3 type QSFP28 manufacturer Innolight model TR-FC85S-N00 serial"
	    " INKA0001 vendor_rev 1A");
	sonic_command(&server, 6, "HSET TRANSCEIVER_DOM_SENSOR|Ethernet3 temperature 30.25 voltage 3.2928 rx1power -2.5 tx1power"
	    " -inf tx1bias 6.75 rx2power N/A");
	sonic_command(&server, 6, "HSET TRANSCEIVER_INFO|Ethernet4 type SFP manufacturer N/A");
	sonic_command(&server, 6, "HSET TRANSCEIVER_DOM_SENSOR|Ethernet4 temperature 36.00C rx1power -6.5dBm voltage 1e999");
	step_s(11);
	s = look();
	ck_assert_uint_eq(s->n_sensors, 6 + 3);
	ck_assert_uint_eq(sensor_named(s, "Ethernet3 temperature")->index, 1000000000 + 64 * 4 + 1);
	expect_sensor(s, "Ethernet3 temperature", 30250, HAL_SENSOR_OK);
	expect_sensor(s, "Ethernet3 voltage", 32928, HAL_SENSOR_OK);
	expect_sensor(s, "Ethernet3 lane 1 power received", 5623, HAL_SENSOR_OK);
	expect_sensor(s, "Ethernet3 lane 1 power sent", 0, HAL_SENSOR_OK);
	expect_sensor(s, "Ethernet3 lane 1 bias", 6750, HAL_SENSOR_OK);
	expect_sensor(s, "Ethernet3 lane 2 power received", 0, HAL_SENSOR_UNAVAILABLE);
	expect_sensor(s, "Ethernet4 temperature", 36000, HAL_SENSOR_OK);
	expect_sensor(s, "Ethernet4 lane 1 power received", 2239, HAL_SENSOR_OK);
	expect_sensor(s, "Ethernet4 voltage", 0, HAL_SENSOR_UNAVAILABLE);
	hal_snapshot_release(s);
	sonic_command(&server, 6, "DEL TRANSCEIVER_INFO|Ethernet3 TRANSCEIVER_DOM_SENSOR|Ethernet3");
	step_s(11);
	s = look();
	ck_assert_uint_eq(s->n_sensors, 3);
	hal_snapshot_release(s);
	end();
}
END_TEST

static const struct hal_part *
part_named(const struct hal_snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->structure->n_parts; i++)
		if (strcmp(s->structure->parts[i].name, name) == 0)
			return &s->structure->parts[i];
	return NULL;
}

/*
 * Values that sonic-snmpagent's own tests have (tests/mock_tables/state_db.json), and what these expect of them
 * (tests/test_sensor.py); where the scale is another one, the value times the scale is the same.
 */
START_TEST(published_values)
{
	static const struct {
		const char *name;
		int value, status; /* of sensors that the tests have, as they have them in our scale */
	} sensors[] = {
	    {"Ethernet0 temperature", 25390, HAL_SENSOR_OK},		    /* 25,390,000 with precision 6 */
	    {"Ethernet0 voltage", 33700, HAL_SENSOR_OK},		    /* 33,700 with precision 4, in volts */
	    {"Ethernet0 lane 1 power received", 0, HAL_SENSOR_OK},	    /* -inf dBm */
	    {"Ethernet0 lane 2 power received", 7998, HAL_SENSOR_OK},	    /* 7,998 with precision 4, in milliwatts */
	    {"Ethernet0 lane 1 bias", 0, HAL_SENSOR_UNAVAILABLE},	    /* N/A */
	    {"Ethernet0 lane 2 bias", 4440, HAL_SENSOR_OK},		    /* 4,440 with precision 3, in milliamperes */
	    {"PSU 2 temperature", 31100, HAL_SENSOR_OK}, {"PSU 2 voltage", 13100, HAL_SENSOR_OK},
	    {"PSU 2 current", 13400, HAL_SENSOR_OK}, {"PSU 2 power", 312600, HAL_SENSOR_OK},
	    {"fan1 speed", 50, HAL_SENSOR_OK}, {"psu_2_fan_1 speed", 57, HAL_SENSOR_OK},
	    {"thermal1", 20500, HAL_SENSOR_OK},
	};
	static const char *const commands[] = {
	    "TRANSCEIVER_INFO|Ethernet0 type QSFP+ vendor_rev A1 serial SERIAL_NUM manufacturer VENDOR_NAME model MODEL_NAME",
	    "TRANSCEIVER_DOM_SENSOR|Ethernet0 temperature 25.39 voltage 3.37 tx1bias N/A tx2bias 4.44 rx1power -inf rx2power -0.97",
	    "PSU_INFO|PSU\x01" "1 presence false status false current 15.4 power 302.6 voltage 15.1 temp 30.1",
	    "PSU_INFO|PSU\x01" "2 presence true status true current 13.4 power 312.6 voltage 13.1 temp 31.1 model PSU_MODEL serial"
	    " PSU_SERIAL is_replaceable True",
	    "FAN_DRAWER_INFO|drawer1 model DRAWERMODEL presence True",
	    "FAN_INFO|fan1 model FANMODEL serial FANSERIAL speed 50 presence True is_replaceable True",
	    "FAN_INFO|psu_2_fan_1 presence True status True speed 57 drawer_name N/A model PSUFANMODEL serial PSUFANSERIAL",
	    "TEMPERATURE_INFO|thermal1 temperature 20.5 is_replaceable False",
	};
	const struct hal_snapshot *s;
	const struct hal_part *psu, *fan;
	uint32_t psu_index;

	begin(&small, true);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		sonic_command(&server, STATE, "HSET %s", commands[i]);
	step_s(11);
	s = look();
	for (size_t i = 0; i < sizeof(sensors) / sizeof(sensors[0]); i++)
		expect_sensor(s, sensors[i].name, sensors[i].value, sensors[i].status);
	ck_assert_uint_eq(s->n_sensors, sizeof(sensors) / sizeof(sensors[0]));
	psu = part_named(s, "PSU 2");
	fan = part_named(s, "fan1");
	ck_assert(psu && psu->class == HAL_PART_POWER_SUPPLY && psu->contained_in == HAL_PART_INDEX_CHASSIS && psu->is_replaceable);
	ck_assert_str_eq(psu->serial, "PSU_SERIAL");
	psu_index = psu->index;
	ck_assert(fan && fan->class == HAL_PART_FAN && part_named(s, "fan1 speed")->contained_in == fan->index);
	ck_assert_str_eq(fan->model, "FANMODEL");
	ck_assert_ptr_null(part_named(s, "PSU 1")); /* it is not present */
	for (size_t i = 1; i < s->structure->n_parts; i++)
		ck_assert_uint_lt(s->structure->parts[i - 1].index, s->structure->parts[i].index);
	hal_snapshot_release(s);
	sonic_command(&server, STATE, "HSET PSU_INFO|PSU\x01" "1 presence true");
	sonic_command(&server, STATE, "DEL FAN_INFO|fan1 TEMPERATURE_INFO|thermal1");
	sonic_command(&server, STATE, "HSET FAN_INFO|psu_2_fan_1 speed N/A");
	step_s(11);
	s = look();
	expect_sensor(s, "PSU 1 voltage", 15100, HAL_SENSOR_OK); /* it came */
	ck_assert(part_named(s, "PSU 2")->index == psu_index && !part_named(s, "fan1") && !part_named(s, "thermal1"));
	expect_sensor(s, "psu_2_fan_1 speed", 0, HAL_SENSOR_UNAVAILABLE);
	hal_snapshot_release(s);
	end();
}
END_TEST

/* More than are served, names that are too long, keys of another type. */
START_TEST(parts_without_end)
{
	const struct hal_snapshot *s;

	begin(&small, true);
	for (unsigned i = 0; i < HAL_MAX_UNITS + 10; i++)
		sonic_command(&server, STATE, "HSET FAN_INFO|f%u presence True speed %u", i, i % 100);
	sonic_command(&server, STATE, "HSET TEMPERATURE_INFO|%0120u temperature 1", 7u);
	sonic_command(&server, STATE, "SET TEMPERATURE_INFO|odd 1");
	sonic_command(&server, STATE, "HSET TEMPERATURE_INFO|\xff\x1b[2J temperature nan");
	step_s(11);
	s = look();
	ck_assert_uint_eq(s->n_sensors, HAL_MAX_UNITS + 1);
	expect_sensor(s, "\xc3\xbf?[2J", 0, HAL_SENSOR_UNAVAILABLE);
	ck_assert_uint_ge(stat("sonic.parts_left_out"), 11);
	hal_snapshot_release(s);
	end();
}
END_TEST

static void
write_neighbour(const char *port, unsigned index, const char *chassis, const char *remote)
{
	sonic_command(&server, APPL, "HSET LLDP_ENTRY_TABLE:%s lldp_rem_chassis_id_subtype 4 lldp_rem_chassis_id %s"
	    " lldp_rem_port_id_subtype 5 lldp_rem_port_id %s lldp_rem_port_desc to_%s lldp_rem_sys_name core-%u lldp_rem_index %u"
	    " lldp_rem_time_mark 86400 lldp_rem_sys_cap_supported 28 lldp_rem_man_addr 192.0.2.1", port, chassis, remote, port,
	    index, index);
}

/* As lldp-syncd writes them; neighbours come, change and go, and what they say is as it may be. */
START_TEST(neighbours_by_lldp)
{
	static const uint8_t own[6] = {0x52, 0x54, 0, 0x12, 0x34, 0x56}, other[6] = {0xe6, 0x81, 0xa1, 0x8d, 0xd6, 0x5b};
	const struct hal_neighbour *row;
	const struct hal_snapshot *s;
	uint64_t changed_us;

	begin(&small, true);
	s = look();
	ck_assert(!s->has_lldp);
	hal_snapshot_release(s);
	sonic_command(&server, APPL, "HSET LLDP_LOC_CHASSIS lldp_loc_chassis_id_subtype 4 lldp_loc_chassis_id 52:54:00:12:34:56"
	    " lldp_loc_sys_name sonic");
	write_neighbour("Ethernet4", 7, "e6:81:a1:8D:d6:5b", "ge-0/0/1");
	write_neighbour("Ethernet2", 8, "e6:81:a1:8d:d6", "ge-0/0/2"); /* no MAC address */
	write_neighbour("Ethernet3", 0, "e6:81:a1:8d:d6:5b", "ge-0/0/3");
	write_neighbour("Ethernet900", 9, "e6:81:a1:8d:d6:5b", "ge-0/0/4"); /* no port of ours */
	sonic_command(&server, APPL, "HSET LLDP_ENTRY_TABLE:eth0 lldp_rem_chassis_id_subtype 5 lldp_rem_chassis_id 2001:db8::1"
	    " lldp_rem_port_id_subtype 7 lldp_rem_port_id \xff\x1b[2J lldp_rem_sys_name \x1b]0;evil lldp_rem_index 2147483647");
	step_s(11);
	s = look();
	ck_assert(s->has_lldp && s->lldp.n_neighbours == 2 && s->lldp.n_ports == 25);
	ck_assert_mem_eq(s->lldp.chassis.octets, own, 6);
	ck_assert_str_eq(s->lldp.system_name, "sonic");
	ck_assert_uint_eq(stat("sonic.neighbours_refused"), 2);
	row = &s->lldp.neighbours[0];
	ck_assert(row->if_index == 5 && row->number == 7 && row->chassis.kind == LLDP_CHASSIS_MAC && row->port.kind == LLDP_PORT_NAME);
	ck_assert_mem_eq(row->chassis.octets, other, 6);
	ck_assert_mem_eq(row->port.octets, "ge-0/0/1", 8);
	ck_assert_str_eq(row->port_descr, "to_Ethernet4");
	changed_us = row->changed_mono_us;
	row = &s->lldp.neighbours[1];
	ck_assert(row->if_index == 10000 && row->number == INT32_MAX && row->chassis.n_octets == 17 && row->chassis.octets[0] == 2);
	ck_assert_str_eq(row->system_name, "?]0;evil");
	ck_assert_mem_eq(s->lldp.ports[1].id.octets, "etp2", 4); /* as lldpmgrd has lldpd say */
	ck_assert_str_eq(s->lldp.ports[1].descr, "to_rack_1");
	ck_assert_str_eq(s->lldp.ports[2].descr, "Ethernet2");
	hal_snapshot_release(s);
	write_neighbour("Ethernet4", 7, "e6:81:a1:8D:d6:5b", "ge-0/0/1"); /* the same, older */
	sonic_command(&server, APPL, "DEL LLDP_ENTRY_TABLE:eth0");
	step_s(11);
	s = look();
	ck_assert(s->lldp.n_neighbours == 1 && s->lldp.neighbours[0].changed_mono_us == changed_us);
	hal_snapshot_release(s);
	write_neighbour("Ethernet4", 8, "e6:81:a1:8d:d6:5b", "ge-0/0/5");
	step_s(11);
	s = look();
	ck_assert(s->lldp.n_neighbours == 1 && s->lldp.neighbours[0].changed_mono_us > changed_us);
	hal_snapshot_release(s);
	sonic_server_kill(&server); /* what it said is old when it is away for long */
	suffer_s(15);
	s = look();
	ck_assert(!s->has_lldp && s->lldp.n_neighbours == 0);
	hal_snapshot_release(s);
	end();
}
END_TEST

START_TEST(rows_by_tcp)
{
	sonic_server_start_tcp(&server, true);
	sonic_fill(&server, &small, 0);
	open_device();
	same_all(&small, 0);
	sonic_server_kill(&server);
	suffer_s(15);
	sonic_server_restart(&server);
	sonic_fill(&server, &small, 100);
	suffer_s(5);
	settle();
	step_s(61);
	step_s(301);
	same_all(&small, 100);
	ck_assert_uint_eq(left, 0);
	end();
}
END_TEST

/* An hour at line rate: octets go beyond 2^45, and no figure steps back or is late by more than a reading. */
START_TEST(an_hour_at_line_rate)
{
	enum { STEP_S = 60 };
	const struct hal_snapshot *s;
	uint64_t lag_truth = 0;

	begin(&small, true);
	for (uint64_t t = STEP_S; t <= 3600; t += STEP_S) {
		sonic_count(&server, &small, t);
		step_s(STEP_S);
		s = look();
		same_ports(&small, s, t);
		hal_snapshot_release(s);
	}
	/* A LAG has counted what its two members counted since they were first read. */
	for (uint32_t port = 20; port < 22; port++)
		lag_truth += sonic_counter(port, 0, 3600) - sonic_counter(port, 0, 0);
	s = look();
	ck_assert_uint_eq(hal_snapshot_port(s, 1001)->counters.value[HAL_IN_OCTETS], lag_truth);
	hal_snapshot_release(s);
	end();
}
END_TEST

/* What a member counted before its counters were first read is none of the LAG's. */
START_TEST(a_lag_before_its_members_are_counted)
{
	const struct hal_snapshot *s;

	sonic_server_start(&server, true);
	sonic_fill(&server, &small, 0);
	sonic_command(&server, COUNTERS, "DEL COUNTERS:oid:0x100000000002c COUNTERS:oid:0x100000000002d");
	open_device();
	step_s(1);
	for (uint64_t t = 0; t <= 10; t += 10) {
		sonic_count(&server, &small, t);
		step_s(1);
	}
	s = look();
	ck_assert_uint_eq(hal_snapshot_port(s, 1001)->counters.value[HAL_IN_OCTETS],
	    2 * (sonic_counter(20, 0, 10) - sonic_counter(20, 0, 0)));
	hal_snapshot_release(s);
	end();
}
END_TEST

/* As after a restart of syncd, which counts from the beginning: what was counted stays, ifCounterDiscontinuityTime says
 * it, and what is counted then is added. (`sonic-clear counters` changes nothing here: it keeps its own copy.) */
START_TEST(counters_begin_anew)
{
	static const uint64_t times_s[] = {1000, 0, 10};

	begin(&small, true);
	for (size_t i = 0; i < 3; i++) {
		const struct hal_snapshot *s;

		sonic_count(&server, &small, times_s[i]);
		step_s(1);
		s = look();
		for (uint32_t port = 0; port < small.n_ports; port++) {
			const struct hal_port *row = hal_snapshot_port(s, port + 1);

			if (port == small.without_counters)
				continue;
			ck_assert((row->discontinuity_mono_us != 0) == (i > 0));
			for (size_t f = 0; f < N_FIGURES; f++) {
				size_t field = sonic_counter_field(figures[f].field);
				uint64_t truth = sonic_counter(port, field, 1000);

				if (i == 2)
					truth += sonic_counter(port, field, 10) - sonic_counter(port, field, 0);
				ck_assert_uint_eq(row->counters.value[figures[f].figure], truth);
			}
		}
		hal_snapshot_release(s);
	}
	end();
}
END_TEST

/* ---- RMON ---- */

enum { INTERVAL_S = 30, INTERVALS = 3600 / INTERVAL_S, REST_EVERY = 10 };

static unsigned risings, fallings;

/* The only object: the collisions of Ethernet0, which the generator counts as fast as packets. */
static int
read_object(void *ctx, const struct mib_oid *name, bool fresh, struct rmon_reading *reading)
{
	const struct hal_snapshot *s = look();

	(void)ctx;
	(void)name;
	(void)fresh;
	*reading = (struct rmon_reading){.syntax = MIB_COUNTER64,
	    .value = (rmon_number)hal_snapshot_port(s, 1)->counters.value[HAL_RMON_COLLISIONS]};
	hal_snapshot_release(s);
	return 0;
}

static void
on_crossing(void *ctx, const struct rmon_crossing *crossing)
{
	(void)ctx;
	ck_assert_uint_eq(crossing->index, 1);
	risings += crossing->rising;
	fallings += !crossing->rising;
}

static void
on_rows_removed(void *ctx)
{
	(void)ctx;
	ck_abort_msg("a row has gone");
}

static struct rmon *
open_rmon(void)
{
	const struct rmon_options options = {
	    .hal = hal, .clock = &now, .control_table = &rmon_mib_history_control_table,
	    .alarm_table = &rmon_mib_alarm_table, .event_table = &rmon_mib_event_table,
	    .hc_alarm_table = &hc_alarm_mib_table, .rows_removed = on_rows_removed, .read = read_object,
	    .trap = on_crossing,
	};
	struct rmon_event event = {.index = 1, .type = RMON_EVENT_TRAP, .status = ENTRY_VALID};
	struct rmon_alarm alarm = {.index = 1, .interval_s = INTERVAL_S, .sample_type = RMON_DELTA,
	    .startup = RMON_STARTUP_EITHER, .rising = 1000, .falling = 1, .rising_event = 1, .falling_event = 1,
	    .variable = MIB_OID(1, 3, 6), .status = ENTRY_VALID};
	struct rmon *rmon;

	risings = fallings = 0;
	ck_assert_int_eq(rmon_create(&options, &rmon), 0);
	for (uint32_t port = 0; port < small.n_ports; port++) {
		struct rmon_control row = {.index = port + 1, .buckets_requested = INTERVALS,
		    .interval_s = INTERVAL_S, .status = ENTRY_VALID,
		    .source = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 1, port + 1)};

		if (port != small.without_counters)
			ck_assert_int_eq(managed_add(rmon_managed(rmon)[0], &row), 0);
	}
	ck_assert_int_eq(managed_add(rmon_managed(rmon)[1], &alarm), 0);
	ck_assert_int_eq(managed_add(rmon_managed(rmon)[2], &event), 0);
	rmon_changed(rmon, hal_steady_us(hal));
	return rmon;
}

static void
same_bucket(const struct rmon_bucket *bucket, uint64_t seconds)
{
	static const struct {
		enum rmon_history_figure figure;
		const char *field;
	} parts[] = {{RMON_DROP_EVENTS, "ETHER_STATS_DROP_EVENTS"}, {RMON_OCTETS, "ETHER_STATS_OCTETS"},
	    {RMON_PKTS, "ETHER_STATS_PKTS"}, {RMON_BCAST_PKTS, "ETHER_STATS_BROADCAST_PKTS"},
	    {RMON_CRC_ALIGN, "ETHER_STATS_CRC_ALIGN_ERRORS"}, {RMON_COLLISIONS, "ETHER_STATS_COLLISIONS"}};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t field = sonic_counter_field(parts[i].field);
		uint64_t truth = sonic_counter(bucket->control - 1, field, seconds) -
		    sonic_counter(bucket->control - 1, field, 0);

		ck_assert(bucket->known >> parts[i].figure & 1);
		ck_assert_msg(bucket->counts[parts[i].figure] == truth, "port %u bucket %u %s: %ju, truth %ju",
		    bucket->control, bucket->sample, parts[i].field, (uintmax_t)bucket->counts[parts[i].figure],
		    (uintmax_t)truth);
	}
}

/* An hour of histories at line rate, in which every tenth interval is quiet: each bucket has what was counted in its
 * interval, and the alarm goes off and on at each rest. */
START_TEST(histories_and_alarms_of_an_hour)
{
	const struct rmon_tables *tables;
	uint64_t began_us, t_s = 0;
	struct rmon *rmon;

	begin(&small, true);
	rmon = open_rmon();
	began_us = hal_steady_us(hal);
	for (uint64_t i = 1; i <= INTERVALS; i++) {
		t_s += i % REST_EVERY == 0 ? 0 : INTERVAL_S;
		sonic_count(&server, &small, t_s);
		clock_step_us(&now, began_us + i * INTERVAL_S * SECOND_US - hal_steady_us(hal));
		settle();
		rmon_run(rmon, hal_steady_us(hal));
	}
	rmon_publish(rmon);
	tables = rmon_tables_hold(rmon);
	ck_assert_uint_eq(tables->n_buckets, (small.n_ports - 1) * INTERVALS);
	for (size_t i = 0; i < tables->n_buckets; i++)
		same_bucket(&tables->buckets[i], tables->buckets[i].sample % REST_EVERY == 0 ? 0 : INTERVAL_S);
	ck_assert_uint_eq(risings, INTERVALS / REST_EVERY);
	ck_assert_uint_eq(fallings, INTERVALS / REST_EVERY);
	rmon_tables_release(tables);
	rmon_destroy(rmon);
	end();
}
END_TEST

/* ---- changes ---- */

/* Waits until the device has the value; it is told, or looks within a second of its clock. */
#define AWAIT(condition)                                                                           \
	do {                                                                                       \
		bool seen = false;                                                                 \
		for (int tries = 0; tries < 200 && !seen; tries++) {                               \
			const struct hal_snapshot *s;                                              \
			struct pollfd ready = {.fd = hal_fd(hal), .events = POLLIN};               \
			(void)poll(&ready, 1, 50);                                                 \
			if (!server.events || tries > 100)                                         \
				clock_step_us(&now, SECOND_US);                                    \
			settle();                                                                  \
			s = look();                                                                \
			seen = (condition);                                                        \
			hal_snapshot_release(s);                                                   \
		}                                                                                  \
		ck_assert_msg(seen, "%s", #condition);                                             \
	} while (0)

static size_t
n_addresses(const struct hal_snapshot *s)
{
	return s->n_addresses - s->fdb_addresses;
}

START_TEST(changes_are_seen)
{
	static const char key[] = "ASIC_STATE:SAI_OBJECT_TYPE_FDB_ENTRY:{\"bvid\":\"oid:0x2600000000000a\","
	    "\"mac\":\"02:00:00:00:00:01\",\"switch_id\":\"oid:0x21000000000000\"}";

	begin(&small, _i == 0);
	sonic_command(&server, APPL, "HSET PORT_TABLE:Ethernet0 oper_status down");
	AWAIT(hal_snapshot_port(s, 1)->oper_status == EASE_IF_DOWN);
	ck_assert_uint_eq(changed, 1);
	sonic_command(&server, APPL, "HSET PORT_TABLE:Ethernet0 description uplink");
	AWAIT(strcmp(hal_snapshot_port(s, 1)->alias, "uplink") == 0);
	sonic_command(&server, APPL, "HSET PORT_TABLE:Ethernet100 alias etp101 speed 100000 mtu 9100 admin_status up "
	    "oper_status up");
	AWAIT(hal_snapshot_port(s, 101) != NULL);
	ck_assert_uint_eq(came, 1);
	sonic_command(&server, APPL, "DEL PORT_TABLE:Ethernet100");
	AWAIT(hal_snapshot_port(s, 101) == NULL);
	ck_assert_uint_eq(left, 1);
	sonic_command(&server, APPL, "DEL LAG_MEMBER_TABLE:PortChannel1:Ethernet20");
	AWAIT(hal_snapshot_port(s, 21)->lag_parent == 0);
	sonic_command(&server, APPL, "HSET VLAN_MEMBER_TABLE:Vlan10:Ethernet20 tagging_mode untagged");
	AWAIT(hal_snapshot_pvid(s, 21) == 10);
	sonic_command(&server, ASIC, "HSET %s SAI_FDB_ENTRY_ATTR_TYPE SAI_FDB_ENTRY_TYPE_DYNAMIC "
	    "SAI_FDB_ENTRY_ATTR_BRIDGE_PORT_ID oid:0x3a000000000001", key);
	AWAIT(n_addresses(s) == 51);
	ck_assert_uint_eq(new_addresses, 1);
	sonic_command(&server, ASIC, "DEL %s", key);
	AWAIT(n_addresses(s) == 50);
	end();
}
END_TEST

START_TEST(an_alarm_comes_once)
{
	begin(&small, true);
	ck_assert_int_eq(hal_alarm(hal, hal_steady_us(hal) + 2 * SECOND_US), 0);
	step_s(1);
	ck_assert_uint_eq(alarms, 0);
	step_s(1);
	step_s(1);
	ck_assert_uint_eq(alarms, 1);
	end();
}
END_TEST

/* ---- Redis away, restarted, slow, half-filled ---- */

START_TEST(away_and_back)
{
	const struct hal_snapshot *s;

	begin(&small, true);
	sonic_server_kill(&server);
	suffer_s(5);
	s = look(); /* not stale yet */
	same_ports(&small, s, 0);
	hal_snapshot_release(s);
	suffer_s(10);
	s = look();
	ck_assert_uint_eq(s->n_ports, 24 + 2 + 3 + 1);
	for (size_t i = 0; i < s->n_ports; i++) {
		ck_assert_uint_eq(s->ports[i].oper_status, EASE_IF_STATUS_UNKNOWN);
		ck_assert_uint_eq(s->ports[i].counters.known, 0);
	}
	ck_assert_uint_eq(left, 0);
	hal_snapshot_release(s);
	/* It comes back with nothing, then with half of it, then with all. */
	sonic_server_restart(&server);
	suffer_s(5);
	settle();
	s = look();
	ck_assert_uint_eq(s->n_ports, 24 + 2 + 3);
	ck_assert_uint_eq(hal_snapshot_port(s, 1)->oper_status, EASE_IF_STATUS_UNKNOWN);
	hal_snapshot_release(s);
	sonic_command(&server, APPL, "HSET PORT_TABLE:Ethernet3 admin_status up oper_status up");
	step_s(61);
	s = look();
	ck_assert_uint_eq(hal_snapshot_port(s, 4)->oper_status, EASE_IF_UP);
	ck_assert_uint_eq(hal_snapshot_port(s, 5)->oper_status, EASE_IF_STATUS_UNKNOWN);
	hal_snapshot_release(s);
	sonic_fill(&server, &small, 100);
	step_s(61);
	step_s(301);
	same_all(&small, 100);
	end();
}
END_TEST

START_TEST(slow)
{
	begin(&small, true);
	kill(server.pid, SIGSTOP);
	suffer_s(30);
	ck_assert_uint_ge(stat("sonic.lost_links"), 1);
	ck_assert_uint_eq(left, 0);
	kill(server.pid, SIGCONT);
	suffer_s(5);
	settle();
	step_s(61);
	same_all(&small, 0);
	end();
}
END_TEST

/* No table, no field, no number, another type: what is not known is not there, and all the rest is. */
START_TEST(parts_are_missing)
{
	const struct hal_snapshot *s;

	begin(&small, true);
	sonic_command(&server, COUNTERS, "DEL COUNTERS:oid:0x1000000000018");
	sonic_command(&server, COUNTERS, "HDEL COUNTERS:oid:0x1000000000019 SAI_PORT_STAT_IF_IN_ERRORS");
	sonic_command(&server, COUNTERS, "HSET COUNTERS:oid:0x100000000001a SAI_PORT_STAT_IF_IN_ERRORS N/A");
	sonic_command(&server, COUNTERS, "DEL COUNTERS:oid:0x100000000001b");
	sonic_command(&server, COUNTERS, "SET COUNTERS:oid:0x100000000001b text");
	sonic_command(&server, APPL, "DEL PORT_TABLE:Ethernet4");
	sonic_command(&server, APPL, "SET PORT_TABLE:Ethernet4 text");
	sonic_command(&server, APPL, "HDEL PORT_TABLE:Ethernet5 mtu");
	step_s(1);
	step_s(61);
	s = look();
	ck_assert_uint_eq(s->n_ports, 30);
	ck_assert_uint_eq(hal_snapshot_port(s, 1)->counters.known, 0);
	ck_assert_uint_eq(hal_snapshot_port(s, 2)->counters.known >> HAL_IN_ERRORS & 1, 0);
	ck_assert_uint_eq(hal_snapshot_port(s, 2)->counters.known >> HAL_IN_OCTETS & 1, 1);
	ck_assert_uint_eq(hal_snapshot_port(s, 3)->counters.known >> HAL_IN_ERRORS & 1, 0);
	same_counters(&hal_snapshot_port(s, 7)->counters, 6, 0);
	hal_snapshot_release(s);
	sonic_command(&server, COUNTERS, "DEL COUNTERS_PORT_NAME_MAP COUNTERS_LAG_NAME_MAP");
	step_s(61);
	s = look();
	for (size_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].if_index < 1000)
			ck_assert_uint_eq(s->ports[i].counters.known, 0);
	hal_snapshot_release(s);
	end();
}
END_TEST

/* ---- sampling ---- */

static struct sampling_port_config
config_of(uint32_t if_index)
{
	struct sampling_port_config config;

	ck_assert_int_eq(sampling_get_port(sampling, if_index, &config), 0);
	return config;
}

/* What SONiC's sflowmgrd does when CONFIG_DB changes. */
static void
carry_out(const char *port)
{
	char key[64], rate[64];

	snprintf(key, sizeof(key), "SFLOW_SESSION|%s", port);
	snprintf(rate, sizeof(rate), "%s", sonic_field(&server, CONFIG, key, "sample_rate"));
	if (strcmp(sonic_field(&server, CONFIG, key, "admin_state"), "up") == 0)
		sonic_command(&server, APPL, "HSET SFLOW_SESSION_TABLE:%s admin_state up sample_rate %s "
		    "sample_direction rx", port, rate);
	else
		sonic_command(&server, APPL, "DEL SFLOW_SESSION_TABLE:%s", port);
}

START_TEST(the_mean_skip)
{
	const struct lease_claim claim = {.owner = "station", .has_ttl = true, .ttl_s = 300, .asks = true};
	struct sampling_port_config config;
	size_t refused;

	sonic_server_start(&server, true);
	sonic_fill(&server, &small, 0);
	sonic_command(&server, APPL, "HSET SFLOW_SESSION_TABLE:Ethernet1 admin_state up sample_rate 25000 "
	    "sample_direction rx");
	open_device();
	/* What SONiC has is taken over, and nothing is written. */
	ck_assert(!config_of(1).enabled);
	ck_assert(config_of(2).enabled && config_of(2).mean_skip == 25000);
	ck_assert_str_eq(sonic_field(&server, CONFIG, "SFLOW_SESSION|Ethernet1", "sample_rate"), "");
	/* A station's requests would outlive the agent in CONFIG_DB: no port takes them. */
	ck_assert_int_eq(sampling_check_claim(sampling, &claim, &(uint32_t){2}, 1, &refused), -EOPNOTSUPP);
	ck_assert_uint_eq(refused, 0);
	/* A manager's SET */
	config = config_of(1);
	config.enabled = true;
	config.mean_skip = 8388608;
	ck_assert_int_eq(hal_check_sampling_rate(hal, 1, config.mean_skip), 0);
	ck_assert_int_eq(sampling_set_port(sampling, 1, &config), 0);
	settle();
	ck_assert_str_eq(sonic_field(&server, CONFIG, "SFLOW_SESSION|Ethernet0", "sample_rate"), "8388608");
	ck_assert_str_eq(sonic_field(&server, CONFIG, "SFLOW_SESSION|Ethernet0", "admin_state"), "up");
	carry_out("Ethernet0");
	AWAIT(config_of(1).enabled && config_of(1).mean_skip == 8388608 &&
	    hal_snapshot_port(s, 1)->sampled_by == EASE_SAMPLED_BY_CHIP);
	/* One that SONiC does not carry out is taken back after 5 s. */
	config.mean_skip = 1024;
	ck_assert_int_eq(sampling_set_port(sampling, 1, &config), 0);
	step_s(4);
	ck_assert_uint_eq(config_of(1).mean_skip, 1024);
	step_s(2);
	ck_assert_uint_eq(config_of(1).mean_skip, 8388608);
	ck_assert_uint_eq(stat("sonic.sets_lost"), 1);
	/* Refused ones change nothing. */
	ck_assert_int_eq(hal_check_sampling_rate(hal, 1, 255), -EBUSY);
	ck_assert_int_eq(hal_check_sampling_rate(hal, 1, 8388609), -EBUSY);
	ck_assert_int_eq(hal_check_sampling_rate(hal, 1, 256), 0);
	ck_assert_int_eq(hal_check_sampling_rate(hal, 1001, 256), -ENODEV);
	config.mean_skip = 100;
	ck_assert_int_eq(sampling_set_port(sampling, 1, &config), -EBUSY);
	ck_assert_uint_eq(config_of(1).mean_skip, 8388608);
	/* An operator's command is seen. */
	sonic_command(&server, APPL, "HSET SFLOW_SESSION_TABLE:Ethernet0 sample_rate 512");
	AWAIT(config_of(1).mean_skip == 512 && s);
	sonic_command(&server, APPL, "DEL SFLOW_SESSION_TABLE:Ethernet0");
	AWAIT(!config_of(1).enabled && s);
	/* Switched off by a manager */
	config = config_of(2);
	config.enabled = false;
	ck_assert_int_eq(sampling_set_port(sampling, 2, &config), 0);
	settle();
	ck_assert_str_eq(sonic_field(&server, CONFIG, "SFLOW_SESSION|Ethernet1", "admin_state"), "down");
	end();
}
END_TEST

START_TEST(alias_and_admin_status)
{
	begin(&small, true);
	ck_assert_int_eq(hal_set_alias(hal, 1, "to core"), 0);
	ck_assert_int_eq(hal_set_admin_status(hal, 1, EASE_IF_DOWN), 0);
	ck_assert_int_eq(hal_set_admin_status(hal, 1001, EASE_IF_DOWN), 0);
	ck_assert_int_eq(hal_set_admin_status(hal, 2010, EASE_IF_DOWN), -ENODEV);
	settle();
	ck_assert_str_eq(sonic_field(&server, CONFIG, "PORT|Ethernet0", "description"), "to core");
	ck_assert_str_eq(sonic_field(&server, CONFIG, "PORT|Ethernet0", "admin_status"), "down");
	ck_assert_str_eq(sonic_field(&server, CONFIG, "PORTCHANNEL|PortChannel1", "admin_status"), "down");
	sonic_server_kill(&server);
	suffer_s(1);
	ck_assert_int_eq(hal_set_alias(hal, 1, "x"), -EAGAIN);
	end();
}
END_TEST

/* ---- faults at random ---- */

static uint64_t seed;

static uint32_t
draw(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

static void
fault(uint64_t *t_s, bool *stopped)
{
	static const char *const garbage[] = {"", "-1", "18446744073709551616", "N/A", "0x10", "99999999999999999999999"};

	if (!server.redis && draw(3) != 0)
		return;
	if (*stopped || !server.redis) {
		if (*stopped)
			kill(server.pid, SIGCONT);
		else
			sonic_server_restart(&server);
		*stopped = false;
		return;
	}
	switch (draw(10)) {
	case 0:
		sonic_server_kill(&server);
		return;
	case 1:
		kill(server.pid, SIGSTOP);
		*stopped = true;
		return;
	case 2:
		sonic_command(&server, COUNTERS, "DEL COUNTERS:oid:0x%x", 0x18 + draw(24));
		sonic_command(&server, COUNTERS, "HDEL COUNTERS_PORT_NAME_MAP Ethernet%u", draw(24));
		return;
	case 3:
		sonic_command(&server, APPL, "DEL PORT_TABLE:Ethernet%u", draw(24));
		return;
	case 4:
		sonic_command(&server, APPL, "DEL PORT_TABLE:PortInitDone");
		return;
	case 5:
		sonic_command(&server, APPL, "HSET PORT_TABLE:Ethernet%u speed %s mtu %s oper_status %s", draw(24),
		    garbage[draw(6)], garbage[draw(6)], garbage[draw(6)]);
		return;
	case 6:
		sonic_command(&server, ASIC, "FLUSHDB");
		return;
	case 7:
		sonic_command(&server, (int)draw(3), "CLIENT KILL TYPE normal SKIPME yes");
		return;
	case 8:
		sonic_command(&server, (int)draw(3), "FLUSHALL");
		return;
	default:
		*t_s += 5;
		sonic_fill(&server, &small, *t_s);
		return;
	}
}

/* A row that is there is whole: its name fits its number, and no figure that is known is 0, because none is. */
static void
check_rows(uint64_t figures_before[24][HAL_N_FIGURES])
{
	const struct hal_snapshot *s = look();

	for (size_t i = 0; i < s->n_ports; i++) {
		const struct hal_port *row = &s->ports[i];

		ck_assert(i == 0 || s->ports[i - 1].if_index < row->if_index);
		ck_assert_uint_ge(row->oper_status, EASE_IF_UP);
		for (size_t f = 0; f < HAL_N_FIGURES && row->if_index <= 24; f++) {
			uint64_t *before = &figures_before[row->if_index - 1][f];

			if (!(row->counters.known >> f & 1))
				continue;
			ck_assert_uint_ne(row->counters.value[f], 0);
			ck_assert_msg(row->discontinuity_mono_us != 0 || row->counters.value[f] >= *before,
			    "port %u figure %zu steps back", row->if_index, f);
			*before = row->counters.value[f];
		}
	}
	hal_snapshot_release(s);
}

START_TEST(faults_at_random)
{
	uint64_t before[24][HAL_N_FIGURES] = {0}, t_s = 0;
	int n = getenv("EASE_LONG") ? 1000 : 100;
	bool stopped = false;

	seed = (uint64_t)_i * 77 + 1;
	begin(&small, _i % 2 == 0);
	for (int i = 0; i < n; i++) {
		struct pollfd ready = {.fd = hal_fd(hal), .events = POLLIN};

		fault(&t_s, &stopped);
		for (unsigned turn = draw(8); turn > 0; turn--) {
			(void)poll(&ready, 1, 1);
			suffer_s(draw(3));
		}
		check_rows(before);
	}
	if (stopped)
		kill(server.pid, SIGCONT);
	if (!server.redis)
		sonic_server_restart(&server);
	sonic_command(&server, APPL, "FLUSHALL");
	sonic_fill(&server, &small, t_s + 1000);
	suffer_s(5);
	settle();
	step_s(61);
	step_s(301);
	step_s(5);
	same_all(&small, t_s + 1000);
	end();
}
END_TEST

static void
clean_up(void)
{
	if (server.pid > 0)
		sonic_server_end(&server);
}

int
main(void)
{
	Suite *suite = suite_create("sonic");
	TCase *rows = tcase_create("rows"), *away = tcase_create("away"), *sets = tcase_create("sets");
	TCase *faults = tcase_create("faults");

	signal(SIGPIPE, SIG_IGN);
	tcase_add_checked_fixture(rows, NULL, clean_up);
	tcase_set_timeout(rows, 120);
	tcase_add_loop_test(rows, rows_are_the_generators, 0, 2);
	tcase_add_test(rows, transceivers_are_parts_of_their_ports);
	tcase_add_test(rows, published_values);
	tcase_add_test(rows, parts_without_end);
	tcase_add_test(rows, neighbours_by_lldp);
	tcase_add_test(rows, rows_by_tcp);
	tcase_add_test(rows, an_hour_at_line_rate);
	tcase_add_test(rows, a_lag_before_its_members_are_counted);
	tcase_add_test(rows, histories_and_alarms_of_an_hour);
	tcase_add_test(rows, counters_begin_anew);
	tcase_add_loop_test(rows, changes_are_seen, 0, 2);
	tcase_add_test(rows, an_alarm_comes_once);
	suite_add_tcase(suite, rows);
	tcase_add_checked_fixture(away, NULL, clean_up);
	tcase_set_timeout(away, 120);
	tcase_add_test(away, away_and_back);
	tcase_add_test(away, slow);
	tcase_add_test(away, parts_are_missing);
	suite_add_tcase(suite, away);
	tcase_add_checked_fixture(sets, NULL, clean_up);
	tcase_set_timeout(sets, 120);
	tcase_add_test(sets, the_mean_skip);
	tcase_add_test(sets, alias_and_admin_status);
	suite_add_tcase(suite, sets);
	tcase_add_checked_fixture(faults, NULL, clean_up);
	tcase_set_timeout(faults, 900);
	tcase_add_loop_test(faults, faults_at_random, 0, 2);
	suite_add_tcase(suite, faults);
	return suite_run(suite);
}
