/*
 * Rows of the store that nothing is summed from: one of each sample, and of each record that tells
 * of an address, a source of bad frames, or what else a device counts.
 */
#ifndef EASE_COLLECTOR_WINDOW_RECORD_ROWS_H
#define EASE_COLLECTOR_WINDOW_RECORD_ROWS_H

#include "collector/record.h"
#include "collector/store/batch.h"

/* Adds the row of a record of that agent (the store's number). False if there is no room. */
bool record_rows_add(struct store_batch *batch, int64_t agent, const struct ease_record *record);

/* The same of a sample, which stands for so many; keys are of its header. */
bool record_rows_add_sample(struct store_batch *batch, int64_t agent, uint32_t boot,
    const struct ease_sample *sample, const struct frame_keys *keys, uint32_t stands_for);

#endif
