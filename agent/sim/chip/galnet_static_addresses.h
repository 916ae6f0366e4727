/*
 * Static entries in the address table of GalNet chips. The CPU writes them, and the chip neither changes nor
 * ages them (GT-48001A page 17). A board writes the same entry to all of its chips.
 */
#ifndef EASE_AGENT_SIM_CHIP_GALNET_STATIC_ADDRESSES_H
#define EASE_AGENT_SIM_CHIP_GALNET_STATIC_ADDRESSES_H

#include "agent/sim/bus/bus.h"

#include <stdint.h>

/* Writes an entry to the tables of devices 0 to n - 1: mac (48 bits, the first octet highest) is at that
 * port of the device `owner`. -ENOSPC: in one of them the bucket is full of other static entries; then
 * no device gets it. */
int galnet_set_static(const struct bus *bus, unsigned n_devices, uint64_t mac, unsigned owner,
    unsigned port);
/* Removes the entries; 0 also if there is none. */
int galnet_clear_static(const struct bus *bus, unsigned n_devices, uint64_t mac);

#endif
