#include "collector/precision/plan.h"

#include "common/sample.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_US UINT64_C(60000000)
#define HOUR_US	  (60 * MINUTE_US)

#define PLANNED_PART	   0.8	/* of the budget; the rest is for what changes within a period */
#define PLANNED_AGENT_PART 0.9
#define FULL_PART	   0.85 /* above it skips double */
#define FULL_AGENT_PART	   0.95
#define GROWTH		   4.0	/* of the samples from one period to the next, at most, */
#define GROWTH_FROM	   25.0 /* from so many a second on */
#define NOT_STEERED_PART   0.5
#define LEAST_RATE	   1.0	/* samples a second, of a port that gets nothing else */
#define APART		   4.0	/* so many times the common skip a port's may be */
#define CAP_OF_PLAN	   3.0
#define LEAST_CAP	   50.0
#define WORTH_MOVING	   1.3
#define WORTH_MOVING_CUT   2.0
#define SURPLUS		   8.0
#define ROUND_UP	   0.15 /* of a doubling */

enum { SURPLUS_PERIODS = 3, CALM_AFTER_SETS = 3, CALM_MINUTES = 30 };

const char *
precision_move_name(enum precision_move move)
{
	static const char *const names[] = {"", "wanted", "surplus", "budget", "burst"};

	return names[move];
}

/* ---- what is remembered ---- */

unsigned
precision_sets_within_hour(const struct precision_port *port, uint64_t now_us)
{
	unsigned n = 0;

	for (uint64_t i = 0; i < PRECISION_SETS_AN_HOUR && i < port->n_sets; i++)
		n += port->set_us[i] + HOUR_US > now_us;
	return n;
}

void
precision_count_set(struct precision_port *port, uint64_t now_us)
{
	port->set_us[port->n_sets++ % PRECISION_SETS_AN_HOUR] = now_us;
}

static void
remember_load(struct precision_port *port, uint64_t now_us)
{
	uint64_t i = port->n_loads++ % PRECISION_LOADS;

	port->loads[i].time_us = now_us;
	port->loads[i].sampled_pkts_s = port->sampled_pkts_s;
}

/* The load that skips are planned for: a port that has moved often keeps the finer skip that it had for its quiet
 * minutes. */
static double
planned_load(const struct precision_port *port, uint64_t now_us)
{
	double least = port->sampled_pkts_s;

	if (precision_sets_within_hour(port, now_us) < CALM_AFTER_SETS)
		return least;
	for (uint64_t i = 0; i < PRECISION_LOADS && i < port->n_loads; i++)
		if (port->loads[i].time_us + CALM_MINUTES * MINUTE_US > now_us)
			least = fmin(least, port->loads[i].sampled_pkts_s);
	return least;
}

/* ---- the plan ---- */

static bool
is_steered(const struct precision_port *port)
{
	return port->may_move && port->needed_per_s > 0;
}

static bool
is_planned(const struct precision_port *port)
{
	return is_steered(port) && port->sampled_pkts_s > 0;
}

static bool
is_of(const struct precision_port *port, uint32_t agent)
{
	return agent == UINT32_MAX || port->agent == agent;
}

/* What is left of a limit to the ports of an agent (UINT32_MAX: of all) that are steered. */
static double
left_of(const struct precision_port *ports, size_t n, uint32_t agent, double limit)
{
	double sent_per_s = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_steered(&ports[i]) && is_of(&ports[i], agent))
			sent_per_s += ports[i].sent_pkts_s / ports[i].skip;
	return limit - fmin(sent_per_s, NOT_STEERED_PART * limit);
}

/* By what samples confirm: a counter alone wants nothing of the budget. */
static double
rate_at(const struct precision_port *port, double skip)
{
	return port->sent_pkts_s / skip;
}

