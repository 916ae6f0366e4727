#include "agent/chip/eee_calendar_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum row {
	ROW_CONTROL,
	ROW_LENGTH,
	ROW_UNIT,
	ROW_STEP,
	ROW_THRESHOLD,
	ROW_SLOT_NS,
	ROW_GEOMETRY,
	ROW_REPORT,
	ROW_EVENT_COUNT,
	ROW_DURATION_COUNT,
	ROW_STATE,
	ROW_CALENDAR,
};

static uint32_t
value(struct eee_calendar_model *m, enum row row)
{
	return *regmodel_value(&m->regs, row, 0);
}

/* --- visits --- */

static bool
visited(const struct eee_calendar_model *m, const struct eee_calendar_entry *e)
{
	return m->running && e->n_places > 0;
}

/* What a stopped unit does, or one whose calendar leaves the entry out. */
static void
never_visit(struct eee_calendar_entry *e)
{
	e->period_ns = UINT64_MAX;
	e->reciprocal = 0;
	e->bias_ns = 0;
	e->visits = 0;
}

static uint64_t
round_ns(const struct eee_calendar_model *m)
{
	return (uint64_t)m->config.slot_ns * m->regs.values[ROW_LENGTH][0];
}

uint64_t
eee_calendar_model_uneven_visits(const struct eee_calendar_model *m,
    const struct eee_calendar_entry *e, uint64_t ns)
{
	uint64_t round = round_ns(m), visits = 0;
	uint32_t length = m->regs.values[ROW_LENGTH][0];

	for (uint32_t slot = 0; slot < length; slot++)
		if (m->regs.values[ROW_CALENDAR][slot] == (uint32_t)(e - m->entries))
			visits += (ns + round - 1 - (uint64_t)slot * m->config.slot_ns) / round;
	return visits;
}

/* --- settlement --- */

static void
update_line(struct eee_calendar_model *m)
{
	bool enabled = value(m, ROW_CONTROL) & EEE_CONTROL_INTERRUPT;

	bus_model_set_line(m->config.bus, m->config.line, enabled && m->n_reports > 0);
}

static uint32_t
threshold(struct eee_calendar_model *m, enum eee_field field)
{
	return *regmodel_value(&m->regs, ROW_THRESHOLD, field);
}

static uint64_t
max_count(const struct eee_calendar_model *m, enum eee_field field)
{
	return (1ull << (field == EEE_EVENT ? m->config.event_bits : m->config.duration_bits)) - 1;
}

static void
report(struct eee_calendar_model *m, struct eee_calendar_entry *e, enum eee_field field)
{
	unsigned next = (m->first_report + m->n_reports) % (EEE_MAX_ENTRIES * EEE_FIELDS);

	m->reports[next] = EEE_REPORT_VALID | (field == EEE_DURATION ? EEE_REPORT_DURATION : 0) |
	    (uint32_t)(e - m->entries);
	m->n_reports++;
	e->reported[field] = true;
	update_line(m);
}

/* *assumed*: a threshold of 0 is off. One beyond the field's width is never reached. */
static bool
can_report(struct eee_calendar_model *m, const struct eee_calendar_entry *e, enum eee_field field)
{
	return !e->reported[field] && threshold(m, field) > 0 &&
	    threshold(m, field) <= max_count(m, field);
}

/* Adds to a count of the SRAM; it wraps if the CPU was too late. */
static void
add(struct eee_calendar_model *m, struct eee_calendar_entry *e, enum eee_field field,
    uint64_t amount)
{
	uint64_t sum = e->count[field] + amount;

	e->count[field] = (uint32_t)(sum & max_count(m, field));
	if (can_report(m, e, field) && sum >= threshold(m, field))
		report(m, e, field);
}

static void
settle_entry(struct eee_calendar_model *m, struct eee_calendar_entry *e)
{
	uint64_t acc = e->acc_ns + e->asleep_visits * e->step_ns;
	uint32_t unit = value(m, ROW_UNIT);

	if (e->new_events > 0)
		add(m, e, EEE_EVENT, e->new_events);
	if (acc >= unit)
		add(m, e, EEE_DURATION, acc / unit);
	e->acc_ns = (uint32_t)(acc % unit);
	e->asleep_visits = 0;
	e->new_events = 0;
}

