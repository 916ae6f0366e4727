/*
 * The keys of a list from a cluster that holds many: the servers rank them over all ports, and only
 * those that can be among the first, or whose limits overlap those of the first, are fetched by
 * port. The sums of all keys of a port together are fetched as well, so that the total is complete.
 * Part of query.h.
 *
 * A key's estimate is what estimate.c makes of sums by port, and so is the variance that ranks are settled by. The
 * servers add up both, and a key is fetched if its estimate can stand beside that of the last row: if the two
 * are not further apart than any pair of the list needs (estimate_list.h). What the estimator learns from all
 * keys (estimate_told) the servers add up, too.
 */
#include "collector/cluster/sums_sql.h"
#include "collector/query/cluster.h"
#include "collector/query/dimension.h"
#include "collector/query/unkeyed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FETCHED_ALL = 100000, /* up to so many keys are fetched without ranking */
	TOP_MAX = 2000,	      /* a longer list is not worth ranking */
	RANKED_AT_FIRST = 4,  /* times the rows of a list, */
	RANKED_MORE = 2000,   /* and more */
	RANKED_GROWS = 8,
	RANKED_MAX = 500000,
	CANDIDATES_MAX = 20000,
};

struct ranked {
	uint8_t n_octets;
	uint8_t key1[QUERY_KEY_OCTETS], key2[QUERY_KEY_OCTETS];
	double estimate, low, high;
	uint64_t n;
};

struct ranking {
	struct query *query;
	const struct report_options *options;
	const struct dimension *dimension;
	struct query_want want;
	struct cluster_source source;
	struct sums_run *runs;
	size_t n_runs;
	struct ranked *items; /* those with the highest limits, the highest first */
	size_t n, room, asked;
	double z; /* standard deviations that settle any pair of the list */
};

/* ---- asking ---- */

/* How much one frame or octet of a port's samples stands for: by its counters, if they are known. part and heavy
 * are what estimate.c does about the bias of ratios. y: the unit in which keys are ranked. */
#define COVERED(unit) "greatest(0, sum(pool_" unit ") - sum(cut_" unit "))"
static const char factors[] = " GLOBAL ALL INNER JOIN (SELECT agent, if_index,"
    " if({pool} > 0, {pool}, sum({y})) / sum({y}) AS factor,"
    " if(" COVERED("pkts") " > 0, " COVERED("pkts") ", sum(w)) / sum(w) AS frames,"
    " if(sum(n) < {quiet}, frames, 1) AS scale,"
    " if(sum(n) < {quiet} OR {pool} = 0, 0, greatest(0, factor * sum({w2y2}) - sum({y2})) / factor) AS spread,"
    " 1 / (1 + spread / (sum({y}) * sum({y}))) AS part, if(spread > 0, part / sum({y}), 0) AS heavy"
    "{port_rows} GROUP BY agent, if_index HAVING sum({y}) > 0) AS p USING (agent, if_index)";

static void
put_port_rows(FILE *sql, const void *arg)
{
	const struct ranking *r = arg;

	sums_sql_rows(sql, &(struct sums_rows){.place = mirror_place(r->query->mirror), .table = CLUSTER_PORTS,
	    .runs = r->runs, .n_runs = r->n_runs, .where = " AND direction = 1"});
}

static void
put_factors(FILE *sql, const void *arg)
{
	const struct ranking *r = arg;
	bool pkts = r->options->sort == ESTIMATE_PKTS;

	sql_write(sql, SQL(mirror_place(r->query->mirror), NULL, factors, SQL_WRITE("port_rows", put_port_rows, r),
	    SQL_TEXT("pool", pkts ? COVERED("pkts") : COVERED("octets")), SQL_U64("quiet", ESTIMATE_QUIET_SAMPLES),
	    SQL_TEXT("y", pkts ? "w" : "wb"), SQL_TEXT("y2", pkts ? "w" : "wb2"), SQL_TEXT("w2y2", pkts ? "w2" : "w2b2")));
}

static void
cluster_top_put_where(FILE *sql, const void *arg)
{
	const struct ranking *r = arg;

	cluster_write_where(sql, r->query, &r->want, &r->source);
}

