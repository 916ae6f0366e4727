/*
 * Chooses a calendar for the EEE statistics unit, the entry to visit in each slot: every entry's visits are
 * equally spaced, no entry is visited again before its SRAM write is done, and if possible the duration
 * unit is a whole number of visits. Pure arithmetic.
 */
#ifndef EASE_AGENT_SIM_CHIP_EEE_PLAN_H
#define EASE_AGENT_SIM_CHIP_EEE_PLAN_H

#include <stdint.h>

struct eee_plan_entry {
	uint16_t entry;	 /* EEE_ENTRY of the port and direction */
	uint8_t weight;	 /* visits in a round; 0 counts as 1 */
};

struct eee_plan {
	const struct eee_plan_entry *entries;
	unsigned n_entries;
	uint32_t slot_ns, unit_ns;
	uint32_t max_period_ns; /* of an entry of weight 1: the shortest sleep that must be detected */
	unsigned latency_slots; /* an entry must not be visited again within so many slots */
};

/* Writes the calendar, with EEE_IDLE in idle slots, and returns its length: the shortest one that divides the
 * unit, or else the shortest possible. The step of an entry of weight k is length x slot_ns / k. -EINVAL
 * if there is no entry or a time is 0; -ERANGE if no calendar of at most max slots keeps all rules. */
int eee_plan(const struct eee_plan *plan, uint16_t *calendar, unsigned max, unsigned *length);

#endif
