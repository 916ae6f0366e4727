/*
 * The hardware of an emulated board: chip models on one bus, wired as the plan says, and the path
 * of a frame through them: MAC checks and counts, switch chip learns, forwards and samples, egress
 * MACs count, other switch chips get it over PCI.
 *
 * Call it with the bus's lock held. Good frames are counted in sums, those that are flooded once
 * for all ports; a port's sums reach its MAC's counters when the CPU looks at them, so that it finds
 * exact counters, and a flooded frame costs the same on any board.
 */
#ifndef EASE_AGENT_DEVICE_FABRIC_H
#define EASE_AGENT_DEVICE_FABRIC_H

#include "agent/bus/bus_model.h"
#include "agent/device/board.h"
#include "agent/device/feed.h"

struct fabric;

/* bus and plan are borrowed. Ports' links are as the plan says. */
int fabric_create(struct bus_model *bus, const struct board_plan *plan, struct fabric **fabric);
void fabric_destroy(struct fabric *fabric); /* NULL allowed */

/* A frame of the feed, or what else it says: a link that changes. Its time_us is board time; one
 * that is too early comes now. */
void fabric_frame(struct fabric *fabric, const struct feed_frame *frame);
/* Frames in a row, at least one, until an interrupt line has moved or a sender has to wait for
 * buffers. Returns how many have come. While one is switched, the header so many frames on is on
 * its way to the cache; the caller has sent for the first ones. */
enum { FABRIC_HEADERS_AHEAD = 8 };
size_t fabric_frames(struct fabric *fabric, const struct feed_frame *frames, size_t n);
/* Sends for a frame's header. One in five lies in two lines of the cache. */
static inline void
fabric_prefetch(const struct feed_frame *frame)
{
	enum { LAST_OF_HEADER = 13 };

	__builtin_prefetch(frame->octets);
	__builtin_prefetch((const void *)((uintptr_t)frame->octets + LAST_OF_HEADER));
}
/* Board time has come to now_us without a frame. */
void fabric_set_time(struct fabric *fabric, uint64_t now_us);
/* The same, and what the board does by itself until then is done: sleep is counted, frames that wait
 * for buffers come in. Returns the time of the next call at the latest. */
uint64_t fabric_advance(struct fabric *fabric, uint64_t now_us);
/* The CPU has moved what the last call returned. */
bool fabric_wants_advance(const struct fabric *fabric);
/* Senders wait for buffers that are going to be free: their frames are still to come. */
bool fabric_has_waiting(const struct fabric *fabric);
/* Adds all sums to the counters, also those of this room. */
void fabric_settle(struct fabric *fabric);
/* The link of a port comes or goes; frames before it are settled first. */
void fabric_set_link(struct fabric *fabric, unsigned port, bool up);

enum fabric_stat {
	FABRIC_STAT_FRAMES,
	FABRIC_STAT_PORT_DOWN,
	FABRIC_STAT_HELD,
	FABRIC_STAT_HELD_LOST,
	FABRIC_N_STATS
};
const struct stat_set *fabric_stats(const struct fabric *fabric);

#endif
