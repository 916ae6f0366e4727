#include "agent/agent.h"

#include "agent/agent_private.h"
#include "agent/linux/linux_device.h"
#include "agent/sim/emulated.h"
#include "agent/sonic/sonic_device.h"
#include "common/log.h"
#include "common/options_reload.h"
#include "common/service.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	EVENTS_PER_TURN = 64,	 /* device events that are handled before other descriptors */
	/* What a snapshot says is of the round's beginning, and stands until the next one is published: so old it may
	 * get before a late turn. Reading many ports is most of what idle ones cost. */
	SNAPSHOT_AGE_MS = 750,
	SNAPSHOT_AGE_MANY_MS = 1500,
	SNAPSHOT_MANY_PORTS = 1024,
	REFRESH_PAUSE_MIN_MS = 250,
	REFRESH_SLICE_PORTS = 64, /* takes some hundred microseconds of register reads */
	RING_RESERVE = 256, /* notifications that one turn can make; with less space, wait */
	STOP_WAIT_MS = 3000, /* how long a clean stop waits for the master to confirm */
};
/* A board in lock step passes years of silence at once. The interval of periodic notifications then
 * grows up to this value, which makes 1,461 of them a year. */
#define IDLE_INTERVAL_MAX_US (6ull * 3600 * 1000000)

/* ---- sending ---- */

int
agent_push_notification(void *ctx, const struct ease_notification *notification)
{
	struct agent *agent = ctx;

	return agent->sinks != NULL ? trap_sinks_push(agent->sinks, notification)
				    : notify_ring_push(agent->ring, notification);
}

int
agent_push_standard(void *ctx, const struct ease_notification *notification)
{
	struct agent *agent = ctx;

	if (agent->sinks != NULL)
		trap_sinks_push(agent->sinks, notification);
	return notify_ring_push(agent->ring, notification);
}

void
agent_samples_lost(void *ctx, uint32_t if_index, unsigned n_samples)
{
	sampling_count_drops(((struct agent *)ctx)->sampling, if_index, n_samples);
}

static void
flush_all(struct agent *agent)
{
	packer_flush(agent->packer);
	if (agent->sflow != NULL)
		sflow_export_flush(agent->sflow);
}

static bool
something_waits(const struct agent *agent)
{
	return packer_waits(agent->packer) || (agent->sflow != NULL && sflow_export_waits(agent->sflow));
}

static void
arm_pack_timer(struct agent *agent)
{
	struct timeval wait = {
	    .tv_sec = agent->config->message_wait_ms / 1000,
	    .tv_usec = agent->config->message_wait_ms % 1000 * 1000,
	};

	if (something_waits(agent) && !event_pending(agent->pack_timer, EV_TIMEOUT, NULL))
		event_add(agent->pack_timer, &wait);
}

static void
on_pack_timer(evutil_socket_t fd, short what, void *ctx)
{
	(void)fd;
	(void)what;
	flush_all(ctx);
}

int
agent_send_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	struct agent *agent = ctx;
	struct ease_snapshot before;

	if (agent->config->notify_samples) {
		if (sampling_end_rest(agent->sampling, snapshot->if_index, &before))
			packer_counters(agent->packer, &before);
		packer_sample(agent->packer, sample, snapshot);
	}
	if (agent->sflow != NULL)
		sflow_export_sample(agent->sflow, sample, snapshot);
	return 0;
}

/* Bridges and LAGs are left out, because the collector adds up ports and counts their members already. A
 * port that cannot be sampled is reported all the more: counters are all there is of it. */
static bool
is_reported(const struct agent *agent, uint32_t if_index)
{
	struct hal_port port;

	return hal_port_info(agent->hal, if_index, &port) == 0 && !port.not_ethernet &&
	    (!hal_has_sampling(agent->hal) || !port.over_others);
}

static void
send_sflow_counters(struct agent *agent, uint32_t if_index)
{
	struct hal_port port;

	if (agent->sflow != NULL && hal_port_info(agent->hal, if_index, &port) == 0)
		sflow_export_counters(agent->sflow, &port);
}