static int
ask_servers(struct ranking *r, const char *text, bool with_factors, const enum cluster_type *types, size_t n_types, row_fn *row,
    void *arg)
{
	const struct sums_rows rows = {.place = mirror_place(r->query->mirror), .table = CLUSTER_KEYS, .runs = r->runs,
	    .n_runs = r->n_runs, .write_where = cluster_top_put_where, .write_join = with_factors ? put_factors : NULL, .arg = r};
	const struct dimension *d = r->dimension;
	bool pkts = r->options->sort == ESTIMATE_PKTS;
	char z[32];

	snprintf(z, sizeof(z), "%.3f", r->z);
	return mirror_ask(r->query, SQL(rows.place, NULL, text, SQL_WRITE("rows", sums_sql_rows, &rows), SQL_TEXT("z", z),
	    SQL_TEXT("half1", d->key1 ? "key1" : "''"), SQL_TEXT("half2", d->key2 ? "key2" : "''"),
	    SQL_TEXT("key", d->key1 && d->key2 ? "key1, key2" : d->key1 ? "key1" : "key2"),
	    SQL_TEXT("y", pkts ? "w" : "wb"), SQL_TEXT("y2", pkts ? "w" : "wb2"), SQL_TEXT("w2y2", pkts ? "w2" : "w2b2"),
	    SQL_U64("most", r->asked)), types, n_types, row, arg);
}

static int
take_ranked(void *arg, const struct row_cell *cells)
{
	struct ranking *r = arg;
	struct ranked *item;

	if (cells[0].octets > QUERY_KEY_OCTETS || cells[1].octets > QUERY_KEY_OCTETS)
		return -EBADMSG;
	if (r->n == r->room) {
		size_t room = r->room ? 2 * r->room : 1024;
		struct ranked *items = realloc(r->items, room * sizeof(*items));

		if (!items)
			return query_fail(r->query, -ENOMEM, "no memory");
		r->items = items;
		r->room = room;
	}
	item = &r->items[r->n++];
	*item = (struct ranked){.n_octets = (uint8_t)fmax((double)cells[0].octets,
	    (double)cells[1].octets), .estimate = cells[2].f, .low = cells[2].f - cells[3].f,
	    .high = cells[4].f, .n = (uint64_t)cells[5].i};
	memcpy(item->key1, cells[0].text, cells[0].octets);
	memcpy(item->key2, cells[1].text, cells[1].octets);
	return 0;
}

/* Keys of each port, and keys: about as many. */
static int
cluster_top_take_numbers(void *arg, const struct row_cell *cells)
{
	((uint64_t *)arg)[0] = (uint64_t)cells[0].i;
	((uint64_t *)arg)[1] = (uint64_t)cells[1].i;
	return 0;
}

/* reach: as far from the estimate as a pair of the list needs to be settled. */
static int
ask_ranking(struct ranking *r)
{
	static const enum cluster_type types[] = {CLUSTER_TEXT, CLUSTER_TEXT, CLUSTER_F64,
	    CLUSTER_F64, CLUSTER_F64, CLUSTER_U64};

	r->n = 0;
	return ask_servers(r, "SELECT {half1} AS half1, {half2} AS half2,"
	    " sum(factor * part * {y} + heavy * (factor * {w2y2} - {y2})) AS estimate,"
	    " {z} * sqrt(greatest(0, sum(factor * factor * {w2y2}) - sum(factor * {y2}))) AS reach,"
	    " estimate + reach AS high, sum(n){rows} GROUP BY half1, half2 ORDER BY high DESC LIMIT {most}",
	    true, types, sizeof(types) / sizeof(types[0]), take_ranked, r);
}

static int
take_told(void *arg, const struct row_cell *cells)
{
	struct query_left *left = arg;
	struct estimate_told *told = &left->told;

	left->n_keys = (uint64_t)cells[9].i;
	told->not_seen.sum[ESTIMATE_PKTS] = (struct estimate_sum){cells[0].f, cells[1].f};
	told->not_seen.sum[ESTIMATE_OCTETS] = (struct estimate_sum){cells[2].f, cells[3].f};
	told->lengths = (struct estimate_lengths){.keys = (uint64_t)cells[4].i, .within = cells[5].f,
	    .w = cells[6].f, .wb = cells[7].f, .wb2 = cells[8].f};
	return 0;
}

/* As estimate_not_seen_add() and estimate_lengths_add() have it, of all keys: cw, cw2, cb and cb2 are sums of
 * calibrated weights, s... those that are scaled in quiet strata alone. And how many keys there are. */
