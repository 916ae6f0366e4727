/*
 * A Net-SNMP transport to the master: a socket from master_connect with a master_link on top. The
 * library finds a transport by the prefix of an address and passes no context to its constructor, so
 * a process has only one.
 */
#ifndef EASE_AGENT_SNMP_MASTER_TRANSPORT_H
#define EASE_AGENT_SNMP_MASTER_TRANSPORT_H

#include "agent/snmp/master_link.h"

/* Of an address that this transport opens. */
#define MASTER_TRANSPORT_PREFIX "ease"

/* After init_agent, before init_snmp, in the thread that uses the library. The link is borrowed
 * until the library is closed. -ENOMEM. */
int master_transport_register(struct master_link *link);

#endif
