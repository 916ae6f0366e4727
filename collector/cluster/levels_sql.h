/*
 * SQL that reads which windows of which level a cluster has, from the tables rolled and cursor;
 * schema.c explains their columns.
 */
#ifndef EASE_COLLECTOR_CLUSTER_LEVELS_SQL_H
#define EASE_COLLECTOR_CLUSTER_LEVELS_SQL_H

#include "collector/cluster/schema.h"

/* Rows (level UInt16, kept_us UInt64, done_us UInt64), one for each level with windows: all servers
 * have correct windows from kept_us to done_us. While late minutes have arrived that a server has
 * not rolled up yet, done_us is no later than the first of them. For level 1, minutes are complete
 * up to done_us. */
void cluster_write_levels_query(FILE *out, const struct cluster_place *place);

#endif
