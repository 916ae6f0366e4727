#include "collector/store/charge.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIES = 64, SOURCE_TEXT = 128, ROWS_A_STEP = 256 };

#define COUNTERS_KEPT_US 600000000ull
#define AT_ONCE_US (4 * 86400 * 1000000ll) /* whose counters of a port are thinned by one statement */

/* Agents of those who are to pay and can; ?1 to ?4: up to when each level can be paid. */
static const char choose[] =
    "WITH h AS (SELECT h.agent, sum(h.octets) AS octets, ifnull(s.source, ifnull(a.address, '')) AS source FROM held h"
    " LEFT JOIN agent a ON a.id = h.agent LEFT JOIN agent_source s ON s.agent = h.agent WHERE h.tab >= 6 GROUP BY"
    " h.agent), t AS (SELECT source, sum(octets) AS octets FROM h GROUP BY source) SELECT h.agent, source FROM h JOIN t"
    " USING(source) WHERE t.octets > 2 * (SELECT avg(octets) FROM t) AND (SELECT count(*) FROM paid p WHERE p.agent ="
    " h.agent AND p.until_us >= CASE p.level WHEN 0 THEN ?1 WHEN 1 THEN ?2 WHEN 2 THEN ?3 ELSE ?4 END) < 4"
    " ORDER BY t.octets DESC, h.octets DESC LIMIT ?5";

/* What is paid with, and whether the next level has it. */
static const struct {
	enum store_level_index level; /* LEVEL_UNSETTLED: counters */
	bool is_rolled_up;
} turns[] = {{LEVEL_UNSETTLED, true}, {LEVEL_1_MIN, true}, {LEVEL_5_MIN, true}, {LEVEL_1_H, true}, {LEVEL_1_H, false},
    {LEVEL_5_MIN, false}, {LEVEL_1_MIN, false}};
enum { TURNS = sizeof(turns) / sizeof(turns[0]) };

/* Up to when. Of windows that are being rolled up there are none when this is asked (upkeep.c). */
static int64_t
charge_limit_of(const struct rollup *r, enum store_level_index level, bool is_rolled_up)
{
	uint64_t until_us = r->levels[level == LEVEL_UNSETTLED ? LEVEL_5_MIN : level + is_rolled_up].done_us;
	uint64_t kept_us = level == LEVEL_UNSETTLED ? COUNTERS_KEPT_US : 0;

	return until_us > kept_us ? (int64_t)(until_us - kept_us) : 0;
}

static int
charge_choose_payers(struct charge *c, struct rollup *r)
{
	sqlite3_stmt *s = rollup_statement(r, choose);
	char source[SOURCE_TEXT] = "";
	int code;

	if (!s)
		return -EIO;
	*c = (struct charge){.n = 0};
	for (int l = 0; l <= LEVEL_1_H; l++)
		sqlite3_bind_int64(s, l + 1, charge_limit_of(r, (enum store_level_index)l, false));
	sqlite3_bind_int(s, LEVEL_1_H + 2, CHARGE_PAYERS);
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		assert(c->n < CHARGE_PAYERS);
		c->payers[c->n++] = sqlite3_column_int64(s, 0);
		if (c->n == 1)
			snprintf(source, sizeof(source), "%s", (const char *)sqlite3_column_text(s, 1));
	}
	sqlite3_reset(s);
	if (c->n > 0)
		log_warn_limited("store", "old counters and sums of %s make room: it has most of them, and the store is full", source);
	return code == SQLITE_DONE ? c->n : -EIO;
}

static enum store_level_index
level_of(const struct charge *c)
{
	return turns[c->turn].level;
}

static bool
is_payer(const struct charge *c, int64_t agent)
{
	int i = 0;

	while (i < c->n && c->payers[i] != agent)
		i++;
	return i < c->n;
}

/* All payers of a shard pay together. */
static int
note_paid(const struct charge *c, struct rollup *r, int64_t until_us)
{
	int64_t agent = c->payers[c->at];

	for (int i = 0; i < c->n; i++) {
		const int64_t row[] = {c->payers[i], level_of(c), until_us};
		bool together = row[1] > LEVEL_UNSETTLED && store_shard(row[0]) == store_shard(agent);

		if ((together || row[0] == agent) && rollup_query(r, "INSERT INTO paid VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE"
		    " SET until_us = max(until_us, excluded.until_us)", row, 3, NULL, 0) < 0)
			return -EIO;
	}
	return 0;
}

