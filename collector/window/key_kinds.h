/*
 * The fields of a frame that windows keep count of (struct flow_key), and as data the kinds of keys
 * that reports are made of: which fields form the key, in the octets that the store keeps
 * (collector/store/schema.h, enum store_key_kind). To add a kind, add a function and a row in
 * key_kinds.c and, before KINDS_PAIRED, its feature in sample_pairs.c. A kind behind KINDS_PAIRED uses
 * features of another (window_keys.c).
 */
#ifndef EASE_COLLECTOR_WINDOW_KEY_KINDS_H
#define EASE_COLLECTOR_WINDOW_KEY_KINDS_H

#include "collector/store/batch.h"

/* Indices into the table key_kinds. */
enum {
	KIND_ETH_PAIR,
	KIND_IP_PAIR,
	KINDS_OF_PAIRS, /* the kinds before are pairs of addresses; reports also list single ones */
	KIND_VLAN = KINDS_OF_PAIRS,
	KIND_ETHERTYPE,
	KIND_IP_PROTO,
	KIND_SERVER_PORT,
	KIND_CONVERSATION,
	KINDS_PAIRED, /* the kinds before have features of their own in sample_pairs.h */
	KIND_SYN = KINDS_PAIRED,
	N_KINDS,
};

enum flow_has {
	FLOW_HAS_MACS = 1,
	FLOW_HAS_VLAN = 2,
	FLOW_HAS_ETHERTYPE = 4,
	FLOW_HAS_IP_PROTO = 8,
	FLOW_HAS_PORTS = 16,
	FLOW_HAS_SYN = 32, /* of TCP, without ACK: it has ports and IP addresses */
	FLOW_HAS_ICMP = 64, /* src_port, dst_port: as in a conversation's key (schema.h) */
};

/* Every field that a key of any kind is made of, and the weight of the flow's samples, which is the same for all of
 * them. Absent fields are 0, so that two keys can be compared octet by octet. */
struct flow_key {
	uint32_t window;
	uint8_t direction;
	uint8_t has; /* enum flow_has */
	uint8_t ip_version; /* 0: the frame has no IP addresses */
	uint8_t ip_proto;
	uint8_t src_mac[FRAME_MAC_LEN], dst_mac[FRAME_MAC_LEN];
	uint16_t vlan;	    /* the outermost */
	uint16_t ethertype; /* after all VLAN tags; 0: the frame has a length field instead */
	uint16_t src_port, dst_port;
	uint8_t src_ip[FRAME_IP_LEN], dst_ip[FRAME_IP_LEN];
	uint32_t mean_skip;
};
_Static_assert(
    sizeof(struct flow_key) == 64, "a flow's key has gaps, or is more than a cache line");

void flow_key_of(const struct frame_keys *frame, uint32_t window, uint8_t direction,
    uint32_t mean_skip, struct flow_key *key);

/* Returns the server's port: the lower of the two, because servers use registered ports and clients
 * ephemeral ones, which are higher (RFC 6335). Of ICMP, type and code. */
static inline uint16_t
flow_server_port(const struct flow_key *k)
{
	return k->src_port < k->dst_port && !(k->has & FLOW_HAS_ICMP) ? k->src_port : k->dst_port;
}

/* The two halves of a key as the store keeps them; of a pair, the source and the destination. */
struct halves {
	uint8_t octets1, octets2;
	uint8_t half1[STORE_KEY_HALF], half2[STORE_KEY_HALF]; /* unused octets are zeros */
};

/* A kind of keys. fill sets the halves, which are zeroed before, from a flow; it returns false if
 * the flow has no key of this kind. */
struct key_kind {
	enum store_key_kind kind;
	bool (*fill)(const struct flow_key *k, struct halves *h);
};

extern const struct key_kind key_kinds[N_KINDS];

#endif
