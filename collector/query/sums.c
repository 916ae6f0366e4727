/*
 * Sums of a range from packs: of ports, and of the keys of a dimension. Part of query.h.
 *
 * Packs and the query's ports are sorted in the same order, so both are read side by side. Keys of
 * all windows are added up in a hash table.
 */
#include "collector/query/dimension.h"
#include "collector/query/key_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ports ---- */

struct arrivals {
	double expected, received, cut; /* corrections may be below zero for a while */
};

static int
sums_add_totals(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
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

int
query_sum_windows(struct query *query)
{
	struct arrivals *arrivals = calloc(query->n_ports + 1, sizeof(*arrivals));
	int err;

	if (!arrivals)
		return query_fail(query, -ENOMEM, "no memory");
	err = query_bodies(query, &(struct query_want){.kind = STORE_PART_TOTALS}, sums_add_totals, arrivals);
	if (err == 0)
		err = query_add_gaps(query);
	if (err == 0)
		err = query_end_at_edge(query);
	for (size_t i = 0; i < query->n_ports; i++) {
		set_arrivals(&query->ports[i], &arrivals[i]);
		for (int d = EASE_IN; d <= EASE_OUT; d++) {
			take_cut(&query->ports[i].side[d].pool_pkts, &query->ports[i].cut[d].pkts);
			take_cut(&query->ports[i].side[d].pool_octets, &query->ports[i].cut[d].octets);
		}
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
	return query_bodies(query, &(struct query_want){.kind = STORE_PART_FOLDED + kind}, add_folded, NULL);
}

/* ---- keys ---- */

struct key_sums {
	const struct dimension *dimension;
	struct key_reader conversation;
	struct key_table table;
};

/* Whether the filter lets the key pass; of a port that the filter does not decide by itself. */
static bool
passes_filter(const struct query *query, const struct query_port *port, const struct key_reader *keys, const struct pack_key *key)
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
take_from_conversation(const struct key_sums *t, const uint8_t **half1, uint8_t *n1, const uint8_t **half2,
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
set_key(const struct key_sums *t, const struct pack_key *from, bool single, struct query_key *key)
{
	const struct dimension *d = t->dimension;
	uint8_t n1, n2, folded1[FRAME_IP_LEN], folded2[FRAME_IP_LEN], made[MADE_OCTETS];
	const uint8_t *half1 = pack_half1(from, &n1), *half2 = pack_half2(from, &n2);

	if (d->from_conversations && !take_from_conversation(t, &half1, &n1, &half2, &n2, made))
		return false;
	if (single) {
		half2 = half1;
		n2 = n1;
	}
	if (d->fold != FOLD_NOTHING) {
		if ((d->key1 && !query_fold_address(t->table.options, d->fold, d->group, half1, &n1, folded1)) ||
		    (d->key2 && !query_fold_address(t->table.options, d->fold, d->group, half2, &n2, folded2)))
			return false;
		half1 = folded1;
		half2 = folded2;
	}
	key->n_octets = d->key1 ? n1 : n2;
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
add_wanted(struct query *query, struct key_sums *t, const struct pack_reader *reader, struct wanted_keys *wanted)
{
	int err = 0;

	for (unsigned i = 0; i < wanted->n; i++) {
		uint32_t first = t->table.buckets[wanted->keys[i].hash & (t->table.n_buckets - 1)];

		if (first == KEY_TABLE_NONE)
			continue;
		__builtin_prefetch(&t->table.items[first]);
		__builtin_prefetch(&t->table.items[first].sums, 1);
		__builtin_prefetch(&t->table.items[first].sums.same, 1);
	}
	for (unsigned i = 0; err == 0 && i < wanted->n; i++) {
		struct query_key *sum = key_table_find(query, &t->table, &wanted->keys[i].key,
		    wanted->keys[i].hash, &err);

		if (sum)
			query_add_pack_sums(&sum->sums, reader, wanted->keys[i].entry, wanted->same);
	}
	wanted->n = 0;
	return err;
}

/* Adds the entry read last, if it is asked for. */
static void
want_key(const struct query *query, const struct key_sums *t, const struct pack_reader *reader,
    const struct query_port *port, bool single, struct wanted_keys *wanted)
{
	struct query_key *key = &wanted->keys[wanted->n].key;
	uint64_t hash;

	key->port = port;
	if (!set_key(t, &reader->key, single, key) || !key_table_wants(&t->table, key))
		return;
	hash = key_table_hash(query, key);
	wanted->keys[wanted->n].hash = hash;
	wanted->keys[wanted->n++].entry = reader->i - 1;
	__builtin_prefetch(&t->table.buckets[hash & (t->table.n_buckets - 1)]);
}

static int
add_keys(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
{
	struct key_sums *t = arg;
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
		    passes_filter(query, found, &keys, &reader->key))
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
	struct key_sums t = {.dimension = dimension, .conversation = key_reader_of(STORE_KEY_CONVERSATION)};
	int err = key_table_begin(query, &t.table, options);

	if (err == 0)
		err = query_bodies(query, &want, add_keys, &t);
	return key_table_end(&t.table, err, keys, n);
}
