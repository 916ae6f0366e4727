#include "collector/cluster/sums_sql.h"
#include "collector/cluster/sql.h"

#include <inttypes.h>
#include <string.h>

enum { MINUTE = 1 };
#define MINUTE_US ((uint64_t)STORE_WINDOW_US)

static bool
has_minutes(const struct sums_rows *rows)
{
	for (size_t i = 0; i < rows->n_runs; i++)
		if (rows->runs[i].minutes == MINUTE)
			return true;
	return false;
}

static void
put_windows(FILE *sql, const void *arg)
{
	const struct sums_rows *rows = arg;

	for (size_t i = 0; i < rows->n_runs; i++)
		fprintf(sql, "%s(level = %u AND start_us >= %" PRIu64 " AND start_us < %" PRIu64 ")", i > 0 ? " OR " : "",
		    rows->runs[i].minutes, rows->runs[i].from_us, rows->runs[i].to_us);
}

/* Those of the runs, and one before each, as who returned is seen by it. */
static void
put_minutes(FILE *sql, const void *arg)
{
	const struct sums_rows *rows = arg;
	const char *before = "(";

	for (size_t i = 0; i < rows->n_runs; i++) {
		const struct sums_run *run = &rows->runs[i];

		if (run->minutes != MINUTE)
			continue;
		fprintf(sql, "%sstart_us >= %" PRIu64 " AND start_us < %" PRIu64, before,
		    run->from_us > MINUTE_US ? run->from_us - MINUTE_US : 0, run->to_us);
		before = " OR ";
	}
	fputs(")", sql);
}

/* and_more: of rows of cover or account. */
static void
sums_sql_put_text(FILE *sql, const struct sums_rows *rows, const char *text, const char *column, const char *instead,
    const char *and_more)
{
	sql_write(sql, SQL(rows->place, &cluster_tables[rows->table], text, SQL_WRITE("windows", put_windows, rows),
	    SQL_WRITE("minutes", put_minutes, rows), SQL_TEXT("rows", rows->local ? "{table_local}" : "{table}"),
	    SQL_WRITE("join", rows->write_join ? rows->write_join : sql_put_text, rows->write_join ? rows->arg : ""),
	    SQL_WRITE("and_where", rows->write_where ? rows->write_where : sql_put_text,
	    rows->write_where ? rows->arg : rows->where),
	    SQL_WRITE("and_more", sql_put_text, and_more), SQL_TEXT("column", column), SQL_TEXT("instead", instead),
	    SQL_TEXT(has_minutes(rows) ? "" : "unless_passed_over", "1"),
	    SQL_TEXT(rows->local ? "cover" : NULL, "{cover_local}")));
}

void
sums_sql_rows(FILE *sql, const void *rows)
{
	sums_sql_put_text(sql, rows, cluster_sql[CLUSTER_SQL_COUNTING_ROWS].text, "", "", "");
}

void
sums_sql_passed_over(FILE *sql, const struct cluster_place *place, bool local, uint64_t from_us,
    uint64_t to_us, const char *where)
{
	const struct sums_run run = {MINUTE, from_us, to_us};

	sums_sql_put_text(sql, &(struct sums_rows){.place = place, .local = local, .runs = &run, .n_runs = 1},
	    cluster_sql[CLUSTER_SQL_PASSED_OVER].text, "", "", where);
}

static void
sums_sql_put_value(FILE *sql, const struct sums_rows *rows, const char *column)
{
	const char *instead = strcmp(column, "expected") == 0 ? "received"
	    : strcmp(column, "cut_numbers") == 0	      ? "0."
							      : NULL;

	if (rows->table == CLUSTER_PORTS && instead && has_minutes(rows))
		sums_sql_put_text(sql, rows, cluster_sql[CLUSTER_SQL_UNLESS_RETURNED].text, column, instead, "");
	else
		fputs(column, sql);
}

void
sums_sql_list(FILE *sql, const void *arg)
{
	const struct sums_list *list = arg;
	const struct cluster_table *t = &cluster_tables[list->rows->table];
	size_t i = 0;

	while (strcmp(cluster_column(t, i).name, "n") != 0)
		i++;
	for (const char *comma = ""; strcmp(cluster_column(t, i).name, "revision") != 0; i++, comma = ", ") {
		struct cluster_column c = cluster_column(t, i);

		fputs(comma, sql);
		if (list->form == SUMS_ZEROS)
			fprintf(sql, "to%s(0) AS ", cluster_type_names[c.type]);
		if (list->form == SUMS_TOTALS)
			fputs(strcmp(c.name, "w_max") == 0 ? "max(" : "sum(", sql);
		if (list->form >= SUMS_VALUES)
			sums_sql_put_value(sql, list->rows, c.name);
		if (list->form == SUMS_TOTALS)
			fputs(")", sql);
		else
			fprintf(sql, "%s%s", list->form == SUMS_VALUES ? " AS " : "", c.name);
	}
}
