/*
 * The EEE statistics unit: the model, told intervals, against a unit that is ticked slot by slot;
 * the trace, accuracy, calendars and headroom of the notes on it.
 */
#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/eee_calendar_model.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x200000, LINE = 3, IDLE = EEE_IDLE };

static struct bus_model *bus;
static struct bus cpu;
static struct eee_calendar_model *chip;

static void
set_up(void)
{
	ck_assert_int_eq(bus_model_create(&bus), 0);
	cpu = bus_model_cpu(bus);
	chip = NULL;
}

static void
tear_down(void)
{
	eee_calendar_model_destroy(chip);
	bus_model_destroy(bus);
}

static void
poke(uint32_t address, uint32_t value)
{
	ck_assert_int_eq(bus_write(&cpu, BASE + address, value), 0);
}

static uint32_t
peek(uint32_t address)
{
	uint32_t value;

	ck_assert_int_eq(bus_read(&cpu, BASE + address, &value), 0);
	return value;
}

struct unit {
	unsigned n_ports, slot_ns, latency_slots, bits;
	uint32_t unit_ns, step_ns; /* 0: a round */
	unsigned length;
	const uint16_t *calendar;
};

/* True if it runs. */
static bool
start(const struct unit *u)
{
	struct eee_calendar_model_config config = {.bus = bus, .base = BASE, .line = LINE,
	    .n_ports = u->n_ports, .slot_ns = u->slot_ns, .latency_slots = u->latency_slots,
	    .event_bits = u->bits, .duration_bits = u->bits};

	ck_assert_int_eq(eee_calendar_model_create(&config, &chip), 0);
	for (unsigned i = 0; i < u->length; i++)
		poke(EEE_CALENDAR + 4 * i, u->calendar[i]);
	poke(EEE_LENGTH, u->length);
	poke(EEE_UNIT, u->unit_ns);
	poke(EEE_STEP, u->step_ns ? u->step_ns : u->length * u->slot_ns);
	poke(EEE_CONTROL, EEE_CONTROL_RUN | EEE_CONTROL_INTERRUPT);
	return peek(EEE_CONTROL) & EEE_CONTROL_RUN;
}

/* --- the slow, obvious unit of section 4 --- */

struct ticked_entry {
	uint32_t event, dur;
	uint64_t acc;
	bool last;
	bool pushed[EEE_FIELDS];
};

struct ticked {
	const struct unit *unit;
	uint32_t threshold[EEE_FIELDS];
	struct ticked_entry entries[EEE_MAX_ENTRIES];
	uint64_t slot; /* the next */
	unsigned n_reports;
	uint32_t reports[64];
};

static void
push(struct ticked *t, unsigned entry, enum eee_field field)
{
	t->entries[entry].pushed[field] = true;
	if (t->n_reports < 64)
		t->reports[t->n_reports] =
		    EEE_REPORT_VALID | (field == EEE_DURATION ? EEE_REPORT_DURATION : 0) | entry;
	t->n_reports++;
}

static void
visit(struct ticked *t, unsigned entry, bool cur)
{
	struct ticked_entry *e = &t->entries[entry];
	uint32_t mask = (uint32_t)((1ull << t->unit->bits) - 1);
	unsigned places = 0;

	for (unsigned i = 0; i < t->unit->length; i++)
		places += t->unit->calendar[i] == entry;
	if (cur && !e->last) {
		e->event = (e->event + 1) & mask;
		if (e->event == t->threshold[EEE_EVENT] && !e->pushed[EEE_EVENT])
			push(t, entry, EEE_EVENT);
	}
	if (cur) {
		e->acc += (t->unit->step_ns ? t->unit->step_ns
					    : t->unit->length * t->unit->slot_ns) / places;
		while (e->acc >= t->unit->unit_ns) {
			e->dur = (e->dur + 1) & mask;
			e->acc -= t->unit->unit_ns;
			if (e->dur == t->threshold[EEE_DURATION] && !e->pushed[EEE_DURATION])
				push(t, entry, EEE_DURATION);
		}
	}
	e->last = cur;
}

