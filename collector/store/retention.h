/*
 * What is deleted, by age and by size, the finest detail first, in steps of a few milliseconds.
 *
 * Ages count from the slowest clock of the agents that were heard in the last hour, and never from
 * the wall clock: so no clock that jumps deletes anything, and a store of old data stays as it is.
 * (A device whose clock stands years behind holds everything back; then the size is what limits.)
 * A level's windows go only when the next level has them; a level's range then begins at the start
 * of a window of the next one, so that reports can go over from the one to the other. Events go
 * when the days do that they are of. Counters and resources go along: of those whose minutes (5
 * minutes, hours) are gone, the first and the last of each 5 minutes (hour, day) stay, and those
 * around a discontinuity or boot, so that what a port counted in any range that such windows make
 * up is the same as ever. Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_RETENTION_H
#define EASE_COLLECTOR_STORE_RETENTION_H

#include "collector/store/rollup.h"

/* How long what is kept; 0: for ever. */
struct store_retention {
	uint64_t samples_us;
	uint64_t level_us[STORE_N_LEVELS]; /* the first not used, the last as the one before it */
	uint64_t most_octets; /* of the file, without its write-ahead log and free pages */
};

enum retention_count {
	RETENTION_SAMPLES,
	RETENTION_COUNTERS, /* and rows of resources */
	RETENTION_EVENTS,
	RETENTION_SUMS, /* + enum store_level_index, entries of packs */
	RETENTION_N_COUNTS = RETENTION_SUMS + STORE_N_LEVELS,
};

struct retention {
	struct store_retention keep;
	uint64_t deleted[RETENTION_N_COUNTS];
	uint64_t now_us; /* that ages count from */
	/* thinning: the level whose windows stay, and the port to go on behind */
	enum store_level_index thinning; /* 0: none under way */
	uint64_t thin_to_us;
	int64_t agent, if_index;
	bool over_size; /* and nothing left that may go */
};

/* Deletes a little, within the caller's transaction. 1: did something, 0: nothing to do, -EIO. */
int retention_step(struct retention *t, struct rollup *r);

#endif
