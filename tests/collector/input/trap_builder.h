/*
 * Builds SNMPv2c messages for tests: a small BER writer that shares no code with the program's
 * decoder, and notifications of EASE-SAMPLING-MIB made with it. Lengths are always written in the
 * long form of two octets, which is valid and which Net-SNMP never writes.
 */
#ifndef EASE_TESTS_TRAP_BUILDER_H
#define EASE_TESTS_TRAP_BUILDER_H

#include "common/trap_wire.h"

#include <stddef.h>
#include <stdint.h>

enum { TRAP_VARBINDS_MAX = 64, TRAP_VALUE_MAX = 400, TRAP_OID_ARCS_MAX = 24 };

struct trap_varbind {
	uint32_t oid[TRAP_OID_ARCS_MAX];
	size_t n_arcs;
	uint8_t tag;
	uint8_t value[TRAP_VALUE_MAX];
	size_t len;
};

struct trap_message {
	int version; /* 1 for v2c */
	const char *community;
	uint8_t pdu; /* 0xa7 */
	uint32_t request_id; /* added to one that has four octets */
	struct trap_varbind varbinds[TRAP_VARBINDS_MAX];
	size_t n;
};

/* uptime, trap OID for this kind, agent id and boot. */
void trap_start(struct trap_message *m, const char *community, enum ease_notification_kind kind,
    const uint8_t agent_id[8], uint32_t boot);

/* Any variable binding; value as it stands. */
struct trap_varbind *trap_add(struct trap_message *m, const uint32_t *oid, size_t n_arcs,
    uint8_t tag, const void *value, size_t len);

void trap_add_sample(struct trap_message *m, const struct ease_sample *s);
void trap_add_snapshot(struct trap_message *m, const struct ease_snapshot *s);
void trap_add_state(struct trap_message *m, const struct ease_state *s);
void trap_add_resources(struct trap_message *m, const struct ease_resources *r);
void trap_add_error_source(struct trap_message *m, const struct ease_error_source *s);
void trap_add_address(struct trap_message *m, const struct ease_address *a);

/* The octets of an OID's content; their number. */
size_t trap_oid_octets(const uint32_t *oid, size_t n_arcs, uint8_t *octets);

/* The whole message; its octets. Aborts if room is too small. */
size_t trap_build(const struct trap_message *m, uint8_t *octets, size_t room);

#endif
