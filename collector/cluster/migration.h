/*
 * The statements that make a server's tables, and that say of which version they are.
 */
#ifndef EASE_COLLECTOR_CLUSTER_MIGRATION_H
#define EASE_COLLECTOR_CLUSTER_MIGRATION_H

#include "collector/cluster/sql.h"

/* Writes the i-th statement (from 0) of those that make the tables that a server lacks. Each may be repeated. False
 * after the last one. */
bool cluster_write_migration(FILE *out, const struct cluster_place *place, size_t i);

/* The i-th statement (from 0) of cluster_write_migration(). False after the last one. */
bool cluster_migration(struct sql *sql, struct sql_value values[SQL_VALUES_MAX], const struct cluster_place *place, size_t i);

#endif
