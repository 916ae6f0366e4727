#include "collector/render/render.h"

#include "collector/render/table.h"
#include "collector/report/notes.h"
#include "common/number_format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	BAR_WIDTH = 20,
	LONG_TEXT = 2 * NUMBER_TEXT,
};

#define STARTED "started_us" /* the collector's start, beside its counters (schema.h) */

static bool
is_figure(enum report_type type)
{
	return type == REPORT_PKTS || type == REPORT_OCTETS || type == REPORT_NS || type == REPORT_DEPTH;
}

static bool
is_quantile(enum report_type type)
{
	return type == REPORT_NS || type == REPORT_DEPTH;
}

static bool
text_is_shown(const struct report_result *result, size_t column)
{
	return result->columns[column].heading && !(result->hidden >> column & 1);
}

/* A figure is a count over the range, of which text shows rates, unless it is a quantile. */
static double
rate_factor(const struct report_result *result, enum report_type type)
{
	if (is_quantile(type))
		return 1;
	return (type == REPORT_OCTETS ? 8 : 1) / result->seconds;
}

/* ---- cells ---- */

static void
format_rank(const struct estimate_rank *rank, char *text)
{
	char high[NUMBER_TEXT];

	number_format_count(rank->low, text);
	if (rank->high == rank->low)
		return;
	if (rank->high == ESTIMATE_RANK_OPEN) {
		strcat(text, "+");
		return;
	}
	number_format_count(rank->high, high);
	strcat(strcat(text, "-"), high);
}

static void
format_quantile(enum report_type type, double value, char *text)
{
	if (isnan(value))
		strcpy(text, "-");
	else if (type == REPORT_NS)
		number_format_duration(value, value, text);
	else
		number_format(value, number_scale(value), text);
}

static void
format_value(const struct report_result *result, enum report_type type,
    const struct report_value *value, const struct render_options *options, char *text)
{
	switch (type) {
	case REPORT_ID:
		snprintf(text, NUMBER_TEXT, "%.0f", value->number);
		break;
	case REPORT_COUNT:
	case REPORT_RATE:
		number_format_count(value->number, text);
		break;
	case REPORT_BITRATE:
		number_format(value->number, number_scale(value->number), text);
		break;
	case REPORT_PERCENT:
		snprintf(text, NUMBER_TEXT, "%.1f", value->number);
		break;
	case REPORT_PKTS:
	case REPORT_OCTETS: {
		double rate = value->figure.estimate * rate_factor(result, type);

		number_format(rate, number_scale(rate), text);
		break;
	}
	case REPORT_NS:
	case REPORT_DEPTH:
		format_quantile(type, value->figure.estimate, text);
		break;
	case REPORT_SEEN_NS:
		format_quantile(REPORT_NS, value->number, text);
		break;
	case REPORT_SHARE:
		number_format_percent(100 * value->figure.estimate, text);
		break;
	case REPORT_RANK:
		format_rank(&value->rank, text);
		break;
	case REPORT_TIME:
		number_format_time(value->time_us, options->utc, text);
		break;
	case REPORT_COMPLETENESS:
		number_format_completeness(value->number, text);
		break;
	case REPORT_TEXT:
		break; /* may be longer than any number */
	}
}

static void
format_limits(const struct report_result *result, enum report_type type, const struct report_value *value, char *text)
{
	double factor = rate_factor(result, type);
	double of = value->figure.estimate > 0 ? value->figure.estimate : value->figure.high;

	if (is_quantile(type)) {
		/* "12.1 .. 15.0us"; a limit that is not known is "?". */
		char low[NUMBER_TEXT] = "?", high[NUMBER_TEXT] = "?";

		if (!isnan(value->figure.low))
			format_quantile(type, value->figure.low, low);
		if (!isnan(value->figure.high))
			format_quantile(type, value->figure.high, high);
		snprintf(text, NUMBER_TEXT, "%.28s .. %.28s", low, high);
		return;
	}
	number_format_range(value->figure.low * factor, value->figure.high * factor, number_scale(of * factor), text);
}

/* = up to the lower limit, - on to the upper one; rounded outwards, so that = never claims too
 * much. */
