/*
 * Software model of the TNETX4090's buffer pool and flow control: buffers charged to the port
 * where data arrived, the global threshold and the fair-share rule, what back pressure means for
 * each port, the limit of waiting multicasts, and the statistics block with its holding register.
 *
 * The board asks admission for each frame and gives its buffers back when the slowest destination
 * has sent it. Far from a shortage that costs a few additions; episodes of back pressure, their
 * time and the pause frames they make are worked out when one begins or ends.
 * The block's frame counts stay at 0 where other chips are the MACs: those count frames, and this
 * chip only what its flow control does (overruns, collisions).
 *
 * Times are nanoseconds of board time, and never go back. Call everything with the bus's lock
 * held. The driver (tnetx4090.h) never sees this file.
 */
#ifndef EASE_AGENT_CHIP_TNETX4090_MODEL_H
#define EASE_AGENT_CHIP_TNETX4090_MODEL_H

#include "agent/bus/bus_model.h"
#include "agent/chip/tnetx4090_regs.h"

#include <stdbool.h>
#include <stdint.h>

/* What the link partner of a port can do, for negotiation. A port is in gigabit mode if it is
 * port 8 and its speed is 1000. */
struct tnetx4090_partner {
	uint32_t speed_mbps; /* 10, 100 or 1000; 0: nothing is plugged in */
	bool full_duplex, pause;
};

struct tnetx4090_model_config {
	struct bus_model *bus; /* borrowed */
	uint32_t base;	       /* bus address of the DIO window */
	uint32_t n_buffers;    /* N: 1..65535; 0: the default of tnetx4090_regs.h */
	uint32_t buffer_octets; /* a power of two; 0: the default */
	struct tnetx4090_partner partners[TNETX4090_PORTS];
	/* Called before every access of the CPU: the board gives back the buffers of frames sent up
	 * to now and calls tnetx4090_model_settle. NULL: the caller has. */
	void (*sync)(void *ctx);
	void *ctx;
};

enum tnetx4090_verdict {
	TNETX4090_ACCEPT,  /* the buffers are charged to the port */
	TNETX4090_PAUSE,   /* the partner was asked to pause: the frame is not sent yet */
	TNETX4090_COLLIDE, /* the chip forces a collision; the sender tries again */
	TNETX4090_DROP,	   /* counted as a receive overrun */
};

struct tnetx4090_port {
	uint32_t charged;
	uint32_t threshold; /* FlowThreshold, or its half in gigabit mode (floor, *assumed*) */
	uint8_t when_pressed; /* enum tnetx4090_verdict: what back pressure does to a frame */
	uint16_t mcast_waiting; /* at the port's output */
	uint32_t most_charged;
	uint32_t episodes;
	uint32_t pauses_sent, pauses_taken, mcast_left_out;
	uint64_t pressed_since_ns; /* while pressed */
	uint64_t pressed_ns;	   /* of the episodes that are over */
	uint64_t pause_repeat_ns;
};

struct tnetx4090_model {
	uint32_t free; /* buffers in the global pool */
	uint32_t quiet; /* more free than this: no port can be under back pressure */
	uint32_t least_free;
	unsigned buffer_shift;
	uint16_t pressed;	/* a bit a port: back pressure is on */
	uint16_t mcast_full;	/* a bit a port: at the limit of waiting multicasts */
	uint16_t mcast_limited; /* a bit a port: the limit applies */
	uint16_t mcast_max;
	struct tnetx4090_port ports[TNETX4090_PORTS];
	bool flow, holb;
	uint64_t now_ns; /* of the last settlement */
	uint32_t statistics[TNETX4090_NM_PORT + 1][TNETX4090_STATS_PER_PORT];
	uint32_t held; /* the holding register */
	struct tnetx4090_model_config config;
	struct regmodel regs;
};

/* -EINVAL for a config out of range, -ENOMEM, or what the bus said. */
int tnetx4090_model_create(const struct tnetx4090_model_config *config,
    struct tnetx4090_model **model);
