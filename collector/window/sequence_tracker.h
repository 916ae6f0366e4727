/*
 * Which sequence numbers of one port's boot were given out and which arrived: highest number, a
 * bitmap of the newest 4,096, and counts. A number that arrives twice counts once; one that never
 * arrives is lost; one older than the bitmap cannot be told from a duplicate, so it is counted as
 * late and not used.
 *
 * Numbers are 1, 2, 3, … in 32 bits and may wrap; inside they are extended to 64 bits. Pure
 * arithmetic on one struct, no allocation; the accounting keeps one per agent, boot and port, and
 * the store keeps sequence_tracker_save()'s octets in the same transaction as what was counted.
 */
#ifndef EASE_COLLECTOR_WINDOW_SEQUENCE_TRACKER_H
#define EASE_COLLECTOR_WINDOW_SEQUENCE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* At 400,000 samples a second of one port ten milliseconds of disorder, at 1,000 four
	 * seconds; the agent's ring and a retransmitting master stay far below. */
	SEQUENCE_TRACKER_NUMBERS = 4096,
	SEQUENCE_TRACKER_SAVED_OCTETS = 1 + 8 + 8 + 8 + SEQUENCE_TRACKER_NUMBERS / 8,
};

struct sequence_tracker {
	uint8_t started;  /* 1: first and highest are set; no bool: files have it, too
			     (crash_journal.h) */
	uint64_t first;	  /* lowest number that counts as expected, extended */
	uint64_t contact;	  /* lowest number that was given out in our hearing, extended */
	uint64_t highest; /* highest number heard of, extended */
	uint64_t received;   /* distinct numbers that arrived and were used */
	uint64_t duplicates; /* arrived again */
	uint64_t reordered;  /* of received: after a higher one, or a snapshot that knew of it */
	uint64_t late;	     /* older than the bitmap: not used */
	uint64_t bits[SEQUENCE_TRACKER_NUMBERS / 64]; /* bit (number % 4096): arrived */
};

enum sequence_tracker_verdict {
	SEQUENCE_TRACKER_USE,
	SEQUENCE_TRACKER_DUPLICATE,
	SEQUENCE_TRACKER_LATE,
};

/*
 * First contact. If the boot's start was witnessed (the agent was known before it), every number
 * from 1 on is expected. Else a first number up to SEQUENCE_TRACKER_NUMBERS means that the start
 * was just missed, and what is missing counts as lost; beyond, that the boot was met late, and what
 * went before is not ours to miss.
 *
 * In neither case can anybody say when numbers before the first word of a boot whose start was not
 * witnessed were given out: hours ago, and to another collector, if this one takes over. They
 * count as expected of the boot, but of no minute (sequence_tracker_expected_since_contact).
 */
void sequence_tracker_start(struct sequence_tracker *t, bool start_seen, uint32_t number);

/* A sample with this number arrived; starts the tracker if need be (not witnessed). */
enum sequence_tracker_verdict sequence_tracker_sample(struct sequence_tracker *t, uint32_t number);

/* A snapshot says that numbers up to this one were given out (0: none yet). */
void sequence_tracker_given_out(struct sequence_tracker *t, uint32_t last_sequence);

/* Numbers given out since the first that counts. expected - received is what was lost. */
static inline uint64_t
sequence_tracker_expected(const struct sequence_tracker *t)
{
	return t->started ? t->highest - t->first + 1 : 0;
}

/* Numbers given out since the first word of the boot: what the minutes expect. A number from before
 * that arrives after all is one more, of its own minute. */
static inline uint64_t
sequence_tracker_expected_since_contact(const struct sequence_tracker *t)
{
	return t->started ? t->highest - t->contact + 1 : 0;
}

/* That number, of a sample or a snapshot, is from before the first word. */
bool sequence_tracker_is_before_contact(const struct sequence_tracker *t, uint32_t number);

/*
 * Numbers that arrived and were lost with a crash before they were stored: how many, and which of
 * the SEQUENCE_TRACKER_NUMBERS up to highest. What comes again is one less.
 */
struct crash_lost {
	uint64_t n;
	uint64_t highest;
	uint64_t bits[SEQUENCE_TRACKER_NUMBERS / 64];
};

/* After a crash: *t, read from the store, has fallen behind *seen, which it was when the collector
 * died, *gone being what was gone then. Raises t to the numbers that were given out by then, and
 * sets *gone to what arrived and t does not know of. False, and nothing is changed, if t is not
 * behind seen but beside it, or if what is seen is nonsense. */
bool sequence_tracker_catch_up(
    struct sequence_tracker *t, const struct sequence_tracker *seen, struct crash_lost *gone);

/* Tells gone that the tracker has just used this number. */
void sequence_tracker_came_again(
    const struct sequence_tracker *t, struct crash_lost *gone, uint32_t number);

/* Octets for the store: everything but the counts, which have columns of their own. */
void sequence_tracker_save(
    const struct sequence_tracker *t, uint8_t octets[static SEQUENCE_TRACKER_SAVED_OCTETS]);

/* The inverse, counts untouched; octets of before there was tracker.contact, too. 0, or -EBADMSG
 * and *t is as it was. */
int sequence_tracker_load(struct sequence_tracker *t, const uint8_t *octets, size_t n);

#endif
