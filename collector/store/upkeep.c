#include "collector/store/upkeep.h"
#include "collector/store/sql.h"
#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { REPORT_AFTER_US = 3000000 }; /* shorter work is not reported */

int
upkeep_open(struct upkeep *u, sqlite3 *db)
{
	int err;

	u->db = db;
	u->retention.thinning = LEVEL_UNSETTLED;
	u->retention.shares.due = true; /* while it is not known what small tables hold, samples would pay for it */
	u->progress.has_row = true; /* a collector that crashed may have left one */
	err = parts_open(&u->parts, db);
	return err == 0 ? rollup_open(&u->rollup, db, u->parts) : err;
}

void
upkeep_close(struct upkeep *u)
{
	rollup_close(u->rollup);
	parts_close(u->parts);
	u->rollup = NULL;
	u->parts = NULL;
	u->db = NULL;
}

int
upkeep_report(sqlite3 *db, const char *work, uint64_t done, uint64_t total, uint64_t since_us)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO progress VALUES(?,?,?,?,?)", -1,
	    &s, NULL);

	if (code == SQLITE_OK) {
		sqlite3_bind_text(s, 1, work, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 2, (sqlite3_int64)done);
		sqlite3_bind_int64(s, 3, (sqlite3_int64)total);
		sqlite3_bind_int64(s, 4, (sqlite3_int64)since_us);
		sqlite3_bind_int64(s, 5, (sqlite3_int64)clock_wall_us(&clock_system));
		code = sqlite3_step(s);
	}
	sqlite3_finalize(s);
	return code == SQLITE_DONE ? 0 : -EIO;
}

/* Returns the finest level that is more than two windows behind the one before it; 0: none. */
static enum store_level_index
level_behind(const struct upkeep *u)
{
	const struct level_state *levels = u->rollup->levels;

	for (int l = LEVEL_5_MIN; l < STORE_N_LEVELS; l++)
		if (levels[l - 1].done_us > levels[l].done_us + 3 * store_levels[l].span_us)
			return (enum store_level_index)l;
	return LEVEL_UNSETTLED;
}

static int
report_progress(struct upkeep *u, uint64_t now_us)
{
	enum store_level_index level = level_behind(u);
	const struct level_state *levels = u->rollup->levels;
	uint64_t span_us = store_levels[level].span_us, done, total;

	u->progress.reported_us = now_us;
	if (level == LEVEL_UNSETTLED)
		return 0;
	if (u->progress.level != level) {
		u->progress.level = level;
		u->progress.from_us = levels[level].done_us;
	}
	done = (levels[level].done_us - u->progress.from_us) / span_us;
	total = (levels[level - 1].done_us - u->progress.from_us) / span_us;
	log_info("store", "rolling up to %s: %" PRIu64 " of %" PRIu64 " windows done",
	    store_levels[level].name, done, total);
	u->progress.has_row = true;
	return upkeep_report(u->db, "roll-up", done, total,
	    clock_wall_us(&clock_system) - (now_us - u->progress.since_us));
}

/* Removes the row of work that has ended. */
static int
end_progress(struct upkeep *u)
{
	bool had_row = u->progress.has_row;

	u->progress.since_us = u->progress.reported_us = 0;
	u->progress.level = LEVEL_UNSETTLED;
	u->progress.has_row = false;
	return had_row ? store_sql_run(u->db, "DELETE FROM progress WHERE work = 'roll-up'") : 0;
}

static int
work_until(struct upkeep *u, uint64_t until_us)
{
	uint64_t wall_us = clock_wall_us(&clock_system), now_us = clock_mono_us(&clock_system), began_us;
	const struct rollup_now now = {wall_us, now_us};
	int did;

	do {
		began_us = now_us;
		did = retention_make_room(&u->retention, u->rollup);
		u->makes_room = did == 1;
		if (did == 0)
			did = rollup_step(u->rollup, &now);
		if (did == 0)
			did = retention_step(&u->retention, u->rollup, wall_us, now_us);
		now_us = clock_mono_us(&clock_system);
		u->longest_us = now_us - began_us > u->longest_us ? now_us - began_us : u->longest_us;
	} while (did == 1 && now_us < until_us);
	if (did == 0)
		return end_progress(u);
	if (u->progress.since_us == 0)
		u->progress.since_us = u->progress.reported_us = now_us;
	if (did == 1 && now_us - u->progress.reported_us >= REPORT_AFTER_US && report_progress(u, now_us) < 0)
		return -EIO;
	return did;
}

/* The state in memory before a step, to be restored when its transaction is rolled back. It is not
 * read back from the database, because that may fail for the same reason as the step did. */
struct before {
	struct level_state levels[STORE_N_LEVELS];
	uint64_t settled, rolled, too_old, damaged;
	struct retention retention;
	bool has_row;
};

static struct before
remember_state(const struct upkeep *u)
{
	const struct rollup *r = u->rollup;
	struct before before = {.settled = r->settled, .rolled = r->rolled, .too_old = r->too_old,
	    .damaged = u->parts->damaged, .retention = u->retention,
	    .has_row = u->progress.has_row};

	memcpy(before.levels, r->levels, sizeof(before.levels));
	return before;
}

static void
restore_state(struct upkeep *u, const struct before *before)
{
	struct rollup *r = u->rollup;

	memcpy(r->levels, before->levels, sizeof(r->levels));
	r->settled = before->settled;
	r->rolled = before->rolled;
	r->too_old = before->too_old;
	u->parts->damaged = before->damaged; /* the next step will find the row again */
	u->retention = before->retention;
	u->progress.has_row = before->has_row;
}

int
upkeep_step(struct upkeep *u, uint64_t budget_us)
{
	const struct before before = remember_state(u);
	int did = store_sql_run(u->db, "BEGIN IMMEDIATE"), err, code;

	if (did == 0)
		did = work_until(u, clock_mono_us(&clock_system) + budget_us);
	if (did >= 0 && store_sql_run(u->db, "COMMIT") == 0)
		return did;
	code = sqlite3_errcode(u->db) & 0xff;
	err = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? -EBADMSG : did < 0 ? did : -EIO;
	log_warn_limited("store", "cannot roll up or delete old data, trying again: %s", sqlite3_errmsg(u->db));
	if (!sqlite3_get_autocommit(u->db))
		store_sql_run(u->db, "ROLLBACK");
	restore_state(u, &before);
	return err;
}
