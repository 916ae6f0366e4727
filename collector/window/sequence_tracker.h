/*
 * Sequence tracking: which sample numbers of one boot of a port were given out by the agent, and
 * which of them arrived. A number that arrives twice counts once. A number that never arrives is
 * lost. A number older than the bitmap cannot be told from a duplicate, so it is counted as late
 * and not used.
 *
 *           first         contact                          highest
 *             v              v                                v
 *   ----------+--------------+-----------------[==============+]-------->  sequence numbers
 *             |              |            bitmap: which of    |
 *             |              |            the newest 4,096    |
 *             |              |            have arrived        |
 *             |              |                                |
 *             |              |<---- expected since contact -->|   what the minutes expect
 *             |<------------------- expected ---------------->|   what the boot expects
 *
 *   first      the lowest number that counts as expected
 *   contact    the lowest number given out since the collector first heard of this boot
 *   highest    the highest number known to be given out, by a sample or a counter snapshot
 *   expected   highest - first + 1; of these, `received` arrived and the others are lost
 *
 * Numbers below contact were given out before the collector heard of the boot. They are expected of
 * the boot as a whole but of no minute, because nobody knows when they were given out: perhaps
 * hours ago, and to another collector, from which this one took over.
 *
 * Numbers are 1, 2, 3, … in 32 bits and may wrap; here they are extended to 64 bits. All of this is
 * arithmetic on one struct, without allocation. The accounting keeps one tracker per agent, boot
 * and port, and the store writes sequence_tracker_save()'s octets in the same transaction as the
 * sums.
 */
#ifndef EASE_COLLECTOR_WINDOW_SEQUENCE_TRACKER_H
#define EASE_COLLECTOR_WINDOW_SEQUENCE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Enough for ten milliseconds of reordering at 400,000 samples a second from one port, or
	 * four seconds at 1,000 a second. The agent's ring and a retransmitting master reorder far
	 * less. */
	SEQUENCE_TRACKER_NUMBERS = 4096,
	SEQUENCE_TRACKER_SAVED_OCTETS = 1 + 8 + 8 + 8 + SEQUENCE_TRACKER_NUMBERS / 8,
};

struct sequence_tracker {
	uint8_t started;  /* 1: first and highest are set; no bool: files have it, too
			     (crash_journal.h) */
	uint64_t first;	  /* lowest number that counts as expected, extended */
	uint64_t contact; /* lowest number given out since the first contact, extended */
	uint64_t highest; /* highest number known to be given out, extended */
	uint64_t received;   /* distinct numbers that arrived and were used */
	uint64_t duplicates; /* arrivals of numbers that had arrived before */
	uint64_t reordered;  /* of received: arrived after a higher number was known */
	uint64_t late;	     /* older than the bitmap, so not used */
	uint64_t bits[SEQUENCE_TRACKER_NUMBERS / 64]; /* bit (number % 4096): it arrived */
};

enum sequence_tracker_verdict {
	SEQUENCE_TRACKER_USE,
	SEQUENCE_TRACKER_DUPLICATE,
	SEQUENCE_TRACKER_LATE,
};

/*
 * Starts tracking with the first number heard of a boot:
 *   - start_seen: the agent was known before this boot, so every number from 1 on is expected.
 *   - The number is at most SEQUENCE_TRACKER_NUMBERS: the start of the boot was just missed. Numbers
 *     from 1 on are expected; those before this one count as lost unless they still arrive.
 *   - The number is higher: the boot began long before. Numbers before this one went to nobody or
 *     to another collector, and are not expected.
 */
void sequence_tracker_start(struct sequence_tracker *t, bool start_seen, uint32_t number);

/* Records that a sample with this number arrived; starts the tracker first if it is not started. */
enum sequence_tracker_verdict sequence_tracker_sample(struct sequence_tracker *t, uint32_t number);

/* Records that numbers up to this one were given out, as a snapshot says (0: none yet). */
void sequence_tracker_given_out(struct sequence_tracker *t, uint32_t last_sequence);

/* Returns how many numbers are expected. expected - received were lost. */
static inline uint64_t
sequence_tracker_expected(const struct sequence_tracker *t)
{
	return t->started ? t->highest - t->first + 1 : 0;
}

/* Returns how many numbers were given out since the first contact: what the minutes expect. If an
 * older number arrives after all, the minute of its sample expects one more. */
static inline uint64_t
sequence_tracker_expected_since_contact(const struct sequence_tracker *t)
{
	return t->started ? t->highest - t->contact + 1 : 0;
}

/* Returns the number in 64 bits. The tracker is started. */
uint64_t sequence_tracker_extend(const struct sequence_tracker *t, uint32_t number);

/* Returns the highest number that arrived, in 64 bits; if it is older than the bitmap, or the tracker is
 * not started, the highest known to be given out. */
uint64_t sequence_tracker_newest(const struct sequence_tracker *t);

/* Returns true if the number was given out before the first contact. */
bool sequence_tracker_is_before_contact(const struct sequence_tracker *t, uint32_t number);

/*
 * Numbers that arrived and were lost with a crash before they were stored: how many, and which of
 * the SEQUENCE_TRACKER_NUMBERS up to highest. A number that arrives again is no longer lost.
 */
struct crash_lost {
	uint64_t n;
	uint64_t highest;
	uint64_t bits[SEQUENCE_TRACKER_NUMBERS / 64];
};

/* After a crash: t was read from the store, and seen, from the crash journal, is the same tracker
 * at the time of the crash; lost is what earlier crashes had lost by then. Raises t to the numbers
 * given out by then, and sets lost to the numbers that arrived but that t does not have. Returns
 * false and changes nothing if seen cannot be a later state of t, or has impossible values. */
bool sequence_tracker_catch_up(
    struct sequence_tracker *t, const struct sequence_tracker *seen, struct crash_lost *lost);

/* Removes from lost the number that the tracker has just used. */
void sequence_tracker_came_again(const struct sequence_tracker *t, struct crash_lost *lost, uint32_t number);

/* Writes the octets for the store: everything but the counts, which have their own columns. */
void sequence_tracker_save(const struct sequence_tracker *t, uint8_t octets[static SEQUENCE_TRACKER_SAVED_OCTETS]);

/* How many of them are left without the zeros at the end, and how they are read back: most ports have few numbers. */
size_t sequence_tracker_trimmed(const uint8_t octets[static SEQUENCE_TRACKER_SAVED_OCTETS]);
int sequence_tracker_load_trimmed(struct sequence_tracker *t, const uint8_t *octets, size_t n);

/* Reads them back and leaves the counts unchanged; also reads the older layout, which has no
 * contact. Returns 0, or -EBADMSG and *t is unchanged. */
int sequence_tracker_load(struct sequence_tracker *t, const uint8_t *octets, size_t n);

#endif
