/*
 * Where a cluster is, as text:
 *
 *	clickhouse:http://USER@HOST:PORT/DATABASE?cluster=NAME
 *
 * "clickhouse:" may be left out, the scheme may be https, and all behind HOST too: port 8123
 * (8443), database and cluster as the configuration says. HOST is a name, an IPv4 or an [IPv6] address. A
 * password does not belong into a URL, which is seen in lists of processes and in logs: it is
 * refused.
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
	char user[CLUSTER_NAME_TEXT];	  /* "": not said, as the following */
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
