/*
 * What of a frame windows keep count of (struct flow_key), and the kinds of keys that reports are
 * made of, as data: which part of it is the key, in the octets that the store has
 * (collector/store/schema.h, enum store_key_kind). A new kind is one function and one row here, and
 * one number in sample_pairs.c.
 */
#ifndef EASE_COLLECTOR_WINDOW_KEY_KINDS_H
#define EASE_COLLECTOR_WINDOW_KEY_KINDS_H

#include "collector/store/batch.h"

/* Indices into key_kinds. */
enum {
	KIND_ETH_PAIR,
	KIND_IP_PAIR,
	KINDS_OF_PAIRS, /* up to here: pairs of addresses, which reports also add up by one of both
			 */
	KIND_VLAN = KINDS_OF_PAIRS,
	KIND_ETHERTYPE,
	KIND_IP_PROTO,
	KIND_SERVER_PORT,
	KIND_CONVERSATION,
	N_KINDS,
};

enum flow_has {
	FLOW_HAS_MACS = 1,
	FLOW_HAS_VLAN = 2,
	FLOW_HAS_ETHERTYPE = 4,
	FLOW_HAS_IP_PROTO = 8,
	FLOW_HAS_PORTS = 16,
};

/* All that keys of any kind are made of. What is absent is 0, so that octets can be compared. */
struct flow_key {
	uint32_t window;
	uint8_t direction;
	uint8_t has; /* enum flow_has */
	uint8_t ip_version; /* 0: no addresses */
	uint8_t ip_proto;
	uint8_t src_mac[FRAME_MAC_LEN], dst_mac[FRAME_MAC_LEN];
	uint16_t vlan;	    /* the outermost */
	uint16_t ethertype; /* behind all tags; 0: a length */
	uint16_t src_port, dst_port;
	uint8_t src_ip[FRAME_IP_LEN], dst_ip[FRAME_IP_LEN];
	uint32_t not_used;
};
_Static_assert(
    sizeof(struct flow_key) == 64, "a flow's key has gaps, or is more than a cache line");

void flow_key_of(const struct frame_keys *frame, uint32_t window, uint8_t direction,
    struct flow_key *key);

/* Servers' ports are the lower ones: registered, where clients' are ephemeral (RFC 6335). */
static inline uint16_t
flow_server_port(const struct flow_key *k)
{
	return k->src_port < k->dst_port ? k->src_port : k->dst_port;
}

/* Both halves of a key as the store has them. */
struct halves {
	uint8_t octets1, octets2;
	uint8_t half1[STORE_KEY_HALF], half2[STORE_KEY_HALF]; /* zeros behind */
};

/* How a flow gives the halves (zeroed before) of its key of a kind; false: it has none. */
struct key_kind {
	enum store_key_kind kind;
	bool (*fill)(const struct flow_key *k, struct halves *h);
};

extern const struct key_kind key_kinds[N_KINDS];

#endif
