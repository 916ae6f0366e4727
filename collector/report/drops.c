/*
 * Drops: packets that devices discarded and told of (sFlow's discarded-packet events), by whom they were of, port,
 * reason, place or group. An event stands for itself: nothing is scaled, and a device may tell of fewer than it
 * discards. So a second table has of each agent and port what its counters of discards say, what of it is explained,
 * and what was told of beyond that, which no counter of that port has:
 * counted + not counted = explained + not sent + lost on the way + unexplained, in whole packets, none below 0.
 */
#include "collector/query/query_private.h"
#include "collector/report/by_values.h"
#include "collector/report/drop_reasons.h"
#include "collector/report/notes.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/source_port.h"
#include "collector/store/schema.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_SRC,
	COLUMN_DST,
	COLUMN_REASON,
	COLUMN_DETAIL,
	COLUMN_PLACE,
	COLUMN_GROUP,
	COLUMN_PACKETS,
	COLUMN_SHARE,
	N_COLUMNS,
};

static const struct report_column drop_columns[N_COLUMNS] = {
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_SRC] = {"src", "SOURCE", REPORT_TEXT},
	[COLUMN_DST] = {"dst", "DESTINATION", REPORT_TEXT},
	[COLUMN_REASON] = {"reason", "REASON", REPORT_TEXT},
	[COLUMN_DETAIL] = {"detail", "DETAIL", REPORT_TEXT},
	[COLUMN_PLACE] = {"place", "PLACE", REPORT_TEXT},
	[COLUMN_GROUP] = {"group", "GROUP", REPORT_TEXT},
	[COLUMN_PACKETS] = {"packets", "DROPPED", REPORT_COUNT},
	[COLUMN_SHARE] = {"percent", "%", REPORT_PERCENT},
};

enum {
	ACCOUNT_SITE,
	ACCOUNT_AGENT,
	ACCOUNT_PORT,
	ACCOUNT_IF_INDEX,
	ACCOUNT_COUNTED,
	ACCOUNT_NOT_COUNTED,
	ACCOUNT_EXPLAINED,
	ACCOUNT_NOT_SENT,
	ACCOUNT_LOST,
	ACCOUNT_UNEXPLAINED,
	ACCOUNT_COLUMNS,
};

