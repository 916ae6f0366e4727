#include "agent/sim/chip/eee_calendar_model.h"

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
row_value(struct eee_calendar_model *m, enum row row)
{
	return *regmodel_value(&m->regs, row, 0);
}

/* --- visits --- */

static struct eee_calendar_lanes *
lanes_of(struct eee_calendar_model *m, unsigned entry)
{
	return &m->lanes[entry % EEE_DIRECTIONS];
}

static bool
is_visited(const struct eee_calendar_model *m, unsigned entry)
{
	return m->running && m->entries[entry].n_places > 0;
}

static uint64_t
round_ns(const struct eee_calendar_model *m)
{
	return (uint64_t)m->config.slot_ns * m->regs.values[ROW_LENGTH][0];
}

/* The number of visits before ns, for an entry with any slots. */
static uint64_t
uneven_visits(const struct eee_calendar_model *m, unsigned entry, uint64_t ns)
{
	uint64_t round = round_ns(m), visits = 0;
	uint32_t length = m->regs.values[ROW_LENGTH][0];

	for (uint32_t slot = 0; slot < length; slot++)
		if (m->regs.values[ROW_CALENDAR][slot] == entry)
			visits += (ns + round - 1 - (uint64_t)slot * m->config.slot_ns) / round;
	return visits;
}

/* The number of visits before ns. */
static uint64_t
visits_before(struct eee_calendar_model *m, unsigned entry, uint64_t ns)
{
	uint64_t period = m->entries[entry].period_ns;
	uint32_t offset = lanes_of(m, entry)->offset_ns[entry / EEE_DIRECTIONS];

	if (period == 0)
		return uneven_visits(m, entry, ns);
	return ns / period + (ns % period > offset);
}

void
eee_calendar_model_sleep_uneven(struct eee_calendar_model *m, unsigned entry, uint64_t from_ns, uint64_t to_ns)
{
	struct eee_calendar_lanes *l = lanes_of(m, entry);
	unsigned port = entry / EEE_DIRECTIONS;
	uint32_t before, after, told = l->visits[port];

	if (!is_visited(m, entry))
		return;
	before = (uint32_t)visits_before(m, entry, from_ns);
	after = (uint32_t)visits_before(m, entry, to_ns);
	if ((int32_t)(told - before) > 0)
		before = told;
	if ((int32_t)(after - before) <= 0)
		return;
	l->new_events[port] += before != told;
	l->asleep_visits[port] += after - before;
	l->visits[port] = after;
}

static bool
is_asleep(struct eee_calendar_model *m, unsigned entry)
{
	if (!is_visited(m, entry))
		return m->entries[entry].last;
	return (uint32_t)visits_before(m, entry, m->now_ns) ==
	    lanes_of(m, entry)->visits[entry / EEE_DIRECTIONS];
}

/* --- settlement --- */

static void
eee_model_update_line(struct eee_calendar_model *m)
{
	bool enabled = row_value(m, ROW_CONTROL) & EEE_CONTROL_INTERRUPT;

	bus_model_set_line(m->config.bus, m->config.line, enabled && m->n_reports > 0);
}

static uint32_t
field_threshold(struct eee_calendar_model *m, enum eee_field field)
{
	return *regmodel_value(&m->regs, ROW_THRESHOLD, field);
}

static uint64_t
max_count(const struct eee_calendar_model *m, enum eee_field field)
{
	return (1ull << (field == EEE_EVENT ? m->config.event_bits : m->config.duration_bits)) - 1;
}

static void
report_entry(struct eee_calendar_model *m, struct eee_calendar_entry *e, enum eee_field field)
{
	unsigned next = (m->first_report + m->n_reports) % (EEE_MAX_ENTRIES * EEE_FIELDS);

	m->reports[next] = EEE_REPORT_VALID | (field == EEE_DURATION ? EEE_REPORT_DURATION : 0) |
	    (uint32_t)(e - m->entries);
	m->n_reports++;
	e->reported[field] = true;
	eee_model_update_line(m);
}

/* *assumed*: a threshold of 0 is off. One beyond the field's width is never reached. */
static bool
can_report(struct eee_calendar_model *m, const struct eee_calendar_entry *e, enum eee_field field)
{
	return !e->reported[field] && field_threshold(m, field) > 0 &&
	    field_threshold(m, field) <= max_count(m, field);
}

