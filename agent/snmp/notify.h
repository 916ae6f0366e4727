/*
 * The notification queue between the main loop and the SNMP thread: a bounded ring with one
 * producer and one consumer, and a credit window of the notifications that the consumer has sent and
 * the master has not answered. A notification leaves the queue only when the master has acknowledged
 * or refused it. Those unanswered when a session ends are sent again (the collector drops duplicates).
 *
 * Producer (main loop): notify_ring_push, _want_space, _space_fd, _idle. It never waits.
 * Consumer (SNMP thread): notify_ring_next, _acknowledged, … in notify_send.c. Any thread may read
 * the counters.
 *
 * If the ring is full, a new notification is refused with -ENOBUFS and counted. The caller then counts
 * its samples as drops of their ports, so that sequence numbers and easeCounters show the loss.
 */
#ifndef EASE_AGENT_SNMP_NOTIFY_H
#define EASE_AGENT_SNMP_NOTIFY_H

#include "common/stat.h"
#include "common/trap_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct notify_ring;

/* The sender, named in every notification. */
struct notify_source {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
};

enum {
	NOTIFY_RING_DEFAULT = 16384, /* what a master handles in half a second: some 20 MiB */
	NOTIFY_RING_MAX = 1048576,
	NOTIFY_WINDOW = 32, /* unanswered Notify PDUs; 8 would give 95 % of 64's rate */
	/* Unanswered octets: request and echo must both fit a default socket buffer (208 KiB, with
	 * the kernel's overhead of up to 2x), so that neither end ever blocks in send. */
	NOTIFY_WINDOW_OCTETS = 65536,
};

enum notify_stat {
	NOTIFY_PUSHED,	     /* accepted into the ring */
	NOTIFY_OVERFLOW,     /* refused: the ring was full */
	NOTIFY_NO_MEMORY,    /* refused: no memory */
	NOTIFY_SENT,	     /* Notify PDUs sent to the master, repetitions included */
	NOTIFY_ACKNOWLEDGED, /* answered without error */
	NOTIFY_REFUSED,	     /* answered with an error: lost */
	NOTIFY_SAMPLES_REFUSED, /* samples in these: the collector counts them as lost in the network */
	NOTIFY_TIMEOUTS,     /* not answered in time, or before the session ended: kept */
	NOTIFY_RESENT,	     /* sent again */
	NOTIFY_SEND_FAILED,  /* the transport failed to send it: kept */
	NOTIFY_CONNECTS,     /* sessions opened with the master */
	NOTIFY_DISCONNECTS,  /* sessions lost */
	NOTIFY_REGISTERS_REFUSED, /* tables that another subagent has registered with the master */
	NOTIFY_N_STATS
};

/* capacity: how many notifications may wait or be unanswered, 1..NOTIFY_RING_MAX. */
int notify_ring_create(size_t capacity, struct notify_ring **ring);
void notify_ring_destroy(struct notify_ring *ring); /* NULL allowed; neither thread uses it any more */

/* Copies the notification. -ENOBUFS: full, -ENOMEM: no memory; both are counted. */
int notify_ring_push(struct notify_ring *ring, const struct ease_notification *n);

/* How many more can be pushed now. */
size_t notify_ring_space(const struct notify_ring *ring);

/* True if at least `free` (1..capacity) can be pushed now. Else the descriptor of space_fd becomes
 * readable, once for each call, when that is so. For a source that can be paused. */
bool notify_ring_want_space(struct notify_ring *ring, size_t free);
int notify_ring_space_fd(const struct notify_ring *ring); /* an eventfd: read 8 octets to clear */

/* True if all that was pushed has been acknowledged (or refused) by the master. */
bool notify_ring_idle(const struct notify_ring *ring);

const struct stat_set *notify_ring_stats(const struct notify_ring *ring); /* enum notify_stat */

/* ---- the consumer's side ---- */

/* A notification that the consumer is sending. */
struct notify_item {
	struct notify_ring *ring; /* for callbacks whose only argument is the item */
	uint64_t order;		  /* of the first sending; the same when sent again */
	uint8_t slot;		  /* in the window */
	bool in_flight;		  /* sent, and neither answered nor timed out */
	bool sent_before;
	struct ease_notification n; /* only n.len octets of its data are allocated */
};

/* The next to send, or NULL if the window is full or nothing waits. Those to be sent again come first,
 * and the oldest before newer ones. The ring keeps the item; the caller then calls one of the next
 * four functions for it. */
struct notify_item *notify_ring_next(struct notify_ring *ring);
void notify_ring_acknowledged(struct notify_item *item);
void notify_ring_refused(struct notify_item *item);
void notify_ring_timed_out(struct notify_item *item);	/* kept, to be sent again */
void notify_ring_send_failed(struct notify_item *item); /* kept, to be sent again */

size_t notify_ring_unanswered(const struct notify_ring *ring);

/* Readable after a push while the consumer sleeps. The consumer calls prepare_wait before it sleeps on
 * this descriptor, and must not sleep if that returns false: there is something to send. */
int notify_ring_fd(const struct notify_ring *ring);
bool notify_ring_prepare_wait(struct notify_ring *ring);

#endif