static void
send_resources(struct agent *agent, uint32_t if_index)
{
	struct ease_resources resources;

	if (sampling_resources(agent->sampling, if_index, &resources) == 0)
		packer_resources(agent->packer, &resources);
}

/* Energy, buffers and pause frames hold up no report, so they come less often. */
#define RESOURCES_EVERY_US (20ull * 1000000)

/* For how many rounds a port without traffic may rest. With few ports that would save nothing; sFlow has no times, so
 * nobody could tell there when a port's rest ended; and a lock-step board's rounds have a pace of their own. One port is
 * told of in each round, or nobody could tell an idle agent from a dead one. */
static unsigned
most_rounds_at_rest(const struct agent *agent)
{
	enum { REST_S = 20 };

	return !agent->round_told || hal_n_ports(agent->hal) <= PORT_ROUND_SLICE_PORTS || agent->sflow != NULL ||
	    hal_waits_for_cpu(agent->hal) ? 0 : REST_S / agent->config->counters_interval_s;
}

static void
send_counters(void *ctx, uint32_t if_index)
{
	struct agent *agent = ctx;
	struct ease_snapshot snapshots[2];
	int n = sampling_due_snapshots(agent->sampling, if_index, most_rounds_at_rest(agent), snapshots);

	if (n < 0 || (n == 0 && !agent->with_resources) || !is_reported(agent, if_index))
		return;
	for (int i = 0; i < n && agent->config->notify_samples; i++)
		packer_counters(agent->packer, &snapshots[i]);
	agent->round_told = agent->round_told || n > 0;
	if (agent->config->notify_samples && agent->with_resources)
		send_resources(agent, if_index);
	send_sflow_counters(agent, if_index); /* the counters that the snapshot just read */
	if (n > 0)
		agent->round_pool_pkts += snapshots[n - 1].pool_in_pkts + snapshots[n - 1].pool_out_pkts;
}

static void
send_all_counters(struct agent *agent)
{
	agent->with_resources = true;
	for (size_t i = 0; i < hal_n_ports(agent->hal); i++)
		send_counters(agent, hal_port_if_index(agent->hal, i));
	agent->with_resources = false;
	agent->round_pool_pkts = 0; /* this was no round */
	event_monitor_notify_sources(agent->event_monitor);
}

/* An aggregate's state is sent even though its counters are not: states of its members refer to it. */
static bool
agent_is_aggregate(const struct agent *agent, uint32_t if_index)
{
	enum { IF_TYPE_LAG = 161 }; /* ieee8023adLag of IANAifType-MIB */
	struct hal_port port;

	return hal_port_info(agent->hal, if_index, &port) == 0 && port.if_type == IF_TYPE_LAG;
}

static void
send_state(void *ctx, uint32_t if_index)
{
	struct agent *agent = ctx;
	struct ease_state state;

	if (!is_reported(agent, if_index) && !agent_is_aggregate(agent, if_index))
		return;
	if (sampling_state(agent->sampling, if_index, &state) == 0)
		packer_state(agent->packer, &state);
}

/* ---- periodic, by the steady clock ---- */

static void
arm_alarm(struct agent *agent)
{
	uint64_t next = agent->counters.next_us < agent->states.next_us ? agent->counters.next_us
									: agent->states.next_us;
	uint64_t watched = standard_monitor_next_us(agent->standard_monitor);
	int rc = hal_alarm(agent->hal, watched < next ? watched : next);

	if (rc < 0)
		log_warn_limited("agent", "the device's timer (its alarm()) cannot be set, so counters and RMON "
		    "may be late: %s", strerror(-rc));
}

/* The configured intervals of counters and states are in force at once. */
static void
intervals_changed(struct agent *agent)
{
	uint64_t now_us = hal_steady_us(agent->hal);

	agent->counters_interval_us = agent->config->counters_interval_s * 1000000ull;
	port_round_by(&agent->counters, now_us + agent->counters_interval_us);
	port_round_by(&agent->states, now_us + agent->config->state_interval_s * 1000000ull);
	arm_alarm(agent);
}

