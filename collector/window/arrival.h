/*
 * What one sample brings to its window: its key of each kind, hashed and ready to be looked up, and
 * what its mates may have in common with it. Pure; inside the window room.
 */
#ifndef EASE_COLLECTOR_WINDOW_ARRIVAL_H
#define EASE_COLLECTOR_WINDOW_ARRIVAL_H

#include "collector/window/mates.h"

/* A key before it is found. */
struct wanted {
	uint32_t window, hash;
	uint8_t kind, direction; /* kind: index into window_kinds */
	struct halves halves;
};

struct arrival {
	struct wanted wanted[N_KINDS];
	size_t n;
};

/* A hash of 64 bits by folded 128-bit products. */
uint64_t arrival_mix(uint64_t a, uint64_t b);

/* Fills *a and, unless it is NULL, *mate for the place-th sample of a notification, in the window of that number. seed goes into
 * the hashes. */
void arrival_of(uint64_t seed, uint32_t window, const struct ease_sample *s,
    const struct frame_keys *keys, uint32_t place, struct arrival *a,
    struct mate *mate);

#endif
