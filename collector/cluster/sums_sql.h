/*
 * SQL that selects the rows of `keys`, `ports` and `folded` that count, each once; for reports and
 * for roll-ups.
 *
 * A row that was sent again has a higher revision. FINAL selects the newest one on the server that
 * has the row, where a subquery by revision would transfer all keys to one server.
 *
 * Minutes of several collectors may contain the same samples (duplicate sinks). If the device times
 * of two collectors overlap by half of the shorter range or more, only the collector that received
 * more samples counts, or of equal ones that with the greater number. If they overlap less, both
 * count: this is a failover, whose two ends may overlap by a second or two, or a new store. Example:
 * collector 7 has samples of 12:00:00 to 12:00:59 and collector 9 of 12:00:01 to 12:00:58; they
 * overlap, and the one with more samples counts. Windows of coarser levels have no collector,
 * because this was decided when they were made. Accounts of an agent are treated as its minutes.
 *
 * A collector that was away for a minute or more, in which another one had the agent, learns from the first
 * numbers that it hears how many were given out meanwhile. The other one expects these. So in its first minute
 * back it expects what it received, like a collector that takes over. Example: collector 7 has 12:00 and 12:05,
 * and collector 9 the minutes between; 12:05 of collector 7 expects no numbers of 12:01 to 12:04.
 */
#ifndef EASE_COLLECTOR_CLUSTER_SUMS_SQL_H
#define EASE_COLLECTOR_CLUSTER_SUMS_SQL_H

#include "collector/cluster/schema.h"

/* Windows of a level that start in [from_us, to_us). */
struct sums_run {
	unsigned minutes; /* the level */
	uint64_t from_us, to_us;
};

struct sums_rows {
	const struct cluster_place *place;
	enum cluster_table_id table; /* CLUSTER_KEYS, CLUSTER_PORTS or CLUSTER_FOLDED */
	bool local;		     /* only of the queried server, else of all servers */
	const struct sums_run *runs;
	size_t n_runs;
	/* More conditions, on columns of the key: " AND kind = 2"; or "". */
	const char *where;
	/* In its place, and after the table " GLOBAL ALL INNER JOIN …"; NULL: none. */
	void (*write_where)(FILE *sql, const void *arg), (*write_join)(FILE *sql, const void *arg);
	const void *arg;
};

/* Writes " FROM … FINAL PREWHERE … WHERE …", to which " AND …" can be added. rows: a struct sums_rows, so that it can be
 * given to SQL_WRITE. */
void sums_sql_rows(FILE *sql, const void *rows);

/* Of the columns that are summed, from n on: names; zeros of their types; "VALUE AS NAME" of a row of sums_sql_rows(), as
 * it counts; and sum(VALUE), of w_max the largest. Without runs the rows are a subquery's, which has the values. */
enum sums_form { SUMS_NAMES, SUMS_ZEROS, SUMS_VALUES, SUMS_TOTALS };

struct sums_list {
	const struct sums_rows *rows;
	enum sums_form form;
};

/* For SQL_WRITE: a struct sums_list. */
void sums_sql_list(FILE *sql, const void *list);

/* Writes "SELECT collector, agent, start_us FROM …": minutes of collectors that do not count. where:
 * more conditions, on columns of `cover`, or "". */
void sums_sql_passed_over(FILE *sql, const struct cluster_place *place, bool local,
    uint64_t from_us, uint64_t to_us, const char *where);

#endif
