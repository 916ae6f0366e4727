#include "collector/window/window.h"
#include "collector/window/arrival.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NONE UINT32_MAX

enum {
	N_DIRECTIONS = 2,
	CACHE_LINE = 64,
	HUGE_PAGE = 2 << 20, /* x86-64; arm64 with pages of 4 KiB */
	/* Keys that an eviction chooses from: the more, the nearer to the one that has least. */
	CANDIDATES = 8,
	/* How fast it gets harder to get a row beyond the limit of keys in the store: at twice the
	 * limit only who has nine times the mean of so many keys gets one. */
	HARDER = 8,
};

static const struct stat_name stat_names[WINDOW_N_STATS] = {
    [WINDOW_STAT_OPENED] = {"window.opened", "minutes of a port opened"},
    [WINDOW_STAT_CLOSED] = {"window.closed", "minutes of a port closed"},
    [WINDOW_STAT_NO_WINDOW] = {"window.no_window", "additions that found no room for a window"},
    [WINDOW_STAT_KEYS_WINDOW_FULL] = {"window.keys_window_full",
	"samples folded into others: their window had its most keys in the store"},
    [WINDOW_STAT_KEYS_TABLE_FULL] = {"window.keys_table_full",
	"samples folded into others: all windows together had their most keys"},
};

/* What became of keys that had no room, of one kind. */
struct folded {
	uint32_t rows;	 /* keys in the store since the window opened */
	uint32_t n;	 /* samples without a key since the last dump */
	uint32_t most_n; /* since the window opened: most samples that any one key can lack */
	uint32_t dumped_most_n;
};

struct side {
	int64_t pool_pkts, pool_octets;
	struct store_sums sums; /* since the last dump */
	double any_pkts, any_octets; /* sums over pairs, see mates.h */
	struct folded folded[N_KINDS];
};

struct window {
	uint64_t start_us;
	int64_t agent;
	uint32_t if_index;
	uint32_t next; /* in its bucket, or in the free list */
	bool open, dirty, closing;
	uint64_t last_mono_us;
	int64_t expected, received;
	struct side side[N_DIRECTIONS];
};

/* Sums since the last dump, in one cache line and added as vectors: what only variances are made of
 * has seven digits. n is the key's `fresh`. */
enum key_variance {
	KEY_W2,
	KEY_WB2,
	KEY_W2B2,
	KEY_ANY, /* pairs of mates, each packets and octets */
	KEY_SAME = KEY_ANY + 2,
	KEY_SAME1 = KEY_SAME + 2,
	KEY_SAME2 = KEY_SAME1 + 2,
	KEY_N_VARIANCES = KEY_SAME2 + 3, /* the last one is not used */
};

struct key_sums {
	double w, wb;
	float variances[KEY_N_VARIANCES];
};
_Static_assert(sizeof(struct key_sums) <= CACHE_LINE, "a key's sums have grown");

/*
 * One cache line finds a key, the next one sums. most_lost: the most samples that the store can
 * lack of this key, because they came before it had a place here or were folded since.
 */
struct key {
	_Alignas(CACHE_LINE) uint32_t window;
	uint32_t next; /* in its bucket, or in the free list */
	uint32_t hash;
	uint32_t most_lost;
	uint32_t fresh; /* samples in sums */
	uint8_t kind, direction; /* kind: index into window_kinds */
	bool used : 1;
	bool listed : 1; /* in dirty_keys */
	bool stored : 1; /* counted in folded.rows */
	struct halves halves;
	_Alignas(CACHE_LINE) struct key_sums sums;
};
_Static_assert(sizeof(struct key) == 2 * CACHE_LINE, "a key has grown");

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
	uint32_t keys_used; /* keys beyond this index were never used */
	uint32_t hand;	    /* first candidate of the next eviction */
	struct window *last; /* samples come in runs */
	struct index_list dirty_windows, dirty_keys;
	struct stat_set stats;
	_Atomic uint64_t values[WINDOW_N_STATS];
};

