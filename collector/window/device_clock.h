/*
 * Whether an agent's clock goes on as it did: by device time and time of reception of its records.
 * How far the two are apart is the agent's own matter, 1970 for a switch without a clock; but it
 * stays the same, give or take what clocks drift. If it changes by more than a day, the clock was
 * set. That is believed of each boot's first record, and DEVICE_CLOCK_SETS times in
 * DEVICE_CLOCK_SET_EVERY_US (a replayed capture may skip years more than once); a record of any other time
 * is refused. So whoever forges times cannot open a window in each minute of a
 * year. No input but the arguments.
 */
#ifndef EASE_COLLECTOR_WINDOW_DEVICE_CLOCK_H
#define EASE_COLLECTOR_WINDOW_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define DEVICE_CLOCK_MOST_US	  86400000000ull
#define DEVICE_CLOCK_SET_EVERY_US 600000000ull
enum { DEVICE_CLOCK_SETS = 4 };

struct device_clock {
	uint32_t boot;
	/* Times of a record of this boot, and of one of the boot before, by which others are
	 * judged; received_us 0: none. */
	struct device_clock_mark {
		uint64_t time_us, received_us;
	} now, before;
	uint64_t set_us; /* when it was set first in that time, by the collector's clock; 0: not in this run */
	uint32_t sets;
};

enum device_clock_verdict {
	DEVICE_CLOCK_RUNS,
	DEVICE_CLOCK_SET,  /* the record has the new time of a clock that was set */
	DEVICE_CLOCK_AWAY, /* the record is to be refused */
};

/* Begins with a record that was accepted before. received_us 0: none was. */
void device_clock_begin(
    struct device_clock *c, uint32_t boot, uint64_t time_us, uint64_t received_us);

/* Judges a record by the agent's boot, its device time and its time of reception. */
enum device_clock_verdict device_clock_follow(
    struct device_clock *c, uint32_t boot, uint64_t time_us, uint64_t received_us);

#endif
