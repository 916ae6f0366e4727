/*
 * The agent's SNMP side: one thread, which alone uses Net-SNMP in this process and is an AgentX
 * subagent. It registers the tables, answers requests from snapshots and sends the notifications in
 * the notification ring. Agent and master may start in any order; when the master returns, the thread
 * connects to it within retry_s.
 *
 * If the master hangs, this thread blocks for at most timeout_s and answers no request in that time.
 * snmp_agent_stop interrupts it. No other thread waits for it.
 *
 * Life: snmp_agent_create -> snmp_agent_start -> snmp_agent_stop -> snmp_agent_destroy, all from
 * the main thread. Net-SNMP keeps global state: one snmp_agent in a process, and it is started
 * once.
 */
#ifndef EASE_AGENT_SNMP_SNMP_AGENT_H
#define EASE_AGENT_SNMP_SNMP_AGENT_H

#include "agent/snmp/mib_table.h"
#include "agent/snmp/notify.h"
#include "common/clock.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snmp_agent;

enum {
	SNMP_AGENT_RETRY_S = 1,	  /* ping and reconnect: an outage ends within 2 s */
	SNMP_AGENT_RETRY_MAX_S = 2,
	SNMP_AGENT_TIMEOUT_S = 5, /* the session ends when the master has not answered for so long */
	/* A lower number wins: our tables hide those that a stock snmpd registers at 127. */
	SNMP_AGENT_PRIORITY = 100,
};

struct snmp_agent_options {
	const char *agentx_socket;  /* "unix:/path", "/path", "tcp:address:port", see master_connect.h */
	const char *app_name;	    /* names the subagent in Net-SNMP's log lines */
	unsigned retry_s;	    /* 1..SNMP_AGENT_RETRY_MAX_S; 0: SNMP_AGENT_RETRY_S */
	unsigned timeout_s;	    /* 1..60; 0: SNMP_AGENT_TIMEOUT_S */
	const struct clock *clock;
	const struct mib_table *const *tables;
	size_t n_tables;
	const struct mib_module *modules; /* told to the master for its sysORTable */
	size_t n_modules;
	struct mib_snapshot_source snapshots;
	struct mib_setter setter; /* apply may be NULL: everything is read-only */
	struct notify_ring *ring; /* borrowed until destroy; NULL: no notifications */
	/* Sent with every notification. */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
};

/* Copies the options and their strings (clock, tables and ring are borrowed). -EINVAL: an option or
 * a table's declaration is wrong (the log says which); -ENOMEM. Does not touch Net-SNMP yet. */
int snmp_agent_create(const struct snmp_agent_options *options, struct snmp_agent **agent);

/* Starts the thread and returns at once, whether there is a master or not. From here on the process
 * ignores SIGPIPE. The thread blocks all other signals. */
int snmp_agent_start(struct snmp_agent *agent);

/* Asks the thread to close the session and end; if a hanging master blocks the thread, ends the
 * session itself. Waits at most timeout_ms. -ETIMEDOUT: the thread has not ended. */
int snmp_agent_stop(struct snmp_agent *agent, unsigned timeout_ms);

/* False if the thread has not ended: it still uses the agent, its ring, snapshots and setter, so the
 * caller must keep these and end the process. NULL allowed (true). */
bool snmp_agent_destroy(struct snmp_agent *agent);

/* True while a session with the master is open. Any thread. */
bool snmp_agent_connected(const struct snmp_agent *agent);

const struct stat_set *snmp_agent_stats(const struct snmp_agent *agent); /* of the master_link */

#endif
