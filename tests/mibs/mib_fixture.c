#include "tests/mibs/mib_fixture.h"

#include "mibs/mib_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t
fixture_if_index(size_t port)
{
	return FIXTURE_FIRST_IF + FIXTURE_IF_STEP * (uint32_t)port;
}

uint64_t
fixture_figure(uint32_t if_index, enum hal_figure figure)
{
	return ((uint64_t)if_index << 36) + 0xfffffff0u + (uint64_t)figure * 1000003;
}

bool
fixture_lacks_facets(uint32_t if_index)
{
	return (if_index - FIXTURE_FIRST_IF) / FIXTURE_IF_STEP % 3 == 2;
}

static void
fill_figures(struct hal_port *port)
{
	for (int i = 0; i < HAL_N_FIGURES; i++) {
		bool facet = i >= HAL_ALIGNMENT_ERRORS;

		if (facet && fixture_lacks_facets(port->if_index))
			continue;
		port->counters.known |= UINT64_C(1) << i;
		port->counters.value[i] = fixture_figure(port->if_index, (enum hal_figure)i);
	}
}

const uint8_t fixture_error_mac[6] = {2, 0, 0xff, 0, 0x80, 1};

static void
fill_resources(struct hal_port *port)
{
	uint32_t i = port->if_index;

	port->has_energy = port->has_buffers = !fixture_lacks_facets(i);
	port->energy = (struct hal_energy){.state = HAL_EEE_ENABLED, .counts = true,
	    .in = {fixture_figure(i, 1), fixture_figure(i, 2)},
	    .out = {fixture_figure(i, 3), fixture_figure(i, 4)}, .unit_ns = 10000,
	    .period_ns = 1000};
	port->buffers = (struct hal_buffers){.pool_buffers = 1200, .pool_free = 1200 - i,
	    .pool_least_free = 7, .buffer_octets = 64, .charged = i, .most_charged = i + 1,
	    .flow_control = HAL_FLOW_PAUSE, .pressed_episodes = fixture_figure(i, 5),
	    .pressed_us = fixture_figure(i, 6), .ingress_drops = fixture_figure(i, 7),
	    .mcast_left_out = fixture_figure(i, 8)};
}

static void
fill_error_source(struct ease_error_source *source, uint32_t if_index, uint16_t kind)
{
	*source = (struct ease_error_source){.if_index = if_index, .kind = kind,
	    .count = fixture_figure(if_index, (enum hal_figure)kind), .first_us = 951786123456789,
	    .time_us = 1795269600900000};
	memcpy(source->mac, fixture_error_mac, sizeof(source->mac));
}

static void
fill_port(struct hal_port *port, uint32_t if_index)
{
	port->if_index = if_index;
	port->base_port = (uint16_t)if_index;
	snprintf(port->name, sizeof(port->name), "ge-%u", if_index);
	snprintf(port->alias, sizeof(port->alias), "to desk %u", if_index);
	snprintf(port->descr, sizeof(port->descr), "fixture port %u", if_index);
	port->if_type = 6;
	port->mtu_octets = 1500;
	port->speed_bps = if_index % 2 ? 1000000000 : 10000000000;
	memcpy(port->mac, (uint8_t[]){2, 0, 0, 0, if_index >> 8 & 0xff, if_index & 0xff}, 6);
	port->admin_status = EASE_IF_UP;
	port->oper_status = EASE_IF_UP;
	port->forwarding = EASE_FORWARDING_SOFTWARE;
	port->sampled_by = EASE_SAMPLED_BY_KERNEL;
	port->duplex = EASE_DUPLEX_UNKNOWN;
	if (!fixture_lacks_facets(if_index)) {
		port->duplex = EASE_DUPLEX_FULL;
		port->pause_admin = HAL_PAUSE_BOTH;
		port->pause_oper = HAL_PAUSE_RCV;
	}
	port->has_connector = true;
	fill_figures(port);
	fill_resources(port);
}

static void
fill_row(struct sampling_port_row *row, uint32_t if_index)
{
	row->if_index = if_index;
	row->config = (struct sampling_port_config){.enabled = true, .mean_skip = 400,
		    .header_octets = 128, .edge = true};
	row->mean_skip_in_force = 400;
	row->samples = if_index * 10ull;
	row->last_sequence = if_index * 10;
	row->pool_in_pkts = fixture_figure(if_index, HAL_POOL_IN_PKTS);
	row->pool_out_pkts = fixture_figure(if_index, HAL_POOL_OUT_PKTS);
}

