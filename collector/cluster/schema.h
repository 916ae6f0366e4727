/*
 * The tables of the ClickHouse cluster, as data. From them come the statements that make them, the
 * lists of columns that are written and read, and what is dropped when. Names and meanings of
 * columns are those of the SQLite store (collector/store/schema.h) unless a row says otherwise.
 *
 * With a cluster's name each server has a table X_local, and X is the Distributed one over them,
 * sharded by agent, or by collector where there is no agent. Without, X is the table itself.
 * All tables but `migration` are ReplacingMergeTree(revision): of rows with one key the one of the
 * highest revision counts, so what is sent twice is there once. Revisions of a collector only grow;
 * those of rolled-up rows are made of the revisions they are the sum of (collector/ship/rollup.h).
 *
 * `collector` is the store's life.store_id, `agent` the 8 octets of the agent's id: numbers of a
 * store mean nothing outside it. Only SQL that ClickHouse 18.16 and current ones share.
 */
#ifndef EASE_COLLECTOR_CLUSTER_SCHEMA_H
#define EASE_COLLECTOR_CLUSTER_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLUSTER_VERSION = 1 }; /* the newest migration */

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

/* As CREATE TABLE says it. */
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
	CLUSTER_N_TABLES,
};

/* How a table is cut into partitions, which is how it is deleted. */
enum cluster_partition {
	CLUSTER_KEPT,	  /* not at all: state */
	CLUSTER_BY_LEVEL, /* (level, cluster_levels[].partition_us of start_us) */
	CLUSTER_BY_DAY,	  /* day of time_us or start_us */
	CLUSTER_BY_MONTH, /* 30 days */
};

struct cluster_table {
	const char *name;
	const struct cluster_column *columns; /* in the order they are written */
	size_t n_columns;
	const char *key; /* ORDER BY: what makes rows the same */
	const char *time; /* column that partitions and retention go by, or NULL */
	enum cluster_partition partition;
	const char *shard; /* column that says where a row belongs; NULL: where it is written */
};

extern const struct cluster_table cluster_tables[CLUSTER_N_TABLES];

/* Levels of keys, ports, folded, counter and resource, by their windows' minutes. */
enum cluster_level_index {
	CLUSTER_1_MIN,
	CLUSTER_5_MIN,
	CLUSTER_1_H,
	CLUSTER_1_D,
	CLUSTER_N_LEVELS,
};

struct cluster_level {
	unsigned minutes;
	uint64_t span_us;
	uint64_t partition_us;
};

extern const struct cluster_level cluster_levels[CLUSTER_N_LEVELS];

/* A database on a cluster; borrowed texts that no statement needs to escape. */
struct cluster_place {
	const char *database;
	const char *cluster; /* NULL or "": a server alone */
};

/* Letters, digits and _, in a cluster's name . and - too, no digit first, at most 64. */
bool cluster_is_database_name(const char *name);
bool cluster_is_cluster_name(const char *name);

/* "database.table", or with local and a cluster "database.table_local". */
void cluster_write_name(FILE *out, const struct cluster_place *place,
    const struct cluster_table *table, bool local);

/* "a, b, c" */
void cluster_write_columns(FILE *out, const struct cluster_table *table);

/* "INSERT INTO database.table (columns) FORMAT RowBinary" */
void cluster_write_insert(FILE *out, const struct cluster_place *place,
    const struct cluster_table *table);

/* The statements that bring a server from a version (0: nothing there) to CLUSTER_VERSION, one by
 * one: each may be repeated. i counts from 0; false behind the last. */
bool cluster_write_migration(FILE *out, const struct cluster_place *place, unsigned from_version,
    size_t i);

/* Asks a server's version: one UInt64. The table is there where any migration has begun. */
void cluster_write_version_query(FILE *out, const struct cluster_place *place);

#endif