/* By what the port wants for itself: a sample in so many of the frames of its lists. */
static void
plan_wanted(struct precision_port *port, uint64_t now_us)
{
	double part = port->sampled_pkts_s > 0 ? fmin(1, port->listed_pkts_s / port->sampled_pkts_s) : 1;

	port->wanted_skip = port->planned_skip = 1;
	port->wanted_per_s = port->planned_per_s = 0;
	port->is_cut = false;
	if (port->needed_per_s <= 0)
		return;
	port->wanted_skip = fmin(1 + part * planned_load(port, now_us) / port->needed_per_s, port->most_skip);
	port->wanted_per_s = rate_at(port, port->wanted_skip);
}

/* Skips far apart spoil lists over several ports: nobody's is more than so many times the common one. */
static void
bring_together(struct precision_port *ports, size_t n)
{
	double load = 0, samples = 0;

	for (size_t i = 0; i < n; i++)
		if (is_planned(&ports[i])) {
			load += ports[i].sent_pkts_s;
			samples += ports[i].wanted_per_s;
		}
	for (size_t i = 0; samples > 0 && i < n; i++)
		if (is_planned(&ports[i]) && ports[i].wanted_skip > APART * load / samples) {
			ports[i].wanted_skip = fmax(1, APART * load / samples);
			ports[i].wanted_per_s = rate_at(&ports[i], ports[i].wanted_skip);
		}
}

/* The samples of those ports (of one agent, or of all: agent UINT32_MAX) if each gets c times the root of what it wants,
 * and no more than that, nor than its agent's c gives it. */
static double
sum_even(const struct precision_port *ports, size_t n, uint32_t agent, double c)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		if (is_planned(&ports[i]) && is_of(&ports[i], agent))
			sum += fmin(ports[i].planned_per_s, c * sqrt(ports[i].wanted_per_s));
	return sum;
}

/* Cuts by the c with which they fit: the least sum of squared widths. */
static void
cut_even(struct precision_port *ports, size_t n, uint32_t agent, double limit)
{
	enum { BISECTIONS = 60 };
	double low = 0, high = 1e6;

	if (limit <= 0 || sum_even(ports, n, agent, INFINITY) <= limit)
		return;
	for (int i = 0; i < BISECTIONS; i++) {
		double c = (low + high) / 2;

		*(sum_even(ports, n, agent, c) > limit ? &high : &low) = c;
	}
	for (size_t i = 0; i < n; i++)
		if (is_planned(&ports[i]) && is_of(&ports[i], agent))
			ports[i].planned_per_s = fmin(ports[i].planned_per_s, low * sqrt(ports[i].wanted_per_s));
}

/* The smallest wants first; the last one that gets something gets what is left, the others a little. */
static void
cut_most(struct precision_port **by_want, size_t n, uint32_t agent, double limit)
{
	double left = limit;

	for (size_t i = 0; limit > 0 && i < n; i++) {
		struct precision_port *port = by_want[i];

		if (!is_planned(port) || !is_of(port, agent))
			continue;
		port->planned_per_s = fmin(port->planned_per_s, fmax(LEAST_RATE, left));
		left = fmax(0, left - port->planned_per_s);
	}
}

static int
compare_wants(const void *a, const void *b)
{
	const struct precision_port *x = *(struct precision_port *const *)a, *y = *(struct precision_port *const *)b;

	if (x->wanted_per_s != y->wanted_per_s)
		return x->wanted_per_s < y->wanted_per_s ? -1 : 1;
	return x < y ? -1 : x > y; /* as they stand: the same order in each run */
}

static void
cut_to_budget(struct precision_port *ports, size_t n, struct precision_port **by_want, const struct precision_budget *budget,
    uint32_t agent, double limit)
{
	if (budget->share == PRECISION_EVEN)
		cut_even(ports, n, agent, limit);
	else
		cut_most(by_want, n, agent, limit);
}

/* Each agent once: at its first port. */
static bool
is_first_of_agent(const struct precision_port *ports, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (ports[j].agent == ports[i].agent)
			return false;
	return true;
}

