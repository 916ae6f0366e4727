/*
 * The Linux device's counters: from where the truth stands. The kernel's counters of a link (RTM_GETSTATS) are all
 * frames of the port where the kernel forwards, and with the drivers of most switch chips, which count them in
 * hardware. A DSA port's are those of the CPU: there the driver's own are taken as a whole instead, those of
 * clause 30 or texts of a known family. The two views count the same frames, so they are never added up; a
 * figure that nobody counts is absent.
 */
#include "agent/linux/driver_info.h"
#include "agent/linux/linux_private.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
	FCS_OCTETS = 4, /* not included in the kernel's octets (linux/if_link.h) */
	HEADER_OCTETS = 18, /* with the FCS: what clause 30's octets lack */
	LEAST_OCTETS = 64, /* of a valid frame */
	/* Some drivers take milliseconds, because they read counters from firmware. */
	DRIVER_PERIOD_US = 250000,
	DRIVER_REST = 5, /* times as long as all drivers take passes until one is asked again: some take seconds */
	QUEUES_SLOW_US = 20000, /* so long takes who waits for links that come and go: counters of ports would be late */
	QUEUES_REST = 50,	/* times as long queues are not read again then */
};

enum row {
	ROW_RX_PACKETS, ROW_TX_PACKETS, /* these two are for the FCS */
	ROW_RX_BYTES, ROW_TX_BYTES, ROW_RX_ERRORS, ROW_TX_ERRORS, ROW_RX_DROPPED,
	ROW_TX_DROPPED, ROW_RX_MISSED, ROW_RX_NOHANDLER,
	ROW_RX_KINDS, ROW_TX_KINDS, /* all packets at the moment when group packets were counted */
	ROW_RX_MCAST,
	ROW_POOL_IN, ROW_POOL_OUT, /* of the port's tap; without a tap, all packets */
	ROW_DRIVER,		   /* the first of the driver's counters */
};

#define STATS_ROW(member)                                                                          \
	{.name = #member, .address = offsetof(struct rtnl_link_stats64, member),                  \
	    .width_bits = 64, .flags = HAL_COUNTER_IS_TOTAL}
/* A tap begins at the kernel's packets, and counts frames, of which a packet may be several. */
#define POOL_ROW(member)                                                                           \
	{.name = #member, .address = offsetof(struct rtnl_link_stats64, member),                  \
	    .width_bits = 64, .flags = HAL_COUNTER_IS_TOTAL | HAL_COUNTER_BEGINS_AGAIN}
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
    [ROW_POOL_IN] = POOL_ROW(rx_packets),
    [ROW_POOL_OUT] = POOL_ROW(tx_packets),
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

#define BIT(figure) (1ull << (figure))
#define OCTETS (BIT(HAL_IN_OCTETS) | BIT(HAL_OUT_OCTETS))
#define LOSSES                                                                                     \
	(BIT(HAL_IN_DISCARDS) | BIT(HAL_IN_ERRORS) | BIT(HAL_OUT_DISCARDS) | BIT(HAL_OUT_ERRORS))

/* ---- what the driver counts ---- */

static bool
counts_frames(const struct hal_counters *figures)
{
	uint64_t both = BIT(HAL_POOL_IN_PKTS) | BIT(HAL_POOL_OUT_PKTS);

	return (figures->known & both) == both;
}

/* The most that a port can have counted in that time, twice over. */
static uint64_t
most_in(const struct links_port *port, enum hal_figure figure, uint64_t elapsed_us)
{
	enum { SLOT_OCTETS = 84 }; /* the shortest frame with preamble and gap */
	uint64_t bps = port->modes.speed_bps ? port->modes.speed_bps : 10000000000ull;
	uint64_t octets = 2 * (elapsed_us + DRIVER_PERIOD_US) * (bps / 1000000) / 8;

	return figure == HAL_IN_OCTETS || figure == HAL_OUT_OCTETS ? octets : octets / SLOT_OCTETS;
}

/* Registers of chips have 32 bits for frames, and some drivers pass them on as they are. One that seems to go back
 * has gone round, if the port can have counted so much since; else it was reset. */
static uint64_t
widen_figure(const struct links_port *port, enum hal_figure figure, uint64_t fresh, uint64_t elapsed_us)
{
	uint64_t before = port->driver.value[figure];
	uint32_t ahead = (uint32_t)fresh - (uint32_t)before;

	if (fresh >= before || fresh > UINT32_MAX || ahead > most_in(port, figure, elapsed_us))
		return fresh;
	return before + ahead;
}