/* A lock-step board's idle days pass at once and need no snapshot every two seconds of board time. */
static void
pace_counters(struct agent *agent, uint64_t steady_us)
{
	uint64_t configured_us = agent->config->counters_interval_s * 1000000ull;
	bool idle = agent->round_pool_pkts == agent->pool_at_last_counters;

	agent->pool_at_last_counters = agent->round_pool_pkts;
	agent->round_pool_pkts = 0;
	agent->round_told = false;
	if (!idle || !hal_waits_for_cpu(agent->hal))
		agent->counters_interval_us = configured_us;
	else if (agent->counters_interval_us <= IDLE_INTERVAL_MAX_US / 2)
		agent->counters_interval_us *= 2;
	if (hal_waits_for_cpu(agent->hal))
		port_round_begin(&agent->counters, steady_us + agent->counters_interval_us);
}

static void
on_alarm(void *ctx, uint64_t steady_us)
{
	struct agent *agent = ctx;
	uint64_t states_us = agent->config->state_interval_s * 1000000ull;

	/* Samples go first: a receiver must not get counters that include samples not sent yet. */
	flush_all(agent);
	if (steady_us >= standard_monitor_next_us(agent->standard_monitor))
		standard_monitor_run(agent->standard_monitor, steady_us);
	if (port_round_run(&agent->counters, agent->hal, steady_us, agent->counters_interval_us,
		send_counters, agent)) {
		event_monitor_notify_sources(agent->event_monitor);
		pace_counters(agent, steady_us);
		agent->with_resources = steady_us >= agent->resources_us; /* in the next round */
		if (agent->with_resources)
			agent->resources_us = steady_us + RESOURCES_EVERY_US;
	}
	if (states_us < agent->counters_interval_us)
		states_us = agent->counters_interval_us;
	port_round_run(&agent->states, agent->hal, steady_us, states_us, send_state, agent);
	flush_all(agent);
	arm_alarm(agent);
}

/* ---- the HAL's listener ---- */

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	return sampling_on_sample(((struct agent *)ctx)->sampling, event);
}

static void
on_skips_lost(void *ctx, uint32_t if_index)
{
	sampling_on_skips_lost(((struct agent *)ctx)->sampling, if_index);
}

static void
on_samples_lost(void *ctx, uint32_t if_index, uint32_t n)
{
	sampling_on_samples_lost(((struct agent *)ctx)->sampling, if_index, n);
}

static void
tell_sflow(struct agent *agent, const struct hal_port_event *event)
{
	if (event->happening == HAL_PORT_CAME)
		sflow_export_port_came(agent->sflow, event->if_index,
		    sampling_last_sequence(agent->sampling, event->if_index));
	else if (event->happening == HAL_PORT_LEFT)
		sflow_export_port_left(agent->sflow, event->if_index);
}

/* What each room does at each moment of a port's life, in the order in which they build on each other. */
static void
on_port(void *ctx, const struct hal_port_event *event)
{
	struct agent *agent = ctx;
	struct managed_table *addresses = static_addresses_managed(agent->static_addresses);

	sampling_on_port(agent->sampling, event);
	state_restore_port(agent->state, &agent->owners, event);
	if (agent->sflow != NULL)
		tell_sflow(agent, event);
	static_addresses_port(agent->static_addresses, event);
	if (event->happening == HAL_PORT_CAME)
		state_retry_rows(agent->state, addresses);
	standard_monitor_port(agent->standard_monitor, event);
	event_monitor_port(agent->event_monitor, event);
	if (event->happening == HAL_PORT_CAME || event->happening == HAL_PORT_CHANGED)
		send_state(agent, event->if_index);
}

static void
on_new_address(void *ctx, const struct ease_address *address)
{
	struct agent *agent = ctx;

	uint64_t now_us = hal_steady_us(agent->hal);

	if (now_us >= agent->address_period_us + 1000000) {
		agent->address_period_us = now_us;
		agent->addresses_in_period = 0;
	}
	if (agent->addresses_in_period >= agent->config->address_rate) {
		stat_add(&agent->stats, STAT_ADDRESSES_SUPPRESSED, 1);
		return;
	}
	agent->addresses_in_period++;
	packer_address(agent->packer, address);
}