/* A direction's life: asleep in [from, to) and awake between. */
struct trace {
	uint64_t from[4096], to[4096];
	unsigned n;
};

static bool
asleep_at(const struct trace *trace, uint64_t ns)
{
	for (unsigned i = 0; i < trace->n; i++)
		if (ns >= trace->from[i] && ns < trace->to[i])
			return true;
	return false;
}

/* Visits at times before ns. */
static void
tick_until(struct ticked *t, const struct trace *traces, uint64_t ns)
{
	for (; t->slot * t->unit->slot_ns < ns; t->slot++) {
		unsigned entry = t->unit->calendar[t->slot % t->unit->length];

		if (entry != IDLE)
			visit(t, entry, asleep_at(&traces[entry], t->slot * t->unit->slot_ns));
	}
}

/* Passes to the model the events of the traces in [from, to), as a board would. */
static void
tell(const struct trace *traces, unsigned n_entries, uint64_t from, uint64_t to)
{
	for (unsigned entry = 0; entry < n_entries; entry++)
		for (unsigned i = 0; i < traces[entry].n; i++) {
			uint64_t a = traces[entry].from[i], b = traces[entry].to[i];

			a = a < from ? from : a;
			b = b > to ? to : b;
			if (a < b)
				eee_calendar_model_sleep(chip, entry, a, b);
		}
}

static void
assert_same(const struct ticked *t, unsigned n_entries)
{
	for (unsigned i = 0; i < n_entries; i++) {
		uint32_t state = peek(EEE_STATE + 4 * i);

		ck_assert_uint_eq(peek(EEE_EVENT_COUNT + 4 * i), t->entries[i].event);
		ck_assert_uint_eq(peek(EEE_DURATION_COUNT + 4 * i), t->entries[i].dur);
		ck_assert_uint_eq(state & EEE_STATE_ACC_MASK, t->entries[i].acc);
		ck_assert_int_eq(!!(state & EEE_STATE_LAST), t->entries[i].last);
	}
}

static uint64_t
draw(uint64_t *state, uint64_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % below;
}

/* Sleeps and gaps of 1 to 60 ns: shorter and longer than a visit period. */
static void
make_trace(struct trace *trace, uint64_t *state, uint64_t end)
{
	uint64_t ns = draw(state, 50);

	trace->n = 0;
	while (ns < end && trace->n < 4096) {
		trace->from[trace->n] = ns;
		trace->to[trace->n] = ns + 1 + draw(state, 60);
		ns = trace->to[trace->n++] + draw(state, 60);
	}
}

/* Even and uneven, listed once and often, idle slots, an entry left out. */
static const uint16_t cal_equal[] = {0, 1, 2, 3, 4, 5};
static const uint16_t cal_weighted[] = {0, 1, 0, 2, 0, 1, 0, 3};
static const uint16_t cal_padded[] = {4, IDLE, 3, 2, IDLE, IDLE, 1};
static const uint16_t cal_uneven[] = {0, 1, 0, 2, 3, 4, 0, 5, IDLE, 1};
static const uint16_t cal_one[] = {5, IDLE};
static const struct unit units[] = {
    {.n_ports = 3, .slot_ns = 2, .bits = 6, .unit_ns = 10, .length = 6, .calendar = cal_equal},
    {.n_ports = 3, .slot_ns = 1, .bits = 4, .unit_ns = 10, .length = 8, .calendar = cal_weighted},
    {.n_ports = 3, .slot_ns = 3, .bits = 8, .unit_ns = 21, .length = 7, .calendar = cal_padded},
    {.n_ports = 3, .slot_ns = 2, .bits = 5, .unit_ns = 13, .length = 10, .calendar = cal_uneven},
    {.n_ports = 3, .slot_ns = 1, .bits = 7, .unit_ns = 3, .length = 2, .calendar = cal_one},
    {.n_ports = 3, .slot_ns = 2, .bits = 8, .unit_ns = 7, .step_ns = 30, .length = 6,
	.calendar = cal_equal}, /* a step beyond the unit */
};
enum { N_UNITS = sizeof(units) / sizeof(units[0]), RUNS = 40, END_NS = 6000 };

