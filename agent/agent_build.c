/*
 * Creates and destroys the agent: each part in its order, connected with the parts that it uses.
 */
#include "agent/agent_private.h"
#include "agent/hal/abilities.h"
#include "agent/linux/linux_device.h"
#include "agent/privilege.h"
#include "agent/sim/dummy.h"
#include "agent/sim/emulated.h"
#include "agent/sonic/sonic_device.h"
#include "common/udp_out.h"
#include "mibs/mibs.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct stat_name stat_names[N_STATS] = {
    [STAT_ADDRESSES_SUPPRESSED] = {"agent.addresses_suppressed",
	"easeNewAddress not sent because of address_rate"},
    [STAT_HELD_BACK] = {"agent.held_back",
	"times a board in lock step waited for space in the notification queue"},
};

static struct emulated_config
emulated_from(const struct agent_config *config)
{
	static const enum emulated_pace paces[] = {
	    [AGENT_PACE_RECORDED] = EMULATED_PACE_RECORDED,
	    [AGENT_PACE_LOCK_STEP] = EMULATED_PACE_LOCK_STEP,
	};
	static const enum feed_deal deals[] = {
	    [AGENT_DEAL_SOURCE] = FEED_DEAL_ROUND_ROBIN,
	    [AGENT_DEAL_HASH] = FEED_DEAL_HASH,
	    [AGENT_DEAL_INTERFACE] = FEED_DEAL_INTERFACE,
	};
	static const enum emulated_zero zeros[] = {
	    [AGENT_ZERO_AUTO] = EMULATED_ZERO_AUTO,
	    [AGENT_ZERO_CAPTURE] = EMULATED_ZERO_CAPTURE,
	    [AGENT_ZERO_NOW] = EMULATED_ZERO_NOW,
	};

	return (struct emulated_config){
	    .board_file = config->board,
	    .capture = config->capture && config->capture[0] ? config->capture : NULL,
	    .pace = paces[config->pace],
	    .times = config->speed_factor,
	    .loop = config->loop,
	    .deal = deals[config->deal],
	    .zero = zeros[config->time_zero],
	    .clock = &clock_system,
	};
}

static int
create_dummy(const struct agent_config *config, struct hal_device **device, char *error, size_t error_size)
{
	struct dummy_config dummy = {
	    .n_ports = config->dummy_ports,
	    .n_addresses = config->dummy_addresses,
	    .n_vlans = config->dummy_vlans,
	    .speed_bps = 1000000000,
	    .clock = &clock_system,
	};
	int rc = dummy_create(&dummy, device);

	if (rc < 0)
		snprintf(error, error_size, "the dummy device cannot be made: %s", strerror(-rc));
	return rc;
}

/* Lists the UDP ports that this machine's own notifications and sFlow are sent to, so that these
 * are not sampled. */
static size_t
name_own_ports(const struct agent_config *config, uint16_t ports[LINUX_OWN_PORTS_MAX])
{
	const struct trap_sink *sinks = config->trap_sinks.items;
	size_t n = 0;

	_Static_assert(LINUX_OWN_PORTS_MAX >= TRAP_SINKS_MAX + 1 + SFLOW_COLLECTORS_MAX, "sinks, the master's, sFlow's");
	_Static_assert((int)SONIC_OWN_PORTS_MAX == (int)LINUX_OWN_PORTS_MAX, "one list serves both");
	ports[n++] = (uint16_t)config->trap_port;
	for (size_t i = 0; i < config->sflow_collectors.n; i++)
		if (udp_out_port(config->sflow_collectors.items[i]))
			ports[n++] = udp_out_port(config->sflow_collectors.items[i]);
	for (size_t i = 0; i < config->trap_sinks.n; i++)
		ports[n++] = udp_out_port(sinks[i].address);
	return n;
}

static struct sonic_config
sonic_from(const struct agent_config *config)
{
	enum { LOAD_WAIT_MS = 3000 };
	struct sonic_config sonic = {
	    .database_config = config->sonic_database_config,
	    .by_tcp = config->sonic_by_tcp,
	    .sampling = config->sampling != LINUX_SAMPLING_NONE,
	    .read_only = !config->allow_set,
	    .load_wait_ms = LOAD_WAIT_MS,
	    .clock = &clock_system,
	};

	sonic.n_own_ports = name_own_ports(config, sonic.own_ports);
	return sonic;
}

/* With stable numbers each interface gets the ifIndex that its name had before. */
static int
create_linux(const struct agent_config *config, const struct state *state,
    struct hal_device **device, char *error, size_t error_size)
{
	struct links_name *kept = calloc(state_n_names(state) + 1, sizeof(*kept));
	struct linux_config linux_config = {
	    .sampling = config->sampling,
	    .ifindex = config->ifindex,
	    .read_only = !config->allow_set,
	    .drops_per_s = config->drops ? config->drops_per_s : 0,
	    .drops_kept_octets = config->header_octets,
	    .kept = kept,
	    .lldpd_socket = config->lldpd_socket,
	    .clock = &clock_system,
	};
	const char *text;
	uint32_t if_index;
	int rc;

