#include "collector/store/agent_sources.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUSY_MS = 10000 }; /* the collector's transactions are shorter */

static int
sources_open_file(sqlite3 **db, const char *path, int flags, char *error, size_t error_size)
{
	int code = sqlite3_open_v2(path, db, flags, NULL);

	if (code == SQLITE_OK) {
		sqlite3_busy_timeout(*db, BUSY_MS);
		return 0;
	}
	snprintf(error, error_size, "%s: %s", path, *db ? sqlite3_errmsg(*db) : "out of memory");
	sqlite3_close(*db);
	*db = NULL;
	return -EIO;
}

/* Closes the file. Returns 0 if code is SQLITE_DONE, else -EIO with the reason in error. */
static int
finish_statement(sqlite3 *db, sqlite3_stmt *statement, int code, const char *path, char *error, size_t error_size)
{
	if (code != SQLITE_DONE)
		snprintf(error, error_size, "%s: %s", path, sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return code == SQLITE_DONE ? 0 : -EIO;
}

int
agent_sources_each(const char *path, agent_sources_row *row, void *arg, char *error, size_t error_size)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;
	int r = sources_open_file(&db, path, SQLITE_OPEN_READONLY, error, error_size), code;

	if (r < 0)
		return r;
	code = sqlite3_prepare_v2(db,
	    "SELECT s.agent, a.agent_id, s.source, s.since_us FROM agent_source s"
	    " JOIN agent a ON a.id = s.agent ORDER BY s.agent", -1, &statement, NULL);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		struct store_agent_source source = {0};
		const void *id;

		code = sqlite3_step(statement);
		id = code == SQLITE_ROW ? sqlite3_column_blob(statement, 1) : NULL;
		if (!id || sqlite3_column_bytes(statement, 1) != EASE_AGENT_ID_LEN)
			continue;
		source.agent = sqlite3_column_int64(statement, 0);
		snprintf(source.source, sizeof(source.source), "%s", (const char *)sqlite3_column_text(statement, 2));
		source.since_us = (uint64_t)sqlite3_column_int64(statement, 3);
		row(arg, id, &source);
	}
	return finish_statement(db, statement, code, path, error, error_size);
}

struct reading {
	struct store_agent_source *rows;
	size_t n;
	bool no_memory;
};

static void
keep_row(void *arg, const uint8_t agent_id[EASE_AGENT_ID_LEN], const struct store_agent_source *source)
{
	struct reading *reading = arg;
	struct store_agent_source *rows =
	    realloc(reading->rows, (reading->n + 1) * sizeof(*rows));

	(void)agent_id;
	if (!rows) {
		reading->no_memory = true;
		return;
	}
	rows[reading->n++] = *source;
	reading->rows = rows;
}

int
agent_sources_read(const char *path, struct store_agent_source **rows, size_t *n, char *error, size_t error_size)
{
	struct reading reading = {0};
	int r = agent_sources_each(path, keep_row, &reading, error, error_size);

	if (r == 0 && reading.no_memory) {
		snprintf(error, error_size, "out of memory");
		r = -ENOMEM;
	}
	if (r < 0)
		free(reading.rows);
	*rows = r < 0 ? NULL : reading.rows;
	*n = r < 0 ? 0 : reading.n;
	return r;
}

int
agent_sources_forget(const char *path, const uint8_t agent_id[EASE_AGENT_ID_LEN], char *error, size_t error_size)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;
	int r = sources_open_file(&db, path, SQLITE_OPEN_READWRITE, error, error_size), code, changed = 0;

	if (r < 0)
		return r;
	code = sqlite3_prepare_v2(db,
	    "DELETE FROM agent_source WHERE agent = (SELECT id FROM agent WHERE agent_id = ?)", -1,
	    &statement, NULL);
	if (code == SQLITE_OK) {
		sqlite3_bind_blob(statement, 1, agent_id, EASE_AGENT_ID_LEN, SQLITE_STATIC);
		code = sqlite3_step(statement);
		changed = sqlite3_changes(db);
	}
	r = finish_statement(db, statement, code, path, error, error_size);
	if (r == 0 && changed == 0) {
		snprintf(error, error_size,
		    "%s: no agent of that id is bound to a source; easetop agents lists them", path);
		r = -ENOENT;
	}
	return r;
}
