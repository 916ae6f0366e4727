/*
 * Merging chains of packs: their entries in the order of their keys, those of one key added up.
 * One pack of each chain is in memory at a time. Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_MERGE_H
#define EASE_COLLECTOR_STORE_MERGE_H

#include "collector/store/parts.h"

struct merge;

/* The list is borrowed as long as the merge runs. A damaged row is passed over, counted in
 * parts->damaged and told in the log. 0, -ENOMEM or -EIO. */
int merge_open(struct merge **out, struct parts *parts, const struct part_list *list);

/* The next key and its sums, PACK_COLUMNS of them. 1, 0 at the end, or an error as above. */
int merge_next(struct merge *merge, struct pack_key *key, double *values);

void merge_close(struct merge *merge);

#endif
