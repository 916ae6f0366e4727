#include "common/frame.h"

#include "common/buf.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_TRANSPARENT_BRIDGING = 0x6558, /* a whole Ethernet frame, RFC 1701 */
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_PPP = 0x880b, /* RFC 2637 */
	ETHERTYPE_MPLS = 0x8847,
	ETHERTYPE_MPLS_MULTICAST = 0x8848,
	ETHERTYPE_PBB = 0x88e7,
	ETHERTYPE_PPPOE_DISCOVERY = 0x8863,
	ETHERTYPE_PPPOE_SESSION = 0x8864,
	LENGTH_MAX = 1500, /* an ethertype up to this is an 802.3 length */

	IPV4_HEADER_MIN = 20,
	IPV4_FRAGMENT_OFFSET = 0x1fff,
	IPV6_HEADER = 40,
	IPV6_FRAGMENT_OFFSET = 0xfff8,

	PROTO_ICMP = 1,
	PROTO_IPV4 = 4,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_DCCP = 33,
	PROTO_IPV6 = 41,
	PROTO_GRE = 47,
	PROTO_ICMPV6 = 58,
	PROTO_SCTP = 132,
	PROTO_UDPLITE = 136,

	/* RFC 8200 and its registry; ESP hides what follows and so ends the walk */
	EXT_HOP_BY_HOP = 0,
	EXT_ROUTING = 43,
	EXT_FRAGMENT = 44,
	EXT_AUTHENTICATION = 51,
	EXT_DESTINATION = 60,
	EXT_MOBILITY = 135,
	EXT_HIP = 139,
	EXT_SHIM6 = 140,

	TCP_FLAGS = 9, /* octets between the ports and the flags (RFC 9293, 3.1) */
	TCP_SYN = 0x02,
	TCP_ACK = 0x10,

	UDP_PORT_VXLAN = 4789,
	UDP_PORT_GENEVE = 6081,
	UDP_LENGTH_CHECKSUM = 4, /* octets between the ports and the payload */

	SNAP_HEADER = 8,	    /* LLC, OUI, type */
	OUI_802_1H = 0x0000f8,	    /* bridge tunnel: an ethertype as under OUI 0 */
	MPLS_BOTTOM = 0x100,
	PPPOE_VERSION_TYPE = 0x11,
	PPP_ADDRESS_CONTROL = 0xff03,
	GRE_CHECKSUM = 0x8000,
	GRE_ROUTING = 0x4000, /* RFC 1701; its list is not walked */
	GRE_KEY = 0x2000,
	GRE_SEQUENCE = 0x1000,
	GRE_ACKNOWLEDGMENT = 0x0080, /* version 1 only */
	GRE_VERSION = 0x0007,
	VXLAN_VALID_VNI = 0x08,
	GENEVE_VERSION = 0xc0,
	GENEVE_OPTION_WORDS = 0x3f,
};

static bool
is_vlan_tag(uint16_t ethertype)
{
	return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100 || ethertype == 0x9200;
}

static void
carry_tunnel(struct frame_keys *keys, enum frame_tunnel tunnel, size_t at)
{
	keys->carries = tunnel;
	keys->carries_at = (uint32_t)at;
}

static void
frame_parse_ports(struct rbuf *r, struct frame_keys *keys)
{
	const uint8_t *h = rbuf_take(r, 4);

	if (!h)
		return;
	keys->has_ports = true;
	keys->src_port = (uint16_t)(h[0] << 8 | h[1]);
	keys->dst_port = (uint16_t)(h[2] << 8 | h[3]);
}

static void
frame_parse_tcp(struct rbuf *r, struct frame_keys *keys)
{
	frame_parse_ports(r, keys);
	if (rbuf_left(r) > TCP_FLAGS)
		keys->is_syn = (r->data[r->pos + TCP_FLAGS] & (TCP_SYN | TCP_ACK)) == TCP_SYN;
}

static void
parse_udp(struct rbuf *r, struct frame_keys *keys)
{
	frame_parse_ports(r, keys);
	if (keys->dst_port == UDP_PORT_VXLAN)
		carry_tunnel(keys, FRAME_VXLAN, r->pos + UDP_LENGTH_CHECKSUM);
	else
		carry_tunnel(keys, keys->dst_port == UDP_PORT_GENEVE ? FRAME_GENEVE : FRAME_NO_TUNNEL,
		    r->pos + UDP_LENGTH_CHECKSUM);
}

