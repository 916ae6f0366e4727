/*
 * What bridges of the Linux device know: addresses that they have learned or were given, their ageing time, and the
 * VLANs of their ports.
 */
#include "agent/linux/linux_private.h"

#include <errno.h>
#include <linux/if_bridge.h>
#include <string.h>

enum { CENTISECONDS = 100 }; /* of a second: the kernel's unit of the ageing time */

static const struct links_port *
linux_first_bridge(const struct linux_device *d)
{
	for (size_t i = 0; i < d->links.n; i++)
		if (d->links.ports[i].link.has_ageing)
			return &d->links.ports[i];
	return NULL;
}

/* The first of the bridges that do not tell VLANs apart; NULL: there is none. */
static const struct links_port *
first_plain_bridge(const struct linux_device *d)
{
	for (size_t i = 0; i < d->links.n; i++)
		if (d->links.ports[i].link.has_ageing && !d->links.ports[i].link.filters_vlans)
			return &d->links.ports[i];
	return NULL;
}

static int
address_dump(void *ctx, int (*add)(void *arg, const struct hal_address *address), void *arg)
{
	const struct linux_device *d = ctx;
	const struct links_port *first_plain = first_plain_bridge(d);
	int rc = 0;

	if (!linux_first_bridge(d))
		return -ENODEV;
	for (size_t i = 0; i < d->fdb.n_slots && rc == 0; i++) {
		const struct fdb_entry *entry = &d->fdb.slots[i];
		const struct links_port *port, *bridge;
		struct hal_address address = {.vlan = entry->vlan, .status = entry->status};

		if (entry->kernel_index == 0)
			continue;
		port = links_find_kernel(&d->links, entry->kernel_index);
		bridge = links_find_kernel(&d->links, entry->bridge);
		if (!port || !bridge)
			continue; /* it has just gone, and notices of its addresses will follow */
		address.bridge = bridge->if_index;
		if (!bridge->link.filters_vlans)
			address.fdb = bridge == first_plain ? HAL_DEFAULT_VLAN : HAL_LOCAL_FDB + bridge->if_index;
		address.if_index = port->if_index;
		memcpy(address.mac, entry->mac, sizeof(address.mac));
		rc = add(arg, &address);
	}
	return rc;
}

static uint64_t
address_changes(void *ctx)
{
	return ((const struct linux_device *)ctx)->fdb.changes;
}

static uint32_t
address_ageing_s(void *ctx)
{
	const struct links_port *bridge = linux_first_bridge(ctx);

	return bridge ? bridge->link.ageing_cs / CENTISECONDS : 0;
}

/* Sets it for all bridges, because a manager sees one switch. */
static int
address_set_ageing_s(void *ctx, uint32_t seconds)
{
	struct linux_device *d = ctx;
	int rc = linux_first_bridge(d) ? 0 : -ENODEV;

	for (size_t i = 0; i < d->links.n && rc == 0; i++) {
		struct rtnl_link *link = &d->links.ports[i].link;

		if (!link->has_ageing)
			continue;
		rc = kernel_set_ageing(&d->kernel, link->kernel_index, seconds * CENTISECONDS);
		if (rc == 0)
			link->ageing_cs = seconds * CENTISECONDS;
	}
	return rc;
}

/* Removes the static address at every port. */
static int
remove_static(struct linux_device *d, const uint8_t mac[6])
{
	uint32_t done = 0;
	int rc = 0;

	for (size_t i = 0; i < d->fdb.n_slots && rc == 0; i++) {
		const struct fdb_entry *entry = &d->fdb.slots[i];

		if (entry->kernel_index == 0 || entry->kernel_index == done ||
		    entry->status != HAL_ADDRESS_MGMT || memcmp(entry->mac, mac, 6) != 0)
			continue;
		done = entry->kernel_index; /* removed in all VLANs of that port */
		rc = kernel_set_static(&d->kernel, done, mac, false);
	}
	return rc == -ENOENT ? 0 : rc; /* another process has removed it */
}

static int
address_set_static(void *ctx, const uint8_t mac[6], uint32_t if_index)
{
	struct linux_device *d = ctx;
	const struct links_port *port = links_find(&d->links, if_index);

	if (if_index == 0)
		return remove_static(d, mac);
	if (!port || strcmp(port->link.master_kind, "bridge") != 0)
		return -ENODEV;
	return kernel_set_static(&d->kernel, port->link.kernel_index, mac, true);
}

/* The kernel does not count addresses that a bridge could not learn. */
const struct hal_addresses_ops linux_addresses_ops = {
    .name = "bridge fdb",
    .dump = address_dump,
    .changes = address_changes,
    .ageing_s = address_ageing_s,
    .set_ageing_s = address_set_ageing_s,
    .set_static = address_set_static,
};

/* ---- VLANs ---- */

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
