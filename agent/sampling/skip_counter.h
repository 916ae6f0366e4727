/*
 * What is known of a port's skip counter from the skips alone: those it holds, and the frames that passed
 * while it was stalled.
 *
 * A skip K ends a period of K + 1 frames, so each skip that is loaded moves the end of the last period
 * (end_pkts, a count of the port's pool) by K + 1. When the device tells that the counter has run out, it
 * stalls: frames still enlarge the pool, but belong to no period. The next skip begins at the pool of
 * that moment, and what lies between the two passed unsampled.
 *
 *             load                 ran out     off         lost
 * idle        counting             idle        idle        idle
 * counting    counting             stalled     counting    idle
 * stalled     counting: a stall    stalled     idle        idle
 *
 * Pure: no device, no clock. Pools are of both directions.
 */
#ifndef EASE_AGENT_SAMPLING_SKIP_COUNTER_H
#define EASE_AGENT_SAMPLING_SKIP_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

enum { SKIPS_AHEAD_MAX = 33 }; /* as many skips as any device holds (agent/linux/tap_shared.h) */

enum skip_counter_state {
	SKIP_COUNTER_IDLE,     /* where the present period ends is not known */
	SKIP_COUNTER_COUNTING, /* the last period ends at end_pkts */
	SKIP_COUNTER_STALLED, /* the last period ended at end_pkts; frames pass unsampled */
};

enum skip_counter_event {
	SKIP_COUNTER_LOAD,    /* a skip is about to be loaded */
	SKIP_COUNTER_RAN_OUT, /* the device: no skip is left (hal_sample_event.counter_empty) */
	SKIP_COUNTER_LOST,    /* the device no longer has its skips */
	SKIP_COUNTER_OFF,     /* sampling is off, so that what passes while it stalls is no loss */
};

struct drawn_skip {
	uint32_t skip;
	uint32_t mean; /* the mean in force when it was drawn */
	bool partial;  /* the frame captured at its end is not a sample, see skip_draw */
};

struct skip_counter {
	enum skip_counter_state state;
	uint64_t end_pkts;
	uint64_t stalls, stalled_pkts;
	/* In the hardware's order; [0] counts now. Those of samples not reported yet are here, too. */
	struct drawn_skip loaded[SKIPS_AHEAD_MAX];
	unsigned n_loaded;
};

/* The one transition function. pool_pkts: the pool now, for SKIP_COUNTER_LOAD; unused while counting. */
void skip_counter_step(
    struct skip_counter *counter, enum skip_counter_event event, uint64_t pool_pkts);

/* Adds a skip that was loaded; SKIP_COUNTER_LOAD came first. */
void skip_counter_add(struct skip_counter *counter, const struct drawn_skip *skip);
/* Removes the skip that ended. False: none was loaded. */
bool skip_counter_pop(struct skip_counter *counter, struct drawn_skip *skip);

#endif
