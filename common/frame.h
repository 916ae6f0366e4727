/*
 * Keys of one Ethernet frame from its first octets, however few there are: addresses, VLAN stack,
 * ethertype behind all tags, IP addresses and protocol, ports, ICMP type. Used for sampled
 * headers, so a frame may be cut off anywhere; what was not seen is marked absent, never guessed.
 *
 * frame_parse gives the outermost layer alone, straight behind the Ethernet header: that is what
 * reports by MAC, IP and protocol count. frame_open goes one layer further in, through SNAP, MPLS,
 * PPPoE, IP in IP, GRE, VXLAN or GENEVE, and can be called again on what it found;
 * frame_open_innermost_ip does so, for reports of who talks inside tunnels.
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
	FRAME_LABEL_MAX = 4,  /* MPLS labels kept; the same */
	FRAME_MIN_OCTETS = 64,	  /* on the wire, FCS in (802.3) */
	FRAME_MAX_OCTETS = 1518,
	FRAME_FCS_OCTETS = 4,
};

/* What carries the next layer. */
enum frame_tunnel {
	FRAME_NO_TUNNEL,
	FRAME_SNAP,   /* IEEE 802-2014, 9.2.3; 802.1H */
	FRAME_MPLS,   /* RFC 3032; a whole label stack */
	FRAME_PPPOE,  /* RFC 2516, discovery too */
	FRAME_IP_IP,  /* RFC 2003, 2473, 4213: IPv4 or IPv6 in either */
	FRAME_GRE,    /* RFC 2784, 2890; version 1 of RFC 2637 (PPTP) */
	FRAME_VXLAN,  /* RFC 7348, to UDP port 4789 */
	FRAME_GENEVE, /* RFC 8926, to UDP port 6081 */
};

/* One layer: an Ethernet frame, or a packet without one inside a tunnel (then without MACs). */
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
	bool has_icmp;	    /* ICMP and ICMPv6, ip_proto says which; not of later fragments */
	uint8_t icmp_type, icmp_code;
	uint8_t carries;    /* enum frame_tunnel, by ethertype, LLC, IP protocol or port alone */
	uint32_t carries_at; /* where that begins, octets from the start of the whole frame; it may
				be behind the last octet there is */
};

/* The encapsulation between two layers, and the inner one. */
struct frame_inner {
	uint8_t tunnel; /* enum frame_tunnel */
	uint8_t n_labels; /* MPLS: entries seen, <= FRAME_LABEL_MAX kept below */
	uint32_t label[FRAME_LABEL_MAX]; /* 20 bits each, outermost first */
	bool has_vni;
	uint32_t vni; /* VXLAN, GENEVE: 24 bits */
	bool has_session;
	uint16_t session; /* PPPoE */
	bool has_protocol; /* of SNAP, GRE, GENEVE, as that header gives it */
	uint16_t protocol;
	bool has_ppp; /* of the PPP in PPPoE or in GRE version 1 */
	uint16_t ppp_protocol;
	struct frame_keys keys; /* all absent if cut off before, or of a kind not known here */
};

/* Reads len octets of a frame that starts at its destination MAC. Cannot fail: absent is an
 * answer. */
void frame_parse(const void *octets, size_t len, struct frame_keys *keys);

/*
 * Opens what `outer` carries; octets and len are those of the whole frame that outer was read
 * from. False, and *inner all absent, when that is nothing, its header is cut off or not what the
 * ethertype or port promised. Pseudo-wires over MPLS stay shut: no field says what they carry.
 * Each call goes at least two octets further in, so a loop over it ends.
 */
bool frame_open(const void *octets, size_t len, const struct frame_keys *outer,
    struct frame_inner *inner);

/* The layer furthest in that has an IP header, of what `outer` carries: who really talks there. False,
 * and *innermost all absent, if nothing is carried or no IP header of it was kept. */
bool frame_open_innermost_ip(const void *octets, size_t len, const struct frame_keys *outer,
    struct frame_keys *innermost);

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
