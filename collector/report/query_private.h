/*
 * What the files of a query share: query.c opens the store and finds agents, ports and the range;
 * query_levels.c chooses which windows answer for it; query_sums.c adds up packs; query_keys.c
 * reads kept samples and says who answers; query_functions.c is SQL of our own; mirror.c and
 * query_cluster.c do it with a cluster.
 */
#ifndef EASE_COLLECTOR_QUERY_PRIVATE_H
#define EASE_COLLECTOR_QUERY_PRIVATE_H

#include "collector/report/query.h"
#include "collector/store/pack.h"

/* Set the error; return err, and -EIO. */
int query_fail(struct query *query, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int query_fail_sql(struct query *query);

/* What asks SQLite little and reckons much looks itself. */
bool query_is_over_limit(const struct query *query);

/* Calls row for each row of a statement, until one fails. */
int query_rows(struct query *query, const char *sql, int (*row)(struct query *, sqlite3_stmt *));

/* Makes the functions that the statements of keys use; the options are borrowed as long as they
 * run. False: SQLite has the error. */
bool query_add_functions(struct query *query, const struct report_options *options);

/* Reads what levels the store has, and moves the ends of the range to windows that it has. */
int query_load_levels(struct query *query);
void query_fit_range(struct query *query);

/* Bodies of parts: their entries go to a callback, body by body. 0 or -errno. */
struct dimension;
typedef int query_body_fn(struct query *query, struct pack_reader *reader, unsigned kind,
    void *arg);

/* What is asked for: where a level has kind single, that instead (0: never). Where it is keys of a
 * dimension, what of them is of interest; else both are NULL. */
struct query_want {
	unsigned kind, single;
	const struct dimension *dimension;
	const struct report_options *options;
	bool by_port; /* of a cluster: all keys of a port in one, of ports that count in lists */
};

/* The keys of a list out of windows: both halves, or one where that does. */
struct query_want query_want_keys(const struct report_options *options,
    const struct dimension *dimension);

/* All parts of the range. */
int query_bodies(struct query *query, const struct query_want *want, query_body_fn *take,
    void *arg);

/* Windows of one level that begin in [from_us, to_us). */
struct query_run {
	enum store_level_index level;
	uint64_t from_us, to_us;
};

/* Those of a question. 0 or -ENOMEM; *runs is to be freed. */
int query_find_runs(struct query *query, const struct query_want *want, struct query_run **runs,
    size_t *n);

/* The cluster's sums of these windows. */
int query_cluster_sums(struct query *query, const struct query_want *want,
    const struct query_run *runs, size_t n_runs, query_body_fn *take, void *arg);

/* Ports in the order of packs: the port of the entry taken last, from `at` on or, at the start of a
 * body, NULL. NULL: not a port of the query. */
struct query_port *query_port_of(const struct query *query, const struct pack_key *key,
    struct query_port *at);

/* True if a filter crosses keys. */
bool query_needs_samples(const struct report_options *options, const struct dimension *dimension);

/* Adds an entry of the block at hand, by its number; same: first column of the pairs of mates. */
void query_add_pack_sums(struct estimate_sums *sums, const struct pack_reader *reader,
    unsigned entry, unsigned same);

/* Sums of keys of that dimension, out of parts, added up by port and key. */
int query_sum_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n);

/* Samples without a key of that kind, into the ports. */
int query_sum_folded(struct query *query, unsigned kind);

/* The cluster's sums of the step that the range is, between query_begin_steps and its end. */
int query_step_sums(struct query *query, const struct query_want *want, query_body_fn *take,
    void *arg);

static inline uint64_t
query_u64(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

#endif
