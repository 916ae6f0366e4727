/*
 * The agent without its threads and without SNMP, for tests that read and set objects through the
 * table engine: a dummy switch with sampling, energy and buffers added, HAL, sampling, RMON, and MIB
 * snapshots. Settings are carried out at once. The test moves the clock.
 */
#ifndef EASE_TESTS_AGENT_RIG_H
#define EASE_TESTS_AGENT_RIG_H

#include "agent/hal/hal_provider.h"
#include "agent/standard_monitor.h"
#include "agent/settings.h"
#include "agent/mib_snapshots.h"

enum { AGENT_RIG_PORTS = 3, AGENT_RIG_ADDRESSES = 5 };

struct agent_rig {
	struct clock clock;
	struct hal_device device; /* the dummy's, with what it lacks */
	const struct hal_ports_ops *working_ports;
	struct hal_ports_ops failing_ports;
	struct hal_addresses_ops addresses;
	struct hal *hal;
	struct sampling *sampling;
	struct notify_ring *ring;
	struct standard_monitor *standard_monitor;
	struct static_addresses *static_addresses;
	struct managed_table *managed[RMON_N_MANAGED + 1];
	struct mib_snapshot_parts snapshot_parts;
	struct mib_snapshot_source snapshots;
	struct settings_owners owners;
};

/* rig must not be moved. */
int agent_rig_create(struct agent_rig *rig);
void agent_rig_destroy(struct agent_rig *rig);

/* From now on the hardware refuses ifAdminStatus, although the check of the setting succeeds. */
void agent_rig_fail_ports(struct agent_rig *rig, bool fail);

/* Moves the clock, does what is due, and publishes. */
void agent_rig_step(struct agent_rig *rig, uint64_t us);

/* The snapshot that tables are answered from. Close it before the next change. */
struct mib_context agent_rig_open(struct agent_rig *rig);
void agent_rig_close(struct agent_rig *rig, const struct mib_context *context);

/* The apply of a struct mib_setter whose ctx is the rig. Publishes after each change. */
int agent_rig_apply(void *rig, const struct mib_set *sets, size_t n, enum mib_phase phase,
    size_t *failed);

#endif
