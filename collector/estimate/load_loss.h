/*
 * Whether more samples are lost when more passes: by the numbers given out, those that are missing and the load, cell
 * by cell of a range (minutes, or whatever is known). Where it is so, figures of busy times are too low, and nothing in
 * the samples that arrived tells it. Pure functions, no I/O.
 *
 * Losses come in runs and at times, so single numbers are no trials: what is judged is whether the cells with more
 * load than those around them lose a larger part, over again and again; one outage, however long, is no proof.
 */
#ifndef EASE_COLLECTOR_LOAD_LOSS_H
#define EASE_COLLECTOR_LOAD_LOSS_H

#include <stdbool.h>
#include <stddef.h>

/* One after the other. The load is known by other means than the numbers: counters. Of several ports `lost` may be less
 * than 0, where it is reckoned as if all lost alike. */
struct load_loss_cell {
	double expected, lost, load;
};

enum { LOAD_LOSS_CELLS_MIN = 16 }; /* fewer tell nothing */

struct load_loss {
	bool told;
	double quiet, busy; /* part lost in the cells with less load than those around them, and with more */
};

/* told is wrong with a probability of `error` at most. 0 or -ENOMEM. */
int load_loss_judge(const struct load_loss_cell *cells, size_t n, double error, struct load_loss *result);

#endif
