#include "tests/collector/report/report_store.h"

#include "collector/store/naming.h"
#include "collector/store/parts.h"
#include "collector/store/schema.h"
#include "collector/store/unsettled.h"
#include "tests/collector/answers.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sums as rows, which SQL easily writes: a row for each window and key. Reports read what report_store_renew makes
 * of them. */
#define SUMS "n, w, w2, wb, wb2, w2b2"
#define NO_PAIRS(name) name "_pkts NOT NULL DEFAULT 0, " name "_octets NOT NULL DEFAULT 0"

static const char sum_tables[] =
    "CREATE TABLE window(start_us, agent, if_index, direction, pool_pkts, pool_octets, " SUMS ", " NO_PAIRS("any") ","
    " PRIMARY KEY(start_us, agent, if_index, direction));"
    "CREATE TABLE window_key(kind, start_us, agent, if_index, direction, key1, key2, " SUMS ", " NO_PAIRS("any") ", "
    NO_PAIRS("same") ", " NO_PAIRS("same1") ", " NO_PAIRS("same2") ","
    " PRIMARY KEY(kind, start_us, agent, if_index, direction, key1, key2));"
    "CREATE TABLE window_port(start_us, agent, if_index, expected, received, PRIMARY KEY(start_us, agent, if_index));"
    "CREATE TABLE window_folded(kind, start_us, agent, if_index, direction, n, most_n,"
    " PRIMARY KEY(kind, start_us, agent, if_index, direction))";

void
report_store_sql_text(struct report_store *store, const char *sql)
{
	char *message = NULL;

	ck_assert_msg(sqlite3_exec(store->db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s",
	    sql,
	    message);
}

void
report_store_make(struct report_store *store)
{
	int fd;

	store->naming = NULL;
	strcpy(store->path, "/tmp/report.XXXXXX");
	fd = mkstemp(store->path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(sqlite3_open(store->path, &store->db), SQLITE_OK);
	report_store_sql_text(store, "PRAGMA synchronous = OFF"); /* nothing here has to survive the machine */
	snprintf(store->newest, sizeof(store->newest), "%s.new", store->path);
	ck_assert_int_eq(store_make_tables(store->db), 0);
	report_store_sql(store, "PRAGMA user_version = %d", STORE_VERSION);
	report_store_sql_text(store, sum_tables);
}

static void
remove_newest(const struct report_store *store)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s%s", store->newest, suffixes[i]);
		unlink(path);
	}
}

void
report_store_remove(struct report_store *store)
{
	sqlite3_close(store->db);
	unlink(store->path);
	remove_newest(store);
}

/* Sums */

static struct store_sums
sums_at(sqlite3_stmt *s, int column)
{
	return (struct store_sums){(uint64_t)sqlite3_column_int64(s, column), sqlite3_column_double(s, column + 1),
	    sqlite3_column_double(s, column + 2), sqlite3_column_double(s, column + 3),
	    sqlite3_column_double(s, column + 4), sqlite3_column_double(s, column + 5)};
}

static struct store_pairs
pairs_at(sqlite3_stmt *s, int column)
{
	return (struct store_pairs){sqlite3_column_double(s, column), sqlite3_column_double(s, column + 1)};
}

static uint8_t
half_at(sqlite3_stmt *s, int column, uint8_t *half)
{
	int n = sqlite3_column_bytes(s, column);

	ck_assert_int_le(n, STORE_KEY_HALF);
	if (n > 0)
		memcpy(half, sqlite3_column_blob(s, column), (size_t)n);
	return (uint8_t)n;
}

#define PLACE(s, at)                                                                               \
	.start_us = (uint64_t)sqlite3_column_int64(s, at), .agent = sqlite3_column_int64(s, (at) + 1), \
	.if_index = (uint32_t)sqlite3_column_int64(s, (at) + 2)

static void
fill_window(sqlite3_stmt *s, void *row)
{
	*(struct store_window *)row = (struct store_window){PLACE(s, 0), .direction = (uint8_t)sqlite3_column_int(s, 3),
	    .pool_pkts = sqlite3_column_int64(s, 4), .pool_octets = sqlite3_column_int64(s, 5), .sums = sums_at(s, 6),
	    .any = pairs_at(s, 12)};
}

static void
fill_key(sqlite3_stmt *s, void *row)
{
	struct store_key *k = row;

	*k = (struct store_key){.kind = (uint8_t)sqlite3_column_int(s, 0), PLACE(s, 1),
	    .direction = (uint8_t)sqlite3_column_int(s, 4), .sums = sums_at(s, 7), .any = pairs_at(s, 13),
	    .same = pairs_at(s, 15), .same1 = pairs_at(s, 17), .same2 = pairs_at(s, 19)};
	k->key1_octets = half_at(s, 5, k->key1);
	k->key2_octets = half_at(s, 6, k->key2);
}

