#include "agent/linux/linux_device.h"

#include "agent/linux/ask.h"
#include "common/log.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	HEAR_OCTETS = 8 << 20, /* 4,096 interfaces changing at once, at less than 2 KiB each */
	FCS_OCTETS = 4,	       /* which the kernel's octets leave out (linux/if_link.h) */
};

enum {
	STAT_CHANGES,
	STAT_OVERFLOWS,
	STAT_DAMAGED,
	STAT_LINKS_LEFT_OUT,
	STAT_STATS_ERRORS,
	N_STATS
};

static const struct stat_name stat_names[N_STATS] = {
    [STAT_CHANGES] = {"linux.changes", "notices of a link that the kernel sent"},
    [STAT_OVERFLOWS] = {"linux.overflows",
	"times the kernel had more notices than room, and all links were read again"},
    [STAT_DAMAGED] = {"linux.damaged", "messages of the kernel that made no sense, left out"},
    [STAT_LINKS_LEFT_OUT] = {"linux.links_left_out", "links beyond the number served"},
    [STAT_STATS_ERRORS] = {"linux.stats_errors", "counters of a link could not be read"},
};

struct linux_device {
	struct hal_device device;
	const struct clock *clock;
	struct hal *hal; /* from start to stop */
	struct ask ask;
	struct links links;
	int epoll_fd, hear_fd, timer_fd;
	uint64_t alarm_us; /* 0: none */
	bool stale;	   /* notices were lost: read all links again */
	struct stat_set stats;
	_Atomic uint64_t stat_values[N_STATS];
};

/* ---- ports ---- */

static size_t
port_count(void *ctx)
{
	return ((struct linux_device *)ctx)->links.n;
}

static uint32_t
port_if_index(void *ctx, size_t i)
{
	return ((struct linux_device *)ctx)->links.ports[i].if_index;
}

/* The LAG it is a member of. A bridge's ports are not bundled. */
static uint32_t
lag_parent(const struct linux_device *d, const struct rtnl_link *link)
{
	const struct links_port *parent;

	if (strcmp(link->master_kind, "bond") != 0 && strcmp(link->master_kind, "team") != 0)
		return 0;
	parent = links_find_kernel(&d->links, link->master);
	return parent ? parent->if_index : 0;
}

static int
port_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	const struct linux_device *d = ctx;
	const struct links_port *known = links_find(&d->links, if_index);
	const struct rtnl_link *link;

	if (!known)
		return -ENODEV;
	link = &known->link;
	snprintf(port->name, sizeof(port->name), "%s", link->name);
	snprintf(port->alias, sizeof(port->alias), "%s", link->alias);
	snprintf(port->descr, sizeof(port->descr), "Linux %s %s",
	    link->kind[0] ? link->kind : "network device", link->name);
	port->if_type = links_if_type(link);
	port->mtu_octets = link->mtu_octets;
	port->speed_bps = known->speed.speed_bps;
	port->duplex = known->speed.duplex;
	memcpy(port->mac, link->mac, sizeof(port->mac));
	port->admin_status = link->flags & IFF_UP ? EASE_IF_UP : EASE_IF_DOWN;
	port->oper_status = links_oper_status(link);
	port->has_connector = link->kind[0] == '\0';
	port->lag_parent = lag_parent(d, link);
	return 0;
}

static int
port_set_admin_status(void *ctx, uint32_t if_index, uint8_t admin_status)
{
	struct linux_device *d = ctx;
	const struct links_port *port = links_find(&d->links, if_index);

	if (!port)
		return -ENODEV;
	return ask_set_up(&d->ask, port->link.kernel_index, admin_status == EASE_IF_UP);
}

static int
port_set_alias(void *ctx, uint32_t if_index, const char *alias)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	int rc;

	if (!port)
		return -ENODEV;
	rc = ask_set_alias(&d->ask, port->link.kernel_index, alias);
	if (rc == 0) /* the kernel's notice says the same, later */
		snprintf(port->link.alias, sizeof(port->link.alias), "%s", alias);
	return rc;
}

