/*
 * The URL of a cluster:
 *
 *	clickhouse:http://USER@HOST:PORT/DATABASE?cluster=NAME
 *
 * "clickhouse:" is optional, and so is everything after HOST; the scheme may be https. The defaults
 * are port 8123 (https: 8443) and the configuration's database and cluster. HOST is a name, an IPv4
 * address or an [IPv6] address. A password is refused, because URLs are visible in lists of processes
 * and in logs.
 */
#ifndef EASE_COLLECTOR_CLUSTER_URL_H
#define EASE_COLLECTOR_CLUSTER_URL_H

#include <stdbool.h>
#include <stdint.h>

enum { CLUSTER_HOST_TEXT = 256, CLUSTER_NAME_TEXT = 65 };

struct cluster_url {
	bool tls;
	char host[CLUSTER_HOST_TEXT]; /* without brackets */
	uint16_t port;
	char user[CLUSTER_NAME_TEXT];	  /* "": not given, as in the following */
	char database[CLUSTER_NAME_TEXT];
	char cluster[CLUSTER_NAME_TEXT];
};

/* 0, or -EINVAL with the reason in static storage. */
int cluster_url_parse(const char *text, struct cluster_url *url, const char **reason);

/* For options: NULL if good, else the reason. */
const char *cluster_url_check(const char *text);

/* True if a store's name means a cluster: it begins with "clickhouse:". */
bool cluster_url_is_meant(const char *text);

#endif
