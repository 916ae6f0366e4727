/*
 * A feed's frames held in memory, for measuring a board without the reading of files: all frames
 * are taken out of the feed once, and then given out again, in a loop if wanted.
 */
#ifndef EASE_AGENT_DEVICE_PRELOAD_H
#define EASE_AGENT_DEVICE_PRELOAD_H

#include "agent/device/feed.h"

struct preload;

#define PRELOAD_MAX_OCTETS (1ull << 30) /* of frames; what is beyond is left out, -EFBIG */

/* Takes all frames that the feed has left. */
int preload_create(struct feed *feed, bool loop, struct preload **preload);
void preload_destroy(struct preload *preload); /* NULL allowed */

/* As feed_next_batch. */
size_t preload_next_batch(struct preload *preload, struct feed_frame *frames, size_t max);

#endif
