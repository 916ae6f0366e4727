/* Creates the chips of an emulated board and wires them according to its plan. */
#include "agent/sim/fabric_private.h"

#include <errno.h>
#include <stdlib.h>

static const struct stat_name stat_names[FABRIC_N_STATS] = {
    [FABRIC_STAT_FRAMES] = {"board.frames", "frames received by ports that were up"},
    [FABRIC_STAT_PORT_DOWN] = {"board.port_down", "frames dropped: their port was down"},
    [FABRIC_STAT_HELD] = {"board.held", "frames delayed by flow control: their senders were told to wait"},
    [FABRIC_STAT_HELD_LOST] = {"board.held_lost", "frames dropped: too many were delayed by flow control"},
};

static uint32_t
read_lines(void *chip, unsigned index, uint32_t stored)
{
	const struct fabric *f = chip;

	(void)index;
	(void)stored;
	return bus_model_lines(f->bus);
}

static const struct regmodel_row glue_rows[] = {
    {.name = "Interrupt lines", .offset = BOARD_GLUE_LINES, .reserved = UINT32_MAX,
	.read = read_lines},
};

static int
add_glue(struct fabric *f)
{
	int rc = regmodel_init(&f->glue, glue_rows, 1, f);

	return rc < 0 ? rc : bus_model_attach(f->bus, BOARD_GLUE_BASE, 4, &f->glue);
}

/* --- updates before the CPU reads --- */

static void
sync_mac(void *ctx, unsigned chip, unsigned port)
{
	struct fabric *f = ctx;
	unsigned i = chip * C84302_PORTS + port;

	if (i < f->n_ports)
		fabric_settle_port(f, i);
}

static void
sync_eee(void *ctx)
{
	struct fabric *f = ctx;

	f->eee_read = true;
	eee_calendar_model_settle(f->eee, f->now_ns);
}

static void
report_sleep(void *ctx, unsigned entry)
{
	struct fabric *f = ctx;

	wires_report_sleep(&f->wires, entry, f->now_ns);
}

static void
sync_pools(void *ctx)
{
	struct fabric *f = ctx;

	fabric_release(f, f->now_ns);
	buffers_be_eager(&f->buffers);
	for (unsigned i = 0; i < f->buffers.n_pools; i++)
		tnetx4090_model_settle(f->buffers.pools[i], f->now_ns);
}

/* --- chips --- */

/* Sends a NEW_ADDRESS message of one chip to all others. */
static void
send_to_other_chips(void *ctx, unsigned device, uint64_t mac, unsigned port)
{
	struct fabric *f = ctx;

	for (unsigned i = 0; i < f->n_chips; i++)
		if (i != device)
			galnet_model_learn_remote(f->chips[i], device, mac, port);
}

/* A chip does not know an address: the chip that owns it, if any, answers with a NEW_ADDRESS. */
static void
request_from_other_chips(void *ctx, unsigned device, uint64_t mac)
{
	struct fabric *f = ctx;
	unsigned port;

	for (unsigned i = 0; i < f->n_chips; i++)
		if (i != device && galnet_model_owns(f->chips[i], mac, &port))
			galnet_model_learn_remote(f->chips[device], i, mac, port);
}

/* The MAC's counters that add up to each MIB counter of the switch chip, which sees the same frames; 0
 * ends a list. */
static const uint8_t mib_sources[GALNET_N_MIB][3] = {
    [GALNET_MIB_BYTES_RECEIVED] = {C84302_RX_GOOD_OCTETS},
    [GALNET_MIB_BYTES_SENT] = {C84302_TX_OCTETS},
    [GALNET_MIB_FRAMES_RECEIVED] = {C84302_RX_UCAST, C84302_RX_MCAST, C84302_RX_BCAST},
    [GALNET_MIB_FRAMES_SENT] = {C84302_TX_PKTS},
    [GALNET_MIB_TOTAL_BYTES_RECEIVED] = {C84302_RX_OCTETS},
    [GALNET_MIB_TOTAL_FRAMES_RECEIVED] = {C84302_RX_PKTS},
    [GALNET_MIB_MULTICAST_RECEIVED] = {C84302_RX_MCAST},
    [GALNET_MIB_BROADCAST_RECEIVED] = {C84302_RX_BCAST},
    [GALNET_MIB_CRC_ERROR] = {C84302_CRC_ALIGN_ERRORS},
    [GALNET_MIB_OVERSIZE] = {C84302_OVERSIZE_PKTS},
    [GALNET_MIB_FRAGMENTS] = {C84302_UNDERSIZE_PKTS, C84302_FRAGMENTS},
    [GALNET_MIB_JABBER] = {C84302_JABBERS},
    [GALNET_MIB_COLLISION] = {C84302_COLLISIONS},
    [GALNET_MIB_LATE_COLLISION] = {C84302_LATE_COLLISIONS},
    [GALNET_MIB_64] = {C84302_RX_64},
    [GALNET_MIB_65_127] = {C84302_RX_65_127},
    [GALNET_MIB_128_255] = {C84302_RX_128_255},
    [GALNET_MIB_256_511] = {C84302_RX_256_511},
    [GALNET_MIB_512_1023] = {C84302_RX_512_1023},
    [GALNET_MIB_1024_MAX] = {C84302_RX_1024_MAX},
    [GALNET_MIB_RECEIVE_ERROR] = {C84302_SYMBOL_ERRORS},
    [GALNET_MIB_DROPPED] = {C84302_DROP_EVENTS},
};

