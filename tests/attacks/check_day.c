/*
 * Hours in which all of it happens at random, from a seed: every ten minutes another attack, or none, at another
 * rate, and beside it what happens by itself: ways that are cut, agents that start anew, clocks that are set, a
 * collector that is stopped. Afterwards the store has what the fleet sent and counted, what was lost is known by its
 * number, and memory is as it was when everything had been seen once.
 *
 * EASE_SEED repeats a run. An hour; with EASE_LONG days of 24, each from a seed of its own.
 */
#include "tests/attacks/attacks.h"
#include "tests/suite.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	MINUTES = 60,
	MINUTES_LONG = 24 * 60,
	DAYS_LONG = 5,
	EPISODE_MINUTES = 10,
	MOST_DATAGRAMS = 200, /* of an attack, a minute */
	STORE_MIB = 512,
	GROWTH_MAX = 8 << 20, /* octets, of what malloc keeps */
};

static struct attack_rig rig;
static uint32_t sent[64]; /* datagrams of each attack */

static uint64_t
seed_of(int day)
{
	const char *given = getenv("EASE_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) + (uint64_t)day;

	printf("EASE_SEED=%" PRIu64 "\n", seed);
	fflush(stdout);
	return seed;
}

/* ---- what happens by itself ---- */

static void
cut_some_ways(void)
{
	for (int i = 0; i < FLEET_SWITCHES; i++)
		rig.fleet[i].silent = attack_draw(&rig, 10) == 0;
}

/* Only such as were heard just now: what an agent sampled unheard before it ended nobody can know. */
static void
restart_some_agents(void)
{
	for (int i = 0; i < FLEET_SWITCHES; i++)
		if (!rig.fleet[i].silent && rig.fleet[i].way != FLEET_BY_SFLOW &&
		    attack_draw(&rig, 10) == 0)
			fleet_restart(&rig, &rig.fleet[i], rig.fleet[i].boot + 1);
}

static void
set_some_clocks(void)
{
	for (int i = 0; i < FLEET_SWITCHES; i++)
		if (attack_draw(&rig, 10) == 0)
			rig.fleet[i].clock_off_us = (int64_t)(attack_draw(&rig, 7200) * SECOND_US) -
			    (int64_t)HOUR_US;
}

static void
cut_all_ways(void)
{
	attack_rig_night(&rig, 1 + attack_draw(&rig, 1200));
}

static void
stop_collector(void)
{
	attack_rig_stop(&rig);
	if (attack_draw(&rig, 2))
		attack_rig_night(&rig, 1 + attack_draw(&rig, 1200));
	attack_rig_start(&rig);
}

static void
nothing(void)
{
}

static void (*const events[])(void) = {cut_some_ways, restart_some_agents, set_some_clocks, cut_all_ways,
    stop_collector, nothing};

/* ---- the hours ---- */

static void
minute(const struct attack *attack, uint32_t rate)
{
	for (uint32_t k = 0; attack && k < rate; k++)
		attack->send(&rig, sent[attack - attacks]++);
	attack_rig_step(&rig, 60);
}

static void
episode(void)
{
	size_t which = attack_draw(&rig, n_attacks + 1);
	const struct attack *attack = which < n_attacks ? &attacks[which] : NULL;
	uint32_t rate = (uint32_t)attack_draw(&rig, MOST_DATAGRAMS);

	events[attack_draw(&rig, sizeof(events) / sizeof(events[0]))]();
	for (int i = 0; i < EPISODE_MINUTES; i++)
		minute(attack, rate);
	for (int i = 0; i < FLEET_SWITCHES; i++)
		rig.fleet[i].silent = false;
	minute(NULL, 0);
}

/* With a collector that has just begun, as at the first look. */
static size_t
octets_held(void)
{
	attack_rig_stop(&rig);
	attack_rig_start(&rig);
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

START_TEST(all_of_it_at_random)
{
	int minutes = suite_is_slow() ? 2 * EPISODE_MINUTES : getenv("EASE_LONG") ? MINUTES_LONG : MINUTES;
	size_t first = 0, last;
	char lines[128];

	ck_assert_uint_le(n_attacks, sizeof(sent) / sizeof(sent[0]));
	snprintf(lines, sizeof(lines), "store_size = %d\nmemory = 256\nkeep_1min = 0", STORE_MIB);
	attack_rig_open(&rig, seed_of(_i), lines);
	minute(NULL, 0);
	for (int at = 0; at < minutes; at += EPISODE_MINUTES) {
		episode();
		if (first == 0 && at >= minutes / 4)
			first = octets_held();
	}
	last = octets_held();
	attack_rig_close(&rig);
	printf("%" PRIu64 " datagrams of attackers, memory %zu then %zu KiB, store %" PRIu64 " KiB\n", rig.sent,
	    first / 1024, last / 1024, attack_store_octets(&rig) / 1024);
	fflush(stdout);
	attack_expect_fleet(&rig, "all of it at random");
	ck_assert_uint_le(last, first + GROWTH_MAX);
	ck_assert_uint_le(attack_store_octets(&rig), (uint64_t)STORE_MIB << 20);
	attack_rig_remove(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("day");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 3600 : 900);
	tcase_add_loop_test(all, all_of_it_at_random, 0,
	    getenv("EASE_LONG") && !getenv("EASE_SEED") ? DAYS_LONG : 1);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
