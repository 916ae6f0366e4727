/*
 * Records that become one row of the store each, with nothing counted from them: addresses,
 * sources of bad frames, and what else a device counts.
 */
#ifndef EASE_COLLECTOR_WINDOW_ROWS_H
#define EASE_COLLECTOR_WINDOW_ROWS_H

#include "collector/record.h"
#include "collector/store/batch.h"

/* Adds the row of a record of that agent (the store's number). False if there is no room. */
bool rows_add(struct store_batch *batch, int64_t agent, const struct ease_record *record);

#endif
