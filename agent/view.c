#include "agent/view.h"

#include "mibs/mib_view.h"

#include <stdlib.h>
#include <string.h>

static struct mib_system
system_figures(const struct view_parts *parts)
{
	const struct stat_set *notify = notify_ring_stats(parts->ring);
	struct mib_system system = {
	    .boot = (uint32_t)parts->state->boot,
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
hold_view(void *ctx)
{
	const struct view_parts *parts = ctx;
	struct mib_view *view = malloc(sizeof(*view));

	if (view == NULL)
		return NULL;
	view->hal = hal_snapshot_hold(parts->hal);
	view->sampling = sampling_view_hold(parts->sampling);
	view->rmon = parts->rmon ? rmon_view_hold(parts->rmon) : NULL;
	view->static_addresses = parts->static_addresses ? static_addresses_hold(parts->static_addresses) : NULL;
	view->system = system_figures(parts);
	return view;
}

static void
release_view(void *ctx, const void *held)
{
	const struct view_parts *parts = ctx;
	struct mib_view *view = (struct mib_view *)(uintptr_t)held;

	if (view == NULL)
		return;
	if (view->static_addresses != NULL)
		static_addresses_release(parts->static_addresses, view->static_addresses);
	hal_snapshot_release(view->hal);
	sampling_view_release(view->sampling);
	rmon_view_release(view->rmon);
	free(view);
}

struct mib_view_source
view_source(struct view_parts *parts)
{
	return (struct mib_view_source){parts, hold_view, release_view};
}