static const struct hal_ports_ops ports_ops = {
    .name = "linux",
    .count = port_count,
    .if_index = port_if_index,
    .get = port_get,
    .set_admin_status = port_set_admin_status,
    .set_alias = port_set_alias,
};

/* ---- counters ---- */

enum row {
	ROW_RX_PACKETS, /* first: reading it fetches all */
	ROW_TX_PACKETS, ROW_RX_BYTES, ROW_TX_BYTES, ROW_RX_ERRORS, ROW_TX_ERRORS, ROW_RX_DROPPED,
	ROW_TX_DROPPED, ROW_RX_MISSED, ROW_RX_NOHANDLER, ROW_MULTICAST,
	N_ROWS
};

#define STATS_ROW(member)                                                                          \
	{.name = #member, .address = offsetof(struct rtnl_link_stats64, member),                  \
	    .width_bits = 64, .flags = HAL_COUNTER_IS_TOTAL}

static const struct hal_counter_row counter_rows[N_ROWS] = {
    [ROW_RX_PACKETS] = STATS_ROW(rx_packets),
    [ROW_TX_PACKETS] = STATS_ROW(tx_packets),
    [ROW_RX_BYTES] = STATS_ROW(rx_bytes),
    [ROW_TX_BYTES] = STATS_ROW(tx_bytes),
    [ROW_RX_ERRORS] = STATS_ROW(rx_errors),
    [ROW_TX_ERRORS] = STATS_ROW(tx_errors),
    [ROW_RX_DROPPED] = STATS_ROW(rx_dropped),
    [ROW_TX_DROPPED] = STATS_ROW(tx_dropped),
    [ROW_RX_MISSED] = STATS_ROW(rx_missed_errors),
    [ROW_RX_NOHANDLER] = STATS_ROW(rx_nohandler),
    [ROW_MULTICAST] = STATS_ROW(multicast),
};

static int
counter_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	int rc;

	if (!port)
		return -ENODEV;
	if (row == ROW_RX_PACKETS) {
		rc = ask_stats(&d->ask, port->link.kernel_index, &port->stats);
		if (rc < 0) {
			stat_add(&d->stats, STAT_STATS_ERRORS, 1);
			return rc;
		}
	}
	memcpy(raw, (const uint8_t *)&port->stats + counter_rows[row].address, sizeof(*raw));
	return 0;
}

static void
put(struct hal_counters *counters, enum hal_figure figure, uint64_t value)
{
	counters->value[figure] = value;
	counters->known |= 1ull << figure;
}

static void
counter_derive(const uint64_t *total, struct hal_counters *counters)
{
	put(counters, HAL_IN_OCTETS, total[ROW_RX_BYTES] + FCS_OCTETS * total[ROW_RX_PACKETS]);
	put(counters, HAL_OUT_OCTETS, total[ROW_TX_BYTES] + FCS_OCTETS * total[ROW_TX_PACKETS]);
	put(counters, HAL_IN_UCAST_PKTS, total[ROW_RX_PACKETS] - total[ROW_MULTICAST]);
	put(counters, HAL_IN_MCAST_PKTS, total[ROW_MULTICAST]);
	put(counters, HAL_OUT_UCAST_PKTS, total[ROW_TX_PACKETS]);
	put(counters, HAL_IN_DISCARDS,
	    total[ROW_RX_DROPPED] + total[ROW_RX_MISSED] + total[ROW_RX_NOHANDLER]);
	put(counters, HAL_IN_ERRORS, total[ROW_RX_ERRORS]);
	put(counters, HAL_OUT_DISCARDS, total[ROW_TX_DROPPED]);
	put(counters, HAL_OUT_ERRORS, total[ROW_TX_ERRORS]);
	put(counters, HAL_POOL_IN_PKTS, total[ROW_RX_PACKETS]);
	put(counters, HAL_POOL_OUT_PKTS, total[ROW_TX_PACKETS]);
}

