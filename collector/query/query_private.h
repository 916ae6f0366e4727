/*
 * What the files of a query share. file.c and cluster_store.c are the stores that there are (query_store.h); none of the
 * others knows which it is, but for mirror*.c and cluster*.c, which the latter is made of.
 *
 * rows.c has statements, ports.c agents and ports. query.c finds these and the range of a question, and ask.c answers it.
 * levels.c chooses the windows of a range, edge.c the end of one that reaches to now; beside.c has what passed before the
 * first counters and after the last, ends.c how well totals are known at the range's ends, and gaps.c what was counted
 * while no counters came. sums.c adds up packs, keys.c kept samples, fine.c parts of windows. names.c names devices and
 * places them, filtered.c has what a filter means for them and for SQL.
 */
#ifndef EASE_COLLECTOR_QUERY_QUERY_PRIVATE_H
#define EASE_COLLECTOR_QUERY_QUERY_PRIVATE_H

#include "collector/query/dimension.h"
#include "collector/query/query.h"
#include "collector/store/pack.h"

struct dimension;

/* Set the error and return err; the second takes SQLite's error and returns -EIO. */
int query_fail(struct query *query, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int query_fail_sql(struct query *query);

/* For loops that compute for long without a call of SQLite, which checks the limits by itself. */
bool query_is_over_limit(const struct query *query);

/* Hands the query to the caller; after an error closes it and says why there is none. q may be NULL. Returns err. */
int query_finish_open(struct query *q, int err, struct query **query, char *error, size_t error_size);

/* Calls row for each row of a statement, until one fails. */
int query_rows(struct query *query, const char *sql, int (*row)(struct query *, sqlite3_stmt *));

/* Read the names that the store has, give them to the agents, and to a port once its own name is known; whether any
 * row gives this site; drop what was read. */
int query_load_names(struct query *query);
void query_name_agents(struct query *query);
void query_name_ports(struct query *query);
bool query_names_have_site(const struct query *query, const char *site);
void query_forget_names(struct query *query);

/* Sets which agents, and then which ports, the filter chooses. -ENOENT if it names one that is not there. */
int query_choose_agents(struct query *query, const struct filter *filter);
int query_choose_ports(struct query *query);

/* Forgets what is known, and sets what is known of the port. */
void query_set_place(struct filter_subject *subject, const struct query_port *port);

/* The reader of the keys of a kind of parts, for a filter; the second adds what a key says that this looks at. */
struct key_reader query_key_reader(unsigned kind, const struct filter *filter);
void query_set_key(struct filter_subject *subject, const struct key_reader *reader, const struct pack_key *key);

/* The field of keys that is this one of a frame; KEY_NO_FIELD: none. */
enum key_field query_key_field(enum filter_field field);

/* Whether keys of that kind of parts say all that the filter looks at. */
bool query_kind_has(unsigned kind, const struct filter *filter);

/* What an address of *n_octets becomes in rows, and of how many octets; false: it is of no group. */
bool query_fold_address(const struct report_options *options, enum dimension_fold fold, enum address_group group,
    const uint8_t *octets, uint8_t *n_octets, uint8_t folded[FRAME_IP_LEN]);

/* The condition that a row of sample passes the query's filter, and the function that it calls. */
void query_write_wanted(const struct query *query, char *sql, size_t size);
void query_sql_is_wanted(sqlite3_context *context, int n, sqlite3_value **values);

/* Adds the SQL functions that statements of keys use; the options are borrowed while these run.
 * False: SQLite has the error. */
bool query_add_functions(struct query *query, const struct report_options *options);

/* The first reads which levels the store has, the second moves the ends of the range to the ends of
 * windows that the store has. */
int query_load_levels(struct query *query);
void query_fit_range(struct query *query);

/* If the range reaches to now: moves its ends so that it ends at the live edge. Ports must be loaded. */
int query_find_edge(struct query *query, const struct report_options *options, uint64_t now_us);

/* Finds the ends of counters within the range, once it is known; after its totals and samples were read, adds what the
 * samples beyond those ends stand for. */
int query_find_beside(struct query *query);
int query_add_beside(struct query *query);
/* After that: sets what of the totals samples divided between the range and the time beside it. */
int query_add_divided(struct query *query);

/* After the totals of a range were read: if it ends at the edge, takes off what ports counted after it. */
int query_end_at_edge(struct query *query);

/* What a port had counted at a time, interpolated between the counters around it; where these began anew in between,
 * what the later or, without them, the earlier ones say. */
struct query_reading {
	bool known;
	uint64_t time_us, discontinuity_us;
	uint64_t apart_us; /* between the counters around it, if frames passed between these; else 0 */
	double value[QUERY_N_COUNTED]; /* NAN: the device does not count it */
	double across[QUERY_N_COUNTED]; /* what was counted between the counters around it */
	bool is_gap; /* these are so far apart that windows may not have it (gaps.c) */
};
int query_reading_at(struct query *query, struct query_port *port, uint64_t at_us, struct query_reading *at);

/* How query_windows and query_keys answer (ask.c): from windows and kept samples, or between query_begin_fine and
 * query_end_fine from parts of windows (fine.c). */
int query_sum_windows(struct query *query);
int query_keys_of_samples(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n, uint64_t *kept_since_us);
int query_fine_windows(struct query *query);
int query_fine_keys(struct query *query, const struct report_options *options, const struct dimension *dimension,
    struct query_key **keys, size_t *n);

/* A kept sample of the range. */
struct query_sample {
	struct query_port *port;
	uint8_t direction;
	uint64_t time_us;
	double weight;
	uint32_t octets;
	bool has_key; /* lists count it, it has a key of the dimension, and the filter lets it pass: */
	struct query_key key; /* without sums */
};
/* 0 or -errno, which ends the reading. */
typedef int query_sample_fn(struct query *query, const struct query_sample *sample, void *arg);

/* Reads all of them, port after port. */
int query_each_sample(struct query *query, const struct dimension *dimension, query_sample_fn *take, void *arg);

void query_add_sample(struct estimate_sums *sums, double weight, double octets);

/* A kept sample does not say which samples came in its notification. So the samples of a key are taken to form as many
 * pairs as all samples of the stratum do, all with the same key: under loss limits are wider than they need to be. The
 * second puts sums of kept samples in the place of a side's, of which it keeps how many pairs there are. */
void query_suppose_mates(struct estimate_sums *sums, const struct estimate_sums *all);
void query_use_kept(struct estimate_stratum *side, const struct estimate_sums *kept);

/* Start of the time of which all samples are kept, if the range began before it by a window or more, else 0. Sets
 * query->samples_since_us. */
int query_find_kept_since(struct query *query, uint64_t *kept_since_us);

/* After the totals of a range were read: sets which direction lists count of each agent, if this question has not. */
void query_choose_sides(struct query *query);

/* Takes a part of a pool that is not in what is asked for; what is left of a known one stays known. */
void query_take_off(double *pool, double part);

/* By an account's tracker, numbers that the boot gave out before the collector first heard of it; NAN where the account does
 * not say, as one from a cluster. */
double query_given_out_before(sqlite3_stmt *stmt, int column);

/* A counter of a row; NAN if the device does not count it. */
double query_count(sqlite3_stmt *stmt, int column);

/* Which parts to read: those of a kind, or of the kind `single` at levels that have it (0: none).
 * For keys of a dimension also which of them matter; else the pointers are NULL. */
struct query_want {
	unsigned kind, single;
	const struct dimension *dimension;
	const struct report_options *options;
	uint64_t longest_us; /* no longer windows than that; 0: any. A store's, not a cluster's */
	bool by_port; /* of a cluster: all keys of a port in one sum, of ports that lists count */
};

/* The keys of a list from windows: both halves, or one where one suffices. */
struct query_want query_want_keys(const struct report_options *options, const struct dimension *dimension);

/* 0 if there is nothing to divide by. */
static inline double
query_ratio(double of, double to)
{
	return to > 0 ? of / to : 0;
}

/* Reads all parts of the range. */
static inline int
query_bodies(struct query *query, const struct query_want *want, query_body_fn *take, void *arg)
{
	return query->store->sums(query, want, take, arg);
}

/* Windows of one level that begin in [from_us, to_us). */
struct query_run {
	enum store_level_index level;
	uint64_t from_us, to_us;
};

/* The kind of the parts that are read at a level. */
unsigned query_kind_at(const struct query_want *want, enum store_level_index level);

/* Finds the windows of the range. 0 or -ENOMEM; *runs is to be freed. */
int query_find_runs(struct query *query, const struct query_want *want, struct query_run **runs, size_t *n);

/* The port of a key, searched from the port `at` of the entry before on, since packs and ports have
 * one order; at: NULL at the start of a body. NULL: not a port of the query. */
struct query_port *query_port_of(const struct query *query, const struct pack_key *key, struct query_port *at);

/* True if no sums have the keys, or what the filter looks at (dimension_for). */
bool query_needs_samples(const struct dimension *dimension);

/* Adds an entry of the present block, by its number; same: first column of the sums over pairs of
 * samples with the same key. */
void query_add_pack_sums(struct estimate_sums *sums, const struct pack_reader *reader,
    unsigned entry, unsigned same);

/* Sums of the keys of a dimension from parts, added up by port and key. */
int query_sum_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n);

/* Adds to the ports' totals what was counted in gaps between counters; the second drops what was
 * read for it. */
int query_add_gaps(struct query *query);
void query_forget_gaps(struct query *query);

/* Sets the ports' samples without a key of that kind. */
int query_sum_folded(struct query *query, unsigned kind);

static inline uint64_t
query_u64(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

#endif
