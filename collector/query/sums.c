/*
 * Sums of a range from packs: of ports, and of the keys of a dimension. Part of query.h.
 *
 * Packs and the query's ports are sorted in the same order, so both are read side by side. Keys of
 * all windows are added up in a hash table.
 */
#include "collector/query/dimension.h"
#include "collector/query/query_private.h"
#include "common/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ports ---- */

struct arrivals {
	double expected, received, cut; /* corrections may be below zero for a while */
};

static int
add_totals(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
{
	struct query_port *port = NULL, *found;
	struct arrivals *arrivals = arg;

	while (pack_next(reader)) {
		uint8_t direction = pack_direction(&reader->key);
		struct estimate_stratum *side;

		found = query_port_of(query, &reader->key, port);
		if (!found || (direction != EASE_IN && direction != EASE_OUT))
			continue;
		port = found;
		side = &port->side[direction];
		side->pool_pkts += pack_value(reader, PACK_POOL_PKTS);
		side->pool_octets += pack_value(reader, PACK_POOL_OCTETS);
		side->w_max = fmax(side->w_max, pack_value(reader, PACK_W_MAX));
		port->cut[direction].pkts += pack_value(reader, PACK_CUT_PKTS);
		port->cut[direction].octets += pack_value(reader, PACK_CUT_OCTETS);
		if (body->after_edge)
			continue;
		query_add_pack_sums(&side->all, reader, reader->i - 1, PACK_ANY_PKTS);
		arrivals[port - query->ports].expected += pack_value(reader, PACK_EXPECTED);
		arrivals[port - query->ports].received += pack_value(reader, PACK_RECEIVED);
		arrivals[port - query->ports].cut += pack_value(reader, PACK_CUT_NUMBERS);
	}
	return reader->failed ? -EBADMSG : 0;
}

/* Numbers that are missing in cut gaps are no loss of what is estimated. */
static void
set_arrivals(struct query_port *port, const struct arrivals *arrivals)
{
	double cut = fmax(0, arrivals->cut), expected = arrivals->expected - cut;

	port->cut_numbers = (uint64_t)cut;
	port->expected = (uint64_t)(int64_t)arrivals->expected;
	port->received = (uint64_t)(int64_t)arrivals->received;
	if (arrivals->received < expected)
		port->side[EASE_IN].lost = port->side[EASE_OUT].lost =
		    1 - arrivals->received / expected;
}

/* Takes what passed while samples were lost out of a pool: 0 .. all of it. */
static void
take_cut(double *pool, double *cut)
{
	*cut = fmin(fmax(0, *cut), fmax(0, *pool));
	query_take_off(pool, *cut);
}

static void
take_cuts(struct query_port *port)
{
	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		take_cut(&port->side[d].pool_pkts, &port->cut[d].pkts);
		take_cut(&port->side[d].pool_octets, &port->cut[d].octets);
	}
}

int
query_sum_windows(struct query *query)
{
	struct arrivals *arrivals = calloc(query->n_ports + 1, sizeof(*arrivals));
	int err;

	if (!arrivals)
		return query_fail(query, -ENOMEM, "no memory");
	err = query_bodies(query, &(struct query_want){.kind = STORE_PART_TOTALS}, add_totals,
	    arrivals);
	if (err == 0)
		err = query_add_gaps(query);
	if (err == 0)
		err = query_end_at_edge(query);
	for (size_t i = 0; i < query->n_ports; i++) {
		set_arrivals(&query->ports[i], &arrivals[i]);
		take_cuts(&query->ports[i]);
	}
	if (err == 0)
		query_choose_sides(query);
	if (err == 0)
		err = query_add_beside(query);
	if (err == 0 && !query->fine)
		err = query_add_divided(query);
	free(arrivals);
	return err;
}

