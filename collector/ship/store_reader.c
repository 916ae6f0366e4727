#include "collector/ship/store_reader.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	BUSY_MS = 1000,
	PARTS_A_SCAN = 65536, /* rows of the index of ids, a few milliseconds */
};

/* Opening */

void
store_reader_init(struct store_reader *s, const char *path)
{
	*s = (struct store_reader){.path = path};
}

void
store_reader_close(struct store_reader *s)
{
	parts_close(s->parts);
	sqlite3_close(s->db);
	free(s->agents);
	free(s->minute.low_us);
	free(s->minute.high_us);
	store_reader_init(s, s->path);
}

/* Without this a transaction that could not be ended, without memory, would show old data for ever. */
static void
end_view(struct store_reader *s)
{
	if (s->db && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

void
store_reader_refresh(struct store_reader *s)
{
	s->minute.start_us = 0;
	end_view(s);
}

static int
fail_reader(struct store_reader *s)
{
	int code = sqlite3_errcode(s->db) & 0xff;

	s->is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
	snprintf(s->error, sizeof(s->error), "%s: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "cannot be opened");
	return -EIO;
}

static int
open_anew(struct store_reader *s, const struct stat *st)
{
	store_reader_close(s);
	s->device = st->st_dev;
	s->inode = st->st_ino;
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return fail_reader(s);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	if (parts_open(&s->parts, s->db) < 0)
		return fail_reader(s);
	return store_reader_number(s, "SELECT store_id FROM life", &s->store_id);
}

int
store_reader_open(struct store_reader *s)
{
	struct stat st;
	int r;

	if (stat(s->path, &st) < 0) {
		snprintf(s->error, sizeof(s->error), "%s: %s", s->path, strerror(errno));
		return -EIO;
	}
	if (s->parts && st.st_dev == s->device && st.st_ino == s->inode)
		return 0;
	r = open_anew(s, &st);
	if (r < 0) { /* the next call tries again */
		parts_close(s->parts);
		s->parts = NULL;
	}
	return r < 0 ? r : 1;
}

/* A statement for one use; NULL after setting the error. */
static sqlite3_stmt *
prepare_read(struct store_reader *s, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_reader(s);
	return stmt;
}

static int
finish_read(struct store_reader *s, sqlite3_stmt *stmt, int code, int err)
{
	if (err == 0 && code != SQLITE_DONE && code != SQLITE_ROW)
		err = fail_reader(s);
	sqlite3_finalize(stmt);
	return err;
}

int
store_reader_number(struct store_reader *s, const char *sql, int64_t *value)
{
	sqlite3_stmt *stmt = prepare_read(s, sql);
	int code;

	if (!stmt)
		return -EIO;
	code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*value = sqlite3_column_int64(stmt, 0);
	return finish_read(s, stmt, code, 0);
}

/* Agents */

static int
make_agents(struct store_reader *s, size_t n)
{
	struct store_reader_agent *agents;

	if (n <= s->n_agents)
		return 0;
	agents = realloc(s->agents, n * sizeof(*agents));
	if (!agents) {
		snprintf(s->error, sizeof(s->error), "out of memory");
		return -ENOMEM;
	}
	memset(agents + s->n_agents, 0, (n - s->n_agents) * sizeof(*agents));
	s->agents = agents;
	s->n_agents = n;
	return 0;
}

static void
reader_set_agent(struct store_reader_agent *agent, sqlite3_stmt *stmt)
{
	if (sqlite3_column_bytes(stmt, 1) == sizeof(agent->id))
		memcpy(agent->id, sqlite3_column_blob(stmt, 1), sizeof(agent->id));
	agent->last_us = sqlite3_column_int64(stmt, 2);
	agent->last_received_us = sqlite3_column_int64(stmt, 3);
	agent->identity = sqlite3_column_int64(stmt, 4);
	agent->known = true;
}

int
store_reader_load_agents(struct store_reader *s)
{
	sqlite3_stmt *stmt = prepare_read(s, "SELECT id, agent_id, a.last_us, a.last_received_us,"
	    " ifnull(c.offset_us + c.since_us, 0) + ifnull(s.since_us, 0) + ifnull(r.records, 0)"
	    " FROM agent a LEFT JOIN agent_clock c ON c.agent = id LEFT JOIN agent_source s ON s.agent = id"
	    " LEFT JOIN agent_refused r ON r.agent = id");
	int code = SQLITE_DONE, r = stmt ? 0 : -EIO;

	while (r == 0 && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t number = sqlite3_column_int64(stmt, 0);

		if (number < 0 || number > UINT32_MAX)
			continue;
		r = make_agents(s, (size_t)number + 1);
		if (r == 0)
			reader_set_agent(&s->agents[number], stmt);
	}
	return stmt ? finish_read(s, stmt, code, r) : r;
}

/* Puts the octets of an agent's id. An agent that appeared after agents were loaded is looked up; if
 * that fails, the row and with it the batch fails. */
static void
reader_put_agent(struct row_buffer *b, struct store_reader *s, int64_t number)
{
	static const uint8_t none[8];
	const uint8_t *id = none;

	if (number >= 0 && ((size_t)number >= s->n_agents || !s->agents[number].known) &&
	    store_reader_load_agents(s) < 0)
		b->failed = true;
	if (number >= 0 && (size_t)number < s->n_agents)
		id = s->agents[number].id;
	row_put_fixed(b, id, sizeof(none));
}

/* Parts */

int
store_reader_scan_parts(struct store_reader *s, struct units *units, int64_t *id, uint64_t now_us)
{
	sqlite3_stmt *stmt = prepare_read(s, "SELECT id, level, start_us, shard FROM part WHERE id > ?"
					" ORDER BY id LIMIT ?");
	int code;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, *id);
	sqlite3_bind_int(stmt, 2, PARTS_A_SCAN);
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t level = sqlite3_column_int64(stmt, 1), at = sqlite3_column_int64(stmt, 0);
		uint64_t start_us = (uint64_t)sqlite3_column_int64(stmt, 2);

		if (level <= store_levels[LEVEL_1_MIN].minutes && start_us >= s->from_us &&
		    !units_see(units, start_us, (uint32_t)sqlite3_column_int64(stmt, 3), at, now_us))
			break;
		*id = at;
	}
	return finish_read(s, stmt, code, 0);
}

/* The chains of both levels are distinct because ids of parts are. */
static int
list_unit(struct store_reader *s, const struct unit *unit, unsigned kind, struct part_list *list)
{
	struct place place = {LEVEL_1_MIN, kind, unit->start_us, unit->shard};
	struct part_list fresh = {0};
	int r = parts_list(s->parts, &place, unit->start_us + 1, SIZE_MAX, list);

	place.level = LEVEL_UNSETTLED;
	if (r == 0)
		r = parts_list(s->parts, &place, unit->start_us + 1, SIZE_MAX, &fresh);
	if (r == 0 && fresh.n > 0) {
		struct part_row *rows = realloc(list->rows,
		    (list->n + fresh.n) * sizeof(*rows));

		if (rows) {
			memcpy(rows + list->n, fresh.rows, fresh.n * sizeof(*rows));
			list->rows = rows;
			list->n += fresh.n;
			list->n_chains += fresh.n_chains;
		} else {
			r = -ENOMEM;
		}
	}
	part_list_free(&fresh);
	return r;
}

/* Called for each entry. */
typedef int entry_fn(void *arg, unsigned kind, const struct pack_key *key, const double *values);

static int
walk_kind(struct store_reader *s, const struct unit *unit, unsigned kind, entry_fn *take, void *arg)
{
	struct part_list list;
	struct merge *m = NULL;
	struct pack_key key;
	double values[PACK_COLUMNS];
	int more = 0, r = list_unit(s, unit, kind, &list);

	if (r == 0 && list.n > 0)
		r = merge_open(&m, s->parts, &list);
	while (r == 0 && m && (more = merge_next(m, &key, values)) == 1)
		r = take(arg, kind, &key, values);
	merge_close(m);
	part_list_free(&list);
	r = r == 0 ? more : r;
	return r == -EIO ? fail_reader(s) : r;
}

/* All kinds of sums, in one transaction of the store. */
static int
walk_unit(struct store_reader *s, const struct unit *unit, entry_fn *take, void *arg)
{
	int r = 0;

	end_view(s);
	if (sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return fail_reader(s);
	r = walk_kind(s, unit, STORE_PART_TOTALS, take, arg);
	for (size_t k = 0; r == 0 && k < KEY_N_KINDS; k++)
		r = walk_kind(s, unit, key_layouts[k].kind, take, arg);
	for (size_t k = 0; r == 0 && k < KEY_N_KINDS; k++)
		r = walk_kind(s, unit, STORE_PART_FOLDED + key_layouts[k].kind, take, arg);
	end_view(s);
	return r;
}

/* Uses only integers, so that the order of additions does not matter. */
static void
add_to_fingerprint(uint64_t *h, unsigned kind, const struct pack_key *key, const double *values)
{
	static const unsigned totals[] = {PACK_POOL_PKTS, PACK_POOL_OCTETS, PACK_EXPECTED,
	    PACK_RECEIVED, PACK_CUT_PKTS, PACK_CUT_OCTETS, PACK_CUT_NUMBERS};
	uint64_t words[PACK_KEY_ROOM / 8];

	memcpy(words, key->octets, sizeof(words));
	*h = (*h ^ kind) * 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*h = ((*h ^ words[i]) * 0x9e3779b97f4a7c15u) ^ *h >> 29;
	*h = (*h ^ (uint64_t)(int64_t)values[PACK_N]) * 0xbf58476d1ce4e5b9u;
	for (size_t i = 0; kind == STORE_PART_TOTALS && i < sizeof(totals) / sizeof(*totals); i++)
		*h = (*h ^ (uint64_t)(int64_t)values[totals[i]]) * 0xbf58476d1ce4e5b9u;
	if (kind > STORE_PART_FOLDED)
		*h = (*h ^ (uint64_t)(int64_t)values[PACK_MOST_N]) * 0xbf58476d1ce4e5b9u;
}

static int
look_at_entry(void *arg, unsigned kind, const struct pack_key *key, const double *values)
{
	add_to_fingerprint(arg, kind, key, values);
	return 0;
}

int
store_reader_fingerprint(struct store_reader *s, const struct unit *unit, uint64_t *fingerprint)
{
	*fingerprint = 1;
	return walk_unit(s, unit, look_at_entry, fingerprint);
}

/* Rows of sums */

struct unit_walk {
	struct store_reader *store;
	struct ship_batch *batch;
	const struct unit *unit;
	uint64_t fingerprint;
	size_t entries;
	int64_t agent; /* that the present totals are of, or -1 */
	uint64_t received;
};

static void
put_place(struct row_buffer *b, struct store_reader *s, const struct pack_key *key)
{
	reader_put_agent(b, s, pack_agent(key));
	row_put_int(b, pack_if_index(key), 8);
	row_put_int(b, pack_direction(key), 1);
}

static void
reader_put_common(struct row_buffer *b, const double *values)
{
	row_put_int(b, (uint64_t)values[PACK_N], 8);
	for (int c = PACK_W; c < PACK_COMMON; c++)
		row_put_f64(b, values[c]);
}

/* Each in the order of the columns in schema.c. */
static void
put_port(struct row_buffer *b, const struct unit_walk *w, const struct pack_key *key, const double *values)
{
	row_put_int(b, store_levels[LEVEL_1_MIN].minutes, 2);
	row_put_int(b, w->unit->start_us, 8);
	put_place(b, w->store, key);
	row_put_int(b, (uint64_t)w->batch->collector, 8);
	reader_put_common(b, values);
	for (int c = PACK_POOL_PKTS; c < PACK_TOTALS; c++)
		row_put_f64(b, values[c]);
	row_put_int(b, w->batch->revision, 8);
}

static void
put_key(struct row_buffer *b, const struct unit_walk *w, unsigned kind,
    const struct pack_key *key, const double *values)
{
	const uint8_t *half;
	uint8_t octets;

	row_put_int(b, store_levels[LEVEL_1_MIN].minutes, 2);
	row_put_int(b, kind, 1);
	row_put_int(b, w->unit->start_us, 8);
	put_place(b, w->store, key);
	half = pack_half1(key, &octets);
	row_put_text(b, half, octets);
	half = pack_half2(key, &octets);
	row_put_text(b, half, octets);
	row_put_int(b, (uint64_t)w->batch->collector, 8);
	reader_put_common(b, values);
	for (int c = PACK_SAME_PKTS; c < PACK_PAIR; c++)
		row_put_f64(b, values[c]);
	row_put_int(b, w->batch->revision, 8);
}

static void
put_folded(struct row_buffer *b, const struct unit_walk *w, unsigned kind,
    const struct pack_key *key, const double *values)
{
	row_put_int(b, store_levels[LEVEL_1_MIN].minutes, 2);
	row_put_int(b, kind, 1);
	row_put_int(b, w->unit->start_us, 8);
	put_place(b, w->store, key);
	row_put_int(b, (uint64_t)w->batch->collector, 8);
	row_put_int(b, (uint64_t)values[PACK_N], 8);
	row_put_int(b, (uint64_t)values[PACK_MOST_N], 8);
	row_put_int(b, w->batch->revision, 8);
}

/* Times of a minute's samples and counters: the lowest and highest device time, by agent */

static int
make_minute(struct store_reader *s)
{
	size_t n = s->n_agents;
	uint64_t *low, *high;

	if (n > s->minute.n) {
		low = realloc(s->minute.low_us, n * sizeof(*low));
		if (low)
			s->minute.low_us = low;
		high = realloc(s->minute.high_us, n * sizeof(*high));
		if (high)
			s->minute.high_us = high;
		if (!low || !high)
			return -ENOMEM;
		s->minute.n = n;
	}
	for (size_t i = 0; i < s->minute.n; i++) {
		s->minute.low_us[i] = UINT64_MAX;
		s->minute.high_us[i] = 0;
	}
	return 0;
}

static void
widen_range(struct store_reader *s, sqlite3_stmt *stmt)
{
	int64_t agent = sqlite3_column_int64(stmt, 0);
	uint64_t low = (uint64_t)sqlite3_column_int64(stmt, 1);
	uint64_t high = (uint64_t)sqlite3_column_int64(stmt, 2);

	if (agent < 0 || (size_t)agent >= s->minute.n || sqlite3_column_type(stmt, 1) == SQLITE_NULL)
		return;
	if (low < s->minute.low_us[agent])
		s->minute.low_us[agent] = low;
	if (high > s->minute.high_us[agent])
		s->minute.high_us[agent] = high;
}

static int
widen_by(struct store_reader *s, const char *sql, int64_t start_us, int64_t agent)
{
	sqlite3_stmt *stmt = prepare_read(s, sql);
	int code;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, start_us);
	sqlite3_bind_int64(stmt, 2, start_us + STORE_WINDOW_US);
	sqlite3_bind_int64(stmt, 3, agent);
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
		widen_range(s, stmt);
	return finish_read(s, stmt, code, 0);
}

/* The index by time contains the agents, so no row of sample is read. */
static int
load_minute(struct store_reader *s, uint64_t start_us)
{
	int r = make_minute(s);

	s->minute.start_us = start_us;
	return r < 0 ? r : widen_by(s, "SELECT agent, min(time_us), max(time_us) FROM sample WHERE"
	    " time_us >= ?1 AND time_us < ?2 AND ?3 IS NOT NULL GROUP BY agent",
	    (int64_t)start_us, 0);
}

/* Port by port, because the key of counter begins with them. */
#define PORTS_OF(table, agent)                                                                     \
	"WITH RECURSIVE p(i) AS (SELECT min(if_index) FROM " table " WHERE agent = " agent         \
	" UNION ALL SELECT (SELECT min(if_index) FROM " table " WHERE agent = " agent              \
	" AND if_index > i) FROM p WHERE i IS NOT NULL) "

static int
put_cover(struct unit_walk *w)
{
	struct store_reader *s = w->store;
	struct row_buffer *b = ship_batch_row(w->batch, CLUSTER_COVER);
	uint64_t start_us = w->unit->start_us, low, high;
	int r = widen_by(s, PORTS_OF("counter", "?3") "SELECT ?3, min(time_us), max(time_us) FROM p"
	    " CROSS JOIN counter c WHERE c.agent = ?3 AND c.if_index = p.i AND time_us >= ?1 AND"
	    " time_us < ?2", (int64_t)start_us, w->agent);
	bool told = (size_t)w->agent < s->minute.n && s->minute.high_us[w->agent] > 0;

	if (r < 0)
		return r;
	low = told ? s->minute.low_us[w->agent] : start_us;
	high = told ? s->minute.high_us[w->agent] : start_us + STORE_WINDOW_US - 1;
	row_put_int(b, start_us, 8);
	reader_put_agent(b, s, w->agent);
	row_put_int(b, (uint64_t)w->batch->collector, 8);
	row_put_int(b, w->received, 8);
	row_put_int(b, low, 8);
	row_put_int(b, high, 8);
	row_put_int(b, w->batch->revision, 8);
	return ship_batch_end_row(w->batch, CLUSTER_COVER);
}

/* Totals come first, agent by agent. */
static int
next_agent(struct unit_walk *w, int64_t agent)
{
	int r = 0;

	if (w->agent >= 0 && w->agent != agent)
		r = put_cover(w);
	if (w->agent != agent)
		w->received = 0;
	w->agent = agent;
	return r;
}

static int
send_entry(void *arg, unsigned kind, const struct pack_key *key, const double *values)
{
	struct unit_walk *w = arg;
	enum cluster_table_id table = kind == STORE_PART_TOTALS ? CLUSTER_PORTS
	    : kind > STORE_PART_FOLDED				? CLUSTER_FOLDED
								: CLUSTER_KEYS;
	struct row_buffer *b = ship_batch_row(w->batch, table);
	int r = kind == STORE_PART_TOTALS ? next_agent(w, pack_agent(key)) : next_agent(w, -1);

	if (r < 0)
		return r;
	w->entries++;
	add_to_fingerprint(&w->fingerprint, kind, key, values);
	if (kind == STORE_PART_TOTALS) {
		w->received += (uint64_t)values[PACK_N];
		put_port(b, w, key, values);
	} else if (kind > STORE_PART_FOLDED) {
		put_folded(b, w, kind - STORE_PART_FOLDED, key, values);
	} else {
		put_key(b, w, kind, key, values);
	}
	return ship_batch_end_row(w->batch, table);
}

int
store_reader_send_unit(struct store_reader *s, struct ship_batch *batch, const struct unit *unit,
    uint64_t *fingerprint, size_t *entries)
{
	struct unit_walk w = {.store = s, .batch = batch, .unit = unit, .fingerprint = 1,
	    .agent = -1};
	int r = unit->start_us == s->minute.start_us ? 0 : load_minute(s, unit->start_us);

	if (r == 0)
		r = walk_unit(s, unit, send_entry, &w);
	if (r == 0)
		r = next_agent(&w, -1);
	*fingerprint = w.fingerprint;
	*entries = w.entries;
	return r;
}

/* Rows of tables */

/* How the rows of a range are found. Times are the devices'; a row that arrived after received_us is
 * new, however old its time is. */
static const struct {
	const char *with, *from;
} statements[CLUSTER_N_TABLES] = {
    [CLUSTER_AGENTS] = {"", "FROM (SELECT id AS agent, * FROM agent WHERE id = ?1)"},
    [CLUSTER_PORT_STATES] = {"", "FROM port WHERE agent = ?1 AND since_us > ?2"},
    [CLUSTER_COUNTERS] = {PORTS_OF("counter", "?1"), "FROM p CROSS JOIN counter WHERE agent = ?1"
	" AND if_index = p.i AND time_us > ?2 AND time_us < ?4 AND received_us > ?3"},
    [CLUSTER_RESOURCES] = {PORTS_OF("resource", "?1"), "FROM p CROSS JOIN resource WHERE"
	" agent = ?1 AND if_index = p.i AND time_us > ?2 AND time_us < ?4"},
    [CLUSTER_ERROR_SOURCES] = {"", "FROM error_source WHERE agent = ?1 AND last_us > ?2"},
    [CLUSTER_ODDITIES] = {"", "FROM oddity WHERE agent = ?1 AND last_us > iif(?2 < 0, -1, ?3)"},
    [CLUSTER_LINKS] = {"", "FROM link WHERE agent = ?1 AND seen_us > iif(?2 < 0, -1, ?3)"},
    [CLUSTER_ACCOUNTS] = {"", "FROM account WHERE agent = ?1 AND last_us > ?2"},
    [CLUSTER_GONE] = {"", "FROM gone WHERE agent = ?1"},
    [CLUSTER_GAPS] = {"", "FROM gap WHERE agent = ?1 AND ?2 IS NOT NULL AND received_us > ?3"},
    [CLUSTER_DISCARDS] = {"", "FROM discard WHERE agent = ?1 AND start_us > ?2 - 60000000 AND received_us > ?3"},
    [CLUSTER_STATS] = {"", "FROM stat"},
    [CLUSTER_NAMING] = {"", "FROM naming WHERE version > ?2"},
    [CLUSTER_IDENTITIES] = {"", "FROM (SELECT id AS agent, ifnull(c.offset_us, 0) AS offset_us,"
	" ifnull(c.since_us, 0) AS offset_since_us, ifnull(s.source, '') AS source,"
	" ifnull(s.since_us, 0) AS source_since_us, ifnull(r.records, 0) AS records,"
	" ifnull(r.source, '') AS refused_source, ifnull(r.reason, 0) AS reason,"
	" ifnull(r.first_us, 0) AS first_refused_us, ifnull(r.last_us, 0) AS refused_us,"
	" a.last_received_us AS last_received_us FROM agent a LEFT JOIN agent_clock c ON c.agent = id"
	" LEFT JOIN agent_source s ON s.agent = id LEFT JOIN agent_refused r ON r.agent = id"
	" WHERE id = ?1)"},
};

/* Columns that the store does not have. */
static bool
is_supplied(const char *name)
{
	return strcmp(name, "collector") == 0 || strcmp(name, "revision") == 0 || strcmp(name, "level") == 0;
}

static sqlite3_stmt *
prepare_rows(struct store_reader *s, enum cluster_table_id id, const char *with, const char *from)
{
	const struct cluster_table *table = &cluster_tables[id];
	sqlite3_stmt *stmt = NULL;
	const char *separator = "";
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);

	snprintf(s->error, sizeof(s->error), "out of memory");
	if (!out)
		return NULL;
	fprintf(out, "%sSELECT ", with);
	for (size_t i = 0; i < cluster_n_columns(table); i++) {
		const char *name = cluster_column(table, i).name;

		if (is_supplied(name))
			continue;
		fprintf(out, "%s%s", separator, name);
		separator = ", ";
	}
	fprintf(out, " %s", from);
	if (fclose(out) == 0)
		stmt = prepare_read(s, sql);
	free(sql);
	return stmt;
}

