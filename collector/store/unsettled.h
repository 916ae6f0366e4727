/*
 * Writes a batch's sums. Its rows of windows, keys, window ports and folded samples become
 * unsettled parts, one chain for each window, kind and shard. Nothing that is already in the store
 * is read or changed for this, so the time it takes depends on the batch alone. Upkeep merges these
 * parts later (rollup.h). Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_UNSETTLED_H
#define EASE_COLLECTOR_STORE_UNSETTLED_H

#include "collector/store/batch.h"
#include "collector/store/parts.h"

struct unsettled;

/* Allocates memory to sort batches of so many rows. Returns 0 or -ENOMEM. */
int unsettled_new(struct unsettled **out, const struct store_room room[STORE_N_TABLES]);
void unsettled_free(struct unsettled *unsettled);

/* Writes all rows of the four tables. Returns 0 or -EIO. */
int unsettled_write(struct unsettled *unsettled, struct parts *parts, const struct store_batch *batch);

#endif
