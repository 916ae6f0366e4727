/*
 * The VLANs of the ports of VLAN-aware bridges.
 */
#include "agent/linux/linux_private.h"

#include <errno.h>
#include <linux/if_bridge.h>

bool
linux_filters_vlans(const struct linux_device *d, uint32_t kernel_index)
{
	const struct links_port *bridge = links_find_kernel(&d->links, kernel_index);

	return bridge && bridge->link.filters_vlans;
}

static bool
any_filters_vlans(const struct linux_device *d)
{
	for (size_t i = 0; i < d->links.n; i++)
		if (d->links.ports[i].link.filters_vlans)
			return true;
	return false;
}

int
linux_read_vlans(struct linux_device *d)
{
	struct bridge_vlans fresh = {0};
	int rc = any_filters_vlans(d) ? kernel_get_vlans(&d->kernel, &fresh) : 0;

	if (rc < 0)
		return rc;
	bridge_vlans_free(&d->vlans);
	d->vlans = fresh;
	stat_add(&d->stats, LINUX_STAT_VLANS_LEFT_OUT, fresh.n_left_out);
	return 0;
}

static int
vlan_dump(void *ctx, int (*add)(void *arg, const struct hal_vlan_range *range), void *arg)
{
	const struct linux_device *d = ctx;
	int rc = 0;

	if (!any_filters_vlans(d))
		return -ENODEV;
	for (size_t i = 0; i < d->vlans.n && rc == 0; i++) {
		const struct bridge_vlan_range *range = &d->vlans.ranges[i];
		const struct links_port *port = links_find_kernel(&d->links, range->kernel_index);
		struct hal_vlan_range to = {.first = range->first, .last = range->last,
		    .untagged = range->flags & BRIDGE_VLAN_INFO_UNTAGGED,
		    .is_pvid = range->flags & BRIDGE_VLAN_INFO_PVID};

		if (!port || port->link.master != range->bridge || !linux_filters_vlans(d, range->bridge))
			continue;
		to.if_index = port->if_index;
		rc = add(arg, &to);
	}
	return rc;
}

const struct hal_vlans_ops linux_vlans_ops = {
    .name = "bridge vlans",
    .dump = vlan_dump,
};