static void
reader_put_text(struct row_buffer *b, sqlite3_stmt *stmt, int column)
{
	const void *octets = sqlite3_column_blob(stmt, column);

	row_put_text(b, octets, (size_t)sqlite3_column_bytes(stmt, column));
}

static void
put_column(struct store_reader *s, struct row_buffer *b, enum cluster_type type, sqlite3_stmt *stmt, int column)
{
	bool null = sqlite3_column_type(stmt, column) == SQLITE_NULL;

	switch (type) {
	case CLUSTER_AGENT_ID:
		reader_put_agent(b, s, sqlite3_column_int64(stmt, column));
		return;
	case CLUSTER_I64_OR_NULL:
		row_put_null(b, null);
		if (!null)
			row_put_int(b, (uint64_t)sqlite3_column_int64(stmt, column), 8);
		return;
	case CLUSTER_TEXT_OR_NULL:
		row_put_null(b, null);
		if (!null)
			reader_put_text(b, stmt, column);
		return;
	case CLUSTER_TEXT:
		reader_put_text(b, stmt, column);
		return;
	default: /* Int64: all other numbers of the store */
		row_put_int(b, (uint64_t)sqlite3_column_int64(stmt, column), 8);
		return;
	}
}

static int
send_row(struct store_reader *s, struct ship_batch *batch, enum cluster_table_id id, sqlite3_stmt *stmt)
{
	const struct cluster_table *table = &cluster_tables[id];
	struct row_buffer *b = ship_batch_row(batch, id);
	int column = 0;

	for (size_t i = 0; i < cluster_n_columns(table); i++) {
		const struct cluster_column c = cluster_column(table, i);

		if (strcmp(c.name, "collector") == 0)
			row_put_int(b, (uint64_t)batch->collector, 8);
		else if (strcmp(c.name, "revision") == 0)
			row_put_int(b, batch->revision, 8);
		else if (strcmp(c.name, "level") == 0)
			row_put_int(b, store_levels[LEVEL_1_MIN].minutes, 2);
		else
			put_column(s, b, c.type, stmt, column++);
	}
	return ship_batch_end_row(batch, id);
}

