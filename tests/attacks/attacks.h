/*
 * Attacks as data: what is sent, and which counters name it. Each is a sender that `senders` and community (or key)
 * allow, or a stranger; each is tried beside the honest fleet (attack_rig.h), whose figures must stay exact.
 *
 * Who adds a record type, or another thing that a message can hold, adds its abuse here: a function that sends the
 * i-th datagram of it, and a row.
 */
#ifndef EASE_TESTS_ATTACKS_H
#define EASE_TESTS_ATTACKS_H

#include "tests/attacks/attack_rig.h"

struct attack {
	const char *name;
	void (*send)(struct attack_rig *r, uint32_t i); /* the i-th datagram, from 0 */
	const char *counters; /* "a|b": one of them at least rises; "": there is nothing to refuse */
	const char *named; /* how log and `agents` name it; NULL: by ATTACKER's address */
	unsigned store_mib; /* in which no row of the fleet's samples may be deleted; 0: as of the others */
};

extern const struct attack attacks[];
extern const size_t n_attacks;

#endif