static int
ask_told(struct ranking *r, struct query_left *left)
{
	static const enum cluster_type types[] = {CLUSTER_F64, CLUSTER_F64, CLUSTER_F64, CLUSTER_F64,
	    CLUSTER_U64, CLUSTER_F64, CLUSTER_F64, CLUSTER_F64, CLUSTER_F64, CLUSTER_U64};

	return ask_servers(r, "SELECT sum(if(k = 1, cw - 1, 0)),"
	    " sum(if(k = 1, cw2 - cw, if(k = 2, greatest(0, cw * cw - cw2 - 2 * cw + 2), 0))),"
	    " sum(if(k = 1, cb - b, 0)), sum(if(k = 1, cb2 - cb * b, if(k = 2, greatest(0, cb * cb - cb2), 0))),"
	    " toUInt64(sum(k > 1)), sum(if(k > 1, (sb2 - sb * sb / sw) * k / (k - 1), 0)),"
	    " sum(if(k > 1, sw, 0)), sum(if(k > 1, sb, 0)), sum(if(k > 1, sb2, 0)), count() FROM"
	    " (SELECT sum(n) AS k, sum(frames * w) AS cw, sum(frames * frames * w2) AS cw2, sum(frames * wb) AS cb,"
	    " sum(frames * frames * w2b2) AS cb2, sum(wb / w * n) AS b, sum(scale * w) AS sw, sum(scale * wb) AS sb,"
	    " sum(scale * wb2) AS sb2{rows} GROUP BY {key})", true, types, sizeof(types) / sizeof(types[0]), take_told, left);
}

/* ---- choosing ---- */

static int
compare_estimates(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->estimate < y->estimate) - (x->estimate > y->estimate);
}

/* The lowest lower limit of the keys that can be shown: a key whose upper limit is below it does
 * not matter. -INFINITY if there are fewer keys than rows. Sorts. */
static double
lowest_shown(struct ranking *r)
{
	size_t shown = 0;
	double low = INFINITY;

	qsort(r->items, r->n, sizeof(*r->items), compare_estimates);
	for (size_t i = 0; i < r->n && shown < r->options->top; i++) {
		if (r->options->fold_few && r->items[i].n < REPORT_FEW_SAMPLES)
			continue;
		low = fmin(low, r->items[i].low);
		shown++;
	}
	return shown < r->options->top ? -INFINITY : low;
}

/* 1: the items are the candidates; 0: ranking is not worth it; or an error. */
static int
choose_candidates(struct ranking *r)
{
	double slack = unkeyed_most(r->query, r->options, r->dimension, r->options->sort);

	for (r->asked = RANKED_AT_FIRST * r->options->top + RANKED_MORE; r->asked <= RANKED_MAX;
	     r->asked *= RANKED_GROWS) {
		int err = ask_ranking(r);
		bool all = r->n < r->asked;
		double last, low;
		size_t kept = 0;

		if (err)
			return err;
		last = r->n > 0 ? r->items[r->n - 1].high : 0;
		low = lowest_shown(r) - slack;
		if (!all && last >= low)
			continue; /* further keys may overlap */
		for (size_t i = 0; i < r->n; i++)
			if (r->items[i].high >= low)
				r->items[kept++] = r->items[i];
		r->n = kept;
		return r->n <= CANDIDATES_MAX;
	}
	return 0;
}

/* ---- fetching ---- */

static int
append_keys(struct query *query, struct query_key **keys, size_t *n, struct query_key *more, size_t n_more)
{
	struct query_key *all = realloc(*keys, (*n + n_more + 1) * sizeof(*all));

	if (all) {
		if (n_more > 0)
			memcpy(all + *n, more, n_more * sizeof(*all));
		*keys = all;
		*n += n_more;
	}
	free(more);
	return all ? 0 : query_fail(query, -ENOMEM, "no memory");
}

/* Exact sums by port of the candidates, as many at a time as fit into a statement. */
static int
fetch_candidates(struct ranking *r, struct query_key **keys, size_t *n)
{
	struct report_options options = *r->options;
	struct query_key *only = calloc(r->n + 1, sizeof(*only));
	int err = only ? 0 : query_fail(r->query, -ENOMEM, "no memory");

	for (size_t i = 0; only && i < r->n; i++) {
		only[i].n_octets = r->items[i].n_octets;
		memcpy(only[i].key1, r->items[i].key1, QUERY_KEY_OCTETS);
		memcpy(only[i].key2, r->items[i].key2, QUERY_KEY_OCTETS);
	}
	for (size_t i = 0; err == 0 && i < r->n; i += CLUSTER_KEYS_LISTED_MAX) {
		struct query_key *more = NULL;
		size_t n_more = 0;

		options.only = only + i;
		options.n_only = r->n - i < CLUSTER_KEYS_LISTED_MAX ? r->n - i : CLUSTER_KEYS_LISTED_MAX;
		err = query_sum_keys(r->query, &options, r->dimension, &more, &n_more);
		if (err == 0)
			err = append_keys(r->query, keys, n, more, n_more);
	}
	free(only);
	return err;
}

