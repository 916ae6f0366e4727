/*
 * Static entries in the address table of a GalNet chip: the CPU writes them, and the chip neither
 * changes nor ages them (GT-48001A page 17). A board writes the same one into all of its chips.
 */
#ifndef EASE_AGENT_CHIP_GALNET_STATIC_ADDRESSES_H
#define EASE_AGENT_CHIP_GALNET_STATIC_ADDRESSES_H

#include "agent/bus/bus.h"

#include <stdint.h>

/* In the tables of devices 0 to n - 1, mac (48 bits, first octet on top) is behind that port of the
 * device `owner` from now on. -ENOSPC: somewhere its bucket is full of other static entries; then
 * it is static nowhere. */
int galnet_set_static(const struct bus *bus, unsigned n_devices, uint64_t mac, unsigned owner,
    unsigned port);
/* Takes the entries out; nothing where there is none. */
int galnet_clear_static(const struct bus *bus, unsigned n_devices, uint64_t mac);

#endif
