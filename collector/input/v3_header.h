/*
 * Reads strictly the unencrypted head of an SNMPv3 message with the user-based security model (RFC
 * 3412 section 6, RFC 3414 section 2.4): user, engine, time and digest, none of which is
 * authenticated yet. Also the notation of engine IDs and protocols in a configuration.
 */
#ifndef EASE_COLLECTOR_INPUT_V3_HEADER_H
#define EASE_COLLECTOR_INPUT_V3_HEADER_H

#include "collector/input/ber.h"

enum {
	V3_ENGINE_ID_MAX = 32, /* SnmpEngineID, RFC 3411 section 5 */
	V3_USER_MAX = 32,      /* msgUserName, RFC 3414 section 2.4 */
	V3_MODEL_USM = 3,
	V3_FLAG_AUTH = 1, /* msgFlags */
	V3_FLAG_PRIV = 2,
	V3_FLAG_REPORTABLE = 4,
};

struct v3_header {
	int32_t message_id, max_octets, model;
	uint8_t flags;
	struct rbuf engine_id, user, digest, salt; /* borrowed; only set for V3_MODEL_USM */
	int32_t boots, time_s;
};

/* Net-SNMP's names of the protocols, the usual one first; ended by NULL. */
extern const char *const v3_auth_protocols[];
extern const char *const v3_priv_protocols[];

/* Reads an engine ID "0x80001f88…" of 5 to 32 octets. Returns their number, or 0 if it is
 * malformed. */
size_t v3_engine_id_parse(const char *text, uint8_t id[V3_ENGINE_ID_MAX]);

/* For option rows: NULL if good, else the reason. */
const char *v3_engine_id_check(const char *text);

/* Reads the head of a message: 0 or -EBADMSG. */
int v3_header_read(struct v3_header *h, const void *octets, size_t n);

#endif