/* Adds to a count of the SRAM; it wraps if the CPU was too late. */
static void
add_amount(struct eee_calendar_model *m, struct eee_calendar_entry *e, enum eee_field field, uint64_t amount)
{
	uint64_t sum = e->count[field] + amount;

	e->count[field] = (uint32_t)(sum & max_count(m, field));
	if (can_report(m, e, field) && sum >= field_threshold(m, field))
		report_entry(m, e, field);
}

static void
settle_entry(struct eee_calendar_model *m, unsigned entry)
{
	struct eee_calendar_lanes *l = lanes_of(m, entry);
	struct eee_calendar_entry *e = &m->entries[entry];
	unsigned port = entry / EEE_DIRECTIONS;
	uint32_t unit = row_value(m, ROW_UNIT);
	uint64_t acc;

	if (m->config.report_sleep)
		m->config.report_sleep(m->config.ctx, entry);
	e->settled_ns = m->now_ns;
	acc = e->acc_ns + (uint64_t)l->asleep_visits[port] * e->step_ns;
	if (l->new_events[port] > 0)
		add_amount(m, e, EEE_EVENT, l->new_events[port]);
	if (acc >= unit)
		add_amount(m, e, EEE_DURATION, acc / unit);
	e->acc_ns = (uint32_t)(acc % unit);
	l->asleep_visits[port] = l->new_events[port] = 0;
	if (!is_asleep(m, entry)) /* advanced, because its 32 bits wrap */
		l->visits[port] = (uint32_t)visits_before(m, entry, m->now_ns) - 1;
}

static inline uint64_t
smaller_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* So many visits surely fit into the lanes' 32 bits. */
enum { MAX_UNSETTLED_VISITS = 1 << 30 };

/* The fewest visits until the events reach their threshold. The next visit can count one event; each further
 * event needs a visit that finds the entry awake, one that finds it asleep, and the time of a cycle. */
static uint64_t
visits_to_event(struct eee_calendar_model *m, const struct eee_calendar_entry *e)
{
	uint64_t further = field_threshold(m, EEE_EVENT) - e->count[EEE_EVENT] - 1, each = 2;

	if (e->period_ns > 0 && m->config.min_cycle_ns / e->period_ns > each)
		each = m->config.min_cycle_ns / e->period_ns;
	return 1 + further * each;
}

/* The fewest visits from now until a threshold is reached. */
static uint64_t
visits_to_threshold(struct eee_calendar_model *m, const struct eee_calendar_entry *e)
{
	uint64_t fewest = MAX_UNSETTLED_VISITS, asleep_ns;

	if (can_report(m, e, EEE_EVENT))
		fewest = smaller_of(fewest, visits_to_event(m, e));
	if (!can_report(m, e, EEE_DURATION) || e->step_ns == 0)
		return fewest;
	asleep_ns = (uint64_t)(field_threshold(m, EEE_DURATION) - e->count[EEE_DURATION]) *
	    row_value(m, ROW_UNIT);
	asleep_ns = (asleep_ns - e->acc_ns + e->step_ns - 1) / e->step_ns;
	return smaller_of(fewest, asleep_ns);
}

/* The time of that visit. For an entry with uneven visits it is a lower bound: settling too early does no
 * harm. */
static uint64_t
next_report_ns(struct eee_calendar_model *m, unsigned entry)
{
	const struct eee_calendar_entry *e = &m->entries[entry];
	uint32_t offset = lanes_of(m, entry)->offset_ns[entry / EEE_DIRECTIONS];
	uint64_t visits = visits_to_threshold(m, e), wait;

	if (e->period_ns == 0) {
		wait = (visits - 1) / e->n_places * round_ns(m);
		return m->now_ns + (wait > 0 ? wait : round_ns(m) / e->n_places);
	}
	visits += visits_before(m, entry, m->now_ns);
	return (visits - 1) * e->period_ns + offset + 1;
}

