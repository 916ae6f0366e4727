/*
 * Events: what happened in the range, newest first: events that switches reported (addresses,
 * links, alarms), who sent bad frames, which agents started, and the collector's outages. Lost samples are
 * no event, because nothing says when each was lost: the header has their sum, and `loss` where.
 */
#include "collector/record.h"
#include "collector/report/event_names.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/source_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COLUMN_TIME,
	COLUMN_EVENT,
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_ADDRESS,
	COLUMN_VLAN,
	COLUMN_FROM_AGENT,
	COLUMN_FROM_PORT,
	COLUMN_COUNT,
	COLUMN_TEXT,
	N_COLUMNS,
};

static const struct report_column event_columns[N_COLUMNS] = {
	[COLUMN_TIME] = {"time", "TIME", REPORT_TIME},
	[COLUMN_EVENT] = {"event", "EVENT", REPORT_TEXT},
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_ADDRESS] = {"address", "ADDRESS", REPORT_TEXT},
	[COLUMN_VLAN] = {"vlan", "VLAN", REPORT_ID},
	[COLUMN_FROM_AGENT] = {"from_agent", NULL, REPORT_TEXT},
	[COLUMN_FROM_PORT] = {"from_port", "FROM", REPORT_TEXT},
	[COLUMN_COUNT] = {"count", "COUNT", REPORT_COUNT},
	[COLUMN_TEXT] = {"text", "", REPORT_TEXT},
};

/* Columns of each of the statements below, which return the newest first. */
enum {
	SQL_TIME,
	SQL_AGENT,
	SQL_IF_INDEX,
	SQL_MAC,
	SQL_VLAN,
	SQL_COUNT, /* NULL: no count */
	SQL_KIND,
	SQL_FROM_AGENT,
	SQL_FROM_IF_INDEX,
	SQL_TEXT,
};

/* An address that was new before, in the range or within a day before it, has moved. */
#define MOVE_MEMORY_US 86400000000

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

static void
name_reported(const struct query *query, sqlite3_stmt *stmt, struct report_value *row)
{
	const struct query_port *before = query_find_port(query,
	    sqlite3_column_int64(stmt, SQL_FROM_AGENT),
	    (uint64_t)sqlite3_column_int64(stmt, SQL_FROM_IF_INDEX));
	bool moved = before && (before->agent->id != sqlite3_column_int64(stmt, SQL_AGENT) ||
	    before->if_index != (uint64_t)sqlite3_column_int64(stmt, SQL_IF_INDEX));

	row[COLUMN_EVENT] = cell_text(moved ? "address moved"
	    : event_name(sqlite3_column_int(stmt, SQL_KIND)));
	if (moved) {
		row[COLUMN_FROM_AGENT] = cell_text(before->agent->name);
		row[COLUMN_FROM_PORT] = cell_text(before->name);
	}
	if (sqlite3_column_type(stmt, SQL_TEXT) == SQLITE_TEXT)
		row[COLUMN_TEXT] = cell_text((const char *)sqlite3_column_text(stmt, SQL_TEXT));
}

static void
name_bad_frames(const struct query *query, sqlite3_stmt *stmt, struct report_value *row)
{
	(void)query;
	row[COLUMN_EVENT] = cell_text(event_name(EASE_NOTIFY_ERROR_SOURCE));
	row[COLUMN_TEXT] = cell_text(sqlite3_column_int(stmt, SQL_KIND) == EASE_ERROR_FCS ? "FCS" : "too long");
}

static void
name_start(const struct query *query, sqlite3_stmt *stmt, struct report_value *row)
{
	const struct query_agent *agent =
	    query_find_agent(query, sqlite3_column_int64(stmt, SQL_AGENT));
	bool is_first = agent && row[COLUMN_TIME].time_us <= agent->first_us;
	char text[32];

	snprintf(text, sizeof(text), "boot %lld", (long long)sqlite3_column_int64(stmt, SQL_KIND));
	/* it may have run for long before */
	row[COLUMN_EVENT] = cell_text(is_first ? "agent first heard" : "agent started");
	row[COLUMN_TEXT] = cell_text(text);
}

static const struct source {
	const char *sql;
	void (*name)(const struct query *query, sqlite3_stmt *stmt, struct report_value *row);
} sources[] = {
	{"SELECT time_us, agent, if_index, mac, vlan, NULL, kind, was_agent, was_if, text FROM"
	 " (SELECT time_us, agent, if_index, mac, NULLIF(vlan, 0) AS vlan, kind, text,"
	 "  CASE WHEN mac IS NOT NULL THEN LAG(agent) OVER w END AS was_agent,"
	 "  CASE WHEN mac IS NOT NULL THEN LAG(if_index) OVER w END AS was_if FROM event"
	 "  WHERE time_us >= :from - " TEXT_OF(MOVE_MEMORY_US) " AND time_us < :to"
	 "  WINDOW w AS (PARTITION BY kind, mac ORDER BY time_us, id))"
	 " WHERE time_us >= :from ORDER BY time_us DESC", name_reported},
	/* of a source that was seen again after the range, its first frame is all that is known to be of it */
	{"SELECT iif(last_us < :to, last_us, first_us) AS at, agent, if_index, mac, NULL,"
	 " iif(last_us < :to, frames, NULL), kind FROM error_source"
	 " WHERE at >= :from AND at < :to ORDER BY at DESC", name_bad_frames},
	{"SELECT MIN(first_us) AS first, agent, 0, NULL, NULL, NULL, boot FROM account"
	 " GROUP BY agent, boot HAVING first >= :from AND first < :to ORDER BY first DESC",
	    name_start},
};

