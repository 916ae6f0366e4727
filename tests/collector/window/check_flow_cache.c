/*
 * The flow cache: nothing is lost or counted twice, however few entries it has; a busy flow stays
 * cached while there is room; and keys that differ in one bit are different flows.
 */
#include "collector/window/flow_cache.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { N_KEYS = 1000, SAMPLES = 200000, ROUNDS = 100 };

static uint32_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

static struct flow_key
key_of_number(uint32_t number)
{
	struct flow_key key = {.direction = EASE_IN, .ip_version = 4};

	memcpy(key.src_ip, &number, sizeof(number));
	return key;
}

/* The evicted flows, by the number in their key. */
struct left {
	uint64_t n[N_KEYS], calls;
	double octets[N_KEYS];
};

static void
evict(void *arg, const struct flow *const *flows, size_t n)
{
	struct left *left = arg;

	if (n > FLOW_CACHE_EVICTED_AT_ONCE)
		ck_abort_msg("%zu at once", n);
	for (size_t i = 0; i < n; i++) {
		uint32_t number;

		memcpy(&number, flows[i]->key.src_ip, sizeof(number));
		if (number >= N_KEYS)
			ck_abort_msg("the key of %u, which never came", number);
		left->n[number] += flows[i]->sums.n;
		left->octets[number] += flows[i]->sums.octets;
	}
	left->calls++;
}

static void
add(struct flow_cache *f, uint32_t number, double octets, struct left *left)
{
	const struct flow_key key = key_of_number(number);
	uint64_t hash = flow_cache_hash(f, &key);
	struct flow *flow;

	flow_cache_prefetch(f, hash);
	flow = flow_cache_get(f, &key, hash, evict, left);
	flow->sums.n++;
	flow->sums.octets += octets;
}

/* With entries for all flows, for some of them, and for eight. */
START_TEST(whatever_came_leaves_once)
{
	static const uint32_t rooms[] = {1, 100, 2 * N_KEYS};
	struct left *left = calloc(1, sizeof(*left)), *came = calloc(1, sizeof(*came));
	uint64_t random = 3;
	struct flow_cache *f;

	ck_assert_int_eq(flow_cache_new(&f, rooms[_i], 77), 0);
	for (int i = 0, n = suite_effort(SAMPLES); i < n; i++) {
		uint32_t number = next_random(&random) % N_KEYS, octets = next_random(&random) % 100;

		came->n[number]++;
		came->octets[number] += octets;
		add(f, number, octets, left);
	}
	flow_cache_evict_all(f, evict, left);
	ck_assert_mem_eq(came->n, left->n, sizeof(came->n));
	ck_assert_mem_eq(came->octets, left->octets, sizeof(came->octets));
	left->calls = 0;
	flow_cache_evict_all(f, evict, left);
	ck_assert_uint_eq(left->calls, 0);
	flow_cache_free(f);
	free(came);
	free(left);
}
END_TEST

START_TEST(with_room_none_leaves_early)
{
	struct left *left = calloc(1, sizeof(*left));
	struct flow_cache *f;

	ck_assert_int_eq(flow_cache_new(&f, 4 * N_KEYS, 77), 0);
	for (int round = 0; round < ROUNDS; round++)
		for (uint32_t number = 0; number < N_KEYS; number++)
			add(f, number, 1, left);
	ck_assert_uint_le(
	    left->calls, ROUNDS * N_KEYS / 100); /* from sets that happen to be full */
	flow_cache_free(f);
	free(left);
}
END_TEST

static void
forget(void *arg, const struct flow *const *flows, size_t n)
{
	(void)arg, (void)flows, (void)n;
}

START_TEST(every_bit_of_a_key_counts)
{
	const struct flow_key key = key_of_number(1);
	struct left *left = calloc(1, sizeof(*left));
	struct flow_cache *f;

	ck_assert_int_eq(flow_cache_new(&f, N_KEYS, 77), 0);
	add(f, 1, 1, left);
	for (size_t bit = 0; bit < 8 * sizeof(key); bit++) {
		struct flow_key other = key;

		((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert_uint_ne(flow_cache_hash(f, &other), flow_cache_hash(f, &key));
		/* even if the hash were the same */
		ck_assert_uint_eq(
		    flow_cache_get(f, &other, flow_cache_hash(f, &key), forget, NULL)->sums.n, 0);
	}
	flow_cache_free(f);
	free(left);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("flow cache");
	TCase *cases = tcase_create("flows");

	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, whatever_came_leaves_once, 0, 3);
	tcase_add_test(cases, with_room_none_leaves_early);
	tcase_add_test(cases, every_bit_of_a_key_counts);
	return suite_run(suite);
}
