/*
 * Binds tables of the engine (mib_table.h) to Net-SNMP: one handler for each table and each scalar,
 * which answers from a snapshot held for that one call. Used by snmp_agent.c only, on its thread.
 */
#ifndef EASE_AGENT_SNMP_MIB_REGISTER_H
#define EASE_AGENT_SNMP_MIB_REGISTER_H

#include "agent/snmp/mib_table.h"
#include "common/clock.h"

struct mib_registry;

struct mib_registry_options {
	const struct clock *clock;
	const struct mib_table *const *tables; /* borrowed, checked by the caller */
	size_t n_tables;
	struct mib_snapshot_source snapshots;
	struct mib_setter setter; /* apply NULL: read-only */
	int priority;		  /* of the AgentX registration, 1..255, lower wins; of a mib_region 200 */
};

/* Registers all tables, after init_agent. -ENOMEM; -EINVAL if Net-SNMP refuses one. */
int mib_registry_create(const struct mib_registry_options *options, struct mib_registry **registry);

/* The name of the table or scalar that is registered at this OID; "?" if there is none. */
const char *mib_registry_name(const struct mib_registry *registry, const uint32_t *arcs, size_t n);

/* Called when the session with the master has ended: forgets a SET in progress, whose later phases
 * will not come, and the master's sysUpTime. */
void mib_registry_reset(struct mib_registry *registry);

/* After shutdown_agent, which forgets the registrations. NULL allowed. */
void mib_registry_destroy(struct mib_registry *registry);

#endif
