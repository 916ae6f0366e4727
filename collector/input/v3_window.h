/*
 * What an SNMPv3 receiver remembers of authentic messages: each engine's boots and time, and the
 * digests of the last 150 seconds. Pure arithmetic beside the memory it is given at the start.
 *
 * RFC 3414 leaves open what a receiver of traps knows of their engines after a restart of its own,
 * where every trap ever recorded would be in time again. Here boots and time of the newest one
 * taken are recalled, and nothing up to them is taken: not the second that was taken in part, but
 * no trap twice. The recalled time does not run on: the clock may have been set meanwhile.
 */
#ifndef EASE_COLLECTOR_INPUT_V3_WINDOW_H
#define EASE_COLLECTOR_INPUT_V3_WINDOW_H

#include "collector/input/v3_header.h"

#define V3_WINDOW_S 150 /* RFC 3414 section 2.2.3 */

struct v3_engine {
	uint8_t id[V3_ENGINE_ID_MAX];
	size_t n_id;
	bool heard;
	int32_t boots, time_s; /* latest heard */
	uint64_t heard_us;     /* monotonic */
	bool changed;	       /* since whoever keeps it was told */
	bool recalled;	       /* by v3_window_restore, with these: */
	int32_t recalled_boots, recalled_s;
};

/* False if the message is outside the time window (RFC 3414 section 3.2 step 7 b); else the
 * engine's time is brought up to it. */
bool v3_window_accepts(struct v3_engine *e, int32_t boots, int32_t time_s, uint64_t mono_us);

/* What was newest before this process: of the engine nothing up to this is taken. */
void v3_window_restore(struct v3_engine *e, int32_t boots, int32_t time_s, uint64_t mono_us);

/* Digests seen: a set-associative table; where a set is full the oldest goes. */
struct v3_digests {
	struct v3_digest *table;
	size_t n; /* a power of two, at least V3_DIGEST_WAYS */
	uint64_t forgotten;
};
enum { V3_DIGEST_WAYS = 8 };

/* 0 or -ENOMEM. */
int v3_digests_init(struct v3_digests *d, size_t n);
void v3_digests_free(struct v3_digests *d);

/* True if that digest was noted within the window; else notes it. At least eight octets. */
bool v3_digests_seen(struct v3_digests *d, const struct rbuf *digest, uint64_t mono_us);

#endif
