/*
 * Software model of the EEE statistics unit: a calendar that visits one entry (a port's direction)
 * a slot, the arithmetic done at a visit, narrow counts in SRAM, and a report buffer with an
 * interrupt for counts that have reached their threshold.
 *
 * The board does not tick it. It tells each interval in which a direction slept, and the visits
 * that fall into it follow in closed form: the counts are those of the ticked unit, visit by visit.
 * Thresholds are seen by eee_calendar_model_settle, which says when it must be called next for
 * the interrupt to come with the visit that reaches one.
 *
 * Times are nanoseconds of board time, and never go back. Call everything with the bus's lock
 * held. The driver (eee_calendar.h) never sees this file.
 */
#ifndef EASE_AGENT_CHIP_EEE_CALENDAR_MODEL_H
#define EASE_AGENT_CHIP_EEE_CALENDAR_MODEL_H

#include "agent/bus/bus_model.h"
#include "agent/chip/eee_calendar_regs.h"

#include <stdbool.h>
#include <stdint.h>

struct eee_calendar_model_config {
	struct bus_model *bus; /* borrowed */
	uint32_t base;	       /* bus address of the unit's window */
	unsigned line;	       /* up while the report buffer holds something, if enabled */
	unsigned n_ports;      /* 1..EEE_MAX_PORTS */
	/* 0: the default of eee_calendar_regs.h */
	uint32_t slot_ns;
	unsigned latency_slots;
	unsigned event_bits, duration_bits; /* 2..32 */
	/* Called before every access of the CPU: the board tells all sleep up to now, that of
	 * directions still asleep too, and calls eee_calendar_model_settle. NULL: the caller has. */
	void (*sync)(void *ctx);
	void *ctx;
};

/* An entry, and when the calendar comes to it. Private to the inline functions below. */
struct eee_calendar_entry {
	/* Visits are at the end of every period, less bias. period_ns 0: spread unevenly. */
	uint64_t period_ns, bias_ns, reciprocal;
	uint64_t visits;	/* up to the last one that found it asleep */
	uint64_t asleep_visits; /* since the last settlement */
	uint32_t new_events;	/* likewise */
	bool last;		/* asleep at that visit */
	/* not touched between settlements */
	uint32_t count[EEE_FIELDS];
	bool reported[EEE_FIELDS]; /* its address was put into the report buffer */
	uint32_t acc_ns;
	uint32_t step_ns;
	uint16_t n_places; /* slots that name it */
};

struct eee_calendar_model {
	struct eee_calendar_entry entries[EEE_MAX_ENTRIES];
	unsigned n_entries;
	uint64_t now_ns; /* of the last settlement */
	bool running;
	struct regmodel regs;
	struct eee_calendar_model_config config;
	uint32_t reports[EEE_MAX_ENTRIES * EEE_FIELDS]; /* a ring: one each, so it cannot overflow */
	unsigned first_report, n_reports;
};

/* -EINVAL for a config out of range, -ENOMEM, or what the bus said. */
int eee_calendar_model_create(const struct eee_calendar_model_config *config,
    struct eee_calendar_model **model);
void eee_calendar_model_destroy(struct eee_calendar_model *model); /* NULL allowed */
/* The RESET pin: calendar idle, stopped, SRAM 0. */
void eee_calendar_model_reset(struct eee_calendar_model *model);

/* Counts what was told up to now_ns, reports counts that have reached their threshold, and returns
 * the time of the next call: no threshold can be reached before it. UINT64_MAX: none ever. */
uint64_t eee_calendar_model_settle(struct eee_calendar_model *model, uint64_t now_ns);

/* Visits of an unevenly spread entry at times before ns; the slow way. */
uint64_t eee_calendar_model_uneven_visits(const struct eee_calendar_model *model,
    const struct eee_calendar_entry *entry, uint64_t ns);

/* Visits of the entry at times before ns. The quotient by the reciprocal is exact or one short. */
static inline uint64_t
eee_calendar_model_visits(const struct eee_calendar_model *model,
    const struct eee_calendar_entry *entry, uint64_t ns)
{
	uint64_t dividend = ns + entry->bias_ns, quotient;

	if (__builtin_expect(entry->period_ns == 0, 0))
		return eee_calendar_model_uneven_visits(model, entry, ns);
	quotient = (uint64_t)((unsigned __int128)dividend * entry->reciprocal >> 64);
	return quotient + (dividend - quotient * entry->period_ns >= entry->period_ns);
}

/* The entry slept in [from_ns, to_ns), and was awake since the interval told before. An interval
 * may be told in pieces that touch. Ending the one under way is how a link that goes down is told:
 * the direction counts as awake. */
static inline void
eee_calendar_model_sleep(struct eee_calendar_model *model, unsigned entry, uint64_t from_ns,
    uint64_t to_ns)
{
	struct eee_calendar_entry *e = &model->entries[entry];
	uint64_t before = eee_calendar_model_visits(model, e, from_ns);
	uint64_t after = eee_calendar_model_visits(model, e, to_ns);

	if (before == after)
		return; /* between two visits: the unit never knows */
	e->new_events += !e->last || before != e->visits;
	e->asleep_visits += after - before;
	e->visits = after;
	e->last = true;
}

#endif