static int
add_folded(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
{
	(void)body;
	(void)arg;
	while (pack_next(reader)) {
		struct query_port *port = query_port_of(query, &reader->key, NULL);

		if (!port || pack_direction(&reader->key) != port->agent->listed)
			continue;
		port->folded += (uint64_t)pack_value(reader, PACK_N);
		port->folded_most += (uint64_t)pack_value(reader, PACK_MOST_N);
	}
	return reader->failed ? -EBADMSG : 0;
}

int
query_sum_folded(struct query *query, unsigned kind)
{
	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].folded = query->ports[i].folded_most = 0;
	return query_bodies(query, &(struct query_want){.kind = STORE_PART_FOLDED + kind},
	    add_folded, NULL);
}

/* ---- more keys than there is memory for ----
 *
 * Drops the smallest keys of a range that has more than fit into memory. What a key loses is
 * bounded as in the collector's windows: it may have been dropped each time, with at most the samples of the
 * largest key that was dropped then at its port.
 */

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

void
query_begin_drop(struct query *query)
{
	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].dropped = query->ports[i].dropped_most = 0;
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

int
query_drop_keys(struct query *query, const struct report_options *options, struct query_key *keys, size_t *n)
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

enum { BUCKETS_AT_FIRST = 4096, NO_KEY = UINT32_MAX, ASKED_BITS = 1 << 14 };

struct key_table {
	const struct report_options *options;
	const struct dimension *dimension;
	struct query_key *items;
	uint32_t *buckets; /* index into items, or NO_KEY */
	size_t n, room, n_buckets;
	struct key_reader conversation;
	uint64_t asked[ASKED_BITS / 64]; /* hashes of those asked for, which rule out most keys */
};

/* Hash of the key alone, or with the number of its port. Most keys are short: MACs, IPv4. */
static uint64_t
hash_key(const struct query_key *k, uint64_t port)
{
	uint64_t words[6] = {port << 8 | k->n_octets};

	if (k->n_octets <= sizeof(words[0])) {
		memcpy(&words[1], k->key1, sizeof(words[1]));
		memcpy(&words[2], k->key2, sizeof(words[2]));
		return hash_octets(HASH_GOLDEN, words, 4 * sizeof(words[0]));
	}
	memcpy(&words[1], (const char *)k + offsetof(struct query_key, key1),
	    2 * QUERY_KEY_OCTETS);
	return hash_octets(HASH_GOLDEN, words, sizeof(words));
}
_Static_assert(2 * QUERY_KEY_OCTETS <= 5 * sizeof(uint64_t), "a key has grown");

static uint64_t
hash_at_port(const struct query *query, const struct query_key *k)
{
	return hash_key(k, (uint64_t)(k->port - query->ports));
}

static bool
is_same(const struct query_key *a, const struct query_key *b)
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
		uint64_t b = hash_at_port(query, &t->items[i]);

		while (t->buckets[b & (t->n_buckets - 1)] != NO_KEY)
			b++;
		t->buckets[b & (t->n_buckets - 1)] = (uint32_t)i;
	}
}

static int
grow(struct query *query, struct key_table *t)
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

/* The table's entry of that key, added if there is none; NULL after setting *err. */
static struct query_key *
find_key(struct query *query, struct key_table *t, const struct query_key *key, uint64_t hash,
    int *err)
{
	uint64_t b = hash;
	uint32_t i;

	while ((i = t->buckets[b & (t->n_buckets - 1)]) != NO_KEY) {
		if (is_same(&t->items[i], key))
			return &t->items[i];
		b++;
	}
	if (query->limits.keys > 0 && t->n >= query->limits.keys) {
		*err = query_drop_keys(query, t->options, t->items, &t->n);
		if (*err)
			return NULL;
		fill_buckets(query, t);
		return find_key(query, t, key, hash, err);
	}
	if (t->n == t->room) {
		*err = grow(query, t);
		return *err == 0 ? find_key(query, t, key, hash, err) : NULL;
	}
	t->buckets[b & (t->n_buckets - 1)] = (uint32_t)t->n;
	t->items[t->n] = *key;
	return &t->items[t->n++];
}