static void
on_error_source(void *ctx, const struct ease_error_source *source)
{
	event_monitor_error_source(((struct agent *)ctx)->event_monitor, source);
}

static void
on_drop(void *ctx, const struct ease_drop *drop)
{
	struct agent *agent = ctx;

	if (agent->sflow != NULL)
		sflow_export_drop(agent->sflow, drop);
}

static void
on_drops_untold(void *ctx, uint32_t if_index, uint64_t n)
{
	struct agent *agent = ctx;

	if (agent->sflow != NULL)
		sflow_export_drops_untold(agent->sflow, if_index, n);
}

static void
publish_tables(struct agent *agent)
{
	sampling_publish(agent->sampling);
	if (standard_monitor_refreshed(agent->standard_monitor))
		arm_alarm(agent);
	standard_monitor_publish(agent->standard_monitor);
	static_addresses_publish(agent->static_addresses);
	event_monitor_poll(agent->event_monitor);
}

static void
publish_all(struct agent *agent)
{
	while (hal_refresh(agent->hal, 0) > 0)
		;
	publish_tables(agent);
}

static void
on_ended(void *ctx)
{
	struct agent *agent = ctx;

	flush_all(agent);
	send_all_counters(agent);
	flush_all(agent);
	publish_all(agent);
	agent->ended = true;
	log_info("agent", "the device has no more input: all frames of the capture were played");
}

/* ---- descriptors and timers ---- */

/* Returns true if all notifications that one turn can make can be sent now. Otherwise agent_go_on is
 * called as soon as they can. */
static bool
may_send(struct agent *agent)
{
	uint64_t wait_us =
	    agent->sinks != NULL ? trap_sinks_wait_us(agent->sinks, RING_RESERVE) : 0;
	struct timeval wait = {.tv_sec = (time_t)(wait_us / 1000000),
	    .tv_usec = (suseconds_t)(wait_us % 1000000)};

	if (wait_us > 0) {
		event_add(agent->credit_timer, &wait);
		return false;
	}
	return notify_ring_want_space(agent->ring, RING_RESERVE);
}

/* A board in lock step waits for us. So we can wait until the ring has space, or the sinks' rate
 * allows, and lose no sample. */
static bool
hold_back(struct agent *agent)
{
	if (!hal_waits_for_cpu(agent->hal) || may_send(agent))
		return false;
	stat_add(&agent->stats, STAT_HELD_BACK, 1);
	agent->held_back = true;
	event_del(agent->hal_event);
	return true;
}

static void
on_device(evutil_socket_t fd, short what, void *ctx)
{
	struct agent *agent = ctx;
	int rc;

	(void)fd;
	(void)what;
	if (agent->held_back || hold_back(agent))
		return;
	rc = hal_dispatch(agent->hal, EVENTS_PER_TURN);
	if (rc < 0)
		log_warn_limited("agent", "events of the device could not be read: %s", strerror(-rc));
	if (rc > 0) {
		event_active(agent->hal_event, EV_READ, 0);
		event_base_loopcontinue(agent->base); /* else timers wait until there is no more */
	}
	arm_pack_timer(agent);
}

static void
agent_go_on(struct agent *agent)
{
	if (!agent->held_back)
		return;
	agent->held_back = false;
	event_add(agent->hal_event, NULL);
	event_active(agent->hal_event, EV_READ, 0);
}

static void
on_ring_space(evutil_socket_t fd, short what, void *ctx)
{
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_warn_limited("agent", "an eventfd cannot be read: %s", strerror(errno));
	agent_go_on(ctx);
}

static void
on_credit(evutil_socket_t fd, short what, void *ctx)
{
	(void)fd;
	(void)what;
	agent_go_on(ctx);
}

static void
on_settings(evutil_socket_t fd, short what, void *ctx)
{
	struct agent *agent = ctx;

	(void)fd;
	(void)what;
	settings_dispatch(agent->settings);
	arm_pack_timer(agent);
}

