/*
 * The EASE countdowns of all switch chips on one PCI bus, side by side (models only). Each chip's
 * counters are its own in every register; they lie together because a flooded packet counts on
 * every segment at once: it moves one common count, and the rest is compared only when a counter
 * has come to its end.
 *
 * A counter holding N lets N packets pass and takes the next one (GT-48002A page 61). It is kept as
 * the common count at which that will be; a packet on its segment alone brings this one nearer.
 */
#ifndef EASE_AGENT_CHIP_GALNET_EASE_MODEL_H
#define EASE_AGENT_CHIP_GALNET_EASE_MODEL_H

#include "agent/chip/galnet_regs.h"

#include <stdbool.h>
#include <stdint.h>

enum { GALNET_EASE_COUNTERS = GALNET_MAX_DEVICES * GALNET_MAX_PORTS };

struct galnet_ease {
	uint64_t flooded; /* packets that every running counter has seen */
	uint64_t due;	  /* no counter takes a flooded packet before `flooded` is this */
	uint64_t at[GALNET_EASE_COUNTERS]; /* `flooded` when it takes one; stopped: out of reach */
	unsigned end; /* counters from here on have never run */
	uint32_t sampled_devices;	   /* with bits in the next */
	uint8_t sampled[GALNET_MAX_DEVICES]; /* ports that took the last flooded packet */
	/* Chips whose ports do not all take what is flooded, or that do more with it: while there is
	 * one, no packet may be counted on every segment at once. */
	uint32_t special_devices;
};

/* All counters stopped. */
void galnet_ease_init(struct galnet_ease *ease);

static inline unsigned
galnet_ease_counter(unsigned device, unsigned port)
{
	return device * GALNET_MAX_PORTS + port;
}

/* Starts a counter with `left` packets to skip; stops one and says what it had left. */
void galnet_ease_run(struct galnet_ease *ease, unsigned counter, uint32_t left);
uint32_t galnet_ease_stop(struct galnet_ease *ease, unsigned counter);

/* Of a running counter. */
static inline uint32_t
galnet_ease_left(const struct galnet_ease *ease, unsigned counter)
{
	return (uint32_t)(ease->at[counter] - ease->flooded);
}

/* One packet on one segment: true if its counter takes it, which must then be stopped. A stopped
 * counter moves too, far out of reach. */
static inline bool
galnet_ease_count(struct galnet_ease *ease, unsigned counter)
{
	uint64_t at = ease->at[counter];

	if (at == ease->flooded)
		return true;
	ease->at[counter] = --at;
	if (at < ease->due)
		ease->due = at;
	return false;
}

/* A packet that was counted did not leave by this segment after all. One that was taken stays so. */
static inline void
galnet_ease_uncount(struct galnet_ease *ease, unsigned counter)
{
	ease->at[counter]++;
}

/* Stops those that take the packet and notes them in `sampled`. */
void galnet_ease_take_flooded(struct galnet_ease *ease);

/* One packet on every segment: true if some counters took it. */
static inline bool
galnet_ease_flood(struct galnet_ease *ease)
{
	if (__builtin_expect(ease->flooded < ease->due, 1)) {
		ease->flooded++;
		return false;
	}
	galnet_ease_take_flooded(ease);
	return true;
}

/* Ports of the device that took the last flooded packet, a bit each; forgets them. */
static inline uint32_t
galnet_ease_collect(struct galnet_ease *ease, unsigned device)
{
	uint32_t sampled = ease->sampled[device];

	ease->sampled[device] = 0;
	ease->sampled_devices &= ~(1u << device);
	return sampled;
}

#endif
