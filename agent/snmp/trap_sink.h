/*
 * A trap sink as configured: an address, and a community for SNMPv2c or a user for SNMPv3. Does not use
 * Net-SNMP.
 */
#ifndef EASE_AGENT_SNMP_TRAP_SINK_H
#define EASE_AGENT_SNMP_TRAP_SINK_H

#include <stdint.h>

enum {
	TRAP_SINKS_MAX = 8, /* each costs a system call per notification */
	TRAP_SINK_RATE_MAX = 1000000,
	TRAP_SINK_COMMUNITY_MAX = 32, /* message_octets of a notification allows for so many */
	TRAP_SINK_USER_MAX = 32,
	TRAP_SINK_PASSPHRASE_MIN = 8, /* RFC 3414 section 11.2 */
};

/* Net-SNMP's names of the protocols, the usual one first; NULL-terminated. */
extern const char *const trap_sink_auth_protocols[];
extern const char *const trap_sink_priv_protocols[];

struct trap_sink {
	char *address; /* "ADDRESS:PORT" or "[IPv6]:PORT" */
	char *community; /* SNMPv2c; else "" */
	char *user; /* SNMPv3; else "" */
	int auth_protocol, priv_protocol; /* indexes into the lists above */
	char *auth_passphrase, *priv_passphrase;
	uint32_t max_per_s; /* notifications, 1..TRAP_SINK_RATE_MAX */
	uint32_t line; /* in the configuration file */
};

/* NULL if the sink is valid, else what is wrong with it. */
const char *trap_sink_check(const struct trap_sink *sink);

#endif
