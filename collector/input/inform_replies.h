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
	ANSWERS_MAX = 1024,
};

struct answers;

/* 0 or -ENOMEM. */
int answers_new(struct answers **out);
void answers_free(struct answers *a);

bool answers_full(const struct answers *a);
size_t answers_waiting(const struct answers *a);

/* Holds a copy of n octets for that address, to be sent through fd. Not when full. */
void answers_hold(struct answers *a, const struct sockaddr *to, int fd, const void *octets,
    size_t n);

/* What was held since the last call went to the store with this batch (1, 2, 3, …). */
void answers_submitted(struct answers *a, uint64_t batch);

/* Batches up to this one are committed: sends what waited for them. The answers sent; *failed is
 * raised by those that could not be. */
size_t answers_committed(struct answers *a, uint64_t batch, size_t *failed);

/* Sends one datagram now. 0 or -errno. */
int answers_send(const struct sockaddr *to, int fd, const void *octets, size_t n);

#endif
