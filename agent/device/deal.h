/*
 * Deals frames to ports by source address: a station stays at the port where it was first seen.
 * Bounded: beyond FEED_DEAL_ADDRESSES stations, and for group and zero addresses, which are
 * nobody's, a hash decides.
 */
#ifndef EASE_AGENT_DEVICE_DEAL_H
#define EASE_AGENT_DEVICE_DEAL_H

#include "agent/device/feed.h"

#include <endian.h>
#include <string.h>

/* Open addressing; the table is never more than half full. */
enum { DEAL_SLOT_BITS = 17, DEAL_SLOTS = 1 << DEAL_SLOT_BITS };
_Static_assert(DEAL_SLOTS == 2 * FEED_DEAL_ADDRESSES, "half full at most");

struct deal {
	enum feed_deal mode;
	unsigned *ports;
	size_t n_ports;
	size_t next; /* in ports, for the next new station */
	size_t n_known;
	uint64_t slots[DEAL_SLOTS]; /* address above, port below; 0: free */
};

/* ports are copied; n_ports is at least 1, and n_ports and each port at most 65535. */
int deal_create(enum feed_deal mode, const unsigned *ports, size_t n_ports, struct deal **deal);
void deal_destroy(struct deal *deal); /* NULL allowed */

/* What deal_port does for a station that is not at its first slot. */
unsigned deal_port_slowly(struct deal *deal, uint64_t source, bool *full);

static inline size_t
deal_slot(uint64_t source)
{
	return (size_t)(source * 0x9e3779b97f4a7c15ull >> (64 - DEAL_SLOT_BITS));
}

/* The port of a source address (48 bits, first octet on top); *full is set if it was new and
 * could not be remembered. */
static inline unsigned
deal_port(struct deal *deal, uint64_t source, bool *full)
{
	uint64_t slot = deal->slots[deal_slot(source)];

	if (__builtin_expect(slot >> 16 == source && slot != 0, 1))
		return slot & UINT16_MAX;
	return deal_port_slowly(deal, source, full);
}

/* The port of the i-th of something else than stations. */
static inline unsigned
deal_by_turn(const struct deal *deal, size_t i)
{
	return deal->ports[i % deal->n_ports];
}

/* A frame's source address; octets has at least the 14 of an Ethernet header. */
static inline uint64_t
deal_source(const uint8_t *octets)
{
	uint64_t source_and_type;

	memcpy(&source_and_type, octets + 6, sizeof(source_and_type));
	return be64toh(source_and_type) >> 16;
}

#endif
