/*
 * Chooses a calendar for the EEE statistics unit: which entry is visited in which slot, so that
 * every entry's visits are evenly spread, no entry comes again before its SRAM write is done, and,
 * if it can be, the duration unit is a whole number of visits. Pure arithmetic.
 */
#ifndef EASE_AGENT_CHIP_EEE_PLAN_H
#define EASE_AGENT_CHIP_EEE_PLAN_H

#include <stdint.h>

struct eee_plan_entry {
	uint16_t entry;	 /* EEE_ENTRY of the port and direction */
	uint8_t weight;	 /* times a round; 0 counts as 1 */
};

struct eee_plan {
	const struct eee_plan_entry *entries;
	unsigned n_entries;
	uint32_t slot_ns, unit_ns;
	uint32_t max_period_ns; /* of an entry of weight 1: the shortest sleep that must be seen */
	unsigned latency_slots; /* an entry must not come again within so many slots */
};

/* Fills calendar, idle slots with EEE_IDLE, and gives its length: the shortest that divides the
 * unit, or else the shortest that serves. The step of an entry of weight k is length x slot_ns / k.
 * -EINVAL for no entry or times of 0; -ERANGE if no calendar of at most max slots keeps all the
 * rules. */
int eee_plan(const struct eee_plan *plan, uint16_t *calendar, unsigned max, unsigned *length);

#endif
