/*
 * The fields of a frame that windows keep count of (struct flow_key), and the keys that are made of them, in the octets
 * that the store keeps (collector/store/key_layout.h).
 */
#ifndef EASE_COLLECTOR_WINDOW_KEY_KINDS_H
#define EASE_COLLECTOR_WINDOW_KEY_KINDS_H

#include "collector/store/batch.h"
#include "collector/store/key_layout.h"

/* Indices into key_layouts. */
enum {
	KINDS_OF_PAIRS = KIND_IP_PAIR + 1, /* the kinds before are pairs of addresses; reports also list single ones */
	KINDS_PAIRED = KIND_CONVERSATION + 1, /* the kinds before have features of their own in sample_pairs.h */
	N_KINDS = KEY_N_KINDS,
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
_Static_assert(sizeof(struct flow_key) == 64, "a flow's key has gaps, or is more than a cache line");

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

/* Sets the halves, which are zeroed before, of a key by its index in key_layouts. False: the flow has no such key. */
bool flow_key_fill(const struct flow_key *k, unsigned kind, struct halves *h);

#endif
