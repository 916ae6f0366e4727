/*
 * The notification queue between the main loop and the SNMP thread: a bounded ring with one
 * producer and one consumer, and the credit window of what the consumer has sent and the master
 * has not answered. A notification leaves the queue only when the master acknowledged or refused
 * it; what was on its way when a session ended is sent again (the collector drops what it has).
 *
 * Producer (main loop): notify_ring_push, _space, _want_space, _space_fd, _idle. Never waits.
 * Consumer (SNMP thread): notify_ring_next, _acknowledged, … in notify_send.c. Counters: any thread.
 *
 * At the limit the newest is refused with -ENOBUFS and counted; who pushed counts its samples as
 * drops of their port, so that sequence numbers and easeCounters show the loss.
 */
#ifndef EASE_AGENT_SNMP_NOTIFY_H
#define EASE_AGENT_SNMP_NOTIFY_H

#include "common/stat.h"
#include "common/trap_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct notify_ring;

/* Whose notifications they are: what each carries beside its own. */
struct notify_source {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
};

enum {
	NOTIFY_RING_DEFAULT = 16384, /* half a second of what a master carries: some 20 MiB */
	NOTIFY_RING_MAX = 1048576,
	NOTIFY_WINDOW = 32, /* unanswered Notify PDUs; 8 would give 95 % of 64's rate */
	/* Unanswered octets: request and echo must both fit a default socket buffer (208 KiB, with
	 * the kernel's overhead of up to 2x), so that neither end ever sleeps in send. */
	NOTIFY_WINDOW_OCTETS = 65536,
};

enum notify_stat {
	NOTIFY_PUSHED,	     /* taken into the ring */
	NOTIFY_OVERFLOW,     /* refused: the ring was full */
	NOTIFY_NO_MEMORY,    /* refused: no memory */
	NOTIFY_SENT,	     /* Notify PDUs handed to the master, repetitions included */
	NOTIFY_ACKNOWLEDGED, /* answered without error */
	NOTIFY_REFUSED,	     /* answered with an error: lost */
	NOTIFY_SAMPLES_REFUSED, /* samples in these: their numbers are missing on the way */
	NOTIFY_TIMEOUTS,     /* not answered before the session ended or in time: kept */
	NOTIFY_RESENT,	     /* sent again */
	NOTIFY_SEND_FAILED,  /* the transport did not take it: kept */
	NOTIFY_CONNECTS,     /* sessions opened with the master */
	NOTIFY_DISCONNECTS,  /* sessions lost */
	NOTIFY_REGISTERS_REFUSED, /* tables that the master has from another subagent already */
	NOTIFY_N_STATS
};

/* capacity: notifications held, waiting or unanswered, 1..NOTIFY_RING_MAX. */
int notify_ring_create(size_t capacity, struct notify_ring **ring);
void notify_ring_destroy(struct notify_ring *ring); /* NULL allowed; both threads are done */

/* Copies the notification. -ENOBUFS: full, -ENOMEM: no memory; both are counted. */
int notify_ring_push(struct notify_ring *ring, const struct ease_notification *n);

/* How many more can be pushed now. */
size_t notify_ring_space(const struct notify_ring *ring);

/* True if at least `free` (1..capacity) can be pushed now. Else the descriptor of space_fd becomes
 * readable once that is so; one call, one wake-up. For a feed that can be held back. */
bool notify_ring_want_space(struct notify_ring *ring, size_t free);
int notify_ring_space_fd(const struct notify_ring *ring); /* an eventfd: read 8 octets to clear */

/* True if all that was pushed has been acknowledged (or refused) by the master. */
bool notify_ring_idle(const struct notify_ring *ring);

const struct stat_set *notify_ring_stats(const struct notify_ring *ring); /* enum notify_stat */

/* ---- the consumer's side ---- */

/* A notification that the consumer is sending. */
struct notify_item {
	struct notify_ring *ring; /* for callbacks that get only the item */
	uint64_t order;		  /* of first sending: kept when sent again */
	uint8_t slot;		  /* in the window */
	bool in_flight;		  /* sent and neither answered nor given up */
	bool sent_before;
	struct ease_notification n; /* allocated up to n.len octets of data, not to its end */
};

/* The next to send, oldest first, what must be sent again before what is new; NULL if the window is
 * full or nothing waits. The item stays the ring's; one of the four calls below ends its flight. */
struct notify_item *notify_ring_next(struct notify_ring *ring);
void notify_ring_acknowledged(struct notify_item *item);
void notify_ring_refused(struct notify_item *item);
void notify_ring_timed_out(struct notify_item *item);	/* kept, to be sent again */
void notify_ring_send_failed(struct notify_item *item); /* kept, to be sent again */

size_t notify_ring_unanswered(const struct notify_ring *ring);

/* Readable when a push found the consumer asleep; call prepare_wait before sleeping on it: false if
 * there is something to send already. */
int notify_ring_fd(const struct notify_ring *ring);
bool notify_ring_prepare_wait(struct notify_ring *ring);

#endif
