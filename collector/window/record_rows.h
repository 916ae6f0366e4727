/*
 * Rows of the store that are written as they arrive, without being summed: one for each sample, and
 * one for each record of an address, a source of bad frames, or a device's energy and buffers.
 */
#ifndef EASE_COLLECTOR_WINDOW_RECORD_ROWS_H
#define EASE_COLLECTOR_WINDOW_RECORD_ROWS_H

#include "collector/record.h"
#include "collector/store/batch.h"

/* Adds the row of a record of that agent (the store's number). Returns false without room. */
bool record_rows_add(struct store_batch *batch, int64_t agent, const struct ease_record *record);

/* Adds the row of the sample of a record, which stands for so many samples (sample_thinning.h). keys were parsed
 * from its header. Returns false without room. */
bool record_rows_add_sample(struct store_batch *batch, int64_t agent, const struct ease_record *record,
    const struct frame_keys *keys, uint32_t stands_for);

#endif