static void
fill_window_port(sqlite3_stmt *s, void *row)
{
	*(struct store_window_port *)row = (struct store_window_port){PLACE(s, 0),
	    .expected = sqlite3_column_int64(s, 3), .received = sqlite3_column_int64(s, 4)};
}

static void
fill_folded(sqlite3_stmt *s, void *row)
{
	*(struct store_folded *)row = (struct store_folded){.kind = (uint8_t)sqlite3_column_int(s, 0), PLACE(s, 1),
	    .direction = (uint8_t)sqlite3_column_int(s, 4), .n = (uint64_t)sqlite3_column_int64(s, 5),
	    .most_n = (uint64_t)sqlite3_column_int64(s, 6)};
}

static const struct {
	enum store_table table;
	const char *sql;
	void (*fill)(sqlite3_stmt *s, void *row);
} filled[] = {
    {STORE_WINDOWS, "SELECT * FROM window", fill_window},
    {STORE_KEYS, "SELECT * FROM window_key", fill_key},
    {STORE_WINDOW_PORTS, "SELECT * FROM window_port", fill_window_port},
    {STORE_FOLDED, "SELECT * FROM window_folded", fill_folded},
};

enum { N_FILLED = sizeof(filled) / sizeof(filled[0]) };

/* Gives the rows of a table to the batch; without one it counts them. */
static uint32_t
take_sums(sqlite3 *db, int i, struct store_batch *batch)
{
	sqlite3_stmt *s = NULL;
	uint32_t n = 0;

	ck_assert_int_eq(sqlite3_prepare_v2(db, filled[i].sql, -1, &s, NULL), SQLITE_OK);
	for (; sqlite3_step(s) == SQLITE_ROW; n++)
		if (batch)
			filled[i].fill(s, store_batch_add(batch, filled[i].table));
	sqlite3_finalize(s);
	return n;
}

/* As the writing thread does, without its upkeep: nothing is settled. */
static void
write_sums(sqlite3 *db)
{
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_batch batch;
	struct unsettled *unsettled;
	struct parts *parts;

	for (int i = 0; i < N_FILLED; i++)
		room[filled[i].table].free = take_sums(db, i, NULL);
	ck_assert_int_eq(store_batch_init(&batch, room), 0);
	for (int i = 0; i < N_FILLED; i++)
		take_sums(db, i, &batch);
	ck_assert_int_eq(parts_open(&parts, db), 0);
	ck_assert_int_eq(unsettled_new(&unsettled, room), 0);
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(unsettled_write(unsettled, parts, &batch), 0);
	ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM flush; DROP TABLE window; DROP TABLE window_key;"
	    " DROP TABLE window_port; DROP TABLE window_folded; COMMIT", NULL, NULL, NULL), SQLITE_OK);
	unsettled_free(unsettled);
	parts_close(parts);
	store_batch_free(&batch);
}

/* What store/places.h keeps: of the last hour, by place; of other columns than an only min() or max() SQLite gives
 * those of its row. */
#define SIGHTINGS                                                                                                      \
	" FROM (SELECT 1 AS layer, src_mac AS address, agent, if_index, vlan, time_us FROM sample WHERE direction = 1" \
	" UNION ALL SELECT 2, src_ip, agent, if_index, vlan, time_us FROM sample WHERE direction = 1"                  \
	" UNION ALL SELECT 3, inner_src_ip, agent, if_index, vlan, time_us FROM sample WHERE direction = 1"            \
	" UNION ALL SELECT 1, mac, agent, if_index, nullif(vlan, 0), time_us FROM event WHERE kind = 4)"               \
	" WHERE address IS NOT NULL AND time_us > (SELECT max(last_us) FROM agent) - 3600000000 GROUP BY 1, 2, 3, 4"

static const char places[] =
    "INSERT INTO place SELECT layer, address, agent, if_index, vlan, 0, max(time_us), count(*)" SIGHTINGS ";"
    "INSERT INTO place SELECT layer, address, agent, if_index, NULL, min(time_us), 0, 0" SIGHTINGS
    " ON CONFLICT DO UPDATE SET first_us = excluded.first_us";

