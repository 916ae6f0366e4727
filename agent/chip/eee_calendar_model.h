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
	uint64_t min_cycle_ns; /* from an entry's falling asleep to the next time, at least */
	/* Called before every access of the CPU: the board calls eee_calendar_model_settle. And
	 * before an entry's counts are looked at: it tells the entry's sleep up to now, if it is
	 * still asleep. NULL: the caller has. */
	void (*sync)(void *ctx);
	void (*tell)(void *ctx, unsigned entry);
	void *ctx;
};

/* What sleep moves between two settlements, side by side for all ports of a direction, as a flooded
 * frame wakes many at once. */
struct eee_calendar_lanes {
	uint32_t offset_ns[EEE_MAX_PORTS]; /* of the visit in a round */
	uint32_t rest_ns[EEE_MAX_PORTS]; /* of the round behind it, less 1 */
	uint32_t visited[EEE_MAX_PORTS];   /* all bits, or none: the calendar leaves it out */
	uint32_t visits[EEE_MAX_PORTS];	/* up to the last one that found it asleep, modulo 2^32 */
	uint32_t asleep_visits[EEE_MAX_PORTS]; /* since the last settlement */
	uint32_t new_events[EEE_MAX_PORTS];    /* likewise */
};

/* The rest of an entry. */
struct eee_calendar_entry {
	uint32_t count[EEE_FIELDS];
	bool reported[EEE_FIELDS]; /* its address was put into the report buffer */
	bool last;		   /* state, while the unit is stopped */
	uint32_t acc_ns;
	uint32_t step_ns;
	uint16_t n_places;  /* slots that name it */
	uint64_t period_ns; /* between two visits; 0: they are spread unevenly */
	uint64_t settled_ns; /* its sleep has been told up to then */
	uint64_t due_ns;     /* of the next settlement at the latest */
};

struct eee_calendar_model {
	struct eee_calendar_lanes lanes[EEE_DIRECTIONS];
	/* Every entry that is visited at all is visited once a round of so many ns; 0: no. A division
	 * by it is a multiplication and a shift, exact below 2^63. */
	uint64_t round_ns, reciprocal;
	unsigned reciprocal_shift;
	uint64_t told_ns; /* up to which the sleep of all entries has been told */
	uint64_t due_ns;  /* of the next settlement of any; 0: to be found again */
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
 * the time of the next call: no threshold can be reached before it. UINT64_MAX: none ever. After an
 * access of the CPU it is to be asked again. */
uint64_t eee_calendar_model_settle(struct eee_calendar_model *model, uint64_t now_ns);

/* --- sleep ---
 *
 * The entry slept in [from_ns, to_ns), and was awake since the interval told before. An interval may
 * be told in pieces that touch or overlap; what was told before stays told. Ending the one under way
 * is how a link that goes down is told: the direction counts as awake. */

/* The slow way, for any calendar. */
void eee_calendar_model_sleep_uneven(struct eee_calendar_model *model, unsigned entry,
    uint64_t from_ns, uint64_t to_ns);

/* Of a calendar of equal rounds: how many are over at a time. */
static inline uint64_t
eee_calendar_model_rounds(const struct eee_calendar_model *model, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * model->reciprocal >> 64) >>
	    model->reciprocal_shift;
}

static inline void
eee_calendar_model_sleep(struct eee_calendar_model *model, unsigned entry, uint64_t from_ns,
    uint64_t to_ns)
{
	struct eee_calendar_lanes *l = &model->lanes[entry % EEE_DIRECTIONS];
	unsigned port = entry / EEE_DIRECTIONS;
	uint32_t before, after, visits = l->visits[port];

	if (from_ns < model->told_ns)
		from_ns = model->told_ns;
	if (__builtin_expect(model->round_ns == 0, 0)) {
		eee_calendar_model_sleep_uneven(model, entry, from_ns, to_ns);
		return;
	}
	/* Visits before a time: as many as rounds, had each begun right behind a visit. */
	before = (uint32_t)eee_calendar_model_rounds(model, from_ns + l->rest_ns[port]);
	after = (uint32_t)eee_calendar_model_rounds(model, to_ns + l->rest_ns[port]);
	if ((int32_t)(visits - before) > 0)
		before = visits; /* so far it was told */
	if ((int32_t)(after - before) <= 0 || l->visited[port] == 0)
		return; /* between two visits: the unit never knows */
	l->new_events[port] += before != visits;
	l->asleep_visits[port] += after - before;
	l->visits[port] = after;
}

/* A time as many ports see it: rounds that are over, and ns of the one that is not. */
struct eee_calendar_time {
	uint32_t rounds, rest_ns;
};

static inline struct eee_calendar_time
eee_calendar_model_time(const struct eee_calendar_model *model, uint64_t ns)
{
	uint64_t rounds = eee_calendar_model_rounds(model, ns);

	return (struct eee_calendar_time){
	    (uint32_t)rounds, (uint32_t)(ns - rounds * model->round_ns)};
}

/* Four ports at a time. What is true has all bits set, which is -1. */
typedef uint32_t eee_calendar_four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t eee_calendar_truth __attribute__((vector_size(16), aligned(4), may_alias));
enum { EEE_FOUR = 4 };

/* The ports of `mask` among the four from `first` on. */
static inline void
eee_calendar_model_sleep_four(struct eee_calendar_lanes *l, unsigned first, eee_calendar_four mask,
    struct eee_calendar_time from, struct eee_calendar_time to)
{
	eee_calendar_truth offset = *(eee_calendar_truth *)&l->offset_ns[first];
	eee_calendar_four *visits = (eee_calendar_four *)&l->visits[first];
	eee_calendar_four before = from.rounds - (eee_calendar_four)((int32_t)from.rest_ns > offset);
	eee_calendar_four after = to.rounds - (eee_calendar_four)((int32_t)to.rest_ns > offset);
	eee_calendar_four told = (eee_calendar_four)((eee_calendar_truth)(*visits - before) > 0);

	before = (told & *visits) | (~told & before);
	mask &= *(eee_calendar_four *)&l->visited[first] &
	    (eee_calendar_four)((eee_calendar_truth)(after - before) > 0);
	*(eee_calendar_four *)&l->new_events[first] -= mask & (eee_calendar_four)(before != *visits);
	*(eee_calendar_four *)&l->asleep_visits[first] += mask & (after - before);
	*visits = (mask & after) | (~mask & *visits);
}

/* The same for one direction of many ports, a bit each. */
static inline void
eee_calendar_model_sleep_many(struct eee_calendar_model *model, enum eee_direction direction,
    uint64_t ports, uint64_t from_ns, uint64_t to_ns)
{
	static const eee_calendar_four bits = {1, 2, 4, 8};
	struct eee_calendar_time from, to;

	if (from_ns < model->told_ns)
		from_ns = model->told_ns;
	from = eee_calendar_model_time(model, from_ns);
	to = eee_calendar_model_time(model, to_ns);
	if (__builtin_expect(model->round_ns == 0, 0)) {
		for (; ports != 0; ports &= ports - 1)
			eee_calendar_model_sleep_uneven(model,
			    EEE_ENTRY((unsigned)__builtin_ctzll(ports), direction), from_ns, to_ns);
		return;
	}
	for (unsigned first = 0; ports != 0; first += EEE_FOUR, ports >>= EEE_FOUR) {
		if (((uint32_t)ports & 0xf) != 0)
			eee_calendar_model_sleep_four(&model->lanes[direction], first,
			    (eee_calendar_four)(((uint32_t)ports & bits) == bits), from, to);
	}
}

#endif
