/*
 * Delay: how long frames took through a switch, and how much waited in the queue before them, by output port, queue, pair
 * of ports or address; from the samples of which the switch told it. Each row is of one switch, so that none speaks for
 * another. A sample stands for the frames of its skip, and limits are those of order statistics
 * (estimate/weighted_quantiles.h).
 */
#include "collector/estimate/weighted_quantiles.h"
#include "collector/query/query_private.h"
#include "collector/report/by_values.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/source_port.h"
#include "collector/store/schema.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double quantiles[] = {0.5, 0.95, 0.99};
enum { N_QUANTILES = ARRAY_LEN(quantiles), MEDIAN = 0, P95 = 1 };
static const double LIMIT_ERROR = 0.025; /* of either limit */

enum {
	COLUMN_AGENT,
	COLUMN_IN,
	COLUMN_IN_INDEX,
	COLUMN_OUT,
	COLUMN_OUT_INDEX,
	COLUMN_QUEUE,
	COLUMN_SRC,
	COLUMN_DST,
	COLUMN_SAMPLES,
	COLUMN_QUANTILES,
	COLUMN_HIGHEST = COLUMN_QUANTILES + N_QUANTILES,
	COLUMN_WITHOUT,
	N_COLUMNS,
};

#define KEY_COLUMNS                                                                                                     \
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT}, [COLUMN_IN] = {"in", "IN", REPORT_TEXT},                       \
	[COLUMN_IN_INDEX] = {"in_if_index", NULL, REPORT_ID}, [COLUMN_OUT] = {"out", "OUT", REPORT_TEXT},                \
	[COLUMN_OUT_INDEX] = {"out_if_index", NULL, REPORT_ID}, [COLUMN_QUEUE] = {"queue", "QUEUE", REPORT_ID},          \
	[COLUMN_SRC] = {"src", "SOURCE", REPORT_TEXT}, [COLUMN_DST] = {"dst", "DESTINATION", REPORT_TEXT},               \
	[COLUMN_SAMPLES] = {"samples", "SAMPLES", REPORT_COUNT}, [COLUMN_WITHOUT] = {"without", "WITHOUT", REPORT_COUNT}

static const struct report_column delay_columns[N_COLUMNS] = {
    KEY_COLUMNS,
    [COLUMN_QUANTILES] = {"median_ns", "DELAY median", REPORT_NS},
    [COLUMN_QUANTILES + 1] = {"p95_ns", "p95", REPORT_NS},
    [COLUMN_QUANTILES + 2] = {"p99_ns", "p99", REPORT_NS},
    [COLUMN_HIGHEST] = {"highest_ns", "HIGHEST", REPORT_SEEN_NS},
};

static const struct report_column depth_columns[N_COLUMNS] = {
    KEY_COLUMNS,
    [COLUMN_QUANTILES] = {"median_octets", "DEPTH median", REPORT_DEPTH},
    [COLUMN_QUANTILES + 1] = {"p95_octets", "p95", REPORT_DEPTH},
    [COLUMN_QUANTILES + 2] = {"p99_octets", "p99", REPORT_DEPTH},
    [COLUMN_HIGHEST] = {"highest_octets", "HIGHEST", REPORT_COUNT},
};