static void
format_bar(const struct estimate_figure *figure, double full, char *text)
{
	int sure = (int)floor(BAR_WIDTH * figure->low / full);
	int maybe = (int)ceil(BAR_WIDTH * figure->high / full);

	if (maybe > BAR_WIDTH)
		maybe = BAR_WIDTH;
	for (int i = 0; i < maybe; i++)
		text[i] = i < sure ? '=' : '-';
	text[maybe] = '\0';
}

/* ---- rows ---- */

static void
text_add_headings(struct table *table, const struct report_result *result)
{
	for (size_t c = 0; c < result->n_columns; c++) {
		const struct report_column *column = &result->columns[c];

		if (!text_is_shown(result, c))
			continue;
		table_add_column(table, column->heading,
		    column->type != REPORT_TEXT && column->type != REPORT_TIME &&
			column->type != REPORT_ID);
		if (is_figure(column->type))
			table_add_column(table, "95% LOW..HIGH", true);
	}
	if (result->list && result->list->changes) {
		table_add_column(table, "BEFORE", true);
		table_add_column(table, "CHANGE", false);
	}
	if (result->list)
		table_add_column(table, "=sure -maybe", false);
}

static double
largest_high(const struct report_result *result, size_t column)
{
	double largest = 0;

	for (size_t r = 0; r < result->n_rows; r++)
		largest = fmax(largest, report_cell(result, r, column)->figure.high);
	return largest;
}

/* unknown: the text of a cell whose value is unknown. */
static void
text_add_row(struct table *table, const struct report_result *result, const struct report_value *row,
    const char *unknown, const struct render_options *options)
{
	char text[NUMBER_TEXT];
	size_t at = 0;

	table_add_row(table);
	for (size_t c = 0; c < result->n_columns; c++) {
		enum report_type type = result->columns[c].type;
		bool known = row[c].known && (!is_figure(type) || is_quantile(type) || result->seconds > 0);

		if (!text_is_shown(result, c))
			continue;
		if (known)
			format_value(result, type, &row[c], options, text);
		table_set(table, at++, !known ? unknown : type == REPORT_TEXT ? row[c].text : text);
		if (is_figure(type) && known)
			format_limits(result, type, &row[c], text);
		if (is_figure(type))
			table_set(table, at++, known ? text : unknown);
	}
}

static size_t
text_column_of(const struct report_result *result, enum report_type type)
{
	size_t c = 0;

	while (c < result->n_columns && (result->columns[c].type != type || !text_is_shown(result, c)))
		c++;
	return c;
}

static void
add_bar(struct table *table, const struct estimate_figure *figure, double full)
{
	char bar[BAR_WIDTH + 1];

	if (full <= 0)
		return;
	format_bar(figure, full, bar);
	table_set(table, table->n_columns - 1, bar);
}

/* A row without a key: its name is in the first column behind the rank. */
static void
add_named_row(struct table *table, const struct report_result *result,
    const struct report_value *row, const char *name, const struct render_options *options)
{
	size_t at = 0;

	text_add_row(table, result, row, "", options);
	for (size_t c = 0; result->columns[c].type == REPORT_RANK || !text_is_shown(result, c); c++)
		at += text_is_shown(result, c);
	table_set(table, at, name);
}

static void
add_sum_rows(struct table *table, const struct report_result *result, const struct render_options *options)
{
	for (int i = 0; i < REPORT_N_SUMS; i++) {
		const struct report_sum *sum = &result->sums[i];
		uint64_t n = i == REPORT_SUM_TOGETHER ? result->n_rows : sum->n;
		const char *plural = n == 1 ? "" : "s";
		char number[NUMBER_TEXT], name[LONG_TEXT];

		if (!sum->said)
			continue;
		number_format_count((double)n, number);
		if (i == REPORT_SUM_TOGETHER)
			snprintf(name, sizeof(name), "top %s together", number);
		else if (i == REPORT_SUM_OTHERS && sum->name)
			snprintf(name, sizeof(name), "%s %s", number, sum->name);
		else if (i == REPORT_SUM_OTHERS)
			snprintf(name, sizeof(name), "%s other%s", number, plural);
		else if (i == REPORT_SUM_NO_SAMPLE)
			snprintf(name, sizeof(name), "%s port%s, no sample", number, plural);
		else
			snprintf(name, sizeof(name), "%s", sum->name ? sum->name : "unseen");
		add_named_row(table, result, sum->row, name, options);
	}
}