/* Told in pieces, settled at random times in between, always in time for the thresholds. */
START_TEST(intervals_give_what_ticks_give)
{
	const struct unit *unit = &units[_i % N_UNITS];
	unsigned n_entries = unit->n_ports * EEE_DIRECTIONS;
	struct trace *traces = calloc(n_entries, sizeof(*traces));
	struct ticked t = {.unit = unit};
	uint64_t state = 0x9e3779b97f4a7c15ull * (uint64_t)(_i + 1), at = 0, due = 0;

	ck_assert(start(unit));
	t.threshold[EEE_EVENT] = 1u << (unit->bits - 1);
	t.threshold[EEE_DURATION] = (1u << (unit->bits - 1)) + 3;
	poke(EEE_THRESHOLD_EVENT, t.threshold[EEE_EVENT]);
	poke(EEE_THRESHOLD_DURATION, t.threshold[EEE_DURATION]);
	for (unsigned i = 0; i < n_entries; i++)
		make_trace(&traces[i], &state, END_NS);
	while (at < END_NS) {
		uint64_t to = at + 1 + draw(&state, 300);

		to = to > due && due > at ? due : to;
		tell(traces, n_entries, at, to);
		due = eee_calendar_model_settle(chip, to);
		ck_assert_uint_gt(due, to);
		tick_until(&t, traces, to);
		assert_same(&t, n_entries);
		at = to;
	}
	ck_assert_uint_eq(chip->n_reports, t.n_reports);
	free(traces);
}
END_TEST

/* Whatever the CPU does not do in time: the interrupt comes with the visit that reaches the
 * threshold, not earlier and not later, if the board settles when it was told to. */
START_TEST(reports_come_with_the_visit)
{
	const struct unit *unit = &units[_i % 3];
	unsigned n_entries = unit->n_ports * EEE_DIRECTIONS;
	struct trace *traces = calloc(n_entries, sizeof(*traces));
	struct ticked t = {.unit = unit, .threshold = {5, 4}};
	uint64_t state = 77 + (uint64_t)_i, at = 0;

	ck_assert(start(unit));
	poke(EEE_THRESHOLD_EVENT, 5);
	poke(EEE_THRESHOLD_DURATION, 4);
	for (unsigned i = 0; i < n_entries; i++)
		make_trace(&traces[i], &state, END_NS);
	while (at < END_NS) {
		uint64_t due = eee_calendar_model_settle(chip, at), to = due < END_NS ? due : END_NS;

		tick_until(&t, traces, to - 1);
		ck_assert_uint_eq(t.n_reports, chip->n_reports);
		tell(traces, n_entries, at, to);
		eee_calendar_model_settle(chip, to);
		tick_until(&t, traces, to);
		ck_assert_uint_eq(t.n_reports, chip->n_reports);
		ck_assert_int_eq(!!(bus_model_lines(bus) >> LINE & 1), t.n_reports > 0);
		at = to;
	}
	ck_assert_uint_gt(t.n_reports, 4);
	free(traces);
}
END_TEST

