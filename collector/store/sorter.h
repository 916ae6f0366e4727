/*
 * Accepts entries in any order, sorts them in pieces of bounded size, and writes each piece as a
 * chain. Inside the store room.
 */
#ifndef EASE_COLLECTOR_STORE_SORTER_H
#define EASE_COLLECTOR_STORE_SORTER_H

#include "collector/store/parts.h"

struct sorter;

/* Takes some 5 MB; returns NULL without memory. */
struct sorter *sorter_new(void);
void sorter_free(struct sorter *sorter);

/* Used like parts_begin, parts_add (with PACK_SINGLE values) and parts_end. */
void sorter_begin(struct sorter *sorter, struct parts *parts, const struct place *place);
int sorter_add(struct sorter *sorter, const struct pack_key *key, const double *values);
int sorter_end(struct sorter *sorter);

#endif
