/*
 * Who is told of each sample that counts, in the order of arrival and once: the alarms (collector/alarm).
 * A duplicate or a sample of an agent that is not believed is not told. Called by the accounting's thread,
 * for each sample, so it must be quick and must not block.
 */
#ifndef EASE_COLLECTOR_WINDOW_SAMPLE_WATCH_H
#define EASE_COLLECTOR_WINDOW_SAMPLE_WATCH_H

#include "common/frame.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct watched_sample {
	const struct ease_sample *sample; /* time_us: as the accounting believes it (device_clock.h) */
	const struct frame_keys *keys;
	int64_t agent;	      /* its number in the store */
	uint32_t place;	      /* of the port in memory, below the limit of ports; another port may have it later */
	uint64_t speed_bps;   /* 0: not known */
	bool is_edge;	      /* a port to hosts, not to another switch */
	bool pool_is_counter; /* the sample's pool was counted, not reckoned from samples */
	uint64_t missing;     /* samples of the port that were found missing with this one */
	uint64_t mono_us;     /* the collector's clock, as it came */
};

struct sample_watch {
	void (*sample)(void *arg, const struct watched_sample *s); /* NULL: nobody */
	void (*heard)(void *arg, int64_t agent, uint64_t if_index, uint32_t place, uint64_t mono_us); /* counters came */
	void *arg;
};

#endif
