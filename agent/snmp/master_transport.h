/*
 * Net-SNMP's way to the master, by a transport of ours: a socket of master_connect with a master_link
 * on top. The library looks transports up by the prefix of an address and gives
 * their makers no context, so there is one in a process.
 */
#ifndef EASE_AGENT_SNMP_MASTER_TRANSPORT_H
#define EASE_AGENT_SNMP_MASTER_TRANSPORT_H

#include "agent/snmp/master_link.h"

/* In front of an address. */
#define MASTER_TRANSPORT_PREFIX "ease"

/* After init_agent, before init_snmp, in the thread that uses the library. The link is borrowed
 * until the library is closed. -ENOMEM. */
int master_transport_register(struct master_link *link);

#endif
