#include "collector/render/table.h"

#include "common/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
table_add_row(struct table *table)
{
	size_t n = (table->n_rows + 1) * table->n_columns;
	char **cells = table->failed ? NULL : realloc(table->cells, n * sizeof(*cells));

	if (!cells) {
		table->failed = true;
		return;
	}
	table->cells = cells;
	memset(cells + n - table->n_columns, 0, table->n_columns * sizeof(*cells));
	table->n_rows++;
}

/* Columns are declared while only the heading row is there. */
void
table_add_column(struct table *table, const char *heading, bool right)
{
	char **cells;

	if (table->failed || table->n_columns == TABLE_COLUMNS_MAX)
		return;
	cells = realloc(table->cells, (table->n_columns + 1) * sizeof(*cells));
	if (!cells) {
		table->failed = true;
		return;
	}
	cells[table->n_columns] = NULL;
	table->cells = cells;
	table->right[table->n_columns++] = right;
	table->n_rows = 1;
	table_set(table, table->n_columns - 1, heading);
}

void
table_set(struct table *table, size_t column, const char *text)
{
	char *copy;

	if (table->failed || column >= table->n_columns)
		return;
	copy = utf8_printable_copy(text);
	if (!copy) {
		table->failed = true;
		return;
	}
	free(table->cells[(table->n_rows - 1) * table->n_columns + column]);
	table->cells[(table->n_rows - 1) * table->n_columns + column] = copy;
}

static const char *
table_cell(const struct table *table, size_t row, size_t column)
{
	const char *text = table->cells[row * table->n_columns + column];

	return text ? text : "";
}

/* Places on the screen: the first octets of UTF-8 characters. */
static int
width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void
measure_widths(const struct table *table, int *widths)
{
	for (size_t c = 0; c < table->n_columns; c++)
		for (size_t r = 0; r < table->n_rows; r++) {
			int width = width_of(table_cell(table, r, c));

			if (width > widths[c])
				widths[c] = width;
		}
}

/* Spaces are owed until something follows them, so that no line ends in any. */
static void
table_put_text(FILE *out, const char *text, int *owed)
{
	for (; *text; text++) {
		if (*text == ' ') {
			++*owed;
			continue;
		}
		fprintf(out, "%*s%c", *owed, "", *text);
		*owed = 0;
	}
}

static void
print_row(const struct table *table, size_t row, const int *widths, FILE *out)
{
	int owed = 0;

	for (size_t c = 0; c < table->n_columns; c++) {
		const char *text = table_cell(table, row, c);
		int fill = widths[c] - width_of(text);

		owed += table->right[c] ? fill : 0;
		table_put_text(out, text, &owed);
		owed += 2 + (table->right[c] ? 0 : fill);
	}
	putc('\n', out);
}

int
table_print(const struct table *table, FILE *out)
{
	int widths[TABLE_COLUMNS_MAX] = {0};

	if (table->failed)
		return -ENOMEM;
	measure_widths(table, widths);
	for (size_t r = 0; r < table->n_rows; r++)
		print_row(table, r, widths, out);
	return ferror(out) ? -EIO : 0;
}

void
table_free(struct table *table)
{
	for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct table){0};
}