int
store_reader_send_rows(struct store_reader *s, struct ship_batch *batch, enum cluster_table_id table,
    const struct store_reader_range *range)
{
	const int64_t values[] = {range->agent, range->from_us, range->received_us, range->to_us};
	sqlite3_stmt *stmt = prepare_rows(s, table, statements[table].with,
	    statements[table].from);
	int code = SQLITE_DONE, r = stmt ? 0 : -EIO;

	for (int i = 0; stmt && i < sqlite3_bind_parameter_count(stmt); i++)
		sqlite3_bind_int64(stmt, i + 1, values[i]);
	while (r == 0 && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		r = send_row(s, batch, table, stmt);
	return stmt ? finish_read(s, stmt, code, r) : r;
}

int
store_reader_send_by_id(struct store_reader *s, struct ship_batch *batch, enum cluster_table_id table,
    int64_t *id, int most, int *n)
{
	char from[128];
	sqlite3_stmt *stmt;
	int code = SQLITE_DONE, r;

	*n = 0;
	snprintf(from, sizeof(from), ", id FROM %s WHERE id > ? ORDER BY id LIMIT ?", cluster_tables[table].name);
	stmt = prepare_rows(s, table, "", from);
	r = stmt ? 0 : -EIO;
	if (stmt) {
		sqlite3_bind_int64(stmt, 1, *id);
		sqlite3_bind_int(stmt, 2, most);
	}
	while (r == 0 && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		r = send_row(s, batch, table, stmt);
		*id = sqlite3_column_int64(stmt, sqlite3_column_count(stmt) - 1);
		++*n;
	}
	return stmt ? finish_read(s, stmt, code, r) : r;
}

/* Samples */

static int
compare_shards(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Units are sorted, and so are the shards of a minute. */
static uint32_t *
shards_of(const struct units *units, uint64_t start_us, size_t *n)
{
	uint32_t *shards = malloc((units->n + 1) * sizeof(*shards));

	*n = 0;
	for (size_t i = 0; shards && i < units->n; i++)
		if (units->items[i].sent && units->items[i].start_us == start_us)
			shards[(*n)++] = units->items[i].shard;
	return shards;
}

int
store_reader_send_samples(struct store_reader *s, struct ship_batch *batch, const struct units *units,
    uint64_t start_us)
{
	size_t n;
	uint32_t *shards = shards_of(units, start_us, &n);
	sqlite3_stmt *stmt = shards && n > 0 ? prepare_rows(s, CLUSTER_SAMPLES, "",
	    "FROM sample WHERE time_us >= ? AND time_us < ?") : NULL;
	int code = SQLITE_DONE, r = !shards ? -ENOMEM : stmt || n == 0 ? 0 : -EIO;

	if (stmt) {
		sqlite3_bind_int64(stmt, 1, (sqlite3_int64)start_us);
		sqlite3_bind_int64(stmt, 2, (sqlite3_int64)start_us + STORE_WINDOW_US);
	}
	while (r == 0 && stmt && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		uint32_t shard = store_shard(sqlite3_column_int64(stmt, 0));

		if (bsearch(&shard, shards, n, sizeof(*shards), compare_shards))
			r = send_row(s, batch, CLUSTER_SAMPLES, stmt);
	}
	free(shards);
	return stmt ? finish_read(s, stmt, code, r) : r;
}
