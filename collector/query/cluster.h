/*
 * What the files that read sums from a cluster share: cluster.c reads sums, cluster_top.c
 * chooses which keys to read, cluster_store.c reads all steps of a history at once.
 */
#ifndef EASE_COLLECTOR_QUERY_CLUSTER_H
#define EASE_COLLECTOR_QUERY_CLUSTER_H

#include "collector/cluster/sums_sql.h"
#include "collector/query/mirror_ask.h"

/* At most so many are listed in one statement. */
enum { CLUSTER_KEYS_LISTED_MAX = QUERY_ONLY_MAX, CLUSTER_PORTS_LISTED_MAX = 4000 };

/* Where the cluster has a part's kind; the server makes sums of one half from those of pairs. */
struct cluster_source {
	enum cluster_table_id table;
	unsigned kind;		   /* of keys and samples without a key */
	const char *half1, *half2; /* expressions */
	const char *sums;	   /* NULL: all of the table's */
	unsigned n_sums;
};

struct cluster_source cluster_source_of(const struct query_want *want);

/* The number of ports asked for whose frames lists do not count. */
size_t cluster_uncounted_ports(const struct query *query, const struct report_options *options);

/* unhex('…') of these octets. */
void cluster_write_hex(FILE *sql, const uint8_t *octets, size_t n);

/* " AND …" of the columns that select rows. */
void cluster_write_where(FILE *sql, const struct query *query, const struct query_want *want,
    const struct cluster_source *source);

/* The same of the query's filter, for keys of that kind. Writes nothing where it cannot: then rows come that the
 * filter does not let pass, and servers must not rank. */
bool cluster_can_filter(const struct query *query, unsigned kind);
void cluster_write_filter(FILE *sql, const struct query *query, unsigned kind);

/* Sums of one key in one step, which begins at step times the steps' length; 0 without steps. */
struct cluster_entry {
	uint64_t step;
	struct pack_key key;
	double values[PACK_COLUMNS];
};

typedef int cluster_entry_fn(void *arg, const struct cluster_entry *entry);

/* The same windows for sums_sql.h, to be freed; NULL: no memory. */
struct sums_run *cluster_runs(const struct query_run *runs, size_t n);

/* Reads the entries of these windows in the order of steps; step_us 0: all in one step. */
int cluster_ask_sums(struct query *query, const struct query_want *want,
    const struct query_run *runs, size_t n_runs, uint64_t step_us, cluster_entry_fn *take,
    void *arg);

/* Collects entries into packs. */
struct cluster_packer {
	struct query *query;
	unsigned kind;
	query_body_fn *take;
	void *arg;
	struct pack pack;
	uint8_t body[PACK_OCTETS_MAX];
};

/* After an error the packer must be closed as well; closing returns the first error. */
int cluster_packer_open(struct cluster_packer **out, struct query *query,
    const struct query_want *want, query_body_fn *take, void *arg);
int cluster_packer_add(void *packer, const struct cluster_entry *entry);
int cluster_packer_close(struct cluster_packer *packer, int err);

/* As struct query_store has them. */
int cluster_top_keys(struct query *query, const struct report_options *options, const struct dimension *dimension,
    struct query_key **keys, size_t *n, struct query_left *left);
int cluster_stated(struct query *query);

#endif
