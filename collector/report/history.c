/*
 * History: what was counted in each step of the range, and how much of it the keys had that were
 * largest in the whole range, each with its limits. The traffic is that received at ports which
 * lists count, so that the keys of a step and its others add up to what was counted.
 *
 * Steps begin at full multiples of their length (UTC) and consist of whole windows that the store
 * still has, or are parts of one; the first and the last step end where the range does.
 */
#include "collector/query/query_private.h"
#include "collector/query/unkeyed.h"
#include "collector/report/lists.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/store/levels.h"
#include "common/number_format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	STEPS_CHOSEN = 120, /* as many as a chart or a screen shows well */
	STEPS_MAX = 367,    /* each is a query of the store; an hour and its minute before in steps of 10 s */
	/* Steps of windows are read from samples: chosen unasked where these are few, and ports, too. */
	FINE_SAMPLES = 100000,
	FINE_PORTS = 1000,
	KEYS_MAX = 50,	    /* followed; the smaller ones are among the others */
	BAR_WIDTH = 30,
};

enum {
	COLUMN_TIME,
	COLUMN_SECONDS,
	COLUMN_OCTETS,
	COLUMN_PKTS,
	COLUMN_BPS,
	COLUMN_FPS,
	COLUMN_SAMPLES,
	COLUMN_EXPECTED,
	COLUMN_COMPLETENESS,
	COLUMN_TOP,
	COLUMN_BAR,
	N_COLUMNS,
};

static const struct report_column history_columns[N_COLUMNS] = {
	[COLUMN_TIME] = {"time", "TIME", REPORT_TIME},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT}, /* of the step that data covers */
	[COLUMN_OCTETS] = {"octets", NULL, REPORT_COUNT},
	[COLUMN_PKTS] = {"packets", NULL, REPORT_COUNT},
	[COLUMN_BPS] = {NULL, "bit/s", REPORT_BITRATE},
	[COLUMN_FPS] = {NULL, "pps", REPORT_RATE},
	[COLUMN_SAMPLES] = {"samples", NULL, REPORT_COUNT},
	[COLUMN_EXPECTED] = {"expected", NULL, REPORT_COUNT},
	[COLUMN_COMPLETENESS] = {"completeness", "COMPLETE", REPORT_COMPLETENESS},
	[COLUMN_TOP] = {NULL, "LARGEST", REPORT_TEXT},
	[COLUMN_BAR] = {NULL, "COUNTED", REPORT_TEXT},
};

enum { PART_KEY, PART_PKTS, PART_OCTETS, PART_SAMPLES, PART_COLUMNS };

static const struct report_column part_columns[PART_COLUMNS] = {
	[PART_KEY] = {"key", NULL, REPORT_ID}, /* row of the whole range's list, from 0 */
	[PART_PKTS] = {"packets", NULL, REPORT_PKTS},
	[PART_OCTETS] = {"octets", NULL, REPORT_OCTETS},
	[PART_SAMPLES] = {"samples", NULL, REPORT_COUNT},
};

struct history {
	struct query *query;
	struct report_options options;
	struct report_result *result, *whole; /* whole: the list over the range */
	struct list_keys keys;
	uint64_t first_us; /* when the data of the agents asked for begins */
	uint64_t step_us;
	/* Of the step: by port, those that count. */
	struct estimate_stratum *strata;
	struct estimate_sums *others;
	struct estimate_range *range;
};

/* ---- steps ---- */

static uint64_t
history_steps_of(const struct query_range *range, uint64_t step_us)
{
	return (range->to_us - 1) / step_us - range->from_us / step_us + 1;
}

/* Lengths of steps within a window, of which each is a whole number of. */
static const uint64_t fine_steps_us[] = {10000000, 20000000, 30000000};

/* The first that is as long as that; 0: none is. */
static uint64_t
fine_step(uint64_t least_us)
{
	for (size_t i = 0; i < ARRAY_LEN(fine_steps_us); i++)
		if (fine_steps_us[i] >= least_us)
			return fine_steps_us[i];
	return 0;
}

