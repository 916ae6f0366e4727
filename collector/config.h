/*
 * The collector's configuration file: one table of options, for easecapd, and for easetop, which
 * reads where the store is.
 */
#ifndef EASE_COLLECTOR_CONFIG_H
#define EASE_COLLECTOR_CONFIG_H

#include "common/options.h"

enum { COLLECTOR_LOG_STDERR, COLLECTOR_LOG_SYSLOG };

/* An SNMPv3 user, see collector/input/v3.h. */
struct collector_user {
	char *name;
	struct option_list engine_ids;
	int auth_protocol; /* index into v3_auth_protocols, v3_priv_protocols */
	int priv_protocol;
	char *auth_passphrase, *priv_passphrase;
};

/* As whom SNMP is spoken. */
struct collector_credentials {
	char *community; /* "": SNMPv3 */
	char *user;
	int auth_protocol, priv_protocol; /* as of struct collector_user */
	char *auth_passphrase, *priv_passphrase;
};

/* Switches that are asked by SNMP. */
struct collector_poll {
	char *title;
	struct option_list agents;
	uint32_t port;
	struct collector_credentials as;
	char *sflow_to; /* of steer alone: where switches with SFLOW-MIB shall send; "": it is of our own agents */
	uint32_t sflow_skip;
};

/* An SNMP manager that gets informs of alarms. */
struct collector_inform {
	char *title, *to;
	struct collector_credentials as;
};

struct collector_config {
	struct option_list listen;
	struct option_list sflow_listen;
	struct option_list forward;
	struct option_list communities;
	struct option_list senders, sflow_shared_agents;
	struct option_list agent_sources;
	struct option_list uplinks;
	struct option_list alarms;
	char *alarm_command;
	struct option_list alarm_posts;
	struct option_sections alarm_informs; /* struct collector_inform */
	uint32_t alarm_hold_s;
	struct option_list precision;
	uint32_t precision_budget, precision_agent_budget; /* samples a second; 0: no limit */
	int precision_share; /* 0: even, 1: most */
	char *precision_owner;
	struct option_sections users; /* struct collector_user */
	struct option_sections polls; /* struct collector_poll */
	struct option_sections steers; /* the same: switches whose skips are set */
	uint32_t poll_counters_s, poll_names_s, poll_questions;
	char *run_as, *run_as_group; /* where root starts the collector, see common/privilege.h */
	char *store;
	uint32_t flush_interval_ms;
	uint32_t receive_buffer_octets;
	uint32_t threads;
	uint32_t memory_mib;
	uint32_t sample_rows;
	uint32_t vxlan_port;
	uint32_t clock_tolerance_ms;
	char *http_listen;
	char *http_token;
	struct option_list http_hosts;
	uint32_t http_connections;
	uint32_t http_question_ms;
	uint32_t http_metrics_ports;
	uint32_t http_metrics_top;
	char *names;
	struct option_list mmdb;
	char *device_names;
	bool vendors, resolve;
	/* how long data is kept; 0: for ever */
	uint32_t keep_headers_h;
	uint32_t keep_samples_h, keep_1min_h, keep_5min_d, keep_1h_d, keep_1d_d;
	uint32_t forget_after_d; /* 0: never */
	uint32_t store_size_mib;
	char *http_store; /* "sqlite" or "clickhouse" */
	struct option_list clickhouse;
	char *clickhouse_database, *clickhouse_cluster;
	char *clickhouse_user, *clickhouse_password;
	bool clickhouse_samples;
	uint32_t clickhouse_interval_s;
	/* the same in the cluster */
	uint32_t cluster_keep_samples_h, cluster_keep_1min_h, cluster_keep_5min_d;
	uint32_t cluster_keep_1h_d, cluster_keep_1d_d;
	int log;       /* COLLECTOR_LOG_… */
	int log_level; /* enum log_level */
};

/* The page needs this much of the memory budget; with less, windows need all of it. */
enum { COLLECTOR_PAGE_MIB = 160 };

extern const struct option_row collector_options[];

/* Reads the file into *config (zeroed by the caller); file NULL: the defaults. 0, or -errno with
 * "FILE:LINE: reason" or "FILE: reason" in error. collector_config_free in both cases. */
int collector_config_read(const char *file, struct collector_config *config, char *error, size_t error_size);

/* The same, and checks what several options together must fulfil. */
int collector_config_load(const char *file, struct collector_config *config, char *error, size_t error_size);
void collector_config_free(struct collector_config *config);

/* Whether SNMP is received at all: not where there is neither a community nor a user, for sFlow alone. */
bool collector_takes_notifications(const struct collector_config *config);

#endif
