/*
 * Responses to informs, which are sent only when the records of the inform are safe. A Response is
 * held, gets the number of the batch that carries those records when the batch is handed to the
 * store, and is sent once the store has committed that batch. One thread uses it; sending never
 * waits.
 *
 * While the store is away, replies wait. A sender has its share of the places (sender_share.h). An
 * inform that its sender repeats has the place of the first one: its reply replaces the other,
 * because an SNMPv3 sender waits for the answer to its newest message only (RFC 3412 section 6.2).
 */
#ifndef EASE_COLLECTOR_INPUT_INFORM_REPLIES_H
#define EASE_COLLECTOR_INPUT_INFORM_REPLIES_H

#include "collector/input/receive.h"

enum {
	/* A sender of more informs than this between two commits (a tenth of a second) should
	 * rather send traps. At most 9 MB, of which only the entries in use take memory. */
	INFORM_REPLIES_MAX = 1024,
};

struct inform_replies;

/* 0 or -errno. */
int inform_replies_new(struct inform_replies **out);
void inform_replies_free(struct inform_replies *r);

size_t inform_replies_waiting(const struct inform_replies *r);

/* An inform, to recognize its repetition: who sent it, and a hash of its request-id and its
 * variable bindings. */
struct inform_identity {
	const struct sockaddr *from; /* borrowed for the call */
	uint64_t content;
};

/* Returns 0 if the reply to that inform has a place; -ENOBUFS: all are taken; -EDQUOT: its sender
 * has its share. */
int inform_replies_place(const struct inform_replies *r, const struct inform_identity *inform);

/* Holds a copy of n octets for the sender of the inform, to be sent through fd. To be called only
 * if there is a place. */
void inform_replies_hold(struct inform_replies *r, const struct inform_identity *inform, int fd,
    const void *octets, size_t n);

/* All replies held since the last call belong to this batch (1, 2, 3, …) of the store. */
void inform_replies_submitted(struct inform_replies *r, uint64_t batch);

/* The store has committed all batches up to this one: sends the replies that waited for them.
 * Returns the number sent, and adds the number that could not be sent to *failed. */
size_t inform_replies_committed(struct inform_replies *r, uint64_t batch, size_t *failed);

/* Sends one datagram at once. 0 or -errno. */
int inform_replies_send(const struct sockaddr *to, int fd, const void *octets, size_t n);

#endif
