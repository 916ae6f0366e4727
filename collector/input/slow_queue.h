/*
 * Datagrams that the fast way in lays aside: SNMPv3, informs and events, to be looked at when what
 * is fast is done. A bounded queue of one thread. At the limit a datagram is refused to whoever
 * puts it, who counts it. An address may have as many in the queue as there are places left: alone
 * it fills half of it, two fill a third each, and there always is room for another.
 */
#ifndef EASE_COLLECTOR_INPUT_SLOW_QUEUE_H
#define EASE_COLLECTOR_INPUT_SLOW_QUEUE_H

#include "collector/input/receive.h"

enum {
	/* Touched only as far as used: at most 10 MB. SNMPv3 is decrypted at some ten thousand a
	 * second, so half of them is what it can do in one loop of the collector. */
	SLOW_QUEUE_MAX = 1024,
	SLOW_QUEUE_SENDERS = 1024, /* places that senders are counted in, by a hash */
};

struct slow_queue;

struct slow_queue_datagram {
	struct sockaddr_storage from;
	int fd; /* of the socket it came by, for an answer; -1: none */
	size_t n;
	uint8_t octets[RECEIVE_DATAGRAM_MAX];
};

/* 0 or -ENOMEM. */
int slow_queue_new(struct slow_queue **out);
void slow_queue_free(struct slow_queue *a);

/* Copies the datagram. -ENOBUFS: the queue is full, or the datagram longer than a slot; -EDQUOT:
 * its sender has his share of the queue. */
int slow_queue_put(struct slow_queue *a, const struct sockaddr *from, int fd, const void *octets, size_t n);

/* The oldest, the caller's until slow_queue_done; NULL if there is none. */
const struct slow_queue_datagram *slow_queue_first(const struct slow_queue *a);
void slow_queue_done(struct slow_queue *a);

#endif
