/*
 * The queue of the slow path: SNMPv3 messages, informs and events wait here while the fast path
 * works. It is bounded and used by one thread. If it is full, or its sender has its share
 * (sender_share.h), a datagram is refused and the caller counts it.
 */
#ifndef EASE_COLLECTOR_INPUT_SLOW_QUEUE_H
#define EASE_COLLECTOR_INPUT_SLOW_QUEUE_H

#include "collector/input/receive.h"

enum {
	/* At most 10 MB, of which only the slots in use take memory. Some ten thousand SNMPv3
	 * messages are decrypted a second, so half of the queue is what one turn of the
	 * collector's main loop can do. */
	SLOW_QUEUE_MAX = 1024,
};

struct slow_queue;

struct slow_queue_datagram {
	struct sockaddr_storage from;
	int fd; /* of the socket that it came by, for a reply; -1: none */
	size_t n;
	uint8_t octets[RECEIVE_DATAGRAM_MAX];
};

/* 0 or -errno. */
int slow_queue_new(struct slow_queue **out);
void slow_queue_free(struct slow_queue *q);

/* Copies the datagram. -ENOBUFS: the queue is full, or the datagram is longer than a slot; -EDQUOT:
 * its sender has as many in the queue as it may. */
int slow_queue_put(struct slow_queue *q, const struct sockaddr *from, int fd, const void *octets, size_t n);

/* The oldest datagram, valid until slow_queue_done; NULL if there is none. */
const struct slow_queue_datagram *slow_queue_first(const struct slow_queue *q);
void slow_queue_done(struct slow_queue *q);

#endif
