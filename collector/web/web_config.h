/*
 * What the HTTP server (web.h) and its answers (api.h) are given of the configuration.
 */
#ifndef EASE_COLLECTOR_WEB_WEB_CONFIG_H
#define EASE_COLLECTOR_WEB_WEB_CONFIG_H

#include "common/clock.h"
#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query_cluster;

struct web_config {
	int listen_fd;	    /* of web_listen */
	const char *token;  /* "": none */
	const char *const *hosts; /* names that a Host header may contain; NULL if n_hosts is 0 */
	size_t n_hosts;
	uint32_t connections;	/* most at a time */
	uint32_t question_ms;	/* longest time of a query */
	size_t question_keys;	/* most keys that a query may read */
	uint32_t metrics_ports, metrics_top; /* most series of /metrics */
	const char *store;
	/* Called by any thread when the store's file, by its inode, is found to be damaged; NULL: nobody cares. */
	void (*damaged)(void *arg, uint64_t inode);
	void *damaged_arg;
	const struct query_cluster *cluster; /* what page and /api/v1/ read instead, or NULL */
	struct web_names {
		const char *file; /* of names (address_names.h); "": none */
		const char *const *databases; /* of AS numbers and countries */
		size_t n_databases;
		bool vendors;
		bool resolve; /* names of IP addresses by the resolver */
	} names;
	const struct stat_set *const *stats; /* of the collector, shown together with the server's */
	size_t n_stats;
	uint64_t started_us;
	const struct clock *clock;
};

#endif
