#include "collector/store/rollup.h"

#include "collector/store/merge.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
	/* Unsettled chains merged at a time: two minutes of batches. */
	SETTLE_CHAINS = 128,
	/* A place with more chains is compacted to one chain. Late samples add chains. */
	PLACE_CHAINS = 8,
	/* A minute is settled when there is data of a minute so much later. By then most of its
	 * samples have arrived; samples that arrive later are settled again. */
	SETTLE_AFTER_WINDOWS = 3,
	/* Windows so far ahead of the wall clock come from a device with a wrong clock; they are
	 * settled at once. */
	AHEAD_WINDOWS = 10,
	SORTED_ENTRIES = 32768, /* of halves of pairs at a time; some 5 MB */
};

/* A wall clock that is ahead by years, as of a machine whose battery is empty, is set within minutes. Until then no age is
 * reckoned from it, nor is any window over: minutes that leap so far, to the wall clock, are believed after so long. *assumed* */
#define LEAP_US	     90000000000ull
#define LEAP_WAIT_US 3600000000ull

enum projection { WHOLE, FIRST_HALF, SECOND_HALF };
struct unit_kind {
	unsigned kind;
	unsigned from; /* the source's kind, if the source level has no single addresses */
	enum projection projection; /* reduces a pair of addresses to one of them */
};

enum {
	FIRST_KINDS = 7, /* of keys, which the first stores had */
	FIRST_FOLDED = 1 + FIRST_KINDS,
	SINGLES = FIRST_FOLDED + FIRST_KINDS,
	LATER_KINDS = SINGLES + KEY_N_SINGLES,
	N_UNITS = 1 + 2 * KEY_N_KINDS + KEY_N_SINGLES,
};

/* A window's units are made in this order, which the store remembers: of totals, the first kinds, their folded samples,
 * single addresses, and each later kind with its folded samples. */
static struct unit_kind
unit_kind_at(unsigned i)
{
	const struct key_single *single = i >= SINGLES && i < LATER_KINDS ? &key_singles[i - SINGLES] : NULL;
	unsigned kind = STORE_PART_TOTALS;

	if (single)
		return (struct unit_kind){single->kind, single->of, single->half == 1 ? FIRST_HALF : SECOND_HALF};
	if (i >= LATER_KINDS)
		kind = key_layouts[FIRST_KINDS + (i - LATER_KINDS) / 2].kind + (i - LATER_KINDS) % 2 * STORE_PART_FOLDED;
	else if (i >= FIRST_FOLDED)
		kind = STORE_PART_FOLDED + key_layouts[i - FIRST_FOLDED].kind;
	else if (i > 0)
		kind = key_layouts[i - 1].kind;
	return (struct unit_kind){kind, kind, WHOLE};
}

sqlite3_stmt *
rollup_statement(struct rollup *r, const char *sql)
{
	unsigned i = 0;

	while (i < r->n_statements && r->statements[i].sql != sql)
		i++;
	if (i == ROLLUP_STATEMENTS)
		return NULL;
	if (i == r->n_statements) {
		if (sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
			&r->statements[i].statement, NULL) != SQLITE_OK)
			return NULL;
		r->statements[i].sql = sql;
		r->n_statements++;
	}
	return r->statements[i].statement;
}

int
rollup_query(struct rollup *r, const char *sql, const int64_t *parameters, int n, int64_t *values, int n_values)
{
	sqlite3_stmt *s = rollup_statement(r, sql);
	int code;

	if (!s)
		return -EIO;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(s, i + 1, parameters[i]);
	code = sqlite3_step(s);
	for (int i = 0; code == SQLITE_ROW && i < n_values; i++)
		if (sqlite3_column_type(s, i) != SQLITE_NULL)
			values[i] = sqlite3_column_int64(s, i);
	sqlite3_reset(s);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -EIO;
}

int
rollup_delete(struct rollup *r, const char *sql, const int64_t *parameters, int n, uint64_t *count)
{
	sqlite3_stmt *s = rollup_statement(r, sql);
	int code, rows = 0;

	if (!s)
		return -EIO;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(s, i + 1, parameters[i]);
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		*count += (uint64_t)sqlite3_column_int64(s, 0);
		rows++;
	}
	sqlite3_reset(s);
	return code == SQLITE_DONE ? rows : -EIO;
}

