/*
 * The sending side of SNMPv3's user-based security model (RFC 3412, RFC 3414, RFC 3826, RFC 7860):
 * encodes notifications of one user as authPriv messages. We are the authoritative engine. Net-SNMP
 * computes keys, digests and ciphers, in functions that keep no state, so that this may run in another
 * thread than the SNMP thread.
 */
#ifndef EASE_AGENT_SNMP_USM_H
#define EASE_AGENT_SNMP_USM_H

#include "agent/snmp/trap_message.h"

/* Our engine ID: 4 octets of the enterprise, 1 of the format, the agent id. */
enum { USM_ENGINE_ID_OCTETS = 5 + EASE_AGENT_ID_LEN };

struct usm_user {
	const char *name;
	const char *auth_protocol, *auth_passphrase;
	const char *priv_protocol, *priv_passphrase;
};

struct usm;

/* The engine ID of an agent: RFC 3411 section 5, format 5 (octets), with the enterprise number of
 * NET-SNMP, under whose experimental arc our MIB is. The agent stores its id and boot, so that engine ID
 * and engineBoots are kept over a restart as RFC 3414 section 2.2 demands. */
void usm_engine_id(const struct notify_source *source, uint8_t id[USM_ENGINE_ID_OCTETS]);

/* Stores the keys and not the passphrases. -ENOTSUP: the library was built without a protocol; -EINVAL:
 * a passphrase is too short; -ENOMEM. */
int usm_create(const struct usm_user *user, const struct notify_source *source, struct usm **usm);
void usm_destroy(struct usm *usm); /* NULL allowed */

/* Writes the whole message in front of what w holds. time_s counts since the agent's start. */
void usm_put_message(struct usm *usm, struct ber_writer *w, const struct trap_message *m,
    uint32_t time_s);

#endif
