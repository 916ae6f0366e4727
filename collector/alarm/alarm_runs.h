/*
 * The runs that are open: one for each key whose statistic is above 0 (sequential.h). A key without a run
 * costs nothing, so the number of keys that are watched has no limit. The table has a fixed size, four runs to a line of
 * two neighbouring cache lines: with two, one of some hundred ports met two others by chance once in a hundred starts.
 * Where a line is full the run with the least statistic goes, which costs delay and never raises an alarm; so what somebody sends from many invented addresses, each with a sample or two, cannot
 * push out the run of a flood. Used by one thread.
 */
#ifndef EASE_COLLECTOR_ALARM_ALARM_RUNS_H
#define EASE_COLLECTOR_ALARM_ALARM_RUNS_H

#include "collector/alarm/sequential.h"

#include <stdbool.h>
#include <stdint.h>

enum { ALARM_RUN_SKIPS = 256 };

struct alarm_run {
	uint64_t tag;	  /* hash of rule, port and key; 0: a free place */
	uint32_t last_ms; /* when the statistic was right, by a clock of the table's user */
	/* The skips of the run (sequential.h), in parts of a doubling. */
	uint16_t reference, largest;
	float statistic[ALARM_TILTS];
};
_Static_assert(sizeof(struct alarm_run) == 32, "two runs are a cache line");

struct alarm_runs {
	struct alarm_run *runs;
	uint64_t mask; /* of lines */
};

enum { ALARM_RUNS = 131072 };

/* Allocates the table. 0 or -ENOMEM. */
int alarm_runs_init(struct alarm_runs *r);
void alarm_runs_free(struct alarm_runs *r);

/* Returns the run of that tag (not 0); a new one begins with a statistic of 0. drift and now_ms are those of the
 * newcomer: by them the runs of its line are compared. *pushed: a run that was not at its end had to go. */
struct alarm_run *alarm_runs_find(struct alarm_runs *r, uint64_t tag, uint32_t now_ms, float drift, bool *pushed);

#endif
