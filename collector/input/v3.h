/*
 * SNMPv3 with the user-based security model (RFC 3412, RFC 3414), by Net-SNMP's library. For each
 * datagram of an allowed user it returns the variable bindings, and the message to answer with, if
 * there is one (Response to an inform, Report for engine discovery and time). It uses no socket:
 * the library gets each datagram through a transport of our own, in memory.
 *
 * It is stricter than the library in these points: only authPriv is accepted; an engine that no
 * user names is refused before the library stores anything for it; the time window of RFC 3414
 * section 3.2 step 7 is measured from the engine's present time, not from its last message; and a
 * trap that comes again octet for octet within the window is refused by its digest, which RFC 3414
 * does not ask for.
 *
 * Boots and time of the newest trap of each engine can be stored over a restart (v3_next_engine,
 * v3_restore_engine; v3_window.h says why). Informs do not need that: their engine is ours, and its
 * boots rise at each start.
 *
 * The library keeps its state for the process, so there is at most one struct v3, and one thread
 * uses it.
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
	/* For 150 s of 1,700 traps a second; 24 octets each. If there are more, the oldest are
	 * dropped and counted (v3_digests_forgotten); repeated samples are then still recognized
	 * by their numbers. */
	V3_DIGESTS = 1 << 18,
};

/* A user who may send informs, and traps from each of these engines. All is borrowed during v3_open
 * or v3_change_users. */
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
	uint8_t engine_id[V3_ENGINE_ID_MAX]; /* the sender of a trap, the receiver of an inform */
	size_t n_engine_id;
	char user[V3_USER_MAX + 1];
	int32_t request_id;
	uint8_t varbinds[RECEIVE_DATAGRAM_MAX]; /* BER, as in an SNMPv2c message */
	size_t n_varbinds;
	uint8_t answer[RECEIVE_DATAGRAM_MAX]; /* a Response, or a Report after a refusal */
	size_t n_answer;		      /* 0: there is none to send */
};

/* Starts the library with our engine: its ID and boots are read from engine_file, which is made
 * if it does not exist, and written back with boots one higher. 0, or -errno with the reason in
 * error. */
int v3_open(struct v3 **out, const struct v3_user *users, size_t n_users, const char *engine_file,
    const struct clock *clock, char *error, size_t error_size);
void v3_close(struct v3 *v);

/* Changes the users; the times of engines that are still named stay. Making the keys of a new
 * user takes some milliseconds for each of its engines. 0, or -errno with the first mistake in
 * error; all users without a mistake are then in force, or if there is no memory, no new one. In
 * all cases the users who are not in the new list are removed. */
int v3_change_users(struct v3 *v, const struct v3_user *before, size_t n_before,
    const struct v3_user *users, size_t n, char *error, size_t error_size);

/* Handles one datagram. After V3_TRAP and V3_INFORM all of *m is set, else only its answer. */
enum v3_verdict v3_take(struct v3 *v, const void *octets, size_t n, struct v3_message *m);

/* Says why the last v3_take refused its datagram, with engine ID and user; its octets must still be
 * valid. */
enum { V3_REASON_MAX = 384 };
void v3_explain(const struct v3 *v, enum v3_verdict verdict, char reason[V3_REASON_MAX]);

/* The newest time of an engine, to be stored. */
struct v3_engine_time {
	uint8_t engine_id[V3_ENGINE_ID_MAX];
	size_t n_engine_id;
	int32_t boots, time_s;
};

/* The number of engines that users name. */
size_t v3_engines(const struct v3 *v);

/* Another engine whose time changed since it was returned last; false if there is none. */
bool v3_next_engine(struct v3 *v, struct v3_engine_time *time);
void v3_mark_engines(struct v3 *v); /* marks all known engines as changed */

/* Restores a stored time; to be called before any message. An engine that no user names any more is
 * ignored. */
void v3_restore_engine(struct v3 *v, const struct v3_engine_time *time);

/* The number of digests that were dropped before their time window was over. */
uint64_t v3_digests_forgotten(const struct v3 *v);

#endif
