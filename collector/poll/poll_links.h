/*
 * Which ports of switches lead to another one of them, by LLDP (802.1AB): both ends must name each other's port. What one
 * end says alone proves nothing, since any host can send LLDP in a switch's name. A switch has POLL_LINKS_MAX neighbours
 * while they are read, and then POLL_LINKS_A_PORT at each port that is sampled; these stand in a table, so that the other end
 * of one is found however many switches there are. No I/O.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_LINKS_H
#define EASE_COLLECTOR_POLL_POLL_LINKS_H

#include "collector/poll/poll_job.h"

enum { POLL_LINKS_MAX = 256, POLL_LINKS_A_PORT = 2 };
enum { POLL_LINK_NAMELESS = 1 }; /* own of a port that nobody can name */

/* What a switch says of a neighbour. */
struct poll_link {
	union {
		uint32_t local_port; /* LLDP's number of it, while they are read */
		uint32_t next;	     /* in the table: another one with the same hash, as there; 0: none */
	};
	uint32_t if_index;   /* 0: not known yet */
	uint64_t own, remote; /* what it is called itself, and what it sees there; own 0: not known yet */
};

struct poll_links {
	uint32_t n;
	struct poll_link *links; /* POLL_LINKS_MAX of them; NULL: none yet */
};

/* Adds a neighbour; false: there are too many, or there is no memory. */
bool poll_links_add(struct poll_links *l, const struct poll_neighbour *neighbour);

/* The first local port that is not known yet, from *at on; NULL: all are. */
struct poll_link *poll_links_unknown(const struct poll_links *l, uint32_t *at);

/* Leaves out what is at no port that is sampled, at a port without a name, or beyond POLL_LINKS_A_PORT at one. */
void poll_links_compact(struct poll_links *l);

/* The compact links of all switches, by the hash of what a port is called and what it sees. */
struct poll_pairs {
	struct poll_links *const *all; /* of each switch; borrowed */
	uint32_t *first; /* 1 + POLL_LINKS_MAX * switch + link; 0: none */
	uint32_t mask;	 /* of the hash */
};

/* Puts the links of the i-th switch into the table, and takes them out, before they change. */
void poll_pairs_add(struct poll_pairs *pairs, uint32_t i);
void poll_pairs_remove(struct poll_pairs *pairs, uint32_t i);

/* The next link, from *at on, which is 0 first, of another switch than the i-th (*j) that names the other end of this one of
 * the i-th as it names itself, and that end this one; NULL: there is no other. */
const struct poll_link *poll_pairs_other(
    const struct poll_pairs *pairs, uint32_t i, const struct poll_link *link, uint32_t *at, uint32_t *j);

/* The other end of the link at that port of the i-th switch, and of which switch it is; NULL: it is no end of a link
 * between two of these switches. */
const struct poll_link *poll_pairs_confirm(const struct poll_pairs *pairs, uint32_t i, uint32_t if_index, uint32_t *j);

void poll_links_clear(struct poll_links *l); /* frees, too */

#endif
