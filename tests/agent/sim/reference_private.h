/*
 * The state of the slow, obvious board, for the files that make it up: reference_switch.c is the
 * path of a frame, reference_registers.c what the CPU sees.
 */
#ifndef EASE_TESTS_REFERENCE_PRIVATE_H
#define EASE_TESTS_REFERENCE_PRIVATE_H

#include "agent/sim/chip/c84302_regs.h"
#include "agent/sim/chip/galnet_regs.h"
#include "tests/agent/sim/chip/reference_mac.h"
#include "tests/agent/sim/reference_switch.h"

enum { MAX_AREAS = 128, EMPTY = -1 };

/* A GalNet chip, as its registers and its DRAM. */
struct chip {
	unsigned device, n_ports, first_port;
	uint32_t cause, mask, ease_mask, control;
	/* EASE: "a counter and a shadow for every port"; EMPTY or 0..0xfffff. */
	int32_t count[8], shadow[8];
	bool ease_event[8]; /* Ease_Register became empty; not acknowledged */
	bool has_cba, has_cbas;
	uint32_t cba, cbas, last_base; /* the last base written is what a read gives */
	unsigned block;
	uint32_t new_address_base, error_source_base;
	unsigned next_new_address, next_error_source;
	uint32_t new_address_lost, address_discards, packets_lost, error_source_lost;
	uint32_t cpu_numbers;
	uint32_t port_control[8], command[8];
	uint32_t mib_zero[8][GALNET_N_MIB]; /* events when a read zeroed the counter */
	bool link[8];
	uint32_t table[GALNET_TABLE_ENTRIES][2];
};

struct area {
	uint32_t bus_address;
	size_t octets;
	uint8_t *memory;
};

struct reference {
	unsigned n_chips, n_ports;
	struct chip chips[REFERENCE_MAX_CHIPS];
	struct reference_mac macs[REFERENCE_MAX_PORTS + C84302_PORTS];
	uint64_t sent[REFERENCE_MAX_PORTS];
	struct area areas[MAX_AREAS];
	unsigned n_areas;
};

static inline bool
is_48002a(const struct chip *c)
{
	return c->n_ports == 2;
}

/* Words in the CPU's memory are little-endian; NULL if there is no such memory. */
uint8_t *reference_memory(struct reference *ref, uint32_t bus_address, size_t octets);

#endif
