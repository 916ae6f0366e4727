/*
 * Privilege: which Linux capabilities the agent's configuration needs, for what, and what happens
 * without them. If root starts the agent, it becomes a user of its own with these capabilities only.
 * When everything is open, it keeps those that its work needs and drops the others for ever,
 * because it parses data from the network: an attacker cannot gain what the agent does not have.
 */
#ifndef EASE_AGENT_PRIVILEGE_H
#define EASE_AGENT_PRIVILEGE_H

#include "agent/config.h"

#include <stdio.h>
#include <sys/types.h>

/* Prints a line for each thing that needs capabilities, and whether the process has them. */
void agent_privilege_print(const struct agent_config *config, FILE *out);

/* For --check: whether the user and group of the configuration exist, and *uid, as whom a start runs. -errno with the
 * reason in error. */
int agent_privilege_check(const struct agent_config *config, uid_t *uid, char *error, size_t error_size);

/* Call before anything is opened. Becomes the user of the configuration if the process is root.
 * Returns 0, or -errno with the reason in error. */
int agent_privilege_become(const struct agent_config *config, char *error, size_t error_size);

/* Drops the capabilities that are not used, in this thread and those it creates from now on. Logs
 * which are kept and which are missing. Returns -errno if none could be dropped. */
int agent_privilege_keep(const struct agent_config *config);

#endif