/* What rows are by: the columns of a sample that make the key, NULL where it has none. */
#define IN_PORT	 "iif(direction = 1, if_index, nullif(input_if, 0))"
#define OUT_PORT "iif(direction = 2, if_index, nullif(output_if, 0))"
#define OF_KEY	 (1 << COLUMN_AGENT | 1 << COLUMN_IN | 1 << COLUMN_OUT | 1 << COLUMN_QUEUE | 1 << COLUMN_SRC | 1 << COLUMN_DST)
static const struct grouping {
	enum report_by by;
	const char *in, *out, *queue, *src, *dst;
	uint32_t shown; /* bits of columns, beside the agent's */
} groupings[] = {
	{REPORT_BY_PORT, "NULL", OUT_PORT, "NULL", "NULL", "NULL", 1 << COLUMN_OUT},
	{REPORT_BY_QUEUE, "NULL", OUT_PORT, "queue", "NULL", "NULL", 1 << COLUMN_OUT | 1 << COLUMN_QUEUE},
	{REPORT_BY_PORT_PAIR, IN_PORT, OUT_PORT, "NULL", "NULL", "NULL", 1 << COLUMN_IN | 1 << COLUMN_OUT},
	{REPORT_BY_SRC, "NULL", "NULL", "NULL", "src_ip", "NULL", 1 << COLUMN_SRC},
	{REPORT_BY_DST, "NULL", "NULL", "NULL", "NULL", "dst_ip", 1 << COLUMN_DST},
	{REPORT_BY_PAIR, "NULL", "NULL", "NULL", "src_ip", "dst_ip", 1 << COLUMN_SRC | 1 << COLUMN_DST},
};

enum { SQL_ROW, SQL_AGENT, SQL_IF_INDEX, SQL_WEIGHT, SQL_DEPTH, SQL_DELAY, SQL_KEYS };
enum { SQL_IN = SQL_KEYS, SQL_OUT, SQL_QUEUE, SQL_SRC, SQL_DST };
/* In memory at a time: rows, behind which the last by order go; and values of one row, behind which half of them go, by
 * chance, and half of those that follow. So no agent's keys or samples keep others from being told of. */
enum { SQL_TEXT = 2048, ROWS_MAX = 50000, VALUES_MAX = 1 << 17 };

/* Of one thing that was measured. */
struct measured {
	size_t n, n_without;
	struct estimate_figure quantile[N_QUANTILES]; /* NAN: not known */
	double highest;
};

struct row {
	struct report_value key[COLUMN_SAMPLES]; /* texts move to the result */
	struct measured delay, depth;
};

struct samples {
	struct weighted_value *items;
	size_t n, room, n_told, n_without;
	double highest;
	unsigned halvings; /* one in 2^halvings of those told is in items */
	uint64_t chance;
};

struct delays {
	struct query *query;
	const struct report_options *options;
	struct report_result *result;
	const struct grouping *grouping;
	struct row *rows;
	size_t n_rows, room, n_cut;
	struct samples delay, depth; /* of the row that is being read */
	uint64_t n_samples, n_delays, n_depths, n_most;
};

/* ---- one row ---- */

/* True once in 2^halvings. */
static bool
is_drawn(struct samples *of, unsigned halvings)
{
	of->chance = of->chance * 6364136223846793005u + 1442695040888963407u;
	return of->chance >> 32 << halvings <= UINT32_MAX;
}

static void
halve_values(struct samples *of)
{
	size_t n = 0;

	for (size_t i = 0; i < of->n; i++)
		if (is_drawn(of, 1))
			of->items[n++] = of->items[i];
	of->n = n;
	of->halvings++;
}

static int
add_value(struct delays *d, struct samples *of, sqlite3_stmt *stmt, int column, uint64_t *told)
{
	size_t room = of->room > 0 ? 2 * of->room : 1024;
	double value = sqlite3_column_double(stmt, column);
	struct weighted_value *items;

	if (sqlite3_column_type(stmt, column) == SQLITE_NULL) {
		of->n_without++;
		return 0;
	}
	++*told;
	of->n_told++;
	of->highest = fmax(of->highest, value);
	d->n_most += value >= EASE_WAY_MOST;
	if (of->halvings > 0 && !is_drawn(of, of->halvings))
		return 0;
	if (of->n == VALUES_MAX)
		halve_values(of);
	if (of->n == of->room) {
		items = realloc(of->items, room * sizeof(*items));
		if (!items)
			return query_fail(d->query, -ENOMEM, "no memory");
		of->items = items;
		of->room = room;
	}
	of->items[of->n++] = (struct weighted_value){value, fmax(1, sqlite3_column_double(stmt, SQL_WEIGHT)), 0};
	return 0;
}