void
agent_port_forgot(void *ctx, const char *name, uint32_t if_index)
{
	struct agent *agent = ctx;

	if (agent->hal != NULL)
		hal_forget_port(agent->hal, name, if_index);
}

/* AgentX does not tell a subagent which manager sent the request. */
void
agent_sampling_changed(void *ctx, const struct settings_change *change)
{
	struct agent *agent = ctx;
	struct ease_change told = {.if_index = change->if_index, .time_us = hal_now_us(agent->hal)};
	struct hal_port port;

	if (hal_port_info(agent->hal, change->if_index, &port) < 0)
		return;
	log_info("agent", "port %s: %s set from %s to %s by a manager", port.name, change->column,
	    change->before, change->after);
	snprintf(told.object, sizeof(told.object), "%s", change->column);
	snprintf(told.before, sizeof(told.before), "%s", change->before);
	snprintf(told.after, sizeof(told.after), "%s", change->after);
	packer_change(agent->packer, &told);
}

static void
publish_set(struct agent *agent, const struct mib_set *set)
{
	hal_publish_port(agent->hal, set->if_index);
	if (set->kind == MIB_SET_REQUEST_OWNER || set->kind == MIB_SET_REQUEST_TTL)
		sampling_publish(agent->sampling);
	if (set->if_index == 0)
		return;
	sampling_publish_port(agent->sampling, set->if_index);
	send_state(agent, set->if_index); /* the edge flag and alias travel in easeState */
}

/* Publishes what the request named, and no more: the next GET shows it. A static address is also in the
 * forwarding table, which a device reads as a whole. */
static void
publish_sets(struct agent *agent, const struct mib_set *sets, size_t n)
{
	const struct managed_table *addresses = static_addresses_managed(agent->static_addresses);
	bool rows = false, tied = false;

	for (size_t i = 0; i < n; i++) {
		bool again = i > 0 && sets[i - 1].kind != MIB_SET_ROW &&
		    sets[i].if_index == sets[i - 1].if_index;

		if (sets[i].kind == MIB_SET_ROW)
			rows = true;
		else if (!again)
			publish_set(agent, &sets[i]);
		tied = tied || sets[i].table == managed_declaration(addresses);
	}
	if (rows) {
		standard_monitor_settings_changed(agent->standard_monitor);
		arm_alarm(agent);
		standard_monitor_publish(agent->standard_monitor);
	}
	if (tied)
		publish_all(agent);
}

void
agent_settings_done(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase, int result)
{
	struct agent *agent = ctx;

	if (phase == MIB_PHASE_COMMIT)
		state_keep(agent->state, sets, result == 0 ? n : 0);
	else
		state_keep_undone(agent->state, sets, n);
	publish_sets(agent, sets, n);
}

/* Until the next round, which may take as long as this one did. */
static struct timeval
refresh_pause(const struct agent *agent, uint64_t now_us)
{
	int64_t age_ms = hal_n_ports(agent->hal) < SNAPSHOT_MANY_PORTS ? SNAPSHOT_AGE_MS : SNAPSHOT_AGE_MANY_MS;
	int64_t pause_ms = age_ms - 2 * (int64_t)((now_us - agent->round_began_us) / 1000);

	if (pause_ms < REFRESH_PAUSE_MIN_MS)
		pause_ms = REFRESH_PAUSE_MIN_MS;
	return (struct timeval){.tv_sec = pause_ms / 1000, .tv_usec = pause_ms % 1000 * 1000};
}

static void
on_refresh_timer(evutil_socket_t fd, short what, void *ctx)
{
	struct agent *agent = ctx;
	struct timeval pause = {0}; /* the next slice, after whatever else is ready */

	(void)fd;
	(void)what;
	if (!agent->in_round)
		agent->round_began_us = clock_mono_us(&clock_system);
	agent->in_round = hal_refresh(agent->hal, REFRESH_SLICE_PORTS) > 0;
	if (!agent->in_round) {
		publish_tables(agent);
		pause = refresh_pause(agent, clock_mono_us(&clock_system));
	}
	if (sampling_tick(agent->sampling))
		sampling_publish(agent->sampling);
	arm_pack_timer(agent);
	state_tick(agent->state);
	service_alive(&agent->last_alive_us, clock_mono_us(&clock_system));
	event_add(agent->refresh_timer, &pause);
}

