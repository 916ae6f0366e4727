/* What every bus can do with the two accesses it offers. */
#include "agent/bus/bus.h"

int
bus_update(const struct bus *bus, uint32_t address, uint32_t mask, uint32_t bits)
{
	uint32_t value;
	int rc = bus_read(bus, address, &value);

	return rc < 0 ? rc : bus_write(bus, address, (value & ~mask) | (bits & mask));
}