/* The fewest visits from now until a threshold is reached. */
static uint64_t
visits_to_threshold(struct eee_calendar_model *m, const struct eee_calendar_entry *e)
{
	uint64_t fewest = UINT64_MAX, asleep_ns;

	/* A further event needs a visit that finds it awake and one that finds it asleep. */
	if (can_report(m, e, EEE_EVENT))
		fewest = 2ull * (threshold(m, EEE_EVENT) - e->count[EEE_EVENT]) - 1;
	if (!can_report(m, e, EEE_DURATION) || e->step_ns == 0)
		return fewest;
	asleep_ns = (uint64_t)(threshold(m, EEE_DURATION) - e->count[EEE_DURATION]) *
	    value(m, ROW_UNIT);
	asleep_ns = (asleep_ns - e->acc_ns + e->step_ns - 1) / e->step_ns;
	return asleep_ns < fewest ? asleep_ns : fewest;
}

static uint64_t
next_report_ns(struct eee_calendar_model *m, const struct eee_calendar_entry *e)
{
	uint64_t visits = visits_to_threshold(m, e), done, wait;

	if (visits == UINT64_MAX)
		return UINT64_MAX;
	if (e->period_ns == 0) { /* a bound is enough: settling early costs nothing but time */
		wait = (visits - 1) / e->n_places * round_ns(m);
		return m->now_ns + (wait > 0 ? wait : round_ns(m) / e->n_places);
	}
	done = eee_calendar_model_visits(m, e, m->now_ns);
	return (done + visits) * e->period_ns - e->bias_ns;
}

uint64_t
eee_calendar_model_settle(struct eee_calendar_model *m, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;

	m->now_ns = now_ns;
	for (unsigned i = 0; i < m->n_entries && m->running; i++) {
		struct eee_calendar_entry *e = &m->entries[i];
		uint64_t ns;

		if (!visited(m, e))
			continue;
		if (e->asleep_visits > 0)
			settle_entry(m, e);
		ns = next_report_ns(m, e);
		if (ns < next)
			next = ns;
	}
	return next;
}

/* --- the calendar --- */

/* Slots between the entry at a slot and its next naming, which may be itself a round later. */
static uint32_t
slots_to_next(struct eee_calendar_model *m, uint32_t slot)
{
	uint32_t length = value(m, ROW_LENGTH);
	uint32_t *calendar = m->regs.values[ROW_CALENDAR];
	uint32_t ahead = 1;

	while (ahead < length && calendar[(slot + ahead) % length] != calendar[slot])
		ahead++;
	return ahead;
}

static bool
calendar_is_good(struct eee_calendar_model *m)
{
	uint32_t length = value(m, ROW_LENGTH);
	uint32_t *calendar = m->regs.values[ROW_CALENDAR];

	if (length == 0 || length > EEE_MAX_SLOTS || value(m, ROW_UNIT) == 0)
		return false;
	for (uint32_t slot = 0; slot < length; slot++) {
		if (calendar[slot] == EEE_IDLE)
			continue;
		if (calendar[slot] >= m->n_entries ||
		    slots_to_next(m, slot) <= m->config.latency_slots)
			return false;
	}
	return true;
}

/* Whether an entry's slots are all the same distance apart; first is the first of them. */
static bool
spread_evenly(struct eee_calendar_model *m, const struct eee_calendar_entry *e, uint32_t first)
{
	uint32_t length = value(m, ROW_LENGTH), distance = length / e->n_places;

	if (length % e->n_places != 0)
		return false;
	for (uint32_t slot = first; slot < first + length; slot += distance)
		if (slots_to_next(m, slot % length) != distance)
			return false;
	return true;
}

static void
visit_from(struct eee_calendar_model *m, struct eee_calendar_entry *e, uint32_t first)
{
	e->step_ns = value(m, ROW_STEP) / e->n_places;
	e->period_ns = 0;
	if (spread_evenly(m, e, first)) {
		e->period_ns = round_ns(m) / e->n_places;
		e->bias_ns = e->period_ns - 1 - (uint64_t)first * m->config.slot_ns;
		/* A period of 1 would make it 2^64; one less is still at most one short. */
		e->reciprocal = e->period_ns == 1 ? UINT64_MAX
						  : (uint64_t)(((unsigned __int128)1 << 64) /
							e->period_ns);
	}
	e->visits = eee_calendar_model_visits(m, e, m->now_ns);
}

static void
start(struct eee_calendar_model *m)
{
	uint32_t length = value(m, ROW_LENGTH);
	uint32_t *calendar = m->regs.values[ROW_CALENDAR];

	m->running = true;
	for (uint32_t slot = length; slot-- > 0;)
		if (calendar[slot] != EEE_IDLE)
			m->entries[calendar[slot]].n_places++;
	for (uint32_t slot = length; slot-- > 0;)
		if (calendar[slot] != EEE_IDLE)
			visit_from(m, &m->entries[calendar[slot]], slot);
}

