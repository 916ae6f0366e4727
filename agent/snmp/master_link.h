/*
 * Filters AgentX PDUs between the socket to the master and Net-SNMP's AgentX client. It works around
 * faults of Net-SNMP 5.9:
 * - Net-SNMP crashes on malformed PDUs. Only PDUs that are well formed and belong to our session
 *   reach it; a bad request is answered with an error here, and any other bad PDU is dropped or
 *   ends the session.
 * - Net-SNMP does not survive the end of the stream while it waits for a response or is answering a
 *   request. master_link_read hides the end until then: it gives the library a response with an
 *   error, and lets pending requests finish.
 * - Net-SNMP blocks without limit when the master does not read. A send here takes at most timeout_s,
 *   then the session ends.
 * It also measures how long answers take. It does not use Net-SNMP itself. Only the SNMP thread calls
 * it, except for master_link_abandon.
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
	MASTER_SLOWEST_US, /* the longest time from a request's arrival to its answer */
	MASTER_REFUSED,	   /* requests refused: malformed, too long, or of another session */
	MASTER_DROPPED,	   /* other PDUs that a master does not send, or of another session */
	MASTER_BROKEN,	   /* sessions ended because the stream was not valid AgentX */
	MASTER_STALLED,	   /* sessions ended because the master did not read in time */
	MASTER_SILENT,	   /* sessions ended because it did not answer in time */
	MASTER_CUT_OFF,	   /* sessions that ended while the master owed an answer */
	MASTER_N_STATS
};

/* timeout_s: how long a send may wait for the master to read. -ENOMEM. */
int master_link_create(const struct clock *clock, unsigned timeout_s, struct master_link **link);
void master_link_destroy(struct master_link *link); /* NULL allowed; closes nothing */

/* Counts and logs an attempt to connect to that address that failed with this -errno. */
void master_link_unreached(struct master_link *link, const char *address, int error);

/* Begins a stream over a connected socket, which the caller still owns and closes. -ECANCELED:
 * master_link_abandon was called. */
int master_link_open(struct master_link *link, int fd);

/* Before the socket is closed. */
void master_link_close(struct master_link *link);

/* Ends the stream for good, from any thread: wakes the library if it waits for the master in a loop
 * of its own. No stream can be opened afterwards. */
void master_link_abandon(struct master_link *link);

/* Reads from the socket and copies whole PDUs to octets, never a part of one. size is at least
 * AGENTX_PDU_OCTETS_MAX. Returns the number of octets; 0 if there is nothing for the library now; -1
 * if the stream has ended and the library has no request pending. */
ssize_t master_link_read(struct master_link *link, void *octets, size_t size);

/* Sends one whole PDU of the library's; waits at most timeout_s. The library sends one request at a
 * time: if it sends the next one before it got a response, its own timeout has passed, and the session
 * ends here. After the end PDUs are dropped, and master_link_read reports it. */
void master_link_write(struct master_link *link, const void *octets, size_t n);

/* True once the stream has ended, or was ended here. Errors that the library reports from then on do
 * not come from the master. */
bool master_link_is_over(const struct master_link *link);

const struct stat_set *master_link_stats(const struct master_link *link); /* enum master_link_stat */

#endif