uint64_t
eee_calendar_model_settle(struct eee_calendar_model *m, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX, told = now_ns;

	m->now_ns = now_ns;
	if (now_ns < m->due_ns)
		return m->due_ns;
	for (unsigned i = 0; i < m->n_entries && m->running; i++) {
		struct eee_calendar_entry *e = &m->entries[i];

		if (e->due_ns <= now_ns) {
			settle_entry(m, i);
			e->due_ns = next_report_ns(m, i);
		}
		next = smaller_of(next, e->due_ns);
		told = smaller_of(told, e->settled_ns);
	}
	m->reported_ns = told;
	m->due_ns = next;
	return next;
}

/* Counts everything; the time of the next threshold must then be computed again. */
static void
settle_all(struct eee_calendar_model *m)
{
	for (unsigned i = 0; i < m->n_entries; i++) {
		if (!is_visited(m, i))
			continue;
		settle_entry(m, i);
		m->entries[i].due_ns = 0;
	}
	m->due_ns = 0;
}

/* --- the calendar --- */

/* The slots from one slot to the next one with the same entry, which may be the same slot a round later. */
static uint32_t
slots_to_next(struct eee_calendar_model *m, uint32_t slot)
{
	uint32_t length = row_value(m, ROW_LENGTH);
	uint32_t *calendar = m->regs.values[ROW_CALENDAR];
	uint32_t ahead = 1;

	while (ahead < length && calendar[(slot + ahead) % length] != calendar[slot])
		ahead++;
	return ahead;
}

static bool
calendar_is_good(struct eee_calendar_model *m)
{
	uint32_t length = row_value(m, ROW_LENGTH);
	uint32_t *calendar = m->regs.values[ROW_CALENDAR];

	if (length == 0 || length > EEE_MAX_SLOTS || row_value(m, ROW_UNIT) == 0)
		return false;
	for (uint32_t slot = 0; slot < length; slot++) {
		if (calendar[slot] == EEE_IDLE)
			continue;
		if (calendar[slot] >= m->n_entries || slots_to_next(m, slot) <= m->config.latency_slots)
			return false;
	}
	return true;
}

/* Whether an entry's slots are equally spaced; first is the first of them. */
static bool
spread_evenly(struct eee_calendar_model *m, const struct eee_calendar_entry *e, uint32_t first)
{
	uint32_t length = row_value(m, ROW_LENGTH), distance = length / e->n_places;

	if (length % e->n_places != 0)
		return false;
	for (uint32_t slot = first; slot < first + length; slot += distance)
		if (slots_to_next(m, slot % length) != distance)
			return false;
	return true;
}

static void
visit_from(struct eee_calendar_model *m, unsigned entry, uint32_t first)
{
	struct eee_calendar_lanes *l = lanes_of(m, entry);
	struct eee_calendar_entry *e = &m->entries[entry];
	unsigned port = entry / EEE_DIRECTIONS;

	e->step_ns = row_value(m, ROW_STEP) / e->n_places;
	e->period_ns = spread_evenly(m, e, first) ? round_ns(m) / e->n_places : 0;
	e->settled_ns = m->now_ns;
	e->due_ns = 0;
	l->offset_ns[port] = first * m->config.slot_ns;
	l->visited[port] = UINT32_MAX;
	l->rest_ns[port] = (uint32_t)(m->round_ns - 1) - l->offset_ns[port];
	/* If it was not asleep at the last visit, count as if there had been another visit since. */
	l->visits[port] = (uint32_t)visits_before(m, entry, m->now_ns) - !e->last;
}

/* The lanes require one visit of each entry in a round, and a round below 2^31 ns.
 *
 * Invariant: x / round == (x * reciprocal) >> (64 + shift) for x < 2^63, where reciprocal is
 * 2^(64 + shift) / round rounded up, and shift the largest number with 2^shift < round (T. Granlund,
 * P. Montgomery: Division by Invariant Integers using Multiplication, 1994, theorem 4.2). */
static void
find_round(struct eee_calendar_model *m)
{
	uint64_t round = round_ns(m);
	bool even = round > 1 && round <= INT32_MAX;

	for (unsigned i = 0; i < m->n_entries; i++)
		even = even && m->entries[i].n_places <= 1;
	m->round_ns = even ? round : 0;
	if (!even)
		return;
	m->reciprocal_shift = 63 - (unsigned)__builtin_clzll(round - 1);
	m->reciprocal = (uint64_t)((((unsigned __int128)1 << (64 + m->reciprocal_shift)) + round - 1) / round);
}

