/*
 * Privilege: which Linux capabilities the agent uses with its configuration, what for, and what
 * works without. Started by root it becomes a user of its own with no more than those; when
 * everything is open it keeps what its work needs and drops all others, for good: what it parses
 * comes from the network, and what it does not hold nobody can take from it.
 */
#ifndef EASE_AGENT_PRIVILEGE_H
#define EASE_AGENT_PRIVILEGE_H

#include "agent/config.h"

#include <stdio.h>

/* Says on a line each what the configuration needs a capability for, and whether it is there. */
void agent_privilege_print(const struct agent_config *config, FILE *out);

/* For --check: whether the user and group of the configuration exist. -errno with the reason in
 * error. */
int agent_privilege_check(const struct agent_config *config, char *error, size_t error_size);

/* Before anything is opened: the user of the configuration, if we are root. 0, or -errno with the
 * reason in error. */
int agent_privilege_become(const struct agent_config *config, char *error, size_t error_size);

/* Drops what is not used, in this thread and those it makes from now on; says in the log what stays
 * and what is missing. -errno: nothing was dropped. */
int agent_privilege_keep(const struct agent_config *config);

#endif
