/*
 * The tables of the ClickHouse cluster, as data. The statements that create them, the lists of
 * columns for writing and reading, and the retention are derived from them. A table that the SQLite store has, too
 * (stored_tables.h), has the columns of that, but for its local ones, with the level before them where there is one,
 * and behind them the collector and the revision. Others say their columns themselves.
 *
 * With the name of a cluster each server has a table X_local, and X is the Distributed table over
 * them, sharded by agent, or by collector where there is no agent. Without a name, X is the table
 * itself. All tables but `migration` are ReplacingMergeTree(revision): of rows with the same key the
 * one with the highest revision counts, so rows that are sent twice count once. Revisions of a
 * collector only grow; the revision of a rolled-up row is the sum of those of its minutes
 * (collector/ship/ship_rollup.h).
 *
 * `collector` is the store's life.store_id, and `agent` the 8 octets of the agent's id, because
 * numbers of a store have no meaning outside it. Only SQL that both ClickHouse 18.16 and current
 * versions understand is used.
 */
#ifndef EASE_COLLECTOR_CLUSTER_SCHEMA_H
#define EASE_COLLECTOR_CLUSTER_SCHEMA_H

#include "collector/store/levels.h"
#include "collector/store/stored_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of the tables. Those from before CLUSTER_FIRST_VERSION were never released, and are refused. A later version that
 * gives a table new columns adds an ALTER TABLE for each to the statements that make tables. */
enum { CLUSTER_VERSION = 13, CLUSTER_FIRST_VERSION = 8 };

enum cluster_type {
	CLUSTER_U8,
	CLUSTER_U16,
	CLUSTER_U32,
	CLUSTER_U64,
	CLUSTER_I64,
	CLUSTER_F64,
	CLUSTER_TEXT,	    /* String: text or octets */
	CLUSTER_AGENT_ID,   /* FixedString(8) */
	CLUSTER_I64_OR_NULL,
	CLUSTER_TEXT_OR_NULL,
	CLUSTER_N_TYPES,
};

/* The types as in CREATE TABLE. */
extern const char *const cluster_type_names[CLUSTER_N_TYPES];

struct cluster_column {
	const char *name;
	enum cluster_type type;
};

enum cluster_table_id {
	CLUSTER_KEYS,
	CLUSTER_PORTS,
	CLUSTER_FOLDED,
	CLUSTER_COVER,
	CLUSTER_AGENTS,
	CLUSTER_PORT_STATES,
	CLUSTER_SAMPLES,
	CLUSTER_COUNTERS,
	CLUSTER_RESOURCES,
	CLUSTER_ERROR_SOURCES,
	CLUSTER_ACCOUNTS,
	CLUSTER_GONE,
	CLUSTER_EVENTS,
	CLUSTER_OUTAGES,
	CLUSTER_STATS,
	CLUSTER_COLLECTORS,
	CLUSTER_CURSORS,
	CLUSTER_ROLLED,
	CLUSTER_GAPS,
	CLUSTER_IDENTITIES,
	CLUSTER_NAMING,
	CLUSTER_DISCARDS,
	CLUSTER_ODDITIES,
	CLUSTER_LINKS,
	CLUSTER_N_TABLES,
};

/* How a table is partitioned; retention drops whole partitions. */
enum cluster_partition {
	CLUSTER_KEPT,	  /* not partitioned: state, kept for ever */
	CLUSTER_BY_LEVEL, /* (level, store_levels[].partition_us of start_us) */
	CLUSTER_BY_DAY,	  /* day of time_us or start_us */
	CLUSTER_BY_MONTH, /* 30 days */
};

struct cluster_table {
	const char *name;
	const struct stored_table *stored; /* whose columns it has; NULL: its own */
	const struct cluster_column *columns; /* in the order they are written; the last one is revision */
	size_t n_columns;
	const char *key; /* ORDER BY: rows with equal keys replace each other */
	const char *time; /* column that partitions and retention go by, or NULL */
	enum cluster_partition partition;
	const char *shard; /* column that selects the shard; NULL: the server that it is written to */
};

extern const struct cluster_table cluster_tables[CLUSTER_N_TABLES];

/* The columns of either kind, in the order they are written. */
size_t cluster_n_columns(const struct cluster_table *table);
struct cluster_column cluster_column(const struct cluster_table *table, size_t i);
/* CLUSTER_N_TYPES: it has no such column. name: n octets. */
enum cluster_type cluster_type_of(const struct cluster_table *table, const char *name, size_t n);

/* A cluster has the store's levels from LEVEL_1_MIN to before this: in keys, ports, folded, counter and resource. */
enum { CLUSTER_LEVELS_END = LEVEL_1_D + 1 };

/* A database on a cluster; borrowed texts that need no escaping in SQL. */
struct cluster_place {
	const char *database;
	const char *cluster; /* NULL or "": a single server */
};

static inline bool
cluster_is_sharded(const struct cluster_place *place)
{
	return place->cluster && *place->cluster;
}

/* Letters, digits and _, in a cluster's name . and - too, no digit first, at most 64. */
bool cluster_is_database_name(const char *name);
bool cluster_is_cluster_name(const char *name);

/* "database.table", or with local and a cluster "database.table_local". */
void cluster_write_name(FILE *out, const struct cluster_place *place,
    const struct cluster_table *table, bool local);

#endif
