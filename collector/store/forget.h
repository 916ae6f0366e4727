/*
 * Forgetting: what the store knows of agents and ports that have long been silent is deleted once their
 * figures are (retention.h), and of one agent by hand (store.h). The number of an agent is not given to
 * another one (life.last_agent), because sums may be left; reports leave out sums of agents and ports that
 * they do not find. source_limits.h forgets what a source has too many of. Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_FORGET_H
#define EASE_COLLECTOR_STORE_FORGET_H

#include "collector/store/rollup.h"

/* What is to be forgotten is named in temp.forgotten (agent, if_index), which this makes, empty. */
int forget_nothing(struct rollup *r);

/* Delete some or all rows of these ports, or of these agents, and the agents once no other row is left. Within the
 * caller's transaction. Return how many ports or agents are forgotten, 0 if rows of them are left, or -EIO. */
int forget_chosen_ports(struct rollup *r);
int forget_chosen_agents(struct rollup *r);

/* Forgets some ports that were silent for silent_us when the newest record came, and of which nothing is from
 * before_us on; then agents without ports. Within the caller's transaction. Adds to *rows the rows deleted.
 * Returns 1, 0 if there is nothing to forget, or -EIO. */
int forget_silent(struct rollup *r, uint64_t before_us, uint64_t silent_us, uint64_t *rows);

#endif
