/*
 * The Linux device's ports, their counters and their Energy Efficient Ethernet.
 */
#include "agent/linux/linux_private.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
	FCS_OCTETS = 4, /* not included in the kernel's octets (linux/if_link.h) */
	/* Some drivers take milliseconds, because they read counters from firmware. */
	DRIVER_PERIOD_US = 250000,
};

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

/* The ifIndex of a link by the kernel's index; 0: it is not served. */
static uint32_t
number_of(const struct linux_device *d, uint32_t kernel_index)
{
	const struct links_port *port = kernel_index ? links_find_kernel(&d->links, kernel_index) : NULL;

	return port ? port->if_index : 0;
}

static bool
is_lag(const char *kind)
{
	return strcmp(kind, "bond") == 0 || strcmp(kind, "team") == 0;
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
	port->speed_bps = known->modes.speed_bps;
	port->duplex = known->modes.duplex;
	port->pause_admin = ethtool_pause_admin(&known->pause);
	port->pause_oper = ethtool_pause_oper(&known->pause, &known->modes,
	    links_oper_status(link) == EASE_IF_UP);
	memcpy(port->mac, link->mac, sizeof(port->mac));
	port->admin_status = link->flags & IFF_UP ? EASE_IF_UP : EASE_IF_DOWN;
	port->oper_status = links_oper_status(link);
	port->has_connector = link->kind[0] == '\0' || strcmp(link->kind, "dsa") == 0;
	port->off_bridge = strcmp(link->master_kind, "bridge") != 0;
	port->over_others = !links_is_sampled(link);
	if (is_lag(link->master_kind))
		port->lag_parent = number_of(d, link->master);
	else if (!port->off_bridge)
		port->bridge = number_of(d, link->master);
	port->lower = number_of(d, link->lower);
	return 0;
}

static int
port_set_admin_status(void *ctx, uint32_t if_index, uint8_t admin_status)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	bool up = admin_status == EASE_IF_UP;
	int rc;

	if (!port)
		return -ENODEV;
	rc = kernel_set_up(&d->kernel, port->link.kernel_index, up);
	if (rc == 0) /* the kernel's notice comes later; ifOperStatus follows with it */
		port->link.flags = up ? port->link.flags | IFF_UP : port->link.flags & ~(unsigned)IFF_UP;
	return rc;
}

static int
port_set_alias(void *ctx, uint32_t if_index, const char *alias)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	int rc;

	if (!port)
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
    .count = port_count,
    .if_index = port_if_index,
    .get = port_get,
    .set_admin_status = port_set_admin_status,
    .set_alias = port_set_alias,
    .set_pause = port_set_pause,
    .forget = port_forget,
};

/* ---- counters ---- */

enum row {
	ROW_RX_PACKETS, /* first: reading it fetches all */
	ROW_TX_PACKETS, ROW_RX_BYTES, ROW_TX_BYTES, ROW_RX_ERRORS, ROW_TX_ERRORS, ROW_RX_DROPPED,
	ROW_TX_DROPPED, ROW_RX_MISSED, ROW_RX_NOHANDLER,
	ROW_RX_KINDS, ROW_TX_KINDS, /* all packets at the moment when group packets were counted */
	ROW_RX_MCAST,
	ROW_POOL_IN, ROW_POOL_OUT, /* of the port's tap; without a tap, all packets */
	ROW_DRIVER,		   /* the first of the driver's counters */
};

#define STATS_ROW(member)                                                                          \
	{.name = #member, .address = offsetof(struct rtnl_link_stats64, member),                  \
	    .width_bits = 64, .flags = HAL_COUNTER_IS_TOTAL}
/* A driver's counter is stored under the HAL's counter that it feeds. */
#define DRIVER_ROW(text, figure)                                                                   \
	{.name = text, .address = figure, .width_bits = 64,                                        \
	    .flags = HAL_COUNTER_IS_TOTAL |                                                        \
		(HAL_SAMPLE_FIGURES >> (figure) & 1 ? 0 : HAL_COUNTER_NOT_SAMPLED)}