void tnetx4090_model_destroy(struct tnetx4090_model *model); /* NULL allowed */
/* The RESET pin: no flow control, nothing charged, statistics 0. */
void tnetx4090_model_reset(struct tnetx4090_model *model);
/* The port's partner has changed, or gone (speed 0): it negotiates anew. */
void tnetx4090_model_set_partner(struct tnetx4090_model *model, unsigned port,
    const struct tnetx4090_partner *partner, uint64_t now_ns);

/* The rule itself (page 56), from the present state. */
bool tnetx4090_model_back_pressure(const struct tnetx4090_model *model, unsigned port);
/* The FLOW pin (page 57). */
bool tnetx4090_model_flow_pin(const struct tnetx4090_model *model);

/* Time has come to now_ns: what is under way is up to date for a reader. */
void tnetx4090_model_settle(struct tnetx4090_model *model, uint64_t now_ns);
/* Pause frames the port has sent since the last call, for the MAC to count. Settle first. */
uint32_t tnetx4090_model_take_pauses(struct tnetx4090_model *model, unsigned port);

/* Adds to a port's statistic what the board saw; port may be TNETX4090_NM_PORT. */
static inline void
tnetx4090_model_count(struct tnetx4090_model *model, unsigned port, enum tnetx4090_stat stat,
    uint32_t n)
{
	model->statistics[port][stat / 4] += n;
}

/* Buffers that a frame of so many octets takes. */
static inline uint32_t
tnetx4090_model_buffers(const struct tnetx4090_model *model, uint32_t octets)
{
	return (octets + (1u << model->buffer_shift) - 1) >> model->buffer_shift;
}

/* --- admission: once for each try of a frame --- */

enum tnetx4090_verdict tnetx4090_model_admit_short(struct tnetx4090_model *model, unsigned port,
    uint32_t buffers, uint64_t now_ns); /* the slow way: few buffers are left */

static inline void
tnetx4090_model_charge(struct tnetx4090_model *model, unsigned port, uint32_t buffers)
{
	struct tnetx4090_port *p = &model->ports[port];

	model->free -= buffers;
	p->charged += buffers;
	if (model->free < model->least_free)
		model->least_free = model->free;
	if (p->charged > p->most_charged)
		p->most_charged = p->charged;
}

/* A frame begins to arrive. A port that has back pressure on finishes a frame that it has begun:
 * it is accepted whole if at its start there was none. */
static inline enum tnetx4090_verdict
tnetx4090_model_admit(struct tnetx4090_model *model, unsigned port, uint32_t buffers,
    uint64_t now_ns)
{
	if (__builtin_expect(model->free <= model->quiet + buffers, 0))
		return tnetx4090_model_admit_short(model, port, buffers, now_ns);
	tnetx4090_model_charge(model, port, buffers);
	return TNETX4090_ACCEPT;
}

/* Begins and ends episodes of back pressure as the pool is now; private to these functions. */
void tnetx4090_model_press(struct tnetx4090_model *model, uint64_t now_ns);

/* A frame that arrived on the port is gone from all outputs. */
static inline void
tnetx4090_model_release(struct tnetx4090_model *model, unsigned port, uint32_t buffers,
    uint64_t now_ns)
{
	model->free += buffers;
	model->ports[port].charged -= buffers;
	if (__builtin_expect(model->pressed != 0, 0))
		tnetx4090_model_press(model, now_ns); /* for some it may be over */
}

/* --- MCastLimit: multicasts that wait at an output --- */

/* Ports, a bit each, that the next multicast is not routed to. BPDUs are exempt. */
static inline uint16_t
tnetx4090_model_mcast_full(const struct tnetx4090_model *model)
{
	return model->mcast_full;
}

static inline void
tnetx4090_model_mcast_queued(struct tnetx4090_model *model, unsigned port)
{
	if (++model->ports[port].mcast_waiting >= model->mcast_max)
		model->mcast_full |= (uint16_t)(1u << port & model->mcast_limited);
}

static inline void
tnetx4090_model_mcast_sent(struct tnetx4090_model *model, unsigned port)
{
	if (--model->ports[port].mcast_waiting < model->mcast_max)
		model->mcast_full &= (uint16_t)~(1u << port);
}

/* Counts a multicast that a port of mcast_full was left out of. */
static inline void
tnetx4090_model_mcast_left_out(struct tnetx4090_model *model, unsigned port)
{
	model->ports[port].mcast_left_out++;
}

#endif
