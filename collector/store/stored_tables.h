/*
 * The tables of rows, as data: one description of each, from which come its CREATE TABLE (schema.h), the statement
 * and the values that write it (tables.h), what reads a row back (load.c), and the table of the same name in a
 * cluster with both of its ends (collector/cluster/schema.h). Who adds a column adds a line here and the step that
 * gives it to stores that are there (schema.c).
 */
#ifndef EASE_COLLECTOR_STORE_STORED_TABLES_H
#define EASE_COLLECTOR_STORE_STORED_TABLES_H

#include "collector/store/batch.h"

struct sqlite3_stmt;

enum stored_form {
	STORED_ID,     /* INTEGER: SQLite's number of the row; not in the struct */
	STORED_AGENT,  /* INTEGER: the store's number of an agent; a cluster has the agent's id */
	STORED_INT,    /* INTEGER, signed */
	STORED_UINT,   /* INTEGER, of 1 to 8 octets in the struct; 2^63 and more is 2^63 - 1 in the store */
	STORED_COUNT,  /* the same, and 2^63 - 1 is EASE_COUNT_UNKNOWN */
	STORED_BOOL,   /* INTEGER, 0 or 1 */
	STORED_TEXT,   /* TEXT, ended by NUL in the struct */
	STORED_NAME,   /* TEXT, a pointer in the struct */
	STORED_OCTETS, /* BLOB */
	STORED_BLOB,   /* BLOB, a pointer in the struct; its length, 16 bits, is at `flag`, and of 0 it is NULL */
};

enum stored_when {
	STORED_ALWAYS,
	STORED_IF_SET,	  /* NULL: the number is 0, or the text "" */
	STORED_IF,	  /* NULL: the octet at `flag` is 0 */
	STORED_IF_IP,	  /* the same, which is the version of IP: 4 octets if it is 4 */
	STORED_LENGTH_U8, /* the number of octets is at `flag` */
	STORED_LENGTH_U16,
};

struct stored_column {
	const char *name;
	enum stored_form form;
	enum stored_when when;
	bool may_be_null; /* beyond what `when` says */
	bool is_local;	  /* a cluster does not have it */
	uint16_t at, room, flag; /* in the struct; a table without a struct has 0 */
	const char *otherwise; /* the value of a row that does not say it; NULL: it must */
};

struct stored_table {
	const char *name; /* NULL: sums, which are in packs */
	const struct stored_column *columns;
	size_t n_columns;
	const char *key;  /* PRIMARY KEY */
	bool has_rowid;	  /* SQLite keeps it by row number beside the key */
	size_t row_octets; /* of the struct */
};

extern const struct stored_table stored_tables[STORE_N_TABLES];
/* Rows of device names, which naming.h writes. */
extern const struct stored_table stored_naming;

bool stored_may_be_null(const struct stored_column *column);

/* The columns that are in the row's struct are bound, in their order, to parameters 1, 2, … If a bind fails, the
 * statement's step reports it. */
void stored_bind(const struct stored_table *table, const void *row, struct sqlite3_stmt *statement);

/* Reads back all columns of a row, which the statement gives in their order, into a zeroed struct: a number that is
 * NULL is 0, octets that have no room are none. Returns the column behind the last one. Not for tables with columns
 * of STORED_NAME, STORED_BLOB, STORED_IF and STORED_IF_IP, which nobody reads back. */
int stored_read(const struct stored_table *table, struct sqlite3_stmt *statement, void *row);

#endif
