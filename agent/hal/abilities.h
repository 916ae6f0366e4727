/*
 * One screen about a device, for --check: what it counts, samples and tells, at how many of its ports, and why not at the
 * others. Any number of ports make the same few lines, none longer than ABILITIES_COLUMNS.
 *
 * Most of it is what the facets of hal_provider.h say. What only the driver knows (reasons, packets dropped) it passes.
 */
#ifndef EASE_AGENT_HAL_ABILITIES_H
#define EASE_AGENT_HAL_ABILITIES_H

#include "agent/hal/hal_provider.h"

#include <stdio.h>

enum { ABILITIES_COLUMNS = 80, ABILITIES_WHY_MAX = 34 }; /* longer reasons are cut */

/* Reasons are borrowed; NULL: none is known. */
struct abilities_told {
	const char *not_counted, *not_sampled, *no_transceivers;
	bool drops, delays;
	const char *about_drops, *about_delays; /* why not, or on what it depends */
};

/* Of a device that was created and need not be started. Reads each port's counters once. */
void abilities_print(const struct hal_device *device, const struct abilities_told *told, FILE *out);

/* A line more: so many of so many, and why not all. section: what stands before its first line, else "". */
void abilities_row(FILE *out, const char *section, const char *what, size_t n, size_t of, const char *why);

#endif
