/*
 * Entries in any order, sorted in pieces of bounded size, each written as a chain. Inside the store
 * room.
 */
#ifndef EASE_COLLECTOR_STORE_SORTER_H
#define EASE_COLLECTOR_STORE_SORTER_H

#include "collector/store/parts.h"

struct sorter;

/* NULL without memory: some 5 MB. */
struct sorter *sorter_new(void);
void sorter_free(struct sorter *sorter);

/* As parts_begin, parts_add (PACK_SINGLE values) and parts_end. */
void sorter_begin(struct sorter *sorter, struct parts *parts, const struct place *place);
int sorter_add(struct sorter *sorter, const struct pack_key *key, const double *values);
int sorter_end(struct sorter *sorter);

#endif
