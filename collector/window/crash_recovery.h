/*
 * After a crash: brings the roster, read back from the store, up to what the collector that died
 * had seen (witness.h). Numbers given out by then count as expected, what came and is not in the
 * store as gone, until it comes again. Inside the window room, once at the start.
 */
#ifndef EASE_COLLECTOR_WINDOW_CRASH_RECOVERY_H
#define EASE_COLLECTOR_WINDOW_CRASH_RECOVERY_H

#include "collector/window/inventory.h"

struct recalled {
	uint64_t samples; /* gone with this crash */
	uint32_t ports;	  /* that lost some, boots counted one by one */
	uint32_t refused; /* slots beyond the roster's limits, or with nonsense in them */
};

/* A port's numbers expected rose by more at that time of the device. */
typedef void recall_sink(void *arg, const struct port *p, uint64_t time_us, uint64_t more);

void recall(struct roster *r, const struct witness_past *past, recall_sink *expected, void *arg,
    struct recalled *sum);

#endif
