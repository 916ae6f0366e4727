#include "collector/collector_settings.h"

#include "collector/alarm/alarm_outbox.h"
#include "collector/collector_poll.h"
#include "collector/filter/device_names.h"
#include "collector/poll/poll.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEADER_OCTETS = 128, /* as most agents send */
	/* Of the memory budget: 16 MiB for SQLite's pages, 8 for the store's upkeep, the rest for
	 * code and the input. */
	MEMORY_FIXED_MIB = 40,
	/* Least that must be left for windows and keys. */
	MEMORY_WINDOWS_MIB = 4,
	/* Ports that a MiB of the budget allows: they and their rows take a quarter of it. */
	PORTS_A_MIB = 21,
};

struct prefix *
collector_prefixes(const struct option_list *option)
{
	struct prefix *prefixes = calloc(option->n + 1, sizeof(*prefixes));
	const char *reason;

	for (size_t i = 0; prefixes && i < option->n; i++)
		prefix_parse(option->items[i], &prefixes[i], &reason);
	return prefixes;
}

struct v3_user *
collector_v3_users(const struct collector_config *config)
{
	const struct collector_user *users = config->users.items;
	struct v3_user *v3_users = calloc(config->users.n + 1, sizeof(*v3_users));

	for (size_t i = 0; v3_users && i < config->users.n; i++)
		v3_users[i] = (struct v3_user){
		    .name = users[i].name,
		    .engine_ids = (const char *const *)users[i].engine_ids.items,
		    .n_engine_ids = users[i].engine_ids.n,
		    .auth_protocol = v3_auth_protocols[users[i].auth_protocol],
		    .auth_passphrase = users[i].auth_passphrase,
		    .priv_protocol = v3_priv_protocols[users[i].priv_protocol],
		    .priv_passphrase = users[i].priv_passphrase,
		};
	return v3_users;
}

void
collector_engine_file(const struct collector_config *config, char file[static COLLECTOR_PATH_OCTETS])
{
	snprintf(file, COLLECTOR_PATH_OCTETS, "%s.engine", config->store);
}

static uint32_t
most_ports(const struct collector_config *config)
{
	uint32_t most = config->memory_mib * PORTS_A_MIB;

	return most < accounting_default_limits.ports ? most : accounting_default_limits.ports;
}

static char *
join_rows(const struct device_names *names)
{
	char *rows = NULL;
	size_t octets;
	FILE *out = open_memstream(&rows, &octets);

	if (!out)
		return NULL;
	for (size_t i = 0; i < device_names_n_rows(names); i++)
		fprintf(out, "%s\n", device_names_row(names, i));
	if (fclose(out) == 0)
		return rows;
	free(rows);
	return NULL;
}

/* Of the file: NULL, or why a row is refused. */
static const char *
take_other(struct collector_devices *devices, const struct device_names_other *other)
{
	const char *reason;

	if (other->is_uplink)
		return uplink_parse(other->text, &devices->uplinks[devices->n_uplinks++], &reason) < 0 ? reason : NULL;
	return agent_source_parse(other->text, &devices->sources[devices->n_sources++], &reason) < 0 ? reason : NULL;
}

/* Options were checked when they were read. */
static int
settings_take_options(const struct collector_config *config, size_t n_others, struct collector_devices *devices)
{
	const char *reason;

	devices->sources = calloc(config->agent_sources.n + n_others + 1, sizeof(*devices->sources));
	devices->uplinks = calloc(config->uplinks.n + n_others + 1, sizeof(*devices->uplinks));
	if (!devices->sources || !devices->uplinks)
		return -ENOMEM;
	while (devices->n_sources < config->agent_sources.n) {
		agent_source_parse(config->agent_sources.items[devices->n_sources], &devices->sources[devices->n_sources], &reason);
		devices->n_sources++;
	}
	while (devices->n_uplinks < config->uplinks.n) {
		uplink_parse(config->uplinks.items[devices->n_uplinks], &devices->uplinks[devices->n_uplinks], &reason);
		devices->n_uplinks++;
	}
	return 0;
}

