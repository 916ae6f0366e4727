/*
 * What the shipper says to a cluster, as texts (collector/cluster/sql.h). Given are, where they stand in a text: me,
 * the collector; level, below (the level below), span_us (of a level's window), from_us and to_us (of windows); now_us
 * by the cluster's clock; dirty, the condition for batches or minutes that are not in a level yet.
 */
#ifndef EASE_COLLECTOR_SHIP_SHIP_SQL_H
#define EASE_COLLECTOR_SHIP_SHIP_SQL_H

#include "collector/cluster/sql.h"

enum ship_sql_id {
	SHIP_SQL_UPTIME,
	SHIP_SQL_NEWEST,
	SHIP_SQL_REVISION,
	SHIP_SQL_CURSOR,
	SHIP_SQL_ROWS,
	SHIP_SQL_BATCH,
	SHIP_SQL_COLLECTORS,
	SHIP_SQL_ROLLED,
	SHIP_SQL_DIRTY_RANGE,
	SHIP_SQL_DIRTY_WINDOWS,
	SHIP_SQL_NEW_WINDOWS,
	SHIP_SQL_SUMS,
	SHIP_SQL_DIRTY_AGENTS,
	SHIP_SQL_FORMER,
	SHIP_SQL_ENDS,
	SHIP_SQL_SAVE,
	SHIP_SQL_PARTITIONS,
	SHIP_SQL_DROP,
	SHIP_SQL_COUNT_OLD,
	SHIP_SQL_DELETE_OLD,
	SHIP_N_SQL,
};

extern const struct sql_text ship_sql[SHIP_N_SQL];

/* Rows of tables without partitions that are older than the sums of days. */
struct ship_old_rows {
	enum cluster_table_id table;
	const char *old; /* the condition */
};

enum { SHIP_N_OLD_ROWS = 10 };
extern const struct ship_old_rows ship_old_rows[SHIP_N_OLD_ROWS];

/* Prints all of it. */
void ship_print_sql(FILE *out, const struct cluster_place *place);

#endif
