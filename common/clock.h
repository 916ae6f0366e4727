/*
 * Clocks, which tests can stop and step.
 *
 * Code that needs the time is passed a struct clock and does not call the system itself. The
 * system clock gives wall time (microseconds since 1970, UTC, may step) and monotonic time
 * (microseconds since some start, never steps back). A manual clock gives what a test has set. A
 * device has a clock of its own (hal_now_us): an emulated board runs in the time of its capture.
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

/* Moves both times of a manual clock forward. Other threads may read it meanwhile. */
void clock_step_us(struct clock *c, uint64_t us);

/* Writes RFC 3339 in UTC, e.g. 2026-11-21T14:05:00Z. A fraction is written if it is not zero, in
 * microseconds without trailing zeros. Writes at most size octets with the NUL. */
enum { CLOCK_RFC3339_MAX = 32 };
void clock_format_rfc3339(uint64_t wall_us, char *text, size_t size);

/* The same with six digits always, so that texts are in the order of their times. */
void clock_format_rfc3339_us(uint64_t wall_us, char *text, size_t size);

/* Reads RFC 3339 with Z or a numeric offset; a date alone is its midnight, UTC. 0 or -EINVAL. */
int clock_parse_rfc3339(const char *text, uint64_t *wall_us);

#endif