static uint64_t
hash_window(const struct window_table *t, uint64_t start_us, int64_t agent, uint32_t if_index)
{
	return arrival_mix(arrival_mix(t->seed ^ start_us, (uint64_t)agent + t->seed),
	    if_index ^ t->seed);
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

/*
 * Memory that is touched at once: the first faults of a busy minute would lose datagrams. In huge
 * pages where the system has them: a sample's keys are anywhere in here, and with small pages
 * finding the page takes as long as reading the key.
 */
static void *
touched(size_t n, size_t octets, int fill)
{
	size_t whole = (n * octets + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *p = aligned_alloc(HUGE_PAGE, whole);

	if (!p)
		return NULL;
	madvise(p, whole, MADV_HUGEPAGE); /* no is an answer too */
	return memset(p, fill, n * octets);
}

void
window_room(const struct window_limits *limits, struct store_room room[STORE_N_TABLES])
{
	room[STORE_WINDOWS].kept = N_DIRECTIONS * limits->windows;
	room[STORE_WINDOW_PORTS].kept = limits->windows;
	room[STORE_KEYS].kept = limits->keys;
	/* few windows fold much, or there would be more keys; see dump_folded */
	room[STORE_FOLDED].kept = limits->windows + N_DIRECTIONS * N_KINDS;
}

uint64_t
window_memory(const struct window_limits *limits)
{
	struct store_room room[STORE_N_TABLES] = {0};

	window_room(limits, room);
	return limits->windows * (sizeof(struct window) + sizeof(uint32_t)) +
	    limits->keys * (sizeof(struct key) + sizeof(uint32_t)) +
	    sizeof(uint32_t) * (buckets_for(limits->windows) + buckets_for(limits->keys)) +
	    STORE_BATCHES * store_room_octets(room);
}

struct window_limits
window_limits_for(uint64_t octets)
{
	struct window_limits limits = {
	    .windows = WINDOW_MIN_WINDOWS,
	    .keys = WINDOW_MIN_KEYS,
	    .keys_per_window = WINDOW_KEYS_PER_WINDOW,
	};

	while (limits.windows < WINDOW_DEFAULT_WINDOWS && 8 * window_memory(&limits) < octets)
		limits.windows += WINDOW_MIN_WINDOWS;
	while (window_memory(&limits) < octets)
		limits.keys += WINDOW_MIN_KEYS;
	if (limits.keys > WINDOW_MIN_KEYS)
		limits.keys -= WINDOW_MIN_KEYS;
	return limits;
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
	t->windows = touched(limits->windows, sizeof(*t->windows), 0);
	t->keys = touched(limits->keys, sizeof(*t->keys), 0);
	t->dirty_windows.items = touched(limits->windows, sizeof(uint32_t), 0);
	t->dirty_keys.items = touched(limits->keys, sizeof(uint32_t), 0);
	t->window_buckets = touched(t->window_mask + 1, sizeof(uint32_t), 0xff); /* NONE */
	t->key_buckets = touched(t->key_mask + 1, sizeof(uint32_t), 0xff);
	if (!t->windows || !t->keys || !t->dirty_windows.items || !t->dirty_keys.items ||
	    !t->window_buckets || !t->key_buckets) {
		window_table_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < limits->windows; i++)
		t->windows[i].next = i + 1 < limits->windows ? i + 1 : NONE;
	t->free_key = NONE;
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
	uint32_t i = t->free_window, *bucket;
	struct window *w = t->last;
	uint64_t start_us, hash;

	if (w && time_us - w->start_us < STORE_WINDOW_US && w->agent == agent &&
	    w->if_index == if_index) {
		w->last_mono_us = mono_us;
		return w;
	}
	start_us = time_us - time_us % STORE_WINDOW_US;
	hash = hash_window(t, start_us, agent, if_index);
	bucket = &t->window_buckets[hash & t->window_mask];
	w = find_window(t, start_us, agent, if_index, hash);
	if (w) {
		w->last_mono_us = mono_us;
		t->last = w;
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
	    .open = true,
	    .last_mono_us = mono_us,
	};
	*bucket = i;
	t->last = w;
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

static struct folded *
folded_of(const struct window_table *t, const struct key *k)
{
	return &t->windows[k->window].side[k->direction - 1].folded[k->kind];
}

/* The samples that the key has and the store has not go into the others of its window. */
static void
fold(const struct window_table *t, struct key *k, enum window_stat_id why)
{
	struct folded *f = folded_of(t, k);

	k->most_lost += k->fresh;
	if (k->most_lost > f->most_n)
		f->most_n = k->most_lost;
	f->n += k->fresh;
	stat_add(&t->stats, why, k->fresh);
	k->sums = (struct key_sums){0};
	k->fresh = 0;
}

static void
unlink_key(struct window_table *t, uint32_t i)
{
	uint32_t *link = &t->key_buckets[t->keys[i].hash & t->key_mask];

	while (*link != i)
		link = &t->keys[*link].next;
	*link = t->keys[i].next;
	t->keys[i].used = false;
}

/* What it costs when this key goes: nothing if nothing of it is new, though one that has a row in
 * the store will more likely come again; else what most_n may rise to. */
static uint64_t
cost_of(const struct key *k)
{
	return k->fresh == 0 ? k->stored : 2ull + k->most_lost + k->fresh;
}

/*
 * Takes a place from the candidate whose loss raises most_n least, as Space-Saving does (Metwally,
 * Agrawal, El Abbadi 2005). The hand gives each group of candidates its turn, so that most_n grows
 * by one only when about as many newcomers came as there are places.
 */
static uint32_t
evict(struct window_table *t)
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
	fold(t, &t->keys[victim], WINDOW_STAT_KEYS_TABLE_FULL);
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
	return evict(t);
}

static bool
is_key(const struct key *k, const struct wanted *wanted)
{
	return k->hash == wanted->hash && k->window == wanted->window && k->kind == wanted->kind &&
	    k->direction == wanted->direction &&
	    memcmp(&k->halves, &wanted->halves, sizeof(k->halves)) == 0;
}

/* The key like wanted, made if need be. */
static struct key *
get_key(struct window_table *t, const struct wanted *wanted)
{
	uint32_t *bucket = &t->key_buckets[wanted->hash & t->key_mask];
	struct key *k;
	uint32_t i;

	for (i = *bucket; i != NONE; i = t->keys[i].next)
		if (is_key(&t->keys[i], wanted))
			return &t->keys[i];
	i = free_place(t);
	k = &t->keys[i];
	k->window = wanted->window;
	k->next = *bucket;
	k->hash = wanted->hash;
	k->kind = wanted->kind;
	k->direction = wanted->direction;
	k->used = true;
	k->stored = false;
	k->halves = wanted->halves;
	k->most_lost = folded_of(t, k)->most_n; /* it may have been here before */
	*bucket = i;
	return k;
}

static struct store_sums
sums_of(const struct ease_sample *s)
{
	double w = s->mean_skip, b = s->frame_octets;

	return (struct store_sums){1, w, w * w, w * b, w * b * b, w * w * b * b};
}

static void
add_sums(struct store_sums *to, const struct store_sums *more)
{
	to->n += more->n;
	to->w += more->w;
	to->w2 += more->w2;
	to->wb += more->wb;
	to->wb2 += more->wb2;
	to->w2b2 += more->w2b2;
}

void
window_sums_add(struct store_sums *sums, const struct ease_sample *s)
{
	struct store_sums one = sums_of(s);

	add_sums(sums, &one);
}

/* Buckets that will be looked at are on their way when this returns, then keys. */

static void
fetch_buckets(const struct window_table *t, const struct arrival *a)
{
	for (size_t i = 0; i < a->n; i++)
		__builtin_prefetch(&t->key_buckets[a->wanted[i].hash & t->key_mask]);
}

static void
fetch_keys(const struct window_table *t, const struct arrival *a)
{
	for (size_t i = 0; i < a->n; i++) {
		uint32_t first = t->key_buckets[a->wanted[i].hash & t->key_mask];

		if (first == NONE)
			continue;
		__builtin_prefetch(&t->keys[first]);
		__builtin_prefetch(&t->keys[first].sums);
	}
}

/* What a sample adds to its key of each kind. */
static void
set_pairs(struct key_sums *one, const struct mate_pairs *pairs, size_t kind)
{
	const size_t key1 = MATES_ADDRESS(kind), key2 = key1 + 1;
	float *v = one->variances;

	v[KEY_SAME] = pairs->same_pkts[kind];
	v[KEY_SAME + 1] = pairs->same_octets[kind];
	if (kind >= KINDS_OF_PAIRS)
		return;
	v[KEY_SAME1] = pairs->same_pkts[key1];
	v[KEY_SAME1 + 1] = pairs->same_octets[key1];
	v[KEY_SAME2] = pairs->same_pkts[key2];
	v[KEY_SAME2 + 1] = pairs->same_octets[key2];
}

static void
set_ones(struct key_sums ones[N_KINDS], const struct store_sums *s, const struct mate_pairs *pairs)
{
	const struct key_sums one = {s->w, s->wb, {(float)s->w2, (float)s->wb2, (float)s->w2b2,
	    pairs->any.pkts, pairs->any.octets}};

	for (size_t kind = 0; kind < N_KINDS; kind++) {
		ones[kind] = one;
		if (pairs->any.pkts > 0)
			set_pairs(&ones[kind], pairs, kind);
	}
}

static void
add_to_key(struct key_sums *restrict to, const struct key_sums *restrict one)
{
	to->w += one->w;
	to->wb += one->wb;
	for (size_t i = 0; i < KEY_N_VARIANCES; i++)
		to->variances[i] += one->variances[i];
}

static void
add_sample(struct window_table *t, const struct window_sample *s, const struct arrival *a,
    const struct mate_pairs *pairs)
{
	struct store_sums sums = sums_of(s->sample);
	struct side *side = &s->window->side[s->sample->direction - 1];
	struct key_sums ones[N_KINDS];

	set_ones(ones, &sums, pairs); /* long before they are added: stores cannot be overtaken */
	add_sums(&side->sums, &sums);
	side->any_pkts += pairs->any.pkts;
	side->any_octets += pairs->any.octets;
	mark_dirty(t, s->window);
	for (size_t i = 0; i < a->n; i++) {
		struct key *k = get_key(t, &a->wanted[i]);

		if (!k->listed)
			t->dirty_keys.items[t->dirty_keys.n++] = (uint32_t)(k - t->keys);
		k->listed = true;
		k->fresh++;
		add_to_key(&k->sums, &ones[k->kind]);
	}
}

void
window_add_samples(struct window_table *t, const struct window_sample *samples, size_t n)
{
	struct mate_pairs pairs[MATES_MAX];
	struct arrival arrivals[MATES_MAX];
	struct mate mates[MATES_MAX];

	for (size_t i = 0; i < n; i++) {
		arrival_of(t->seed, (uint32_t)(samples[i].window - t->windows), samples[i].sample,
		    &samples[i].keys, (uint32_t)i, &arrivals[i], n > 1 ? &mates[i] : NULL);
		fetch_buckets(t, &arrivals[i]);
	}
	for (size_t i = 0; i < n; i++)
		fetch_keys(t, &arrivals[i]);
	pairs[0] = (struct mate_pairs){0};
	if (n > 1)
		mates_pair(mates, n, pairs);
	for (size_t i = 0; i < n; i++)
		add_sample(t, &samples[i], &arrivals[i], &pairs[i]);
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

/* What had no room: how many samples, and by how much the most that one key can lack rose. False if
 * the batch had no row for it: then it is told with the next one. */
static bool
dump_folded(struct window *w, uint8_t direction, struct store_batch *batch)
{
	for (unsigned kind = 0; kind < N_KINDS; kind++) {
		struct folded *f = &w->side[direction - 1].folded[kind];
		struct store_folded *row;

		if (f->n == 0)
			continue;
		row = store_batch_add(batch, STORE_FOLDED);
		if (!row)
			return false;
		row->start_us = w->start_us;
		row->agent = w->agent;
		row->if_index = w->if_index;
		row->direction = direction;
		row->kind = (uint8_t)window_kinds[kind].kind;
		row->n = f->n;
		row->most_n = f->most_n - f->dumped_most_n;
		f->n = 0;
		f->dumped_most_n = f->most_n;
	}
	return true;
}

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
	row->any = (struct store_pairs){(float)side->any_pkts, (float)side->any_octets};
	side->pool_pkts = side->pool_octets = 0;
	side->sums = (struct store_sums){0};
	side->any_pkts = side->any_octets = 0;
}

static void
dump_window(struct window_table *t, struct window *w, struct store_batch *batch)
{
	struct store_window_port *row;

	dump_side(w, EASE_IN, batch);
	dump_side(w, EASE_OUT, batch);
	w->dirty = false;
	if (!dump_folded(w, EASE_IN, batch) || !dump_folded(w, EASE_OUT, batch))
		mark_dirty(t, w);
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

/* A window's rows of a kind in the store are limited. Who has more of the samples since the last
 * dump than the mean of that many keys gets one all the same, so that a talker that begins late is
 * seen; but not so many that the limit means nothing. */
static bool
has_row(const struct window_table *t, const struct key *k)
{
	const struct side *side = &t->windows[k->window].side[k->direction - 1];
	uint64_t limit = t->limits.keys_per_window, rows = side->folded[k->kind].rows;

	if (k->stored || rows < limit)
		return true;
	return k->fresh * limit * limit >= side->sums.n * (limit + HARDER * (rows - limit));
}

static struct store_pairs
pairs_at(const float *sums)
{
	return (struct store_pairs){sums[0], sums[1]};
}

static void
fill_sums(struct store_key *row, const struct key *k)
{
	const float *v = k->sums.variances;

	row->sums = (struct store_sums){k->fresh, k->sums.w, (double)v[KEY_W2], k->sums.wb,
	    (double)v[KEY_WB2], (double)v[KEY_W2B2]};
	row->any = pairs_at(&v[KEY_ANY]);
	row->same = pairs_at(&v[KEY_SAME]);
	row->same1 = pairs_at(&v[KEY_SAME1]);
	row->same2 = pairs_at(&v[KEY_SAME2]);
}

static void
dump_key(const struct window_table *t, struct key *k, struct store_batch *batch)
{
	const struct window *w = &t->windows[k->window];
	struct store_key *row;

	k->listed = false;
	if (!k->used || k->fresh == 0)
		return;
	if (!has_row(t, k)) {
		fold(t, k, WINDOW_STAT_KEYS_WINDOW_FULL);
		return;
	}
	folded_of(t, k)->rows += !k->stored;
	k->stored = true;
	row = store_batch_add(batch, STORE_KEYS);
	row->start_us = w->start_us;
	row->agent = w->agent;
	row->if_index = w->if_index;
	row->direction = k->direction;
	row->kind = (uint8_t)window_kinds[k->kind].kind;
	row->key1_octets = k->halves.octets1;
	row->key2_octets = k->halves.octets2;
	memcpy(row->key1, k->halves.half1, STORE_KEY_HALF);
	memcpy(row->key2, k->halves.half2, STORE_KEY_HALF);
	fill_sums(row, k);
	k->sums = (struct key_sums){0};
	k->fresh = 0;
}

int
window_dump(struct window_table *t, struct store_batch *batch)
{
	const struct store_rows *folded = &batch->rows[STORE_FOLDED];
	uint32_t n_windows = t->dirty_windows.n;
	int r = store_batch_reserve(batch, STORE_WINDOWS, (size_t)N_DIRECTIONS * n_windows);

	if (r == 0)
		r = store_batch_reserve(batch, STORE_WINDOW_PORTS, n_windows);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_FOLDED, folded->room - folded->n);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_KEYS, t->dirty_keys.n);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < t->dirty_keys.n; i++)
		dump_key(t, &t->keys[t->dirty_keys.items[i]], batch);
	t->dirty_keys.n = t->dirty_windows.n = 0;
	for (uint32_t i = 0; i < n_windows; i++) /* what stays dirty is listed again before i */
		dump_window(t, &t->windows[t->dirty_windows.items[i]], batch);
	return 0;
}

