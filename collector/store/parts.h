/*
 * Parts: rows of the table part, each with one pack of sums. A place is one window of a level, a
 * kind and a shard; it is what a part belongs to. A place holds chains. A chain is written at once:
 * a sequence of packs, sorted by key across all of them, so that chains can be merged pack by pack.
 * The sums of a place are those of all its chains added up.
 *
 * Ids of parts only grow and are never reused, even if the rows with the highest ids were deleted
 * before a restart. So collector/ship, which follows the table by id, misses no row. For this, each
 * opening of the store starts at a higher range of ids (life.part_epoch).
 *
 * Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_PARTS_H
#define EASE_COLLECTOR_STORE_PARTS_H

#include "collector/store/levels.h"
#include "collector/store/pack.h"

#include <sqlite3.h>

enum { PARTS_EPOCH_BITS = 36 /* 2^36 rows from one start to the next, 2^27 starts */ };

struct place {
	enum store_level_index level;
	unsigned kind;
	uint64_t start_us;
	uint32_t shard;
};

enum parts_statement {
	PARTS_INSERT,
	PARTS_BODY,
	PARTS_LIST,
	PARTS_DELETE,
	PARTS_DELETE_BEFORE,
	PARTS_REPLACE,
	PARTS_HOLD,
	PARTS_FREE,
	PARTS_NOTE_FLUSH,
	PARTS_FORGET_FLUSHES,
	PARTS_N_STATEMENTS,
};

/* The state shared by everything that writes parts. */
struct parts {
	sqlite3 *db;		 /* borrowed */
	sqlite3_stmt *statements[PARTS_N_STATEMENTS];
	int64_t next_id, first_charged;
	uint64_t damaged; /* rows found damaged so far */
	/* of the chain that is being written: */
	struct place place;
	int64_t chain;
	struct pack pack;
	uint8_t body[PACK_OCTETS_MAX];
};

/* Returns 0, -ENOMEM, or -EIO (the database has the reason). */
int parts_open(struct parts **out, sqlite3 *db);
void parts_close(struct parts *parts);

/* Write a chain: begin it, add entries in the order of their keys (successive entries of the same
 * key are added up), and end it. A chain without entries is not written. Return 0 or -EIO. */
void parts_begin(struct parts *parts, const struct place *place);
int parts_add(struct parts *parts, const struct pack_key *key, const double *values);
int parts_end(struct parts *parts);

/* Notes that the parts written so far have what was received until then, by the collector's clock.
 * Returns 0 or -EIO. */
int parts_note_flush(struct parts *parts, uint64_t until_us);

/* Returns the number of columns of a kind's packs. */
unsigned parts_columns(unsigned kind);

/* A list of rows, sorted by window, chain and id. */
struct part_list {
	struct part_row {
		int64_t id, chain;
	} *rows;
	size_t n, room;
	size_t n_chains;
};

/* Lists the rows of the place's level, kind and shard whose window starts in [place->start_us,
 * to_us): at most so many chains, each complete. Returns 0, -ENOMEM or -EIO. The list is freed by
 * part_list_free. */
int parts_list(struct parts *parts, const struct place *place, uint64_t to_us, size_t most_chains,
    struct part_list *list);
void part_list_free(struct part_list *list);

/* A row was written (sign 1) or is gone (-1): counts for each agent its part of the row's octets (table held). What is
 * not settled yet does not count. Returns 0 or -EIO. */
int parts_charge(struct parts *parts, enum store_level_index level, int64_t id, const void *body, size_t octets, int sign);

/* Deletes some rows of a level before that time. Adds the entries to *entries; returns the number of rows, or -EIO. */
int parts_delete_before(struct parts *parts, enum store_level_index level, uint64_t before_us, int most, uint64_t *entries);

/* Writes the entries of parts->pack, of a level, in place of a row's. Returns 0 or -EIO. */
int parts_replace(struct parts *parts, enum store_level_index level, int64_t id);

/* Deletes the rows of the list. Returns 0 or -EIO. */
int parts_delete(struct parts *parts, const struct part_list *list);

#endif