static void
fill_address(struct hal_address *address, size_t i, size_t n_ports)
{
	memcpy(address->mac, (uint8_t[]){0x00, 0x11, i >> 24, i >> 16, i >> 8, i}, 6);
	address->status = HAL_ADDRESS_LEARNED;
	address->if_index = fixture_if_index(i % n_ports);
	address->base_port = (uint16_t)address->if_index;
	address->fdb = HAL_DEFAULT_VLAN;
}

/* Two ports with three neighbours, one of which says what it likes. */
static const struct hal_lldp_port lldp_ports[] = {
	{.if_index = 1, .id = {LLDP_PORT_LOCAL, 4, "etp1"}, .descr = "to desk 1"},
	{.if_index = 4, .id = {LLDP_PORT_MAC, 6, {2, 0, 0, 0, 0, 4}}},
};
static const struct hal_neighbour neighbours[] = {
	{.if_index = 1, .number = 2, .chassis = {LLDP_CHASSIS_MAC, 6, {0, 0x1b, 0x21, 0, 0, 9}}, .port = {LLDP_PORT_NAME, 4, "ge-7"},
	    .changed_mono_us = 70 * 1000000ull, .port_descr = "uplink", .system_name = "core"},
	{.if_index = 1, .number = 3, .chassis = {LLDP_CHASSIS_ADDRESS, 5, {1, 192, 0, 2, 1}}, .port = {LLDP_PORT_LOCAL, 3, {0, 0xff, '\n'}},
	    .changed_mono_us = 90 * 1000000ull},
	{.if_index = 4, .number = 1, .chassis = {LLDP_CHASSIS_LOCAL, 1, "x"}, .port = {LLDP_PORT_LOCAL, 1, "y"}},
};

/* Two histories, an alarm, two of 64 bits, an event that was logged twice. */
static const struct rmon_control controls[] = {
	{.index = 2, .source = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 1, 4), .buckets_requested = 9,
	    .buckets_granted = 9, .interval_s = 30, .owner = "me", .status = ENTRY_VALID},
	{.index = 3, .interval_s = 1800, .status = ENTRY_UNDER_CREATION},
};
enum { EVERY_FIGURE = (1 << RMON_N_HISTORY_FIGURES) - 1 };
static const struct rmon_bucket buckets[] = {
	{.control = 2, .sample = 3, .start_mono_us = 90 * 1000000ull,
	    .counts = {[RMON_OCTETS] = 7ull << 32 | 100, [RMON_PKTS] = 5}, .utilization = 17, .known = EVERY_FIGURE},
	{.control = 2, .sample = 4, .known = EVERY_FIGURE},
	{.control = 2, .sample = 6, .known = EVERY_FIGURE},
	{.control = 3, .sample = 1, .known = EVERY_FIGURE},
	{.control = 3, .sample = 2, .known = EVERY_FIGURE},
};
static const struct rmon_alarm alarms[] = {
	{.index = 1, .interval_s = 5, .variable = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 10, 4),
	    .sample_type = RMON_DELTA, .value = -7, .startup = RMON_STARTUP_EITHER, .rising = 100,
	    .falling = -100, .rising_event = 1, .owner = "me", .status = ENTRY_VALID},
};
static const struct rmon_hc_alarm hc_alarms[] = {
	{.index = 4, .interval_s = 30, .variable = MIB_OID(1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6, 4),
	    .sample_type = RMON_DELTA, .value = 375000000000, .value_sign = RMON_POSITIVE,
	    .startup = RMON_STARTUP_RISING, .rising = {1, 87, RMON_POSITIVE},
	    .falling = {UINT32_MAX, 0, RMON_NEGATIVE}, .rising_event = 1, .failed_attempts = 3,
	    .owner = "me", .storage = RMON_NONVOLATILE, .status = ROW_ACTIVE},
	{.index = 11, .interval_s = 1, .sample_type = RMON_ABSOLUTE,
	    .value_sign = RMON_NOT_AVAILABLE, .startup = RMON_STARTUP_EITHER,
	    .rising.sign = RMON_POSITIVE, .falling.sign = RMON_POSITIVE,
	    .storage = RMON_VOLATILE, .status = ROW_NOT_READY},
};
static const struct rmon_event events[] = {
	{.index = 1, .description = "too much", .type = RMON_EVENT_BOTH, .n_logged = 2,
	    .sent_mono_us = 95 * 1000000ull, .status = ENTRY_VALID},
};
static const struct rmon_log logs[] = {
	{.event = 1, .index = 1, .mono_us = 91 * 1000000ull, .description = "first"},
	{.event = 1, .index = 2, .mono_us = 95 * 1000000ull, .description = "second"},
};
/* Two addresses tied to ports 4 and 7. */
static const struct mib_static_address_table static_addresses = {.n = 2, .rows = {
	{.mac = {0, 0x11, 0, 0, 0, 3}, .allowed = {1, {0x10}}, .status = STATIC_PERMANENT},
	{.mac = {0, 0x11, 0, 0, 0, 9}, .allowed = {1, {0x02}}, .status = STATIC_DELETE_ON_RESET},
}};
#define PART(name, rows) .name = (rows), .n_##name = sizeof(rows) / sizeof((rows)[0])
static const struct rmon_tables rmon = {PART(controls, controls), PART(buckets, buckets),
	PART(alarms, alarms), PART(hc_alarms, hc_alarms), PART(events, events), PART(logs, logs)};