static void
stop(struct eee_calendar_model *m)
{
	for (unsigned i = 0; i < m->n_entries; i++) {
		struct eee_calendar_entry *e = &m->entries[i];

		if (visited(m, e))
			e->last = e->last &&
			    eee_calendar_model_visits(m, e, m->now_ns) == e->visits;
		e->n_places = 0;
		never_visit(e);
	}
	m->running = false;
}

/* --- registers --- */

static void
control_written(void *chip, unsigned index, uint32_t written)
{
	struct eee_calendar_model *m = chip;
	uint32_t *control = regmodel_value(&m->regs, ROW_CONTROL, 0);

	(void)index;
	if (!(written & EEE_CONTROL_RUN) && m->running)
		stop(m);
	*control &= ~EEE_CONTROL_BAD_CALENDAR;
	if (written & EEE_CONTROL_RUN && !m->running) {
		if (calendar_is_good(m))
			start(m);
		else
			*control = (*control & ~EEE_CONTROL_RUN) | EEE_CONTROL_BAD_CALENDAR;
	}
	update_line(m);
}

/* *assumed*: a unit whose calendar or times change under it stops. */
static void
layout_written(void *chip, unsigned index, uint32_t written)
{
	struct eee_calendar_model *m = chip;

	(void)index;
	(void)written;
	if (!m->running)
		return;
	stop(m);
	*regmodel_value(&m->regs, ROW_CONTROL, 0) &= ~(uint32_t)EEE_CONTROL_RUN;
}

static void
threshold_written(void *chip, unsigned index, uint32_t written)
{
	struct eee_calendar_model *m = chip;

	(void)written;
	for (unsigned i = 0; i < m->n_entries; i++)
		add(m, &m->entries[i], index, 0);
}

static uint32_t
read_slot_ns(void *chip, unsigned index, uint32_t stored)
{
	(void)index;
	(void)stored;
	return ((struct eee_calendar_model *)chip)->config.slot_ns;
}

static uint32_t
read_geometry(void *chip, unsigned index, uint32_t stored)
{
	const struct eee_calendar_model_config *c = &((struct eee_calendar_model *)chip)->config;

	(void)index;
	(void)stored;
	return c->n_ports << EEE_GEOMETRY_PORTS_SHIFT | c->event_bits << EEE_GEOMETRY_EVENT_SHIFT |
	    c->duration_bits << EEE_GEOMETRY_DURATION_SHIFT |
	    (uint32_t)c->latency_slots << EEE_GEOMETRY_LATENCY_SHIFT;
}

static uint32_t
read_report(void *chip, unsigned index, uint32_t stored)
{
	struct eee_calendar_model *m = chip;
	uint32_t address;

	(void)index;
	(void)stored;
	if (m->n_reports == 0)
		return 0;
	address = m->reports[m->first_report];
	m->first_report = (m->first_report + 1) % (EEE_MAX_ENTRIES * EEE_FIELDS);
	m->n_reports--;
	update_line(m);
	return address;
}

static uint32_t
read_event_count(void *chip, unsigned index, uint32_t stored)
{
	(void)stored;
	return ((struct eee_calendar_model *)chip)->entries[index].count[EEE_EVENT];
}

static uint32_t
read_duration_count(void *chip, unsigned index, uint32_t stored)
{
	(void)stored;
	return ((struct eee_calendar_model *)chip)->entries[index].count[EEE_DURATION];
}

/* *assumed*: a count that is still at its threshold is reported anew, or nobody would come back. */
static void
subtract(struct eee_calendar_model *m, unsigned index, enum eee_field field, uint32_t amount)
{
	struct eee_calendar_entry *e = &m->entries[index];

	e->count[field] = (uint32_t)((e->count[field] - amount) & max_count(m, field));
	e->reported[field] = false;
	add(m, e, field, 0);
}

static void
event_count_written(void *chip, unsigned index, uint32_t written)
{
	subtract(chip, index, EEE_EVENT, written);
}

static void
duration_count_written(void *chip, unsigned index, uint32_t written)
{
	subtract(chip, index, EEE_DURATION, written);
}

static uint32_t
read_state(void *chip, unsigned index, uint32_t stored)
{
	struct eee_calendar_model *m = chip;
	struct eee_calendar_entry *e = &m->entries[index];
	bool asleep = e->last && eee_calendar_model_visits(m, e, m->now_ns) == e->visits;

	(void)stored;
	return (asleep ? EEE_STATE_LAST : 0) | (e->acc_ns & EEE_STATE_ACC_MASK);
}

