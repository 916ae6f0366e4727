/*
 * Rows of the table part: where they stand, chains of them, and writing chains. Inside the store
 * room, on the writing thread.
 *
 * Ids only grow and are never given twice, not even where the rows with the highest ones were
 * deleted before a restart: whoever follows the table by id (collector/ship) misses none. So each
 * opening of the store begins behind an epoch of its own.
 *
 * A place is one window of a level, kind and shard. What it holds are chains of packs; the sums of
 * all chains add up. A chain's packs are sorted, so that chains can be merged pack by pack.
 */
#ifndef EASE_COLLECTOR_STORE_PARTS_H
#define EASE_COLLECTOR_STORE_PARTS_H

#include "collector/store/levels.h"
#include "collector/store/pack.h"

#include <sqlite3.h>

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
	PARTS_N_STATEMENTS,
};

/* What all who write parts share. */
struct parts {
	sqlite3 *db;		 /* borrowed */
	sqlite3_stmt *statements[PARTS_N_STATEMENTS];
	int64_t next_id;
	uint64_t damaged; /* rows found damaged */
	/* the chain being written */
	struct place place;
	int64_t chain;
	struct pack pack;
	uint8_t body[PACK_OCTETS_MAX];
};

/* 0, -ENOMEM, or -EIO (the database has the reason). */
int parts_open(struct parts **out, sqlite3 *db);
void parts_close(struct parts *parts);

/* A chain is begun, gets entries in the order of their keys (equal ones behind each other are
 * added up), and is ended; without an entry nothing is written. 0 or -EIO. */
void parts_begin(struct parts *parts, const struct place *place);
int parts_add(struct parts *parts, const struct pack_key *key, const double *values);
int parts_end(struct parts *parts);

/* Columns of a kind's packs. */
unsigned parts_columns(unsigned kind);

/* Rows by id, sorted by window, chain and id. */
struct part_list {
	struct part_row {
		int64_t id, chain;
	} *rows;
	size_t n, room;
	size_t n_chains;
};

/* The rows of a level, kind and shard in [from_us, to_us), at most as many chains as asked for and
 * those whole. 0, -ENOMEM or -EIO. Freed by part_list_free. */
int parts_list(struct parts *parts, const struct place *place, uint64_t to_us, size_t most_chains,
    struct part_list *list);
void part_list_free(struct part_list *list);

/* Deletes these rows. 0 or -EIO. */
int parts_delete(struct parts *parts, const struct part_list *list);

#endif
