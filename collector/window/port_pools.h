/*
 * When a port's packets passed, from the pools of its samples: each sample carries a count of packets,
 * so it is a snapshot of packets alone. Between two snapshots of a port's counters the samples tell how
 * much of the difference belongs to which minute. Of a direction and of the time since the last
 * snapshot the first and the last sample of each minute are kept, as the others say nothing about the
 * ends of minutes. No input but the arguments.
 */
#ifndef EASE_COLLECTOR_WINDOW_PORT_POOLS_H
#define EASE_COLLECTOR_WINDOW_PORT_POOLS_H

#include "collector/store/schema.h"

#include <stdbool.h>
#include <stdint.h>

/* Enough for counters that come every five minutes. When there are more, the oldest are forgotten. */
enum { PORT_POOLS_POINTS = 14 };

struct port_pools_point {
	uint64_t time_us, pool;
};

/* Of one direction of a port. Zero is empty. */
struct port_pools {
	/* The pool is the very counter that snapshots have (EASE), and not only a like one (sFlow). */
	bool is_counter;
	uint32_t n, n_fixed; /* the points from n_fixed on may be replaced by a later one */
	uint64_t minute_end_us; /* of the newest point */
	struct port_pools_point at[PORT_POOLS_POINTS]; /* times and pools ascending */
};

/* For port_pools_note: a sample that does not replace the one before. */
void port_pools_append(struct port_pools *p, uint64_t time_us, uint64_t pool);

/* Notes a sample's pool. Left out is one that is older than another, or whose pool is lower. */
static inline void
port_pools_note(struct port_pools *p, uint64_t time_us, uint64_t pool)
{
	if (p->n == p->n_fixed || time_us >= p->minute_end_us)
		port_pools_append(p, time_us, pool);
	else if (time_us > p->at[p->n - 1].time_us && pool >= p->at[p->n - 1].pool)
		p->at[p->n - 1] = (struct port_pools_point){time_us, pool};
}

/* Returns which part of the packets that passed between two snapshots passed before at_us, 0..1; below 0
 * where no sample tells. The pools are those of the snapshots. */
double port_pools_part(const struct port_pools *p, const struct port_pools_point *from,
    const struct port_pools_point *to, uint64_t at_us);

/* Forgets the samples from before a snapshot, but for the last one, which tells the pool at it. */
void port_pools_begin_at(struct port_pools *p, uint64_t time_us);

#endif
