/*
 * Sends what the notification ring (notify.h) holds as Notify PDUs on the AgentX session, each with
 * a callback of its own, so that an answer or its absence is known for each. Never more than the
 * ring's window is unanswered: a burst cannot fill both directions of the session's socket.
 * For snmp_agent.c only, on its thread.
 */
#ifndef EASE_AGENT_SNMP_NOTIFY_SEND_H
#define EASE_AGENT_SNMP_NOTIFY_SEND_H

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "agent/snmp/notify.h"

/* Sends as much as the window allows. Answers come through snmp_read2; when the session is closed
 * the library calls back for all that is unanswered, and the ring keeps those. */
void notify_send_pump(struct notify_ring *ring, const struct notify_source *source,
    netsnmp_session *session);

#endif
