#include "collector/cluster/sums_sql.h"

#include <inttypes.h>
#include <string.h>

enum { MINUTE = 1 };
#define MINUTE_US 60000000ull

/* The rows of one minute, or of one account, are tuples (received, collector, first, last, expected)
 * of its collectors. A tuple x does not count if there is a y that is greater (received more, or as
 * much and has the greater number), overlaps with x by at least half of the shorter range, and if
 * both together received more samples than expected, so that they cannot be different samples. */
static void
put_passed_over(FILE *sql, const char *thing, const char *columns)
{
	fprintf(sql, "SELECT tupleElement(lost, 2) AS collector, %s FROM (SELECT %s,"
	    " arrayJoin(arrayFilter(x -> arrayExists(y ->"
	    " (tupleElement(y, 1), tupleElement(y, 2)) > (tupleElement(x, 1), tupleElement(x, 2))"
	    " AND 2 * (toInt64(least(tupleElement(x, 4), tupleElement(y, 4))) -"
	    " toInt64(greatest(tupleElement(x, 3), tupleElement(y, 3)))) >="
	    " toInt64(least(tupleElement(x, 4) - tupleElement(x, 3),"
	    " tupleElement(y, 4) - tupleElement(y, 3)))"
	    " AND tupleElement(x, 1) + tupleElement(y, 1) > greatest(tupleElement(x, 5),"
	    " tupleElement(y, 5)), each), each)) AS lost FROM"
	    " (SELECT %s, groupArray((received, collector, %s)) AS each FROM ",
	    thing, thing, thing, columns);
}

static void
put_end_of_passed_over(FILE *sql, const char *thing, const char *where)
{
	fprintf(sql, "%s GROUP BY %s HAVING count() > 1))", where, thing);
}

static void
put_range(FILE *sql, uint64_t from_us, uint64_t to_us)
{
	fprintf(sql, "start_us >= %" PRIu64 " AND start_us < %" PRIu64, from_us, to_us);
}

void
sums_sql_passed_over(FILE *sql, const struct cluster_place *place, bool local, uint64_t from_us,
    uint64_t to_us, const char *where)
{
	/* The expected samples of a minute are unknown: 0 makes all overlapping ones the same. */
	put_passed_over(sql, "agent, start_us", "low_us, high_us, toUInt64(0)");
	cluster_write_name(sql, place, &cluster_tables[CLUSTER_COVER], local);
	fputs(" FINAL WHERE ", sql);
	put_range(sql, from_us, to_us);
	put_end_of_passed_over(sql, "agent, start_us", where);
}

void
sums_sql_accounts_passed_over(FILE *sql, const struct cluster_place *place, const char *where)
{
	/* A collector that was away for a while overlaps the one that replaced it: expected decides. */
	put_passed_over(sql, "agent, boot, if_index", "first_us, last_us, expected");
	cluster_write_name(sql, place, &cluster_tables[CLUSTER_ACCOUNTS], false);
	fputs(" FINAL WHERE 1", sql);
	put_end_of_passed_over(sql, "agent, boot, if_index", where);
}

/* Minutes of collectors that another one had the minute before of, and they not. */
static void
put_returned(FILE *sql, const struct sums_rows *rows, const struct sums_run *run)
{
	const struct cluster_table *cover = &cluster_tables[CLUSTER_COVER];
	static const char *const before[] = {"GLOBAL NOT IN (SELECT collector, agent", "GLOBAL IN (SELECT agent"};

	fputs("SELECT collector, agent, start_us FROM ", sql);
	cluster_write_name(sql, rows->place, cover, rows->local);
	fputs(" WHERE ", sql);
	put_range(sql, run->from_us, run->to_us);
	for (int i = 0; i < 2; i++) {
		fprintf(sql, " AND (%sagent, start_us) %s, start_us + %llu FROM ", i == 0 ? "collector, " : "", before[i],
		    MINUTE_US);
		cluster_write_name(sql, rows->place, cover, rows->local);
		fputs(" WHERE ", sql);
		put_range(sql, run->from_us > MINUTE_US ? run->from_us - MINUTE_US : 0, run->to_us);
		fputs(")", sql);
	}
}

void
sums_sql_value(FILE *sql, const struct sums_rows *rows, const char *column)
{
	const char *returned = strcmp(column, "expected") == 0 ? "received"
	    : strcmp(column, "cut_numbers") == 0	       ? "0."
							       : NULL;

	if (rows->table == CLUSTER_PORTS && returned)
		for (size_t i = 0; i < rows->n_runs; i++) {
			if (rows->runs[i].minutes != MINUTE)
				continue;
			fputs("if(level = 1 AND (collector, agent, start_us) GLOBAL IN (", sql);
			put_returned(sql, rows, &rows->runs[i]);
			fprintf(sql, "), %s, ", returned);
		}
	fputs(column, sql);
	if (rows->table == CLUSTER_PORTS && returned)
		for (size_t i = 0; i < rows->n_runs; i++)
			fputs(rows->runs[i].minutes == MINUTE ? ")" : "", sql);
}

/* The columns that are put together begin with n and end before revision. All but w_max are sums. */
void
sums_sql_columns(FILE *sql, const struct sums_rows *rows)
{
	const struct cluster_table *t = &cluster_tables[rows->table];
	size_t i = 0;

	while (strcmp(cluster_column(t, i).name, "n") != 0)
		i++;
	for (const char *comma = ""; strcmp(cluster_column(t, i).name, "revision") != 0; i++) {
		fprintf(sql, "%s%s(", comma, strcmp(cluster_column(t, i).name, "w_max") == 0 ? "max" : "sum");
		sums_sql_value(sql, rows, cluster_column(t, i).name);
		fputs(")", sql);
		comma = ", ";
	}
}

static void
put_run(FILE *sql, const struct sums_run *run)
{
	fprintf(sql, "(level = %u AND ", run->minutes);
	put_range(sql, run->from_us, run->to_us);
	fputs(")", sql);
}

static void
put_without_passed_over(FILE *sql, const struct sums_rows *rows, const struct sums_run *run)
{
	fputs(" AND NOT (level = 1 AND (collector, agent, start_us) GLOBAL IN (", sql);
	sums_sql_passed_over(sql, rows->place, rows->local, run->from_us, run->to_us, "");
	fputs("))", sql);
}

/* Conditions on columns of the key may be in PREWHERE, before FINAL; others may not. */
void
sums_sql_rows(FILE *sql, const struct sums_rows *rows)
{
	fputs(" FROM ", sql);
	cluster_write_name(sql, rows->place, &cluster_tables[rows->table], rows->local);
	fprintf(sql, " FINAL%s PREWHERE (", rows->join ? rows->join : "");
	for (size_t i = 0; i < rows->n_runs; i++) {
		fputs(i > 0 ? " OR " : "", sql);
		put_run(sql, &rows->runs[i]);
	}
	fprintf(sql, ")%s WHERE 1", rows->where);
	for (size_t i = 0; i < rows->n_runs; i++)
		if (rows->runs[i].minutes == MINUTE)
			put_without_passed_over(sql, rows, &rows->runs[i]);
}
