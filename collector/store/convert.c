#include "collector/store/convert.h"

#include "collector/store/parts.h"
#include "collector/store/sql.h"
#include "collector/store/upkeep.h"
#include "common/clock.h"

#include <errno.h>

enum { STEP_US = 100000 };

/* For each kind of part: the SQL that finds the oldest minute, reads the rows of a minute in the
 * order of packs, and deletes them. :kind and :start are bound where they occur. */
static const struct source {
	unsigned kind;
	int first, n; /* the columns after the key's; values[to[i]] gets column first + i */
	unsigned to[PACK_COLUMNS];
	const char *oldest, *rows, *deletion;
} sources[] = {
#define PLACE "agent, if_index, direction, x'', x''"
#define ORDER " ORDER BY agent, if_index, direction"
#define COMMON PACK_N, PACK_W, PACK_W2, PACK_WB, PACK_WB2, PACK_W2B2, PACK_ANY_PKTS, PACK_ANY_OCTETS
#define COMMON_SQL "n, w, w2, wb, wb2, w2b2, any_pkts, any_octets"
    /* numbers of samples are in the entry of the receiving direction, even if it has no samples */
    {STORE_PART_TOTALS, 5, PACK_RECEIVED + 1,
	{COMMON, PACK_POOL_PKTS, PACK_POOL_OCTETS, PACK_EXPECTED, PACK_RECEIVED},
	"SELECT min(s) FROM (SELECT min(start_us) AS s FROM window UNION ALL"
	" SELECT min(start_us) FROM window_port)",
	"SELECT " PLACE ", " COMMON_SQL ", pool_pkts, pool_octets, 0, 0 FROM window"
	" WHERE start_us = :start UNION ALL SELECT agent, if_index, 1, x'', x'', 0, 0, 0, 0, 0, 0,"
	" 0, 0, 0, 0, expected, received FROM window_port WHERE start_us = :start"
	" ORDER BY 1, 2, 3",
	"DELETE FROM window WHERE start_us = :start;DELETE FROM window_port WHERE"
	" start_us = :start"},
#define KEYS(k, columns, sql)                                                                      \
	{k, 5, columns,                                                                            \
	    {COMMON, PACK_SAME_PKTS, PACK_SAME_OCTETS, PACK_SAME1_PKTS, PACK_SAME1_OCTETS,         \
		PACK_SAME2_PKTS, PACK_SAME2_OCTETS},                                               \
	    "SELECT min(start_us) FROM window_key WHERE kind = :kind",                             \
	    "SELECT agent, if_index, direction, key1, key2, " COMMON_SQL                          \
	    ", same_pkts, same_octets" sql " FROM window_key WHERE kind = :kind AND start_us ="   \
	    " :start" ORDER ", length(key1), length(key2), key1, key2",                           \
	    "DELETE FROM window_key WHERE kind = :kind AND start_us = :start"}
#define PAIRS(k) KEYS(k, PACK_PAIR, ", same1_pkts, same1_octets, same2_pkts, same2_octets")
#define SINGLES(k) KEYS(k, PACK_SINGLE, "")
    PAIRS(STORE_KEY_ETH_PAIR),
    PAIRS(STORE_KEY_IP_PAIR),
    SINGLES(STORE_KEY_VLAN),
    SINGLES(STORE_KEY_ETHERTYPE),
    SINGLES(STORE_KEY_IP_PROTO),
    SINGLES(STORE_KEY_SERVER_PORT),
    SINGLES(STORE_KEY_CONVERSATION),
#define FOLDED(k)                                                                                  \
	{STORE_PART_FOLDED + (k), 5, PACK_FOLDED, {PACK_N, PACK_MOST_N},                           \
	    "SELECT min(start_us) FROM window_folded WHERE kind = :kind - 64",                     \
	    "SELECT " PLACE ", n, most_n FROM window_folded"                                       \
	    " WHERE kind = :kind - 64 AND start_us = :start" ORDER,                                \
	    "DELETE FROM window_folded WHERE kind = :kind - 64 AND start_us = :start"}
    FOLDED(STORE_KEY_ETH_PAIR),
    FOLDED(STORE_KEY_IP_PAIR),
    FOLDED(STORE_KEY_VLAN),
    FOLDED(STORE_KEY_ETHERTYPE),
    FOLDED(STORE_KEY_IP_PROTO),
    FOLDED(STORE_KEY_SERVER_PORT),
    FOLDED(STORE_KEY_CONVERSATION),
};

enum { N_SOURCES = sizeof(sources) / sizeof(sources[0]) };

struct convert {
	sqlite3 *db;
	struct parts *parts;
	const struct progress *progress;
	uint64_t minutes; /* done */
	uint64_t since_us;
};

static int
prepare(struct convert *c, const char *sql, const struct source *from, uint64_t start_us,
    sqlite3_stmt **s, const char **rest)
{
	if (sqlite3_prepare_v2(c->db, sql, -1, s, rest) != SQLITE_OK)
		return -EIO;
	if (sqlite3_bind_parameter_index(*s, ":kind") > 0)
		sqlite3_bind_int64(*s, sqlite3_bind_parameter_index(*s, ":kind"), from->kind);
	if (sqlite3_bind_parameter_index(*s, ":start") > 0)
		sqlite3_bind_int64(*s, sqlite3_bind_parameter_index(*s, ":start"),
		    (sqlite3_int64)start_us);
	return 0;
}

