/*
 * How many agents and ports of one source the store keeps: as many as there are places for in memory, and no
 * more than what takes an eighth of store_size; of all sources together, four times that. Beyond it those that
 * were silent for longest are forgotten, of the source that has most: no other source pays. A source is what an
 * agent is bound to (window/agent_identity.h), as in memory (lru_table.h); of an agent that is not bound, its
 * address.
 *
 * What was heard within the last quarter of an hour stays in any case. So nothing leaves that is in use: the
 * memory has no more of a source than this, and has those that were heard last.
 *
 * Rows are counted when a sixteenth of the number is new, so it is exceeded by that much for a while. Of an agent
 * all rows go, of a port what tells of it (accounts, states, counters, error sources). Sums of them stay until
 * their time is deleted, and no report has them (forget.h). Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_SOURCE_LIMITS_H
#define EASE_COLLECTOR_STORE_SOURCE_LIMITS_H

#include "collector/store/rollup.h"

enum source_limits_table { SOURCE_LIMITS_PORTS, SOURCE_LIMITS_AGENTS, SOURCE_LIMITS_N };

struct source_limits {
	uint64_t most[SOURCE_LIMITS_N]; /* of one source; 0: any number */
	uint64_t added[SOURCE_LIMITS_N]; /* written since rows were counted; some may be no new ones */
	int64_t newest_agent;
};

/* Sets the numbers from the places in memory, 0: any number; and from the size of the store, 0: any. */
void source_limits_set(struct source_limits *l, uint64_t agents, uint64_t ports, uint64_t most_octets);

/* Note a row that is written. */
static inline void
source_limits_note_agent(struct source_limits *l, int64_t number)
{
	if (number <= l->newest_agent)
		return;
	l->added[SOURCE_LIMITS_AGENTS] += (uint64_t)(number - l->newest_agent); /* numbers are given one by one */
	l->newest_agent = number;
}
static inline void
source_limits_note_port(struct source_limits *l)
{
	l->added[SOURCE_LIMITS_PORTS]++;
}

/* Forgets some agents or ports beyond the numbers, within the caller's transaction. Adds to *forgotten how many.
 * Returns 1, 0 if there is nothing to forget, or -EIO. */
int source_limits_step(struct source_limits *l, struct rollup *r, uint64_t *forgotten);

#endif