/* What says "that or more" is no limit to above, and no estimate. */
static struct estimate_figure
without_most(struct estimate_figure figure)
{
	if (figure.high >= EASE_WAY_MOST)
		figure.high = NAN;
	if (isnan(figure.high))
		figure.estimate = NAN;
	return figure;
}

static struct measured
measure_samples(struct samples *of)
{
	struct weighted_values values = weighted_values_sort(of->items, of->n);
	struct measured m = {.n = of->n_told, .n_without = of->n_without, .highest = of->n > 0 ? of->highest : NAN};

	for (int q = 0; q < N_QUANTILES; q++)
		m.quantile[q] = without_most(weighted_values_quantile(&values, quantiles[q], LIMIT_ERROR));
	of->n = of->n_told = of->n_without = of->halvings = 0;
	of->highest = 0;
	return m;
}

static void
free_key(struct row *row)
{
	for (int c = 0; c < COLUMN_SAMPLES; c++)
		if (row->key[c].known && delay_columns[c].type == REPORT_TEXT)
			free(row->key[c].text);
}

/* What is surely at least so long stands first. */
static int
compare_delays(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	const int order[] = {P95, MEDIAN};

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		double of_x = x->delay.quantile[order[i]].low, of_y = y->delay.quantile[order[i]].low;

		of_x = isnan(of_x) ? -1 : of_x;
		of_y = isnan(of_y) ? -1 : of_y;
		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	return (x->delay.n < y->delay.n) - (x->delay.n > y->delay.n);
}

/* Leaves so many rows that are shown before all others. */
static void
keep_first_rows(struct delays *d, size_t n)
{
	if (d->n_rows > 1)
		qsort(d->rows, d->n_rows, sizeof(*d->rows), compare_delays);
	for (; d->n_rows > n; d->n_cut++)
		free_key(&d->rows[--d->n_rows]);
}

/* A row of which no sample tells anything is none. */
static void
finish_delay_row(struct delays *d)
{
	struct row *row;

	if (d->n_rows == 0)
		return;
	row = &d->rows[d->n_rows - 1];
	row->delay = measure_samples(&d->delay);
	row->depth = measure_samples(&d->depth);
	if (row->delay.n + row->depth.n > 0)
		return;
	free_key(row);
	d->n_rows--;
}

static void
name_way_port(const struct delays *d, sqlite3_stmt *stmt, int column, struct report_value *name, struct report_value *number)
{
	int64_t agent = sqlite3_column_int64(stmt, SQL_AGENT);
	uint64_t if_index = query_u64(stmt, column);
	const struct query_port *port = query_find_port(d->query, agent, if_index);
	char text[REPORT_NAME_TEXT];

	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return;
	if (if_index == EASE_IF_LOCAL || if_index >= EASE_IF_MANY) {
		*name = cell_text(if_index == EASE_IF_LOCAL ? "itself" : "several");
		return;
	}
	source_port_name(if_index, text, sizeof(text));
	*name = cell_text(port ? port->name : text);
	*number = cell_number((double)if_index);
}

static struct report_value
cell_ip_address(sqlite3_stmt *stmt, int column)
{
	int octets = sqlite3_column_bytes(stmt, column);
	char text[FRAME_IP_TEXT];

	if (octets != 4 && octets != FRAME_IP_LEN)
		return (struct report_value){.known = false};
	result_format_address((size_t)octets, sqlite3_column_blob(stmt, column), text);
	return cell_text(text);
}

