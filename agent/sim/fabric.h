/*
 * The hardware of an emulated board: chip models on one bus, wired according to the plan, and the path
 * of a frame through them. The MAC checks and counts the frame; the switch chip learns, forwards and
 * samples; the MACs of the output ports count; other switch chips get the frame over PCI.
 *
 * The caller holds the bus's lock. Good frames are first counted in sums, and flooded frames once for
 * all ports, so that a flooded frame costs the same on any board. A port's sums are added to its MAC's
 * counters when the CPU reads these, so that the CPU sees exact counters.
 */
#ifndef EASE_AGENT_SIM_FABRIC_H
#define EASE_AGENT_SIM_FABRIC_H

#include "agent/sim/board.h"
#include "agent/sim/bus/bus_model.h"
#include "agent/sim/feed.h"

struct fabric;

/* bus and plan are borrowed. The plan gives the state of the links. */
int fabric_create(struct bus_model *bus, const struct board_plan *plan, struct fabric **fabric);
void fabric_destroy(struct fabric *fabric); /* NULL allowed */

/* Handles one frame or link change of the feed. time_us is board time; if it is in the past, the frame
 * comes now. */
void fabric_frame(struct fabric *fabric, const struct feed_frame *frame);
/* Handles n frames, at least one, until an interrupt line changes or a sender must wait for buffers.
 * Returns the number handled. Prefetches headers FABRIC_HEADERS_AHEAD frames ahead; the caller has
 * prefetched the first ones. */
enum { FABRIC_HEADERS_AHEAD = 8 };
size_t fabric_frames(struct fabric *fabric, const struct feed_frame *frames, size_t n);
/* Prefetches a frame's header. One in five is in two cache lines. */
static inline void
fabric_prefetch(const struct feed_frame *frame)
{
	enum { LAST_OF_HEADER = 13 };

	__builtin_prefetch(frame->octets);
	__builtin_prefetch((const void *)((uintptr_t)frame->octets + LAST_OF_HEADER));
}
/* Sets board time to now_us without a frame. */
void fabric_set_time(struct fabric *fabric, uint64_t now_us);
/* Also does the work that the board has by itself until then: counts sleep, and lets frames in that wait
 * for buffers. Returns the time by which it must be called again. */
uint64_t fabric_advance(struct fabric *fabric, uint64_t now_us);
/* True if the CPU has accessed the EEE unit since the last fabric_advance, so that the time it returned
 * may be wrong and it must be called again. */
bool fabric_deadline_changed(const struct fabric *fabric);
/* True if senders wait for buffers: their frames are still to come. */
bool fabric_has_waiting(const struct fabric *fabric);
/* Adds all sums to the counters of the MACs and of the fabric. */
void fabric_settle(struct fabric *fabric);
/* Changes the link of a port, after adding the sums of the frames before. */
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
