#include "collector/store/parts.h"
#include "common/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const sql[PARTS_N_STATEMENTS] = {
    [PARTS_INSERT] = "INSERT INTO part VALUES(?,?,?,?,?,?,?,?)",
    [PARTS_BODY] = "SELECT body FROM part WHERE id = ?",
    [PARTS_LIST] = ("SELECT id, chain FROM part WHERE level = ? AND kind = ? AND start_us >= ? AND"
		    " start_us < ? AND shard = ? ORDER BY start_us, chain, id"),
    [PARTS_DELETE] = "DELETE FROM part WHERE id = ? RETURNING n, level, id, body",
    [PARTS_DELETE_BEFORE] = NULL, /* write_delete_before */
    [PARTS_REPLACE] = "UPDATE part SET n = ?2, body = ?3 WHERE id = ?1",
    [PARTS_HOLD] = ("INSERT INTO held VALUES(6, ?1, ?2, ?3) ON CONFLICT DO UPDATE SET n = n + excluded.n,"
		    " octets = octets + excluded.octets"),
    [PARTS_FREE] = "UPDATE held SET n = n - ?2, octets = octets - ?3 WHERE tab = 6 AND agent = ?1",
    [PARTS_NOTE_FLUSH] = "INSERT OR REPLACE INTO flush VALUES(?,?)",
    [PARTS_FORGET_FLUSHES] = "DELETE FROM flush WHERE abs(until_us - ?) > ?",
};

/* Only parts that are not settled need their flush; those of a minute are for three minutes. */
#define FLUSHES_KEPT_US 600000000ll

enum { SQL_MAX = 512 };

static int
read_next_id(struct parts *parts)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(parts->db, "SELECT max((SELECT ifnull(max(id), 0) + 1 FROM"
	    " part), (SELECT part_epoch << ? FROM life)), (SELECT first_charged FROM life)", -1, &s, NULL);

	if (code == SQLITE_OK) {
		sqlite3_bind_int(s, 1, PARTS_EPOCH_BITS);
		code = sqlite3_step(s);
	}
	if (code == SQLITE_ROW) {
		parts->next_id = sqlite3_column_int64(s, 0);
		parts->first_charged = sqlite3_column_int64(s, 1);
	}
	sqlite3_finalize(s);
	return code == SQLITE_ROW ? 0 : -EIO;
}

/* The index part_place is used only if all kinds are named. */
static void
write_delete_before(char *text, size_t size)
{
	snprintf(text, size, "DELETE FROM part WHERE id IN (SELECT id FROM part WHERE level = ?1 AND kind IN (%d",
	    STORE_PART_TOTALS);
	for (size_t i = 0; i < KEY_N_KINDS; i++)
		text_add(text, size, ",%d,%d", key_layouts[i].kind, STORE_PART_FOLDED + key_layouts[i].kind);
	for (size_t i = 0; i < KEY_N_SINGLES; i++)
		text_add(text, size, ",%d", key_singles[i].kind);
	text_add(text, size, ") AND start_us < ?2 LIMIT ?3) RETURNING n, level, id, body");
}

int
parts_open(struct parts **out, sqlite3 *db)
{
	struct parts *parts = calloc(1, sizeof(*parts));
	char delete_before[SQL_MAX];
	int r;

	if (!parts)
		return -ENOMEM;
	parts->db = db;
	write_delete_before(delete_before, sizeof(delete_before));
	r = read_next_id(parts);
	for (int i = 0; r == 0 && i < PARTS_N_STATEMENTS; i++)
		if (sqlite3_prepare_v3(db, sql[i] ? sql[i] : delete_before, -1, SQLITE_PREPARE_PERSISTENT,
			&parts->statements[i], NULL) != SQLITE_OK)
			r = -EIO;
	if (r < 0) {
		parts_close(parts);
		return r;
	}
	*out = parts;
	return 0;
}

void
parts_close(struct parts *parts)
{
	if (!parts)
		return;
	for (int i = 0; i < PARTS_N_STATEMENTS; i++)
		sqlite3_finalize(parts->statements[i]);
	free(parts);
}