	if (kept == NULL)
		return -ENOMEM;
	linux_config.n_own_ports = name_own_ports(config, linux_config.own_ports);
	for (size_t i = 0; state_name(state, i, &text, &if_index); i++) {
		struct links_name *name = &kept[linux_config.n_kept];

		/* A longer name was kept by another kind of device. */
		if (if_index == 0 || strlen(text) >= sizeof(name->name))
			continue;
		strcpy(name->name, text);
		name->if_index = if_index;
		linux_config.n_kept++;
	}
	rc = linux_create(&linux_config, device, error, error_size);
	free(kept);
	return rc;
}

/* Each port of the board gets the ifIndex that its name had before. */
static int
create_emulated(const struct agent_config *config, const struct state *state,
    struct hal_device **device, char *error, size_t error_size)
{
	struct kept_if_index *kept = calloc(state_n_names(state) + 1, sizeof(*kept));
	struct emulated_config emulated = emulated_from(config);
	const char *name;
	uint32_t if_index;
	int rc;

	if (kept == NULL)
		return -ENOMEM;
	for (size_t i = 0; state_name(state, i, &name, &if_index); i++) {
		if (if_index != 0)
			kept[emulated.n_kept++] = (struct kept_if_index){name, if_index};
	}
	emulated.kept = kept;
	rc = emulated_create(&emulated, device, error, error_size);
	free(kept);
	return rc;
}

static int
create_device(const struct agent_config *config, const struct state *state,
    struct hal_device **device, char *error, size_t error_size)
{
	const struct sonic_config sonic = sonic_from(config);

	switch (config->device) {
	case AGENT_DEVICE_EMULATED:
		return create_emulated(config, state, device, error, error_size);
	case AGENT_DEVICE_LINUX:
		return create_linux(config, state, device, error, error_size);
	case AGENT_DEVICE_SONIC:
		return sonic_create(&sonic, device, error, error_size);
	default:
		return create_dummy(config, device, error, error_size);
	}
}

static struct sampling_port_config
sampling_defaults(const struct agent_config *config)
{
	return (struct sampling_port_config){
	    .enabled = true,
	    .mean_skip = config->mean_skip,
	    .header_octets = config->header_octets,
	    .max_samples_per_s = config->max_samples_per_s,
	    .edge = true,
	};
}

static int
open_state(struct agent *agent, char *error, size_t error_size)
{
	const struct state_options options = {
	    .dir = agent->config->state_dir,
	    .clock = &clock_system,
	    .keep_departed_days = agent->config->keep_departed_days,
	    .forgot = agent_port_forgot,
	    .ctx = agent,
	};

	return state_open(&options, &agent->state, error, error_size);
}

static int
create_sampling(struct agent *agent)
{
	const struct agent_config *config = agent->config;
	struct sampling_options options = {
	    .draw = config->draw == 0 ? SAMPLING_GEOMETRIC : SAMPLING_UNIFORM,
	    .skip_by_speed = config->device == AGENT_DEVICE_LINUX && config->skip_by_speed,
	    .has_seed = config->seed != 0,
	    .seed = config->seed,
	    .defaults = sampling_defaults(config),
	    .least_requested_skip = config->requests ? config->requests_least_skip : 0,
	    .most_samples_per_s = config->requests_max_samples_per_s,
	};
	struct sampling_sink sink = {agent, agent_send_sample};
	struct packer_sink out = {agent, agent_push_notification, agent_samples_lost};
	int rc = packer_create(config->message_octets, &out, &agent->packer);

	return rc < 0 ? rc : sampling_create(agent->hal, &options, &sink, &agent->sampling);
}

