/*
 * Privilege: which Linux capabilities the agent uses with its configuration, what for, and what
 * works without. When everything is open it keeps those and drops all others, for good: what it
 * parses comes from the network, and what it does not hold nobody can take from it.
 */
#ifndef EASE_AGENT_PRIVILEGE_H
#define EASE_AGENT_PRIVILEGE_H

#include "agent/config.h"

#include <stdio.h>

/* Says on a line each what the configuration needs a capability for, and whether it is there. */
void privilege_print(const struct agent_config *config, FILE *out);

/* Drops what is not used, in this thread and those it makes from now on; says in the log what stays
 * and what is missing. -errno: nothing was dropped. */
int privilege_keep(const struct agent_config *config);

#endif
