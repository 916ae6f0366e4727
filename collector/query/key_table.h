/*
 * Keys of a question at their ports, each once: a hash table of those that were asked for.
 *
 * Where a range has more of them than may be in memory (query_limits.keys), the half with the least traffic is dropped,
 * in the unit of options->sort (Misra-Gries). What a key loses is bounded as in the collector's windows: it may have been
 * dropped each time, with at most the samples of the largest key that was dropped then at its port (query_port.dropped).
 */
#ifndef EASE_COLLECTOR_QUERY_KEY_TABLE_H
#define EASE_COLLECTOR_QUERY_KEY_TABLE_H

#include "collector/query/query_private.h"
#include "common/hash.h"

#include <stddef.h>
#include <string.h>

enum { KEY_TABLE_NONE = UINT32_MAX, KEY_TABLE_ASKED = 1 << 14 };

struct key_table {
	const struct report_options *options;
	struct query_key *items;
	uint32_t *buckets; /* index into items, or KEY_TABLE_NONE */
	size_t n, room, n_buckets;
	uint64_t asked[KEY_TABLE_ASKED / 64]; /* hashes of those asked for, which rule out most keys */
};

/* Makes an empty table, and begins to count what is dropped. 0 or -ENOMEM; to be ended in any case. */
int key_table_begin(struct query *query, struct key_table *t, const struct report_options *options);

/* Whether the key is asked for, at any port. */
bool key_table_wants(const struct key_table *t, const struct query_key *key);

/* Hash of the key alone, or with the number of its port. Most keys are short: MACs, IPv4. */
static inline uint64_t
key_table_hash_of(const struct query_key *k, uint64_t port)
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

/* Of the key at its port. The bucket at hash & (n_buckets - 1) is looked at first. */
static inline uint64_t
key_table_hash(const struct query *query, const struct query_key *k)
{
	return key_table_hash_of(k, (uint64_t)(k->port - query->ports));
}

/* The table's entry of that key, added as it is if there is none; NULL after setting *err. Others may move. */
struct query_key *key_table_find(struct query *query, struct key_table *t, const struct query_key *key, uint64_t hash,
    int *err);

/* Returns err, and without one hands over the keys. */
int key_table_end(struct key_table *t, int err, struct query_key **keys, size_t *n);

#endif