static void
text_add_change(struct table *table, const struct report_result *result, size_t row)
{
	const struct report_change *change = &result->list->changes[row];
	double factor = (result->list->sort == ESTIMATE_OCTETS ? 8 : 1) / result->list->past_seconds;
	char text[NUMBER_TEXT];

	number_format_range(change->before.low * factor, change->before.high * factor,
	    number_scale(change->before.estimate * factor), text);
	table_set(table, table->n_columns - 3, change->known ? text : "unseen");
	table_set(table, table->n_columns - 2, report_direction_name(change->direction));
}

static int
text_print_rows(FILE *out, const struct report_result *result, const struct render_options *options)
{
	const struct report_list *list = result->list;
	size_t sorted_by = text_column_of(result, list && list->sort == ESTIMATE_PKTS ? REPORT_PKTS : REPORT_OCTETS);
	double full = list ? largest_high(result, sorted_by) : 0;
	struct table table = {0};
	int err;

	text_add_headings(&table, result);
	for (size_t r = 0; r < result->n_rows; r++) {
		text_add_row(&table, result, report_cell(result, r, 0), "-", options);
		if (list && list->changes)
			text_add_change(&table, result, r);
		if (list)
			add_bar(&table, &report_cell(result, r, sorted_by)->figure, full);
	}
	add_sum_rows(&table, result, options);
	err = table_print(&table, out);
	table_free(&table);
	return err;
}

/* ---- around the rows ---- */

/* How much of the total is counted: all of it, a part, or nothing. */
static void
text_print_counted(FILE *out, const struct report_result *result, enum estimate_unit unit, double factor, const char *what)
{
	double total = result->total[unit], uncounted = result->uncounted.total[unit];
	double part = estimate_deviation(total, result->total_variance[unit] + result->uncounted.variance[unit]);
	bool is_about = part > REPORT_ABOUT_PART;
	char text[NUMBER_TEXT];

	number_format_rate(total * factor, what, text);
	fprintf(out, "  %s%s%s", is_about || uncounted > 0 ? "about " : "", text, uncounted > 0 ? "" : " counted");
	if (is_about) {
		number_format_rate(total * (1 - fmin(1, part)) * factor, what, text);
		fprintf(out, " (%s ..", text);
		number_format_rate(total * (1 + part) * factor, what, text);
		fprintf(out, " %s)", text);
	}
	if (uncounted >= total * (1 - 1e-9) && uncounted > 0) {
		fputs(", by samples alone", out);
	} else if (uncounted > 0) {
		number_format_rate(uncounted * factor, what, text);
		fprintf(out, ", %s of it by samples alone", text);
	}
}

/* The counted total, and the estimate from the samples alone. */
static void
print_totals(FILE *out, const struct report_result *result)
{
	enum estimate_unit unit = result->list ? result->list->sort : ESTIMATE_OCTETS;
	double factor = (unit == ESTIMATE_OCTETS ? 8 : 1) / result->seconds;
	const char *what = unit == ESTIMATE_OCTETS ? "b/s" : "pps";
	char sampled[NUMBER_TEXT];

	if (result->seconds <= 0)
		return;
	text_print_counted(out, result, unit, factor, what);
	number_format_rate(result->from_samples[unit] * factor, what, sampled);
	if (result->list && result->uncounted.total[unit] < result->total[unit] * (1 - 1e-9))
		fprintf(out, " (%s by samples)", sampled);
}

/* Lists are made of received frames; samples of sent ones only check the counters. */
static void
print_listed(FILE *out, const struct report_result *result)
{
	const struct report_sum *sums = result->sums;
	size_t c = text_column_of(result, REPORT_COUNT);
	double n = sums[REPORT_SUM_OTHERS].row[c].number + sums[REPORT_SUM_REST].row[c].number;
	char number[NUMBER_TEXT];

	for (size_t r = 0; r < result->n_rows; r++)
		n += report_cell(result, r, c)->number;
	number_format_count(n, number);
	if (n < (double)result->samples)
		fprintf(out, " (%s of received frames, below)", number);
}

