/* Windows with their sums: sums equal an independent addition, and limits hold. */
#include "collector/window/sample_pairs.h"
#include "collector/window/sample_thinning.h"
#include "collector/window/window.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_US 60000000ull
#define NOON_US	  (1700000040ull * 1000000) /* a whole minute */

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* Windows */

static struct window_table *
new_table(uint32_t windows, uint32_t keys, uint32_t keys_per_window)
{
	struct window_limits limits = {windows, keys, keys_per_window};
	struct window_table *t;

	ck_assert_int_eq(window_table_new(&t, &limits, 42), 0);
	return t;
}

/* A batch with room for everything in a window table of these tests. */
static struct store_batch
new_batch(void)
{
	const struct window_limits limits = {.windows = 64, .keys = 4000};
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_batch batch;

	window_room(&limits, room);
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	return batch;
}

static struct frame_keys
frame_of(uint32_t source, uint32_t destination, uint8_t ip_version)
{
	struct frame_keys k = {.has_macs = true, .ip_version = ip_version};

	source = htole32(source);
	destination = htole32(destination);
	memcpy(k.src_mac + 2, &source, 4);
	memcpy(k.dst_mac + 2, &destination, 4);
	memcpy(k.src_ip, &source, 4);
	memcpy(k.dst_ip, &destination, 4);
	return k;
}

static struct ease_sample
sample_of(uint8_t direction, uint32_t mean_skip, uint32_t octets)
{
	return (struct ease_sample){
	    .direction = direction,
	    .mean_skip = mean_skip,
	    .frame_octets = octets,
	};
}

static bool
always_over(void *arg, int64_t agent, uint64_t start_us, uint64_t last_mono_us)
{
	(void)arg, (void)agent, (void)start_us, (void)last_mono_us;
	return true;
}

/* A notification of one sample. */
static void
add_alone(struct window_table *t, struct window *w, const struct ease_sample *s,
    const struct frame_keys *keys)
{
	window_add_samples(t, &(struct window_sample){w, s, *keys}, 1);
}

/* Returns the only key of a direction and kind; NULL if there is none. */
static const struct store_key *
key_of(const struct store_batch *batch, uint8_t direction, int kind)
{
	const struct store_key *rows = batch->rows[STORE_KEYS].items;

	for (size_t i = 0; i < batch->rows[STORE_KEYS].n; i++)
		if (rows[i].direction == direction && rows[i].kind == kind)
			return &rows[i];
	return NULL;
}

