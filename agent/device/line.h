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
	uint32_t speed_mbps;
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
	uint32_t octet_ps; /* time of an octet */
	uint64_t limit_ns; /* of a full queue */
	uint64_t idle_ns, wake_ns;
};

struct line {
	uint64_t free_ns;    /* when all that is queued will have left; in step: the kind's */
	uint64_t rx_free_ns; /* end of the last frame that came in */
	uint64_t paused_until_ns;
	uint64_t last_start_ns; /* half duplex: of the last frame sent */
	uint64_t settled_ns;	/* link up for long enough to sleep */
	uint8_t kind;
};

struct lines {
	struct line_kind kinds[LINE_MAX_KINDS];
	unsigned n_kinds;
	struct line port[LINE_MAX];
	uint64_t told_ns; /* up to which all sleep has been told */
	uint32_t random;
	struct eee_calendar_model *eee; /* borrowed; NULL: nobody counts sleep */
	/* The MAC is to count n events. */
	void (*count)(void *ctx, unsigned port, enum c84302_counter counter, uint32_t n);
	void *ctx;
};

/* n ports, all down. The caller sets eee, count and ctx behind it. -EINVAL: too many kinds. */
int lines_init(struct lines *lines, const struct line_config *ports, unsigned n);
void lines_set_link(struct lines *lines, unsigned port, bool up, uint64_t now_ns);

/* A frame whose last octet was recorded at now_ns comes in; returns when it has really come, the
 * line allowing. */
uint64_t lines_receive(struct lines *lines, unsigned port, uint32_t octets, uint64_t now_ns);

#define LINE_FULL UINT64_MAX
/* Queues a frame that is there at now_ns: when it will have left, or LINE_FULL. */
uint64_t lines_send(struct lines *lines, unsigned port, uint32_t octets, uint64_t now_ns);
/* Queues it at all ports that are up but those of `except` (a bit each): when the slowest will have
 * sent it; 0: none does. *full gets the ports whose queues are full. */
uint64_t lines_flood(struct lines *lines, uint64_t except, uint32_t octets, uint64_t now_ns,
    uint64_t *full);
/* The partner wants no frames for so many slot times; 0: it wants them again. Returns by how much
 * that moves what is queued. */
int64_t lines_pause(struct lines *lines, unsigned port, uint32_t quanta, uint64_t now_ns);

/* When the port will be free, paused or not. */
uint64_t lines_free_ns(const struct lines *lines, unsigned port);
/* Tells the sleep that is under way up to now_ns. */
void lines_tell_sleep(struct lines *lines, uint64_t now_ns);

#endif