static int
begin_row(struct delays *d, sqlite3_stmt *stmt, const struct query_port *port)
{
	struct row *rows;
	struct report_value *key;

	finish_delay_row(d);
	if (d->n_rows == ROWS_MAX)
		keep_first_rows(d, d->options->top < ROWS_MAX / 2 ? d->options->top : ROWS_MAX / 2);
	if (d->n_rows == d->room) {
		rows = realloc(d->rows, (2 * d->room + 1) * sizeof(*rows));
		if (!rows)
			return query_fail(d->query, -ENOMEM, "no memory");
		d->rows = rows;
		d->room = 2 * d->room + 1;
	}
	d->rows[d->n_rows] = (struct row){.key = {[COLUMN_AGENT] = cell_text(port->agent->name)}};
	key = d->rows[d->n_rows++].key;
	name_way_port(d, stmt, SQL_IN, &key[COLUMN_IN], &key[COLUMN_IN_INDEX]);
	name_way_port(d, stmt, SQL_OUT, &key[COLUMN_OUT], &key[COLUMN_OUT_INDEX]);
	if (sqlite3_column_type(stmt, SQL_QUEUE) != SQLITE_NULL)
		key[COLUMN_QUEUE] = cell_number(sqlite3_column_double(stmt, SQL_QUEUE));
	key[COLUMN_SRC] = cell_ip_address(stmt, SQL_SRC);
	key[COLUMN_DST] = cell_ip_address(stmt, SQL_DST);
	return 0;
}

/* ---- all samples of the range ---- */

static sqlite3_stmt *
prepare_samples(struct delays *d)
{
	const struct grouping *g = d->grouping;
	char sql[SQL_TEXT], wanted[SQL_TEXT / 4] = "1";

	if (d->query->filter)
		query_write_wanted(d->query, wanted, sizeof(wanted));
	snprintf(sql, sizeof(sql), "SELECT dense_rank() OVER (ORDER BY agent, %1$s, %2$s, %3$s, %4$s, %5$s), agent, if_index,"
	    " 1.0 * mean_skip * stands_for, depth_octets, delay_ns, %1$s, %2$s, %3$s, %4$s, %5$s FROM sample"
	    " WHERE time_us >= :from AND time_us < :to AND %6$s AND %7$s ORDER BY 1", g->in, g->out, g->queue, g->src, g->dst,
	    d->query->n_sent_agents > 0 ? "is_listed(agent, direction)" : "direction = 1", wanted);
	return query_prepare(d->query, sql);
}

/* 1: some sample tells of its way, 0: none does. */
static int
tells_any(struct query *query)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT 1 FROM sample WHERE " STORE_TELLS_WAY
	    " AND time_us >= :from AND time_us < :to LIMIT 1");
	int found = stmt ? query_step(query, stmt) : -EIO;

	sqlite3_finalize(stmt);
	return found;
}

static int
read_ways(struct delays *d)
{
	int err = tells_any(d->query);
	sqlite3_stmt *stmt;
	int64_t number = 0;

	if (err <= 0)
		return err;
	stmt = prepare_samples(d);
	err = stmt ? 0 : -EIO;

	while (err == 0 && (err = query_step(d->query, stmt)) == 1) {
		const struct query_port *port = query_find_port(d->query, sqlite3_column_int64(stmt, SQL_AGENT),
		    query_u64(stmt, SQL_IF_INDEX));

		err = 0;
		if (!port || !port->chosen)
			continue;
		if (sqlite3_column_int64(stmt, SQL_ROW) != number)
			err = begin_row(d, stmt, port);
		number = sqlite3_column_int64(stmt, SQL_ROW);
		d->n_samples++;
		if (err == 0)
			err = add_value(d, &d->delay, stmt, SQL_DELAY, &d->n_delays);
		if (err == 0)
			err = add_value(d, &d->depth, stmt, SQL_DEPTH, &d->n_depths);
	}
	sqlite3_finalize(stmt);
	if (err == 0)
		finish_delay_row(d);
	return err;
}

/* ---- the report ---- */

