/*
 * Driver of the TNETX4090's flow control: the buffers facet of boards with this chip. It sets the rules
 * (SysControl, FlowThreshold, MCastLimit), starts negotiation at the ports, reads the state of the pool,
 * and extends the chip's 32-bit counts to 64-bit totals.
 *
 * All calls are on the HAL's thread and none waits.
 */
#ifndef EASE_AGENT_SIM_CHIP_TNETX4090_H
#define EASE_AGENT_SIM_CHIP_TNETX4090_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/bus/bus.h"
#include "agent/sim/chip/tnetx4090_regs.h"

struct tnetx4090;

struct tnetx4090_config {
	const struct bus *bus; /* borrowed */
	uint32_t base;	       /* bus address of the DIO window */
	unsigned n_ports;      /* in use, from port 0 on: 1..TNETX4090_PORTS */
	bool no_pause[TNETX4090_PORTS]; /* the port does not negotiate pause frames */
	bool half_duplex[TNETX4090_PORTS];
	bool flow, holb;       /* SysControl's bits: see the header of the model or page 56 */
	uint32_t threshold;    /* FlowThreshold; 0: enough for every port to finish a frame */
	uint32_t max_octets;   /* longest frame, with FCS; used for that threshold */
	uint32_t mcast_limit;  /* multicasts that may wait at a port: 2, 4, … 256; 0: no limit */
};

/* The FlowThreshold with which each of so many ports can finish a frame that it has begun to receive. */
uint32_t tnetx4090_default_threshold(unsigned n_ports, uint32_t max_octets,
    uint32_t buffer_octets);

/* -EINVAL for a limit or threshold that the chip does not support, or the bus's error. */
int tnetx4090_create(const struct tnetx4090_config *config, struct tnetx4090 **chip);
void tnetx4090_destroy(struct tnetx4090 *chip); /* NULL allowed */

/* hal_buffers_ops.read for one port of the chip. */
int tnetx4090_read(struct tnetx4090 *chip, unsigned port, struct hal_buffers *buffers);

/* Reads one statistic atomically. It wraps at 2^32 and is not cleared. */
int tnetx4090_statistic(struct tnetx4090 *chip, unsigned port, enum tnetx4090_stat stat,
    uint32_t *value);

/* Negotiates again, after the port's link came up or the partner changed. */
int tnetx4090_negotiate(struct tnetx4090 *chip, unsigned port);

#endif
