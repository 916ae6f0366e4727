#include "tests/agent/agent_rig.h"

#include "agent/sim/dummy.h"

#include <errno.h>
#include <string.h>

/* ---- what the dummy lacks ---- */

static int
load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	(void)ctx;
	(void)if_index;
	(void)skip;
	return 0;
}
static const struct hal_sampling_ops sampling_ops = {.name = "rig", .max_skip = 0xfffff,
    .skip_depth = 2, .load_skip = load_skip};

static int
read_energy(void *ctx, uint32_t if_index, struct hal_energy *energy)
{
	(void)ctx;
	*energy = (struct hal_energy){.counts = true, .in = {if_index, 2}, .out = {3, 4},
	    .unit_ns = 10000, .period_ns = 1000};
	return if_index == 2 ? -ENODEV : 0;
}
static const struct hal_energy_ops energy_ops = {.name = "rig", .read = read_energy};

static int
read_buffers(void *ctx, uint32_t if_index, struct hal_buffers *buffers)
{
	(void)ctx;
	*buffers = (struct hal_buffers){.pool_buffers = 1200, .pool_free = 1200 - if_index,
	    .buffer_octets = 64, .charged = if_index, .flow_control = HAL_FLOW_PAUSE};
	return if_index == 1 ? -ENODEV : 0;
}
static const struct hal_buffers_ops buffer_ops = {.name = "rig", .read = read_buffers};
static const struct hal_errors_ops error_ops = {.name = "rig"};

static int
set_static(void *ctx, const uint8_t mac[6], uint32_t if_index)
{
	(void)ctx;
	(void)mac;
	(void)if_index;
	return 0;
}

static int
refuse_admin_status(void *ctx, uint32_t if_index, uint8_t admin_status)
{
	(void)ctx;
	(void)if_index;
	(void)admin_status;
	return -EIO;
}

static void
add_facets(struct agent_rig *rig, const struct hal_device *dummy)
{
	rig->working_ports = dummy->ports;
	rig->failing_ports = *dummy->ports;
	rig->failing_ports.set_admin_status = refuse_admin_status;
	rig->device = *dummy;
	rig->addresses = *dummy->addresses;
	rig->addresses.set_static = set_static;
	rig->device.addresses = &rig->addresses;
	rig->device.sampling = &sampling_ops;
	rig->device.energy = &energy_ops;
	rig->device.buffers = &buffer_ops;
	rig->device.errors = &error_ops;
}

void
agent_rig_fail_ports(struct agent_rig *rig, bool fail)
{
	rig->device.ports = fail ? &rig->failing_ports : rig->working_ports;
}

/* ---- the agent ---- */

static int
ignore_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)sample;
	(void)snapshot;
	return 0;
}

static int
push(void *ring, const struct ease_notification *notification)
{
	return notify_ring_push(ring, notification);
}

static int
create_standard_monitor(struct agent_rig *rig)
{
	const struct standard_monitor_options options = {.hal = rig->hal, .clock = &rig->clock,
	    .ctx = rig->ring, .push = push, .snapshots = &rig->snapshots};
	int rc;

	rig->snapshots = mib_snapshots_from(&rig->snapshot_parts);
	rc = standard_monitor_create(&options, &rig->standard_monitor);
	if (rc == 0)
		rc = static_addresses_create(rig->hal, &rig->static_addresses);
	if (rc < 0)
		return rc;
	memcpy(rig->managed, rmon_managed(standard_monitor_rmon(rig->standard_monitor)),
	    RMON_N_MANAGED * sizeof(rig->managed[0]));
	rig->managed[RMON_N_MANAGED] = static_addresses_managed(rig->static_addresses);
	rig->snapshot_parts = (struct mib_snapshot_parts){.hal = rig->hal,
	    .sampling = rig->sampling,
	    .rmon = standard_monitor_rmon(rig->standard_monitor),
	    .static_addresses = rig->static_addresses,
	    .ring = rig->ring,
	    .boot = 7,
	    .agent_id = {1, 2, 3, 4, 5, 6, 7, 8}};
	rig->owners = (struct settings_owners){.hal = rig->hal, .sampling = rig->sampling,
	    .managed = rig->managed, .n_managed = RMON_N_MANAGED + 1};
	return 0;
}

static int
create_rooms(struct agent_rig *rig)
{
	const struct sampling_options sampling = {.has_seed = true, .seed = 1,
	    .least_requested_skip = 16,
	    .defaults = {.enabled = true, .mean_skip = 400, .header_octets = 128, .edge = true}};
	const struct sampling_sink sink = {NULL, ignore_sample};
	int rc = hal_create(&rig->device, &rig->clock, &rig->hal);

	if (rc == 0)
		rc = notify_ring_create(16, &rig->ring);
	if (rc == 0)
		rc = sampling_create(rig->hal, &sampling, &sink, &rig->sampling);
	if (rc == 0)
		rc = create_standard_monitor(rig);
	return rc;
}

static void
publish(struct agent_rig *rig)
{
	while (hal_refresh(rig->hal, 0) > 0)
		;
	sampling_publish(rig->sampling);
	standard_monitor_publish(rig->standard_monitor);
	static_addresses_publish(rig->static_addresses);
}

int
agent_rig_create(struct agent_rig *rig)
{
	const struct dummy_config config = {.n_ports = AGENT_RIG_PORTS,
	    .n_addresses = AGENT_RIG_ADDRESSES, .speed_bps = 1000000000, .clock = &rig->clock};
	struct hal_device *dummy;
	int rc;

	*rig = (struct agent_rig){.clock = {.manual = true, .manual_wall_us = 1795269600000000,
	    .manual_mono_us = 5000000}};
	rc = dummy_create(&config, &dummy);
	if (rc < 0)
		return rc;
	add_facets(rig, dummy);
	rc = create_rooms(rig);
	if (rc == 0)
		rc = hal_start(rig->hal);
	if (rc < 0) {
		agent_rig_destroy(rig);
		return rc;
	}
	sampling_start(rig->sampling);
	publish(rig);
	standard_monitor_start(rig->standard_monitor, NULL);
	publish(rig);
	return 0;
}

void
agent_rig_destroy(struct agent_rig *rig)
{
	static_addresses_destroy(rig->static_addresses);
	standard_monitor_destroy(rig->standard_monitor);
	sampling_destroy(rig->sampling);
	notify_ring_destroy(rig->ring);
	hal_destroy(rig->hal);
}

void
agent_rig_step(struct agent_rig *rig, uint64_t us)
{
	clock_step_us(&rig->clock, us);
	standard_monitor_run(rig->standard_monitor, hal_steady_us(rig->hal));
	publish(rig);
}

struct mib_context
agent_rig_open(struct agent_rig *rig)
{
	return (struct mib_context){.snapshot = rig->snapshots.hold(rig->snapshots.ctx),
	    .mono_us = clock_mono_us(&rig->clock)};
}

void
agent_rig_close(struct agent_rig *rig, const struct mib_context *context)
{
	rig->snapshots.release(rig->snapshots.ctx, context->snapshot);
}

int
agent_rig_apply(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase,
    size_t *failed)
{
	struct agent_rig *rig = ctx;
	int rc = settings_carry_out(&rig->owners, sets, n, phase, failed);

	if (rc == 0 && phase != MIB_PHASE_TEST)
		standard_monitor_settings_changed(rig->standard_monitor);
	if (phase != MIB_PHASE_TEST)
		publish(rig);
	return rc;
}
