/*
 * The stream to the master, between its socket and Net-SNMP's library: only PDUs that are well
 * formed and of our session pass to the library; what cannot is answered with an error here, or
 * ends the session. It spares the library what this would not outlive or not end: a hostile PDU,
 * the end of a stream while it waits for an answer or has requests half done (then the waiting is
 * answered in the master's stead first), and a master that does not read. It measures how long
 * answers take. Knows no Net-SNMP; used by the SNMP thread alone, but for master_link_abandon.
 */
#ifndef EASE_AGENT_SNMP_MASTER_LINK_H
#define EASE_AGENT_SNMP_MASTER_LINK_H

#include "agent/snmp/agentx_pdu.h"
#include "common/clock.h"
#include "common/stat.h"

#include <sys/types.h>

struct master_link;

enum master_link_stat {
	MASTER_ABSENT,	   /* attempts to connect where nobody listens */
	MASTER_BUSY,	   /* attempts to connect that the master did not accept in time */
	MASTER_ANSWERS,	   /* requests that were answered */
	MASTER_SLOWEST_US, /* the longest between the coming of a request and its answer */
	MASTER_REFUSED,	   /* requests answered with an error: malformed, too long, not ours */
	MASTER_DROPPED,	   /* other PDUs that no master sends, or not to this session */
	MASTER_BROKEN,	   /* sessions ended because what came made no sense */
	MASTER_STALLED,	   /* sessions ended because the master did not read in time */
	MASTER_SILENT,	   /* sessions ended because it did not answer in time */
	MASTER_CUT_OFF,	   /* sessions that ended while the master owed an answer */
	MASTER_N_STATS
};

/* timeout_s: for the master to read what it is sent. -ENOMEM. */
int master_link_create(const struct clock *clock, unsigned timeout_s, struct master_link **link);
void master_link_destroy(struct master_link *link); /* NULL allowed; closes nothing */

/* An attempt to connect came to nothing, for this -errno: counted and told. */
void master_link_unreached(struct master_link *link, int error);

/* A new stream over a connected socket, which stays the caller's. -ECANCELED: the link was abandoned. */
int master_link_open(struct master_link *link, int fd);

/* Before the socket is closed. */
void master_link_close(struct master_link *link);

/* From any thread: the library is to end, and may be asleep in a loop of its own, waiting for the
 * master. Ends the stream, and there is none after it. */
void master_link_abandon(struct master_link *link);

/* Reads what has come and gives whole PDUs, never a part of one. size: AGENTX_PDU_OCTETS_MAX or more. The
 * number of octets; 0: nothing for the library now; -1: the stream has ended, at a moment when
 * nothing is half done. */
ssize_t master_link_read(struct master_link *link, void *octets, size_t size);

/* Sends one whole PDU of the library's, which asks one thing at a time and goes on to the next when
 * it has waited long enough: then the session is ended. Waits at most timeout_s. What the stream
 * does not take any more is dropped, and the end is told by master_link_read. */
void master_link_write(struct master_link *link, const void *octets, size_t n);

/* No answer can be believed any more: the end is known, or the stream was ended here. */
bool master_link_is_over(const struct master_link *link);

const struct stat_set *master_link_stats(const struct master_link *link); /* enum master_link_stat */

#endif
