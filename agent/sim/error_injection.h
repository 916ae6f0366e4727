/*
 * Injects errors into frames between feed and MAC: at a port, one in N good frames on average, chosen at
 * random. The choice depends only on a seed and on the number of good frames of the port. So a run can
 * be repeated exactly, and counters can be compared with what was injected.
 */
#ifndef EASE_AGENT_SIM_ERROR_INJECTION_H
#define EASE_AGENT_SIM_ERROR_INJECTION_H

#include "agent/sim/feed.h"

struct error_injection;

enum {
	INJECT_GIANT_OCTETS = 1600, /* with FCS; longer than any board's longest frame */
	INJECT_RUNT_OCTETS = 40,    /* with FCS; still contains the addresses */
};

/* errors is copied. -EINVAL: a one_in of 0. */
int error_injection_create(const struct feed_error *errors, size_t n, uint64_t seed,
    struct error_injection **injection);
void error_injection_destroy(struct error_injection *injection); /* NULL allowed */

/* Damages the frame if it is good and its turn has come. Returns the kind of error, or -1. A frame gets at
 * most one error: of the kind that was named first. */
int error_injection_apply(struct error_injection *injection, struct feed_frame *frame);

#endif
