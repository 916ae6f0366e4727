#include "collector/store/naming.h"

#include "collector/store/sql.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Whether the table has exactly these rows. -EIO: it cannot be read. */
static int
naming_is_same(sqlite3 *db, const char *rows)
{
	sqlite3_stmt *statement = NULL;
	int64_t version;
	bool same = true;
	int code = SQLITE_ROW;

	if (store_sql_number(db, "SELECT count(*) FROM naming WHERE line = 0", &version) < 0)
		return -EIO;
	if (version == 0)
		return *rows == '\0';
	if (sqlite3_prepare_v2(db, "SELECT text FROM naming WHERE line > 0 ORDER BY line", -1, &statement, NULL) != SQLITE_OK)
		return -EIO;
	while (same && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		size_t n = strcspn(rows, "\n");

		same = *rows && (size_t)sqlite3_column_bytes(statement, 0) == n &&
		    memcmp(sqlite3_column_text(statement, 0), rows, n) == 0;
		rows += n + (rows[n] == '\n');
	}
	sqlite3_finalize(statement);
	if (same && code != SQLITE_DONE)
		return -EIO;
	return same && *rows == '\0';
}

static int
insert_rows(sqlite3 *db, int64_t version, const char *rows)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, "INSERT INTO naming(line, version, text) VALUES(?1, ?2, ?3)", -1, &statement,
	    NULL);

	sqlite3_bind_int64(statement, 2, version);
	for (int64_t line = 0; code == SQLITE_OK && (line == 0 || *rows); line++) {
		size_t n = line == 0 ? 0 : strcspn(rows, "\n");

		sqlite3_bind_int64(statement, 1, line);
		sqlite3_bind_text(statement, 3, rows, (int)n, SQLITE_STATIC);
		if (sqlite3_step(statement) != SQLITE_DONE)
			code = SQLITE_ERROR;
		sqlite3_reset(statement);
		rows += line == 0 ? 0 : n + (rows[n] == '\n');
	}
	sqlite3_finalize(statement);
	return code == SQLITE_OK ? 0 : -EIO;
}

static int
replace_rows(sqlite3 *db, const char *rows)
{
	int64_t version;
	int r = store_sql_number(db, "SELECT 1 + ifnull(max(version), 0) FROM naming", &version);

	if (r == 0)
		r = store_sql_run(db, "DELETE FROM naming");
	return r == 0 ? insert_rows(db, version, rows) : r;
}

int
naming_write(sqlite3 *db, const char *rows)
{
	int same = naming_is_same(db, rows), r;

	if (same != 0)
		return same < 0 ? same : 0;
	r = store_sql_run(db, "BEGIN IMMEDIATE");
	if (r == 0)
		r = replace_rows(db, rows);
	if (r == 0)
		r = store_sql_run(db, "COMMIT");
	if (r < 0 && !sqlite3_get_autocommit(db))
		store_sql_run(db, "ROLLBACK");
	return r;
}