/* Section 5.4, row by row. */
START_TEST(trace_of_the_notes)
{
	static const uint16_t calendar[] = {0, IDLE};
	static const struct unit unit = {.n_ports = 1, .slot_ns = 2, .bits = 16, .unit_ns = 10,
	    .length = 2, .calendar = calendar};
	static const struct trace trace[2] = {
	    {.from = {3, 22, 30, 41}, .to = {21, 23, 33, 47}, .n = 4}};
	static const struct { uint32_t visit, cur, event, acc, dur; } rows[] = {
	    {0, 0, 0, 0, 0}, {4, 1, 1, 4, 0}, {8, 1, 1, 8, 0}, {12, 1, 1, 2, 1},
	    {16, 1, 1, 6, 1}, {20, 1, 1, 0, 2}, {24, 0, 1, 0, 2}, {28, 0, 1, 0, 2},
	    {32, 1, 2, 4, 2}, {36, 0, 2, 4, 2}, {40, 0, 2, 4, 2}, {44, 1, 3, 8, 2},
	    {48, 0, 3, 8, 2},
	};
	uint64_t at = 0;

	ck_assert(start(&unit));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tell(trace, 2, at, rows[i].visit + 1);
		at = rows[i].visit + 1;
		eee_calendar_model_settle(chip, at);
		ck_assert_uint_eq(peek(EEE_EVENT_COUNT), rows[i].event);
		ck_assert_uint_eq(peek(EEE_DURATION_COUNT), rows[i].dur);
		ck_assert_uint_eq(peek(EEE_STATE) & EEE_STATE_ACC_MASK, rows[i].acc);
		ck_assert_int_eq(!!(peek(EEE_STATE) & EEE_STATE_LAST), rows[i].cur);
	}
}
END_TEST

/* Section 5.3, rule A: no bias, P = 5 us, U = 10 us, sleeps of 20 to 400 us; and at P = U. The
 * total is off by a random walk of steps below P and at most U in the accumulator. */
START_TEST(accuracy_of_the_notes)
{
	static const uint16_t calendar[] = {0, IDLE};
	const uint32_t period_ns = _i == 0 ? 5000 : 10000;
	const struct unit unit = {.n_ports = 1, .slot_ns = period_ns / 2, .bits = 32,
	    .unit_ns = 10000, .length = 2, .calendar = calendar};
	uint64_t state = 12345, ns = 0, slept_ns = 0;
	double error;

	ck_assert(start(&unit));
	for (int i = 0; i < 20000; i++) {
		uint64_t sleep = 20000 + draw(&state, 380000), gap = 20000 + draw(&state, 200000);

		eee_calendar_model_sleep(chip, 0, ns, ns + sleep);
		slept_ns += sleep;
		ns += sleep + gap;
	}
	eee_calendar_model_settle(chip, ns);
	ck_assert_uint_eq(peek(EEE_EVENT_COUNT), 20000); /* every sleep and gap is at least P */
	error = (double)peek(EEE_DURATION_COUNT) * 10000 / (double)slept_ns - 1;
	ck_assert_double_le(error, 0.0005);
	ck_assert_double_ge(error, -0.0005);
}
END_TEST

/* Sleeps shorter than P are seen with probability d / P (section 5.2), and never too often. */
START_TEST(short_sleeps_are_seen_by_chance)
{
	static const uint16_t calendar[] = {0, IDLE};
	const struct unit unit = {.n_ports = 1, .slot_ns = 500, .bits = 32, .unit_ns = 10000,
	    .length = 2, .calendar = calendar};
	uint64_t state = 99, ns = 0;
	double seen;

	ck_assert(start(&unit));
	for (int i = 0; i < 100000; i++) {
		eee_calendar_model_sleep(chip, 0, ns, ns + 300); /* d = 0.3 us, P = 1 us */
		ns += 5000 + draw(&state, 1000);
	}
	eee_calendar_model_settle(chip, ns);
	seen = peek(EEE_EVENT_COUNT) / 100000.0;
	ck_assert_double_ge(seen, 0.3 - 0.006); /* four standard deviations */
	ck_assert_double_le(seen, 0.3 + 0.006);
}
END_TEST

/* --- calendars (section 6) --- */

static uint64_t
period_slots(unsigned entry)
{
	return chip->entries[entry].period_ns / chip->config.slot_ns;
}

