#include "common/hash.h"
#include "collector/window/prefault.h"
#include "collector/window/window_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* The flow cache has fewer entries than there are keys, because a busy flow has three keys of its
 * own. */
#define KEYS_A_FLOW 2

static const struct stat_name stat_names[WINDOW_N_STATS] = {
    [WINDOW_STAT_OPENED] = {"window.opened", "windows (one minute of one port) opened"},
    [WINDOW_STAT_CLOSED] = {"window.closed", "windows (one minute of one port) closed"},
    [WINDOW_STAT_NO_WINDOW] = {"window.no_window",
	"times that there was no memory for another window"},
    [WINDOW_STAT_OVER_SHARE] = {"window.over_share",
	"times that an agent with many windows was refused another one, so that others get theirs"},
    [WINDOW_STAT_KEYS_WINDOW_FULL] = {"window.keys_window_full",
	"samples counted without their key: their window reached its limit of keys"},
    [WINDOW_STAT_KEYS_TABLE_FULL] = {"window.keys_table_full",
	"samples counted without their key: memory for keys was full"},
};

static uint64_t
hash_window(const struct window_table *t, uint64_t start_us, int64_t agent, uint64_t if_index)
{
	const uint64_t words[] = {start_us, (uint64_t)agent, if_index, 0};

	return hash_octets(t->seed, words, sizeof(words));
}

/* Table */

void
window_room(const struct window_limits *limits, struct store_room room[STORE_N_TABLES])
{
	room[STORE_WINDOWS].kept = N_DIRECTIONS * limits->windows;
	room[STORE_WINDOW_PORTS].kept = limits->windows;
	room[STORE_KEYS].kept = limits->keys;
	/* only windows with very many keys fold samples; see flush_folded */
	room[STORE_FOLDED].kept = limits->windows + N_DIRECTIONS * N_KINDS;
}

uint64_t
window_memory(const struct window_limits *limits)
{
	struct store_room room[STORE_N_TABLES] = {0};

	window_room(limits, room);
	return prefault_octets(limits->windows, sizeof(struct window)) +
	    prefault_octets(limits->windows, sizeof(uint32_t)) +
	    prefault_octets(hash_lists(limits->windows), sizeof(uint32_t)) +
	    prefault_octets(limits->keys, sizeof(struct key)) +
	    prefault_octets(limits->keys, sizeof(struct address_pairs)) +
	    prefault_octets(limits->keys, sizeof(uint32_t)) +
	    prefault_octets(hash_lists(limits->keys), sizeof(uint32_t)) +
	    flow_cache_memory(limits->keys / KEYS_A_FLOW) +
	    store_memory(room);
}

struct window_limits
window_limits_for(uint64_t octets, uint32_t ports)
{
	const uint64_t wanted = (uint64_t)WINDOWS_A_PORT * ports;
	struct window_limits limits = {
	    .windows = WINDOW_MIN_WINDOWS,
	    .keys = WINDOW_MIN_KEYS,
	    .keys_per_window = WINDOW_KEYS_PER_WINDOW,
	};

	/* A minute without a window has no keys at all, so windows come first, but leave half of the memory to keys. */
	while ((limits.windows < wanted && 2 * window_memory(&limits) < octets) ||
	    (limits.windows < WINDOW_DEFAULT_WINDOWS && 8 * window_memory(&limits) < octets))
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
	t->window_mask = hash_lists(limits->windows) - 1;
	t->key_mask = hash_lists(limits->keys) - 1;
	t->windows = prefault_alloc(limits->windows, sizeof(*t->windows), 0);
	t->keys = prefault_alloc(limits->keys, sizeof(*t->keys), 0);
	t->address_pairs = prefault_alloc(limits->keys, sizeof(*t->address_pairs), 0);
	t->dirty_windows.items = prefault_alloc(limits->windows, sizeof(uint32_t), 0);
	t->dirty_keys.items = prefault_alloc(limits->keys, sizeof(uint32_t), 0);
	t->window_buckets = prefault_alloc(t->window_mask + 1, sizeof(uint32_t), 0xff); /* NONE */
	t->key_buckets = prefault_alloc(t->key_mask + 1, sizeof(uint32_t), 0xff);
	if (!t->windows || !t->keys || !t->address_pairs || !t->dirty_windows.items || !t->dirty_keys.items ||
	    !t->window_buckets || !t->key_buckets ||
	    flow_cache_new(&t->flows, limits->keys / KEYS_A_FLOW, seed) < 0) {
		window_table_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < limits->windows; i++)
		t->windows[i].next = i + 1 < limits->windows ? i + 1 : NONE;
	t->free_key = NONE;
	t->n_free = limits->windows;
	*out = t;
	return 0;
}

