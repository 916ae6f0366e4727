/*
 * The smallest switch that easeswitch can drive, as the guide's chapter on new devices explains it:
 * two ports behind a register window, with four 32-bit counters each and a word of link bits.
 * tests/agent/sim/check_example_device.c runs it over a register model. No board uses it.
 */
#ifndef EASE_GUIDE_EXAMPLE_DEVICE_H
#define EASE_GUIDE_EXAMPLE_DEVICE_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/bus/bus.h"

/* The window, in octets: four counters a port, and one bit a port that has link. */
enum {
	EXAMPLE_PORTS = 2,
	EXAMPLE_RX_PKTS = 0x00,
	EXAMPLE_RX_OCTETS = 0x04,
	EXAMPLE_TX_PKTS = 0x08,
	EXAMPLE_TX_OCTETS = 0x0c,
	EXAMPLE_PORT_STRIDE = 0x10,
	EXAMPLE_LINK = 0x40,
};

/* bus and clock are borrowed until the device is destroyed. 0 or -ENOMEM. */
int example_device_create(const struct bus *bus, const struct clock *clock,
    struct hal_device **device);

#endif