static void
frame_parse_icmp(struct rbuf *r, struct frame_keys *keys)
{
	const uint8_t *h = rbuf_take(r, 2);

	if (!h)
		return;
	keys->has_icmp = true;
	keys->icmp_type = h[0];
	keys->icmp_code = h[1];
}

static void
parse_transport(struct rbuf *r, struct frame_keys *keys)
{
	switch (keys->ip_proto) {
	case PROTO_TCP:
		frame_parse_tcp(r, keys);
		break;
	case PROTO_DCCP:
	case PROTO_SCTP:
	case PROTO_UDPLITE:
		frame_parse_ports(r, keys);
		break;
	case PROTO_UDP:
		parse_udp(r, keys);
		break;
	case PROTO_ICMP:
	case PROTO_ICMPV6:
		frame_parse_icmp(r, keys);
		break;
	case PROTO_IPV4:
	case PROTO_IPV6:
		carry_tunnel(keys, FRAME_IP_IP, r->pos);
		break;
	case PROTO_GRE:
		carry_tunnel(keys, FRAME_GRE, r->pos);
		break;
	}
}

static void
parse_ipv4(struct rbuf *r, struct frame_keys *keys)
{
	const uint8_t *h;
	size_t header_octets;

	if (rbuf_left(r) < IPV4_HEADER_MIN)
		return;
	h = r->data + r->pos;
	header_octets = (size_t)(h[0] & 0x0f) * 4;
	if (h[0] >> 4 != 4 || header_octets < IPV4_HEADER_MIN || !rbuf_take(r, header_octets))
		return;
	keys->ip_version = 4;
	memcpy(keys->src_ip, h + 12, 4);
	memcpy(keys->dst_ip, h + 16, 4);
	keys->ip_proto = h[9];
	keys->has_ip_proto = true;
	keys->is_fragment = ((h[6] << 8 | h[7]) & IPV4_FRAGMENT_OFFSET) != 0;
	if (!keys->is_fragment)
		parse_transport(r, keys);
}

/* Steps over one extension header; false if `next` is not one, or is cut off. */
static bool
step_extension(struct rbuf *r, uint8_t *next, struct frame_keys *keys)
{
	uint8_t following, length;

	switch (*next) {
	case EXT_HOP_BY_HOP:
	case EXT_ROUTING:
	case EXT_DESTINATION:
	case EXT_MOBILITY:
	case EXT_HIP:
	case EXT_SHIM6:
		following = rbuf_u8(r);
		length = rbuf_u8(r);
		rbuf_take(r, 6 + (size_t)length * 8); /* in units of 8, without the first */
		break;
	case EXT_AUTHENTICATION:
		following = rbuf_u8(r);
		length = rbuf_u8(r);
		rbuf_take(r, ((size_t)length + 2) * 4 - 2); /* in units of 4, without the first two (RFC 4302) */
		break;
	case EXT_FRAGMENT:
		following = rbuf_u8(r);
		rbuf_u8(r);
		keys->is_fragment |= (rbuf_be16(r) & IPV6_FRAGMENT_OFFSET) != 0;
		rbuf_be32(r);
		break;
	default:
		return false;
	}
	*next = following;
	return !r->failed;
}

static void
parse_ipv6(struct rbuf *r, struct frame_keys *keys)
{
	const uint8_t *h = rbuf_take(r, IPV6_HEADER);
	uint8_t next;

	if (!h || h[0] >> 4 != 6)
		return;
	keys->ip_version = 6;
	memcpy(keys->src_ip, h + 8, FRAME_IP_LEN);
	memcpy(keys->dst_ip, h + 24, FRAME_IP_LEN);
	next = h[6];
	/* After the fragment header of a later fragment comes data, whatever the next header
	 * field says. */
	while (!keys->is_fragment && step_extension(r, &next, keys))
		;
	if (r->failed)
		return;
	keys->ip_proto = next;
	keys->has_ip_proto = true;
	if (!keys->is_fragment)
		parse_transport(r, keys);
}

static void
parse_tags(struct rbuf *r, struct frame_keys *keys)
{
	uint16_t ethertype = rbuf_be16(r);

	while (!r->failed && is_vlan_tag(ethertype)) {
		uint16_t tci = rbuf_be16(r);

		if (r->failed)
			return;
		if (keys->n_vlans < FRAME_VLAN_MAX)
			keys->vlan[keys->n_vlans] = tci & 0x0fff;
		if (keys->n_vlans < UINT8_MAX)
			keys->n_vlans++;
		ethertype = rbuf_be16(r);
	}
	keys->has_ethertype = !r->failed;
	keys->ethertype = ethertype;
}