static const struct hal_counter_row counter_rows[] = {
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
    [ROW_RX_KINDS] = STATS_ROW(rx_packets),
    [ROW_TX_KINDS] = STATS_ROW(tx_packets),
    [ROW_RX_MCAST] = STATS_ROW(multicast),
    [ROW_POOL_IN] = STATS_ROW(rx_packets),
    [ROW_POOL_OUT] = STATS_ROW(tx_packets),
    [ROW_DRIVER] = DRIVER_ROW("eth-mac BroadcastFramesReceivedOK", HAL_IN_BCAST_PKTS),
    DRIVER_ROW("eth-mac MulticastFramesXmittedOK", HAL_OUT_MCAST_PKTS),
    DRIVER_ROW("eth-mac BroadcastFramesXmittedOK", HAL_OUT_BCAST_PKTS),
    DRIVER_ROW("eth-mac AlignmentErrors", HAL_ALIGNMENT_ERRORS),
    DRIVER_ROW("eth-mac FrameCheckSequenceErrors", HAL_FCS_ERRORS),
    DRIVER_ROW("eth-mac SingleCollisionFrames", HAL_SINGLE_COLLISIONS),
    DRIVER_ROW("eth-mac MultipleCollisionFrames", HAL_MULTIPLE_COLLISIONS),
    DRIVER_ROW("eth-mac FramesWithDeferredXmissions", HAL_DEFERRED),
    DRIVER_ROW("eth-mac LateCollisions", HAL_LATE_COLLISIONS),
    DRIVER_ROW("eth-mac FramesAbortedDueToXSColls", HAL_EXCESSIVE_COLLISIONS),
    DRIVER_ROW("eth-mac FramesLostDueToIntMACXmitError", HAL_MAC_TX_ERRORS),
    DRIVER_ROW("eth-mac CarrierSenseErrors", HAL_CARRIER_SENSE_ERRORS),
    DRIVER_ROW("eth-mac FrameTooLongErrors", HAL_FRAME_TOO_LONGS),
    DRIVER_ROW("eth-mac FramesLostDueToIntMACRcvError", HAL_MAC_RX_ERRORS),
    DRIVER_ROW("eth-phy SymbolErrorDuringCarrier", HAL_SYMBOL_ERRORS),
    DRIVER_ROW("pause rx_frames", HAL_IN_PAUSE_PKTS),
    DRIVER_ROW("pause tx_frames", HAL_OUT_PAUSE_PKTS),
    DRIVER_ROW("eth-ctrl UnsupportedOpcodesReceived", HAL_IN_UNKNOWN_OPCODES),
    DRIVER_ROW("rmon octets", HAL_RMON_OCTETS),
    DRIVER_ROW("rmon packets of all sizes", HAL_RMON_PKTS),
    DRIVER_ROW("rmon broadcasts", HAL_RMON_BCAST_PKTS),
    DRIVER_ROW("rmon multicasts", HAL_RMON_MCAST_PKTS),
    DRIVER_ROW("rmon CRC and alignment errors", HAL_RMON_CRC_ALIGN),
    DRIVER_ROW("rmon etherStatsUndersizePkts", HAL_RMON_UNDERSIZE),
    DRIVER_ROW("rmon etherStatsOversizePkts", HAL_RMON_OVERSIZE),
    DRIVER_ROW("rmon etherStatsFragments", HAL_RMON_FRAGMENTS),
    DRIVER_ROW("rmon etherStatsJabbers", HAL_RMON_JABBERS),
    DRIVER_ROW("rmon rx 64", HAL_RMON_64),
    DRIVER_ROW("rmon rx 65-127", HAL_RMON_65_127),
    DRIVER_ROW("rmon rx 128-255", HAL_RMON_128_255),
    DRIVER_ROW("rmon rx 256-511", HAL_RMON_256_511),
    DRIVER_ROW("rmon rx 512-1023", HAL_RMON_512_1023),
    DRIVER_ROW("rmon rx 1024-1518", HAL_RMON_1024_MAX),
};
enum { N_ROWS = sizeof(counter_rows) / sizeof(counter_rows[0]) };

#define KIND_FIGURES                                                                               \
	(HAL_FIGURES(HAL_IN_MCAST_PKTS, HAL_IN_BCAST_PKTS) |                                       \
	    HAL_FIGURES(HAL_OUT_MCAST_PKTS, HAL_OUT_BCAST_PKTS))

/* Copies what the driver counts. A figure that an answer lacks keeps its value, so that it does not seem
 * to go back. No driver tells the octets of RMON: they are the link's, which bad frames are not in. */
static void
take_driver(struct links_port *port, struct hal_counters *fresh)
{
	if (fresh->known >> HAL_RMON_PKTS & 1) {
		fresh->known |= 1ull << HAL_RMON_OCTETS;
		fresh->value[HAL_RMON_OCTETS] =
		    port->stats.rx_bytes + FCS_OCTETS * port->stats.rx_packets;
	}
	for (size_t i = 0; i < HAL_N_FIGURES; i++)
		if (fresh->known >> i & 1)
			port->driver.value[i] = fresh->value[i];
	port->driver.known = fresh->known;
}

