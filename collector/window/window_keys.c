/* Adds evicted flows to their keys: finds or makes each key, and evicts keys when none is free. */
#include "common/hash.h"
#include "collector/window/window_private.h"

#include <assert.h>
#include <string.h>

enum {
	/* Keys that an eviction chooses from. With more of them the choice is nearer to the key
	 * with the fewest samples of all. */
	CANDIDATES = 8,
};

/* A flow's sums of its samples' weights and lengths, as its keys have them. */
struct weighted {
	uint64_t w;
	double w2, wb, wb2, w2b2;
};

/* A key that is looked for. */
struct wanted {
	const struct flow *flow;
	const struct weighted *sums;
	uint32_t hash;
	uint8_t kind; /* index into key_layouts */
	struct halves halves;
};

struct folded *
window_folded_of(const struct window_table *t, const struct key *k)
{
	assert(k->window < t->limits.windows && k->direction - 1u < N_DIRECTIONS && k->kind < N_KINDS);
	return &t->windows[k->window].directions[k->direction - 1].folded[k->kind];
}

void
window_key_clear(const struct window_table *t, struct key *k)
{
	k->sums = (struct key_sums){0};
	k->unflushed = 0;
	k->w = 0;
	if (k->kind < KINDS_OF_PAIRS)
		t->address_pairs[k - t->keys] = (struct address_pairs){0};
}

void
window_key_fold(const struct window_table *t, struct key *k, enum window_stat_id why)
{
	struct folded *f = window_folded_of(t, k);

	k->most_lost += k->unflushed;
	if (k->most_lost > f->most_n)
		f->most_n = k->most_lost;
	f->n += k->unflushed;
	stat_add(&t->stats, why, k->unflushed);
	window_key_clear(t, k);
}

/* Making room */

/* Both halves are hashed in full length, because unused octets are zeros. */
static inline uint32_t
hash_key(uint64_t seed, uint32_t window, unsigned kind, unsigned direction, const struct halves *halves)
{
	uint64_t words[6] = {(uint64_t)window << 16 | (uint64_t)kind << 8 | direction};
	uint64_t hash;

	_Static_assert(sizeof(*halves) <= sizeof(words) - sizeof(words[0]), "a key has grown");
	memcpy(words + 1, halves, sizeof(*halves));
	hash = hash_octets(seed, words, sizeof(words));
	return (uint32_t)(hash ^ hash >> 32);
}

static void
unlink_key(struct window_table *t, uint32_t i)
{
	const struct key *k = &t->keys[i];
	uint32_t *link = &t->key_buckets[hash_key(t->seed, k->window, k->kind, k->direction, &k->halves) & t->key_mask];

	assert(k->used);
	while (*link != i)
		link = &t->keys[*link].next;
	*link = t->keys[i].next;
	t->keys[i].used = false;
}

/* Returns what it costs to evict this key. Without unflushed samples it costs next to nothing, but
 * a key with a row in the store is more likely to come again. With some, the cost is what most_n
 * may rise to. */
static uint64_t
cost_of(const struct key *k)
{
	return k->unflushed == 0 ? k->stored : 2ull + k->most_lost + k->unflushed;
}

/*
 * Evicts the candidate whose loss raises most_n least, as the Space-Saving algorithm does
 * (Metwally, Agrawal, El Abbadi 2005). The hand moves on through the table, as in a clock
 * algorithm, so that most_n grows by one only after about as many new keys as the table has
 * entries.
 */
static uint32_t
evict_key(struct window_table *t)
{
	uint32_t victim = t->hand;
	uint64_t least = UINT64_MAX;

	for (uint32_t c = 0; c < CANDIDATES && t->hand < t->limits.keys; c++, t->hand++) {
		uint64_t cost = cost_of(&t->keys[t->hand]);

		if (cost < least) {
			least = cost;
			victim = t->hand;
		}
	}
	if (t->hand == t->limits.keys)
		t->hand = 0;
	for (uint32_t c = 0; c < CANDIDATES && t->hand + c < t->limits.keys; c++)
		__builtin_prefetch(&t->keys[t->hand + c]);
	assert(victim < t->limits.keys);
	window_key_fold(t, &t->keys[victim], WINDOW_STAT_KEYS_TABLE_FULL);
	unlink_key(t, victim);
	return victim;
}

static uint32_t
free_place(struct window_table *t)
{
	uint32_t i = t->free_key;

	if (i != NONE) {
		t->free_key = t->keys[i].next;
		return i;
	}
	if (t->keys_used < t->limits.keys)
		return t->keys_used++;
	return evict_key(t);
}

/* Finding */

static bool
keys_is_key(const struct key *k, const struct wanted *wanted)
{
	const struct flow_key *flow = &wanted->flow->key;

	return k->window == flow->window && k->kind == wanted->kind && k->direction == flow->direction &&
	    memcmp(&k->halves, &wanted->halves, sizeof(k->halves)) == 0;
}

/* Returns the wanted key, which is made if it is not in the table. */
static struct key *
get_key(struct window_table *t, const struct wanted *wanted)
{
	uint32_t *bucket = &t->key_buckets[wanted->hash & t->key_mask];
	struct key *k;
	uint32_t i;

	for (i = *bucket; i != NONE; i = t->keys[i].next)
		if (keys_is_key(&t->keys[i], wanted))
			return &t->keys[i];
	i = free_place(t);
	assert(i < t->keys_used && !t->keys[i].used);
	k = &t->keys[i];
	k->window = wanted->flow->key.window;
	k->next = *bucket;
	k->kind = wanted->kind & 0xf;
	k->direction = wanted->flow->key.direction & 3;
	k->used = true;
	k->stored = false;
	k->halves = wanted->halves;
	k->most_lost = window_folded_of(t, k)->most_n; /* it may have been evicted before */
	*bucket = i;
	return k;
}

