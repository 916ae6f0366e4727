#include "collector/report/list_account.h"

#include "collector/query/unkeyed.h"
#include "collector/report/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void
list_allow_for_folded(const struct list *list, enum estimate_unit unit, double unkeyed, struct estimate_figure *f)
{
	if (unkeyed > 0)
		f->high = fmax(f->high, fmin(f->high + unkeyed, list->result->total[unit]));
}

void
list_fill_figures(const struct list *list, struct report_value *row,
    const struct estimate_figure figure[2], uint64_t n)
{
	enum estimate_unit unit = list->options->sort;

	*list_tail(list, row, TAIL_PKTS) = cell_figure(figure[ESTIMATE_PKTS]);
	*list_tail(list, row, TAIL_OCTETS) = cell_figure(figure[ESTIMATE_OCTETS]);
	*list_tail(list, row, TAIL_SHARE) = cell_figure(estimate_share(figure[unit],
	    estimate_range_total(list->range, unit)));
	*list_tail(list, row, TAIL_SAMPLES) = cell_number((double)n);
}

/* Sums by port of many keys, estimated together. */
static void
sum_ports(const struct list *list, const struct estimate_sums *sums, struct estimate_key *key)
{
	estimate_key_begin(key);
	for (size_t i = 0; i < list->query->n_ports; i++)
		estimate_key_add(list->range, key, i, &sums[i]);
	estimate_key_end(list->range, key);
}

static struct report_value *
new_row(const struct list *list, const struct estimate_figure figure[2], uint64_t n)
{
	struct report_value *row = calloc(list->dimension->layout->n_columns, sizeof(*row));

	if (row)
		list_fill_figures(list, row, figure, n);
	return row;
}

/* Samples by port: of the rows, of other keys, and of no key at all. */
struct by_port {
	struct estimate_sums *rows, *others, *rest;
};

static int
split_by_port(const struct list *list, struct by_port *by)
{
	size_t n_ports = list->query->n_ports, row = 0;
	struct estimate_sums *room = calloc(3 * n_ports + 1, sizeof(*room));

	if (!room)
		return -ENOMEM;
	*by = (struct by_port){room, room + n_ports, room + 2 * n_ports};
	for (size_t i = 0; i < n_ports; i++) {
		by->rest[i] = list->strata[i].all;
		if (list->left.n_keys > 0)
			by->others[i] = list->left.sums[i];
	}
	for (size_t i = 0; i < list->n; i++) {
		const struct list_entry *entry = list_entry(&list->order[i]);
		bool is_row = row < list->n_shown && list->rows[row] == i;

		row += is_row;
		for (size_t p = 0; p < entry->n_parts; p++) {
			const struct query_key *key = list_key(&entry->first[p]);

			estimate_add_sums(&(is_row ? by->rows : by->others)[key->port - list->query->ports],
			    &key->sums);
		}
	}
	for (size_t i = 0; i < n_ports; i++) {
		estimate_unite(&by->rows[i]);
		estimate_unite(&by->others[i]);
		estimate_subtract_sums(&by->rest[i], &by->rows[i]);
		estimate_subtract_sums(&by->rest[i], &by->others[i]);
	}
	return 0;
}

enum { OF_ROWS, OF_OTHERS, OF_REST, N_OF };

/* Counted figures have no limits of their own. */
static struct estimate_figure
counted_figure(double value)
{
	return (struct estimate_figure){value, value, value};
}

/* The account in one unit: all lines add up to the total. */
static void
account_for(const struct list *list, const struct estimate_order *order, const struct estimate_key of[N_OF],
    enum estimate_unit unit, struct estimate_figure lines[REPORT_N_SUMS][ESTIMATE_N_UNITS])
{
	uint64_t few = list->options->fold_few ? REPORT_FEW_SAMPLES : 1;
	struct estimate_sum of_sort = estimate_choosing(order, list->n_shown, few);
	struct estimate_sum choosing = estimate_choosing_in(&of_sort, list->options->sort, &of[OF_ROWS], unit);
	double unkeyed = unkeyed_most(list->query, list->options, NULL, unit);
	struct estimate_account seen;

	estimate_account(list->range, unit, &of[OF_ROWS], &of[OF_OTHERS], &choosing, &list->told.not_seen, &seen);
	lines[REPORT_SUM_TOGETHER][unit] = seen.rows;
	lines[REPORT_SUM_OTHERS][unit] = seen.others;
	lines[REPORT_SUM_NOT_SEEN][unit] = seen.not_seen;
	lines[REPORT_SUM_REST][unit] = estimate_key_figure(list->range, &of[OF_REST], unit, &estimate_claim_95);
	lines[REPORT_SUM_NO_SAMPLE][unit] = counted_figure(estimate_range_total(list->range, unit) -
	    estimate_range_covered(list->range, unit));
	lines[REPORT_SUM_LOST][unit] = counted_figure(list->result->lost[unit]);
	/* What is in no row because memory was full may be of any of these, and not of the rest. */
	for (int line = REPORT_SUM_TOGETHER; line <= REPORT_SUM_NOT_SEEN; line++)
		list_allow_for_folded(list, unit, unkeyed, &lines[line][unit]);
	lines[REPORT_SUM_REST][unit].low = fmax(0, lines[REPORT_SUM_REST][unit].low - unkeyed);
}

