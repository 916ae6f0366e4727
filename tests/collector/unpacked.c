#include "tests/collector/unpacked.h"

#include "collector/store/levels.h"
#include "collector/store/pack.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* One transaction: of their own, a hundred thousand rows took most of a test's time. */
static const char tables[] =
    "SAVEPOINT unpacked;"
    "CREATE TEMP TABLE window(start_us, agent, if_index, direction, pool_pkts REAL, pool_octets "
    "REAL,"
    " n INTEGER, w REAL, w2 REAL, wb REAL, wb2 REAL, w2b2 REAL, any_pkts REAL, any_octets REAL,"
    " PRIMARY KEY(start_us, agent, if_index, direction));"
    "CREATE TEMP TABLE window_key(kind, start_us, agent, if_index, direction, key1 BLOB, key2 BLOB,"
    " n INTEGER, w REAL, w2 REAL, wb REAL, wb2 REAL, w2b2 REAL, any_pkts REAL, any_octets REAL,"
    " same_pkts REAL, same_octets REAL, same1_pkts REAL, same1_octets REAL, same2_pkts REAL,"
    " same2_octets REAL, PRIMARY KEY(kind, start_us, agent, if_index, direction, key1, key2));"
    "CREATE TEMP TABLE window_port(start_us, agent, if_index, expected INTEGER, received INTEGER,"
    " PRIMARY KEY(start_us, agent, if_index));"
    "CREATE TEMP TABLE window_folded(kind, start_us, agent, if_index, direction, n INTEGER,"
    " most_n INTEGER, PRIMARY KEY(kind, start_us, agent, if_index, direction));";

enum { WINDOW, KEY, PORT, FOLDED, N_STATEMENTS };

#define ADD(column) #column "=" #column "+excluded." #column
#define ADD_COMMON ADD(n) "," ADD(w) "," ADD(w2) "," ADD(wb) "," ADD(wb2) "," ADD(w2b2) ","        \
	ADD(any_pkts) "," ADD(any_octets)

static const char *const inserts[N_STATEMENTS] = {
    [WINDOW] = "INSERT INTO temp.window VALUES(?1,?2,?3,?4,?16,?17,?8,?9,?10,?11,?12,?13,?14,?15)"
	       " ON CONFLICT DO UPDATE SET " ADD_COMMON "," ADD(pool_pkts) "," ADD(pool_octets),
    [KEY] = "INSERT INTO temp.window_key VALUES(?5,?1,?2,?3,?4,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,"
	    "?16,?17,?18,?19,?20,?21) ON CONFLICT DO UPDATE SET " ADD_COMMON "," ADD(same_pkts) ","
	    ADD(same_octets) "," ADD(same1_pkts) "," ADD(same1_octets) "," ADD(same2_pkts) ","
	    ADD(same2_octets),
    [PORT] = "INSERT INTO temp.window_port VALUES(?1,?2,?3,?18,?19) ON CONFLICT DO UPDATE SET "
	     ADD(expected) "," ADD(received),
    [FOLDED] = "INSERT INTO temp.window_folded VALUES(?5 - 64,?1,?2,?3,?4,?8,?9)"
	       " ON CONFLICT DO UPDATE SET " ADD(n) "," ADD(most_n),
};

enum { PARAMETER_KEY1 = 6, PARAMETER_VALUES = 8 };

