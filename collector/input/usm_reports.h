/*
 * Whom a Report may be sent. It is the one thing that a stranger with an allowed address gets (RFC
 * 3414 section 4), and somewhat longer than the shortest message that asks for it: who forges
 * another's address could have that one sent more than he sends. So in each minute an address gets no
 * more octets than came from it, and one Report; and USM_REPORTS_A_SECOND at most.
 *
 * Addresses are counted in USM_REPORTS_SLOTS places by a seeded hash, without their port. Time is
 * passed in. No I/O, no allocation.
 */
#ifndef EASE_COLLECTOR_INPUT_USM_REPORTS_H
#define EASE_COLLECTOR_INPUT_USM_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	USM_REPORTS_A_SECOND = 10, /* one for each inform of a sender that lost its time */
	USM_REPORTS_FREE_OCTETS = 256, /* a minute: the first Report */
	USM_REPORTS_SLOTS = 1024,
};

struct usm_reports {
	uint64_t seed;
	uint64_t minute_us, second_us; /* began then */
	struct {
		uint32_t credit; /* octets that may still be sent in this minute */
		uint8_t sent;	 /* in this second */
	} places[USM_REPORTS_SLOTS];
};

void usm_reports_init(struct usm_reports *r, uint64_t seed, uint64_t now_us);

/* n octets came from there. */
void usm_reports_heard(struct usm_reports *r, const struct sockaddr *from, size_t n, uint64_t now_us);

/* True if a Report of n octets may go there, and counts it. */
bool usm_reports_allow(struct usm_reports *r, const struct sockaddr *to, size_t n, uint64_t now_us);

#endif