/* What managers read and set, and what is told them of ports. */
static int
create_management(struct agent *agent)
{
	struct standard_monitor_options monitor = {
	    .hal = agent->hal,
	    .clock = &clock_system,
	    .ctx = agent,
	    .push = agent_push_standard,
	    .snapshots = &agent->snapshots,
	    .default_history = agent->config->history,
	};
	struct event_monitor_config events = {.hal = agent->hal, .sampling = agent->sampling,
	    .packer = agent->packer, .rate_per_s = agent->config->event_rate,
	    .stall_percent = agent->config->stall_event_percent};
	int rc;

	/* RMON and static addresses: tables whose rows managers make. */
	agent->snapshots = mib_snapshots_from(&agent->snapshot_parts);
	rc = standard_monitor_create(&monitor, &agent->standard_monitor);
	if (rc == 0)
		rc = static_addresses_create(agent->hal, &agent->static_addresses);
	if (rc < 0)
		return rc;
	memcpy(agent->managed, rmon_managed(standard_monitor_rmon(agent->standard_monitor)),
	    RMON_N_MANAGED * sizeof(agent->managed[0]));
	agent->managed[RMON_N_MANAGED] = static_addresses_managed(agent->static_addresses);
	state_set_tables(agent->state, agent->managed, N_MANAGED);
	/* What a GET is answered from. */
	agent->snapshot_parts = (struct mib_snapshot_parts){
	    .hal = agent->hal,
	    .sampling = agent->sampling,
	    .rmon = standard_monitor_rmon(agent->standard_monitor),
	    .static_addresses = agent->static_addresses,
	    .ring = agent->ring,
	    .boot = state_boot(agent->state),
	};
	state_agent_id(agent->state, agent->snapshot_parts.agent_id);
	/* What a SET changes. */
	agent->owners = (struct settings_owners){
	    .hal = agent->hal,
	    .sampling = agent->sampling,
	    .managed = agent->managed,
	    .n_managed = N_MANAGED,
	    .sampling_changed = agent_sampling_changed,
	    .ctx = agent,
	};
	rc = settings_create(&agent->owners, agent_settings_done, agent, &agent->settings);
	return rc < 0 ? rc : event_monitor_create(&events, &agent->event_monitor);
}

/* What sends notifications: the ring for the master, and the sinks past it. */
static int
create_outputs(struct agent *agent, char *error, size_t error_size)
{
	const struct agent_config *config = agent->config;
	struct notify_source source = {.boot = state_boot(agent->state)};
	int rc = notify_ring_create(config->queue_notifications, &agent->ring);

	state_agent_id(agent->state, source.agent_id);
	if (rc == 0 && config->trap_sinks.n > 0)
		rc = trap_sinks_create(config->trap_sinks.items, config->trap_sinks.n, &source,
		    &clock_system, &agent->sinks, error, error_size);
	return rc;
}

/* Samples lost by sFlow are drops of their port only if notifications do not carry samples. */
static int
create_sflow(struct agent *agent, char *error, size_t error_size)
{
	const struct agent_config *config = agent->config;
	struct sflow_export_options options = {
	    .collectors = config->sflow_collectors.items,
	    .n_collectors = config->sflow_collectors.n,
	    .agent_address = config->sflow_agent_address,
	    .clock = &clock_system,
	    .ctx = agent,
	    .lost = config->notify_samples ? NULL : agent_samples_lost,
	};

	if (!agent_config_has_sflow(config))
		return 0;
	return sflow_export_create(&options, &agent->sflow, error, error_size);
}

static int
create_snmp(struct agent *agent)
{
	struct snmp_agent_options options = {
	    .agentx_socket = agent->config->agentx_socket,
	    .app_name = "easeagentd",
	    .clock = &clock_system,
	    .tables = mibs_tables,
	    .n_tables = mibs_n_tables,
	    .modules = mibs_modules,
	    .n_modules = mibs_n_modules,
	    .snapshots = agent->snapshots,
	    .setter = {agent->settings, settings_apply},
	    .ring = agent->ring,
	    .boot = state_boot(agent->state),
	};

	state_agent_id(agent->state, options.agent_id);
	return snmp_agent_create(&options, &agent->snmp);
}

int
agent_create(struct agent_config *config, const char *file, struct agent **result, char *error, size_t error_size)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	int rc;

	if (agent == NULL) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	error[0] = '\0';
	agent->config = agent->live_config = config;
	agent->config_file = file;
	agent->stats = (struct stat_set){stat_names, N_STATS, agent->stat_values};
	/* First who the agent is, and which numbers its ports had: a device gives them again. */
	rc = open_state(agent, error, error_size);
	if (rc < 0)
		goto fail;
	rc = create_device(config, agent->state, &agent->device, error, error_size);
	if (rc < 0)
		goto fail;
	assert(!agent->device->sampling || agent->device->ops->fd); /* else nobody calls dispatch, and no sample comes */
	rc = hal_create(agent->device, &clock_system, &agent->hal);
	if (rc < 0)
		goto fail;
	/* What sends comes before what makes samples, and the SNMP thread, which asks all of them, last. */
	rc = create_outputs(agent, error, error_size);
	if (rc < 0)
		goto fail;
	rc = create_sampling(agent);
	if (rc < 0)
		goto fail;
	rc = create_management(agent);
	if (rc < 0)
		goto fail;
	rc = create_sflow(agent, error, error_size);
	if (rc < 0)
		goto fail;
	rc = create_snmp(agent);
	if (rc < 0)
		goto fail;
	*result = agent;
	return 0;
fail:
	if (error[0] == '\0')
		snprintf(error, error_size, "the agent could not be set up: %s", strerror(-rc));
	agent_destroy(agent);
	return rc;
}