static const struct report_column account_columns[ACCOUNT_COLUMNS] = {
	[ACCOUNT_SITE] = {"site", "SITE", REPORT_TEXT},
	[ACCOUNT_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[ACCOUNT_PORT] = {"port", "PORT", REPORT_TEXT},
	[ACCOUNT_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[ACCOUNT_COUNTED] = {"counted", "COUNTED", REPORT_COUNT},
	[ACCOUNT_NOT_COUNTED] = {"not_counted", "NOT COUNTED", REPORT_COUNT},
	[ACCOUNT_EXPLAINED] = {"explained", "EXPLAINED", REPORT_COUNT},
	[ACCOUNT_NOT_SENT] = {"not_sent", "NOT SENT", REPORT_COUNT},
	[ACCOUNT_LOST] = {"lost", "LOST", REPORT_COUNT},
	[ACCOUNT_UNEXPLAINED] = {"unexplained", "UNEXPLAINED", REPORT_COUNT},
};

/* What a row is, by --by: columns of the table that make it, after the port, which a question may filter by. */
static const struct grouping {
	enum report_by by;
	const char *columns; /* of the store, from SQL_KIND on; what is only counted has a port and no more */
	uint32_t shown;	     /* bit i: column i of the report */
} groupings[] = {
	{REPORT_BY_SRC, "kind, src, '', 0, '', '', ''", 1 << COLUMN_SRC},
	{REPORT_BY_DST, "kind, '', dst, 0, '', '', ''", 1 << COLUMN_DST},
	{REPORT_BY_PAIR, "kind, src, dst, 0, '', '', ''", 1 << COLUMN_SRC | 1 << COLUMN_DST},
	{REPORT_BY_PORT, "1, agent, if_index, 0, '', '', ''", 1 << COLUMN_AGENT | 1 << COLUMN_PORT},
	{REPORT_BY_REASON, "kind, '', '', reason, detail, '', ''", 1 << COLUMN_REASON | 1 << COLUMN_DETAIL},
	{REPORT_BY_PLACE, "kind, '', '', 0, '', place, ''", 1 << COLUMN_PLACE},
	{REPORT_BY_GROUP, "kind, '', '', 0, '', '', trap_group", 1 << COLUMN_GROUP},
};

enum { SQL_AGENT, SQL_IF_INDEX, SQL_N, SQL_KIND, SQL_KEYS, SQL_SRC = SQL_KEYS, SQL_DST, SQL_REASON, SQL_DETAIL,
	SQL_PLACE, SQL_GROUP, SQL_END };

enum { KEYS_MAX = 200000 }; /* in memory at a time; then the smaller half goes, so that nobody's keys hide those of others */

#define HOUR_US (60 * (uint64_t)STORE_WINDOW_US)

/* A port's part of the account, or that of a data source that is no port. */
struct part {
	int64_t agent;
	uint64_t if_index;
	double sums[STORE_DISCARD_LOST + 1]; /* by enum store_discard_kind */
};

struct drops {
	struct query *query;
	const struct report_options *options;
	struct report_result *result;
	const struct grouping *grouping;
	struct part *parts; /* sorted by agent and ifIndex */
	size_t n_parts, n_cut; /* n_cut: rows that went because there were too many */
	double told; /* events that have rows or are counted, of what was asked for */
	double elsewhere; /* at most so many are told of at one port and counted at another */
};

/* ---- who, why ---- */

/* Whether the question is of this port; of one that is no port if it is of all of the agent. */
static bool
drops_is_asked(const struct drops *d, int64_t agent_id, uint64_t if_index)
{
	const struct query_agent *agent = query_find_agent(d->query, agent_id);
	const struct query_port *port = query_find_port(d->query, agent_id, if_index);
	const struct filter *filter = d->query->filter;

	if (!agent || !agent->chosen)
		return false;
	return port ? port->chosen : !filter || !(filter->fields & FILTER_BIT(FILTER_IF));
}

static void
drops_name_port(const struct query *query, int64_t agent, uint64_t if_index, char *name, size_t size)
{
	const struct query_port *port = query_find_port(query, agent, if_index);

	if (port)
		snprintf(name, size, "%s", port->name);
	else
		source_port_name(if_index, name, size);
}

static struct report_value
cell_address(sqlite3_stmt *stmt, int column)
{
	char text[FRAME_IP_TEXT];
	int octets = sqlite3_column_bytes(stmt, column);

	if (octets != 4 && octets != FRAME_MAC_LEN && octets != FRAME_IP_LEN)
		return (struct report_value){.known = false};
	result_format_address((size_t)octets, sqlite3_column_blob(stmt, column), text);
	return cell_text(text);
}

static struct report_value
cell_column(sqlite3_stmt *stmt, int column)
{
	return cell_text((const char *)sqlite3_column_text(stmt, column));
}

static void
name_row(const struct drops *d, sqlite3_stmt *stmt, struct report_value *row)
{
	bool is_told = sqlite3_column_int(stmt, SQL_KIND) == STORE_DISCARD_EVENT;
	char text[REPORT_NAME_TEXT];

	if (d->grouping->by == REPORT_BY_PORT) {
		const struct query_agent *agent = query_find_agent(d->query, sqlite3_column_int64(stmt, SQL_AGENT));

		drops_name_port(d->query, sqlite3_column_int64(stmt, SQL_AGENT),
		    (uint64_t)sqlite3_column_int64(stmt, SQL_IF_INDEX), text, sizeof(text));
		row[COLUMN_AGENT] = cell_text(agent ? agent->name : "");
		row[COLUMN_PORT] = cell_text(text);
	}
	if (!is_told)
		return;
	row[COLUMN_SRC] = d->grouping->shown & 1 << COLUMN_SRC ? cell_address(stmt, SQL_SRC) : row[COLUMN_SRC];
	row[COLUMN_DST] = d->grouping->shown & 1 << COLUMN_DST ? cell_address(stmt, SQL_DST) : row[COLUMN_DST];
	if (d->grouping->by == REPORT_BY_REASON) {
		drop_reason_name((uint32_t)sqlite3_column_int64(stmt, SQL_REASON), text, sizeof(text));
		row[COLUMN_REASON] = cell_text(text);
	}
	row[COLUMN_DETAIL] = cell_column(stmt, SQL_DETAIL);
	row[COLUMN_PLACE] = cell_column(stmt, SQL_PLACE);
	row[COLUMN_GROUP] = cell_column(stmt, SQL_GROUP);
}

/* Whether the row has the key of the one before, whatever a column holds; keeps a copy of what differs. */
static bool
is_same_key(sqlite3_stmt *stmt, sqlite3_value *last[SQL_END])
{
	bool same = true;

	for (int column = SQL_KIND; column < SQL_END; column++) {
		const void *value = sqlite3_column_blob(stmt, column);
		const void *before = last[column] ? sqlite3_value_blob(last[column]) : NULL;
		int octets = sqlite3_column_bytes(stmt, column);

		if (last[column] && sqlite3_value_bytes(last[column]) == octets &&
		    (octets == 0 || memcmp(value, before, (size_t)octets) == 0))
			continue;
		same = false;
		sqlite3_value_free(last[column]);
		last[column] = sqlite3_value_dup(sqlite3_column_value(stmt, column));
	}
	return same;
}

static int
compare_packets(const void *a, const void *b)
{
	const struct report_value *x = a, *y = b;

	return (x[COLUMN_PACKETS].number < y[COLUMN_PACKETS].number) -
	    (x[COLUMN_PACKETS].number > y[COLUMN_PACKETS].number);
}

static void
sort_by_packets(struct report_result *result)
{
	if (result->n_rows > 1)
		qsort(result->values, result->n_rows, N_COLUMNS * sizeof(*result->values), compare_packets);
}

/* Rows of one key follow each other; more is added to the row of the same key. */
static int
add_told(struct drops *d, sqlite3_stmt *stmt, sqlite3_value *last[SQL_END])
{
	struct report_value *row;

	if (!drops_is_asked(d, sqlite3_column_int64(stmt, SQL_AGENT), (uint64_t)sqlite3_column_int64(stmt, SQL_IF_INDEX)))
		return 0;
	d->told += sqlite3_column_double(stmt, SQL_N);
	if (is_same_key(stmt, last)) {
		report_cell(d->result, d->result->n_rows - 1, COLUMN_PACKETS)->number +=
		    sqlite3_column_double(stmt, SQL_N);
		return 0;
	}
	if (d->result->n_rows == KEYS_MAX) {
		sort_by_packets(d->result);
		d->n_cut += result_cut(d->result, KEYS_MAX / 2);
	}
	row = result_add_row(d->result);
	if (!row)
		return -ENOMEM;
	name_row(d, stmt, row);
	row[COLUMN_PACKETS] = cell_number(sqlite3_column_double(stmt, SQL_N));
	return 0;
}

/* The store has the sums of an agent beside each other, by time; those of longer ago by hour, without what only single
 * packets have. */
#define IN_RANGE " WHERE agent IN (SELECT id FROM agent) AND start_us >= :from AND start_us < :to"
#define FROM_DISCARDS \
	" FROM (SELECT agent, if_index, kind, reason, detail, place, trap_group, src, dst, n FROM discard" IN_RANGE \
	" UNION ALL SELECT agent, if_index, kind, reason, '', '', '', x'', x'', n FROM discard_hour" IN_RANGE ")"

static int
add_list(struct drops *d)
{
	sqlite3_value *last[SQL_END] = {NULL};
	char sql[1024];
	sqlite3_stmt *stmt;
	int err;

	snprintf(sql, sizeof(sql), "SELECT agent, if_index, sum(n), %s" FROM_DISCARDS
	    " WHERE kind <= %d GROUP BY 4, 5, 6, 7, 8, 9, 10, 1, 2 ORDER BY 4, 5, 6, 7, 8, 9, 10", d->grouping->columns, STORE_DISCARD_COUNTED);
	stmt = query_prepare(d->query, sql);
	err = stmt ? 0 : -EIO;
	while (err == 0 && (err = query_step(d->query, stmt)) == 1)
		err = add_told(d, stmt, last);
	sqlite3_finalize(stmt);
	for (int column = SQL_KIND; column < SQL_END; column++)
		sqlite3_value_free(last[column]);
	sort_by_packets(d->result);
	for (size_t i = 0; i < d->result->n_rows; i++)
		*report_cell(d->result, i, COLUMN_SHARE) =
		    cell_number(100 * report_cell(d->result, i, COLUMN_PACKETS)->number / d->told);
	result_leave_out(d->result, d->n_cut + result_cut(d->result, d->options->top));
	return err;
}

/* ---- the account ---- */

static int
read_parts(struct drops *d)
{
	sqlite3_stmt *stmt = query_prepare(d->query,
	    "SELECT agent, if_index, kind, sum(n)" FROM_DISCARDS " GROUP BY 1, 2, 3 ORDER BY 1, 2");
	struct part *part = NULL;
	int err = stmt ? 0 : -EIO;

	while (err == 0 && (err = query_step(d->query, stmt)) == 1) {
		int64_t agent = sqlite3_column_int64(stmt, 0), kind = sqlite3_column_int64(stmt, 2);
		uint64_t if_index = (uint64_t)sqlite3_column_int64(stmt, 1);

		err = 0;
		if (!part || part->agent != agent || part->if_index != if_index) {
			part = realloc(d->parts, (d->n_parts + 1) * sizeof(*part));
			if (!part) {
				err = -ENOMEM;
				break;
			}
			d->parts = part;
			part += d->n_parts++;
			*part = (struct part){.agent = agent, .if_index = if_index};
		}
		if (kind >= STORE_DISCARD_EVENT && kind <= STORE_DISCARD_LOST)
			part->sums[kind] += sqlite3_column_double(stmt, 3);
	}
	sqlite3_finalize(stmt);
	return err;
}

static const struct part *
find_part(const struct drops *d, const struct query_port *port)
{
	size_t low = 0, high = d->n_parts;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct part *part = &d->parts[middle];

		if (part->agent == port->agent->id && part->if_index == port->if_index)
			return part;
		if (part->agent < port->agent->id ||
		    (part->agent == port->agent->id && (int64_t)part->if_index < (int64_t)port->if_index)) /* as SQL sorts them */
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* One line of the account. counted NAN: the device does not count it there, and nobody knows what is unexplained. */
struct line {
	double counted, not_counted, explained, not_sent, lost, unexplained;
};

static int
add_line(struct drops *d, const struct query_agent *agent, const char *port, const uint64_t *if_index,
    const struct line *line)
{
	struct report_value *row = result_add_row(d->result->below);

	if (!row)
		return -ENOMEM;
	row[ACCOUNT_SITE] = cell_site(agent->site);
	row[ACCOUNT_AGENT] = cell_text(agent->name);
	row[ACCOUNT_PORT] = cell_text(port);
	if (if_index)
		row[ACCOUNT_IF_INDEX] = cell_number(*if_index);
	row[ACCOUNT_COUNTED] = cell_number(line->counted);
	row[ACCOUNT_NOT_COUNTED] = cell_number(line->not_counted);
	row[ACCOUNT_EXPLAINED] = cell_number(line->explained);
	row[ACCOUNT_NOT_SENT] = cell_number(line->not_sent);
	row[ACCOUNT_LOST] = cell_number(line->lost);
	row[ACCOUNT_UNEXPLAINED] = cell_number(line->unexplained);
	return 0;
}

static struct line
drops_line_of(const struct part *part, double counted)
{
	struct line line = {.counted = counted};
	double told;

	if (part) {
		line.explained = part->sums[STORE_DISCARD_EVENT] + part->sums[STORE_DISCARD_COUNTED];
		line.not_sent = part->sums[STORE_DISCARD_NOT_SENT];
		line.lost = part->sums[STORE_DISCARD_LOST];
	}
	told = line.explained + line.not_sent + line.lost;
	line.not_counted = isnan(counted) ? told : fmax(told - counted, 0);
	line.unexplained = isnan(counted) ? NAN : fmax(counted - told, 0);
	return line;
}

static void
add_up(struct line *sum, const struct line *line)
{
	if (!isnan(line->counted)) {
		sum->counted += line->counted;
		sum->unexplained += line->unexplained;
	}
	sum->not_counted += line->not_counted;
	sum->explained += line->explained;
	sum->not_sent += line->not_sent;
	sum->lost += line->lost;
}

/* What a port counted, both directions; NAN: nothing is known. */
static int
counted_by(struct query *query, const struct query_port *port, double *counted)
{
	struct query_load load;
	int err = query_load(query, port, &load);

	*counted = NAN;
	if (err == 0 && load.known && !(isnan(load.in_discards) && isnan(load.out_discards)))
		*counted = round(isnan(load.in_discards) ? 0 : load.in_discards) +
		    round(isnan(load.out_discards) ? 0 : load.out_discards);
	return err;
}

/* Ports that neither counted nor told of any have no line. */
static int
drops_add_port(struct drops *d, const struct query_port *port, struct line *sum)
{
	const struct part *part = find_part(d, port);
	double counted;
	struct line line;
	int err = counted_by(d->query, port, &counted);

	if (err || (!part && !(counted > 0)))
		return err;
	line = drops_line_of(part, counted);
	add_up(sum, &line);
	return add_line(d, port->agent, port->name, &port->if_index, &line);
}

/* Of places that have no counters: what a data source that is no port did not tell of, and what came in nowhere. */
static int
add_placeless(struct drops *d, const struct query_agent *agent, struct line *sum)
{
	char name[REPORT_NAME_TEXT];
	int err = 0;

	for (size_t i = 0; err == 0 && i < d->n_parts; i++) {
		struct part *part = &d->parts[i];
		struct line line;

		if (part->agent != agent->id || query_find_port(d->query, part->agent, part->if_index) ||
		    !drops_is_asked(d, part->agent, part->if_index))
			continue;
		line = drops_line_of(part, NAN);
		add_up(sum, &line);
		source_port_name(part->if_index, name, sizeof(name));
		err = add_line(d, agent, name, &part->if_index, &line);
	}
	return err;
}

static int
drops_add_agent(struct drops *d, const struct query_agent *agent)
{
	struct line sum = {0};
	size_t before = d->result->below->n_rows;
	int err = 0;

	for (size_t i = 0; err == 0 && i < d->query->n_ports; i++)
		if (d->query->ports[i].agent == agent && d->query->ports[i].chosen)
			err = drops_add_port(d, &d->query->ports[i], &sum);
	if (err == 0)
		err = add_placeless(d, agent, &sum);
	if (err == 0 && d->result->below->n_rows > before)
		err = add_line(d, agent, "all", NULL, &sum);
	d->elsewhere += fmin(sum.not_counted, sum.unexplained);
	return err;
}

static int
drops_add_account(struct drops *d)
{
	int err = result_add_below(d->result, "ports", account_columns, ACCOUNT_COLUMNS);

	if (err == 0)
		err = read_parts(d);
	for (size_t i = 0; err == 0 && i < d->query->n_agents; i++)
		if (d->query->agents[i].chosen)
			err = drops_add_agent(d, &d->query->agents[i]);
	free(d->parts);
	if (err == 0 && d->elsewhere > 0)
		note_count(note_of(d->result, NOTE_ID_DROPPED_ELSEWHERE), "packets", d->elsewhere);
	return err;
}

/* ---- the report ---- */

/* Moves an end of the range to moved_us if what was dropped in its hour is stored by hour. */
static int
fit_end(struct query *query, uint64_t *end_us, uint64_t moved_us)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT 1 FROM discard_hour WHERE agent IN (SELECT id FROM agent) AND"
	    " start_us = ?1 LIMIT 1");
	int found = stmt ? sqlite3_bind_int64(stmt, 1, (sqlite3_int64)store_window_start(*end_us, HOUR_US)) : -EIO;

	if (found == SQLITE_OK)
		found = query_step(query, stmt);
	sqlite3_finalize(stmt);
	if (found == 1)
		*end_us = moved_us;
	return found < 0 ? found : 0;
}

/* The ends move outwards to those of hours, but not beyond what was heard. */
static int
fit_to_hours(struct query *query)
{
	struct query_range *range = &query->range;
	uint64_t newest_us = store_window_start(query->newest_us, STORE_WINDOW_US);
	uint64_t end_us = store_window_start(range->to_us, HOUR_US) + HOUR_US;
	int err = 0;

	end_us = end_us < newest_us ? end_us : newest_us;
	if (range->from_us % HOUR_US > 0)
		err = fit_end(query, &range->from_us, store_window_start(range->from_us, HOUR_US));
	if (err == 0 && range->to_us % HOUR_US > 0 && range->to_us < end_us)
		err = fit_end(query, &range->to_us, end_us);
	return err;
}

static int
find_grouping(struct drops *d)
{
	enum report_by by = d->options->by == REPORT_BY_DEFAULT ? REPORT_BY_SRC : d->options->by;

	for (size_t i = 0; i < ARRAY_LEN(groupings); i++)
		if (groupings[i].by == by) {
			d->grouping = &groupings[i];
			return 0;
		}
	by_values_refuse("drops", by, d->query->error, sizeof(d->query->error));
	return -EINVAL;
}

int
report_drops(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	struct drops d = {.query = query, .options = options, .result = result};
	int err = find_grouping(&d);

	if (err == 0)
		err = query_begin(query, options, now_us);
	if (err == 0)
		err = fit_to_hours(query);
	if (err)
		return err;
	result_begin(result, "drops", drop_columns, N_COLUMNS, query);
	result->hidden = ~(d.grouping->shown | 1u << COLUMN_PACKETS | 1u << COLUMN_SHARE);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen)
			result_count_port(result, &query->ports[i]);
	result_finish(result, query);
	if (err == 0)
		err = add_list(&d);
	if (err == 0)
		err = drops_add_account(&d);
	if (result->below)
		result_hide_agent(result->below, query, ACCOUNT_AGENT);
	return err;
}
