/*
 * The Linux device's judgement of who forwards the frames of each port: collects what forwarding.h judges by, and
 * has ports sampled in another way when the judgement changes.
 */
#include "agent/linux/driver_info.h"
#include "agent/linux/linux_private.h"

#include "common/log.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <stdio.h>
#include <string.h>

/* ---- drivers ---- */

/* What differs between drivers of switch chips and cannot be asked for, as of Linux 6.12. *assumed* */
static const struct chip_driver {
	const char *begin;	 /* of its name */
	bool kernel_counts_chip; /* the kernel's counters of its links are the hardware's */
	bool octets_of_data;	 /* as in struct links_port */
} chip_drivers[] = {
    {"rocker", false, false}, {"netdevsim", false, false}, {"realtek", true, true}, {"rtl8", true, true},
    {"ksz", true, false}, {"sja1105", true, false}, {"mscc_felix", true, false}, {"mscc_seville", true, false},
    {"ar9331", true, false},
};

/* Drivers that are no DSA drivers keep the kernel's counters for the hardware's, those of DSA for the CPU's. */
static void
look_at_driver(struct links_port *port)
{
	char name[DRIVER_NAME_MAX + 1];

	port->kernel_counts_chip = port->link.conduit == 0;
	driver_name(port->link.name, name);
	for (size_t i = 0; i < sizeof(chip_drivers) / sizeof(chip_drivers[0]); i++) {
		const struct chip_driver *driver = &chip_drivers[i];

		if (strncmp(name, driver->begin, strlen(driver->begin)) != 0)
			continue;
		port->kernel_counts_chip = driver->kernel_counts_chip;
		port->octets_of_data = driver->octets_of_data;
		return;
	}
}

/* ---- devlink ---- */

static int
take_devlink_port(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct devlink_port devlink;
	struct links_port *port;
	int rc = devlink_parse_port(message, &devlink);

	if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	port = rc == 0 ? links_find_kernel(&d->links, devlink.kernel_index) : NULL;
	if (port)
		port->devlink = devlink;
	return 0;
}

/* Asks once for each port of a chip; a dump has all of them. */
static void
read_devlink(struct linux_device *d)
{
	bool ask = false;

	for (size_t i = 0; i < d->links.n; i++) {
		struct links_port *port = &d->links.ports[i];

		if (!links_is_of_chip(&port->link) || port->asked_devlink)
			continue;
		port->asked_devlink = ask = true;
	}
	if (ask)
		(void)kernel_get_devlink_ports(&d->kernel, take_devlink_port, d);
}

/* ---- evidence ---- */

/* The kernel index of the bridge that the link is in, by itself or as a member of an aggregate; 0: none. */
static uint32_t
bridge_of(const struct linux_device *d, const struct rtnl_link *link)
{
	const struct links_port *master = links_find_kernel(&d->links, link->master);

	if (strcmp(link->master_kind, "bridge") == 0)
		return link->master;
	return master && strcmp(master->link.master_kind, "bridge") == 0 ? master->link.master : 0;
}

/* Whether the link is an aggregate, whose members stand for it. */
static bool
has_members(const struct linux_device *d, const struct rtnl_link *link)
{
	for (size_t i = 0; i < d->links.n; i++)
		if (d->links.ports[i].link.master == link->kernel_index)
			return true;
	return false;
}

static void
look_at_bridge(const struct linux_device *d, const struct links_port *port, struct forwarding_evidence *evidence)
{
	uint32_t bridge = bridge_of(d, &port->link);

	for (size_t i = 0; bridge != 0 && i < d->links.n; i++) {
		const struct links_port *other = &d->links.ports[i];
		bool same_aggregate = other->link.master == port->link.master && port->link.master != bridge;

		if (other == port || other->share_of || same_aggregate || bridge_of(d, &other->link) != bridge)
			continue;
		if (links_is_of_chip(&other->link) && links_same_switch(&port->link, &other->link))
			evidence->beside_own = true;
		else if (!evidence->beside_other && !has_members(d, &other->link))
			evidence->beside_other = true;
	}
}

