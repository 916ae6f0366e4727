/*
 * The process that asks switches, by Net-SNMP's library: a process of its own because the library's users and engines
 * of SNMPv3 are those of a process, and the collector's slow path has them already; and so that no answer, whatever its
 * octets do to the library, costs the collector more than the answer. It knows nothing but the questions that it is
 * given (poll_job.h), has no capabilities and no files, and ends with the collector. When it ends otherwise another
 * takes its place a second later.
 *
 * It waits for POLL_IN_FLIGHT answers at a time, each no longer than its question says. A socket for each, connected:
 * what comes from another address is none.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_PROCESS_H
#define EASE_COLLECTOR_POLL_POLL_PROCESS_H

#include "collector/poll/poll_job.h"

#include <sys/types.h>

enum { POLL_IN_FLIGHT = 64 };

/* Starts it, before the collector has threads and memory. *fd: a socket that takes a struct poll_job and
 * gives a struct poll_answer with each call. 0 or -errno. */
int poll_process_start(pid_t *pid, int *fd);

/* Takes an answer, if one came, and waits for none. When nobody is left who gives one, which is said once, *fd is -1 from
 * then on. */
bool poll_process_answer(int *fd, struct poll_answer *answer);

/* Ends it and waits for that; what it was asked gets no answer any more. */
void poll_process_stop(pid_t pid, int fd);

#endif
