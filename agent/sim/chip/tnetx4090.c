#include "agent/sim/chip/tnetx4090.h"

#include <errno.h>
#include <stdlib.h>

/* A count of the chip that wraps at 2^32, and its total. */
struct widened {
	uint32_t last;
	uint64_t total;
};

struct port_totals {
	struct widened episodes, pressed_us, mcast_left_out, overruns;
};

struct tnetx4090 {
	struct tnetx4090_config config;
	uint32_t pool_buffers, buffer_octets;
	struct port_totals totals[TNETX4090_PORTS];
};

static int
put_octet(struct tnetx4090 *c, uint32_t address, uint32_t value)
{
	return bus_write(c->config.bus, c->config.base + address, value & 0xff);
}

static int
put_2(struct tnetx4090 *c, uint32_t address, uint32_t value)
{
	int rc = put_octet(c, address, value);

	return rc < 0 ? rc : put_octet(c, address + 1, value >> 8);
}

/* Reads bytes in ascending order: the read of the first one latches the others. */
static int
get_4(struct tnetx4090 *c, uint32_t address, uint32_t *value)
{
	uint32_t byte;

	*value = 0;
	for (unsigned i = 0; i < 4; i++) {
		int rc = bus_read(c->config.bus, c->config.base + address + i, &byte);

		if (rc < 0)
			return rc;
		*value |= byte << 8 * i;
	}
	return 0;
}

/* --- setting up --- */

static int
tnetx4090_read_pool(struct tnetx4090 *c)
{
	int rc = get_4(c, TNETX4090_POOL_AT(TNETX4090_PORTS, TNETX4090_POOL_BUFFERS),
	    &c->pool_buffers);

	if (rc == 0)
		rc = get_4(c, TNETX4090_POOL_AT(TNETX4090_PORTS, TNETX4090_POOL_BUFFER_OCTETS), &c->buffer_octets);
	if (rc == 0 && c->buffer_octets == 0)
		rc = -EIO;
	return rc;
}

/* Page 56: enough buffers for a frame at each port. With two or more ports, the gigabit port's half of the
 * threshold is more than one frame. */
uint32_t
tnetx4090_default_threshold(unsigned n_ports, uint32_t max_octets, uint32_t buffer_octets)
{
	return (n_ports > 2 ? n_ports : 2) * ((max_octets + buffer_octets - 1) / buffer_octets);
}

static int
tnetx4090_set_threshold(struct tnetx4090 *c)
{
	uint32_t threshold = c->config.threshold;

	if (threshold == 0)
		threshold = tnetx4090_default_threshold(c->config.n_ports, c->config.max_octets, c->buffer_octets);
	if (threshold > UINT16_MAX || threshold >= c->pool_buffers)
		return -EINVAL;
	return put_2(c, TNETX4090_FLOW_THRESHOLD, threshold);
}

static int
set_mcast_limit(struct tnetx4090 *c)
{
	uint32_t step = 0, limit = c->config.mcast_limit;
	int rc;

	if (limit == 0)
		return put_2(c, TNETX4090_MCAST_LIMIT, 0);
	while (step < TNETX4090_MCAST_STEPS && TNETX4090_MCAST_MAX(step) != limit)
		step++;
	if (step == TNETX4090_MCAST_STEPS)
		return -EINVAL;
	rc = put_octet(c, TNETX4090_MCAST_LIMIT + 2, step);
	return rc < 0 ? rc : put_2(c, TNETX4090_MCAST_LIMIT, (1u << c->config.n_ports) - 1);
}

int
tnetx4090_negotiate(struct tnetx4090 *c, unsigned port)
{
	return put_octet(c, TNETX4090_PORT_CONTROL + port,
	    TNETX4090_PORT_NEG | (c->config.no_pause[port] ? TNETX4090_PORT_REQNP : 0u) |
		(c->config.half_duplex[port] ? TNETX4090_PORT_REQHD : 0u));
}

static int
start_chip(struct tnetx4090 *c)
{
	int rc = tnetx4090_read_pool(c);

	if (rc == 0)
		rc = put_octet(c, TNETX4090_STAT_CONTROL, 0);
	if (rc == 0)
		rc = tnetx4090_set_threshold(c);
	if (rc == 0)
		rc = set_mcast_limit(c);
	for (unsigned port = 0; rc == 0 && port < c->config.n_ports; port++)
		rc = tnetx4090_negotiate(c, port);
	if (rc == 0)
		rc = put_octet(c, TNETX4090_SYS_CONTROL, (c->config.flow ? TNETX4090_FLOW : 0u) |
		    (c->config.holb ? TNETX4090_HOLB : 0u));
	return rc;
}

