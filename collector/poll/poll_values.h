/*
 * What is asked for, and how its answer is read: objects of SNMPv2-MIB (RFC 3418), IF-MIB (RFC 2863), IEEE8023-LAG-MIB
 * (802.3ad) and LLDP-MIB (802.1AB) by GET, of named ports only. So a switch answers what was asked and has no say in how
 * much that is. Of our own agents, rows of easePortTable, and a SET of what EASE-SAMPLING-MIB has for stations that ask for
 * skips, and of other makes' what SFLOW-MIB has (poll_sflow.h); nothing else is ever set. Neighbours and samplers alone are read as rows, by GETBULK: each behind the one before, so many in an answer. What an
 * answer has beside it is not read, and named: its verdict is POLL_GARBAGE.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_VALUES_H
#define EASE_COLLECTOR_POLL_POLL_VALUES_H

#include "collector/poll/poll_job.h"

struct snmp_pdu;

/* Makes the question. NULL without memory. The library's session frees it. */
struct snmp_pdu *poll_question(const struct poll_job *job);

/* Reads the answer's variable bindings into *answer, whose verdict and ports it sets. */
void poll_read_answer(const struct poll_job *job, const struct snmp_pdu *pdu, struct poll_answer *answer);

#endif