static bool
is_fine(const struct history *h)
{
	return h->step_us < STORE_WINDOW_US;
}

/* Counters are thinned to those of minutes after an hour, and each step reads its samples. */
static int
choose_fine_step(struct history *h)
{
	struct query *query = h->query;
	uint64_t kept_since_us = 0;
	int err;

	if (query->store->by_minute || h->whole->samples == 0 || h->whole->samples > FINE_SAMPLES ||
	    query->n_ports > FINE_PORTS || query->levels[LEVEL_1_MIN].kept_us > query->range.from_us ||
	    query->range.from_us + STORE_COUNTERS_FINE_US < query->newest_us ||
	    history_steps_of(&query->range, fine_steps_us[0]) > STEPS_CHOSEN)
		return 0;
	err = query_find_kept_since(query, &kept_since_us);
	if (err == 0 && kept_since_us == 0 && query->samples_since_us > 0)
		h->step_us = fine_steps_us[0];
	return err;
}

/* finest_us: length of the windows that are kept at the start of the range; a step is a
 * multiple. */
static uint64_t
chosen_step(const struct query_range *range, uint64_t finest_us)
{
	static const uint16_t minutes[] = {1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440,
		2880, 5760, 10080};
	uint64_t step_us = finest_us;

	for (size_t i = 0; i < ARRAY_LEN(minutes); i++) {
		uint64_t span_us = minutes[i] * (uint64_t)STORE_WINDOW_US;

		if (span_us % finest_us == 0 && history_steps_of(range, span_us) <= STEPS_CHOSEN)
			return span_us;
	}
	while (history_steps_of(range, step_us) > STEPS_CHOSEN)
		step_us *= 2;
	return step_us;
}

static int
choose_step(struct history *h)
{
	const struct query_range *range = &h->query->range;
	uint64_t finest_us = query_finest_us(h->query, range->from_us);
	uint64_t windows = (h->options.step_us + finest_us - 1) / finest_us;
	int err = 0;

	if (range->to_us <= range->from_us) { /* nothing stored yet */
		h->step_us = STORE_WINDOW_US;
		return 0;
	}
	h->step_us = windows > 0 ? windows * finest_us : chosen_step(range, finest_us);
	if (windows == 0)
		err = choose_fine_step(h);
	else if ( fine_step(h->options.step_us) > 0 && finest_us == STORE_WINDOW_US)
		h->step_us = fine_step(h->options.step_us);
	if (is_fine(h) && h->query->store->by_minute) {
		snprintf(h->query->error, sizeof(h->query->error),
		    "step: a cluster has whole minutes; ask a collector's own store for less");
		return -EINVAL;
	}
	if (err || history_steps_of(range, h->step_us) <= STEPS_MAX)
		return err;
	snprintf(h->query->error, sizeof(h->query->error),
	    "step: the range has more than %d steps; make them longer", STEPS_MAX);
	return -EINVAL;
}

/* ---- one step ---- */

static bool
history_is_key(const struct query_key *a, const struct query_key *b)
{
	return a->n_octets == b->n_octets && memcmp(a->key1, b->key1, sizeof(a->key1)) == 0 &&
	    memcmp(a->key2, b->key2, sizeof(a->key2)) == 0;
}

