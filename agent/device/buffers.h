/*
 * Who occupies the buffers of a board with TNETX4090 pools: frames under way, which give them back
 * to the port they came in by when the slowest port has sent them, and frames whose senders have
 * been told to wait (PAUSE, or a forced collision), in the order they will come.
 *
 * One pool serves nine ports. The board asks for the next release and makes it when its time has
 * come; nothing ticks.
 */
#ifndef EASE_AGENT_DEVICE_BUFFERS_H
#define EASE_AGENT_DEVICE_BUFFERS_H

#include "agent/chip/tnetx4090_model.h"
#include "agent/device/feed.h"
#include "agent/device/line.h"

enum {
	BUFFERS_MAX_POOLS = 8,
	BUFFERS_MAX_PORTS = 64,
	BUFFERS_MANY = 255, /* flooded: several ports send it */
	/* Frames that wait outside, on the whole board: what the partners' queues hold (*assumed*). */
	BUFFERS_MAX_HELD = 4096,
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

struct buffers {
	struct tnetx4090_model *pools[BUFFERS_MAX_POOLS]; /* borrowed; ports in order, nine each */
	unsigned n_pools;
	struct flight *flights; /* a heap, the earliest first */
	unsigned n_flights, max_flights;
	struct held_queue held[BUFFERS_MAX_PORTS];
	unsigned n_held;
};

/* A pool for the next nine ports. -ENOMEM, -ENOSPC. Zeroed memory is a set without pools. */
int buffers_add_pool(struct buffers *buffers, struct tnetx4090_model *pool, uint32_t n_buffers);
void buffers_free(struct buffers *buffers);

static inline struct tnetx4090_model *
buffers_pool(const struct buffers *buffers, unsigned port)
{
	return buffers->pools[port / TNETX4090_PORTS];
}

/* Charges a frame of so many octets if there is room. */
static inline enum tnetx4090_verdict
buffers_admit(struct buffers *buffers, unsigned port, uint32_t octets, uint64_t now_ns)
{
	struct tnetx4090_model *pool = buffers_pool(buffers, port);

	return tnetx4090_model_admit(pool, port % TNETX4090_PORTS,
	    tnetx4090_model_buffers(pool, octets), now_ns);
}

/* An admitted frame keeps its buffers until then. */
void buffers_keep(struct buffers *buffers, unsigned port, uint32_t octets, uint64_t until_ns,
    unsigned slowest);
/* When the next release is due; UINT64_MAX: never. */
static inline uint64_t
buffers_next_ns(const struct buffers *buffers)
{
	return buffers->n_flights > 0 ? buffers->flights[0].until_ns : UINT64_MAX;
}
/* Makes it. */
void buffers_release_next(struct buffers *buffers);
/* What the port still had to send at now_ns leaves that much later (or earlier), and nothing before
 * not_before_ns. */
void buffers_shift(struct buffers *buffers, unsigned port, int64_t by_ns, uint64_t not_before_ns,
    uint64_t now_ns);

/* --- MCastLimit --- */

/* Those of these ports (a bit each) that the next multicast is left out at, counted as such. */
uint64_t buffers_leave_out(struct buffers *buffers, uint64_t ports);
/* A multicast has just been queued at these. */
void buffers_queue_multicast(struct buffers *buffers, const struct lines *lines, uint64_t ports);

/* --- senders that wait --- */

/* Keeps a copy of a frame whose sender waits. -ENOBUFS: BUFFERS_MAX_HELD, -ENOMEM. */
int buffers_hold(struct buffers *buffers, const struct feed_frame *frame);
/* The frame that waits first at a port, or NULL; and takes it out of the queue: free() it. */
const struct feed_frame *buffers_first_held(const struct buffers *buffers, unsigned port);
struct held_frame *buffers_take_held(struct buffers *buffers, unsigned port);

#endif