static uint32_t
mib_events(void *ctx, unsigned device, unsigned channel, enum galnet_mib which)
{
	struct fabric *f = ctx;
	unsigned port = f->first_port[device] + channel;
	const struct wiring *w = &f->ports[port];
	uint32_t events = 0;

	fabric_settle_port(f, port);
	for (unsigned i = 0; i < 3 && mib_sources[which][i] != 0; i++)
		events += c84302_model_events(w->mac, w->mac_port, mib_sources[which][i]);
	return events;
}

static int
add_switch_chip(struct fabric *f, const struct board_plan *plan, int type)
{
	struct galnet_model_config config = {
	    .chip = type == BOARD_GT48001A ? GALNET_GT48001A : GALNET_GT48002A,
	    .bus = f->bus,
	    .device = f->n_chips,
	    .line = BOARD_SWITCH_LINE(f->n_chips),
	    .new_address = send_to_other_chips,
	    .request_owner = request_from_other_chips,
	    .sniff = fabric_send_to_sniffer,
	    .mib_events = mib_events,
	    .ports_changing = fabric_ports_changing,
	    .ctx = f,
	    .ease = &f->ease,
	};
	unsigned n_ports = board_chip_ports(type);
	int rc = galnet_model_create(&config, &f->chips[f->n_chips]);

	if (rc < 0)
		return rc;
	f->first_port[f->n_chips] = f->n_ports;
	for (unsigned i = 0; i < n_ports && f->n_ports < plan->ports.n; i++)
		f->ports[f->n_ports++] = (struct wiring){
		    .chip = f->chips[f->n_chips], .device = f->n_chips, .channel = i};
	f->n_chips++;
	return 0;
}

static int
add_mac_chip(struct fabric *f)
{
	struct c84302_model_config config = {
	    .bus = f->bus,
	    .base = BOARD_MAC_BASE + f->n_macs * C84302_WINDOW,
	    .line = BOARD_LINE_MAC + f->n_macs,
	    .sync = sync_mac,
	    .ctx = f,
	    .chip = f->n_macs,
	};
	int rc = c84302_model_create(&config, &f->macs[f->n_macs]);

	f->n_macs += rc == 0;
	return rc;
}

/* Width of the counts in SRAM. Half of the range is 84 s of sleep at 10 us a unit, so that a board that
 * runs through idle days in seconds does not spend its time on emptying SRAM. */
enum { EEE_COUNT_BITS = 24 };

/* The shortest time between two sleeps of a direction. */
static uint64_t
min_cycle_ns(const struct board_plan *plan)
{
	uint32_t least_us = UINT32_MAX;

	for (size_t i = 0; i < plan->ports.n; i++)
		if (board_port(plan, i)->eee && board_port(plan, i)->eee_idle_us < least_us)
			least_us = board_port(plan, i)->eee_idle_us;
	return least_us * 1000ull;
}

static int
add_eee(struct fabric *f, const struct board_plan *plan)
{
	struct eee_calendar_model_config config = {
	    .bus = f->bus,
	    .base = BOARD_EEE_BASE,
	    .line = BOARD_LINE_EEE,
	    .n_ports = (unsigned)plan->ports.n,
	    .event_bits = EEE_COUNT_BITS,
	    .duration_bits = EEE_COUNT_BITS,
	    .min_cycle_ns = min_cycle_ns(plan),
	    .sync = sync_eee,
	    .report_sleep = report_sleep,
	    .ctx = f,
	};

	return eee_calendar_model_create(&config, &f->eee);
}

static struct tnetx4090_partner
partner_of(const struct board_port *port)
{
	return (struct tnetx4090_partner){
	    .speed_mbps = port->speed_mbps,
	    .full_duplex = port->duplex == BOARD_FULL,
	    .pause = port->pause && port->duplex == BOARD_FULL,
	};
}