static int
run_with(sqlite3_stmt *s, int64_t first, int64_t second)
{
	int code;

	sqlite3_bind_int64(s, 1, first);
	sqlite3_bind_int64(s, 2, second);
	code = sqlite3_step(s);
	sqlite3_reset(s);
	return code == SQLITE_DONE ? 0 : -EIO;
}

int
parts_note_flush(struct parts *parts, uint64_t until_us)
{
	int r = run_with(parts->statements[PARTS_NOTE_FLUSH], parts->next_id - 1, (int64_t)until_us);

	return r < 0 ? r : run_with(parts->statements[PARTS_FORGET_FLUSHES], (int64_t)until_us, FLUSHES_KEPT_US);
}

unsigned
parts_columns(unsigned kind)
{
	const struct key_layout *layout = key_layout_of(kind);

	if (kind == STORE_PART_TOTALS)
		return PACK_TOTALS;
	if (kind > STORE_PART_FOLDED)
		return PACK_FOLDED;
	return layout && layout->is_pair ? PACK_PAIR : PACK_SINGLE;
}

/* What agents hold */

static int
charge_agent(struct parts *parts, int64_t agent, unsigned n, int64_t octets, int sign)
{
	sqlite3_stmt *s = parts->statements[sign > 0 ? PARTS_HOLD : PARTS_FREE];

	sqlite3_bind_int64(s, 3, octets);
	sqlite3_bind_int64(s, 2, n);
	return run_with(s, agent, n);
}

int
parts_charge(struct parts *parts, enum store_level_index level, int64_t id, const void *body, size_t octets, int sign)
{
	struct pack_reader reader;
	uint32_t agent = 0;
	unsigned first = 0;
	int r = 0;

	if (level == LEVEL_UNSETTLED || id < parts->first_charged || pack_open(&reader, body, octets) < 0 ||
	    reader.n == 0)
		return 0;
	while (r == 0 && pack_next(&reader)) {
		unsigned n = reader.i - 1 - first;

		if (n > 0 && pack_agent(&reader.key) != agent) {
			r = charge_agent(parts, agent, n, (int64_t)(octets * n / reader.n), sign);
			first += n;
		}
		agent = pack_agent(&reader.key);
	}
	return r < 0 ? r : charge_agent(parts, agent, reader.i - first, (int64_t)(octets * (reader.i - first) / reader.n), sign);
}

/* Writing */

void
parts_begin(struct parts *parts, const struct place *place)
{
	assert(place->level < STORE_N_LEVELS);
	parts->place = *place;
	parts->chain = parts->next_id;
	parts->pack.n = 0;
	parts->pack.n_columns = parts_columns(place->kind);
}

static int
write_pack(struct parts *parts)
{
	sqlite3_stmt *s = parts->statements[PARTS_INSERT];
	const struct place *place = &parts->place;
	size_t octets = pack_write(&parts->pack, parts->body);
	int code;

	sqlite3_bind_int64(s, 1, parts->next_id++);
	sqlite3_bind_int64(s, 2, store_levels[place->level].minutes);
	sqlite3_bind_int64(s, 3, place->kind);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)place->start_us);
	sqlite3_bind_int64(s, 5, place->shard);
	sqlite3_bind_int64(s, 6, parts->chain);
	sqlite3_bind_int64(s, 7, parts->pack.n);
	sqlite3_bind_blob(s, 8, parts->body, (int)octets, SQLITE_STATIC);
	code = sqlite3_step(s);
	sqlite3_reset(s);
	parts->pack.n = 0;
	return code == SQLITE_DONE ? parts_charge(parts, place->level, parts->next_id - 1, parts->body, octets, 1) : -EIO;
}

int
parts_replace(struct parts *parts, enum store_level_index level, int64_t id)
{
	sqlite3_stmt *s = parts->statements[PARTS_REPLACE];
	size_t octets = pack_write(&parts->pack, parts->body);
	int code;

	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, parts->pack.n);
	sqlite3_bind_blob(s, 3, parts->body, (int)octets, SQLITE_STATIC);
	code = sqlite3_step(s);
	sqlite3_reset(s);
	return code == SQLITE_DONE ? parts_charge(parts, level, id, parts->body, octets, 1) : -EIO;
}

