/*
 * What the files that ask a cluster for sums share: query_cluster.c adds up, query_top.c chooses
 * the keys that are worth it.
 */
#ifndef EASE_COLLECTOR_REPORT_QUERY_CLUSTER_H
#define EASE_COLLECTOR_REPORT_QUERY_CLUSTER_H

#include "collector/report/mirror.h"

#include <stdio.h>

/* In one statement, of which a server takes 256 kB. */
enum { CLUSTER_KEYS_LISTED_MAX = 1000, CLUSTER_PORTS_LISTED_MAX = 2000 };

/* What a part's kind is in the cluster: one half of pairs is what the server makes of them. */
struct cluster_source {
	enum cluster_table_id table;
	unsigned kind;		   /* of keys and samples without a key */
	const char *half1, *half2; /* expressions */
	const char *sums;	   /* NULL: all of the table's */
	unsigned n_sums;
};

struct cluster_source cluster_source_of(const struct query_want *want);

/* Ports asked for whose frames lists do not count. */
size_t cluster_uncounted_ports(const struct query *query, const struct report_options *options);

/* " AND …" of columns that rows are known by. */
void cluster_write_where(FILE *sql, const struct query *query, const struct query_want *want,
    const struct cluster_source *source);

#endif
