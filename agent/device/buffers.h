/*
 * Who occupies the buffers of a board with TNETX4090 pools: frames under way, which give them back
 * to the port they came in by when the slowest port has sent them, and frames whose senders have
 * been told to wait (PAUSE, or a forced collision), in the order they will come.
 *
 * One pool serves nine ports. Nothing ticks. While nobody is short of buffers, nobody sees when one
 * is given back: releases are made up for when something depends on the pools' levels: a new
 * extreme, a shortage that comes near, or a CPU that looks. When a pool is short, each is made in its
 * order, at its time.
 */
#ifndef EASE_AGENT_DEVICE_BUFFERS_H
#define EASE_AGENT_DEVICE_BUFFERS_H

#include "agent/chip/tnetx4090_model.h"
#include "agent/device/feed.h"
#include "agent/device/wire.h"

enum {
	BUFFERS_MAX_POOLS = 8,
	BUFFERS_MAX_PORTS = 64,
	BUFFERS_MANY = 255, /* flooded: several ports send it */
	/* Frames that wait outside, on the whole board: what the partners' queues hold (*assumed*). */
	BUFFERS_MAX_HELD = 4096,
	BUFFERS_RECENT = 64, /* flights that are not in order yet */
};

struct flight {
	uint64_t until_ns;
	uint16_t buffers; /* 0: a multicast's wait at the output `port` ends */
	uint8_t port;	 /* it came in by */
	uint8_t slowest; /* that sends it last, or BUFFERS_MANY */
};

struct held_frame {
	struct held_frame *next;
	struct feed_frame frame; /* its octets are behind */
	uint8_t octets[];
};

struct held_queue {
	struct held_frame *first, **end; /* end NULL: never used */
};

/* The pool of a port of the board, and what port it is there. */
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
	struct flight recent[BUFFERS_RECENT]; /* more of them, in no order; none while eager */
	unsigned n_recent;
	bool eager; /* each release is to be made at its time */
	struct held_queue held[BUFFERS_MAX_PORTS];
	unsigned n_held;
};

/* A pool for the next nine ports. -ENOMEM, -ENOSPC. Zeroed memory is a set without pools. */
int buffers_add_pool(struct buffers *buffers, struct tnetx4090_model *pool, uint32_t n_buffers);
void buffers_free(struct buffers *buffers);

static inline struct buffers_place
buffers_place(const struct buffers *buffers, unsigned port)
{
	return buffers->places[port];
}

/* The slow way of the next: up to date first. */
enum tnetx4090_verdict buffers_admit_slow_path(struct buffers *buffers, unsigned port, uint32_t n,
    uint64_t now_ns);

/* Charges a frame of so many octets if there is room; *n gets the number of its buffers. With
 * releases not made yet a pool looks fuller than it is: what is no extreme then is none. */
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

	for (; i > 0 && heap[(i - 1) / 2].until_ns > flight->until_ns; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = *flight;
}

/* An admitted frame keeps its n buffers until then. */
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

/* While eager: when the next release is due; UINT64_MAX: never. */
static inline uint64_t
buffers_next_ns(const struct buffers *buffers)
{
	return buffers->n_flights > 0 ? buffers->flights[0].until_ns : UINT64_MAX;
}
/* Makes it. */
void buffers_release_next(struct buffers *buffers);
/* Makes all that are due by now_ns, and finds out whether to be eager from now on. */
void buffers_release(struct buffers *buffers, uint64_t now_ns);
/* The pools' settings may be about to change. */
static inline void
buffers_be_eager(struct buffers *buffers)
{
	buffers->eager = true;
}
/* What the port still had to send at now_ns leaves that much later (or earlier), and nothing before
 * not_before_ns. */
void buffers_shift(struct buffers *buffers, unsigned port, int64_t by_ns, uint64_t not_before_ns,
    uint64_t now_ns);

/* --- MCastLimit --- */

/* Those of these ports (a bit each) that the next multicast is left out at, counted as such. */
uint64_t buffers_leave_out(struct buffers *buffers, uint64_t ports);
/* A multicast has just been queued at these. */
void buffers_queue_multicast(struct buffers *buffers, const struct wires *wires, uint64_t ports);

/* --- senders that wait --- */

/* Keeps a copy of a frame whose sender waits. -ENOBUFS: BUFFERS_MAX_HELD, -ENOMEM. */
int buffers_hold(struct buffers *buffers, const struct feed_frame *frame);
/* The frame that waits first at a port, or NULL; and takes it out of the queue: free() it. */
static inline const struct feed_frame *
buffers_first_held(const struct buffers *buffers, unsigned port)
{
	return buffers->held[port].first ? &buffers->held[port].first->frame : NULL;
}
struct held_frame *buffers_pop_held(struct buffers *buffers, unsigned port);

#endif
