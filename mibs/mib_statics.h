/*
 * Rows of dot1dStaticTable, as agent/statics.h keeps them and mibs/bridge_mib.c shows them.
 */
#ifndef EASE_MIBS_MIB_STATICS_H
#define EASE_MIBS_MIB_STATICS_H

#include "agent/snmp/mib_table.h"

enum { MIB_STATICS_MAX = 256 }; /* what an operator types in; chips hold thousands */

struct mib_static {
	uint8_t mac[6];
	uint32_t receive_port;	   /* 0: any */
	struct mib_binary allowed; /* PortList: one bit is set */
	uint8_t status;		   /* dot1dStaticStatus */
};

struct mib_statics {
	size_t n;
	struct mib_static rows[MIB_STATICS_MAX]; /* by mac */
};

#endif
