/*
 * Small captures made in memory, in any byte order and time unit of the pcap format or as pcapng, so
 * that tests of feeds and boards need no file of anybody's. Limits are asserted, not checked: test
 * data only.
 */
#ifndef EASE_TESTS_MAKE_CAPTURE_H
#define EASE_TESTS_MAKE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MADE_CAPTURE_MAX = 4 << 20 };

struct made_capture {
	uint8_t octets[MADE_CAPTURE_MAX];
	size_t n;
	bool big_endian, nanoseconds;
};

/* Begins a capture: the file header. */
void made_begin(struct made_capture *c, bool big_endian, bool nanoseconds, uint32_t link_type);
/* A record as its header claims it; captured octets follow from `octets`. */
void made_record(struct made_capture *c, uint64_t time_us, uint32_t captured, uint32_t length,
    const uint8_t *octets);
/* An Ethernet frame of `length` octets (14..1600) between two stations, type 0x0800. */
void made_frame(struct made_capture *c, uint64_t time_us, uint64_t destination, uint64_t source,
    uint32_t length);

/* Begins a pcapng: a section header. Its parts follow by the calls below. */
void made_begin_ng(struct made_capture *c, bool big_endian);
/* An interface; resolution as if_tsresol has it (6: microseconds, 9: nanoseconds, 0x80 + n: 2^-n). */
void made_interface(struct made_capture *c, uint16_t link_type, uint32_t snap_octets,
    uint8_t resolution, const char *name);
/* An enhanced packet block. */
void made_packet(struct made_capture *c, uint32_t interface, uint64_t ticks, uint32_t captured,
    uint32_t length, const uint8_t *octets);
/* A block of any type; body is filled up to a multiple of 4. */
void made_block(struct made_capture *c, uint32_t type, const uint8_t *body, size_t octets);

/* The capture as a stream to read; it must outlive the stream. */
FILE *made_open(struct made_capture *c);
/* Writes it to a new file in the directory for temporary files; path takes its name. */
void made_write(const struct made_capture *c, char *path, size_t path_size);

#endif
