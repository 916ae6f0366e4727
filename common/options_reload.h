/*
 * A configuration read again while the program runs: what changed, row by row. Values of rows that
 * are `live` are taken over; the others are as they were until the next start.
 */
#ifndef EASE_COMMON_OPTIONS_RELOAD_H
#define EASE_COMMON_OPTIONS_RELOAD_H

#include "common/options.h"

/* Told of each option that differs; taken: it is in force from now on. */
typedef void options_differ_fn(void *ctx, const struct option_row *row, bool taken);

/* What is taken and what was there before change places, so that whoever still uses the latter may
 * do so until the caller frees fresh. */
void options_reload(const struct option_row *table, void *config, void *fresh,
    options_differ_fn *differs, void *ctx);

#endif
