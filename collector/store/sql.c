#include "collector/store/sql.h"

#include <errno.h>
#include <stddef.h>

int
store_sql_run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

int
store_sql_number(sqlite3 *db, const char *sql, int64_t *value)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		*value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return code == SQLITE_ROW ? 0 : -EIO;
}
