#include "collector/store/beyond_limit.h"
#include "common/log.h"

#include <inttypes.h>
#include <stddef.h>

void
beyond_limit_note(struct beyond_limit *b, int64_t agent, uint64_t rows)
{
	if (agent == 0 || rows == 0)
		return;
	b->rows += rows;
	if (agent == b->agent) {
		b->votes += rows;
	} else if (rows <= b->votes) {
		b->votes -= rows;
	} else {
		b->votes = rows - b->votes;
		b->agent = agent;
	}
}

void
beyond_limit_tell(struct beyond_limit *b, sqlite3 *db)
{
	sqlite3_stmt *s = NULL;

	if (b->rows > 0 && sqlite3_prepare_v2(db, "SELECT address FROM agent WHERE id = ?1", -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_bind_int64(s, 1, b->agent) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		log_warn_limited("store",
		    "deleted %" PRIu64 " old rows, because an agent or one of its ports had more than its number: most were"
		    " of the agent at %s", b->rows, (const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	*b = (struct beyond_limit){0};
}
