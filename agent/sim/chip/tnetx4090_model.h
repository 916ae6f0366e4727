/*
 * Software model of the TNETX4090's buffer pool and flow control: buffers charged to the port that received
 * the data, the global threshold and the fair-share rule, the effect of back pressure on each port, the
 * limit of waiting multicasts, and the statistics block with its holding register.
 *
 * The board requests admission for each frame, and releases its buffers when the slowest destination has
 * sent it. While there are enough buffers this costs a few additions. Back pressure, its duration and its
 * pause frames are computed when it begins or ends.
 *
 * The frame counts of the statistics block stay 0 where other chips are the MACs: those count frames, and
 * this chip counts only the effects of flow control (overruns, collisions).
 *
 * Times are nanoseconds of board time, and never go back. The caller holds the bus's lock. The driver
 * (tnetx4090.h) does not use this file.
 */
#ifndef EASE_AGENT_SIM_CHIP_TNETX4090_MODEL_H
#define EASE_AGENT_SIM_CHIP_TNETX4090_MODEL_H

#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/tnetx4090_regs.h"

#include <stdbool.h>
#include <stdint.h>

/* The abilities of a port's link partner, for negotiation. A port is in gigabit mode if it is port 8 and its
 * speed is 1000. */
struct tnetx4090_partner {
	uint32_t speed_mbps; /* 10, 100 or 1000; 0: no partner */
	bool full_duplex, pause;
};

struct tnetx4090_model_config {
	struct bus_model *bus; /* borrowed */
	uint32_t base;	       /* bus address of the DIO window */
	uint32_t n_buffers;    /* N: 1..65535; 0: the default of tnetx4090_regs.h */
	uint32_t buffer_octets; /* a power of two; 0: the default */
	struct tnetx4090_partner partners[TNETX4090_PORTS];
	/* Called before every access of the CPU: the board releases the buffers of frames sent up to now
	 * and calls tnetx4090_model_settle. NULL: the caller has done so. */
	void (*sync)(void *ctx);
	void *ctx;
};

enum tnetx4090_verdict {
	TNETX4090_ACCEPT,  /* the buffers are charged to the port */
	TNETX4090_PAUSE,   /* the partner was told to pause: the frame is not sent yet */
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
	uint64_t pressed_ns;	   /* of the episodes that have ended */
	uint64_t pause_repeat_ns;
};

struct tnetx4090_model {
	uint32_t free; /* buffers in the global pool */
	uint32_t quiet; /* with more free buffers than this, no port can be under back pressure */
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
/* Sets the port's partner (speed 0: none), and negotiates again. */
void tnetx4090_model_set_partner(struct tnetx4090_model *model, unsigned port,
    const struct tnetx4090_partner *partner, uint64_t now_ns);

/* The rule for back pressure (page 56), applied to the present state. */
bool tnetx4090_model_back_pressure(const struct tnetx4090_model *model, unsigned port);
/* The FLOW pin (page 57). */
bool tnetx4090_model_flow_pin(const struct tnetx4090_model *model);

/* Updates durations and counts to now_ns, so that they can be read. */
void tnetx4090_model_settle(struct tnetx4090_model *model, uint64_t now_ns);
/* The pause frames that the port has sent since the last call, for the MAC to count. Call settle first. */
uint32_t tnetx4090_model_collect_pauses(struct tnetx4090_model *model, unsigned port);

/* Adds events to a port's statistic; port may be TNETX4090_NM_PORT. */
static inline void
tnetx4090_model_count(struct tnetx4090_model *model, unsigned port, enum tnetx4090_stat stat,
    uint32_t n)
{
	model->statistics[port][stat / 4] += n;
}

/* The number of buffers for a frame of so many octets. */
static inline uint32_t
tnetx4090_model_buffers(const struct tnetx4090_model *model, uint32_t octets)
{
	return (octets + (1u << model->buffer_shift) - 1) >> model->buffer_shift;
}

/* --- admission: called for each attempt to receive a frame --- */

enum tnetx4090_verdict tnetx4090_model_admit_short(struct tnetx4090_model *model, unsigned port,
    uint32_t buffers, uint64_t now_ns); /* the slow path: few buffers are left */

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

/* Admits a frame at its start. If there is no back pressure then, the whole frame is accepted, because a
 * port finishes a frame that it has begun. */
static inline enum tnetx4090_verdict
tnetx4090_model_admit(struct tnetx4090_model *model, unsigned port, uint32_t buffers,
    uint64_t now_ns)
{
	if (__builtin_expect(model->free <= model->quiet + buffers, 0))
		return tnetx4090_model_admit_short(model, port, buffers, now_ns);
	tnetx4090_model_charge(model, port, buffers);
	return TNETX4090_ACCEPT;
}

/* Begins or ends back pressure according to the state of the pool. Only for the functions here. */
void tnetx4090_model_press(struct tnetx4090_model *model, uint64_t now_ns);

/* Releases the buffers of a frame received by the port, which all outputs have sent. */
static inline void
tnetx4090_model_release(struct tnetx4090_model *model, unsigned port, uint32_t buffers,
    uint64_t now_ns)
{
	model->free += buffers;
	model->ports[port].charged -= buffers;
	if (__builtin_expect(model->pressed != 0, 0))
		tnetx4090_model_press(model, now_ns); /* back pressure may end for some ports */
}

/* --- MCastLimit: multicasts that wait at an output --- */

/* Ports, a bit each, to which the next multicast is not sent. BPDUs are exempt. */
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

/* Counts a multicast that was not sent to a port of mcast_full. */
static inline void
tnetx4090_model_mcast_left_out(struct tnetx4090_model *model, unsigned port)
{
	model->ports[port].mcast_left_out++;
}

#endif
