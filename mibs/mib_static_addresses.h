/*
 * The rows of dot1dStaticTable. agent/static_addresses.h keeps them, and mibs/bridge_mib.c serves
 * them.
 */
#ifndef EASE_MIBS_MIB_STATIC_ADDRESSES_H
#define EASE_MIBS_MIB_STATIC_ADDRESSES_H

#include "agent/snmp/mib_table.h"

enum { MIB_STATIC_ADDRESSES_MAX = 256 }; /* entered by hand; chips hold thousands */

struct mib_static_address {
	uint8_t mac[6];
	uint32_t receive_port;	   /* 0: any */
	struct mib_binary allowed; /* PortList: one bit is set */
	uint8_t status;		   /* dot1dStaticStatus */
};

struct mib_static_address_table {
	size_t n;
	struct mib_static_address rows[MIB_STATIC_ADDRESSES_MAX]; /* by mac */
};

#endif
