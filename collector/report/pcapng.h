/*
 * Writes packets as pcapng (draft-ietf-opsawg-pcapng, as Wireshark, tcpdump and tshark read it): a section of this
 * machine's byte order, interfaces, and packets. Pure but for the writing.
 */
#ifndef EASE_COLLECTOR_REPORT_PCAPNG_H
#define EASE_COLLECTOR_REPORT_PCAPNG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PCAPNG_ETHERNET = 1, PCAPNG_RAW_IP = 101 }; /* link types */
enum { PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 };

struct pcapng_packet {
	uint32_t interface;
	uint64_t time_us;
	uint32_t wire_octets; /* without FCS */
	size_t n;
	const uint8_t *octets;
	uint32_t direction; /* PCAPNG_INBOUND, PCAPNG_OUTBOUND */
	const char *comment;
};

/* Errors are the stream's (ferror). */
void pcapng_begin(FILE *out, const char *program);
/* Interfaces are numbered from 0 in the order in which they are written. */
void pcapng_interface(FILE *out, uint16_t link_type, uint32_t most_octets, const char *name);
void pcapng_packet(FILE *out, const struct pcapng_packet *packet);

#endif