/* Adds the figure of one key in the step, and subtracts its sums from the others. */
static int
history_add_part(struct history *h, struct report_result *top, size_t key, const struct query_key *keys,
    size_t n_keys)
{
	struct estimate_claim claim = estimate_claim_of_row(key + 1, h->whole->list->n_ranked);
	struct report_value *row;
	struct estimate_figure figure[2];
	struct estimate_key sum;

	estimate_key_begin(&sum);
	for (size_t i = 0; i < n_keys; i++) {
		const struct query_key *k = &keys[i];
		size_t port = (size_t)(k->port - h->query->ports);

		if (!history_is_key(k, &h->keys.keys[key]) || !port_is_counted(&h->options, k->port))
			continue;
		estimate_key_add(h->range, &sum, port, &k->sums);
		estimate_subtract_sums(&h->others[port], &k->sums);
	}
	if (sum.sums.n == 0)
		return 0;
	estimate_key_end(h->range, &sum);
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++) {
		enum estimate_unit unit = (enum estimate_unit)u;

		figure[u] = estimate_key_figure(h->range, &sum, unit, &claim);
		figure[u].high = fmax(figure[u].high, fmin(top->total[u], figure[u].high +
		    unkeyed_most(h->query, &h->options, &h->keys.dimension, unit)));
	}
	row = result_add_row(top);
	if (!row)
		return -ENOMEM;
	row[PART_KEY] = cell_number((double)key);
	row[PART_PKTS] = cell_figure(figure[ESTIMATE_PKTS]);
	row[PART_OCTETS] = cell_figure(figure[ESTIMATE_OCTETS]);
	row[PART_SAMPLES] = cell_number((double)sum.sums.n);
	return 0;
}

static int
add_others(struct history *h, struct report_result *top)
{
	struct report_value *others;
	struct estimate_key sum;

	estimate_key_begin(&sum);
	for (size_t i = 0; i < h->query->n_ports; i++)
		estimate_key_add(h->range, &sum, i, &h->others[i]);
	if (sum.sums.n == 0) /* no sample of the step is kept: who had what was counted is not known */
		return 0;
	estimate_key_end(h->range, &sum);
	others = calloc(PART_COLUMNS, sizeof(*others));
	top->sums[REPORT_SUM_OTHERS].row = others;
	if (!others)
		return -ENOMEM;
	others[PART_PKTS] = cell_figure(estimate_key_figure(h->range, &sum, ESTIMATE_PKTS, &estimate_claim_95));
	others[PART_OCTETS] = cell_figure(estimate_key_figure(h->range, &sum, ESTIMATE_OCTETS, &estimate_claim_95));
	others[PART_SAMPLES] = cell_number((double)sum.sums.n);
	return 0;
}

static int
history_count_ports(struct history *h, struct report_result *top)
{
	for (size_t i = 0; i < h->query->n_ports; i++) {
		const struct query_port *port = &h->query->ports[i];

		h->strata[i] = (struct estimate_stratum){0};
		if (port_is_counted(&h->options, port)) {
			result_count_port(top, port);
			h->strata[i] = *query_listed(port);
		}
		h->others[i] = h->strata[i].all;
	}
	return estimate_range_create(h->strata, h->query->n_ports, &h->range);
}

static int
split_by_keys(struct history *h, struct report_result *top)
{
	struct query_key *keys = NULL;
	uint64_t kept_since_us;
	size_t n_keys = 0;
	int err;

	*top = (struct report_result){.report = "top", .columns = part_columns,
	    .n_columns = PART_COLUMNS};
	err = query_windows(h->query);
	if (err == 0)
		err = query_keys(h->query, &h->options, &h->keys.dimension, &keys, &n_keys, &kept_since_us);
	if (err == 0)
		err = history_count_ports(h, top);
	for (size_t i = 0; err == 0 && i < h->keys.n; i++)
		err = history_add_part(h, top, i, keys, n_keys);
	if (err == 0)
		err = add_others(h, top);
	estimate_range_destroy(h->range);
	h->range = NULL;
	free(keys);
	return err;
}

/* Seconds of the step in which there can be data. */
static double
covered_s(const struct history *h, uint64_t from_us, uint64_t to_us)
{
	if (from_us < h->first_us)
		from_us = h->first_us;
	if (to_us > h->query->newest_us)
		to_us = h->query->newest_us;
	return to_us > from_us ? (double)(to_us - from_us) / 1e6 : 0;
}

