#include "collector/report/render.h"

#include "common/clock.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

enum { SIGNIFICANT_DIGITS = 12 };

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
time_json(uint64_t time_us)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_rfc3339(time_us, text, sizeof(text));
	return json_string(text);
}

static json_t *
figure_json(const struct estimate_figure *figure)
{
	return json_pack("{s:f, s:f, s:f}", "estimate", figure->estimate, "low", figure->low,
	    "high", figure->high);
}

/* Text that is not UTF-8 (a device's port name) comes out as Latin 1 would be read. */
static json_t *
text_json(const char *text)
{
	json_t *string = json_string(text);
	json_t *latin = string ? string : json_string("");

	for (const unsigned char *c = (const unsigned char *)text; !string && latin && *c; c++) {
		char utf8[3] = {(char)*c, '\0', '\0'};
		json_t *longer;

		if (*c >= 0x80) {
			utf8[0] = (char)(0xc0 | *c >> 6);
			utf8[1] = (char)(0x80 | (*c & 0x3f));
		}
		longer = json_sprintf("%s%s", json_string_value(latin), utf8);
		json_decref(latin);
		latin = longer;
	}
	return latin;
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
	case REPORT_RANK:
		return json_pack("[i, i]", (int)value->rank.low, (int)value->rank.high);
	case REPORT_TIME:
		return time_json(value->time_us);
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
			json_object_set_new(object, result->columns[c].field,
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
			json_object_set_new(object, result->columns[c].field,
			    value_json(result->columns[c].type, &row[c]));
	return object;
}

static json_t *
others_json(const struct report_result *result)
{
	json_t *object = sum_row_json(result, result->others);

	json_object_set_new(object, "keys", json_integer((json_int_t)result->n_others));
	return object;
}

static json_t *
rest_json(const struct report_result *result)
{
	json_t *object = sum_row_json(result, result->rest);

	json_object_set_new(object, "name", json_string(result->rest_name));
	return object;
}

static void
add_key_fields(const struct report_result *result, json_t *object)
{
	if (result->others)
		json_object_set_new(object, "others", others_json(result));
	if (result->rest)
		json_object_set_new(object, "rest", rest_json(result));
	json_object_set_new(object, "folded_samples", json_integer((json_int_t)result->folded));
	json_object_set_new(object, "folded_samples_one_key_high",
	    json_integer((json_int_t)result->folded_most));
	json_object_set_new(object, "unseen_packets_high", number_json(result->unseen_pkts));
	json_object_set_new(object, "unseen", json_string(result->unseen));
	json_object_set_new(object, "mean_skip", number_json(result->mean_skip));
}

static json_t *
counters_json(const struct report_result *result)
{
	json_t *object = json_object();

	for (size_t i = 0; i < result->n_counters; i++)
		json_object_set_new(object, result->counters[i].name,
		    json_integer((json_int_t)result->counters[i].value));
	return object;
}

static json_t *
totals_json(const struct report_result *result)
{
	json_t *object = json_object();

	json_object_set_new(object, "packets", number_json(round(result->total[ESTIMATE_PKTS])));
	json_object_set_new(object, "octets", number_json(round(result->total[ESTIMATE_OCTETS])));
	json_object_set_new(object, "packets_by_samples",
	    number_json(round(result->from_samples[ESTIMATE_PKTS])));
	json_object_set_new(object, "octets_by_samples",
	    number_json(round(result->from_samples[ESTIMATE_OCTETS])));
	return object;
}

static void
add_change(json_t *object, const struct report_change *change)
{
	json_object_set_new(object, "before",
	    change->known ? figure_json(&change->before) : json_null());
	json_object_set_new(object, "change",
	    json_string(report_direction_name(change->direction)));
}

/* How keys share a row: only what a step has of them. */
static void
add_within(json_t *object, const struct report_result *within)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < within->n_rows; r++)
		json_array_append_new(rows, sum_row_json(within, report_cell(within, r, 0)));
	json_object_set_new(object, within->report, rows);
	if (within->others)
		json_object_set_new(object, "others", sum_row_json(within, within->others));
}

static json_t *
rows_json(const struct report_result *result)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < result->n_rows; r++) {
		json_t *row = row_json(result, report_cell(result, r, 0));

		if (result->changes)
			add_change(row, &result->changes[r]);
		if (result->within)
			add_within(row, &result->within[r]);
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *
result_json(const struct report_result *result)
{
	json_t *object = json_object();

	json_object_set_new(object, "report", json_string(result->report));
	json_object_set_new(object, "from", time_json(result->from_us));
	json_object_set_new(object, "to", time_json(result->to_us));
	json_object_set_new(object, "seconds", number_json(result->seconds));
	json_object_set_new(object, "empty", json_boolean(result->empty));
	json_object_set_new(object, "newest",
	    result->newest_us ? time_json(result->newest_us) : json_null());
	json_object_set_new(object, "completeness", result->expected
	    ? json_real((double)result->samples / (double)result->expected) : json_null());
	json_object_set_new(object, "samples", json_integer((json_int_t)result->samples));
	json_object_set_new(object, "expected", json_integer((json_int_t)result->expected));
	json_object_set_new(object, "totals", totals_json(result));
	if (result->step_us > 0)
		json_object_set_new(object, "step", number_json((double)result->step_us / 1e6));
	json_object_set_new(object, "rows", rows_json(result));
	if (result->n_left_out > 0)
		json_object_set_new(object, "left_out",
		    json_integer((json_int_t)result->n_left_out));
	if (result->warn > 0)
		json_object_set_new(object, "warned", json_integer((json_int_t)result->n_warned));
	if (result->below)
		json_object_set_new(object, result->below->report, rows_json(result->below));
	if (result->has_keys)
		add_key_fields(result, object);
	if (result->older_us)
		json_object_set_new(object, "sums_kept_since", time_json(result->from_us));
	if (result->kept_since_us)
		json_object_set_new(object, "samples_kept_since", time_json(result->kept_since_us));
	if (*result->work)
		json_object_set_new(object, "store_work", json_pack("{ss sI sI}", "work",
		    result->work, "done", (json_int_t)result->work_done, "total",
		    (json_int_t)result->work_total));
	if (result->cluster_lag_s > 0)
		json_object_set_new(object, "cluster_lag_s",
		    json_integer((json_int_t)result->cluster_lag_s));
	if (result->n_counters > 0)
		json_object_set_new(object, "collector", counters_json(result));
	return object;
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