static bool
is_snap(struct rbuf r)
{
	const uint8_t *llc = rbuf_take(&r, SNAP_HEADER);

	return llc && llc[0] == 0xaa && llc[1] == 0xaa && llc[2] == 3;
}

/* Reads what follows an ethertype, in whatever header that was. */
static void
parse_payload(struct rbuf *r, uint16_t ethertype, struct frame_keys *keys)
{
	switch (ethertype) {
	case ETHERTYPE_IPV4:
		parse_ipv4(r, keys);
		break;
	case ETHERTYPE_IPV6:
		parse_ipv6(r, keys);
		break;
	case ETHERTYPE_MPLS:
	case ETHERTYPE_MPLS_MULTICAST:
		carry_tunnel(keys, FRAME_MPLS, r->pos);
		break;
	case ETHERTYPE_PBB:
		carry_tunnel(keys, FRAME_PBB, r->pos);
		break;
	case ETHERTYPE_PPPOE_DISCOVERY:
	case ETHERTYPE_PPPOE_SESSION:
		carry_tunnel(keys, FRAME_PPPOE, r->pos);
		break;
	default:
		if (ethertype <= LENGTH_MAX && is_snap(*r))
			carry_tunnel(keys, FRAME_SNAP, r->pos);
	}
}

/* Reads from the tags or the ethertype on. */
static void
parse_typed(struct rbuf *r, struct frame_keys *keys)
{
	parse_tags(r, keys);
	if (keys->has_ethertype)
		parse_payload(r, keys->ethertype, keys);
}

static void
parse_ethernet(struct rbuf *r, struct frame_keys *keys)
{
	const uint8_t *macs = rbuf_take(r, 2 * FRAME_MAC_LEN);

	if (!macs)
		return;
	keys->has_macs = true;
	memcpy(keys->dst_mac, macs, FRAME_MAC_LEN);
	memcpy(keys->src_mac, macs + FRAME_MAC_LEN, FRAME_MAC_LEN);
	parse_typed(r, keys);
}

void
frame_parse(const void *octets, size_t len, struct frame_keys *keys)
{
	struct rbuf r = rbuf_of(octets, len);

	memset(keys, 0, sizeof(*keys));
	parse_ethernet(&r, keys);
}

/* Reads IPv4 or IPv6 where only the first four bits tell them apart. */
static void
parse_ip_by_version(struct rbuf *r, struct frame_keys *keys)
{
	unsigned version = rbuf_left(r) > 0 ? r->data[r->pos] >> 4 : 0;

	if (version == 4)
		parse_ipv4(r, keys);
	else if (version == 6)
		parse_ipv6(r, keys);
}

void
frame_parse_packet(const void *octets, size_t len, struct frame_keys *keys)
{
	struct rbuf r = rbuf_of(octets, len);

	memset(keys, 0, sizeof(*keys));
	parse_ip_by_version(&r, keys);
	keys->has_ethertype = keys->ip_version != 0;
	if (keys->has_ethertype)
		keys->ethertype = keys->ip_version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;
}

void
frame_carry_vxlan(struct frame_keys *keys, uint16_t port)
{
	if (keys->carries == FRAME_NO_TUNNEL && keys->has_ports && keys->ip_proto == PROTO_UDP &&
	    keys->dst_port == port)
		keys->carries = FRAME_VXLAN; /* parse_udp has set where it begins */
}

void
frame_add_vlan(struct frame_keys *keys, uint16_t vlan, bool is_outer)
{
	if (keys->n_vlans > 0 && !is_outer)
		return;
	memmove(keys->vlan + 1, keys->vlan, (FRAME_VLAN_MAX - 1) * sizeof(*keys->vlan));
	keys->vlan[0] = vlan;
	if (keys->n_vlans < UINT8_MAX)
		keys->n_vlans++;
}

static bool
open_snap(struct rbuf *r, struct frame_inner *inner)
{
	const uint8_t *h = rbuf_take(r, SNAP_HEADER);
	uint32_t oui;

	if (!h)
		return false;
	oui = (uint32_t)(h[3] << 16 | h[4] << 8 | h[5]);
	inner->protocol = (uint16_t)(h[6] << 8 | h[7]);
	inner->has_protocol = true;
	if (oui == 0 || oui == OUI_802_1H) {
		r->pos -= 2;
		parse_typed(r, &inner->keys);
	}
	return true;
}