START_TEST(calendars_of_the_notes)
{
	static const uint16_t equal[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint16_t distance_3[] = {0, 1, 4, 0, 2, 5, 0, 1, 6, 0, 3, 7};
	static const struct {
		const uint16_t *calendar;
		unsigned length, latency;
		bool good;
		uint64_t periods[8];
	} rows[] = {
	    {equal, 8, 1, true, {8, 8, 8, 8, 8, 8, 8, 8}},
	    {equal, 8, 7, true, {8, 8, 8, 8, 8, 8, 8, 8}},
	    {equal, 8, 8, false, {0}},
	    {cal_weighted, 8, 1, true, {2, 4, 8, 8}},
	    {cal_weighted, 8, 2, false, {0}},
	    {distance_3, 12, 2, true, {3, 6, 12, 12, 12, 12, 12, 12}},
	    {distance_3, 12, 3, false, {0}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit unit = {.n_ports = 4, .slot_ns = 10, .latency_slots = rows[i].latency,
		    .bits = 16, .unit_ns = 10000, .length = rows[i].length,
		    .calendar = rows[i].calendar};

		ck_assert_int_eq(start(&unit), rows[i].good);
		ck_assert_int_eq(!!(peek(EEE_CONTROL) & EEE_CONTROL_BAD_CALENDAR), !rows[i].good);
		for (unsigned entry = 0; entry < 8 && rows[i].good; entry++)
			if (rows[i].periods[entry] > 0)
				ck_assert_uint_eq(period_slots(entry), rows[i].periods[entry]);
		tear_down();
		set_up();
	}
}
END_TEST

enum { MANY_PORTS = 11, MANY_ENTRIES = MANY_PORTS * EEE_DIRECTIONS };

/* A board's life far from time 0: sets of ports that sleep together, told in overlapping pieces. */
static void
sleep_together(bool at_once, uint32_t counts[MANY_ENTRIES][EEE_FIELDS])
{
	static const uint16_t calendar[] = {0, 2, 4, 6, 8, 1, 10, 12, 14, 18, IDLE, 20, 3};
	static const struct unit unit = {.n_ports = MANY_PORTS, .slot_ns = 7, .bits = 32,
	    .unit_ns = 91, .length = 13, .calendar = calendar};
	uint64_t state = 4711, ns = 1700000000000000000;

	ck_assert(start(&unit));
	for (int i = 0; i < 20000; i++) {
		uint64_t ports = draw(&state, 1u << MANY_PORTS), from = ns + draw(&state, 200);
		uint64_t to = from + 1 + draw(&state, 300);

		from -= draw(&state, 100);
		for (unsigned port = 0; port < MANY_PORTS && !at_once; port++)
			if (ports >> port & 1)
				eee_calendar_model_sleep(chip, EEE_ENTRY(port, EEE_TX), from, to);
		if (at_once)
			eee_calendar_model_sleep_many(chip, EEE_TX, ports, from, to);
		ns = to;
		if (i % 64 == 0)
			eee_calendar_model_settle(chip, ns);
	}
	for (unsigned i = 0; i < MANY_ENTRIES; i++) {
		counts[i][EEE_EVENT] = peek(EEE_EVENT_COUNT + 4 * i);
		counts[i][EEE_DURATION] = peek(EEE_DURATION_COUNT + 4 * i);
	}
}

/* Many ports at once are counted as each by itself. */
START_TEST(many_sleep_as_each)
{
	uint32_t at_once[MANY_ENTRIES][EEE_FIELDS], each[MANY_ENTRIES][EEE_FIELDS];

	sleep_together(true, at_once);
	tear_down();
	set_up();
	sleep_together(false, each);
	ck_assert_mem_eq(at_once, each, sizeof(each));
	ck_assert_uint_gt(each[EEE_ENTRY(0, EEE_TX)][EEE_EVENT], 1000);
	ck_assert_uint_eq(each[EEE_ENTRY(8, EEE_TX)][EEE_EVENT], 0); /* left out */
}
END_TEST

/* The fast division by a round is exact at times of centuries. */
START_TEST(rounds_are_divided_exactly)
{
	static const uint16_t calendar[16] = {0, IDLE, IDLE, 1, IDLE, IDLE, IDLE, IDLE,
	    IDLE, IDLE, IDLE, IDLE, IDLE, IDLE, IDLE, IDLE};
	static const struct {
		unsigned length, slot_ns;
	} rows[] = {{5, 1}, {7, 1}, {8, 1}, {9, 1}, {13, 7}, {16, 64}, {15, 1040}, {11, 195225786},
	    {16, 67108864}, {16, 134217727}};
	struct unit unit = {.n_ports = 1, .slot_ns = rows[_i].slot_ns, .bits = 32, .unit_ns = 1000,
	    .length = rows[_i].length, .latency_slots = 1, .calendar = calendar};
	uint64_t round = (uint64_t)rows[_i].length * rows[_i].slot_ns, state = 29;

	ck_assert(start(&unit));
	ck_assert_uint_eq(chip->round_ns, round);
	for (int i = suite_effort_at_most(100000); i > 0; i--) {
		uint64_t over = draw(&state, (1ull << 63) - round) / round >> draw(&state, 40);

		ck_assert_uint_eq(eee_calendar_model_rounds(chip, over * round), over);
		ck_assert_uint_eq(
		    eee_calendar_model_rounds(chip, over * round + round - 1), over);
	}
}
END_TEST

/* A calendar that changes under the unit stops it, and what was counted stays. */
START_TEST(calendar_may_change_while_stopped)
{
	ck_assert(start(&units[0]));
	eee_calendar_model_sleep(chip, 0, 0, 600);
	eee_calendar_model_settle(chip, 600);
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT), 60);
	poke(EEE_CALENDAR, 1);
	ck_assert(!(peek(EEE_CONTROL) & EEE_CONTROL_RUN));
	eee_calendar_model_sleep(chip, 0, 600, 1200); /* nobody visits */
	ck_assert_uint_eq(eee_calendar_model_settle(chip, 1200), UINT64_MAX);
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT), 60);
	poke(EEE_CALENDAR, 0);
	poke(EEE_CONTROL, EEE_CONTROL_RUN);
	eee_calendar_model_sleep(chip, 0, 1200, 1212);
	eee_calendar_model_settle(chip, 1212);
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT), 61);
	ck_assert_uint_eq(peek(EEE_EVENT_COUNT), 1); /* it slept before and after: no new event */
}
END_TEST

