#include "collector/precision_lists.h"

#include "collector/query/query.h"
#include "collector/report/report.h"

#include <math.h>
#include <string.h>

static size_t
lists_list_column(const struct report_result *result, const char *field)
{
	size_t i = 0;

	while (i < result->n_columns && (!result->columns[i].field || strcmp(result->columns[i].field, field) != 0))
		i++;
	return i;
}

static double
relative_width(const struct estimate_figure *f)
{
	return f->estimate > 0 ? (f->high - f->low) / f->estimate : 0;
}

/* Samples tell frames: how many more octets take is seen by the limits of both, which the list prints for the same claim. */
static struct precision_row
list_row(const struct precision_goal *goal, const struct estimate_figure figures[ESTIMATE_N_UNITS],
    const double totals[ESTIMATE_N_UNITS], double samples)
{
	const struct estimate_figure *f = &figures[goal->by_octets ? ESTIMATE_OCTETS : ESTIMATE_PKTS];
	double total = totals[goal->by_octets ? ESTIMATE_OCTETS : ESTIMATE_PKTS], of_pkts = relative_width(&figures[ESTIMATE_PKTS]);
	struct precision_row row = {f->estimate / total, samples, f->low / f->estimate, f->high / f->estimate, 0, 0};

	if (goal->by_octets && totals[ESTIMATE_PKTS] > 0) {
		row.pkts_share = fmin(1, figures[ESTIMATE_PKTS].estimate / totals[ESTIMATE_PKTS]);
		row.widths = of_pkts > 0 ? relative_width(f) / of_pkts : 1;
	}
	return row;
}

static void
take_list_rows(const struct precision_goal *goal, const struct report_result *result, struct precision_row *rows,
    struct precision_list *list)
{
	const enum estimate_unit unit = goal->by_octets ? ESTIMATE_OCTETS : ESTIMATE_PKTS;
	size_t pkts = lists_list_column(result, "packets"), octets = lists_list_column(result, "octets"), samples = lists_list_column(result, "samples");

	*list = (struct precision_list){rows, 0, result->list ? result->list->n_ranked : 0, result->total[ESTIMATE_PKTS],
	    (double)result->samples};
	for (size_t i = 0; i < result->n_rows && i < PRECISION_TOP_MAX; i++) {
		const struct estimate_figure figures[ESTIMATE_N_UNITS] = {[ESTIMATE_PKTS] = report_cell(result, i, pkts)->figure,
		    [ESTIMATE_OCTETS] = report_cell(result, i, octets)->figure};

		if (figures[unit].estimate <= 0 || result->total[unit] <= 0)
			break;
		rows[list->n_rows++] = list_row(goal, figures, result->total, report_cell(result, i, samples)->number);
	}
}

int
precision_read_list(struct query *query, const struct precision_goal *goal, const char *filter_text, uint64_t from_us,
    uint64_t now_us, struct precision_row *rows, struct precision_list *list)
{
	static const enum report_by by[PRECISION_N_KEYS] = {REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_SERVICE};
	struct report_options options = report_default_options();
	struct report_result result = {0};
	char error[FILTER_ERROR_TEXT];
	struct filter filter = {0};
	int err;

	options.by = by[goal->keys];
	options.sort = goal->by_octets ? ESTIMATE_OCTETS : ESTIMATE_PKTS;
	options.has_from = options.has_to = true;
	options.from_us = from_us;
	options.to_us = from_us + goal->period_s * UINT64_C(1000000);
	options.top = precision_goal_rows(goal);
	if (*filter_text && filter_add(&filter, filter_text, error) == 0)
		options.filter = &filter;
	err = report_run(report_find(goal->keys == PRECISION_SERVICES ? "protocols" : "talkers"), query, &options, now_us, &result);
	if (err == 0) {
		take_list_rows(goal, &result, rows, list);
		report_result_free(&result);
	}
	return err;
}
