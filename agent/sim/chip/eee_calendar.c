#include "agent/sim/chip/eee_calendar.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static const struct stat_name stat_names[EEE_CALENDAR_N_STATS] = {
    [EEE_CALENDAR_STAT_DRAINED] = {"eee.drained",
	"counts moved from the EEE unit to totals at their threshold"},
    [EEE_CALENDAR_STAT_WRAPPED] = {"eee.wrapped",
	"counts that wrapped in the EEE unit before they were read: some sleep is not counted"},
};

struct total {
	uint64_t drained; /* taken out of the unit */
	uint64_t shown;	  /* the highest total returned: totals never decrease */
};

struct eee_calendar {
	struct eee_calendar_config config;
	uint32_t slot_ns, latency_slots, n_ports;
	uint32_t bits[EEE_FIELDS];
	uint32_t period_ns;
	struct total totals[EEE_MAX_ENTRIES][EEE_FIELDS];
	_Atomic uint64_t stat_values[EEE_CALENDAR_N_STATS];
	struct stat_set stats;
};

static int
read_eee_register(struct eee_calendar *u, uint32_t offset, uint32_t *value)
{
	return bus_read(u->config.bus, u->config.base + offset, value);
}

static int
write_eee_register(struct eee_calendar *u, uint32_t offset, uint32_t value)
{
	return bus_write(u->config.bus, u->config.base + offset, value);
}

static uint32_t
count_register(unsigned entry, enum eee_field field)
{
	return (field == EEE_EVENT ? EEE_EVENT_COUNT : EEE_DURATION_COUNT) + 4 * entry;
}

/* --- choosing a calendar --- */

static unsigned
visits_of_entry(const struct eee_plan_entry *e)
{
	return e->weight > 0 ? e->weight : 1;
}

static unsigned
most_visits(const struct eee_plan *plan)
{
	unsigned most = 0;

	for (unsigned i = 0; i < plan->n_entries; i++)
		if (visits_of_entry(&plan->entries[i]) > most)
			most = visits_of_entry(&plan->entries[i]);
	return most;
}