static void
note_asked(struct key_table *t)
{
	for (size_t i = 0; i < t->options->n_only; i++) {
		uint64_t bit = hash_key(&t->options->only[i], 0) % ASKED_BITS;

		t->asked[bit / 64] |= 1ull << bit % 64;
	}
}

static bool
is_asked(const struct key_table *t, const struct query_key *key)
{
	const struct query_key *only = t->options->only;
	uint64_t bit;

	if (!only)
		return true;
	bit = hash_key(key, 0) % ASKED_BITS;
	if (!(t->asked[bit / 64] >> bit % 64 & 1))
		return false;
	for (size_t i = 0; i < t->options->n_only; i++)
		if (only[i].n_octets == key->n_octets &&
		    memcmp(only[i].key1, key->key1, 2 * QUERY_KEY_OCTETS) == 0)
			return true;
	return false;
}

/* Whether the filter lets the key pass; of a port that the filter does not decide by itself. */
static bool
passes(const struct query *query, const struct query_port *port, const struct key_reader *keys, const struct pack_key *key)
{
	struct filter_subject subject;

	if (port->passes)
		return true;
	query_set_place(&subject, port);
	query_set_key(&subject, keys, key);
	return filter_judge(query->filter, &subject) == FILTER_YES;
}

static void
set_half(uint8_t half[QUERY_KEY_OCTETS], const uint8_t *octets, uint8_t n)
{
	memset(half, 0, QUERY_KEY_OCTETS);
	memcpy(half, octets, n);
}

enum { MADE_OCTETS = 3 }; /* IP protocol, the server's port */

/* The dimension's key of a conversation's, in whose halves it lies or which `made` takes. False: it has none. */
static bool
take_from_conversation(const struct key_table *t, const uint8_t **half1, uint8_t *n1, const uint8_t **half2,
    uint8_t *n2, uint8_t made[MADE_OCTETS])
{
	const struct dimension *d = t->dimension;
	struct key_fields f;
	unsigned src, dst, server;

	if (!key_read_half(&t->conversation, 1, *half1, *n1, &f) ||
	    !key_read_half(&t->conversation, 2, *half2, *n2, &f))
		return false;
	src = key_number(&f, KEY_SRC_PORT);
	dst = key_number(&f, KEY_DST_PORT);
	made[0] = f.of[KEY_IP_PROTO].octets[0];
	server = src < dst && !store_is_icmp(made[0]) ? src : dst;
	made[1] = (uint8_t)(server >> 8);
	made[2] = (uint8_t)server;
	*half1 = d->key->is_pair ? f.of[KEY_SRC_IP].octets : made;
	*n1 = d->key->is_pair ? f.of[KEY_SRC_IP].n : key_octets_behind(d->key, 1);
	*half2 = f.of[KEY_DST_IP].octets;
	*n2 = f.of[KEY_DST_IP].n;
	return d->by != REPORT_BY_SERVICE || src > 0 || dst > 0;
}

/* Turns a stored key into one of the dimension; a part of single halves has only the first. False: it has none. */
static bool
set_key(const struct key_table *t, const struct pack_key *from, bool single, struct query_key *key)
{
	const struct dimension *d = t->dimension;
	uint8_t n1, n2, cut[FRAME_IP_LEN] = {0}, made[MADE_OCTETS];
	const uint8_t *half1 = pack_half1(from, &n1), *half2 = pack_half2(from, &n2);

	if (d->from_conversations && !take_from_conversation(t, &half1, &n1, &half2, &n2, made))
		return false;
	if (single) {
		half2 = half1;
		n2 = n1;
	}
	key->n_octets = d->key1 ? n1 : n2;
	if (d->subnet && n1 <= FRAME_IP_LEN) {
		filter_cut(half1, report_mask_bits(t->options, n1), cut);
		half1 = cut;
	}
	set_half(key->key1, half1, d->key1 ? n1 : 0);
	set_half(key->key2, half2, d->key2 ? n2 : 0);
	return true;
}

