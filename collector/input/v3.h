/*
 * SNMPv3 with the user-based security model (RFC 3412, RFC 3414) by Net-SNMP's library: a datagram
 * in; out come its variable bindings if its user may send, and the octets of the answer if it wants
 * one (Response to an inform, Report for engine discovery and time). No socket: the library gets
 * each datagram through a transport of our own, in memory.
 *
 * Beyond what the library checks, and stricter where it is loose: only authPriv is taken; an engine
 * that no user names is refused before the library makes a record of it; the time window of RFC
 * 3414 section 3.2 step 7 holds against the engine's time as it has run on since, not only against
 * its last message; and a trap that comes again octet for octet within the window, where RFC 3414
 * does not look, is refused by its digest.
 *
 * Boots and time of the newest trap taken from each engine can be kept over a restart
 * (v3_next_engine, v3_restore_engine; v3_window.h says what for). Informs need none of it: their engine is
 * ours, whose boots rise with every start.
 *
 * The library keeps one state for the process: there is at most one struct v3, used by one thread.
 */
#ifndef EASE_COLLECTOR_INPUT_V3_H
#define EASE_COLLECTOR_INPUT_V3_H

#include "collector/input/receive.h"
#include "collector/input/v3_header.h"
#include "common/clock.h"

struct v3;

enum {
	V3_USERS_MAX = 1024,
	V3_ENGINES_MAX = 1024, /* of a user */
	V3_PASSPHRASE_MIN = 8, /* RFC 3414 section 11.2 */
	/* What 150 s of 1,700 traps a second leave; 24 octets each. Beyond, the oldest go and are
	 * counted (v3_digests_forgotten): samples that come again are then still known by their numbers. */
	V3_DIGESTS = 1 << 18,
};

/* A user who may send informs, and traps from each engine named. All borrowed while v3_open
 * lasts. */
struct v3_user {
	const char *name;
	const char *const *engine_ids; /* "0x80001f88…" */
	size_t n_engine_ids;
	const char *auth_protocol, *auth_passphrase; /* v3_auth_protocols, v3_priv_protocols */
	const char *priv_protocol, *priv_passphrase;
};

enum v3_verdict {
	V3_TRAP,
	V3_INFORM,
	V3_PROBE,	     /* engine discovery or time synchronisation, answered by a Report */
	V3_BAD_PARSE,
	V3_UNKNOWN_MODEL,
	V3_UNKNOWN_ENGINE,
	V3_UNKNOWN_USER,
	V3_WRONG_DIGEST,
	V3_NOT_IN_WINDOW,
	V3_BAD_DECRYPTION,
	V3_BAD_LEVEL,	     /* less than authPriv */
	V3_REPLAYED,
	V3_BAD_PDU,	     /* neither trap nor inform */
	V3_N_VERDICTS,
};

struct v3_message {
	uint8_t engine_id[V3_ENGINE_ID_MAX]; /* a trap's sender, an inform's receiver */
	size_t n_engine_id;
	int32_t request_id;
	uint8_t varbinds[RECEIVE_DATAGRAM_MAX]; /* BER, as in a v2c message */
	size_t n_varbinds;
	uint8_t answer[RECEIVE_DATAGRAM_MAX]; /* also after a refusal: a Report */
	size_t n_answer;		      /* 0: none is wanted */
};

/* Starts the library with this engine: its ID and how often it started are read from engine_file
 * (made if it is not there) and written back with one start more. 0, or -errno with the reason in
 * error. */
int v3_open(struct v3 **out, const struct v3_user *users, size_t n_users, const char *engine_file,
    const struct clock *clock, char *error, size_t error_size);
void v3_close(struct v3 *v);

/* Other users than before: what is known of engines that are still named stays. Making the keys of
 * one takes some milliseconds for each of its engines. 0, or -errno with the first mistake in
 * error: all users without one are taken, but without memory no new one; who is no longer among them
 * is let in no more in any case. */
int v3_change_users(struct v3 *v, const struct v3_user *before, size_t n_before,
    const struct v3_user *users, size_t n, char *error, size_t error_size);

/* V3_TRAP and V3_INFORM: m is whole. Else only its answer. */
enum v3_verdict v3_take(struct v3 *v, const void *octets, size_t n, struct v3_message *m);

/* What is to be kept of an engine. */
struct v3_engine_time {
	uint8_t engine_id[V3_ENGINE_ID_MAX];
	size_t n_engine_id;
	int32_t boots, time_s;
};

/* Engines that users name. */
size_t v3_engines(const struct v3 *v);

/* Another engine that was heard since it was last told; false if there is none. */
bool v3_next_engine(struct v3 *v, struct v3_engine_time *heard);
void v3_mark_engines(struct v3 *v); /* all that ever were */

/* Before any message: what was kept. An engine that no user names any more is passed over. */
void v3_restore_engine(struct v3 *v, const struct v3_engine_time *heard);

/* Digests that were forgotten before the window was over. */
uint64_t v3_digests_forgotten(const struct v3 *v);

#endif
