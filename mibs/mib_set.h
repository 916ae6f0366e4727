/*
 * The settings that a manager may change: the kinds of struct mib_set (agent/snmp/mib_table.h) that
 * the writable columns of mibs/ produce. The agent's mib_setter.apply (agent/settings.h) carries out
 * all settings of a request or none.
 */
#ifndef EASE_MIBS_MIB_SET_H
#define EASE_MIBS_MIB_SET_H

#include "agent/snmp/mib_table.h"

enum mib_set_kind {
	MIB_SET_NONE = 0,
	MIB_SET_ALIAS,		/* text: ifAlias, 0..64 octets */
	MIB_SET_LINK_TRAPS,	/* number: ifLinkUpDownTrapEnable, 1 enabled, 0 not */
	MIB_SET_ADMIN_STATUS,	/* number: ifAdminStatus, enum ease_if_status */
	MIB_SET_SAMPLING_ADMIN, /* number: easePortAdminStatus, 1 sampling on, 0 off */
	MIB_SET_MEAN_SKIP,	/* number: frames per sample, 1..EASE_MEAN_SKIP_MAX; of most devices less */
	MIB_SET_HEADER_OCTETS,	/* number: EASE_HEADER_MIN_OCTETS..EASE_HEADER_MAX_OCTETS */
	MIB_SET_MAX_SAMPLES,	/* number: samples a second, 0 no cap */
	MIB_SET_EDGE,		/* number: 1 edge, 0 not */
	MIB_SET_AGEING,		/* number: dot1dTpAgingTime, seconds; if_index is 0 */
	MIB_SET_PAUSE,		/* number: dot3PauseAdminMode, enum hal_pause */
	MIB_SET_REQUEST_OWNER,	/* text: easeRequestOwner, 1..LEASE_OWNER_MAX octets; if_index is 0 */
	MIB_SET_REQUEST_TTL,	/* number: seconds, 0 ends the lease; if_index is 0 */
	MIB_SET_REQUESTED_SKIP,	/* number: frames per sample, 0 none */
	MIB_SET_REQUESTED_MAX,	/* number: samples a second, 0 the configured cap alone */
	/* number: 1 the port takes no requests, 0 it does. Behind what holds a port, so that a restart makes it last. */
	MIB_SET_REQUESTS_HELD,
	MIB_SET_ROW,		/* a column of a row that managers make: agent/snmp/managed_table.h */
};

#endif
