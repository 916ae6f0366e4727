#include "agent/linux/linux_device.h"

#include "agent/linux/driver_info.h"
#include "agent/linux/linux_private.h"
#include "common/close_fd.h"
#include "common/log.h"

#include <errno.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	NOTICE_OCTETS = 8 << 20, /* for notices of 4,096 interfaces at once, less than 2 KiB each */
	DRIVER_NOTICE_OCTETS = 1 << 20, /* for settings that people change */
	ADDRESS_TRIES = 4,
	REREAD_WAIT_US = 50000, /* after links could not be read */
	LATER_WAIT_US = 1000000, /* after links came and went while they were read, or left and made room */
	ADDRESS_DATAGRAMS = 1, /* for each turn: some 400 addresses; the kernel walks its table for each datagram */
};

static const struct stat_name stat_names[LINUX_N_STATS] = {
    [LINUX_STAT_CHANGES] = {"linux.changes", "notices of links received from the kernel"},
    [LINUX_STAT_OVERFLOWS] = {"linux.overflows",
	"times the kernel dropped notices for lack of room; all links were then read again"},
    [LINUX_STAT_DAMAGED] = {"linux.damaged", "malformed messages from the kernel, ignored"},
    [LINUX_STAT_LINKS_LEFT_OUT] = {"linux.links_left_out", "interfaces not served: there are too many"},
    [LINUX_STAT_STATS_ERRORS] = {"linux.stats_errors", "times the counters of a link could not be read"},
    [LINUX_STAT_DRIVER_ERRORS] = {"linux.driver_errors",
	"requests to a driver whose answer was lost, so that its values are not known"},
    [LINUX_STAT_VLANS_LEFT_OUT] = {"linux.vlans_left_out",
	"ranges of VLANs of bridge ports left out because there are too many"},
    [LINUX_STAT_ADDRESSES_LEFT_OUT] = {"linux.addresses_left_out",
	"addresses of bridges not kept: there are too many"},
    [LINUX_STAT_TAPS_REFUSED] = {"linux.taps_refused", "ports that cannot be sampled"},
    [LINUX_STAT_TAPS_CLEANED] = {"linux.taps_cleaned",
	"ports where an earlier agent, which was killed, had left its tap or filters"},
    [LINUX_STAT_TAPS_RENEWED] = {"linux.taps_renewed",
	"times a tap, or filters of psample, were put back that another program had removed with their hook (clsact)"},
    [LINUX_STAT_RING_ERRORS] = {"linux.ring_errors",
	"times eBPF's ring could not be read; its samples stay in it"},
    [LINUX_STAT_SAMPLES] = {"linux.samples", "samples received from the kernel"},
    [LINUX_STAT_SAMPLES_OUTDATED] = {"linux.samples_outdated",
	"samples discarded: the port is gone, or its skips or rate have changed since"},
    [LINUX_STAT_SAMPLES_LOST] = {"linux.samples_lost",
	"samples lost: the rate changed before they arrived"},
    [LINUX_STAT_OWN_FRAMES] = {"linux.own_frames",
	"samples of this machine's own notifications and sFlow; at a mean skip below 16 they are not sent"},
    [LINUX_STAT_SAMPLES_UNCUT] = {"linux.samples_uncut",
	"psample samples of a frame not yet cut into segments, reported as one full-length frame"},
    [LINUX_STAT_PSAMPLE_LOST] = {"linux.psample_lost",
	"psample samples lost, by the gaps in their sequence numbers"},
    [LINUX_STAT_JUDGED_ANEW] = {"linux.judged_anew",
	"times the forwarding of a port's frames went over from the kernel to a switch chip, or back"},
    [LINUX_STAT_DROPS] = {"linux.drops", "dropped packets that were reported"},
    [LINUX_STAT_DROPS_LIMITED] = {"linux.drops_limited", "dropped packets not reported because of drops_per_s"},
    [LINUX_STAT_DROPS_LOST] = {"linux.drops_lost",
	"dropped packets that the kernel had no room to report, in its own queue or in the agent's socket"},
    [LINUX_STAT_DROPS_OWN] = {"linux.drops_own",
	"dropped packets of this machine's own notifications and sFlow, not reported"},
    [LINUX_STAT_DROPS_NO_PORT] = {"linux.drops_no_port",
	"dropped packets that came in by no interface that is served, or that this machine made"},
    [LINUX_STAT_DROPS_BY_CHIP] = {"linux.drops_by_chip", "of all of these, packets that a switch chip dropped"},
    [LINUX_STAT_DROP_MONITOR_BUSY] = {"linux.drop_monitor_busy",
	"times the kernel's drop monitor could not be had, or another program had stopped it"},
    [LINUX_STAT_SENSORS_LEFT_OUT] = {"linux.sensors_left_out",
	"sensors of hardware monitors not served, because there are more than 500; counted each time that they are read"},
    [LINUX_STAT_MODULE_ERRORS] = {"linux.module_errors", "times a transceiver that is plugged in could not be read"},
    [LINUX_STAT_LLDPCLI_FAILURES] = {"linux.lldpcli_failures",
	"times lldpd's client failed, took more than 10 s, or said what is not understood; neighbours stayed as they were"},
    [LINUX_STAT_NEIGHBOURS_LEFT_OUT] = {"linux.neighbours_left_out",
	"LLDP neighbours left out each time they were read: one has no identity that LLDP knows, or there are too many"},
    [LINUX_STAT_PSAMPLE_OVERFLOWS] = {"linux.psample_overflows",
	"times the kernel dropped psample samples for lack of room"},
};