static uint8_t
judge_port_forwarding(const struct linux_device *d, const struct links_port *port)
{
	struct forwarding_evidence evidence = {
	    .of_chip = links_is_of_chip(&port->link),
	    .offloaded = port->offloaded,
	};

	if (evidence.of_chip)
		look_at_bridge(d, port, &evidence);
	return forwarding_judge(&evidence, &port->comparison);
}

void
linux_note_offload(struct linux_device *d, const struct rtnl_neighbour *neighbour)
{
	struct links_port *port;

	if (neighbour->gone || !(neighbour->flags & (NTF_OFFLOADED | NTF_EXT_LEARNED)))
		return;
	port = links_find_kernel(&d->links, neighbour->kernel_index);
	if (!port || port->offloaded || !links_is_of_chip(&port->link))
		return;
	port->offloaded = true;
	d->judge = true;
}

/* ---- judgement ---- */

static const char *
linux_words_of(uint8_t forwarding)
{
	static const char *const words[] = {
	    [EASE_FORWARDING_SOFTWARE] = "the kernel",
	    [EASE_FORWARDING_HARDWARE] = "a switch chip, which passes only a part of them to the kernel",
	    [EASE_FORWARDING_MIXED] =
		"a switch chip among its own ports, and by the kernel between these and others of the bridge",
	};

	return words[forwarding];
}

/* What a chip forwards is a warning if it is not sampled: linux_sample_port says that. */
static void
tell_judgement(struct linux_device *d, const struct links_port *port, uint8_t before)
{
	if (before == EASE_FORWARDING_NOT_KNOWN && port->forwarding == EASE_FORWARDING_SOFTWARE)
		return;
	log_info("linux", "%s: frames are forwarded by %s", port->link.name, linux_words_of(port->forwarding));
	if (before != EASE_FORWARDING_NOT_KNOWN)
		stat_add(&d->stats, LINUX_STAT_JUDGED_ANEW, 1);
}

static void
sample_anew(struct linux_device *d, uint32_t if_index)
{
	linux_unsample_port(d, links_find(&d->links, if_index));
	linux_sample_port(d, links_find(&d->links, if_index));
	if (!d->device.hal)
		return;
	hal_report_skips_lost(d->device.hal, if_index);
	hal_report_port_changed(d->device.hal, if_index);
}

void
linux_judge_new(struct linux_device *d, struct links_port *port)
{
	if (links_is_of_chip(&port->link))
		look_at_driver(port);
	d->judge = true; /* the others of its bridge may be judged otherwise now */
	if (!d->device.hal)
		return; /* not all links are known yet */
	port->forwarding = judge_port_forwarding(d, port);
	tell_judgement(d, port, EASE_FORWARDING_NOT_KNOWN);
	linux_sample_port(d, port);
}

static void
judge_one(struct linux_device *d, uint32_t if_index)
{
	struct links_port *port = links_find(&d->links, if_index);
	uint8_t before = port->forwarding;

	port->forwarding = judge_port_forwarding(d, port);
	if (port->forwarding == before && links_is_sampled(port) == port->was_sampled)
		return;
	if (port->forwarding != before)
		tell_judgement(d, port, before);
	sample_anew(d, if_index);
}

/* CPU shares come and go meanwhile, each behind its link. */
void
linux_judge_ports(struct linux_device *d)
{
	d->judge = false;
	read_devlink(d);
	links_mark_conduits(&d->links);
	for (size_t i = 0; i < d->links.n; i++)
		if (d->links.ports[i].share_of == 0)
			judge_one(d, d->links.ports[i].if_index);
}

void
linux_judge_forwarding(struct linux_device *d, struct links_port *port)
{
	port->forwarding = judge_port_forwarding(d, port);
}
