/*
 * Recovery after a crash. The inventory was read back from the store; the crash journal
 * (crash_journal.h) shows what the crashed collector had received since. The sequence numbers given
 * out by then count as expected. Samples that arrived but are not in the store count as lost in the
 * collector, unless they arrive again. Used inside the window room, once at the start.
 */
#ifndef EASE_COLLECTOR_WINDOW_CRASH_RECOVERY_H
#define EASE_COLLECTOR_WINDOW_CRASH_RECOVERY_H

#include "collector/window/inventory.h"

struct crash_recovered {
	uint64_t samples; /* lost with this crash */
	uint32_t ports;	  /* that lost samples; two boots of a port count twice */
	uint32_t refused; /* slots beyond the inventory's limits, or with impossible values */
};

/* Is called when a port expects more samples, by the device's time time_us. */
typedef void crash_recovery_sink(void *arg, const struct port *p, uint64_t time_us, uint64_t more);

/* Applies a crashed collector's journal to the inventory and fills the sum of what was lost. */
void crash_recover(struct inventory *r, const struct crash_journal_past *past,
    crash_recovery_sink *expected, void *arg, struct crash_recovered *sum);

#endif