/* ---- addresses ---- */

static void
report_new_address(struct linux_device *d, const struct rtnl_neighbour *neighbour)
{
	const struct links_port *port = links_find_kernel(&d->links, neighbour->kernel_index);
	struct ease_address address = {.vlan = neighbour->vlan};

	if (!d->device.hal || !port)
		return;
	address.if_index = port->if_index;
	address.time_us = clock_wall_us(d->clock);
	memcpy(address.mac, neighbour->mac, sizeof(address.mac));
	hal_report_new_address(d->device.hal, &address);
}

/* Returns 1 if the address is newly learned. */
static int
linux_take_neighbour(struct linux_device *d, struct fdb *fdb, const struct rtnl_neighbour *neighbour)
{
	/* Of its ports' own addresses a bridge has entries of VLANs even while it takes no notice of VLANs. */
	bool known = neighbour->vlan == 0 || linux_filters_vlans(d, neighbour->master);
	int rc = known && fdb_concerns(neighbour) ? fdb_update(fdb, neighbour) : 0;

	linux_note_offload(d, neighbour);
	if (rc < 0)
		stat_add(&d->stats, LINUX_STAT_ADDRESSES_LEFT_OUT, 1);
	return rc;
}

static int
take_listed_neighbour(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct rtnl_neighbour neighbour;
	int rc = rtnl_parse_neighbour(message, &neighbour);

	if (rc == 0)
		linux_take_neighbour(d, &d->fresh, &neighbour);
	else if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	return 0;
}

static int
begin_addresses(struct linux_device *d)
{
	int rc;

	fdb_free(&d->fresh);
	d->reread = false;
	rc = linux_read_vlans(d);
	if (rc == -EAGAIN) { /* those from before are better than none */
		d->incomplete = true;
		rc = 0;
	}
	if (rc == 0)
		rc = kernel_start_neighbours(&d->kernel);
	d->reading = rc == 0;
	return rc;
}

static void
end_addresses(struct linux_device *d)
{
	uint64_t changes = d->fdb.changes + 1;

	fdb_free(&d->fdb);
	d->fdb = d->fresh;
	d->fdb.changes = changes;
	d->fresh = (struct fdb){0};
	d->reading = false;
}

