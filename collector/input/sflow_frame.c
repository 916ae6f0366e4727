#include "collector/input/sflow_frame.h"

#include "common/buf.h"
#include "common/frame.h"

enum {
	MAC_PADDED = 8, /* in XDR */
	VLAN_MAX = 4094,
	IP_OCTETS_MAX = 65535 + 40, /* of a packet; without jumbograms */
	IP4_HEADER = 20,
	IP6_HEADER = 40,
	ETHERTYPE_IP4 = 0x0800,
	ETHERTYPE_IP6 = 0x86dd,
	ETHERNET_HEADER = 2 * FRAME_MAC_LEN + 2,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_SCTP = 132,
	TCP_OFFSET = 5 << 4, /* five words of header */
	PPP_IP4 = 0x21, PPP_IP6 = 0x57, PPP_MPLS = 0x281,
	MPLS_BOTTOM = 1 << 8,
};

/* sampled_ipv4 and sampled_ipv6 up to addresses of their lengths are alike. */
struct packet {
	uint32_t octets, protocol, src_port, dst_port, tcp_flags, tos;
	const uint8_t *src, *dst;
};

static struct packet
sflow_frame_read_packet(const uint8_t *body, size_t body_octets, size_t address_octets)
{
	struct rbuf r = rbuf_of(body, body_octets);
	struct packet p = {.octets = rbuf_be32(&r), .protocol = 0};

	p.protocol = rbuf_be32(&r);
	p.src = rbuf_take(&r, address_octets);
	p.dst = rbuf_take(&r, address_octets);
	p.src_port = rbuf_be32(&r);
	p.dst_port = rbuf_be32(&r);
	p.tcp_flags = rbuf_be32(&r);
	p.tos = rbuf_be32(&r);
	return p;
}

/* Ports that are both 0 are none: a later fragment has the same record. */
static bool
has_ports(const struct packet *p)
{
	return (p->protocol == PROTO_TCP || p->protocol == PROTO_UDP || p->protocol == PROTO_SCTP) &&
	    (p->src_port != 0 || p->dst_port != 0);
}

static void
put_transport(struct wbuf *w, const struct packet *p)
{
	if (!has_ports(p))
		return;
	wbuf_be16(w, (uint16_t)p->src_port);
	wbuf_be16(w, (uint16_t)p->dst_port);
	if (p->protocol != PROTO_TCP)
		return;
	wbuf_be32(w, 0); /* numbers, which nobody reads */
	wbuf_be32(w, 0);
	wbuf_u8(w, TCP_OFFSET);
	wbuf_u8(w, (uint8_t)p->tcp_flags);
}

static void
put_ip4(struct wbuf *w, const struct packet *p)
{
	wbuf_u8(w, 4 << 4 | IP4_HEADER / 4);
	wbuf_u8(w, (uint8_t)p->tos);
	wbuf_be16(w, (uint16_t)p->octets);
	wbuf_be32(w, 0);
	wbuf_u8(w, 0);
	wbuf_u8(w, (uint8_t)p->protocol);
	wbuf_be16(w, 0);
	wbuf_put(w, p->src, 4);
	wbuf_put(w, p->dst, 4);
	put_transport(w, p);
}

static void
put_ip6(struct wbuf *w, const struct packet *p)
{
	wbuf_be32(w, 6u << 28);
	wbuf_be16(w, (uint16_t)(p->octets > IP6_HEADER ? p->octets - IP6_HEADER : 0));
	wbuf_u8(w, (uint8_t)p->protocol);
	wbuf_u8(w, 0);
	wbuf_put(w, p->src, FRAME_IP_LEN);
	wbuf_put(w, p->dst, FRAME_IP_LEN);
	put_transport(w, p);
}

/* Returns the length of the frame that such a packet makes. */
static uint32_t
octets_around(uint32_t packet_octets)
{
	return frame_wire_octets(packet_octets + ETHERNET_HEADER);
}

/* Returns the frame's length, 0 if there is no such record. */
static uint32_t
put_ethernet(struct wbuf *w, const struct sflow_flow *f, uint32_t *type)
{
	struct rbuf r = rbuf_of(f->ethernet, f->is_packed ? SFLOW_PACKED_ETHERNET : SFLOW_SAMPLED_ETHERNET);
	size_t address_octets = f->is_packed ? FRAME_MAC_LEN : MAC_PADDED;
	const uint8_t *src, *dst;
	uint32_t octets;

	*type = 0;
	if (!f->ethernet)
		return 0;
	octets = rbuf_be32(&r);
	src = rbuf_take(&r, address_octets);
	dst = rbuf_take(&r, address_octets);
	*type = rbuf_be32(&r);
	wbuf_put(w, dst, FRAME_MAC_LEN);
	wbuf_put(w, src, FRAME_MAC_LEN);
	if (*type <= UINT16_MAX)
		wbuf_be16(w, (uint16_t)*type);
	return octets > FRAME_MIN_OCTETS ? octets : FRAME_MIN_OCTETS;
}

