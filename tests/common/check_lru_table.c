/*
 * The table of places on a stepped clock, beside a model that knows nothing of lists: an array of entries
 * that is searched each time.
 */
#include "common/lru_table.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 64, OWNERS = 9, STEPS = 30000, SILENT_S = 900 };
#define SECOND_US 1000000ll

static struct entry {
	uint64_t content;
	struct lru_link link;
} entries[PLACES];
static struct lru_table table;
static int64_t now_us;

static void
setup(void)
{
	memset(entries, 0, sizeof(entries));
	ck_assert_int_eq(lru_table_init(&table, PLACES, &entries[0].link, sizeof(entries[0])), 0);
	now_us = -100 * SECOND_US;
}

static void
teardown(void)
{
	lru_table_free(&table);
}

static uint32_t
victim(void)
{
	return lru_table_next_victim(&table, now_us, SILENT_S * SECOND_US, 0);
}

static uint32_t
come(uint64_t owner)
{
	return lru_table_admits(&table, owner) ? lru_table_take(&table, owner, now_us) : LRU_NONE;
}

/* Whoever fills the table leaves one place in 16 to the others, and gives up its own for them. */
START_TEST(who_fills_it_pays)
{
	uint32_t honest[8], n = 0;

	for (int i = 0; i < 8; i++) {
		now_us += SECOND_US;
		honest[i] = come(100 + (uint64_t)i);
	}
	while (come(1) != LRU_NONE)
		n++;
	ck_assert_uint_eq(n, PLACES - PLACES / 16 - 8);
	ck_assert_uint_eq(victim(), LRU_NONE);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_ne(come(200 + (uint64_t)i), LRU_NONE);
	ck_assert_uint_eq(table.n_free, 0);
	ck_assert_uint_eq(come(300), LRU_NONE);
	for (int i = 0; i < 4; i++) {
		uint32_t v = victim();

		ck_assert_uint_eq(lru_table_owner(&table, v), 1);
		lru_table_leave(&table, v);
		ck_assert(!lru_table_heard(&table, v, now_us));
		lru_table_give(&table, v);
	}
	ck_assert_uint_eq(victim(), LRU_NONE);
	ck_assert_uint_ne(come(300), LRU_NONE);
	ck_assert_uint_eq(come(1), LRU_NONE);
	for (int i = 0; i < 8; i++)
		ck_assert_uint_eq(lru_table_owner(&table, honest[i]), 100 + (uint64_t)i);
}
END_TEST

/* Where everybody has one place nobody has too many: all places are used, and none is taken away. */
START_TEST(equal_owners_use_all_of_it)
{
	for (uint64_t o = 0; o < PLACES; o++)
		ck_assert_uint_ne(come(o), LRU_NONE);
	ck_assert_uint_eq(come(PLACES), LRU_NONE);
	ck_assert_uint_eq(victim(), LRU_NONE);
}
END_TEST

START_TEST(the_silent_make_room)
{
	uint32_t first = come(1), second, third;

	now_us += LRU_GRAIN_US;
	second = come(1);
	now_us += LRU_GRAIN_US;
	third = come(2);
	while (come(1) != LRU_NONE)
		;
	now_us += SILENT_S * SECOND_US - 2 * LRU_GRAIN_US - 1;
	ck_assert_uint_eq(victim(), LRU_NONE);
	ck_assert(lru_table_heard(&table, first, now_us));
	now_us += LRU_GRAIN_US + 1;
	ck_assert_uint_eq(victim(), second);
	lru_table_leave(&table, second);
	ck_assert_uint_eq(victim(), LRU_NONE);
	now_us += LRU_GRAIN_US;
	ck_assert_uint_eq(victim(), third);
	lru_table_leave(&table, third);
	ck_assert(lru_table_heard(&table, third, now_us)); /* it is there after all */
	ck_assert_uint_ne(victim(), third);
	lru_table_give(&table, second);
	ck_assert_uint_eq(lru_table_held(&table, 1), PLACES - PLACES / 16 - 2);
}
END_TEST

START_TEST(who_is_silent_for_an_age_is_forgotten)
{
	uint32_t first = come(1), second;

	now_us += SECOND_US;
	second = come(2);
	ck_assert_uint_eq(
	    lru_table_next_victim(&table, now_us, SILENT_S * SECOND_US, 2 * SECOND_US), LRU_NONE);
	now_us += SECOND_US;
	ck_assert_uint_eq(
	    lru_table_next_victim(&table, now_us, SILENT_S * SECOND_US, 2 * SECOND_US), first);
	lru_table_give(&table, first);
	ck_assert_uint_eq(
	    lru_table_next_victim(&table, now_us, SILENT_S * SECOND_US, 2 * SECOND_US), LRU_NONE);
	ck_assert_uint_eq(lru_table_first_of(&table, 2), second);
	ck_assert_uint_eq(lru_table_next_of(&table, second), LRU_NONE);
	ck_assert_uint_eq(lru_table_first_of(&table, 1), LRU_NONE);
}
END_TEST

/* A table too small for a reserve makes room where it was asked for. */
START_TEST(a_small_table)
{
	lru_table_free(&table);
	memset(entries, 0, sizeof(entries));
	ck_assert_int_eq(lru_table_init(&table, 2, &entries[0].link, sizeof(entries[0])), 0);
	ck_assert_uint_eq(come(1), 0);
	now_us += LRU_GRAIN_US;
	ck_assert_uint_eq(come(1), 1);
	ck_assert_uint_eq(victim(), LRU_NONE);
	ck_assert_uint_eq(come(2), LRU_NONE);
	ck_assert_uint_eq(victim(), LRU_NONE); /* one owner has its equal part, all of it */
	now_us += SILENT_S * SECOND_US;
	ck_assert_uint_eq(victim(), 0);
	lru_table_leave(&table, 0);
	ck_assert_uint_eq(victim(), LRU_NONE);
}
END_TEST

