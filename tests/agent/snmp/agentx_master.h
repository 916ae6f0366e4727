/*
 * A master agent on a local socket, as bad as the test wants it: takes one subagent at a time, says
 * yes to whatever that asks for (RFC 2741 section 7.1), and sends it what the test makes.
 */
#ifndef EASE_TESTS_AGENTX_MASTER_H
#define EASE_TESTS_AGENTX_MASTER_H

#include "tests/agent/snmp/agentx_wire.h"

struct agentx_master;

/* For a master that does otherwise: called with each request of the subagent before it is answered;
 * true if that has been seen to. */
typedef bool agentx_master_hook(struct agentx_master *m, const struct agentx_header *h,
    const uint8_t *pdu, size_t n);

struct agentx_master {
	agentx_master_hook *hook; /* may be NULL */
	int listener, fd; /* -1: no subagent */
	uint32_t session, packet, transaction;
	unsigned n_sessions; /* opened so far */
	uint64_t n_requests, n_notified;
	size_t n_got; /* octets that have come and were not read yet */
	uint8_t got[AGENTX_PDU_MAX];
};

/* Listens at the path. 0 or -errno. */
int agentx_master_open(struct agentx_master *m, const char *path);
void agentx_master_close(struct agentx_master *m);

/* Waits for a subagent until it has opened its session and registered what it serves: until it says
 * nothing more. -ETIMEDOUT after timeout_ms. */
int agentx_master_accept(struct agentx_master *m, int timeout_ms);

/* Takes one PDU of the subagent, and a new subagent before it if there is none, and sees to it.
 * -ETIMEDOUT, -EPIPE: the subagent has hung up. */
int agentx_master_turn(struct agentx_master *m, int timeout_ms);
/* Sends the subagent away. */
void agentx_master_hang_up(struct agentx_master *m);
/* The good answer to a request. */
void agentx_master_yes(struct agentx_master *m, const struct agentx_header *asked,
    struct agentx_pdu *answer);

/* The header of a request of this type in the newest transaction, in either byte order. */
struct agentx_header agentx_master_header(struct agentx_master *m, uint8_t type, bool big);

/* Sends octets as they are. -EPIPE: the subagent has closed. */
int agentx_master_send(struct agentx_master *m, const void *octets, size_t n);
/* Waits for the answer to the packet of this number, which is good until the next call; answers
 * the subagent's own requests meanwhile, and drops other answers. -EPIPE, -ETIMEDOUT after 10 s. */
int agentx_master_answer(struct agentx_master *m, uint32_t packet, struct agentx_reader *answer);

#endif
