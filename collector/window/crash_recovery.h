/*
 * After a crash: brings the inventory, read back from the store, up to what the collector that died
 * had seen (crash_journal.h). Numbers given out by then count as expected, what came and is not in
 * the store as gone, until it comes again. Inside the window room, once at the start.
 */
#ifndef EASE_COLLECTOR_WINDOW_CRASH_RECOVERY_H
#define EASE_COLLECTOR_WINDOW_CRASH_RECOVERY_H

#include "collector/window/inventory.h"

struct crash_recovered {
	uint64_t samples; /* gone with this crash */
	uint32_t ports;	  /* that lost some, boots counted one by one */
	uint32_t refused; /* slots beyond the inventory's limits, or with nonsense in them */
};

/* A port's numbers expected rose by more at that time of the device. */
typedef void crash_recovery_sink(void *arg, const struct port *p, uint64_t time_us, uint64_t more);

void crash_recover(struct inventory *r, const struct crash_journal_past *past,
    crash_recovery_sink *expected, void *arg, struct crash_recovered *sum);

#endif
