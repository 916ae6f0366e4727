/*
 * The agent as a whole: one context, the order in which its rooms start and stop, and the main loop
 * that connects them. It uses every room, and no room uses it.
 *
 * Threads: the device's own thread (an emulated board only), the main loop (HAL, sampling, packing,
 * timers), and the SNMP thread. The device raises an interrupt for the main loop. The main loop
 * passes notifications to the SNMP thread in a ring, and data in published snapshots. The SNMP
 * thread passes SET requests to the main loop by settings.h.
 */
#ifndef EASE_AGENT_AGENT_H
#define EASE_AGENT_AGENT_H

#include "agent/config.h"

#include <stdio.h>

struct agent;

/* Creates device, state, sampling and SNMP side; nothing runs yet. config and file are borrowed. At
 * SIGHUP, the agent reads file again and changes those options in config that are live. Returns
 * -errno with the reason in error. */
int agent_create(struct agent_config *config, const char *file, struct agent **agent, char *error,
    size_t error_size);

/* Runs until SIGTERM or SIGINT. Then sends all open notifications, saves the state and returns 0.
 * Returns -errno if the start failed; the reason is logged. */
int agent_run(struct agent *agent);
/* NULL allowed. Returns false if the SNMP thread is blocked by a frozen master. The thread then
 * still uses parts of the agent and of libraries, so the process must end by _exit. */
bool agent_destroy(struct agent *agent);

/* What --check does beyond the configuration file itself: user, state directory, sinks, board and
 * capture can be used. Prints the capabilities needed, and draws the board, into picture. Starts
 * nothing and writes nothing. -errno with the reason in error. */
int agent_check(const struct agent_config *config, FILE *picture, char *error,
    size_t error_size);

#endif
