/*
 * Answers to informs that wait until what was informed is safe: an answer is held, gets the number
 * of the batch that carries its records when that is handed to the store, and is sent once the
 * store has committed that batch. Used by one thread; sending never waits.
 */
#ifndef EASE_COLLECTOR_INPUT_INFORM_REPLIES_H
#define EASE_COLLECTOR_INPUT_INFORM_REPLIES_H

#include "collector/input/receive.h"

enum {
	/* More informs than this between two commits (a tenth of a second) come from a sender that
	 * should send traps. Touched only as far as used: at most 9 MB. */
	INFORM_REPLIES_MAX = 1024,
};

struct inform_replies;

/* 0 or -ENOMEM. */
int inform_replies_new(struct inform_replies **out);
void inform_replies_free(struct inform_replies *a);

bool inform_replies_full(const struct inform_replies *a);
size_t inform_replies_waiting(const struct inform_replies *a);

/* Holds a copy of n octets for that address, to be sent through fd. Not when full. */
void inform_replies_hold(struct inform_replies *a, const struct sockaddr *to, int fd, const void *octets,
    size_t n);

/* What was held since the last call went to the store with this batch (1, 2, 3, …). */
void inform_replies_submitted(struct inform_replies *a, uint64_t batch);

/* Batches up to this one are committed: sends what waited for them. The answers sent; *failed is
 * raised by those that could not be. */
size_t inform_replies_committed(struct inform_replies *a, uint64_t batch, size_t *failed);

/* Sends one datagram now. 0 or -errno. */
int inform_replies_send(const struct sockaddr *to, int fd, const void *octets, size_t n);

#endif