/* ---- the model ---- */

static struct {
	enum lru_state state;
	uint64_t owner;
	int64_t heard_us;
	uint64_t order; /* of heard_us, where it is moved */
} model[PLACES];
static uint64_t moves;

static uint32_t
model_held(uint64_t owner)
{
	uint32_t n = 0;

	for (int i = 0; i < PLACES; i++)
		n += model[i].state == LRU_HELD && model[i].owner == owner;
	return n;
}

static uint32_t
model_count(enum lru_state state)
{
	uint32_t n = 0;

	for (int i = 0; i < PLACES; i++)
		n += model[i].state == state;
	return n;
}

static uint32_t
model_most(void)
{
	uint32_t most = 0;

	for (uint64_t o = 0; o < OWNERS; o++)
		most = model_held(o) > most ? model_held(o) : most;
	return most;
}

static void
model_note(uint32_t place, uint64_t owner)
{
	model[place].state = LRU_HELD;
	model[place].owner = owner;
	model[place].heard_us = now_us;
	model[place].order = ++moves;
}

static void
check_order(void)
{
	uint64_t last = UINT64_MAX;
	uint32_t n = 0;

	for (uint32_t p = table.newest; p != LRU_NONE; p = lru_table_link(&table, p)->older) {
		ck_assert_int_eq(model[p].state, LRU_HELD);
		ck_assert_uint_lt(model[p].order, last);
		last = model[p].order;
		n++;
	}
	ck_assert_uint_eq(n, model_count(LRU_HELD));
	for (uint64_t o = 0; o < OWNERS; o++)
		ck_assert_uint_eq(lru_table_held(&table, o), model_held(o));
}

START_TEST(a_model_agrees)
{
	srandom(1);
	memset(model, 0, sizeof(model));
	for (int i = 0; i < STEPS; i++) {
		uint64_t owner = (uint64_t)random() % OWNERS;
		uint32_t place = (uint32_t)random() % PLACES, v;

		now_us += random() % (20 * SECOND_US);
		switch (random() % 8) {
		case 0: case 1: case 2: {
			uint32_t free = model_count(LRU_FREE);
			bool may = free > PLACES / 16 || (free > 0 && model_held(owner) < model_most());

			ck_assert_int_eq(lru_table_admits(&table, owner), may);
			if (may) {
				place = lru_table_take(&table, owner, now_us);
				ck_assert_int_eq(model[place].state, LRU_FREE);
				model_note(place, owner);
			}
			break;
		}
		case 3: case 4: case 5:
			if (model[place].state == LRU_FREE)
				break;
			if (model[place].state == LRU_LEAVING &&
			    model_held(model[place].owner) >= model_most() &&
			    model_count(LRU_FREE) + model_count(LRU_LEAVING) <= PLACES / 16) {
				ck_assert(!lru_table_heard(&table, place, now_us));
				break;
			}
			if (model[place].state == LRU_LEAVING ||
			    now_us - model[place].heard_us >= LRU_GRAIN_US)
				model_note(place, model[place].owner);
			ck_assert(lru_table_heard(&table, place, now_us));
			break;
		case 6:
			v = victim();
			if (v == LRU_NONE)
				break;
			ck_assert_int_eq(model[v].state, LRU_HELD);
			if (now_us - model[v].heard_us < SILENT_S * SECOND_US)
				ck_assert_uint_eq(model_held(model[v].owner), model_most());
			for (int k = 0; k < PLACES; k++)
				if (model[k].state == LRU_HELD && (model[k].owner == model[v].owner ||
					    now_us - model[v].heard_us >= SILENT_S * SECOND_US))
					ck_assert_uint_ge(model[k].order, model[v].order);
			lru_table_leave(&table, v);
			model[v].state = LRU_LEAVING;
			break;
		case 7:
			if (model[place].state == LRU_LEAVING || (model[place].state == LRU_HELD && random() % 4 == 0)) {
				lru_table_give(&table, place);
				model[place].state = LRU_FREE;
			}
			break;
		}
		if (i % 64 == 0)
			check_order();
	}
}
END_TEST

/* An entry goes to another owner, and keeps its place in the order. */
START_TEST(another_owner)
{
	uint32_t first = come(1), second;

	now_us += SECOND_US;
	second = come(1);
	lru_table_set_owner(&table, first, 2);
	ck_assert_uint_eq(lru_table_held(&table, 1), 1);
	ck_assert_uint_eq(lru_table_held(&table, 2), 1);
	ck_assert_uint_eq(table.oldest, first);
	lru_table_give(&table, first);
	lru_table_give(&table, second);
	ck_assert_uint_eq(table.n_owners, 0);
	ck_assert_uint_eq(table.n_free, PLACES);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("lru_table");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, who_fills_it_pays);
	tcase_add_test(all, equal_owners_use_all_of_it);
	tcase_add_test(all, the_silent_make_room);
	tcase_add_test(all, who_is_silent_for_an_age_is_forgotten);
	tcase_add_test(all, a_small_table);
	tcase_add_test(all, a_model_agrees);
	tcase_add_test(all, another_owner);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