/* Copies what the driver counts. A figure that an answer lacks keeps its value, so that it does not seem
 * to go back. */
static void
take_driver(struct links_port *port, const struct hal_counters *fresh, uint64_t now_us)
{
	uint64_t elapsed_us = now_us - port->driver_read_us;

	for (size_t i = 0; i < HAL_N_FIGURES; i++)
		if (fresh->known >> i & 1)
			port->driver.value[i] = links_is_of_chip(&port->link)
				? widen_figure(port, (enum hal_figure)i, fresh->value[i], elapsed_us)
				: fresh->value[i];
	port->driver.known = fresh->known;
	port->driver_read_us = now_us;
}

/* The texts are read only where clause 30's frames are not told: both may cost many accesses to the chip. */
static void
add_driver_strings(const struct links_port *port, struct hal_counters *figures)
{
	struct driver_strings strings;

	if (links_is_of_chip(&port->link) && !port->kernel_counts_chip && !counts_frames(figures) &&
	    driver_strings_read(port->link.name, &strings) == 0)
		(void)driver_strings_parse(&strings, figures);
}

/* ---- all frames of a port ---- */

/* Most drivers tell octets as the chip counts them, with header and FCS. */
static uint64_t
octets_without_fcs(const struct links_port *port, enum hal_figure figure, uint64_t pkts)
{
	uint64_t octets = port->driver.value[figure];

	if (port->octets_of_data || octets < LEAST_OCTETS * pkts)
		octets += HEADER_OCTETS * pkts;
	return octets - FCS_OCTETS * pkts;
}

static uint64_t
sum_of(const struct hal_counters *figures, uint64_t which)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < HAL_N_FIGURES; i++)
		if (which & figures->known & BIT(i))
			sum += figures->value[i];
	return sum;
}

/* Composes the totals from what the driver counts; errors as RFC 3635 has them. */
static void
use_driver(struct links_port *port)
{
	static const uint64_t in_errors = BIT(HAL_FCS_ERRORS) | BIT(HAL_ALIGNMENT_ERRORS) | BIT(HAL_FRAME_TOO_LONGS) |
	    BIT(HAL_MAC_RX_ERRORS) | BIT(HAL_SYMBOL_ERRORS);
	static const uint64_t out_errors = BIT(HAL_LATE_COLLISIONS) | BIT(HAL_EXCESSIVE_COLLISIONS) |
	    BIT(HAL_MAC_TX_ERRORS) | BIT(HAL_CARRIER_SENSE_ERRORS);
	const struct hal_counters *driver = &port->driver;
	uint64_t in = driver->value[HAL_POOL_IN_PKTS], out = driver->value[HAL_POOL_OUT_PKTS];

	port->stats = (struct rtnl_link_stats64){
	    .rx_packets = in,
	    .tx_packets = out,
	    .rx_bytes = octets_without_fcs(port, HAL_IN_OCTETS, in),
	    .tx_bytes = octets_without_fcs(port, HAL_OUT_OCTETS, out),
	    .multicast = driver->value[HAL_IN_MCAST_PKTS],
	    .rx_errors = sum_of(driver, in_errors),
	    .tx_errors = sum_of(driver, out_errors),
	    .rx_dropped = driver->value[HAL_IN_DISCARDS],
	    .tx_dropped = driver->value[HAL_OUT_DISCARDS],
	};
	port->lacks = ~driver->known & (OCTETS | BIT(HAL_IN_MCAST_PKTS) | BIT(HAL_IN_DISCARDS) | BIT(HAL_OUT_DISCARDS));
	if (!(driver->known & in_errors))
		port->lacks |= BIT(HAL_IN_ERRORS);
	if (!(driver->known & out_errors))
		port->lacks |= BIT(HAL_OUT_ERRORS);
}

static uint8_t
totals_of(const struct links_port *port)
{
	if (!links_is_of_chip(&port->link) || port->kernel.has_cpu || port->kernel_counts_chip)
		return LINKS_TOTALS_KERNEL;
	if (port->totals == LINKS_TOTALS_DRIVER || counts_frames(&port->driver))
		return LINKS_TOTALS_DRIVER;
	return port->forwarding == EASE_FORWARDING_HARDWARE || port->forwarding == EASE_FORWARDING_MIXED
	    ? LINKS_TOTALS_NOBODY
	    : LINKS_TOTALS_KERNEL;
}

