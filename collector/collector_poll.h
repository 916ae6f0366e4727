/*
 * Who asks switches by SNMP (collector/poll) in the collector: with its configuration, of the sFlow ports that its input
 * knows, and into that input; of agents of EASE, those that its accounting knows, for their neighbours.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_POLL_H
#define EASE_COLLECTOR_COLLECTOR_POLL_H

#include "collector/collector_private.h"
#include "collector/input/input.h"

/* Agents and ports that may be asked: those of sFlow, and those of EASE. */
enum {
	COLLECTOR_POLLED_AGENTS = INPUT_AGENT_PLACES + ACCOUNTING_DEFAULT_AGENTS,
	COLLECTOR_POLLED_PORTS = INPUT_PLACES + ACCOUNTING_DEFAULT_PORTS,
};

/* Starts c->poller if the configuration has somebody to ask, before threads and memory. 0 or -errno. */
int collector_poll_open(struct collector *c);
void collector_poll_close(struct collector *c);

/* Takes what the configuration says now. 0; -ENOMEM, and all stays as it was; -EAGAIN: there is no process that asks, as
 * nobody was to be asked at the start. */
int collector_poll_change(struct collector *c);

#endif
