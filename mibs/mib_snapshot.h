/*
 * What all MIB tables answer from: one consistent picture of the device and of sampling, and the
 * agent's own figures. The agent builds it in its mib_snapshot_source.hold (agent/snmp/mib_table.h)
 * from the published snapshots and lets it go in release; a table never asks a device.
 */
#ifndef EASE_MIBS_MIB_SNAPSHOT_H
#define EASE_MIBS_MIB_SNAPSHOT_H

#include "agent/hal/hal.h"
#include "agent/rmon/rmon.h"
#include "agent/sampling/sampling.h"
#include "common/sample.h"
#include "mibs/mib_static_addresses.h"

#include <stdint.h>

/* The agent itself: easeSystem. */
struct mib_system {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	const char *device_kind; /* hal_device_kind */
	/* notifications: notify_ring_stats */
	uint64_t notify_sent;	      /* handed to the master, repetitions included */
	uint64_t notify_acknowledged; /* answered by the master */
	uint64_t notify_resent;	      /* handed over again after a lost session */
	uint64_t notify_overflows;    /* refused because the ring was full */
	uint64_t notify_refused;      /* refused by the master */
	uint64_t master_connects;     /* times the session with the master was opened */
	uint64_t device_drops; /* events that the hardware layer lost before sampling saw them */
};

struct mib_snapshot {
	const struct hal_snapshot *hal;	      /* NULL: nothing published yet, tables are empty */
	const struct sampling_table *sampling; /* NULL: no sampling, easePortTable is empty */
	const struct rmon_tables *rmon; /* NULL: no RMON, its tables are empty */
	const struct mib_static_address_table *static_addresses; /* NULL: none */
	struct mib_system system;
};

#endif
