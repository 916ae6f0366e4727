/*
 * A feed's frames held in memory, for measuring a board without the reading of files: all frames
 * are taken out of the feed once, and then given out again, in a loop if wanted.
 */
#ifndef EASE_AGENT_DEVICE_FEED_PRELOAD_H
#define EASE_AGENT_DEVICE_FEED_PRELOAD_H

#include "agent/device/feed.h"

struct feed_preload;

#define FEED_PRELOAD_MAX_OCTETS (1ull << 30) /* of frames; what is beyond is left out, -EFBIG */

int feed_preload_create(bool loop, struct feed_preload **preload);
void feed_preload_destroy(struct feed_preload *preload); /* NULL allowed */

/* Copies a frame behind those already held. -EFBIG: more than FEED_PRELOAD_MAX_OCTETS; -ENOMEM. */
int feed_preload_add(struct feed_preload *preload, const struct feed_frame *frame);

/* As feed_next_batch. */
size_t feed_preload_next_batch(struct feed_preload *preload, struct feed_frame *frames, size_t max);

#endif