/* Finds the oldest minute that is left. Returns 1, 0 if no rows are left, or an error. */
static int
find_oldest(struct convert *c, const struct source *from, uint64_t *start_us)
{
	sqlite3_stmt *s = NULL;
	int r = prepare(c, from->oldest, from, 0, &s, NULL);

	if (r == 0)
		r = sqlite3_step(s) == SQLITE_ROW ? 0 : -EIO;
	if (r == 0 && sqlite3_column_type(s, 0) != SQLITE_NULL) {
		*start_us = (uint64_t)sqlite3_column_int64(s, 0);
		r = 1;
	}
	sqlite3_finalize(s);
	return r;
}

static int
add_entry(struct convert *c, const struct source *from, uint64_t start_us, sqlite3_stmt *s,
    struct place *place)
{
	int64_t agent = sqlite3_column_int64(s, 0);
	int octets1 = sqlite3_column_bytes(s, 3), octets2 = sqlite3_column_bytes(s, 4);
	double values[PACK_COLUMNS] = {0};
	struct pack_key key;
	int r = 0;

	if (octets1 > STORE_KEY_HALF || octets2 > STORE_KEY_HALF)
		return 0;
	for (int i = 0; i < from->n; i++)
		values[from->to[i]] = sqlite3_column_double(s, from->first + i);
	key = pack_key_of(agent, (uint32_t)sqlite3_column_int64(s, 1),
	    (uint8_t)sqlite3_column_int(s, 2), sqlite3_column_blob(s, 3), (uint8_t)octets1,
	    sqlite3_column_blob(s, 4), (uint8_t)octets2);
	if (place->level != LEVEL_UNSETTLED || place->shard != store_shard(agent)) {
		if (place->level == LEVEL_UNSETTLED)
			r = parts_end(c->parts);
		*place = (struct place){LEVEL_UNSETTLED, from->kind, start_us, store_shard(agent)};
		parts_begin(c->parts, place);
	}
	return r == 0 ? parts_add(c->parts, &key, values) : r;
}

static int
copy_minute(struct convert *c, const struct source *from, uint64_t start_us)
{
	struct place place = {.level = STORE_N_LEVELS}; /* none begun */
	sqlite3_stmt *s = NULL;
	int code = SQLITE_ROW, r = prepare(c, from->rows, from, start_us, &s, NULL);

	while (r == 0 && (code = sqlite3_step(s)) == SQLITE_ROW)
		r = add_entry(c, from, start_us, s, &place);
	sqlite3_finalize(s);
	if (r == 0 && code != SQLITE_DONE)
		return -EIO;
	return r == 0 && place.level == LEVEL_UNSETTLED ? parts_end(c->parts) : r;
}

static int
delete_minute(struct convert *c, const struct source *from, uint64_t start_us)
{
	const char *sql = from->deletion;
	int r = 0;

	while (r == 0 && *sql) {
		sqlite3_stmt *s = NULL;

		r = prepare(c, sql, from, start_us, &s, &sql);
		if (r == 0 && sqlite3_step(s) != SQLITE_DONE)
			r = -EIO;
		sqlite3_finalize(s);
	}
	return r;
}

/* Converts one minute of one kind. Returns 1, or 0 if everything is converted, or an error. */
static int
convert_one(struct convert *c)
{
	for (int i = 0; i < N_SOURCES; i++) {
		uint64_t start_us = 0;
		int r = find_oldest(c, &sources[i], &start_us);

		if (r == 1)
			r = copy_minute(c, &sources[i], start_us);
		else if (r == 0)
			continue;
		if (r == 0)
			r = delete_minute(c, &sources[i], start_us);
		c->minutes += sources[i].kind == STORE_PART_TOTALS;
		return r < 0 ? r : 1;
	}
	return 0;
}

/* Reports progress to the caller and, by the table progress, to readers. */
static int
report(struct convert *c)
{
	int64_t left = 0;
	double done;

	if (store_sql_number(c->db, "SELECT count(DISTINCT start_us) FROM window", &left) < 0)
		return -EIO;
	done = (double)c->minutes / ((double)c->minutes + (double)left + 1);
	if (!progress_go_on(c->progress, "packing the sums of minutes", done))
		return -ECANCELED;
	return upkeep_report(c->db, "packing", c->minutes, c->minutes + (uint64_t)left,
	    c->since_us);
}

/* Converts some minutes in one transaction. Returns 1 if there are more, 0 at the end, or an error.
 */
static int
step(struct convert *c)
{
	uint64_t until_us = clock_mono_us(&clock_system) + STEP_US;
	int did = store_sql_run(c->db, "BEGIN IMMEDIATE"), reported;

	if (did == 0)
		do
			did = convert_one(c);
		while (did == 1 && clock_mono_us(&clock_system) < until_us);
	if (did == 1) {
		reported = report(c);
		did = reported < 0 ? reported : did;
	}
	if (did == 0)
		did = store_sql_run(c->db,
		    "DROP TABLE window; DROP TABLE window_key; DROP TABLE window_port;"
		    "DROP TABLE window_folded;"
		    "DELETE FROM progress WHERE work = 'packing'");
	if (did >= 0 && store_sql_run(c->db, "COMMIT") < 0)
		did = -EIO;
	if (did < 0 && !sqlite3_get_autocommit(c->db))
		store_sql_run(c->db, "ROLLBACK");
	return did;
}

int
convert_run(sqlite3 *db, const struct progress *progress)
{
	struct convert c = {.db = db, .progress = progress,
	    .since_us = clock_wall_us(&clock_system)};
	int64_t tables = 0;
	int r = store_sql_number(
	    db, "SELECT count(*) FROM sqlite_schema WHERE name = 'window_folded'", &tables);

	if (r < 0 || tables == 0)
		return r;
	r = parts_open(&c.parts, db);
	if (r == 0)
		do
			r = step(&c);
		while (r == 1);
	parts_close(c.parts);
	return r;
}
