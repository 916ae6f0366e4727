/*
 * Driver of the SEEQ / LSI 84302's management counters: the counters facet of the boards that
 * carry it. Its 51 counters a port are rows for the HAL, which makes 64-bit totals of them; this
 * file says how to read one and what the totals mean in RFC terms (not in the manual's).
 *
 * The chip runs in its default mode: counters roll over and a read leaves them alone, unless it
 * finds the maximum. All calls are on the HAL's thread and none waits.
 */
#ifndef EASE_AGENT_CHIP_C84302_H
#define EASE_AGENT_CHIP_C84302_H

#include "agent/bus/bus.h"
#include "agent/chip/c84302_regs.h"
#include "agent/hal/hal_provider.h"

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

/* Lets the wired ports count and their half-full interrupts through. -EINVAL for a maximum out of
 * range, or what the bus said. */
int c84302_create(const struct c84302_config *config, struct c84302 **chip);
void c84302_destroy(struct c84302 *chip); /* NULL allowed */

/* One counter of port 0..3; hal_counters_ops.read in the port's terms. */
int c84302_read(struct c84302 *chip, unsigned port, size_t row, uint64_t *raw);

/* hal_counters_ops.derive. Received multicast is the chip's less MAC control frames, which the
 * chip counts in; one sent to a unicast address, which it cannot tell apart, is missing there. */
void c84302_derive(const uint64_t *totals, struct hal_counters *counters);

/* Handles the interrupt: every port with a half-full counter is reported as due for reading.
 * The number of ports reported or -errno. */
int c84302_dispatch(struct c84302 *chip, struct hal *hal);

#endif