int
tnetx4090_create(const struct tnetx4090_config *config, struct tnetx4090 **chip)
{
	struct tnetx4090 *c;
	int rc;

	if (config->n_ports < 1 || config->n_ports > TNETX4090_PORTS)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->config = *config;
	rc = start_chip(c);
	if (rc < 0) {
		free(c);
		return rc;
	}
	*chip = c;
	return 0;
}

void
tnetx4090_destroy(struct tnetx4090 *chip)
{
	free(chip);
}

/* --- reading --- */

int
tnetx4090_statistic(struct tnetx4090 *c, unsigned port, enum tnetx4090_stat stat, uint32_t *value)
{
	return get_4(c, TNETX4090_STAT(port, stat), value);
}

static int
widen_counter(struct tnetx4090 *c, uint32_t address, struct widened *w)
{
	uint32_t value;
	int rc = get_4(c, address, &value);

	if (rc < 0)
		return rc;
	w->total += value - w->last;
	w->last = value;
	return 0;
}

static int
tnetx4090_read_totals(struct tnetx4090 *c, unsigned port)
{
	struct port_totals *t = &c->totals[port];
	const struct {
		uint32_t address;
		struct widened *total;
	} figures[] = {
	    {TNETX4090_POOL_AT(port, TNETX4090_PRESSED_EPISODES), &t->episodes},
	    {TNETX4090_POOL_AT(port, TNETX4090_PRESSED_US), &t->pressed_us},
	    {TNETX4090_POOL_AT(port, TNETX4090_MCAST_LEFT_OUT), &t->mcast_left_out},
	    {TNETX4090_STAT(port, TNETX4090_RX_OVERRUNS), &t->overruns},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(figures) / sizeof(figures[0]); i++)
		rc = widen_counter(c, figures[i].address, figures[i].total);
	return rc;
}

static int
read_gauges(struct tnetx4090 *c, unsigned port, struct hal_buffers *b)
{
	const struct {
		uint32_t address;
		uint32_t *value;
	} figures[] = {
	    {TNETX4090_POOL_AT(TNETX4090_PORTS, TNETX4090_POOL_FREE), &b->pool_free},
	    {TNETX4090_POOL_AT(TNETX4090_PORTS, TNETX4090_POOL_LEAST_FREE), &b->pool_least_free},
	    {TNETX4090_POOL_AT(port, TNETX4090_CHARGED), &b->charged},
	    {TNETX4090_POOL_AT(port, TNETX4090_MOST_CHARGED), &b->most_charged},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(figures) / sizeof(figures[0]); i++)
		rc = get_4(c, figures[i].address, figures[i].value);
	return rc;
}

static int
read_flow_control(struct tnetx4090 *c, unsigned port, uint8_t *flow_control)
{
	uint32_t status;
	int rc = bus_read(c->config.bus, c->config.base + TNETX4090_PORT_STATUS + port, &status);

	if (rc < 0)
		return rc;
	if (!c->config.flow)
		*flow_control = HAL_FLOW_DROP;
	else if (!(status & TNETX4090_STATUS_DUPLEX))
		*flow_control = HAL_FLOW_COLLIDE;
	else
		*flow_control = status & TNETX4090_STATUS_PAUSE ? HAL_FLOW_PAUSE : HAL_FLOW_DROP;
	return 0;
}

int
tnetx4090_read(struct tnetx4090 *c, unsigned port, struct hal_buffers *buffers)
{
	const struct port_totals *t = &c->totals[port];
	int rc;

	if (port >= c->config.n_ports)
		return -ENODEV;
	*buffers = (struct hal_buffers){
	    .pool_buffers = c->pool_buffers, .buffer_octets = c->buffer_octets};
	rc = read_gauges(c, port, buffers);
	if (rc == 0)
		rc = read_flow_control(c, port, &buffers->flow_control);
	if (rc == 0)
		rc = tnetx4090_read_totals(c, port);
	if (rc < 0)
		return rc;
	buffers->pressed_episodes = t->episodes.total;
	buffers->pressed_us = t->pressed_us.total;
	buffers->mcast_left_out = t->mcast_left_out.total;
	buffers->ingress_drops = t->overruns.total;
	return 0;
}
