/*
 * Time, which tests can stop and step.
 *
 * A struct clock is passed to whatever needs to know the time; nobody else calls the system
 * clock. The system clock gives wall time (microseconds since 1970, UTC, may step) and monotonic
 * time (microseconds since some start, never steps back). A manual clock gives what a test set.
 * A device has a clock of its own beside these (hal_now_us): an emulated board runs in the time
 * of its capture.
 */
#ifndef EASE_COMMON_CLOCK_H
#define EASE_COMMON_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock {
	bool manual;
	uint64_t manual_wall_us; /* used only when manual */
	uint64_t manual_mono_us;
};

/* The system's clocks. */
extern const struct clock clock_system;

uint64_t clock_wall_us(const struct clock *c);
uint64_t clock_mono_us(const struct clock *c);

/* Moves both times of a manual clock forward by us, while other threads may read it. */
void clock_step_us(struct clock *c, uint64_t us);

/* RFC 3339 in UTC with seconds, e.g. 2026-11-21T14:05:00Z; fractions only when not zero, cut to
 * microseconds without trailing zeros. Writes at most size octets with the NUL; 32 are enough. */
enum { CLOCK_RFC3339_MAX = 32 };
void clock_format_rfc3339(uint64_t wall_us, char *text, size_t size);

/* The inverse, with Z or a numeric offset; a bare date means its midnight UTC. 0 or -EINVAL. */
int clock_parse_rfc3339(const char *text, uint64_t *wall_us);

#endif
