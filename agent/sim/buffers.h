/*
 * Tracks the buffers of a board with TNETX4090 pools: frames in flight, whose buffers are released when
 * the slowest port has sent them, and frames whose senders were told to wait (by PAUSE or a forced
 * collision), in the order in which they will come.
 *
 * One pool serves nine ports. There is no periodic work. While no pool is short of buffers, releases are
 * made late (lazily): only when something depends on a pool's level, which is a new minimum or
 * maximum, an approaching shortage, or a read by the CPU. When a pool is short, each release is made at
 * its time and in order (eager).
 */
#ifndef EASE_AGENT_SIM_BUFFERS_H
#define EASE_AGENT_SIM_BUFFERS_H

#include "agent/sim/chip/tnetx4090_model.h"
#include "agent/sim/feed.h"
#include "agent/sim/wire.h"
#include "common/assert_hot.h"

enum {
	BUFFERS_MAX_POOLS = 8,
	BUFFERS_MAX_PORTS = 64,
	BUFFERS_MANY = 255, /* of a flooded frame: several ports send it */
	/* Frames that wait at the senders, for the whole board: the partners' queues (*assumed*). */
	BUFFERS_MAX_HELD = 4096,
	BUFFERS_RECENT = 64, /* flights that are not in the heap yet */
};

struct flight {
	uint64_t until_ns;
	uint16_t buffers; /* 0: not a release, but a multicast leaves the queue of output `port` */
	uint8_t port;	 /* by which the frame came in */
	uint8_t slowest; /* the port that sends it last, or BUFFERS_MANY */
};

struct held_frame {
	struct held_frame *next;
	struct feed_frame frame; /* frame.octets points to octets */
	uint8_t octets[];
};

struct held_queue {
	struct held_frame *first, **end; /* end NULL: never used */
};

/* The pool of a port of the board, and the port's number in the pool. */
struct buffers_place {
	struct tnetx4090_model *pool;
	unsigned port;
};

struct buffers {
	struct tnetx4090_model *pools[BUFFERS_MAX_POOLS]; /* borrowed; ports in order, nine each */
	unsigned n_pools;
	struct buffers_place places[BUFFERS_MAX_PORTS];
	struct flight *flights; /* a heap, the earliest first */
	unsigned n_flights, max_flights;
	struct flight recent[BUFFERS_RECENT]; /* newer flights, in no order; none while eager */
	unsigned n_recent;
	bool eager; /* each release must be made at its time */
	struct held_queue held[BUFFERS_MAX_PORTS];
	unsigned n_held;
};

/* Adds a pool for the next nine ports. -ENOMEM, -ENOSPC. A zeroed struct has no pools. */
int buffers_add_pool(struct buffers *buffers, struct tnetx4090_model *pool, uint32_t n_buffers);
void buffers_free(struct buffers *buffers);

static inline struct buffers_place
buffers_place(const struct buffers *buffers, unsigned port)
{
	return buffers->places[port];
}

/* The slow path of buffers_admit: makes all releases that are due first. */
enum tnetx4090_verdict buffers_admit_slow_path(struct buffers *buffers, unsigned port, uint32_t n,
    uint64_t now_ns);

/* Charges a frame of so many octets if there is room; *n gets the number of its buffers. Releases that are
 * not made yet make a pool look fuller than it is, so a level that is no new extreme here is none. */
static inline enum tnetx4090_verdict
buffers_admit(struct buffers *buffers, unsigned port, uint32_t octets, uint64_t now_ns,
    uint32_t *n)
{
	struct buffers_place at = buffers_place(buffers, port);
	struct tnetx4090_port *p = &at.pool->ports[at.port];

	*n = tnetx4090_model_buffers(at.pool, octets);
	if (__builtin_expect(at.pool->free <= at.pool->quiet + *n ||
		    at.pool->free - *n < at.pool->least_free ||
		    p->charged + *n > p->most_charged || buffers->n_recent == BUFFERS_RECENT, 0))
		return buffers_admit_slow_path(buffers, port, *n, now_ns);
	at.pool->free -= *n;
	p->charged += *n;
	return TNETX4090_ACCEPT;
}

static inline void
buffers_add_flight(struct buffers *buffers, const struct flight *flight)
{
	struct flight *heap = buffers->flights;
	unsigned i = buffers->n_flights++;

	assert_hot(i < buffers->max_flights);
	for (; i > 0 && heap[(i - 1) / 2].until_ns > flight->until_ns; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = *flight;
}

/* An admitted frame occupies its n buffers until until_ns. */
static inline void
buffers_keep(struct buffers *buffers, unsigned port, uint32_t n, uint64_t until_ns,
    unsigned slowest)
{
	struct flight f = {
	    .until_ns = until_ns,
	    .buffers = (uint16_t)n,
	    .port = (uint8_t)port,
	    .slowest = (uint8_t)slowest,
	};

	if (buffers->eager)
		buffers_add_flight(buffers, &f);
	else
		buffers->recent[buffers->n_recent++] = f;
}

/* While eager: the time of the next release; UINT64_MAX: none. */
static inline uint64_t
buffers_next_ns(const struct buffers *buffers)
{
	return buffers->n_flights > 0 ? buffers->flights[0].until_ns : UINT64_MAX;
}
/* Makes the next release. */
void buffers_release_next(struct buffers *buffers);
/* Makes all releases that are due by now_ns, and decides whether to be eager from now on. */
void buffers_release(struct buffers *buffers, uint64_t now_ns);
/* Called before the CPU may change the pools' settings. */
static inline void
buffers_be_eager(struct buffers *buffers)
{
	buffers->eager = true;
}
/* PAUSE has changed the port's transmission: frames that it has to send at now_ns leave by_ns later (or
 * earlier if negative), and none before not_before_ns. */
void buffers_shift(struct buffers *buffers, unsigned port, int64_t by_ns, uint64_t not_before_ns,
    uint64_t now_ns);

/* --- MCastLimit --- */

/* Which of these ports (a bit each) are at their limit and drop the next multicast; counts the drops. */
uint64_t buffers_leave_out(struct buffers *buffers, uint64_t ports);
/* A multicast has just been queued at these ports. */
void buffers_queue_multicast(struct buffers *buffers, const struct wires *wires, uint64_t ports);

/* --- senders that wait --- */

/* Stores a copy of a frame whose sender waits. -ENOBUFS: there are BUFFERS_MAX_HELD; -ENOMEM. */
int buffers_hold(struct buffers *buffers, const struct feed_frame *frame);
/* The first frame that waits at a port, or NULL; buffers_pop_held removes it, and the caller frees it. */
static inline const struct feed_frame *
buffers_first_held(const struct buffers *buffers, unsigned port)
{
	return buffers->held[port].first ? &buffers->held[port].first->frame : NULL;
}
struct held_frame *buffers_pop_held(struct buffers *buffers, unsigned port);

#endif
