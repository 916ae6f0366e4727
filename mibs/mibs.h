/*
 * The registry of all MIB tables and scalars that the agent serves, in OID order within each module.
 * Each module is one file. Its tables are data for the engine in agent/snmp/mib_table.h, and their
 * rows come from a struct mib_snapshot (mibs/mib_snapshot.h).
 */
#ifndef EASE_MIBS_MIBS_H
#define EASE_MIBS_MIBS_H

#include "agent/snmp/mib_table.h"

#include <stddef.h>
#include <stdio.h>

extern const struct mib_table *const mibs_tables[];
extern const size_t mibs_n_tables;

/* The modules they belong to. */
extern const struct mib_module mibs_modules[];
extern const size_t mibs_n_modules;

/* The tables whose rows agent/rmon owns. */
extern const struct mib_table rmon_mib_history_control_table, rmon_mib_alarm_table,
    rmon_mib_event_table, hc_alarm_mib_table;
/* The table whose rows agent/static_addresses.h owns. */
extern const struct mib_table bridge_mib_static_table;

/* Prints a line for each object served, with name, numeric OID, syntax and access, for
 * easeagentd --list-objects. */
void mib_list_objects(FILE *out);

#endif