/* A table that changes while it is read is read again, a few times; later changes come as notices
 * anyway. 1 while there is more. */
static int
linux_read_addresses(struct linux_device *d, unsigned max_datagrams)
{
	int rc = kernel_continue_neighbours(&d->kernel, max_datagrams, take_listed_neighbour, d);

	if (rc == -EAGAIN && ++d->tries < ADDRESS_TRIES) {
		rc = begin_addresses(d);
		return rc < 0 ? rc : 1;
	}
	if (rc > 0)
		return rc;
	if (rc == 0 || rc == -EAGAIN) {
		end_addresses(d);
		return 0;
	}
	d->reading = false;
	return rc;
}

/* ---- clock ---- */

static uint64_t
linux_device_now_us(void *ctx)
{
	return clock_wall_us(((struct linux_device *)ctx)->clock);
}

static uint64_t
linux_device_steady_us(void *ctx)
{
	return clock_mono_us(((struct linux_device *)ctx)->clock);
}

static int
set_timer(struct linux_device *d)
{
	bool reread_first = d->reread_us != 0 && (d->alarm_us == 0 || d->reread_us < d->alarm_us);
	uint64_t when_us = reread_first ? d->reread_us : d->alarm_us;
	struct itimerspec when = {
	    .it_value = {.tv_sec = (time_t)(when_us / 1000000),
		.tv_nsec = (long)(when_us % 1000000) * 1000 + 1},
	};

	return timerfd_settime(d->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

/* ---- changes ---- */

static void
report_changed(struct linux_device *d, uint32_t if_index)
{
	if (d->device.hal)
		hal_report_port_changed(d->device.hal, if_index);
}

/* Netlink has radios as Ethernet hardware. */
static uint8_t
radio_of(const struct rtnl_link *link)
{
	char type[DRIVER_NAME_MAX + 1];

	driver_devtype(link->name, type);
	if (strcmp(type, "wlan") == 0)
		return LINKS_RADIO_WLAN;
	return strcmp(type, "wwan") == 0 ? LINKS_RADIO_WWAN : LINKS_RADIO_NONE;
}

/* Reads from the driver what was negotiated when the link came up, and what is configured. */
static void
read_driver_settings(struct linux_device *d, struct links_port *port)
{
	uint32_t kernel_index = port->link.kernel_index;

	kernel_get_modes(&d->kernel, kernel_index, &port->modes);
	kernel_get_pause(&d->kernel, kernel_index, &port->pause);
	kernel_get_eee(&d->kernel, kernel_index, &port->eee_state);
	port->reads_driver = true; /* it may count now what it did not before */
	if (port->link.kind[0] == '\0' && links_is_ethernet(&port->link))
		port->radio = radio_of(&port->link);
}

static void
add_link(struct linux_device *d, const struct rtnl_link *link)
{
	struct links_port *port;
	int rc = links_add(&d->links, link, &port);

	if (rc < 0) {
		d->left_out = true;
		stat_add(&d->stats, LINUX_STAT_LINKS_LEFT_OUT, 1);
		log_warn_limited("linux", "interface %s is not served: %s", link->name,
		    rc == -ENOSPC ? "there are too many interfaces" : strerror(-rc));
		return;
	}
	if (d->device.hal && links_is_bridged(link)) /* at the start numbers wait until all links are known */
		links_number_ports(&d->links);
	read_driver_settings(d, port);
	linux_judge_new(d, port);
	port = links_find_kernel(&d->links, link->kernel_index); /* a CPU share may have moved it */
	report_changed(d, port->if_index);
}

/* Has all links read again after a while. */
static void
read_later(struct linux_device *d, uint64_t wait_us)
{
	d->stale = true;
	d->reread_us = linux_device_steady_us(d) + wait_us;
	(void)set_timer(d);
}

static void
linux_remove_port(struct linux_device *d, struct links_port *port)
{
	uint32_t if_index = port->if_index;

	linux_unsample_port(d, port); /* its CPU share stands behind it */
	links_remove(&d->links, port);
	d->judge = true;
	if (d->left_out && !d->stale)
		read_later(d, LATER_WAIT_US);
	report_changed(d, if_index);
}

/* The CPU share is what its link is. */
static void
update_share(struct linux_device *d, const struct rtnl_link *link)
{
	struct links_port *share = links_share(&d->links, link->kernel_index);
	uint32_t key;

	if (!share)
		return;
	key = share->link.kernel_index;
	share->link = *link;
	share->link.kernel_index = key;
	report_changed(d, share->if_index);
}

static void
update_port(struct linux_device *d, struct links_port *port, const struct rtnl_link *link)
{
	bool differ = links_differ(&port->link, link);

	d->reread |= port->link.filters_vlans != link->filters_vlans;
	if (port->link.master != link->master)
		port->offloaded = false; /* those were addresses of another bridge */
	if (port->link.master != link->master || port->link.bridge_port != link->bridge_port)
		port->base_port = 0;
	port->link = *link;
	if (!differ)
		return;
	if (links_is_bridged(link))
		links_number_ports(&d->links);
	d->judge = true;
	read_driver_settings(d, port);
	report_changed(d, port->if_index);
	update_share(d, link);
}

/* Updates one link from the kernel's message. */
static void
linux_take_link(struct linux_device *d, const struct rtnl_link *link)
{
	struct links_port *port = links_find_kernel(&d->links, link->kernel_index);

	if (port && link->gone)
		linux_remove_port(d, port);
	else if (port)
		update_port(d, port, link);
	else if (!link->gone)
		add_link(d, link);
}

static int
linux_take_notice(void *ctx, const struct nlmsghdr *message)
{
	struct rtnl_neighbour neighbour;
	struct linux_device *d = ctx;
	struct rtnl_link link;
	int rc = rtnl_parse_link(message, &link);

	if (rc == 0) {
		stat_add(&d->stats, LINUX_STAT_CHANGES, 1);
		linux_take_link(d, &link);
		return 0;
	}
	if (rc == -ENOMSG)
		rc = rtnl_parse_neighbour(message, &neighbour);
	if (rc == 0 && linux_take_neighbour(d, &d->fdb, &neighbour) > 0)
		report_new_address(d, &neighbour);
	if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	/* When VLANs change, a bridge moves its own addresses between ports without a notice. */
	d->reread |= rtnl_is_of_bridge(message);
	return 0;
}

static bool
linux_list_has(const struct rtnl_link *list, size_t n, uint32_t kernel_index)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].kernel_index == kernel_index)
			return true;
	return false;
}

