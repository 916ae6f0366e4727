/*
 * Driver of the management counters of the SEEQ / LSI 84302: the counters facet of boards with this chip.
 * Its 51 counters of each port are rows for the HAL, which extends them to 64-bit totals. This file
 * reads a counter, and derives the RFCs' counters from the totals (their meaning, not the manual's).
 *
 * The chip runs in its default mode: counters roll over, and a read does not change them, except at the
 * maximum. All calls are on the HAL's thread and none waits.
 */
#ifndef EASE_AGENT_SIM_CHIP_C84302_H
#define EASE_AGENT_SIM_CHIP_C84302_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/bus/bus.h"
#include "agent/sim/chip/c84302_regs.h"

struct c84302;

struct c84302_config {
	const struct bus *bus; /* borrowed */
	uint32_t base;	       /* bus address of port 0's window */
	uint32_t if_index[C84302_PORTS]; /* 0: the port is not wired */
	uint32_t max_octets; /* longest good frame, FCS in: 1518..1533; 0: 1518 */
	bool bus_is_8_bits;  /* BUSSIZE pin */
};

/* Row n - 1 is counter n. */
extern const struct hal_counter_row c84302_counter_rows[C84302_COUNTERS];

/* Starts counting at the wired ports and enables their half-full interrupts. -EINVAL for a maximum out of
 * range, or the bus's error. */
int c84302_create(const struct c84302_config *config, struct c84302 **chip);
void c84302_destroy(struct c84302 *chip); /* NULL allowed */

/* One counter of port 0..3; hal_counters_ops.read in the port's terms. */
int c84302_read(struct c84302 *chip, unsigned port, size_t row, uint64_t *raw);

/* hal_counters_ops.derive. Received multicasts are the chip's count minus MAC control frames, which the
 * chip includes. A MAC control frame to a unicast address cannot be distinguished and is subtracted,
 * too. */
void c84302_derive(const uint64_t *totals, struct hal_counters *counters);

/* Handles the interrupt: reports every port with a half-full counter as due for reading. Returns the number
 * of ports reported, or -errno. */
int c84302_dispatch(struct c84302 *chip, struct hal *hal);

#endif
