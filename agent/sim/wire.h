/*
 * Computes when frames pass the wires of a board's ports: when a received frame has arrived, when a sent
 * one has left, and when a direction slept in between. There is no periodic work: a port's queue is
 * represented by the time when it will be empty (free_ns), and a queued frame adds its transmission
 * time.
 *
 * Each frame takes WIRE_OVERHEAD_OCTETS more on the wire. A queue holds WIRE_QUEUE_OCTETS. PAUSE stops a
 * queue (802.3 annex 31B). In half duplex both directions share one medium: a frame that begins within
 * the slot time of one in the other direction collides with it, and both back off; a frame that comes
 * later waits. With Energy Efficient Ethernet an idle direction sleeps after some time.
 *
 * Ports with the same settings form a class. Ports of a class that have sent only flooded frames for
 * some time have equal queues and are "in step": free_ns is stored once for all of them, so that a
 * flooded frame costs the same on any board:
 *
 *	flooded frame    class.free_ns of all ports in step += its transmission time
 *	port 3 sends     port 3 leaves step: it copies free_ns and continues alone
 *	flooded frame    class.free_ns and port 3's free_ns are advanced separately
 *	later            port 3's free_ns equals the class's again: it is in step again
 */
#ifndef EASE_AGENT_SIM_WIRE_H
#define EASE_AGENT_SIM_WIRE_H

#include "agent/sim/chip/c84302_regs.h"
#include "agent/sim/chip/eee_calendar_model.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	WIRE_MAX = 64, /* ports: bits of a word */
	WIRE_MAX_CLASSES = 8,
	WIRE_OVERHEAD_OCTETS = 20, /* preamble, start of frame, gap */
	WIRE_SLOT_BITS = 512, /* slot time, and the unit of pause times */
	WIRE_MAX_ATTEMPTS = 16,
};
#define WIRE_QUEUE_OCTETS (1u << 20) /* *assumed*: a part of the chip's 1 or 2 MB of DRAM */
/* Time to wake up: what products use (eee: 17 us at 1 Gb/s, 30 us at other speeds). */
#define WIRE_WAKE_1G_NS 17000u
#define WIRE_WAKE_NS	30000u
#define WIRE_SETTLE_NS	1000000000u /* no low-power idle in the first second of a link */

struct wire_config {
	uint32_t speed_mbps; /* 10, 100 or 1000 */
	bool full_duplex;
	bool eee; /* negotiated with the partner; full duplex only */
	uint32_t idle_us; /* idle time after which a direction sleeps */
	uint32_t wake_us; /* to wake up; 0: what is usual at this speed */
};

/* Ports with the same settings. */
struct wire_class {
	struct wire_config config;
	uint64_t ports;	  /* that are up, a bit each */
	uint64_t in_step; /* those of them whose queue is free_ns below */
	uint64_t free_ns;
	uint32_t octet_ns; /* time of an octet */
	bool full_duplex;
	uint64_t limit_ns; /* of a full queue */
	uint64_t idle_ns; /* idle time before sleep; without EEE, longer than any */
	uint64_t wake_ns;
};

struct wire {
	uint64_t free_ns;    /* when the queue will be empty; unused while in step */
	uint64_t rx_free_ns; /* end of the last frame that came in */
	uint64_t awake_until_ns; /* no sleep before this: the link has not been up for long enough */
	uint64_t paused_until_ns;
	uint64_t last_start_ns; /* half duplex: start of the last frame sent */
	struct wire_class *class; /* in struct wires */
};

struct wires {
	struct wire_class classes[WIRE_MAX_CLASSES];
	unsigned n_classes;
	struct wire port[WIRE_MAX];
	uint32_t random;
	struct eee_calendar_model *eee; /* borrowed; NULL: no port has EEE */
	/* Lets the MAC count n events. */
	void (*count)(void *ctx, unsigned port, enum c84302_counter counter, uint32_t n);
	void *ctx;
};

/* Initializes n ports, all down. The caller then sets eee, count and ctx. -EINVAL: too many classes. */
int wires_init(struct wires *wires, const struct wire_config *ports, unsigned n);
/* Sets the state of a link. If it has just come up, it does not sleep before awake_until_ns. */
void wires_set_link(struct wires *wires, unsigned port, bool up, uint64_t now_ns,
    uint64_t awake_until_ns);

