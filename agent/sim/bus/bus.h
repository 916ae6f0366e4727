/*
 * The bus between CPU and chips: a register window, shared memory and an interrupt line. It is all that
 * drivers use. It is implemented by a software model, by a recorder (tests), or in future by a real
 * window; a driver cannot tell the difference.
 *
 * Registers are 32 bits wide unless the chip's are narrower (a 16-bit read gives the low 16). A chip
 * accesses shared memory as a PCI master: the driver allocates it and writes its bus address to the
 * chip, and both access the octets. Words in it are little-endian as on PCI (*assumed* for GalNet: no
 * public document gives the byte order).
 *
 * Only the CPU's thread makes accesses. They exclude the chips' thread, so that a read with side effects
 * is atomic.
 */
#ifndef EASE_AGENT_SIM_BUS_H
#define EASE_AGENT_SIM_BUS_H

#include <stddef.h>
#include <stdint.h>

struct bus;

struct bus_ops {
	const char *name;
	/* 0, -ENXIO for an address without a register (counted by the bus), or -EIO. */
	int (*read)(void *ctx, uint32_t address, uint32_t *value);
	int (*write)(void *ctx, uint32_t address, uint32_t value);
	/* Reads n words from address on in one burst, for memory behind registers. NULL: one by one. */
	int (*read_words)(void *ctx, uint32_t address, uint32_t *words, size_t n);
	/* Allocates memory that both sides access; freed with the bus. NULL if there is not enough. */
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

/* Reads n words from address on, in a burst if the bus can. After a failure words is undefined. */
static inline int
bus_read_words(const struct bus *bus, uint32_t address, uint32_t *words, size_t n)
{
	int rc = 0;

	if (bus->ops->read_words)
		return bus->ops->read_words(bus->ctx, address, words, n);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = bus_read(bus, address + 4 * (uint32_t)i, &words[i]);
	return rc;
}

/* Reads, replaces the bits in mask by those of bits, and writes. */
static inline int
bus_update(const struct bus *bus, uint32_t address, uint32_t mask, uint32_t bits)
{
	uint32_t value;
	int rc = bus_read(bus, address, &value);

	return rc < 0 ? rc : bus_write(bus, address, (value & ~mask) | (bits & mask));
}

#endif
