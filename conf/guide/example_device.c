#include "conf/guide/example_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct example {
	struct hal_device device;
	const struct bus *bus;
	const struct clock *clock;
};

/* ---- ports ---- */

static size_t
example_count(void *ctx)
{
	(void)ctx;
	return EXAMPLE_PORTS;
}

static uint32_t
example_if_index(void *ctx, size_t i)
{
	(void)ctx;
	return (uint32_t)i + 1;
}

static int
example_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	uint32_t links;
	int rc = bus_read(((struct example *)ctx)->bus, EXAMPLE_LINK, &links);

	if (rc < 0)
		return rc;
	snprintf(port->name, sizeof(port->name), "x-%u", if_index);
	port->if_type = 6; /* ethernetCsmacd */
	port->mtu_octets = 1500;
	port->speed_bps = 1000000000;
	port->admin_status = EASE_IF_UP;
	port->oper_status = links >> (if_index - 1) & 1 ? EASE_IF_UP : EASE_IF_DOWN;
	port->duplex = EASE_DUPLEX_FULL;
	port->has_connector = true;
	return 0;
}

static const struct hal_ports_ops example_ports = {
    .name = "example",
    .count = example_count,
    .if_index = example_if_index,
    .get = example_get,
};

/* ---- counters ---- */

enum { RX_PKTS, RX_OCTETS, TX_PKTS, TX_OCTETS, N_ROWS };

static const struct hal_counter_row example_rows[N_ROWS] = {
    [RX_PKTS] = {.name = "good frames in", .address = EXAMPLE_RX_PKTS, .width_bits = 32},
    [RX_OCTETS] = {.name = "octets in", .address = EXAMPLE_RX_OCTETS, .width_bits = 32},
    [TX_PKTS] = {.name = "good frames out", .address = EXAMPLE_TX_PKTS, .width_bits = 32},
    [TX_OCTETS] = {.name = "octets out", .address = EXAMPLE_TX_OCTETS, .width_bits = 32},
};

static int
example_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	uint32_t value;
	int rc = bus_read(((struct example *)ctx)->bus,
	    example_rows[row].address + (if_index - 1) * EXAMPLE_PORT_STRIDE, &value);

	*raw = rc < 0 ? 0 : value;
	return rc;
}

/* The chip does not tell broadcasts and multicasts apart, so these figures are not known. */
static void
example_derive(const uint64_t *totals, struct hal_counters *counters)
{
	static const struct {
		enum hal_figure figure;
		unsigned row;
	} map[] = {
	    {HAL_IN_OCTETS, RX_OCTETS}, {HAL_IN_UCAST_PKTS, RX_PKTS}, {HAL_POOL_IN_PKTS, RX_PKTS},
	    {HAL_OUT_OCTETS, TX_OCTETS}, {HAL_OUT_UCAST_PKTS, TX_PKTS}, {HAL_POOL_OUT_PKTS, TX_PKTS},
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		counters->value[map[i].figure] = totals[map[i].row];
		counters->known |= 1ull << map[i].figure;
	}
}

static const struct hal_counters_ops example_counters = {
    .name = "example",
    .rows = example_rows,
    .n_rows = N_ROWS,
    .read = example_read,
    .derive = example_derive,
};

/* ---- the device: what it is made of ---- */

static int
example_start(void *ctx, struct hal *hal)
{
	(void)ctx, (void)hal; /* a device with events keeps hal for hal_report_*() */
	return 0;
}

static int
example_dispatch(void *ctx, unsigned budget)
{
	(void)ctx, (void)budget; /* no interrupt: nothing is ever pending */
	return 0;
}

static uint64_t
example_now_us(void *ctx)
{
	return clock_wall_us(((struct example *)ctx)->clock);
}

static const struct hal_device_ops example_ops = {
    .kind = "example",
    .start = example_start,
    .dispatch = example_dispatch,
    .destroy = free,
    .now_us = example_now_us,
};

int
example_device_create(const struct bus *bus, const struct clock *clock, struct hal_device **device)
{
	struct example *example = calloc(1, sizeof(*example));

	if (!example)
		return -ENOMEM;
	example->bus = bus;
	example->clock = clock;
	example->device = (struct hal_device){
	    .ops = &example_ops, .ctx = example,
	    .ports = &example_ports, .ports_ctx = example,
	    .counters = &example_counters, .counters_ctx = example,
	};
	*device = &example->device;
	return 0;
}
