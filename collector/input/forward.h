/*
 * Sends each sFlow datagram on to others, as it came: so easeswitch can stand in front of what receives sFlow already.
 * The agent's address is in the datagram, so that they need not know its sender.
 *
 * The thread that takes datagrams copies them into a ring of FORWARD_RING_OCTETS, which a thread of its own empties:
 * taking never waits, and what the ring has no room for is counted and not sent on. No sender (an address without its
 * port) holds more of the ring than is free, so that who floods is cut and others are not (dynamic thresholds: Choudhury
 * and Hahne, IEEE/ACM Transactions on Networking 6 (2), 1998). A datagram that came before within FORWARD_AGAIN_US, octet
 * for octet, is not sent on either, so that collectors that forward to each other do not send one round for ever.
 */
#ifndef EASE_COLLECTOR_INPUT_FORWARD_H
#define EASE_COLLECTOR_INPUT_FORWARD_H

#include "common/clock.h"
#include "common/stat.h"

#include <sys/socket.h>

enum {
	FORWARD_RECEIVERS_MAX = 8,
	FORWARD_RING_OCTETS = 8 << 20, /* 5,000 full datagrams */
	FORWARD_AGAIN_US = 2000000,
};

enum forward_stat_id {
	FORWARD_STAT_SENT,
	FORWARD_STAT_AGAIN,
	FORWARD_STAT_OVER_SHARE,
	FORWARD_STAT_QUEUE_FULL,
	FORWARD_STAT_KERNEL_REFUSED,
	FORWARD_STAT_UNREACHABLE,
	FORWARD_N_STATS,
};

struct forward;

/* seed is random. The clock is borrowed. 0 or -ENOMEM. */
int forward_new(struct forward **out, uint64_t seed, const struct clock *clock);

/* From now on to these: ADDRESS:PORT, which udp_out_check passes, FORWARD_RECEIVERS_MAX at most. Ring and thread are made
 * with the first ones; signals must be blocked then. 0, or -errno: then it goes on to those before. */
int forward_set(struct forward *f, const char *const *receivers, size_t n);

/* Queues one datagram of that sender, on one thread. NULL is nothing. */
void forward_put(struct forward *f, const struct sockaddr *from, const void *octets, size_t n);

/* Sends what is queued, and frees it. */
void forward_free(struct forward *f);

const struct stat_set *forward_stats(const struct forward *f);

#endif
