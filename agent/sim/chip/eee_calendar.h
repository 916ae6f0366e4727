/*
 * Driver of the EEE statistics unit: the energy facet of boards with this unit. It writes a calendar for the
 * ports that have EEE, moves counts that have reached their threshold to 64-bit totals, and when it is
 * read adds the counts that are still in the unit.
 *
 * All calls are on the HAL's thread and none waits.
 */
#ifndef EASE_AGENT_SIM_CHIP_EEE_CALENDAR_H
#define EASE_AGENT_SIM_CHIP_EEE_CALENDAR_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/bus/bus.h"
#include "agent/sim/chip/eee_calendar_regs.h"

struct eee_calendar;

enum {
	EEE_CALENDAR_UNIT_NS = EEE_DEFAULT_UNIT_NS,
	/* The longest period between visits. A port sleeps for at least the 17 us that it takes to wake,
	 * so with a shorter period no sleep is missed. */
	EEE_CALENDAR_MAX_PERIOD_NS = 10000,
};

struct eee_calendar_config {
	const struct bus *bus; /* borrowed */
	uint32_t base;	       /* bus address of the unit's window */
	bool has_eee[EEE_MAX_PORTS];
};

/* Plans the calendar and starts the unit. -EINVAL if no port has EEE or the unit refuses the calendar;
 * -ERANGE if no calendar keeps EEE_CALENDAR_MAX_PERIOD_NS; or the bus's error. */
int eee_calendar_create(const struct eee_calendar_config *config, struct eee_calendar **unit);
void eee_calendar_destroy(struct eee_calendar *unit); /* NULL allowed */

/* hal_energy_ops.read in the unit's terms: -ENODEV for a port without EEE. */
int eee_calendar_read(struct eee_calendar *unit, unsigned port, struct hal_energy *energy);

/* Handles the interrupt: moves the counts in the report buffer to the totals. Returns their number, or
 * -errno. Must be called before the narrow counts overflow (within 327 ms with 16 bits), or they wrap;
 * a wrap is counted if a later read shows it. */
int eee_calendar_dispatch(struct eee_calendar *unit);

enum eee_calendar_stat {
	EEE_CALENDAR_STAT_DRAINED,
	EEE_CALENDAR_STAT_WRAPPED,
	EEE_CALENDAR_N_STATS
};
const struct stat_set *eee_calendar_stats(const struct eee_calendar *unit);

/* --- choosing a calendar: pure arithmetic --- */

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

/* Chooses the entry to visit in each slot: every entry's visits are equally spaced, no entry is visited again
 * before its SRAM write is done, and if possible the duration unit is a whole number of visits.
 * Writes the calendar, with EEE_IDLE in idle slots, and returns its length: the shortest one that divides the
 * unit, or else the shortest possible. The step of an entry of weight k is length x slot_ns / k. -EINVAL
 * if there is no entry or a time is 0; -ERANGE if no calendar of at most max slots keeps all rules. */
int eee_plan(const struct eee_plan *plan, uint16_t *calendar, unsigned max, unsigned *length);

#endif
