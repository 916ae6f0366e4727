/*
 * Max-min fairness between senders (water-filling): in an overload each sender may send as much as
 * the collector's capacity allows, and a sender that sends less than its share is not cut, so that
 * one busy sender does not crowd out the others.
 *
 * The fill of the sockets' buffers shows an overload: a buffer that is half full and gets fuller
 * while it is read. Then the capacity is what was lately taken in a window of time, and each sender
 * may have so many datagrams a window that all together fill it. Datagrams beyond that are dropped
 * unread, which is cheap, so that the buffers empty and the kernel need not drop datagrams of other
 * senders. Nobody is limited while the buffers are far from full, while there is only one sender,
 * or while a buffer that filled because the reader was busy elsewhere gets emptier.
 *
 * A sender is an address without port. Senders are counted in a hash table of FAIR_SHARE_SLOTS
 * slots with a random seed, so that memory is bounded and nobody can choose whose slot to share.
 *
 * No I/O; time is passed in. One thread at a time.
 */
#ifndef EASE_COLLECTOR_INPUT_FAIR_SHARE_H
#define EASE_COLLECTOR_INPUT_FAIR_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	/* Of 1,000 senders, 78 % have a slot of their own. */
	FAIR_SHARE_SLOTS = 4096,
	/* Short, because all datagrams of a window may be taken at its beginning, and a storm fills
	 * 32 MiB in some 10 ms. */
	FAIR_SHARE_WINDOW_US = 2000,
	/* Fill of a buffer: */
	FAIR_SHARE_PRESSED_PERCENT = 50, /* an overload, if it gets fuller still */
	FAIR_SHARE_FULL_PERCENT = 85,    /* an overload in any case */
	FAIR_SHARE_CALM_PERCENT = 25,    /* no overload */
	FAIR_SHARE_CALM_WINDOWS = 100,   /* so many calm windows in a row end the limit */
	/* A sender counts as present for so long after its last datagram: agents send every 20
	 * s. */
	FAIR_SHARE_COMPANY_US = 60000000,
};

struct fair_share;

/* 0 or -ENOMEM. */
int fair_share_new(struct fair_share **out, uint64_t seed);
void fair_share_free(struct fair_share *s); /* NULL allowed */

/* To be called once a read, with the time and the fill of the buffer that was read. */
void fair_share_turn(struct fair_share *s, uint64_t now_us, unsigned fill_percent);

/* True if these n datagrams of one sender are admitted. A run that begins within the share may end
 * beyond it. */
bool fair_share_admit(struct fair_share *s, const struct sockaddr *from, size_t n);

/* Datagrams that each sender may have in a window; UINT64_MAX: nobody is limited. */
uint64_t fair_share_limit(const struct fair_share *s);

#endif
