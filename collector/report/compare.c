#include "collector/report/compare.h"

#include "collector/query/query.h"
#include "collector/report/notes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- with a rate ---- */

static size_t
compare_column_of(const struct report_result *result, enum report_type type)
{
	size_t c = 0;

	while (c < result->n_columns && result->columns[c].type != type)
		c++;
	return c;
}

/* What a row has at least, a second; 0 where nothing is known. Of estimated figures it is the limit at which a
 * look is wrong once in a million times, for who looks at many rows looks often. */
static double
least_rate(const struct report_result *result, size_t r, enum report_type figure, double factor)
{
	const struct report_value *row = report_cell(result, r, 0);
	double most = 0;

	for (size_t c = 0; c < result->n_columns; c++) {
		double rate = 0;

		if (!row[c].known)
			continue;
		if (result->columns[c].type == figure && result->seconds > 0)
			rate = (result->list && result->list->extremes ? result->list->extremes[r].alarm[figure == REPORT_OCTETS].low
						 : row[c].figure.low) * factor / result->seconds;
		else if (result->columns[c].type == REPORT_BITRATE && figure == REPORT_OCTETS)
			rate = row[c].number;
		most = rate > most ? rate : most;
	}
	return most;
}

int
compare_with_rate(struct report_result *result, enum estimate_unit unit, double rate)
{
	enum report_type figure = unit == ESTIMATE_OCTETS ? REPORT_OCTETS : REPORT_PKTS;
	double n_warned = 0;
	bool has_column = compare_column_of(result, figure) < result->n_columns ||
	    (unit == ESTIMATE_OCTETS && compare_column_of(result, REPORT_BITRATE) < result->n_columns);

	if (!has_column)
		return -EINVAL;
	for (size_t r = 0; r < result->n_rows; r++)
		n_warned += least_rate(result, r, figure,
		    unit == ESTIMATE_OCTETS ? 8 : 1) > rate;
	note_count(note_of(result, NOTE_ID_WARNED), "warned", n_warned);
	note_set(note_of(result, NOTE_ID_WARNED), "#warn", unit == ESTIMATE_OCTETS ? REPORT_BITRATE : REPORT_RATE,
	    cell_number(rate));
	return result->failed ? -ENOMEM : 0;
}

/* ---- with the past ---- */

static int
compare_cells(enum report_type type, const struct report_value *a, const struct report_value *b)
{
	if (!a->known || !b->known)
		return (int)a->known - (int)b->known;
	if (type == REPORT_TEXT)
		return strcmp(a->text, b->text);
	return (a->number > b->number) - (a->number < b->number);
}

/* A row is identified by the columns between the rank and the place; per site, by this too. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const struct report_value *x = *(const struct report_value *const *)a;
	const struct report_value *y = *(const struct report_value *const *)b;
	const struct report_result *result = arg;
	int order = 0;

	for (size_t c = 1; order == 0 && c < result->n_columns; c++) {
		const struct report_column *column = &result->columns[c];

		if (column->field && strcmp(column->field, result->list->per_site ? "agent" : "site") == 0)
			break;
		order = compare_cells(column->type, &x[c], &y[c]);
	}
	return order;
}

/* Rows of the earlier result in the order of their keys, to look up each present row. */
struct by_key {
	const struct report_result *result;
	const struct report_value **rows;
};

static int
sort_by_key(const struct report_result *result, struct by_key *by_key)
{
	by_key->result = result;
	by_key->rows = calloc(result->n_rows + 1, sizeof(*by_key->rows));
	if (!by_key->rows)
		return -ENOMEM;
	for (size_t r = 0; r < result->n_rows; r++)
		by_key->rows[r] = report_cell(result, r, 0);
	qsort_r(by_key->rows, result->n_rows, sizeof(*by_key->rows), compare_rows, (void *)(uintptr_t)result);
	return 0;
}

