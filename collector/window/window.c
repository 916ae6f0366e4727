#include "collector/window/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

enum { MAX_KINDS = 8, N_DIRECTIONS = 2 };

static const struct stat_name stat_names[WINDOW_N_STATS] = {
    [WINDOW_STAT_OPENED] = {"window.opened", "minutes of a port opened"},
    [WINDOW_STAT_CLOSED] = {"window.closed", "minutes of a port closed"},
    [WINDOW_STAT_NO_WINDOW] = {"window.no_window", "additions that found no room for a window"},
    [WINDOW_STAT_KEYS_WINDOW_FULL] = {"window.keys_window_full",
	"samples in a total only: their window had its most keys"},
    [WINDOW_STAT_KEYS_TABLE_FULL] = {"window.keys_table_full",
	"samples in a total only: all windows together had their most keys"},
};

/* Kinds of keys: how a sample's frame gives both halves; octets of each half, 0 for no key. */
struct kind {
	enum store_key_kind kind;
	size_t (*halves)(const struct frame_keys *k, const uint8_t **key1, const uint8_t **key2);
};

static size_t
eth_pair(const struct frame_keys *k, const uint8_t **key1, const uint8_t **key2)
{
	*key1 = k->src_mac;
	*key2 = k->dst_mac;
	return k->has_macs ? FRAME_MAC_LEN : 0;
}

static size_t
ip_pair(const struct frame_keys *k, const uint8_t **key1, const uint8_t **key2)
{
	*key1 = k->src_ip;
	*key2 = k->dst_ip;
	return k->ip_version == 0 ? 0 : k->ip_version == 4 ? 4 : FRAME_IP_LEN;
}

static const struct kind kinds[] = {
    {STORE_KEY_ETH_PAIR, eth_pair},
    {STORE_KEY_IP_PAIR, ip_pair},
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) <= MAX_KINDS, "raise MAX_KINDS");

struct side {
	int64_t pool_pkts, pool_octets;
	struct store_sums sums;
	uint32_t n_keys[MAX_KINDS]; /* since the window opened */
};

struct window {
	uint64_t start_us;
	int64_t agent;
	uint32_t if_index;
	uint32_t next;	    /* in its bucket, or in the free list */
	uint32_t first_key; /* its keys, linked by next_in_window */
	bool open, dirty;
	uint64_t last_mono_us;
	int64_t expected, received;
	struct side side[N_DIRECTIONS];
};

struct key {
	uint32_t window;
	uint32_t next; /* in its bucket, or in the free list */
	uint32_t next_in_window;
	uint8_t kind, direction, octets; /* kind: index into kinds */
	uint8_t half1[FRAME_IP_LEN], half2[FRAME_IP_LEN];
	struct store_sums sums; /* n is 0 if nothing is new */
};

struct index_list {
	uint32_t *items;
	uint32_t n;
};

struct window_table {
	struct window_limits limits;
	uint64_t seed;
	struct window *windows;
	struct key *keys;
	uint32_t *window_buckets, *key_buckets;
	uint64_t window_mask, key_mask;
	uint32_t free_window, free_key;
	struct index_list dirty_windows, dirty_keys;
	struct stat_set stats;
	_Atomic uint64_t values[WINDOW_N_STATS];
};

/* Hashing: folded 128-bit products, seeded. */

static uint64_t
mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15ull) * (b | 1);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t
hash_octets(uint64_t h, const uint8_t *octets)
{
	uint64_t a, b;

	memcpy(&a, octets, 8);
	memcpy(&b, octets + 8, 8);
	return mix(h ^ a, mix(b, h));
}

static uint64_t
hash_window(const struct window_table *t, uint64_t start_us, int64_t agent, uint32_t if_index)
{
	return mix(mix(t->seed ^ start_us, (uint64_t)agent + t->seed), if_index ^ t->seed);
}

