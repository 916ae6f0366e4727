/*
 * The lines of a board's ports in closed form: when a frame has come in, when one that leaves has
 * been sent, and when a line slept in between. Nothing ticks: a port is known by the time at which
 * it will be free, and a frame that is queued moves that on.
 *
 * A line carries WIRE_OVERHEAD_OCTETS with each frame. A queue holds WIRE_QUEUE_OCTETS. PAUSE stops
 * a queue (802.3 annex 31B). In half duplex both directions share one medium: a frame that begins
 * within the slot time of one going the other way collides, and both back off; one that comes later
 * waits. With Energy Efficient Ethernet a direction sleeps when it has been idle for a while.
 *
 * Ports of one kind that have sent nothing but flooded frames for a while are in step: their queues
 * are equal, kept once, and a flooded frame costs the same on any board. A port that sends on its
 * own falls out of step, and is in step again when the queues are next equal.
 */
#ifndef EASE_AGENT_DEVICE_WIRE_H
#define EASE_AGENT_DEVICE_WIRE_H

#include "agent/chip/c84302_regs.h"
#include "agent/chip/eee_calendar_model.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	WIRE_MAX = 64, /* ports: bits of a word */
	WIRE_MAX_CLASSES = 8,
	WIRE_OVERHEAD_OCTETS = 20, /* preamble, start of frame, gap */
	WIRE_SLOT_BITS = 512, /* slot time, and the unit of pause times */
	WIRE_MAX_ATTEMPTS = 16,
};
#define WIRE_QUEUE_OCTETS (1u << 20) /* *assumed*: a share of the chip's 1 or 2 MB of DRAM */
/* Time to wake up: what products use (eee: 17 us at 1 Gb/s, 30 us at other speeds). */
#define WIRE_WAKE_1G_NS 17000u
#define WIRE_WAKE_NS	30000u
#define WIRE_SETTLE_NS	1000000000u /* LPI is not asked for in a link's first second */

struct wire_config {
	uint32_t speed_mbps; /* 10, 100 or 1000 */
	bool full_duplex;
	bool eee; /* agreed with the partner; full duplex only */
	uint32_t idle_us; /* without a frame before a direction sleeps */
	uint32_t wake_us; /* to wake up; 0: what is usual at this speed */
};

/* Ports that are alike. */
struct wire_class {
	struct wire_config config;
	uint64_t ports;	  /* that are up, a bit each */
	uint64_t in_step; /* of these: free_ns is theirs */
	uint64_t free_ns;
	uint32_t octet_ns; /* time of an octet */
	bool full_duplex;
	uint64_t limit_ns; /* of a full queue */
	uint64_t idle_ns; /* before a direction sleeps; without EEE, longer than any idle time */
	uint64_t wake_ns;
};

struct wire {
	uint64_t free_ns;    /* when all that is queued will have left; in step: the kind's */
	uint64_t rx_free_ns; /* end of the last frame that came in */
	uint64_t awake_until_ns; /* not asleep before: the link was not up for long enough */
	uint64_t paused_until_ns;
	uint64_t last_start_ns; /* half duplex: of the last frame sent */
	struct wire_class *class; /* in the lines that the line is in */
};

struct wires {
	struct wire_class classes[WIRE_MAX_CLASSES];
	unsigned n_classes;
	struct wire port[WIRE_MAX];
	uint32_t random;
	struct eee_calendar_model *eee; /* borrowed; NULL: no port has EEE */
	/* The MAC is to count n events. */
	void (*count)(void *ctx, unsigned port, enum c84302_counter counter, uint32_t n);
	void *ctx;
};

/* n ports, all down. The caller sets eee, count and ctx behind it. -EINVAL: too many kinds. */
int wires_init(struct wires *wires, const struct wire_config *ports, unsigned n);
/* A link that has just come up does not sleep before awake_until_ns. */
void wires_set_link(struct wires *wires, unsigned port, bool up, uint64_t now_ns,
    uint64_t awake_until_ns);

#define WIRE_QUEUE_FULL UINT64_MAX
/* Queues a frame that is there at now_ns at all ports that are up but those of `except` (a bit
 * each): when the slowest will have sent it; 0: none does. *full gets the ports whose queues are
 * full. */
uint64_t wires_flood(struct wires *wires, uint64_t except, uint32_t octets, uint64_t now_ns,
    uint64_t *full);
/* The partner wants no frames for so many slot times; 0: it wants them again. Returns by how much
 * that moves what is queued. */
int64_t wires_pause(struct wires *wires, unsigned port, uint32_t quanta, uint64_t now_ns);

/* When the port will be free, paused or not. */
uint64_t wires_free_ns(const struct wires *wires, unsigned port);
/* Tells the sleep of an entry of the EEE unit that is under way up to now_ns. */
void wires_report_sleep(struct wires *wires, unsigned entry, uint64_t now_ns);

/* --- for each frame --- */

static inline uint64_t
wire_serial_ns(const struct wire_class *class, uint32_t octets)
{
	return (uint64_t)(octets + WIRE_OVERHEAD_OCTETS) * class->octet_ns;
}

/* When a direction falls asleep that has been idle since then. */
static inline uint64_t
wire_sleep_ns(const struct wire_class *class, const struct wire *wire, uint64_t idle_since)
{
	uint64_t from = idle_since + class->idle_ns;

	return from > wire->awake_until_ns ? from : wire->awake_until_ns;
}

/* The port is about to do something that the others of its kind do not. */
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

/* A half-duplex port sends: its last frame's start decides about collisions. */
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

/* Queues a frame that is there at now_ns: when it will have left, or WIRE_QUEUE_FULL. */
static inline uint64_t
wires_send(struct wires *l, unsigned port, uint32_t octets, uint64_t now)
{
	wire_leave_step(l, port);
	return wire_send_alone(l, port, octets, now);
}

/* Both directions share one medium. */
uint64_t wires_receive_half_duplex(struct wires *wires, unsigned port, uint64_t begin,
    uint64_t serial);

/* A frame whose last octet was recorded at now_ns comes in; returns when it has really come, the
 * line allowing. */
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
