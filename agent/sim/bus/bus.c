/* Accesses that use only the read and write of any bus. */
#include "agent/sim/bus/bus.h"

int
bus_update(const struct bus *bus, uint32_t address, uint32_t mask, uint32_t bits)
{
	uint32_t value;
	int rc = bus_read(bus, address, &value);

	return rc < 0 ? rc : bus_write(bus, address, (value & ~mask) | (bits & mask));
}

int
bus_read_words(const struct bus *bus, uint32_t address, uint32_t *words, size_t n)
{
	int rc = 0;

	if (bus->ops->read_words)
		return bus->ops->read_words(bus->ctx, address, words, n);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = bus_read(bus, address + 4 * (uint32_t)i, &words[i]);
	return rc;
}
