/*
 * A ClickHouse cluster as the reports see it: an SQLite database in memory with the store's tables,
 * which are filled from the cluster just before a statement that reads them runs. So reports ask
 * both in the same words. Only rows that the question can need are fetched (query_set_fetch_range), those of
 * several collectors made into one store's: agents are numbered in the order of their ids, what two
 * collectors tell of one thing is there once. Sums do not come this way, there are too many
 * (query_cluster.c).
 *
 * Part of a query, which has one or none. Functions return 0 or -errno with the query's error set,
 * which names the server.
 */
#ifndef EASE_COLLECTOR_REPORT_MIRROR_H
#define EASE_COLLECTOR_REPORT_MIRROR_H

#include "collector/cluster/rowbinary.h"
#include "collector/report/query_private.h"

/* More rows of a table are refused with -E2BIG: some 500 MB. A limit of keys holds for rows, too. */
enum { MIRROR_ROWS_MAX = 3000000 };

/* Connects, looks at the version of the tables there, and makes query->db. */
int mirror_open(struct query *query, const struct query_cluster *where);
void mirror_close(struct mirror *mirror);

/* For another question: nothing is there any more. */
void mirror_forget(struct query *query);

/* Between mirror_note and mirror_fill a statement is prepared; mirror_fill fetches what it reads
 * and the mirror lacks. */
void mirror_note(struct mirror *mirror);
int mirror_fill(struct query *query);

/* Where the tables are. */
const struct cluster_place *mirror_place(const struct mirror *mirror);

/* Asks the cluster; columns of the answer have these types. The question's limits hold. */
int mirror_ask(struct query *query, const char *sql, const enum cluster_type *types, size_t n_types,
    row_fn *row, void *arg);

/* The number of an agent by its id; 0: not known. */
int64_t mirror_agent(const struct mirror *mirror, const uint8_t *agent_id);

/* " AND agent IN (…)" of the agents asked for; nothing if that is all, or very many. */
void mirror_write_agents(FILE *sql, const struct query *query);

#endif