static void
history_fill_row(const struct report_result *top, uint64_t from_us, double seconds, struct report_value *row)
{
	bool counted = seconds > 0 && (top->total[ESTIMATE_PKTS] > 0 || top->samples > 0);

	row[COLUMN_TIME] = cell_time(from_us);
	row[COLUMN_SECONDS] = cell_number(seconds);
	row[COLUMN_SAMPLES] = cell_number((double)top->samples);
	row[COLUMN_EXPECTED] = cell_number((double)top->expected);
	row[COLUMN_COMPLETENESS] = cell_completeness(top->samples, top->expected);
	if (!counted)
		return;
	row[COLUMN_OCTETS] = cell_number(round(top->total[ESTIMATE_OCTETS]));
	row[COLUMN_PKTS] = cell_number(round(top->total[ESTIMATE_PKTS]));
	row[COLUMN_BPS] = cell_number(8 * top->total[ESTIMATE_OCTETS] / seconds);
	row[COLUMN_FPS] = cell_number(top->total[ESTIMATE_PKTS] / seconds);
}

/* ---- columns of text only ---- */

/* The name of a row in the list of the whole range: its first text behind the rank. */
static const char *
key_text(const struct report_result *whole, size_t row)
{
	for (size_t c = 1; c < whole->n_columns; c++) {
		const struct report_value *value = report_cell(whole, row, c);

		if (whole->columns[c].type == REPORT_TEXT && whole->columns[c].heading && value->text)
			return value->text;
	}
	return "?";
}

/* "10.20.1.15 backup1 34.1%": the largest key of the step. */
static struct report_value
most_of_it(const struct history *h, const struct report_result *top)
{
	enum estimate_unit unit = h->options.sort;
	size_t column = unit == ESTIMATE_PKTS ? PART_PKTS : PART_OCTETS, largest = 0;
	char percent[NUMBER_TEXT], text[2 * REPORT_SCOPE_TEXT];

	if (top->n_rows == 0 || top->total[unit] <= 0)
		return (struct report_value){0};
	for (size_t r = 1; r < top->n_rows; r++)
		if (report_cell(top, r, column)->figure.estimate >
		    report_cell(top, largest, column)->figure.estimate)
			largest = r;
	number_format_percent(100 * report_cell(top, largest, column)->figure.estimate /
	    top->total[unit], percent);
	snprintf(text, sizeof(text), "%.*s %s", REPORT_SCOPE_TEXT,
	    key_text(h->whole, (size_t)report_cell(top, largest, PART_KEY)->number), percent);
	return cell_text(text);
}

static void
add_bars(struct report_result *result, enum estimate_unit unit)
{
	size_t column = unit == ESTIMATE_PKTS ? COLUMN_FPS : COLUMN_BPS;
	double full = 0;

	for (size_t r = 0; r < result->n_rows; r++)
		full = fmax(full, report_cell(result, r, column)->number);
	for (size_t r = 0; full > 0 && r < result->n_rows; r++) {
		double part = report_cell(result, r, column)->number / full;
		char bar[BAR_WIDTH + 1] = "";

		memset(bar, '=', (size_t)round(BAR_WIDTH * part));
		*report_cell(result, r, COLUMN_BAR) = cell_text(bar);
	}
}

/* ---- all steps ---- */

static int
history_add_step(struct history *h, uint64_t from_us, uint64_t to_us)
{
	struct report_value *row = result_add_row(h->result);
	struct report_steps *steps = h->result->steps;
	struct report_result *within = row ? realloc(steps->within, h->result->n_rows * sizeof(*within)) : NULL;
	struct report_result *top;
	int err;

	if (!within) {
		h->result->n_rows -= row != NULL; /* each row has its own */
		return -ENOMEM;
	}
	steps->within = within;
	top = &within[h->result->n_rows - 1];
	query_narrow(h->query, from_us, to_us);
	err = split_by_keys(h, top);
	history_fill_row(top, from_us, covered_s(h, from_us, to_us), row);
	row[COLUMN_TOP] = most_of_it(h, top);
	steps->about_part = fmax(steps->about_part,
	    estimate_deviation(top->total[h->options.sort], top->total_variance[h->options.sort]));
	return err;
}

