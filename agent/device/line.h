/*
 * The lines of a board's ports in closed form: when a frame has come in, when one that leaves has
 * been sent, and when a line slept in between. Nothing ticks: a port is known by the time at which
 * it will be free, and a frame that is queued moves that on.
 *
 * A line carries LINE_OVERHEAD_OCTETS with each frame. A queue holds LINE_QUEUE_OCTETS. PAUSE stops
 * a queue (802.3 annex 31B). In half duplex both directions share one medium: a frame that begins
 * within the slot time of one going the other way collides, and both back off; one that comes later
 * waits. With Energy Efficient Ethernet a direction sleeps when it has been idle for a while.
 *
 * Ports of one kind that have sent nothing but flooded frames for a while are in step: their queues
 * are equal, kept once, and a flooded frame costs the same on any board. A port that sends on its
 * own falls out of step, and is in step again when the queues are next equal.
 */
#ifndef EASE_AGENT_DEVICE_LINE_H
#define EASE_AGENT_DEVICE_LINE_H

#include "agent/chip/c84302_regs.h"
#include "agent/chip/eee_calendar_model.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	LINE_MAX = 64, /* ports: bits of a word */
	LINE_MAX_KINDS = 8,
	LINE_OVERHEAD_OCTETS = 20, /* preamble, start of frame, gap */
	LINE_SLOT_BITS = 512, /* slot time, and the unit of pause times */
	LINE_MAX_ATTEMPTS = 16,
};
#define LINE_QUEUE_OCTETS (1u << 20) /* *assumed*: a share of the chip's 1 or 2 MB of DRAM */
/* Time to wake up: what products use (eee: 17 us at 1 Gb/s, 30 us at other speeds). */
#define LINE_WAKE_1G_NS 17000u
#define LINE_WAKE_NS	30000u
#define LINE_SETTLE_NS	1000000000u /* LPI is not asked for in a link's first second */

struct line_config {
	uint32_t speed_mbps; /* 10, 100 or 1000 */
	bool full_duplex;
	bool eee; /* agreed with the partner; full duplex only */
	uint32_t idle_us; /* without a frame before a direction sleeps */
	uint32_t wake_us; /* to wake up; 0: what is usual at this speed */
};

/* Ports that are alike. */
struct line_kind {
	struct line_config config;
	uint64_t ports;	  /* that are up, a bit each */
	uint64_t in_step; /* of these: free_ns is theirs */
	uint64_t free_ns;
	uint32_t octet_ns; /* time of an octet */
	bool full_duplex;
	uint64_t limit_ns; /* of a full queue */
	uint64_t idle_ns; /* before a direction sleeps; without EEE, longer than any idle time */
	uint64_t wake_ns;
};

struct line {
	uint64_t free_ns;    /* when all that is queued will have left; in step: the kind's */
	uint64_t rx_free_ns; /* end of the last frame that came in */
	uint64_t awake_until_ns; /* not asleep before: the link was not up for long enough */
	uint64_t paused_until_ns;
	uint64_t last_start_ns; /* half duplex: of the last frame sent */
	struct line_kind *kind; /* in the lines that the line is in */
};

struct lines {
	struct line_kind kinds[LINE_MAX_KINDS];
	unsigned n_kinds;
	struct line port[LINE_MAX];
	uint32_t random;
	struct eee_calendar_model *eee; /* borrowed; NULL: no port has EEE */
	/* The MAC is to count n events. */
	void (*count)(void *ctx, unsigned port, enum c84302_counter counter, uint32_t n);
	void *ctx;
};

/* n ports, all down. The caller sets eee, count and ctx behind it. -EINVAL: too many kinds. */
int lines_init(struct lines *lines, const struct line_config *ports, unsigned n);
/* A link that has just come up does not sleep before awake_until_ns. */
void lines_set_link(struct lines *lines, unsigned port, bool up, uint64_t now_ns,
    uint64_t awake_until_ns);

#define LINE_FULL UINT64_MAX
/* Queues a frame that is there at now_ns at all ports that are up but those of `except` (a bit
 * each): when the slowest will have sent it; 0: none does. *full gets the ports whose queues are
 * full. */
