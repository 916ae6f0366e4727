#include "agent/sim/chip/eee_plan.h"

#include "agent/sim/chip/eee_calendar_regs.h"

#include <errno.h>
#include <stdbool.h>

static unsigned
weight(const struct eee_plan_entry *e)
{
	return e->weight > 0 ? e->weight : 1;
}

static unsigned
heaviest(const struct eee_plan *plan)
{
	unsigned most = 0;

	for (unsigned i = 0; i < plan->n_entries; i++)
		if (weight(&plan->entries[i]) > most)
			most = weight(&plan->entries[i]);
	return most;
}

static unsigned
slots_needed(const struct eee_plan *plan)
{
	unsigned slots = 0;

	for (unsigned i = 0; i < plan->n_entries; i++)
		slots += weight(&plan->entries[i]);
	return slots;
}

/* Whether equally spaced visits leave enough time for the pipeline. */
static bool
weights_fit(const struct eee_plan *plan, unsigned length)
{
	for (unsigned i = 0; i < plan->n_entries; i++)
		if (length % weight(&plan->entries[i]) != 0)
			return false;
	return length / heaviest(plan) > plan->latency_slots;
}

static bool
divides_unit(const struct eee_plan *plan, unsigned length)
{
	return plan->unit_ns % ((uint64_t)length * plan->slot_ns) == 0;
}

static bool
slots_are_idle(const uint16_t *calendar, unsigned length, unsigned offset, unsigned distance)
{
	for (unsigned slot = offset; slot < length; slot += distance)
		if (calendar[slot] != EEE_IDLE)
			return false;
	return true;
}

/* Places an entry at the first offset where all its slots are idle. */
static bool
place(uint16_t *calendar, unsigned length, const struct eee_plan_entry *e)
{
	unsigned distance = length / weight(e), offset = 0;

	while (offset < distance && !slots_are_idle(calendar, length, offset, distance))
		offset++;
	if (offset == distance)
		return false;
	for (unsigned slot = offset; slot < length; slot += distance)
		calendar[slot] = e->entry;
	return true;
}

/* Places the entries with most visits first, because they are the hardest to place. */
static bool
fill(const struct eee_plan *plan, uint16_t *calendar, unsigned length)
{
	for (unsigned slot = 0; slot < length; slot++)
		calendar[slot] = EEE_IDLE;
	for (unsigned w = heaviest(plan); w > 0; w--)
		for (unsigned i = 0; i < plan->n_entries; i++)
			if (weight(&plan->entries[i]) == w &&
			    !place(calendar, length, &plan->entries[i]))
				return false;
	return true;
}

static bool
try_lengths(const struct eee_plan *plan, bool dividing, uint16_t *calendar, unsigned max,
    unsigned *length)
{
	for (unsigned l = slots_needed(plan); l <= max; l++) {
		if (!weights_fit(plan, l) || (dividing && !divides_unit(plan, l)))
			continue;
		if (fill(plan, calendar, l)) {
			*length = l;
			return true;
		}
	}
	return false;
}

int
eee_plan(const struct eee_plan *plan, uint16_t *calendar, unsigned max, unsigned *length)
{
	unsigned longest;

	if (plan->n_entries == 0 || plan->slot_ns == 0 || plan->unit_ns == 0)
		return -EINVAL;
	longest = plan->max_period_ns / plan->slot_ns;
	if (longest > max)
		longest = max;
	if (try_lengths(plan, true, calendar, longest, length) ||
	    try_lengths(plan, false, calendar, longest, length))
		return 0;
	return -ERANGE;
}