static uint64_t
hash_key(const struct window_table *t, const struct key *k)
{
	uint64_t what = (uint64_t)k->window << 24 | (uint64_t)k->octets << 16 |
	    (uint64_t)k->kind << 8 | k->direction;

	return hash_octets(hash_octets(mix(t->seed, what), k->half1), k->half2);
}

/* Table */

static uint64_t
buckets_for(uint32_t n)
{
	uint64_t b = 16;

	while (b < n)
		b *= 2;
	return b;
}

static uint32_t *
new_buckets(uint64_t n)
{
	uint32_t *b = malloc(n * sizeof(*b));

	if (b)
		memset(b, 0xff, n * sizeof(*b));
	return b;
}

int
window_table_new(struct window_table **out, const struct window_limits *limits, uint64_t seed)
{
	struct window_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->limits = *limits;
	t->seed = seed;
	t->stats = (struct stat_set){stat_names, WINDOW_N_STATS, t->values};
	t->window_mask = buckets_for(limits->windows) - 1;
	t->key_mask = buckets_for(limits->keys) - 1;
	t->windows = calloc(limits->windows, sizeof(*t->windows));
	t->keys = calloc(limits->keys, sizeof(*t->keys));
	t->dirty_windows.items = calloc(limits->windows, sizeof(uint32_t));
	t->dirty_keys.items = calloc(limits->keys, sizeof(uint32_t));
	t->window_buckets = new_buckets(t->window_mask + 1);
	t->key_buckets = new_buckets(t->key_mask + 1);
	if (!t->windows || !t->keys || !t->dirty_windows.items || !t->dirty_keys.items ||
	    !t->window_buckets || !t->key_buckets) {
		window_table_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < limits->windows; i++)
		t->windows[i].next = i + 1 < limits->windows ? i + 1 : NONE;
	for (uint32_t i = 0; i < limits->keys; i++)
		t->keys[i].next = i + 1 < limits->keys ? i + 1 : NONE;
	*out = t;
	return 0;
}

void
window_table_free(struct window_table *t)
{
	if (!t)
		return;
	free(t->key_buckets);
	free(t->window_buckets);
	free(t->dirty_keys.items);
	free(t->dirty_windows.items);
	free(t->keys);
	free(t->windows);
	free(t);
}

const struct stat_set *
window_stats(const struct window_table *t)
{
	return &t->stats;
}

/* Windows */

static struct window *
find_window(const struct window_table *t, uint64_t start_us, int64_t agent, uint32_t if_index,
    uint64_t hash)
{
	for (uint32_t i = t->window_buckets[hash & t->window_mask]; i != NONE;
	     i = t->windows[i].next) {
		struct window *w = &t->windows[i];

		if (w->start_us == start_us && w->agent == agent && w->if_index == if_index)
			return w;
	}
	return NULL;
}

struct window *
window_get(struct window_table *t, int64_t agent, uint32_t if_index, uint64_t time_us,
    uint64_t mono_us)
{
	uint64_t start_us = time_us - time_us % STORE_WINDOW_US;
	uint64_t hash = hash_window(t, start_us, agent, if_index);
	uint32_t *bucket = &t->window_buckets[hash & t->window_mask];
	struct window *w = find_window(t, start_us, agent, if_index, hash);
	uint32_t i = t->free_window;

	if (w) {
		w->last_mono_us = mono_us;
		return w;
	}
	if (i == NONE) {
		stat_add(&t->stats, WINDOW_STAT_NO_WINDOW, 1);
		return NULL;
	}
	w = &t->windows[i];
	t->free_window = w->next;
	*w = (struct window){
	    .start_us = start_us,
	    .agent = agent,
	    .if_index = if_index,
	    .next = *bucket,
	    .first_key = NONE,
	    .open = true,
	    .last_mono_us = mono_us,
	};
	*bucket = i;
	stat_add(&t->stats, WINDOW_STAT_OPENED, 1);
	return w;
}