static int
add_pool(struct fabric *f, const struct board_plan *plan)
{
	unsigned first = f->buffers.n_pools * TNETX4090_PORTS;
	struct tnetx4090_model_config config = {
	    .bus = f->bus,
	    .base = BOARD_POOL_BASE + f->buffers.n_pools * TNETX4090_WINDOW,
	    .n_buffers = plan->buffers.n,
	    .buffer_octets = plan->buffers.octets,
	    .sync = sync_pools,
	    .ctx = f,
	};
	struct tnetx4090_model *pool;
	int rc;

	for (unsigned i = 0; i < TNETX4090_PORTS && first + i < plan->ports.n; i++)
		if (board_port(plan, first + i)->link == BOARD_LINK_UP)
			config.partners[i] = partner_of(board_port(plan, first + i));
	rc = tnetx4090_model_create(&config, &pool);
	if (rc < 0)
		return rc;
	rc = buffers_add_pool(&f->buffers, pool, pool->free);
	if (rc < 0)
		tnetx4090_model_destroy(pool);
	return rc;
}

static int
add_chip(struct fabric *f, const struct board_plan *plan, int type)
{
	switch (board_chip_role(type)) {
	case BOARD_ROLE_SWITCH:
		return add_switch_chip(f, plan, type);
	case BOARD_ROLE_MAC:
		return add_mac_chip(f);
	case BOARD_ROLE_BUFFERS:
		return add_pool(f, plan);
	default:
		return add_eee(f, plan);
	}
}

/* --- lines --- */

static void
count_event(void *ctx, unsigned port, enum c84302_counter counter, uint32_t n)
{
	struct fabric *f = ctx;

	c84302_model_event(f->ports[port].mac, f->ports[port].mac_port, counter, n);
}

static int
add_lines(struct fabric *f, const struct board_plan *plan)
{
	struct wire_config lines[BOARD_MAX_PORTS];
	int rc;

	for (unsigned i = 0; i < f->n_ports; i++)
		lines[i] = (struct wire_config){
		    .speed_mbps = board_port(plan, i)->speed_mbps,
		    .full_duplex = board_port(plan, i)->duplex == BOARD_FULL,
		    .eee = board_port(plan, i)->eee,
		    .idle_us = board_port(plan, i)->eee_idle_us,
		    .wake_us = board_port(plan, i)->eee_wake_us,
		};
	rc = wires_init(&f->wires, lines, f->n_ports);
	f->wires.eee = f->eee;
	f->wires.count = count_event;
	f->wires.ctx = f;
	return rc;
}

static void
wire_ports(struct fabric *f, const struct board_plan *plan)
{
	for (unsigned i = 0; i < f->n_ports; i++) {
		struct wiring *port = &f->ports[i];

		port->mac = f->macs[i / C84302_PORTS];
		port->mac_port = i % C84302_PORTS;
		port->max_octets = c84302_model_max_octets(port->mac, port->mac_port);
		port->partner = partner_of(board_port(plan, i));
		galnet_model_set_link(port->chip, port->channel,
		    board_port(plan, i)->link == BOARD_LINK_UP);
	}
}

int
fabric_create(struct bus_model *bus, const struct board_plan *plan, struct fabric **fabric)
{
	struct fabric *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return -ENOMEM;
	f->bus = bus;
	galnet_ease_init(&f->ease);
	f->stats = (struct stat_set){stat_names, FABRIC_N_STATS, f->stat_values};
	rc = add_glue(f);
	for (size_t i = 0; i < plan->chips.n && rc == 0; i++)
		rc = add_chip(f, plan, board_chip(plan, i)->type);
	if (rc == 0)
		rc = add_lines(f, plan);
	if (rc < 0) {
		fabric_destroy(f);
		return rc;
	}
	wire_ports(f, plan);
	f->links_changed = true;
	*fabric = f;
	return 0;
}

void
fabric_destroy(struct fabric *fabric)
{
	if (!fabric)
		return;
	for (unsigned i = 0; i < fabric->n_chips; i++)
		galnet_model_destroy(fabric->chips[i]);
	for (unsigned i = 0; i < fabric->n_macs; i++)
		c84302_model_destroy(fabric->macs[i]);
	for (unsigned i = 0; i < fabric->buffers.n_pools; i++)
		tnetx4090_model_destroy(fabric->buffers.pools[i]);
	buffers_free(&fabric->buffers);
	eee_calendar_model_destroy(fabric->eee);
	regmodel_free(&fabric->glue);
	free(fabric);
}