static bool
has_right_checksum(const uint8_t *h, size_t octets)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < octets; i += 2)
		sum += (uint32_t)(h[i] << 8 | h[i + 1]);
	return sum != 0 && sum % 0xffff == 0; /* in one's complement */
}

/* Reads the frame of a pseudo-wire, behind a control word or without one (RFC 4448). Nothing says that it is one, and its
 * MAC address may begin with 4 or 6, as packets do: so it has to have IP where its type says. */
static bool
parse_pseudowire(const struct rbuf *from, struct frame_keys *keys)
{
	enum { CONTROL_WORD = 4 };
	const uint8_t *h = from->data + from->pos;
	size_t left = rbuf_left(from), header_octets = left > 0 ? (size_t)(h[0] & 0x0f) * 4 : 0;
	bool may_be_ip = left > 0 && (h[0] >> 4 == 4 || h[0] >> 4 == 6);
	int skip = left >= CONTROL_WORD && h[0] == 0 && h[1] == 0 ? CONTROL_WORD : 0;

	if (left > header_octets && h[0] >> 4 == 4 && has_right_checksum(h, header_octets))
		return false;
	for (; skip >= 0; skip -= CONTROL_WORD) {
		struct rbuf r = *from;

		memset(keys, 0, sizeof(*keys));
		r.pos += (size_t)skip;
		parse_ethernet(&r, keys);
		if (keys->ip_version != 0 || (!may_be_ip && keys->carries != FRAME_NO_TUNNEL))
			return true;
	}
	memset(keys, 0, sizeof(*keys));
	return false;
}

bool
frame_is_pseudowire(const void *octets, size_t len)
{
	struct rbuf r = rbuf_of(octets, len);
	struct frame_keys keys;

	return parse_pseudowire(&r, &keys);
}

static bool
open_mpls(struct rbuf *r, struct frame_inner *inner)
{
	uint32_t entry;

	do {
		entry = rbuf_be32(r);
		if (r->failed)
			return inner->n_labels > 0;
		if (inner->n_labels < FRAME_LABEL_MAX)
			inner->label[inner->n_labels] = entry >> 12;
		if (inner->n_labels < UINT8_MAX)
			inner->n_labels++;
	} while (!(entry & MPLS_BOTTOM));
	if (!parse_pseudowire(r, &inner->keys))
		parse_ip_by_version(r, &inner->keys);
	return true;
}

/* RFC 1661; both of its fields may be compressed. */
static void
open_ppp(struct rbuf *r, struct frame_inner *inner)
{
	uint16_t protocol = rbuf_u8(r);

	if (protocol == PPP_ADDRESS_CONTROL >> 8) {
		rbuf_u8(r);
		protocol = rbuf_u8(r);
	}
	if (!(protocol & 1)) /* the last octet of a protocol is odd */
		protocol = (uint16_t)(protocol << 8 | rbuf_u8(r));
	if (r->failed)
		return;
	inner->has_ppp = true;
	inner->ppp_protocol = protocol;
	switch (protocol) {
	case 0x0021:
		parse_ipv4(r, &inner->keys);
		break;
	case 0x0057:
		parse_ipv6(r, &inner->keys);
		break;
	case 0x0281:
	case 0x0283:
		carry_tunnel(&inner->keys, FRAME_MPLS, r->pos);
		break;
	}
}

static bool
open_pppoe(struct rbuf *r, struct frame_inner *inner)
{
	uint8_t version_type = rbuf_u8(r), code = rbuf_u8(r);
	uint16_t session = rbuf_be16(r);

	if (r->failed || version_type != PPPOE_VERSION_TYPE)
		return false;
	inner->has_session = true;
	inner->session = session;
	rbuf_be16(r); /* the length, which does not matter here */
	if (code == 0)
		open_ppp(r, inner);
	return true;
}

static bool
open_pbb(struct rbuf *r, struct frame_inner *inner)
{
	rbuf_be32(r); /* priority, and of which service it is */
	if (r->failed)
		return false;
	parse_ethernet(r, &inner->keys);
	return true;
}

static bool
open_ip_in_ip(struct rbuf *r, struct frame_inner *inner)
{
	parse_ip_by_version(r, &inner->keys);
	return inner->keys.ip_version != 0;
}