static void
mark_dirty(struct window_table *t, struct window *w)
{
	if (w->dirty)
		return;
	w->dirty = true;
	t->dirty_windows.items[t->dirty_windows.n++] = (uint32_t)(w - t->windows);
}

/* Keys */

/* The key like wanted, made if need be; NULL at a limit. */
static struct key *
get_key(struct window_table *t, const struct key *wanted)
{
	uint32_t *bucket = &t->key_buckets[hash_key(t, wanted) & t->key_mask];
	struct window *w = &t->windows[wanted->window];
	uint32_t *n_keys = &w->side[wanted->direction - 1].n_keys[wanted->kind];
	uint32_t i;

	for (i = *bucket; i != NONE; i = t->keys[i].next) {
		struct key *k = &t->keys[i];

		if (k->window == wanted->window && k->kind == wanted->kind &&
		    k->direction == wanted->direction && k->octets == wanted->octets &&
		    memcmp(k->half1, wanted->half1, FRAME_IP_LEN) == 0 &&
		    memcmp(k->half2, wanted->half2, FRAME_IP_LEN) == 0)
			return k;
	}
	i = t->free_key;
	if (*n_keys >= t->limits.keys_per_window || i == NONE) {
		stat_add(&t->stats,
		    i == NONE ? WINDOW_STAT_KEYS_TABLE_FULL : WINDOW_STAT_KEYS_WINDOW_FULL, 1);
		return NULL;
	}
	t->free_key = t->keys[i].next;
	t->keys[i] = *wanted;
	t->keys[i].next = *bucket;
	t->keys[i].next_in_window = w->first_key;
	*bucket = w->first_key = i;
	++*n_keys;
	return &t->keys[i];
}

void
window_sums_add(struct store_sums *sums, const struct ease_sample *s)
{
	double w = s->mean_skip, b = s->frame_octets;

	sums->n++;
	sums->w += w;
	sums->w2 += w * w;
	sums->wb += w * b;
	sums->wb2 += w * b * b;
	sums->w2b2 += w * w * b * b;
}

static void
add_key(struct window_table *t, uint32_t window, unsigned kind, const struct ease_sample *s,
    const struct frame_keys *keys)
{
	struct key wanted = {.window = window, .kind = (uint8_t)kind, .direction = s->direction};
	const uint8_t *half1, *half2;
	size_t octets = kinds[kind].halves(keys, &half1, &half2);
	struct key *k;

	if (octets == 0)
		return;
	wanted.octets = (uint8_t)octets;
	memcpy(wanted.half1, half1, octets);
	memcpy(wanted.half2, half2, octets);
	k = get_key(t, &wanted);
	if (!k)
		return;
	if (k->sums.n == 0)
		t->dirty_keys.items[t->dirty_keys.n++] = (uint32_t)(k - t->keys);
	window_sums_add(&k->sums, s);
}

void
window_add_sample(struct window_table *t, struct window *w, const struct ease_sample *s,
    const struct frame_keys *keys)
{
	window_sums_add(&w->side[s->direction - 1].sums, s);
	mark_dirty(t, w);
	for (unsigned k = 0; k < N_KINDS; k++)
		add_key(t, (uint32_t)(w - t->windows), k, s, keys);
}

void
window_add_pool(struct window_table *t, struct window *w, uint8_t direction, uint64_t pkts,
    uint64_t octets)
{
	struct side *side = &w->side[direction - 1];

	side->pool_pkts += (int64_t)pkts;
	side->pool_octets += (int64_t)octets;
	mark_dirty(t, w);
}

void
window_add_numbers(struct window_table *t, struct window *w, int64_t expected, uint64_t received)
{
	w->expected += expected;
	w->received += (int64_t)received;
	mark_dirty(t, w);
}

/* Dumping */

