/*
 * Keeps the rows that managers made, a cell of the file for each writable column, so that the
 * declaration of a table (agent/snmp/managed_table.h) is all that is needed. Only rows that a request
 * named are written. A restored row passes the checks of a SET; one that fails them stays in the file
 * as it is, because what it needs (a port) may come back.
 *
 * Main loop only; whoever calls holds the transaction.
 */
#ifndef EASE_AGENT_STATE_ROWS_H
#define EASE_AGENT_STATE_ROWS_H

#include "agent/snmp/managed_table.h"
#include "agent/state_file.h"

enum { STATE_ROWS_CHANGED_MAX = 256 }; /* as many as a request can name; beyond, all are written */

struct state_row_name {
	const struct mib_table *table;
	size_t n_index;
	uint32_t index[MIB_INDEX_ARCS];
};

struct state_rows {
	struct managed_table *const *managed;
	size_t n_managed;
	bool all; /* write all rows, and delete from the file those that are gone */
	struct state_row_name changed[STATE_ROWS_CHANGED_MAX];
	size_t n_changed;
	struct state_row_name *unmade; /* rows of the file that could not be made */
	size_t n_unmade;
};

void state_rows_free(struct state_rows *rows);

/* A request has named this row. */
void state_rows_changed(struct state_rows *rows, const struct mib_set *set);
bool state_rows_wait(const struct state_rows *rows); /* something is to be written */

/* Writes the changed rows; 0 or as state_file_put. */
int state_rows_write(const struct state_rows *rows, struct state_file *file);
void state_rows_written(struct state_rows *rows); /* that transaction is on the disk */

/* Makes the rows that the file has of this table. again: those that are there stay as they are, and one that
 * cannot be made is no news. */
void state_rows_restore(struct state_rows *rows, struct state_file *file,
    struct managed_table *managed, bool again);
/* Returns how many rows of this table could not be made, and forgets which. */
size_t state_rows_forget_unmade(struct state_rows *rows, const struct managed_table *managed);

/* A row's index as in the file, "7" or "0.1.2.3", and back. */
enum { STATE_ROW_INDEX_OCTETS = 12 * MIB_INDEX_ARCS };
void state_rows_print_arcs(const uint32_t *arcs, size_t n, char *text, size_t size);
bool state_rows_parse_arcs(const char *text, uint32_t *arcs, size_t max, size_t *n);

#endif
