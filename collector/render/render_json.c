#include "collector/render/render.h"

#include "collector/report/notes.h"
#include "common/clock.h"
#include "common/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNIFICANT_DIGITS = 12 };

/* An object with one member more, an array with one element more; NULL if memory is short, and then
 * whatever is added to that is NULL too: a result is whole, or it is none. */
static json_t *
with_member(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *
append_value(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* Whole numbers are integers in JSON too. */
static json_t *
number_json(double number)
{
	if (!isfinite(number))
		return json_null();
	if (number == floor(number) && fabs(number) < 9e15)
		return json_integer((json_int_t)number);
	return json_real(number);
}

static json_t *
render_time_json(uint64_t time_us)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_rfc3339(time_us, text, sizeof(text));
	return json_string(text);
}

static json_t *
figure_json(const struct estimate_figure *figure)
{
	return json_pack("{s:f, s:f, s:f}", "estimate", figure->estimate, "low", figure->low, "high", figure->high);
}

/* What is not known of a quantile is null. */
static json_t *
quantile_json(const struct estimate_figure *figure)
{
	json_t *object = with_member(json_object(), "estimate", number_json(figure->estimate));

	return with_member(with_member(object, "low", number_json(figure->low)), "high", number_json(figure->high));
}

static json_t *
text_json(const char *text)
{
	char *shown = utf8_printable_copy(text);
	json_t *string = shown ? json_string(shown) : NULL;

	free(shown);
	return string;
}

static json_t *
value_json(enum report_type type, const struct report_value *value)
{
	if (!value->known)
		return json_null();
	switch (type) {
	case REPORT_TEXT:
		return text_json(value->text);
	case REPORT_PKTS:
	case REPORT_OCTETS:
	case REPORT_SHARE:
		return figure_json(&value->figure);
	case REPORT_NS:
	case REPORT_DEPTH:
		return quantile_json(&value->figure);
	case REPORT_RANK:
		return json_pack("[I, o]", (json_int_t)value->rank.low,
		    value->rank.high == ESTIMATE_RANK_OPEN ? json_null() : json_integer(value->rank.high));
	case REPORT_TIME:
		return render_time_json(value->time_us);
	default:
		return number_json(value->number);
	}
}

static json_t *
row_json(const struct report_result *result, const struct report_value *row)
{
	json_t *object = json_object();

	for (size_t c = 0; c < result->n_columns; c++)
		if (result->columns[c].field)
			object = with_member(object, result->columns[c].field,
			    value_json(result->columns[c].type, &row[c]));
	return object;
}

/* Only what a sum of keys has: no address, no rank. */
static json_t *
sum_row_json(const struct report_result *result, const struct report_value *row)
{
	json_t *object = json_object();

	for (size_t c = 0; c < result->n_columns; c++)
		if (result->columns[c].field && row[c].known)
			object = with_member(object, result->columns[c].field,
			    value_json(result->columns[c].type, &row[c]));
	return object;
}

/* Rows below the rows; what they have together is in the account. */
static json_t *
json_add_sums(const struct report_result *result, json_t *object)
{
	static const char *const names[REPORT_N_SUMS] = {NULL, "others", "not_seen", "rest", "no_sample", "lost"};

	for (int i = 0; i < REPORT_N_SUMS; i++) {
		const struct report_sum *sum = &result->sums[i];
		json_t *row;

		if (!sum->said || !names[i])
			continue;
		row = sum_row_json(result, sum->row);
		if (i == REPORT_SUM_OTHERS || i == REPORT_SUM_NO_SAMPLE)
			row = with_member(row, i == REPORT_SUM_OTHERS ? "keys" : "ports", json_integer((json_int_t)sum->n));
		if (i == REPORT_SUM_REST || i == REPORT_SUM_LOST)
			row = with_member(row, "name", json_string(sum->name));
		if (i == REPORT_SUM_REST && note_find(result, NOTE_ID_INNER))
			row = with_member(row, "has_inner", json_true());
		object = with_member(object, names[i], row);
	}
	return object;
}

static const struct estimate_figure *
sum_figure(const struct report_result *result, int i, int unit)
{
	enum report_type type = unit == ESTIMATE_PKTS ? REPORT_PKTS : REPORT_OCTETS;
	size_t c = 0;

	while (result->columns[c].type != type)
		c++;
	return &result->sums[i].row[c].figure;
}

/* One unit of the account in whole frames or octets, whose sum is what was counted: each line rounded, and the
 * largest takes the remainder. */
static void
round_account(const struct report_result *result, int unit, double lines[REPORT_N_SUMS])
{
	double left = round(result->total[unit]);
	int largest = 0;

	for (int i = 0; i < REPORT_N_SUMS; i++) {
		lines[i] = round(sum_figure(result, i, unit)->estimate);
		left -= lines[i];
		if (sum_figure(result, i, unit)->estimate > sum_figure(result, largest, unit)->estimate)
			largest = i;
	}
	lines[largest] += left;
}

/* What has no sample is counted and has no limits. */
static json_t *
account_json(const struct report_result *result)
{
	static const char *const names[REPORT_N_SUMS] = {"rows", "others", "not_seen", "rest", "no_sample", "lost"};
	double lines[ESTIMATE_N_UNITS][REPORT_N_SUMS];
	json_t *object = json_object(), *line;

	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		round_account(result, u, lines[u]);
	for (int i = 0; i < REPORT_N_SUMS; i++) {
		line = json_object();
		for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
			struct estimate_figure f = *sum_figure(result, i, u);

			f.estimate = lines[u][i];
			f.low = fmin(f.low, f.estimate);
			f.high = fmax(f.high, f.estimate);
			line = with_member(line, u == ESTIMATE_PKTS ? "packets" : "octets",
			    i < REPORT_SUM_NO_SAMPLE ? figure_json(&f) : number_json(f.estimate));
		}
		if (i == REPORT_SUM_NO_SAMPLE)
			line = with_member(line, "ports", json_integer((json_int_t)result->sums[i].n));
		if (i == REPORT_SUM_LOST && result->uncounted.lost_samples > 0) /* which no frames stand for */
			line = with_member(line, "uncounted_samples",
			    json_integer((json_int_t)result->uncounted.lost_samples));
		object = with_member(object, names[i], line);
	}
	return object;
}

