/*
 * Something that is sent of every port once in an interval. Few ports are sent together. Many are spread
 * over the interval in slices, such that neither the network nor the main loop has all of them at once;
 * each port keeps its place, so that its own interval is the same every time.
 *
 * Pure scheduling, by the steady clock (hal.h).
 */
#ifndef EASE_AGENT_PORT_ROUND_H
#define EASE_AGENT_PORT_ROUND_H

#include "agent/hal/hal.h"

enum {
	PORT_ROUND_SLICE_PORTS = 64,  /* that are sent together: some ten notifications */
	PORT_ROUND_SLICE_MS = 50,     /* from one slice to the next, at least */
};

struct port_round {
	uint64_t start_us; /* of this round */
	uint64_t next_us;  /* of the next slice */
	size_t slice;	   /* its number, from 0 */
	uint32_t after;	   /* the ifIndex that was sent last */
};

/* The first round begins at start_us. */
void port_round_begin(struct port_round *round, uint64_t start_us);

/* A round that waits for its first slice begins at latest_us, unless it does so before. */
void port_round_by(struct port_round *round, uint64_t latest_us);

/* If a slice is due at now_us calls send for each of its ports, in the order of their ifIndex. Returns
 * true if that was the round's last one; the next begins an interval after this one began. */
bool port_round_run(struct port_round *round, const struct hal *hal, uint64_t now_us,
    uint64_t interval_us, void (*send)(void *ctx, uint32_t if_index), void *ctx);

#endif
