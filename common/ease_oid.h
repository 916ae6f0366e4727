/*
 * The OIDs of EASE-SAMPLING-MIB, for agent and collector: its root, and the arcs below it as
 * mibs/EASE-SAMPLING-MIB.txt defines them. When a private enterprise number is assigned, only
 * EASE_ROOT here and the module's text change.
 */
#ifndef EASE_COMMON_OID_H
#define EASE_COMMON_OID_H

/* 1.3.6.1.4.1.8072.9999.9999.1: below netSnmpPlaypen, which NET-SNMP-MIB reserves for
 * experiments. */
#define EASE_ROOT     1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 1
#define EASE_ROOT_LEN 10

/* easeNotifications: EASE_ROOT.0.n, the value of snmpTrapOID.0 */
enum ease_notification_kind {
	EASE_NOTIFY_SAMPLES = 1,
	EASE_NOTIFY_COUNTERS = 2,
	EASE_NOTIFY_PORT_STATE = 3,
	EASE_NOTIFY_NEW_ADDRESS = 4,
	EASE_NOTIFY_ERROR_SOURCE = 5,
	EASE_NOTIFY_BACK_PRESSURE = 6,
	EASE_NOTIFY_SAMPLING_STALLED = 7,
	EASE_NOTIFY_SAMPLING_CHANGED = 8,
};

/* easeObjects: EASE_ROOT.1.… */
enum ease_object_group {
	EASE_GROUP_SYSTEM = 1,	   /* easeSystem scalars, EASE_ROOT.1.1.n.0 */
	EASE_GROUP_PORT_TABLE = 2, /* easePortTable, EASE_ROOT.1.2.1.col.ifIndex */
	EASE_GROUP_NOTIFIED = 3,   /* objects in notifications, see enum ease_part */
	EASE_GROUP_ERROR_SOURCE_TABLE = 4, /* easeErrorSourceTable */
	EASE_GROUP_ENERGY_TABLE = 5,	   /* easeEnergyTable */
	EASE_GROUP_BUFFER_TABLE = 6,	   /* easeBufferTable */
	EASE_GROUP_FORWARDING_TABLE = 7,   /* easeForwardingTable */
};

enum ease_system_object {
	EASE_SYSTEM_AGENT_ID = 1,
	EASE_SYSTEM_BOOT = 2,
	EASE_SYSTEM_REQUEST_OWNER = 12,
	EASE_SYSTEM_REQUEST_TTL = 13,
};

/* Columns of easePortTable by which a station asks for skips. */
enum ease_request_column {
	EASE_COL_MEAN_SKIP = 2,
	EASE_COL_SKIP_IN_FORCE = 13,
	EASE_COL_REQUESTED_SKIP = 14,
	EASE_COL_REQUESTED_MAX = 15,
	EASE_COL_REQUESTS_HELD = 16,
	EASE_COL_SKIP_REASON = 17,
};

/* Accessible-for-notify columns. Samples: EASE_ROOT.1.3.1.1.3.ifIndex.sequence (columns 1 and 2
 * are the not-accessible index). The others: EASE_ROOT.1.3.2.1.n.ifIndex. */
enum ease_part {
	EASE_PART_SAMPLE = 1,	/* easeSampleDatagram */
	EASE_PART_SNAPSHOT = 2, /* easeSnapshot */
	EASE_PART_STATE = 3,	/* easeState */
	EASE_PART_ADDRESS = 4,	/* easeAddress */
	EASE_PART_RESOURCES = 5, /* easeSnapshot, its second layout */
	EASE_PART_ERROR_SOURCE = 6, /* easeErrorInfo */
	EASE_PART_CHANGE = 7, /* easeChange */
	EASE_PART_DISCARD = 8, /* none of the MIB's: sFlow's event of a discarded packet, */
	EASE_PART_ODD = 9,     /* and what an sFlow agent states that cannot be */
};
#define EASE_SAMPLE_ENTRY    EASE_ROOT, 1, EASE_GROUP_NOTIFIED, 1, 1
#define EASE_PORT_INFO_ENTRY EASE_ROOT, 1, EASE_GROUP_NOTIFIED, 2, 1
enum {
	EASE_COL_SAMPLE_DATAGRAM = 3,
	EASE_COL_SNAPSHOT = 1,
	EASE_COL_STATE = 2,
	EASE_COL_ADDRESS = 3,
	EASE_COL_ERROR_INFO = 4,
	EASE_COL_CHANGE = 5,
};

#endif
