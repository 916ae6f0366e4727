/*
 * A table of short texts, printed in aligned columns once it is complete.
 */
#ifndef EASE_COLLECTOR_RENDER_TABLE_H
#define EASE_COLLECTOR_RENDER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 32 };

struct table {
	size_t n_columns, n_rows; /* row 0 is the heading */
	bool right[TABLE_COLUMNS_MAX]; /* aligned to the right */
	char **cells;		       /* owned; n_rows of n_columns, NULL is empty */
	bool failed;		       /* no memory: table_print says so */
};

/* Columns first, then rows; beyond TABLE_COLUMNS_MAX columns are left out. */
void table_add_column(struct table *table, const char *heading, bool right);
void table_add_row(struct table *table);

/* Sets a cell of the last row to a copy of text as it may be shown (utf8.h): names come from devices,
 * and a terminal must not obey them. */
void table_set(struct table *table, size_t column, const char *text);

/* Two spaces between columns, none at the end of a line. 0, -ENOMEM or -EIO. */
int table_print(const struct table *table, FILE *out);
void table_free(struct table *table);

#endif