static json_t *
add_key_fields(const struct report_result *result, json_t *object)
{
	object = json_add_sums(result, with_member(object, "account", account_json(result)));
	return with_member(object, "mean_skip", number_json(result->list->mean_skip));
}

static json_t *
render_counters_json(const struct report_result *result)
{
	json_t *object = json_object();

	for (size_t i = 0; i < result->n_counters; i++)
		object = with_member(object, result->counters[i].name,
		    json_integer((json_int_t)result->counters[i].value));
	return object;
}

static json_t *
total_limits_json(const struct report_result *result, enum estimate_unit unit)
{
	double total = result->total[unit];
	double part = estimate_deviation(total, result->total_variance[unit] + result->uncounted.variance[unit]);
	json_t *object = with_member(json_object(), "low", number_json(total * (1 - fmin(1, part))));

	return with_member(object, "high", number_json(total * (1 + part)));
}

/* Where it was not counted, or not to the end. */
static json_t *
add_total_limits(json_t *object, const struct report_result *result)
{
	if (!(result->total_variance[ESTIMATE_OCTETS] + result->uncounted.variance[ESTIMATE_OCTETS] > 0))
		return object;
	object = with_member(object, "packets_limits", total_limits_json(result, ESTIMATE_PKTS));
	return with_member(object, "octets_limits", total_limits_json(result, ESTIMATE_OCTETS));
}

static json_t *
totals_json(const struct report_result *result)
{
	json_t *object = json_object();

	object = with_member(object, "packets", number_json(round(result->total[ESTIMATE_PKTS])));
	object = with_member(object, "octets", number_json(round(result->total[ESTIMATE_OCTETS])));
	object = add_total_limits(object, result);
	object = with_member(object, "packets_by_samples", number_json(round(result->from_samples[ESTIMATE_PKTS])));
	object = with_member(object, "octets_by_samples", number_json(round(result->from_samples[ESTIMATE_OCTETS])));
	return object;
}

static json_t *
json_add_change(json_t *object, const struct report_change *change)
{
	object = with_member(object, "before", change->known ? figure_json(&change->before) : json_null());
	return with_member(object, "change", json_string(report_direction_name(change->direction)));
}

/* How keys share a row: only what a step has of them. */
static json_t *
add_within(json_t *object, const struct report_result *within)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < within->n_rows; r++)
		rows = append_value(rows, sum_row_json(within, report_cell(within, r, 0)));
	object = with_member(object, within->report, rows);
	object = add_total_limits(object, within);
	if (within->sums[REPORT_SUM_OTHERS].row)
		object = with_member(object, "others", sum_row_json(within, within->sums[REPORT_SUM_OTHERS].row));
	return object;
}

static json_t *
rows_json(const struct report_result *result)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < result->n_rows; r++) {
		json_t *row = row_json(result, report_cell(result, r, 0));

		if (result->list && result->list->changes)
			row = json_add_change(row, &result->list->changes[r]);
		if (result->steps)
			row = add_within(row, &result->steps->within[r]);
		rows = append_value(rows, row);
	}
	return rows;
}

/* ---- notes ---- */

