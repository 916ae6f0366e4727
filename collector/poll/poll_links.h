/*
 * Which ports of switches lead to another one of them, by LLDP (802.1AB): both ends must name each other's port. What one
 * end says alone proves nothing, since any host can send LLDP in a switch's name. A switch has POLL_LINKS_MAX neighbours
 * while they are read, and then POLL_LINKS_A_PORT at each port that is sampled. No I/O.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_LINKS_H
#define EASE_COLLECTOR_POLL_POLL_LINKS_H

#include "collector/poll/poll_job.h"

enum { POLL_LINKS_MAX = 256, POLL_LINKS_A_PORT = 2 };
enum { POLL_LINK_NAMELESS = 1 }; /* own of a port that nobody can name */

/* What a switch says of a neighbour. */
struct poll_link {
	uint32_t local_port; /* LLDP's number of it; */
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

/* Whether one of these names the other end of the link as it names itself, and that end this one. */
bool poll_links_name(const struct poll_links *by, const struct poll_link *link);

/* Whether that port is an end of a link between the i-th of n switches and another one. */
bool poll_links_confirm(const struct poll_links *const all[], size_t n, size_t i, uint32_t if_index);

void poll_links_clear(struct poll_links *l); /* frees, too */

#endif
