/*
 * Who sent what the input refused: by address, how many datagrams, since when, and why the newest was. `easetop
 * agents` shows it, so that who is refused need not be looked for in the log.
 *
 * The table has a fixed number of places. A newcomer takes the place, of the few that its hash names, of who was
 * silent for REFUSED_SENDERS_AGE_US or else of who sent least; so who sends under many addresses crowds out its own,
 * and not a switch that is refused again and again. What has no place any more is counted.
 *
 * Any thread may call, and none waits: a datagram that is noted while another thread is at the table is counted like
 * those that have no place.
 */
#ifndef EASE_COLLECTOR_INPUT_REFUSED_SENDERS_H
#define EASE_COLLECTOR_INPUT_REFUSED_SENDERS_H

#include "common/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

enum { REFUSED_SENDERS_MAX = 256, REFUSED_REASON_TEXT = 192 };
#define REFUSED_SENDERS_AGE_US 3600000000ull

struct refused_senders;

struct refused_sender {
	char address[ENDPOINT_TEXT];
	char reason[REFUSED_REASON_TEXT]; /* of the newest */
	uint64_t datagrams;		  /* since it was taken last */
	uint64_t first_us, last_us;	  /* of these, by the collector's clock */
};

/* The seed goes into the hash: nobody may choose an address that takes another's place. 0 or -ENOMEM. */
int refused_senders_new(struct refused_senders **out, uint64_t seed);
void refused_senders_free(struct refused_senders *r);

/* Notes a datagram from that address, without port, at that time by the collector's clock. A reason that is too long
 * is cut. NULL for r is nothing. */
void refused_senders_note(struct refused_senders *r, const char *address, const char *reason, uint64_t now_us);

/* Takes what was noted of one sender since it was taken last. False if nothing was of any, or another thread is at the
 * table now. */
bool refused_senders_take(struct refused_senders *r, struct refused_sender *out);

/* How many datagrams were noted whose sender lost its place before it was taken, or had none. */
uint64_t refused_senders_crowded_out(struct refused_senders *r);

#endif
