/*
 * easecapd --check: what a start with this configuration would find on this machine, beyond the
 * file's own mistakes. Nothing is made or changed.
 */
#ifndef EASE_COLLECTOR_EASECAPD_CHECK_H
#define EASE_COLLECTOR_EASECAPD_CHECK_H

#include "collector/config.h"

#include <stddef.h>

#define EASECAPD_USER "easecapd" /* that it runs as by default */

/* Becomes the user that the collector would run as, and prints a line to standard error for each
 * finding. memory_taken: as in struct collector_arguments. 0, or -EINVAL if the start would fail;
 * what a start only warns of is no error. */
int easecapd_check(const char *file, const struct collector_config *config, size_t memory_taken);

#endif
