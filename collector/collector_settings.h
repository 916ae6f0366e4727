/*
 * The configuration's values in the form that the rooms below take them: for the start (collector.c)
 * and for SIGHUP (collector_reload.c). Values were checked when the file was read.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_SETTINGS_H
#define EASE_COLLECTOR_COLLECTOR_SETTINGS_H

#include "collector/config.h"
#include "collector/input/v3.h"
#include "collector/store/store.h"
#include "collector/window/accounting.h"
#include "common/endpoint.h"

/* The prefixes of an option that lists them, option->n. The caller frees them. NULL without memory. */
struct prefix *collector_prefixes(const struct option_list *option);

/* The rows of `agent_sources`, config->agent_sources.n of them. The caller frees the array. NULL
 * without memory. */
struct agent_source_rule *collector_agent_sources(const struct collector_config *config);

/* The rows of `uplinks`, config->uplinks.n of them. The caller frees the array. NULL without memory. */
struct uplink_rule *collector_uplinks(const struct collector_config *config);

/* The SNMPv3 users, config->users.n of them. The caller frees the array; its texts are the
 * configuration's. NULL without memory. */
struct v3_user *collector_v3_users(const struct collector_config *config);

/* The SNMPv3 engine's file is beside the store, so that whoever moves one moves the other. */
enum { COLLECTOR_PATH_OCTETS = 4096 };
void collector_engine_file(const struct collector_config *config,
    char file[static COLLECTOR_PATH_OCTETS]);

/* The rows of device_names, for store_set_naming; "" without a file. 0, or -errno with the reason in error, which names
 * file and line. */
int collector_device_names(const struct collector_config *config, char **rows, char *error, size_t error_size);

struct store_retention collector_retention(const struct collector_config *config);

/* What the accounting may take of the memory budget; memory_taken: octets of it that other parts of
 * the program use. 0, or -EINVAL with the reason in error. */
int collector_limits(const struct collector_config *config, size_t memory_taken,
    struct accounting_limits *limits, char *error, size_t error_size);

#endif
