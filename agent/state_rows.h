/*
 * Saves rows that managers made, and restores them. Each writable column is saved as "subid=value",
 * so that the declaration of a table (agent/snmp/managed_table.h) is all that is needed. A restored
 * row passes the checks of a SET; if one fails, the row is left out with a message.
 */
#ifndef EASE_AGENT_STATE_ROWS_H
#define EASE_AGENT_STATE_ROWS_H

#include "agent/snmp/managed_table.h"
#include "common/options.h"

struct state_row {
	char *name; /* table and index: "alarmTable.7" */
	struct option_list columns; /* "2=i-10", "3=g7", "4=o1.3.6", "5=x6d65" (hex) */
};

struct state_rows {
	struct state_row *items;
	size_t n;
};

extern const struct option_row state_row_options[];

/* Appends the table's rows; -ENOMEM. */
int state_rows_collect(struct managed_table *managed, struct state_rows *rows);
/* Makes the rows that were saved for this table. */
void state_rows_restore(const struct state_rows *rows, struct managed_table *managed);

#endif