static int
take_left(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
{
	struct query_left *left = arg;

	(void)body;
	while (pack_next(reader)) {
		struct query_port *port = query_port_of(query, &reader->key, NULL);

		if (port)
			query_add_pack_sums(&left->sums[port - query->ports], reader, reader->i - 1, PACK_ANY_PKTS);
	}
	return reader->failed ? -EBADMSG : 0;
}

/* Sums of all keys of each port, without those fetched. */
static int
fetch_left(struct ranking *r, const struct query_key *keys, size_t n, struct query_left *left)
{
	struct query_want want = r->want;
	int err;

	want.by_port = true;
	left->n_keys -= left->n_keys > r->n ? r->n : left->n_keys;
	left->sums = calloc(r->query->n_ports + 1, sizeof(*left->sums));
	if (!left->sums)
		return query_fail(r->query, -ENOMEM, "no memory");
	err = query_bodies(r->query, &want, take_left, left);
	for (size_t i = 0; err == 0 && i < n; i++)
		estimate_subtract_sums(&left->sums[keys[i].port - r->query->ports], &keys[i].sums);
	return err;
}

/* ---- all of it ---- */

static int
find_runs(struct ranking *r)
{
	struct query_run *runs;
	int err = query_find_runs(r->query, &r->want, &runs, &r->n_runs);

	if (err == 0)
		r->runs = cluster_runs(runs, r->n_runs);
	free(runs);
	return err || r->runs ? err : query_fail(r->query, -ENOMEM, "no memory");
}

/* The servers cannot rank what they do not store as a key, and need not rank a list of all keys. */
static bool
can_rank(const struct query *query, const struct report_options *options, const struct dimension *dimension)
{
	return !options->only && !options->per_site && !query_needs_samples(dimension) &&
	    cluster_can_filter(query, dimension->kind) && dimension->fold == FOLD_NOTHING && !dimension->from_conversations && options->top <= TOP_MAX &&
	    cluster_uncounted_ports(query, options) <= CLUSTER_PORTS_LISTED_MAX;
}

/* 1: done; 0: all keys have to be fetched, or are rows anyway; or an error. */
static int
rank_keys(struct ranking *r, struct query_key **keys, size_t *n, struct query_left *left)
{
	static const enum cluster_type types[] = {CLUSTER_U64, CLUSTER_U64};
	uint64_t numbers[2] = {0, 0};
	struct query_left of_all = {0};
	int err = find_runs(r);

	if (err || r->n_runs == 0)
		return err;
	r->want.by_port = true; /* of ports that count */
	err = ask_servers(r, "SELECT uniqCombined(agent, if_index, {key}), uniqCombined({key}){rows}", false, types, 2,
	    cluster_top_take_numbers, numbers);
	if (err || numbers[0] <= FETCHED_ALL || numbers[1] <= r->options->top)
		return err;
	err = query_sum_folded(r->query, r->dimension->kind);
	if (err == 0)
		err = ask_told(r, &of_all);
	if (err)
		return err;
	r->z = estimate_pair_distance(r->options->top, of_all.n_keys);
	err = choose_candidates(r);
	if (err <= 0)
		return err;
	*left = of_all;
	err = fetch_candidates(r, keys, n);
	if (err == 0)
		err = fetch_left(r, *keys, *n, left);
	return err ? err : 1;
}

int
cluster_top_keys(struct query *query, const struct report_options *options, const struct dimension *dimension,
    struct query_key **keys, size_t *n, struct query_left *left)
{
	struct ranking r = {.query = query, .options = options, .dimension = dimension,
	    .want = query_want_keys(options, dimension)};
	int done = 0;

	if (can_rank(query, options, dimension)) {
		r.source = cluster_source_of(&r.want);
		done = rank_keys(&r, keys, n, left);
	}
	free(r.runs);
	free(r.items);
	if (done < 0) {
		free(*keys);
		free(left->sums);
		left->sums = NULL;
		*keys = NULL;
	}
	return done;
}
