/*
 * Parses the first octets of an Ethernet frame, however few there are: MAC addresses, VLAN tags,
 * the ethertype after all tags, IP addresses and protocol, ports, ICMP type. A sampled header may
 * be cut off anywhere; fields that are not in it are marked absent, never guessed.
 *
 * frame_parse reads the outermost layer, directly after the Ethernet header, which reports by MAC,
 * IP and protocol use. frame_open goes one layer further in, through SNAP, MPLS, PPPoE, IP in IP,
 * GRE, VXLAN, GENEVE or MAC in MAC, and can be called again on its result. frame_open_innermost_ip does that
 * for reports of the hosts inside tunnels.
 */
#ifndef EASE_COMMON_FRAME_H
#define EASE_COMMON_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FRAME_MAC_LEN = 6,
	FRAME_IP_LEN = 16, /* an IPv4 address fills the first four */
	FRAME_VLAN_MAX = 4,   /* tags that are kept; further ones are stepped over */
	FRAME_LABEL_MAX = 4,  /* MPLS labels that are kept, in the same way */
	FRAME_MIN_OCTETS = 64,	  /* on the wire, with FCS (802.3) */
	FRAME_MAX_OCTETS = 1518,
	FRAME_FCS_OCTETS = 4,
};

/* The encapsulation of the next layer. */
enum frame_tunnel {
	FRAME_NO_TUNNEL,
	FRAME_SNAP,   /* IEEE 802-2014, 9.2.3; 802.1H */
	FRAME_MPLS,   /* RFC 3032; a whole label stack */
	FRAME_PPPOE,  /* RFC 2516, discovery too */
	FRAME_IP_IP,  /* RFC 2003, 2473, 4213: IPv4 or IPv6 in either */
	FRAME_GRE,    /* RFC 2784, 2890; version 1 of RFC 2637 (PPTP) */
	FRAME_VXLAN,  /* RFC 7348, to UDP port 4789, or to that of frame_carry_vxlan */
	FRAME_GENEVE, /* RFC 8926, to UDP port 6081 */
	FRAME_PBB,    /* IEEE 802.1ah, MAC in MAC: a service's tag and a whole frame */
};

/* One layer: an Ethernet frame, or a packet in a tunnel without one (then it has no MACs). */
struct frame_keys {
	bool has_macs;	    /* there were at least 12 octets */
	uint8_t dst_mac[FRAME_MAC_LEN];
	uint8_t src_mac[FRAME_MAC_LEN];
	uint8_t n_vlans;    /* tags seen; at most FRAME_VLAN_MAX are kept below */
	uint16_t vlan[FRAME_VLAN_MAX]; /* VLAN ids, outermost first */
	bool has_ethertype; /* after all tags; a value <= 1500 is an 802.3 length */
	uint16_t ethertype;
	uint8_t ip_version; /* 4 or 6; 0: no complete IP header directly after Ethernet and tags */
	uint8_t src_ip[FRAME_IP_LEN];
	uint8_t dst_ip[FRAME_IP_LEN];
	bool has_ip_proto;  /* after all IPv6 extension headers */
	uint8_t ip_proto;
	bool is_fragment;   /* not the first fragment: it has no ports */
	bool has_ports;	    /* TCP, UDP, SCTP, DCCP, UDP-Lite */
	uint16_t src_port, dst_port;
	bool is_syn;	    /* TCP, SYN without ACK: it asks for a connection (RFC 9293, 3.5) */
	bool has_icmp;	    /* ICMP or ICMPv6, as ip_proto says; not in later fragments */
	uint8_t icmp_type, icmp_code;
	uint8_t carries;    /* enum frame_tunnel, as ethertype, LLC, IP protocol or port say */
	uint32_t carries_at; /* where it begins, in octets from the start of the whole frame; that
				may be beyond the octets that were kept */
};

/* The encapsulation between two layers, and the inner one. */
struct frame_inner {
	uint8_t tunnel; /* enum frame_tunnel */
	uint8_t n_labels; /* MPLS: entries seen; at most FRAME_LABEL_MAX are kept below */
	uint32_t label[FRAME_LABEL_MAX]; /* 20 bits each, outermost first */
	bool has_vni;
	uint32_t vni; /* VXLAN, GENEVE: 24 bits */
	bool has_session;
	uint16_t session; /* PPPoE */
	bool has_protocol; /* SNAP, GRE, GENEVE: the field of that header */
	uint16_t protocol;
	bool has_ppp; /* PPP in PPPoE or in GRE version 1 */
	uint16_t ppp_protocol;
	struct frame_keys keys; /* all absent if cut off or of an unknown kind */
};

/* Reads len octets of a frame that starts at its destination MAC. It cannot fail: what is not there
 * is marked absent. */
void frame_parse(const void *octets, size_t len, struct frame_keys *keys);

/* The same of an IPv4 or IPv6 packet, which has no MACs, and as ethertype that of its version. */
void frame_parse_packet(const void *octets, size_t len, struct frame_keys *keys);

/* Lets what goes to that UDP port be VXLAN: the outermost layer that was just parsed. */
void frame_carry_vxlan(struct frame_keys *keys, uint16_t port);

/* Whether what stands behind MPLS labels is a frame, not a packet. */
bool frame_is_pseudowire(const void *octets, size_t len);

/* Adds a VLAN that is known without a tag in the frame: to one that has none, or outside of those that
 * it has. */
void frame_add_vlan(struct frame_keys *keys, uint16_t vlan, bool is_outer);

/*
 * Reads the layer that `outer` carries. octets and len are those of the whole frame that outer was
 * read from. Returns false, with all of *inner absent, if outer carries nothing, or if the inner
 * header is cut off or is not what the ethertype or port says. Pseudo-wires over MPLS are not
 * opened, as no field says what they carry. Each call advances at least two octets, so a loop over
 * it ends.
 */
bool frame_open(const void *octets, size_t len, const struct frame_keys *outer,
    struct frame_inner *inner);

/* Finds the innermost layer in `outer` that has an IP header, which holds the addresses of the
 * hosts that talk through the tunnel. Returns false, with all of *innermost absent, if outer
 * carries nothing or no inner IP header was kept. */
bool frame_open_innermost_ip(const void *octets, size_t len, const struct frame_keys *outer,
    struct frame_keys *innermost);

/* Octets on the wire of a frame whose original length in a capture is `octets`, without FCS:
 * padded to 60, plus 4. */
static inline uint32_t
frame_wire_octets(uint32_t octets)
{
	return (octets < FRAME_MIN_OCTETS - FRAME_FCS_OCTETS ? FRAME_MIN_OCTETS - FRAME_FCS_OCTETS
							     : octets) +
	    FRAME_FCS_OCTETS;
}

/* ICMP's type, and its code in the lower octet. */
static inline uint16_t
frame_icmp_message(const struct frame_keys *keys)
{
	return (uint16_t)(keys->icmp_type << 8 | keys->icmp_code);
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

/* Canonical text: 00:11:22:aa:bb:cc, and RFC 5952 for IPv6. text has room for these octets. */
enum { FRAME_MAC_TEXT = 18, FRAME_IP_TEXT = 46 };
void frame_format_mac(const uint8_t *mac, char *text);
void frame_format_ip(uint8_t ip_version, const uint8_t *ip, char *text);

#endif
