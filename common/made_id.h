/*
 * Ids that the collector makes for whom sends none: agents of sFlow, and senders of standard notifications. They have a
 * form of their own, which no EASE agent draws and no EASE record may name: two octets that say what they are made of,
 * and 48 bits of SHA-256 over it (of an IPv4 address, itself). Each collector of a cluster makes the same.
 */
#ifndef EASE_COMMON_MADE_ID_H
#define EASE_COMMON_MADE_ID_H

#include "common/sample.h"
#include "common/sflow_wire.h"

#include <stddef.h>
#include <stdint.h>

enum made_id_kind {
	MADE_ID_NONE = 0, /* the collector did not make it */
	MADE_ID_ENGINE = 3,
	MADE_ID_IPV4 = 4,
	MADE_ID_SFLOW = 5,
	MADE_ID_IPV6 = 6,
};

static inline enum made_id_kind
made_id_kind(const uint8_t id[static EASE_AGENT_ID_LEN])
{
	return id[0] == 0 && id[1] >= MADE_ID_ENGINE && id[1] <= MADE_ID_IPV6 ? (enum made_id_kind)id[1] : MADE_ID_NONE;
}

void made_id_hash(enum made_id_kind kind, const void *octets, size_t n, uint8_t id[static EASE_AGENT_ID_LEN]);

/* Of its address, and of its sender's, too, if sender is not NULL. Its sub-agents are one agent. */
void made_id_of_sflow(const struct sflow_agent *agent, const char *sender, uint8_t id[static EASE_AGENT_ID_LEN]);

#endif
