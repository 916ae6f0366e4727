/*
 * All MIB tables and scalars that the agent serves, in OID order within each module. Each module is
 * one file whose tables are data for the engine (agent/snmp/mib_table.h) over a struct mib_snapshot
 * (mibs/mib_snapshot.h).
 */
#ifndef EASE_MIBS_MIBS_H
#define EASE_MIBS_MIBS_H

#include "agent/snmp/mib_table.h"

#include <stddef.h>
#include <stdio.h>

extern const struct mib_table *const mibs_tables[];
extern const size_t mibs_n_tables;

/* Those whose rows agent/rmon owns. */
extern const struct mib_table rmon_mib_history_control_table, rmon_mib_alarm_table,
    rmon_mib_event_table;
/* Its rows are agent/static_addresses.h's. */
extern const struct mib_table bridge_mib_static_table;

/* Every object served, one a line: name, numeric OID, syntax, access (easeagentd --list-objects). */
void mib_list_objects(FILE *out);

#endif
