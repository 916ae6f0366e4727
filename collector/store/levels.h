/*
 * The levels at which sums are kept, as data.
 *
 * Level 0, unsettled, is what batches wrote and upkeep has not processed yet. Each further level is
 * made from the one before it (rollup.h). In the store a level is named by the minutes of its
 * windows, so adding a level is adding a row here. The level of 8 days is for speed: reports over
 * months read few rows. It has no pairs, destinations, conversations and connections, because 8 days have about
 * as many of these as the 8 single days together, and it is kept as long as the days.
 */
#ifndef EASE_COLLECTOR_STORE_LEVELS_H
#define EASE_COLLECTOR_STORE_LEVELS_H

#include "collector/store/key_layout.h"

enum store_level_index {
	LEVEL_UNSETTLED,
	LEVEL_1_MIN,
	LEVEL_5_MIN,
	LEVEL_1_H,
	LEVEL_1_D,
	LEVEL_8_D,
	STORE_N_LEVELS,
};

/* Counters are thinned to those of such steps after ten minutes, and to those of windows after an hour more: reports
 * of the last hour can have steps within windows. */
#define STORE_COUNTERS_STEP_US 10000000ull
#define STORE_COUNTERS_FINE_US 3600000000ull

#define STORE_DAY_US (1440 * (uint64_t)STORE_WINDOW_US)

struct store_level {
	const char *name;
	uint32_t minutes;  /* the column part.level */
	uint64_t span_us; /* of a window */
	bool has_singles; /* addresses have parts of their own; otherwise reports add up pairs */
	bool is_index;	  /* has only the kinds of which months have few keys */
	/* The time of a partition of the cluster's tables, so that each level has a handful of them; 0: the cluster
	 * has no such level. */
	uint64_t partition_us;
};

static const struct store_level store_levels[STORE_N_LEVELS] = {
    [LEVEL_UNSETTLED] = {"unsettled", 0, STORE_WINDOW_US, false, false, 0},
    [LEVEL_1_MIN] = {"1 min", 1, STORE_WINDOW_US, false, false, STORE_DAY_US},
    [LEVEL_5_MIN] = {"5 min", 5, 5 * (uint64_t)STORE_WINDOW_US, false, false, 7 * STORE_DAY_US},
    [LEVEL_1_H] = {"1 h", 60, 60 * (uint64_t)STORE_WINDOW_US, false, false, 30 * STORE_DAY_US},
    [LEVEL_1_D] = {"1 d", 1440, STORE_DAY_US, true, false, 360 * STORE_DAY_US},
    [LEVEL_8_D] = {"8 d", 11520, 8 * STORE_DAY_US, true, true, 0},
};

/* Whether a level has parts of a kind. */
static inline bool
store_level_has(enum store_level_index level, unsigned kind)
{
	const struct key_single *single = key_single_of(kind);
	const struct key_layout *layout = key_layout_of(kind);

	if (single)
		return store_levels[level].has_singles && !(single->has_many && store_levels[level].is_index);
	return !(layout && layout->has_many && store_levels[level].is_index);
}

/* A shard is a group of so many agents, which share parts. A report then reads few rows, and each
 * step of upkeep has a bounded size. */
enum { STORE_SHARD_AGENTS = 16 };

static inline uint32_t
store_shard(int64_t agent)
{
	return (uint32_t)agent / STORE_SHARD_AGENTS;
}

static inline uint64_t
store_window_start(uint64_t time_us, uint64_t span_us)
{
	return time_us - time_us % span_us;
}

#endif
