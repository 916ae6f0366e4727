/*
 * The EASE skip counters of all switch chips on one PCI bus, stored together (models only). They are
 * stored together because a flooded packet counts on every segment: it increments one common count, and
 * single counters are compared only when one of them ends.
 *
 * A counter with value N lets N packets pass and samples the next one (GT-48002A page 61). It is stored
 * as the value of the common count at which it samples; a packet on its own segment decrements that.
 */
#ifndef EASE_AGENT_SIM_CHIP_GALNET_EASE_MODEL_H
#define EASE_AGENT_SIM_CHIP_GALNET_EASE_MODEL_H

#include "agent/sim/chip/galnet_regs.h"

#include <stdbool.h>
#include <stdint.h>

enum { GALNET_EASE_COUNTERS = GALNET_MAX_DEVICES * GALNET_MAX_PORTS };

struct galnet_ease {
	uint64_t flooded; /* the common count: packets on every segment */
	uint64_t due;	  /* no counter samples before `flooded` reaches this */
	uint64_t at[GALNET_EASE_COUNTERS]; /* the value of `flooded` at which it samples; out of reach if stopped */
	unsigned end; /* counters from here on have never run */
	uint32_t sampled_devices;	   /* devices with bits in `sampled` */
	uint8_t sampled[GALNET_MAX_DEVICES]; /* ports that sampled the last flooded packet */
	/* Chips in a special mode, in which not all ports send flooded packets. While there is one, no
	 * packet is counted by the common count. */
	uint32_t special_devices;
};

/* Initializes it with all counters stopped. */
void galnet_ease_init(struct galnet_ease *ease);

static inline unsigned
galnet_ease_counter(unsigned device, unsigned port)
{
	return device * GALNET_MAX_PORTS + port;
}

/* Start a counter with `left` packets to skip; and stop one, returning the packets it had left. */
void galnet_ease_run(struct galnet_ease *ease, unsigned counter, uint32_t left);
uint32_t galnet_ease_stop(struct galnet_ease *ease, unsigned counter);

/* The packets that a running counter still skips. */
static inline uint32_t
galnet_ease_left(const struct galnet_ease *ease, unsigned counter)
{
	return (uint32_t)(ease->at[counter] - ease->flooded);
}

/* Counts a packet on one segment. True if its counter samples it; the caller must then stop the counter. A
 * stopped counter is decremented, too, but is out of reach. */
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

/* Takes back the count of a packet that was not sent on this segment after all. A sample is kept. */
static inline void
galnet_ease_uncount(struct galnet_ease *ease, unsigned counter)
{
	ease->at[counter]++;
}

/* Stops the counters that sample the packet, and records them in `sampled`. */
void galnet_ease_take_flooded(struct galnet_ease *ease);

/* Counts a packet on every segment. True if a counter sampled it. */
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

/* Returns and clears the ports of the device that sampled the last flooded packet, a bit each. */
static inline uint32_t
galnet_ease_collect(struct galnet_ease *ease, unsigned device)
{
	uint32_t sampled = ease->sampled[device];

	ease->sampled[device] = 0;
	ease->sampled_devices &= ~(1u << device);
	return sampled;
}

#endif
