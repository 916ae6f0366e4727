/*
 * Upkeep: the store's work between two batches, in short steps of one transaction each. It settles
 * and rolls up sums (rollup.h) and deletes old data (retention.h). Long work reports in the log and
 * in the table progress how far it is. A stop or a crash at any time does no harm. On the writing
 * thread.
 */
#ifndef EASE_COLLECTOR_STORE_UPKEEP_H
#define EASE_COLLECTOR_STORE_UPKEEP_H

#include "collector/store/retention.h"

struct upkeep {
	sqlite3 *db; /* borrowed */
	struct parts *parts;
	struct rollup *rollup;
	struct retention retention;
	bool makes_room;     /* the store is beyond its size: this goes before the next batch */
	uint64_t longest_us; /* that a piece of work took, which nothing can interrupt */
	struct {
		uint64_t since_us, reported_us; /* monotonic; 0: idle */
		uint64_t from_us;		/* the level's done_us at the first report */
		enum store_level_index level;
		bool has_row;
	} progress;
};

/* *upkeep is zeroed before the first call; the retention and the counts stay when it is closed and
 * opened again. Returns 0, -ENOMEM, or -EIO (the database has the reason); after an error it must
 * be closed too. */
int upkeep_open(struct upkeep *upkeep, sqlite3 *db);
void upkeep_close(struct upkeep *upkeep);

/* Works for about budget_us. Returns 1 if there is more to do, 0 if not, or -errno (-EBADMSG: the
 * file is damaged); after an error nothing of the step is written. */
int upkeep_step(struct upkeep *upkeep, uint64_t budget_us);

/* Writes a row of the table progress. Returns 0 or -EIO. */
int upkeep_report(sqlite3 *db, const char *work, uint64_t done, uint64_t total, uint64_t since_us);

#endif
