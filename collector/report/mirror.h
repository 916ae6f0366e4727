/*
 * A ClickHouse cluster for the reports: an SQLite database in memory with the store's tables, into
 * which the rows that a statement reads are fetched from the cluster just before it runs. So reports
 * use the same statements for both. Only rows that the question can need are fetched
 * (query_set_fetch_range). The rows of several collectors are made into those of one store: agents
 * are numbered in the order of their ids, and what two collectors received of one thing is there
 * once. Sums are too many to be fetched this way (query_cluster.c).
 *
 * Part of a query, which has one or none. Functions return 0 or -errno with the query's error set,
 * which names the server.
 */
#ifndef EASE_COLLECTOR_REPORT_MIRROR_H
#define EASE_COLLECTOR_REPORT_MIRROR_H

#include "collector/cluster/rowbinary.h"
#include "collector/report/query_private.h"

/* A table with more rows (some 500 MB) is refused with -E2BIG. The limit of keys holds, too. */
enum { MIRROR_ROWS_MAX = 3000000 };

/* Connects, checks the version of the tables, and makes query->db. */
int mirror_open(struct query *query, const struct query_cluster *where);
void mirror_close(struct mirror *mirror);

/* Before another question: drops all rows. */
void mirror_forget(struct query *query);

/* Prepare a statement between the two: mirror_note begins to record which tables it reads, and
 * mirror_fill fetches those of their rows that the mirror does not have yet. */
void mirror_note(struct mirror *mirror);
int mirror_fill(struct query *query);

/* Where the tables are. */
const struct cluster_place *mirror_place(const struct mirror *mirror);

/* Queries the cluster; columns of the answer have these types. The question's limits hold. */
int mirror_ask(struct query *query, const char *sql, const enum cluster_type *types, size_t n_types,
    row_fn *row, void *arg);

/* The number of an agent by its id; 0: not known. */
int64_t mirror_agent(const struct mirror *mirror, const uint8_t *agent_id);

/* Writes " AND agent IN (…)" of the agents asked for; nothing if these are all, or very many. */
void mirror_write_agents(FILE *sql, const struct query *query);

#endif
