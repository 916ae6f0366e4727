/*
 * Statements as texts that can be read. What differs stands in braces:
 *
 *   {database} {cluster}               of the cluster
 *   {cover} {cover_local}              a table, of all servers together or of the one that is asked
 *   {table} {table_local}              the table that is spoken of
 *   {columns} {further_columns}        its columns, in the order they are written; all but the first
 *   {passed_over}                      another text of cluster_sql
 *   {from_us}                          what the caller gives: a number, a text with places of its own, or what a
 *                                      function writes
 *
 * What nobody gives stays as it is. easecapd --clickhouse-sql prints the texts.
 */
#ifndef EASE_COLLECTOR_CLUSTER_SQL_H
#define EASE_COLLECTOR_CLUSTER_SQL_H

#include "collector/cluster/schema.h"

struct sql_value {
	const char *name;
	const char *text;
	void (*write)(FILE *out, const void *arg);
	const void *arg;
	uint64_t number; /* if it is neither */
	bool is_signed;
};

enum { SQL_VALUES_MAX = 16 };

#define SQL_TEXT(name_, text_) {.name = (name_), .text = (text_)}
#define SQL_WRITE(name_, write_, arg_) {.name = (name_), .write = (write_), .arg = (arg_)}
#define SQL_U64(name_, number_) {.name = (name_), .number = (number_)}
#define SQL_I64(name_, number_) {.name = (name_), .number = (uint64_t)(number_), .is_signed = true}

struct sql {
	const struct cluster_place *place;
	const struct cluster_table *table; /* or NULL */
	const char *text;
	/* SQL_VALUES_MAX; the first one without a name ends them. NULL: for reading, texts within it stay names, too */
	const struct sql_value *values;
};

/* A statement with its values; valid to the end of the block. */
#define SQL(place_, table_, text_, ...) \
	(&(const struct sql){(place_), (table_), (text_), (const struct sql_value[SQL_VALUES_MAX]){__VA_ARGS__}})

void sql_write(FILE *out, const struct sql *sql);

/* For SQL_WRITE: a text as it is. */
void sql_put_text(FILE *out, const void *text);

/* A text, and what it is for. */
struct sql_text {
	const char *name, *about, *text;
};

/* Prints them for reading, each behind a comment. */
void sql_print(FILE *out, const struct cluster_place *place, const struct sql_text *texts, size_t n);

enum cluster_sql_id {
	CLUSTER_SQL_DATABASE,
	CLUSTER_SQL_MIGRATION,
	CLUSTER_SQL_LOCAL_TABLE,
	CLUSTER_SQL_DISTRIBUTED_TABLE,
	CLUSTER_SQL_LOCAL_COLUMN,
	CLUSTER_SQL_DISTRIBUTED_COLUMN,
	CLUSTER_SQL_SEED,
	CLUSTER_SQL_MIGRATED,
	CLUSTER_SQL_VERSION,
	CLUSTER_SQL_LEVELS,
	CLUSTER_SQL_PASSED_OVER,
	CLUSTER_SQL_ACCOUNTS_PASSED_OVER,
	CLUSTER_SQL_RETURNED,
	CLUSTER_SQL_UNLESS_RETURNED,
	CLUSTER_SQL_COUNTING_ROWS,
	CLUSTER_SQL_UNLESS_PASSED_OVER,
	CLUSTER_N_SQL,
};

extern const struct sql_text cluster_sql[CLUSTER_N_SQL];

#endif