/* Closing */

static void
close_window(struct window_table *t, uint32_t i)
{
	struct window *w = &t->windows[i];
	uint64_t hash = hash_window(t, w->start_us, w->agent, w->if_index);
	uint32_t *link = &t->window_buckets[hash & t->window_mask];

	while (*link != i)
		link = &t->windows[*link].next;
	*link = w->next;
	w->open = w->closing = false;
	w->next = t->free_window;
	t->free_window = i;
	stat_add(&t->stats, WINDOW_STAT_CLOSED, 1);
}

static void
free_keys_of_closing(struct window_table *t)
{
	for (uint32_t i = 0; i < t->keys_used; i++) {
		if (!t->keys[i].used || !t->windows[t->keys[i].window].closing)
			continue;
		unlink_key(t, i);
		t->keys[i].next = t->free_key;
		t->free_key = i;
	}
}

void
window_close(struct window_table *t, window_over *over, void *arg)
{
	uint32_t closing = 0;

	for (uint32_t i = 0; i < t->limits.windows; i++) {
		struct window *w = &t->windows[i];

		w->closing = w->open && !w->dirty &&
		    over(arg, w->agent, w->start_us, w->last_mono_us);
		closing += w->closing;
	}
	if (closing == 0)
		return;
	t->last = NULL;
	free_keys_of_closing(t);
	for (uint32_t i = 0; i < t->limits.windows; i++)
		if (t->windows[i].closing)
			close_window(t, i);
}