/* Reads all links as they are now. Links that no longer exist are removed first, so that a new link of
 * the same name gets the number. */
static int
read_all_links(struct linux_device *d)
{
	struct rtnl_link *list;
	size_t n;
	int rc = kernel_get_links(&d->kernel, &list, &n);

	if (rc < 0)
		return rc;
	d->left_out = false;
	d->incomplete |= rc > 0;
	for (size_t i = rc > 0 ? 0 : d->links.n; i > 0; i--) {
		struct links_port *port = &d->links.ports[i - 1];

		if (port->share_of == 0 && !linux_list_has(list, n, port->link.kernel_index))
			linux_remove_port(d, port);
	}
	for (size_t i = 0; i < n; i++)
		linux_take_link(d, &list[i]);
	links_number_ports(&d->links);
	free(list);
	return 0;
}

/* Reads the links at once, and begins to read the addresses in portions. */
static int
begin_reading(struct linux_device *d)
{
	int rc = read_all_links(d);

	d->tries = 0;
	if (rc == 0)
		rc = begin_addresses(d);
	d->stale = rc < 0;
	if (rc == 0 && d->incomplete)
		read_later(d, LATER_WAIT_US);
	d->incomplete = false;
	return rc;
}

static int
device_read_all(struct linux_device *d)
{
	int rc = begin_reading(d);

	while (rc == 0 && d->reading)
		if (linux_read_addresses(d, UINT_MAX) < 0)
			rc = -EIO;
	return rc;
}

