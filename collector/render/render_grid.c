/*
 * A matrix as text: sources down, destinations across, in each cell the rate and the larger
 * distance of its limits in per cent. Addresses are numbered in the order of the largest pairs, and
 * a column has only its number: the row of that number has the address.
 */
#include "collector/render/render.h"
#include "collector/render/table.h"
#include "common/number_format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct grid {
	const struct report_result *result;
	size_t src, dst, figure; /* columns */
	const char *addresses[REPORT_GRID_ADDRESSES];
	size_t n_addresses;
	size_t n_left_out; /* pairs with an address that found no place */
};

static size_t
field_column(const struct report_result *result, const char *field)
{
	size_t c = 0;

	while (!result->columns[c].field || strcmp(result->columns[c].field, field) != 0)
		c++;
	return c;
}

/* The number of an address; REPORT_GRID_ADDRESSES if there is no place left. Rows come largest
 * first. */
static size_t
grid_place(struct grid *grid, const char *address)
{
	for (size_t i = 0; i < grid->n_addresses; i++)
		if (strcmp(grid->addresses[i], address) == 0)
			return i;
	if (grid->n_addresses == REPORT_GRID_ADDRESSES)
		return REPORT_GRID_ADDRESSES;
	grid->addresses[grid->n_addresses] = address;
	return grid->n_addresses++;
}

static const struct report_value *
find_pair(const struct grid *grid, size_t src, size_t dst)
{
	for (size_t r = 0; r < grid->result->n_rows; r++) {
		const struct report_value *row = report_cell(grid->result, r, 0);

		if (strcmp(row[grid->src].text, grid->addresses[src]) == 0 &&
		    strcmp(row[grid->dst].text, grid->addresses[dst]) == 0)
			return &row[grid->figure];
	}
	return NULL;
}

static void
format_cell(const struct grid *grid, const struct estimate_figure *figure, char *text)
{
	double factor = (grid->result->list->sort == ESTIMATE_OCTETS ? 8 : 1) / grid->result->seconds;
	double off = fmax(figure->high - figure->estimate, figure->estimate - figure->low);
	double percent = ceil(100 * off / figure->estimate - 1e-9);
	double rate = figure->estimate * factor;
	char number[NUMBER_TEXT];

	number_format(rate, number_scale(rate), number);
	snprintf(text, NUMBER_TEXT, "%.20s ±%.0f%%", number, fmin(percent, 999));
}

static void
grid_add_rows(struct grid *grid, struct table *table)
{
	char text[NUMBER_TEXT];

	for (size_t s = 0; s < grid->n_addresses; s++) {
		table_add_row(table);
		snprintf(text, sizeof(text), "%zu", s + 1);
		table_set(table, 0, text);
		table_set(table, 1, grid->addresses[s]);
		for (size_t d = 0; d < grid->n_addresses; d++) {
			const struct report_value *value = find_pair(grid, s, d);

			if (value && grid->result->seconds > 0)
				format_cell(grid, &value->figure, text);
			else
				strcpy(text, ".");
			table_set(table, 2 + d, text);
		}
	}
}

static void
grid_add_headings(const struct grid *grid, struct table *table)
{
	char text[NUMBER_TEXT];

	table_add_column(table, "", true);
	table_add_column(table,
	    grid->result->list->sort == ESTIMATE_OCTETS ? "bit/s from \\ to" : "pps from \\ to",
	    false);
	for (size_t d = 0; d < grid->n_addresses; d++) {
		snprintf(text, sizeof(text), "%zu", d + 1);
		table_add_column(table, text, true);
	}
}

static void
print_rest(FILE *out, const struct grid *grid)
{
	const struct report_result *result = grid->result;
	char number[NUMBER_TEXT];

	number_format_count((double)(grid->n_left_out + result->sums[REPORT_SUM_OTHERS].n), number);
	if (grid->n_left_out + result->sums[REPORT_SUM_OTHERS].n > 0)
		fprintf(out, "%s more pairs: talkers --by pair lists them.\n", number);
}

int
render_grid(FILE *out, const struct report_result *result, const struct render_options *options)
{
	struct grid grid = {
		.result = result,
		.src = field_column(result, "src"),
		.dst = field_column(result, "dst"),
		.figure = field_column(result,
		    result->list->sort == ESTIMATE_OCTETS ? "octets" : "packets"),
	};
	struct table table = {0};
	int err;

	(void)options;
	for (size_t r = 0; r < result->n_rows; r++) {
		const struct report_value *row = report_cell(result, r, 0);
		size_t s = grid_place(&grid, row[grid.src].text), d = grid_place(&grid, row[grid.dst].text);

		grid.n_left_out += s == REPORT_GRID_ADDRESSES || d == REPORT_GRID_ADDRESSES;
	}
	grid_add_headings(&grid, &table);
	grid_add_rows(&grid, &table);
	err = table_print(&table, out);
	table_free(&table);
	if (err == 0)
		print_rest(out, &grid);
	return err == 0 && ferror(out) ? -EIO : err;
}