static int
insert(sqlite3_stmt *s, uint64_t start_us, unsigned kind, const struct pack_reader *reader)
{
	int64_t place[] = {(int64_t)start_us, pack_agent(&reader->key),
	    pack_if_index(&reader->key), pack_direction(&reader->key), kind};
	int n = sqlite3_bind_parameter_count(s), code;
	uint8_t octets1, octets2;
	const uint8_t *half1 = pack_half1(&reader->key, &octets1);
	const uint8_t *half2 = pack_half2(&reader->key, &octets2);

	for (int i = 0; i < 5 && i < n; i++)
		sqlite3_bind_int64(s, i + 1, place[i]);
	sqlite3_bind_blob(s, PARAMETER_KEY1, half1, octets1, SQLITE_STATIC);
	sqlite3_bind_blob(s, PARAMETER_KEY1 + 1, half2, octets2, SQLITE_STATIC);
	for (int i = PARAMETER_VALUES; i <= n; i++)
		sqlite3_bind_double(s, i, pack_value(reader, (unsigned)(i - PARAMETER_VALUES)));
	code = sqlite3_step(s);
	sqlite3_reset(s);
	return code == SQLITE_DONE ? 0 : -1;
}

/* As the accounting writes them: a direction without anything has no row, nor has a port without
 * numbers. */
static int
insert_totals(sqlite3_stmt *const *s, uint64_t start_us, const struct pack_reader *reader)
{
	int r = 0;

	if (pack_value(reader, PACK_N) != 0 || pack_value(reader, PACK_POOL_PKTS) != 0 ||
	    pack_value(reader, PACK_POOL_OCTETS) != 0)
		r = insert(s[WINDOW], start_us, 0, reader);
	if (r == 0 && (pack_value(reader, PACK_EXPECTED) != 0 ||
	    pack_value(reader, PACK_RECEIVED) != 0))
		r = insert(s[PORT], start_us, 0, reader);
	return r;
}

static int
unpack(sqlite3_stmt *const *s, uint64_t start_us, unsigned kind, const void *body, int octets)
{
	struct pack_reader reader;
	int r = 0;

	if (pack_open(&reader, body, (size_t)octets) < 0)
		return -1;
	while (r == 0 && pack_next(&reader))
		r = kind == STORE_PART_TOTALS ? insert_totals(s, start_us, &reader)
		    : insert(s[kind > STORE_PART_FOLDED ? FOLDED : KEY], start_us, kind, &reader);
	return reader.failed ? -1 : r;
}

/* Kinds of parts from 0 on. */
static int
kinds_for(const char *sql)
{
	if (!sql || strstr(sql, "window_key") || strstr(sql, "window_folded"))
		return INT_MAX;
	return strstr(sql, "window") ? STORE_PART_TOTALS + 1 : 0;
}

static int
fill(sqlite3 *db, int kinds)
{
	sqlite3_stmt *s[N_STATEMENTS] = {NULL}, *parts = NULL;
	int code, r = sqlite3_exec(db, tables, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;

	for (int i = 0; r == 0 && i < N_STATEMENTS; i++)
		r = sqlite3_prepare_v2(db, inserts[i], -1, &s[i], NULL) == SQLITE_OK ? 0 : -1;
	if (r == 0 &&
	    (sqlite3_prepare_v2(db, "SELECT start_us, kind, body FROM part WHERE level < 2 AND kind < ?1", -1,
		 &parts, NULL) != SQLITE_OK || sqlite3_bind_int(parts, 1, kinds) != SQLITE_OK))
		r = -1;
	while (r == 0 && (code = sqlite3_step(parts)) != SQLITE_DONE)
		r = code != SQLITE_ROW ? -1
		    : unpack(s, (uint64_t)sqlite3_column_int64(parts, 0),
			  (unsigned)sqlite3_column_int(parts, 1), sqlite3_column_blob(parts, 2),
			  sqlite3_column_bytes(parts, 2));
	sqlite3_finalize(parts);
	for (int i = 0; i < N_STATEMENTS; i++)
		sqlite3_finalize(s[i]);
	return r == 0 && sqlite3_exec(db, "RELEASE unpacked", NULL, NULL, NULL) != SQLITE_OK ? -1 : r;
}

sqlite3 *
unpacked_open(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_busy_timeout(db, 5000) == SQLITE_OK && fill(db, kinds_for(sql)) == 0)
		return db;
	fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(db));
	sqlite3_close(db);
	return NULL;
}