/* 1 if there is more to read, or reading has to begin anew. */
static int
continue_reading(struct linux_device *d)
{
	int rc = linux_read_addresses(d, ADDRESS_DATAGRAMS);

	if (rc < 0)
		d->stale = true;
	return rc != 0;
}

/* 1 if there may be more. */
static int
receive_links(struct linux_device *d)
{
	int rc = netlink_receive(d->notice_fd, linux_take_notice, d);

	if (rc == -EPROTO) {
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
		return 1;
	}
	if (rc != -ENOBUFS)
		return rc;
	stat_add(&d->stats, LINUX_STAT_OVERFLOWS, 1);
	log_warn_limited("linux", "the kernel dropped notices of interfaces: reading all interfaces again");
	d->stale = true;
	d->reread_us = 0;
	return 1;
}

/* ---- notices of drivers ---- */

static void
driver_changed(struct linux_device *d, struct links_port *port)
{
	read_driver_settings(d, port);
	report_changed(d, port->if_index);
}

static int
take_driver_notice(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct links_port *port;
	uint32_t kernel_index;
	int rc = ethtool_parse_notice(message, &kernel_index);

	if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	if (rc < 0)
		return 0;
	port = links_find_kernel(&d->links, kernel_index);
	if (port)
		driver_changed(d, port);
	return 0;
}

/* As receive_links. */
static int
receive_drivers(struct linux_device *d)
{
	int rc = d->driver_notice_fd < 0 ? 0 : netlink_receive(d->driver_notice_fd, take_driver_notice, d);

	if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	if (rc != -ENOBUFS)
		return rc == -EPROTO ? 1 : rc;
	stat_add(&d->stats, LINUX_STAT_OVERFLOWS, 1);
	for (size_t i = 0; i < d->links.n; i++)
		if (d->links.ports[i].share_of == 0)
			driver_changed(d, &d->links.ports[i]);
	return 1;
}

/* ---- the device ---- */

static void
linux_device_stop(void *ctx)
{
	linux_stop_drops(ctx);
}

static void
linux_device_destroy(void *ctx)
{
	struct linux_device *d = ctx;

	for (size_t i = 0; i < d->links.n; i++) /* CPU shares go with their links, which stand before them */
		linux_unsample_port(d, &d->links.ports[i]);
	taps_close(d->taps);
	linux_close_drops(d);
	linux_close_sensors(d);
	linux_close_neighbours(d);
	close_fd(d->wake_fd);
	close_fd(d->psample_fd);
	close_fd(d->notice_fd);
	close_fd(d->driver_notice_fd);
	close_fd(d->timer_fd);
	close_fd(d->epoll_fd);
	kernel_close(&d->kernel);
	links_free(&d->links);
	fdb_free(&d->fdb);
	fdb_free(&d->fresh);
	bridge_vlans_free(&d->vlans);
	free(d);
}

static int
linux_device_fd(void *ctx)
{
	return ((struct linux_device *)ctx)->epoll_fd;
}

static void
look_at_alarm(struct linux_device *d)
{
	uint64_t expirations, now_us = linux_device_steady_us(d);
	ssize_t n = read(d->timer_fd, &expirations, sizeof(expirations));

	if (n < 0 && errno != EAGAIN)
		log_warn_limited("linux", "the timer cannot be read: %s", strerror(errno));
	if (d->reread_us <= now_us)
		d->reread_us = 0;
	if (d->alarm_us != 0 && now_us >= d->alarm_us) {
		d->alarm_us = 0;
		hal_report_alarm(d->device.hal, now_us);
	} else if (n > 0 && d->alarm_us != 0) {
		(void)set_timer(d); /* it was for reading again */
	}
}

