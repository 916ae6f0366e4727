/*
 * Writing a batch's sums: its rows of windows, keys, numbers and samples without a key become
 * fresh parts, one chain for each window, kind and shard. Nothing that is in the store is read or
 * changed for it, so the time this takes depends on the batch alone. Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_UNSETTLED_H
#define EASE_COLLECTOR_STORE_UNSETTLED_H

#include "collector/store/batch.h"
#include "collector/store/parts.h"

struct unsettled;

/* Room for batches of so many rows. 0 or -ENOMEM. */
int unsettled_new(struct unsettled **out, const struct store_room room[STORE_N_TABLES]);
void unsettled_free(struct unsettled *unsettled);

/* Writes all rows of the four tables. 0 or -EIO. */
int unsettled_write(
    struct unsettled *unsettled, struct parts *parts, const struct store_batch *batch);

#endif
