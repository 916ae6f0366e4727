/*
 * Which windows of which level a cluster has: asked of the tables rolled and cursor, whose columns
 * schema.c explains.
 */
#ifndef EASE_COLLECTOR_CLUSTER_LEVELS_H
#define EASE_COLLECTOR_CLUSTER_LEVELS_H

#include "collector/cluster/schema.h"

/* Rows (level UInt16, kept_us UInt64, done_us UInt64), one a level that anything was rolled up to:
 * windows from kept_us on that end by done_us are right on all servers. While late minutes have
 * arrived that a server has not rolled up yet, done_us is no later than the first of them. Of level
 * 1 done_us is where minutes are complete up to. */
void cluster_write_levels_query(FILE *out, const struct cluster_place *place);

#endif