static void
plan_ports(struct precision_port *ports, size_t n, struct precision_port **by_want, const struct precision_budget *budget,
    uint64_t now_us)
{
	for (size_t i = 0; i < n; i++)
		plan_wanted(&ports[i], now_us);
	bring_together(ports, n);
	for (size_t i = 0; i < n; i++)
		ports[i].planned_per_s = ports[i].wanted_per_s;
	qsort(by_want, n, sizeof(*by_want), compare_wants);
	for (size_t i = 0; budget->agent_per_s > 0 && i < n; i++)
		if (is_first_of_agent(ports, i))
			cut_to_budget(ports, n, by_want, budget, ports[i].agent,
			    PLANNED_AGENT_PART * left_of(ports, n, ports[i].agent, budget->agent_per_s));
	cut_to_budget(ports, n, by_want, budget, UINT32_MAX, PLANNED_PART * left_of(ports, n, UINT32_MAX, budget->all_per_s));
	for (size_t i = 0; i < n; i++) {
		struct precision_port *port = &ports[i];
		double most = GROWTH * fmax(port->had_per_s, GROWTH_FROM);

		if (!is_planned(port))
			continue;
		port->is_cut = port->planned_per_s < 0.999 * port->wanted_per_s;
		port->planned_per_s = fmin(port->planned_per_s, most);
		port->planned_skip = fmax(1, rate_at(port, port->planned_per_s));
	}
}

/* ---- moves ---- */

static uint32_t
nearest_skip(double skip)
{
	double doublings = floor(log2(skip) + ROUND_UP);

	return doublings >= log2(EASE_DRAWN_MEAN_MAX) ? EASE_DRAWN_MEAN_MAX : (uint32_t)exp2(fmax(0, doublings));
}

uint32_t
precision_cap(double planned_per_s)
{
	return (uint32_t)fmin(1e6, fmax(LEAST_CAP, ceil(CAP_OF_PLAN * planned_per_s)));
}

/* What the budget takes back keeps its cap, if it has one: what passes now is what it is too much of. */
static void
move_to(struct precision_port *port, enum precision_move move, uint32_t skip)
{
	bool is_taken_back = (move == PRECISION_OVER || move == PRECISION_BURST) && port->cap_per_s > 0;

	port->move = move;
	port->to_skip = skip;
	port->to_cap = is_taken_back ? port->cap_per_s : precision_cap(fmax(port->planned_per_s, rate_at(port, skip)));
}

static uint32_t
skip_then(const struct precision_port *port)
{
	return port->move ? port->to_skip : port->skip;
}

static double
rate_then(const struct precision_port *port)
{
	uint32_t cap = port->move ? port->to_cap : port->cap_per_s;
	double rate = rate_at(port, skip_then(port));

	return cap > 0 ? fmin(rate, cap) : rate;
}

/* Of those that are steered. */
static double
sum_then(const struct precision_port *ports, size_t n, uint32_t agent)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		if (is_steered(&ports[i]) && is_of(&ports[i], agent))
			sum += rate_then(&ports[i]);
	return sum;
}

/* Those that have far more than they want, for long enough. */
static void
plan_give_back(struct precision_port *port, uint64_t now_us)
{
	bool has_more = is_planned(port) && port->skip <= port->planned_skip / SURPLUS;

	port->surplus = has_more ? port->surplus + 1 : 0;
	if (port->surplus < SURPLUS_PERIODS || !port->may_move ||
	    precision_sets_within_hour(port, now_us) >= PRECISION_CALM_SETS)
		return;
	port->surplus = 0;
	move_to(port, PRECISION_SURPLUS, nearest_skip(port->planned_skip));
}

/* Doubles skips until those ports fit, each time where it hurts least. Returns whether they do. */
static bool
plan_double_skips(struct precision_port *ports, size_t n, uint32_t agent, double limit, enum precision_move move, uint64_t now_us)
{
	while (limit > 0 && sum_then(ports, n, agent) > limit) {
		struct precision_port *best = NULL;
		double most = 0;

		for (size_t i = 0; i < n; i++) {
			struct precision_port *port = &ports[i];
			double a = rate_then(port);
			double gain = a / fmax(port->planned_per_s, 1e-3) * sqrt(a);

			if (!is_of(port, agent) || !is_steered(port) || gain <= most ||
			    skip_then(port) > EASE_DRAWN_MEAN_MAX / 2 ||
			    precision_sets_within_hour(port, now_us) >= PRECISION_SETS_AN_HOUR)
				continue;
			most = gain;
			best = port;
		}
		if (!best)
			return false;
		move_to(best, move, 2 * skip_then(best));
	}
	return true;
}