static void
compose_totals(struct links_port *port)
{
	port->totals = totals_of(port);
	if (port->totals == LINKS_TOTALS_DRIVER) {
		use_driver(port);
		return;
	}
	port->stats = port->kernel.link;
	port->stats.tx_dropped += port->queue.dropped_pkts;
	port->lacks = port->totals == LINKS_TOTALS_NOBODY
	    ? OCTETS | LOSSES | HAL_FIGURES(HAL_IN_UCAST_PKTS, HAL_IN_BCAST_PKTS) |
		HAL_FIGURES(HAL_OUT_UCAST_PKTS, HAL_OUT_BCAST_PKTS)
	    : 0;
}

/* The CPU share of a port: as the driver counts it, else the frames that the tap counts. */
static void
compose_share(struct links_port *share)
{
	share->lacks = LOSSES | BIT(HAL_IN_MCAST_PKTS);
	if (share->kernel.has_cpu) {
		share->stats = share->kernel.cpu;
		return;
	}
	share->lacks |= OCTETS;
	share->stats = (struct rtnl_link_stats64){0};
	if (share->tap) {
		share->stats.rx_packets = tap_pool(share->tap, TAP_IN);
		share->stats.tx_packets = tap_pool(share->tap, TAP_OUT);
	}
}

/* No driver tells the octets of RMON: they are the link's, which bad frames are not in. */
static void
put_rmon_octets(struct links_port *port)
{
	if (!(port->driver.known & BIT(HAL_RMON_PKTS)) || port->lacks & BIT(HAL_IN_OCTETS))
		return;
	port->driver.known |= BIT(HAL_RMON_OCTETS);
	port->driver.value[HAL_RMON_OCTETS] = port->stats.rx_bytes + FCS_OCTETS * port->stats.rx_packets;
}

/* Reads the driver's counters, not too often. The port's packets at that moment are stored with them, so
 * that unicast, multicast and broadcast add up to all packets. */
static void
read_driver(struct linux_device *d, struct links_port *port)
{
	uint64_t now_us = clock_mono_us(d->clock), took_us;
	struct hal_counters fresh;

	if (!port->reads_driver || now_us < port->driver_next_us) {
		if (port->totals != LINKS_TOTALS_DRIVER)
			compose_totals(port);
		return;
	}
	kernel_get_driver_stats(&d->kernel, port->link.kernel_index, &fresh);
	add_driver_strings(port, &fresh);
	took_us = clock_mono_us(d->clock) - now_us;
	port->driver_next_us = now_us + DRIVER_PERIOD_US + DRIVER_REST * took_us * d->n_drivers;
	if (port->totals == LINKS_TOTALS_DRIVER && !counts_frames(&fresh)) {
		stat_add(&d->stats, LINUX_STAT_STATS_ERRORS, 1);
		return; /* the totals stay as they were read last */
	}
	take_driver(port, &fresh, now_us);
	compose_totals(port);
	put_rmon_octets(port);
	port->reads_driver = port->driver.known != 0;
	port->driver_rx_pkts = port->stats.rx_packets;
	port->driver_tx_pkts = port->stats.tx_packets;
}

/* Compares what the hardware counted with what the CPU saw, where both are told apart. */
static void
compare_counts(struct linux_device *d, struct links_port *port)
{
	const struct rtnl_link_stats64 *cpu = port->kernel.has_cpu ? &port->kernel.cpu : &port->kernel.link;

	if (!port->kernel.has_cpu && port->totals != LINKS_TOTALS_DRIVER)
		return;
	if (forwarding_compare(&port->comparison, clock_mono_us(d->clock), port->stats.rx_packets + port->stats.tx_packets,
		cpu->rx_packets + cpu->tx_packets, port->kernel.has_cpu))
		linux_judge_later(d);
}

static int
take_ahead(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct rtnl_stats stats;
	uint32_t kernel_index;
	int rc = rtnl_parse_stats(message, &stats, &kernel_index);
	struct links_port *port = rc == 0 ? links_find_kernel(&d->links, kernel_index) : NULL;

	if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	if (port && !links_is_of_chip(&port->link)) { /* what the CPU saw of a chip's is asked for one by one */
		port->kernel = stats;
		port->read_ahead = true;
	}
	return 0;
}

/* The kernel's counters of a link do not have what its queue dropped before the driver saw it, and ifOutDiscards is
 * that, too. One that seems to go back was made anew with the same handle. */
