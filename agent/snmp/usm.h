/*
 * The sending end of SNMPv3's user-based security model (RFC 3412, RFC 3414, RFC 3826, RFC 7860):
 * notifications of one user as authPriv messages of an authoritative engine of our own. Keys,
 * digests and ciphers are Net-SNMP's, by functions that keep no state: this may run beside the
 * SNMP thread.
 */
#ifndef EASE_AGENT_SNMP_USM_H
#define EASE_AGENT_SNMP_USM_H

#include "agent/snmp/trap_message.h"

/* Of ours: 4 of the enterprise, 1 for the format, the agent id. */
enum { USM_ENGINE_ID_OCTETS = 5 + EASE_AGENT_ID_LEN };

struct usm_user {
	const char *name;
	const char *auth_protocol, *auth_passphrase;
	const char *priv_protocol, *priv_passphrase;
};

struct usm;

/* The engine of an agent: RFC 3411 section 5, format 5 (octets), below the enterprise of NET-SNMP,
 * whose playpen our MIB stands in. Agent id and boot are kept by the agent, so this engine and its
 * boots outlive a restart as RFC 3414 section 2.2 wants them. */
void usm_engine_id(const struct notify_source *source, uint8_t id[USM_ENGINE_ID_OCTETS]);

/* Keeps the keys and forgets the passphrases. -ENOTSUP: a protocol that the library was built
 * without; -EINVAL: a passphrase is too short; -ENOMEM. */
int usm_create(const struct usm_user *user, const struct notify_source *source, struct usm **usm);
void usm_destroy(struct usm *usm); /* NULL allowed */

/* Writes the whole message in front of what w holds. time_s: since the agent's start. */
void usm_put_message(struct usm *usm, struct ber_writer *w, const struct trap_message *m,
    uint32_t time_s);

#endif
