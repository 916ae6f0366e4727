/*
 * Simulated days under the controller: ports of several agents whose loads step, follow the day and are noisy, with lists
 * of some hundred talkers. Samples are drawn, and limits printed by the project's own estimates; the truth is what the
 * simulation sent.
 */
#ifndef EASE_TESTS_PRECISION_DAYS_H
#define EASE_TESTS_PRECISION_DAYS_H

#include "collector/precision/demand.h"
#include "collector/precision/plan.h"

#include <stdint.h>

enum { DAYS_PORTS = 48, DAYS_AGENTS = 4, DAYS_KEYS = 300 };

struct days_options {
	uint64_t seed;
	unsigned periods;
	struct precision_goal goal;
	struct precision_budget budget;
	double steps_an_hour;	/* of a port; 0: a steady load */
	double noise;		/* of a period's load, relative */
	bool all_step_at_once;	/* all ports together: x 100, x 0.01, x 100 */
};

/* Rows of lists: how many there were, and how many missed on which side. */
struct days_rows {
	uint64_t n, low_missed, high_missed;
};

struct days_result {
	struct days_rows all, moved;	     /* moved: of periods in which the port's skip changed */
	uint64_t asked, met;		     /* rows of ports that are not cut, from the second whole period after a step on */
	uint64_t said_met, within;	     /* rows whose printed limits say so, and whose truth is */
	uint64_t ports_met, ports_asked;     /* ports of which all rows are met */
	uint64_t sets, back; /* back: up and then down, or the reverse, within two periods without a step */
	unsigned most_sets; /* of a port within an hour */
	unsigned over, longest_over;	     /* periods above the budget, and the most of them in a row */
	double worst_slot, worst_period;     /* of the budget */
	unsigned slots_over;		     /* in a row, of 10 s by the mean of 30 s */
	double used_per_s;		     /* mean */
	double cut_ratio;		     /* width reached by that promised, of ports that are cut: mean */
	uint64_t n_cut;
	double hours;
};

void days_run(const struct days_options *options, struct days_result *result);

/* A random number from 0 to 1, and one of the standard normal distribution. */
double days_uniform(uint64_t *state);
double days_normal(uint64_t *state);
/* Of n frames, how many are sampled at a mean skip. */
uint64_t days_sampled(uint64_t *state, uint64_t n, double skip);

#endif