static void
log_option(void *ctx, const struct option_row *row, bool taken)
{
	unsigned *n = ctx;

	++*n;
	if (taken)
		log_info("agent", "reload: %s is in force", row->name);
	else
		log_warn("agent", "reload: %s changes with the next start only", row->name);
}

/* SIGHUP: reads the configuration again. Options that are live take effect at once, of others the log says that they
 * need a restart. If the file has a mistake, nothing changes. */
static void
reload_config(struct agent *agent)
{
	struct agent_config fresh = {0};
	char error[512];
	unsigned n = 0;

	if (agent->config_file == NULL || agent_config_load(agent->config_file, &fresh, error, sizeof(error)) < 0) {
		log_error("agent", "reload: %s; everything stays as it was", agent->config_file ? error : "no file");
	} else {
		options_reload(agent_options, agent->live_config, &fresh, log_option, &n);
		log_set_most((enum log_level)agent->config->log_level);
		log_info("agent", "reload: %s read again, %u options changed", agent->config_file, n);
	}
	options_free(agent_options, &fresh);
}

static void
agent_log_stats(struct agent *agent)
{
	const struct stat_set *device;

	for (size_t i = 0; agent->config->device == AGENT_DEVICE_EMULATED &&
	     (device = emulated_stats(agent->device, i)) != NULL; i++)
		stat_log(device);
	if (agent->config->device == AGENT_DEVICE_LINUX)
		stat_log(linux_stats(agent->device));
	if (agent->config->device == AGENT_DEVICE_SONIC)
		stat_log(sonic_stats(agent->device));
	stat_log(&agent->stats);
	stat_log(event_monitor_stats(agent->event_monitor));
	stat_log(state_stats(agent->state));
	stat_log(hal_stats(agent->hal));
	stat_log(sampling_stats(agent->sampling));
	stat_log(notify_ring_stats(agent->ring));
	stat_log(snmp_agent_stats(agent->snmp));
	stat_log(standard_monitor_stats(agent->standard_monitor));
	stat_log(rmon_stats(standard_monitor_rmon(agent->standard_monitor)));
	if (agent->sinks != NULL)
		stat_log(trap_sinks_stats(agent->sinks));
	if (agent->sflow != NULL)
		stat_log(sflow_export_stats(agent->sflow));
}

static void
on_signal(evutil_socket_t number, short what, void *ctx)
{
	struct agent *agent = ctx;

	(void)what;
	if (number == SIGUSR1) {
		agent_log_stats(agent);
	} else if (number == SIGHUP) {
		reload_config(agent);
		intervals_changed(agent);
	} else {
		event_base_loopbreak(agent->base);
	}
}

/* ---- running ---- */

static int
agent_add_events(struct agent *agent)
{
	static const int signal_numbers[4] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};
	struct timeval now = {0};

	agent->base = event_base_new();
	if (agent->base == NULL)
		return -ENOMEM;
	agent->hal_event = event_new(agent->base, hal_fd(agent->hal), EV_READ | EV_PERSIST, on_device, agent);
	agent->space_event = event_new(agent->base, notify_ring_space_fd(agent->ring),
	    EV_READ | EV_PERSIST, on_ring_space, agent);
	agent->settings_event = event_new(agent->base, settings_fd(agent->settings),
	    EV_READ | EV_PERSIST, on_settings, agent);
	agent->pack_timer = evtimer_new(agent->base, on_pack_timer, agent);
	agent->refresh_timer = evtimer_new(agent->base, on_refresh_timer, agent);
	agent->credit_timer = evtimer_new(agent->base, on_credit, agent);
	if (!agent->hal_event || !agent->space_event || !agent->settings_event ||
	    !agent->pack_timer || !agent->refresh_timer || !agent->credit_timer)
		return -ENOMEM;
	for (size_t i = 0; i < 4; i++) {
		agent->signals[i] = evsignal_new(agent->base, signal_numbers[i], on_signal, agent);
		if (agent->signals[i] == NULL || event_add(agent->signals[i], NULL) < 0)
			return -ENOMEM;
	}
	service_hold_signals(false);
	event_add(agent->hal_event, NULL);
	event_add(agent->space_event, NULL);
	event_add(agent->settings_event, NULL);
	event_add(agent->refresh_timer, &now);
	return 0;
}