static const struct hal_counters_ops counters_ops = {
    .name = "rtnl_link_stats64",
    .rows = counter_rows,
    .n_rows = N_ROWS,
    .read = counter_read,
    .derive = counter_derive,
};

/* ---- changes ---- */

static void
report_changed(struct linux_device *d, uint32_t if_index)
{
	if (d->hal)
		hal_report_port_changed(d->hal, if_index);
}

static void
add_link(struct linux_device *d, const struct rtnl_link *link)
{
	struct links_port *port;
	int rc = links_add(&d->links, link, &port);

	if (rc < 0) {
		stat_add(&d->stats, STAT_LINKS_LEFT_OUT, 1);
		log_warn_limited("linux", "%s is not served: %s", link->name,
		    rc == -ENOSPC ? "there are too many" : strerror(-rc));
		return;
	}
	ask_speed(&d->ask, link->kernel_index, &port->speed);
	report_changed(d, port->if_index);
}

static void
remove_port(struct linux_device *d, struct links_port *port)
{
	uint32_t if_index = port->if_index;

	links_remove(&d->links, port);
	report_changed(d, if_index);
}

static void
update_port(struct linux_device *d, struct links_port *port, const struct rtnl_link *link)
{
	bool differ = links_differ(&port->link, link);
	struct rtnl_speed speed;

	port->link = *link;
	if (!differ)
		return;
	ask_speed(&d->ask, link->kernel_index, &speed); /* what it agreed on when it came up */
	port->speed = speed;
	report_changed(d, port->if_index);
}

/* One link as the kernel says it is now. */
static void
take_link(struct linux_device *d, const struct rtnl_link *link)
{
	struct links_port *port = links_find_kernel(&d->links, link->kernel_index);

	if (port && (link->gone || !links_is_port(link)))
		remove_port(d, port);
	else if (port)
		update_port(d, port, link);
	else if (!link->gone && links_is_port(link))
		add_link(d, link);
}

static int
take_notice(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct rtnl_link link;
	int rc = rtnl_parse_link(message, &link);

	if (rc == 0) {
		stat_add(&d->stats, STAT_CHANGES, 1);
		take_link(d, &link);
	} else if (rc == -EPROTO) {
		stat_add(&d->stats, STAT_DAMAGED, 1);
	}
	return 0;
}

static bool
list_has(const struct rtnl_link *list, size_t n, uint32_t kernel_index)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].kernel_index == kernel_index)
			return true;
	return false;
}

/* All links as they are now. Those that are gone go first, so that one of the same name that came
 * instead finds its number free. */
static int
read_all_links(struct linux_device *d)
{
	struct rtnl_link *list;
	size_t n;
	int rc = ask_links(&d->ask, &list, &n);

	if (rc < 0)
		return rc;
	for (size_t i = d->links.n; i > 0; i--)
		if (!list_has(list, n, d->links.ports[i - 1].link.kernel_index))
			remove_port(d, &d->links.ports[i - 1]);
	for (size_t i = 0; i < n; i++)
		take_link(d, &list[i]);
	free(list);
	d->stale = false;
	return 0;
}

/* 1 if there may be more. */
static int
hear_links(struct linux_device *d)
{
	int rc = netlink_hear(d->hear_fd, take_notice, d);

	if (rc == -EPROTO) {
		stat_add(&d->stats, STAT_DAMAGED, 1);
		return 1;
	}
	if (rc != -ENOBUFS)
		return rc;
	stat_add(&d->stats, STAT_OVERFLOWS, 1);
	log_warn_limited("linux", "more changes of links than could be heard: reading all again");
	d->stale = true;
	return 1;
}

/* ---- the device ---- */

static int
device_start(void *ctx, struct hal *hal)
{
	((struct linux_device *)ctx)->hal = hal;
	return 0;
}

static void
device_stop(void *ctx)
{
	((struct linux_device *)ctx)->hal = NULL;
}

