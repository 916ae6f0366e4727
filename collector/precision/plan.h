/*
 * Who gets how many samples, and which skips move: pure functions. What ports want is given (demand.h), and what their
 * counters say; skips follow only what is past. The time is passed in, by a clock that cannot step.
 *
 * Rules that keep skips calm, in the order in which they are asked at the end of a period; four changes an hour and port
 * at most, six with those that the budget needs:
 *   surplus  three periods with eight times the samples: fewer
 *   budget   all together above it: the skip doubles where it costs least
 *   finer    the smallest want first, while the budget has room
 *
 * What ports send that are not steered (held, refused, not asked for) is taken from the budget, but for half of it: those
 * that are steered never pay more for another one.
 */
#ifndef EASE_COLLECTOR_PRECISION_PLAN_H
#define EASE_COLLECTOR_PRECISION_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRECISION_SETS_AN_HOUR = 6, PRECISION_CALM_SETS = 4, PRECISION_LOADS = 30 };

enum precision_share { PRECISION_EVEN, PRECISION_MOST };

struct precision_budget {
	double all_per_s, agent_per_s; /* samples a second; 0: no limit */
	enum precision_share share;
};

/* Why a skip changes. */
enum precision_move {
	PRECISION_STAYS,
	PRECISION_WANTED,  /* finer: for the goal */
	PRECISION_SURPLUS, /* coarser: it had far more than it wants */
	PRECISION_OVER,	   /* coarser: for the budget */
	PRECISION_BURST,   /* the same, within a period */
};
const char *precision_move_name(enum precision_move move);

struct precision_port {
	/* Facts, the caller's. */
	uint32_t agent;	      /* ports of the same number share agent_per_s */
	bool may_move;	      /* the agent takes requests of this port */
	double listed_pkts_s; /* frames a second that its lists are made of, at the end of the period */
	double sampled_pkts_s; /* and that are sampled: both directions, where the device does that */
	double sent_pkts_s;   /* of these, what its samples stand for: no counter spends of the budget what never came */
	double needed_per_s;  /* samples of listed frames, with margin; 0: no goal asks for this port */
	double most_skip;     /* by lists of all ports together; INFINITY: none */
	uint32_t skip;	      /* that was asked for last, or the configured one */
	uint32_t cap_per_s;   /* samples a second that the agent holds it to with that skip; 0: none is known */
	/* The plan. */
	double wanted_skip, planned_skip;
	double wanted_per_s, planned_per_s; /* samples of all kinds */
	bool is_cut; /* the budget gives less than is wanted */
	/* The decision. */
	enum precision_move move;
	uint32_t to_skip, to_cap; /* where it moves */
	/* Kept from one decision to the next. */
	double had_per_s;
	unsigned surplus; /* periods in a row */
	uint64_t set_us[PRECISION_SETS_AN_HOUR]; /* a ring */
	uint64_t n_sets;
	struct {
		uint64_t time_us;
		double sampled_pkts_s;
	} loads[PRECISION_LOADS]; /* a ring */
	uint64_t n_loads;
};

/* At the end of a period: plans, and fills in the moves. Returns how many there are, or -ENOMEM. */
int precision_decide(struct precision_port *ports, size_t n, const struct precision_budget *budget, uint64_t now_us);

/* Between: what the counters of the last 30 s say is in sampled_pkts_s. Returns how many skips must double. */
int precision_relieve(struct precision_port *ports, size_t n, const struct precision_budget *budget, uint64_t now_us);

/* A SET was sent. */
void precision_count_set(struct precision_port *port, uint64_t now_us);
unsigned precision_sets_within_hour(const struct precision_port *port, uint64_t now_us);

/* The cap that goes with so many planned samples a second. */
uint32_t precision_cap(double planned_per_s);

#endif