/* 1 if the event was asked for and is added, where there are not n_rows yet, or counted; 0 if not; or -ENOMEM. */
static int
events_add_event(const struct query *query, const struct source *source, sqlite3_stmt *stmt, size_t n_rows,
    struct report_result *result, size_t *n_left_out)
{
	const struct query_agent *agent = query_find_agent(query,
	    sqlite3_column_int64(stmt, SQL_AGENT));
	uint64_t if_index = (uint64_t)sqlite3_column_int64(stmt, SQL_IF_INDEX);
	const struct query_port *port =
	    query_find_port(query, sqlite3_column_int64(stmt, SQL_AGENT), if_index);
	struct report_value *row;
	char mac[FRAME_MAC_TEXT], number[SOURCE_PORT_NAME];

	if (!agent || !agent->chosen || (port ? !port->chosen : query->filter && query->filter->fields & FILTER_BIT(FILTER_IF)))
		return 0;
	if (result->n_rows >= n_rows) {
		++*n_left_out;
		return 1;
	}
	row = result_add_row(result);
	if (!row)
		return -ENOMEM;
	row[COLUMN_TIME] = cell_time((uint64_t)sqlite3_column_int64(stmt, SQL_TIME));
	row[COLUMN_SITE] = cell_site(port ? port->site : agent->site);
	row[COLUMN_AGENT] = cell_text(agent->name);
	if (port)
		row[COLUMN_PORT] = cell_text(port->name);
	else if (if_index > 0) { /* neither a sample nor counters came of it */
		source_port_name(if_index, number, sizeof(number));
		row[COLUMN_PORT] = cell_text(number);
	}
	if (sqlite3_column_bytes(stmt, SQL_MAC) == FRAME_MAC_LEN) {
		frame_format_mac(sqlite3_column_blob(stmt, SQL_MAC), mac);
		row[COLUMN_ADDRESS] = cell_text(mac);
	}
	if (sqlite3_column_type(stmt, SQL_VLAN) != SQLITE_NULL)
		row[COLUMN_VLAN] = cell_number(sqlite3_column_double(stmt, SQL_VLAN));
	if (sqlite3_column_type(stmt, SQL_COUNT) != SQLITE_NULL)
		row[COLUMN_COUNT] = cell_number(sqlite3_column_double(stmt, SQL_COUNT));
	source->name(query, stmt, row);
	return 1;
}

/* Of one source as many of the newest as rows are wanted of all sources. Further ones are counted. */
static int
events_add_source(struct query *query, const struct report_options *options, const struct source *source,
    struct report_result *result, size_t *n_left_out)
{
	const struct query_range *range = &query->range;
	sqlite3_stmt *stmt;
	size_t n_rows = result->n_rows + options->top;
	int err, more;

	query_set_fetch_range(query, QUERY_ALL_ROWS,
	    range->from_us > MOVE_MEMORY_US ? range->from_us - MOVE_MEMORY_US : 0, range->to_us);
	stmt = query_prepare(query, source->sql);
	err = stmt ? 0 : -EIO;
	while (err >= 0 && (more = query_step(query, stmt)) != 0)
		err = more < 0 ? more : events_add_event(query, source, stmt, n_rows, result, n_left_out);
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

/* Outages of the collector, which belong to no agent or port. */
static int
events_add_outages(struct query *query, const struct report_options *options, struct report_result *result, size_t *n_left_out)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT until_us, kind, samples FROM outage"
	    " WHERE until_us >= :from AND until_us < :to ORDER BY id DESC");
	size_t first = result->n_rows;
	int err = stmt ? 0 : -EIO;

	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		const struct outage_words words = outage_words(sqlite3_column_int(stmt, 1));
		struct report_value *row = result_add_row(result);

		err = row ? 0 : -ENOMEM;
		if (!row)
			break;
		row[COLUMN_TIME] = cell_time((uint64_t)sqlite3_column_int64(stmt, 0));
		row[COLUMN_EVENT] = cell_text(words.name);
		if (sqlite3_column_type(stmt, 2) != SQLITE_NULL)
			row[COLUMN_COUNT] = cell_number(sqlite3_column_double(stmt, 2));
		row[COLUMN_TEXT] = cell_text(words.text);
		*n_left_out += result_cut(result, first + options->top);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int
compare_times(const void *a, const void *b)
{
	const struct report_value *x = a, *y = b;

	return (x[COLUMN_TIME].time_us < y[COLUMN_TIME].time_us) -
	    (x[COLUMN_TIME].time_us > y[COLUMN_TIME].time_us);
}

int
report_events(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	int err = query_begin(query, options, now_us);
	size_t n_left_out = 0;

	if (err)
		return err;
	if (options->all && !options->has_to && query->edge_us == 0 && query->range.to_us < now_us)
		query->range.to_us = now_us; /* an event may be the reason why no more samples came */
	result_begin(result, "events", event_columns, N_COLUMNS, query);
	err = query_windows(query);
	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].chosen)
			result_count_port(result, &query->ports[i]);
	result_finish(result, query);
	if (query->edge_us > 0 && !options->has_to)
		query->range.to_us = now_us; /* events do not wait for counters */
	for (size_t i = 0; err == 0 && i < ARRAY_LEN(sources); i++)
		err = events_add_source(query, options, &sources[i], result, &n_left_out);
	if (err == 0 && !options->filter)
		err = events_add_outages(query, options, result, &n_left_out);
	/* Keeps as many rows of all sources together as are wanted. */
	if (result->n_rows > 1)
		qsort(result->values, result->n_rows, N_COLUMNS * sizeof(*result->values), compare_times);
	result_leave_out(result, n_left_out + result_cut(result, options->top));
	result_hide_agent(result, query, COLUMN_AGENT);
	return err;
}