bool
agent_destroy(struct agent *agent)
{
	if (agent == NULL)
		return true;
	if (!snmp_agent_destroy(agent->snmp))
		return false;
	settings_destroy(agent->settings);
	event_monitor_destroy(agent->event_monitor);
	static_addresses_destroy(agent->static_addresses);
	standard_monitor_destroy(agent->standard_monitor);
	packer_destroy(agent->packer);
	trap_sinks_destroy(agent->sinks);
	sflow_export_destroy(agent->sflow);
	sampling_destroy(agent->sampling);
	hal_destroy(agent->hal);
	notify_ring_destroy(agent->ring);
	state_close(agent->state);
	free(agent);
	return true;
}

/* Opens what sends notifications and sFlow, and closes it again. */
static int
check_outputs(const struct agent_config *config, char *error, size_t error_size)
{
	struct agent agent = {.config = config};
	struct notify_source source = {0};
	int rc = 0;

	if (config->trap_sinks.n > 0)
		rc = trap_sinks_create(config->trap_sinks.items, config->trap_sinks.n, &source,
		    &clock_system, &agent.sinks, error, error_size);
	if (rc == 0)
		rc = create_sflow(&agent, error, error_size);
	trap_sinks_destroy(agent.sinks);
	sflow_export_destroy(agent.sflow);
	return rc;
}

/* What SONiC's databases count is asked for in the second round, by names that the first one brings. */
static void
wait_for_sonic(const struct hal_device *device, uint32_t wait_ms)
{
	enum { TWO_ROUNDS_MS = 1200, TURN_MS = 50 };
	struct pollfd ready = {.fd = device->ops->fd(device->ctx), .events = POLLIN};
	uint64_t began_us = clock_mono_us(&clock_system), ms = 0;

	while (ms < TWO_ROUNDS_MS || (ms < wait_ms && !sonic_is_settled(device))) {
		(void)poll(&ready, 1, TURN_MS);
		device->ops->dispatch(device->ctx, 0);
		ms = (clock_mono_us(&clock_system) - began_us) / 1000;
	}
}

/* The device is created and not started, so nothing is changed. */
static int
print_abilities(const struct agent_config *config, FILE *out, char *error, size_t error_size)
{
	struct emulated_config emulated = emulated_from(config);
	struct sonic_config sonic = sonic_from(config);
	bool is_sonic = config->device == AGENT_DEVICE_SONIC;
	const struct abilities_told told = {
	    .not_counted = "COUNTERS_DB does not have them",
	    .not_sampled = "sFlow is not enabled there",
	    .about_drops = "only device = linux tells them",
	    .delays = is_sonic,
	    .about_delays = is_sonic ? "if the chip's driver does" : "only switch chips tell them",
	};
	struct hal_device *device;
	int rc = is_sonic ? sonic_create(&sonic, &device, error, error_size)
			  : emulated_create(&emulated, &device, error, error_size);

	if (rc < 0)
		return rc;
	if (is_sonic)
		wait_for_sonic(device, sonic.load_wait_ms);
	if (device->ports->count(device->ports_ctx) == 0)
		fprintf(out, "Nothing is known yet: SONiC's databases did not answer in %u ms.\n", (unsigned)sonic.load_wait_ms);
	abilities_print(device, &told, out);
	device->ops->destroy(device->ctx);
	return 0;
}

int
agent_check(const struct agent_config *config, FILE *picture, char *error, size_t error_size)
{
	struct emulated_config emulated = emulated_from(config);
	struct sonic_config sonic = sonic_from(config);
	uid_t uid;
	int rc;

	agent_privilege_print(config, picture);
	error[0] = '\0';
	rc = agent_privilege_check(config, &uid, error, error_size);
	if (rc == 0)
		rc = state_check(config->state_dir, uid, error, error_size);
	if (rc == 0)
		rc = check_outputs(config, error, error_size);
	if (rc == 0 && config->device == AGENT_DEVICE_EMULATED)
		rc = emulated_check(&emulated, picture, error, error_size);
	if (rc == 0 && config->device == AGENT_DEVICE_LINUX)
		rc = linux_check(&(struct linux_config){.clock = &clock_system, .sampling = config->sampling,
				       .drops_per_s = config->drops ? config->drops_per_s : 0},
		    picture, error, error_size);
	if (rc == 0 && config->device == AGENT_DEVICE_SONIC)
		rc = sonic_check(&sonic, error, error_size);
	if (rc == 0 && (config->device == AGENT_DEVICE_EMULATED || config->device == AGENT_DEVICE_SONIC))
		rc = print_abilities(config, picture, error, error_size);
	if (rc < 0 && error[0] == '\0')
		snprintf(error, error_size, "%s", strerror(-rc));
	return rc;
}
