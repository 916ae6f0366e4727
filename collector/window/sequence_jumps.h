/*
 * A sequence that jumps, as RFC 3550 appendix A.1 handles it: one number far from the others is a
 * mistake or a forgery, and changes nothing; a second one that goes on from it shows that the
 * sequence is there now. This stands before a sequence tracker and decides which numbers it gets.
 *
 *   - A number more than SEQUENCE_TRACKER_NUMBERS ahead is held: the sample is not used. If the next
 *     one goes on from it, or counters name it, the jump is believed, and the numbers between count
 *     as lost. It is believed at once where the agent itself says that it dropped so many (a queue that
 *     was full).
 *   - If the sequence then goes on where it was before a jump, the jump is undone: the numbers
 *     between are not lost, because they never were given out.
 *   - Numbers far behind that go on for SEQUENCE_JUMPS_AGAIN_US, while none comes where the sequence
 *     was, show that the agent counts anew: a restored machine.
 *
 * No input but the arguments.
 */
#ifndef EASE_COLLECTOR_WINDOW_SEQUENCE_JUMPS_H
#define EASE_COLLECTOR_WINDOW_SEQUENCE_JUMPS_H

#include "collector/window/sequence_tracker.h"

#define SEQUENCE_JUMPS_AGAIN_US 30000000ull

struct sequence_jumps {
	bool held;
	uint32_t next; /* the number that would confirm the one that is held */
	/* The newest jump that was believed, while it may be undone; from 0: none. */
	uint64_t from;	   /* highest number before it, extended */
	uint64_t received; /* the tracker's, before it */
	uint32_t in_place; /* numbers that came where it went */
	/* Numbers far behind that rise, without another number between them. */
	uint32_t behind, behind_next;
	uint64_t behind_since_us; /* monotonic */
};

enum sequence_jumps_verdict {
	SEQUENCE_JUMPS_TAKE,
	SEQUENCE_JUMPS_HOLD,  /* the tracker does not get the number */
	SEQUENCE_JUMPS_UNDONE, /* the tracker gets it; numbers expected since a jump no longer are */
	SEQUENCE_JUMPS_AGAIN, /* the tracker gets it; the agent counts anew */
};

/* Judges the number of a sample, before the tracker gets it. drops: the agent's, of this boot. */
enum sequence_jumps_verdict sequence_jumps_sample(struct sequence_jumps *j,
    struct sequence_tracker *t, uint32_t number, uint64_t drops, uint64_t mono_us);

/* Judges the last number given out, as counters say it. False: the tracker does not get it. */
bool sequence_jumps_given_out(
    struct sequence_jumps *j, const struct sequence_tracker *t, uint32_t last_sequence, uint64_t drops);

#endif