/* Whether equally spaced visits leave enough time for the pipeline. */
static bool
weights_fit(const struct eee_plan *plan, unsigned length)
{
	for (unsigned i = 0; i < plan->n_entries; i++)
		if (length % visits_of_entry(&plan->entries[i]) != 0)
			return false;
	return length / most_visits(plan) > plan->latency_slots;
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
place_entry(uint16_t *calendar, unsigned length, const struct eee_plan_entry *e)
{
	unsigned distance = length / visits_of_entry(e), offset = 0;

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
fill_calendar(const struct eee_plan *plan, uint16_t *calendar, unsigned length)
{
	for (unsigned slot = 0; slot < length; slot++)
		calendar[slot] = EEE_IDLE;
	for (unsigned w = most_visits(plan); w > 0; w--)
		for (unsigned i = 0; i < plan->n_entries; i++)
			if (visits_of_entry(&plan->entries[i]) == w &&
			    !place_entry(calendar, length, &plan->entries[i]))
				return false;
	return true;
}

/* The shortest calendar of at most max slots; if dividing, one of those that divide the unit. */
static bool
try_lengths(const struct eee_plan *plan, bool dividing, uint16_t *calendar, unsigned max, unsigned *length)
{
	unsigned least = 0;

	for (unsigned i = 0; i < plan->n_entries; i++)
		least += visits_of_entry(&plan->entries[i]);
	for (unsigned l = least; l <= max; l++) {
		if (!weights_fit(plan, l) || (dividing && plan->unit_ns % ((uint64_t)l * plan->slot_ns) != 0))
			continue;
		if (fill_calendar(plan, calendar, l)) {
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

/* --- setting up --- */

static int
eee_read_geometry(struct eee_calendar *u)
{
	uint32_t geometry;
	int rc = read_eee_register(u, EEE_GEOMETRY, &geometry);

	if (rc == 0)
		rc = read_eee_register(u, EEE_SLOT_NS, &u->slot_ns);
	if (rc < 0)
		return rc;
	u->n_ports = geometry >> EEE_GEOMETRY_PORTS_SHIFT & EEE_GEOMETRY_MASK;
	u->bits[EEE_EVENT] = geometry >> EEE_GEOMETRY_EVENT_SHIFT & EEE_GEOMETRY_MASK;
	u->bits[EEE_DURATION] = geometry >> EEE_GEOMETRY_DURATION_SHIFT & EEE_GEOMETRY_MASK;
	u->latency_slots = geometry >> EEE_GEOMETRY_LATENCY_SHIFT & EEE_GEOMETRY_MASK;
	for (unsigned field = 0; field < EEE_FIELDS; field++)
		if (u->bits[field] < 2 || u->bits[field] > 32)
			return -EIO;
	return 0;
}

static int
write_calendar(struct eee_calendar *u)
{
	struct eee_plan_entry entries[EEE_MAX_ENTRIES];
	struct eee_plan plan = {
	    .entries = entries,
	    .slot_ns = u->slot_ns,
	    .unit_ns = EEE_CALENDAR_UNIT_NS,
	    .max_period_ns = EEE_CALENDAR_MAX_PERIOD_NS,
	    .latency_slots = u->latency_slots,
	};
	uint16_t calendar[EEE_MAX_SLOTS];
	unsigned length;
	int rc;

	for (unsigned port = 0; port < u->n_ports && port < EEE_MAX_PORTS; port++)
		for (unsigned d = 0; d < EEE_DIRECTIONS && u->config.has_eee[port]; d++)
			entries[plan.n_entries++] = (struct eee_plan_entry){.entry = (uint16_t)EEE_ENTRY(port, d)};
	rc = eee_plan(&plan, calendar, EEE_MAX_SLOTS, &length);
	for (unsigned slot = 0; rc == 0 && slot < length; slot++)
		rc = write_eee_register(u, EEE_CALENDAR + 4 * slot, calendar[slot]);
	if (rc < 0)
		return rc;
	u->period_ns = length * u->slot_ns;
	rc = write_eee_register(u, EEE_LENGTH, length);
	if (rc == 0)
		rc = write_eee_register(u, EEE_STEP, u->period_ns);
	return rc;
}

/* The threshold is half of a count's range: the CPU has the other half's time to read it. */
static int
start_eee_unit(struct eee_calendar *u)
{
	uint32_t control;
	int rc = write_eee_register(u, EEE_CONTROL, 0);

	if (rc == 0)
		rc = write_eee_register(u, EEE_UNIT, EEE_CALENDAR_UNIT_NS);
	if (rc == 0)
		rc = write_eee_register(u, EEE_THRESHOLD_EVENT, 1u << (u->bits[EEE_EVENT] - 1));
	if (rc == 0)
		rc = write_eee_register(u, EEE_THRESHOLD_DURATION, 1u << (u->bits[EEE_DURATION] - 1));
	if (rc == 0)
		rc = write_calendar(u);
	if (rc == 0)
		rc = write_eee_register(u, EEE_CONTROL, EEE_CONTROL_RUN | EEE_CONTROL_INTERRUPT);
	if (rc == 0)
		rc = read_eee_register(u, EEE_CONTROL, &control);
	if (rc == 0 && !(control & EEE_CONTROL_RUN))
		rc = -EINVAL;
	return rc;
}

int
eee_calendar_create(const struct eee_calendar_config *config, struct eee_calendar **unit)
{
	struct eee_calendar *u = calloc(1, sizeof(*u));
	int rc;

	if (!u)
		return -ENOMEM;
	u->config = *config;
	u->stats = (struct stat_set){stat_names, EEE_CALENDAR_N_STATS, u->stat_values};
	rc = eee_read_geometry(u);
	if (rc == 0)
		rc = start_eee_unit(u);
	if (rc < 0) {
		free(u);
		return rc;
	}
	*unit = u;
	return 0;
}

void
eee_calendar_destroy(struct eee_calendar *unit)
{
	free(unit);
}

/* --- counting --- */

/* Subtracts the value that was read, because the unit may have counted on. */
static int
drain_eee_counter(struct eee_calendar *u, unsigned entry, enum eee_field field)
{
	uint32_t count;
	int rc = read_eee_register(u, count_register(entry, field), &count);

	if (rc == 0)
		rc = write_eee_register(u, count_register(entry, field), count);
	if (rc < 0)
		return rc;
	u->totals[entry][field].drained += count;
	stat_add(&u->stats, EEE_CALENDAR_STAT_DRAINED, 1);
	return 0;
}

int
eee_calendar_dispatch(struct eee_calendar *u)
{
	uint32_t address;
	int n = 0, rc;

	while ((rc = read_eee_register(u, EEE_REPORT, &address)) == 0 && address & EEE_REPORT_VALID) {
		rc = drain_eee_counter(u, address & EEE_REPORT_ENTRY_MASK,
		    address & EEE_REPORT_DURATION ? EEE_DURATION : EEE_EVENT);
		if (rc < 0)
			break;
		n++;
	}
	return rc < 0 ? rc : n;
}

/* The drained count plus the one in the unit. Only this thread drains, so the first cannot change while the
 * second is read. */
static int
total_of_counter(struct eee_calendar *u, unsigned entry, enum eee_field field, uint64_t *figure)
{
	struct total *t = &u->totals[entry][field];
	uint32_t count;
	int rc = read_eee_register(u, count_register(entry, field), &count);

	if (rc < 0)
		return rc;
	if (t->drained + count < t->shown)
		stat_add(&u->stats, EEE_CALENDAR_STAT_WRAPPED, 1);
	else
		t->shown = t->drained + count;
	*figure = t->shown;
	return 0;
}

static int
read_direction(struct eee_calendar *u, unsigned entry, struct ease_low_power *figures)
{
	uint64_t units;
	int rc = total_of_counter(u, entry, EEE_EVENT, &figures->events);

	if (rc == 0)
		rc = total_of_counter(u, entry, EEE_DURATION, &units);
	if (rc == 0)
		figures->asleep_us = units * EEE_CALENDAR_UNIT_NS / 1000;
	return rc;
}

int
eee_calendar_read(struct eee_calendar *u, unsigned port, struct hal_energy *energy)
{
	int rc;

	if (port >= u->n_ports || !u->config.has_eee[port])
		return -ENODEV;
	*energy = (struct hal_energy){
	    .counts = true, .unit_ns = EEE_CALENDAR_UNIT_NS, .period_ns = u->period_ns};
	rc = read_direction(u, EEE_ENTRY(port, EEE_RX), &energy->in);
	if (rc == 0)
		rc = read_direction(u, EEE_ENTRY(port, EEE_TX), &energy->out);
	return rc;
}

const struct stat_set *
eee_calendar_stats(const struct eee_calendar *unit)
{
	return &unit->stats;
}