static bool
fill_made(const struct sflow_flow *f, uint8_t *made, struct ease_sample *s)
{
	struct wbuf w = wbuf_of(made, SFLOW_FRAME_MADE);
	struct packet p = {0};
	uint32_t type, octets = put_ethernet(&w, f, &type);

	if (f->ip4 && (!octets || type == ETHERTYPE_IP4)) {
		p = sflow_frame_read_packet(f->ip4, SFLOW_SAMPLED_IP4, 4);
		put_ip4(&w, &p);
	} else if (f->ip6 && (!octets || type == ETHERTYPE_IP6)) {
		p = sflow_frame_read_packet(f->ip6, SFLOW_SAMPLED_IP6, FRAME_IP_LEN);
		put_ip6(&w, &p);
	}
	if (w.len == 0 || p.octets > IP_OCTETS_MAX || p.protocol > UINT8_MAX)
		return false;
	s->is_packet = octets == 0;
	s->frame_octets = octets ? octets : octets_around(p.octets);
	s->header = made;
	s->kept_octets = (uint16_t)w.len;
	return true;
}

/* Steps over PPP (RFC 1661, whose fields may be compressed) and over MPLS labels (RFC 3032), which agents sample without
 * a frame around them. What is below them is read as a packet if it is IP. */
static struct rbuf
open_header(const struct sflow_flow *f)
{
	struct rbuf r = rbuf_of(f->header, f->kept_octets);
	uint32_t protocol = f->header_protocol;
	uint32_t label = 0;

	if (protocol == SFLOW_PPP) {
		if (f->kept_octets >= 2 && f->header[0] == 0xff && f->header[1] == 0x03)
			r.pos += 2;
		protocol = rbuf_u8(&r);
		if (!(protocol & 1)) /* the last octet of a protocol is odd */
			protocol = protocol << 8 | rbuf_u8(&r);
		protocol = protocol == PPP_MPLS ? SFLOW_MPLS : protocol == PPP_IP4 || protocol == PPP_IP6 ? SFLOW_IP4 : 0;
	}
	while (protocol == SFLOW_MPLS && !r.failed && !(label & MPLS_BOTTOM))
		label = rbuf_be32(&r);
	if (protocol == SFLOW_MPLS)
		protocol = rbuf_left(&r) > 0 && (r.data[r.pos] >> 4 == 4 || r.data[r.pos] >> 4 == 6) &&
			!frame_is_pseudowire(r.data + r.pos, rbuf_left(&r)) ? SFLOW_IP4 : 0;
	r.failed |= protocol != SFLOW_IP4 && protocol != SFLOW_IP6;
	return r;
}

/* The length that an IP header states; 0 if it is not in there. */
static uint32_t
stated_octets(const uint8_t *h, size_t octets)
{
	if (octets < IP4_HEADER || h[0] >> 4 == 4)
		return octets < IP4_HEADER ? 0 : (uint32_t)(h[2] << 8 | h[3]);
	return octets < IP6_HEADER ? 0 : (uint32_t)(h[4] << 8 | h[5]) + IP6_HEADER;
}

/* A length that is the packet's own leaves out the frame; one of a frame does not. Of a protocol that is not read the
 * length alone is known. */
static bool
fill_header(const struct sflow_flow *f, struct ease_sample *s)
{
	struct rbuf packet;

	s->is_packet = f->header_protocol != SFLOW_ETHERNET;
	s->frame_octets = f->frame_octets;
	s->header = f->header;
	s->kept_octets = (uint16_t)f->kept_octets;
	if (s->is_packet) {
		packet = open_header(f);
		s->header = packet.failed ? NULL : packet.data + packet.pos;
		s->kept_octets = packet.failed ? 0 : (uint16_t)rbuf_left(&packet);
		if (!packet.failed && f->frame_octets == stated_octets(s->header, s->kept_octets) + packet.pos)
			s->frame_octets = octets_around(f->frame_octets);
	}
	return true;
}

static void
sflow_frame_fill_vlan(const struct sflow_flow *f, struct ease_sample *s)
{
	uint32_t vlan = 0;

	s->is_outer_vlan = f->outer_tag != 0;
	if (s->is_outer_vlan)
		vlan = f->outer_tag & 0xfff;
	else if (f->has_switch)
		vlan = s->direction == EASE_OUT ? f->dst_vlan : f->src_vlan;
	s->vlan = vlan <= VLAN_MAX ? (uint16_t)vlan : 0;
}

bool
sflow_frame_fill(
    const struct sflow_flow *f, uint8_t made[static SFLOW_FRAME_MADE], struct ease_sample *sample)
{
	bool is_read = f->has_header && f->kept_octets > 0 &&
	    (f->header_protocol == SFLOW_ETHERNET || (!f->ethernet && !f->ip4 && !f->ip6) || !open_header(f).failed);

	sflow_frame_fill_vlan(f, sample);
	return is_read ? fill_header(f, sample) : fill_made(f, made, sample);
}
