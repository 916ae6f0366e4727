/*
 * Sends the notifications in the ring (notify.h) as Notify PDUs on the AgentX session. Each has its
 * own callback, which reports the answer or the lack of one. No more than the ring's window is ever
 * unanswered, so that a burst cannot fill both directions of the session's socket. Used by
 * snmp_agent.c only, on its thread.
 */
#ifndef EASE_AGENT_SNMP_NOTIFY_SEND_H
#define EASE_AGENT_SNMP_NOTIFY_SEND_H

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "agent/snmp/notify.h"

/* Sends as much as the window allows. snmp_read2 reads the answers. When the session closes, the library
 * calls back for every unanswered notification, and the ring keeps it. */
void notify_send_pump(struct notify_ring *ring, const struct notify_source *source,
    netsnmp_session *session);

#endif
