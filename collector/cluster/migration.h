/*
 * The statements that make a server's tables, and that say of which version they are.
 */
#ifndef EASE_COLLECTOR_CLUSTER_MIGRATION_H
#define EASE_COLLECTOR_CLUSTER_MIGRATION_H

#include "collector/cluster/sql.h"

/* Writes the i-th statement (from 0) of those that make what a server lacks that has tables of that version; 0: it has
 * none. Each may be repeated, but one of a column then fails with CLUSTER_ERROR_COLUMN. False after the last one. */
bool cluster_write_migration(FILE *out, const struct cluster_place *place, int64_t version, size_t i);

/* The i-th statement (from 0) of cluster_write_migration(). False after the last one. */
bool cluster_migration(struct sql *sql, struct sql_value values[SQL_VALUES_MAX], const struct cluster_place *place,
    int64_t version, size_t i);

#endif