/* Octets of the optional fields: each bit stands for four. */
static size_t
gre_optional_octets(uint16_t flags)
{
	unsigned version = flags & GRE_VERSION;
	uint16_t fields = version == 0 ? flags & (GRE_CHECKSUM | GRE_KEY | GRE_SEQUENCE)
				       : flags & (GRE_KEY | GRE_SEQUENCE | GRE_ACKNOWLEDGMENT);

	return 4 * (size_t)__builtin_popcount(fields);
}

static bool
open_gre(struct rbuf *r, struct frame_inner *inner)
{
	uint16_t flags = rbuf_be16(r), protocol = rbuf_be16(r);

	if (r->failed || (flags & GRE_VERSION) > 1)
		return false;
	inner->has_protocol = true;
	inner->protocol = protocol;
	if (flags & GRE_ROUTING || !rbuf_take(r, gre_optional_octets(flags)))
		return true;
	if (protocol == ETHERTYPE_TRANSPARENT_BRIDGING)
		parse_ethernet(r, &inner->keys);
	else if (protocol == ETHERTYPE_PPP && flags & GRE_SEQUENCE) /* else it has no payload */
		open_ppp(r, inner);
	else if (protocol > LENGTH_MAX)
		parse_payload(r, protocol, &inner->keys);
	return true;
}

static bool
open_vxlan(struct rbuf *r, struct frame_inner *inner)
{
	uint32_t flags = rbuf_be32(r), vni = rbuf_be32(r);

	if (r->failed || !(flags >> 24 & VXLAN_VALID_VNI))
		return false;
	inner->has_vni = true;
	inner->vni = vni >> 8;
	parse_ethernet(r, &inner->keys);
	return true;
}

static bool
open_geneve(struct rbuf *r, struct frame_inner *inner)
{
	const uint8_t *h = rbuf_take(r, 8);

	if (!h || h[0] & GENEVE_VERSION)
		return false;
	inner->has_vni = inner->has_protocol = true;
	inner->vni = (uint32_t)(h[4] << 16 | h[5] << 8 | h[6]);
	inner->protocol = (uint16_t)(h[2] << 8 | h[3]);
	if (!rbuf_take(r, (size_t)(h[0] & GENEVE_OPTION_WORDS) * 4))
		return true;
	if (inner->protocol == ETHERTYPE_TRANSPARENT_BRIDGING)
		parse_ethernet(r, &inner->keys);
	else if (inner->protocol > LENGTH_MAX)
		parse_payload(r, inner->protocol, &inner->keys);
	return true;
}

bool
frame_open(const void *octets, size_t len, const struct frame_keys *outer, struct frame_inner *inner)
{
	static bool (*const open[])(struct rbuf *, struct frame_inner *) = {
	    [FRAME_SNAP] = open_snap,
	    [FRAME_MPLS] = open_mpls,
	    [FRAME_PPPOE] = open_pppoe,
	    [FRAME_IP_IP] = open_ip_in_ip,
	    [FRAME_GRE] = open_gre,
	    [FRAME_VXLAN] = open_vxlan,
	    [FRAME_GENEVE] = open_geneve,
	    [FRAME_PBB] = open_pbb,
	};
	struct rbuf r = rbuf_of(octets, len);
	uint8_t tunnel = outer->carries;
	uint32_t at = outer->carries_at;

	assert(tunnel < sizeof(open) / sizeof(open[0]));
	memset(inner, 0, sizeof(*inner)); /* outer may be part of it: not read from here */
	if (tunnel == FRAME_NO_TUNNEL || !rbuf_take(&r, at) || !open[tunnel](&r, inner))
		return false;
	inner->tunnel = tunnel;
	return true;
}

bool
frame_open_innermost_ip(const void *octets, size_t len, const struct frame_keys *outer, struct frame_keys *innermost)
{
	struct frame_inner inner = {.keys = *outer};

	memset(innermost, 0, sizeof(*innermost));
	while (frame_open(octets, len, &inner.keys, &inner))
		if (inner.keys.ip_version != 0)
			*innermost = inner.keys;
	return innermost->ip_version != 0;
}

void
frame_format_mac(const uint8_t *mac, char *text)
{
	snprintf(text, FRAME_MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
	    mac[3], mac[4], mac[5]);
}

void
frame_format_ip(uint8_t ip_version, const uint8_t *ip, char *text)
{
	if (!inet_ntop(ip_version == 4 ? AF_INET : AF_INET6, ip, text, FRAME_IP_TEXT))
		text[0] = '\0';
}
