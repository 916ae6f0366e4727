/*
 * SFLOW-MIB 1.3 (sFlow.org, enterprises.14706.1.1): who has a switch's receivers of sFlow, which samplers send to them, and
 * SETs of both. Samplers are read as rows, by GETBULK, each behind the one before. For poll_values.c, whose questions and
 * answers these are.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_SFLOW_H
#define EASE_COLLECTOR_POLL_POLL_SFLOW_H

#include "collector/poll/poll_job.h"

struct snmp_pdu;

bool poll_sflow_is_meant(const struct poll_job *job);

/* As poll_question and poll_read_answer, the latter of an answer without an error. */
struct snmp_pdu *poll_sflow_question(const struct poll_job *job);
void poll_sflow_read_answer(const struct poll_job *job, const struct snmp_pdu *pdu, struct poll_answer *answer);

#endif