static int
take_queue(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct rtnl_queue fresh;
	int rc = rtnl_parse_queue(message, &fresh);
	struct links_port *port = rc == 0 ? links_find_kernel(&d->links, fresh.kernel_index) : NULL;
	struct links_queue *queue = port ? &port->queue : NULL;
	uint32_t ahead;

	if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	if (!queue)
		return 0;
	ahead = fresh.dropped_pkts - queue->raw_pkts;
	if (fresh.handle != queue->handle || ahead > INT32_MAX)
		ahead = fresh.dropped_pkts;
	queue->handle = fresh.handle;
	queue->raw_pkts = fresh.dropped_pkts;
	queue->dropped_pkts += ahead;
	queue->is_there = true;
	return 0;
}

/* A queue that is gone took what it dropped since the last look with it. */
static void
read_queues(struct linux_device *d)
{
	uint64_t began_us = clock_mono_us(d->clock), took_us;
	int rc;

	if (began_us < d->queues_next_us)
		return;
	for (size_t i = 0; i < d->links.n; i++)
		d->links.ports[i].queue.is_there = false;
	rc = kernel_get_all_queues(&d->kernel, take_queue, d);
	took_us = clock_mono_us(d->clock) - began_us;
	d->queues_next_us = took_us > QUEUES_SLOW_US ? began_us + QUEUES_REST * took_us : 0;
	if (rc < 0)
		return;
	for (size_t i = 0; i < d->links.n; i++)
		if (!d->links.ports[i].queue.is_there)
			d->links.ports[i].queue.handle = d->links.ports[i].queue.raw_pkts = 0;
}

/* A request for each port is most of what an idle agent costs. Those that the answer lacks, because links came
 * or left meanwhile, are asked for by themselves. */
static void
counter_round(void *ctx, enum hal_round phase)
{
	struct linux_device *d = ctx;

	d->in_round = phase == HAL_ROUND_GOES_ON;
	if (phase != HAL_ROUND_BEGINS)
		return;
	d->n_drivers = 0;
	for (size_t i = 0; i < d->links.n; i++) {
		d->links.ports[i].read_ahead = false;
		d->n_drivers += d->links.ports[i].reads_driver;
	}
	read_queues(d);
	(void)kernel_get_all_stats(&d->kernel, take_ahead, d);
	linux_watch_hooks(d);
}

/* Samples and notifications need what is counted now; what was read ahead is older than that from then on. */
static int
read_kernel(struct linux_device *d, struct links_port *port)
{
	bool is_read = port->read_ahead && d->in_round;

	port->read_ahead = false;
	return is_read ? 0
		       : kernel_get_stats(&d->kernel, port->share_of ? port->share_of : port->link.kernel_index,
			     links_is_of_chip(&port->link), &port->kernel);
}

static int
linux_read_all(struct linux_device *d, struct links_port *port)
{
	int rc = read_kernel(d, port);

	if (rc < 0) {
		stat_add(&d->stats, LINUX_STAT_STATS_ERRORS, 1);
	} else if (port->share_of) {
		compose_share(port);
	} else {
		read_driver(d, port);
		compare_counts(d, port);
	}
	return rc;
}

