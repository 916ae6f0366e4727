/*
 * easeagentd's configuration: one struct, and one const table of options (common/options.h) that
 * parses it, checks it, prints it and documents it.
 */
#ifndef EASE_AGENT_CONFIG_H
#define EASE_AGENT_CONFIG_H

#include "common/options.h"

#include <stdbool.h>
#include <stdint.h>

enum agent_device_kind { AGENT_DEVICE_EMULATED, AGENT_DEVICE_DUMMY, AGENT_DEVICE_LINUX, AGENT_DEVICE_SONIC };
enum agent_pace { AGENT_PACE_RECORDED, AGENT_PACE_LOCK_STEP };
enum agent_deal { AGENT_DEAL_SOURCE, AGENT_DEAL_HASH, AGENT_DEAL_INTERFACE };
enum agent_time_zero { AGENT_ZERO_AUTO, AGENT_ZERO_CAPTURE, AGENT_ZERO_NOW };

struct agent_config {
	int device; /* enum agent_device_kind */
	/* emulated */
	char *board;
	char *capture;
	int deal; /* enum agent_deal */
	int pace; /* enum agent_pace */
	uint32_t speed_factor;
	bool loop;
	int time_zero; /* enum agent_time_zero */
	/* dummy */
	uint32_t dummy_ports;
	uint32_t dummy_addresses;
	uint32_t dummy_vlans;
	/* linux */
	int sampling; /* enum linux_sampling */
	int ifindex;  /* enum links_numbers */
	bool allow_set;
	bool skip_by_speed;
	bool drops;
	uint32_t drops_per_s;
	char *lldpd_socket;
	uint32_t trap_port;
	/* sonic */
	char *sonic_database_config;
	bool sonic_by_tcp;
	/* sampling */
	uint32_t mean_skip;
	int draw; /* enum sampling_draw */
	uint32_t header_octets;
	uint32_t max_samples_per_s;
	uint64_t seed;
	bool requests;
	uint32_t requests_least_skip;
	uint32_t requests_max_samples_per_s;
	/* SNMP */
	char *agentx_socket;
	uint32_t message_octets;
	uint32_t message_wait_ms;
	uint32_t queue_notifications;
	uint32_t counters_interval_s;
	uint32_t state_interval_s;
	uint32_t address_rate;
	uint32_t event_rate;
	uint32_t stall_event_percent;
	bool notify_samples;
	struct option_sections trap_sinks; /* struct trap_sink */
	bool history;
	/* sFlow */
	struct option_list sflow_collectors;
	char *sflow_agent_address;
	/* the process */
	char *run_as, *run_as_group; /* if started by root; "": see common/privilege.h */
	char *state_dir;
	uint32_t keep_departed_days;
	int log_level; /* enum log_level */
};

extern const struct option_row agent_options[];

/* Fills *config from file, or with the defaults alone if file is NULL. Otherwise as options_load. */
int agent_config_read(const char *file, struct agent_config *config, char *error,
    size_t error_size);
/* Reads the file and then checks what needs two options: -EINVAL with the reason in error. */
int agent_config_load(const char *file, struct agent_config *config, char *error,
    size_t error_size);

/* Whether sFlow is to be sent at all. */
bool agent_config_has_sflow(const struct agent_config *config);

/* Puts the place in front of an error that was found when an option's value was used: "FILE:LINE:
 * NAME: " if the error begins with the option's name or value. Other errors stay as they are, and so
 * does one inside another file ("VALUE:LINE: ..."), which names its place already. */
void agent_config_locate(const char *file, const struct agent_config *config, char *error,
    size_t error_size);

#endif
