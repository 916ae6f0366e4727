/*
 * The agent as a whole: the one context, the order in which its rooms start and stop, and the main
 * loop that joins them. Knows every room; no room knows it.
 *
 * Threads: the device's own (an emulated board), the main loop (HAL, sampling, packing, timers),
 * and the SNMP thread. Between them: the device's interrupt, the notification ring, published
 * snapshots, and settings.h for SET.
 */
#ifndef EASE_AGENT_AGENT_H
#define EASE_AGENT_AGENT_H

#include "agent/config.h"

#include <stdio.h>

struct agent;

/* Builds device, sampling, state and SNMP side; nothing runs yet. config is borrowed, and changed
 * as far as it can be (options that are live) when SIGHUP comes: by what is then in file,
 * borrowed, too. -errno with the reason in error. */
int agent_create(struct agent_config *config, const char *file, struct agent **agent, char *error,
    size_t error_size);

/* Runs until SIGTERM or SIGINT, then sends what is open, saves the state and returns 0; -errno if
 * something could not be started (logged). */
int agent_run(struct agent *agent);
/* NULL allowed. False if the SNMP thread hangs in a frozen master: it still uses parts of the agent
 * and the libraries, so the process must leave with _exit. */
bool agent_destroy(struct agent *agent);

/* What --check does beyond the configuration file itself: user, state directory, sinks, board and
 * capture can be used. Prints the capabilities needed, and draws the board, into picture. Starts
 * nothing and writes nothing. -errno with the reason in error. */
int agent_check(const struct agent_config *config, FILE *picture, char *error,
    size_t error_size);

#endif