static uint64_t
linux_value_of(const struct links_port *port, size_t row)
{
	bool kinds = port->driver.known & KIND_FIGURES;
	uint64_t value;

	if ((row == ROW_RX_PACKETS || row == ROW_TX_PACKETS) && !links_is_ethernet(&port->link))
		return 0; /* they have no FCS, for which octets are added by these */
	if (row >= ROW_DRIVER)
		return port->driver.value[counter_rows[row].address];
	if (row == ROW_POOL_IN || row == ROW_POOL_OUT)
		return port->pools[row == ROW_POOL_IN ? TAP_IN : TAP_OUT];
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

/* The rows of a port are read one after the other, and then mostly those of the next: searching for each of some
 * fifty would cost more than all else. */
struct links_port *
linux_port_to_read(struct linux_device *d, uint32_t if_index)
{
	const struct links *links = &d->links;
	struct links_port *port;

	for (size_t i = d->port_read; i < links->n && i <= d->port_read + 1; i++)
		if (links->ports[i].if_index == if_index) {
			d->port_read = i;
			return &links->ports[i];
		}
	port = links_find(links, if_index);
	d->port_read = port ? (size_t)(port - links->ports) : 0;
	return port;
}

/* Returns whether they have changed. */
static bool
fetch_pools(struct links_port *port)
{
	uint64_t in = port->tap ? tap_pool(port->tap, TAP_IN) : port->stats.rx_packets;
	uint64_t out = port->tap ? tap_pool(port->tap, TAP_OUT) : port->stats.tx_packets;
	bool changed = in != port->pools[TAP_IN] || out != port->pools[TAP_OUT];

	port->pools[TAP_IN] = in;
	port->pools[TAP_OUT] = out;
	return changed;
}

static int
counter_fetch(void *ctx, uint32_t if_index)
{
	struct linux_device *d = ctx;
	struct links_port *port = linux_port_to_read(d, if_index);
	const struct rtnl_link_stats64 before = port ? port->stats : (struct rtnl_link_stats64){0};
	uint64_t driver_read_us = port ? port->driver_read_us : 0, lacks = port ? port->lacks : 0;
	int rc = port ? linux_read_all(d, port) : -ENODEV;
	bool changed;

	if (rc < 0)
		return rc;
	changed = fetch_pools(port) || !port->fetched || port->driver_read_us != driver_read_us ||
	    port->lacks != lacks || memcmp(&port->stats, &before, sizeof(before)) != 0;
	port->fetched = true;
	return changed;
}

static int
linux_counter_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	struct links_port *port = linux_port_to_read(ctx, if_index);

	if (!port)
		return -ENODEV;
	*raw = linux_value_of(port, row);
	return 0;
}

/* Every link has rtnetlink's counters, and those that its driver has. */
static uint64_t
linux_counter_known(void *ctx, uint32_t if_index)
{
	const struct linux_device *d = ctx;
	const struct links_port *port = links_find(&d->links, if_index);
	uint64_t drivers = 0;

	for (size_t row = ROW_DRIVER; row < N_ROWS; row++)
		drivers |= 1ull << counter_rows[row].address;
	return port ? (~drivers | port->driver.known) & ~port->lacks : 0;
}

static void
put_kernel_figure(struct hal_counters *counters, enum hal_figure figure, uint64_t value)
{
	counters->value[figure] = value;
	counters->known |= 1ull << figure;
}

/* A driver may count a multicast that the kernel counts as an error. */
static uint64_t
less_part(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void
linux_counter_derive(const uint64_t *total, struct hal_counters *counters)
{
	put_kernel_figure(counters, HAL_IN_OCTETS, total[ROW_RX_BYTES] + FCS_OCTETS * total[ROW_RX_PACKETS]);
	put_kernel_figure(counters, HAL_OUT_OCTETS, total[ROW_TX_BYTES] + FCS_OCTETS * total[ROW_TX_PACKETS]);
	for (size_t row = ROW_DRIVER; row < N_ROWS; row++)
		put_kernel_figure(counters, (enum hal_figure)counter_rows[row].address, total[row]);
	put_kernel_figure(counters, HAL_IN_MCAST_PKTS, total[ROW_RX_MCAST]);
	put_kernel_figure(counters, HAL_IN_UCAST_PKTS, less_part(total[ROW_RX_KINDS],
	    total[ROW_RX_MCAST] + counters->value[HAL_IN_BCAST_PKTS]));
	put_kernel_figure(counters, HAL_OUT_UCAST_PKTS, less_part(total[ROW_TX_KINDS],
	    counters->value[HAL_OUT_MCAST_PKTS] + counters->value[HAL_OUT_BCAST_PKTS]));
	put_kernel_figure(counters, HAL_IN_DISCARDS,
	    total[ROW_RX_DROPPED] + total[ROW_RX_MISSED] + total[ROW_RX_NOHANDLER]);
	put_kernel_figure(counters, HAL_IN_ERRORS, total[ROW_RX_ERRORS]);
	put_kernel_figure(counters, HAL_OUT_DISCARDS, total[ROW_TX_DROPPED]);
	put_kernel_figure(counters, HAL_OUT_ERRORS, total[ROW_TX_ERRORS]);
	put_kernel_figure(counters, HAL_POOL_IN_PKTS, total[ROW_POOL_IN]);
	put_kernel_figure(counters, HAL_POOL_OUT_PKTS, total[ROW_POOL_OUT]);
}

const struct hal_counters_ops linux_counters_ops = {
    .name = "rtnl_link_stats64",
    .rows = counter_rows,
    .n_rows = N_ROWS,
    .read = linux_counter_read,
    .fetch = counter_fetch,
    .round = counter_round,
    .derive = linux_counter_derive,
    .known = linux_counter_known,
};
