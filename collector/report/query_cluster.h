/*
 * What the files that ask a cluster for sums share: query_cluster.c adds up, query_top.c chooses
 * the keys that are worth it, query_steps.c asks for all steps of a history at once.
 */
#ifndef EASE_COLLECTOR_REPORT_QUERY_CLUSTER_H
#define EASE_COLLECTOR_REPORT_QUERY_CLUSTER_H

#include "collector/report/mirror.h"

#include <stdio.h>

/* In one statement. */
enum { CLUSTER_KEYS_LISTED_MAX = QUERY_ONLY_MAX, CLUSTER_PORTS_LISTED_MAX = 4000 };

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

/* Sums of one key in one step: its start is step times the steps' length; 0 without steps. */
struct cluster_entry {
	uint64_t step;
	struct pack_key key;
	double values[PACK_COLUMNS];
};

typedef int cluster_entry_fn(void *arg, const struct cluster_entry *entry);

/* Entries of these windows, in the order of steps; step_us 0: all in one. */
int cluster_ask_sums(struct query *query, const struct query_want *want,
    const struct query_run *runs, size_t n_runs, uint64_t step_us, cluster_entry_fn *take,
    void *arg);

/* Entries on their way into packs. */
struct cluster_packer {
	struct query *query;
	unsigned kind;
	query_body_fn *take;
	void *arg;
	struct pack pack;
	uint8_t body[PACK_OCTETS_MAX];
};

/* After an error the packer is to be closed as well; closing gives the first error. */
int cluster_packer_open(struct cluster_packer **out, struct query *query,
    const struct query_want *want, query_body_fn *take, void *arg);
int cluster_packer_add(void *packer, const struct cluster_entry *entry);
int cluster_packer_close(struct cluster_packer *packer, int err);

#endif