static const struct report_value *
compare_find_row(const struct by_key *past, const struct report_value *row)
{
	size_t from = 0, to = past->result->n_rows;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = compare_rows(&row, &past->rows[middle],
		    (void *)(uintptr_t)past->result);

		if (order == 0)
			return past->rows[middle];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

/* Per second. Up: the estimate now is above that of then by more than both limits towards each other reach
 * together (a limit of a difference, Zou and Donner 2008). */
static bool
is_above(const struct estimate_figure *upper, double upper_s, const struct estimate_figure *lower, double lower_s)
{
	double down = (upper->estimate - upper->low) / upper_s, up = (lower->high - lower->estimate) / lower_s;

	return upper->estimate / upper_s - lower->estimate / lower_s > sqrt(down * down + up * up);
}

static enum report_direction
direction_of_change(const struct estimate_figure *now, double now_s, const struct estimate_figure *then, double then_s)
{
	if (now_s <= 0 || then_s <= 0)
		return REPORT_NOT_SETTLED;
	if (is_above(now, now_s, then, then_s))
		return REPORT_UP;
	return is_above(then, then_s, now, now_s) ? REPORT_DOWN : REPORT_NOT_SETTLED;
}

/* Octets of few samples depend on which of a key's frames were seen; then frames decide. */
enum { OCTETS_DECIDE = 20 };

/* A key that had no sample then had no more frames than can be missed at this error; of its octets nothing is
 * known, so frames are compared. */
static struct report_change
change_of(const struct report_result *result, const struct by_key *by_key, size_t r)
{
	const struct report_result *past = by_key->result;
	const struct report_value *row = report_cell(result, r, 0), *then = compare_find_row(by_key, row);
	size_t pkts = compare_column_of(result, REPORT_PKTS), octets = compare_column_of(result, REPORT_OCTETS);
	size_t samples = compare_column_of(result, REPORT_COUNT);
	size_t c = result->list->sort == ESTIMATE_PKTS ? pkts : octets;
	struct estimate_figure missed = {0, 0, past->list->given_unseen_pkts};
	enum estimate_unit unit = result->list->sort;
	struct report_change change = {.known = then != NULL};

	if (!then || row[samples].number < OCTETS_DECIDE || then[samples].number < OCTETS_DECIDE)
		unit = ESTIMATE_PKTS;
	if (then)
		change.before = then[c].figure;
	change.direction = direction_of_change(&result->list->extremes[r].change[unit], result->seconds,
	    then ? &then[unit == ESTIMATE_PKTS ? pkts : octets].figure : &missed, past->seconds);
	return change;
}

static int
fill_changes(struct report_result *result, const struct report_result *past)
{
	struct report_list *list = result->list;
	struct by_key by_key;
	int err;

	if (past->empty || past->seconds <= 0)
		return 0;
	err = sort_by_key(past, &by_key);
	if (err)
		return err;
	list->changes = calloc(result->n_rows + 1, sizeof(*list->changes));
	list->past_seconds = past->seconds;
	for (size_t r = 0; list->changes && r < result->n_rows; r++)
		list->changes[r] = change_of(result, &by_key, r);
	free(by_key.rows);
	return list->changes ? 0 : -ENOMEM;
}

int
compare_with_past(const struct report *report, struct query *query,
    const struct report_options *options, uint64_t now_us, uint64_t back_us,
    struct report_result *result)
{
	struct report_options then = *options;
	struct report_result past = {0};
	int err;

	if (!result->list) {
		snprintf(query->error, sizeof(query->error), "--versus is for lists");
		return -EINVAL;
	}
	if (result->empty || result->from_us < back_us)
		return 0;
	then.all = false;
	then.moment = (struct report_moment){0};
	then.has_from = then.has_to = true;
	then.from_us = result->from_us - back_us;
	then.to_us = result->to_us - back_us;
	then.fold_few = false;
	then.top = UINT32_MAX;
	then.error = 0.025 / (result->n_rows > 0 ? (double)result->n_rows : 1);
	then.wants_change = then.wants_alarm = false;
	/* Only the keys of these rows are read from the past; if they are more than a statement can list,
	 * all keys are. */
	if (result->list->n_keys > 0 && result->list->n_keys <= QUERY_ONLY_MAX) {
		then.only = result->list->keys;
		then.n_only = result->list->n_keys;
	}
	err = report_run(report, query, &then, now_us, &past);
	if (err == -ENOENT) { /* the store knows nothing of that time */
		*query->error = '\0';
		err = 0;
	} else if (err == 0) {
		err = fill_changes(result, &past);
	}
	if (!result->list->changes)
		note_count(note_of(result, NOTE_ID_NO_PAST), "versus_s", back_us / 1e6);
	report_result_free(&past);
	return err == 0 && result->failed ? -ENOMEM : err;
}