static void
start_rounds(struct eee_calendar_model *m)
{
	uint32_t length = row_value(m, ROW_LENGTH);
	uint32_t *calendar = m->regs.values[ROW_CALENDAR];

	m->running = true;
	for (uint32_t slot = length; slot-- > 0;)
		if (calendar[slot] != EEE_IDLE)
			m->entries[calendar[slot]].n_places++;
	find_round(m);
	for (uint32_t slot = length; slot-- > 0;)
		if (calendar[slot] != EEE_IDLE)
			visit_from(m, calendar[slot], slot);
	m->reported_ns = m->now_ns;
	m->due_ns = 0;
}

static void
stop_rounds(struct eee_calendar_model *m)
{
	settle_all(m);
	for (unsigned i = 0; i < m->n_entries; i++) {
		struct eee_calendar_entry *e = &m->entries[i];

		e->last = is_asleep(m, i);
		e->n_places = 0;
		e->settled_ns = e->due_ns = UINT64_MAX;
		lanes_of(m, i)->visited[i / EEE_DIRECTIONS] = 0;
	}
	m->running = false;
}

/* --- registers --- */

static void
eee_model_control_written(void *chip, unsigned index, uint32_t written)
{
	struct eee_calendar_model *m = chip;
	uint32_t *control = regmodel_value(&m->regs, ROW_CONTROL, 0);

	(void)index;
	if (!(written & EEE_CONTROL_RUN) && m->running)
		stop_rounds(m);
	*control &= ~EEE_CONTROL_BAD_CALENDAR;
	if (written & EEE_CONTROL_RUN && !m->running) {
		if (calendar_is_good(m))
			start_rounds(m);
		else
			*control = (*control & ~EEE_CONTROL_RUN) | EEE_CONTROL_BAD_CALENDAR;
	}
	eee_model_update_line(m);
}

/* *assumed*: a unit stops when its calendar or times are changed. */
static void
layout_written(void *chip, unsigned index, uint32_t written)
{
	struct eee_calendar_model *m = chip;

	(void)index;
	(void)written;
	if (!m->running)
		return;
	stop_rounds(m);
	*regmodel_value(&m->regs, ROW_CONTROL, 0) &= ~(uint32_t)EEE_CONTROL_RUN;
}

static void
eee_model_threshold_written(void *chip, unsigned index, uint32_t written)
{
	struct eee_calendar_model *m = chip;

	(void)written;
	settle_all(m);
	for (unsigned i = 0; i < m->n_entries; i++)
		add_amount(m, &m->entries[i], index, 0);
}

static uint32_t
read_slot_ns(void *chip, unsigned index, uint32_t stored)
{
	(void)index;
	(void)stored;
	return ((struct eee_calendar_model *)chip)->config.slot_ns;
}

static uint32_t
eee_model_read_geometry(void *chip, unsigned index, uint32_t stored)
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
	eee_model_update_line(m);
	return address;
}

static uint32_t
read_count(struct eee_calendar_model *m, unsigned entry, enum eee_field field)
{
	if (is_visited(m, entry))
		settle_entry(m, entry);
	return m->entries[entry].count[field];
}

static uint32_t
read_event_count(void *chip, unsigned index, uint32_t stored)
{
	(void)stored;
	return read_count(chip, index, EEE_EVENT);
}

static uint32_t
read_duration_count(void *chip, unsigned index, uint32_t stored)
{
	(void)stored;
	return read_count(chip, index, EEE_DURATION);
}

/* *assumed*: a count that is still at its threshold is reported again, or the CPU would never read it. */
static void
subtract_amount(struct eee_calendar_model *m, unsigned index, enum eee_field field, uint32_t amount)
{
	struct eee_calendar_entry *e = &m->entries[index];

	if (is_visited(m, index)) {
		settle_entry(m, index);
		e->due_ns = m->due_ns = 0;
	}
	e->count[field] = (uint32_t)((e->count[field] - amount) & max_count(m, field));
	e->reported[field] = false;
	add_amount(m, e, field, 0);
}