/* A smaller part than this is less than most limits leave open. */
static const double PART_TOLD = 0.01;

/* Each line as a row, of which those are said that have something to say. */
static int
add_lines(const struct list *list, const struct estimate_key of[N_OF],
    struct estimate_figure lines[REPORT_N_SUMS][ESTIMATE_N_UNITS])
{
	const uint64_t samples[REPORT_N_SUMS] = {of[OF_ROWS].sums.n, of[OF_OTHERS].sums.n, 0, of[OF_REST].sums.n};
	struct report_sum *sums = list->result->sums;
	double part;

	for (size_t i = 0; i < REPORT_N_SUMS; i++)
		if (!(sums[i].row = new_row(list, lines[i], samples[i])))
			return -ENOMEM;
	sums[REPORT_SUM_TOGETHER].said = sums[REPORT_SUM_OTHERS].said = sums[REPORT_SUM_OTHERS].n > 0;
	sums[REPORT_SUM_NOT_SEEN].said = lines[REPORT_SUM_NOT_SEEN][list->options->sort].high >= 1;
	sums[REPORT_SUM_REST].said = of[OF_REST].sums.n > 0;
	sums[REPORT_SUM_NO_SAMPLE].said = sums[REPORT_SUM_NO_SAMPLE].n > 0;
	sums[REPORT_SUM_LOST].said = lines[REPORT_SUM_LOST][ESTIMATE_PKTS].estimate >= 1;
	part = lines[REPORT_SUM_LOST][list->options->sort].estimate / list->result->total[list->options->sort];
	if (part > PART_TOLD)
		note_count(note_of(list->result, NOTE_ID_ROWS_OF_PART), "part", 1 - part);
	/* shares are of what passed while samples arrived */
	*list_tail(list, sums[REPORT_SUM_LOST].row, TAIL_SHARE) = (struct report_value){0};
	return 0;
}

static bool
list_account_has_filter(const struct report_options *options)
{
	return options->filter && options->filter->fields & ~FILTER_PLACES;
}

static const char *
rest_name(const struct list *list)
{
	if (list_account_has_filter(list->options))
		return "outside the filter";
	return list->folded > 0 ? list->dimension->rest_or_folded : list->dimension->rest;
}

/* The largest key is known to about 20 % with so many. */
enum { ENOUGH_SAMPLES = 100 };

static void
note_few(const struct list *list, uint64_t n_samples)
{
	uint64_t n_others = list->result->sums[REPORT_SUM_OTHERS].n, n_few = 0;
	double mean_skip = list->result->list->mean_skip;
	struct note_values *few;

	if (n_samples > 0 && n_samples < ENOUGH_SAMPLES && mean_skip > 1.5)
		note_count(note_of(list->result, NOTE_ID_FEW_SAMPLES), "mean_skip", mean_skip);
	for (size_t i = 0; list->options->fold_few && i < list->n; i++)
		n_few += list_entry(&list->order[i])->n < REPORT_FEW_SAMPLES;
	if (n_few == 0 || n_few != n_others)
		return;
	list->result->sums[REPORT_SUM_OTHERS].name = REPORT_FEW_NAME;
	if (list->options->as_grid)
		return;
	few = note_of(list->result, NOTE_ID_FEW_ROWS);
	note_count(few, "keys", n_few);
	note_text(few, "noun", list->dimension->noun);
	note_count(few, "samples", REPORT_FEW_SAMPLES);
}

int
list_add_account(const struct list *list, const struct estimate_order *order)
{
	struct estimate_figure lines[REPORT_N_SUMS][ESTIMATE_N_UNITS];
	struct report_sum *sums = list->result->sums;
	struct estimate_key of[N_OF];
	struct by_port by;
	int err = split_by_port(list, &by);

	if (err)
		return err;
	sum_ports(list, by.rows, &of[OF_ROWS]);
	sum_ports(list, by.others, &of[OF_OTHERS]);
	sum_ports(list, by.rest, &of[OF_REST]);
	free(by.rows);
	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		account_for(list, order, of, (enum estimate_unit)u, lines);
	for (size_t i = 0; i < list->query->n_ports; i++)
		sums[REPORT_SUM_NO_SAMPLE].n += list->strata[i].pool_pkts > 0 && list->strata[i].all.n == 0;
	sums[REPORT_SUM_OTHERS].n = list->n + list->left.n_keys - list->n_shown;
	sums[REPORT_SUM_REST].name = rest_name(list);
	sums[REPORT_SUM_LOST].name = report_lost_name(list->lost_why);
	note_few(list, of[OF_ROWS].sums.n + of[OF_OTHERS].sums.n);
	return add_lines(list, of, lines);
}
