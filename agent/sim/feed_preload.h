/*
 * Holds a feed's frames in memory, to measure a board without the cost of reading files. The feed adds all
 * its frames once; they can then be read once, or in a loop.
 */
#ifndef EASE_AGENT_SIM_FEED_PRELOAD_H
#define EASE_AGENT_SIM_FEED_PRELOAD_H

#include "agent/sim/feed.h"

struct feed_preload;

#define FEED_PRELOAD_MAX_OCTETS (1ull << 30) /* of all frames */

int feed_preload_create(bool loop, struct feed_preload **preload);
void feed_preload_destroy(struct feed_preload *preload); /* NULL allowed */

/* Copies a frame behind those already held. -EFBIG: more than FEED_PRELOAD_MAX_OCTETS; -ENOMEM. */
int feed_preload_add(struct feed_preload *preload, const struct feed_frame *frame);

/* As feed_next_batch. */
size_t feed_preload_next_batch(struct feed_preload *preload, struct feed_frame *frames, size_t max);

#endif
