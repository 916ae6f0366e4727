/*
 * The agent's context. agent_build.c creates and destroys it, and agent.c runs it.
 */
#ifndef EASE_AGENT_AGENT_PRIVATE_H
#define EASE_AGENT_AGENT_PRIVATE_H

#include "agent/agent.h"
#include "agent/hal/hal.h"
#include "agent/port_round.h"
#include "agent/standard_monitor.h"
#include "agent/sampling/packer.h"
#include "agent/sampling/sampling.h"
#include "agent/sampling/sflow_export.h"
#include "agent/settings.h"
#include "agent/state.h"
#include "agent/snmp/snmp_agent.h"
#include "agent/snmp/trap_sinks.h"
#include "agent/static_addresses.h"
#include "agent/mib_snapshots.h"
#include "agent/event_monitor.h"

struct event;
struct event_base;

enum { N_MANAGED = RMON_N_MANAGED + 1 }; /* RMON's, and static addresses */

enum agent_stat { STAT_ADDRESSES_SUPPRESSED, STAT_HELD_BACK, N_STATS };

struct agent {
	const struct agent_config *config;
	struct agent_config *live_config; /* the same, writable: SIGHUP changes it */
	const char *config_file;
	uint64_t last_alive_us;
	uint64_t round_began_us; /* by clock_mono_us: of the ports that a snapshot is made of */
	bool in_round;
	struct state *state;
	struct hal_device *device; /* the HAL's */
	struct hal *hal;
	struct sampling *sampling;
	struct packer *packer;
	struct event_monitor *event_monitor;
	struct sflow_export *sflow; /* NULL: off */
	struct notify_ring *ring;
	struct trap_sinks *sinks; /* NULL: all notifications go through the master */
	struct settings_owners owners;
	struct settings *settings;
	struct standard_monitor *standard_monitor;
	struct static_addresses *static_addresses;
	struct managed_table *managed[N_MANAGED];
	struct mib_snapshot_parts snapshot_parts;
	struct mib_snapshot_source snapshots;
	struct snmp_agent *snmp;
	struct event_base *base;
	struct event *hal_event, *space_event, *settings_event, *pack_timer, *refresh_timer,
	    *credit_timer;
	struct event *signals[4];
	bool held_back; /* a lock-step board waits for space in the ring, or for the sinks' rate */
	bool ended;
	uint64_t counters_interval_us; /* longer than configured while a lock-step board is idle */
	struct port_round counters, states; /* when each port's are sent */
	bool with_resources;   /* this round of counters has energy, buffers and pause frames, too */
	uint64_t resources_us; /* steady: when the next such round may begin */
	bool round_told; /* some port was told of in this round */
	uint64_t round_pool_pkts; /* pools of the ports of this round of counters */
	uint64_t pool_at_last_counters;
	uint64_t address_period_us; /* steady: start of the second in which addresses are counted */
	uint32_t addresses_in_period;
	struct stat_set stats;
	_Atomic uint64_t stat_values[N_STATS];
};

/* Callbacks that agent_build.c gives to the parts. */
int agent_push_notification(void *agent, const struct ease_notification *notification);
int agent_push_standard(void *agent, const struct ease_notification *notification);
void agent_samples_lost(void *agent, uint32_t if_index, unsigned n_samples);
int agent_send_sample(void *agent, const struct ease_sample *sample,
    const struct ease_snapshot *snapshot);
settings_done agent_settings_done;
void agent_sampling_changed(void *agent, const struct settings_change *change);
void agent_port_forgot(void *agent, const char *name, uint32_t if_index);

#endif
