#include "tests/common/frame_cut.h"

#include <stdlib.h>
#include <string.h>

/* A copy of the exact size, so that a sanitizer sees a read of one octet too many. */
static uint8_t *
exact_copy(const uint8_t *octets, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	if (len > 0)
		memcpy(copy, octets, len);
	return copy;
}

static unsigned
kept(unsigned n, unsigned max)
{
	return n < max ? n : max;
}

#define SAME(has, field)                                                                           \
	if ((has) && memcmp(&c->field, &w->field, sizeof(c->field)) != 0)                          \
		return #field;

static const char *
keys_invent(const struct frame_keys *c, const struct frame_keys *w)
{
	SAME(c->has_macs, has_macs)
	SAME(c->has_macs, dst_mac)
	SAME(c->has_macs, src_mac)
	if (c->n_vlans > w->n_vlans ||
	    memcmp(c->vlan, w->vlan, kept(c->n_vlans, FRAME_VLAN_MAX) * sizeof(c->vlan[0])) != 0)
		return "vlan";
	SAME(c->has_ethertype, has_ethertype)
	SAME(c->has_ethertype, ethertype)
	SAME(c->has_ethertype, n_vlans)
	SAME(c->ip_version, ip_version)
	SAME(c->ip_version, src_ip)
	SAME(c->ip_version, dst_ip)
	SAME(c->has_ip_proto, has_ip_proto)
	SAME(c->has_ip_proto, ip_proto)
	SAME(c->has_ip_proto, is_fragment)
	SAME(c->is_fragment, is_fragment)
	SAME(c->has_ports, has_ports)
	SAME(c->has_ports, src_port)
	SAME(c->has_ports, dst_port)
	SAME(c->has_icmp, has_icmp)
	SAME(c->has_icmp, icmp_type)
	SAME(c->has_icmp, icmp_code)
	SAME(c->carries, carries)
	SAME(c->carries, carries_at)
	return NULL;
}

static const char *
inner_invents(const struct frame_inner *c, const struct frame_inner *w)
{
	unsigned labels = kept(c->n_labels, FRAME_LABEL_MAX);

	SAME(true, tunnel)
	if (c->n_labels > w->n_labels ||
	    memcmp(c->label, w->label, labels * sizeof(c->label[0])) != 0)
		return "label";
	SAME(c->has_vni, has_vni)
	SAME(c->has_vni, vni)
	SAME(c->has_session, has_session)
	SAME(c->has_session, session)
	SAME(c->has_protocol, has_protocol)
	SAME(c->has_protocol, protocol)
	SAME(c->has_ppp, has_ppp)
	SAME(c->has_ppp, ppp_protocol)
	return keys_invent(&c->keys, &w->keys);
}

static const char *
layers_invent(const uint8_t *cut_octets, size_t cut, const uint8_t *octets, size_t len)
{
	struct frame_inner c = {.tunnel = FRAME_NO_TUNNEL}, w = c;
	const char *invented;
	uint32_t at;

	frame_parse(cut_octets, cut, &c.keys);
	frame_parse(octets, len, &w.keys);
	invented = keys_invent(&c.keys, &w.keys);
	while (!invented) {
		at = c.keys.carries_at;
		if (!frame_open(cut_octets, cut, &c.keys, &c))
			break;
		if (!frame_open(octets, len, &w.keys, &w))
			return "tunnel";
		if (c.keys.carries && c.keys.carries_at < at + 2)
			return "carries_at";
		invented = inner_invents(&c, &w);
	}
	return invented;
}

const char *
frame_cut_invents(const uint8_t *octets, size_t cut, size_t len)
{
	uint8_t *short_copy = exact_copy(octets, cut), *whole_copy = exact_copy(octets, len);
	const char *invented = layers_invent(short_copy, cut, whole_copy, len);

	free(short_copy);
	free(whole_copy);
	return invented;
}
