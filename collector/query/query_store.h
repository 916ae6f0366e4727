/*
 * What a query reads from: a collector's file (file.c), or a cluster that collectors ship to (cluster_store.c).
 * Each is one const table of what it is and does; everything else about a question is the same for both, and asks here
 * instead of which of them it has.
 *
 * Functions return 0 or -errno with the query's error set. NULL: there is nothing to do.
 */
#ifndef EASE_COLLECTOR_QUERY_QUERY_STORE_H
#define EASE_COLLECTOR_QUERY_QUERY_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dimension;
struct pack_key;
struct pack_reader;
struct query;
struct query_key;
struct query_left;
struct query_want;
struct report_options;

/* A pack of a part. */
struct query_body {
	unsigned kind;
	uint64_t start_us; /* of its windows; of a file */
	bool after_edge;   /* it has samples from after the edge */
};
/* Called with each, to read its entries. 0 or -errno. */
typedef int query_body_fn(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg);

/* Totals of a port in a direction and a step. */
struct query_totals {
	uint64_t start_us;
	const struct pack_key *key;
	double expected, received, pool_pkts;
};
typedef void query_totals_fn(void *arg, const struct query_totals *totals);

struct query_store {
	bool is_remote; /* rows are sent by servers: what a question needs is read at once, or not at all */
	bool by_minute; /* it has whole minutes, some time after they ended */
	bool is_shared; /* by collectors: it tells which of them has what, and nothing that one alone knows */
	const char *agent_columns; /* of a collector: whether its newest minute is missing, its number, sysName */
	const char *gap_collector; /* column or value: whose gap it is */

	void (*close)(struct query *query);
	void (*forget)(struct query *query); /* rows that an earlier question read */

	/* Around the preparation of a statement, and before each of its steps: the rows that it reads are fetched before
	 * the first one. */
	void (*prepare)(struct query *query);
	int (*prepared)(struct query *query, sqlite3_stmt *stmt);
	int (*step)(struct query *query, sqlite3_stmt *stmt);

	/* All parts of the range that are wanted. */
	int (*sums)(struct query *query, const struct query_want *want, query_body_fn *take, void *arg);
	/* Totals of the range, of windows of step_us at most. */
	int (*totals_by_step)(struct query *query, uint64_t step_us, query_totals_fn *take, void *arg);
	/* Between these the range goes through steps: sums of all of them may be read at once. */
	void (*begin_steps)(struct query *query, uint64_t step_us);
	void (*end_steps)(struct query *query);
	/* As query_top_keys; 1: done, 0: query_keys has to read all. */
	int (*top_keys)(struct query *query, const struct report_options *options, const struct dimension *dimension,
	    struct query_key **keys, size_t *n, struct query_left *left);
	/* Sets query_port.stated of all ports; NULL: it is read port by port. */
	int (*stated)(struct query *query);
};

#endif
