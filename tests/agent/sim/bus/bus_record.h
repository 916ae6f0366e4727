/*
 * A bus that records the accesses that it passes on to another bus. Tests of drivers check which
 * registers were read and written, and in which order. Used in tests and debugging only.
 */
#ifndef EASE_TESTS_BUS_RECORD_H
#define EASE_TESTS_BUS_RECORD_H

#include "agent/sim/bus/bus.h"

#include <stdbool.h>

enum { BUS_RECORD_MAX = 4096 }; /* accesses kept; later ones are counted in n_lost */

struct bus_access {
	bool write;
	uint32_t address;
	uint32_t value; /* read or written */
	int rc;
};

struct bus_record {
	const struct bus *below; /* borrowed */
	struct bus_access accesses[BUS_RECORD_MAX];
	size_t n, n_lost;
};

void bus_record_clear(struct bus_record *record);
/* A bus that records to record. The caller owns record and has set the bus below. */
struct bus bus_record_bus(struct bus_record *record);
/* The number of recorded accesses to address. */
size_t bus_record_count(const struct bus_record *record, uint32_t address, bool write);

#endif