static int
floor_of(const struct charge *c, struct rollup *r, int64_t *floor_us)
{
	const int64_t row[] = {c->payers[c->at], level_of(c)};

	*floor_us = 0;
	return rollup_query(r, "SELECT until_us FROM paid WHERE agent = ?1 AND level = ?2", row, 2, floor_us, 1);
}

/* Counters */

static int
begin_counters(struct charge *c, struct rollup *r)
{
	const uint64_t hour_us = store_levels[LEVEL_1_H].span_us;
	int err = floor_of(c, r, &c->from_us);

	c->until_us = charge_limit_of(r, LEVEL_UNSETTLED, true);
	if (err == 0) { /* one that was forgotten has none */
		c->from_us = c->until_us;
		err = rollup_query(r, "SELECT first_us FROM agent WHERE id = ?1", &c->payers[c->at], 1, &c->from_us, 1);
	}
	c->begun = c->from_us < c->until_us;
	c->from_us = (int64_t)store_window_start((uint64_t)c->from_us, hour_us);
	if (c->until_us - c->from_us > AT_ONCE_US)
		c->until_us = c->from_us + AT_ONCE_US;
	c->if_index = -1;
	return err < 0 || c->begun ? err : note_paid(c, r, c->until_us);
}

/* Thins the counters of the agent's next port. Returns 1, 0 if all are thinned, or an error. */
static int
pay_counters(struct charge *c, struct rollup *r, const char *thin, uint64_t *paid)
{
	int n = c->begun ? 0 : begin_counters(c, r);
	int64_t row[] = {c->payers[c->at], c->if_index, c->from_us, c->until_us, (int64_t)store_levels[LEVEL_1_H].span_us,
	    ROWS_A_STEP};

	if (n < 0 || !c->begun)
		return n < 0 ? n : 0;
	n = rollup_query(r, "SELECT if_index FROM counter WHERE agent = ?1 AND if_index > ?2 ORDER BY if_index LIMIT 1", row, 2,
	    row + 1, 1);
	if (n == 0) {
		c->begun = false;
		return note_paid(c, r, c->until_us) < 0 ? -EIO : 1;
	}
	if (n > 0)
		n = rollup_delete(r, thin, row, 6, paid);
	if (n >= 0 && n < ROWS_A_STEP)
		c->if_index = row[1];
	return n < 0 ? n : 1;
}

/* Sums */

/* Puts the entries of all others into the pack. */
static int
keep_entries(const struct charge *c, struct pack *pack, const void *body, size_t octets)
{
	struct pack_reader reader;

	if (pack_open(&reader, body, octets) < 0)
		return -EBADMSG;
	pack->n = 0;
	pack->n_columns = reader.n_columns;
	while (pack_next(&reader)) {
		if (is_payer(c, pack_agent(&reader.key)))
			continue;
		assert(pack->n < PACK_ENTRIES);
		pack->keys[pack->n] = reader.key;
		for (unsigned i = 0; i < pack->n_columns; i++)
			pack->columns[i][pack->n] = pack_value(&reader, i);
		pack->n++;
	}
	return reader.failed ? -EBADMSG : (int)(reader.n - pack->n);
}

/* Writes the payers' entries as a chain of folded samples: for each port and direction their number, and the most of any key. */
static int
fold_entries(const struct charge *c, struct parts *parts, const struct place *to, const void *body, size_t octets)
{
	struct pack_key port = {0}, next;
	double values[PACK_FOLDED] = {0};
	struct pack_reader reader;
	int err = pack_open(&reader, body, octets);

	parts_begin(parts, to);
	while (err == 0 && pack_next(&reader)) {
		if (!is_payer(c, pack_agent(&reader.key)))
			continue;
		next = pack_key_of(pack_agent(&reader.key), pack_if_index(&reader.key), pack_direction(&reader.key), NULL, 0, NULL,
		    0);
		if (values[PACK_N] > 0 && pack_compare(&port, &next) != 0) {
			err = parts_add(parts, &port, values);
			memset(values, 0, sizeof(values));
		}
		port = next;
		values[PACK_N] += pack_value(&reader, PACK_N);
		if (values[PACK_MOST_N] < pack_value(&reader, PACK_N))
			values[PACK_MOST_N] = pack_value(&reader, PACK_N);
	}
	if (err == 0 && values[PACK_N] > 0)
		err = parts_add(parts, &port, values);
	return err < 0 ? err : parts_end(parts);
}

