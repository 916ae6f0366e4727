/*
 * Applies a configuration that was read again while the program runs. Options whose row is `live`
 * change; the others keep their value until the next start.
 */
#ifndef EASE_COMMON_OPTIONS_RELOAD_H
#define EASE_COMMON_OPTIONS_RELOAD_H

#include "common/options.h"

/* Called for each option that differs; applied: the new value is in force from now on. */
typedef void options_differ_fn(void *ctx, const struct option_row *row, bool applied);

/* Swaps each value that is applied with its old one, so that the old values stay valid until the
 * caller frees fresh. */
void options_reload(const struct option_row *table, void *config, void *fresh,
    options_differ_fn *differs, void *ctx);

#endif