/* State */

static int
read_levels(struct rollup *r)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(r->db,
	    "SELECT minutes, kept_us, done_us, kind, shard, thinned_us FROM level", -1, &s, NULL);

	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(s);
		for (int l = LEVEL_UNSETTLED; code == SQLITE_ROW && l < STORE_N_LEVELS; l++)
			if (sqlite3_column_int64(s, 0) == store_levels[l].minutes)
				r->levels[l] = (struct level_state){
				    (uint64_t)sqlite3_column_int64(s, 1),
				    (uint64_t)sqlite3_column_int64(s, 2),
				    (uint32_t)sqlite3_column_int64(s, 3) % N_UNITS, /* of a damaged file: any unit, made anew */
				    (uint32_t)sqlite3_column_int64(s, 4),
				    (uint64_t)sqlite3_column_int64(s, 5),
				};
	}
	sqlite3_finalize(s);
	return code == SQLITE_DONE ? 0 : -EIO;
}

int
rollup_save(struct rollup *r, enum store_level_index level)
{
	const struct level_state *state = &r->levels[level];
	const int64_t row[] = {store_levels[level].minutes, (int64_t)state->kept_us,
	    (int64_t)state->done_us, state->kind, state->shard, (int64_t)state->thinned_us};

	assert(level < STORE_N_LEVELS);
	return rollup_query(r, "INSERT OR REPLACE INTO level VALUES(?,?,?,?,?,?)", row, 6, NULL, 0);
}

/* Halves of pairs come in any order: they are sorted in pieces of bounded size, and each piece becomes a chain. */
struct sorter {
	struct place place;
	size_t n;
	struct sorted_entry {
		struct pack_key key;
		double values[PACK_SINGLE];
	} entries[SORTED_ENTRIES];
};

static int
rollup_compare_entries(const void *a, const void *b)
{
	const struct sorted_entry *x = a, *y = b;

	return pack_compare(&x->key, &y->key);
}

static int
write_sorted(struct rollup *r)
{
	struct sorter *sorter = r->sorter;
	int err = 0;

	if (sorter->n == 0)
		return 0;
	qsort(sorter->entries, sorter->n, sizeof(*sorter->entries), rollup_compare_entries);
	parts_begin(r->parts, &sorter->place);
	for (size_t i = 0; err == 0 && i < sorter->n; i++)
		err = parts_add(r->parts, &sorter->entries[i].key, sorter->entries[i].values);
	sorter->n = 0;
	return err == 0 ? parts_end(r->parts) : err;
}

static int
add_to_sorter(struct rollup *r, const struct pack_key *key, const double *values)
{
	struct sorter *sorter = r->sorter;
	struct sorted_entry *last = sorter->n > 0 ? &sorter->entries[sorter->n - 1] : NULL;
	int err = 0;

	if (last && pack_compare(&last->key, key) == 0) {
		for (unsigned c = 0; c < PACK_SINGLE; c++)
			last->values[c] += values[c];
		return 0;
	}
	if (sorter->n == SORTED_ENTRIES)
		err = write_sorted(r);
	assert(sorter->n < SORTED_ENTRIES);
	sorter->entries[sorter->n].key = *key;
	memcpy(sorter->entries[sorter->n++].values, values, sizeof(last->values));
	return err;
}

