/*
 * Roll-ups, in units of one window, kind and shard. A unit of level L is merged once from what the
 * level before has, in the order of (window, kind, shard), when all of its window is settled there.
 * How far that is stands in the table level, written in the same transaction, so that a crash at
 * any instant repeats or lacks nothing.
 *
 * Fresh parts are settled: merged into level 1 min and, for what came late, into each further
 * level whose unit was made already; then they are deleted, all in one transaction. So whoever
 * reads sums of any level and adds the fresh parts has each sample once, always. Inside the store
 * room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_ROLLUP_H
#define EASE_COLLECTOR_STORE_ROLLUP_H

#include "collector/store/parts.h"

/* A row of the table level: windows from kept_us to done_us are there, and of that which begins at
 * done_us the units before (kind, shard). kind counts in rollup.c's order. */
struct level_state {
	uint64_t kept_us, done_us;
	uint32_t kind, shard;
	uint64_t thinned_us; /* see retention.h */
};

enum { ROLLUP_STATEMENTS = 32 };

struct rollup {
	sqlite3 *db; /* borrowed */
	struct {
		const char *sql;
		sqlite3_stmt *statement;
	} statements[ROLLUP_STATEMENTS];
	unsigned n_statements;
	unsigned unsettled_kind; /* where the last fresh unit was found */
	struct parts *parts;
	struct level_state levels[STORE_N_LEVELS];
	struct sorter *sorter;
	uint64_t settled, rolled; /* units */
	uint64_t too_old;	  /* samples whose window is at no level kept any more */
};

/* Reads where it stands. 0, -ENOMEM, or -EIO with the database's reason. parts is borrowed. */
int rollup_open(struct rollup **out, sqlite3 *db, struct parts *parts);
void rollup_close(struct rollup *r);

/* Does one unit, within the caller's transaction. now_us: wall clock, no data of a later time
 * moves anything on. 1: did one, 0: nothing to do, -EIO or -ENOMEM. */
int rollup_step(struct rollup *r, uint64_t now_us);

/* Writes a level's row. 0 or -EIO. */
int rollup_save(struct rollup *r, enum store_level_index level);

/* A statement of these literals, prepared once and known by its address; NULL: the database has the
 * reason. To be reset after use. */
sqlite3_stmt *rollup_statement(struct rollup *r, const char *sql);

/* Columns of the first row that a statement gives, whole numbers; what is NULL stays. sql is a
 * literal. 1, 0: no row, -EIO. */
int rollup_query(struct rollup *r, const char *sql, const int64_t *parameters, int n,
    int64_t *values, int n_values);

#endif
