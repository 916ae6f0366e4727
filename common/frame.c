#include "common/frame.h"

#include "common/buf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,

	IPV4_HEADER_MIN = 20,
	IPV4_FRAGMENT_OFFSET = 0x1fff,
	IPV6_HEADER = 40,
	IPV6_FRAGMENT_OFFSET = 0xfff8,

	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_DCCP = 33,
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
};

static bool
is_vlan_tag(uint16_t ethertype)
{
	return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100 ||
	    ethertype == 0x9200;
}

static void
parse_ports(struct rbuf *r, struct frame_keys *keys)
{
	switch (keys->ip_proto) {
	case PROTO_TCP:
	case PROTO_UDP:
	case PROTO_DCCP:
	case PROTO_SCTP:
	case PROTO_UDPLITE:
		keys->src_port = rbuf_be16(r);
		keys->dst_port = rbuf_be16(r);
		keys->has_ports = !r->failed;
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
		parse_ports(r, keys);
}

/* Steps over one extension header; false if `next` is none or the walk ends with it. */
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
		rbuf_take(r, 6 + (size_t)length * 8);
		break;
	case EXT_AUTHENTICATION:
		following = rbuf_u8(r);
		length = rbuf_u8(r);
		rbuf_take(r, ((size_t)length + 2) * 4 - 2);
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
	/* Behind the header of a later fragment comes data, whatever it says is next. */
	while (!keys->is_fragment && step_extension(r, &next, keys))
		;
	if (r->failed)
		return;
	keys->ip_proto = next;
	keys->has_ip_proto = true;
	if (!keys->is_fragment)
		parse_ports(r, keys);
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

void
frame_parse(const void *octets, size_t len, struct frame_keys *keys)
{
	struct rbuf r = rbuf_of(octets, len);
	const uint8_t *macs = rbuf_take(&r, 2 * FRAME_MAC_LEN);

	memset(keys, 0, sizeof(*keys));
	if (!macs)
		return;
	keys->has_macs = true;
	memcpy(keys->dst_mac, macs, FRAME_MAC_LEN);
	memcpy(keys->src_mac, macs + FRAME_MAC_LEN, FRAME_MAC_LEN);
	parse_tags(&r, keys);
	if (!keys->has_ethertype)
		return;
	if (keys->ethertype == ETHERTYPE_IPV4)
		parse_ipv4(&r, keys);
	else if (keys->ethertype == ETHERTYPE_IPV6)
		parse_ipv6(&r, keys);
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
