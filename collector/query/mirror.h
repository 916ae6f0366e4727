/*
 * A ClickHouse cluster for the reports: an SQLite database in memory with the store's tables, into
 * which the rows that a statement reads are fetched from the cluster before its first step. So reports
 * use the same statements for both. Only rows that the question can need are fetched
 * (query_set_fetch_range). The rows of several collectors are made into those of one store: agents
 * are numbered in the order of their ids, and what two collectors received of one thing is there
 * once. Sums are too many to be fetched this way (cluster.c).
 *
 * Part of a query, which has one or none. Functions return 0 or -errno with the query's error set,
 * which names the server.
 */
#ifndef EASE_COLLECTOR_QUERY_MIRROR_H
#define EASE_COLLECTOR_QUERY_MIRROR_H

#include "collector/query/query_private.h"

/* Connects, checks the version of the tables, and makes query->db. The second NULL, too. */
int mirror_open(struct query *query, const struct query_cluster *where);
void mirror_close(struct mirror *mirror);

/* Before another question: drops all rows. */
void mirror_forget(struct query *query);

/* Of struct query_store: the first two record which tables a statement reads, the third fetches those of their rows that
 * the mirror does not have yet, before the statement's first step. */
void mirror_prepare(struct query *query);
int mirror_prepared(struct query *query, sqlite3_stmt *stmt);
int mirror_step(struct query *query, sqlite3_stmt *stmt);

#endif
