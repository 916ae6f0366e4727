/*
 * A bounded queue's fair share for each sender, an address without port. A sender may hold as many
 * places as are free: alone it fills half of the queue, two senders fill a third each, and there is
 * always room for a further one. Senders are counted in a hash table with a random seed, so memory
 * is bounded and nobody can choose whose count to share. No I/O; one thread uses it.
 */
#ifndef EASE_COLLECTOR_INPUT_SENDER_SHARE_H
#define EASE_COLLECTOR_INPUT_SENDER_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { SENDER_SHARE_SLOTS = 1024 };

struct sender_share {
	uint64_t seed;
	uint16_t held[SENDER_SHARE_SLOTS];
};

/* Reads the seed from the system. 0 or -errno. */
int sender_share_init(struct sender_share *s);

/* True if the sender may take one of so many free places. */
bool sender_share_allows(const struct sender_share *s, const struct sockaddr *from, size_t free);

/* Counts a place that the sender takes, and one that it gives back. */
void sender_share_take(struct sender_share *s, const struct sockaddr *from);
void sender_share_give(struct sender_share *s, const struct sockaddr *from);

#endif
