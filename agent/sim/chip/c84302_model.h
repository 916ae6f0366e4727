/*
 * Software model of the 84302's management counters: four ports of 51 counters behind registers,
 * with holding registers, half-full status and interrupt, reset on read, freeze or rollover.
 *
 * The board reports every frame that passes a port's MAC; the model decides whether a received frame is
 * good. The caller holds the bus's lock. The driver (c84302.h) does not use this file.
 */
#ifndef EASE_AGENT_SIM_CHIP_C84302_MODEL_H
#define EASE_AGENT_SIM_CHIP_C84302_MODEL_H

#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/c84302_regs.h"

#include <stdbool.h>
#include <stdint.h>

struct c84302_model;

struct c84302_model_config {
	struct bus_model *bus; /* borrowed */
	uint32_t base;	       /* bus address of port 0's window */
	unsigned line;	       /* up while any of INT_[1:4] is asserted */
	bool bus_is_8_bits;    /* BUSSIZE: four reads a counter instead of two */
	/* Called before every access of the CPU to a port, so that the board adds its sums of good frames.
	 * NULL: it has no sums. */
	void (*sync)(void *ctx, unsigned chip, unsigned port);
	void *ctx;
	unsigned chip; /* for sync */
};

enum c84302_kind { C84302_UCAST, C84302_MCAST, C84302_BCAST, C84302_KINDS };
enum { C84302_SIZE_CLASSES = 6 }; /* 64, 65-127, … 1024-MAX */

enum c84302_fault {
	C84302_FAULT_FCS = 1u << 0,	  /* bad FCS, whole number of octets */
	C84302_FAULT_ALIGNMENT = 1u << 1, /* bad FCS, a fraction of an octet */
	C84302_FAULT_SYMBOL = 1u << 2,	  /* the PHY reported a code error */
	C84302_FAULT_OVERFLOW = 1u << 3,  /* the receive FIFO overflowed: only a drop event */
};

enum c84302_control { C84302_NOT_CONTROL, C84302_PAUSE, C84302_UNKNOWN_OPCODE };

/* A frame at the MAC. */
struct c84302_frame {
	uint32_t octets;      /* with FCS, without preamble */
	uint8_t kind;	      /* enum c84302_kind */
	uint8_t faults;	      /* enum c84302_fault */
	uint8_t control;      /* enum c84302_control */
	uint16_t length_type; /* the field behind the addresses; a type if 0x600 or above */
	uint8_t sum; /* index into pkts of the sums below, if the frame is good */
};

/* Good frames of one direction, summed up, modulo 2^32. */
struct c84302_sums {
	uint32_t octets;
	uint32_t pkts[C84302_KINDS * C84302_SIZE_CLASSES];
};

int c84302_model_create(const struct c84302_model_config *config, struct c84302_model **model);
void c84302_model_destroy(struct c84302_model *model); /* NULL allowed */
/* The RESET pin: counters 0, counter reset bits 1. */
void c84302_model_reset(struct c84302_model *model);

/* Counts a received frame; true if it is good: legal length and no fault. */
bool c84302_model_receive(struct c84302_model *model, unsigned port,
    const struct c84302_frame *frame);
/* The address of the longest good frame's length, which the model updates when the register changes. */
const uint32_t *c84302_model_max_octets(const struct c84302_model *model, unsigned port);

/* Whether a received frame may be counted in sums instead: it is good, has a type in the field behind its
 * addresses, and is not MAC control. */
static inline bool
c84302_model_is_plain(const struct c84302_frame *frame, uint32_t max_octets)
{
	return frame->octets - C84302_MIN_OCTETS <= max_octets - C84302_MIN_OCTETS &&
	    frame->length_type >= 0x600 && (frame->control | frame->faults) == 0;
}

/* Add good frames that the port received, which must all be plain, or sent; less than 2^31 octets. */
void c84302_model_receive_sums(struct c84302_model *model, unsigned port,
    const struct c84302_sums *received);
void c84302_model_send(struct c84302_model *model, unsigned port,
    const struct c84302_sums *sent);

/* Size class of a length of 64 octets to MAX. */
static inline unsigned
c84302_size_class(uint32_t octets)
{
	unsigned log2 = 31u - (unsigned)__builtin_clz(octets);

	return (log2 < 10 ? log2 : 10) - 5 - (octets == 64);
}

/* The index into the sums' pkts of a frame of 64 octets to MAX. */
static inline unsigned
c84302_sum_of(unsigned kind, uint32_t octets)
{
	return kind * C84302_SIZE_CLASSES + c84302_size_class(octets);
}

/* The events of a counter since create, modulo 2^32, even if it was zeroed since. None are counted while the
 * counter reset bit is set. */
uint32_t c84302_model_events(const struct c84302_model *model, unsigned port,
    enum c84302_counter counter);

/* For tests: the pin INT_[port + 1], and a counter set to any value. */
bool c84302_model_int(const struct c84302_model *model, unsigned port);
void c84302_model_preset(struct c84302_model *model, unsigned port, enum c84302_counter counter,
    uint32_t value);
/* Counts n events of one counter, for errors that are not in the frames of a feed. */
void c84302_model_event(struct c84302_model *model, unsigned port, enum c84302_counter counter,
    uint32_t n);

#endif
