/*
 * Retention: deletes old data by age and by size, the finest detail first, in steps of a few
 * milliseconds.
 *
 * Ages count from the slowest clock of the agents heard in the last hour, never from the wall
 * clock. So a clock that jumps ahead deletes nothing, and a store of old data is not deleted. (The
 * clock of a device that is years behind stops deletion by age; then only the size limits the
 * store.)
 *
 * A level's windows are deleted only when the next level has them. The range of a level then starts
 * at the start of a window of the next level, so reports can change over from one to the other.
 * Events are deleted together with the days that they belong to.
 *
 * Counters and resources are thinned: where the windows of a level are deleted, only the first and
 * the last row of each window of the next level stay (5 minutes, an hour, a day), and those on both
 * sides of a discontinuity or boot. What a port counted in any range of such windows is unchanged.
 * In the same way gaps between counters within one such window become one.
 *
 * Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_RETENTION_H
#define EASE_COLLECTOR_STORE_RETENTION_H

#include "collector/store/rollup.h"

/* How long data is kept; 0: for ever. */
struct store_retention {
	uint64_t samples_us;
	uint64_t level_us[STORE_N_LEVELS]; /* [0] is not used; 8 d is kept as long as 1 d */
	uint64_t most_octets; /* size of the file, without its write-ahead log and free pages */
};

enum retention_count {
	RETENTION_SAMPLES,
	RETENTION_COUNTERS, /* rows of counters and resources */
	RETENTION_EVENTS,
	RETENTION_SUMS, /* + enum store_level_index: entries of packs */
	RETENTION_N_COUNTS = RETENTION_SUMS + STORE_N_LEVELS,
};

struct retention {
	struct store_retention keep;
	uint64_t deleted[RETENTION_N_COUNTS];
	uint64_t now_us; /* the time from which ages count */
	/* a pass that thins counters: the level whose windows keep their first and last row, the
	 * end of the time, and the port that was done last */
	enum store_level_index thinning; /* 0: no pass */
	uint64_t thin_to_us;
	int64_t agent, if_index;
	bool over_size; /* the store is too large, and nothing is left that may be deleted */
};

/* Deletes some rows within the caller's transaction. Returns 1, 0 if there is nothing to delete, or
 * -EIO. */
int retention_step(struct retention *t, struct rollup *r);

#endif
