/*
 * Alarms: which were raised in the range or still stood in it, with their ends; those that stand at its end first. They
 * are made of events: of the same agent, port and text one that it is raised, each day one that it stands, and one that it
 * is over. Without the latter two for longer than a day nobody knows: the collector was away.
 */
#include "collector/record.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_STATE,
	COLUMN_SINCE,
	COLUMN_UNTIL,
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_IF_INDEX,
	COLUMN_KEY,
	COLUMN_RULE,
	N_COLUMNS,
};

static const struct report_column alarm_columns[N_COLUMNS] = {
	[COLUMN_STATE] = {"state", "STATE", REPORT_TEXT},
	[COLUMN_SINCE] = {"since", "SINCE", REPORT_TIME},
	[COLUMN_UNTIL] = {"until", "UNTIL", REPORT_TIME},
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_IF_INDEX] = {"if_index", NULL, REPORT_ID},
	[COLUMN_KEY] = {"key", "KEY", REPORT_TEXT},
	[COLUMN_RULE] = {"rule", "RULE", REPORT_TEXT},
};

/* An alarm that stands has an event each day: so long back there is one. */
#define TOLD_WITHIN_US 90000000000 /* 25 h */
#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number
_Static_assert(EASE_EVENT_ALARM == 4004 && EASE_EVENT_ALARM_OVER == 4005 && EASE_EVENT_ALARM_STANDS == 4006, "as below");

/* What the audit says of the port may change while the alarm stands. */
static const char sql[] = "SELECT time_us, agent, if_index, kind, replace(text, '" EASE_ALARM_ACCUSED "', '') AS what FROM event"
			  " WHERE kind BETWEEN 4004 AND 4006 AND time_us >= :from - " TEXT_OF(TOLD_WITHIN_US) " AND time_us < :to"
			  " ORDER BY agent, if_index, what, time_us, id";

/* Events of one agent, port and text, as they come. */
struct alarm_run {
	int64_t agent;
	uint64_t if_index;
	char text[EASE_EVENT_TEXT];
	uint64_t since_us, heard_us; /* 0: not known; since when it stands, 0: it does not */
};

static int
add_alarm(const struct query *query, const struct alarm_run *run, uint64_t until_us, struct report_result *result)
{
	const struct query_agent *agent = query_find_agent(query, run->agent);
	const struct query_port *port = query_find_port(query, run->agent, run->if_index);
	const char *between = strstr(run->text, ": ");
	char key[EASE_EVENT_TEXT] = "";
	struct report_value *row;

	if (!agent || !agent->chosen || (port && !port->chosen) || (until_us > 0 && until_us < query->range.from_us))
		return 0;
	if (until_us == 0 && run->heard_us + TOLD_WITHIN_US < query->range.from_us)
		return 0; /* nobody knows what became of it, and it was before */
	row = result_add_row(result);
	if (!row)
		return -ENOMEM;
	if (between)
		memcpy(key, run->text, (size_t)(between - run->text));
	row[COLUMN_STATE] = cell_text(until_us > 0 ? "over" : run->heard_us + TOLD_WITHIN_US < query->range.to_us ? "not known" : "stands");
	if (run->since_us > 0)
		row[COLUMN_SINCE] = cell_time(run->since_us);
	if (until_us > 0)
		row[COLUMN_UNTIL] = cell_time(until_us);
	row[COLUMN_SITE] = cell_site(port ? port->site : agent->site);
	row[COLUMN_AGENT] = cell_text(agent->name);
	if (port)
		row[COLUMN_PORT] = cell_text(port->name);
	if (run->if_index > 0)
		row[COLUMN_IF_INDEX] = cell_number((double)run->if_index);
	row[COLUMN_KEY] = cell_text(key);
	row[COLUMN_RULE] = cell_text(between ? between + 2 : run->text);
	return 0;
}

/* Takes one event; an alarm that it ends is a row. */
static int
take_event(const struct query *query, sqlite3_stmt *stmt, struct alarm_run *run, struct report_result *result)
{
	uint64_t time_us = (uint64_t)sqlite3_column_int64(stmt, 0), if_index = (uint64_t)sqlite3_column_int64(stmt, 2);
	const char *text = (const char *)sqlite3_column_text(stmt, 4);
	int64_t agent = sqlite3_column_int64(stmt, 1);
	int kind = sqlite3_column_int(stmt, 3), err = 0;

	if (!text)
		return 0;
	if (agent != run->agent || if_index != run->if_index || strcmp(text, run->text) != 0) {
		if (run->heard_us > 0)
			err = add_alarm(query, run, 0, result);
		*run = (struct alarm_run){.agent = agent, .if_index = if_index};
		snprintf(run->text, sizeof(run->text), "%s", text);
	}
	if (kind == EASE_EVENT_ALARM_OVER) {
		if (err == 0)
			err = add_alarm(query, run, time_us, result);
		run->since_us = run->heard_us = 0;
		return err;
	}
	if (kind == EASE_EVENT_ALARM && run->heard_us == 0)
		run->since_us = time_us;
	run->heard_us = time_us;
	return err;
}

/* Those that stand first, then the newest. */
static int
compare_alarms(const void *a, const void *b)
{
	const struct report_value *x = a, *y = b;
	bool x_ends = x[COLUMN_UNTIL].known, y_ends = y[COLUMN_UNTIL].known;
	uint64_t x_us = x[x_ends ? COLUMN_UNTIL : COLUMN_SINCE].time_us, y_us = y[y_ends ? COLUMN_UNTIL : COLUMN_SINCE].time_us;

	return x_ends != y_ends ? x_ends - y_ends : (x_us < y_us) - (x_us > y_us);
}

int
report_alarms(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	struct alarm_run run = {.agent = 0};
	sqlite3_stmt *stmt = NULL;
	int err = query_begin(query, options, now_us), more;

	if (err)
		return err;
	result_begin(result, "alarms", alarm_columns, N_COLUMNS, query);
	result_finish(result, query);
	if (!options->has_to && query->range.to_us < now_us)
		query->range.to_us = now_us; /* events do not wait for counters */
	query_set_fetch_range(query, QUERY_ALL_ROWS,
	    query->range.from_us > TOLD_WITHIN_US ? query->range.from_us - TOLD_WITHIN_US : 0, query->range.to_us);
	stmt = query_prepare(query, sql);
	err = stmt ? 0 : -EIO;
	while (err == 0 && (more = query_step(query, stmt)) != 0)
		err = more < 0 ? more : take_event(query, stmt, &run, result);
	if (err == 0 && run.heard_us > 0)
		err = add_alarm(query, &run, 0, result);
	sqlite3_finalize(stmt);
	if (err == 0 && result->n_rows > 1)
		qsort(result->values, result->n_rows, N_COLUMNS * sizeof(*result->values), compare_alarms);
	if (err == 0)
		result_leave_out(result, result_cut(result, options->top));
	result_hide_agent(result, query, COLUMN_AGENT);
	return err;
}