static void
fill_part(struct mib_fixture *f, size_t i, struct hal_part part)
{
	f->parts[i] = part;
	if (i > 0)
		f->contents[i - 1] = (struct hal_contained){part.contained_in, part.index};
}

/* No interface runs above or below a port. */
static void
fill_structure(struct mib_fixture *f, size_t n_ports)
{
	fill_part(f, 0, (struct hal_part){.index = HAL_PART_INDEX_CHASSIS,
	    .class = HAL_PART_CHASSIS, .position = -1, .name = "chassis"});
	fill_part(f, 1, (struct hal_part){.index = 2, .contained_in = 1,
	    .class = HAL_PART_MODULE, .position = 1, .name = "asic", .model = "X1"});
	for (size_t i = 0; i < n_ports; i++) {
		uint32_t if_index = fixture_if_index(i);

		fill_part(f, 2 + i, (struct hal_part){.index = HAL_PART_INDEX_PORT + if_index,
		    .contained_in = 2, .class = HAL_PART_PORT, .position = (int32_t)if_index,
		    .if_index = if_index});
		f->layers[i] = (struct hal_layer){.lower = if_index};
		f->layers[n_ports + i] = (struct hal_layer){.higher = if_index};
	}
	f->structure = (struct hal_structure){.layers = f->layers, .n_layers = 2 * n_ports,
	    .parts = f->parts, .n_parts = 2 + n_ports, .first_port_part = 2, .n_port_parts = n_ports,
	    .contents = f->contents, .layers_changed_mono_us = 80 * 1000000ull,
	    .parts_changed_mono_us = 90 * 1000000ull};
}

int
fixture_create(size_t n_ports, size_t n_addresses, struct mib_fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->ports = calloc(n_ports, sizeof(*f->ports));
	f->rows = calloc(n_ports, sizeof(*f->rows));
	f->addresses = calloc(2 * n_addresses + 1, sizeof(*f->addresses));
	f->bridge_ports = calloc(n_ports, sizeof(*f->bridge_ports));
	f->ranges = calloc(n_ports, sizeof(*f->ranges));
	f->error_sources = calloc(2 * n_ports, sizeof(*f->error_sources));
	f->layers = calloc(2 * n_ports, sizeof(*f->layers));
	f->parts = calloc(2 + n_ports, sizeof(*f->parts));
	f->contents = calloc(1 + n_ports, sizeof(*f->contents));
	if (!f->ports || !f->rows || !f->addresses || !f->error_sources || !f->layers ||
	    !f->parts || !f->contents || !f->bridge_ports || !f->ranges) {
		fixture_destroy(f);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_ports; i++) {
		fill_port(&f->ports[i], fixture_if_index(i));
		f->bridge_ports[i] = &f->ports[i];
		f->ranges[i] = (struct hal_vlan_range){.if_index = fixture_if_index(i),
		    .base_port = (uint16_t)fixture_if_index(i), .first = 1, .last = 1, .untagged = true, .is_pvid = true};
		if (i + 1 == n_ports) /* an aggregate of the first and the third port */
			f->ports[i].if_type = 161;
		else if (i == 0 || i == 2)
			f->ports[i].lag_parent = fixture_if_index(n_ports - 1);
		fill_row(&f->rows[i], fixture_if_index(i));
		fill_error_source(&f->error_sources[2 * i], fixture_if_index(i), EASE_ERROR_FCS);
		fill_error_source(&f->error_sources[2 * i + 1], fixture_if_index(i),
		    EASE_ERROR_TOO_LONG);
	}
	for (size_t i = 0; i < 2 * n_addresses; i++)
		fill_address(&f->addresses[i], i % n_addresses, n_ports);
	f->vlans[0].vlan = HAL_DEFAULT_VLAN;
	f->vlans[0].n_learned = (uint32_t)n_addresses;
	fill_structure(f, n_ports);
	f->sensors[0] = (struct hal_sensor_row){500, 70 * 1000000ull, {"inlet", HAL_SENSOR_CELSIUS, HAL_SCALE_UNITS, HAL_SENSOR_OK,
	    3, -5500}};
	f->sensors[1] = (struct hal_sensor_row){501, 70 * 1000000ull, {"fan", HAL_SENSOR_RPM, HAL_SCALE_UNITS,
	    HAL_SENSOR_UNAVAILABLE, 0, 0}};
	f->snapshot = (struct hal_snapshot){.structure = &f->structure, .ports = f->ports,
	    .n_ports = n_ports,
	    .has_addresses = true, .addresses = f->addresses, .n_addresses = 2 * n_addresses,
	    .n_common_addresses = n_addresses, .fdb_addresses = n_addresses,
	    .has_address_discards = true,
	    .bridge_ports = f->bridge_ports, .n_bridge_ports = n_ports,
	    .vlan_ranges = f->ranges, .n_vlan_ranges = n_ports, .knows_members = true,
	    .vlans = f->vlans, .n_vlans = 1, .n_fdbs = 1, .ageing_s = 300, .has_error_sources = true,
	    .error_sources = f->error_sources,
	    .n_error_sources = 2 * n_ports, .sensors = f->sensors, .n_sensors = 2, .has_lldp = true,
	    .lldp = {.chassis = {LLDP_CHASSIS_MAC, 6, {2, 0, 0, 0, 0, 1}}, .system_name = "fixture", .ports = lldp_ports, .n_ports = 2,
		.neighbours = neighbours, .n_neighbours = 3}};
	f->sampling = (struct sampling_table){.ports = f->rows, .n_ports = n_ports};
	f->mib_snapshot = (struct mib_snapshot){.hal = &f->snapshot,
	    .sampling = &f->sampling,
	    .rmon = &rmon,
	    .static_addresses = &static_addresses,
	    .system = {.agent_id = {1, 2, 3, 4, 5, 6, 7, 8}, .boot = 7, .device_kind = "fixture"}};
	return 0;
}

