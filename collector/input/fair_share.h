/*
 * Each sender's fair share of what the collector can take. While the sockets' buffers are far from
 * full nobody is limited, nor is a sender who is alone. When one is half full and gets fuller while
 * it is read, more comes than can be taken; then a sender may have so many datagrams in each window
 * of time that all windows together are what was taken lately, and nobody who asks for less than the
 * others get is cut (max-min fairness). What is beyond is dropped unread, which is cheap, so that
 * the buffers empty again and the others' datagrams are not among those that the kernel has to drop.
 * A buffer that filled while the reader was at something else is emptied without a limit.
 *
 * A sender is an address without port. Senders are counted in FAIR_SHARE_SLOTS places by a seeded hash,
 * so that memory is bounded and nobody can choose whose place he shares.
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
	/* 1,000 senders: each is alone in its place with 78 %. */
	FAIR_SHARE_SLOTS = 4096,
	/* Short, since all that is taken may be at its beginning: a storm fills 32 MiB in some 10 ms. */
	FAIR_SHARE_WINDOW_US = 2000,
	FAIR_SHARE_PRESSED_PERCENT = 50, /* of a buffer: if it gets fuller, more comes than can be taken */
	FAIR_SHARE_FULL_PERCENT = 85,    /* however it came to that */
	FAIR_SHARE_CALM_PERCENT = 25,
	FAIR_SHARE_CALM_WINDOWS = 100, /* one after the other, then nobody is limited any more */
	FAIR_SHARE_COMPANY_US = 60000000, /* who says nothing for that long is none: agents do each 20 s */
};

struct fair_share;

/* 0 or -ENOMEM. */
int fair_share_new(struct fair_share **out, uint64_t seed);
void fair_share_free(struct fair_share *s); /* NULL allowed */

/* Once a read: what time it is, and how full the buffer is that was read from. */
void fair_share_turn(struct fair_share *s, uint64_t now_us, unsigned fill_percent);

/* True if these n datagrams of one sender may go on. A run that begins within the share may end
 * beyond it. */
bool fair_share_admit(struct fair_share *s, const struct sockaddr *from, size_t n);

/* Datagrams a window that each sender may have now; UINT64_MAX: nobody is limited. */
uint64_t fair_share_limit(const struct fair_share *s);

#endif
