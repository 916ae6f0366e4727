/*
 * A slow, obvious 84302 to hold the fast one (agent/sim/chip/c84302_model.h) against: one frame or
 * event at a time, plain arrays, written from the words of the data sheet. It shares with the fast
 * one only c84302_regs.h, which stands for the data sheet's register map.
 */
#ifndef EASE_TESTS_REFERENCE_MAC_H
#define EASE_TESTS_REFERENCE_MAC_H

#include <stdbool.h>
#include <stdint.h>

/* One port. All zero is a port before RESET: call reference_mac_reset first. */
struct reference_mac {
	uint32_t counter[52]; /* by number, 1..51 */
	uint32_t events[52];  /* all it has counted, whatever zeroed it since */
	uint32_t config_3, config_4, config_5;
	uint32_t status[7], mask[7];
	uint32_t holding; /* both holding registers */
	uint32_t reading; /* offset of the counter read in progress; 0: none */
	unsigned accesses_done;
	bool bus_is_8_bits; /* BUSSIZE */
};

struct reference_mac_frame {
	uint32_t octets; /* FCS in */
	uint64_t destination;
	uint16_t length_type;
	uint16_t opcode; /* of a MAC control frame */
	bool has_header;
	bool bad_fcs, broken_octet, symbol_error, fifo_overflow;
};

uint32_t reference_mac_longest(const struct reference_mac *mac); /* legal packet, octets */
void reference_mac_reset(struct reference_mac *mac);
/* So many events of one counter, below 2^31. */
void reference_mac_events(struct reference_mac *mac, unsigned counter, uint32_t how_many);
/* True if the frame is good. */
bool reference_mac_receive(struct reference_mac *mac, const struct reference_mac_frame *frame);
/* A good frame is sent. */
void reference_mac_send(struct reference_mac *mac, const struct reference_mac_frame *frame);
bool reference_mac_interrupt(const struct reference_mac *mac); /* INT_n */

/* 0 or -ENXIO. */
int reference_mac_read(struct reference_mac *mac, uint32_t offset, uint32_t *value);
int reference_mac_write(struct reference_mac *mac, uint32_t offset, uint32_t value);

#endif