static void
free_events(struct agent *agent)
{
	struct event *events[] = {agent->hal_event, agent->space_event, agent->settings_event,
	    agent->pack_timer, agent->refresh_timer, agent->credit_timer, agent->signals[0],
	    agent->signals[1], agent->signals[2], agent->signals[3]};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i] != NULL)
			event_free(events[i]);
	if (agent->base != NULL)
		event_base_free(agent->base);
	agent->base = NULL;
}

/* Sends the first counters of every port before its first frame arrives: receivers count from
 * them. */
static int
start_device(struct agent *agent)
{
	static const struct hal_listener calls = {
	    .sample = on_sample,
	    .skips_lost = on_skips_lost,
	    .samples_lost = on_samples_lost,
	    .port = on_port,
	    .new_address = on_new_address,
	    .error_source = on_error_source,
	    .drop = on_drop,
	    .drops_untold = on_drops_untold,
	    .alarm = on_alarm,
	    .ended = on_ended,
	};
	struct hal_listener listener = calls;
	uint64_t now_us;
	int rc;

	listener.ctx = agent;
	hal_set_listener(agent->hal, &listener);
	rc = hal_start(agent->hal);
	if (rc < 0)
		return rc;
	state_restore(agent->state, &agent->owners);
	sampling_start(agent->sampling);
	now_us = hal_steady_us(agent->hal);
	agent->counters_interval_us = agent->config->counters_interval_s * 1000000ull;
	for (size_t i = 0; i < hal_n_ports(agent->hal); i++)
		send_state(agent, hal_port_if_index(agent->hal, i));
	send_all_counters(agent);
	flush_all(agent);
	port_round_begin(&agent->counters, now_us + agent->counters_interval_us);
	agent->resources_us = now_us + RESOURCES_EVERY_US;
	port_round_begin(&agent->states, now_us + agent->config->state_interval_s * 1000000ull);
	state_restore_rows(agent->state, static_addresses_managed(agent->static_addresses));
	publish_all(agent);
	standard_monitor_start(agent->standard_monitor, agent->state);
	state_started(agent->state);
	arm_alarm(agent);
	event_active(agent->hal_event, EV_READ, 0); /* the first dispatch lets frames flow */
	return 0;
}

/* A clean stop: from the last counters the collector learns the last sample number of each port, and
 * with the totals on disk the next start continues the counters without a discontinuity. */
static void
stop_cleanly(struct agent *agent)
{
	hal_stop(agent->hal);
	flush_all(agent);
	send_all_counters(agent);
	flush_all(agent);
	state_save_totals(agent->state, agent->hal);
	for (unsigned ms = 0; snmp_agent_connected(agent->snmp) && ms < STOP_WAIT_MS && !notify_ring_idle(agent->ring);
	     ms += 10)
		usleep(10000);
	agent_log_stats(agent);
}

int
agent_run(struct agent *agent)
{
	int rc = agent_add_events(agent);

	if (rc == 0)
		rc = snmp_agent_start(agent->snmp);
	if (rc == 0)
		rc = start_device(agent);
	if (rc < 0) {
		log_error("agent", "the agent could not start: %s", strerror(-rc));
		goto out;
	}
	log_info("agent", "serving %zu ports of a device of kind %s, boot %u",
	    hal_n_ports(agent->hal), hal_device_kind(agent->hal), (unsigned)state_boot(agent->state));
	service_notify("READY=1");
	event_base_dispatch(agent->base);
	service_notify("STOPPING=1");
	stop_cleanly(agent);
out:
	snmp_agent_stop(agent->snmp, STOP_WAIT_MS);
	free_events(agent);
	return rc;
}