static void
close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void
device_destroy(void *ctx)
{
	struct linux_device *d = ctx;

	close_fd(d->hear_fd);
	close_fd(d->timer_fd);
	close_fd(d->epoll_fd);
	ask_close(&d->ask);
	links_free(&d->links);
	free(d);
}

static int
device_fd(void *ctx)
{
	return ((struct linux_device *)ctx)->epoll_fd;
}

static uint64_t
device_now_us(void *ctx)
{
	return clock_wall_us(((struct linux_device *)ctx)->clock);
}

static void
look_at_alarm(struct linux_device *d)
{
	uint64_t expirations, now_us = device_now_us(d);

	if (read(d->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		log_warn_limited("linux", "the timer cannot be read: %s", strerror(errno));
	if (d->alarm_us == 0 || now_us < d->alarm_us)
		return;
	d->alarm_us = 0;
	hal_report_alarm(d->hal, now_us);
}

static int
device_dispatch(void *ctx, unsigned budget)
{
	struct linux_device *d = ctx;
	int rc = 1;

	if (!d->hal)
		return 0;
	look_at_alarm(d);
	for (unsigned n = 0; rc > 0 && (budget == 0 || n < budget); n++)
		rc = hear_links(d);
	/* What was heard before the loss is older than the list read now. */
	if (rc >= 0 && d->stale && read_all_links(d) < 0)
		rc = 1;
	return rc;
}

static int
device_alarm(void *ctx, uint64_t device_us)
{
	struct linux_device *d = ctx;
	struct itimerspec when = {
	    .it_value = {.tv_sec = (time_t)(device_us / 1000000),
		.tv_nsec = (long)(device_us % 1000000) * 1000 + 1},
	};

	d->alarm_us = device_us;
	return timerfd_settime(d->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

static const struct hal_device_ops device_ops = {
    .kind = "linux",
    .start = device_start,
    .stop = device_stop,
    .destroy = device_destroy,
    .fd = device_fd,
    .dispatch = device_dispatch,
    .now_us = device_now_us,
    .alarm = device_alarm,
    .keeps_settings = true,
};

/* ---- making ---- */

static int
watch_fd(const struct linux_device *d, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int
open_descriptors(struct linux_device *d, const struct linux_config *config)
{
	static const unsigned groups[] = {RTNLGRP_LINK, 0};
	int octets = config->hear_octets ? config->hear_octets : HEAR_OCTETS;
	int rc;

	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->epoll_fd < 0 || d->timer_fd < 0)
		return -errno;
	rc = netlink_listen(NETLINK_ROUTE, groups, octets, &d->hear_fd);
	if (rc == 0)
		rc = watch_fd(d, d->hear_fd);
	if (rc == 0)
		rc = watch_fd(d, d->timer_fd);
	return rc;
}

int
linux_create(const struct linux_config *config, struct hal_device **device, char *error,
    size_t error_size)
{
	struct linux_device *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	if (!d)
		goto fail;
	d->clock = config->clock;
	d->epoll_fd = d->hear_fd = d->timer_fd = -1;
	d->stats = (struct stat_set){stat_names, N_STATS, d->stat_values};
	rc = links_init(&d->links, config->kept, config->n_kept);
	if (rc == 0)
		rc = ask_open(&d->ask);
	/* The ear first: what changes between the list and the first hearing is heard. */
	if (rc == 0)
		rc = open_descriptors(d, config);
	if (rc == 0)
		rc = read_all_links(d);
	if (rc < 0)
		goto fail;
	d->device = (struct hal_device){
	    .ops = &device_ops, .ctx = d,
	    .ports = &ports_ops, .ports_ctx = d,
	    .counters = &counters_ops, .counters_ctx = d,
	};
	*device = &d->device;
	return 0;
fail:
	snprintf(error, error_size, "device linux: %s", strerror(-rc));
	if (d)
		device_destroy(d);
	return rc;
}

const struct stat_set *
linux_stats(const struct hal_device *device)
{
	return &((const struct linux_device *)device->ctx)->stats;
}
