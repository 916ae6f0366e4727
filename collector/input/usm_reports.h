/*
 * Limits the Reports that are sent to an address. A Report (RFC 3414 section 4) is all that a
 * stranger with an allowed address can make us send, and it is somewhat longer than the shortest
 * message that causes one; so a stranger who forges another's address could have more octets sent
 * there than he sends himself. Therefore an address gets in each minute no more octets of Reports
 * than it sent, beside a first Report, and at most USM_REPORTS_A_SECOND Reports in a second.
 *
 * Addresses without their ports are counted in a hash table of USM_REPORTS_SLOTS slots. Time is
 * passed in. No I/O, no allocation.
 */
#ifndef EASE_COLLECTOR_INPUT_USM_REPORTS_H
#define EASE_COLLECTOR_INPUT_USM_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	USM_REPORTS_A_SECOND = 10, /* enough for a sender that must learn our time again */
	USM_REPORTS_FREE_OCTETS = 256, /* in a minute: the first Report */
	USM_REPORTS_SLOTS = 1024,
};

struct usm_reports {
	uint64_t seed;
	uint64_t minute_us, second_us; /* when the current ones began */
	struct {
		uint32_t credit; /* octets that may still be sent in this minute */
		uint8_t sent;	 /* Reports in this second */
	} slots[USM_REPORTS_SLOTS];
};

void usm_reports_init(struct usm_reports *r, uint64_t seed, uint64_t now_us);

/* n octets were received from that address. */
void usm_reports_heard(struct usm_reports *r, const struct sockaddr *from, size_t n, uint64_t now_us);

/* True if a Report of n octets may be sent there; then it is counted. */
bool usm_reports_allow(struct usm_reports *r, const struct sockaddr *to, size_t n, uint64_t now_us);

#endif
