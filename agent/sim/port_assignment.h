/*
 * Assigns frames to ports by source address: a station keeps the port that its first frame got. Memory is
 * bounded: beyond FEED_DEAL_ADDRESSES stations a hash of the address decides, and also for group and
 * zero addresses, which belong to no station.
 */
#ifndef EASE_AGENT_SIM_PORT_ASSIGNMENT_H
#define EASE_AGENT_SIM_PORT_ASSIGNMENT_H

#include "agent/sim/feed.h"

#include <endian.h>
#include <string.h>

/* Open addressing; the table is never more than half full. */
enum { ASSIGNMENT_SLOT_BITS = 17, ASSIGNMENT_SLOTS = 1 << ASSIGNMENT_SLOT_BITS };
_Static_assert(ASSIGNMENT_SLOTS == 2 * FEED_DEAL_ADDRESSES, "half full at most");

struct port_assignment {
	enum feed_deal mode;
	unsigned *ports;
	size_t n_ports;
	size_t next; /* position in ports for the next new station */
	size_t n_known;
	uint64_t slots[ASSIGNMENT_SLOTS]; /* source address << 16 | port; 0: free */
};

/* ports are copied; n_ports is at least 1, and n_ports and each port at most 65535. */
int port_assignment_create(enum feed_deal mode, const unsigned *ports, size_t n_ports, struct port_assignment **assignment);
void port_assignment_destroy(struct port_assignment *assignment); /* NULL allowed */

/* port_of_source for a station that is not at its first slot. */
unsigned port_of_source_slow_path(struct port_assignment *assignment, uint64_t source, bool *full);

static inline size_t
source_slot(uint64_t source)
{
	return (size_t)(source * 0x9e3779b97f4a7c15ull >> (64 - ASSIGNMENT_SLOT_BITS));
}

/* The port of a source address (48 bits, the first octet highest). *full is set if it is new and cannot
 * be remembered. */
static inline unsigned
port_of_source(struct port_assignment *assignment, uint64_t source, bool *full)
{
	uint64_t slot = assignment->slots[source_slot(source)];

	if (__builtin_expect(slot >> 16 == source && slot != 0, 1))
		return slot & UINT16_MAX;
	return port_of_source_slow_path(assignment, source, full);
}

/* The port of the i-th interface, by turns. */
static inline unsigned
port_by_turn(const struct port_assignment *assignment, size_t i)
{
	return assignment->ports[i % assignment->n_ports];
}

/* A frame's source address; octets has at least the 14 of an Ethernet header. */
static inline uint64_t
frame_source(const uint8_t *octets)
{
	uint64_t source_and_type;

	memcpy(&source_and_type, octets + 6, sizeof(source_and_type));
	return be64toh(source_and_type) >> 16;
}

#endif
