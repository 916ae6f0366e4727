#include "collector/store/plan_store.h"

#include "collector/store/sql.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

enum { HOUR_S = 3600, BUSY_MS = 1000 };

/* An account is of one boot of a port. */
#define LAST_DAY " FROM account WHERE last_us > (SELECT max(last_us) FROM account) - 86400000000"
static const char ports_sql[] = "SELECT count(*) FROM (SELECT DISTINCT agent, if_index" LAST_DAY ")";
static const char seconds_sql[] = "SELECT ifnull((max(last_us) - min(first_us)) / 1000000, 0) FROM account";
static const char samples_sql[] = /* of 1,000 seconds */
    "SELECT CAST(1e9 * total(1.0 * received / max(last_us - first_us, 3600000000)) AS INTEGER)" LAST_DAY;

int
plan_read_store(const char *path, struct plan_question *question)
{
	int64_t ports = 0, samples = 0, seconds = 0;
	sqlite3 *db = NULL;
	int err = 0;

	if (access(path, R_OK) != 0)
		return -ENOENT;
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		err = -EIO;
	sqlite3_busy_timeout(db, BUSY_MS);
	if (err == 0)
		err = store_sql_number(db, seconds_sql, &seconds);
	if (err == 0)
		err = store_sql_number(db, ports_sql, &ports);
	if (err == 0)
		err = store_sql_number(db, samples_sql, &samples);
	sqlite3_close(db);
	if (err)
		return err;
	if (seconds < HOUR_S || ports == 0 || samples == 0)
		return -ENOENT;
	question->ports = (double)ports;
	question->samples_per_s = (double)samples / 1000;
	question->hours = INFINITY;
	return 0;
}
