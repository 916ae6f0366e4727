/*
 * The time window of the user-based security model: what an SNMPv3 receiver remembers of authentic
 * messages, namely each engine's boots and time, and the digests of the last 150 seconds. No I/O;
 * memory is allocated only by v3_digests_init.
 *
 * RFC 3414 does not say what a receiver of traps knows of their engines after its own restart, when
 * every trap ever recorded would be in time again. Here boots and time of the newest accepted trap
 * are restored, and nothing up to them is accepted. That may lose the rest of a second that was
 * accepted in part, but no trap is accepted twice. The restored time does not advance, because the
 * clock may have been set meanwhile.
 */
#ifndef EASE_COLLECTOR_INPUT_V3_WINDOW_H
#define EASE_COLLECTOR_INPUT_V3_WINDOW_H

#include "collector/input/v3_header.h"

#define V3_WINDOW_S 150 /* RFC 3414 section 2.2.3 */

struct v3_engine {
	uint8_t id[V3_ENGINE_ID_MAX];
	size_t n_id;
	bool heard;
	int32_t boots, time_s; /* of the newest message */
	uint64_t heard_us;     /* when that was received, monotonic */
	bool changed;	       /* since v3_next_engine returned it */
	bool restored;	       /* by v3_window_restore, with these: */
	int32_t restored_boots, restored_s;
};

/* False if the message is outside the time window (RFC 3414 section 3.2 step 7 b); else the
 * engine's time advances to it. */
bool v3_window_accepts(struct v3_engine *e, int32_t boots, int32_t time_s, uint64_t mono_us);

/* Restores the engine's newest time from before this process; nothing up to it is accepted. */
void v3_window_restore(struct v3_engine *e, int32_t boots, int32_t time_s, uint64_t mono_us);

/* Digests in a set-associative table; in a full set the oldest is replaced. */
struct v3_digests {
	struct v3_digest *table;
	size_t n; /* a power of two, at least V3_DIGEST_WAYS */
	uint64_t forgotten;
};
enum { V3_DIGEST_WAYS = 8 };

/* 0 or -ENOMEM. */
int v3_digests_init(struct v3_digests *d, size_t n);
void v3_digests_free(struct v3_digests *d);

/* True if the digest is in the table already; else adds it. It has at least eight octets. */
bool v3_digests_seen(struct v3_digests *d, const struct rbuf *digest, uint64_t mono_us);

#endif
