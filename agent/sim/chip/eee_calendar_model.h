/*
 * Software model of the EEE statistics unit: a calendar that visits one entry (a port's direction) in each
 * slot, the arithmetic of a visit, narrow counts in SRAM, and a report buffer with an interrupt for
 * counts that have reached their threshold.
 *
 * The model does not simulate each visit. The board reports each interval in which a direction slept, and
 * the visits in it are computed at once; the counts equal those of a simulation visit by visit.
 * eee_calendar_model_settle checks the thresholds and returns the time of its next call, so that the
 * interrupt comes with the visit that reaches a threshold.
 *
 * Times are nanoseconds of board time, and never go back. The caller holds the bus's lock. The driver
 * (eee_calendar.h) does not use this file.
 */
#ifndef EASE_AGENT_SIM_CHIP_EEE_CALENDAR_MODEL_H
#define EASE_AGENT_SIM_CHIP_EEE_CALENDAR_MODEL_H

#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/eee_calendar_regs.h"

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
	uint64_t min_cycle_ns; /* the shortest time from one falling asleep to the next */
	/* sync is called before every access of the CPU: the board calls eee_calendar_model_settle.
	 * report_sleep is called before an entry's counts are used: the board reports its sleep up to now
	 * if it is still asleep. NULL: the caller has done so. */
	void (*sync)(void *ctx);
	void (*report_sleep)(void *ctx, unsigned entry);
	void *ctx;
};

/* The values that sleep changes between two settlements, as arrays over all ports of a direction, because a
 * flooded frame wakes many ports. */
struct eee_calendar_lanes {
	uint32_t offset_ns[EEE_MAX_PORTS]; /* time of the visit in a round */
	uint32_t rest_ns[EEE_MAX_PORTS]; /* rest of the round after it, minus 1 */
	uint32_t visited[EEE_MAX_PORTS];   /* all bits set; 0: not in the calendar */
	uint32_t visits[EEE_MAX_PORTS];	/* visits up to the last one that found it asleep, modulo 2^32 */
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
	uint64_t settled_ns; /* its sleep has been reported up to then */
	uint64_t due_ns;     /* of the next settlement at the latest */
};

struct eee_calendar_model {
	struct eee_calendar_lanes lanes[EEE_DIRECTIONS];
	/* If every entry of the calendar is visited once in a round: the length of a round; else 0. The
	 * division by it is a multiplication and a shift, exact for dividends below 2^63. */
	uint64_t round_ns, reciprocal;
	unsigned reciprocal_shift;
	uint64_t reported_ns; /* the sleep of all entries has been reported up to then */
	uint64_t due_ns;  /* the next settlement of any entry; 0: must be computed */
	struct eee_calendar_entry entries[EEE_MAX_ENTRIES];
	unsigned n_entries;
	uint64_t now_ns; /* of the last settlement */
	bool running;
	struct regmodel regs;
	struct eee_calendar_model_config config;
	uint32_t reports[EEE_MAX_ENTRIES * EEE_FIELDS]; /* a ring with room for each count, so it cannot overflow */
	unsigned first_report, n_reports;
};

/* -EINVAL for a config out of range, -ENOMEM, or what the bus said. */
int eee_calendar_model_create(const struct eee_calendar_model_config *config,
    struct eee_calendar_model **model);
void eee_calendar_model_destroy(struct eee_calendar_model *model); /* NULL allowed */
/* The RESET pin: calendar idle, stopped, SRAM 0. */
void eee_calendar_model_reset(struct eee_calendar_model *model);

/* Counts the sleep reported up to now_ns, puts counts that have reached their threshold into the report
 * buffer, and returns the time of the next call, before which no threshold can be reached (UINT64_MAX:
 * never). After an access of the CPU it must be called again. */
uint64_t eee_calendar_model_settle(struct eee_calendar_model *model, uint64_t now_ns);

/* --- sleep ---
 *
 * The entry slept in [from_ns, to_ns), and was awake between the interval reported before and this one. An
 * interval may be reported in parts that touch or overlap; a report is never taken back. For a link that
 * goes down, the interval in progress ends: the direction then counts as awake. */

/* The slow path, for any calendar. */
void eee_calendar_model_sleep_uneven(struct eee_calendar_model *model, unsigned entry,
    uint64_t from_ns, uint64_t to_ns);

/* For a calendar of equal rounds: how many are complete at a time. */
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

	if (from_ns < model->reported_ns)
		from_ns = model->reported_ns;
	if (__builtin_expect(model->round_ns == 0, 0)) {
		eee_calendar_model_sleep_uneven(model, entry, from_ns, to_ns);
		return;
	}
	/* Visits before a time: as many as rounds, had each begun right behind a visit. */
	before = (uint32_t)eee_calendar_model_rounds(model, from_ns + l->rest_ns[port]);
	after = (uint32_t)eee_calendar_model_rounds(model, to_ns + l->rest_ns[port]);
	if ((int32_t)(visits - before) > 0)
		before = visits; /* reported up to here already */
	if ((int32_t)(after - before) <= 0 || l->visited[port] == 0)
		return; /* no visit in it: the unit does not see it */
	l->new_events[port] += before != visits;
	l->asleep_visits[port] += after - before;
	l->visits[port] = after;
}

/* A time as the number of complete rounds and the ns since. */
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

/* Four ports at a time. True is all bits set, which is -1. */
typedef uint32_t eee_calendar_four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t eee_calendar_truth __attribute__((vector_size(16), aligned(4), may_alias));
enum { EEE_FOUR = 4 };

/* The ports of the mask among the four from `first` on; gcc 14 of arm64 takes it by its address alone. */
static inline void
eee_calendar_model_sleep_four(struct eee_calendar_lanes *l, unsigned first, const eee_calendar_four *of,
    struct eee_calendar_time from, struct eee_calendar_time to)
{
	eee_calendar_truth offset = *(eee_calendar_truth *)&l->offset_ns[first];
	eee_calendar_four mask = *of, *visits = (eee_calendar_four *)&l->visits[first];
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

	if (from_ns < model->reported_ns)
		from_ns = model->reported_ns;
	from = eee_calendar_model_time(model, from_ns);
	to = eee_calendar_model_time(model, to_ns);
	if (__builtin_expect(model->round_ns == 0, 0)) {
		for (; ports != 0; ports &= ports - 1)
			eee_calendar_model_sleep_uneven(model,
			    EEE_ENTRY((unsigned)__builtin_ctzll(ports), direction), from_ns, to_ns);
		return;
	}
	for (unsigned first = 0; ports != 0; first += EEE_FOUR, ports >>= EEE_FOUR) {
		const eee_calendar_four of = (eee_calendar_four)(((uint32_t)ports & bits) == bits);

		if (((uint32_t)ports & 0xf) != 0)
			eee_calendar_model_sleep_four(&model->lanes[direction], first, &of, from, to);
	}
}

#endif