/* Reads everything again, if that is due. What fails (no memory, no buffer) may fail for long: it is tried
 * again after a while, and the main loop does not spin. */
static void
read_again(struct linux_device *d)
{
	if (d->reread_us != 0 || begin_reading(d) == 0)
		return;
	read_later(d, REREAD_WAIT_US);
}

static int
linux_device_dispatch(void *ctx, unsigned budget)
{
	struct linux_device *d = ctx;
	int rc = 1;

	if (!d->device.hal)
		return 0;
	look_at_alarm(d);
	for (unsigned n = 0; rc > 0 && !d->reading && (budget == 0 || n < budget); n++)
		rc = receive_links(d);
	if (rc == 0)
		rc = receive_drivers(d);
	if (rc >= 0 && d->judge)
		linux_judge_ports(d);
	/* Notices from before the loss are older than the list that is read now. */
	if (rc >= 0 && d->stale)
		read_again(d);
	if (rc >= 0 && d->reread && !d->reading) {
		d->tries = 0;
		d->stale |= begin_addresses(d) < 0 || d->incomplete;
	}
	if (rc >= 0 && d->reading)
		rc = continue_reading(d);
	if (linux_dispatch_samples(d, budget) > 0 && rc == 0)
		rc = 1;
	return linux_dispatch_drops(d, budget) > 0 && rc == 0 ? 1 : rc;
}

static int
linux_device_alarm(void *ctx, uint64_t steady_us)
{
	struct linux_device *d = ctx;

	d->alarm_us = steady_us;
	return set_timer(d);
}

static uint64_t
linux_device_drops(void *ctx)
{
	struct linux_device *d = ctx;

	return d->stat_values[LINUX_STAT_SAMPLES_LOST] + d->stat_values[LINUX_STAT_SAMPLES_OUTDATED];
}

static int
linux_device_may_change(void *ctx)
{
	struct linux_device *d = ctx;

	return d->read_only ? -EPERM : kernel_may_change(&d->kernel);
}

static const struct hal_device_ops device_ops = {
    .kind = "linux",
    .stop = linux_device_stop,
    .destroy = linux_device_destroy,
    .fd = linux_device_fd,
    .dispatch = linux_device_dispatch,
    .now_us = linux_device_now_us,
    .steady_us = linux_device_steady_us,
    .alarm = linux_device_alarm,
    .drops = linux_device_drops,
    .may_change = linux_device_may_change,
    .keeps_settings = true,
};

/* ---- making ---- */

/* Without these notices, drivers are read only when a link changes. */
static int
listen_to_drivers(struct linux_device *d)
{
	unsigned groups[2] = {0};

	if (kernel_get_driver_group(&d->kernel, &groups[0]) < 0 ||
	    netlink_listen(NETLINK_GENERIC, groups, DRIVER_NOTICE_OCTETS, &d->driver_notice_fd) < 0)
		return 0;
	return linux_watch_fd(d, d->driver_notice_fd);
}

static int
open_descriptors(struct linux_device *d, const struct linux_config *config)
{
	static const unsigned groups[] = {RTNLGRP_LINK, RTNLGRP_NEIGH, 0};
	int octets = config->notice_buffer_octets ? config->notice_buffer_octets : NOTICE_OCTETS;
	int rc;

	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	d->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (d->epoll_fd < 0 || d->timer_fd < 0 || d->wake_fd < 0)
		return -errno;
	rc = netlink_listen(NETLINK_ROUTE, groups, octets, &d->notice_fd);
	if (rc == 0)
		rc = listen_to_drivers(d);
	if (rc == 0)
		rc = linux_watch_fd(d, d->notice_fd);
	if (rc == 0)
		rc = linux_watch_fd(d, netlink_fd(d->kernel.addresses));
	if (rc == 0)
		rc = linux_watch_fd(d, d->timer_fd);
	if (rc == 0)
		rc = linux_watch_fd(d, d->wake_fd);
	return rc;
}

