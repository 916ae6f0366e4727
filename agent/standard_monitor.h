/*
 * Standard notifications: those of RMON's alarms and events (agent/rmon), linkUp and linkDown
 * (RFC 2863), and entConfigChange (RFC 6933). Connects RMON with the HAL, with the tables that
 * alarms read, and with the sender of notifications. Main loop only.
 */
#ifndef EASE_AGENT_STANDARD_MONITOR_H
#define EASE_AGENT_STANDARD_MONITOR_H

#include "agent/rmon/rmon.h"
#include "agent/snmp/mib_table.h"
#include "agent/state.h"
#include "common/trap_wire.h"

struct standard_monitor;

struct standard_monitor_options {
	struct hal *hal; /* all borrowed */
	const struct clock *clock;
	void *ctx; /* for push */
	/* Sends a notification. If this does not return 0, the notification is lost. */
	int (*push)(void *ctx, const struct ease_notification *notification);
	const struct mib_snapshot_source *snapshots; /* from which alarms read */
	bool default_history; /* make history rows for each port at the first start */
};

int standard_monitor_create(
    const struct standard_monitor_options *options, struct standard_monitor **monitor);
void standard_monitor_destroy(struct standard_monitor *monitor); /* NULL allowed */
struct rmon *standard_monitor_rmon(struct standard_monitor *monitor);

/* Call when the device runs: records the ports' states and restores the rows in state (borrowed; NULL: none
 * are kept). Blocks while these are read. */
void standard_monitor_start(struct standard_monitor *monitor, struct state *state);

/* Something happened to a port: sends linkUp and linkDown, and tells RMON. */
void standard_monitor_port(struct standard_monitor *monitor, const struct hal_port_event *event);
/* Call after each complete reading of the HAL: RMON follows the ports that came and left since the one before.
 * Returns true if standard_monitor_next_us may have changed by it. */
bool standard_monitor_refreshed(struct standard_monitor *monitor);
/* A SET was carried out. */
void standard_monitor_settings_changed(struct standard_monitor *monitor);

/* Returns when standard_monitor_run must be called, by the steady clock (hal.h); UINT64_MAX: never. */
uint64_t standard_monitor_next_us(const struct standard_monitor *monitor);
void standard_monitor_run(struct standard_monitor *monitor, uint64_t steady_us);
void standard_monitor_publish(struct standard_monitor *monitor);

enum standard_monitor_stat {
	STANDARD_MONITOR_STAT_LINK_TRAPS,
	STANDARD_MONITOR_STAT_TRAPS_LOST,
	STANDARD_MONITOR_N_STATS
};
const struct stat_set *standard_monitor_stats(const struct standard_monitor *monitor);

#endif
