/*
 * Precision: of each port that a goal asks for, what it wants, what was reached at the end of the latest period, which
 * skips are configured, requested and in force, and why it is not as wanted. What the collector itself has written
 * (collector/precision_service.h); a cluster does not have it.
 */
#include "collector/query/query_private.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"

#include <errno.h>
#include <stdio.h>

enum {
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_GOAL,
	COLUMN_WANTED,
	COLUMN_HAD,
	COLUMN_WIDTH_WANTED,
	COLUMN_WIDTH_REACHED,
	COLUMN_CONFIGURED,
	COLUMN_REQUESTED,
	COLUMN_IN_FORCE,
	COLUMN_DECIDED,
	COLUMN_REASON,
	N_COLUMNS,
};

static const struct report_column precision_columns[N_COLUMNS] = {
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_GOAL] = {"goal", "GOAL", REPORT_TEXT},
	[COLUMN_WANTED] = {"samples_wanted_per_s", "SAMPLES/s wanted", REPORT_COUNT},
	[COLUMN_HAD] = {"samples_had_per_s", "had", REPORT_COUNT},
	[COLUMN_WIDTH_WANTED] = {"width_wanted", "WITHIN% wanted", REPORT_PERCENT},
	[COLUMN_WIDTH_REACHED] = {"width_reached", "reached", REPORT_PERCENT},
	[COLUMN_CONFIGURED] = {"skip_configured", "SKIP configured", REPORT_COUNT},
	[COLUMN_REQUESTED] = {"skip_requested", "requested", REPORT_COUNT},
	[COLUMN_IN_FORCE] = {"skip_in_force", "in force", REPORT_COUNT},
	[COLUMN_DECIDED] = {"decided", NULL, REPORT_TIME},
	[COLUMN_REASON] = {"reason", "", REPORT_TEXT},
};

/* A goal of an hour is judged as seldom; what is older than two is of a collector that has stopped. */
#define OLDEST_US (2 * 3600 * UINT64_C(1000000))

enum { SQL_AGENT, SQL_IF_INDEX, SQL_GOAL, SQL_WANTED, SQL_HAD, SQL_WIDTH_WANTED, SQL_WIDTH_REACHED, SQL_N_ROWS, SQL_CONFIGURED,
	SQL_REQUESTED, SQL_IN_FORCE, SQL_DECIDED, SQL_REASON };

static struct report_value
number_or_none(sqlite3_stmt *stmt, int column)
{
	int64_t number = sqlite3_column_int64(stmt, column);

	return number > 0 ? cell_number((double)number) : (struct report_value){.known = false};
}

static int
add_precision_row(const struct query *query, struct report_result *result, sqlite3_stmt *stmt)
{
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, SQL_AGENT),
	    query_u64(stmt, SQL_IF_INDEX));
	const double parts_to_percent = 0.01;
	struct report_value *row;

	if (!port || !port->chosen)
		return 0;
	row = result_add_row(result);
	if (!row)
		return -ENOMEM;
	row[COLUMN_SITE] = cell_site(port->site);
	row[COLUMN_AGENT] = cell_text(port->agent->name);
	row[COLUMN_PORT] = cell_text(port->name);
	row[COLUMN_GOAL] = cell_text((const char *)sqlite3_column_text(stmt, SQL_GOAL));
	row[COLUMN_WANTED] = cell_number(sqlite3_column_double(stmt, SQL_WANTED));
	row[COLUMN_HAD] = cell_number(sqlite3_column_double(stmt, SQL_HAD));
	row[COLUMN_WIDTH_WANTED] = cell_number(sqlite3_column_double(stmt, SQL_WIDTH_WANTED) * parts_to_percent);
	if (sqlite3_column_int64(stmt, SQL_N_ROWS) > 0)
		row[COLUMN_WIDTH_REACHED] = cell_number(sqlite3_column_double(stmt, SQL_WIDTH_REACHED) * parts_to_percent);
	row[COLUMN_CONFIGURED] = number_or_none(stmt, SQL_CONFIGURED);
	row[COLUMN_REQUESTED] = number_or_none(stmt, SQL_REQUESTED);
	row[COLUMN_IN_FORCE] = number_or_none(stmt, SQL_IN_FORCE);
	row[COLUMN_DECIDED] = cell_time(query_u64(stmt, SQL_DECIDED));
	row[COLUMN_REASON] = cell_text((const char *)sqlite3_column_text(stmt, SQL_REASON));
	return 0;
}

static int
read_precision(struct query *query, uint64_t now_us, struct report_result *result)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT agent, if_index, goal, wanted_per_s, had_per_s, width_wanted, width_reached, n_rows, configured_skip,"
	    " requested_skip, skip_in_force, decided_us, reason FROM precision WHERE goal <> '' AND decided_us > ?1"
	    " ORDER BY agent, if_index");
	int more = 1, err = 0;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)(now_us > OLDEST_US ? now_us - OLDEST_US : 0));
	while (err == 0 && (more = query_step(query, stmt)) == 1)
		err = add_precision_row(query, result, stmt);
	sqlite3_finalize(stmt);
	return err < 0 ? err : more < 0 ? more : 0;
}

int
report_precision(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err == 0)
		err = query_windows(query);
	if (err)
		return err;
	result_begin(result, "precision", precision_columns, N_COLUMNS, query);
	for (size_t i = 0; i < query->n_ports; i++)
		if (port_is_counted(options, &query->ports[i]))
			result_count_port(result, &query->ports[i]);
	if (!query->store->is_shared)
		err = read_precision(query, now_us, result);
	if (err == 0 && result->n_rows == 0)
		note_of(result, NOTE_ID_NO_GOALS);
	result_hide_agent(result, query, COLUMN_AGENT);
	result_finish(result, query);
	return err;
}
