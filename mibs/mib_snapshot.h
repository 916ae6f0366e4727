/*
 * What all MIB tables are answered from: the data that HAL, sampling, RMON and static addresses have
 * published, and the agent's own counters. agent/mib_snapshots.c holds it for one request. A table
 * never reads from a device.
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
	uint64_t notify_sent;	      /* passed to the master, including repetitions */
	uint64_t notify_acknowledged; /* confirmed by the master */
	uint64_t notify_resent;	      /* passed again after a session was lost */
	uint64_t notify_overflows;    /* lost because the ring was full */
	uint64_t notify_refused;      /* refused by the master */
	uint64_t master_connects;     /* sessions opened with the master */
	uint64_t device_drops;	      /* hal_device_drops */
};

struct mib_snapshot {
	const struct hal_snapshot *hal;	      /* NULL: nothing published yet, tables are empty */
	const struct sampling_table *sampling; /* NULL: no sampling, easePortTable is empty */
	const struct rmon_tables *rmon; /* NULL: no RMON, its tables are empty */
	const struct mib_static_address_table *static_addresses; /* NULL: none */
	struct mib_system system;
};

#endif