int
parts_add(struct parts *parts, const struct pack_key *key, const double *values)
{
	struct pack *pack = &parts->pack;
	unsigned i = pack->n;
	int r = 0;

	if (i > 0 && pack_compare(key, &pack->keys[i - 1]) == 0) {
		for (unsigned c = 0; c < pack->n_columns; c++)
			pack->columns[c][i - 1] = pack_merged(c, pack->columns[c][i - 1], values[c]);
		return 0;
	}
	if (i == PACK_ENTRIES) {
		r = write_pack(parts);
		i = 0;
	}
	assert(i < PACK_ENTRIES);
	pack->keys[i] = *key;
	for (unsigned c = 0; c < pack->n_columns; c++)
		pack->columns[c][i] = values[c];
	pack->n = i + 1;
	return r;
}

int
parts_end(struct parts *parts)
{
	return parts->pack.n > 0 ? write_pack(parts) : 0;
}

/* Lists */

static int
parts_add_row(struct part_list *list, int64_t id, int64_t chain)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct part_row *rows = realloc(list->rows, room * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		list->rows = rows;
		list->room = room;
	}
	list->rows[list->n++] = (struct part_row){id, chain};
	return 0;
}

int
parts_list(struct parts *parts, const struct place *place, uint64_t to_us, size_t most_chains, struct part_list *list)
{
	sqlite3_stmt *s = parts->statements[PARTS_LIST];
	int code, r = 0;

	*list = (struct part_list){0};
	sqlite3_bind_int64(s, 1, store_levels[place->level].minutes);
	sqlite3_bind_int64(s, 2, place->kind);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)place->start_us);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)to_us);
	sqlite3_bind_int64(s, 5, place->shard);
	while ((code = sqlite3_step(s)) == SQLITE_ROW && r == 0) {
		int64_t chain = sqlite3_column_int64(s, 1);

		if (list->n == 0 || list->rows[list->n - 1].chain != chain) {
			if (list->n_chains == most_chains)
				break;
			list->n_chains++;
		}
		r = parts_add_row(list, sqlite3_column_int64(s, 0), chain);
	}
	sqlite3_reset(s);
	return r == 0 && code != SQLITE_DONE && code != SQLITE_ROW ? -EIO : r;
}

void
part_list_free(struct part_list *list)
{
	free(list->rows);
	*list = (struct part_list){0};
}

/* Runs a statement that deletes. Returns the number of rows, or -EIO. */
static int
delete_rows(struct parts *parts, sqlite3_stmt *s, uint64_t *entries)
{
	int code, n = 0, r = 0;

	while ((code = sqlite3_step(s)) == SQLITE_ROW && r == 0) {
		*entries += (uint64_t)sqlite3_column_int64(s, 0);
		r = parts_charge(parts, sqlite3_column_int(s, 1) > 0 ? LEVEL_1_MIN : LEVEL_UNSETTLED, sqlite3_column_int64(s, 2),
		    sqlite3_column_blob(s, 3), (size_t)sqlite3_column_bytes(s, 3), -1);
		n++;
	}
	sqlite3_reset(s);
	return r == 0 && code == SQLITE_DONE ? n : -EIO;
}

int
parts_delete(struct parts *parts, const struct part_list *list)
{
	sqlite3_stmt *s = parts->statements[PARTS_DELETE];
	uint64_t entries = 0;
	int n = 0;

	for (size_t i = 0; i < list->n && n >= 0; i++) {
		sqlite3_bind_int64(s, 1, list->rows[i].id);
		n = delete_rows(parts, s, &entries);
	}
	return n < 0 ? n : 0;
}

int
parts_delete_before(struct parts *parts, enum store_level_index level, uint64_t before_us, int most, uint64_t *entries)
{
	sqlite3_stmt *s = parts->statements[PARTS_DELETE_BEFORE];

	sqlite3_bind_int64(s, 1, store_levels[level].minutes);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)before_us);
	sqlite3_bind_int64(s, 3, most);
	return delete_rows(parts, s, entries);
}
