/*
 * When a port's packets passed, and how long they were, from its samples: what stands between two snapshots of the
 * port's counters is divided among minutes as they tell. Where a sample carries a count of packets (a pool), it is a
 * snapshot of packets alone; else the samples' weights say when packets passed. Octets are divided as the sampled
 * frames of each stretch were long.
 *
 * Of a direction the sums at the last snapshot and at the ends of minutes since then are kept, interpolated between
 * the samples around, as others say nothing about these. No input but the arguments.
 */
#ifndef EASE_COLLECTOR_WINDOW_PORT_POOLS_H
#define EASE_COLLECTOR_WINDOW_PORT_POOLS_H

#include "collector/store/levels.h"
#include "collector/store/schema.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for counters that come every twelve minutes. When there are more, the oldest are forgotten. */
enum { PORT_POOLS_POINTS = 14 };

#define PORT_POOLS_BREAK_US (2 * STORE_WINDOW_US)
/* Since a snapshot; then all is forgotten. */
#define PORT_POOLS_LONGEST_US (UINT32_MAX - STORE_WINDOW_US)

/* Sums until a sample, itself included, since the base. */
struct port_pools_point {
	uint32_t us;
	float pool; /* packets that passed; of samples without a pool: those that they and lost ones stand for */
	float pkts, octets, lost_pkts; /* that the samples stand for, and lost ones before them */
};

/* Of one direction of a port. Zero is empty. */
struct port_pools {
	/* The pool is the very counter that snapshots have (EASE), and not only a like one (sFlow). */
	bool is_counter;
	bool is_counted; /* samples have a pool */
	bool is_begun;	 /* a snapshot came after the newest point, at end_us */
	bool is_cut;	 /* end_us lies between the two newest points, as no more samples of the newest time may come */
	bool is_broken; /* since the last snapshot no sample came for PORT_POOLS_BREAK_US: what passed then none tells */
	uint8_t n, n_fixed; /* the points from n_fixed on may be replaced by a later one */
	uint32_t end_us; /* since the base: of the newest point's minute, if it is nothing else */
	float weight;	 /* of the newest sample: so many packets may follow it unseen */
	float lost;	 /* samples before the next one, which says for how many packets they stood */
	uint64_t base_us, base_pool;
	struct port_pools_point at[PORT_POOLS_POINTS]; /* all ascending */
};

/* For port_pools_note: a sample that does not replace the one before. */
void port_pools_append(struct port_pools *p, const struct port_pools_point *point);
void port_pools_begin_anew(struct port_pools *p, uint64_t time_us, uint64_t pool);

/* Notes a sample of that weight; pool: EASE_COUNT_UNKNOWN where it has none. One that is older than another is as if
 * it came with that. A pool that is lower than another begins anew. */
static inline void
port_pools_note(struct port_pools *p, uint64_t time_us, uint64_t pool, uint32_t weight, uint32_t octets)
{
	bool is_counted = pool != EASE_COUNT_UNKNOWN;
	struct port_pools_point point, *last;
	float lost_pkts = (float)weight * p->lost;

	if (p->n == 0 || is_counted != p->is_counted || (is_counted && pool < p->base_pool) ||
	    (int64_t)(time_us - p->base_us) > PORT_POOLS_LONGEST_US)
		port_pools_begin_anew(p, time_us, pool);
	p->weight = (float)weight;
	p->lost = 0;
	last = p->n > 0 ? &p->at[p->n - 1] : &(struct port_pools_point){0};
	point.us = time_us > p->base_us + last->us ? (uint32_t)(time_us - p->base_us) : last->us;
	point.pkts = last->pkts + (float)weight;
	point.octets = last->octets + (float)weight * (float)octets;
	point.pool = is_counted ? (float)(pool - p->base_pool) : last->pool + (float)weight + lost_pkts;
	point.lost_pkts = last->lost_pkts + lost_pkts;
	if (point.pool < last->pool)
		point.pool = last->pool;
	if (p->n == 0 || (point.us > last->us && (p->n == p->n_fixed || p->is_cut || point.us >= p->end_us)))
		port_pools_append(p, &point);
	else
		*last = point;
}

/* Of a snapshot of counters: when it was made, and packets. */
struct port_pools_end {
	uint64_t time_us, pool;
};

/* Which parts of the packets and of the octets that passed between two snapshots passed before a time, 0..1; below 0
 * where no sample tells. And what of it passed while samples came: packets and octets for each packet of all. */
struct port_pools_part {
	double pkts, octets, came_pkts, came_octets;
};
struct port_pools_part port_pools_part(const struct port_pools *p, struct port_pools_end from,
    struct port_pools_end to, uint64_t at_us);

/* Samples that are due for what snapshots counted since the newest one that was used, beside those that came: by their pool,
 * or by what they stand for, and then only so many as chance does not make. */
double port_pools_due(const struct port_pools *p, uint64_t before_pkts, uint64_t pkts);

/* Forgets the sums from before a snapshot. */
void port_pools_begin_at(struct port_pools *p, uint64_t time_us);

#endif