void
window_table_free(struct window_table *t)
{
	if (!t)
		return;
	flow_cache_free(t->flows);
	free(t->key_buckets);
	free(t->window_buckets);
	free(t->dirty_keys.items);
	free(t->dirty_windows.items);
	free(t->address_pairs);
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
find_window(const struct window_table *t, uint64_t start_us, int64_t agent, uint64_t if_index, uint64_t hash)
{
	for (uint32_t i = t->window_buckets[hash & t->window_mask]; i != NONE;
	     i = t->windows[i].next) {
		struct window *w = &t->windows[i];

		if (w->start_us == start_us && w->agent == agent && w->if_index == if_index)
			return w;
	}
	return NULL;
}

static uint32_t *
held_by(struct window_table *t, int64_t agent)
{
	return &t->held[(uint64_t)agent % WINDOW_AGENTS];
}

static bool
is_over_share(struct window_table *t, int64_t agent)
{
	return *held_by(t, agent) >= WINDOW_SHARE * (uint64_t)t->n_free;
}

struct window *
window_get(struct window_table *t, int64_t agent, uint64_t if_index, uint64_t time_us, uint64_t mono_us)
{
	uint32_t i = t->free_window, *bucket;
	struct window *w = t->last;
	uint64_t start_us, hash;

	/* Mostly it is that of the sample before. */
	if (w && time_us - w->start_us < STORE_WINDOW_US && w->agent == agent && w->if_index == if_index) {
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
	/* A new one, unless all are open, or this agent has most of them. */
	if (i == NONE) {
		stat_add(&t->stats, WINDOW_STAT_NO_WINDOW, 1);
		return NULL;
	}
	if (is_over_share(t, agent)) {
		stat_add(&t->stats, WINDOW_STAT_OVER_SHARE, 1);
		return NULL;
	}
	assert(!t->windows[i].open && t->n_free > 0);
	w = &t->windows[i];
	t->free_window = w->next;
	t->n_free--;
	++*held_by(t, agent);
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

void
window_mark_dirty(struct window_table *t, struct window *w)
{
	if (w->dirty)
		return;
	assert(w->open && t->dirty_windows.n < t->limits.windows);
	w->dirty = true;
	t->dirty_windows.items[t->dirty_windows.n++] = (uint32_t)(w - t->windows);
}

/* Adding */

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
add_pending(struct window_table *t, const struct pending_sample *a)
{
	struct flow *flow = flow_cache_get(t->flows, &a->key, a->hash, window_keys_add_flows, t);

	flow->sums.octets += a->octets;
	flow->sums.octets2 += a->octets * a->octets;
	flow->sums.n++;
	if (a->has_pairs)
		flow_pairs_add(&flow->sums.pairs, &a->pairs);
}

static struct pending_sample *
pending_at(struct window_table *t, uint64_t number)
{
	return &t->pending[number % PENDING_SAMPLES];
}

/* Returns the entry for the next sample; if all are used, the oldest sample goes to its flow first.
 */
static struct pending_sample *
next_pending(struct window_table *t)
{
	assert(t->pending_end - t->pending_begin <= PENDING_SAMPLES);
	if (t->pending_end - t->pending_begin == PENDING_SAMPLES)
		add_pending(t, pending_at(t, t->pending_begin++));
	return pending_at(t, t->pending_end++);
}

/* pairs is NULL if the sample arrived alone. */
static void
window_add_sample(struct window_table *t, const struct window_sample *s, const struct flow_key *key,
    const struct sample_pair_sums *pairs)
{
	struct direction_sums *sums = &s->window->directions[s->sample->direction - 1];
	struct pending_sample *a = next_pending(t);

	assert(s->window->open);
	a->key = *key;
	a->hash = flow_cache_hash(t->flows, key);
	a->octets = s->sample->frame_octets;
	a->has_pairs = pairs;
	flow_cache_prefetch_set(t->flows, a->hash);
	if (t->pending_end - t->pending_begin > FETCH_AFTER)
		flow_cache_prefetch(
		    t->flows, pending_at(t, t->pending_end - 1 - FETCH_AFTER)->hash);
	window_mark_dirty(t, s->window);
	window_sums_add(&sums->sums, s->sample);
	if (s->sample->mean_skip > sums->w_max)
		sums->w_max = s->sample->mean_skip;
	if (!pairs)
		return;
	sums->any.pkts += pairs->unit_pkts * (double)pairs->pkts[PAIR_FEATURE_ANY];
	sums->any.octets += pairs->unit_octets * (double)pairs->octets[PAIR_FEATURE_ANY];
	a->pairs = *pairs;
}

static void
pair_samples(const struct window_table *t, const struct window_sample *samples,
    const struct flow_key *keys, size_t n, struct sample_pair_sums *pairs)
{
	struct paired_sample paired[SAMPLE_PAIRS_MAX];

	for (size_t i = 0; i < n; i++)
		sample_pairs_fill(&paired[i], t->seed, &keys[i], (uint32_t)i, samples[0].sample->mean_skip,
		    samples[i].sample);
	sample_pairs_sum(paired, n, pairs);
}

void
window_add_samples(struct window_table *t, const struct window_sample *samples, size_t n)
{
	struct sample_pair_sums pairs[SAMPLE_PAIRS_MAX];
	struct flow_key keys[SAMPLE_PAIRS_MAX];

	assert(n <= SAMPLE_PAIRS_MAX);
	for (size_t i = 0; i < n; i++)
		flow_key_of(&samples[i].keys, (uint32_t)(samples[i].window - t->windows),
		    samples[i].sample->direction, samples[i].sample->mean_skip, &keys[i]);
	if (n > 1)
		pair_samples(t, samples, keys, n, pairs);
	for (size_t i = 0; i < n; i++)
		window_add_sample(t, &samples[i], &keys[i], n > 1 ? &pairs[i] : NULL);
}

void
window_empty_flow_cache(struct window_table *t)
{
	while (t->pending_begin < t->pending_end)
		add_pending(t, pending_at(t, t->pending_begin++));
	flow_cache_evict_all(t->flows, window_keys_add_flows, t);
}

void
window_add_pool(struct window_table *t, struct window *w, uint8_t direction, uint64_t pkts, uint64_t octets)
{
	struct direction_sums *sums = &w->directions[direction - 1];

	sums->pool_pkts += (int64_t)pkts;
	sums->pool_octets += (int64_t)octets;
	window_mark_dirty(t, w);
}

void
window_add_numbers(struct window_table *t, struct window *w, int64_t expected, uint64_t received)
{
	w->expected += expected;
	w->received += (int64_t)received;
	window_mark_dirty(t, w);
}

void
window_add_cut(struct window_table *t, struct window *w, uint8_t direction, int64_t pkts, int64_t octets)
{
	struct direction_sums *sums = &w->directions[direction - 1];

	sums->cut_pkts += pkts;
	sums->cut_octets += octets;
	window_mark_dirty(t, w);
}

void
window_add_cut_numbers(struct window_table *t, struct window *w, int64_t numbers)
{
	w->cut_numbers += numbers;
	window_mark_dirty(t, w);
}

/* Closing */

static void
close_window(struct window_table *t, uint32_t i)
{
	struct window *w = &t->windows[i];
	uint64_t hash = hash_window(t, w->start_us, w->agent, w->if_index);
	uint32_t *link = &t->window_buckets[hash & t->window_mask];

	assert(w->open && !w->dirty && t->n_free < t->limits.windows && *held_by(t, w->agent) > 0);
	while (*link != i)
		link = &t->windows[*link].next;
	*link = w->next;
	w->open = w->closing = w->dirty = false;
	w->next = t->free_window;
	t->free_window = i;
	t->n_free++;
	--*held_by(t, w->agent);
	stat_add(&t->stats, WINDOW_STAT_CLOSED, 1);
}

static void
close_marked(struct window_table *t)
{
	t->last = NULL;
	window_keys_close(t);
	for (uint32_t i = 0; i < t->limits.windows; i++)
		if (t->windows[i].closing)
			close_window(t, i);
}

void
window_close(struct window_table *t, window_is_over_fn *over, void *arg)
{
	uint32_t closing = 0;

	for (uint32_t i = 0; i < t->limits.windows; i++) {
		struct window *w = &t->windows[i];

		w->closing = w->open && !w->dirty && over(arg, w->agent, w->start_us, w->last_mono_us);
		closing += w->closing;
	}
	if (closing > 0)
		close_marked(t);
}
