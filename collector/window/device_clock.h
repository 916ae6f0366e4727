/*
 * How far an agent's clock is from the collector's, and whether its records are stamped anew for it.
 *
 * A clock within the tolerance is believed: records keep their own times, which are better than times of
 * reception. Beyond it, the agent's offset is added to each of its times, so that what lies between them
 * stays exactly what the device measured. The offset is the running median of reception less device time,
 * from the first record of each DEVICE_CLOCK_EVERY_US; it changes in steps, and only when the clock has
 * drifted by a quarter of the tolerance. (So stamps are later than the truth by what records usually take,
 * some 10 ms.)
 *
 * A record whose time is far from the agent's others is stamped by reception at once, with an offset of its
 * own; records that go on with that are stamped alike, and when DEVICE_CLOCK_SURE of them have, the clock was
 * set: the offset is the agent's. One forged record therefore changes no other.
 *
 * Records that are late but in order keep their place: an agent keeps its notifications while snmpd is away.
 * They follow the newest record that was heard, so in the name of an agent that is heard now nobody can fill
 * earlier times; only when they stay equally late for DEVICE_CLOCK_LATE_SURE_US the clock was set back.
 *
 * Whatever a device says, its data is thus stamped between the newest that was heard of it (a day at most) and
 * twice the tolerance after reception, and nobody else's range, retention or silence depends on its clock. No
 * input but the arguments; 96 octets an agent.
 */
#ifndef EASE_COLLECTOR_WINDOW_DEVICE_CLOCK_H
#define EASE_COLLECTOR_WINDOW_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define DEVICE_CLOCK_EVERY_US  10000000ull
#define DEVICE_CLOCK_LATE_US   86400000000ull
/* A clock that was set is believed after so long, or so long if its records may be late, and after so many. */
#define DEVICE_CLOCK_SURE_US	  5000000ull
#define DEVICE_CLOCK_LATE_SURE_US 60000000ull
enum { DEVICE_CLOCK_SURE = 8 };
enum { DEVICE_CLOCK_VALUES = 5 };	  /* of which the median is taken */

struct device_clock {
	bool known; /* a record came, or the store has the agent */
	int64_t offset_us; /* what is added to the agent's times; 0: they are right */
	uint64_t newest_us; /* the newest of its stamped times that agreed with the offset */
	struct device_clock_other { /* an offset that the newest record of another time had */
		int64_t offset_us;
		uint64_t since_us; /* monotonic; when the first record agreed with it */
		uint32_t n;	   /* records that have; 0: no such offset */
	} other;
	uint64_t noted_us; /* monotonic; when the newest value was noted */
	uint32_t n;	   /* values noted, of which the last are kept: */
	int32_t values_us[DEVICE_CLOCK_VALUES]; /* how far records were from the offset */
};

/* When a notification came, by the collector's clocks. */
struct device_clock_arrival {
	uint64_t received_us, mono_us;
	/* The same by a wall clock that goes on as the collector's did before it was set; 0: it was not
	 * set lately. A device that agrees with that is believed, too: it may be ours that is wrong. */
	uint64_t as_before_us;
	uint64_t tolerance_us; /* 0: every clock is believed */
};

/* Goes on with an agent's clock as the store has it. newest_us: its newest time, stamped. */
void device_clock_resume(struct device_clock *c, int64_t offset_us, uint64_t newest_us);

/* Returns what is to be added to the times of a notification whose newest time is time_us. */
int64_t device_clock_judge(struct device_clock *c, const struct device_clock_arrival *at, uint64_t time_us);

#endif