static void
print_header(FILE *out, const struct report_result *result, const struct render_options *options)
{
	char complete[NUMBER_TEXT] = "-", samples[NUMBER_TEXT], expected[NUMBER_TEXT];
	char times[NUMBER_TEXT];

	if (result->expected > 0)
		number_format_completeness((double)result->samples / (double)result->expected, complete);
	number_format_count((double)result->samples, samples);
	number_format_count((double)result->expected, expected);
	(result->counted_to_us > 0 ? number_format_counted : number_format_times)(result->from_us,
	    result->to_us, options->now_us, options->utc, times);
	fprintf(out, "completeness %s  %s of %s samples", complete, samples, expected);
	if (result->list)
		print_listed(out, result);
	print_totals(out, result);
	fprintf(out, "  %s  %s\n", result->scope, times);
}

static int
print_notes(FILE *out, const struct report_result *result, int from, int to, const struct render_options *options)
{
	for (int id = from; id < to; id++)
		for (size_t i = 0; i < result->n_notes; i++) {
			const struct report_note *note = result->notes[i];
			char *text = (int)note->id == id ? note_say(result, note, options) : NULL;

			if ((int)note->id == id && !text)
				return -ENOMEM;
			if (text && *text)
				fprintf(out, "%s\n", text);
			free(text);
		}
	return 0;
}

/* "COLLECTOR since …", the one counter that is a time. */
static void
format_counters_heading(const struct report_result *result, bool utc, char *text)
{
	char time[NUMBER_TEXT];

	snprintf(text, LONG_TEXT, "COLLECTOR");
	for (size_t i = 0; i < result->n_counters; i++)
		if (strcmp(result->counters[i].name, STARTED) == 0) {
			number_format_time(result->counters[i].value, utc, time);
			snprintf(text, LONG_TEXT, "COLLECTOR since %s", time);
		}
}

static int
print_counters(FILE *out, const struct report_result *result, const struct render_options *options)
{
	struct table table = {0};
	char number[NUMBER_TEXT], heading[LONG_TEXT];
	int err;

	format_counters_heading(result, options->utc, heading);
	table_add_column(&table, heading, false);
	table_add_column(&table, "COUNT", true);
	for (size_t i = 0; i < result->n_counters; i++) {
		const struct report_counter *counter = &result->counters[i];

		if (counter->value == 0 || strcmp(counter->name, STARTED) == 0)
			continue;
		number_format_count((double)counter->value, number);
		table_add_row(&table);
		table_set(&table, 0, counter->name);
		table_set(&table, 1, number);
	}
	putc('\n', out);
	err = table_print(&table, out);
	table_free(&table);
	return err;
}

static int
print_empty(FILE *out, const struct report_result *result, const struct render_options *options)
{
	char times[NUMBER_TEXT], newest[NUMBER_TEXT], age[NUMBER_TEXT];

	if (result->newest_us == 0) {
		fputs("The store is empty: nothing was taken yet; easetop agents names who was refused.\n", out);
		return ferror(out) ? -EIO : 0;
	}
	number_format_times(result->from_us, result->to_us, options->now_us, options->utc, times);
	number_format_time(result->newest_us, options->utc, newest);
	number_format_age(((double)options->now_us - (double)result->newest_us) / 1e6, age);
	fprintf(out, "No data %s: the newest is of %s, %s ago. Try --last all.\n", times, newest, age);
	return ferror(out) ? -EIO : 0;
}

int
render_text(FILE *out, const struct report_result *result, const struct render_options *options)
{
	int err;

	if (result->empty && strcmp(result->report, "agents") != 0)
		return print_empty(out, result, options);
	print_header(out, result, options);
	err = print_notes(out, result, 0, NOTE_N_ABOVE, options);
	if (err == 0)
		err = (result->list && result->list->as_grid ? render_grid : text_print_rows)(out, result, options);
	if (err == 0)
		err = print_notes(out, result, NOTE_N_ABOVE, NOTE_N_IDS, options);
	for (const struct report_result *below = result->below; err == 0 && below; below = below->below)
		if (below->n_rows > 0) {
			putc('\n', out);
			err = text_print_rows(out, below, options);
		}
	if (err == 0 && result->n_counters > 0 && options->all)
		err = print_counters(out, result, options);
	return err == 0 && ferror(out) ? -EIO : err;
}
