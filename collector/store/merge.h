/*
 * Merges chains of packs: returns their entries in the order of their keys, with the entries of one
 * key added up. One pack of each chain is in memory at a time. Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_MERGE_H
#define EASE_COLLECTOR_STORE_MERGE_H

#include "collector/store/parts.h"

struct merge;

/* Borrows the list until merge_close. A damaged row is skipped, counted in parts->damaged and
 * logged. Returns 0, -ENOMEM or -EIO. */
int merge_open(struct merge **out, struct parts *parts, const struct part_list *list);

/* Reads the next key and its PACK_COLUMNS sums. Returns 1, 0 at the end, or an error as above. */
int merge_next(struct merge *merge, struct pack_key *key, double *values);

void merge_close(struct merge *merge);

#endif