/* --- thresholds and the CPU (section 7) --- */

/* From the threshold on, a direction that sleeps all the time wraps after the table's headroom. */
START_TEST(headroom_of_the_notes)
{
	static const uint16_t calendar[] = {0, IDLE};
	static const struct { unsigned bits; uint32_t threshold; double ms, events_ms; } rows[] = {
	    {8, 0x80, 1.28, 2.18}, {12, 0x800, 20.5, 34.8}, {16, 0x8000, 327.7, 557},
	};
	const struct unit unit = {.n_ports = 1, .slot_ns = 5, .bits = rows[_i].bits,
	    .unit_ns = 10000, .length = 2, .calendar = calendar};
	uint64_t wraps_ns, at = 0, due;

	ck_assert(start(&unit));
	poke(EEE_THRESHOLD_DURATION, rows[_i].threshold);
	poke(EEE_THRESHOLD_EVENT, rows[_i].threshold);
	due = eee_calendar_model_settle(chip, at);
	while (chip->n_reports == 0) {
		eee_calendar_model_sleep(chip, 0, at, due);
		at = due;
		due = eee_calendar_model_settle(chip, at);
	}
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT), rows[_i].threshold);
	wraps_ns = ((1ull << rows[_i].bits) - rows[_i].threshold) * 10000;
	ck_assert_double_eq_tol((double)wraps_ns / 1e6, rows[_i].ms, rows[_i].ms / 100);
	ck_assert_double_eq_tol((double)((1u << rows[_i].bits) - rows[_i].threshold) * 17e-3,
	    rows[_i].events_ms, rows[_i].events_ms / 100);
	due = chip->now_ns;
	eee_calendar_model_sleep(chip, 0, due, due + wraps_ns - 10000);
	eee_calendar_model_settle(chip, due + wraps_ns - 10000);
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT), (1u << rows[_i].bits) - 1);
	eee_calendar_model_sleep(chip, 0, due + wraps_ns - 10000, due + wraps_ns);
	eee_calendar_model_settle(chip, due + wraps_ns);
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT), 0);
}
END_TEST

