/*
 * Settling and roll-up of sums. The unit of work is one window, kind and shard. The life of sums:
 *
 *   batch
 *     | unsettled.c writes a part
 *     v
 *   unsettled (level 0)
 *     | settle, when the minute is over; once more for samples that arrive late
 *     v
 *   1 min ---roll up---> 5 min ---roll up---> 1 h ---roll up---> 1 d ---roll up---> 8 d
 *     |                    |                   |                  |                  |
 *     +--------------------+--- retention.c deletes old windows --+------------------+
 *
 * Settle: the unsettled parts of a unit are merged into the level 1 min. If the samples came late,
 * further levels have been made from their minute already; then they are also merged into each of
 * these levels, unless the level has deleted that time. After that the unsettled parts are deleted,
 * all in one transaction. So the sums of any level plus the unsettled parts always contain each
 * sample exactly once.
 *
 * Roll up: a unit of a level is made once, from all of its window in the level before, when that is
 * settled. Units are made in the order of window, kind and shard. How far a level is, is a row of
 * the table level (struct level_state), written in the same transaction, so a crash at any time
 * neither repeats nor skips a unit.
 *
 * Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_ROLLUP_H
#define EASE_COLLECTOR_STORE_ROLLUP_H

#include "collector/store/parts.h"

/* A row of the table level:
 *
 *        deleted     |           made            | made | to be made
 *   -----------------+---------------------------+------+-----------> time
 *                 kept_us                     done_us   |
 *                                                (kind, shard)
 *
 * The window that begins at done_us is being made: its units before (kind, shard) are there. kind
 * is what unit_kind_at() of rollup.c takes. */
struct level_state {
	uint64_t kept_us, done_us;
	uint32_t kind, shard;
	uint64_t thinned_us; /* counters before this time are thinned, see retention.h */
};

enum { ROLLUP_STATEMENTS = 128 };

struct rollup {
	sqlite3 *db; /* borrowed */
	struct {
		const char *sql;
		sqlite3_stmt *statement;
	} statements[ROLLUP_STATEMENTS];
	unsigned n_statements;
	unsigned unsettled_kind; /* the kind of the unsettled unit that was found last */
	struct parts *parts;
	struct level_state levels[STORE_N_LEVELS];
	struct sorter *sorter;
	uint64_t settled, rolled; /* units done */
	uint64_t too_old;	  /* unsettled units of a time that no level keeps any more */
	uint64_t leapt_us; /* monotonic; since when the newest minutes are far ahead of those before; 0: they are not */
};

/* By the system's clocks. */
struct rollup_now {
	uint64_t wall_us, mono_us;
};

/* Reads how far each level is. Borrows parts. Returns 0, -ENOMEM, or -EIO (the database has the
 * reason). */
int rollup_open(struct rollup **out, sqlite3 *db, struct parts *parts);
void rollup_close(struct rollup *r);

/* Settles or rolls up one unit, within the caller's transaction. Data of a time later than the wall clock's ends no
 * window. Returns 1, 0 if there is nothing to do, -EIO or -ENOMEM. */
int rollup_step(struct rollup *r, const struct rollup_now *now);

/* Writes a level's row. Returns 0 or -EIO. */
int rollup_save(struct rollup *r, enum store_level_index level);

/* Returns the prepared statement of an SQL literal, which is prepared once and found again by the
 * literal's address; NULL with the reason in the database. To be reset after use. */
sqlite3_stmt *rollup_statement(struct rollup *r, const char *sql);

/* Runs an SQL literal and reads the whole numbers of its first row into values; a NULL column
 * leaves its value unchanged. Returns 1, 0 if there is no row, or -EIO. */
int rollup_query(struct rollup *r, const char *sql, const int64_t *parameters, int n,
    int64_t *values, int n_values);

/* Runs a literal DELETE that returns for each row what to add to *count. Returns the number of rows deleted, or -EIO. */
int rollup_delete(struct rollup *r, const char *sql, const int64_t *parameters, int n, uint64_t *count);

#endif
