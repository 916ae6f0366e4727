/*
 * How many samples of a port it takes until the rows that a goal asks for are as exact as it wants: pure functions of
 * what the port's list of the period before showed; limits are those of lists (estimate_list.h). In octets a row takes
 * more samples, by how much the lengths of its frames differ: its own limits say it.
 */
#ifndef EASE_COLLECTOR_PRECISION_DEMAND_H
#define EASE_COLLECTOR_PRECISION_DEMAND_H

#include "collector/precision/goal.h"

/* A row of a list, the largest first. */
struct precision_row {
	double share; /* of the list's frames, or of its octets where the goal is in octets */
	double samples;
	double low, high; /* limits, as a part of the figure: 0.9 and 1.12; both 1: it is exact */
	/* In octets: its share of the frames, and the width of its limits by that of frames. 0: the goal is in frames. */
	double pkts_share, widths;
};

struct precision_list {
	const struct precision_row *rows; /* as many as there are of those that a goal can ask for */
	size_t n_rows;
	size_t n_keys; /* of the whole list */
	double pkts, samples; /* of all that is listed, in the period */
};

/* Samples at first, and the most that are asked for: rows that are equal cannot be told apart. */
#define PRECISION_FIRST_DEMAND 40000.0
#define PRECISION_MOST_DEMAND  4e6
/* So many samples more are taken than are needed: traffic changes, and shares are estimates. */
#define PRECISION_MARGIN 1.5

/* Samples of a key until its limits are within width, if the lower one is z standard errors away. */
double precision_samples_of_key(double width, double z);

/* How many standard errors the lower limit of row i (from 1) of a list of n_keys is away. */
double precision_low_z(size_t i, size_t n_keys);

/* Samples of the port in a period. before: what this said the period before; 0: there was none. */
double precision_demand(const struct precision_goal *goal, const struct precision_list *list, double before);

/* Whether goal asks for row i (from 0) of the list. */
bool precision_is_asked(const struct precision_goal *goal, const struct precision_list *list, size_t i);

/* The width of the widest row that goal asks for; 0: it asks for none that there is. */
double precision_reached(const struct precision_goal *goal, const struct precision_list *list);

/* A list of all ports together: the largest skip with which all rows are within width, where the list has so many
 * frames as it had. INFINITY: there is no such row. */
double precision_pooled_skip(const struct precision_goal *goal, const struct precision_list *list);

#endif