uint64_t lines_flood(struct lines *lines, uint64_t except, uint32_t octets, uint64_t now_ns,
    uint64_t *full);
/* The partner wants no frames for so many slot times; 0: it wants them again. Returns by how much
 * that moves what is queued. */
int64_t lines_pause(struct lines *lines, unsigned port, uint32_t quanta, uint64_t now_ns);

/* When the port will be free, paused or not. */
uint64_t lines_free_ns(const struct lines *lines, unsigned port);
/* Tells the sleep of an entry of the EEE unit that is under way up to now_ns. */
void lines_tell_sleep(struct lines *lines, unsigned entry, uint64_t now_ns);

/* --- for each frame --- */

static inline uint64_t
line_serial_ns(const struct line_kind *kind, uint32_t octets)
{
	return (uint64_t)(octets + LINE_OVERHEAD_OCTETS) * kind->octet_ns;
}

/* When a direction falls asleep that has been idle since then. */
static inline uint64_t
line_sleep_ns(const struct line_kind *kind, const struct line *line, uint64_t idle_since)
{
	uint64_t from = idle_since + kind->idle_ns;

	return from > line->awake_until_ns ? from : line->awake_until_ns;
}

/* The port is about to do something that the others of its kind do not. */
static inline void
line_fall_out_of_step(struct lines *l, unsigned port)
{
	struct line *line = &l->port[port];
	struct line_kind *kind = line->kind;
	uint64_t bit = 1ull << port;

	if (!(kind->in_step & bit))
		return;
	kind->in_step &= ~bit;
	line->free_ns = kind->free_ns;
}

/* A half-duplex port sends: its last frame's start decides about collisions. */
void lines_note_half_duplex(struct lines *lines, unsigned port, uint64_t start, uint64_t now_ns);

static inline uint64_t
line_send_alone(struct lines *l, unsigned port, uint32_t octets, uint64_t now)
{
	struct line *line = &l->port[port];
	const struct line_kind *kind = line->kind;
	uint64_t start = line->free_ns, asleep;

	if (start < now) {
		asleep = line_sleep_ns(kind, line, start);
		start = now;
		if (asleep < now) {
			eee_calendar_model_sleep(l->eee, EEE_ENTRY(port, EEE_TX), asleep, now);
			start += kind->wake_ns;
		}
	} else if (start > now + kind->limit_ns && start > line->paused_until_ns + kind->limit_ns) {
		return LINE_FULL;
	}
	if (__builtin_expect(!kind->full_duplex, 0))
		lines_note_half_duplex(l, port, start, now);
	line->free_ns = start + line_serial_ns(kind, octets);
	return line->free_ns;
}

/* Queues a frame that is there at now_ns: when it will have left, or LINE_FULL. */
static inline uint64_t
lines_send(struct lines *l, unsigned port, uint32_t octets, uint64_t now)
{
	line_fall_out_of_step(l, port);
	return line_send_alone(l, port, octets, now);
}

/* Both directions share one medium. */
uint64_t lines_receive_half_duplex(struct lines *lines, unsigned port, uint64_t begin,
    uint64_t serial);

/* A frame whose last octet was recorded at now_ns comes in; returns when it has really come, the
 * line allowing. */
static inline uint64_t
lines_receive(struct lines *l, unsigned port, uint32_t octets, uint64_t now)
{
	struct line *line = &l->port[port];
	const struct line_kind *kind = line->kind;
	uint64_t serial = line_serial_ns(kind, octets), idle = line->rx_free_ns, asleep;
	uint64_t begin = now > serial ? now - serial : 0;

	if (begin <= idle) {
		begin = idle;
	} else {
		asleep = line_sleep_ns(kind, line, idle);
		if (asleep + kind->wake_ns < begin)
			eee_calendar_model_sleep(
			    l->eee, EEE_ENTRY(port, EEE_RX), asleep, begin - kind->wake_ns);
	}
	if (__builtin_expect(!kind->full_duplex, 0))
		return lines_receive_half_duplex(l, port, begin, serial);
	line->rx_free_ns = begin + serial;
	return line->rx_free_ns;
}

#endif
