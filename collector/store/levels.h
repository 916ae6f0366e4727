/*
 * The levels that sums are kept at, as data, and kinds of parts. Level 0, fresh, is what batches
 * brought and nobody has looked at yet; each further one is made from the one before it. A level's
 * number in the store is its windows' minutes, so a level more is a row more. 8 days are there for
 * speed: reports over months read few rows. They have no pairs, destinations and conversations, of
 * which 8 days have about as many as the days together, and are kept as long as days.
 */
#ifndef EASE_COLLECTOR_STORE_LEVELS_H
#define EASE_COLLECTOR_STORE_LEVELS_H

#include "collector/store/schema.h"

#include <stdbool.h>
#include <stdint.h>

enum store_level_index {
	LEVEL_UNSETTLED,
	LEVEL_1_MIN,
	LEVEL_5_MIN,
	LEVEL_1_H,
	LEVEL_1_D,
	LEVEL_8_D,
	STORE_N_LEVELS,
};

struct store_level {
	const char *name;
	uint32_t minutes;  /* the column part.level */
	uint64_t span_us;  /* of a window; of fresh ones too */
	bool has_singles; /* addresses have parts of their own; else pairs are added up */
	bool is_index;	  /* has those kinds only of which months have few keys */
};

static const struct store_level store_levels[STORE_N_LEVELS] = {
    [LEVEL_UNSETTLED] = {"unsettled", 0, STORE_WINDOW_US, false, false},
    [LEVEL_1_MIN] = {"1 min", 1, STORE_WINDOW_US, false, false},
    [LEVEL_5_MIN] = {"5 min", 5, 5 * (uint64_t)STORE_WINDOW_US, false, false},
    [LEVEL_1_H] = {"1 h", 60, 60 * (uint64_t)STORE_WINDOW_US, false, false},
    [LEVEL_1_D] = {"1 d", 1440, 1440 * (uint64_t)STORE_WINDOW_US, true, false},
    [LEVEL_8_D] = {"8 d", 11520, 11520 * (uint64_t)STORE_WINDOW_US, true, true},
};

/* part.kind: STORE_PART_TOTALS of ports, an enum store_key_kind, one of the following, or
 * STORE_PART_FOLDED + enum store_key_kind: samples without a key. */
enum store_part_kind {
	STORE_PART_TOTALS = 0,
	STORE_PART_ETH_SRC = 8,
	STORE_PART_ETH_DST = 9,
	STORE_PART_IP_SRC = 10,
	STORE_PART_IP_DST = 11,
	STORE_PART_FOLDED = 64,
};

static inline bool
store_level_has(enum store_level_index level, unsigned kind)
{
	return !store_levels[level].is_index ||
	    !(kind == STORE_KEY_ETH_PAIR || kind == STORE_KEY_IP_PAIR ||
		kind == STORE_KEY_CONVERSATION || kind == STORE_PART_ETH_DST ||
		kind == STORE_PART_IP_DST);
}

/* Agents share parts in groups of so many: few rows for a report, and bounded steps of upkeep. */
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