void
report_store_renew(struct report_store *store)
{
	sqlite3 *db;

	if (!store->db) { /* the file is as somebody else left it */
		strcpy(store->newest, store->path);
		return;
	}
	remove_newest(store);
	report_store_sql(store, "VACUUM INTO '%s'", store->newest);
	ck_assert_int_eq(sqlite3_open(store->newest, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
	write_sums(db);
	ck_assert_int_eq(sqlite3_exec(db, places, NULL, NULL, NULL), SQLITE_OK);
	if (store->naming)
		ck_assert_int_eq(naming_write(db, store->naming), 0);
	sqlite3_close(db);
}

void
report_store_sql(struct report_store *store, const char *format, ...)
{
	char sql[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(sql, sizeof(sql), format, args);
	va_end(args);
	report_store_sql_text(store, sql);
}

void
report_store_agent(struct report_store *store, int agent, int last_s)
{
	unsigned long long last_us = REPORT_STORE_T0 + (unsigned long long)last_s * SECOND;

	report_store_sql(store,
	    "INSERT INTO agent(id, agent_id, boot, address, first_us, last_us, last_received_us)"
	    " VALUES(%d, x'0%d02030405060708', 1, '192.0.2.%d',"
	    " %llu, %llu, %llu)", agent, agent, agent, REPORT_STORE_T0, last_us, last_us);
}

void
report_store_port(struct report_store *store, int agent, int if_index, const char *name, int edge)
{
	report_store_sql(store,
	    "INSERT INTO port VALUES(%d, %d, %llu, 1, '%s', '', 1000000000, 3, 1,"
	    " 1, 0, %d)", agent, if_index, REPORT_STORE_T0, name, edge);
}

static unsigned long long
start_of(int minute)
{
	return REPORT_STORE_T0 + (unsigned long long)minute * MINUTE;
}

void
report_store_window(struct report_store *store, int minute, int agent, int if_index, int pkts,
    int octets)
{
	report_store_sql(store,
	    "INSERT INTO window VALUES(%llu, %d, %d, 1, %d, %d, 0, 0, 0, 0, 0, 0, 0, 0)",
	    start_of(minute), agent, if_index, pkts, octets);
	report_store_sql(store, "INSERT INTO window_port VALUES(%llu, %d, %d, 0, 0)",
	    start_of(minute),
	    agent, if_index);
}

void
report_store_samples(struct report_store *store, int minute, int agent, int if_index, int n,
    int w, int b, int kind, const char *key1, const char *key2)
{
	double sums[] = {n, (double)n * w, (double)n * w * w, (double)n * w * b,
	    (double)n * w * b * b, (double)n * w * w * b * b};

	report_store_sql(store, "INSERT INTO window_key VALUES(%d, %llu, %d, %d, 1, x'%s', x'%s',"
	    " %.0f, %.0f, %.0f, %.0f, %.0f, %.0f, 0, 0, 0, 0, 0, 0, 0, 0)", kind, start_of(minute), agent, if_index, key1,
	    key2, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]);
	if (kind == STORE_KEY_IP_PAIR)
		return; /* the same samples as those of the MAC pair */
	report_store_sql(store, "UPDATE window SET n = n + %.0f, w = w + %.0f, w2 = w2 + %.0f,"
	    " wb = wb + %.0f, wb2 = wb2 + %.0f, w2b2 = w2b2 + %.0f WHERE start_us = %llu AND"
	    " agent = %d AND if_index = %d AND direction = 1", sums[0], sums[1], sums[2], sums[3],
	    sums[4], sums[5], start_of(minute), agent, if_index);
	ck_assert_msg(sqlite3_changes(store->db) == 1, "report_store_window() has made no window of minute %d at port %d of agent %d",
	    minute, if_index, agent);
	report_store_sql(store,
	    "UPDATE window_port SET expected = expected + %d, received = received"
	    " + %d WHERE start_us = %llu AND agent = %d AND if_index = %d", n, n, start_of(minute),
	    agent, if_index);
}

const struct filter *
report_store_filter(const char *text)
{
	static struct filter filter;
	char error[FILTER_ERROR_TEXT];

	filter = (struct filter){0};
	ck_assert_msg(filter_add(&filter, text, error) == 0, "%s: %s", text, error);
	return &filter;
}

struct report_options
report_store_options(void)
{
	struct report_options options = report_default_options();

	options.layer = REPORT_LAYER_ETH;
	options.by = REPORT_BY_PAIR;
	options.all = true;
	return options;
}

char *
report_store_render(struct report_store *store, const char *report,
    const struct report_options *options, render_fn *render, int now_s)
{
	report_store_renew(store);
	return answer_rendered(store->newest, report, options, REPORT_STORE_T0 + (uint64_t)now_s * SECOND, render);
}

json_t *
report_store_json(struct report_store *store, const char *report,
    const struct report_options *options)
{
	report_store_renew(store);
	return answer_json(store->newest, report, options, REPORT_STORE_T0);
}

const json_t *
report_json_at(const json_t *object, const char *path)
{
	char copy[128], *rest = copy, *step;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((step = strsep(&rest, ".")) != NULL) {
		object = json_is_array(object)
		    ? json_array_get(object, strtoul(step, NULL, 10)) : json_object_get(object,
		    step);
		ck_assert_msg(object != NULL, "no %s of %s", step, path);
	}
	return object;
}

double
report_json_number(const json_t *object, const char *path)
{
	const json_t *number = report_json_at(object, path);

	ck_assert_msg(json_is_number(number), "%s is no number", path);
	return json_number_value(number);
}

const char *
report_json_text(const json_t *object, const char *path)
{
	const json_t *text = report_json_at(object, path);

	ck_assert_msg(json_is_string(text), "%s is no text", path);
	return json_string_value(text);
}
