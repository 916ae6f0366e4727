/*
 * A slow, obvious board of GalNet switch chips and 84302 MACs, to hold the fast one
 * (agent/sim/fabric.h and the models below it) against: one frame at a time, plain arrays and
 * loops over ports and devices, written from the words of the data sheets. It shares with the fast
 * one only the chips' _regs.h, which stand for the data sheets' register maps.
 */
#ifndef EASE_TESTS_REFERENCE_SWITCH_H
#define EASE_TESTS_REFERENCE_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REFERENCE_MAX_CHIPS = 32, REFERENCE_MAX_PORTS = 64 };

struct reference;

struct reference_plan {
	unsigned n_chips;
	unsigned ports[REFERENCE_MAX_CHIPS]; /* of each: 8 (GT-48001A) or 2 (GT-48002A) */
	bool link_up[REFERENCE_MAX_PORTS];   /* by port of the board */
};

struct reference_frame {
	unsigned port; /* of the board */
	const uint8_t *octets; /* from the destination on, without FCS */
	uint32_t captured_octets, data_octets, wire_octets; /* as in struct feed_frame */
	bool bad_fcs, broken_octet, symbol_error, fifo_overflow;
};

struct reference *reference_create(const struct reference_plan *plan);
void reference_destroy(struct reference *ref); /* NULL allowed */

void reference_frame(struct reference *ref, const struct reference_frame *frame);
void reference_set_link(struct reference *ref, unsigned port, bool up);

/* Frames that left by a port so far. */
uint64_t reference_sent(const struct reference *ref, unsigned port);

/* --- the CPU's side --- */

/* 0 or -ENXIO. */
int reference_read(struct reference *ref, uint32_t address, uint32_t *value);
int reference_write(struct reference *ref, uint32_t address, uint32_t value);
/* Gives the board this memory of the CPU at a bus address; zeros at first. */
uint8_t *reference_add_memory(struct reference *ref, uint32_t bus_address, size_t octets);
uint32_t reference_lines(const struct reference *ref);

#endif
