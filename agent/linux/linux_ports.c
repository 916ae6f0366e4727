/*
 * The Linux device's ports and their counters.
 */
#include "agent/linux/linux_private.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FCS_OCTETS = 4 }; /* which the kernel's octets leave out (linux/if_link.h) */

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

const struct hal_ports_ops linux_ports_ops = {
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
	ROW_POOL_IN, ROW_POOL_OUT, /* of the port's tap; without one, all packets */
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
    [ROW_POOL_IN] = STATS_ROW(rx_packets),
    [ROW_POOL_OUT] = STATS_ROW(tx_packets),
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
			stat_add(&d->stats, LINUX_STAT_STATS_ERRORS, 1);
			return rc;
		}
	}
	if (port->tap && row >= ROW_POOL_IN) {
		*raw = tap_pool(port->tap, row == ROW_POOL_IN ? TAP_IN : TAP_OUT);
		return 0;
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
	put(counters, HAL_POOL_IN_PKTS, total[ROW_POOL_IN]);
	put(counters, HAL_POOL_OUT_PKTS, total[ROW_POOL_OUT]);
}

const struct hal_counters_ops linux_counters_ops = {
    .name = "rtnl_link_stats64",
    .rows = counter_rows,
    .n_rows = N_ROWS,
    .read = counter_read,
    .derive = counter_derive,
};