static bool
plan_has_room(const struct precision_port *ports, size_t n, const struct precision_port *port, uint32_t skip,
    const struct precision_budget *budget)
{
	double more = rate_at(port, skip) - rate_then(port);

	return (budget->all_per_s == 0 ||
		   sum_then(ports, n, UINT32_MAX) + more <= FULL_PART * left_of(ports, n, UINT32_MAX, budget->all_per_s)) &&
	    (budget->agent_per_s == 0 ||
		sum_then(ports, n, port->agent) + more <= FULL_AGENT_PART * left_of(ports, n, port->agent, budget->agent_per_s));
}

static void
make_finer(struct precision_port *ports, size_t n, struct precision_port *port, const struct precision_budget *budget,
    uint64_t now_us)
{
	uint32_t skip;

	if (port->move || !port->may_move || !is_planned(port) ||
	    precision_sets_within_hour(port, now_us) >= PRECISION_CALM_SETS ||
	    port->skip < port->planned_skip * (port->is_cut ? WORTH_MOVING_CUT : WORTH_MOVING))
		return;
	skip = nearest_skip(port->planned_skip);
	if (skip < port->skip && plan_has_room(ports, n, port, skip, budget))
		move_to(port, PRECISION_WANTED, skip);
}

static int
count_moves(const struct precision_port *ports, size_t n)
{
	int moves = 0;

	for (size_t i = 0; i < n; i++)
		moves += ports[i].move && ports[i].to_skip != ports[i].skip;
	return moves;
}

/* At a period's end to below `full` of the limit; within one only what is above all of it. */
static void
plan_relieve_budget(struct precision_port *ports, size_t n, uint32_t agent, double limit, double full, enum precision_move move,
    uint64_t now_us)
{
	double left = left_of(ports, n, agent, limit);

	if (move != PRECISION_BURST || sum_then(ports, n, agent) > left)
		plan_double_skips(ports, n, agent, full * left, move, now_us);
}

static void
relieve_budgets(struct precision_port *ports, size_t n, const struct precision_budget *budget, enum precision_move move,
    uint64_t now_us)
{
	for (size_t i = 0; budget->agent_per_s > 0 && i < n; i++)
		if (is_first_of_agent(ports, i))
			plan_relieve_budget(ports, n, ports[i].agent, budget->agent_per_s, FULL_AGENT_PART, move, now_us);
	plan_relieve_budget(ports, n, UINT32_MAX, budget->all_per_s, FULL_PART, move, now_us);
}

int
precision_decide(struct precision_port *ports, size_t n, const struct precision_budget *budget, uint64_t now_us)
{
	struct precision_port **by_want = calloc(n + 1, sizeof(struct precision_port *));

	if (!by_want)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		by_want[i] = &ports[i];
		ports[i].move = PRECISION_STAYS;
		assert(ports[i].skip >= 1);
		remember_load(&ports[i], now_us);
	}
	plan_ports(ports, n, by_want, budget, now_us);
	for (size_t i = 0; i < n; i++)
		plan_give_back(&ports[i], now_us);
	relieve_budgets(ports, n, budget, PRECISION_OVER, now_us);
	for (size_t i = 0; i < n; i++)
		make_finer(ports, n, by_want[i], budget, now_us);
	for (size_t i = 0; i < n; i++)
		if (is_planned(&ports[i]))
			ports[i].had_per_s = ports[i].planned_per_s;
	free(by_want);
	return count_moves(ports, n);
}

int
precision_relieve(struct precision_port *ports, size_t n, const struct precision_budget *budget, uint64_t now_us)
{
	for (size_t i = 0; i < n; i++)
		ports[i].move = PRECISION_STAYS;
	relieve_budgets(ports, n, budget, PRECISION_BURST, now_us);
	return count_moves(ports, n);
}