static void
event_count_written(void *chip, unsigned index, uint32_t written)
{
	subtract_amount(chip, index, EEE_EVENT, written);
}

static void
duration_count_written(void *chip, unsigned index, uint32_t written)
{
	subtract_amount(chip, index, EEE_DURATION, written);
}

static uint32_t
read_state(void *chip, unsigned index, uint32_t stored)
{
	struct eee_calendar_model *m = chip;
	struct eee_calendar_entry *e = &m->entries[index];

	(void)stored;
	if (is_visited(m, index))
		settle_entry(m, index);
	return (is_asleep(m, index) ? EEE_STATE_LAST : 0) | (e->acc_ns & EEE_STATE_ACC_MASK);
}

static const struct regmodel_row rows[] = {
    [ROW_CONTROL] = {.name = "Control", .offset = EEE_CONTROL,
	.writable = EEE_CONTROL_RUN | EEE_CONTROL_INTERRUPT,
	.reserved = ~(uint32_t)(EEE_CONTROL_RUN | EEE_CONTROL_INTERRUPT),
	.written = eee_model_control_written},
    [ROW_LENGTH] = {.name = "Calendar Length", .offset = EEE_LENGTH, .writable = 0xffff,
	.written = layout_written},
    [ROW_UNIT] = {.name = "Duration Unit", .offset = EEE_UNIT, .reset = EEE_DEFAULT_UNIT_NS,
	.writable = EEE_STATE_ACC_MASK, .written = layout_written},
    [ROW_STEP] = {.name = "Interval Step", .offset = EEE_STEP, .writable = UINT32_MAX,
	.written = layout_written},
    [ROW_THRESHOLD] = {.name = "Threshold", .offset = EEE_THRESHOLD_EVENT, .count = EEE_FIELDS,
	.stride = 4, .reset = EEE_DEFAULT_THRESHOLD, .writable = UINT32_MAX,
	.written = eee_model_threshold_written},
    [ROW_SLOT_NS] = {.name = "Slot Time", .offset = EEE_SLOT_NS, .reserved = UINT32_MAX,
	.read = read_slot_ns},
    [ROW_GEOMETRY] = {.name = "Geometry", .offset = EEE_GEOMETRY, .reserved = UINT32_MAX,
	.read = eee_model_read_geometry},
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
eee_model_before_access(void *chip, uint32_t offset)
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
	memset(m->lanes, 0, sizeof(m->lanes));
	memset(m->entries, 0, sizeof(m->entries));
	for (unsigned i = 0; i < m->n_entries; i++)
		m->entries[i].settled_ns = m->entries[i].due_ns = UINT64_MAX;
	m->first_report = m->n_reports = 0;
	m->due_ns = 0;
	m->running = false;
	eee_model_update_line(m);
}

static bool
eee_model_config_is_good(const struct eee_calendar_model_config *c)
{
	return c->n_ports >= 1 && c->n_ports <= EEE_MAX_PORTS && c->latency_slots <= 255 &&
	    c->event_bits >= 2 && c->event_bits <= 32 && c->duration_bits >= 2 &&
	    c->duration_bits <= 32;
}

int
eee_calendar_model_create(const struct eee_calendar_model_config *config, struct eee_calendar_model **model)
{
	struct eee_calendar_model *m = calloc(1, sizeof(*m));
	int rc = -EINVAL;

	if (!m)
		return -ENOMEM;
	m->config = *config;
	m->config.slot_ns = m->config.slot_ns ? m->config.slot_ns : EEE_DEFAULT_SLOT_NS;
	m->config.latency_slots = m->config.latency_slots ? m->config.latency_slots : EEE_DEFAULT_LATENCY_SLOTS;
	m->config.event_bits = m->config.event_bits ? m->config.event_bits : EEE_DEFAULT_BITS;
	m->config.duration_bits = m->config.duration_bits ? m->config.duration_bits : EEE_DEFAULT_BITS;
	m->n_entries = m->config.n_ports * EEE_DIRECTIONS;
	if (eee_model_config_is_good(&m->config))
		rc = regmodel_init(&m->regs, rows, sizeof(rows) / sizeof(rows[0]), m);
	m->regs.access = eee_model_before_access;
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
