/*
 * Who occupies a pool's buffers: releases made up for late, against a pool that gets each of its
 * buffers back in order, at its time.
 */
#include "agent/sim/buffers.h"
#include "tests/suite.h"

#include <check.h>

enum { BASE = 0x300000, POOL_BUFFERS = 256, FRAMES = 40000, MAX_LIST = POOL_BUFFERS };

static struct bus_model *bus;
static struct tnetx4090_model *pool, *exact;
static struct buffers buffers;

static void
set_up(void)
{
	struct tnetx4090_model_config config = {.base = BASE, .n_buffers = POOL_BUFFERS};

	ck_assert_int_eq(bus_model_create(&bus), 0);
	config.bus = bus;
	for (unsigned i = 0; i < TNETX4090_PORTS; i++)
		config.partners[i] = (struct tnetx4090_partner){100, true, true};
	ck_assert_int_eq(tnetx4090_model_create(&config, &pool), 0);
	config.base += TNETX4090_WINDOW;
	ck_assert_int_eq(tnetx4090_model_create(&config, &exact), 0);
	buffers = (struct buffers){0};
	ck_assert_int_eq(buffers_add_pool(&buffers, pool, POOL_BUFFERS), 0);
}

static void
tear_down(void)
{
	buffers_free(&buffers);
	tnetx4090_model_destroy(pool);
	tnetx4090_model_destroy(exact);
	bus_model_destroy(bus);
}

static uint64_t
draw(uint64_t *state, uint64_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % below;
}

static void
poke_both(uint32_t address, uint32_t value)
{
	struct bus cpu = bus_model_cpu(bus);

	ck_assert_int_eq(bus_write(&cpu, BASE + address, value), 0);
	ck_assert_int_eq(bus_write(&cpu, BASE + TNETX4090_WINDOW + address, value), 0);
}

/* The exact pool's frames under way, in no order. */
struct list {
	struct flight flights[MAX_LIST];
	unsigned n;
};

/* The earliest first, all that are due. */
static void
release_due(struct list *list, uint64_t now)
{
	for (;;) {
		unsigned first = 0;

		for (unsigned i = 1; i < list->n; i++)
			if (list->flights[i].until_ns < list->flights[first].until_ns)
				first = i;
		if (list->n == 0 || list->flights[first].until_ns > now)
			return;
		tnetx4090_model_release(exact, list->flights[first].port,
		    list->flights[first].buffers, list->flights[first].until_ns);
		list->flights[first] = list->flights[--list->n];
	}
}

static void
assert_same_pools(uint64_t now)
{
	buffers_release(&buffers, now);
	ck_assert_uint_eq(pool->free, exact->free);
	ck_assert_uint_eq(pool->least_free, exact->least_free);
	ck_assert_uint_eq(pool->pressed, exact->pressed);
	for (unsigned i = 0; i < TNETX4090_PORTS; i++) {
		ck_assert_uint_eq(pool->ports[i].charged, exact->ports[i].charged);
		ck_assert_uint_eq(pool->ports[i].most_charged, exact->ports[i].most_charged);
		ck_assert_uint_eq(pool->ports[i].episodes, exact->ports[i].episodes);
		ck_assert_uint_eq(pool->ports[i].pressed_ns, exact->ports[i].pressed_ns);
		ck_assert_uint_eq(pool->ports[i].pauses_sent, exact->ports[i].pauses_sent);
	}
}

/* Loads that leave the pool idle, nearly full, and short, with and without flow control. */
START_TEST(late_releases_are_not_seen)
{
	const uint64_t stay_ns = (uint64_t[]){3000, 30000, 200000}[_i % 3];
	const bool flow = _i >= 3;
	struct list list = {.n = 0};
	uint64_t state = 99 + (uint64_t)_i, now = 1000;

	if (flow) {
		poke_both(TNETX4090_FLOW_THRESHOLD, 40);
		poke_both(TNETX4090_FLOW_THRESHOLD + 1, 0);
		poke_both(TNETX4090_SYS_CONTROL, TNETX4090_FLOW | TNETX4090_HOLB);
	}
	for (int i = 0; i < FRAMES; i++) {
		unsigned port = (unsigned)draw(&state, TNETX4090_PORTS);
		uint32_t octets = 64 + (uint32_t)draw(&state, 1455), n;
		uint64_t until = now + draw(&state, stay_ns);
		enum tnetx4090_verdict verdict;

		if (buffers.eager)
			buffers_release(&buffers, now);
		release_due(&list, now);
		verdict = buffers_admit(&buffers, port, octets, now, &n);
		ck_assert_int_eq(verdict, tnetx4090_model_admit(exact, port, n, now));
		if (verdict == TNETX4090_ACCEPT) {
			buffers_keep(&buffers, port, n, until, port);
			list.flights[list.n++] = (struct flight){
			    .until_ns = until, .buffers = (uint16_t)n, .port = (uint8_t)port};
		}
		if (draw(&state, 1000) == 0)
			assert_same_pools(now);
		now += draw(&state, 2000);
	}
	release_due(&list, now);
	assert_same_pools(now);
	ck_assert_uint_lt(pool->least_free, POOL_BUFFERS);
	ck_assert(flow || pool->ports[0].episodes == 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("buffers");
	TCase *t = tcase_create("buffers");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, late_releases_are_not_seen, 0, 6);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