/* A copy, since both tables own their texts. One that there was no memory for stays so, and fails the result. */
static struct report_value
copy_key(const struct row *row, int column)
{
	if (delay_columns[column].type == REPORT_TEXT && row->key[column].known && row->key[column].text)
		return cell_text(row->key[column].text);
	return row->key[column];
}

static int
add_delay_row(struct report_result *result, const struct row *row, const struct measured *m)
{
	struct report_value *cells = result_add_row(result);

	if (!cells)
		return -ENOMEM;
	for (int c = 0; c < COLUMN_SAMPLES; c++)
		cells[c] = copy_key(row, c);
	cells[COLUMN_SAMPLES] = cell_number((double)m->n);
	for (int q = 0; q < N_QUANTILES; q++)
		if (!isnan(m->quantile[q].low) || !isnan(m->quantile[q].high))
			cells[COLUMN_QUANTILES + q] = cell_figure(m->quantile[q]);
	cells[COLUMN_HIGHEST] = cell_number(m->highest);
	cells[COLUMN_WITHOUT] = cell_number((double)m->n_without);
	return 0;
}

static int
add_tables(struct delays *d)
{
	uint32_t hidden = OF_KEY & ~(d->grouping->shown | 1 << COLUMN_AGENT);
	size_t most = d->options->top;
	int err = result_add_below(d->result, "depth", depth_columns, N_COLUMNS);

	if (err)
		return err;
	d->result->hidden = d->result->below->hidden = hidden;
	keep_first_rows(d, most);
	for (size_t i = 0; err == 0 && i < d->n_rows; i++) {
		err = add_delay_row(d->result, &d->rows[i], &d->rows[i].delay);
		if (err == 0 && d->n_depths > 0)
			err = add_delay_row(d->result->below, &d->rows[i], &d->rows[i].depth);
	}
	result_leave_out(d->result, d->n_cut);
	result_hide_agent(d->result, d->query, COLUMN_AGENT);
	result_hide_agent(d->result->below, d->query, COLUMN_AGENT);
	return err;
}

static int
add_notes(struct delays *d)
{
	struct note_values *told = note_of(d->result, NOTE_ID_WAY_TOLD);
	uint64_t kept_since_us = 0;
	int err = query_find_kept_since(d->query, &kept_since_us);

	if (told) {
		note_count(told, "samples", d->n_samples > 0 ? d->n_samples : d->result->samples);
		note_count(told, "delays", d->n_delays);
		note_count(told, "depths", d->n_depths);
		note_count(told, "most", d->n_most);
	}
	if (err == 0 && kept_since_us > 0)
		note_time(note_of(d->result, NOTE_ID_WAYS_KEPT), "samples_kept_since", kept_since_us);
	return err;
}

static int
choose_grouping(struct delays *d)
{
	enum report_by by = d->options->by == REPORT_BY_DEFAULT ? REPORT_BY_PORT : d->options->by;

	for (size_t i = 0; i < ARRAY_LEN(groupings); i++)
		if (groupings[i].by == by) {
			d->grouping = &groupings[i];
			return 0;
		}
	by_values_refuse("delay", by, d->query->error, sizeof(d->query->error));
	return -EINVAL;
}

static void
free_delays(struct delays *d)
{
	for (size_t i = 0; i < d->n_rows; i++)
		free_key(&d->rows[i]);
	free(d->rows);
	free(d->delay.items);
	free(d->depth.items);
}

int
report_delay(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	struct delays d = {.query = query, .options = options, .result = result};
	int err = choose_grouping(&d);

	if (err == 0)
		err = query_begin(query, options, now_us);
	if (err)
		return err;
	result_begin(result, "delay", delay_columns, N_COLUMNS, query);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen)
			result_count_port(result, &query->ports[i]);
	result_finish(result, query);
	if (err == 0)
		err = read_ways(&d);
	if (err == 0)
		err = add_tables(&d);
	if (err == 0)
		err = add_notes(&d);
	free_delays(&d);
	return err;
}
