/*
 * Makes the struct mib_snapshot (mibs/mib_snapshot.h) of a request: holds what HAL, sampling, RMON
 * and static addresses have published, and reads the agent's own counters. Called on the SNMP thread
 * only; never waits for a device.
 */
#ifndef EASE_AGENT_MIB_SNAPSHOTS_H
#define EASE_AGENT_MIB_SNAPSHOTS_H

#include "agent/hal/hal.h"
#include "agent/rmon/rmon.h"
#include "agent/sampling/sampling.h"
#include "agent/snmp/mib_table.h"
#include "agent/snmp/notify.h"
#include "agent/static_addresses.h"

/* What snapshots are made of. All borrowed, and set before the SNMP thread starts. */
struct mib_snapshot_parts {
	struct hal *hal;
	struct sampling *sampling;
	struct rmon *rmon;
	struct static_addresses *static_addresses;
	const struct notify_ring *ring;
	uint32_t boot; /* of state.h, as the agent's id */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
};

/* Returns a source whose snapshots are struct mib_snapshot. parts is borrowed. */
struct mib_snapshot_source mib_snapshots_from(struct mib_snapshot_parts *parts);

#endif