int
rollup_open(struct rollup **out, sqlite3 *db, struct parts *parts)
{
	struct rollup *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->db = db;
	r->parts = parts;
	r->sorter = calloc(1, sizeof(*r->sorter));
	if (r->sorter)
		err = read_levels(r);
	if (err < 0) {
		rollup_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void
rollup_close(struct rollup *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->n_statements; i++)
		sqlite3_finalize(r->statements[i].statement);
	free(r->sorter);
	free(r);
}

/* Copying the entries of chains */

/* Reduces an entry of a pair to one of its addresses. Entries of the same address are added up
 * later. For sums over pairs of samples, those with the same address (same1 or same2) become those
 * with the same key. */
static struct pack_key
project_key(enum projection projection, const struct pack_key *key, const double *values, double *to)
{
	uint8_t octets;
	const uint8_t *half = projection == FIRST_HALF ? pack_half1(key, &octets)
						       : pack_half2(key, &octets);
	int same = projection == FIRST_HALF ? PACK_SAME1_PKTS : PACK_SAME2_PKTS;

	memcpy(to, values, PACK_COMMON * sizeof(*to));
	to[PACK_SAME_PKTS] = values[same];
	to[PACK_SAME_OCTETS] = values[same + 1];
	return pack_key_of(pack_agent(key), pack_if_index(key), pack_direction(key), half, octets, NULL, 0);
}

static int
copy_entries(struct rollup *r, struct merge *m, enum projection projection, const struct place *to)
{
	double values[PACK_COLUMNS], projected[PACK_SINGLE];
	struct pack_key key;
	int more, err = 0;

	if (projection == WHOLE)
		parts_begin(r->parts, to);
	r->sorter->place = *to;
	r->sorter->n = 0;
	while (err == 0 && (more = merge_next(m, &key, values)) != 0) {
		if (more < 0) {
			err = more;
		} else if (projection == WHOLE) {
			err = parts_add(r->parts, &key, values);
		} else {
			key = project_key(projection, &key, values, projected);
			err = add_to_sorter(r, &key, projected);
		}
	}
	if (err < 0)
		return err;
	return projection == WHOLE ? parts_end(r->parts) : write_sorted(r);
}

static int
copy_list(struct rollup *r, const struct part_list *list, enum projection projection, const struct place *to)
{
	struct merge *m;
	int err = merge_open(&m, r->parts, list);

	if (err == 0)
		err = copy_entries(r, m, projection, to);
	merge_close(m);
	return err;
}

/* Merges all chains of a place into one if there are many. */
static int
compact_place(struct rollup *r, const struct place *place)
{
	struct part_list list;
	int err = parts_list(r->parts, place, place->start_us + 1, SIZE_MAX, &list);

	if (err == 0 && list.n_chains > PLACE_CHAINS) {
		err = copy_list(r, &list, WHOLE, place);
		if (err == 0)
			err = parts_delete(r->parts, &list);
	}
	part_list_free(&list);
	return err;
}

/* Settling */

/* Returns whether the level has made this unit already. If not, its roll-up will read the late
 * samples from the level before. The level 1 min is made by settling itself. */
static bool
is_made(const struct rollup *r, const struct place *place, unsigned kind_index)
{
	const struct level_state *state = &r->levels[place->level];

	if (place->level == LEVEL_1_MIN || place->start_us < state->done_us)
		return true;
	return place->start_us == state->done_us && (kind_index < state->kind ||
	    (kind_index == state->kind && place->shard < state->shard));
}

/* Merges unsettled chains into a level, if its unit was made already and is still kept:
 *
 *   before kept_us        deleted: nothing to do
 *   kept_us to done_us    made: merge now; *kept is set
 *   after done_us         not made yet: the roll-up will include them; *kept is set
 */
static int
settle_into(struct rollup *r, const struct part_list *list, const struct place *unsettled,
    enum store_level_index level, bool *kept)
{
	struct place to = {.level = level, .shard = unsettled->shard,
	    .start_us = store_window_start(unsettled->start_us, store_levels[level].span_us)};
	int err = 0;

	assert(unsettled->level == LEVEL_UNSETTLED && level > LEVEL_UNSETTLED);
	if (to.start_us < r->levels[level].kept_us)
		return 0;
	*kept = true;
	for (unsigned k = 0; err == 0 && k < N_UNITS; k++) {
		const struct unit_kind unit = unit_kind_at(k);

		to.kind = unit.kind;
		if (unit.from != unsettled->kind || !store_level_has(level, to.kind) || !is_made(r, &to, k))
			continue;
		err = copy_list(r, list, unit.projection, &to);
		if (err == 0)
			err = compact_place(r, &to);
	}
	return err;
}

static int
settle_unit(struct rollup *r, const struct place *unsettled)
{
	struct part_list list;
	bool kept = false;
	int err = parts_list(r->parts, unsettled, unsettled->start_us + 1, SETTLE_CHAINS, &list);

	for (int l = LEVEL_1_MIN; err == 0 && l < STORE_N_LEVELS; l++)
		err = settle_into(r, &list, unsettled, (enum store_level_index)l, &kept);
	if (err == 0)
		err = parts_delete(r->parts, &list);
	r->settled++;
	r->too_old += !kept;
	part_list_free(&list);
	return err;
}

/* Finds an unsettled unit whose window starts in [from_us, to_us). Returns 1, 0 if there is none,
 * or -EIO. */
static int
find_unsettled(struct rollup *r, uint64_t from_us, uint64_t to_us, struct place *place)
{
	int found = 0;

	for (unsigned i = 0; i < N_UNITS && found == 0 && from_us < to_us; i++) {
		unsigned k = (r->unsettled_kind + i) % N_UNITS;
		const struct unit_kind kind = unit_kind_at(k);
		const int64_t range[] = {kind.kind, (int64_t)from_us, (int64_t)to_us};
		int64_t unit[2] = {0};

		if (kind.projection != WHOLE)
			continue;
		found = rollup_query(r, "SELECT start_us, shard FROM part WHERE level = 0 AND"
		    " kind = ? AND start_us >= ? AND start_us < ? ORDER BY start_us, shard LIMIT 1",
		    range, 3, unit, 2);
		if (found != 1)
			continue;
		*place = (struct place){LEVEL_UNSETTLED, kind.kind, (uint64_t)unit[0],
		    (uint32_t)unit[1]};
		r->unsettled_kind = k;
	}
	return found;
}

/* Whether until_us is to be waited for: it is of a wall clock that may be wrong. */
static bool
minutes_leap(struct rollup *r, const struct rollup_now *now, uint64_t until_us)
{
	uint64_t done_us = r->levels[LEVEL_1_MIN].done_us;

	if (done_us == 0 || until_us < done_us + LEAP_US || until_us + LEAP_WAIT_US < now->wall_us)
		r->leapt_us = 0;
	else if (r->leapt_us == 0)
		r->leapt_us = now->mono_us;
	return r->leapt_us > 0 && now->mono_us < r->leapt_us + LEAP_WAIT_US;
}

/* Sets the time up to which minutes are over, by the newest data or the wall clock, whichever is
 * earlier. */
static int
settled_until(struct rollup *r, const struct rollup_now *now, uint64_t *until_us)
{
	const uint64_t wait_us = SETTLE_AFTER_WINDOWS * (uint64_t)STORE_WINDOW_US;
	int64_t newest = 0;
	int err = rollup_query(r, "SELECT max(start_us) FROM part WHERE level = 0 AND kind = 0",
	    NULL, 0, &newest, 1);

	if ((uint64_t)newest > now->wall_us)
		newest = (int64_t)store_window_start(now->wall_us, STORE_WINDOW_US);
	*until_us = r->levels[LEVEL_1_MIN].done_us;
	if ((uint64_t)newest > *until_us + wait_us && !minutes_leap(r, now, (uint64_t)newest - wait_us))
		*until_us = (uint64_t)newest - wait_us;
	return err < 0 ? err : 0;
}

static int
settle_next(struct rollup *r, const struct rollup_now *now)
{
	const uint64_t ahead_us = now->wall_us + AHEAD_WINDOWS * (uint64_t)STORE_WINDOW_US;
	struct place unsettled;
	uint64_t until_us;
	int found = settled_until(r, now, &until_us);

	if (found == 0)
		found = find_unsettled(r, 0, until_us, &unsettled);
	if (found == 0)
		found = find_unsettled(r, ahead_us, INT64_MAX, &unsettled);
	if (found == 1) {
		found = settle_unit(r, &unsettled);
		return found < 0 ? found : 1;
	}
	if (found == 0 && until_us > r->levels[LEVEL_1_MIN].done_us) {
		r->levels[LEVEL_1_MIN].done_us = until_us;
		found = rollup_save(r, LEVEL_1_MIN);
	}
	return found;
}

/* Rolling up */

/* Moves done_us over windows without data. Returns 1 if the window at done_us can be made, 0 if it
 * is not over at the level before, or an error. */
static int
rollup_find_window(struct rollup *r, enum store_level_index level)
{
	const struct store_level *of = &store_levels[level];
	struct level_state *state = &r->levels[level];
	uint64_t done_us = r->levels[level - 1].done_us;
	uint64_t until_us = store_window_start(done_us, of->span_us), next_us = until_us;
	const int64_t from[] = {store_levels[level - 1].minutes, (int64_t)state->done_us};
	int64_t oldest = -1;

	assert(level > LEVEL_1_MIN);
	if (state->kind > 0 || state->shard > 0)
		return 1;
	if (state->done_us >= until_us)
		return 0;
	if (rollup_query(r, "SELECT min(start_us) FROM part WHERE level = ? AND kind = 0 AND"
	    " start_us >= ?", from, 2, &oldest, 1) < 0)
		return -EIO;
	if (oldest >= 0 && (uint64_t)oldest < until_us)
		next_us = store_window_start((uint64_t)oldest, of->span_us);
	if (next_us > state->done_us)
		state->done_us = next_us;
	if (state->done_us < until_us)
		return 1;
	return rollup_save(r, level);
}

/* Finds the first shard, from `least` on, that has data of the kind and window; -1: none. */
static int
find_shard(struct rollup *r, const struct place *from, uint64_t to_us, uint32_t least, int64_t *shard)
{
	const int64_t row[] = {store_levels[from->level].minutes, from->kind,
	    (int64_t)from->start_us, (int64_t)to_us, least};

	*shard = -1;
	return rollup_query(r, "SELECT min(shard) FROM part WHERE level = ? AND kind = ? AND"
	    " start_us >= ? AND start_us < ? AND shard >= ?", row, 5, shard, 1);
}

/* Makes the level's next unit, or moves on to the next kind or window if there is no data for it.
 */
static int
roll_unit(struct rollup *r, enum store_level_index level)
{
	struct level_state *state = &r->levels[level];
	bool singles = store_levels[level - 1].has_singles;
	const struct unit_kind kind = unit_kind_at(state->kind);
	struct place from = {.level = level - 1, .start_us = state->done_us,
	    .kind = singles ? kind.kind : kind.from};
	struct place to = {.level = level, .start_us = state->done_us, .kind = kind.kind};
	uint64_t to_us = state->done_us + store_levels[level].span_us;
	struct part_list list;
	int64_t shard;
	int err = find_shard(r, &from, to_us, state->shard, &shard);

	if (err < 0)
		return err;
	/* No shard is left of this kind: the next kind, or behind the last one the next window. */
	if (shard < 0 || !store_level_has(level, to.kind)) {
		state->shard = 0;
		if (++state->kind == N_UNITS) {
			state->kind = 0;
			state->done_us = to_us;
		}
		return 0;
	}
	from.shard = to.shard = (uint32_t)shard;
	err = parts_list(r->parts, &from, to_us, SIZE_MAX, &list);
	if (err == 0)
		err = copy_list(r, &list, singles ? WHOLE : kind.projection, &to);
	part_list_free(&list);
	state->shard = to.shard + 1;
	r->rolled++;
	return err;
}

static int
roll_up_level(struct rollup *r, enum store_level_index level)
{
	int err = rollup_find_window(r, level);

	if (err <= 0)
		return err;
	err = roll_unit(r, level);
	if (err == 0)
		err = rollup_save(r, level);
	return err < 0 ? err : 1;
}

int
rollup_step(struct rollup *r, const struct rollup_now *now)
{
	int did = settle_next(r, now);

	for (int l = LEVEL_5_MIN; did == 0 && l < STORE_N_LEVELS; l++)
		did = roll_up_level(r, (enum store_level_index)l);
	return did;
}