static void
dump_side(struct window *w, uint8_t direction, struct store_batch *batch)
{
	struct side *side = &w->side[direction - 1];
	struct store_window *row;

	if (side->sums.n == 0 && side->pool_pkts == 0 && side->pool_octets == 0)
		return;
	row = store_batch_add(batch, STORE_WINDOWS);
	row->start_us = w->start_us;
	row->agent = w->agent;
	row->if_index = w->if_index;
	row->direction = direction;
	row->pool_pkts = side->pool_pkts;
	row->pool_octets = side->pool_octets;
	row->sums = side->sums;
	side->pool_pkts = side->pool_octets = 0;
	side->sums = (struct store_sums){0};
}

static void
dump_window(struct window *w, struct store_batch *batch)
{
	struct store_window_port *row;

	dump_side(w, EASE_IN, batch);
	dump_side(w, EASE_OUT, batch);
	w->dirty = false;
	if (w->expected == 0 && w->received == 0)
		return;
	row = store_batch_add(batch, STORE_WINDOW_PORTS);
	row->start_us = w->start_us;
	row->agent = w->agent;
	row->if_index = w->if_index;
	row->expected = w->expected;
	row->received = w->received;
	w->expected = w->received = 0;
}

static void
dump_key(const struct window_table *t, struct key *k, struct store_batch *batch)
{
	const struct window *w = &t->windows[k->window];
	struct store_key *row = store_batch_add(batch, STORE_KEYS);

	row->start_us = w->start_us;
	row->agent = w->agent;
	row->if_index = w->if_index;
	row->direction = k->direction;
	row->kind = (uint8_t)kinds[k->kind].kind;
	row->key_octets = k->octets;
	memcpy(row->key1, k->half1, FRAME_IP_LEN);
	memcpy(row->key2, k->half2, FRAME_IP_LEN);
	row->sums = k->sums;
	k->sums = (struct store_sums){0};
}

int
window_dump(struct window_table *t, struct store_batch *batch)
{
	int r = store_batch_reserve(batch, STORE_WINDOWS,
	    (size_t)N_DIRECTIONS * t->dirty_windows.n);

	if (r == 0)
		r = store_batch_reserve(batch, STORE_WINDOW_PORTS, t->dirty_windows.n);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_KEYS, t->dirty_keys.n);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < t->dirty_keys.n; i++)
		dump_key(t, &t->keys[t->dirty_keys.items[i]], batch);
	for (uint32_t i = 0; i < t->dirty_windows.n; i++)
		dump_window(&t->windows[t->dirty_windows.items[i]], batch);
	t->dirty_keys.n = t->dirty_windows.n = 0;
	return 0;
}

/* Closing */

static void
unlink_key(struct window_table *t, uint32_t i)
{
	uint32_t *link = &t->key_buckets[hash_key(t, &t->keys[i]) & t->key_mask];

	while (*link != i)
		link = &t->keys[*link].next;
	*link = t->keys[i].next;
	t->keys[i].next = t->free_key;
	t->free_key = i;
}

static void
close_window(struct window_table *t, uint32_t i)
{
	struct window *w = &t->windows[i];
	uint64_t hash = hash_window(t, w->start_us, w->agent, w->if_index);
	uint32_t *link = &t->window_buckets[hash & t->window_mask];

	for (uint32_t k = w->first_key; k != NONE; k = t->keys[k].next_in_window)
		unlink_key(t, k);
	while (*link != i)
		link = &t->windows[*link].next;
	*link = w->next;
	w->open = false;
	w->next = t->free_window;
	t->free_window = i;
	stat_add(&t->stats, WINDOW_STAT_CLOSED, 1);
}

void
window_close(struct window_table *t, window_over *over, void *arg)
{
	for (uint32_t i = 0; i < t->limits.windows; i++) {
		const struct window *w = &t->windows[i];

		if (w->open && !w->dirty && over(arg, w->agent, w->start_us, w->last_mono_us))
			close_window(t, i);
	}
}