static int
replace_pack(const struct charge *c, struct rollup *r, const struct place *place, const void *body, size_t octets, uint64_t *paid)
{
	const struct place folded = {place->level, STORE_PART_FOLDED + place->kind, place->start_us, place->shard};
	struct parts *parts = r->parts;
	int n = keep_entries(c, &parts->pack, body, octets), err;

	if (n <= 0)
		return n == -EBADMSG ? 0 : n; /* it is told where it is merged */
	*paid += (uint64_t)n;
	err = parts_charge(parts, place->level, c->row, body, octets, -1);
	if (err == 0 && parts->pack.n > 0)
		err = parts_replace(parts, place->level, c->row);
	else if (err == 0)
		err = rollup_query(r, "DELETE FROM part WHERE id = ?1", &c->row, 1, NULL, 0);
	return err < 0 ? err : fold_entries(c, parts, &folded, body, octets);
}

/* Folds the payers' keys in a row. */
static int
fold_row(const struct charge *c, struct rollup *r, const struct place *place, uint64_t *paid)
{
	sqlite3_stmt *s = r->parts->statements[PARTS_BODY];
	size_t octets = 0;
	void *body = NULL;
	int err;

	sqlite3_bind_int64(s, 1, c->row);
	if (sqlite3_step(s) == SQLITE_ROW) {
		octets = (size_t)sqlite3_column_bytes(s, 0);
		body = malloc(octets + 1);
		if (body && octets > 0)
			memcpy(body, sqlite3_column_blob(s, 0), octets);
	}
	sqlite3_reset(s);
	err = body ? replace_pack(c, r, place, body, octets, paid) : -ENOMEM;
	free(body);
	return err < 0 ? err : 1;
}

static int
begin_sums(struct charge *c, struct rollup *r)
{
	int64_t kept_us = (int64_t)r->levels[level_of(c)].kept_us;
	int err = floor_of(c, r, &c->from_us);

	if (c->from_us < kept_us)
		c->from_us = kept_us;
	c->until_us = charge_limit_of(r, level_of(c), turns[c->turn].is_rolled_up);
	c->begun = true;
	c->kind = 0;
	c->row = 0;
	return err < 0 ? err : 0;
}

/* Sets the next window that has anything. Returns 1, 0 if there is none, or an error. */
static int
charge_find_window(struct charge *c, struct rollup *r, uint32_t shard)
{
	const int64_t row[] = {store_levels[level_of(c)].minutes, shard, c->from_us, c->until_us};
	int found = rollup_query(r, "SELECT start_us FROM part WHERE level = ?1 AND kind = 0 AND start_us >= ?3 AND start_us < ?4"
	    " AND shard = ?2 ORDER BY start_us LIMIT 1", row, 4, &c->from_us, 1);

	if (found != 0)
		return found;
	c->begun = false;
	return note_paid(c, r, c->until_us);
}

/* Folds keys of the payer's shard in the next row. Returns 1, 0 if all are folded, or an error. */
static int
pay_sums(struct charge *c, struct rollup *r, uint64_t *paid)
{
	struct place place = {.level = level_of(c), .shard = store_shard(c->payers[c->at])};
	int found = c->begun ? 1 : begin_sums(c, r);

	for (int tries = 0; found >= 0 && tries < TRIES; tries++) {
		found = c->kind > 0 || c->row > 0 ? 1 : charge_find_window(c, r, place.shard);
		if (found <= 0)
			return found;
		place.kind = key_layouts[c->kind].kind;
		place.start_us = (uint64_t)c->from_us;
		const int64_t row[] = {store_levels[level_of(c)].minutes, place.kind, c->from_us, place.shard, c->row};
		found = rollup_query(r, "SELECT id FROM part WHERE level = ?1 AND kind = ?2 AND start_us = ?3 AND shard = ?4 AND"
		    " id > ?5 ORDER BY id LIMIT 1", row, 5, &c->row, 1);
		if (found == 1)
			return fold_row(c, r, &place, paid);
		c->row = 0;
		if (found == 0 && ++c->kind == KEY_N_KINDS) {
			c->kind = 0;
			c->from_us += (int64_t)store_levels[level_of(c)].span_us;
			found = note_paid(c, r, c->from_us);
		}
	}
	return found < 0 ? found : 1;
}

int
charge_step(struct charge *c, struct rollup *r, const char *thin, uint64_t *paid)
{
	int did = c->n > 0 && c->turn < TURNS ? 1 : charge_choose_payers(c, r);

	if (did <= 0)
		return did;
	for (did = 0; did == 0 && c->turn < TURNS;) {
		did = level_of(c) == LEVEL_UNSETTLED ? pay_counters(c, r, thin, paid) : pay_sums(c, r, paid);
		if (did == 0 && ++c->at == c->n) {
			c->at = 0;
			c->turn++;
		}
	}
	return did < 0 ? did : 1;
}
