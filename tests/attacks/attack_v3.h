/*
 * Puts the notification of an SNMPv2c message (tests/collector/input/trap_builder.h) into an authentic and
 * encrypted SNMPv3 message (RFC 3412 section 6, RFC 3414 section 2.4, RFC 3826, RFC 7860): SHA-256 and AES. It
 * is written octet by octet and shares no code with agent and collector; Net-SNMP computes digests and ciphers.
 */
#ifndef EASE_TESTS_ATTACK_V3_H
#define EASE_TESTS_ATTACK_V3_H

#include <stddef.h>
#include <stdint.h>

enum { ATTACK_ENGINE_ID_OCTETS = 13, ATTACK_V3_KEY_OCTETS = 32 };

/* One user as one engine knows it. */
struct attack_v3_user {
	const char *name;
	uint8_t engine_id[ATTACK_ENGINE_ID_OCTETS];
	uint8_t auth_key[ATTACK_V3_KEY_OCTETS], priv_key[ATTACK_V3_KEY_OCTETS];
	uint64_t salt;
};

/* Call once before the others. */
void attack_v3_begin(void);

/* Localizes the keys of both passphrases, RFC 3414 section 2.6; some milliseconds. The engine ID is that of an
 * agent: format 5 (octets), its agent id. */
void attack_v3_user(struct attack_v3_user *user, const char *name, const uint8_t agent_id[8],
    const char *auth_passphrase, const char *priv_passphrase);

/* The SNMPv3 message of the PDU in the n octets of an SNMPv2c message; its octets. Aborts if room is too small. */
size_t attack_v3_message(struct attack_v3_user *user, uint32_t boots, uint32_t time_s, const uint8_t *v2c,
    size_t n, uint8_t *octets, size_t room);

#endif
