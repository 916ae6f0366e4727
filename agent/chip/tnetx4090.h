/*
 * Driver of the TNETX4090's flow control: the buffers facet of the boards that carry it. It sets
 * the rules (SysControl, FlowThreshold, MCastLimit), lets the ports negotiate, and reads what the
 * pool is doing; 32-bit figures of the chip become 64-bit totals here.
 *
 * All calls are on the HAL's thread and none waits.
 */
#ifndef EASE_AGENT_CHIP_TNETX4090_H
#define EASE_AGENT_CHIP_TNETX4090_H

#include "agent/bus/bus.h"
#include "agent/chip/tnetx4090_regs.h"
#include "agent/hal/hal_provider.h"

struct tnetx4090;

struct tnetx4090_config {
	const struct bus *bus; /* borrowed */
	uint32_t base;	       /* bus address of the DIO window */
	unsigned n_ports;      /* in use, from port 0 on: 1..TNETX4090_PORTS */
	bool no_pause[TNETX4090_PORTS]; /* the port does not ask for pause frames */
	bool half_duplex[TNETX4090_PORTS];
	bool flow, holb;       /* SysControl's bits: see the header of the model or page 56 */
	uint32_t threshold;    /* FlowThreshold; 0: what lets every port finish a frame */
	uint32_t max_octets;   /* longest frame, FCS in; for that threshold */
	uint32_t mcast_limit;  /* multicasts that may wait at a port: 2, 4, … 256; 0: no limit */
};

/* The FlowThreshold by which each of so many ports can finish a frame it has begun to receive. */
uint32_t tnetx4090_default_threshold(unsigned n_ports, uint32_t max_octets,
    uint32_t buffer_octets);

/* -EINVAL for a limit or threshold that the chip cannot have, or what the bus said. */
int tnetx4090_create(const struct tnetx4090_config *config, struct tnetx4090 **chip);
void tnetx4090_destroy(struct tnetx4090 *chip); /* NULL allowed */

/* hal_buffers_ops.read in the chip's terms. */
int tnetx4090_read(struct tnetx4090 *chip, unsigned port, struct hal_buffers *buffers);

/* One statistic, read whole; wraps at 2^32 and is not cleared. */
int tnetx4090_statistic(struct tnetx4090 *chip, unsigned port, enum tnetx4090_stat stat,
    uint32_t *value);

/* The port's link came up or the partner changed: negotiate anew. */
int tnetx4090_negotiate(struct tnetx4090 *chip, unsigned port);

#endif