/* Adding */

static struct store_pairs
pairs_of(const struct flow_pairs *pairs, size_t feature)
{
	return (struct store_pairs){pairs->pkts[feature], pairs->octets[feature]};
}

static void
add_pairs(struct store_pairs *to, struct store_pairs more)
{
	to->pkts += more.pkts;
	to->octets += more.octets;
}

static struct weighted
weigh_flow(const struct flow *flow)
{
	double weight = flow->key.mean_skip;

	return (struct weighted){
	    .w = (uint64_t)flow->key.mean_skip * flow->sums.n,
	    .w2 = weight * weight * flow->sums.n,
	    .wb = weight * flow->sums.octets,
	    .wb2 = weight * flow->sums.octets2,
	    .w2b2 = weight * weight * flow->sums.octets2,
	};
}

static void
add_flow(struct key_sums *to, struct address_pairs *addresses, const struct wanted *wanted)
{
	const struct flow_pairs *pairs = &wanted->flow->sums.pairs;
	size_t kind = wanted->kind;

	to->w2 += wanted->sums->w2;
	to->wb += wanted->sums->wb;
	to->wb2 += wanted->sums->wb2;
	to->w2b2 += wanted->sums->w2b2;
	add_pairs(&to->any, pairs_of(pairs, PAIR_FEATURE_ANY));
	if (kind >= KINDS_PAIRED)
		kind = key_layouts[kind].pairs_of;
	add_pairs(&to->same, pairs_of(pairs, kind));
	if (kind >= KINDS_OF_PAIRS)
		return;
	add_pairs(&addresses->same1, pairs_of(pairs, PAIR_FEATURE_ADDRESS(kind)));
	add_pairs(&addresses->same2, pairs_of(pairs, PAIR_FEATURE_ADDRESS(kind) + 1));
}

/* No honest skip comes near to the most that fits. */
static void
add_weight(struct key *k, uint64_t more)
{
	const uint64_t most = (UINT64_C(1) << KEY_WEIGHT_BITS) - 1;

	k->w = more < most - k->w ? k->w + more : most;
}

static void
keys_add_to_key(struct window_table *t, const struct wanted *wanted)
{
	struct key *k = get_key(t, wanted);

	if (!k->listed) {
		assert(t->dirty_keys.n < t->limits.keys);
		t->dirty_keys.items[t->dirty_keys.n++] = (uint32_t)(k - t->keys);
		k->listed = true;
	}
	k->unflushed += wanted->flow->sums.n;
	add_weight(k, wanted->sums->w);
	add_flow(&k->sums, &t->address_pairs[k - t->keys], wanted);
}

/* Fills the keys of a flow and returns how many there are. */
static size_t
keys_of(const struct window_table *t, const struct flow *flow, const struct weighted *sums,
    struct wanted wanted[N_KINDS])
{
	size_t n = 0;

	for (unsigned kind = 0; kind < N_KINDS; kind++) {
		struct wanted *w = &wanted[n];

		*w = (struct wanted){.flow = flow, .sums = sums, .kind = (uint8_t)kind};
		if (!flow_key_fill(&flow->key, kind, &w->halves))
			continue;
		w->hash = hash_key(t->seed, flow->key.window, kind, flow->key.direction, &w->halves);
		__builtin_prefetch(&t->key_buckets[w->hash & t->key_mask]);
		n++;
	}
	return n;
}

/* Works in three passes, so that memory is prefetched a pass before it is used: first the buckets
 * of the hash table, then the keys. */
void
window_keys_add_flows(void *table, const struct flow *const *flows, size_t n)
{
	struct wanted wanted[FLOW_CACHE_EVICTED_AT_ONCE * N_KINDS];
	struct weighted sums[FLOW_CACHE_EVICTED_AT_ONCE];
	struct window_table *t = table;
	size_t n_wanted = 0;

	assert(n <= FLOW_CACHE_EVICTED_AT_ONCE);
	for (size_t i = 0; i < n; i++) {
		sums[i] = weigh_flow(flows[i]);
		n_wanted += keys_of(t, flows[i], &sums[i], &wanted[n_wanted]);
	}
	for (size_t i = 0; i < n_wanted; i++) {
		uint32_t first = t->key_buckets[wanted[i].hash & t->key_mask];

		if (first == NONE)
			continue;
		__builtin_prefetch(&t->keys[first]);
		__builtin_prefetch(&t->keys[first].sums, 1);
		if (wanted[i].kind < KINDS_OF_PAIRS)
			__builtin_prefetch(&t->address_pairs[first], 1);
	}
	for (size_t i = 0; i < n_wanted; i++)
		keys_add_to_key(t, &wanted[i]);
}

/* Closing */

void
window_keys_close(struct window_table *t)
{
	for (uint32_t i = 0; i < t->keys_used; i++) {
		if (!t->keys[i].used || !t->windows[t->keys[i].window].closing)
			continue;
		unlink_key(t, i);
		window_key_clear(t, &t->keys[i]);
		t->keys[i].next = t->free_key;
		t->free_key = i;
	}
}
