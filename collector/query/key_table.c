#include "collector/query/key_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_AT_FIRST = 4096 };

/* ---- dropping ---- */

static int
compare_traffic(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
traffic_of(const struct query_key *key, enum estimate_unit unit)
{
	return unit == ESTIMATE_PKTS ? key->sums.w : key->sums.wb;
}

/* most: of each port, the samples of its largest dropped key. */
static void
count_dropped(struct query *query, const struct query_key *key, uint64_t *most)
{
	size_t at = (size_t)(key->port - query->ports);

	query->ports[at].dropped += key->sums.n;
	if (key->sums.n > most[at])
		most[at] = key->sums.n;
}

/* Drops the half of the keys with the least traffic. */
static int
drop_keys(struct query *query, const struct report_options *options, struct query_key *keys, size_t *n)
{
	double *sorted = malloc((*n + 1) * sizeof(*sorted)), median;
	uint64_t *most = calloc(query->n_ports + 1, sizeof(*most));
	size_t left = 0, to_drop = *n > 1 ? *n / 2 : *n, ties = 0;

	if (!sorted || !most) {
		free(sorted);
		free(most);
		return query_fail(query, -ENOMEM, "no memory");
	}
	for (size_t i = 0; i < *n; i++)
		sorted[i] = traffic_of(&keys[i], options->sort);
	sorted[*n] = INFINITY;
	qsort(sorted, *n, sizeof(*sorted), compare_traffic);
	median = sorted[to_drop];
	while (ties < to_drop && sorted[to_drop - 1 - ties] == median)
		ties++;
	for (size_t i = 0; i < *n; i++) {
		double traffic = traffic_of(&keys[i], options->sort);
		bool tie = traffic == median && ties > 0;

		ties -= tie;
		if (tie || traffic < median)
			count_dropped(query, &keys[i], most);
		else
			keys[left++] = keys[i];
	}
	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].dropped_most += most[i];
	*n = left;
	free(sorted);
	free(most);
	return 0;
}

/* ---- keys ---- */

static bool
key_table_is_same(const struct query_key *a, const struct query_key *b)
{
	return a->port == b->port && a->n_octets == b->n_octets &&
	    memcmp(a->key1, b->key1, sizeof(a->key1) + sizeof(a->key2)) == 0;
}

_Static_assert(offsetof(struct query_key, key2) ==
	offsetof(struct query_key, key1) + QUERY_KEY_OCTETS, "both are looked at at once");

static void
fill_buckets(const struct query *query, struct key_table *t)
{
	memset(t->buckets, 0xff, t->n_buckets * sizeof(*t->buckets));
	for (size_t i = 0; i < t->n; i++) {
		uint64_t b = key_table_hash(query, &t->items[i]);

		while (t->buckets[b & (t->n_buckets - 1)] != KEY_TABLE_NONE)
			b++;
		t->buckets[b & (t->n_buckets - 1)] = (uint32_t)i;
	}
}

static int
grow_table(struct query *query, struct key_table *t)
{
	size_t n_buckets = t->n_buckets ? 4 * t->n_buckets : BUCKETS_AT_FIRST;
	struct query_key *items = realloc(t->items, n_buckets / 2 * sizeof(*items));
	uint32_t *buckets = malloc(n_buckets * sizeof(*buckets));

	if (items)
		t->items = items;
	if (!items || !buckets) {
		free(buckets);
		return query_fail(query, -ENOMEM, "no memory");
	}
	free(t->buckets);
	t->buckets = buckets;
	t->n_buckets = n_buckets;
	t->room = n_buckets / 2;
	fill_buckets(query, t);
	return 0;
}

struct query_key *
key_table_find(struct query *query, struct key_table *t, const struct query_key *key, uint64_t hash, int *err)
{
	uint64_t b = hash;
	uint32_t i;

	while ((i = t->buckets[b & (t->n_buckets - 1)]) != KEY_TABLE_NONE) {
		if (key_table_is_same(&t->items[i], key))
			return &t->items[i];
		b++;
	}
	if (query->limits.keys > 0 && t->n >= query->limits.keys) {
		*err = drop_keys(query, t->options, t->items, &t->n);
		if (*err)
			return NULL;
		fill_buckets(query, t);
		return key_table_find(query, t, key, hash, err);
	}
	if (t->n == t->room) {
		*err = grow_table(query, t);
		return *err == 0 ? key_table_find(query, t, key, hash, err) : NULL;
	}
	t->buckets[b & (t->n_buckets - 1)] = (uint32_t)t->n;
	t->items[t->n] = *key;
	return &t->items[t->n++];
}

int
key_table_begin(struct query *query, struct key_table *t, const struct report_options *options)
{
	*t = (struct key_table){.options = options};
	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].dropped = query->ports[i].dropped_most = 0;
	for (size_t i = 0; i < t->options->n_only; i++) {
		uint64_t bit = key_table_hash_of(&t->options->only[i], 0) % KEY_TABLE_ASKED;

		t->asked[bit / 64] |= 1ull << bit % 64;
	}
	return grow_table(query, t);
}

bool
key_table_wants(const struct key_table *t, const struct query_key *key)
{
	const struct query_key *only = t->options->only;
	uint64_t bit;

	if (!only)
		return true;
	bit = key_table_hash_of(key, 0) % KEY_TABLE_ASKED;
	if (!(t->asked[bit / 64] >> bit % 64 & 1))
		return false;
	for (size_t i = 0; i < t->options->n_only; i++)
		if (only[i].n_octets == key->n_octets && memcmp(only[i].key1, key->key1, 2 * QUERY_KEY_OCTETS) == 0)
			return true;
	return false;
}

int
key_table_end(struct key_table *t, int err, struct query_key **keys, size_t *n)
{
	free(t->buckets);
	if (err) {
		free(t->items);
		return err;
	}
	*keys = t->items;
	*n = t->n;
	return 0;
}