static json_t *
values_json(const struct note_values *of)
{
	json_t *object = json_object();

	for (size_t i = 0; i < of->n; i++)
		if (*of->values[i].name != '#')
			object = with_member(object, of->values[i].name, value_json(of->values[i].type, &of->values[i].value));
	return object;
}

static json_t *
items_json(const struct report_note *note)
{
	json_t *items = json_array();

	for (size_t i = 0; i < note->n_items && i < NOTE_ITEMS; i++) {
		const struct note_value *first = note->items[i].values;
		bool is_bare = *first->name == '\0'; /* a thing that is a name alone */

		items = append_value(items, is_bare ? value_json(first->type, &first->value) : values_json(&note->items[i]));
	}
	return items;
}

/* How many things there are, the first of them, and what is said of all. */
static json_t *
note_members(const struct report_note *note)
{
	json_t *object = values_json(&note->of_all);
	char count[32];

	if (!note_kinds[note->id].items)
		return object;
	snprintf(count, sizeof(count), "n_%s", note_kinds[note->id].items);
	object = with_member(object, count, json_integer((json_int_t)note->n_items));
	return with_member(object, note_kinds[note->id].items, items_json(note));
}

/* With all members of another object, which is used up. */
static json_t *
merge_members(json_t *object, json_t *members)
{
	if (json_object_update(object, members) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(members);
	return object;
}

/* What a result has beside its notes, for programs that ask for one of them. Notes of one key share its object. */
static json_t *
add_note(json_t *object, const struct report_note *note)
{
	const struct note_kind *kind = &note_kinds[note->id];
	json_t *there, *members;

	if (kind->shape == NOTE_APART)
		return object;
	if (kind->shape == NOTE_LIST)
		return with_member(object, kind->key, items_json(note));
	members = note_members(note);
	if (kind->shape == NOTE_MEMBERS)
		return merge_members(object, members);
	if (kind->shape == NOTE_INNER)
		members = with_member(json_object(), kind->name, members);
	there = json_object_get(object, kind->key);
	return with_member(object, kind->key, there ? merge_members(json_incref(there), members) : members);
}

static json_t *
said_json(const struct report_result *result)
{
	static const char *const severities[] = {"hint", "caution", "warning"};
	json_t *array = json_array();

	for (int id = 0; id < NOTE_N_IDS; id++)
		for (size_t i = 0; i < result->n_notes; i++) {
			const struct report_note *note = result->notes[i];
			char *text = (int)note->id == id ? note_say(result, note, NULL) : NULL;
			json_t *object;

			if ((int)note->id != id || (text && !*text)) {
				free(text);
				continue;
			}
			object = with_member(json_object(), "id", json_string(note_kinds[id].name));
			object = with_member(object, "severity", json_string(severities[note_kinds[id].severity]));
			object = with_member(object, "text", text ? json_string(text) : NULL);
			array = append_value(array, with_member(object, "values", note_members(note)));
			free(text);
		}
	return array;
}

static json_t *
result_json(const struct report_result *result)
{
	json_t *object = json_object();

	object = with_member(object, "report", json_string(result->report));
	object = with_member(object, "from", render_time_json(result->from_us));
	object = with_member(object, "to", render_time_json(result->to_us));
	object = with_member(object, "seconds", number_json(result->seconds));
	object = with_member(object, "empty", json_boolean(result->empty));
	object = with_member(object, "newest", result->newest_us ? render_time_json(result->newest_us) : json_null());
	if (result->counted_to_us > 0)
		object = with_member(object, "counted_to", render_time_json(result->counted_to_us));
	object = with_member(object, "completeness", result->expected
	    ? json_real((double)result->samples / (double)result->expected) : json_null());
	object = with_member(object, "samples", json_integer((json_int_t)result->samples));
	object = with_member(object, "expected", json_integer((json_int_t)result->expected));
	object = with_member(object, "totals", totals_json(result));
	if (result->steps)
		object = with_member(object, "step", number_json((double)result->steps->step_us / 1e6));
	object = with_member(object, "rows", rows_json(result));
	for (const struct report_result *below = result->below; below; below = below->below)
		object = with_member(object, below->report, rows_json(below));
	if (result->list)
		object = add_key_fields(result, object);
	if (result->n_counters > 0)
		object = with_member(object, "collector", render_counters_json(result));
	for (size_t i = 0; i < result->n_notes; i++)
		object = add_note(object, result->notes[i]);
	return with_member(object, "notes", said_json(result));
}

int
render_json(FILE *out, const struct report_result *result, const struct render_options *options)
{
	json_t *object = result_json(result);
	int err;

	(void)options; /* times are UTC */
	if (!object)
		return -ENOMEM;
	err = json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER |
	    JSON_REAL_PRECISION(SIGNIFICANT_DIGITS)) == 0 && putc('\n', out) != EOF ? 0 : -EIO;
	json_decref(object);
	return err;
}