#define WIRE_QUEUE_FULL UINT64_MAX
/* Queues a frame at now_ns at all ports that are up except those in `except` (a bit each). Returns the
 * time when the slowest will have sent it; 0: no port sends it. *full gets the ports whose queues are
 * full. */
uint64_t wires_flood(struct wires *wires, uint64_t except, uint32_t octets, uint64_t now_ns,
    uint64_t *full);
/* The partner sends PAUSE for so many slot times; 0 ends the pause. Returns by how much the queued frames
 * are delayed. */
int64_t wires_pause(struct wires *wires, unsigned port, uint32_t quanta, uint64_t now_ns);

/* The time when the port's queue will be empty. */
uint64_t wires_free_ns(const struct wires *wires, unsigned port);
/* Reports to the EEE unit the sleep in progress of one of its entries, up to now_ns. */
void wires_report_sleep(struct wires *wires, unsigned entry, uint64_t now_ns);

/* --- for each frame --- */

static inline uint64_t
wire_serial_ns(const struct wire_class *class, uint32_t octets)
{
	return (uint64_t)(octets + WIRE_OVERHEAD_OCTETS) * class->octet_ns;
}

/* The time when a direction falls asleep that is idle since idle_since. */
static inline uint64_t
wire_sleep_ns(const struct wire_class *class, const struct wire *wire, uint64_t idle_since)
{
	uint64_t from = idle_since + class->idle_ns;

	return from > wire->awake_until_ns ? from : wire->awake_until_ns;
}

/* Called before the port does something that the other ports of its class do not do. */
static inline void
wire_leave_step(struct wires *l, unsigned port)
{
	struct wire *wire = &l->port[port];
	struct wire_class *class = wire->class;
	uint64_t bit = 1ull << port;

	if (!(class->in_step & bit))
		return;
	class->in_step &= ~bit;
	wire->free_ns = class->free_ns;
}

/* Records the start of a frame that a half-duplex port sends, which decides about collisions. */
void wires_note_half_duplex(struct wires *wires, unsigned port, uint64_t start, uint64_t now_ns);

static inline uint64_t
wire_send_alone(struct wires *l, unsigned port, uint32_t octets, uint64_t now)
{
	struct wire *wire = &l->port[port];
	const struct wire_class *class = wire->class;
	uint64_t start = wire->free_ns, asleep;

	if (start < now) {
		asleep = wire_sleep_ns(class, wire, start);
		start = now;
		if (asleep < now) {
			eee_calendar_model_sleep(l->eee, EEE_ENTRY(port, EEE_TX), asleep, now);
			start += class->wake_ns;
		}
	} else if (start > now + class->limit_ns && start > wire->paused_until_ns + class->limit_ns) {
		return WIRE_QUEUE_FULL;
	}
	if (__builtin_expect(!class->full_duplex, 0))
		wires_note_half_duplex(l, port, start, now);
	wire->free_ns = start + wire_serial_ns(class, octets);
	return wire->free_ns;
}

/* Queues a frame at now_ns. Returns the time when it will have left, or WIRE_QUEUE_FULL. */
static inline uint64_t
wires_send(struct wires *l, unsigned port, uint32_t octets, uint64_t now)
{
	wire_leave_step(l, port);
	return wire_send_alone(l, port, octets, now);
}

/* wires_receive for half duplex, where both directions share one medium. */
uint64_t wires_receive_half_duplex(struct wires *wires, unsigned port, uint64_t begin,
    uint64_t serial);

/* Receives a frame whose last octet was recorded at now_ns. Returns when it arrives: later than recorded
 * if the wire is still busy with the frame before. */
static inline uint64_t
wires_receive(struct wires *l, unsigned port, uint32_t octets, uint64_t now)
{
	struct wire *wire = &l->port[port];
	const struct wire_class *class = wire->class;
	uint64_t serial = wire_serial_ns(class, octets), idle = wire->rx_free_ns, asleep;
	uint64_t begin = now > serial ? now - serial : 0;

	if (begin <= idle) {
		begin = idle;
	} else {
		asleep = wire_sleep_ns(class, wire, idle);
		if (asleep + class->wake_ns < begin)
			eee_calendar_model_sleep(
			    l->eee, EEE_ENTRY(port, EEE_RX), asleep, begin - class->wake_ns);
	}
	if (__builtin_expect(!class->full_duplex, 0))
		return wires_receive_half_duplex(l, port, begin, serial);
	wire->rx_free_ns = begin + serial;
	return wire->rx_free_ns;
}

#endif