void
fixture_destroy(struct mib_fixture *f)
{
	free(f->ports);
	free(f->rows);
	free(f->addresses);
	free(f->bridge_ports);
	free(f->ranges);
	free(f->error_sources);
	free(f->layers);
	free(f->parts);
	free(f->contents);
}

static void
set_one(struct mib_fixture *f, const struct mib_set *set)
{
	size_t i = set->if_index ? (set->if_index - FIXTURE_FIRST_IF) / FIXTURE_IF_STEP : 0;

	switch (set->kind) {
	case MIB_SET_ALIAS:
		snprintf(f->ports[i].alias, sizeof(f->ports[i].alias), "%.*s", EASE_NAME_MAX,
		    set->text);
		break;
	case MIB_SET_ADMIN_STATUS:
		f->ports[i].admin_status = (uint8_t)set->number;
		break;
	case MIB_SET_SAMPLING_ADMIN:
		f->rows[i].config.enabled = set->number;
		break;
	case MIB_SET_MEAN_SKIP:
		f->rows[i].config.mean_skip = (uint32_t)set->number;
		break;
	case MIB_SET_HEADER_OCTETS:
		f->rows[i].config.header_octets = (uint32_t)set->number;
		break;
	case MIB_SET_MAX_SAMPLES:
		f->rows[i].config.max_samples_per_s = (uint32_t)set->number;
		break;
	case MIB_SET_EDGE:
		f->rows[i].config.edge = set->number;
		break;
	case MIB_SET_PAUSE:
		f->ports[i].pause_admin = (uint8_t)set->number;
		break;
	case MIB_SET_AGEING:
		f->snapshot.ageing_s = (uint32_t)set->number;
		break;
	}
}

int
fixture_apply(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase,
    size_t *failed)
{
	struct mib_fixture *f = ctx;

	*failed = f->failed;
	if (phase == MIB_PHASE_TEST) {
		f->n_tests++;
		return f->test_error;
	}
	f->n_commits++;
	if (phase == MIB_PHASE_COMMIT && f->commit_error) {
		*failed = n / 2;
		for (size_t i = 0; i < n / 2; i++)
			set_one(f, &sets[i]);
		return f->commit_error;
	}
	for (size_t i = 0; i < n; i++)
		set_one(f, &sets[i]);
	return 0;
}

const void *
fixture_hold(void *ctx)
{
	return &((struct mib_fixture *)ctx)->mib_snapshot;
}

void
fixture_release(void *ctx, const void *snapshot)
{
	(void)ctx;
	(void)snapshot;
}
