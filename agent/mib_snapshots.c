#include "agent/mib_snapshots.h"

#include "mibs/mib_snapshot.h"

#include <stdlib.h>
#include <string.h>

static struct mib_system
system_figures(const struct mib_snapshot_parts *parts)
{
	const struct stat_set *notify = notify_ring_stats(parts->ring);
	struct mib_system system = {
	    .boot = parts->boot,
	    .device_kind = hal_device_kind(parts->hal),
	    .notify_sent = stat_get(notify, NOTIFY_SENT),
	    .notify_acknowledged = stat_get(notify, NOTIFY_ACKNOWLEDGED),
	    .notify_resent = stat_get(notify, NOTIFY_RESENT),
	    .notify_overflows = stat_get(notify, NOTIFY_OVERFLOW),
	    .notify_refused = stat_get(notify, NOTIFY_REFUSED),
	    .master_connects = stat_get(notify, NOTIFY_CONNECTS),
	    .device_drops = hal_device_drops(parts->hal),
	};

	memcpy(system.agent_id, parts->agent_id, sizeof(system.agent_id));
	return system;
}

static const void *
hold_snapshot(void *ctx)
{
	const struct mib_snapshot_parts *parts = ctx;
	struct mib_snapshot *snapshot = malloc(sizeof(*snapshot));

	if (snapshot == NULL)
		return NULL;
	snapshot->hal = hal_snapshot_hold(parts->hal);
	snapshot->sampling = sampling_table_hold(parts->sampling);
	snapshot->rmon = parts->rmon ? rmon_tables_hold(parts->rmon) : NULL;
	snapshot->static_addresses =
	    parts->static_addresses ? static_addresses_hold(parts->static_addresses) : NULL;
	snapshot->system = system_figures(parts);
	return snapshot;
}

static void
release_snapshot(void *ctx, const void *held)
{
	struct mib_snapshot *snapshot = (struct mib_snapshot *)(uintptr_t)held;

	(void)ctx;
	if (snapshot == NULL)
		return;
	static_addresses_release(snapshot->static_addresses);
	hal_snapshot_release(snapshot->hal);
	sampling_table_release(snapshot->sampling);
	rmon_tables_release(snapshot->rmon);
	free(snapshot);
}

struct mib_snapshot_source
mib_snapshots_from(struct mib_snapshot_parts *parts)
{
	return (struct mib_snapshot_source){parts, hold_snapshot, release_snapshot};
}