/* Keys of a block before they are looked up. */
struct wanted_keys {
	unsigned n, same; /* same: the column */
	struct {
		struct query_key key;
		uint64_t hash;
		unsigned entry; /* its number in the pack */
	} keys[PACK_BLOCK];
};

/* An entry is probably not in the processor's caches, so all entries of a block are prefetched
 * before the first one is updated. */
static int
add_wanted(struct query *query, struct key_table *t, const struct pack_reader *reader,
    struct wanted_keys *wanted)
{
	int err = 0;

	for (unsigned i = 0; i < wanted->n; i++) {
		uint32_t first = t->buckets[wanted->keys[i].hash & (t->n_buckets - 1)];

		if (first == NO_KEY)
			continue;
		__builtin_prefetch(&t->items[first]);
		__builtin_prefetch(&t->items[first].sums, 1);
		__builtin_prefetch(&t->items[first].sums.same, 1);
	}
	for (unsigned i = 0; err == 0 && i < wanted->n; i++) {
		struct query_key *sum = find_key(query, t, &wanted->keys[i].key,
		    wanted->keys[i].hash, &err);

		if (sum)
			query_add_pack_sums(&sum->sums, reader, wanted->keys[i].entry,
			    wanted->same);
	}
	wanted->n = 0;
	return err;
}

/* Adds the entry read last, if it is asked for. */
static void
want_key(const struct query *query, const struct key_table *t, const struct pack_reader *reader,
    const struct query_port *port, bool single, struct wanted_keys *wanted)
{
	struct query_key *key = &wanted->keys[wanted->n].key;
	uint64_t hash;

	key->port = port;
	if (!set_key(t, &reader->key, single, key) || !is_asked(t, key))
		return;
	hash = hash_at_port(query, key);
	wanted->keys[wanted->n].hash = hash;
	wanted->keys[wanted->n++].entry = reader->i - 1;
	__builtin_prefetch(&t->buckets[hash & (t->n_buckets - 1)]);
}

static int
add_keys(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
{
	struct key_table *t = arg;
	bool single = body->kind != t->dimension->kind;
	const struct key_reader keys = query_key_reader(body->kind, query->filter);
	struct wanted_keys wanted = {.same = t->dimension->same};
	struct query_port *port = NULL, *found;
	int err = 0;

	if (single && wanted.same != PACK_ANY_PKTS)
		wanted.same = PACK_SAME_PKTS;
	while (err == 0 && pack_next(reader)) {
		found = query_port_of(query, &reader->key, port);
		port = found ? found : port;
		if (found && found->chosen && pack_direction(&reader->key) == found->agent->listed &&
		    passes(query, found, &keys, &reader->key))
			want_key(query, t, reader, found, single, &wanted);
		if (pack_ends_block(reader))
			err = add_wanted(query, t, reader, &wanted);
	}
	return err == 0 && reader->failed ? -EBADMSG : err;
}

struct query_want
query_want_keys(const struct report_options *options, const struct dimension *dimension)
{
	return (struct query_want){.kind = dimension->kind,
	    /* the filter may look at the other half */
	    .single = query_kind_has(dimension->single, options->filter) ? dimension->single : 0,
	    .dimension = dimension, .options = options};
}

int
query_sum_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n)
{
	const struct query_want want = query_want_keys(options, dimension);
	struct key_table t = {.options = options, .dimension = dimension,
	    .conversation = key_reader_of(STORE_KEY_CONVERSATION)};
	int err = grow(query, &t);

	query_begin_drop(query);
	note_asked(&t);
	if (err == 0)
		err = query_bodies(query, &want, add_keys, &t);
	free(t.buckets);
	if (err) {
		free(t.items);
		return err;
	}
	*keys = t.items;
	*n = t.n;
	return 0;
}