static void
name_coarse(struct history *h)
{
	for (size_t i = 0; i < h->query->n_ports; i++) {
		const struct query_port *port = &h->query->ports[i];

		if (!port_is_counted(&h->options, port))
			continue;
		if (port->is_coarse)
			result_note_port(h->result, NOTE_ID_COARSE, port);
		if (port->is_divided)
			result_note_port(h->result, NOTE_ID_DIVIDED_STEPS, port);
	}
	result_judge_divided(h->result, NOTE_ID_DIVIDED_STEPS, h->result->steps->about_part);
}

static int
add_steps(struct history *h)
{
	const struct query_range range = h->query->range;
	uint64_t at_us = range.from_us - range.from_us % h->step_us;
	int err = 0;

	h->options.only = h->keys.keys;
	h->options.n_only = h->keys.n;
	query_begin_steps(h->query, h->step_us);
	if (is_fine(h)) {
		h->keys.dimension.kind = 0; /* of kept samples */
		err = query_begin_fine(h->query, h->step_us);
	}
	for (; err == 0 && at_us < range.to_us; at_us += h->step_us)
		err = history_add_step(h, at_us > range.from_us ? at_us : range.from_us,
		    at_us + h->step_us < range.to_us ? at_us + h->step_us : range.to_us);
	query_end_fine(h->query);
	query_end_steps(h->query);
	name_coarse(h);
	return err;
}

/* The header is that of the whole range, whose list becomes the second table. */
static int
begin_history(struct history *h)
{
	static const enum note_id of_range[] = {NOTE_ID_LOST_BY_LOAD, NOTE_ID_DISAGREEMENT, NOTE_ID_PARTLY,
		NOTE_ID_UNCOUNTED_LOST, NOTE_ID_UNCOUNTED, NOTE_ID_AUDITED, NOTE_ID_KEPT_SAMPLES};
	struct report_result *result = h->result, *whole = h->whole;

	result_begin(result, "history", history_columns, N_COLUMNS, h->query);
	result->below = whole;
	whole->report = "top";
	result->steps = calloc(1, sizeof(*result->steps));
	if (!result->steps)
		return -ENOMEM;
	result->steps->step_us = h->step_us;
	result->samples = whole->samples;
	result->expected = whole->expected;
	memcpy(result->total, whole->total, sizeof(result->total));
	memcpy(result->total_variance, whole->total_variance, sizeof(result->total_variance));
	memcpy(result->from_samples, whole->from_samples, sizeof(result->from_samples));
	result->uncounted = whole->uncounted;
	for (size_t i = 0; i < ARRAY_LEN(of_range); i++)
		note_take(result, whole, of_range[i]);
	result_finish(result, h->query);
	h->first_us = UINT64_MAX;
	for (size_t i = 0; i < h->query->n_agents; i++)
		if (h->query->agents[i].chosen && h->query->agents[i].first_us < h->first_us)
			h->first_us = h->query->agents[i].first_us;
	h->strata = calloc(h->query->n_ports + 1, sizeof(*h->strata));
	h->others = calloc(h->query->n_ports + 1, sizeof(*h->others));
	return h->strata && h->others ? 0 : -ENOMEM;
}

int
report_history(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	struct history h = {.query = query, .options = *options, .result = result};
	int err;

	if (options->has_top && options->top > KEYS_MAX) {
		snprintf(query->error, sizeof(query->error),
		    "--top %u: history follows at most %d keys", options->top, KEYS_MAX);
		return -EINVAL;
	}
	h.whole = calloc(1, sizeof(*h.whole));
	if (!h.whole)
		return -ENOMEM;
	if (h.options.top > KEYS_MAX)
		h.options.top = KEYS_MAX;
	err = list_history(query, &h.options, now_us, h.whole, &h.keys);
	if (err == 0)
		err = choose_step(&h);
	if (err) {
		report_result_free(h.whole);
		free(h.whole);
	} else {
		err = begin_history(&h); /* the result owns the list from here on */
		/* the SQL functions still have the list's options */
		if (err == 0 && !query_add_functions(query, &h.options))
			err = query_fail_sql(query);
		if (err == 0 && !result->empty)
			err = add_steps(&h);
		add_bars(result, h.options.sort);
	}
	free(h.keys.keys);
	free(h.strata);
	free(h.others);
	return err;
}
