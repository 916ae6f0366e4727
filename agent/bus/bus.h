/*
 * The bus between CPU and chips: a register window, shared memory and an interrupt line. Drivers
 * see only this. Behind it is a software model, a recording of what a driver did (tests), or one
 * day a real window; the driver cannot tell.
 *
 * Registers are 32 bits wide unless the chip's are narrower (a 16-bit read gives the low 16).
 * Shared memory is what a chip masters on PCI: the driver allocates it, tells the chip its bus
 * address, and both see the octets; words in it are little-endian, as PCI has it (assumed for
 * GalNet: the byte order was not found in public material).
 * Accesses may be made from the CPU's thread only; they exclude the chips' own thread, so a read
 * with side effects happens once and whole.
 */
#ifndef EASE_AGENT_BUS_H
#define EASE_AGENT_BUS_H

#include <stddef.h>
#include <stdint.h>

struct bus;

struct bus_ops {
	const char *name;
	/* 0, -ENXIO for an address without a register (counted by the bus), or -EIO. */
	int (*read)(void *ctx, uint32_t address, uint32_t *value);
	int (*write)(void *ctx, uint32_t address, uint32_t value);
	/* n words from address on in one burst, for memory behind registers. NULL: one by one. */
	int (*read_words)(void *ctx, uint32_t address, uint32_t *words, size_t n);
	/* Memory both sides see; freed with the bus. NULL if there is none of that size left. */
	void *(*alloc_shared)(void *ctx, size_t octets, uint32_t *bus_address);
	void (*destroy)(void *ctx); /* NULL allowed */
};

struct bus {
	const struct bus_ops *ops;
	void *ctx;
};

static inline int
bus_read(const struct bus *bus, uint32_t address, uint32_t *value)
{
	return bus->ops->read(bus->ctx, address, value);
}

static inline int
bus_write(const struct bus *bus, uint32_t address, uint32_t value)
{
	return bus->ops->write(bus->ctx, address, value);
}

/* n words from address on, in a burst if the bus can. What words holds on failure is undefined. */
int bus_read_words(const struct bus *bus, uint32_t address, uint32_t *words, size_t n);

/* Read, change the bits of mask to those of bits, write. */
int bus_update(const struct bus *bus, uint32_t address, uint32_t mask, uint32_t bits);

#endif