START_TEST(sums_are_those_of_the_samples)
{
	struct window_table *t = new_table(8, 1000, 1000);
	struct window *w = window_get(t, 3, 7, NOON_US + 5, 1);
	struct ease_sample a = sample_of(EASE_IN, 20, 64), b = sample_of(EASE_IN, 30, 1518);
	struct ease_sample c = sample_of(EASE_OUT, 5, 100);
	struct frame_keys ip = frame_of(1, 2, 4), no_ip = frame_of(1, 2, 0);
	struct store_batch batch = new_batch();
	const struct store_window *windows;
	const struct store_key *key;

	add_alone(t, w, &a, &ip);
	add_alone(t, w, &b, &no_ip);
	add_alone(t, w, &c, &ip);
	window_add_pool(t, w, EASE_IN, 1234, 99999);
	window_add_numbers(t, w, 5, 3);
	ck_assert_int_eq(window_flush(t, &batch), 0);
	ck_assert_uint_eq(batch.rows[STORE_WINDOWS].n, 2);
	ck_assert_uint_eq(batch.rows[STORE_KEYS].n, 4); /* in: eth, ip; out: eth, ip */
	windows = batch.rows[STORE_WINDOWS].items;
	ck_assert_uint_eq(windows[0].start_us, NOON_US);
	ck_assert_int_eq(windows[0].agent, 3);
	ck_assert_uint_eq(windows[0].if_index, 7);
	ck_assert_int_eq(windows[0].pool_pkts, 1234);
	ck_assert_int_eq(windows[0].pool_octets, 99999);
	ck_assert_uint_eq(windows[0].sums.n, 2);
	ck_assert(windows[0].sums.w == 50 && windows[0].sums.w2 == 400 + 900);
	ck_assert(windows[0].sums.wb == 20 * 64 + 30 * 1518);
	ck_assert(windows[0].sums.wb2 == 20. * 64 * 64 + 30. * 1518 * 1518);
	ck_assert(windows[0].sums.w2b2 == 400. * 64 * 64 + 900. * 1518 * 1518);
	key = key_of(&batch, EASE_IN, STORE_KEY_ETH_PAIR);
	ck_assert_uint_eq(key->sums.n, 2); /* of two flows */
	ck_assert(key->sums.w == 50 && key->sums.wb2 == windows[0].sums.wb2);
	key = key_of(&batch, EASE_IN, STORE_KEY_IP_PAIR);
	ck_assert_uint_eq(key->sums.n, 1);
	ck_assert_int_eq(key->key1_octets, 4);
	store_batch_clear(&batch);
	ck_assert_int_eq(window_flush(t, &batch), 0); /* nothing new: nothing to write */
	ck_assert_uint_eq(batch.rows[STORE_WINDOWS].n + batch.rows[STORE_KEYS].n, 0);
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

/* Whole numbers, as sums of a key have to be. */
struct whole_sums {
	uint64_t n, w, w2, wb, wb2, w2b2;
};

static void
add_rows(const struct store_batch *batch, struct store_sums *sum)
{
	const struct store_key *rows = batch->rows[STORE_KEYS].items;

	for (size_t i = 0; i < batch->rows[STORE_KEYS].n; i++)
		if (rows[i].kind == STORE_KEY_IP_PAIR)
			*sum = (struct store_sums){sum->n + rows[i].sums.n, sum->w + rows[i].sums.w,
			    sum->w2 + rows[i].sums.w2, sum->wb + rows[i].sums.wb,
			    sum->wb2 + rows[i].sums.wb2, sum->w2b2 + rows[i].sums.w2b2};
}

/* However often what came is written, and whatever flow a sample is of: two collectors that received the same have
 * the same sums. The skip changes now and then. */
START_TEST(sums_are_exact_whenever_they_are_flushed)
{
	static const unsigned every[] = {1, 8, 1000, 20000};
	struct window_table *t = new_table(8, 1000, 1000);
	struct window *w = window_get(t, 3, 7, NOON_US, 1);
	struct store_batch batch = new_batch();
	struct store_sums sum = {0};
	struct whole_sums is = {0};
	uint64_t random = 5;

	for (unsigned i = 1; i <= 20000; i++) {
		uint64_t skip = 37 + i / 777 % 5 * 10, octets;
		struct frame_keys keys = frame_of((uint8_t)(i % 3), 2, 4);
		struct ease_sample s;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		octets = 64 + (random >> 33) % 1455;
		s = sample_of(EASE_IN, (uint32_t)skip, (uint32_t)octets);
		add_alone(t, w, &s, &keys);
		is = (struct whole_sums){is.n + 1, is.w + skip, is.w2 + skip * skip, is.wb + skip * octets,
		    is.wb2 + skip * octets * octets, is.w2b2 + skip * skip * octets * octets};
		if (i % every[_i] == 0) {
			ck_assert_int_eq(window_flush(t, &batch), 0);
			add_rows(&batch, &sum);
			store_batch_clear(&batch);
		}
	}
	ck_assert_uint_eq(sum.n, is.n);
	ck_assert(sum.w == (double)is.w && sum.w2 == (double)is.w2 && sum.wb == (double)is.wb);
	ck_assert(sum.wb2 == (double)is.wb2 && sum.w2b2 == (double)is.w2b2);
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

/* What a message states beyond all reason does not come out small. */
START_TEST(weights_beyond_what_fits_stay_the_most)
{
	struct window_table *t = new_table(8, 1000, 1000);
	struct window *w = window_get(t, 3, 7, NOON_US, 1);
	struct ease_sample s = sample_of(EASE_IN, UINT32_MAX, 64);
	struct frame_keys keys = frame_of(1, 2, 4);
	struct store_batch batch = new_batch();

	for (uint32_t i = 0; i < (1u << 23) + 10; i++)
		add_alone(t, w, &s, &keys);
	ck_assert_int_eq(window_flush(t, &batch), 0);
	ck_assert(key_of(&batch, EASE_IN, STORE_KEY_IP_PAIR)->sums.w >= 0x1p54);
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

enum { N_MATES = SAMPLE_PAIRS_MAX };

/* The pair sums that window_add_samples must give, by comparing each sample with each other. */
static double
pairs_of(const struct window_sample *paired, const struct window_sample *of, size_t offset,
    size_t octets)
{
	double sum = 0;

	for (size_t i = 0; i < N_MATES; i++) {
		const struct window_sample *m = &paired[i];

		if (m != of && m->window == of->window &&
		    m->sample->direction == of->sample->direction &&
		    m->keys.ip_version == of->keys.ip_version &&
		    memcmp((const char *)&m->keys + offset, (const char *)&of->keys + offset,
			octets) == 0)
			sum += (double)m->sample->mean_skip * of->sample->mean_skip;
	}
	return sum;
}

struct pair_sums {
	double any, same, same1, same2;
};

static void
check_pairs(const struct store_batch *batch, const struct pair_sums *expected)
{
	const struct store_key *keys = batch->rows[STORE_KEYS].items;
	struct pair_sums sum = {0};

	for (size_t i = 0; i < batch->rows[STORE_KEYS].n; i++) {
		if (keys[i].kind != STORE_KEY_ETH_PAIR)
			continue;
		sum.any += keys[i].any.pkts;
		sum.same += keys[i].same.pkts;
		sum.same1 += keys[i].same1.pkts;
		sum.same2 += keys[i].same2.pkts;
		ck_assert(keys[i].same.pkts <= keys[i].same1.pkts &&
		    keys[i].same1.pkts <= keys[i].any.pkts);
		ck_assert(keys[i].any.octets == keys[i].any.pkts * 100 * 100);
	}
	ck_assert(sum.any == expected->any && sum.same == expected->same);
	ck_assert(sum.same1 == expected->same1 && sum.same2 == expected->same2);
}

START_TEST(samples_of_one_notification_are_paired)
{
	struct window_table *t = new_table(8, 1000, 1000);
	struct window_sample paired[N_MATES];
	struct ease_sample samples[N_MATES];
	struct pair_sums expected = {0};
	struct store_batch batch = new_batch();
	const struct store_window *windows;
	uint64_t random = 5;

	for (uint32_t i = 0; i < N_MATES; i++) {
		samples[i] = sample_of(i % 5 ? EASE_IN : EASE_OUT, 1 + i % 3, 100);
		paired[i] = (struct window_sample){window_get(t, 1, 1 + i % 2, NOON_US, 1),
		    &samples[i], frame_of((uint32_t)next_random(&random) % 3,
			(uint32_t)next_random(&random) % 3, 4)};
	}
	for (size_t i = 0; i < N_MATES; i++) {
		const size_t dst = offsetof(struct frame_keys, dst_mac);
		const size_t src = offsetof(struct frame_keys, src_mac);

		expected.any += pairs_of(paired, &paired[i], 0, 0);
		expected.same += pairs_of(paired, &paired[i], dst, src + FRAME_MAC_LEN - dst);
		expected.same1 += pairs_of(paired, &paired[i], src, FRAME_MAC_LEN);
		expected.same2 += pairs_of(paired, &paired[i], dst, FRAME_MAC_LEN);
	}
	window_add_samples(t, paired, N_MATES);
	add_alone(t, paired[0].window, &samples[0], &paired[0].keys); /* another notification */
	ck_assert_int_eq(window_flush(t, &batch), 0);
	check_pairs(&batch, &expected);
	windows = batch.rows[STORE_WINDOWS].items;
	ck_assert_uint_eq(batch.rows[STORE_WINDOWS].n, 4);
	for (int i = 0; i < 4; i++)
		expected.any -= windows[i].any.pkts;
	ck_assert(expected.any == 0);
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

/* Samples of one port in keys of a kind, and those folded. */
static uint64_t
in_keys(const struct store_batch *batch, int kind, uint32_t if_index)
{
	const struct store_key *rows = batch->rows[STORE_KEYS].items;
	uint64_t n = 0;

	for (size_t i = 0; i < batch->rows[STORE_KEYS].n; i++)
		n += rows[i].kind == kind && rows[i].if_index == if_index ? rows[i].sums.n : 0;
	return n;
}

static uint64_t
in_others(const struct store_batch *batch, int kind, uint32_t if_index)
{
	const struct store_folded *rows = batch->rows[STORE_FOLDED].items;
	uint64_t n = 0;

	for (size_t i = 0; i < batch->rows[STORE_FOLDED].n; i++)
		n += rows[i].kind == kind && rows[i].if_index == if_index ? rows[i].n : 0;
	return n;
}

START_TEST(what_was_folded_beyond_the_rows_is_told_later)
{
	struct window_table *t = new_table(2, 20, 20);
	struct ease_sample s = sample_of(EASE_IN, 10, 64);
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_batch batch;
	uint64_t folded = 0;

	window_room(&(struct window_limits){.windows = 2, .keys = 20}, room);
	room[STORE_FOLDED].kept = 1;
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	for (uint32_t i = 0; i < 200; i++) {
		struct window *w = window_get(t, 1, 1 + i % 2, NOON_US, 1);
		struct frame_keys k = frame_of(i, 0, 0);

		add_alone(t, w, &s, &k);
	}
	for (int dump = 0; dump < 2; dump++) {
		ck_assert_int_eq(window_flush(t, &batch), 0);
		ck_assert_uint_eq(batch.rows[STORE_FOLDED].n, 1);
		window_close(t, always_over, NULL);
		ck_assert_uint_eq(stat_get(window_stats(t), WINDOW_STAT_CLOSED), 1u + dump);
		folded += in_others(&batch, STORE_KEY_ETH_PAIR, 1) +
		    in_others(&batch, STORE_KEY_ETH_PAIR, 2);
		store_batch_clear(&batch);
	}
	ck_assert_uint_eq(folded, stat_get(window_stats(t), WINDOW_STAT_KEYS_TABLE_FULL));
	ck_assert_int_eq(window_flush(t, &batch), 0);
	ck_assert_uint_eq(batch.rows[STORE_FOLDED].n, 0);
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

START_TEST(beyond_the_limits_samples_are_counted_with_the_others)
{
	struct window_table *t = new_table(2, 30, 20);
	struct ease_sample s = sample_of(EASE_IN, 10, 64);
	struct store_batch batch = new_batch();
	const struct store_window *windows;

	for (uint32_t port = 1; port <= 2; port++)
		for (uint32_t i = 0; i < 100; i++) {
			struct window *w = window_get(t, 1, port, NOON_US, 1);
			struct frame_keys k = frame_of(i, 0, 0);

			add_alone(t, w, &s, &k);
		}
	ck_assert_ptr_null(window_get(t, 1, 3, NOON_US, 1));
	ck_assert_uint_eq(stat_get(window_stats(t), WINDOW_STAT_NO_WINDOW), 1);
	window_close(t, always_over, NULL); /* not flushed, so it must stay */
	ck_assert_int_eq(window_flush(t, &batch), 0);
	ck_assert_uint_eq(stat_get(window_stats(t), WINDOW_STAT_KEYS_TABLE_FULL), 170);
	ck_assert_uint_le(batch.rows[STORE_KEYS].n, 30);
	ck_assert_uint_eq(batch.rows[STORE_KEYS].n +
		stat_get(window_stats(t), WINDOW_STAT_KEYS_WINDOW_FULL),
	    30);
	windows = batch.rows[STORE_WINDOWS].items;
	for (uint32_t port = 1; port <= 2; port++) {
		ck_assert_uint_eq(windows[port - 1].sums.n, 100);
		ck_assert_uint_eq(in_keys(&batch, STORE_KEY_ETH_PAIR, port) +
			in_others(&batch, STORE_KEY_ETH_PAIR, port),
		    100);
	}
	window_close(t, always_over, NULL);
	ck_assert_uint_eq(stat_get(window_stats(t), WINDOW_STAT_CLOSED), 2);
	ck_assert_ptr_nonnull(window_get(t, 1, 3, NOON_US, 1));
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

/*
 * A flood: half of the samples come from three million sources (ten with EASE_LONG) with one sample each, the others from
 * a thousand sources whose shares fall as 1/rank and some of which begin late. What the store has
 * of each of the thousand is never more than the truth, and lacks at most what the window reports.
 * That bound stays near the theoretical number of samples divided by the number of keys. Memory and
 * rows stay within their limits.
 */
enum {
	FLOOD = 3000000,
	FLOOD_LONG = 10000000,
	KNOWN = 1000,
	FLOOD_FLUSH = 400000,	  /* a second of the rate the collector is built for */
	FLOOD_BUDGET = 64 << 20,
	SPOOFED = 1 << 30,	  /* sources from here on */
};

struct flood {
	uint64_t spoofed, truth[KNOWN], stored[KNOWN];
	uint64_t n, keys_n, folded_n, most_n, rows;
};

static void
draw_flood(struct flood *f, struct window_table *t, uint64_t *random, const uint32_t *by_share,
    uint32_t n_shares)
{
	struct window *w = window_get(t, 1, 1, NOON_US, 1);
	struct ease_sample s = sample_of(EASE_IN, 10, 64);
	uint32_t source = SPOOFED + (uint32_t)(f->n / 2);
	struct frame_keys k;

	if (f->n % 2 == 0) {
		source = by_share[next_random(random) % n_shares];
		if (source % 7 == 3 && f->n < f->spoofed) /* begins half way */
			source = 0;
		f->truth[source]++;
	}
	k = frame_of(source, 1, 4);
	k.has_macs = false;
	add_alone(t, w, &s, &k);
	f->n++;
}

static void
take_flood_rows(struct flood *f, const struct store_batch *batch)
{
	const struct store_key *keys = batch->rows[STORE_KEYS].items;
	const struct store_folded *folded = batch->rows[STORE_FOLDED].items;

	for (size_t i = 0; i < batch->rows[STORE_KEYS].n; i++) {
		uint32_t source;

		memcpy(&source, keys[i].key1, 4);
		source = le32toh(source);
		if (source < KNOWN)
			f->stored[source] += keys[i].sums.n;
		f->keys_n += keys[i].sums.n;
	}
	f->rows += batch->rows[STORE_KEYS].n;
	for (size_t i = 0; i < batch->rows[STORE_FOLDED].n; i++) {
		f->folded_n += folded[i].n;
		f->most_n += folded[i].most_n;
	}
}

START_TEST(a_flood_of_spoofed_sources_stays_within_its_bound)
{
	struct mallinfo2 before = mallinfo2(), after; /* zeros under a sanitizer */
	struct window_limits limits = window_limits_for(FLOOD_BUDGET, 0);
	struct flood *f = calloc(1, sizeof(*f));
	uint32_t *by_share = malloc(8 * KNOWN * sizeof(*by_share)), n_shares = 0;
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_batch batch;
	struct window_table *t;
	uint64_t random = 11;

	f->spoofed = (uint64_t)suite_effort_at_most(getenv("EASE_LONG") ? FLOOD_LONG : FLOOD);
	window_room(&limits, room);
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	ck_assert_uint_le(window_memory(&limits), FLOOD_BUDGET);
	ck_assert_uint_gt(window_memory(&limits), FLOOD_BUDGET * 9ull / 10);
	limits.keys_per_window = 20000;
	ck_assert_int_eq(window_table_new(&t, &limits, 42), 0);
	for (uint32_t source = 0; source < KNOWN; source++)
		for (uint32_t i = 0; i < 1 + KNOWN / (source + 1) && n_shares < 8 * KNOWN; i++)
			by_share[n_shares++] = source;
	while (f->n < 2 * f->spoofed || f->n % FLOOD_FLUSH != 0) {
		draw_flood(f, t, &random, by_share, n_shares);
		if (f->n % FLOOD_FLUSH != 0)
			continue;
		ck_assert_int_eq(window_flush(t, &batch), 0);
		take_flood_rows(f, &batch);
		store_batch_clear(&batch);
	}
	after = mallinfo2();
	ck_assert_uint_le(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd,
	    FLOOD_BUDGET);
	ck_assert_uint_eq(f->keys_n + f->folded_n, f->n);
	ck_assert_uint_gt(f->folded_n, f->spoofed / 2);
	ck_assert_uint_le(f->most_n, 4 * f->n / limits.keys_per_window);
	ck_assert_uint_le(f->rows, 2 * limits.keys_per_window * (f->n / FLOOD_FLUSH));
	for (int i = 0; i < KNOWN; i++) {
		ck_assert_uint_le(f->stored[i], f->truth[i]);
		ck_assert_uint_le(f->truth[i], f->stored[i] + f->most_n);
	}
	for (int i = 0; i < 10; i++) /* the ten heaviest, one of which begins late */
		ck_assert_uint_ge(f->stored[i] * 100, f->truth[i] * 97);
	printf("flood: %u keys, %llu samples folded, any one lacks at most %llu, %llu rows\n",
	    limits.keys, (unsigned long long)f->folded_n, (unsigned long long)f->most_n,
	    (unsigned long long)f->rows);
	store_batch_free(&batch);
	window_table_free(t);
	free(by_share);
	free(f);
}
END_TEST

/* Every kind of key a frame can have, as the store writes them. */
START_TEST(kinds_of_keys_are_as_the_schema_says)
{
	static const struct {
		uint8_t kind, octets1, octets2;
		const char *key1, *key2;
	} expected[] = {
	    {STORE_KEY_ETH_PAIR, 6, 6, "\0\0\1\0\0\0", "\0\0\2\0\0\0"},
	    {STORE_KEY_IP_PAIR, 4, 4, "\1\0\0\0", "\2\0\0\0"},
	    {STORE_KEY_VLAN, 2, 0, "\x01\x02", ""},
	    {STORE_KEY_ETHERTYPE, 2, 0, "\x08\x00", ""},
	    {STORE_KEY_IP_PROTO, 1, 0, "\x06", ""},
	    {STORE_KEY_SERVER_PORT, 3, 0, "\x06\x01\xbb", ""},
	    {STORE_KEY_CONVERSATION, 7, 7, "\1\0\0\0\xc0\x01\x06", "\2\0\0\0\x01\xbb\x06"},
	    {STORE_KEY_SYN, 4, 6, "\1\0\0\0", "\2\0\0\0\x01\xbb"},
	};
	struct window_table *t = new_table(8, 1000, 1000);
	struct window *w = window_get(t, 1, 1, NOON_US, 1);
	struct ease_sample s = sample_of(EASE_IN, 10, 64);
	struct frame_keys k = frame_of(1, 2, 4);
	struct store_batch batch = new_batch();
	const struct store_key *keys;

	k.n_vlans = 2;
	k.vlan[0] = 0x102;
	k.has_ethertype = k.has_ip_proto = k.has_ports = true;
	k.ethertype = 0x800;
	k.ip_proto = 6;
	k.src_port = 0xc001;
	k.dst_port = 443;
	k.is_syn = true;
	add_alone(t, w, &s, &k);
	ck_assert_int_eq(window_flush(t, &batch), 0);
	ck_assert_uint_eq(batch.rows[STORE_KEYS].n, N_KINDS);
	keys = batch.rows[STORE_KEYS].items;
	for (size_t i = 0; i < N_KINDS; i++) {
		ck_assert_uint_eq(keys[i].kind, expected[i].kind);
		ck_assert_uint_eq(keys[i].key1_octets, expected[i].octets1);
		ck_assert_uint_eq(keys[i].key2_octets, expected[i].octets2);
		ck_assert_mem_eq(keys[i].key1, expected[i].key1, expected[i].octets1);
		ck_assert_mem_eq(keys[i].key2, expected[i].key2, expected[i].octets2);
	}
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

/* Windows are opened, filled, flushed and closed at random: all samples are flushed, and no key is
 * leaked. */
START_TEST(nothing_is_lost_over_many_lives)
{
	struct window_table *t = new_table(64, 4000, 1000);
	struct store_batch batch = new_batch();
	uint64_t random = 7, in = 0, out = 0, key_out = 0;

	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 200; i++) {
			struct window *w = window_get(t, 1, (uint32_t)(next_random(&random) % 30),
			    NOON_US + round / 10 * MINUTE_US, 1);
			struct ease_sample s = sample_of(1 + next_random(&random) % 2, 1, 64);
			struct frame_keys k = frame_of((uint32_t)(next_random(&random) % 50), 1, 4);

			add_alone(t, w, &s, &k);
			in++;
		}
		ck_assert_int_eq(window_flush(t, &batch), 0);
		for (size_t i = 0; i < batch.rows[STORE_WINDOWS].n; i++)
			out += ((struct store_window *)batch.rows[STORE_WINDOWS].items)[i].sums.n;
		for (size_t i = 0; i < batch.rows[STORE_KEYS].n; i++)
			key_out += ((struct store_key *)batch.rows[STORE_KEYS].items)[i].sums.n;
		store_batch_clear(&batch);
		if (round % 10 == 9)
			window_close(t, always_over, NULL);
	}
	ck_assert_uint_eq(out, in);
	ck_assert_uint_eq(key_out, 2 * in);
	ck_assert_uint_eq(stat_get(window_stats(t), WINDOW_STAT_KEYS_TABLE_FULL), 0);
	ck_assert_uint_eq(stat_get(window_stats(t), WINDOW_STAT_OPENED),
	    stat_get(window_stats(t), WINDOW_STAT_CLOSED));
	store_batch_free(&batch);
	window_table_free(t);
}
END_TEST

/* The samples that rows stand for add up to all samples (within five standard deviations of a
 * random choice of one in k) at any rate, and the number of rows stays near its limit. */
START_TEST(thinned_rows_stand_for_all_samples)
{
	const uint32_t limit = 1000, rates[] = {500, 100000, 900, 40000, 200};
	uint64_t mono_us = 1, n = 0, rows = 0;
	double stands_for = 0, variance = 0;
	struct sample_thinning t;

	sample_thinning_init(&t, limit, 42);
	for (uint32_t second = 0; second < 100; second++) {
		uint32_t rate = rates[second / 4 % 5];

		for (uint32_t i = 0; i < rate; i++) {
			uint32_t k = sample_thinning_decide(&t, mono_us += 1000000 / rate);

			variance += (double)t.keep_one_of;
			stands_for += k;
			rows += k > 0;
			n++;
		}
		ck_assert_uint_le(
		    rows, (uint64_t)limit * (second + 1 + SAMPLE_THINNING_BURST_S) * 6 / 5);
	}
	ck_assert_uint_gt(rows, (uint64_t)limit * 60); /* 40 of the 100 seconds had less to give */
	ck_assert_double_lt(fabs(stands_for - (double)n), 5 * sqrt(variance));
	ck_assert_double_gt(fabs(stands_for - (double)n), 0);
	sample_thinning_init(&t, 0, 42);
	rows = 0;
	for (int i = 0; i < 100000; i++)
		rows += sample_thinning_decide(&t, 1) == 1;
	ck_assert_uint_eq(rows, 100000);
}
END_TEST

/* A burst of up to ten seconds' worth of rows keeps every row, however fast it is; so does a later
 * one. */
START_TEST(bursts_are_not_thinned)
{
	const uint32_t limit = 1000;
	uint64_t mono_us = 1;
	struct sample_thinning t;

	sample_thinning_init(&t, limit, 7);
	for (int burst = 0; burst < 3; burst++) {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < limit * SAMPLE_THINNING_BURST_S; i++)
			kept += sample_thinning_decide(&t, mono_us + i / 100) == 1;
		ck_assert_uint_eq(kept, limit * SAMPLE_THINNING_BURST_S);
		mono_us += 2ull * SAMPLE_THINNING_BURST_S * 1000000;
	}
}
END_TEST

/* Whatever an agent opens, it leaves some windows to others. */
START_TEST(an_agent_leaves_windows_to_others)
{
	struct window_limits limits = {100, 4096, 1000};
	struct window_table *t;
	uint64_t n = 0;

	ck_assert_int_eq(window_table_new(&t, &limits, 42), 0);
	while (n < 1000 && window_get(t, 1, 1, NOON_US + n * MINUTE_US, 0))
		n++;
	ck_assert_uint_eq(n, 80);
	for (uint32_t port = 1; port <= 16; port++)
		ck_assert_ptr_nonnull(window_get(t, 2, port, NOON_US, 0));
	ck_assert_ptr_nonnull(window_get(t, 3, 1, NOON_US, 0));
	ck_assert_ptr_null(window_get(t, 1, 2, NOON_US, 0));
	ck_assert_ptr_nonnull(window_get(t, 1, 1, NOON_US, 0)); /* one that it has */
	ck_assert_uint_ge(stat_get(window_stats(t), WINDOW_STAT_OVER_SHARE), 2);
	window_table_free(t);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("window");
	TCase *tc = tcase_create("window");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, thinned_rows_stand_for_all_samples);
	tcase_add_test(tc, bursts_are_not_thinned);
	tcase_set_timeout(tc, 280);
	tcase_add_test(tc, sums_are_those_of_the_samples);
	tcase_add_loop_test(tc, sums_are_exact_whenever_they_are_flushed, 0, 4);
	tcase_add_test(tc, weights_beyond_what_fits_stay_the_most);
	tcase_add_test(tc, samples_of_one_notification_are_paired);
	tcase_add_test(tc, beyond_the_limits_samples_are_counted_with_the_others);
	tcase_add_test(tc, what_was_folded_beyond_the_rows_is_told_later);
	tcase_add_test(tc, a_flood_of_spoofed_sources_stays_within_its_bound);
	tcase_add_test(tc, kinds_of_keys_are_as_the_schema_says);
	tcase_add_test(tc, nothing_is_lost_over_many_lives);
	tcase_add_test(tc, an_agent_leaves_windows_to_others);
	return suite_run(suite);
}