/* The CPU subtracts what it read: nothing that is counted in between is lost, and a direction
 * asleep is not seen to fall asleep again. */
START_TEST(clearing_is_safe)
{
	uint32_t value;

	ck_assert(start(&units[0]));
	poke(EEE_THRESHOLD_DURATION, 20);
	eee_calendar_model_sleep(chip, 2, 0, 250);
	eee_calendar_model_settle(chip, 250);
	ck_assert_uint_eq(peek(EEE_REPORT), EEE_REPORT_VALID | EEE_REPORT_DURATION | 2);
	ck_assert_uint_eq(peek(EEE_REPORT), 0);
	ck_assert_uint_eq(bus_model_lines(bus), 0);
	value = peek(EEE_DURATION_COUNT + 8);
	eee_calendar_model_sleep(chip, 2, 250, 310);
	eee_calendar_model_settle(chip, 310);
	poke(EEE_DURATION_COUNT + 8, value);
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT + 8) + value, 31);
	ck_assert_uint_eq(peek(EEE_EVENT_COUNT + 8), 1);
	eee_calendar_model_sleep(chip, 2, 310, 510); /* it may report again */
	eee_calendar_model_settle(chip, 510);
	ck_assert_uint_eq(peek(EEE_REPORT), EEE_REPORT_VALID | EEE_REPORT_DURATION | 2);
	ck_assert_uint_eq(peek(EEE_EVENT_COUNT + 8), 1);
}
END_TEST

static unsigned n_syncs;

static void
sync_board(void *ctx)
{
	(void)ctx;
	n_syncs++;
	eee_calendar_model_sleep(chip, 0, 0, 60);
	eee_calendar_model_settle(chip, 60);
}

START_TEST(board_is_asked_before_the_cpu_sees)
{
	ck_assert(start(&units[0]));
	chip->config.sync = sync_board;
	n_syncs = 0;
	ck_assert_uint_eq(peek(EEE_DURATION_COUNT), 6);
	ck_assert_uint_eq(n_syncs, 1);
}
END_TEST

START_TEST(bad_configurations)
{
	struct eee_calendar_model_config config = {.bus = bus, .base = BASE, .n_ports = 65};

	ck_assert_int_eq(eee_calendar_model_create(&config, &chip), -EINVAL);
	config.n_ports = 2;
	config.event_bits = 33;
	ck_assert_int_eq(eee_calendar_model_create(&config, &chip), -EINVAL);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("eee_calendar");
	TCase *t = tcase_create("eee_calendar");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, intervals_give_what_ticks_give, 0, RUNS * N_UNITS);
	tcase_add_loop_test(t, reports_come_with_the_visit, 0, 12);
	tcase_add_test(t, trace_of_the_notes);
	tcase_add_loop_test(t, accuracy_of_the_notes, 0, 2);
	tcase_add_test(t, short_sleeps_are_seen_by_chance);
	tcase_add_test(t, calendars_of_the_notes);
	tcase_add_test(t, many_sleep_as_each);
	tcase_add_loop_test(t, rounds_are_divided_exactly, 0, 10);
	tcase_add_test(t, calendar_may_change_while_stopped);
	tcase_add_loop_test(t, headroom_of_the_notes, 0, 3);
	tcase_add_test(t, clearing_is_safe);
	tcase_add_test(t, board_is_asked_before_the_cpu_sees);
	tcase_add_test(t, bad_configurations);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
