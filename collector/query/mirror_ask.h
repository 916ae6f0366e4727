/*
 * Questions to the servers of a mirror, and the numbers of agents: what mirror.c and the statements of its tables share.
 * Part of mirror.h.
 */
#ifndef EASE_COLLECTOR_QUERY_MIRROR_ASK_H
#define EASE_COLLECTOR_QUERY_MIRROR_ASK_H

#include "collector/cluster/http.h"
#include "collector/cluster/rowbinary.h"
#include "collector/cluster/sql.h"
#include "collector/query/query_private.h"

#include <stdio.h>

enum {
	MIRROR_ASK_MS = 120000, /* if the question has no limit of its own */
	MIRROR_N_TABLES = 28,
	MIRROR_UNREAD = 16, /* statements that were prepared and have not run */
};

/* A table with more rows (some 500 MB) is refused with -E2BIG. The limit of keys holds, too. */
enum { MIRROR_ROWS_MAX = 3000000 };

struct mirror {
	struct cluster_http *http;
	struct cluster_place place; /* of names below */
	char database[CLUSTER_NAME_TEXT], cluster[CLUSTER_NAME_TEXT];
	uint8_t (*agents)[EASE_AGENT_ID_LEN]; /* number - 1 is the index */
	size_t n_agents;
	uint32_t noted; /* bit i: mirror_tables[i] is read */
	/* By statements whose first step is to come. */
	struct mirror_unread {
		sqlite3_stmt *stmt; /* NULL: free */
		uint32_t noted;
		struct query_fetch_range fetch_range;
	} unread[MIRROR_UNREAD];
	struct {
		bool is;
		struct query_fetch_range fetch_range;
	} loaded[MIRROR_N_TABLES];
};

/* Where the tables are. */
const struct cluster_place *mirror_place(const struct mirror *mirror);

/* Queries the cluster; columns of the answer have these types. The question's limits hold. */
int mirror_ask(struct query *query, const struct sql *sql, const enum cluster_type *types, size_t n_types, row_fn *row,
    void *arg);

/* The number of an agent by its id; 0: not known. The second adds one: they come in the order of their ids, and SQLite
 * numbers them from 1. */
int64_t mirror_agent(const struct mirror *mirror, const uint8_t *agent_id);
int mirror_add_agent(struct query *query, const struct row_cell *id);

/* For SQL_WRITE, of a struct query: " AND agent IN (…)" of the agents asked for; nothing if these are all, or very many. */
void mirror_write_agents(FILE *sql, const void *of);

#endif
