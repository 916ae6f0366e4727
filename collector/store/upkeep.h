/*
 * The store's work between two batches: settling and rolling up (rollup.h), deleting (retention.h),
 * a little at a time, each time one transaction. Long work says in the log and in the table
 * progress how far it is; a stop or a crash in between harms nothing. On the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_UPKEEP_H
#define EASE_COLLECTOR_STORE_UPKEEP_H

#include "collector/store/retention.h"

struct upkeep {
	sqlite3 *db; /* borrowed */
	struct parts *parts;
	struct rollup *rollup;
	struct retention retention;
	struct {
		uint64_t since_us, reported_us; /* monotonic; 0: idle */
		uint64_t from_us;	    /* where the level stood */
		enum store_level_index level;
		bool has_row;
	} progress;
};

/* Zeroed before the first time; what is kept and the counts stay when it is closed and opened anew.
 * 0, -ENOMEM, or -EIO: the database has the reason. Closed in both cases. */
int upkeep_open(struct upkeep *upkeep, sqlite3 *db);
void upkeep_close(struct upkeep *upkeep);

/* Works for about so long. 1: there is more to do, 0: there is not, or -errno (-EBADMSG: the file
 * is damaged); then nothing of it was written. */
int upkeep_step(struct upkeep *upkeep, uint64_t budget_us);

/* Writes a row of the table progress. 0 or -EIO. */
int upkeep_report(sqlite3 *db, const char *work, uint64_t done, uint64_t total, uint64_t since_us);

#endif
