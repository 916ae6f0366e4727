/*
 * Keys of one Ethernet frame from its first octets, however few there are: addresses, VLAN stack,
 * ethertype behind all tags, IP addresses and protocol, ports. Used for sampled headers, so a
 * frame may be cut off anywhere; what was not seen is marked absent, never guessed.
 */
#ifndef EASE_COMMON_FRAME_H
#define EASE_COMMON_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FRAME_MAC_LEN = 6,
	FRAME_IP_LEN = 16, /* an IPv4 address fills the first four */
	FRAME_VLAN_MAX = 4,   /* tags kept; deeper stacks are walked, not kept */
	FRAME_MIN_OCTETS = 64,	  /* on the wire, FCS in (802.3) */
	FRAME_MAX_OCTETS = 1518,
	FRAME_FCS_OCTETS = 4,
};

struct frame_keys {
	bool has_macs;	    /* at least 12 octets were there */
	uint8_t dst_mac[FRAME_MAC_LEN];
	uint8_t src_mac[FRAME_MAC_LEN];
	uint8_t n_vlans;    /* tags seen, <= FRAME_VLAN_MAX kept below */
	uint16_t vlan[FRAME_VLAN_MAX]; /* VLAN ids, outermost first */
	bool has_ethertype; /* behind all tags; a value <= 1500 stands for an 802.3 length */
	uint16_t ethertype;
	uint8_t ip_version; /* 0: no complete IP header straight behind Ethernet and tags; 4; 6 */
	uint8_t src_ip[FRAME_IP_LEN];
	uint8_t dst_ip[FRAME_IP_LEN];
	bool has_ip_proto;  /* behind all IPv6 extension headers that were there */
	uint8_t ip_proto;
	bool is_fragment;   /* not the first fragment: it has no ports */
	bool has_ports;	    /* TCP, UDP, SCTP, DCCP, UDP-Lite */
	uint16_t src_port, dst_port;
};

/* Reads len octets of a frame that starts at its destination MAC. Cannot fail: absent is an
 * answer. */
void frame_parse(const void *octets, size_t len, struct frame_keys *keys);

/* Octets on the wire of a frame that a capture states as caplen-independent length `octets`
 * without FCS: padded to 60, plus 4. */
static inline uint32_t
frame_wire_octets(uint32_t octets)
{
	return (octets < FRAME_MIN_OCTETS - FRAME_FCS_OCTETS ? FRAME_MIN_OCTETS - FRAME_FCS_OCTETS
							     : octets) +
	    FRAME_FCS_OCTETS;
}

static inline bool
frame_mac_is_group(const uint8_t *mac)
{
	return mac[0] & 1;
}

static inline bool
frame_mac_is_broadcast(const uint8_t *mac)
{
	return (mac[0] & mac[1] & mac[2] & mac[3] & mac[4] & mac[5]) == 0xff;
}

/* Canonical text: 00:11:22:aa:bb:cc; RFC 5952 for IPv6. Room: 18 and 46 octets. */
enum { FRAME_MAC_TEXT = 18, FRAME_IP_TEXT = 46 };
void frame_format_mac(const uint8_t *mac, char *text);
void frame_format_ip(uint8_t ip_version, const uint8_t *ip, char *text);

#endif
