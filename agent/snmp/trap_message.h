/*
 * Encodes a notification of the agent's as an SNMPv2-Trap-PDU (RFC 3416 section 4.2.6), and that in an
 * SNMPv2c message (RFC 1901). The variable bindings are the same as through the master, with sysUpTime
 * first. No I/O, no Net-SNMP.
 */
#ifndef EASE_AGENT_SNMP_TRAP_MESSAGE_H
#define EASE_AGENT_SNMP_TRAP_MESSAGE_H

#include "agent/snmp/ber_writer.h"
#include "agent/snmp/notify.h"

/* The largest notification and the most that SNMPv3 adds to it. */
enum { TRAP_MESSAGE_ROOM = TRAP_WIRE_MESSAGE_MAX + 512 };

struct trap_message {
	const struct ease_notification *notification;
	const struct notify_source *source;
	uint32_t uptime_cs; /* hundredths of a second since the agent's start */
	int32_t request_id; /* 0..2^31-1 */
};

/* Writes the PDU in front of what w holds; w->failed if it does not fit. */
void trap_message_put_pdu(struct ber_writer *w, const struct trap_message *m);

/* Writes the PDU in a message with version and community. */
void trap_message_put_v2c(struct ber_writer *w, const struct trap_message *m,
    const char *community);

#endif
