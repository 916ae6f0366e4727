/*
 * The configuration's values in the form that the rooms below take them: for the start (collector.c)
 * and for SIGHUP (collector_reload.c). Values were checked when the file was read.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_SETTINGS_H
#define EASE_COLLECTOR_COLLECTOR_SETTINGS_H

#include "collector/config.h"
#include "collector/input/v3.h"
#include "collector/poll/poll_job.h"
#include "collector/store/store.h"
#include "collector/window/accounting.h"
#include "common/endpoint.h"

/* The prefixes of an option that lists them, option->n. The caller frees them. NULL without memory. */
struct prefix *collector_prefixes(const struct option_list *option);

/* What the file device_names and the options agent_sources and uplinks say. */
struct collector_devices {
	struct agent_source_rule *sources;
	struct uplink_rule *uplinks;
	size_t n_sources, n_uplinks;
	char *naming; /* rows for store_set_naming; "" without a file; NULL: the file has a mistake */
};

/* Fills *devices, which the caller gives to collector_devices_free. 0, or -errno with the reason in error, which names
 * file and line; then it has what the options say, unless it is -ENOMEM. */
int collector_devices_read(const struct collector_config *config, struct collector_devices *devices, char *error,
    size_t error_size);
void collector_devices_free(struct collector_devices *devices);

/* The SNMPv3 users, config->users.n of them. The caller frees the array; its texts are the
 * configuration's. NULL without memory. */
struct v3_user *collector_v3_users(const struct collector_config *config);

/* The SNMPv3 engine's file is beside the store, so that whoever moves one moves the other. */
enum { COLLECTOR_PATH_OCTETS = 4096 };
void collector_engine_file(const struct collector_config *config, char file[static COLLECTOR_PATH_OCTETS]);

struct store_retention collector_retention(const struct collector_config *config);

/* What the accounting may take of the memory budget; memory_taken: octets of it that other parts of
 * the program use. 0, or -EINVAL with the reason in error. */
int collector_limits(const struct collector_config *config, size_t memory_taken,
    struct accounting_limits *limits, char *error, size_t error_size);

/* As a process that speaks SNMP takes them; all octets are set, so that they can be compared. */
void collector_snmp_credentials(const struct collector_credentials *from, struct poll_credentials *to);

#endif
