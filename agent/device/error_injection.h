/*
 * Errors of the line: damages frames of a port on their way from feed to MAC, one in N on average,
 * drawn from a seed. Which frames are hit depends on the seed and on how many good frames the port
 * got, on nothing else, so a run repeats and its counters can be compared with what was injected.
 */
#ifndef EASE_AGENT_DEVICE_ERROR_INJECTION_H
#define EASE_AGENT_DEVICE_ERROR_INJECTION_H

#include "agent/device/feed.h"

struct error_injection;

enum {
	INJECT_GIANT_OCTETS = 1600, /* FCS in; longer than any board's longest frame */
	INJECT_RUNT_OCTETS = 40,    /* FCS in; its addresses are still there */
};

/* errors is copied. -EINVAL: a one_in of 0. */
int error_injection_create(const struct feed_error *errors, size_t n, uint64_t seed,
    struct error_injection **injection);
void error_injection_destroy(struct error_injection *injection); /* NULL allowed */

/* Damages the frame if it is a good one and its turn has come. Returns the kind, or -1. At most one
 * kind hits a frame: the one named first. */
int error_injection_apply(struct error_injection *injection, struct feed_frame *frame);

#endif
