/*
 * Driver of the EEE statistics unit: the energy facet of the boards that carry it. It writes a
 * calendar for the ports that have EEE, drains counts that have reached their threshold into 64-bit
 * totals, and adds what the unit holds to them when it is asked.
 *
 * All calls are on the HAL's thread and none waits.
 */
#ifndef EASE_AGENT_CHIP_EEE_CALENDAR_H
#define EASE_AGENT_CHIP_EEE_CALENDAR_H

#include "agent/bus/bus.h"
#include "agent/chip/eee_calendar_regs.h"
#include "agent/hal/hal_provider.h"

struct eee_calendar;

enum {
	EEE_CALENDAR_UNIT_NS = EEE_DEFAULT_UNIT_NS,
	/* The longest visit period that is still planned for: ports sleep for at least the 17 us it
	 * takes them to wake, so with less than that no sleep is missed. */
	EEE_CALENDAR_MAX_PERIOD_NS = 10000,
};

struct eee_calendar_config {
	const struct bus *bus; /* borrowed */
	uint32_t base;	       /* bus address of the unit's window */
	bool has_eee[EEE_MAX_PORTS];
};

/* Plans the calendar and starts the unit. -EINVAL if no port has EEE or the unit refused the
 * calendar, -ERANGE if none keeps to EEE_CALENDAR_MAX_PERIOD_NS, or what the bus said. */
int eee_calendar_create(const struct eee_calendar_config *config, struct eee_calendar **unit);
void eee_calendar_destroy(struct eee_calendar *unit); /* NULL allowed */

/* hal_energy_ops.read in the unit's terms: -ENODEV for a port without EEE. */
int eee_calendar_read(struct eee_calendar *unit, unsigned port, struct hal_energy *energy);

/* Handles the interrupt: empties the report buffer into the totals. The number of counts drained
 * or -errno. Must come within the headroom of the narrow counts (327 ms with 16 bits), or the unit
 * wraps them: seen and counted where a later reading shows it. */
int eee_calendar_dispatch(struct eee_calendar *unit);

enum eee_calendar_stat {
	EEE_CALENDAR_STAT_DRAINED,
	EEE_CALENDAR_STAT_WRAPPED,
	EEE_CALENDAR_N_STATS
};
const struct stat_set *eee_calendar_stats(const struct eee_calendar *unit);

#endif