static void
linux_compose_device(struct linux_device *d)
{
	d->device = (struct hal_device){
	    .ops = &device_ops, .ctx = d,
	    .ports = &linux_ports_ops, .ports_ctx = d,
	    .counters = &linux_counters_ops, .counters_ctx = d,
	    .sampling = linux_samples(d) ? &linux_sampling_ops : NULL, .sampling_ctx = d,
	    .addresses = &linux_addresses_ops, .addresses_ctx = d,
	    .vlans = &linux_vlans_ops, .vlans_ctx = d,
	    .energy = &linux_energy_ops, .energy_ctx = d,
	    .sensors = &linux_sensors_ops, .sensors_ctx = d,
	    .lldp = &linux_lldp_ops, .lldp_ctx = d,
	};
}

int
linux_create(const struct linux_config *config, struct hal_device **device, char *error, size_t error_size)
{
	struct linux_device *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	if (!d)
		goto fail;
	d->clock = config->clock;
	d->read_only = config->read_only;
	d->epoll_fd = d->notice_fd = d->timer_fd = d->wake_fd = -1;
	d->driver_notice_fd = d->psample_fd = -1;
	d->stats = (struct stat_set){stat_names, LINUX_N_STATS, d->stat_values};
	rc = links_init(&d->links, (enum links_numbers)config->ifindex, config->kept, config->n_kept);
	if (rc == 0)
		rc = kernel_open(&d->kernel);
	d->kernel.failed = &d->stat_values[LINUX_STAT_DRIVER_ERRORS];
	/* Notices are opened first, so that no change after the list is missed. */
	if (rc == 0)
		rc = open_descriptors(d, config);
	if (rc == 0)
		rc = linux_open_sensors(d, config->sys_root);
	if (rc == 0)
		rc = linux_open_neighbours(d, config->lldpd_socket);
	if (rc == 0) {
		linux_open_sampling(d, config);
		linux_open_drops(d, config);
		rc = device_read_all(d);
	}
	if (rc < 0)
		goto fail;
	linux_judge_ports(d);
	if (!linux_samples(d) && d->sampling != LINUX_SAMPLING_NONE)
		log_warn("linux", "no sampling: %s; only counters and addresses are served",
		    d->why_not[0] ? d->why_not : "there is no interface that can be sampled");
	linux_compose_device(d);
	*device = &d->device;
	return 0;
fail:
	snprintf(error, error_size, "device = linux cannot be opened: %s", strerror(-rc));
	if (d)
		linux_device_destroy(d);
	return rc;
}

int
linux_check(const struct linux_config *config, FILE *out, char *error, size_t error_size)
{
	struct linux_device *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	if (!d)
		goto end;
	d->clock = config->clock;
	d->epoll_fd = d->notice_fd = d->timer_fd = d->wake_fd = -1;
	d->driver_notice_fd = d->psample_fd = -1;
	d->stats = (struct stat_set){stat_names, LINUX_N_STATS, d->stat_values};
	rc = links_init(&d->links, LINKS_KERNEL_NUMBERS, NULL, 0);
	if (rc == 0)
		rc = kernel_open(&d->kernel);
	if (rc == 0)
		rc = device_read_all(d);
	if (rc == 0)
		rc = linux_open_sensors(d, config->sys_root);
	linux_compose_device(d);
	if (rc == 0)
		linux_print_abilities(d, config, out);
	linux_device_destroy(d);
end:
	if (rc < 0)
		snprintf(error, error_size, "device = linux cannot be read: %s", strerror(-rc));
	return rc;
}

const struct stat_set *
linux_stats(const struct hal_device *device)
{
	return &((const struct linux_device *)device->ctx)->stats;
}
