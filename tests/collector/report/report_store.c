#include "tests/collector/report/report_store.h"

#include "collector/store/naming.h"
#include "collector/store/store.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last version with a row for each window and key, which is easily written by SQL. */
enum { WITH_ROWS = 8 };

void
report_store_sql_text(struct report_store *store, const char *sql)
{
	char *message = NULL;

	ck_assert_msg(sqlite3_exec(store->db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s",
	    sql,
	    message);
}

void
report_store_open_empty(struct report_store *store)
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
}

void
report_store_make(struct report_store *store)
{
	report_store_open_empty(store);
	for (int i = 0; i < WITH_ROWS; i++)
		report_store_sql_text(store, store_schema[i]);
	report_store_sql(store, "PRAGMA user_version = %d", WITH_ROWS);
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

void
report_store_renew(struct report_store *store)
{
	char error[256] = "";
	struct store *newest;

	if (!store->db) { /* the file is as somebody else left it */
		strcpy(store->newest, store->path);
		return;
	}
	remove_newest(store);
	report_store_sql(store, "VACUUM INTO '%s'", store->newest);
	ck_assert_msg(store_open(&newest, store->newest, NULL, error,
	    sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(store_close(newest), 0);
	if (store->naming) {
		sqlite3 *db;

		ck_assert_int_eq(sqlite3_open(store->newest, &db), SQLITE_OK);
		ck_assert_int_eq(naming_write(db, store->naming), 0);
		sqlite3_close(db);
	}
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

static void
run_report(struct report_store *store, const char *name, const struct report_options *options,
    uint64_t now_us, struct report_result *result, struct query **query)
{
	char error[QUERY_ERROR_TEXT] = "";

	report_store_renew(store);
	ck_assert_msg(query_open(store->newest, query, error, sizeof(error)) == 0, "%s", error);
	ck_assert_ptr_nonnull(report_find(name));
	ck_assert_msg(report_find(name)->run(*query, options, now_us, result) == 0, "%s",
	    (*query)->error);
}

char *
report_store_render(struct report_store *store, const char *report,
    const struct report_options *options, render_fn *render, int now_s)
{
	struct render_options render_options = {true, REPORT_STORE_T0 + (uint64_t)now_s * SECOND};
	struct report_result result = {0};
	struct query *query;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	run_report(store, report, options, render_options.now_us, &result, &query);
	ck_assert_int_eq(render(out, &result, &render_options), 0);
	fclose(out);
	report_result_free(&result);
	query_close(query);
	return text;
}

json_t *
report_store_json(struct report_store *store, const char *report,
    const struct report_options *options)
{
	char *text = report_store_render(store, report, options, render_json, 0);
	json_error_t error;
	json_t *object = json_loads(text, 0, &error);

	ck_assert_msg(object != NULL, "%s in %s", error.text, text);
	free(text);
	return object;
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