/* Reads the driver's counters, not too often. The link's packets at that moment are stored with them, so
 * that unicast, multicast and broadcast add up to all packets. */
static void
read_driver(struct linux_device *d, struct links_port *port)
{
	uint64_t now_us = clock_mono_us(d->clock);
	struct hal_counters fresh;

	if (!port->reads_driver || now_us < port->driver_next_us)
		return;
	port->driver_next_us = now_us + DRIVER_PERIOD_US;
	kernel_get_driver_stats(&d->kernel, port->link.kernel_index, &fresh);
	take_driver(port, &fresh);
	port->reads_driver = port->driver.known != 0;
	port->driver_rx_pkts = port->stats.rx_packets;
	port->driver_tx_pkts = port->stats.tx_packets;
}

static int
read_all(struct linux_device *d, struct links_port *port)
{
	int rc = kernel_get_stats(&d->kernel, port->link.kernel_index, &port->stats);

	if (rc < 0)
		stat_add(&d->stats, LINUX_STAT_STATS_ERRORS, 1);
	else
		read_driver(d, port);
	return rc;
}

static uint64_t
value_of(const struct links_port *port, size_t row)
{
	bool kinds = port->driver.known & KIND_FIGURES;
	uint64_t value;

	if (row >= ROW_DRIVER)
		return port->driver.value[counter_rows[row].address];
	if (port->tap && (row == ROW_POOL_IN || row == ROW_POOL_OUT))
		return tap_pool(port->tap, row == ROW_POOL_IN ? TAP_IN : TAP_OUT);
	if (kinds && row == ROW_RX_KINDS)
		return port->driver_rx_pkts;
	if (kinds && row == ROW_TX_KINDS)
		return port->driver_tx_pkts;
	if (row == ROW_RX_MCAST && (port->driver.known >> HAL_IN_MCAST_PKTS & 1 ||
				       port->driver.value[HAL_IN_MCAST_PKTS] > 0))
		return port->driver.value[HAL_IN_MCAST_PKTS];
	memcpy(&value, (const uint8_t *)&port->stats + counter_rows[row].address, sizeof(value));
	return value;
}

static int
counter_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	int rc = 0;

	if (!port)
		return -ENODEV;
	if (row == ROW_RX_PACKETS)
		rc = read_all(d, port);
	if (rc == 0)
		*raw = value_of(port, row);
	return rc;
}

/* Every link has rtnetlink's counters, and those that its driver has. */
static uint64_t
counter_known(void *ctx, uint32_t if_index)
{
	const struct linux_device *d = ctx;
	const struct links_port *port = links_find(&d->links, if_index);
	uint64_t drivers = 0;

	for (size_t row = ROW_DRIVER; row < N_ROWS; row++)
		drivers |= 1ull << counter_rows[row].address;
	return port ? ~drivers | port->driver.known : 0;
}

static void
put(struct hal_counters *counters, enum hal_figure figure, uint64_t value)
{
	counters->value[figure] = value;
	counters->known |= 1ull << figure;
}

/* A driver may count a multicast that the kernel counts as an error. */
static uint64_t
less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void
counter_derive(const uint64_t *total, struct hal_counters *counters)
{
	put(counters, HAL_IN_OCTETS, total[ROW_RX_BYTES] + FCS_OCTETS * total[ROW_RX_PACKETS]);
	put(counters, HAL_OUT_OCTETS, total[ROW_TX_BYTES] + FCS_OCTETS * total[ROW_TX_PACKETS]);
	for (size_t row = ROW_DRIVER; row < N_ROWS; row++)
		put(counters, (enum hal_figure)counter_rows[row].address, total[row]);
	put(counters, HAL_IN_MCAST_PKTS, total[ROW_RX_MCAST]);
	put(counters, HAL_IN_UCAST_PKTS, less(total[ROW_RX_KINDS],
	    total[ROW_RX_MCAST] + counters->value[HAL_IN_BCAST_PKTS]));
	put(counters, HAL_OUT_UCAST_PKTS, less(total[ROW_TX_KINDS],
	    counters->value[HAL_OUT_MCAST_PKTS] + counters->value[HAL_OUT_BCAST_PKTS]));
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
    .known = counter_known,
};

/* ---- Energy Efficient Ethernet: a state; no driver reports how long low-power idle lasted ---- */

static int
energy_read(void *ctx, uint32_t if_index, struct hal_energy *energy)
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
    .read = energy_read,
};
