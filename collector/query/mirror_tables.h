/*
 * The tables of a mirror as data: from which rows of the cluster each is filled. Part of mirror.h.
 */
#ifndef EASE_COLLECTOR_QUERY_MIRROR_TABLES_H
#define EASE_COLLECTOR_QUERY_MIRROR_TABLES_H

#include "collector/query/mirror_ask.h"

enum { MIRROR_COLUMNS_MAX = 32, MIRROR_STATEMENTS = 4 };

struct mirror_table {
	const char *name; /* in the store */
	enum cluster_table_id from;
	const char *columns; /* of `from`, and the store's unless insert says otherwise; NULL: all that both have */
	const char *select;  /* expressions of the same types; NULL: the columns; "": in the rest */
	const char *insert;  /* NULL: INSERT OR REPLACE of the columns */
	bool by_fetch_range;	     /* what is fetched depends on the range that a statement reads */
	unsigned for_rows; /* bits 1 << enum query_rows: those that it is for; 0: all */
	/* " FROM …" of each statement, with places (cluster/sql.h; mirror.c has their values). */
	const char *rest[MIRROR_STATEMENTS];
	/* In their place: writes that of the i-th statement; false if there is none. */
	bool (*write_rest)(FILE *sql, const struct query *query, unsigned i);
};

extern const struct mirror_table mirror_tables[]; /* ended by one without a name */

enum { MIRROR_COLUMNS_TEXT = 512 };
/* "agent, if_index": what is fetched of the cluster's table. */
void mirror_columns(const struct mirror_table *table, char text[MIRROR_COLUMNS_TEXT]);

#endif
