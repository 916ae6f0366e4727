/*
 * What watches the switch and tells managers by standard notifications: RMON's history, alarms and
 * events (agent/rmon), linkUp/linkDown (RFC 2863), and entConfigChange (RFC 6933). Joins them with
 * the HAL, the tables that alarms read, and what sends notifications. Main loop only.
 */
#ifndef EASE_AGENT_MONITOR_H
#define EASE_AGENT_MONITOR_H

#include "agent/rmon/rmon.h"
#include "agent/snmp/mib_table.h"
#include "agent/state.h"
#include "common/trap_wire.h"

struct monitor;

struct monitor_options {
	struct hal *hal; /* all borrowed */
	const struct clock *clock;
	void *ctx; /* for push, which sends a notification: 0, or it is lost */
	int (*push)(void *ctx, const struct ease_notification *notification);
	const struct mib_view_source *views; /* what alarms read */
	bool default_history;		     /* rows for each port at the first start */
};

int monitor_create(const struct monitor_options *options, struct monitor **monitor);
void monitor_destroy(struct monitor *monitor); /* NULL allowed */
struct rmon *monitor_rmon(struct monitor *monitor);

/* The device runs: takes the ports' states as they are, and the rows kept. */
void monitor_start(struct monitor *monitor, const struct agent_state *state);

void monitor_port_changed(struct monitor *monitor, uint32_t if_index);
/* A SET was carried out. */
void monitor_settings_changed(struct monitor *monitor);

/* When something is due by the device's clock; UINT64_MAX: never. */
uint64_t monitor_next_us(const struct monitor *monitor);
void monitor_run(struct monitor *monitor, uint64_t device_us);
void monitor_publish(struct monitor *monitor);

enum monitor_stat { MONITOR_STAT_LINK_TRAPS, MONITOR_STAT_TRAPS_LOST, MONITOR_N_STATS };
const struct stat_set *monitor_stats(const struct monitor *monitor);

#endif