static const struct regmodel_row rows[] = {
    [ROW_CONTROL] = {.name = "Control", .offset = EEE_CONTROL,
	.writable = EEE_CONTROL_RUN | EEE_CONTROL_INTERRUPT,
	.reserved = ~(uint32_t)(EEE_CONTROL_RUN | EEE_CONTROL_INTERRUPT),
	.written = control_written},
    [ROW_LENGTH] = {.name = "Calendar Length", .offset = EEE_LENGTH, .writable = 0xffff,
	.written = layout_written},
    [ROW_UNIT] = {.name = "Duration Unit", .offset = EEE_UNIT, .reset = EEE_DEFAULT_UNIT_NS,
	.writable = EEE_STATE_ACC_MASK, .written = layout_written},
    [ROW_STEP] = {.name = "Interval Step", .offset = EEE_STEP, .writable = UINT32_MAX,
	.written = layout_written},
    [ROW_THRESHOLD] = {.name = "Threshold", .offset = EEE_THRESHOLD_EVENT, .count = EEE_FIELDS,
	.stride = 4, .reset = EEE_DEFAULT_THRESHOLD, .writable = UINT32_MAX,
	.written = threshold_written},
    [ROW_SLOT_NS] = {.name = "Slot Time", .offset = EEE_SLOT_NS, .reserved = UINT32_MAX,
	.read = read_slot_ns},
    [ROW_GEOMETRY] = {.name = "Geometry", .offset = EEE_GEOMETRY, .reserved = UINT32_MAX,
	.read = read_geometry},
    [ROW_REPORT] = {.name = "Report Buffer", .offset = EEE_REPORT, .reserved = UINT32_MAX,
	.read = read_report},
    [ROW_EVENT_COUNT] = {.name = "LPI Event Count", .offset = EEE_EVENT_COUNT,
	.count = EEE_MAX_ENTRIES, .stride = 4, .read = read_event_count,
	.written = event_count_written},
    [ROW_DURATION_COUNT] = {.name = "LPI Duration Count", .offset = EEE_DURATION_COUNT,
	.count = EEE_MAX_ENTRIES, .stride = 4, .read = read_duration_count,
	.written = duration_count_written},
    [ROW_STATE] = {.name = "Entry State", .offset = EEE_STATE, .count = EEE_MAX_ENTRIES,
	.stride = 4, .reserved = UINT32_MAX, .read = read_state},
    [ROW_CALENDAR] = {.name = "Calendar", .offset = EEE_CALENDAR, .count = EEE_MAX_SLOTS,
	.stride = 4, .reset = EEE_IDLE, .writable = 0xffff, .written = layout_written},
};

static void
before_access(void *chip, uint32_t offset)
{
	struct eee_calendar_model *m = chip;

	(void)offset;
	if (m->config.sync)
		m->config.sync(m->config.ctx);
}

/* --- life --- */

void
eee_calendar_model_reset(struct eee_calendar_model *m)
{
	regmodel_reset(&m->regs);
	memset(m->entries, 0, sizeof(m->entries));
	m->first_report = m->n_reports = 0;
	stop(m);
	update_line(m);
}

static void
use_defaults(struct eee_calendar_model_config *c)
{
	c->slot_ns = c->slot_ns ? c->slot_ns : EEE_DEFAULT_SLOT_NS;
	c->latency_slots = c->latency_slots ? c->latency_slots : EEE_DEFAULT_LATENCY_SLOTS;
	c->event_bits = c->event_bits ? c->event_bits : EEE_DEFAULT_BITS;
	c->duration_bits = c->duration_bits ? c->duration_bits : EEE_DEFAULT_BITS;
}

static bool
config_is_good(const struct eee_calendar_model_config *c)
{
	return c->n_ports >= 1 && c->n_ports <= EEE_MAX_PORTS && c->latency_slots <= 255 &&
	    c->event_bits >= 2 && c->event_bits <= 32 && c->duration_bits >= 2 &&
	    c->duration_bits <= 32;
}

int
eee_calendar_model_create(const struct eee_calendar_model_config *config,
    struct eee_calendar_model **model)
{
	struct eee_calendar_model *m = calloc(1, sizeof(*m));
	int rc = -EINVAL;

	if (!m)
		return -ENOMEM;
	m->config = *config;
	use_defaults(&m->config);
	m->n_entries = m->config.n_ports * EEE_DIRECTIONS;
	if (config_is_good(&m->config))
		rc = regmodel_init(&m->regs, rows, sizeof(rows) / sizeof(rows[0]), m);
	m->regs.access = before_access;
	if (rc == 0)
		rc = bus_model_attach(m->config.bus, m->config.base, EEE_WINDOW, &m->regs);
	if (rc < 0) {
		eee_calendar_model_destroy(m);
		return rc;
	}
	eee_calendar_model_reset(m);
	*model = m;
	return 0;
}

void
eee_calendar_model_destroy(struct eee_calendar_model *model)
{
	if (!model)
		return;
	regmodel_free(&model->regs);
	free(model);
}
