/*
 * The Linux device's ports and their Energy Efficient Ethernet.
 */
#include "agent/linux/linux_private.h"

#include <errno.h>
#include <linux/devlink.h>
#include <stdio.h>
#include <string.h>

static size_t
linux_port_count(void *ctx)
{
	return ((struct linux_device *)ctx)->links.n;
}

static uint32_t
linux_port_if_index(void *ctx, size_t i)
{
	return ((struct linux_device *)ctx)->links.ports[i].if_index;
}

/* The ifIndex of a link by the kernel's index; 0: it is not served. */
static uint32_t
linux_number_of(const struct linux_device *d, uint32_t kernel_index)
{
	const struct links_port *port = kernel_index ? links_find_kernel(&d->links, kernel_index) : NULL;

	return port ? port->if_index : 0;
}

static bool
is_lag(const char *kind)
{
	return strcmp(kind, "bond") == 0 || strcmp(kind, "team") == 0;
}

/* A port of a chip may face a virtual machine, another chip or the CPU. */
bool
linux_has_connector(const struct links_port *known)
{
	if (known->devlink.has_flavour)
		return known->devlink.flavour == DEVLINK_PORT_FLAVOUR_PHYSICAL;
	return links_has_connector(known);
}

/* It is an interface above its link. */
static void
fill_share(const struct linux_device *d, const struct links_port *known, struct hal_port *port)
{
	snprintf(port->name, sizeof(port->name), "%s CPU share", known->link.name);
	snprintf(port->descr, sizeof(port->descr), "frames of %s that reach the CPU", known->link.name);
	port->if_type = LINKS_TYPE_SHARE;
	port->duplex = EASE_DUPLEX_UNKNOWN;
	port->off_bridge = true;
	port->is_share = true;
	port->lower = linux_number_of(d, known->share_of);
}

static int
linux_port_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	struct linux_device *d = ctx;
	const struct links_port *known = linux_port_to_read(d, if_index);
	const struct rtnl_link *link;

	if (!known)
		return -ENODEV;
	link = &known->link;
	memcpy(port->name, link->name, sizeof(link->name));
	memcpy(port->alias, link->alias, sizeof(link->alias));
	memcpy(port->descr, link->name, sizeof(link->name)); /* as snmpd has it: stations find ports by this text */
	if (known->devlink.name[0])
		snprintf(port->descr, sizeof(port->descr), "Linux switch port %s, devlink %s", link->name,
		    known->devlink.name);
	port->if_type = links_if_type(known);
	port->mtu_octets = link->mtu_octets;
	port->speed_bps = known->modes.speed_bps;
	port->duplex = known->modes.duplex;
	port->pause_admin = ethtool_pause_admin(&known->pause);
	port->pause_oper = ethtool_pause_oper(&known->pause, &known->modes, links_oper_status(link) == EASE_IF_UP);
	memcpy(port->mac, link->mac, sizeof(port->mac));
	port->admin_status = link->flags & IFF_UP ? EASE_IF_UP : EASE_IF_DOWN;
	port->oper_status = links_oper_status(link);
	port->forwarding = known->forwarding;
	port->sampled_by = known->sampled_by;
	if (known->share_of) {
		fill_share(d, known, port);
		return 0;
	}
	port->has_connector = linux_has_connector(known);
	port->base_port = known->base_port;
	port->off_bridge = port->base_port == 0;
	port->vlan_unaware = !linux_filters_vlans(d, link->master);
	port->over_others = !links_is_sampled(known);
	port->not_ethernet = !links_is_ethernet(link);
	port->promiscuous = link->promiscuous;
	if (is_lag(link->master_kind))
		port->lag_parent = linux_number_of(d, link->master);
	else if (!port->off_bridge)
		port->bridge = linux_number_of(d, link->master);
	port->lower = linux_number_of(d, link->lower);
	return 0;
}

static int
linux_port_set_admin_status(void *ctx, uint32_t if_index, uint8_t admin_status)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	bool up = admin_status == EASE_IF_UP;
	int rc;

	if (!port || port->share_of)
		return -ENODEV;
	rc = kernel_set_up(&d->kernel, port->link.kernel_index, up);
	if (rc == 0) /* the kernel's notice comes later */
		links_set_up(&port->link, up);
	return rc;
}

static int
linux_port_set_alias(void *ctx, uint32_t if_index, const char *alias)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	int rc;

	if (!port || port->share_of)
		return -ENODEV;
	rc = kernel_set_alias(&d->kernel, port->link.kernel_index, alias);
	if (rc == 0) /* the kernel's notice comes later */
		snprintf(port->link.alias, sizeof(port->link.alias), "%s", alias);
	return rc;
}

static int
port_set_pause(void *ctx, uint32_t if_index, uint8_t mode)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	int rc;

	if (!port || !port->pause.known)
		return -ENODEV;
	rc = kernel_set_pause(&d->kernel, port->link.kernel_index,
	    mode == HAL_PAUSE_RCV || mode == HAL_PAUSE_BOTH,
	    mode == HAL_PAUSE_XMIT || mode == HAL_PAUSE_BOTH);
	if (rc < 0)
		return rc;
	/* A driver that negotiates flow control may accept the request and change nothing. */
	kernel_get_pause(&d->kernel, port->link.kernel_index, &port->pause);
	return ethtool_pause_admin(&port->pause) == mode ? 0 : -EIO;
}

static void
port_forget(void *ctx, const char *name)
{
	links_forget(&((struct linux_device *)ctx)->links, name);
}

const struct hal_ports_ops linux_ports_ops = {
    .name = "linux",
    .count = linux_port_count,
    .if_index = linux_port_if_index,
    .get = linux_port_get,
    .set_admin_status = linux_port_set_admin_status,
    .set_alias = linux_port_set_alias,
    .set_pause = port_set_pause,
    .forget = port_forget,
};

/* ---- Energy Efficient Ethernet: a state; no driver reports how long low-power idle lasted ---- */

static int
linux_energy_read(void *ctx, uint32_t if_index, struct hal_energy *energy)
{
	const struct linux_device *d = ctx;
	const struct links_port *port = links_find(&d->links, if_index);

	if (!port || port->eee_state == HAL_EEE_NOT_KNOWN)
		return -ENODEV;
	*energy = (struct hal_energy){.state = port->eee_state};
	return 0;
}

const struct hal_energy_ops linux_energy_ops = {
    .name = "ethtool eee",
    .read = linux_energy_read,
};