int
collector_devices_read(const struct collector_config *config, struct collector_devices *devices, char *error,
    size_t error_size)
{
	struct device_names *names = NULL;
	char reason[DEVICE_NAMES_ERROR] = "out of memory";
	const char *refusal = NULL;
	size_t n_others = 0;
	int err = *config->device_names ? device_names_open(config->device_names, &names, reason) : 0, r;

	*devices = (struct collector_devices){0};
	while (names && device_names_other(names, n_others).text)
		n_others++;
	r = settings_take_options(config, n_others, devices);
	for (size_t i = 0; r == 0 && !refusal && i < n_others; i++) {
		const struct device_names_other other = device_names_other(names, i);

		refusal = take_other(devices, &other);
		if (refusal)
			snprintf(reason, sizeof(reason), "%.*s:%u: %s: %s", DEVICE_NAMES_ERROR / 2, config->device_names,
			    other.line, other.is_uplink ? "uplink" : "source", refusal);
	}
	if (refusal) { /* all of the file, or nothing */
		err = -EINVAL;
		devices->n_sources = config->agent_sources.n;
		devices->n_uplinks = config->uplinks.n;
	}
	if (r == 0 && err == 0) {
		devices->naming = names ? join_rows(names) : strdup("");
		r = devices->naming ? 0 : -ENOMEM;
	}
	device_names_destroy(names);
	if (r == 0 && err == 0)
		return 0;
	snprintf(error, error_size, "device_names: %s", r < 0 ? "out of memory" : reason);
	return r < 0 ? r : err;
}

void
collector_devices_free(struct collector_devices *devices)
{
	free(devices->sources);
	free(devices->uplinks);
	free(devices->naming);
	*devices = (struct collector_devices){0};
}

struct store_retention
collector_retention(const struct collector_config *config)
{
	const uint64_t hour_us = 3600 * 1000000ull, day_us = 24 * hour_us;

	return (struct store_retention){
	    .samples_us = config->keep_samples_h * hour_us,
	    .headers_us = config->keep_headers_h * hour_us,
	    .level_us[LEVEL_1_MIN] = config->keep_1min_h * hour_us,
	    .level_us[LEVEL_5_MIN] = config->keep_5min_d * day_us,
	    .level_us[LEVEL_1_H] = config->keep_1h_d * day_us,
	    .level_us[LEVEL_1_D] = config->keep_1d_d * day_us,
	    .forget_us = config->forget_after_d * day_us,
	    .most_agents = accounting_default_limits.agents,
	    .most_ports = most_ports(config),
	    .most_octets = (uint64_t)config->store_size_mib << 20,
	};
}

int
collector_limits(const struct collector_config *config, size_t memory_taken,
    struct accounting_limits *limits, char *error, size_t error_size)
{
	uint64_t budget = (uint64_t)config->memory_mib << 20, used;

	*limits = accounting_default_limits;
	limits->sample_rows = config->sample_rows;
	limits->vxlan_port = (uint16_t)config->vxlan_port;
	limits->clock_tolerance_us = config->clock_tolerance_ms * 1000ull;
	limits->ports = most_ports(config);
	limits->header_octets = config->keep_headers_h > 0 ? HEADER_OCTETS : 0;
	used = ((uint64_t)MEMORY_FIXED_MIB << 20) + memory_taken + input_memory(config->threads) +
	    (config->forward.n > 0 ? FORWARD_RING_OCTETS : 0) +
	    accounting_memory(limits) +
	    (*config->alarm_command || config->alarm_posts.n + config->alarm_informs.n > 0 ? outbox_memory() : 0) +
	    (config->polls.n > 0 ? poll_memory(COLLECTOR_POLLED_PORTS, COLLECTOR_POLLED_AGENTS) : 0);
	if (used + ((uint64_t)MEMORY_WINDOWS_MIB << 20) > budget) {
		snprintf(error, error_size,
		    "memory: %u MiB are too few: %llu MiB are taken before the "
					    "first key, and at least %d MiB more are needed",
		    config->memory_mib, (unsigned long long)used >> 20, MEMORY_WINDOWS_MIB);
		return -EINVAL;
	}
	limits->windows = window_limits_for(budget - used, limits->ports);
	return 0;
}

void
collector_snmp_credentials(const struct collector_credentials *from, struct poll_credentials *to)
{
	memset(to, 0, sizeof(*to)); /* they are compared whole */
	snprintf(to->community, sizeof(to->community), "%s", from->community);
	snprintf(to->user, sizeof(to->user), "%s", from->user);
	snprintf(to->auth_protocol, sizeof(to->auth_protocol), "%s", v3_auth_protocols[from->auth_protocol]);
	snprintf(to->priv_protocol, sizeof(to->priv_protocol), "%s", v3_priv_protocols[from->priv_protocol]);
	snprintf(to->auth_passphrase, sizeof(to->auth_passphrase), "%s", from->auth_passphrase);
	snprintf(to->priv_passphrase, sizeof(to->priv_passphrase), "%s", from->priv_passphrase);
}
